//! Watch: time in which this process ran.

use std::time::{Duration, Instant};

/// The most time between two looks at a watch that counts. What waits for a board looks every few
/// milliseconds, also on a busy machine: what is longer is a process that was stopped, with Ctrl-Z
/// or for a debugger, or a computer that slept. A board in this process, or one that a terminal
/// stopped beside it, could not answer either.
const LONGEST_STEP: Duration = Duration::from_millis(250);

/// Counts the time in which this process looked at it again and again.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    last: Instant,
    passed: Duration,
}

impl Watch {
    /// A watch at 0.
    pub(super) fn new() -> Self {
        Self { last: Instant::now(), passed: Duration::ZERO }
    }

    /// The time that has passed.
    pub(super) fn passed(&mut self) -> Duration {
        self.passed_at(Instant::now())
    }

    fn passed_at(&mut self, now: Instant) -> Duration {
        self.passed += now.saturating_duration_since(self.last).min(LONGEST_STEP);
        self.last = now;
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_look_is_not_counted() {
        let mut watch = Watch::new();
        let start = watch.last;
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(watch.passed_at(at(5)), Duration::from_millis(5));
        assert_eq!(watch.passed_at(at(255)), Duration::from_millis(255));
        // An hour of standing still is one step.
        assert_eq!(watch.passed_at(at(3_600_255)), Duration::from_millis(505));
        assert_eq!(watch.passed_at(at(3_600_256)), Duration::from_millis(506));
        // A clock that goes back is no time.
        assert_eq!(watch.passed_at(at(0)), Duration::from_millis(506));
        assert_eq!(watch.passed_at(at(1)), Duration::from_millis(507));
    }
}
