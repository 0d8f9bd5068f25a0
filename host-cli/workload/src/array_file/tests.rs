//! Array files that NumPy wrote, damaged ones, and what is written read again.

use std::path::Path;

use super::*;

/// A file of the folder beside.
fn by_numpy(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("src/array_file/written_by_numpy").join(name)
}

/// Reads a file of the folder beside.
fn read(name: &str, element: ElementType) -> Result<Array, String> {
    let file = ArrayFile::of_path(by_numpy(name)).expect("a known ending");
    file.read(element, 1 << 20).map_err(|error| error.problem.to_string())
}

/// Reads a file with these bytes.
fn read_bytes(name: &str, bytes: &[u8], element: ElementType, limit: u64) -> Result<Array, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = ArrayFile::of_path(path).expect("a known ending");
    file.read(element, limit).map_err(|error| error.problem.to_string())
}

fn bytes_of<const SIZE: usize>(elements: &[[u8; SIZE]]) -> Vec<u8> {
    elements.as_flattened().to_vec()
}

#[test]
fn arrays_of_numpy_are_read() {
    let floats = [0.5_f32, -1.25, 3e8, 1e-40, f32::INFINITY, -0.0].map(f32::to_le_bytes);
    for (name, element, shape, bytes) in [
        ("floats.npy", ElementType::F32, &[2, 3][..], bytes_of(&floats)),
        (
            "big_endian.npy",
            ElementType::S64,
            &[3],
            bytes_of(&[1_i64, -2, 1 << 40].map(i64::to_le_bytes)),
        ),
        ("scalar.npy", ElementType::F64, &[], bytes_of(&[2.5_f64.to_le_bytes()])),
        ("flags.npy", ElementType::U8, &[3], vec![1, 0, 1]),
        ("halves.npy", ElementType::F16, &[2], vec![0x66, 0x2e, 0xff, 0x7b]),
        ("one.npz", ElementType::S32, &[4], bytes_of(&[0_i32, 1, 2, 3].map(i32::to_le_bytes))),
    ] {
        let expected = Array { shape: shape.to_vec(), bytes };
        assert_eq!(read(name, element), Ok(expected), "{name}");
    }
}

#[test]
fn what_is_not_the_expected_array_is_told() {
    for (name, element, told) in [
        ("floats.npy", ElementType::F64, "its elements are float32, float64 are expected"),
        ("flags.npy", ElementType::S8, "its elements are bool, int8 are expected"),
        (
            "complex.npy",
            ElementType::F32,
            "its elements are complex numbers (`<c8`), float32 are expected",
        ),
        ("structured.npy", ElementType::F32, "its elements are structured, float32 are expected"),
        ("fortran.npy", ElementType::U16, "its elements are in Fortran order"),
        ("two.npz", ElementType::S32, "it has several arrays: `a`, `b`"),
    ] {
        assert_eq!(read(name, element).unwrap_err(), told, "{name}");
    }
}

#[test]
fn members_are_found_by_name() {
    let path = by_numpy("two.npz");
    let member = |name: &str| {
        let file = ArrayFile::of_path(path.clone()).unwrap();
        let file = ArrayFile { member: Some(name.to_owned()), ..file };
        file.read(ElementType::U8, 3).map_err(|error| error.problem.to_string())
    };
    assert_eq!(member("b"), Ok(Array { shape: vec![3], bytes: vec![0, 1, 2] }));
    assert_eq!(member("a").unwrap_err(), "its elements are int32, uint8 are expected");
    assert_eq!(member("c").unwrap_err(), "it has no array `c`; it has `a`, `b`");
}

/// An `.npy` file with a header and as many bytes of elements.
fn npy(header: &str, elements: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + elements, 7);
    bytes
}

