//! Figures: our curves beside what a paper prints, independent of how they are drawn.

use strata_files::failure::Failure;
use strata_report::columns::{Cell, Columns};
use strata_study::exact;
use strata_study::exact::Number;

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line through points: the axis has an order.
    Lines,
    /// Bars beside each other.
    Bars,
    /// Bars on top of each other, of which each is a part of a whole.
    Stacked,
}

/// Some values over the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// A value for each place of the axis; none where there is none.
    pub values: Vec<Option<f64>>,
    /// Standard deviations of the values, if they are means.
    pub deviations: Option<Vec<Option<f64>>>,
    /// Whether a paper prints it, and we do not compute it.
    pub printed: bool,
}

impl Series {
    /// Our values.
    pub fn ours(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values = values.into_iter().collect();
        Self { name: name.into(), values, deviations: None, printed: false }
    }

    /// A paper's values.
    pub fn printed(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self { printed: true, ..Self::ours(name, values) }
    }
}

/// A value or range that a paper prints in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// What the paper says it of.
    pub what: String,
    /// The value as the paper says it.
    pub text: String,
    /// The first and the last place of the axis.
    pub places: [usize; 2],
    /// The least and the most, in the unit of the figure's values.
    pub range: [f64; 2],
}

impl Band {
    /// The number of a claim at these places of the axis; `unit` makes the figure's unit of it.
    ///
    /// # Errors
    /// A number that the papers' list does not have, or that has no range there.
    pub fn of(id: &str, places: [usize; 2], unit: fn(f64) -> f64) -> Result<Self, Failure> {
        let number = number(id)?;
        let Some(range) = number.range else {
            return Err(Failure::internal(&format!("the number `{id}` has no range")));
        };
        let [first, second] = range.map(unit);
        Ok(Self {
            what: number.what.clone(),
            text: number.printed.clone(),
            places,
            range: [first.min(second), first.max(second)],
        })
    }
}

/// A number of the papers' claims.
fn number(id: &str) -> Result<&'static Number, Failure> {
    let mut all = exact::claims().iter().flat_map(|claim| &claim.number);
    let missing = || Failure::internal(&format!("no claim has a number `{id}`"));
    all.find(|number| number.id == id).ok_or_else(missing)
}

/// A figure or table of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// The axis, with its unit.
    pub x: String,
    /// The values, with their unit.
    pub y: String,
    /// How it is drawn.
    pub kind: Kind,
    /// The places of the axis.
    pub ticks: Vec<String>,
    /// The values.
    pub series: Vec<Series>,
    /// What the paper prints in words.
    pub bands: Vec<Band>,
    /// How to read it, in a sentence or two.
    pub reading: String,
    /// A command that makes the numbers again; empty where the page's own does.
    pub command: String,
}

/// Decimals with which values are shown.
pub const DECIMALS: usize = 3;

impl Figure {
    /// Every value as a row, ours first.
    pub fn columns(&self) -> Columns {
        let header = ["series", "source", "x", "value", "deviation", "most"];
        let mut rows = Vec::new();
        for series in &self.series {
            for (place, (tick, value)) in self.ticks.iter().zip(&series.values).enumerate() {
                let deviation =
                    series.deviations.as_ref().and_then(|all| all.get(place).copied().flatten());
                rows.push(vec![
                    Some(Cell::Text(series.name.clone())),
                    Some(Cell::Text(if series.printed { "paper" } else { "strata" }.to_owned())),
                    Some(Cell::Text(tick.clone())),
                    value.map(rounded),
                    deviation.map(rounded),
                    None,
                ]);
            }
        }
        for band in &self.bands {
            for tick in &self.ticks[band.places[0]..=band.places[1]] {
                rows.push(vec![
                    Some(Cell::Text(band.what.clone())),
                    Some(Cell::Text("paper".to_owned())),
                    Some(Cell::Text(tick.clone())),
                    Some(rounded(band.range[0])),
                    None,
                    Some(rounded(band.range[1])),
                ]);
            }
        }
        Columns { header: header.map(str::to_owned).to_vec(), rows }
    }
}

/// Six decimals: more would be noise of the division.
fn rounded(value: f64) -> Cell {
    Cell::Real(strata_report::rounded(value))
}
