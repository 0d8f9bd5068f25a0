//! Rig: a host and the application at the two ends of a line in memory, with a clock of its own.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;

use embedded_hal::digital::OutputPin;
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use strata_firmware::{
    Application, ApplicationMemory, Board, HotLoops, NoLaunch, Prototype, SoftwarePrototype,
};
use strata_link::message::{
    BATCH, Column, Counters, FIRMWARE, Feed, PrototypeLink, Reply, Request, Text,
};
use strata_link::{Link, LinkError, Settings, pump};

/// Numbers from a seed (`SplitMix64`).
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// One end of a line: what it can read, and where its bytes go, a few at a time.
#[derive(Clone)]
pub(crate) struct End {
    from: Rc<RefCell<VecDeque<u8>>>,
    to: Rc<RefCell<VecDeque<u8>>>,
    /// One byte in this many is disturbed; 0: none.
    one_in: u64,
    random: Random,
}

/// The two ends of a new line.
pub(crate) fn line(one_in: u64) -> [End; 2] {
    let [a, b] = [(); 2].map(|()| Rc::new(RefCell::new(VecDeque::new())));
    let end = |from: &Rc<_>, to: &Rc<_>, seed| End {
        from: Rc::clone(from),
        to: Rc::clone(to),
        one_in,
        random: Random(seed),
    };
    [end(&a, &b, 1), end(&b, &a, 2)]
}

impl ErrorType for End {
    type Error = Infallible;
}

impl Read for End {
    fn read(&mut self, to: &mut [u8]) -> Result<usize, Infallible> {
        let mut from = self.from.borrow_mut();
        // As from the queue of a UART.
        let length = to.len().min(from.len()).min(16);
        for (to, byte) in to.iter_mut().zip(from.drain(..length)) {
            *to = byte;
        }
        Ok(length)
    }
}

impl ReadReady for End {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(!self.from.borrow().is_empty())
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let length = bytes.len().min(16);
        for &byte in &bytes[..length] {
            let is_hit = self.one_in > 0 && self.random.below(self.one_in) == 0;
            let mut to = self.to.borrow_mut();
            match if is_hit { self.random.below(3) } else { 3 } {
                0 => to.push_back(byte ^ 1 << self.random.below(8)),
                1 => {}
                2 => to.extend([byte; 2]),
                _ => to.push_back(byte),
            }
        }
        Ok(length)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl WriteReady for End {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(true)
    }
}

/// A pin that counts how often it rose and fell.
#[derive(Clone, Default)]
pub(crate) struct Pin(pub(crate) Rc<Cell<[u32; 2]>>);

impl embedded_hal::digital::ErrorType for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        let [rose, fell] = self.0.get();
        self.0.set([rose, fell + 1]);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        let [rose, fell] = self.0.get();
        self.0.set([rose + 1, fell]);
        Ok(())
    }
}

/// A board in memory.
pub(crate) struct TestBoard {
    end: End,
    pub(crate) pin: Pin,
    now_ms: Rc<Cell<u64>>,
    /// Logs that wait.
    pub(crate) logs: VecDeque<Vec<u8>>,
}

impl Board for TestBoard {
    type Line = End;
    type Trigger = Pin;
    const NAME: &'static str = "test";

    fn line(&mut self) -> &mut End {
        &mut self.end
    }

    fn trigger(&mut self) -> &mut Pin {
        &mut self.pin
    }

    fn ticks_hz(&self) -> u32 {
        1_000
    }

    fn ticks(&mut self) -> u64 {
        // Each look at it takes a tick.
        self.now_ms.set(self.now_ms.get() + 1);
        self.now_ms.get()
    }

    fn now_ms(&mut self) -> u64 {
        self.now_ms.get()
    }

    fn next_log(&mut self, room: &mut [u8]) -> usize {
        let Some(log) = self.logs.pop_front() else { return 0 };
        room[..log.len()].copy_from_slice(&log);
        log.len()
    }
}

/// A host beside a device.
pub(crate) struct Rig<'m, P = SoftwarePrototype, L = NoLaunch> {
    pub(crate) device: Application<'m, TestBoard, P, L>,
    pub(crate) link: PrototypeLink,
    end: End,
    pub(crate) pin: Pin,
    pub(crate) now_ms: Rc<Cell<u64>>,
    pub(crate) logs: Vec<Vec<u8>>,
    session: u32,
}

/// Milliseconds in which any request is answered here.
const PATIENCE_MS: u64 = 20_000;

impl<'m, P: Prototype> Rig<'m, P> {
    /// A device that was just switched on, on a quiet line.
    pub(crate) fn new(prototype: P, memory: &'m mut ApplicationMemory) -> Self {
        Self::with(prototype, NoLaunch, memory, 0, None)
    }

    /// A device that was just switched on, on a quiet line, when it has counted this many starts.
    pub(crate) fn after_starts(
        prototype: P,
        memory: &'m mut ApplicationMemory,
        starts: u32,
    ) -> Self {
        Self::make(prototype, NoLaunch, memory, 0, None, starts)
    }
}

