//! What can be wrong with a launch file: one value for each mistake.

use std::fmt;

use strata_ptx::diagnostic::counted;

use crate::array_file::ArrayFileError;
use crate::expression::ExpressionError;
use strata_config::name::{self, NameError};
use strata_config::place::Position;

/// A mistake in a launch file, or between a launch file and its PTX.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchFileError {
    /// The launch file, as named by the user or `NAME/launch.toml` of a built-in one.
    pub file: String,
    /// Line and column of the mistake, where one place can be blamed.
    pub position: Option<Position>,
    /// Where in the document, such as `buffer[1].count`; empty for a syntax error.
    pub key: String,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for LaunchFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(position) = self.position {
            write!(formatter, ":{position}")?;
        }
        if !self.key.is_empty() {
            write!(formatter, ": {}", self.key)?;
        }
        write!(formatter, ": {}", self.problem)
    }
}

impl std::error::Error for LaunchFileError {}

impl LaunchFileError {
    /// How to fix it, in one sentence.
    pub fn help(&self) -> String {
        self.problem.help()
    }
}

/// What a name, a parameter and a text are not.
pub(crate) const NO_NAME: &str = "no name";
pub(crate) const NO_PARAMETER: &str = "no name of a parameter";
pub(crate) const NO_TEXT: &str = "no text of one line";

