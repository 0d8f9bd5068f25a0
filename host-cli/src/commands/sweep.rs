//! `sweep`: every combination of inputs and designs, into files.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, copy, sink, stdin};
use std::num::NonZeroUsize;
use std::path::Path;
use std::{env, thread};

use strata_ptx::diagnostic::counted;

use super::interruption;
use crate::cli::sweep::{
    Engine, EngineArgs, SweepArgs, SweepCommand, SweepRunArgs, SweepTableArgs,
};
use crate::printer::Printer;
use strata_figures::plot;
use strata_figures::reproduce::figure::Kind;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::interrupt;
use strata_measure::KEPT_BYTES;
use strata_measure::notes::Notes as _;
use strata_measure::parallel;
use strata_report::columns::Form;
use strata_study::sweep::axes::Axis;
use strata_study::sweep::baseline::{self, Against, against};
use strata_study::sweep::batch::Batch;
use strata_study::sweep::begun::Begun;
use strata_study::sweep::dask::{self, Cluster};
use strata_study::sweep::definition::{self, Definition, How};
use strata_study::sweep::engine::{Done, Keeping};
use strata_study::sweep::key::Key;
use strata_study::sweep::points::Points;
use strata_study::sweep::row::Row;
use strata_study::sweep::store::{Contents, List, Store};
use strata_study::sweep::table::{self, filtered};

/// Errors of points that are shown.
const SHOWN_ERRORS: usize = 3;
/// Names the Python that has Dask.
const PYTHON: &str = "STRATA_PYTHON";
/// Most points of a batch, unless told.
const BATCH: usize = 64;

/// Runs the command.
pub fn run(args: &SweepArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    match &args.command {
        None => sweep(&args.run, printer),
        Some(SweepCommand::Status { folder }) => status(folder, printer),
        Some(SweepCommand::Merge { folder }) => merge(folder, printer),
        Some(SweepCommand::Table(args)) => table(args, printer),
        Some(SweepCommand::Worker) => worker(printer),
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
        designs: definition::designs(&args.designs, args.energy.energy.as_ref()),
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

fn sweep(args: &SweepRunArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let folder = args.out.as_deref().unwrap_or(Path::new(""));
    let pool = parallel::pool(parallel::jobs(args.jobs), printer)?;
    let cluster = cluster(&args.engine, pool.current_num_threads())?;
    if cluster.is_some() && args.keep_paths_mib.is_some() {
        return Err(Failure::input("`--keep-paths-mib` is for this machine, not for clusters")
            .hint("leave it out: workers execute inputs whose paths do not fit again"));
    }
    let definition = definition(args)?;
    let points = pool.install(|| Points::new(&definition, printer))?;
    let begun = Begun::new(&points, folder, args.shard, printer)?;
    let (mine, left) = (begun.mine.len(), begun.left());
    let found = mine - left;
    // From now on what has finished is written before a signal ends the program.
    interrupt::ask();
    interruption::finish_first(printer);
    let done = match &cluster {
        None => {
            let room = (args.points_per_file, kept_bytes(args.keep_paths_mib));
            pool.install(|| begun.run(room, &interrupt::came, printer))
        }
        Some(cluster) => {
            let keep = |rows: Vec<Row>| begun.store.add(&rows).map(drop);
            let most_rows = args.points_per_file.get();
            let keeping = Keeping { keep: &keep, most_rows, stop: &interrupt::came };
            dask::run((&definition, &points), &begun.pending, keeping, cluster, printer)
        }
    };
    let Done { evaluated, failed } = done?;
    if interrupt::came() && evaluated < left {
        return Err(interrupt::failure(&begun.told(evaluated, folder)));
    }
    begun.end()?;
    let failed = failed + begun.failed;
    let part = args.shard.map_or_else(String::new, |share| {
        format!(", part {} of {} of {} points", share.number, share.of, points.len())
    });
    printer.data(&format!(
        "{mine} points in `{}`{part}: {evaluated} run now, {found} found, {failed} failed\n",
        folder.display()
    ))?;
    if failed == 0 {
        return Ok(ExitStatus::Success);
    }
    note_errors(&begun.store.contents()?, &begun.mine, printer);
    Ok(ExitStatus::CheckFailed)
}

/// Bytes of memory for launches; unit of the argument: MiB.
fn kept_bytes(asked_for: Option<usize>) -> usize {
    asked_for.map_or(KEPT_BYTES, |mib| mib.saturating_mul(1 << 20))
}

/// The cluster that evaluates the points, with so many workers if it is on this machine; none if
/// this process does.
fn cluster(args: &EngineArgs, workers: usize) -> Result<Option<Cluster>, Failure> {
    let EngineArgs { engine, python, worker_strata, batch } = args;
    let Engine::Dask(address) = engine else {
        let given = [
            ("--python", python.is_some()),
            ("--worker-strata", worker_strata.is_some()),
            ("--batch", batch.is_some()),
        ];
        return match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::input(format!("`{option}` is for clusters"))
                .hint("`--engine dask://HOST:PORT` names one, `--engine dask` starts one")),
            None => Ok(None),
        };
    };
    if let Some(path) = worker_strata.as_ref().filter(|path| !path.is_absolute())
        && path.components().count() > 1
    {
        return Err(Failure::input(format!("`{}` is a relative path", path.display())).hint(
            "workers run in other folders: give an absolute path, or a name on their search path",
        ));
    }
    let python = python.clone().map(OsString::from);
    let python = python.or_else(|| env::var_os(PYTHON).filter(|python| !python.is_empty()));
    Ok(Some(Cluster {
        address: address.clone(),
        workers,
        python: python.unwrap_or_else(|| "python3".into()),
        program: worker_strata.clone(),
        most_points: batch.map_or(BATCH, NonZeroUsize::get),
    }))
}

