//! Register prefetcher: it brings registers that lie in scratchpad memory to the operand cache
//! before the bundle of a warp that needs them issues.
//!
//! Models: the bundle of a warp, from its PREF to its end; the prefetching queue, whose first warp
//! alone is looked at; one register a cycle between operand cache and scratchpad memory, where the
//! program's accesses and results come first.
//! Does not model: when operands are there and instructions issue (`front_end`), values.
//! Source: `[EXPARS]` 3.3.4; `docs/MODEL.md`, rule 45.
//!
//! A warp with registers in scratchpad memory is, after its PREF has issued: *announced*, until the
//! first instruction's operands are there and the warp's last bundle is complete; then in the
//! *queue*; then, when it has its lines, *filling* as long as registers move, and *arriving* until
//! the last one is there; then it can issue. A bundle *runs* from the moment it has its lines until
//! its instructions have their operands and its short results are written.
//!
//! No deadlock: a bundle that runs waits for no other one. Its instructions have all registers that
//! they need, those that wait for long-latency results begin a bundle, and a barrier ends one. So
//! every bundle completes, and the queue's first warp gets its lines.

use heapless::Deque;

use super::bundles::{Bundles, HomeLine, Prefetch, RegisterSet};
use super::counters::ExpansionEvent;
use super::hardware::LINES;
use super::homes::Homes;
use super::operand_cache::{Found, Move, OperandCache};
use crate::sm::config::MAX_RESIDENT_WARPS;
use crate::sm::observe::{ExpansionObservation, Observation, SmObserver};
use crate::sm::run::Run;
use crate::units::RegisterId;

/// Most moves of a bundle: each line is evicted and fetched.
const MOST_MOVES: usize = 2 * LINES as usize;

/// The first warp of the queue has its lines, and its registers move.
#[derive(Clone, Copy, Debug)]
struct Filling {
    warp: u8,
    /// When what has moved so far is there.
    there: u64,
}

/// The register prefetcher of an SM, with its operand cache.
#[derive(Clone, Debug)]
pub(in crate::sm) struct Prefetcher {
    homes: Homes,
    cache: OperandCache,
    /// From the cycle in which a register leaves scratchpad memory to that in which an instruction
    /// that reads it can issue. Unit: cycles.
    latency: u64,
    // Sets of warps, by place.
    announced: u64,
    queued: u64,
    arriving: u64,
    running: u64,
    /// All instructions of the bundle that runs have issued.
    issued: u64,
    /// A bundle has been queued before.
    known: u64,
    queue: Deque<u8, MAX_RESIDENT_WARPS>,
    filling: Option<Filling>,
    moves: Deque<Move, MOST_MOVES>,
    /// Index of each warp's last PREF.
    prefetch: [u32; MAX_RESIDENT_WARPS],
    /// When the registers of each arriving warp are there.
    there: [u64; MAX_RESIDENT_WARPS],
    /// Since when the queue's first warp waits for lines.
    blocked_since: Option<u64>,
}

/// What the prefetcher looks at in a cycle, after issue.
pub(in crate::sm) trait Surroundings {
    /// Warps whose next instruction has its operands.
    fn ready(&self) -> u64;
    /// Whether a warp, whose registers are there, has issued all instructions of its bundle.
    fn is_at_boundary(&self, warp: u8) -> bool;
    /// Whether an operand or a short result of a warp is under way.
    fn is_busy(&self, warp: u8) -> bool;
    /// Whether a register of a warp is pending.
    fn is_pending(&self, warp: u8, register: RegisterId) -> bool;
    /// A register of a warp lies in its line from now on.
    fn enter(&mut self, warp: u8, register: RegisterId);
    /// Takes scratchpad memory for this cycle, if nothing else does.
    fn claim(&mut self) -> bool;
}

impl Prefetcher {
    /// A prefetcher for registers that lie where the table says, with an empty cache.
    pub(in crate::sm) const fn new(homes: Homes, latency: u64) -> Self {
        Self {
            homes,
            cache: OperandCache::EMPTY,
            latency,
            announced: 0,
            queued: 0,
            arriving: 0,
            running: 0,
            issued: 0,
            known: 0,
            queue: Deque::new(),
            filling: None,
            moves: Deque::new(),
            prefetch: [0; MAX_RESIDENT_WARPS],
            there: [0; MAX_RESIDENT_WARPS],
            blocked_since: None,
        }
    }

