//! The reference: an arbiter that follows the text step by step, with plain queues, counters that
//! count down and a pool that is a list in the order of use.

use std::collections::{BTreeMap, VecDeque};

use strata_core::arbiter::{ArbiterConfig, BankPorts, ReadGrant, WriteGrant, WriteTarget};
use strata_core::bank_layout::BankLayout;
use strata_core::datapath::Datapath;
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{PoolEntry, PoolPorts, PoolRead, PoolWrite};

/// An access that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Read(ReadGrant),
    Write(WriteGrant),
}

/// A register of a warp.
pub(crate) type Name = (u8, u16);

/// Lanes of the write of a register that is asked for when one of it happens; none without one.
pub(crate) type Again<'a> = &'a dyn Fn(Name) -> LaneMask;

/// Index of a register among those of all warps, and where rule 28 of `docs/MODEL.md` puts it: bank,
/// subarray.
pub(crate) fn home(config: ArbiterConfig, name: Name) -> (usize, usize, u8) {
    let (w, r) = (usize::from(name.0), usize::from(name.1));
    let (bank, _, subarray) = place(config, w, r);
    (w * usize::from(config.registers_per_warp) + r, bank, subarray)
}

/// Bank, row of the bank and subarray of register `r` of warp `w`. Without split banks there is one
/// subarray.
fn place(config: ArbiterConfig, w: usize, r: usize) -> (usize, usize, u8) {
    let (banks, registers) = (usize::from(config.banks), usize::from(config.registers_per_warp));
    let (bank, row, of_subarray) = match config.bank_layout {
        BankLayout::WarpSkewed => {
            let mut rows_of_a_warp = registers / banks;
            if rows_of_a_warp * banks < registers {
                rows_of_a_warp += 1;
            }
            ((r + w) % banks, w * rows_of_a_warp + r / banks, r / banks + w)
        }
        BankLayout::Linear => {
            let n = w * registers + r;
            (n % banks, n / banks, n / banks)
        }
    };
    (bank, row, if config.split_bank_write { (of_subarray % 2) as u8 } else { 0 })
}

/// Index of a register's cells among those of the register file, row by row.
pub(crate) fn cell(config: ArbiterConfig, (warp, register): Name) -> usize {
    let (bank, row, _) = place(config, usize::from(warp), usize::from(register));
    row * usize::from(config.banks) + bank
}

/// Warp-wide registers of a register file with rows for this many warps.
pub(crate) fn cells(config: ArbiterConfig, warps: u8) -> usize {
    let banks = usize::from(config.banks);
    let last = |w: u8| (0..config.registers_per_warp).map(move |r| cell(config, (w, r))).max();
    let cells = (0..warps).filter_map(last).max().unwrap_or(0) + 1;
    cells.div_ceil(banks) * banks
}

/// A bank's entries of the source's buffers, and the same of its reads.
#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    /// Remaining cycles of the write.
    write_busy: u64,
    written: u8,
    /// Remaining cycles of the read.
    read_busy: u64,
    read: u8,
    /// What is chosen in this cycle: subarrays.
    chosen_write: Option<u8>,
    chosen_read: Option<u8>,
}

impl Bank {
    fn writing(&self) -> Option<u8> {
        self.chosen_write.or((self.write_busy > 0).then_some(self.written))
    }

    fn reading(&self) -> Option<u8> {
        self.chosen_read.or((self.read_busy > 0).then_some(self.read))
    }
}

#[derive(Clone, Copy, Debug)]
struct AskedRead {
    unit: u8,
    datapath: Datapath,
    name: Name,
    lanes: LaneMask,
}

#[derive(Clone, Copy, Debug)]
struct AskedWrite {
    name: Name,
    lanes: LaneMask,
    asked: u64,
}

/// The pool: a list of entries, the most recently used first.
#[derive(Debug)]
pub(crate) struct Pool {
    entries: usize,
    pub(crate) list: Vec<PoolEntry>,
}

impl Pool {
    pub(crate) fn new(entries: u8) -> Self {
        Self { entries: usize::from(entries), list: Vec::new() }
    }

    fn find(&self, (warp, register): Name) -> Option<usize> {
        self.list.iter().position(|one| one.warp == warp && one.register.0 == register)
    }

    fn is_full(&self) -> bool {
        self.list.len() == self.entries
    }

