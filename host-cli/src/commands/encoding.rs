//! `study encoding`: the names of a compiler-managed hierarchy, and what they cost.

use crate::cli::study::{EncodingArgs, StudyFormat};
use crate::design;
use crate::failure::{ExitStatus, Failure};
use crate::measure::{self, Request};
use crate::printer::Printer;
use crate::study::encoding;
use crate::subject;
use crate::workload::Workload;

/// Runs the command.
pub fn run(args: &EncodingArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let design = design::resolve(&args.design)?;
    let request = Request::new(&args.source)?;
    let workloads = subject::workloads(&args.inputs, &args.source, "which has no program to fit")?;
    let (bits, jobs) = (args.specifier_bits, args.jobs.unwrap_or(0));
    let mut study = encoding::run(&workloads, &design, bits, &request, jobs, printer)?;
    study.command = command_line(args, &workloads, &request);
    match args.format {
        StudyFormat::Table => printer.data(&encoding::to_table(&study, &remarks())),
        StudyFormat::Csv => printer.data(&encoding::to_csv(&study)),
        StudyFormat::Json => {
            let text = encoding::to_json(&study)
                .map_err(|error| Failure::internal(&format!("cannot write JSON: {error}")))?;
            printer.data(&text)
        }
    }
}

/// What makes the study again.
fn command_line(args: &EncodingArgs, workloads: &[Workload], request: &Request) -> String {
    let mut words = ["strata", "study", "encoding"].map(str::to_owned).to_vec();
    // Options behind the inputs are shared by all of them.
    let mut options: &[String] = &[];
    for workload in workloads {
        if let [name, more @ ..] = workload.arguments.as_slice() {
            words.push(name.clone());
            options = if options.is_empty() { more } else { options };
        }
    }
    words.extend_from_slice(options);
    words.extend(["--design".to_owned(), args.design.clone()]);
    words.extend(["--specifier-bits".to_owned(), args.specifier_bits.to_string()]);
    words.extend_from_slice(request.words());
    measure::command_line(&words)
}

/// What the dissertation prints.
fn remarks() -> Vec<String> {
    vec![
        "[DISS] 6.5.5, Figure 6.18: LRF only +2 %, none +7 %; 4.4.2: a bit at most 0.3 %; its own \
         workloads"
            .to_owned(),
    ]
}
