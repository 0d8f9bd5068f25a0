//! Numbers with labels, and those of a figure beside the paper's.

use super::fixed;
use super::papers::Exact;

/// Labels and numbers of a contradiction.
pub(super) type Numbers = Vec<(&'static str, String)>;

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
pub(super) struct Row {
    label: String,
    computed: String,
    beside: Option<String>,
}

impl Row {
    /// The figure's list has the paper's number.
    pub(super) fn listed(label: impl Into<String>, computed: impl Into<String>) -> Self {
        Self { label: label.into(), computed: computed.into(), beside: None }
    }

    /// A table of the facts has it.
    pub(super) fn beside(
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
pub(super) fn items(figure: &Exact, rows: Vec<Row>) -> Vec<Item> {
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
