//! Why an output cannot be read.

/// Why an output cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Neither program's.
    #[error("it is the output of neither NVSim nor CACTI")]
    Unknown,
    /// A line that must be there and is not.
    #[error("the line `{0}` is missing")]
    Missing(&'static str),
    /// A line that the program does not print, or whose value cannot be read.
    #[error("line {number}, `{line}`: {problem}")]
    Value {
        /// Number of the line, from 1.
        number: usize,
        /// The line.
        line: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An array that is not of whole kilobytes for each bank.
    #[error("{bytes} bytes are no whole number of kilobytes for each of {banks} banks")]
    Banks {
        /// The array.
        bytes: u64,
        /// Its banks.
        banks: u32,
    },
    /// CACTI prints no width of an access.
    #[error(
        "CACTI does not print how many bits one access reads or writes, whose energy it prints"
    )]
    Bits {
        /// The bits of a block, which an access cannot exceed.
        most: u64,
    },
    /// More bits than a block has.
    #[error("an access of {bits} bits is wider than a block of {most} bits")]
    Width {
        /// The bits that were given.
        bits: u64,
        /// The bits of a block.
        most: u64,
    },
    /// A width for a program that prints its own.
    #[error("NVSim prints the width of an access (`Data Width`), so `--bits` has no effect")]
    OwnWidth,
    /// A kind of memory that the output does not tell.
    #[error("it does not tell whether it is SRAM or STT-RAM")]
    Kind,
}

impl ImportError {
    /// The message behind its file, `file:line:column`.
    pub fn of(&self, file: &str) -> String {
        match self {
            Self::Value { number, line, problem } => {
                format!("{file}:{number}:1: `{line}`: {problem}")
            }
            _ => format!("{file}: {self}"),
        }
    }

    /// How to fix it, if the message does not say.
    pub fn help(&self) -> String {
        let help = match self {
            Self::Bits { most } => {
                return format!(
                    "add `--bits N`, the `-output/input bus width` of CACTI's configuration: at \
                     most {most}, the bits of a block"
                );
            }
            Self::Width { .. } => {
                "give with `--bits N` the `-output/input bus width` of CACTI's configuration"
            }
            Self::OwnWidth => "leave `--bits` out",
            Self::Unknown => {
                "give the text that the program printed, and `--from nvsim` or `cacti`"
            }
            Self::Missing(_) => {
                "give all that the program printed; of a cache or a cell that is set and reset, \
                 write the technology file by hand (`strata technology --help`)"
            }
            Self::Value { .. } => "",
            Self::Banks { .. } => "say with `--banks N` how many banks the array stands for",
            Self::Kind => "add `--memory sram` or `--memory sttram`",
        };
        help.to_owned()
    }
}
