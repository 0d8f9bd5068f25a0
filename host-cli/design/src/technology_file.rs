//! Technology files of the user's, of whatever kind: how they are read, and what all of them are
//! checked for.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::argument;
use super::memory::{self, Sourced};
use super::storage_technology;
use strata_config::suggest::{did_you_mean, suggest};
use strata_config::{ConfigError, name, strict};

/// Longest technology file. Unit: bytes.
const LONGEST: u64 = 1 << 20;
/// Largest capacity that a file speaks of: a gigabyte. Unit: KB.
const LARGEST: u32 = 1 << 20;

/// The text of a file, with its name for messages.
pub(super) fn text(path: &Path) -> Result<(String, String), ConfigError> {
    let file = path.display().to_string();
    let unreadable = |reason: String| ConfigError::Unreadable { file: file.clone(), reason };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
        .map_err(|error| unreadable(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(unreadable(format!("a technology file has at most {LONGEST} bytes")));
    }
    Ok((file, text))
}

/// The file that a design file names, which is looked for beside it, or as typed if a parameter
/// names it; none if the text is no name of a file.
pub(super) fn beside(design_file: &str, text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let extension = path.extension()?;
    let typed = argument::split(design_file).is_some();
    let folder = Path::new(design_file).parent().filter(|_| !typed);
    let whole = || folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
    extension.eq_ignore_ascii_case("toml").then(whole)
}

/// A name that is none of the built-in technologies of its kind.
pub(super) fn unknown<'a>(text: &str, names: impl Iterator<Item = &'a str> + Clone) -> ConfigError {
    let all: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
    let all = format!("there are {}; a file ends in `.toml`", all.join(", "));
    let near = did_you_mean(&suggest(text, names));
    ConfigError::UnknownName {
        what: "technology",
        name: text.to_owned(),
        hint: near.map_or_else(|| all.clone(), |near| format!("{near} {all}")),
    }
}

/// What a text says, before its values are checked; `file` is used in messages.
pub(super) fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ConfigError> {
    strict::from_str(text).map_err(|mistake| ConfigError::Malformed {
        file: file.to_owned(),
        hint: mistake.hint(),
        mistake: mistake.into(),
    })
}

/// Checks of a file's values, which name it.
#[derive(Clone, Copy)]
pub(super) struct Checks<'a> {
    pub(super) file: &'a str,
}

impl Checks<'_> {
    /// What every technology says of itself.
    pub(super) fn head(
        self,
        name: &str,
        source: &str,
        assumed: &[String],
    ) -> Result<(), ConfigError> {
        if memory::memories(name).is_some() || storage_technology::built_in(name).is_some() {
            let problem = format!("`name = \"{name}\"` is that of a built-in technology");
            return Err(self.combination(problem, "call it something else, with `name = \"...\"`"));
        }
        name::check_word(self.file, "name", name)?;
        self.source("source", source)?;
        for what in assumed {
            name::check_line(self.file, "assumed", "sentences on what no source says", what)?;
        }
        Ok(())
    }

    pub(super) fn sourced<T>(self, key: &str, value: &Sourced<T>) -> Result<(), ConfigError> {
        self.source(&format!("{key}.source"), &value.source)
    }

    fn source(self, key: &str, text: &str) -> Result<(), ConfigError> {
        name::check_line(self.file, key, "a text that says where the values come from", text)
    }

    pub(super) fn capacity(self, key: &str, kb: u32) -> Result<(), ConfigError> {
        if (1..=LARGEST).contains(&kb) {
            return Ok(());
        }
        Err(self.range(key, kb.to_string(), format!("1 to {LARGEST} KB")))
    }

    pub(super) fn range(self, key: &str, value: String, allowed: String) -> ConfigError {
        ConfigError::Range { file: self.file.to_owned(), key: key.to_owned(), value, allowed }
    }

    pub(super) fn combination(self, problem: String, hint: &str) -> ConfigError {
        ConfigError::Combination { file: self.file.to_owned(), problem, hint: hint.to_owned() }
    }
}
