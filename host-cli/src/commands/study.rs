//! `study`: sweeps over one parameter, each input executed once.

use crate::cli::ExitStatus;
use crate::cli::study::{ActiveWarpsArgs, Order, StudyCommand, StudyFormat};
use crate::commands::input::{self, Subject};
use crate::exact;
use crate::failure::Failure;
use crate::measure::Request;
use crate::printer::Printer;
use crate::study::active_warps::{self, Axes, Study};
use crate::workload;

/// Design whose scheduler is studied unless others are named.
const DEFAULT_DESIGN: &str = "isca11";

/// Runs the command.
pub fn run(command: &StudyCommand, printer: &Printer) -> Result<ExitStatus, Failure> {
    match command {
        StudyCommand::ActiveWarps(args) => active_warps(args, printer),
    }
}

fn active_warps(args: &ActiveWarpsArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let names = match args.designs.as_slice() {
        [] => vec![DEFAULT_DESIGN.to_owned()],
        names => names.to_vec(),
    };
    let axes = Axes {
        designs: input::designs(&names)?,
        schedulers: distinct(args.schedulers.iter().map(|scheduler| scheduler.core())),
        alu_latencies: distinct(args.alu_latencies.iter().copied()),
        scheduled: distinct(args.orders.iter().map(|&order| order == Order::Scheduled)),
        sizes: distinct(args.sizes.iter().copied()),
    };
    let request = Request::new(&args.source)?;
    let inputs: Vec<String> = if args.inputs.is_empty() {
        workload::names().map(str::to_owned).collect()
    } else {
        args.inputs.clone()
    };
    let subjects: Vec<Subject> =
        inputs.iter().map(|input| Subject::new(input, &args.source)).collect::<Result<_, _>>()?;
    let jobs = args.jobs.unwrap_or(0);
    let study = active_warps::run(&axes, &subjects, &request, jobs, printer)?;
    print(&study, args.format, printer)
}

fn print(study: &Study, format: StudyFormat, printer: &Printer) -> Result<ExitStatus, Failure> {
    match format {
        StudyFormat::Table => printer.data(&active_warps::to_table(study, &remarks())),
        StudyFormat::Csv => printer.data(&active_warps::to_csv(study)),
        StudyFormat::Json => {
            let text = active_warps::to_json(study)
                .map_err(|error| Failure::internal(&format!("cannot write JSON: {error}")))?;
            printer.data(&text)
        }
    }
}

/// What the papers claim.
fn remarks() -> Vec<String> {
    let claims = exact::claims().iter().filter(|claim| claim.id == "two-level-ipc");
    claims.map(|claim| format!("paper ({}): {}", claim.paper, claim.text)).collect()
}

/// In the order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
