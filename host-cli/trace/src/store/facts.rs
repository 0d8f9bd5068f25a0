//! The facts of a launch as bytes.

use rustc_hash::FxHashMap;
use strata_compiler::Order;
use strata_compiler::program::Image;
use strata_core::image::{MemorySpace, Unit};
use strata_core::path::PathStep;
use strata_simt::numbers::{put, put_signed, put_text};
use strata_simt::paths::{PathDictionary, WarpPath};

use super::Stored;
use crate::Header;

pub(super) const UNITS: [Unit; 6] =
    [Unit::Alu, Unit::DoublePrecision, Unit::Sfu, Unit::Memory, Unit::Texture, Unit::Control];
pub(super) const SPACES: [Option<MemorySpace>; 5] = [
    None,
    Some(MemorySpace::Global),
    Some(MemorySpace::Local),
    Some(MemorySpace::Shared),
    Some(MemorySpace::Constant),
];
pub(super) const ORDERS: [Option<Order>; 5] = [
    None,
    Some(Order::Ptx),
    Some(Order::Scheduled),
    Some(Order::ScheduledRenamed),
    Some(Order::Close),
];
/// Shortest stretch of steps that is written as a repetition.
const MIN_MATCH: usize = 3;

/// Writes everything; `recorded` is the order in which the warps' addresses come.
pub(super) fn encode(stored: &Stored, recorded: &[WarpPath]) -> Vec<u8> {
    let mut out = Vec::new();
    header(&mut out, &stored.header);
    out.push(ORDERS.iter().position(|&order| order == stored.order).unwrap_or_default() as u8);
    put(&mut out, stored.resident_registers.into());
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

#[cfg(test)]
mod tests {
    use strata_core::count::count_path;
    use strata_core::image::CheckedImage;
    use strata_core::organisation::Organisation;
    use strata_core::units::LaneMask;
    use strata_simt::numbers::Source;

    use super::super::decode::{decode, get_steps};
    use super::*;
    use crate::{Keep, TracedLaunch};

    fn encoded() -> Vec<u8> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/traces/kernel-1.traceg");
        let launch = TracedLaunch::read(file.as_ref(), &Keep::default()).unwrap();
        let stored = Stored {
            header: launch.header,
            instructions: launch.code.instructions,
            order: None,
            resident_registers: launch.code.image.registers,
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
        assert!(decode(&good).is_ok());
        for end in 0..good.len() {
            assert!(decode(&good[..end]).is_err(), "accepted {end} bytes");
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
            let Ok((stored, _)) = decode(&bytes) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            // An error is allowed (a total may overflow), a panic is not.
            let flat = &Organisation::FLAT;
            let counted = std::panic::catch_unwind(|| {
                let image = CheckedImage::new(stored.image.borrow())?;
                let mut awaited = vec![LaneMask::EMPTY; usize::from(image.registers)];
                for (path, _) in stored.paths.iter() {
                    count_path(flat, image, &mut awaited, path.iter().copied())?;
                }
                Ok::<(), Box<dyn std::error::Error>>(())
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
