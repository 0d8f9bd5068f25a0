//! What the checker finds wrong with a program.

use strata_core::placement::Placement;
use strata_core::units::RegisterId;

use crate::program::{Location, Program};

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
    /// A bundle names a register that is never in scratchpad memory, or that does not exist.
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

/// Violations so far.
pub(super) struct Report<'a> {
    program: &'a Program,
    violations: Vec<Violation>,
}

impl<'a> Report<'a> {
    /// None so far.
    pub(super) fn new(program: &'a Program) -> Self {
        Self { program, violations: Vec::new() }
    }

    /// Notes what is wrong at an instruction.
    pub(super) fn add(&mut self, pc: usize, problem: Problem) {
        let line = self.program.instructions.get(pc).map_or(0, |instruction| instruction.line);
        self.violations.push(Violation { pc, line, problem });
    }

    /// Everything that was found.
    pub(super) fn done(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}
