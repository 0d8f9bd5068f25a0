//! A board in a thread of the test, that is good or fails in one of many manners.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use strata_core::digest::Digest;
use strata_core::prototype::command::Command;
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::sequencer::Prototype;
use strata_link::message::{
    BATCH, Column, Counters, Difference, Diverged, FIRMWARE, Implementation, Info, Parameters,
    PrototypeLink, Refusal, Reply, Request,
};
use strata_link::{Settings, Version};

/// What the board does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Takes the connection and says nothing.
    Silent,
    /// Sends bytes that mean nothing.
    Garbage,
    /// Is built for another version.
    OtherVersion,
    /// Is gone after some batches, with its port.
    Ends { feeds: u32 },
    /// Says nothing more after some batches.
    Stops { feeds: u32 },
    /// Keeps the link, but answers nothing more after some batches.
    Hangs { feeds: u32 },
    /// Closes the first connection after some batches, and is good at the second.
    Cut { feeds: u32 },
    /// Has a fault, and says so with an escape sequence.
    Faults,
    /// Has an escape sequence in its name.
    OddName,
    /// Has a launch whose name is none.
    OddWorkload,
    /// Has more designs than there are.
    Designs,
    /// Has fewer entries than designs need.
    Small,
    /// Counts one thing otherwise.
    Lies,
    /// Finds its prototype to differ from its model.
    Diverges { feeds: u32 },
}

/// The board.
pub(crate) struct FakeBoard {
    port: u16,
}

impl FakeBoard {
    /// Starts it, for as long as a peer is connected.
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            if matches!(manner, Manner::Cut { .. }) {
                serve(stream, manner);
                let (stream, _) = listener.accept().unwrap();
                serve(stream, Manner::Diverges { feeds: u32::MAX });
            } else {
                // A second connection finds no peer.
                drop(listener);
                serve(stream, manner);
            }
        });
        Self { port }
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

/// What the model of a fake board has done.
struct Model {
    twin: Prototype<8, 13, 60>,
    digest: Digest,
    next: u64,
    feeds: u32,
    diverged: bool,
}

fn serve(mut stream: TcpStream, manner: Manner) {
    stream.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
    stream.set_nodelay(true).unwrap();
    if matches!(manner, Manner::Silent | Manner::Garbage) {
        return babble(stream, manner);
    }
    let version = match manner {
        Manner::OtherVersion => Version { major: FIRMWARE.major + 1, ..FIRMWARE },
        _ => FIRMWARE,
    };
    let start = Instant::now();
    let mut link = PrototypeLink::new(Settings::new(version, 1), 0);
    let mut model = None;
    let mut bytes = [0; 4096];
    loop {
        let ended = link.poll(start.elapsed().as_millis() as u64).is_err();
        while !link.to_send().is_empty() {
            let Ok(sent) = stream.write(link.to_send()) else { return };
            link.sent(sent);
        }
        if ended {
            return;
        }
        match stream.read(&mut bytes) {
            Ok(0) => return,
            Ok(came) => link.received(&bytes[..came], |_| {}),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
        while link.unacknowledged() < 4 {
            let Some(message) = link.take() else { break };
            let fed = model.as_ref().map_or(0, |model: &Model| model.feeds);
            match manner {
                Manner::Ends { feeds } | Manner::Cut { feeds } if fed == feeds => return,
                Manner::Stops { feeds } if fed == feeds => return babble(stream, Manner::Silent),
                Manner::Hangs { feeds } if fed == feeds => continue,
                _ => {}
            }
            let reply = answer(&message.decode().unwrap(), manner, &mut model);
            link.send(&reply).unwrap();
        }
    }
}

/// Says nothing, or nothing that means anything, until the other end goes away.
fn babble(mut stream: TcpStream, manner: Manner) {
    let mut bytes = [0; 64];
    let mut number = 1_u32;
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return;
            }
            _ => {}
        }
        if manner == Manner::Garbage {
            for byte in &mut bytes {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (number >> 24) as u8;
            }
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    }
}

fn answer(request: &Request<'_>, manner: Manner, model: &mut Option<Model>) -> Reply {
    match request {
        Request::Info if manner == Manner::Faults => {
            Reply::Fault("panicked at main.rs:7 \u{1b}[2J".try_into().unwrap())
        }
        Request::Info => Reply::Info(info(manner)),
        Request::Configure { settings, .. } => {
            let settings = strata_core::prototype::settings::Settings::unpack(*settings);
            let twin = Prototype::new(settings).unwrap();
            *model =
                Some(Model { twin, digest: Digest::EMPTY, next: 0, feeds: 0, diverged: false });
            Reply::Configured
        }
        Request::Feed(feed) => {
            let model = model.as_mut().unwrap();
            if model.diverged {
                return Reply::Refused(Refusal::HasDiverged);
            }
            assert_eq!(feed.first, model.next);
            let commands: Vec<_> = feed.words().map(Command::unpack).collect();
            if manner == (Manner::Diverges { feeds: model.feeds }) {
                let command = commands[0].pack().unwrap();
                model.diverged = true;
                let what = Difference::Outcome { model: 3, prototype: 1 };
                return Reply::Diverged(Diverged { index: feed.first, command, what });
            }
            let mut outcomes = [Outcome::default(); BATCH];
            let clocks = model.twin.run(&commands, &mut outcomes) as u32;
            for outcome in &outcomes[..commands.len()] {
                model.digest = model.digest.with_word(outcome.pack());
            }
            model.next += commands.len() as u64;
            model.feeds += 1;
            Reply::Fed { next: model.next, clocks }
        }
        Request::Counters(column) => {
            let model = model.as_ref().unwrap();
            let mut values: Vec<u64> = model.twin.counters().0.to_vec();
            if manner == Manner::Lies && *column == Column::Prototype {
                values[2] += 1;
            }
            Reply::Counters(Counters {
                column: *column,
                values: values.iter().copied().collect(),
                digest: model.digest.value(),
            })
        }
        other => panic!("not asked in these tests: {other:?}"),
    }
}

fn info(manner: Manner) -> Info {
    Info {
        board: if manner == Manner::OddName { "fa\u{1b}[2Jke" } else { "fake" }.try_into().unwrap(),
        ticks_hz: 1_000,
        prototype: Parameters {
            implementation: Implementation::Hardware,
            version: 1,
            warps: 8,
            cache_entries: if manner == Manner::Small { 4 } else { 13 },
            pool_entries: 60,
            lanes: 4,
            batch: 64,
            banks: 16,
            rows: 64,
        },
        workload: (manner == Manner::OddWorkload).then(|| "a\nb".try_into().unwrap()),
        designs: if manner == Manner::Designs { 200 } else { 0 },
    }
}
