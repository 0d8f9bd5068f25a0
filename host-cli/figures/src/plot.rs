//! Plots: columns of a table as a chart, in a file of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::reproduce::figure::{Figure, Kind, Series};
use crate::reproduce::{html, svg};
use strata_files::failure::Failure;
use strata_files::output::{Kind as FileKind, Output};
use strata_files::partial_file::PartialFile;
use strata_report::columns::{Cell, Columns};

/// What a chart shows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// The column along the axis.
    pub x: &'a str,
    /// The columns of the values; of several, each is a series.
    pub y: &'a [&'a str],
    /// The columns that tell series apart, as far as they differ.
    pub series: &'a [&'a str],
    /// Only rows with this value in this column.
    pub only: Option<(&'a str, &'a str)>,
    /// How it is drawn.
    pub kind: Kind,
}

/// Forms of a file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Html,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("html") => Ok(Self::Html),
            // Drawing letters into pixels takes a font of the machine, or one in the program.
            Some("png") => Err(Failure::input(format!(
                "`{}` would be a picture of pixels, which Strata does not draw",
                path.display()
            ))
            .hint(
                "end its name in `.svg`, and convert that: `rsvg-convert -z 2 chart.svg -o \
                 chart.png`, Inkscape and browsers can",
            )),
            _ => Err(Failure::input(format!("`{}` is no file for a chart", path.display()))
                .hint("end its name in `.svg`, or in `.html` for a page with the numbers")),
        }
    }

    const fn kind(self) -> FileKind {
        match self {
            Self::Svg => FileKind { name: "a chart of Strata", begins: svg::HEAD.as_bytes() },
            Self::Html => html::KIND,
        }
    }
}

/// A chart that a command is asked for.
#[derive(Debug)]
pub struct Plot {
    output: Output,
    form: Form,
}

impl Plot {
    /// A chart in this file, of a command that reads `inputs`.
    ///
    /// # Errors
    /// A file that may not be written, or that has another ending.
    pub fn into(path: &Path, force: bool, inputs: &[PathBuf]) -> Result<Self, Failure> {
        let form = Form::of(path)?;
        Ok(Self { output: Output::new(path, form.kind(), force, inputs)?, form })
    }

    fn write(&self, figure: &Figure) -> Result<(), Failure> {
        let text = match self.form {
            Form::Svg => svg::file(figure),
            Form::Html => html::single(figure),
        };
        let failed = |error: std::io::Error| Failure::file(self.output.named(), "write", &error);
        let mut file = PartialFile::create(&self.output).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.finish()).map_err(failed)
    }
}

/// Draws a table, if that is asked for. `command` makes the table again.
///
/// # Errors
/// A table without such values; a file that cannot be written.
pub fn draw(
    plot: Option<&Plot>,
    columns: &Columns,
    axes: &Axes<'_>,
    command: &str,
) -> Result<(), Failure> {
    plot.map_or(Ok(()), |plot| plot.write(&figure(columns, axes, command)?))
}

/// A table with the energy of each row relative to the flat register file's as one more column,
/// `energy_relative_percent`, of which means over inputs have a meaning.
pub fn with_relative_energy(columns: &Columns) -> Columns {
    let at = |name: &str| columns.header.iter().position(|column| column == name);
    let mut with = columns.clone();
    with.header.push("energy_relative_percent".to_owned());
    for row in &mut with.rows {
        let value = |name: &str| row[at(name)?].as_ref().and_then(number);
        let both = value("energy_fj").zip(value("flat_energy_fj"));
        let relative = both.filter(|(_, flat)| *flat != 0.0).map(|(own, flat)| own / flat * 100.0);
        row.push(relative.map(Cell::Real));
    }
    with
}

/// The rows that count: of each the place on the axis, the name of its series, and the value.
struct Points {
    ticks: Vec<String>,
    /// By series, and within by place: every value.
    values: Vec<(String, Vec<Vec<f64>>)>,
}

