//! Message: requests of the host to the device of the prototype, and its replies, in postcard.
//!
//! The device answers each [`Request`] with one [`Reply`], in order. A [`Reply::Fault`] comes
//! without a request. Commands, settings and outcomes are the words of `strata_core::prototype`.
//!
//! ```text
//! 00                                  info
//! 01 settings batch                   configure: start over with these settings
//! 02 first lanes length bytes ..      feed: one batch of commands
//! 03 column                           counters
//! 04                                  self-test
//! 05 what ..                          bench
//! 06                                  reset
//! ```

use core::fmt;

use heapless::{String, Vec};
use serde::{Deserialize, Serialize};

use crate::link::Link;
use crate::packet::Version;

/// The longest frame of this protocol. Unit: bytes on the line.
pub const FRAME: usize = 545;
/// Messages that wait in each direction.
pub const WINDOW: usize = 4;
/// Most commands of a batch, which is what one [`Feed`] brings.
pub const BATCH: usize = 128;
/// Lanes of a register as the firmware moves them: one 128-bit cluster.
pub const LANES: usize = 4;
/// Most counters that a reply brings.
pub const MOST_COUNTERS: usize = 40;
/// The firmware that speaks these messages. Raise it with every change of them.
pub const FIRMWARE: Version = Version { major: 2, minor: 0, patch: 0 };
/// Most accesses that a bench runs.
pub const MOST_ACCESSES: u32 = 10_000_000;
/// Most bytes of a [`Name`].
pub const MOST_NAME: usize = 24;

/// An end of a line that carries these messages.
pub type PrototypeLink = Link<FRAME, WINDOW>;
/// A short name.
pub type Name = String<MOST_NAME>;
/// One line of text.
pub type Text = String<104>;
/// The values of a register's lanes.
pub type Data = [u32; LANES];

/// A request of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request<'a> {
    /// The identity of the device. Answer: [`Reply::Info`].
    Info,
    /// Empty both prototypes, clear their counters, and take these settings. Answer:
    /// [`Reply::Configured`].
    Configure {
        /// `strata_core::prototype::settings::Settings`, packed.
        settings: u32,
        /// Most commands of a batch that will come. Range: `1..=`[`BATCH`].
        batch: u16,
    },
    /// Run a batch. Answer: [`Reply::Fed`] or [`Reply::Diverged`].
    #[serde(borrow)]
    Feed(Feed<'a>),
    /// The counters since the last configure. Answer: [`Reply::Counters`].
    Counters(Column),
    /// Write and read patterns through every level. Answer: [`Reply::SelfTest`]. The device has to
    /// be configured after it.
    SelfTest,
    /// Measure the device. Answer: [`Reply::Bench`]. The device has to be configured after it.
    Bench(Bench),
    /// Reset to the state after the start. Answer: [`Reply::WasReset`].
    Reset,
}

/// One batch of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feed<'a> {
    /// The number of the first command since the last configure.
    pub first: u64,
    /// With lanes here, each command is the 2 low bytes of its word, and all are of these lanes;
    /// with 0 each is a whole word of 4 bytes.
    lanes: u16,
    /// The commands, each with its lowest byte first.
    bytes: &'a [u8],
}

/// A batch does not fit a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchTooLong;

impl<'a> Feed<'a> {
    /// A batch of packed commands, encoded into `to`.
    ///
    /// # Errors
    ///
    /// There are more than [`BATCH`].
    pub fn new(
        first: u64,
        words: &[u32],
        to: &'a mut [u8; 4 * BATCH],
    ) -> Result<Self, BatchTooLong> {
        if words.len() > BATCH {
            return Err(BatchTooLong);
        }
        let lanes = (words.first().copied().unwrap_or(0) >> 16) as u16;
        let all_the_same = words.iter().all(|word| word >> 16 == u32::from(lanes));
        let lanes = if all_the_same { lanes } else { 0 };
        let width = if lanes == 0 { 4 } else { 2 };
        for (place, word) in to.chunks_exact_mut(width).zip(words) {
            place.copy_from_slice(&word.to_le_bytes()[..width]);
        }
        Ok(Self { first, lanes, bytes: &to[..width * words.len()] })
    }

    /// How many commands it brings.
    pub const fn len(&self) -> usize {
        self.bytes.len() / self.width()
    }

    /// Whether it brings none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its bytes are whole commands, at most [`BATCH`].
    pub const fn is_whole(&self) -> bool {
        self.bytes.len().is_multiple_of(self.width()) && self.len() <= BATCH
    }

