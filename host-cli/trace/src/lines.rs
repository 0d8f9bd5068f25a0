//! Lines of a plain or compressed file, in bounded memory and without an allocation for each.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;

use super::error::{Problem, TraceError};
use super::tracez::{self, Fault, Marks, Source, Text};
use strata_files::failure::reason;

/// Longest line: that of a kernel's name.
pub(crate) const MAX_LINE: usize = 1 << 16;
const BUFFER: usize = 1 << 18;
/// Most memory of a decoder of `.xz`: its dictionary, of 256 MiB, and 1 MiB beside it. Unit: KiB.
const XZ_MEMORY: u32 = (256 + 1) << 10;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Xz,
    Gzip,
}

impl Format {
    const ALL: [Self; 2] = [Self::Xz, Self::Gzip];

    /// First bytes of such files.
    fn magic(self) -> &'static [u8] {
        match self {
            Self::Xz => b"\xfd7zXZ\0",
            Self::Gzip => b"\x1f\x8b",
        }
    }

    /// Ending of their names.
    fn ending(self) -> &'static str {
        match self {
            Self::Xz => ".xz",
            Self::Gzip => ".gz",
        }
    }

    fn decoder(self, packed: impl Read + 'static) -> Box<dyn Read> {
        let packed = BufReader::new(packed);
        match self {
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY)),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        }
    }
}

/// Why nothing more can be read.
fn unreadable(format: Option<Format>, error: &std::io::Error) -> Problem {
    let Some(format) = format else { return Problem::Unreadable(error.to_string()) };
    let reason = match error.kind() {
        ErrorKind::OutOfMemory => "it takes more than 256 MiB to unpack".to_owned(),
        _ => format!("it is damaged or ends early ({error})"),
    };
    Problem::Compression { format: format.ending(), reason }
}

