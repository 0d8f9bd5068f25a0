//! Residents: the warps and CTAs that are on the SM, each place as a track.

use serde::Serialize;
use strata_core::sm::WarpPhase;
use strata_core::sm::config::{MAX_RESIDENT_CTAS, MAX_RESIDENT_WARPS};

use super::issued::{Instruction, Prefetch};
use super::tracks::{PLAIN, Tracks};
use crate::timeline::file::Group;

/// The tracks of the warps.
pub const WARPS: Group = Group { number: 2, name: "warps" };
pub(super) const CTAS: Group = Group { number: 5, name: "CTAs" };

#[derive(Serialize)]
struct WarpArgs {
    cta: u64,
    warp: u32,
}

#[derive(Serialize)]
struct CtaArgs {
    warps: u32,
}

/// A resident warp.
#[derive(Clone, Copy, Debug)]
struct Resident {
    cta: u64,
    warp: u32,
    /// Whether the slice of its residency has begun.
    begun: bool,
    /// Where it stands since when; none before its first cycle and after an issue.
    open: Option<(WarpPhase, u64)>,
}

impl Resident {
    fn name(&self) -> String {
        format!("CTA {}, warp {}", self.cta, self.warp)
    }

    const fn args(&self) -> WarpArgs {
        WarpArgs { cta: self.cta, warp: self.warp }
    }
}

/// A resident CTA.
#[derive(Clone, Copy, Debug)]
struct ResidentCta {
    cta: u64,
    since: u64,
    warps: u32,
}

/// All of an SM, by place.
#[derive(Debug)]
pub(super) struct ResidentTracks {
    warps: [Option<Resident>; MAX_RESIDENT_WARPS],
    ctas: [Option<ResidentCta>; MAX_RESIDENT_CTAS],
}

impl Default for ResidentTracks {
    fn default() -> Self {
        Self { warps: [None; MAX_RESIDENT_WARPS], ctas: [None; MAX_RESIDENT_CTAS] }
    }
}

impl ResidentTracks {
    /// Warps of a CTA come to places, those from the one with the number `before`.
    pub(super) fn launch(&mut self, cycle: u64, cta: u64, slot: u8, before: u32, warps: u64) {
        let resident =
            self.ctas[usize::from(slot)].get_or_insert(ResidentCta { cta, since: cycle, warps: 0 });
        resident.warps += warps.count_ones();
        for (warp, place) in (before..).zip(places(warps)) {
            self.warps[place] = Some(Resident { cta, warp, begun: false, open: None });
        }
    }

    /// Warps of a CTA end.
    pub(super) fn end_warps(&mut self, tracks: &mut Tracks<'_>, warps: u64, cycle: u64) {
        for place in places(warps) {
            self.end_warp(tracks, place, cycle);
        }
    }

    /// The last warp of a CTA has ended.
    pub(super) fn end_cta(&mut self, tracks: &mut Tracks<'_>, slot: usize, cycle: u64) {
        let Some(ResidentCta { cta, since, warps }) = self.ctas[slot].take() else { return };
        let track = tracks.track(CTAS, slot, || format!("CTA place {slot}"));
        let args = Some(CtaArgs { warps });
        tracks.slice(CTAS, track, &format!("CTA {cta}"), since..cycle, args);
    }

    /// Ends all of them.
    pub(super) fn close(&mut self, tracks: &mut Tracks<'_>, end: u64) {
        for place in 0..MAX_RESIDENT_WARPS {
            self.end_warp(tracks, place, end);
        }
        for slot in 0..MAX_RESIDENT_CTAS {
            self.end_cta(tracks, slot, end);
        }
    }

    /// An instruction of a warp issues.
    pub(super) fn issue(&mut self, tracks: &mut Tracks<'_>, one: &Instruction) {
        let place = usize::from(one.issue.place);
        self.begin_warp(tracks, place, one.issue.cycle);
        let track = warp_track(tracks, place);
        one.draw(tracks, WARPS, track);
    }

    /// PREF of a warp issues in a cycle.
    pub(super) fn prefetch(&mut self, tracks: &mut Tracks<'_>, one: &Prefetch, cycle: u64) {
        let place = usize::from(one.of.place);
        self.begin_warp(tracks, place, cycle);
        let track = warp_track(tracks, place);
        one.draw(tracks, WARPS, track, cycle);
    }

    /// A warp stands in a phase from a cycle on, or issues in it.
    pub(super) fn stand(
        &mut self,
        tracks: &mut Tracks<'_>,
        place: usize,
        phase: Option<WarpPhase>,
        cycle: u64,
    ) {
        let Some(resident) = &mut self.warps[place] else { return };
        let before = resident.open;
        if before.is_some_and(|(open, _)| Some(open) == phase) {
            return;
        }
        resident.open = phase.map(|phase| (phase, cycle));
        if let Some((open, since)) = before {
            self.begin_warp(tracks, place, since.max(tracks.window().start));
            let track = warp_track(tracks, place);
            tracks.slice(WARPS, track, open.name(), since..cycle, PLAIN);
        }
    }

    /// Begins the slice of a warp's residency with the first that it holds.
    fn begin_warp(&mut self, tracks: &mut Tracks<'_>, place: usize, cycle: u64) {
        if !tracks.window().contains(&cycle) {
            return;
        }
        let Some(resident) = self.warps[place].as_mut().filter(|resident| !resident.begun) else {
            return;
        };
        resident.begun = true;
        let track = warp_track(tracks, place);
        tracks.begin(WARPS, track, &resident.name(), cycle, resident.args());
    }

    fn end_warp(&mut self, tracks: &mut Tracks<'_>, place: usize, cycle: u64) {
        self.stand(tracks, place, None, cycle);
        let Some(resident) = self.warps[place].take().filter(|resident| resident.begun) else {
            return;
        };
        let track = warp_track(tracks, place);
        let cycle = cycle.min(tracks.window().end);
        tracks.end(WARPS, track, &resident.name(), cycle, resident.args());
    }
}

/// The places in a mask of them.
fn places(mask: u64) -> impl Iterator<Item = usize> {
    (0..MAX_RESIDENT_WARPS).filter(move |place| mask >> place & 1 != 0)
}

fn warp_track(tracks: &mut Tracks<'_>, place: usize) -> u32 {
    tracks.track(WARPS, place, || format!("warp place {place}"))
}
