//! The lines that a program printed: each is known, and each figure is there once.

use super::error::ImportError;

/// A line with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// From 1.
    pub(super) number: usize,
    /// Without the spaces, dashes and bars that indent it.
    pub(super) text: &'a str,
    /// Whether it is a part of the figure above it: indented with a bar.
    pub(super) part: bool,
}

impl Line<'_> {
    /// What is wrong with its value.
    pub(super) fn wrong(self, problem: impl Into<String>) -> ImportError {
        let (number, line) = (self.number, self.text.to_owned());
        ImportError::Value { number, line, problem: problem.into() }
    }

    pub(super) fn too_large(self) -> ImportError {
        self.wrong("the number is too large")
    }
}

/// A figure: its line, and what is behind its key.
pub(super) type Figure<'a> = (Line<'a>, &'a str);

/// Lines of a text that are not empty.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a>(Vec<Line<'a>>);

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let line = |(index, line): (usize, &'a str)| {
            let bare = line.trim();
            let part = bare.starts_with("|---");
            let text = if bare.starts_with("----") {
                bare
            } else {
                bare.trim_start_matches(['|', '-']).trim_start()
            };
            (!bare.is_empty()).then_some(Line { number: index + 1, text, part })
        };
        Self(text.lines().enumerate().filter_map(line).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Line<'a>> {
        self.0.iter().copied()
    }

    /// The lines from the first that is `from` up to the next that is `to`, or the end.
    pub(super) fn between(&self, from: &str, to: &str) -> Self {
        let lines = self.iter().skip_while(|line| line.text != from);
        Self(lines.take_while(|line| line.text != to).collect())
    }

    /// The figure of this key; an error if there are two.
    pub(super) fn find(&self, key: &str) -> Result<Option<Figure<'a>>, ImportError> {
        let figure = |line: Line<'a>| Some((line, line.text.strip_prefix(key)?.trim()));
        let mut figures = self.iter().filter(|line| !line.part).filter_map(figure);
        let first = figures.next();
        if let (Some((first, _)), Some((second, _))) = (first, figures.next()) {
            return Err(second.wrong(format!(
                "the same figure is in line {}: give the output of one run with one result",
                first.number
            )));
        }
        Ok(first)
    }

    /// A figure that must be there.
    pub(super) fn required(&self, key: &'static str) -> Result<Figure<'a>, ImportError> {
        self.find(key)?.ok_or(ImportError::Missing(key))
    }

    /// An error of the first line that the program does not print.
    pub(super) fn all_known(
        &self,
        program: &str,
        known: impl Fn(Line<'a>) -> bool,
    ) -> Result<(), ImportError> {
        let unknown = self.iter().find(|line| !known(*line));
        unknown.map_or(Ok(()), |line| {
            Err(line.wrong(format!(
                "{program} prints no such line: give what it printed, and nothing else"
            )))
        })
    }
}
