//! Count mode: one warp walks a made-up loop.
//!
//! The loop has 64 instructions, one of them a load from global memory, with 1.5 operands and 0.9
//! results on average, about what compiled kernels have. It is fixed, so that the instructions per
//! warp instruction change only when the code does.

use std::hint::black_box;

use strata_core::count::count_path;
use strata_core::image::{CheckedImage, Flags, KernelImage, StaticInstruction, Unit};
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::units::{LaneMask, RegisterId};

use crate::work::{Prepared, Work};

/// Instructions of the loop.
pub(crate) const LENGTH: u32 = 64;
/// Times the warp goes round in one piece of work.
const ITERATIONS: usize = 500;
/// Registers of the kernel.
pub(crate) const REGISTERS: u16 = 24;
/// The instruction that loads.
const LOAD: u32 = 5;

/// Count mode, by organisation.
pub const WORK: &[Work] = &[
    Work { name: "count_flat", prepare: || prepare(None) },
    Work { name: "count_rfc1", prepare: || prepare(Some(cache(1, Replacement::Fifo))) },
    Work { name: "count_rfc6", prepare: || prepare(Some(cache(6, Replacement::Fifo))) },
    Work { name: "count_rfc6_lru", prepare: || prepare(Some(cache(6, Replacement::Lru))) },
    Work { name: "count_rfc13", prepare: || prepare(Some(cache(13, Replacement::Fifo))) },
];

const fn cache(entries: u8, replacement: Replacement) -> RegisterFileCacheConfig {
    RegisterFileCacheConfig {
        entries,
        replacement,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    }
}

/// Small numbers of a fixed order.
pub(crate) struct Sequence(pub(crate) u32);

impl Sequence {
    /// The next number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % limit
    }

    fn register(&mut self) -> RegisterId {
        RegisterId(self.below(u32::from(REGISTERS)) as u16)
    }
}

/// Instructions of the loop, and their slots.
pub(crate) fn kernel() -> (Vec<StaticInstruction>, Vec<RegisterId>) {
    let mut sequence = Sequence(12_345);
    let mut slots = Vec::new();
    let mut instructions = Vec::new();
    let mut recent = [RegisterId(0); 4];
    for pc in 0..LENGTH {
        let first_slot = slots.len() as u32;
        let sources = [1, 1, 2, 2, 2, 1, 1, 2, 3, 0][sequence.below(10) as usize];
        for _ in 0..sources {
            let is_recent = sequence.below(10) < 6;
            let register =
                if is_recent { recent[sequence.below(4) as usize] } else { sequence.register() };
            slots.push(register);
        }
        let destinations = u8::from(sequence.below(10) < 9);
        if destinations == 1 {
            let register = sequence.register();
            recent[pc as usize % 4] = register;
            slots.push(register);
        }
        let (unit, latency) = if pc == LOAD {
            (Unit::Memory, Flags::LONG_LATENCY)
        } else {
            (Unit::Alu, Flags::empty())
        };
        instructions.push(StaticInstruction {
            first_slot,
            sources,
            destinations,
            flags: Flags::DESCHEDULE_BEFORE | latency,
            last_use: u32::from(sequence.below(10) < 6),
            ..StaticInstruction::new(unit)
        });
    }
    (instructions, slots)
}

fn config(cache: Option<RegisterFileCacheConfig>) -> Organisation {
    let cached = |cache| LevelSettings::Cached(CachedLevels::new(cache));
    let levels = cache.map_or(LevelSettings::Flat, cached);
    let scheduling = Scheduling::TwoLevel { active_warps: 8 };
    Organisation::new(OrganisationSettings { levels, scheduling })
        .expect("the settings above are valid")
}

/// The design that the papers recommend: 6 entries, 8 active warps.
pub fn rfc6() -> Organisation {
    config(Some(cache(6, Replacement::Fifo)))
}

fn prepare(cache: Option<RegisterFileCacheConfig>) -> Prepared {
    let config = config(cache);
    let (instructions, slots) = kernel();
    let mut awaited = [LaneMask::EMPTY; REGISTERS as usize];
    let path = vec![PathStep { pc: 0, length: LENGTH, mask: LaneMask::FULL }; ITERATIONS];
    Box::new(move || {
        let image =
            KernelImage { instructions: &instructions, slots: &slots, registers: REGISTERS };
        let image = CheckedImage::new(image).expect("the kernel above is well formed");
        let counters = count_path(&config, image, &mut awaited, path.iter().copied())
            .expect("the path stays inside the kernel, and every instruction is marked");
        black_box(counters).warp_instructions()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_work_counts_what_it_says() {
        for work in WORK {
            let mut run = (work.prepare)();
            let instructions = u64::from(LENGTH) * ITERATIONS as u64;
            assert_eq!(run(), instructions, "{}", work.name);
            assert_eq!(run(), instructions, "{} again", work.name);
        }
    }

    #[test]
    fn the_loop_is_as_described() {
        let (instructions, _) = kernel();
        let sources: u32 = instructions.iter().map(|one| u32::from(one.sources)).sum();
        let results: u32 = instructions.iter().map(|one| u32::from(one.destinations)).sum();
        assert!((85..=105).contains(&sources), "{sources} operands");
        assert!((52..=62).contains(&results), "{results} results");
    }
}
