//! The board's UART and clocks; addresses from QEMU's description of `virt`.

use riscv::register::{mcause, mcycle, mepc};
use strata_board_support::{Device, Line, NoPin, Ns16550, with_record};
use strata_firmware::{Board, Milliseconds};

const UART: Device = Device::at(0x1000_0000);

/// The machine timer, whose lower half is first.
const TIME: Device = Device::at(0x0200_bff8);
/// Its ticks of a millisecond.
const TIME_PER_MS: u32 = 10_000;

/// The board.
pub struct Virt {
    line: Line<Ns16550>,
    pin: NoPin,
    time: Milliseconds,
}

impl Virt {
    /// Switches the line on.
    pub fn new() -> Self {
        let line = Line(Ns16550::new(UART));
        Self { line, pin: NoPin, time: Milliseconds::new(TIME_PER_MS, TIME.read(0)) }
    }
}

impl Board for Virt {
    type Line = Line<Ns16550>;
    type Trigger = NoPin;
    const NAME: &'static str = "qemu-riscv";

    fn line(&mut self) -> &mut Line<Ns16550> {
        &mut self.line
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
        self.time.at(TIME.read(0))
    }

    fn next_log(&mut self, room: &mut [u8]) -> usize {
        strata_logger::next(room)
    }
}

/// Starts again, from the first instruction.
#[expect(unsafe_code, reason = "a jump to where the processor starts")]
pub fn restart() -> ! {
    // SAFETY: the start-up code clears all memory but the record.
    unsafe { core::arch::asm!("la t0, _start", "jr t0", options(noreturn)) }
}

/// Faults of the processor end up here.
#[expect(unsafe_code, reason = "the start-up code finds it by this name")]
#[unsafe(export_name = "ExceptionHandler")]
fn fault(_: &riscv_rt::TrapFrame) -> ! {
    let (cause, place) = (mcause::read().code(), mepc::read());
    with_record(|record| record.put(format_args!("exception {cause} at {place:#010x}")));
    restart()
}
