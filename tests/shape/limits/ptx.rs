//! The limits with each toolchain's PTX beside each other.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design as design;
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::subject;
use strata_study::study::limits::{
    CLOCKS, FEWER_WARPS_PRINTED, Idealisation, ONLY_PRINTED, PAST_BRANCHES_PRINTED, Row,
    VARIABLE_PRINTED, rows,
};
use strata_workload::{self as workload, Toolchain};

use super::{
    DESIGN, OTHERS, STUDIES, attained, close, eight, five, limit, loops, mean, never, only,
    past_branches,
};
use crate::reports::{labelled, source};

/// Every workload at its small size under each limit of each design, by toolchain.
static BY_PTX: LazyLock<[[Vec<Row>; 3]; 3]> = LazyLock::new(|| {
    [Toolchain::Nvcc32, Toolchain::Clang, Toolchain::Clang32].map(|toolchain| {
        let args = source(toolchain);
        let request = Request::new(&args).expect("the options are valid");
        let load = |name| subject::workload(name, &args, &Silent).expect("the workload loads");
        let workloads: Vec<_> = workload::names().map(load).collect();
        [DESIGN, OTHERS[0], OTHERS[1]].map(|name| {
            let design = design::resolve(name).expect("the design exists");
            rows(&workloads, &design, &CLOCKS[..1], &request, 0, &Silent)
                .expect("every workload runs and computes what its reference does")
        })
    })
});

/// A limit: where the paper has it, what it prints, and the figure of a workload.
type Shown = (&'static str, &'static str, Option<i32>, fn(&Row) -> f64);

const SHOWN: [Shown; 10] = [
    ("6.6.1", "oracle, 8 active warps", Some(VARIABLE_PRINTED), |row| attained(row, 0)),
    ("6.6.1", "oracle, 6 active warps", Some(VARIABLE_PRINTED + FEWER_WARPS_PRINTED), |row| {
        attained(row, 1)
    }),
    ("6.6.2", "RFC past branches", Some(PAST_BRANCHES_PRINTED), past_branches),
    ("6.6.2", "ORF past branches", None, loops),
    ("6.6.3", "8 entries", Some(-9), eight),
    ("6.6.3", "5 entries", Some(-6), five),
    ("6.6.3", "close order", None, close),
    ("6.6.3", "never emptied", Some(-8), never),
    ("6.6.4", "LRF only", Some(ONLY_PRINTED[0]), |row| only(row, 0)),
    ("6.6.4", "5 entries only", Some(ONLY_PRINTED[1]), |row| only(row, 1)),
];

/// The rows of a design, by its place among all, for each toolchain.
fn by_toolchain(design: usize) -> [&'static [Row]; 4] {
    let [nvcc32, clang, clang32] = &*BY_PTX;
    [&STUDIES[design], &nvcc32[design], &clang[design], &clang32[design]]
}

/// The section of the page.
pub(super) fn section() -> String {
    let mut text = String::from(
        "\n## Other PTX\n\n\
         All else on this page is of nvcc's PTX with 64-bit addresses: `nvcc32` is the same with 32-bit\n\
         addresses, `clang` another compiler's, `clang32` that with 32-bit addresses (DEV-075, DEV-076).\n\n\
         | section | limit | paper | nvcc | nvcc32 | clang | clang32 |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (section, limit, printed, of) in SHOWN {
        let printed = printed.map_or_else(String::new, |printed| printed.to_string());
        let cells = by_toolchain(0).map(|rows| format!("{:.1}", mean(rows, of)));
        let _ = writeln!(text, "| {section} | {limit} | {printed} | {} |", cells.join(" | "));
    }
    let heads = SHOWN[..8].iter().map(|(_, limit, ..)| *limit).collect::<Vec<_>>().join(" | ");
    let figures = |of: &dyn Fn(fn(&Row) -> f64) -> f64| {
        SHOWN[..8].iter().map(|(.., figure)| format!("{:.1}", of(*figure))).collect::<Vec<_>>()
    };
    let _ = writeln!(
        text,
        "\nThe other designs, each against itself:\n\n| design | {heads} |\n| --- |{}",
        " ---: |".repeat(8)
    );
    for (place, design) in OTHERS.into_iter().enumerate() {
        for (toolchain, rows) in Toolchain::ALL.into_iter().zip(by_toolchain(place + 1)) {
            let cells = figures(&|figure| mean(rows, figure)).join(" | ");
            let _ = writeln!(text, "| {} | {cells} |", labelled(&format!("`{design}`"), toolchain));
        }
    }
    let _ = writeln!(
        text,
        "\n`{DESIGN}` by workload, with 32-bit addresses:\n\n| workload | {heads} |\n| --- |{}",
        " ---: |".repeat(8)
    );
    for row in by_toolchain(0)[1] {
        let cells = figures(&|figure| figure(row)).join(" | ");
        let _ = writeln!(text, "| {} | {cells} |", row.workload);
    }
    text
}

/// What holds of one compiler's PTX holds of the others': more entries save more, fewer warps leave
/// more for each, and whatever a deschedule or branch loses costs energy.
#[test]
fn limits_keep_their_order_whatever_the_ptx() {
    for (toolchain, rows) in Toolchain::ALL.into_iter().zip(by_toolchain(0)) {
        let own = |of: fn(&Row) -> f64| mean(rows, of);
        let at = format!("{toolchain:?}: {:.2?}", SHOWN.map(|(_, _, _, of)| own(of)));
        println!("{at}");
        assert!(own(eight) < own(five) && own(five) < -2.0, "{at}");
        assert!(own(never) < 0.0 && own(loops) < 0.0 && own(past_branches) < 0.0, "{at}");
        assert!(own(close) < 0.0 && own(close) > own(eight), "{at}");
        assert!(own(|row| attained(row, 1)) < own(|row| attained(row, 0)), "{at}");
        for row in rows {
            assert!(limit(row, Idealisation::Entries(8)) <= 0.0, "{}: {at}", row.workload);
        }
    }
}
