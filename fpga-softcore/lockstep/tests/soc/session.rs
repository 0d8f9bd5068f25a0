//! The board answers over every kind of line, again after a peer has gone, and with the hardware's
//! counters.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::PrototypeCounters;
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::regmap::field;
use strata_core::prototype::sequencer::Prototype;
use strata_core::prototype::settings::Settings;
use strata_core::units::{LaneMask, RegisterId};
use strata_link::message::{BATCH, Bench, Column, Feed, Implementation, Reply, Request};

use crate::host::Host;
use crate::simulator::Board;

/// 16 registers a warp, writes of 3 cycles, split bank write, 60 entries of a write pool, 6 of a
/// cache.
pub(crate) const SETTINGS: u32 = field::SETTINGS_REGISTERS.put(16)
    | field::SETTINGS_POOL_ENTRIES.put(60)
    | field::SETTINGS_WRITE_CYCLES.put(3)
    | field::SETTINGS_SPLIT.mask()
    | field::SETTINGS_CACHE_ENTRIES.put(6);

pub(crate) fn over_tcp(board: &Board, session: u32) -> Host<TcpStream> {
    let stream = board.connect();
    stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket takes options");
    Host::new(stream, session)
}

/// Asks for the board's identity, and compares it with the elaborated parameters.
pub(crate) fn says_who_it_is(host: &mut Host<impl Read + Write>) {
    let Reply::Info(info) = host.ask(&Request::Info) else { panic!("not what was asked for") };
    assert_eq!(info.board, "soc");
    assert_eq!(info.ticks_hz, 50_000_000);
    let prototype = info.prototype;
    assert_eq!(prototype.implementation, Implementation::Hardware);
    assert_eq!((prototype.warps, prototype.lanes), (8, 4));
    assert_eq!((prototype.cache_entries, prototype.pool_entries), (13, 60));
    assert_eq!((prototype.batch, prototype.banks, prototype.rows), (128, 16, 64));
}

/// Accesses of all kinds, from a seed (Marsaglia's generator of 64 bits).
fn accesses(seed: u64, count: usize) -> Vec<Command> {
    let mut state = seed;
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let mut access = || {
        let operation = match below(32) {
            0..16 => Operation::Read { last_use: below(4) == 0, more: false },
            16..26 => Operation::Write,
            26 => Operation::Bypass,
            27 => Operation::Fill,
            28 => Operation::Flush,
            29 => Operation::Demote,
            30 => Operation::Exit,
            _ => Operation::Drop,
        };
        Command {
            warp: below(8) as u8,
            operation,
            register: RegisterId(below(16) as u16),
            lanes: LaneMask(1 + below(15) as u32),
        }
    };
    (0..count).map(|_| access()).collect()
}

/// Feeds accesses, and compares the counters and clocks of both columns with a model here.
fn counts_as_the_model(host: &mut Host<impl Read + Write>, settings: u32, seed: u64, count: usize) {
    let mut model = Prototype::<8, 13, 60>::new(Settings::unpack(settings)).expect("they can be");
    let configured = host.ask(&Request::Configure { settings, batch: BATCH as u16 });
    assert_eq!(configured, Reply::Configured);
    let mut first = 0;
    for batch in accesses(seed, count).chunks(BATCH) {
        let words: Vec<u32> = batch.iter().filter_map(|command| command.pack()).collect();
        assert_eq!(words.len(), batch.len());
        let mut bytes = [0; 4 * BATCH];
        let feed = Feed::new(first, &words, &mut bytes).expect("it is short enough");
        let fed = host.ask(&Request::Feed(feed));
        let clocks = model.run(batch, &mut vec![Outcome::default(); batch.len()]) as u32;
        first += batch.len() as u64;
        assert_eq!(fed, Reply::Fed { next: first, clocks }, "seed {seed}");
    }
    let PrototypeCounters(expected) = model.counters();
    let mut digests = [Column::Model, Column::Prototype].map(|column| {
        let Reply::Counters(counters) = host.ask(&Request::Counters(column)) else {
            panic!("not what was asked for")
        };
        assert_eq!(&counters.values[..], expected, "seed {seed}, {column:?}");
        counters.digest
    });
    digests.sort_unstable();
    assert_eq!(digests[0], digests[1], "seed {seed}");
}

