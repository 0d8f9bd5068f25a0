//! Links: exact exchanges, and any messages over a line that disturbs them.

mod exact;
mod line;
mod noise;
mod slow;
mod stray;

use strata_link::{Link, Settings, Version};

/// The version of both ends, unless a test says otherwise.
const FIRMWARE: Version = Version { major: 0, minor: 1, patch: 0 };

/// An end with the usual settings.
fn end<const FRAME: usize, const WINDOW: usize>(session: u32) -> Link<FRAME, WINDOW> {
    Link::new(Settings::new(FIRMWARE, session), 0)
}
