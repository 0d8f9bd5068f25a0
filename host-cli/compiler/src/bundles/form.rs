//! Forming bundles: a bundle ends where the next instruction cannot be part of it (rule 42).
//!
//! What a bundle fetches are registers with a value at its start that some lane still reads: one
//! that executes it, or one that waits meanwhile. All others that it touches are written before
//! they are read, in every lane that reads them (DEV-108).

use strata_core::image::Flags;
use strata_core::sm::expansion::bundles::{HomeLine, Prefetch, RegisterSet};
use strata_core::sm::expansion::hardware::LINES;
use strata_core::units::RegisterId;

use super::error::BundleError;
use super::lines::needed;
use crate::bits::ones;
use crate::hierarchy::Code;
use crate::program::Program;

/// The registers of a bundle that is being formed.
#[derive(Clone, Default)]
struct Bundle {
    /// For each line of the operand cache, the register that has it.
    lines: [Option<RegisterId>; LINES as usize],
    /// Results of its long-latency operations, which no line has.
    pending: RegisterSet,
}

impl Bundle {
    /// Takes an instruction in; a register without a line for it, and the one that has it, if there
    /// is none.
    fn take(
        &mut self,
        needed: &[RegisterId],
        results: &[RegisterId],
        long_latency: bool,
    ) -> Result<(), [RegisterId; 2]> {
        for &register in needed {
            let line = &mut self.lines[usize::from(HomeLine::of(register).number())];
            let holder = *line.get_or_insert(register);
            if holder != register {
                return Err([holder, register]);
            }
            if self.pending.contains(register) {
                return Err([register, register]);
            }
        }
        for &register in results {
            if self.pending.contains(register) {
                return Err([register, register]);
            }
            if long_latency {
                self.pending.insert(register);
            }
        }
        Ok(())
    }

    fn touched(&self) -> RegisterSet {
        let mut set = RegisterSet::EMPTY;
        for register in self.lines.iter().flatten() {
            set.insert(*register);
        }
        set
    }
}

/// The bundles of a program, in order.
pub(super) fn form(
    code: &Code<'_>,
    program: &Program,
    first: u16,
) -> Result<Vec<Prefetch>, BundleError> {
    let mut prefetches = Vec::new();
    for number in 0..code.graph.blocks.len() {
        form_block(code, program, first, number, &mut prefetches)?;
    }
    Ok(prefetches)
}

fn form_block(
    code: &Code<'_>,
    program: &Program,
    first: u16,
    number: usize,
    prefetches: &mut Vec<Prefetch>,
) -> Result<(), BundleError> {
    let (start, end) = (code.graph.blocks[number].start, code.graph.blocks[number].end);
    let live = live_in_block(code, number);
    let mut bundle = Bundle::default();
    let mut begin = start;
    let close = |begin: usize, bundle: &Bundle, prefetches: &mut Vec<Prefetch>| {
        let (touched, live) = (bundle.touched(), live[begin - start]);
        let (fetched, allocated) = (touched.and(live), touched.without(live));
        prefetches.push(Prefetch { pc: begin as u32, fetched, allocated });
    };
    for pc in start..end {
        let needed = needed(code, pc, first);
        let long_latency = code.has(pc, Flags::LONG_LATENCY);
        let mut results: Vec<_> =
            code.destinations(pc).iter().copied().filter(|one| one.0 >= first).collect();
        results.sort_unstable();
        results.dedup();
        let apart = code.has(pc, Flags::DESCHEDULE_BEFORE)
            || pc > start && code.has(pc - 1, Flags::BARRIER);
        let mut with = bundle.clone();
        if (!apart || pc == begin) && with.take(&needed, &results, long_latency).is_ok() {
            bundle = with;
            continue;
        }
        if pc != begin {
            close(begin, &bundle, prefetches);
        }
        (begin, bundle) = (pc, Bundle::default());
        bundle.take(&needed, &results, long_latency).map_err(|registers| {
            BundleError::SharedLine { pc, line: program.instructions[pc].line, registers }
        })?;
    }
    close(begin, &bundle, prefetches);
    Ok(())
}

/// For each instruction of a block, the registers that some lane reads whose value is there before
/// the instruction.
fn live_in_block(code: &Code<'_>, number: usize) -> Vec<RegisterSet> {
    let set = |row: &[u64]| {
        let mut set = RegisterSet::EMPTY;
        for register in ones(row) {
            set.insert(RegisterId(register as u16));
        }
        set
    };
    let waiting = code.divergence.waiting[number].iter();
    let of_waiting = waiting
        .fold(RegisterSet::EMPTY, |all, &block| all.or(set(code.live_in.row(block as usize))));
    let mut row = code.live_out(number);
    let (start, end) = (code.graph.blocks[number].start, code.graph.blocks[number].end);
    let mut live = vec![RegisterSet::EMPTY; end - start];
    for pc in (start..end).rev() {
        code.step_back(pc, &mut row);
        live[pc - start] = set(&row).or(of_waiting);
    }
    live
}
