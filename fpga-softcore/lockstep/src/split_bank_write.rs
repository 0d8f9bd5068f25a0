//! The simulated split bank write: one call runs a batch of clocks.

use crate::harness;
pub use crate::ports::split_bank_write::*;

/// A simulated split bank write.
pub type Rtl = harness::Rtl<SplitBankWrite>;
