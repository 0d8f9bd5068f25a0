//! Scoreboard: when each register and predicate of each resident warp is there, and which results
//! of each warp are still under way.
//!
//! Models: an entry for each; its value is there from a cycle on, or pending: on its way, and the
//! arrival time is not known yet. A pending value may arrive in several pieces.
//! Source: `[RFC2011]` 2.1; `docs/MODEL.md`, rule 19.

mod pending;

use super::config::MAX_RESIDENT_WARPS;
use super::facts::bits;
use super::wait::{ReadyAt, Wait};
use crate::rules::{PendingResults, RegisterSketch};
use crate::units::{LaneMask, RegisterId};
use pending::PendingTable;

/// The entries, a row for each warp: registers, then predicates.
#[derive(Debug)]
pub(super) struct Scoreboard<'m> {
    entries: &'m mut [ReadyAt],
    /// Entries of a row.
    row: usize,
    /// Entries of registers in a row.
    registers: usize,
    under_way: [UnderWay; MAX_RESIDENT_WARPS],
    /// Results whose readers wait outside the active set.
    pending: PendingTable<'m>,
}

/// What the scoreboard has of a warp, to be changed.
pub(super) struct Row<'s> {
    /// The entries: registers, then predicates.
    pub(super) entries: &'s mut [ReadyAt],
    pub(super) under_way: &'s mut UnderWay,
    pub(super) pending: PendingResults<'s>,
}

/// The results of a warp that are under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay {
    /// Pending registers, and instructions without results in collector units.
    pending: u32,
    /// Pending results of long-latency operations.
    long: u32,
    /// Writes of a flush.
    flushes: u32,
    /// Accesses of global memory that have issued and that no cache has been asked for yet.
    unasked: u32,
    /// When all results are there whose arrival time is known.
    until: u64,
    /// When all results of long-latency operations are there whose arrival time is known.
    long_until: u64,
}

impl UnderWay {
    const NOTHING: Self =
        Self { pending: 0, long: 0, flushes: 0, unasked: 0, until: 0, long_until: 0 };

    /// A result whose arrival time is known.
    #[inline]
    pub(super) fn expect(&mut self, at: u64, long: bool) {
        self.until = self.until.max(at);
        if long {
            self.long_until = self.long_until.max(at);
        }
    }

    /// A pending result.
    #[inline]
    pub(super) fn announce(&mut self, long: bool) {
        self.pending += 1;
        self.long += u32::from(long);
    }

    /// A pending result is there from cycle `at` on.
    #[inline]
    pub(super) fn arrive(&mut self, at: u64, long: bool) {
        self.pending -= 1;
        self.long -= u32::from(long);
        self.expect(at, long);
    }

    /// Something else that is under way until it [ends](Self::end).
    #[inline]
    pub(super) fn begin(&mut self) {
        self.pending += 1;
    }

    /// What began has ended.
    #[inline]
    pub(super) fn end(&mut self) {
        self.pending -= 1;
    }

    /// A flush writes a register, which is pending until then.
    pub(super) fn begin_flush(&mut self) {
        self.flushes += 1;
    }

    /// A write of a flush has happened.
    pub(super) fn end_flush(&mut self) {
        self.flushes -= 1;
    }

    /// An access of global memory that is sent later.
    pub(super) fn begin_access(&mut self) {
        self.unasked += 1;
    }

    /// The access is sent.
    pub(super) fn end_access(&mut self) {
        self.unasked -= 1;
    }

    /// Whether anything is pending.
    pub(super) const fn is_pending(&self) -> bool {
        self.pending != 0
    }

    /// Whether a result of a long-latency operation is pending.
    pub(super) const fn is_long_pending(&self) -> bool {
        self.long != 0
    }

    /// Whether a short result is pending, or an instruction without a result has not started.
    pub(super) const fn is_short_pending(&self) -> bool {
        self.pending != self.long
    }

    /// Whether a flush goes on.
    pub(super) const fn is_flushing(&self) -> bool {
        self.flushes != 0
    }

    /// Whether an access of global memory is to be sent.
    pub(super) const fn is_access_unsent(&self) -> bool {
        self.unasked != 0
    }

    /// When all results are there whose arrival time is known.
    pub(super) const fn until(&self) -> u64 {
        self.until
    }

