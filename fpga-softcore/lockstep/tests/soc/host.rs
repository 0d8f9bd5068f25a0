//! The host's end of the line.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use strata_link::message::{FIRMWARE, PrototypeLink, Reply, Request};
use strata_link::{Message, Settings};

use crate::simulator::LIMIT;

/// A session with a board, over anything whose reads give up after a short time.
pub(crate) struct Host<L> {
    link: PrototypeLink,
    line: L,
    session: u32,
    start: Instant,
}

impl<L: Read + Write> Host<L> {
    /// The host's end, with its own session number.
    pub(crate) fn new(line: L, session: u32) -> Self {
        let mut settings = Settings::new(FIRMWARE, session);
        // The board's time is slower than ours, and the line may be as well.
        settings.answer_ms = 2_000;
        Self { link: PrototypeLink::new(settings, 0), line, session, start: Instant::now() }
    }

    /// Repeats frames as soon as a command of `strata` does, but does not give up: the board is
    /// simulated, and may be slow.
    pub(crate) fn as_patient_as_a_command(mut self) -> Self {
        let usual = Settings::new(FIRMWARE, self.session);
        self.link = PrototypeLink::new(Settings { attempts: u32::MAX, ..usual }, 0);
        self
    }

    /// The line of a session that is given up.
    pub(crate) fn into_line(self) -> L {
        self.line
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, request: &Request<'_>) -> Reply {
        let end = Instant::now() + LIMIT;
        let mut is_sent = false;
        while Instant::now() < end {
            is_sent = is_sent || self.link.send(request).is_ok();
            self.turn();
            if let Some(message) = self.link.take() {
                return reply(&message);
            }
        }
        panic!("no answer to {request:?}; {:?}", self.link.counts());
    }

    /// Asks without waiting, if the link takes it now. Returns whether it did.
    pub(crate) fn start(&mut self, request: &Request<'_>) -> bool {
        self.link.send(request).is_ok()
    }

    /// Asks without waiting, as soon as the link takes it.
    pub(crate) fn start_for_sure(&mut self, request: &Request<'_>) {
        let end = Instant::now() + LIMIT;
        while !self.start(request) {
            assert!(Instant::now() < end, "{request:?} is not taken; {:?}", self.link.counts());
            self.turn();
        }
    }

    /// Takes the answer that has arrived.
    pub(crate) fn forget_answers(&mut self) {
        while self.link.take().is_some() {}
    }

    /// Disconnects after sending the first bytes of a frame.
    pub(crate) fn die(mut self, cut: usize) {
        let begun = [7; 12];
        // The board may have no room for them.
        let _ = self.line.write(&begun[..cut.min(begun.len())]);
    }

    /// Moves bytes once, and waits a short time for some.
    pub(crate) fn turn(&mut self) {
        let now_ms = self.start.elapsed().as_millis() as u64;
        self.link.poll(now_ms).expect("the board answers");
        while !self.link.to_send().is_empty() {
            let count = self.line.write(self.link.to_send()).expect("the board is there");
            self.link.sent(count);
        }
        let mut bytes = [0; 4096];
        match self.line.read(&mut bytes) {
            Ok(0) => std::thread::sleep(Duration::from_millis(1)),
            Ok(count) => self.link.received(&bytes[..count], |_| {}),
            Err(error) if is_silence(error.kind()) => {}
            Err(error) => panic!("the board is gone: {error}"),
        }
    }
}

fn is_silence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn reply<const FRAME: usize>(message: &Message<FRAME>) -> Reply {
    message.decode().expect("the board speaks our protocol")
}
