//! `kernelslist.g`: which launches a trace has, in order.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::cursor::Cursor;
use super::error::{Problem, TraceError, expected};
use super::lines::{Lines, unpacked_name};
use super::plain::is_plain;

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

/// Which files a list may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those in its own folder and below, wherever links lead.
    Folder,
    /// Any files, for trusted lists.
    Anywhere,
}

/// Whether a file name is that of a trace or of a list of traces.
pub fn is_trace(input: &str) -> bool {
    let extension = Path::new(unpacked_name(input)).extension();
    extension
        .is_some_and(|extension| extension == "traceg" || extension == "tracez" || extension == "g")
}

/// Whether a file name is that of a list of traces.
pub fn is_list(input: &str) -> bool {
    Path::new(unpacked_name(input)).extension().is_some_and(|extension| extension == "g")
}

/// Reads a list; a trace file stands for a list of itself.
pub fn entries(path: &Path, reach: Reach) -> Result<Vec<Entry>, TraceError> {
    if !is_list(&path.to_string_lossy()) {
        return Ok(vec![Entry::Launch(path.to_owned())]);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut lines = Lines::open(path)?;
    let mut entries = Vec::new();
    while let Some(line) = lines.next()? {
        let entry = entry(line.trim_ascii(), folder, reach);
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

/// What a line says; `None` for those that are known and carry nothing.
fn entry(line: &[u8], folder: &Path, reach: Reach) -> Result<Option<Entry>, Problem> {
    if line.is_empty() {
        return Ok(None);
    }
    if line.starts_with(b"Memcpy") {
        return copy(line);
    }
    let wanted = "a trace file (.traceg, .traceg.xz, .traceg.gz or .tracez) or a line `Memcpy...`";
    let name = std::str::from_utf8(line).ok().filter(|name| is_plain(name));
    let name =
        name.ok_or_else(|| expected("a file name of printable characters in UTF-8", line))?;
    let plain = unpacked_name(name);
    match Path::new(plain).extension().and_then(OsStr::to_str) {
        Some("traceg") => {}
        Some("tracez") if plain == name => {}
        // What the tracer wrote and its second step did not read.
        Some("trace") => {
            return Err(expected("a post-processed trace file (.traceg or .tracez)", line));
        }
        _ => return Err(expected(wanted, line)),
    }
    let file = folder.join(name);
    if reach == Reach::Folder && leaves(Path::new(name), &file, folder) {
        return Err(Problem::Outside(name.to_owned()));
    }
    Ok(Some(Entry::Launch(file)))
}

/// A copy: to the device it is an entry, elsewhere it carries nothing.
fn copy(line: &[u8]) -> Result<Option<Entry>, Problem> {
    const COPY: &str = "`MemcpyHtoD,0x<address>,<bytes>`";
    /// Between hosts, devices and arrays, as the driver's functions are called.
    const OTHERS: [&[u8]; 9] =
        [b"DtoH", b"DtoD", b"HtoH", b"HtoA", b"AtoH", b"DtoA", b"AtoD", b"AtoA", b"Peer"];
    let mut parts = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let kind = parts.next().unwrap_or_default();
    let kind = kind.strip_prefix(b"Memcpy").unwrap_or_default();
    if kind == b"HtoD" {
        let (address, bytes) = (parts.next().unwrap_or(b""), parts.next().unwrap_or(b""));
        let (address, bytes) = (hexadecimal(address), super::header::decimal(bytes));
        return match (address, bytes, parts.next()) {
            (Some(address), Some(bytes), None) => Ok(Some(Entry::Copy { address, bytes })),
            _ => Err(expected(COPY, line)),
        };
    }
    let number = |part| hexadecimal(part).or_else(|| super::header::decimal(part)).is_some();
    if OTHERS.contains(&kind) && parts.all(number) {
        return Ok(None);
    }
    Err(expected("a copy of a known kind, `Memcpy<from>to<to>,` and numbers", line))
}

/// A number of up to 16 digits behind `0x`.
fn hexadecimal(text: &[u8]) -> Option<u64> {
    let mut cursor = text.starts_with(b"0x").then(|| Cursor::new(text))?;
    let number = cursor.hex("", 16).ok()?;
    cursor.rest().is_empty().then_some(number)
}

/// Whether a name leads out of the folder: by itself, or by a link on the way. A file that is not
/// there leads nowhere, and is refused when it is opened.
fn leaves(name: &Path, file: &Path, folder: &Path) -> bool {
    let inner = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !name.components().all(inner) {
        return true;
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) => !file.starts_with(folder),
        _ => false,
    }
}
