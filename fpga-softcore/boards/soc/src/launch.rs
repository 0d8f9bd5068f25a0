//! A launch in the image, for the benches in count and cycle mode.

use strata_board_support::Lent;
use strata_firmware::{HotLoops, Launch};

strata_firmware::embed_launch!();

static SCRATCH: Lent<LaunchScratch> = Lent::new(LaunchScratch::new());

/// The launch, once.
pub fn launch() -> impl HotLoops {
    Launch { workload: &WORKLOAD, scratch: SCRATCH.lend() }
}
