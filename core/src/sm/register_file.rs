//! Register file: the levels of each warp's registers, and how operands come from the main register
//! file and results go there.
//!
//! Models: banks with ports of their own, over which everything is decided at issue (`ports`,
//! `fixed`); or collector units, an arbiter and banks of one port (`collectors`, `collect`,
//! `granted`).
//! Source: `[RFC2011]` 2.1 and 3, `[WARRF]` 2.1, 3 and 4; `docs/MODEL.md`, rules 19, 20 and 28 to
//! 31.

mod arrivals;
mod collect;
mod collectors;
mod expanded;
mod fixed;
mod granted;
mod ports;
mod requests;

use super::config::SmSettings;
use super::counters::SmCounters;
use super::execution::Execution;
use super::expansion::homes::Homes;
use super::fault::Fault;
use super::front_end::{FrontEnd, Sight};
use super::kernel::{Instruction, Kernel};
use super::memory::{BankPort, Ticket};
use super::observe::SmObserver;
use super::operand_delivery::OperandDelivery;
use super::run::Run;
use super::scoreboard::Scoreboard;
use super::trace::{MemoryAccess, Trace};
use super::wait::ReadyAt;
use crate::access::AccessSink;
use crate::hierarchy::{UpperLevels, WarpHierarchy};
use crate::image::CheckedImage;
use collectors::Collection;
pub use collectors::{Collectors, DeliveryMemory, DeliverySize, ResultOnItsWay};
use ports::FixedPorts;

/// How a warp's upper levels are emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emptying {
    /// At a backward branch.
    Flush,
    /// The warp leaves the active set.
    Deschedule,
    /// The warp ends.
    Exit,
}

impl Emptying {
    fn apply<const CAPACITY: usize>(
        self,
        hierarchy: &mut WarpHierarchy<'_, CAPACITY>,
        sink: &mut impl AccessSink,
    ) {
        match self {
            Self::Flush => hierarchy.flush(sink),
            Self::Deschedule => hierarchy.deschedule(sink),
            Self::Exit => hierarchy.exit(sink),
        }
    }
}

/// The levels above the main register file, by place in the active set.
type Levels<'m, const CAPACITY: usize> = &'m mut [Option<UpperLevels<CAPACITY>>];

/// How operands come, with its state.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one of an SM, and never moved")]
enum Delivery<'m> {
    Fixed(FixedPorts),
    Collected(Collection<'m>),
}

/// The register file of an SM.
#[derive(Debug)]
pub(super) struct RegisterFile<'m, const CAPACITY: usize> {
    upper: Levels<'m, CAPACITY>,
    delivery: Delivery<'m>,
    /// First cycle in which operand reads do not hold up the pipeline.
    blocked_until: u64,
}

