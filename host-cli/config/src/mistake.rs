//! Mistakes of TOML files, in the words of files: what serde says of Rust's types is said of keys,
//! texts, numbers, lists and tables.

use std::fmt;

use super::place::{self, Position};
use super::suggest::{did_you_mean, suggest};

/// Most names that a message lists.
const MOST_LISTED: usize = 16;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where, if one place can be blamed.
    pub position: Option<Position>,
    /// Whose value it is, such as `buffer[1].count`; empty for what is wrong with the whole file.
    pub key: String,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// A key that is not known, if that is the mistake.
    pub unknown_key: Option<String>,
    /// What was meant, perhaps.
    near: Option<String>,
}

impl fmt::Display for Mistake {
    /// `line:column: key: message`, or ` key: message` without a place, to be written behind the
    /// file and a colon.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(to, "{position}: ")?,
            None => to.write_str(" ")?,
        }
        if !self.key.is_empty() {
            write!(to, "{}: ", self.key)?;
        }
        to.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl Mistake {
    /// What is wrong with what was typed, which has no lines.
    pub fn typed(message: String) -> Self {
        Self { position: None, key: String::new(), message, unknown_key: None, near: None }
    }

    /// The mistake that the reader of `text` found.
    pub(super) fn new(error: &toml::de::Error, text: &str) -> Self {
        let span = error.span();
        let position = span.as_ref().map(|span| Position::of(text, span.start));
        let key = span.as_ref().and_then(|span| place::key_at(text, span.start));
        let said = error.message().trim_end().replace('\n', "; ");
        let mut mistake = Self {
            position,
            key: key.unwrap_or_default(),
            message: String::new(),
            unknown_key: None,
            near: None,
        };
        let names: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
        mistake.message = match (said.split(' ').next(), names.as_slice()) {
            (Some("unknown"), [unknown, known @ ..]) => {
                let is_key = said.starts_with("unknown field");
                mistake.unknown_key = is_key.then(|| (*unknown).to_owned());
                let near = suggest(unknown, known.iter().copied());
                mistake.near = near.first().map(|near| (*near).to_owned());
                not_known(is_key, unknown, known)
            }
            (Some("unexpected"), _) if said.starts_with("unexpected keys in table: ") => {
                let names = said.trim_start_matches("unexpected keys in table: ");
                let (unknown, known) =
                    names.split_once(", available keys: ").unwrap_or((names, ""));
                let unknown = unknown.split(", ").next().unwrap_or_default();
                let known: Vec<&str> = known.split(", ").filter(|name| !name.is_empty()).collect();
                not_known(true, unknown, &known)
            }
            (Some("missing"), [missing]) if said.starts_with("missing field") => {
                format!("`{missing}` is missing")
            }
            (Some("duplicate"), _) => match span.and_then(|span| text.get(span)) {
                Some(twice) => format!("`{twice}` is given twice"),
                None => "a key is given twice".to_owned(),
            },
            _ => of_value(&said),
        };
        if let Some(span) = error.span() {
            mistake.look_at(text, span.start);
        }
        mistake
    }

    /// Says what stands at the place where that tells more than the parser does.
    fn look_at(&mut self, text: &str, place: usize) {
        let rest = text.get(place..).unwrap_or_default();
        if self.message == "expected a list, found a table" && rest.starts_with('[') {
            self.message = format!("there can be several: write `[[{}]]`", self.key);
            return;
        }
        if self.message == "expected a table, found a list" && rest.starts_with("[[") {
            // The first of several begins where their list does.
            if let Some(key) = self.key.strip_suffix("[0]") {
                self.key.truncate(key.len());
            }
            self.message = format!("there can be only one: write `[{}]`", self.key);
            return;
        }
        // A parser that found no value says what it took it for.
        let line = text.get(..place).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        if !self.key.is_empty() || !line.trim_end().ends_with('=') {
            return;
        }
        let word = rest.split([' ', '\t', '\r', '\n', '#', ',']).next().unwrap_or_default();
        if word.is_empty() {
            "there is no value behind the `=`".clone_into(&mut self.message);
        } else if word.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            self.message = format!("a text has quotes: write `\"{word}\"`");
        }
    }

    /// What was meant, as a question; empty if nothing comes near.
    pub fn hint(&self) -> String {
        self.near.as_deref().and_then(|near| did_you_mean(&[near])).unwrap_or_default()
    }
}

