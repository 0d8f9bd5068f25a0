//! Exact figures: what follows from the papers' parameters alone, computed beside what is printed.
//!
//! The list is that of `data/papers.toml`; the computations go through the functions that the
//! product itself uses, so that a wrong table or formula fails here.

mod figures;
mod fixed;
mod papers;
mod pool_reads;
mod warrf;

pub use papers::Claim;
use papers::papers;

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
}

impl Item {
    fn new(
        label: impl Into<String>,
        computed: impl Into<String>,
        printed: impl Into<String>,
    ) -> Self {
        Self { label: label.into(), computed: computed.into(), printed: printed.into() }
    }

    /// Both are the same.
    pub fn agrees(&self) -> bool {
        self.computed == self.printed
    }
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
    papers()
        .exact
        .iter()
        .map(|figure| {
            let items = figures::exact(&figure.id);
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
        })
        .collect()
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

/// Computes every contradiction, in the order of the list.
pub fn inconsistencies() -> Vec<Inconsistency> {
    papers()
        .inconsistent
        .iter()
        .map(|figure| Inconsistency {
            id: figure.id.clone(),
            printed: figure.printed.clone(),
            expected: figure.computed.clone(),
            computed: figures::inconsistent(&figure.id),
        })
        .collect()
}

fn join(items: &[Item], value: impl Fn(&Item) -> &String) -> String {
    let texts: Vec<_> =
        items.iter().map(|item| format!("{}: {}", item.label, value(item))).collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_that_is_built_passes() {
        let results = evaluate();
        assert_eq!(results.len(), papers().exact.len());
        for id in [
            "rfc-storage",
            "table-consistency",
            "ideal-savings-percent",
            "chip-power",
            "bandwidth",
            "per-thread-storage",
        ] {
            let result = results.iter().find(|result| result.id == id).unwrap();
            let wrong: Vec<_> = result.items.iter().filter(|item| !item.agrees()).collect();
            assert_eq!(result.status, Status::Pass, "{id}: {wrong:?}");
            assert!(!result.computed().is_empty());
        }
        let failed = results.iter().filter(|result| result.status == Status::Fail);
        assert_eq!(failed.count(), 0);
    }

    #[test]
    fn a_figure_that_differs_fails() {
        assert!(!Item::new("x", "1.9", "2.0").agrees());
        assert_eq!(figures::exact("no-such-figure"), None);
    }

    #[test]
    fn contradictions_are_computed_as_they_were_found() {
        let all = inconsistencies();
        assert_eq!(all.len(), papers().inconsistent.len());
        let numbers = |id: &str| -> Vec<String> {
            let one = all.iter().find(|one| one.id == id).unwrap();
            let computed = one.computed.as_ref().unwrap();
            computed.iter().map(|(_, number)| number.clone()).collect()
        };
        assert_eq!(numbers("chip-power-54"), ["5.67 %", "8.1 %"]);
        assert_eq!(numbers("ideal-rfc-58"), ["56.7 %", "1.69", "1.91"]);
        assert_eq!(numbers("isca11-table5"), ["0.678", "0.652", "1.00", "1.00"]);
        assert_eq!(numbers("micro11-relative"), ["20.0 %", "43.5 %", "28.3 %"]);
        assert_eq!(numbers("warrf-area-68"), ["73.2 %", "67.3 %"]);
        assert_eq!(numbers("warrf-pool-reads"), ["1.85", "0.55", "-5.8 to 11.2 %", "22.5 %"]);
        let [needed, printed, milliwatts] = &numbers("warrf-leakage-unit")[..] else {
            panic!("three numbers")
        };
        assert_eq!([needed, printed, milliwatts], ["55 %", "0.05 %", "34.49 %"]);
        // Where the list has a sentence instead of numbers there is nothing to hold them against.
        for one in all.iter().filter(|one| one.id != "warrf-leakage-unit") {
            if let Some(computed) = &one.computed {
                for (label, number) in computed {
                    let bare = number.trim_end_matches(" %");
                    assert!(one.expected.contains(bare), "{} {label}: {number}", one.id);
                }
            }
        }
    }
}
