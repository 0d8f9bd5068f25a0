//! Kernel image: the static facts of a kernel that the machine needs, one record per instruction.
//!
//! Models: operand slots as physical registers, last uses, unit and latency class, the places where
//! a warp may be descheduled.
//! Does not model: values, addresses, opcodes; those belong to the executor.

use bitflags::bitflags;

use crate::fault::PathFault;
use crate::named;
use crate::path::PathStep;
use crate::placement::{LRF_BANKS, MAX_ORF_ENTRIES, Placement, Upper};
use crate::units::RegisterId;

/// Most register slots that one instruction reads, and most that it writes.
pub const MAX_SLOTS: usize = 32;

named! {
    /// The execution unit an instruction goes to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Unit {
        /// The ALUs of the private datapath: integer, single precision, moves, predicates.
        Alu = "alu",
        /// Double precision: private datapath, half rate.
        DoublePrecision = "f64",
        /// Special function unit: shared datapath.
        Sfu = "sfu",
        /// Loads, stores and atomics: shared datapath.
        Memory = "mem",
        /// Texture and surface unit: shared datapath.
        Texture = "tex",
        /// Branches, barriers, exits: no datapath operands beyond predicates.
        Control = "ctl",
    }

    /// Where a memory instruction goes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum MemorySpace {
        /// Global memory, and generic addresses to any memory.
        Global = "g",
        /// Local memory: spills and per-thread arrays.
        Local = "l",
        /// Shared memory.
        Shared = "s",
        /// Constant memory and parameters.
        Constant = "c",
    }
}

impl Unit {
    /// True for units of the shared datapath, which operands reach over a longer wire.
    pub const fn is_shared_datapath(self) -> bool {
        matches!(self, Self::Sfu | Self::Memory | Self::Texture)
    }
}

bitflags! {
    /// Static facts of an instruction that are one bit each.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u16 {
        /// The results come from a long-latency operation.
        const LONG_LATENCY = 1 << 0;
        /// On some path this instruction reads a long-latency result that may still be pending: the
        /// warp is descheduled before it when one is (encoded as a mark on the instruction before).
        const DESCHEDULE_BEFORE = 1 << 1;
        /// A branch whose target does not come after it.
        const BACKWARD_BRANCH = 1 << 2;
        /// Any branch.
        const BRANCH = 1 << 3;
        /// Waits at a CTA barrier.
        const BARRIER = 1 << 4;
        /// Ends the executing threads.
        const EXIT = 1 << 5;
        /// Writes memory.
        const STORE = 1 << 6;
        /// Reads memory.
        const LOAD = 1 << 7;
        /// Arrives at a CTA barrier and does not wait.
        const ARRIVES = 1 << 8;
    }
}

/// Predicate registers, which are not in the register file but make instructions wait too.
///
/// Bit `n` is predicate register `n`; a kernel with more than 32 folds them, which may only make an
/// instruction wait for a predicate that it does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Predicates {
    /// Read, by the guard or as an operand.
    pub read: u32,
    /// Written.
    pub written: u32,
}

impl Predicates {
    /// No predicate at all.
    pub const NONE: Self = Self { read: 0, written: 0 };

    /// The bit of a predicate register.
    pub const fn bit(register: u16) -> u32 {
        1 << (register % 32)
    }
}

/// The facts of one instruction. Its register slots are ranges of [`KernelImage::slots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticInstruction {
    /// First of the source slots; the destination slots follow the source slots.
    pub first_slot: u32,
    /// Source slots: one for each 32-bit register read, in operand order, repeats kept. Range:
    /// `0..=MAX_SLOTS`.
    pub sources: u8,
    /// Destination slots: one for each 32-bit register written. Range: `0..=MAX_SLOTS`.
    pub destinations: u8,
    /// Unit.
    pub unit: Unit,
    /// Memory space, for loads, stores and atomics.
    pub space: Option<MemorySpace>,
    /// One-bit facts.
    pub flags: Flags,
    /// Predicate registers read and written.
    pub predicates: Predicates,
    /// Bit `i`: source slot `i` is the last read of its value on every path (the encoding's
    /// liveness bit). Set on the last slot in order when an instruction reads a register twice.
    pub last_use: u32,
    /// Bit `i`: no path reads destination slot `i` at all.
    pub never_read: u32,
    /// Bit `i`: no path reads destination slot `i` before the warp's next possible deschedule
    /// (the hint of liveness-aware bypass and eviction).
    pub not_read_before_deschedule: u32,
    /// Bit `i`: after this read, no path reads source slot `i`'s value again before the warp's next
    /// possible deschedule (the hint of liveness-aware eviction for values already cached).
    pub last_use_before_deschedule: u32,
    /// Bit `i`: no path reads destination slot `i` by a unit of the shared datapath, so that the
    /// result may go to the last result file, which those units cannot reach.
    pub private_reads: u32,
}

