//! A data cache on traces: an independent reference cache is fed the addresses of the text in the
//! order in which the SM issued the accesses, and counts the same in every launch.
//!
//! The reference has a parser of its own for what a line says of memory: it knows neither the
//! reader's lists of lines nor how the product makes lines of addresses. Widths come from the
//! tracer's column, which the reader does not use.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use strata_core::sm::Observation;
use strata_core::sm::config::SmSettings;
use strata_core::sm::memory::cached::{CacheCounters, CacheEvent, CachedSettings};
use strata_measure::timing::{LaunchCache, TimedLaunch, observe_launch_over};
use strata_trace::{Entry, Keep, Reach, TracedLaunch, entries};

use super::{lists, unpack};

const LINE: u64 = 128;
const SECTOR: u64 = 32;
const WAYS: usize = 4;

/// An access as its line of text has it.
struct TextAccess {
    pc: u32,
    mask: u32,
    /// What it does in global memory; none in shared memory.
    global: Option<GlobalAccess>,
}

struct GlobalAccess {
    stores: bool,
    bytes: u64,
    each: Vec<u64>,
}

/// The accesses of a launch's warps, by CTA and warp, and where in the code they stand.
#[derive(Default)]
struct TextAccesses {
    warps: HashMap<(u64, u32), VecDeque<TextAccess>>,
    pcs: BTreeSet<u32>,
}

impl TextAccesses {
    fn read(file: &Path) -> Self {
        let mut accesses = Self::default();
        let (mut grid, mut version) = ([1; 3], 0);
        let (mut cta, mut warp) = (0, 0);
        for line in BufReader::new(File::open(file).unwrap()).lines() {
            let line = line.unwrap();
            if let Some(value) = line.strip_prefix("-grid dim = ") {
                grid = triple(value.trim_matches(['(', ')']));
            } else if let Some(value) = line.strip_prefix("-accelsim tracer version = ") {
                version = value.parse().unwrap();
            } else if let Some(value) = line.strip_prefix("thread block = ") {
                let [x, y, z] = triple(value);
                cta = x + grid[0] * (y + grid[1] * z);
            } else if let Some(value) = line.strip_prefix("warp = ") {
                warp = value.parse().unwrap();
            } else if line.starts_with(|first: char| first.is_ascii_hexdigit()) {
                assert!(matches!(version, 3 | 5), "lines have no number before them");
                if let Some(access) = of_line(&line) {
                    accesses.pcs.insert(access.pc);
                    if access.mask != 0 {
                        accesses.warps.entry((cta, warp)).or_default().push_back(access);
                    }
                }
            }
        }
        accesses
    }
}

fn triple(text: &str) -> [u64; 3] {
    let numbers: Vec<u64> = text.split(',').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// A line's access; none of an instruction without addresses.
fn of_line(line: &str) -> Option<TextAccess> {
    let mut words = line.split_whitespace();
    let (pc, mask) = (hexadecimal(words.next()?) as u32, hexadecimal(words.next()?) as u32);
    // Before the opcode stand the registers of the results, before the width those of the operands.
    let results: usize = words.next()?.parse().unwrap();
    let opcode = words.nth(results)?;
    let operands: usize = words.next()?.parse().unwrap();
    let bytes: u64 = words.nth(operands)?.parse().unwrap();
    let mut next = || words.next().unwrap();
    if bytes == 0 {
        return None;
    }
    let lanes = mask.count_ones() as usize;
    let stores = match opcode.split('.').next().unwrap() {
        "LDG" => false,
        "STG" => true,
        "LDS" | "STS" => return Some(TextAccess { pc, mask, global: None }),
        _ => panic!("`{opcode}`: these traces have no other accesses"),
    };
    let each: Vec<u64> = match next() {
        _ if lanes == 0 => Vec::new(),
        "0" => (0..lanes).map(|_| hexadecimal(next())).collect(),
        "1" => {
            let (base, stride): (u64, i64) = (hexadecimal(next()), next().parse().unwrap());
            (0..lanes as i64).map(|lane| base.checked_add_signed(lane * stride).unwrap()).collect()
        }
        "2" => {
            let mut address = hexadecimal(next());
            let mut each = vec![address];
            for _ in 1..lanes {
                let delta: i64 = next().parse().unwrap();
                address = address.checked_add_signed(delta).unwrap();
                each.push(address);
            }
            each
        }
        mode => panic!("address mode `{mode}`"),
    };
    Some(TextAccess { pc, mask, global: Some(GlobalAccess { stores, bytes, each }) })
}

/// What a launch did, as far as it follows from the order of its accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Lines of loads that were there or on their way, and others.
    load: [u64; 2],
    /// Lines of stores that were there or on their way, and others.
    store: [u64; 2],
    lookups: u64,
    fill_bytes: u64,
    uncached_bytes: u64,
    store_bytes: u64,
    dram_bytes: u64,
}

