//! Where values that leave registers are stored.
//!
//! A slot is *clean* where it holds the value's latest definition on every path. Storing before
//! every leave at which the slot is not clean is enough: on the way from a definition to a fill the
//! value leaves somewhere. Where the definitions execute less often than those leaves, each
//! definition is followed by a store instead.

use crate::bits::BitMatrix;

use super::residence::{EventKind, Input, Residence};

/// Most blocks, executed while lanes wait at one, that are looked at for the sake of a store.
const MAX_MEANWHILE: usize = 64;

/// The stores.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores {
    /// Pairs (instruction, web): stored before it. Ascending.
    pub(super) before: Vec<(usize, u32)>,
    /// Pairs (instruction, web): its result is stored behind it. Ascending.
    pub(super) behind: Vec<(usize, u32)>,
    /// Pairs (block, web): stored at its end, before a branch that ends it. Ascending.
    pub(super) at_end: Vec<(usize, u32)>,
}

/// What matters to the slots of one block, in order.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Define(usize),
    Fill,
    Leave(usize),
    LeaveAtEnd,
}

pub(super) fn stores(input: &Input<'_>, residence: &Residence) -> Stores {
    let mut column = vec![u32::MAX; input.values.webs.len()];
    let mut webs = Vec::new();
    let blocks = input.graph.blocks.len();
    let events = residence.plans.iter().flat_map(|plan| &plan.events).map(|event| event.web);
    let fills = residence.plans.iter().flat_map(|plan| &plan.fills).copied();
    for web in events.chain(fills) {
        if !input.repeatable[web as usize] && column[web as usize] == u32::MAX {
            column[web as usize] = webs.len() as u32;
            webs.push(web);
        }
    }
    let happenings: Vec<Vec<(u32, Happening)>> =
        (0..blocks).map(|block| happenings(input, residence, &column, block)).collect();
    let clean = clean_at_starts(input, webs.len(), &happenings);
    let mut found = Stores::default();
    let mut costs = vec![(0_u64, 0_u64); webs.len()];
    for choose in [false, true] {
        for (block, happenings) in happenings.iter().enumerate() {
            let mut now = clean.row(block).to_vec();
            let often = input.loops.frequency[block];
            for &(column, what) in happenings {
                let (word, bit) = (column as usize / 64, 1_u64 << (column % 64));
                let known = now[word] & bit != 0;
                let web = webs[column as usize];
                let (at_definitions, at_leaves) = &mut costs[column as usize];
                let behind = choose && *at_definitions < *at_leaves;
                match what {
                    Happening::Define(pc) if behind => found.behind.push((pc, web)),
                    Happening::Leave(pc) if choose && !behind && !known => {
                        found.before.push((pc, web));
                    }
                    Happening::LeaveAtEnd if choose && !behind && !known => {
                        found.at_end.push((block, web));
                    }
                    Happening::Define(_) if !choose => *at_definitions += often,
                    Happening::Leave(_) | Happening::LeaveAtEnd if !choose && !known => {
                        *at_leaves += often;
                    }
                    _ => {}
                }
                match what {
                    Happening::Define(_) => now[word] &= !bit,
                    _ => now[word] |= bit,
                }
            }
        }
    }
    found.before.sort_unstable();
    found.behind.sort_unstable();
    found.at_end.sort_unstable();
    found
}

