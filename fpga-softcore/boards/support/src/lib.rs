//! What Strata's boards share: [`Device`]s' registers, serial lines over them, a pin for boards
//! without one, the record of faults, and the programs around the application. A board adds its
//! addresses, its clock and how it starts again.
#![no_std]

mod cmsdk;
mod device;
mod fault;
mod line;
mod ns16550;
mod pin;
mod program;

pub use cmsdk::Cmsdk;
pub use device::Device;
pub use fault::with_record;
pub use line::{Line, Port};
pub use ns16550::Ns16550;
pub use pin::NoPin;
pub use program::Lent;
/// For what the macros write.
#[doc(hidden)]
pub use strata_firmware;
