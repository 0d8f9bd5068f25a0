//! Energy of registers in scratchpad memory: counts times a table.
//!
//! Models: banks of the operand cache and of scratchpad memory, 128 bits at a time, for operands,
//! results and moves of these registers.
//! Does not model: wires, tags, the prefetcher's queues, leakage.
//! Source: no energies are printed (`docs/DEVIATIONS.md`, DEV-115); `docs/MODEL.md`, rule 47.

use super::counters::{ExpansionCounters, ExpansionEvent};
use crate::energy::{BankEnergy, EnergyBreakdown, EnergyError};
use crate::units::{CLUSTERS, Femtojoules};

/// What accesses of 128 bits cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionEnergyTable {
    /// The operand cache.
    pub operand_cache: BankEnergy,
    /// Scratchpad memory.
    pub scratchpad: BankEnergy,
}

impl ExpansionEnergyTable {
    /// Adds what registers in scratchpad memory have spent. Each access is that of a whole warp.
    ///
    /// # Errors
    /// [`EnergyError::Overflow`] if the total does not fit.
    pub fn add(
        &self,
        energy: EnergyBreakdown,
        counters: &ExpansionCounters,
    ) -> Result<EnergyBreakdown, EnergyError> {
        use ExpansionEvent::{
            BypassWriteback, DirtyEviction, Fetch, OperandCacheReadPrivate, OperandCacheReadShared,
            OperandCacheWrite, ScratchpadResult,
        };
        let spent = |bank: BankEnergy, reads: &[ExpansionEvent], writes: &[ExpansionEvent]| {
            let all = |events: &[ExpansionEvent]| -> i128 {
                events.iter().map(|&event| i128::from(counters.get(event))).sum()
            };
            let of = |events, each: Femtojoules| {
                (all(events) * i128::from(CLUSTERS)).checked_mul(i128::from(each.0))
            };
            let sum = of(reads, bank.read)?.checked_add(of(writes, bank.write)?)?;
            u64::try_from(sum).ok().map(Femtojoules)
        };
        let reads =
            [OperandCacheReadPrivate, OperandCacheReadShared, DirtyEviction, BypassWriteback];
        let cache = spent(self.operand_cache, &reads, &[OperandCacheWrite, Fetch]);
        let to_scratchpad = [DirtyEviction, BypassWriteback, ScratchpadResult];
        let scratchpad = spent(self.scratchpad, &[Fetch], &to_scratchpad);
        let (cache, scratchpad) = cache.zip(scratchpad).ok_or(EnergyError::Overflow)?;
        energy.with_expanded(cache, scratchpad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: ExpansionEnergyTable = ExpansionEnergyTable {
        operand_cache: BankEnergy { read: Femtojoules(1_200), write: Femtojoules(3_800) },
        scratchpad: BankEnergy { read: Femtojoules(6_100), write: Femtojoules(7_700) },
    };

    /// Each event on its own: operand cache, scratchpad memory. Unit: femtojoules.
    #[test]
    fn every_event_has_its_price() {
        for &event in ExpansionEvent::ALL {
            let mut counters = ExpansionCounters::default();
            counters.record(event, 3);
            let expected = match event {
                ExpansionEvent::Fetch => [3 * 8 * 3_800, 3 * 8 * 6_100],
                ExpansionEvent::DirtyEviction | ExpansionEvent::BypassWriteback => {
                    [3 * 8 * 1_200, 3 * 8 * 7_700]
                }
                ExpansionEvent::ScratchpadResult => [0, 3 * 8 * 7_700],
                ExpansionEvent::OperandCacheReadPrivate
                | ExpansionEvent::OperandCacheReadShared => [3 * 8 * 1_200, 0],
                ExpansionEvent::OperandCacheWrite => [3 * 8 * 3_800, 0],
                ExpansionEvent::Prefetch
                | ExpansionEvent::Bundle
                | ExpansionEvent::Held
                | ExpansionEvent::CleanEviction
                | ExpansionEvent::DeadEviction
                | ExpansionEvent::LineWait
                | ExpansionEvent::PortWait
                | ExpansionEvent::OptimalWarps => [0, 0],
            };
            let energy = TABLE.add(EnergyBreakdown::default(), &counters).expect("it fits");
            let total = energy.total();
            let expected = expected.map(Femtojoules);
            let [cache, scratchpad] = expected;
            let same = EnergyBreakdown::default().with_expanded(cache, scratchpad);
            assert_eq!(Ok(energy), same, "{}", event.name());
            assert_eq!(total.0, cache.0 + scratchpad.0);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut counters = ExpansionCounters::default();
        counters.record(ExpansionEvent::Fetch, u64::MAX);
        let all = TABLE.add(EnergyBreakdown::default(), &counters);
        assert_eq!(all, Err(EnergyError::Overflow));
        let half = Femtojoules(u64::MAX / 2 + 1);
        let both = EnergyBreakdown::default().with_expanded(half, half);
        assert_eq!(both, Err(EnergyError::Overflow));
    }
}