fn header(shape: &str) -> String {
    format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn sizes_that_a_header_claims_are_not_believed() {
    let read = |bytes: &[u8], limit| read_bytes("x.npy", bytes, ElementType::F32, limit);
    assert!(read(&npy(&header("(2,)"), 8), 8).is_ok());
    for (shape, elements, told) in [
        ("(3,)", 8, "its header promises 12 bytes of elements, it has 8"),
        ("(1,)", 8, "no `.npy` file: more than the 4 bytes that its header says follow it"),
        ("(0,)", 1, "no `.npy` file: more than the 0 bytes that its header says follow it"),
        ("(1000000,)", 8, "it holds more than the 64 bytes left for buffers"),
        ("(4294967296, 4294967296)", 8, "it holds more than the 64 bytes left for buffers"),
        ("(18446744073709551615, 2)", 8, "it holds more than the 64 bytes left for buffers"),
        ("(9223372036854775808, 2, 0)", 0, "it holds more than the 64 bytes left for buffers"),
    ] {
        assert_eq!(read(&npy(&header(shape), elements), 64).unwrap_err(), told, "{shape}");
    }
    let mut long = npy("", 0);
    long[6] = 2;
    long.truncate(8);
    long.extend_from_slice(&u32::MAX.to_le_bytes());
    let told = "no `.npy` file: its header has 4294967295 bytes, more than 10000";
    assert_eq!(read(&long, 64).unwrap_err(), told);
}

/// The bytes of a header at the edges of its reader: what NumPy reads of an array of one element, and what
/// is refused, with the place.
#[test]
fn a_header_is_read_as_numpy_reads_it() {
    let read = |version: u8, text: &str| {
        let mut bytes = npy(text, 4);
        bytes[6] = version;
        if version > 1 {
            bytes.splice(10..10, [0, 0]);
        }
        read_bytes("x.npy", &bytes, ElementType::F32, 64)
    };
    let (descr, order, shape) = ("'descr': '<f4'", "'fortran_order': False", "'shape': (1,)");
    for text in [
        format!("{{{shape}, {order}, {descr}}}"),
        format!(" \t{{ {order} ,\n\r\t{descr},{shape} , }}  \n\n"),
        "{\"descr\":\"<f4\",\"fortran_order\":True,\"shape\":( 1 , )}".to_owned(),
        format!("{{u'descr': u'<f4', {order}, {shape}}}"),
        format!("{{{descr}, {order}, 'shape': (1, 1,1)}}"),
    ] {
        for version in 1..=3 {
            assert!(read(version, &text).is_ok(), "{text}: {:?}", read(version, &text));
        }
    }
    let longs = format!("{{{descr}, {order}, 'shape': (1L,)}}");
    assert!(read(1, &longs).is_ok() && read(2, &longs).is_ok());
    assert!(read(3, &longs).unwrap_err().contains("byte 52 of its header: `L` stands where `,`"));
    let sides = |count: usize| format!("{{{descr}, {order}, 'shape': ({})}}", "1,".repeat(count));
    assert!(read(1, &sides(64)).is_ok());
    let of = |shape: &str| format!("{{{descr}, {order}, 'shape': {shape}}}");
    for (text, told) in [
        (sides(65), "an array has at most 64 sides"),
        (of("(1)"), "byte 52 of its header: `)` stands where `,` must be"),
        (of("[1]"), "`[` stands where `(`"),
        (of("(-1,)"), "`-` stands where a decimal number of at least 0"),
        (of("(01,)"), "`0` stands where a decimal number"),
        (of("(0x1,)"), "`x` stands where `,`"),
        (of("(1_0,)"), "`_` stands where `,`"),
        (of("(1.0,)"), "`.` stands where `,`"),
        (of("(True,)"), "`T` stands where a decimal number"),
        (of("((1,),)"), "`(` stands where a decimal number"),
        (of("(1 1)"), "`1` stands where `,`"),
        (of("(1, 1 1)"), "`1` stands where `)`"),
        (of("(18446744073709551616,)"), "more than 64 bits"),
        (format!("{{{order}, {shape}}}"), "its header has no `descr`"),
        (format!("{{{descr}, {shape}}}"), "its header has no `fortran_order`"),
        (format!("{{{descr}, {order}}}"), "its header has no `shape`"),
        (format!("{{{descr}, {order}, {shape}, {shape}}}"), "the key `shape` is there twice"),
        (format!("{{{descr}, {order}, {shape}, 'more': 1}}"), "`more` is not a key"),
        (format!("{{{descr}, {order}, {shape}}} x"), "`x` stands where the end"),
        (format!("{{{descr}, {order}, {shape}}}\0"), "the byte 0x00 stands where the end"),
        (format!("{{{descr} {order}, {shape}}}"), "`'` stands where `}`"),
        (format!("{{{descr}, 'fortran_order': 0, {shape}}}"), "`0` stands where `True` or `False`"),
        (format!("{{'descr': '<f\\x34', {order}, {shape}}}"), "`\\` stands where a quote"),
        (format!("{{'descr': b'<f4', {order}, {shape}}}"), "`b` stands where a text"),
        (format!("{{'descr': None, {order}, {shape}}}"), "`N` stands where a text"),
        (format!("{{{descr}, {order}, {shape}"), "the header ends where `}`"),
        (String::new(), "the header ends where `{`"),
        ("{".to_owned(), "the header ends where a text"),
        ("[]".to_owned(), "`[` stands where `{`"),
    ] {
        let error = read(1, &text).unwrap_err();
        assert!(error.contains(told), "{text}: {error}");
    }
    assert_eq!(read(4, &of("(1,)")).unwrap_err(), "no `.npy` file: version 4.0 is unknown");
}

/// Types as NumPy 2.4 reads them on 64-bit Linux: each order, code and name, and the element that it is.
#[test]
fn types_are_those_that_numpy_reads() {
    let read = |descr: &str, element: ElementType| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}");
        let bytes: Vec<u8> = (1..=element.bytes() as u8).collect();
        let mut file = npy(&text, 0);
        file.extend(&bytes);
        let array = read_bytes("x.npy", &file, element, 64)?;
        Ok::<_, String>(if array.bytes == bytes { "<" } else { ">" })
    };
    let codes = "B u1 ubyte uint8|b i1 byte int8|H u2 ushort uint16|h i2 short int16|I u4 uintc uint32|\
                 i i4 intc int32|L Q P N u8 uint uintp ulong ulonglong uint64|\
                 l q p n i8 int int_ intp long longlong int64|e f2 half float16||f f4 single float32|\
                 d f8 double float float64";
    // NumPy has no type for bf16; ml_dtypes 0.6 writes two raw bytes, as NumPy does of what it then reads.
    for descr in ["'V2'", "'<V2'", "'|V2'", "'bfloat16'"] {
        assert_eq!(read(descr, ElementType::Bf16).as_deref(), Ok("<"), "{descr}");
    }
    for descr in ["'V1'", "'>V2'", "'<u2'"] {
        read(descr, ElementType::Bf16).unwrap_err();
    }
    read("'<V2'", ElementType::U16).unwrap_err();
    for (element, codes) in ElementType::ALL.iter().zip(codes.split('|')) {
        for code in codes.split_whitespace() {
            assert_eq!(read(&format!("'{code}'"), *element).as_deref(), Ok("<"), "{code}");
            for order in ["<", ">", "=", "|"] {
                let result = read(&format!("'{order}{code}'"), *element);
                let expected = if order == ">" && element.bytes() > 1 { ">" } else { "<" };
                if code.len() > 2 {
                    result.unwrap_err();
                } else {
                    assert_eq!(result.as_deref(), Ok(expected), "{order}{code}");
                }
            }
            for other in ElementType::ALL.iter().filter(|other| *other != element) {
                read(&format!("'{code}'"), *other).unwrap_err();
            }
        }
    }
    for flags in ["?", "b1", "|b1", "bool", "bool_"] {
        assert_eq!(read(&format!("'{flags}'"), ElementType::U8).as_deref(), Ok("<"), "{flags}");
        read(&format!("'{flags}'"), ElementType::S8).unwrap_err();
    }
    for (descr, found) in [
        ("[('a', '<f4')]", "structured"),
        ("('<f4', (2,))", "structured"),
        ("'<f4,<f4'", "structured (`<f4,<f4`)"),
        ("'<c8'", "complex numbers (`<c8`)"),
        ("'|S4'", "texts (`|S4`)"),
        ("'<U4'", "texts (`<U4`)"),
        ("'|V4'", "raw bytes (`|V4`)"),
        ("'|O'", "Python objects (`|O`)"),
        ("'<M8[ns]'", "dates or times (`<M8[ns]`)"),
        ("'<f16'", "floating-point numbers of another size (`<f16`)"),
        ("'>f8'", "float64"),
        ("'bfloat16'", "bfloat16"),
        ("'!f4'", "`!f4`, which is no type that is known"),
        ("'<i3'", "`<i3`, which is no type that is known"),
        ("''", "``, which is no type that is known"),
    ] {
        let told = format!("its elements are {found}, float32 are expected");
        assert_eq!(read(descr, ElementType::F32), Err(told), "{descr}");
    }
}

