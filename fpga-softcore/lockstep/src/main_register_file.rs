//! The simulated main register files: one call runs a batch of clocks.

use crate::harness;
pub use crate::ports::main_register_file::*;

/// A simulated main register file.
pub type Rtl = harness::Rtl<MainRegisterFile>;
