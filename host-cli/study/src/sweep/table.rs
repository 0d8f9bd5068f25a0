//! Tables of a sweep: its rows as columns, or one value over two columns.

use super::row::{EXTRA, Row, columns, place};
use super::store::List;
use strata_config::suggest::{did_you_mean, suggest};
use strata_files::failure::Failure;
use strata_report::columns::{Cell, Columns, Form};

/// What a table to read has beside what differs between the points, where a row has it.
const MEASURES: [&str; 8] = [
    "mrf_reads_avoided_percent",
    "mrf_writes_avoided_percent",
    "energy_relative_percent",
    "cycles",
    "ipc",
    "total_energy_relative_percent",
    "energy_delay_relative_percent",
    "error",
];

/// A column by its name.
pub(super) fn known(rows: &[Row], name: &str) -> Result<(), Failure> {
    let extra = || rows.iter().any(|row| row.extra.contains_key(name));
    if place(name).is_some() || extra() {
        return Ok(());
    }
    let near = did_you_mean(&suggest(name, columns().iter().map(|column| column.name.as_str())));
    Err(Failure::input(format!("a sweep has no column `{name}`")).hint(format!(
        "{}docs/SWEEPS.md lists the columns",
        near.map_or_else(String::new, |near| format!("{near} "))
    )))
}

/// The rows whose columns have these values, each given as `COLUMN=VALUE`.
///
/// # Errors
/// No such column.
pub fn filtered(rows: Vec<Row>, wanted: &[String]) -> Result<Vec<Row>, Failure> {
    if wanted.is_empty() {
        return Ok(rows);
    }
    Ok(chosen(&rows, wanted)?.into_iter().cloned().collect())
}

/// The rows whose columns have these values, each given as `COLUMN=VALUE`, without a copy.
///
/// # Errors
/// No such column.
pub(super) fn chosen<'r>(rows: &'r [Row], wanted: &[String]) -> Result<Vec<&'r Row>, Failure> {
    let mut pairs = Vec::new();
    for text in wanted {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Failure::input(format!("`--where {text}` has no `=`"))
                .hint("write `--where COLUMN=VALUE`: `--where workload=bfs`"));
        };
        known(rows, name)?;
        pairs.push((name, value));
    }
    let has = |row: &&Row| {
        pairs.iter().all(|(name, value)| {
            row.get(name).map_or_else(String::new, |cell| cell.to_string()) == *value
        })
    };
    Ok(rows.iter().filter(has).collect())
}

/// The columns that are named, or else all; of tables to read those that differ between points, and
/// the measures that are most asked for.
///
/// # Errors
/// No such column.
pub fn table(rows: &[Row], list: &List, names: &[String], form: Form) -> Result<Columns, Failure> {
    names.iter().try_for_each(|name| known(rows, name))?;
    let some = |name: &&str| rows.iter().any(|row| row.get(name).is_some());
    let header: Vec<String> = match (names, form) {
        ([], Form::Table | Form::Markdown) => {
            let measures = MEASURES.into_iter().filter(some).map(str::to_owned);
            list.axes.iter().cloned().chain(measures).collect()
        }
        ([], _) => {
            let mut extra: Vec<_> = rows.iter().flat_map(|row| row.extra.keys().cloned()).collect();
            extra.sort_unstable();
            extra.dedup();
            columns().iter().map(|column| column.name.clone()).chain(extra).collect()
        }
        (names, _) => names.to_vec(),
    };
    let cells = |row: &Row| header.iter().map(|name| row.get(name)).collect();
    Ok(Columns { rows: rows.iter().map(cells).collect(), header })
}

/// One value, in a line for each value of a column and a column for each value of another, in
/// the order in which the points have them.
///
/// # Errors
/// No such column, or several points for one place.
pub fn pivot(rows: &[Row], list: &List, names: [&str; 3]) -> Result<Columns, Failure> {
    let [line, column, value] = names;
    names.iter().try_for_each(|name| known(rows, name))?;
    let (lines, headings) = (distinct(rows, line), distinct(rows, column));
    let mut cells = vec![vec![None; headings.len()]; lines.len()];
    let mut from: Vec<Vec<Option<&Row>>> = vec![vec![None; headings.len()]; lines.len()];
    for row in rows {
        let at = |all: &[Option<Cell>], name: &str| {
            let own = row.get(name);
            all.iter().position(|cell| *cell == own)
        };
        let (Some(y), Some(x)) = (at(&lines, line), at(&headings, column)) else { continue };
        if let Some(other) = from[y][x].replace(row) {
            return Err(several(list, (other, row), [line, column]));
        }
        cells[y][x] = row.get(value);
    }
    let shown = |cell: &Option<Cell>| cell.as_ref().map_or_else(String::new, Cell::to_string);
    let mut header = vec![format!("{value}: {line} \\ {column}")];
    header.extend(headings.iter().map(shown));
    let rows = lines.into_iter().zip(cells);
    let rows = rows.map(|(line, cells)| std::iter::once(line).chain(cells).collect()).collect();
    Ok(Columns { header, rows })
}

/// The values of a column in the order of their first rows.
fn distinct(rows: &[Row], name: &str) -> Vec<Option<Cell>> {
    let mut all = Vec::new();
    for row in rows {
        let cell = row.get(name);
        if !all.contains(&cell) {
            all.push(cell);
        }
    }
    all
}

/// Two points for one place of a pivot: what tells them apart.
fn several(list: &List, (one, other): (&Row, &Row), used: [&str; 2]) -> Failure {
    let differs = |name: &&String| {
        !used.contains(&name.as_str())
            && !name.starts_with(EXTRA)
            && one.get(name) != other.get(name)
    };
    let by = list.axes.iter().find(differs);
    let (what, hint) = match by {
        Some(name) => {
            let value = one.get(name).map_or_else(String::new, |cell| cell.to_string());
            (format!("they differ in `{name}`"), format!("choose some: `--where {name}={value}`"))
        }
        None => ("they are of the same place".to_owned(), "name other columns".to_owned()),
    };
    let [line, column] = used;
    Failure::input(format!("several points have the same `{line}` and `{column}`: {what}"))
        .hint(hint)
}
