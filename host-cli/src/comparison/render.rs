//! The comparison as a table and as CSV.

use std::fmt::Write as _;

use super::{Comparison, RATIOS, Statistic};
use crate::report::csv::field;
use crate::report::table::{align, new_table};

/// A line for each input and design; ratios that nothing is known of are left out, and said.
pub fn to_table(comparison: &Comparison) -> String {
    let Comparison { baseline, seeds, lines, .. } = comparison;
    let known: Vec<usize> = (0..RATIOS.len())
        .filter(|&ratio| lines.iter().any(|line| line.ratios()[ratio].is_some()))
        .collect();
    let mut table = new_table();
    let mut header = vec!["input".to_owned(), "design".to_owned()];
    header.extend(known.iter().map(|&ratio| RATIOS[ratio].0.replace('_', "\n")));
    table.set_header(header);
    for line in lines {
        let mut cells = vec![line.workload.clone(), line.design.clone()];
        cells.extend(known.iter().map(|&ratio| cell(line.ratios()[ratio])));
        table.add_row(cells);
    }
    align(&mut table);
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

/// A line for each input and design, with a column for each mean and each standard deviation.
pub fn to_csv(comparison: &Comparison) -> String {
    let mut text = String::from("workload,design,baseline,mode,seeds");
    for (name, _) in RATIOS {
        // Writing to a string cannot fail.
        let _ = write!(text, ",{name},{name}_deviation");
    }
    text.push('\n');
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for line in &comparison.lines {
        let labels = [&line.workload, &line.design, &comparison.baseline, &comparison.mode];
        let labels: Vec<_> = labels.iter().map(|label| field(label)).collect();
        let _ = write!(text, "{},{}", labels.join(","), comparison.seeds.len().max(1));
        for ratio in line.ratios() {
            let deviation = ratio.and_then(|ratio| ratio.deviation);
            let _ =
                write!(text, ",{},{}", number(ratio.map(|ratio| ratio.mean)), number(deviation));
        }
        text.push('\n');
    }
    text
}
