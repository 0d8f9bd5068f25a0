//! Timeline: where warps stood, out of the file that `strata run --timeline` wrote.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use strata_core::sm::WarpPhase;

use strata_measure::timeline::{SCHEMA, SLOTS, WARPS};

/// Where a warp is in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It issues an instruction.
    Issues,
    /// It stands.
    Stands(WarpPhase),
}

impl State {
    /// Its name in timelines.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Issues => "issues",
            Self::Stands(phase) => phase.name(),
        }
    }
}

/// Some cycles of a warp's place.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) cycles: Range<u64>,
    pub(super) state: State,
}

/// A place of a resident warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) name: String,
    /// In order, none over another.
    pub(super) slices: Vec<Slice>,
}

/// The places of warps, by their tracks, and how many issue slots there are.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub(super) places: BTreeMap<u32, Place>,
    pub(super) slots: u32,
}

/// One launch in time.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a timeline")]
pub struct Timeline {
    #[serde(rename = "traceEvents")]
    pub(super) tracks: Tracks,
    #[serde(rename = "otherData")]
    pub(super) about: About,
}

/// What the file says about itself.
#[derive(Debug, Deserialize)]
#[serde(expecting = "what a timeline is of")]
pub(super) struct About {
    schema: String,
    pub(super) tool: String,
    pub(super) input: String,
    pub(super) design: String,
    pub(super) kernel: String,
    pub(super) launch: String,
    pub(super) grid: String,
    pub(super) block: String,
    #[serde(rename = "cycles_drawn", deserialize_with = "range")]
    pub(super) drawn: Range<u64>,
    #[serde(rename = "cycles_of_launch", deserialize_with = "range")]
    pub(super) all: Range<u64>,
}

fn range<'d, D: Deserializer<'d>>(from: D) -> Result<Range<u64>, D::Error> {
    let text = <Cow<'d, str>>::deserialize(from)?;
    let ends = text.split_once("..").and_then(|(first, last)| {
        let range = first.parse().ok()?..last.parse().ok()?;
        (range.start <= range.end).then_some(range)
    });
    ends.ok_or_else(|| D::Error::custom(format!("`{text}` is no range of cycles")))
}

/// An event of the format, as far as it is of use.
#[derive(Deserialize)]
#[serde(expecting = "an event")]
struct Event<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    ph: Cow<'a, str>,
    ts: Option<u64>,
    dur: Option<u64>,
    pid: u32,
    tid: u32,
    #[serde(borrow)]
    args: Option<Args<'a>>,
}

#[derive(Deserialize)]
#[serde(expecting = "arguments of an event")]
struct Args<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    pc: Option<u32>,
}

impl Timeline {
    /// Reads a file.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Whether it is of this version, and its slices lie in the cycles that it says.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn check(&self) -> Result<(), String> {
        let About { schema, drawn, all, .. } = &self.about;
        if schema != SCHEMA {
            return Err(format!("the schema is `{schema}`, not `{SCHEMA}`"));
        }
        if drawn.is_empty() || drawn.start < all.start || drawn.end > all.end {
            let [drawn, all] = [drawn, all].map(|range| format!("{}..{}", range.start, range.end));
            return Err(format!("it holds cycles {drawn} of the launch's {all}"));
        }
        for place in self.tracks.places.values() {
            let first = place.slices.first().map_or(drawn.start, |slice| slice.cycles.start);
            let last = place.slices.last().map_or(drawn.end, |slice| slice.cycles.end);
            if first < drawn.start || last > drawn.end {
                let Range { start, end } = drawn;
                let name = &place.name;
                return Err(format!("`{name}` has slices outside of the cycles {start}..{end}"));
            }
        }
        if self.tracks.slots == 0 {
            return Err("it has no issue slot".to_owned());
        }
        Ok(())
    }
}

impl Tracks {
    fn add(&mut self, event: &Event<'_>) -> Result<(), String> {
        let named = event.ph == "M" && event.name == "thread_name";
        if named && event.pid == SLOTS.number {
            self.slots += 1;
        }
        if event.pid != WARPS.number {
            return Ok(());
        }
        if named {
            let name = event.args.as_ref().and_then(|args| args.name.as_deref());
            let name = name.ok_or("a track has no name")?.to_owned();
            self.places.entry(event.tid).or_default().name = name;
        }
        if event.ph != "X" {
            return Ok(());
        }
        let (Some(first), Some(cycles)) = (event.ts, event.dur) else {
            return Err(format!("the slice `{}` has no `ts` or no `dur`", event.name));
        };
        let end = first.checked_add(cycles).ok_or("a slice ends after all cycles")?;
        let place = self.places.get_mut(&event.tid);
        let place = place.ok_or_else(|| format!("track {} has no name", event.tid))?;
        if place.slices.last().is_some_and(|last| last.cycles.end > first) {
            return Err(format!("the slice `{}` begins before the last one ends", event.name));
        }
        let state = state(event)?;
        place.slices.push(Slice { cycles: first..end, state });
        Ok(())
    }
}

/// An instruction has a program counter, whatever its name; a phase has not.
fn state(event: &Event<'_>) -> Result<State, String> {
    if event.args.as_ref().is_some_and(|args| args.pc.is_some()) {
        return Ok(State::Issues);
    }
    let phase = WarpPhase::ALL.into_iter().find(|phase| phase.name() == event.name);
    let unknown = || format!("`{}` is nothing that a warp does", event.name);
    phase.map(State::Stands).ok_or_else(unknown)
}

impl<'d> Deserialize<'d> for Tracks {
    /// Event by event: a file has millions.
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        struct Events;

        impl<'d> Visitor<'d> for Events {
            type Value = Tracks;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("events")
            }

            fn visit_seq<A: SeqAccess<'d>>(self, mut events: A) -> Result<Tracks, A::Error> {
                let mut tracks = Tracks::default();
                while let Some(event) = events.next_element::<Event<'d>>()? {
                    tracks.add(&event).map_err(A::Error::custom)?;
                }
                Ok(tracks)
            }
        }

        from.deserialize_seq(Events)
    }
}
