//! Exact: handshake, order, room, and every way in which a link ends.

use strata_link::frame::{Channel, Frame, Sessions, encode};
use strata_link::{Link, LinkError, SendError, Settings, Version};

use crate::{FIRMWARE, end};

type End = Link<65, 4>;

/// Everything that an end wants to send now.
fn drain(link: &mut End) -> Vec<u8> {
    let mut line = Vec::new();
    loop {
        let bytes = link.to_send().to_vec();
        if bytes.is_empty() {
            return line;
        }
        link.sent(bytes.len());
        line.extend(bytes);
    }
}

fn pass(from: &mut End, to: &mut End) -> usize {
    let line = drain(from);
    to.received(&line, |_| {});
    line.len()
}

/// Passes bytes until neither has any.
fn settle(a: &mut End, b: &mut End) {
    while pass(a, b) + pass(b, a) > 0 {}
}

fn connected() -> (End, End) {
    let (mut host, mut device) = (end(1), end(2));
    settle(&mut host, &mut device);
    assert_eq!(host.peer().map(|peer| peer.session), Some(2));
    assert_eq!(device.peer().map(|peer| peer.session), Some(1));
    (host, device)
}

fn numbers(link: &mut End) -> Vec<u32> {
    core::iter::from_fn(|| link.take()).map(|came| came.decode().expect("a number")).collect()
}

/// The frames in some bytes, unstuffed by another crate.
fn frames(line: &[u8]) -> Vec<Vec<u8>> {
    let frames = line.split(|&byte| byte == 0).filter(|frame| !frame.is_empty());
    let unstuffed = |frame: &[u8]| {
        let mut bytes = vec![0; frame.len()];
        let length = cobs::decode(frame, &mut bytes).expect("it is stuffed").frame_size();
        bytes.truncate(length);
        bytes
    };
    frames.map(unstuffed).collect()
}

/// The kinds of the packets in some bytes, with their frames' sequences.
fn kinds(line: &[u8]) -> Vec<(u8, u8)> {
    frames(line).iter().map(|frame| (frame[2], frame[1])).collect()
}

const HELLO: u8 = 0;
const WELCOME: u8 = 1;
const DATA: u8 = 2;
const ACKNOWLEDGE: u8 = 3;
const PROBE: u8 = 4;

/// A hello as written down with zip's checksum. The checksum of a message is over both sessions,
/// too.
const HELLO_OF_1: [u8; 16] = [0, 2, 1, 1, 3, 2, 1, 2, 1, 6, 0x34, 0xd4, 0x16, 0xac, 0xa1, 0];
const DATA_OF_1_TO_2: [u8; 12] = [0, 2, 3, 8, 2, 1, 1, 0xe8, 0x18, 0x2c, 0xd6, 0];
/// The hello of protocol 1, firmware 1.0.0, session 7.
const HELLO_OF_PROTOCOL_1: [u8; 16] = [2, 1, 1, 4, 1, 7, 1, 1, 7, 0xac, 4, 8, 0x26, 0x85, 0x8f, 0];

#[test]
fn a_handshake_and_a_message_on_the_line() {
    let (mut host, mut device) = (end(1), end(2));
    let hello = drain(&mut host);
    // Protocol 2, session 1, firmware 0.1.0, messages of 52 bytes at most.
    assert_eq!(hello[..], HELLO_OF_1);
    assert_eq!(kinds(&hello), [(HELLO, 0)]);
    assert_eq!(frames(&hello)[0][..9], [1, 0, 0, 2, 1, 0, 1, 0, 52]);
    device.received(&hello, |_| {});
    let answer = drain(&mut device);
    assert_eq!(kinds(&answer), [(WELCOME, 0), (HELLO, 0), (ACKNOWLEDGE, 0)]);
    assert_eq!(host.send(&1), Err(SendError::NotConnected));
    host.received(&answer, |_| {});
    assert_eq!(host.send(&1_u32), Ok(()));
    let line = drain(&mut host);
    assert_eq!(kinds(&line), [(WELCOME, 0), (ACKNOWLEDGE, 0), (DATA, 0)]);
    assert_eq!(line[line.len() - 12..], DATA_OF_1_TO_2);
    device.received(&line, |_| {});
    assert_eq!(kinds(&drain(&mut device)), [(ACKNOWLEDGE, 0)]);
    assert_eq!(numbers(&mut device), [1]);
}

