//! Active set: its size, as a sweep names it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The sizes that are swept unless others are asked for; every warp active comes last.
pub const DEFAULT_SIZES: &str = "1,2,3,4,5,6,7,8,10,12,16,24,32,all";

/// Size of the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Two levels with this many active warps. Range: `1..=32`.
    Active(u8),
    /// One level: every resident warp is active.
    All,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        match text.parse() {
            Ok(warps @ 1..=32) => Ok(Self::Active(warps)),
            _ => Err("expected a number of active warps from 1 to 32, or `all`".to_owned()),
        }
    }
}

impl Display for Size {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active(warps) => write!(to, "{warps}"),
            Self::All => to.write_str("all"),
        }
    }
}
