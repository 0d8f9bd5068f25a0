//! Levels: programs fitted to the compiler-managed hierarchies of designs.

use std::collections::BTreeMap;

use strata_compiler::hierarchy::{Code, Hierarchy, HierarchyConfig, HierarchyError, fit};
use strata_compiler::program::{Image, Program};
use strata_core::image::{CheckedImage, ImageError};
use strata_core::placement::Placement;

use crate::design::{Design, NoEnergy};

/// Why a program has no levels.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The compiler would have to place the operands of a program that is not there.
    #[error("the compiler manages the design's hierarchy, and a trace has no program for it")]
    NoProgram,
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
}

impl<'a> From<&'a Image> for Fitted<'a> {
    fn from(image: &'a Image) -> Self {
        Self { image, placements: None }
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
}

impl FittedKernels {
    /// Fits a program, once, if the design's hierarchy is the compiler's.
    ///
    /// # Errors
    ///
    /// As [`FittedKernels::of`].
    pub fn prepare(&mut self, design: &Design, program: Option<&Program>) -> Result<(), FitError> {
        self.of(design, program).map(|_| ())
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
