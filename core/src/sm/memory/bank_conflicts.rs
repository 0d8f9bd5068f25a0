//! Bank conflicts: where registers and the memory on the chip meet in banks, and what that costs an
//! instruction.
//!
//! Models: registers, shared memory and the cache in the same 4 logical banks, register number and
//! line number modulo 4; the accesses of an instruction counted by bank, and a cycle for each
//! beyond the first of the bank that is accessed most.
//! Does not model: writes of results; conflicts between instructions, which belong to the memory
//! that has them cycle by cycle.
//! Source: `[MICRO2012]` 4.2, 4.3 and 6.1, `[DISS]` 7.3.3 and 7.5.5; `docs/MODEL.md`, rule 36.

use super::touched::{BankMapping, LOGICAL_BANKS, RowsInBanks};
use crate::named;
use crate::sm::operand_delivery::{MAX_FIXED_BANKS, OperandDelivery};

named! {
    /// How registers and the memory on the chip meet in banks, without the parameters: see
    /// [`BankConflicts`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BankConflictKind {
        /// Not at all: registers have banks of their own.
        Apart = "apart",
        /// An instruction pays for the bank that it accesses most.
        Penalty = "penalty",
        /// The ports of the banks are given out cycle by cycle, to registers first.
        Arbitrated = "arbitrated",
    }

    /// Which accesses of a bank take turns.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum ConflictPorts {
        /// All of an instruction, as the text of `[MICRO2012]` 6.1 counts them.
        #[default]
        Any = "any",
        /// Reads, and apart from them writes: a bank has a port for each (`[MICRO2012]` 4.1).
        ReadWrite = "read-write",
    }
}

/// How registers and the memory on the chip meet in banks. With banks of 4 bytes
/// ([`BankMapping::Partitioned`]) they never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BankConflicts {
    /// Not at all: registers have banks of their own.
    #[default]
    Apart,
    /// An instruction pays for the bank that it accesses most: `[MICRO2012]` 6.1. Takes the place
    /// of the window of operand reads, which must be one cycle, and of waits for the reads of
    /// earlier instructions.
    Instruction {
        /// Which accesses of a bank take turns.
        ports: ConflictPorts,
    },
    /// The ports of the banks are given out cycle by cycle: to registers, then to the oldest access
    /// of memory, then to lines that come from DRAM. `[MICRO2012]` 4.3.
    CycleByCycle,
}

impl BankConflicts {
    /// The way without its parameters, which has a name.
    pub const fn kind(self) -> BankConflictKind {
        match self {
            Self::Apart => BankConflictKind::Apart,
            Self::Instruction { .. } => BankConflictKind::Penalty,
            Self::CycleByCycle => BankConflictKind::Arbitrated,
        }
    }

    /// Whether an SM can have them, whose memory lies in banks like this, and whose operands come
    /// like this within a window of so many cycles.
    ///
    /// # Errors
    /// What does not go together.
    pub const fn check(
        self,
        mapping: BankMapping,
        delivery: OperandDelivery,
        operand_window: u8,
    ) -> Result<(), BankConflictError> {
        let kind = self.kind();
        let banks = match (kind, delivery) {
            (BankConflictKind::Apart, _) => return Ok(()),
            (_, OperandDelivery::Collectors(_)) => return Err(BankConflictError::Collectors(kind)),
            (_, OperandDelivery::FixedLatency { banks }) => banks,
        };
        if matches!(kind, BankConflictKind::Penalty) && operand_window != 1 {
            return Err(BankConflictError::OperandWindow(operand_window));
        }
        let unified = !matches!(mapping, BankMapping::Partitioned);
        if unified && banks as usize != LOGICAL_BANKS {
            return Err(BankConflictError::Banks(banks));
        }
        Ok(())
    }
}

/// Bank conflicts that an SM cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankConflictError {
    /// With operand collectors, which have an arbiter and banks of their own.
    Collectors(BankConflictKind),
    /// Penalties with a window of operand reads that is not one cycle.
    OperandWindow(u8),
    /// A main register file with another number of banks than unified storage.
    Banks(u8),
}

