//! Facts: what issuing an instruction needs to know, packed once for each instruction of a kernel.

use super::config::{ShortWaits, SmConfig, Timing};
use super::ports::BankCounts;
use crate::event::Datapath;
use crate::image::{CheckedImage, Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use crate::rules::RegisterSketch;
use crate::units::RegisterId;

/// Where an instruction goes, as far as time is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Class {
    /// The units that start a warp in every cycle: ALUs, control, constants.
    #[default]
    Free,
    /// A unit that takes several cycles to start a warp.
    Unit(BusyUnit),
    /// DRAM.
    Dram,
}

/// Units that take several cycles to start a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusyUnit {
    Double,
    SpecialFunction,
    Texture,
    SharedMemory,
}

impl BusyUnit {
    pub(crate) const COUNT: usize = 4;
}

/// What a warp waits for, from the most ordinary to the most exceptional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// The next cycle.
    #[default]
    InOrder,
    Branch,
    Arithmetic,
    DoublePrecision,
    SpecialFunction,
    /// Constants, parameters, and what hits a cache.
    Cached,
    SharedMemory,
    LongLatency,
}

impl Wait {
    pub(crate) const ALL: [Self; 8] = [
        Self::InOrder,
        Self::Branch,
        Self::Arithmetic,
        Self::DoublePrecision,
        Self::SpecialFunction,
        Self::Cached,
        Self::SharedMemory,
        Self::LongLatency,
    ];
}

/// Kinds of waits, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits(u8);

impl Waits {
    pub(crate) const ALL: Self = Self(u8::MAX);

    pub(crate) const fn only(wait: Wait) -> Self {
        Self(1 << wait as u8)
    }

    pub(crate) fn short(waits: ShortWaits) -> Self {
        let kinds = [
            (ShortWaits::SPECIAL_FUNCTION, Wait::SpecialFunction),
            (ShortWaits::DOUBLE_PRECISION, Wait::DoublePrecision),
            (ShortWaits::SHARED_MEMORY, Wait::SharedMemory),
        ];
        let chosen = kinds.into_iter().filter(|&(flag, _)| waits.contains(flag));
        Self(chosen.fold(0, |all, (_, wait)| all | Self::only(wait).0))
    }

    #[inline]
    pub(crate) const fn contains(self, wait: Wait) -> bool {
        self.0 >> wait as u8 & 1 != 0
    }
}

/// When something is there, and what it is: the later of two is the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadyAt(u64);

impl ReadyAt {
    const SHIFT: u32 = 3;

    /// Everything is there from the beginning.
    pub const NOW: Self = Self(0);

    /// A cycle that is not known yet; later than all that are.
    const UNKNOWN: u64 = u64::MAX >> Self::SHIFT;

    /// A pending value: on its way, its arrival time not known yet.
    #[inline]
    pub(crate) const fn pending(wait: Wait) -> Self {
        Self::new(Self::UNKNOWN, wait)
    }

    #[inline]
    pub(crate) const fn is_pending(self) -> bool {
        self.cycle() == Self::UNKNOWN
    }

    #[inline]
    pub(crate) const fn new(cycle: u64, wait: Wait) -> Self {
        Self(cycle << Self::SHIFT | wait as u64)
    }

    #[inline]
    pub(crate) const fn cycle(self) -> u64 {
        self.0 >> Self::SHIFT
    }

    #[inline]
    pub(crate) const fn wait(self) -> Wait {
        Wait::ALL[(self.0 & 7) as usize]
    }
}

