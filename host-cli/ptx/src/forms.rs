//! The forms of every opcode: which modifiers, types and operands go together.
//!
//! The tables (`arithmetic`, `memory`, `control`, `special`) are written much as the PTX ISA manual
//! writes syntax (`notation`), and read once, here.

mod arithmetic;
mod control;
mod memory;
mod notation;
mod special;

use std::sync::OnceLock;

use crate::opcode::Opcode;
use crate::types::ScalarType;
use notation::{Row, SETS};

/// One way to write an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Words in the order of the manual.
    pub(crate) groups: Vec<Group>,
    /// Operands in the order written.
    pub(crate) slots: Vec<Slot>,
}

/// Words of which one is written.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The choice.
    pub(crate) words: Words,
    /// May be left out.
    pub(crate) optional: bool,
}

/// What a group chooses from.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Types: they are matched in the order written.
    Types(Vec<ScalarType>),
    /// Modifiers: accepted in any order.
    Modifiers(Vec<&'static str>),
}

/// One operand of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// What it may be.
    pub(crate) kind: SlotKind,
    /// Its type.
    pub(crate) ty: SlotType,
    /// Registers may be wider than the type.
    pub(crate) relaxed: bool,
    /// Written, not read.
    pub(crate) destination: bool,
    /// May be left out.
    pub(crate) optional: bool,
    /// Whether `|p` follows.
    pub(crate) pipe: Pipe,
}

/// What an operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// A register, constant or special register.
    Value,
    /// A register, or a vector of as many components as the modifiers say.
    VectorByModifier,
    /// A vector of any length, or one register: a fragment of a matrix.
    Fragment,
    /// A vector of any length.
    VectorAny,
    /// What `mov` takes: a value, a vector to pack or unpack, a symbol.
    Move,
    /// A predicate register; a negated one as source.
    Predicate,
    /// A memory operand.
    Address,
    /// An address as a value: a register or a symbol.
    AddressValue,
    /// An integer constant from 0 to this.
    Immediate(u32),
    /// A branch target.
    Label,
    /// A branch table.
    Table,
    /// A texture or surface, perhaps a sampler, and coordinates, all in one pair of brackets.
    Texture,
    /// Any number of operands without checks.
    Rest,
}

/// How an operand's type follows from the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotType {
    /// No type.
    None,
    /// The type written at this position.
    Index(u8),
    /// The type written at this position, with twice the width.
    Wide(u8),
    /// Always this one.
    Fixed(ScalarType),
}

/// A second destination after `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipe {
    /// Not allowed.
    None,
    /// A predicate may follow.
    Optional,
    /// A predicate must follow.
    Required,
}

/// The forms of an opcode.
pub(crate) fn forms(opcode: Opcode) -> &'static [Form] {
    static FORMS: OnceLock<Vec<Vec<Form>>> = OnceLock::new();
    // An enum without fields casts to its position, which is its position in ALL too.
    &FORMS.get_or_init(read_tables)[opcode as usize]
}

fn tables() -> impl Iterator<Item = &'static Row> {
    [arithmetic::FORMS, memory::FORMS, control::FORMS, special::FORMS].into_iter().flatten()
}

/// Reads every row. Rows that make no sense are left out; a test asserts that there are none.
fn read_tables() -> Vec<Vec<Form>> {
    let mut forms = vec![Vec::new(); Opcode::ALL.len()];
    for &(opcodes, template, operands) in tables() {
        let Some(form) = read_form(template, operands) else { continue };
        for opcode in opcodes.split(' ').filter_map(Opcode::from_name) {
            forms[opcode as usize].push(form.clone());
        }
    }
    forms
}

fn read_form(template: &'static str, operands: &'static str) -> Option<Form> {
    let groups = template.split_whitespace().map(read_group).collect::<Option<_>>()?;
    let slots = operands.split_whitespace().map(read_slot).collect::<Option<_>>()?;
    Some(Form { groups, slots })
}

