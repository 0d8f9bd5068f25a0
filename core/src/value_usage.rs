//! Value usage: how often values are read, how soon those read once are, and by which datapath.
//!
//! Models: the values of one warp's path. A value is one register written by one instruction, in
//! the lanes that took part; a write replaces the lanes it covers, and a value ends with its last
//! lane.
//! An operand slot that touches any of a value's lanes is one read of it.
//! Does not model: any machine.
//! Source: `[RFC2011]` 2.2, Figure 2; `[DISS]` 5.1, 6.2.2; `docs/MODEL.md`, rule 4.

use crate::fault::PathFault;
use crate::image::CheckedImage;
use crate::path::PathStep;
use crate::units::{LANES, LaneMask};

/// Values read at least this often share the last bin.
pub const MANY_READS: usize = 8;
/// Values that live at least this long share the last bin. Unit: instructions.
pub const LONG_LIFE: usize = 8;

/// Histograms over the values of a path. Unit of every bin: values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueUsage {
    /// Bin `n` counts values read `n` times; the last one those read `MANY_READS` times or more.
    pub reads: [u64; MANY_READS + 1],
    /// Bin `n` counts values read once, `n + 1` instructions after the one that wrote them; the
    /// last one those read `LONG_LIFE` or more after. Adjacent instructions are 1 apart.
    pub lifetime_of_read_once: [u64; LONG_LIFE],
    /// Values that some unit of the shared datapath reads, by the datapath that made them: private,
    /// shared.
    pub read_by_shared: [u64; 2],
}

impl ValueUsage {
    /// All values.
    pub fn values(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// Values read at least `times` times. Range of `times`: `0..=MANY_READS`; more counts as that.
    pub fn read_at_least(&self, times: usize) -> u64 {
        self.reads[times.min(MANY_READS)..].iter().sum()
    }

    /// Adds `times` repetitions of another path's histograms.
    pub fn add(&mut self, other: &Self, times: u64) -> Result<(), ValueOverflow> {
        let mut sums = *self;
        let own = sums.reads.iter_mut().chain(&mut sums.lifetime_of_read_once);
        let others = other.reads.iter().chain(&other.lifetime_of_read_once);
        let own = own.chain(&mut sums.read_by_shared);
        for (sum, bin) in own.zip(others.chain(&other.read_by_shared)) {
            let product = bin.checked_mul(times);
            *sum = product.and_then(|bin| sum.checked_add(bin)).ok_or(ValueOverflow)?;
        }
        *self = sums;
        Ok(())
    }

    fn end(&mut self, value: &Value) {
        self.reads[(value.reads as usize).min(MANY_READS)] += 1;
        if value.reads == 1 {
            let bin = (value.last_read - value.written).min(LONG_LIFE as u64) as usize - 1;
            self.lifetime_of_read_once[bin] += 1;
        }
        self.read_by_shared[usize::from(value.made_by_shared)] += u64::from(value.read_by_shared);
    }
}

/// A bin does not fit 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueOverflow;

impl core::fmt::Display for ValueOverflow {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("a count of values does not fit 64 bits")
    }
}

impl core::error::Error for ValueOverflow {}

/// A live value of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    /// Lanes in which it is still the register's value.
    lanes: LaneMask,
    /// Reads so far; stops at `u32::MAX`.
    reads: u32,
    /// Index on the path of the instruction that wrote it.
    written: u64,
    /// Index of the last that read it; meaningless before.
    last_read: u64,
    /// A unit of the shared datapath wrote it.
    made_by_shared: bool,
    /// A unit of the shared datapath has read it.
    read_by_shared: bool,
}

/// The live values of one register: working memory of [`value_usage`].
///
/// They have disjoint lanes, and each lies at the index of its lowest lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegisterValues {
    /// Bit `n`: a value lies at index `n`.
    live: u32,
    values: [Value; LANES as usize],
}

/// The facts that the slots of an executed instruction share.
#[derive(Clone, Copy)]
struct Access {
    /// Lanes that take part. Not empty.
    mask: LaneMask,
    /// Index on the path, from 1.
    index: u64,
    /// By a unit of the shared datapath.
    shared: bool,
}

/// Walks one warp's path.
///
/// `registers` is working memory of `image.registers` elements; its contents do not matter.
pub fn value_usage(
    image: CheckedImage<'_>,
    registers: &mut [RegisterValues],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<ValueUsage, PathFault> {
    let (needed, given) = (usize::from(image.registers), registers.len());
    let registers =
        registers.get_mut(..needed).ok_or(PathFault::ScratchTooShort { needed, given })?;
    for register in &mut *registers {
        register.live = 0;
    }
    let mut usage = ValueUsage::default();
    let mut index = 0;
    for step in path {
        for instruction in image.run(step)? {
            index += 1;
            if step.mask.is_empty() {
                continue;
            }
            let access =
                Access { mask: step.mask, index, shared: instruction.unit.is_shared_datapath() };
            for &source in image.sources(instruction) {
                registers[usize::from(source.0)].read(access);
            }
            for &destination in image.destinations(instruction) {
                registers[usize::from(destination.0)].write(access, &mut usage);
            }
        }
    }
    for register in registers {
        for at in bits(register.live) {
            usage.end(&register.values[at]);
        }
    }
    Ok(usage)
}

/// The indices of a mask's bits, ascending.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        lowest
    })
}

impl RegisterValues {
    fn read(&mut self, access: Access) {
        for at in bits(self.live) {
            let value = &mut self.values[at];
            if !value.lanes.and(access.mask).is_empty() {
                value.last_read = access.index;
                value.reads = value.reads.saturating_add(1);
                value.read_by_shared |= access.shared;
            }
        }
    }

    fn write(&mut self, access: Access, usage: &mut ValueUsage) {
        for at in bits(self.live) {
            let mut value = self.values[at];
            if value.lanes.and(access.mask).is_empty() {
                continue;
            }
            self.live &= !(1 << at);
            value.lanes = value.lanes.without(access.mask);
            if value.lanes.is_empty() {
                usage.end(&value);
            } else {
                // Free or its own: no other value has a lane of this one's.
                self.put(value);
            }
        }
        self.put(Value {
            lanes: access.mask,
            written: access.index,
            made_by_shared: access.shared,
            ..Value::default()
        });
    }

    fn put(&mut self, value: Value) {
        let lowest = value.lanes.0.trailing_zeros();
        self.live |= 1 << lowest;
        self.values[lowest as usize] = value;
    }
}
