//! Report: a workload under every design, one line for each and mode.

use embedded_io::{Write, WriteFmtError};
use strata_core::count::count_path;
use strata_core::event::{CounterOverflow, Counters};
use strata_core::fault::PathFault;
use strata_core::image::CheckedImage;
use strata_core::sm::config::{SmConfig, SmConfigError};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::fault;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::{MemorySize, Sm};

use crate::designs::{DESIGNS, Design};
use crate::scratch::{CAPACITY, Scratch};
use crate::workload::{Run, Workload, WorkloadError};

/// Why a report is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// The workload contradicts itself.
    Workload(WorkloadError),
    /// Count mode refused it.
    Count(PathFault),
    /// A counter does not fit.
    Overflow(CounterOverflow),
    /// A design's parameters make no SM.
    Config(SmConfigError),
    /// A design's operands come through collectors, for which [`Scratch`] has no memory.
    Collectors {
        /// The design.
        design: &'static str,
        /// What its SM needs for this launch. Unit: bytes.
        bytes: usize,
    },
    /// Cycle mode refused it.
    Time(fault::Fault),
    /// The bytes could not be written.
    Sink(WriteFmtError<E>),
}

impl<E: core::fmt::Debug> core::fmt::Display for Error<E> {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Workload(error) => error.fmt(to),
            Self::Count(fault) => fault.fmt(to),
            Self::Overflow(error) => error.fmt(to),
            Self::Config(error) => error.fmt(to),
            Self::Collectors { design, bytes } => write!(
                to,
                "design `{design}` has operand collectors, for which there is no memory: this \
                 launch needs {bytes} bytes with them; leave the design out"
            ),
            Self::Time(fault) => fault.fmt(to),
            Self::Sink(error) => write!(to, "a line could not be written: {error:?}"),
        }
    }
}

impl<E: core::fmt::Debug> core::error::Error for Error<E> {}

impl<E> From<PathFault> for Error<E> {
    fn from(fault: PathFault) -> Self {
        Self::Count(fault)
    }
}

impl<E> From<CounterOverflow> for Error<E> {
    fn from(error: CounterOverflow) -> Self {
        Self::Overflow(error)
    }
}

impl<E> From<SmConfigError> for Error<E> {
    fn from(error: SmConfigError) -> Self {
        Self::Config(error)
    }
}

impl<E> From<fault::Fault> for Error<E> {
    fn from(fault: fault::Fault) -> Self {
        Self::Time(fault)
    }
}

/// The program of a board: writes the [`report`], or one line that says why it is incomplete.
/// Returns whether it is complete.
pub fn run<'w, W: Write, const FACTS: usize, const PENDING: usize, const READY: usize>(
    workload: &Workload<'w>,
    scratch: &mut Scratch<'w, FACTS, PENDING, READY>,
    to: &mut W,
) -> bool {
    let Err(error) = report(workload, scratch, to) else { return true };
    // If the sink fails here too, no error can be written.
    let _ = writeln!(to, "error: {error}");
    false
}

/// Writes a line for each of [`DESIGNS`] in count mode, then one for each in cycle mode:
/// `WORKLOAD DESIGN MODE DIGEST`, in cycle mode followed by the cycles.
pub fn report<'w, W: Write, const FACTS: usize, const PENDING: usize, const READY: usize>(
    workload: &Workload<'w>,
    scratch: &mut Scratch<'w, FACTS, PENDING, READY>,
    to: &mut W,
) -> Result<(), Error<W::Error>> {
    report_of(&DESIGNS, workload, scratch, to)
}

/// Writes a line for each of `designs` in count mode, then one for each in cycle mode:
/// `WORKLOAD DESIGN MODE DIGEST`, in cycle mode followed by the cycles. A design with operand
/// collectors is refused before anything is written.
pub fn report_of<'w, W: Write, const FACTS: usize, const PENDING: usize, const READY: usize>(
    designs: &[Design],
    workload: &Workload<'w>,
    scratch: &mut Scratch<'w, FACTS, PENDING, READY>,
    to: &mut W,
) -> Result<(), Error<W::Error>> {
    let image = workload.check().map_err(Error::Workload)?;
    for design in designs {
        if let OperandDelivery::Collectors(_) = design.settings.operand_delivery {
            let size = MemorySize::of(&SmConfig::new(design.settings)?, &image);
            let bytes = size.bytes::<Run<'_>, CAPACITY>();
            return Err(Error::Collectors { design: design.name, bytes });
        }
    }
    for design in designs {
        let digest = counted(workload, image, design, scratch)?.digest();
        line(to, format_args!("{} {} count {digest}\n", workload.name, design.name))?;
    }
    for design in designs {
        let counters = timed(workload, image, design, scratch)?;
        let (digest, cycles) = (counters.digest(), counters.cycles());
        line(to, format_args!("{} {} cycle {digest} {cycles}\n", workload.name, design.name))?;
    }
    to.flush().map_err(|error| Error::Sink(error.into()))
}

fn line<W: Write>(to: &mut W, text: core::fmt::Arguments<'_>) -> Result<(), Error<W::Error>> {
    to.write_fmt(text).map_err(Error::Sink)
}

/// Each distinct path counted once, times its warps.
fn counted<'w, E, const FACTS: usize, const PENDING: usize, const READY: usize>(
    workload: &Workload<'w>,
    image: CheckedImage<'w>,
    design: &Design,
    scratch: &mut Scratch<'w, FACTS, PENDING, READY>,
) -> Result<Counters, Error<E>> {
    let hierarchy = &design.settings.organisation;
    let mut total = Counters::default();
    for (index, path) in workload.paths.iter().enumerate() {
        let counters = count_path(hierarchy, image, scratch.awaited(), path.iter().copied())?;
        total = total.checked_add(&counters.checked_mul(workload.warps_on(index))?)?;
    }
    Ok(total)
}

/// All CTAs on one SM.
fn timed<'w, E, const FACTS: usize, const PENDING: usize, const READY: usize>(
    workload: &Workload<'w>,
    image: CheckedImage<'w>,
    design: &Design,
    scratch: &mut Scratch<'w, FACTS, PENDING, READY>,
) -> Result<SmCounters, Error<E>> {
    let config = SmConfig::new(design.settings)?;
    let warps = workload.warps_per_cta();
    let sm = Sm::new(&config, image, warps, workload.shared_bytes, scratch.memory())?;
    Ok(sm.run(workload.ctas())?)
}
