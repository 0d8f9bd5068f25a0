//! What a kernel does with its parameters: which are pointers, to what, and what a structure holds.
//!
//! Values are followed from loads of parameters through moves, address arithmetic and variables of
//! the frame to the addresses of accesses, over the whole kernel at once: a register has all values
//! that any of its definitions gives it. What is found is a guess for a person to correct, and a
//! run of it tells whether it will do.

use std::collections::{BTreeMap, BTreeSet};

use strata_compiler::kernel::Kernel;
use strata_ptx::module::{
    AddressBase, Instruction, Operand, StateSpace, Symbol, VariableId, VirtualRegister,
};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::{Kind, ScalarType};

use super::objects::{self, ObjectUse, names_object};

/// Bytes of a variable: its number and how far they lie behind its start.
type Field = (VariableId, u64);

/// What is known of one field of a parameter: of a scalar the whole parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldUse {
    /// The type that it is loaded with.
    pub(super) ty: Option<ScalarType>,
    /// It is an operand of floating-point arithmetic.
    pub(super) float: bool,
    /// It points to memory.
    pub(super) pointer: Option<Pointer>,
    /// It is the handle of a texture, surface or sampler.
    pub(super) object: Option<ObjectUse>,
}

/// What is behind a pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pointer {
    /// How many accesses there are by type.
    types: BTreeMap<&'static str, (u32, ScalarType)>,
    /// Something is loaded from there.
    pub(super) read: bool,
    /// Something is stored there.
    pub(super) written: bool,
}

impl Pointer {
    /// The type of most accesses.
    pub(super) fn element(&self) -> Option<ScalarType> {
        self.types.values().max_by_key(|(count, _)| *count).map(|(_, ty)| *ty)
    }
}

/// The fields of each parameter, by their places in it.
pub(super) type Fields = BTreeMap<u64, FieldUse>;

/// What a kernel does with each of its parameters, when addresses have so many bits.
pub(super) fn parameters(kernel: &Kernel, address_bits: u8) -> Vec<Fields> {
    let mut uses = Uses {
        kernel,
        address_bits: address_bits.into(),
        derived: vec![BTreeSet::new(); kernel.registers.len()],
        copied: vec![BTreeSet::new(); kernel.registers.len()],
        places: places(kernel),
        stored: BTreeMap::new(),
        fields: BTreeMap::new(),
    };
    uses.follow();
    let (kinds, read) = (uses.kinds(), read(kernel));
    for instruction in &kernel.instructions {
        uses.note(instruction, &kinds);
        uses.note_objects(instruction, &read);
    }
    let mut all = vec![Fields::new(); kernel.parameters as usize];
    for ((variable, place), found) in uses.fields {
        if let Some(fields) = all.get_mut(variable.index()) {
            fields.insert(place, found);
        }
    }
    all
}

struct Uses<'k> {
    kernel: &'k Kernel,
    address_bits: u32,
    /// Fields that the address in a register may come from.
    derived: Vec<BTreeSet<Field>>,
    /// Fields whose value a register may hold as it is.
    copied: Vec<BTreeSet<Field>>,
    /// Where registers point, as far as that is known.
    places: BTreeMap<VirtualRegister, Place>,
    /// Fields whose value lies in a variable of the frame: arguments of inlined calls, and what
    /// code that was not optimised keeps there.
    stored: BTreeMap<Field, BTreeSet<Field>>,
    fields: BTreeMap<Field, FieldUse>,
}

/// What fields are to the addresses that they are part of.
#[derive(Default)]
struct Kinds {
    pointers: BTreeSet<Field>,
    indices: BTreeSet<Field>,
}

impl Kinds {
    /// The origins of an address that are its pointers, as far as that is known.
    fn pointers_among(&self, mut origins: BTreeSet<Field>) -> BTreeSet<Field> {
        if !origins.is_disjoint(&self.pointers) {
            origins.retain(|field| self.pointers.contains(field));
        } else if !origins.is_subset(&self.indices) {
            origins.retain(|field| !self.indices.contains(field));
        }
        origins
    }
}

