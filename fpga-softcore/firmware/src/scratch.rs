//! Scratch: the working memory of one SM, laid out at compile time for one workload.

use strata_core::footprint::DEVICE_CAPACITY;
use strata_core::sm::{Cta, DeliveryMemory, Facts, Memory, ReadyAt, UpperLevels, Warp};
use strata_core::units::LaneMask;

use crate::workload::Run;

/// Warps that an SM has room for: those of every design that the firmware runs.
pub const WARPS: usize = 32;
/// CTAs that an SM has room for: those of every design that the firmware runs.
pub const CTAS: usize = 8;
/// Entries that a warp's register file cache has room for.
pub const CAPACITY: usize = DEVICE_CAPACITY;

/// Working memory for any of the designs. Its contents do not matter.
///
/// `FACTS` is the instructions of the kernel, `AWAITED` the registers of all warps
/// (`WARPS * registers`), `READY` their registers and predicates
/// (`AWAITED + WARPS * Workload::predicates`). Too little of any is an error of the run.
#[derive(Debug)]
pub struct Scratch<'w, const FACTS: usize, const AWAITED: usize, const READY: usize> {
    warps: [Warp<Run<'w>>; WARPS],
    ctas: [Cta; CTAS],
    facts: [Facts; FACTS],
    ready: [ReadyAt; READY],
    awaited: [LaneMask; AWAITED],
    caches: [Option<UpperLevels<CAPACITY>>; WARPS],
}

impl<'w, const FACTS: usize, const AWAITED: usize, const READY: usize>
    Scratch<'w, FACTS, AWAITED, READY>
{
    /// Empty memory, for a static.
    pub const fn new() -> Self {
        Self {
            warps: [const { Warp::vacant() }; WARPS],
            ctas: [Cta::VACANT; CTAS],
            facts: [Facts::EMPTY; FACTS],
            ready: [ReadyAt::NOW; READY],
            awaited: [LaneMask::EMPTY; AWAITED],
            caches: [const { None }; WARPS],
        }
    }

    /// The pending lanes of one warp's registers, for count mode.
    pub(crate) fn awaited(&mut self) -> &mut [LaneMask] {
        &mut self.awaited
    }

    /// All of it, for cycle mode.
    pub(crate) fn memory(&mut self) -> Memory<'_, Run<'w>, CAPACITY> {
        Memory {
            warps: &mut self.warps,
            ctas: &mut self.ctas,
            facts: &mut self.facts,
            ready: &mut self.ready,
            awaited: &mut self.awaited,
            caches: &mut self.caches,
            delivery: DeliveryMemory::default(),
            attached: None,
        }
    }
}

impl<const FACTS: usize, const AWAITED: usize, const READY: usize> Default
    for Scratch<'_, FACTS, AWAITED, READY>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Puts the launch that `STRATA_WORKLOAD` names, a file of `strata trace embed`, into the program:
/// `WORKLOAD`, and the type `LaunchScratch` of the memory that it runs in.
#[macro_export]
macro_rules! embed_launch {
    () => {
        static WORKLOAD: $crate::Workload<'static> = include!(env!(
            "STRATA_WORKLOAD",
            "name a file of `strata trace embed`; `cargo xtask` does it all"
        ));

        const _: () = assert!(WORKLOAD.name.len() <= $crate::MOST_NAME, "its name is too long");

        /// Working memory for the launch in the image.
        type LaunchScratch = $crate::Scratch<
            'static,
            { WORKLOAD.image.instructions.len() },
            { $crate::WARPS * WORKLOAD.image.registers as usize },
            { $crate::WARPS * (WORKLOAD.image.registers as usize + WORKLOAD.predicates()) },
        >;
    };
}
