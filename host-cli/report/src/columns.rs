//! Columns: rows of values under named columns, in every format of a table.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

pub use super::cell::Cell;
use super::cell::Kind;
use super::json;
use super::parquet::{self, Field};
use super::text_table::TextTable;
use strata_config::suggest::{did_you_mean, suggest};
use strata_files::failure::Failure;

/// How columns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// To read.
    Table,
    /// RFC 4180, `\n` line ends.
    Csv,
    /// An array of objects.
    Json,
    /// An object a line.
    JsonLines,
    /// A table of Markdown.
    Markdown,
    /// A file of Parquet with one group of rows.
    Parquet,
}

/// Rows under some columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The columns' names.
    pub header: Vec<String>,
    /// One value for each of them.
    pub rows: Vec<Vec<Option<Cell>>>,
}

impl Columns {
    /// No rows yet.
    pub fn new<N: Into<String>>(header: impl IntoIterator<Item = N>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Only the columns of these names, in this order; all of none.
    ///
    /// # Errors
    /// A name that no column has, or one that comes twice.
    pub fn select(self, names: &[String]) -> Result<Self, Failure> {
        if names.is_empty() {
            return Ok(self);
        }
        check_names(names, &self.header)?;
        let place = |name: &String| self.header.iter().position(|own| own == name);
        let places: Vec<_> = names.iter().filter_map(place).collect();
        let chosen = |row: &Vec<Option<Cell>>| places.iter().map(|&at| row[at].clone()).collect();
        Ok(Self { rows: self.rows.iter().map(chosen).collect(), header: names.to_vec() })
    }

    /// Adds columns without a value, unless they are there.
    pub fn add_empty<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        for name in names {
            if !self.header.contains(name) {
                self.header.push(name.clone());
                self.rows.iter_mut().for_each(|row| row.push(None));
            }
        }
    }

    /// The rows as the bytes of a file.
    ///
    /// # Errors
    /// None that a row can cause.
    pub fn to_bytes(&self, form: Form) -> Result<Vec<u8>, Failure> {
        Ok(match form {
            Form::Table => self.table().into_bytes(),
            Form::Csv => (self.csv_header() + &self.csv_rows()).into_bytes(),
            Form::Json => self.json()?.into_bytes(),
            Form::JsonLines => self.json_lines()?.into_bytes(),
            Form::Markdown => self.markdown().into_bytes(),
            Form::Parquet => self.parquet()?,
        })
    }

    fn table(&self) -> String {
        let mut table = TextTable::new();
        table.set_header(self.header.iter().cloned());
        for row in &self.rows {
            let shown = |cell: &Option<Cell>| {
                cell.as_ref().map_or_else(|| "-".to_owned(), |cell| cell.shown().into_owned())
            };
            table.add_row(row.iter().map(shown));
        }
        for at in (0..self.header.len()).filter(|&at| self.has_numbers(at)) {
            table.right(at);
        }
        format!("{table}\n")
    }

    /// The line of names.
    pub fn csv_header(&self) -> String {
        self.header.iter().map(|name| field(name)).collect::<Vec<_>>().join(",") + "\n"
    }

    /// A line for each row.
    pub fn csv_rows(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cell = |cell: &Option<Cell>| {
                cell.as_ref().map_or_else(String::new, |cell| field(&cell.text()).into_owned())
            };
            text += &row.iter().map(cell).collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        text
    }

    fn objects(&self) -> impl Iterator<Item = Value> {
        let object = |row: &Vec<Option<Cell>>| {
            let values = row.iter().map(|cell| cell.as_ref().map_or(Value::Null, Cell::json));
            Value::Object(self.header.iter().cloned().zip(values).collect::<Map<_, _>>())
        };
        self.rows.iter().map(object)
    }

    /// An array of objects.
    ///
    /// # Errors
    /// None that a row can cause.
    pub fn json(&self) -> Result<String, Failure> {
        json::to_text(&self.objects().collect::<Vec<_>>())
    }

    /// An object a line.
    ///
    /// # Errors
    /// None that a row can cause.
    pub fn json_lines(&self) -> Result<String, Failure> {
        self.objects().map(|object| json::to_line(&object)).collect()
    }