    /// When all results of long-latency operations are there whose arrival time is known.
    pub(super) const fn long_until(&self) -> u64 {
        self.long_until
    }
}

impl<'m> Scoreboard<'m> {
    /// A scoreboard of `warps` rows over the caller's memory: entries, and lanes of pending results
    /// for each register of each warp.
    pub(super) const fn new(
        entries: &'m mut [ReadyAt],
        pending: &'m mut [LaneMask],
        (warps, registers): (usize, u16),
    ) -> Self {
        let row = entries.len() / warps;
        let under_way = [UnderWay::NOTHING; MAX_RESIDENT_WARPS];
        let pending = PendingTable::new(pending, registers);
        Self { entries, row, registers: registers as usize, under_way, pending }
    }

    /// The entries of a warp: registers, then predicates.
    #[inline]
    fn entries(&self, warp: usize) -> &[ReadyAt] {
        &self.entries[warp * self.row..][..self.row]
    }

    /// The entries of a warp, registers, then predicates, to be changed; and what is under way of
    /// it.
    #[inline]
    pub(super) fn warp_mut(&mut self, warp: usize) -> (&mut [ReadyAt], &mut UnderWay) {
        let row = &mut self.entries[warp * self.row..][..self.row];
        (row, &mut self.under_way[warp])
    }

