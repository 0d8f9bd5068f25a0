//! Properties of every arbiter's grants, independent of its algorithm: values are never lost or
//! stale, nothing is used twice at a time, and every request is granted.

use std::collections::BTreeMap;
use std::fmt::Debug;

use strata_core::arbiter::{ArbiterConfig, BankPorts, ReadGrant, WriteGrant, WriteTarget};
use strata_core::units::{LANES, LaneMask, RegisterId};
use strata_core::write_pool::{PoolEntry, PoolPorts, PoolRead};

use super::reference::{Name, Outcome, home};

/// A value for each lane; 0 for one that was never written, or whose warp has ended.
type Value = [u32; LANES as usize];

fn lanes(mask: LaneMask) -> impl Iterator<Item = usize> {
    (0..LANES as usize).filter(move |lane| mask.0 & (1 << lane) != 0)
}

/// A queued read, and the value that it must find.
struct Read {
    unit: u8,
    name: Name,
    lanes: LaneMask,
    asked: u64,
    value: Value,
}

struct Write {
    lanes: LaneMask,
    asked: u64,
    value: Value,
}

/// An entry of the pool; its value is there from a cycle on.
struct Held {
    lanes: LaneMask,
    from: u64,
    value: Value,
}

/// An access of a bank: its subarray, and the first cycle after it.
type Busy = Option<(u8, u64)>;

/// How many there were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) reads_asked: u64,
    pub(crate) reads_granted: u64,
    pub(crate) writes_asked: u64,
    pub(crate) bank_writes: u64,
    pub(crate) pool_hits: u64,
    pub(crate) allocations: u64,
    pub(crate) write_backs: u64,
    pub(crate) dropped: u64,
}

pub(crate) struct Shadow {
    config: ArbiterConfig,
    /// Shown in each failure.
    stream: String,
    now: u64,
    banks: Vec<Value>,
    pool: BTreeMap<Name, Held>,
    newest: Vec<Value>,
    reads: Vec<Read>,
    writes: BTreeMap<Name, Write>,
    /// The read and the write in each bank.
    reading: Vec<Busy>,
    writing: Vec<Busy>,
    /// What this cycle has used.
    pool_reads: u8,
    pool_writes: u8,
    served: Vec<u8>,
    /// Last cycle in which something happened or nothing was queued.
    last_progress: u64,
    values: u32,
    pub(crate) totals: Totals,
}

impl Shadow {
    pub(crate) fn new(config: ArbiterConfig, warps: u8, stream: String) -> Self {
        let registers = usize::from(warps) * usize::from(config.registers_per_warp);
        Self {
            config,
            stream,
            now: 0,
            banks: vec![[0; LANES as usize]; registers],
            pool: BTreeMap::new(),
            newest: vec![[0; LANES as usize]; registers],
            reads: Vec::new(),
            writes: BTreeMap::new(),
            reading: vec![None; usize::from(config.banks)],
            writing: vec![None; usize::from(config.banks)],
            pool_reads: 0,
            pool_writes: 0,
            served: Vec::new(),
            last_progress: 0,
            values: 0,
            totals: Totals::default(),
        }
    }

    fn require(&self, holds: bool, what: &str, about: &dyn Debug) {
        assert!(holds, "{}, cycle {}: {what}: {about:?}", self.stream, self.now);
    }

    pub(crate) fn ask_read(&mut self, unit: u8, name: Name, lanes: LaneMask, asked: u64) {
        let value = self.newest[home(self.config, name).0];
        self.reads.push(Read { unit, name, lanes, asked, value });
        self.totals.reads_asked += 1;
    }

    pub(crate) fn ask_write(&mut self, name: Name, mask: LaneMask, asked: u64) {
        self.values += 1;
        let mut value = [0; LANES as usize];
        let newest = &mut self.newest[home(self.config, name).0];
        for lane in lanes(mask) {
            value[lane] = self.values * LANES + lane as u32;
            newest[lane] = value[lane];
        }
        let before = self.writes.insert(name, Write { lanes: mask, asked, value });
        self.require(before.is_none(), "the traffic asks for two writes of a register", &name);
        self.totals.writes_asked += 1;
    }

    /// A warp has ended: its values are gone, but for those on their way.
    pub(crate) fn drop_warp(&mut self, warp: u8, dropped: u32) {
        let before = self.pool.len();
        self.pool.retain(|name, _| name.0 != warp);
        self.require((before - self.pool.len()) as u32 == dropped, "dropped", &(warp, dropped));
        self.totals.dropped += u64::from(dropped);
        for register in 0..self.config.registers_per_warp {
            let name = (warp, register);
            let newest = &mut self.newest[home(self.config, name).0];
            *newest = self.writes.get(&name).map_or([0; LANES as usize], |write| write.value);
        }
    }

