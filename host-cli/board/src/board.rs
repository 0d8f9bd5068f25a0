//! Boards: what is at the other end of a line, and the programs that are started for it.

mod child;
mod repository;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use strata_core::named;
use strata_core::prototype::regmap::LINE_BAUD;

use super::error::FpgaError;
use super::interrupt;
use super::port::{self, Line, Tcp};
use super::watch::Watch;
pub use child::Child;
pub use repository::Repository;
use strata_measure::notes::Notes;

/// How long a program may take until it listens or connects.
const START: Duration = Duration::from_secs(5);
/// How long a program that has closed its line may take to end.
const END: Duration = Duration::from_millis(300);

named! {
    /// Boards that strata starts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BoardName {
        /// The firmware's application in a thread of this process.
        Host = "host",
        /// RISC-V, emulated by QEMU.
        QemuRiscv = "qemu-riscv",
        /// Cortex-M3, emulated by QEMU.
        QemuCortexM = "qemu-cortex-m",
    }
}

/// Which board to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The simulated one, which is built the first time.
    Simulated,
    /// One that is started.
    Started(BoardName),
    /// One that runs.
    Port {
        /// Its serial device, or `HOST:PORT`.
        name: String,
        /// Speed of a serial device. Unit: bits in a second.
        baud: Option<u32>,
    },
}

/// A board.
#[derive(Debug)]
pub struct Board {
    name: String,
    reach: Reach,
    /// The program that was started for it; ended with it.
    child: Option<Child>,
    /// Its firmware, if it is known.
    elf: Option<PathBuf>,
}

/// How to get a line to it.
#[derive(Debug)]
enum Reach {
    /// It listens, or is a device.
    Port { port: String, baud: u32 },
    /// It has connected, or will, to this listener.
    Listener(TcpListener),
}

impl Board {
    /// The board that the user names, started if it is one of ours.
    ///
    /// # Errors
    ///
    /// It cannot be built or started.
    pub fn new(target: &Target, notes: &dyn Notes) -> Result<Self, FpgaError> {
        interrupt::watch();
        match target {
            Target::Port { name, baud } => Ok(Self {
                name: format!("`{name}`"),
                reach: Reach::Port { port: name.clone(), baud: port::speed(name, *baud)? },
                child: None,
                elf: None,
            }),
            Target::Started(BoardName::Host) => Self::host(),
            Target::Started(BoardName::QemuRiscv) => Self::emulated(&QEMU_RISCV, notes),
            Target::Started(BoardName::QemuCortexM) => Self::emulated(&QEMU_CORTEX_M, notes),
            Target::Simulated => Self::simulated(&Listen::Tcp(0), notes).map(|(board, _)| board),
        }
    }

    /// Starts the simulated board. Returns also what it says of where it listens.
    ///
    /// # Errors
    ///
    /// It cannot be built or started.
    pub fn simulated(listen: &Listen, notes: &dyn Notes) -> Result<(Self, String), FpgaError> {
        const NAME: &str = "the simulated board";
        let repository = Repository::find()?;
        let folder = repository.products("soc");
        let (program, hex) = (folder.join("strata-soc"), folder.join("firmware.hex"));
        if !program.is_file() || !hex.is_file() {
            notes.note("the simulated board is built now, which takes minutes the first time");
            repository.chore(&["soc"])?;
        }
        let mut command = Command::new(&program);
        command.arg("--firmware").arg(hex);
        match listen {
            Listen::Tcp(port) => command.args(["--tcp", &port.to_string()]),
            Listen::Pty => command.arg("--pty"),
        };
        let help = "`cargo xtask soc` builds it again";
        let mut child = Child::start(NAME, &mut command, help)?;
        let said = child.first_line(START)?;
        let port = said.split_once(' ').filter(|(what, _)| matches!(*what, "listening" | "pty"));
        let Some((_, port)) = port else {
            return Err(FpgaError::Mute { board: NAME.to_owned(), said });
        };
        let board = Self {
            name: NAME.to_owned(),
            reach: Reach::Port { port: port.trim().to_owned(), baud: LINE_BAUD },
            child: Some(child),
            elf: Some(folder.join("firmware.elf")),
        };
        let port = port.trim().to_owned();
        Ok((board, port))
    }

