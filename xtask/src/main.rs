//! Chores of the repository, one command each: `cargo xtask` lists them.
#![forbid(unsafe_code)]

mod commands;
mod deviations;
mod elf;
mod hardware_tools;
mod installation;
mod listing;
mod machine;
mod operand_forms;
mod packages;
mod process;
mod processor;
mod properties;
mod python;
mod regmap;
mod stages;
mod status;
mod synthesis;
mod test_runner;
mod tidy;
mod training;

use std::process::ExitCode;

use commands::{
    accel_sim, ci, compilers, doctor, formal, fpga, fuzz, life_ranges, no_std, nvcc, qemu, report,
    setup, soc, sweeps, synth, test, wasm,
};
use status::Status;
use synthesis::board::Board;

const HELP: &str = "\
Chores of the repository.

Usage: cargo xtask COMMAND [OPTION]

Commands:
  setup                 Install what building, testing and gating need and this machine lacks
  test [--quick|--full] Run every test and check; --quick leaves out gates, smoke, qemu, formal
                        and the slowest sweep; --full goes through every combination of switches,
                        where otherwise every pair occurs
  ci                    Run .ci/run in a fresh clone of HEAD, as CI does
  no-std [--toolchain rustup|debian]
                        Prove that the core needs neither std nor an allocator, here and on devices;
                        the device builds use rustup's targets, or else Debian's library sources
  qemu [--build]        Run the firmware on emulated boards, and compare its digests with the
                        host's; --build only builds what `strata fpga` starts
  formal [BLOCK] [--full|--mutants]
                        Prove the hardware's properties; --full takes larger sizes, too, --mutants
                        small mistakes instead, each of which a property has to notice
  soc                   Build the simulated board that has the prototype as hardware, and its
                        firmware, into target/fpga/soc
  fpga                  Stream the same accesses to every board that needs no physical hardware, and
                        compare their counts with the model
  fuzz [TARGET|all] [SECONDS]
                        Feed made-up bytes to a fuzz target, or to each in turn (C++ compiler), 60 s
                        unless told
  life-ranges           Remake the registers' lives by NVIDIA's disassembler, with which tests
                        compare ours
  nvcc                  Compile the workloads' sources in every way that nvcc knows, and compare
                        the results with those of the committed PTX
  compilers [COMPILER]  Compile kernels by eleven compilers, such as triton and gcc, or by one,
                        without a GPU, and check what comes of their PTX: 4 GB of packages, one
                        compiler after the other
  accel-sim             Run exports of all workloads in the Accel-Sim whose folder `gpu-simulator`
                        STRATA_ACCEL_SIM names, and compare the instructions that it counts
  sweeps                Read files of sweeps with pandas, DuckDB and fastparquet, and sweep on a
                        Dask cluster of this machine
  report                Remake the papers' figures, and look at the page in Chromium
  book                  Make pages of the documents, and check their links
  wasm                  Compile the explorer of that page again for browsers, and compare its
                        answers with the program's
  python                Build the Python package, install it into a new environment, and test it
                        beside the program
  regmap                Write the prototype's register map again for hardware, model and documents
  synth [BOARD] [--block BLOCK]
                        Place and route the hardware on the device of a board, or of each, and write
                        the boards' reports; of one block the report is only shown
  synth --check         Compare the committed reports with the hardware's sources
  deviations [DEV-nnn]  Measure the effects in docs/DEVIATIONS.md again, as far as a switch or a
                        patch shows them (a build for each patch)
  tidy                  Check the repository's own rules
  doctor                Show which tools are there, their versions, and how to get the others

Exit status: 0 done, 1 a check failed, 2 wrong usage or something is missing.
";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Request {
    Help,
    Setup,
    Test(test::Extent),
    Ci,
    NoStd { toolchain: Option<no_std::Toolchain> },
    Qemu { build: bool },
    Formal { block: Option<String>, extent: formal::Extent },
    Soc,
    Fpga,
    Fuzz { targets: &'static [&'static str], seconds: u32 },
    LifeRanges,
    Nvcc,
    Compilers(Option<&'static str>),
    AccelSim,
    Sweeps,
    Report,
    Book,
    Wasm,
    Python,
    Regmap,
    Synth(synth::Scope),
    Deviations { name: Option<String> },
    Tidy,
    Doctor,
}

