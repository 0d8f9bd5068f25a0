//! Draw: what an SM tells of a run, as slices on tracks.
//!
//! A slice is written when its end is known, so that memory holds only what is open: one slice for
//! each warp and issue slot, and what is reserved for later cycles.

mod expansion;
mod issued;
mod memory;
mod reserved;
mod residents;
mod slots;
mod tracks;

use std::ops::Range;

use strata_core::sm::config::{MAX_RESIDENT_WARPS, SmSettings};
use strata_core::sm::counters::StallReason;
use strata_core::sm::{Observation, WarpPhases};

use super::code::Label;
use super::file::EventFile;
use expansion::ExpansionTracks;
use issued::{Instruction, Prefetch};
use memory::MemoryTracks;
use reserved::{BANK_PORTS, Planned, ReservedTracks, UNITS};
use residents::{CTAS, ResidentTracks};
use slots::SlotTracks;
use tracks::Tracks;

pub use residents::WARPS;
pub use slots::SLOTS;

/// A drawing under way.
#[derive(Debug)]
pub(crate) struct Drawing<'d> {
    tracks: Tracks<'d>,
    capped: bool,
    /// Everything inside the window is drawn.
    done: bool,
    /// Instructions of this cycle.
    issued: Vec<Instruction>,
    /// PREF of this cycle.
    prefetches: Vec<Prefetch>,
    slots: SlotTracks,
    residents: ResidentTracks,
    reserved: ReservedTracks,
    memory: MemoryTracks,
    expansion: ExpansionTracks,
}

impl<'d> Drawing<'d> {
    /// Begins to draw an SM: the cycles and the number of slices are limited.
    pub(crate) fn new(
        file: &'d mut EventFile,
        labels: &'d [Label],
        settings: &SmSettings,
        limits: (Range<u64>, u64),
    ) -> Self {
        let mut tracks = Tracks::new(file, labels, limits);
        for group in [SLOTS, WARPS, BANK_PORTS, UNITS, CTAS] {
            tracks.group(group);
        }
        Self {
            tracks,
            capped: false,
            done: false,
            issued: Vec::new(),
            prefetches: Vec::new(),
            slots: SlotTracks::new(settings.issue_slots),
            residents: ResidentTracks::default(),
            reserved: ReservedTracks::new(settings),
            memory: MemoryTracks::default(),
            expansion: ExpansionTracks::default(),
        }
    }

    /// Draws what was observed.
    pub(crate) fn add(&mut self, observation: &Observation) {
        if self.done {
            return;
        }
        let tracks = &mut self.tracks;
        match *observation {
            Observation::CtaLaunch { cycle, cta, slot, before, warps } => {
                self.residents.launch(cycle, cta, slot, before, warps);
            }
            Observation::CtaEnd { cycle, slot, warps, last, .. } => {
                self.residents.end_warps(tracks, warps, cycle);
                if last {
                    self.residents.end_cta(tracks, usize::from(slot), cycle);
                }
            }
            Observation::Issue(issue) => self.issued.push(Instruction { issue, result_at: None }),
            Observation::Result { cycle } => {
                if let Some(instruction) = self.issued.last_mut() {
                    instruction.result_at = Some(cycle);
                }
            }
            Observation::Unit { unit, place, pc, from, until } => {
                let issued = self.issued.last().map(|instruction| instruction.issue.slot);
                self.reserved.use_unit(tracks, unit, issued, Planned { from, until, pc, place });
            }
            Observation::BankRead { bank, place, pc, from, until } => {
                self.reserved.read_bank(tracks, bank, Planned { from, until, pc, place });
            }
            Observation::BankWrite { bank, place, register, cycle, cause } => {
                self.reserved.write_bank(tracks, (bank, cycle), (place, register), cause);
            }
            Observation::Memory(_)
            | Observation::Path { .. }
            | Observation::Fill { .. }
            | Observation::Row(_)
            | Observation::Refused { .. } => self.memory.add(tracks, observation),
            Observation::Expansion { cycle, event } => {
                self.prefetches.extend(Prefetch::observed(event));
                self.expansion.add(tracks, cycle, event);
            }
            Observation::ActiveLimit { cycle, warps } => {
                self.expansion.limit_active_warps(tracks, cycle, Some(warps));
            }
            Observation::Cycles { first, count, slots, warps } => {
                self.cycles(first..first + count, slots, &warps);
            }
        }
    }

