//! Array files that NumPy wrote, damaged ones, and what is written read again.

use std::path::Path;

use super::*;

/// Reads a file of the folder beside.
fn read(name: &str, element: ElementType) -> Result<Array, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("src/workload/array_file/written_by_numpy").join(name);
    let file = ArrayFile::of_path(path).expect("a known ending");
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
        ("flags.npy", ElementType::S8, "its elements are |b1, int8 are expected"),
        ("complex.npy", ElementType::F32, "its elements are <c8, float32 are expected"),
        ("structured.npy", ElementType::F32, "its elements are structured, float32 are expected"),
        ("fortran.npy", ElementType::U16, "its elements are in Fortran order"),
        ("two.npz", ElementType::S32, "it has several arrays: `a`, `b`"),
    ] {
        assert_eq!(read(name, element).unwrap_err(), told, "{name}");
    }
}

#[test]
fn members_are_found_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("src/workload/array_file/written_by_numpy/two.npz");
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
        (
            "(0xffffffffffffffff, 2)",
            8,
            "no `.npy` file: its header has a number that is not decimal",
        ),
        ("(1_8446744073709551615, 2)", 8, "it holds more than the 64 bytes left for buffers"),
        ("(-1,)", 8, "no `.npy` file: dimension cannot be negative"),
    ] {
        assert_eq!(read(&npy(&header(shape), elements), 64).unwrap_err(), told, "{shape}");
    }
    // Dictionaries within each other take the library's parser three times as long each.
    for nested in ["(".repeat(5000), format!("{{'shape':{}1", "{".repeat(20))] {
        assert_eq!(
            read(&npy(&nested, 0), 64).unwrap_err(),
            "no `.npy` file: its header has more brackets than that of an array of plain numbers"
        );
    }
    let mut long = npy("", 0);
    long[6] = 2;
    long.truncate(8);
    long.extend_from_slice(&u32::MAX.to_le_bytes());
    let told = "no `.npy` file: its header has 4294967295 bytes, more than 10000";
    assert_eq!(read(&long, 64).unwrap_err(), told);
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

/// What NumPy writes of the same array, byte for byte but for a comma behind the last side.
#[test]
fn an_npy_file_is_as_numpy_writes_it() {
    let array = read("floats.npy", ElementType::F32).unwrap();
    let mut written = Vec::new();
    write(&mut written, Format::Npy, ElementType::F32, &array).unwrap();
    let numpys = include_bytes!("written_by_numpy/floats.npy");
    assert_eq!(written[128..], numpys[128..]);
    let header = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..128]).replace("3, )", "3)");
    assert_eq!(header(&written).trim_end(), header(numpys).trim_end());
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
