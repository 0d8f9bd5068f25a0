//! A TOML file read on behind its mistakes, so that all of them are reported at once.
//!
//! Serde stops at the first value that it refuses. Here that value is replaced by one that its type
//! takes, an unknown key is renamed or left out, a missing one is added, and the file is read
//! again, until nothing is refused. What was changed is listed, so that no caller reports what only
//! follows from it.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Error};

use super::dates;
use super::mistake::Mistake;
use super::place::Position;
use super::strict::Strict;
use super::suggest::suggest;

/// Most mistakes that are looked for: each of them reads the file again.
const MOST: usize = 100;

/// What a file says, and what is wrong with it.
#[derive(Debug)]
pub struct Reading<T> {
    /// With other values in the place of those that are wrong; `None` where nothing can stand
    /// there, or if the text is no TOML.
    pub value: Option<T>,
    /// In the order in which they were found.
    pub mistakes: Vec<Mistake>,
    /// The keys of what was replaced, left out or added, such as `buffer[1].count`.
    pub changed: Vec<String>,
}

/// Reads a text to its end.
pub fn read<T: DeserializeOwned>(text: &str) -> Reading<T> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Reading { value: None, mistakes: of_syntax(errors, text), changed: Vec::new() };
    }
    let mut repair = Repair { tree: dates::marked(tree), end: text.len(), changed: Vec::new() };
    let (mut mistakes, mut outcome) = (Vec::new(), repair.read());
    let value = loop {
        let error = match outcome {
            Ok(value) => break Some(value),
            Err(error) => error,
        };
        mistakes.push(Mistake::new(&error, text));
        outcome = match repair.mend(&error) {
            // The same again would come for ever.
            Some(Err(next)) if next == error => break None,
            Some(outcome) if mistakes.len() < MOST => outcome,
            _ => break None,
        };
    };
    let changed = repair.changed.iter().map(|path| in_words(path)).collect();
    Reading { value, mistakes, changed }
}

/// What is not TOML. Each table is looked at on its own, since the parser takes all that follows a
/// list without an end for its elements.
fn of_syntax(errors: Vec<Error>, text: &str) -> Vec<Mistake> {
    let alone = errors.first().map(|error| Mistake::new(error, text));
    // A text of several lines may look like a table.
    let is_simple = !text.contains("\"\"\"") && !text.contains("'''");
    let found: Vec<_> = tables(text).filter(|_| is_simple).flat_map(of_table).take(MOST).collect();
    match found.len() {
        0 => telling(errors, text).iter().map(|error| Mistake::new(error, text)).collect(),
        1 => alone.into_iter().collect(),
        _ => found,
    }
}

/// The tables of a text, each with the number of lines before it.
fn tables(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut rest, mut before) = (text, 0);
    std::iter::from_fn(move || {
        let mut end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        while let Some(line) = rest.get(end..).and_then(|rest| rest.split_inclusive('\n').next()) {
            if is_header(line) {
                break;
            }
            end += line.len();
        }
        let (table, after) = rest.split_at_checked(end).filter(|(table, _)| !table.is_empty())?;
        rest = after;
        let start = before;
        before += table.matches('\n').count();
        Some((start, table))
    })
}

/// Whether a line begins a table, or was to begin one.
fn is_header(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default().trim();
    let name = line.trim_start_matches('[').trim_end_matches(']');
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    line.starts_with('[') && name.starts_with(char::is_alphabetic) && name.chars().all(is_word)
}

/// What is not TOML in a table with so many lines before it.
fn of_table((before, table): (usize, &str)) -> Vec<Mistake> {
    let (_, errors) = DeTable::parse_recoverable(table);
    let mut mistakes: Vec<_> =
        telling(errors, table).iter().map(|error| Mistake::new(error, table)).collect();
    for position in mistakes.iter_mut().filter_map(|mistake| mistake.position.as_mut()) {
        position.line += before;
    }
    mistakes
}

