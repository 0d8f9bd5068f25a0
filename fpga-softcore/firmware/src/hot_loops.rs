//! Hot loops: the launch in the image, run to see how long the core's loops take.
//!
//! A launch may take long: after a number of steps each run asks whether to go on.

use strata_core::count::count_path;
use strata_core::event::Event;
use strata_core::sm::config::SmConfig;
use strata_core::sm::{Sm, operand_delivery::OperandDelivery};
use strata_link::message::{Name, Text};

use crate::comparison::text;
use crate::designs::DESIGNS;
use crate::scratch::Scratch;
use crate::workload::Workload;

/// The benches of an image in count and cycle mode.
pub trait HotLoops {
    /// The launch's name; `None` if there is none.
    fn name(&self) -> Option<Name>;

    /// Counts each distinct path of the launch once under a design. Returns the warp instructions.
    /// `between` says whether to go on; after a no the returned value means nothing.
    ///
    /// # Errors
    ///
    /// It cannot be run, and why.
    fn count(&mut self, design: usize, between: &mut dyn FnMut() -> bool) -> Result<u64, Text>;

    /// Runs the first CTAs of the launch in time under a design. Returns the warp instructions.
    /// `between` as above.
    ///
    /// # Errors
    ///
    /// It cannot be run, and why.
    fn cycle(
        &mut self,
        design: usize,
        ctas: u16,
        between: &mut dyn FnMut() -> bool,
    ) -> Result<u64, Text>;
}

/// No launch in the image.
#[derive(Clone, Copy, Debug)]
pub struct NoLaunch;

impl HotLoops for NoLaunch {
    fn name(&self) -> Option<Name> {
        None
    }

    fn count(&mut self, _design: usize, _: &mut dyn FnMut() -> bool) -> Result<u64, Text> {
        Err(text(format_args!("its image was built without one")))
    }

    fn cycle(
        &mut self,
        _design: usize,
        _ctas: u16,
        between: &mut dyn FnMut() -> bool,
    ) -> Result<u64, Text> {
        self.count(0, between)
    }
}

/// Instructions, or cycles that are visited, between two looks at the link: some milliseconds.
const STEPS: u32 = 64;

/// Counts steps, and asks from time to time whether to go on.
fn every(between: &mut dyn FnMut() -> bool) -> impl FnMut() -> bool {
    let (mut left, mut goes_on) = (STEPS, true);
    move || {
        left -= 1;
        if left == 0 {
            left = STEPS;
            goes_on = goes_on && between();
        }
        goes_on
    }
}

/// A launch in the image, and memory to run it in.
#[derive(Debug)]
pub struct Launch<'m, 'w, const FACTS: usize, const PENDING: usize, const READY: usize> {
    /// The launch.
    pub workload: &'w Workload<'w>,
    /// The memory.
    pub scratch: &'m mut Scratch<'w, FACTS, PENDING, READY>,
}

impl<const FACTS: usize, const PENDING: usize, const READY: usize> HotLoops
    for Launch<'_, '_, FACTS, PENDING, READY>
{
    fn name(&self) -> Option<Name> {
        // `embed_launch` has checked that it fits.
        Name::try_from(self.workload.name).ok()
    }

    #[inline(never)]
    fn count(&mut self, design: usize, between: &mut dyn FnMut() -> bool) -> Result<u64, Text> {
        let mut goes_on = every(between);
        let image = self.workload.check().map_err(|error| text(format_args!("{error}")))?;
        let design = DESIGNS.get(design).ok_or_else(|| text(format_args!("no such design")))?;
        let mut instructions = 0;
        for path in self.workload.paths {
            let hierarchy = &design.settings.organisation;
            let steps = path.iter().copied().take_while(|_| goes_on());
            let counters = count_path(hierarchy, image, self.scratch.awaited(), steps)
                .map_err(|fault| text(format_args!("{fault}")))?;
            instructions += counters.get(Event::WarpInstruction);
        }
        Ok(instructions)
    }

    #[inline(never)]
    fn cycle(
        &mut self,
        design: usize,
        ctas: u16,
        between: &mut dyn FnMut() -> bool,
    ) -> Result<u64, Text> {
        let image = self.workload.check().map_err(|error| text(format_args!("{error}")))?;
        let design = DESIGNS.get(design).ok_or_else(|| text(format_args!("no such design")))?;
        if let OperandDelivery::Collectors(_) = design.settings.operand_delivery {
            return Err(text(format_args!("`{}` has operand collectors", design.name)));
        }
        let config =
            SmConfig::new(design.settings).map_err(|error| text(format_args!("{error}")))?;
        let per_cta = self.workload.warps_per_cta();
        let most = usize::from(ctas).saturating_mul(per_cta as usize);
        let warps = self.workload.warps;
        let part = Workload { warps: &warps[..most.min(warps.len())], ..*self.workload };
        let memory = self.scratch.memory();
        let counters = Sm::new(&config, image, per_cta, part.shared_bytes, memory)
            .map_err(|error| text(format_args!("{error}")))?
            .run_while(part.ctas(), every(between))
            .map_err(|fault| text(format_args!("{fault}")))?
            .unwrap_or_default();
        Ok(counters.accesses.get(Event::WarpInstruction))
    }
}