    /// The packed commands.
    pub fn words(&self) -> impl Iterator<Item = u32> + 'a {
        let lanes = u32::from(self.lanes) << 16;
        // One of the batches is empty.
        let (short, long) =
            if self.lanes == 0 { (&[][..], self.bytes) } else { (self.bytes, &[][..]) };
        let short = short.as_chunks::<2>().0.iter();
        let long = long.as_chunks::<4>().0.iter();
        let short = short.map(move |&[b0, b1]| u32::from_le_bytes([b0, b1, 0, 0]) | lanes);
        short.chain(long.map(|&bytes| u32::from_le_bytes(bytes)))
    }

    const fn width(&self) -> usize {
        if self.lanes == 0 { 4 } else { 2 }
    }
}

/// The side whose counters are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// The model's, run on the device.
    Model,
    /// The prototype's.
    Prototype,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bench {
    /// Accesses of a fixed stream on the model of the prototype.
    Model {
        /// `strata_core::prototype::settings::Settings`, packed.
        settings: u32,
        /// How many, rounded up to whole batches. Range: up to [`MOST_ACCESSES`].
        accesses: u32,
    },
    /// Accesses of a fixed stream on the prototype, with their data.
    Prototype {
        /// `strata_core::prototype::settings::Settings`, packed.
        settings: u32,
        /// How many, rounded up to whole batches. Range: up to [`MOST_ACCESSES`].
        accesses: u32,
    },
    /// Accesses of a fixed stream on both the model and the prototype, compared, as a feed runs
    /// them, without the line.
    Compared {
        /// `strata_core::prototype::settings::Settings`, packed.
        settings: u32,
        /// How many, rounded up to whole batches. Range: up to [`MOST_ACCESSES`].
        accesses: u32,
    },
    /// Warp instructions of the launch in the image, in count mode.
    Count {
        /// Place of the design in the firmware's list.
        design: u8,
    },
    /// Warp instructions of the launch in the image, in cycle mode.
    Cycle {
        /// Place of the design in the firmware's list.
        design: u8,
        /// CTAs of the launch to run. Range: from 1; a number beyond the launch means all.
        ctas: u16,
    },
}

/// What the device answers.
#[expect(clippy::large_enum_variant, reason = "there is no allocator to box the counters with")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// What the device is.
    Info(Info),
    /// Both prototypes are empty and have the settings.
    Configured,
    /// The request was not carried out, and nothing has changed.
    Refused(Refusal),
    /// The batch ran, and the prototype did what the model did.
    Fed {
        /// The number of the next command.
        next: u64,
        /// Clocks that the batch took, in the model as in the prototype.
        clocks: u32,
    },
    /// The counters.
    Counters(Counters),
    /// The first difference of prototype and model: no more batches are taken until the next
    /// configure.
    Diverged(Diverged),
    /// What the self-test found.
    SelfTest {
        /// Batches that ran without a difference.
        batches: u32,
        /// Commands in them.
        commands: u32,
        /// The first difference, and the packed settings under which it occurred.
        failed: Option<(u32, Diverged)>,
    },
    /// What was measured.
    Bench {
        /// Accesses or warp instructions.
        units: u64,
        /// Ticks that they took, of [`Info::ticks_hz`].
        ticks: u64,
    },
    /// The device is as after its start.
    WasReset,
    /// The device has started again after a fault, and this is why.
    Fault(Text),
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// The board.
    pub board: Name,
    /// Ticks of its clock in a second, in which benches are measured.
    pub ticks_hz: u32,
    /// The prototype behind the firmware.
    pub prototype: Parameters,
    /// The launch in the image, for benches in count and cycle mode.
    pub workload: Option<Name>,
    /// Designs that these can name.
    pub designs: u8,
}

/// What was built into a prototype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// Hardware or software.
    pub implementation: Implementation,
    /// The version of its register map.
    pub version: u32,
    /// Warps.
    pub warps: u8,
    /// Most entries of a warp's register file cache.
    pub cache_entries: u8,
    /// Most entries of the write pool.
    pub pool_entries: u8,
    /// Lanes of a register.
    pub lanes: u8,
    /// Most commands of a batch.
    pub batch: u16,
    /// Banks of the main register file.
    pub banks: u8,
    /// Registers of a bank.
    pub rows: u8,
}

/// The prototype that moves the registers' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Implementation {
    /// A second model, on the device's processor.
    Software,
    /// The RTL, behind a bus.
    Hardware,
}

impl fmt::Display for Implementation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Software => "software",
            Self::Hardware => "hardware",
        })
    }
}

/// Counters since the last configure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The side.
    pub column: Column,
    /// In the order of `strata_core::prototype`'s names.
    pub values: Vec<u64, MOST_COUNTERS>,
    /// The digest of all outcome words.
    pub digest: u64,
}

