//! Cycle mode: an SM in time, cycle by cycle.
//!
//! Models: in-order warps with a scoreboard for registers and predicates; one or two issue slots; a
//! scheduler of one or two levels; a main register file of 4 banks with their ports, or of banks
//! behind operand collectors and an arbiter; the register file cache of count mode; units with
//! latency and throughput; barriers; CTAs that are launched in order as room becomes free.
//! Does not model: which accesses hit a cache (the trace says), DRAM timing, instruction fetch,
//! values.
//! Source: `[RFC2011]` 2 to 5, `[DISS]` 2 and 4; `docs/MODEL.md`, rules 7 to 24 and 28 to 31.
//!
//! The parts, one a file, as an instruction meets them: [`config`]; `facts`, what issuing needs to
//! know of each instruction; `policies` of scheduling; [`machine`](Sm), the run from event to
//! event, found by the timing `wheel`; `storage`, the warp slots that a CTA is granted; `schedule`,
//! the warp that issues; `issue`; `scoreboard`, when registers are there; `ports` of the main
//! register file; `units`; `memory`; `lifecycle` of warps and CTAs, the two levels of the scheduler
//! among it; `barrier`; [`counters`]; `observe`, for who wants to watch; `fault`, what a trace can
//! get wrong. Where operands come through collectors ([`operand_delivery`]): `collect`, from issue
//! to the end of a result's write; `requests` to the arbiter; `collectors`, the units; `arrivals`
//! of results. `memory`, `scoreboard`, `storage`, `units`, `schedule` and `wheel` have private
//! fields: all others ask them.
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
//! use strata_core::sm::{DeliveryMemory, Facts, Memory, MemorySize, ReadyAt, Sm, Warp, WarpTrace};
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
//!     facts: &mut vec![Facts::default(); size.facts],
//!     ready: &mut vec![ReadyAt::NOW; size.ready],
//!     awaited: &mut vec![LaneMask::EMPTY; size.awaited],
//!     caches: &mut vec![None; size.caches],
//!     delivery: DeliveryMemory::default(),
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
mod facts;
pub mod fault;
mod front_end;
mod grid;
mod kernel;
mod machine;
pub mod memory;
mod observe;
pub mod operand_delivery;
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
pub use front_end::Warp;
pub use grid::Grid;
pub use machine::{Memory, MemorySize, Sm};
pub use observe::{
    Issue, Observation, SmObserver, SmUnit, Unobserved, WarpPhase, WarpPhases, WriteCause,
};
pub use register_file::{Collectors, DeliveryMemory, DeliverySize, ResultOnItsWay};
pub use trace::{MemoryAccess, Trace, WarpTrace};
pub use wait::ReadyAt;
