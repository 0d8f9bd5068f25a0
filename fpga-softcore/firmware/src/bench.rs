//! Bench: how many ticks the device takes for an access, and for a warp instruction.

use strata_core::prototype::command::Command;
use strata_link::message::{BATCH, LANES, MOST_ACCESSES, Refusal, Text};

use crate::comparison::{Batch, Comparison, Stop, is_read};
use crate::designs::DESIGNS;
use crate::prototype::Prototype;
use crate::stream::Stream;

/// The clock, and the work between two measurements.
pub(crate) trait Stopwatch {
    /// The time.
    fn ticks(&mut self) -> u64;
    /// Called outside the measured time. Returns whether to go on.
    fn between(&mut self) -> bool;
}

/// Why a bench has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmeasured {
    /// The request was refused.
    Refused(Refusal),
    /// The link ended during the bench.
    Ended,
}

impl From<Refusal> for Unmeasured {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Accesses or warp instructions, and the ticks that they took.
type Measured = Result<(u64, u64), Unmeasured>;

/// Where the accesses begin.
const SEED: u32 = 2_011;

/// Accesses of the model.
pub(crate) fn model(
    comparison: &mut Comparison,
    prototype: &mut impl Prototype,
    watch: &mut impl Stopwatch,
    settings: u32,
    accesses: u32,
) -> Measured {
    batches(comparison, prototype, watch, settings, accesses, |comparison, _, watch, words| {
        let length = comparison.take(0, words)?;
        let Comparison { model: Some(model), batch, .. } = comparison else {
            return Err(Refusal::NotConfigured);
        };
        let Batch { words, outcomes, .. } = batch;
        let start = watch.ticks();
        model.run_packed(&words[..length], &mut outcomes[..length]);
        Ok((length, watch.ticks().wrapping_sub(start)))
    })
}

/// Accesses of the prototype, with their values.
pub(crate) fn prototype(
    comparison: &mut Comparison,
    prototype: &mut impl Prototype,
    watch: &mut impl Stopwatch,
    settings: u32,
    accesses: u32,
) -> Measured {
    let value = [0x0123_4567; LANES];
    batches(
        comparison,
        prototype,
        watch,
        settings,
        accesses,
        |comparison, prototype, watch, words| {
            let length = comparison.take(0, words)?;
            let words = &comparison.batch.words[..length];
            let start = watch.ticks();
            for &word in words {
                let value = Command::unpack(word).operation.has_value().then_some(&value);
                prototype.queue(word, value).map_err(Refusal::Broken)?;
            }
            prototype.run().map_err(Refusal::Broken)?;
            for &word in words {
                let mut read = [0; LANES];
                let read = is_read(word).then_some(&mut read);
                core::hint::black_box(prototype.outcome(read).map_err(Refusal::Broken)?);
            }
            Ok((length, watch.ticks().wrapping_sub(start)))
        },
    )
}

/// Accesses of both, compared.
pub(crate) fn compared(
    comparison: &mut Comparison,
    prototype: &mut impl Prototype,
    watch: &mut impl Stopwatch,
    settings: u32,
    accesses: u32,
) -> Measured {
    batches(
        comparison,
        prototype,
        watch,
        settings,
        accesses,
        |comparison, prototype, watch, words| {
            let first = comparison.next();
            // Made before the measurement, as a feed's are.
            let mut made = [0; BATCH];
            let length = made.iter_mut().zip(words).map(|(place, word)| *place = word).count();
            let start = watch.ticks();
            let done = comparison.run(prototype, first, made[..length].iter().copied(), |_| {});
            let ticks = watch.ticks().wrapping_sub(start);
            match done {
                Ok(_) => Ok((length, ticks)),
                Err(Stop::Refused(refusal)) => Err(refusal),
                Err(Stop::Diverged(_)) => Err(Refusal::HasDiverged),
            }
        },
    )
}

/// Runs whole batches of the fixed stream up to a number of accesses, which is limited, for as long
/// as the link lasts.
fn batches<P: Prototype, W: Stopwatch>(
    comparison: &mut Comparison,
    prototype: &mut P,
    watch: &mut W,
    settings: u32,
    accesses: u32,
    mut run: impl FnMut(
        &mut Comparison,
        &mut P,
        &mut W,
        core::iter::Take<&mut Stream>,
    ) -> Result<(usize, u64), Refusal>,
) -> Measured {
    if accesses > MOST_ACCESSES {
        return Err(Refusal::Accesses { most: MOST_ACCESSES }.into());
    }
    let parameters = prototype.parameters().map_err(Refusal::Broken)?;
    let batch = parameters.batch.min(BATCH as u16);
    comparison.configure(prototype, settings, batch)?;
    let registers =
        comparison.model.as_ref().map_or(1, |model| model.settings().registers_per_warp);
    let mut stream = Stream::new(SEED, registers, false);
    let (mut units, mut ticks) = (0, 0_u64);
    while units < u64::from(accesses) {
        let (ran, took) =
            run(comparison, prototype, watch, stream.by_ref().take(usize::from(batch)))?;
        units += ran as u64;
        ticks = ticks.wrapping_add(took);
        if !watch.between() {
            return Err(Unmeasured::Ended);
        }
    }
    Ok((units, ticks))
}

/// Warp instructions of the launch in the image. Work in between is not measured.
pub(crate) fn launch<L>(
    watch: &mut impl Stopwatch,
    loops: &mut L,
    design: u8,
    run: impl FnOnce(&mut L, usize, &mut dyn FnMut() -> bool) -> Result<u64, Text>,
) -> Measured {
    let designs = DESIGNS.len();
    if usize::from(design) >= designs {
        return Err(Refusal::Design { designs: designs as u8 }.into());
    }
    let (mut goes_on, mut aside) = (true, 0_u64);
    let start = watch.ticks();
    let units = run(loops, usize::from(design), &mut || {
        let start = watch.ticks();
        goes_on = goes_on && watch.between();
        aside = aside.wrapping_add(watch.ticks().wrapping_sub(start));
        goes_on
    });
    let ticks = watch.ticks().wrapping_sub(start).wrapping_sub(aside);
    // A run that was cut short has neither a measurement nor an error.
    if !goes_on {
        return Err(Unmeasured::Ended);
    }
    Ok((units.map_err(Refusal::Workload)?, ticks))
}
