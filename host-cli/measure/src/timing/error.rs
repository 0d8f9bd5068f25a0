//! Error: why a launch could not be timed.

use strata_core::image::ImageError;
use strata_core::sm::config::{CtaTooLarge, SmConfigError};
use strata_core::sm::expansion::bundles::BundlesError;
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::cache::CacheError;
use strata_core::sm::memory::cached::CachedMemoryError;
use strata_core::sm::memory::gddr::settings::GddrError;

/// Why a launch could not be timed.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// The design's parameters make no SM.
    #[error("{0}")]
    Config(#[from] SmConfigError),
    /// A CTA does not fit the SM: the input's or the design's affair.
    #[error("{0}")]
    TooLarge(CtaTooLarge),
    /// The image breaks its own rules: a defect.
    #[error("the kernel image is malformed: {0}")]
    Image(#[from] ImageError),
    /// Bundles that break their own rules: a defect.
    #[error("the bundles of the kernel are malformed: {0}")]
    Bundles(#[from] BundlesError),
    /// Cycle mode counts accesses of whole warps only.
    #[error("`partial_warp_energy` cannot be combined with cycle mode yet")]
    PartialWarps,
    /// A cache that cannot be: a defect, as designs are checked.
    #[error("{0}")]
    Cache(#[from] CacheError),
    /// A memory with a cache that cannot be: a defect, as designs are checked.
    #[error("{0}")]
    CachedMemory(#[from] CachedMemoryError),
    /// DRAM that cannot be: a defect, as designs are checked.
    #[error("{0}")]
    Gddr(#[from] GddrError),
    /// A design with a cache, and accesses without the lines that they touch: a defect.
    #[error("the lines that accesses touch were not recorded")]
    NoLines,
    /// A total does not fit 64 bits.
    #[error("a count of cycles does not fit 64 bits")]
    Overflow,
    /// The machine refused what was recorded: a defect, or a deadlock.
    #[error("{0}")]
    Fault(Fault),
}

impl From<Fault> for TimingError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TooLarge(error) => Self::TooLarge(error),
            other => Self::Fault(other),
        }
    }
}
