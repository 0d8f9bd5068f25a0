//! Memory: what a memory with a data cache tells, as slices on the tracks of a group of its own.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use strata_core::sm::memory::cached::CacheEvent;
use strata_core::sm::memory::gddr::row::Row;
use strata_core::sm::memory::touched::{LINE_BYTES, TouchedLine};
use strata_core::sm::memory::{CacheEventKind, Ticket};
use strata_core::sm::{MemoryObservation, Observation, RowObservation};

use super::tracks::{Tracks, UseArgs, words};
use crate::timeline::file::Group;

/// Only in files of designs with a data cache.
const MEMORY: Group = Group { number: 6, name: "memory" };

/// Tracks, in their order; behind them one for each kind of conflict, and one for each channel of
/// DRAM behind a second level.
const PATH: usize = 0;
const LOOKUPS: usize = 1;
const DRAM: usize = 2;
const FILLS: usize = 3;
const REFUSED: usize = 4;
const CONFLICTS: usize = 5;
const CHANNELS: usize = CONFLICTS + CacheEvent::ALL.len();

/// A line, and the access that it is touched by.
#[derive(Clone, Debug, Serialize)]
struct LineArgs {
    /// Address, or the word of each lane.
    line: String,
    pc: u32,
    place: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct LinesArgs {
    lines: Vec<LineArgs>,
}

#[derive(Serialize)]
struct AccessesArgs {
    accesses: Vec<UseArgs>,
}

/// A read or write of DRAM behind a second level.
#[derive(Clone, Debug, Serialize)]
struct RowArgs {
    bank: u8,
    row: u64,
    /// How the line found its bank; none of what is read or written of it later.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'static str>,
    write: bool,
    /// The first cycle in which the data is there.
    there: u64,
    #[serde(flatten)]
    of: Option<UseArgs>,
}

#[derive(Serialize)]
struct RowsArgs {
    rows: Vec<RowArgs>,
}

/// What a slice says beside its name.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Args {
    Line(LineArgs),
    Use(UseArgs),
    Nothing {},
}

/// A slice that is told before it is over.
#[derive(Clone, Debug)]
struct Told {
    from: u64,
    until: u64,
    name: String,
    args: Args,
}

/// What was told of later cycles.
#[derive(Debug, Default)]
pub(super) struct MemoryTracks {
    /// The group has its name.
    begun: bool,
    /// By track, each in order of time.
    slices: BTreeMap<usize, VecDeque<Told>>,
    /// Lines that come, by cycle.
    fills: BTreeMap<u64, Vec<LineArgs>>,
    /// Reads and writes of DRAM behind a second level, by the cycle and the channel.
    rows: BTreeMap<(u64, u8), Vec<RowArgs>>,
    /// Accesses that are refused, by cycle.
    refused: BTreeMap<u64, Vec<UseArgs>>,
}

impl MemoryTracks {
    /// Draws what a memory tells.
    pub(super) fn add(&mut self, tracks: &mut Tracks<'_>, observation: &Observation) {
        match *observation {
            Observation::Memory(counted) => self.add_counted(tracks, &counted),
            Observation::Path { place, pc, from, until } => {
                let name = tracks.name_of(pc).to_owned();
                let args = Args::Use(UseArgs { pc, place });
                self.tell(tracks, PATH, Told { from, until, name, args });
            }
            Observation::Fill { line, place, pc, cycle } if tracks.is_planned(cycle, cycle + 1) => {
                let args = LineArgs { line: named(line), pc, place, bytes: None };
                self.fills.entry(cycle).or_default().push(args);
            }
            Observation::Row(row) => self.add_row(tracks, &row),
            Observation::Refused { cycle, place, pc } if tracks.is_planned(cycle, cycle + 1) => {
                self.refused.entry(cycle).or_default().push(UseArgs { pc, place });
            }
            _ => {}
        }
    }

    fn add_row(&mut self, tracks: &mut Tracks<'_>, told: &RowObservation) {
        let RowObservation { channel, bank, row, found, write, of, from, until } = *told;
        if tracks.is_planned(from, from + 1) {
            let found = found.map(Row::name);
            let of = of.map(|Ticket { warp, pc }| UseArgs { pc, place: warp });
            let args = RowArgs { bank, row, found, write, there: until, of };
            self.rows.entry((from, channel)).or_default().push(args);
        }
    }

