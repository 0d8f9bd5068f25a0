//! Link: one end of a line. It loses no message and keeps their order.
//!
//! Both ends say hello until they are welcomed. Each message then has a number and is sent again
//! until it is acknowledged; the acknowledgement says how many more the other end has room for.
//! Every wait is bounded by the caller's clock; a wait that is too long ends the link with an
//! error.
//!
//! Assumes: what a line delivers whole, it delivers in the order in which it was sent.

use heapless::{Deque, Vec};
use serde::{Deserialize, Serialize};

use crate::encoding::{Limited, put};
use crate::error::{LinkError, Malformed, SendError};
use crate::frame::{self, Channel, Decoder, Frame, Sessions, count, longest_payload};
use crate::packet::{self, Hello, LONGEST_CONTROL_BYTES, PROTOCOL, Packet};
use crate::settings::{Counts, Settings};
use crate::window::{Arrival, Incoming, Outgoing};

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<const FRAME: usize>(Vec<u8, FRAME>);

impl<const FRAME: usize> Message<FRAME> {
    /// Its value, which may borrow from the message.
    ///
    /// # Errors
    ///
    /// The bytes are not one such value.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Malformed> {
        decode(&self.0)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(Malformed),
    }
}

/// One end of a line. `FRAME`: the longest frame on the line, its zeros included; unit: bytes;
/// range: `29..=65535`. `WINDOW`: messages, and logs, that wait in each direction; a power of two
/// up to 64. It takes about `(3 * WINDOW + 2) * FRAME` bytes.
#[derive(Clone, Debug)]
pub struct Link<const FRAME: usize, const WINDOW: usize> {
    decoder: Decoder<FRAME>,
    state: State<FRAME, WINDOW>,
}

impl<const FRAME: usize, const WINDOW: usize> Link<FRAME, WINDOW> {
    /// The longest message. Unit: bytes in postcard.
    pub const LONGEST_MESSAGE: usize = {
        assert!(WINDOW.is_power_of_two() && WINDOW <= 64, "WINDOW: a power of two up to 64");
        assert!(FRAME <= u16::MAX as usize, "FRAME: at most 65535");
        match longest_payload(FRAME) {
            Some(most) if most >= LONGEST_CONTROL_BYTES => most - packet::OVERHEAD_BYTES,
            _ => panic!("FRAME: at least 29"),
        }
    };

    /// Time after which a frame without an answer is sent again: the line's time for a window of
    /// the longest frames in each direction, since the answer may be the last of them, and the
    /// other end's time for the answer. Unit: ms.
    pub const fn timeout_ms(settings: Settings) -> u32 {
        let Settings { line_baud, answer_ms, .. } = settings;
        let bits = 2 * 10 * FRAME as u64 * WINDOW as u64;
        if line_baud == 0 {
            return answer_ms;
        }
        let line_ms = (bits * 1_000).div_ceil(line_baud as u64);
        let all = line_ms + answer_ms as u64;
        if all > u32::MAX as u64 { u32::MAX } else { all as u32 }
    }

    /// An end that starts now, with a hello.
    pub const fn new(settings: Settings, now_ms: u64) -> Self {
        let hello = Self::hello(settings);
        let timeout_ms = Self::timeout_ms(settings);
        Self { decoder: Decoder::new(), state: State::new(settings, timeout_ms, hello, now_ms) }
    }

    /// Resets to the state after [`new`](Self::new), in the same memory.
    pub fn restart(&mut self, settings: Settings, now_ms: u64) {
        self.decoder.restart();
        self.state.restart(settings, Self::timeout_ms(settings), Self::hello(settings), now_ms);
    }

    const fn hello(settings: Settings) -> Hello {
        Hello {
            protocol: PROTOCOL,
            session: settings.session,
            firmware: settings.firmware,
            max_payload: Self::LONGEST_MESSAGE as u16,
        }
    }

