//! Timelines: one file whole, and what must hold in every file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::strata;

const SLOTS: u64 = 1;
const WARPS: u64 = 2;
const BANK_PORTS: u64 = 3;
const UNITS: u64 = 4;
const CTAS: u64 = 5;
const MEMORY: u64 = 6;
const EXPANSION: u64 = 7;

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("timeline").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the last run's folder can be removed");
    }
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("the folder is there").count()
}

/// One slice.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    name: String,
    cycles: Range<u64>,
    args: Value,
}

impl Slice {
    fn is_instruction(&self) -> bool {
        self.args.get("mask").is_some()
    }
}

/// A timeline as read back.
#[derive(Debug)]
struct Drawn {
    note: String,
    bytes: Vec<u8>,
    /// Counters of the whole run, as reported.
    counters: Value,
    /// Counters of the data cache in the whole run, as reported; null without one.
    data_cache: Value,
    expansion: Value,
    /// Cycles that are drawn.
    cycles: Range<u64>,
    all: u64,
    /// Whole slices by group and track, in the order of the file.
    tracks: BTreeMap<(u64, u64), Vec<Slice>>,
    /// Residencies by track.
    residencies: BTreeMap<u64, Vec<Slice>>,
    names: BTreeMap<(u64, u64), String>,
}

fn range(text: &Value) -> Range<u64> {
    let (first, last) = text.as_str().expect("a text").split_once("..").expect("a range");
    first.parse().expect("a number")..last.parse().expect("a number")
}

/// Draws, and reads the file back.
fn draw(name: &str, arguments: &[&str]) -> Drawn {
    let folder = folder(name);
    let path = folder.join("out.json");
    let mut all = vec!["run", "--mode", "cycle", "--format", "json", "--timeline"];
    all.push(path.to_str().expect("UTF-8"));
    all.extend(arguments);
    let outcome = strata(&all);
    assert_eq!(outcome.status, Some(0), "{all:?}: {outcome}");
    assert_eq!(files(&folder), 1, "the timeline and nothing else");
    let bytes = std::fs::read(&path).expect("the timeline is there");
    let reports: Value = serde_json::from_str(&outcome.stdout).expect("a report");
    read(outcome.stderr, bytes, &reports[0])
}

fn read(note: String, bytes: Vec<u8>, report: &Value) -> Drawn {
    let json: Value = serde_json::from_slice(&bytes).expect("JSON");
    let other = &json["otherData"];
    assert_eq!(other["time"], "1 cycle is shown as 1 microsecond");
    let (cycles, all) = (range(&other["cycles_drawn"]), range(&other["cycles_of_launch"]).end);
    let mut read = Drawn {
        note,
        bytes,
        counters: report["counters"].clone(),
        data_cache: report["data_cache"].clone(),
        expansion: report["expansion"].clone(),
        cycles,
        all,
        tracks: BTreeMap::new(),
        residencies: BTreeMap::new(),
        names: BTreeMap::new(),
    };
    let mut open: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    for event in json["traceEvents"].as_array().expect("events") {
        let number = |key: &str| event[key].as_u64().expect("a whole number");
        let (track, name) = ((number("pid"), number("tid")), event["name"].as_str().expect("name"));
        match event["ph"].as_str().expect("a phase") {
            "M" if name == "thread_name" => {
                let name = event["args"]["name"].as_str().expect("a name").to_owned();
                assert_eq!(read.names.insert(track, name), None, "a track is named once");
            }
            "M" => {}
            "X" => {
                assert!(read.names.contains_key(&track), "a track is named before it is used");
                let cycles = number("ts")..number("ts") + number("dur");
                let slice = Slice { name: name.to_owned(), cycles, args: event["args"].clone() };
                read.tracks.entry(track).or_default().push(slice);
            }
            "B" => {
                assert_eq!(track.0, WARPS);
                assert_eq!(open.insert(track.1, (name.to_owned(), number("ts"))), None, "{event}");
            }
            "E" => {
                let (begun, from) = open.remove(&track.1).expect("what ends has begun");
                assert_eq!(begun, name);
                let cycles = from..number("ts");
                let slice = Slice { name: begun, cycles, args: event["args"].clone() };
                read.residencies.entry(track.1).or_default().push(slice);
            }
            other => panic!("phase {other}"),
        }
    }
    assert!(open.is_empty(), "what begins ends: {open:?}");
    let ids: BTreeSet<u64> = read.names.keys().map(|(_, track)| *track).collect();
    assert_eq!(ids.len(), read.names.len(), "track numbers are unique");
    read
}

