//! Explorer: a section of the page that counts workloads under designs which its reader chooses.
//!
//! The page holds the core, compiled for browsers (`host-cli/explorer`, its committed product
//! [`MODULE`]), every design that it offers ([`designs`]), and what the warps of every workload
//! executed ([`inputs`]). [`controls`] are what a reader chooses on, [`section`] is their place on
//! the page.

pub mod controls;
pub mod designs;
mod encoding;
pub mod inputs;
pub mod section;

use encoding::{defect, packed};
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::options::Scale;
use strata_measure::parallel;
use strata_workload as workload;

/// The compiled explorer: `cargo xtask wasm` makes it.
pub const MODULE: &[u8] = include_bytes!("../../../explorer/explorer.wasm");

/// Size of the workloads, whatever that of the figures: at the default size those that diverge have
/// more distinct paths than a page should hold.
pub const SCALE: Scale = Scale::Small;

/// Most that a workload may add to the page; one that needs more is left out, and the page says so.
/// Unit: compressed bytes.
pub const MOST_BYTES: usize = 128 << 10;

/// What the page inlines of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Its name.
    pub workload: &'static str,
    /// Its input, compressed; none where that is larger than [`MOST_BYTES`].
    pub input: Option<Vec<u8>>,
}

/// All that the section needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explorer {
    /// The compiled explorer, compressed.
    pub module: Vec<u8>,
    /// The designs, compressed.
    pub catalogue: Vec<u8>,
    /// The suite's workloads.
    pub inputs: Vec<Packed>,
}

impl Explorer {
    /// Resolves every design that is offered, and executes every workload of the suite.
    ///
    /// # Errors
    /// A workload that does not run, which is a defect.
    pub fn new(jobs: usize, notes: &dyn Notes) -> Result<Self, Failure> {
        let designs = designs::resolved()?;
        let catalogue = designs.catalogue.encode().map_err(|problem| defect(&problem))?;
        let names: Vec<&'static str> = workload::names().collect();
        let pack = |name: &&'static str| {
            let input = inputs::of(name, SCALE, &designs.fits, notes)?;
            let bytes = input.encode().map_err(|problem| defect(&problem))?;
            let fits = bytes.len() + catalogue.len() <= strata_explorer::MAX_BYTES - 64;
            let packed = packed(&bytes)?;
            let input = (fits && packed.len() <= MOST_BYTES).then_some(packed);
            Ok(Packed { workload: name, input })
        };
        let inputs = parallel::each(&names, jobs, notes, |name| name, pack)?;
        Ok(Self { module: packed(MODULE)?, catalogue: packed(&catalogue)?, inputs })
    }
}

#[cfg(test)]
mod tests;
