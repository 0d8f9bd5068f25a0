//! The order of instructions: accesses, energy and IPC of designs for the same order, in PTX order
//! and scheduled side by side, for every page of results.

use std::fmt::Write as _;

use strata_design as design;
use strata_measure::options::Mode;

use crate::reports::{Reports, mean};

/// Orders of every page: `close` serves compiler-managed levels alone, and stands among their
/// limits.
pub(crate) use strata_figures::reproduce::ORDERS;

/// The order of [RFC2011]'s traces.
pub(crate) const OF_TRACES: &str = "[RFC2011]'s traces are machine code, which a production compiler scheduled (5.1): its figures are\n\
     to be compared with those of scheduled code, which avoids fewer accesses and has a higher IPC than\n\
     the same code in PTX order.";

/// The order of [DISS]'s kernels.
pub(crate) const OF_THE_DISSERTATION: &str = "[DISS] has PTX that \"has been scheduled and register allocated\" (6.4.1): its figures are to be\n\
     compared with those of scheduled code, which avoids fewer accesses and has a higher IPC than the\n\
     same code in PTX order. How it was scheduled is not said.";

/// What one design does in one order.
struct Means {
    /// MRF reads and writes avoided. Unit: percent.
    avoided: [f64; 2],
    /// Energy against the design's baseline; none where no table prints it. Unit: percent.
    energy: Option<f64>,
    /// IPC against the baseline's in the same order. Unit: percent.
    ipc: f64,
}

/// A table of designs in each order, with the IPC relative to that of design `baseline`. All of it
/// is of one execution in cycle mode. `papers`: which order the page's papers had.
pub(crate) fn by_order(designs: &[&str], baseline: &str, papers: &str) -> String {
    let all: Vec<_> = std::iter::once(&baseline)
        .chain(designs.iter().filter(|&&name| name != baseline))
        .map(|name| design::resolve(name).expect("the design exists"))
        .collect();
    let measured = ORDERS.map(|order| Reports::in_order(order, Mode::Cycle, &all));
    let mut text = format!(
        "\n## By order of instructions\n\n\
         Means over the twelve workloads at their small size, all of one run in cycle mode for each\n\
         order: MRF reads / writes avoided and dynamic energy, in percent of the flat baseline's; IPC in percent\n\
         of that of `{baseline}` in the same order, whose own stands in its row in thread instructions a\n\
         cycle. The orders are those of `--order`: `ptx`; `scheduled`, each block by latencies with the\n\
         registers as allocated; `scheduled-renamed`, without limit on registers (DEVIATIONS.md, DEV-020).\n\
         {papers}\n\n\
         | design |"
    );
    for order in ORDERS {
        let _ = write!(text, " {} | energy | IPC |", order.name());
    }
    let _ = writeln!(text, "\n| --- |{}", " ---: | ---: | ---: |".repeat(ORDERS.len()));
    for name in all.iter().map(|design| design.name.as_str()) {
        let _ = write!(text, "| `{name}` |");
        for reports in &measured {
            let Means { avoided: [reads, writes], energy, ipc } = means(reports, name, baseline);
            let energy = energy.map_or_else(|| "-".to_owned(), |energy| format!("{energy:.1}"));
            let own = mean(|workload| derived(reports, workload, name, "ipc"));
            let ipc = if name == baseline { format!("({own:.2})") } else { format!("{ipc:.1}") };
            let _ = write!(text, " {reads:.1} / {writes:.1} | {energy} | {ipc} |");
        }
        text.push('\n');
    }
    text
}

/// One workload's line behind its label: MRF accesses avoided and energy under a design, and the IPC
/// of `baseline` and of the design.
pub(crate) fn line(reports: &Reports, workload: &str, name: &str, baseline: &str) -> String {
    let of = |design: &str, key: &str| derived(reports, workload, design, key);
    format!(
        "{:.1} / {:.1} | {:.1} | {:.2} | {:.2}",
        of(name, "mrf_reads_avoided_percent"),
        of(name, "mrf_writes_avoided_percent"),
        of(name, "energy_relative_percent"),
        of(baseline, "ipc"),
        of(name, "ipc")
    )
}

fn means(reports: &Reports, name: &str, baseline: &str) -> Means {
    let of = |key: &str| mean(|workload| derived(reports, workload, name, key));
    let has_energy = reports.0.iter().any(|r| r.design == name && r.energy_fj.is_some());
    Means {
        avoided: [of("mrf_reads_avoided_percent"), of("mrf_writes_avoided_percent")],
        energy: has_energy.then(|| of("energy_relative_percent")),
        ipc: mean(|workload| {
            let ipc = |design| derived(reports, workload, design, "ipc");
            100.0 * ipc(name) / ipc(baseline)
        }),
    }
}

fn derived(reports: &Reports, workload: &str, name: &str, key: &str) -> f64 {
    reports.get(workload, name).derived[key].expect("something was executed")
}

/// What the order does, whatever else moves: a compiler that spreads loads from their readers costs
/// the upper levels hits and gives the SM independent instructions.
#[test]
fn scheduling_costs_accesses_and_gains_throughput() {
    let names = ["isca11", "isca11-rfc6", "diss-orf3-lrf-split"];
    let designs = names.map(|name| design::resolve(name).expect("the design exists"));
    let measured = ORDERS.map(|order| Reports::in_order(order, Mode::Cycle, &designs));
    for pair in measured.windows(2) {
        let [before, after] = pair else { unreachable!("windows of two") };
        for name in &names[1..] {
            let [old, new] = [before, after].map(|reports| means(reports, name, names[0]));
            assert!(new.avoided[0] < old.avoided[0] && new.avoided[1] < old.avoided[1], "{name}");
            assert!(new.energy > old.energy, "{name}: {:?}, then {:?}", old.energy, new.energy);
        }
        let flat = |reports: &Reports| mean(|one| derived(reports, one, names[0], "ipc"));
        assert!(flat(after) > flat(before), "{} after {}", flat(after), flat(before));
        for report in &after.0 {
            let same = before.get(&report.workload, &report.design);
            assert_eq!(report.counters["warp_instructions"], same.counters["warp_instructions"]);
            assert_eq!(report.counters["dram_bytes"], same.counters["dram_bytes"]);
        }
    }
}
