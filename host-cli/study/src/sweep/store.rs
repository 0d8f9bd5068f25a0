//! Store: the folder of a sweep, with the list of its points and files of finished ones.
//!
//! A file appears whole or not at all, and is named after the digest of its bytes, so that a
//! damaged one is noticed before anything of it is believed. Any number of processes may add files.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::key::{Digest, Key};
use super::row::Row;
use super::{SCHEMA, parquet};
use strata_files::failure::Failure;
use strata_files::output::{Kind, Output};
use strata_files::partial_file::PartialFile;
use strata_measure::is_spill;
use strata_report::json;

/// Most points of a file of results, unless told.
pub const POINTS_PER_FILE: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The file that lists the points.
const LIST: &str = "sweep.json";
/// What the names of files of points begin with, and end in.
const NAME: (&str, &str) = ("points-", ".parquet");

/// What a sweep has to do, in the order of its points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Version of the files.
    pub schema: String,
    /// Version of the model.
    pub model: u32,
    /// The columns that differ between points.
    pub axes: Vec<String>,
    /// The key of each point.
    pub points: Vec<String>,
}

/// The folder of a sweep.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What the files of a sweep have.
#[derive(Debug, Default)]
pub struct Contents {
    /// Rows by key.
    pub rows: BTreeMap<Key, Row>,
    /// The keys of each file.
    pub files: Vec<(PathBuf, Vec<Key>)>,
    /// Files that cannot be used, each with the reason.
    pub unusable: Vec<(PathBuf, String)>,
}

impl Store {
    /// The folder for a sweep of these points: new, empty, or of a sweep. Points of an earlier one
    /// stay in their files.
    ///
    /// # Errors
    /// A folder that holds something else, or that cannot be written.
    pub fn create(folder: &Path, list: &List) -> Result<Self, Failure> {
        let failed = |error: &std::io::Error| {
            Failure::file(folder, "write", error).hint("name a folder that you may write to")
        };
        let store = Self { folder: folder.to_owned() };
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let list_file = folder.join(LIST);
        let entries = std::fs::read_dir(folder).map_err(|error| failed(&error))?;
        let found = entries.flatten().find(|entry| !is_partial_list(&entry.path()));
        // Looked for after that: another process may have begun the same sweep meanwhile.
        if !list_file.exists()
            && let Some(found) = found
        {
            let message = format!(
                "the folder `{}` holds `{}`, and no `{LIST}` says that a sweep wrote it",
                folder.display(),
                found.file_name().display()
            );
            return Err(Failure::input(message).hint("name a folder that is new or empty"));
        }
        if !list_file.exists() || store.list()? != *list {
            store.write(LIST, json::to_text(list)?.as_bytes())?;
        }
        Ok(store)
    }

    /// The folder of a sweep that was begun.
    ///
    /// # Errors
    /// It is none.
    pub fn open(folder: &Path) -> Result<(Self, List), Failure> {
        let store = Self { folder: folder.to_owned() };
        let list = store.list()?;
        Ok((store, list))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn list(&self) -> Result<List, Failure> {
        let path = self.folder.join(LIST);
        let hint = "name the folder that `strata sweep --out` wrote";
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::file(&path, "read", &error).hint(hint))?;
        let list: List = serde_json::from_str(&text).map_err(|error| {
            Failure::input(format!("`{}` is no list of points: {error}", path.display())).hint(hint)
        })?;
        if list.schema != SCHEMA {
            let message = format!(
                "`{}` is of version `{}`, and `{SCHEMA}` is read",
                path.display(),
                list.schema
            );
            return Err(Failure::input(message).hint("name another folder"));
        }
        Ok(list)
    }

    /// Everything in its files.
    ///
    /// # Errors
    /// The folder cannot be read, or two files disagree about a point.
    pub fn contents(&self) -> Result<Contents, Failure> {
        let mut contents = Contents::default();
        for path in self.files()? {
            let rows = match whole(&path).and_then(|()| parquet::read(&path)) {
                Ok(rows) => rows,
                Err(why) => {
                    contents.unusable.push((path, why));
                    continue;
                }
            };
            let keys = rows.iter().map(|row| row.key).collect();
            for row in rows {
                let key = row.key;
                let known = contents.rows.get(&key).is_some_and(|known| *known != row);
                if known {
                    let path = path.display();
                    return Err(Failure::check(format!(
                        "`{path}` and another file of the sweep disagree about point {key}"
                    ))
                    .hint("delete the file that another program wrote; its points run again"));
                }
                contents.rows.insert(key, row);
            }
            contents.files.push((path, keys));
        }
        Ok(contents)
    }