    pub(crate) fn look_up(&self, name: Name, lanes: LaneMask) -> PoolRead {
        let held = self.find(name).map_or(LaneMask::EMPTY, |place| self.list[place].lanes);
        if held.and(lanes).is_empty() {
            PoolRead::Miss
        } else if held.and(lanes) == lanes {
            PoolRead::Hit
        } else {
            PoolRead::PartialHit
        }
    }

    pub(crate) fn read(&mut self, name: Name, lanes: LaneMask) -> PoolRead {
        let found = self.look_up(name, lanes);
        if let (PoolRead::Hit | PoolRead::PartialHit, Some(place)) = (found, self.find(name)) {
            let entry = self.list.remove(place);
            self.list.insert(0, entry);
        }
        found
    }

    pub(crate) fn write(
        &mut self,
        name: Name,
        lanes: LaneMask,
        writes_back: impl FnOnce(PoolEntry) -> bool,
    ) -> PoolWrite {
        let mut entry = PoolEntry { warp: name.0, register: RegisterId(name.1), lanes };
        let mut outcome = PoolWrite::Allocated;
        if let Some(place) = self.find(name) {
            entry.lanes = entry.lanes.or(self.list.remove(place).lanes);
            outcome = PoolWrite::Hit;
        } else if self.is_full() {
            let victim = self.list[self.entries - 1];
            if !writes_back(victim) {
                return PoolWrite::Blocked(victim);
            }
            self.list.pop();
            outcome = PoolWrite::Replaced(victim);
        }
        self.list.insert(0, entry);
        outcome
    }

    /// The warp's entries go behind all others. Returns whether that changes something.
    pub(crate) fn demote(&mut self, warp: u8) -> bool {
        let (its, others): (Vec<_>, Vec<_>) = self.list.iter().partition(|one| one.warp == warp);
        let before = std::mem::replace(&mut self.list, others);
        self.list.extend(its);
        before != self.list
    }

    pub(crate) fn drop_warp(&mut self, warp: u8) -> u32 {
        let before = self.list.len();
        self.list.retain(|entry| entry.warp != warp);
        (before - self.list.len()) as u32
    }
}

/// The pool's accesses in a cycle.
struct PoolUse {
    reads: u8,
    writes: u8,
}

/// How often the traffic met each situation.
pub(crate) type Situations = BTreeMap<&'static str, u64>;

pub(crate) struct Reference {
    config: ArbiterConfig,
    banks: Vec<Bank>,
    /// One for each bank, in the order asked for.
    reads: Vec<VecDeque<AskedRead>>,
    /// One for each bank, or the pool's alone.
    writes: Vec<VecDeque<AskedWrite>>,
    pool: Pool,
    pub(crate) cell_writes: Vec<u64>,
    pub(crate) situations: Situations,
}

impl Reference {
    pub(crate) fn new(config: ArbiterConfig, warps: u8) -> Self {
        let banks = usize::from(config.banks);
        Self {
            config,
            banks: vec![Bank::default(); banks],
            reads: vec![VecDeque::new(); banks],
            writes: vec![VecDeque::new(); banks],
            pool: Pool::new(config.write_pool_entries),
            cell_writes: vec![0; cells(config, warps)],
            situations: Situations::new(),
        }
    }

    pub(crate) fn pool(&self) -> &[PoolEntry] {
        &self.pool.list
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.reads.iter().all(VecDeque::is_empty) && self.writes.iter().all(VecDeque::is_empty)
    }

    pub(crate) fn queued_reads(&self) -> u32 {
        self.reads.iter().map(|queue| queue.len() as u32).sum()
    }

    /// The write busy buffer as the next cycle finds it.
    pub(crate) fn write_busy(&self, bank: usize) -> u64 {
        self.banks[bank].write_busy
    }

    /// The subarray id buffer.
    pub(crate) fn written_subarray(&self, bank: usize) -> u8 {
        self.banks[bank].written
    }

    pub(crate) fn ask_read(
        &mut self,
        (unit, datapath): (u8, Datapath),
        (name, lanes): (Name, LaneMask),
    ) {
        let (_, bank, _) = home(self.config, name);
        self.reads[bank].push_back(AskedRead { unit, datapath, name, lanes });
    }

    pub(crate) fn ask_write(&mut self, (name, lanes): (Name, LaneMask), asked: u64) {
        let (_, bank, _) = home(self.config, name);
        let queue = if self.config.write_pool_entries > 0 { 0 } else { bank };
        self.writes[queue].push_back(AskedWrite { name, lanes, asked });
    }

    pub(crate) fn demote(&mut self, warp: u8) {
        if self.pool.demote(warp) {
            self.saw("demoted entries move");
        }
    }

