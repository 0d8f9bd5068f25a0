//! `.tracez` of Accel-Sim 2.0: a trace in pieces of zstd, read as the text that they hold.
//!
//! ```text
//! header lines, a NUL byte
//! u32 bytes of the dictionary, u32 instructions of a piece, the dictionary
//! for each warp: u32 instructions, u32 pieces, for each piece: u32 bytes, a frame of zstd
//! index: u32 thread blocks; for each: u32 place x, y, z; cluster x, y, z; place in it x, y, z;
//!        rank in it; warps; for each warp: u32 instructions, u32 pieces, u64 offset of its data,
//!        for each piece: u32 instructions
//! u64 offset of the index
//! ```
//!
//! Numbers are little-endian. The writer puts the data of warps in the order of the index, without
//! gaps, so that both are read once, side by side, and no byte is left unread.
//!
//! Memory: buffers, the dictionary, and the window of one frame.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::rc::Rc;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use super::error::{Problem, expected};

/// Ending of such files.
pub(crate) const ENDING: &str = ".tracez";
/// Largest dictionary. The tracer's tool writes at most 64 KiB. Unit: bytes.
const MAX_DICTIONARY: u32 = 1 << 20;
/// Largest window of a frame, which every decoder of zstd should have (RFC 8878, 3.1.1.1.2); the
/// tracer's tool takes at most 2 MiB. Unit: bytes.
const MAX_WINDOW: u64 = 8 << 20;
/// About how much text is made at once. Unit: bytes.
const STEP: usize = 1 << 16;

/// A source of bytes that can be read at two places.
pub(crate) trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// Where a part of the text comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The first line of the part, from 1.
    pub(crate) line: u64,
    /// First byte of the file that the part comes from.
    pub(crate) offset: u64,
    /// The file holds the lines as text.
    pub(crate) is_text: bool,
}

/// Marks of the text that was made last, in order.
pub(crate) type Marks = Rc<RefCell<VecDeque<Mark>>>;

/// What is wrong with a container, and where.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct Fault {
    pub(crate) offset: u64,
    pub(crate) problem: Problem,
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}

/// A place in the file, up to a limit.
struct Part {
    reader: BufReader<Box<dyn Source>>,
    /// First byte that was not read.
    at: u64,
    /// First byte that does not belong to the part.
    end: u64,
    /// What the part is.
    name: &'static str,
}

impl Part {
    fn fault(&self, problem: Problem) -> Fault {
        Fault { offset: self.at, problem }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        if self.end - self.at < N as u64 {
            return Err(self.fault(Problem::Truncated(self.name)));
        }
        self.reader.read_exact(&mut bytes).map_err(|error| unreadable(self.at, &error))?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    fn numbers<const N: usize>(&mut self) -> Result<[u32; N], Fault> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Ok(numbers)
    }

    fn long(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_le_bytes)
    }

    /// So many bytes as a part of their own.
    fn piece(&mut self, length: u32) -> Result<u64, Fault> {
        let end = self.at + u64::from(length);
        if end > self.end { Err(self.fault(Problem::Truncated(self.name))) } else { Ok(end) }
    }
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.reader.read(&mut buffer[..room])?;
        self.at += read as u64;
        Ok(read)
    }
}

fn unreadable(offset: u64, error: &io::Error) -> Fault {
    let problem = match error.kind() {
        ErrorKind::UnexpectedEof => Problem::Truncated("more of the file"),
        _ => Problem::Unreadable(error.to_string()),
    };
    Fault { offset, problem }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Header,
    Block,
    Warp,
    Piece,
    Frame,
    End,
}

/// The text of a trace, made while it is read.
pub(crate) struct Text {
    data: Part,
    index: Part,
    marks: Marks,
    /// Line ends of the text so far.
    lines: u64,
    out: Vec<u8>,
    taken: usize,
    next: Next,
    decoder: FrameDecoder,
    dictionary: Option<u32>,
    /// Thread blocks that are left, warps of this one, number of the warp.
    blocks: u32,
    warps: u32,
    warp: u32,
    /// Pieces and instructions of the warp that are left.
    pieces: u32,
    instructions: u32,
    frame: Frame,
}

