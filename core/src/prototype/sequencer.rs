//! Sequencer: runs a batch of commands through the register file cache and the main register file
//! behind it, in order.
//!
//! Models: the outcome of each command, the clock in which it stands, and every counter. A command
//! is taken by the cache, and what that answers takes its turn at the main register file; a clock
//! after the one before it, or later if it has to wait for a bank. All other stages only add a
//! constant latency. Nothing overtakes anything, so each clock follows from the one before without
//! going through those between.
//! Does not model: values, which the hardware moves; the queues around the sequencer.
//! Source: the contract in `docs/hw/access_sequencer.md`.

use super::cache_block::{CacheBlock, CacheOutcome, Response, Victim};
use super::command::{Command, Operation};
use super::counters::{Counter, PrototypeCounters};
use super::main_register_file::{MainAccess, MainRegisterFile, MainRequest, MainResponse};
use super::outcome::{MainOutcome, Outcome};
use super::settings::{REGISTERS, Settings};
use crate::register_file_cache::ConfigError;
use crate::write_pool::PoolTooLarge;

/// Clocks from the one in which a command is taken to the one in which its outcome stands, if
/// nothing makes it wait.
pub const LATENCY: u64 = 7;

/// Clocks after which the banks are idle, whatever was written: a batch starts as if so many had
/// passed since the last one.
const DRAIN: u64 = 16;

/// Settings that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The register file cache's.
    Cache(ConfigError),
    /// The write pool's.
    WritePool(PoolTooLarge),
    /// Cycles of a write outside of 1 to 15.
    WriteCycles(u8),
    /// Registers of a warp that are none, or more than fit.
    Registers {
        /// Asked for.
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
    main: MainRegisterFile<POOL>,
    counters: PrototypeCounters,
    /// A clock in which the banks are idle.
    clock: u64,
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
        Ok(Self { settings, cache, main, counters, clock: 0 })
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
    pub const fn main_register_file(&self) -> &MainRegisterFile<POOL> {
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
        self.run_each(commands.iter().zip(outcomes), |outcome, _| outcome)
    }

    /// As [`Self::run`], and gives for each command also the clock in which its outcome stands,
    /// counted from the one in which the first command was taken.
    pub fn run_timed(&mut self, commands: &[Command], outcomes: &mut [(Outcome, u64)]) -> u64 {
        self.run_each(commands.iter().zip(outcomes), |outcome, clock| (outcome, clock))
    }

    #[inline]
    fn run_each<'a, T: 'a>(
        &mut self,
        batch: impl Iterator<Item = (&'a Command, &'a mut T)>,
        mut answer: impl FnMut(Outcome, u64) -> T,
    ) -> u64 {
        let first = self.clock;
        let mut clock = first;
        let mut commands = 0;
        for (command, place) in batch {
            commands += 1;
            let outcome;
            (outcome, clock) = self.step(command, clock);
            *place = answer(outcome, clock + LATENCY - 1 - first);
        }
        if commands == 0 {
            return 0;
        }
        let clocks = clock + LATENCY - first;
        self.counters.add(Counter::Commands, commands);
        self.counters.add(Counter::Clocks, clocks);
        self.clock = clock + DRAIN;
        clocks
    }

    /// Does one command behind one that had its turn at the main register file at `clock`. Returns
    /// the clock of this one's turn, of its last if it has several.
    #[inline]
    fn step(&mut self, command: &Command, clock: u64) -> (Outcome, u64) {
        let mut outcome = Outcome::default();
        let mut clock = clock;
        loop {
            let (request, last) = match &mut self.cache {
                Some(cache) => {
                    let response = cache.step(command);
                    count_cache(&mut self.counters, command.operation, &response);
                    note(&mut outcome, &response);
                    (behind_cache(command, &response), response.last)
                }
                None => (without_cache(command), true),
            };
            clock = self.serve(request, clock + 1, &mut outcome);
            if last {
                return (outcome, clock);
            }
        }
    }

    /// Has the main register file do its part, from `clock` on. Returns the clock in which it does.
    #[inline]
    fn serve(&mut self, request: MainRequest, first: u64, outcome: &mut Outcome) -> u64 {
        let (clock, response) = self.main.serve(request, first);
        if request.access == MainAccess::Nothing {
            return clock;
        }
        let waited = clock - first;
        let pool = self.main.pool().is_some();
        count_main(&mut self.counters, request.access, &response, pool, waited);
        outcome.main = response.outcome;
        outcome.waited = waited.saturating_add(outcome.waited.into()).min(255) as u8;
        if request.access == MainAccess::Drop {
            outcome.dropped = response.count;
        }
        clock
    }
}

/// What a command leaves to the main register file after the cache.
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

/// What a command is to the main register file alone.
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
fn count_cache(counters: &mut PrototypeCounters, operation: Operation, response: &Response) {
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
            counters.add(Counter::CacheFills, u64::from(operation == Operation::Fill));
            counters.add(Counter::CacheWritebacksEvicted, u64::from(writeback));
        }
        CacheOutcome::Invalidated => counters.add(Counter::CacheBypasses, 1),
        CacheOutcome::Emptied => {
            counters.add(Counter::CacheWritebacksFlushed, u64::from(writeback));
        }
    }
    counters.add(Counter::CacheDropped, u64::from(response.dropped.count_ones()));
}

/// Counts the main register file's part of a command.
#[inline]
fn count_main(
    counters: &mut PrototypeCounters,
    access: MainAccess,
    response: &MainResponse,
    pool: bool,
    waited: u64,
) {
    let MainResponse { outcome, count, beside_write, .. } = *response;
    match access {
        MainAccess::Read => {
            let (kind, from_bank) = match outcome {
                MainOutcome::PoolHit => (Counter::PoolReadsHit, 0),
                MainOutcome::PoolPartialHit => (Counter::PoolReadsPartial, 1),
                _ => (Counter::PoolReadsMissed, 1),
            };
            counters.add(kind, u64::from(pool));
            counters.add(Counter::BankReads, from_bank);
            counters.add(Counter::ReadsBesideWrite, u64::from(beside_write));
            counters.add(Counter::ReadWaits, waited);
        }
        MainAccess::Write => {
            match outcome {
                MainOutcome::PoolHit => counters.add(Counter::PoolWritesHit, 1),
                MainOutcome::PoolAllocation => counters.add(Counter::PoolAllocations, 1),
                MainOutcome::PoolReplacement => counters.add(Counter::PoolReplacements, 1),
                _ => {}
            }
            let to_bank = matches!(outcome, MainOutcome::Bank | MainOutcome::PoolReplacement);
            counters.add(Counter::BankWrites, u64::from(to_bank));
            counters.add(Counter::WriteWaits, waited);
        }
        MainAccess::Demote => counters.add(Counter::PoolDemotions, u64::from(count)),
        MainAccess::Drop => counters.add(Counter::PoolDropped, u64::from(count)),
        MainAccess::Nothing => {}
    }
}
