//! Decoding of `mbarrier` and of `cp.async.mbarrier.arrive`.

use strata_core::sm::memory::cached::LineUse;
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use super::one::{Decoded, One};
use crate::access::OBJECT_BYTES;
use crate::mbarrier::{Arrival, Operation, pending_count};
use crate::micro::{Access, Action, Args, Component, MAX_COMPONENTS, Mbarrier};
use crate::row::{Lanes, map1};

impl One<'_, '_> {
    /// One of the two.
    pub(super) fn mbarrier(&mut self) -> Decoded {
        let instruction = self.instruction;
        let has = |word: &str| instruction.modifiers.has(word);
        if has("pending_count") {
            let args = Args {
                d: self.result(0, ScalarType::U32)?,
                a: self.value(0, ScalarType::B64)?,
                ..Args::default()
            };
            return Ok((Action::Compute(count_pending), args));
        }
        let drops = has("arrive_drop");
        let parity = has("parity");
        let operation = if instruction.opcode == Opcode::CpAsync {
            Operation::AfterCopies { counted: has("noinc") }
        } else if has("init") {
            Operation::Initialise
        } else if has("inval") {
            Operation::Invalidate
        } else if has("test_wait") || has("try_wait") {
            Operation::Test { parity }
        } else if has("complete_tx") {
            Operation::Complete
        } else if has("expect_tx") && (has("arrive") || drops) {
            Operation::ExpectAndArrive { drops }
        } else if has("arrive") || drops {
            Operation::Arrive(Arrival { drops, keeps_phase: has("noComplete") })
        } else {
            Operation::Expect
        };
        let tests = matches!(operation, Operation::Test { .. });
        let ty = if tests && !parity { ScalarType::B64 } else { ScalarType::U32 };
        let operand = match instruction.sources.len() {
            // One thread arrives unless the instruction says otherwise.
            1 => self.constant(1, ty),
            _ => self.value(1, ty)?,
        };
        let result = match instruction.destinations.first() {
            None => None,
            Some(_) if tests => Some(self.predicate_result(0)?),
            Some(_) => Some(self.result(0, ScalarType::B64)?),
        };
        let (space, address) = self.address(instruction.modifiers.space)?;
        let line_use = if tests { LineUse::Load } else { LineUse::Atomic };
        let access = Access {
            space,
            address,
            size: OBJECT_BYTES,
            count: 1,
            signed: false,
            components: [Component::default(); MAX_COMPONENTS],
            line_use,
            atomic: None,
        };
        let index = self.decoder.mbarriers.len() as u32;
        self.decoder.mbarriers.push(Mbarrier { operation, access, operand, result });
        Ok((Action::Mbarrier(index), Args::default()))
    }
}

/// `mbarrier.pending_count`.
fn count_pending(lanes: &mut Lanes, args: &Args, mask: u32) {
    map1(lanes, mask, args.d, args.a, pending_count);
}
