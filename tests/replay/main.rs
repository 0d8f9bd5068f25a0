//! An independent replay of count mode.
//!
//! It follows the text of docs/MODEL.md, and is obvious rather than fast: it searches vectors, and
//! walks each warp by itself. Its input is what the program prints: the listing of `inspect` and
//! the traces of `trace export`. It shares no code and no data structure with the core. All
//! counters of every launch and all parts of the energy must be equal.

mod energy;
mod export;
mod listing;
mod machine;

use energy::{Level, Table};
use export::Launch;
use listing::Kernels;
use machine::{Cache, Counts, Upper, Warp};
use serde_json::Value;

const WORKLOADS: [&str; 39] = [
    "vectoradd",
    "matrixmul",
    "reduction",
    "scalarprod",
    "hotspot",
    "needle",
    "bfs",
    "srad",
    "dct8x8",
    "mandelbrot",
    "nbody",
    "histogram",
    "cp",
    "mriq",
    "dgemm",
    "sgemm",
    "fft512",
    "scan",
    "bitonic",
    "montecarlo",
    "bilinear",
    "needle16",
    "needle32",
    "needle64",
    "lu",
    "pcr",
    "ray",
    "suffixtree",
    "sgemv",
    "sobol",
    "lbm",
    "stencil",
    "hotspot16",
    "btree",
    "convolution",
    "xorwow",
    "mergesort",
    "quasirandom",
    "pathgen",
];

/// A design, and what stands in the tables of its machine.
struct Design {
    name: &'static str,
    upper: Upper,
    /// None where no table prints the energy of its cache.
    table: Option<Table>,
}

const CACHE: Cache = Cache {
    entries: 6,
    last_result_file: false,
    least_recently_used: false,
    liveness: true,
    two_level: true,
    allocates_reads: false,
    bypass: false,
    flush_backward: false,
};

/// [RFC2011] Tables 2 and 3; the cache with eight active warps and six entries.
const ISCA11: Table = Table {
    main: Level::new([80, 110], [1000, 1000]),
    upper: Level::new([22, 67], [200, 200]),
    last_result: Level::new([0, 0], [0, 0]),
};

/// [DISS] Tables 4.5 and 4.6; three entries above the main register file.
const DISSERTATION: Table = Table {
    main: Level::new([80, 110], [1000, 1000]),
    upper: Level::new([12, 44], [200, 400]),
    last_result: Level::new([7, 20], [50, 50]),
};

fn designs() -> Vec<Design> {
    let cached = |name, cache, table| Design { name, upper: Upper::Cache(cache), table };
    let isca11 = Some(ISCA11);
    let diss = Some(DISSERTATION);
    let three = Cache { entries: 3, last_result_file: true, ..CACHE };
    vec![
        Design { name: "isca11", upper: Upper::Flat, table: isca11 },
        cached("isca11-rfc6", CACHE, isca11),
        cached("isca11-rfc6-lru", Cache { least_recently_used: true, ..CACHE }, isca11),
        cached("isca11-rfc6-nolive", Cache { liveness: false, ..CACHE }, isca11),
        cached("isca11-rfc6-single", Cache { two_level: false, ..CACHE }, None),
        cached("isca11-rfc6-reads", Cache { allocates_reads: true, ..CACHE }, isca11),
        cached("isca11-rfc6-bypass", Cache { bypass: true, ..CACHE }, isca11),
        cached("isca11-rfc6-backflush", Cache { flush_backward: true, ..CACHE }, isca11),
        cached("diss-rfc3-lrf", three, diss),
        cached("diss-rfc3-lrf-lru", Cache { least_recently_used: true, ..three }, diss),
        cached("diss-rfc3-lrf-nolive", Cache { liveness: false, ..three }, diss),
        cached("diss-rfc3-lrf-reads", Cache { allocates_reads: true, ..three }, diss),
        cached("diss-rfc3-lrf-bypass", Cache { bypass: true, ..three }, diss),
        Design { name: "diss-orf3", upper: Upper::Managed, table: diss },
        Design { name: "diss-orf3-lrf-unified", upper: Upper::Managed, table: diss },
        Design { name: "diss-orf3-lrf-split", upper: Upper::Managed, table: diss },
    ]
}

fn strata(arguments: &[&str]) -> String {
    let folder = std::env::temp_dir();
    let outcome = strata_tests::start(env!("CARGO_BIN_EXE_strata-under-test"), &folder, arguments);
    assert_eq!(outcome.status, Some(0), "{arguments:?}: {outcome}");
    outcome.stdout
}

