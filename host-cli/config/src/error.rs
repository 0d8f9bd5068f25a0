//! Errors of configuration: which file, where in it, which key, which value, what is allowed, how
//! to fix it.

use super::{Mistake, place};

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        reason: String,
    },
    /// Not TOML, an unknown key, a value of the wrong type, a quantity with the wrong unit.
    #[error("{file}:{mistake}")]
    Malformed {
        /// The file.
        file: String,
        /// The place and what is wrong.
        mistake: Box<Mistake>,
        /// What was meant, perhaps; may be empty.
        hint: String,
    },
    /// A value outside its range.
    #[error("{file}: `{key} = {value}` is impossible: allowed is {allowed}")]
    Range {
        /// The file.
        file: String,
        /// The key, with its tables.
        key: String,
        /// The value given.
        value: String,
        /// The values allowed.
        allowed: String,
    },
    /// Values that are possible alone but not together, or a value that lacks another.
    #[error("{file}: {problem}")]
    Combination {
        /// The file, or the name of the design.
        file: String,
        /// What does not fit, with the keys.
        problem: String,
        /// How to fix it.
        hint: String,
    },
    /// A name that does not exist.
    #[error("there is no {what} called `{name}`")]
    UnknownName {
        /// What kind of thing it would be.
        what: &'static str,
        /// The name.
        name: String,
        /// Names it resembles, or a sentence on the names there are.
        hint: String,
    },
}

impl ConfigError {
    /// This error with the line and column of the key in `file`, whose text is `text`, where the
    /// error is about a key of that file.
    #[must_use]
    pub fn located(mut self, file: &str, text: &str) -> Self {
        let (of, position) = match &mut self {
            Self::Range { file, key, .. } => (file, place::of_key(text, key)),
            Self::Combination { file, problem, .. } => (file, place::of_quoted(text, problem)),
            Self::Unreadable { .. } | Self::Malformed { .. } | Self::UnknownName { .. } => {
                return self;
            }
        };
        if let Some(position) = position.filter(|_| of == file) {
            *of = format!("{file}:{position}");
        }
        self
    }

    /// How to fix it, where the message itself does not say.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Combination { hint, .. }
            | Self::UnknownName { hint, .. }
            | Self::Malformed { hint, .. } => Some(hint),
            Self::Unreadable { .. } | Self::Range { .. } => None,
        }
    }
}
