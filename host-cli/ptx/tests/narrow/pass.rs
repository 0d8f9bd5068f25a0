//! Narrowing: kernels with 64-bit addresses as the same kernels with 32-bit ones.
//!
//! A set of 64-bit registers that instructions compute from each other is narrowed if some of it is
//! used as an address, and if all that computes with it is arithmetic whose lower 32 bits follow
//! from the lower 32 bits of its operands: sums, differences, lower halves of products, shifts to
//! the left, copies. Everything else stays as wide as it is. An address that is used in any other
//! way is an error: the kernel may then compute something else with narrow addresses.
//!
//! What 32-bit code does not need goes: a conversion that only widens an index. Why: DEV-075.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use strata_ptx::module::{
    AddressBase, Function, Instruction, Operand, StateSpace, Symbol, Variable, VirtualRegister,
};
use strata_ptx::opcode::{Half, Opcode};
use strata_ptx::parse;
use strata_ptx::types::{Kind, ScalarType};

/// First line of what is written.
const NOTE: &str = "// Made of kernel.ptx with 32-bit addresses; docs/WORKLOADS.md says how.\n";

/// Why a file cannot be narrowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Line of the file, from 1.
    pub(crate) line: u32,
    pub(crate) why: String,
}

/// The text with 32-bit addresses.
///
/// # Errors
/// PTX that does not parse or has other addresses than 64-bit ones; functions that are called;
/// addresses in initial contents, in memory, in comparisons or in other arithmetic than the above.
pub(crate) fn narrow(text: &str) -> Result<String, Refusal> {
    let parsed = parse(text);
    if let Some(first) = parsed.diagnostics.first() {
        let line = parsed.module.line(first.span.start);
        return Err(Refusal { line, why: first.message.clone() });
    }
    let module = parsed.module;
    let refusal = |at: u32, why: String| Refusal { line: module.line(at), why };
    if module.address_bits != 64 {
        return Err(refusal(0, format!("addresses have {} bits", module.address_bits)));
    }
    for variable in &module.variables {
        if variable.initial.as_ref().is_some_and(|initial| !initial.addresses.is_empty()) {
            return Err(refusal(variable.span.start, "addresses in initial contents".to_owned()));
        }
    }
    let mut edits = Edits::default();
    let size = text.find(".address_size").expect("a module with 64-bit addresses says so");
    edits.replace_in(text, size..text.len(), "64", "32");
    let starts: Vec<usize> = module.functions.iter().map(|f| f.span.start as usize).collect();
    for function in &module.functions {
        if !function.kernel || !function.defined {
            let why = format!("`{}` is called; only kernels are narrowed", function.name);
            return Err(refusal(function.span.start, why));
        }
        let start = function.span.start as usize;
        let later = starts.iter().copied().filter(|&other| other > start);
        let end = later.min().unwrap_or(text.len());
        let kernel = Kernel::new(function).map_err(|(at, why)| refusal(at, why))?;
        kernel.edit(text, start..end, &mut edits).map_err(|(at, why)| refusal(at, why))?;
    }
    Ok(NOTE.to_owned() + &edits.apply(text))
}

/// Replacements of ranges of the text, by where they begin.
#[derive(Default)]
struct Edits(BTreeMap<usize, (usize, String)>);

impl Edits {
    fn replace(&mut self, range: Range<usize>, by: String) {
        self.0.insert(range.start, (range.end, by));
    }

    /// Replaces the first of a range, and says whether there is one.
    fn replace_in(&mut self, text: &str, range: Range<usize>, from: &str, to: &str) -> bool {
        let found = text[range.clone()].find(from).map(|at| range.start + at);
        if let Some(at) = found {
            self.replace(at..at + from.len(), to.to_owned());
        }
        found.is_some()
    }

    fn apply(self, text: &str) -> String {
        let (mut all, mut at) = (String::with_capacity(text.len()), 0);
        for (start, (end, by)) in self.0 {
            all.push_str(&text[at..start]);
            all.push_str(&by);
            at = end;
        }
        all + &text[at..]
    }
}