/// A key or a word that is not one of those known.
fn not_known(is_key: bool, unknown: &str, known: &[&str]) -> String {
    let what = if is_key { "key " } else { "" };
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [_, .., _] if known.len() > MOST_LISTED => format!("there is no {what}`{unknown}` here"),
        [] => format!("there is no {what}`{unknown}` here"),
        [one] => format!("there is no {what}`{unknown}` here, only {one}"),
        all => format!("there is no {what}`{unknown}` here; there are {}", all.join(", ")),
    }
}

/// A value of the wrong kind; everything else as it is.
fn of_value(said: &str) -> String {
    let invalid = ["invalid type: ", "invalid value: ", "invalid length "];
    let Some(rest) = invalid.iter().find_map(|start| said.strip_prefix(start)) else {
        return match said {
            "wanted string or table" => "expected a text in quotes or a table".to_owned(),
            said if said.starts_with("wanted exactly 1 element") => {
                "expected exactly one key in this table".to_owned()
            }
            "integer number overflowed" | "floating-point number overflowed" => {
                "the number is too large".to_owned()
            }
            said => said.to_owned(),
        };
    };
    // What was found may be a text that has these words, too; what is expected is not.
    let Some((found, expected)) = rest.rsplit_once(", expected ") else { return said.to_owned() };
    format!("expected {}, found {}", expectation(expected), finding(found))
}

/// What serde calls a type, as a file's author does.
fn expectation(expected: &str) -> String {
    let whole = |rest: &str| format!("a whole number{rest}");
    let elements = |count: &str| format!("a list of {count} elements");
    match expected {
        "a string" | "a borrowed string" | "string" => "a text in quotes".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "variant identifier" => "a text in quotes or a table".to_owned(),
        "i8" | "i16" | "i32" | "i64" => whole(""),
        "u8" => whole(" from 0 to 255"),
        "u16" => whole(" from 0 to 65535"),
        "u32" => whole(" from 0 to 4294967295"),
        "u64" | "usize" => whole(", 0 or more"),
        "a nonzero u8" => whole(" from 1 to 255"),
        "a nonzero u16" => whole(" from 1 to 65535"),
        "a nonzero u32" => whole(" from 1 to 4294967295"),
        "a nonzero u64" | "a nonzero usize" => whole(", 1 or more"),
        "f32" | "f64" => "a number".to_owned(),
        other => {
            let tuple = other.strip_prefix("a tuple of size ");
            let array = other.strip_prefix("an array of length ");
            let is_table = ["struct ", "enum "].iter().any(|start| other.starts_with(start));
            match tuple.or(array) {
                Some(count) => elements(count),
                None if is_table => "a table".to_owned(),
                None => other.to_owned(),
            }
        }
    }
}