/// A kernel as the machine sees it.
#[derive(Clone, Copy, Debug)]
pub struct KernelImage<'a> {
    /// One record per instruction; a program counter is an index.
    pub instructions: &'a [StaticInstruction],
    /// Register slots that the records' ranges point into.
    pub slots: &'a [RegisterId],
    /// Registers per thread. Unit: 32-bit registers.
    pub registers: u16,
}

impl StaticInstruction {
    /// An instruction without operands, with nothing set but its unit.
    pub const fn new(unit: Unit) -> Self {
        Self {
            first_slot: 0,
            sources: 0,
            destinations: 0,
            unit,
            space: None,
            flags: Flags::empty(),
            predicates: Predicates::NONE,
            last_use: 0,
            never_read: 0,
            not_read_before_deschedule: 0,
            last_use_before_deschedule: 0,
            private_reads: 0,
        }
    }

    /// True when an execution with an enabled lane moves bytes through shared memory or to DRAM, so
    /// that a trace has an access for it. Constants and parameters do not.
    pub const fn moves_bytes(&self) -> bool {
        matches!(self.unit, Unit::Memory) && !matches!(self.space, Some(MemorySpace::Constant))
    }
}

impl<'a> KernelImage<'a> {
    /// The registers an instruction reads, in operand order.
    pub fn sources(&self, instruction: &StaticInstruction) -> &'a [RegisterId] {
        let first = instruction.first_slot as usize;
        &self.slots[first..first + usize::from(instruction.sources)]
    }

    /// The registers an instruction writes.
    pub fn destinations(&self, instruction: &StaticInstruction) -> &'a [RegisterId] {
        let first = instruction.first_slot as usize + usize::from(instruction.sources);
        &self.slots[first..first + usize::from(instruction.destinations)]
    }
}

/// An image that breaks its own rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// An instruction has more than [`MAX_SLOTS`] sources or destinations.
    TooManySlots {
        /// The instruction.
        pc: u32,
    },
    /// There is not one placement for each register slot.
    PlacementCount {
        /// Register slots.
        slots: usize,
        /// Placements.
        placements: usize,
    },
    /// A slot's placement names no level, an entry that no hierarchy has, or a level that the
    /// instruction's results or unit cannot reach.
    BadPlacement {
        /// The instruction.
        pc: u32,
        /// The slot, sources first.
        slot: u8,
    },
    /// An instruction's slots lie outside the slot table.
    SlotsOutOfRange {
        /// The instruction.
        pc: u32,
    },
    /// A slot names a register that the kernel does not have.
    RegisterOutOfRange {
        /// The instruction.
        pc: u32,
        /// The register.
        register: RegisterId,
    },
}

impl core::fmt::Display for ImageError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooManySlots { pc } => {
                write!(formatter, "instruction {pc} has more than {MAX_SLOTS} register slots")
            }
            Self::SlotsOutOfRange { pc } => {
                write!(formatter, "the register slots of instruction {pc} are outside the table")
            }
            Self::PlacementCount { slots, placements } => {
                write!(formatter, "{placements} placements for {slots} register slots")
            }
            Self::BadPlacement { pc, slot } => {
                write!(formatter, "slot {slot} of instruction {pc} is placed where it cannot be")
            }
            Self::RegisterOutOfRange { pc, register } => {
                let register = register.0;
                write!(formatter, "instruction {pc} names register {register}, beyond the last")
            }
        }
    }
}

impl core::error::Error for ImageError {}

