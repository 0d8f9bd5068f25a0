//! What a kernel does with its parameters: which are pointers, to what, and what a structure holds.
//!
//! Values are followed from loads of parameters through moves, address arithmetic and variables of
//! the frame to the addresses of accesses, over the whole kernel at once: a register has all values
//! that any of its definitions gives it. What is found is a guess for a person to correct, and a
//! run of it tells whether it will do.

mod notes;

use std::collections::{BTreeMap, BTreeSet};

use strata_compiler::kernel::Kernel;
use strata_ptx::module::{
    AddressBase, Instruction, Module, Operand, StateSpace, Symbol, VariableId, VirtualRegister,
};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::{Kind, ScalarType};

use super::field::{Field, part_of};
use super::meaning::{Meaning, Meanings};
use super::memory::{Held, Memory, held};
use super::objects::{ObjectUse, names_object};
use super::operands::{components, numbered, registers};

/// Bytes of a variable: its number and how far they lie behind its start.
type At = (VariableId, u64);

/// What is known of one field of a parameter: of a scalar the whole parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldUse {
    /// The type that it is loaded with.
    pub(super) ty: Option<ScalarType>,
    /// What computing shows that it is.
    pub(super) meaning: Option<Meaning>,
    /// It is computed with as a whole, in integers of 64 bits.
    pub(super) wide: bool,
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
    /// What the memory holds, as far as that can be seen.
    pub(super) held: Option<Held>,
    /// What the pointers there point to, if there are pointers.
    pub(super) target: Option<Box<Self>>,
    /// Something is loaded from there.
    pub(super) read: bool,
    /// Something is stored there.
    pub(super) written: bool,
}

impl Pointer {
    /// The type of most accesses, as the PTX has it.
    pub(super) fn accessed(&self) -> Option<ScalarType> {
        self.types.values().max_by_key(|(count, _)| *count).map(|(_, ty)| *ty)
    }
}

/// The fields of a parameter, by their places and sizes in it.
pub(super) type Fields = BTreeMap<(u64, u64), FieldUse>;

/// What a kernel does with its parameters and with variables of the module.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) parameters: Vec<Fields>,
    pub(super) variables: BTreeMap<VariableId, Held>,
}

/// What a kernel of a module does with each of its parameters.
pub(super) fn parameters(kernel: &Kernel, module: &Module) -> Found {
    let mut uses = Uses {
        kernel,
        address_bits: module.address_bits.into(),
        derived: vec![BTreeSet::new(); kernel.registers.len()],
        copied: vec![BTreeSet::new(); kernel.registers.len()],
        places: places(kernel),
        stored: BTreeMap::new(),
        kept: BTreeMap::new(),
        fields: BTreeMap::new(),
    };
    uses.follow();
    let (kinds, read) = (uses.kinds(), read(kernel));
    let mut meanings = Meanings::new(&kernel.instructions, &kernel.registers);
    let cells = uses.join_frame(&mut meanings);
    meanings.conclude();
    let mut accesses = Vec::new();
    for instruction in &kernel.instructions {
        uses.note(instruction, &kinds);
        uses.note_objects(instruction, &read);
        uses.accesses(instruction, &kinds, &mut meanings, &mut accesses);
    }
    let held = held(&accesses, &mut meanings);
    for (field, node) in cells {
        if field.depth == 0 {
            let found = uses.fields.entry(field).or_default();
            found.meaning = meanings.meaning(node);
            found.wide = meanings.is_wide(node);
        }
    }
    uses.found(&held)
}

