//! What naming the levels of the dissertation's compiler-managed hierarchies costs (6.5.5, Figure
//! 6.18) on our workloads.
//!
//! The tables are written to `docs/results/dissertation-encoding.md`; the test compares them with
//! what is committed there, so that no number moves unseen, and asserts what must hold. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

mod ptx;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_design as design;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_study::study::encoding::{Encoding, Scheme, Study, run};
use strata_workload as workload;

use crate::orders::{OF_THE_DISSERTATION, by_order};
use crate::reports::hold_page;

/// Kinds of last result file, as in a design's name.
const FILES: [&str; 3] = ["", "-lrf-unified", "-lrf-split"];
/// Entries of the operand register file that the dissertation sweeps.
const ENTRIES: std::ops::RangeInclusive<u8> = 1..=8;
/// Bits of a specifier: 63 registers and 255.
const WIDTHS: [u32; 2] = [6, 8];
/// What the chip model takes of the chip's dynamic power: the SMs' 70 %, of which the register file
/// has 15 %; and at most 0.3 % for a bit.
const REGISTER_FILES: f64 = 10.5;
const BIT: f64 = 0.3;
/// By how much the restrictions raise energy in Figure 6.18, for a split last result file and 3
/// entries. Unit: percent.
const PRINTED: [&str; 4] = ["", "", "2", "7"];

fn name(entries: u8, file: &str) -> String {
    format!("diss-orf{entries}{file}")
}

/// Every workload at its small size, by design and width.
static STUDIES: LazyLock<BTreeMap<(String, u32), Study>> = LazyLock::new(|| {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid");
    let load = |name| subject::workload(name, &args, &Silent).expect("the workload loads");
    let workloads: Vec<_> = workload::names().map(load).collect();
    let three = FILES.map(|file| name(3, file));
    let split = ENTRIES.map(|entries| name(entries, FILES[2]));
    let mut studies = BTreeMap::new();
    for design in three.into_iter().chain(split) {
        let found = design::resolve(&design).expect("the design exists");
        for bits in WIDTHS {
            let study = run(&workloads, &found, bits, &request, 0, &Silent);
            studies.insert((design.clone(), bits), study.expect("every workload runs"));
        }
    }
    studies
});

fn study(entries: u8, file: &str, bits: u32) -> &'static Study {
    &STUDIES[&(name(entries, file), bits)]
}

fn known(value: Option<f64>) -> f64 {
    value.expect("the design has energies, and kernels make accesses")
}

#[test]
fn the_committed_page_of_encodings_holds_these_numbers() {
    hold_page("dissertation-encoding.md", &page());
}

/// The study's energies are those of designs that a run is asked for by name.
#[test]
fn energies_are_those_of_the_restricted_designs() {
    let study = study(3, FILES[2], 6);
    let suffixes = ["", "-noreadoperands"]
        .into_iter()
        .flat_map(|reads| ["", "-samename", "-duallrf", "-onelevel"].map(|dual| [reads, dual]));
    let designs: Vec<_> = suffixes
        .map(|suffix| design::resolve(&(name(3, FILES[2]) + &suffix.concat())).expect("a design"))
        .collect();
    assert_eq!(designs.len(), study.schemes.len());
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid");
    for (place, name) in workload::names().enumerate() {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        let reports = measure::reports(&workload, &designs, &request, &Silent);
        for (report, scheme) in reports.expect("it runs").iter().zip(&study.schemes) {
            let energy = report.energy_fj.as_ref().expect("known")["total"];
            let input = &scheme.inputs[place];
            assert_eq!((&*input.input, input.energy_fj), (name, energy), "{}", report.design);
        }
    }
}

/// The chip model's shares, recomputed from the energies and the bits.
#[test]
fn the_net_is_what_is_saved_less_what_the_bits_cost() {
    let close = |a: f64, b: f64| (a - b).abs() < 2e-4;
    for study in STUDIES.values() {
        for scheme in &study.schemes {
            let saved = scheme.inputs.iter().map(|input| {
                (1.0 - input.energy_fj as f64 / input.flat_energy_fj as f64) * REGISTER_FILES
            });
            let saved = saved.sum::<f64>() / scheme.inputs.len() as f64;
            let told = known(scheme.chip_saved_percent);
            assert!(close(saved, told), "{}: {saved} and {told}", study.design);
            for encoding in [&scheme.unchanged, &scheme.for_kernels, &scheme.for_all] {
                let cost = f64::from(encoding.extra_bits) * BIT;
                assert!(close(cost, known(encoding.cost_percent)), "{encoding:?}");
                let most = u32::from(most(study));
                assert_eq!(encoding.net_percent.is_none(), most > encoding.registers);
                assert!(encoding.net_percent.is_none_or(|net| close(net, saved - cost)));
            }
        }
    }
}

