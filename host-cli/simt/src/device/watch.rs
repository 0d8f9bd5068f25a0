//! Watch: whether what CTAs see of each other changes.

/// Notices changes once it is armed, and none before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    armed: bool,
    changes: u64,
}

impl Watch {
    /// Notices the next change.
    pub(crate) fn arm(&mut self) {
        self.armed = true;
    }

    /// Whether a change would be noticed. When one has been, others until the next call of
    /// [`Watch::arm`] would tell nothing more.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed
    }

    /// Something changed: a value in global memory, the heap, the text that was printed, or a clock
    /// that was read.
    pub(crate) fn change(&mut self) {
        self.changes += u64::from(self.armed);
        self.armed = false;
    }

    /// Changes noticed so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}