impl Drawn {
    fn count(&self, name: &str) -> u64 {
        self.counters[name].as_u64().unwrap_or_else(|| panic!("{name}: {}", self.counters))
    }

    fn group(&self, group: u64) -> impl Iterator<Item = (&str, &Vec<Slice>)> {
        let tracks = self.tracks.iter().filter(move |((pid, _), _)| *pid == group);
        tracks.map(|(track, slices)| (self.names[track].as_str(), slices))
    }

    fn instructions(&self, group: u64) -> usize {
        let slices = self.group(group).flat_map(|(_, slices)| slices);
        slices.filter(|slice| slice.is_instruction()).count()
    }

    fn slices(&self) -> usize {
        let whole: usize = self.tracks.values().map(Vec::len).sum();
        whole + self.residencies.values().map(Vec::len).sum::<usize>()
    }

    /// What holds whatever is drawn; `window` was asked for.
    fn check(&self, window: Range<u64>) {
        assert!(self.cycles.start == window.start && self.cycles.end <= window.end.min(self.all));
        for (track, slices) in &self.tracks {
            let name = &self.names[track];
            for slice in slices {
                assert!(!slice.cycles.is_empty(), "{name}: {slice:?}");
                // What is reserved may come after the launch's last cycle.
                let reserved = [BANK_PORTS, UNITS, MEMORY].contains(&track.0);
                let end = if reserved && self.cycles.end == self.all {
                    window.end
                } else {
                    self.cycles.end
                };
                let inside = self.cycles.start <= slice.cycles.start && slice.cycles.end <= end;
                assert!(inside, "{name}: {slice:?}, drawn {:?}", self.cycles);
            }
            for pair in slices.windows(2) {
                assert!(pair[0].cycles.end <= pair[1].cycles.start, "{name}: {pair:?}");
            }
        }
        // Every slot of every cycle, and every cycle of every resident warp, has one slice.
        assert!(self.group(SLOTS).count() >= 1);
        for (name, slices) in self.group(SLOTS) {
            assert_partition(name, &self.cycles, slices);
        }
        for (track, residencies) in &self.residencies {
            let slices = &self.tracks[&(WARPS, *track)];
            for residency in residencies {
                let within = |slice: &&Slice| {
                    residency.cycles.contains(&slice.cycles.start)
                        && residency.cycles.contains(&(slice.cycles.end - 1))
                };
                let inner: Vec<Slice> = slices.iter().filter(within).cloned().collect();
                assert_partition(&residency.name, &residency.cycles, &inner);
                let length = residency.cycles.end - residency.cycles.start;
                assert!(length > 0, "{residency:?}");
            }
            let inner: u64 = slices.iter().map(|slice| slice.cycles.end - slice.cycles.start).sum();
            let outer: u64 =
                residencies.iter().map(|slice| slice.cycles.end - slice.cycles.start).sum();
            assert_eq!(inner, outer, "nothing of a warp lies outside its residency");
        }
        assert_eq!(self.instructions(SLOTS), self.instructions(WARPS));
        for (_, slices) in self.group(WARPS) {
            for slice in slices.iter().filter(|slice| slice.is_instruction()) {
                assert_eq!(slice.cycles.end - slice.cycles.start, 1);
                if let Some(result) = slice.args["result_at"].as_u64() {
                    assert!(result > slice.cycles.start, "{slice:?}");
                }
            }
        }
    }

