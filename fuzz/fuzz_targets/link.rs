//! Any bytes as what comes over a line, raw and in whole frames, and as what happens to the frames
//! of two ends: neither panics, what is sent are frames, and messages come once and in order.
#![no_main]

use strata_link::frame::{Channel, Decoder, Dropped, Frame, encode};
use strata_link::{Link, Settings, Version};

const FRAME: usize = 64;
const WINDOW: usize = 4;

type End = Link<FRAME, WINDOW>;

/// Most frames that an end sends with nothing new to say: hello, welcome, acknowledgement, probe,
/// and a window each of messages and logs.
const MOST_FRAMES: usize = 4 + 2 * WINDOW;

fn end(session: u32) -> End {
    Link::new(Settings::new(Version { major: 0, minor: 1, patch: 0 }, session), 0)
}

/// The frames that an end sends now.
fn drain(link: &mut End) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut decoder = Decoder::<FRAME>::new();
    loop {
        let bytes = link.to_send().to_vec();
        if bytes.is_empty() {
            break;
        }
        link.sent(bytes.len());
        let whole = bytes.iter().filter(|&&byte| decoder.push(byte).is_some()).count();
        assert_eq!(whole, 1, "what is sent is a frame");
        frames.push(bytes);
    }
    assert_eq!(decoder.dropped(), Dropped::default());
    assert!(frames.len() <= MOST_FRAMES, "an end that nobody talks to falls silent");
    frames
}

/// One end, which is told anything.
fn alone(mut bytes: impl Iterator<Item = u8>) {
    let mut link = end(1);
    let mut now_ms = 0;
    while let Some(action) = bytes.next() {
        let argument = bytes.next().unwrap_or(0);
        let mut some = || bytes.by_ref().take(usize::from(argument) % 50).collect::<Vec<u8>>();
        match action % 7 {
            0 => link.received(&some(), |_| {}),
            kind @ (1 | 2) => {
                let channel = if kind == 1 { Channel::Messages } else { Channel::Log };
                let payload = some();
                let frame = Frame { channel, sequence: action / 7, payload: &payload };
                let mut line = heapless::Vec::<u8, FRAME>::new();
                encode(frame, &mut line).expect("50 bytes fit");
                link.received(&line, |log| assert_eq!(log, payload));
            }
            3 => {
                now_ms += u64::from(argument) * 16;
                let _ = link.poll(now_ms);
            }
            4 => {
                let _ = link.send(&some()[..]);
                let _ = link.log(&[argument; 20]);
            }
            5 => drop(link.take()),
            _ => drop(drain(&mut link)),
        }
    }
    drain(&mut link);
}

/// Two ends, of whose frames some are lost and some come twice.
fn together(bytes: impl Iterator<Item = u8>) {
    let mut ends = [end(1), end(2)];
    let (mut said, mut heard) = ([0_u32; 2], [0_u32; 2]);
    let mut now_ms = 0;
    for action in bytes {
        let from = usize::from(action & 1);
        let to = 1 - from;
        for (index, frame) in drain(&mut ends[from]).into_iter().enumerate() {
            // Bits 1 and 2 choose what happens to every second frame.
            let times = if index % 2 == 0 { 1 } else { [1, 0, 2, 1][usize::from(action >> 1 & 3)] };
            for _ in 0..times {
                ends[to].received(&frame, |_| {});
            }
        }
        if action & 8 != 0 && ends[from].send(&said[from]).is_ok() {
            said[from] += 1;
        }
        if action & 16 != 0
            && let Some(came) = ends[to].take()
        {
            assert_eq!(came.decode(), Ok(heard[to]), "once and in order");
            heard[to] += 1;
        }
        now_ms += u64::from(action >> 5) * 20;
        for end in &mut ends {
            let _ = end.poll(now_ms);
        }
        assert!(heard[0] <= said[1]);
        assert!(heard[1] <= said[0]);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    if first % 2 == 0 { alone(rest.iter().copied()) } else { together(rest.iter().copied()) }
});
