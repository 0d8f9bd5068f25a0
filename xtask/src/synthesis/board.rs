//! The boards, the blocks that are measured on each, and which sources those depend on.

use std::path::{Path, PathBuf};

use crate::machine;
use crate::process::Failure;

/// Where the hardware's sources lie.
pub(crate) const RTL: &str = "fpga-softcore/rtl";

/// The module of a board's own file that stands on the device's pins.
pub(crate) const TOP: &str = "top";

/// How a block meets the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Alone, between shift registers: it has more ports than the device has pins.
    ShiftRegisters,
    /// As the board's `top.sv` puts it on the pins, clock generator included.
    Pins,
}

/// What is placed and routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// What it is called here: its module, or `soc`.
    pub(crate) name: &'static str,
    /// Parameters that differ from what the module says.
    pub(crate) parameters: &'static [(&'static str, u32)],
    /// How it meets the device.
    pub(crate) frame: Frame,
    /// What placement and routing aim at. Unit: MHz.
    pub(crate) aim_mhz: u32,
    /// The seeds of placement: the best counts.
    pub(crate) seeds: &'static [u32],
}

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    /// Its folder in `fpga-softcore/boards`.
    pub(crate) name: &'static str,
    /// What the manufacturer calls its device.
    pub(crate) device: &'static str,
    /// How nextpnr is told.
    pub(crate) device_options: &'static [&'static str],
    /// What is measured on it.
    pub(crate) blocks: &'static [Block],
}

/// A block alone.
const fn alone(name: &'static str, parameters: &'static [(&'static str, u32)]) -> Block {
    Block { name, parameters, frame: Frame::ShiftRegisters, aim_mhz: 100, seeds: &[1] }
}

const CACHE: Block = alone("register_file_cache", &[("Warps", 8), ("Entries", 6), ("Lanes", 4)]);

/// The whole board, with the parameters that its own file gives it.
const SOC: Block =
    Block { name: "soc", parameters: &[], frame: Frame::Pins, aim_mhz: 100, seeds: &[1] };

const POOL: Block = alone("write_pool", &[("Entries", 60), ("Warps", 8), ("Lanes", 4)]);

const SPLIT: Block = alone("split_bank_write", &[]);

const MAIN: Block = alone("main_register_file", &[("Warps", 8), ("PoolEntries", 60), ("Lanes", 4)]);

/// So many of its wires are long that luck decides more than in small blocks.
const PROTOTYPE: Block = Block {
    seeds: &[1, 2],
    ..alone("prototype", &[("CacheEntries", 6), ("PoolEntries", 60), ("Lanes", 4)])
};

/// All boards.
pub(crate) const BOARDS: &[Board] = &[
    Board {
        name: "ulx3s-85f",
        device: "LFE5U-85F-6BG381C",
        device_options: &["--85k", "--package", "CABGA381", "--speed", "6"],
        blocks: &[CACHE, SPLIT, POOL, MAIN, PROTOTYPE, SOC],
    },
    Board {
        name: "ulx3s-25f",
        device: "LFE5U-25F-6BG381C",
        device_options: &["--25k", "--package", "CABGA381", "--speed", "6"],
        blocks: &[CACHE],
    },
];

impl Board {
    /// The board of that name.
    pub(crate) fn of(name: &str) -> Result<&'static Self, String> {
        BOARDS.iter().find(|board| board.name == name).ok_or_else(|| {
            let names: Vec<&str> = BOARDS.iter().map(|board| board.name).collect();
            format!("there is no board `{name}`; there are {}", names.join(", "))
        })
    }

    /// The block of that name.
    pub(crate) fn block(&self, name: &str) -> Result<&'static Block, String> {
        self.blocks.iter().find(|block| block.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.blocks.iter().map(|block| block.name).collect();
            format!("`{}` has no block `{name}`; it has {}", self.name, names.join(", "))
        })
    }

    /// Its folder, relative to the repository's root.
    pub(crate) fn folder(&self) -> String {
        format!("fpga-softcore/boards/{}", self.name)
    }

    /// Its report, relative to the repository's root.
    pub(crate) fn report(&self) -> String {
        format!("{}/report.md", self.folder())
    }

    /// True if something of it stands on the pins.
    pub(crate) fn has_pins(&self) -> bool {
        self.blocks.iter().any(|block| block.frame == Frame::Pins)
    }

    /// The hardware's sources, packages first, and then the board's own. Relative to the root.
    pub(crate) fn sources(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut sources = hardware(Path::new(RTL))?;
        if self.has_pins() {
            sources.extend(listed(Path::new(&self.folder()))?);
        }
        Ok(sources)
    }

    /// Whatever a report depends on, as one number: the code of the sources without comments, the
    /// constraints, the parameters, and the versions of the tools.
    pub(crate) fn digest(&self, tools: &str) -> Result<u64, Failure> {
        let mut digest = Digest::default();
        digest.add(&format!("{self:?} {tools}"));
        let mut sources = self.sources()?;
        if self.has_pins() {
            sources.push(Path::new(&self.folder()).join("pins.lpf"));
        }
        for source in sources {
            let text = read(&source)?;
            digest.add(&source.display().to_string());
            text.lines().for_each(|line| digest.add(code(line)));
        }
        Ok(digest.0)
    }
}

/// A source's text.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(machine::root().join(path))
        .map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))
}

/// A line without its comment and without white space around it.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

/// The files of hardware of a folder, packages first.
pub(crate) fn hardware(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut sources = listed(folder)?;
    sources.sort_by_key(|path| (!is_package(path), path.clone()));
    Ok(sources)
}

fn is_package(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_pkg"))
}

/// The files of hardware of a folder, by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(machine::root().join(folder))
        .map_err(|error| Failure(format!("cannot list {}: {error}", folder.display())))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sv"))
        .collect();
    files.sort();
    Ok(files)
}

/// 64-bit FNV-1a over texts, each with an end.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        for byte in text.bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_and_blocks_are_found_by_name() {
        let board = Board::of("ulx3s-85f").expect("it is there");
        assert_eq!(board.block("register_file_cache").map(|block| block.aim_mhz), Ok(100));
        let why = board.block("register_file").expect_err("it is not there");
        assert!(why.starts_with("`ulx3s-85f` has no block `register_file`; it has "), "{why}");
        let why = Board::of("ulx3s").expect_err("it is not there");
        assert!(why.ends_with("there are ulx3s-85f, ulx3s-25f"), "{why}");
    }

    #[test]
    fn comments_and_empty_lines_change_no_digest_and_code_does() {
        let digest = |text: &str| {
            let mut digest = Digest::default();
            text.lines().for_each(|line| digest.add(code(line)));
            digest.0
        };
        let bare = digest("assign a = b;\nassign c = d;");
        assert_eq!(digest("// what it does\n\n  assign a = b;  // why\nassign c = d;\n"), bare);
        assert_ne!(digest("assign a = b;\nassign c = e;"), bare);
        assert_ne!(digest("assign c = d;\nassign a = b;"), bare);
    }

    #[test]
    fn every_block_has_a_source_and_a_seed() {
        for board in BOARDS {
            let sources = board.sources().expect("the sources are there");
            for block in board.blocks {
                assert!(!block.seeds.is_empty());
                let file = match block.frame {
                    Frame::ShiftRegisters => format!("{RTL}/{}.sv", block.name),
                    Frame::Pins => format!("{}/{TOP}.sv", board.folder()),
                };
                assert!(sources.contains(&PathBuf::from(&file)), "{file}");
            }
        }
    }
}
