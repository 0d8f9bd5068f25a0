//! Partial folder: files that appear in their folder together, instead of those that the same
//! command wrote there before.
//!
//! They are written into a folder within their folder, which is on the same disk, and moved when
//! all are whole. A file named [`MARKER`] says that the folder's contents may be replaced.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::failure::Failure;
use crate::interrupt::Unfinished;
use crate::output::input_at;

/// Name of the file that marks folders written by this program.
pub const MARKER: &str = "WRITTEN-BY-STRATA";

/// What a command writes into a folder.
#[derive(Clone, Copy, Debug)]
pub struct FolderKind {
    /// The command, for messages and the marker.
    pub command: &'static str,
    /// The file that names the others: the last to come, and the first to go.
    pub list: &'static str,
    /// Whether a file of this name may be among the others.
    pub holds: fn(&str) -> bool,
}

/// Why a folder is not written.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("`{0}` names no folder")]
    NoName(String),
    #[error("`{}` is there and is no folder", .0.display())]
    NoFolder(PathBuf),
    #[error(
        "the folder `{}` holds `{}`, which no `{command}` wrote", folder.display(), found.display()
    )]
    Foreign { folder: PathBuf, found: PathBuf, command: &'static str },
    #[error("`{}` is an input of this command (`{}`)", path.display(), input.display())]
    Input { path: PathBuf, input: PathBuf },
}

/// A folder that is being written. Dropped before it is finished, nothing of it stays, and what was
/// there before is as it was.
#[derive(Debug)]
pub struct PartialFolder {
    folder: PathBuf,
    kind: FolderKind,
    inputs: Vec<PathBuf>,
    unfinished: Unfinished,
}

impl PartialFolder {
    /// Begins a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// A folder that is neither empty nor written by the same command; a file; an input of the
    /// command, `inputs`, that would be replaced; a folder that cannot be written.
    pub fn create(folder: &Path, kind: FolderKind, inputs: &[PathBuf]) -> Result<Self, Failure> {
        let failed = |error: Error| failure(folder, &error);
        let replaces = !replaced(folder, kind, inputs, None).map_err(failed)?.is_empty();
        let ((), unfinished) = Unfinished::new(folder, replaces, |leftover| {
            make(folder, &mut leftover.made)?;
            let temporary = Builder::new().prefix("strata.").suffix(".partial").tempdir_in(folder);
            leftover.temporary = temporary?.keep();
            Ok(())
        })
        .map_err(failed)?;
        Ok(Self { folder: folder.to_owned(), kind, inputs: inputs.to_vec(), unfinished })
    }

    /// Where the files will appear.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where they are written.
    pub fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Begins one of the files.
    pub fn file(&self, name: &str) -> io::Result<BufWriter<File>> {
        debug_assert!(name == self.kind.list || (self.kind.holds)(name), "{name}");
        self.unfinished.within(|folder| File::create_new(folder.join(name))).map(BufWriter::new)
    }

    /// Removes what was there before, and moves the files to their folder. Others that are written
    /// beside them go.
    ///
    /// # Errors
    ///
    /// A disk without room; a file that has come into the folder and is not ours.
    pub fn finish(self) -> Result<(), Failure> {
        let Self { folder, kind, inputs, unfinished } = self;
        let moved = kind.mark(&unfinished).and_then(|files| {
            unfinished.finish(|temporary| {
                let old = replaced(&folder, kind, &inputs, temporary.file_name())?;
                replace(&folder, temporary, &old, &files)
            })
        });
        moved.map_err(|error| failure(&folder, &error))
    }
}

impl FolderKind {
    fn first_line(self) -> String {
        format!("`{}` wrote this folder.", self.command)
    }

    /// Ends the files, and writes the marker. Returns their names: first the marker, last the list.
    fn mark(self, unfinished: &Unfinished) -> io::Result<Vec<String>> {
        let folder = unfinished.path();
        let mut marker = unfinished.within(|folder| File::create_new(folder.join(MARKER)))?;
        writeln!(marker, "{}\nThe next one into it replaces its files.", self.first_line())?;
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name().into_string();
            files.extend(name.ok().filter(|name| self.may_hold(name)));
        }
        for name in &files {
            File::open(folder.join(name))?.sync_all()?;
        }
        files.sort_unstable_by_key(|name| (name == self.list, name != MARKER));
        Ok(files)
    }

    fn may_hold(self, name: &str) -> bool {
        name == MARKER || name == self.list || (self.holds)(name)
    }
}

fn failure(folder: &Path, error: &Error) -> Failure {
    let refusal = error.get_ref().and_then(|inner| inner.downcast_ref::<Refusal>());
    match refusal {
        Some(refusal) => {
            Failure::input(refusal.to_string()).hint("name a folder that is new or empty")
        }
        None => Failure::file(folder, "write", error).hint("name a folder that you may write to"),
    }
}

