//! An obvious model of the upper levels and of count mode: lists and single lanes, no bit tricks,
//! written from the rules of `docs/MODEL.md` and not from the implementation.

use std::collections::BTreeSet;

use strata_core::image::{Flags, KernelImage, StaticInstruction};
use strata_core::organisation::{OrganisationSettings, Scheduling};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::units::LaneMask;

use crate::random::{Lanes, lanes_of};

/// What the hierarchy did, under names of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) instructions: u64,
    pub(crate) threads: u64,
    /// Private, shared.
    pub(crate) main_reads: [u64; 2],
    /// Instructions with 0, 1, 2, 3 and more such reads.
    pub(crate) by_main_reads: [u64; 5],
    pub(crate) main_writes: [u64; 2],
    pub(crate) cache_reads: [u64; 2],
    pub(crate) cache_writes: [u64; 2],
    pub(crate) cache_fills: [u64; 2],
    pub(crate) both: u64,
    pub(crate) evicted: u64,
    pub(crate) flushed: u64,
    pub(crate) allocated: u64,
    pub(crate) dropped: u64,
    pub(crate) last_reads: u64,
    pub(crate) last_and_lower: u64,
    pub(crate) last_writes: u64,
    pub(crate) last_moved: u64,
    pub(crate) last_evicted: u64,
    pub(crate) last_flushed: u64,
    pub(crate) last_allocated: u64,
    pub(crate) last_dropped: u64,
    pub(crate) deschedules: u64,
    pub(crate) barriers: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) register: u16,
    pub(crate) lanes: Lanes,
    pub(crate) dirty: bool,
    unneeded: bool,
    born: u64,
    used: u64,
}

/// One instruction's slots: register and hint bits, each.
pub(crate) struct Slots {
    /// Register, last use, last use before the next deschedule.
    pub(crate) sources: Vec<(u16, bool, bool)>,
    /// Register, not read before the next deschedule, read by private units only.
    pub(crate) destinations: Vec<(u16, bool, bool)>,
    pub(crate) bypass: bool,
    pub(crate) lanes: Lanes,
    pub(crate) shared: bool,
}

/// What the last result file holds.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) register: u16,
    pub(crate) lanes: Lanes,
    unneeded: bool,
}

pub(crate) struct Cache {
    config: RegisterFileCacheConfig,
    has_last: bool,
    last: Option<Last>,
    lines: Vec<Line>,
    clock: u64,
    pub(crate) totals: Totals,
}

impl Cache {
    pub(crate) fn new(config: RegisterFileCacheConfig, has_last: bool) -> Self {
        let totals = Totals::default();
        Self { config, has_last, last: None, lines: Vec::new(), clock: 0, totals }
    }

    /// Whether an instruction of a shared unit asks for lanes of the last result.
    fn out_of_reach(&self, slots: &Slots) -> bool {
        let Some(last) = &self.last else { return false };
        let asks = slots.sources.iter().any(|&(register, ..)| register == last.register);
        slots.shared && asks && slots.lanes.intersection(&last.lanes).count() > 0
    }

    /// Lanes that are left to read of an operand after the last result file.
    fn read_last(&mut self, register: u16, unneeded: bool, lanes: &Lanes) -> Lanes {
        let Some(last) = self.last.as_mut().filter(|last| last.register == register) else {
            return lanes.clone();
        };
        last.unneeded = unneeded;
        let rest: Lanes = lanes.difference(&last.lanes).copied().collect();
        let hit = rest.len() < lanes.len();
        self.totals.last_reads += u64::from(hit);
        self.totals.last_and_lower += u64::from(hit && !rest.is_empty());
        rest
    }

    /// Takes lanes of a register out of the last result file, which lose their value there.
    fn overtake_last(&mut self, register: u16, lanes: &Lanes) {
        if let Some(last) = self.last.as_mut().filter(|last| last.register == register) {
            last.lanes = last.lanes.difference(lanes).copied().collect();
            if last.lanes.is_empty() {
                self.last = None;
                self.totals.last_dropped += 1;
            }
        }
    }

