//! Names and texts of files: what may be printed, compared and written into other files as it is.
//!
//! A name is a plain word ([`word`]): designs, technologies, machines, sizes of workloads and
//! buffers have such names. A text, such as the source of a value, is one line ([`line()`]). What
//! is neither is shown with its characters written out ([`shown`]), so that no file can write to a
//! terminal what its reader does not see.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::ConfigError;

/// Longest name. Unit: characters.
pub const LONGEST_NAME: usize = 100;

/// Longest text. Unit: bytes.
pub const LONGEST_TEXT: usize = 4096;

/// What is wrong with a name or a text, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing but spaces.
    #[error("it is empty")]
    Empty,
    /// Longer than [`LONGEST_NAME`] or [`LONGEST_TEXT`].
    #[error("it has {length} {unit}, and at most {most} are allowed")]
    TooLong {
        /// How long it is.
        length: usize,
        /// How long it may be.
        most: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A character that it may not have.
    #[error("`{}` is not allowed there", character.escape_default())]
    Character {
        /// The character.
        character: char,
    },
}

/// What a name may be, for messages.
pub const A_WORD: &str = "a plain word of letters a to z, digits, `-`, `_`, `.` and `+`, which \
                          starts with a letter, a digit or `_` and has at most 100 characters";

/// What a text may be, for messages.
pub const A_LINE: &str = "one line of at most 4096 bytes, not empty, without control characters or \
                          characters that turn the direction of writing";

/// Whether a name is a plain word: [`A_WORD`].
///
/// # Errors
/// What is wrong with it.
pub fn word(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    let length = name.chars().count();
    if length > LONGEST_NAME {
        return Err(NameError::TooLong { length, most: LONGEST_NAME, unit: "characters" });
    }
    let wrong = name.char_indices().find(|&(at, character)| {
        let inside = character.is_ascii_alphanumeric() || character == '_';
        !(inside || at > 0 && matches!(character, '-' | '.' | '+'))
    });
    wrong.map_or(Ok(()), |(_, character)| Err(NameError::Character { character }))
}

/// Whether a text can be printed as one line: [`A_LINE`].
///
/// # Errors
/// What is wrong with it.
pub fn line(text: &str) -> Result<(), NameError> {
    if text.trim().is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > LONGEST_TEXT {
        return Err(NameError::TooLong { length: text.len(), most: LONGEST_TEXT, unit: "bytes" });
    }
    let wrong = text.chars().find(|&character| is_hidden(character));
    wrong.map_or(Ok(()), |character| Err(NameError::Character { character }))
}

/// A text as a terminal can show it: hidden characters other than the end of a line are written out
/// as in Rust, such as `\u{1b}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    let hidden = |character: char| character != '\n' && is_hidden(character);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            let _ = write!(shown, "{}", character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Refuses a name of a file that is no plain word, with its key.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn check_word(file: &str, key: &str, name: &str) -> Result<(), ConfigError> {
    word(name).map_err(|why| refused(file, key, name, &why, A_WORD))
}

/// Refuses a text of a file that is not one line, with its key and what it should say.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn check_line(file: &str, key: &str, what: &str, text: &str) -> Result<(), ConfigError> {
    line(text).map_err(|why| refused(file, key, text, &why, &format!("{what}: {A_LINE}")))
}

fn refused(file: &str, key: &str, text: &str, why: &NameError, allowed: &str) -> ConfigError {
    let shortened: String = text.chars().take(LONGEST_NAME).collect();
    ConfigError::Range {
        file: file.to_owned(),
        key: key.to_owned(),
        value: format!("{shortened:?}"),
        allowed: format!("{allowed} ({why})"),
    }
}

/// Whether a character changes how its neighbours are shown, or is not seen itself: control
/// characters, ends of lines and paragraphs, marks, embeddings and isolates of the direction of
/// writing, characters without width.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_word() {
        for name in ["isca11-rfc6", "diss-orf3-lrf-split", "a", "_x", "7nm", "sm_75+v1.2"] {
            assert_eq!(word(name), Ok(()), "{name}");
        }
        assert_eq!(word(""), Err(NameError::Empty));
        for (name, character) in [
            (" ", ' '),
            ("a b", ' '),
            ("a\u{1b}[31m", '\u{1b}'),
            ("a\n", '\n'),
            ("a\u{202e}b", '\u{202e}'),
            ("a\u{0}", '\u{0}'),
            ("-j", '-'),
            (".x", '.'),
            ("a/b", '/'),
            ("a,b", ','),
            ("\u{430}", '\u{430}'),
        ] {
            assert_eq!(word(name), Err(NameError::Character { character }), "{name:?}");
        }
        assert_eq!(word(&"x".repeat(100)), Ok(()));
        let long = word(&"x".repeat(101)).unwrap_err().to_string();
        assert_eq!(long, "it has 101 characters, and at most 100 are allowed");
    }

    #[test]
    fn a_text_is_one_line() {
        for text in ["our synthesis at 28 nm", "Größe, 0.5 µm, \u{2264} 3", "a\u{301}"] {
            assert_eq!(line(text), Ok(()), "{text}");
        }
        assert_eq!(line(" \t"), Err(NameError::Empty));
        for text in ["a\nb", "a\tb", "\u{9b}31m", "a\u{2066}b", "a\u{200b}", "\u{e0041}"] {
            assert!(matches!(line(text), Err(NameError::Character { .. })), "{text:?}");
        }
        assert!(matches!(line(&"x".repeat(5000)), Err(NameError::TooLong { .. })));
    }

    #[test]
    fn hidden_characters_are_written_out_and_lines_stay() {
        assert_eq!(shown("a\nb \u{b5}"), "a\nb \u{b5}");
        assert_eq!(shown("a\u{1b}[2J\u{202e}b\r"), "a\\u{1b}[2J\\u{202e}b\\r");
    }
}
