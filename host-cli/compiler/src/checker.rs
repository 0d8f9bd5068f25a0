//! Checker: proves that an allocated program computes what its kernel computes.
//!
//! Knows the kernel (calls inlined, virtual registers) and the program and image made of it;
//! nothing of how they were made: no pass behind inlining is used, and graph, post-dominance,
//! liveness and pending results are computed here again, in the plainest way.
//!
//! Proves, for every path and for every order in which a warp may execute the sides of its
//! divergent branches (every guarded or indexed branch counts as divergent):
//! - the program's instructions are the kernel's, register names and unread results of atomics
//!   apart, and stores, fills and repeated definitions between them that leave every value as it
//!   is: a slot holds the value that is read from it on every path, whatever lanes took part;
//! - places exist, are aligned, and the image's slots are the places of the operands;
//! - reconvergence points are the immediate post-dominators;
//! - every read finds the value that its definition wrote, and no value lies where another one
//!   lies that some lane, waiting ones included, still reads;
//! - last-use, never-read and before-deschedule bits are sound;
//! - what the bits let into the last result file is never read by a shared unit;
//! - every instruction that may read a pending long-latency result is marked.
//!
//! [`check_order`] proves that a kernel in another order computes what it did. [`LevelsChecker`]
//! proves, of a program fitted to a compiler-managed hierarchy, that every operand is at the level
//! that its slot names; [`check_bundles`], of a program divided into bundles, that every operand
//! that may lie in scratchpad memory has a line of the operand cache with its value.
//!
//! Does not say whether a bit or mark that is missing could have been set, nor whether a mark that
//! is set is needed.

mod bundles;
mod facts;
mod graph;
mod held;
mod hints;
mod levels;
mod order;
mod pending;
mod reach;
mod reductions;
mod spills;

use std::borrow::Cow;

use strata_core::placement::Placement;
use strata_core::units::RegisterId;
use strata_ptx::module::{Instruction, VirtualRegister};

use crate::kernel::Kernel;
use crate::operands::{definitions, uses};
use crate::program::{Location, Program};
use graph::Graph;

pub use bundles::check_bundles;
pub use levels::{LevelsChecker, check_levels};
pub use order::check_order;

/// One way in which a program is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instruction {pc} (line {line}): {problem}")]
pub struct Violation {
    /// Index of the instruction.
    pub pc: usize,
    /// Line of the PTX file.
    pub line: u32,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Instructions, targets, tables or variables are not those of the kernel.
    #[error("{0} differs from the kernel's")]
    Different(&'static str),
    /// A store or fill acts on some of the lanes only.
    #[error("spills `{register}` under a guard")]
    GuardedSpill {
        /// Name of the virtual register.
        register: String,
    },
    /// A slot does not hold the value on some path: it was not stored, or not since it changed, or
    /// the slot was used for another one.
    #[error("fills `{register}` from slot {offset}, which does not hold its value on some path")]
    StaleSlot {
        /// Name of the virtual register.
        register: String,
        /// Place among the slots. Unit: bytes.
        offset: u64,
    },
    /// A definition is repeated where its result is not the register's value.
    #[error("makes `{register}` again as instruction {definition} does, which did not make it")]
    OtherValue {
        /// Name of the virtual register.
        register: String,
        /// The definition's number in the kernel.
        definition: u32,
    },
    /// A value is read whose definition was left out.
    #[error("reads `{register}`, whose definition was left out and not made again")]
    LeftOut {
        /// Name of the virtual register.
        register: String,
    },
    /// A register has no place, or one of the wrong size or alignment, or outside the file.
    #[error("`{register}` is badly placed: {place:?}")]
    BadPlace {
        /// Name of the register.
        register: String,
        /// Its place.
        place: Location,
    },
    /// A record's slots are not the places of its operands.
    #[error("{which} slots are {found:?}, the operands lie in {expected:?}")]
    Slots {
        /// Sources or destinations.
        which: &'static str,
        /// The slots of the image.
        found: Vec<RegisterId>,
        /// The slots that follow from the operands.
        expected: Vec<RegisterId>,
    },
    /// A static fact is wrong.
    #[error("{0} is wrong")]
    Fact(&'static str),
    /// A divergent branch reconverges elsewhere.
    #[error("reconverges at {found:?}, its immediate post-dominator is {expected:?}")]
    Reconvergence {
        /// The reconvergence point of the program.
        found: Option<u32>,
        /// The right one; `None` is the exit.
        expected: Option<u32>,
    },
    /// A read does not find the value.
    #[error("reads `{register}` from {place:?}, where its value is not on some path")]
    LostValue {
        /// Name of the virtual register.
        register: String,
        /// Where it looks.
        place: Location,
    },
    /// A result lies where waiting lanes keep a value.
    #[error("writes `{register}` over `{kept}`, which lanes waiting at {waiting_at} still read")]
    OverwritesWaiting {
        /// Name of the virtual register written.
        register: String,
        /// Name of the virtual register whose value waits.
        kept: String,
        /// Instruction that the lanes wait to execute.
        waiting_at: usize,
    },
    /// A hint claims too much.
    #[error("{hint} is set for slot {slot}, but `{register}` is read again {place}")]
    Unsound {
        /// Which hint.
        hint: &'static str,
        /// Slot of the record.
        slot: u32,
        /// Name of the virtual register.
        register: String,
        /// Where.
        place: Again,
    },
    /// A result may go to where a reader does not reach it.
    #[error("private reads is set for slot {slot}, but a shared unit may read it as `{register}`")]
    OutOfReach {
        /// Slot of the record.
        slot: u32,
        /// Name of the virtual register that the shared unit reads.
        register: String,
    },
    /// A slot names a level where it cannot be.
    #[error("{what} slot {slot} cannot be at {placement:?}")]
    BadLevel {
        /// Source or destination.
        what: &'static str,
        /// The slot, counted from the first source or destination.
        slot: usize,
        /// What it names.
        placement: Placement,
    },
    /// A strand does not start where it must.
    #[error("a strand must start here")]
    NoStrandStart,
    /// A read does not find the value at the level that it names.
    #[error("reads {register:?} at {placement:?}, where its value is not on some path")]
    NotAtLevel {
        /// The register.
        register: RegisterId,
        /// What it names.
        placement: Placement,
    },
    /// A bundle does not start where it must.
    #[error("a bundle must start here")]
    NoBundleStart,
    /// Registers of a bundle need one line of the operand cache.
    #[error("{0:?} and {1:?} of the bundle have one line of the operand cache")]
    OneLine(RegisterId, RegisterId),
    /// A bundle has more registers than the operand cache has lines.
    #[error("the bundle has {0} registers, and the operand cache 16 lines")]
    TooManyLines(usize),
    /// A bundle names a register that is never in scratchpad memory, or that there is not.
    #[error("the bundle names {0:?}, which is never in scratchpad memory")]
    NoCandidate(RegisterId),
    /// An operand or result has no line.
    #[error("{0:?} is not in the bundle")]
    NotInBundle(RegisterId),
    /// A line is read, or written back, that lacks a value which some lane still needs.
    #[error("{0:?} is not fetched, but its value is needed by {1}")]
    NotFetched(RegisterId, &'static str),
    /// A result of a long-latency operation is awaited within its bundle.
    #[error("{0:?} may be pending since this bundle began")]
    PendingInBundle(RegisterId),
    /// It is in another block than before, or no longer at its end.
    #[error("was moved out of its basic block")]
    LeftItsBlock,
    /// Memory, lanes or clocks may see another order.
    #[error("comes behind a later instruction that also acts beyond its registers")]
    Overtaken,
    /// An operand may be other results than in the kernel before.
    #[error("reads other results than in the kernel's own order")]
    OtherOperands,
    /// A mark is missing.
    #[error("reads {register:?}, which may be pending, without a deschedule mark")]
    Unmarked {
        /// The register.
        register: RegisterId,
    },
}

/// Where a value is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// On the lane's own path.
    Ahead,
    /// By lanes that wait to execute this instruction.
    Waiting(usize),
    /// By a later operand of the same instruction.
    SameInstruction,
}

impl std::fmt::Display for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ahead => f.write_str("on some path"),
            Self::Waiting(pc) => write!(f, "by lanes waiting at {pc}"),
            Self::SameInstruction => f.write_str("by a later operand"),
        }
    }
}