/// Makes a folder and what is missing above it, which goes to `made`.
fn make(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing = |above: &&Path| !above.as_os_str().is_empty() && !above.exists();
    let missing: Vec<_> = folder.ancestors().take_while(missing).collect();
    for folder in missing.into_iter().rev() {
        std::fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(())
}

/// The names of the files that a folder holds apart from `except`, if all may be replaced.
fn replaced(
    folder: &Path,
    kind: FolderKind,
    inputs: &[PathBuf],
    except: Option<&OsStr>,
) -> io::Result<Vec<String>> {
    let refuse = |refusal: Refusal| Err(Error::other(refusal));
    if let Some(name @ ("" | "-")) = folder.to_str() {
        return refuse(Refusal::NoName(name.to_owned()));
    }
    match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return refuse(Refusal::NoFolder(folder.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let marker = std::fs::read_to_string(folder.join(MARKER)).unwrap_or_default();
    let marked = marker.lines().next() == Some(&kind.first_line());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if except == Some(&name) {
            continue;
        }
        let plain = entry.file_type()?.is_file();
        let ours = name.to_str().filter(|name| marked && plain && kind.may_hold(name));
        let Some(ours) = ours else {
            let (folder, command) = (folder.to_owned(), kind.command);
            return refuse(Refusal::Foreign { folder, found: name.into(), command });
        };
        if let Some(input) = input_at(&entry.path(), inputs) {
            return refuse(Refusal::Input { path: entry.path(), input: input.to_owned() });
        }
        names.push(ours.to_owned());
    }
    names.sort_unstable_by_key(|name| (name != kind.list, name == MARKER));
    Ok(names)
}

/// Removes the old files, the list first, and moves the new ones, the list last: while it is not
/// there, nothing takes the folder for whole.
fn replace(folder: &Path, temporary: &Path, old: &[String], new: &[String]) -> io::Result<()> {
    for name in old.iter().filter(|name| *name != MARKER) {
        std::fs::remove_file(folder.join(name))?;
    }
    for name in new {
        std::fs::rename(temporary.join(name), folder.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: FolderKind = FolderKind {
        command: "strata test",
        list: "list",
        holds: |name| name.starts_with("part-"),
    };

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn begin(folder: &Path, files: &[&str]) -> PartialFolder {
        let partial = PartialFolder::create(folder, KIND, &[]).unwrap();
        for name in files {
            partial.file(name).unwrap().write_all(name.as_bytes()).unwrap();
        }
        partial
    }

    #[test]
    fn what_an_earlier_one_wrote_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        begin(&folder, &["part-1", "part-2", "list"]).finish().unwrap();
        assert_eq!(names(&folder), [MARKER, "list", "part-1", "part-2"]);
        let second = begin(&folder, &["part-1", "list"]);
        std::fs::write(second.path().join("scratch"), "").unwrap();
        assert_eq!(names(&folder).len(), 5, "the ones before stay until it is whole");
        second.finish().unwrap();
        assert_eq!(names(&folder), [MARKER, "list", "part-1"]);
    }

    #[test]
    fn nothing_stays_of_an_unfinished_one() {
        let home = tempfile::tempdir().unwrap();
        drop(begin(&home.path().join("a/b"), &["part-1"]));
        assert!(names(home.path()).is_empty());
        let folder = home.path().join("c");
        begin(&folder, &["part-1", "list"]).finish().unwrap();
        drop(begin(&folder, &["part-2"]));
        assert_eq!(names(&folder), [MARKER, "list", "part-1"]);
    }

    #[test]
    fn a_folder_with_other_files_is_refused() {
        let refused = |folder: &Path| {
            let failure = PartialFolder::create(folder, KIND, &[]).unwrap_err();
            failure.message().to_owned()
        };
        let home = tempfile::tempdir().unwrap();
        let foreign = home.path().join("foreign");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join("part-1"), "a diary").unwrap();
        assert!(refused(&foreign).contains("holds `part-1`, which no `strata test` wrote"));
        assert!(refused(&foreign.join("part-1")).contains("is no folder"));

        let own = home.path().join("own");
        begin(&own, &["part-1", "list"]).finish().unwrap();
        std::fs::write(own.join("notes"), "a diary").unwrap();
        assert!(refused(&own).contains("holds `notes`"));
        std::fs::remove_file(own.join("notes")).unwrap();
        std::fs::create_dir(own.join("part-9")).unwrap();
        assert!(refused(&own).contains("holds `part-9`"));
        std::fs::remove_dir(own.join("part-9")).unwrap();
        std::fs::write(own.join(MARKER), "another's").unwrap();
        assert!(refused(&own).contains("which no `strata test` wrote"));
        assert_eq!(names(&own).len(), 3);
    }

    #[test]
    fn a_file_that_came_meanwhile_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("own");
        begin(&folder, &["part-1", "list"]).finish().unwrap();
        let second = begin(&folder, &["part-2", "list"]);
        std::fs::write(folder.join("notes"), "a diary").unwrap();
        assert!(second.finish().unwrap_err().message().contains("holds `notes`"));
        assert_eq!(names(&folder), [MARKER, "list", "notes", "part-1"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_input_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("own");
        begin(&folder, &["part-1", "list"]).finish().unwrap();
        let input = home.path().join("input");
        std::fs::hard_link(folder.join("part-1"), &input).unwrap();
        let failure = PartialFolder::create(&folder, KIND, &[input]).unwrap_err();
        assert!(failure.message().contains("is an input of this command"));
        assert_eq!(names(&folder).len(), 3);
    }
}