    /// What holds when the only launch is drawn whole: the slices are the counters.
    fn check_whole(&self) {
        assert_eq!(self.note, "");
        assert_eq!(self.cycles, 0..self.all);
        assert_eq!(self.all, self.count("cycles"));
        let issued = self.count("warp_instructions");
        assert_eq!(self.instructions(SLOTS) as u64, issued);
        let port = |port: &str| -> Vec<Slice> {
            let tracks = self.group(BANK_PORTS).filter(|(name, _)| name.ends_with(port));
            tracks.flat_map(|(_, slices)| slices.clone()).collect()
        };
        let reads = port("reads");
        let reads: u64 = reads.iter().map(|slice| slice.cycles.end - slice.cycles.start).sum();
        assert_eq!(reads, self.count("mrf_reads"));
        let writes = port("writes");
        let several = |slice: &Slice| slice.args["writes"].as_array().map_or(0, Vec::len);
        assert_eq!(writes.iter().map(several).sum::<usize>() as u64, self.count("mrf_writes"));
        let ctas: usize = self.group(CTAS).map(|(_, slices)| slices.len()).sum();
        assert_eq!(ctas as u64, self.count("ctas"));
        // Slices of a stall add up to its slots.
        let mut slots: BTreeMap<String, u64> = BTreeMap::new();
        for slice in self.group(SLOTS).flat_map(|(_, slices)| slices) {
            if !slice.is_instruction() {
                let name = format!("slots_{}", slice.name.replace(' ', "_"));
                *slots.entry(name).or_default() += slice.cycles.end - slice.cycles.start;
            }
        }
        for (name, cycles) in slots {
            assert_eq!(cycles, self.count(&name), "{name}");
        }
        let dram = self.group(UNITS).filter(|(name, _)| *name == "DRAM");
        let dram = dram.flat_map(|(_, slices)| slices);
        let busy: u64 = dram.map(|slice| slice.cycles.end - slice.cycles.start).sum();
        assert_eq!(busy, self.count("dram_busy_cycles"));
        self.check_memory();
    }

    /// What holds of a data cache when the only launch is drawn whole: every count that is drawn is
    /// its counter, and nothing is drawn without one.
    fn check_memory(&self) {
        let Some(counts) = self.data_cache.as_object() else {
            assert_eq!(self.group(MEMORY).count(), 0);
            return;
        };
        let mut drawn: BTreeMap<String, u64> = BTreeMap::new();
        let mut add =
            |name: &str, count| *drawn.entry(name.replace(' ', "_")).or_default() += count;
        for (track, slices) in self.group(MEMORY) {
            for slice in slices {
                let cycles = slice.cycles.end - slice.cycles.start;
                match track {
                    "tag lookups" => {
                        assert_eq!(cycles, 1, "{slice:?}");
                        add(&slice.name, 1);
                        add("lookups", 1);
                    }
                    "DRAM transfers" => {
                        let bytes = slice.args["bytes"].as_u64().expect("bytes");
                        add(&slice.name, bytes);
                        add("dram_bytes", bytes);
                        add("busy", cycles);
                    }
                    "fills" => {
                        add("fills", slice.args["lines"].as_array().expect("lines").len() as u64);
                    }
                    "path of shared memory and cache" => add("path", cycles),
                    "refused" => {}
                    conflict => add(conflict, cycles),
                }
            }
        }
        let mut drawn_of = |name: &str| drawn.remove(name).unwrap_or(0);
        assert_eq!(drawn_of("busy"), self.count("dram_busy_cycles"));
        assert_eq!(drawn_of("fills"), counts["load_misses"].as_u64().expect("a count"));
        // Each lookup and each cycle of conflicts in the memory takes the path.
        assert!(drawn_of("path") >= counts["lookups"].as_u64().expect("a count"));
        for (name, count) in counts {
            let elsewhere = ["words", "rows", "instructions"];
            if !elsewhere.iter().any(|part| name.contains(part)) {
                assert_eq!(drawn_of(name), count.as_u64().expect("a count"), "{name}");
            }
        }
        assert_eq!(drawn, BTreeMap::new(), "nothing else is drawn");
    }
}

