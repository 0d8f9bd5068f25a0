//! Recordings changed behind their checksums: fields, encoded numbers, chunks.

use strata_core::image::{Flags, MemorySpace, Unit};
use strata_core::path::PathStep;
use strata_core::units::{LaneMask, RegisterId};
use strata_ptx::fuzzing::Random;
use strata_simt::numbers::{Source, put};
use strata_simt::paths::{PathDictionary, WarpPath};
use strata_trace::store::chunks::{Chunk, decode, encode, pack, unpack};
use strata_trace::store::{Stored, VERSION};

/// Numbers at the ends of ranges.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    31,
    32,
    33,
    64,
    127,
    128,
    255,
    256,
    1023,
    1024,
    1025,
    65_535,
    65_536,
    1 << 20,
    (1 << 20) + 1,
    1 << 24,
    (1 << 24) + 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    1 << 63,
    u64::MAX,
];

/// Changes a recording in one to three places and makes its checksums right again. `None` for what
/// is no recording with whole chunks.
pub fn mutate_recording(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut chunks = unpack(bytes)?;
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0 => change_chunks(&mut chunks, random),
            1..5 => change_bytes(&mut chunks, random),
            _ => change_fields(&mut chunks, random),
        }
    }
    // The end says how many chunks there are, half of the wrong times still.
    let before_end = chunks.iter().position(|chunk| &chunk.0 == b"END.");
    if let Some(count) = before_end.filter(|_| random.below(16) != 0) {
        chunks[count].1 = (count as u64).to_le_bytes().to_vec();
    }
    let version = if random.below(256) == 0 { VERSION + 1 } else { VERSION };
    Some(pack(&chunks, version))
}

/// Drops, repeats, exchanges or renames chunks.
fn change_chunks(chunks: &mut Vec<Chunk>, random: &mut Random) {
    if chunks.is_empty() {
        return;
    }
    let (at, other) = (random.below(chunks.len()), random.below(chunks.len()));
    match random.below(4) {
        0 => drop(chunks.remove(at)),
        1 => chunks.insert(at, chunks[other].clone()),
        2 => chunks.swap(at, other),
        _ => chunks[at].0 = *[b"ADDR", b"FACT", b"DONE", b"END.", b"WHAT"][random.below(5)],
    }
}

/// Changes the bytes of a chunk: encoded numbers, or stretches.
fn change_bytes(chunks: &mut [Chunk], random: &mut Random) {
    if chunks.is_empty() {
        return;
    }
    let index = random.below(chunks.len());
    let data = &mut chunks[index].1;
    let at = random.below(data.len() + 1).min(data.len());
    let end = (at + random.below(24)).min(data.len());
    match random.below(6) {
        0 => drop(data.drain(at..end)),
        1 => {
            let piece = data[at..end].to_vec();
            data.splice(at..at, piece);
        }
        2 if at < data.len() => data[at] = random.below(256) as u8,
        _ => {
            let mut source = Source(&data[at..]);
            let before = source.number();
            let length = data.len() - at - source.0.len();
            let mut new = Vec::new();
            let step = before.unwrap_or(0).wrapping_add([1, 2, u64::MAX][random.below(3)]);
            put(&mut new, if random.below(2) == 0 { step } else { number(random) });
            data.splice(at..at + length, new);
        }
    }
}

fn number(random: &mut Random) -> u64 {
    NUMBERS[random.below(NUMBERS.len())]
}

/// Changes a field of a launch's facts, and says how many instructions that makes.
fn change_fields(chunks: &mut [Chunk], random: &mut Random) {
    let facts: Vec<usize> = (0..chunks.len()).filter(|&at| &chunks[at].0 == b"FACT").collect();
    let Some(&at) = facts.get(random.below(facts.len())) else { return };
    let Some((mut stored, mut warps)) = decode(&chunks[at].1) else { return };
    match random.below(8) {
        0 | 1 => change_header(&mut stored, random),
        2 | 3 => change_code(&mut stored, random),
        4 => change_text(&mut stored, random),
        _ => change_paths(&mut stored, &mut warps, random),
    }
    chunks[at].1 = encode(&stored, &warps);
    if let Some(done) = chunks[at..].iter_mut().find(|chunk| &chunk.0 == b"DONE") {
        done.1.clear();
        put(&mut done.1, stored.warp_instructions());
    }
}

