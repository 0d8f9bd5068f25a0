//! The built-in workloads, embedded so that the program needs no files.

use super::error::WorkloadError;
use crate::config::suggest::suggest;

/// A compiler that made a built-in workload's PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toolchain {
    /// NVIDIA's compiler: every workload has this build.
    #[default]
    Nvcc,
    /// LLVM's compiler: a second opinion on the same source.
    Clang,
}

impl Toolchain {
    /// The compiler's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nvcc => "nvcc",
            Self::Clang => "clang",
        }
    }

    /// Name of the PTX file that it makes.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Nvcc => "kernel.ptx",
            Self::Clang => "clang.ptx",
        }
    }
}

/// A built-in workload's files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) launch: &'static str,
    pub(super) nvcc: &'static str,
    pub(super) clang: Option<&'static str>,
}

macro_rules! file {
    ($name:literal, $file:literal) => {
        include_str!(concat!("../../workloads/", $name, "/", $file))
    };
}

macro_rules! entry {
    ($name:literal) => {
        Entry {
            name: $name,
            launch: file!($name, "launch.toml"),
            nvcc: file!($name, "kernel.ptx"),
            clang: Some(file!($name, "clang.ptx")),
        }
    };
}

/// All of them, in the order in which they are listed and run.
pub(super) const ENTRIES: &[Entry] = &[
    entry!("vectoradd"),
    entry!("matrixmul"),
    entry!("reduction"),
    entry!("scalarprod"),
    entry!("hotspot"),
    entry!("needle"),
    entry!("bfs"),
    entry!("srad"),
    entry!("dct8x8"),
    entry!("mandelbrot"),
    entry!("nbody"),
    entry!("histogram"),
];

/// Names of all built-in workloads, in the order in which they are listed and run.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The files of a built-in workload.
pub(super) fn find(name: &str) -> Result<&'static Entry, WorkloadError> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| WorkloadError::Unknown {
        name: name.to_owned(),
        suggestions: suggest(name, names()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_names_are_distinct() {
        let mut sorted: Vec<&str> = names().collect();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ENTRIES.len());
    }
}
