//! Tables that come with the program.

use strata_config::strict;

/// Files that come with the program.
pub(super) fn embedded<T: serde::de::DeserializeOwned>(files: &[&str]) -> Vec<T> {
    let parse = |file: &&str| strict::from_str(file);
    let parsed: Result<_, _> = files.iter().map(parse).collect();
    parsed.expect("invariant: a test parses every embedded file")
}
