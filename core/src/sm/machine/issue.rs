//! Issue: one instruction through operands, unit and results, and the warp on to its next.

use super::Sm;
use crate::image::Flags;
use crate::sm::expansion::counters::ExpansionEvent;
use crate::sm::facts::{Class, Facts};
use crate::sm::fault::Fault;
use crate::sm::front_end::{Next, Sight};
use crate::sm::kernel::Instruction;
use crate::sm::observe::{ExpansionObservation, Observation, SmObserver};
use crate::sm::register_file::Emptying;
use crate::sm::run::Run;
use crate::sm::trace::{MemoryAccess, Trace};
use crate::sm::wait::{ReadyAt, Wait};
use crate::units::LaneMask;

impl<T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'_, T, CAPACITY, O> {
    /// Issues the next instruction of a ready warp. Returns false if the memory refuses what it
    /// moves: then nothing has changed. `COLLECTED` says how operands come.
    #[inline]
    pub(super) fn issue<const COLLECTED: bool>(
        &mut self,
        slot: u64,
        warp: usize,
    ) -> Result<bool, Fault> {
        let Next { pc, mask, place } = self.front_end.next(warp);
        let facts = self.kernel.facts(pc);
        if COLLECTED && facts.begins_bundle {
            if self.front_end.needs_prefetch(warp) {
                self.prefetch(slot, warp, pc);
                return Ok(true);
            }
            self.front_end.enter_bundle(warp);
        }
        if mask.is_empty() {
            self.tell_issue(slot, warp);
        } else {
            let instruction = Instruction { facts, pc, mask, warp: warp as u8, place };
            if COLLECTED {
                self.tell_issue(slot, warp);
                self.ask(instruction)?;
            } else if !self.execute(slot, instruction)? {
                return Ok(false);
            }
        }
        let mut fetch = ReadyAt::new(self.run.now + 1, Wait::InOrder);
        if facts.flags.contains(Flags::BRANCH) {
            fetch = self.branch((warp, place), facts.flags, mask);
        }
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        self.front_end.advance(warp, (facts, mask), fetch, sight, &mut self.run)?;
        Ok(true)
    }

    /// PREF before a warp's next instruction issues.
    #[cold]
    fn prefetch(&mut self, slot: u64, warp: usize, pc: u32) {
        let (cycle, slot, place) = (self.run.now, slot as u8, warp as u8);
        self.run.counters.expansion.record(ExpansionEvent::Prefetch, 1);
        let event = ExpansionObservation::Prefetch { slot, place, pc };
        self.run.tell(|| Observation::Expansion { cycle, event });
        let held = self.register_file.prefetch(warp, pc);
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        self.front_end.prefetch(warp, held, sight, cycle);
    }

    /// Tells of the instruction that a warp issues.
    #[inline]
    fn tell_issue(&mut self, slot: u64, warp: usize) {
        let cycle = self.run.now;
        self.run.tell(|| Observation::Issue(self.front_end.issue_of(slot, warp, cycle)));
    }

    /// Operands, unit and results of an instruction of a register file without collectors. Returns
    /// false if the memory refuses what it moves.
    #[inline]
    fn execute(&mut self, slot: u64, instruction: Instruction<'_>) -> Result<bool, Fault> {
        let Instruction { pc, facts, .. } = instruction;
        let warp = usize::from(instruction.warp);
        let access = self.access(warp, facts)?;
        let (front_end, run) = (&self.front_end, &mut self.run);
        let issues = |run: &mut Run<O>| {
            let cycle = run.now;
            run.tell(|| Observation::Issue(front_end.issue_of(slot, warp, cycle)));
        };
        let started = self.execution.start((warp, pc), facts, access, &self.kernel, run, issues);
        let Some(there) = started else {
            self.front_end.refuse(warp, access);
            return Ok(false);
        };
        let (kernel, scoreboard, execution) =
            (&self.kernel, &mut self.scoreboard, &mut self.execution);
        self.register_file.execute(instruction, there, kernel, scoreboard, execution, run)?;
        Ok(true)
    }

    /// Issues an instruction of a register file with collectors: it asks for its operands, and
    /// enters a collector unit if it needs one.
    #[inline]
    fn ask(&mut self, instruction: Instruction<'_>) -> Result<(), Fault> {
        let access = self.access(usize::from(instruction.warp), instruction.facts)?;
        let (kernel, scoreboard) = (&self.kernel, &mut self.scoreboard);
        self.register_file.ask(instruction, access, kernel, scoreboard, &mut self.run)
    }

    /// What the warp's next instruction moves.
    #[inline]
    fn access(&mut self, warp: usize, facts: &Facts) -> Result<MemoryAccess, Fault> {
        const NOTHING: MemoryAccess = MemoryAccess::uncached(0);
        if facts.moves_bytes { self.next_access(warp, facts) } else { Ok(NOTHING) }
    }

    /// What the warp's next memory instruction moves; of a cached memory that is asked now, by when
    /// it is known whether it hits.
    fn next_access(&mut self, warp: usize, facts: &Facts) -> Result<MemoryAccess, Fault> {
        if facts.class == Class::Dram && !self.register_file.is_collected() {
            self.front_end.asked(warp, self.execution.hit_known_at(self.run.now));
        }
        self.front_end.next_access(warp)
    }

    /// A branch: when its warp may go on.
    fn branch(&mut self, (warp, place): (usize, u8), flags: Flags, mask: LaneMask) -> ReadyAt {
        let mut cycle = self.run.now + self.branch_cycles;
        if self.kernel.rules.after(flags).flush && !mask.is_empty() {
            let (from, scoreboard) = (self.run.now + 1, &mut self.scoreboard);
            let end = self.register_file.empty(
                (warp, place),
                from,
                Emptying::Flush,
                scoreboard,
                &mut self.run,
            );
            cycle = cycle.max(end);
            if self.scoreboard.under_way(warp).is_flushing() {
                self.front_end.resolve(warp, cycle);
                return ReadyAt::pending(Wait::Branch);
            }
        }
        ReadyAt::new(cycle, Wait::Branch)
    }
}
