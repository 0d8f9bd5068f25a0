//! The board: its line, its clock, its pins, and its fault handler.

use riscv::register::{mcause, mcycle, mepc, mtval};
use strata_board_support::{Device, Line, with_record};
use strata_firmware::{Board, Milliseconds};

use crate::pins::Pin;
use crate::uart::Uart;

/// The clock counter, and the register with its clocks in a second.
const TIMER: Device = Device::at(0xf000_1000);
const CLOCK_HZ: usize = 0x8;

/// The pin that is high while a batch runs.
const TRIGGER: u32 = 0;

/// The system on a chip.
pub struct Soc {
    line: Line<Uart>,
    trigger: Pin,
    time: Milliseconds,
    /// The processor's clock rate.
    clock_hz: u32,
}

impl Soc {
    /// The board, once.
    pub fn new() -> Self {
        let clock_hz = TIMER.read(CLOCK_HZ);
        let time = Milliseconds::new(clock_hz / 1000, mcycle::read() as u32);
        Self { line: Line(Uart), trigger: Pin::number(TRIGGER), time, clock_hz }
    }
}

impl Board for Soc {
    type Line = Line<Uart>;
    type Trigger = Pin;

    const NAME: &'static str = "soc";

    fn line(&mut self) -> &mut Line<Uart> {
        &mut self.line
    }

    fn trigger(&mut self) -> &mut Pin {
        &mut self.trigger
    }

    fn ticks_hz(&self) -> u32 {
        self.clock_hz
    }

    fn ticks(&mut self) -> u64 {
        mcycle::read64()
    }

    fn now_ms(&mut self) -> u64 {
        self.time.at(mcycle::read() as u32)
    }

    fn next_log(&mut self, room: &mut [u8]) -> usize {
        strata_logger::next(room)
    }
}

/// Starts the program again.
#[expect(unsafe_code, reason = "a jump to where the processor starts")]
pub fn restart() -> ! {
    // SAFETY: the start-up code assumes nothing of the state that it is entered in.
    unsafe { core::arch::asm!("j _start", options(noreturn)) }
}

/// Faults of the processor end up here.
#[expect(unsafe_code, reason = "the start-up code finds it by this name")]
#[unsafe(export_name = "ExceptionHandler")]
fn fault(_: &riscv_rt::TrapFrame) -> ! {
    let [cause, address, value] = [mcause::read().bits(), mepc::read(), mtval::read()];
    with_record(|record| record.put(format_args!("trap {cause} at {address:#x}: {value:#x}")));
    restart()
}
