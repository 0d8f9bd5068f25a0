//! The board in this process: the firmware's application in a thread, with the prototype that moves
//! its values in software.

use std::convert::Infallible;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use embedded_hal::digital::{ErrorType as PinError, OutputPin};
use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use strata_firmware::{Application, ApplicationMemory, Board, NoLaunch, SoftwarePrototype};

/// How long the application sleeps when there is nothing to do.
const SLEEP: Duration = Duration::from_micros(100);
/// Stack of the thread: the application's memory is on it while it is made.
const STACK_BYTES: usize = 8 << 20;

/// Starts it; it connects to a port of this machine, and ends when that is closed.
///
/// # Errors
///
/// No thread can be started.
pub(super) fn start(port: u16) -> io::Result<()> {
    let thread = thread::Builder::new().name("board".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || run(port)).map(drop)
}

fn run(port: u16) {
    // The listening end receives nothing, and reports that.
    let Ok(line) = Line::connect(port) else { return };
    let board = HostBoard { line, trigger: NoPin, start: Instant::now() };
    let mut memory = Box::new(ApplicationMemory::new());
    let mut prototype = Box::new(SoftwarePrototype::new());
    let mut application = Application::new(board, &mut *prototype, NoLaunch, &mut memory, 0, None);
    loop {
        if !application.step() {
            if application.board().line.ended {
                return;
            }
            thread::sleep(SLEEP);
        }
    }
}

/// The board.
struct HostBoard {
    line: Line,
    trigger: NoPin,
    start: Instant,
}

impl Board for HostBoard {
    type Line = Line;
    type Trigger = NoPin;

    const NAME: &'static str = "host";

    fn line(&mut self) -> &mut Line {
        &mut self.line
    }

    fn trigger(&mut self) -> &mut NoPin {
        &mut self.trigger
    }

    fn ticks_hz(&self) -> u32 {
        1_000_000_000
    }

    fn ticks(&mut self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn now_ms(&mut self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }
}

/// There is nothing to light.
struct NoPin;

impl PinError for NoPin {
    type Error = Infallible;
}

impl OutputPin for NoPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// A connection as firmware has its serial line: it says whether there is something to read.
struct Line {
    stream: TcpStream,
    came: [u8; 1024],
    taken: usize,
    length: usize,
    /// The other end is gone.
    ended: bool,
}

impl Line {
    fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, came: [0; 1024], taken: 0, length: 0, ended: false })
    }
}

impl ErrorType for Line {
    type Error = embedded_io::ErrorKind;
}

impl ReadReady for Line {
    fn read_ready(&mut self) -> Result<bool, Self::Error> {
        if self.taken == self.length {
            match self.stream.read(&mut self.came) {
                Ok(length) => (self.taken, self.length, self.ended) = (0, length, length == 0),
                Err(error) => self.ended |= !is_patient(&error),
            }
        }
        Ok(self.taken < self.length)
    }
}

impl Read for Line {
    fn read(&mut self, to: &mut [u8]) -> Result<usize, Self::Error> {
        let length = to.len().min(self.length - self.taken);
        to[..length].copy_from_slice(&self.came[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

impl WriteReady for Line {
    fn write_ready(&mut self) -> Result<bool, Self::Error> {
        Ok(!self.ended)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        match self.stream.write(bytes) {
            Ok(length) => Ok(length),
            Err(error) => {
                self.ended |= !is_patient(&error);
                Ok(0)
            }
        }
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Whether an error only says that nothing moves now.
fn is_patient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