impl Uses<'_> {
    /// Follows values until nothing new is found.
    fn follow(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &self.kernel.instructions {
                changed |= self.step(instruction);
            }
        }
    }

    fn step(&mut self, instruction: &Instruction) -> bool {
        let Instruction { opcode, sources, destinations, .. } = instruction;
        match opcode {
            Opcode::Ld => self.load(instruction),
            Opcode::St => self.store(instruction),
            Opcode::Mov | Opcode::Cvta => {
                let copied = union(&self.copied, sources);
                let derived = union(&self.derived, sources);
                self.give(destinations, &copied, &derived)
            }
            Opcode::Add | Opcode::Sub | Opcode::Selp | Opcode::And | Opcode::Or => {
                let derived = union(&self.derived, sources);
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            // A product is an index, what is added to it may be a pointer.
            Opcode::Mad => {
                let derived = union(&self.derived, sources.get(2..).unwrap_or_default());
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            Opcode::Cvt if self.keeps_address(instruction) => {
                let derived = union(&self.derived, sources);
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            _ => false,
        }
    }

    fn keeps_address(&self, instruction: &Instruction) -> bool {
        instruction.types.iter().all(|ty| ty.bits() == self.address_bits)
    }

    /// The fields of a load from a parameter or from the frame, component by component.
    fn load(&mut self, instruction: &Instruction) -> bool {
        let Some((variable, place)) = self.place_in_variable(instruction.sources.first()) else {
            return false;
        };
        let ty = instruction.types.first().copied();
        let size = ty.map_or(0, |ty| u64::from(ty.bytes()));
        let mut changed = false;
        for (index, register) in (0..).zip(registers(&instruction.destinations)) {
            let field = (variable, place + index * size);
            let mut values = self.stored.get(&field).cloned().unwrap_or_default();
            if variable.index() < self.kernel.parameters as usize {
                self.fields.entry(field).or_default().ty = ty;
                values.insert(field);
            }
            let derived = if size * 8 == u64::from(self.address_bits) {
                values.clone()
            } else {
                BTreeSet::new()
            };
            changed |= add(&mut self.copied[register.index()], &values);
            changed |= add(&mut self.derived[register.index()], &derived);
        }
        changed
    }

    /// What an argument of an inlined call holds.
    fn store(&mut self, instruction: &Instruction) -> bool {
        let Some((variable, place)) = self.place_in_variable(instruction.sources.first()) else {
            return false;
        };
        let size = instruction.types.first().map_or(0, |ty| u64::from(ty.bytes()));
        let values = instruction.sources.get(1..).unwrap_or_default();
        let mut changed = false;
        for (index, register) in (0..).zip(registers(values)) {
            let held = self.stored.entry((variable, place + index * size)).or_default();
            changed |= add(held, &self.copied[register.index()]);
            changed |= add(held, &self.derived[register.index()]);
        }
        changed
    }

    /// The variable of the kernel that an operand addresses, and where in it.
    fn place_in_variable(&self, operand: Option<&Operand>) -> Option<Field> {
        let Operand::Address { base, offset } = operand? else { return None };
        let (variable, start) = match base {
            AddressBase::Symbol(Symbol::Local(variable)) => (*variable, 0),
            AddressBase::Register(register) => match self.places.get(register)? {
                Place::In(field) => *field,
                Place::Elsewhere => return None,
            },
            _ => return None,
        };
        Some((variable, start.checked_add_signed(*offset)?))
    }

    fn give(
        &mut self,
        destinations: &[Operand],
        copied: &BTreeSet<Field>,
        derived: &BTreeSet<Field>,
    ) -> bool {
        let mut changed = false;
        for register in registers(destinations) {
            changed |= add(&mut self.copied[register.index()], copied);
            changed |= add(&mut self.derived[register.index()], derived);
        }
        changed
    }

    /// Which fields are pointers for certain, being the only origin of some address or converted to
    /// one of global memory; and which are only added to those.
    fn kinds(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for instruction in &self.kernel.instructions {
            let origins = match instruction.opcode {
                Opcode::Cvta => union(&self.copied, &instruction.sources),
                _ => self.origins(instruction),
            };
            if origins.len() == 1 {
                kinds.pointers.extend(origins);
            }
        }
        for instruction in &self.kernel.instructions {
            let origins = self.origins(instruction);
            if origins.iter().any(|field| kinds.pointers.contains(field)) {
                kinds.indices.extend(origins.difference(&kinds.pointers));
            }
        }
        kinds
    }

    /// Where the address of an access to global memory comes from.
    fn origins(&self, instruction: &Instruction) -> BTreeSet<Field> {
        let copies = instruction.opcode == Opcode::CpAsync;
        let elsewhere = names_object(instruction.opcode)
            || !copies
                && matches!(
                    instruction.modifiers.space,
                    Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param)
                );
        // A copy names where it writes first, in shared memory.
        let sources = instruction.sources.iter().skip(usize::from(copies));
        let bases = sources.filter_map(|operand| match operand {
            Operand::Address { base: AddressBase::Register(register), .. } if !elsewhere => {
                Some(register)
            }
            _ => None,
        });
        bases.flat_map(|register| self.derived[register.index()].iter().copied()).collect()
    }

    /// Notes the textures, surfaces and samplers that an instruction names.
    fn note_objects(&mut self, instruction: &Instruction, read: &BTreeSet<VirtualRegister>) {
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

    /// Notes what an instruction says about parameters.
    fn note(&mut self, instruction: &Instruction, kinds: &Kinds) {
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
        for field in kinds.pointers_among(self.origins(instruction)) {
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
        let arithmetic = !matches!(
            instruction.opcode,
            Opcode::Ld | Opcode::St | Opcode::Mov | Opcode::Cvt | Opcode::Atom | Opcode::Red
        );
        if arithmetic && ty.is_some_and(|ty| ty.kind() == Kind::Float) {
            for field in union(&self.copied, &instruction.sources) {
                self.fields.entry(field).or_default().float = true;
            }
        }
    }
}

/// The registers that any instruction reads.
pub(super) fn read(kernel: &Kernel) -> BTreeSet<VirtualRegister> {
    let operands = || kernel.instructions.iter().flat_map(|instruction| &instruction.sources);
    let bases = operands().filter_map(|operand| match operand {
        Operand::Address { base: AddressBase::Register(register), .. } => Some(*register),
        _ => None,
    });
    operands().flat_map(|operand| registers(std::slice::from_ref(operand))).chain(bases).collect()
}

/// Where a register points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Into a variable of the kernel.
    In(Field),
    /// To several places, or to none in a variable.
    Elsewhere,
}

/// Where registers point that some instruction writes.
fn places(kernel: &Kernel) -> BTreeMap<VirtualRegister, Place> {
    let mut places = BTreeMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in &kernel.instructions {
            // What is not known yet may become known.
            let Some(place) = pointed(instruction, &places) else { continue };
            for register in registers(&instruction.destinations) {
                let known = places.get(&register).copied();
                let all = match known {
                    Some(known) if known != place => Place::Elsewhere,
                    _ => place,
                };
                changed |= places.insert(register, all) != Some(all);
            }
        }
    }
    places
}

/// Where the result of an instruction points; `None` if that depends on what is not known yet.
fn pointed(instruction: &Instruction, places: &BTreeMap<VirtualRegister, Place>) -> Option<Place> {
    let of = |operand: Option<&Operand>| match operand {
        Some(Operand::Symbol { symbol: Symbol::Local(variable), offset }) => {
            let start = u64::try_from(*offset);
            Some(start.map_or(Place::Elsewhere, |start| Place::In((*variable, start))))
        }
        Some(Operand::Register(register)) => places.get(register).copied(),
        _ => Some(Place::Elsewhere),
    };
    let sources = &instruction.sources;
    match (instruction.opcode, sources.get(1)) {
        (Opcode::Mov | Opcode::Cvta, _) => of(sources.first()),
        (Opcode::Add, Some(Operand::Integer(offset))) => {
            of(sources.first()).map(|place| match place {
                Place::In((variable, start)) => start
                    .checked_add_signed(*offset as i64)
                    .map_or(Place::Elsewhere, |start| Place::In((variable, start))),
                Place::Elsewhere => Place::Elsewhere,
            })
        }
        _ => Some(Place::Elsewhere),
    }
}

/// What any of the registers among operands may hold.
fn union(of: &[BTreeSet<Field>], operands: &[Operand]) -> BTreeSet<Field> {
    registers(operands).flat_map(|register| of[register.index()].iter().copied()).collect()
}

fn add(to: &mut BTreeSet<Field>, more: &BTreeSet<Field>) -> bool {
    let before = to.len();
    to.extend(more);
    to.len() != before
}

/// The registers among operands, those of vectors too; what is no register has a place as well.
pub(super) fn registers(operands: &[Operand]) -> impl Iterator<Item = VirtualRegister> {
    let flat = operands.iter().flat_map(|operand| match operand {
        Operand::Vector(elements) => elements.as_slice(),
        other => std::slice::from_ref(other),
    });
    flat.filter_map(|operand| match operand {
        Operand::Register(register) => Some(*register),
        _ => None,
    })
}
