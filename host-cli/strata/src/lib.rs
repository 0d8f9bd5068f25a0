//! Strata as a library: kernels of PTX text, launched over arrays of a Rust program, under designs.

#![forbid(unsafe_code)]

pub mod call;