impl<'m, P: Prototype, L: HotLoops> Rig<'m, P, L> {
    /// All of it. One byte in `one_in` is disturbed.
    pub(crate) fn with(
        prototype: P,
        loops: L,
        memory: &'m mut ApplicationMemory,
        one_in: u64,
        fault: Option<Text>,
    ) -> Self {
        Self::make(prototype, loops, memory, one_in, fault, 1)
    }

    fn make(
        prototype: P,
        loops: L,
        memory: &'m mut ApplicationMemory,
        one_in: u64,
        fault: Option<Text>,
        starts: u32,
    ) -> Self {
        let [host, device] = line(one_in);
        let now_ms = Rc::new(Cell::new(0));
        let pin = Pin::default();
        let board = TestBoard {
            end: device,
            pin: pin.clone(),
            now_ms: Rc::clone(&now_ms),
            logs: VecDeque::new(),
        };
        let device = Application::new(board, prototype, loops, memory, starts, fault);
        let link = Link::new(Settings::new(FIRMWARE, 1), 0);
        Self { device, link, end: host, pin, now_ms, logs: Vec::new(), session: 1 }
    }

    /// The same device after it lost its power for a moment, in other memory, and with logs. It does
    /// not know that it had started before: only its clock is another.
    pub(crate) fn restarted(
        self,
        memory: &'m mut ApplicationMemory,
        fault: Option<Text>,
        logs: &[Vec<u8>],
    ) -> Self {
        let (mut board, prototype, loops) = self.device.into_parts();
        board.logs = logs.iter().cloned().collect();
        Self { device: Application::new(board, prototype, loops, memory, 1, fault), ..self }
    }

    /// What the device has sent gets lost.
    pub(crate) fn lose(&mut self) {
        self.end.from.borrow_mut().clear();
    }

    /// What the host has to say is on the line.
    pub(crate) fn push(&mut self) {
        let _ = pump(&mut self.link, &mut self.end, |_| {});
    }

    /// What the host would hear, which it does not.
    pub(crate) fn is_heard(&self) -> bool {
        !self.end.from.borrow().is_empty()
    }

    /// The host starts again.
    pub(crate) fn reconnect(&mut self) {
        self.session += 1;
        self.link = Link::new(Settings::new(FIRMWARE, self.session), self.now_ms.get());
    }

    /// A millisecond.
    pub(crate) fn step(&mut self) -> Result<(), LinkError> {
        self.now_ms.set(self.now_ms.get() + 1);
        self.device.step();
        let logs = &mut self.logs;
        let _ = pump(&mut self.link, &mut self.end, |log| logs.push(log.to_vec()));
        self.link.poll(self.now_ms.get())
    }

    /// Sends a request, when the link takes it.
    pub(crate) fn send(&mut self, request: &Request<'_>) -> Result<(), LinkError> {
        let end_ms = self.now_ms.get() + PATIENCE_MS;
        while self.link.send(request).is_err() {
            assert!(self.now_ms.get() < end_ms, "nothing is taken");
            self.step()?;
        }
        Ok(())
    }

    /// The next reply.
    pub(crate) fn reply(&mut self) -> Result<Reply, LinkError> {
        let end_ms = self.now_ms.get() + PATIENCE_MS;
        loop {
            if let Some(message) = self.link.take() {
                return Ok(message.decode().expect("the device answers in replies"));
            }
            assert!(self.now_ms.get() < end_ms, "no answer");
            self.step()?;
        }
    }

    /// Asks, and waits for the answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, request: &Request<'_>) -> Reply {
        self.send(request).and_then(|()| self.reply()).expect("the link holds")
    }

    /// Feeds commands in batches, as many at once as the link takes. Returns the clocks; or the
    /// first other reply.
    pub(crate) fn feed(&mut self, words: &[u32], batch: usize) -> Result<Vec<u32>, Box<Reply>> {
        let mut clocks = Vec::new();
        let mut waits = 0;
        let mut take = |rig: &mut Self, waits: &mut usize| {
            *waits -= 1;
            match rig.reply().expect("the link holds") {
                Reply::Fed { clocks: took, .. } => {
                    clocks.push(took);
                    Ok(())
                }
                other => Err(Box::new(other)),
            }
        };
        let mut first = 0;
        for words in words.chunks(batch) {
            let mut room = [0; 4 * BATCH];
            let feed = Feed::new(first, words, &mut room).expect("a batch fits");
            self.send(&Request::Feed(feed)).expect("the link holds");
            first += words.len() as u64;
            waits += 1;
            if waits == 4 {
                take(self, &mut waits)?;
            }
        }
        while waits > 0 {
            take(self, &mut waits)?;
        }
        Ok(clocks)
    }

    pub(crate) fn counters(&mut self, column: Column) -> Counters {
        match self.ask(&Request::Counters(column)) {
            Reply::Counters(counters) if counters.column == column => counters,
            other => panic!("{other:?}"),
        }
    }
}
