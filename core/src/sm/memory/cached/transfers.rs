//! Transfers: what moves between the primary data cache and what lies below it, and when it comes.

use super::{CachedMemory, Transfers};
use crate::sm::memory::arbitration::Fill;
use crate::sm::memory::cache_counters::CacheEvent;
use crate::sm::memory::listed::LineUse;
use crate::sm::memory::lower::{FetchId, Fetched, LowerMemory, Purpose, There, Transfer};
use crate::sm::memory::touched::{LINE_BYTES, LOGICAL_BANKS, TouchedLine};
use crate::sm::memory::waiting::Coming;
use crate::sm::memory::{MemoryCounters, MemoryStep, Ticket};
use crate::sm::observe::{Observation, SmObserver};

/// What is told of a line that comes.
const fn filled(line: TouchedLine, asked: Ticket, cycle: u64) -> Observation {
    Observation::Fill { line, place: asked.warp, pc: asked.pc, cycle }
}

impl<O: SmObserver, L: LowerMemory> CachedMemory<'_, '_, O, L> {
    /// A line that has missed comes from below.
    pub(super) fn fetch(
        &mut self,
        line_use: LineUse,
        (line, key): (TouchedLine, u64),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) {
        let (rows, whole, purpose) = (line.row_mask(), line.is_whole(), Purpose::Fill);
        let of = transfers.ticket;
        let transfer = Transfer { key, rows, whole, purpose, bytes: LINE_BYTES, at, of };
        let waits = line_use == LineUse::Load;
        let fill = (CacheEvent::FillByte, line, waits);
        let arrives = self.transfer(fill, &transfer, transfers, counters);
        self.fill((line, key), arrives);
        if let Some(mshrs) = &mut self.mshrs {
            mshrs.take(key, arrives);
        }
    }

    /// The cache allocates a line that has missed, and whose data comes.
    fn fill(&mut self, (line, key): (TouchedLine, u64), arrives: u64) {
        self.cache.allocate(key, arrives, ());
        if L::LATE && FetchId::of_arrival(arrives).is_some() {
            return;
        }
        if self.arbitrates() {
            let bank = (line.number() % LOGICAL_BANKS as u64) as u8;
            self.arbitration.push_fill(Fill { key, bank, arrives });
        }
        self.ledger.tell(|asked| filled(line, asked, arrives));
    }

    /// Moves the rows of a line past the cache.
    pub(super) fn move_past(
        &mut self,
        line_use: LineUse,
        (event, line, key): (CacheEvent, TouchedLine, u64),
        at: u64,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) {
        let purpose = match line_use {
            LineUse::Load | LineUse::BypassLoad => Purpose::Read,
            LineUse::Store | LineUse::BypassStore => Purpose::Write,
            LineUse::Atomic => Purpose::Atomic,
        };
        let bytes = line.bytes_in(self.settings.transaction_bytes);
        let (rows, whole) = (line.row_mask(), line.is_whole());
        let transfer = Transfer { key, rows, whole, purpose, bytes, at, of: transfers.ticket };
        self.transfer((event, line, true), &transfer, transfers, counters);
    }

    /// Moves bytes of a line from or to what lies below; `waits` says that the access waits for
    /// them. Returns when the data is there, or what stands for that in a tag.
    #[inline]
    fn transfer(
        &mut self,
        (event, line, waits): (CacheEvent, TouchedLine, bool),
        transfer: &Transfer,
        transfers: &mut Transfers,
        counters: &mut MemoryCounters<'_>,
    ) -> u64 {
        let moved = self.lower.transfer(transfer, counters);
        let cycles = (moved.from, moved.until);
        self.ledger.record_line(event, transfer.bytes.into(), line, cycles);
        let begin = transfers.cycles.map_or(moved.from, |(begin, _)| begin);
        transfers.cycles = Some((begin, moved.until));
        match moved.there {
            There::At(cycle) => {
                transfers.arrival = transfers.arrival.max(cycle);
                cycle
            }
            There::Later { fetch, from } => {
                let fills = transfer.purpose == Purpose::Fill;
                let fills = fills.then_some((line, transfers.ticket));
                self.waiting.wait_for((fetch, from), transfer.key, fills, waits);
                transfers.later += u16::from(waits);
                fetch.arrival()
            }
        }
    }

    /// What lies below goes on to the end of a cycle; lines come.
    // Apart from memories of which it is known when data comes, which are faster.
    #[inline(never)]
    pub(super) fn step_lower(&mut self, step: &mut dyn MemoryStep) {
        let now = step.now();
        loop {
            self.lower.step(now, &mut step.counters(), self.ledger.observer());
            let Some(first) = self.lower.next_fetched() else { return };
            let mut next = Some(first);
            while let Some(line) = next {
                self.come(Fetched { at: line.at.max(now + 1), ..line }, step);
                next = self.lower.next_fetched();
            }
        }
    }

    /// It is known when a line comes.
    fn come(&mut self, line: Fetched, step: &mut dyn MemoryStep) {
        let Self { waiting, cache, mshrs, ledger, .. } = self;
        let arrival = line.fetch.arrival();
        waiting.come(line, |Coming { at, key, fills, done }| {
            if let Some((line, asked)) = fills {
                cache.arrive(key, arrival, at);
                if let Some(mshrs) = mshrs {
                    mshrs.arrive(key, arrival, at);
                }
                ledger.turn_to(Some(asked));
                ledger.tell(|asked| filled(line, asked, at));
            }
            if let Some((ticket, at)) = done {
                step.arrive(ticket, at);
            }
        });
    }
}
