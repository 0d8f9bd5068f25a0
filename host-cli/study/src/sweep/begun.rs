//! Begun: a sweep with its folder, in which some of its points may be done already.

use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use super::engine::{self, Done, Keeping, Pending, Stop};
use super::key::Key;
use super::points::Points;
use super::row::Row;
use super::store::{Contents, Store};
use strata_files::failure::Failure;
use strata_measure::Room;
use strata_measure::notes::Notes;

/// One part of as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Share {
    /// Whether a point is of this part, by its place among all.
    pub const fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers =
            numbers.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("expected `I/N` with I from 1 to N, such as `2/8`".to_owned()),
        }
    }
}

/// A sweep, or a share of it, that is to be finished in its folder.
#[derive(Debug)]
pub struct Begun<'a> {
    points: &'a Points,
    /// Its folder.
    pub store: Store,
    /// The keys of its points, in their order.
    pub mine: Vec<Key>,
    /// Those that are not there yet.
    pub pending: Vec<Pending>,
    /// Of those that are there, how many failed.
    pub failed: usize,
}

impl<'a> Begun<'a> {
    /// Begins a sweep in a folder that is new, empty, or of a sweep, or goes on with it. Notes
    /// which files cannot be used.
    ///
    /// # Errors
    /// A folder that holds something else, that cannot be read or written, or whose files
    /// disagree.
    pub fn new(
        points: &'a Points,
        folder: &Path,
        share: Option<Share>,
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let store = Store::create(folder, &points.list())?;
        let there = store.contents()?;
        there.notes().for_each(|note| notes.note(&note));
        let (mine, pending) = pending(points, share, &there);
        let failed = failures(&there, &mine);
        Ok(Self { points, store, mine, pending, failed })
    }

    /// How many points are to be evaluated.
    pub fn left(&self) -> usize {
        self.pending.iter().map(|(_, designs)| designs.len()).sum()
    }

    /// Evaluates them on the threads of this process, with launches of inputs in so many bytes of
    /// its memory, and the others in the folder.
    ///
    /// # Errors
    /// Rows or launches that cannot be written: what came before is.
    pub fn run(
        &self,
        (points_per_file, most_bytes): (NonZeroUsize, usize),
        stop: &Stop<'_>,
        notes: &dyn Notes,
    ) -> Result<Done, Failure> {
        let keep = |rows: Vec<Row>| self.store.add(&rows).map(drop);
        let keeping = Keeping { keep: &keep, most_rows: points_per_file.get(), stop };
        let room = Room { most_bytes, folder: Some(self.store.folder()) };
        engine::run(self.points, &self.pending, (keeping, room), notes)
    }

    /// Removes launches from the folder if no point of the whole sweep is left.
    ///
    /// # Errors
    /// The folder cannot be read, two files disagree about a point, or a file cannot be removed.
    pub fn end(&self) -> Result<(), Failure> {
        self.store.remove_launches(&self.points.list())
    }

    /// What to tell of a sweep of which so many points were evaluated before it ended early.
    pub fn told(&self, evaluated: usize, folder: &Path) -> String {
        let done = self.mine.len() - self.left() + evaluated;
        format!(
            "{done} of {} points are in `{}`; the same command goes on",
            self.mine.len(),
            folder.display()
        )
    }
}

/// The keys of the points of a share, and those of these points that are not there yet.
fn pending(points: &Points, share: Option<Share>, there: &Contents) -> (Vec<Key>, Vec<Pending>) {
    let (mut mine, mut pending) = (Vec::new(), Vec::new());
    for input in 0..points.inputs.len() {
        let of_share =
            |&design: &usize| share.is_none_or(|share| share.has(points.place(input, design)));
        let designs: Vec<_> = (0..points.designs.len()).filter(of_share).collect();
        mine.extend(designs.iter().map(|&design| points.key(input, design)));
        let new = |design: &usize| !there.rows.contains_key(&points.key(input, *design));
        let designs: Vec<_> = designs.into_iter().filter(new).collect();
        if !designs.is_empty() {
            pending.push((input, designs));
        }
    }
    (mine, pending)
}

/// How many of some points have failed.
fn failures(contents: &Contents, keys: &[Key]) -> usize {
    let rows = keys.iter().filter_map(|key| contents.rows.get(key));
    rows.filter(|row| row.error().is_some()).count()
}
