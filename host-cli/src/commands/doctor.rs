//! `doctor`: which outside tools are found. None is needed to run; they serve those who add
//! kernels.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};

struct Tool {
    programs: &'static [&'static str],
    purpose: &'static str,
    install: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        programs: &["nvcc"],
        purpose: "compiles CUDA C++ to PTX for a workload of your own",
        install: "pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime \
                  nvidia-cuda-cccl (docs/WORKLOADS.md)",
    },
    Tool {
        programs: &["clang-19", "clang"],
        purpose: "compiles CUDA C++ to PTX, as a second opinion",
        install: "apt-get install clang-19",
    },
    Tool {
        programs: &["nvdisasm"],
        purpose: "shows the machine code that ptxas makes of PTX",
        install: "pip install nvidia-cuda-nvdisasm",
    },
];

/// Looks for every tool; missing ones are no failure.
pub fn run(printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut text = String::from("strata itself needs no other program to run.\n\n");
    for tool in TOOLS {
        let found = tool.programs.iter().find_map(|program| Some((program, version(program)?)));
        let _ = match found {
            Some((program, version)) => {
                writeln!(text, "found    {program}: {version}\n         {}", tool.purpose)
            }
            None => writeln!(
                text,
                "missing  {}: {}\n         install: {}",
                tool.programs[0], tool.purpose, tool.install
            ),
        };
    }
    text.push_str("\nTools for developing strata: `cargo xtask doctor`.\n");
    printer.data(&text)
}

/// The first line of `--version` that has a digit.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).map(str::to_owned)
}
