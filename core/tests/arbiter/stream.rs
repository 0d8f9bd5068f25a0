//! The requesting side: traffic that keeps the arbiter's contract, made from any source of choices,
//! and sent to the arbiter, to the reference and to the checker of both.

use std::collections::BTreeMap;

use strata_core::arbiter::{
    Arbiter, ArbiterConfig, BankPorts, BankedRegister, Granted, QueuedRead, Queues, ReadGrant,
    WriteGrant,
};
use strata_core::bank_layout::BankLayout;
use strata_core::datapath::Datapath;
use strata_core::split_bank_write::MAX_BANKS;
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{PoolEntry, PoolPorts, WritePool};

use super::reference::{Again, Name, Outcome, Reference, Situations, cells, home};
use super::shadow::{Shadow, Totals};

/// A number below a limit.
pub(crate) type Choose<'c> = &'c mut dyn FnMut(u32) -> u32;

/// Most operands that a unit waits for.
const OPERANDS: usize = 4;

/// Notes what happens.
struct Notes<'a> {
    outcomes: Vec<Outcome>,
    again: Again<'a>,
}

impl Granted for Notes<'_> {
    fn read(&mut self, grant: ReadGrant) {
        self.outcomes.push(Outcome::Read(grant));
    }

    fn write(&mut self, grant: WriteGrant) -> LaneMask {
        self.outcomes.push(Outcome::Write(grant));
        (self.again)((grant.warp, grant.register.0))
    }
}

/// An arbiter and its memory.
pub(crate) struct Memory {
    pub(crate) arbiter: Arbiter,
    reads: Vec<QueuedRead>,
    registers: Vec<BankedRegister>,
    pub(crate) cell_writes: Vec<u64>,
}

impl Memory {
    pub(crate) fn new(config: ArbiterConfig, warps: u8, elements: usize) -> Self {
        let registers = usize::from(warps) * usize::from(config.registers_per_warp);
        let mut reads = vec![QueuedRead::NONE; elements];
        let mut registers = vec![BankedRegister::NONE; registers];
        let mut cell_writes = vec![0; cells(config, warps)];
        let mut queues =
            Queues { reads: &mut reads, registers: &mut registers, cell_writes: &mut cell_writes };
        let arbiter = Arbiter::new(&config, &mut queues).expect("ranges that are kept");
        Self { arbiter, reads, registers, cell_writes }
    }

    /// The arbiter and its queues.
    pub(crate) fn parts(&mut self) -> (&mut Arbiter, Queues<'_>) {
        let Self { arbiter, reads, registers, cell_writes } = self;
        (arbiter, Queues { reads, registers, cell_writes })
    }

    pub(crate) fn cycle(&mut self, now: u64, again: Again<'_>) -> Vec<Outcome> {
        let mut notes = Notes { outcomes: Vec::new(), again };
        let (arbiter, mut queues) = self.parts();
        arbiter.cycle(&mut queues, now, &mut notes);
        notes.outcomes
    }

    /// The pool's entries, the most recently used first.
    pub(crate) fn pool(&self) -> Vec<PoolEntry> {
        self.arbiter.pool().into_iter().flat_map(WritePool::entries).collect()
    }
}

/// The kinds of requests and their rates. Chances are in percent of cycles.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) config: ArbiterConfig,
    pub(crate) warps: u8,
    pub(crate) units: u8,
    /// Warps and registers of them that the traffic keeps to.
    pub(crate) hot: (u8, u16),
    pub(crate) instructions: u32,
    pub(crate) writes: u32,
    /// Most writes queued.
    pub(crate) queued_writes: usize,
    pub(crate) partial: u32,
    pub(crate) demotions: u32,
    pub(crate) drops: u32,
    /// Most cycles of a burst, and of the gap after it.
    pub(crate) burst: u32,
    pub(crate) gap: u32,
}

impl Shape {
    /// Any that the arbiter can be built for.
    pub(crate) fn choose(choose: Choose<'_>) -> Self {
        let warps = 1 + choose(48) as u8;
        let registers = 1 + choose(40) as u16;
        let bank_ports = BankPorts::ALL[choose(2) as usize];
        let most = if bank_ports == BankPorts::One { 32 } else { 16 };
        let banks = if choose(3) == 0 { 1 + choose(most) as u8 } else { 16 };
        let entries = match choose(8) {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 60,
            5 => 128,
            _ => 1 + choose(20) as u8,
        };
        let config = ArbiterConfig {
            banks,
            other_banks: 0,
            bank_ports,
            bank_layout: [BankLayout::WarpSkewed, BankLayout::Linear][choose(2) as usize],
            read_cycles: 1 + choose(3) as u8,
            write_cycles: 1 + choose(5) as u8,
            split_bank_write: choose(2) == 0,
            write_pool_entries: entries,
            write_pool_ports: match choose(5) {
                0 | 1 => PoolPorts::OneReadOneWrite,
                2 => PoolPorts::Any(1),
                more => PoolPorts::Any(more as u8 - 1),
            },
            registers_per_warp: registers,
        };
        Self {
            config,
            warps,
            units: 1 + choose(32) as u8,
            hot: (1 + choose(u32::from(warps)) as u8, 1 + choose(u32::from(registers)) as u16),
            instructions: 10 + choose(150),
            writes: 10 + choose(150),
            queued_writes: 1 + choose(40) as usize,
            partial: choose(3) * 30,
            demotions: choose(3) * 3,
            drops: choose(3),
            burst: 1 + choose(300),
            gap: choose(60),
        }
    }
}

