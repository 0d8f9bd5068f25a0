//! `.npy`: one array with a header in the syntax of Python.

use std::io::Read;

use npyz::{DType, NpyHeader, Order};

use super::{Array, ArrayProblem, all};
use crate::workload::element::ElementType;

/// Longest header, as NumPy itself reads no longer one unasked. Unit: bytes.
const MAX_HEADER: u64 = 10_000;
/// Most opening brackets of a header. An array of plain numbers has two, those of its dictionary
/// and
/// its shape; the time of the library's parser grows threefold with each that lies in another.
const MAX_BRACKETS: usize = 8;
/// Magic, version and length of the header. Unit: bytes.
const BEFORE_HEADER: usize = 12;

fn malformed(because: impl Into<String>) -> ArrayProblem {
    ArrayProblem::Malformed { format: "`.npy`", because: because.into() }
}

/// Reads an array of at most `limit` bytes.
pub(super) fn read(
    mut reader: impl Read,
    element: ElementType,
    limit: u64,
) -> Result<Array, ArrayProblem> {
    let mut start = Vec::new();
    (&mut reader).take(MAX_HEADER + BEFORE_HEADER as u64).read_to_end(&mut start)?;
    let header = header(&start)?;
    let mut rest = start.as_slice();
    let header = {
        let text = &start[..header];
        if text.iter().filter(|byte| b"([{".contains(byte)).count() > MAX_BRACKETS {
            return Err(malformed(
                "its header has more brackets than that of an array of plain numbers",
            ));
        }
        let based = |pair: &[u8]| pair[0].is_ascii_digit() && b"xXoObB".contains(&pair[1]);
        if text.windows(2).any(based) {
            return Err(malformed("its header has a number that is not decimal"));
        }
        if !multiplies(text) {
            return Err(ArrayProblem::TooLarge { limit });
        }
        let mut text = text;
        let read = NpyHeader::from_reader(&mut text).map_err(|why| malformed(why.to_string()))?;
        rest = &rest[header..];
        read
    };
    let swapped = swapped(&header.dtype(), element)?;
    let shape = header.shape().to_vec();
    if header.order() == Order::Fortran && shape.iter().filter(|&&side| side > 1).count() > 1 {
        return Err(ArrayProblem::FortranOrder);
    }
    let sides = shape.iter().copied().chain([element.bytes()]);
    let promised = match sides.clone().find(|&side| side == 0) {
        Some(_) => Some(0),
        None => sides.into_iter().try_fold(1_u64, u64::checked_mul),
    };
    let promised = promised.filter(|&bytes| bytes <= limit);
    let promised = promised.ok_or(ArrayProblem::TooLarge { limit })?;
    let mut bytes = all(rest.chain(reader), promised).map_err(|error| longer(error, promised))?;
    if bytes.len() as u64 != promised {
        return Err(ArrayProblem::Length { promised, found: bytes.len() as u64 });
    }
    if swapped {
        bytes.chunks_exact_mut(element.bytes() as usize).for_each(<[u8]>::reverse);
    }
    Ok(Array { shape, bytes })
}

/// More bytes than the header says, of which no more are read.
fn longer(error: ArrayProblem, promised: u64) -> ArrayProblem {
    match error {
        ArrayProblem::TooLarge { .. } => {
            malformed(format!("more than the {promised} bytes that its header says follow it"))
        }
        other => other,
    }
}

/// Whether the product of all numbers in a header but 0 has 64 bits: the library multiplies sides
/// unchecked.
fn multiplies(header: &[u8]) -> bool {
    let runs = header.split(|byte| !byte.is_ascii_digit() && *byte != b'_');
    let value = |run: &[u8]| {
        let digits = run.iter().filter(|byte| byte.is_ascii_digit());
        digits.fold(0_u64, |value, digit| {
            value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    };
    let mut values = runs.map(value).filter(|&value| value != 0);
    values.try_fold(1_u64, u64::checked_mul).is_some()
}

/// Length of the header with what precedes its text, which must all be there. Unit: bytes.
fn header(start: &[u8]) -> Result<usize, ArrayProblem> {
    let Some(magic) = start.get(..BEFORE_HEADER).filter(|start| start.starts_with(b"\x93NUMPY"))
    else {
        return Err(malformed("it does not begin with `\\x93NUMPY`"));
    };
    let (text, before) = match magic[6] {
        1 => (u64::from(u16::from_le_bytes([magic[8], magic[9]])), 10),
        2 | 3 => (u32::from_le_bytes([magic[8], magic[9], magic[10], magic[11]]).into(), 12),
        version => return Err(malformed(format!("version {version} is unknown"))),
    };
    if text > MAX_HEADER {
        return Err(malformed(format!("its header has {text} bytes, more than {MAX_HEADER}")));
    }
    let whole = text as usize + before;
    if start.len() < whole { Err(malformed("its header is cut")) } else { Ok(whole) }
}

/// Whether the bytes of each element are in the other order.
fn swapped(dtype: &DType, element: ElementType) -> Result<bool, ArrayProblem> {
    let wrong = |found: &str| {
        let (found, expected) = (found.to_owned(), numpy_name(element));
        Err(ArrayProblem::ElementType { found, expected })
    };
    let DType::Plain(code) = dtype else { return wrong("structured") };
    let code = code.to_string();
    let (order, kind) = code.split_at(1);
    let same = kind == numpy_code(element) || (kind, element) == ("b1", ElementType::U8);
    match order {
        "<" | "|" if same => Ok(false),
        ">" if same => Ok(true),
        _ => match known(kind) {
            Some(other) if other != element => wrong(numpy_name(other)),
            _ => wrong(&code),
        },
    }
}

/// The element type of a code without its order.
fn known(code: &str) -> Option<ElementType> {
    ElementType::ALL.iter().copied().find(|element| numpy_code(*element) == code)
}

/// NumPy's kind and size.
pub(super) const fn numpy_code(element: ElementType) -> &'static str {
    match element {
        ElementType::U8 => "u1",
        ElementType::S8 => "i1",
        ElementType::U16 => "u2",
        ElementType::S16 => "i2",
        ElementType::U32 => "u4",
        ElementType::S32 => "i4",
        ElementType::U64 => "u8",
        ElementType::S64 => "i8",
        ElementType::F16 => "f2",
        ElementType::F32 => "f4",
        ElementType::F64 => "f8",
    }
}

const fn numpy_name(element: ElementType) -> &'static str {
    match element {
        ElementType::U8 => "uint8",
        ElementType::S8 => "int8",
        ElementType::U16 => "uint16",
        ElementType::S16 => "int16",
        ElementType::U32 => "uint32",
        ElementType::S32 => "int32",
        ElementType::U64 => "uint64",
        ElementType::S64 => "int64",
        ElementType::F16 => "float16",
        ElementType::F32 => "float32",
        ElementType::F64 => "float64",
    }
}
