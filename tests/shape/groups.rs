//! The second group of workloads beside the suite, under the designs of the headlines.

use std::sync::LazyLock;

use strata_design as design;
use strata_measure::options::Mode;
use strata_workload::{Group, all_names};

use crate::reports::Reports;

/// The papers' designs: the best cache, with a last result file in front, and what a compiler
/// manages, with two and three levels.
pub(crate) const HEADLINES: [&str; 4] =
    ["isca11-rfc6", "diss-rfc6-lrf", "diss-orf3", "diss-orf3-lrf-split"];
/// The flat register files of their machines.
const FLAT: [&str; 2] = ["isca11", "dissertation"];

/// The groups whose means the pages show.
const GROUPS: [Group; 2] = [Group::Suite, Group::Extra];

/// Names of the workloads of both groups.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.into_iter().flat_map(Group::names)
}

/// Names of the workloads of all groups but `registers`, which pages show apart.
pub(crate) fn general() -> impl Iterator<Item = &'static str> {
    [Group::Suite, Group::Extra, Group::Storage].into_iter().flat_map(Group::names)
}

/// The workload whose CTA needs more shared memory than the 32 KB of machine `isca11`.
pub(crate) const TOO_LARGE: &str = "needle64";

/// Names of the workloads of every group that this machine runs.
pub(crate) fn fitting() -> impl Iterator<Item = &'static str> {
    all_names().filter(|&name| name != TOO_LARGE)
}

/// Every workload of both groups at its small size.
pub(crate) static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let designs = HEADLINES.iter().chain(&FLAT).map(|&name| name.to_owned());
    Reports::of_workloads(names(), designs)
});

/// Mean over the suite, over the other group, and over all, of those workloads that have the figure.
pub(crate) fn means(of: impl Fn(&str) -> Option<f64>) -> [f64; 3] {
    let mean = |names: Vec<&str>| {
        let all: Vec<f64> = names.into_iter().filter_map(&of).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let [suite, extra] = GROUPS.map(|group| mean(group.names().collect()));
    [suite, extra, mean(names().collect())]
}

/// One ratio of a workload under a design.
pub(crate) fn ratio(workload: &str, design: &str, key: &str) -> f64 {
    REPORTS.get(workload, design).derived[key].expect("every workload has the ratio")
}

/// A table's first lines.
const HEAD: &str =
    "| design | mean of | suite | `extra` | all |\n| --- | --- | ---: | ---: | ---: |\n";

/// A table's line: a figure's mean over each group.
fn line(design: &str, name: &str, of: impl Fn(&str) -> f64) -> String {
    let cells = means(|workload| Some(of(workload)));
    let cells = cells.map(|mean| format!(" {mean:.1} % |")).concat();
    format!("| `{design}` | {name} |{cells}\n")
}

/// The means of some designs over each group.
pub(crate) fn table(designs: &[&str]) -> String {
    let mut text = HEAD.to_owned();
    for design in designs {
        for (name, key) in [
            ("reads avoided", "mrf_reads_avoided_percent"),
            ("writes avoided", "mrf_writes_avoided_percent"),
            ("energy", "energy_relative_percent"),
        ] {
            text += &line(design, name, |workload| ratio(workload, design, key));
        }
    }
    text
}

/// The register file of SRAM, of STT-RAM, and with all that [WARRF] adds.
const IN_TIME: [&str; 3] = ["warrf-gtx480", "sttram", "warrf"];

/// The means of the designs of [WARRF] over each group.
pub(crate) fn table_in_time() -> String {
    let designs = IN_TIME.map(|name| design::resolve(name).expect("the design exists"));
    let reports = Reports::run(Mode::Cycle, names(), &designs);
    let derived = |workload: &str, design: &str, key: &str| {
        reports.get(workload, design).derived[key].expect("every workload has the ratio")
    };
    let mut text = HEAD.to_owned();
    for design in &IN_TIME[1..] {
        text += &line(design, "IPC of SRAM's", |name| {
            100.0 * derived(name, design, "ipc") / derived(name, IN_TIME[0], "ipc")
        });
        text += &line(design, "energy with leakage", |name| {
            derived(name, design, "total_energy_relative_percent")
        });
    }
    text
}

/// A section of a page whose other figures are of the suite alone.
pub(crate) fn section(table: &str) -> String {
    format!(
        "\n## Other workloads\n\n\
         Means over the suite's twelve, as above, over the nine of group `extra`, and over all.\n\
         [Statistics of both groups](suite.md) say how they differ.\n\n{table}"
    )
}