/// Evaluates the batch on standard input.
fn worker(printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    let read = stdin().lock().read_line(&mut text);
    read.map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
    let batch = Batch::parse(&text)?;
    interrupt::ask();
    // The sender of the batch keeps its end open as long as it waits for the rows.
    thread::spawn(|| {
        let _ = copy(&mut stdin().lock(), &mut sink());
        interrupt::give_up();
    });
    let quiet = Printer::new(true);
    let rows = parallel::pool(1, &quiet)?.install(|| batch.evaluate(&interrupt::came, &quiet))?;
    printer.bytes(&rows).map(|_| ExitStatus::Success)
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

/// The points of a sweep that have the wanted values in their columns, and its list.
pub(super) fn points(
    folder: &Path,
    wanted: &[String],
    printer: &Printer,
) -> Result<(Vec<Row>, List), Failure> {
    let (store, list) = Store::open(folder)?;
    let mut contents = store.contents()?;
    contents.notes().for_each(|note| printer.note(&note));
    let rows = contents.take(&list);
    if rows.len() < list.points.len() {
        let missing = list.points.len() - rows.len();
        printer.note(&format!("{missing} of {} points are missing", list.points.len()));
    }
    Ok((filtered(rows, wanted)?, list))
}

/// A chart of a pivot, but for what it shows.
const LINES: plot::Axes<'static> =
    plot::Axes { x: "", y: &[], series: &[], only: None, kind: Kind::Lines };

fn table(args: &SweepTableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let plot = args.plot.asked()?;
    if plot.is_some() && args.pivot.is_empty() {
        return Err(Failure::input("a table without `--pivot` has no axis to draw")
            .hint("`--pivot cache.entries active_warps ipc` says what is drawn over what"));
    }
    let mut names = args.columns.clone();
    let (rows, list) = match &args.baseline {
        None => points(&args.folder, &args.wanted, printer)?,
        Some(baseline) => {
            let (rows, list) = points(&args.folder, &[], printer)?;
            let Against { rows, without } = against(rows, baseline)?;
            if without != 0 {
                let inputs = counted(without, "input");
                printer.note(&format!("no ratios, for want of a baseline: {inputs}"));
            }
            if names.is_empty() {
                names = baseline::columns(&rows, &list);
            }
            (filtered(rows, &args.wanted)?, list)
        }
    };
    let form = args.format.into();
    let mut drawn = Ok(());
    let table = match args.pivot.as_slice() {
        [line, column, value] => {
            let table = table::pivot(&rows, &list, [line, column, value])?;
            let (y, series) = ([value.as_str()], [column.as_str()]);
            let axes = plot::Axes { x: line, y: &y, series: &series, ..LINES };
            let points = table::table(&rows, &list, &args.pivot, Form::Csv)?;
            drawn = plot::draw(plot.as_ref(), &points, &axes, &plot::typed());
            table
        }
        _ => table::table(&rows, &list, &names, form)?,
    };
    let status = printer.table(&table, form)?;
    drawn.map(|()| status)
}
