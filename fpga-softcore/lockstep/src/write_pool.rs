//! The simulated write pools: one call runs a batch of clocks.

use crate::harness;
pub use crate::ports::write_pool::*;

/// A simulated write pool.
pub type Rtl = harness::Rtl<WritePool>;
