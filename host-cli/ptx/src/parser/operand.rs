//! Operands, as far as their shape goes: what an instruction makes of them is checked elsewhere.

use super::scope::{Name, Wanted};
use super::{Parser, Reported, Result};
use crate::check::Written;
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::module::{
    AddressBase, Axis, Instruction, Operand, Register, Span, Symbol, VirtualRegister,
};
use crate::opcode::{Modifiers, Opcode};
use crate::special;
use crate::types::{Kind, ScalarType};

/// Most elements of a vector operand.
const VECTOR_MAX: usize = 64;

/// Where an operand stands, so far as names depend on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Ordinary,
    /// A name is a label.
    Label,
    /// A name is a branch table.
    Table,
}

impl<'a> Parser<'a> {
    /// One operand with what belongs to it.
    pub(super) fn operand(&mut self, place: Place) -> Result<Written> {
        let start = self.span();
        let mut rest = Vec::new();
        let operand = match self.peek() {
            Token::Word if place != Place::Ordinary && !self.is_register() => {
                let (name, span) = self.identifier("a label")?;
                let wanted = if place == Place::Table { Wanted::Table } else { Wanted::Label };
                let id = self.body.refer(name, span, wanted);
                match place {
                    Place::Table => Operand::BranchTable(id.0),
                    _ => Operand::Label(id),
                }
            }
            Token::LeftBracket => self.address(&mut rest)?,
            Token::LeftBrace => self.vector()?,
            _ => self.indexed()?,
        };
        let selector = self.selector();
        let pipe = if self.eat(Token::Pipe) {
            let span = self.span();
            Some((self.element()?, span))
        } else {
            None
        };
        let span = Span { start: start.start, end: self.previous().end };
        Ok(Written { operand, span, pipe, rest, selector })
    }

    /// An element; `array[2]` is a place in memory, except to `mov`, which takes its address.
    fn indexed(&mut self) -> Result<Operand> {
        let bracket = self.peek() == Token::Word && self.peek_at(1) == Token::LeftBracket;
        match self.element()? {
            Operand::Symbol { symbol, offset } if bracket => {
                Ok(Operand::Address { base: AddressBase::Symbol(symbol), offset })
            }
            other => Ok(other),
        }
    }

    fn is_register(&self) -> bool {
        self.word().starts_with('%')
    }

    fn selector(&mut self) -> Option<String> {
        let word = self.dot_word()?;
        let digits = word.strip_prefix(['b', 'h'])?;
        let chosen = digits.bytes().all(|digit| (b'0'..b'8').contains(&digit));
        (chosen && (1..=4).contains(&digits.len())).then(|| {
            self.bump();
            word.to_owned()
        })
    }

    /// `{a, b, c, d}`.
    fn vector(&mut self) -> Result<Operand> {
        self.expect(Token::LeftBrace, "`{`")?;
        let mut elements = Vec::new();
        loop {
            if elements.len() == VECTOR_MAX {
                return Err(self.error("vector-length", self.span(), "this vector is too long"));
            }
            elements.push(self.element()?);
            if !self.eat(Token::Comma) {
                self.expect(Token::RightBrace, "`,` or `}` in a vector")?;
                return Ok(Operand::Vector(elements));
            }
        }
    }

    /// An operand without brackets or braces.
    fn element(&mut self) -> Result<Operand> {
        match self.peek() {
            Token::Underscore => {
                self.bump();
                Ok(Operand::Sink)
            }
            Token::Bang if self.name_follows() => {
                self.bump();
                let span = self.span();
                match self.named()? {
                    Operand::Register(id) => Ok(Operand::NotRegister(id)),
                    _ => Err(self.error("not-predicate", span, "`!` needs a predicate register")),
                }
            }
            Token::Minus if self.name_follows() => {
                let unsupported = Diagnostic::unsupported(
                    "negated-operand",
                    self.span(),
                    "negated register operands cannot be executed yet",
                );
                Err(self.report(unsupported))
            }
            _ if self.at_constant() || self.peek() == Token::Bang => Ok(self.constant()?.into()),
            Token::Word => {
                let start = self.span();
                match self.named()? {
                    Operand::Register(register)
                        if matches!(self.peek(), Token::Plus | Token::Minus) =>
                    {
                        self.sum(register, start).map(Operand::Register)
                    }
                    other => Ok(other),
                }
            }
            _ => Err(self.expected("an operand")),
        }
    }

