//! Levels: programs fitted to the compiler-managed hierarchies of designs, and divided into bundles
//! for those whose registers expand into scratchpad memory.

use std::collections::BTreeMap;

use strata_compiler::bundles::{BundleError, Bundled, Weights, bundle};
use strata_compiler::hierarchy::{Code, Hierarchy, HierarchyConfig, HierarchyError, fit};
use strata_compiler::program::{Image, Program};
use strata_core::image::{CheckedImage, ImageError};
use strata_core::placement::Placement;
use strata_core::sm::config::StorageKind;

use strata_design::{Design, NoEnergy};
use strata_files::failure::Failure;

/// Why a program has no levels.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The compiler would have to place the operands of a program that is not there.
    #[error("the compiler manages the design's hierarchy, and a trace has no program for it")]
    NoProgram,
    /// The compiler would have to divide a program into bundles that is not there.
    #[error(
        "the design's registers are sorted or may lie in scratchpad memory, for which the compiler \
         renumbers those of the program, and a trace has no program"
    )]
    NoProgramForBundles,
    /// A kernel that cannot be divided into bundles.
    #[error("kernel `{0}` cannot be divided into bundles: {1}")]
    Bundles(String, BundleError),
    /// A kernel too large to be fitted to a hierarchy.
    #[error("kernel `{0}` {1}")]
    TooLarge(String, String),
    /// A hierarchy that makes no sense.
    #[error("{0}")]
    Hierarchy(#[from] HierarchyError),
    /// Levels whose energy is not known, by which values are placed.
    #[error("{0}")]
    NoEnergy(NoEnergy),
}

/// An image, fitted to a hierarchy if the compiler manages one.
#[derive(Clone, Copy, Debug)]
pub struct Fitted<'a> {
    /// The image.
    pub image: &'a Image,
    /// Where each of its slots lives, if the compiler says so.
    pub placements: Option<&'a [Placement]>,
    /// The image's program with sorted registers and bundles, for a launch whose registers lie in
    /// scratchpad memory.
    pub bundled: Option<&'a Bundled>,
}

impl<'a> From<&'a Image> for Fitted<'a> {
    fn from(image: &'a Image) -> Self {
        Self { image, placements: None, bundled: None }
    }
}

impl<'a> Fitted<'a> {
    /// The image as the core takes it.
    ///
    /// # Errors
    ///
    /// An image or placements that break their own rules.
    pub fn checked(self) -> Result<CheckedImage<'a>, ImageError> {
        let image = CheckedImage::new(self.image.borrow())?;
        self.placements.map_or(Ok(image), |placements| image.with_placements(placements))
    }
}

/// A program fitted to a hierarchy.
///
/// # Errors
///
/// A program that is too large, or a hierarchy that makes no sense.
pub fn fitted(program: &Program, config: &HierarchyConfig) -> Result<Hierarchy, FitError> {
    let code = Code::new(program)
        .map_err(|problem| FitError::TooLarge(program.name.clone(), problem.message))?;
    Ok(fit(&code, config)?)
}

/// The kernels of one module, fitted to one design as they come.
#[derive(Clone, Debug, Default)]
pub struct FittedKernels {
    /// By the kernel's name.
    fitted: BTreeMap<String, Hierarchy>,
    /// By the kernel's name.
    bundled: BTreeMap<String, Bundled>,
}

impl FittedKernels {
    /// Fits a program, once, if the design's hierarchy is the compiler's, or sorts its registers
    /// and divides it into bundles, if they are sorted or may lie in scratchpad memory.
    ///
    /// # Errors
    ///
    /// No program (a trace has none), one that is too large, or one without bundles.
    pub fn prepare(&mut self, design: &Design, program: Option<&Program>) -> Result<(), FitError> {
        if design.sm.storage == StorageKind::Expars || design.sorted_registers {
            let program = program.ok_or(FitError::NoProgramForBundles)?;
            if !self.bundled.contains_key(&program.name) {
                let first = design.sm.threshold.first_candidate(program.image.registers);
                let bundled = bundle(program, Weights::default(), first)
                    .map_err(|error| FitError::Bundles(program.name.clone(), error))?;
                self.bundled.insert(program.name.clone(), bundled);
            }
        }
        self.of(design, program).map(|_| ())
    }

    /// The bundles of a kernel that was prepared; none if nothing had to be.
    pub fn bundled(&self, kernel: &str) -> Option<&Bundled> {
        self.bundled.get(kernel)
    }

    /// The levels of a kernel that was prepared; none if nothing had to be.
    pub fn get(&self, kernel: &str) -> Option<&Hierarchy> {
        self.fitted.get(kernel)
    }

    /// The levels of a program's operands; none if the design's hierarchy is not the compiler's.
    ///
    /// # Errors
    ///
    /// No program (a trace has none), or one that is too large.
    pub fn of(
        &mut self,
        design: &Design,
        program: Option<&Program>,
    ) -> Result<Option<&Hierarchy>, FitError> {
        let Some(managed) = design.managed else { return Ok(None) };
        let program = program.ok_or(FitError::NoProgram)?;
        if !self.fitted.contains_key(&program.name) {
            let table = design
                .placement_energy
                .as_ref()
                .map_err(|reason| FitError::NoEnergy(reason.clone()))?;
            let hierarchy = fitted(program, &managed.config(table))?;
            self.fitted.insert(program.name.clone(), hierarchy);
        }
        Ok(self.fitted.get(&program.name))
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        match &error {
            FitError::NoProgram | FitError::NoProgramForBundles => {
                Self::input(error.to_string()).hint("run the PTX file or the workload itself")
            }
            FitError::Bundles(..) => {
                Self::input(error.to_string()).hint("give it another number with `--registers`")
            }
            FitError::TooLarge(..) | FitError::NoEnergy(_) => Self::input(error.to_string()),
            FitError::Hierarchy(_) => Self::internal(&error.to_string()),
        }
    }
}
