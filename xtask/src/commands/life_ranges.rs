//! `life-ranges`: writes the facts with which our liveness of machine code is compared.
//!
//! NVIDIA's assembler compiles the workloads' PTX, its disassembler says which registers are in use
//! at each instruction. Both come from Python wheels; no GPU, driver or CUDA installation is
//! needed. Tests read the facts alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::setup::Missing;
use crate::Status;
use crate::hardware_tools::{self, HardwareTools};
use crate::listing::{self, Instruction, Kernel};
use crate::machine;
use crate::packages::Tools;
use crate::process::{self, Failure};

/// What is compiled, for which machine: workloads with branches, loops, barriers, guards, shuffles,
/// atomics and vectors, none of which calls a function.
const COMPILED: [(&str, &str); 6] = [
    ("bfs", "sm_75"),
    ("histogram", "sm_90"),
    ("matrixmul", "sm_80"),
    ("nbody", "sm_90"),
    ("needle", "sm_86"),
    ("reduction", "sm_75"),
];

/// Where the facts lie.
const FACTS: &str = "host-cli/tests/life_ranges";

/// Runs the command.
pub(crate) fn run() -> Status {
    let tools = match hardware_tools::ensure(Tools::LifeRanges) {
        Ok(tools) => tools,
        Err(Missing { what, remedy }) => {
            eprintln!("error: missing {what}; run: {remedy}");
            return Status::Unusable;
        }
    };
    match write_all(&tools) {
        Ok(()) => Status::Done,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            Status::Failed
        }
    }
}

fn write_all(tools: &HardwareTools) -> Result<(), Failure> {
    let tools = &tools.cuda()?;
    let folder = machine::target_folder().join("life-ranges");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot create {}: {error}", folder.display())))?;
    let [assembler, disassembler] = [version(tools, "ptxas")?, version(tools, "nvdisasm")?];
    for (workload, target) in COMPILED {
        let source = format!("host-cli/workloads/{workload}/kernel.ptx");
        let binary = folder.join(format!("{workload}.cubin"));
        let mut ptxas = process::command(tools.join("ptxas"));
        process::run(
            ptxas.args([&format!("-arch={target}"), "-O3", &source]).arg("-o").arg(&binary),
        )?;
        let mut nvdisasm = process::command(tools.join("nvdisasm"));
        let text = process::output(nvdisasm.args(["-c", "-plr"]).arg(&binary))?;
        let kernels = listing::parse(&text)
            .map_err(|why| Failure(format!("the listing of {workload} for {target}: {why}")))?;
        let header = format!(
            "source {source}\nmade by ptxas {assembler} -arch={target} -O3\n\
             made by nvdisasm {disassembler} -c -plr\n"
        );
        let path = machine::root().join(FACTS).join(format!("{workload}.txt"));
        std::fs::write(&path, header + &facts(&kernels))
            .map_err(|error| Failure(format!("cannot write {}: {error}", path.display())))?;
        let instructions: usize = kernels.iter().map(|kernel| kernel.instructions.len()).sum();
        println!("{FACTS}/{workload}.txt: {} kernels, {instructions} instructions", kernels.len());
    }
    Ok(())
}

/// The version that a tool names, such as `13.5.37`.
fn version(tools: &Path, tool: &str) -> Result<String, Failure> {
    let text = process::output(process::command(tools.join(tool)).arg("--version"))?;
    let found = text.split_whitespace().find_map(|word| {
        let version = word.strip_prefix('V')?;
        version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
    });
    found.map(str::to_owned).ok_or_else(|| Failure(format!("`{tool}` names no version")))
}

/// The kernels in our own format, which the README beside the files describes.
fn facts(kernels: &[Kernel]) -> String {
    let mut text = String::new();
    for kernel in kernels {
        // Writing to a string cannot fail.
        let _ = write!(text, "\nkernel {}\n", kernel.name);
        for instruction in &kernel.instructions {
            text += &line(instruction);
        }
        for (register, ranges) in life_ranges(kernel) {
            let _ = write!(text, "live R{register}");
            for (first, last) in ranges {
                let _ = write!(text, " {first:04x}-{last:04x}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "most {}", kernel.most);
    }
    text
}

fn line(instruction: &Instruction) -> String {
    let guard = if instruction.guarded { "@" } else { "" };
    let mut line = format!("{:04x} {guard}{}", instruction.pc, instruction.mnemonic);
    let name = |&(first, last): &(u16, u16)| match (first, last) {
        (255, _) => " RZ".to_owned(),
        _ if first == last => format!(" R{first}"),
        _ => format!(" R{first}-R{last}"),
    };
    line.extend(instruction.results.iter().map(name));
    line.push_str(" =");
    line.extend(instruction.operands.iter().map(name));
    if let Some(next) = &instruction.next {
        line.push_str(" ->");
        line.extend(next.iter().map(|next| format!(" {next:04x}")));
    }
    line.push('\n');
    line
}

/// For each register the first and last instruction of every stretch in which it is in use.
fn life_ranges(kernel: &Kernel) -> BTreeMap<u16, Vec<(u64, u64)>> {
    let mut ranges: BTreeMap<u16, Vec<(u64, u64)>> = BTreeMap::new();
    let mut before = None;
    for instruction in &kernel.instructions {
        for &register in &instruction.in_use {
            let ranges = ranges.entry(register).or_default();
            match ranges.last_mut() {
                Some((_, last)) if before == Some(*last) => *last = instruction.pc,
                _ => ranges.push((instruction.pc, instruction.pc)),
            }
        }
        before = Some(instruction.pc);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_written_line_by_line() {
        let instruction = |pc, mnemonic: &str, in_use: &[u16]| Instruction {
            pc,
            guarded: false,
            mnemonic: mnemonic.to_owned(),
            results: Vec::new(),
            operands: Vec::new(),
            next: None,
            in_use: in_use.iter().copied().collect(),
        };
        let mut load = instruction(0, "LDG.E.64", &[2, 3, 4]);
        (load.results, load.operands) = (vec![(2, 3)], vec![(4, 4), (255, 255)]);
        let mut branch = instruction(0x10, "BRA", &[2, 3]);
        (branch.guarded, branch.next) = (true, Some(vec![0, 0x20]));
        let mut exit = instruction(0x20, "EXIT", &[4]);
        exit.next = Some(Vec::new());
        let instructions = vec![load, branch, exit];
        let kernel = Kernel { name: "k".to_owned(), instructions, most: 3 };
        assert_eq!(
            facts(&[kernel]),
            "\nkernel k\n\
             0000 LDG.E.64 R2-R3 = R4 RZ\n\
             0010 @BRA = -> 0000 0020\n\
             0020 EXIT = ->\n\
             live R2 0000-0010\n\
             live R3 0000-0010\n\
             live R4 0000-0000 0020-0020\n\
             most 3\n"
        );
    }
}
