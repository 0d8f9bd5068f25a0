//! The difference as text.

use std::fmt::Write as _;

use super::{Count, Difference, Pair, WorkloadDifference};
use crate::text_table::TextTable;

/// Events of an input that are shown.
const SHOWN: usize = 12;

/// What changed, as tables.
pub fn to_table(difference: &Difference) -> String {
    let mut text = format!("from {} to {}\n", difference.from, difference.to);
    if !difference.parameters.is_empty() {
        let mut table = TextTable::new();
        table.set_header(["parameter", "from", "to"]);
        for changed in &difference.parameters {
            let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            table.add_row([changed.key.clone(), side(&changed.from), side(&changed.to)]);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{table}");
    }
    for workload in &difference.workloads {
        text += &of_workload(workload);
    }
    for workload in &difference.unmatched {
        let _ = writeln!(text, "\n{workload}: only on one side");
    }
    text
}

fn of_workload(workload: &WorkloadDifference) -> String {
    let mut text = format!("\n{}", workload.workload);
    for (what, pair, unit) in [
        ("energy", workload.energy_fj.map(nanojoules), " nJ"),
        ("cycles", workload.cycles.map(|pair| (pair, whole(pair))), ""),
    ] {
        if let Some((pair, [from, to])) = pair {
            let _ = write!(text, "; {what} {from} to {to}{unit} ({})", percent(pair));
        }
    }
    text.push('\n');
    if workload.events.is_empty() && workload.lines.is_empty() {
        return text + "nothing changed\n";
    }
    let priced = workload.events.iter().any(|event| event.energy_change_fj.is_some());
    let mut table = TextTable::new();
    let mut header = vec!["event", "", "from", "to", "change"];
    if priced {
        header.push("change, nJ");
    }
    table.set_header(header);
    for event in workload.events.iter().take(SHOWN) {
        let [from, to] = whole(event.count);
        let mut row =
            vec![event.name.clone(), String::new(), from, to, signed(event.count.change())];
        if priced {
            row.push(energy(event));
        }
        table.add_row(row);
    }
    table.right_from(2);
    let _ = writeln!(text, "{table}");
    if workload.events.len() > SHOWN {
        let _ = writeln!(text, "{} more events changed", workload.events.len() - SHOWN);
    }
    text + &lines(workload)
}

fn lines(workload: &WorkloadDifference) -> String {
    let Some(first) = workload.lines.first() else { return String::new() };
    let mut table = TextTable::new();
    let of = first.of.replace("_fj", ", fJ").replace('_', " ");
    table.set_header(["line", "PTX", "from", "to", &format!("change, {of}")]);
    for line in &workload.lines {
        let [from, to] = whole(line.value);
        let place = match &line.cuda {
            Some(cuda) => format!("{}:{} ({cuda})", line.kernel, line.ptx_line),
            None => format!("{}:{}", line.kernel, line.ptx_line),
        };
        table.add_row([place, line.ptx.clone(), from, to, signed(line.value.change())]);
    }
    table.right_from(2);
    format!("\n{table}\n")
}

fn whole(pair: Pair) -> [String; 2] {
    [pair.from.to_string(), pair.to.to_string()]
}

fn nanojoules(pair: Pair) -> (Pair, [String; 2]) {
    (pair, [pair.from, pair.to].map(|energy| format!("{:.1}", energy as f64 / 1e6)))
}

fn energy(event: &Count) -> String {
    let change = event.energy_change_fj;
    change.map_or_else(String::new, |change| format!("{:+.3}", change as f64 / 1e6))
}

fn signed(change: i128) -> String {
    format!("{change:+}")
}

fn percent(pair: Pair) -> String {
    if pair.from == 0 {
        return "from 0".to_owned();
    }
    format!("{:+.1} %", 100.0 * pair.change() as f64 / pair.from as f64)
}
