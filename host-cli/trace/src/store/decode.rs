//! The facts of a launch out of bytes: every index checked, and nothing reserved that a claimed
//! number asks for and the bytes do not hold.
//!
//! A right checksum does not make right contents. What is read here can be counted in both modes,
//! or is refused by them as input.

use strata_compiler::Order;
use strata_compiler::inline::MAX_INSTRUCTIONS;
use strata_compiler::program::Image;
use strata_core::image::{CheckedImage, Flags, MAX_SLOTS, Predicates, StaticInstruction};
use strata_core::path::PathStep;
use strata_core::units::{LaneMask, RegisterId};
use strata_simt::numbers::Source;
use strata_simt::paths::{MAX_PATH_STEPS, PathDictionary, WarpPath};

use super::facts::{ORDERS, SPACES, UNITS};
use super::{StoreProblem, Stored};
use crate::Header;
use crate::code::{Assumption, KINDS_OF_ASSUMPTION, TracedInstruction};
use crate::header::{MAX_CTAS, MAX_THREADS};
use crate::instruction::MAX_NAMED;
use crate::plain::{MAX_NAME, is_mnemonic, is_plain};
use crate::reader;

/// Most registers of a thread.
const MAX_REGISTERS: u16 = 256;
/// Longest text of an assumption. Unit: bytes.
const MAX_ASSUMPTION: usize = 256;

/// Reads everything.
pub(super) fn decode(bytes: &[u8]) -> Result<(Stored, Vec<WarpPath>), StoreProblem> {
    let mut source = Source(bytes);
    let source = &mut source;
    let header = get_header(source).ok_or(StoreProblem::Contents("the header of a launch"))?;
    let (order, resident_registers) =
        get_order(source, &header).ok_or(StoreProblem::Contents("the order of a launch"))?;
    let count = limited(source, "instructions", MAX_INSTRUCTIONS)?;
    let instructions = (0..count).map(|_| get_instruction(source)).collect::<Option<Vec<_>>>();
    let instructions = instructions.ok_or(StoreProblem::Contents("an instruction"))?;
    if !instructions.is_sorted_by(|a, b| a.pc < b.pc) {
        return Err(StoreProblem::Contents("the order of the instructions"));
    }
    let image = get_image(source, count).ok_or(StoreProblem::Contents("the machine's image"))?;
    // Only the code of traces is guessed at.
    let most = KINDS_OF_ASSUMPTION * count.min(reader::MAX_INSTRUCTIONS);
    let count_assumed = limited(source, "assumptions", most)?;
    let assumptions = (0..count_assumed).map(|_| get_assumption(source)).collect::<Option<_>>();
    let assumptions = assumptions.ok_or(StoreProblem::Contents("an assumption"))?;
    let paths = StoreProblem::Contents("the paths");
    let steps = get_steps(source, count as u64).ok_or(paths.clone())?;
    let ends = get_ends(source)?.ok_or(paths.clone())?;
    let recorded = get_warps(source, &header)?.ok_or(StoreProblem::Contents("the warps"))?;
    if !source.0.is_empty() {
        return Err(StoreProblem::Contents("bytes behind the warps"));
    }
    let paths = PathDictionary::from_parts(steps, ends, recorded.clone()).ok_or(paths)?;
    check_warps(&header, &paths)?;
    let stored =
        Stored { header, instructions, image, order, resident_registers, assumptions, paths };
    Ok((stored, recorded))
}

/// How many things follow, no more than `most`.
fn limited(
    source: &mut Source<'_>,
    what: &'static str,
    most: usize,
) -> Result<usize, StoreProblem> {
    let count = source.count().ok_or(StoreProblem::Contents("a count beyond the end"))?;
    let limit = most as u64;
    if count <= most { Ok(count) } else { Err(StoreProblem::TooMany { what, limit }) }
}