    /// Takes lanes of a register out of the cache, which lose their value there.
    fn overtake(&mut self, register: u16, lanes: &Lanes) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.register == register) {
            line.lanes = line.lanes.difference(lanes).copied().collect();
            if line.lanes.is_empty() {
                self.remove(register);
            }
        }
    }

    fn write_last(&mut self, register: u16, lanes: &Lanes, unneeded: bool) {
        self.totals.last_writes += 1;
        self.overtake(register, lanes);
        if let Some(last) = self.last.as_mut().filter(|last| last.register == register) {
            last.lanes.extend(lanes);
            last.unneeded = unneeded;
            return;
        }
        self.totals.last_allocated += 1;
        let new = Last { register, lanes: lanes.clone(), unneeded };
        let Some(old) = self.last.replace(new) else { return };
        if self.config.liveness_aware_bypass && old.unneeded {
            self.totals.last_evicted += 1;
        } else {
            self.totals.last_moved += 1;
            self.put(old.register, &old.lanes, old.unneeded, true);
        }
    }

    /// Oldest first.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut lines = self.lines.clone();
        lines.sort_by_key(|line| self.age(line));
        lines
    }

    fn age(&self, line: &Line) -> u64 {
        if self.config.replacement == Replacement::Lru { line.used } else { line.born }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(crate) fn step(&mut self, slots: &Slots) {
        let side = usize::from(slots.shared);
        let before: Vec<u16> = self.lines.iter().map(|line| line.register).collect();
        let mut missed = Vec::new();
        let mut dead = BTreeSet::new();
        for &(register, last_use, unneeded) in &slots.sources {
            let now = self.tick();
            let wanted = self.read_last(register, unneeded, &slots.lanes);
            let line = self.lines.iter_mut().find(|line| line.register == register);
            let held = line.as_ref().map_or_else(Lanes::new, |line| line.lanes.clone());
            let hit = wanted.intersection(&held).count() > 0;
            let miss = wanted.difference(&held).count() > 0;
            self.totals.cache_reads[side] += u64::from(hit);
            self.totals.main_reads[side] += u64::from(miss);
            self.totals.both += u64::from(hit && miss);
            if let Some(line) = line {
                line.unneeded = unneeded;
                if hit {
                    line.used = now;
                }
            }
            if miss {
                missed.push(register);
            }
            if last_use && self.config.liveness {
                dead.insert(register);
            }
        }
        for register in before {
            if dead.contains(&register) {
                self.remove(register);
            }
        }
        if self.last.as_ref().is_some_and(|last| dead.contains(&last.register)) {
            self.last = None;
            self.totals.last_dropped += 1;
        }
        if self.config.allocation == Allocation::WritesAndReads {
            for register in missed {
                let useless =
                    |&&(other, _, unneeded): &&(u16, bool, bool)| other == register && unneeded;
                let unneeded = slots.sources.iter().find(useless).is_some();
                let bypass = unneeded && self.config.liveness_aware_bypass;
                let held = self.lines.iter().find(|line| line.register == register);
                let mut fill = slots.lanes.clone();
                if let Some(last) = self.last.iter().find(|last| last.register == register) {
                    fill = fill.difference(&last.lanes).copied().collect();
                }
                let covered = held.is_some_and(|line| line.lanes.is_superset(&fill));
                if !dead.contains(&register) && !bypass && !covered {
                    self.totals.cache_fills[side] += 1;
                    self.put(register, &fill, unneeded, false);
                }
            }
        }
        for &(register, unneeded, private) in &slots.destinations {
            if slots.bypass || (unneeded && self.config.liveness_aware_bypass) {
                self.totals.main_writes[side] += 1;
                self.overtake_last(register, &slots.lanes);
                self.overtake(register, &slots.lanes);
            } else if self.has_last && private && !slots.shared {
                self.write_last(register, &slots.lanes, unneeded);
            } else {
                self.totals.cache_writes[side] += 1;
                self.overtake_last(register, &slots.lanes);
                self.put(register, &slots.lanes, unneeded, true);
            }
        }
    }

    /// Gives an entry up without a writeback.
    fn remove(&mut self, register: u16) {
        self.lines.retain(|line| line.register != register);
        self.totals.dropped += 1;
    }

    fn put(&mut self, register: u16, lanes: &Lanes, unneeded: bool, dirty: bool) {
        let now = self.tick();
        if let Some(line) = self.lines.iter_mut().find(|line| line.register == register) {
            line.lanes.extend(lanes);
            line.used = now;
            line.unneeded = unneeded;
            line.dirty |= dirty;
            return;
        }
        if self.lines.len() == usize::from(self.config.entries) {
            let marked = |line: &&Line| line.unneeded && self.config.liveness_aware_eviction;
            let oldest =
                |lines: Vec<&Line>| lines.into_iter().min_by_key(|line| self.age(line)).cloned();
            let victim = oldest(self.lines.iter().filter(marked).collect())
                .or_else(|| oldest(self.lines.iter().collect()))
                .expect("a full cache has entries");
            self.lines.retain(|line| line.register != victim.register);
            if victim.dirty {
                self.totals.evicted += 1;
            } else {
                self.totals.dropped += 1;
            }
        }
        self.totals.allocated += 1;
        let lanes = lanes.clone();
        self.lines.push(Line { register, lanes, dirty, unneeded, born: now, used: now });
    }

    pub(crate) fn flush(&mut self) {
        for line in std::mem::take(&mut self.lines) {
            if line.dirty {
                self.totals.flushed += 1;
            } else {
                self.totals.dropped += 1;
            }
        }
        self.totals.last_flushed += u64::from(self.last.take().is_some());
    }

    pub(crate) fn exit(&mut self) {
        if self.config.liveness {
            self.totals.dropped += self.lines.len() as u64;
            self.lines.clear();
            self.totals.last_dropped += u64::from(self.last.take().is_some());
        } else {
            self.flush();
        }
    }
}

