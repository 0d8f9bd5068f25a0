//! The second level of a design and the DRAM behind it: what `[l2]` and `[gddr]` in a design file
//! say (`docs/MODEL.md`, rule 39).

use serde::Deserialize;
use strata_core::named;
use strata_core::sm::config::MAX_LATENCY;
use strata_core::sm::memory::gddr::COLUMN_BYTES;
use strata_core::sm::memory::gddr::settings::{
    CHUNK_BYTES, ClockRatio, GddrSettings, GddrTiming, MAX_BANK_GROUPS, MAX_BANKS, MAX_CHANNELS,
    MAX_QUEUE, MAX_RATIO, MAX_ROW_BYTES,
};
use strata_core::sm::memory::l2::L2Settings;
use strata_core::sm::memory::touched::LINE_BYTES;

use super::checks::{combination, range};
use strata_config::ConfigError;
use strata_config::by_name::ByName;
use strata_config::quantity::Frequency;

/// Largest second level. Unit: KB.
const MOST_KB: u32 = 65_536;
/// The clock of commands. Unit: kHz.
const COMMAND_KHZ: u32 = 924_000;
/// Most lines of a set.
const MOST_WAYS: u32 = 128;

named! {
    /// How much of a GPU's second level and DRAM one SM has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Part {
        /// What is its own of 15 SMs.
        Share = "share",
        /// All of it, as if no other SM had work.
        Whole = "whole",
    }
}

impl Part {
    const fn settings(self) -> L2Settings {
        match self {
            Self::Share => L2Settings::SHARE,
            Self::Whole => L2Settings::WHOLE,
        }
    }
}

/// `[l2]`: changes the second level that `[gddr]` brings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2Table {
    capacity_kb: Option<i64>,
    ways: Option<i64>,
    latency_cycles: Option<i64>,
    bytes_per_cycle: Option<i64>,
}

/// `[gddr]`: gives the design a second level and DRAM of channels and banks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GddrTable {
    part: Option<ByName<Part>>,
    channels: Option<i64>,
    banks: Option<i64>,
    bank_groups: Option<i64>,
    row_bytes: Option<i64>,
    queue: Option<i64>,
    data_ticks: Option<i64>,
    clock: Option<[i64; 2]>,
    latency_cycles: Option<i64>,
    rrd: Option<i64>,
    rcd: Option<i64>,
    rp: Option<i64>,
    rc: Option<i64>,
    cl: Option<i64>,
    wr: Option<i64>,
    ccd: Option<i64>,
    ccdl: Option<i64>,
    wl: Option<i64>,
    cdlr: Option<i64>,
    rtpl: Option<i64>,
    turn: Option<i64>,
}

/// A number that a file gives in a range, or else another one.
struct Number<'f> {
    file: &'f str,
    key: &'static str,
    given: Option<i64>,
    unit: &'static str,
}

impl Number<'_> {
    fn within(self, least: u32, most: u32, otherwise: u32) -> Result<u32, ConfigError> {
        let Self { file, key, given, unit } = self;
        let Some(value) = given else { return Ok(otherwise) };
        let fits = u32::try_from(value).ok().filter(|value| (least..=most).contains(value));
        fits.ok_or_else(|| range(file, key, value, least, most, unit))
    }
}

/// The command clock beside an SM's: 924 MHz (`[EXPARS]` Table 2), the ratio in lowest terms.
/// Beside a clock that leaves too large numbers, as beside 1.4 GHz.
fn beside(clock: Frequency) -> ClockRatio {
    let (mut divisor, mut rest) = (COMMAND_KHZ, clock.0);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let small = |khz: u32| u16::try_from(khz / divisor).ok().filter(|&part| part <= MAX_RATIO);
    let ratio = small(COMMAND_KHZ).zip(small(clock.0));
    ratio.map_or(GddrSettings::WHOLE.clock, |(ticks, cycles)| ClockRatio { ticks, cycles })
}

