//! The hardware prototype's main register file: banks and the write pool in front, one access at a
//! time.
//!
//! Models: for each access, the first clock in which its resources are free, and what it does then
//! to the pool and the banks.
//! Does not model: values, and the constant number of clocks from there to the response, which the
//! hardware needs for its pipeline.
//! Source: the contract in `docs/hw/main_register_file.md`; `docs/MODEL.md`, rules 28 to 30.

use super::outcome::MainOutcome;
pub use super::regmap::MainAccess;
use super::settings::Settings;
use crate::split_bank_write::{Cycle, SplitBankWrite, Subarray};
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::{PoolEntry, PoolRead, PoolTooLarge, PoolWrite, WritePool};

/// Banks of the main register file.
pub const BANKS: u32 = 16;

/// Clocks that a read takes its bank.
const READ_CYCLES: u8 = 1;

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MainRequest {
    /// What to do.
    pub access: MainAccess,
    /// The warp. Range: below the prototype's warps.
    pub warp: u8,
    /// Of a read or write. Range: below the registers of a warp.
    pub register: RegisterId,
    /// Lanes of a read or write. Not empty.
    pub lanes: LaneMask,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MainResponse {
    /// Where it was served.
    pub outcome: MainOutcome,
    /// Entries of the pool that were demoted or given up.
    pub count: u8,
    /// A bank was read in one subarray while it was written in the other.
    pub beside_write: bool,
    /// The entry of the pool that its bank was written with.
    pub replaced: Option<PoolEntry>,
}

impl MainResponse {
    /// The outcome of an access without effect.
    pub const NOTHING: Self = Self::of(MainOutcome::Nothing);

    const fn of(outcome: MainOutcome) -> Self {
        Self { outcome, count: 0, beside_write: false, replaced: None }
    }
}

impl Default for MainResponse {
    fn default() -> Self {
        Self::NOTHING
    }
}

/// Where the main register file has a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The bank. Range: below [`BANKS`].
    pub bank: usize,
    /// The row of the bank.
    pub row: usize,
}

impl Place {
    /// Registers are numbered through all warps, and banks take turns.
    const fn of(warp: u8, register: RegisterId, registers_per_warp: u32) -> Self {
        let number = warp as u32 * registers_per_warp + register.0 as u32;
        Self { bank: (number % BANKS) as usize, row: (number / BANKS) as usize }
    }

    /// Rows take turns.
    const fn subarray(self) -> Subarray {
        (self.row % 2) as Subarray
    }
}

/// Banks, and a pool of up to `POOL` entries before them.
#[derive(Clone, Debug)]
pub struct MainRegisterFile<const POOL: usize, C = u64> {
    banks: SplitBankWrite<C>,
    pool: Option<WritePool<POOL>>,
    registers_per_warp: u32,
}

impl<const POOL: usize, C: Cycle> MainRegisterFile<POOL, C> {
    /// Idle banks and an empty pool, or the pool's error. Write cycles and registers of a warp must
    /// be in their ranges.
    pub fn new(settings: &Settings) -> Result<Self, PoolTooLarge> {
        let pool = match settings.write_pool_entries {
            0 => None,
            entries => match WritePool::new(entries) {
                Ok(pool) => Some(pool),
                Err(error) => return Err(error),
            },
        };
        let Settings { write_cycles, split_bank_write, registers_per_warp, .. } = *settings;
        Ok(Self {
            banks: SplitBankWrite::new(READ_CYCLES, write_cycles, split_bank_write),
            pool,
            registers_per_warp: registers_per_warp as u32,
        })
    }

    /// Where a register is.
    pub const fn place(&self, warp: u8, register: RegisterId) -> Place {
        Place::of(warp, register, self.registers_per_warp)
    }

    /// The write pool; `None` without one.
    pub const fn pool(&self) -> Option<&WritePool<POOL>> {
        self.pool.as_ref()
    }

    /// Counts clocks from `now` on, which is clock 0 then.
    pub(super) fn count_from(&mut self, now: C) {
        self.banks.count_from(now);
    }

    /// What the banks are doing.
    pub const fn banks(&self) -> &SplitBankWrite<C> {
        &self.banks
    }

    /// Makes the access at clock `first`, or at the first clock after it in which its resources are
    /// free. Returns that clock. Accesses are made in order, one a clock at most.
    #[inline]
    pub fn serve(&mut self, request: MainRequest, first: C) -> (C, MainResponse) {
        match request.access {
            MainAccess::Read => self.serve_read(request, first),
            MainAccess::Write => self.serve_write(request, first),
            MainAccess::Demote | MainAccess::Drop => (first, self.move_entries(request)),
            MainAccess::Nothing => (first, MainResponse::NOTHING),
        }
    }

