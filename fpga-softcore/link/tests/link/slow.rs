//! A slow line with a driver's queues before it, in simulated time: nothing is sent twice.

use std::collections::VecDeque;

use strata_link::message::{FRAME, WINDOW};
use strata_link::{Link, Settings};

use crate::FIRMWARE;

/// Frames and window of the prototype's messages.
type End = Link<FRAME, WINDOW>;

/// One direction: bytes that were queued at once leave one by one.
#[derive(Default)]
struct Wire {
    bytes: VecDeque<u8>,
    /// Bits that may have left, in thousandths.
    credit: u64,
}

impl Wire {
    /// What arrives in a millisecond.
    fn carry(&mut self, baud: u64) -> Vec<u8> {
        self.credit += baud;
        let most = (self.credit / 10_000) as usize;
        self.credit %= 10_000;
        let length = most.min(self.bytes.len());
        self.bytes.drain(..length).collect()
    }
}

/// Messages in each direction that are as long as may be, over a line of some speed.
fn full_windows(line_baud: u32) -> [End; 2] {
    const MESSAGES: usize = 40;
    let settings = |session| Settings { line_baud, ..Settings::new(FIRMWARE, session) };
    let mut ends = [1, 2].map(|session| End::new(settings(session), 0));
    let mut wires = [Wire::default(), Wire::default()];
    let (mut said, mut heard) = ([0; 2], [0; 2]);
    let payload = [7_u8; End::LONGEST_MESSAGE - 2];
    for now_ms in 0..600_000 {
        for at in 0..2 {
            let came = wires[1 - at].carry(u64::from(line_baud));
            let end = &mut ends[at];
            end.poll(now_ms).expect("the other end is there");
            end.received(&came, |_| {});
            while said[at] < MESSAGES && end.send(&payload[..]).is_ok() {
                said[at] += 1;
            }
            while end.take().is_some() {
                heard[at] += 1;
            }
            while !end.to_send().is_empty() {
                let length = end.to_send().len();
                wires[at].bytes.extend(end.to_send());
                end.sent(length);
            }
        }
        if heard == [MESSAGES; 2] && ends.iter().all(|end| end.unacknowledged() == 0) {
            return ends;
        }
    }
    panic!("{heard:?} of {MESSAGES} came");
}

#[test]
fn full_windows_are_sent_once_at_every_speed() {
    for baud in [9_600, 115_200, 1_000_000] {
        for end in full_windows(baud) {
            let counts = end.counts();
            assert_eq!((counts.repeated, counts.duplicates), (0, 0), "{baud} baud: {counts:?}");
        }
    }
}

#[test]
fn the_timeout_is_what_the_line_takes_and_the_answer() {
    let settings = Settings::new(FIRMWARE, 1);
    let of = |line_baud| End::timeout_ms(Settings { line_baud, ..settings });
    // Two windows of four frames of 545 bytes of ten bits: 43,600 bits.
    let expected = [(0, 100), (1_000_000, 144), (115_200, 479), (9_600, 4_642)];
    for (baud, ms) in expected {
        assert_eq!(of(baud), ms, "{baud}");
    }
    let patient = Settings { line_baud: 1, answer_ms: u32::MAX, ..settings };
    assert_eq!(End::timeout_ms(patient), u32::MAX);
}