    /// Whether a register of a warp lies in scratchpad memory.
    #[inline]
    pub(in crate::sm) const fn is_outside(&self, warp: u8, register: RegisterId) -> bool {
        self.homes.slot(warp as u32) >= self.homes.start_cta()
            && register.0 as u32 >= self.homes.start_register()
    }

    /// Whether a warp's register is in the operand cache.
    pub(in crate::sm) fn holds(&self, warp: u8, register: RegisterId) -> bool {
        self.cache.holds(warp, register)
    }

    /// PREF of a warp has issued, the `index`-th of the kernel. Returns whether the warp waits for
    /// registers.
    pub(in crate::sm) fn announce(&mut self, warp: u8, index: u32, bundles: &Bundles<'_>) -> bool {
        let bit = 1 << warp;
        self.issued |= self.running & bit;
        self.prefetch[usize::from(warp)] = index;
        let (fetched, allocated) = self.needs(warp, bundles);
        let waits = !fetched.or(allocated).is_empty();
        self.announced |= u64::from(waits) << warp;
        waits
    }

    /// What the warp's next bundle needs of scratchpad memory: fetched, and allocated only.
    fn needs(&self, warp: u8, bundles: &Bundles<'_>) -> (RegisterSet, RegisterSet) {
        if self.homes.slot(warp.into()) < self.homes.start_cta() {
            return (RegisterSet::EMPTY, RegisterSet::EMPTY);
        }
        let index = self.prefetch[usize::from(warp)] as usize;
        let Some(Prefetch { fetched, allocated, .. }) = bundles.all().get(index) else {
            return (RegisterSet::EMPTY, RegisterSet::EMPTY);
        };
        let start = RegisterId(self.homes.start_register() as u16);
        (fetched.from(start), allocated.from(start))
    }

    /// A long-latency operation issues, whose result goes to scratchpad memory.
    pub(in crate::sm) fn bypass<O: SmObserver>(
        &mut self,
        warp: u8,
        register: RegisterId,
        run: &mut Run<O>,
    ) {
        self.cache.bypass(warp, register);
        tell(run, ExpansionObservation::Bypass { place: warp, register });
    }

    /// A short result is written to the operand cache.
    pub(in crate::sm) fn write(&mut self, warp: u8, register: RegisterId) {
        let holds = self.cache.write(warp, register);
        debug_assert!(holds, "the line of a result is the bundle's until it is written");
    }

    /// Whether a register must be written to scratchpad memory before any result is.
    #[inline]
    pub(in crate::sm) fn has_leaving(&self) -> bool {
        self.cache.has_leaving()
    }

    /// Writes such a register, which takes scratchpad memory for a cycle.
    pub(in crate::sm) fn write_back_leaving<O: SmObserver>(&mut self, run: &mut Run<O>) {
        if let Some((warp, register)) = self.cache.write_back_leaving() {
            run.counters.expansion.record(ExpansionEvent::BypassWriteback, 1);
            tell(run, ExpansionObservation::Moves(Move::WrittenBack { warp, register }));
        }
    }

    /// A warp has ended, and all its results have arrived. Its registers that were to be written to
    /// scratchpad memory are not: another warp's may lie there soon. Returns how many those are.
    pub(in crate::sm) fn exit(&mut self, warp: u8) -> u32 {
        let mut dead = self.cache.exit(warp);
        for _ in 0..self.moves.len() {
            let Some(one) = self.moves.pop_front() else { break };
            if matches!(one, Move::WrittenBack { warp: of, .. } if of == warp) {
                dead += 1;
            } else {
                // There is room: it was there.
                let _ = self.moves.push_back(one);
            }
        }
        let others = !(1 << warp);
        self.running &= others;
        self.issued &= others;
        self.known &= others;
        dead
    }

    /// What happens in a cycle after issue. Returns the warps that can issue from the next one on.
    pub(in crate::sm) fn step<O: SmObserver>(
        &mut self,
        bundles: &Bundles<'_>,
        around: &mut impl Surroundings,
        run: &mut Run<O>,
    ) -> u64 {
        self.complete(around, run);
        self.enqueue(bundles, around);
        if self.filling.is_none() {
            self.begin(bundles, around, run);
        }
        if self.filling.is_some() {
            self.advance(around, run);
        }
        self.release(run)
    }