    /// Whether a name that is no constant stands behind the next token.
    fn name_follows(&self) -> bool {
        let next = self.lexemes.get(self.at + 1);
        next.is_some_and(|next| next.token == Token::Word && self.slice(next.span) != "WARP_SZ")
    }

    /// `temp + 1` where a value is read: a register that an `add` before the instruction writes.
    fn sum(&mut self, register: VirtualRegister, start: Span) -> Result<VirtualRegister> {
        let Register { name, ty } = self.body.function.registers[register.index()].clone();
        let added = match (ty.kind(), ty.bits()) {
            (Kind::Bits | Kind::Unsigned | Kind::Signed, 16) => ScalarType::U16,
            (Kind::Bits | Kind::Unsigned | Kind::Signed, 32) => ScalarType::U32,
            (Kind::Bits | Kind::Unsigned | Kind::Signed, 64) => ScalarType::U64,
            _ => {
                let message = format!("nothing can be added to a `.{}` register here", ty.name());
                return Err(self.error("operand-type", start, message));
            }
        };
        let offset = self.offset()?;
        let span = Span { start: start.start, end: self.previous().end };
        let sum = self.body.add_sum(format!("{name}_sum"), ty);
        self.body.function.body.push(Instruction {
            guard: None,
            opcode: Opcode::Add,
            modifiers: Modifiers::default(),
            types: vec![added],
            destinations: vec![Operand::Register(sum)],
            sources: vec![Operand::Register(register), Operand::Integer(offset as u64)],
            span,
        });
        Ok(sum)
    }

    /// A register, special register, variable or function.
    fn named(&mut self) -> Result<Operand> {
        let (name, span) = self.identifier("a name")?;
        match self.find_name(name) {
            Some(Name::Register(id)) => return Ok(Operand::Register(id)),
            Some(Name::Vector(ty, components)) => {
                return self.vector_register(name, ty, components);
            }
            Some(Name::Variable(id)) => return self.symbol_operand(Symbol::Local(id)),
            Some(Name::Global(id)) => return self.symbol_operand(Symbol::Module(id)),
            Some(Name::Declared(_) | Name::Numbered(_)) | None => {}
        }
        if let Some(symbol) = self.global(name) {
            return self.symbol_operand(symbol);
        }
        if let Some(register) = special::scalar(name) {
            return Ok(Operand::Special(register));
        }
        if let Some(register) = special::vector(name) {
            if self.dot_word().is_none() {
                let components = [Axis::X, Axis::Y, Axis::Z].map(register).map(Operand::Special);
                // The fourth component is always zero.
                let all = components.into_iter().chain([Operand::Integer(0)]);
                return Ok(Operand::Vector(all.collect()));
            }
            let axis = match self.dot_word() {
                Some("x") => Axis::X,
                Some("y") => Axis::Y,
                Some("z") => Axis::Z,
                Some("w") => {
                    self.bump();
                    return Ok(Operand::Integer(0));
                }
                _ => return Err(self.expected(&format!("`.x`, `.y` or `.z` after `{name}`"))),
            };
            self.bump();
            return Ok(Operand::Special(register(axis)));
        }
        Err(self.undeclared(name, span))
    }

    /// `name`, `name+8`, or `name[2]`, which counts elements.
    fn symbol_operand(&mut self, symbol: Symbol) -> Result<Operand> {
        if self.peek() != Token::LeftBracket {
            return Ok(Operand::Symbol { symbol, offset: self.offset()? });
        }
        let open = self.bump().span;
        let variable = match symbol {
            Symbol::Module(id) => self.module.variables.get(id.index()),
            Symbol::Local(id) => self.body.function.variables.get(id.index()),
            Symbol::Function(_) => None,
        };
        let Some(variable) = variable else {
            return Err(self.error("bad-address", open, "a function has no elements"));
        };
        let element = i64::from(variable.ty.bytes()) * i64::from(variable.vector);
        let index = self.integer()? as i64;
        self.expect(Token::RightBracket, "`]`")?;
        Ok(Operand::Symbol { symbol, offset: index.wrapping_mul(element) })
    }

    fn undeclared(&mut self, name: &str, span: Span) -> Reported {
        if special::UNSUPPORTED.contains(&name) {
            if self.dot_word().is_some() {
                self.bump();
            }
            let message = format!("the special register `{name}` is not modelled");
            return self.report(Diagnostic::unsupported("special-register", span, message));
        }
        if !name.starts_with('%') {
            return self.undeclared_symbol(name, span);
        }
        let hint = self.suggest(name, || {
            let mut known = self.body.known_names(name);
            known.extend(special::NAMES.iter().map(|&name| name.to_owned()));
            known
        });
        let message = format!("the register `{}` is not declared", super::shorten(name));
        self.error_with_hint("undeclared-register", span, message, hint)
    }

