//! Exact figures: what follows from the papers' parameters alone, computed beside what is printed.
//!
//! The list is that of `data/papers.toml`; the computations go through the functions that the
//! product itself uses, so that a wrong table or formula fails here.

mod context;
mod contradictions;
mod expars;
mod figures;
mod fixed;
mod machines;
mod numbers;
mod papers;
mod pool_reads;
pub mod printed;
mod product;
mod storage;
mod storage_energy;
mod warrf;

use context::Context;
pub use numbers::Item;
use numbers::items;
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
