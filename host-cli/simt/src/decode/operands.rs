//! Operands: which row or predicate each one is.

use strata_compiler::program::Location;
use strata_ptx::module::{Operand, SpecialRegister, StateSpace, Symbol, VirtualRegister};
use strata_ptx::opcode::Rounding;
use strata_ptx::types::{Kind, ScalarType};

use super::one::{One, Problem};
use crate::arith::Mode;
use crate::device::AddressMap;
use crate::executable::ExtraRow;

impl<'a> One<'_, 'a> {
    /// The instruction contradicts the rules that the parser checked.
    pub(crate) fn malformed(&self, what: &str) -> Problem {
        let name = self.instruction.opcode.name();
        Problem::new("malformed-instruction", format!("`{name}`: {what}"))
    }

    /// The instruction, or this form of it, cannot be executed.
    pub(crate) fn unsupported(&self, what: &str) -> Problem {
        let name = self.instruction.opcode.name();
        let names: Vec<&str> = self.instruction.types.iter().map(|ty| ty.name()).collect();
        let types = names.join(".");
        let dot = if types.is_empty() { "" } else { "." };
        let separator = if what.is_empty() { "" } else { ": " };
        Problem::new(
            "unsupported-instruction",
            format!("`{name}{dot}{types}` cannot be executed{separator}{what}"),
        )
    }

    /// The type written at a position.
    pub(crate) fn ty(&self, index: usize) -> Result<ScalarType, Problem> {
        let ty = self.instruction.types.get(index).copied();
        ty.ok_or_else(|| self.malformed("a type is missing"))
    }

    /// A source operand.
    pub(crate) fn source(&self, index: usize) -> Result<&'a Operand, Problem> {
        let operand = self.instruction.sources.get(index);
        operand.ok_or_else(|| self.malformed("a source is missing"))
    }

    /// A destination operand.
    pub(crate) fn destination(&self, index: usize) -> Result<&'a Operand, Problem> {
        let operand = self.instruction.destinations.get(index);
        operand.ok_or_else(|| self.malformed("a destination is missing"))
    }

    /// Where a register lives.
    pub(crate) fn location(&self, register: VirtualRegister) -> Result<Location, Problem> {
        let registers = &self.decoder.program.registers;
        let found = registers.get(register.index()).map(|register| register.location);
        found.ok_or_else(|| self.malformed("there is no such register"))
    }

    /// Declared type of a register.
    pub(crate) fn register_type(&self, register: VirtualRegister) -> Result<ScalarType, Problem> {
        let registers = &self.decoder.program.registers;
        let found = registers.get(register.index()).map(|register| register.ty);
        found.ok_or_else(|| self.malformed("there is no such register"))
    }

    /// First row of a register.
    fn register(&self, register: VirtualRegister, ty: ScalarType) -> Result<u32, Problem> {
        match self.location(register)? {
            Location::General { first, count } => {
                if u32::from(count) < ty.register_slots() {
                    return Err(self.malformed("a register is too narrow"));
                }
                let end = u32::from(first) + u32::from(count);
                if end > u32::from(self.decoder.program.general_registers) {
                    return Err(self.malformed("a register lies beyond the allocated ones"));
                }
                Ok(u32::from(first))
            }
            Location::Predicate(_) => Err(self.malformed("a predicate is used as a value")),
            Location::Unused => Ok(self.decoder.sink()),
        }
    }

    /// First row of source `index` as a value of type `ty`.
    pub(crate) fn value(&mut self, index: usize, ty: ScalarType) -> Result<u32, Problem> {
        let operand = self.source(index)?;
        self.operand(operand, ty)
    }

    /// First row of an operand as a value of type `ty`.
    pub(crate) fn operand(&mut self, operand: &Operand, ty: ScalarType) -> Result<u32, Problem> {
        match operand {
            Operand::Register(register) => self.register(*register, ty),
            Operand::Integer(value) => Ok(self.constant(integer_constant(*value, ty), ty)),
            Operand::Float32(_) | Operand::Float64(_) => {
                Ok(self.constant(operand.float_bits(ty.bits()).unwrap_or_default(), ty))
            }
            Operand::Special(special) => self.special(*special),
            Operand::Symbol { symbol, offset } => self.symbol(*symbol, *offset),
            _ => Err(self.malformed("this kind of operand is not a value")),
        }
    }

    /// First row of a constant.
    pub(crate) fn constant(&mut self, bits: u64, ty: ScalarType) -> u32 {
        let rows = match ty.bits() {
            64 => vec![ExtraRow::Constant(bits as u32), ExtraRow::Constant((bits >> 32) as u32)],
            128 => {
                let sign = if ty.kind() == Kind::Signed { (bits as i64 >> 63) as u32 } else { 0 };
                vec![
                    ExtraRow::Constant(bits as u32),
                    ExtraRow::Constant((bits >> 32) as u32),
                    ExtraRow::Constant(sign),
                    ExtraRow::Constant(sign),
                ]
            }
            16 => vec![ExtraRow::Constant(bits as u32 & 0xffff)],
            _ => vec![ExtraRow::Constant(bits as u32)],
        };
        self.decoder.extra(rows)
    }

    fn special(&mut self, special: SpecialRegister) -> Result<u32, Problem> {
        use SpecialRegister as S;
        if matches!(
            special,
            S::Clock
                | S::ClockHi
                | S::Clock64
                | S::Globaltimer
                | S::GlobaltimerLo
                | S::GlobaltimerHi
        ) {
            return Err(self.unsupported("clocks can only be read by `mov`"));
        }
        // The upper half is there for registers of 64 bits and for 64-bit reads of others.
        let rows = vec![ExtraRow::Special(special, false), ExtraRow::Special(special, true)];
        Ok(self.decoder.extra(rows))
    }

    /// Address of a symbol within its space.
    fn symbol(&mut self, symbol: Symbol, offset: i64) -> Result<u32, Problem> {
        match symbol {
            Symbol::Module(variable) => {
                self.module_variable(variable.index())?;
                let number = variable.0;
                let rows = vec![
                    ExtraRow::Address(number, offset, false),
                    ExtraRow::Address(number, offset, true),
                ];
                Ok(self.decoder.extra(rows))
            }
            Symbol::Local(variable) => {
                let (space, address) = self.local_variable(variable.index())?;
                let base = match space {
                    StateSpace::Param => self.map().parameters,
                    _ => 0,
                };
                let address = base.wrapping_add(address).wrapping_add(offset as u64);
                Ok(self.constant(address, ScalarType::U64))
            }
            Symbol::Function(_) => Err(self.unsupported("the address of a function is taken")),
        }
    }

    pub(crate) fn map(&self) -> AddressMap {
        AddressMap::new(self.decoder.module.address_bits)
    }

    /// Checks that a variable of the module has an address.
    pub(crate) fn module_variable(&mut self, index: usize) -> Result<(), Problem> {
        let variable = self.decoder.module.variables.get(index);
        let Some(variable) = variable else {
            return Err(self.malformed("there is no such variable"));
        };
        if !matches!(variable.space, StateSpace::Global | StateSpace::Const) {
            return Err(self.unsupported("a variable in a space without addresses"));
        }
        self.decoder.uses_module = true;
        Ok(())
    }

    /// Space and offset of a variable of the program.
    pub(crate) fn local_variable(&self, index: usize) -> Result<(StateSpace, u64), Problem> {
        let found = self.decoder.program.variables.get(index);
        let variable = found.ok_or_else(|| self.malformed("there is no such variable"))?;
        Ok((variable.space, variable.offset))
    }

    /// First row of destination `index`.
    pub(crate) fn result(&mut self, index: usize, ty: ScalarType) -> Result<u32, Problem> {
        let operand = self.destination(index)?;
        self.written(operand, ty)
    }

    /// First row of an operand that is written.
    pub(crate) fn written(&mut self, operand: &Operand, ty: ScalarType) -> Result<u32, Problem> {
        match operand {
            Operand::Register(register) => self.register(*register, ty),
            Operand::Sink => Ok(self.decoder.sink()),
            _ => Err(self.malformed("this kind of operand cannot be written")),
        }
    }

    /// Predicate of source `index`, and what to exclusive-or it with.
    pub(crate) fn predicate(&mut self, index: usize) -> Result<(u32, u32), Problem> {
        let (register, invert) = match self.source(index)? {
            Operand::Register(register) => (*register, 0),
            Operand::NotRegister(register) => (*register, u32::MAX),
            Operand::Integer(value) => {
                return Ok((self.decoder.always(), if *value == 0 { u32::MAX } else { 0 }));
            }
            _ => return Err(self.malformed("a predicate is expected")),
        };
        match self.location(register)? {
            Location::Predicate(index) => Ok((self.predicate_in_range(index)?, invert)),
            Location::Unused => Ok((self.decoder.predicate_sink(), invert)),
            Location::General { .. } => Err(self.malformed("a predicate is expected")),
        }
    }

    pub(crate) fn predicate_in_range(&self, index: u16) -> Result<u32, Problem> {
        if index < self.decoder.program.predicate_registers {
            return Ok(u32::from(index));
        }
        Err(self.malformed("a predicate lies beyond the allocated ones"))
    }

    /// Predicate that destination `index` is; the sink when it is missing.
    pub(crate) fn predicate_result(&mut self, index: usize) -> Result<u32, Problem> {
        let Some(operand) = self.instruction.destinations.get(index) else {
            return Ok(self.decoder.predicate_sink());
        };
        match operand {
            Operand::Sink => Ok(self.decoder.predicate_sink()),
            Operand::Register(register) => match self.location(*register)? {
                Location::Predicate(index) => self.predicate_in_range(index),
                Location::Unused => Ok(self.decoder.predicate_sink()),
                Location::General { .. } => Err(self.malformed("a predicate is expected")),
            },
            _ => Err(self.malformed("a predicate is expected")),
        }
    }

    /// Floating-point mode of the instruction.
    pub(crate) fn mode(&self) -> Mode {
        let modifiers = &self.instruction.modifiers;
        Mode {
            rounding: modifiers.rounding.unwrap_or(Rounding::NearestEven),
            ftz: modifiers.ftz,
            sat: modifiers.sat,
            relu: modifiers.relu,
        }
    }
}

/// An integer constant as a value of a type.
fn integer_constant(value: u64, ty: ScalarType) -> u64 {
    match ty {
        ScalarType::F32 => u64::from((value as i64 as f32).to_bits()),
        ScalarType::F64 => (value as i64 as f64).to_bits(),
        _ => value,
    }
}
