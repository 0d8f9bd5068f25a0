//! Energy of an SM with all its storage: recomputed from what reports print, by another formula.

use std::fs;

use serde_json::Value;
use strata_tests::start;

use crate::outputs::Home;

/// Picojoules of a read and a write of 16 bytes, by the KB of a bank: MICRO'12 Table 4 and
/// dissertation Table 4.7.
const BANKS: [(u64, [f64; 2]); 6] = [
    (1, [3.2, 3.9]),
    (2, [3.9, 5.1]),
    (4, [5.1, 7.3]),
    (8, [9.8, 11.8]),
    (12, [12.1, 14.9]),
    (16, [12.2, 15.2]),
];

fn run(home: &Home, arguments: &[&str], format: &str) -> strata_tests::Outcome {
    let mut words = vec!["run", "--mode", "cycle", "--scale", "small", "--format", format];
    words.extend(arguments);
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words)
}

fn reports(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let outcome = run(home, arguments, "json");
    assert_eq!(outcome.status, Some(0), "{outcome}");
    match serde_json::from_str(&outcome.stdout).expect("JSON") {
        Value::Array(reports) => reports,
        report => vec![report],
    }
}

fn number(value: &Value, keys: &[&str]) -> f64 {
    let found = keys.iter().fold(value, |value, key| &value[*key]);
    found.as_f64().unwrap_or_else(|| panic!("{keys:?} is {found}"))
}

/// Nanojoules of each part: banks of so many KB hold registers, shared memory and the cache, in
/// unified storage or in areas, of which so many KB leak.
fn expected(report: &Value, banks: [u64; 3], unified: bool, leaking_kb: f64) -> [f64; 7] {
    let energy = |kb: u64| BANKS.iter().find(|(of, _)| *of == kb).expect("a bank").1;
    let count = |name: &str| number(report, &["counters", name]);
    let memory = |name: &str| number(report, &["data_cache", name]);
    let cost = |kb: u64, reads: f64, writes: f64| {
        let [read, write] = energy(kb);
        (reads * read + writes * write) * 1e-3
    };
    let fills = memory("fill_bytes") / 16.0;
    let of_memory = |kb: u64, area: &str, fills: f64| {
        let counted = |what: &str| memory(&format!("{area}_{what}"));
        if unified {
            1.1 * cost(kb, counted("read_rows"), counted("write_rows") + fills)
        } else {
            cost(kb, counted("read_words") / 4.0, counted("write_words") / 4.0 + fills)
        }
    };
    let cycles = count("cycles");
    [
        1.9 * number(report, &["storage_energy", "baseline_cycles"]),
        0.7 * cycles,
        0.2 / 384.0 * leaking_kb * cycles,
        cost(banks[0], 8.0 * count("mrf_reads"), 8.0 * count("mrf_writes")),
        of_memory(banks[1], "shared", 0.0),
        of_memory(banks[2], "cache", fills),
        memory("dram_bytes") * 8.0 * 40.0 * 1e-3,
    ]
}

/// The order of [`expected`].
const PARTS: [&str; 7] = [
    "core_dynamic",
    "core_leakage",
    "sram_leakage",
    "register_banks",
    "shared_banks",
    "cache_banks",
    "dram",
];

fn compare(report: &Value, expected: [f64; 7]) {
    let own = &report["storage_energy"]["technologies"][0];
    let at = format!("{} {}", report["workload"], report["design"]);
    let found = |part: &str| number(own, &["energy_fj", part]) * 1e-6;
    for (part, expected) in PARTS.into_iter().zip(expected) {
        let found = found(part);
        // Each part is rounded to a femtojoule.
        assert!((found - expected).abs() <= 1e-6 + 1e-9 * expected, "{at} {part}: {found} nJ");
    }
    let whole = |part: &str| own["energy_fj"][part].as_u64().expect("femtojoules");
    assert_eq!(whole("total"), PARTS.into_iter().map(whole).sum::<u64>(), "{at}");
    let watts = expected.iter().sum::<f64>() / number(report, &["counters", "cycles"]);
    let power = number(own, &["average_power_mw"]);
    assert!((power - 1e3 * watts).abs() < 1e-3, "{at}: {power} mW");
}

