//! Claims: numbers that the papers measured on their workloads, ours beside them, and whether the
//! trend holds. Nothing is ever fitted to them.
//!
//! `data/papers.toml` has what is printed; here are the numbers of ours that stand beside it, and
//! the rules by which they agree. Ours are means over the runs' workloads, each counting once.

mod measures;
mod numbers;

use crate::exact::{Number, claims};
pub use measures::Rule;
use measures::{Of, Value};
use numbers::{MEASURES, Measured};
use strata_config::ConfigError;
use strata_design::{Design, file, resolve};
use strata_measure::options::Mode;
use strata_report::RunReport;

/// A number of a paper beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The paper's key.
    pub paper: &'static str,
    /// What is measured.
    pub what: &'static str,
    /// What the paper says of it.
    pub printed: &'static str,
    /// Ours. Unit: percent, points of percent, or a plain number, as the paper's.
    pub ours: f64,
    /// How far ours lies outside of the paper's range: 0 inside. None where it says no number.
    pub difference: Option<f64>,
    /// By what rule the trend holds.
    pub rule: Rule,
    /// Whether it does.
    pub holds: bool,
    /// Decimals that the number has in print, at least one of a percentage.
    pub decimals: usize,
    /// The deviation that says why they differ, if one does.
    pub deviation: Option<&'static str>,
}

/// A design that no name of the registry is for: its name, and what its file says.
type Changed = (&'static str, &'static str);

/// Designs that count.
const COUNTED: &[&str] = &[
    "isca11",
    "dissertation",
    "isca11-rfc6",
    "isca11-rfc6-nolive",
    "isca11-rfc6-single",
    "isca11-rfc6-nolive-single",
    "isca11-rfc6-lru",
    "isca11-rfc6-bypass",
    "isca11-rfc6-backflush",
    "isca11-rfc8",
    "isca11-rfc13-single",
    "isca11-rfc13-single-reads",
    "diss-orf3-lrf-unified",
    "diss-orf3-lrf-split-noforward-noreadoperands-nopartial",
    "diss-orf3-lrf-split-noreadoperands-nopartial",
    "diss-orf3-lrf-split-nopartial",
    "diss-orf3-lrf-split-duallrf",
    "diss-orf3-lrf-split-onelevel",
];
/// Families of which every size counts.
const FAMILIES: [&str; 4] = [
    numbers::HARDWARE_TWO,
    numbers::HARDWARE_THREE,
    numbers::SOFTWARE_TWO,
    numbers::SOFTWARE_THREE,
];
/// Entries of their sizes.
const SIZES: std::ops::RangeInclusive<u8> = 1..=8;
const COUNTED_FILES: &[Changed] = &[(
    "isca11-rfc6-no-wires",
    "base = \"isca11-rfc6\"\n[wires]\nmrf_private = \"0 mm\"\nmrf_shared = \"0 mm\"\n\
     rfc_private = \"0 mm\"\nrfc_shared = \"0 mm\"\n",
)];
/// Designs in time.
const TIMED: &[&str] = &["isca11", "isca11-rfc6", "warrf-gtx480", "sttram", "sttram-sbw", "warrf"];
const TIMED_FILES: &[Changed] = &[
    ("isca11-active8", "base = \"isca11\"\nscheduling = \"two-level\"\nactive_warps = 8\n"),
    ("isca11-active6", "base = \"isca11\"\nscheduling = \"two-level\"\nactive_warps = 6\n"),
    ("isca11-active4", "base = \"isca11\"\nscheduling = \"two-level\"\nactive_warps = 4\n"),
    (
        "isca11-active4-alu4",
        "base = \"isca11\"\nscheduling = \"two-level\"\nactive_warps = 4\n\
         [latency_cycles]\nalu = 4\n",
    ),
    ("isca11-robin", "base = \"isca11\"\nscheduler = \"round-robin\"\n"),
    ("isca11-rfc6-no-tag-check", "base = \"isca11-rfc6\"\n[latency_cycles]\ntag_check = 0\n"),
    ("warrf-bank", "base = \"warrf\"\npool_read_energy = \"bank\"\n"),
];

/// The design of a family with this many entries.
fn sized(family: &str, entries: u8) -> String {
    family.replace("{}", &entries.to_string())
}

/// Every design that the claims need in a mode.
///
/// # Errors
/// None of the designs is impossible; a test resolves them all.
pub fn designs(mode: Mode) -> Result<Vec<Design>, ConfigError> {
    let (names, files, families) = match mode {
        Mode::Count => (COUNTED, COUNTED_FILES, &FAMILIES[..]),
        Mode::Cycle => (TIMED, TIMED_FILES, &[][..]),
    };
    let named = names.iter().map(|name| resolve(name));
    let sizes = families.iter().flat_map(|family| SIZES.map(|entries| sized(family, entries)));
    let sizes = sizes.map(|name| resolve(&name));
    let changed = files.iter().map(|(name, text)| file::parse(name, text));
    named.chain(sizes).chain(changed).collect()
}

/// Every number that the papers claim and our runs have, in the order of the papers' list.
///
/// `counted` and `timed` are reports of the same workloads under the [`designs`] of both modes.
/// None where a design is missing, or a ratio that every workload should have.
pub fn compare(counted: &[RunReport], timed: &[RunReport]) -> Option<Vec<Compared>> {
    let of = |claim: &'static crate::exact::Claim| {
        claim.number.iter().map(move |number| compared(&claim.paper, number, counted, timed))
    };
    claims().iter().flat_map(of).collect()
}

