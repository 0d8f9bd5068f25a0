//! Runs tests of the workspace by Rust's test runner, and counts them.

use std::process::Command;

use crate::process::{self, Failure};
use crate::stages::{Outcome, Totals};

/// One test program of the workspace, whose packages are named as the command `test` names them:
/// features depend on which are, and with others the workspace would be built again.
pub(crate) fn one_test(name: &str) -> Command {
    process::cargo(&["test", "--locked", "--workspace", "--test", name])
}

/// Runs tests of Rust's test runner, and counts them.
pub(crate) fn run_tests(mut cargo: Command) -> (Outcome, Totals) {
    let mut totals = Totals::default();
    let status = process::watch(&mut cargo, |line| {
        if let Some(counts) = Totals::of_runner_line(line) {
            totals.add(counts);
        }
    });
    let result = status.and_then(|status| process::check(&cargo, status));
    judge_tests(result, totals)
}

/// A run without a test, and one that failed without a failed test (it did not build), fail too.
fn judge_tests(result: Result<(), Failure>, mut totals: Totals) -> (Outcome, Totals) {
    let outcome = match result {
        Err(Failure(why)) => Outcome::Failed(why),
        Ok(()) if totals.passed == 0 => Outcome::Failed("no test ran".to_owned()),
        Ok(()) if totals.failed > 0 => Outcome::Failed("the runner hid a failed test".to_owned()),
        Ok(()) => Outcome::Passed,
    };
    if outcome != Outcome::Passed && totals.failed == 0 {
        totals.failed = 1;
    }
    (outcome, totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(passed: u64) -> Totals {
        Totals { passed, ..Totals::default() }
    }

    #[test]
    fn a_run_without_a_test_fails() {
        let (outcome, totals) = judge_tests(Ok(()), passed(0));
        assert_eq!(outcome, Outcome::Failed("no test ran".to_owned()));
        assert_eq!(totals.failed, 1);
    }

    #[test]
    fn a_build_that_fails_counts_as_a_failed_test() {
        let (outcome, totals) = judge_tests(Err(Failure("no".to_owned())), passed(3));
        assert_eq!(outcome, Outcome::Failed("no".to_owned()));
        assert_eq!(totals, Totals { passed: 3, failed: 1, skipped: 0 });
    }

    #[test]
    fn failed_tests_are_counted_once() {
        let counted = Totals { passed: 3, failed: 2, skipped: 0 };
        assert_eq!(judge_tests(Err(Failure("101".to_owned())), counted).1, counted);
    }

    #[test]
    fn a_run_that_holds_passes() {
        assert_eq!(judge_tests(Ok(()), passed(3)), (Outcome::Passed, passed(3)));
    }
}