impl core::fmt::Display for BankConflictError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Collectors(kind) => write!(
                to,
                "`{}` bank conflicts need a register file without operand collectors, whose \
                 arbiter knows no memory",
                kind.name()
            ),
            Self::OperandWindow(cycles) => write!(
                to,
                "`{}` bank conflicts charge each access of a bank beyond the first: they need an \
                 operand window of 1 cycle, not {cycles}",
                BankConflictKind::Penalty.name()
            ),
            Self::Banks(banks) => write!(
                to,
                "registers lie in the {LOGICAL_BANKS} logical banks of unified storage, not in \
                 {banks}"
            ),
        }
    }
}

impl core::error::Error for BankConflictError {}

/// What an instruction reads of the main register file, and whether it accesses memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandReads {
    /// Reads of each bank.
    pub banks: [u8; MAX_FIXED_BANKS],
    /// Whether the instruction is the one whose access the memory was asked for last.
    pub accesses: bool,
}

/// What an instruction accesses of the memory on the chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Rows of each bank of unified storage.
    pub rows: RowsInBanks,
    /// The most words of a bank of 4 bytes.
    pub words_of_a_bank: u16,
    /// Whether it does nothing but write.
    pub writes_only: bool,
    /// Cycles for which it takes its path; 0 without an access.
    pub cycles: u64,
}

impl MemoryUse {
    /// Of an instruction that accesses no memory.
    pub const NONE: Self =
        Self { rows: RowsInBanks::NONE, words_of_a_bank: 0, writes_only: false, cycles: 0 };
}

/// The accesses of an instruction to the bank that it accesses most: `[MICRO2012]` Table 5.
///
/// `meet`: registers and memory lie in the same banks, and accesses of these ports take turns; if
/// none, they lie apart. With banks of 4 bytes they do in any case, and words are counted.
pub fn most_accesses(
    mapping: BankMapping,
    meet: Option<ConflictPorts>,
    reads: &[u8; MAX_FIXED_BANKS],
    memory: &MemoryUse,
) -> u64 {
    let most_reads = reads.iter().copied().fold(0, u8::max);
    if mapping == BankMapping::Partitioned {
        return u64::from(most_reads).max(memory.words_of_a_bank.into());
    }
    let rows = memory.rows.most_in_each_bank();
    let together = match meet {
        None => false,
        Some(ConflictPorts::Any) => true,
        Some(ConflictPorts::ReadWrite) => !memory.writes_only,
    };
    let of_bank = |(&reads, rows): (&u8, u8)| {
        let (reads, rows) = (u64::from(reads), u64::from(rows));
        if together { reads + rows } else { reads.max(rows) }
    };
    let most = reads.iter().zip(rows).map(of_bank).fold(0, u64::max);
    most.max(most_reads.into())
}