fn read_group(text: &'static str) -> Option<Group> {
    let (body, optional) = strip_optional(text);
    let mut words = Vec::new();
    for word in body.split('|') {
        match word.strip_prefix('$') {
            Some(name) => words.extend(SETS.iter().find(|set| set.0 == name)?.1.split('|')),
            None => words.push(word),
        }
    }
    let types: Option<Vec<_>> = words.iter().map(|word| ScalarType::from_name(word)).collect();
    let words = types.map_or(Words::Modifiers(words), Words::Types);
    Some(Group { words, optional })
}

fn strip_optional(text: &'static str) -> (&'static str, bool) {
    text.strip_suffix('?').map_or((text, false), |body| (body, true))
}

fn read_slot(text: &'static str) -> Option<Slot> {
    let (text, destination) = text.strip_prefix('=').map_or((text, false), |rest| (rest, true));
    let (text, pipe) = match text.split_once('|') {
        Some((text, "p")) => (text, Pipe::Required),
        Some((text, "p?")) => (text, Pipe::Optional),
        Some(_) => return None,
        None => (text, Pipe::None),
    };
    let (text, optional) = strip_optional(text);
    let (text, relaxed) = text.strip_prefix('~').map_or((text, false), |rest| (rest, true));
    let (kind, ty) = read_kind(text)?;
    Some(Slot { kind, ty, relaxed, destination, optional, pipe })
}

fn read_kind(text: &'static str) -> Option<(SlotKind, SlotType)> {
    let plain = match text {
        "p" => Some((SlotKind::Predicate, SlotType::Fixed(ScalarType::Pred))),
        "m" => Some((SlotKind::Address, SlotType::None)),
        "l" => Some((SlotKind::Label, SlotType::None)),
        "T" => Some((SlotKind::Table, SlotType::None)),
        "t" => Some((SlotKind::Texture, SlotType::None)),
        "*" => Some((SlotKind::Rest, SlotType::None)),
        "a" => Some((SlotKind::AddressValue, SlotType::None)),
        _ => None,
    };
    if plain.is_some() {
        return plain;
    }
    if let Some(limit) = text.strip_prefix('i') {
        return Some((SlotKind::Immediate(limit.parse().ok()?), SlotType::None));
    }
    for (prefix, kind) in [
        ('v', SlotKind::VectorByModifier),
        ('V', SlotKind::VectorAny),
        ('F', SlotKind::Fragment),
        ('x', SlotKind::Move),
        ('a', SlotKind::AddressValue),
    ] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return Some((kind, read_type(rest)?));
        }
    }
    Some((SlotKind::Value, read_type(text)?))
}

fn read_type(text: &str) -> Option<SlotType> {
    if let Some(index) = text.strip_prefix('w') {
        return Some(SlotType::Wide(index.parse().ok()?));
    }
    match text.parse() {
        Ok(index) => Some(SlotType::Index(index)),
        Err(_) => Some(SlotType::Fixed(ScalarType::from_name(text)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_makes_sense() {
        for &(opcodes, template, operands) in tables() {
            assert!(read_form(template, operands).is_some(), "{opcodes} {template} {operands}");
            for name in opcodes.split(' ') {
                assert!(Opcode::from_name(name).is_some(), "{name} is no opcode");
            }
        }
    }

    #[test]
    fn every_opcode_has_a_form() {
        for &opcode in Opcode::ALL {
            assert!(!forms(opcode).is_empty(), "{} has no form", opcode.name());
        }
    }

    #[test]
    fn types_that_a_slot_names_are_written_by_every_instance_of_its_form() {
        for &opcode in Opcode::ALL {
            for form in forms(opcode) {
                let written = form
                    .groups
                    .iter()
                    .filter(|g| matches!(g.words, Words::Types(_)) && !g.optional)
                    .count();
                for slot in &form.slots {
                    if let SlotType::Index(index) | SlotType::Wide(index) = slot.ty {
                        assert!(usize::from(index) < written, "{}: {form:?}", opcode.name());
                    }
                }
            }
        }
    }
}