/// The results of a stream.
pub(crate) struct Done {
    pub(crate) totals: Totals,
    pub(crate) situations: Situations,
}

pub(crate) struct Stream<'c> {
    name: String,
    shape: Shape,
    choose: Choose<'c>,
    model: Memory,
    reference: Reference,
    shadow: Shadow,
    now: u64,
    /// The read that has each element.
    elements: Vec<Option<Name>>,
    write_queued: Vec<bool>,
    /// Writes to ask for when the one of the register that is queued happens.
    again: BTreeMap<Name, LaneMask>,
    /// First cycle after the last write of each register.
    written: Vec<u64>,
}

impl<'c> Stream<'c> {
    pub(crate) fn new(name: String, shape: Shape, choose: Choose<'c>) -> Self {
        let Shape { config, warps, units, .. } = shape;
        let elements = usize::from(units) * OPERANDS;
        let model = Memory::new(config, warps, elements);
        let registers = model.registers.len();
        Self {
            reference: Reference::new(config, warps),
            shadow: Shadow::new(config, warps, format!("{name}, {shape:?}")),
            name,
            shape,
            choose,
            model,
            now: 1,
            elements: vec![None; elements],
            write_queued: vec![false; registers],
            again: BTreeMap::new(),
            written: vec![0; registers],
        }
    }

    /// Runs `cycles` cycles of traffic, and then until the queues are empty.
    pub(crate) fn run(mut self, cycles: u64) -> Done {
        let mut left_of_burst = 0;
        let mut left_of_gap = 0;
        let end = self.now + cycles;
        while self.now < end {
            if left_of_burst == 0 && left_of_gap == 0 {
                left_of_burst = 1 + (self.choose)(self.shape.burst);
                left_of_gap = (self.choose)(self.shape.gap + 1);
            }
            if left_of_burst > 0 {
                left_of_burst -= 1;
                self.ask_writes();
                self.cycle();
                self.ask_reads();
                // Values that leave an upper level at issue request their write after the arbiter's
                // turn.
                if (self.choose)(4) == 0 {
                    self.ask_writes();
                }
                self.change_warps();
                self.now += 1;
                continue;
            }
            // In a gap the queued accesses happen; then there are no requests for a while.
            if self.model.arbiter.is_idle() {
                for _ in 0..left_of_gap {
                    let granted = self.reference.cycle(self.now, &|_| LaneMask::EMPTY);
                    assert!(granted.is_empty(), "{}: idle", self.name);
                    self.now += 1;
                }
                left_of_gap = 0;
            } else {
                left_of_gap -= 1;
                self.cycle();
                self.now += 1;
            }
        }
        self.finish()
    }

    /// Whether an event of that chance happens; above 100 percent, how often.
    fn times(&mut self, percent: u32) -> u32 {
        percent / 100 + u32::from((self.choose)(100) < percent % 100)
    }

    fn name(&mut self) -> Name {
        let (warps, registers) = self.shape.hot;
        let warp = (self.choose)(u32::from(warps)) as u8;
        (warp, (self.choose)(u32::from(registers)) as u16)
    }

    fn mask(&mut self) -> LaneMask {
        if self.times(self.shape.partial) == 0 {
            return LaneMask::FULL;
        }
        match (self.choose)(3) {
            0 => LaneMask(1 << (self.choose)(32)),
            1 => LaneMask(0x0000_ffff << (16 * (self.choose)(2))),
            _ => LaneMask(1 + (self.choose)(u32::MAX)),
        }
    }

    fn ask_writes(&mut self) {
        for _ in 0..self.times(self.shape.writes) {
            let name = self.name();
            let lanes = self.mask();
            let index = home(self.shape.config, name).0;
            let queued = self.write_queued.iter().filter(|&&queued| queued).count();
            if self.write_queued[index] {
                self.again.insert(name, lanes);
                continue;
            }
            if queued == self.shape.queued_writes {
                continue;
            }
            self.write_queued[index] = true;
            let now = self.now;
            let (arbiter, mut queues) = self.model.parts();
            arbiter.ask_write(&mut queues, (name.0, RegisterId(name.1), lanes), now);
            self.reference.ask_write((name, lanes), now);
            self.shadow.ask_write(name, lanes, now);
        }
    }

    /// Instructions of one to four operands for units that are free.
    fn ask_reads(&mut self) {
        for _ in 0..self.times(self.shape.instructions) {
            let unit = (self.choose)(u32::from(self.shape.units)) as u8;
            let first = usize::from(unit) * OPERANDS;
            if self.elements[first..first + OPERANDS].iter().any(Option::is_some) {
                continue;
            }
            let lanes = self.mask();
            let warp = self.name().0;
            for element in first..=first + (self.choose)(OPERANDS as u32) as usize {
                let (_, register) = self.name();
                self.ask_read(element, unit, ((warp, register), lanes));
            }
        }
    }

