//! Registers that lie in scratchpad memory, of a register file with collectors: where an
//! instruction finds them, and what the register prefetcher sees of the SM.
//!
//! Models: the bank arbitrator's judgement, by the place of a warp and the number of a register:
//! operands and short results in the operand cache, long-latency results in scratchpad memory.
//! Source: `[EXPARS]` 3.3.5; `docs/MODEL.md`, rules 44 and 45.

use super::collectors::{Collection, Collectors};
use heapless::Vec;

use crate::arbiter::{Arbiter, Queues};
use crate::hierarchy::Step;
use crate::image::{Flags, MAX_SLOTS, StaticInstruction};
use crate::sm::expansion::counters::{ExpansionCounters, ExpansionEvent};
use crate::sm::expansion::prefetcher::{self, Surroundings};
use crate::sm::fault::Fault;
use crate::sm::front_end::{FrontEnd, Sight};
use crate::sm::kernel::{Instruction, Kernel};
use crate::sm::observe::SmObserver;
use crate::sm::run::Run;
use crate::sm::trace::Trace;
use crate::units::{LaneMask, RegisterId};

impl Collection<'_> {
    /// PREF before an instruction of a warp issues. Returns whether the warp waits for registers.
    pub(super) fn prefetch(&mut self, warp: usize, pc: u32) -> bool {
        let (Some(prefetcher), Some(bundles)) = (&mut self.collectors.prefetcher, &self.bundles)
        else {
            return false;
        };
        let index = bundles.index_before(pc);
        index.is_some_and(|index| prefetcher.announce(warp as u8, index as u32, bundles))
    }

    /// An instruction has asked for its operands: whether they were there, and where its results
    /// go.
    #[inline(never)]
    pub(super) fn place_results<O: SmObserver>(
        &mut self,
        instruction: &Instruction<'_>,
        kernel: &Kernel<'_>,
        run: &mut Run<O>,
    ) -> Result<(), Fault> {
        let &Instruction { facts, pc, warp, .. } = instruction;
        let scratchpad = self.collectors.scratchpad_bank();
        let Collectors { arbiter, prefetcher, .. } = &mut *self.collectors;
        let Some(prefetcher) = prefetcher else { return Ok(()) };
        for &register in kernel.sources(facts) {
            if prefetcher.is_outside(warp, register) && !prefetcher.holds(warp, register) {
                return Err(Fault::NotInOperandCache { pc, register });
            }
        }
        for &register in kernel.destinations(facts) {
            if !prefetcher.is_outside(warp, register) {
                continue;
            }
            if facts.flags.contains(Flags::LONG_LATENCY) {
                prefetcher.bypass(warp, register, run);
                let index = arbiter.index(warp, register);
                arbiter.move_register(&mut self.queues, index, scratchpad);
            } else if !prefetcher.holds(warp, register) {
                return Err(Fault::NotInOperandCache { pc, register });
            }
        }
        Ok(())
    }

    /// An instruction without its registers in scratchpad memory, if some registers of its warp lie
    /// there.
    pub(super) fn inside(
        &self,
        instruction: &Instruction<'_>,
        kernel: &Kernel<'_>,
    ) -> Option<Inside> {
        let prefetcher = self.collectors.prefetcher.as_ref()?;
        let &Instruction { facts, pc, warp, .. } = instruction;
        let registers = [kernel.sources(facts), kernel.destinations(facts)];
        let is_outside = |register| prefetcher.is_outside(warp, register);
        Some(Inside::new(&kernel.image.instructions[pc as usize], registers, is_outside))
    }

    /// Takes scratchpad memory in a cycle for what comes before results: the program's accesses,
    /// and registers that must be written before.
    pub(super) fn take_scratchpad<O: SmObserver>(&mut self, taken: bool, run: &mut Run<O>) {
        let bank = self.collectors.scratchpad_bank();
        let Collectors { arbiter, prefetcher, .. } = &mut *self.collectors;
        let Some(prefetcher) = prefetcher else { return };
        if taken {
            arbiter.claim_write(bank, run.now);
        } else if prefetcher.has_leaving() && arbiter.claim_write(bank, run.now) {
            prefetcher.write_back_leaving(run);
        }
    }

    /// What the register prefetcher does in a cycle after issue. Returns the warps that can issue
    /// from the next one on.
    #[inline(never)]
    pub(super) fn step_prefetcher<T: Trace, O: SmObserver>(
        &mut self,
        front_end: &FrontEnd<'_, T>,
        sight: Sight<'_, '_>,
        run: &mut Run<O>,
    ) -> u64 {
        let scratchpad = self.collectors.scratchpad_bank();
        let collecting = self.collectors.units.warps();
        let Collectors { arbiter, prefetcher, .. } = &mut *self.collectors;
        let (Some(prefetcher), Some(bundles)) = (prefetcher, &self.bundles) else { return 0 };
        let now = run.now;
        let queues = &mut self.queues;
        let mut around = Around { front_end, sight, arbiter, queues, collecting, scratchpad, now };
        prefetcher.step(bundles, &mut around, run)
    }
}