/// By how many cycles an instruction is later that accesses a bank so often, and takes the path of
/// memory for so many cycles: `[MICRO2012]` 6.1, without the cycles that the path counts itself.
pub const fn penalty(most_accesses: u64, path_cycles: u64) -> u64 {
    most_accesses.saturating_sub(if path_cycles == 0 { 1 } else { path_cycles })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::sm::operand_delivery::CollectorSettings;
    use std::string::ToString;

    const UNIFIED: BankMapping = BankMapping::Simple;
    const ANY: Option<ConflictPorts> = Some(ConflictPorts::Any);

    fn reads(registers: &[usize]) -> [u8; MAX_FIXED_BANKS] {
        let mut reads = [0; MAX_FIXED_BANKS];
        for register in registers {
            reads[register % 4] += 1;
        }
        reads
    }

    /// One whole row in one cluster of a bank, `count` times.
    fn rows(bank: u64, count: u16) -> MemoryUse {
        let mut rows = RowsInBanks::NONE;
        (0..count).for_each(|_| rows.add(bank, 0b1));
        MemoryUse { rows, words_of_a_bank: 1, cycles: 1, ..MemoryUse::NONE }
    }

    #[test]
    fn the_bank_that_is_accessed_most_decides() {
        let delay = |mapping, registers: &[usize], memory: &MemoryUse| {
            penalty(most_accesses(mapping, ANY, &reads(registers), memory), memory.cycles)
        };
        let none = &MemoryUse::NONE;
        for mapping in BankMapping::ALL {
            // FFMA from R0, R4 and R8; with two of them in the ORF.
            assert_eq!(delay(mapping, &[0, 4, 8], none), 2);
            assert_eq!(delay(mapping, &[8], none), 0);
            assert_eq!(delay(mapping, &[], none), 0);
            // Three of one bank and two of another.
            assert_eq!(delay(mapping, &[0, 4, 8, 1, 5], none), 2);
        }
        // A load of shared memory in bank 1, its address in R5, R4 or the ORF.
        let load = &rows(1, 1);
        for (registers, unified) in [(&[5][..], 1), (&[4], 0), (&[], 0), (&[5, 1], 2)] {
            let partitioned = registers.len().saturating_sub(1) as u64;
            assert_eq!(delay(UNIFIED, registers, load), unified, "{registers:?}");
            assert_eq!(delay(BankMapping::Partitioned, registers, load), partitioned);
        }
        // The path's own cycles are not counted twice.
        let slow = &MemoryUse { cycles: 4, ..rows(1, 4) };
        assert_eq!(delay(UNIFIED, &[2], slow), 0);
        assert_eq!(delay(UNIFIED, &[1], slow), 1);
        let words = &MemoryUse { words_of_a_bank: 32, cycles: 32, ..rows(0, 1) };
        assert_eq!(delay(BankMapping::Partitioned, &[0, 4], words), 0);
    }

    #[test]
    fn a_write_meets_no_read_where_banks_have_a_port_for_each() {
        let load = rows(1, 2);
        let store = MemoryUse { writes_only: true, ..load };
        let most = |meet, memory| most_accesses(UNIFIED, meet, &reads(&[5]), memory);
        let read_write = Some(ConflictPorts::ReadWrite);
        assert_eq!([most(ANY, &load), most(ANY, &store)], [3, 3]);
        assert_eq!([most(read_write, &load), most(read_write, &store)], [3, 2]);
        assert_eq!([most(None, &load), most(None, &store)], [2, 2]);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let collectors = OperandDelivery::Collectors(CollectorSettings::WARRF_SRAM);
        let four = OperandDelivery::FOUR_BANKS;
        let eight = OperandDelivery::FixedLatency { banks: 8 };
        let any = BankConflicts::Instruction { ports: ConflictPorts::Any };
        let cycles = BankConflicts::CycleByCycle;
        let parted = BankMapping::Partitioned;
        let of = |kind| Err(BankConflictError::Collectors(kind));
        for (conflicts, mapping, delivery, window, expected) in [
            (BankConflicts::Apart, UNIFIED, collectors, 3, Ok(())),
            (any, UNIFIED, four, 1, Ok(())),
            (any, parted, eight, 1, Ok(())),
            (any, parted, four, 3, Err(BankConflictError::OperandWindow(3))),
            (any, UNIFIED, eight, 1, Err(BankConflictError::Banks(8))),
            (any, UNIFIED, collectors, 1, of(BankConflictKind::Penalty)),
            (cycles, UNIFIED, four, 3, Ok(())),
            (cycles, UNIFIED, eight, 3, Err(BankConflictError::Banks(8))),
            (cycles, parted, eight, 3, Ok(())),
            (cycles, parted, collectors, 3, of(BankConflictKind::Arbitrated)),
        ] {
            let found = conflicts.check(mapping, delivery, window);
            assert_eq!(found, expected, "{conflicts:?}, {mapping:?}");
            if let Err(error) = found {
                assert!(error.to_string().contains("bank"), "{error}");
            }
        }
    }
}