    /// A read of [`Self::serve`].
    #[inline]
    pub(super) fn serve_read(&mut self, request: MainRequest, first: C) -> (C, MainResponse) {
        let Some(pool) = &mut self.pool else {
            return self.read_bank(request, first, MainOutcome::Bank);
        };
        let outcome = match pool.read(request.warp, request.register, request.lanes) {
            PoolRead::Miss => MainOutcome::Bank,
            PoolRead::PartialHit => MainOutcome::PoolPartialHit,
            PoolRead::Hit => {
                let outcome = MainOutcome::PoolHit;
                return (first, MainResponse { outcome, ..MainResponse::NOTHING });
            }
        };
        self.read_bank(request, first, outcome)
    }

    /// A write of [`Self::serve`].
    #[inline]
    pub(super) fn serve_write(&mut self, request: MainRequest, first: C) -> (C, MainResponse) {
        let MainRequest { warp, register, lanes, .. } = request;
        let (banks, registers_per_warp) = (&mut self.banks, self.registers_per_warp);
        let mut now = first;
        let mut write_bank = |warp, register| {
            let place = Place::of(warp, register, registers_per_warp);
            while !start_write(banks, place, now) {
                now = now + C::from(1);
            }
        };
        let Some(pool) = &mut self.pool else {
            write_bank(warp, register);
            let outcome = MainOutcome::Bank;
            return (now, MainResponse { outcome, ..MainResponse::NOTHING });
        };
        let written = pool.write(warp, register, lanes, |victim| {
            write_bank(victim.warp, victim.register);
            true
        });
        let (outcome, replaced) = match written {
            PoolWrite::Hit => (MainOutcome::PoolHit, None),
            PoolWrite::Allocated => (MainOutcome::PoolAllocation, None),
            PoolWrite::Replaced(victim) | PoolWrite::Blocked(victim) => {
                (MainOutcome::PoolReplacement, Some(victim))
            }
        };
        (now, MainResponse { outcome, replaced, ..MainResponse::NOTHING })
    }

    #[inline]
    fn read_bank(
        &mut self,
        request: MainRequest,
        first: C,
        outcome: MainOutcome,
    ) -> (C, MainResponse) {
        let mut now = first;
        let place = self.place(request.warp, request.register);
        while !self.banks.can_read(place.bank, place.subarray(), now) {
            now = now + C::from(1);
        }
        let beside_write = self.banks.write_busy(place.bank, now) > C::from(0);
        self.banks.read(place.bank, place.subarray(), now);
        (now, MainResponse { outcome, beside_write, ..MainResponse::NOTHING })
    }

    pub(super) fn move_entries(&mut self, request: MainRequest) -> MainResponse {
        let Some(pool) = &mut self.pool else { return MainResponse::NOTHING };
        let count = if request.access == MainAccess::Drop {
            pool.drop_warp(request.warp)
        } else {
            pool.demote(request.warp);
            pool.entries_of(request.warp)
        };
        let outcome = if count == 0 { MainOutcome::Nothing } else { MainOutcome::PoolMoved };
        MainResponse { outcome, count: count as u8, ..MainResponse::NOTHING }
    }
}

