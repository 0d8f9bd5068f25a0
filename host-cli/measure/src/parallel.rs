//! Parallel: the inputs of a command on threads of their own, the results in the inputs' order.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;

use crate::notes::Notes;
use strata_files::failure::Failure;
use strata_files::interrupt;

/// Most threads for each core.
const MOST_PER_CORE: usize = 4;

/// What `--jobs` says, as [`each`] takes it.
pub fn jobs(asked_for: Option<NonZeroUsize>) -> usize {
    asked_for.map_or(0, NonZeroUsize::get)
}

/// What became of inputs: of the first ones, all unless Ctrl-C came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished<T> {
    /// What was made of each, in their order.
    pub results: Vec<T>,
    /// The names of the others.
    pub missing: Vec<String>,
}

impl<T> Finished<T> {
    /// What was made of inputs that were begun in their order, and the names of the others.
    ///
    /// # Errors
    /// Ctrl-C came before the first.
    pub fn new(results: Vec<T>, missing: Vec<String>) -> Result<Self, Failure> {
        if results.is_empty() {
            check_all(missing.len(), &missing)?;
        }
        Ok(Self { results, missing })
    }

    /// All results.
    ///
    /// # Errors
    /// Some are missing.
    pub fn all(self) -> Result<Vec<T>, Failure> {
        let of = self.results.len() + self.missing.len();
        check_all(of, &self.missing).map(|()| self.results)
    }
}

/// Whether none of so many inputs is missing.
///
/// # Errors
/// Ctrl-C came before.
pub fn check_all(of: usize, missing: &[String]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    let (done, names) = (of.saturating_sub(missing.len()), missing.join(", "));
    Err(interrupt::failure(&format!("{done} of {of} inputs are done; missing: {names}")))
}

/// What `work` makes of each input, in their order, or the first failure. [`in_order`] says more.
pub fn each<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    notes: &dyn Notes,
    name: impl Fn(&I) -> &str + Sync,
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    finished(inputs, jobs, notes, name, work)?.all()
}

/// What `work` makes of each input that was begun before Ctrl-C, if there is one, in their order,
/// or the first failure. [`in_order`] says more.
pub fn finished<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    notes: &dyn Notes,
    name: impl Fn(&I) -> &str + Sync,
    work: impl Fn(&I) -> Result<T, Failure> + Sync,
) -> Result<Finished<T>, Failure> {
    let mut results = Vec::with_capacity(inputs.len());
    let take = |result: Result<T, Failure>| {
        results.push(result?);
        Ok(true)
    };
    let done = in_order(inputs, jobs, notes, &name, work, take)?;
    let missing: Vec<_> = inputs[done..].iter().map(|input| name(input).to_owned()).collect();
    Finished::new(results, missing)
}

/// Hands what `work` makes of each input to `take`, in the order of the inputs, each as soon as it
/// and all before it are finished. Shows which run, and how far they are.
///
/// `jobs` is the number of threads, 0 for one for each core. It never changes a result. More than
/// four for each core are not started, which is noted. Inputs are begun in their order, and no
/// further one once `take` has said no or failed, or a signal came. Returns how many have been
/// taken.
pub fn in_order<I: Sync, T: Send>(
    inputs: &[I],
    jobs: usize,
    notes: &dyn Notes,
    name: impl Fn(&I) -> &str + Sync,
    work: impl Fn(&I) -> T + Sync,
    take: impl FnMut(T) -> Result<bool, Failure> + Send,
) -> Result<usize, Failure> {
    let pool = pool(jobs, notes)?;
    let progress = notes.inputs(inputs.len());
    let next = AtomicUsize::new(0);
    let queue = Mutex::new(Queue { waiting: BTreeMap::new(), taken: 0, take, goes_on: Ok(true) });
    let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let one = || {
        if interrupt::came() || !matches!(queue().goes_on, Ok(true)) {
            return;
        }
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(input) = inputs.get(at) else { return };
        let running = progress.begin(name(input));
        let result = work(input);
        progress.end(running);
        let mut result = Some(result);
        progress.suspend(&mut || result.take().into_iter().for_each(|one| queue().add(at, one)));
    };
    // One task an input: they differ too much in length to be dealt out in blocks.
    pool.install(|| rayon::scope(|scope| inputs.iter().for_each(|_| scope.spawn(|_| one()))));
    drop(progress);
    let mut queue = queue();
    std::mem::replace(&mut queue.goes_on, Ok(true)).map(|_| queue.taken)
}

/// Results that wait for those before them.
struct Queue<T, F> {
    waiting: BTreeMap<usize, T>,
    /// How many have been taken.
    taken: usize,
    take: F,
    /// What was said when the last one was taken.
    goes_on: Result<bool, Failure>,
}

impl<T, F: FnMut(T) -> Result<bool, Failure>> Queue<T, F> {
    fn add(&mut self, at: usize, result: T) {
        self.waiting.insert(at, result);
        while matches!(self.goes_on, Ok(true)) {
            let Some(result) = self.waiting.remove(&self.taken) else { return };
            self.goes_on = (self.take)(result);
            self.taken += 1;
        }
    }
}

/// So many threads, 0 for one for each core.
///
/// # Errors
/// The system does not allow it.
pub fn pool(jobs: usize, notes: &dyn Notes) -> Result<ThreadPool, Failure> {
    let most = MOST_PER_CORE * std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if jobs > most {
        notes.note(&format!(
            "`-j {jobs}`: {most} threads are started, {MOST_PER_CORE} for each core"
        ));
    }
    let jobs = jobs.min(most);
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| Failure::input(format!("cannot start {jobs} threads: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::Silent;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::{Duration, Instant};

    /// Takes what comes of ten inputs, whose work gives twice the number, until `last`.
    fn taken(jobs: usize, last: usize) -> (Vec<usize>, Result<usize, Failure>) {
        let inputs: Vec<usize> = (0..10).collect();
        let mut taken = Vec::new();
        let take = |result| {
            taken.push(result);
            if result == 2 * last { Err(Failure::input("no more")) } else { Ok(true) }
        };
        let work = |input: &usize| 2 * input;
        let count = in_order(&inputs, jobs, &Silent, |_| "", work, take);
        (taken, count)
    }

    #[test]
    fn results_come_in_the_order_of_the_inputs() {
        for jobs in [1, 2, 4] {
            let (all, count) = taken(jobs, 10);
            assert_eq!(all, (0..10).map(|input| 2 * input).collect::<Vec<_>>());
            assert_eq!(count.unwrap(), 10);
            let (some, failed) = taken(jobs, 3);
            assert_eq!(some, [0, 2, 4, 6]);
            assert_eq!(failed.unwrap_err().message(), "no more");
        }
    }

    /// The second input waits until the first has been taken.
    #[test]
    fn a_result_is_taken_before_later_ones_are_finished() {
        let first_is_taken = AtomicBool::new(false);
        let begun = Instant::now();
        let work = |input: &usize| {
            while *input == 1 && !first_is_taken.load(Ordering::Relaxed) {
                assert!(begun.elapsed() < Duration::from_mins(1), "the first was not taken");
                thread::sleep(Duration::from_millis(1));
            }
            *input
        };
        let take = |result| {
            first_is_taken.fetch_or(result == 0, Ordering::Relaxed);
            Ok(true)
        };
        let count = in_order(&[0, 1, 2], 2, &Silent, |_| "", work, take);
        assert_eq!(count.unwrap(), 3);
    }
}
