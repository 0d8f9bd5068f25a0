//! Instruction scheduling: a kernel's instructions in another order, each within its basic block.
//!
//! [`Order`] says which orders there are; `dependences` what must stay before what, `close` and
//! `list` choose. What comes out is a kernel like any other, which later passes take as it is, so
//! that hints, marks and levels are those of the new order.

mod close;
mod dependences;
mod list;
pub(crate) mod order;

use strata_ptx::module::VirtualRegister;

use crate::allocate::Allocation;
use crate::cfg::Graph;
use crate::kernel::Kernel;
use crate::limits::TooLarge;
use crate::operands::{definitions, uses};
use crate::program::Location;
use crate::values::Values;
pub use order::Order;

/// A kernel in another order.
#[derive(Clone, Debug)]
pub struct Reordered {
    /// It computes what the kernel did; atomics whose result is never read are reductions. Of the
    /// list-scheduled orders, its registers are the values of that.
    pub kernel: Kernel,
    /// For each instruction, its number in the kernel that was reordered.
    pub from: Vec<u32>,
}

/// [`Order::Ptx`].
pub(crate) fn as_it_is(kernel: &Kernel) -> Reordered {
    let from = (0..kernel.instructions.len() as u32).collect();
    Reordered { kernel: kernel.clone(), from }
}

/// [`Order::Close`].
pub(crate) fn close(kernel: &Kernel) -> Result<Reordered, TooLarge> {
    Ok(in_order(kernel.clone(), &close::order(kernel)?))
}

/// Each block ordered by latencies: of what the passes found out about a kernel. `allocation`:
/// where each value is, if it stays there.
pub(crate) fn by_latencies(
    kernel: &Kernel,
    graph: &Graph,
    values: &Values,
    allocation: Option<&Allocation>,
) -> Reordered {
    let in_values = Kernel {
        instructions: values.instructions.clone(),
        registers: values.webs.clone(),
        ..kernel.clone()
    };
    let places = allocation.map(|allocation| &allocation.locations[..]);
    let order = list::order(&in_values, graph, places);
    in_order(in_values, &order)
}

fn in_order(mut kernel: Kernel, order: &[usize]) -> Reordered {
    kernel.instructions = order.iter().map(|&pc| kernel.instructions[pc].clone()).collect();
    kernel.lines = order.iter().map(|&pc| kernel.lines[pc]).collect();
    Reordered { kernel, from: order.iter().map(|&pc| pc as u32).collect() }
}

/// The places of a reordered kernel's values: where its registers, the values of the kernel before,
/// were.
pub(crate) fn same_places(kernel: &Kernel, values: &Values, before: &Allocation) -> Allocation {
    let mut locations = vec![Location::Unused; values.webs.len()];
    for (old, new) in kernel.instructions.iter().zip(&values.instructions) {
        let named = |instruction| {
            let mut all: Vec<VirtualRegister> = Vec::new();
            definitions(instruction, |register| all.push(register));
            uses(instruction, |register| all.push(register));
            all
        };
        for (old, new) in named(old).into_iter().zip(named(new)) {
            locations[new.index()] = before.locations[old.index()];
        }
    }
    Allocation { locations, ..before.clone() }
}
