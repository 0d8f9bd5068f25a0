//! Notes: what is said beside a result.

use std::sync::{Mutex, PoisonError};

use crate::config::name;

/// Takes what is said beside a result.
pub trait Notes: Sync {
    /// A remark.
    fn note(&self, text: &str);

    /// What is not known of an input, which is used all the same: whole lines.
    fn warning(&self, text: &str);
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