/// The reports of the program, one for each design.
fn reported(workload: &str, designs: &[Design]) -> Value {
    let mut arguments = vec!["run", workload, "--scale", "small", "--format", "json"];
    for design in designs {
        arguments.extend(["--design", design.name]);
    }
    serde_json::from_str(&strata(&arguments)).expect("a report in JSON")
}

/// The differences between the replay and the report, a line each.
fn differences(workload: &str, designs: &[Design]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().join("export");
    let path = folder.to_str().expect("a path in UTF-8");
    strata(&["trace", "export", workload, "--approximate", "--scale", "small", "-o", path]);
    let launches = export::read(&folder);
    let report = reported(workload, designs);
    let mut lines = Vec::new();
    for design in designs {
        let mut inspect = vec!["inspect", workload];
        if design.upper == Upper::Managed {
            inspect.extend(["--design", design.name]);
        }
        let listed = strata(&inspect);
        let kernels = listing::read(&listed);
        let reports = report.as_array().expect("a list of reports");
        let report = reports.iter().find(|report| report["design"] == design.name);
        let report = report.unwrap_or_else(|| panic!("no report of {}", design.name));
        let head = format!("{workload}, {}", design.name);
        let mut sum = Counts::new();
        for (index, launch) in launches.iter().enumerate() {
            let counts = replay(launch, &kernels, design.upper);
            let head = format!("{head}, launch {index}");
            compare_counts(&head, &counts, &report["launches"][index]["counters"], &mut lines);
            add(&mut sum, &counts);
        }
        assert_eq!(report["launches"].as_array().map(Vec::len), Some(launches.len()), "{head}");
        compare_counts(&head, &sum, &report["counters"], &mut lines);
        compare_energy(&head, design, &sum, report, &mut lines);
    }
    lines
}

fn replay(launch: &Launch, kernels: &Kernels, upper: Upper) -> Counts {
    let code = &kernels[&launch.kernel];
    let mut counts = Counts::new();
    for warp in &launch.warps {
        add(&mut counts, &Warp::new(code, upper).walk(warp));
    }
    counts
}

fn add(sum: &mut Counts, counts: &Counts) {
    for (event, count) in counts {
        *sum.entry(event).or_default() += count;
    }
}

/// Sums of other counters: a report has them beside the counters.
const SUMS: [&str; 12] = [
    "mrf_reads",
    "mrf_writes",
    "rfc_reads",
    "rfc_writes",
    "rfc_writebacks",
    "lrf_writebacks",
    "orf_reads",
    "orf_writes",
    "dual_writes",
    "write_pool_reads",
    "write_pool_writes",
    "overhead_writes",
];

fn compare_counts(head: &str, counts: &Counts, reported: &Value, lines: &mut Vec<String>) {
    let reported = reported.as_object().expect("counters");
    for (event, theirs) in reported.iter().filter(|(event, _)| !SUMS.contains(&event.as_str())) {
        let ours = counts.get(event.as_str()).copied().unwrap_or(0);
        if Some(ours) != theirs.as_u64() {
            lines.push(format!("{head}: {event} is {theirs}, the replay has {ours}"));
        }
    }
    for event in counts.keys().filter(|event| !reported.contains_key(**event)) {
        lines.push(format!("{head}: the report has no {event}"));
    }
}

fn compare_energy(
    head: &str,
    design: &Design,
    counts: &Counts,
    report: &Value,
    lines: &mut Vec<String>,
) {
    let reported = &report["energy_fj"];
    let Some(table) = &design.table else {
        if !reported.is_null() {
            lines.push(format!("{head}: no table prints its energy"));
        }
        return;
    };
    let upper = if design.upper == Upper::Managed { "orf" } else { "rfc" };
    for (part, ours) in energy::parts(counts, table, upper) {
        if reported[&part].as_u64() != Some(ours) {
            let theirs = &reported[&part];
            lines.push(format!("{head}: {part} is {theirs} fJ, the replay has {ours}"));
        }
    }
}

#[test]
fn an_independent_replay_counts_the_same() {
    let designs = designs();
    let mut lines = Vec::new();
    for workload in WORKLOADS {
        lines.extend(differences(workload, &designs));
    }
    assert!(lines.is_empty(), "{} differences:\n{}", lines.len(), lines.join("\n"));
}
