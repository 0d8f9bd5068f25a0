//! Ports of the main register file: 4 logical banks with one read and one write in a cycle each.
//!
//! Models: an instruction reads its operands bank by bank, one a cycle; reads of a bank take their
//! turns in issue order. Results and writebacks take a bank's first free write from their time on,
//! reserved at issue.
//! Does not model: write conflicts further ahead than [`HORIZON`]: a result of DRAM is taken to
//! find an idle write when it comes.
//! Source: `[RFC2011]` 2.1, `[DISS]` 4.2; `docs/MODEL.md`, rule 20.

use super::config::BANKS;
use crate::units::RegisterId;

/// How far ahead writes are reserved. Unit: cycles.
const HORIZON: u64 = 128;

/// Accesses of one instruction to each bank, one byte each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankCounts(u32);

impl BankCounts {
    pub(crate) const EMPTY: Self = Self(0);

    /// The bank of a register: registers are interleaved.
    #[inline]
    pub(crate) const fn bank(register: RegisterId) -> usize {
        register.0 as usize % BANKS
    }

    /// One more access. At most 255 of a bank: an instruction has at most 32 operands.
    #[inline]
    pub(crate) const fn add(&mut self, register: RegisterId) {
        self.0 += 1 << (8 * Self::bank(register));
    }

    /// Accesses to one bank.
    pub(crate) const fn of(self, bank: usize) -> u64 {
        (self.0 >> (8 * bank) & 0xff) as u64
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// How the reads of an instruction went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadOutcome {
    /// Cycles beyond the window.
    pub(crate) delay: u64,
    /// Reads that waited for another read of the same instruction.
    pub(crate) own_conflicts: u64,
    /// Banks at which the instruction waited for reads of earlier ones.
    pub(crate) other_conflicts: u64,
}

/// The read ports: for how long each bank is taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadPorts {
    // Invariant: a byte is at most 127. An instruction that finds reads ahead of it holds up the
    // next until they are within the window, so a bank is at most 7 cycles behind when the first of
    // a cycle's two instructions comes, each with 32 reads at most.
    /// Cycles from `since` on in which a bank still reads, one byte for each.
    backlog: u32,
    since: u64,
}

impl ReadPorts {
    /// Each byte 1.
    const ONES: u32 = 0x0101_0101;
    /// The highest bit of each byte.
    const TOPS: u32 = 0x8080_8080;

    /// The first cycle in which no read of a bank is planned.
    pub(crate) const fn free_at(&self, bank: usize) -> u64 {
        self.since + BankCounts(self.backlog).of(bank)
    }

    /// Reads operands from cycle `now` on; within `window` cycles they cost nothing.
    #[inline]
    pub(crate) fn read(&mut self, counts: BankCounts, now: u64, window: u8) -> ReadOutcome {
        let window = u32::from(window.min(127));
        let backlog = self.backlog_at(now);
        let (reading, behind) = (Self::not_zero(counts.0), Self::not_zero(backlog));
        self.backlog = backlog + counts.0;
        self.since = now;
        debug_assert_eq!(self.backlog & Self::TOPS, 0);
        let outside = (self.backlog + Self::ONES * (127 - window)) & Self::TOPS;
        let mut delay = 0;
        if outside & reading != 0 {
            for bank in (0..BANKS).filter(|&bank| counts.of(bank) != 0) {
                delay = delay.max(BankCounts(self.backlog).of(bank).saturating_sub(window.into()));
            }
        }
        ReadOutcome {
            delay,
            own_conflicts: u64::from(Self::sum(counts.0) - Self::sum(reading >> 7)),
            other_conflicts: u64::from(Self::sum((reading & behind) >> 7)),
        }
    }

    /// The backlog that is left at cycle `now`.
    #[inline]
    fn backlog_at(&self, now: u64) -> u32 {
        let passed = (now - self.since).min(127) as u32;
        // With their top bits set no byte borrows from the next; it keeps the bit if not below 0.
        let left = (self.backlog | Self::TOPS) - Self::ONES * passed;
        let kept = left & Self::TOPS;
        left & (kept - (kept >> 7))
    }

