//! The comparison as a table and as columns.

use std::fmt::Write as _;

use super::{Comparison, RATIOS, Statistic};
use crate::columns::{Cell, Columns};
use crate::text_table::TextTable;

/// A line for each input and design; ratios that nothing is known of are left out, and said.
pub fn to_table(comparison: &Comparison) -> String {
    let Comparison { baseline, seeds, lines, .. } = comparison;
    let known: Vec<usize> = (0..RATIOS.len())
        .filter(|&ratio| lines.iter().any(|line| line.ratios()[ratio].is_some()))
        .collect();
    let mut table = TextTable::new();
    let mut header = vec!["input".to_owned(), "design".to_owned()];
    header.extend(known.iter().map(|&ratio| RATIOS[ratio].0.replace('_', "\n")));
    table.set_header(header);
    for line in lines {
        let mut cells = vec![line.workload.clone(), line.design.clone()];
        cells.extend(known.iter().map(|&ratio| cell(line.ratios()[ratio])));
        table.add_row(cells);
    }
    table.right_from(2);
    let over = match seeds.len() {
        0 => String::new(),
        1 => ", 1 seed".to_owned(),
        count => format!(", {count} seeds: mean \u{b1} standard deviation"),
    };
    let mut text = format!("{baseline} over each design, above 1 is better{over}\n{table}\n\n");
    for (ratio, (name, what)) in RATIOS.iter().enumerate() {
        let unknown = if known.contains(&ratio) { "" } else { " (not known here)" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {what}{unknown}");
    }
    text
}

fn cell(ratio: Option<Statistic>) -> String {
    match ratio {
        None => "-".to_owned(),
        Some(Statistic { mean, deviation: None }) => format!("{mean:.3}"),
        Some(Statistic { mean, deviation: Some(deviation) }) => {
            format!("{mean:.3} \u{b1} {deviation:.3}")
        }
    }
}

/// The columns without rows.
pub fn no_columns() -> Columns {
    let labels = ["workload", "design", "baseline", "mode", "seeds"].map(str::to_owned);
    let ratio = |(name, _): &(&str, &str)| [(*name).to_owned(), format!("{name}_deviation")];
    Columns::new(labels.into_iter().chain(RATIOS.iter().flat_map(ratio)))
}

/// A row for each input and design, with a column for each mean and each standard deviation.
pub fn to_columns(comparison: &Comparison) -> Columns {
    let mut columns = no_columns();
    for line in &comparison.lines {
        let labels = [&line.workload, &line.design, &comparison.baseline, &comparison.mode];
        let mut row: Vec<Option<Cell>> = labels.map(|label| Some(label.into())).to_vec();
        row.push(Some((comparison.seeds.len().max(1) as u64).into()));
        for ratio in line.ratios() {
            row.push(ratio.map(|ratio| ratio.mean.into()));
            row.push(ratio.and_then(|ratio| ratio.deviation).map(Cell::Real));
        }
        columns.rows.push(row);
    }
    columns
}