fn slots_of(image: &KernelImage<'_>, instruction: &StaticInstruction, mask: LaneMask) -> Slots {
    let bit = |hints: u32, index: usize| hints & (1 << index) != 0;
    let sources = image.sources(instruction).iter().enumerate().map(|(index, register)| {
        let unneeded = bit(instruction.last_use_before_deschedule, index);
        (register.0, bit(instruction.last_use, index), unneeded)
    });
    let destinations = image.destinations(instruction).iter().enumerate();
    let destinations = destinations.map(|(index, register)| {
        let unneeded = bit(instruction.not_read_before_deschedule, index);
        (register.0, unneeded, bit(instruction.private_reads, index))
    });
    Slots {
        sources: sources.collect(),
        destinations: destinations.collect(),
        bypass: false,
        lanes: lanes_of(mask),
        shared: instruction.unit.is_shared_datapath(),
    }
}

/// Why a path cannot be counted, with the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A deschedule that is not marked.
    Unmarked(u32),
    /// A shared unit would have to read the last result file.
    OutOfReach(u32),
}

/// Counts a path.
pub(crate) fn count(
    settings: &OrganisationSettings,
    image: &KernelImage<'_>,
    path: &[PathStep],
) -> Result<Totals, Stop> {
    // A flat register file is a cache that everything bypasses and nothing hits.
    let flat = RegisterFileCacheConfig {
        entries: 1,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: false,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    };
    let levels = &settings.levels;
    let config = levels.cache().unwrap_or(flat);
    let mut cache = Cache::new(config, levels.has_last_result_file());
    let two_level = settings.scheduling != Scheduling::SingleLevel;
    let mut awaited: BTreeSet<(u16, u32)> = BTreeSet::new();
    for step in path {
        for pc in step.pc..step.pc + step.length {
            cache.totals.instructions += 1;
            let instruction = &image.instructions[pc as usize];
            let mut slots = slots_of(image, instruction, step.mask);
            if slots.lanes.is_empty() {
                cache.totals.by_main_reads[0] += 1;
                continue;
            }
            cache.totals.threads += slots.lanes.len() as u64;
            let long = instruction.flags.contains(Flags::LONG_LATENCY);
            let waits = slots.sources.iter().any(|&(register, ..)| {
                slots.lanes.iter().any(|&lane| awaited.contains(&(register, lane)))
            });
            if two_level && waits {
                if !instruction.flags.contains(Flags::DESCHEDULE_BEFORE) {
                    return Err(Stop::Unmarked(pc));
                }
                cache.totals.deschedules += 1;
                cache.flush();
                awaited.clear();
            }
            slots.bypass = levels.cache().is_none() || (two_level && long);
            if cache.out_of_reach(&slots) {
                return Err(Stop::OutOfReach(pc));
            }
            let before: u64 = cache.totals.main_reads.iter().sum();
            cache.step(&slots);
            let after: u64 = cache.totals.main_reads.iter().sum();
            cache.totals.by_main_reads[(after - before).min(4) as usize] += 1;
            for &(register, ..) in &slots.destinations {
                for &lane in &slots.lanes {
                    if long {
                        awaited.insert((register, lane));
                    } else {
                        awaited.remove(&(register, lane));
                    }
                }
            }
            if two_level && instruction.flags.contains(Flags::BARRIER) {
                cache.totals.barriers += 1;
                cache.flush();
                awaited.clear();
            }
            let back = instruction.flags.contains(Flags::BACKWARD_BRANCH);
            if back && levels.flush_at_backward_branches() {
                cache.flush();
            }
        }
    }
    cache.exit();
    Ok(cache.totals)
}
