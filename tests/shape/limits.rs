//! The idealisations of `[DISS]` 6.6 on our workloads, and the pass that schedules instructions.

use strata::cli::Scale;
use strata::design;
use strata::measure::Request;
use strata::printer::Printer;
use strata::study::limits::{LIMITS, Limit, rows};
use strata::subject;
use strata::workload;

/// What a limit changes of a design's energy, the mean over workloads. Unit: percent.
fn change(limit: Limit, changes: &[f64]) -> f64 {
    let place = LIMITS.iter().position(|other| *other == limit);
    changes[place.expect("a limit that is studied")]
}

#[test]
fn ideal_hierarchies_are_better_by_about_what_the_dissertation_prints() {
    let args = strata_tests::source_args(Scale::Small);
    let request = Request::new(&args).expect("the options are valid");
    let load = |name| subject::workload(name, &args).expect("the workload loads");
    let workloads: Vec<_> = workload::names().map(load).collect();
    let design = design::resolve("diss-orf3-lrf-split").expect("the design exists");
    let rows = rows(&workloads, &design, &request, 0, &Printer::new(true));
    let rows = rows.expect("every workload runs and computes what its reference does");
    let mean = |place: usize| {
        let relative = |energies: &[u64]| energies[place] as f64 / energies[0] as f64;
        let sum: f64 = rows.iter().map(|row| relative(&row.energies)).sum();
        (sum / rows.len() as f64 - 1.0) * 100.0
    };
    let changes: Vec<f64> = (0..LIMITS.len()).map(mean).collect();
    let told: Vec<String> = LIMITS
        .iter()
        .zip(&changes)
        .map(|(limit, change)| {
            let printed = limit.printed().map_or_else(|| "-".to_owned(), |p| format!("{p} %"));
            format!("{}: ours {change:+.1} %, paper {printed}", limit.label())
        })
        .collect();
    let told = told.join("; ");
    let (eight, five) = (change(Limit::Entries(8), &changes), change(Limit::Entries(5), &changes));
    let (never, real) =
        (change(Limit::PastDeschedules, &changes), change(Limit::Scheduled, &changes));
    assert!(eight < five && five < -2.0, "more entries at the same energy save more: {told}");
    assert!(never < -2.0, "what deschedules lose costs energy: {told}");
    // Reordering saves, but far less than the bound on it.
    assert!(real < 0.0 && real > eight, "scheduling saves less than its bound: {told}");
    for row in &rows {
        assert!(row.energies.iter().all(|&energy| energy < row.flat), "{}: {row:?}", row.workload);
    }
}
