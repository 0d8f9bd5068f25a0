//! The simulated register file caches: one call runs a batch of clocks.

use crate::harness;
pub use crate::ports::register_file_cache::*;

/// A simulated register file cache.
pub type Rtl = harness::Rtl<RegisterFileCache>;
