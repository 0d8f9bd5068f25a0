//! Sequencer: runs a batch of commands through the register file cache and the main register file
//! behind it, in order.
//!
//! Models: the outcome of each command, the clock in which it stands, and every counter. The cache
//! takes a command, and each of its answers takes a turn at the main register file: one clock after
//! the turn before, or later if it waits for a bank. All other stages only add a constant latency.
//! Commands stay in order, so each turn follows from the one before without stepping through the
//! clocks between.
//! Does not model: values, which the hardware moves; the queues around the sequencer.
//! Source: the contract in `docs/hw/access_sequencer.md`.

use super::cache_block::{CacheBlock, CacheOutcome, Response, Victim};
use super::command::{Command, Operation};
use super::counters::{COUNTERS, Counter, PrototypeCounters};
use super::main_register_file::{MainAccess, MainRegisterFile, MainRequest, MainResponse};
use super::outcome::{MainOutcome, Outcome};
use super::regmap::{OpCode, field};
use super::settings::{REGISTERS, Settings};
use crate::register_file_cache::ConfigError;
use crate::units::{LaneMask, RegisterId};
use crate::write_pool::PoolTooLarge;

/// Clocks from the one in which a command is taken to the one in which its outcome is there,
/// without waits.
pub const LATENCY: u64 = 7;

/// Clocks after which the banks are idle after any write: a batch starts as if that many had passed
/// since the last one.
const DRAIN: u32 = 16;

/// The clock after which the count of clocks starts again. No command takes as many clocks as
/// remain from it to the end of the range.
const RESTART: u32 = u32::MAX / 2 + 1;

/// Settings that are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The register file cache's.
    Cache(ConfigError),
    /// The write pool's.
    WritePool(PoolTooLarge),
    /// Cycles of a write outside of 1 to 15.
    WriteCycles(u8),
    /// Registers of a warp: none, or more than fit.
    Registers {
        /// Requested.
        requested: u8,
        /// The most that fit.
        limit: u16,
    },
}

impl core::fmt::Display for SettingsError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Cache(error) => write!(to, "register file cache: {error}"),
            Self::WritePool(error) => error.fmt(to),
            Self::WriteCycles(cycles) => {
                write!(to, "{cycles} cycles of a bank's write are outside the range 1 to 15")
            }
            Self::Registers { requested, limit } => {
                write!(to, "{requested} registers of a warp are outside the range 1 to {limit}")
            }
        }
    }
}

impl core::error::Error for SettingsError {}

/// The prototype: caches of `WARPS` warps with `CAPACITY` entries each at most, and a main register
/// file with at most `POOL` entries of a write pool.
#[derive(Clone, Debug)]
pub struct Prototype<const WARPS: usize, const CAPACITY: usize, const POOL: usize> {
    settings: Settings,
    cache: Option<CacheBlock<WARPS, CAPACITY>>,
    main: MainRegisterFile<POOL, u32>,
    counters: PrototypeCounters,
    /// Counts that are not yet in them.
    lately: Tally,
    /// A clock in which the banks are idle.
    clock: u32,
}

/// Counts since the last transfer: a small processor counts to 32 bits in half the time.
#[derive(Clone, Debug, Default)]
struct Tally([u32; COUNTERS]);

impl Tally {
    #[inline]
    fn add(&mut self, counter: Counter, count: u32) {
        self.0[counter as usize] += count;
    }
}

