//! Printer: an instruction back to PTX text.
//!
//! The order of the words comes from the same form tables that the parser checks against, so what
//! is printed parses to the same instruction. Names are the caller's, since the compiler renames
//! registers.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use crate::forms::{Form, Words, forms};
use crate::module::{
    AddressBase, Function, Instruction, LabelId, Module, Operand, Symbol, VirtualRegister,
};
use crate::opcode::{Modifiers, Opcode};
use crate::words;

/// Gives the names that an instruction's numbers stand for.
pub trait Names {
    /// Name of a register, with its percent sign.
    fn register(&self, id: VirtualRegister) -> Cow<'_, str>;
    /// Name of a label.
    fn label(&self, id: LabelId) -> Cow<'_, str>;
    /// Name of a branch table (`.branchtargets`).
    fn branch_table(&self, number: u32) -> Cow<'_, str>;
    /// Name of a variable or function.
    fn symbol(&self, symbol: Symbol) -> Cow<'_, str>;
}

/// The names as the file wrote them. Branch tables have none there and become `$table_0`, ...
#[derive(Clone, Copy, Debug)]
pub struct SourceNames<'m> {
    /// The module.
    pub module: &'m Module,
    /// The function that contains the instruction.
    pub function: &'m Function,
}

impl Names for SourceNames<'_> {
    fn register(&self, id: VirtualRegister) -> Cow<'_, str> {
        let register = self.function.registers.get(id.index());
        register.map_or_else(|| format!("%?{}", id.0).into(), |register| (&*register.name).into())
    }

    fn label(&self, id: LabelId) -> Cow<'_, str> {
        let label = self.function.labels.get(id.index());
        label.map_or_else(|| format!("$?{}", id.0).into(), |label| (&*label.name).into())
    }

    fn branch_table(&self, number: u32) -> Cow<'_, str> {
        format!("$table_{number}").into()
    }

    fn symbol(&self, symbol: Symbol) -> Cow<'_, str> {
        let name = match symbol {
            Symbol::Module(id) => self.module.variables.get(id.index()).map(|v| &*v.name),
            Symbol::Local(id) => self.function.variables.get(id.index()).map(|v| &*v.name),
            Symbol::Function(id) => self.module.functions.get(id.index()).map(|f| &*f.name),
        };
        name.unwrap_or("?").into()
    }
}

/// The instruction as PTX text without its `;`.
pub fn instruction<'i, N: Names>(instruction: &'i Instruction, names: &'i N) -> impl Display + 'i {
    Printed { instruction, names }
}

struct Printed<'i, N> {
    instruction: &'i Instruction,
    names: &'i N,
}

impl<N: Names> Display for Printed<'_, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let instruction = self.instruction;
        if let Some(guard) = instruction.guard {
            let bang = if guard.negated { "!" } else { "" };
            write!(f, "@{bang}{} ", self.names.register(guard.register))?;
        }
        f.write_str(instruction.opcode.name())?;
        for word in written_words(instruction) {
            write!(f, ".{word}")?;
        }
        if instruction.opcode == Opcode::Call { self.call(f) } else { self.operands(f) }
    }
}

impl<N: Names> Printed<'_, N> {
    fn operands(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Instruction { opcode, destinations, sources, .. } = self.instruction;
        for (index, destination) in destinations.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { "|" })?;
            self.operand(f, destination)?;
            if index == 0 {
                self.selector(f, 0)?;
            }
        }
        let mut written = usize::from(!destinations.is_empty());
        let mut index = 0;
        while let Some(source) = sources.get(index) {
            f.write_str(if written == 0 { " " } else { ", " })?;
            let grouped = if is_texture(*opcode, source) { group(&sources[index..]) } else { 1 };
            if grouped > 1 {
                self.texture(f, &sources[index..index + grouped])?;
            } else {
                self.operand(f, source)?;
                self.selector(f, written)?;
            }
            index += grouped;
            written += 1;
        }
        Ok(())
    }

    /// `(results), function, (arguments), call prototype`.
    fn call(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Instruction { destinations, sources, .. } = self.instruction;
        f.write_str(" ")?;
        if !destinations.is_empty() {
            f.write_str("(")?;
            self.list(f, destinations)?;
            f.write_str("), ")?;
        }
        let Some((callee, mut arguments)) = sources.split_first() else { return Ok(()) };
        self.operand(f, callee)?;
        let call_prototype = match arguments.split_last() {
            Some((label @ Operand::Label(_), rest)) => {
                arguments = rest;
                Some(label)
            }
            _ => None,
        };
        if !arguments.is_empty() {
            f.write_str(", (")?;
            self.list(f, arguments)?;
            f.write_str(")")?;
        }
        if let Some(call_prototype) = call_prototype {
            f.write_str(", ")?;
            self.operand(f, call_prototype)?;
        }
        Ok(())
    }

    fn list(&self, f: &mut Formatter<'_>, operands: &[Operand]) -> fmt::Result {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            self.operand(f, operand)?;
        }
        Ok(())
    }

    /// `[texture, sampler, {x, y}]`.
    fn texture(&self, f: &mut Formatter<'_>, group: &[Operand]) -> fmt::Result {
        f.write_str("[")?;
        if let Operand::Address { base, offset } = group[0] {
            self.address(f, base, offset)?;
        }
        for operand in &group[1..] {
            f.write_str(", ")?;
            self.operand(f, operand)?;
        }
        f.write_str("]")
    }

    fn address(&self, f: &mut Formatter<'_>, base: AddressBase, offset: i64) -> fmt::Result {
        match base {
            AddressBase::Absolute => return write!(f, "{offset}"),
            AddressBase::Register(id) => f.write_str(&self.names.register(id))?,
            AddressBase::Symbol(symbol) => f.write_str(&self.names.symbol(symbol))?,
        }
        if offset == 0 { Ok(()) } else { write!(f, "+{offset}") }
    }

    fn operand(&self, f: &mut Formatter<'_>, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Register(id) => f.write_str(&self.names.register(*id)),
            Operand::NotRegister(id) => write!(f, "!{}", self.names.register(*id)),
            Operand::Integer(bits) => write!(f, "{}", *bits as i64),
            Operand::Float32(bits) => write!(f, "0f{bits:08X}"),
            Operand::Float64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Special(register) => write!(f, "{register}"),
            Operand::Symbol { symbol, offset } => {
                self.address(f, AddressBase::Symbol(*symbol), *offset)
            }
            Operand::Address { base, offset } => {
                f.write_str("[")?;
                self.address(f, *base, *offset)?;
                f.write_str("]")
            }
            Operand::Vector(elements) => {
                f.write_str("{")?;
                self.list(f, elements)?;
                f.write_str("}")
            }
            Operand::Label(id) => f.write_str(&self.names.label(*id)),
            Operand::BranchTable(number) => f.write_str(&self.names.branch_table(*number)),
            Operand::Sink => f.write_str("_"),
        }
    }

    /// `.b0` after the operand at `position`.
    fn selector(&self, f: &mut Formatter<'_>, position: usize) -> fmt::Result {
        for word in &self.instruction.modifiers.other {
            if let Some((index, selector)) = word.split_once('.')
                && index.parse() == Ok(position)
            {
                write!(f, ".{selector}")?;
            }
        }
        Ok(())
    }
}