/// What serde calls a value, as a file's author does.
fn finding(found: &str) -> String {
    // A number of more than 64 bits has its type behind it.
    let found = found.strip_suffix(" as i128").unwrap_or(found);
    let found = found.strip_suffix(" as u128").unwrap_or(found);
    let quoted = |start: &str| {
        let inside = found.strip_prefix(start).and_then(|rest| rest.strip_suffix('`'));
        inside.map(str::to_owned)
    };
    if let Some(number) = quoted("integer `").or_else(|| quoted("floating point `")) {
        return number;
    }
    match found {
        "sequence" => "a list".to_owned(),
        "unit variant" => "a text in quotes".to_owned(),
        "map" | "newtype variant" | "struct variant" | "tuple variant" => "a table".to_owned(),
        other if other.starts_with("string ") => other.replacen("string", "the text", 1),
        other if other.starts_with("boolean ") => other.replacen("boolean ", "", 1),
        // The length of a list.
        other if other.bytes().all(|byte| byte.is_ascii_digit()) => format!("{other} of them"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use serde::Deserialize;

    use crate::strict;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with it is looked at")]
    struct File {
        name: String,
        #[serde(default)]
        part: Vec<Part>,
        pair: Option<(u8, u8)>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with it is looked at")]
    struct Part {
        count: Option<u32>,
        most: Option<NonZeroU32>,
        share: Option<f64>,
        on: Option<bool>,
        offset: Option<i64>,
        list: Option<Vec<u64>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only what is wrong with it is looked at")]
    enum Kind {
        Plain,
        Table { low: i64 },
    }

    /// Files, what is said of each, and what may have been meant.
    const SAID: &[(&str, &str, &str)] = &[
        ("", "1:1: `name` is missing", ""),
        ("name = 3", "1:8: name: expected a text in quotes, found 3", ""),
        ("name = true", "1:8: name: expected a text in quotes, found `true`", ""),
        ("name = [1]", "1:8: name: expected a text in quotes, found a list", ""),
        ("name = { a = 1 }", "1:8: name: expected a text in quotes, found a table", ""),
        ("name = \"a\"\nname = \"b\"", "2:1: `name` is given twice", ""),
        (
            "name = \"a\"\nnmae = 3",
            "2:1: there is no key `nmae` here; there are `name`, `part`, `pair`, `kind`",
            "did you mean `name`?",
        ),
        ("name = \"a\"\npart = 3", "2:8: part: expected a list, found 3", ""),
        (
            "name = \"a\"\n[part]\ncount = 3",
            "2:1: part: there can be several: write `[[part]]`",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\ncount = \"many\"",
            "3:9: part[0].count: expected a whole number from 0 to 4294967295, found \
                 the text \"many\"",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\ncount = \"x, expected y\"",
            "3:9: part[0].count: expected a whole number from 0 to 4294967295, found \
                 the text \"x, expected y\"",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\n[[part]]\ncount = -1",
            "4:9: part[1].count: expected a whole number from 0 to 4294967295, found -1",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\ncount = 99999999999",
            "3:9: part[0].count: expected a whole number from 0 to 4294967295, found \
                 99999999999",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\ncount = 99999999999999999999999",
            "3:9: part[0].count: expected a whole number from 0 to 4294967295, found \
                 99999999999999999999999",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\ncount = 1.5",
            "3:9: part[0].count: expected a whole number from 0 to 4294967295, found 1.5",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\nmost = 0",
            "3:8: part[0].most: expected a whole number from 1 to 4294967295, found 0",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\nshare = \"half\"",
            "3:9: part[0].share: expected a number, found the text \"half\"",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\non = 1",
            "3:6: part[0].on: expected `true` or `false`, found 1",
            "",
        ),
        (
            "name = \"a\"\n[[part]]\noffset = {}",
            "3:10: part[0].offset: expected a whole number, found a table",
            "",
        ),
        (
            "name = \"a\"\npart = [{ list = [1, \"b\"] }]",
            "2:22: part[0].list[1]: expected a whole number, 0 or more, found the text \
                 \"b\"",
            "",
        ),
        (
            "name = \"a\"\npart = [{ cuont = 1 }]",
            "2:11: part[0]: there is no key `cuont` here; there are `count`, `most`, \
                 `share`, `on`, `offset`, `list`",
            "did you mean `count`?",
        ),
        (
            "name = \"a\"\npair = [1]",
            "2:8: pair: expected a list of 2 elements, found 1 of them",
            "",
        ),
        (
            "name = \"a\"\npair = [1, 2, 3]",
            "2:8: pair: the list has more elements than there can be",
            "",
        ),
        (
            "name = \"a\"\nkind = \"plane\"",
            "2:8: kind: there is no `plane` here; there are `plain`, `table`",
            "did you mean `plain`?",
        ),
        (
            "name = \"a\"\nkind = \"table\"",
            "2:8: kind: expected a table, found a text in quotes",
            "",
        ),
        ("name = \"a\"\nkind = 3", "2:8: kind: expected a text in quotes or a table", ""),
        ("name = \"a\"\nkind = { table = {} }", "2:18: kind.table: `low` is missing", ""),
        (
            "name = \"a\"\nkind = { table = { low = 1, high = 2 } }",
            "2:29: kind.table: there is no key `high` here, only `low`",
            "",
        ),
        (
            "name = \"a\"\nkind = { plain = 1, table = 2 }",
            "2:8: kind: expected exactly one key in this table",
            "",
        ),
        ("name = ", "1:8: there is no value behind the `=`", ""),
        ("name = a", "1:8: a text has quotes: write `\"a\"`", ""),
        ("name = inf2 # a name", "1:8: a text has quotes: write `\"inf2\"`", ""),
        ("name \"a\"", "1:6: key with no value, expected `=`", ""),
        ("name = \"a", "1:10: invalid basic string, expected `\"`", ""),
        ("[part", "1:6: unclosed table, expected `]`", ""),
    ];

    #[test]
    fn every_mistake_is_said_in_words_of_the_file() {
        for &(text, said, hint) in SAID {
            let mistake = strict::from_str::<File>(text).unwrap_err();
            assert_eq!((mistake.to_string().as_str(), mistake.hint().as_str()), (said, hint));
        }
    }
}