impl<const WARPS: usize, const CAPACITY: usize, const POOL: usize>
    Prototype<WARPS, CAPACITY, POOL>
{
    /// Builds it as after a reset, or says why it cannot be.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let cycles = settings.write_cycles;
        if !(1..=15).contains(&cycles) {
            return Err(SettingsError::WriteCycles(cycles));
        }
        let limit = if WARPS == 0 { REGISTERS } else { REGISTERS / WARPS as u16 }.min(255);
        let requested = settings.registers_per_warp;
        if requested == 0 || u16::from(requested) > limit {
            return Err(SettingsError::Registers { requested, limit });
        }
        let cache =
            settings.cache.map(CacheBlock::new).transpose().map_err(SettingsError::Cache)?;
        let main = MainRegisterFile::new(&settings).map_err(SettingsError::WritePool)?;
        let counters = PrototypeCounters::default();
        Ok(Self { settings, cache, main, counters, lately: Tally::default(), clock: 0 })
    }

    /// What it was built with.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The register file cache; `None` without one.
    pub const fn cache(&self) -> Option<&CacheBlock<WARPS, CAPACITY>> {
        self.cache.as_ref()
    }

    /// The main register file.
    pub const fn main_register_file(&self) -> &MainRegisterFile<POOL, u32> {
        &self.main
    }

    /// What was counted since it was built.
    pub const fn counters(&self) -> &PrototypeCounters {
        &self.counters
    }

    /// Runs a batch back to back, from idle banks on: `outcomes[i]` answers `commands[i]`. Returns
    /// the clocks from the one in which the first command is taken to the one in which the last
    /// outcome stands, both included; none for an empty batch.
    ///
    /// Runs as many commands as there is room for outcomes.
    pub fn run(&mut self, commands: &[Command], outcomes: &mut [Outcome]) -> u64 {
        let batch = commands.iter().zip(outcomes);
        self.run_each(batch, Self::step, |word, _| unpacked(word))
    }

    /// Runs a batch as [`Self::run`] does and returns the clocks that it takes. `outcomes[i]` is
    /// the outcome of `commands[i]` and the clock in which it stands, counted from the one in which
    /// the first command was taken.
    pub fn run_timed(&mut self, commands: &[Command], outcomes: &mut [(Outcome, u64)]) -> u64 {
        let batch = commands.iter().zip(outcomes);
        self.run_each(batch, Self::step, |word, clock| (unpacked(word), clock))
    }

    /// Runs a batch as [`Self::run`] does and returns the clocks that it takes. Commands and
    /// outcomes are packed: one word each.
    pub fn run_packed(&mut self, commands: &[u32], outcomes: &mut [u32]) -> u64 {
        let batch = commands.iter().copied().zip(outcomes);
        self.run_each(batch, Self::step_packed, |word, _| word)
    }

    #[inline]
    fn run_each<'a, C, T: 'a>(
        &mut self,
        batch: impl Iterator<Item = (C, &'a mut T)>,
        mut step: impl FnMut(&mut Self, C, u32) -> (u32, u32),
        mut answer: impl FnMut(u32, u64) -> T,
    ) -> u64 {
        // Clocks of the batch up to clock 0 of the banks, and commands up to the last count.
        let mut before = 0;
        let mut clock = self.clock;
        let first = u64::from(clock);
        let mut commands = 0_usize;
        for (command, place) in batch {
            if clock >= RESTART {
                before += u64::from(clock);
                self.main.count_from(clock);
                clock = 0;
                self.count();
            }
            commands += 1;
            let word;
            (word, clock) = step(self, command, clock);
            *place = answer(word, before + u64::from(clock) + LATENCY - 1 - first);
        }
        if commands == 0 {
            return 0;
        }
        let clocks = before + u64::from(clock) + LATENCY - first;
        self.count();
        self.counters.add(Counter::Commands, commands as u64);
        self.counters.add(Counter::Clocks, clocks);
        self.clock = clock + DRAIN;
        clocks
    }

    /// Adds the counts since the last transfer to the counters.
    fn count(&mut self) {
        for (counter, lately) in self.counters.0.iter_mut().zip(&mut self.lately.0) {
            *counter += u64::from(core::mem::take(lately));
        }
    }

    /// Runs one command after one whose turn at the main register file was at `clock`. Returns the
    /// packed outcome and the clock of this command's turn, the last if it has several.
    #[inline]
    fn step(&mut self, command: &Command, clock: u32) -> (u32, u32) {
        let Command { warp, register, lanes, operation } = *command;
        match operation {
            Operation::Read { last_use, more } => {
                self.read(warp, register, lanes, last_use, more, clock + 1)
            }
            Operation::Write => self.write(warp, register, lanes, clock + 1),
            _ => self.step_rare(warp, operation, register, lanes, clock),
        }
    }

    /// Runs one packed command after one whose turn at the main register file was at `clock`.
    /// Returns the packed outcome and the clock of this command's turn, the last if it has several.
    #[inline]
    fn step_packed(&mut self, word: u32, clock: u32) -> (u32, u32) {
        let (warp, register, lanes) = Command::fields(word);
        let code = field::COMMAND_OPERATION.get(word);
        if code == OpCode::Read.code() {
            let (last_use, more) = Command::marks(word);
            self.read(warp, register, lanes, last_use, more, clock + 1)
        } else if code == OpCode::Write.code() {
            self.write(warp, register, lanes, clock + 1)
        } else {
            self.step_rare_packed(word, clock)
        }
    }

    #[inline(never)]
    fn step_rare_packed(&mut self, word: u32, clock: u32) -> (u32, u32) {
        let Command { warp, operation, register, lanes } = Command::unpack(word);
        self.step_rare(warp, operation, register, lanes, clock)
    }

    /// A read, whose turn is at `first` or later.
    // Here and below: functions are split so that each fits the registers of a small processor.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn read(
        &mut self,
        warp: u8,
        register: RegisterId,
        lanes: LaneMask,
        last_use: bool,
        more: bool,
        first: u32,
    ) -> (u32, u32) {
        let Some(cache) = &mut self.cache else {
            return self.read_main(warp, register, lanes, first, 0);
        };
        let operation = Operation::Read { last_use, more };
        let command = Command { warp, operation, register, lanes };
        let response = cache.read(&command, last_use, more);
        let word = packed(&response);
        self.lately.add(cache_reads(response.outcome), 1);
        let missing = response.missing;
        if response.dropped != 0 || cache.is_lru() {
            return self.end_read(warp, register, missing, first, word, response.dropped);
        }
        if missing.is_empty() {
            return (word, first);
        }
        self.read_main(warp, register, missing, first, word)
    }

    /// The rest of a read that changes the order of the cache's ways, or gives some up.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn end_read(
        &mut self,
        warp: u8,
        register: RegisterId,
        missing: LaneMask,
        first: u32,
        word: u32,
        ways: u16,
    ) -> (u32, u32) {
        let mut word = word;
        if let Some(cache) = &mut self.cache {
            let is_miss = field::OUTCOME_CACHE.get(word) == CacheOutcome::Miss.code();
            cache.end_read(warp, (!is_miss).then_some(way(word)), ways);
        }
        if ways != 0 {
            // Mostly it is one.
            let dropped = if ways.is_power_of_two() { 1 } else { ways.count_ones() };
            self.lately.add(Counter::CacheDropped, dropped);
            word |= field::OUTCOME_DROPPED.put(dropped);
        }
        if missing.is_empty() {
            return (word, first);
        }
        self.read_main(warp, register, missing, first, word)
    }

    /// A write, whose turn is at `first` or later.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn write(&mut self, warp: u8, register: RegisterId, lanes: LaneMask, first: u32) -> (u32, u32) {
        let Some(cache) = &mut self.cache else {
            return self.write_main(warp, register, lanes, first, 0);
        };
        let command = Command { warp, operation: Operation::Write, register, lanes };
        if let Some(response) = cache.rewrite(&command) {
            self.lately.add(Counter::CacheWritesInPlace, 1);
            let word = packed(&response);
            return if cache.is_lru() {
                self.end_rewrite(warp, first, word)
            } else {
                (word, first)
            };
        }
        self.write_anew(warp, register, lanes, first)
    }

    /// The rest of a write in place that changes the order of the cache's ways.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn end_rewrite(&mut self, warp: u8, first: u32, word: u32) -> (u32, u32) {
        if let Some(cache) = &mut self.cache {
            cache.touch(warp, way(word));
        }
        (word, first)
    }

    /// A write of a register that the cache does not hold.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn write_anew(
        &mut self,
        warp: u8,
        register: RegisterId,
        lanes: LaneMask,
        first: u32,
    ) -> (u32, u32) {
        let Some(cache) = &mut self.cache else { return (0, first) };
        let command = Command { warp, operation: Operation::Write, register, lanes };
        let response = cache.write_anew(&command);
        let word = packed(&response);
        self.lately.add(Counter::CacheAllocations, 1);
        let Some(Victim { register, lanes, writeback }) = response.victim else {
            return (word, first);
        };
        if !writeback {
            self.lately.add(Counter::CacheDropped, 1);
            return (word | field::OUTCOME_DROPPED.put(1), first);
        }
        self.lately.add(Counter::CacheWritebacksEvicted, 1);
        self.write_main(warp, register, lanes, first, word | field::OUTCOME_WRITEBACKS.put(1))
    }

    /// Reads the main register file, at `first` or later. Adds to a packed outcome, and returns it
    /// with the clock.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn read_main(
        &mut self,
        warp: u8,
        register: RegisterId,
        lanes: LaneMask,
        first: u32,
        word: u32,
    ) -> (u32, u32) {
        let request = MainRequest { access: MainAccess::Read, warp, register, lanes };
        let served = self.main.serve_read(request, first);
        let (clock, MainResponse { outcome, beside_write, .. }) = served;
        if self.main.pool().is_some() {
            let kind = match outcome {
                MainOutcome::PoolHit => Counter::PoolReadsHit,
                MainOutcome::PoolPartialHit => Counter::PoolReadsPartial,
                _ => Counter::PoolReadsMissed,
            };
            self.lately.add(kind, 1);
        }
        if outcome != MainOutcome::PoolHit {
            self.lately.add(Counter::BankReads, 1);
        }
        if beside_write {
            self.lately.add(Counter::ReadsBesideWrite, 1);
        }
        let word = word | field::OUTCOME_MAIN.put(outcome.code());
        if clock == first {
            return (word, clock);
        }
        let waited = clock - first;
        self.lately.add(Counter::ReadWaits, waited);
        (word | waited_field(waited), clock)
    }

    /// Writes the main register file, at `first` or later. Adds to a packed outcome, and returns it
    /// with the clock.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    #[cfg_attr(not(target_pointer_width = "32"), inline)]
    fn write_main(
        &mut self,
        warp: u8,
        register: RegisterId,
        lanes: LaneMask,
        first: u32,
        word: u32,
    ) -> (u32, u32) {
        let request = MainRequest { access: MainAccess::Write, warp, register, lanes };
        let (clock, MainResponse { outcome, .. }) = self.main.serve_write(request, first);
        match outcome {
            MainOutcome::PoolHit => self.lately.add(Counter::PoolWritesHit, 1),
            MainOutcome::PoolAllocation => self.lately.add(Counter::PoolAllocations, 1),
            MainOutcome::PoolReplacement => {
                self.lately.add(Counter::PoolReplacements, 1);
                self.lately.add(Counter::BankWrites, 1);
            }
            _ => self.lately.add(Counter::BankWrites, 1),
        }
        let word = word | field::OUTCOME_MAIN.put(outcome.code());
        if clock == first {
            return (word, clock);
        }
        let waited = clock - first;
        self.lately.add(Counter::WriteWaits, waited);
        (word | waited_field(waited), clock)
    }

    /// Any command but a read or write, in as many steps as it takes.
    #[inline(never)]
    fn step_rare(
        &mut self,
        warp: u8,
        operation: Operation,
        register: RegisterId,
        lanes: LaneMask,
        clock: u32,
    ) -> (u32, u32) {
        let command = Command { warp, operation, register, lanes };
        let (mut outcome, mut main, mut waited) = (Outcome::default(), 0, 0);
        let mut clock = clock;
        loop {
            let (request, last) = match &mut self.cache {
                Some(cache) => {
                    let response = cache.step_rare(&command);
                    count_cache(&mut self.lately, command.operation, &response);
                    note(&mut outcome, &response);
                    (behind_cache(&command, &response), response.last)
                }
                None => (without_cache(&command), true),
            };
            let MainRequest { access, warp, register, lanes } = request;
            let mut word = 0;
            clock += 1;
            match access {
                MainAccess::Write => {
                    (word, clock) = self.write_main(warp, register, lanes, clock, word);
                }
                MainAccess::Demote | MainAccess::Drop => {
                    let moved = self.move_entries(request);
                    word = field::OUTCOME_MAIN.put(moved.outcome.code());
                    if access == MainAccess::Drop {
                        outcome.dropped = moved.count;
                    }
                }
                MainAccess::Read | MainAccess::Nothing => {}
            }
            if access != MainAccess::Nothing {
                main = word & field::OUTCOME_MAIN.mask();
                waited += field::OUTCOME_WAITED.get(word);
            }
            if last {
                outcome.waited = waited.min(field::OUTCOME_WAITED.largest()) as u8;
                return (outcome.pack() | main, clock);
            }
        }
    }

    /// Moves a warp's entries of the write pool.
    fn move_entries(&mut self, request: MainRequest) -> MainResponse {
        let moved = self.main.move_entries(request);
        let counter = if request.access == MainAccess::Drop {
            Counter::PoolDropped
        } else {
            Counter::PoolDemotions
        };
        self.lately.add(counter, moved.count.into());
        moved
    }
}