    /// `v` or `v.x` of a register with several components.
    fn vector_register(
        &mut self,
        name: &'a str,
        ty: ScalarType,
        components: u8,
    ) -> Result<Operand> {
        let word = self.dot_word();
        let index = word.and_then(|word| match word {
            "x" | "r" => Some(0),
            "y" | "g" => Some(1),
            "z" | "b" => Some(2),
            "w" | "a" => Some(3),
            _ => None,
        });
        match (word, index) {
            (Some(_), Some(index)) if index < usize::from(components) => {
                self.bump();
                Ok(Operand::Register(self.component(name, ty, index)))
            }
            (Some(_), _) => Err(self.expected("a component such as `.x`")),
            (None, _) => {
                let components = 0..usize::from(components);
                let registers = components.map(|index| self.component(name, ty, index));
                Ok(Operand::Vector(registers.map(Operand::Register).collect()))
            }
        }
    }

    fn component(&mut self, name: &'a str, ty: ScalarType, index: usize) -> VirtualRegister {
        self.body.component(name, ty, index)
    }

    /// `[base+offset]`, or `[texture, {x, y}]`.
    fn address(&mut self, rest: &mut Vec<Operand>) -> Result<Operand> {
        self.expect(Token::LeftBracket, "`[`")?;
        let span = self.span();
        let address = if self.at_constant() {
            let offset = self.integer()? as i64;
            Operand::Address { base: AddressBase::Absolute, offset }
        } else {
            match self.named()? {
                Operand::Register(id) => {
                    Operand::Address { base: AddressBase::Register(id), offset: self.offset()? }
                }
                Operand::Symbol { symbol, offset } => {
                    Operand::Address { base: AddressBase::Symbol(symbol), offset }
                }
                _ => {
                    let message = "an address is a register or variable and an offset";
                    return Err(self.error("bad-address", span, message));
                }
            }
        };
        while self.eat(Token::Comma) {
            if rest.len() == VECTOR_MAX {
                return Err(self.error("vector-length", self.span(), "too many operands"));
            }
            let operand = match self.peek() {
                Token::LeftBrace => self.vector()?,
                _ => self.element()?,
            };
            rest.push(operand);
        }
        self.expect(Token::RightBracket, "`]` after an address")?;
        // One coordinate may stand without braces; it is kept as a vector like any other.
        if let Some(last) = rest.last_mut().filter(|last| !matches!(last, Operand::Vector(_))) {
            *last = Operand::Vector(vec![std::mem::replace(last, Operand::Sink)]);
        }
        Ok(address)
    }

    /// `(results), function, (arguments), call prototype`: destinations and sources.
    pub(super) fn call_operands(&mut self) -> Result<(Vec<Operand>, Vec<Operand>)> {
        let mut destinations = Vec::new();
        if self.peek() == Token::LeftParenthesis {
            destinations = self.call_list()?;
            self.expect(Token::Comma, "`,` after the results of a call")?;
        }
        let span = self.span();
        let callee = self.named()?;
        let callable = matches!(
            callee,
            Operand::Register(_) | Operand::Symbol { symbol: Symbol::Function(_), offset: 0 }
        );
        if !callable {
            return Err(self.error("not-function", span, "only functions can be called"));
        }
        let mut sources = vec![callee];
        if self.eat(Token::Comma) {
            if self.peek() == Token::LeftParenthesis {
                sources.extend(self.call_list()?);
                if self.eat(Token::Comma) {
                    sources.push(self.call_prototype_name()?);
                }
            } else {
                sources.push(self.call_prototype_name()?);
            }
        }
        Ok((destinations, sources))
    }

    fn call_prototype_name(&mut self) -> Result<Operand> {
        let (name, span) = self.identifier("the name of a `.callprototype` or `.calltargets`")?;
        Ok(Operand::Label(self.body.refer(name, span, Wanted::CallPrototype)))
    }

    fn call_list(&mut self) -> Result<Vec<Operand>> {
        self.expect(Token::LeftParenthesis, "`(`")?;
        let mut list = Vec::new();
        if self.eat(Token::RightParenthesis) {
            return Ok(list);
        }
        loop {
            list.push(self.element()?);
            if !self.eat(Token::Comma) {
                self.expect(Token::RightParenthesis, "`,` or `)`")?;
                return Ok(list);
            }
        }
    }
}
