//! Software: a prototype for boards without RTL, which moves values as the hardware does.
//!
//! A second model gives the outcome and the clock of each command. A cache and a write pool of its
//! own move the values into entries, the pool and the banks, and out of them. A value that they
//! lose or leave stale shows in the next read of its register.

use strata_core::prototype::cache_block::{CacheBlock, Response};
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::regmap::VERSION;
use strata_core::prototype::settings::{REGISTERS, Settings};
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{PoolEntry, PoolWrite, WritePool};
use strata_link::message::{BATCH, Broken, Data, Implementation, LANES, Parameters};

use crate::comparison::{CACHE_ENTRIES, Model, NO_COMMAND, POOL_ENTRIES, WARPS};
use crate::prototype::Prototype;

/// The status of queues that were used in the wrong order.
const MISUSED: u32 = 0;

/// A prototype in software.
#[derive(Debug)]
pub struct SoftwarePrototype {
    model: Option<Model>,
    cache: Option<CacheBlock<WARPS, CACHE_ENTRIES>>,
    pool: Option<WritePool<POOL_ENTRIES>>,
    registers_per_warp: u16,
    /// The values of the cache's entries, of the pool's with their registers, and of the banks'
    /// registers.
    entries: [[Data; CACHE_ENTRIES]; WARPS],
    pooled: [(PoolEntry, Data); POOL_ENTRIES],
    banks: [Data; REGISTERS as usize],
    commands: [Command; BATCH],
    /// The value of each command, then the value that it has read.
    values: [Data; BATCH],
    outcomes: [Outcome; BATCH],
    queued: usize,
    /// Outcomes of the batch, and the number of them that were taken.
    done: usize,
    taken: usize,
}

impl SoftwarePrototype {
    /// An unconfigured prototype, for a static.
    pub const fn new() -> Self {
        Self {
            model: None,
            cache: None,
            pool: None,
            registers_per_warp: 0,
            entries: [[[0; LANES]; CACHE_ENTRIES]; WARPS],
            pooled: [(VACANT, [0; LANES]); POOL_ENTRIES],
            banks: [[0; LANES]; REGISTERS as usize],
            commands: [NO_COMMAND; BATCH],
            values: [[0; LANES]; BATCH],
            outcomes: [Outcome::NOTHING; BATCH],
            queued: 0,
            done: 0,
            taken: 0,
        }
    }

    /// Moves the values of a command.
    fn carry_out(&mut self, place: usize) {
        let command = self.commands[place];
        let Command { warp, operation, register, lanes } = command;
        if self.cache.is_none() {
            let mut value = self.values[place];
            match operation {
                Operation::Read { .. } => {
                    self.read_main(warp, register, lanes, &mut value);
                    self.values[place] = value;
                }
                Operation::Write | Operation::Bypass => {
                    self.write_main(warp, register, lanes, &value);
                }
                _ => self.move_pool(&command),
            }
            return;
        }
        // A flush answers once for each entry, anything else once.
        for _ in 0..=CACHE_ENTRIES {
            let Some(cache) = &mut self.cache else { return };
            cache.tick(Some(&command), true);
            let Some(response) = cache.answer().copied() else { return };
            self.answer(&command, &response, place);
            if response.last {
                return;
            }
        }
    }

    /// Moves the values of one answer of the cache.
    fn answer(&mut self, command: &Command, response: &Response, place: usize) {
        let Command { warp, operation, register, lanes } = *command;
        let Response { way, served, missing, victim, .. } = *response;
        let mut value = self.values[place];
        let Some(entry) = self
            .entries
            .get_mut(usize::from(warp))
            .and_then(|entries| entries.get_mut(usize::from(way)))
        else {
            return;
        };
        let old = *entry;
        match operation {
            Operation::Read { .. } => merge(&mut value, &old, served),
            Operation::Write | Operation::Fill => merge(entry, &value, served),
            _ => {}
        }
        if let Some(victim) = victim.filter(|victim| victim.writeback) {
            self.write_main(warp, victim.register, victim.lanes, &old);
        }
        if !missing.is_empty() {
            self.read_main(warp, register, missing, &mut value);
        }
        if operation == Operation::Bypass {
            self.write_main(warp, register, lanes, &value);
        }
        self.values[place] = value;
        self.move_pool(command);
    }

    fn register(&self, warp: u8, register: RegisterId) -> usize {
        usize::from(u16::from(warp) * self.registers_per_warp + register.0)
    }

    fn read_main(&mut self, warp: u8, register: RegisterId, lanes: LaneMask, to: &mut Data) {
        let number = self.register(warp, register);
        if let Some(stored) = self.banks.get(number) {
            merge(to, stored, lanes);
        }
        if let Some(pool) = &mut self.pool {
            pool.read(warp, register, lanes);
            if let Some((entry, stored)) = self.pooled.iter().find(is(warp, register)) {
                merge(to, stored, lanes.and(entry.lanes));
            }
        }
    }