/// The first difference of prototype and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diverged {
    /// The number of the command, or of the first of the batch if the difference is not one
    /// command's.
    pub index: u64,
    /// The command, packed.
    pub command: u32,
    /// What was different.
    pub what: Difference,
}

/// What was different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// Outcome words.
    Outcome {
        /// The model's.
        model: u32,
        /// The prototype's.
        prototype: u32,
    },
    /// Values that were read.
    Data {
        /// What was written last.
        written: Data,
        /// What was read.
        read: Data,
    },
    /// The clocks of a batch.
    Clocks {
        /// The model's.
        model: u64,
        /// The prototype's.
        prototype: u64,
    },
    /// A counter.
    Counter {
        /// Its place.
        counter: u8,
        /// The model's.
        model: u64,
        /// The prototype's.
        prototype: u64,
    },
    /// The prototype did not end a batch, or does not work within its parameters.
    Broken(Broken),
}

/// How a prototype failed to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Broken {
    /// No prototype answers at its address.
    Absent {
        /// The word read from its identity register.
        id: u32,
    },
    /// A batch did not end in the time that any batch needs.
    Stuck {
        /// What it said of itself.
        status: u32,
    },
    /// It took no command, or gave no outcome, where one was due.
    Queue {
        /// What it said of itself.
        status: u32,
    },
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It is no request of this protocol.
    Malformed,
    /// The settings are invalid.
    Settings(Text),
    /// An empty batch, or one that is too long.
    Batch {
        /// The most that there may be.
        most: u16,
    },
    /// A configure has to come first.
    NotConfigured,
    /// After a divergence a configure has to come first.
    HasDiverged,
    /// Commands came out of order.
    Order {
        /// The number of the command that is due.
        next: u64,
    },
    /// A command names lanes or a register that do not exist, or no lanes; or it takes the place of
    /// an operand that the read before it announced.
    Command {
        /// Its number.
        index: u64,
        /// It, packed.
        command: u32,
    },
    /// There is no launch in the image, or it cannot be run.
    Workload(Text),
    /// There is no such design.
    Design {
        /// How many there are.
        designs: u8,
    },
    /// The prototype does not work.
    Broken(Broken),
    /// A bench of too many accesses.
    Accesses {
        /// The most that there may be.
        most: u32,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { id } => {
                write!(to, "no prototype answers at its address, which reads {id:#010x}")
            }
            Self::Stuck { status } => {
                write!(to, "the prototype did not end a batch (status {status:#010x})")
            }
            Self::Queue { status } => {
                write!(to, "the prototype's queues lost a command (status {status:#010x})")
            }
        }
    }
}

impl core::error::Error for Broken {}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(
                to,
                "the device does not understand the request: build both ends from the same version"
            ),
            Self::Settings(why) => write!(to, "the device cannot be set so: {why}"),
            Self::Batch { most } => write!(to, "a batch has 1 to {most} commands here"),
            Self::NotConfigured => write!(to, "the device is not configured: configure it first"),
            Self::HasDiverged => {
                write!(to, "the device runs nothing after a divergence: configure it first")
            }
            Self::Order { next } => write!(to, "command {next} is due, and another one came"),
            Self::Command { index, command } => write!(
                to,
                "command {index} ({command:#010x}) names lanes or a register that there are not"
            ),
            Self::Workload(why) => write!(to, "the device has no launch to run: {why}"),
            Self::Design { designs } => {
                write!(to, "the device has {designs} designs, and this is none of them")
            }
            Self::Broken(broken) => broken.fmt(to),
            Self::Accesses { most } => write!(to, "a bench runs at most {most} accesses"),
        }
    }
}

impl core::error::Error for Refusal {}

impl fmt::Display for Difference {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome { model, prototype } => {
                write!(to, "outcome {prototype:#010x}, in the model {model:#010x}")
            }
            Self::Data { written, read } => {
                write!(to, "read {read:08x?}, where {written:08x?} had been written")
            }
            Self::Clocks { model, prototype } => {
                write!(to, "a batch of {prototype} clocks, in the model of {model}")
            }
            Self::Counter { counter, model, prototype } => {
                write!(to, "counter {counter} is {prototype}, in the model {model}")
            }
            Self::Broken(broken) => broken.fmt(to),
        }
    }
}

impl fmt::Display for Diverged {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, command, what } = self;
        write!(to, "command {index} ({command:#010x}): {what}")
    }
}

#[cfg(test)]
#[path = "message/tests.rs"]
mod tests;
