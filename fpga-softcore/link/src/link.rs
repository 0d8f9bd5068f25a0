//! Link: one end of a line, which loses no message and keeps their order.
//!
//! Both ends say hello until they are welcomed. Each message then has a number and is sent again
//! until it is acknowledged; the acknowledgement says how many more the other end has room for.
//! Every wait has an end by the caller's clock, and ends the link with an error.
//!
//! Assumes: what a line delivers whole, it delivers in the order in which it was sent.

use heapless::{Deque, Vec};
use serde::{Deserialize, Serialize};

use crate::encoding::{Limited, put};
use crate::error::{LinkError, Malformed, SendError};
use crate::frame::{self, Channel, Decoder, Dropped, Frame, Sessions, count, longest_payload};
use crate::packet::{self, Hello, LONGEST_CONTROL_BYTES, PROTOCOL, Packet, Version};
use crate::window::{Arrival, Incoming, Outgoing};

/// What an end is, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Has to be the same on both ends.
    pub firmware: Version,
    /// Another number at each start of this end, so that the other one sees that it restarted, and
    /// that nothing that was on its way before is taken: to be drawn from a clock.
    pub session: u32,
    /// What the line carries. Unit: bits a second, 10 for each byte. 0: as much as it is given.
    pub line_baud: u32,
    /// Time that the other end may take for an answer, beside what the line takes
    /// ([`Link::timeout_ms`]). Unit: ms.
    pub answer_ms: u32,
    /// Times that something is sent again with nothing heard before the link ends.
    pub attempts: u32,
    /// Time without a word from the other end after which it is asked for one. Unit: ms.
    pub idle_ms: u32,
    /// Time for which the other end may answer without taking a message. Unit: ms.
    pub stall_ms: u32,
}

impl Settings {
    /// Settings that notice within 3.2 s that the other end of a fast line is gone: again after
    /// 100 ms, 20 times, asking after 1 s of silence; and an end that takes nothing after 10 s.
    pub const fn new(firmware: Version, session: u32) -> Self {
        let (line_baud, answer_ms, attempts) = (0, 100, 20);
        Self { firmware, session, line_baud, answer_ms, attempts, idle_ms: 1_000, stall_ms: 10_000 }
    }
}

/// What happened on a link. The counts stop at their greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that the decoder dropped.
    pub dropped: Dropped,
    /// Messages sent again.
    pub repeated: u32,
    /// Messages that had come before.
    pub duplicates: u32,
    /// Messages for which there was no room.
    pub no_room: u32,
    /// Packets that make no sense: not in postcard, or not where they belong.
    pub strange: u32,
    /// Log frames of the other end that did not come.
    pub logs_missed: u32,
}

impl Counts {
    const NONE: Self = Self {
        dropped: Dropped::NONE,
        repeated: 0,
        duplicates: 0,
        no_room: 0,
        strange: 0,
        logs_missed: 0,
    };
}

/// A message that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<const FRAME: usize>(Vec<u8, FRAME>);

