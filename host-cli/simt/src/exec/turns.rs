//! Turns: which CTA runs.
//!
//! Models: CTAs one after the other, in linear order. One that cannot go on alone, or that has
//! polled for long, keeps its state and gives up its turn: first come those that waited longest
//! and that saw something change, then the next CTA starts. Under a cooperative launch all CTAs
//! start first. No more are resident than a GPU would hold.
//! Does not model: when a CTA gives up its turn (`super::cta`).

use std::collections::BTreeMap;

use super::cta::Cta;

/// A CTA that has begun and not ended.
pub(super) struct Resident<'e> {
    pub(super) index: u64,
    pub(super) cta: Cta<'e>,
    /// It cannot go on until there have been more changes than these.
    pub(super) stuck_at: Option<u64>,
    /// When it had its last turn.
    turn: u64,
}

/// What is to be done next.
pub(super) enum Next {
    /// The resident at this place runs.
    Run(usize),
    /// The next CTA starts, and runs.
    Start,
    /// No CTA can ever go on.
    Never,
}

/// The CTAs that have begun, in the order of their start.
#[derive(Default)]
pub(super) struct Residents<'e> {
    pub(super) list: Vec<Resident<'e>>,
    /// Turns taken so far.
    turns: u64,
    /// When the last CTA started.
    started: u64,
}

impl<'e> Residents<'e> {
    /// Chooses. `changes` is how many there have been; `may_start` says that there is a CTA to
    /// start, and room for it; `at_once` that all start before any has a second turn.
    pub(super) fn choose(&self, changes: u64, may_start: bool, at_once: bool) -> Next {
        if may_start && (self.list.is_empty() || at_once) {
            return Next::Start;
        }
        let can_go_on =
            |resident: &Resident<'_>| resident.stuck_at.is_none_or(|stuck_at| stuck_at != changes);
        let candidates = self.list.iter().enumerate().filter(|(_, one)| can_go_on(one));
        match candidates.min_by_key(|(_, one)| one.turn) {
            Some((place, one)) if one.turn < self.started || !may_start => Next::Run(place),
            _ if may_start => Next::Start,
            _ => Next::Never,
        }
    }

    /// A CTA has begun: its place.
    pub(super) fn start(&mut self, index: u64, cta: Cta<'e>) -> usize {
        self.turns += 1;
        self.started = self.turns;
        self.list.push(Resident { index, cta, stuck_at: None, turn: self.turns });
        self.list.len() - 1
    }

    /// The resident at this place has its turn.
    pub(super) fn turn(&mut self, place: usize) -> &mut Cta<'e> {
        self.turns += 1;
        let resident = &mut self.list[place];
        (resident.turn, resident.stuck_at) = (self.turns, None);
        &mut resident.cta
    }
}

/// Recorded CTAs that ended before one with a lower index did.
#[derive(Default)]
pub(super) struct Early<'e> {
    ctas: BTreeMap<u64, Cta<'e>>,
    /// What is kept of them. Unit: bytes.
    pub(super) bytes: u64,
}

impl<'e> Early<'e> {
    pub(super) fn put(&mut self, index: u64, mut cta: Cta<'e>) {
        cta.forget_values();
        self.bytes += cta.kept_bytes();
        self.ctas.insert(index, cta);
    }

    /// The CTA with this index, if it has ended.
    pub(super) fn take(&mut self, index: u64) -> Option<Cta<'e>> {
        let cta = self.ctas.remove(&index)?;
        self.bytes -= cta.kept_bytes();
        Some(cta)
    }
}