/// A kernel image whose slots and registers were checked to be in range, once for all its paths.
///
/// The same image serves every hierarchy; to one that the compiler manages it is fitted by
/// [`CheckedImage::with_placements`]. What it holds cannot be exchanged for something unchecked:
///
/// ```compile_fail
/// use strata_core::image::{CheckedImage, KernelImage};
///
/// let none = KernelImage { instructions: &[], slots: &[], registers: 0 };
/// let unchecked = CheckedImage { image: none, placements: &[] };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CheckedImage<'a> {
    image: KernelImage<'a>,
    /// One for each slot, or none at all.
    placements: &'a [Placement],
}

impl<'a> CheckedImage<'a> {
    /// Checks every instruction. Cost: linear in the image.
    pub fn new(image: KernelImage<'a>) -> Result<Self, ImageError> {
        for (pc, instruction) in (0_u32..).zip(image.instructions) {
            let (sources, destinations) =
                (usize::from(instruction.sources), usize::from(instruction.destinations));
            if sources > MAX_SLOTS || destinations > MAX_SLOTS {
                return Err(ImageError::TooManySlots { pc });
            }
            let first = instruction.first_slot as usize;
            let slots = first
                .checked_add(sources + destinations)
                .and_then(|end| image.slots.get(first..end))
                .ok_or(ImageError::SlotsOutOfRange { pc })?;
            for &register in slots {
                if register.0 >= image.registers {
                    return Err(ImageError::RegisterOutOfRange { pc, register });
                }
            }
        }
        Ok(Self { image, placements: &[] })
    }

    /// The image fitted to a compiler-managed hierarchy: one placement for each of its slots.
    pub fn with_placements(self, placements: &'a [Placement]) -> Result<Self, ImageError> {
        if placements.len() != self.slots.len() {
            let (slots, placements) = (self.slots.len(), placements.len());
            return Err(ImageError::PlacementCount { slots, placements });
        }
        for (pc, instruction) in (0_u32..).zip(self.instructions) {
            let all = &placements[instruction.first_slot as usize..];
            let slots = usize::from(instruction.sources) + usize::from(instruction.destinations);
            for (slot, placement) in all[..slots].iter().enumerate() {
                let result = slot >= usize::from(instruction.sources);
                if !can_be(instruction, result, *placement) {
                    return Err(ImageError::BadPlacement { pc, slot: slot as u8 });
                }
            }
        }
        Ok(Self { placements, ..self })
    }

    /// Whether the image was fitted to a compiler-managed hierarchy.
    pub const fn is_placed(&self) -> bool {
        !self.placements.is_empty() || self.image.slots.is_empty()
    }

    /// Placements of an instruction's slots, its sources before its results. The image is fitted to
    /// a hierarchy.
    #[inline]
    pub(crate) fn placements(&self, instruction: &StaticInstruction) -> &'a [Placement] {
        let slots = usize::from(instruction.sources) + usize::from(instruction.destinations);
        &self.placements[instruction.first_slot as usize..][..slots]
    }
}

/// Whether a slot can live where a placement says.
fn can_be(instruction: &StaticInstruction, result: bool, placement: Placement) -> bool {
    let long = result && instruction.flags.contains(Flags::LONG_LATENCY);
    match placement.upper {
        None => placement.main,
        Some(Upper::Orf(entry)) => entry < MAX_ORF_ENTRIES && !long,
        Some(Upper::Lrf(bank)) => {
            bank < LRF_BANKS && !long && !instruction.unit.is_shared_datapath()
        }
    }
}

impl<'a> core::ops::Deref for CheckedImage<'a> {
    type Target = KernelImage<'a>;

    fn deref(&self) -> &KernelImage<'a> {
        &self.image
    }
}

impl<'a> CheckedImage<'a> {
    /// The instructions of a run of a path.
    pub fn run(&self, step: PathStep) -> Result<&'a [StaticInstruction], PathFault> {
        let all = self.instructions;
        let first = step.pc as usize;
        first
            .checked_add(step.length as usize)
            .and_then(|end| all.get(first..end))
            .filter(|run| !run.is_empty())
            .ok_or(PathFault::PathOutOfRange { step, instructions: all.len() })
    }
}
