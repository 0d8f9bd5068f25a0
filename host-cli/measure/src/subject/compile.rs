//! Compile: options of a command line for compiling a workload at one size, and doing it.

use strata_compiler::{CompileOptions, Order, RegisterLimit};
use strata_files::failure::Failure;
use strata_workload::simulate::Prepared;
use strata_workload::{Overrides, Workload, parse_override};

use super::problems::run_error;
use crate::options::Source;

/// How kernels are to be compiled.
pub fn options(args: &Source) -> Result<CompileOptions, Failure> {
    let registers = args.registers.and_then(RegisterLimit::new);
    let order = args.order()?;
    if order == Order::ScheduledRenamed && registers.is_some() {
        return Err(Failure::input(format!(
            "`--order {}` takes as many registers as it needs",
            order.name()
        ))
        .hint(format!(
            "leave `--registers` out, or choose `--order {}`",
            Order::Scheduled.name()
        )));
    }
    Ok(CompileOptions { registers, order })
}

/// Parses `--set NAME=VALUE`.
pub fn overrides(settings: &[String]) -> Result<Overrides, Failure> {
    let mut overrides = Overrides::new();
    for setting in settings {
        let (name, value) = parse_override(setting)?;
        if overrides.insert(name.clone(), value).is_some() {
            return Err(Failure::input(format!("`--set {name}=...` is given twice")));
        }
    }
    Ok(overrides)
}

/// Compiles a workload at one size, or says everything that keeps it from running.
pub fn prepare(
    workload: &Workload,
    size: &str,
    overrides: &Overrides,
) -> Result<Prepared, Failure> {
    let prepared =
        Prepared::new(workload, size, overrides).map_err(|error| run_error(workload, &error))?;
    for program in &prepared.programs {
        if program.general_registers > RegisterLimit::MAX {
            return Err(Failure::input(format!(
                "kernel `{}` needs {} registers per thread, {max} are available",
                program.name,
                program.general_registers,
                max = RegisterLimit::MAX
            ))
            .hint(format!(
                "`--registers {max}` spills what does not fit to local memory",
                max = RegisterLimit::MAX
            )));
        }
    }
    Ok(prepared)
}