    /// Takes received bytes of the line. `log` gets the logs of the other end.
    pub fn received(&mut self, bytes: &[u8], mut log: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let is_end;
            (rest, is_end) = self.decoder.take(rest);
            if !is_end {
                break;
            }
            match self.decoder.end() {
                Some(Frame { channel: Channel::Log, sequence, payload }) => {
                    self.state.log_came(sequence);
                    log(payload);
                }
                Some(Frame { channel, sequence, payload }) => {
                    let is_meeting = channel == Channel::Meeting;
                    self.state.packet_came(is_meeting, sequence, payload);
                    self.decoder.expect(self.state.incoming_sessions());
                }
                None => {}
            }
        }
    }

    /// Sets the time of a monotonic clock, after which this end may send something again. Call it
    /// at least once per [timeout](Self::timeout_ms), and before [`received`](Self::received),
    /// whose bytes count as received at that time.
    ///
    /// More than a timeout since the last call counts as one timeout: an end that stood still, as a
    /// stopped process does, could not hear the other end either. A clock that goes back counts as
    /// no time, and time goes on from there.
    ///
    /// # Errors
    ///
    /// The link has ended, by a received packet or by time.
    pub fn poll(&mut self, now_ms: u64) -> Result<(), LinkError> {
        self.state.poll(now_ms)
    }

    /// The bytes to send next: none, or the rest of a frame. Report the bytes that were sent to
    /// [`sent`](Self::sent). The link's last packets are available after its end.
    pub fn to_send(&mut self) -> &[u8] {
        self.state.rest_of_line()
    }

    /// Reports that the first `bytes` of [`to_send`](Self::to_send) were sent. A greater number
    /// counts as all of them.
    pub fn sent(&mut self, bytes: usize) {
        self.state.gone = self.state.gone.saturating_add(bytes).min(self.state.line.len());
    }

    /// Sends a message, in postcard.
    ///
    /// # Errors
    ///
    /// It was not taken, and why; nothing has changed.
    pub fn send<T: Serialize + ?Sized>(&mut self, message: &T) -> Result<(), SendError> {
        if let Some(error) = self.state.ended {
            return Err(SendError::Ended(error));
        }
        let peer = self.peer().ok_or(SendError::NotConnected)?;
        if self.state.outgoing.is_full() {
            return Err(SendError::Full);
        }
        let most = usize::from(peer.max_payload).min(Self::LONGEST_MESSAGE);
        let Some(to) = self.state.add_message() else { return Err(SendError::Full) };
        match postcard::serialize_with_flavor(message, Limited::new(to, most)) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.state.outgoing.take_back();
                Err(match error {
                    postcard::Error::SerializeBufferFull => SendError::TooLong { most },
                    _ => SendError::Encoding,
                })
            }
        }
    }

    /// The next message of the other end.
    pub fn take(&mut self) -> Option<Message<FRAME>> {
        let message = self.state.incoming.take()?;
        self.state.acknowledge_due |= self.state.incoming.has_news();
        Some(Message(message))
    }

    /// The next message of the other end, which stays until [`skip`](Self::skip). It may borrow
    /// from the link. `Err`: the bytes are not one such value.
    pub fn first<'a, T: Deserialize<'a>>(&'a self) -> Option<Result<T, Malformed>> {
        self.state.incoming.first().map(decode)
    }

    /// Drops the next message, if there is one, as [`take`](Self::take) does.
    pub fn skip(&mut self) {
        if self.state.incoming.skip() {
            self.state.acknowledge_due |= self.state.incoming.has_news();
        }
    }

    /// Sends a log frame when nothing else waits. A lost log is not repeated; the other end sees
    /// the gap, also if the log was refused here.
    ///
    /// # Errors
    ///
    /// It was not taken, and why.
    pub fn log(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        let most = longest_payload(FRAME).unwrap_or(0);
        let sequence = self.state.log_sequence;
        self.state.log_sequence = sequence.wrapping_add(1);
        let too_long = SendError::TooLong { most };
        let payload = Vec::from_slice(bytes).map_err(|_| too_long)?;
        if payload.len() > most {
            return Err(too_long);
        }
        self.state.logs.push_back((sequence, payload)).map_err(|_| SendError::Full)
    }

    /// The other end, once it has welcomed this one.
    pub fn peer(&self) -> Option<Hello> {
        self.state.peer.filter(|_| self.state.welcomed)
    }

    /// Messages that were not acknowledged yet.
    pub fn unacknowledged(&self) -> usize {
        self.state.outgoing.len()
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        Counts { dropped: self.decoder.dropped(), ..self.state.counts }
    }
}

