//! Bytes that no end sent: glitches of an adapter on an idle line, and between the frames.

use strata_link::{Counts, Link, LinkError};

use crate::end;
use crate::line::{BYTES_PER_MS, Line, Random};

type End = Link<64, 4>;

/// A glitch, and one that ends a frame.
const GLITCHES: [u8; 3] = [0x55, 0xff, 0];

/// Two ends whose lines bring a byte that was not sent every so many milliseconds.
struct Noisy {
    ends: [End; 2],
    lines: [Line; 2],
    now_ms: u64,
    /// Time between two such bytes. Unit: ms.
    every: u64,
    glitch: u8,
}

impl Noisy {
    fn new(every: u64, glitch: u8) -> Self {
        let lines = [Line::default(), Line::default()];
        Self { ends: [end(1), end(2)], lines, now_ms: 0, every, glitch }
    }

    /// One millisecond. A byte that was not sent comes before what was.
    fn step(&mut self) -> Result<(), LinkError> {
        let undisturbed = &mut Random(0);
        self.now_ms += 1;
        for at in 0..2 {
            let end = &mut self.ends[at];
            end.poll(self.now_ms)?;
            if self.now_ms.is_multiple_of(self.every) {
                end.received(&[self.glitch], |_| {});
            }
            end.received(&self.lines[1 - at].arrived(self.now_ms), |_| {});
            for _ in 0..BYTES_PER_MS {
                let Some(&byte) = end.to_send().first() else { break };
                self.lines[at].send(self.now_ms, byte, 0, undisturbed);
                end.sent(1);
            }
        }
        Ok(())
    }
}

/// Passes the next frame behind a byte that no end sent. Returns whether there was one.
fn carried(from: &mut End, to: &mut End, glitch: u8) -> bool {
    let frame = from.to_send().to_vec();
    from.sent(frame.len());
    to.received(&[&[glitch][..], &frame].concat(), |_| {});
    !frame.is_empty()
}

/// The byte comes just before each frame, which it must not join.
#[test]
fn a_byte_before_each_frame_costs_nothing() {
    for glitch in GLITCHES {
        let (mut host, mut device): (End, End) = (end(1), end(2));
        let mut taken = 0;
        for now_ms in 1..5_000_u64 {
            let sent = host.send(&now_ms).is_ok();
            while carried(&mut host, &mut device, glitch) | carried(&mut device, &mut host, glitch)
            {
            }
            host.poll(now_ms).expect("it goes on");
            device.poll(now_ms).expect("it goes on");
            let came = std::iter::from_fn(|| device.take()).count();
            assert!(came > 0 || !sent, "{now_ms} ms");
            taken += came;
        }
        assert!(taken > 4_900, "{taken}");
        let counts = [host.counts(), device.counts()];
        for Counts { repeated, duplicates, .. } in counts {
            assert_eq!((repeated, duplicates), (0, 0), "{counts:?}");
        }
    }
}

#[test]
fn a_message_gets_through_an_idle_line_with_stray_bytes() {
    for (every, glitch) in [7, 50, 99, 100].into_iter().zip(GLITCHES.into_iter().cycle()) {
        let mut line = Noisy::new(every, glitch);
        for message in 0..8_u32 {
            // Long enough that the ends ask whether the other one is there.
            for _ in 0..4_993 {
                line.step().unwrap_or_else(|error| panic!("every {every} ms: {error}"));
            }
            line.ends[0].send(&message).expect("they have met");
            let came = (0..500).find_map(|_| {
                line.step().unwrap_or_else(|error| panic!("every {every} ms: {error}"));
                line.ends[1].take()
            });
            assert_eq!(came.expect("it came").decode(), Ok(message), "every {every} ms");
        }
        assert!(line.ends[0].counts().repeated <= 8, "{:?}", line.ends[0].counts());
    }
}

#[test]
fn traffic_in_both_directions_loses_nothing_to_stray_bytes() {
    for (every, glitch) in [7, 50, 99, 100].into_iter().zip(GLITCHES.into_iter().cycle()) {
        const MESSAGES: u32 = 400;
        let mut line = Noisy::new(every, glitch);
        let (mut said, mut heard) = ([0; 2], [0; 2]);
        while heard != [MESSAGES; 2] {
            line.step().unwrap_or_else(|error| panic!("every {every} ms: {error}"));
            assert!(line.now_ms < 100_000, "every {every} ms: {heard:?}");
            for at in 0..2 {
                if said[at] < MESSAGES && line.ends[at].send(&said[at]).is_ok() {
                    said[at] += 1;
                }
                while let Some(message) = line.ends[at].take() {
                    assert_eq!(message.decode(), Ok(heard[at]), "every {every} ms");
                    heard[at] += 1;
                }
            }
        }
    }
}
