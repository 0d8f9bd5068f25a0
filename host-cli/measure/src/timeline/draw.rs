//! Draw: what an SM tells of a run, as slices on tracks.
//!
//! A slice is written when its end is known, so that memory holds only what is open: one slice for
//! each warp and issue slot, and what is reserved for later cycles.

mod expansion;
mod memory;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use serde::Serialize;
use strata_core::sm::config::{MAX_RESIDENT_CTAS, MAX_RESIDENT_WARPS, SmSettings};
use strata_core::sm::counters::StallReason;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::{Issue, Observation, SmUnit, WarpPhase, WarpPhases, WriteCause};

use super::code::Label;
use super::file::{Event, EventFile, Group};
use expansion::{ExpansionTracks, Prefetch};
use memory::MemoryTracks;

/// The tracks of the issue slots.
pub const SLOTS: Group = Group { number: 1, name: "issue slots" };
/// The tracks of the warps.
pub const WARPS: Group = Group { number: 2, name: "warps" };
const BANK_PORTS: Group = Group { number: 3, name: "main register file" };
const UNITS: Group = Group { number: 4, name: "units" };
const CTAS: Group = Group { number: 5, name: "CTAs" };
/// Track numbers of a group begin at its number times this.
const TRACKS: u32 = 1000;
/// Issue slots of an SM at most.
const MAX_SLOTS: usize = 2;

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

#[derive(Clone, Copy, Debug, Serialize)]
struct UseArgs {
    pc: u32,
    place: u8,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Write {
    place: u8,
    register: u16,
    cause: &'static str,
}

#[derive(Serialize)]
struct WriteArgs {
    writes: Vec<Write>,
}

#[derive(Serialize)]
struct WarpArgs {
    cta: u64,
    warp: u32,
}

#[derive(Serialize)]
struct CtaArgs {
    warps: u32,
}

/// A slice without anything more to say of it.
const PLAIN: Option<()> = None;

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

/// A resident CTA.
#[derive(Clone, Copy, Debug)]
struct ResidentCta {
    cta: u64,
    since: u64,
    warps: u32,
}

/// Use of a unit or of a bank's read port that an instruction has reserved.
#[derive(Clone, Copy, Debug)]
struct Planned {
    from: u64,
    until: u64,
    pc: u32,
    place: u8,
}

/// What is reserved for later cycles, in order of time.
#[derive(Debug, Default)]
struct Reserved {
    /// By bank.
    reads: Vec<VecDeque<Planned>>,
    /// By bank and first cycle: writes far ahead may share one.
    writes: Vec<BTreeMap<u64, Vec<Write>>>,
    /// Units in the order of [`SmUnit::ALL`], for each issue slot.
    units: [[VecDeque<Planned>; MAX_SLOTS]; SmUnit::ALL.len()],
}

/// A drawing under way.
#[derive(Debug)]
pub(crate) struct Drawing<'d> {
    file: &'d mut EventFile,
    labels: &'d [Label],
    /// Cycles that are drawn.
    window: Range<u64>,
    /// Slices that may still be drawn, but for those of the cycle in which they run out.
    left: u64,
    capped: bool,
    /// Everything inside the window is drawn.
    done: bool,
    named: BTreeSet<u32>,
    /// Instructions of this cycle, with the cycle of their results.
    issued: Vec<(Issue, Option<u64>)>,
    /// PREF of this cycle.
    prefetches: Vec<Prefetch>,
    /// Why each slot stalls since when.
    stalls: [Option<(StallReason, u64)>; MAX_SLOTS],
    /// Issue slots that have stalled or issued so far: as many as the SM has.
    slots: usize,
    warps: [Option<Resident>; MAX_RESIDENT_WARPS],
    ctas: [Option<ResidentCta>; MAX_RESIDENT_CTAS],
    /// Banks of the main register file.
    banks: usize,
    /// Cycles that a write of a bank takes.
    write_cycles: u64,
    reserved: Reserved,
    memory: MemoryTracks,
    expansion: ExpansionTracks,
}

