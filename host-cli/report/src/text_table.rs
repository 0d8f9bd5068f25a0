//! Text table: rows under headings to read, fitted to the terminal.
//!
//! A table that is not for a terminal, or fits it, is as it is. One that does not fit loses columns
//! that have nothing but zeros, which a line below it names; its last column is wrapped if it is
//! prose; and as a last resort rows and columns change places, as many rows side by side as fit.

use std::fmt::{self, Display, Formatter};

use comfy_table::{CellAlignment, Table, presets};

use super::terminal::{heading, terminal};

/// What is between two columns.
const GAP: usize = 2;
/// The fewest characters to which prose is wrapped.
const LEAST_PROSE: usize = 24;

/// Rows under headings, without borders. A heading or a cell may have several lines.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Whether a column is aligned to the right, as far as that was said.
    right: Vec<bool>,
    /// So many columns, from the first, leave out what stands above.
    grouped: usize,
}

impl TextTable {
    /// One without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the headings.
    pub fn set_header<T: Into<String>>(&mut self, header: impl IntoIterator<Item = T>) {
        self.header = header.into_iter().map(Into::into).collect();
    }

    /// Adds a row; cells that are missing are blank.
    pub fn add_row<T: Into<String>>(&mut self, row: impl IntoIterator<Item = T>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Aligns a column to the right.
    pub fn right(&mut self, column: usize) {
        self.align(column, true);
    }

    /// Aligns a column to the left.
    pub fn left(&mut self, column: usize) {
        self.align(column, false);
    }

    /// Aligns all columns from this one on to the right.
    pub fn right_from(&mut self, first: usize) {
        (first..self.columns()).for_each(|column| self.right(column));
    }

    /// Says that so many columns, from the first, leave out what stands above.
    pub fn group(&mut self, columns: usize) {
        self.grouped = columns;
    }

    fn align(&mut self, column: usize, right: bool) {
        if self.right.len() <= column {
            self.right.resize(column + 1, false);
        }
        self.right[column] = right;
    }

    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0).max(self.header.len())
    }

    fn is_right(&self, column: usize) -> bool {
        self.right.get(column).copied().unwrap_or(false)
    }

    /// The text of the table, of any width.
    fn whole(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if !self.header.is_empty() {
            table.set_header(self.header.iter().map(String::as_str));
        }
        for row in &self.rows {
            table.add_row(row.iter().map(String::as_str));
        }
        for (at, column) in table.column_iter_mut().enumerate() {
            if self.is_right(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }

    /// Lines of the headings.
    fn heading_lines(&self) -> usize {
        self.header.iter().map(|heading| heading.lines().count().max(1)).max().unwrap_or(0)
    }

    /// In lines of at most so many characters, as far as single cells allow.
    fn fitted(&self, width: usize) -> String {
        let fits = |text: &str| text.lines().all(|line| length(line.trim_end()) <= width);
        let whole = self.whole();
        if fits(&whole) {
            return self.emphasised(&whole);
        }
        let (table, left_out) = self.without_zeros();
        let said = if left_out.is_empty() {
            String::new()
        } else {
            format!("\nleft out, nothing but zeros: {}", left_out.join(", "))
        };
        for table in [Some(table.clone()), table.wrapped(width)].into_iter().flatten() {
            let text = table.whole();
            if fits(&text) {
                return table.emphasised(&text) + &said;
            }
        }
        table.transposed(width) + &said
    }

    /// With headings that stand out, and nothing behind the last character of a line.
    fn emphasised(&self, text: &str) -> String {
        let headings = self.heading_lines();
        let line = |(at, line): (usize, &str)| {
            let line = line.trim_end();
            if at < headings { heading(line) } else { line.to_owned() }
        };
        text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Without columns that have nothing but zeros and blanks, and at least one zero; and their
    /// headings. The first column stays.
    fn without_zeros(&self) -> (Self, Vec<String>) {
        let cell = |row: &Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
        let is_zero = |at: usize| {
            let cells = || self.rows.iter().map(|row| cell(row, at));
            cells().any(|cell| cell.contains('0'))
                && cells().all(|cell| {
                    !cell.chars().any(|letter| letter.is_alphanumeric() && letter != '0')
                })
        };
        let (mut kept, mut left_out) = (Vec::new(), Vec::new());
        for at in 0..self.columns() {
            if at > 0 && is_zero(at) {
                left_out.push(self.heading(at));
            } else {
                kept.push(at);
            }
        }
        let of = |row: &Vec<String>| kept.iter().map(|&at| cell(row, at)).collect();
        let without = Self {
            header: if self.header.is_empty() { Vec::new() } else { of(&self.header) },
            rows: self.rows.iter().map(of).collect(),
            right: kept.iter().map(|&at| self.is_right(at)).collect(),
            grouped: self.grouped,
        };
        (without, left_out)
    }

    /// A heading in one line.
    fn heading(&self, at: usize) -> String {
        let lines = self.header.get(at).map_or("", String::as_str).lines();
        lines.collect::<Vec<_>>().join(" ")
    }

    /// With the last column in more lines, if it is prose and there is room for it.
    fn wrapped(&self, width: usize) -> Option<Self> {
        let last = self.columns().checked_sub(1)?;
        let is_prose = self
            .rows
            .iter()
            .filter_map(|row| row.get(last))
            .any(|cell| cell.split_whitespace().nth(2).is_some() && length(cell) > LEAST_PROSE);
        let without: Self = Self {
            header: self.header.iter().take(last).cloned().collect(),
            rows: self.rows.iter().map(|row| row.iter().take(last).cloned().collect()).collect(),
            ..self.clone()
        };
        let taken = without.whole().lines().map(length).max().unwrap_or(0);
        let room = width.checked_sub(taken + GAP).filter(|&room| room >= LEAST_PROSE)?;
        if self.is_right(last) || !is_prose {
            return None;
        }
        let mut table = self.clone();
        for row in &mut table.rows {
            if let Some(cell) = row.get_mut(last) {
                *cell = lines(cell, room);
            }
        }
        Some(table)
    }

    /// A line for each column, with as many rows side by side as fit; then the next rows.
    fn transposed(&self, width: usize) -> String {
        let headings: Vec<_> = (0..self.columns()).map(|at| self.heading(at)).collect();
        let label = headings.iter().map(|heading| length(heading)).max().unwrap_or(0);
        let rows = self.filled();
        let widths: Vec<usize> = rows
            .iter()
            .map(|row| row.iter().flat_map(|cell| cell.lines()).map(length).max().unwrap_or(0))
            .collect();
        let (mut blocks, mut first) = (Vec::new(), 0);
        while first < rows.len() {
            let (mut end, mut taken) = (first, label);
            while end < rows.len() && (end == first || taken + GAP + widths[end] <= width) {
                taken += GAP + widths[end];
                end += 1;
            }
            let line = |(at, name): (usize, &String)| {
                let pad = " ".repeat(label - length(name));
                let mut line = heading(name) + &pad;
                for (row, width) in rows[first..end].iter().zip(&widths[first..end]) {
                    let cell = row.get(at).map_or("", String::as_str).replace('\n', " ");
                    // One row alone is a list.
                    let width = if end == first + 1 { 0 } else { *width };
                    let pad = " ".repeat(GAP + width.saturating_sub(length(&cell)));
                    line += &(pad + &cell);
                }
                line.trim_end().to_owned()
            };
            blocks.push(headings.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"));
            first = end;
        }
        blocks.join("\n\n")
    }

    /// The rows with what stands above, where that is left out.
    fn filled(&self) -> Vec<Vec<String>> {
        let mut rows = self.rows.clone();
        for at in 1..rows.len() {
            for column in 0..self.grouped {
                let above = rows[at - 1].get(column).cloned();
                let (Some(above), Some(cell)) = (above, rows[at].get_mut(column)) else { break };
                if !cell.is_empty() {
                    break;
                }
                *cell = above;
            }
        }
        rows
    }
}

impl Display for TextTable {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match terminal().width {
            Some(width) => to.write_str(&self.fitted(width)),
            None if !terminal().colours => to.write_str(&self.whole()),
            None => to.write_str(&self.emphasised(&self.whole())),
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Prose in lines of at most so many characters, as far as words allow.
fn lines(text: &str, width: usize) -> String {
    let (mut lines, mut line) = (String::new(), 0);
    for word in text.split_whitespace() {
        let long = length(word);
        if line > 0 && line + 1 + long > width {
            lines.push('\n');
            line = 0;
        }
        if line > 0 {
            lines.push(' ');
            line += 1;
        }
        lines += word;
        line += long;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> TextTable {
        let mut table = TextTable::new();
        table.set_header(["workload", "design", "MRF\nreads", "RFC\nreads", "cycles"]);
        table.add_row(["bfs", "isca11", "1200", "0", "900"]);
        table.add_row(["", "isca11-rfc6", "17", "0", "1000"]);
        table.right_from(2);
        table.group(1);
        table
    }

    #[test]
    fn what_fits_is_as_it_is() {
        let trimmed: Vec<_> =
            some().whole().lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(some().fitted(80), trimmed.join("\n"));
        assert_eq!(some().to_string(), some().whole());
    }

    #[test]
    fn zeros_are_left_out_and_named() {
        let text = some().fitted(40);
        assert_eq!(
            text,
            " workload  design         MRF  cycles\n                        reads\n \
             bfs       isca11        1200     900\n           isca11-rfc6     17    1000\n\
             left out, nothing but zeros: RFC reads"
        );
        // A zero among others, or a value that is not known, is no reason.
        let mut table = some();
        table.add_row(["x", "y", "1", "2", "-"]);
        assert!(!table.fitted(40).contains("left out"));
        assert!(table.fitted(40).contains("RFC reads"));
    }

    #[test]
    fn a_narrow_terminal_has_rows_for_columns() {
        let text = some().fitted(34);
        assert_eq!(
            text,
            "workload      bfs          bfs\ndesign     isca11  isca11-rfc6\n\
             MRF reads    1200           17\ncycles        900         1000\n\
             left out, nothing but zeros: RFC reads"
        );
        let blocks = some().fitted(24);
        assert_eq!(blocks.matches("workload").count(), 2, "{blocks}");
        assert!(blocks.lines().take(9).all(|line| length(line) <= 24), "{blocks}");
    }

    #[test]
    fn prose_is_wrapped_before_that() {
        let mut table = TextTable::new();
        table.set_header(["name", "what"]);
        table.add_row(["a", "one two three four five six seven eight nine ten"]);
        let text = table.fitted(40);
        assert_eq!(
            text,
            " name  what\n a     one two three four five six\n       seven eight nine ten"
        );
    }
}
