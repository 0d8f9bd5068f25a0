//! A design with a data cache: the same counts from the kernel, its recording and any number of
//! threads, and lines that outlive a launch.

use strata_tests::start;

use crate::outputs::Home;

/// The reports of a run in JSON.
fn reports(home: &Home, arguments: &[&str]) -> Vec<serde_json::Value> {
    let mut words = vec!["run", "--mode", "cycle", "--format", "json"];
    words.extend(arguments);
    let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    match serde_json::from_str(&outcome.stdout).expect("JSON") {
        serde_json::Value::Array(reports) => reports,
        report => vec![report],
    }
}

fn count(report: &serde_json::Value, name: &str) -> u64 {
    report["data_cache"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[test]
fn a_recording_hits_as_the_kernel_does() {
    let home = Home::new(&["data-cache.toml", "data-cache-warrf.toml"]);
    // Global and shared atomics, and launches that read what those before have written.
    for workload in ["bfs", "histogram", "needle"] {
        let file = format!("{workload}.strata");
        let record = ["trace", "record", workload, "--scale", "small", "-o", &file];
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &record);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        let designs = ["--design", "data-cache.toml", "--design", "data-cache-warrf.toml"];
        let own =
            reports(&home, &[&[workload, "--scale", "small", "-j", "1"], &designs[..]].concat());
        let recorded = reports(&home, &[&[&*file, "-j", "3"], &designs[..]].concat());
        assert_eq!((own.len(), recorded.len()), (2, 2));
        for (own, recorded) in own.iter().zip(&recorded) {
            for part in ["digest", "counters", "data_cache"] {
                assert_eq!(own[part], recorded[part], "{workload}: {part}");
            }
            assert!(count(own, "lookups") > 100 && count(own, "fill_bytes") > 0, "{own}");
        }
        assert_ne!(own[0]["data_cache"], own[1]["data_cache"], "{workload}: two designs");
    }
}

#[test]
fn a_larger_cache_keeps_what_the_launches_before_have_read() {
    let home = Home::new(&["data-cache.toml"]);
    let designs = ["--design", "data-cache.toml"];
    let whole = &reports(&home, &[&["bfs", "--scale", "small"], &designs[..]].concat())[0];
    let alone: u64 = (0..whole["launches"].as_array().expect("launches").len())
        .map(|index| {
            let index = index.to_string();
            let one = ["bfs", "--scale", "small", "--launch-index", &index];
            count(&reports(&home, &[&one[..], &designs[..]].concat())[0], "fill_bytes")
        })
        .sum();
    // 64 KB hold the graph: alone, each launch fetches it again.
    assert!(2 * count(whole, "fill_bytes") < alone, "{alone} bytes launch by launch");
}

/// A volatile store, a volatile load and a load of 32 lines of shared memory, each of which takes a
/// bank of 4 bytes 32 times.
#[test]
fn generic_accesses_of_shared_memory_are_counted_there() {
    let home = Home::new(&["data-cache.toml", "generic.ptx", "generic.toml"]);
    let run = ["generic.ptx", "--launch", "generic.toml", "--design", "data-cache.toml"];
    let report = &reports(&home, &run)[0];
    for (name, expected) in [
        ("shared_conflict_cycles", 3 * 31),
        ("cache_conflict_cycles", 0),
        ("shared_write_words", 32),
        ("shared_read_words", 2 * 32),
        ("lookups", 1),
        ("dram_bytes", 128),
    ] {
        assert_eq!(count(report, name), expected, "{name}");
    }
}

/// Bytes of DRAM are its bursts, every line that the second level misses is read once, and every
/// line that the primary cache asks for is looked up there.
fn assert_conserved(report: &serde_json::Value) {
    let sum = |names: &[&str]| names.iter().map(|name| count(report, name)).sum::<u64>();
    let bursts = sum(&["gddr_read_bursts", "gddr_write_bursts"]);
    assert_eq!(count(report, "dram_bytes"), 32 * bursts);
    assert_eq!(count(report, "gddr_read_bursts"), 4 * count(report, "l2_read_misses"));
    let rows = sum(&["gddr_row_hits", "gddr_row_misses", "gddr_row_conflicts"]);
    assert_eq!(rows, sum(&["l2_read_misses", "l2_writebacks"]));
    let asked = sum(&["l2_read_hits", "l2_read_misses", "l2_write_hits", "l2_write_misses"]);
    let lookups = count(report, "lookups") - sum(&["load_hits", "load_merged"]);
    let fetched = report["data_cache"]["store_fetches"].as_u64().unwrap_or(0);
    assert_eq!(asked, lookups + fetched);
    assert_eq!(count(report, "fill_bytes"), 128 * (count(report, "load_misses") + fetched));
}

#[test]
fn a_recording_reaches_the_rows_of_dram_as_the_kernel_does() {
    let home = Home::new(&["gddr.toml", "gddr-whole.toml"]);
    let designs = ["--design", "gddr.toml", "--design", "gddr-whole.toml"];
    for workload in ["bfs", "histogram"] {
        let file = format!("{workload}.strata");
        let record = ["trace", "record", workload, "--scale", "small", "-o", &file];
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &record);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        let own =
            reports(&home, &[&[workload, "--scale", "small", "-j", "1"], &designs[..]].concat());
        let recorded = reports(&home, &[&[&*file, "-j", "3"], &designs[..]].concat());
        for (own, recorded) in own.iter().zip(&recorded) {
            for part in ["digest", "counters", "data_cache"] {
                assert_eq!(own[part], recorded[part], "{workload}: {part}");
            }
            assert_conserved(own);
            assert!(count(own, "gddr_row_hits") > 10, "{own}");
            assert!(own["derived"]["gddr_row_hits_percent"].as_f64().expect("a ratio") > 1.0);
            assert!(own["derived"]["l2_read_hits_percent"].is_number(), "{own}");
        }
        // The limit is the first design's alone.
        assert!(own[0]["data_cache"]["mshr_refusals"].is_u64());
        assert!(own[1]["data_cache"]["mshr_refusals"].is_null());
    }
}

/// A spilled value that is read again is there, if its store has left its line.
#[test]
fn local_stores_that_allocate_save_fetches_of_spilled_values() {
    let home = Home::new(&["gddr.toml", "data-cache-warrf.toml"]);
    let run = ["fft512", "--scale", "small", "--registers", "18"];
    let designs = ["--design", "gddr.toml", "--design", "data-cache-warrf.toml"];
    let both = reports(&home, &[&run[..], &designs[..]].concat());
    assert_conserved(&both[0]);
    assert!(count(&both[0], "store_allocations") > 0, "{}", both[0]);
    assert!(both[1]["data_cache"]["store_allocations"].is_null());
    assert!(count(&both[0], "load_misses") < count(&both[1], "load_misses"));
}