/// All but the decoder, whose frames borrow from it.
#[expect(clippy::struct_excessive_bools, reason = "what is due is due in any combination")]
#[derive(Clone, Debug)]
struct State<const FRAME: usize, const WINDOW: usize> {
    settings: Settings,
    timeout_ms: u32,
    ours: Hello,
    /// The other end, once its hello or welcome has arrived.
    peer: Option<Hello>,
    /// The other end has welcomed this one.
    welcomed: bool,
    /// The other end has sent a message, so that this one had welcomed it.
    data_came: bool,
    ended: Option<LinkError>,

    hello_due: bool,
    welcome_due: bool,
    acknowledge_due: bool,
    probe_due: bool,

    outgoing: Outgoing<FRAME, WINDOW>,
    incoming: Incoming<FRAME, WINDOW>,
    logs: Deque<(u8, Vec<u8, FRAME>), WINDOW>,
    log_sequence: u8,
    /// The number of the other end's next log frame.
    next_log: Option<u8>,

    /// The caller's clock at the last poll.
    clock_ms: u64,
    /// Time that this end could hear the other end, from the clock at its start on. The others here
    /// are of it.
    now_ms: u64,
    /// When a frame was last sent that needs an answer.
    asked_ms: u64,
    heard_ms: u64,
    /// When the other end last took a message, or when the first message was sent.
    progress_ms: u64,
    /// Repetitions since the last received frame.
    attempts: u32,

    /// The frame that is being sent, and its bytes sent so far.
    line: Vec<u8, FRAME>,
    gone: usize,
    counts: Counts,
}

impl<const FRAME: usize, const WINDOW: usize> State<FRAME, WINDOW> {
    const fn new(settings: Settings, timeout_ms: u32, ours: Hello, now_ms: u64) -> Self {
        Self {
            settings,
            timeout_ms,
            ours,
            peer: None,
            welcomed: false,
            data_came: false,
            ended: None,
            hello_due: true,
            welcome_due: false,
            acknowledge_due: false,
            probe_due: false,
            outgoing: Outgoing::new(),
            incoming: Incoming::new(),
            logs: Deque::new(),
            log_sequence: 0,
            next_log: None,
            clock_ms: now_ms,
            now_ms,
            asked_ms: now_ms,
            heard_ms: now_ms,
            progress_ms: now_ms,
            attempts: 0,
            line: Vec::new(),
            gone: 0,
            counts: Counts::NONE,
        }
    }

    fn restart(&mut self, settings: Settings, timeout: u32, ours: Hello, now_ms: u64) {
        // All fields are named, so that a new one is not forgotten.
        let Self {
            settings: of_settings,
            timeout_ms,
            ours: of_ours,
            peer,
            welcomed,
            data_came,
            ended,
            hello_due,
            welcome_due,
            acknowledge_due,
            probe_due,
            outgoing,
            incoming,
            logs,
            log_sequence,
            next_log,
            clock_ms,
            now_ms: of_now_ms,
            asked_ms,
            heard_ms,
            progress_ms,
            attempts,
            line,
            gone,
            counts,
        } = self;
        (*of_settings, *timeout_ms) = (settings, timeout);
        (*of_ours, *peer, *ended) = (ours, None, None);
        (*welcomed, *data_came, *hello_due) = (false, false, true);
        (*welcome_due, *acknowledge_due, *probe_due) = (false, false, false);
        outgoing.clear();
        incoming.clear();
        logs.clear();
        (*log_sequence, *next_log) = (0, None);
        (*clock_ms, *of_now_ms) = (now_ms, now_ms);
        (*asked_ms, *heard_ms, *progress_ms) = (now_ms, now_ms, now_ms);
        (*attempts, *gone) = (0, 0);
        line.clear();
        *counts = Counts::NONE;
    }

