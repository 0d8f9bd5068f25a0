//! Which instructions of a block must stay before which.
//!
//! What depends on each other through a register, a predicate or the carry flag keeps its order, as
//! do memory accesses, lane exchanges and whatever else acts beyond the registers of its lane.

use std::collections::HashMap;

use strata_core::image::Unit;
use strata_ptx::module::{
    AddressBase, Instruction, Operand, SpecialRegister, StateSpace, Symbol, VirtualRegister,
};
use strata_ptx::opcode::Opcode;

use crate::classify;
use crate::flow::{Flow, flow};
use crate::kernel::Kernel;
use crate::operands::{definitions, uses};
use crate::program::Location;

/// Something that orders the instructions that name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Resource {
    /// A virtual or a 32-bit physical register.
    Register(u32),
    /// A physical predicate register.
    Predicate(u16),
    /// The carry flag.
    Carry,
    /// Memory, other lanes, clocks: everything beyond the lane's own registers.
    Outside,
}

/// Why an instruction stays behind another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// It reads what the other one writes.
    Data,
    /// It writes what the other one writes, or both change the carry flag.
    Output,
    /// It writes what the other one reads, or both act beyond their registers.
    Order,
}

/// The dependences of a piece of a block.
pub(super) struct Dependences {
    /// For each instruction, those that stay behind it. May repeat.
    pub(super) after: Vec<Vec<(usize, Edge)>>,
    /// How many entries of `after` name it.
    pub(super) before: Vec<u32>,
}

/// The last instructions that named a resource.
#[derive(Default)]
struct Named {
    change: Option<usize>,
    reads: Vec<usize>,
}

impl Dependences {
    /// Of the instructions of a kernel whose numbers are `piece`. `places`: where each register is,
    /// if that counts; otherwise registers are virtual.
    pub(super) fn new(kernel: &Kernel, piece: &[usize], places: Option<&[Location]>) -> Self {
        let mut graph = Self { after: vec![Vec::new(); piece.len()], before: vec![0; piece.len()] };
        let mut named: HashMap<Resource, Named> = HashMap::new();
        for (index, &pc) in piece.iter().enumerate() {
            resources(kernel, pc, places, |resource, changes| {
                let last = named.entry(resource).or_default();
                if !changes {
                    last.change.into_iter().for_each(|from| graph.add(from, index, Edge::Data));
                    last.reads.push(index);
                    return;
                }
                for from in last.reads.drain(..) {
                    graph.add(from, index, Edge::Order);
                }
                let edge = if resource == Resource::Outside { Edge::Order } else { Edge::Output };
                last.change.into_iter().for_each(|from| graph.add(from, index, edge));
                last.change = Some(index);
            });
        }
        graph
    }

    fn add(&mut self, from: usize, to: usize, edge: Edge) {
        if from != to {
            self.after[from].push((to, edge));
            self.before[to] += 1;
        }
    }
}

/// Calls `visit` with each resource that an instruction names, and whether it changes it.
fn resources(
    kernel: &Kernel,
    pc: usize,
    places: Option<&[Location]>,
    mut visit: impl FnMut(Resource, bool),
) {
    let instruction = &kernel.instructions[pc];
    uses(instruction, |register| named(register, places, |resource| visit(resource, false)));
    definitions(instruction, |register| named(register, places, |resource| visit(resource, true)));
    let takes_carry = matches!(instruction.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    if takes_carry || instruction.modifiers.carry_out {
        visit(Resource::Carry, true);
    }
    if acts_outside(instruction, kernel.parameters) {
        visit(Resource::Outside, true);
    }
}

/// What a register stands for.
fn named(register: VirtualRegister, places: Option<&[Location]>, mut visit: impl FnMut(Resource)) {
    match places.map(|places| places[register.index()]) {
        None => visit(Resource::Register(register.0)),
        Some(Location::General { first, count }) => {
            for number in 0..u32::from(count) {
                visit(Resource::Register(u32::from(first) + number));
            }
        }
        Some(Location::Predicate(number)) => visit(Resource::Predicate(number)),
        Some(Location::Unused) => {}
    }
}

fn acts_outside(instruction: &Instruction, parameters: u32) -> bool {
    use Opcode as O;
    let alone = match instruction.opcode {
        O::Activemask
        | O::Bar
        | O::Barrier
        | O::Brkpt
        | O::Call
        | O::CpAsync
        | O::Elect
        | O::Fence
        | O::Griddepcontrol
        | O::Match
        | O::Mbarrier
        | O::Membar
        | O::Mma
        | O::Movmatrix
        | O::Nanosleep
        | O::Pmevent
        | O::Redux
        | O::Setmaxnreg
        | O::Shfl
        | O::Vote
        | O::Wmma => true,
        _ => flow(instruction) != Flow::Next,
    };
    let clock = |operand: &Operand| {
        matches!(
            operand,
            Operand::Special(
                SpecialRegister::Clock
                    | SpecialRegister::ClockHi
                    | SpecialRegister::Clock64
                    | SpecialRegister::Globaltimer
                    | SpecialRegister::GlobaltimerLo
                    | SpecialRegister::GlobaltimerHi
                    | SpecialRegister::Pm(_)
                    | SpecialRegister::PmWide(_)
            )
        )
    };
    alone || reaches_memory(instruction, parameters) || instruction.sources.iter().any(clock)
}

/// Whether an instruction goes to memory that something may write: all but constants, and the
/// kernel's own parameters where they are named. Other parameters are those of inlined calls.
fn reaches_memory(instruction: &Instruction, parameters: u32) -> bool {
    let own_parameter = || match instruction.sources.first() {
        Some(&Operand::Address { base: AddressBase::Symbol(Symbol::Local(variable)), .. }) => {
            variable.0 < parameters
        }
        _ => false,
    };
    let constant = match instruction.modifiers.space {
        Some(StateSpace::Const) => true,
        Some(StateSpace::Param) => own_parameter(),
        _ => false,
    };
    let moves = matches!(classify::unit(instruction), Unit::Memory | Unit::Texture);
    moves && !(instruction.opcode == Opcode::Ld && constant)
}
