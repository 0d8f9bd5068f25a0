//! Designs by what a command line names them, and the list of those with a name.

use super::argument::{is_toml, split};
use super::design::Design;
use super::{file, name, parameters};
use strata_config::ConfigError;

/// A design by its name or, if `text` ends in `.toml`, from a design file; behind either, keys of a
/// design file: `isca11-rfc6,cache.entries=4,active_warps=6`.
pub fn resolve(text: &str) -> Result<Design, ConfigError> {
    match split(text) {
        Some(_) => parameters::resolve(text),
        None if is_toml(text) => file::load(text),
        None => name::resolve(text),
    }
}

/// Every design of the registry without suffixes: baselines first, machine by machine.
pub fn list() -> Vec<Design> {
    name::base_names().iter().filter_map(|name| name::resolve(name).ok()).collect()
}