    /// Bundles whose instructions have their operands, and whose short results are written.
    fn complete<O: SmObserver>(&mut self, around: &impl Surroundings, run: &mut Run<O>) {
        let filling = self.filling.map_or(0, |filling| 1 << filling.warp);
        for warp in places(self.running & !filling & !self.arriving) {
            let bit = 1_u64 << warp;
            if self.issued & bit == 0 && around.is_at_boundary(warp) {
                self.issued |= bit;
            }
            if self.issued & bit != 0 && !around.is_busy(warp) {
                self.cache.complete(warp);
                self.running &= !bit;
                self.issued &= !bit;
                tell(run, ExpansionObservation::Completes { place: warp });
            }
        }
    }

    /// Warps that lack nothing but registers of scratchpad memory go to the front of the queue, the
    /// one with the lowest place first; with their first bundle, to its end.
    fn enqueue(&mut self, bundles: &Bundles<'_>, around: &impl Surroundings) {
        let can = |this: &Self, warp: u8| {
            let (fetched, allocated) = this.needs(warp, bundles);
            !fetched.or(allocated).iter().any(|register| around.is_pending(warp, register))
        };
        let candidates = self.announced & !self.queued & !self.running & around.ready();
        let new = candidates & !self.known;
        for warp in places(new) {
            if can(self, warp) {
                self.queued |= 1 << warp;
                // There is room for all warps.
                let _ = self.queue.push_back(warp);
            }
        }
        let mut others = candidates & self.known;
        while others != 0 {
            let warp = (u64::BITS - 1 - others.leading_zeros()) as u8;
            others &= !(1 << warp);
            if can(self, warp) {
                self.queued |= 1 << warp;
                let _ = self.queue.push_front(warp);
            }
        }
        self.known |= self.queued;
    }

    /// Gives the queue's first warp its lines, if no bundle that runs has one of them.
    fn begin<O: SmObserver>(
        &mut self,
        bundles: &Bundles<'_>,
        around: &mut impl Surroundings,
        run: &mut Run<O>,
    ) {
        let Some(&warp) = self.queue.front() else {
            return;
        };
        let (fetched, allocated) = self.needs(warp, bundles);
        let moves = &mut self.moves;
        let found = self.cache.begin(warp, fetched, allocated, |one| {
            let _ = moves.push_back(one);
        });
        let Some(Found { held, clean }) = found else {
            self.blocked_since = self.blocked_since.or(Some(run.now));
            return;
        };
        let waited = self.blocked_since.take().map_or(0, |since| run.now - since);
        self.queue.pop_front();
        let bit = 1_u64 << warp;
        self.queued &= !bit;
        self.announced &= !bit;
        self.running |= bit;
        for register in fetched.or(allocated).iter() {
            around.enter(warp, register);
        }
        self.filling = Some(Filling { warp, there: run.now + 1 });
        let counters = &mut run.counters.expansion;
        counters.record(ExpansionEvent::Bundle, 1);
        counters.record(ExpansionEvent::Held, held.into());
        counters.record(ExpansionEvent::CleanEviction, clean.into());
        counters.record(ExpansionEvent::LineWait, waited);
        let index = self.prefetch[usize::from(warp)] as usize;
        let pc = bundles.all().get(index).map_or(0, |prefetch| prefetch.pc);
        tell(run, ExpansionObservation::Begins { place: warp, pc });
    }

    /// Moves a register of the warp that is filling, if scratchpad memory is free; without one
    /// left, the warp's registers are on their way.
    fn advance<O: SmObserver>(&mut self, around: &mut impl Surroundings, run: &mut Run<O>) {
        let Some(Filling { warp, there }) = &mut self.filling else { return };
        if let Some(&one) = self.moves.front() {
            if !around.claim() {
                run.counters.expansion.record(ExpansionEvent::PortWait, 1);
                return;
            }
            self.moves.pop_front();
            let (event, cycles) = match one {
                Move::Fetched { .. } => (ExpansionEvent::Fetch, self.latency),
                Move::WrittenBack { .. } => (ExpansionEvent::DirtyEviction, 1),
            };
            *there = run.now + cycles;
            run.counters.expansion.record(event, 1);
            tell(run, ExpansionObservation::Moves(one));
        }
        if self.moves.is_empty() {
            self.arriving |= 1 << *warp;
            self.there[usize::from(*warp)] = *there;
            self.filling = None;
        }
    }