impl<'d> Drawing<'d> {
    /// Begins to draw an SM: the cycles and the number of slices are limited.
    pub(crate) fn new(
        file: &'d mut EventFile,
        labels: &'d [Label],
        settings: &SmSettings,
        (window, slices): (Range<u64>, u64),
    ) -> Self {
        for group in [SLOTS, WARPS, BANK_PORTS, UNITS, CTAS] {
            file.group(group);
        }
        let (banks, write_cycles) = match settings.operand_delivery {
            OperandDelivery::FixedLatency { banks } => (usize::from(banks), 1),
            OperandDelivery::Collectors(settings) => {
                (usize::from(settings.banks), u64::from(settings.write_cycles))
            }
        };
        Self {
            file,
            labels,
            window,
            left: slices,
            capped: false,
            done: false,
            named: BTreeSet::new(),
            issued: Vec::new(),
            prefetches: Vec::new(),
            stalls: [None; MAX_SLOTS],
            slots: usize::from(settings.issue_slots).min(MAX_SLOTS),
            warps: [None; MAX_RESIDENT_WARPS],
            ctas: [None; MAX_RESIDENT_CTAS],
            banks,
            write_cycles,
            reserved: Reserved {
                reads: vec![VecDeque::new(); banks],
                writes: vec![BTreeMap::new(); banks],
                ..Reserved::default()
            },
            memory: MemoryTracks::default(),
            expansion: ExpansionTracks::default(),
        }
    }

    /// Draws what was observed.
    pub(crate) fn add(&mut self, observation: &Observation) {
        if self.done {
            return;
        }
        match *observation {
            Observation::CtaLaunch { cycle, cta, slot, before, warps } => {
                let resident = self.ctas[usize::from(slot)].get_or_insert(ResidentCta {
                    cta,
                    since: cycle,
                    warps: 0,
                });
                resident.warps += warps.count_ones();
                let places = (0..MAX_RESIDENT_WARPS).filter(|place| warps >> place & 1 != 0);
                for (warp, place) in (before..).zip(places) {
                    self.warps[place] = Some(Resident { cta, warp, begun: false, open: None });
                }
            }
            Observation::CtaEnd { cycle, slot, warps, last, .. } => {
                for place in (0..MAX_RESIDENT_WARPS).filter(|place| warps >> place & 1 != 0) {
                    self.end_warp(place, cycle);
                }
                if last {
                    self.end_cta(usize::from(slot), cycle);
                }
            }
            Observation::Issue(issue) => self.issued.push((issue, None)),
            Observation::Result { cycle } => {
                if let Some((_, result)) = self.issued.last_mut() {
                    *result = Some(cycle);
                }
            }
            Observation::Unit { unit, place, pc, from, until } => {
                let planned = Planned { from, until, pc, place };
                if self.is_planned(from, until) {
                    let slot = self.unit_slot(unit, from);
                    self.reserved.units[unit as usize][slot].push_back(planned);
                }
            }
            Observation::BankRead { bank, place, pc, from, until } => {
                if self.is_planned(from, until) {
                    let planned = Planned { from, until, pc, place };
                    self.reserved.reads[usize::from(bank)].push_back(planned);
                }
            }
            Observation::BankWrite { bank, place, register, cycle, cause } => {
                if self.is_planned(cycle, cycle + self.write_cycles) {
                    let cause = match cause {
                        WriteCause::Result => "result",
                        WriteCause::Eviction => "eviction",
                        WriteCause::Flush => "flush",
                        WriteCause::WritePool => "write pool",
                    };
                    let write = Write { place, register: register.0, cause };
                    let writes = &mut self.reserved.writes[usize::from(bank)];
                    writes.entry(cycle).or_default().push(write);
                }
            }
            Observation::Memory(_)
            | Observation::Path { .. }
            | Observation::Fill { .. }
            | Observation::Row(_)
            | Observation::Refused { .. } => self.add_of_memory(observation),
            Observation::Expansion { cycle, event } => self.add_of_expansion(cycle, event),
            Observation::ActiveLimit { cycle, warps } => {
                self.limit_active_warps(cycle, Some(warps));
            }
            Observation::Cycles { first, count, slots, warps } => {
                self.cycles(first..first + count, slots, &warps);
            }
        }
    }