    /// All of a warp, to be changed.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn row(&mut self, warp: usize) -> Row<'_> {
        Row {
            entries: &mut self.entries[warp * self.row..][..self.row],
            under_way: &mut self.under_way[warp],
            pending: self.pending.of(warp),
        }
    }

    /// The pending long-latency results of a warp, to be changed.
    #[inline]
    pub(super) fn pending_mut(&mut self, warp: usize) -> PendingResults<'_> {
        self.pending.of(warp)
    }

    /// False only if no register of a sketch is a pending long-latency result of a warp.
    #[inline]
    pub(super) const fn may_be_read(&self, warp: usize, sketch: RegisterSketch) -> bool {
        self.pending.may_be_read(warp, sketch)
    }

    /// The first of these registers of a warp of which an enabled lane is a pending long-latency
    /// result.
    pub(super) fn first_pending(
        &self,
        warp: usize,
        sources: &[RegisterId],
        mask: LaneMask,
    ) -> Option<RegisterId> {
        self.pending.first(warp, sources, mask)
    }

    /// The entries of a warp's registers and those of its predicates, to be changed, and what is
    /// under way of the warp.
    #[inline]
    pub(super) fn parts_mut(
        &mut self,
        warp: usize,
    ) -> (&mut [ReadyAt], &mut [ReadyAt], &mut UnderWay) {
        let registers = self.registers;
        let (row, under_way) = self.warp_mut(warp);
        let (registers, predicates) = row.split_at_mut(registers);
        (registers, predicates, under_way)
    }

    /// What is under way of a warp.
    #[inline]
    pub(super) const fn under_way(&self, warp: usize) -> &UnderWay {
        &self.under_way[warp]
    }

    /// What is under way of a warp, to be changed.
    #[inline]
    pub(super) const fn under_way_mut(&mut self, warp: usize) -> &mut UnderWay {
        &mut self.under_way[warp]
    }

    /// All of a warp's entries are there: it is new.
    pub(super) fn clear(&mut self, warp: usize) {
        self.warp_mut(warp).0.fill(ReadyAt::NOW);
        self.pending.clear(warp);
        self.under_way[warp] = UnderWay::NOTHING;
    }

    /// A register of a warp is pending, whose readers wait for this.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn announce(&mut self, warp: usize, register: usize, wait: Wait, long: bool) {
        self.entries[warp * self.row + register] = ReadyAt::pending(wait);
        self.under_way[warp].announce(long);
    }

    /// A pending register of a warp is there from cycle `at` on.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        warp: usize,
        register: usize,
        (at, wait): (u64, Wait),
        long: bool,
    ) {
        self.entries[warp * self.row + register] = ReadyAt::new(at, wait);
        self.under_way[warp].arrive(at, long);
    }

    /// A piece of a pending register of a warp has arrived. Returns the register's entry if it was
    /// the last. A piece that was not announced is ignored.
    pub(super) fn arrive_in_part(&mut self, warp: usize, register: usize) -> Option<ReadyAt> {
        let entry = &mut self.entries[warp * self.row + register];
        if !entry.is_pending() {
            return None;
        }
        let Some(rest) = entry.without_piece() else { return Some(*entry) };
        *entry = rest;
        None
    }

    /// A piece of a pending register of a warp has arrived, which stays pending until its write.
    /// Returns whether it was the last, the first time.
    pub(super) fn arrive_before_write(&mut self, warp: usize, register: usize) -> bool {
        let last = self.arrive_in_part(warp, register).filter(|entry| !entry.goes_to_main());
        if let Some(entry) = last {
            self.entries[warp * self.row + register] = entry.to_main();
        }
        last.is_some()
    }

    /// A piece of pending predicates of a warp has arrived; the last is there from cycle `at` on.
    /// Returns whether it was the last.
    pub(super) fn arrive_predicates(&mut self, warp: usize, written: u32, at: u64) -> bool {
        let mut last = false;
        for predicate in bits(written) {
            let place = self.registers + predicate;
            if let Some(entry) = self.arrive_in_part(warp, place) {
                self.entries[warp * self.row + place] = ReadyAt::new(at, entry.wait());
                self.under_way[warp].expect(at, false);
                last = true;
            }
        }
        last
    }

    /// Pending registers and predicates of a warp arrive as `there` says, in so many pieces.
    #[cold]
    pub(super) fn split(
        &mut self,
        warp: usize,
        registers: &[RegisterId],
        predicates: u32,
        there: ReadyAt,
    ) {
        for register in registers {
            self.entries[warp * self.row + usize::from(register.0)] = there;
        }
        self.set_predicates(warp, predicates, there);
    }

    /// Predicates of a warp, bit `i` of `written` being predicate `i`, are there at `at`.
    #[inline]
    pub(super) fn set_predicates(&mut self, warp: usize, written: u32, at: ReadyAt) {
        let first = warp * self.row + self.registers;
        for predicate in bits(written) {
            self.entries[first + predicate] = at;
        }
    }

    /// Pending predicates of a warp are there from `cycle` on.
    pub(super) fn complete_predicates(&mut self, warp: usize, written: u32, cycle: u64) {
        let first = warp * self.row + self.registers;
        for predicate in bits(written) {
            let entry = &mut self.entries[first + predicate];
            *entry = ReadyAt::new(cycle, entry.wait());
        }
        self.under_way[warp].expect(cycle, false);
    }

    /// Whether a register of a warp is pending.
    pub(super) fn is_pending(&self, warp: usize, register: RegisterId) -> bool {
        self.entries[warp * self.row + usize::from(register.0)].is_pending()
    }

    /// What the readers of the entry at a place of a warp's row wait for, if it is pending.
    #[inline]
    pub(super) fn pending_wait(&self, warp: usize, place: u32) -> Option<Wait> {
        let entry = self.entries[warp * self.row + place as usize];
        entry.is_pending().then(|| entry.wait())
    }

    /// When the last of these registers and predicates of a warp is there, of those that count.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn last(
        &self,
        warp: usize,
        registers: &[RegisterId],
        predicates: u32,
        counts: impl Fn(ReadyAt) -> bool,
    ) -> ReadyAt {
        let row = self.entries(warp);
        let mut latest = ReadyAt::NOW;
        let mut consider = |ready: ReadyAt| {
            if counts(ready) {
                latest = latest.max(ready);
            }
        };
        for register in registers {
            consider(row[usize::from(register.0)]);
        }
        if predicates != 0 {
            for predicate in bits(predicates) {
                consider(row[self.registers + predicate]);
            }
        }
        latest
    }

    /// The place in a warp's row of the first of these registers and predicates that is there at
    /// `ready`, if one is.
    pub(super) fn place_of(
        &self,
        warp: usize,
        registers: &[RegisterId],
        predicates: u32,
        ready: ReadyAt,
    ) -> Option<u32> {
        let row = self.entries(warp);
        let registers = registers.iter().map(|register| usize::from(register.0));
        let predicates = bits(predicates).map(|predicate| self.registers + predicate);
        let place = registers.chain(predicates).find(|&place| row[place] == ready);
        place.map(|place| place as u32)
    }
}
