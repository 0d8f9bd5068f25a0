//! Ports of the main register file: logical banks with one read and one write in a cycle each.
//!
//! Models: an instruction reads its operands bank by bank, one a cycle; reads of a bank take their
//! turns in issue order. Results and writebacks take a bank's first free write from their time on,
//! reserved at issue.
//! Does not model: write conflicts further ahead than [`HORIZON`]: a result of DRAM is taken to
//! find an idle write when it comes.
//! Source: `[RFC2011]` 2.1, `[DISS]` 4.2; `docs/MODEL.md`, rule 20.

use crate::sm::banks::{BankCounts, Banks};
use crate::sm::memory::BankPort;
use crate::sm::observe::{Observation, SmObserver, WriteCause};
use crate::sm::operand_delivery::MAX_FIXED_BANKS;
use crate::units::RegisterId;

/// How far ahead writes are reserved. Unit: cycles.
const HORIZON: u64 = 128;

/// How the reads of an instruction went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadOutcome {
    /// Cycles beyond the window.
    pub(super) delay: u64,
    /// Reads that waited for another read of the same instruction.
    pub(super) own_conflicts: u64,
    /// Banks at which the instruction waited for reads of earlier ones.
    pub(super) other_conflicts: u64,
}

/// The read ports: for how long each bank is taken.
#[derive(Clone, Debug)]
pub(super) struct ReadPorts {
    // Invariant: a byte is at most 127. An instruction that finds reads ahead of it holds up the
    // next until they are within the window, so a bank is at most 7 cycles behind when the first of
    // a cycle's two instructions comes, each with 32 reads at most.
    /// Cycles from `since` on in which a bank still reads, one byte for each.
    backlog: u64,
    since: u64,
    /// Cycles in which an instruction may read its operands without delay. Range: up to 127.
    window: u64,
    /// In each byte, what lifts a bank that is behind the window to 128.
    slack: u64,
}

impl ReadPorts {
    /// Each byte 1.
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// The highest bit of each byte.
    const TOPS: u64 = 0x8080_8080_8080_8080;

    fn new(window: u8) -> Self {
        let window = u64::from(window.min(127));
        Self { backlog: 0, since: 0, window, slack: Self::ONES * (127 - window) }
    }

    /// The first cycle in which no read of a bank is planned.
    pub(super) const fn free_at(&self, bank: usize) -> u64 {
        self.since + BankCounts::from_bytes(self.backlog).of(bank)
    }

    /// Takes the read of a bank in cycle `now`, if no read of a register does. Returns whether it
    /// did.
    fn claim(&mut self, bank: usize, now: u64) -> bool {
        let backlog = self.backlog_at(now);
        if BankCounts::from_bytes(backlog).of(bank) != 0 {
            return false;
        }
        (self.backlog, self.since) = (backlog + (1 << (8 * bank)), now);
        true
    }

    /// Reads operands from cycle `now` on; within the window they cost nothing.
    #[inline]
    fn read(&mut self, counts: BankCounts, now: u64) -> ReadOutcome {
        let backlog = self.backlog_at(now);
        let reading = Self::not_zero(counts.bytes());
        self.backlog = backlog.wrapping_add(counts.bytes());
        self.since = now;
        debug_assert_eq!(self.backlog & Self::TOPS, 0);
        let mut late = self.backlog.wrapping_add(self.slack) & reading;
        let mut delay = 0;
        while late != 0 {
            let bank = late.trailing_zeros() as usize / 8;
            late &= late - 1;
            delay = delay.max(BankCounts::from_bytes(self.backlog).of(bank) - self.window);
        }
        let own = counts.bytes().wrapping_sub(reading >> 7);
        let other = (reading & Self::not_zero(backlog)) >> 7;
        ReadOutcome {
            delay,
            own_conflicts: if own == 0 { 0 } else { Self::sum(own) },
            other_conflicts: if other == 0 { 0 } else { Self::sum(other) },
        }
    }

    /// The backlog that is left at cycle `now`.
    #[inline]
    fn backlog_at(&self, now: u64) -> u64 {
        let passed = (now - self.since).min(127);
        // With their top bits set no byte borrows from the next; it keeps the bit if not below 0.
        let left = (self.backlog | Self::TOPS).wrapping_sub(Self::ONES.wrapping_mul(passed));
        let kept = left & Self::TOPS;
        left & kept.wrapping_sub(kept >> 7)
    }

