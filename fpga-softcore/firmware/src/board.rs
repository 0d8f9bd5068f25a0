//! Board: the application's interface to the board that it runs on.

use embedded_hal::digital::OutputPin;
use embedded_io::{Read, ReadReady, Write, WriteReady};

/// A board: its line, its clock and a pin.
pub trait Board {
    /// The line to the host. A write to a ready line takes at least a byte, without waiting.
    type Line: Read + ReadReady + Write + WriteReady;
    /// A pin, or a substitute without effect.
    type Trigger: OutputPin;

    /// The board's name, at most 24 bytes.
    const NAME: &'static str;

    /// The line.
    fn line(&mut self) -> &mut Self::Line;

    /// High while a batch runs: for a light, or for a power meter.
    fn trigger(&mut self) -> &mut Self::Trigger;

    /// [`ticks`](Self::ticks) of a second.
    fn ticks_hz(&self) -> u32;

    /// Time for benches, from any start. Unit: 1/[`ticks_hz`](Self::ticks_hz) s.
    fn ticks(&mut self) -> u64;

    /// Time for the link, from any start; it never goes back. Unit: ms.
    fn now_ms(&mut self) -> u64;

    /// Puts the next waiting log into `room`, and returns its length; 0 if none waits.
    fn next_log(&mut self, _room: &mut [u8]) -> usize {
        0
    }
}

/// Milliseconds from a 32-bit counter that wraps, without a 64-bit division.
#[derive(Clone, Copy, Debug)]
pub struct Milliseconds {
    ticks_per_ms: u32,
    last: u32,
    rest: u32,
    now_ms: u64,
}

impl Milliseconds {
    /// Starts at 0 with the counter at `ticks`, which counts `ticks_per_ms` in a millisecond; 0 is
    /// taken for 1.
    pub const fn new(ticks_per_ms: u32, ticks: u32) -> Self {
        let ticks_per_ms = if ticks_per_ms == 0 { 1 } else { ticks_per_ms };
        Self { ticks_per_ms, last: ticks, rest: 0, now_ms: 0 }
    }

    /// The time when the counter is at `ticks`: at most 2^32 - 1 after the last call.
    pub const fn at(&mut self, ticks: u32) -> u64 {
        let passed = ticks.wrapping_sub(self.last);
        let ms = passed / self.ticks_per_ms;
        self.rest += passed % self.ticks_per_ms;
        self.last = ticks;
        self.now_ms += ms as u64;
        if self.rest >= self.ticks_per_ms {
            self.rest -= self.ticks_per_ms;
            self.now_ms += 1;
        }
        self.now_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_lose_nothing_when_the_counter_runs_over() {
        let mut time = Milliseconds::new(1_000, u32::MAX - 500);
        let mut ticks = u32::MAX - 500;
        for round in 1..=50_000_u64 {
            ticks = ticks.wrapping_add(777);
            assert_eq!(time.at(ticks), round * 777 / 1_000);
        }
        ticks = ticks.wrapping_add(u32::MAX);
        assert_eq!(time.at(ticks), (50_000 * 777 + u64::from(u32::MAX)) / 1_000);
    }
}