    /// What happened in a cycle.
    pub(crate) fn cycle(&mut self, now: u64, granted: &[Outcome]) {
        self.now = now;
        (self.pool_reads, self.pool_writes) = (0, 0);
        self.served.clear();
        for bank in self.reading.iter_mut().chain(&mut self.writing) {
            *bank = bank.filter(|&(_, until)| until > now);
        }
        if !granted.is_empty() || (self.reads.is_empty() && self.writes.is_empty()) {
            self.last_progress = now;
        }
        for outcome in granted {
            match outcome {
                Outcome::Read(grant) => self.read(grant),
                Outcome::Write(grant) => self.write(grant),
            }
        }
        // All banks are free when none has started something for as long as an access takes.
        let longest = self.config.read_cycles.max(self.config.write_cycles);
        let idle = now - self.last_progress;
        self.require(idle <= u64::from(longest), "nothing happens", &idle);
    }

    /// All queued accesses have happened, and every value is found in its place.
    pub(crate) fn end(&mut self, now: u64, pool: impl Iterator<Item = PoolEntry>) {
        self.now = now;
        self.require(self.reads.is_empty() && self.writes.is_empty(), "queued", &"at the end");
        let mut entries = 0;
        for PoolEntry { warp, register, lanes } in pool {
            entries += 1;
            let held = self.pool.get(&(warp, register.0)).map(|held| held.lanes);
            self.require(held == Some(lanes), "lanes of an entry", &(warp, register, lanes));
        }
        self.require(entries == self.pool.len(), "entries left", &entries);
        let registers = self.config.registers_per_warp;
        for (index, newest) in self.newest.iter().enumerate() {
            let index = index as u16;
            let name = ((index / registers) as u8, index % registers);
            let mut value = self.banks[usize::from(index)];
            if let Some(held) = self.pool.get(&name) {
                lanes(held.lanes).for_each(|lane| value[lane] = held.value[lane]);
            }
            let lost = |lane: usize| newest[lane] != 0 && newest[lane] != value[lane];
            let lost = (0..LANES as usize).find(|&lane| lost(lane));
            self.require(lost.is_none(), "lane lost", &(name, lost));
        }
        let totals = self.totals;
        self.require(totals.reads_asked == totals.reads_granted, "reads", &totals);
        let written = totals.bank_writes + totals.pool_hits + totals.allocations;
        self.require(totals.writes_asked == written, "writes", &totals);
        let left = totals.write_backs + totals.dropped + entries as u64;
        self.require(totals.allocations == left, "allocations", &totals);
    }

    /// After a read or a write of the pool.
    fn use_pool(&self, grant: &dyn Debug) {
        self.require(self.config.write_pool_entries > 0, "there is no pool", grant);
        let (reads, writes) = (self.pool_reads, self.pool_writes);
        let fits = match self.config.write_pool_ports {
            PoolPorts::OneReadOneWrite => reads <= 1 && writes <= 1,
            PoolPorts::Any(accesses) => reads + writes <= accesses,
        };
        self.require(fits, "the pool does too much in a cycle", grant);
    }

    fn read(&mut self, grant: &ReadGrant) {
        let name = (grant.warp, grant.register.0);
        let asked = |read: &Read| read.unit == grant.unit && read.name == name;
        let place = self.reads.iter().position(asked);
        self.require(place.is_some(), "read of no request", grant);
        let read = self.reads.remove(place.unwrap_or(0));
        self.totals.reads_granted += 1;
        self.require(read.asked < self.now, "a read in the cycle in which it is asked for", grant);
        self.require(!self.served.contains(&read.unit), "a unit receives two operands", grant);
        self.served.push(read.unit);

        let (index, bank, subarray) = home(self.config, name);
        self.require(usize::from(grant.bank) == bank, "bank", grant);
        let held = self.pool.get(&name);
        let there = held.map_or(LaneMask::EMPTY, |held| held.lanes.and(read.lanes));
        let found = match there {
            LaneMask::EMPTY => PoolRead::Miss,
            all if all == read.lanes => PoolRead::Hit,
            _ => PoolRead::PartialHit,
        };
        self.require(grant.pool == found, "where the lanes are", &(grant, there));
        let mut value = self.banks[index];
        if let Some(held) = held {
            self.require(found == PoolRead::Miss || held.from <= self.now, "too early", grant);
            lanes(there).for_each(|lane| value[lane] = held.value[lane]);
        }
        for lane in lanes(read.lanes) {
            let expected = read.value[lane];
            let stale = expected != 0 && expected != value[lane];
            self.require(!stale, "stale lane", &(grant, lane, expected, value[lane]));
        }
        if found != PoolRead::Miss {
            self.pool_reads += 1;
            self.use_pool(grant);
        }
        let mut until = self.now + 1;
        let mut beside_write = false;
        if found != PoolRead::Hit {
            until = self.now + u64::from(self.config.read_cycles);
            self.require(self.reading[bank].is_none(), "a bank reads twice at a time", grant);
            beside_write = self.beside(self.writing[bank], subarray, grant);
            self.reading[bank] = Some((subarray, until));
        }
        self.require(grant.until == until, "end", grant);
        self.require(grant.beside_write == beside_write, "beside a write", grant);
    }

