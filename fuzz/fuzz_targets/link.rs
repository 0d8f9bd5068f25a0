//! Any bytes as what comes over a line, raw and in whole frames, and as what happens to the frames
//! of two ends: neither panics, what is sent are frames, and messages come once and in order.
#![no_main]

use strata_link::frame::{Channel, Decoder, Dropped, Frame, Sessions, encode};
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

/// The frames that an end sends now. Between `sessions`, if it is known whom it may have met: then
/// its messages are too.
fn drain(link: &mut End, sessions: Option<Sessions>) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut decoder = Decoder::<FRAME>::new();
    decoder.expect(sessions);
    loop {
        let bytes = link.to_send().to_vec();
        if bytes.is_empty() {
            break;
        }
        link.sent(bytes.len());
        let end = bytes.iter().position(|&byte| byte == 0);
        assert_eq!(end, Some(bytes.len() - 1), "what is sent is one frame");
        let whole = bytes.iter().filter(|&&byte| decoder.push(byte).is_some()).count();
        assert!(whole == 1 || sessions.is_none(), "and that is whole");
        frames.push(bytes);
    }
    // Of whom it is not known only messages are not known.
    let dropped = decoder.dropped();
    assert_eq!(dropped, Dropped { no_session: dropped.no_session, ..Dropped::default() });
    assert!(sessions.is_none() || dropped.no_session == 0);
    assert!(frames.len() <= MOST_FRAMES, "an end without a peer falls silent");
    frames
}

/// The session that an end hears of which is told anything.
const OTHER: u32 = 2;

/// One end, which is told anything. What comes for it as a message is of an end that it may have
/// met.
fn alone(mut bytes: impl Iterator<Item = u8>) {
    let mut link = end(1);
    let mut now_ms = 0;
    while let Some(action) = bytes.next() {
        let argument = bytes.next().unwrap_or(0);
        let mut some = || bytes.by_ref().take(usize::from(argument) % 50).collect::<Vec<u8>>();
        match action % 7 {
            0 => link.received(&some(), |_| {}),
            kind @ (1 | 2) => {
                let channel = match (kind, argument & 0x80) {
                    (1, 0) => Channel::Messages(Sessions { from: OTHER, to: 1 }),
                    (1, _) => Channel::Meeting,
                    _ => Channel::Log,
                };
                // A hello that is right comes of chance too seldom.
                let hello = [0, 2, OTHER as u8, 0, 1, 0, 52];
                let is_hello = channel == Channel::Meeting && argument == 0xff;
                let payload = if is_hello { hello.to_vec() } else { some() };
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
            _ => drop(drain(&mut link, None)),
        }
    }
    drain(&mut link, None);
}

/// Two ends, of whose frames some are lost and some come twice.
fn together(bytes: impl Iterator<Item = u8>) {
    let mut ends = [end(1), end(2)];
    let (mut said, mut heard) = ([0_u32; 2], [0_u32; 2]);
    let mut now_ms = 0;
    for action in bytes {
        let from = usize::from(action & 1);
        let to = 1 - from;
        let of = Sessions { from: from as u32 + 1, to: to as u32 + 1 };
        for (index, frame) in drain(&mut ends[from], Some(of)).into_iter().enumerate() {
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