    /// Draws what is open to the end of the launch, which has taken `all` cycles. Returns the
    /// cycles that were drawn, and whether the cap on slices ended them.
    pub(crate) fn finish(mut self, all: u64) -> (Range<u64>, bool) {
        let end = self.window.end.min(all);
        if !self.done {
            self.close(end);
        }
        (self.window.start.min(end)..end, self.capped)
    }

    /// Whether what is reserved lies in the window; it is accounted for then.
    fn is_planned(&mut self, from: u64, until: u64) -> bool {
        let inside = until > self.window.start && from < self.window.end;
        self.left = self.left.saturating_sub(u64::from(inside));
        inside
    }

    /// The track of a unit on which an instruction is drawn: that of its issue slot, where the unit
    /// starts one for each. What starts later than it issues, out of a collector unit, has none any
    /// more and takes the first that is free.
    fn unit_slot(&self, unit: SmUnit, from: u64) -> usize {
        if !matches!(unit, SmUnit::Alu | SmUnit::Control | SmUnit::Constant) {
            return 0;
        }
        if let Some((issue, _)) = self.issued.last() {
            return usize::from(issue.slot);
        }
        let taken = |queue: &VecDeque<Planned>| queue.back().is_some_and(|last| last.until > from);
        usize::from(taken(&self.reserved.units[unit as usize][0]))
    }

    /// Cycles in which slots issued in the first, or did nothing in all.
    fn cycles(&mut self, cycles: Range<u64>, slots: [StallReason; 2], phases: &WarpPhases) {
        let (first, next) = (cycles.start, cycles.end);
        let issued = std::mem::take(&mut self.issued);
        let prefetches = std::mem::take(&mut self.prefetches);
        for &(issue, result) in &issued {
            self.stall(usize::from(issue.slot), None, first);
            self.issue(&issue, result);
        }
        for prefetch in &prefetches {
            self.stall(usize::from(prefetch.slot), None, first);
            self.prefetch_in_slot(prefetch, first);
        }
        for (slot, &reason) in slots.iter().enumerate().take(self.slots) {
            if reason != StallReason::Issued {
                self.stall(slot, Some(reason), first);
            }
        }
        for place in 0..MAX_RESIDENT_WARPS {
            if let Some(phase) = phases.of(place) {
                let mut issuing = issued.iter().map(|(issue, _)| issue.place);
                let mut prefetching = prefetches.iter().map(|prefetch| prefetch.of.place);
                let is_it = |of| usize::from(of) == place;
                let issues = issuing.any(is_it) || prefetching.any(is_it);
                self.stand(place, if issues { None } else { Some(phase) }, first);
            }
        }
        for &(issue, result) in &issued {
            self.issue_of_warp(&issue, result);
        }
        for prefetch in &prefetches {
            self.prefetch_of_warp(prefetch, first);
        }
        self.write_reserved(next);
        self.write_memory(next);
        self.write_expansion(next);
        if self.left == 0 && next < self.window.end {
            self.window.end = next.max(self.window.start);
            self.capped = true;
        }
        if next >= self.window.end {
            self.close(self.window.end);
        }
    }

    /// A slot begins or goes on to stall, or issues, in a cycle.
    fn stall(&mut self, slot: usize, reason: Option<StallReason>, cycle: u64) {
        match self.stalls[slot] {
            Some((open, _)) if Some(open) == reason => return,
            Some((open, since)) => {
                let name = words(open.name().trim_start_matches("slots_"));
                let track = self.track(SLOTS, slot, || format!("slot {slot}"));
                self.slice(SLOTS, track, &name, since..cycle, PLAIN);
            }
            None => {}
        }
        self.stalls[slot] = reason.map(|reason| (reason, cycle));
    }

