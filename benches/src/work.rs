//! A piece of work, which a bench times and a gate counts the instructions of.

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
