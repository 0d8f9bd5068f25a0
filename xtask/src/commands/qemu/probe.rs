//! Probe: a host for one emulated board that answers over its UART. It feeds a short stream and
//! holds clocks, counters and digest to those of the model that it runs itself.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use strata_core::digest::Digest;
use strata_core::prototype::command::{Command as Access, Operation};
use strata_core::prototype::counters::COUNTER_NAMES;
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::sequencer::Prototype;
use strata_core::prototype::settings::Settings;
use strata_core::units::{LaneMask, RegisterId};
use strata_link::message::{BATCH, Bench, Column, FIRMWARE, Feed, PrototypeLink, Reply, Request};
use strata_link::{Link, Settings as LinkSettings};

use crate::process::{self, Failure};

/// Accesses of each stream: some batches.
const ACCESSES: usize = 2_000;

/// Accesses that a bench runs.
const BENCHED: u32 = 2_000;

/// Packed settings: 6 entries, first in, first out, with liveness; a pool of 60 entries with split
/// bank write and writes of 4 cycles; both. Each with 24 registers of a warp.
const SETTINGS: [u32; 3] = [
    24 << 17 | 1 << 7 | 1 << 5 | 6,
    24 << 17 | 60 << 11 | 4 << 7 | 1 << 6,
    24 << 17 | 60 << 11 | 4 << 7 | 1 << 6 | 1 << 5 | 6,
];

/// Time in which the board has to answer anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// An emulator that ends with this.
struct Emulator(Child);

impl Drop for Emulator {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts an emulator whose UART is a server, and asks the board everything.
pub(super) fn probe(board: &str, emulator: &mut Command) -> Result<(), Failure> {
    let address = free_address()?;
    emulator.args(["-chardev", &server(address), "-serial", "chardev:line"]);
    process::announce(emulator);
    let child = emulator.stdin(Stdio::null()).spawn();
    let _emulator = Emulator(child.map_err(|error| process::cannot_start(emulator, &error))?);
    let mut host = Host::connect(address)?;
    let Reply::Info(info) = host.ask(&Request::Info)? else {
        return Err(Failure(format!("{board} does not say what it is")));
    };
    if info.board != board {
        return Err(Failure(format!("{board} says that it is `{}`", info.board)));
    }
    for settings in SETTINGS {
        host.compare(settings)?;
    }
    match host.ask(&Request::SelfTest)? {
        Reply::SelfTest { commands, failed: None, .. } if commands > 0 => {}
        other => return Err(Failure(format!("{board}'s self-test: {other:?}"))),
    }
    for (what, unit) in benches() {
        let Reply::Bench { units, ticks } = host.ask(&Request::Bench(what))? else {
            return Err(Failure(format!("{board} did not run {what:?}")));
        };
        let hundredths = u128::from(ticks) * 100 / u128::from(units.max(1));
        let (whole, part) = (hundredths / 100, hundredths % 100);
        println!("{board}: {whole}.{part:02} ticks of {} Hz per {unit}", info.ticks_hz);
    }
    // A host that starts again, in the middle of a feed.
    host.configure(SETTINGS[0])?;
    host.feed(0, &stream(1)[..BATCH])?;
    drop(host);
    Host::connect(address)?.compare(SETTINGS[0])
}

fn server(address: SocketAddr) -> String {
    let (host, port) = (address.ip(), address.port());
    format!("socket,id=line,host={host},port={port},server=on,wait=off,nodelay=on")
}

/// A port that is free just now.
fn free_address() -> Result<SocketAddr, Failure> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.map_err(|error| Failure(format!("no port of this machine is free: {error}")))
}

