//! Containers of traces (`.tracez`) made of text, and changed where their numbers stand.

use strata_ptx::fuzzing::Random;

use super::mutate_text::mutate_text;

/// Numbers at the ends of ranges.
const NUMBERS: [u32; 10] = [0, 1, 2, 31, 32, 33, 1 << 16, 1 << 20, i32::MAX as u32, u32::MAX];

/// Whether bytes are a container: only its header ends with a NUL byte.
pub(super) fn is_container(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'-') && memchr::memchr(0, bytes).is_some()
}

/// Packs the text of a trace. Lines that belong to no warp are left out, numbers kept as they are.
pub(super) fn pack(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut parts = Parts::default();
    let mut in_header = true;
    for line in text.split(|&byte| byte == b'\n') {
        in_header &= line != b"#BEGIN_TB";
        if in_header {
            parts.header.extend_from_slice(line);
            parts.header.push(b'\n');
        } else {
            parts.line(line);
        }
    }
    parts.bytes(random)
}

/// A thread block: place, cluster, place in it, rank; and the instructions of its warps.
type Block = ([u32; 10], Vec<Vec<Vec<u8>>>);

#[derive(Default)]
struct Parts {
    header: Vec<u8>,
    blocks: Vec<Block>,
}

impl Parts {
    fn line(&mut self, line: &[u8]) {
        let value = |key: &[u8]| line.strip_prefix(key).map(numbers);
        if line == b"#BEGIN_TB" {
            return self.blocks.push(Block::default());
        }
        let Some((places, warps)) = self.blocks.last_mut() else { return };
        let mut place = |at: usize, found: Vec<u32>| {
            for (place, number) in places[at..].iter_mut().zip(found) {
                *place = number;
            }
        };
        if let Some(found) = value(b"thread block = ") {
            place(0, found);
        } else if let Some(found) = value(b"cluster id = ") {
            place(3, found);
        } else if let Some(found) = value(b"cluster cta = ") {
            place(6, found);
        } else if let Some(found) = value(b"cluster rank = ") {
            place(9, found);
        } else if line.starts_with(b"warp = ") {
            warps.push(Vec::new());
        } else if let Some(warp) = warps.last_mut()
            && !line.is_empty()
            && !line.starts_with(b"insts = ")
            && line != b"#END_TB"
        {
            warp.push(line.to_vec());
        }
    }

    fn bytes(self, random: &mut Random) -> Vec<u8> {
        let number = |number: usize| (number as u32).to_le_bytes();
        let mut file = [&self.header[..], &[0], &number(0), &number(2048)].concat();
        let mut index = number(self.blocks.len()).to_vec();
        for (places, warps) in self.blocks {
            index.extend(places.map(u32::to_le_bytes).concat());
            index.extend(number(warps.len()));
            for lines in warps {
                let pieces: Vec<&[Vec<u8>]> = lines.chunks(1 + random.below(40)).collect();
                let counts = [number(lines.len()), number(pieces.len())].concat();
                index.extend(&counts);
                index.extend((file.len() as u64).to_le_bytes());
                file.extend(&counts);
                for piece in pieces {
                    index.extend(number(piece.len()));
                    let frame = frame(&piece.join(&b'\n'));
                    file.extend(number(frame.len()));
                    file.extend(frame);
                }
            }
        }
        let offset = (file.len() as u64).to_le_bytes();
        [file, index, offset.to_vec()].concat()
    }
}

/// A frame of zstd, of blocks that are not compressed.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut frame =
        [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &(text.len() as u32).to_le_bytes()].concat();
    let count = text.len().div_ceil(1 << 17);
    for (block, part) in (1..).zip(text.chunks(1 << 17)) {
        let head = (part.len() as u32) << 3 | u32::from(block == count);
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend(part);
    }
    frame
}

fn numbers(text: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(text);
    text.split(',').map(|number| number.trim().parse().unwrap_or(0)).collect()
}

