//! Reports of every workload at its small size, and the pages on which their figures stand.

use std::path::{Path, PathBuf};

use strata_compiler::Order;
use strata_core::level::Level;
use strata_core::units::CLUSTERS;
use strata_design::{self as design, Design};
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::RunReport;
use strata_workload as workload;
use strata_workload::Toolchain;

/// Every workload under each of some designs.
pub(crate) struct Reports(pub(crate) Vec<RunReport>);

impl Reports {
    /// Executes every workload once, in count mode.
    pub(crate) fn of(designs: &[Design]) -> Self {
        Self::in_mode(Mode::Count, designs)
    }

    /// Executes every workload once.
    pub(crate) fn in_mode(mode: Mode, designs: &[Design]) -> Self {
        Self::run(mode, workload::names(), designs)
    }

    /// Executes these workloads once each.
    pub(crate) fn run<'a>(
        mode: Mode,
        names: impl Iterator<Item = &'a str>,
        designs: &[Design],
    ) -> Self {
        Self::of_source(&Source::of(Scale::Small), mode, names, designs)
    }

    /// Executes these workloads once each, at a size.
    pub(crate) fn at<'a>(
        scale: Scale,
        mode: Mode,
        names: impl Iterator<Item = &'a str>,
        designs: &[Design],
    ) -> Self {
        Self::of_source(&Source::of(scale), mode, names, designs)
    }

    /// Executes every workload once, with its instructions in an order.
    pub(crate) fn in_order(order: Order, mode: Mode, designs: &[Design]) -> Self {
        let args = Source { orders: vec![order], ..Source::of(Scale::Small) };
        Self::of_source(&args, mode, workload::names(), designs)
    }

    /// Executes these workloads once each, as `args` say.
    pub(crate) fn of_source<'a>(
        args: &Source,
        mode: Mode,
        names: impl Iterator<Item = &'a str>,
        designs: &[Design],
    ) -> Self {
        let request = Request::new(args).expect("the options are valid").in_mode(mode);
        let request = request.for_designs(designs);
        let printer = Silent;
        let reports = names.flat_map(|name| {
            let workload = subject::workload(name, args, &Silent).expect("the workload loads");
            measure::reports(&workload, designs, &request, &printer).expect("the workload runs")
        });
        Self(reports.collect())
    }

    /// In count mode, designs by name, with each toolchain's PTX: a report's design is called as
    /// [`by`] says, its workload as ever.
    pub(crate) fn of_each_ptx(names: impl Iterator<Item = String>) -> Self {
        let design = |name: String| design::resolve(&name).expect("the design exists");
        let designs: Vec<Design> = names.map(design).collect();
        let mut all = Vec::new();
        for toolchain in Toolchain::ALL {
            let Self(mut reports) =
                Self::of_source(&source(toolchain), Mode::Count, workload::names(), &designs);
            for report in &mut reports {
                let mut names = workload::names();
                let plain = names.find(|name| toolchain.title(name) == report.workload);
                plain.expect("it is built in").clone_into(&mut report.workload);
                report.design = by(toolchain, &report.design);
            }
            all.append(&mut reports);
        }
        Self(all)
    }

    /// Executes these workloads once each, in count mode, under designs by name.
    pub(crate) fn of_workloads<'a>(
        workloads: impl Iterator<Item = &'a str>,
        designs: impl Iterator<Item = String>,
    ) -> Self {
        let design = |name: String| design::resolve(&name).expect("the design exists");
        Self::run(Mode::Count, workloads, &designs.map(design).collect::<Vec<_>>())
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

/// Workloads at their small size with a toolchain's PTX.
pub(crate) fn source(toolchain: Toolchain) -> Source {
    Source { ptx: Some(toolchain), ..Source::of(Scale::Small) }
}

/// What a design is called where kernels are a toolchain's: the default's have nothing behind it.
pub(crate) fn by(toolchain: Toolchain, design: &str) -> String {
    match toolchain {
        Toolchain::Nvcc => design.to_owned(),
        other => format!("{design}@{}", other.name()),
    }
}

/// Another design with the same kernels as that of a name that [`by`] made.
pub(crate) fn beside(design: &str, other: &str) -> String {
    let kernels = design.split_once('@').map_or_else(String::new, |(_, name)| format!("@{name}"));
    other.to_owned() + &kernels
}

/// The sizes of a table, each as its label, its entries and the kernels' toolchain: 64-bit and
/// 32-bit addresses beside each other, and with 3 entries clang's beside nvcc's.
pub(crate) fn sizes(
    entries: std::ops::RangeInclusive<u8>,
) -> impl Iterator<Item = (String, u8, Toolchain)> {
    entries.flat_map(|entries| {
        let shown = Toolchain::ALL.into_iter().filter(move |&toolchain| {
            entries == 3 || matches!(toolchain, Toolchain::Nvcc | Toolchain::Nvcc32)
        });
        shown.map(move |toolchain| (labelled(&entries.to_string(), toolchain), entries, toolchain))
    })
}

/// A row's label with the toolchain, if it is not the default one.
pub(crate) fn labelled(label: &str, toolchain: Toolchain) -> String {
    match toolchain {
        Toolchain::Nvcc => label.to_owned(),
        other => format!("{label}, {}", other.name()),
    }
}

/// What pages say of the PTX that their rows are of.
pub(crate) const OF_PTX: &str = "\
Rows are of nvcc's PTX, as all that is said of them is, unless they name another: `nvcc32` is the
same with 32-bit addresses, `clang` another compiler's, `clang32` that with 32-bit addresses
(DEV-075, DEV-076).
";

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

/// What this many reads that hit the write pool of `warrf` cost more at the price of a bank
/// (`pool_read_energy = "bank"`): pages take the energy of such designs from the counts of others,
/// as a test does with a run. Unit: femtojoules.
pub(crate) fn dearer(reads: u64) -> f64 {
    let table = design::resolve("warrf").expect("the design exists").energy.expect("it is known");
    let pool = table.level(Level::WritePool).expect("it has one");
    let more = table.mrf.bank.read.0 - pool.operand().0;
    // An access of a warp is one of each of its clusters.
    (reads * u64::from(CLUSTERS) * more) as f64
}

/// The path of a document, from the repository's root.
fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Compares a part of a document with what is committed between `<!-- begin: NAME -->` and
/// `<!-- end: NAME -->`, or writes it there where that is asked for.
pub(crate) fn hold_block(file: &str, name: &str, block: &str) {
    println!("{block}");
    let text = std::fs::read_to_string(document(file)).expect("it is committed");
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let start = text.find(&begin).expect("the block begins") + begin.len();
    let length = text[start..].find(&end).expect("the block ends");
    if crate::switch::is_on("STRATA_BLESS") {
        let (before, after) = (&text[..start], &text[start + length..]);
        std::fs::write(document(file), format!("{before}{block}{after}")).expect("it is written");
        return;
    }
    assert!(
        text[start..start + length] == *block,
        "{file} is out of date at `{name}`; `STRATA_BLESS=1 cargo test -p strata-tests --test shape` \
         renews it"
    );
}

/// Compares a page with what is committed under `docs/results`, or writes it where that is asked
/// for.
pub(crate) fn hold_page(name: &str, page: &str) {
    println!("{page}");
    let path = document("docs/results").join(name);
    if crate::switch::is_on("STRATA_BLESS") {
        std::fs::write(&path, page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == committed,
        "docs/results/{name} is out of date; the first lines of this test's file say how to renew it"
    );
}