#[test]
fn the_longest_header_has_ten_thousand_bytes() {
    let padded = |length: usize| npy(&format!("{:length$}", header("(1,)")), 4);
    assert!(read_bytes("x.npy", &padded(10_000), ElementType::F32, 64).is_ok());
    let error = read_bytes("x.npy", &padded(10_001), ElementType::F32, 64).unwrap_err();
    assert!(error.contains("its header has 10001 bytes, more than 10000"), "{error}");
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    let whole = npy(&header("(2,)"), 8);
    for length in 0..whole.len() {
        assert!(read_bytes("x.npy", &whole[..length], ElementType::F32, 64).is_err(), "{length}");
    }
}

fn csv(text: &str, column: Option<Column>, element: ElementType) -> Result<Array, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, text).unwrap();
    let file = ArrayFile { column, ..ArrayFile::of_path(path).unwrap() };
    file.read(element, 64).map_err(|error| error.problem.to_string())
}

#[test]
fn columns_and_tables_are_read() {
    let table = "1, 2\n-3,4\n";
    let array = |shape: &[u64], values: &[i16]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(Array { shape: shape.to_vec(), bytes })
    };
    let s16 = ElementType::S16;
    assert_eq!(csv(table, None, s16), array(&[2, 2], &[1, 2, -3, 4]));
    assert_eq!(csv(table, Some(Column::Index(1)), s16), array(&[2], &[2, 4]));
    let named = format!("a,b\n{table}");
    assert_eq!(csv(&named, Some(Column::Name("a".to_owned())), s16), array(&[2], &[1, -3]));
    for (text, column, element, told) in [
        (table, Some(Column::Index(2)), s16, "it has no column 2; it has 2, numbered from 0"),
        (
            table,
            None,
            ElementType::U16,
            "line 2, field 0 (from 0): `-3` does not fit u16, whose integers \
          range from 0 to 65535",
        ),
        ("1\n2.5\n", None, s16, "line 2, field 0 (from 0): `2.5` is no integer"),
        ("1\n\u{fc}\n", None, ElementType::F32, "line 2, field 0 (from 0): `\u{fc}` is no number"),
        ("1e40", None, ElementType::F32, "line 1, field 0 (from 0): `1e40` is too large for f32"),
        ("70000", None, ElementType::F16, "line 1, field 0 (from 0): `70000` is too large for f16"),
        (
            "a,a\n1,2\n",
            Some(Column::Name("a".to_owned())),
            s16,
            "no CSV file: two columns are \
          called `a`",
        ),
        (
            "a,b\n1,2\n",
            Some(Column::Name("c".to_owned())),
            s16,
            "it has no column `c`; it has \
          `a`, `b`",
        ),
    ] {
        assert_eq!(csv(text, column, element).unwrap_err(), told, "{text:?}");
    }
    assert!(csv("1,2\n3\n", None, s16).unwrap_err().starts_with("no CSV file: "));
    let long = "1\n".repeat(33);
    let told = "it holds more than the 64 bytes left for buffers";
    assert_eq!(csv(&long, None, s16).unwrap_err(), told);
}

