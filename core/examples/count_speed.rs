//! How many warp instructions a second count mode walks, by hand: `cargo run --release --example
//! count_speed -p strata-core`. A loop of 64 instructions with one global load, 1.5 sources and 0.9
//! results on average, which is about what compiled kernels have.

use std::time::Instant;

use strata_core::count::{CountConfig, CountSettings, Scheduling, count_path};
use strata_core::image::{CheckedImage, Flags, KernelImage, Predicates, StaticInstruction, Unit};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::units::{LaneMask, RegisterId};

const LENGTH: u32 = 64;
const ITERATIONS: usize = 100_000;

fn kernel() -> (Vec<StaticInstruction>, Vec<RegisterId>) {
    let mut state = 12345_u32;
    let mut random = |limit: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % limit
    };
    let mut slots = Vec::new();
    let mut instructions = Vec::new();
    let mut recent = [0_u16; 4];
    for pc in 0..LENGTH {
        let first_slot = slots.len() as u32;
        let sources = [1, 1, 2, 2, 2, 1, 1, 2, 3, 0][random(10) as usize];
        for _ in 0..sources {
            let register =
                if random(10) < 6 { recent[random(4) as usize] } else { random(24) as u16 };
            slots.push(RegisterId(register));
        }
        let destinations = u8::from(random(10) < 9);
        if destinations == 1 {
            let register = random(24) as u16;
            recent[pc as usize % 4] = register;
            slots.push(RegisterId(register));
        }
        instructions.push(StaticInstruction {
            first_slot,
            sources,
            destinations,
            unit: if pc == 5 { Unit::Memory } else { Unit::Alu },
            space: None,
            flags: Flags::DESCHEDULE_BEFORE
                | if pc == 5 { Flags::LONG_LATENCY } else { Flags::empty() },
            predicates: Predicates::NONE,
            last_use: u32::from(random(10) < 6),
            never_read: 0,
            not_read_before_deschedule: 0,
            last_use_before_deschedule: 0,
            private_reads: 0,
        });
    }
    (instructions, slots)
}

fn main() {
    let (instructions, slots) = kernel();
    let image = KernelImage { instructions: &instructions, slots: &slots, registers: 24 };
    let image = CheckedImage::new(image).expect("the image above is well formed");
    let mut pending = [LaneMask::EMPTY; 24];
    let step = PathStep { pc: 0, length: LENGTH, mask: LaneMask::FULL };
    for (entries, replacement) in [
        (0, Replacement::Fifo),
        (1, Replacement::Fifo),
        (6, Replacement::Fifo),
        (6, Replacement::Lru),
        (13, Replacement::Fifo),
    ] {
        let cache = (entries > 0).then_some(RegisterFileCacheConfig {
            entries,
            replacement,
            allocation: Allocation::Writes,
            liveness: true,
            liveness_aware_bypass: false,
            liveness_aware_eviction: false,
        });
        let scheduling = Scheduling::TwoLevel { active_warps: 8 };
        let settings = CountSettings {
            cache,
            scheduling,
            flush_at_backward_branches: false,
            last_result_file: false,
            compiler_managed: false,
        };
        let config = CountConfig::new(settings).expect("the settings above are valid");
        let start = Instant::now();
        let path = std::iter::repeat_n(step, ITERATIONS);
        let counters = count_path(&config, image, &mut pending, path).expect("a valid path");
        let seconds = start.elapsed().as_secs_f64();
        let rate = counters.warp_instructions() as f64 / seconds / 1e6;
        println!("{entries:2} entries {replacement:?}: {rate:.0} M warp instructions/s");
    }
}
