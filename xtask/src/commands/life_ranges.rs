//! `life-ranges`: writes the facts with which our liveness of machine code is compared.
//!
//! NVIDIA's assembler compiles the workloads' PTX, its disassembler says which registers are in use
//! at each instruction. Both come from Python wheels; no GPU, driver or CUDA installation is
//! needed. Tests read the facts alone.
//!
//! The same tools give the operand forms with which the tables of `strata-machine-code` are
//! compared: of every workload, and of probes for what workloads do not hold, on ten machines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::hardware_tools::{self, HardwareTools};
use crate::installation::Missing;
use crate::listing::{self, Instruction, Kernel};
use crate::machine;
use crate::operand_forms::Forms;
use crate::packages::Tools;
use crate::process::{self, Failure};
use crate::status::Status;

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

/// The operand forms, and the kernels that hold what workloads do not.
const FORMS: &str = "host-cli/machine-code/tests/forms.txt";
const PROBES: &str = "host-cli/machine-code/probes.txt";
/// The machines whose code nvdisasm reads.
const MACHINES: [u32; 10] = [75, 80, 86, 89, 90, 100, 103, 110, 120, 121];
/// What stands around a probe: `PROBES` says what each register holds.
const DECLARATIONS: &str = "\
.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %d<32>;
.reg .f32 %f<64>; .reg .f64 %e<32>; .reg .b128 %q<4>;
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.param.u32 %r0, [n];
cvta.to.global.u64 %d2, %d0; cvta.to.global.u64 %d3, %d1;
mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mul.wide.u32 %d4, %r1, 16;
add.u64 %d5, %d2, %d4; add.u64 %d6, %d3, %d4;
setp.ne.u32 %p0, %r0, 3;
";

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
    write_forms(tools, &folder, [&assembler, &disassembler])
}

/// A kernel of `probes.txt`.
#[derive(Debug, PartialEq, Eq)]
struct Probe<'a> {
    /// The section's machine, such as `90` or `90a`.
    target: &'a str,
    name: &'a str,
    /// Statements with `; ` between them.
    body: &'a str,
}

fn probes(text: &str) -> Result<Vec<Probe<'_>>, Failure> {
    let mut target = "";
    let mut probes = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix("== sm_") {
            target = section;
        } else {
            let (name, body) = line
                .split_once(": ")
                .ok_or_else(|| Failure(format!("{PROBES}: expected `name: statements`: {line}")))?;
            probes.push(Probe { target, name, body });
        }
    }
    Ok(probes)
}

impl Probe<'_> {
    /// Whether it is compiled for a machine: those with an `a` for their own alone.
    fn suits(&self, machine: u32) -> bool {
        match self.target.strip_suffix('a') {
            Some(own) => own == machine.to_string(),
            None => self.target.parse::<u32>().is_ok_and(|first| first <= machine),
        }
    }

    fn ptx(&self) -> String {
        let Self { target, name, body } = self;
        let mut text = format!(
            ".version 9.0\n.target sm_{target}\n.address_size 64\n\
             .visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n\
             {DECLARATIONS}"
        );
        for statement in body.split("; ") {
            let statement = statement.trim();
            text += statement;
            text += if statement.ends_with(':') || statement == "}" { "\n" } else { ";\n" };
        }
        text + "ret;\n}\n"
    }
}

fn write_forms(tools: &Path, folder: &Path, versions: [&str; 2]) -> Result<(), Failure> {
    let text = std::fs::read_to_string(machine::root().join(PROBES))
        .map_err(|error| Failure(format!("cannot read {PROBES}: {error}")))?;
    let mut sources = Vec::new();
    for probe in probes(&text)? {
        let path = folder.join(format!("probe-{}-{}.ptx", probe.target, probe.name));
        std::fs::write(&path, probe.ptx())
            .map_err(|error| Failure(format!("cannot write {}: {error}", path.display())))?;
        let machines = MACHINES.into_iter().filter(|&machine| probe.suits(machine));
        let own = if probe.target.ends_with('a') { "a" } else { "" };
        sources.push((path, machines.collect::<Vec<_>>(), own));
    }
    let workloads = machine::root().join("host-cli/workloads");
    let entries = std::fs::read_dir(&workloads)
        .map_err(|error| Failure(format!("cannot read {}: {error}", workloads.display())))?;
    let kernels = entries.filter_map(|entry| Some(entry.ok()?.path().join("kernel.ptx")));
    sources.extend(kernels.filter(|path| path.is_file()).map(|path| (path, MACHINES.into(), "")));
    let mut forms = Forms::default();
    for (source, machines, own) in &sources {
        for &machine in machines {
            let binary = folder.join("forms.cubin");
            let target = format!("-arch=sm_{machine}{own}");
            let mut ptxas = process::command(tools.join("ptxas"));
            process::run(ptxas.args([&target, "-O3"]).arg(source).arg("-o").arg(&binary))?;
            let mut nvdisasm = process::command(tools.join("nvdisasm"));
            let text = process::output(nvdisasm.args(["-c", "-plr"]).arg(&binary))?;
            let marked = listing::marked(&text)
                .map_err(|why| Failure(format!("{} for {machine}: {why}", source.display())))?;
            forms.add(machine, &marked);
        }
    }
    let [assembler, disassembler] = versions;
    let header = format!(
        "# Operand forms of machine code, with the registers that nvdisasm -plr marks; \
         the README of\n\
         # {FACTS} describes them. Written by cargo xtask life-ranges: ptxas {assembler} -O3,\n\
         # nvdisasm {disassembler} -c -plr.\n"
    );
    let text = header + &forms.text();
    std::fs::write(machine::root().join(FORMS), &text)
        .map_err(|error| Failure(format!("cannot write {FORMS}: {error}")))?;
    println!("{FORMS}: {} forms", text.lines().count() - 3);
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
    fn probes_are_kernels_for_the_machines_of_their_section() {
        let text =
            "# about\n\n== sm_90\nred: mov.u32 %r3,1; A:; @%p0 bra A\n== sm_100a\nown: exit\n";
        let found = probes(text).unwrap_or_else(|Failure(why)| panic!("{why}"));
        let suited = |probe: &Probe<'_>| MACHINES.map(|machine| probe.suits(machine));
        assert_eq!(suited(&found[0]).iter().filter(|suits| **suits).count(), 6);
        assert_eq!(suited(&found[1]).iter().filter(|suits| **suits).count(), 1);
        let ptx = found[0].ptx();
        assert!(ptx.starts_with(".version 9.0\n.target sm_90\n"), "{ptx}");
        assert!(ptx.ends_with("mov.u32 %r3,1;\nA:\n@%p0 bra A;\nret;\n}\n"), "{ptx}");
        assert!(probes("== sm_90\nno colon\n").is_err());
    }

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
