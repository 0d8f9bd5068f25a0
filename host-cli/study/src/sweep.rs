//! Sweeps: every combination of inputs and designs, each a point, into files that any number of
//! processes fill.
//!
//! [`definition`] is what is asked for, with its [`axes`]; [`points`] lists what that means, each
//! point with its [`key`]: a digest of all that its result depends on. [`engine`] evaluates the
//! points that [`store`], the sweep's folder, does not have, as [`begun`] finds out; their [`row`]s
//! go into [`parquet`] files. [`table`] shows them, and [`pareto`] the best of them. [`dask`] has
//! the points evaluated on a cluster, a [`batch`] at a time.

pub mod axes;
pub mod baseline;
pub mod batch;
pub mod begun;
pub mod dask;
pub mod definition;
pub mod engine;
pub mod key;
pub mod pareto;
pub mod parquet;
pub mod points;
pub mod row;
pub mod store;
pub mod table;

/// Version of the files of a sweep: of their columns, and of what keys are made of. Raised when a
/// column or a key changes its meaning.
pub const SCHEMA: &str = "strata.sweep/1";