    /// Warps whose registers are there in the next cycle.
    fn release<O: SmObserver>(&mut self, run: &mut Run<O>) -> u64 {
        let mut released = 0;
        for warp in places(self.arriving) {
            if self.there[usize::from(warp)] <= run.now + 1 {
                released |= 1 << warp;
                tell(run, ExpansionObservation::Schedulable { place: warp });
            }
        }
        self.arriving &= !released;
        released
    }

    /// The next cycle after `now` in which a [`Self::step`] does something, if nothing else happens
    /// before.
    pub(in crate::sm) fn next_event(&self, now: u64) -> Option<u64> {
        let waits = self.blocked_since.is_some() || self.queue.is_empty();
        if self.filling.is_some() || !waits || self.has_leaving() {
            return Some(now + 1);
        }
        let there = places(self.arriving).map(|warp| self.there[usize::from(warp)] - 1);
        there.min().map(|there| there.max(now + 1))
    }
}

/// The bank of the operand cache that a register's line is in.
pub(in crate::sm) const fn bank(register: RegisterId) -> u8 {
    HomeLine::of(register).bank
}

fn tell<O: SmObserver>(run: &mut Run<O>, event: ExpansionObservation) {
    let cycle = run.now;
    run.tell(|| Observation::Expansion { cycle, event });
}

