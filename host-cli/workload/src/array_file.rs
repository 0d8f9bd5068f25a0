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

mod csv_table;
mod npy;
mod npz;
mod write;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use strata_core::named;
use strata_ptx::diagnostic::counted;

use super::element::ElementType;

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

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The one that the first line calls so.
    Name(String),
    /// By number, from 0.
    Index(usize),
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

/// An array that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Sides, slowest first; empty for a single number.
    pub shape: Vec<u64>,
    /// The elements, little endian.
    pub bytes: Vec<u8>,
}

/// Why an array could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct ArrayFileError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub problem: ArrayProblem,
}

/// What is wrong with an array file.
#[derive(Debug, thiserror::Error)]
pub enum ArrayProblem {
    /// What the system says.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// No file of its format, with what is wrong.
    #[error("no {format} file: {because}")]
    Malformed {
        /// `.npy` and so on.
        format: &'static str,
        /// What is wrong.
        because: String,
    },
    /// Elements of another type.
    #[error("its elements are {found}, {expected} are expected")]
    ElementType {
        /// NumPy's name, such as `float64`, or its code.
        found: String,
        /// NumPy's name.
        expected: &'static str,
    },
    /// The fastest index is the first.
    #[error("its elements are in Fortran order")]
    FortranOrder,
    /// A size that the file claims is not what it has.
    #[error("its header promises {} of elements, it has {found}", counted(*promised, "byte"))]
    Length {
        /// Unit: bytes.
        promised: u64,
        /// Unit: bytes.
        found: u64,
    },
    /// More than is allowed.
    #[error("it holds more than the {} left for buffers", counted(*limit, "byte"))]
    TooLarge {
        /// Unit: bytes.
        limit: u64,
    },
    /// A raw file of which the last element is cut.
    #[error("its size of {} is no multiple of the {size} of an element", counted(*found, "byte"))]
    Fraction {
        /// Unit: bytes.
        found: u64,
        /// Unit: bytes.
        size: u64,
    },
    /// Nothing of that name.
    #[error("it has no {what} {name}; it has {known}")]
    Unknown {
        /// `array` or `column`.
        what: &'static str,
        /// As asked for.
        name: String,
        /// The names that it has, in words.
        known: String,
    },
    /// Several arrays, of which none is named.
    #[error("it has several arrays: {known}")]
    SeveralArrays {
        /// Their names.
        known: String,
    },
    /// A field of a CSV file that is no element.
    #[error("line {line}, field {column} (from 0): {because}")]
    Field {
        /// From 1.
        line: u64,
        /// From 0.
        column: usize,
        /// What is wrong.
        because: String,
    },
}

impl ArrayProblem {
    /// How to fix it, in one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Io(_) => "paths are relative to the launch file; name a readable file".to_owned(),
            Self::Malformed { .. } => {
                "check that this is the right file, or say its `format`".to_owned()
            }
            Self::ElementType { expected, .. } => format!(
                "convert it with NumPy's `.astype(\"{expected}\")`, or change the buffer's `type`"
            ),
            Self::FortranOrder => {
                "write it with `numpy.save(file, numpy.ascontiguousarray(array))`".to_owned()
            }
            Self::Length { .. } | Self::Fraction { .. } => {
                "write the file once more: it is cut, or something was added".to_owned()
            }
            Self::TooLarge { .. } => "use smaller arrays".to_owned(),
            Self::Unknown { .. } => "use one of these names".to_owned(),
            Self::SeveralArrays { .. } => "name one: `member = \"NAME\"`".to_owned(),
            Self::Field { .. } => {
                "correct the field; a first line of names needs `header = true`".to_owned()
            }
        }
    }
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
    /// As [`Self::read`].
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

/// Reads what is left, at most `limit` bytes.
fn all(reader: impl Read, limit: u64) -> Result<Vec<u8>, ArrayProblem> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells what is too large.
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ArrayProblem::TooLarge { limit }) } else { Ok(bytes) }
}

fn raw(file: impl Read, element: ElementType, limit: u64) -> Result<Array, ArrayProblem> {
    let bytes = all(file, limit)?;
    let (found, size) = (bytes.len() as u64, element.bytes());
    if found.is_multiple_of(size) {
        Ok(Array { shape: vec![found / size], bytes })
    } else {
        Err(ArrayProblem::Fraction { found, size })
    }
}

#[cfg(test)]
mod tests;