/// The frame that is read.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// Where it begins and ends.
    start: u64,
    end: u64,
    /// Instructions that it should have, and line ends and bytes that were seen.
    instructions: u32,
    line_ends: u32,
    bytes: u64,
    /// The last byte was a line end.
    ended: bool,
}

impl Text {
    /// Text of a container; `open` gives readers of the same bytes.
    pub(crate) fn new(
        mut open: impl FnMut() -> io::Result<Box<dyn Source>>,
    ) -> Result<(Self, Marks), Fault> {
        const TAIL: u64 = 8;
        let mut tail = open().map_err(|error| unreadable(0, &error))?;
        let length = tail.seek(SeekFrom::End(0)).map_err(|error| unreadable(0, &error))?;
        let end = length.checked_sub(TAIL).ok_or(Fault {
            offset: length,
            problem: Problem::Truncated("the offset of the index"),
        })?;
        let mut offset = [0; TAIL as usize];
        let read = tail.seek(SeekFrom::Start(end)).and_then(|_| tail.read_exact(&mut offset));
        read.map_err(|error| unreadable(end, &error))?;
        let first = u64::from_le_bytes(offset);
        if first > end {
            let (what, value, last) = ("the offset of the index", first, end);
            return Err(Fault { offset: end, problem: Problem::OutOfRange { what, value, last } });
        }
        tail.seek(SeekFrom::Start(first)).map_err(|error| unreadable(first, &error))?;
        let part = |reader, at, end, name| Part { reader: BufReader::new(reader), at, end, name };
        let data = open().map_err(|error| unreadable(0, &error))?;
        let marks = Marks::default();
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        let text = Self {
            data: part(data, 0, first, "the data before the index"),
            index: part(tail, first, end, "the index"),
            marks: marks.clone(),
            lines: 0,
            out: Vec::new(),
            taken: 0,
            next: Next::Header,
            decoder,
            dictionary: None,
            blocks: 0,
            warps: 0,
            warp: 0,
            pieces: 0,
            instructions: 0,
            frame: Frame::default(),
        };
        text.mark(0, true);
        Ok((text, marks))
    }

    /// The text from here on comes from `offset` of the file.
    fn mark(&self, offset: u64, is_text: bool) {
        self.marks.borrow_mut().push_back(Mark { line: self.lines + 1, offset, is_text });
    }