fn assert_partition(name: &str, whole: &Range<u64>, parts: &[Slice]) {
    let mut at = whole.start;
    for part in parts {
        assert_eq!(part.cycles.start, at, "{name}: a gap or an overlap before {part:?}");
        at = part.cycles.end;
    }
    assert_eq!(at, whole.end, "{name}");
}

const SMALL: [&str; 5] =
    ["timeline.ptx", "--launch", "timeline.toml", "--design", "isca11-rfc6-nolive"];

#[test]
fn a_small_kernel_whole() {
    let drawn = draw("small", &SMALL);
    drawn.check(0..10_000);
    drawn.check_whole();
    insta::assert_snapshot!(String::from_utf8(drawn.bytes).expect("UTF-8"));
}

#[test]
fn a_small_kernel_whole_through_collectors() {
    let drawn = draw("small-collectors", &[&SMALL[..4], &["sttram-sbw"]].concat());
    drawn.check(0..10_000);
    drawn.check_whole();
    insta::assert_snapshot!(String::from_utf8(drawn.bytes).expect("UTF-8"));
}

#[test]
fn the_same_bytes_on_every_run_and_for_every_number_of_jobs() {
    let arguments =
        |jobs: &'static str| ["reduction", "--scale", "small", "--launch-index", "0", "-j", jobs];
    let first = draw("jobs-1", &arguments("1")).bytes;
    assert!(first == draw("jobs-1", &arguments("1")).bytes, "two runs");
    assert!(first == draw("jobs-7", &arguments("7")).bytes, "one thread and seven");
}

#[test]
fn workloads_are_drawn_whole() {
    for (name, arguments) in [
        ("barriers", &["reduction", "--launch-index", "1", "--design", "isca11-rfc6"][..]),
        ("flat", &["vectoradd", "--design", "dissertation"]),
        ("divergence", &["bfs", "--launch-index", "3", "--design", "in-time.toml"]),
        ("two-slots", &["reduction", "--launch-index", "0", "--design", "two-slots.toml"]),
        ("collectors", &["needle", "--launch-index", "1", "--design", "warrf-gtx480"]),
        ("write-pool", &["reduction", "--launch-index", "0", "--design", "warrf"]),
        ("data-cache", &["bfs", "--launch-index", "3", "--design", "micro12"]),
        ("shared-conflicts", &["needle", "--launch-index", "1", "--design", "micro12-unified-384"]),
        ("arbitrated", &["needle", "--launch-index", "1", "--design", "arbitrated.toml"]),
        ("bypass", &["histogram", "--launch-index", "0", "--design", "data-cache-warrf.toml"]),
        ("collectors-managed", &["vectoradd", "--design", "sttram-sbw-orf3-lrf-split"]),
    ] {
        let mut all = vec!["--scale", "small", "--timeline-cycles", "0..1000000"];
        all.extend(arguments);
        let drawn = draw(name, &all);
        drawn.check(0..1_000_000);
        drawn.check_whole();
    }
}

