//! Golden bytes of every message, and that the longest fit a frame.

use super::*;

fn bytes(message: &impl Serialize) -> ([u8; 1024], usize) {
    let mut bytes = [0; 1024];
    let length = postcard::to_slice(message, &mut bytes).expect("it fits").len();
    (bytes, length)
}

#[track_caller]
fn request(request: &Request<'_>, expected: &[u8]) {
    let (bytes, length) = bytes(request);
    assert_eq!(bytes[..length], *expected, "{request:?}");
    assert_eq!(postcard::from_bytes(&bytes[..length]).as_ref(), Ok(request));
}

#[track_caller]
fn reply(reply: &Reply, expected: &[u8]) {
    let (bytes, length) = bytes(reply);
    assert_eq!(bytes[..length], *expected, "{reply:?}");
    assert_eq!(postcard::from_bytes(&bytes[..length]).as_ref(), Ok(reply));
}

fn name(text: &str) -> Name {
    Name::try_from(text).expect("it is short")
}

const PARAMETERS: Parameters = Parameters {
    implementation: Implementation::Hardware,
    version: 2,
    warps: 8,
    cache_entries: 13,
    pool_entries: 60,
    lanes: 4,
    batch: 128,
    banks: 16,
    rows: 64,
};

#[test]
fn golden_requests() {
    let mut room = [0; 4 * BATCH];
    request(&Request::Info, &[0]);
    request(&Request::Configure { settings: 0x80, batch: 128 }, &[1, 0x80, 1, 0x80, 1]);
    let same = Feed::new(300, &[0xf_1234, 0xf_abcd], &mut room).expect("two fit");
    request(&Request::Feed(same), &[2, 0xac, 2, 0xf, 4, 0x34, 0x12, 0xcd, 0xab]);
    let mixed = Feed::new(1, &[0xf_1234, 0x3_0001], &mut room).expect("two fit");
    request(&Request::Feed(mixed), &[2, 1, 0, 8, 0x34, 0x12, 0xf, 0, 1, 0, 3, 0]);
    request(&Request::Counters(Column::Model), &[3, 0]);
    request(&Request::Counters(Column::Prototype), &[3, 1]);
    request(&Request::SelfTest, &[4]);
    request(&Request::Bench(Bench::Model { settings: 1, accesses: 2 }), &[5, 0, 1, 2]);
    request(&Request::Bench(Bench::Prototype { settings: 1, accesses: 2 }), &[5, 1, 1, 2]);
    request(&Request::Bench(Bench::Compared { settings: 1, accesses: 2 }), &[5, 2, 1, 2]);
    request(&Request::Bench(Bench::Count { design: 3 }), &[5, 3, 3]);
    request(&Request::Bench(Bench::Cycle { design: 3, ctas: 300 }), &[5, 4, 3, 0xac, 2]);
    request(&Request::Reset, &[6]);
}