/// Whether the write could start, and has.
fn start_write<C: Cycle>(banks: &mut SplitBankWrite<C>, place: Place, now: C) -> bool {
    let can = banks.can_write(place.bank, place.subarray(), now);
    if can {
        banks.write(place.bank, place.subarray(), now);
    }
    can
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: LaneMask = LaneMask(0xf);
    const LOW: LaneMask = LaneMask(0x3);
    const HIGH: LaneMask = LaneMask(0xc);

    /// Warps of 32 registers, so that registers `r`, `r + 16` and those of the next warp share a
    /// bank, and rows of one warp have both subarrays.
    fn file(pool: u8, split: bool, write_cycles: u8) -> MainRegisterFile<4> {
        let settings = Settings {
            cache: None,
            write_pool_entries: pool,
            split_bank_write: split,
            write_cycles,
            registers_per_warp: 32,
        };
        MainRegisterFile::new(&settings).unwrap()
    }

    /// The outcome of an access at this clock; none, without any change, if it has to wait.
    fn ask(
        file: &mut MainRegisterFile<4>,
        access: MainAccess,
        (warp, register): (u8, u16),
        lanes: LaneMask,
        now: u64,
    ) -> Option<MainResponse> {
        let mut then = file.clone();
        let request = MainRequest { access, warp, register: RegisterId(register), lanes };
        let (clock, response) = then.serve(request, now);
        (clock == now).then(|| {
            *file = then;
            response
        })
    }

    fn outcome(response: Option<MainResponse>) -> Option<MainOutcome> {
        response.map(|response| response.outcome)
    }

    /// Writes all lanes.
    fn write(file: &mut MainRegisterFile<4>, of: (u8, u16), now: u64) -> Option<MainOutcome> {
        outcome(ask(file, MainAccess::Write, of, ALL, now))
    }

    /// Reads all lanes.
    fn read(file: &mut MainRegisterFile<4>, of: (u8, u16), now: u64) -> Option<MainOutcome> {
        outcome(ask(file, MainAccess::Read, of, ALL, now))
    }

    fn replaced(file: &mut MainRegisterFile<4>, of: (u8, u16), now: u64) -> Option<(u8, u16)> {
        let response = ask(file, MainAccess::Write, of, ALL, now)?;
        assert_eq!(response.outcome, MainOutcome::PoolReplacement);
        response.replaced.map(|entry| (entry.warp, entry.register.0))
    }

    #[test]
    fn registers_are_numbered_through_all_warps() {
        let file = file(0, false, 1);
        let place = |warp, register| {
            let place = file.place(warp, RegisterId(register));
            (place.bank, place.row, place.subarray())
        };
        assert_eq!(place(0, 0), (0, 0, 0));
        assert_eq!(place(0, 17), (1, 1, 1));
        assert_eq!(place(3, 31), (15, 7, 1));
        assert_eq!(place(7, 5), (5, 14, 0));
    }

    #[test]
    fn without_a_pool_writes_go_to_the_banks() {
        for split in [false, true] {
            let mut file = file(0, split, 3);
            assert_eq!(write(&mut file, (0, 1), 10), Some(MainOutcome::Bank));
            // Another bank; the same bank, either subarray.
            assert_eq!(write(&mut file, (0, 2), 11), Some(MainOutcome::Bank));
            assert_eq!(write(&mut file, (0, 17), 12), None);
            assert_eq!(write(&mut file, (1, 1), 12), None);
            assert_eq!(write(&mut file, (1, 1), 13), Some(MainOutcome::Bank));
            assert!(file.pool().is_none());
        }
    }

    #[test]
    fn a_read_waits_for_the_write_of_its_bank_or_of_its_subarray() {
        for split in [false, true] {
            let mut file = file(0, split, 4);
            write(&mut file, (0, 1), 10);
            assert_eq!(read(&mut file, (1, 1), 13), None);
            let other = ask(&mut file, MainAccess::Read, (0, 17), ALL, 13);
            assert_eq!(other.is_some(), split);
            assert_eq!(other.is_some_and(|response| response.beside_write), split);
            let after = ask(&mut file, MainAccess::Read, (1, 1), ALL, 14).unwrap();
            assert_eq!((after.outcome, after.beside_write), (MainOutcome::Bank, false));
            // A write that follows a read finds its bank free.
            assert_eq!(write(&mut file, (0, 1), 15), Some(MainOutcome::Bank));
        }
    }

    #[test]
    fn writes_of_one_cycle_hold_nothing_up() {
        let mut file = file(0, false, 1);
        for now in 0..4 {
            assert_eq!(write(&mut file, (0, 1), 2 * now), Some(MainOutcome::Bank));
            assert_eq!(read(&mut file, (0, 1), 2 * now + 1), Some(MainOutcome::Bank));
        }
    }

    #[test]
    fn the_pool_takes_writes_and_serves_their_reads_without_a_bank() {
        let mut file = file(2, false, 15);
        assert_eq!(write(&mut file, (0, 1), 0), Some(MainOutcome::PoolAllocation));
        assert_eq!(write(&mut file, (0, 1), 1), Some(MainOutcome::PoolHit));
        assert_eq!(read(&mut file, (0, 1), 2), Some(MainOutcome::PoolHit));
        // A miss allocates nothing.
        assert_eq!(read(&mut file, (1, 1), 3), Some(MainOutcome::Bank));
        assert_eq!(read(&mut file, (1, 1), 4), Some(MainOutcome::Bank));
        assert_eq!(file.pool().unwrap().entries().count(), 1);
        assert_eq!(file.banks().write_busy(1, 4), 0);
    }

    #[test]
    fn a_replacement_waits_for_the_bank_of_the_victim() {
        for split in [false, true] {
            let mut file = file(2, split, 4);
            write(&mut file, (0, 1), 0);
            write(&mut file, (0, 17), 1);
            assert_eq!(replaced(&mut file, (0, 2), 2), Some((0, 1)));
            // Two writes of one bank never overlap, in whichever subarray.
            assert_eq!(write(&mut file, (0, 3), 3), None);
            assert_eq!(write(&mut file, (0, 3), 5), None);
            // Nothing has changed: a hit needs no bank.
            assert_eq!(write(&mut file, (0, 2), 5), Some(MainOutcome::PoolHit));
            assert_eq!(replaced(&mut file, (0, 3), 6), Some((0, 17)));
        }
    }

    #[test]
    fn a_partial_hit_needs_its_bank_as_well() {
        for split in [false, true] {
            let mut file = file(1, split, 3);
            write(&mut file, (0, 17), 0);
            // Replaces register 17, whose bank is busy in subarray 1 up to clock 3.
            let low = ask(&mut file, MainAccess::Write, (0, 1), LOW, 1);
            assert_eq!(outcome(low), Some(MainOutcome::PoolReplacement));
            assert_eq!(
                outcome(ask(&mut file, MainAccess::Read, (0, 1), LOW, 2)),
                Some(MainOutcome::PoolHit)
            );
            let all = ask(&mut file, MainAccess::Read, (0, 1), ALL, 3);
            let partial = MainResponse {
                outcome: MainOutcome::PoolPartialHit,
                beside_write: true,
                ..MainResponse::NOTHING
            };
            assert_eq!(all, split.then_some(partial));
            let high = ask(&mut file, MainAccess::Read, (0, 1), HIGH, 4);
            assert_eq!(outcome(high), Some(MainOutcome::Bank));
        }
    }

    #[test]
    fn a_partial_hit_that_waits_is_not_yet_a_use() {
        let mut file = file(3, false, 5);
        write(&mut file, (0, 16), 0);
        ask(&mut file, MainAccess::Write, (1, 0), LOW, 1);
        write(&mut file, (0, 2), 2);
        // Register 16 of bank 0 leaves; then the oldest is that of warp 1, of bank 0 too.
        assert_eq!(replaced(&mut file, (0, 3), 3), Some((0, 16)));
        assert_eq!(read(&mut file, (1, 0), 4), None);
        assert_eq!(read(&mut file, (1, 0), 7), None);
        assert_eq!(replaced(&mut file, (0, 4), 8), Some((1, 0)));
        assert_eq!(write(&mut file, (1, 0), 9), Some(MainOutcome::PoolReplacement));
        // The read, once made, is a use.
        let mut file = self::file(2, false, 5);
        ask(&mut file, MainAccess::Write, (1, 0), LOW, 1);
        write(&mut file, (0, 2), 2);
        assert_eq!(read(&mut file, (1, 0), 3), Some(MainOutcome::PoolPartialHit));
        assert_eq!(replaced(&mut file, (0, 3), 4), Some((0, 2)));
    }

    #[test]
    fn a_demoted_warp_goes_first_and_an_ended_one_is_given_up() {
        let mut file = file(3, false, 1);
        write(&mut file, (1, 1), 0);
        write(&mut file, (0, 1), 1);
        write(&mut file, (0, 2), 2);
        let moved = |count| {
            Some(MainResponse { outcome: MainOutcome::PoolMoved, count, ..MainResponse::NOTHING })
        };
        let nothing = Some(MainResponse::NOTHING);
        assert_eq!(ask(&mut file, MainAccess::Demote, (0, 0), ALL, 3), moved(2));
        assert_eq!(ask(&mut file, MainAccess::Demote, (2, 0), ALL, 4), nothing);
        assert_eq!(replaced(&mut file, (2, 1), 5), Some((0, 1)));
        assert_eq!(ask(&mut file, MainAccess::Drop, (0, 0), ALL, 6), moved(1));
        assert_eq!(ask(&mut file, MainAccess::Drop, (0, 0), ALL, 7), nothing);
        assert_eq!(write(&mut file, (0, 2), 8), Some(MainOutcome::PoolAllocation));
        assert_eq!(ask(&mut file, MainAccess::Nothing, (0, 2), ALL, 9), nothing);
        let mut file = self::file(0, false, 1);
        for access in [MainAccess::Demote, MainAccess::Drop] {
            assert_eq!(ask(&mut file, access, (0, 0), ALL, 0), nothing);
        }
    }

    #[test]
    fn a_pool_that_is_too_large_is_refused() {
        let settings = Settings {
            cache: None,
            write_pool_entries: 5,
            split_bank_write: false,
            write_cycles: 1,
            registers_per_warp: 1,
        };
        let error = MainRegisterFile::<4>::new(&settings).unwrap_err();
        assert_eq!(error, PoolTooLarge { entries: 5, limit: 4 });
    }
}
