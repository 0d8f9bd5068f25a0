//! Policies: which warp issues, and when a warp of a two-level scheduler leaves the active set.
//!
//! Source: `[RFC2011]` 3.2 and 5.2; `docs/MODEL.md`, rules 22 and 23.

use bitflags::bitflags;

use crate::named;

named! {
    /// Which of the warps that can issue does.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Scheduler {
        /// The last issuer for as long as it can, then the one with the lowest index.
        #[default]
        Greedy = "greedy",
        /// A priority that moves on to the next warp of the active set in every cycle, whether or
        /// not one issued.
        RoundRobin = "round-robin",
        /// The last issuer for as long as it can, then the one launched first.
        GreedyThenOldest = "greedy-then-oldest",
        /// The next one after the last issuer.
        LooseRoundRobin = "loose-round-robin",
    }

    /// Which warps an issue slot chooses among.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Schedulers {
        /// All: one scheduler for both slots.
        #[default]
        Shared = "shared",
        /// Those of one parity: a scheduler for each slot, slot 0 for the warps with even numbers.
        ByParity = "by-parity",
    }

    /// When a warp of a two-level scheduler leaves the active set to wait for data, without the
    /// rule's parameters: see [`WarpReplacement`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReplacementRule {
        /// Before it reads a pending long-latency result.
        Preemptive = "preemptive",
        /// When it has waited for an operand for a number of cycles.
        Reactive = "reactive",
        /// When an operand missed the caches.
        CacheMiss = "cache-miss",
    }

    /// A shorter wait that can make a warp of a two-level scheduler leave the active set.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ShortWait {
        /// For a result of the special function unit.
        SpecialFunction = "sfu",
        /// For a double-precision result.
        DoublePrecision = "double",
        /// For data from shared memory.
        SharedMemory = "shared-memory",
    }

    /// When a barrier makes a warp of a two-level scheduler leave the active set.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum BarrierRule {
        /// Always, so that counts do not depend on time.
        #[default]
        Always = "always",
        /// Unless its arrival completes the barrier.
        WhenBlocking = "when-blocking",
        /// Never. A CTA with more warps than the active set holds then never completes a barrier.
        Never = "never",
    }
}

impl Schedulers {
    /// The warps that a slot chooses among, by their numbers.
    #[inline]
    pub(super) const fn warps(self, slot: usize) -> u64 {
        const EVEN: u64 = u64::MAX / 3;
        match self {
            Self::Shared => u64::MAX,
            Self::ByParity if slot == 0 => EVEN,
            Self::ByParity => !EVEN,
        }
    }
}

/// When a warp of a two-level scheduler leaves the active set to wait for data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WarpReplacement {
    /// Before it reads a pending long-latency result, at the compiler's mark, whether or not the
    /// data has arrived.
    #[default]
    Preemptive,
    /// When it has waited for an operand for this many cycles and waits still.
    Reactive {
        /// Cycles. Range: from 1.
        threshold: u16,
    },
    /// When the caches have been asked for all that it loaded so far, and an operand missed and is
    /// not there yet (DEV-016). Textures have no accesses in a trace and always miss.
    CacheMiss,
}

impl WarpReplacement {
    /// The rule without its parameters, which has a name.
    pub const fn rule(self) -> ReplacementRule {
        match self {
            Self::Preemptive => ReplacementRule::Preemptive,
            Self::Reactive { .. } => ReplacementRule::Reactive,
            Self::CacheMiss => ReplacementRule::CacheMiss,
        }
    }
}

bitflags! {
    /// Shorter waits that make a warp of a two-level scheduler leave the active set as well: as
    /// soon as its next instruction would wait for such a result.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ShortWaits: u8 {
        /// [`ShortWait::SpecialFunction`].
        const SPECIAL_FUNCTION = 1 << ShortWait::SpecialFunction as u8;
        /// [`ShortWait::DoublePrecision`].
        const DOUBLE_PRECISION = 1 << ShortWait::DoublePrecision as u8;
        /// [`ShortWait::SharedMemory`].
        const SHARED_MEMORY = 1 << ShortWait::SharedMemory as u8;
    }
}

impl From<ShortWait> for ShortWaits {
    fn from(wait: ShortWait) -> Self {
        Self::from_bits_truncate(1 << wait as u8)
    }
}

impl ShortWaits {
    /// Each wait of the set.
    pub fn each(self) -> impl Iterator<Item = ShortWait> {
        ShortWait::ALL.into_iter().filter(move |&wait| self.contains(wait.into()))
    }
}

impl FromIterator<ShortWait> for ShortWaits {
    fn from_iter<I: IntoIterator<Item = ShortWait>>(waits: I) -> Self {
        waits.into_iter().fold(Self::empty(), |all, wait| all | wait.into())
    }
}
