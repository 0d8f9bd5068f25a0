//! The simulated board as a program: what it prints, and how it ends.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing that is waited for takes as long.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Where `cargo xtask soc` puts what it builds.
fn products() -> PathBuf {
    let folder = std::env::var_os("STRATA_SOC");
    PathBuf::from(folder.expect("`cargo xtask test` names the folder of the board in STRATA_SOC"))
}

/// The firmware's image.
pub(crate) fn firmware() -> PathBuf {
    products().join("firmware.hex")
}

/// The simulator with some arguments.
pub(crate) fn simulator<A: AsRef<OsStr>>(arguments: &[A]) -> Command {
    let mut command = Command::new(products().join("strata-soc"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs it until it ends without help.
pub(crate) fn ends<A: AsRef<OsStr>>(arguments: &[A]) -> Output {
    simulator(arguments).output().expect("the simulator can be started")
}

/// A board that runs.
pub(crate) struct Board {
    child: Child,
    /// The first line that it printed.
    pub(crate) announcement: String,
    stdin: Option<ChildStdin>,
}

impl Board {
    /// Starts one with the firmware and more arguments.
    pub(crate) fn start(more: &[&str]) -> Self {
        let mut command = simulator(&[Path::new("--firmware"), &firmware()]);
        command.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the simulator can be started");
        let stdin = child.stdin.take();
        let stdout = child.stdout.as_mut().expect("it is piped");
        let mut announcement = String::new();
        BufReader::new(stdout).read_line(&mut announcement).expect("it prints a line");
        Self { child, announcement: announcement.trim_end().to_owned(), stdin }
    }

    /// Connects to its port.
    pub(crate) fn connect(&self) -> TcpStream {
        let address = self.announcement.strip_prefix("listening ").expect("a TCP port");
        let stream = TcpStream::connect(address).expect("the board listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill can be run").success());
    }

    /// Closes its standard input.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end. Returns the exit status, and what it wrote to standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "the simulator does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut text).expect("it writes text");
        (status.code(), text)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
