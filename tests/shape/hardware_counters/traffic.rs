//! What the model makes of a workload's memory instructions, under the names of the GPU's counters.

use std::collections::BTreeMap;

use strata_ptx::opcode::Opcode;
use strata_simt::AddressSink;
use strata_simt::moved::{AccessSpace, Addresses, WINDOW_BYTES, Windows, moved_bytes};
use strata_workload::simulate::LaunchSink;
use strata_workload::{LaunchRecord, Options, Prepared};

use super::banks;

/// Sums over the launches of a kernel, by the name of the counter.
pub(super) type Counts = BTreeMap<String, u64>;

/// What a GPU fetches of global memory at once. Unit: bytes.
const SECTOR: u32 = 32;

/// An execution of a memory instruction.
struct Access {
    pc: u32,
    mask: u32,
    addresses: Vec<u64>,
}

/// Counts what kernels do.
#[derive(Default)]
struct Counter {
    running: Vec<Access>,
    kernels: BTreeMap<String, Counts>,
}

impl AddressSink for Counter {
    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
        self.running.push(Access { pc, mask, addresses: addresses.iter().collect() });
    }
}

impl LaunchSink for Counter {
    fn addresses(&mut self) -> Option<&mut dyn AddressSink> {
        Some(self)
    }

    fn launch(&mut self, launch: LaunchRecord<'_>) {
        let counts = self.kernels.entry(launch.kernel.to_owned()).or_default();
        let mut add = |name: String, by: u64| *counts.entry(name).or_default() += by;
        add("launches".to_owned(), 1);
        add("warps".to_owned(), launch.outcome.warps);
        add("instructions".to_owned(), launch.outcome.warp_instructions);
        add("thread_instructions".to_owned(), launch.outcome.thread_instructions);
        for access in self.running.drain(..) {
            count(&launch, &access, &mut add);
        }
    }
}

fn count(launch: &LaunchRecord<'_>, access: &Access, add: &mut impl FnMut(String, u64)) {
    let shape = launch.executable.access_shape(access.pc).expect("it accesses memory");
    let opcode = launch.program.instructions[access.pc as usize].instruction.opcode;
    let windows = launch.executable.windows();
    for space in [AccessSpace::Global, AccessSpace::Local, AccessSpace::Shared] {
        let lanes = (0..32).filter(|lane| access.mask >> lane & 1 == 1);
        let lies_here = |&(_, address): &(u32, u64)| match shape.space {
            AccessSpace::Generic => space_of(&windows, address) == space,
            known => known == space,
        };
        let here: Vec<(u32, u64)> =
            lanes.zip(access.addresses.iter().copied()).filter(lies_here).collect();
        if here.is_empty() {
            continue;
        }
        if space == AccessSpace::Shared {
            // Machine code has one instruction for both.
            let does = if opcode == Opcode::Red { "atom" } else { name_of(opcode) };
            let in_parts = banks::cycles_in_parts(opcode == Opcode::Ld, shape.bytes, &here);
            add(format!("shared_{does}_accesses"), 1);
            add(format!("shared_{does}_wavefronts"), banks::cycles(shape.bytes, &here));
            add(format!("shared_{does}_wavefronts_in_parts"), in_parts);
            continue;
        }
        let name = if space == AccessSpace::Global { "global" } else { "local" };
        let (lanes, each): (Vec<u32>, Vec<u64>) = here.into_iter().unzip();
        let mask = lanes.iter().fold(0, |mask, lane| mask | 1 << lane);
        let moved = moved_bytes(&windows, shape, mask, Addresses::Each(&each));
        add(format!("{name}_{}_requests", name_of(opcode)), 1);
        add(format!("{name}_{}_sectors", name_of(opcode)), u64::from(moved / SECTOR));
    }
}

fn name_of(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::Ld | Opcode::Ldu => "ld",
        Opcode::St => "st",
        Opcode::Red => "red",
        Opcode::Atom => "atom",
        other => panic!("the comparison has no counter for {other:?}"),
    }
}

/// The memory that a generic address lies in.
fn space_of(windows: &Windows, address: u64) -> AccessSpace {
    let within = |start: u64| start != 0 && address.wrapping_sub(start) < WINDOW_BYTES;
    if within(windows.shared) {
        AccessSpace::Shared
    } else if within(windows.local) {
        AccessSpace::Local
    } else {
        AccessSpace::Global
    }
}

/// The counts of a workload's kernels, and the final contents of its buffers.
pub(super) fn traffic(prepared: &Prepared) -> (BTreeMap<String, Counts>, Vec<Vec<u8>>) {
    let mut counter = Counter::default();
    let finals = prepared.execute_into(&Options::default(), &mut counter).expect("it runs");
    (counter.kernels, finals)
}