    /// The highest bit of each byte that is not zero; bytes are at most 127.
    #[inline]
    const fn not_zero(bytes: u64) -> u64 {
        bytes.wrapping_add(Self::TOPS - Self::ONES) & Self::TOPS
    }

    /// The sum of the bytes, which is below 256.
    #[inline]
    const fn sum(bytes: u64) -> u64 {
        bytes.wrapping_mul(Self::ONES) >> 56
    }
}

/// The write ports: which of the next cycles' writes are taken.
#[derive(Clone, Debug)]
pub(super) struct WritePorts {
    /// Cycle in the upper bits, one bit for each bank in the lower eight; stands for no writes when
    /// the cycle is not the one asked for.
    taken: [u64; HORIZON as usize],
}

impl WritePorts {
    pub(super) const fn new() -> Self {
        Self { taken: [0; HORIZON as usize] }
    }

    /// Takes the first free write of a bank at or after `time`, and returns its cycle.
    #[inline]
    pub(super) fn write(&mut self, bank: usize, time: u64, now: u64) -> u64 {
        let bank = 1 << bank;
        let mut cycle = time;
        while cycle < now + HORIZON {
            let taken = &mut self.taken[(cycle % HORIZON) as usize];
            if *taken >> MAX_FIXED_BANKS != cycle {
                *taken = cycle << MAX_FIXED_BANKS;
            }
            if *taken & bank == 0 {
                *taken |= bank;
                return cycle;
            }
            cycle += 1;
        }
        time
    }

    /// Takes the write of a bank in cycle `now`, if no write of a register does. Returns whether it
    /// did.
    fn claim(&mut self, bank: usize, now: u64) -> bool {
        let taken = &mut self.taken[(now % HORIZON) as usize];
        if *taken >> MAX_FIXED_BANKS == now && *taken >> bank & 1 != 0 {
            return false;
        }
        self.write(bank, now, now) == now
    }
}

/// The ports of the banks, everything of which is decided at issue.
#[derive(Clone, Debug)]
pub(super) struct FixedPorts {
    pub(super) banks: Banks,
    /// The memory hears of operands.
    pub(super) heard: bool,
    reads: ReadPorts,
    writes: WritePorts,
}

impl FixedPorts {
    pub(super) fn new(banks: u8, window: u8, heard: bool) -> Self {
        let (banks, reads) = (Banks::new(banks), ReadPorts::new(window));
        Self { banks, heard, reads, writes: WritePorts::new() }
    }

    /// Reads operands of an instruction that issues now.
    #[inline]
    pub(super) fn read(&mut self, counts: BankCounts, now: u64) -> ReadOutcome {
        self.reads.read(counts, now)
    }

    /// The banks that were just read for an instruction: first cycle, and the one after the last.
    pub(super) fn planned(&self, counts: BankCounts) -> impl Iterator<Item = (u8, u64, u64)> {
        let read = (0..MAX_FIXED_BANKS).filter(move |&bank| counts.of(bank) != 0);
        read.map(move |bank| {
            let until = self.reads.free_at(bank);
            (bank as u8, until - counts.of(bank), until)
        })
    }

    /// Reserves the write of a register at or after `time`, and tells of it. Returns its cycle.
    #[inline]
    pub(super) fn write<O: SmObserver>(
        &mut self,
        (writer, register): (Writer, RegisterId),
        time: u64,
        now: u64,
        observer: &mut O,
    ) -> u64 {
        let bank = self.banks.of(register);
        let cycle = self.writes.write(bank, time, now);
        if O::LISTENS {
            let (bank, Writer { place, cause }) = (bank as u8, writer);
            observer.observe(Observation::BankWrite { bank, place, register, cycle, cause });
        }
        cycle
    }

    /// Takes a port of a bank in cycle `now`, if no access of a register does.
    pub(super) fn claim(&mut self, bank: u8, port: BankPort, now: u64) -> bool {
        match port {
            BankPort::Read => self.reads.claim(usize::from(bank), now),
            BankPort::Write => self.writes.claim(usize::from(bank), now),
        }
    }
}

