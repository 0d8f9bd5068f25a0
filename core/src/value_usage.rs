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
use crate::units::{LANES, LaneMask, RegisterId};

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

/// A live value: working memory of [`value_usage`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
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
/// `values` is working memory of `32 * image.registers` elements; its contents do not matter. The
/// values of a register have disjoint lanes, and each lies at the index of its lowest lane.
pub fn value_usage(
    image: CheckedImage<'_>,
    values: &mut [Value],
    path: impl IntoIterator<Item = PathStep>,
) -> Result<ValueUsage, PathFault> {
    let (needed, given) = (usize::from(image.registers) * LANES as usize, values.len());
    let values = values.get_mut(..needed).ok_or(PathFault::ScratchTooShort { needed, given })?;
    values.fill(Value::default());
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
                read(of_register(values, source), access);
            }
            for &destination in image.destinations(instruction) {
                write(of_register(values, destination), access, &mut usage);
            }
        }
    }
    for value in values.iter().filter(|value| !value.lanes.is_empty()) {
        usage.end(value);
    }
    Ok(usage)
}

fn of_register(values: &mut [Value], register: RegisterId) -> &mut [Value] {
    let first = usize::from(register.0) * LANES as usize;
    &mut values[first..first + LANES as usize]
}

/// The values of a register that have lanes in the mask: at most one for each lane.
fn touched(values: &[Value], mask: LaneMask) -> impl Iterator<Item = usize> + use<> {
    let mut found = 0_u32;
    if !values[0].lanes.and(mask).is_empty() {
        found = 1;
    }
    if values[0].lanes != LaneMask::FULL {
        for (lane, value) in values.iter().enumerate().skip(1) {
            found |= u32::from(!value.lanes.and(mask).is_empty()) << lane;
        }
    }
    (0..LANES as usize).filter(move |lane| found >> lane & 1 != 0)
}

fn read(values: &mut [Value], access: Access) {
    for lane in touched(values, access.mask) {
        let value = &mut values[lane];
        value.last_read = access.index;
        value.reads = value.reads.saturating_add(1);
        value.read_by_shared |= access.shared;
    }
}

fn write(values: &mut [Value], access: Access, usage: &mut ValueUsage) {
    let mask = access.mask;
    for lane in touched(values, mask) {
        let mut value = core::mem::take(&mut values[lane]);
        value.lanes = value.lanes.without(mask);
        if value.lanes.is_empty() {
            usage.end(&value);
        } else {
            // Free or its own: no other value has a lane of this one's.
            values[value.lanes.0.trailing_zeros() as usize] = value;
        }
    }
    let lowest = mask.0.trailing_zeros() as usize;
    values[lowest] = Value {
        lanes: mask,
        written: access.index,
        made_by_shared: access.shared,
        ..Value::default()
    };
}
