//! An obvious model of the register file cache and of count mode: lists and single lanes, no bit
//! tricks, written from the rules of `docs/MODEL.md` and not from the implementation.

use std::collections::BTreeSet;

use strata_core::count::{CountSettings, Scheduling};
use strata_core::image::{Flags, KernelImage, StaticInstruction};
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
    pub(crate) main_writes: [u64; 2],
    pub(crate) cache_reads: [u64; 2],
    pub(crate) cache_writes: [u64; 2],
    pub(crate) cache_fills: [u64; 2],
    pub(crate) both: u64,
    pub(crate) evicted: u64,
    pub(crate) flushed: u64,
    pub(crate) allocated: u64,
    pub(crate) dropped: u64,
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
    /// Register, not read before the next deschedule.
    pub(crate) destinations: Vec<(u16, bool)>,
    pub(crate) bypass: bool,
    pub(crate) lanes: Lanes,
    pub(crate) shared: bool,
}

pub(crate) struct Cache {
    config: RegisterFileCacheConfig,
    lines: Vec<Line>,
    clock: u64,
    pub(crate) totals: Totals,
}

impl Cache {
    pub(crate) fn new(config: RegisterFileCacheConfig) -> Self {
        Self { config, lines: Vec::new(), clock: 0, totals: Totals::default() }
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
            let line = self.lines.iter_mut().find(|line| line.register == register);
            let held = line.as_ref().map_or_else(Lanes::new, |line| line.lanes.clone());
            let hit = slots.lanes.intersection(&held).count() > 0;
            let miss = slots.lanes.difference(&held).count() > 0;
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
        if self.config.allocation == Allocation::WritesAndReads {
            for register in missed {
                let useless =
                    |&&(other, _, unneeded): &&(u16, bool, bool)| other == register && unneeded;
                let unneeded = slots.sources.iter().find(useless).is_some();
                let bypass = unneeded && self.config.liveness_aware_bypass;
                let held = self.lines.iter().find(|line| line.register == register);
                let covered = held.is_some_and(|line| line.lanes.is_superset(&slots.lanes));
                if !dead.contains(&register) && !bypass && !covered {
                    self.totals.cache_fills[side] += 1;
                    self.put(register, &slots.lanes, unneeded, false);
                }
            }
        }
        for &(register, unneeded) in &slots.destinations {
            if slots.bypass || (unneeded && self.config.liveness_aware_bypass) {
                self.totals.main_writes[side] += 1;
                let Some(line) = self.lines.iter_mut().find(|line| line.register == register)
                else {
                    continue;
                };
                line.lanes = line.lanes.difference(&slots.lanes).copied().collect();
                if line.lanes.is_empty() {
                    self.remove(register);
                }
            } else {
                self.totals.cache_writes[side] += 1;
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
    }

    pub(crate) fn exit(&mut self) {
        if self.config.liveness {
            self.totals.dropped += self.lines.len() as u64;
            self.lines.clear();
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
    let destinations = destinations
        .map(|(index, register)| (register.0, bit(instruction.not_read_before_deschedule, index)));
    Slots {
        sources: sources.collect(),
        destinations: destinations.collect(),
        bypass: false,
        lanes: lanes_of(mask),
        shared: instruction.unit.is_shared_datapath(),
    }
}

/// Counts a path. Fails with the program counter of a deschedule that is not marked.
pub(crate) fn count(
    settings: &CountSettings,
    image: &KernelImage<'_>,
    path: &[PathStep],
) -> Result<Totals, u32> {
    // A flat register file is a cache that everything bypasses and nothing hits.
    let flat = RegisterFileCacheConfig {
        entries: 1,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: false,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    };
    let mut cache = Cache::new(settings.cache.unwrap_or(flat));
    let two_level = settings.scheduling != Scheduling::SingleLevel;
    let mut pending: BTreeSet<(u16, u32)> = BTreeSet::new();
    for step in path {
        for pc in step.pc..step.pc + step.length {
            cache.totals.instructions += 1;
            let instruction = &image.instructions[pc as usize];
            let mut slots = slots_of(image, instruction, step.mask);
            if slots.lanes.is_empty() {
                continue;
            }
            cache.totals.threads += slots.lanes.len() as u64;
            let long = instruction.flags.contains(Flags::LONG_LATENCY);
            let waits = slots.sources.iter().any(|&(register, ..)| {
                slots.lanes.iter().any(|&lane| pending.contains(&(register, lane)))
            });
            if two_level && waits {
                if !instruction.flags.contains(Flags::DESCHEDULE_BEFORE) {
                    return Err(pc);
                }
                cache.totals.deschedules += 1;
                cache.flush();
                pending.clear();
            }
            slots.bypass = settings.cache.is_none() || (two_level && long);
            cache.step(&slots);
            for &(register, _) in &slots.destinations {
                for &lane in &slots.lanes {
                    if long {
                        pending.insert((register, lane));
                    } else {
                        pending.remove(&(register, lane));
                    }
                }
            }
            if two_level && instruction.flags.contains(Flags::BARRIER) {
                cache.totals.barriers += 1;
                cache.flush();
                pending.clear();
            }
            let back = instruction.flags.contains(Flags::BACKWARD_BRANCH);
            if back && settings.flush_at_backward_branches {
                cache.flush();
            }
        }
    }
    cache.exit();
    Ok(cache.totals)
}
