//! Running other programs from the repository's root.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::machine;

/// Why a program did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub String);

/// A program, to be run from the root and without input.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(machine::root()).stdin(Stdio::null());
    // These describe the run of this program, not of the next one.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH"] {
        command.env_remove(name);
    }
    command
}

/// The cargo on the search path. What it resolves is what `Cargo.lock` says.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command("cargo");
    cargo.args(arguments);
    cargo
}

/// A program of another toolchain than the one that runs this program.
pub(crate) fn foreign(program: &str) -> Command {
    let mut command = command(program);
    for name in [
        "CARGO",
        "CARGO_ENCODED_RUSTFLAGS",
        "LD_LIBRARY_PATH",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ] {
        command.env_remove(name);
    }
    command
}

/// How a command would be typed.
pub(crate) fn spelled(command: &Command) -> String {
    let environment = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    environment
        .chain(words.map(|word| word.to_string_lossy().into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Shows and runs a command whose output goes to the terminal.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    announce(command);
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    check(command, status)
}

/// Shows and runs a command, and gives back what it wrote: standard output, then standard error.
pub(crate) fn capture(command: &mut Command) -> Result<(ExitStatus, String), Failure> {
    announce(command);
    silently(command)
}

/// Runs a command that users do not type, and gives back what it wrote, like [`capture`].
pub(crate) fn silently(command: &mut Command) -> Result<(ExitStatus, String), Failure> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status, text))
}

/// Shows and runs a command that has to succeed, and gives back its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    announce(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| cannot_start(command, &error))?;
    check(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Shows and runs a command that has to end in time, and gives back its standard output and how it
/// ended. One that does not is killed.
pub(crate) fn within(
    limit: Duration,
    command: &mut Command,
) -> Result<(ExitStatus, String), Failure> {
    announce(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(command, &error))?;
    let mut pipe = child.stdout.take();
    // Read beside the wait: a full pipe would keep the child from ending.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is as good as it gets.
        let _ = pipe.as_mut().map(|pipe| pipe.read_to_end(&mut bytes));
        bytes
    });
    let end = Instant::now() + limit;
    let status = loop {
        let ended = child.try_wait().map_err(|error| cannot_start(command, &error))?;
        if ended.is_some() || Instant::now() >= end {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if status.is_none() {
        // It may have ended just now.
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    let Some(status) = status else {
        let (command, seconds) = (spelled(command), limit.as_secs());
        return Err(Failure(format!("`{command}` ran for {seconds} s and printed:\n{text}")));
    };
    Ok((status, text))
}

/// Shows and runs a command, and hands each line of its standard output to `line` as it is
/// printed.
pub(crate) fn watch(
    command: &mut Command,
    mut line: impl FnMut(&str),
) -> Result<ExitStatus, Failure> {
    announce(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(command, &error))?;
    if let Some(output) = child.stdout.take() {
        for text in BufReader::new(output).split(b'\n') {
            let text = text.map_err(|error| cannot_start(command, &error))?;
            let text = String::from_utf8_lossy(&text);
            println!("{text}");
            line(&text);
        }
    }
    child.wait().map_err(|error| cannot_start(command, &error))
}

/// A command's failure as a sentence.
pub(crate) fn check(command: &Command, status: ExitStatus) -> Result<(), Failure> {
    if status.success() {
        Ok(())
    } else {
        Err(Failure(format!("`{}` ended with {status}", spelled(command))))
    }
}

pub(crate) fn announce(command: &Command) {
    println!("$ {}", spelled(command));
    // What the child prints must come after.
    let _ = std::io::stdout().flush();
}

pub(crate) fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    let program = Path::new(command.get_program()).display().to_string();
    Failure(format!("`{program}` could not be run: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_a_failure_that_names_it() {
        let Failure(message) = run(&mut command("false")).expect_err("false fails");
        assert!(message.starts_with("`false` ended with"), "{message}");
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure_that_names_it() {
        let Failure(message) = run(&mut command("strata-no-such-program")).expect_err("absent");
        assert!(message.starts_with("`strata-no-such-program` could not be run"), "{message}");
    }

    #[test]
    fn lines_are_handed_over_in_order() {
        let mut lines = Vec::new();
        let status =
            watch(command("printf").arg("one\\ntwo\\n"), |line| lines.push(line.to_owned()));
        assert!(status.expect("printf runs").success());
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn output_is_what_a_program_that_succeeds_prints() {
        assert_eq!(output(command("printf").arg("one")).as_deref(), Ok("one"));
        assert!(output(&mut command("false")).is_err());
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_and_what_it_printed_is_shown() {
        let minute = Duration::from_mins(1);
        let (status, text) = within(minute, command("printf").arg("one")).expect("it ends");
        assert!(status.success());
        assert_eq!(text, "one");
        let mut endless = command("bash");
        endless.args(["-c", "echo begun; exec sleep 600"]);
        let Failure(why) = within(Duration::from_secs(1), &mut endless).expect_err("endless");
        assert!(why.ends_with("ran for 1 s and printed:\nbegun\n"), "{why}");
    }

    #[test]
    fn a_command_is_spelled_with_what_was_set_for_it() {
        let mut command = foreign("/usr/bin/cargo");
        command.env("RUSTC", "/usr/bin/rustc").arg("build");
        assert_eq!(spelled(&command), "RUSTC=/usr/bin/rustc /usr/bin/cargo build");
    }
}