    fn push(&mut self, text: &str) {
        self.lines += text.matches('\n').count() as u64;
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Makes more text. Only at the end, none is made.
    fn step(&mut self) -> Result<(), Fault> {
        match self.next {
            Next::Header => self.header(),
            Next::Block => self.block(),
            Next::Warp => self.warp(),
            Next::Piece => self.piece(),
            Next::Frame => self.frame(),
            Next::End => Ok(()),
        }
    }

    /// A line of the header, or what follows it.
    fn header(&mut self) -> Result<(), Fault> {
        let start = self.data.at;
        loop {
            match self.data.array::<1>()? {
                [0] => break,
                [b'\n'] => {
                    self.push("\n");
                    return Ok(());
                }
                [byte] => self.out.push(byte),
            }
            if let [first, ..] = self.out[..]
                && self.data.at == start + 1
                && !matches!(first, b'-' | b'#')
            {
                let problem = expected("a header line `-key = value` or a NUL byte", &self.out);
                return Err(Fault { offset: start, problem });
            }
            // Longer lines are refused where they are read.
            if self.out.len() > STEP {
                return Ok(());
            }
        }
        if !self.out.is_empty() {
            self.push("\n");
        }
        self.dictionary()?;
        let offset = self.index.at;
        self.blocks = self.index.number()?;
        self.mark(offset, false);
        self.next = Next::Block;
        Ok(())
    }

    fn dictionary(&mut self) -> Result<(), Fault> {
        let offset = self.data.at;
        // How many instructions the writer wanted in a piece is of no use.
        let [length, _] = self.data.numbers()?;
        if length == 0 {
            return Ok(());
        }
        if length > MAX_DICTIONARY {
            let (what, limit) = ("bytes of a dictionary", MAX_DICTIONARY.into());
            return Err(Fault { offset, problem: Problem::TooMany { what, limit } });
        }
        let offset = self.data.at;
        self.data.piece(length)?;
        let mut bytes = vec![0; length as usize];
        self.data.read_exact(&mut bytes).map_err(|error| unreadable(offset, &error))?;
        let dictionary = Dictionary::decode_dict(&bytes);
        let dictionary = dictionary.map_err(|error| damaged(offset, &error))?;
        self.dictionary = Some(dictionary.id);
        self.decoder.add_dict(dictionary).map_err(|error| damaged(offset, &error))
    }

    /// The next record of the index, or the end.
    fn block(&mut self) -> Result<(), Fault> {
        if self.blocks == 0 {
            self.next = Next::End;
            agree(self.data.at, "the end of the warps' data", self.data.at, self.data.end)?;
            return agree(self.index.at, "the end of the index", self.index.at, self.index.end);
        }
        self.blocks -= 1;
        self.mark(self.index.at, false);
        let [x, y, z] = self.index.numbers()?;
        let [cluster_x, cluster_y, cluster_z] = self.index.numbers()?;
        let [in_x, in_y, in_z] = self.index.numbers()?;
        let [rank, warps] = self.index.numbers()?;
        (self.warps, self.warp) = (warps, 0);
        self.push(&format!(
            "#BEGIN_TB\nthread block = {x},{y},{z}\n\
             cluster id = {cluster_x},{cluster_y},{cluster_z}\n\
             cluster cta = {in_x},{in_y},{in_z}\ncluster rank = {rank}\n"
        ));
        self.next = Next::Warp;
        Ok(())
    }

    /// The next warp of a block, or the block's end.
    fn warp(&mut self) -> Result<(), Fault> {
        if self.warp == self.warps {
            self.mark(self.index.at, false);
            self.push("#END_TB\n");
            self.next = Next::Block;
            return Ok(());
        }
        self.mark(self.index.at, false);
        let record = self.index.at;
        let [instructions, pieces] = self.index.numbers()?;
        let offset = self.index.long()?;
        agree(record, "the offset of the warp's data", offset, self.data.at)?;
        let start = self.data.at;
        let [here, parts] = self.data.numbers()?;
        agree(start, "the warp's number of instructions", here.into(), instructions.into())?;
        agree(start, "the warp's number of pieces", parts.into(), pieces.into())?;
        self.push(&format!("warp = {}\ninsts = {instructions}\n", self.warp));
        (self.instructions, self.pieces) = (instructions, pieces);
        self.warp += 1;
        self.next = Next::Piece;
        Ok(())
    }

    /// The beginning of the next piece of a warp.
    fn piece(&mut self) -> Result<(), Fault> {
        if self.pieces == 0 {
            let left = self.instructions.into();
            self.next = Next::Warp;
            return agree(self.index.at, "what the warp's pieces leave over", left, 0);
        }
        self.pieces -= 1;
        let record = self.index.at;
        let instructions = self.index.number()?;
        let (value, last) = (instructions.into(), self.instructions.into());
        if value == 0 || value > last {
            let what = "the number of instructions of a piece, at least 1,";
            return Err(Fault {
                offset: record,
                problem: Problem::OutOfRange { what, value, last },
            });
        }
        self.instructions -= instructions;
        let start = self.data.at;
        let length = self.data.number()?;
        let end = self.data.piece(length)?;
        self.frame = Frame { start, end, instructions, ..Frame::default() };
        self.mark(start, true);
        let result = self.decoder.init((&mut self.data).take(length.into()));
        result.map_err(|error| refused(start, &error))?;
        if let Some(dictionary) = self.dictionary {
            let result = self.decoder.force_dict(dictionary);
            result.map_err(|error| damaged(start, &error))?;
        }
        if self.decoder.content_size() == 0 {
            let problem = Problem::Truncated("the size of a frame's contents");
            return Err(Fault { offset: start, problem });
        }
        self.next = Next::Frame;
        Ok(())
    }

    /// More of a frame's text, or its end.
    fn frame(&mut self) -> Result<(), Fault> {
        let Frame { start, end, .. } = self.frame;
        if !self.decoder.is_finished() {
            let left = end - self.data.at;
            let source = (&mut self.data).take(left);
            let result = self.decoder.decode_blocks(source, BlockDecodingStrategy::UptoBytes(STEP));
            result.map_err(|error| damaged(start, &error))?;
        }
        let before = self.out.len();
        let result = self.decoder.collect_to_writer(&mut self.out);
        result.map_err(|error| unreadable(start, &error))?;
        self.count(before)?;
        if self.decoder.is_finished() && self.decoder.can_collect() == 0 {
            self.finish()
        } else {
            Ok(())
        }
    }

    /// Counts the line ends of the text from `before` on.
    fn count(&mut self, before: usize) -> Result<(), Fault> {
        let text = &self.out[before..];
        let line_ends = memchr::memchr_iter(b'\n', text).count();
        let frame = &mut self.frame;
        if let Some(last) = text.last() {
            frame.ended = *last == b'\n';
        }
        frame.bytes += text.len() as u64;
        frame.line_ends = frame.line_ends.saturating_add(line_ends as u32);
        self.lines += line_ends as u64;
        // The last line has no end, in the writer's files.
        let lines = frame.line_ends + u32::from(!frame.ended);
        if lines > frame.instructions {
            self.out.truncate(before);
            return self.short();
        }
        Ok(())
    }

    /// A piece without as many lines as the index says.
    fn short(&self) -> Result<(), Fault> {
        let Frame { start, instructions, line_ends, ended, .. } = self.frame;
        let lines = u64::from(line_ends) + u64::from(!ended);
        agree(start, "the number of lines of the piece", lines, instructions.into())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        let Frame { start, end, bytes, ended, .. } = self.frame;
        agree(start, "the size of the frame", self.data.at - start, end - start)?;
        let stated = self.decoder.content_size();
        agree(start, "the size of the frame's contents", bytes, stated)?;
        let sums = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
        if let (Some(stated), Some(found)) = sums {
            agree(start, "the checksum of the frame's contents", found.into(), stated.into())?;
        }
        self.short()?;
        if !ended {
            self.push("\n");
        }
        self.next = Next::Piece;
        Ok(())
    }
}

/// Checks one number of the file against another.
fn agree(offset: u64, what: &'static str, found: u64, expected: u64) -> Result<(), Fault> {
    if found == expected {
        return Ok(());
    }
    Err(Fault { offset, problem: Problem::Contradiction { what, found, expected } })
}

/// What the decoder says of a frame.
fn refused(offset: u64, error: &FrameDecoderError) -> Fault {
    let FrameDecoderError::WindowSizeTooBig { .. } = error else { return damaged(offset, error) };
    let reason = "it takes more than 8 MiB to unpack".to_owned();
    Fault { offset, problem: Problem::Compression { format: ENDING, reason } }
}

fn damaged(offset: u64, error: &impl std::fmt::Display) -> Fault {
    let reason = format!("it is damaged or ends early ({error})");
    Fault { offset, problem: Problem::Compression { format: ENDING, reason } }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.out.len() {
            self.out.clear();
            self.taken = 0;
            if self.next == Next::End {
                return Ok(0);
            }
            self.step()?;
        }
        let read = (&self.out[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}