impl<const FRAME: usize> Message<FRAME> {
    /// What it says. It may borrow from the message.
    ///
    /// # Errors
    ///
    /// It is not such a value, or more than one.
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

/// One end of a line. `FRAME`: the longest frame on the line, its zero included; unit: bytes;
/// range: `28..=65535`. `WINDOW`: messages, and logs, that wait in each direction; a power of two
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
            _ => panic!("FRAME: at least 28"),
        }
    };

    /// Time after which what is not answered is sent again: what the line takes for a window of the
    /// longest frames in each direction, of which the answer may be the last, and the other end for
    /// the answer. Unit: ms.
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

    /// An end that starts now, and says hello.
    pub const fn new(settings: Settings, now_ms: u64) -> Self {
        let hello = Self::hello(settings);
        let timeout_ms = Self::timeout_ms(settings);
        Self { decoder: Decoder::new(), state: State::new(settings, timeout_ms, hello, now_ms) }
    }

    /// Is as after [`new`](Self::new), in the same memory.
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

    /// Takes bytes from the line, as many as came. `log` gets the logs of the other end.
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

    /// Says what time it is, which may make this end send something again. To be called at least
    /// as often as a timeout passes, and before [`received`](Self::received): what came counts as
    /// having come then. A time before the last one is taken for the last one.
    ///
    /// # Errors
    ///
    /// The link has ended, by what came or by time.
    pub fn poll(&mut self, now_ms: u64) -> Result<(), LinkError> {
        self.state.poll(now_ms)
    }

    /// The bytes that are to go next: none, or the rest of a frame. Those that went are to be
    /// reported to [`sent`](Self::sent). The link's last words are still to be had after its end.
    pub fn to_send(&mut self) -> &[u8] {
        self.state.rest_of_line()
    }

    /// Says that the first `bytes` of [`to_send`](Self::to_send) went. More than there were count
    /// as all of them.
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

    /// The next message of the other end, which [`skip`](Self::skip) leaves behind. It may borrow
    /// from the link. `Err`: it is not such a value, or more than one.
    pub fn first<'a, T: Deserialize<'a>>(&'a self) -> Option<Result<T, Malformed>> {
        self.state.incoming.first().map(decode)
    }

    /// Leaves the next message behind, if there is one, as [`take`](Self::take) does.
    pub fn skip(&mut self) {
        if self.state.incoming.skip() {
            self.state.acknowledge_due |= self.state.incoming.has_news();
        }
    }

    /// Sends a log frame when nothing else is to be sent. It is not repeated if it gets lost, and
    /// the other end sees that one is missing, also if it was not taken here.
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
    /// The other end, once its hello or welcome came.
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

    now_ms: u64,
    /// When something was sent that wants an answer.
    asked_ms: u64,
    heard_ms: u64,
    /// When the other end last took a message, or when the first was sent that it is to take.
    progress_ms: u64,
    /// Times asked since something was heard.
    attempts: u32,

    /// The frame on its way, and how much of it went.
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
        // All of it is named, so that a new field is not forgotten.
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
        (*of_now_ms, *asked_ms, *heard_ms, *progress_ms) = (now_ms, now_ms, now_ms, now_ms);
        (*attempts, *gone) = (0, 0);
        line.clear();
        *counts = Counts::NONE;
    }

    fn poll(&mut self, now_ms: u64) -> Result<(), LinkError> {
        self.now_ms = self.now_ms.max(now_ms);
        let since = |then: u64| self.now_ms - then;
        let waits = !self.welcomed || self.outgoing.len() > 0;
        let is_quiet = since(self.heard_ms) >= u64::from(self.settings.idle_ms);
        if self.ended.is_some() {
            // It stays so.
        } else if waits && since(self.progress_ms) >= u64::from(self.settings.stall_ms) {
            self.ended = Some(
                self.silence().unwrap_or(LinkError::Stalled { after_ms: since(self.progress_ms) }),
            );
        } else if (waits || is_quiet) && since(self.asked_ms) >= u64::from(self.timeout_ms) {
            self.ask_again();
        }
        self.ended.map_or(Ok(()), Err)
    }

    /// What to say of an end of which nothing was heard all the time.
    fn silence(&self) -> Option<LinkError> {
        (self.heard_ms <= self.progress_ms).then_some(LinkError::Silent {
            attempts: self.attempts,
            after_ms: self.now_ms - self.heard_ms,
        })
    }

    fn ask_again(&mut self) {
        if self.attempts >= self.settings.attempts {
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

    /// A new, empty message behind those that wait.
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
        // Of a message the sessions were right, so that the other end is known.
        let is_known = !is_meeting;
        match postcard::from_bytes(payload) {
            Ok(Packet::Hello(hello)) if is_meeting => {
                self.welcome_due = true;
                self.acknowledge_due = true;
                // Who has sent a message was welcomed, and says hello no more.
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

    /// Takes what the other end says of itself.
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

    /// Puts on the line what goes to the other end that is known, if there is something. Returns
    /// whether there was.
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

    /// Between whom messages come.
    fn incoming_sessions(&self) -> Option<Sessions> {
        self.peer.map(|peer| Sessions { from: peer.session, to: self.ours.session })
    }

    /// The session that a welcome goes to.
    fn welcomed_peer(&self) -> Option<u32> {
        match self.ended {
            // The other end is to learn of it too.
            Some(LinkError::Mismatch { theirs, .. }) => Some(theirs.session),
            _ => self.peer.map(|peer| peer.session),
        }
    }
}
