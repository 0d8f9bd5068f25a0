//! The event tables of `docs/MODEL.md` are the code's.

use strata_core::event::{EnergyClass, Event, SUMS};
use strata_core::level::Level;
use strata_core::sm::counters::{CycleEvent, StallReason};

use super::repository::{Repository, Violation};

/// The description of the model.
const MODEL: &str = "docs/MODEL.md";

/// A row that the description lacks, and one that the code does not have.
pub(crate) fn event_tables(repository: &Repository) -> Vec<Violation> {
    let Some(file) = repository.file(MODEL) else {
        return vec![Violation::of(MODEL, "missing: the description of the model")];
    };
    let rows = expected();
    let mut found = Vec::new();
    for row in &rows {
        if !file.lines().any(|(_, line)| line == row) {
            found.push(Violation::of(MODEL, format!("lacks the row {row}")));
        }
    }
    for (number, line) in file.lines() {
        if is_row(line) && !rows.iter().any(|row| row == line) {
            found.push(Violation::at(MODEL, number, "the code has no such event"));
        }
    }
    found
}

/// A row of one of the tables: the second of three or four columns is a unit, or the first of two
/// names issue slots.
fn is_row(line: &str) -> bool {
    let in_time = CycleEvent::ALL.iter().map(|event| event.unit());
    let mut units = Event::ALL.iter().map(|event| event.unit()).chain(in_time);
    let columns: Vec<&str> = line.split(" | ").collect();
    match columns.len() {
        2 => line.starts_with("| `slots_"),
        3 | 4 => line.starts_with("| `") && units.any(|unit| unit == columns[1]),
        _ => false,
    }
}

/// The rows as the code has them: sums, events, events in time, issue slots.
fn expected() -> Vec<String> {
    let sums = SUMS.iter().map(|sum| {
        let terms: Vec<String> =
            sum.terms().iter().map(|event| format!("`{}`", event.name())).collect();
        format!("| `{}` | {} | {} | {} |", sum.name, sum.unit, terms.join(" + "), sum.meaning)
    });
    let events = Event::ALL.iter().map(|event| {
        let cost = cost(event.energy_class());
        format!("| `{}` | {} | {cost} | {} |", event.name(), event.unit(), event.meaning())
    });
    let in_time = CycleEvent::ALL
        .iter()
        .map(|event| format!("| `{}` | {} | {} |", event.name(), event.unit(), event.meaning()));
    let slots = StallReason::ALL
        .iter()
        .map(|reason| format!("| `{}` | {} |", reason.name(), reason.meaning()));
    sums.chain(events).chain(in_time).chain(slots).collect()
}

/// What an event costs, in the table's words.
fn cost(class: EnergyClass) -> String {
    // Where everything is a register's, the pool is the write pool.
    let name = |level: Level| level.label().trim_start_matches("write ");
    match class {
        EnergyClass::Free => "none".to_owned(),
        EnergyClass::Read(level, datapath) => {
            format!("{} read, {} wire", name(level), datapath.name())
        }
        EnergyClass::Write(level, datapath) => {
            format!("{} write, {} wire", name(level), datapath.name())
        }
        EnergyClass::Fill(level, datapath) => {
            format!("{} write, {} wire beyond the MRF's", name(level), datapath.name())
        }
        EnergyClass::DualWrite(_, datapath) => {
            format!("takes back the {} wire within the MRF's", datapath.name())
        }
        EnergyClass::Move(Level::WritePool, to) => format!("pool read, {} write", name(to)),
        EnergyClass::Move(from, to) => {
            format!("{} read, {} write, wire between", name(from), name(to))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_s_rows_are_accepted() {
        let text = expected().join("\n") + "\n";
        assert!(event_tables(&Repository::of(&[(MODEL, &text)])).is_empty());
    }

    #[test]
    fn a_row_that_is_absent_or_changed_is_found() {
        let mut rows = expected();
        let first = rows.remove(0);
        let found = event_tables(&Repository::of(&[(MODEL, &rows.join("\n"))]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.ends_with(&first));

        rows.insert(0, first.replace('.', "!"));
        let found = event_tables(&Repository::of(&[(MODEL, &rows.join("\n"))]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].line, 1);
        assert_eq!(event_tables(&Repository::default()).len(), 1);
    }
}
