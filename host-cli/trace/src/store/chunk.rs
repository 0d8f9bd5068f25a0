//! Chunks: compressed, checked, in order.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{StoreError, StoreProblem, VERSION};
use strata_files::failure::reason;
use strata_files::output::{Kind, Output};
use strata_files::partial_file::PartialFile;

/// First bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"STRATA\x1a\n";
/// A recording, as an output.
pub const KIND: Kind = Kind { name: "a recording", begins: &MAGIC };
/// Most bytes of a chunk before compression.
pub(crate) const CHUNK: usize = 1 << 20;
const HEAD: usize = 12;

/// What a chunk holds.
pub(crate) type Tag = [u8; 4];
/// Rows of addresses.
pub(crate) const ADDRESSES: Tag = *b"ADDR";
/// Header, code, image, paths, warps of a launch.
pub(crate) const FACTS: Tag = *b"FACT";
/// End of a launch.
pub(crate) const DONE: Tag = *b"DONE";
/// End of the file.
pub(crate) const END: Tag = *b"END.";

/// The bytes of one chunk.
pub(crate) fn packed(tag: Tag, data: &[u8]) -> Vec<u8> {
    let stored = lz4_flex::block::compress(data);
    let mut bytes = Vec::with_capacity(HEAD + stored.len() + 4);
    bytes.extend_from_slice(&tag);
    bytes.extend_from_slice(&(data.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(stored.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&stored);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Writes chunks into a file that appears in its place with the last of them.
#[derive(Debug)]
pub(crate) struct ChunkWriter {
    file: PartialFile,
    chunks: u64,
    offset: u64,
}

impl ChunkWriter {
    pub(crate) fn create(output: &Output) -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| failed(output.named(), 0, &error);
        let file = PartialFile::create(output).map_err(failed)?;
        let mut writer = Self { file, chunks: 0, offset: 0 };
        writer.put(&MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        Ok(writer)
    }

    /// An error at the current place.
    pub(crate) fn error(&self, problem: StoreProblem) -> StoreError {
        StoreError { file: self.file.target().display().to_string(), offset: self.offset, problem }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let result = self.file.write_all(bytes);
        result.map_err(|error| failed(self.file.target(), self.offset, &error))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Writes one chunk of at most [`CHUNK`] bytes.
    pub(crate) fn chunk(&mut self, tag: Tag, data: &[u8]) -> Result<(), StoreError> {
        debug_assert!(data.len() <= CHUNK);
        self.chunks += 1;
        self.put(&packed(tag, data))
    }

    /// Writes any number of bytes as chunks.
    pub(crate) fn chunks(&mut self, tag: Tag, data: &[u8]) -> Result<(), StoreError> {
        data.chunks(CHUNK).try_for_each(|data| self.chunk(tag, data))
    }

    /// Ends the file and moves it to its place.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        let count = self.chunks.to_le_bytes();
        self.chunk(END, &count)?;
        let target = self.file.target().to_owned();
        self.file.finish().map_err(|error| failed(&target, self.offset, &error))
    }
}

/// A file that cannot be written.
fn failed(path: &Path, offset: u64, error: &std::io::Error) -> StoreError {
    let problem = StoreProblem::Unwritable(reason(error));
    StoreError { file: path.display().to_string(), offset, problem }
}

/// One chunk as read.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) tag: Tag,
    /// Empty when it was skipped.
    pub(crate) data: Vec<u8>,
    /// Before compression. Unit: bytes.
    pub(crate) length: u64,
}

/// A file, or bytes that stand for one.
pub(crate) trait Bytes: Read + Seek + std::fmt::Debug {}

impl<T: Read + Seek + std::fmt::Debug> Bytes for T {}

/// Reads chunks in order.
#[derive(Debug)]
pub(crate) struct ChunkReader {
    reader: BufReader<Box<dyn Bytes>>,
    file: String,
    offset: u64,
    chunks: u64,
    stored: Vec<u8>,
}

/// A place between chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    offset: u64,
    chunks: u64,
}

impl Place {
    /// Bytes between an earlier place and this one.
    pub(crate) fn bytes_since(self, earlier: Self) -> u64 {
        self.offset - earlier.offset
    }

    /// Chunks between an earlier place and this one.
    pub(crate) fn chunks_since(self, earlier: Self) -> u64 {
        self.chunks - earlier.chunks
    }
}

impl ChunkReader {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let opened = File::open(path).map_err(|error| StoreError {
            file: path.display().to_string(),
            offset: 0,
            problem: StoreProblem::Unreadable(reason(&error)),
        })?;
        Self::new(Box::new(opened), path.display().to_string())
    }

    /// Begins to read; `file` is for messages.
    pub(crate) fn new(bytes: Box<dyn Bytes>, file: String) -> Result<Self, StoreError> {
        let reader = BufReader::with_capacity(1 << 16, bytes);
        let mut chunks = Self { reader, file, offset: 0, chunks: 0, stored: Vec::new() };
        let mut head = [0; 12];
        let magic = chunks.fill(&mut head);
        if head[..8] != MAGIC {
            return Err(chunks.error_at(0, StoreProblem::Magic));
        }
        magic?;
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != VERSION {
            return Err(chunks.error_at(8, StoreProblem::Version(version)));
        }
        Ok(chunks)
    }

    pub(crate) fn error_at(&self, offset: u64, problem: StoreProblem) -> StoreError {
        StoreError { file: self.file.clone(), offset, problem }
    }

    /// An error at the current place.
    pub(crate) fn error(&self, problem: StoreProblem) -> StoreError {
        self.error_at(self.offset, problem)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), StoreError> {
        let result = self.reader.read_exact(bytes);
        result.map_err(|error| {
            self.error(match error.kind() {
                ErrorKind::UnexpectedEof => StoreProblem::Truncated,
                _ => StoreProblem::Unreadable(reason(&error)),
            })
        })?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn place(&self) -> Place {
        Place { offset: self.offset, chunks: self.chunks }
    }

    /// Goes back to a place.
    pub(crate) fn go_to(&mut self, place: Place) -> Result<(), StoreError> {
        let moved = self.reader.seek(SeekFrom::Start(place.offset));
        moved.map_err(|error| self.error(StoreProblem::Unreadable(reason(&error))))?;
        (self.offset, self.chunks) = (place.offset, place.chunks);
        Ok(())
    }

    /// The next chunk. Data of chunks with the tag `skipped` is checked but not unpacked.
    pub(crate) fn next(&mut self, skipped: Option<Tag>) -> Result<Chunk, StoreError> {
        let start = self.offset;
        let mut head = [0; HEAD];
        self.fill(&mut head)?;
        let [t0, t1, t2, t3, l0, l1, l2, l3, s0, s1, s2, s3] = head;
        let tag = [t0, t1, t2, t3];
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let stored = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
        // LZ4 adds less than one byte in 255 to what it cannot compress.
        if length > CHUNK || stored > CHUNK + CHUNK / 128 + 64 {
            return Err(self.error_at(start, StoreProblem::Checksum));
        }
        let mut data = std::mem::take(&mut self.stored);
        data.resize(stored, 0);
        self.fill(&mut data)?;
        let mut sum = [0; 4];
        self.fill(&mut sum)?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        hasher.update(&data);
        if hasher.finalize() != u32::from_le_bytes(sum) {
            return Err(self.error_at(start, StoreProblem::Checksum));
        }
        let unpacked = if skipped == Some(tag) {
            Vec::new()
        } else {
            let unpacked = lz4_flex::block::decompress(&data, length).ok();
            let unpacked = unpacked.filter(|unpacked| unpacked.len() == length);
            let broken = StoreProblem::Contents("compressed data");
            unpacked.ok_or_else(|| self.error_at(start, broken))?
        };
        self.stored = data;
        if tag == END {
            self.check_end(start, &unpacked)?;
        }
        self.chunks += 1;
        Ok(Chunk { tag, data: unpacked, length: length as u64 })
    }

    fn check_end(&mut self, start: u64, count: &[u8]) -> Result<(), StoreError> {
        let mut more = [0];
        if count != self.chunks.to_le_bytes() {
            return Err(self.error_at(start, StoreProblem::Contents("number of chunks")));
        }
        match self.reader.read(&mut more) {
            Ok(0) => Ok(()),
            _ => Err(self.error(StoreProblem::Contents("bytes behind the end"))),
        }
    }
}
