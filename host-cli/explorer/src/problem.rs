//! Problem: why bytes or a choice have no answer.

use core::fmt;

use strata_core::energy::EnergyError;
use strata_core::event::CounterOverflow;
use strata_core::fault::PathFault;
use strata_core::image::ImageError;
use strata_core::organisation::OrganisationError;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The bytes are not what postcard writes of it, or more follow.
    Malformed(&'static str),
    /// A value that the core does not have.
    Unknown(&'static str),
    /// A number that names nothing in the same bytes.
    Missing(&'static str),
    /// There is no such choice.
    Choice,
    /// An organisation that the core refuses.
    Organisation(OrganisationError),
    /// A kernel or placements that the core refuses.
    Image(ImageError),
    /// A path that the core refuses.
    Path(PathFault),
    /// A total that does not fit.
    Overflow(CounterOverflow),
    /// Counts that the energy table cannot price.
    Energy(EnergyError),
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(to, "the bytes of the {what} are malformed"),
            Self::Unknown(what) => write!(to, "the bytes name an unknown {what}"),
            Self::Missing(what) => write!(to, "the bytes name a {what} that they do not hold"),
            Self::Choice => to.write_str("there is no such choice"),
            Self::Organisation(error) => error.fmt(to),
            Self::Image(error) => error.fmt(to),
            Self::Path(error) => error.fmt(to),
            Self::Overflow(error) => error.fmt(to),
            Self::Energy(error) => error.fmt(to),
        }
    }
}

impl core::error::Error for Problem {}

macro_rules! from {
    ($($of:ident($error:ty)),+ $(,)?) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::$of(error)
            }
        }
    )+};
}

from! {
    Organisation(OrganisationError),
    Image(ImageError),
    Path(PathFault),
    Overflow(CounterOverflow),
    Energy(EnergyError),
}