#[test]
fn the_hardware_counts_what_the_model_counts() {
    let board = Board::start(&["--tcp", "0"]);
    let mut host = over_tcp(&board, 1);
    says_who_it_is(&mut host);
    let without_pool = SETTINGS & !field::SETTINGS_POOL_ENTRIES.mask();
    let without_cache = SETTINGS & !field::SETTINGS_CACHE_ENTRIES.mask();
    let liveness = SETTINGS | field::SETTINGS_LRU.mask() | field::SETTINGS_LIVENESS.mask();
    for (seed, settings) in [(1, SETTINGS), (2, without_pool), (3, without_cache), (4, liveness)] {
        counts_as_the_model(&mut host, settings, seed, 1000);
    }
    let start = Instant::now();
    says_who_it_is(&mut host);
    println!("ping: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}

#[test]
fn the_launch_in_the_image_runs_in_both_modes() {
    let board = Board::start(&["--tcp", "0"]);
    let mut host = over_tcp(&board, 1);
    let mut instructions = |bench| {
        let Reply::Bench { units, ticks } = host.ask(&Request::Bench(bench)) else {
            panic!("{bench:?} was not run")
        };
        // The processor needs more than a clock for any of them.
        assert!(units > 0 && ticks > units, "{bench:?}: {units} in {ticks}");
        units
    };
    let [one, two] = [1, 2].map(|ctas| instructions(Bench::Cycle { design: 1, ctas }));
    assert!(one < two, "two CTAs execute more than one: {one}, {two}");
    let [cached, uncached] = [0, 1].map(|design| instructions(Bench::Count { design }));
    assert_eq!(cached, uncached, "a design changes no instruction");
}

#[test]
fn a_peer_that_goes_makes_room_for_the_next() {
    let board = Board::start(&["--tcp", "0"]);
    let mut host = over_tcp(&board, 1);
    says_who_it_is(&mut host);
    // In the middle of a frame, whose end the board never gets.
    let mut stream = host.into_line();
    stream.write_all(&[7; 100]).expect("the board is there");
    drop(stream);
    for session in 2..5 {
        let mut host = over_tcp(&board, session);
        says_who_it_is(&mut host);
        counts_as_the_model(&mut host, SETTINGS, u64::from(session), 100);
    }
}

/// A terminal whose reads give up after a short time.
#[cfg(target_os = "linux")]
struct Terminal(std::fs::File);

#[cfg(target_os = "linux")]
impl Terminal {
    fn open(path: &str) -> Self {
        use std::os::unix::fs::OpenOptionsExt;
        /// Linux's `O_NONBLOCK`.
        const NO_WAIT: i32 = 0o4000;
        let mut options = std::fs::File::options();
        options.read(true).write(true).custom_flags(NO_WAIT);
        Self(options.open(path).expect("the board has made it"))
    }
}

#[cfg(target_os = "linux")]
impl Read for Terminal {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let result = self.0.read(bytes);
        if result.is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        result
    }
}

#[cfg(target_os = "linux")]
impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_does_as_well() {
    let board = Board::start(&["--pty"]);
    let path = board.announcement.strip_prefix("pty ").expect("a terminal");
    for session in 1..4 {
        let mut host = Host::new(Terminal::open(path), session);
        says_who_it_is(&mut host);
    }
}

#[test]
fn bits_on_the_line_do_as_well() {
    for divisor in ["217", "4"] {
        let board = Board::start(&["--tcp", "0", "--uart-divisor", divisor]);
        let mut host = over_tcp(&board, 1);
        says_who_it_is(&mut host);
        counts_as_the_model(&mut host, SETTINGS, 1, 100);
    }
}
