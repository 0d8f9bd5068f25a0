//! Cycle mode: exact instants, and random kernels against count mode.

mod barriers;
mod cached_memory;
mod collectors;
mod exact;
mod expansion;
mod expansion_values;
mod gddr_reference;
mod late_memory;
mod leaving;
mod machine;
mod memory_observed;
mod model;
mod mshrs;
mod observe;
#[expect(dead_code, reason = "nothing here looks at single lanes")]
#[path = "../random/mod.rs"]
mod random;
mod schedulers;
mod second_level;
mod stalled;
mod unified_banks;
