//! Lines of a plain or `.xz` file, in bounded memory and without an allocation for each.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use super::error::{Problem, TraceError};

/// Longest line. The longest a tracer writes, 32 addresses, is under 1000 bytes; kernel names may
/// be longer.
pub(crate) const MAX_LINE: usize = 1 << 16;
const BUFFER: usize = 1 << 18;
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// A source of lines.
pub(crate) struct Lines {
    file: String,
    reader: Box<dyn Read>,
    compressed: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes from `start` that are known to hold no line end.
    searched: usize,
    /// Where the line that was returned last begins.
    line_start: usize,
    line: u64,
    ended: bool,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Lines")
            .field("file", &self.file)
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl Lines {
    /// Opens a file. Whether it is compressed is seen from its first bytes.
    pub(crate) fn open(path: &Path) -> Result<Self, TraceError> {
        let file = path.display().to_string();
        let refuse = |problem| TraceError { file: file.clone(), line: 0, problem };
        let unreadable = |error: std::io::Error| refuse(Problem::Unreadable(error.to_string()));
        let mut source = File::open(path).map_err(unreadable)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut source)
            .take(XZ_MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(unreadable)?;
        let compressed = magic == XZ_MAGIC;
        let named_xz =
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xz"));
        if magic.starts_with(GZIP_MAGIC) {
            return Err(refuse(Problem::Mislabelled("the file is compressed by gzip")));
        }
        if named_xz && !compressed {
            return Err(refuse(Problem::Mislabelled("the name ends in .xz, the contents are not")));
        }
        let whole = Cursor::new(magic).chain(source);
        let reader: Box<dyn Read> = if compressed {
            Box::new(lzma_rust2::XzReader::new(std::io::BufReader::new(whole), true))
        } else {
            Box::new(whole)
        };
        Ok(Self::new(file, reader, compressed))
    }

    /// Lines of a reader; `file` is for messages.
    pub(crate) fn new(file: String, reader: Box<dyn Read>, compressed: bool) -> Self {
        let buffer = vec![0; BUFFER];
        let (start, end, searched, line_start, line, ended) = (0, 0, 0, 0, 0, false);
        Self { file, reader, compressed, buffer, start, end, searched, line_start, line, ended }
    }

    /// The next line without its end, or `None` behind the last.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let length = loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', &held[self.searched..]) {
                break self.searched + found;
            }
            if self.ended {
                if held.is_empty() {
                    return Ok(None);
                }
                break held.len();
            }
            self.searched = held.len();
            self.fill()?;
        };
        self.line += 1;
        if length > MAX_LINE {
            return Err(self.error(Problem::LongLine(MAX_LINE)));
        }
        let first = self.start;
        self.start = (first + length + 1).min(self.end);
        (self.searched, self.line_start) = (0, first);
        let line = &self.buffer[first..first + length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The next line that holds more than blanks, without those around it.
    pub(crate) fn next_text(&mut self, what: &'static str) -> Result<&[u8], TraceError> {
        // The borrow of the line would outlive the loop, so its place is kept instead.
        let (first, end) = loop {
            let Some(line) = self.next()? else {
                return Err(self.error(Problem::Truncated(what)));
            };
            let text = line.trim_ascii();
            if !text.is_empty() {
                let before = line.len() - line.trim_ascii_start().len();
                let length = text.len();
                let first = self.line_start + before;
                break (first, first + length);
            }
        };
        Ok(&self.buffer[first..end])
    }

    #[cold]
    fn fill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end > MAX_LINE {
            self.line += 1;
            return Err(self.error(Problem::LongLine(MAX_LINE)));
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let read = read.map_err(|error| {
            let reason = error.to_string();
            self.error(if self.compressed {
                Problem::Compression(reason)
            } else {
                Problem::Unreadable(reason)
            })
        })?;
        self.ended = read == 0;
        self.end += read;
        Ok(())
    }

    /// An error at the line that was read last.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> TraceError {
        TraceError { file: self.file.clone(), line: self.line, problem }
    }

    /// An error of the file as a whole.
    pub(crate) fn error_of_file(&self, problem: Problem) -> TraceError {
        TraceError { file: self.file.clone(), line: 0, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &'static [u8]) -> Lines {
        Lines::new("t".to_owned(), Box::new(bytes), false)
    }

    #[test]
    fn all_line_ends_are_found_and_the_last_line_needs_none() {
        let mut lines = lines(b"a\r\n\nbc");
        assert_eq!(lines.next().unwrap(), Some(&b"a"[..]));
        assert_eq!(lines.next().unwrap(), Some(&b""[..]));
        assert_eq!(lines.next().unwrap(), Some(&b"bc"[..]));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn lines_across_buffers_stay_whole() {
        let text: Vec<String> = (0..90_000).map(|n| n.to_string()).collect();
        let reader = Box::new(Cursor::new(text.join("\n").into_bytes()));
        let mut lines = Lines::new("t".to_owned(), reader, false);
        for n in 0..90_000 {
            let line = lines.next().unwrap().unwrap();
            assert_eq!(line, n.to_string().as_bytes(), "line {n}");
        }
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn an_endless_line_is_refused_with_its_number() {
        let reader = Read::chain(&b"x\n"[..], std::io::repeat(b'y'));
        let mut lines = Lines::new("t".to_owned(), Box::new(reader), false);
        lines.next().unwrap();
        let error = lines.next().unwrap_err();
        assert_eq!((error.line, error.problem), (2, Problem::LongLine(MAX_LINE)));
    }
}
