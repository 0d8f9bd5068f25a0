//! Frames: golden bytes, any bytes, and the way back after noise.

use heapless::Vec;
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use strata_link::frame::{
    Channel, Decoder, Dropped, Frame, OVERHEAD_BYTES, Sessions, TooLong, encode, longest_payload,
};

const FRAME: usize = 600;
/// Messages of these ends.
const MESSAGES: Channel = Channel::Messages(SESSIONS);
const SESSIONS: Sessions = Sessions { from: 1, to: 2 };

fn encoded(channel: Channel, sequence: u8, payload: &[u8]) -> Vec<u8, FRAME> {
    let mut bytes = Vec::new();
    encode(Frame { channel, sequence, payload }, &mut bytes).expect("it fits");
    bytes
}

/// A frame, owned.
type Owned = (Channel, u8, std::vec::Vec<u8>);

fn decoded<const SIZE: usize>(decoder: &mut Decoder<SIZE>, bytes: &[u8]) -> std::vec::Vec<Owned> {
    decoder.expect(Some(SESSIONS));
    let own = |frame: Frame<'_>| (frame.channel, frame.sequence, frame.payload.to_vec());
    bytes.iter().filter_map(|&byte| decoder.push(byte).map(own)).collect()
}

#[test]
fn golden_bytes() {
    let hello = encoded(Channel::Meeting, 5, &[0x11, 0, 0x22]);
    assert_eq!(hello[..], [0, 4, 1, 5, 0x11, 6, 0x22, 0x3c, 0xa6, 0x18, 4, 0]);
    // The checksum of zip over 01 00 00 00 02 00 00 00 03 05 11 00 22.
    let message = encoded(MESSAGES, 5, &[0x11, 0, 0x22]);
    assert_eq!(message[..], [0, 4, 3, 5, 0x11, 6, 0x22, 0xc0, 0xb5, 0xee, 0x44, 0]);
    let back = Channel::Messages(Sessions { from: 2, to: 1 });
    let back = encoded(back, 5, &[0x11, 0, 0x22]);
    assert_eq!(back[..], [0, 4, 3, 5, 0x11, 6, 0x22, 0xcb, 0xe5, 0xa9, 0xc0, 0]);
    let log = encoded(Channel::Log, 0, &[]);
    assert_eq!(log[..], [0, 2, 2, 5, 0x7d, 0x70, 0xef, 0x73, 0]);
    let long = encoded(Channel::Log, 255, &[7; 300]);
    assert_eq!(long.len(), 300 + OVERHEAD_BYTES + 2 + 2);
    assert_eq!((long[1], long[256]), (255, 53));
}

#[test]
fn frames_are_as_long_as_is_said() {
    fn longest<const SIZE: usize>() {
        let most = longest_payload(SIZE).expect("an empty frame fits");
        let mut bytes = Vec::<u8, SIZE>::new();
        let payload = std::vec![9; most + 1];
        let frame =
            |length| Frame { channel: Channel::Log, sequence: 1, payload: &payload[..length] };
        assert_eq!(encode(frame(most), &mut bytes), Ok(()), "{SIZE}");
        let mut decoder = Decoder::<SIZE>::new();
        let frames = decoded(&mut decoder, &bytes);
        assert_eq!(frames, [(Channel::Log, 1, std::vec![9; most])], "{SIZE}");
        assert_eq!(encode(frame(most + 1), &mut bytes), Err(TooLong), "{SIZE}");
        assert!(bytes.is_empty());
    }
    longest::<9>();
    longest::<10>();
    longest::<256>();
    longest::<257>();
    longest::<258>();
    longest::<259>();
    longest::<512>();
    longest::<600>();
    assert_eq!(longest_payload(9), Some(0));
    assert_eq!(longest_payload(8), None);
    assert_eq!(longest_payload(1), None);
}

#[test]
fn what_is_dropped_is_counted_by_its_reason_and_the_next_frame_comes() {
    let good = encoded(MESSAGES, 1, &[1, 2, 3]);
    let whole = (MESSAGES, 1, std::vec![1, 2, 3]);
    let mut unknown = good.clone();
    // Channel 4 with its own checksum.
    let body = [4, 1, 9];
    let checksum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&body).to_le_bytes();
    unknown.resize(FRAME, 0).expect("it fits");
    let length = cobs::encode(&[&body[..], &checksum].concat(), &mut unknown);
    unknown.truncate(length);
    let mut flipped = good.to_vec();
    flipped[3] ^= 0x40;
    let reasons: [(&[u8], Dropped); 6] = [
        (&[0; 5], Dropped::default()),
        (&[1; 100], Dropped { too_long: 1, ..Dropped::default() }),
        (&[9, 1, 2], Dropped { stuffing: 1, ..Dropped::default() }),
        (&[6, 1, 2, 3, 4, 5], Dropped { too_short: 1, ..Dropped::default() }),
        (&flipped[..flipped.len() - 1], Dropped { checksum: 1, ..Dropped::default() }),
        (&unknown, Dropped { unknown_channel: 1, ..Dropped::default() }),
    ];
    for (noise, dropped) in reasons {
        let mut decoder = Decoder::<24>::new();
        let line = [&good[..], noise, &[0], &good, &good].concat();
        assert_eq!(decoded(&mut decoder, &line), [(); 3].map(|()| whole.clone()), "{noise:?}");
        assert_eq!(decoder.dropped(), dropped, "{noise:?}");
        assert_eq!(dropped.total(), u64::from(dropped != Dropped::default()));
    }
}