#[test]
fn energy_follows_from_the_counters_of_a_report() {
    let home = Home::new(&[]);
    let designs = [
        ("micro12", [8, 2, 2], false, 384.0),
        ("micro12-unified-384", [12; 3], true, 384.0),
        ("micro12-unified-128-flat", [4; 3], true, 128.0),
        ("micro12-limited", [8, 4, 4], false, 384.0),
        ("micro12-unified-256-rfc6", [8; 3], true, 256.0),
    ];
    for workload in ["needle32", "srad", "pcr"] {
        let mut arguments = vec![workload];
        arguments.extend(designs.iter().flat_map(|(design, ..)| ["--design", design]));
        let all = reports(&home, &arguments);
        let baseline = &all[0];
        assert_eq!(all.len(), designs.len(), "the baseline's own run adds none");
        for (report, (design, banks, unified, kb)) in all.iter().zip(designs) {
            assert_eq!(report["design"], design);
            compare(report, expected(report, banks, unified, kb));
            let energy = &report["storage_energy"];
            assert_eq!(energy["baseline"], "micro12");
            assert_eq!(energy["baseline_cycles"], baseline["counters"]["cycles"]);
            for place in 0..2 {
                let of = |report: &Value| {
                    let own = &report["storage_energy"]["technologies"][place];
                    number(own, &["energy_fj", "total"])
                };
                let relative = &energy["technologies"][place]["relative"];
                let (own, base) = (of(report), of(baseline));
                let faster = number(baseline, &["counters", "cycles"])
                    / number(report, &["counters", "cycles"]);
                for (name, ratio) in [
                    ("energy_percent", own / base),
                    ("performance_percent", faster),
                    ("performance_per_watt_percent", base / own),
                    ("performance_per_joule_percent", faster * base / own),
                ] {
                    let found = number(relative, &[name]);
                    assert!((found - 100.0 * ratio).abs() < 1e-3, "{design} {name}: {found}");
                }
            }
        }
        // Alone, a design has the same baseline, which runs behind it.
        let alone = &reports(&home, &[workload, "--design", "micro12-unified-384"])[0];
        assert_eq!(alone["storage_energy"], all[1]["storage_energy"], "{workload}");
    }
}

#[test]
fn what_is_switched_off_does_not_leak() {
    let home = Home::new(&[]);
    for (name, repartition) in [("application", "application"), ("kernel", "kernel")] {
        let file = format!(
            "base = \"micro12-unified-384\"\n[storage]\nmost_cache_kb = 64\n\
             disable_unused = true\nrepartition = \"{repartition}\"\n"
        );
        fs::write(home.folder().join(format!("{name}.toml")), file).expect("a file");
    }
    let designs = ["--design", "application.toml", "--design", "kernel.toml"];
    let all = reports(&home, &[&["srad"], &designs[..]].concat());
    let [application, kernel] = &all[..] else { panic!("two reports") };
    let off = |partition: &Value| number(partition, &["disabled_bytes"]) / 1024.0;
    let kb = off(&application["storage"]["partition"]);
    assert!(kb > 0.0);
    compare(application, expected(application, [12; 3], true, 384.0 - kb));
    // Each kernel leaks by its own partition, for its own time.
    let launches = kernel["launches"].as_array().expect("launches");
    let mut off_cycles = 0.0;
    for launch in launches {
        off_cycles += off(&launch["partition"]) * number(launch, &["counters", "cycles"]);
    }
    let kb = 384.0 - off_cycles / number(kernel, &["counters", "cycles"]);
    compare(kernel, expected(kernel, [12; 3], true, kb));
}

#[test]
fn a_trace_has_the_energy_that_its_kernel_has_without_upper_levels() {
    let home = Home::new(&[]);
    let words = ["trace", "record", "pcr", "--scale", "small", "-o", "pcr.strata"];
    let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), &words);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let words = ["run", "--mode", "cycle", "--format", "json", "pcr.strata"];
    let designs = ["--design", "micro12-unified-384-rfc6", "--design", "micro12-flat"];
    let outcome = start(
        env!("CARGO_BIN_EXE_strata-under-test"),
        home.folder(),
        &[&words[..], &designs].concat(),
    );
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let (unified, flat) = (&all[0], &all[1]);
    assert_eq!(unified["storage_energy"]["baseline"], "micro12-flat");
    assert_eq!(unified["storage_energy"]["baseline_cycles"], flat["counters"]["cycles"]);
    compare(unified, expected(unified, [12; 3], true, 384.0));
    compare(flat, expected(flat, [8, 2, 2], false, 384.0));
}

