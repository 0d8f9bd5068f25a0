//! The SM: its state, and the run from the first CTA to the last, event by event.
//!
//! Within a cycle, in this order: warps whose event is due, by index; launch of CTAs; activation of
//! warps; the register file, if it has collectors; issue, slot by slot; the memory, if it has
//! anything to do but to answer. Each part says when its next event is, so that cycles without an
//! event need no visit.

mod issue;
mod lifecycle;
mod slots;

use core::mem::size_of;

use super::config::{Launch, Residency, SmConfig};
use super::counters::{CycleEvent, SmCounters, StallReason};
use super::execution::Execution;
use super::expansion::bundles::Bundles;
use super::expansion::homes::Homes;
use super::facts::{Facts, lowest, mark, pack, predicates};
use super::fault::{Fault, first};
use super::front_end::{Cta, FrontEnd, Sight, Warp};
use super::grid::Grid;
use super::kernel::Kernel;
use super::memory::{BankPort, MemoryCounters, MemoryModel, MemoryStep, MemorySystem, Ticket};
use super::observe::{Observation, SmObserver, Unobserved};
use super::operand_delivery::COLLECTOR_CYCLES;
use super::register_file::{DeliveryMemory, DeliverySize, RegisterFile};
use super::run::Run;
use super::scoreboard::Scoreboard;
use super::storage::{Slots, Storage, StorageModel};
use super::trace::Trace;
use super::units::Units;
use super::wait::ReadyAt;
use crate::hierarchy::UpperLevels;
use crate::image::CheckedImage;
use crate::rules::Rules;
use crate::units::LaneMask;

/// Elements of working memory that an SM needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize {
    /// Of [`Memory::warps`].
    pub warps: usize,
    /// Of [`Memory::ctas`].
    pub ctas: usize,
    /// Of [`Memory::facts`].
    pub facts: usize,
    /// Of [`Memory::ready`].
    pub ready: usize,
    /// Of [`Memory::awaited`].
    pub awaited: usize,
    /// Of [`Memory::caches`].
    pub caches: usize,
    /// Of [`Memory::delivery`].
    pub delivery: DeliverySize,
}

impl MemorySize {
    /// What a kernel needs on an SM.
    pub fn of(config: &SmConfig, image: &CheckedImage<'_>) -> Self {
        let warps = usize::from(config.settings().max_warps);
        let registers = usize::from(image.registers);
        Self {
            delivery: DeliverySize::of(config.settings(), image),
            warps,
            ctas: usize::from(config.settings().max_ctas),
            facts: image.instructions.len(),
            ready: warps * (registers + predicates(image)),
            awaited: warps * registers,
            caches: config.places(),
        }
    }

    /// All of it, and the SM itself, with warps that pull from a `T`. Unit: bytes, on the machine
    /// that this is compiled for.
    pub const fn bytes<T, const CAPACITY: usize>(&self) -> usize {
        size_of::<Sm<'_, T, CAPACITY>>()
            + self.warps * size_of::<Warp<T>>()
            + self.ctas * size_of::<Cta>()
            + self.facts * size_of::<Facts>()
            + self.ready * size_of::<ReadyAt>()
            + self.awaited * size_of::<LaneMask>()
            + self.caches * size_of::<Option<UpperLevels<CAPACITY>>>()
            + self.delivery.bytes()
    }
}

/// Working memory of an SM, handed in by the caller. Its contents do not matter.
#[derive(Debug)]
pub struct Memory<'m, T, const CAPACITY: usize> {
    /// Resident warps.
    pub warps: &'m mut [Warp<T>],
    /// Resident CTAs.
    pub ctas: &'m mut [Cta],
    /// Packed facts of the kernel's instructions.
    pub facts: &'m mut [Facts],
    /// When each register of each resident warp is there.
    pub ready: &'m mut [ReadyAt],
    /// Pending lanes of each register of each resident warp.
    pub awaited: &'m mut [LaneMask],
    /// Upper levels of the active warps.
    pub caches: &'m mut [Option<UpperLevels<CAPACITY>>],
    /// What operand collectors need.
    pub delivery: DeliveryMemory<'m>,
    /// The caller's memory behind the SM, in place of that of its settings.
    pub attached: Option<&'m mut dyn MemoryModel>,
}