/// What is wrong at a place of a launch file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// No TOML, a missing or unknown field, or a value of the wrong kind.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// What was meant, perhaps; may be empty.
        help: String,
    },
    /// An expression has no value.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// A value outside its range.
    #[error("{what} is {value}; expected {}", range(*low, *high))]
    OutOfRange {
        /// What has the value.
        what: &'static str,
        /// The value.
        value: i64,
        /// Lowest that will do.
        low: i64,
        /// Highest that will do.
        high: i64,
    },
    /// The parameters break a condition that the file states.
    #[error("{what} = `{expression}` is {value} with {parameters}: {because}")]
    Requirement {
        /// `zero` or `positive`.
        what: &'static str,
        /// The expression as written.
        expression: String,
        /// Its value.
        value: i64,
        /// The parameters, in words.
        parameters: String,
        /// The file's reason.
        because: String,
    },
    /// Not exactly one of several fields.
    #[error("expected exactly one of {fields}, found {found}")]
    ExactlyOne {
        /// The fields, in words.
        fields: &'static str,
        /// How many are given.
        found: usize,
    },
    /// A name used twice.
    #[error("{what} `{name}` is defined twice")]
    Duplicate {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that stands for nothing.
    #[error("there is no {what} `{name}`; there are: {known}")]
    UnknownName {
        /// What was looked for.
        what: &'static str,
        /// The name as written.
        name: String,
        /// The names there are, in words.
        known: String,
    },
    /// A name of C++ source that several kernels have.
    #[error("several kernels are `{name}`: {meant}")]
    SeveralKernels {
        /// The name as written.
        name: String,
        /// Those that may be meant, in words.
        meant: String,
    },
    /// A parameter called `i`.
    #[error("`i` is the index of the iteration and cannot be a parameter")]
    ReservedName,
    /// A generator that does not suit the buffer.
    #[error(
        "{generator} cannot fill a buffer of {} of type {element}: {because}",
        counted(*count, "element")
    )]
    Unsuitable {
        /// The generator.
        generator: &'static str,
        /// Elements of the buffer.
        count: u64,
        /// Element type.
        element: &'static str,
        /// Why not.
        because: String,
    },
    /// All buffers together are too large.
    #[error("the buffers need more than {limit} bytes together")]
    TooMuchMemory {
        /// Unit: bytes.
        limit: u64,
    },
    /// A field that only another can replace.
    #[error("missing field `{field}`; without it a {what} needs {instead}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What lacks it.
        what: &'static str,
        /// The others, in words.
        instead: &'static str,
    },
    /// An array file that cannot be read, with how to mend it.
    #[error("{message}")]
    File {
        /// The file, and what is wrong.
        message: String,
        /// How to fix it.
        help: String,
    },
    /// An array of another size.
    #[error("`{path}` has {found} elements, {expected} are expected")]
    FileShape {
        /// The path as written.
        path: String,
        /// Sides of the array, in words.
        found: String,
        /// Sides of the buffer, in words.
        expected: String,
    },
    /// A field that only another format has.
    #[error("`{field}` is for {of} files, this is one in format {format}")]
    FieldOfFormat {
        /// The field.
        field: &'static str,
        /// The format that has it.
        of: &'static str,
        /// The file's.
        format: &'static str,
    },
    /// A launch file that is no file names another.
    #[error("a built-in launch file has no folder in which a file could be")]
    NoFolder,
    /// A variable of the PTX that no elements of the type fill.
    #[error(
        "variable `{name}` has {}, which elements of type {element} do not fill",
        counted(*size, "byte")
    )]
    VariableSize {
        /// The variable.
        name: String,
        /// Unit: bytes.
        size: u64,
        /// Element type.
        element: &'static str,
    },
    /// A buffer that holds less than an image.
    #[error("buffer `{buffer}` has {}, the image has {needed}", counted(*found, "byte"))]
    ImageSize {
        /// The buffer.
        buffer: String,
        /// Unit: bytes.
        found: u64,
        /// Unit: bytes.
        needed: u64,
    },
    /// No buffer is compared with the reference.
    #[error("every compared buffer has its own `expected`, so that nothing uses the reference")]
    UnusedReference,
    /// A structure that cannot be.
    #[error("a structure cannot be aligned to {align} bytes")]
    Alignment {
        /// The alignment as written. Unit: bytes.
        align: u64,
    },
    /// A grid or block without or with too many dimensions.
    #[error("expected 1 to 3 dimensions, found {found}")]
    Dimensions {
        /// How many are given.
        found: usize,
    },
    /// The kernel has another number of parameters.
    #[error(
        "kernel `{kernel}` has {}, the launch gives {}",
        counted(*expected, "parameter"),
        counted(*found, "argument")
    )]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments given.
        found: usize,
    },
    /// The kernel's parameter is of another type.
    #[error("parameter {index} of kernel `{kernel}` is {expected}, the argument is {found}")]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// From 0.
        index: usize,
        /// The parameter's type.
        expected: String,
        /// The argument's type.
        found: String,
    },
    /// A name or a text that nothing can print or refer to.
    #[error("{text:?} is {what}: {why}")]
    Text {
        /// What it should be.
        what: &'static str,
        /// The text as written, shortened.
        text: String,
        /// What is wrong with it.
        why: NameError,
    },
    /// Too many of something.
    #[error("there are {found} {what}; at most {limit} are allowed")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A number that a floating-point type cannot hold.
    #[error("{value} does not fit {element}: {because}")]
    Inexact {
        /// The number as read.
        value: String,
        /// The type.
        element: &'static str,
        /// What would become of it.
        because: &'static str,
    },
    /// A number whose type nothing says.
    #[error("a plain number has the type that the PTX says, which says none here")]
    Untyped {
        /// The number as written.
        number: String,
    },
    /// A number with a fraction for a parameter of an integer type.
    #[error("the parameter is .{kind}, {number} is not an integer")]
    Whole {
        /// The number as written.
        number: String,
        /// The parameter's type.
        kind: &'static str,
    },
    /// A list without elements.
    #[error("the list is empty")]
    EmptyList,
    /// Nothing to launch.
    #[error("the file launches nothing")]
    NoLaunch,
    /// Fields that belong together are not given together.
    #[error("`{field}` needs `{needs}`")]
    Needs {
        /// The field that is given.
        field: &'static str,
        /// The field that is missing.
        needs: &'static str,
    },
    /// The bound of an `until_zero` was reached.
    #[error("`{buffer}` is still not zero after {}", counted(*iterations, "iteration"))]
    NeverZero {
        /// The buffer.
        buffer: String,
        /// Iterations made.
        iterations: u64,
    },
}

impl Problem {
    /// An array file that cannot be read.
    pub(crate) fn of_file(error: &ArrayFileError) -> Self {
        Self::File { message: error.to_string(), help: error.problem.help() }
    }

