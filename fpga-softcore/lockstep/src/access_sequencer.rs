//! The simulated access sequencer: one call runs a batch of commands back to back, and then until
//! all banks are idle.

use crate::harness;
pub use crate::ports::access_sequencer::*;

/// A simulated access sequencer.
pub type Rtl = harness::Rtl<AccessSequencer>;
