//! Plates: what is drawn together, by its key in `data/figures.toml`; one file a paper or subject.
#![expect(clippy::unnecessary_wraps, reason = "panels of some plates can fail")]

mod cache;
mod expars;
mod levels;
mod panel;
mod plate;
mod scheduler;
mod storage;
mod warrf;

pub use plate::{Needs, Plate};

/// Every plate.
pub fn all() -> impl Iterator<Item = &'static Plate> {
    [
        cache::PLATES,
        scheduler::PLATES,
        levels::PLATES,
        storage::PLATES,
        expars::PLATES,
        warrf::PLATES,
    ]
    .into_iter()
    .flatten()
}
