//! Material: the launches of one input, as far as a stream of register accesses needs them.

use strata_compiler::program::Image;
use strata_core::image::CheckedImage;
use strata_simt::paths::PathDictionary;

use super::plan::{CLUSTER, MOST_REGISTERS, WARPS};
use strata_files::failure::Failure;
use strata_measure::evaluate::EvaluateError;
use strata_measure::notes::Notes;
use strata_measure::subject::{self, Subject};
use strata_measure::{self as measure, Counted, Request};

/// One launch.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(super) image: Image,
    pub(super) paths: PathDictionary,
}

/// The launches of one input, as many as are needed.
#[derive(Clone, Debug)]
pub struct Material {
    /// The input's name.
    pub name: String,
    /// Not empty; one of them at least has an access of the lanes that take part.
    pub(super) launches: Vec<Launch>,
    /// Register accesses of the lanes that take part.
    pub accesses: u64,
    /// Launches that were not needed.
    pub left_out: u64,
    /// Most registers of a thread.
    pub registers: u16,
}

impl Material {
    /// Executes or reads an input, and keeps what is needed for this many accesses.
    ///
    /// # Errors
    ///
    /// The input is wrong, or none of its launches fits the prototype's registers.
    pub fn new(
        subject: &Subject,
        request: &Request,
        accesses: u64,
        notes: &dyn Notes,
    ) -> Result<Self, Failure> {
        let mut material = Self {
            name: subject.name().to_owned(),
            launches: Vec::new(),
            accesses: 0,
            left_out: 0,
            registers: 0,
        };
        let mut too_large = None;
        let visit = |launch: &Counted<'_>| {
            if material.accesses >= accesses || too_large.is_some() {
                material.left_out += 1;
                return Ok(());
            }
            if launch.registers > MOST_REGISTERS {
                too_large = Some((launch.kernel.to_owned(), launch.registers));
                return Ok(());
            }
            material.add(launch)
        };
        let request = &request.clone().in_whole_launches();
        match subject {
            Subject::Workload(workload) => {
                let prepared = subject::prepare(workload, &request.size, &request.overrides)?;
                measure::each_launch(workload, &prepared, request, notes, visit)?;
            }
            Subject::Trace(input) => {
                measure::each_recorded_launch(input, request, notes, visit)?;
            }
        }
        if let Some((kernel, registers)) = too_large {
            return Err(Failure::input(format!(
                "kernel `{kernel}` needs {registers} registers per thread; the prototype holds \
                 {MOST_REGISTERS} for each of {WARPS} warps"
            ))
            .hint(match subject {
                Subject::Workload(_) => "`--registers 128` spills what does not fit",
                Subject::Trace(_) => "`--kernel` or `--launch-index` chooses other launches",
            }));
        }
        if material.accesses == 0 {
            return Err(Failure::input(format!(
                "`{}` has no register access in lanes 0 to 3 of any warp",
                material.name
            ))
            .hint("the prototype is one cluster of four lanes; choose another input"));
        }
        Ok(material)
    }

    /// Launches that the stream is made of.
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    fn add(&mut self, launch: &Counted<'_>) -> Result<(), EvaluateError> {
        let checked = CheckedImage::new(launch.image.borrow())?;
        for (path, warps) in launch.paths.iter() {
            let mut slots = 0;
            for step in path {
                let run = checked.run(*step)?;
                if step.mask.0 & CLUSTER != 0 {
                    let of = |instruction: &strata_core::image::StaticInstruction| {
                        u64::from(instruction.sources) + u64::from(instruction.destinations)
                    };
                    slots += run.iter().map(of).sum::<u64>();
                }
            }
            self.accesses = self.accesses.saturating_add(slots.saturating_mul(warps));
        }
        self.registers = self.registers.max(launch.image.registers);
        let (image, paths) = (launch.image.clone(), launch.paths.clone());
        self.launches.push(Launch { image, paths });
        Ok(())
    }
}