/// Reads the command line, or says what is wrong with it.
fn parse(arguments: &[&str]) -> Result<Request, String> {
    let request = match arguments {
        [] => return Err("a command is missing".to_owned()),
        ["help" | "-h" | "--help", ..] | [_, "-h" | "--help"] => Request::Help,
        ["setup"] => Request::Setup,
        ["test"] => Request::Test(test::Extent::Usual),
        ["test", "--quick"] => Request::Test(test::Extent::Quick),
        ["test", "--full"] => Request::Test(test::Extent::Full),
        ["ci"] => Request::Ci,
        ["no-std"] => Request::NoStd { toolchain: None },
        ["no-std", "--toolchain", "rustup"] => {
            Request::NoStd { toolchain: Some(no_std::Toolchain::Rustup) }
        }
        ["no-std", "--toolchain", "debian"] => {
            Request::NoStd { toolchain: Some(no_std::Toolchain::Debian) }
        }
        ["qemu"] => Request::Qemu { build: false },
        ["qemu", "--build"] => Request::Qemu { build: true },
        ["formal", rest @ ..] => formal_request(rest)?,
        ["soc"] => Request::Soc,
        ["fpga"] => Request::Fpga,
        ["fuzz"] => Request::Fuzz { targets: fuzz::targets("all")?, seconds: 60 },
        ["fuzz", target] => Request::Fuzz { targets: fuzz::targets(target)?, seconds: 60 },
        ["fuzz", target, seconds] => {
            let seconds = seconds.parse().ok().filter(|&seconds| seconds > 0);
            let seconds = seconds.ok_or("`fuzz` takes a target and seconds, at least 1")?;
            Request::Fuzz { targets: fuzz::targets(target)?, seconds }
        }
        ["life-ranges"] => Request::LifeRanges,
        ["nvcc"] => Request::Nvcc,
        ["compilers"] => Request::Compilers(None),
        ["compilers", name] => Request::Compilers(Some(compilers::name_of(name)?)),
        ["accel-sim"] => Request::AccelSim,
        ["sweeps"] => Request::Sweeps,
        ["report"] => Request::Report,
        ["book"] => Request::Book,
        ["wasm"] => Request::Wasm,
        ["python"] => Request::Python,
        ["regmap"] => Request::Regmap,
        ["synth"] => Request::Synth(synth::Scope::Reports(None)),
        ["synth", "--check"] => Request::Synth(synth::Scope::Check),
        ["synth", board] => Request::Synth(synth::Scope::Reports(Some(Board::of(board)?))),
        ["synth", board, "--block", block] => {
            let board = Board::of(board)?;
            Request::Synth(synth::Scope::One(board, board.block(block)?))
        }
        ["deviations"] => Request::Deviations { name: None },
        ["deviations", name] if name.starts_with("DEV-") => {
            Request::Deviations { name: Some((*name).to_owned()) }
        }
        ["tidy"] => Request::Tidy,
        ["doctor"] => Request::Doctor,
        [
            command @ ("setup" | "test" | "ci" | "no-std" | "qemu" | "soc" | "fpga" | "fuzz"
            | "life-ranges" | "nvcc" | "compilers" | "accel-sim" | "sweeps" | "report"
            | "book" | "wasm" | "python" | "regmap" | "synth" | "deviations" | "tidy"
            | "doctor"),
            rest @ ..,
        ] => {
            return Err(format!("`{command}` does not take `{}`", rest.join(" ")));
        }
        [command, ..] => return Err(format!("there is no command `{command}`")),
    };
    Ok(request)
}

