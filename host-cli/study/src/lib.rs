//! Studies: [`study`] measures along one parameter, [`sweep`] over every combination of many;
//! [`exact`] computes what follows from tables alone, and [`claims`] puts reports beside what the
//! papers measured. [`active_set`] is the number of active warps, as a sweep names it.

#![forbid(unsafe_code)]

pub mod active_set;
pub mod claims;
pub mod exact;
pub mod study;
pub mod sweep;
