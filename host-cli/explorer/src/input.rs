//! Input: what the warps of a workload executed, kernel by kernel.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use strata_core::image::StaticInstruction;
use strata_core::path::PathStep;
use strata_core::placement::Placement;
use strata_core::units::RegisterId;

use crate::Problem;
use crate::encoded::{Instruction, Place, Step, from_bytes, path, steps, to_bytes};

/// A distinct path, and the warps that took it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Warps, of all launches of the kernel.
    pub warps: u64,
    /// Its runs.
    pub steps: Vec<PathStep>,
}

/// A kernel with the paths of all its launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// One record per instruction.
    pub instructions: Vec<StaticInstruction>,
    /// Register slots.
    pub slots: Vec<RegisterId>,
    /// Registers per thread. Unit: 32-bit registers.
    pub registers: u16,
    /// Distinct paths.
    pub paths: Vec<Path>,
    /// Distinct placements of its slots in levels that the compiler manages.
    pub placements: Vec<Vec<Placement>>,
    /// For each fit of the catalogue, which of them.
    pub fits: Vec<u16>,
}

/// A workload at a size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// How a command line names it.
    pub workload: String,
    /// Its size, as a command line names it.
    pub scale: String,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
}

#[derive(Serialize, Deserialize)]
struct EncodedKernel {
    instructions: Vec<Instruction>,
    slots: Vec<u16>,
    registers: u16,
    paths: Vec<(u64, Vec<Step>)>,
    placements: Vec<Vec<Place>>,
    fits: Vec<u16>,
}

#[derive(Serialize, Deserialize)]
struct EncodedInput {
    workload: String,
    scale: String,
    kernels: Vec<EncodedKernel>,
}

impl EncodedKernel {
    fn of(kernel: &Kernel) -> Self {
        let Kernel { instructions, slots, registers, paths, placements, fits } = kernel;
        let places = |placements: &Vec<Placement>| placements.iter().map(Place::from).collect();
        Self {
            instructions: instructions.iter().map(Instruction::from).collect(),
            slots: slots.iter().map(|slot| slot.0).collect(),
            registers: *registers,
            paths: paths.iter().map(|path| (path.warps, steps(&path.steps))).collect(),
            placements: placements.iter().map(places).collect(),
            fits: fits.clone(),
        }
    }

    fn decoded(self) -> Result<Kernel, Problem> {
        let Self { instructions, slots, registers, paths, placements, fits } = self;
        let places = |places: Vec<Place>| places.into_iter().map(Place::decoded).collect();
        let taken = |(warps, steps): (u64, Vec<Step>)| Ok(Path { warps, steps: path(&steps)? });
        Ok(Kernel {
            instructions: instructions
                .iter()
                .map(Instruction::decoded)
                .collect::<Result<_, _>>()?,
            slots: slots.into_iter().map(RegisterId).collect(),
            registers,
            paths: paths.into_iter().map(taken).collect::<Result<_, Problem>>()?,
            placements: placements.into_iter().map(places).collect::<Result<_, Problem>>()?,
            fits,
        })
    }
}

impl Input {
    /// Its bytes.
    ///
    /// # Errors
    /// None that a value has: postcard takes every one.
    pub fn encode(&self) -> Result<Vec<u8>, Problem> {
        let Self { workload, scale, kernels } = self;
        let encoded = EncodedInput {
            workload: workload.clone(),
            scale: scale.clone(),
            kernels: kernels.iter().map(EncodedKernel::of).collect(),
        };
        to_bytes(&encoded, "input")
    }

    /// What bytes say. Images and paths are checked when they are counted.
    ///
    /// # Errors
    /// Bytes that [`Self::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        let EncodedInput { workload, scale, kernels } = from_bytes(bytes, "input")?;
        let kernels = kernels.into_iter().map(EncodedKernel::decoded);
        Ok(Self { workload, scale, kernels: kernels.collect::<Result<_, _>>()? })
    }
}
