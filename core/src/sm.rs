//! Cycle mode: an SM in time, cycle by cycle.
//!
//! Models: in-order warps with a scoreboard for registers and predicates; one or two issue slots; a
//! scheduler of one or two levels; a main register file of banks with their ports, or of banks
//! behind operand collectors and an arbiter; the upper levels of count mode; units with latency and
//! throughput; barriers; CTAs that are launched in order as room becomes free.
//! Does not model: instruction fetch, values. Which accesses hit a cache the trace says, or a
//! memory that knows addresses (`memory::cached`), which alone may have rows and channels of DRAM.
//! Source: `[RFC2011]` 2 to 5, `[DISS]` 2 and 4; `docs/MODEL.md`, rules 7 to 24 and 28 to 31.
//!
//! An SM is six parts and a loop over cycles (`machine`). Each part is a file, or a file and its
//! folder, with private fields; it is given what it needs of the others and never the SM:
//!
//! - `front_end`: the resident warps, which of them are active, the warp that issues, barriers;
//! - `scoreboard`: when each register and predicate is there, or that it is pending; what is still
//!   under way of each warp;
//! - `register_file`: the upper levels of the warps, and how operands come from the main register
//!   file: with a fixed latency (`ports`, `fixed`) or through collectors (`collect`, `collectors`,
//!   `requests`, `arrivals`);
//! - [`memory`]: the answer to each access: a cycle, later, or not now. A caller may attach its own
//!   ([`Memory::attached`]);
//! - `storage`: what the warps of a CTA are granted, and what is free when they end;
//! - `observe`: the observer ([`SmObserver`]), an argument of the run, and of a memory that is
//!   attached.
//!
//! Beside them: [`config`], with `timing`, `residency`, `policies` and [`operand_delivery`]; the
//! `kernel` with its `facts`; `execution`, which starts an instruction in one of the `units` or in
//! the memory; `active_limit`, how many warps may be active in a cycle; the `run` so far, with its
//! [`counters`]; `fault`, what a trace can get wrong. Memories, storages and active limits stand in
//! one table each: `docs/ARCHITECTURE.md`, "Add a component". [`partition`] divides an SM's storage
//! between registers, shared memory and cache, for the host to make an SM of.
//! [`expansion`] says which registers lie in scratchpad memory, and brings them to the operand
//! cache.
//!
//! In a cycle the parts have their turn in this order: events of warps, launch, activation,
//! register file with collectors, issue, memory. Accesses of registers to the banks come before
//! those of the memory.
//!
//! The host hands in what each warp executed ([`Trace`]) and working memory ([`Memory`]); the SM
//! pulls runs of instructions as its warps get there, so a trace need not be in memory at once. A
//! run's access counters are the sum of count mode's over the warps, and every issue slot of every
//! cycle has one reason ([`counters::StallReason`]).
//!
//! ```
//! use strata_core::image::{CheckedImage, KernelImage, StaticInstruction, Unit};
//! use strata_core::path::PathStep;
//! use strata_core::sm::config::{SmConfig, SmSettings};
//! use strata_core::sm::{Cta, DeliveryMemory, Facts, Memory, MemorySize, ReadyAt, Sm};
//! use strata_core::sm::{Warp, WarpTrace};
//! use strata_core::units::{LaneMask, RegisterId};
//!
//! // r1 = f(r0); r2 = f(r1)
//! let first = StaticInstruction {
//!     sources: 1,
//!     destinations: 1,
//!     ..StaticInstruction::new(Unit::Alu)
//! };
//! let instructions = [first, StaticInstruction { first_slot: 2, ..first }];
//! let slots = [0, 1, 1, 2].map(RegisterId);
//! let image = KernelImage { instructions: &instructions, slots: &slots, registers: 3 };
//! let image = CheckedImage::new(image)?;
//! let config = SmConfig::new(SmSettings::ISCA11)?;
//!
//! let size = MemorySize::of(&config, &image);
//! let memory = Memory::<_, 8> {
//!     warps: &mut vec![Warp::default(); size.warps],
//!     ctas: &mut vec![Cta::VACANT; size.ctas],
//!     facts: &mut vec![Facts::default(); size.facts],
//!     ready: &mut vec![ReadyAt::NOW; size.ready],
//!     awaited: &mut vec![LaneMask::EMPTY; size.awaited],
//!     caches: &mut vec![None; size.caches],
//!     delivery: DeliveryMemory::default(),
//!     attached: None,
//! };
//! let path = [PathStep { pc: 0, length: 2, mask: LaneMask::FULL }];
//! let warp: WarpTrace =
//!     WarpTrace { lanes: LaneMask::FULL, path: &path, accesses: &[], barriers: &[] };
//! // One CTA of one warp.
//! let counters = Sm::new(&config, image, 1, 0, memory)?.run([[warp]])?;
//! assert_eq!(counters.cycles(), 8 + 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod active_limit;
mod banks;
mod barrier;
pub mod config;
pub mod counters;
mod execution;
pub mod expansion;
mod facts;
pub mod fault;
mod front_end;
mod grid;
mod kernel;
mod machine;
pub mod memory;
mod observe;
pub mod operand_delivery;
pub mod partition;
mod policies;
mod register_file;
mod residency;
mod run;
mod scoreboard;
mod storage;
mod timing;
mod trace;
mod units;
mod wait;

pub use crate::hierarchy::UpperLevels;
pub use barrier::{BARRIERS, BarrierCall};
pub use facts::Facts;
pub use front_end::{Cta, Warp};
pub use grid::Grid;
pub use machine::{Memory, MemorySize, Sm};
pub use observe::{
    CommonObserver, ExpansionObservation, Issue, MemoryObservation, Observation, RowObservation,
    SmObserver, SmUnit, Unobserved, WarpPhase, WarpPhases, WriteCause,
};
pub use register_file::{Collectors, DeliveryMemory, DeliverySize, ResultOnItsWay};
pub use trace::{MemoryAccess, Trace, WarpTrace};
pub use wait::ReadyAt;