fn benches() -> [(Bench, &'static str); 6] {
    let [settings, pooled, _] = SETTINGS;
    let accesses = BENCHED;
    [
        (Bench::Model { settings, accesses }, "access of the model"),
        (Bench::Compared { settings, accesses }, "access of a feed"),
        (Bench::Model { settings: pooled, accesses }, "access of the model with a pool"),
        (Bench::Compared { settings: pooled, accesses }, "access of a feed with a pool"),
        (Bench::Count { design: 1 }, "warp instruction in count mode"),
        (Bench::Cycle { design: 1, ctas: 1 }, "warp instruction in cycle mode"),
    ]
}

/// A host at a socket.
struct Host {
    link: PrototypeLink,
    socket: TcpStream,
    start: Instant,
}

impl Host {
    fn connect(address: SocketAddr) -> Result<Self, Failure> {
        let start = Instant::now();
        let socket = loop {
            match TcpStream::connect(address) {
                Ok(socket) => break socket,
                Err(error) if start.elapsed() > PATIENCE => {
                    return Err(Failure(format!("the emulator does not listen: {error}")));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let set = socket.set_nodelay(true);
        let set = set.and_then(|()| socket.set_read_timeout(Some(Duration::from_millis(1))));
        set.map_err(|error| Failure(format!("a socket cannot be set: {error}")))?;
        // Each host has another number than the one before it.
        let settings = LinkSettings::new(FIRMWARE, std::process::id() ^ session());
        // The emulator shares the machine with whatever else is being tested.
        let settings = LinkSettings { attempts: 200, stall_ms: 30_000, ..settings };
        let link = Link::new(settings, 0);
        Ok(Self { link, socket, start })
    }

    /// Moves bytes for a millisecond.
    fn step(&mut self) -> Result<(), Failure> {
        let lost = |error| Failure(format!("the line to the emulator broke: {error}"));
        loop {
            let bytes = self.link.to_send();
            if bytes.is_empty() {
                break;
            }
            let length = bytes.len();
            self.socket.write_all(bytes).map_err(lost)?;
            self.link.sent(length);
        }
        let mut bytes = [0; 4_096];
        match self.socket.read(&mut bytes) {
            Ok(0) => return Err(Failure("the emulator closed the line".to_owned())),
            Ok(came) => self.link.received(&bytes[..came], |_| {}),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(lost(error)),
        }
        let now_ms = self.start.elapsed().as_millis() as u64;
        self.link.poll(now_ms).map_err(|error| Failure(format!("the link: {error}")))
    }

    fn ask(&mut self, request: &Request<'_>) -> Result<Reply, Failure> {
        let end = Instant::now() + PATIENCE;
        let late = || Failure(format!("the board did not answer {request:?}"));
        while self.link.send(request).is_err() {
            if Instant::now() > end {
                return Err(late());
            }
            self.step()?;
        }
        loop {
            if let Some(message) = self.link.take() {
                let reply = message.decode();
                return reply.map_err(|error| Failure(format!("the board's answer: {error}")));
            }
            if Instant::now() > end {
                return Err(late());
            }
            self.step()?;
        }
    }

    fn configure(&mut self, settings: u32) -> Result<(), Failure> {
        match self.ask(&Request::Configure { settings, batch: BATCH as u16 })? {
            Reply::Configured => Ok(()),
            other => Err(Failure(format!("settings {settings:#x}: {other:?}"))),
        }
    }

    /// Feeds a batch. Returns its clocks.
    fn feed(&mut self, first: u64, words: &[u32]) -> Result<u32, Failure> {
        let mut room = [0; 4 * BATCH];
        let feed = Feed::new(first, words, &mut room)
            .map_err(|_| Failure("a batch is too long".to_owned()))?;
        match self.ask(&Request::Feed(feed))? {
            Reply::Fed { next, clocks } if next == first + words.len() as u64 => Ok(clocks),
            other => Err(Failure(format!("the batch from {first} on: {other:?}"))),
        }
    }

    /// A stream on the board and on the model here.
    fn compare(&mut self, settings: u32) -> Result<(), Failure> {
        self.configure(settings)?;
        let mut model = Prototype::<8, 13, 60>::new(Settings::unpack(settings))
            .map_err(|error| Failure(error.to_string()))?;
        let mut digest = Digest::EMPTY;
        let words = stream(u64::from(settings));
        for (number, words) in words.chunks(BATCH).enumerate() {
            let commands: Vec<Access> = words.iter().map(|&word| Access::unpack(word)).collect();
            let mut outcomes = vec![Outcome::default(); commands.len()];
            let clocks = model.run(&commands, &mut outcomes);
            digest = outcomes.iter().fold(digest, |digest, one| digest.with_word(one.pack()));
            let found = u64::from(self.feed((number * BATCH) as u64, words)?);
            if found != clocks {
                return Err(Failure(format!("batch {number}: {found} clocks, here {clocks}")));
            }
        }
        for column in [Column::Model, Column::Prototype] {
            let Reply::Counters(counters) = self.ask(&Request::Counters(column))? else {
                return Err(Failure(format!("no counters of {column:?}")));
            };
            let all = COUNTER_NAMES.iter().zip(&counters.values).zip(model.counters().0);
            for ((name, &found), expected) in all {
                if found != expected {
                    return Err(Failure(format!("{column:?}: {name} is {found}, here {expected}")));
                }
            }
            if (counters.values.len(), counters.digest) != (COUNTER_NAMES.len(), digest.value()) {
                let found = counters.digest;
                return Err(Failure(format!("{column:?}: digest {found:016x}, here {digest}")));
            }
        }
        Ok(())
    }
}

/// Another number at each call.
fn session() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed) << 24
}

/// Accesses of all kinds, of 24 registers of each warp.
fn stream(seed: u64) -> Vec<u32> {
    let mut state = seed;
    // SplitMix64.
    let mut below = |limit: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    };
    let mut words = Vec::with_capacity(ACCESSES);
    while words.len() < ACCESSES {
        let operation = match below(32) {
            0..18 => Operation::Read { last_use: below(8) == 0, more: false },
            18..26 => Operation::Write,
            26 => Operation::Bypass,
            27..29 => Operation::Fill,
            29 => Operation::Flush,
            30 => Operation::Demote,
            _ if below(2) == 0 => Operation::Exit,
            _ => Operation::Drop,
        };
        let lanes = if below(4) == 0 { 1 + below(15) } else { 15 };
        let access = Access {
            warp: below(8) as u8,
            operation,
            register: RegisterId(below(24) as u16),
            lanes: LaneMask(lanes as u32),
        };
        words.extend(access.pack());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_settings_can_be_and_the_stream_uses_every_command() {
        for settings in SETTINGS {
            let settings = Settings::unpack(settings);
            assert!(Prototype::<8, 13, 60>::new(settings).is_ok(), "{settings:?}");
        }
        let words = stream(1);
        assert_eq!(words.len(), ACCESSES);
        for operation in 0..8 {
            assert!(words.iter().any(|word| word & 7 == operation), "{operation}");
        }
        assert_ne!(words, stream(2));
    }
}
