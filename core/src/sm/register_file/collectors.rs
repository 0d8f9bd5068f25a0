//! Collector units: instructions between their issue and the start of their execution; and what of
//! them, results included, is still under way.
//!
//! Models: generic units, each with room for one instruction and one port that receives one operand
//! in a cycle; an issue port from the collectors to each execution unit, which takes the oldest
//! instruction that has its operands.
//! Source: `[WARRF]` 2.1; `docs/MODEL.md`, rule 28.

use core::mem::size_of;

use super::arrivals::{Arrivals, Link, Linked};
use crate::access::Access;
use crate::arbiter::{Arbiter, ArbiterConfig, ArbiterError, BankedRegister, QueuedRead, Queues};
use crate::event::Event;
use crate::image::{CheckedImage, Flags};
use crate::sm::config::SmSettings;
use crate::sm::counters::SmCounters;
use crate::sm::expansion::bundles::Bundles;
use crate::sm::expansion::counters::ExpansionEvent;
use crate::sm::expansion::hardware::{BANKS, OTHER_BANKS};
use crate::sm::expansion::homes::{Home, Homes};
use crate::sm::expansion::prefetcher::{self, Prefetcher};
use crate::sm::facts::Class;
use crate::sm::fault::{Fault, first};
use crate::sm::kernel::{Instruction, distinct};
use crate::sm::memory::BankPort;
use crate::sm::operand_delivery::{CollectorSettings, MAX_COLLECTOR_UNITS, OperandDelivery};
use crate::sm::scoreboard::Scoreboard;
use crate::sm::trace::MemoryAccess;
use crate::sm::wait::Wait;
use crate::tally;
use crate::units::{LANES, LaneMask, RegisterId};

/// Ports from the collectors to the execution units: one for each class.
pub(super) const PORTS: usize = Class::COUNT;

/// An instruction in a collector unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collected {
    pub(super) warp: u8,
    pub(super) port: u8,
    /// Operands that have not come.
    pub(super) missing: u8,
    pub(super) pc: u32,
    /// What it moves.
    pub(super) access: MemoryAccess,
    /// First cycle in which it can start, as far as its operands that have come are concerned.
    pub(super) from: u64,
    /// Instructions collected before.
    pub(super) order: u64,
}

impl Collected {
    const NOTHING: Self = Self {
        warp: 0,
        port: 0,
        missing: 0,
        pc: 0,
        access: MemoryAccess::uncached(0),
        from: 0,
        order: 0,
    };
}

/// A register whose value is on its way, from the issue of what makes it to the end of its write;
/// in the caller's memory, an element for each register of each resident warp.
#[derive(Clone, Copy, Debug)]
pub struct ResultOnItsWay {
    pub(super) link: Link,
    /// Lanes that are written.
    pub(super) lanes: LaneMask,
    /// What its write to the main register file was counted as.
    pub(super) event: Event,
    /// What a reader waits for.
    pub(super) wait: Wait,
    /// Writes after the first, where several levels give lanes of the register up at a time: at
    /// most an instruction's own, the cache's and the last result file's. Lanes, none without.
    more: [LaneMask; 2],
    /// What they were counted as.
    more_events: [Event; 2],
    /// It goes to the main register file.
    pub(super) to_main: bool,
    /// A long-latency operation makes it.
    pub(super) long: bool,
    /// A flush writes it, and its warp keeps its place until then.
    pub(super) flushed: bool,
}

impl ResultOnItsWay {
    /// No result, also for memory that is laid out at compile time.
    pub const NONE: Self = Self {
        link: Link::NONE,
        lanes: LaneMask::EMPTY,
        event: Event::MrfWritePrivate,
        wait: Wait::InOrder,
        more: [LaneMask::EMPTY; 2],
        more_events: [Event::MrfWritePrivate; 2],
        to_main: false,
        long: false,
        flushed: false,
    };

    pub(super) fn new(lanes: LaneMask, event: Event, wait: Wait) -> Self {
        Self { lanes, event, wait, ..Self::NONE }
    }

