//! Application: answers the host's requests in order, for as long as there is power.
//!
//! Nothing here waits: each [`step`](Application::step) moves the bytes that are there, carries out
//! at most one request, and returns. A long request polls the link every few milliseconds, and ends
//! when the link does. A host that disconnects, reconnects or restarts finds the device as after
//! its start.

use embedded_hal::digital::OutputPin;
use embedded_io::ReadReady as _;
use strata_link::message::{
    Bench, Column, FIRMWARE, Feed, Info, MOST_NAME, Name, PrototypeLink, Refusal, Reply, Request,
    Text, WINDOW,
};
use strata_link::{LinkError, Settings, pump};

use strata_core::prototype::regmap::LINE_BAUD;

use crate::bench::{self, Unmeasured};
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
    /// The state after power-on.
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

/// The device's end of the line, and its session.
#[derive(Debug)]
struct Line<'m, B> {
    board: B,
    link: &'m mut PrototypeLink,
    session: u32,
    /// Starts of the device.
    starts: u32,
    /// When the session begins.
    begins: Begins,
    /// The first reply to the host.
    fault: Option<Text>,
    /// Where the board puts a log.
    log: [u8; LONGEST_LOG],
}

/// When a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// It has begun.
    Already,
    /// Now: a host is connected that has not met this session.
    Now,
    /// With the first received byte; until then the device is silent. The session's number is drawn
    /// from the time of that byte, which differs between hosts and between starts.
    WithAByte,
}

impl<'m, B: Board, P: Prototype, L: HotLoops> Application<'m, B, P, L> {
    /// A program that starts. `starts` differs at each start of the device; `fault` is the reason
    /// of a restart: both come from a [`FaultRecord`](crate::FaultRecord::start). The program sends
    /// nothing before it has received a byte.
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
        let (begins, log) = (Begins::WithAByte, [0; LONGEST_LOG]);
        let line = Line { board, link, session: 0, starts, begins, fault, log };
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

    /// Moves bytes, and carries out a request if one has arrived. Returns whether anything
    /// happened.
    pub fn step(&mut self) -> bool {
        let (is_new, moved) = self.line.service();
        if is_new {
            self.comparison.clear();
        }
        if !self.answer() {
            return moved;
        }
        self.line.service();
        true
    }

    /// Answers the next request, once its answer can be sent: a host may be welcomed, and ask,
    /// before it has welcomed this end. Returns whether there was one.
    fn answer(&mut self) -> bool {
        if !self.line.can_send() {
            return false;
        }
        let done = match self.line.link.first::<Request<'_>>() {
            None => return false,
            Some(Ok(Request::Feed(feed))) => {
                // The request is read in place.
                let trigger = self.line.board.trigger();
                let reply = run_feed(self.comparison, &mut self.prototype, trigger, &feed);
                self.line.link.skip();
                self.line.send(&reply);
                return true;
            }
            Some(Ok(request)) => Asked::of(&request),
            Some(Err(_)) => None,
        };
        // During a long request other messages may arrive.
        self.line.link.skip();
        let reply = done.map_or(Err(Refusal::Malformed.into()), |asked| self.carry_out(asked));
        match reply {
            Ok(reply) => self.line.send(&reply),
            Err(Unmeasured::Refused(refusal)) => self.line.send(&Reply::Refused(refusal)),
            // The host that sent the request is gone.
            Err(Unmeasured::Ended) => {}
        }
        true
    }

    /// Carries out a request that is no feed.
    #[inline(never)]
    fn carry_out(&mut self, asked: Asked) -> Result<Reply, Unmeasured> {
        match asked {
            Asked::Info => Ok(self.info()?),
            Asked::Configure { settings, batch } => {
                log!("configure {=u32:08x}, batches of {=u16}", settings, batch);
                self.comparison.configure(&mut self.prototype, settings, batch)?;
                Ok(Reply::Configured)
            }
            Asked::Counters(column) => {
                Ok(Reply::Counters(self.comparison.counters(&mut self.prototype, column)?))
            }
            Asked::SelfTest => self.self_test(),
            Asked::Bench(what) => self.bench(what),
            Asked::Reset => {
                self.comparison.clear();
                Ok(Reply::WasReset)
            }
        }
    }

    #[inline(never)]
    fn info(&mut self) -> Result<Reply, Refusal> {
        const { assert!(B::NAME.len() <= MOST_NAME, "a board's name is too long") }
        let prototype = self.prototype.parameters().map_err(Refusal::Broken)?;
        let workload = self.loops.name();
        let designs = if workload.is_some() { DESIGNS.len() as u8 } else { 0 };
        let board = Name::try_from(B::NAME).unwrap_or_default();
        let ticks_hz = self.board().ticks_hz();
        Ok(Reply::Info(Info { board, ticks_hz, prototype, workload, designs }))
    }

    // Out of line, like all rare requests, so that a feed does not need their stack.
    #[inline(never)]
    fn self_test(&mut self) -> Result<Reply, Unmeasured> {
        let Self { line, comparison, prototype, .. } = self;
        let tested = self_test::run(comparison, prototype, || line.keep_alive());
        comparison.clear();
        let Tested { batches, commands, failed } = tested?;
        log!("self-test of {=u32} commands", commands);
        Ok(Reply::SelfTest { batches, commands, failed })
    }

    #[inline(never)]
    fn bench(&mut self, what: Bench) -> Result<Reply, Unmeasured> {
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
                bench::launch(line, loops, design, |loops, design, between| {
                    loops.cycle(design, ctas, between)
                })
            }
        };
        comparison.clear();
        let (units, ticks) = measured?;
        Ok(Reply::Bench { units, ticks })
    }
}