/// Every CTA must have all its warps, every warp only lanes that it has, and every path a warp.
fn check_warps(header: &Header, paths: &PathDictionary) -> Result<(), StoreProblem> {
    let contradiction = |what| Err(StoreProblem::Contents(what));
    let per_cta = header.warps();
    let mut last = None;
    for cta in paths.warps().chunk_by(|a, b| a.cta == b.cta) {
        let whole = cta.len() as u64 == u64::from(per_cta)
            && cta.iter().zip(0..).all(|(warp, index)| warp.warp == index);
        if !whole || last.replace(cta[0].cta) == Some(cta[0].cta) {
            return contradiction("a CTA without each of its warps once");
        }
    }
    if paths.iter().any(|(_, warps)| warps == 0) {
        return contradiction("a path that no warp took");
    }
    let masks: Vec<u32> = paths
        .iter()
        .map(|(path, _)| path.iter().fold(0, |masks, step| masks | step.mask.0))
        .collect();
    let inside = |warp: &WarpPath| masks[warp.path as usize] & !header.lanes(warp.warp) == 0;
    if paths.warps().iter().all(inside) {
        return Ok(());
    }
    contradiction("a mask with lanes that the warp does not have")
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
    let allowed = (1..=MAX_CTAS).contains(&ctas) && (1..=MAX_THREADS).contains(&threads);
    if !allowed || name.is_empty() || name.len() > MAX_NAME || !is_plain(&name) {
        return None;
    }
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
        line_info: flag(source)?,
    };
    // Version 0 is what was executed here.
    let known = matches!(header.tracer_version, 0 | 3..=6) && header.binary_version <= 999;
    (known && header.registers <= MAX_REGISTERS).then_some(header)
}

/// The order of the instructions, and the registers that residency counts.
fn get_order(source: &mut Source<'_>, header: &Header) -> Option<(Option<Order>, u16)> {
    let order = *ORDERS.get(usize::from(source.byte()?))?;
    let registers: u16 = source.small()?;
    // Version 0 is what was executed here.
    let known = order.is_some() == (header.tracer_version == 0) && registers <= MAX_REGISTERS;
    known.then_some((order, registers))
}

