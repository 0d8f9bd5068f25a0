//! Array files: elements of buffers in `.npy` and `.npz` files of NumPy, in CSV and in raw files.
//!
//! Models: arrays of numbers, slowest index first, as they lie in a kernel's memory.
//! Does not model: what a buffer cannot hold: structured and complex elements, texts, pickled
//! objects; arrays in Fortran order, whose elements lie elsewhere than a kernel's indices say.
//!
//! Every size that a file claims is compared with the file and with a limit before memory is
//! allocated for it.
//!
//! Sources: NumPy, "NEP 1: A simple file format for NumPy arrays"; RFC 4180 for CSV.

mod array;
mod csv_table;
mod npy;
mod npz;
mod problem;
mod write;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use strata_core::named;

use super::element::ElementType;
use array::read_all;

pub use array::Array;
pub use csv_table::Column;
pub use problem::{ArrayFileError, ArrayProblem};
pub use write::{NPY, PLAIN, write};

named! {
    /// Format of an array file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// One array, as `numpy.save` writes it.
        Npy = "npy",
        /// Named arrays, as `numpy.savez` writes them.
        Npz = "npz",
        /// Numbers separated by commas, one row a line.
        Csv = "csv",
        /// Elements one after the other, little endian, nothing else.
        Raw = "raw",
    }
}

impl Format {
    /// The format that a file's ending says.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        if matches!(ending.as_str(), "bin" | "dat") {
            return Some(Self::Raw);
        }
        Self::ALL.iter().copied().find(|format| format.name() == ending)
    }
}

/// What is read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayFile {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub format: Format,
    /// Of an `.npz` file: the array; it may be left out where there is one only.
    pub member: Option<String>,
    /// Of a CSV file: the column; all of them without it.
    pub column: Option<Column>,
    /// Whether a CSV file's first line has names. It has, if the column is named.
    pub header: bool,
}

impl ArrayFile {
    /// The file at `path`, of the format that its ending says; all of it.
    pub fn of_path(path: PathBuf) -> Option<Self> {
        let format = Format::of_path(&path)?;
        Some(Self { path, format, member: None, column: None, header: false })
    }

    /// Reads the array of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is malformed, holds other elements than `element`s, or too many.
    pub fn read(&self, element: ElementType, limit: u64) -> Result<Array, ArrayFileError> {
        let array = self.read_from(self.open()?, element, limit);
        array.map_err(|problem| ArrayFileError { path: self.path.clone(), problem })
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// No file that can be read.
    pub fn open(&self) -> Result<File, ArrayFileError> {
        let file = File::open(&self.path).and_then(|file| {
            let is_folder = file.metadata()?.is_dir();
            if is_folder { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
        });
        file.map_err(|error| ArrayFileError { path: self.path.clone(), problem: error.into() })
    }

    /// Reads the array of at most `limit` bytes from a file that is open.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is malformed, holds other elements than `element`s, or too many.
    pub fn read_from(
        &self,
        file: impl Read + Seek,
        element: ElementType,
        limit: u64,
    ) -> Result<Array, ArrayProblem> {
        match self.format {
            Format::Npy => npy::read(file, element, limit),
            Format::Npz => npz::read(file, self.member.as_deref(), element, limit),
            Format::Csv => {
                csv_table::read(file, (self.column.as_ref(), self.header), element, limit)
            }
            Format::Raw => raw(file, element, limit),
        }
    }
}

fn raw(file: impl Read, element: ElementType, limit: u64) -> Result<Array, ArrayProblem> {
    let bytes = read_all(file, limit)?;
    let (found, size) = (bytes.len() as u64, element.bytes());
    if found.is_multiple_of(size) {
        Ok(Array { shape: vec![found / size], bytes })
    } else {
        Err(ArrayProblem::Fraction { found, size })
    }
}

#[cfg(test)]
mod tests;
