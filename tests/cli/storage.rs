//! Designs whose storage is divided for each application: what is chosen and tried, and what does
//! not fit.

use std::fs;

use serde_json::Value;
use strata_tests::start;

use crate::outputs::Home;

fn run(home: &Home, arguments: &[&str]) -> strata_tests::Outcome {
    let mut words = vec!["run", "--mode", "cycle", "--scale", "small", "--format", "json"];
    words.extend(arguments);
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words)
}

fn reports(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let outcome = run(home, arguments);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    match serde_json::from_str(&outcome.stdout).expect("JSON") {
        Value::Array(reports) => reports,
        report => vec![report],
    }
}

fn cycles(report: &Value) -> u64 {
    report["counters"]["cycles"].as_u64().expect("cycles")
}

fn parts(report: &Value) -> [u64; 3] {
    ["registers_bytes", "shared_bytes", "cache_bytes"]
        .map(|key| report["storage"]["partition"][key].as_u64().expect(key))
}

#[test]
fn an_application_has_the_partition_of_the_rule() {
    let home = Home::new(&[]);
    let arguments = ["needle32", "pcr", "--design", "micro12-unified-384"];
    let [needle, pcr] = &reports(&home, &arguments)[..] else { panic!("two reports") };
    // 16 and 26 registers of our PTX; 1024 threads of 8,452 / 32 and of 20 bytes.
    assert_eq!(parts(needle), [64 << 10, 32 * 8452, 54 << 10]);
    assert_eq!(parts(pcr), [104 << 10, 20 << 10, 260 << 10]);
    assert_eq!(needle["storage"]["partition"]["threads"], 1024);
    assert_eq!(needle["launches"][1]["residency"]["ctas"], 32);
    assert!(needle["launches"][1].get("partition").is_none());
}

/// Unified storage is, for an application of one kernel, an SM with the areas of its partition.
#[test]
fn a_partition_runs_as_areas_of_its_sizes_do() {
    let home = Home::new(&[]);
    let unified = "base = \"micro12\"\n[storage]\nunified_kb = 384\n";
    let simple = "[data_cache]\nbanks = \"simple\"\n";
    fs::write(home.folder().join("unified.toml"), unified).expect("a file");
    // 104 KB of registers for 1024 threads of `pcr`, with 16-byte banks in both.
    let areas = format!(
        "base = \"micro12\"\n[sm]\nregister_file_kb = 104\nshared_memory_kb = 20\n{simple}\
         capacity_kb = 260\n"
    );
    fs::write(home.folder().join("areas.toml"), areas).expect("a file");
    let designs = ["pcr", "--design", "unified.toml", "--design", "areas.toml"];
    let [unified, areas] = &reports(&home, &designs)[..] else { panic!("two reports") };
    for part in ["counters", "data_cache", "digest"] {
        assert_eq!(unified[part], areas[part], "{part}");
    }
    let limit = |report: &Value| report["launches"][0]["residency"]["limit"].clone();
    assert_eq!((limit(unified), limit(areas)), ("warps".into(), "warps".into()));
}

#[test]
fn the_fastest_of_what_is_tried_is_reported() {
    let home = Home::new(&[]);
    let designs = ["micro12-limited", "micro12-limited-96-32", "micro12-limited-32-96"];
    let mut arguments = vec!["srad"];
    arguments.extend(designs.iter().flat_map(|design| ["--design", design]));
    let all = reports(&home, &arguments);
    let [both, wide, narrow] = &all[..] else { panic!("three reports") };
    let tried = both["storage"]["tried"].as_array().expect("a list");
    let seen = [cycles(wide), cycles(narrow)];
    let listed: Vec<u64> =
        tried.iter().map(|one| one["cycles"].as_u64().expect("cycles")).collect();
    assert_eq!((listed, cycles(both)), (seen.to_vec(), seen[0].min(seen[1])));
    assert_ne!(seen[0], seen[1]);
    assert_eq!(both["storage"]["division"], tried[1]["division"]);

    // The first of equally fast ones.
    let equal = "base = \"micro12\"\n[storage]\nsplits_kb = [[256, 64, 64], [256, 66, 64]]\n";
    fs::write(home.folder().join("equal.toml"), equal).expect("a file");
    let equal = &reports(&home, &["pcr", "--design", "equal.toml"])[0]["storage"];
    assert_eq!(equal["tried"][0]["cycles"], equal["tried"][1]["cycles"]);
    assert_eq!(equal["division"], "256/64/64 KB");

    // Every number of CTAs, from the most down.
    let searched = &reports(&home, &["srad", "--design", "diss-ch7-unified-256"])[0];
    let tried = searched["storage"]["tried"].as_array().expect("a list");
    let threads: Vec<u64> = tried.iter().map(|one| one["threads"].as_u64().expect("n")).collect();
    assert_eq!(threads, [1024, 768, 512, 256]);
    let least = tried.iter().map(|one| one["cycles"].as_u64().expect("cycles")).min();
    assert_eq!(Some(cycles(searched)), least);
    let chosen = &searched["storage"]["partition"]["threads"];
    assert!(tried.iter().any(|one| one["threads"] == *chosen && one["cycles"].as_u64() == least));
    // A number by itself is what it was among the others.
    let fixed =
        "base = \"diss-ch7-unified-256\"\n[storage]\nthreads = \"most\"\nmost_threads = 512\n";
    fs::write(home.folder().join("fixed.toml"), fixed).expect("a file");
    let fixed = &reports(&home, &["srad", "--design", "fixed.toml"])[0];
    assert_eq!(cycles(fixed), tried[2]["cycles"].as_u64().expect("cycles"));
    assert_eq!(fixed["launches"][0]["residency"]["limit"], "threads");
}