    fn poll(&mut self, now_ms: u64) -> Result<(), LinkError> {
        let passed = now_ms.saturating_sub(self.clock_ms).min(u64::from(self.timeout_ms.max(1)));
        self.clock_ms = now_ms;
        self.now_ms = self.now_ms.saturating_add(passed);
        let since = |then: u64| self.now_ms - then;
        let waits = !self.welcomed || self.outgoing.len() > 0;
        let is_quiet = since(self.heard_ms) >= u64::from(self.settings.idle_ms);
        if self.ended.is_some() {
            // It stays so.
        } else if waits
            && since(self.progress_ms) >= u64::from(self.settings.stall_ms)
            && let Some(error) = self.stall()
        {
            self.ended = Some(error);
        } else if (waits || is_quiet) && since(self.asked_ms) >= u64::from(self.timeout_ms) {
            self.ask_again();
        }
        self.ended.map_or(Ok(()), Err)
    }

    /// The error for an end that made no progress for too long; none for one that was not asked.
    fn stall(&self) -> Option<LinkError> {
        let is_silent = self.heard_ms <= self.progress_ms;
        match self.attempts {
            _ if !is_silent => {
                Some(LinkError::Stalled { after_ms: self.now_ms - self.progress_ms })
            }
            0 => None,
            attempts => Some(LinkError::Silent { attempts, after_ms: self.now_ms - self.heard_ms }),
        }
    }

    fn ask_again(&mut self) {
        // An end that was never asked is not silent.
        if self.attempts >= self.settings.attempts.max(1) {
            let after_ms = self.now_ms - self.heard_ms;
            self.ended = Some(LinkError::Silent { attempts: self.attempts, after_ms });
            return;
        }
        self.attempts += 1;
        self.asked_ms = self.now_ms;
        if self.welcomed {
            self.outgoing.rewind();
            self.probe_due = !self.outgoing.has_next();
        } else {
            self.hello_due = true;
        }
    }

    /// A new, empty message at the end of the window.
    fn add_message(&mut self) -> Option<&mut Vec<u8, FRAME>> {
        if self.outgoing.len() == 0 {
            self.progress_ms = self.now_ms;
            self.asked_ms = self.now_ms;
        }
        self.outgoing.add()
    }

    fn log_came(&mut self, sequence: u8) {
        let missed = sequence.wrapping_sub(self.next_log.unwrap_or(sequence));
        self.counts.logs_missed = self.counts.logs_missed.saturating_add(u32::from(missed));
        self.next_log = Some(sequence.wrapping_add(1));
    }

    fn packet_came(&mut self, is_meeting: bool, sequence: u8, payload: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        // The sessions of a message's frame were right, so the other end is known.
        let is_known = !is_meeting;
        match postcard::from_bytes(payload) {
            Ok(Packet::Hello(hello)) if is_meeting => {
                self.welcome_due = true;
                self.acknowledge_due = true;
                // An end that has sent a message was welcomed, and sends no more hellos.
                self.meet(hello, self.data_came);
            }
            Ok(Packet::Welcome { to, hello }) if is_meeting && to == self.ours.session => {
                self.meet(hello, false);
                if self.ended.is_none() && !self.welcomed {
                    self.welcomed = true;
                    self.hello_due = false;
                }
            }
            Ok(Packet::Data(message)) if is_known => {
                self.heard();
                self.data_came = true;
                self.acknowledge_due = true;
                match self.incoming.put(sequence, message) {
                    Arrival::Kept => {}
                    Arrival::Duplicate => count(&mut self.counts.duplicates),
                    Arrival::NoRoom => count(&mut self.counts.no_room),
                }
            }
            Ok(Packet::Acknowledge { next, room }) if is_known && self.welcomed => {
                self.heard();
                match self.outgoing.acknowledge(next, room) {
                    Some(0) => {}
                    Some(_) => {
                        self.progress_ms = self.now_ms;
                        self.asked_ms = self.now_ms;
                    }
                    None => count(&mut self.counts.strange),
                }
            }
            Ok(Packet::Probe) if is_known => {
                self.heard();
                self.acknowledge_due = true;
            }
            _ => count(&mut self.counts.strange),
        }
    }

