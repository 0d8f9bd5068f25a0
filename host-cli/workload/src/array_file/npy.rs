//! `.npy`: one array with a header in the syntax of Python.

mod dtype;
mod header;

use std::io::{Read, Result, Write};

use super::array::{Array, read_all};
use super::problem::ArrayProblem;
use crate::element::ElementType;
use header::{Header, malformed};

/// Longest header, as NumPy itself reads no longer one unasked. Unit: bytes.
const MAX_HEADER: u64 = 10_000;
/// Magic, version and length of the header in its longer form. Unit: bytes.
const BEFORE_HEADER: usize = 12;
/// Elements begin at a multiple of this. Unit: bytes.
const ALIGNMENT: usize = 64;
/// NumPy leaves so much room for the digits of the slowest side, so that it can grow in place.
const SIDE_DIGITS: usize = 21;

/// Reads an array of at most `limit` bytes.
pub(super) fn read(
    mut reader: impl Read,
    element: ElementType,
    limit: u64,
) -> std::result::Result<Array, ArrayProblem> {
    let mut start = Vec::new();
    (&mut reader).take(MAX_HEADER + BEFORE_HEADER as u64).read_to_end(&mut start)?;
    let (version, text, rest) = parts(&start)?;
    let header = header::parse(text, version)?;
    let swapped = dtype::is_swapped(header.descr, element)?;
    let Header { shape, fortran_order, .. } = header;
    if fortran_order && shape.iter().filter(|&&side| side > 1).count() > 1 {
        return Err(ArrayProblem::FortranOrder);
    }
    let promised = promised(&shape, element).filter(|&bytes| bytes <= limit);
    let promised = promised.ok_or(ArrayProblem::TooLarge { limit })?;
    let mut bytes =
        read_all(rest.chain(reader), promised).map_err(|error| longer(error, promised))?;
    if bytes.len() as u64 != promised {
        return Err(ArrayProblem::Length { promised, found: bytes.len() as u64 });
    }
    if swapped {
        bytes.chunks_exact_mut(element.bytes() as usize).for_each(<[u8]>::reverse);
    }
    Ok(Array { shape, bytes })
}

/// Bytes of all elements. The product of the sides must have 64 bits even if another side is 0.
fn promised(shape: &[u64], element: ElementType) -> Option<u64> {
    let sides = shape.iter().filter(|&&side| side != 0);
    let bytes = sides.copied().try_fold(element.bytes(), u64::checked_mul)?;
    Some(if shape.contains(&0) { 0 } else { bytes })
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

/// The version, the text of the header, which must all be there, and what follows it.
fn parts(start: &[u8]) -> std::result::Result<(u8, &[u8], &[u8]), ArrayProblem> {
    let Some(magic) = start.get(..BEFORE_HEADER).filter(|start| start.starts_with(b"\x93NUMPY"))
    else {
        return Err(malformed("it does not begin with `\\x93NUMPY`"));
    };
    let (length, before) = match (magic[6], magic[7]) {
        (1, 0) => (u64::from(u16::from_le_bytes([magic[8], magic[9]])), 10),
        (2 | 3, 0) => (u32::from_le_bytes([magic[8], magic[9], magic[10], magic[11]]).into(), 12),
        (major, minor) => return Err(malformed(format!("version {major}.{minor} is unknown"))),
    };
    if length > MAX_HEADER {
        return Err(malformed(format!("its header has {length} bytes, more than {MAX_HEADER}")));
    }
    let header = start[before..].split_at_checked(length as usize);
    let (text, rest) = header.ok_or_else(|| malformed("its header is cut"))?;
    Ok((magic[6], text, rest))
}

/// Writes an array, byte for byte as NumPy 2 does.
pub(super) fn write(writer: &mut impl Write, element: ElementType, array: &Array) -> Result<()> {
    let sides: Vec<String> = array.shape.iter().map(u64::to_string).collect();
    let shape = match sides.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", sides.join(", ")),
    };
    let code = dtype::code(element);
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}");
    let room = sides.first().map_or(0, |side| SIDE_DIGITS - side.len());
    text.extend(std::iter::repeat_n(' ', room));
    // Magic, version and length have 10 bytes, and a line feed ends the header.
    let padding = ALIGNMENT - (10 + text.len() + 1) % ALIGNMENT;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(std::io::Error::other)?;
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(text.as_bytes())?;
    writer.write_all(&array.bytes)
}