/// An instruction without its registers in scratchpad memory, which no level above the main
/// register file ever holds; and those registers.
pub(super) struct Inside {
    instruction: StaticInstruction,
    /// Sources, then destinations.
    registers: [Registers; 2],
    outside: [Registers; 2],
}

/// Registers that an instruction reads, or writes.
type Registers = Vec<RegisterId, MAX_SLOTS>;

impl Inside {
    fn new(
        instruction: &StaticInstruction,
        registers: [&[RegisterId]; 2],
        is_outside: impl Fn(RegisterId) -> bool,
    ) -> Self {
        let split = |all: &[RegisterId], outside: bool| -> Registers {
            all.iter().copied().filter(|&register| is_outside(register) == outside).collect()
        };
        let kept = registers.map(|all| {
            let kept = all.iter().enumerate().filter(|&(_, &register)| !is_outside(register));
            kept.fold(0, |kept, (index, _)| kept | 1 << index)
        });
        let [sources, results] = kept;
        let one = *instruction;
        Self {
            instruction: StaticInstruction {
                last_use: compress(one.last_use, sources),
                last_use_before_deschedule: compress(one.last_use_before_deschedule, sources),
                never_read: compress(one.never_read, results),
                not_read_before_deschedule: compress(one.not_read_before_deschedule, results),
                private_reads: compress(one.private_reads, results),
                ..one
            },
            registers: registers.map(|all| split(all, false)),
            outside: registers.map(|all| split(all, true)),
        }
    }

    pub(super) fn step(&self, pc: u32, mask: LaneMask) -> Step<'_> {
        let [sources, destinations] = &self.registers;
        Step::of((pc, &self.instruction), (sources.as_slice(), destinations.as_slice()), mask)
    }

    pub(super) fn destinations(&self) -> &[RegisterId] {
        &self.registers[1]
    }

    pub(super) fn operands_outside(&self) -> &[RegisterId] {
        &self.outside[0]
    }

    pub(super) fn results_outside(&self) -> &[RegisterId] {
        &self.outside[1]
    }
}

/// The bits of the places that are kept, moved together.
fn compress(bits: u32, mut kept: u32) -> u32 {
    let (mut found, mut place) = (0, 0);
    while kept != 0 {
        found |= (bits >> kept.trailing_zeros() & 1) << place;
        kept &= kept - 1;
        place += 1;
    }
    found
}

/// What the prefetcher sees of the SM.
struct Around<'s, 'w, 'm, 'k, 'q, T> {
    front_end: &'s FrontEnd<'w, T>,
    sight: Sight<'k, 'm>,
    arbiter: &'s mut Arbiter,
    queues: &'s mut Queues<'q>,
    /// Warps with an instruction in a collector unit.
    collecting: u64,
    scratchpad: u8,
    now: u64,
}

impl<T: Trace> Surroundings for Around<'_, '_, '_, '_, '_, T> {
    fn ready(&self) -> u64 {
        self.front_end.ready()
    }

    fn is_at_boundary(&self, warp: u8) -> bool {
        self.front_end.is_between_bundles(warp.into(), self.sight.kernel)
    }

    fn is_busy(&self, warp: u8) -> bool {
        let under_way = self.sight.scoreboard.under_way(warp.into());
        self.collecting >> warp & 1 != 0 || under_way.is_short_pending()
    }

    fn is_pending(&self, warp: u8, register: RegisterId) -> bool {
        self.sight.scoreboard.is_pending(warp.into(), register)
    }

    fn enter(&mut self, warp: u8, register: RegisterId) {
        let bank = self.arbiter.bank_count() + prefetcher::bank(register);
        let index = self.arbiter.index(warp, register);
        self.arbiter.move_register(self.queues, index, bank);
    }

    fn claim(&mut self) -> bool {
        self.arbiter.claim_write(self.scratchpad, self.now)
    }
}

/// Counts an operand read of the operand cache.
pub(super) fn count_read(counters: &mut ExpansionCounters, shared: bool) {
    let event = if shared {
        ExpansionEvent::OperandCacheReadShared
    } else {
        ExpansionEvent::OperandCacheReadPrivate
    };
    counters.record(event, 1);
}
