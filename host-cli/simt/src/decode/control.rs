//! Decoding of branches, barriers, calls and everything without a result.

use strata_ptx::module::{AddressBase, Operand, SpecialRegister, StateSpace, Symbol};
use strata_ptx::opcode::{BarrierOp, Opcode};
use strata_ptx::types::ScalarType;

use super::one::{Decoded, One, Problem};
use crate::micro::{Action, Args, Barrier, Call, Clock, NO_RECONVERGENCE, Slot};
use crate::ops::convert::copy64;

impl One<'_, '_> {
    pub(super) fn control(&mut self) -> Decoded {
        use Opcode as O;
        let action = match self.instruction.opcode {
            O::Bra => self.branch()?,
            O::Brx => self.branch_table()?,
            O::Ret | O::Exit => Action::Exit,
            O::Trap => Action::Trap,
            O::Bar | O::Barrier => self.barrier()?,
            O::Call => self.call()?,
            // Hints and ordering: CTAs run one after another and a warp's accesses in order, so
            // there is nothing to wait for. They count as instructions.
            O::Membar
            | O::Fence
            | O::Prefetch
            | O::Prefetchu
            | O::Discard
            | O::Applypriority
            | O::Griddepcontrol
            | O::Setmaxnreg
            | O::Nanosleep
            | O::Pmevent
            | O::Brkpt => Action::Nothing,
            O::Createpolicy => return self.policy(),
            _ => return Err(self.unsupported("")),
        };
        Ok((action, Args::default()))
    }

    /// A cache policy, of which nothing depends on the bits: it is 0
    /// (DEV-122).
    fn policy(&mut self) -> Decoded {
        let d = self.result(0, ScalarType::B64)?;
        let a = self.constant(0, ScalarType::B64);
        Ok((Action::Compute(copy64), Args { d, a, ..Args::default() }))
    }

    fn reconvergence(&self) -> Result<u32, Problem> {
        self.whole.reconvergence.map_or(Ok(NO_RECONVERGENCE), |at| self.in_program(at))
    }

    fn in_program(&self, target: u32) -> Result<u32, Problem> {
        if (target as usize) < self.decoder.program.instructions.len() {
            return Ok(target);
        }
        Err(self.malformed("a branch leads out of the program"))
    }

    fn branch(&mut self) -> Result<Action, Problem> {
        let Operand::Label(label) = self.source(0)? else {
            return Err(self.malformed("a label is expected"));
        };
        let target = self.decoder.program.targets.get(label.index()).copied();
        let target = target.ok_or_else(|| self.malformed("there is no such label"))?;
        let target = self.in_program(target)?;
        Ok(Action::Branch { target, reconvergence: self.reconvergence()? })
    }

    fn branch_table(&mut self) -> Result<Action, Problem> {
        let index = self.value(0, ScalarType::U32)?;
        let Operand::BranchTable(table) = *self.source(1)? else {
            return Err(self.malformed("a branch table is expected"));
        };
        let Some(targets) = self.decoder.program.branch_tables.get(table as usize) else {
            return Err(self.malformed("there is no such branch table"));
        };
        if targets.is_empty() {
            return Err(self.malformed("the branch table is empty"));
        }
        for &target in targets {
            self.in_program(target)?;
        }
        Ok(Action::BranchTable { table, index, reconvergence: self.reconvergence()? })
    }

    fn barrier(&mut self) -> Result<Action, Problem> {
        let modifiers = &self.instruction.modifiers;
        if modifiers.has("cluster") {
            return Ok(self.cluster_barrier());
        }
        if modifiers.warp {
            let members = self.value(0, ScalarType::U32)?;
            return Ok(Action::Converge { run: |_, _, _| {}, members });
        }
        let operation = modifiers.barrier.ok_or_else(|| self.malformed("no operation"))?;
        let id = self.value(0, ScalarType::U32)?;
        let reduces =
            matches!(operation, BarrierOp::RedPopc | BarrierOp::RedAnd | BarrierOp::RedOr);
        let sources = self.instruction.sources.len();
        let counted = sources == if reduces { 3 } else { 2 };
        let count = if counted { Some(self.value(1, ScalarType::U32)?) } else { None };
        let (predicate, invert) =
            if reduces { self.predicate(sources - 1)? } else { (self.decoder.always(), 0) };
        let result = match operation {
            BarrierOp::RedPopc => self.result(0, ScalarType::U32)?,
            BarrierOp::RedAnd | BarrierOp::RedOr => self.predicate_result(0)?,
            BarrierOp::Sync | BarrierOp::Arrive => 0,
        };
        let barrier =
            Barrier { operation, of_cluster: false, id, count, predicate, invert, result };
        Ok(self.barrier_of(barrier))
    }