/// Changes a container in one or two places, its header mostly.
pub(super) fn mutate_container(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(2) {
        let index = index_of(&bytes);
        let header = memchr::memchr(0, &bytes).unwrap_or(0);
        match random.below(12) {
            0 => bytes.truncate(random.below(bytes.len() + 1)),
            1 | 2 | 8.. => bytes = with_header(&bytes, header, random),
            3 | 4 => change_number(&mut bytes, index, random),
            5 => change_number(&mut bytes, header, random),
            6 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            _ => {
                let at = random.below(bytes.len() + 1);
                bytes.insert(at, random.below(256) as u8);
            }
        }
    }
    bytes
}

/// Where the index begins, as the last bytes say, or the end.
fn index_of(bytes: &[u8]) -> usize {
    let tail = bytes.last_chunk::<8>().map(|tail| u64::from_le_bytes(*tail));
    tail.and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX).min(bytes.len())
}

/// Another header, and offsets that fit it.
fn with_header(bytes: &[u8], header: usize, random: &mut Random) -> Vec<u8> {
    let changed = mutate_text(&bytes[..header], random);
    let moved = (changed.len() as u64).wrapping_sub(header as u64);
    let mut bytes = [&changed, &bytes[header..]].concat();
    let end = bytes.len();
    let Some(tail) = end.checked_sub(8) else { return bytes };
    shift(&mut bytes, tail, moved);
    let mut at = index_of(&bytes);
    let number = |bytes: &[u8], at: usize| {
        let number = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
        number.map(|number| u32::from_le_bytes(*number))
    };
    let Some(blocks) = number(&bytes, at) else { return bytes };
    at += 4;
    for _ in 0..blocks {
        let Some(warps) = number(&bytes, at + 40) else { return bytes };
        at += 44;
        for _ in 0..warps {
            let Some(pieces) = number(&bytes, at + 4) else { return bytes };
            shift(&mut bytes, at + 8, moved);
            at = at.saturating_add(16).saturating_add(4 * pieces as usize);
        }
    }
    bytes
}

/// Adds to the number of 64 bits at a place.
fn shift(bytes: &mut [u8], at: usize, moved: u64) {
    if let Some(number) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
        *number = u64::from_le_bytes(*number).wrapping_add(moved).to_le_bytes();
    }
}

/// Changes a number of 32 bits behind `from`.
fn change_number(bytes: &mut [u8], from: usize, random: &mut Random) {
    let Some(room) = bytes.len().checked_sub(from + 4) else { return };
    // Mostly where numbers of the index stand.
    let step = if random.below(4) == 0 { 1 } else { 4 };
    let at = from + random.below(room / step + 1) * step;
    if let Some(number) = bytes[at..].first_chunk_mut::<4>() {
        let before = u32::from_le_bytes(*number);
        let after = match random.below(4) {
            0 => before.wrapping_add(1),
            1 => before.wrapping_sub(1),
            _ => NUMBERS[random.below(NUMBERS.len())],
        };
        *number = after.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check_trace;
    use super::*;

    const TEXT: &str = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n\
        -nregs = 8\n-binary version = 90\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n\
        -accelsim tracer version = 6\n\n#traces format\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\
        cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n\nwarp = 0\ninsts = 2\n\
        0000 ffffffff 1 R2 MOV 0 0 0 0 NoVal \n0010 ffffffff 0 EXIT 0 0 0 0 NoVal \n\n#END_TB\n";

    #[test]
    fn packed_text_is_read_also_with_another_header() {
        let mut random = Random(1);
        assert!(check_trace(TEXT.as_bytes()));
        let packed = pack(TEXT.as_bytes(), &mut random);
        assert!(is_container(&packed) && !is_container(TEXT.as_bytes()));
        assert!(check_trace(&packed));
        let header = memchr::memchr(0, &packed).unwrap();
        let read = (0..200).filter(|_| check_trace(&with_header(&packed, header, &mut random)));
        assert!(read.count() > 10, "most headers hurt, some do not");
        let read = (0..400).filter(|_| check_trace(&mutate_container(&packed, &mut random)));
        assert!(read.count() > 10);
    }
}