    /// The files of points, sorted by name.
    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        self.files_that(|path| digest_in(path).is_some())
    }

    fn files_that(&self, are: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error: &std::io::Error| Failure::file(&self.folder, "read", error);
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(|error| failed(&error))? {
            let path = entry.map_err(|error| failed(&error))?.path();
            if are(&path) {
                files.push(path);
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Removes the launches of inputs, if all points of the list are there.
    ///
    /// # Errors
    /// The folder cannot be read, two files disagree about a point, or a file cannot be removed.
    pub fn remove_launches(&self, list: &List) -> Result<(), Failure> {
        let launches = self.files_that(is_spill)?;
        if launches.is_empty() || self.contents()?.take(list).len() < list.points.len() {
            return Ok(());
        }
        for path in launches {
            match std::fs::remove_file(&path) {
                // Another process that ended the same sweep was faster.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                removed => removed.map_err(|error| Failure::file(&path, "remove", &error))?,
            }
        }
        Ok(())
    }

    /// Adds a file of rows; returns where.
    ///
    /// # Errors
    /// A disk without room, or a folder in which nothing can be written.
    pub fn add(&self, rows: &[Row]) -> Result<PathBuf, Failure> {
        let bytes = parquet::encode(rows);
        let bytes = bytes.map_err(|error| Failure::internal(&format!("cannot write: {error}")))?;
        let (start, end) = NAME;
        self.write(&format!("{start}{}{end}", Key::of(&bytes)), &bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        // Of the same name is the same file, or the list of points that this one replaces.
        let output = Output::new(&path, Kind { name: "a sweep", begins: b"" }, true, &[])?;
        let written = PartialFile::create(&output).and_then(|mut file| {
            file.write_all(bytes)?;
            file.finish()
        });
        written.map_err(|error| {
            Failure::file(&path, "write", &error).hint(
                "files that are whole stay: make room, or allow writing, and the same command goes \
                 on",
            )
        })?;
        Ok(path)
    }

    /// Puts the points of the list into one file, in their order, and removes files that have no
    /// other points. Returns the file, and how many points are missing.
    ///
    /// # Errors
    /// The folder cannot be read, two files disagree about a point, nothing can be written, or a
    /// file cannot be removed.
    pub fn merge(&self, list: &List) -> Result<(PathBuf, usize), Failure> {
        let mut contents = self.contents()?;
        let rows = contents.take(list);
        let missing = list.points.len() - rows.len();
        let merged = self.add(&rows)?;
        for (path, keys) in contents.files {
            if path != merged && keys.iter().all(|key| !contents.rows.contains_key(key)) {
                std::fs::remove_file(&path)
                    .map_err(|error| Failure::file(&path, "remove", &error))?;
            }
        }
        Ok((merged, missing))
    }
}

impl Contents {
    /// Takes out the rows of the points that a list has, in its order.
    pub fn take(&mut self, list: &List) -> Vec<Row> {
        let keys = list.points.iter().filter_map(|key| Key::parse(key));
        keys.filter_map(|key| self.rows.remove(&key)).collect()
    }

    /// Names of unusable files, as notes.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.unusable.iter().map(|(path, why)| {
            format!("`{}` is left out, its points count as not run: {why}", path.display())
        })
    }
}

/// Whether a file is the list of points that another process is writing, or was writing when it
/// was killed.
fn is_partial_list(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix(LIST).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".partial"))
}

/// The digest in the name of a file of points; none if it is no such file.
fn digest_in(path: &Path) -> Option<Key> {
    let name = path.file_name()?.to_str()?;
    Key::parse(name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?)
}