#[test]
fn golden_replies() {
    let info = Info {
        board: name("soc"),
        ticks_hz: 300,
        prototype: PARAMETERS,
        workload: Some(name("ab")),
        designs: 4,
    };
    let expected =
        [0, 3, b's', b'o', b'c', 0xac, 2, 1, 2, 8, 13, 60, 4, 0x80, 1, 16, 64, 1, 2, b'a', b'b', 4];
    reply(&Reply::Info(info), &expected);
    reply(&Reply::Configured, &[1]);
    reply(&Reply::Refused(Refusal::Malformed), &[2, 0]);
    let why = Text::try_from("no").expect("it is short");
    reply(&Reply::Refused(Refusal::Settings(why.clone())), &[2, 1, 2, b'n', b'o']);
    reply(&Reply::Refused(Refusal::Batch { most: 128 }), &[2, 2, 0x80, 1]);
    reply(&Reply::Refused(Refusal::NotConfigured), &[2, 3]);
    reply(&Reply::Refused(Refusal::HasDiverged), &[2, 4]);
    reply(&Reply::Refused(Refusal::Order { next: 5 }), &[2, 5, 5]);
    reply(&Reply::Refused(Refusal::Command { index: 1, command: 2 }), &[2, 6, 1, 2]);
    reply(&Reply::Refused(Refusal::Workload(why.clone())), &[2, 7, 2, b'n', b'o']);
    reply(&Reply::Refused(Refusal::Design { designs: 4 }), &[2, 8, 4]);
    reply(&Reply::Refused(Refusal::Broken(Broken::Absent { id: 1 })), &[2, 9, 0, 1]);
    reply(&Reply::Fed { next: 300, clocks: 200 }, &[3, 0xac, 2, 0xc8, 1]);
    let values = Vec::from_slice(&[1, 300]).expect("two fit");
    let counters = Counters { column: Column::Prototype, values, digest: 5 };
    reply(&Reply::Counters(counters), &[4, 1, 2, 1, 0xac, 2, 5]);
    let diverged = |what| Diverged { index: 9, command: 3, what };
    let what = Difference::Outcome { model: 1, prototype: 2 };
    reply(&Reply::Diverged(diverged(what)), &[5, 9, 3, 0, 1, 2]);
    let what = Difference::Data { written: [1, 2, 3, 4], read: [5, 6, 7, 8] };
    reply(&Reply::Diverged(diverged(what)), &[5, 9, 3, 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    let what = Difference::Clocks { model: 1, prototype: 2 };
    reply(&Reply::Diverged(diverged(what)), &[5, 9, 3, 2, 1, 2]);
    let what = Difference::Counter { counter: 7, model: 1, prototype: 2 };
    reply(&Reply::Diverged(diverged(what)), &[5, 9, 3, 3, 7, 1, 2]);
    let what = Difference::Broken(Broken::Stuck { status: 6 });
    reply(&Reply::Diverged(diverged(what)), &[5, 9, 3, 4, 1, 6]);
    let broken = Some((0x80, diverged(Difference::Broken(Broken::Queue { status: 6 }))));
    let expected = [6, 3, 4, 1, 0x80, 1, 9, 3, 4, 2, 6];
    reply(&Reply::SelfTest { batches: 3, commands: 4, failed: broken }, &expected);
    reply(&Reply::Bench { units: 1, ticks: 2 }, &[7, 1, 2]);
    reply(&Reply::WasReset, &[8]);
    reply(&Reply::Fault(why), &[9, 2, b'n', b'o']);
}

#[test]
fn a_feed_brings_the_words_that_went_in() {
    let mut room = [0; 4 * BATCH];
    for words in [&[][..], &[0], &[0xf_0001, 0xf_ffff, 0xf_0000], &[u32::MAX, 0, 1 << 16, 0xffff]] {
        let feed = Feed::new(0, words, &mut room).expect("they fit");
        assert!(feed.is_whole() && feed.len() == words.len());
        assert_eq!(feed.is_empty(), words.is_empty());
        assert!(feed.words().eq(words.iter().copied()), "{words:x?}");
    }
    assert_eq!(Feed::new(0, &[0; BATCH + 1], &mut room), Err(BatchTooLong));
}

#[test]
fn a_feed_of_part_of_a_command_or_of_too_many_is_not_whole() {
    let long = [0; 4 * BATCH + 4];
    for (lanes, length, is_whole) in
        [(1, 3, false), (0, 6, false), (0, 4 * BATCH, true), (0, 4 * BATCH + 4, false)]
    {
        let feed = Feed { first: 0, lanes, bytes: &long[..length] };
        assert_eq!(feed.is_whole(), is_whole, "{lanes} {length}");
    }
    assert!(!Feed { first: 0, lanes: 1, bytes: &long[..2 * BATCH + 2] }.is_whole());
}

#[test]
fn the_longest_messages_fit_a_frame() {
    let longest = PrototypeLink::LONGEST_MESSAGE;
    let words: [u32; BATCH] = core::array::from_fn(|index| !(index as u32) << 15);
    let mut room = [0; 4 * BATCH];
    let feed = Feed::new(u64::MAX, &words, &mut room).expect("a batch fits");
    let (_, length) = bytes(&Request::Feed(feed));
    // Words of 4 bytes make the longest batch, which fills the frame.
    assert!(length <= longest && length > 4 * BATCH, "{length} of {longest}");
    let values = Vec::from_slice(&[u64::MAX; MOST_COUNTERS]).expect("they fit");
    let counters = Counters { column: Column::Model, values, digest: u64::MAX };
    let most = [u64::MAX, u64::MAX];
    let data = Difference::Data { written: [u32::MAX; LANES], read: [u32::MAX; LANES] };
    let counter = Difference::Counter { counter: 255, model: most[0], prototype: most[1] };
    let mut text = Text::new();
    while text.push('x').is_ok() {}
    let failed = |what| Diverged { index: u64::MAX, command: u32::MAX, what };
    for reply in [
        Reply::Counters(counters),
        Reply::Fault(text),
        Reply::Diverged(failed(counter)),
        Reply::SelfTest {
            batches: u32::MAX,
            commands: u32::MAX,
            failed: Some((u32::MAX, failed(data))),
        },
    ] {
        let (_, length) = bytes(&reply);
        assert!(length <= longest, "{length} of {longest}: {reply:?}");
    }
}
