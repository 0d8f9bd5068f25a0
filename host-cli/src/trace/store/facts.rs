//! The facts of a launch as bytes, and back with every index checked.

use rustc_hash::FxHashMap;
use strata_compiler::program::Image;
use strata_core::image::{CheckedImage, Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use strata_core::path::PathStep;
use strata_core::units::{LaneMask, RegisterId};
use strata_simt::numbers::{Source, put, put_signed, put_text};
use strata_simt::paths::{MAX_PATH_STEPS, PathDictionary, WarpPath};

use super::Stored;
use crate::trace::Header;
use crate::trace::code::{Assumption, TracedInstruction};
use crate::trace::header::MAX_CTAS;

const UNITS: [Unit; 6] =
    [Unit::Alu, Unit::DoublePrecision, Unit::Sfu, Unit::Memory, Unit::Texture, Unit::Control];
const SPACES: [Option<MemorySpace>; 5] = [
    None,
    Some(MemorySpace::Global),
    Some(MemorySpace::Local),
    Some(MemorySpace::Shared),
    Some(MemorySpace::Constant),
];
/// Shortest stretch of steps that is written as a repetition.
const MIN_MATCH: usize = 3;

/// Writes everything; `recorded` is the order in which the warps' addresses come.
pub(super) fn encode(stored: &Stored, recorded: &[WarpPath]) -> Vec<u8> {
    let mut out = Vec::new();
    header(&mut out, &stored.header);
    put(&mut out, stored.instructions.len() as u64);
    for instruction in &stored.instructions {
        put(&mut out, instruction.pc);
        put_text(&mut out, &instruction.mnemonic);
        for registers in [&instruction.destinations, &instruction.sources] {
            put(&mut out, registers.len() as u64);
            out.extend_from_slice(registers);
        }
        put(&mut out, instruction.width.into());
    }
    image(&mut out, &stored.image);
    put(&mut out, stored.assumptions.len() as u64);
    for assumption in &stored.assumptions {
        put(&mut out, assumption.pc);
        put_text(&mut out, &assumption.mnemonic);
        put_text(&mut out, &assumption.text);
    }
    paths(&mut out, &stored.paths);
    put(&mut out, recorded.len() as u64);
    let mut last = 0_u64;
    for warp in recorded {
        put_signed(&mut out, warp.cta.wrapping_sub(last) as i64);
        last = warp.cta;
        put(&mut out, warp.warp.into());
        put(&mut out, warp.path.into());
    }
    out
}

fn header(out: &mut Vec<u8>, header: &Header) {
    put_text(out, &header.name);
    for side in header.grid.iter().chain(&header.block) {
        put(out, (*side).into());
    }
    for number in [
        header.shared_bytes.into(),
        header.registers.into(),
        header.binary_version.into(),
        header.shared_base,
        header.local_base,
        header.parameter_base,
        header.tracer_version.into(),
        header.line_info.into(),
    ] {
        put(out, number);
    }
}

fn image(out: &mut Vec<u8>, image: &Image) {
    let kernel = image.borrow();
    put(out, image.registers.into());
    for record in &image.instructions {
        out.push(record.sources);
        out.push(record.destinations);
        out.push(UNITS.iter().position(|&unit| unit == record.unit).unwrap_or_default() as u8);
        out.push(SPACES.iter().position(|&space| space == record.space).unwrap_or_default() as u8);
        for bits in [
            u32::from(record.flags.bits()),
            record.last_use,
            record.never_read,
            record.not_read_before_deschedule,
            record.last_use_before_deschedule,
            record.private_reads,
            record.predicates.read,
            record.predicates.written,
        ] {
            put(out, bits.into());
        }
        for slot in kernel.sources(record).iter().chain(kernel.destinations(record)) {
            put(out, slot.0.into());
        }
    }
}

/// The steps of all paths, then where each ends. An even number begins half as many steps, an odd
/// one repeats half as many from a distance back; the repeat may run into itself, as loops do.
fn paths(out: &mut Vec<u8>, paths: &PathDictionary) {
    let steps: Vec<PathStep> = paths.iter().flat_map(|(path, _)| path.iter().copied()).collect();
    put(out, steps.len() as u64);
    let mut seen: FxHashMap<(PathStep, PathStep), usize> = FxHashMap::default();
    let (mut at, mut literals) = (0, 0);
    let mut previous = (0_u32, 0_u32);
    while at < steps.len() {
        let key = steps.get(at + 1).map(|&next| (steps[at], next));
        let before = key.and_then(|key| seen.insert(key, at));
        let length = before.map_or(0, |before| {
            (at..steps.len()).take_while(|&n| steps[n] == steps[before + n - at]).count()
        });
        if length >= MIN_MATCH {
            literal_steps(out, &steps[at - literals..at], &mut previous);
            literals = 0;
            put(out, (length as u64) << 1 | 1);
            put(out, (at - before.unwrap_or(0)) as u64);
            at += length;
        } else {
            literals += 1;
            at += 1;
        }
    }
    literal_steps(out, &steps[at - literals..at], &mut previous);
    put(out, paths.len() as u64);
    for (path, _) in paths.iter() {
        put(out, path.len() as u64);
    }
}

fn literal_steps(out: &mut Vec<u8>, steps: &[PathStep], previous: &mut (u32, u32)) {
    if steps.is_empty() {
        return;
    }
    put(out, (steps.len() as u64) << 1);
    for step in steps {
        put_signed(out, i64::from(step.pc) - i64::from(previous.0));
        put(out, step.length.into());
        put(out, u64::from(step.mask.0 ^ previous.1));
        *previous = (step.pc + step.length, step.mask.0);
    }
}

/// Reads everything. `None` where the bytes make no sense, which a right checksum does not rule
/// out.
pub(super) fn decode(bytes: &[u8]) -> Option<(Stored, Vec<WarpPath>)> {
    let mut source = Source(bytes);
    let source = &mut source;
    let header = get_header(source)?;
    let count = source.count()?;
    let instructions: Vec<TracedInstruction> =
        (0..count).map(|_| get_instruction(source)).collect::<Option<_>>()?;
    let image = get_image(source, count)?;
    let assumptions = (0..source.count()?)
        .map(|_| {
            let (pc, mnemonic) = (source.number()?, source.text()?);
            Some(Assumption { pc, mnemonic, text: source.text()? })
        })
        .collect::<Option<_>>()?;
    let steps = get_steps(source, count as u64)?;
    let mut end = 0_usize;
    let ends = (0..source.count()?)
        .map(|_| {
            end = end.checked_add(source.small()?)?;
            Some(end)
        })
        .collect::<Option<Vec<usize>>>()?;
    let recorded = get_warps(source, &header)?;
    if !source.0.is_empty() {
        return None;
    }
    let paths = PathDictionary::from_parts(steps, ends, recorded.clone())?;
    let stored = Stored { header, instructions, image, assumptions, paths };
    Some((stored, recorded))
}

fn get_header(source: &mut Source<'_>) -> Option<Header> {
    let name = source.text()?;
    let mut sides = [0_u32; 6];
    for side in &mut sides {
        *side = source.small()?;
    }
    let [gx, gy, gz, bx, by, bz] = sides;
    let product = |sides: [u32; 3]| {
        sides.iter().try_fold(1_u64, |product, &side| product.checked_mul(side.into()))
    };
    let (ctas, threads) = (product([gx, gy, gz])?, product([bx, by, bz])?);
    let allowed = (1..=MAX_CTAS).contains(&ctas) && (1..=1 << 16).contains(&threads);
    let header = Header {
        name,
        grid: [gx, gy, gz],
        block: [bx, by, bz],
        shared_bytes: source.small()?,
        registers: source.small()?,
        binary_version: source.small()?,
        shared_base: source.number()?,
        local_base: source.number()?,
        parameter_base: source.number()?,
        tracer_version: source.small()?,
        line_info: source.number()? == 1,
    };
    allowed.then_some(header)
}

fn get_instruction(source: &mut Source<'_>) -> Option<TracedInstruction> {
    Some(TracedInstruction {
        pc: source.number()?,
        mnemonic: source.text()?,
        destinations: source.bytes()?.to_vec(),
        sources: source.bytes()?.to_vec(),
        width: source.small()?,
    })
}

fn get_image(source: &mut Source<'_>, count: usize) -> Option<Image> {
    let mut image = Image { registers: source.small()?, ..Image::default() };
    for _ in 0..count {
        let first_slot = image.slots.len() as u32;
        let (sources, destinations) = (source.byte()?, source.byte()?);
        let unit = *UNITS.get(usize::from(source.byte()?))?;
        let space = *SPACES.get(usize::from(source.byte()?))?;
        let flags = Flags::from_bits(source.small()?)?;
        let mut bits = [0; 7];
        for bits in &mut bits {
            *bits = source.small()?;
        }
        let [
            last_use,
            never_read,
            not_read_before_deschedule,
            last_use_before_deschedule,
            private_reads,
            read,
            written,
        ] = bits;
        let predicates = Predicates { read, written };
        for _ in 0..u16::from(sources) + u16::from(destinations) {
            image.slots.push(RegisterId(source.small()?));
        }
        image.instructions.push(StaticInstruction {
            first_slot,
            sources,
            destinations,
            unit,
            space,
            flags,
            predicates,
            last_use,
            never_read,
            not_read_before_deschedule,
            last_use_before_deschedule,
            private_reads,
        });
    }
    CheckedImage::new(image.borrow()).ok()?;
    Some(image)
}

fn get_steps(source: &mut Source<'_>, instructions: u64) -> Option<Vec<PathStep>> {
    let count = source.number().filter(|&count| count <= MAX_PATH_STEPS)? as usize;
    let mut steps: Vec<PathStep> = Vec::new();
    let mut previous = (0_u32, 0_u32);
    while steps.len() < count {
        let token = source.number()?;
        let length = usize::try_from(token >> 1).ok()?;
        if length == 0 || length > count - steps.len() {
            return None;
        }
        if token & 1 == 1 {
            let distance: usize = source.small()?;
            let first = steps.len().checked_sub(distance).filter(|_| distance != 0)?;
            for at in first..first + length {
                steps.push(steps[at]);
            }
            continue;
        }
        for _ in 0..length {
            let pc = i64::from(previous.0).checked_add(source.signed()?)?;
            let (pc, length) = (u32::try_from(pc).ok()?, source.small::<u32>()?);
            if length == 0 || u64::from(pc) + u64::from(length) > instructions {
                return None;
            }
            let mask = source.small::<u32>()? ^ previous.1;
            previous = (pc + length, mask);
            steps.push(PathStep { pc, length, mask: LaneMask(mask) });
        }
    }
    Some(steps)
}

fn get_warps(source: &mut Source<'_>, header: &Header) -> Option<Vec<WarpPath>> {
    let mut cta = 0_u64;
    (0..source.count()?)
        .map(|_| {
            cta = cta.wrapping_add_signed(source.signed()?);
            let (warp, path) = (source.small()?, source.small()?);
            let known = cta < header.ctas() && warp < header.warps();
            known.then_some(WarpPath { cta, warp, path })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use strata_core::organisation::Organisation;

    use super::*;
    use crate::trace::{Keep, TracedLaunch};

    fn encoded() -> Vec<u8> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/kernel-1.traceg");
        let launch = TracedLaunch::read(file.as_ref(), &Keep::default()).unwrap();
        let stored = Stored {
            header: launch.header,
            instructions: launch.code.instructions,
            image: launch.code.image,
            assumptions: launch.code.assumptions,
            paths: launch.paths,
        };
        let recorded = stored.paths.warps().to_vec();
        encode(&stored, &recorded)
    }

    /// A right checksum does not make right contents: whatever is accepted can be counted.
    #[test]
    fn changed_facts_are_refused_or_can_be_used() {
        let good = encoded();
        assert!(decode(&good).is_some());
        for end in 0..good.len() {
            assert!(decode(&good[..end]).is_none(), "accepted {end} bytes");
        }
        let (mut accepted, mut refused) = (0, 0);
        for seed in 1..=20_000_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut below = |limit: usize| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 33) as usize % limit
            };
            let mut bytes = good.clone();
            for _ in 0..=below(3) {
                let at = below(bytes.len());
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8][below(6)];
            }
            let Some((stored, _)) = decode(&bytes) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            // An error is allowed (a total may overflow), a panic is not.
            let flat = &Organisation::FLAT;
            let counted = std::panic::catch_unwind(|| {
                crate::evaluate::count_launch(flat, false, (&stored.image).into(), &stored.paths)
                    .is_ok()
            });
            assert!(counted.is_ok(), "seed {seed} panics");
        }
        assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
    }

    #[test]
    fn repeated_stretches_are_stored_once() {
        let step = |pc, mask| PathStep { pc, length: 2, mask: LaneMask(mask) };
        let turn = [step(0, 1), step(4, 3), step(8, 7)];
        let looped = |turns: usize| {
            let steps: Vec<PathStep> = turn.iter().copied().cycle().take(turns * 3).collect();
            let ends = vec![steps.len()];
            PathDictionary::from_parts(steps, ends, Vec::new()).unwrap()
        };
        let size = |turns| {
            let mut out = Vec::new();
            paths(&mut out, &looped(turns));
            let mut source = Source(&out);
            let steps = get_steps(&mut source, 100).unwrap();
            assert_eq!(steps, looped(turns).path(0), "{turns} turns");
            out.len()
        };
        assert!(size(100_000) <= size(3) + 8, "{} and {}", size(100_000), size(3));
    }
}