    fn write(&mut self, grant: &WriteGrant) {
        let name = (grant.warp, grant.register.0);
        let write = self.writes.remove(&name);
        self.require(write.is_some(), "write of no request", grant);
        let Some(write) = write else { return };
        self.require(write.asked + grant.waited == self.now, "wait", grant);
        let waiting = self.reads.iter().any(|read| read.name == name);
        self.require(!waiting, "a write overtakes a read", grant);
        self.require(usize::from(grant.bank) == home(self.config, name).1, "bank", grant);

        let full = self.pool.len() == usize::from(self.config.write_pool_entries);
        let there = self.pool.contains_key(&name);
        match grant.target {
            WriteTarget::Bank => {
                self.require(self.config.write_pool_entries == 0, "past the pool", grant);
                self.write_bank(name, write.lanes, &write.value, grant);
                self.totals.bank_writes += 1;
                let cycles = u64::from(self.config.write_cycles);
                return self.require(grant.until == self.now + cycles, "end", grant);
            }
            WriteTarget::PoolHit => {
                self.require(there, "hit of what is not there", grant);
                self.totals.pool_hits += 1;
            }
            WriteTarget::PoolAllocation => {
                self.require(!there && !full, "allocation", grant);
                self.totals.allocations += 1;
            }
            WriteTarget::PoolReplacement { victim, bank } => {
                self.require(!there && full, "replacement", grant);
                self.totals.allocations += 1;
                self.totals.write_backs += 1;
                self.write_back(victim, bank, grant);
            }
        }
        self.pool_writes += 1;
        self.use_pool(grant);
        self.require(grant.until == self.now + 1, "end", grant);
        let none = Held { lanes: LaneMask::EMPTY, from: 0, value: [0; LANES as usize] };
        let held = self.pool.entry(name).or_insert(none);
        held.lanes = held.lanes.or(write.lanes);
        held.from = self.now + 1;
        lanes(write.lanes).for_each(|lane| held.value[lane] = write.value[lane]);
    }

    fn write_back(&mut self, victim: PoolEntry, bank: u8, grant: &WriteGrant) {
        let PoolEntry { warp, register: RegisterId(register), lanes } = victim;
        let name = (warp, register);
        let held = self.pool.remove(&name);
        self.require(held.as_ref().is_some_and(|held| held.lanes == lanes), "victim", grant);
        let Some(held) = held else { return };
        self.require(usize::from(bank) == home(self.config, name).1, "victim's bank", grant);
        self.write_bank(name, lanes, &held.value, grant);
    }

    fn write_bank(&mut self, name: Name, mask: LaneMask, value: &Value, grant: &WriteGrant) {
        let (index, bank, subarray) = home(self.config, name);
        self.require(self.writing[bank].is_none(), "a bank writes twice at a time", grant);
        self.beside(self.reading[bank], subarray, grant);
        self.writing[bank] = Some((subarray, self.now + u64::from(self.config.write_cycles)));
        lanes(mask).for_each(|lane| self.banks[index][lane] = value[lane]);
    }

    /// Whether a bank does the other thing too, which must be in its other subarray.
    fn beside(&self, other: Busy, subarray: u8, grant: &dyn Debug) -> bool {
        let one_port = self.config.bank_ports == BankPorts::One;
        let Some((its, _)) = other.filter(|_| one_port) else { return false };
        let apart = self.config.split_bank_write && its != subarray;
        self.require(apart, "a bank reads and writes at a time", grant);
        true
    }
}