struct Uses<'k> {
    kernel: &'k Kernel,
    address_bits: u32,
    /// Memory that the address in a register may point into.
    derived: Vec<BTreeSet<Memory>>,
    /// Fields whose value a register may hold as it is.
    copied: Vec<BTreeSet<Field>>,
    /// Where registers point, as far as that is known.
    places: BTreeMap<VirtualRegister, Place>,
    /// Fields whose value lies in a variable of the frame: arguments of inlined calls, and what
    /// code that was not optimised keeps there.
    stored: BTreeMap<At, BTreeSet<Field>>,
    /// Addresses that lie in the frame or somewhere in another variable.
    kept: BTreeMap<(Memory, u64), BTreeSet<Memory>>,
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
        if origins.is_disjoint(&self.pointers) {
            // A number in memory is more often an index than a pointer.
            if origins.iter().any(|field| field.depth == 0) {
                origins.retain(|field| field.depth == 0);
            }
            if !origins.is_subset(&self.indices) {
                origins.retain(|field| !self.indices.contains(field));
            }
        } else {
            origins.retain(|field| self.pointers.contains(field));
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
            Opcode::Ld | Opcode::Ldu => self.load(instruction),
            Opcode::St => self.store(instruction),
            Opcode::Mov => self.moved(instruction),
            Opcode::Cvta => {
                let copied = union(&self.copied, sources);
                let derived = self.addresses(sources);
                self.give(destinations, &copied, &derived)
            }
            Opcode::Add | Opcode::Sub | Opcode::Selp | Opcode::And | Opcode::Or => {
                let derived = self.addresses(sources);
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            // A product is an index, what is added to it may be a pointer.
            Opcode::Mad => {
                let derived = self.addresses(sources.get(2..).unwrap_or_default());
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            Opcode::Shr => self.upper_part(instruction),
            Opcode::Cvt if self.keeps_address(instruction) => {
                let derived = self.addresses(sources);
                self.give(destinations, &BTreeSet::new(), &derived)
            }
            Opcode::Cvt => self.narrowed(instruction),
            _ => false,
        }
    }

    fn keeps_address(&self, instruction: &Instruction) -> bool {
        instruction.types.iter().all(|ty| ty.bits() == self.address_bits)
    }

    /// The memory that the values of operands may point into.
    fn addresses(&self, operands: &[Operand]) -> BTreeSet<Memory> {
        let named = operands.iter().filter_map(|operand| match operand {
            Operand::Symbol { symbol, .. } => of_symbol(*symbol),
            _ => None,
        });
        union(&self.derived, operands).into_iter().chain(named).collect()
    }

    /// A copy, or parts of a field from the whole, or the whole of the parts.
    fn moved(&mut self, instruction: &Instruction) -> bool {
        let Instruction { sources, destinations, types, modifiers, .. } = instruction;
        let size = types.first().map_or(0, |ty| u64::from(ty.bytes()));
        match (destinations.first(), sources.first()) {
            (Some(Operand::Vector(_)), Some(Operand::Vector(values))) if modifiers.vector > 1 => {
                let mut changed = false;
                for (result, value) in components(destinations).zip(values) {
                    let value = std::slice::from_ref(value);
                    let (copied, derived) = (union(&self.copied, value), self.addresses(value));
                    changed |= self.give(std::slice::from_ref(result), &copied, &derived);
                }
                changed
            }
            (Some(Operand::Vector(parts)), Some(_)) => {
                let whole = union(&self.copied, sources);
                let mut changed = false;
                for (place, part) in places_of(parts, size) {
                    let of = |field: &Field| part_of(*field, size, place, parts.len());
                    let copied = whole.iter().filter_map(of).collect();
                    changed |= self.give(std::slice::from_ref(part), &copied, &BTreeSet::new());
                }
                changed
            }
            (Some(_), Some(Operand::Vector(parts))) => {
                let copied = self.whole(parts, size);
                let pointers = copied.iter().filter(|_| size * 8 == u64::from(self.address_bits));
                let derived = pointers.map(|field| Memory::Behind(*field)).collect();
                self.give(destinations, &copied, &derived)
            }
            _ => {
                let copied = union(&self.copied, sources);
                let derived = self.addresses(sources);
                self.give(destinations, &copied, &derived)
            }
        }
    }

    /// The fields of a size whose parts are packed.
    fn whole(&self, parts: &[Operand], size: u64) -> BTreeSet<Field> {
        let each = size / parts.len().max(1) as u64;
        let starts = union(&self.copied, parts.get(..1).unwrap_or_default());
        let follows = |start: &Field, (place, part): (u64, &Operand)| {
            let wanted = Field { place: start.place + place, size: each, ..*start };
            union(&self.copied, std::slice::from_ref(part)).contains(&wanted)
        };
        let all = |start: &&Field| {
            start.depth == 0 && places_of(parts, size).all(|part| follows(start, part))
        };
        starts.iter().filter(all).map(|start| Field { size, ..*start }).collect()
    }

    /// The upper part of a field, by a shift.
    fn upper_part(&mut self, instruction: &Instruction) -> bool {
        let (Some(ty), Some(Operand::Integer(bits))) =
            (instruction.types.first(), instruction.sources.get(1))
        else {
            return false;
        };
        let size = u64::from(ty.bytes());
        if *bits != size * 4 || size < 2 {
            return false;
        }
        let whole = union(&self.copied, instruction.sources.get(..1).unwrap_or_default());
        let copied = whole.into_iter().filter_map(|field| part_of(field, size, size / 2, 2));
        let copied = copied.collect();
        self.give(&instruction.destinations, &copied, &BTreeSet::new())
    }

    /// The bits of a converted value that are kept as they are.
    fn narrowed(&mut self, instruction: &Instruction) -> bool {
        let [to, from] = instruction.types.as_slice() else { return false };
        if to.kind() == Kind::Float || from.kind() == Kind::Float {
            return false;
        }
        let mut copied = union(&self.copied, &instruction.sources);
        copied.retain(|field| field.size <= u64::from(to.bytes().min(from.bytes())));
        self.give(&instruction.destinations, &copied, &BTreeSet::new())
    }

    /// The fields of a load from a parameter or from the frame, component by component; addresses
    /// that a load from elsewhere may give.
    fn load(&mut self, instruction: &Instruction) -> bool {
        let ty = instruction.types.first().copied();
        let size = ty.map_or(0, |ty| u64::from(ty.bytes()));
        let is_address = size * 8 == u64::from(self.address_bits);
        let Some((variable, place)) = self.place_in_variable(instruction.sources.first()) else {
            return is_address && self.load_address(instruction);
        };
        let mut changed = false;
        for (index, register) in numbered(&instruction.destinations) {
            let place = place + index * size;
            let at = (variable, place);
            let mut values = self.stored.get(&at).cloned().unwrap_or_default();
            if variable.index() < self.kernel.parameters as usize {
                let field = Field { variable, place, size, depth: 0 };
                self.fields.entry(field).or_default().ty = ty;
                values.insert(field);
            }
            let mut derived = BTreeSet::new();
            if is_address {
                derived.extend(values.iter().map(|field| Memory::Behind(*field)));
                let kept = self.kept.get(&(Memory::Local(variable), place));
                derived.extend(kept.into_iter().flatten());
            }
            changed |= add(&mut self.copied[register.index()], &values);
            changed |= add(&mut self.derived[register.index()], &derived);
        }
        changed
    }

    /// Addresses that lie in memory: those that were stored there, or pointers of a buffer.
    fn load_address(&mut self, instruction: &Instruction) -> bool {
        let (mut derived, mut copied) = (BTreeSet::new(), BTreeSet::new());
        for memory in self.origins(instruction) {
            match memory {
                Memory::Behind(field) => {
                    copied.extend(field.behind());
                    derived.extend(field.behind().map(Memory::Behind));
                }
                other => derived.extend(self.kept.get(&(other, 0)).into_iter().flatten()),
            }
        }
        self.give(&instruction.destinations, &copied, &derived)
    }

    /// What an argument of an inlined call holds, and the addresses that memory holds.
    fn store(&mut self, instruction: &Instruction) -> bool {
        let size = instruction.types.first().map_or(0, |ty| u64::from(ty.bytes()));
        let values = instruction.sources.get(1..2).unwrap_or_default();
        let is_address = size * 8 == u64::from(self.address_bits);
        let mut changed = false;
        if let Some((variable, place)) = self.place_in_variable(instruction.sources.first()) {
            for (index, register) in numbered(values) {
                let place = place + index * size;
                let held = self.stored.entry((variable, place)).or_default();
                changed |= add(held, &self.copied[register.index()]);
                if is_address {
                    let kept = self.kept.entry((Memory::Local(variable), place)).or_default();
                    changed |= add(kept, &self.derived[register.index()]);
                }
            }
        } else if is_address {
            let addresses = self.addresses(values);
            for memory in self.origins(instruction) {
                if !addresses.is_empty() && !matches!(memory, Memory::Behind(_)) {
                    changed |= add(self.kept.entry((memory, 0)).or_default(), &addresses);
                }
            }
        }
        changed
    }

    /// The variable of the kernel that an operand addresses, and where in it.
    fn place_in_variable(&self, operand: Option<&Operand>) -> Option<At> {
        let Operand::Address { base, offset } = operand? else { return None };
        let (variable, start) = match base {
            AddressBase::Symbol(Symbol::Local(variable)) => (*variable, 0),
            AddressBase::Register(register) => match self.places.get(register)? {
                Place::In(at) => *at,
                Place::Elsewhere => return None,
            },
            _ => return None,
        };
        // Threads share what lies in shared memory: it is not followed from place to place.
        let space = self.kernel.variables.get(variable.index())?.space;
        let place = start.checked_add_signed(*offset)?;
        (space != StateSpace::Shared).then_some((variable, place))
    }

    fn give(
        &mut self,
        destinations: &[Operand],
        copied: &BTreeSet<Field>,
        derived: &BTreeSet<Memory>,
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
                _ => self.fields_of(instruction),
            };
            if origins.len() == 1 {
                kinds.pointers.extend(origins);
            }
        }
        for instruction in &self.kernel.instructions {
            let origins = self.fields_of(instruction);
            if origins.iter().any(|field| kinds.pointers.contains(field)) {
                kinds.indices.extend(origins.difference(&kinds.pointers));
            }
        }
        kinds
    }

    /// The memory that an access may be of.
    fn origins(&self, instruction: &Instruction) -> BTreeSet<Memory> {
        if names_object(instruction.opcode) {
            return BTreeSet::new();
        }
        // A copy names where it writes first, in shared memory.
        let copies = usize::from(instruction.opcode == Opcode::CpAsync);
        self.of_addresses(instruction.sources.iter().skip(copies))
    }

    fn of_addresses<'o>(&self, operands: impl Iterator<Item = &'o Operand>) -> BTreeSet<Memory> {
        let mut found = BTreeSet::new();
        for operand in operands {
            match operand {
                Operand::Address { base: AddressBase::Register(register), .. } => {
                    found.extend(&self.derived[register.index()]);
                }
                Operand::Address { base: AddressBase::Symbol(symbol), .. } => {
                    found.extend(of_symbol(*symbol));
                }
                _ => {}
            }
        }
        found
    }

    /// The fields that the address of an access to global memory may come from.
    fn fields_of(&self, instruction: &Instruction) -> BTreeSet<Field> {
        let copies = instruction.opcode == Opcode::CpAsync;
        let elsewhere = !copies
            && matches!(
                instruction.modifiers.space,
                Some(StateSpace::Shared | StateSpace::Local | StateSpace::Param)
            );
        let origins = if elsewhere { BTreeSet::new() } else { self.origins(instruction) };
        let field = |memory| match memory {
            Memory::Behind(field) => Some(field),
            Memory::Module(_) | Memory::Local(_) => None,
        };
        origins.into_iter().filter_map(field).collect()
    }
}

/// The memory that a symbol names.
const fn of_symbol(symbol: Symbol) -> Option<Memory> {
    match symbol {
        Symbol::Module(id) => Some(Memory::Module(id)),
        Symbol::Local(id) => Some(Memory::Local(id)),
        Symbol::Function(_) => None,
    }
}

/// The parts of a vector with their places in the whole, which has so many bytes.
fn places_of(parts: &[Operand], size: u64) -> impl Iterator<Item = (u64, &Operand)> {
    let each = size / parts.len().max(1) as u64;
    (0..).map(move |index| index * each).zip(parts)
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
    In(At),
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
fn union<T: Copy + Ord>(of: &[BTreeSet<T>], operands: &[Operand]) -> BTreeSet<T> {
    registers(operands).flat_map(|register| of[register.index()].iter().copied()).collect()
}

fn add<T: Copy + Ord>(to: &mut BTreeSet<T>, more: &BTreeSet<T>) -> bool {
    let before = to.len();
    to.extend(more);
    to.len() != before
}
