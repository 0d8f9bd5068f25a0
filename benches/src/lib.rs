//! The work that the criterion benches time and that the gates count instructions of: one list for
//! both, so that a time and an instruction count speak of the same thing.
#![forbid(unsafe_code)]

pub mod compiling;
pub mod counting;
pub mod cycles;
pub mod execution;
pub mod expansion;
pub mod fitting;
pub mod gate;
pub mod reading;
pub mod synthetic;
pub mod warp_wide;

/// A piece of work, prepared: every call does it once and returns the warp instructions simulated.
pub type Prepared = Box<dyn FnMut() -> u64>;

/// A piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Name in reports and in `gates.toml`.
    pub name: &'static str,
    /// Builds what the work needs and that is not to be measured.
    pub prepare: fn() -> Prepared,
}

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
