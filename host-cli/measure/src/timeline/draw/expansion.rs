//! Expansion: what happens to registers in scratchpad memory, as slices on the tracks of a group of
//! its own; and the limit of active warps.

use std::collections::BTreeMap;

use serde::Serialize;
use strata_core::sm::ExpansionObservation;
use strata_core::sm::expansion::operand_cache::Move;
use strata_core::units::RegisterId;

use super::issued::Prefetch;
use super::tracks::Tracks;
use crate::timeline::file::Group;

/// Only in files of designs whose registers expand into scratchpad memory, or with a lazy limit.
const EXPANSION: Group = Group { number: 7, name: "registers in scratchpad" };

/// Tracks, in their order.
const PREFETCHES: usize = 0;
const BUNDLES: usize = 1;
const SCRATCHPAD: usize = 2;
const OPERAND_CACHE: usize = 3;
const LIMIT: usize = 4;
const NAMES: [&str; 5] =
    [Prefetch::NAME, "bundles", "scratchpad memory", "operand cache", "active limit"];

/// Something that happened in a cycle.
#[derive(Clone, Debug, Serialize)]
struct EventArgs {
    what: &'static str,
    place: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    register: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<u32>,
}

#[derive(Serialize)]
struct EventsArgs {
    events: Vec<EventArgs>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct LimitArgs {
    warps: u8,
}

/// What was told and is not drawn yet.
#[derive(Debug, Default)]
pub(super) struct ExpansionTracks {
    /// The group has its name.
    begun: bool,
    /// By cycle and track.
    events: BTreeMap<(u64, usize), Vec<EventArgs>>,
    /// The limit of active warps, since when.
    limit: Option<(u8, u64)>,
}

/// The track of an event, and what it says.
fn event(event: ExpansionObservation) -> (usize, EventArgs) {
    let of = |track, what, place, register: Option<RegisterId>, pc| {
        (track, EventArgs { what, place, register: register.map(|register| register.0), pc })
    };
    match event {
        ExpansionObservation::Prefetch { place, pc, .. } => {
            of(PREFETCHES, Prefetch::NAME, place, None, Some(pc))
        }
        ExpansionObservation::Begins { place, pc } => of(BUNDLES, "begins", place, None, Some(pc)),
        ExpansionObservation::Schedulable { place } => {
            of(BUNDLES, "schedulable", place, None, None)
        }
        ExpansionObservation::Completes { place } => of(BUNDLES, "completes", place, None, None),
        ExpansionObservation::Moves(Move::Fetched { warp, register }) => {
            of(SCRATCHPAD, "fetch", warp, Some(register), None)
        }
        ExpansionObservation::Moves(Move::WrittenBack { warp, register }) => {
            of(SCRATCHPAD, "write back", warp, Some(register), None)
        }
        ExpansionObservation::Arrives { place, register } => {
            of(SCRATCHPAD, "result", place, Some(register), None)
        }
        ExpansionObservation::Bypass { place, register } => {
            of(OPERAND_CACHE, "bypass", place, Some(register), None)
        }
        ExpansionObservation::Read { place, register } => {
            of(OPERAND_CACHE, "read", place, Some(register), None)
        }
        ExpansionObservation::Write { place, register } => {
            of(OPERAND_CACHE, "write", place, Some(register), None)
        }
    }
}

impl ExpansionTracks {
    /// Keeps what happened in a cycle until it is over.
    pub(super) fn add(&mut self, tracks: &mut Tracks<'_>, cycle: u64, told: ExpansionObservation) {
        if tracks.is_planned(cycle, cycle + 1) {
            let (track, args) = event(told);
            self.events.entry((cycle, track)).or_default().push(args);
        }
    }

    /// Another limit of active warps; draws the one before.
    pub(super) fn limit_active_warps(
        &mut self,
        tracks: &mut Tracks<'_>,
        cycle: u64,
        limit: Option<u8>,
    ) {
        let before = std::mem::replace(&mut self.limit, limit.map(|warps| (warps, cycle)));
        if let Some((warps, since)) = before
            && since < cycle
        {
            let track = self.track(tracks, LIMIT);
            let name = format!("{warps} active warps");
            tracks.slice(EXPANSION, track, &name, since..cycle, Some(LimitArgs { warps }));
        }
    }

    /// Draws what happened before a cycle.
    pub(super) fn draw_before(&mut self, tracks: &mut Tracks<'_>, cycle: u64) {
        while let Some(first) = self.events.first_entry()
            && first.key().0 < cycle
        {
            let ((at, index), events) = first.remove_entry();
            let name = match events.as_slice() {
                [EventArgs { what, register: Some(register), .. }] => format!("{what} r{register}"),
                [EventArgs { what, .. }] => (*what).to_owned(),
                several => format!("{} events", several.len()),
            };
            let track = self.track(tracks, index);
            tracks.planned_slice(EXPANSION, track, &name, at..at + 1, EventsArgs { events });
        }
    }

    /// The number of a track, which is named with its group when it is first used.
    fn track(&mut self, tracks: &mut Tracks<'_>, index: usize) -> u32 {
        if !std::mem::replace(&mut self.begun, true) {
            tracks.group(EXPANSION);
        }
        tracks.track(EXPANSION, index, || NAMES[index].to_owned())
    }
}
