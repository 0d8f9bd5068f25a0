//! The papers' claims beside our numbers: one table, written to `docs/results/claims.md`.
//!
//! The test compares the page with what is committed, so that no number moves unseen. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use strata::claims::{self, Compared};
use strata::cli::Mode;

use crate::orders::ORDERS;
use crate::reports::{Reports, hold_page};

/// In each order of instructions: the same claims, in the same order.
static COMPARED: LazyLock<[Vec<Compared>; 3]> = LazyLock::new(|| {
    ORDERS.map(|order| {
        let [counted, timed] = [Mode::Count, Mode::Cycle].map(|mode| {
            let designs = claims::designs(mode).expect("the designs are possible");
            Reports::in_order(order, mode, &designs).0
        });
        claims::compare(&counted, &timed).expect("every number is measured")
    })
});

#[test]
fn the_committed_page_of_the_claims_holds_these_numbers() {
    hold_page("claims.md", &page());
}

/// What differs, in words.
const PROSE: &str = "../DEVIATIONS.md#our-results-beside-the-papers-claims";

/// The papers' conclusions, as far as ours depend on no order of instructions.
#[test]
fn most_trends_hold() {
    for (order, claims) in ORDERS.iter().zip(&*COMPARED) {
        let held = claims.iter().filter(|claim| claim.holds).count();
        assert!(2 * held > claims.len(), "{order:?}: {held} of {}", claims.len());
    }
}

/// A link to a deviation: its heading as an anchor.
fn link(headings: &str, deviation: &str) -> String {
    let start = format!("## {deviation}:");
    let heading = headings.lines().find(|line| line.starts_with(&start));
    let heading = heading.unwrap_or_else(|| panic!("{deviation} has no heading"));
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let anchor: String = heading[3..].to_lowercase().chars().filter(kept).collect();
    format!("[{deviation}](../DEVIATIONS.md#{})", anchor.replace(' ', "-"))
}

fn number(claim: &Compared) -> String {
    format!("{:.*}", claim.decimals, claim.ours)
}

/// Whether the trend holds, or in which orders.
fn holds(place: usize) -> String {
    let holding: Vec<_> = ORDERS
        .iter()
        .zip(&*COMPARED)
        .filter(|(_, claims)| claims[place].holds)
        .map(|(order, _)| format!("`{}`", order.name()))
        .collect();
    match holding.len() {
        0 => "no".to_owned(),
        all if all == ORDERS.len() => "yes".to_owned(),
        _ => holding.join(", "),
    }
}

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/DEVIATIONS.md");
    let headings = std::fs::read_to_string(root).expect("it is committed");
    let mut page = String::from(
        "# The papers' claims and our numbers\n\n\
         The papers measured them on their own workloads: 210 traces of NVIDIA's machine code\n\
         ([RFC2011] 4), CUDA kernels ([DISS]), and those of [WARRF]. Ours are means over the suite's\n\
         twelve workloads at their small size, each workload counting once, in percent or the paper's\n\
         own unit, in three orders of instructions (`--order`): the traces were scheduled by a compiler.\n\
         Small sizes have few CTAs; [active-warps.md](active-warps.md) has IPC for larger ones, with which\n\
         round robin gains on the mean.\n\
         Nothing is tuned to a claim. `data/papers.toml` has what is printed; `claims` in the command\n\
         line's library names the number of ours that stands beside it. This page is checked by\n\
         `cargo test -p strata-tests --test shape`.\n\n\
         *Difference*: how far the number in PTX order lies outside of the paper's range. *Trend holds*:\n\
         by the rule beside it, in every order, or in those that are named. *Why*: the entry of\n\
         DEVIATIONS.md that says what differs, or its section in prose.\n\n\
         | claim | paper | printed | ptx | scheduled | scheduled-renamed | difference | trend holds | rule | why |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- | --- |\n",
    );
    for (place, claim) in COMPARED[0].iter().enumerate() {
        let numbers = COMPARED.each_ref().map(|claims| number(&claims[place]));
        let difference = claim.difference.map_or_else(
            || "-".to_owned(),
            |difference| format!("{difference:+.*}", claim.decimals),
        );
        let why = match claim.deviation {
            Some(deviation) => link(&headings, deviation),
            None if holds(place) == "yes" => String::new(),
            None => format!("[prose]({PROSE})"),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {difference} | {} | {} | {why} |",
            claim.what,
            claim.paper,
            claim.printed,
            numbers.join(" | "),
            holds(place),
            claim.rule,
        );
    }
    let held = |claims: &[Compared]| claims.iter().filter(|claim| claim.holds).count();
    let held = COMPARED.each_ref().map(|claims| held(claims).to_string());
    let _ = writeln!(
        page,
        "\nOf {} claims the trend holds for {} in PTX order, {} scheduled and {} renamed as well.",
        COMPARED[0].len(),
        held[0],
        held[1],
        held[2]
    );
    page
}
