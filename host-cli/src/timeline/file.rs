//! File: trace events as JSON, one a line, written beside the target and moved there when whole.
//!
//! Source: "Trace Event Format", the JSON object form; a cycle takes the place of a microsecond.

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::About;
use crate::failure::Failure;

/// Where a group of tracks stands: a process of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Number, from 1, which is its place from above too.
    pub(crate) number: u32,
    /// Name.
    pub(crate) name: &'static str,
}

/// One event of the format. The order of the fields is the order in the file.
#[derive(Debug, Serialize)]
pub(crate) struct Event<'a, A> {
    /// Name.
    pub(crate) name: &'a str,
    /// Phase: `X` a whole slice, `B` and `E` begin and end of one, `M` metadata.
    pub(crate) ph: &'static str,
    /// First cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ts: Option<u64>,
    /// Cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dur: Option<u64>,
    /// The group.
    pub(crate) pid: u32,
    /// The track.
    pub(crate) tid: u32,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<A>,
}

#[derive(Serialize)]
struct NameArgs<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct SortArgs {
    sort_index: u32,
}

#[derive(Serialize)]
struct Other<'a> {
    #[serde(flatten)]
    about: &'a About,
    cycles_drawn: String,
    cycles_of_launch: String,
    time: &'static str,
}

/// The file, until it is whole.
#[derive(Debug)]
pub(crate) struct EventFile {
    /// `None` once the file is in its place.
    file: Option<BufWriter<File>>,
    partial: PathBuf,
    target: PathBuf,
    events: u64,
    /// The first failure; nothing is written after it.
    failed: Option<Error>,
}

impl EventFile {
    /// Opens a file beside the target.
    pub(crate) fn create(target: &Path) -> Result<Self, Failure> {
        let failed = |error: &Error| {
            let failure = Failure::file(target, "write", error);
            Failure::input(format!(
                "{}\n  hint: pass `--timeline` a file in a folder that you may write to",
                failure.message()
            ))
        };
        let Some(name) = target.file_name() else {
            return Err(failed(&Error::new(ErrorKind::InvalidInput, "it names no file")));
        };
        // Moving a file onto a folder fails, and onto a device it would take the device's place.
        if target.exists() && !target.is_file() {
            let error = Error::new(ErrorKind::InvalidInput, "it is there and is no regular file");
            return Err(failed(&error));
        }
        let mut name = name.to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = target.with_file_name(name);
        let file = File::create_new(&partial).map_err(|error| failed(&error))?;
        let mut events = Self {
            file: Some(BufWriter::new(file)),
            partial,
            target: target.to_owned(),
            events: 0,
            failed: None,
        };
        events.put(b"{\"traceEvents\":[");
        Ok(events)
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            self.failed = Some(error);
        }
    }

    /// Writes one event.
    pub(crate) fn event<A: Serialize>(&mut self, event: &Event<'_, A>) {
        match serde_json::to_vec(event) {
            Ok(bytes) => {
                self.put(if self.events == 0 { b"\n" } else { b",\n" });
                self.put(&bytes);
                self.events += 1;
            }
            Err(error) => self.failed = self.failed.take().or(Some(error.into())),
        }
    }

    /// Names a group of tracks.
    pub(crate) fn group(&mut self, group: Group) {
        let name = Some(NameArgs { name: group.name });
        self.metadata("process_name", group, 0, name);
        let place = Some(SortArgs { sort_index: group.number });
        self.metadata("process_sort_index", group, 0, place);
    }

    /// Names a track, which stands in its group by its number.
    pub(crate) fn track(&mut self, group: Group, number: u32, name: &str) {
        self.metadata("thread_name", group, number, Some(NameArgs { name }));
        let place = Some(SortArgs { sort_index: number });
        self.metadata("thread_sort_index", group, number, place);
    }

    fn metadata<A: Serialize>(&mut self, name: &str, group: Group, tid: u32, args: Option<A>) {
        self.event(&Event { name, ph: "M", ts: None, dur: None, pid: group.number, tid, args });
    }

    /// Ends the list of events, and says what they are of.
    pub(crate) fn about(&mut self, about: &About, drawn: &Range<u64>, all: u64) {
        let other = Other {
            about,
            cycles_drawn: format!("{}..{}", drawn.start, drawn.end),
            cycles_of_launch: format!("0..{all}"),
            time: "1 cycle is shown as 1 microsecond",
        };
        match serde_json::to_vec(&other) {
            Ok(bytes) => {
                self.put(b"\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":");
                self.put(&bytes);
                self.put(b"}\n");
            }
            Err(error) => self.failed = self.failed.take().or(Some(error.into())),
        }
    }

    /// Moves the file to its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let written = match self.failed.take() {
            Some(error) => Err(error),
            None => file.into_inner().map_err(std::io::IntoInnerError::into_error),
        };
        let moved = written
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&self.partial, &self.target));
        moved.map_err(|error| {
            // Nothing better can be done about a second failure.
            let _ = std::fs::remove_file(&self.partial);
            Failure::file(&self.target, "write", &error)
        })
    }
}

impl Drop for EventFile {
    /// Removes what was not finished.
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device without room: the failure comes when the buffer is written, and is told at the end.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.json");
        let mut events = EventFile::create(&target).unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        events.file = Some(BufWriter::new(full));
        events.group(Group { number: 1, name: "group" });
        let failure = events.finish().unwrap_err();
        assert!(failure.message().contains("out.json"), "{}", failure.message());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_unfinished_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let events = EventFile::create(&folder.path().join("out.json")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(events);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
