//! Command line of `workloads` and `designs`.

use clap::ValueEnum;

use crate::report::columns::Form;

/// How what can be named is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Text to read.
    Text,
    /// One line for each.
    Csv,
    /// One JSON array.
    Json,
    /// A table of Markdown.
    Markdown,
}

impl ListFormat {
    /// How columns are written; none of text to read.
    pub const fn form(self) -> Option<Form> {
        match self {
            Self::Text => None,
            Self::Csv => Some(Form::Csv),
            Self::Json => Some(Form::Json),
            Self::Markdown => Some(Form::Markdown),
        }
    }
}