/// A place in the text, and what is wrong there.
type Fault = (u32, String);

/// What is narrowed of one kernel.
struct Kernel<'m> {
    function: &'m Function,
    /// By register.
    narrow: Vec<bool>,
    /// Widened indices: the narrow register that takes such a one's place.
    instead: BTreeMap<VirtualRegister, VirtualRegister>,
    /// Parameters that are addresses, by number.
    parameters: BTreeSet<usize>,
}

impl<'m> Kernel<'m> {
    fn new(function: &'m Function) -> Result<Self, Fault> {
        let narrow = addresses(function)?;
        let mut kernel =
            Self { function, narrow, instead: BTreeMap::new(), parameters: BTreeSet::new() };
        kernel.find_parameters()?;
        kernel.find_widened();
        Ok(kernel)
    }

    fn is_narrow(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Register(register) if self.narrow[register.index()])
    }

    /// Parameters that are read into narrowed registers.
    fn find_parameters(&mut self) -> Result<(), Fault> {
        let mut wide = BTreeMap::new();
        for instruction in &self.function.body {
            let Some(parameter) = parameter_read(self.function, instruction) else { continue };
            if instruction.destinations.iter().any(|to| self.is_narrow(to)) {
                self.parameters.insert(parameter);
            } else {
                wide.insert(parameter, instruction.span.start);
            }
        }
        let both = wide.into_iter().find(|(parameter, _)| self.parameters.contains(parameter));
        match both {
            Some((_, at)) => Err((at, "reads a parameter that is an address elsewhere".to_owned())),
            None => Ok(()),
        }
    }

    /// Indices that are only widened. Both registers are written once, so that wherever the one is
    /// read, the other still holds what it was made of.
    fn find_widened(&mut self) {
        let mut written = vec![0; self.function.registers.len()];
        for instruction in &self.function.body {
            for register in registers(&instruction.destinations) {
                written[register.index()] += 1;
            }
        }
        for instruction in &self.function.body {
            let [Operand::Register(to)] = instruction.destinations[..] else { continue };
            let [Operand::Register(from)] = instruction.sources[..] else { continue };
            let once = written[to.index()] == 1 && written[from.index()] == 1;
            let widens = instruction.opcode == Opcode::Cvt && bits(instruction) == [64, 32];
            if widens && once && instruction.guard.is_none() && self.narrow[to.index()] {
                self.instead.insert(to, from);
            }
        }
    }

    fn edit(&self, text: &str, place: Range<usize>, edits: &mut Edits) -> Result<(), Fault> {
        for &parameter in &self.parameters {
            let Variable { span, name, .. } = &self.function.variables[parameter];
            let end = span.start as usize;
            let start = text[..end].rfind(".param").expect("a parameter is declared so");
            if ![".u64", ".b64", ".s64"]
                .iter()
                .any(|ty| edits.replace_in(text, start..end, ty, &ty.replace("64", "32")))
            {
                return Err((span.start, format!("the type of `{name}` is not understood")));
            }
        }
        self.edit_declarations(text, place, edits);
        for instruction in &self.function.body {
            self.edit_instruction(text, instruction, edits)?;
        }
        Ok(())
    }

    /// `.reg .b64 %rd<22>;` for the wide and the narrow registers among them.
    fn edit_declarations(&self, text: &str, place: Range<usize>, edits: &mut Edits) {
        const WIDE: &str = ".reg .b64";
        let mut at = place.start;
        while let Some(found) = text[at..place.end].find(WIDE) {
            let start = at + found;
            let end = start + text[start..].find(';').expect("declarations end so") + 1;
            let names = text[start + WIDE.len()..end - 1].trim();
            let (family, count) = names.split_at(names.find('<').unwrap_or(names.len()));
            let named = self.function.registers.iter().enumerate().filter(|(_, register)| {
                let number = register.name.strip_prefix(family);
                number.is_some_and(|number| {
                    number.is_empty() == count.is_empty()
                        && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            });
            let (narrow, wide): (Vec<_>, Vec<_>) = named.partition(|(id, _)| self.narrow[*id]);
            let own = text[start..end].replace("b64", "b32").replace(family, &narrowed(family));
            let by = match (narrow.is_empty(), wide.is_empty()) {
                (true, _) => text[start..end].to_owned(),
                (false, true) => own,
                (false, false) => format!("{}\n\t{own}", &text[start..end]),
            };
            edits.replace(start..end, by);
            at = end;
        }
    }

    fn edit_instruction(
        &self,
        text: &str,
        instruction: &Instruction,
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let place = instruction.span.start as usize..instruction.span.end as usize;
        if let [Operand::Register(to)] = &instruction.destinations[..]
            && self.instead.contains_key(to)
            && instruction.opcode == Opcode::Cvt
        {
            let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
            let end = place.end + text[place.end..].find(';').expect("instructions end so") + 1;
            edits.replace(start..end + usize::from(text[end..].starts_with('\n')), String::new());
            return Ok(());
        }
        let values = instruction.destinations.iter().chain(&instruction.sources);
        let computes = values.clone().any(|operand| self.is_narrow(operand));
        if computes && values.clone().any(is_large) {
            return Err((instruction.span.start, "a constant of more than 32 bits".to_owned()));
        }
        let touches = instruction.sources.iter().any(|operand| {
            matches!(operand, Operand::Address { base: AddressBase::Register(register), .. }
                if self.narrow[register.index()])
        });
        if !computes && !touches {
            return Ok(());
        }
        let own = &text[place.clone()];
        let opcode = own.find(instruction.opcode.name()).expect("it begins with its opcode");
        let opcode =
            opcode..own[opcode..].find(char::is_whitespace).map_or(own.len(), |n| opcode + n);
        let mut by = self.rename(&own[..opcode.start]);
        by += &if computes {
            narrow_opcode(instruction, &own[opcode.clone()])
        } else {
            own[opcode.clone()].to_owned()
        };
        by += &self.rename(&own[opcode.end..]);
        edits.replace(place, by);
        Ok(())
    }

    /// Operands with the narrowed registers' names.
    fn rename(&self, operands: &str) -> String {
        let mut all = String::with_capacity(operands.len());
        let mut rest = operands;
        while let Some(at) = rest.find('%') {
            all.push_str(&rest[..at]);
            rest = &rest[at..];
            let word = |byte: &char| byte.is_ascii_alphanumeric() || "_$%".contains(*byte);
            let length = rest.chars().take_while(word).count();
            let named = self.function.registers.iter().position(|r| r.name == rest[..length]);
            let id =
                named.map(|index| VirtualRegister(u32::try_from(index).expect("few registers")));
            all += &match id.filter(|id| self.narrow[id.index()]) {
                None => rest[..length].to_owned(),
                Some(id) => match self.instead.get(&id) {
                    Some(other) => self.function.registers[other.index()].name.clone(),
                    None => narrowed(&rest[..length]),
                },
            };
            rest = &rest[length..];
        }
        all + rest
    }
}

/// Name of a narrowed register, or of all that are declared together: `%rd5` and `%rd` become
/// `%rda5` and `%rda`.
fn narrowed(name: &str) -> String {
    let (family, number) = name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    format!("{family}a{number}")
}

/// The opcode with types of 32 bits.
fn narrow_opcode(instruction: &Instruction, written: &str) -> String {
    if instruction.opcode == Opcode::Cvt && bits(instruction).contains(&32) {
        return "mov.b32".to_owned();
    }
    if instruction.modifiers.half == Some(Half::Wide) {
        return written.replace(".wide.", ".lo.");
    }
    written.replacen("64", "32", 1)
}

/// By register of a function, whether it is narrowed.
fn addresses(function: &Function) -> Result<Vec<bool>, Fault> {
    let wide = |id: VirtualRegister| function.registers[id.index()].ty.bits() == 64;
    let mut sets = Sets((0..function.registers.len()).collect());
    let mut used = Vec::new();
    let mut otherwise = Vec::new();
    for instruction in &function.body {
        let operands = || instruction.destinations.iter().chain(&instruction.sources);
        used.extend(operands().filter_map(|operand| match operand {
            Operand::Address { base: AddressBase::Register(register), .. } => Some(*register),
            _ => None,
        }));
        let values: Vec<_> = registers(operands()).filter(|&id| wide(id)).collect();
        if !follows_from_lower_halves(function, instruction) {
            otherwise.extend(values.iter().map(|&id| (id, instruction)));
        } else if let [first, others @ ..] = &values[..] {
            for other in others {
                sets.join(first.index(), other.index());
            }
        }
    }
    let used: BTreeSet<usize> =
        used.into_iter().filter(|&id| wide(id)).map(|id| sets.of(id.index())).collect();
    if let Some((id, instruction)) =
        otherwise.into_iter().find(|(id, _)| used.contains(&sets.of(id.index())))
    {
        let (name, opcode) = (&function.registers[id.index()].name, instruction.opcode.name());
        let why = format!("`{opcode}` uses `{name}`, which an address is computed with");
        return Err((instruction.span.start, why));
    }
    Ok((0..function.registers.len()).map(|index| used.contains(&sets.of(index))).collect())
}

/// Whether the lower 32 bits of the result are computed in the same way from the lower 32 bits of
/// the operands.
fn follows_from_lower_halves(function: &Function, instruction: &Instruction) -> bool {
    let Instruction { opcode, modifiers, types, .. } = instruction;
    let whole = types.iter().all(|ty| ty.kind() != Kind::Float)
        && !modifiers.sat
        && !modifiers.carry_out
        && instruction.destinations.iter().all(|to| matches!(to, Operand::Register(_)))
        && !instruction
            .sources
            .iter()
            .any(|from| matches!(from, Operand::Vector(_) | Operand::Special(_)));
    whole
        && match opcode {
            Opcode::Add | Opcode::Sub | Opcode::Shl | Opcode::Mov | Opcode::Cvta => true,
            Opcode::Mul | Opcode::Mad => modifiers.half != Some(Half::High),
            Opcode::Cvt => bits(instruction) == [64, 32] || bits(instruction) == [32, 64],
            Opcode::Ld => parameter_read(function, instruction).is_some(),
            _ => false,
        }
}

/// Number of the parameter of which a 64-bit value is read, if nothing else is.
fn parameter_read(function: &Function, instruction: &Instruction) -> Option<usize> {
    let [Operand::Address { base: AddressBase::Symbol(Symbol::Local(id)), offset }] =
        instruction.sources[..]
    else {
        return None;
    };
    let parameter = id.index() < function.parameters as usize;
    let variable = &function.variables[id.index()];
    let whole = offset == 0 && instruction.modifiers.vector == 0 && variable.size == 8;
    let reads = instruction.opcode == Opcode::Ld
        && instruction.modifiers.space == Some(StateSpace::Param)
        && bits(instruction) == [64];
    (parameter && whole && reads).then_some(id.index())
}

fn bits(instruction: &Instruction) -> Vec<u32> {
    instruction.types.iter().copied().map(ScalarType::bits).collect()
}

/// Registers whose values operands are, without those that are addresses.
fn registers<'o>(
    operands: impl IntoIterator<Item = &'o Operand>,
) -> impl Iterator<Item = VirtualRegister> {
    let mut all = Vec::new();
    let mut pending: Vec<&Operand> = operands.into_iter().collect();
    while let Some(operand) = pending.pop() {
        match operand {
            Operand::Register(register) | Operand::NotRegister(register) => all.push(*register),
            Operand::Vector(elements) => pending.extend(elements),
            _ => {}
        }
    }
    all.into_iter()
}

/// Whether a constant has more than 32 bits, signed or not.
fn is_large(operand: &Operand) -> bool {
    let &Operand::Integer(value) = operand else { return false };
    u32::try_from(value).is_err() && i32::try_from(value.cast_signed()).is_err()
}

/// Disjoint sets: of each member another one that is nearer to the set's own, which is its own.
struct Sets(Vec<usize>);

impl Sets {
    fn of(&self, mut member: usize) -> usize {
        while self.0[member] != member {
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[other] = one;
    }
}