    fn write_main(&mut self, warp: u8, register: RegisterId, lanes: LaneMask, value: &Data) {
        let Some(pool) = &mut self.pool else {
            let number = self.register(warp, register);
            if let Some(stored) = self.banks.get_mut(number) {
                merge(stored, value, lanes);
            }
            return;
        };
        let vacant = match pool.write(warp, register, lanes, |_| true) {
            PoolWrite::Hit => None,
            PoolWrite::Allocated => Some(VACANT),
            PoolWrite::Replaced(victim) | PoolWrite::Blocked(victim) => {
                self.write_back(victim);
                Some(victim)
            }
        };
        let (warp_of, register_of) = match vacant {
            Some(vacant) => (vacant.warp, vacant.register),
            None => (warp, register),
        };
        let found = self
            .pooled
            .iter_mut()
            .find(|(entry, _)| (entry.warp, entry.register) == (warp_of, register_of));
        let Some((entry, stored)) = found else { return };
        if vacant.is_some() {
            *entry = PoolEntry { warp, register, lanes: LaneMask::EMPTY };
        }
        entry.lanes = entry.lanes.or(lanes);
        merge(stored, value, lanes);
    }

    /// A bank takes the value of an entry of the pool.
    fn write_back(&mut self, PoolEntry { warp, register, .. }: PoolEntry) {
        let number = self.register(warp, register);
        let found = self.pooled.iter().find(is(warp, register));
        if let (Some((entry, value)), Some(stored)) = (found, self.banks.get_mut(number)) {
            merge(stored, value, entry.lanes);
        }
    }

    fn move_pool(&mut self, command: &Command) {
        let Some(pool) = &mut self.pool else { return };
        match command.operation {
            Operation::Demote => pool.demote(command.warp),
            Operation::Drop => {
                pool.drop_warp(command.warp);
                for (entry, _) in &mut self.pooled {
                    if entry.warp == command.warp {
                        *entry = VACANT;
                    }
                }
            }
            _ => {}
        }
    }
}

/// An entry without a warp.
const VACANT: PoolEntry =
    PoolEntry { warp: u8::MAX, register: RegisterId(u16::MAX), lanes: LaneMask::EMPTY };

fn is(warp: u8, register: RegisterId) -> impl Fn(&&(PoolEntry, Data)) -> bool {
    move |(entry, _)| entry.warp == warp && entry.register == register
}

/// Takes some lanes of another value.
fn merge(to: &mut Data, from: &Data, lanes: LaneMask) {
    for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
        if lanes.0 >> lane & 1 != 0 {
            *to = *from;
        }
    }
}

impl Default for SoftwarePrototype {
    fn default() -> Self {
        Self::new()
    }
}

impl Prototype for SoftwarePrototype {
    fn parameters(&mut self) -> Result<Parameters, Broken> {
        Ok(Parameters {
            implementation: Implementation::Software,
            version: VERSION,
            warps: WARPS as u8,
            cache_entries: CACHE_ENTRIES as u8,
            pool_entries: POOL_ENTRIES as u8,
            lanes: LANES as u8,
            batch: BATCH as u16,
            banks: 16,
            rows: 64,
        })
    }

    fn configure(&mut self, settings: Settings) -> Result<(), Broken> {
        let refused = Broken::Queue { status: MISUSED };
        self.queued = 0;
        self.done = 0;
        self.taken = 0;
        self.pooled.iter_mut().for_each(|(entry, _)| *entry = VACANT);
        self.registers_per_warp = u16::from(settings.registers_per_warp);
        self.cache = match settings.cache {
            None => None,
            Some(cache) => Some(CacheBlock::new(cache).map_err(|_| refused)?),
        };
        self.pool = match settings.write_pool_entries {
            0 => None,
            entries => Some(WritePool::new(entries).map_err(|_| refused)?),
        };
        self.model = Some(Model::new(settings).map_err(|_| refused)?);
        Ok(())
    }

    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken> {
        let place = self.queued;
        let places = (self.commands.get_mut(place), self.values.get_mut(place));
        let (Some(to), Some(brought)) = places else {
            return Err(Broken::Queue { status: MISUSED });
        };
        *to = Command::unpack(command);
        *brought = value.copied().unwrap_or_default();
        self.queued += 1;
        Ok(())
    }

    fn run(&mut self) -> Result<u32, Broken> {
        let Some(model) = &mut self.model else { return Err(Broken::Stuck { status: MISUSED }) };
        let length = self.queued;
        let clocks = model.run(&self.commands[..length], &mut self.outcomes[..length]);
        for place in 0..length {
            self.carry_out(place);
        }
        self.queued = 0;
        self.done = length;
        self.taken = 0;
        // At most a batch's.
        Ok(clocks as u32)
    }

    fn outcome(&mut self, read: Option<&mut Data>) -> Result<u32, Broken> {
        let place = self.taken;
        if place >= self.done {
            return Err(Broken::Queue { status: MISUSED });
        }
        self.taken += 1;
        if let Some(read) = read {
            *read = self.values[place];
        }
        Ok(self.outcomes[place].pack())
    }

    fn counter(&mut self, place: usize) -> u64 {
        let model = self.model.as_ref();
        model.and_then(|model| model.counters().0.get(place).copied()).unwrap_or(0)
    }
}
