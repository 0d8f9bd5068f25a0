//! Reports of every workload at its small size, and the pages on which their figures stand.

use std::path::Path;

use strata::cli::{Mode, Scale, SourceArgs};
use strata::design::{self, Design};
use strata::measure::{self, Request};
use strata::printer::Printer;
use strata::report::RunReport;
use strata::{subject, workload};
use strata_compiler::Order;
use strata_core::units::CLUSTERS;

/// Every workload under each of some designs.
pub(crate) struct Reports(pub(crate) Vec<RunReport>);

impl Reports {
    /// Executes every workload once, in count mode.
    pub(crate) fn of(designs: &[Design]) -> Self {
        Self::in_mode(Mode::Count, designs)
    }

    /// Executes every workload once.
    pub(crate) fn in_mode(mode: Mode, designs: &[Design]) -> Self {
        Self::in_order(Order::Ptx, mode, designs)
    }

    /// Executes every workload once, with its instructions in an order.
    pub(crate) fn in_order(order: Order, mode: Mode, designs: &[Design]) -> Self {
        let args = SourceArgs { orders: vec![order], ..SourceArgs::of(Scale::Small) };
        let request = Request::new(&args).expect("the options are valid").in_mode(mode);
        let printer = Printer::new(true);
        let reports = workload::names().flat_map(|name| {
            let workload = subject::workload(name, &args).expect("the workload loads");
            measure::reports(&workload, designs, &request, &printer).expect("the workload runs")
        });
        Self(reports.collect())
    }

    /// The same with designs by name.
    pub(crate) fn of_names(names: impl Iterator<Item = String>) -> Self {
        let design = |name: String| design::resolve(&name).expect("the design exists");
        Self::of(&names.map(design).collect::<Vec<_>>())
    }

    /// One workload's under one design.
    pub(crate) fn get(&self, workload: &str, design: &str) -> &RunReport {
        let found = self.0.iter().find(|r| r.workload == workload && r.design == design);
        found.expect("every design ran every workload")
    }

    /// Some counters' sum.
    pub(crate) fn sum(&self, workload: &str, design: &str, counters: &[&str]) -> f64 {
        let own = &self.get(workload, design).counters;
        counters.iter().map(|&counter| own[counter]).sum::<u64>() as f64
    }

    /// Mean over the workloads of some counters' sum, in percent of another of `flat`.
    pub(crate) fn share(&self, design: &str, counters: &[&str], flat: &str, of: &str) -> f64 {
        mean(|name| 100.0 * self.sum(name, design, counters) / self.sum(name, flat, &[of]))
    }
}

/// Mean over the workloads.
pub(crate) fn mean(of: impl Fn(&str) -> f64) -> f64 {
    let all: Vec<f64> = workload::names().map(of).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The least and the most of the means over all workloads but one.
pub(crate) fn without_one(of: impl Fn(&str) -> f64) -> [f64; 2] {
    let all: Vec<f64> = workload::names().map(of).collect();
    let sum: f64 = all.iter().sum();
    let means = all.iter().map(|one| (sum - one) / (all.len() - 1) as f64);
    let least = means.clone().fold(f64::INFINITY, f64::min);
    [least, means.fold(f64::NEG_INFINITY, f64::max)]
}

/// What so many reads that hit the write pool of `warrf` cost more at the price of a bank
/// (`pool_read_energy = "bank"`): pages take the energy of such designs from the counts of others,
/// as a test does with a run. Unit: femtojoules.
pub(crate) fn dearer(reads: u64) -> f64 {
    let table = design::resolve("warrf").expect("the design exists").energy.expect("it is known");
    let pool = table.write_pool.expect("it has one");
    let more = table.mrf.bank.read.0 - pool.operand_read.0;
    // An access of a warp is one of each of its clusters.
    (reads * u64::from(CLUSTERS) * more) as f64
}

/// Holds a page against what is committed under `docs/results`, or writes it where that is asked
/// for.
pub(crate) fn hold_page(name: &str, page: &str) {
    println!("{page}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name);
    if crate::switch::is_on("STRATA_BLESS") {
        std::fs::write(&path, page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == committed,
        "docs/results/{name} is out of date; the first lines of this test's file say how to renew it"
    );
}