impl Counts {
    fn of(counters: &CacheCounters) -> Self {
        let get = |event| counters.get(event);
        Self {
            load: [
                get(CacheEvent::LoadHit) + get(CacheEvent::LoadMerged),
                get(CacheEvent::LoadMiss),
            ],
            store: [get(CacheEvent::StoreHit), get(CacheEvent::StoreMiss)],
            lookups: counters.lookups(),
            fill_bytes: get(CacheEvent::FillByte),
            uncached_bytes: get(CacheEvent::UncachedByte),
            store_bytes: get(CacheEvent::StoreByte),
            dram_bytes: counters.dram_bytes(),
        }
    }

    fn and(self, other: Self) -> Self {
        let both = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
        Self {
            load: both(self.load, other.load),
            store: both(self.store, other.store),
            lookups: self.lookups + other.lookups,
            fill_bytes: self.fill_bytes + other.fill_bytes,
            uncached_bytes: self.uncached_bytes + other.uncached_bytes,
            store_bytes: self.store_bytes + other.store_bytes,
            dram_bytes: self.dram_bytes + other.dram_bytes,
        }
    }
}

/// A cache as a textbook has it: of each set the lines, the one that was used last at the end.
struct Reference {
    sets: Vec<VecDeque<u64>>,
    /// Of the current launch.
    counts: Counts,
}

impl Reference {
    fn new(bytes: u64) -> Self {
        let sets = bytes as usize / (WAYS * LINE as usize);
        Self { sets: vec![VecDeque::new(); sets], counts: Counts::default() }
    }

    /// Takes the lines of an access in the order of the lanes.
    fn access(&mut self, access: &GlobalAccess) {
        let mut lines: Vec<(u64, BTreeSet<u64>)> = Vec::new();
        let bytes = access.each.iter().flat_map(|&first| first..first + access.bytes);
        for byte in bytes {
            let (line, sector) = (byte / LINE, byte / SECTOR);
            match lines.iter_mut().find(|(other, _)| *other == line) {
                Some((_, sectors)) => drop(sectors.insert(sector)),
                None => lines.push((line, BTreeSet::from([sector]))),
            }
        }
        for (line, sectors) in lines {
            self.line(access.stores, line, SECTOR * sectors.len() as u64);
        }
    }

    fn line(&mut self, stores: bool, line: u64, touched_bytes: u64) {
        let counts = &mut self.counts;
        let sets = self.sets.len() as u64;
        let mut moved = 0;
        if sets != 0 {
            let set = &mut self.sets[(line % sets) as usize];
            let place = set.iter().position(|&other| other == line);
            let kind = if stores { &mut counts.store } else { &mut counts.load };
            kind[usize::from(place.is_none())] += 1;
            counts.lookups += 1;
            if let Some(place) = place {
                set.remove(place);
            } else if !stores {
                counts.fill_bytes += LINE;
                moved += LINE;
            }
            if place.is_some() || !stores {
                set.push_back(line);
            }
            if set.len() > WAYS {
                set.pop_front();
            }
        } else if !stores {
            counts.uncached_bytes += touched_bytes;
            moved += touched_bytes;
        }
        if stores {
            counts.store_bytes += touched_bytes;
            moved += touched_bytes;
        }
        counts.dram_bytes += moved;
    }
}

/// A launch of an archive, as the product reads it and as its text has it.
fn compare_launch(
    launch: &TracedLaunch,
    mut text: TextAccesses,
    sm: SmSettings,
    cache: &mut LaunchCache,
    reference: &mut Reference,
) -> Counts {
    let timed = TimedLaunch {
        image: (&launch.code.image).into(),
        paths: &launch.paths,
        accesses: launch.accesses.as_ref().unwrap(),
        barriers: None,
        resident_registers: launch.code.image.registers,
        threads: launch.header.block.iter().product(),
        shared_bytes: launch.header.shared_bytes,
    };
    reference.counts = Counts::default();
    let observer = |observation| {
        let Observation::Issue(issue) = observation else { return };
        let pc = launch.code.instructions[issue.pc as usize].pc;
        if issue.mask.is_empty() || !text.pcs.contains(&(pc as u32)) {
            return;
        }
        let warp = text.warps.get_mut(&(issue.cta, issue.warp)).unwrap();
        let access = warp.pop_front().unwrap();
        assert_eq!((access.pc, access.mask), (pc as u32, issue.mask.0), "the warp's next access");
        if let Some(access) = &access.global {
            reference.access(access);
        }
    };
    let timed = observe_launch_over(Some(cache), sm, &timed, observer).unwrap();
    assert!(text.warps.values().all(VecDeque::is_empty), "all accesses were issued");
    let counts = Counts::of(&timed.cache.unwrap());
    assert_eq!(counts.dram_bytes, timed.counters.dram_bytes(), "the SM's own count of bytes");
    assert_eq!(counts, reference.counts);
    counts
}

