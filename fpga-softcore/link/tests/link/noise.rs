//! Both ends at once over lines that flip, drop, repeat and delay bytes: nothing is lost.

use strata_link::{Counts, Link, LinkError, SendError, Settings};

use crate::FIRMWARE;
use crate::line::{BYTES_PER_MS, Line, Random};

/// Messages in each direction: more than there are sequence numbers.
const MESSAGES: u32 = 400;
/// A run that takes longer has not ended. Unit: ms.
const LONGEST: u64 = 200_000;

/// An end with the messages that it sends and receives.
struct Side<const FRAME: usize, const WINDOW: usize> {
    link: Link<FRAME, WINDOW>,
    line: Line,
    random: Random,
    said: u32,
    heard: u32,
    logs: u32,
}

/// The message of a number: the number and a tail that follows from it.
fn message(number: u32, most: usize) -> (u32, Vec<u8>) {
    // The number takes 5 bytes at most, the length 1.
    let length = Random(u64::from(number)).below(most as u64 - 5) as usize;
    (number, (0..length).map(|index| (index % 3 * number as usize) as u8).collect())
}

fn borrowed(message: &(u32, Vec<u8>)) -> (u32, &[u8]) {
    (message.0, &message.1)
}

impl<const FRAME: usize, const WINDOW: usize> Side<FRAME, WINDOW> {
    const MOST: usize = Link::<FRAME, WINDOW>::LONGEST_MESSAGE;

    fn new(session: u32, seed: u64) -> Self {
        let random = Random(seed ^ u64::from(session) << 32);
        let line = Line::default();
        // One frame of 40 bytes in five gets through: it takes long without being stuck.
        let settings = Settings { stall_ms: 60_000, ..Settings::new(FIRMWARE, session) };
        Self { link: Link::new(settings, 0), line, random, said: 0, heard: 0, logs: 0 }
    }

    /// One millisecond.
    fn step(&mut self, now_ms: u64, from: &mut Line, one_in: u64, context: &str) {
        let fault = |error: LinkError| panic!("{context}, {now_ms} ms: {error}");
        self.link.poll(now_ms).unwrap_or_else(fault);
        let mut logs = 0;
        self.link.received(&from.arrived(now_ms), |log| {
            assert_eq!(log, b"log\0", "{context}");
            logs += 1;
        });
        self.logs += logs;
        if self.said < MESSAGES && self.random.below(3) == 0 {
            match self.link.send(&borrowed(&message(self.said, Self::MOST))) {
                Ok(()) => self.said += 1,
                Err(SendError::Full | SendError::NotConnected) => {}
                Err(error) => panic!("{context}, {now_ms} ms: {error}"),
            }
            // One that is not taken counts as missed at the other end.
            let _ = self.link.log(b"log\0");
        }
        // A slow end makes the other wait for room.
        if now_ms / 500 % 3 != 1
            && let Some(came) = self.link.take()
        {
            let expected = message(self.heard, Self::MOST);
            assert_eq!(came.decode(), Ok(borrowed(&expected)), "{context}, {now_ms} ms");
            self.heard += 1;
        }
        let mut left = BYTES_PER_MS;
        while left > 0 {
            let bytes = self.link.to_send();
            let Some(&byte) = bytes.first() else { break };
            self.line.send(now_ms, byte, one_in, &mut self.random);
            self.link.sent(1);
            left -= 1;
        }
    }

    fn is_done(&self) -> bool {
        (self.said, self.heard, self.link.unacknowledged()) == (MESSAGES, MESSAGES, 0)
    }
}

/// Returns the time that it took, and what happened at both ends.
fn run<const FRAME: usize, const WINDOW: usize>(seed: u64, one_in: u64) -> (u64, [Counts; 2]) {
    let context = format!("seed {seed}, frames of {FRAME}, window of {WINDOW}, one in {one_in}");
    let mut host = Side::<FRAME, WINDOW>::new(1, seed);
    let mut device = Side::<FRAME, WINDOW>::new(2, seed);
    for now_ms in 0..LONGEST {
        host.step(now_ms, &mut device.line, one_in, &context);
        device.step(now_ms, &mut host.line, one_in, &context);
        if host.is_done() && device.is_done() {
            for (side, other) in [(&host, &device), (&device, &host)] {
                assert!(other.link.clone().take().is_none(), "{context}");
                assert!(side.logs > 0, "{context}");
                let disturbed = side.line.disturbed;
                assert!(disturbed.iter().all(|&n| (n > 20) == (one_in > 0)), "{disturbed:?}");
            }
            return (now_ms, [host.link.counts(), device.link.counts()]);
        }
    }
    panic!("{context}: {}, {} of {MESSAGES} came", host.heard, device.heard);
}

#[test]
fn a_line_that_disturbs_a_byte_in_a_hundred_in_each_of_four_ways_loses_nothing() {
    for seed in 0..8 {
        let (_, counts) = run::<48, 8>(seed, 100);
        for counts in counts {
            assert!(counts.repeated > 0 && counts.duplicates > 0, "seed {seed}: {counts:?}");
            let dropped = counts.dropped;
            assert!(dropped.checksum > 0 && dropped.stuffing > 0, "seed {seed}: {counts:?}");
        }
    }
}

#[test]
fn every_size_of_window_and_frame_gets_through() {
    for seed in 0..2 {
        run::<29, 1>(seed, 100);
        run::<29, 64>(seed, 100);
        run::<33, 2>(seed, 100);
        run::<120, 16>(seed, 400);
        run::<600, 4>(seed, 2_000);
    }
}

#[test]
fn on_a_good_line_nothing_is_dropped_or_repeated() {
    let (_, counts) = run::<64, 8>(3, 0);
    for counts in counts {
        // Logs that found no room when they were to be sent are missed all the same.
        assert_eq!(counts, Counts { logs_missed: counts.logs_missed, ..Counts::default() });
    }
}
