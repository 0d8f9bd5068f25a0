//! Application: answers the host's requests, one after the other, for as long as there is power.
//!
//! Nothing here waits: each [`step`](Application::step) moves what bytes there are, carries out at
//! most one request, and returns. A host that goes away, comes back or starts again finds the
//! device as after its start.

use embedded_hal::digital::OutputPin;
use strata_link::message::{
    Bench, FIRMWARE, FRAME, Feed, Info, Name, PrototypeLink, Refusal, Reply, Request, Text, WINDOW,
};
use strata_link::{Message, Settings, pump};

use crate::bench;
use crate::board::Board;
use crate::comparison::{Comparison, Stop};
use crate::designs::DESIGNS;
use crate::hot_loops::HotLoops;
use crate::log::log;
use crate::prototype::Prototype;
use crate::self_test::{self, Tested};

/// The application's memory, for a static.
#[derive(Debug)]
pub struct ApplicationMemory {
    comparison: Comparison,
    link: PrototypeLink,
}

impl ApplicationMemory {
    /// As after the power comes on.
    pub const fn new() -> Self {
        Self { comparison: Comparison::new(), link: PrototypeLink::new(settings(0), 0) }
    }
}

impl Default for ApplicationMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// The program of every board.
#[derive(Debug)]
pub struct Application<'m, B, P, L> {
    line: Line<'m, B>,
    comparison: &'m mut Comparison,
    prototype: P,
    loops: L,
}

/// One end of the line, and who stands at it.
#[derive(Debug)]
struct Line<'m, B> {
    board: B,
    link: &'m mut PrototypeLink,
    session: u32,
    /// The session is still to begin.
    is_new: bool,
    /// What the host is to be told first.
    fault: Option<Text>,
}

impl<'m, B: Board, P: Prototype, L: HotLoops> Application<'m, B, P, L> {
    /// A program that starts. `starts` is another number at each start of the device; `fault` is
    /// why it had to start again: both are those of a
    /// [`FaultRecord`](crate::FaultRecord::start).
    pub fn new(
        board: B,
        prototype: P,
        loops: L,
        memory: &'m mut ApplicationMemory,
        starts: u32,
        fault: Option<Text>,
    ) -> Self {
        let ApplicationMemory { comparison, link } = memory;
        comparison.clear();
        // Sessions of one start are counted in the low half.
        let line = Line { board, link, session: starts << 16, is_new: true, fault };
        Self { line, comparison, prototype, loops }
    }

    /// What the board, the prototype and the launch are made of, when the program ends.
    pub fn into_parts(self) -> (B, P, L) {
        (self.line.board, self.prototype, self.loops)
    }

    /// The board.
    pub fn board(&self) -> &B {
        &self.line.board
    }

    /// Steps without end.
    pub fn run(&mut self) -> ! {
        loop {
            self.step();
        }
    }

    /// Moves bytes, and carries out a request if one has come. Returns whether anything happened.
    pub fn step(&mut self) -> bool {
        let (is_new, moved) = self.line.service();
        if is_new {
            self.comparison.clear();
        }
        let Some(message) = self.line.take() else { return moved };
        let reply = self.answer(&message);
        self.line.send(&reply);
        self.line.service();
        true
    }

    fn answer(&mut self, message: &Message<FRAME>) -> Reply {
        let done = match message.decode() {
            Err(_) => Err(Refusal::Malformed),
            Ok(Request::Feed(feed)) => self.feed(&feed),
            Ok(Request::Info) => self.info(),
            Ok(Request::Configure { settings, batch }) => {
                log!("configure {=u32:08x}, batches of {=u16}", settings, batch);
                let done = self.comparison.configure(&mut self.prototype, settings, batch);
                done.map(|()| Reply::Configured)
            }
            Ok(Request::Counters(column)) => {
                self.comparison.counters(&mut self.prototype, column).map(Reply::Counters)
            }
            Ok(Request::SelfTest) => self.self_test(),
            Ok(Request::Bench(what)) => self.bench(what),
            Ok(Request::Reset) => {
                self.comparison.clear();
                Ok(Reply::WasReset)
            }
        };
        done.unwrap_or_else(Reply::Refused)
    }

    #[inline(never)]
    fn info(&mut self) -> Result<Reply, Refusal> {
        let prototype = self.prototype.parameters().map_err(Refusal::Broken)?;
        let workload = self.loops.name();
        let designs = if workload.is_some() { DESIGNS.len() as u8 } else { 0 };
        let board = Name::try_from(B::NAME).unwrap_or_default();
        Ok(Reply::Info(Info { board, ticks_hz: B::TICKS_HZ, prototype, workload, designs }))
    }

