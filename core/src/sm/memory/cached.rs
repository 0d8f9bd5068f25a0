//! Cached: a memory with a primary data cache, whose time follows from the addresses of accesses.
//!
//! Models: shared memory and the cache behind one path, which accesses take in the order of their
//! issue, for as long as their banks take ([`super::touched::AccessCycles`]) and for a cycle for
//! each line whose tag is looked up; a cache that is written through and allocates on loads that
//! miss, or on local stores too; loads of pending lines, which wait for them; a limit on those
//! lines (`mshr`), at which accesses are refused. Atomics and volatile accesses go past the cache,
//! which drops their lines. Without a cache the rows that are touched move, in whole transactions.
//! Where the banks of the memory are those of the registers, conflicts between them, by instruction
//! or cycle by cycle. What lies below the cache is a [`LowerMemory`].
//! Does not model: values.
//! Source: `[MICRO2012]` 4.2, 4.3, 5.1 and 6.1, `[DISS]` 7.3; `docs/MODEL.md`, rules 35, 36 and 39.

mod transfers;

use super::arbitration::{Arbitration, Queued};
use super::bank_conflicts::{
    BankConflictError, BankConflicts, ConflictPorts, MemoryUse, OperandReads, most_accesses,
    penalty,
};
use super::cache::{Cache, Lookup};
pub use super::cache_counters::{CacheCounters, CacheEvent};
pub use super::cached_settings::{
    CachedMemoryError, CachedMemoryParts, CachedSettings, LocalStores,
};
use super::ledger::Ledger;
use super::line_key::{is_local, key};
use super::listed::Listed;
pub use super::listed::{AccessList, LineUse, ListedAccess};
use super::lower::{Dram, FetchId, LowerMemory};
use super::mshr::{MshrLimit, MshrNeeds, Mshrs};
use super::touched::{BankMapping, BankPattern, RowsInBanks, TouchedLine};
use super::waiting::Waiting;
use super::{
    Answer, Arrival, MemoryCounters, MemoryModel, MemoryRequest, MemoryStep, Space, Ticket,
};
use crate::sm::observe::{Observation, SmObserver, Unobserved};
use crate::sm::operand_delivery::OperandDelivery;
use crate::sm::timing::Timing;

/// What becomes of an access, line by line.
struct Transfers {
    /// Whose access it is.
    ticket: Ticket,
    /// Its transfers from and to DRAM: from the first to the end of the last.
    cycles: Option<(u64, u64)>,
    /// When the last data is there of which it is known.
    arrival: u64,
    /// Lines of which it is not known when they come.
    later: u16,
    /// The rows of the cache that it reads or writes.
    rows: RowsInBanks,
}

/// A memory with a cache, in one launch, what lies below, and who listens to it.
pub struct CachedMemory<'m, 'c, O = Unobserved, L = Dram> {
    list: AccessList<'m>,
    cache: &'m mut Cache<'c>,
    settings: CachedSettings,
    timing: Timing,
    /// First cycle in which an access can take the path to shared memory and cache.
    path_free: u64,
    lower: L,
    waiting: Waiting<'m>,
    /// What the access that was asked for last touches.
    latest: MemoryUse,
    arbitration: Arbitration,
    mshrs: Option<Mshrs<'m>>,
    /// The last cycle in which an access was refused because of them.
    mshrs_waited_in: Option<u64>,
    ledger: Ledger<O>,
    unlisted: u64,
}

impl<O: SmObserver, L: LowerMemory> core::fmt::Debug for CachedMemory<'_, '_, O, L> {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut memory = to.debug_struct("CachedMemory");
        memory.field("settings", &self.settings).field("counters", self.counters());
        memory.finish_non_exhaustive()
    }
}

impl<'m, 'c> CachedMemory<'m, 'c> {
    /// A memory for a launch, whose accesses the list has, of settings that need nothing beside the
    /// tags, and without an observer. `cache` is one of the same settings; it keeps what it holds
    /// of global memory from the launch before. Local memory does not outlive its launch.
    pub fn new(
        settings: CachedSettings,
        timing: &Timing,
        cache: &'m mut Cache<'c>,
        list: AccessList<'m>,
    ) -> Result<Self, CachedMemoryError> {
        let parts = CachedMemoryParts::default();
        Self::observed(settings, timing, (cache, parts), list, Unobserved)
    }
}

