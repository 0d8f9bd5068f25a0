//! EXPARS and Warpman from the command line: what a report says, and what is refused.

use serde_json::Value;
use strata_tests::Outcome;

use crate::commands::succeeds;
use crate::strata;

/// The report of a run in cycle mode.
fn report(arguments: &[&str]) -> Value {
    let all = [&["run"], arguments, &["--mode", "cycle", "--format", "json"]].concat();
    let reports: Value = serde_json::from_str(&succeeds(&all)).expect("a report in JSON");
    reports[0].clone()
}

fn small(design: &str) -> Value {
    report(&["hotspot", "--scale", "small", "--design", design])
}

/// Status 2 and one error.
fn refused(arguments: &[&str]) -> String {
    let Outcome { status, stdout, stderr } = strata(arguments);
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
    stderr
}

/// A design file in a folder of its own.
fn design_file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, text).expect("it can be written");
    let name = file.to_str().expect("a path in UTF-8").to_owned();
    (folder, name)
}

/// A CTA of `hotspot` has 8 warps of 30 registers: 4 fit 32,768 registers. Of a fifth all registers
/// from 8 up lie in scratchpad memory; or two of its warps have their registers in what is left.
#[test]
fn a_report_says_what_is_resident_and_what_moved() {
    let residency = |design| small(design)["launches"][0]["residency"].clone();
    let baseline = residency("expars-gtx480");
    assert_eq!((&baseline["ctas"], &baseline["warps"]), (&4.into(), &32.into()));
    assert_eq!(baseline["mixed_ctas"], Value::Null);
    let warpman = residency("warpman-gto");
    assert_eq!((&warpman["ctas"], &warpman["warps"]), (&5.into(), &34.into()));
    let expars = small("expars-lrr");
    let residency = &expars["launches"][0]["residency"];
    assert_eq!((&residency["ctas"], &residency["warps"]), (&5.into(), &40.into()));
    let mixed = (&residency["mixed_ctas"], &residency["start_register"]);
    assert_eq!(mixed, (&1.into(), &8.into()));
    let count = |name: &str| expars["expansion"][name].as_u64().expect(name);
    assert!(count("bundles") > 500 && count("prefetches_issued") > count("bundles"));
    assert!(count("registers_fetched") > 0 && count("dirty_evictions") > 0);
    // A line is needed for each of a bundle's registers, which is fetched, held or only written.
    assert!(count("registers_held") > 0 && count("scratchpad_results") > 0);
    // 128 bits are an eighth of a warp's register.
    let energy = |part: &str| expars["energy_fj"][part].as_u64().expect(part);
    let reads = count("operand_cache_reads_private") + count("operand_cache_reads_shared");
    let evictions = count("dirty_evictions") + count("bypass_writebacks");
    let cache = 1200 * (reads + evictions)
        + 3800 * (count("operand_cache_writes") + count("registers_fetched"));
    let scratchpad =
        6100 * count("registers_fetched") + 7700 * (evictions + count("scratchpad_results"));
    assert_eq!(energy("operand_cache_bank"), 8 * cache);
    assert_eq!(energy("scratchpad_bank"), 8 * scratchpad);
    assert!(energy("total") > energy("operand_cache_bank") + energy("scratchpad_bank"));
    let baseline = small("expars-gtx480");
    assert_eq!(baseline["energy_fj"]["operand_cache_bank"], Value::Null);
    assert_eq!(baseline["expansion"], Value::Null);
    let lazy = small("expars-ltlws-gto");
    let launches = lazy["launches"].as_array().expect("launches").len() as u64;
    let optimal = lazy["expansion"]["optimal_active_warps"].as_u64().expect("a count");
    assert!((launches..=48 * launches).contains(&optimal), "{optimal} in {launches}");
}

#[test]
fn a_table_and_csv_have_what_moved() {
    let of = |format| {
        let designs = ["--design", "expars-gtx480", "--design", "expars-tl"];
        let run = ["run", "hotspot", "--scale", "small", "--mode", "cycle", "--format", format];
        succeeds(&[&run[..], &designs].concat())
    };
    let table = of("table");
    assert!(table.contains("operand") && table.contains("PREF"), "{table}");
    let csv = of("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header");
    let column = header.iter().position(|name| name == "expansion_bundles").expect("a column");
    let rows: Vec<_> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(&rows[0][column], "");
    assert!(rows[1][column].parse::<u64>().expect("a count") > 500);
}

/// So few registers outside gain no CTA: everything but the design's name is the baseline's.
#[test]
fn a_share_too_small_for_a_cta_changes_nothing() {
    let (_folder, file) =
        design_file("base = \"expars-gto\"\n[registers]\nscratchpad_percent = 1\n");
    let few = small(&file);
    let baseline = small("expars-baseline-gto");
    assert_eq!(few["digest"], baseline["digest"]);
    assert_eq!(few["counters"], baseline["counters"]);
    assert_eq!(few["data_cache"], baseline["data_cache"]);
    assert_ne!(few["digest"], small("expars-gto")["digest"]);
}