fn compared(
    paper: &'static str,
    number: &'static Number,
    counted: &[RunReport],
    timed: &[RunReport],
) -> Option<Compared> {
    let Measured { value, rule, deviation, .. } =
        MEASURES.iter().find(|measured| measured.id == number.id)?;
    let ours = ours(*value, counted, timed)?;
    // Beyond floating-point noise: a mean of equal numbers lies in their range.
    let outside = |[least, most]: [f64; 2]| {
        if ours < least - 1e-9 {
            ours - least
        } else if ours > most + 1e-9 {
            ours - most
        } else {
            0.0
        }
    };
    let difference = number.range.map(outside);
    Some(Compared {
        paper,
        what: &number.what,
        printed: &number.printed,
        ours,
        difference,
        rule: *rule,
        holds: rule.holds(ours, number.range),
        decimals: value.decimals(),
        deviation: *deviation,
    })
}

fn ours(value: Value, counted: &[RunReport], timed: &[RunReport]) -> Option<f64> {
    let mean = |of: Of| {
        let runs = if of.timed { timed } else { counted };
        let all: Option<Vec<f64>> = under(runs, of.design).map(|run| of.key.of(run)).collect();
        average(&all?)
    };
    let ratio = |own: Of, over: Of| {
        let runs = if own.timed { timed } else { counted };
        let both = under(runs, own.design).zip(under(runs, over.design));
        let all: Option<Vec<f64>> = both
            .map(|(own_run, other_run)| {
                debug_assert_eq!(own_run.workload, other_run.workload);
                let (own, over) = (own.key.of(own_run)?, over.key.of(other_run)?);
                (over != 0.0).then(|| 100.0 * own / over)
            })
            .collect();
        average(&all?)
    };
    let energy = |design: &str| {
        let key = measures::ENERGY;
        let all: Option<Vec<f64>> = under(counted, design).map(|run| key.of(run)).collect();
        average(&all?)
    };
    let best = |family: &str| -> Option<(u8, f64)> {
        let all = SIZES.map(|entries| Some((entries, energy(&sized(family, entries))?)));
        all.collect::<Option<Vec<_>>>()?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    };
    Some(match value {
        Value::Mean(of) => mean(of)?,
        Value::SavedIn(workload, design) => {
            let run = under(counted, design).find(|run| run.workload == workload)?;
            100.0 - measures::ENERGY.of(run)?
        }
        Value::Points(own, less) => mean(own)? - mean(less)?,
        Value::Share(own, of) => ratio(own, of)?,
        Value::Change(own, over) => ratio(own, over)? - 100.0,
        Value::EnergyChange(own, over) => 100.0 * energy(own)? / energy(over)? - 100.0,
        Value::MeanChange(own, over) => 100.0 * mean(own)? / mean(over)? - 100.0,
        Value::BestSize(family) => best(family)?.0.into(),
        Value::BestSaving(family) => 100.0 - best(family)?.1,
        Value::Efficiency(own, over) => 100.0 * best(over)?.1 / best(own)?.1 - 100.0,
    })
}

/// The runs of a design, in the order of the workloads.
fn under<'a>(runs: &'a [RunReport], design: &str) -> impl Iterator<Item = &'a RunReport> {
    runs.iter().filter(move |run| run.design == design)
}

/// None of no numbers.
fn average(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_number_is_measured_once_and_in_runs_that_there_are() {
        let printed = claims().iter().flat_map(|claim| &claim.number);
        let printed: Vec<_> = printed.map(|number| number.id.as_str()).collect();
        let measured: Vec<_> = MEASURES.iter().map(|measured| measured.id).collect();
        assert_eq!(printed, measured, "in the same order");
        assert_eq!(measured.iter().collect::<BTreeSet<_>>().len(), measured.len());
        let names = |mode| {
            let all = designs(mode).expect("all are possible");
            all.into_iter().map(|design| design.name).collect::<BTreeSet<_>>()
        };
        let (counted, timed) = (names(Mode::Count), names(Mode::Cycle));
        for Measured { id, value, .. } in MEASURES {
            for of in value.inputs() {
                let names = if of.timed { &timed } else { &counted };
                assert!(names.contains(of.design), "{id}: {}", of.design);
            }
        }
    }

    #[test]
    fn rules_hold_and_break() {
        let range = Some([40.0, 60.0]);
        for (rule, ours, range, holds) in [
            (Rule::Within(0.0), 40.0, range, true),
            (Rule::Within(0.0), 39.9, range, false),
            (Rule::Within(5.0), 65.0, range, true),
            (Rule::Within(5.0), 65.1, range, false),
            (Rule::Direction, 0.1, range, true),
            (Rule::Direction, -0.1, range, false),
            (Rule::Direction, 0.1, Some([-2.0, -1.0]), false),
            (Rule::HalfToTwice, 20.0, range, true),
            (Rule::HalfToTwice, 120.1, range, false),
            (Rule::HalfToTwice, -10.0, Some([-20.0, -10.0]), true),
            (Rule::HalfToTwice, -4.9, Some([-20.0, -10.0]), false),
            (Rule::AtLeast(95.0), 95.0, None, true),
            (Rule::AtMost(1.0), 1.1, None, false),
        ] {
            assert_eq!(rule.holds(ours, range), holds, "{rule:?}, {ours}, {range:?}");
        }
    }

    #[test]
    fn without_runs_nothing_is_compared() {
        assert_eq!(compare(&[], &[]), None);
    }
}