impl Points {
    fn add(&mut self, series: &str, tick: &str, value: f64) {
        let place = place_of(&mut self.ticks, tick);
        let known = self.values.iter().position(|(name, _)| name == series);
        let series = known.unwrap_or_else(|| {
            self.values.push((series.to_owned(), Vec::new()));
            self.values.len() - 1
        });
        let places = &mut self.values[series].1;
        places.resize(places.len().max(place + 1), Vec::new());
        places[place].push(value);
    }
}

fn place_of(ticks: &mut Vec<String>, tick: &str) -> usize {
    ticks.iter().position(|known| known == tick).unwrap_or_else(|| {
        ticks.push(tick.to_owned());
        ticks.len() - 1
    })
}

/// The chart of a table: means where several rows have one place.
///
/// # Errors
/// A column that the table has not; no value.
fn figure(columns: &Columns, axes: &Axes<'_>, command: &str) -> Result<Figure, Failure> {
    let at = |name: &str| {
        let found = columns.header.iter().position(|column| column == name);
        found.ok_or_else(|| Failure::internal(&format!("the table has no column `{name}`")))
    };
    let x = at(axes.x)?;
    let only = axes.only.map(|(name, value)| Ok::<_, Failure>((at(name)?, value))).transpose()?;
    let rows: Vec<_> = columns
        .rows
        .iter()
        .filter(|row| only.is_none_or(|(column, value)| shown(row[column].as_ref()) == value))
        .collect();
    let mut telling = Vec::new();
    for name in axes.series {
        let column = at(name)?;
        if rows
            .windows(2)
            .any(|pair| shown(pair[0][column].as_ref()) != shown(pair[1][column].as_ref()))
        {
            telling.push((*name, column));
        }
    }
    let mut points = Points { ticks: Vec::new(), values: Vec::new() };
    for row in &rows {
        // Also a row without a value has its place on the axis.
        place_of(&mut points.ticks, &shown(row[x].as_ref()));
        let mut parts: Vec<String> =
            telling.iter().map(|&(name, column)| told_apart(name, row[column].as_ref())).collect();
        for y in axes.y {
            let Some(value) = row[at(y)?].as_ref().and_then(number) else { continue };
            if axes.y.len() > 1 || telling.is_empty() {
                parts.push((*y).to_owned());
            }
            points.add(&parts.join(", "), &shown(row[x].as_ref()), value);
            parts.truncate(telling.len());
        }
    }
    if points.values.is_empty() {
        return Err(Failure::input(format!(
            "there is nothing to draw: no row has `{}`",
            axes.y[0]
        ))
        .hint("`--format csv` prints all values"));
    }
    Ok(drawn(points, axes, command))
}

fn drawn(points: Points, axes: &Axes<'_>, command: &str) -> Figure {
    let several = points.values.iter().flat_map(|(_, places)| places).any(|all| all.len() > 1);
    let (ticks, y) = (points.ticks, axes.y.join(", "));
    let series = points.values.into_iter().map(|(name, mut places)| {
        places.resize(ticks.len(), Vec::new());
        let values = places.iter().map(|all| mean(all));
        let deviations = several.then(|| places.iter().map(|all| deviation(all)).collect());
        Series { deviations, ..Series::ours(name, values) }
    });
    let series = series.collect();
    let reading = if several {
        "Where several rows have one place, their mean and standard deviation are drawn."
    } else {
        "Each row of the table is a point."
    };
    Figure {
        title: format!("{y} by {}", axes.x),
        x: axes.x.to_owned(),
        y,
        kind: axes.kind,
        ticks,
        series,
        bands: Vec::new(),
        reading: reading.to_owned(),
        command: command.to_owned(),
    }
}

/// What tells a series apart: a text says itself what it is, a number does not.
fn told_apart(name: &str, cell: Option<&Cell>) -> String {
    match cell {
        Some(Cell::Text(text)) => text.clone(),
        other => format!("{name} {}", shown(other)),
    }
}

