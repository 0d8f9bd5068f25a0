//! The board's UART and clocks; addresses from QEMU's description of `virt`.
#![expect(unsafe_code, reason = "registers of devices lie at addresses")]

use core::convert::Infallible;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

use embedded_hal::digital::OutputPin;
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use riscv::register::{mcause, mcycle, mepc};
use strata_firmware::{Board, FaultRecord, Milliseconds};

/// An ns16550: the emulated line has no speed.
const UART: *mut u8 = 0x1000_0000 as *mut u8;
/// Its queue control register, and the bit that switches its queues of 16 bytes on.
const QUEUE_CONTROL: usize = 2;
const QUEUES_ON: u8 = 1;
/// Its line status register.
const LINE_STATUS: usize = 5;
/// A byte has come.
const DATA_READY: u8 = 1;
/// The transmitter takes a byte.
const TRANSMITTER_EMPTY: u8 = 1 << 5;

/// The lower half of the machine timer.
const TIME: *const u32 = 0x0200_bff8 as *const u32;
/// Its ticks of a millisecond.
const TIME_PER_MS: u32 = 10_000;

/// The serial line.
pub struct Uart;

impl Uart {
    fn status() -> u8 {
        // SAFETY: the device's register, whose accesses have no effect on memory.
        unsafe { UART.add(LINE_STATUS).read_volatile() }
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Read for Uart {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for place in bytes {
            if Self::status() & DATA_READY == 0 {
                break;
            }
            // SAFETY: as above.
            *place = unsafe { UART.read_volatile() };
            count += 1;
        }
        Ok(count)
    }
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(Self::status() & DATA_READY != 0)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let mut count = 0;
        for &byte in bytes {
            if Self::status() & TRANSMITTER_EMPTY == 0 {
                break;
            }
            // SAFETY: as above.
            unsafe { UART.write_volatile(byte) };
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
        Ok(Self::status() & TRANSMITTER_EMPTY != 0)
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
pub struct Virt {
    uart: Uart,
    pin: NoPin,
    time: Milliseconds,
}

impl Virt {
    /// Switches the line on.
    pub fn new() -> Self {
        // SAFETY: the device's register, whose accesses have no effect on memory.
        unsafe { UART.add(QUEUE_CONTROL).write_volatile(QUEUES_ON) };
        Self { uart: Uart, pin: NoPin, time: Milliseconds::new(TIME_PER_MS, time()) }
    }
}

fn time() -> u32 {
    // SAFETY: the timer's register, whose reads have no effect.
    unsafe { TIME.read_volatile() }
}

impl Board for Virt {
    type Line = Uart;
    type Trigger = NoPin;
    const NAME: &'static str = "qemu-riscv";

    fn line(&mut self) -> &mut Uart {
        &mut self.uart
    }

    fn trigger(&mut self) -> &mut NoPin {
        &mut self.pin
    }

    /// With QEMU's `-icount shift=0`, where an instruction is a tick. Without, they are the host's.
    fn ticks_hz(&self) -> u32 {
        1_000_000_000
    }

    fn ticks(&mut self) -> u64 {
        mcycle::read64()
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

/// Starts again, from the first instruction.
fn start_again() -> ! {
    // SAFETY: the start-up code makes all memory anew but the record.
    unsafe { core::arch::asm!("la t0, _start", "jr t0", options(noreturn)) }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fault_record().put(info);
    start_again()
}

/// Faults of the processor end up here.
#[unsafe(export_name = "ExceptionHandler")]
fn fault(_: &riscv_rt::TrapFrame) -> ! {
    let (cause, place) = (mcause::read().code(), mepc::read());
    fault_record().put(format_args!("exception {cause} at {place:#010x}"));
    start_again()
}