/// The second level that a file asks for, if it does; `clock` is the SM's.
///
/// # Errors
/// A value out of its range, or `[l2]` alone.
pub(super) fn settings(
    file: &str,
    l2: Option<&L2Table>,
    gddr: Option<&GddrTable>,
    clock: Frequency,
) -> Result<Option<L2Settings>, ConfigError> {
    let Some(gddr) = gddr else {
        return match l2 {
            None => Ok(None),
            Some(_) => Err(combination(
                file,
                "`[l2]` without `[gddr]`: nothing lies behind it",
                "add `[gddr]`, of which every value has a default",
            )),
        };
    };
    let base = gddr.part.map_or(Part::Share, |part| part.0).settings();
    let own = GddrSettings { clock: beside(clock), ..base.gddr };
    let base = L2Settings { gddr: gddr.settings(file, &own)?, ..base };
    l2.map_or(Ok(base), |table| table.settings(file, base)).map(Some)
}

impl L2Table {
    fn settings(&self, file: &str, base: L2Settings) -> Result<L2Settings, ConfigError> {
        let number = |key, given, unit| Number { file, key, given, unit };
        let kb = number("l2.capacity_kb", self.capacity_kb, "KB");
        let kb = kb.within(1, MOST_KB, base.bytes / 1024)?;
        let ways = number("l2.ways", self.ways, "lines").within(1, MOST_WAYS, base.ways.into())?;
        let (bytes, set_bytes) = (kb * 1024, ways * LINE_BYTES);
        if !bytes.is_multiple_of(set_bytes) {
            return Err(combination(
                file,
                &format!(
                    "an L2 of {kb} KB is no whole number of sets of {ways} lines, {set_bytes} bytes"
                ),
                "give another `l2.capacity_kb`, or a power of two as `l2.ways`",
            ));
        }
        let latency = number("l2.latency_cycles", self.latency_cycles, "cycles");
        let latency = latency.within(1, MAX_LATENCY.into(), base.latency.into())?;
        let moves = number("l2.bytes_per_cycle", self.bytes_per_cycle, "bytes in a cycle");
        let bytes_per_cycle = moves.within(1, 65_536, base.bytes_per_cycle)?;
        let (ways, latency) = (ways as u8, latency as u16);
        Ok(L2Settings { bytes, ways, latency, bytes_per_cycle, ..base })
    }
}

impl GddrTable {
    fn settings(&self, file: &str, base: &GddrSettings) -> Result<GddrSettings, ConfigError> {
        let number = |key, given, unit| Number { file, key, given, unit };
        let few = |key, given, unit, most: u8, otherwise: u8| {
            number(key, given, unit)
                .within(1, most.into(), otherwise.into())
                .map(|value| value as u8)
        };
        let channels =
            few("gddr.channels", self.channels, "channels", MAX_CHANNELS, base.channels)?;
        let banks = few("gddr.banks", self.banks, "banks", MAX_BANKS, base.banks)?;
        let groups = (self.bank_groups, base.bank_groups);
        let bank_groups = few("gddr.bank_groups", groups.0, "groups", MAX_BANK_GROUPS, groups.1)?;
        if !banks.is_multiple_of(bank_groups) {
            let problem = format!("{banks} banks of a channel in {bank_groups} groups");
            return Err(combination(
                file,
                &problem,
                "let `gddr.banks` be a multiple of the groups",
            ));
        }
        let row_bytes = number("gddr.row_bytes", self.row_bytes, "bytes");
        let row_bytes = row_bytes.within(CHUNK_BYTES, MAX_ROW_BYTES, base.row_bytes)?;
        if !row_bytes.is_multiple_of(CHUNK_BYTES) {
            let problem = format!("`gddr.row_bytes = {row_bytes}` is no multiple of {CHUNK_BYTES}");
            return Err(combination(file, &problem, "give a row in steps of 256 bytes"));
        }
        let queue = few("gddr.queue", self.queue, "lines", MAX_QUEUE, base.queue)?;
        let latency = number("gddr.latency_cycles", self.latency_cycles, "cycles");
        let latency = latency.within(1, MAX_LATENCY.into(), base.latency.into())? as u16;
        let clock = self.clock.map_or(Ok(base.clock), |[ticks, cycles]| {
            let most = u32::from(MAX_RATIO);
            let within = |given, unit| {
                number("gddr.clock", Some(given), unit).within(1, most, 1).map(|value| value as u16)
            };
            let (ticks, cycles) = (within(ticks, "ticks")?, within(cycles, "cycles")?);
            Ok(ClockRatio { ticks, cycles })
        })?;
        Ok(GddrSettings {
            channels,
            banks,
            bank_groups,
            row_bytes,
            queue,
            data_ticks: few("gddr.data_ticks", self.data_ticks, "ticks", 255, base.data_ticks)?,
            clock,
            latency,
            timing: self.timing(file, &base.timing)?,
        })
    }

