//! What the arbiter of an operand collector lets happen in a cycle: it is counted, told, and the
//! operands and results come.

use super::collectors::{CollectorUnits, ResultOnItsWay};
use super::expanded::count_read;
use super::requests::cause;
use crate::access::Access;
use crate::arbiter::{Granted, ReadGrant, WriteGrant, WriteTarget};
use crate::datapath::Datapath;
use crate::event::Event;
use crate::sm::counters::{CycleEvent, SmCounters};
use crate::sm::expansion::counters::ExpansionEvent;
use crate::sm::expansion::hardware::BANKS;
use crate::sm::expansion::prefetcher::Prefetcher;
use crate::sm::observe::{ExpansionObservation, Observation, SmObserver, WriteCause};
use crate::sm::scoreboard::Scoreboard;
use crate::tally::event;
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::PoolRead;

/// What a write is counted as when it goes to the write pool.
const fn in_pool(event: Event) -> Event {
    match event {
        Event::RfcWritebackEviction | Event::RfcWritebackFlush => Event::RfcToWritePool,
        Event::LrfWritebackEviction | Event::LrfWritebackFlush => Event::LrfToWritePool,
        Event::MrfWriteShared => Event::WritePoolWriteShared,
        _ => Event::WritePoolWritePrivate,
    }
}

/// What the arrival of a register changes.
pub(super) struct Comings<'s, 'm> {
    pub(super) scoreboard: &'s mut Scoreboard<'m>,
    pub(super) results: &'s mut [ResultOnItsWay],
    /// Warps for which something has come.
    pub(super) moved: u64,
}

impl Comings<'_, '_> {
    /// A register is there from cycle `at` on.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn come(&mut self, index: usize, (warp, register): (usize, usize), at: u64) {
        let result = &self.results[index];
        self.scoreboard.arrive(warp, register, (at, result.wait), result.long);
        self.moved |= 1 << warp;
    }
}

/// Follows what the arbiter lets happen; `PLAIN` says what the arbiter is.
pub(super) struct Accesses<'s, 'm, O, const PLAIN: bool> {
    pub(super) now: u64,
    pub(super) counters: &'s mut SmCounters,
    pub(super) observer: &'s mut O,
    pub(super) units: &'s mut CollectorUnits,
    /// Of registers that lie in scratchpad memory.
    pub(super) prefetcher: &'s mut Option<Prefetcher>,
    /// Banks of the main register file.
    pub(super) main_banks: u8,
    pub(super) comings: Comings<'s, 'm>,
}

impl<O: SmObserver, const PLAIN: bool> Accesses<'_, '_, O, PLAIN> {
    fn tell_write(&mut self, bank: u8, place: u8, register: RegisterId, cause: WriteCause) {
        if O::LISTENS {
            let cycle = self.now;
            let write = Observation::BankWrite { bank, place, register, cycle, cause };
            self.observer.observe(write);
        }
    }

    /// An operand comes from the operand cache.
    #[cold]
    fn read_operand_cache(&mut self, grant: &ReadGrant) {
        count_read(&mut self.counters.expansion, grant.datapath == Datapath::Shared);
        self.tell_expansion(ExpansionObservation::Read {
            place: grant.warp,
            register: grant.register,
        });
        self.units.receive(grant.unit, grant.until);
    }

    /// A result goes to the operand cache, or one of a long-latency operation to scratchpad memory.
    #[cold]
    fn write_elsewhere(&mut self, grant: &WriteGrant) {
        let (place, register) = (grant.warp, grant.register);
        if grant.bank == self.main_banks + BANKS as u8 {
            self.counters.expansion.record(ExpansionEvent::ScratchpadResult, 1);
            self.tell_expansion(ExpansionObservation::Arrives { place, register });
            return;
        }
        self.counters.expansion.record(ExpansionEvent::OperandCacheWrite, 1);
        if let Some(prefetcher) = self.prefetcher {
            prefetcher.write(place, register);
        }
        self.tell_expansion(ExpansionObservation::Write { place, register });
    }

    fn tell_expansion(&mut self, event: ExpansionObservation) {
        if O::LISTENS {
            self.observer.observe(Observation::Expansion { cycle: self.now, event });
        }
    }
}

impl<O: SmObserver, const PLAIN: bool> Granted for Accesses<'_, '_, O, PLAIN> {
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn read(&mut self, grant: ReadGrant) {
        if grant.beside_write {
            self.counters.record(CycleEvent::SplitBankRead, 1);
        }
        if !PLAIN && grant.bank >= self.main_banks {
            self.read_operand_cache(&grant);
            return;
        }
        let main = event(Access::MrfRead, grant.datapath);
        let pool = match grant.datapath {
            Datapath::Private => Event::WritePoolReadPrivate,
            Datapath::Shared => Event::WritePoolReadShared,
        };
        let accesses = &mut self.counters.accesses;
        match grant.pool {
            PoolRead::Miss => accesses.record(main, 1),
            PoolRead::Hit => accesses.record(pool, 1),
            PoolRead::PartialHit => {
                accesses.record(main, 1);
                accesses.record(pool, 1);
                accesses.record(Event::WritePoolPartialHit, 1);
            }
        }
        if O::LISTENS && grant.pool != PoolRead::Hit {
            let (bank, from, until) = (grant.bank, self.now, grant.until);
            let (place, pc) = (grant.warp, self.units.pc(grant.unit));
            self.observer.observe(Observation::BankRead { bank, place, pc, from, until });
        }
        self.units.receive(grant.unit, grant.until);
    }

    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn write(&mut self, grant: WriteGrant) -> LaneMask {
        if grant.waited != 0 {
            self.counters.record(CycleEvent::WriteDelay, grant.waited);
        }
        let (warp, register) = (usize::from(grant.warp), usize::from(grant.register.0));
        let result = &mut self.comings.results[grant.index];
        let ResultOnItsWay { event, flushed, .. } = *result;
        let more = result.next_write();
        if more.is_empty() {
            if flushed {
                self.comings.scoreboard.under_way_mut(warp).end_flush();
            }
            self.comings.come(grant.index, (warp, register), grant.until);
        }
        if !PLAIN && grant.bank >= self.main_banks {
            self.write_elsewhere(&grant);
            return more;
        }
        let accesses = &mut self.counters.accesses;
        match grant.target {
            WriteTarget::Bank => {
                accesses.record(event, 1);
                self.tell_write(grant.bank, grant.warp, grant.register, cause(event));
                return more;
            }
            WriteTarget::PoolHit => accesses.record(Event::WritePoolWriteHit, 1),
            WriteTarget::PoolAllocation => accesses.record(Event::WritePoolAllocation, 1),
            WriteTarget::PoolReplacement { victim, bank } => {
                accesses.record(Event::WritePoolAllocation, 1);
                accesses.record(Event::WritePoolWriteback, 1);
                self.tell_write(bank, victim.warp, victim.register, WriteCause::WritePool);
            }
        }
        self.counters.accesses.record(in_pool(event), 1);
        more
    }
}
