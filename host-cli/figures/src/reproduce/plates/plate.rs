//! A plate: panels that are drawn together, and the runs that they need.

use crate::reproduce::figure::Figure;
use crate::reproduce::lab::{Lab, Runs, Wanted};
use strata_files::failure::Failure;

/// Designs under which inputs run.
pub type Needs = Vec<(Runs, Wanted)>;

/// One or several panels, and what they are made from.
pub struct Plate {
    /// Key.
    pub id: &'static str,
    /// What has to run.
    pub needs: fn() -> Needs,
    /// Makes the panels.
    pub draw: fn(&Lab<'_>) -> Result<Vec<Figure>, Failure>,
}

/// Designs of the registry for the suite in count mode.
pub(super) fn counted<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Needs {
    names.into_iter().map(|name| (Runs::Counted, Wanted::named(name))).collect()
}

/// Designs of the registry for these runs, which are in time.
pub(super) fn timed<N: Into<String>>(runs: Runs, names: impl IntoIterator<Item = N>) -> Needs {
    names.into_iter().map(|name| (runs, Wanted::named(name))).collect()
}
