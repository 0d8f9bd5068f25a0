//! Datapath: the wires between the register hierarchy and the execution units.
//!
//! Source: `[RFC2011]` 3.1 and 4.

use crate::image::Unit;
use crate::named;

named! {
    /// Which execution units an operand goes to or comes from: wires to the shared ones are longer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Datapath {
        /// The ALUs of a lane.
        Private = "private",
        /// Special function, memory and texture units.
        Shared = "shared",
    }
}

impl Datapath {
    /// The datapath of a unit.
    pub const fn of(unit: Unit) -> Self {
        if unit.is_shared_datapath() { Self::Shared } else { Self::Private }
    }
}
