//! What the oracle of `[DISS]` 6.6.1 is assumed to be told, where it is not printed: how time goes
//! on, and how long an execution of a strand holds its entries (DEV-079).

use strata_core::sm::config::{Scheduler, ShortWaits, SmSettings, Timing, WarpReplacement};
use strata_core::sm::operand_delivery::OperandDelivery;

/// How time goes on while strands hold entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time goes on as in the SM of the design.
    Sm,
    /// An instruction in each cycle and no wait for any result, as in an emulator that only
    /// executes; the active warps issue in turn.
    InTurn,
    /// An instruction in each cycle and no wait for any result; a warp goes on until it is
    /// descheduled.
    OneByOne,
}

/// How long an execution of a strand holds the entries that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// All from its first issue to its last.
    Strand,
    /// Each from the issue of the instruction that writes it first to that of the one that reads it
    /// last. An entry is the same whatever their number: it is held for what any of the programs
    /// with this many entries has in it.
    Entry,
}

/// Every clock, the SM's own first.
pub const CLOCKS: [Clock; 3] = [Clock::Sm, Clock::InTurn, Clock::OneByOne];
/// Every way to hold entries, the longest first.
pub(super) const HOLDS: [Hold; 2] = [Hold::Strand, Hold::Entry];

impl Clock {
    /// The design's SM by this clock. What its warps wait for in the active set is gone: every
    /// latency is one cycle, units and memories take all in one, and operands never wait for
    /// banks. Only writes keep their ports, so that a wide result may delay its reader. Where warps
    /// leave the active set follows from marks and barriers, as ever.
    pub(super) fn settings(self, sm: SmSettings) -> SmSettings {
        let scheduler = match self {
            Self::Sm => return sm,
            Self::InTurn => Scheduler::LooseRoundRobin,
            Self::OneByOne => Scheduler::Greedy,
        };
        SmSettings {
            operand_delivery: OperandDelivery::FOUR_BANKS,
            scheduler,
            replacement: WarpReplacement::Preemptive,
            short_waits: ShortWaits::empty(),
            issue_slots: 1,
            timing: UNSTALLED,
            ..sm
        }
    }

    /// What tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Sm => "SM",
            Self::InTurn => "no stalls, warps in turn",
            Self::OneByOne => "no stalls, one warp after another",
        }
    }
}

impl Hold {
    /// What tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Strand => "first to last issue of the strand",
            Self::Entry => "first write to last read of each entry",
        }
    }
}

const UNSTALLED: Timing = Timing {
    alu_latency: 1,
    branch_latency: 1,
    tag_check_cycles: 0,
    double_latency: 1,
    double_lanes: 32,
    special_function_latency: 1,
    special_function_lanes: 32,
    texture_latency: 1,
    texture_lanes: 32,
    shared_latency: 1,
    shared_bytes_per_cycle: u32::MAX,
    constant_latency: 1,
    dram_latency: 1,
    dram_bytes_per_cycle: u32::MAX,
    hit_latency: 1,
    barrier_latency: 1,
    operand_window: 8,
};