/// Of a design with a second level, every read and write of DRAM is drawn on the track of its
/// channel, with how its line found the bank.
#[test]
fn rows_of_dram_are_drawn_as_they_are_counted() {
    let mut all = vec!["bfs", "--scale", "small", "--launch-index", "3"];
    all.extend(["--timeline-cycles", "0..1000000", "--design", "expars-gtx480"]);
    let drawn = draw("rows", &all);
    drawn.check(0..1_000_000);
    let channels = drawn.group(MEMORY).filter(|(track, _)| track.starts_with("DRAM channel "));
    let slices: Vec<&Slice> = channels.flat_map(|(_, slices)| slices).collect();
    let rows = slices.iter().flat_map(|slice| slice.args["rows"].as_array().expect("rows"));
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        let bursts = if row["write"] == true { "gddr_write_bursts" } else { "gddr_read_bursts" };
        // 64 bytes are two bursts.
        *counts.entry(bursts.to_owned()).or_default() += 2;
        if let Some(found) = row["found"].as_str() {
            let name = match found {
                "row hit" => "gddr_row_hits",
                "row miss" => "gddr_row_misses",
                "row conflict" => "gddr_row_conflicts",
                other => panic!("{other}"),
            };
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(counts["gddr_row_hits"] > 0 && counts["gddr_row_conflicts"] > 0, "{counts:?}");
    for name in ["read_bursts", "write_bursts", "row_hits", "row_misses", "row_conflicts"] {
        let name = format!("gddr_{name}");
        let count = drawn.data_cache[&name].as_u64().expect("a count");
        assert_eq!(counts.get(&name).copied().unwrap_or(0), count, "{name}");
    }
}

/// Registers in scratchpad memory: what is drawn is what is counted.
#[test]
fn registers_in_scratchpad_are_drawn_as_they_are_counted() {
    let mut all = vec!["hotspot", "--scale", "small", "--launch-index", "1"];
    all.extend(["--timeline-cycles", "0..10000000"]);
    all.extend(["--timeline-slices", "10000000", "--design", "expars-ltlws-gto"]);
    let drawn = draw("expansion", &all);
    drawn.check(0..10_000_000);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (_, slices) in drawn.group(EXPANSION).filter(|(track, _)| *track != "active limit") {
        for event in
            slices.iter().flat_map(|slice| slice.args["events"].as_array().expect("events"))
        {
            *counts.entry(event["what"].as_str().expect("text").to_owned()).or_default() += 1;
        }
    }
    let of = |name: &str| drawn.expansion[name].as_u64().unwrap_or_else(|| panic!("{name}"));
    let expected = [
        ("PREF", of("prefetches_issued")),
        ("begins", of("bundles")),
        ("fetch", of("registers_fetched")),
        ("write back", of("dirty_evictions") + of("bypass_writebacks")),
        ("result", of("scratchpad_results")),
        ("read", of("operand_cache_reads_private") + of("operand_cache_reads_shared")),
        ("write", of("operand_cache_writes")),
    ];
    for (what, count) in expected {
        assert!(count > 0, "{what}");
        assert_eq!(counts[what], count, "{what}");
    }
    let limits: Vec<&Slice> = drawn
        .group(EXPANSION)
        .filter(|(track, _)| *track == "active limit")
        .flat_map(|(_, slices)| slices)
        .collect();
    let limit = of("optimal_active_warps");
    assert!(matches!(limits.as_slice(), [one] if one.args["warps"] == limit), "{limits:?}");
}

#[test]
fn traces_are_drawn_by_their_opcodes() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-cli/tests/traces/kernelslist.g");
    let launch = ["--launch-index", "1", "--design", "isca11-rfc6"];
    let arguments = |input| [&[input][..], &launch].concat();
    let of_text = draw("trace", &arguments(list));
    of_text.check(0..10_000);
    assert_eq!(of_text.instructions(WARPS) as u64, of_text.count("warp_instructions"));
    let folder = folder("recording");
    let recording = folder.join("traces.strata");
    let recording = recording.to_str().expect("UTF-8");
    let outcome = strata(&["trace", "record", list, "-o", recording]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let replayed = draw("replayed", &arguments(recording));
    assert_eq!(of_text.tracks, replayed.tracks);
    assert_eq!(of_text.residencies, replayed.residencies);
    let names: BTreeSet<String> = of_text
        .group(WARPS)
        .flat_map(|(_, slices)| slices)
        .filter(|slice| slice.is_instruction())
        .map(|slice| format!("{} at {}", slice.name, slice.args["source"].as_str().expect("text")))
        .collect();
    insta::assert_debug_snapshot!(names);
}

/// The part of slices that lies in a window.
fn cut(slices: &[Slice], window: &Range<u64>) -> Vec<Slice> {
    let cut = |slice: &Slice| {
        let (start, end) = (slice.cycles.start.max(window.start), slice.cycles.end.min(window.end));
        (start < end).then(|| Slice { cycles: start..end, ..slice.clone() })
    };
    slices.iter().filter_map(cut).collect()
}

#[test]
fn a_window_shows_what_the_whole_shows_there() {
    for design in ["isca11-rfc6", "sttram-rfc6", "micro12-unified-384"] {
        windows(design);
    }
}

fn windows(design: &str) {
    let part = |name, range: &str| {
        let arguments = ["reduction", "--scale", "small", "--launch-index", "0"];
        let design = ["--design", design, "--timeline-cycles", range];
        draw(name, &[&arguments[..], &design].concat())
    };
    let whole = part("whole", "0..1000000");
    whole.check_whole();
    for window in [0..1, 7..8, 100..400, 333..999, 1000..1001] {
        let range = format!("{}..{}", window.start, window.end);
        let part = part("window", &range);
        assert!(part.note.contains(&format!("cycles {range}")), "{}", part.note);
        part.check(window.clone());
        let mut expected = BTreeMap::new();
        for (track, slices) in &whole.tracks {
            let slices = cut(slices, &window);
            if !slices.is_empty() {
                expected.insert(*track, slices);
            }
        }
        assert_eq!(part.tracks, expected, "{design}, {range}");
        let issued = expected.iter().filter(|((group, _), _)| *group == SLOTS);
        let issued = issued.flat_map(|(_, slices)| slices).filter(|slice| slice.is_instruction());
        assert_eq!(part.instructions(WARPS), issued.count(), "{range}");
    }
}

#[test]
fn a_cap_ends_the_drawing_between_two_cycles() {
    let arguments = ["vectoradd", "--scale", "small", "--timeline-slices"];
    for cap in [1, 10, 100, 1000] {
        let text = cap.to_string();
        let drawn = draw("cap", &[&arguments[..], &[&text]].concat());
        drawn.check(0..10_000);
        assert!(drawn.note.contains("`--timeline-slices` ends it"), "{}", drawn.note);
        assert!(drawn.cycles.end < drawn.all);
        // One cycle more, and the slices that were open.
        assert!(drawn.slices() < cap + 150, "{cap}: {} slices", drawn.slices());
    }
}

#[test]
fn launches_that_are_not_drawn_are_named() {
    let drawn = draw("launches", &["bfs", "--scale", "small"]);
    assert!(drawn.note.starts_with("note: timeline `"), "{}", drawn.note);
    assert!(drawn.note.contains("it holds launch 0, not the other"), "{}", drawn.note);
}

/// Runs with a timeline to `out`, and asserts that it fails and leaves nothing.
fn refused(out: &str, arguments: &[&str]) -> String {
    let outcome = strata(&[&["run", "--timeline", out][..], arguments].concat());
    assert_eq!(outcome.status, Some(2), "{arguments:?}: {outcome}");
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    outcome.stderr
}

macro_rules! refuses {
    ($($name:ident: $out:expr, $arguments:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(refused($out, &$arguments));
        }
    )+};
}