/// A request that is no feed.
#[derive(Clone, Copy)]
enum Asked {
    Info,
    Configure { settings: u32, batch: u16 },
    Counters(Column),
    SelfTest,
    Bench(Bench),
    Reset,
}

impl Asked {
    /// `None` of a feed.
    fn of(request: &Request<'_>) -> Option<Self> {
        Some(match *request {
            Request::Info => Self::Info,
            Request::Configure { settings, batch } => Self::Configure { settings, batch },
            Request::Counters(column) => Self::Counters(column),
            Request::SelfTest => Self::SelfTest,
            Request::Bench(what) => Self::Bench(what),
            Request::Reset => Self::Reset,
            Request::Feed(_) => return None,
        })
    }
}

/// Runs a feed.
#[inline(never)]
fn run_feed(
    comparison: &mut Comparison,
    prototype: &mut impl Prototype,
    trigger: &mut impl OutputPin,
    feed: &Feed<'_>,
) -> Reply {
    if !feed.is_whole() {
        return Reply::Refused(Refusal::Malformed);
    }
    let around = |starts| {
        // A failing pin is no reason to stop.
        let _ = if starts { trigger.set_high() } else { trigger.set_low() };
    };
    match comparison.run(prototype, feed.first, feed.words(), around) {
        Ok(clocks) => Reply::Fed { next: comparison.next(), clocks },
        Err(Stop::Refused(refusal)) => Reply::Refused(refusal),
        Err(Stop::Diverged(diverged)) => {
            log!("diverged at command {=u64}", diverged.index);
            Reply::Diverged(diverged)
        }
    }
}

impl<B: Board> Line<'_, B> {
    /// Moves bytes and tells the link the time. Returns whether the session is a new one, and
    /// whether anything was moved.
    fn service(&mut self) -> (bool, bool) {
        let now_ms = self.board.now_ms();
        let is_new = self.begins != Begins::Already;
        if is_new {
            // A broken line delivers nothing.
            let has_come = self.board.line().read_ready().unwrap_or(false);
            if self.begins == Begins::WithAByte && !has_come {
                return (false, false);
            }
            self.begins = Begins::Already;
            self.session = self.draw_session();
            self.link.restart(settings(self.session), now_ms);
            log!("session {=u32:08x}", self.session);
        } else if let Err(error) = self.link.poll(now_ms) {
            // The link's last packets, such as this end's version for a peer that does not match.
            let _ = pump(self.link, self.board.line(), |_| {});
            self.begins = match error {
                LinkError::Restarted | LinkError::Mismatch { .. } => Begins::Now,
                LinkError::Silent { .. } | LinkError::Stalled { .. } => Begins::WithAByte,
            };
            return (false, true);
        }
        let logged = self.pass_log();
        // The link sends lost bytes again.
        let moved = pump(self.link, self.board.line(), |_| {}).unwrap_or_default();
        let is_ready = self.can_send();
        if let Some(fault) = self.fault.take_if(|_| is_ready) {
            // There is room, and a line of text fits.
            let _ = self.link.send(&Reply::Fault(fault));
        }
        (is_new, moved.received + moved.sent + logged > 0)
    }

    /// A number that differs from the last session's and, but for chance, from any other's. It is
    /// drawn from the count of starts and from the clock at a time that the host has chosen.
    fn draw_session(&mut self) -> u32 {
        // The count of starts tells two starts apart that took the same time.
        let drawn = self.board.ticks() as u32 ^ self.starts.rotate_left(16);
        if drawn == self.session { drawn.wrapping_add(1) } else { drawn }
    }

    /// Passes a waiting log to the link. Returns its length.
    fn pass_log(&mut self) -> usize {
        let length = self.board.next_log(&mut self.log).min(LONGEST_LOG);
        if length > 0 {
            // The host sees that one is missing.
            let _ = self.link.log(&self.log[..length]);
        }
        length
    }

    fn can_send(&self) -> bool {
        self.link.peer().is_some() && self.link.unacknowledged() < WINDOW
    }

    /// Sends the answer to what was taken.
    fn send(&mut self, reply: &Reply) {
        // There is room; if the link has ended meanwhile, no host waits for the reply.
        let _ = self.link.send(reply);
    }

    /// Keeps the link alive in the middle of a request. Returns whether it goes on; if not, the
    /// answer has no receiver.
    fn keep_alive(&mut self) -> bool {
        let _ = self.link.poll(self.board.now_ms());
        let _ = pump(self.link, self.board.line(), |_| {});
        // The bytes that were just received may end it too. The next step reacts to that.
        self.link.poll(self.board.now_ms()).is_ok()
    }
}

impl<B: Board> bench::Stopwatch for Line<'_, B> {
    fn ticks(&mut self) -> u64 {
        self.board.ticks()
    }

    fn between(&mut self) -> bool {
        self.keep_alive()
    }
}

/// A device waits longer than its host: a host that is gone costs it nothing, and one that
/// reconnects says so.
const fn settings(session: u32) -> Settings {
    let usual = Settings::new(FIRMWARE, session);
    Settings { line_baud: LINE_BAUD, attempts: 600, stall_ms: 60_000, ..usual }
}

/// Bytes of a log at most.
const LONGEST_LOG: usize = 128;