    /// How to fix it, in one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Syntax { help, .. } if !help.is_empty() => help,
            Self::Syntax { .. } => "docs/WORKLOADS.md describes every field",
            Self::Expression(_) => {
                "expressions use + - * / %, parentheses, ceil(a, b), min, max, the parameters of \
                 the size, and `i` inside a launch"
            }
            Self::OutOfRange { .. } => "change the expression or the parameters in it",
            Self::Requirement { .. } => "choose parameters that fulfil the condition",
            Self::ExactlyOne { .. } => "keep one of these fields",
            Self::Duplicate { .. } => "rename one of them",
            Self::UnknownName { what: "host reference", .. } => {
                "use one of these names, or leave `[check]` out; a new reference is written in \
                 Rust (docs/WORKLOADS.md)"
            }
            Self::UnknownName { what: "kernel", known, .. } if known.contains("_Z") => {
                "use one of these names or what they are in C++, or declare the kernel \
                 `extern \"C\"`"
            }
            Self::UnknownName { .. } => "use one of these names, or define this one",
            Self::SeveralKernels { .. } => "name one of them, as the PTX or C++ does",
            Self::ReservedName => "rename the parameter",
            Self::Unsuitable { .. } => "change the generator, the element type or the count",
            Self::TooMuchMemory { .. } => "make the parameters smaller",
            Self::Missing { .. } => "add one of these fields",
            Self::File { help, .. } => help,
            Self::FileShape { .. } => {
                "change `count` or `shape`, or leave them out: then the file says it"
            }
            Self::FieldOfFormat { .. } => "leave it out, or say the file's `format`",
            Self::NoFolder => "write the launch file into a file of its own",
            Self::VariableSize { .. } => "choose another `type`; `u8` fits every variable",
            Self::ImageSize { .. } => "make the sides smaller, or the buffer larger",
            Self::UnusedReference => "leave `reference` or an `expected` out",
            Self::Alignment { .. } => "write 1, 2, 4, 8, 16, 32, 64 or 128",
            Self::Dimensions { .. } => "write one, two or three expressions",
            Self::ArgumentCount { .. } => "give one argument for each parameter, in order",
            Self::ArgumentType { expected, .. } => return argument_for(expected),
            Self::Text { what, .. } if *what == NO_NAME => name::A_WORD,
            Self::Text { what, .. } if *what == NO_TEXT => name::A_LINE,
            Self::Text { .. } => {
                "start with a letter or `_` and go on with letters, digits and `_`, so that \
                 expressions can use the parameter"
            }
            Self::TooMany { .. } => "split the file into several",
            Self::Inexact { .. } => "write a number that the type holds, or use another type",
            Self::Whole { .. } => "write an integer",
            Self::Untyped { number } => {
                return format!(
                    "say the type: `{{ s32 = {number} }}`, `{{ u32 = {number} }}`, \
                     `{{ f32 = {number} }}`"
                );
            }
            Self::EmptyList => "name at least one, or leave the field out",
            Self::NoLaunch => "add a [[launch]] or [[phase]]",
            Self::Needs { .. } => "give both fields or neither",
            Self::NeverZero { .. } => "raise `at_most`, or correct the kernel",
        }
        .to_owned()
    }
}

/// The values from `low` to `high`, in words.
fn range(low: i64, high: i64) -> String {
    if high == i64::MAX { format!("{low} or more") } else { format!("{low} to {high}") }
}

/// What to write for a parameter, by its type as PTX spells it.
fn argument_for(parameter: &str) -> String {
    match parameter.strip_prefix('.') {
        Some(ty @ ("f16" | "bf16" | "f32" | "f64")) => {
            format!("write a number: `{{ {ty} = 1.5 }}`")
        }
        Some(ty @ ("u8" | "s8" | "u16" | "s16" | "u32" | "s32")) => {
            format!("write a number: `{{ {ty} = 7 }}`")
        }
        Some(ty @ ("u64" | "s64")) => {
            format!("write a buffer's name for a pointer, or a number: `{{ {ty} = 7 }}`")
        }
        Some(_) => "pointers take a buffer, numbers u8 to s64, f16 to f64 of as many bits".into(),
        None => "structures and vectors take `{ fields = [...] }` or `{ bytes = [...] }`".into(),
    }
}