/// Those of a parser's errors that do not follow from others: of each line the first; none behind a
/// list or a table without an end; no key that is there twice if a table may have lost its head.
fn telling(mut errors: Vec<Error>, text: &str) -> Vec<Error> {
    let follow_from =
        ["missing comma ", "missing assignment ", "missing key for inline", "unclosed "];
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    let all_twice = errors.iter().all(|error| error.message() == "duplicate key");
    errors.retain(|error| all_twice || error.message() != "duplicate key");
    // The keys of a table that is there twice are, too.
    let is_table = |error: &Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default().trim_start().starts_with('[')
    };
    if all_twice && errors.iter().any(is_table) {
        errors.retain(is_table);
    }
    let endless = |error: &Error| {
        follow_from.iter().any(|start| error.message().starts_with(start))
            || error.message().contains("inline table")
    };
    let string = |error: &Error| {
        error.message().starts_with("invalid ") && error.message().contains("string")
    };
    let end = errors.iter().position(endless).map(|last| {
        // A text without an end has the end of its list in it.
        let in_text = last.checked_sub(1).is_some_and(|before| string(&errors[before]));
        if in_text { last } else { last + 1 }
    });
    errors.truncate(end.unwrap_or(MOST));
    errors.dedup_by_key(|error| error.span().map(|span| Position::of(text, span.start).line));
    errors
}

/// A step from a table or a list to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The key of a value, as messages have it.
fn in_words(path: &[Step]) -> String {
    let mut words = String::new();
    for step in path {
        match step {
            Step::Key(key) if words.is_empty() => words.push_str(key),
            Step::Key(key) => words.extend([".", key]),
            Step::Index(index) => words.extend(["[", &index.to_string(), "]"]),
        }
    }
    words
}

/// A file that is changed until it can be read.
struct Repair<'t> {
    tree: Spanned<DeTable<'t>>,
    /// The last place in use: new values have places behind the text, which no other value has.
    end: usize,
    changed: Vec<Vec<Step>>,
}

