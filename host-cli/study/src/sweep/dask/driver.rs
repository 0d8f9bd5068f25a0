//! Driver: the program in Python that talks to a cluster, as a process of ours.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::json;
use strata_core::MODEL_VERSION;

use super::cluster::Cluster;
use crate::sweep::SCHEMA;
use crate::sweep::key::Digest;
use strata_files::failure::Failure;
use strata_report::tool;

/// The program, which needs nothing but Python and Dask.
const PROGRAM: &str = include_str!("driver.py");

/// How long the driver has to take leave of its cluster.
const FAREWELL: Duration = Duration::from_secs(20);
/// Lines of what it said that are shown when it ended by itself.
const SHOWN: usize = 8;

/// What the driver tells.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(super) enum Event {
    /// The cluster is there, and can run so many batches at a time.
    Ready { threads: usize },
    /// Now it can run so many.
    Threads { threads: usize },
    /// The rows of a batch, behind the message.
    Done { batch: u64, length: usize },
    /// The workers that had it ended, again and again.
    Lost { batch: u64, why: String },
    /// It did not run.
    Returned { batch: u64 },
    /// A worker cannot run batches of this sweep.
    Refused { why: String },
    /// There is no cluster, or no longer.
    Failed { why: String, hint: String },
}

/// What came of waiting.
pub(super) enum Heard {
    /// A message, and what came behind it.
    Message(Event, Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// The driver ended, which it does not do by itself.
    Ended(Failure),
}

/// The process.
pub(super) struct Driver {
    child: Child,
    /// Its end tells the process to end.
    input: Option<ChildStdin>,
    messages: Receiver<(Event, Vec<u8>)>,
    /// What it says beside its messages.
    said: Option<JoinHandle<String>>,
    python: String,
}

impl Driver {
    /// Starts it. The files, by their names on the workers, go to each worker with the program.
    pub(super) fn start(
        cluster: &Cluster,
        files: &BTreeMap<String, PathBuf>,
    ) -> Result<Self, Failure> {
        let own = std::env::current_exe().map_err(|error| {
            Failure::input(format!("cannot find this program's file: {error}"))
                .hint("name the one on the workers: `--worker-strata PATH`")
        })?;
        // The workers of a cluster on this machine see this program.
        let (program, upload) = match (&cluster.program, &cluster.address) {
            (Some(program), _) => (Some(program.as_path()), None),
            (None, None) => (Some(own.as_path()), None),
            (None, Some(_)) => (None, Some(own.as_path())),
        };
        // The package on a worker reads no file by a relative name.
        let package = cluster.program.is_none() && files.is_empty();
        let package = package.then(|| (tool().version, SCHEMA, MODEL_VERSION));
        let config = json!({
            "address": cluster.address.as_ref().map(|address| format!("tcp://{address}")),
            "workers": cluster.workers,
            "name": name(),
            "program": program,
            "upload": upload,
            "files": files,
            "package": package,
        });
        let mut command = Command::new(&cluster.python);
        command.args(["-c", PROGRAM]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is ours: what the workers run is to be finished.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let python = Path::new(&cluster.python).display().to_string();
        let mut child = command.spawn().map_err(|error| {
            Failure::input(format!("cannot start `{python}`: {error}")).hint(
                "the engine `dask` needs a Python with Dask (`pip install dask distributed`): \
                 name it with `--python` or `STRATA_PYTHON`",
            )
        })?;
        let (sender, messages) = channel();
        if let Some(output) = child.stdout.take() {
            let mut output = BufReader::new(output);
            std::thread::spawn(move || {
                while let Some(message) = message(&mut output) {
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        let said = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                // What was read before an error is as good as it gets.
                let _ = errors.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        let input = child.stdin.take();
        let mut driver = Self { child, input, messages, said, python };
        driver.write(format!("{config}\n").as_bytes())?;
        Ok(driver)
    }

    /// Waits so long for a message.
    pub(super) fn hear(&mut self, most: Duration) -> Heard {
        match self.messages.recv_timeout(most) {
            Ok((event, body)) => Heard::Message(event, body),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Ended(self.ended()),
        }
    }

    /// Hands out a batch, by its number and its text.
    pub(super) fn send(&mut self, batch: u64, text: &str) -> Result<(), Failure> {
        let header = json!({ "batch": batch, "length": text.len() });
        self.write(format!("{header}\n{text}").as_bytes())
    }

    /// Asks for what does not run yet.
    pub(super) fn stop(&mut self) -> Result<(), Failure> {
        self.write(b"{\"stop\": true}\n")
    }

    /// To a driver that has ended nothing is written; [`Self::hear`] says that it ended, after
    /// what it told before.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(input) = &mut self.input else { return Ok(()) };
        match input.write_all(bytes).and_then(|()| input.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::input(format!("cannot write to `{}`: {error}", self.python)))
            }
            _ => Ok(()),
        }
    }

    /// Ends it, and waits until it has left its cluster.
    pub(super) fn end(mut self) {
        self.leave();
    }

    fn leave(&mut self) {
        drop(self.input.take());
        let deadline = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        // It may have ended just now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn ended(&mut self) -> Failure {
        self.leave();
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        let lines: Vec<_> = said.trim_end().lines().collect();
        let last = &lines[lines.len().saturating_sub(SHOWN)..];
        let last = [&["ended by itself"], last].concat().join("\n  ");
        Failure::input(format!(
            "the driver of the cluster, which `{}` runs, {last}",
            self.python
        ))
        .hint("what is done is kept, and the same command goes on; Python 3.10 or newer is needed")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A name that no other sweep has, not even one that runs at the same time.
fn name() -> String {
    let mut digest = Digest::default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    digest.text(&format!("{} {}", std::process::id(), now.as_nanos()));
    format!("strata-sweep-{}", digest.key())
}

/// The next message; none at the end, or if it is none.
fn message(from: &mut impl BufRead) -> Option<(Event, Vec<u8>)> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let event: Event = serde_json::from_str(&line).ok()?;
    let mut body = Vec::new();
    if let Event::Done { length, .. } = &event {
        from.take(*length as u64).read_to_end(&mut body).ok()?;
        if body.len() != *length {
            return None;
        }
    }
    Some((event, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_with_what_comes_behind_them() {
        let text = "{\"event\": \"ready\", \"threads\": 2}\n\
                    {\"event\": \"done\", \"batch\": 7, \"length\": 3}\na\nb\
                    {\"event\": \"lost\", \"batch\": 8, \"why\": \"x\"}\n\
                    {\"event\": \"done\", \"batch\": 7, \"length\": 3}\nab";
        let mut from = text.as_bytes();
        assert!(matches!(message(&mut from), Some((Event::Ready { threads: 2 }, _))));
        let (event, body) = message(&mut from).unwrap();
        assert!(matches!(event, Event::Done { batch: 7, .. }) && body == b"a\nb");
        assert!(matches!(message(&mut from), Some((Event::Lost { batch: 8, .. }, _))));
        assert!(message(&mut from).is_none(), "it is cut off");
    }

    #[test]
    fn names_differ() {
        assert_ne!(name(), name());
    }
}