    pub(crate) fn drop_warp(&mut self, warp: u8) -> u32 {
        self.pool.drop_warp(warp)
    }

    /// One cycle: the four steps of the source's flow.
    pub(crate) fn cycle(&mut self, now: u64, again: Again<'_>) -> Vec<Outcome> {
        let mut granted = Vec::new();
        // The buffers are read where a choice is made; what is chosen is noted in the bank.
        let writes = self.choose_writes(now, again, &mut granted);
        self.choose_reads(now, PoolUse { reads: 0, writes }, &mut granted);
        for bank in &mut self.banks {
            match bank.chosen_write.take() {
                Some(subarray) => {
                    bank.write_busy = u64::from(self.config.write_cycles) - 1;
                    bank.written = subarray;
                }
                None => bank.write_busy = bank.write_busy.saturating_sub(1),
            }
            match bank.chosen_read.take() {
                Some(subarray) => {
                    bank.read_busy = u64::from(self.config.read_cycles) - 1;
                    bank.read = subarray;
                }
                None => bank.read_busy = bank.read_busy.saturating_sub(1),
            }
        }
        granted
    }

    fn saw(&mut self, situation: &'static str) {
        *self.situations.entry(situation).or_default() += 1;
    }

    fn has_two_ports(&self) -> bool {
        self.config.bank_ports == BankPorts::ReadAndWrite
    }

    fn can_write(&mut self, bank: usize, subarray: u8) -> bool {
        let state = self.banks[bank];
        if state.writing().is_some() {
            self.saw("a write waits for a write of its bank");
            return false;
        }
        match state.reading() {
            None => true,
            Some(_) if self.has_two_ports() => {
                self.saw("a write has a port of its own");
                true
            }
            Some(read) if self.config.split_bank_write && read != subarray => {
                self.saw("a write beside a read");
                true
            }
            Some(_) => {
                self.saw("a write waits for a read of its bank");
                false
            }
        }
    }

    fn can_read(&mut self, bank: usize, subarray: u8) -> bool {
        let state = self.banks[bank];
        if state.reading().is_some() {
            self.saw("a read waits for a read of its bank");
            return false;
        }
        match state.writing() {
            None => true,
            Some(_) if self.has_two_ports() => true,
            Some(written) if self.config.split_bank_write && written != subarray => true,
            Some(_) => {
                self.saw("a read waits for a write of its bank");
                false
            }
        }
    }

    fn read_is_queued(&self, name: Name) -> bool {
        self.reads.iter().flatten().any(|read| read.name == name)
    }

    /// Writes come first. Returns how many the pool did.
    fn choose_writes(&mut self, now: u64, again: Again<'_>, granted: &mut Vec<Outcome>) -> u8 {
        let has_pool = self.config.write_pool_entries > 0;
        let turns = match self.config.write_pool_ports {
            PoolPorts::Any(accesses) if has_pool => accesses,
            _ => 1,
        };
        let mut pool_writes = 0;
        // A queue has its turns one after another.
        let mut done = None;
        for queue in (0..self.writes.len()).flat_map(|queue| (0..turns).map(move |_| queue)) {
            if done == Some(queue) {
                continue;
            }
            let Some(&asked) = self.writes[queue].front() else { continue };
            if self.read_is_queued(asked.name) {
                self.saw("a write waits for a read of its register");
                continue;
            }
            let (_, bank, subarray) = home(self.config, asked.name);
            let target = if self.config.write_pool_entries > 0 {
                let Some(target) = self.write_pool(&asked) else {
                    self.saw("a write waits for its victim's bank");
                    continue;
                };
                pool_writes += 1;
                target
            } else {
                if !self.can_write(bank, subarray) {
                    continue;
                }
                self.banks[bank].chosen_write = Some(subarray);
                self.cell_writes[cell(self.config, asked.name)] += 1;
                WriteTarget::Bank
            };
            self.writes[queue].pop_front();
            let next = AskedWrite { lanes: again(asked.name), asked: now, ..asked };
            if !next.lanes.is_empty() {
                self.saw("a write follows another of its register");
                self.writes[queue].push_back(next);
                done = Some(queue);
            }
            let cycles = if has_pool { 1 } else { u64::from(self.config.write_cycles) };
            granted.push(Outcome::Write(WriteGrant {
                index: home(self.config, asked.name).0,
                warp: asked.name.0,
                register: RegisterId(asked.name.1),
                bank: bank as u8,
                target,
                waited: now - asked.asked,
                until: now + cycles,
            }));
        }
        pool_writes
    }