/// Frames of another session are dropped, whichever of the two it is, and those that come back to
/// where they came from; so is every message before there are sessions.
#[test]
fn a_message_of_another_session_is_no_frame() {
    let of = |from, to| encoded(Channel::Messages(Sessions { from, to }), 1, &[7]);
    let mut decoder = Decoder::<FRAME>::new();
    let line = [&of(1, 2)[..], &of(3, 2), &of(1, 4), &of(2, 1), &of(0, 0), &of(1, 2)].concat();
    let frames = decoded(&mut decoder, &line);
    assert_eq!(frames, [(); 2].map(|()| (MESSAGES, 1, std::vec![7])));
    assert_eq!(decoder.dropped(), Dropped { checksum: 4, ..Dropped::default() });
    decoder.expect(None);
    assert!(of(1, 2).iter().all(|&byte| decoder.push(byte).is_none()));
    assert_eq!(decoder.dropped(), Dropped { checksum: 4, no_session: 1, ..Dropped::default() });
}

/// Runs of all lengths around the longest, with and without zeros, and another crate's stuffing.
#[test]
fn frames_are_stuffed_as_by_the_reference() {
    const SIZE: usize = 800;
    let lengths = (0..12).chain(244..262).chain(500..520).chain([700]);
    for (length, every) in lengths.flat_map(|length| [(length, 1), (length, 7), (length, 1000)]) {
        let payload: std::vec::Vec<u8> = (0..length)
            .map(|place| if place % every == 0 { 0 } else { 1 + (place % 255) as u8 })
            .collect();
        let body = [&[3, 200][..], &payload].concat();
        let seen = [&[1, 0, 0, 0, 2, 0, 0, 0][..], &body].concat();
        let checksum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&seen).to_le_bytes();
        let mut expected = [0; SIZE];
        let stuffed = cobs::encode(&[&body[..], &checksum].concat(), &mut expected);
        // Behind a run of the longest it has begun another.
        expected[stuffed] = 0;
        let mut bytes = Vec::<u8, SIZE>::new();
        let frame = Frame { channel: MESSAGES, sequence: 200, payload: &payload };
        encode(frame, &mut bytes).expect("it fits");
        assert_eq!(bytes[0], 0);
        assert_eq!(bytes[1..], expected[..=stuffed], "{length} bytes, zeros every {every}");
        let mut decoder = Decoder::<SIZE>::new();
        let frames = decoded(&mut decoder, &bytes);
        assert_eq!(frames, [(MESSAGES, 200, payload)], "zeros every {every}");
    }
}

#[test]
fn every_single_flip_of_a_frame_is_found() {
    let good = encoded(MESSAGES, 77, &[0, 1, 0, 255, 4]);
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut decoder = Decoder::<FRAME>::new();
        assert_eq!(decoded(&mut decoder, &bytes), [], "bit {bit}");
        let frames = decoded(&mut decoder, &[&[0], &good[..]].concat());
        assert_eq!(frames, [(MESSAGES, 77, std::vec![0, 1, 0, 255, 4])], "bit {bit}");
    }
}

fn zeros(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == 0).count() - 1
}

/// The same frames in every run.
fn fixed() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn frames_come_back_in_order(
        frames in proptest::collection::vec(
            (any::<bool>(), any::<u8>(), proptest::collection::vec(0_u8..4, 0..=590)), 1..4),
    ) {
        let mut line = std::vec::Vec::new();
        let mut expected = std::vec::Vec::new();
        for (log, sequence, payload) in frames {
            let channel = if log { Channel::Log } else { MESSAGES };
            line.extend_from_slice(&encoded(channel, sequence, &payload));
            expected.push((channel, sequence, payload));
        }
        prop_assert_eq!(zeros(&line), 2 * expected.len());
        let mut decoder = Decoder::<FRAME>::new();
        prop_assert_eq!(decoded(&mut decoder, &line), expected);
        prop_assert_eq!(decoder.dropped(), Dropped::default());
    }

    #[test]
    fn after_any_bytes_a_zero_brings_the_frames_back(
        noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut decoder = Decoder::<40>::new();
        let before = decoded(&mut decoder, &noise).len() as u64;
        assert!(before + decoder.dropped().total() <= zeros(&noise) as u64);
        decoder.push(0);
        let good = encoded(Channel::Log, 3, &[4, 0, 5]);
        prop_assert_eq!(decoded(&mut decoder, &good), [(Channel::Log, 3, std::vec![4, 0, 5])]);
    }
}
