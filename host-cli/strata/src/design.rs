//! Design: a register hierarchy on a machine.

use crate::Error;

/// A register hierarchy on a machine.
#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) inner: strata_design::Design,
}

impl Design {
    /// The built-in design of this name, such as `isca11-rfc6`, or that of a file whose name ends
    /// in `.toml`.
    ///
    /// # Errors
    /// No such design; everything that is wrong with the file.
    pub fn new(name: &str) -> Result<Self, Error> {
        Ok(Self { inner: strata_design::resolve(name)? })
    }

    /// The design that the text of a design file describes. It is called `name` unless the text
    /// says otherwise.
    ///
    /// # Errors
    /// What is wrong with the text, with its line and column in `NAME.toml`.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Error> {
        Ok(Self { inner: strata_design::file::parse(&format!("{name}.toml"), text)? })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }
}