    /// The highest bit of each byte that is not zero; bytes are at most 127.
    #[inline]
    const fn not_zero(bytes: u32) -> u32 {
        (bytes + (Self::TOPS - Self::ONES)) & Self::TOPS
    }

    /// The sum of the bytes, which is below 256.
    #[inline]
    const fn sum(bytes: u32) -> u32 {
        bytes.wrapping_mul(Self::ONES) >> 24
    }
}

/// The write ports: which of the next cycles' writes are taken.
#[derive(Clone, Debug)]
pub(crate) struct WritePorts {
    /// Cycle in the upper bits, one bit for each bank in the lower four; stands for no writes when
    /// the cycle is not the one asked for.
    taken: [u64; HORIZON as usize],
}

impl WritePorts {
    pub(crate) const fn new() -> Self {
        Self { taken: [0; HORIZON as usize] }
    }

    /// Takes the first free write of a register's bank at or after `time`, and returns its cycle.
    #[inline]
    pub(crate) fn write(&mut self, register: RegisterId, time: u64, now: u64) -> u64 {
        let bank = 1 << BankCounts::bank(register);
        let mut cycle = time;
        while cycle < now + HORIZON {
            let taken = &mut self.taken[(cycle % HORIZON) as usize];
            if *taken >> BANKS != cycle {
                *taken = cycle << BANKS;
            }
            if *taken & bank == 0 {
                *taken |= bank;
                return cycle;
            }
            cycle += 1;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(registers: &[u16]) -> BankCounts {
        let mut counts = BankCounts::default();
        for &register in registers {
            counts.add(RegisterId(register));
        }
        counts
    }

    #[test]
    fn a_window_of_three_absorbs_three_reads_of_a_bank() {
        let mut ports = ReadPorts::default();
        let outcome = ports.read(counts(&[0, 4, 8]), 10, 3);
        assert_eq!(outcome, ReadOutcome { delay: 0, own_conflicts: 2, other_conflicts: 0 });
        // Its third read is at 12; the next instruction's wait for cycle 13 and end at 15.
        let outcome = ports.read(counts(&[0, 4, 8]), 11, 3);
        assert_eq!(outcome, ReadOutcome { delay: 2, own_conflicts: 2, other_conflicts: 1 });
        // Other banks do not notice.
        assert_eq!(ports.read(counts(&[1, 2, 3]), 12, 3), ReadOutcome::default());
    }

    #[test]
    fn a_window_of_one_charges_each_access_beyond_the_first() {
        for (registers, delay) in
            [(&[0, 1, 2][..], 0), (&[0, 4], 1), (&[0, 4, 8], 2), (&[0, 4, 1, 5], 1), (&[3; 32], 31)]
        {
            let mut ports = ReadPorts::default();
            assert_eq!(ports.read(counts(registers), 7, 1).delay, delay, "{registers:?}");
        }
    }

    #[test]
    fn two_writes_of_a_bank_never_share_a_cycle() {
        let mut ports = WritePorts::new();
        assert_eq!(ports.write(RegisterId(4), 20, 12), 20);
        assert_eq!(ports.write(RegisterId(5), 20, 12), 20);
        assert_eq!(ports.write(RegisterId(0), 20, 12), 21);
        assert_eq!(ports.write(RegisterId(8), 19, 13), 19);
        assert_eq!(ports.write(RegisterId(8), 19, 13), 22);
        // The same place of the ring, a turn later.
        assert_eq!(ports.write(RegisterId(4), 20 + HORIZON, 100), 20 + HORIZON);
        // Beyond the horizon nothing is reserved.
        assert_eq!(ports.write(RegisterId(4), 500, 100), 500);
        assert_eq!(ports.write(RegisterId(4), 500, 100), 500);
    }
}
