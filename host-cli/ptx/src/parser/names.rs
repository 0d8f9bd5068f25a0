//! What names stand for, from the innermost block outwards to the module.

use super::scope::Name;
use super::{Parser, Result};
use crate::module::{Register, Span, Symbol, VariableId};

impl<'a> Parser<'a> {
    /// A register or variable of the function, or a register of the module. Registers become used.
    pub(super) fn find_name(&mut self, name: &'a str) -> Option<Name> {
        let found = self.body.find(name, &mut self.module);
        if found.is_some() {
            return found;
        }
        let ty = self.module_registers.find(name)?;
        let next = self.module.registers.len() as u32;
        let number = *self.module_registers.numbers.entry(name).or_insert(next);
        if number == next {
            self.module.registers.push(Register { name: name.to_owned(), ty });
        }
        let meaning = self.body.use_register(0, name, ty);
        if let Name::Register(register) = meaning {
            self.body.function.module_registers.push((register, number));
        }
        Some(meaning)
    }

    /// A variable or function by name, innermost first; registers are not looked for.
    pub(super) fn symbol(&mut self, name: &'a str) -> Option<Symbol> {
        match self.find_name(name) {
            Some(Name::Variable(id)) => Some(Symbol::Local(id)),
            Some(Name::Global(id)) => Some(Symbol::Module(id)),
            Some(_) => None,
            None => self.global(name),
        }
    }

    /// A variable or function of module scope. Numbered variables become used.
    pub(super) fn global(&mut self, name: &'a str) -> Option<Symbol> {
        if let Some(&known) = self.globals.get(name) {
            return Some(known);
        }
        let Some(Name::Numbered(each)) = self.global_ranges.find(name) else { return None };
        self.module.variables.push(each.variable(name));
        let symbol = Symbol::Module(VariableId(self.module.variables.len() as u32 - 1));
        self.globals.insert(name, symbol);
        Some(symbol)
    }

    /// Reports a name declared twice.
    pub(super) fn redeclared(&mut self, name: &str, span: Span) -> Result<()> {
        let message = format!("`{}` is declared twice in this block", super::shorten(name));
        Err(self.error("redeclared", span, message))
    }
}
