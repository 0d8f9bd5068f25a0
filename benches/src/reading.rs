//! Reading: the text of a trace, and our own recording of it, from files.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use strata_files::output::Output;
use strata_trace::store::{self, Recording, record_trace};
use strata_trace::{Keep, Reach, TracedLaunch};
use tempfile::TempDir;

use crate::synthetic::Kernel;
use crate::work::{Prepared, Work};

use Kernel::{MultiplyAdds, Stream};

/// CTAs of the traces.
const TRACE_CTAS: u64 = 6;
/// Times that a warp goes round its loop.
const ITERATIONS: u64 = 40;

/// Reading text, and recordings, with what memory instructions move: all that cycle mode needs.
/// Then text with the lines that they touch, which a data cache needs as well; and recordings
/// without either: all that count mode needs.
pub const WORK: &[Work] = &[
    Work { name: "text_fma", prepare: || text(MultiplyAdds, KEEP) },
    Work { name: "text_stream", prepare: || text(Stream, KEEP) },
    Work { name: "text_fma_lines", prepare: || text(MultiplyAdds, KEEP_LINES) },
    Work { name: "text_stream_lines", prepare: || text(Stream, KEEP_LINES) },
    Work { name: "recording_fma", prepare: || recording(MultiplyAdds, true) },
    Work { name: "recording_stream", prepare: || recording(Stream, true) },
    Work { name: "recording_stream_paths", prepare: || recording(Stream, false) },
];

/// Bytes of the text that a piece of work reads, or whose recording it reads.
pub fn text_bytes(name: &str) -> u64 {
    let kernel = if name.contains("fma") { MultiplyAdds } else { Stream };
    kernel.text(TRACE_CTAS, ITERATIONS).len() as u64
}

const KEEP: Keep = Keep { cta: None, accesses: true, lines: false, max_instructions: u64::MAX };
const KEEP_LINES: Keep = Keep { lines: true, ..KEEP };

fn folder(kernel: Kernel) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let text = kernel.text(TRACE_CTAS, ITERATIONS);
    fs::write(folder.path().join("made-up.traceg"), text).expect("room for a trace");
    folder
}

fn text(kernel: Kernel, keep: Keep) -> Prepared {
    let folder = folder(kernel);
    Box::new(move || {
        let launch = TracedLaunch::read(&folder.path().join("made-up.traceg"), &keep);
        black_box(launch.expect("a well-formed trace")).instructions
    })
}

fn recording(kernel: Kernel, accesses: bool) -> Prepared {
    let folder = folder(kernel);
    let path = |name: &str| folder.path().join(name);
    let output = Output::new(&path("made-up.strata"), store::KIND, false, &[]).expect("a new file");
    record_trace(&path("made-up.traceg"), Reach::Folder, &output, u64::MAX)
        .expect("a well-formed trace");
    Box::new(move || replay(&folder.path().join("made-up.strata"), accesses))
}

fn replay(path: &Path, accesses: bool) -> u64 {
    let mut recording = Recording::open(path).expect("a recording");
    let mut instructions = 0;
    while let Some(launch) = recording.next_launch().expect("a whole recording") {
        if accesses {
            black_box(recording.accesses(&launch, None, false).expect("rows that fit the paths"));
        }
        instructions += black_box(launch).warp_instructions();
    }
    instructions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_work_reads_all_instructions() {
        for work in WORK {
            let kernel = if work.name.contains("fma") { MultiplyAdds } else { Stream };
            let expected = kernel.warp_instructions(TRACE_CTAS, ITERATIONS);
            let mut run = (work.prepare)();
            assert_eq!(run(), expected, "{}", work.name);
            assert_eq!(run(), expected, "{} again", work.name);
        }
    }
}