/// Sums over the launches of an archive, one for each capacity in KB; `None` where it is not here.
fn compare<const N: usize>(
    archive: &str,
    sm: SmSettings,
    capacities_kb: [u32; N],
) -> Option<[Counts; N]> {
    let source = unpack(archive)?;
    let mut caches = capacities_kb.map(|kb| {
        let settings = CachedSettings {
            ways: WAYS as u8,
            transaction_bytes: SECTOR as u32,
            ..CachedSettings::of(kb * 1024)
        };
        (LaunchCache::new(settings), Reference::new(u64::from(kb) * 1024))
    });
    let mut sums = [Counts::default(); N];
    let keep = Keep { lines: true, ..Keep::default() };
    for entry in entries(&lists(source.path()).remove(0), Reach::Folder).unwrap() {
        let Entry::Launch(file) = entry else { continue };
        let launch = TracedLaunch::read(&file, &keep).unwrap();
        for (sum, (cache, reference)) in sums.iter_mut().zip(&mut caches) {
            let text = TextAccesses::read(&file);
            *sum = sum.and(compare_launch(&launch, text, sm, cache, reference));
        }
    }
    Some(sums)
}

/// Whether Rodinia's bfs is here: its cache keeps lines from one launch to the next.
pub(super) fn bfs_agrees_with_a_reference() -> bool {
    for sm in [SmSettings::ISCA11, SmSettings::DISSERTATION] {
        let Some([none, small, large]) = compare("rodinia-bfs-sm80-v3.tar.xz", sm, [0, 16, 64])
        else {
            return false;
        };
        assert_eq!((none.lookups, none.fill_bytes), (0, 0));
        assert!(none.uncached_bytes > 100_000 && none.store_bytes > 100_000, "{none:?}");
        // More room, more hits; stores write the same.
        let found = [small, large].map(|counts| counts.load[0]);
        assert!(0 < found[0] && found[0] < found[1], "{small:?}, {large:?}");
        assert!(large.load[1] > 100 && large.store.iter().all(|&count| count > 0), "{large:?}");
        for counts in [small, large] {
            assert_eq!((counts.uncached_bytes, counts.store_bytes), (0, none.store_bytes));
        }
    }
    true
}

/// Whether the streaming kernel is here: no line is loaded twice.
pub(super) fn stream_agrees_with_a_reference() -> bool {
    let capacities = [0, 16, 64];
    let archive = "synthetic-stream-sm70-v5.tar.xz";
    let Some(found) = compare(archive, SmSettings::ISCA11, capacities) else { return false };
    // 48 CTAs of 8 warps go 160 times round a loop of 4 loads and a store of whole lines.
    let stores = 48 * 8 * 160;
    let loads = 4 * stores;
    for (kb, counts) in capacities.into_iter().zip(found) {
        let bytes = (LINE * loads, LINE * stores);
        let has_cache = u64::from(kb != 0);
        assert_eq!((counts.load, counts.store), ([0, has_cache * loads], [0, has_cache * stores]));
        assert_eq!((counts.fill_bytes + counts.uncached_bytes, counts.store_bytes), bytes);
        assert_eq!(counts.uncached_bytes == 0, kb != 0);
    }
    true
}

/// Whether the kernel of multiply-adds is here: it loads from 16 KB.
pub(super) fn multiply_adds_agree_with_a_reference() -> bool {
    let archive = "synthetic-fma-sm70-v5.tar.xz";
    let Some([none, small, large]) = compare(archive, SmSettings::ISCA11, [0, 16, 64]) else {
        return false;
    };
    // Each of 48 CTAs of 8 warps loads 400 lines, and stores one.
    let (loads, stores) = (48 * 8 * 400, 48 * 8);
    assert_eq!((none.uncached_bytes, none.store_bytes), (LINE * loads, LINE * stores));
    let input = 16 * 1024 / LINE;
    for counts in [small, large] {
        assert_eq!((counts.load, counts.store), ([loads - input, input], [0, stores]));
        assert_eq!(counts.dram_bytes, LINE * (input + stores));
    }
    true
}
