//! A launch in the image, for the benches in count and cycle mode.

use strata_firmware::{HotLoops, Launch, Scratch, WARPS, Workload};

static WORKLOAD: Workload<'static> = include!(env!("STRATA_WORKLOAD"));

const INSTRUCTIONS: usize = WORKLOAD.image.instructions.len();
const REGISTERS: usize = WARPS * WORKLOAD.image.registers as usize;
const READY: usize = REGISTERS + WARPS * WORKLOAD.predicates();

static mut SCRATCH: Scratch<'static, INSTRUCTIONS, REGISTERS, READY> = Scratch::new();

/// The launch, once.
#[expect(unsafe_code, reason = "the memory that the launch runs in is lent out once")]
pub fn launch() -> impl HotLoops {
    let scratch = &raw mut SCRATCH;
    // SAFETY: the program calls this once, and nothing else names the static.
    Launch { workload: &WORKLOAD, scratch: unsafe { &mut *scratch } }
}