fn is_texture(opcode: Opcode, operand: &Operand) -> bool {
    matches!(opcode, Opcode::Tex | Opcode::Tld4 | Opcode::Suld | Opcode::Sust | Opcode::Sured)
        && matches!(operand, Operand::Address { .. })
}

/// Operands in the brackets of a texture: up to and including its coordinates, always a vector.
fn group(operands: &[Operand]) -> usize {
    operands.iter().position(|o| matches!(o, Operand::Vector(_))).map_or(1, |index| index + 1)
}

/// Whether a word says which part of an operand is meant.
fn is_selector(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.split_once('.').is_some_and(|(index, _)| index.parse::<u8>().is_ok())
}

/// Modifiers and types in the order of the manual.
fn written_words(instruction: &Instruction) -> Vec<Cow<'static, str>> {
    let Instruction { opcode, modifiers, .. } = instruction;
    let selectors = modifiers.other.iter().filter(|word| is_selector(word)).count();
    let of_form = |form: &'static Form| {
        let words = form_words(instruction, form)?;
        let mut again = Modifiers::default();
        for word in &words {
            if crate::types::ScalarType::from_name(word).is_none() {
                words::apply(&mut again, *opcode, word);
            }
        }
        again.other.extend(modifiers.other[modifiers.other.len() - selectors..].iter().cloned());
        (again == *modifiers).then_some(words)
    };
    match forms(*opcode).iter().find_map(of_form) {
        Some(words) => words.into_iter().map(Cow::Borrowed).collect(),
        None => any_words(instruction),
    }
}

/// The words of one form that the instruction calls for; `None` when it is of another form.
fn form_words(instruction: &Instruction, form: &'static Form) -> Option<Vec<&'static str>> {
    let mut types = instruction.types.iter().peekable();
    let mut other = 0;
    let mut words = Vec::new();
    for group in &form.groups {
        let word = match &group.words {
            Words::Types(choice) => types.next_if(|ty| choice.contains(ty)).map(|ty| ty.name()),
            Words::Modifiers(choice) => choice
                .iter()
                .copied()
                .find(|word| words::holds(&instruction.modifiers, instruction.opcode, word, other)),
        };
        match word {
            Some(word) => {
                let is_other = words::meaning(instruction.opcode, word) == words::Meaning::Other
                    && matches!(group.words, Words::Modifiers(_));
                other += usize::from(is_other);
                words.push(word);
            }
            None if group.optional => {}
            None => return None,
        }
    }
    types.next().is_none().then_some(words)
}

/// For instructions that the compiler has made and PTX cannot say: every word that applies.
fn any_words(instruction: &Instruction) -> Vec<Cow<'static, str>> {
    let Instruction { opcode, modifiers, types, .. } = instruction;
    let mut words: Vec<Cow<'static, str>> = Vec::new();
    for group in forms(*opcode).iter().flat_map(|form| &form.groups) {
        let Words::Modifiers(choice) = &group.words else { continue };
        for word in choice {
            let known = words::meaning(*opcode, word) != words::Meaning::Other;
            if known
                && words::holds(modifiers, *opcode, word, 0)
                && !words.contains(&(*word).into())
            {
                words.push((*word).into());
            }
        }
    }
    words.extend(modifiers.other.iter().filter(|w| !is_selector(w)).map(|w| w.clone().into()));
    words.extend(types.iter().map(|ty| ty.name().into()));
    words
}