#[test]
fn what_is_lost_or_comes_twice_or_in_another_order_is_taken_once_in_order() {
    let (mut host, mut device) = connected();
    let frames: Vec<Vec<u8>> = (0..4_u32)
        .map(|number| {
            host.send(&number).expect("there is room");
            drain(&mut host)
        })
        .collect();
    assert_eq!(host.send(&4_u32), Err(SendError::Full));
    for lost_last in [2, 1, 2, 0] {
        device.received(&frames[lost_last], |_| {});
    }
    assert_eq!(numbers(&mut device), [0, 1, 2]);
    assert_eq!(device.counts().duplicates, 1);
    pass(&mut device, &mut host);
    assert_eq!(host.unacknowledged(), 1);
    assert_eq!(host.poll(99), Ok(()));
    assert_eq!(drain(&mut host), []);
    assert_eq!(host.poll(100), Ok(()));
    assert_eq!(drain(&mut host), frames[3]);
    device.received(&frames[3], |_| {});
    device.received(&frames[0], |_| {});
    assert_eq!(device.counts().duplicates, 2);
    assert_eq!(numbers(&mut device), [3]);
    settle(&mut device, &mut host);
    assert_eq!((host.unacknowledged(), host.counts().repeated), (0, 1));
}

#[test]
fn an_end_that_takes_nothing_is_sent_what_it_has_room_for() {
    let (mut host, mut device) = connected();
    for number in 0..4_u32 {
        host.send(&number).expect("there is room");
    }
    settle(&mut host, &mut device);
    assert_eq!(host.unacknowledged(), 0);
    for number in 4..8_u32 {
        host.send(&number).expect("there is room");
    }
    assert_eq!(drain(&mut host), []);
    // It asks, and is told that there is still no room.
    host.poll(100).expect("it goes on");
    let probe = drain(&mut host);
    assert_eq!(kinds(&probe), [(PROBE, 0)]);
    device.received(&probe, |_| {});
    pass(&mut device, &mut host);
    assert_eq!(drain(&mut host), []);
    // Half a window of room is news.
    assert!(device.take().is_some());
    assert_eq!(drain(&mut device), []);
    assert!(device.take().is_some());
    assert_eq!(kinds(&drain(&mut device)), [(ACKNOWLEDGE, 0)]);
    // The news is lost; the next question brings it.
    host.poll(200).expect("it goes on");
    settle(&mut host, &mut device);
    assert_eq!(numbers(&mut device), [2, 3, 4, 5]);
    settle(&mut host, &mut device);
    assert_eq!(numbers(&mut device), [6, 7]);
    assert_eq!(device.counts().no_room, 0);
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let (mut host, mut device) = connected();
    assert_eq!(End::LONGEST_MESSAGE, 52);
    // One byte is the length.
    assert_eq!(host.send(&[7_u8; 51][..]), Ok(()));
    assert_eq!(host.send(&[7_u8; 52][..]), Err(SendError::TooLong { most: 52 }));
    settle(&mut host, &mut device);
    let message = device.take().expect("it came");
    assert_eq!(message.bytes().len(), 52);
    assert_eq!(message.decode::<&[u8]>(), Ok(&[7; 51][..]));
    assert!(message.decode::<(u64, u64, &str)>().is_err());

    // The other end's limit counts too.
    let mut small = Link::<29, 4>::new(Settings::new(FIRMWARE, 3), 0);
    let mut large = end::<65, 4>(4);
    for _ in 0..4 {
        let line = small.to_send().to_vec();
        small.sent(line.len());
        large.received(&line, |_| {});
        let line = large.to_send().to_vec();
        large.sent(line.len());
        small.received(&line, |_| {});
    }
    assert_eq!(large.send(&[7_u8; 16][..]), Err(SendError::TooLong { most: 16 }));
    assert_eq!(large.send(&[7_u8; 15][..]), Ok(()));
}

#[test]
fn ends_of_different_versions_name_both() {
    let other = Version { major: 0, minor: 2, patch: 0 };
    let mut host = end(1);
    let mut device = End::new(Settings::new(other, 2), 0);
    pass(&mut host, &mut device);
    let error = device.poll(0).expect_err("they differ");
    let LinkError::Mismatch { ours, theirs } = error else { panic!("{error}") };
    assert_eq!((ours.firmware, theirs.firmware), (other, FIRMWARE));
    assert_eq!(device.send(&1), Err(SendError::Ended(error)));
    // Its last packet tells the other end.
    assert_eq!(kinds(device.to_send()), [(WELCOME, 0)]);
    pass(&mut device, &mut host);
    let error = host.poll(0).expect_err("they differ");
    assert_eq!(
        error.to_string(),
        "the other end has protocol 2, firmware 0.2.0, this one protocol 2, firmware 0.1.0: build \
         both from the same version"
    );
    assert_eq!(drain(&mut device), []);
    assert_eq!(device.poll(1_000_000), Err(LinkError::Mismatch { ours, theirs }));
}

