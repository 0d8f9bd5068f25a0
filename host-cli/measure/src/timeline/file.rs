//! File: trace events as JSON, one a line.
//!
//! Source: "Trace Event Format", the JSON object form; a cycle takes the place of a microsecond.

use std::io::{Error, Write as _};
use std::ops::Range;

use serde::Serialize;

use strata_files::failure::Failure;
use strata_files::output::{Kind, Output};
use strata_files::partial_file::PartialFile;

/// Begins a file of the format.
pub const BEGIN: &str = "{\"traceEvents\":[";
/// A timeline, as an output: other programs' files of the format do not begin with our first group.
pub const KIND: Kind = Kind {
    name: "a timeline that `strata run --timeline` writes",
    begins: b"{\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\
              \"args\":{\"name\":\"issue slots\"}}",
};

/// Where a group of tracks stands: a process of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number, from 1, which is its place from above too.
    pub number: u32,
    /// Name.
    pub name: &'static str,
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

/// What the file says about itself.
#[derive(Clone, Debug, Default, Serialize)]
pub struct About {
    /// Program and version.
    pub tool: String,
    /// Workload or trace.
    pub input: String,
    /// Design.
    pub design: String,
    /// Kernel.
    pub kernel: String,
    /// Index of the launch.
    pub launch: String,
    /// CTAs in each dimension.
    pub grid: String,
    /// Threads of a CTA in each dimension.
    pub block: String,
}

/// Version of the layout. Raised when a track or an argument changes its meaning or goes away.
pub const SCHEMA: &str = "strata.timeline/1";

#[derive(Serialize)]
struct Other<'a> {
    schema: &'static str,
    #[serde(flatten)]
    about: &'a About,
    cycles_drawn: String,
    cycles_of_launch: String,
    time: &'static str,
}

/// The file, until it is whole.
#[derive(Debug)]
pub(crate) struct EventFile {
    file: PartialFile,
    events: u64,
    /// The first failure; nothing is written after it.
    failed: Option<Error>,
}

impl EventFile {
    /// Opens a file beside the target.
    pub(crate) fn create(output: &Output) -> Result<Self, Failure> {
        let file = PartialFile::create(output).map_err(|error| {
            Failure::file(output.named(), "write", &error)
                .hint("pass `--timeline` a file in a folder that you may write to")
        })?;
        let mut events = Self { file, events: 0, failed: None };
        events.put(BEGIN.as_bytes());
        Ok(events)
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.file.write_all(bytes)
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
            schema: SCHEMA,
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
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let target = self.file.target().to_owned();
        let written = self.failed.map_or(Ok(()), Err);
        let moved = written.and_then(|()| self.file.finish());
        moved.map_err(|error| Failure::file(&target, "write", &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_failed_is_told_at_the_end_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.json");
        let output = Output::new(&target, KIND, false, &[]).unwrap();
        let mut events = EventFile::create(&output).unwrap();
        events.failed = Some(std::io::ErrorKind::StorageFull.into());
        for _ in 0..1000 {
            events.group(Group { number: 1, name: "group" });
        }
        let failure = events.finish().unwrap_err();
        assert!(failure.message().contains("out.json"), "{}", failure.message());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