    /// These lanes are written to the main register file; in a write of their own if others are.
    #[inline]
    pub(super) fn goes_to_main(&mut self, lanes: LaneMask, event: Event) {
        if !self.to_main {
            (self.to_main, self.lanes, self.event) = (true, lanes, event);
            return;
        }
        let vacant = self.more.iter().position(|lanes| lanes.is_empty());
        debug_assert!(vacant.is_some(), "no more than three levels hold a register");
        if let Some(vacant) = vacant {
            (self.more[vacant], self.more_events[vacant]) = (lanes, event);
        }
    }

    /// The write that comes after this one becomes this one. Returns its lanes, none without.
    #[inline]
    pub(super) fn next_write(&mut self) -> LaneMask {
        let [lanes, after] = self.more;
        if !lanes.is_empty() {
            self.event = self.more_events[0];
            self.more = [after, LaneMask::EMPTY];
            self.more_events[0] = self.more_events[1];
        }
        lanes
    }
}

impl Linked for ResultOnItsWay {
    #[inline]
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// The collector units.
#[derive(Clone, Debug)]
pub(super) struct CollectorUnits {
    units: [Collected; MAX_COLLECTOR_UNITS],
    /// Bit: the unit has no instruction.
    free: u32,
    /// Bit: the unit exists.
    all: u32,
    /// By port, the units that have all operands.
    collected: [u32; PORTS],
    /// Bit: a port for which there are such units.
    ports: u8,
    issued: u64,
}

/// Collector units, arbiter and results on their way, of an SM that has them; plain data in the
/// caller's memory.
#[derive(Clone, Debug)]
pub struct Collectors {
    pub(super) arbiter: Arbiter,
    pub(super) arrivals: Arrivals,
    pub(super) units: CollectorUnits,
    /// Elements of the queue of reads that each unit has.
    pub(super) reads_per_unit: usize,
    /// Of registers that lie in scratchpad memory, if any do.
    pub(super) prefetcher: Option<Prefetcher>,
}

/// Elements of working memory that an SM's operand collectors need; none without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliverySize {
    /// Of [`DeliveryMemory::collectors`].
    pub collectors: usize,
    /// Of [`DeliveryMemory::reads`].
    pub reads: usize,
    /// Of [`DeliveryMemory::registers`] and [`DeliveryMemory::results`].
    pub registers: usize,
    /// Of [`DeliveryMemory::cell_writes`].
    pub cells: usize,
}

impl DeliverySize {
    pub(in crate::sm) fn of(settings: &SmSettings, image: &CheckedImage<'_>) -> Self {
        let OperandDelivery::Collectors(collectors) = settings.operand_delivery else {
            return Self::default();
        };
        let sources = image.instructions.iter().map(|one| usize::from(one.sources));
        Self {
            collectors: 1,
            reads: usize::from(collectors.units) * sources.max().unwrap_or(0).max(1),
            registers: usize::from(settings.max_warps) * usize::from(image.registers),
            cells: (settings.register_file_bytes / (LANES * 4)) as usize,
        }
    }

    /// Size of all of it. Unit: bytes.
    pub const fn bytes(&self) -> usize {
        self.collectors * size_of::<Option<Collectors>>()
            + self.reads * size_of::<QueuedRead>()
            + self.registers * (size_of::<BankedRegister>() + size_of::<ResultOnItsWay>())
            + self.cells * size_of::<u64>()
    }
}

/// The memory of an SM's operand collectors, handed in by the caller. Its contents do not matter,
/// but for `cell_writes`. Empty for an SM without.
#[derive(Debug, Default)]
pub struct DeliveryMemory<'m> {
    /// The collectors; one element.
    pub collectors: &'m mut [Option<Collectors>],
    /// Queues of reads.
    pub reads: &'m mut [QueuedRead],
    /// Where each register of each resident warp lies.
    pub registers: &'m mut [BankedRegister],
    /// Each register's result.
    pub results: &'m mut [ResultOnItsWay],
    /// Times that each warp-wide register of the main register file was written; the SM adds to it,
    /// but where registers lie in scratchpad memory.
    pub cell_writes: &'m mut [u64],
    /// The kernel's bundles, for an SM that expands its registers into scratchpad memory.
    pub bundles: Option<Bundles<'m>>,
}

