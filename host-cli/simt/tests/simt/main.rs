//! Tests of the executor as a whole, and of its arithmetic.

mod addresses;
mod arith_convert;
mod arith_float;
mod arith_integer;
mod arith_special;
mod arith_support;
mod common;
mod control;
mod dialects;
mod faults;
mod features;
mod forms;
mod instructions;
mod kept;
mod kernels;
mod language;
mod launches;
mod leaving;
mod levels;
mod matrix;
mod mbarrier;
mod memory;
mod random;
mod textures;
mod turns;
mod wmma;