/// The fields of a packed outcome of [`Prototype::step`].
#[inline]
fn unpacked(word: u32) -> Outcome {
    // It is one.
    Outcome::unpack(word).unwrap_or_default()
}

/// A cache's part of a packed outcome: what became of it, and the way.
#[inline]
const fn packed(response: &Response) -> u32 {
    field::OUTCOME_CACHE.put(response.outcome.code()) | field::OUTCOME_WAY.put(response.way as u32)
}

/// The way of a packed outcome.
#[inline]
const fn way(word: u32) -> u8 {
    field::OUTCOME_WAY.get(word) as u8
}

/// The clocks that a packed outcome's access waited, cut to the field.
#[inline]
fn waited_field(clocks: u32) -> u32 {
    field::OUTCOME_WAITED.put(clocks.min(field::OUTCOME_WAITED.largest()))
}

/// The counter of a read after the cache's look-up.
#[inline]
const fn cache_reads(outcome: CacheOutcome) -> Counter {
    match outcome {
        CacheOutcome::Hit => Counter::CacheReadsHit,
        CacheOutcome::PartialHit => Counter::CacheReadsPartial,
        _ => Counter::CacheReadsMissed,
    }
}

/// The access of the main register file that follows from a command after the cache.
#[inline]
fn behind_cache(command: &Command, response: &Response) -> MainRequest {
    let alone = without_cache(command);
    match (command.operation, response.victim) {
        (Operation::Bypass | Operation::Demote | Operation::Drop, _) => alone,
        (Operation::Read { .. }, _) if !response.missing.is_empty() => {
            MainRequest { lanes: response.missing, ..alone }
        }
        (_, Some(Victim { register, lanes, writeback: true })) => {
            MainRequest { access: MainAccess::Write, register, lanes, ..alone }
        }
        _ => MainRequest { access: MainAccess::Nothing, ..alone },
    }
}