    /// Starts a board that QEMU emulates, which connects to us.
    fn emulated(emulated: &Emulated, notes: &dyn Notes) -> Result<Self, FpgaError> {
        let repository = Repository::find()?;
        let elf = repository.products(emulated.board).join("firmware.elf");
        if !elf.is_file() {
            notes.note("the board's firmware is built now");
            repository.chore(emulated.chore)?;
        }
        let (listener, port) = listener(emulated.name)?;
        let mut command = Command::new(emulated.program);
        command.args(emulated.machine).args(["-display", "none", "-monitor", "none"]);
        // Without `nodelay` an answer waits for another one to go with.
        let socket = format!("socket,id=line,host=127.0.0.1,port={port},server=off,nodelay=on");
        command.args(["-chardev", &socket, "-serial", "chardev:line", "-kernel"]).arg(&elf);
        let help = "`cargo xtask setup` installs QEMU";
        let child = Child::start(emulated.name, &mut command, help)?;
        let (name, reach) = (emulated.name.to_owned(), Reach::Listener(listener));
        Ok(Self { name, reach, child: Some(child), elf: Some(elf) })
    }

    /// The application in a thread of this process.
    fn host() -> Result<Self, FpgaError> {
        const NAME: &str = "the board in this process";
        let (listener, port) = listener(NAME)?;
        super::host_board::start(port).map_err(|error| FpgaError::Start {
            program: NAME.to_owned(),
            reason: error.to_string(),
            help: "",
        })?;
        Ok(Self { name: NAME.to_owned(), reach: Reach::Listener(listener), child: None, elf: None })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The firmware that runs there, if it is known.
    pub fn elf(&self) -> Option<&PathBuf> {
        self.elf.as_ref()
    }

    /// Whether it was started here, so that its end is seen.
    pub fn is_ours(&self) -> bool {
        self.child.is_some()
    }

    /// What the line to it carries, in bits a second; 0 if it is no serial line.
    pub(super) fn line_baud(&self) -> u32 {
        match &self.reach {
            Reach::Port { port, baud } if port::is_serial(port) => *baud,
            Reach::Port { .. } | Reach::Listener(_) => 0,
        }
    }

    /// Whether a lost line may be reopened.
    pub fn reconnects(&self) -> bool {
        matches!(self.reach, Reach::Port { .. })
    }

    /// A line to it.
    pub(super) fn connect(&mut self) -> Result<Box<dyn Line>, FpgaError> {
        let mut watch = Watch::new();
        loop {
            interrupt::check()?;
            let lost = |error: &io::Error| FpgaError::Lost {
                board: self.name.clone(),
                reason: error.to_string(),
            };
            let error = match &self.reach {
                Reach::Port { port, baud } => match port::open(port, *baud) {
                    Ok(line) => return Ok(line),
                    Err(error) => error,
                },
                Reach::Listener(listener) => match listener.accept() {
                    Ok((stream, _)) => {
                        let line = stream.set_nonblocking(false).and_then(|()| Tcp::new(stream));
                        return line.map(|line| Box::new(line) as _).map_err(|error| lost(&error));
                    }
                    Err(error) => lost(&error),
                },
            };
            if let Some(ended) = self.child.as_mut().and_then(Child::ended) {
                return Err(ended);
            }
            if self.reconnects() || watch.passed() > START {
                return Err(error);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// How its program ended, if it did.
    pub(super) fn ended(&mut self) -> Option<FpgaError> {
        let child = self.child.as_mut()?;
        let mut watch = Watch::new();
        loop {
            if let Some(error) = child.ended() {
                return Some(error);
            }
            if watch.passed() > END {
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until its program ends.
    ///
    /// # Errors
    ///
    /// It ended, or Ctrl-C came.
    pub fn wait(&mut self) -> FpgaError {
        loop {
            if let Err(error) = interrupt::check() {
                return error;
            }
            if let Some(error) = self.child.as_mut().and_then(Child::ended) {
                return error;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Where the simulated board listens.
#[derive(Clone, Copy, Debug)]
pub enum Listen {
    /// On a port of this machine; 0 for a free one.
    Tcp(u16),
    /// On a pseudo-terminal.
    Pty,
}

/// A board that QEMU emulates.
struct Emulated {
    name: &'static str,
    /// Its folder in the repository and among the products.
    board: &'static str,
    /// What builds its firmware.
    chore: &'static [&'static str],
    program: &'static str,
    machine: &'static [&'static str],
}

const QEMU_RISCV: Emulated = Emulated {
    name: "the board `qemu-riscv`",
    board: "qemu-riscv",
    chore: &["qemu"],
    program: "qemu-system-riscv32",
    machine: &["-M", "virt", "-bios", "none"],
};

const QEMU_CORTEX_M: Emulated = Emulated {
    name: "the board `qemu-cortex-m`",
    board: "qemu-cortex-m",
    chore: &["qemu"],
    program: "qemu-system-arm",
    machine: &["-M", "mps2-an385"],
};

/// A free port of this machine that is listened on, without waiting.
fn listener(board: &str) -> Result<(TcpListener, u16), FpgaError> {
    let bind = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    bind().map_err(|error: io::Error| FpgaError::Port {
        port: format!("127.0.0.1 for {board}"),
        reason: error.to_string(),
    })
}
