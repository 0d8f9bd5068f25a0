//! The arbiter, its banks and its write pool: exact cases, and random traffic against an obvious
//! reference and against properties of every arbiter.

mod exact;
mod pool;
#[expect(dead_code, reason = "nothing here looks at sets of lanes")]
#[path = "../random/mod.rs"]
mod random;
mod reference;
mod shadow;
mod stream;
mod streams;