impl<'m, 'c, O: SmObserver> CachedMemory<'m, 'c, O> {
    /// A memory like [`CachedMemory::new`], of whose accesses `observer` hears; that of the SM is
    /// shared by a [`CommonObserver`](crate::sm::CommonObserver).
    pub fn observed(
        settings: CachedSettings,
        timing: &Timing,
        memory: (&'m mut Cache<'c>, CachedMemoryParts<'m>),
        list: AccessList<'m>,
        observer: O,
    ) -> Result<Self, CachedMemoryError> {
        Self::over(Dram::new(timing), settings, timing, memory, (list, observer))
    }
}

impl<'m, 'c, O: SmObserver, L: LowerMemory> CachedMemory<'m, 'c, O, L> {
    /// A memory like [`CachedMemory::observed`], over something else than DRAM with a fixed
    /// latency.
    ///
    /// # Errors
    /// Settings that cannot be, or parts that are too small for them.
    pub fn over(
        lower: L,
        settings: CachedSettings,
        timing: &Timing,
        (cache, parts): (&'m mut Cache<'c>, CachedMemoryParts<'m>),
        (list, observer): (AccessList<'m>, O),
    ) -> Result<Self, CachedMemoryError> {
        if !matches!(settings.transaction_bytes, 16 | 32 | 64 | 128) {
            return Err(CachedMemoryError::Transaction(settings.transaction_bytes));
        }
        let (needed, given) = (MshrLimit::entries(settings.mshrs), parts.mshrs.len());
        if given < needed {
            return Err(CachedMemoryError::Mshrs { needed, given });
        }
        if L::LATE {
            settings.check_late(&parts)?;
        }
        cache.restart(|key| !is_local(key));
        Ok(Self {
            list,
            cache,
            settings,
            timing: *timing,
            path_free: 0,
            lower,
            waiting: Waiting::new(parts.waiting, parts.waiters),
            latest: MemoryUse::NONE,
            arbitration: Arbitration::default(),
            mshrs: settings.mshrs.map(|limit| Mshrs::new(limit, parts.mshrs)),
            mshrs_waited_in: None,
            ledger: Ledger::new(observer),
            unlisted: 0,
        })
    }

    /// What it has counted.
    pub const fn counters(&self) -> &CacheCounters {
        self.ledger.counters()
    }

    /// What lies below the cache.
    pub const fn lower(&self) -> &L {
        &self.lower
    }

    /// Accesses that stand in no list, of which nothing is counted: a trace and its list do not
    /// belong together.
    pub const fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Takes the path for so many cycles, from `now` on or as soon as it is free. Returns the first
    /// cycle.
    fn take_path(&mut self, cycles: u64, now: u64) -> u64 {
        let from = now.max(self.path_free);
        self.path_free = from + cycles;
        if !self.arbitrates() {
            self.tell_path(from, self.path_free);
        }
        from
    }

    /// Tells that the access takes the path.
    fn tell_path(&mut self, from: u64, until: u64) {
        let path =
            |ticket: Ticket| Observation::Path { place: ticket.warp, pc: ticket.pc, from, until };
        self.ledger.tell(path);
    }

    /// Whether ports of banks are given out cycle by cycle, to registers and memory.
    fn arbitrates(&self) -> bool {
        self.settings.conflicts == BankConflicts::CycleByCycle
            && self.settings.mapping != BankMapping::Partitioned
    }

    /// Counts what an access touches in shared memory, while it takes the path.
    fn touch_shared(&mut self, line_use: LineUse, pattern: &BankPattern, path: (u64, u64)) {
        if pattern.shared_words == 0 {
            return;
        }
        let (words, rows) = (pattern.shared_words.into(), pattern.shared_rows.total());
        if line_use.reads() {
            self.ledger.record(CacheEvent::SharedReadWord, words, path);
            self.ledger.record(CacheEvent::SharedReadRow, rows, path);
        }
        if line_use.writes() {
            self.ledger.record(CacheEvent::SharedWriteWord, words, path);
            self.ledger.record(CacheEvent::SharedWriteRow, rows, path);
        }
    }

    fn access_shared(
        &mut self,
        access: Listed<'_>,
        request: &MemoryRequest,
        counters: &mut MemoryCounters<'_>,
    ) -> Answer {
        let words = access.pattern.cycles.of(self.settings.mapping);
        let cycles = u64::from(words.max(1));
        let from = self.take_path(cycles, request.now);
        let until = from + cycles;
        self.ledger.record(CacheEvent::SharedConflictCycle, cycles - 1, (from + 1, until));
        counters.moved(Space::Shared, request.access.bytes, cycles);
        self.touch_shared(access.line_use, access.pattern, (from, until));
        self.latest = MemoryUse {
            rows: access.pattern.shared_rows,
            words_of_a_bank: words,
            writes_only: !access.line_use.reads(),
            cycles,
        };
        let latency = u64::from(self.timing.shared_latency);
        let at = from + latency + cycles - 1;
        let arrival = self.arrival(access.line_use, request, (latency, 0), at);
        Answer::Taken { arrival, cached: false, from, until }
    }

    fn access_global(
        &mut self,
        access: Listed<'_>,
        request: &MemoryRequest,
        counters: &mut MemoryCounters<'_>,
    ) -> Answer {
        let (line_use, lines) = (access.line_use, access.lines);
        let mapping = self.settings.mapping;
        let in_banks = access.pattern.cycles.of(mapping);
        let in_shared = access.pattern.shared_cycles.of(mapping);
        let lookups = lines.len() as u64;
        let cycles = u64::from(in_banks).max(lookups).max(1);
        let from = self.take_path(cycles, request.now);
        let until = from + cycles;
        // Lanes of generic accesses may lie in shared memory, which has its turn first.
        let others = from + u64::from(in_shared);
        let conflicts = u64::from(in_shared.saturating_sub(1));
        self.ledger.record(CacheEvent::SharedConflictCycle, conflicts, (from + 1, others));
        if !self.cache.is_absent() {
            let conflicts =
                u64::from(in_banks.saturating_sub(in_shared)).saturating_sub(lookups.max(1));
            self.ledger.record(
                CacheEvent::CacheConflictCycle,
                conflicts,
                (until - conflicts, until),
            );
        }
        self.touch_shared(line_use, access.pattern, (from, until));
        let latency = u64::from(self.timing.hit_latency);
        let hit = from + cycles - 1 + latency;
        let rows = access.pattern.shared_rows;
        let ticket = request.ticket;
        let mut transfers = Transfers { ticket, cycles: None, arrival: 0, later: 0, rows };
        for (&line, at) in lines.iter().zip(from..) {
            let key = key(line, request.ticket.warp);
            self.access_line(line_use, (line, key), at, &mut transfers, counters);
        }
        let Transfers { arrival: data, later, rows, .. } = transfers;
        self.latest = MemoryUse {
            rows,
            words_of_a_bank: if rows.is_empty() { 0 } else { in_banks },
            writes_only: !line_use.reads(),
            cycles,
        };
        let (begin, end) = transfers.cycles.unwrap_or((request.now, request.now));
        if L::LATE && later != 0 {
            self.waiting.begin(request.ticket, later, data.max(hit));
            let arrival = Arrival::Pending { more_pieces: 0 };
            return Answer::Taken { arrival, cached: false, from: begin, until: end };
        }
        let cached = data <= hit && line_use == LineUse::Load;
        let arrival = self.arrival(line_use, request, (latency, data), data.max(hit));
        Answer::Taken { arrival, cached, from: begin, until: end }
    }

    /// Whether an access has to wait for MSHRs, or for what lies below; then that is counted.
    #[inline]
    fn must_wait(&mut self, access: Listed<'_>, request: &MemoryRequest) -> bool {
        let lines = access.lines.len();
        if L::LATE && !(self.waiting.has_room(lines) && self.lower.has_room(lines)) {
            let cycle = (request.now, request.now + 1);
            self.ledger.record(CacheEvent::QueueRefusal, 1, cycle);
            return true;
        }
        self.mshrs.is_some() && !self.mshrs_have_room(access, request)
    }

    /// Whether the MSHRs leave room for an access.
    // Apart from memories without a limit, which are faster.
    #[inline(never)]
    fn mshrs_have_room(&mut self, access: Listed<'_>, request: &MemoryRequest) -> bool {
        let Some(mshrs) = &mut self.mshrs else { return true };
        let (now, mut needs) = (request.now, MshrNeeds::default());
        for (&line, at) in access.lines.iter().zip(now.max(self.path_free)..) {
            let key = key(line, request.ticket.warp);
            match self.cache.peek(key, at) {
                Lookup::Miss if self.settings.fetches(access.line_use, line) => needs.lines += 1,
                Lookup::Merged { arrives } if access.line_use == LineUse::Load => {
                    needs.too_many_loads |= mshrs.is_full(key, arrives);
                }
                _ => {}
            }
        }
        let have_room = mshrs.have_room(needs, now);
        if !have_room {
            self.ledger.record(CacheEvent::MshrRefusal, 1, (now, now + 1));
            let begins = self.mshrs_waited_in.replace(now) != Some(now);
            self.ledger.record(CacheEvent::MshrWaitCycle, begins.into(), (now, now + 1));
        }
        have_room
    }

    /// When the data of an access is there: at a cycle, or after it has waited for its banks, by
    /// its latency from there on and its data from DRAM.
    fn arrival(
        &mut self,
        line_use: LineUse,
        request: &MemoryRequest,
        (latency, from_dram): (u64, u64),
        at: u64,
    ) -> Arrival {
        if !self.arbitrates() {
            return Arrival::At(at);
        }
        let MemoryUse { rows, cycles, .. } = self.latest;
        self.arbitration.push(Queued {
            ticket: request.ticket,
            rows,
            ports: [line_use.reads(), line_use.writes()],
            cycles,
            latency,
            from_dram,
            is_shared: request.space == Space::Shared,
        });
        Arrival::Pending { more_pieces: 0 }
    }

    /// Looks up a line and moves what has to be moved.
    fn access_line(
        &mut self,
        line_use: LineUse,
        (line, key): (TouchedLine, u64),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) {
        if self.cache.is_absent() {
            let stores = line_use == LineUse::Store;
            let event = if stores { CacheEvent::StoreByte } else { CacheEvent::UncachedByte };
            self.move_past(line_use, (event, line, key), at, transfers, counters);
            return;
        }
        let found = self.cache.look_up(key, at);
        let is_hit = found != Lookup::Miss;
        let allocates =
            line_use == LineUse::Store && !is_hit && self.settings.allocates_store(line);
        if self.touch_cache(line_use, line, is_hit || allocates, at) {
            transfers.rows.add(line.number(), line.row_mask());
        }
        let outcome = match (line_use, found) {
            (LineUse::Load, Lookup::Hit) => CacheEvent::LoadHit,
            (LineUse::Load, Lookup::Merged { .. }) => CacheEvent::LoadMerged,
            (LineUse::Load, Lookup::Miss) => CacheEvent::LoadMiss,
            (LineUse::Store, _) if is_hit => CacheEvent::StoreHit,
            (LineUse::Store, _) => CacheEvent::StoreMiss,
            (_, _) if is_hit => CacheEvent::BypassHit,
            (_, _) => CacheEvent::BypassMiss,
        };
        self.ledger.record_line(outcome, 1, line, (at, at + 1));
        match (line_use, found) {
            (LineUse::Load, Lookup::Hit) => {}
            (LineUse::Load, Lookup::Merged { arrives }) => {
                match FetchId::of_arrival(arrives) {
                    Some(fetch) if L::LATE => {
                        let from = self.waiting.fills_from(fetch, key);
                        self.waiting.wait_for((fetch, from), key, None, true);
                        transfers.later += 1;
                    }
                    _ => transfers.arrival = transfers.arrival.max(arrives),
                }
                if let Some(mshrs) = &mut self.mshrs {
                    mshrs.merge(key, arrives);
                }
            }
            (LineUse::Load, Lookup::Miss) => {
                self.fetch(line_use, (line, key), at, transfers, counters);
            }
            (LineUse::Store, _) => {
                if allocates {
                    self.allocate_for_store((line, key), at, transfers, counters);
                }
                let stored = (CacheEvent::StoreByte, line, key);
                self.move_past(line_use, stored, at, transfers, counters);
            }
            (LineUse::BypassLoad | LineUse::BypassStore | LineUse::Atomic, _) => {
                self.cache.invalidate(key);
                let moved = (CacheEvent::UncachedByte, line, key);
                self.move_past(line_use, moved, at, transfers, counters);
            }
        }
    }

    /// Counts what an access reads or writes of a line in the cache. Returns whether it does.
    fn touch_cache(
        &mut self,
        line_use: LineUse,
        line: TouchedLine,
        is_there: bool,
        at: u64,
    ) -> bool {
        let (words, rows) = match line_use {
            LineUse::Load => (CacheEvent::CacheReadWord, CacheEvent::CacheReadRow),
            LineUse::Store if is_there => (CacheEvent::CacheWriteWord, CacheEvent::CacheWriteRow),
            _ => return false,
        };
        self.ledger.record_line(words, line.words().into(), line, (at, at + 1));
        self.ledger.record_line(rows, line.rows().into(), line, (at, at + 1));
        true
    }

    /// The cache allocates the line of a local store that has missed.
    // Apart from designs whose stores do not allocate, which are faster.
    #[inline(never)]
    fn allocate_for_store(
        &mut self,
        (line, key): (TouchedLine, u64),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) {
        self.ledger.record_line(CacheEvent::StoreAllocation, 1, line, (at, at + 1));
        if line.is_whole() {
            self.cache.allocate(key, at, ());
        } else {
            self.ledger.record_line(CacheEvent::StoreFetch, 1, line, (at, at + 1));
            self.fetch(LineUse::Store, (line, key), at, transfers, counters);
        }
    }
}

impl<O: SmObserver, L: LowerMemory> MemoryModel for CachedMemory<'_, '_, O, L> {
    fn request(&mut self, request: &MemoryRequest, counters: &mut MemoryCounters<'_>) -> Answer {
        let Some(access) = self.list.get(request.access.place()) else {
            self.unlisted += 1;
            self.latest = MemoryUse::NONE;
            let now = request.now;
            return Answer::Taken {
                arrival: Arrival::At(now),
                cached: false,
                from: now,
                until: now,
            };
        };
        // Shared memory takes one at a time, also when a register has been in its way.
        let waits = request.space == Space::Shared && self.arbitration.has_shared();
        if self.arbitration.is_full() || waits {
            return Answer::Refused;
        }
        self.ledger.ask(request);
        match request.space {
            Space::Shared => self.access_shared(access, request, counters),
            Space::Global if self.must_wait(access, request) => Answer::Refused,
            Space::Global => self.access_global(access, request, counters),
        }
    }

    fn hit_known_at(&self, now: u64) -> u64 {
        now.max(self.path_free) + u64::from(self.timing.hit_latency)
    }

    fn step(&mut self, step: &mut dyn MemoryStep) {
        if L::LATE {
            self.step_lower(step);
        }
        if !self.arbitrates() {
            return;
        }
        let now = step.now();
        if let Some(progress) = self.arbitration.step_access(self.settings.mapping, step) {
            self.ledger.turn_to(Some(progress.ticket));
            if progress.held {
                self.path_free += 1;
                let event = CacheEvent::ArbitrationConflictCycle;
                self.ledger.record(event, 1, (now, now + 1));
            }
            if let Some(from) = progress.ended {
                self.tell_path(from, now + 1);
            }
        }
        if self.arbitration.step_fills(self.cache, step) {
            self.ledger.turn_to(None);
            self.ledger.record(CacheEvent::FillWaitCycle, 1, (now, now + 1));
        }
    }

    fn next_event(&self, now: u64) -> Option<u64> {
        let own = self.arbitration.next_event(now);
        if !L::LATE {
            return own;
        }
        own.into_iter().chain(self.lower.next_event(now)).min()
    }

    fn drained_at(&self) -> u64 {
        self.lower.drained_at().max(self.path_free)
    }

    fn is_busy(&self) -> bool {
        !self.arbitration.is_empty() || self.lower.is_busy()
    }

    fn check(
        &self,
        delivery: OperandDelivery,
        operand_window: u8,
    ) -> Result<(), BankConflictError> {
        self.settings.check(delivery, operand_window)
    }

    fn hears_operands(&self) -> bool {
        true
    }

    fn operands(&mut self, reads: &OperandReads) -> Option<u64> {
        let CachedSettings { mapping, conflicts, .. } = self.settings;
        let memory = if reads.accesses { &self.latest } else { &MemoryUse::NONE };
        let most_if = |meet| most_accesses(mapping, meet, &reads.banks, memory);
        let (meet, charges) = match conflicts {
            BankConflicts::Apart => (None, false),
            BankConflicts::Instruction { ports } => (Some(ports), true),
            BankConflicts::CycleByCycle => (Some(ConflictPorts::Any), false),
        };
        let most = most_if(meet);
        let event = match most {
            0 | 1 => CacheEvent::AtMost1Access,
            2 => CacheEvent::Accesses2,
            3 => CacheEvent::Accesses3,
            4 => CacheEvent::Accesses4,
            _ => CacheEvent::MoreAccesses,
        };
        self.ledger.count_instruction(event);
        if !charges {
            return None;
        }
        let delay = penalty(most, memory.cycles);
        let apart = penalty(most_if(None), memory.cycles);
        // Only an instruction that accesses memory meets it: that of the last request.
        let (more, from) = (delay - apart, self.ledger.asked_at() + 1);
        self.ledger.record(CacheEvent::ArbitrationConflictCycle, more, (from, from + more));
        Some(delay)
    }
}