/// Registers of the kernel that has most.
fn most(study: &Study) -> u16 {
    study.kernels.iter().map(|kernel| kernel.registers).max().expect("there are kernels")
}

/// Figure 6.18, and what the text says of the names.
#[test]
fn restrictions_cost_energy_and_spare_names() {
    let study = study(3, FILES[2], 6);
    let rises: Vec<f64> =
        study.schemes[..4].iter().map(|scheme| known(scheme.energy_rise_percent)).collect();
    println!("rises: {rises:.2?} %; paper: baseline, not measured, 2, 7");
    assert!(rises.is_sorted() && rises[0] == 0.0, "{rises:?}, paper 0, -, 2, 7");
    for study in STUDIES.values() {
        for half in study.schemes.chunks(4) {
            let of = |value: fn(&Scheme) -> u32| half.iter().map(value).collect::<Vec<_>>();
            let (left, bits) = (of(|s| s.unchanged.registers), of(|s| s.for_all.extra.destination));
            assert!(left.is_sorted(), "{}: {left:?} registers left", study.design);
            assert!(bits.is_sorted_by(|a, b| a >= b), "{}: {bits:?} bits", study.design);
        }
        // Without pairs the partition takes a handful of names, and no kernel of ours needs them.
        let last = study.schemes.last().expect("there are schemes");
        let taken = study.registers - last.unchanged.registers;
        assert!(taken <= 11 && last.unchanged.spilling.is_empty(), "{}: {taken}", study.design);
        assert!(known(last.unchanged.net_percent) > 2.5, "{}", study.design);
    }
}

/// What the page says beneath its tables.
#[test]
fn wide_names_are_free_and_narrow_ones_are_best_without_pairs() {
    for file in FILES {
        let (narrow, wide) = (study(3, file, 6), study(3, file, 8));
        let spills = |scheme: &Scheme| !scheme.unchanged.spilling.is_empty();
        assert_eq!(wide.schemes.iter().any(spills), file == FILES[2], "{}", wide.design);
        let any = &wide.schemes[0].unchanged;
        assert!(file != FILES[2] || any.registers == 35 && most(wide) == 37, "{any:?}");
        let best = best(narrow);
        let told = format!("{}: {}, {}", narrow.design, best.dual_writes, best.read_operands);
        assert!(best.dual_writes == "none" && !best.read_operands, "{told}");
        let least = narrow.schemes.iter().map(|scheme| known(scheme.energy_relative_percent));
        let own = known(best.energy_relative_percent);
        assert!(least.into_iter().all(|energy| energy <= own), "{told} needs {own} %");
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Naming the levels of the dissertation's compiler-managed hierarchies\n\n\
         What a partition of the register names costs ([DISS] 6.5.5), on the twelve workloads at their\n\
         small size, in the order of the PTX; `strata study encoding` shows the same for other inputs and designs. Names are\n\
         counted by DEV-049. A bit costs at most 0.3 % of the chip's dynamic power (4.4.2), of which\n\
         register files have 10.5 %. This page is checked by `cargo test -p strata-tests --test shape`.\n",
    );
    names_table(&mut page);
    for (file, told) in FILES.into_iter().zip(["no", "a unified", "a split"]) {
        for bits in WIDTHS {
            let registers = study(3, file, bits).registers;
            let _ = writeln!(
                page,
                "\n## 3 entries and {told} LRF, {registers} registers\n\n\
                 Specifiers as they are ({bits} bits), as wide as our kernels need, and as wide as all\n\
                 registers need.\n"
            );
            schemes_table(&mut page, study(3, file, bits), file == FILES[2]);
        }
    }
    sizes_table(&mut page);
    page.push_str(&ptx::section());
    page.push_str(REMARKS);
    let designs = ["diss-orf3", "diss-orf3-lrf-unified", "diss-orf3-lrf-split"];
    page.push_str(&by_order(&designs, "dissertation", OF_THE_DISSERTATION));
    page
}

const REMARKS: &str = "
## What it means

- With 8 bits, which name 255 registers, the partition takes names that our kernels do not use, as the
  dissertation says of its own: without an LRF and with a unified one every kind of pair fits, and the
  strand's end is the only cost. With a split one and any pairs 35 registers remain, and one kernel
  needs 37.
