//! The list of all work.

use crate::work::Work;
use crate::{compiling, counting, cycles, execution, expansion, fitting, reading, warp_wide};

/// All of it.
pub const WORK: &[&[Work]] = &[
    counting::WORK,
    execution::WORK,
    execution::DISTINCT_PATHS,
    warp_wide::WORK,
    cycles::WORK,
    cycles::WAITING,
    expansion::WORK,
    reading::WORK,
    fitting::WORK,
    compiling::WORK,
];

/// The piece of work of a name, one that is only timed because it is long included.
pub fn find(name: &str) -> Option<Work> {
    let mut all = WORK.iter().copied().chain([fitting::LONG, compiling::LONG]).flatten();
    all.find(|work| work.name == name).copied()
}
