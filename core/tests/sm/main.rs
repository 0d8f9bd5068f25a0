//! Cycle mode: exact instants, and random kernels against count mode.

mod barriers;
mod cached_memory;
mod collectors;
mod exact;
mod late_memory;
mod leaving;
mod machine;
mod memory_observed;
mod model;
mod observe;
#[expect(dead_code, reason = "nothing here looks at single lanes")]
#[path = "../random/mod.rs"]
mod random;
mod stalled;
mod unified_banks;