fn happenings(
    input: &Input<'_>,
    residence: &Residence,
    column: &[u32],
    number: usize,
) -> Vec<(u32, Happening)> {
    let block = &input.graph.blocks[number];
    let plan = &residence.plans[number];
    let mut found = Vec::new();
    let mut add = |web: u32, what| {
        if column[web as usize] != u32::MAX {
            found.push((column[web as usize], what));
        }
    };
    for live in &input.values.live_in[number] {
        if column[live.web as usize] != u32::MAX
            && leaves_at_start(input, residence, number, live.web)
        {
            add(live.web, Happening::Leave(block.start));
        }
    }
    let mut events = plan.events.iter().peekable();
    for pc in block.start..block.end {
        while let Some(event) = events.next_if(|event| event.pc == pc) {
            add(
                event.web,
                match event.kind {
                    EventKind::Fill => Happening::Fill,
                    EventKind::Leave => Happening::Leave(pc),
                },
            );
        }
        for write in &input.steps.of[pc].writes {
            if write.next != super::steps::DEAD {
                add(write.web, Happening::Define(pc));
            }
        }
    }
    for &web in &plan.at_end {
        if column[web as usize] != u32::MAX && leaves_at_end(input, residence, number, web) {
            add(web, Happening::LeaveAtEnd);
        }
    }
    for &web in &plan.fills {
        add(web, Happening::Fill);
    }
    found
}

/// Whether a web that is in its register at the end of a block is live but not resident in one that
/// follows, and does not leave there only.
fn leaves_at_end(input: &Input<'_>, residence: &Residence, block: usize, web: u32) -> bool {
    input.graph.blocks[block].successors.iter().any(|&next| {
        next != input.graph.exit()
            && input
                .values
                .live_in_index(next, web)
                .is_some_and(|index| !residence.at_start[next][index])
            && !leaves_at_start(input, residence, next, web)
    })
}

/// Whether a web that every predecessor has in its register leaves where a block begins, because
/// that executes less often than they do: behind a loop. Lanes that wait there already must find it
/// in its register too, so every block that executes meanwhile has to keep it.
fn leaves_at_start(input: &Input<'_>, residence: &Residence, block: usize, web: u32) -> bool {
    let resident = |index| residence.at_start[block][index];
    if !input.behind_loops || input.values.live_in_index(block, web).is_none_or(resident) {
        return false;
    }
    let keeps = |&other: &usize| {
        let plan = &residence.plans[other];
        let index = input.values.live_in_index(other, web);
        index.is_some_and(|index| residence.at_start[other][index])
            && plan.at_end.binary_search(&web).is_ok()
            && plan.events.iter().all(|event| event.web != web)
    };
    let meanwhile = &residence.waits_for[block];
    let before = &input.graph.blocks[block].predecessors;
    let often: u64 = before.iter().map(|&before| input.loops.frequency[before]).sum();
    input.loops.frequency[block] < often
        && before.iter().all(|&b| residence.plans[b].at_end.binary_search(&web).is_ok())
        && meanwhile.len() <= MAX_MEANWHILE
        && meanwhile.iter().all(keeps)
}

/// Which slots are clean at the start of each block when every leave stores.
fn clean_at_starts(
    input: &Input<'_>,
    columns: usize,
    happenings: &[Vec<(u32, Happening)>],
) -> BitMatrix {
    let blocks = input.graph.blocks.len();
    let mut clean = BitMatrix::new(blocks, columns);
    for block in 0..blocks {
        clean.row_mut(block).fill(u64::MAX);
    }
    let mut queued = vec![true; blocks];
    let mut work: Vec<usize> = input.loops.order.iter().rev().copied().collect();
    while let Some(block) = work.pop() {
        queued[block] = false;
        let mut now = clean.row(block).to_vec();
        for &(column, what) in &happenings[block] {
            let (word, bit) = (column as usize / 64, 1_u64 << (column % 64));
            match what {
                Happening::Define(_) => now[word] &= !bit,
                _ => now[word] |= bit,
            }
        }
        let real = |&&next: &&usize| next != input.graph.exit();
        for &next in input.graph.blocks[block].successors.iter().filter(real) {
            let mut changed = false;
            for (old, new) in clean.row_mut(next).iter_mut().zip(&now) {
                changed |= *old & !new != 0;
                *old &= new;
            }
            if changed && !std::mem::replace(&mut queued[next], true) {
                work.push(next);
            }
        }
    }
    clean
}
