//! GDDR settings: channels, banks, the clock of commands and their timing.
//!
//! Source: `[EXPARS]` Table 2 for channels, banks, the clock and six of the timings; the others,
//! the latency and the sizes are assumed (`docs/DEVIATIONS.md`, DEV-092).

use crate::sm::timing::MAX_LATENCY;

/// Most channels.
pub const MAX_CHANNELS: u8 = 16;
/// Most banks of a channel.
pub const MAX_BANKS: u8 = 32;
/// Most groups of banks of a channel.
pub const MAX_BANK_GROUPS: u8 = 8;
/// Most requests among which a channel chooses.
pub const MAX_QUEUE: u8 = 64;
/// Neighbouring bytes of memory that lie in one row of one bank. Unit: bytes.
pub const CHUNK_BYTES: u32 = 256;
/// Longest row. Unit: bytes.
pub const MAX_ROW_BYTES: u32 = 65536;
/// Most ticks, or cycles, of a [`ClockRatio`].
pub const MAX_RATIO: u16 = 10_000;

/// The clock of commands, beside that of the SM: so many ticks in so many cycles. The first tick is
/// at cycle 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockRatio {
    /// Range: `1..=MAX_RATIO`.
    pub ticks: u16,
    /// Unit: cycles of the SM. Range: `1..=MAX_RATIO`.
    pub cycles: u16,
}

impl ClockRatio {
    /// The first tick at or after the beginning of a cycle.
    pub const fn tick_from(self, cycle: u64) -> u64 {
        (cycle * self.ticks as u64).div_ceil(self.cycles as u64)
    }

    /// The last tick at or before the beginning of a cycle.
    pub const fn last_tick_by(self, cycle: u64) -> u64 {
        cycle * self.ticks as u64 / self.cycles as u64
    }

    /// The cycle that a tick lies in.
    pub const fn cycle_of(self, tick: u64) -> u64 {
        tick * self.cycles as u64 / self.ticks as u64
    }

    /// The first cycle that begins at or after a tick.
    pub const fn cycle_from(self, tick: u64) -> u64 {
        (tick * self.cycles as u64).div_ceil(self.ticks as u64)
    }
}

/// Timing of commands. Unit: ticks of the command clock. Range: `1..=255`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GddrTiming {
    /// From an activation to one of another bank of the channel.
    pub rrd: u8,
    /// From an activation to the bank's first read or write.
    pub rcd: u8,
    /// From a precharge to the bank's next activation.
    pub rp: u8,
    /// From an activation to the bank's next. Range: from [`Self::rp`].
    pub rc: u8,
    /// From a read to its first data.
    pub cl: u8,
    /// From the last data of a write to the bank's precharge.
    pub wr: u8,
    /// From a read or write to one of another group of banks.
    pub ccd: u8,
    /// From a read or write to one of the same group of banks.
    pub ccdl: u8,
    /// From a write to its first data.
    pub wl: u8,
    /// From the last data of a write to the channel's next read.
    pub cdlr: u8,
    /// From a read to the bank's precharge.
    pub rtpl: u8,
    /// Between the data of a read and that of a write that follows.
    pub turn: u8,
}

impl GddrTiming {
    /// `[EXPARS]` Table 2 has the first six.
    pub const EXPARS: Self = Self {
        rrd: 6,
        rcd: 12,
        rp: 12,
        rc: 40,
        cl: 12,
        wr: 12,
        ccd: 2,
        ccdl: 3,
        wl: 4,
        cdlr: 5,
        rtpl: 2,
        turn: 2,
    };