/// The access of the main register file that a command is without a cache.
const fn without_cache(command: &Command) -> MainRequest {
    let Command { warp, register, lanes, operation } = *command;
    let access = match operation {
        Operation::Read { .. } => MainAccess::Read,
        Operation::Write | Operation::Bypass => MainAccess::Write,
        Operation::Demote => MainAccess::Demote,
        Operation::Drop => MainAccess::Drop,
        Operation::Fill | Operation::Flush | Operation::Exit => MainAccess::Nothing,
    };
    MainRequest { access, warp, register, lanes }
}

/// Adds the cache's part of a command to its outcome.
#[inline]
fn note(outcome: &mut Outcome, response: &Response) {
    outcome.cache = response.outcome;
    outcome.way = response.way;
    outcome.dropped += response.dropped.count_ones() as u8;
    outcome.writebacks += u8::from(response.victim.is_some_and(|victim| victim.writeback));
}

/// Counts the cache's part of a command.
#[inline]
fn count_cache(counters: &mut Tally, operation: Operation, response: &Response) {
    let writeback = response.victim.is_some_and(|victim| victim.writeback);
    match response.outcome {
        CacheOutcome::Nothing => {}
        CacheOutcome::Miss => counters.add(Counter::CacheReadsMissed, 1),
        CacheOutcome::PartialHit => counters.add(Counter::CacheReadsPartial, 1),
        CacheOutcome::Hit => counters.add(Counter::CacheReadsHit, 1),
        CacheOutcome::InPlace if operation == Operation::Write => {
            counters.add(Counter::CacheWritesInPlace, 1);
        }
        CacheOutcome::InPlace => counters.add(Counter::CacheFills, 1),
        CacheOutcome::Allocation => {
            counters.add(Counter::CacheAllocations, 1);
            counters.add(Counter::CacheFills, u32::from(operation == Operation::Fill));
            counters.add(Counter::CacheWritebacksEvicted, u32::from(writeback));
        }
        CacheOutcome::Invalidated => counters.add(Counter::CacheBypasses, 1),
        CacheOutcome::Emptied => {
            counters.add(Counter::CacheWritebacksFlushed, u32::from(writeback));
        }
    }
    counters.add(Counter::CacheDropped, response.dropped.count_ones());
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// Words of all kinds, whose registers and lanes are few.
    fn words(seed: u32, count: usize) -> Vec<u32> {
        let mut state = seed;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let mut word = || {
            let [kind, rest] = [next() >> 16, next() >> 8];
            let operation = if kind % 4 < 3 { kind / 4 % 2 } else { kind / 4 % 8 };
            field::COMMAND_OPERATION.put(operation)
                | field::COMMAND_WARP.put(rest)
                | field::COMMAND_REGISTER_NUMBER.put((rest >> 3) % 24)
                | field::COMMAND_LAST_USE.put(kind >> 8)
                | field::COMMAND_LANES.put(1 + (rest >> 8) % 15)
        };
        (0..count).map(|_| word()).collect()
    }

    #[test]
    fn packed_or_not_and_with_clocks_counted_anew_a_batch_is_the_same() {
        // Caches and pools of all kinds, and none.
        let entries = |count| field::SETTINGS_CACHE_ENTRIES.put(count);
        let [lru, liveness] = [field::SETTINGS_LRU.mask(), field::SETTINGS_LIVENESS.mask()];
        let [six, most, five] = [6, 13, 5].map(entries);
        let settings = [0, six, six | lru, most | liveness, five | lru | liveness];
        let pools = [0, 9, 60];
        for (seed, (cache, pool)) in
            (1..).zip(settings.iter().flat_map(|cache| pools.map(|pool| (cache, pool))))
        {
            let word = cache
                | field::SETTINGS_SPLIT.put(seed)
                | field::SETTINGS_WRITE_CYCLES.put(7)
                | field::SETTINGS_POOL_ENTRIES.put(pool)
                | field::SETTINGS_REGISTERS.put(30);
            let mut twin = Prototype::<8, 13, 60>::new(Settings::unpack(word)).unwrap();
            let (mut packed, mut late) = (twin.clone(), twin.clone());
            for batch in 0..3 {
                let words = words(seed + 1000 * batch, 400);
                let commands: Vec<_> = words.iter().map(|&word| Command::unpack(word)).collect();
                let mut timed = vec![(Outcome::default(), 0); words.len()];
                let mut again = timed.clone();
                let mut outcomes = vec![0; words.len()];
                let clocks = twin.run_timed(&commands, &mut timed);
                assert_eq!(packed.run_packed(&words, &mut outcomes), clocks, "seed {seed}");
                // In the middle of a batch, whose accesses wait for those before it.
                late.clock = RESTART - 150;
                assert_eq!(late.run_timed(&commands, &mut again), clocks, "seed {seed}");
                assert!(late.clock < RESTART / 2);
                assert_eq!(again, timed, "seed {seed}");
                let expected: Vec<_> = timed.iter().map(|(outcome, _)| outcome.pack()).collect();
                assert_eq!(outcomes, expected, "seed {seed}");
            }
            assert_eq!(packed.counters(), twin.counters(), "seed {seed}");
            assert_eq!(late.counters(), twin.counters(), "seed {seed}");
        }
    }
}