fn change_header(stored: &mut Stored, random: &mut Random) {
    let header = &mut stored.header;
    let new = number(random);
    let small = new as u32;
    match random.below(10) {
        0 => header.grid[random.below(3)] = small,
        1 => header.block[random.below(3)] = small,
        2 => header.block = [small, 1, 1],
        3 => header.shared_bytes = small,
        4 => header.registers = new as u16,
        5 => header.binary_version = small,
        6 => header.shared_base = new,
        7 => header.local_base = new,
        8 => header.parameter_base = new,
        _ => header.tracer_version = small,
    }
}

fn change_code(stored: &mut Stored, random: &mut Random) {
    let pc = random.below(stored.image.instructions.len());
    let (new, spaces) =
        (number(random), [None, Some(MemorySpace::Local), Some(MemorySpace::Shared)]);
    let Some(record) = stored.image.instructions.get_mut(pc) else { return };
    let units = [Unit::Alu, Unit::Sfu, Unit::Memory, Unit::Texture, Unit::Control];
    match random.below(10) {
        0 => stored.image.registers = new as u16,
        1 => record.unit = units[random.below(units.len())],
        2 => record.space = spaces[random.below(spaces.len())],
        3 => record.flags = Flags::from_bits_truncate(random.draw() as u16),
        4 => record.flags.toggle(Flags::BARRIER | Flags::DESCHEDULE_BEFORE),
        5 => record.never_read ^= new as u32,
        6 => record.last_use ^= new as u32,
        7 => stored.instructions[pc].width = [0, 4, 16, 128, 255][random.below(5)],
        8 => stored.instructions[pc].pc = new,
        _ => {
            let slots = stored.image.slots.len();
            if let Some(slot) = stored.image.slots.get_mut(random.below(slots)) {
                *slot = RegisterId(new as u16);
            }
        }
    }
}

fn change_text(stored: &mut Stored, random: &mut Random) {
    let texts = ["", "\u{1b}[2J", "a\u{202e}b", "LDG.E.128", "BAR.SYNC", "SHFL", "x y", "LD"];
    let text = texts[random.below(texts.len())].to_owned();
    let pc = random.below(stored.instructions.len());
    match (stored.instructions.get_mut(pc), random.below(2)) {
        (Some(instruction), 0) => instruction.mnemonic = text,
        _ => stored.header.name = text,
    }
}

/// Changes a step, a path, or the path of a warp.
fn change_paths(stored: &mut Stored, warps: &mut Vec<WarpPath>, random: &mut Random) {
    let mut paths: Vec<Vec<PathStep>> =
        stored.paths.iter().map(|(path, _)| path.to_vec()).collect();
    let at = random.below(paths.len());
    // Sums of two such numbers fit.
    let new = number(random) as u32 >> 1;
    match (paths.get_mut(at), warps.get(random.below(warps.len())).copied()) {
        (Some(path), _) if random.below(3) != 0 => change_path(path, new, random),
        (_, Some(warp)) => match random.below(5) {
            0 => warps.retain(|other| *other != warp),
            1 => warps.push(warp),
            2 => warps.push(WarpPath { warp: new, ..warp }),
            3 => warps.push(WarpPath { cta: u64::from(new), ..warp }),
            _ => warps.push(WarpPath { path: random.below(paths.len()) as u32, ..warp }),
        },
        _ => {}
    }
    let mut end = 0;
    let ends: Vec<usize> = paths
        .iter()
        .map(|path| {
            end += path.len();
            end
        })
        .collect();
    if let Some(changed) = PathDictionary::from_parts(paths.concat(), ends, warps.clone()) {
        stored.paths = changed;
    }
}

fn change_path(path: &mut Vec<PathStep>, new: u32, random: &mut Random) {
    let at = random.below(path.len());
    if path.is_empty() {
        return path.push(PathStep { pc: new, length: 1, mask: LaneMask(u32::MAX) });
    }
    match random.below(7) {
        0 => path[at].pc = new,
        1 => path[at].length = new.max(1),
        2 => path[at].mask = LaneMask(random.draw() as u32),
        3 => path[at].mask = LaneMask(path[at].mask.0 ^ new),
        4 => drop(path.remove(at)),
        5 => path.insert(at, path[at]),
        _ => {
            let piece: Vec<PathStep> = path[at..].to_vec();
            for _ in 0..random.below(64) {
                path.extend_from_slice(&piece);
            }
        }
    }
}
