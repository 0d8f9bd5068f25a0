//! The prototype behind the bus: turns the application's commands into bus accesses.

use strata_board_support::Device;
use strata_core::prototype::queues::Status;
use strata_core::prototype::regmap::{ID, VERSION, field, register};
use strata_core::prototype::settings::Settings;
use strata_firmware::Prototype;
use strata_link::message::{Broken, Data, Implementation, Parameters};

const PROTOTYPE: Device = Device::at(0xf001_0000);

/// Reads of [`register::STATUS`] before a batch counts as stuck. The longest batch takes less than
/// 30,000 clocks: 128 flushes of 13 entries, each of which waits 15 for its bank. A read takes at
/// least 8.
const LOOKS: u32 = 10_000;

/// The hardware.
pub struct Hardware {
    /// Commands of the batch, until it is run.
    queued: u32,
}

impl Hardware {
    /// The hardware, idle.
    pub const fn new() -> Self {
        Self { queued: 0 }
    }
}

#[inline(always)]
fn read(register: u32) -> u32 {
    PROTOTYPE.read(register as usize)
}

#[inline(always)]
fn write(register: u32, word: u32) {
    PROTOTYPE.write(register as usize, word);
}

/// The status of the queues; an error if they do not work or lost a command.
fn status() -> Result<Status, Broken> {
    let word = read(register::STATUS);
    match Status::unpack(word) {
        Some(status) if !status.lost => Ok(status),
        _ => Err(Broken::Queue { status: word }),
    }
}

/// Queues in an unexpected state.
const fn queue(status: Status) -> Broken {
    Broken::Queue { status: status.pack() }
}

impl Prototype for Hardware {
    fn parameters(&mut self) -> Result<Parameters, Broken> {
        let id = read(register::ID);
        let version = read(register::VERSION);
        if id != ID || version != VERSION {
            return Err(Broken::Absent { id });
        }
        let [first, second] = [read(register::PARAMETERS0), read(register::PARAMETERS1)];
        Ok(Parameters {
            implementation: Implementation::Hardware,
            version,
            warps: field::PARAMETERS0_WARPS.get(first) as u8,
            cache_entries: field::PARAMETERS0_CACHE_ENTRIES.get(first) as u8,
            pool_entries: field::PARAMETERS0_POOL_ENTRIES.get(first) as u8,
            lanes: field::PARAMETERS0_LANES.get(first) as u8,
            batch: field::PARAMETERS1_BATCH.get(second) as u16,
            banks: field::PARAMETERS1_BANKS.get(second) as u8,
            rows: field::PARAMETERS1_ROWS.get(second) as u8,
        })
    }

    fn configure(&mut self, settings: Settings) -> Result<(), Broken> {
        self.queued = 0;
        let Some(word) = settings.pack() else {
            return Err(Broken::Queue { status: read(register::STATUS) });
        };
        write(register::SETTINGS, word);
        write(register::CONTROL, field::CONTROL_RESET.mask());
        let status = status()?;
        // The hardware cuts values to its fields: a difference means that it has no room.
        let is_empty = status == Status::default();
        if is_empty && read(register::SETTINGS) == word { Ok(()) } else { Err(queue(status)) }
    }

    #[inline]
    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken> {
        if let Some(value) = value {
            for (lane, &word) in (0..).zip(value) {
                write(register::DATA + 4 * lane, word);
            }
        }
        write(register::COMMAND, command);
        self.queued += 1;
        Ok(())
    }

    fn run(&mut self) -> Result<u32, Broken> {
        let queued = core::mem::take(&mut self.queued);
        let waiting = status()?;
        if u32::from(waiting.commands) != queued {
            return Err(queue(waiting));
        }
        write(register::CONTROL, field::CONTROL_RUN.mask());
        for _ in 0..LOOKS {
            let status = status()?;
            if !status.running {
                let all = u32::from(status.outcomes) == queued;
                return if all { Ok(read(register::CLOCKS)) } else { Err(queue(status)) };
            }
        }
        Err(Broken::Stuck { status: read(register::STATUS) })
    }

    #[inline]
    fn outcome(&mut self, value: Option<&mut Data>) -> Result<u32, Broken> {
        if let Some(value) = value {
            for (lane, word) in (0..).zip(value) {
                *word = read(register::READ_DATA + 4 * lane);
            }
        }
        // `run` has seen that there is one for each command.
        Ok(read(register::OUTCOME))
    }

    fn counter(&mut self, place: usize) -> u64 {
        let address = register::COUNTERS + 8 * place as u32;
        // No counter changes between two batches.
        u64::from(read(address + 4)) << 32 | u64::from(read(address))
    }
}
