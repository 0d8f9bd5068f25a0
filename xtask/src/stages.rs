//! Stages of a long check: each is timed, and all of them together give one closing line.

use std::time::Instant;

use crate::machine;
use crate::process::Failure;
use crate::status::Status;

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It held.
    Passed,
    /// It did not, and why.
    Failed(String),
    /// It could not run on this machine, and why.
    Skipped(String),
}

impl From<Result<(), Failure>> for Outcome {
    fn from(result: Result<(), Failure>) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(Failure(why)) => Self::Failed(why),
        }
    }
}

/// What a machine lacks is skipped with its reason; but continuous integration has to have it all.
pub(crate) fn lacking(why: String) -> Outcome {
    if machine::is_ci() { Outcome::Failed(why) } else { Outcome::Skipped(why) }
}

/// Tests by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Held.
    pub(crate) passed: u64,
    /// Did not hold.
    pub(crate) failed: u64,
    /// Did not run.
    pub(crate) skipped: u64,
}

impl Totals {
    /// Adds the other's tests.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Reads a closing line of Rust's test runner:
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; ...`.
    pub(crate) fn of_runner_line(line: &str) -> Option<Self> {
        let (_, counts) = line.trim_start().strip_prefix("test result: ")?.split_once(". ")?;
        let mut totals = Self::default();
        for part in counts.split(';') {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => totals.passed = number,
                "failed" => totals.failed = number,
                "ignored" => totals.skipped = number,
                _ => {}
            }
        }
        Some(totals)
    }
}

/// A stage that has ended.
#[derive(Clone, Debug)]
struct Ended {
    name: String,
    seconds: f64,
    outcome: Outcome,
}

/// All stages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages {
    ended: Vec<Ended>,
    totals: Totals,
}

impl Stages {
    /// Runs a stage that counts as one test.
    pub(crate) fn one(&mut self, name: &str, body: impl FnOnce() -> Outcome) {
        self.stage(name, || {
            let outcome = body();
            let totals = match outcome {
                Outcome::Passed => Totals { passed: 1, ..Totals::default() },
                Outcome::Failed(_) => Totals { failed: 1, ..Totals::default() },
                Outcome::Skipped(_) => Totals { skipped: 1, ..Totals::default() },
            };
            (outcome, totals)
        });
    }

    /// Runs a stage that counts its own tests.
    pub(crate) fn stage(&mut self, name: &str, body: impl FnOnce() -> (Outcome, Totals)) {
        println!("\n== {name}");
        let start = Instant::now();
        let (outcome, totals) = body();
        let seconds = start.elapsed().as_secs_f64();
        match &outcome {
            Outcome::Passed => println!("-- {name}: passed in {seconds:.1} s"),
            Outcome::Failed(why) => println!("-- {name}: FAILED in {seconds:.1} s: {why}"),
            Outcome::Skipped(why) => println!("-- {name}: skipped: {why}"),
        }
        self.totals.add(totals);
        self.ended.push(Ended { name: name.to_owned(), seconds, outcome });
    }

    /// True when no stage has failed so far.
    pub(crate) fn all_held(&self) -> bool {
        self.totals.failed == 0
            && !self.ended.iter().any(|stage| matches!(stage.outcome, Outcome::Failed(_)))
    }

    /// The table of stages and the closing line.
    pub(crate) fn summary(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::from("\nstage                                seconds  outcome\n");
        for Ended { name, seconds, outcome } in &self.ended {
            let outcome = match outcome {
                Outcome::Passed => "passed".to_owned(),
                Outcome::Failed(why) => format!("FAILED: {}", first_line(why)),
                Outcome::Skipped(why) => format!("skipped: {}", first_line(why)),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:36} {seconds:7.1}  {outcome}");
        }
        let Totals { passed, failed, skipped } = self.totals;
        let _ = write!(text, "\ntests: {passed} passed, {failed} failed, {skipped} skipped");
        text
    }

    /// Prints the summary, as the last thing that is printed, and says how it all ended.
    pub(crate) fn finish(&self) -> Status {
        println!("{}", self.summary());
        if self.all_held() { Status::Done } else { Status::Failed }
    }
}

/// What fits a row of the table; the rest was printed when the stage ended.
fn first_line(why: &str) -> &str {
    why.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_s_lines_are_read() {
        let line = "test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured; 3 filtered out; \
                    finished in 0.01s";
        assert_eq!(Totals::of_runner_line(line), Some(Totals { passed: 7, failed: 0, skipped: 2 }));
        let line = "test result: FAILED. 1 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(Totals::of_runner_line(line), Some(Totals { passed: 1, failed: 4, skipped: 0 }));
        assert_eq!(Totals::of_runner_line("test stages::tests::x ... ok"), None);
        assert_eq!(Totals::of_runner_line("running 3 tests"), None);
    }

    #[test]
    fn the_summary_closes_with_the_counts() {
        let mut stages = Stages::default();
        stages.one("format", || Outcome::Passed);
        stages
            .stage("cargo test", || (Outcome::Passed, Totals { passed: 5, failed: 0, skipped: 1 }));
        stages.one("gates", || Outcome::Skipped("no valgrind".to_owned()));
        assert!(stages.all_held());
        assert!(stages.summary().ends_with("\ntests: 6 passed, 0 failed, 2 skipped"));
        stages.one("tidy", || Outcome::Failed("2 violations\nmore".to_owned()));
        assert!(!stages.all_held());
        assert!(stages.summary().ends_with("\ntests: 6 passed, 1 failed, 2 skipped"));
        assert!(stages.summary().contains("FAILED: 2 violations\n\ntests: "));
    }

    #[test]
    fn a_stage_that_fails_without_a_failed_test_still_fails_the_whole() {
        let mut stages = Stages::default();
        stages.stage("cargo test", || {
            (Outcome::Failed("does not build".to_owned()), Totals::default())
        });
        assert!(!stages.all_held());
        assert_eq!(stages.finish(), Status::Failed);
    }
}