/// A block's name and how much of it, in any order.
fn formal_request(arguments: &[&str]) -> Result<Request, String> {
    let (mut block, mut extent) = (None, None);
    for &argument in arguments {
        let read = match argument {
            "--full" => extent.replace(formal::Extent::Full).is_none(),
            "--mutants" => extent.replace(formal::Extent::Mutants).is_none(),
            name if !name.starts_with('-') => block.replace(name.to_owned()).is_none(),
            _ => false,
        };
        if !read {
            return Err(format!("`formal` does not take `{}`", arguments.join(" ")));
        }
    }
    Ok(Request::Formal { block, extent: extent.unwrap_or(formal::Extent::Small) })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let request = match parse(&arguments) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("error: {message}\n\n{HELP}");
            return Status::Unusable.into();
        }
    };
    let status = match request {
        Request::Help => {
            print!("{HELP}");
            Status::Done
        }
        Request::Setup => setup::run(),
        Request::Test(extent) => test::run(extent),
        Request::Ci => ci::run(),
        Request::NoStd { toolchain } => no_std::run(toolchain),
        Request::Qemu { build: false } => qemu::run(),
        Request::Qemu { build: true } => qemu::build(),
        Request::Formal { block, extent } => formal::run(block.as_deref(), extent),
        Request::Soc => soc::run(),
        Request::Fpga => fpga::run(),
        Request::Fuzz { targets, seconds } => fuzz::run(targets, seconds),
        Request::LifeRanges => life_ranges::run(),
        Request::Nvcc => nvcc::run(),
        Request::Compilers(name) => compilers::run(name),
        Request::AccelSim => accel_sim::run(),
        Request::Sweeps => sweeps::run(),
        Request::Report => report::run(),
        Request::Book => commands::book::run(),
        Request::Wasm => wasm::run(),
        Request::Python => commands::python::run(),
        Request::Regmap => commands::regmap::run(),
        Request::Synth(scope) => synth::run(scope),
        Request::Deviations { name } => commands::deviations::run(name.as_deref()),
        Request::Tidy => commands::tidy::run(),
        Request::Doctor => doctor::run(),
    };
    status.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_their_options_are_read() {
        assert_eq!(parse(&["setup"]), Ok(Request::Setup));
        assert_eq!(parse(&["test"]), Ok(Request::Test(test::Extent::Usual)));
        assert_eq!(parse(&["test", "--quick"]), Ok(Request::Test(test::Extent::Quick)));
        assert_eq!(parse(&["test", "--full"]), Ok(Request::Test(test::Extent::Full)));
        assert_eq!(parse(&["no-std"]), Ok(Request::NoStd { toolchain: None }));
        assert_eq!(
            parse(&["no-std", "--toolchain", "debian"]),
            Ok(Request::NoStd { toolchain: Some(no_std::Toolchain::Debian) })
        );
        assert_eq!(parse(&["qemu"]), Ok(Request::Qemu { build: false }));
        assert_eq!(parse(&["qemu", "--build"]), Ok(Request::Qemu { build: true }));
        let formal = |block: Option<&str>, extent| {
            Ok(Request::Formal { block: block.map(str::to_owned), extent })
        };
        assert_eq!(parse(&["formal"]), formal(None, formal::Extent::Small));
        assert_eq!(parse(&["formal", "b"]), formal(Some("b"), formal::Extent::Small));
        let mutants = formal(Some("b"), formal::Extent::Mutants);
        assert_eq!(parse(&["formal", "b", "--mutants"]), mutants);
        assert_eq!(parse(&["formal", "--full"]), formal(None, formal::Extent::Full));
        assert!(parse(&["formal", "--full", "--mutants"]).is_err());
        assert!(parse(&["formal", "a", "b"]).is_err());
        let fuzz = |seconds| Ok(Request::Fuzz { targets: &["trace"], seconds });
        assert_eq!(parse(&["fuzz"]), parse(&["fuzz", "all"]));
        assert_eq!(parse(&["fuzz", "trace"]), fuzz(60));
        assert_eq!(parse(&["fuzz", "trace", "5"]), fuzz(5));
        assert!(parse(&["fuzz", "trace", "0"]).is_err());
        assert!(parse(&["fuzz", "traces"]).is_err_and(|message| message.contains("recording")));
        assert_eq!(parse(&["life-ranges"]), Ok(Request::LifeRanges));
        assert_eq!(parse(&["nvcc"]), Ok(Request::Nvcc));
        assert_eq!(parse(&["compilers"]), Ok(Request::Compilers(None)));
        assert_eq!(parse(&["compilers", "gcc"]), Ok(Request::Compilers(Some("gcc"))));
        assert!(parse(&["compilers", "tcc"]).is_err_and(|message| message.contains("triton")));
        assert_eq!(parse(&["sweeps"]), Ok(Request::Sweeps));
        assert_eq!(parse(&["report"]), Ok(Request::Report));
        assert_eq!(parse(&["wasm"]), Ok(Request::Wasm));
        assert_eq!(parse(&["python"]), Ok(Request::Python));
        assert_eq!(parse(&["synth", "--check"]), Ok(Request::Synth(synth::Scope::Check)));
        assert!(parse(&["synth", "ulx3s-85f", "--block", "register_file_cache"]).is_ok());
        assert!(parse(&["synth", "ulx3s"]).is_err_and(|message| message.contains("ulx3s-85f")));
        let deviations =
            |name: Option<&str>| Ok(Request::Deviations { name: name.map(str::to_owned) });
        assert_eq!(parse(&["deviations"]), deviations(None));
        assert_eq!(parse(&["deviations", "DEV-001"]), deviations(Some("DEV-001")));
        assert!(parse(&["deviations", "1"]).is_err());
        assert_eq!(parse(&["tidy", "--help"]), Ok(Request::Help));
    }

    #[test]
    fn a_wrong_command_line_is_named() {
        assert_eq!(parse(&[]), Err("a command is missing".to_owned()));
        assert_eq!(parse(&["tset"]), Err("there is no command `tset`".to_owned()));
        let both = parse(&["test", "--quick", "--full"]);
        assert_eq!(both, Err("`test` does not take `--quick --full`".to_owned()));
        assert_eq!(parse(&["test", "--fast"]), Err("`test` does not take `--fast`".to_owned()));
        assert_eq!(
            parse(&["no-std", "--toolchain", "gcc"]),
            Err("`no-std` does not take `--toolchain gcc`".to_owned())
        );
    }

    #[test]
    fn every_command_is_in_the_help() {
        for command in [
            "setup",
            "test",
            "ci",
            "no-std",
            "qemu",
            "formal",
            "soc",
            "compilers",
            "accel-sim",
            "sweeps",
            "report",
            "wasm",
            "python",
            "regmap",
            "synth",
            "deviations",
            "tidy",
            "doctor",
        ] {
            let listed = HELP.lines().any(|line| line.trim_start().starts_with(command));
            assert!(listed, "{command}");
        }
    }
}
