//! Parallel: the inputs of a command on threads of their own, the results in the inputs' order.

use std::num::NonZeroUsize;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::failure::Failure;
use crate::printer::Printer;

/// Most threads for each core.
const MOST_PER_CORE: usize = 4;

/// What `--jobs` says, as [`each`] takes it.
pub fn jobs(asked_for: Option<NonZeroUsize>) -> usize {
    asked_for.map_or(0, NonZeroUsize::get)
}

/// What `work` makes of each input, or the first failure in their order. [`all`] says more.
pub(crate) fn each<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    printer: &Printer,
    name: impl Fn(&I) -> &str + Sync,
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    all(inputs, jobs, printer, name, work)?.into_iter().collect()
}

/// What `work` makes of each input, in their order. Prints which one is done.
///
/// `jobs` is the number of threads, 0 for one for each core. It never changes a result. More than
/// [`MOST_PER_CORE`] for each core are not started, which is noted.
pub(crate) fn all<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    printer: &Printer,
    name: impl Fn(&I) -> &str + Sync,
    work: impl Fn(&I) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let pool = pool(jobs, printer)?;
    let progress = printer.progress(inputs.len() as u64);
    let one = |input: &I| {
        let result = work(input);
        progress.set_message(name(input).to_owned());
        progress.inc(1);
        result
    };
    // One at a time: inputs differ too much in length to be dealt out in blocks.
    let results = pool.install(|| inputs.par_iter().with_max_len(1).map(one).collect());
    progress.finish_and_clear();
    Ok(results)
}

/// So many threads, 0 for one for each core.
///
/// # Errors
/// The system does not allow it.
pub fn pool(jobs: usize, printer: &Printer) -> Result<ThreadPool, Failure> {
    let most = MOST_PER_CORE * std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if jobs > most {
        printer.note(&format!(
            "`-j {jobs}`: {most} threads are started, {MOST_PER_CORE} for each core"
        ));
    }
    let jobs = jobs.min(most);
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| Failure::input(format!("cannot start {jobs} threads: {error}")))
}