/// The packed facts of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Of the image's slots: the first read, the first written, the first of the next instruction.
    pub(crate) slots: [u32; 3],
    pub(crate) predicates: Predicates,
    /// Of the registers that are read and written.
    pub(crate) sketch: RegisterSketch,
    /// Reads of each bank when the main register file serves all of them.
    pub(crate) reads: BankCounts,
    pub(crate) latency: u16,
    pub(crate) flags: Flags,
    pub(crate) class: Class,
    /// What a reader of the result waits for.
    pub(crate) wait: Wait,
    pub(crate) datapath: Datapath,
    /// An execution moves bytes that the trace tells.
    pub(crate) moves_bytes: bool,
    /// Goes through a collector unit, if there are any: all but branches, barriers and exits
    /// without a register and a result.
    pub(crate) collected: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Facts {
    /// Facts of no instruction, also for memory that is laid out at compile time.
    pub const EMPTY: Self = Self {
        slots: [0; 3],
        predicates: Predicates::NONE,
        sketch: RegisterSketch::EMPTY,
        reads: BankCounts::EMPTY,
        latency: 0,
        flags: Flags::empty(),
        class: Class::Free,
        wait: Wait::InOrder,
        datapath: Datapath::Private,
        moves_bytes: false,
        collected: false,
    };

    fn new(image: &CheckedImage<'_>, instruction: &StaticInstruction, timing: &Timing) -> Self {
        let mut reads = BankCounts::default();
        for &register in image.sources(instruction) {
            reads.add(register);
        }
        let (class, latency, wait) = classify(instruction, timing);
        let slots = slots(instruction);
        let registers = &image.slots[slots[0] as usize..slots[2] as usize];
        Self {
            slots,
            sketch: RegisterSketch::of(registers),
            predicates: instruction.predicates,
            reads,
            latency,
            flags: instruction.flags,
            class,
            wait,
            datapath: Datapath::of(instruction.unit),
            moves_bytes: instruction.moves_bytes(),
            collected: instruction.unit != Unit::Control
                || instruction.sources != 0
                || instruction.destinations != 0
                || instruction.predicates.written != 0,
        }
    }

    /// True with a register or a predicate to write.
    #[inline]
    pub(crate) const fn has_results(&self) -> bool {
        let [_, middle, end] = self.slots;
        middle != end || self.predicates.written != 0
    }

    /// True with a register to write.
    #[inline]
    pub(crate) const fn has_registers(&self) -> bool {
        let [_, middle, end] = self.slots;
        middle != end
    }

    /// The registers that are read and written.
    #[inline]
    pub(crate) fn registers<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
        let [first, _, end] = self.slots;
        &image.slots[first as usize..end as usize]
    }

    /// The registers that are read.
    #[inline]
    pub(crate) fn sources<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
        let [first, middle, _] = self.slots;
        &image.slots[first as usize..middle as usize]
    }

    /// The registers that are written.
    #[inline]
    pub(crate) fn destinations<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
        let [_, middle, end] = self.slots;
        &image.slots[middle as usize..end as usize]
    }
}

fn slots(instruction: &StaticInstruction) -> [u32; 3] {
    let first = instruction.first_slot;
    let middle = first + u32::from(instruction.sources);
    [first, middle, middle + u32::from(instruction.destinations)]
}

fn classify(instruction: &StaticInstruction, timing: &Timing) -> (Class, u16, Wait) {
    let unit = |unit, latency, wait| (Class::Unit(unit), latency, wait);
    match instruction.unit {
        Unit::Alu | Unit::Control => (Class::Free, timing.alu_latency, Wait::Arithmetic),
        Unit::DoublePrecision => {
            unit(BusyUnit::Double, timing.double_latency, Wait::DoublePrecision)
        }
        Unit::Sfu => {
            unit(BusyUnit::SpecialFunction, timing.special_function_latency, Wait::SpecialFunction)
        }
        Unit::Texture => unit(BusyUnit::Texture, timing.texture_latency, Wait::LongLatency),
        Unit::Memory => match instruction.space {
            Some(MemorySpace::Constant) => (Class::Free, timing.constant_latency, Wait::Cached),
            Some(MemorySpace::Shared) => {
                unit(BusyUnit::SharedMemory, timing.shared_latency, Wait::SharedMemory)
            }
            Some(MemorySpace::Global | MemorySpace::Local) | None => {
                (Class::Dram, timing.dram_latency, Wait::LongLatency)
            }
        },
    }
}

/// Fills the table, which has an element for each instruction.
pub(crate) fn pack(table: &mut [Facts], image: &CheckedImage<'_>, config: &SmConfig) {
    let timing = &config.settings().timing;
    for (facts, instruction) in table.iter_mut().zip(image.instructions) {
        *facts = Facts::new(image, instruction, timing);
    }
}

/// Predicate registers that need a place: the highest that the kernel names and all below it.
pub(crate) fn predicates(image: &CheckedImage<'_>) -> usize {
    let named = image.instructions.iter().fold(0, |named, instruction| {
        named | instruction.predicates.read | instruction.predicates.written
    });
    (u32::BITS - named.leading_zeros()) as usize
}

/// The set bits of a mask, lowest first.
#[inline]
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}