/// Whose writes of the main register file are reserved, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// The warp's place.
    pub(super) place: u8,
    pub(super) cause: WriteCause,
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn counts(registers: &[u16]) -> BankCounts {
        let registers: std::vec::Vec<_> = registers.iter().copied().map(RegisterId).collect();
        BankCounts::reads(Banks::new(4), &registers)
    }

    #[test]
    fn a_window_of_three_absorbs_three_reads_of_a_bank() {
        let mut ports = ReadPorts::new(3);
        let outcome = ports.read(counts(&[0, 4, 8]), 10);
        assert_eq!(outcome, ReadOutcome { delay: 0, own_conflicts: 2, other_conflicts: 0 });
        // Its third read is at 12; the next instruction's wait for cycle 13 and end at 15.
        let outcome = ports.read(counts(&[0, 4, 8]), 11);
        assert_eq!(outcome, ReadOutcome { delay: 2, own_conflicts: 2, other_conflicts: 1 });
        // Other banks do not notice.
        assert_eq!(ports.read(counts(&[1, 2, 3]), 12), ReadOutcome::default());
    }

    #[test]
    fn a_window_of_one_charges_each_access_beyond_the_first() {
        for (registers, delay) in
            [(&[0, 1, 2][..], 0), (&[0, 4], 1), (&[0, 4, 8], 2), (&[0, 4, 1, 5], 1), (&[3; 32], 31)]
        {
            let mut ports = ReadPorts::new(1);
            assert_eq!(ports.read(counts(registers), 7).delay, delay, "{registers:?}");
        }
    }

    #[test]
    fn two_writes_of_a_bank_never_share_a_cycle() {
        let mut ports = WritePorts::new();
        assert_eq!(ports.write(0, 20, 12), 20);
        assert_eq!(ports.write(1, 20, 12), 20);
        assert_eq!(ports.write(0, 20, 12), 21);
        assert_eq!(ports.write(0, 19, 13), 19);
        assert_eq!(ports.write(0, 19, 13), 22);
        // The same place of the ring, a turn later.
        assert_eq!(ports.write(0, 20 + HORIZON, 100), 20 + HORIZON);
        // Beyond the horizon nothing is reserved.
        assert_eq!(ports.write(0, 500, 100), 500);
        assert_eq!(ports.write(0, 500, 100), 500);
    }

    #[test]
    fn eight_banks_serve_eight_registers_at_a_time() {
        let registers = [0, 1, 2, 3, 4, 5, 6, 7].map(RegisterId);
        for (banks, delay, own) in [(8, 0, 0), (4, 1, 4), (2, 3, 6), (1, 7, 7)] {
            let counts = BankCounts::reads(Banks::new(banks), &registers);
            let outcome = ReadPorts::new(1).read(counts, 5);
            let expected = ReadOutcome { delay, own_conflicts: own, other_conflicts: 0 };
            assert_eq!(outcome, expected, "{banks} banks");
        }
    }

    /// Registers come first, and a claim is for one cycle.
    #[test]
    fn a_claim_takes_a_port_that_no_register_takes() {
        let mut ports = FixedPorts::new(4, 3, false);
        ports.read(counts(&[0, 4, 1]), 10);
        let mut claim = |bank, port, now| ports.claim(bank, port, now);
        // Bank 0 reads in cycles 10 and 11, bank 1 in 10.
        assert!(!claim(0, BankPort::Read, 11) && claim(1, BankPort::Read, 11));
        assert!(!claim(1, BankPort::Read, 11) && claim(0, BankPort::Read, 12));
        // A read that issues in the next cycle does not notice.
        assert_eq!(ports.read(counts(&[0, 1]), 13), ReadOutcome::default());
        let writer = Writer { place: 0, cause: WriteCause::Result };
        let observer = &mut crate::sm::observe::Unobserved;
        assert_eq!(ports.write((writer, RegisterId(2)), 20, 13, observer), 20);
        assert!(!ports.claim(2, BankPort::Write, 20) && ports.claim(3, BankPort::Write, 20));
        assert!(!ports.claim(3, BankPort::Write, 20));
        assert_eq!(ports.write((writer, RegisterId(3)), 20, 20, observer), 21);
    }
}