/// An SM with a kernel to run, and who listens to it.
#[derive(Debug)]
pub struct Sm<'m, T, const CAPACITY: usize, O = Unobserved> {
    front_end: FrontEnd<'m, T>,
    scoreboard: Scoreboard<'m>,
    register_file: RegisterFile<'m, CAPACITY>,
    execution: Execution<'m>,
    storage: Storage,
    kernel: Kernel<'m>,
    run: Run<O>,
    residency: Residency,
    issue_slots: u8,
    /// Places of the active set.
    places: usize,
    /// From a branch to the warp's next instruction, without a flush. Unit: cycles.
    branch_cycles: u64,
    /// Nothing is granted of the storage.
    is_empty: bool,
    /// Memory or prefetcher has its turn after issue.
    steps_after_issue: bool,
    /// The memory has refused an access in the last cycle in which a slot was left.
    asks_again: bool,
    /// Why slots that have warps of their own did nothing in this cycle. Observed runs alone read
    /// it where one slot issued, and reset it for the next cycle.
    idle: [StallReason; 2],
}

impl<'m, T: Trace, const CAPACITY: usize> Sm<'m, T, CAPACITY> {
    /// Builds an empty SM for CTAs of one launch, without an observer.
    ///
    /// `shared_bytes` and `warps_per_cta` are those of every CTA. Cost: linear in the memory.
    pub fn new(
        config: &SmConfig,
        image: CheckedImage<'m>,
        warps_per_cta: u32,
        shared_bytes: u32,
        memory: Memory<'m, T, CAPACITY>,
    ) -> Result<Self, Fault> {
        Self::observed(config, image, warps_per_cta, shared_bytes, memory, Unobserved)
    }
}

/// Where the registers of a launch lie, if some lie in scratchpad memory; marks the instructions
/// that bundles begin with then.
fn expand(
    config: &SmConfig,
    launch: &Launch,
    bundles: Option<&Bundles<'_>>,
    facts: &mut [Facts],
) -> Result<Option<Homes>, Fault> {
    let Some(split) = config.split(launch)? else { return Ok(None) };
    let &Launch { warps_per_cta, registers, shared_bytes } = launch;
    let scratchpad = config.settings().shared_memory_bytes;
    let bundles =
        bundles.filter(|all| all.all().last().is_none_or(|last| (last.pc as usize) < facts.len()));
    let homes = Homes::new(&split, registers, warps_per_cta, shared_bytes, scratchpad);
    let (Some(bundles), Some(homes)) = (bundles, homes) else { return Err(Fault::NoBundles) };
    mark(facts, bundles);
    Ok(Some(homes))
}

/// What the memory can do in a cycle, and what has come of it.
struct Completions<'s, 'm, const CAPACITY: usize, O> {
    kernel: &'s Kernel<'m>,
    scoreboard: &'s mut Scoreboard<'m>,
    register_file: &'s mut RegisterFile<'m, CAPACITY>,
    run: &'s mut Run<O>,
    /// Warps of which something has come.
    moved: u64,
}

impl<const CAPACITY: usize, O: SmObserver> MemoryStep for Completions<'_, '_, CAPACITY, O> {
    fn now(&self) -> u64 {
        self.run.now
    }

    fn counters(&mut self) -> MemoryCounters<'_> {
        MemoryCounters(&mut self.run.counters)
    }

    fn arrive(&mut self, ticket: Ticket, at: u64) {
        let (kernel, scoreboard) = (self.kernel, &mut *self.scoreboard);
        let at = at.max(self.run.now + 1);
        if self.register_file.arrive(ticket, at, kernel, scoreboard, self.run) {
            self.moved |= 1 << ticket.warp;
        }
    }

    fn banks(&self) -> u8 {
        self.register_file.banks()
    }

    fn claim(&mut self, bank: u8, port: BankPort) -> bool {
        self.register_file.claim(bank % self.banks(), port, self.run.now)
    }
}