refuses! {
    count_mode: "never.json", ["vectoradd"];
    no_input: "never.json", ["--mode", "cycle"];
    two_inputs: "never.json", ["vectoradd", "bfs", "--mode", "cycle"];
    two_designs: "never.json",
        ["vectoradd", "--mode", "cycle", "--design", "isca11", "--design", "isca11-rfc6"];
    an_empty_range: "never.json",
        ["vectoradd", "--mode", "cycle", "--timeline-cycles", "5..5"];
    a_folder_that_is_not_there: "nosuch/out.json", ["vectoradd", "--mode", "cycle"];
    a_folder_as_file: "../inputs", ["vectoradd", "--mode", "cycle"];
}

#[test]
fn a_range_needs_a_timeline() {
    let outcome = strata(&["run", "vectoradd", "--mode", "cycle", "--timeline-cycles", "0..5"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.stderr.contains("--timeline <OUT.json>"), "{outcome}");
}

#[test]
fn a_failed_run_leaves_nothing() {
    let folder = folder("nothing");
    let out = folder.join("out.json");
    let out = out.to_str().expect("UTF-8");
    // An empty file may be replaced.
    std::fs::write(out, "").expect("the file can be written");
    let small = ["--mode", "cycle", "timeline.ptx", "--launch", "timeline.toml"];
    let beyond = [&small[..], &["--timeline-cycles", "100000..100001"]].concat();
    for (arguments, expected) in [
        (&beyond[..], "hint: begin before cycle"),
        (&["--mode", "cycle", "good.ptx", "--launch", "outside.toml"], "out-of-bounds"),
        (&["--mode", "cycle", "vectoradd", "--design", "partial.toml"], "partial_warp_energy"),
        (&["--mode", "cycle", "hotspot", "--scale", "small", "--launch-index", "999"], "launch"),
    ] {
        let error = refused(out, arguments);
        assert!(error.contains(expected), "{error}");
        assert_eq!(files(&folder), 1, "{arguments:?}");
        assert_eq!(std::fs::read(out).expect("it is there"), b"", "{arguments:?}");
    }
}

/// How long warps wait to issue each line: in a profile, and before each instruction of a timeline.
#[test]
fn stalls_of_a_profile_are_the_waits_of_the_timeline() {
    for (name, input) in [
        ("two levels", &["vectoradd", "--scale", "small", "--design", "isca11-rfc6"][..]),
        (
            "barriers",
            &["reduction", "--launch-index", "0", "--scale", "small", "--design", "isca11"],
        ),
        (
            "data cache",
            &["needle", "--launch-index", "3", "--scale", "small", "--design", "micro12"],
        ),
        (
            "collectors",
            &["histogram", "--launch-index", "0", "--scale", "small", "--design", "warrf"],
        ),
        ("expansion", &["lines.ptx", "--launch", "lines.toml", "--design", "expars-gtx480"]),
    ] {
        let cycles = ["--timeline-cycles", "0..10000000"];
        let drawn = draw(&format!("stalls of {name}"), &[input, &cycles].concat());
        assert_eq!(drawn.cycles, 0..drawn.all, "{name}: drawn whole");
        let mut waits: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (_, slices) in drawn.group(WARPS) {
            let mut waited = 0;
            for slice in slices {
                if slice.is_instruction() {
                    let source = slice.args["source"].as_str().expect("a text");
                    let line = source.split_whitespace().nth(1).expect("`line N`");
                    let of_line = waits.entry(line.parse().expect("a line")).or_default();
                    *of_line = (of_line.0 + 1, of_line.1 + std::mem::take(&mut waited));
                } else if ["drains", "ended"].contains(&slice.name.as_str()) {
                    assert_eq!(waited, 0, "{name}: a last instruction has issued");
                } else if slice.name != "PREF" {
                    waited += slice.cycles.end - slice.cycles.start;
                }
            }
        }
        let profile = ["--profile", "--mode", "cycle", "--format", "json"];
        let outcome = strata(&[&["inspect"][..], input, &profile].concat());
        assert_eq!(outcome.status, Some(0), "{name}: {outcome}");
        let report: Value = serde_json::from_str(&outcome.stdout).expect("a report");
        let mut profiled = BTreeMap::new();
        for line in report["lines"].as_array().expect("lines") {
            let number = |key: &str| line[key].as_u64().expect("a number");
            let states = line["stalls"].as_object().expect("states");
            let states: u64 = states.values().map(|cycles| cycles.as_u64().expect("cycles")).sum();
            assert_eq!(number("stall_cycles"), states, "{name}: {line}");
            if number("executions") > 0 {
                profiled.insert(number("ptx_line"), (number("executions"), states));
            }
        }
        assert_eq!(profiled, waits, "{name}");
        assert!(waits.values().map(|(_, cycles)| cycles).sum::<u64>() > 0, "{name}");
    }
}

/// Instructions say from which line of CUDA they came.
#[test]
fn instructions_name_their_line_of_cuda() {
    let drawn = draw("CUDA", &["lines.ptx", "--launch", "lines.toml", "--design", "isca11"]);
    let slices = drawn.group(SLOTS).flat_map(|(_, slices)| slices);
    let sources: BTreeSet<&str> =
        slices.filter_map(|slice| slice.args["source"].as_str()).collect();
    for source in ["line 16", "line 31 (/src/demo/twice.cuh:2)", "line 36 (/src/demo/scale.cu:9)"] {
        assert!(sources.contains(source), "{sources:?}");
    }
}
