//! What can be wrong with an array file.

use std::io;
use std::path::PathBuf;

use strata_ptx::diagnostic::counted;

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
        /// The name as asked for.
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