impl<'m, T: Trace, const CAPACITY: usize, O: SmObserver> Sm<'m, T, CAPACITY, O> {
    /// Builds an empty SM like [`Sm::new`], whose run `observer` hears of.
    pub fn observed(
        config: &SmConfig,
        image: CheckedImage<'m>,
        warps_per_cta: u32,
        shared_bytes: u32,
        memory: Memory<'m, T, CAPACITY>,
        observer: O,
    ) -> Result<Self, Fault> {
        if warps_per_cta == 0 {
            return Err(Fault::NoWarps);
        }
        let settings = config.settings();
        let organisation = settings.organisation.settings();
        let levels = settings.organisation.levels();
        let managed = levels.is_compiler_managed();
        if managed && !image.is_placed() {
            return Err(crate::fault::PathFault::NotPlaced.into());
        }
        let launch = Launch { warps_per_cta, registers: image.registers, shared_bytes };
        let residency = config.residency(&launch)?;
        let size = MemorySize::of(config, &image);
        let slots = Slots { warps: lowest(size.warps), ctas: size.ctas };
        let Memory { warps, ctas, facts, ready, awaited, caches, delivery, attached } = memory;
        let facts = first(facts, "facts", size.facts)?;
        let ready = first(ready, "ready", size.ready)?;
        let warps = first(warps, "warps", size.warps)?;
        let ctas = first(ctas, "ctas", size.ctas)?;
        let awaited = first(awaited, "awaited", size.awaited)?;
        let caches = first(caches, "caches", size.caches)?;
        let delivery = (&size.delivery, delivery);
        let timing = &settings.timing;
        let memory = MemorySystem::new(settings.memory, timing, attached);
        memory.check(settings.operand_delivery, timing.operand_window)?;
        let heard = memory.hears_operands();
        pack(facts, &image, config);
        let homes = expand(config, &launch, delivery.1.bundles.as_ref(), facts)?;
        let register_file = RegisterFile::new(settings, &image, caches, delivery, (heard, homes))?;
        let tag_check = if levels.cache().is_some() { timing.tag_check_cycles } else { 0 };
        let collected = register_file.is_collected();
        let expanded = register_file.is_expanded();
        let least = if collected { u64::from(COLLECTOR_CYCLES) + 1 } else { 1 };
        let execution = Execution::new(Units::new(timing), memory, least);
        Ok(Self {
            steps_after_issue: execution.memory_steps() || expanded,
            front_end: FrontEnd::new(config, (warps, ctas), warps_per_cta, collected),
            scoreboard: Scoreboard::new(ready, awaited, (size.warps, image.registers)),
            register_file,
            execution,
            storage: Storage::new(settings.storage, &residency, warps_per_cta, slots),
            kernel: Kernel {
                image,
                facts,
                rules: Rules::of(organisation),
                flat: levels.cache().is_none() && !managed,
                managed,
                counts_flat: levels.cache().is_none()
                    && !managed
                    && !Rules::of(organisation).two_level,
            },
            run: Run { now: 0, counters: SmCounters::default(), observer },
            residency,
            issue_slots: settings.issue_slots,
            places: config.places(),
            branch_cycles: u64::from(timing.branch_latency) + u64::from(tag_check),
            is_empty: true,
            asks_again: false,
            idle: [StallReason::Issued; 2],
        })
    }

    /// How many CTAs are resident at a time, and why not more.
    pub const fn residency(&self) -> Residency {
        self.residency
    }