    /// An instruction on the track of its slot.
    fn issue(&mut self, issue: &Issue, result: Option<u64>) {
        let slot = usize::from(issue.slot);
        let track = self.track(SLOTS, slot, || format!("slot {slot}"));
        self.instruction(SLOTS, track, issue, result);
    }

    /// An instruction on the track of its warp.
    fn issue_of_warp(&mut self, issue: &Issue, result: Option<u64>) {
        let place = usize::from(issue.place);
        self.begin_warp(place, issue.cycle);
        let track = self.warp_track(place);
        self.instruction(WARPS, track, issue, result);
    }

    fn instruction(&mut self, group: Group, track: u32, issue: &Issue, result_at: Option<u64>) {
        let labels = self.labels;
        let (name, source) = labels
            .get(issue.pc as usize)
            .map_or(("?", ""), |label| (label.name.as_str(), label.source.as_str()));
        let Issue { cycle, slot, place, cta, warp, pc, mask } = *issue;
        let mask = format!("{:#010x}", mask.0);
        let args = IssueArgs { pc, source, mask, cta, warp, place, slot, result_at };
        self.slice(group, track, name, cycle..cycle + 1, Some(args));
    }

    /// A warp stands in a phase from a cycle on, or issues in it.
    fn stand(&mut self, place: usize, phase: Option<WarpPhase>, cycle: u64) {
        let Some(resident) = &mut self.warps[place] else { return };
        let before = resident.open;
        if before.is_some_and(|(open, _)| Some(open) == phase) {
            return;
        }
        resident.open = phase.map(|phase| (phase, cycle));
        if let Some((open, since)) = before {
            self.begin_warp(place, since.max(self.window.start));
            let track = self.warp_track(place);
            self.slice(WARPS, track, open.name(), since..cycle, PLAIN);
        }
    }

    /// Begins the slice of a warp's residency with the first that it holds.
    fn begin_warp(&mut self, place: usize, cycle: u64) {
        if !self.window.contains(&cycle) {
            return;
        }
        let Some(resident) = self.warps[place].as_mut().filter(|resident| !resident.begun) else {
            return;
        };
        resident.begun = true;
        let (cta, warp) = (resident.cta, resident.warp);
        let track = self.warp_track(place);
        self.edge("B", track, cta, warp, cycle);
    }

    fn edge(&mut self, ph: &'static str, tid: u32, cta: u64, warp: u32, cycle: u64) {
        let name = format!("CTA {cta}, warp {warp}");
        let args = Some(WarpArgs { cta, warp });
        let pid = WARPS.number;
        self.file.event(&Event { name: &name, ph, ts: Some(cycle), dur: None, pid, tid, args });
        self.left = self.left.saturating_sub(u64::from(ph == "B"));
    }

    fn end_warp(&mut self, place: usize, cycle: u64) {
        self.stand(place, None, cycle);
        let Some(Resident { cta, warp, begun: true, .. }) = self.warps[place].take() else {
            return;
        };
        let track = self.warp_track(place);
        self.edge("E", track, cta, warp, cycle.min(self.window.end));
    }

    fn end_cta(&mut self, slot: usize, cycle: u64) {
        let Some(ResidentCta { cta, since, warps }) = self.ctas[slot].take() else { return };
        let track = self.track(CTAS, slot, || format!("CTA place {slot}"));
        let args = Some(CtaArgs { warps });
        self.slice(CTAS, track, &format!("CTA {cta}"), since..cycle, args);
    }