    /// Every value, by its name.
    pub const fn all(&self) -> [(&'static str, u8); 12] {
        [
            ("rrd", self.rrd),
            ("rcd", self.rcd),
            ("rp", self.rp),
            ("rc", self.rc),
            ("cl", self.cl),
            ("wr", self.wr),
            ("ccd", self.ccd),
            ("ccdl", self.ccdl),
            ("wl", self.wl),
            ("cdlr", self.cdlr),
            ("rtpl", self.rtpl),
            ("turn", self.turn),
        ]
    }
}

/// What DRAM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GddrSettings {
    /// Range: `1..=MAX_CHANNELS`.
    pub channels: u8,
    /// Of a channel. Range: a multiple of the groups up to [`MAX_BANKS`].
    pub banks: u8,
    /// Groups of banks of a channel: bank modulo groups. Range: `1..=MAX_BANK_GROUPS`.
    pub bank_groups: u8,
    /// Unit: bytes. Range: a multiple of [`CHUNK_BYTES`] up to [`MAX_ROW_BYTES`].
    pub row_bytes: u32,
    /// Requests among which a channel chooses. Range: `1..=MAX_QUEUE`.
    pub queue: u8,
    /// For how long a read or write of 64 bytes takes the channel's data bus. Unit: ticks. Range:
    /// from 1.
    pub data_ticks: u8,
    /// The clock of commands.
    pub clock: ClockRatio,
    /// From the second level to the queue. Unit: cycles of the SM. Range: `1..=MAX_LATENCY`.
    pub latency: u16,
    /// Of commands.
    pub timing: GddrTiming,
}

impl GddrSettings {
    /// `[EXPARS]` Table 2: six channels at 924 MHz, for 15 SMs at 1.4 GHz. A channel moves 32
    /// bytes in a tick.
    pub const WHOLE: Self = Self {
        channels: 6,
        banks: 16,
        bank_groups: 4,
        row_bytes: 2048,
        queue: 16,
        data_ticks: 2,
        clock: ClockRatio { ticks: 33, cycles: 50 },
        latency: 100,
        timing: GddrTiming::EXPARS,
    };

    /// One SM's share of it, 2 of 5 ticks of one channel's data bus: 6 channels are for 15 SMs.
    pub const SHARE: Self = Self { channels: 1, data_ticks: 5, ..Self::WHOLE };

    /// Whether it can be.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), GddrError> {
        let in_range = |what, value: u32, least: u32, most: u32| {
            let error = GddrError { what, value, least, most };
            if (least..=most).contains(&value) { Ok(()) } else { Err(error) }
        };
        in_range("channels", self.channels.into(), 1, MAX_CHANNELS.into())?;
        in_range("bank_groups", self.bank_groups.into(), 1, MAX_BANK_GROUPS.into())?;
        in_range("banks", self.banks.into(), self.bank_groups.into(), MAX_BANKS.into())?;
        in_range("queue", self.queue.into(), 1, MAX_QUEUE.into())?;
        in_range("row_bytes", self.row_bytes, CHUNK_BYTES, MAX_ROW_BYTES)?;
        in_range("data_ticks", self.data_ticks.into(), 1, 255)?;
        in_range("latency", self.latency.into(), 1, MAX_LATENCY.into())?;
        let ClockRatio { ticks, cycles } = self.clock;
        in_range("clock", ticks.into(), 1, MAX_RATIO.into())?;
        in_range("clock", cycles.into(), 1, MAX_RATIO.into())?;
        for (name, value) in self.timing.all() {
            in_range(name, value.into(), 1, 255)?;
        }
        in_range("rc", self.timing.rc.into(), self.timing.rp.into(), 255)?;
        let (groups, chunk) = (self.bank_groups, CHUNK_BYTES);
        if !self.banks.is_multiple_of(groups) {
            let what = "banks that are no multiple of the groups,";
            return Err(GddrError { what, value: self.banks.into(), least: 1, most: 32 });
        }
        if !self.row_bytes.is_multiple_of(chunk) {
            let what = "row_bytes that are no multiple of 256,";
            let (value, most) = (self.row_bytes, MAX_ROW_BYTES);
            return Err(GddrError { what, value, least: chunk, most });
        }
        Ok(())
    }
}

/// A value out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GddrError {
    /// Which.
    pub what: &'static str,
    /// What it is.
    pub value: u32,
    /// What it is at least.
    pub least: u32,
    /// What it is at most.
    pub most: u32,
}

impl core::fmt::Display for GddrError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { what, value, least, most } = self;
        write!(to, "GDDR with {what} {value}: allowed is {least} to {most}")
    }
}

impl core::error::Error for GddrError {}
