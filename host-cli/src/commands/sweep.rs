//! `sweep`: every combination of inputs and designs, into files.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::sweep::{SweepArgs, SweepCommand, SweepRunArgs, SweepTableArgs};
use crate::failure::{ExitStatus, Failure};
use crate::interrupt;
use crate::parallel;
use crate::printer::Printer;
use crate::sweep::axes::Axis;
use crate::sweep::definition::{DEFAULT_DESIGN, Definition, How};
use crate::sweep::engine::{self, Done, Pending};
use crate::sweep::key::Key;
use crate::sweep::points::Points;
use crate::sweep::store::{Contents, Store};
use crate::sweep::table::{Table, filtered};

/// Errors of points that are shown.
const SHOWN_ERRORS: usize = 3;

/// Runs the command.
pub fn run(args: &SweepArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    match &args.command {
        None => sweep(&args.run, printer),
        Some(SweepCommand::Status { folder }) => status(folder, printer),
        Some(SweepCommand::Merge { folder }) => merge(folder, printer),
        Some(SweepCommand::Table(args)) => table(args, printer),
    }
}

fn definition(args: &SweepRunArgs) -> Result<Definition, Failure> {
    if let Some(file) = &args.file {
        return Definition::load(file)?.sorted();
    }
    let axes = |option: &str, all: &[String]| {
        all.iter().map(|text| Axis::parse(option, text)).collect::<Result<Vec<_>, _>>()
    };
    let definition = Definition {
        workloads: args.workloads.clone(),
        designs: designs(args),
        vary: axes("--vary", &args.vary)?,
        random: None,
        set: axes("--set", &args.set)?,
        how: How {
            mode: args.mode,
            scale: args.scale,
            ptx: args.ptx,
            order: args.order,
            registers: args.registers,
            launch: args.launch.clone(),
        },
    };
    definition.sorted()
}

/// The designs that are varied; none for the default without a parameter.
fn designs(args: &SweepRunArgs) -> Vec<String> {
    let default = args.designs.is_empty() && args.energy.energy.is_some();
    let default = default.then(|| DEFAULT_DESIGN.to_owned());
    let designs: Vec<_> = args.designs.iter().cloned().chain(default).collect();
    args.energy.behind_all(&designs)
}

fn sweep(args: &SweepRunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let folder = args.out.as_deref().unwrap_or(Path::new(""));
    let pool = parallel::pool(parallel::jobs(args.jobs), printer)?;
    let definition = definition(args)?;
    let points = pool.install(|| Points::new(&definition, printer))?;
    let store = Store::create(folder, &points.list())?;
    let there = store.contents()?;
    there.notes().for_each(|note| printer.note(&note));
    let mut pending: Vec<Pending> = Vec::new();
    let mut mine: Vec<Key> = Vec::new();
    for input in 0..points.inputs.len() {
        let of_share =
            |&design: &usize| args.shard.is_none_or(|share| share.has(points.place(input, design)));
        let designs: Vec<_> = (0..points.designs.len()).filter(of_share).collect();
        mine.extend(designs.iter().map(|&design| points.key(input, design)));
        let new = |design: &usize| !there.rows.contains_key(&points.key(input, *design));
        let designs: Vec<_> = designs.into_iter().filter(new).collect();
        if !designs.is_empty() {
            pending.push((input, designs));
        }
    }
    let left: usize = pending.iter().map(|(_, designs)| designs.len()).sum();
    let found = mine.len() - left;
    let old_failures = failures(&there, &mine);
    drop(there);
    // From now on what has finished is written before a signal ends the program.
    interrupt::ask();
    let most_rows = args.points_per_file.get();
    let done = pool.install(|| engine::run(&points, &pending, (&store, most_rows), printer))?;
    let Done { evaluated, failed } = done;
    if interrupt::came() && evaluated < left {
        return Err(Failure::interrupted(&format!(
            "{} of {} points are in `{}`; the same command goes on",
            found + evaluated,
            mine.len(),
            folder.display()
        )));
    }
    let failed = failed + old_failures;
    let part = args.shard.map_or_else(String::new, |share| {
        format!(", part {} of {} of {} points", share.number, share.of, points.len())
    });
    printer.data(&format!(
        "{} points in `{}`{part}: {evaluated} run now, {found} found, {failed} failed\n",
        mine.len(),
        folder.display()
    ))?;
    if failed == 0 {
        return Ok(ExitStatus::Success);
    }
    note_errors(&store.contents()?, &mine, printer);
    Ok(ExitStatus::CheckFailed)
}

/// How many of some points have failed.
fn failures(contents: &Contents, keys: &[Key]) -> usize {
    let rows = keys.iter().filter_map(|key| contents.rows.get(key));
    rows.filter(|row| row.error().is_some()).count()
}

/// The first errors of some points.
fn note_errors(contents: &Contents, keys: &[Key], printer: &Printer) {
    let mut told: Vec<String> = Vec::new();
    for row in keys.iter().filter_map(|key| contents.rows.get(key)) {
        let Some(error) = row.error() else { continue };
        if told.contains(&error) || told.len() == SHOWN_ERRORS {
            continue;
        }
        let label = |name| row.get(name).map_or_else(String::new, |cell| cell.to_string());
        printer.note(&format!("{}, {}: {error}", label("workload"), label("design")));
        told.push(error);
    }
}

fn status(folder: &Path, printer: &Printer) -> Result<ExitStatus, Failure> {
    let (store, list) = Store::open(folder)?;
    let mut contents = store.contents()?;
    contents.notes().for_each(|note| printer.note(&note));
    let rows = contents.take(&list);
    let failed = rows.iter().filter(|row| row.error().is_some()).count();
    let mut text = format!(
        "{} points: {} done, {failed} failed, {} left\nfiles: {}\nmodel: version {}\n",
        list.points.len(),
        rows.len() - failed,
        list.points.len() - rows.len(),
        contents.files.len(),
        list.model
    );
    if !contents.rows.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "points of another sweep: {}", contents.rows.len());
    }
    printer.data(&text)
}

fn merge(folder: &Path, printer: &Printer) -> Result<ExitStatus, Failure> {
    let (store, list) = Store::open(folder)?;
    store.contents()?.notes().for_each(|note| printer.note(&note));
    let (path, missing) = store.merge(&list)?;
    if missing != 0 {
        printer.note(&format!("{missing} of {} points are missing", list.points.len()));
    }
    printer.data(&format!("{}\n", path.display()))
}

fn table(args: &SweepTableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let (store, list) = Store::open(&args.folder)?;
    let mut contents = store.contents()?;
    contents.notes().for_each(|note| printer.note(&note));
    let rows = contents.take(&list);
    if rows.len() < list.points.len() {
        let missing = list.points.len() - rows.len();
        printer.note(&format!("{missing} of {} points are missing", list.points.len()));
    }
    let rows = filtered(rows, &args.wanted)?;
    let form = args.format.into();
    let table = match args.pivot.as_slice() {
        [line, column, value] => Table::pivot(&rows, &list, [line, column, value])?,
        _ => Table::new(&rows, &list, &args.columns, form)?,
    };
    printer.data(&table.to_text(form)?)
}
