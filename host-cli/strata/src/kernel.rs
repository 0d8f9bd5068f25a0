//! Kernel: one kernel of a PTX text.

use strata_measure::notes::Kept;

use crate::call::CallKernel;
use crate::{Error, Note};

/// What a PTX text without a file is called in messages.
const FILE: &str = "PTX";

/// A kernel of a PTX text, which a [`crate::Launch`] gives arguments.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) called: CallKernel,
    notes: Vec<Note>,
}

impl Kernel {
    /// The only kernel of a PTX text.
    ///
    /// # Errors
    /// Everything that is wrong with the PTX, with its line and column; no kernel, or several.
    pub fn new(ptx: &str) -> Result<Self, Error> {
        Self::of(ptx, None)
    }

    /// The kernel of a PTX text that has this name, as the PTX has it or as C++ writes it.
    ///
    /// # Errors
    /// Everything that is wrong with the PTX, with its line and column; no such kernel.
    pub fn named(ptx: &str, name: &str) -> Result<Self, Error> {
        Self::of(ptx, Some(name))
    }

    fn of(ptx: &str, name: Option<&str>) -> Result<Self, Error> {
        let notes = Kept::default();
        let called = CallKernel::new(FILE, ptx, name, &notes)?;
        Ok(Self { called, notes: notes.take() })
    }

    /// Its name in the PTX.
    pub fn name(&self) -> &str {
        self.called.name()
    }

    /// Its parameters: each one's name, and its type in PTX's spelling.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, String)> {
        self.called.parameters()
    }

    /// What is remarkable about the PTX.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}
