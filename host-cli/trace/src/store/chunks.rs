//! The format taken apart without its checks, for the mutator of recordings. Not part of the
//! interface.

use strata_simt::paths::WarpPath;

use super::chunk::{MAGIC, Tag, packed};
use super::{Stored, decode as reading, facts};

/// A chunk's tag and its bytes before compression.
pub type Chunk = (Tag, Vec<u8>);

/// The chunks of a file; `None` where it does not consist of such.
pub fn unpack(bytes: &[u8]) -> Option<Vec<Chunk>> {
    let mut rest = bytes.strip_prefix(&MAGIC)?.get(4..)?;
    let mut chunks = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk::<12>() {
        let [t0, t1, t2, t3, l0, l1, l2, l3, s0, s1, s2, s3] = *head;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let stored = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
        let data = after.get(..stored).filter(|_| length <= super::chunk::CHUNK)?;
        chunks.push(([t0, t1, t2, t3], lz4_flex::block::decompress(data, length).ok()?));
        rest = after.get(stored + 4..)?;
    }
    rest.is_empty().then_some(chunks)
}

/// A file of chunks.
pub fn pack(chunks: &[Chunk], version: u32) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &version.to_le_bytes()].concat();
    for (tag, data) in chunks {
        bytes.extend_from_slice(&packed(*tag, data));
    }
    bytes
}

/// The facts of a launch, which must make sense.
pub fn decode(bytes: &[u8]) -> Option<(Stored, Vec<WarpPath>)> {
    reading::decode(bytes).ok()
}

/// Facts as bytes, whether or not they make sense.
pub fn encode(stored: &Stored, recorded: &[WarpPath]) -> Vec<u8> {
    facts::encode(stored, recorded)
}
