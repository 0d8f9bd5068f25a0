//! Cycle mode: made-up traces through an SM, and what it costs to wait.

use std::hint::black_box;

use strata_core::image::{CheckedImage, Flags, KernelImage, MemorySpace, StaticInstruction, Unit};
use strata_core::path::PathStep;
use strata_core::sm::config::{SmConfig, SmSettings, Timing};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{
    Cta, DeliveryMemory, Facts, Memory, MemoryAccess, MemorySize, ReadyAt, Sm, Warp, WarpTrace,
};
use strata_core::units::{LaneMask, RegisterId};
use strata_measure::timing::{LaunchCache, TimedLaunch, time_launch, time_launch_over};
use strata_trace::{Keep, TracedLaunch};

use crate::counting::rfc6;
use crate::synthetic::{CTAS, Kernel};
use crate::work::{Prepared, Work};

use Kernel::{MultiplyAdds, Stream};

/// Traces short enough to be run under valgrind.
pub const WORK: &[Work] = &[
    Work { name: "cycle_fma_flat", prepare: || short(MultiplyAdds, FLAT) },
    Work { name: "cycle_fma_rfc6", prepare: || short(MultiplyAdds, cached()) },
    Work { name: "cycle_fma_flat_2_slots", prepare: || short(MultiplyAdds, two_slots(FLAT)) },
    Work { name: "cycle_fma_collectors", prepare: || short(MultiplyAdds, COLLECTORS) },
    Work { name: "cycle_fma_warrf", prepare: || short(MultiplyAdds, warrf()) },
    Work { name: "cycle_stream_flat", prepare: || short(Stream, FLAT) },
    Work { name: "cycle_stream_rfc6", prepare: || short(Stream, cached()) },
    Work { name: "cycle_fma_data_cache", prepare: || short_over_cache(MultiplyAdds) },
    Work { name: "cycle_stream_data_cache", prepare: || short_over_cache(Stream) },
];

/// The traces that Accel-Sim ran, whole: 2.9 and 0.7 million warp instructions. Only timed.
pub const WHOLE: &[Work] = &[
    Work { name: "fma_flat", prepare: || whole(MultiplyAdds, FLAT) },
    Work { name: "fma_flat_2_slots", prepare: || whole(MultiplyAdds, two_slots(FLAT)) },
    Work { name: "fma_rfc6", prepare: || whole(MultiplyAdds, cached()) },
    Work { name: "fma_rfc6_2_slots", prepare: || whole(MultiplyAdds, two_slots(cached())) },
    Work { name: "fma_collectors", prepare: || whole(MultiplyAdds, COLLECTORS) },
    Work { name: "fma_warrf", prepare: || whole(MultiplyAdds, warrf()) },
    Work { name: "stream_flat", prepare: || whole(Stream, FLAT) },
    Work { name: "stream_flat_2_slots", prepare: || whole(Stream, two_slots(FLAT)) },
    Work { name: "stream_rfc6", prepare: || whole(Stream, cached()) },
    Work { name: "stream_collectors", prepare: || whole(Stream, COLLECTORS) },
    Work { name: "stream_warrf", prepare: || whole(Stream, warrf()) },
    Work { name: "stream_rfc6_2_slots", prepare: || whole(Stream, two_slots(cached())) },
];

/// One warp alone on the SM whose every instruction waits for the one before: a load that takes 8,
/// 400 and 4000 cycles. Time in which nothing happens costs nothing, so all three cost the same.
pub const WAITING: &[Work] = &[
    Work { name: "wait_8_cycles", prepare: || dependent_loads(8) },
    Work { name: "wait_400_cycles", prepare: || dependent_loads(400) },
    Work { name: "wait_4000_cycles", prepare: || dependent_loads(4000) },
];

const FLAT: SmSettings = SmSettings::ISCA11;

/// A data cache of 64 KB, and nothing shared with the registers.
const DATA_CACHE: CachedSettings = CachedSettings::of(64 * 1024);

/// Operand collectors over SRAM.
const COLLECTORS: SmSettings = SmSettings::WARRF_GTX480;

/// The same over STT-RAM with split bank writes and a write pool.
fn warrf() -> SmSettings {
    let collectors = CollectorSettings {
        write_cycles: 3,
        split_bank_write: true,
        write_pool_entries: 60,
        ..CollectorSettings::WARRF_SRAM
    };
    SmSettings { operand_delivery: OperandDelivery::Collectors(collectors), ..COLLECTORS }
}

