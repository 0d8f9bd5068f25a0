//! A launch in the image, for the benches in count and cycle mode.

use strata_firmware::{HotLoops, Launch};

strata_firmware::embed_launch!();

static mut SCRATCH: LaunchScratch = LaunchScratch::new();

/// The launch, once.
#[expect(unsafe_code, reason = "the memory that the launch runs in is lent out once")]
pub fn launch() -> impl HotLoops {
    let scratch = &raw mut SCRATCH;
    // SAFETY: the program calls this once, and nothing else names the static.
    Launch { workload: &WORKLOAD, scratch: unsafe { &mut *scratch } }
}
