//! Reserved: uses of the main register file's ports and of units, which are known before they
//! happen.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use strata_core::sm::config::SmSettings;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::{SmUnit, WriteCause};
use strata_core::units::RegisterId;

use super::slots::MAX_SLOTS;
use super::tracks::{Tracks, UseArgs};
use crate::timeline::file::Group;

pub(super) const BANK_PORTS: Group = Group { number: 3, name: "main register file" };
pub(super) const UNITS: Group = Group { number: 4, name: "units" };

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

/// Use of a unit or of a bank's read port that an instruction has reserved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) pc: u32,
    pub(super) place: u8,
}

impl Planned {
    fn draw(&self, tracks: &mut Tracks<'_>, group: Group, track: u32) {
        let Self { from, until, pc, place } = *self;
        let name = tracks.name_of(pc);
        tracks.planned_slice(group, track, name, from..until, UseArgs { pc, place });
    }
}

/// What is reserved for later cycles, in order of time.
#[derive(Debug, Default)]
struct Queues {
    /// By bank.
    reads: Vec<VecDeque<Planned>>,
    /// By bank and first cycle: writes far ahead may share one.
    writes: Vec<BTreeMap<u64, Vec<Write>>>,
    /// Units in the order of [`SmUnit::ALL`], for each issue slot.
    units: [[VecDeque<Planned>; MAX_SLOTS]; SmUnit::ALL.len()],
}

/// The ports and units of an SM.
#[derive(Debug)]
pub(super) struct ReservedTracks {
    /// Banks of the main register file.
    banks: usize,
    /// Cycles that a write of a bank takes.
    write_cycles: u64,
    queues: Queues,
}

impl ReservedTracks {
    /// Those of an SM, of which nothing is reserved.
    pub(super) fn new(settings: &SmSettings) -> Self {
        let (banks, write_cycles) = match settings.operand_delivery {
            OperandDelivery::FixedLatency { banks } => (usize::from(banks), 1),
            OperandDelivery::Collectors(settings) => {
                (usize::from(settings.banks), u64::from(settings.write_cycles))
            }
        };
        let queues = Queues {
            reads: vec![VecDeque::new(); banks],
            writes: vec![BTreeMap::new(); banks],
            ..Queues::default()
        };
        Self { banks, write_cycles, queues }
    }

    /// Keeps a use of a unit; `issued` is the slot of the instruction that issued last in this
    /// cycle.
    pub(super) fn use_unit(
        &mut self,
        tracks: &mut Tracks<'_>,
        unit: SmUnit,
        issued: Option<u8>,
        planned: Planned,
    ) {
        if tracks.is_planned(planned.from, planned.until) {
            let slot = self.unit_slot(unit, issued, planned.from);
            self.queues.units[unit as usize][slot].push_back(planned);
        }
    }

    /// Keeps a read of a bank.
    pub(super) fn read_bank(&mut self, tracks: &mut Tracks<'_>, bank: u8, planned: Planned) {
        if tracks.is_planned(planned.from, planned.until) {
            self.queues.reads[usize::from(bank)].push_back(planned);
        }
    }

    /// Keeps a write of a bank, which begins in a cycle.
    pub(super) fn write_bank(
        &mut self,
        tracks: &mut Tracks<'_>,
        (bank, cycle): (u8, u64),
        (place, register): (u8, RegisterId),
        cause: WriteCause,
    ) {
        if tracks.is_planned(cycle, cycle + self.write_cycles) {
            let cause = match cause {
                WriteCause::Result => "result",
                WriteCause::Eviction => "eviction",
                WriteCause::Flush => "flush",
                WriteCause::WritePool => "write pool",
            };
            let write = Write { place, register: register.0, cause };
            let writes = &mut self.queues.writes[usize::from(bank)];
            writes.entry(cycle).or_default().push(write);
        }
    }

    /// Draws what is over before a cycle.
    pub(super) fn draw_before(&mut self, tracks: &mut Tracks<'_>, slots: usize, cycle: u64) {
        for bank in 0..self.banks {
            while let Some(planned) = over(&mut self.queues.reads[bank], cycle) {
                draw_read(tracks, bank, &planned);
            }
            while let Some(writes) = self.queues.writes[bank].first_entry()
                && *writes.key() + self.write_cycles <= cycle
            {
                let (at, writes) = writes.remove_entry();
                self.draw_writes(tracks, bank, at, writes);
            }
        }
        for unit in 0..SmUnit::ALL.len() {
            for slot in 0..slots {
                while let Some(planned) = over(&mut self.queues.units[unit][slot], cycle) {
                    draw_unit(tracks, unit, slot, &planned);
                }
            }
        }
    }

    /// Draws the rest.
    pub(super) fn close(&mut self, tracks: &mut Tracks<'_>) {
        let rest = std::mem::take(&mut self.queues);
        for (bank, queue) in rest.reads.into_iter().enumerate() {
            for planned in queue {
                draw_read(tracks, bank, &planned);
            }
        }
        for (bank, writes) in rest.writes.into_iter().enumerate() {
            for (cycle, writes) in writes {
                self.draw_writes(tracks, bank, cycle, writes);
            }
        }
        for (unit, queues) in rest.units.into_iter().enumerate() {
            for (slot, queue) in queues.into_iter().enumerate() {
                for planned in queue {
                    draw_unit(tracks, unit, slot, &planned);
                }
            }
        }
    }

    /// The track of a unit on which an instruction is drawn: that of its issue slot, where the unit
    /// starts one for each. What starts later than it issues, out of a collector unit, has none any
    /// more and takes the first that is free.
    fn unit_slot(&self, unit: SmUnit, issued: Option<u8>, from: u64) -> usize {
        if !matches!(unit, SmUnit::Alu | SmUnit::Control | SmUnit::Constant) {
            return 0;
        }
        if let Some(slot) = issued {
            return usize::from(slot);
        }
        let taken = |queue: &VecDeque<Planned>| queue.back().is_some_and(|last| last.until > from);
        usize::from(taken(&self.queues.units[unit as usize][0]))
    }

    /// Writes that begin in one cycle.
    fn draw_writes(&self, tracks: &mut Tracks<'_>, bank: usize, cycle: u64, writes: Vec<Write>) {
        let name = match writes.as_slice() {
            [one] => format!("r{} ({})", one.register, one.cause),
            several => format!("{} writes", several.len()),
        };
        let index = self.banks + bank;
        let track = tracks.track(BANK_PORTS, index, || format!("bank {bank} writes"));
        let cycles = cycle..cycle + self.write_cycles;
        tracks.planned_slice(BANK_PORTS, track, &name, cycles, WriteArgs { writes });
    }
}

fn draw_read(tracks: &mut Tracks<'_>, bank: usize, planned: &Planned) {
    let track = tracks.track(BANK_PORTS, bank, || format!("bank {bank} reads"));
    planned.draw(tracks, BANK_PORTS, track);
}

fn draw_unit(tracks: &mut Tracks<'_>, unit: usize, slot: usize, planned: &Planned) {
    let name = SmUnit::ALL[unit].name();
    let title = || if slot == 0 { name.to_owned() } else { format!("{name}, slot {slot}") };
    let track = tracks.track(UNITS, unit * MAX_SLOTS + slot, title);
    planned.draw(tracks, UNITS, track);
}

/// The first of a queue, if it is over before a cycle.
fn over(queue: &mut VecDeque<Planned>, cycle: u64) -> Option<Planned> {
    queue.front().is_some_and(|planned| planned.until <= cycle).then(|| queue.pop_front())?
}
