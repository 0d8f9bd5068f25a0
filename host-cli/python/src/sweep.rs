//! Runs and sweeps.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use strata_core::MODEL_VERSION;
use strata_files::failure::{ExitStatus, Failure};
use strata_files::interrupt;
use strata_measure::KEPT_BYTES;
use strata_measure::options::EnergySource;
use strata_measure::parallel;
use strata_measure::subject::design_names;
use strata_report::tool;
use strata_study::sweep::SCHEMA;
use strata_study::sweep::axes::Axis;
use strata_study::sweep::batch::Batch;
use strata_study::sweep::begun::Begun;
use strata_study::sweep::definition::{self, Definition, How};
use strata_study::sweep::engine;
use strata_study::sweep::points::Points;
use strata_study::sweep::row::Row;
use strata_study::sweep::store::POINTS_PER_FILE;
use strata_workload::SEED;

use crate::arguments::{self, axes_of, named, names, wrong};
use crate::table::Table;
use crate::work::{Given, OnInterrupt, raised, work};

/// How inputs are executed and counted.
fn how(
    (mode, scale, ptx, order): (Option<&str>, Option<&str>, Option<&str>, Option<&str>),
    registers: Option<u16>,
    launch: Option<PathBuf>,
) -> PyResult<How> {
    Ok(How {
        mode: named("mode", mode)?,
        scale: named("scale", scale)?,
        ptx: named("ptx", ptx)?,
        order: named("order", order)?,
        registers: arguments::registers(registers)?,
        launch,
    })
}

/// Execute kernels, and count what their register accesses do to each design.
///
/// As `strata run`: a row for each input and design, with the columns of sweeps (docs/SWEEPS.md).
///
/// `workloads`: names (`strata.workloads()`), groups such as `"@extra"`, paths of PTX files, traces
/// or recordings; one or a list. Without it the suite.
///
/// `designs`: names (`strata.designs()`) or paths of design files, with parameters behind them if
/// wanted (`"isca11-rfc6,cache.entries=4"`); one or a list. Without it `isca11`, and with the
/// suite `isca11-rfc6` as well.
///
/// `mode`: `"count"` or `"cycle"`. `scale`: `"small"`, `"default"` or `"large"`. `set`: parameters
/// of the workloads' sizes. `seed`: another seed of all random contents. `energy`:
/// `"interpolate"`, or a technology file. `launch`: the launch file of PTX files. `ptx`, `order`
/// and `registers` (16 to 255) as the options of `strata run`. `jobs`: threads; never changes a
/// result.
///
/// Raises `StrataError` if one of the inputs fails under one of the designs.
#[pyfunction]
#[pyo3(signature = (
    workloads = None, designs = None, *, mode = None, scale = None, set = None, seed = None,
    energy = None, launch = None, ptx = None, order = None, registers = None, jobs = None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn run(
    py: Python<'_>,
    workloads: Option<&Bound<'_, PyAny>>,
    designs: Option<&Bound<'_, PyAny>>,
    mode: Option<&str>,
    scale: Option<&str>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u32>,
    energy: Option<PathBuf>,
    launch: Option<PathBuf>,
    ptx: Option<&str>,
    order: Option<&str>,
    registers: Option<u16>,
    jobs: Option<usize>,
) -> PyResult<Table> {
    let workloads = names("workloads", workloads)?;
    let designs = design_names(&names("designs", designs)?, &workloads);
    let mut set = axes_of("strata.run", "set", set)?;
    if let Some(several) = set.iter().find(|axis| axis.values.len() != 1) {
        let message = format!("`set` of `strata.run` gives `{}` several values", several.key);
        return Err(wrong(message, "`strata.sweep` runs all of them"));
    }
    if let Some(seed) = seed {
        let values = vec![seed.to_string()];
        set.push(Axis { key: SEED.to_owned(), values });
    }
    let definition = Definition {
        workloads,
        designs: EnergySource::behind_all(arguments::energy(energy)?.as_ref(), &designs),
        set,
        how: how((mode, scale, ptx, order), registers, launch)?,
        ..Definition::default()
    };
    let definition = definition.sorted().map_err(|failure| raised(&failure))?;
    let jobs = arguments::jobs(jobs)?;
    let rows = work(py, OnInterrupt::Leave, move |given| {
        let rows = evaluated(&definition, jobs, given)?;
        let failed = rows.iter().find_map(Row::error);
        failed.map_or(Ok(rows), |error| Err(Failure::input(error)))
    })?;
    Table::of_rows(&rows).map_err(|failure| raised(&failure))
}

/// The rows of all points, in order, kept in memory.
fn evaluated(
    definition: &Definition,
    jobs: Option<NonZeroUsize>,
    given: &Given,
) -> Result<Vec<Row>, Failure> {
    let pool = parallel::pool(parallel::jobs(jobs), &given.notes)?;
    pool.install(|| {
        let points = Points::new(definition, &given.notes)?;
        let rows = engine::rows(&points, &|| given.stop(), &given.notes)?;
        rows.ok_or_else(|| interrupt::failure(""))
    })
}

