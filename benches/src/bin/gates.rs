//! Gates of the hot loops' speed, in host instructions for each simulated warp instruction.
//!
//! `gates` compares the work with its budgets in `benches/gates.toml`. `gates run NAME TIMES`
//! does one piece of work that often and prints its warp instructions: that is what the gates run
//! under valgrind, twice, so that the difference is the work without what prepares it. `gates
//! trace fma|stream FOLDER` writes one of the traces that Accel-Sim's speed was measured on. `gates
//! kernel FILE` times the largest kernel of a PTX file.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rayon::prelude::*;
use strata_benches::gate::{Budgets, Verdict, instructions_of_report, judge};
use strata_benches::synthetic::{CTAS, Kernel};
use strata_benches::{WORK, Work, compiling, find};

/// Repetitions of the short and of the long run.
const TIMES: [u64; 2] = [1, 5];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        [] => gates(),
        ["run", name, times] => run(name, times),
        ["trace", "fma", folder] => trace(Kernel::MultiplyAdds, folder),
        ["trace", "stream", folder] => trace(Kernel::Stream, folder),
        ["kernel", file] => kernel(file),
        _ => {
            Err("usage: gates [run NAME TIMES | trace fma|stream FOLDER | kernel FILE]".to_owned())
        }
    };
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Does a piece of work.
fn run(name: &str, times: &str) -> Result<ExitCode, String> {
    let work = find(name).ok_or_else(|| format!("there is no work `{name}`"))?;
    let times: u64 = times.parse().map_err(|_| format!("`{times}` is no number"))?;
    let mut once = (work.prepare)();
    let instructions: u64 = (0..times).map(|_| once()).sum();
    println!("{instructions}");
    Ok(ExitCode::SUCCESS)
}

/// Writes a whole trace and the list that names it.
fn trace(kernel: Kernel, folder: &str) -> Result<ExitCode, String> {
    let folder = Path::new(folder);
    let text = kernel.text(CTAS, kernel.iterations());
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("kernel-1.traceg"), text))
        .and_then(|()| std::fs::write(folder.join("kernelslist.g"), "kernel-1.traceg\n"))
        .map_err(|error| format!("`{}`: {error}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Times a file's largest kernel.
fn kernel(file: &str) -> Result<ExitCode, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("`{file}`: {error}"))?;
    let largest =
        compiling::largest(&text).ok_or_else(|| format!("`{file}` has no kernel to compile"))?;
    println!(
        "{}: {} instructions, {:.2?} to compile, {:.2?} to fit",
        largest.name, largest.instructions, largest.compiling, largest.fitting
    );
    Ok(ExitCode::SUCCESS)
}

/// Compares every piece of work with its budget.
fn gates() -> Result<ExitCode, String> {
    let budgets = Budgets::parse(include_str!("../../gates.toml")).map_err(|e| e.to_string())?;
    let mut exceeded = 0;
    // What is counted does not depend on what else runs.
    let works: Vec<&Work> = WORK.iter().copied().flatten().collect();
    let measured: Vec<f64> =
        works.par_iter().map(|work| measure(work)).collect::<Result<_, _>>()?;
    println!("host instructions for each warp instruction, by valgrind's count");
    println!("{:24} {:>9} {:>9}", "work", "measured", "budget");
    for (work, measured) in works.into_iter().zip(measured) {
        let budget = budgets.instructions.get(work.name).copied();
        let budget = budget.ok_or_else(|| format!("gates.toml has no `{}`", work.name))?;
        let remark = match judge(measured, budget, budgets.tolerance_percent) {
            Verdict::Held => "",
            Verdict::TightenBudget => "  note: much better; tighten the budget in gates.toml",
            Verdict::Exceeded => {
                exceeded += 1;
                "  EXCEEDED"
            }
        };
        println!("{:24} {measured:9.2} {budget:9.2}{remark}", work.name);
    }
    if exceeded == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    println!("{exceeded} over budget by more than {} %", budgets.tolerance_percent);
    Ok(ExitCode::FAILURE)
}

/// Host instructions for each warp instruction.
fn measure(work: &Work) -> Result<f64, String> {
    let [short, long] = TIMES.map(|times| count(work, times));
    let ((short_host, short_warp), (long_host, long_warp)) = (short?, long?);
    let host = long_host.saturating_sub(short_host);
    let warp = long_warp.saturating_sub(short_warp);
    if host == 0 || warp == 0 {
        return Err(format!("`{}` does no more work when it is repeated", work.name));
    }
    Ok(host as f64 / warp as f64)
}

/// Host instructions and warp instructions of a run under valgrind.
fn count(work: &Work, times: u64) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", work.name, &times.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`valgrind` could not be run ({error}): cargo xtask setup"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("`{}` failed under valgrind:\n{report}", work.name));
    }
    let host = instructions_of_report(&report)
        .ok_or_else(|| format!("no instruction count in valgrind's report:\n{report}"))?;
    let warp = String::from_utf8_lossy(&output.stdout);
    let warp = warp.trim().parse().map_err(|_| format!("`{warp}` is no number"))?;
    Ok((host, warp))
}
