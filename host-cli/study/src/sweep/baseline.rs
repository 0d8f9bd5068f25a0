//! Baseline: the points of a sweep against those of one design, input by input and over all inputs.

use std::collections::{BTreeMap, BTreeSet};

use super::pareto::number;
use super::row::{LABELS, Row, place};
use super::store::List;
use super::table::{chosen, known};
use strata_config::suggest::{did_you_mean, suggest};
use strata_design::{machines, parameter_keys};
use strata_files::failure::Failure;
use strata_report::columns::Cell;
use strata_report::comparison::{ALL, Line, Measures, RATIOS};

/// What tells inputs apart.
const INPUT: [&str; 3] = ["workload", "scale", "set"];

/// The points with their ratios, as columns of the names of [`RATIOS`], and behind them for each
/// design its geometric means over all inputs, if there are several.
#[derive(Debug)]
pub struct Against {
    /// The rows.
    pub rows: Vec<Row>,
    /// Inputs without the baseline: it failed there, or did not run yet.
    pub without: usize,
}

fn text(row: &Row, column: &str) -> String {
    row.get(column).map_or_else(String::new, |cell| cell.to_string())
}

fn input(row: &Row) -> [String; 3] {
    INPUT.map(|column| text(row, column))
}

/// Compares the points with those of `baseline`: a design's name as in the column `design`, or
/// values of columns, `COLUMN=VALUE,...`.
///
/// # Errors
/// No such point, or several of an input.
pub fn against(rows: Vec<Row>, baseline: &str) -> Result<Against, Failure> {
    let mut of_input: BTreeMap<[String; 3], &Row> = BTreeMap::new();
    for row in selected(&rows, baseline)? {
        if let Some(other) = of_input.insert(input(row), row) {
            return Err(several(baseline, other, row));
        }
    }
    let inputs: BTreeSet<_> = rows.iter().map(input).collect();
    let baselines: BTreeMap<_, _> =
        of_input.iter().map(|(input, row)| (input.clone(), measures(row))).collect();
    let known = |row: &&Row| row.error().is_none();
    let without = inputs.len() - of_input.values().copied().filter(known).count();
    let mut lines = Vec::with_capacity(rows.len());
    for row in &rows {
        let ratios = baselines.get(&input(row)).map(|baseline| measures(row).ratios(baseline));
        lines.push(Line::once(
            &text(row, "workload"),
            &text(row, "design"),
            ratios.unwrap_or_default(),
        ));
    }
    let means = if inputs.len() > 1 { means(&rows, &lines, inputs.len()) } else { Vec::new() };
    let with = |(mut row, line): (Row, &Line)| {
        set_ratios(&mut row, line);
        row
    };
    let rows = rows.into_iter().zip(&lines).map(with).chain(means);
    Ok(Against { rows: rows.collect(), without })
}

/// The points of the baseline.
fn selected<'r>(rows: &'r [Row], baseline: &str) -> Result<Vec<&'r Row>, Failure> {
    let named: Vec<_> = rows.iter().filter(|row| text(row, "design") == baseline).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let pairs: Vec<_> = baseline.split(',').map(str::to_owned).collect();
    if pairs.iter().all(|pair| pair.contains('=')) {
        let found = chosen(rows, &pairs)?;
        if !found.is_empty() {
            return Ok(found);
        }
        return Err(Failure::input(format!("no point of the sweep has `{baseline}`"))
            .hint("`strata sweep table DIR` lists the points"));
    }
    let names: BTreeSet<_> = rows.iter().map(|row| text(row, "design")).collect();
    let near = did_you_mean(&suggest(baseline, names.iter().map(String::as_str)));
    Err(Failure::input(format!("the sweep has no design `{baseline}`")).hint(near.unwrap_or_else(
        || {
            "name one as its column `design` does, or choose its points by columns: \
             `cache.entries=6,active_warps=8`"
                .to_owned()
        },
    )))
}

fn several(baseline: &str, one: &Row, other: &Row) -> Failure {
    let differs = |key: &&String| one.get(key) != other.get(key);
    let key = parameter_keys().iter().map(|(key, _)| key).find(differs);
    let hint = key.map_or_else(
        || format!("name one design: `{}`", text(one, "design")),
        |key| format!("they differ in `{key}`: add `{key}={}`", text(one, key)),
    );
    let input = text(one, "workload");
    Failure::input(format!("`--baseline {baseline}` is several points of `{input}`")).hint(hint)
}

/// What the run of a point needed.
fn measures(row: &Row) -> Measures {
    let machine = text(row, "machine");
    let clock = machines().iter().find(|own| own.name == machine).map(|own| own.clock);
    let cycles = number(row, "cycles");
    Measures::new(cycles.zip(clock), number(row, "energy_total_fj"), number(row, "total_fj"))
}

fn set_ratios(row: &mut Row, line: &Line) {
    for ((name, _), ratio) in RATIOS.iter().zip(line.ratios()) {
        if let Some(ratio) = ratio {
            row.extra.insert((*name).to_owned(), ratio.mean);
        }
    }
}

/// A row for each design with its geometric means; a ratio that one of so many inputs lacks is
/// missing.
fn means(rows: &[Row], lines: &[Line], inputs: usize) -> Vec<Row> {
    let mut seen = BTreeSet::new();
    let first = rows.iter().filter(|row| seen.insert(text(row, "design")));
    let of_design = |row: &Row| {
        let design = text(row, "design");
        let mut mean = of_all_inputs(row);
        if lines.iter().filter(|line| line.design == design).count() == inputs {
            set_ratios(&mut mean, &Line::over(lines, &design));
        }
        mean
    };
    first.map(of_design).collect()
}

/// What a point has of its design alone.
fn of_all_inputs(row: &Row) -> Row {
    let of_design = ["design", "machine", "mode", "order"].into_iter();
    let keys = parameter_keys().iter().map(|(key, _)| key.as_str());
    let kept: BTreeSet<_> = of_design.chain(keys).filter_map(place).collect();
    let cell = |(at, cell): (usize, &Option<Cell>)| {
        if kept.contains(&at) { cell.clone() } else { None }
    };
    let mut cells: Vec<_> = row.cells.iter().enumerate().map(cell).collect();
    debug_assert_eq!(LABELS[1], INPUT[0]);
    if let Some(workload) = place(INPUT[0]) {
        cells[workload] = Some(ALL.into());
    }
    Row { key: row.key, cells, extra: BTreeMap::new() }
}

/// The columns of a comparison unless others are named: input and design, what differs between the
/// points, and the ratios that any point has.
pub fn columns(rows: &[Row], list: &List) -> Vec<String> {
    let labels = ["workload", "design"].map(str::to_owned);
    let axes = list.axes.iter().filter(|axis| !labels.contains(axis));
    let ratios = RATIOS.iter().map(|(name, _)| (*name).to_owned());
    let ratios = ratios.filter(|name| known(rows, name).is_ok());
    labels.iter().cloned().chain(axes.cloned()).chain(ratios).collect()
}