- With 6 bits pairs do not fit. By the upper bound of 0.3 % for a bit it is then best for the chip to
  write each result to one level and to leave no operand above by a first read, although the register
  file needs most energy so: no restriction costs the chip as much as a bit in each specifier.
- Operands that a first read leaves above need a pair in each *source* specifier, of which the
  dissertation says nothing; its \"only slight pressure\" holds without them.
";

fn names_table(page: &mut String) {
    page.push_str(
        "\n## Names of a specifier\n\n3 entries, all registers; in brackets, how many registers remain if \
         the specifier keeps\nits bits.\n\n\
         | operand | in pairs with a register | no LRF, 63 | unified, 63 | split, 63 | no LRF, 255 | \
         unified, 255 | split, 255 |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let of = |bits| FILES.map(|file| &study(3, file, bits).specifiers);
    let all: Vec<_> = WIDTHS.into_iter().flat_map(of).collect();
    for (row, first) in all[0].iter().enumerate() {
        let _ = write!(page, "| {} | {} |", first.operand, first.pairs);
        for specifiers in &all {
            let names = &specifiers[row];
            let _ =
                write!(page, " {}: {} bits ({}) |", names.total, names.bits, names.registers_left);
        }
        page.push('\n');
    }
    page.push_str(
        "\nPaper: one bit of a specifier controls writes to a unified LRF as well as to the MRF; more is\n\
         needed for a split one.\n",
    );
}

fn schemes_table(page: &mut String, study: &Study, printed: bool) {
    let _ = writeln!(
        page,
        "| results in pairs | first reads | rise | paper | saved | registers left | kernels that spill | \
         net | bits for kernels | net | bits for all | net |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let net = |encoding: &Encoding| {
        encoding.net_percent.map_or_else(|| "-".to_owned(), |net| format!("{net:.2}"))
    };
    for (row, scheme) in study.schemes.iter().enumerate() {
        let (unchanged, kernels, all) = (&scheme.unchanged, &scheme.for_kernels, &scheme.for_all);
        let paper = PRINTED.get(row).filter(|_| printed).unwrap_or(&"");
        let _ = writeln!(
            page,
            "| {} | {} | {:.1} | {paper} | {:.2} | {} | {} | {} | {} | {} | {} | {} |",
            scheme.dual_writes,
            if scheme.read_operands { "yes" } else { "no" },
            known(scheme.energy_rise_percent),
            known(scheme.chip_saved_percent),
            unchanged.registers,
            unchanged.spilling.len(),
            net(unchanged),
            kernels.extra_bits,
            net(kernels),
            all.extra_bits,
            net(all),
        );
    }
    let (wide, apart) = study.kernels.iter().fold((0, 0), |(wide, apart), kernel| {
        (wide + kernel.wide_operands, apart + kernel.wide_operands_apart)
    });
    let _ = writeln!(
        page,
        "\nRise: register file energy in percent of that of the first row, less 100. Saved, net: percent\n\
         of the chip's dynamic power, {} kernels of up to {} registers. {apart} of their {wide} wide\n\
         operands lie apart, so that no single name can say where; neither here nor in the\n\
         dissertation (6.2.2) is that paid for.",
        study.kernels.len(),
        most(study),
    );
}

fn sizes_table(page: &mut String) {
    page.push_str(
        "\n## By size\n\nSplit LRF: the way of naming that leaves most for the chip, with specifiers as wide \
         as our\nkernels need.\n\n\
         | entries | 63 registers: pairs | first reads | bits | net | 255 registers: pairs | first reads | \
         bits | net |\n| ---: | --- | --- | ---: | ---: | --- | --- | ---: | ---: |\n",
    );
    for entries in ENTRIES {
        let _ = write!(page, "| {entries} |");
        for bits in WIDTHS {
            let best = best(study(entries, FILES[2], bits));
            let reads = if best.read_operands { "yes" } else { "no" };
            let Encoding { extra_bits, net_percent, .. } = &best.for_kernels;
            let net = known(*net_percent);
            let _ = write!(page, " {} | {reads} | {extra_bits} | {net:.2} |", best.dual_writes);
        }
        page.push('\n');
    }
}

/// What leaves most for the chip, with specifiers as wide as the kernels need; of equals the most
/// restricted.
fn best(study: &Study) -> &Scheme {
    let net = |scheme: &&Scheme| known(scheme.for_kernels.net_percent);
    study.schemes.iter().max_by(|a, b| net(a).total_cmp(&net(b))).expect("there are schemes")
}