    fn write_pool(&mut self, asked: &AskedWrite) -> Option<WriteTarget> {
        let (is_full, held) = (self.pool.is_full(), self.pool.find(asked.name).is_some());
        let may_leave = match self.pool.list.last() {
            Some(&PoolEntry { warp, register, .. }) if is_full && !held => {
                let (_, bank, subarray) = home(self.config, (warp, register.0));
                self.can_write(bank, subarray)
            }
            _ => false,
        };
        let outcome = self.pool.write(asked.name, asked.lanes, |_| may_leave);
        match outcome {
            PoolWrite::Hit => Some(WriteTarget::PoolHit),
            PoolWrite::Allocated => Some(WriteTarget::PoolAllocation),
            PoolWrite::Blocked(_) => None,
            PoolWrite::Replaced(victim) => {
                let name = (victim.warp, victim.register.0);
                let (_, bank, subarray) = home(self.config, name);
                self.banks[bank].chosen_write = Some(subarray);
                self.cell_writes[cell(self.config, name)] += 1;
                Some(WriteTarget::PoolReplacement { victim, bank: bank as u8 })
            }
        }
    }

    fn choose_reads(&mut self, now: u64, mut used: PoolUse, granted: &mut Vec<Outcome>) {
        let banks = self.banks.len();
        let mut served = Vec::new();
        for turn in 0..banks {
            let bank = ((now % banks as u64) as usize + turn) % banks;
            // A bank that is not split has one queue; the other has two, which are found here as
            // the first reads of each subarray, in the order asked for.
            let mut tried = Vec::new();
            for place in 0..self.reads[bank].len() {
                let read = self.reads[bank][place];
                let (_, _, subarray) = home(self.config, read.name);
                let queue = if self.config.split_bank_write { subarray } else { 0 };
                if tried.contains(&queue) {
                    continue;
                }
                tried.push(queue);
                if served.contains(&read.unit) {
                    self.saw("a read waits for its unit");
                    continue;
                }
                let Some(grant) = self.serve(now, (bank, subarray), &read, &mut used) else {
                    continue;
                };
                if tried.len() == 2 {
                    self.saw("a later read overtakes one of the other subarray");
                }
                served.push(read.unit);
                self.reads[bank].remove(place);
                granted.push(Outcome::Read(grant));
                break;
            }
        }
    }

    /// One read a cycle beside the writes, or together with them as many as are configured.
    fn pool_reads_once_more(&self, used: &PoolUse) -> bool {
        match self.config.write_pool_ports {
            PoolPorts::OneReadOneWrite => used.reads == 0,
            PoolPorts::Any(accesses) => used.reads + used.writes < accesses,
        }
    }

    /// The grant of a read that is first in its queue, if what it needs is free.
    fn serve(
        &mut self,
        now: u64,
        (bank, subarray): (usize, u8),
        read: &AskedRead,
        used: &mut PoolUse,
    ) -> Option<ReadGrant> {
        let found = self.pool.look_up(read.name, read.lanes);
        let (of_pool, of_bank) = (found != PoolRead::Miss, found != PoolRead::Hit);
        if of_pool && !self.pool_reads_once_more(used) {
            self.saw("a read waits for the pool");
            return None;
        }
        if of_bank && !self.can_read(bank, subarray) {
            return None;
        }
        let writing = self.banks[bank].writing().is_some();
        let beside_write = of_bank && writing && !self.has_two_ports();
        if of_bank {
            self.banks[bank].chosen_read = Some(subarray);
        } else if self.banks[bank].writing().or(self.banks[bank].reading()).is_some() {
            self.saw("the pool serves a read of a busy bank");
        }
        if of_pool {
            self.pool.read(read.name, read.lanes);
            used.reads += 1;
        }
        self.saw(match found {
            PoolRead::Miss if beside_write => "a read beside a write",
            PoolRead::Miss => "a read of a bank",
            PoolRead::Hit => "a read hit",
            PoolRead::PartialHit => "a partial hit",
        });
        let cycles = if of_bank { u64::from(self.config.read_cycles) } else { 1 };
        Some(ReadGrant {
            unit: read.unit,
            warp: read.name.0,
            register: RegisterId(read.name.1),
            bank: bank as u8,
            datapath: read.datapath,
            pool: found,
            beside_write,
            until: now + cycles,
        })
    }
}
