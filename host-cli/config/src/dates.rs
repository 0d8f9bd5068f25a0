//! Dates, which TOML has and no file of this program: each is refused with what is expected there.
//!
//! Serde has no dates, and sees a table with a key of the parser's own. Here dates become texts
//! with a mark, which [`super::strict`] refuses wherever they stand.

use std::borrow::Cow;

use serde::de::{Error, Expected, Unexpected};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The mark, which begins no text that a person would write.
const MARK: &str = "\0a date: ";

/// The text of the file, with each date in it marked.
pub(super) fn marked(mut tree: Spanned<DeTable<'_>>) -> Spanned<DeTable<'_>> {
    tree.get_mut().iter_mut().for_each(|(_, value)| mark(value));
    tree
}

fn mark(value: &mut Spanned<DeValue<'_>>) {
    match value.get_mut() {
        DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| mark(value)),
        DeValue::Array(list) => list.iter_mut().for_each(mark),
        DeValue::Datetime(date) => {
            let text = Cow::Owned(format!("{MARK}{date}"));
            *value.get_mut() = DeValue::String(text);
        }
        _ => {}
    }
}

/// Refuses a date where a text may stand.
pub(super) fn check<E: Error>(text: &str, expected: &dyn Expected) -> Result<(), E> {
    match text.strip_prefix(MARK) {
        None => Ok(()),
        Some(date) => {
            let found = format!("the date {date}");
            Err(E::invalid_type(Unexpected::Other(&found), expected))
        }
    }
}