/// Evaluate every combination of inputs and designs.
///
/// As `strata sweep`: a row for each point, sorted, with the columns of docs/SWEEPS.md. A point
/// that fails is a row with its `error`.
///
/// `vary`: values of keys of design files; every combination is a design. Values are a list, or a
/// text as the command line has it: `{"cache.entries": "1..13", "active_warps": [2, 4, 8]}`.
/// `designs` are those that are varied, without it `isca11-rfc6`. `set`: values of parameters of
/// the workloads' sizes, or of `seed`, which changes all random inputs. The other arguments are
/// those of `run`. `file`: a file that describes the sweep, in the place of all of these.
///
/// `out`: a folder, which gets the same files as from the command line: points that are there are
/// not run again, so that the same call goes on after Ctrl-C or a crash. Without it nothing is
/// written.
#[pyfunction]
#[pyo3(signature = (
    file = None, *, vary = None, workloads = None, designs = None, mode = None, scale = None,
    set = None, energy = None, launch = None, ptx = None, order = None, registers = None,
    out = None, jobs = None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn sweep(
    py: Python<'_>,
    file: Option<PathBuf>,
    vary: Option<&Bound<'_, PyDict>>,
    workloads: Option<&Bound<'_, PyAny>>,
    designs: Option<&Bound<'_, PyAny>>,
    mode: Option<&str>,
    scale: Option<&str>,
    set: Option<&Bound<'_, PyDict>>,
    energy: Option<PathBuf>,
    launch: Option<PathBuf>,
    ptx: Option<&str>,
    order: Option<&str>,
    registers: Option<u16>,
    out: Option<PathBuf>,
    jobs: Option<usize>,
) -> PyResult<Table> {
    let has_more = vary.is_some() || workloads.is_some() || designs.is_some() || set.is_some();
    let has_more = has_more || energy.is_some() || launch.is_some() || registers.is_some();
    let has_more = has_more || [mode, scale, ptx, order].iter().any(Option::is_some);
    let definition = match file {
        Some(_) if has_more => {
            return Err(wrong(
                "`file` describes the whole sweep, and other arguments do as well".to_owned(),
                "give one or the others; `out` and `jobs` go with both",
            ));
        }
        Some(file) => Definition::load(&file).map_err(|failure| raised(&failure))?,
        None => Definition {
            workloads: names("workloads", workloads)?,
            designs: definition::designs(
                &names("designs", designs)?,
                arguments::energy(energy)?.as_ref(),
            ),
            vary: axes_of("strata.sweep", "vary", vary)?,
            random: None,
            set: axes_of("strata.sweep", "set", set)?,
            how: how((mode, scale, ptx, order), registers, launch)?,
        },
    };
    let definition = definition.sorted().map_err(|failure| raised(&failure))?;
    let jobs = arguments::jobs(jobs)?;
    let rows = match out {
        None => work(py, OnInterrupt::Leave, move |given| evaluated(&definition, jobs, given)),
        Some(folder) => work(py, OnInterrupt::Finish, move |given| {
            let pool = parallel::pool(parallel::jobs(jobs), &given.notes)?;
            pool.install(|| written(&definition, &folder, given))
        }),
    };
    Table::of_rows(&rows?).map_err(|failure| raised(&failure))
}

/// The rows of all points, in order, of which those that are new are written into a folder.
fn written(definition: &Definition, folder: &Path, given: &Given) -> Result<Vec<Row>, Failure> {
    let points = Points::new(definition, &given.notes)?;
    let begun = Begun::new(&points, folder, None, &given.notes)?;
    let room = (POINTS_PER_FILE, KEPT_BYTES);
    let done = begun.run(room, &|| given.stop(), &given.notes)?;
    if given.stop() && done.evaluated < begun.left() {
        return Err(interrupt::failure(&begun.told(done.evaluated, folder)));
    }
    begun.end()?;
    Ok(begun.store.contents()?.take(&points.list()))
}

/// What decides whether this package evaluates the batches of a program: its version, that of the
/// columns, and that of the model.
#[pyfunction]
#[pyo3(name = "_identity")]
pub(crate) fn identity() -> (String, &'static str, u32) {
    (tool().version, SCHEMA, MODEL_VERSION)
}

/// Evaluates a batch of a sweep that `strata sweep --engine dask` sent. Gives the exit status that
/// the program would have, and the bytes of a Parquet file of the rows, or else the message.
#[pyfunction]
#[pyo3(name = "_evaluate_batch")]
pub(crate) fn evaluate_batch(py: Python<'_>, text: String) -> PyResult<(u8, Bound<'_, PyBytes>)> {
    let evaluate = move |given: &Given| {
        let batch = Batch::parse(&text)?;
        let pool = parallel::pool(1, &given.notes)?;
        pool.install(|| batch.evaluate(&|| given.stop(), &given.notes))
    };
    let (status, bytes) = work(py, OnInterrupt::Leave, move |given| {
        Ok(evaluate(given).map_or_else(
            |failure| (failure.status().number(), failure.message().as_bytes().to_vec()),
            |rows| (ExitStatus::Success.number(), rows),
        ))
    })?;
    Ok((status, PyBytes::new(py, &bytes)))
}
