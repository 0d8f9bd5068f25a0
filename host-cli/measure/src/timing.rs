//! Timing: the paths that warps took, and what they moved, run through an SM cycle by cycle.

mod error;
mod launch;
mod launch_cache;
mod run;

pub use error::TimingError;
pub use launch::{Timed, TimedLaunch};
pub use launch_cache::LaunchCache;
pub use run::{
    hear_launch_over, observe_launch, observe_launch_over, time_launch, time_launch_over,
};