fn cached() -> SmSettings {
    SmSettings { organisation: rfc6(), ..FLAT }
}

const fn two_slots(settings: SmSettings) -> SmSettings {
    SmSettings { issue_slots: 2, ..settings }
}

fn short(kernel: Kernel, settings: SmSettings) -> Prepared {
    prepare(kernel, settings, 6, 40)
}

fn whole(kernel: Kernel, settings: SmSettings) -> Prepared {
    prepare(kernel, settings, CTAS, kernel.iterations())
}

/// The flat SM over an empty data cache.
fn short_over_cache(kernel: Kernel) -> Prepared {
    prepare_over(Some(LaunchCache::new(DATA_CACHE)), kernel, FLAT, 6, 40)
}

fn prepare(kernel: Kernel, settings: SmSettings, ctas: u64, iterations: u64) -> Prepared {
    prepare_over(None, kernel, settings, ctas, iterations)
}

fn prepare_over(
    cache: Option<LaunchCache>,
    kernel: Kernel,
    settings: SmSettings,
    ctas: u64,
    iterations: u64,
) -> Prepared {
    let text = kernel.text(ctas, iterations).into_bytes();
    let keep = Keep { accesses: true, lines: cache.is_some(), ..Keep::default() };
    let launch = TracedLaunch::parse(text, "made-up", &keep).expect("a well-formed trace");
    Box::new(move || {
        let accesses = launch.accesses.as_ref().expect("they were asked for");
        let timed = TimedLaunch {
            image: (&launch.code.image).into(),
            paths: &launch.paths,
            accesses,
            barriers: None,
            resident_registers: launch.code.image.registers,
            threads: launch.header.block.iter().product(),
            shared_bytes: launch.header.shared_bytes,
        };
        let timed = match cache.clone() {
            None => time_launch(settings, &timed),
            Some(mut cache) => time_launch_over(Some(&mut cache), settings, &timed),
        };
        let timed = timed.expect("the launch fits the SM");
        black_box(timed.counters).accesses.warp_instructions()
    })
}

fn dependent_loads(latency: u16) -> Prepared {
    const LOADS: usize = 64;
    const ROUNDS: usize = 100;
    let load = StaticInstruction {
        sources: 1,
        destinations: 1,
        space: Some(MemorySpace::Global),
        flags: Flags::LOAD | Flags::LONG_LATENCY,
        ..StaticInstruction::new(Unit::Memory)
    };
    let instructions = [load; LOADS];
    let path = [PathStep { pc: 0, length: LOADS as u32, mask: LaneMask::FULL }; ROUNDS];
    let accesses = vec![MemoryAccess::uncached(32); LOADS * ROUNDS];
    let timing = Timing { dram_latency: latency, ..Timing::ISCA11 };
    let config = SmConfig::new(SmSettings { timing, ..FLAT }).expect("settings in their range");
    Box::new(move || {
        let slots = [RegisterId(0); 2];
        let image = KernelImage { instructions: &instructions, slots: &slots, registers: 1 };
        let image = CheckedImage::new(image).expect("the kernel above is well formed");
        let size = MemorySize::of(&config, &image);
        let memory = Memory::<_, 8> {
            warps: &mut vec![Warp::default(); size.warps],
            ctas: &mut vec![Cta::VACANT; size.ctas],
            facts: &mut vec![Facts::default(); size.facts],
            ready: &mut vec![ReadyAt::NOW; size.ready],
            awaited: &mut vec![LaneMask::EMPTY; size.awaited],
            caches: &mut vec![None; size.caches],
            delivery: DeliveryMemory::default(),
            attached: None,
        };
        let warp =
            WarpTrace { lanes: LaneMask::FULL, path: &path, accesses: &accesses, barriers: &[] };
        let sm = Sm::new(&config, image, 1, 0, memory).expect("a CTA of one warp fits");
        let counters = sm.run([[warp]]).expect("the trace fits the kernel");
        assert!(counters.cycles() >= u64::from(latency) * (LOADS * ROUNDS) as u64);
        counters.accesses.warp_instructions()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_work_runs_what_it_says() {
        for work in WORK {
            let kernel = if work.name.contains("fma") { MultiplyAdds } else { Stream };
            let mut run = (work.prepare)();
            assert_eq!(run(), kernel.warp_instructions(6, 40), "{}", work.name);
            assert_eq!(run(), kernel.warp_instructions(6, 40), "{} again", work.name);
        }
        for work in WAITING {
            assert_eq!((work.prepare)()(), 6400, "{}", work.name);
        }
    }
}
