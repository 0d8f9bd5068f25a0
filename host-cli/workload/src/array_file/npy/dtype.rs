//! Types of elements as NumPy writes them: an order of bytes, a kind and a size.

use super::super::problem::ArrayProblem;
use super::header::Descr;
use crate::element::ElementType;

/// Whether the bytes of each element are in the other order than little endian.
///
/// `=`, `|` and no order are that of NumPy's host, which is taken to be little endian. `l`, `p`,
/// `n` and the names without a size have the sizes of NumPy 2 on 64-bit Linux.
pub(super) fn is_swapped(descr: Descr<'_>, element: ElementType) -> Result<bool, ArrayProblem> {
    let wrong = |found: String| {
        Err(ArrayProblem::ElementType { found, expected: ElementKind::Number(element).name() })
    };
    let Descr::Code(code) = descr else { return wrong("structured".to_owned()) };
    let (order, kind) = match code.as_bytes() {
        [b'<' | b'=' | b'|' | b'>', ..] => code.split_at(1),
        _ => ("", code),
    };
    let found = if order.is_empty() { of_name(kind) } else { None };
    match found.or_else(|| of_code(kind)) {
        Some(ElementKind::Bool) if element == ElementType::U8 => Ok(false),
        Some(ElementKind::Number(ElementType::Bf16)) if order == ">" => {
            wrong(format!("raw bytes (`{code}`), of which NumPy keeps no order"))
        }
        Some(ElementKind::Number(number)) if number == element => Ok(order == ">"),
        Some(other) => wrong(other.name().to_owned()),
        None => wrong(match described(kind) {
            "" => format!("`{code}`, which is no type that is known"),
            what => format!("{what} (`{code}`)"),
        }),
    }
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementKind {
    /// 0 or 1 in a byte.
    Bool,
    /// A number.
    Number(ElementType),
}

impl ElementKind {
    /// NumPy's name.
    const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Number(ElementType::U8) => "uint8",
            Self::Number(ElementType::S8) => "int8",
            Self::Number(ElementType::U16) => "uint16",
            Self::Number(ElementType::S16) => "int16",
            Self::Number(ElementType::U32) => "uint32",
            Self::Number(ElementType::S32) => "int32",
            Self::Number(ElementType::U64) => "uint64",
            Self::Number(ElementType::S64) => "int64",
            Self::Number(ElementType::F16) => "float16",
            Self::Number(ElementType::Bf16) => "bfloat16",
            Self::Number(ElementType::F32) => "float32",
            Self::Number(ElementType::F64) => "float64",
        }
    }
}

/// The kind of a code without its order.
fn of_code(code: &str) -> Option<ElementKind> {
    let number = match code {
        "b1" | "?" => return Some(ElementKind::Bool),
        "u1" | "B" => ElementType::U8,
        "i1" | "b" => ElementType::S8,
        "u2" | "H" => ElementType::U16,
        "i2" | "h" => ElementType::S16,
        "u4" | "I" => ElementType::U32,
        "i4" | "i" => ElementType::S32,
        "u8" | "L" | "Q" | "P" | "N" => ElementType::U64,
        "i8" | "l" | "q" | "p" | "n" => ElementType::S64,
        "f2" | "e" => ElementType::F16,
        // How NumPy writes the bfloat16 of the package `ml_dtypes`, a type that it does not have.
        "V2" => ElementType::Bf16,
        "f4" | "f" => ElementType::F32,
        "f8" | "d" => ElementType::F64,
        _ => return None,
    };
    Some(ElementKind::Number(number))
}

/// The kind of a name, which has no order.
fn of_name(name: &str) -> Option<ElementKind> {
    let code = match name {
        "bool" | "bool_" => "?",
        "uint8" | "ubyte" => "B",
        "int8" | "byte" => "b",
        "uint16" | "ushort" => "H",
        "int16" | "short" => "h",
        "uint32" | "uintc" => "I",
        "int32" | "intc" => "i",
        "uint64" | "uint" | "uintp" | "ulong" | "ulonglong" => "Q",
        "int64" | "int" | "int_" | "intp" | "long" | "longlong" => "q",
        "float16" | "half" => "e",
        // NumPy knows it when `ml_dtypes` is loaded.
        "bfloat16" => "V2",
        "float32" | "single" => "f",
        "float64" | "double" | "float" => "d",
        _ => return None,
    };
    of_code(code)
}

/// What NumPy has under a code that no buffer holds.
fn described(code: &str) -> &'static str {
    let is_sized = code.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    match code.bytes().next() {
        _ if code.contains(',') => "structured",
        Some(b'M' | b'm') if is_sized || code.ends_with(']') => "dates or times",
        _ if !is_sized => "",
        Some(b'c') if code.len() > 1 => "complex numbers",
        Some(b'F' | b'D' | b'G') if code.len() == 1 => "complex numbers",
        Some(b'S' | b'U' | b'a' | b'c') => "texts",
        Some(b'V') => "raw bytes",
        Some(b'O') => "Python objects",
        Some(b'f' | b'g') => "floating-point numbers of another size",
        _ => "",
    }
}

/// The code that NumPy writes.
pub(super) const fn code(element: ElementType) -> &'static str {
    match element {
        ElementType::U8 => "|u1",
        ElementType::S8 => "|i1",
        ElementType::U16 => "<u2",
        ElementType::S16 => "<i2",
        ElementType::U32 => "<u4",
        ElementType::S32 => "<i4",
        ElementType::U64 => "<u8",
        ElementType::S64 => "<i8",
        ElementType::F16 => "<f2",
        ElementType::Bf16 => "<V2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
    }
}
