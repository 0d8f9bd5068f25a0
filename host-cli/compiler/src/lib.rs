//! PTX functions to allocated, annotated programs and kernel images.
//!
//! The passes, in order, one file each:
//!
//! 1. [`inline`](mod@inline): the kernel and the functions it calls become one body
//!    ([`kernel::Kernel`]); `frame` places the variables.
//! 2. `cfg`: basic blocks, post-dominators, reconvergence points; `divergence`: where lanes wait
//!    while others execute.
//! 3. `reductions`: atomics whose result is never read. On request `schedule` then reorders the
//!    instructions of each block. `values`: virtual registers to webs; `intervals`: where each web
//!    is live under SIMT order.
//! 4. `allocate`: webs to physical registers; `spill` first, where they are to fit into a number
//!    of them, with the help of `loops`.
//! 5. `classify`, `marks`, `nearness`, `reach`, `image`: the facts that the machine needs.
//! 6. [`hierarchy`]: operands and results to the levels of a compiler-managed hierarchy, for each
//!    design. [`bundles`]: registers in another order, and what a bundle of instructions fetches of
//!    those that may lie in scratchpad memory.
//!
//! [`compile`] is all of this but the last; `flow` says which instructions may follow one,
//! `operands` what it reads and writes, `limits` what a kernel may need. [`listing`] prints a
//! program, [`statistics`] sums it up, and [`explain`](mod@explain) finds out for a single
//! instruction why the passes decided as they did.
//!
//! [`checker`] proves a result without knowing any of the passes after the first.
#![forbid(unsafe_code)]

mod allocate;
mod bits;
pub mod bundles;
mod cfg;
pub mod checker;
mod classify;
mod compile;
mod divergence;
pub mod explain;
mod flow;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod hierarchy;
mod image;
pub mod inline;
mod intervals;
pub mod kernel;
mod limits;
pub mod listing;
mod loops;
mod marks;
mod nearness;
mod operands;
pub mod order;
pub mod program;
mod reach;
mod reductions;
mod schedule;
mod spill;
pub mod statistics;
mod values;

pub use compile::{CompileOptions, allocate, compile, schedule};
pub use frame::RESERVED_SHARED_BYTES;
pub use limits::RegisterLimit;
pub use schedule::{Order, Reordered};