/// Collectors with their memory.
#[derive(Debug)]
pub(super) struct Collection<'m> {
    pub(super) collectors: &'m mut Collectors,
    pub(super) queues: Queues<'m>,
    pub(super) results: &'m mut [ResultOnItsWay],
    /// Registers of a warp.
    pub(super) registers: usize,
    /// Instructions that the units which start a warp in every cycle start in one.
    pub(super) issue_slots: u8,
    /// Where registers lie in scratchpad memory, the kernel's.
    pub(super) bundles: Option<Bundles<'m>>,
}

impl<'m> Collection<'m> {
    /// The collectors of an SM that has them, idle.
    // Apart from the SM's construction: the parts that are built here take 14 KB of stack, which an
    // SM without collectors does not have on a small board.
    #[inline(never)]
    pub(super) fn new(
        settings: CollectorSettings,
        issue_slots: u8,
        image: &CheckedImage<'_>,
        size: &DeliverySize,
        memory: DeliveryMemory<'m>,
        expansion: Option<(Homes, u64)>,
    ) -> Result<Self, Fault> {
        const NAME: &str = "delivery.collectors";
        let DeliveryMemory { collectors, reads, registers, results, cell_writes, bundles } = memory;
        let other_banks = if expansion.is_some() { OTHER_BANKS } else { 0 };
        let mut queues = Queues {
            reads: first(reads, "delivery.reads", size.reads)?,
            registers: first(registers, "delivery.registers", size.registers)?,
            cell_writes: first(cell_writes, "delivery.cell_writes", size.cells)?,
        };
        let results = first(results, "delivery.results", size.registers)?;
        results.fill(ResultOnItsWay::NONE);
        let [place, ..] = collectors else {
            return Err(Fault::MemoryTooShort { memory: NAME, needed: 1, given: 0 });
        };
        // A kernel without registers has none to lie anywhere.
        let per_warp = image.registers.max(1);
        let collectors =
            place.insert(Collectors::new(settings, (per_warp, other_banks), &mut queues)?);
        if let Some((homes, latency)) = expansion {
            collectors.lay_out(&homes, settings.banks, &mut queues);
            collectors.prefetcher = Some(Prefetcher::new(homes, latency));
        }
        let registers = usize::from(image.registers);
        Ok(Self { collectors, queues, results, registers, issue_slots, bundles })
    }

