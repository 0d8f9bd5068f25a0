//! Printer: the one place that prints. Data goes to standard output, everything else to standard
//! error.

use std::io::{ErrorKind, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::config::name;
use crate::failure::{ExitStatus, Failure};

/// The only place that writes to the terminal.
#[derive(Debug)]
pub struct Printer {
    quiet: bool,
}

impl Printer {
    /// `quiet` drops progress and notes, never errors.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Writes a command's result. A reader that closes the pipe early is no error.
    pub fn data(&self, text: &str) -> Result<ExitStatus, Failure> {
        self.part(text).map(|_| ExitStatus::Success)
    }

    /// Writes a part of a result. Returns whether there is still a reader.
    pub fn part(&self, text: &str) -> Result<bool, Failure> {
        let mut stdout = std::io::stdout().lock();
        Self::written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// Writes what the parser of the command line has to say instead of a command: a usage error to
    /// standard error, help to standard output.
    pub fn usage(&self, said: &clap::Error) -> Result<ExitStatus, Failure> {
        if said.use_stderr() {
            // Nothing sensible is left to do when even standard error is gone.
            drop(said.print());
            return Ok(ExitStatus::InputError);
        }
        let written = said.print().and_then(|()| std::io::stdout().flush());
        Self::written(written).map(|_| ExitStatus::Success)
    }

    fn written(written: std::io::Result<()>) -> Result<bool, Failure> {
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::input(format!("cannot write to standard output: {error}"))),
        }
    }

    /// Writes a remark that is not part of the result.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            Self::to_stderr(&format!("note: {text}\n"));
        }
    }

    /// Writes why the command failed.
    pub fn failure(&self, failure: &Failure) {
        Self::to_stderr(&format!("error: {}\n", failure.message()));
    }

    /// A progress bar over `steps` steps, which says how long is left; invisible when quiet or when
    /// standard error is no terminal.
    pub fn progress(&self, steps: u64) -> ProgressBar {
        self.bar(steps, "{pos}/{len} {msg}, {eta} left")
    }

    /// The same for many small steps, with how many there are in a second.
    pub fn progress_with_rate(&self, steps: u64) -> ProgressBar {
        self.bar(steps, "{pos}/{len} {msg}, {per_sec}, {eta} left")
    }

    fn bar(&self, steps: u64, template: &str) -> ProgressBar {
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style)
    }

    /// Messages quote what users and their files wrote.
    fn to_stderr(text: &str) {
        let text = name::shown(text);
        // Nothing sensible is left to do when even standard error is gone.
        drop(std::io::stderr().lock().write_all(text.as_bytes()));
    }
}
