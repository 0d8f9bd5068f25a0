//! Slots: what each issue slot issues, and why it stalls, as slices on a track of its own.

use strata_core::sm::counters::StallReason;

use super::issued::{Instruction, Prefetch};
use super::tracks::{PLAIN, Tracks, words};
use crate::timeline::file::Group;

/// The tracks of the issue slots.
pub const SLOTS: Group = Group { number: 1, name: "issue slots" };
/// Issue slots of an SM at most.
pub(super) const MAX_SLOTS: usize = 2;

/// The issue slots of an SM.
#[derive(Debug)]
pub(super) struct SlotTracks {
    /// How many there are, as many as the SM has.
    count: usize,
    /// Why each slot stalls since when.
    stalls: [Option<(StallReason, u64)>; MAX_SLOTS],
}

impl SlotTracks {
    /// So many slots, which have not issued or stalled yet.
    pub(super) fn new(count: u8) -> Self {
        Self { count: usize::from(count).min(MAX_SLOTS), stalls: [None; MAX_SLOTS] }
    }

    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// An instruction issues in a cycle.
    pub(super) fn issue(&mut self, tracks: &mut Tracks<'_>, one: &Instruction, cycle: u64) {
        let slot = usize::from(one.issue.slot);
        self.stall(tracks, slot, None, cycle);
        let track = track(tracks, slot);
        one.draw(tracks, SLOTS, track);
    }

    /// PREF issues in a cycle.
    pub(super) fn prefetch(&mut self, tracks: &mut Tracks<'_>, one: &Prefetch, cycle: u64) {
        let slot = usize::from(one.slot);
        self.stall(tracks, slot, None, cycle);
        let track = track(tracks, slot);
        one.draw(tracks, SLOTS, track, cycle);
    }

    /// Slots that did not issue in a cycle begin or go on to stall.
    pub(super) fn stall_others(
        &mut self,
        tracks: &mut Tracks<'_>,
        reasons: [StallReason; MAX_SLOTS],
        cycle: u64,
    ) {
        for (slot, &reason) in reasons.iter().enumerate().take(self.count) {
            if reason != StallReason::Issued {
                self.stall(tracks, slot, Some(reason), cycle);
            }
        }
    }

    /// Ends what is open.
    pub(super) fn close(&mut self, tracks: &mut Tracks<'_>, end: u64) {
        for slot in 0..self.count {
            self.stall(tracks, slot, None, end);
        }
    }

    /// A slot begins or goes on to stall, or issues, in a cycle.
    fn stall(
        &mut self,
        tracks: &mut Tracks<'_>,
        slot: usize,
        reason: Option<StallReason>,
        cycle: u64,
    ) {
        match self.stalls[slot] {
            Some((open, _)) if Some(open) == reason => return,
            Some((open, since)) => {
                let name = words(open.name().trim_start_matches("slots_"));
                let track = track(tracks, slot);
                tracks.slice(SLOTS, track, &name, since..cycle, PLAIN);
            }
            None => {}
        }
        self.stalls[slot] = reason.map(|reason| (reason, cycle));
    }
}

fn track(tracks: &mut Tracks<'_>, slot: usize) -> u32 {
    tracks.track(SLOTS, slot, || format!("slot {slot}"))
}