    /// Whether no unit has room.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.collectors.units.is_full()
    }

    /// Whether the arbiter has neither split banks nor a write pool.
    #[inline]
    pub(super) const fn is_plain(&self) -> bool {
        self.collectors.arbiter.is_plain()
    }

    /// The next cycle after `now` in which a step does something.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        if self.collectors.is_busy() {
            return Some(now + 1);
        }
        let arrival = self.collectors.arrivals.next(now + 1);
        let Some(prefetcher) = &self.collectors.prefetcher else { return arrival };
        [arrival, prefetcher.next_event(now)].into_iter().flatten().min()
    }

    /// Banks of the main register file.
    pub(super) const fn banks(&self) -> u8 {
        self.collectors.arbiter.bank_count()
    }

    /// Takes a port of a bank for an access that begins now, if no access of a register takes it.
    pub(super) fn claim(&mut self, bank: u8, port: BankPort, now: u64) -> bool {
        match port {
            BankPort::Read => self.collectors.arbiter.claim_read(bank, now),
            BankPort::Write => self.collectors.arbiter.claim_write(bank, now),
        }
    }

    /// A warp has left the active set.
    pub(super) fn demote(&mut self, warp: usize) {
        self.collectors.arbiter.demote(warp as u8);
    }

    /// A warp has ended. Its values are dropped from the write pool and the operand cache.
    pub(super) fn drop_warp(&mut self, warp: usize, counters: &mut SmCounters) {
        if let Some(prefetcher) = &mut self.collectors.prefetcher {
            let dead = prefetcher.exit(warp as u8);
            counters.expansion.record(ExpansionEvent::DeadEviction, dead.into());
        }
        let dropped = self.collectors.arbiter.drop_warp(warp as u8);
        counters.accesses.record(Event::WritePoolDrop, dropped.into());
    }

    /// Marks the results of an instruction that issues as on their way, which a reader waits for
    /// with `wait`; `to_main`, to the main register file, all of them.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    pub(super) fn announce(
        &mut self,
        instruction: &Instruction<'_>,
        destinations: &[RegisterId],
        wait: Wait,
        scoreboard: &mut Scoreboard<'_>,
        to_main: bool,
    ) {
        match destinations {
            &[register] => self.announce_one(instruction, register, wait, scoreboard, to_main),
            // One without results is under way until it starts.
            [] if instruction.facts.collected => {
                scoreboard.under_way_mut(usize::from(instruction.warp)).begin();
            }
            registers => self.announce_each(instruction, registers, wait, scoreboard, to_main),
        }
    }

    /// Marks the results of an instruction that issues, and has none or several, as on their way,
    /// which a reader waits for with `wait`; `to_main`, to the main register file, all of them.
    // Apart from those with one, which are most.
    #[inline(never)]
    fn announce_each(
        &mut self,
        instruction: &Instruction<'_>,
        destinations: &[RegisterId],
        wait: Wait,
        scoreboard: &mut Scoreboard<'_>,
        to_main: bool,
    ) {
        distinct(destinations, |_, register| {
            self.announce_one(instruction, register, wait, scoreboard, to_main);
        });
    }

    /// Marks one result of an instruction that issues as on its way, which a reader waits for with
    /// `wait`; `to_main`, to the main register file.
    #[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
    #[inline(always)]
    fn announce_one(
        &mut self,
        &Instruction { facts, mask: lanes, warp, .. }: &Instruction<'_>,
        register: RegisterId,
        wait: Wait,
        scoreboard: &mut Scoreboard<'_>,
        to_main: bool,
    ) {
        let event = tally::event(Access::MrfWrite, facts.datapath);
        let long = facts.flags.contains(Flags::LONG_LATENCY);
        let result = &mut self.results[self.collectors.arbiter.index(warp, register)];
        // Its link is set when it is known when it comes.
        (result.lanes, result.event, result.wait) = (lanes, event, wait);
        (result.to_main, result.long, result.flushed) = (to_main, long, false);
        debug_assert!(result.more[0].is_empty(), "its last write was its last");
        scoreboard.announce(usize::from(warp), usize::from(register.0), wait, long);
    }
}

impl Collectors {
    pub(super) fn new(
        settings: CollectorSettings,
        (registers_per_warp, other_banks): (u16, u8),
        queues: &mut Queues<'_>,
    ) -> Result<Self, ArbiterError> {
        let config = ArbiterConfig {
            banks: settings.banks,
            other_banks,
            bank_ports: settings.bank_ports,
            bank_layout: settings.bank_layout,
            read_cycles: settings.read_cycles,
            write_cycles: settings.write_cycles,
            split_bank_write: settings.split_bank_write,
            write_pool_entries: settings.write_pool_entries,
            write_pool_ports: settings.write_pool_ports,
            registers_per_warp,
        };
        Ok(Self {
            arbiter: Arbiter::new(&config, queues)?,
            arrivals: Arrivals::new(),
            units: CollectorUnits::new(settings.units),
            reads_per_unit: queues.reads.len() / usize::from(settings.units),
            prefetcher: None,
        })
    }

    /// Lays registers out as their homes are: the register `r` of the register file in bank
    /// `r mod banks`, one of scratchpad memory in the bank of its line of the operand cache.
    fn lay_out(&self, homes: &Homes, banks: u8, queues: &mut Queues<'_>) {
        for index in 0..queues.registers.len() {
            let (warp, register) = queues.registers[index].name();
            let bank = match homes.home(warp.into(), register.0) {
                Some(Home::Scratchpad { .. }) => banks + prefetcher::bank(register),
                _ => (register.0 % u16::from(banks)) as u8,
            };
            self.arbiter.move_register(queues, index, bank);
        }
    }

