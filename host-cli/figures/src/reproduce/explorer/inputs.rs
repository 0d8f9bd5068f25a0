//! Inputs: what the warps of a workload execute, in the form in which the page counts it.

use std::collections::HashMap;

use strata_compiler::hierarchy::{Code, HierarchyConfig, fit};
use strata_compiler::program::Program;
use strata_core::path::PathStep;
use strata_explorer::{Input, Kernel, Path};

use super::encoding::defect;
use strata_files::failure::Failure;
use strata_measure::levels::FitError;
use strata_measure::notes::Notes;
use strata_measure::options::{Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Counted, Request};

/// A kernel while its launches come.
#[derive(Default)]
struct Gathered {
    kernel: Kernel,
    /// Where each path is.
    places: HashMap<Vec<PathStep>, usize>,
}

impl Gathered {
    /// Adds what the warps of a launch executed.
    fn add(&mut self, launch: &Counted<'_>) {
        for (steps, warps) in launch.paths.iter() {
            if let Some(&place) = self.places.get(steps) {
                self.kernel.paths[place].warps += warps;
                continue;
            }
            self.places.insert(steps.to_vec(), self.kernel.paths.len());
            self.kernel.paths.push(Path { warps, steps: steps.to_vec() });
        }
    }
}

/// A workload of the registry, executed, its results checked, and its kernels fitted to every one
/// of `fits`.
///
/// # Errors
/// A workload that does not run.
pub fn of(
    name: &str,
    scale: Scale,
    fits: &[HierarchyConfig],
    notes: &dyn Notes,
) -> Result<Input, Failure> {
    let args = Source::of(scale);
    let request = Request::new(&args)?;
    let workload = subject::workload(name, &args, notes)?;
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let kernels = prepared.programs.iter().map(|program| Gathered {
        kernel: Kernel {
            instructions: program.image.instructions.clone(),
            slots: program.image.slots.clone(),
            registers: program.image.registers,
            ..Kernel::default()
        },
        ..Gathered::default()
    });
    let mut kernels: Vec<Gathered> = kernels.collect();
    let mut unknown = false;
    measure::each_launch(&workload, &prepared, &request, notes, |launch| {
        let of = prepared.programs.iter().position(|program| program.name == launch.kernel);
        match of {
            Some(place) => kernels[place].add(launch),
            None => unknown = true,
        }
        Ok(())
    })?;
    if unknown {
        return Err(Failure::internal(&format!("`{name}` launches a kernel that it has not")));
    }
    let programs = prepared.programs.iter();
    let kernels = kernels.into_iter().zip(programs).map(|(gathered, program)| {
        let mut kernel = gathered.kernel;
        place(&mut kernel, program, fits).map_err(|error| defect(&error))?;
        Ok(kernel)
    });
    Ok(Input {
        workload: name.to_owned(),
        scale: scale.name().to_owned(),
        kernels: kernels.collect::<Result<_, Failure>>()?,
    })
}

/// Fits a kernel to each hierarchy, and keeps what differs once.
fn place(kernel: &mut Kernel, program: &Program, fits: &[HierarchyConfig]) -> Result<(), FitError> {
    let code = Code::new(program)
        .map_err(|problem| FitError::TooLarge(program.name.clone(), problem.message))?;
    let mut places = HashMap::new();
    for config in fits {
        let placements = fit(&code, config)?.placements;
        let place = *places.entry(placements).or_insert_with_key(|placements| {
            kernel.placements.push(placements.clone());
            kernel.placements.len() as u16 - 1
        });
        kernel.fits.push(place);
    }
    Ok(())
}
