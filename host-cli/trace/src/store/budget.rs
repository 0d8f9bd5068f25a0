//! Budget: how much of a recording a command may go through.

use super::{StoreProblem, Stored};

/// Warp instructions that may still be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    /// The budget of all launches together. Unit: warp instructions.
    pub fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes off what a launch executed.
    ///
    /// # Errors
    /// When that is more than is left.
    pub fn spend(&mut self, launch: &Stored) -> Result<(), StoreProblem> {
        let left = self.left.checked_sub(launch.warp_instructions());
        let (kernel, limit) = (&launch.header.name, self.limit);
        self.left = left.ok_or_else(|| StoreProblem::Budget { kernel: kernel.clone(), limit })?;
        Ok(())
    }
}
