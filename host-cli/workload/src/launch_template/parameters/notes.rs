//! What instructions say of the values and addresses that were followed.

use std::collections::{BTreeMap, BTreeSet};

use strata_ptx::module::{AddressBase, Instruction, Operand, StateSpace, VirtualRegister};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use super::{At, Field, Fields, Found, Kinds, Uses, numbered, registers, union};
use crate::launch_template::meaning::Meanings;
use crate::launch_template::memory::{Access, Held, Memory};
use crate::launch_template::objects;

impl Uses<'_> {
    /// Makes one class of the values that are stored to a place of the frame and loaded from it;
    /// the nodes of parameters' fields.
    pub(super) fn join_frame(&self, meanings: &mut Meanings) -> BTreeMap<Field, usize> {
        let mut nodes: BTreeMap<At, usize> = BTreeMap::new();
        let mut fields = BTreeMap::new();
        for instruction in &self.kernel.instructions {
            let values = match instruction.opcode {
                Opcode::Ld => instruction.destinations.as_slice(),
                Opcode::St => instruction.sources.get(1..2).unwrap_or_default(),
                _ => continue,
            };
            let at = self.place_in_variable(instruction.sources.first());
            let Some((variable, place)) = at else { continue };
            let size = instruction.types.first().map_or(0, |ty| u64::from(ty.bytes()));
            for (index, register) in numbered(values) {
                let at = (variable, place + index * size);
                let node = *nodes.entry(at).or_insert_with(|| meanings.node());
                meanings.join(node, register.index());
            }
        }
        for (register, copied) in self.copied.iter().enumerate() {
            if let Some(field) = copied.first().filter(|_| copied.len() == 1) {
                let first = *fields.entry(*field).or_insert(register);
                meanings.join(first, register);
            }
        }
        fields
    }

    /// Notes the textures, surfaces and samplers that an instruction names.
    pub(super) fn note_objects(
        &mut self,
        instruction: &Instruction,
        read: &BTreeSet<VirtualRegister>,
    ) {
        for (operand, used) in objects::uses(instruction, read) {
            let register = match operand {
                Operand::Register(register)
                | Operand::Address { base: AddressBase::Register(register), .. } => *register,
                _ => continue,
            };
            for field in self.copied[register.index()].clone() {
                let object = &mut self.fields.entry(field).or_default().object;
                *object = Some(object.map_or(used, |known| known.and(used)));
            }
        }
    }

    /// Notes what an instruction says about pointers.
    pub(super) fn note(&mut self, instruction: &Instruction, kinds: &Kinds) {
        let ty = instruction.types.first().copied();
        if instruction.opcode == Opcode::Cvta {
            let global = matches!(
                instruction.modifiers.space,
                None | Some(StateSpace::Global | StateSpace::Generic)
            );
            for field in union(&self.copied, &instruction.sources) {
                if global {
                    self.fields.entry(field).or_default().pointer.get_or_insert_default();
                }
            }
        }
        for field in kinds.pointers_among(self.fields_of(instruction)) {
            let found = self.fields.entry(field).or_default().pointer.get_or_insert_default();
            let atomic = matches!(instruction.opcode, Opcode::Atom | Opcode::Red);
            let matrix = instruction.opcode == Opcode::Wmma;
            let stores = instruction.modifiers.has("store");
            found.read |= atomic
                || matches!(instruction.opcode, Opcode::Ld | Opcode::Ldu | Opcode::CpAsync)
                || matrix && !stores;
            found.written |= atomic || instruction.opcode == Opcode::St || matrix && stores;
            if let Some(ty) = ty {
                found.types.entry(ty.name()).or_insert((0, ty)).0 += 1;
            }
        }
    }

    /// The values that an instruction moves between registers and memory, or from one memory to
    /// another.
    pub(super) fn accesses(
        &self,
        instruction: &Instruction,
        kinds: &Kinds,
        meanings: &mut Meanings,
        all: &mut Vec<Access>,
    ) {
        use Opcode as O;
        let Instruction { opcode, sources, destinations, .. } = instruction;
        let loads = match opcode {
            O::St | O::Red | O::Stmatrix => false,
            O::Wmma => !instruction.modifiers.has("store"),
            _ => true,
        };
        let values = match opcode {
            O::Ld | O::Ldu | O::Ldmatrix => destinations.as_slice(),
            O::Wmma if instruction.modifiers.has("load") => destinations.as_slice(),
            O::St | O::Red | O::Stmatrix | O::Atom => sources.get(1..2).unwrap_or_default(),
            O::Wmma if !loads => sources.get(1..2).unwrap_or_default(),
            O::CpAsync if sources.len() > 1 => {
                let node = meanings.node();
                let ty = ScalarType::B32;
                let to = self.of_addresses(sources.iter().take(1));
                let from = self.memory(instruction, kinds);
                let of = |loads| move |memory| Access { memory, node, ty, loads };
                all.extend(from.into_iter().map(of(true)).chain(to.into_iter().map(of(false))));
                return;
            }
            _ => return,
        };
        let ty = match (opcode, instruction.types.first()) {
            (O::Ldmatrix | O::Stmatrix, _) => ScalarType::B32,
            // Fragments hold two halves or four bytes in a register.
            (_, Some(ty)) => *ty,
            (_, None) => return,
        };
        // The frame is followed from place to place.
        if self.place_in_variable(sources.first()).is_some() {
            return;
        }
        for memory in self.memory(instruction, kinds) {
            for register in registers(values) {
                match meanings.parts(register) {
                    Some(parts) => {
                        let ty = bits(ty.bits() / parts.len().max(1) as u32);
                        let access = |&node: &usize| Access { memory, node, ty, loads };
                        all.extend(parts.iter().map(access));
                    }
                    None => all.push(Access { memory, node: register.index(), ty, loads }),
                }
            }
        }
    }

    /// The memory that an access is of, as far as that is known.
    fn memory(&self, instruction: &Instruction, kinds: &Kinds) -> BTreeSet<Memory> {
        let fields = kinds.pointers_among(self.fields_of(instruction));
        let others = self.origins(instruction).into_iter();
        let others = others.filter(|memory| !matches!(memory, Memory::Behind(_)));
        fields.into_iter().map(Memory::Behind).chain(others).collect()
    }

    /// What was found, by parameter.
    pub(super) fn found(mut self, held: &BTreeMap<Memory, Held>) -> Found {
        for (field, found) in &mut self.fields {
            if let Some(pointer) = &mut found.pointer {
                pointer.held = held.get(&Memory::Behind(*field)).copied();
            }
        }
        // What pointers in memory point to belongs to those that point to them, innermost first.
        for depth in [2, 1] {
            let inner: Vec<Field> =
                self.fields.keys().copied().filter(|field| field.depth == depth).collect();
            for field in inner {
                let target = self.fields.remove(&field).and_then(|found| found.pointer);
                let outer = self.fields.get_mut(&Field { depth: depth - 1, ..field });
                if let Some(pointer) = outer.and_then(|found| found.pointer.as_mut()) {
                    pointer.target = target.map(Box::new);
                }
            }
        }
        let mut parameters = vec![Fields::new(); self.kernel.parameters as usize];
        for (Field { variable, place, size, .. }, found) in self.fields {
            if let Some(fields) = parameters.get_mut(variable.index()) {
                fields.insert((place, size), found);
            }
        }
        let variables = held.iter().filter_map(|(memory, held)| match memory {
            Memory::Module(id) => Some((*id, *held)),
            _ => None,
        });
        Found { parameters, variables: variables.collect() }
    }
}

/// Untyped data of so many bits.
const fn bits(count: u32) -> ScalarType {
    match count {
        ..=8 => ScalarType::B8,
        16 => ScalarType::B16,
        32 => ScalarType::B32,
        _ => ScalarType::B64,
    }
}