    /// Ends all slices: nothing more is drawn.
    fn close(&mut self, end: u64) {
        self.limit_active_warps(end, None);
        for slot in 0..self.slots {
            self.stall(slot, None, end);
        }
        for place in 0..MAX_RESIDENT_WARPS {
            self.end_warp(place, end);
        }
        for slot in 0..MAX_RESIDENT_CTAS {
            self.end_cta(slot, end);
        }
        // What is reserved beyond a launch's last cycle happens; beyond the window it is not drawn.
        self.write_reserved(self.window.end);
        self.write_memory(u64::MAX);
        let rest = std::mem::take(&mut self.reserved);
        for (bank, queue) in rest.reads.into_iter().enumerate() {
            for planned in queue {
                self.read(bank, &planned);
            }
        }
        for (bank, writes) in rest.writes.into_iter().enumerate() {
            for (cycle, writes) in writes {
                self.bank_writes(bank, cycle, writes);
            }
        }
        for (unit, queues) in rest.units.into_iter().enumerate() {
            for (slot, queue) in queues.into_iter().enumerate() {
                for planned in queue {
                    self.unit(unit, slot, &planned);
                }
            }
        }
        self.done = true;
    }

    /// Writes what was reserved and is over before a cycle.
    fn write_reserved(&mut self, cycle: u64) {
        for bank in 0..self.banks {
            while let Some(planned) = over(&mut self.reserved.reads[bank], cycle) {
                self.read(bank, &planned);
            }
            while let Some(writes) = self.reserved.writes[bank].first_entry()
                && *writes.key() + self.write_cycles <= cycle
            {
                let (at, writes) = writes.remove_entry();
                self.bank_writes(bank, at, writes);
            }
        }
        for unit in 0..SmUnit::ALL.len() {
            for slot in 0..self.slots {
                while let Some(planned) = over(&mut self.reserved.units[unit][slot], cycle) {
                    self.unit(unit, slot, &planned);
                }
            }
        }
    }

    fn read(&mut self, bank: usize, planned: &Planned) {
        let track = self.track(BANK_PORTS, bank, || format!("bank {bank} reads"));
        self.used(BANK_PORTS, track, planned);
    }

    /// Writes that begin in one cycle.
    fn bank_writes(&mut self, bank: usize, cycle: u64, writes: Vec<Write>) {
        let name = match writes.as_slice() {
            [one] => format!("r{} ({})", one.register, one.cause),
            several => format!("{} writes", several.len()),
        };
        let track = self.track(BANK_PORTS, self.banks + bank, || format!("bank {bank} writes"));
        let cycles = cycle..cycle + self.write_cycles;
        self.planned_slice(BANK_PORTS, track, &name, cycles, WriteArgs { writes });
    }

    fn unit(&mut self, unit: usize, slot: usize, planned: &Planned) {
        let name = SmUnit::ALL[unit].name();
        let title = || if slot == 0 { name.to_owned() } else { format!("{name}, slot {slot}") };
        let track = self.track(UNITS, unit * MAX_SLOTS + slot, title);
        self.used(UNITS, track, planned);
    }

    fn used(&mut self, group: Group, track: u32, planned: &Planned) {
        let Planned { from, until, pc, place } = *planned;
        let labels = self.labels;
        let name = labels.get(pc as usize).map_or("?", |label| label.name.as_str());
        self.planned_slice(group, track, name, from..until, UseArgs { pc, place });
    }

    fn warp_track(&mut self, place: usize) -> u32 {
        self.track(WARPS, place, || format!("warp place {place}"))
    }

    /// The number of a track, which is named when it is first used.
    fn track(&mut self, group: Group, index: usize, name: impl FnOnce() -> String) -> u32 {
        let track = group.number * TRACKS + index as u32;
        if self.named.insert(track) {
            self.file.track(group, track, &name());
        }
        track
    }

    /// Writes the part of a slice that lies in the window.
    fn slice<A: Serialize>(
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

    /// The same for a slice that was accounted for when it was reserved.
    fn planned_slice(
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

/// The first of a queue, if it is over before a cycle.
fn over(queue: &mut VecDeque<Planned>, cycle: u64) -> Option<Planned> {
    queue.front().is_some_and(|planned| planned.until <= cycle).then(|| queue.pop_front())?
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::super::KIND;
    use super::*;
    use strata_core::sm::operand_delivery::CollectorSettings;
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
        file.about(&super::super::About::default(), &cycles, 6);
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
