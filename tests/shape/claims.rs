//! The papers' claims beside our numbers: one table, written to `docs/results/claims.md`.
//!
//! The test compares the page with what is committed, so that no number moves unseen. Set
//! `STRATA_BLESS=1` to write the file again after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use strata_figures::reproduce::{ORDERS, Trends};
use strata_measure::notes::Silent;
use strata_measure::options::Scale;

use crate::reports::{hold_block, hold_page};

/// In each order of instructions: the same claims, in the same order.
static TRENDS: LazyLock<Trends> =
    LazyLock::new(|| Trends::measured(Scale::Small, 0, &Silent).expect("every number is measured"));

#[test]
fn the_committed_page_of_the_claims_holds_these_numbers() {
    hold_page("claims.md", &page());
}

/// What differs, in words.
const PROSE: &str = "../DEVIATIONS.md#our-results-beside-the-papers-claims";

/// The papers' conclusions, as far as ours depend on no order of instructions.
#[test]
fn most_trends_hold() {
    for (order, held) in ORDERS.iter().zip(TRENDS.held()) {
        let all = TRENDS.claims().len();
        assert!(2 * held > all, "{order:?}: {held} of {all}");
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

/// Whether the trend holds, or in which orders.
fn holds(place: usize) -> String {
    let holding = TRENDS.holding(place);
    match holding.len() {
        0 => "no".to_owned(),
        all if all == ORDERS.len() => "yes".to_owned(),
        _ => holding.iter().map(|order| format!("`{order}`")).collect::<Vec<_>>().join(", "),
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
    for (place, claim) in TRENDS.claims().iter().enumerate() {
        let why = match claim.deviation {
            Some(deviation) => link(&headings, deviation),
            None if holds(place) == "yes" => String::new(),
            None => format!("[prose]({PROSE})"),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {why} |",
            claim.what,
            claim.paper,
            claim.printed,
            TRENDS.numbers(place).join(" | "),
            TRENDS.difference(place),
            holds(place),
            claim.rule,
        );
    }
    let [ptx, scheduled, renamed] = TRENDS.held();
    let _ = writeln!(
        page,
        "\nOf {} claims the trend holds for {ptx} in PTX order, {scheduled} scheduled and {renamed} \
         renamed as well.",
        TRENDS.claims().len(),
    );
    page
}

/// What the README shows of each paper: the numbers that stand for it.
const HEADLINES: [&str; 12] = [
    "values read once",
    "6 entries, two levels: reads avoided",
    "6 entries, all warps: reads avoided",
    "liveness-aware bypass and eviction, 6 entries: accesses",
    "IPC with 8 of 32 warps active, of that of all",
    "energy with 8 active warps and 6 entries, no wires",
    "compiler, two levels: best number of entries",
    "reads for each instruction",
    "MRF reads for each instruction, split LRF, 3 entries",
    "STT-RAM instead of SRAM: IPC",
    "split bank writes in addition: IPC",
    "STT-RAM: energy",
];

#[test]
fn the_readme_shows_the_claims_that_stand_for_the_papers() {
    let mut table = String::from(
        "| claim | paper | printed | ours | trend holds |\n| --- | --- | --- | ---: | --- |\n",
    );
    for what in HEADLINES {
        let claims = TRENDS.claims();
        let place = claims.iter().position(|claim| claim.what == what);
        let place = place.unwrap_or_else(|| panic!("no claim `{what}`"));
        let (claim, [ours, ..]) = (&claims[place], TRENDS.numbers(place));
        let holds = holds(place);
        let _ =
            writeln!(table, "| {what} | {} | {} | {ours} | {holds} |", claim.paper, claim.printed);
    }
    hold_block("README.md", "claims", &table);
}