    /// Draws what is open to the end of the launch, which has taken `all` cycles. Returns the
    /// cycles that were drawn, and whether the cap on slices ended them.
    pub(crate) fn finish(mut self, all: u64) -> (Range<u64>, bool) {
        let Range { start, end } = self.tracks.window();
        let end = end.min(all);
        if !self.done {
            self.close(end);
        }
        (start.min(end)..end, self.capped)
    }

    /// Cycles in which slots issued in the first, or did nothing in all.
    fn cycles(&mut self, cycles: Range<u64>, slots: [StallReason; 2], phases: &WarpPhases) {
        let (first, next) = (cycles.start, cycles.end);
        let tracks = &mut self.tracks;
        let issued = std::mem::take(&mut self.issued);
        let prefetches = std::mem::take(&mut self.prefetches);
        for instruction in &issued {
            self.slots.issue(tracks, instruction, first);
        }
        for prefetch in &prefetches {
            self.slots.prefetch(tracks, prefetch, first);
        }
        self.slots.stall_others(tracks, slots, first);
        for place in 0..MAX_RESIDENT_WARPS {
            if let Some(phase) = phases.of(place) {
                let mut issuing = issued.iter().map(|instruction| instruction.issue.place);
                let mut prefetching = prefetches.iter().map(|prefetch| prefetch.of.place);
                let is_it = |of| usize::from(of) == place;
                let issues = issuing.any(is_it) || prefetching.any(is_it);
                let phase = if issues { None } else { Some(phase) };
                self.residents.stand(tracks, place, phase, first);
            }
        }
        for instruction in &issued {
            self.residents.issue(tracks, instruction);
        }
        for prefetch in &prefetches {
            self.residents.prefetch(tracks, prefetch, first);
        }
        self.reserved.draw_before(tracks, self.slots.count(), next);
        self.memory.draw_before(tracks, next);
        self.expansion.draw_before(tracks, next);
        self.capped |= tracks.cap(next);
        let end = tracks.window().end;
        if next >= end {
            self.close(end);
        }
    }

