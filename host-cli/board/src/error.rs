//! Error: why a board cannot be talked to.

use std::path::PathBuf;

use strata_link::LinkError;
use strata_link::message::Refusal;

use strata_files::failure::Failure;
use strata_files::interrupt;

/// Why a board cannot be talked to.
#[derive(Debug, thiserror::Error)]
pub enum FpgaError {
    /// A port that cannot be opened.
    #[error("cannot open the port `{port}`: {reason}")]
    Port {
        /// The port as it was named.
        port: String,
        /// What the system says.
        reason: String,
    },
    /// A speed for a port that has none.
    #[error("`{port}` is a network connection, which has no `--baud`")]
    Speed {
        /// The port as it was named.
        port: String,
    },
    /// The connection ended.
    #[error("the connection to {board} was lost: {reason}")]
    Lost {
        /// Who was at the other end.
        board: String,
        /// What the system says.
        reason: String,
    },
    /// The link ended.
    #[error("{board}: {error}")]
    Link {
        /// Who was at the other end.
        board: String,
        /// Why.
        error: LinkError,
    },
    /// A request that the board does not carry out.
    #[error("{board} refuses: {refusal}")]
    Refused {
        /// Who.
        board: String,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// A board that has faulted.
    #[error("{board} had a fault: {report}")]
    Fault {
        /// Who.
        board: String,
        /// What it says.
        report: String,
    },
    /// An answer to something else.
    #[error("{board} gave an answer to something that it was not asked")]
    Answer {
        /// Who.
        board: String,
    },
    /// No answer, although the link is up.
    #[error("{board} has not answered for {seconds} s, although it is there")]
    Late {
        /// Who.
        board: String,
        /// How long.
        seconds: u64,
    },
    /// A board's program that ended by itself.
    #[error("{board} ended ({status}){output}")]
    Ended {
        /// Who.
        board: String,
        /// How.
        status: String,
        /// The last that it said, on lines of its own; or nothing.
        output: String,
    },
    /// A program that cannot be started.
    #[error("cannot start `{program}`: {reason}")]
    Start {
        /// Its name or path.
        program: String,
        /// What the system says.
        reason: String,
        /// How to get it.
        help: &'static str,
    },
    /// A board's program that says nothing, or something else than where it listens.
    #[error("{board} does not say where it listens: {said}")]
    Mute {
        /// Who.
        board: String,
        /// What it said instead.
        said: String,
    },
    /// The repository is needed, to build a board.
    #[error("the repository of strata is neither above {} nor above this program", from.display())]
    NoRepository {
        /// The current folder.
        from: PathBuf,
    },
    /// A chore of the repository failed.
    #[error("`cargo xtask {chore}` failed ({status}): its own messages say why")]
    Chore {
        /// Its name and options.
        chore: String,
        /// How it ended.
        status: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl FpgaError {
    /// How to go on, in one sentence; empty where the message says it.
    fn help(&self) -> &'static str {
        match self {
            Self::Port { .. } => {
                "a port is a serial device such as `/dev/ttyUSB0`, or `HOST:PORT`; `strata fpga \
                 sim` starts a board and says its port"
            }
            Self::Speed { .. } => "leave `--baud` out",
            Self::Lost { .. } => "the board must run until its counters are read",
            Self::Link { error: LinkError::Mismatch { .. }, .. } => {
                "`cargo xtask soc` and `cargo xtask qemu` build the firmware of this version"
            }
            Self::Answer { .. } => "build both ends from the same version",
            Self::Late { .. } => "reset the board",
            Self::Start { help, .. } => help,
            Self::NoRepository { .. } => {
                "run strata in the repository, or connect to a board that runs with `--port`"
            }
            _ => "",
        }
    }

    /// Whether the same may work over a new connection.
    pub fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Link { error: LinkError::Restarted, .. })
    }
}

impl From<FpgaError> for Failure {
    fn from(error: FpgaError) -> Self {
        match error {
            FpgaError::Interrupted => interrupt::failure(""),
            other => Self::input(other.to_string()).hint(other.help()),
        }
    }
}