    /// Runs CTAs, in the order given, as room becomes free, to the end of the last.
    ///
    /// A CTA is as many warps as the launch says. Cycles in which nothing can happen cost no time.
    pub fn run<C>(mut self, ctas: impl IntoIterator<Item = C>) -> Result<SmCounters, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut grid = Grid::new(ctas);
        // The loop is compiled for each way in which operands come.
        if self.register_file.is_collected() {
            while self.visit::<_, true, false>(&mut grid)? {}
        } else {
            while self.visit::<_, false, false>(&mut grid)? {}
        }
        Ok(self.finish())
    }

    /// Runs CTAs as [`Self::run`] does, as long as `goes_on`, which is called in each cycle that is
    /// visited, returns true. `None` if it returned false.
    pub fn run_while<C>(
        mut self,
        ctas: impl IntoIterator<Item = C>,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Option<SmCounters>, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut grid = Grid::new(ctas);
        while goes_on() {
            if !self.step(&mut grid)? {
                return Ok(Some(self.finish()));
            }
        }
        Ok(None)
    }

    /// Runs CTAs as [`Self::run`] does, but visits every cycle: slower, with the same result.
    pub fn run_every_cycle<C>(
        mut self,
        ctas: impl IntoIterator<Item = C>,
    ) -> Result<SmCounters, Fault>
    where
        C: IntoIterator<Item = T>,
    {
        let mut grid = Grid::new(ctas);
        if self.register_file.is_collected() {
            while self.visit::<_, true, true>(&mut grid)? {}
        } else {
            while self.visit::<_, false, true>(&mut grid)? {}
        }
        Ok(self.finish())
    }

    /// Visits one cycle, [`Self::next_event`]. CTAs are taken from `grid`, in order, as room
    /// becomes free, until it has none left. Returns false at the end of the last CTA, and from
    /// then on.
    ///
    /// Another simulator or a firmware can embed an SM with it: the SM keeps its state between two
    /// steps, however long the caller does something else.
    ///
    /// # Errors
    /// What the traces get wrong; the SM is of no further use then.
    #[expect(clippy::inline_always, reason = "the body of the loop over cycles")]
    #[inline(always)]
    pub fn step<I>(&mut self, grid: &mut Grid<I>) -> Result<bool, Fault>
    where
        I: Iterator<Item: IntoIterator<Item = T>>,
    {
        if self.register_file.is_collected() {
            self.visit::<I, true, false>(grid)
        } else {
            self.visit::<I, false, false>(grid)
        }
    }

    /// The cycle that the next [`Self::step`] visits: the first in which something can happen.
    /// Unit: cycles from the launch of the first CTA.
    pub const fn next_event(&self) -> u64 {
        self.run.now
    }

    /// The counters of all steps so far, and of the memory traffic that is still under way.
    pub fn finish(mut self) -> SmCounters {
        let slots = u64::from(self.issue_slots);
        let now = self.run.now;
        let end = now.max(self.execution.drained_at());
        self.run.counters.charge(StallReason::Drain, (end - now) * slots);
        if end > now {
            self.tell_cycles(end - now, [StallReason::Drain; 2]);
        }
        self.run.counters.record(CycleEvent::Cycle, end);
        debug_assert_eq!(self.run.counters.all_slots(), end * slots);
        self.run.counters
    }

    #[expect(clippy::inline_always, reason = "the body of the loop over cycles")]
    #[inline(always)]
    fn visit<I, const COLLECTED: bool, const EVERY_CYCLE: bool>(
        &mut self,
        grid: &mut Grid<I>,
    ) -> Result<bool, Fault>
    where
        I: Iterator<Item: IntoIterator<Item = T>>,
    {
        let slots = u64::from(self.issue_slots);
        let due = self.front_end.wake(self.run.now);
        if due != 0 {
            self.events(due);
        }
        if !grid.is_exhausted() && self.storage.has_room() {
            self.admit(grid)?;
        }
        if self.front_end.can_activate() || COLLECTED && self.front_end.has_fetched() {
            self.activate()?;
        }
        if self.is_empty && grid.is_exhausted() && !self.execution.is_busy() {
            return Ok(false);
        }
        if COLLECTED {
            self.step_register_file();
        }
        self.check();
        self.front_end.rotate(1);
        let (issued, reason) = self.issue_slots::<COLLECTED>(slots)?;
        let moved = self.steps_after_issue && self.step_after_issue();
        let mut next = self.run.now + 1;
        if issued == 0 {
            let soon = moved || self.is_empty;
            let change = if soon { Some(next) } else { self.next_change::<COLLECTED>() };
            let Some(event) = change else { return Err(self.stalled()) };
            if !EVERY_CYCLE {
                self.front_end.rotate(event - next);
                next = event;
            }
            self.charge_idle(reason, next - self.run.now);
        } else {
            self.run.counters.charge(StallReason::Issued, issued);
            if issued != slots {
                self.run.counters.charge(reason, slots - issued);
            }
        }
        if O::LISTENS {
            let slots = self.became(issued, reason);
            self.tell_cycles(next - self.run.now, slots);
            self.idle = [StallReason::Issued; 2];
        }
        self.run.now = next;
        Ok(true)
    }

    /// Launches CTAs as far as there is room.
    // Apart from the loop over cycles, which has other things to keep in registers.
    #[inline(never)]
    fn admit<I>(&mut self, grid: &mut Grid<I>) -> Result<(), Fault>
    where
        I: Iterator<Item: IntoIterator<Item = T>>,
    {
        while self.storage.has_room() {
            let Some(warps) = grid.next_warps() else { break };
            let grant = self.storage.grant();
            self.is_empty = false;
            if self.launch(grant, warps)? {
                grid.launched();
            }
        }
        Ok(())
    }

    /// Lets warps into the active set.
    fn activate(&mut self) -> Result<(), Fault> {
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        self.front_end.activate(sight, &mut self.run)
    }

    /// What the register file does in a cycle before issue.
    #[inline]
    fn step_register_file(&mut self) {
        let (kernel, scoreboard) = (&self.kernel, &mut self.scoreboard);
        let (front_end, execution) = (&mut self.front_end, &mut self.execution);
        let sent = |warp, until| front_end.asked(warp, until);
        let moved = self.register_file.step(kernel, scoreboard, execution, &mut self.run, sent);
        self.settle(moved);
    }

    /// What memory and prefetcher do in a cycle after issue. Returns whether a warp may issue in
    /// the next one that could not before.
    #[inline(never)]
    fn step_after_issue(&mut self) -> bool {
        let arrived = self.execution.memory_steps() && self.step_memory();
        let released = self.register_file.is_expanded() && self.step_prefetcher();
        arrived || released
    }

    /// What the memory does in a cycle after issue. Returns whether a result has arrived: its
    /// readers may wait for another from the next cycle on.
    #[inline]
    fn step_memory(&mut self) -> bool {
        let mut completions = Completions {
            kernel: &self.kernel,
            scoreboard: &mut self.scoreboard,
            register_file: &mut self.register_file,
            run: &mut self.run,
            moved: 0,
        };
        self.execution.step_memory(&mut completions);
        let moved = completions.moved;
        self.settle(moved);
        moved != 0
    }

    /// What the register prefetcher does in a cycle after issue. Returns whether a warp can issue
    /// in the next one that could not before.
    #[inline]
    fn step_prefetcher(&mut self) -> bool {
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        let released = self.register_file.step_prefetcher(&self.front_end, sight, &mut self.run);
        self.front_end.fetched(released);
        released != 0
    }

    /// Something that is under way of these warps has changed.
    #[inline]
    fn settle(&mut self, moved: u64) {
        let sight = Sight { kernel: &self.kernel, scoreboard: &self.scoreboard };
        self.front_end.settle(moved, sight, &mut self.run);
    }

    /// The next cycle in which something can change, when nothing issued in this one.
    fn next_change<const COLLECTED: bool>(&self) -> Option<u64> {
        const NEVER: u64 = u64::MAX;
        let now = self.run.now;
        let mut next = self.front_end.next_event(now).unwrap_or(NEVER);
        let blocked_until = self.register_file.blocked_until();
        if COLLECTED {
            next = next.min(self.register_file.next_event(now).unwrap_or(NEVER));
        } else if blocked_until > now {
            next = next.min(blocked_until);
        } else if self.asks_again {
            next = now + 1;
        } else {
            next = next.min(self.front_end.unit_free_at(self.execution.units(), now));
        }
        if self.execution.memory_steps() {
            next = next.min(self.execution.next_event(now).unwrap_or(NEVER));
        }
        (next != NEVER).then_some(next)
    }

    fn stalled(&self) -> Fault {
        self.front_end.stalled(self.run.now, self.storage.vacant())
    }

    /// The invariants that hold between cycles' events and issues.
    fn check(&self) {
        self.front_end.check(self.storage.vacant(), self.places);
    }

    /// Tells what became of `count` cycles from now on.
    #[inline]
    fn tell_cycles(&mut self, count: u64, slots: [StallReason; 2]) {
        let first = self.run.now;
        self.run.tell(|| {
            let warps = self.front_end.phases();
            Observation::Cycles { first, count, slots, warps }
        });
    }
}