/// The places of a set of warps, ascending.
fn places(mut set: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros() as u8)?;
        set &= set - 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Split;
    use super::*;
    use crate::sm::counters::SmCounters;

    /// A warp of a mixed CTA that is ready, with scratchpad memory that the program takes in some
    /// cycles.
    struct Scene {
        ready: u64,
        boundary: u64,
        busy: u64,
        taken: &'static [u64],
        pending: Option<RegisterId>,
        now: u64,
    }

    impl Surroundings for Scene {
        fn ready(&self) -> u64 {
            self.ready
        }

        fn is_at_boundary(&self, warp: u8) -> bool {
            self.boundary >> warp & 1 != 0
        }

        fn is_busy(&self, warp: u8) -> bool {
            self.busy >> warp & 1 != 0
        }

        fn is_pending(&self, _: u8, register: RegisterId) -> bool {
            self.pending == Some(register)
        }

        fn enter(&mut self, _: u8, _: RegisterId) {}

        fn claim(&mut self) -> bool {
            !self.taken.contains(&self.now)
        }
    }

    fn set(registers: &[u16]) -> RegisterSet {
        RegisterSet::of(registers.iter().copied().map(RegisterId)).expect("below 256")
    }

    /// One mixed CTA of 8 warps, registers from 16 up outside, 20 cycles of latency.
    fn prefetcher() -> Prefetcher {
        let split = Split { whole: 0, mixed: 1, start_register: 16 };
        let homes = Homes::new(&split, 48, 8, 0, 48 * 1024).expect("it fits");
        Prefetcher::new(homes, 20)
    }

    /// Steps from a cycle on until warps can issue: the first cycle in which they can, and which.
    fn schedulable(
        prefetcher: &mut Prefetcher,
        bundles: &Bundles<'_>,
        scene: &mut Scene,
        from: u64,
    ) -> (u64, u64) {
        let (counters, observer) = (SmCounters::default(), crate::sm::observe::Unobserved);
        let mut run = Run { now: from, counters, observer };
        loop {
            scene.now = run.now;
            let released = prefetcher.step(bundles, scene, &mut run);
            run.now += 1;
            if released != 0 {
                return (run.now, released);
            }
            assert!(run.now < from + 1000, "it hangs");
        }
    }

    /// The case of `[EXPARS]` 3.3.4 with three registers, by hand.
    #[test]
    fn three_fetches_take_22_cycles_a_program_s_access_one_more_and_a_dirty_victim_one_more() {
        let bundle = |pc, registers: &[u16]| Prefetch {
            pc,
            fetched: set(registers),
            allocated: RegisterSet::EMPTY,
        };
        let all = [bundle(0, &[17, 18, 19]), bundle(1, &[33, 18, 19])];
        let bundles = Bundles::new(&all, 2).expect("legal");
        let scene = |taken| Scene { ready: 1, boundary: 0, busy: 0, taken, pending: None, now: 0 };
        for (taken, expected) in [(&[][..], 122), (&[101], 123), (&[100, 102], 124)] {
            let mut prefetcher = prefetcher();
            assert!(prefetcher.announce(0, 0, &bundles));
            let found = schedulable(&mut prefetcher, &bundles, &mut scene(taken), 100);
            assert_eq!(found, (expected, 1), "{taken:?}");
        }
        // Another warp wrote R17, whose line R33 needs.
        let mut prefetcher = prefetcher();
        prefetcher.announce(1, 0, &bundles);
        let mut other =
            Scene { ready: 0b10, boundary: 0, busy: 0b10, taken: &[], pending: None, now: 0 };
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut other, 0), (22, 0b10));
        prefetcher.write(1, RegisterId(17));
        prefetcher.announce(0, 1, &bundles);
        // Its bundle is complete in cycle 100: all has issued, and nothing is under way.
        let mut one =
            Scene { ready: 1, boundary: 0b10, busy: 0, taken: &[], pending: None, now: 0 };
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut one, 100), (123, 1));
    }

    #[test]
    fn a_known_warp_comes_to_the_front_and_a_new_one_to_the_end() {
        let all = [Prefetch { pc: 0, fetched: set(&[20]), allocated: RegisterSet::EMPTY }];
        let bundles = Bundles::new(&all, 1).expect("legal");
        let mut prefetcher = prefetcher();
        let mut scene =
            Scene { ready: 0b111, boundary: 0, busy: 0b111, taken: &[], pending: None, now: 0 };
        for warp in 0..3 {
            prefetcher.announce(warp, 0, &bundles);
        }
        // All want one line: the first keeps it until its bundle is complete.
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut scene, 0), (20, 0b1));
        prefetcher.announce(0, 0, &bundles);
        (scene.boundary, scene.busy) = (0b111, 0);
        // Warp 0 has its register still and goes first, warp 1 after it.
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut scene, 50), (51, 0b1));
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut scene, 60), (80, 0b10));
    }

    /// A bundle that would give a line to a register whose result goes to scratchpad memory waits
    /// until it has come.
    #[test]
    fn a_bundle_waits_for_results_of_its_registers() {
        let all = [Prefetch { pc: 0, fetched: set(&[20]), allocated: RegisterSet::EMPTY }];
        let bundles = Bundles::new(&all, 1).expect("legal");
        let mut prefetcher = prefetcher();
        prefetcher.announce(0, 0, &bundles);
        let pending = Some(RegisterId(20));
        let mut scene = Scene { ready: 1, boundary: 0, busy: 0, taken: &[], pending, now: 0 };
        let (counters, observer) = (SmCounters::default(), crate::sm::observe::Unobserved);
        let mut run = Run { now: 0, counters, observer };
        while run.now < 50 {
            assert_eq!(prefetcher.step(&bundles, &mut scene, &mut run), 0);
            run.now += 1;
        }
        assert_eq!(run.counters.expansion.get(ExpansionEvent::Bundle), 0);
        scene.pending = None;
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut scene, 50), (70, 1));
    }

    /// A warp that ends takes what was to be written of it along: another may be there soon.
    #[test]
    fn nothing_of_a_warp_that_has_ended_is_written() {
        let bundle = |pc, register| Prefetch {
            pc,
            fetched: RegisterSet::EMPTY,
            allocated: set(&[register]),
        };
        let all = [bundle(0, 20), bundle(1, 36)];
        let bundles = Bundles::new(&all, 2).expect("legal");
        let mut prefetcher = prefetcher();
        let mut scene =
            Scene { ready: 0b11, boundary: 0, busy: 0, taken: &[], pending: None, now: 0 };
        prefetcher.announce(0, 0, &bundles);
        assert_eq!(schedulable(&mut prefetcher, &bundles, &mut scene, 0), (1, 1));
        prefetcher.write(0, RegisterId(20));
        scene.boundary = 1;
        prefetcher.announce(1, 1, &bundles);
        scene.taken = &[10, 11];
        let (counters, observer) = (SmCounters::default(), crate::sm::observe::Unobserved);
        let mut run = Run { now: 10, counters, observer };
        scene.now = 10;
        assert_eq!(prefetcher.step(&bundles, &mut scene, &mut run), 0);
        assert_eq!(prefetcher.exit(0), 1);
        (scene.now, run.now) = (11, 11);
        assert_eq!(prefetcher.step(&bundles, &mut scene, &mut run), 0b10);
        assert_eq!(run.counters.expansion.get(ExpansionEvent::DirtyEviction), 0);
    }
}
