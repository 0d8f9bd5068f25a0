//! Issued: instructions and PREF that issue in a cycle, as slices on the tracks of their slots and
//! warps.

use serde::Serialize;
use strata_core::sm::{ExpansionObservation, Issue};

use super::tracks::{Tracks, UseArgs};
use crate::timeline::file::Group;

#[derive(Serialize)]
struct IssueArgs<'a> {
    pc: u32,
    source: &'a str,
    mask: String,
    cta: u64,
    warp: u32,
    place: u8,
    slot: u8,
    /// First cycle in which an instruction that uses the result can issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_at: Option<u64>,
}

/// An instruction that issues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) issue: Issue,
    /// The cycle of its result, once it is known.
    pub(super) result_at: Option<u64>,
}

impl Instruction {
    /// Draws it on a track.
    pub(super) fn draw(&self, tracks: &mut Tracks<'_>, group: Group, track: u32) {
        let Self { issue, result_at } = *self;
        let Issue { cycle, slot, place, cta, warp, pc, mask } = issue;
        let source = tracks.label(pc).map_or("", |label| label.source.as_str());
        let mask = format!("{:#010x}", mask.0);
        let args = IssueArgs { pc, source, mask, cta, warp, place, slot, result_at };
        tracks.slice(group, track, tracks.name_of(pc), cycle..cycle + 1, Some(args));
    }
}

/// PREF that issues in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetch {
    pub(super) slot: u8,
    pub(super) of: UseArgs,
}

impl Prefetch {
    /// What it is called.
    pub(super) const NAME: &str = "PREF";

    /// PREF that was observed, if it was one.
    pub(super) fn observed(observation: ExpansionObservation) -> Option<Self> {
        match observation {
            ExpansionObservation::Prefetch { slot, place, pc } => {
                Some(Self { slot, of: UseArgs { pc, place } })
            }
            _ => None,
        }
    }

    /// Draws it on a track.
    pub(super) fn draw(&self, tracks: &mut Tracks<'_>, group: Group, track: u32, cycle: u64) {
        tracks.slice(group, track, Self::NAME, cycle..cycle + 1, Some(self.of));
    }
}
