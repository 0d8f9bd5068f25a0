//! Child: a program that is a board, and that ends with what started it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::error::FpgaError;
use crate::interrupt;
use crate::watch::Watch;

/// Lines of what it says that are kept for errors.
const LINES: usize = 5;

/// The last lines that a program said.
type Tail = Arc<Mutex<VecDeque<String>>>;

/// A program that runs. Ended when dropped.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    lines: Receiver<String>,
    said: Tail,
}

impl Child {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// It cannot be started; `help` says how to get it.
    pub fn start(name: &str, command: &mut Command, help: &'static str) -> Result<Self, FpgaError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| FpgaError::Start {
            program: command.get_program().to_string_lossy().into_owned(),
            reason: error.to_string(),
            help,
        })?;
        let said = Tail::default();
        let (to, lines) = channel();
        if let Some(output) = process.stdout.take() {
            // A board whose output is not read any more may go on talking.
            read(output, said.clone(), move |line| drop(to.send(line)));
        }
        if let Some(errors) = process.stderr.take() {
            read(errors, said.clone(), |_| {});
        }
        Ok(Self { name: name.to_owned(), process, lines, said })
    }

    /// The first line that it prints.
    ///
    /// # Errors
    ///
    /// It ends before, or prints none in time.
    pub fn first_line(&mut self, patience: Duration) -> Result<String, FpgaError> {
        let mut watch = Watch::new();
        loop {
            interrupt::check()?;
            match self.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(20)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(error) = self.ended() {
                return Err(error);
            }
            if watch.passed() > patience {
                let said = "nothing in 5 s".to_owned();
                return Err(FpgaError::Mute { board: self.name.clone(), said });
            }
        }
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<FpgaError> {
        let status = match self.process.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        // What it said last may still be on its way.
        thread::sleep(Duration::from_millis(20));
        let mut output = String::new();
        if let Ok(said) = self.said.lock() {
            for line in said.iter() {
                let _ = write!(output, "\n  {line}");
            }
        }
        Some(FpgaError::Ended { board: self.name.clone(), status, output })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It has nothing to lose; if it is gone already there is nothing to do.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Reads lines in a thread of their own, so that nothing waits for room.
fn read(from: impl Read + Send + 'static, said: Tail, each: impl Fn(String) + Send + 'static) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if let Ok(mut said) = said.lock() {
                said.push_back(line.clone());
                if said.len() > LINES {
                    said.pop_front();
                }
            }
            each(line);
        }
    });
}