/// The order of registers alone moves accesses between banks and nothing else.
#[test]
fn sorted_registers_take_other_banks() {
    let (_folder, file) = design_file("base = \"expars-gtx480\"\n[registers]\nsorted = true\n");
    let sorted = small(&file);
    let baseline = small("expars-gtx480");
    for counter in ["warp_instructions", "mrf_reads", "mrf_writes", "dram_bytes"] {
        assert_eq!(sorted["counters"][counter], baseline["counters"][counter], "{counter}");
    }
    assert_ne!(sorted["counters"]["cycles"], baseline["counters"]["cycles"]);
    assert!(sorted["expansion"].is_null());
    // Alone, it is compared with the program as allocated.
    let (_folder, file) = design_file("base = \"warrf-gtx480\"\n[registers]\nsorted = true\n");
    let cycles = |report: &Value| report["counters"]["cycles"].as_f64().expect("a count");
    let sorted = small(&file);
    let ratio = 100.0 * cycles(&sorted) / cycles(&small("warrf-gtx480"));
    let told = sorted["derived"]["cycles_relative_percent"].as_f64().expect("a ratio");
    assert!((told - ratio).abs() < 1e-5 && (ratio - 100.0).abs() > 1e-3, "{told} {ratio}");
}

/// One slot has one scheduler, whatever the base has.
#[test]
fn the_schedulers_of_a_base_are_one_for_one_slot() {
    let (_one, one) = design_file("base = \"expars-lrr\"\nissue_slots = 1\n");
    let (_shared, shared) =
        design_file("base = \"expars-lrr\"\nissue_slots = 1\nschedulers = \"shared\"\n");
    let (one, shared) = (small(&one), small(&shared));
    assert_eq!(one["digest"], shared["digest"]);
    assert_ne!(one["counters"]["cycles"], small("expars-lrr")["counters"]["cycles"]);
}

#[test]
fn what_expars_cannot_run_is_refused() {
    let (_folder, uncached) = design_file(
        "base = \"warrf-gtx480\"\n[collectors]\nbank_layout = \"linear\"\n[registers]\nmanager = \
         \"expars\"\n",
    );
    let counted = refused(&["run", "hotspot", "--scale", "small", "--design", &uncached]);
    assert!(counted.contains("depends on which CTAs are resident"), "{counted}");
    assert!(counted.contains("--mode cycle"), "{counted}");
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("hotspot.strata");
    let recording = recording.to_str().expect("a path in UTF-8");
    succeeds(&["trace", "record", "hotspot", "--scale", "small", "-o", recording]);
    let traced = refused(&["run", recording, "--mode", "cycle", "--design", "expars-lrr"]);
    assert!(traced.contains("a trace has no program"), "{traced}");
    let (_folder, sorted) = design_file("base = \"isca11\"\n[registers]\nsorted = true\n");
    let traced = refused(&["run", recording, "--design", &sorted]);
    assert!(traced.contains("a trace has no program"), "{traced}");
    let fpga = ["fpga", "run", "hotspot", "--scale", "small", "--board", "host", "--design"];
    for (design, what) in [(&uncached, "scratchpad memory"), (&sorted, "not sorted ones")] {
        let error = refused(&[&fpga[..], &[design]].concat());
        assert!(error.contains(what), "{error}");
    }
    // Warpman needs none.
    succeeds(&["run", recording, "--mode", "cycle", "--design", "warpman-lrr"]);
    for (text, what) in [
        ("base = \"isca11\"\n[registers]\nmanager = \"expars\"\n", "operands of fixed latency"),
        ("base = \"warrf-gtx480\"\n[registers]\nmanager = \"expars\"\n", "whole rows"),
        (
            "base = \"warrf-gtx480-orf3\"\n[collectors]\nbank_layout = \"linear\"\n[registers]\n\
             manager = \"expars\"\n",
            "compiler-managed",
        ),
        ("base = \"expars-lrr\"\n[collectors]\nwrite_pool_entries = 8\n", "write pool"),
        ("base = \"expars-lrr\"\nactive_limit = \"lazy\"\n", "two-level"),
        ("base = \"isca11\"\nschedulers = \"by-parity\"\n", "set `issue_slots = 2` as well"),
        ("base = \"expars-lrr\"\n[registers]\nscratchpad_percent = 100\n", "1 to 99"),
        ("base = \"expars-lrr\"\n[registers]\nmanager = \"exparse\"\n", "expars"),
        ("base = \"micro12-unified-384\"\n[registers]\nmanager = \"warpman\"\n", "[storage]"),
    ] {
        let (_folder, file) = design_file(text);
        let error = refused(&["run", "hotspot", "--mode", "cycle", "--design", &file]);
        assert!(error.contains(what), "{text}{error}");
    }
}

/// A register file cache above, STT-RAM-like writes below.
#[test]
fn other_levels_stand_beside_scratchpad_registers() {
    let cached = small("expars-lrr-rfc6");
    assert!(cached["counters"]["rfc_reads"].as_u64().expect("a count") > 1000);
    assert!(cached["expansion"]["bundles"].as_u64().expect("a count") > 500);
    let (_folder, file) = design_file("base = \"expars-lrr\"\n[collectors]\nwrite_cycles = 4\n");
    let slow = small(&file);
    let cycles = |report: &Value| report["counters"]["cycles"].as_u64().expect("cycles");
    assert!(cycles(&slow) > cycles(&small("expars-lrr")));
}
