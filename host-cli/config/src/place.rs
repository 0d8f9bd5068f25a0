//! Places of a TOML file: the line and column of a key, for errors that are found once the file has
//! been read.

use toml::de::{DeTable, DeValue};

/// A line and a column of a text, both from 1. Unit of columns: characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Position {
    /// The position of a byte of `text`; that of its end, if it is shorter.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset.min(text.len()))];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
        Self { line, column: 1 + before[start..].chars().count() }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}:{}", self.line, self.column)
    }
}

/// Where a key such as `cache.entries` stands in a file that is valid TOML; of keys that are not
/// there, the innermost table that is.
pub fn of_key(text: &str, key: &str) -> Option<Position> {
    let root = DeTable::parse(text).ok()?;
    let (offset, _) = find(root.get_ref(), key)?;
    Some(Position::of(text, offset))
}

/// The first of the keys that a message quotes with backticks and that the file has.
pub fn of_quoted(text: &str, message: &str) -> Option<Position> {
    let root = DeTable::parse(text).ok()?;
    let quoted = message.split('`').skip(1).step_by(2).map(|quoted| {
        let key = quoted.split_once(" = ").map_or(quoted, |(key, _)| key);
        key.trim_matches(['[', ']'])
    });
    let found = quoted.filter_map(|key| find(root.get_ref(), key)).find(|(_, whole)| *whole);
    found.map(|(offset, _)| Position::of(text, offset))
}

/// The key whose value has a byte of `text`, such as `buffer[1].count`; for a byte of a key, the
/// table that has it, which is nameless if that is the whole file. `None` if `text` is no TOML.
pub fn key_at(text: &str, offset: usize) -> Option<String> {
    let root = DeTable::parse(text).ok()?;
    within_table(root.get_ref(), offset)
}

fn within_table(table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        if name.span().contains(&offset) {
            return Some(String::new());
        }
        let below = within(value, offset)?;
        let dot = if below.is_empty() || below.starts_with('[') { "" } else { "." };
        Some(format!("{}{dot}{below}", name.get_ref()))
    })
}

fn within(value: &toml::Spanned<DeValue<'_>>, offset: usize) -> Option<String> {
    let below = match value.get_ref() {
        DeValue::Table(table) => within_table(table, offset),
        DeValue::Array(list) => list.iter().enumerate().find_map(|(index, element)| {
            let below = within(element, offset)?;
            let dot = if below.is_empty() || below.starts_with('[') { "" } else { "." };
            Some(format!("[{index}]{dot}{below}"))
        }),
        _ => None,
    };
    below.or_else(|| value.span().contains(&offset).then(String::new))
}

/// The offset of as much of a key as is there, and whether that is all of it. An element of a list
/// goes by its index.
fn find(root: &DeTable<'_>, key: &str) -> Option<(usize, bool)> {
    let (first, rest) =
        key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let (name, value) = root.iter().find(|(name, _)| name.get_ref() == first)?;
    let (mut offset, mut value) = (name.span().start, value.get_ref());
    for part in rest.into_iter().flat_map(|rest| rest.split('.')) {
        let inside = match value {
            DeValue::Table(table) => {
                let entry = table.iter().find(|(name, _)| name.get_ref() == part);
                entry.map(|(name, value)| (name.span().start, value.get_ref()))
            }
            DeValue::Array(list) => {
                let element = part.parse().ok().and_then(|index: usize| list.get(index));
                element.map(|element| (element.span().start, element.get_ref()))
            }
            _ => None,
        };
        let Some(inside) = inside else { return Some((offset, false)) };
        (offset, value) = inside;
    }
    Some((offset, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "base = \"a\"\n[cache]\nentries = 4\n  energy.read = \"µ\" \n";

    #[test]
    fn keys_have_their_places() {
        let of = |key| of_key(TEXT, key).map(|place| place.to_string());
        assert_eq!(of("base").as_deref(), Some("1:1"));
        assert_eq!(of("cache").as_deref(), Some("2:2"));
        assert_eq!(of("cache.entries").as_deref(), Some("3:1"));
        assert_eq!(of("cache.energy.read").as_deref(), Some("4:10"));
        assert_eq!(of("cache.other").as_deref(), Some("2:2"));
        assert_eq!(of("other"), None);
        let listed = |key| of_key("[[bank]]\na = 1\n[[bank]]\na = 2", key).map(|at| at.to_string());
        assert_eq!(listed("bank.1.a").as_deref(), Some("4:1"));
        assert_eq!(listed("bank.1.b").as_deref(), Some("3:1"));
        assert_eq!(listed("bank.2.a").as_deref(), Some("1:3"));
        assert_eq!(of_key("a = ", "a"), None);
    }

    #[test]
    fn places_have_their_keys() {
        let text = "a = 1\n[b]\nc = [2, { d = 3 }]\ne.f = 4\n[[g]]\nh = 5\n[[g]]\nh = 6\n";
        let of = |mark: &str| key_at(text, text.find(mark).unwrap()).unwrap();
        assert_eq!(of("1"), "a");
        assert_eq!(of("a ="), "");
        assert_eq!(of("c ="), "b");
        assert_eq!(of("2"), "b.c[0]");
        assert_eq!(of("3"), "b.c[1].d");
        assert_eq!(of("4"), "b.e.f");
        assert_eq!(of("6"), "g[1].h");
        assert_eq!(key_at("a = ", 0), None);
    }

    #[test]
    fn a_message_quotes_keys() {
        let of = |message| of_quoted(TEXT, message).map(|place| place.to_string());
        assert_eq!(of("`none` and `cache.entries = 4`").as_deref(), Some("3:1"));
        assert_eq!(of("`[cache]` has no `entries`").as_deref(), Some("2:2"));
        assert_eq!(of("no key"), None);
    }

    #[test]
    fn columns_are_characters() {
        assert_eq!(Position::of("aµb", 3), Position { line: 1, column: 3 });
        assert_eq!(Position::of("a\nb", 99), Position { line: 2, column: 2 });
        assert_eq!(Position::of("µ", 1), Position { line: 1, column: 1 });
    }
}
