//! What is inspected: PTX with its kernels, and the design.

use std::path::Path;

use strata_ptx::diagnostic::{Diagnostic, DiagnosticKind};
use strata_ptx::module::{Function, FunctionId, Module};

use crate::cli::InspectArgs;
use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_measure::subject;
use strata_workload::kernel_name;
use strata_workload::{self as workload, Toolchain, Workload};

/// Design unless another is named.
const DEFAULT_DESIGN: &str = "isca11-rfc6";

/// What shows a trace.
pub(super) const NOT_OF_TRACES: &str = "`strata run` counts its accesses, `strata trace info` \
                                        describes a recording; name a workload or a PTX file here";

/// The design that is named, or the one unless another is.
pub(super) fn design(args: &InspectArgs) -> Result<Design, Failure> {
    Ok(design::resolve(args.design.as_deref().unwrap_or(DEFAULT_DESIGN))?)
}

/// A module, and what keeps parts of it from being executed.
pub(in crate::commands) fn parse(
    file: &str,
    source: &str,
) -> Result<(Module, Vec<Diagnostic>), Failure> {
    let parsed = strata_ptx::parse(source);
    if parsed.has_errors() {
        let errors: Vec<Diagnostic> = parsed
            .diagnostics
            .into_iter()
            .filter(|found| found.kind == DiagnosticKind::Error)
            .collect();
        return Err(subject::diagnostics(file, source, &errors));
    }
    Ok((parsed.module, parsed.diagnostics))
}

/// The kernels of a module, or the one of a name, as the PTX or its C++ has it.
pub(super) fn kernels<'m>(
    module: &'m Module,
    only: Option<&str>,
    file: &str,
) -> Result<Vec<(FunctionId, &'m Function)>, Failure> {
    let names = module.kernels().map(|(_, function)| function.name.as_str());
    let only = only.map(|only| kernel_name::find(names, only).map_err(|meant| (only, meant)));
    let only = only.transpose().map_err(|(asked, meant)| no_kernel(module, asked, &meant, file))?;
    Ok(module.kernels().filter(|(_, found)| only.is_none_or(|only| only == found.name)).collect())
}

/// The kernels that [`kernels`] finds. A module without any is an error.
pub(in crate::commands) fn some_kernels<'m>(
    module: &'m Module,
    only: Option<&str>,
    file: &str,
) -> Result<Vec<(FunctionId, &'m Function)>, Failure> {
    let found = kernels(module, only, file)?;
    if found.is_empty() { Err(without_kernels(file)) } else { Ok(found) }
}

fn without_kernels(file: &str) -> Failure {
    Failure::input(format!("`{file}` has no kernel"))
        .hint("a kernel begins with `.entry`; device functions alone are not compiled")
}

/// Why a name is that of no kernel, or of several.
fn no_kernel(module: &Module, asked: &str, meant: &[String], file: &str) -> Failure {
    let all: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
    match (all.as_slice(), meant) {
        ([], _) => without_kernels(file),
        (all, []) => Failure::input(format!("`{file}` has no kernel `{asked}`"))
            .hint(format!("it has {}", kernel_name::list(all.iter().copied()))),
        (_, several) => Failure::input(format!("`{file}` has several kernels `{asked}`"))
            .hint(format!("name one of them: {}", several.join("; "))),
    }
}

/// A workload's PTX, or a file's, with its name for messages.
pub(in crate::commands) fn source(
    name: &str,
    ptx: Option<Toolchain>,
) -> Result<(String, String), Failure> {
    subject::with_ptx(name, NOT_OF_TRACES)?;
    if subject::is_file(name) {
        subject::without_ptx(name, ptx)?;
        subject::ptx_file(name)?;
        let path = Path::new(name);
        let text = workload::read_ptx(path)?;
        return Ok((name.to_owned(), text));
    }
    let workload = Workload::builtin(name, ptx.unwrap_or_default())?;
    Ok((workload.ptx_file.clone(), workload.ptx.into_owned()))
}
