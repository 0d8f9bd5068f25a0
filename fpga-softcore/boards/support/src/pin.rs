//! The pin of a board that has none.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};

/// A pin without effect.
#[derive(Clone, Copy, Debug)]
pub struct NoPin;

impl ErrorType for NoPin {
    type Error = Infallible;
}

impl OutputPin for NoPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
