//! Decoding of loads, stores, atomics and address arithmetic.

use strata_compiler::program::{Location, Origin};
use strata_core::sm::memory::cached::LineUse;
use strata_ptx::module::{AddressBase, Operand, StateSpace, Symbol};
use strata_ptx::opcode::{AtomicOp, MemoryOrder, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use super::one::{Decoded, One, Problem};
use crate::arith::atomic::atomic;
use crate::micro::{
    Access, Action, AddressSource, Args, AsyncCopy, Atomic, Component, Direction, MAX_COMPONENTS,
    Run, Space,
};
use crate::moved::WINDOW_BYTES;
use crate::ops::convert::{copy32, copy64};
use crate::row::{Lanes, map2, test1};

impl One<'_, '_> {
    pub(super) fn memory(&mut self) -> Decoded {
        let ty = self.ty(0)?;
        let index = self.decoder.accesses.len() as u32;
        let access = match self.instruction.opcode {
            Opcode::Atom | Opcode::Red => self.atomic_access(ty)?,
            Opcode::St => {
                let value = self.source(1)?;
                self.plain_access(ty, value, false)?
            }
            _ => {
                let target = self.destination(0)?;
                self.plain_access(ty, target, true)?
            }
        };
        let direction = match self.instruction.opcode {
            Opcode::Atom | Opcode::Red => Direction::Atomic { flush: false },
            Opcode::St => Direction::Store,
            _ => Direction::Load,
        };
        self.decoder.accesses.push(access);
        Ok((Action::Memory(direction, index), Args::default()))
    }

    fn plain_access(
        &mut self,
        ty: ScalarType,
        value: &Operand,
        load: bool,
    ) -> Result<Access, Problem> {
        let space = self.instruction.modifiers.space;
        let space = space.or(match self.instruction.opcode {
            Opcode::Ldu => Some(StateSpace::Global),
            _ => None,
        });
        let (space, address) = self.address(space)?;
        let elements = components(value);
        if elements.len() > MAX_COMPONENTS || elements.is_empty() {
            return Err(self.malformed("a vector has 1 to 8 components"));
        }
        let mut components = [Component::default(); MAX_COMPONENTS];
        for (component, element) in components.iter_mut().zip(elements) {
            *component = self.component(element, ty, load)?;
        }
        Ok(Access {
            space,
            address,
            size: ty.bytes(),
            count: elements.len() as u32,
            signed: ty.kind() == Kind::Signed,
            components,
            line_use: self.line_use(space, load),
            atomic: None,
        })
    }

    /// Caches serve weak accesses only, and those of one thread's memory: all others go to memory
    /// that other SMs see.
    fn line_use(&self, space: Space, load: bool) -> LineUse {
        let seen = matches!(space, Space::Global | Space::Generic);
        match self.instruction.modifiers.order {
            Some(order) if seen && order != MemoryOrder::Weak && load => LineUse::BypassLoad,
            Some(order) if seen && order != MemoryOrder::Weak => LineUse::BypassStore,
            _ if load => LineUse::Load,
            _ => LineUse::Store,
        }
    }

    pub(super) fn component(
        &mut self,
        element: &Operand,
        ty: ScalarType,
        load: bool,
    ) -> Result<Component, Problem> {
        if !load && *element == Operand::Sink {
            return Ok(Component { skipped: true, ..Component::default() });
        }
        let row = if load { self.written(element, ty)? } else { self.operand(element, ty)? };
        let (mut rows, mut half) = (ty.register_slots() as u8, false);
        if let Operand::Register(register) = element {
            half = self.register_type(*register)?.bits() <= 16;
            if let Location::General { count, .. } = self.location(*register)? {
                rows = rows.max(count);
            }
        }
        Ok(Component { row, rows, half, skipped: false })
    }

    /// `cp.async`. Copies are made at once, so there is nothing to commit or to wait for.
    pub(super) fn copy(&mut self) -> Decoded {
        let modifiers = &self.instruction.modifiers;
        let Some(space) = modifiers.space else { return Ok((Action::Nothing, Args::default())) };
        let &Operand::Integer(size) = self.source(2)? else {
            return Err(self.malformed("a size is expected"));
        };
        let size = u32::try_from(size).ok().filter(|size| matches!(size, 4 | 8 | 16));
        let size = size.ok_or_else(|| self.malformed("a copy has 4, 8 or 16 bytes"))?;
        let bypasses = modifiers.has("cg");
        let sized = self.instruction.sources.len() - usize::from(modifiers.has("L2::cache_hint"));
        let (mut source_size, mut ignored) = (None, None);
        if sized > 3 {
            match self.source(3)? {
                Operand::NotRegister(_) => ignored = Some(self.predicate(3)?),
                Operand::Register(id) if self.register_type(*id)? == ScalarType::Pred => {
                    ignored = Some(self.predicate(3)?);
                }
                _ => source_size = Some(self.value(3, ScalarType::U32)?),
            }
        }
        let (to_space, to) = self.address_at(0, Some(space))?;
        let (from_space, from) = self.address_at(1, Some(StateSpace::Global))?;
        let access = |space, address, line_use| Access {
            space,
            address,
            size,
            count: 1,
            signed: false,
            components: [Component::default(); MAX_COMPONENTS],
            line_use,
            atomic: None,
        };
        let from_use = if bypasses { LineUse::BypassLoad } else { LineUse::Load };
        let index = self.decoder.copies.len() as u32;
        self.decoder.copies.push(AsyncCopy {
            from: access(from_space, from, from_use),
            to: access(to_space, to, LineUse::Store),
            source_size,
            ignored,
        });
        Ok((Action::Copy(index), Args::default()))
    }

    /// The address operand, which is the first source.
    pub(crate) fn address(
        &mut self,
        space: Option<StateSpace>,
    ) -> Result<(Space, AddressSource), Problem> {
        self.address_at(0, space)
    }

    /// The address operand that is source `index`.
    fn address_at(
        &mut self,
        index: usize,
        space: Option<StateSpace>,
    ) -> Result<(Space, AddressSource), Problem> {
        let Operand::Address { base, offset } = self.source(index)? else {
            return Err(self.malformed("a memory operand is expected"));
        };
        let written = match space {
            None | Some(StateSpace::Generic) => Space::Generic,
            Some(StateSpace::Global | StateSpace::Const) => Space::Global,
            Some(StateSpace::Shared) => Space::Shared,
            Some(StateSpace::Local) => Space::Local,
            Some(StateSpace::Param) => Space::Parameter,
        };
        match *base {
            AddressBase::Register(register) => {
                let wide = self.register_type(register)?.bits() == 64;
                let operand = Operand::Register(register);
                let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
                let row = self.operand(&operand, ty)?;
                let offset = *offset;
                let source = if wide {
                    AddressSource::Wide { row, offset }
                } else {
                    AddressSource::Narrow { row, offset }
                };
                Ok((written, source))
            }
            AddressBase::Absolute => Ok((written, AddressSource::Fixed(*offset as u64))),
            AddressBase::Symbol(Symbol::Module(variable)) => {
                self.module_variable(variable.index())?;
                let source = AddressSource::Variable { variable: variable.0, offset: *offset };
                Ok((Space::Global, source))
            }
            AddressBase::Symbol(Symbol::Local(variable)) => {
                let (space, start) = self.local_variable(variable.index())?;
                let space = match space {
                    StateSpace::Shared => Space::Shared,
                    StateSpace::Param => Space::Parameter,
                    _ => Space::Local,
                };
                let base = if space == Space::Parameter { self.map().parameters } else { 0 };
                let address = base.wrapping_add(start).wrapping_add(*offset as u64);
                let source = match self.whole.origin {
                    Origin::Store(_) | Origin::Fill(_) => AddressSource::Slot(address),
                    Origin::Kernel(_) | Origin::Again(_) => AddressSource::Fixed(address),
                };
                Ok((space, source))
            }
            AddressBase::Symbol(Symbol::Function(_)) => {
                Err(self.unsupported("a function is no memory"))
            }
        }
    }

    fn atomic_access(&mut self, ty: ScalarType) -> Result<Access, Problem> {
        let modifiers = &self.instruction.modifiers;
        let operation = modifiers.atomic.ok_or_else(|| self.malformed("no operation"))?;
        // The arithmetic knows which combinations exist; values do not matter to that.
        let exists = match ty.bits() {
            128 => matches!(operation, AtomicOp::Exch | AtomicOp::Cas),
            _ => atomic(operation, ty, 0, 0, 0, false).is_some(),
        };
        if !exists {
            return Err(self.unsupported("no such atomic"));
        }
        let (space, address) = self.address(modifiers.space)?;
        let operands = components(self.source(1)?);
        let mut b = [0; MAX_COMPONENTS];
        for (row, operand) in b.iter_mut().zip(operands) {
            *row = self.operand(operand, ty)?;
        }
        let c = if operation == AtomicOp::Cas { self.value(2, ty)? } else { b[0] };
        let d = match self.instruction.destinations.first() {
            Some(Operand::Sink) | None => None,
            Some(result) => {
                let mut rows = [self.decoder.sink(); MAX_COMPONENTS];
                for (row, result) in rows.iter_mut().zip(components(result)) {
                    *row = self.written(result, ty)?;
                }
                Some(rows)
            }
        };
        Ok(Access {
            space,
            address,
            size: ty.bytes(),
            count: operands.len() as u32,
            signed: false,
            components: [Component::default(); MAX_COMPONENTS],
            line_use: LineUse::Atomic,
            atomic: Some(Atomic { operation, ty, b, c, d }),
        })
    }

    pub(super) fn address_space(&mut self) -> Decoded {
        let space = self.instruction.modifiers.space;
        let space = space.ok_or_else(|| self.malformed("a state space is expected"))?;
        if self.instruction.opcode == Opcode::Isspacep {
            return self.isspacep(space);
        }
        let ty = self.ty(0)?;
        let map = self.map();
        let base = match space {
            StateSpace::Shared => map.shared,
            StateSpace::Local => map.local,
            // Parameter addresses lie in their window already, global and constant ones are
            // generic ones.
            _ => 0,
        };
        let base = if self.instruction.modifiers.to { base.wrapping_neg() } else { base };
        let mut args = Args { d: self.result(0, ty)?, a: self.value(0, ty)?, ..Args::default() };
        let wide = ty.bits() == 64;
        let run: Run = match (base, wide) {
            (0, true) => copy64,
            (0, false) => copy32,
            (_, true) => {
                args.b = self.constant(base, ScalarType::U64);
                crate::ops::integer::add_u64
            }
            (_, false) => {
                args.b = self.constant(base, ScalarType::U32);
                crate::ops::integer::add_u32
            }
        };
        Ok((Action::Compute(run), args))
    }

    /// `mapa` and `getctarank`: in a cluster of one CTA, whose rank is 0 (DEV-143).
    pub(super) fn cluster_address(&mut self) -> Decoded {
        let ty = self.ty(0)?;
        let mut args = Args::default();
        if self.instruction.opcode == Opcode::Getctarank {
            (args.d, args.a) =
                (self.result(0, ScalarType::U32)?, self.constant(0, ScalarType::U32));
            return Ok((Action::Compute(copy32), args));
        }
        (args.d, args.a, args.b) =
            (self.result(0, ty)?, self.value(0, ty)?, self.value(1, ScalarType::U32)?);
        let run: Run = if ty.bits() == 64 { in_cta64 } else { in_cta32 };
        Ok((Action::Compute(run), args))
    }

    fn isspacep(&mut self, space: StateSpace) -> Decoded {
        let wide = match self.source(0)? {
            Operand::Register(register) => self.register_type(*register)?.bits() == 64,
            _ => self.decoder.module.address_bits != 32,
        };
        let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
        let map = self.map();
        let (base, size) = match space {
            StateSpace::Shared => (map.shared, WINDOW_BYTES),
            StateSpace::Local => (map.local, WINDOW_BYTES),
            StateSpace::Param => (map.parameters, WINDOW_BYTES),
            // Constant memory lies among the global buffers and is reached like them.
            StateSpace::Const => (0, 0),
            StateSpace::Global | StateSpace::Generic => (map.global, map.end - map.global),
        };
        let args = Args {
            d: self.predicate_result(0)?,
            a: self.value(0, ty)?,
            b: self.constant(base, ScalarType::U64),
            c: self.constant(size, ScalarType::U64),
            ..Args::default()
        };
        let run: Run = if wide { in_window64 } else { in_window32 };
        Ok((Action::Compute(run), args))
    }
}

/// The components of a vector, or the one value.
fn components(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(elements) => elements,
        single => std::slice::from_ref(single),
    }
}

/// The address in the CTA of a rank: no memory is where a rank other than 0 leads.
fn in_cta64(lanes: &mut Lanes, args: &Args, mask: u32) {
    let here = |address: u64, rank: u32| if rank == 0 { address } else { u64::MAX };
    map2(lanes, mask, args.d, (args.a, args.b), here);
}

fn in_cta32(lanes: &mut Lanes, args: &Args, mask: u32) {
    let here = |address: u32, rank: u32| if rank == 0 { address } else { u32::MAX };
    map2(lanes, mask, args.d, (args.a, args.b), here);
}

fn in_window64(lanes: &mut Lanes, args: &Args, mask: u32) {
    let (base, size) = (lanes.get64(args.b, 0), lanes.get64(args.c, 0));
    let inside = test1(lanes, args.a, |a: u64| a.wrapping_sub(base) < size);
    lanes.set_predicate(args.d, inside, mask);
}

fn in_window32(lanes: &mut Lanes, args: &Args, mask: u32) {
    let (base, size) = (lanes.get64(args.b, 0), lanes.get64(args.c, 0));
    let inside = test1(lanes, args.a, |a: u32| u64::from(a).wrapping_sub(base) < size);
    lanes.set_predicate(args.d, inside, mask);
}
