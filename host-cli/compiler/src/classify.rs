//! Which unit an instruction goes to, which memory it touches, and how long its results take.
//!
//! Source: `docs/MODEL.md`, rules 1 and 16. PTX is finer or coarser than machine code in places;
//! decisions:
//! - special functions (`rcp sqrt rsqrt sin cos ex2 lg2 tanh`) and the division of floats of any
//!   width are one instruction of the special function unit;
//! - integer division and remainder are one ALU instruction;
//! - other arithmetic, comparison and conversion with an `f64` type is double precision; `mov`,
//!   `selp`, `copysign` and `testp` of `f64` only move or test bits: ALU;
//! - lane exchanges (`shfl`, `match`, `redux`) go through the crossbar of shared memory: unit
//!   memory, space shared, short latency; `vote`, `activemask` and `elect` are ALU;
//! - matrix products are ALU instructions (no paper has them); matrix loads and stores are memory;
//! - fences and the arriving half of a barrier are control and do not deschedule;
//! - every atomic whose result is read is long, in shared memory too, and so is an arrival at an
//!   mbarrier object; a test of its phase is a load of shared memory (DEV-142).

use strata_core::image::{Flags, MemorySpace, Unit};
use strata_ptx::module::{Instruction, StateSpace};
use strata_ptx::opcode::{BarrierOp, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use crate::operands::definitions;

/// The unit that executes an instruction.
pub(crate) fn unit(instruction: &Instruction) -> Unit {
    use Opcode as O;
    match instruction.opcode {
        O::Bra | O::Brx | O::Call | O::Ret | O::Exit | O::Trap | O::Brkpt | O::Pmevent => {
            Unit::Control
        }
        O::Bar
        | O::Barrier
        | O::Membar
        | O::Fence
        | O::Nanosleep
        | O::Griddepcontrol
        | O::Setmaxnreg => Unit::Control,
        // Committing and waiting, of which copies that are made at once have no need.
        O::CpAsync if memory_space(instruction).is_none() => Unit::Control,
        O::Rcp | O::Sqrt | O::Rsqrt | O::Sin | O::Cos | O::Ex2 | O::Lg2 | O::Tanh => Unit::Sfu,
        O::Div if is_float(instruction) => Unit::Sfu,
        O::Tex | O::Tld4 | O::Txq | O::Suld | O::Suq | O::Sured | O::Sust => Unit::Texture,
        O::Mov | O::Selp | O::Slct | O::Copysign | O::Testp => Unit::Alu,
        _ if memory_space(instruction).is_some() => Unit::Memory,
        O::Prefetch | O::Prefetchu | O::Discard | O::Applypriority => Unit::Memory,
        _ if instruction.types.contains(&ScalarType::F64) => Unit::DoublePrecision,
        _ => Unit::Alu,
    }
}

fn is_float(instruction: &Instruction) -> bool {
    instruction.types.first().is_some_and(|ty| ty.kind() == Kind::Float)
}

/// The memory that a load, store, atomic or lane exchange goes to.
pub(crate) fn memory_space(instruction: &Instruction) -> Option<MemorySpace> {
    use Opcode as O;
    match instruction.opcode {
        O::Ld | O::Ldu | O::St | O::Atom | O::Red => Some(space(instruction.modifiers.space)),
        O::Prefetch | O::Prefetchu | O::Discard | O::Applypriority => {
            Some(space(instruction.modifiers.space))
        }
        O::Ldmatrix | O::Stmatrix | O::Shfl | O::Match | O::Redux => Some(MemorySpace::Shared),
        O::CpAsync if copies(instruction) => Some(MemorySpace::Global),
        O::CpAsync if word(instruction, "mbarrier") => Some(MemorySpace::Shared),
        O::Mbarrier if !word(instruction, "pending_count") => Some(MemorySpace::Shared),
        O::Wmma if word(instruction, "load") || word(instruction, "store") => {
            Some(space(instruction.modifiers.space))
        }
        _ => None,
    }
}

/// Whether a `cp.async` copies; others commit copies, wait for them or arrive for them.
fn copies(instruction: &Instruction) -> bool {
    word(instruction, "ca") || word(instruction, "cg")
}

fn space(space: Option<StateSpace>) -> MemorySpace {
    match space {
        None | Some(StateSpace::Generic | StateSpace::Global) => MemorySpace::Global,
        Some(StateSpace::Local) => MemorySpace::Local,
        Some(StateSpace::Shared) => MemorySpace::Shared,
        Some(StateSpace::Const | StateSpace::Param) => MemorySpace::Constant,
    }
}

fn word(instruction: &Instruction, word: &str) -> bool {
    instruction.modifiers.has(word)
}

/// Whether an `mbarrier` asks whether a phase has ended, and changes nothing.
fn tests_phase(instruction: &Instruction) -> bool {
    word(instruction, "test_wait") || word(instruction, "try_wait")
}

/// Whether an `mbarrier` arrives, and may give the state that it finds.
pub(crate) fn is_arrival(instruction: &Instruction) -> bool {
    instruction.opcode == Opcode::Mbarrier
        && (word(instruction, "arrive") || word(instruction, "arrive_drop"))
}

/// Whether an instruction waits at a CTA barrier: arriving only does not.
pub(crate) fn is_barrier(instruction: &Instruction) -> bool {
    matches!(instruction.opcode, Opcode::Bar | Opcode::Barrier)
        && !instruction.modifiers.warp
        && instruction.modifiers.barrier != Some(BarrierOp::Arrive)
}

/// Whether an instruction arrives at a CTA barrier and does not wait. The threads of a cluster of
/// one CTA arrive where they wait (DEV-143).
fn arrives(instruction: &Instruction) -> bool {
    matches!(instruction.opcode, Opcode::Bar | Opcode::Barrier)
        && instruction.modifiers.barrier == Some(BarrierOp::Arrive)
        && !word(instruction, "cluster")
}

/// Whether the results of an instruction come after a long latency.
pub(crate) fn is_long_latency(instruction: &Instruction) -> bool {
    let mut writes = false;
    definitions(instruction, |_| writes = true);
    if !writes {
        return false;
    }
    match unit(instruction) {
        Unit::Texture => true,
        Unit::Memory => {
            let space = memory_space(instruction);
            instruction.opcode == Opcode::Atom
                || is_arrival(instruction)
                || matches!(space, Some(MemorySpace::Global | MemorySpace::Local))
        }
        _ => false,
    }
}

/// The one-bit facts that need only the instruction itself.
pub(crate) fn flags(instruction: &Instruction) -> Flags {
    use Opcode as O;
    let mut flags = match instruction.opcode {
        O::Bra | O::Brx => Flags::BRANCH,
        O::Ret | O::Exit | O::Trap => Flags::EXIT,
        O::Ld | O::Ldu | O::Ldmatrix | O::Tex | O::Tld4 | O::Suld => Flags::LOAD,
        O::St | O::Stmatrix | O::Sust => Flags::STORE,
        O::CpAsync | O::Mbarrier if memory_space(instruction).is_none() => Flags::empty(),
        O::Mbarrier if tests_phase(instruction) => Flags::LOAD,
        O::Atom | O::Red | O::Sured | O::CpAsync | O::Mbarrier => Flags::LOAD | Flags::STORE,
        O::Wmma if word(instruction, "load") => Flags::LOAD,
        O::Wmma if word(instruction, "store") => Flags::STORE,
        _ => Flags::empty(),
    };
    flags.set(Flags::BARRIER, is_barrier(instruction));
    flags.set(Flags::ARRIVES, arrives(instruction));
    flags.set(Flags::LONG_LATENCY, is_long_latency(instruction));
    flags
}
