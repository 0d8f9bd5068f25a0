//! Counted: one launch to be counted, from wherever it comes.

use strata_compiler::Order;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_compiler::program::{Image, Program};
use strata_core::event::Counters;
use strata_core::organisation::Organisation;
use strata_core::placement::Placement;
use strata_ptx::module::Module;
use strata_simt::paths::PathDictionary;
use strata_simt::{AccessDictionary, BarrierDictionary, LaunchOutcome};

use crate::evaluate::{self, EvaluateError};
use crate::levels::{self, FitError, Fitted};
use crate::report::{self};
use crate::timeline::{About, Code};
use crate::timing::TimedLaunch;

use crate::launched::{Executed, Launched};
use crate::spills::SpillTraffic;

/// One recorded launch, whether it was executed or read from a trace.
pub struct Counted<'a> {
    pub(crate) index: u64,
    /// The kernel's name.
    pub kernel: &'a str,
    /// CTAs along x, y, z.
    pub grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Unit: 32-bit registers per thread.
    pub registers: u16,
    /// Registers per thread by which it is said how many CTAs are resident.
    pub(crate) resident_registers: u16,
    /// Order of its instructions; none: that of a trace.
    pub(crate) order: Option<Order>,
    /// The program as the SM sees it.
    pub image: &'a Image,
    /// The paths that warps took.
    pub paths: &'a PathDictionary,
    /// What memory instructions moved, for cycle mode.
    pub(crate) accesses: &'a AccessDictionary,
    /// Where its warps arrived at barriers, if that was recorded.
    pub(crate) barriers: Option<&'a BarrierDictionary>,
    /// Shared memory of a CTA, static and dynamic. Unit: bytes.
    pub(crate) shared_bytes: u32,
    /// What its instructions are called.
    pub(crate) code: Code<'a>,
}

impl<'a> Counted<'a> {
    /// A launch that was executed from a module with this text.
    pub(crate) fn executed(launch: &'a Executed<'_>, source: (&'a Module, &'a str)) -> Self {
        Self::of_program(launch.program, source, launch.about, &launch.outcome)
    }

    /// An executed launch from its parts: its program, the module and the text of that, how it was
    /// launched, and what it did.
    pub(crate) fn of_program(
        program: &'a Program,
        (module, text): (&'a Module, &'a str),
        about: Launched,
        outcome: &'a LaunchOutcome,
    ) -> Self {
        let Launched { index, kernel: _, grid, block, dynamic_shared } = about;
        Self {
            index,
            kernel: &program.name,
            grid,
            block,
            registers: program.general_registers,
            resident_registers: program.resident_registers,
            order: Some(program.order),
            image: &program.image,
            paths: &outcome.paths,
            accesses: &outcome.accesses,
            barriers: Some(&outcome.barriers),
            shared_bytes: u32::try_from(program.shared_bytes)
                .unwrap_or(u32::MAX)
                .saturating_add(dynamic_shared),
            code: Code::Ptx { module, program, text },
        }
    }

    /// Adds what spilling did, where it was executed from a program.
    pub fn add_spills(&self, spills: &mut SpillTraffic) {
        if let Some(program) = self.program() {
            spills.add(program, self.paths);
        }
    }

    /// What a timeline of the launch says about itself.
    pub(crate) fn about(&self, input: &str, design: &str) -> About {
        let tool = report::tool();
        let by = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        About {
            tool: format!("{} {}", tool.name, tool.version),
            input: input.to_owned(),
            design: design.to_owned(),
            kernel: self.kernel.to_owned(),
            launch: self.index.to_string(),
            grid: by(self.grid),
            block: by(self.block),
        }
    }

    /// The program that was executed, if it was one.
    pub fn program(&self) -> Option<&'a Program> {
        match self.code {
            Code::Ptx { program, .. } => Some(program),
            Code::Traced(_) => None,
        }
    }

    /// Its warps counted with its program fitted to a hierarchy.
    pub fn count_fitted(
        &self,
        count: &Organisation,
        config: &HierarchyConfig,
    ) -> Result<Counters, EvaluateError> {
        let program = self.program().ok_or(FitError::NoProgram)?;
        let hierarchy = levels::fitted(program, config)?;
        let placements = Some(&*hierarchy.placements);
        let image = Fitted { placements, ..self.image.into() };
        evaluate::count_launch(count, false, image, self.paths)
    }

    /// Its warps counted under a design, with these placements if the compiler makes them.
    pub fn count_under(
        &self,
        count: &Organisation,
        placements: Option<&[Placement]>,
    ) -> Result<Counters, EvaluateError> {
        let image = Fitted { placements, ..self.image.into() };
        evaluate::count_launch(count, false, image, self.paths)
    }

    /// Its warps counted with the flat register file.
    pub fn count_flat(&self) -> Result<Counters, EvaluateError> {
        evaluate::count_launch(&Organisation::FLAT, false, self.image.into(), self.paths)
    }

    /// What reports call the order of its instructions.
    pub(crate) fn order(&self) -> &'static str {
        self.order.map_or(report::OF_A_TRACE, Order::name)
    }

    /// What the SM runs.
    pub fn timed(&self) -> TimedLaunch<'a> {
        TimedLaunch {
            image: self.image.into(),
            paths: self.paths,
            accesses: self.accesses,
            barriers: self.barriers,
            resident_registers: self.resident_registers,
            threads: self.block.iter().product(),
            shared_bytes: self.shared_bytes,
        }
    }
}
