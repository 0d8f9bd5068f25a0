//! An executable: a kernel's micro-operations and all that they refer to.

use std::sync::Arc;

use strata_compiler::order::Order;
use strata_compiler::program::Program;
use strata_core::image::CheckedImage;
use strata_core::placement::Placement;
use strata_ptx::cuda::CudaPlace;
use strata_ptx::launch::LaunchRules;
use strata_ptx::module::SpecialRegister;

use crate::device::{AddressMap, ModuleHandle};
use crate::levels::{PlacedOperands, PlacementError};
use crate::micro::{
    Access, Action, AsyncCopy, Barrier, Call, Mbarrier, MicroOp, Space, TextureAccess, VectorMove,
};
use crate::moved::{AccessShape, Windows};
use crate::ops::matrix::Matrix;

/// A kernel, ready to be executed any number of times.
#[derive(Clone, Debug)]
pub struct Executable {
    pub(crate) name: String,
    pub(crate) operations: Vec<MicroOp>,
    /// For each operation, whether it moves bytes that cycle mode asks for.
    pub(crate) moves: Vec<bool>,
    pub(crate) lines: Vec<u32>,
    /// Where operations came from in CUDA; empty where the module does not say.
    pub(crate) cuda: Vec<Option<CudaPlace>>,
    pub(crate) order: Order,
    pub(crate) accesses: Vec<Access>,
    pub(crate) textures: Vec<TextureAccess>,
    pub(crate) copies: Vec<AsyncCopy>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) mbarriers: Vec<Mbarrier>,
    pub(crate) vectors: Vec<VectorMove>,
    pub(crate) calls: Vec<Call>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) branch_tables: Vec<Vec<u32>>,
    /// Rows before the extra ones: registers and unwanted results.
    pub(crate) register_rows: u32,
    pub(crate) extra: Vec<ExtraRow>,
    /// Predicates, the constant ones included; the last two are always false and always true.
    pub(crate) predicates: u32,
    pub(crate) shared_bytes: u64,
    /// What the kernel's directives say of its launches.
    pub(crate) rules: LaunchRules,
    /// Unit in which its machine gives CTAs shared memory. Unit: bytes.
    pub(crate) shared_unit: u32,
    /// Of these, those of the system software.
    pub(crate) reserved_shared_bytes: u64,
    pub(crate) local_bytes: u64,
    /// The last bytes of the frame: spill slots.
    pub(crate) spill_bytes: u64,
    pub(crate) parameter_bytes: u64,
    pub(crate) address_bits: u8,
    pub(crate) module: usize,
    pub(crate) uses_module: bool,
    /// Where values live, if not simply in registers.
    pub(crate) levels: Option<Arc<PlacedOperands>>,
}

impl Executable {
    /// Kernel name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size of the parameter block that a launch has to give. Unit: bytes.
    pub fn parameter_bytes(&self) -> u64 {
        self.parameter_bytes
    }

    /// How an instruction accesses memory; `None` when it names no addresses, or moves no bytes.
    pub fn access_shape(&self, pc: u32) -> Option<AccessShape> {
        let pc = pc as usize;
        match self.operations.get(pc)?.action {
            Action::Memory(_, index) if self.moves[pc] => {
                Some(self.accesses[index as usize].shape())
            }
            Action::Copy(index) if self.moves[pc] => Some(self.copies[index as usize].from.shape()),
            Action::Mbarrier(index) if self.moves[pc] => {
                Some(self.mbarriers[index as usize].access.shape())
            }
            Action::Matrix { index, .. } if self.moves[pc] => {
                match &self.matrices[index as usize] {
                    Matrix::Transfer(transfer) => Some(transfer.access.shape()),
                    Matrix::Product(_) | Matrix::Transpose { .. } => None,
                }
            }
            _ => None,
        }
    }

    /// The state space that a load or atomic names.
    pub(crate) fn space_of(&self, pc: u32) -> Space {
        match self.operations[pc as usize].action {
            Action::Memory(_, index) => self.accesses[index as usize].space,
            _ => Space::Generic,
        }
    }

    /// Whether it asks for the workspace of a cooperative launch.
    pub(crate) fn asks_for_workspace(&self) -> bool {
        let asks =
            |row: &ExtraRow| matches!(row, ExtraRow::Special(SpecialRegister::Envreg(1 | 2), _));
        self.extra.iter().any(asks)
    }

    /// Where its generic addresses reach other memories than the global one.
    pub fn windows(&self) -> Windows {
        AddressMap::new(self.address_bits).windows()
    }

    /// Which loaded module the kernel's variables are those of; without this call, the module
    /// loaded first.
    pub fn set_module(&mut self, module: ModuleHandle) {
        self.module = module.0;
    }

    /// Has operand values live where a compiler-managed hierarchy places them: every execution
    /// reads and writes the levels named, loses all entries above the main register file whenever
    /// the warp is descheduled, and so computes something else if a placement is wrong. Slower than
    /// without; what is recorded and counted stays the same.
    ///
    /// `program` is the one that was decoded; `placements` has one for each slot of its image.
    ///
    /// # Errors
    /// Another program; a wrong number of placements, or one that its slot cannot have.
    pub fn with_levels(
        mut self,
        program: &Program,
        placements: &[Placement],
    ) -> Result<Self, PlacementError> {
        let image = &program.image;
        let same = program.name == self.name
            && image.instructions.len() == self.operations.len()
            && image.registers == program.general_registers
            && u32::from(image.registers) <= self.register_rows;
        if !same {
            return Err(PlacementError::OtherProgram { kernel: self.name });
        }
        let checked = CheckedImage::new(image.borrow());
        if let Err(problem) = checked.and_then(|image| image.with_placements(placements)) {
            return Err(PlacementError::Placements { kernel: self.name, problem });
        }
        let (image, placements) = (image.clone(), placements.to_vec());
        self.levels = Some(Arc::new(PlacedOperands { image, placements }));
        Ok(self)
    }
}

/// A row that no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExtraRow {
    /// A constant.
    Constant(u32),
    /// A special register; true: its upper half.
    Special(SpecialRegister, bool),
    /// The address of a module's variable plus an offset; true: its upper half.
    Address(u32, i64, bool),
}