impl<'m, const CAPACITY: usize> RegisterFile<'m, CAPACITY> {
    /// The register file of a design, empty, over the caller's memory: levels by place in the
    /// active set, and what collectors need. `heard`: the memory hears of operands; `homes`:
    /// registers lie in scratchpad memory.
    pub(super) fn new(
        settings: &SmSettings,
        image: &CheckedImage<'_>,
        upper: &'m mut [Option<UpperLevels<CAPACITY>>],
        (size, memory): (&DeliverySize, DeliveryMemory<'m>),
        (heard, homes): (bool, Option<Homes>),
    ) -> Result<Self, Fault> {
        let levels = UpperLevels::of(settings.organisation.settings());
        upper.fill(levels.map_err(crate::fault::PathFault::Cache)?);
        let delivery = match settings.operand_delivery {
            OperandDelivery::FixedLatency { banks } => {
                Delivery::Fixed(FixedPorts::new(banks, settings.timing.operand_window, heard))
            }
            OperandDelivery::Collectors(collectors) => Delivery::Collected(Collection::new(
                collectors,
                settings.issue_slots,
                image,
                size,
                memory,
                homes.map(|homes| (homes, settings.timing.shared_latency.into())),
            )?),
        };
        Ok(Self { upper, delivery, blocked_until: 0 })
    }

    /// Whether instructions go through collector units.
    #[inline]
    pub(super) const fn is_collected(&self) -> bool {
        matches!(self.delivery, Delivery::Collected(_))
    }

    /// Whether no collector unit is free.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        match &self.delivery {
            Delivery::Fixed(_) => false,
            Delivery::Collected(collection) => collection.is_full(),
        }
    }

    /// First cycle in which operand reads do not hold up the pipeline.
    #[inline]
    pub(super) const fn blocked_until(&self) -> u64 {
        self.blocked_until
    }

    /// Takes an instruction that issues, and whose results are there at `there`, through the warp's
    /// hierarchy; of a register file without collectors.
    #[inline]
    pub(super) fn execute<O: SmObserver>(
        &mut self,
        instruction: Instruction<'_>,
        there: ReadyAt,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let Delivery::Fixed(ports) = &mut self.delivery else { return Ok(()) };
        let operands = |reads| execution.operands(instruction.facts, reads);
        let delay =
            ports.execute(self.upper, instruction, there, (kernel, operands), scoreboard, run)?;
        if delay != 0 {
            self.blocked_until = self.blocked_until.max(run.now + 1 + delay);
        }
        Ok(())
    }

    /// An instruction issues, which moves `access`: it asks for its operands, and enters a
    /// collector unit if it needs one; of a register file with collectors.
    #[inline]
    pub(super) fn ask<O: SmObserver>(
        &mut self,
        instruction: Instruction<'_>,
        access: MemoryAccess,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let Delivery::Collected(collection) = &mut self.delivery else { return Ok(()) };
        collection.ask(self.upper, instruction, access, kernel, scoreboard, run)
    }

    /// What happens before issue, in one cycle. `sent` is called for each access of global memory,
    /// with the cycle from which its hit is known, and returns the warps that this concerns.
    /// Returns the warps of which a result has arrived.
    #[inline]
    pub(super) fn step<O: SmObserver>(
        &mut self,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        execution: &mut Execution<'_>,
        run: &mut Run<O>,
        sent: impl FnMut(usize, u64) -> u64,
    ) -> u64 {
        let Delivery::Collected(collection) = &mut self.delivery else { return 0 };
        if collection.is_plain() {
            collection.step::<true, O>(kernel, scoreboard, execution, run, sent)
        } else {
            collection.step::<false, O>(kernel, scoreboard, execution, run, sent)
        }
    }

    /// PREF before an instruction of a warp issues. Returns whether the warp waits for registers.
    pub(super) fn prefetch(&mut self, warp: usize, pc: u32) -> bool {
        match &mut self.delivery {
            Delivery::Fixed(_) => false,
            Delivery::Collected(collection) => collection.prefetch(warp, pc),
        }
    }

    /// Whether registers lie in scratchpad memory.
    #[inline]
    pub(super) const fn is_expanded(&self) -> bool {
        match &self.delivery {
            Delivery::Fixed(_) => false,
            Delivery::Collected(collection) => collection.collectors.prefetcher.is_some(),
        }
    }

    /// What the register prefetcher does in a cycle after issue. Returns the warps that can issue
    /// from the next one on.
    pub(super) fn step_prefetcher<T: Trace, O: SmObserver>(
        &mut self,
        front_end: &FrontEnd<'_, T>,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> u64 {
        match &mut self.delivery {
            Delivery::Fixed(_) => 0,
            Delivery::Collected(collection) => collection.step_prefetcher(front_end, sight, run),
        }
    }

    /// The next cycle after `now` in which a [`Self::step`] does something.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        match &self.delivery {
            Delivery::Fixed(_) => None,
            Delivery::Collected(collection) => collection.next_event(now),
        }
    }

    /// A piece of the data of a ticket arrives; it can be used from `at` on. Returns whether it was
    /// the last of some register.
    pub(super) fn arrive<O: SmObserver>(
        &mut self,
        ticket: Ticket,
        at: u64,
        kernel: &Kernel<'_>,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> bool {
        match &mut self.delivery {
            Delivery::Fixed(ports) => ports.arrive(ticket, at, kernel, scoreboard, run),
            Delivery::Collected(collection) => {
                collection.arrive(ticket, at, kernel, scoreboard, run.now)
            }
        }
    }

    /// Banks of the main register file.
    pub(super) const fn banks(&self) -> u8 {
        match &self.delivery {
            Delivery::Fixed(ports) => ports.banks.count(),
            Delivery::Collected(collection) => collection.banks(),
        }
    }

    /// Takes a port of a bank for an access that begins now, if no access of a register takes it.
    pub(super) fn claim(&mut self, bank: u8, port: BankPort, now: u64) -> bool {
        match &mut self.delivery {
            Delivery::Fixed(ports) => ports.claim(bank, port, now),
            Delivery::Collected(collection) => collection.claim(bank, port, now),
        }
    }

    /// Empties a warp's upper levels from cycle `from` on. Returns the first cycle after that, as
    /// far as it is known: what the arbiter of collectors is asked to write is under way.
    pub(super) fn empty<O: SmObserver>(
        &mut self,
        (warp, place): (usize, u8),
        from: u64,
        how: Emptying,
        scoreboard: &mut Scoreboard<'_>,
        run: &mut Run<O>,
    ) -> u64 {
        let upper = self.upper[usize::from(place)].as_mut();
        match &mut self.delivery {
            Delivery::Fixed(ports) => ports.empty(upper, warp, from, how, scoreboard, run),
            Delivery::Collected(collection) => {
                collection.empty(upper, warp, from, how, scoreboard, run);
                from
            }
        }
    }

    /// A warp has left the active set.
    pub(super) fn demote(&mut self, warp: usize) {
        if let Delivery::Collected(collection) = &mut self.delivery {
            collection.demote(warp);
        }
    }

    /// A warp has ended. Its values are dropped from a write pool and an operand cache.
    pub(super) fn drop_warp(&mut self, warp: usize, counters: &mut SmCounters) {
        if let Delivery::Collected(collection) = &mut self.delivery {
            collection.drop_warp(warp, counters);
        }
    }
}
