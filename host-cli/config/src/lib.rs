//! Configuration: values with units, errors that say where and how to fix it, embedded data files.

#![forbid(unsafe_code)]

pub mod by_name;
mod dates;
pub mod error;
pub mod mistake;
pub mod name;
pub mod place;
pub mod quantity;
pub mod recovery;
pub mod strict;
pub mod suggest;

pub use error::ConfigError;
pub use mistake::Mistake;