    fn timing(&self, file: &str, base: &GddrTiming) -> Result<GddrTiming, ConfigError> {
        let mut timing = *base;
        for (key, given, own) in [
            ("gddr.rrd", self.rrd, &mut timing.rrd),
            ("gddr.rcd", self.rcd, &mut timing.rcd),
            ("gddr.rp", self.rp, &mut timing.rp),
            ("gddr.rc", self.rc, &mut timing.rc),
            ("gddr.cl", self.cl, &mut timing.cl),
            ("gddr.wr", self.wr, &mut timing.wr),
            ("gddr.ccd", self.ccd, &mut timing.ccd),
            ("gddr.ccdl", self.ccdl, &mut timing.ccdl),
            ("gddr.wl", self.wl, &mut timing.wl),
            ("gddr.cdlr", self.cdlr, &mut timing.cdlr),
            ("gddr.rtpl", self.rtpl, &mut timing.rtpl),
            ("gddr.turn", self.turn, &mut timing.turn),
        ] {
            let number = Number { file, key, given, unit: "ticks" };
            *own = number.within(1, 255, (*own).into())? as u8;
        }
        if timing.rc < timing.rp {
            let problem =
                format!("`gddr.rc = {}` is less than `gddr.rp = {}`", timing.rc, timing.rp);
            return Err(combination(file, &problem, "a bank is open for the difference of both"));
        }
        Ok(timing)
    }
}

/// A second level and its DRAM as a report tells them, by table of a design file.
pub(super) fn parameters(settings: Option<&L2Settings>) -> Vec<(&'static str, String)> {
    let texts = settings.map_or_else(
        || ["none"; 3].map(str::to_owned),
        |settings| [second_level(settings), dram(&settings.gddr), timing(&settings.gddr.timing)],
    );
    ["l2", "gddr", "gddr timing"].into_iter().zip(texts).collect()
}

fn second_level(settings: &L2Settings) -> String {
    let L2Settings { bytes, ways, latency, bytes_per_cycle, .. } = settings;
    format!(
        "{} KB in sets of {ways}, {latency} cycles, {bytes_per_cycle} bytes in a cycle",
        bytes / 1024
    )
}

fn dram(gddr: &GddrSettings) -> String {
    format!(
        "{} x {} banks in {} groups, rows of {} bytes, queues of {}, {COLUMN_BYTES} bytes in {} \
         ticks, {} ticks in {} cycles, {} cycles",
        gddr.channels,
        gddr.banks,
        gddr.bank_groups,
        gddr.row_bytes,
        gddr.queue,
        gddr.data_ticks,
        gddr.clock.ticks,
        gddr.clock.cycles,
        gddr.latency
    )
}

fn timing(timing: &GddrTiming) -> String {
    timing.all().map(|(name, ticks)| format!("{name} {ticks}")).join(", ")
}

/// A second level and its DRAM in words.
pub(super) fn describe(settings: &L2Settings) -> String {
    format!("L2 of {}; GDDR of {}", second_level(settings), dram(&settings.gddr))
}

/// What a report says is assumed of such a memory.
pub(super) const ASSUMED: &str = "L2 and GDDR: all but capacity, channels, banks, clock, RRD, RCD, \
                                  RP, RC, CL and WR (DEV-092)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_clock_has_its_ratio_to_every_clock() {
        for (khz, ticks, cycles) in [
            (1_400_000, 33, 50),
            (700_000, 33, 25),
            (1_000_000, 231, 250),
            (924_000, 1, 1),
            (924_001, 33, 50),
        ] {
            assert_eq!(beside(Frequency(khz)), ClockRatio { ticks, cycles }, "{khz} kHz");
        }
    }
}