impl<'t> Repair<'t> {
    fn read<T: Deserialize<'t>>(&self) -> Result<T, Error> {
        T::deserialize(Strict(toml::Deserializer::from(self.tree.clone())))
    }

    /// Changes what is wrong and reads again; `None` if nothing helps.
    fn mend<T: Deserialize<'t>>(&mut self, error: &Error) -> Option<Result<T, Error>> {
        let span = error.span()?;
        if let Some(known) = known_keys(error.message()) {
            return self.without(&self.path_at(span.start)?, &known);
        }
        if let Some(missing) = error.message().strip_prefix("missing field ") {
            let mut path = self.table_of(&span).unwrap_or_default();
            path.push(Step::Key(missing.trim_matches('`').to_owned()));
            return self.replace(&path);
        }
        let mut path = self.path_at(span.start)?;
        if error.message().starts_with("invalid type: sequence") && self.unfold(&path).is_some() {
            return Some(self.read());
        }
        if error.message().starts_with("unknown variant ") && self.is_key(&path, span.start) {
            // A table of one key, which is a choice: the whole of it is wrong.
            path.pop();
        }
        self.replace(&path)
    }

    /// Takes a list of one table, such as `[[check]]`, for the table. The path is of the list, or
    /// of the table, which begins where the list does.
    fn unfold(&mut self, path: &[Step]) -> Option<()> {
        let path = if let [list @ .., Step::Index(0)] = path { list } else { path };
        let (Step::Key(key), above) = path.split_last()? else { return None };
        let value = table_mut(&mut self.tree, above)?.get_mut(key.as_str())?;
        let DeValue::Array(list) = value.get_ref() else { return None };
        let mut tables = list.iter();
        let (Some(table), None) = (tables.next(), tables.next()) else { return None };
        if !matches!(table.get_ref(), DeValue::Table(_)) {
            return None;
        }
        *value = table.clone();
        Some(())
    }

    /// Whether a byte is one of the key of this path, not of its value.
    fn is_key(&mut self, path: &[Step], offset: usize) -> bool {
        let Some((Step::Key(key), above)) = path.split_last() else { return false };
        let table = table_mut(&mut self.tree, above);
        let key = table.and_then(|table| table.get_key_value(key.as_str()));
        key.is_some_and(|(key, _)| key.span().contains(&offset))
    }

    /// Reads without an unknown key, or with its value for the key that was meant.
    fn without<T: Deserialize<'t>>(
        &mut self,
        path: &[Step],
        known: &[&str],
    ) -> Option<Result<T, Error>> {
        let (Step::Key(unknown), above) = path.split_last()? else { return None };
        self.changed.push(path.to_vec());
        let table = table_mut(&mut self.tree, above)?;
        let (key, value) = table.remove_entry(unknown.as_str())?;
        let meant =
            suggest(unknown, known.iter().copied()).first().map(|meant| (*meant).to_owned());
        let Some(meant) = meant.filter(|meant| !table.contains_key(meant.as_str())) else {
            return Some(self.read());
        };
        let (span, of_value) = (key.span(), value.span());
        table.insert(Spanned::new(span, Cow::Owned(meant.clone())), value);
        let read = self.read();
        let renamed: Vec<Step> = above.iter().cloned().chain([Step::Key(meant.clone())]).collect();
        match &read {
            // Nothing more is said of a value that may not have been meant for this key.
            Err(next) if self.is_about(next, &of_value, &renamed) => self.replace(&renamed),
            _ => Some(read),
        }
    }

    /// Reads with another value at a place that has a wrong one, or none.
    fn replace<T: Deserialize<'t>>(&mut self, path: &[Step]) -> Option<Result<T, Error>> {
        let (last, above) = path.split_last()?;
        self.changed.push(path.to_vec());
        let (mut stand_ins, mut words_are_known) = (stand_ins(), false);
        while let Some(value) = stand_ins.pop() {
            self.end += 1;
            let span = self.end..self.end + 1;
            let value = Spanned::new(span.clone(), placed(value, &span));
            match last {
                Step::Key(key) => {
                    let table = table_mut(&mut self.tree, above)?;
                    let at = table
                        .get_key_value(key.as_str())
                        .map_or(span.clone(), |(key, _)| key.span());
                    table.insert(Spanned::new(at, Cow::Owned(key.clone())), value);
                }
                Step::Index(index) => {
                    *list_mut(&mut self.tree, above)?.get_mut(*index)? = value;
                }
            }
            match self.read() {
                Err(next) if self.is_about(&next, &span, path) => {
                    if !words_are_known {
                        let before = stand_ins.len();
                        stand_ins.extend(variants(&next).map(DeValue::String));
                        words_are_known = stand_ins.len() > before;
                    }
                    if stand_ins.is_empty()
                        && let Some(read) = self.fill(path, next)
                    {
                        return Some(read);
                    }
                }
                read => return Some(read),
            }
        }
        let Step::Key(key) = last else { return None };
        table_mut(&mut self.tree, above)?.remove(key.as_str());
        let read = self.read();
        let missing = |error: &Error| error.message() == format!("missing field `{key}`");
        (!read.as_ref().is_err_and(missing)).then_some(read)
    }

    /// Reads with what is missing in a table that stands in for another value; `None` if that does
    /// not help.
    fn fill<T: Deserialize<'t>>(
        &mut self,
        table: &[Step],
        mut error: Error,
    ) -> Option<Result<T, Error>> {
        loop {
            let missing = error.message().strip_prefix("missing field ")?.trim_matches('`');
            let mut path = table.to_vec();
            if self.table_of(&error.span()?)? != path {
                return None;
            }
            path.push(Step::Key(missing.to_owned()));
            match self.replace(&path)? {
                Err(next) if next.message().starts_with("missing field ") && next != error => {
                    let inside = next.span().and_then(|span| self.table_of(&span));
                    if inside.is_none_or(|inside| inside != table) {
                        return Some(Err(next));
                    }
                    error = next;
                }
                read => return Some(read),
            }
        }
    }

    /// Whether an error is about the value with this place and path, or a part of it, or refuses
    /// what has it.
    fn is_about(&self, error: &Error, place: &Range<usize>, path: &[Step]) -> bool {
        let Some(span) = error.span() else { return true };
        if place.contains(&span.start) {
            return true;
        }
        let other = ["missing field ", "unknown field ", "unexpected keys "];
        if other.iter().any(|start| error.message().starts_with(start)) {
            return false;
        }
        self.path_at(span.start).is_some_and(|of| path.starts_with(&of))
    }

    /// The innermost value that has a byte, or the value of a key that has it.
    fn path_at(&self, offset: usize) -> Option<Vec<Step>> {
        let mut path = Vec::new();
        in_table(self.tree.get_ref(), offset, &mut path).then_some(path)
    }

    /// The table with this place; `None` if that is the whole file.
    fn table_of(&self, span: &Range<usize>) -> Option<Vec<Step>> {
        let mut path = Vec::new();
        let found = self.tree.span() != *span && table_in(self.tree.get_ref(), span, &mut path);
        found.then_some(path)
    }
}