/// Checks a program against its kernel.
///
/// # Errors
///
/// Every violation found, in program order within each kind. When the instructions are not the
/// kernel's, or the tables do not fit them, only that is reported.
pub fn check(kernel: &Kernel, program: &Program) -> Result<(), Vec<Violation>> {
    let mut report = Report { program, violations: Vec::new() };
    let reduced = reductions::apply(kernel, program);
    let kernel = &*reduced;
    let expanded = spills::expand(kernel, program, &mut report);
    report.done()?;
    let original = kernel;
    let kernel = &*expanded;
    let mut report = Report { program, violations: Vec::new() };
    facts::check_correspondence(kernel, program, &mut report);
    report.done()?;
    let mut report = Report { program, violations: Vec::new() };
    facts::check_places(program, &mut report);
    facts::check_records(kernel, program, &mut report);
    report.done()?;
    let mut report = Report { program, violations: Vec::new() };
    let graph = Graph::new(kernel, program);
    graph.check_reconvergence(kernel, program, &mut report);
    let waiting = graph.waiting();
    if matches!(expanded, Cow::Owned(_)) {
        spills::check(original, kernel, program, &graph, &mut report);
    }
    let values = held::Values::new(kernel, program, &graph);
    held::check(kernel, program, (&graph, &waiting), &values, &mut report);
    hints::check(kernel, program, (&graph, &waiting), &values, &mut report);
    reach::check(kernel, program, &graph, &mut report);
    pending::check(program, &graph, &waiting, &mut report);
    report.done()
}

/// Violations so far.
struct Report<'a> {
    program: &'a Program,
    violations: Vec<Violation>,
}

impl Report<'_> {
    fn add(&mut self, pc: usize, problem: Problem) {
        let line = self.program.instructions.get(pc).map_or(0, |instruction| instruction.line);
        self.violations.push(Violation { pc, line, problem });
    }

    fn done(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}

/// Registers that an instruction reads, guard included, in order.
fn reads(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    uses(instruction, |register| found.push(register));
    found
}

/// Registers that an instruction writes, in order.
fn writes(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    definitions(instruction, |register| found.push(register));
    found
}

/// Whether two places have a register in common.
fn places_meet(a: Location, b: Location) -> bool {
    match (a, b) {
        (Location::General { first: a, count: m }, Location::General { first: b, count: n }) => {
            u32::from(a) < u32::from(b) + u32::from(n) && u32::from(b) < u32::from(a) + u32::from(m)
        }
        (Location::Predicate(a), Location::Predicate(b)) => a == b,
        _ => false,
    }
}