#[test]
fn another_protocol_is_a_mismatch_whatever_stands_behind_its_hello() {
    let mut host: End = end(1);
    host.received(&met(&[HELLO, 3, 9, 0, 1, 0, 52, 99, 98]), |_| {});
    let error = host.poll(0).expect_err("it differs");
    assert!(matches!(error, LinkError::Mismatch { theirs, .. } if theirs.protocol == 3), "{error}");
}

#[test]
fn an_end_of_the_protocol_before_is_refused_by_name() {
    let mut host: End = end(1);
    host.received(&HELLO_OF_PROTOCOL_1, |_| {});
    let error = host.poll(0).expect_err("it differs");
    assert_eq!(
        error.to_string(),
        "the other end has protocol 1, firmware 1.0.0, this one protocol 2, firmware 0.1.0: build \
         both from the same version"
    );
    // It is told, in the frame that it understands.
    let line = drain(&mut host);
    assert_eq!(kinds(&line), [(WELCOME, 0)]);
    assert_eq!(frames(&line)[0][..5], [1, 0, WELCOME, 7, 2]);
}

/// A packet in a frame where ends meet.
fn met(payload: &[u8]) -> heapless::Vec<u8, 65> {
    framed_on(Channel::Meeting, payload)
}

/// A packet in a message's frame, from session 2 to session 1.
fn framed(payload: &[u8]) -> heapless::Vec<u8, 65> {
    framed_on(Channel::Messages(Sessions { from: 2, to: 1 }), payload)
}

fn framed_on(channel: Channel, payload: &[u8]) -> heapless::Vec<u8, 65> {
    let mut bytes = heapless::Vec::new();
    let frame = Frame { channel, sequence: 0, payload };
    encode(frame, &mut bytes).expect("it fits");
    bytes
}

#[test]
fn what_makes_no_sense_is_counted_and_changes_nothing() {
    let (mut host, _) = connected();
    for number in 0..2_u32 {
        host.send(&number).expect("there is room");
    }
    assert_eq!(kinds(host.to_send()), [(DATA, 0)]);
    // The first is on its way, the second is not: it cannot have come.
    host.received(&framed(&[ACKNOWLEDGE, 2, 4]), |_| {});
    assert_eq!((host.unacknowledged(), host.counts().strange), (2, 1));
    host.received(&framed(&[ACKNOWLEDGE, 1, 4]), |_| {});
    assert_eq!((host.unacknowledged(), host.counts().strange), (1, 1));
    // No packet, and half a one.
    host.received(&framed(&[5]), |_| {});
    host.received(&framed(&[DATA, 9, 1]), |_| {});
    assert_eq!(host.counts().strange, 3);
    // Where ends meet there are no messages, and between ends that have met there is no meeting.
    host.received(&met(&[DATA, 1, 7]), |_| {});
    host.received(&met(&[ACKNOWLEDGE, 1, 4]), |_| {});
    host.received(&framed(&[HELLO, 2, 3, 0, 1, 0, 52]), |_| {});
    host.received(&framed(&[WELCOME, 1, 2, 3, 0, 1, 0, 52]), |_| {});
    assert_eq!(host.counts().strange, 7);
    assert!(host.take().is_none());
    assert_eq!(host.poll(0), Ok(()));

    // Frames for the end that was here before.
    let mut host: End = end(9);
    host.received(&met(&[WELCOME, 1, 2, 2, 0, 1, 0, 52]), |_| {});
    host.received(&framed(&[DATA, 1, 7]), |_| {});
    let counts = host.counts();
    assert_eq!((host.peer(), counts.strange, counts.dropped.no_session), (None, 1, 1));
    assert!(host.take().is_none());
    host.received(&met(&[WELCOME, 9, 2, 2, 0, 1, 0, 52]), |_| {});
    assert_eq!(host.peer().map(|peer| peer.session), Some(2));
}