/// A file's name without the ending that says how it is compressed.
pub(crate) fn unpacked_name(name: &str) -> &str {
    let endings = Format::ALL.map(Format::ending);
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// A source of lines.
pub(crate) struct Lines {
    file: String,
    reader: Box<dyn Read>,
    format: Option<Format>,
    /// Where the lines of a `.tracez` file come from.
    marks: Option<Marks>,
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
        if file.ends_with(tracez::ENDING) {
            return Self::packed(file, || Ok(Box::new(File::open(path)?)));
        }
        let refuse = |problem| TraceError { file: file.clone(), line: 0, offset: None, problem };
        let unreadable = |error: std::io::Error| refuse(Problem::Unreadable(reason(&error)));
        let mut source = File::open(path).map_err(unreadable)?;
        let mut first = Vec::new();
        // As many bytes as the longest magic has.
        Read::by_ref(&mut source).take(6).read_to_end(&mut first).map_err(unreadable)?;
        let format = Format::ALL.into_iter().find(|format| first.starts_with(format.magic()));
        let named = Format::ALL.into_iter().find(|format| file.ends_with(format.ending()));
        if let Some(named) = named
            && format != Some(named)
        {
            return Err(refuse(Problem::Mislabelled(named.ending())));
        }
        let whole = Cursor::new(first).chain(source);
        let reader: Box<dyn Read> = match format {
            Some(format) => format.decoder(whole),
            None => Box::new(whole),
        };
        Ok(Self { format, ..Self::new(file, reader) })
    }

    /// Lines of a file's bytes.
    pub(crate) fn of_bytes(file: &str, bytes: Vec<u8>) -> Result<Self, TraceError> {
        let file = file.to_owned();
        if !file.ends_with(tracez::ENDING) {
            return Ok(Self::new(file, Box::new(Cursor::new(bytes))));
        }
        let bytes: Rc<[u8]> = bytes.into();
        Self::packed(file, || Ok(Box::new(Cursor::new(bytes.clone()))))
    }

    /// Lines of a `.tracez` file, which `open` opens.
    fn packed(
        file: String,
        open: impl FnMut() -> std::io::Result<Box<dyn Source>>,
    ) -> Result<Self, TraceError> {
        match Text::new(open) {
            Ok((text, marks)) => Ok(Self { marks: Some(marks), ..Self::new(file, Box::new(text)) }),
            Err(Fault { offset, problem }) => {
                Err(TraceError { file, line: 0, offset: Some(offset), problem })
            }
        }
    }

    /// Lines of a reader; `file` is for messages.
    pub(crate) fn new(file: String, reader: Box<dyn Read>) -> Self {
        let buffer = vec![0; BUFFER];
        let (start, end, searched, line_start, line, ended) = (0, 0, 0, 0, 0, false);
        let (format, marks) = (None, None);
        Self { file, reader, format, marks, buffer, start, end, searched, line_start, line, ended }
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

    /// Passes over the next line if it is `text`, which holds no line end, and lies in memory.
    #[inline]
    pub(crate) fn pass(&mut self, text: &[u8]) -> bool {
        let rest = self.buffer[self.start..self.end].strip_prefix(text);
        let end = match rest {
            Some([b'\n', ..]) => 1,
            Some([b'\r', b'\n', ..]) => 2,
            _ => return false,
        };
        self.line += 1;
        (self.searched, self.line_start) = (0, self.start);
        self.start += text.len() + end;
        true
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

    /// Whether the next line that holds more than blanks begins with `text`. Blank lines before it
    /// are read.
    pub(crate) fn next_text_begins(&mut self, text: &[u8]) -> Result<bool, TraceError> {
        loop {
            let held = &self.buffer[self.start..self.end];
            let blanks = held.len() - held.trim_ascii_start().len();
            if held.len() - blanks >= text.len() || self.ended {
                return Ok(held[blanks..].starts_with(text));
            }
            // Whole blank lines are read, so that the buffer has room.
            if memchr::memchr(b'\n', &held[..blanks]).is_some() {
                self.next()?;
                continue;
            }
            self.fill()?;
        }
    }

    #[cold]
    fn fill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        self.forget_marks();
        if self.end > MAX_LINE {
            self.line += 1;
            return Err(self.error(Problem::LongLine(MAX_LINE)));
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let read = read.map_err(|error| self.of_reader(error))?;
        self.ended = read == 0;
        self.end += read;
        Ok(())
    }

    /// What the reader says, at the line that was read last, or where a `.tracez` file is wrong.
    fn of_reader(&self, error: std::io::Error) -> TraceError {
        match error.downcast::<Fault>() {
            Ok(Fault { offset, problem }) => {
                TraceError { file: self.file.clone(), line: 0, offset: Some(offset), problem }
            }
            Err(error) => self.error(unreadable(self.format, &error)),
        }
    }

    /// An error at the line that was read last.
    #[cold]
    pub(crate) fn error(&self, problem: Problem) -> TraceError {
        let (line, offset) = self.place();
        TraceError { file: self.file.clone(), line, offset, problem }
    }

    /// Where the line that was read last stands: its number, in a part of a `.tracez` file.
    fn place(&self) -> (u64, Option<u64>) {
        let Some(marks) = &self.marks else { return (self.line, None) };
        let marks = marks.borrow();
        let mark = marks.iter().rfind(|mark| mark.line <= self.line).or(marks.front());
        mark.map_or((self.line, None), |mark| {
            let line = (self.line + 1).saturating_sub(mark.line);
            (if mark.is_text { line } else { 0 }, Some(mark.offset))
        })
    }

    /// Forgets marks before the line that was read last.
    fn forget_marks(&self) {
        let Some(marks) = &self.marks else { return };
        let mut marks = marks.borrow_mut();
        while marks.get(1).is_some_and(|mark| mark.line <= self.line) {
            marks.pop_front();
        }
    }

    /// An error of the file as a whole.
    pub(crate) fn error_of_file(&self, problem: Problem) -> TraceError {
        TraceError { file: self.file.clone(), line: 0, offset: None, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &'static [u8]) -> Lines {
        Lines::new("t".to_owned(), Box::new(bytes))
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
    fn only_the_same_whole_line_is_passed_over() {
        let mut lines = lines(b"ab\nab\nab\r\nabc\nab");
        assert!(!lines.pass(b"ab"), "nothing was read yet");
        assert_eq!(lines.next().unwrap(), Some(&b"ab"[..]));
        assert!(!lines.pass(b"a") && lines.pass(b"ab"));
        assert!(lines.pass(b"ab"), "with the other line end");
        assert!(!lines.pass(b"ab"), "the line is longer");
        assert_eq!(lines.next().unwrap(), Some(&b"abc"[..]));
        assert!(!lines.pass(b"ab"), "its end was not read yet");
        assert_eq!(lines.next().unwrap(), Some(&b"ab"[..]));
        assert_eq!((lines.line, lines.next().unwrap()), (5, None));
    }

    #[test]
    fn lines_across_buffers_stay_whole() {
        let text: Vec<String> = (0..90_000).map(|n| n.to_string()).collect();
        let reader = Box::new(Cursor::new(text.join("\n").into_bytes()));
        let mut lines = Lines::new("t".to_owned(), reader);
        for n in 0..90_000 {
            let line = lines.next().unwrap().unwrap();
            assert_eq!(line, n.to_string().as_bytes(), "line {n}");
        }
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn an_endless_line_is_refused_with_its_number() {
        let reader = Read::chain(&b"x\n"[..], std::io::repeat(b'y'));
        let mut lines = Lines::new("t".to_owned(), Box::new(reader));
        lines.next().unwrap();
        let error = lines.next().unwrap_err();
        assert_eq!((error.line, error.problem), (2, Problem::LongLine(MAX_LINE)));
    }
}