    #[inline(never)]
    fn feed(&mut self, feed: &Feed<'_>) -> Result<Reply, Refusal> {
        if !feed.is_whole() {
            return Err(Refusal::Malformed);
        }
        let trigger = self.line.board.trigger();
        let around = |starts| {
            // A pin that does not move is no reason to stop.
            let _ = if starts { trigger.set_high() } else { trigger.set_low() };
        };
        match self.comparison.run(&mut self.prototype, feed.first, feed.words(), around) {
            Ok(clocks) => Ok(Reply::Fed { next: self.comparison.next(), clocks }),
            Err(Stop::Refused(refusal)) => Err(refusal),
            Err(Stop::Diverged(diverged)) => {
                log!("diverged at command {=u64}", diverged.index);
                Ok(Reply::Diverged(diverged))
            }
        }
    }

    // Out of line, as all that is rare: its stack is not that of a feed.
    #[inline(never)]
    fn self_test(&mut self) -> Result<Reply, Refusal> {
        let Self { line, comparison, prototype, .. } = self;
        let tested = self_test::run(comparison, prototype, || line.keep_alive());
        comparison.clear();
        let Tested { batches, commands, failed } = tested?;
        log!("self-test of {=u32} commands", commands);
        Ok(Reply::SelfTest { batches, commands, failed })
    }

    #[inline(never)]
    fn bench(&mut self, what: Bench) -> Result<Reply, Refusal> {
        let Self { line, comparison, prototype, loops } = self;
        let measured = match what {
            Bench::Model { settings, accesses } => {
                bench::model(comparison, prototype, line, settings, accesses)
            }
            Bench::Prototype { settings, accesses } => {
                bench::prototype(comparison, prototype, line, settings, accesses)
            }
            Bench::Compared { settings, accesses } => {
                bench::compared(comparison, prototype, line, settings, accesses)
            }
            Bench::Count { design } => bench::launch(line, loops, design, HotLoops::count),
            Bench::Cycle { design, ctas } => {
                bench::launch(line, loops, design, |loops, design| loops.cycle(design, ctas))
            }
        };
        comparison.clear();
        let (units, ticks) = measured?;
        Ok(Reply::Bench { units, ticks })
    }
}

impl<B: Board> Line<'_, B> {
    /// Moves bytes and tells the link the time. Returns whether the session is a new one, and
    /// whether anything was moved.
    fn service(&mut self) -> (bool, bool) {
        let now_ms = self.board.now_ms();
        let is_new = core::mem::take(&mut self.is_new);
        if is_new {
            self.link.restart(settings(self.session), now_ms);
            log!("session {=u32:08x}", self.session);
        } else if self.link.poll(now_ms).is_err() {
            // Its last words, such as what this end is for one that does not match.
            let _ = pump(self.link, self.board.line(), |_| {});
            self.session = self.session.wrapping_add(1);
            self.is_new = true;
            return (false, true);
        }
        let logged = self.pass_log();
        // What a line loses is sent again.
        let moved = pump(self.link, self.board.line(), |_| {}).unwrap_or_default();
        let is_ready = self.can_send();
        if let Some(fault) = self.fault.take_if(|_| is_ready) {
            // There is room, and a line of text fits.
            let _ = self.link.send(&Reply::Fault(fault));
        }
        (is_new, moved.received + moved.sent + logged > 0)
    }

    /// Hands the link a log, if one waits. Returns its length.
    fn pass_log(&mut self) -> usize {
        let mut room = [0; LONGEST_LOG];
        let length = self.board.next_log(&mut room).min(LONGEST_LOG);
        if length > 0 {
            // The host sees that one is missing.
            let _ = self.link.log(&room[..length]);
        }
        length
    }

    /// The next request, once its answer can be sent: a host may be welcomed, and ask, before it
    /// has welcomed this end.
    fn take(&mut self) -> Option<Message<FRAME>> {
        if self.can_send() { self.link.take() } else { None }
    }

    fn can_send(&self) -> bool {
        self.link.peer().is_some() && self.link.unacknowledged() < WINDOW
    }

    /// Sends the answer to what was taken.
    fn send(&mut self, reply: &Reply) {
        // There is room; if the link has ended meanwhile, nobody waits for it.
        let _ = self.link.send(reply);
    }

    /// Lets the host hear that the device is still there, in the middle of a request.
    fn keep_alive(&mut self) {
        // What comes of it is for the next step.
        let _ = self.link.poll(self.board.now_ms());
        let _ = pump(self.link, self.board.line(), |_| {});
    }
}

impl<B: Board> bench::Stopwatch for Line<'_, B> {
    fn ticks(&mut self) -> u64 {
        self.board.ticks()
    }

    fn between(&mut self) {
        self.keep_alive();
    }
}

/// A device is more patient than its host: a host that is gone costs it nothing, and one that comes
/// back says so.
const fn settings(session: u32) -> Settings {
    Settings { attempts: 600, stall_ms: 60_000, ..Settings::new(FIRMWARE, session) }
}

/// Bytes of a log at most.
const LONGEST_LOG: usize = 128;