    /// Whether a column has numbers, and nothing else.
    fn has_numbers(&self, at: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row[at].as_ref()).peekable();
        cells.peek().is_some() && !cells.any(|cell| matches!(cell, Cell::Text(_)))
    }

    fn markdown(&self) -> String {
        let plain = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
        let mut text = String::new();
        let header: Vec<_> = self.header.iter().map(|name| plain(name)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", header.join(" | "));
        let rule = |at: usize| if self.has_numbers(at) { "---:" } else { "---" };
        let rules = (0..self.header.len()).map(rule);
        let _ = writeln!(text, "| {} |", rules.collect::<Vec<_>>().join(" | "));
        for row in &self.rows {
            let cells = row
                .iter()
                .map(|cell| cell.as_ref().map_or_else(String::new, |cell| plain(&cell.shown())));
            let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text
    }

    fn parquet(&self) -> Result<Vec<u8>, Failure> {
        let field =
            |(at, name): (usize, &String)| Field { name: name.clone(), kind: self.kind(at) };
        let fields: Vec<_> = self.header.iter().enumerate().map(field).collect();
        let cell = |row: usize, at: usize| self.rows[row][at].as_ref().map(Cow::Borrowed);
        parquet::encode("table", &[], &fields, self.rows.len(), cell)
            .map_err(|error| Failure::internal(&format!("cannot write Parquet: {error}")))
    }

    /// What a column holds; one without a value, numbers with decimals.
    fn kind(&self, at: usize) -> Kind {
        let kinds = self.rows.iter().filter_map(|row| row[at].as_ref()).map(Cell::kind);
        let both = |one, other| match (one, other) {
            _ if one == other => one,
            (Kind::Number | Kind::Real, Kind::Number | Kind::Real) => Kind::Real,
            _ => Kind::Text,
        };
        kinds.reduce(both).unwrap_or(Kind::Real)
    }
}

/// More columns than a message lists.
const MANY: usize = 100;

/// Whether all these names are among those of the columns, and each comes once.
///
/// # Errors
/// The first name of which that is not so.
pub fn check_names(names: &[String], known: &[String]) -> Result<(), Failure> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Failure::input(format!("`--columns` names `{name}` twice"))
                .hint("name each column once"));
        }
        if !known.contains(name) {
            let near = did_you_mean(&suggest(name, known.iter().map(String::as_str)));
            let near = near.map_or_else(String::new, |near| format!("{near} "));
            let all = if known.len() > MANY {
                format!(
                    "`--format csv` without `--columns` has all {} in its first line",
                    known.len()
                )
            } else {
                format!("the columns are: {}", known.join(", "))
            };
            return Err(
                Failure::input(format!("there is no column `{name}`")).hint(format!("{near}{all}"))
            );
        }
    }
    Ok(())
}

/// A text field of CSV, quoted when it must be.
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Columns {
        let mut columns = Columns::new(["name", "count", "share"]);
        columns.rows = vec![
            vec![Some("a|b".into()), Some(3_u32.into()), Some(Cell::Rounded(0.5, 3))],
            vec![Some("c,d".into()), None, Some(0.00123.into())],
        ];
        columns
    }

    fn text(form: Form) -> String {
        String::from_utf8(some().to_bytes(form).unwrap()).unwrap()
    }

    #[test]
    fn every_form_by_hand() {
        assert_eq!(text(Form::Csv), "name,count,share\na|b,3,0.500\n\"c,d\",,0.00123\n");
        assert_eq!(
            text(Form::JsonLines),
            "{\"count\":3,\"name\":\"a|b\",\"share\":0.5}\n\
             {\"count\":null,\"name\":\"c,d\",\"share\":0.00123}\n"
        );
        assert_eq!(
            text(Form::Markdown),
            "| name | count | share |\n| --- | ---: | ---: |\n| a\\|b | 3 | 0.500 |\n\
             | c,d |  | 0.00123 |\n"
        );
        let table = text(Form::Table);
        let lines: Vec<_> = table.lines().map(str::trim_end).collect();
        assert_eq!(lines[1..], [" a|b       3    0.500", " c,d       -  0.00123"], "{table}");
        assert_eq!(some().to_bytes(Form::Parquet).unwrap()[..4], *b"PAR1");
    }

    #[test]
    fn numbers_to_read_have_digits_that_count() {
        for (number, shown) in
            [(0.0, "0.00"), (-12.345, "-12.35"), (0.0999, "0.0999"), (0.00012, "0.000120")]
        {
            assert_eq!(Cell::Real(number).shown(), shown);
        }
        assert_eq!(Cell::Real(1.5e-9).shown(), "1.50e-9");
        assert_eq!(Cell::from(u64::MAX), Cell::Text("18446744073709551615".to_owned()));
    }

    #[test]
    fn columns_are_chosen_by_name() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let chosen = some().select(&names(&["share", "name"])).unwrap();
        assert_eq!(
            chosen.csv_header() + &chosen.csv_rows(),
            "share,name\n0.500,a|b\n0.00123,\"c,d\"\n"
        );
        assert_eq!(some().select(&[]).unwrap(), some());
        let error = some().select(&names(&["name", "shares"])).unwrap_err();
        let told = "there is no column `shares`\n  hint: did you mean `share`? the columns are: \
                    name, count, share";
        assert_eq!(error.message(), told);
        let error = some().select(&names(&["name", "name"])).unwrap_err();
        assert!(error.message().contains("names `name` twice"), "{}", error.message());
    }

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(field("hotspot"), "hotspot");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