#[test]
fn what_was_on_its_way_before_both_ends_started_again_is_not_taken() {
    let (mut host, mut device) = connected();
    host.send(&7_u32).expect("there is room");
    device.send(&8_u32).expect("there is room");
    let stale = [drain(&mut host), drain(&mut device)];
    // Whichever of them starts again, and both.
    for sessions in [[3, 2], [1, 4], [3, 4]] {
        let [mut host, mut device]: [End; 2] = sessions.map(end);
        // Bytes that the line kept arrive before anything else, and in between.
        for _ in 0..2 {
            host.received(&stale[1], |_| {});
            device.received(&stale[0], |_| {});
            settle(&mut host, &mut device);
        }
        assert_eq!((host.take(), device.take()), (None, None), "{sessions:?}");
        host.send(&9_u32).expect("they are connected");
        settle(&mut host, &mut device);
        assert_eq!(numbers(&mut device), [9], "{sessions:?}");
        let dropped = [host.counts().dropped, device.counts().dropped];
        for dropped in dropped {
            assert_eq!((dropped.no_session, dropped.checksum), (1, 1), "{sessions:?}");
        }
    }
}

#[test]
fn a_dead_end_is_an_error_after_the_attempts() {
    // No other end from the start: repetitions at 100, 200 .. 2,000 ms, then the end.
    let mut host: End = end(1);
    let mut hellos = 0;
    for now_ms in 0..2_100 {
        assert_eq!(host.poll(now_ms), Ok(()), "{now_ms}");
        hellos += kinds(&drain(&mut host)).len();
    }
    assert_eq!(hellos, 21);
    let error = host.poll(2_100).expect_err("no end answers");
    assert_eq!(error, LinkError::Silent { attempts: 20, after_ms: 2_100 });

    // An end with less time than its attempts take also reports silence.
    let settings = Settings { stall_ms: 450, ..Settings::new(FIRMWARE, 1) };
    let mut host = End::new(settings, 0);
    assert!((0..450).all(|now_ms| host.poll(now_ms).is_ok()));
    assert_eq!(host.poll(450), Err(LinkError::Silent { attempts: 4, after_ms: 450 }));

    // Dies with messages on their way.
    let (mut host, _) = connected();
    host.send(&1_u32).expect("there is room");
    let ended = (0..10_000).find(|&now_ms| {
        drain(&mut host);
        host.poll(now_ms).is_err()
    });
    assert_eq!(ended, Some(2_100));
    assert_eq!(host.counts().repeated, 20);
    assert_eq!(drain(&mut host), []);

    // Dies while the line is silent.
    let (mut host, mut device) = connected();
    for now_ms in 0..5_000 {
        assert_eq!((host.poll(now_ms), device.poll(now_ms)), (Ok(()), Ok(())));
        settle(&mut host, &mut device);
    }
    let ended = (5_000..20_000).find(|&now_ms| {
        drain(&mut host);
        host.poll(now_ms).is_err()
    });
    let ended = ended.expect("it is noticed");
    assert!((6_900..=8_100).contains(&ended), "{ended}");
}

/// Without repetitions, and with a stall that comes before the first of them.
#[test]
fn no_end_is_silent_that_was_not_asked() {
    let usual = Settings::new(FIRMWARE, 1);
    for settings in [
        Settings { attempts: 0, ..usual },
        Settings { attempts: 0, stall_ms: 0, ..usual },
        Settings { stall_ms: 30, ..usual },
        Settings { stall_ms: 0, answer_ms: 0, ..usual },
    ] {
        let mut host = End::new(settings, 0);
        let error = (0..10_000).find_map(|now_ms| host.poll(now_ms).err());
        assert!(matches!(error, Some(LinkError::Silent { attempts: 1.., .. })), "{error:?}");
        // With a message on its way.
        let (mut host, mut device) = (End::new(settings, 0), end(2));
        settle(&mut host, &mut device);
        host.send(&1_u32).expect("there is room");
        let error = (0..10_000).find_map(|now_ms| host.poll(now_ms).err());
        assert!(matches!(error, Some(LinkError::Silent { attempts: 1.., .. })), "{error:?}");
    }
}

/// Hours between two polls, on a line that is idle and on one with a message that is lost.
#[test]
fn an_end_that_stood_still_goes_on() {
    const HOUR: u64 = 3_600_000;
    let (mut host, mut device) = connected();
    for round in 1..40_u32 {
        let now_ms = HOUR * u64::from(round);
        for now_ms in [now_ms, now_ms + 1] {
            assert_eq!((host.poll(now_ms), device.poll(now_ms)), (Ok(()), Ok(())), "{round}");
            settle(&mut host, &mut device);
        }
        host.send(&round).expect("there is room");
        drain(&mut host);
        // One timeout passed, so that it is repeated at once.
        assert_eq!(host.poll(now_ms + 1 + HOUR / 2), Ok(()));
        settle(&mut host, &mut device);
        assert_eq!(numbers(&mut device), [round]);
    }
    assert_eq!(host.counts().repeated, 39);
}

