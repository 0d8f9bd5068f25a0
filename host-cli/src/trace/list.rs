//! `kernelslist.g`: which launches a trace has, in order.

use std::path::{Path, PathBuf};

use super::error::{Problem, TraceError, expected};
use super::instruction::Cursor;
use super::lines::Lines;

/// Most entries of a list.
const MAX_ENTRIES: usize = 1 << 20;

/// One entry that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A copy to the device.
    Copy {
        /// First address on the device.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A launch: its trace file.
    Launch(PathBuf),
}

/// Whether a file name is that of a trace or of a list of traces.
pub fn is_trace(input: &str) -> bool {
    let plain = input.strip_suffix(".xz").unwrap_or(input);
    let extension = Path::new(plain).extension();
    extension.is_some_and(|extension| extension == "traceg" || extension == "g")
}

/// Reads a list; a trace file stands for a list of itself.
pub fn entries(path: &Path) -> Result<Vec<Entry>, TraceError> {
    if path.extension().is_none_or(|extension| extension != "g") {
        return Ok(vec![Entry::Launch(path.to_owned())]);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut lines = Lines::open(path)?;
    let mut entries = Vec::new();
    while let Some(line) = lines.next()? {
        let entry = entry(line.trim_ascii(), folder);
        match entry.map_err(|problem| lines.error(problem))? {
            Some(_) if entries.len() == MAX_ENTRIES => {
                let limit = MAX_ENTRIES as u64;
                return Err(lines.error(Problem::TooMany { what: "lines of a list", limit }));
            }
            entry => entries.extend(entry),
        }
    }
    if entries.iter().any(|entry| matches!(entry, Entry::Launch(_))) {
        Ok(entries)
    } else {
        Err(lines.error_of_file(Problem::Truncated("the name of a trace file (kernel-1.traceg)")))
    }
}

fn entry(line: &[u8], folder: &Path) -> Result<Option<Entry>, Problem> {
    const COPY: &str = "`MemcpyHtoD,0x<address>,<bytes>`";
    if let Some(rest) = line.strip_prefix(b"MemcpyHtoD") {
        let mut parts = rest.split(|&byte| byte == b',').skip(1);
        let (address, bytes) = (parts.next().unwrap_or(b""), parts.next().unwrap_or(b""));
        let mut address = Cursor::new(address.trim_ascii());
        let bytes = super::header::decimal(bytes.trim_ascii());
        let address = address.hex(COPY, 16).ok();
        let (Some(address), Some(bytes)) = (address, bytes) else {
            return Err(expected(COPY, line));
        };
        return Ok(Some(Entry::Copy { address, bytes }));
    }
    let plain = line.strip_suffix(b".xz").unwrap_or(line);
    if plain.ends_with(b".traceg") {
        let name = std::str::from_utf8(line).map_err(|_| expected("a file name in UTF-8", line))?;
        return Ok(Some(Entry::Launch(folder.join(name))));
    }
    // A kernel whose raw trace was never post-processed would be missing in silence.
    if plain.ends_with(b".trace") {
        return Err(expected("a post-processed trace file (.traceg)", line));
    }
    Ok(None)
}
