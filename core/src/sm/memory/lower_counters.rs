//! Lower counters: what a second level and the DRAM behind it count, one row per event.
//!
//! Source: `[EXPARS]` Table 2; `docs/MODEL.md`, rule 39.

use crate::named;

named! {
    /// What a second level and the DRAM behind it count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LowerEvent {
        /// Lines that the second level had for the primary cache, or that were on their way.
        L2ReadHit = "l2_read_hits",
        /// Lines of which it had nothing, or only what was written.
        L2ReadMiss = "l2_read_misses",
        /// Lines of writes that it had.
        L2WriteHit = "l2_write_hits",
        /// Lines of writes that it allocated.
        L2WriteMiss = "l2_write_misses",
        /// Lines that it wrote back when it replaced them.
        L2Writeback = "l2_writebacks",
        /// Bursts of 32 bytes that DRAM read.
        ReadBurst = "gddr_read_bursts",
        /// Bursts that it wrote, those without bytes to write among them.
        WriteBurst = "gddr_write_bursts",
        /// Lines whose row was open, or was opened for another line.
        RowHit = "gddr_row_hits",
        /// Lines in whose bank no row was open.
        RowMiss = "gddr_row_misses",
        /// Lines in whose bank another row was open.
        RowConflict = "gddr_row_conflicts",
        /// Rows that were opened.
        Activate = "gddr_activates",
        /// Rows that were closed.
        Precharge = "gddr_precharges",
    }
}

/// Counts of a second level and the DRAM behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowerCounters([u64; LowerEvent::ALL.len()]);

impl LowerCounters {
    /// A count.
    pub const fn get(&self, event: LowerEvent) -> u64 {
        self.0[event as usize]
    }

    /// What moved from and to DRAM. Unit: bytes.
    pub const fn dram_bytes(&self) -> u64 {
        32 * (self.get(LowerEvent::ReadBurst) + self.get(LowerEvent::WriteBurst))
    }

    #[inline]
    pub(super) const fn record(&mut self, event: LowerEvent, count: u64) {
        self.0[event as usize] += count;
    }
}
