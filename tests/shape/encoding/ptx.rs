//! What naming the levels costs with each toolchain's PTX beside each other.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design as design;
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::subject;
use strata_study::study::encoding::{Study, run};
use strata_workload::{self as workload, Toolchain};

use super::{FILES, WIDTHS, best, known, most, name};
use crate::reports::source;

/// Every workload at its small size with 3 entries, by kind of last result file, width of a
/// specifier and toolchain.
static STUDIES: LazyLock<[[[Study; 4]; 2]; 3]> = LazyLock::new(|| {
    FILES.map(|file| {
        let design = design::resolve(&name(3, file)).expect("the design exists");
        WIDTHS.map(|bits| {
            Toolchain::ALL.map(|toolchain| {
                let args = source(toolchain);
                let request = Request::new(&args).expect("the options are valid");
                let load =
                    |name| subject::workload(name, &args, &Silent).expect("the workload loads");
                let workloads: Vec<_> = workload::names().map(load).collect();
                let study = run(&workloads, &design, bits, &request, 0, &Silent);
                study.expect("every workload runs")
            })
        })
    })
});

/// The section of the page.
pub(super) fn section() -> String {
    let mut text = String::from(
        "\n## Other PTX\n\n\
         3 entries. All else on this page is of nvcc's PTX with 64-bit addresses: `nvcc32` is the same with\n\
         32-bit addresses, `clang` another compiler's, `clang32` that with 32-bit addresses (DEV-075,\n\
         DEV-076). *Rise*: as above, with results in pairs as named, with first reads. *Best*: what leaves\n\
         most for the chip, with specifiers as wide as our kernels need.\n\n\
         | LRF | PTX | most registers | wide operands, apart | saved | rise: from name | LRF only | none | \
         63: best pairs | bits | net | 255: best pairs | bits | net |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |\n",
    );
    for (file, told) in STUDIES.iter().zip(["none", "unified", "split"]) {
        for (place, toolchain) in Toolchain::ALL.into_iter().enumerate() {
            let study = &file[0][place];
            let (wide, apart) = study.kernels.iter().fold((0, 0), |(wide, apart), kernel| {
                (wide + kernel.wide_operands, apart + kernel.wide_operands_apart)
            });
            let _ = write!(
                text,
                "| {told} | {} | {} | {wide}, {apart} | {:.2} |",
                toolchain.name(),
                most(study),
                known(study.schemes[0].chip_saved_percent),
            );
            for scheme in &study.schemes[1..4] {
                let _ = write!(text, " {:.1} |", known(scheme.energy_rise_percent));
            }
            for width in file {
                let scheme = best(&width[place]);
                let encoding = &scheme.for_kernels;
                let reads = if scheme.read_operands { ", first reads" } else { "" };
                let _ = write!(
                    text,
                    " {}{reads} | {} | {:.2} |",
                    scheme.dual_writes,
                    encoding.extra_bits,
                    known(encoding.net_percent)
                );
            }
            text.push('\n');
        }
    }
    text
}

/// Restrictions cost energy in the paper's order whatever the PTX, and 32-bit addresses leave fewer
/// wide operands.
#[test]
fn restrictions_keep_their_order_whatever_the_ptx() {
    for file in STUDIES.iter() {
        for [nvcc, nvcc32, clang, clang32] in file {
            for study in [nvcc, nvcc32, clang, clang32] {
                let rises = study.schemes[..4].iter();
                let rises: Vec<f64> = rises.map(|it| known(it.energy_rise_percent)).collect();
                assert!(rises.is_sorted() && rises[0] == 0.0, "{}: {rises:?}", study.design);
            }
            let wide = |study: &Study| study.kernels.iter().map(|it| it.wide_operands).sum::<u32>();
            for (wider, narrower) in [(nvcc, nvcc32), (clang, clang32)] {
                assert!(wide(narrower) * 2 < wide(wider), "{}: {}", wider.design, wide(narrower));
            }
        }
    }
}
