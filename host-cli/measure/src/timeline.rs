//! Timeline: one launch in time as a file for ui.perfetto.dev, cycle by cycle.
//!
//! `draw` turns what the SM tells into slices on tracks, `code` names instructions, `file` writes
//! the trace events as they come, so that memory does not grow with the run. `docs/TIMELINE.md`
//! says what the tracks mean.

mod code;
mod draw;
mod file;

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

use strata_core::sm::config::SmSettings;
use strata_ptx::diagnostic::counted;

use crate::timing::{
    LaunchCache, Timed, TimedLaunch, TimingError, observe_launch_over, time_launch_over,
};
pub use code::Code;
pub use code::{shortened, statement};
use draw::Drawing;
pub use draw::{SLOTS, WARPS};
use file::EventFile;
pub use file::{About, BEGIN, Group, KIND, SCHEMA};
use strata_files::failure::Failure;
use strata_files::output::Output;

/// Cycles that are drawn unless others are asked for.
pub const DEFAULT_CYCLES: Range<u64> = 0..10_000;
/// Slices after which no further cycle is drawn, unless another number is asked for.
pub const DEFAULT_SLICES: u64 = 1_000_000;

/// Cycles to draw: from the first up to the last, which is not drawn. Not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleRange(pub Range<u64>);

/// A text that is no range of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCycleRange;

impl Display for NoCycleRange {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "expected two cycles with `..` between them, the first below the second, such as \
             `0..10000`",
        )
    }
}

impl std::error::Error for NoCycleRange {}

impl FromStr for CycleRange {
    type Err = NoCycleRange;

    fn from_str(text: &str) -> Result<Self, NoCycleRange> {
        let (first, last) = text.split_once("..").ok_or(NoCycleRange)?;
        let cycle = |text: &str| text.parse::<u64>().map_err(|_| NoCycleRange);
        let range = cycle(first)?..cycle(last)?;
        if range.is_empty() { Err(NoCycleRange) } else { Ok(Self(range)) }
    }
}

/// What is to be drawn, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The file.
    pub output: Output,
    /// Cycles of the launch.
    pub cycles: Range<u64>,
    /// Once this many slices are drawn, no further cycle is.
    pub slices: u64,
}

/// What was drawn of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Drawn {
    launch: String,
    cycles: Range<u64>,
    /// Cycles of the whole launch.
    all: u64,
    /// The cap on slices ended the drawing.
    capped: bool,
}

/// A timeline that is being made: its file is opened first, so that a path that cannot be written
/// is known before anything runs, and gets its name last.
#[derive(Debug)]
pub struct Timeline {
    request: Request,
    file: EventFile,
    drawn: Option<Drawn>,
    /// Launches that were run but not drawn.
    others: u64,
}

impl Timeline {
    /// Opens the file.
    pub fn create(request: &Request) -> Result<Self, Failure> {
        let file = EventFile::create(&request.output)?;
        Ok(Self { request: request.clone(), file, drawn: None, others: 0 })
    }

    /// Runs a launch, over a cache if the design has one; draws it if it is the first.
    pub fn run(
        &mut self,
        cache: Option<&mut LaunchCache>,
        settings: SmSettings,
        launch: &TimedLaunch<'_>,
        code: Code<'_>,
        about: &About,
    ) -> Result<Timed, TimingError> {
        if self.drawn.is_some() {
            self.others += 1;
            return time_launch_over(cache, settings, launch);
        }
        let labels = code.labels();
        let limits = (self.request.cycles.clone(), self.request.slices);
        let mut drawing = Drawing::new(&mut self.file, &labels, &settings, limits);
        let observer = |observation| drawing.add(&observation);
        let timed = observe_launch_over(cache, settings, launch, observer)?;
        let all = timed.counters.cycles();
        let (cycles, capped) = drawing.finish(all);
        let launch = about.launch.clone();
        self.file.about(about, &cycles, all);
        self.drawn = Some(Drawn { launch, cycles, all, capped });
        Ok(timed)
    }

    /// Moves the file to its place. Returns what is worth a note: what was left out.
    pub fn finish(self) -> Result<Option<String>, Failure> {
        let Self { request, file, drawn, others } = self;
        let Some(Drawn { launch, cycles, all, capped }) = drawn else {
            return Err(Failure::input("there is no launch to draw a timeline of"));
        };
        if cycles.is_empty() {
            let Range { start, end } = request.cycles;
            return Err(Failure::input(format!(
                "launch {launch} takes {}, so `--timeline-cycles {start}..{end}` holds none of it",
                counted(all, "cycle")
            ))
            .hint(format!("begin before cycle {all}")));
        }
        file.finish()?;
        let mut left_out = Vec::new();
        if cycles != (0..all) {
            let because = if capped { ", where `--timeline-slices` ends it" } else { "" };
            let Range { start, end } = cycles;
            left_out
                .push(format!("it holds cycles {start}..{end} of the launch's 0..{all}{because}"));
        }
        if others != 0 {
            left_out.push(format!(
                "it holds launch {launch}, not the other {others}; `--launch-index` chooses"
            ));
        }
        let path = request.output.named().display();
        Ok((!left_out.is_empty()).then(|| format!("timeline `{path}`: {}", left_out.join("; "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_cycles_are_two_ascending_numbers() {
        let range = |text: &str| text.parse::<CycleRange>().map(|range| range.0);
        assert_eq!(range("0..10000"), Ok(0..10_000));
        assert_eq!(range("7..8"), Ok(7..8));
        for text in ["", "..", "5", "5..", "..5", "5..5", "6..5", "1..=5", "-1..5", "1..x", "1...5"]
        {
            assert_eq!(range(text), Err(NoCycleRange), "{text}");
        }
    }
}