/// Whether a file has the bytes that its name says.
fn whole(path: &Path) -> Result<(), String> {
    let mut digest = Digest::default();
    let read = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut digest));
    read.map_err(|error| error.to_string())?;
    if digest_in(path) == Some(digest.key()) {
        return Ok(());
    }
    Err("its bytes are not those that were written".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::row::tests::made_up;

    fn list(rows: &[Row]) -> List {
        List {
            schema: SCHEMA.to_owned(),
            model: strata_core::MODEL_VERSION,
            axes: Vec::new(),
            points: rows.iter().map(|row| row.key.to_string()).collect(),
        }
    }

    #[test]
    fn merged_files_are_the_same_however_the_points_came() {
        let rows: Vec<_> = (0..7).map(made_up).collect();
        let merged = |parts: &[&[usize]]| {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::create(folder.path(), &list(&rows)).unwrap();
            for part in parts {
                let rows: Vec<_> = part.iter().map(|&at| rows[at].clone()).collect();
                store.add(&rows).unwrap();
            }
            let (path, missing) = store.merge(&list(&rows)).unwrap();
            assert_eq!(store.files().unwrap(), std::slice::from_ref(&path));
            (path.file_name().unwrap().to_owned(), std::fs::read(&path).unwrap(), missing)
        };
        let whole = merged(&[&[0, 1, 2, 3, 4, 5, 6]]);
        assert_eq!(whole.2, 0);
        assert_eq!(merged(&[&[6, 5], &[4, 0, 1], &[2, 3]]), whole);
        assert_eq!(merged(&[&[6, 5], &[4, 5, 0, 1], &[2, 3, 6]]), whole);
        assert_eq!(merged(&[&[6, 5], &[2, 3]]).2, 3);
    }

    #[test]
    fn points_of_another_sweep_stay() {
        let rows: Vec<_> = (0..4).map(made_up).collect();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path(), &list(&rows)).unwrap();
        store.add(&rows[..3]).unwrap();
        let store = Store::create(folder.path(), &list(&rows[..2])).unwrap();
        store.merge(&list(&rows[..2])).unwrap();
        assert_eq!(store.files().unwrap().len(), 2);
        let mut contents = store.contents().unwrap();
        assert_eq!(contents.rows.len(), 3);
        assert_eq!(contents.take(&list(&rows[1..])), rows[1..3]);
    }

    #[test]
    fn a_damaged_file_is_left_out_and_a_contradiction_is_told() {
        let rows: Vec<_> = (0..2).map(made_up).collect();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path(), &list(&rows)).unwrap();
        let path = store.add(&rows[..1]).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let contents = store.contents().unwrap();
        assert!(contents.rows.is_empty());
        let notes: Vec<_> = contents.notes().collect();
        assert!(notes[0].contains("its bytes are not those that were written"), "{notes:?}");
        store.add(&rows).unwrap();
        assert_eq!(store.contents().unwrap().rows.len(), 2);
        let mut other = rows[1].clone();
        other.cells[20] = None;
        other.cells[21] = None;
        other.cells[22] = None;
        assert_ne!(other, rows[1]);
        store.add(&[other]).unwrap();
        let error = store.contents().unwrap_err();
        assert!(error.message().contains("disagree about point"), "{}", error.message());
    }

    /// Processes that begin a sweep together, and one that was killed as soon as it had begun.
    #[test]
    fn an_unfinished_list_is_of_a_sweep() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sweep.json.YzaznU.partial"), "{").unwrap();
        let rows = [made_up(0)];
        Store::create(folder.path(), &list(&rows)).unwrap();
        assert_eq!(Store::open(folder.path()).unwrap().1, list(&rows));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.partial"), "{").unwrap();
        assert!(Store::create(folder.path(), &list(&rows)).is_err());
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("diary"), "x").unwrap();
        let error = Store::create(folder.path(), &list(&[])).unwrap_err();
        assert!(error.message().contains("holds `diary`"), "{}", error.message());
        let file = folder.path().join("diary");
        let error = Store::create(&file, &list(&[])).unwrap_err();
        assert!(error.message().contains("cannot write"), "{}", error.message());
        let error = Store::open(folder.path()).unwrap_err();
        assert!(error.message().contains("sweep.json"), "{}", error.message());
    }
}
