//! `explain`: everything that is known about the instructions of one line of PTX.

mod fit;
mod hardware;
mod instruction;
mod managed;
mod page;

use std::fmt::Write as _;

use strata_compiler::explain::Explainer;
use strata_compiler::inline::inline;
use strata_compiler::kernel::Kernel;
use strata_compiler::listing::Listing;
use strata_compiler::program::{Origin, Program};
use strata_compiler::{CompileOptions, Order, RegisterLimit, compile};
use strata_ptx::diagnostic::{Diagnostic, counted};
use strata_ptx::module::Module;

use crate::cli::ExplainArgs;
use crate::commands::inspect;
use crate::printer::Printer;
use strata_design::cost::cost;
use strata_design::{self as design, Design};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::subject;
use strata_workload::decoded::unsupported_of;

use fit::Fit;
use page::Page;

/// Runs the command.
pub fn run(args: &ExplainArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let design = design::resolve(&args.design)?;
    design.without_data_cache_for("costs of single instructions")?;
    let (file, source) = inspect::source(&args.input, args.ptx)?;
    subject::warn(&file, &source, printer);
    let (module, unsupported) = inspect::parse(&file, &source)?;
    let kernels = inspect::some_kernels(&module, args.kernel.as_deref(), &file)?;
    let registers = args.registers.and_then(RegisterLimit::new);
    let options = CompileOptions { registers, order: Order::Ptx };
    let mut found = String::new();
    let mut cuda = None;
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for (id, _) in kernels {
        // Without an instruction, others would be explained wrongly.
        let missing = unsupported_of(&module, &unsupported, id);
        if !missing.is_empty() {
            problems.extend(missing);
            continue;
        }
        match compile(&module, id, options) {
            Ok(program) => {
                lines.extend(program.instructions.iter().map(|i| i.line));
                let mut of_line = program.instructions.iter().filter(|i| i.line == args.line);
                cuda = cuda.or_else(|| of_line.find_map(|i| module.cuda.of(i.instruction.span)));
                let kernel = inline(&module, id)
                    .map_err(|_| Failure::internal("a kernel is not inlined twice alike"))?;
                found += &explain(&module, &program, &kernel, &design, args.line)?;
            }
            Err(more) => problems.extend(more),
        }
    }
    if found.is_empty() {
        return Err(nothing(&file, &source, args.line, lines, &problems));
    }
    printer.data(&format!(
        "{file}, line {}{}: {}\ndesign {}; energies are of a whole warp: of one access, savings of \
         one execution\n{found}",
        args.line,
        cuda.map_or_else(String::new, |place| format!(" ({place})")),
        source.lines().nth(args.line as usize - 1).unwrap_or_default().trim(),
        design.name
    ))
}

/// The pages of a kernel's instructions of one line; empty if it has none.
fn explain(
    module: &Module,
    program: &Program,
    kernel: &Kernel,
    design: &Design,
    line: u32,
) -> Result<String, Failure> {
    let pcs = program.instructions.iter().enumerate().filter(|(_, i)| i.line == line);
    let pcs: Vec<usize> = pcs.map(|(pc, _)| pc).collect();
    let mut text = left_out(module, program, kernel, line);
    if pcs.is_empty() {
        return Ok(text);
    }
    let explainer = Explainer::new(program).map_err(|problem| {
        Failure::input(format!("kernel `{}` cannot be analysed: {}", program.name, problem.message))
    })?;
    let fitted = match (&design.managed, &design.energy) {
        (None, _) => None,
        (Some(managed), Ok(table)) => {
            let fitted = Fit::new(explainer.code(), managed.config(table));
            Some(fitted.map_err(|error| Failure::internal(&error.to_string()))?)
        }
        (Some(_), Err(reason)) => {
            let name = &design.name;
            return Err(Failure::input(format!(
                "`{name}` has no energies, which decide what its compiler keeps: {reason}"
            )));
        }
    };
    let listing = Listing { module, program, values: false, hierarchy: None, margin: &[] };
    let page = Page {
        module,
        program,
        kernel,
        explainer: &explainer,
        design,
        fitted: fitted.as_ref(),
        instructions: listing.instructions(),
        blocks: listing.blocks(),
        costs: cost(design).accesses.unwrap_or_default(),
    };
    for pc in pcs {
        text.push('\n');
        text += &page.instruction(pc);
    }
    Ok(text)
}

/// What spilling left out of a line.
fn left_out(module: &Module, program: &Program, kernel: &Kernel, line: u32) -> String {
    let mut text = String::new();
    for dropped in &program.dropped {
        if kernel.lines.get(dropped.definition as usize) != Some(&line) {
            continue;
        }
        let again = program.instructions.iter().enumerate();
        let again = again.filter(|(_, i)| i.origin == Origin::Again(dropped.definition));
        let places: Vec<String> = again.map(|(pc, _)| page::place(module, program, pc)).collect();
        let _ = writeln!(
            text,
            "\n{}: the instruction is left out; its value is made again where it is read, at {}",
            program.name,
            places.join(", ").replace(page::TIE, " ")
        );
    }
    text
}

/// A line without instructions.
fn nothing(
    file: &str,
    source: &str,
    line: u32,
    mut lines: Vec<u32>,
    problems: &[Diagnostic],
) -> Failure {
    if lines.is_empty() {
        return subject::diagnostics(file, source, problems);
    }
    lines.sort_unstable();
    lines.dedup();
    let after = lines.partition_point(|&other| other < line);
    let before = after.checked_sub(1).and_then(|before| lines.get(before));
    let text = |line: &u32| {
        let text = source.lines().nth(*line as usize - 1).unwrap_or_default();
        format!("line {line} (`{}`)", text.trim())
    };
    let near: Vec<String> = before.into_iter().chain(lines.get(after)).map(text).collect();
    let count = source.lines().count();
    let what = if line as usize > count {
        format!("`{file}` has {}, not {line}", counted(count, "line"))
    } else {
        format!("line {line} of `{file}` holds no instruction that a kernel executes")
    };
    let near = if near.len() == 1 {
        format!("the nearest that does is {}", near.concat())
    } else {
        format!("the nearest that do are {}", near.join(" and "))
    };
    Failure::input(what).hint(near)
}
