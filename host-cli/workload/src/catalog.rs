//! The built-in workloads, embedded so that the program needs no files.

use strata_core::named;

named! {
    /// What made a built-in workload's PTX of its source; the one that is used unless another is
    /// asked for first. Every workload has all of these; how far they are apart, DEV-075
    /// (addresses) and DEV-076 (compilers) say.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Toolchain {
        /// NVIDIA's compiler, with 64-bit addresses.
        #[default]
        Nvcc = "nvcc",
        /// The same PTX, narrowed to 32-bit addresses.
        Nvcc32 = "nvcc32",
        /// LLVM's compiler, with 64-bit addresses.
        Clang = "clang",
        /// The same compiler, with 32-bit addresses.
        Clang32 = "clang32",
    }

    /// A group of built-in workloads; a command line has its name behind [`GROUP_MARK`]. In the
    /// order in which they are listed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Group {
        /// The twelve over which every mean is taken (DEV-077), and which commands without inputs
        /// run.
        Suite = "suite",
        /// Kernels with what the suite has little or nothing of: special functions, double
        /// precision, many registers, unrolled loops, filtering.
        Extra = "extra",
        /// Kernels whose needs of registers, shared memory and cache differ most: what an SM does
        /// with one memory for the three.
        Storage = "storage",
        /// Kernels in whose way the register file is: with more registers, more CTAs of them would
        /// be resident.
        Registers = "registers",
    }
}

impl Toolchain {
    /// Name of the PTX file that it makes.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Nvcc => "kernel.ptx",
            Self::Nvcc32 => "kernel32.ptx",
            Self::Clang => "clang.ptx",
            Self::Clang32 => "clang32.ptx",
        }
    }

    /// What a workload with its PTX is called in reports: `bfs` by default, else `bfs/clang`.
    pub fn title(self, workload: &str) -> String {
        match self {
            Self::Nvcc => workload.to_owned(),
            other => format!("{workload}/{}", other.name()),
        }
    }
}

impl Group {
    /// The group's workloads, in the order in which they are listed and run.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.entries().iter().map(|entry| entry.name)
    }

    const fn entries(self) -> &'static [Entry] {
        match self {
            Self::Suite => SUITE,
            Self::Extra => EXTRA,
            Self::Storage => STORAGE,
            Self::Registers => REGISTERS,
        }
    }
}

/// A built-in workload's files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) launch: &'static str,
    nvcc: &'static str,
    nvcc32: &'static str,
    clang: &'static str,
    clang32: &'static str,
}

impl Entry {
    /// The PTX that a toolchain made.
    pub(super) const fn ptx(&self, toolchain: Toolchain) -> &'static str {
        match toolchain {
            Toolchain::Nvcc => self.nvcc,
            Toolchain::Nvcc32 => self.nvcc32,
            Toolchain::Clang => self.clang,
            Toolchain::Clang32 => self.clang32,
        }
    }
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
            nvcc32: file!($name, "kernel32.ptx"),
            clang: file!($name, "clang.ptx"),
            clang32: file!($name, "clang32.ptx"),
        }
    };
}

const SUITE: &[Entry] = &[
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

const EXTRA: &[Entry] = &[
    entry!("cp"),
    entry!("mriq"),
    entry!("dgemm"),
    entry!("sgemm"),
    entry!("fft512"),
    entry!("scan"),
    entry!("bitonic"),
    entry!("montecarlo"),
    entry!("bilinear"),
];

const STORAGE: &[Entry] = &[
    entry!("needle16"),
    entry!("needle32"),
    entry!("needle64"),
    entry!("lu"),
    entry!("pcr"),
    entry!("ray"),
    entry!("suffixtree"),
    entry!("sgemv"),
    entry!("sobol"),
];

const REGISTERS: &[Entry] = &[
    entry!("lbm"),
    entry!("stencil"),
    entry!("hotspot16"),
    entry!("btree"),
    entry!("convolution"),
    entry!("xorwow"),
    entry!("mergesort"),
    entry!("quasirandom"),
    entry!("pathgen"),
];

/// Names of the suite's workloads, in the order in which they are listed and run.
pub fn names() -> impl Iterator<Item = &'static str> {
    Group::Suite.names()
}

/// Names of all built-in workloads, group by group.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    Group::ALL.into_iter().flat_map(Group::names)
}

/// What the name of a group has before it on a command line.
pub const GROUP_MARK: char = '@';

/// What stands for every group.
const EVERY_GROUP: &str = "all";

/// The workloads of a group by its name, or of all; none if there is no such group.
pub fn of_group(name: &str) -> Option<Vec<&'static str>> {
    if name == EVERY_GROUP {
        return Some(all_names().collect());
    }
    let group = Group::ALL.into_iter().find(|group| group.name() == name)?;
    Some(group.names().collect())
}

/// Names for which [`of_group`] has workloads.
pub fn group_names() -> impl Iterator<Item = &'static str> {
    Group::ALL.into_iter().map(Group::name).chain([EVERY_GROUP])
}

/// The files of a built-in workload, if there is one of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    Group::ALL.into_iter().flat_map(Group::entries).find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_names_are_distinct_and_every_one_is_in_a_group() {
        let mut sorted: Vec<&str> = all_names().collect();
        let count = sorted.len();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), count);
        assert_eq!(names().count(), 12);
        assert!(names().eq(of_group("suite").expect("a group")));
        assert!(all_names().eq(of_group("all").expect("all groups")));
        let each = group_names().map(|group| of_group(group).expect(group).len());
        assert_eq!(each.collect::<Vec<_>>(), [12, 9, 9, count - 30, count]);
        assert_eq!(of_group("suit"), None);
    }

    /// Names, titles and addresses are those of the toolchain, whichever field holds its PTX.
    #[test]
    fn every_toolchain_has_its_own_ptx() {
        let names = Toolchain::ALL.map(Toolchain::name);
        assert_eq!(names, ["nvcc", "nvcc32", "clang", "clang32"]);
        let titles = Toolchain::ALL.map(|toolchain| toolchain.title("bfs"));
        assert_eq!(titles, ["bfs", "bfs/nvcc32", "bfs/clang", "bfs/clang32"]);
        for entry in Group::ALL.into_iter().flat_map(Group::entries) {
            for toolchain in Toolchain::ALL {
                let (name, ptx) = (toolchain.name(), entry.ptx(toolchain));
                let maker = if name.starts_with("nvcc") { "NVIDIA NVVM" } else { "LLVM NVPTX" };
                let bits = if name.ends_with("32") { 32 } else { 64 };
                let at = format!("{} by {name}", entry.name);
                assert!(ptx.contains(&format!("// Generated by {maker}")), "{at}");
                assert!(ptx.contains(&format!("\n.address_size {bits}\n")), "{at}");
            }
        }
    }
}