#[test]
fn a_changed_partition_empties_the_cache() {
    let home = Home::new(&[]);
    let kernel = "base = \"micro12-unified-384\"\n[storage]\nrepartition = \"kernel\"\n";
    fs::write(home.folder().join("kernel.toml"), kernel).expect("a file");
    let designs = ["--design", "micro12-unified-384", "--design", "kernel.toml"];
    let fills = |report: &Value| report["data_cache"]["fill_bytes"].as_u64().expect("bytes");
    // The size of the cache need not change.
    let files = ["application", "kernel"].map(|repartition| {
        let file = format!(
            "base = \"micro12-unified-384\"\n[storage]\nmost_cache_kb = 64\n\
             repartition = \"{repartition}\"\n"
        );
        let name = format!("same-cache-{repartition}.toml");
        fs::write(home.folder().join(&name), file).expect("a file");
        name
    });
    let same_cache = ["srad", "--design", &files[0], "--design", &files[1]];
    let all = reports(&home, &same_cache);
    assert_eq!(parts(&all[0])[2], 64 << 10);
    assert!(fills(&all[0]) < fills(&all[1]), "{}", all[1]["data_cache"]);
    // One kernel: nothing changes. Several: each has its own part, and begins without lines.
    for (workload, same) in [("pcr", true), ("srad", false)] {
        let all = reports(&home, &[&[workload], &designs[..]].concat());
        let [application, kernel] = &all[..] else { panic!("two reports") };
        assert_eq!(fills(application) == fills(kernel), same, "{workload}");
        assert!(fills(application) <= fills(kernel), "{workload}");
        assert!(kernel["launches"][0]["partition"]["cache_bytes"].is_u64(), "{workload}");
    }
}

#[test]
fn a_trace_is_divided_as_its_kernel_is() {
    let home = Home::new(&[]);
    let design = "micro12-unified-128-flat";
    for words in [
        vec!["trace", "record", "needle", "--scale", "small", "-o", "n.strata"],
        vec!["trace", "export", "needle", "--scale", "small", "-o", "exported"],
    ] {
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
        assert_eq!(outcome.status, Some(0), "{outcome}");
    }
    let own = &reports(&home, &["needle", "--design", design])[0];
    for input in ["n.strata", "exported/kernelslist.g"] {
        let words = ["run", "--mode", "cycle", "--format", "json", input, "--design", design];
        let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        let read: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let read = read.as_array().map_or(&read, |all| &all[0]);
        assert_eq!(read["storage"]["partition"], own["storage"]["partition"], "{input}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let home = Home::new(&[]);
    for (workload, design, part) in [
        (
            "needle64",
            "micro12-limited-32-96",
            "a CTA needs 33284 bytes of shared memory, but an SM has 32768",
        ),
        ("needle64", "diss-ch7-limited-16-48", "but an SM has 16384"),
    ] {
        let outcome = run(&home, &[workload, "--design", design]);
        assert_eq!(outcome.status, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(part), "{outcome}");
        assert!(outcome.stderr.contains(workload), "{outcome}");
    }
    // The other split of the two is large enough.
    let both = &reports(&home, &["needle64", "--design", "micro12-limited"])[0];
    assert_eq!(both["storage"]["tried"].as_array().expect("a list").len(), 1);
    let file = "base = \"micro12\"\n[storage]\nunified_kb = 32\n";
    fs::write(home.folder().join("small.toml"), file).expect("a file");
    let outcome = run(&home, &["needle64", "--design", "small.toml"]);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("bytes of unified storage"), "{outcome}");
    let file = "base = \"micro12-unified-384\"\n[storage]\nmost_threads = 128\n";
    fs::write(home.folder().join("few.toml"), file).expect("a file");
    let outcome = run(&home, &["pcr", "--design", "few.toml"]);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("a CTA needs 256 threads, but an SM has 128"), "{outcome}");
    // A timeline draws one run.
    let outcome = run(&home, &["srad", "--design", "micro12-limited", "--timeline", "t.json"]);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("tries 2 ways to divide its storage"), "{outcome}");
    assert!(!home.folder().join("t.json").exists());
}
