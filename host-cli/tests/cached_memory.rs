//! The memory with a cache on real addresses: an independent reference cache is fed the lines of
//! the workloads' accesses in the order in which the SM issued them, and finds as many of them.
//!
//! The reference knows the executor's addresses and the width of each access, nothing of how the
//! product makes lines of them.

use std::collections::{HashMap, VecDeque};

use strata_core::sm::Observation;
use strata_core::sm::config::SmSettings;
use strata_core::sm::memory::cached::{CacheEvent, CachedSettings};
use strata_measure::timing::{LaunchCache, TimedLaunch, observe_launch_over};
use strata_simt::AddressSink;
use strata_simt::moved::{AccessSpace, Addresses};
use strata_workload::simulate::LaunchSink;
use strata_workload::{LaunchRecord, Options, Overrides, Prepared, Toolchain, Workload};

const SETTINGS: CachedSettings = CachedSettings::of(16 * 1024);

/// The accesses of each warp of a launch: instruction, lanes, addresses.
type Raw = HashMap<(u64, u32), VecDeque<(u32, u32, Vec<u64>)>>;

/// What the launches of a workload access, in order.
#[derive(Default)]
struct Collector {
    warp: (u64, u32),
    raw: Raw,
    launches: Vec<Raw>,
}

impl AddressSink for Collector {
    fn begin(&mut self, cta: u64, warp: u32) {
        self.warp = (cta, warp);
    }

    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
        let accesses = self.raw.entry(self.warp).or_default();
        accesses.push_back((pc, mask, addresses.iter().collect()));
    }
}

impl LaunchSink for Collector {
    fn addresses(&mut self) -> Option<&mut dyn AddressSink> {
        Some(self)
    }

    fn launch(&mut self, _: LaunchRecord<'_>) {
        self.launches.push(std::mem::take(&mut self.raw));
    }
}

/// A cache as a textbook has it: of each set the lines, the one that was used last at the end.
struct Reference {
    sets: Vec<VecDeque<u64>>,
    found: [u64; 2],
    fills: u64,
    stored: u64,
}

impl Reference {
    fn new() -> Self {
        let sets = (SETTINGS.cache_bytes / (4 * 128)) as usize;
        Self { sets: vec![VecDeque::new(); sets], found: [0; 2], fills: 0, stored: 0 }
    }

    fn load(&mut self, line: u64) {
        let count = self.sets.len() as u64;
        let set = &mut self.sets[(line % count) as usize];
        let place = set.iter().position(|&other| other == line);
        self.found[usize::from(place.is_some())] += 1;
        if let Some(place) = place {
            set.remove(place);
        } else {
            self.fills += 128;
        }
        set.push_back(line);
        if set.len() > 4 {
            set.pop_front();
        }
    }

    fn store(&mut self, line: u64, sectors: u64) {
        let count = self.sets.len() as u64;
        let set = &mut self.sets[(line % count) as usize];
        if let Some(place) = set.iter().position(|&other| other == line) {
            set.remove(place);
            set.push_back(line);
        }
        self.stored += 32 * sectors;
    }
}

/// Runs a workload's launches one after the other over one cache. Returns what the cache and the
/// reference have counted.
fn compare(name: &str, sm: SmSettings) -> ([u64; CacheEvent::ALL.len()], Reference) {
    let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    let prepared = Prepared::new(&workload, "small", &Overrides::new()).expect(name);
    let mut collector = Collector::default();
    prepared.execute_into(&Options::default(), &mut collector).expect(name);
    let mut raw = collector.launches.into_iter();
    let (mut cache, mut reference) = (LaunchCache::new(SETTINGS), Reference::new());
    let mut sums = [0; CacheEvent::ALL.len()];
    let options = Options { accesses: true, lines: true, ..Options::default() };
    let run = |launch: LaunchRecord<'_>| {
        let mut warps = raw.next().expect("as many launches");
        let timed = TimedLaunch {
            image: (&launch.program.image).into(),
            paths: &launch.outcome.paths,
            accesses: &launch.outcome.accesses,
            barriers: Some(&launch.outcome.barriers),
            resident_registers: launch.program.resident_registers,
            threads: launch.step.block.iter().product(),
            shared_bytes: launch.program.shared_bytes as u32 + launch.step.dynamic_shared,
        };
        let observer = |observation| {
            let Observation::Issue(issue) = observation else { return };
            let accesses = warps.entry((issue.cta, issue.warp)).or_default();
            let is_next = accesses.front().is_some_and(|(pc, ..)| *pc == issue.pc);
            let shape = launch.executable.access_shape(issue.pc);
            if issue.mask.is_empty() || !is_next || shape.is_none() {
                return;
            }
            let (_, mask, each) = accesses.pop_front().expect("it was there");
            assert_eq!(mask, issue.mask.0);
            let shape = shape.expect("it has one");
            if shape.space == AccessSpace::Global {
                let stores = launch.program.image.instructions[issue.pc as usize]
                    .flags
                    .contains(strata_core::image::Flags::STORE);
                take(&mut reference, &each, u64::from(shape.bytes), stores);
            }
        };
        let timed = observe_launch_over(Some(&mut cache), sm, &timed, observer).expect(name);
        let counters = timed.cache.expect("it has a cache");
        assert_eq!(counters.dram_bytes(), timed.counters.dram_bytes(), "{name}");
        for (sum, &event) in sums.iter_mut().zip(&CacheEvent::ALL) {
            *sum += counters.get(event);
        }
        assert!(warps.values().all(VecDeque::is_empty), "{name}: all accesses issued");
    };
    prepared.execute(&options, run).expect(name);
    (sums, reference)
}

/// An access of the reference: its lines in the order of the lanes, and their sectors.
fn take(reference: &mut Reference, each: &[u64], bytes: u64, stores: bool) {
    let mut lines: Vec<(u64, Vec<u64>)> = Vec::new();
    for byte in each.iter().flat_map(|&address| address..address + bytes) {
        let line = byte / 128;
        if !lines.iter().any(|(other, _)| *other == line) {
            lines.push((line, Vec::new()));
        }
        let same = lines.iter_mut().find(|(other, _)| *other == line);
        let (_, sectors) = same.expect("it is in the list");
        if !sectors.contains(&(byte / 32)) {
            sectors.push(byte / 32);
        }
    }
    for (line, sectors) in lines {
        if stores {
            reference.store(line, sectors.len() as u64);
        } else {
            reference.load(line);
        }
    }
}

#[test]
fn a_reference_cache_finds_the_lines_of_the_workloads() {
    for name in ["bfs", "vectoradd", "matrixmul", "needle"] {
        for sm in [SmSettings::ISCA11, SmSettings::DISSERTATION] {
            let (found, expected) = compare(name, sm);
            let found_of = |event: CacheEvent| found[event as usize];
            let hits = found_of(CacheEvent::LoadHit) + found_of(CacheEvent::LoadMerged);
            let misses = found_of(CacheEvent::LoadMiss);
            assert_eq!([misses, hits], expected.found, "{name}: misses and hits");
            assert!(misses > 100 && (hits > 0 || name == "vectoradd"), "{name}: {hits}, {misses}");
            assert_eq!(found_of(CacheEvent::FillByte), expected.fills, "{name}");
            assert_eq!(found_of(CacheEvent::StoreByte), expected.stored, "{name}");
            assert_eq!(found_of(CacheEvent::UncachedByte), 0, "{name} has no atomics");
        }
    }
}