    fn add_counted(&mut self, tracks: &mut Tracks<'_>, counted: &MemoryObservation) {
        let MemoryObservation { event, count, of, line, from, until } = *counted;
        let args = |bytes| match (line, of) {
            (Some(line), Some(Ticket { warp, pc })) => {
                Args::Line(LineArgs { line: named(line), pc, place: warp, bytes })
            }
            (None, Some(Ticket { warp, pc })) => Args::Use(UseArgs { pc, place: warp }),
            (_, None) => Args::Nothing {},
        };
        let counter = || words(event.name());
        match event.kind() {
            CacheEventKind::Lookup => {
                self.tell(tracks, LOOKUPS, Told { from, until, name: counter(), args: args(None) });
            }
            CacheEventKind::Transfer => {
                let args = args(Some(count));
                self.tell(tracks, DRAM, Told { from, until, name: counter(), args });
            }
            CacheEventKind::Conflict => {
                let track = CONFLICTS + event as usize;
                let name = of.map_or("lines", |of| tracks.name_of(of.pc)).to_owned();
                self.tell(tracks, track, Told { from, until, name, args: args(None) });
            }
            CacheEventKind::Allocation
            | CacheEventKind::BankAccess
            | CacheEventKind::Refusal
            | CacheEventKind::Instruction => {}
        }
    }

    fn tell(&mut self, tracks: &mut Tracks<'_>, track: usize, told: Told) {
        if tracks.is_planned(told.from, told.until) {
            self.slices.entry(track).or_default().push_back(told);
        }
    }

    /// Draws what is over before a cycle.
    pub(super) fn draw_before(&mut self, tracks: &mut Tracks<'_>, cycle: u64) {
        let mut slices = std::mem::take(&mut self.slices);
        for (&track, queue) in &mut slices {
            while let Some(told) = queue.pop_front_if(|told| told.until <= cycle) {
                self.draw_told(tracks, track, &told);
            }
        }
        self.slices = slices;
        while let Some(first) = self.fills.first_entry()
            && *first.key() < cycle
        {
            let (at, lines) = first.remove_entry();
            self.draw_fills(tracks, at, lines);
        }
        while let Some(first) = self.rows.first_entry()
            && first.key().0 < cycle
        {
            let ((at, channel), rows) = first.remove_entry();
            self.draw_rows(tracks, at, channel, rows);
        }
        while let Some(first) = self.refused.first_entry()
            && *first.key() < cycle
        {
            let (at, accesses) = first.remove_entry();
            self.draw_refused(tracks, at, accesses);
        }
    }

    fn draw_told(&mut self, tracks: &mut Tracks<'_>, index: usize, told: &Told) {
        let conflict = || CacheEvent::ALL.get(index - CONFLICTS).map_or("?", |event| event.name());
        let track = self.track(tracks, index, || match index {
            PATH => "path of shared memory and cache".to_owned(),
            LOOKUPS => "tag lookups".to_owned(),
            DRAM => "DRAM transfers".to_owned(),
            _ => words(conflict()),
        });
        tracks.planned_slice(MEMORY, track, &told.name, told.from..told.until, &told.args);
    }

    /// Lines that come in one cycle.
    fn draw_fills(&mut self, tracks: &mut Tracks<'_>, cycle: u64, lines: Vec<LineArgs>) {
        let name = match lines.as_slice() {
            [one] => one.line.clone(),
            several => format!("{} lines", several.len()),
        };
        let track = self.track(tracks, FILLS, || "fills".to_owned());
        tracks.planned_slice(MEMORY, track, &name, cycle..cycle + 1, LinesArgs { lines });
    }

    /// What a channel of DRAM reads and writes from one cycle on.
    fn draw_rows(&mut self, tracks: &mut Tracks<'_>, cycle: u64, channel: u8, rows: Vec<RowArgs>) {
        let name = match rows.as_slice() {
            [one] => {
                let verb = if one.write { "write" } else { "read" };
                one.found.map_or_else(|| verb.to_owned(), |found| format!("{verb}, {found}"))
            }
            several => format!("{} reads and writes", several.len()),
        };
        let index = CHANNELS + usize::from(channel);
        let track = self.track(tracks, index, || format!("DRAM channel {channel}"));
        tracks.planned_slice(MEMORY, track, &name, cycle..cycle + 1, RowsArgs { rows });
    }

    /// Accesses that are refused in one cycle.
    fn draw_refused(&mut self, tracks: &mut Tracks<'_>, cycle: u64, accesses: Vec<UseArgs>) {
        let name = match accesses.as_slice() {
            [one] => tracks.name_of(one.pc).to_owned(),
            several => format!("{} accesses", several.len()),
        };
        let track = self.track(tracks, REFUSED, || "refused".to_owned());
        tracks.planned_slice(MEMORY, track, &name, cycle..cycle + 1, AccessesArgs { accesses });
    }

    /// The number of a track, which is named with its group when it is first used.
    fn track(
        &mut self,
        tracks: &mut Tracks<'_>,
        index: usize,
        name: impl FnOnce() -> String,
    ) -> u32 {
        if !std::mem::replace(&mut self.begun, true) {
            tracks.group(MEMORY);
        }
        tracks.track(MEMORY, index, name)
    }
}

/// What a line is called: by its address, or by the word of local memory that all lanes have there.
fn named(line: TouchedLine) -> String {
    if line.is_local() {
        format!("local word {}", line.number())
    } else {
        format!("{:#x}", u128::from(line.number()) * u128::from(LINE_BYTES))
    }
}
