//! Export: a recording as Accel-Sim's text, version 5.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use strata_core::units::RegisterId;
use strata_machine_code::Machine;
use strata_simt::moved::Addresses;
use strata_simt::paths::WarpPath;

use super::code;
use super::store::{Recording, RowVisitor, StoreError, StoreProblem, Stored};
use strata_files::failure::reason;
use strata_files::partial_folder::{FolderKind, PartialFolder};

/// What is exported, as a folder.
pub const EXPORT: FolderKind =
    FolderKind { command: "strata trace export", list: LIST, holds: is_kernel };

/// The file that names the others.
const LIST: &str = "kernelslist.g";

/// Whether a file has the name of a launch's trace.
fn is_kernel(name: &str) -> bool {
    let number = name.strip_prefix("kernel-").and_then(|name| name.strip_suffix(".traceg"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Writes every launch of a recording to `kernel-N.traceg` of a folder, and `kernelslist.g`.
/// Immediates were not recorded and are written as 0. Returns how many launches there are.
///
/// # Errors
///
/// Those of the recording; a folder that cannot be written; a launch of which only some CTAs were
/// recorded, which other simulators cannot run; and, unless it may be `approximate`, an instruction
/// whose registers the format cannot name, or a launch of which fewer CTAs would be resident.
pub fn export(
    recording: &mut Recording,
    folder: &PartialFolder,
    approximate: bool,
) -> Result<u64, StoreError> {
    let refused = |problem: StoreProblem| StoreError {
        file: folder.folder().display().to_string(),
        offset: 0,
        problem,
    };
    let failed = |error: std::io::Error| refused(StoreProblem::Unwritable(reason(&error)));
    let mut list = String::new();
    let mut launches = 0;
    while let Some(stored) = recording.next_launch()? {
        check_ctas(&stored, launches).map_err(refused)?;
        if !approximate {
            check_registers(&stored, launches).map_err(refused)?;
        }
        launches += 1;
        let name = format!("kernel-{launches}.traceg");
        let mut text = Text {
            out: folder.file(&name).map_err(failed)?,
            stored: &stored,
            named: stored.instructions.iter().map(names).collect(),
            line: String::new(),
            cta: None,
        };
        text.header(launches).map_err(failed)?;
        recording.visit(&stored, &mut text)?;
        text.finish().map_err(failed)?;
        let _ = writeln!(list, "{name}");
    }
    let mut file = folder.file(LIST).map_err(failed)?;
    file.write_all(list.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    Ok(launches)
}

/// Refuses a launch of which CTAs are missing.
fn check_ctas(stored: &Stored, launch: u64) -> Result<(), StoreProblem> {
    let grid = stored.header.ctas();
    let found = stored.paths.warps().chunk_by(|a, b| a.cta == b.cta).count() as u64;
    if found == grid { Ok(()) } else { Err(StoreProblem::MissingCtas { launch, found, grid }) }
}

/// Refuses a launch with an instruction that, read back, would name other registers, and one of
/// which fewer CTAs would be resident.
fn check_registers(stored: &Stored, launch: u64) -> Result<(), StoreProblem> {
    let (resident, registers) = (stored.resident_registers, stored.image.registers);
    if resident != registers {
        let kernel = stored.header.name.clone();
        return Err(StoreProblem::Residency { launch, kernel, resident, registers });
    }
    let image = stored.image.borrow();
    for (instruction, record) in stored.instructions.iter().zip(image.instructions) {
        let own = [image.sources(record), image.destinations(record)];
        let machine = Machine::nearest(stored.header.binary_version);
        let written = code::slots(machine, instruction);
        let differs = |(own, written): (&[RegisterId], Vec<RegisterId>)| {
            let (mut own, mut written) = (own.to_vec(), written);
            own.sort_unstable();
            written.sort_unstable();
            own != written
        };
        let same = |written: [_; 2]| !own.into_iter().zip(written).any(differs);
        if !written.is_some_and(same) {
            let (pc, mnemonic) = (instruction.pc, instruction.mnemonic.clone());
            let kernel = stored.header.name.clone();
            return Err(StoreProblem::Unnamed { launch, kernel, pc, mnemonic });
        }
    }
    Ok(())
}

/// What stands between mask and addresses.
fn names(instruction: &super::TracedInstruction) -> String {
    let mut text = String::new();
    let list = |text: &mut String, registers: &[u8]| {
        let _ = write!(text, " {}", registers.len());
        for register in registers {
            let _ = write!(text, " R{register}");
        }
    };
    list(&mut text, &instruction.destinations);
    let _ = write!(text, " {}", instruction.mnemonic);
    list(&mut text, &instruction.sources);
    let _ = write!(text, " {}", instruction.width);
    text
}

struct Text<'a> {
    out: BufWriter<File>,
    stored: &'a Stored,
    named: Vec<String>,
    line: String,
    cta: Option<u64>,
}

impl Text<'_> {
    fn header(&mut self, id: u64) -> std::io::Result<()> {
        let header = &self.stored.header;
        let [gx, gy, gz] = header.grid;
        let [bx, by, bz] = header.block;
        // Our own line, which others ignore.
        let parameters = match header.parameter_base {
            0 => String::new(),
            base => format!("-param base_addr = 0x{base:016x}\n"),
        };
        write!(
            self.out,
            "-kernel name = {}\n-kernel id = {id}\n-grid dim = ({gx},{gy},{gz})\n\
             -block dim = ({bx},{by},{bz})\n-shmem = {}\n-nregs = {}\n-binary version = {}\n\
             -cuda stream id = 0\n-shmem base_addr = 0x{:016x}\n\
             -local mem base_addr = 0x{:016x}\n-nvbit version = 1.7\n\
             -accelsim tracer version = 5\n-enable lineinfo = 0\n{parameters}\n\
             #traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] \
             mem_width [adrrescompress?] [mem_addresses] immediate\n",
            header.name,
            header.shared_bytes,
            header.registers,
            header.binary_version,
            header.shared_base,
            header.local_base,
        )
    }

    fn finish(mut self) -> std::io::Result<()> {
        if self.cta.is_some() {
            self.out.write_all(b"\n#END_TB\n")?;
        }
        self.out.flush()
    }

    fn write(&mut self) -> Result<(), StoreProblem> {
        let result = self.out.write_all(self.line.as_bytes());
        self.line.clear();
        result.map_err(|error| StoreProblem::Unwritable(reason(&error)))
    }

    fn addresses(&mut self, mask: u32, addresses: Addresses<'_>) {
        let line = &mut self.line;
        let neighbours = (u64::from(mask >> mask.trailing_zeros().min(31)) + 1).is_power_of_two();
        let mut lanes = addresses.iter();
        let Some(first) = lanes.next() else {
            line.push_str(" 1 0x0 0");
            return;
        };
        if let Addresses::Stride { stride, lanes, .. } = addresses
            && neighbours
            && lanes > 1
            // Accel-Sim reads strides of 32 bits.
            && i32::try_from(stride).is_ok()
        {
            let _ = write!(line, " 1 0x{first:x} {stride}");
            return;
        }
        let _ = write!(line, " 2 0x{first:x}");
        let mut previous = first;
        for lane in lanes {
            let _ = write!(line, " {}", lane.wrapping_sub(previous) as i64);
            previous = lane;
        }
    }
}

impl RowVisitor for Text<'_> {
    fn begin(&mut self, warp: WarpPath, instructions: u64) -> Result<(), StoreProblem> {
        if self.cta != Some(warp.cta) {
            if self.cta.is_some() {
                self.line.push_str("\n#END_TB\n");
            }
            let [width, height, _] = self.stored.header.grid.map(u64::from);
            let (x, rest) = (warp.cta % width, warp.cta / width);
            let (y, z) = (rest % height, rest / height);
            let _ = write!(self.line, "\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n");
            self.cta = Some(warp.cta);
        }
        let _ = write!(self.line, "\nwarp = {}\ninsts = {instructions}\n", warp.warp);
        self.write()
    }

    fn instruction(
        &mut self,
        pc: u32,
        mask: u32,
        addresses: Addresses<'_>,
    ) -> Result<(), StoreProblem> {
        let stored = self.stored;
        let instruction = &stored.instructions[pc as usize];
        let _ = write!(self.line, "{:04x} {mask:08x}", instruction.pc);
        self.line.push_str(&self.named[pc as usize]);
        if instruction.width != 0 {
            self.addresses(mask, addresses);
        }
        self.line.push_str(" 0 \n");
        self.write()
    }

    fn end(&mut self) -> Result<(), StoreProblem> {
        Ok(())
    }
}
