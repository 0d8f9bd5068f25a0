//! The board's UART and timer. Source: Arm's description of the CMSDK UART and timer.
#![expect(unsafe_code, reason = "registers of devices lie at addresses")]

use core::convert::Infallible;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};
use embedded_hal::digital::OutputPin;
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use strata_firmware::{Board, FaultRecord, Milliseconds};

/// The first CMSDK UART: data, state, control and divisor, each a word.
const UART: *mut u32 = 0x4000_4000 as *mut u32;
const STATE: usize = 1;
const CONTROL: usize = 2;
const DIVISOR: usize = 4;
/// The transmitter takes no byte.
const TRANSMITTER_FULL: u32 = 1;
/// A byte has come.
const RECEIVER_FULL: u32 = 1 << 1;
/// Transmitter and receiver are on.
const BOTH_ON: u32 = 0b11;
/// The least divisor that the device accepts: the emulated line has no speed.
const FASTEST: u32 = 16;

/// The first CMSDK timer, which counts down: control, value and what it starts over with, each a
/// word.
const TIMER: *mut u32 = 0x4000_0000 as *mut u32;
const VALUE: usize = 1;
const RELOAD: usize = 2;
/// The timer is on.
const TIMER_ON: u32 = 1;
/// Its clock.
const TIMER_HZ: u32 = 25_000_000;

/// The serial line.
pub struct Uart;

impl Uart {
    fn state() -> u32 {
        // SAFETY: the device's register, whose accesses have no effect on memory.
        unsafe { UART.add(STATE).read_volatile() }
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Read for Uart {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for place in bytes {
            if Self::state() & RECEIVER_FULL == 0 {
                break;
            }
            // SAFETY: as above.
            *place = unsafe { UART.read_volatile() } as u8;
            count += 1;
        }
        Ok(count)
    }
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(Self::state() & RECEIVER_FULL != 0)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for &byte in bytes {
            if Self::state() & TRANSMITTER_FULL != 0 {
                break;
            }
            // SAFETY: as above.
            unsafe { UART.write_volatile(u32::from(byte)) };
            count += 1;
        }
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl WriteReady for Uart {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(Self::state() & TRANSMITTER_FULL == 0)
    }
}

/// The board has no pin.
pub struct NoPin;

impl embedded_hal::digital::ErrorType for NoPin {
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

/// The board.
pub struct Mps2 {
    uart: Uart,
    pin: NoPin,
    time: Milliseconds,
    /// The timer when it was read last, and its ticks since the start.
    last: u32,
    ticks: u64,
}

impl Mps2 {
    /// Switches line and timer on.
    pub fn new() -> Self {
        // SAFETY: the devices' registers, whose accesses have no effect on memory.
        unsafe {
            UART.add(DIVISOR).write_volatile(FASTEST);
            UART.add(CONTROL).write_volatile(BOTH_ON);
            TIMER.add(RELOAD).write_volatile(u32::MAX);
            TIMER.add(VALUE).write_volatile(u32::MAX);
            TIMER.write_volatile(TIMER_ON);
        }
        let last = time();
        let time = Milliseconds::new(TIMER_HZ / 1_000, last);
        Self { uart: Uart, pin: NoPin, time, last, ticks: 0 }
    }
}

/// The timer, counting up.
fn time() -> u32 {
    // SAFETY: the timer's register, whose reads have no effect.
    !unsafe { TIMER.add(VALUE).read_volatile() }
}

impl Board for Mps2 {
    type Line = Uart;
    type Trigger = NoPin;
    const NAME: &'static str = "qemu-cortex-m";

    fn line(&mut self) -> &mut Uart {
        &mut self.uart
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

/// What is known of the fault before this start.
pub fn fault_record() -> &'static mut FaultRecord {
    #[unsafe(link_section = ".uninit.fault")]
    static mut RECORD: MaybeUninit<FaultRecord> = MaybeUninit::uninit();
    let record = (&raw mut RECORD).cast::<FaultRecord>();
    // SAFETY: any contents of this memory are a record; the program takes it out once when it
    // starts, and once when it ends.
    unsafe { &mut *record }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fault_record().put(info);
    SCB::sys_reset()
}

/// Faults of the processor end up here.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    fault_record().put(format_args!("fault at {:#010x}", frame.pc()));
    SCB::sys_reset()
}
