//! Why a workload does not run to its end.

use strata_ptx::diagnostic::Diagnostic;
use strata_simt::texture::{ObjectKind, TextureError};
use strata_simt::{DeviceError, Fault};

use super::error::{LaunchFileError, WorkloadError};
use super::fault_hint;

/// Why a workload cannot be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload or its launch file is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The PTX is malformed, or holds what cannot be executed yet in a kernel that is launched.
    #[error("{file}: {} of the file keep it from being executed", problems(.diagnostics))]
    Ptx {
        /// Name of the PTX file.
        file: String,
        /// Every reason; their places are offsets in [`ptx`](crate::Workload::ptx).
        diagnostics: Vec<Diagnostic>,
    },
    /// An option names a kernel that the workload does not launch, or several.
    #[error("workload `{workload}` launches {what} `{kernel}`; it launches {known}")]
    NoSuchKernel {
        /// The workload.
        workload: String,
        /// `no kernel` or `several kernels`.
        what: &'static str,
        /// The kernel's name as asked for.
        kernel: String,
        /// The kernels it launches, or those that may be meant, in words.
        known: String,
    },
    /// An option names a launch or a CTA that does not exist.
    #[error("workload `{workload}` has no {what} {index}; there are {count}")]
    NoSuchIndex {
        /// The workload.
        workload: String,
        /// `launch` or `CTA`.
        what: &'static str,
        /// The index as asked for.
        index: u64,
        /// How many there are, at most for CTAs.
        count: u64,
    },
    /// The buffers cannot be allocated or copied.
    #[error("workload `{workload}`: {source}")]
    Device {
        /// The workload.
        workload: String,
        /// Why not.
        source: DeviceError,
    },
    /// A texture, surface or sampler cannot be made.
    #[error("workload `{workload}`: {source}")]
    Texture {
        /// The workload.
        workload: String,
        /// Why not.
        source: TextureError,
    },
    /// A kernel uses a reference that the launch file binds to nothing.
    #[error(
        "workload `{workload}`: kernel `{kernel}` uses the {kind} reference `{name}`, to which the \
         launch file binds nothing"
    )]
    Unbound {
        /// The workload.
        workload: String,
        /// The kernel.
        kernel: String,
        /// The reference of the PTX.
        name: String,
        /// What has to be bound to it.
        kind: ObjectKind,
    },
    /// A launch stopped.
    #[error("workload `{workload}`, launch {index}: {source}")]
    Fault {
        /// The workload.
        workload: String,
        /// Index of the launch, from 0.
        index: u64,
        /// Why.
        source: Box<Fault>,
    },
}

impl RunError {
    /// How to fix it, in one sentence.
    pub fn help(&self) -> String {
        match self {
            Self::Workload(error) => return error.help(),
            Self::Ptx { .. } => {
                "correct the places that are listed; kernels that are not launched may stay as \
                they are"
            }
            Self::NoSuchKernel { .. } => "name one of these kernels",
            Self::NoSuchIndex { .. } => "indices count from 0",
            Self::Device { .. } => "make the parameters of the workload smaller",
            Self::Texture { .. } => "correct the tables of textures, surfaces and samplers",
            Self::Unbound { name, kind, .. } => {
                return format!(
                    "give the launch file a [[{kind}]] with `reference = \"{name}\"`; `strata \
                     launch-template` writes one"
                );
            }
            Self::Fault { source, .. } => return fault_hint::hint(source),
        }
        .to_owned()
    }
}

fn problems(diagnostics: &[Diagnostic]) -> String {
    match diagnostics {
        [one] => format!("1 problem ({})", one.message),
        [first, ..] => format!("{} problems (first: {})", diagnostics.len(), first.message),
        [] => "problems".to_owned(),
    }
}

impl From<Box<LaunchFileError>> for RunError {
    fn from(error: Box<LaunchFileError>) -> Self {
        Self::Workload(error.into())
    }
}