fn flag(source: &mut Source<'_>) -> Option<bool> {
    match source.number()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn get_instruction(source: &mut Source<'_>) -> Option<TracedInstruction> {
    let instruction = TracedInstruction {
        pc: source.number()?,
        mnemonic: source.text().filter(|text| is_mnemonic(text.as_bytes()))?,
        destinations: get_registers(source)?,
        sources: get_registers(source)?,
        width: source.small()?,
    };
    (instruction.width <= 128).then_some(instruction)
}

fn get_registers(source: &mut Source<'_>) -> Option<Vec<u8>> {
    source.bytes().filter(|named| named.len() as u64 <= MAX_NAMED).map(<[u8]>::to_vec)
}

fn get_assumption(source: &mut Source<'_>) -> Option<Assumption> {
    let pc = source.number()?;
    let mnemonic = source.text().filter(|text| is_mnemonic(text.as_bytes()))?;
    let text = source.text().filter(|text| text.len() <= MAX_ASSUMPTION && is_plain(text))?;
    Some(Assumption { pc, mnemonic, text })
}

fn get_image(source: &mut Source<'_>, count: usize) -> Option<Image> {
    let registers = source.small().filter(|&registers| registers <= MAX_REGISTERS)?;
    let mut image = Image { registers, ..Image::default() };
    // That many instructions were read already.
    image.instructions.reserve_exact(count);
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
        if usize::from(sources.max(destinations)) > MAX_SLOTS {
            return None;
        }
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

pub(super) fn get_steps(source: &mut Source<'_>, instructions: u64) -> Option<Vec<PathStep>> {
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

/// Where each path ends.
fn get_ends(source: &mut Source<'_>) -> Result<Option<Vec<usize>>, StoreProblem> {
    let count = limited(source, "paths", MAX_PATH_STEPS as usize)?;
    let mut end = 0_usize;
    let mut next = || {
        end = end.checked_add(source.small()?)?;
        Some(end)
    };
    Ok((0..count).map(|_| next()).collect())
}

fn get_warps(
    source: &mut Source<'_>,
    header: &Header,
) -> Result<Option<Vec<WarpPath>>, StoreProblem> {
    let count = limited(source, "warps", MAX_PATH_STEPS as usize)?;
    let mut cta = 0_u64;
    let mut next = || {
        cta = cta.wrapping_add_signed(source.signed()?);
        let (warp, path) = (source.small()?, source.small()?);
        let known = cta < header.ctas() && warp < header.warps();
        known.then_some(WarpPath { cta, warp, path })
    };
    Ok((0..count).map(|_| next()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Parts);

    /// Facts, part by part.
    struct Parts {
        /// Name, grid, block, shared memory, registers, binary version, windows, tracer, lines.
        header: Vec<u8>,
        /// PTX order, one register.
        order: Vec<u8>,
        /// One instruction, `NOP`: its address, name, results, operands, width.
        code: Vec<u8>,
        /// One register; of the instruction: operands, results, unit, memory, eight sets of bits.
        image: Vec<u8>,
        assumptions: Vec<u8>,
        /// One step, of one instruction under one lane.
        steps: Vec<u8>,
        ends: Vec<u8>,
        /// CTA 0, warps 0 and 1 (one step in the CTA's number is 2), path 0.
        warps: Vec<u8>,
    }

    impl Parts {
        fn good() -> Self {
            Self {
                header: vec![1, b'k', 1, 1, 1, 33, 1, 1, 0, 1, 70, 0, 0, 0, 0, 0],
                order: vec![1, 1],
                code: vec![1, 0, 3, b'N', b'O', b'P', 0, 0, 0],
                image: [&[1][..], &[0; 12]].concat(),
                assumptions: vec![0],
                steps: vec![1, 2, 0, 1, 1],
                ends: vec![1, 1],
                warps: vec![2, 0, 0, 0, 0, 1, 0],
            }
        }

        fn decode(&self) -> Result<Stored, StoreProblem> {
            let Self { header, order, code, image, assumptions, steps, ends, warps } = self;
            let bytes = [header, order, code, image, assumptions, steps, ends, warps];
            decode(&bytes.map(Vec::as_slice).concat()).map(|(stored, _)| stored)
        }
    }

    #[test]
    fn facts_that_contradict_themselves_are_named() {
        let stored = Parts::good().decode().unwrap();
        assert_eq!((stored.paths.warps().len(), stored.warp_instructions()), (2, 2));
        let cases: &[(Change, &str)] = &[
            (|parts| parts.header[1] = 0x1b, "the header of a launch"),
            (|parts| parts.header[2] = 0, "the header of a launch"),
            (|parts| parts.header[14] = 1, "the header of a launch"),
            (|parts| parts.header[15] = 2, "the header of a launch"),
            (|parts| parts.order[0] = 0, "the order of a launch"),
            (|parts| parts.order[0] = 5, "the order of a launch"),
            (|parts| parts.order = vec![1, 0x81, 2], "the order of a launch"),
            (|parts| parts.code[3] = b'n', "an instruction"),
            (|parts| parts.code[4] = 0x1b, "an instruction"),
            (
                |parts| parts.code = vec![1, 0, 1, b'N', 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                "an inst",
            ),
            (|parts| parts.image[1] = 65, "the machine's image"),
            (|parts| parts.assumptions = vec![1, 0, 1, b'N', 1, 7], "an assumption"),
            (|parts| parts.assumptions = vec![9, 0, 0, 0, 0, 0, 0], "more than 8 assumptions"),
            (|parts| parts.steps[4] = 2, "a mask with lanes that the warp does not have"),
            (|parts| parts.ends = vec![2, 1, 0], "a path that no warp took"),
            (|parts| parts.warps = vec![1, 0, 0, 0], "a CTA without each of its warps once"),
            (|parts| parts.warps = vec![2, 0, 0, 0, 0, 0, 0], "a CTA without each of its warps"),
            (|parts| parts.warps = vec![0], "a path that no warp took"),
            (|parts| parts.warps.push(0), "bytes behind the warps"),
        ];
        for (at, (change, what)) in cases.iter().enumerate() {
            let mut parts = Parts::good();
            change(&mut parts);
            let problem = parts.decode().expect_err(what).to_string();
            assert!(problem.contains(what), "case {at}: {problem}, not {what}");
        }
    }

    /// A count that the bytes would allow, but no memory is reserved for.
    #[test]
    fn floods_of_empty_things_are_refused_before_they_are_read() {
        let flood = |count: usize| {
            let mut bytes = Vec::new();
            strata_simt::numbers::put(&mut bytes, count as u64);
            bytes.resize(bytes.len() + count, 0);
            bytes
        };
        let steps = MAX_PATH_STEPS as usize + 1;
        let cases = [
            (Parts { code: flood(MAX_INSTRUCTIONS + 1), ..Parts::good() }, "instructions"),
            (Parts { ends: flood(steps), ..Parts::good() }, "paths"),
            (Parts { warps: flood(steps), ..Parts::good() }, "warps"),
        ];
        for (parts, expected) in cases {
            let problem = parts.decode().unwrap_err();
            assert!(
                matches!(problem, StoreProblem::TooMany { what, .. } if what == expected),
                "{problem}"
            );
        }
    }
}