fn shown(cell: Option<&Cell>) -> String {
    cell.map_or_else(|| "-".to_owned(), ToString::to_string)
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(number) => Some(*number as f64),
        Cell::Real(number) | Cell::Rounded(number, _) => Some(*number),
        Cell::Switch(_) => None,
        Cell::Text(text) => text.parse().ok(),
    }
}

/// The command line, as it was typed.
pub fn typed() -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    format!("strata {words}")
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Of all values, as a population.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Some((squares / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Columns {
        let mut columns = Columns::new(["input", "pool", "entries", "ipc", "hits", "sweep"]);
        for (input, pool, entries, ipc, sweep) in [
            ("a", "one", 1, Some(2.0), "entries"),
            ("b", "one", 1, Some(4.0), "entries"),
            ("a", "two", 1, Some(1.0), "entries"),
            ("a", "one", 8, Some(5.0), "entries"),
            ("b", "one", 8, None, "entries"),
            ("b", "one", 4, None, "entries"),
            ("a", "one", 16, Some(7.0), "entries"),
            ("a", "one", 9, Some(100.0), "cycles"),
        ] {
            columns.rows.push(vec![
                Some(input.into()),
                Some(pool.into()),
                Some(Cell::Number(entries)),
                ipc.map(Cell::Real),
                Some(Cell::Number(entries + 1)),
                Some(sweep.into()),
            ]);
        }
        columns
    }

    const AXES: Axes<'static> = Axes {
        x: "entries",
        y: &["ipc"],
        series: &["pool", "sweep"],
        only: Some(("sweep", "entries")),
        kind: Kind::Lines,
    };

    #[test]
    fn rows_of_one_place_are_a_mean() {
        let figure = figure(&table(), &AXES, "again").expect("a figure");
        assert_eq!(figure.ticks, ["1", "8", "4", "16"]);
        let [one, two] = figure.series.as_slice() else { panic!("{:?}", figure.series) };
        assert_eq!(
            (one.name.as_str(), &one.values),
            ("one", &vec![Some(3.0), Some(5.0), None, Some(7.0)])
        );
        assert_eq!(one.deviations, Some(vec![Some(1.0), Some(0.0), None, Some(0.0)]));
        assert_eq!((two.name.as_str(), &two.values), ("two", &vec![Some(1.0), None, None, None]));
    }

    #[test]
    fn several_columns_are_series() {
        let axes = Axes { y: &["ipc", "hits"], series: &[], ..AXES };
        let figure = figure(&table(), &axes, "again").expect("a figure");
        let names: Vec<_> = figure.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["ipc", "hits"]);
        assert_eq!(figure.series[1].values, [Some(2.0), Some(9.0), Some(5.0), Some(17.0)]);
    }

    #[test]
    fn a_table_without_values_is_an_error() {
        let axes = Axes { only: Some(("sweep", "ports")), ..AXES };
        let told = figure(&table(), &axes, "again").expect_err("no row");
        assert!(format!("{told:?}").contains("nothing to draw: no row has `ipc`"), "{told:?}");
    }

    #[test]
    fn endings_say_what_is_written() {
        assert_eq!(Form::of(Path::new("a.svg")).ok(), Some(Form::Svg));
        assert_eq!(Form::of(Path::new("a.html")).ok(), Some(Form::Html));
        for other in ["a.png", "svg", "a"] {
            assert!(Form::of(Path::new(other)).is_err(), "{other}");
        }
    }

    #[test]
    fn files_begin_as_their_kind_says() {
        let figure = figure(&table(), &AXES, "again").expect("a figure");
        assert!(svg::file(&figure).starts_with(svg::HEAD));
        let page = html::single(&figure);
        assert!(page.starts_with(html::HEAD) && page.contains("<code>again</code>"));
    }
}