    fn ask_read(&mut self, element: usize, unit: u8, (name, lanes): (Name, LaneMask)) {
        let index = home(self.shape.config, name).0;
        if self.write_queued[index] || self.written[index] > self.now + 1 {
            return;
        }
        let datapath = [Datapath::Private, Datapath::Shared][(self.choose)(2) as usize];
        self.elements[element] = Some(name);
        let now = self.now;
        let (arbiter, mut queues) = self.model.parts();
        let of = (name.0, RegisterId(name.1), lanes);
        arbiter.ask_read(&mut queues, element, (unit, datapath), of);
        self.reference.ask_read((unit, datapath), (name, lanes));
        self.shadow.ask_read(unit, name, lanes, now);
    }

    /// Warps leave the active set; those that read nothing may end.
    fn change_warps(&mut self) {
        if self.times(self.shape.demotions) > 0 {
            let warp = self.name().0;
            self.model.arbiter.demote(warp);
            self.reference.demote(warp);
        }
        if self.times(self.shape.drops) > 0 {
            let warp = self.name().0;
            if self.elements.iter().flatten().all(|name| name.0 != warp) {
                let dropped = self.model.arbiter.drop_warp(warp);
                let expected = self.reference.drop_warp(warp);
                assert_eq!(dropped, expected, "{}, cycle {}: dropped", self.name, self.now);
                self.shadow.drop_warp(warp, dropped);
            }
        }
        self.compare_state();
    }

    fn cycle(&mut self) {
        let again = |name| self.again.get(&name).copied().unwrap_or(LaneMask::EMPTY);
        let granted = self.model.cycle(self.now, &again);
        self.shadow.cycle(self.now, &granted);
        let expected = self.reference.cycle(self.now, &again);
        let (name, now, shape) = (&self.name, self.now, &self.shape);
        assert_eq!(granted, expected, "{name}, cycle {now}: what happens (left: model), {shape:?}");
        for outcome in &granted {
            match outcome {
                Outcome::Read(grant) => self.free_element(grant),
                Outcome::Write(grant) => {
                    let name = (grant.warp, grant.register.0);
                    let index = home(self.shape.config, name).0;
                    self.written[index] = grant.until;
                    let again = self.again.remove(&name);
                    self.write_queued[index] = again.is_some();
                    if let Some(lanes) = again {
                        self.shadow.ask_write(name, lanes, now);
                    }
                }
            }
        }
        self.compare_state();
    }

    /// Frees the element of a granted read: of several of one register, the first is served first.
    fn free_element(&mut self, grant: &ReadGrant) {
        let first = usize::from(grant.unit) * OPERANDS;
        let name = (grant.warp, grant.register.0);
        let elements = &mut self.elements[first..first + OPERANDS];
        if let Some(element) = elements.iter_mut().find(|element| **element == Some(name)) {
            *element = None;
        }
    }

    fn compare_state(&mut self) {
        let (name, now) = (&self.name, self.now);
        let pool = self.model.pool();
        assert_eq!(pool, self.reference.pool(), "{name}, cycle {now}: pool (left: model)");
        let idle = (self.model.arbiter.is_idle(), self.reference.is_idle());
        assert_eq!(idle.0, idle.1, "{name}, cycle {now}: idle (left: model)");
        let queued = (self.model.arbiter.queued_reads(), self.reference.queued_reads());
        assert_eq!(queued.0, queued.1, "{name}, cycle {now}: queued reads (left: model)");
        let banks = self.model.arbiter.banks();
        for bank in 0..usize::from(self.shape.config.banks) {
            let busy = self.reference.write_busy(bank);
            let two_ports = self.shape.config.bank_ports == BankPorts::ReadAndWrite;
            let port = bank + if two_ports { MAX_BANKS / 2 } else { 0 };
            let said = banks.write_busy(port, now + 1);
            assert_eq!(said, busy, "{name}, cycle {now}: bank {bank} is busy (left: model)");
            let subarray = self.reference.written_subarray(bank);
            let said = banks.written_subarray(port);
            assert_eq!(said, subarray, "{name}, cycle {now}: bank {bank}'s subarray");
        }
    }

    fn finish(mut self) -> Done {
        while !self.model.arbiter.is_idle() {
            // Bounded: the shadow fails where nothing happens for longer than an access takes.
            self.cycle();
            self.now += 1;
        }
        self.shadow.end(self.now, self.model.pool().into_iter());
        let cells = &self.model.cell_writes;
        assert_eq!(*cells, self.reference.cell_writes, "{}: cell writes", self.name);
        let totals = self.shadow.totals;
        let sum: u64 = cells.iter().sum();
        let written = totals.bank_writes + totals.write_backs;
        assert_eq!(sum, written, "{}: cell writes are those of the banks", self.name);
        Done { totals, situations: self.reference.situations }
    }
}