#[test]
fn raw_files_are_elements_and_nothing_else() {
    let read = |bytes: &[u8], limit| read_bytes("x.bin", bytes, ElementType::U32, limit);
    let bytes = [1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(read(&bytes, 8), Ok(Array { shape: vec![2], bytes: bytes.to_vec() }));
    let told = "its size of 7 bytes is no multiple of the 4 of an element";
    assert_eq!(read(&bytes[..7], 8).unwrap_err(), told);
    let told = "it holds more than the 7 bytes left for buffers";
    assert_eq!(read(&bytes, 7).unwrap_err(), told);
}

#[test]
fn what_is_written_is_read_again() {
    for element in ElementType::ALL {
        // Every byte differs; exponents of floating-point elements are not all ones.
        let bytes: Vec<u8> = (0..6 * element.bytes()).map(|byte| byte as u8 + 1).collect();
        let array = Array { shape: vec![2, 3], bytes };
        for (format, name) in
            [(Format::Npy, "x.npy"), (Format::Raw, "x.bin"), (Format::Csv, "x.csv")]
        {
            let mut written = Vec::new();
            write(&mut written, format, element, &array).unwrap();
            let again = read_bytes(name, &written, element, 1 << 10).unwrap();
            assert_eq!(again.bytes, array.bytes, "{element:?} {format:?}");
            let shape = if format == Format::Raw { vec![6] } else { vec![2, 3] };
            assert_eq!(again.shape, shape, "{element:?} {format:?}");
        }
    }
}

/// Byte for byte, the header's padding included.
#[test]
fn an_npy_file_is_as_numpy_writes_it() {
    for (name, element) in [
        ("floats.npy", ElementType::F32),
        ("scalar.npy", ElementType::F64),
        ("halves.npy", ElementType::F16),
    ] {
        let array = read(name, element).unwrap();
        let mut written = Vec::new();
        write(&mut written, Format::Npy, element, &array).unwrap();
        assert_eq!(written, std::fs::read(by_numpy(name)).unwrap(), "{name}");
    }
    // The longest shapes that fit: NumPy pads such a header with 64 spaces.
    let array = Array { shape: vec![0; 64], bytes: Vec::new() };
    let mut written = Vec::new();
    write(&mut written, Format::Npy, ElementType::U8, &array).unwrap();
    assert_eq!(written.len() % 64, 0);
    assert_eq!(read_bytes("x.npy", &written, ElementType::U8, 0), Ok(array));
}

#[test]
fn a_folder_and_nothing_are_no_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let read = || {
        let file = ArrayFile::of_path(path.clone()).unwrap();
        file.read(ElementType::F32, 8).unwrap_err().to_string()
    };
    assert!(read().starts_with(&path.display().to_string()));
    std::fs::create_dir(&path).unwrap();
    assert!(read().ends_with("is a directory"), "{}", read());
}