/// A clock that is set back by an hour is a clock that goes on from there.
#[test]
fn time_goes_on_behind_a_clock_that_goes_back() {
    let (mut host, mut device) = connected();
    let mut now_ms = 4_000_000;
    for _ in 0..3 {
        assert_eq!((host.poll(now_ms), device.poll(now_ms)), (Ok(()), Ok(())));
        settle(&mut host, &mut device);
        host.send(&1_u32).expect("there is room");
        drain(&mut host);
        now_ms -= 1_000_000;
        let repeated = (0..200).find(|later| {
            assert_eq!(host.poll(now_ms + later), Ok(()));
            pass(&mut host, &mut device) > 0
        });
        assert_eq!(repeated, Some(100));
        now_ms += 100;
        settle(&mut host, &mut device);
        assert_eq!(numbers(&mut device), [1]);
    }
    // The other end is missed as soon as before.
    let ended = (0..20_000).find(|later| {
        drain(&mut host);
        host.poll(now_ms + later).is_err()
    });
    assert!(ended.is_some_and(|ms| (2_000..4_000).contains(&ms)), "{ended:?}");
}

#[test]
fn an_end_that_answers_but_takes_nothing_is_an_error_in_time() {
    let (mut host, mut device) = connected();
    for number in 0..5_u32 {
        host.send(&number).map_or_else(|error| assert_eq!(error, SendError::Full), drop);
        settle(&mut host, &mut device);
    }
    assert_eq!(host.unacknowledged(), 1);
    let ended = (0..20_000).find(|&now_ms| {
        settle(&mut host, &mut device);
        assert_eq!(device.poll(now_ms), Ok(()));
        host.poll(now_ms).is_err()
    });
    assert_eq!(ended, Some(10_000));
    assert_eq!(host.poll(10_001), Err(LinkError::Stalled { after_ms: 10_000 }));
}

#[test]
fn a_restart_in_the_middle_is_an_error_and_a_new_link_connects() {
    // With another session, and with the same one after a message.
    for session in [3, 2] {
        let (mut host, mut device) = connected();
        device.send(&1_u32).expect("there is room");
        settle(&mut host, &mut device);
        let mut device: End = end(session);
        pass(&mut device, &mut host);
        assert_eq!(host.poll(0), Err(LinkError::Restarted), "{session}");
        assert_eq!(drain(&mut host), [], "{session}");
        let mut host: End = end(7);
        settle(&mut host, &mut device);
        // The first hello of the device went to the old end.
        device.poll(100).expect("it goes on");
        settle(&mut host, &mut device);
        assert_eq!(device.peer().map(|peer| peer.session), Some(7));
        host.send(&5_u32).expect("they are connected");
        settle(&mut host, &mut device);
        assert_eq!(numbers(&mut device), [5]);
    }
    // Before the handshake was over it makes no difference.
    let (mut first, mut device): (End, End) = (end(1), end(2));
    pass(&mut first, &mut device);
    drain(&mut device);
    let mut second: End = end(3);
    settle(&mut second, &mut device);
    device.poll(100).expect("it goes on");
    settle(&mut second, &mut device);
    assert_eq!(device.peer().map(|peer| peer.session), Some(3));
    assert_eq!(second.peer().map(|peer| peer.session), Some(2));
}

#[test]
fn logs_go_behind_messages_and_their_gaps_are_counted() {
    let (mut host, mut device) = connected();
    for log in [b"one", b"two", b"six", b"ten"] {
        device.log(log).expect("there is room");
    }
    assert_eq!(device.log(b"full"), Err(SendError::Full));
    assert_eq!(device.log(&[1; 57]), Err(SendError::TooLong { most: 56 }));
    device.send(&1_u32).expect("there is room");
    let mut logs = Vec::new();
    let line = drain(&mut device);
    assert_eq!(kinds(&line)[0], (DATA, 0));
    host.received(&line, |log| logs.push(log.to_vec()));
    assert_eq!(logs, [b"one", b"two", b"six", b"ten"]);
    assert_eq!(host.counts().logs_missed, 0);
    device.log(&[9; 56]).expect("there is room");
    host.received(&drain(&mut device), |log| assert_eq!(log, [9; 56]));
    assert_eq!(host.counts().logs_missed, 2);
}
