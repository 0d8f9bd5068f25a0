//! Work for the simulated board, from which the compiler of its simulator learns what runs often.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use strata_link::Settings;
use strata_link::message::{Bench, FIRMWARE, PrototypeLink, Reply, Request};

use crate::process::Failure;

/// How long the board may take for all of it: a second or two where nothing else runs.
const LIMIT: Duration = Duration::from_mins(5);

/// How long one look for bytes waits.
const TURN: Duration = Duration::from_millis(20);

/// Accesses of a bench: three batches.
const ACCESSES: u32 = 384;

/// What the benches run: a cache of 6 entries; and a write pool of 60, writes of 3 cycles, split
/// bank write. 16 registers a warp.
const SETTINGS: [u32; 2] = [16 << 17 | 1 << 7 | 6, 16 << 17 | 60 << 11 | 3 << 7 | 1 << 6];

/// Runs the simulator until the board has answered, and lets it end normally, so that it writes its
/// counts.
pub(crate) fn run(simulator: &Path, firmware: &Path) -> Result<(), Failure> {
    let mut board = Command::new(simulator)
        .arg("--firmware")
        .arg(firmware)
        .args(["--tcp", "0", "--watch-stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| trouble(&format!("cannot start: {error}")))?;
    let worked = connect(&mut board).and_then(work);
    // The end of its input ends it.
    drop(board.stdin.take());
    if worked.is_err() {
        // It may have ended by itself already.
        let _ = board.kill();
    }
    let status = board.wait().map_err(|error| trouble(&error.to_string()))?;
    worked?;
    if status.success() { Ok(()) } else { Err(trouble(&format!("ended with {status}"))) }
}

fn trouble(what: &str) -> Failure {
    Failure(format!("the simulated board that is to be measured: {what}"))
}

fn connect(board: &mut Child) -> Result<TcpStream, Failure> {
    let mut line = String::new();
    if let Some(output) = board.stdout.take() {
        BufReader::new(output).read_line(&mut line).map_err(|error| trouble(&error.to_string()))?;
    }
    let address = line
        .trim_end()
        .strip_prefix("listening ")
        .ok_or_else(|| trouble("it does not say where it listens"))?;
    let stream = TcpStream::connect(address)
        .and_then(|stream| stream.set_read_timeout(Some(TURN)).map(|()| stream))
        .map_err(|error| trouble(&format!("{address}: {error}")))?;
    Ok(stream)
}

/// Asks for the benches, one after the other.
fn work(mut stream: TcpStream) -> Result<(), Failure> {
    let start = Instant::now();
    let mut settings = Settings::new(FIRMWARE, 1);
    // The board's time is slower than ours.
    settings.answer_ms = 2_000;
    let mut link = PrototypeLink::new(settings, 0);
    for settings in SETTINGS {
        let bench = Bench::Compared { settings, accesses: ACCESSES };
        let mut is_sent = false;
        let reply: Reply = loop {
            if start.elapsed() > LIMIT {
                return Err(trouble("it does not answer"));
            }
            is_sent = is_sent || link.send(&Request::Bench(bench)).is_ok();
            turn(&mut link, &mut stream, start)?;
            if let Some(message) = link.take() {
                break message.decode().map_err(|_| trouble("it speaks another protocol"))?;
            }
        };
        if !matches!(reply, Reply::Bench { .. }) {
            return Err(trouble(&format!("it answers {reply:?}")));
        }
    }
    Ok(())
}

/// Moves bytes once, and waits a short time for some.
fn turn(link: &mut PrototypeLink, stream: &mut TcpStream, start: Instant) -> Result<(), Failure> {
    let now_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    link.poll(now_ms).map_err(|error| trouble(&error.to_string()))?;
    while !link.to_send().is_empty() {
        let count = stream.write(link.to_send()).map_err(|error| trouble(&error.to_string()))?;
        link.sent(count);
    }
    let mut bytes = [0; 4096];
    match stream.read(&mut bytes) {
        Ok(0) => Err(trouble("it went away")),
        Ok(count) => {
            link.received(&bytes[..count], |_| {});
            Ok(())
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
        Err(error) => Err(trouble(&error.to_string())),
    }
}