    /// Ends all slices: nothing more is drawn.
    fn close(&mut self, end: u64) {
        let tracks = &mut self.tracks;
        self.expansion.limit_active_warps(tracks, end, None);
        self.slots.close(tracks, end);
        self.residents.close(tracks, end);
        // What is reserved beyond a launch's last cycle happens; beyond the window it is not drawn.
        self.reserved.draw_before(tracks, self.slots.count(), tracks.window().end);
        self.memory.draw_before(tracks, u64::MAX);
        self.reserved.close(tracks);
        self.done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::file::{About, KIND};
    use std::collections::BTreeMap;
    use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
    use strata_core::sm::{Issue, SmUnit, WriteCause};
    use strata_core::units::{LaneMask, RegisterId};
    use strata_files::output::Output;

    fn issue(cycle: u64, slot: u8, place: u8) -> Observation {
        let (cta, warp, mask) = (0, u32::from(place), LaneMask::FULL);
        Observation::Issue(Issue { cycle, slot, place, cta, warp, pc: u32::from(place), mask })
    }

    fn cycles(first: u64, count: u64, issued: usize, reason: StallReason) -> Observation {
        let warps = WarpPhases::default();
        let slots = [0, 1].map(|slot| if slot < issued { StallReason::Issued } else { reason });
        Observation::Cycles { first, count, slots, warps }
    }

    /// Draws, and returns the whole slices as `(track, name, first cycle, cycles)`.
    fn drawn(observations: &[Observation], issue_slots: u8) -> Vec<(String, String, u64, u64)> {
        drawn_with(observations, SmSettings { issue_slots, ..SmSettings::ISCA11 })
    }

    fn drawn_with(
        observations: &[Observation],
        settings: SmSettings,
    ) -> Vec<(String, String, u64, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let output = Output::new(&path, KIND, false, &[]).unwrap();
        let mut file = EventFile::create(&output).unwrap();
        let label = |name: &str| Label { name: name.to_owned(), source: String::new() };
        let labels = [label("add"), label("mul"), label("sin")];
        let mut drawing = Drawing::new(&mut file, &labels, &settings, (0..100, 100));
        for one in observations {
            drawing.add(one);
        }
        let (cycles, _) = drawing.finish(6);
        file.about(&About::default(), &cycles, 6);
        file.finish().unwrap();
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let mut names = BTreeMap::new();
        let mut slices = Vec::new();
        for event in events {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let track = event["tid"].as_u64().unwrap();
            if event["name"] == "thread_name" {
                names.insert(track, text(&event["args"]["name"]));
            }
            if event["ph"] == "X" {
                let (first, count) =
                    (event["ts"].as_u64().unwrap(), event["dur"].as_u64().unwrap());
                slices.push((names[&track].clone(), text(&event["name"]), first, count));
            }
        }
        slices
    }

    #[test]
    fn two_slots_have_a_track_each() {
        let unit = |unit, place: u8, from, until| Observation::Unit {
            unit,
            place,
            pc: u32::from(place),
            from,
            until,
        };
        let slices = drawn(
            &[
                issue(0, 0, 0),
                unit(SmUnit::Alu, 0, 0, 1),
                issue(0, 1, 1),
                unit(SmUnit::Alu, 1, 0, 1),
                cycles(0, 1, 2, StallReason::Issued),
                issue(1, 0, 2),
                unit(SmUnit::SpecialFunction, 2, 1, 5),
                cycles(1, 1, 1, StallReason::UnitBusy),
                cycles(2, 2, 0, StallReason::UnitBusy),
                cycles(4, 2, 0, StallReason::Drain),
            ],
            2,
        );
        let of = |track: &str| -> Vec<(&str, u64, u64)> {
            let of = slices.iter().filter(|(name, ..)| name == track);
            of.map(|(_, name, first, count)| (name.as_str(), *first, *count)).collect()
        };
        assert_eq!(
            of("slot 0"),
            [("add", 0, 1), ("sin", 1, 1), ("unit busy", 2, 2), ("drain", 4, 2),]
        );
        assert_eq!(of("slot 1"), [("mul", 0, 1), ("unit busy", 1, 3), ("drain", 4, 2)]);
        assert_eq!(of("ALU"), [("add", 0, 1)]);
        assert_eq!(of("ALU, slot 1"), [("mul", 0, 1)]);
        assert_eq!(of("special function"), [("sin", 1, 4)]);
    }

    #[test]
    fn writes_of_a_bank_in_one_cycle_share_a_slice() {
        let write = |register: u16, cycle| Observation::BankWrite {
            bank: (register % 4) as u8,
            place: 0,
            register: RegisterId(register),
            cycle,
            cause: WriteCause::Result,
        };
        let slices =
            drawn(&[write(8, 4), write(4, 2), write(0, 4), cycles(0, 6, 0, StallReason::Drain)], 1);
        let writes: Vec<_> = slices
            .iter()
            .filter(|(track, ..)| track == "bank 0 writes")
            .map(|(_, name, first, count)| (name.as_str(), *first, *count))
            .collect();
        assert_eq!(writes, [("r4 (result)", 2, 1), ("2 writes", 4, 1)]);
    }

    #[test]
    fn with_collectors_every_bank_has_tracks_and_writes_have_their_length() {
        let collectors =
            CollectorSettings { banks: 32, write_cycles: 3, ..CollectorSettings::WARRF_SRAM };
        let operand_delivery = OperandDelivery::Collectors(collectors);
        let settings = SmSettings { issue_slots: 2, operand_delivery, ..SmSettings::ISCA11 };
        let alu =
            |pc, from| Observation::Unit { unit: SmUnit::Alu, place: 0, pc, from, until: from + 1 };
        let write = |bank, cycle| Observation::BankWrite {
            bank,
            place: 0,
            register: RegisterId(7),
            cycle,
            cause: WriteCause::WritePool,
        };
        let slices = drawn_with(
            &[
                Observation::BankRead { bank: 31, place: 1, pc: 2, from: 0, until: 2 },
                issue(0, 0, 0),
                cycles(0, 1, 1, StallReason::Issued),
                // Both started late: they have no issue slot any more.
                alu(0, 1),
                alu(1, 1),
                write(31, 1),
                write(30, 1),
                cycles(1, 3, 0, StallReason::Drain),
                write(31, 4),
                cycles(4, 2, 0, StallReason::Drain),
            ],
            settings,
        );
        let of = |track: &str| -> Vec<(&str, u64, u64)> {
            let of = slices.iter().filter(|(name, ..)| name == track);
            of.map(|(_, name, first, count)| (name.as_str(), *first, *count)).collect()
        };
        assert_eq!(of("bank 31 reads"), [("sin", 0, 2)]);
        assert_eq!(of("bank 31 writes"), [("r7 (write pool)", 1, 3), ("r7 (write pool)", 4, 3)]);
        assert_eq!(of("bank 30 writes"), [("r7 (write pool)", 1, 3)]);
        assert_eq!(of("ALU"), [("add", 1, 1)]);
        assert_eq!(of("ALU, slot 1"), [("mul", 1, 1)]);
    }
}
