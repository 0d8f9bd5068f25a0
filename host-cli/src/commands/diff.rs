//! `diff`: what changed from one design, or run, to another, and which events caused it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::inspect::Shown;
use super::{inspect, run};
use crate::cli::diff::{DiffArgs, DiffFormat};
use crate::cli::table::ColumnsArg;
use crate::cli::{InspectArgs, ListingFormat};
use crate::printer::Printer;
use strata_design::{self as design, Design};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::Request;
use strata_measure::subject::{self, Subject};
use strata_report::difference::{self, Difference, Side};
use strata_report::{self as report, json};

/// Runs the command.
pub fn run(args: &DiffArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let files = [&args.from, &args.to].map(|side| is_report(side));
    let difference = match files {
        [true, true] => of_files(args)?,
        [false, false] => of_designs(args, printer)?,
        _ => {
            return Err(Failure::input("a design cannot be compared with a file of reports")
                .hint("name two designs, or two files that `strata run --format json` wrote"));
        }
    };
    match args.format {
        DiffFormat::Table => printer.data(&difference::to_table(&difference)),
        DiffFormat::Json => printer.data(&json::to_text(&difference)?),
    }
}

fn is_report(side: &str) -> bool {
    let extension = Path::new(side).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn of_designs(args: &DiffArgs, printer: &Printer) -> Result<Difference, Failure> {
    let names = args.energy.behind_all(&[args.from.clone(), args.to.clone()]);
    let designs = subject::designs(&names)?;
    let subjects = subject::subjects(&args.inputs, &args.source, printer)?;
    let request = Request::new(&args.source)?.in_mode(args.mode).for_designs(&designs);
    let reports = run::measure_all(args.jobs, &subjects, &designs, (&request, None), printer)?;
    let reports = serde_json::to_value(&reports).map_err(|error| {
        Failure::internal(&format!("reports cannot be written as JSON: {error}"))
    })?;
    let reports = reports.as_array().cloned().unwrap_or_default();
    let mut sides = Vec::new();
    for (place, design) in designs.iter().enumerate() {
        let own = reports.iter().skip(place).step_by(designs.len()).cloned().collect();
        let profiles = profiles(args, (&names[place], &subjects), printer)?;
        sides.push(Side {
            name: design.name.clone(),
            reports: own,
            profiles,
            design: Some(design),
        });
    }
    Ok(Difference::new(&sides[0], &sides[1], args.lines))
}

/// What each line of the workloads did under a design, if lines are asked for.
fn profiles(
    args: &DiffArgs,
    (design, subjects): (&str, &[Subject]),
    printer: &Printer,
) -> Result<BTreeMap<String, Value>, Failure> {
    let mut all = BTreeMap::new();
    if args.lines == 0 {
        return Ok(all);
    }
    for subject in subjects {
        let Subject::Workload(workload) = subject else { continue };
        let inspect = InspectArgs {
            input: workload.arguments.first().cloned().unwrap_or_default(),
            profile: true,
            mode: Some(args.mode),
            design: Some(design.to_owned()),
            sort: None,
            top: None,
            format: ListingFormat::Json,
            columns: ColumnsArg { names: Vec::new() },
            source: args.source.clone(),
        };
        let Shown::Text(text) = inspect::profiled(&inspect, printer)? else {
            return Err(Failure::internal("a profile is no text"));
        };
        let profile = serde_json::from_str(&text)
            .map_err(|error| Failure::internal(&format!("a profile is no JSON: {error}")))?;
        all.insert(workload.name.clone(), profile);
    }
    Ok(all)
}

fn of_files(args: &DiffArgs) -> Result<Difference, Failure> {
    if !args.inputs.is_empty() || args.lines != 0 {
        return Err(Failure::input("inputs and `--lines` are for designs: files have what ran")
            .hint("leave them out, or name two designs"));
    }
    let [from, to] = [reports(&args.from)?, reports(&args.to)?];
    // Of a file with several designs it would not be clear which is meant.
    let [from_design, to_design] = [only_design(&args.from, &from)?, only_design(&args.to, &to)?];
    let known = |name: &str| -> Option<Design> { design::resolve(name).ok() };
    let designs = [known(&from_design), known(&to_design)];
    let side = |file: &str, reports, design| Side {
        name: file.to_owned(),
        reports,
        profiles: BTreeMap::new(),
        design,
    };
    let from = side(&args.from, from, designs[0].as_ref());
    let to = side(&args.to, to, designs[1].as_ref());
    Ok(Difference::new(&from, &to, 0))
}

/// The reports of a file.
fn reports(file: &str) -> Result<Vec<Value>, Failure> {
    let text = json::text_of(Path::new(file))?;
    let wrong = |what: String| {
        Failure::input(format!("{file}: {what}"))
            .hint("give what `strata run --format json` of this version wrote")
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| {
        wrong(format!("{}:{}: it is no JSON: {error}", error.line(), error.column()))
    })?;
    let all = value.as_array().cloned().ok_or_else(|| wrong("it is no array of reports".into()))?;
    for (place, report) in all.iter().enumerate() {
        let schema = report.get("schema").and_then(Value::as_str).unwrap_or("none");
        if schema != report::SCHEMA {
            let expected = report::SCHEMA;
            return Err(wrong(format!("report {place} has schema `{schema}`, not `{expected}`")));
        }
    }
    if all.is_empty() {
        return Err(wrong("it has no report".to_owned()));
    }
    Ok(all)
}

/// The design of all reports of a file.
fn only_design(file: &str, reports: &[Value]) -> Result<String, Failure> {
    let design = |report: &Value| report.get("design").and_then(Value::as_str).map(str::to_owned);
    let mut names: Vec<String> = reports.iter().filter_map(design).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [one] => Ok(one.clone()),
        several => Err(Failure::input(format!(
            "{file} has reports of {} designs: {}",
            several.len(),
            several.join(", ")
        ))
        .hint("write each design's reports into a file of its own")),
    }
}
