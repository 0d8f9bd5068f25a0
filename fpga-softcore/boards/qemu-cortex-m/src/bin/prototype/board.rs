//! The board's UART and timer. Source: Arm's description of the CMSDK timer.
#![expect(unsafe_code, reason = "the start-up code asks for it")]

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};
use strata_board_support::{Cmsdk, Device, Line, NoPin, with_record};
use strata_firmware::{Board, Milliseconds};

/// The first CMSDK UART.
const UART: Device = Device::at(0x4000_4000);

/// The first CMSDK timer, which counts down: control, value and reload value, a word each.
const TIMER: Device = Device::at(0x4000_0000);
const CONTROL: usize = 0x0;
const VALUE: usize = 0x4;
const RELOAD: usize = 0x8;
/// The timer is on.
const TIMER_ON: u32 = 1;
/// Its clock.
const TIMER_HZ: u32 = 25_000_000;

/// The board.
pub struct Mps2 {
    line: Line<Cmsdk>,
    pin: NoPin,
    time: Milliseconds,
    /// The timer when it was read last, and its ticks since the start.
    last: u32,
    ticks: u64,
}

impl Mps2 {
    /// Switches line and timer on.
    pub fn new() -> Self {
        let line = Line(Cmsdk::new(UART));
        TIMER.write(RELOAD, u32::MAX);
        TIMER.write(VALUE, u32::MAX);
        TIMER.write(CONTROL, TIMER_ON);
        let last = time();
        let time = Milliseconds::new(TIMER_HZ / 1_000, last);
        Self { line, pin: NoPin, time, last, ticks: 0 }
    }
}

/// The timer, counting up.
fn time() -> u32 {
    !TIMER.read(VALUE)
}

impl Board for Mps2 {
    type Line = Line<Cmsdk>;
    type Trigger = NoPin;
    const NAME: &'static str = "qemu-cortex-m";

    fn line(&mut self) -> &mut Line<Cmsdk> {
        &mut self.line
    }

    fn trigger(&mut self) -> &mut NoPin {
        &mut self.pin
    }

    fn ticks_hz(&self) -> u32 {
        TIMER_HZ
    }

    fn ticks(&mut self) -> u64 {
        let now = time();
        self.ticks += u64::from(now.wrapping_sub(self.last));
        self.last = now;
        self.ticks
    }

    fn now_ms(&mut self) -> u64 {
        self.time.at(time())
    }

    fn next_log(&mut self, room: &mut [u8]) -> usize {
        strata_logger::next(room)
    }
}

/// Faults of the processor end up here.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    with_record(|record| record.put(format_args!("fault at {:#010x}", frame.pc())));
    SCB::sys_reset()
}