#[test]
fn energy_that_is_not_known_says_why() {
    let home = Home::new(&[]);
    // Banks of 10 KB are in no table, in either technology.
    let file = "base = \"micro12\"\n[storage]\nunified_kb = 320\n";
    fs::write(home.folder().join("odd.toml"), file).expect("a file");
    let odd = &reports(&home, &["pcr", "--design", "odd.toml"])[0];
    let own = &odd["storage_energy"]["technologies"][0];
    let reason = own["unavailable"].as_str().expect("a reason");
    assert!(reason.contains("no energy is known of a bank of 10240 bytes"), "{reason}");
    assert!(own["energy_fj"].is_null() && own["relative"].is_null());
    let text = run(&home, &["pcr", "--design", "odd.toml"], "table").stdout;
    assert!(text.contains("energy of the storage of pcr, odd: "), "{text}");

    // 66 KB of shared memory do not fit the baseline.
    let kernel = "\
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 large[];
.visible .entry fill()
{
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, large;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    ret;
}
";
    let launch = "description = \"Fills\"\n[size.small]\n[size.default]\n[[launch]]\nkernel = \"fill\"\ngrid = [4]\nblock = [64]\nshared = 67584\n";
    fs::write(home.folder().join("fill.ptx"), kernel).expect("a file");
    fs::write(home.folder().join("fill.toml"), launch).expect("a file");
    let words = ["run", "--mode", "cycle", "--format", "json", "fill.ptx", "--launch", "fill.toml"];
    let design = ["--design", "micro12-unified-384"];
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let outcome = start(program, home.folder(), &[&words[..], &design].concat());
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let report = report.as_array().map_or(&report, |all| &all[0]);
    let reason = report["storage_energy"]["unavailable"].as_str().expect("a reason");
    assert!(
        reason.contains("a CTA needs 67584 bytes of shared memory, but an SM has 65536"),
        "{reason}"
    );
    assert!(report["storage_energy"]["baseline_cycles"].is_null());
}

/// Before anything runs, and with the columns of the designs' technologies among the known ones.
#[test]
fn a_column_of_no_technology_is_refused() {
    let home = Home::new(&[]);
    let column = |name| ["missing.ptx", "--design", "micro12", "--columns", name];
    let wrong = run(&home, &column("storage_micro12-32nm_totl_fj"), "csv");
    assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(2), ""));
    let said = "error: there is no column `storage_micro12-32nm_totl_fj`\n\
             \x20 hint: did you mean `storage_micro12-32nm_total_fj` or ";
    assert!(wrong.stderr.starts_with(said), "{wrong}");
    let right = run(&home, &column("storage_micro12-32nm_total_fj"), "csv");
    assert!(right.stderr.contains("missing.ptx"), "{right}");
}

#[test]
fn csv_has_a_column_for_each_value() {
    let home = Home::new(&[]);
    let arguments = ["pcr", "--design", "micro12-unified-384", "--design", "isca11"];
    let report = &reports(&home, &arguments)[0];
    let outcome = run(&home, &arguments, "csv");
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let mut reader = csv::Reader::from_reader(outcome.stdout.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let mut rows = reader.records().map(|row| row.expect("a row"));
    let (own, other) = (rows.next().expect("a row"), rows.next().expect("two"));
    let mut seen = 0;
    for (column, name) in header.iter().enumerate() {
        let Some(name) = name.strip_prefix("storage_micro12-32nm_") else { continue };
        let of = &report["storage_energy"]["technologies"][0];
        let value = match name.strip_suffix("_fj") {
            Some(part) => &of["energy_fj"][part],
            None if name == "average_power_mw" => &of[name],
            None => &of["relative"][name],
        };
        // Both are the shortest text of the number, with and without a point.
        let text = value.to_string();
        assert_eq!(&own[column], text.strip_suffix(".0").unwrap_or(&text), "{name}");
        assert_eq!(&other[column], "", "{name}");
        seen += 1;
    }
    assert_eq!(seen, PARTS.len() + 1 + 1 + 4);
}
