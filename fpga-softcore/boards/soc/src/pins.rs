//! Output pins: lamps, and the trigger.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use strata_board_support::Device;

const PINS: Device = Device::at(0xf000_2000);
/// Write: a mask of pins that go high.
const SET: usize = 0x4;
/// Write: a mask of pins that go low.
const CLEAR: usize = 0x8;

/// One pin.
pub struct Pin(u32);

impl Pin {
    /// A pin by its number. Range: `0..8`; a larger number has no effect.
    pub const fn number(number: u32) -> Self {
        Self(1 << number)
    }
}

impl ErrorType for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        PINS.write(CLEAR, self.0);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        PINS.write(SET, self.0);
        Ok(())
    }
}
