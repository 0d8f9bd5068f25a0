//! Tracks: the slices of a drawing in its file, as far as they lie in its window and below its cap.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use crate::timeline::code::Label;
use crate::timeline::file::{Event, EventFile, Group};

/// Track numbers of a group begin at its number times this.
const TRACKS: u32 = 1000;

/// A slice without anything more to say of it.
pub(super) const PLAIN: Option<()> = None;

/// Use of something by the instruction of a warp.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct UseArgs {
    pub(super) pc: u32,
    pub(super) place: u8,
}

/// The tracks of a file that is being written.
#[derive(Debug)]
pub(super) struct Tracks<'d> {
    file: &'d mut EventFile,
    labels: &'d [Label],
    /// Cycles that are drawn.
    window: Range<u64>,
    /// Slices that may still be drawn, but for those of the cycle in which they run out.
    left: u64,
    /// Tracks that have their names.
    named: BTreeSet<u32>,
}

impl<'d> Tracks<'d> {
    /// No tracks yet: the cycles and the number of slices are limited.
    pub(super) fn new(
        file: &'d mut EventFile,
        labels: &'d [Label],
        (window, slices): (Range<u64>, u64),
    ) -> Self {
        Self { file, labels, window, left: slices, named: BTreeSet::new() }
    }

    /// Cycles that are drawn.
    pub(super) fn window(&self) -> Range<u64> {
        self.window.clone()
    }

    /// Ends the window before a cycle if no slice is left for it. Returns whether it does so.
    pub(super) fn cap(&mut self, next: u64) -> bool {
        let is_capped = self.left == 0 && next < self.window.end;
        if is_capped {
            self.window.end = next.max(self.window.start);
        }
        is_capped
    }

    /// Whether what is reserved lies in the window; it is accounted for then.
    pub(super) fn is_planned(&mut self, from: u64, until: u64) -> bool {
        let inside = until > self.window.start && from < self.window.end;
        self.left = self.left.saturating_sub(u64::from(inside));
        inside
    }

    /// What an instruction is called, and where it stands; none of one without a label.
    pub(super) fn label(&self, pc: u32) -> Option<&'d Label> {
        self.labels.get(pc as usize)
    }

    /// What an instruction is called.
    pub(super) fn name_of(&self, pc: u32) -> &'d str {
        self.label(pc).map_or("?", |label| &label.name)
    }

    /// Names a group of tracks.
    pub(super) fn group(&mut self, group: Group) {
        self.file.group(group);
    }

    /// The number of a track, which is named when it is first used.
    pub(super) fn track(
        &mut self,
        group: Group,
        index: usize,
        name: impl FnOnce() -> String,
    ) -> u32 {
        let track = group.number * TRACKS + index as u32;
        if self.named.insert(track) {
            self.file.track(group, track, &name());
        }
        track
    }

    /// Writes the part of a slice that lies in the window.
    pub(super) fn slice<A: Serialize>(
        &mut self,
        group: Group,
        track: u32,
        name: &str,
        cycles: Range<u64>,
        args: Option<A>,
    ) {
        let from = cycles.start.max(self.window.start);
        let until = cycles.end.min(self.window.end);
        if from < until {
            self.write(group, track, name, from..until, args);
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Writes the part of a slice that lies in the window, where the slice was accounted for when
    /// it was reserved.
    pub(super) fn planned_slice(
        &mut self,
        group: Group,
        track: u32,
        name: &str,
        cycles: Range<u64>,
        args: impl Serialize,
    ) {
        let left = self.left;
        self.slice(group, track, name, cycles, Some(args));
        self.left = left;
    }

    /// Begins a slice whose end is not known.
    pub(super) fn begin(
        &mut self,
        group: Group,
        track: u32,
        name: &str,
        cycle: u64,
        args: impl Serialize,
    ) {
        self.edge("B", (group, track), name, cycle, args);
        self.left = self.left.saturating_sub(1);
    }

    /// Ends a slice that has begun.
    pub(super) fn end(
        &mut self,
        group: Group,
        track: u32,
        name: &str,
        cycle: u64,
        args: impl Serialize,
    ) {
        self.edge("E", (group, track), name, cycle, args);
    }

    fn edge(
        &mut self,
        ph: &'static str,
        (group, tid): (Group, u32),
        name: &str,
        cycle: u64,
        args: impl Serialize,
    ) {
        let (ts, args) = (Some(cycle), Some(args));
        self.file.event(&Event { name, ph, ts, dur: None, pid: group.number, tid, args });
    }

    fn write<A: Serialize>(
        &mut self,
        group: Group,
        tid: u32,
        name: &str,
        cycles: Range<u64>,
        args: Option<A>,
    ) {
        let (ts, dur) = (Some(cycles.start), Some(cycles.end - cycles.start));
        self.file.event(&Event { name, ph: "X", ts, dur, pid: group.number, tid, args });
    }
}

/// A counter's name as words.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