/// The keys that a table may have, where another is refused.
fn known_keys(message: &str) -> Option<Vec<&str>> {
    if message.starts_with("unknown field ") {
        return Some(message.split('`').skip(3).step_by(2).collect());
    }
    let keys = message.strip_prefix("unexpected keys in table: ")?;
    let known = keys.split_once(", available keys: ").map_or("", |(_, known)| known);
    Some(known.split(", ").filter(|key| !key.is_empty()).collect())
}

/// Values one of which almost every type takes, the first to be tried last.
fn stand_ins<'t>() -> Vec<DeValue<'t>> {
    let texts = ["{}", "[]", "[1]", "false", "\"_\"", "1"];
    let values = texts.iter().filter_map(|text| DeValue::parse(text).ok());
    values.map(Spanned::into_inner).collect()
}

/// The words that would do in the place of one that is not known; some, since more would not help.
fn variants<'t>(error: &Error) -> impl Iterator<Item = Cow<'t, str>> {
    let unknown = error.message().starts_with("unknown variant ");
    let names = error.message().split('`').skip(1).step_by(2).skip(1);
    let names: Vec<_> =
        names.filter(|_| unknown).take(2).map(|name| Cow::Owned(name.to_owned())).collect();
    names.into_iter().rev()
}

/// The value with this place for its parts.
fn placed<'t>(value: DeValue<'t>, span: &Range<usize>) -> DeValue<'t> {
    match value {
        DeValue::Array(list) => {
            let parts = list.into_iter().map(|part| Spanned::new(span.clone(), part.into_inner()));
            DeValue::Array(parts.collect::<DeArray<'_>>())
        }
        other => other,
    }
}

fn in_table(table: &DeTable<'_>, offset: usize, path: &mut Vec<Step>) -> bool {
    table.iter().any(|(name, value)| {
        path.push(Step::Key(name.get_ref().to_string()));
        let found = name.span().contains(&offset) || in_value(value, offset, path);
        if !found {
            path.pop();
        }
        found
    })
}

fn in_value(value: &Spanned<DeValue<'_>>, offset: usize, path: &mut Vec<Step>) -> bool {
    let below = match value.get_ref() {
        DeValue::Table(table) => in_table(table, offset, path),
        DeValue::Array(list) => list.iter().enumerate().any(|(index, element)| {
            path.push(Step::Index(index));
            let found = in_value(element, offset, path);
            if !found {
                path.pop();
            }
            found
        }),
        _ => false,
    };
    below || value.span().contains(&offset)
}

fn table_in(table: &DeTable<'_>, span: &Range<usize>, path: &mut Vec<Step>) -> bool {
    table
        .iter()
        .any(|(name, value)| table_at(value, Step::Key(name.get_ref().to_string()), span, path))
}

/// Finds the table with this place in a value, which is one step further.
fn table_at(
    value: &Spanned<DeValue<'_>>,
    step: Step,
    span: &Range<usize>,
    path: &mut Vec<Step>,
) -> bool {
    path.push(step);
    let found = match value.get_ref() {
        DeValue::Table(table) => value.span() == *span || table_in(table, span, path),
        DeValue::Array(list) => list
            .iter()
            .enumerate()
            .any(|(index, element)| table_at(element, Step::Index(index), span, path)),
        _ => false,
    };
    if !found {
        path.pop();
    }
    found
}

