//! Self-test: every register written and read through every level, and a mix of all commands, under
//! settings that together use every part.

use strata_core::prototype::cache_block::CacheSettings;
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::settings::{REGISTERS, Settings};
use strata_core::register_file_cache::Replacement;
use strata_core::units::{LaneMask, RegisterId};
use strata_link::message::{BATCH, Diverged, LANES, Parameters, Refusal};

use crate::bench::Unmeasured;
use crate::comparison::{Comparison, Stop, WARPS};
use crate::prototype::Prototype;
use crate::stream::Stream;

/// Commands of the mix under each settings.
const MIXED: usize = 4 * BATCH;
/// Registers of a warp, so that there are no others.
const PER_WARP: u8 = (REGISTERS / WARPS as u16) as u8;

/// What was run, and the failure, with the packed settings under which it occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tested {
    pub(crate) batches: u32,
    pub(crate) commands: u32,
    pub(crate) failed: Option<(u32, Diverged)>,
}

/// Runs it, and stops at the first thing that is wrong. `between` is called after each batch, and
/// says whether to go on.
pub(crate) fn run(
    comparison: &mut Comparison,
    prototype: &mut impl Prototype,
    mut between: impl FnMut() -> bool,
) -> Result<Tested, Unmeasured> {
    let mut tested = Tested::default();
    let parameters = prototype.parameters().map_err(Refusal::Broken)?;
    let batch = usize::from(parameters.batch.min(BATCH as u16));
    for (seed, settings) in settings(&parameters).into_iter().enumerate() {
        // The values are within the fields' ranges.
        let word = settings.pack().unwrap_or(0);
        comparison.configure(prototype, word, batch as u16)?;
        let mix = Stream::new(seed as u32 + 1, PER_WARP, true).take(MIXED);
        let mut commands = all(Operation::Write, 0)
            .chain(all(Operation::Write, 1))
            .chain(all(READ, 0))
            .chain(all(Operation::Bypass, 2))
            .chain(all(READ, 0))
            .chain(mix);
        loop {
            let first = comparison.next();
            match comparison.run(prototype, first, commands.by_ref().take(batch), |_| {}) {
                Ok(_) => {
                    tested.batches += 1;
                    tested.commands += (comparison.next() - first) as u32;
                }
                // No commands are left.
                Err(Stop::Refused(Refusal::Batch { .. })) => break,
                Err(Stop::Refused(refusal)) => return Err(refusal.into()),
                Err(Stop::Diverged(diverged)) => {
                    tested.failed = Some((word, diverged));
                    return Ok(tested);
                }
            }
            if !between() {
                return Err(Unmeasured::Ended);
            }
        }
    }
    Ok(tested)
}

const READ: Operation = Operation::Read { last_use: false, more: false };

/// A command for every register, of all lanes; or, from 1 on, of lanes that change from register to
/// register.
fn all(operation: Operation, part: u32) -> impl Iterator<Item = u32> {
    const ALL: u32 = (1 << LANES) - 1;
    (0..u32::from(REGISTERS)).filter_map(move |number| {
        // Neighbours are in different banks and warps.
        let warp = (number % WARPS as u32) as u8;
        let register = RegisterId((number / WARPS as u32) as u16);
        let lanes = LaneMask(if part == 0 { ALL } else { 1 + (number * part) % ALL });
        Command { warp, operation, register, lanes }.pack()
    })
}

/// Without and with each level, at its smallest and largest, as far as there is room.
fn settings(parameters: &Parameters) -> [Settings; 6] {
    let Parameters { cache_entries, pool_entries, .. } = *parameters;
    let cache = |entries: u8, replacement, liveness| {
        let entries = entries.min(cache_entries);
        (entries > 0).then_some(CacheSettings { entries, replacement, liveness })
    };
    let with = |cache, pool: u8, write_cycles, split_bank_write| Settings {
        cache,
        write_pool_entries: pool.min(pool_entries),
        split_bank_write,
        write_cycles,
        registers_per_warp: PER_WARP,
    };
    [
        with(None, 0, 1, false),
        with(cache(6, Replacement::Fifo, true), 0, 1, false),
        with(cache(u8::MAX, Replacement::Lru, false), 0, 4, true),
        with(None, 1, 15, false),
        with(None, u8::MAX, 3, true),
        with(cache(1, Replacement::Fifo, false), 16, 2, true),
    ]
}
