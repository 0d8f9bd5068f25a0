//! Exact figures: what follows from the papers' parameters alone, computed beside what is printed.
//!
//! The list is that of `data/papers.toml`; the computations go through the functions that the
//! product itself uses, so that a wrong table or formula fails here.

mod contradictions;
mod expars;
mod figures;
mod fixed;
mod machines;
mod papers;
mod pool_reads;
pub mod printed;
mod product;
mod storage;
mod storage_energy;
mod warrf;

use figures::Context;
pub use papers::{Claim, Number};
use papers::{Exact, papers};
use product::product;
use strata_core::sm::expansion::CtaNeeds;

/// Whether a figure comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Every number agrees to the printed precision.
    Pass,
    /// At least one does not.
    Fail,
    /// The model of this paper is not built yet.
    NotBuiltYet,
}

/// One number of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub label: String,
    /// Ours, to the printed precision.
    pub computed: String,
    /// The paper's.
    pub printed: String,
    /// What they may differ by. Unit: hundredths.
    tolerance: u128,
}

impl Item {
    /// Both are the same, or differ by no more than the tolerance.
    pub fn agrees(&self) -> bool {
        self.is_equal() || fixed::within(&self.computed, &self.printed, self.tolerance)
    }

    /// Both are the same.
    pub fn is_equal(&self) -> bool {
        self.computed == self.printed
    }
}

/// A number of the product, with the paper's where a table of the facts has it; otherwise the list
/// `printed` of the figure does.
struct Row {
    label: String,
    computed: String,
    beside: Option<String>,
}

impl Row {
    /// The figure's list has the paper's number.
    fn listed(label: impl Into<String>, computed: impl Into<String>) -> Self {
        Self { label: label.into(), computed: computed.into(), beside: None }
    }

    /// A table of the facts has it.
    fn beside(
        label: impl Into<String>,
        computed: impl Into<String>,
        printed: impl Into<String>,
    ) -> Self {
        Self { label: label.into(), computed: computed.into(), beside: Some(printed.into()) }
    }
}

/// What stands in place of a number that one side lacks: no number.
const NOTHING: &str = "nothing";

/// The rows with the papers' numbers. A number that is computed and not printed, or printed and not
/// computed, agrees with nothing.
fn items(figure: &Exact, rows: Vec<Row>) -> Vec<Item> {
    let tolerance = fixed::scaled(figure.tolerance, 2);
    let mut listed: Vec<_> = figure.printed.iter().collect();
    let mut items: Vec<Item> = rows
        .into_iter()
        .map(|Row { label, computed, beside }| {
            let place = listed.iter().position(|(listed, _)| *listed == label);
            let listed = place.map(|place| listed.remove(place).1.clone());
            let printed = match (beside, listed) {
                (Some(printed), None) | (None, Some(printed)) => printed,
                (None, None) | (Some(_), Some(_)) => NOTHING.to_owned(),
            };
            Item { label, computed, printed, tolerance }
        })
        .collect();
    items.extend(listed.into_iter().map(|(label, printed)| Item {
        label: label.clone(),
        computed: NOTHING.to_owned(),
        printed: printed.clone(),
        tolerance,
    }));
    items
}

/// A figure that must come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactResult {
    /// Its key.
    pub id: String,
    /// What it says.
    pub what: String,
    /// Its numbers; empty if it is not built yet.
    pub items: Vec<Item>,
    /// Whether all of them agree.
    pub status: Status,
}

impl ExactResult {
    /// Our numbers in one line, with their labels.
    pub fn computed(&self) -> String {
        join(&self.items, |item| &item.computed)
    }

    /// The paper's numbers in one line, with their labels.
    pub fn printed(&self) -> String {
        join(&self.items, |item| &item.printed)
    }
}

/// A figure that the papers' own parameters contradict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// Its key.
    pub id: String,
    /// What the paper prints.
    pub printed: String,
    /// What was found independently to follow from the parameters.
    pub expected: String,
    /// What follows from them here: label and number; `None` if it is not built yet.
    pub computed: Option<Vec<(String, String)>>,
}

/// Computes every figure that must come out, in the order of the list.
pub fn evaluate() -> Vec<ExactResult> {
    evaluated(Context { facts: papers(), product: product() })
}

fn evaluated(of: Context<'_>) -> Vec<ExactResult> {
    let evaluate = |figure: &Exact| {
        let items = figures::rows(&figure.id, of).map(|rows| items(figure, rows));
        let status = match &items {
            None => Status::NotBuiltYet,
            Some(items) if !items.is_empty() && items.iter().all(Item::agrees) => Status::Pass,
            Some(_) => Status::Fail,
        };
        ExactResult {
            id: figure.id.clone(),
            what: figure.what.clone(),
            items: items.unwrap_or_default(),
            status,
        }
    };
    of.facts.exact.iter().map(evaluate).collect()
}

/// The papers' claims, in the order of the list.
pub fn claims() -> &'static [Claim] {
    &papers().claim
}

/// Registers per thread of the columns of `[MICRO2012]` Table 1.
pub const PAPER_REGISTERS: [u16; 5] = [18, 24, 32, 40, 64];

/// A row of `[MICRO2012]` Table 1.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperRegisters {
    /// The workload.
    pub name: String,
    /// Registers per thread without spills.
    pub needed: u16,
    /// Dynamic instructions relative to that, for [`PAPER_REGISTERS`].
    pub relative: Vec<f64>,
}

/// The register columns of `[MICRO2012]` Table 1.
pub fn paper_registers() -> Vec<PaperRegisters> {
    let rows = &papers().tables.micro12.table1_workloads.rows;
    let row = |(name, needed, relative, ..): &papers::Table1Row| PaperRegisters {
        name: name.clone(),
        needed: *needed,
        relative: relative.clone(),
    };
    rows.iter().map(row).collect()
}

/// A kernel of `[EXPARS]` Table 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperKernel {
    /// Its short name.
    pub name: String,
    /// What a CTA needs.
    pub needs: CtaNeeds,
}

/// The kernels of `[EXPARS]` Table 3.
pub fn paper_kernels() -> Vec<PaperKernel> {
    let rows = papers().tables.expars.table3_benchmarks.rows.iter();
    rows.map(|row| PaperKernel { name: row.0.clone(), needs: expars::needs(row) }).collect()
}

/// Computes every contradiction, in the order of the list.
pub fn inconsistencies() -> Vec<Inconsistency> {
    contradicted(Context { facts: papers(), product: product() })
}

fn contradicted(of: Context<'_>) -> Vec<Inconsistency> {
    let contradict = |figure: &papers::Inconsistent| Inconsistency {
        id: figure.id.clone(),
        printed: figure.printed.clone(),
        expected: figure.computed.clone(),
        computed: contradictions::numbers(figure, of),
    };
    of.facts.inconsistent.iter().map(contradict).collect()
}

fn join(items: &[Item], value: impl Fn(&Item) -> &String) -> String {
    let texts: Vec<_> =
        items.iter().map(|item| format!("{}: {}", item.label, value(item))).collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests;
