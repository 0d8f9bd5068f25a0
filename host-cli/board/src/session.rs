//! Session: requests to a board and its answers, over a link over a line.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use strata_firmware::DESIGNS;
use strata_link::message::{Counters, FIRMWARE, Feed, Info, PrototypeLink, Reply, Request};
use strata_link::{Counts, LinkError, SendError, Settings};

use super::board::Board;
use super::error::FpgaError;
use super::interrupt;
use super::port::Line;
use super::watch::Watch;
use strata_config::name::{shown, word};

/// How long a usual answer may take, and a board answer without taking a message.
const ANSWER: Duration = Duration::from_secs(4);
/// How long a usual answer of a board that was started here may take, and such a board answer
/// without taking a message: its end is seen as such, and on a busy machine a simulation may be
/// slow.
const OWN_ANSWER: Duration = Duration::from_mins(1);
/// How long a board may measure or test itself.
pub const LONG: Duration = Duration::from_mins(5);

/// One conversation with a board.
pub struct Session {
    board: Board,
    line: Box<dyn Line>,
    link: PrototypeLink,
    watch: Watch,
    patience: Duration,
    logs: VecDeque<Vec<u8>>,
}

impl Session {
    /// Connects to a board.
    ///
    /// # Errors
    ///
    /// Nothing answers, or something else than our firmware of this version.
    pub fn new(mut board: Board) -> Result<Self, FpgaError> {
        let line = board.connect()?;
        let patience = if board.is_ours() { OWN_ANSWER } else { ANSWER };
        let link = new_link(0, patience, board.line_baud());
        let (watch, logs) = (Watch::new(), VecDeque::new());
        let mut session = Self { board, line, link, watch, patience, logs };
        session.shake_hands()?;
        Ok(session)
    }

    /// Connects to the same board again, which is as after its start.
    ///
    /// # Errors
    ///
    /// Nothing answers, or something else than our firmware of this version.
    pub fn reconnect(&mut self) -> Result<(), FpgaError> {
        self.line = self.board.connect()?;
        let now_ms = self.now_ms();
        self.link = new_link(now_ms, self.patience, self.board.line_baud());
        self.logs.clear();
        self.shake_hands()
    }

    /// The board at the other end.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// What happened on the link.
    pub fn counts(&self) -> Counts {
        self.link.counts()
    }

    /// The logs that came since this was asked, each as the device encoded it.
    pub fn take_logs(&mut self) -> impl Iterator<Item = Vec<u8>> {
        std::mem::take(&mut self.logs).into_iter()
    }

    /// What the device is.
    ///
    /// # Errors
    ///
    /// The board is gone, is late, has a fault, refuses, or answers something else; or a signal
    /// came.
    pub fn info(&mut self) -> Result<Info, FpgaError> {
        match self.ask(&Request::Info)? {
            Reply::Info(info) if is_proper(&info) => Ok(info),
            _ => Err(self.strange()),
        }
    }