    fn barrier_of(&mut self, barrier: Barrier) -> Action {
        let index = self.decoder.barriers.len() as u32;
        self.decoder.barriers.push(barrier);
        Action::Barrier(index)
    }

    /// `barrier.cluster`: a cluster is one CTA, whose threads arrive where they wait
    /// (DEV-143).
    fn cluster_barrier(&mut self) -> Action {
        if self.instruction.modifiers.barrier == Some(BarrierOp::Arrive) {
            return Action::Nothing;
        }
        let barrier = Barrier {
            operation: BarrierOp::Sync,
            of_cluster: true,
            id: self.constant(0, ScalarType::U32),
            count: None,
            predicate: self.decoder.always(),
            invert: 0,
            result: 0,
        };
        self.barrier_of(barrier)
    }

    fn call(&mut self) -> Result<Action, Problem> {
        if let Operand::Register(register) = *self.source(0)? {
            let wide = self.register_type(register)?.bits() == 64;
            let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
            return Ok(Action::CallNowhere { address: self.value(0, ty)?, wide });
        }
        let Operand::Symbol { symbol: Symbol::Function(id), .. } = self.source(0)? else {
            return Err(self.malformed("a function is expected"));
        };
        let name = self.decoder.module.functions.get(id.index()).map(|f| f.name.as_str());
        let (action, arguments): (fn(u32) -> Action, _) = match name {
            Some("vprintf") => (Action::Print, 2),
            Some("__assertfail") => (Action::Assert, 5),
            Some("malloc") => (Action::Allocate, 1),
            Some("free") => (Action::Free, 1),
            Some(name) => {
                let message = format!("calls of `{name}`, which has no body");
                return Err(self.unsupported(&message));
            }
            None => return Err(self.malformed("there is no such function")),
        };
        if self.instruction.sources.len() != arguments + 1 {
            return Err(self.malformed("wrong number of arguments"));
        }
        let arguments = self.instruction.sources[1..]
            .iter()
            .map(|operand| self.slot(operand, false))
            .collect::<Result<_, _>>()?;
        let result = match self.instruction.destinations.first() {
            Some(Operand::Sink) | None => None,
            Some(operand) => Some(self.slot(operand, true)?),
        };
        let index = self.decoder.calls.len() as u32;
        self.decoder.calls.push(Call { arguments, result });
        Ok(action(index))
    }

    fn slot(&mut self, operand: &Operand, written: bool) -> Result<Slot, Problem> {
        let symbol = match operand {
            Operand::Symbol { symbol: Symbol::Local(id), offset: 0 }
            | Operand::Address { base: AddressBase::Symbol(Symbol::Local(id)), offset: 0 } => *id,
            Operand::Register(register) => {
                let ty = self.register_type(*register)?;
                let row =
                    if written { self.written(operand, ty)? } else { self.operand(operand, ty)? };
                return Ok(Slot::Row(row, ty.bytes()));
            }
            Operand::Integer(_) if !written => {
                return Ok(Slot::Row(self.operand(operand, ScalarType::U64)?, 8));
            }
            _ => return Err(self.malformed("an argument variable is expected")),
        };
        let (space, offset) = self.local_variable(symbol.index())?;
        let size = self.decoder.program.variables[symbol.index()].size;
        if space != StateSpace::Local || !matches!(size, 4 | 8) {
            return Err(self.malformed("an argument variable of 4 or 8 bytes is expected"));
        }
        Ok(Slot::Frame(offset, size as u32))
    }

    /// `mov` from a clock, if that is what the instruction is.
    pub(crate) fn clock(&mut self) -> Result<Option<(Action, Args)>, Problem> {
        use SpecialRegister as S;
        let Operand::Special(special) = self.source(0)? else { return Ok(None) };
        let clock = match special {
            S::Clock | S::GlobaltimerLo => Clock::Low,
            S::ClockHi | S::GlobaltimerHi => Clock::High,
            S::Clock64 | S::Globaltimer => Clock::Wide,
            _ => return Ok(None),
        };
        let wide = clock == Clock::Wide;
        let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
        let d = self.result(0, ty)?;
        Ok(Some((Action::Clock(clock), Args { d, ..Args::default() })))
    }
}