    fn heard(&mut self) {
        self.heard_ms = self.now_ms;
        self.attempts = 0;
    }

    /// Takes the hello of the other end.
    fn meet(&mut self, theirs: Hello, is_again: bool) {
        self.heard();
        let ours = self.ours;
        if (theirs.protocol, theirs.firmware) != (ours.protocol, ours.firmware) {
            self.ended = Some(LinkError::Mismatch { ours, theirs });
            return;
        }
        let is_other = self.peer.is_some_and(|known| known.session != theirs.session);
        // Before the first message, in whichever direction, a restart makes no difference.
        if is_again || is_other && (self.welcomed || self.data_came) {
            self.ended = Some(LinkError::Restarted);
            self.welcome_due = false;
            return;
        }
        self.peer = Some(theirs);
    }

    fn rest_of_line(&mut self) -> &[u8] {
        if self.gone >= self.line.len() {
            self.gone = 0;
            self.line.clear();
            self.compose();
        }
        self.line.get(self.gone..).unwrap_or(&[])
    }

    /// Puts the next frame on the line, if there is one to send.
    fn compose(&mut self) {
        let ours = self.ours;
        let may_go_on = self.ended.is_none();
        if let (true, Some(peer)) = (self.welcome_due, self.welcomed_peer()) {
            self.welcome_due = false;
            put(&mut self.line, Channel::Meeting, 0, &Packet::Welcome { to: peer, hello: ours });
        } else if !may_go_on {
            // Nothing more to say.
        } else if self.hello_due {
            self.hello_due = false;
            put(&mut self.line, Channel::Meeting, 0, &Packet::Hello(ours));
        } else if self.compose_message() {
            // It is on the line.
        } else if let Some((sequence, payload)) = self.logs.pop_front() {
            let log = Frame { channel: Channel::Log, sequence, payload: &payload };
            let fitted = frame::encode(log, &mut self.line);
            debug_assert!(fitted.is_ok(), "its length was checked when it was taken");
        }
    }

    /// Puts the next frame for the known other end on the line, if there is one. Returns whether
    /// there was.
    fn compose_message(&mut self) -> bool {
        let Some(peer) = self.peer else { return false };
        let channel = Channel::Messages(Sessions { from: self.ours.session, to: peer.session });
        if self.acknowledge_due {
            self.acknowledge_due = false;
            let (next, room) = self.incoming.announce();
            put(&mut self.line, channel, 0, &Packet::Acknowledge { next, room });
        } else if self.welcomed
            && let Some((number, message, again)) = self.outgoing.advance()
        {
            put(&mut self.line, channel, number, &Packet::Data(message));
            self.asked_ms = self.now_ms;
            if again {
                count(&mut self.counts.repeated);
            }
        } else if self.probe_due {
            self.probe_due = false;
            put(&mut self.line, channel, 0, &Packet::Probe);
        } else {
            return false;
        }
        true
    }

    /// The two ends of received messages.
    fn incoming_sessions(&self) -> Option<Sessions> {
        self.peer.map(|peer| Sessions { from: peer.session, to: self.ours.session })
    }

    /// The session that gets a welcome.
    fn welcomed_peer(&self) -> Option<u32> {
        match self.ended {
            // The other end has to learn of it too.
            Some(LinkError::Mismatch { theirs, .. }) => Some(theirs.session),
            _ => self.peer.map(|peer| peer.session),
        }
    }
}
