//! Facts: what issuing an instruction needs to know, packed once for each instruction of a kernel.

use super::banks::{BankCounts, Banks};
use super::config::{SmConfig, Timing};
use super::expansion::bundles::Bundles;
use super::wait::Wait;
use crate::datapath::Datapath;
use crate::image::{CheckedImage, Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use crate::rules::RegisterSketch;
use crate::units::RegisterId;

/// Where an instruction goes, as far as time is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Class {
    /// The units that start a warp in every cycle: ALUs, control, constants.
    #[default]
    Free,
    /// A unit that takes several cycles to start a warp, as the next three.
    Double,
    SpecialFunction,
    Texture,
    /// Shared memory, which an access takes for some cycles.
    Shared,
    /// DRAM.
    Dram,
}

impl Class {
    pub(super) const COUNT: usize = 6;

    /// The unit that a warp takes for some time, if it takes one.
    #[inline]
    pub(super) const fn busy_unit(self) -> Option<BusyUnit> {
        match self {
            Self::Free | Self::Dram => None,
            Self::Double => Some(BusyUnit::Double),
            Self::SpecialFunction => Some(BusyUnit::SpecialFunction),
            Self::Texture => Some(BusyUnit::Texture),
            Self::Shared => Some(BusyUnit::SharedMemory),
        }
    }
}

/// Units that a warp takes for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BusyUnit {
    Double,
    SpecialFunction,
    Texture,
    SharedMemory,
}

impl BusyUnit {
    pub(super) const COUNT: usize = 4;
}

/// The packed facts of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Of the image's slots: the first read, the first written, the first of the next instruction.
    pub(super) slots: [u32; 3],
    pub(super) predicates: Predicates,
    /// Of the registers that are read and written.
    pub(super) sketch: RegisterSketch,
    /// Reads of each bank when the main register file serves all of them.
    pub(super) reads: BankCounts,
    pub(super) latency: u16,
    pub(super) flags: Flags,
    pub(super) class: Class,
    /// What a reader of the result waits for.
    pub(super) wait: Wait,
    pub(super) datapath: Datapath,
    /// A bundle begins here: a warp issues PREF before.
    pub(super) begins_bundle: bool,
    /// An execution moves bytes that the trace tells.
    pub(super) moves_bytes: bool,
    /// Goes through a collector unit, if there are any: all but branches, barriers and exits
    /// without a register and a result.
    pub(super) collected: bool,
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
        begins_bundle: false,
        moves_bytes: false,
        collected: false,
    };

    fn new(
        image: &CheckedImage<'_>,
        instruction: &StaticInstruction,
        timing: &Timing,
        banks: Banks,
    ) -> Self {
        let reads = BankCounts::reads(banks, image.sources(instruction));
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
            begins_bundle: false,
            moves_bytes: instruction.moves_bytes(),
            collected: instruction.unit != Unit::Control
                || instruction.sources != 0
                || instruction.destinations != 0
                || instruction.predicates.written != 0,
        }
    }

    /// True with a register or a predicate to write.
    #[inline]
    pub(super) const fn has_results(&self) -> bool {
        let [_, middle, end] = self.slots;
        middle != end || self.predicates.written != 0
    }

    /// True with a register to write.
    #[inline]
    pub(super) const fn has_registers(&self) -> bool {
        let [_, middle, end] = self.slots;
        middle != end
    }

    /// The registers that are read and written.
    #[inline]
    pub(super) fn registers<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
        let [first, _, end] = self.slots;
        &image.slots[first as usize..end as usize]
    }

    /// The registers that are read.
    #[inline]
    pub(super) fn sources<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
        let [first, middle, _] = self.slots;
        &image.slots[first as usize..middle as usize]
    }

    /// The registers that are written.
    #[inline]
    pub(super) fn destinations<'i>(&self, image: &CheckedImage<'i>) -> &'i [RegisterId] {
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
    match instruction.unit {
        Unit::Alu | Unit::Control => (Class::Free, timing.alu_latency, Wait::Arithmetic),
        Unit::DoublePrecision => (Class::Double, timing.double_latency, Wait::DoublePrecision),
        Unit::Sfu => {
            (Class::SpecialFunction, timing.special_function_latency, Wait::SpecialFunction)
        }
        Unit::Texture => (Class::Texture, timing.texture_latency, Wait::LongLatency),
        Unit::Memory => match instruction.space {
            Some(MemorySpace::Constant) => (Class::Free, timing.constant_latency, Wait::Cached),
            Some(MemorySpace::Shared) => (Class::Shared, timing.shared_latency, Wait::SharedMemory),
            Some(MemorySpace::Global | MemorySpace::Local) | None => {
                (Class::Dram, timing.dram_latency, Wait::LongLatency)
            }
        },
    }
}

/// Fills the table, which has an element for each instruction.
pub(super) fn pack(table: &mut [Facts], image: &CheckedImage<'_>, config: &SmConfig) {
    let timing = &config.settings().timing;
    let banks = Banks::new(config.fixed_banks());
    for (facts, instruction) in table.iter_mut().zip(image.instructions) {
        *facts = Facts::new(image, instruction, timing, banks);
    }
}

/// Marks the instructions that bundles begin with.
pub(super) fn mark(table: &mut [Facts], bundles: &Bundles<'_>) {
    for prefetch in bundles.all() {
        table[prefetch.pc as usize].begins_bundle = true;
    }
}

/// Predicate registers that need a place: the highest that the kernel names and all below it.
pub(super) fn predicates(image: &CheckedImage<'_>) -> usize {
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

/// The lowest `count` bits.
pub(super) const fn lowest(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
