//! What the name of a kernel says of its parameters: compilers of C++, and Numba's, write the types
//! of all into it.

use super::value::{Buffer, Value};
use crate::element::ElementType;
use crate::kernel_name::demangled;

/// The type of a parameter in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// Points to numbers.
    Pointer(ElementType),
    /// Is a number.
    Number(ElementType),
}

/// The types of a kernel's parameters, `None` for what no launch file has: structures, pointers to
/// pointers. Empty unless the name has as many as the PTX.
pub(super) fn declared(kernel: &str, parameters: usize) -> Vec<Option<Declared>> {
    let source = demangled(kernel);
    let types: Vec<_> = source.as_deref().map(types).unwrap_or_default();
    let found = types.into_iter().map(of_type).collect::<Vec<_>>();
    if found.len() == parameters { found } else { Vec::new() }
}

/// The parameters of `name<arguments>(parameters)`.
fn types(source: &str) -> Vec<&str> {
    let Some(list) = source.strip_suffix(')') else { return Vec::new() };
    let (mut depth, mut end, mut found) = (0, list.len(), Vec::new());
    for (at, letter) in list.char_indices().rev() {
        match letter {
            ')' | '>' | ']' => depth += 1,
            '(' if depth == 0 => {
                found.push(&list[at + 1..end]);
                found.reverse();
                return found;
            }
            '(' | '<' | '[' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&list[at + 1..end]);
                end = at;
            }
            _ => {}
        }
    }
    Vec::new()
}

fn of_type(source: &str) -> Option<Declared> {
    let mut words: Vec<&str> = Vec::new();
    // `_2a` is how Numba writes the letter of a pointer.
    let spaced = source.replace("_2a", " *").replace('*', " * ");
    for word in spaced.split_whitespace() {
        if !matches!(word, "const" | "volatile" | "restrict" | "__restrict__") {
            words.push(word);
        }
    }
    match words.as_slice() {
        [number @ .., "*"] => element(&number.join(" ")).map(Declared::Pointer),
        number => element(&number.join(" ")).map(Declared::Number),
    }
}

/// The type of a number, or of the components of a vector.
fn element(name: &str) -> Option<ElementType> {
    use ElementType as E;
    let component = match name.strip_suffix(['1', '2', '3', '4']) {
        Some("uchar") => "unsigned char",
        Some("ushort") => "unsigned short",
        Some("uint") => "unsigned int",
        Some("ulong" | "ulonglong") => "unsigned long",
        Some("longlong") => "long",
        Some(of @ ("char" | "short" | "int" | "long" | "float" | "double" | "__half")) => of,
        Some("__nv_bfloat16") => "__nv_bfloat16",
        _ => name,
    };
    Some(match component {
        "char" | "signed char" | "int8" => E::S8,
        "unsigned char" | "bool" | "uint8" => E::U8,
        "short" | "int16" => E::S16,
        "unsigned short" | "uint16" => E::U16,
        "int" | "int32" => E::S32,
        "unsigned int" | "uint32" => E::U32,
        "long" | "long long" | "int64" => E::S64,
        "unsigned long" | "unsigned long long" | "uint64" => E::U64,
        "__half" | "_Float16" | "float16" => E::F16,
        "__nv_bfloat16" | "__bf16" => E::Bf16,
        "float" | "float32" => E::F32,
        "double" | "float64" => E::F64,
        _ => return None,
    })
}

impl Declared {
    /// Gives a guess from the code the type of the source. What the code accesses or is passed in
    /// another size stays as it is: the source says what it copies or casts, not what it moves.
    pub(super) fn refine(self, value: &mut Value, name: &str) {
        match (self, &mut *value) {
            (Self::Pointer(of), Value::Buffer(buffer)) => {
                let unknown = buffer.copied || !(buffer.read || buffer.written);
                let fits = unknown || of.bytes() == buffer.element.bytes();
                if buffer.target.is_none() && fits {
                    (buffer.element, buffer.copied) = (of, false);
                }
            }
            // Nothing is done with it.
            (Self::Pointer(of), Value::Integer("u64")) => {
                *value = Value::Buffer(Buffer::untouched(name.to_owned(), of));
            }
            (Self::Number(of), Value::Integer(kind) | Value::Real(kind)) => {
                let held = ElementType::ALL.iter().find(|held| held.name() == *kind);
                if held.is_some_and(|held| held.bytes() == of.bytes()) {
                    *value = Value::number(of);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_source() {
        use Declared::{Number, Pointer};
        use ElementType as E;
        for (name, expected) in [
            ("saxpy", vec![]),
            ("_Z3nopv", vec![None]),
            (
                "_Z5saxpyifPKfPf",
                vec![
                    Some(Number(E::S32)),
                    Some(Number(E::F32)),
                    Some(Pointer(E::F32)),
                    Some(Pointer(E::F32)),
                ],
            ),
            (
                "_Z4moveP6__halfPK13__nv_bfloat16P6float4PyPKaPbjhd",
                vec![
                    Some(Pointer(E::F16)),
                    Some(Pointer(E::Bf16)),
                    Some(Pointer(E::F32)),
                    Some(Pointer(E::U64)),
                    Some(Pointer(E::S8)),
                    Some(Pointer(E::U8)),
                    Some(Number(E::U32)),
                    Some(Number(E::U8)),
                    Some(Number(E::F64)),
                ],
            ),
            // A structure, a pointer to pointers, a pointer to a function.
            ("_Z1k4pairIifEPPfPFvifE", vec![None, None, None]),
            ("_ZN2ns4dumpIiLi3EEEvPKT_PS1_", vec![Some(Pointer(E::S32)); 2]),
            ("_ZN4main3addEi10float32_2a", vec![Some(Number(E::S32)), Some(Pointer(E::F32))]),
        ] {
            assert_eq!(declared(name, expected.len()), expected, "{name}");
            assert_eq!(declared(name, expected.len() + 1), [], "{name}");
        }
    }
}