    /// The bank of the arbiter that stands for the way of results to scratchpad memory.
    pub(super) const fn scratchpad_bank(&self) -> u8 {
        self.arbiter.bank_count() + BANKS as u8
    }

    /// True when every cycle may change something.
    #[inline]
    pub(super) const fn is_busy(&self) -> bool {
        self.units.free != self.units.all || !self.arbiter.is_idle()
    }
}

impl CollectorUnits {
    const fn new(units: u8) -> Self {
        let all = u32::MAX >> (u32::BITS - units as u32);
        Self {
            units: [Collected::NOTHING; MAX_COLLECTOR_UNITS],
            free: all,
            all,
            collected: [0; PORTS],
            ports: 0,
            issued: 0,
        }
    }

    /// True when no unit has room.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.free == 0
    }

    /// The unit that takes the next instruction; there is room.
    #[inline]
    pub(super) const fn next(&self) -> usize {
        self.free.trailing_zeros() as usize
    }

    /// Puts an instruction into that unit.
    #[inline]
    pub(super) fn enter(&mut self, unit: usize, instruction: Collected) {
        let order = self.issued;
        self.issued += 1;
        self.free &= !(1 << unit);
        self.units[unit] = Collected { order, ..instruction };
        if instruction.missing == 0 {
            self.complete(unit as u8, instruction.port);
        }
    }

    #[inline]
    fn complete(&mut self, unit: u8, port: u8) {
        self.collected[usize::from(port)] |= 1 << unit;
        self.ports |= 1 << port;
    }

    /// Bit: a port for which some unit has all operands.
    #[inline]
    pub(super) const fn ports(&self) -> u8 {
        self.ports
    }

    /// An operand comes, and is there in cycle `from`.
    #[inline]
    pub(super) fn receive(&mut self, unit: u8, from: u64) {
        let instruction = &mut self.units[usize::from(unit)];
        instruction.missing -= 1;
        instruction.from = instruction.from.max(from);
        if instruction.missing == 0 {
            let port = instruction.port;
            self.complete(unit, port);
        }
    }

    /// Warps with an instruction in some unit.
    pub(super) fn warps(&self) -> u64 {
        let taken = self.units.iter().enumerate();
        let taken = taken.filter(|&(unit, _)| self.all & !self.free & 1 << unit != 0);
        taken.fold(0, |warps, (_, instruction)| warps | 1 << instruction.warp)
    }

    /// The instruction in a unit.
    #[inline]
    pub(super) const fn pc(&self, unit: u8) -> u32 {
        self.units[unit as usize].pc
    }

    /// The oldest instruction for a port that can start now, if there is one.
    #[inline]
    pub(super) fn oldest(&self, port: usize, now: u64) -> Option<usize> {
        let mut units = self.collected[port];
        let can_start = |unit: usize| self.units[unit].from <= now;
        if units.is_power_of_two() {
            let unit = units.trailing_zeros() as usize;
            return can_start(unit).then_some(unit);
        }
        let mut oldest = None;
        let mut order = u64::MAX;
        while units != 0 {
            let unit = units.trailing_zeros() as usize;
            units &= units - 1;
            if can_start(unit) && self.units[unit].order < order {
                (oldest, order) = (Some(unit), self.units[unit].order);
            }
        }
        oldest
    }

    /// The instruction in a unit.
    #[inline]
    pub(super) const fn instruction(&self, unit: usize) -> &Collected {
        &self.units[unit]
    }

    /// Takes an instruction for a port out of its unit.
    #[inline]
    pub(super) const fn leave(&mut self, unit: usize, port: usize) {
        self.collected[port] &= !(1 << unit);
        if self.collected[port] == 0 {
            self.ports &= !(1 << port);
        }
        self.free |= 1 << unit;
    }
}
