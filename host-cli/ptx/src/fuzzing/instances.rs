//! Every instruction that the tables allow, for tests that run each one.

use crate::forms::{Form, Pipe, Slot, SlotKind, SlotType, Words, forms};
use crate::opcode::Opcode;
use crate::types::ScalarType;

/// An opcode with modifiers and types, and what its operands are.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The opcode's name.
    pub opcode: &'static str,
    /// Opcode, modifiers and types as they are written.
    pub text: String,
    /// Modifiers and types.
    pub words: Vec<&'static str>,
    /// Operands in the order written, without those that may be left out.
    pub operands: Vec<InstanceOperand>,
}

/// An operand of an [`Instance`].
#[derive(Clone, Copy, Debug)]
pub struct InstanceOperand {
    /// What it is.
    pub kind: InstanceKind,
    /// Its type.
    pub ty: ScalarType,
    /// Written, not read.
    pub destination: bool,
    /// A second destination, a predicate, may follow after `|`.
    pub pipe: bool,
}

/// What an operand of an [`Instance`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceKind {
    /// A register.
    Value,
    /// A predicate.
    Predicate,
    /// An integer constant from 0 to this.
    Immediate(u32),
    /// Registers with a part of a matrix.
    Fragment,
    /// Memory.
    Address,
}

/// Every instruction of which all operands are registers, predicates and constants, and of opcodes
/// that `memory` names, addresses; in the order of the tables.
pub fn instances(memory: impl Fn(&str) -> bool) -> Vec<Instance> {
    let mut instances = Vec::new();
    for &opcode in Opcode::ALL {
        let wanted = |slot: &Slot| match kind(slot) {
            Some(InstanceKind::Address) => memory(opcode.name()),
            kind => kind.is_some(),
        };
        for form in forms(opcode) {
            if form.slots.iter().all(|slot| slot.optional || wanted(slot)) {
                expand(opcode, form, &mut instances);
            }
        }
    }
    instances
}

fn kind(slot: &Slot) -> Option<InstanceKind> {
    Some(match slot.kind {
        SlotKind::Value | SlotKind::Move => InstanceKind::Value,
        SlotKind::Predicate => InstanceKind::Predicate,
        SlotKind::Immediate(limit) => InstanceKind::Immediate(limit),
        SlotKind::Fragment => InstanceKind::Fragment,
        SlotKind::Address => InstanceKind::Address,
        _ => return None,
    })
}

/// The instructions of a form: each choice of each group, and none where it may be left out.
fn expand(opcode: Opcode, form: &Form, instances: &mut Vec<Instance>) {
    let mut written: Vec<(Vec<&'static str>, Vec<ScalarType>)> = vec![Default::default()];
    for group in &form.groups {
        let mut longer = Vec::new();
        for (words, types) in &written {
            if group.optional {
                longer.push((words.clone(), types.clone()));
            }
            let mut with = |word: &'static str, ty: Option<ScalarType>| {
                let (mut words, mut types) = (words.clone(), types.clone());
                words.push(word);
                types.extend(ty);
                longer.push((words, types));
            };
            match &group.words {
                Words::Types(choice) => choice.iter().for_each(|&ty| with(ty.name(), Some(ty))),
                Words::Modifiers(choice) => choice.iter().for_each(|&word| with(word, None)),
            }
        }
        written = longer;
    }
    for (words, types) in written {
        let text = [opcode.name()].iter().chain(&words).copied().collect::<Vec<_>>().join(".");
        let operand = |slot: &Slot| {
            let kind = kind(slot).filter(|_| !slot.optional)?;
            let (ty, destination) = (operand_type(slot.ty, &types), slot.destination);
            Some(InstanceOperand { kind, ty, destination, pipe: slot.pipe != Pipe::None })
        };
        let operands = form.slots.iter().filter_map(operand).collect();
        instances.push(Instance { opcode: opcode.name(), text, words, operands });
    }
}

/// The type of an operand, where `types` are written.
pub(super) fn operand_type(ty: SlotType, types: &[ScalarType]) -> ScalarType {
    match ty {
        SlotType::None => ScalarType::B64,
        SlotType::Fixed(ty) => ty,
        SlotType::Index(index) => types[usize::from(index)],
        SlotType::Wide(index) => match types[usize::from(index)] {
            ScalarType::U16 => ScalarType::U32,
            ScalarType::S16 => ScalarType::S32,
            ScalarType::U32 => ScalarType::U64,
            _ => ScalarType::S64,
        },
    }
}
