//! Notes: what is said beside a result, and how far it is.

use std::sync::{Mutex, PoisonError};

use strata_config::name;
use strata_workload::watch::{Within, within};

/// Takes what is said beside a result, and shows how far it is.
pub trait Notes: Sync {
    /// A remark.
    fn note(&self, text: &str);

    /// What is not known of an input, which is used all the same: whole lines.
    fn warning(&self, text: &str);

    /// Begins to show so many small steps, and how many of them there are in a second.
    fn steps(&self, _: u64) -> Box<dyn Steps> {
        Box::new(Silent)
    }

    /// Begins to show so many inputs that run beside each other.
    fn inputs(&self, _: usize) -> Box<dyn Inputs> {
        Box::new(Silent)
    }
}

/// Shows how many steps are done, until it is dropped.
pub trait Steps: Send + Sync {
    /// The steps that follow are of what has this name.
    fn within(&self, name: &str);

    /// One more step is done.
    fn done(&self);
}

/// Shows which inputs run and how many are done, until it is dropped.
pub trait Inputs: Send + Sync {
    /// This thread begins with an input of this name.
    fn begin(&self, name: &str) -> Within;

    /// This thread is done with an input.
    fn end(&self, input: Within);

    /// Does what may write to the terminal.
    fn suspend(&self, writes: &mut dyn FnMut());
}

/// One remark or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A remark.
    Note(String),
    /// What is not known of an input.
    Warning(String),
}

/// Drops everything.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Notes for Silent {
    fn note(&self, _: &str) {}

    fn warning(&self, _: &str) {}
}

impl Steps for Silent {
    fn within(&self, _: &str) {}

    fn done(&self) {}
}

impl Inputs for Silent {
    fn begin(&self, _: &str) -> Within {
        within(None)
    }

    fn end(&self, _: Within) {}

    fn suspend(&self, writes: &mut dyn FnMut()) {
        writes();
    }
}

/// Keeps everything, with control characters escaped.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Vec<Said>>);

impl Kept {
    /// What was said since the last call.
    pub fn take(&self) -> Vec<Said> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, said: Said) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }
}

impl Notes for Kept {
    fn note(&self, text: &str) {
        self.keep(Said::Note(name::shown(text).into_owned()));
    }

    fn warning(&self, text: &str) {
        self.keep(Said::Warning(name::shown(text.trim_end()).into_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_told_once() {
        let kept = Kept::default();
        kept.note("a\u{1b}");
        kept.warning("b\n");
        let said = [Said::Note("a\\u{1b}".to_owned()), Said::Warning("b".to_owned())];
        assert_eq!(kept.take(), said);
        assert!(kept.take().is_empty());
    }
}
