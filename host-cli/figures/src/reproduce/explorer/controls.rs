//! Controls: what a reader chooses on, each choice as the text that a design's name gets by it.

use strata_explorer::Axis;

/// How a control looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A list.
    List,
    /// A slider along numbers.
    Slider,
}

/// A control.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The end of its HTML identifier.
    pub id: &'static str,
    /// Its label.
    pub label: &'static str,
    /// How it looks.
    pub kind: Kind,
    /// The choice at first.
    pub first: usize,
    /// Bit `n`: it matters with choice `n` of [`LEVELS`].
    pub applies: u32,
    /// Each choice: what the reader sees, and what a design's text gets.
    pub choices: &'static [(&'static str, &'static str)],
}

impl Control {
    /// The control as an axis of the catalogue.
    pub fn axis(&self) -> Axis {
        let texts = self.choices.iter().map(|(_, text)| (*text).to_owned()).collect();
        Axis { texts, applies: self.applies }
    }
}

/// The place of the control that chooses the levels.
pub const LEVELS: usize = 1;

const EVERY: u32 = 0b11_1111;
const NOT_FLAT: u32 = 0b11_1110;
const CACHED: u32 = 0b00_0110;

/// The controls, in the order in which their texts follow each other. What the text of a choice
/// leaves out is what design files leave out.
pub const CONTROLS: [Control; 9] = [
    Control {
        id: "machine",
        label: "Machine and technology",
        kind: Kind::List,
        first: 1,
        applies: EVERY,
        choices: &[
            ("ISCA\u{2019}11: SRAM, 40 nm", "isca11"),
            ("Dissertation: SRAM, 40 nm", "dissertation"),
            ("WarRF: SRAM, 22 nm", "warrf-gtx480"),
            ("WarRF: STT-RAM, 22 nm", "sttram"),
        ],
    },
    Control {
        id: "levels",
        label: "Levels above the main register file",
        kind: Kind::List,
        first: 1,
        applies: EVERY,
        choices: &[
            ("none: flat", ""),
            ("RFC, by hardware", ",cache.entries="),
            ("RFC behind an LRF, by hardware", ",last_result_file=true,cache.entries="),
            ("ORF, by the compiler", ",orf.lrf=none,orf.entries="),
            ("ORF, unified LRF, by the compiler", ",orf.lrf=unified,orf.entries="),
            ("ORF, split LRF, by the compiler", ",orf.lrf=split,orf.entries="),
        ],
    },
    Control {
        id: "entries",
        label: "Entries of a thread in the RFC or ORF",
        kind: Kind::Slider,
        first: 5,
        applies: NOT_FLAT,
        choices: &[
            ("1", "1"),
            ("2", "2"),
            ("3", "3"),
            ("4", "4"),
            ("5", "5"),
            ("6", "6"),
            ("7", "7"),
            ("8", "8"),
        ],
    },
    Control {
        id: "replacement",
        label: "Replacement",
        kind: Kind::List,
        first: 0,
        applies: CACHED,
        choices: &[("first in, first out", ""), ("least recently used", ",cache.replacement=lru")],
    },
    Control {
        id: "allocation",
        label: "Allocation",
        kind: Kind::List,
        first: 0,
        applies: CACHED,
        choices: &[
            ("results", ""),
            ("results, and operands that miss", ",cache.allocation=writes-and-reads"),
        ],
    },
    Control {
        id: "liveness",
        label: "Liveness",
        kind: Kind::List,
        first: 0,
        applies: CACHED,
        choices: &[
            ("last reads free entries", ""),
            ("none", ",cache.liveness=false"),
            (
                "and in bypass and eviction",
                ",cache.liveness_aware_bypass=true,cache.liveness_aware_eviction=true",
            ),
        ],
    },
    Control {
        id: "flush",
        label: "Flush at taken backward branches",
        kind: Kind::List,
        first: 0,
        applies: CACHED,
        choices: &[("no", ""), ("yes", ",cache.flush_at_backward_branches=true")],
    },
    Control {
        id: "warps",
        label: "Active warps",
        kind: Kind::Slider,
        first: 3,
        applies: EVERY,
        choices: &[
            ("2", ",scheduling=two-level,active_warps=2"),
            ("4", ",scheduling=two-level,active_warps=4"),
            ("6", ",scheduling=two-level,active_warps=6"),
            ("8", ",scheduling=two-level,active_warps=8"),
            ("12", ",scheduling=two-level,active_warps=12"),
            ("16", ",scheduling=two-level,active_warps=16"),
            ("24", ",scheduling=two-level,active_warps=24"),
            ("all: single-level scheduler", ",scheduling=single-level"),
        ],
    },
    Control {
        id: "missing",
        label: "Energy of sizes that no table prints",
        kind: Kind::List,
        first: 0,
        applies: NOT_FLAT,
        choices: &[("unknown", ""), ("interpolated", ",missing_energy=interpolated")],
    },
];

/// The choices at first.
pub fn first() -> Vec<u8> {
    CONTROLS.iter().map(|control| control.first as u8).collect()
}