    /// A column of counters.
    ///
    /// # Errors
    ///
    /// The board is gone, is late, has a fault, refuses, or answers something else; or a signal
    /// came.
    pub fn counters(
        &mut self,
        column: strata_link::message::Column,
    ) -> Result<Counters, FpgaError> {
        match self.ask(&Request::Counters(column))? {
            Reply::Counters(counters) if counters.column == column => Ok(counters),
            _ => Err(self.strange()),
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// The board is gone, is late, has a fault, refuses, or answers what is no reply; or a signal
    /// came.
    pub fn ask(&mut self, request: &Request<'_>) -> Result<Reply, FpgaError> {
        self.ask_within(request, self.patience)
    }

    /// Sends a request and waits for its answer with this patience.
    ///
    /// # Errors
    ///
    /// The board is gone, is late, has a fault, refuses, or answers what is no reply; or a signal
    /// came.
    pub fn ask_within(
        &mut self,
        request: &Request<'_>,
        patience: Duration,
    ) -> Result<Reply, FpgaError> {
        let deadline = self.watch.passed() + patience;
        while !self.send(request)? {
            self.turn_until(deadline, patience)?;
        }
        self.receive_within(patience)
    }

    /// Sends a batch if there is room; whether there was. The answer is [`Self::receive`]'s.
    ///
    /// # Errors
    ///
    /// The board is gone, or the batch cannot be sent.
    pub fn feed(&mut self, feed: Feed<'_>) -> Result<bool, FpgaError> {
        let sent = self.send(&Request::Feed(feed))?;
        self.push()?;
        Ok(sent)
    }

    /// Waits for the next answer.
    ///
    /// # Errors
    ///
    /// The board is gone, is late, has a fault, refuses, or answers what is no reply; or a signal
    /// came.
    pub fn receive(&mut self) -> Result<Reply, FpgaError> {
        self.receive_within(self.patience)
    }

    /// Looks at the line for some milliseconds, for logs to come.
    ///
    /// # Errors
    ///
    /// The board is gone, or a signal came.
    pub fn listen(&mut self) -> Result<(), FpgaError> {
        self.turn()
    }

    /// An answer that makes no sense here.
    pub fn strange(&self) -> FpgaError {
        FpgaError::Answer { board: self.board.name().to_owned() }
    }

    fn shake_hands(&mut self) -> Result<(), FpgaError> {
        let deadline = self.watch.passed() + self.patience;
        while self.link.peer().is_none() {
            self.turn_until(deadline, self.patience)?;
        }
        Ok(())
    }

    fn send(&mut self, request: &Request<'_>) -> Result<bool, FpgaError> {
        match self.link.send(request) {
            Ok(()) => Ok(true),
            Err(SendError::Full) => Ok(false),
            Err(SendError::Ended(error)) => Err(self.ended(error)),
            Err(SendError::NotConnected | SendError::TooLong { .. } | SendError::Encoding) => {
                Err(self.strange())
            }
        }
    }

    fn receive_within(&mut self, patience: Duration) -> Result<Reply, FpgaError> {
        let deadline = self.watch.passed() + patience;
        let message = loop {
            if let Some(message) = self.link.take() {
                break message;
            }
            self.turn_until(deadline, patience)?;
        };
        let board = || self.board.name().to_owned();
        match message.decode::<Reply>() {
            Ok(Reply::Fault(report)) => {
                Err(FpgaError::Fault { board: board(), report: shown(&report).into_owned() })
            }
            Ok(Reply::Refused(refusal)) => {
                Err(FpgaError::Refused { board: board(), refusal: Box::new(refusal) })
            }
            Ok(reply) => Ok(reply),
            Err(_) => Err(self.strange()),
        }
    }

    fn turn_until(&mut self, deadline: Duration, patience: Duration) -> Result<(), FpgaError> {
        if self.watch.passed() > deadline {
            let (board, seconds) = (self.board.name().to_owned(), patience.as_secs());
            return Err(FpgaError::Late { board, seconds });
        }
        self.turn()
    }

    /// Moves bytes in both directions, and waits a few milliseconds if there are none.
    fn turn(&mut self) -> Result<(), FpgaError> {
        interrupt::check()?;
        let now = self.now_ms();
        let polled = self.link.poll(now);
        self.push()?;
        if let Err(error) = polled {
            return Err(self.ended(error));
        }
        let mut bytes = [0; 4096];
        let came = match self.line.read(&mut bytes) {
            Ok(came) => came,
            Err(error) => return Err(self.lost(&error)),
        };
        let logs = &mut self.logs;
        self.link.received(&bytes[..came], |log| logs.push_back(log.to_vec()));
        Ok(())
    }

    /// Sends as many bytes as there is room for.
    fn push(&mut self) -> Result<(), FpgaError> {
        loop {
            let bytes = self.link.to_send();
            if bytes.is_empty() {
                return Ok(());
            }
            match self.line.write(bytes) {
                Ok(0) => return Ok(()),
                Ok(gone) => self.link.sent(gone),
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    fn now_ms(&mut self) -> u64 {
        self.watch.passed().as_millis() as u64
    }

    fn ended(&mut self, error: LinkError) -> FpgaError {
        let board = self.board.name().to_owned();
        self.why(FpgaError::Link { board, error })
    }

    fn lost(&mut self, error: &io::Error) -> FpgaError {
        let reason = match error.kind() {
            // What a line that was closed looks like depends on what it was asked last.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => "it closed the line".to_owned(),
            _ => error.to_string(),
        };
        let board = self.board.name().to_owned();
        self.why(FpgaError::Lost { board, reason })
    }

    /// Why the line is gone: the board's program has ended, or what is `seen` of the line. Ctrl-C
    /// in a terminal ends that program too.
    fn why(&mut self, seen: FpgaError) -> FpgaError {
        let ended = self.board.ended();
        interrupt::check().err().or(ended).unwrap_or(seen)
    }
}

/// Whether the names that a device gives can be printed, and its designs are known here.
fn is_proper(info: &Info) -> bool {
    let workload = info.workload.as_deref().is_none_or(|name| word(name).is_ok());
    word(&info.board).is_ok() && workload && usize::from(info.designs) <= DESIGNS.len()
}

/// This end of a new link over a line of some speed, 0 if it has none.
fn new_link(now_ms: u64, patience: Duration, line_baud: u32) -> PrototypeLink {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Another number each time: nothing depends on it but that restarts are seen.
    let session = clock.as_nanos() as u32 ^ std::process::id().rotate_left(16);
    let usual = Settings { line_baud, ..Settings::new(FIRMWARE, session) };
    let stall_ms = patience.as_millis() as u32;
    // Silence is noticed sooner than a stall.
    let attempts = stall_ms / PrototypeLink::timeout_ms(usual) / 2;
    let attempts = if line_baud == 0 { usual.attempts.max(attempts) } else { attempts.max(3) };
    let settings = Settings { stall_ms, attempts, ..usual };
    PrototypeLink::new(settings, now_ms)
}