fn table_mut<'a, 't>(
    tree: &'a mut Spanned<DeTable<'t>>,
    path: &[Step],
) -> Option<&'a mut DeTable<'t>> {
    let Some((first, rest)) = path.split_first() else { return Some(tree.get_mut()) };
    let Step::Key(key) = first else { return None };
    match value_mut(tree.get_mut().get_mut(key.as_str())?, rest)?.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn list_mut<'a, 't>(
    tree: &'a mut Spanned<DeTable<'t>>,
    path: &[Step],
) -> Option<&'a mut DeArray<'t>> {
    let (Step::Key(key), rest) = path.split_first()? else { return None };
    match value_mut(tree.get_mut().get_mut(key.as_str())?, rest)?.get_mut() {
        DeValue::Array(list) => Some(list),
        _ => None,
    }
}

fn value_mut<'a, 't>(
    value: &'a mut Spanned<DeValue<'t>>,
    path: &[Step],
) -> Option<&'a mut Spanned<DeValue<'t>>> {
    let Some((first, rest)) = path.split_first() else { return Some(value) };
    let below = match (value.get_mut(), first) {
        (DeValue::Table(table), Step::Key(key)) => table.get_mut(key.as_str())?,
        (DeValue::Array(list), Step::Index(index)) => list.get_mut(*index)?,
        _ => return None,
    };
    value_mut(below, rest)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        name: String,
        #[serde(default)]
        part: Vec<Part>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with it is looked at")]
    struct Part {
        count: u32,
        side: Option<Vec<u8>>,
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only what is wrong with it is looked at")]
    enum Kind {
        Plain,
        Table { low: i64 },
    }

    fn said(text: &str) -> (Vec<String>, bool) {
        let reading = read::<File>(text);
        let mistakes = reading.mistakes.iter().map(ToString::to_string);
        (mistakes.collect(), reading.value.is_some())
    }

    #[test]
    fn every_mistake_is_found_once() {
        let text = "nmae = 3\nkind = \"plane\"\n[[part]]\ncount = -1\nside = [1, \"b\", 3, \"d\"]\n\
                    colour = 1\nkind = { table = {} }\n[[part]]\nkidn = \"plain\"\n[[part]]\n\
                    count = 1\nkind = 7\n";
        let (mut mistakes, read) = said(text);
        mistakes.sort();
        let places: Vec<_> = mistakes.iter().map(|said| said.split(": ").next().unwrap()).collect();
        assert_eq!(
            places,
            ["12:8", "1:1", "2:8", "4:9", "5:12", "5:20", "6:1", "7:18", "8:1", "9:1"],
            "{mistakes:#?}"
        );
        assert!(read);
    }

    #[test]
    fn what_follows_from_a_mistake_is_none() {
        for (text, places) in [
            // Neither the name nor the count is missing.
            ("name = 3\n[[part]]\ncuont = 3\nkind = \"plain\"\n", &["1:8", "3:1"][..]),
            // The key that was meant has another type.
            ("name = \"a\"\nkidn = 3\n", &["2:1"]),
            ("name = \"a\"\n[part]\ncount = 3\n", &["2:1"]),
        ] {
            let (mistakes, read) = said(text);
            let found: Vec<_> =
                mistakes.iter().map(|said| said.split(": ").next().unwrap()).collect();
            assert_eq!(found, places, "{mistakes:?}");
            assert!(read, "{text}");
        }
    }

    #[test]
    fn every_line_that_is_no_toml_is_named() {
        let cases: &[(&str, &[&str])] = &[
            ("name = \nkind = plain\n[[part]]\ncount = ]\n[[part\n", &["1:8", "2:8", "4:9", "5:7"]),
            ("name = 1\nname = 2\n[part]\ncount = 3\ncount = 4\n", &["2:1", "5:1"]),
            ("[part]\ncount = 3\n[part]\ncount = 4\n", &["3:2"]),
            // Both tables have their keys once.
            ("[[part]\ncount = 3\n[[part]\ncount = 4\n", &["1:8", "3:8"]),
            // What follows is no part of the list.
            ("kind = [1,\nname = 3\n[[part]]\ncount = 1\n", &["2:6"]),
            ("name = \"a\nkind = 3 4\n[[part]]\ncount = [1,\n[[part]]\n", &["1:10", "2:8", "4:12"]),
            ("name = \"\"\"a\n[[part]]\ncount = ?\n", &["4:1"]),
        ];
        for (text, expected) in cases {
            let (mistakes, read) = said(text);
            let places: Vec<_> =
                mistakes.iter().map(|said| said.split(": ").next().unwrap()).collect();
            assert_eq!(places, *expected, "{text}{mistakes:#?}");
            assert!(!read);
        }
    }

    #[test]
    fn a_good_file_is_read_as_ever() {
        let reading = read::<File>("name = \"a\"\n[[part]]\ncount = 1\nkind = \"plain\"\n");
        assert!(reading.mistakes.is_empty() && reading.changed.is_empty());
        let file = reading.value.unwrap();
        assert_eq!((file.name.as_str(), file.part.len(), file.kind.is_none()), ("a", 1, true));
    }

    #[test]
    fn the_number_of_mistakes_is_bounded() {
        let text = "name = \"a\"\n".to_owned() + &"[[part]]\n".repeat(200);
        let reading = read::<File>(&text);
        assert_eq!((reading.mistakes.len(), reading.value.is_none()), (MOST, true));
    }
}
