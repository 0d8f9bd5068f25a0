//! Counters of registers in scratchpad memory: prefetches, the operand cache, and what waits.
//!
//! Source: `[EXPARS]` 3.3.4 to 3.3.6; `docs/MODEL.md`, rules 44 to 46.

macro_rules! expansion_events {
    ($($(#[doc = $doc:literal])+ $variant:ident, $name:ident, $unit:literal;)+) => {
        /// Something that is counted of registers in scratchpad memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ExpansionEvent {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ExpansionEvent {
            /// Every event, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)+ }
            }

            /// Unit of the count.
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)+ }
            }

            /// What it means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii_start(),)+ }
            }
        }
    };
}

expansion_events! {
    /// PREF pseudo-instructions that issued, of all warps.
    Prefetch, prefetches_issued, "pseudo-instructions";
    /// Bundles that were given lines of the operand cache.
    Bundle, bundles, "bundles";
    /// Registers that were fetched from scratchpad memory into the operand cache.
    Fetch, registers_fetched, "warp register accesses";
    /// Registers of bundles that the operand cache still had.
    Held, registers_held, "registers";
    /// Registers that were written from the operand cache to scratchpad memory because others
    /// needed their lines.
    DirtyEviction, dirty_evictions, "warp register accesses";
    /// Registers that lost their lines to others and did not need to be written.
    CleanEviction, clean_evictions, "registers";
    /// Registers that would have had to be written, but whose warp had ended.
    DeadEviction, dead_evictions, "registers";
    /// Registers that were written from the operand cache to scratchpad memory because a
    /// long-latency result goes there.
    BypassWriteback, bypass_writebacks, "warp register accesses";
    /// Long-latency results that were written to scratchpad memory when they arrived.
    ScratchpadResult, scratchpad_results, "warp register accesses";
    /// Operand reads of the operand cache for the private datapath.
    OperandCacheReadPrivate, operand_cache_reads_private, "warp register accesses";
    /// Operand reads of the operand cache for the shared datapath.
    OperandCacheReadShared, operand_cache_reads_shared, "warp register accesses";
    /// Results that were written to the operand cache.
    OperandCacheWrite, operand_cache_writes, "warp register accesses";
    /// Cycles in which the first warp of the prefetching queue waited for lines that other bundles
    /// keep.
    LineWait, line_wait_cycles, "cycles";
    /// Cycles in which registers waited to move because the program, or a result, took scratchpad
    /// memory.
    PortWait, scratchpad_wait_cycles, "cycles";
    /// Active warps that the lazy two-level scheduler allows once the first warp has ended, summed
    /// over kernels.
    OptimalWarps, optimal_active_warps, "warps";
}

/// Totals of a run; 0 of an SM that does not expand its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpansionCounters([u64; ExpansionEvent::ALL.len()]);

impl Default for ExpansionCounters {
    fn default() -> Self {
        Self([0; ExpansionEvent::ALL.len()])
    }
}

impl ExpansionCounters {
    /// The total of one event.
    pub const fn get(&self, event: ExpansionEvent) -> u64 {
        self.0[event as usize]
    }

    /// Every number with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        ExpansionEvent::ALL.iter().map(|&event| (event.name(), self.get(event)))
    }

    /// The totals of two runs one after the other, if they fit 64 bits.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let mut sum = *self;
        for (mine, theirs) in sum.0.iter_mut().zip(other.0) {
            *mine = mine.checked_add(theirs)?;
        }
        Some(sum)
    }

    #[inline]
    pub(in crate::sm) fn record(&mut self, event: ExpansionEvent, times: u64) {
        self.0[event as usize] += times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_totals_add_up() {
        for (index, event) in ExpansionEvent::ALL.iter().enumerate() {
            let before = &ExpansionEvent::ALL[..index];
            assert!(before.iter().all(|other| other.name() != event.name()), "{}", event.name());
            assert!(event.meaning().ends_with('.') && !event.unit().is_empty(), "{}", event.name());
        }
        let mut one = ExpansionCounters::default();
        one.record(ExpansionEvent::Fetch, 3);
        let two = one.checked_add(&one).expect("6 fits");
        assert_eq!(two.get(ExpansionEvent::Fetch), 6);
        assert_eq!(two.iter().map(|(_, count)| count).sum::<u64>(), 6);
        one.record(ExpansionEvent::Held, u64::MAX);
        assert_eq!(one.checked_add(&one), None);
    }
}
