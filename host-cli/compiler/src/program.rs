//! Program: one kernel with its calls inlined and its registers allocated, ready to execute.
//!
//! The instructions are the module's own type; their register, label and local-variable numbers
//! index the tables of the program instead of those of a [`strata_ptx::module::Function`].
//!
//! Guarantees of the compiler to an executor:
//! - control never runs off the end of the instructions;

//! - the only calls left are those of functions that [`crate::inline::KNOWN_EXTERNALS`] names,
//!   and calls of a register's address, which no function has that can be called there;
//! - variables of module scope in shared or local memory are in `variables` too and are named as
//!   [`Symbol::Local`], so that each space is placed in one table; no operand names them as module
//!   symbols;
//! - a result may share registers with an operand of the same instruction that ends there: all
//!   operands are read before any result is written.

use strata_core::image::{KernelImage, StaticInstruction};
use strata_core::units::RegisterId;
#[cfg(doc)]
use strata_ptx::module::Symbol;
use strata_ptx::module::{Instruction, LabelId, StateSpace, VirtualRegister};
use strata_ptx::types::ScalarType;

use crate::flow::ControlFlow;
use crate::schedule::order::Order;

/// Where a register of the program lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// `count` consecutive 32-bit registers from `first`; 64-bit values start at an even one,
    /// 128-bit ones at a multiple of four.
    General {
        /// Lowest register.
        first: u16,
        /// Registers occupied: 1, 2 or 4.
        count: u8,
    },
    /// A predicate register: one bit for each lane, not part of the register file.
    Predicate(u16),
    /// Never mentioned by an instruction that remains.
    Unused,
}

/// A register of the program: a web of one virtual register's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRegister {
    /// Name of the virtual register it came from; inlined ones carry a suffix.
    pub name: String,
    /// Declared type.
    pub ty: ScalarType,
    /// Where it lives.
    pub location: Location,
}

/// A variable of the kernel: parameters first, then those of the body and of inlined functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramVariable {
    /// Name as written; inlined ones carry a suffix.
    pub name: String,
    /// `Param` is a kernel parameter; they lie one behind the other, each aligned. `Shared` lies in
    /// the CTA's shared memory, `Local` in the thread's frame. The arguments and results of an
    /// inlined call are `Local` too, but their loads and stores keep the space `Param` in their
    /// modifiers, so that they count as short.
    pub space: StateSpace,
    /// Place within its space. Unit: bytes. Open arrays of shared memory all begin behind the
    /// static ones, at [`Program::shared_bytes`].
    pub offset: u64,
    /// Unit: bytes; 0 for an open array.
    pub size: u64,
    /// Unit: bytes.
    pub align: u32,
}

/// Name of the variable that holds a thread's spilled values: no PTX name has a blank.
pub const SPILL_VARIABLE: &str = "spill slots";

/// Where an instruction of a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// From the kernel with its calls inlined: the number of the instruction there.
    Kernel(u32),
    /// Stores this register of that kernel to a spill slot.
    Store(VirtualRegister),
    /// Loads this register of that kernel from a spill slot.
    Fill(VirtualRegister),
    /// Makes a value again that was not worth a slot: the number of its definition there.
    Again(u32),
}

/// An instruction of the kernel that is not in the program: everything that reads its result makes
/// it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// It would stand before this instruction of the program, in the same basic block.
    pub before: u32,
    /// Its number in the kernel.
    pub definition: u32,
}

/// One instruction and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInstruction {
    /// Operands index the program's tables. Labels index [`Program::targets`].
    pub instruction: Instruction,
    /// Line of the PTX file, from 1.
    pub line: u32,
    /// Where a potentially divergent branch reconverges: the first instruction of its immediate
    /// post-dominator, or `None` when only the exit post-dominates it. Meaningless on others.
    pub reconvergence: Option<u32>,
    /// Whether it is the kernel's own, or spills.
    pub origin: Origin,
}

/// One kernel, ready to execute.
#[derive(Clone, Debug)]
pub struct Program {
    /// Kernel name.
    pub name: String,
    /// Instructions; a program counter is an index, the same as in the image.
    pub instructions: Vec<ProgramInstruction>,
    /// Registers that the operands index.
    pub registers: Vec<ProgramRegister>,
    /// Variables that `Symbol::Local` indexes.
    pub variables: Vec<ProgramVariable>,
    /// How many of `variables` are kernel parameters.
    pub parameters: u32,
    /// Instruction that each label stands before; may equal the number of instructions.
    pub targets: Vec<u32>,
    /// Branch tables that `Operand::BranchTable` indexes; entries index `instructions`.
    pub branch_tables: Vec<Vec<u32>>,
    /// 32-bit registers per thread.
    pub general_registers: u16,
    /// Order in which its instructions were asked for.
    pub order: Order,
    /// 32-bit registers per thread by which it is said how many CTAs are resident: of
    /// [`Order::ScheduledRenamed`] those of PTX order, else all.
    pub resident_registers: u16,
    /// Predicate registers per thread.
    pub predicate_registers: u16,
    /// Statically allocated shared memory. Unit: bytes for each CTA.
    pub shared_bytes: u64,
    /// Per-thread frame in local memory, spill slots included. Unit: bytes.
    pub local_bytes: u64,
    /// The part of the frame that holds spilled values: its last bytes. Unit: bytes.
    pub spill_bytes: u64,
    /// Instructions of the kernel that are not in the program, ascending.
    pub dropped: Vec<Dropped>,
    /// Facts for the machine, one per instruction.
    pub image: Image,
}

/// Owner of the tables that a [`KernelImage`] borrows.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// One record per instruction.
    pub instructions: Vec<StaticInstruction>,
    /// Register slots.
    pub slots: Vec<RegisterId>,
    /// Registers per thread. Unit: 32-bit registers.
    pub registers: u16,
}

impl Image {
    /// The image as the machine takes it.
    pub fn borrow(&self) -> KernelImage<'_> {
        KernelImage {
            instructions: &self.instructions,
            slots: &self.slots,
            registers: self.registers,
        }
    }
}

impl ControlFlow for Program {
    fn count(&self) -> usize {
        self.instructions.len()
    }

    fn instruction(&self, pc: usize) -> &Instruction {
        &self.instructions[pc].instruction
    }

    fn target(&self, label: LabelId) -> u32 {
        self.targets[label.index()]
    }

    fn table(&self, table: u32) -> impl Iterator<Item = u32> {
        self.branch_tables[table as usize].iter().copied()
    }
}
