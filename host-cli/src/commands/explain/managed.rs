//! Operands of compiler-managed levels: where each is, why, and what it costs.

use strata_compiler::explain::{Slot, Why};
use strata_compiler::hierarchy::{Decision, Hierarchy, HierarchyConfig, Origin, Outcome, Start};
use strata_compiler::listing::entry_name;
use strata_core::count::CLUSTERS;
use strata_core::placement::{Placement, Upper};
use strata_core::units::Femtojoules;

use super::page::{Page, picojoules, row};

/// A program fitted to a design's levels.
pub(super) struct Fit {
    pub(super) hierarchy: Hierarchy,
    /// For each slot, the decision on its value.
    pub(super) decisions: Vec<Option<u32>>,
    pub(super) config: HierarchyConfig,
}

const fn level_name(upper: Upper) -> &'static str {
    match upper {
        Upper::Orf(_) => "ORF",
        Upper::Lrf(_) => "LRF",
    }
}

fn entry(page: &Page<'_>, upper: Upper, access: &str, shared: bool) -> String {
    page.priced(level_name(upper), access, shared).replace(level_name(upper), &entry_name(upper))
}

/// `once`, `3 times`.
fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

impl Fit {
    /// The strand of an instruction, and what bounds it.
    pub(super) fn strand(&self, page: &Page<'_>, text: &mut String, pc: usize) {
        let strands = &self.hierarchy.strands;
        let strand = strands.of[pc];
        let reason = |pc: usize| strands.starts[pc].map_or("", Start::reason);
        let first = strands.of.iter().position(|&of| of == strand).unwrap_or(pc);
        let value = format!("{strand}, starts at {}: {}", page.place(first), reason(first));
        row(text, "strand", &value);
        for end in page.explainer.strand_ends(strands, strand) {
            let end = end as usize;
            row(text, "", &format!("ends before {}: {}", page.place(end), reason(end)));
        }
    }

    fn placement(&self, slot: &Slot) -> Placement {
        self.hierarchy.placements[slot.slot]
    }

    /// The level of a slot, and why.
    pub(super) fn level(&self, page: &Page<'_>, text: &mut String, pc: usize, slot: &Slot) {
        let shared = page.record(pc).unit.is_shared_datapath();
        let main = |access| page.priced("MRF", access, shared);
        let entry = |upper, access| entry(page, upper, access, shared);
        let what = match (self.placement(slot), slot.result) {
            (Placement { main: false, upper: Some(upper) }, false) => {
                format!("from {} instead of the {}", entry(upper, "read"), main("read"))
            }
            (Placement { main: true, upper: Some(upper) }, false) => {
                let left = entry(upper, "write");
                format!("from the {}, and left in {left} for later reads", main("read"))
            }
            (Placement { upper: None, .. }, false) => format!("from the {}", main("read")),
            (Placement { main: false, upper: Some(upper) }, true) => {
                format!("to {} instead of the {}", entry(upper, "write"), main("write"))
            }
            (Placement { main: true, upper: Some(upper) }, true) => {
                format!("to {} and the {}", entry(upper, "write"), main("write"))
            }
            (Placement { upper: None, .. }, true) => format!("to the {}", main("write")),
        };
        row(text, "", &what);
        let why = page.explainer.why(pc, slot, &self.hierarchy, &self.decisions);
        match why {
            Why::Decision(index) => self.decision(page, text, slot, index as usize),
            other => row(text, "", &self.never_kept(page, pc, &other)),
        }
    }

    /// Why a slot belongs to no value that could be kept.
    fn never_kept(&self, page: &Page<'_>, pc: usize, why: &Why) -> String {
        match why {
            Why::Decision(_) => String::new(),
            Why::LongLatency(from) => {
                let itself = **from == [pc as u32];
                let at = if itself || from.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", page.places(from))
                };
                format!("because results of long-latency operations are never kept{at}")
            }
            Why::Older => {
                let why = if self.config.read_operands {
                    "no other read in the strand is sure to follow its first one"
                } else {
                    "the design keeps nothing that a strand only reads"
                };
                format!("because it was written before the strand started, and {why}")
            }
            Why::Mixed(within) => format!(
                "because on some path it was written before the strand started, on others at {}",
                page.places(within)
            ),
        }
    }

    /// What became of a value.
    fn decision(&self, page: &Page<'_>, text: &mut String, slot: &Slot, index: usize) {
        let decision = &self.hierarchy.decisions[index];
        let verb = match decision.origin {
            Origin::Written => "written",
            Origin::Read => "first read",
        };
        let value = format!(
            "its value, {verb} at {}, could serve reads {} over {} issue slots",
            page.place(decision.pc as usize),
            times(decision.reads),
            decision.occupied
        );
        row(text, "", &value);
        match decision.outcome {
            Outcome::Kept { upper, reads, savings } => {
                self.kept(text, slot, decision, (upper, reads, savings));
            }
            Outcome::Unprofitable => {
                row(text, "", "not kept, because that would cost more energy than it saves");
            }
            Outcome::NoEntry => {
                row(text, "", "not kept, because no entry is free for it, or can be named:");
                let taken = self.meanwhile(decision);
                for other in &taken {
                    row(text, "", &rival(page, other));
                }
            }
        }
    }

    fn kept(
        &self,
        text: &mut String,
        slot: &Slot,
        decision: &Decision,
        (upper, reads, savings): (Upper, u32, i64),
    ) {
        let saved = picojoules(warp(savings));
        let part = if reads < decision.reads {
            format!(" for its first {reads} of {} reads", decision.reads)
        } else {
            String::new()
        };
        row(text, "", &format!("kept in {}{part}: saves {saved}", entry_name(upper)));
        let placement = self.placement(slot);
        if !slot.result && placement == Placement::MAIN {
            row(text, "", "this read is a later one, when the entry has been given up");
        }
        if slot.result && placement.upper.is_none() {
            row(text, "", "this definition comes after the reads that are served");
        }
        if slot.result && placement.main && placement.upper.is_some() {
            let why = if decision.main {
                "it is live where the strand ends, or a read may see an older value instead"
            } else {
                "not all of its reads find it above"
            };
            row(text, "", &format!("also in the main register file, because {why}"));
        }
    }

    /// The values that were kept in the operand register file while another one would have been.
    fn meanwhile(&self, wanted: &Decision) -> Vec<Decision> {
        let strands = &self.hierarchy.strands;
        let time = |pc: u32| {
            let before = strands.of[..pc as usize].iter();
            before.filter(|&&strand| strand == wanted.strand).count() as u32
        };
        let range = |decision: &Decision| {
            let begin = time(decision.pc);
            (begin, begin + decision.occupied)
        };
        let (begin, end) = range(wanted);
        let rivals = self.hierarchy.decisions.iter().filter(|decision| {
            decision.strand == wanted.strand
                && matches!(decision.outcome, Outcome::Kept { upper: Upper::Orf(_), .. })
        });
        let overlapping = rivals.filter(|decision| {
            let (from, to) = range(decision);
            from < end && begin < to
        });
        overlapping.copied().collect()
    }

    /// What the register accesses of one execution cost.
    pub(super) fn energy(&self, page: &Page<'_>, text: &mut String, pc: usize, slots: &[Slot]) {
        if slots.is_empty() {
            return;
        }
        let shared = page.record(pc).unit.is_shared_datapath();
        let cost = |level, access| {
            page.cost(level, access, shared).map_or(0, |energy: Femtojoules| energy.0)
        };
        let (mut here, mut flat) = (0, 0);
        for slot in slots {
            let access = if slot.result { "write" } else { "read" };
            let Placement { main, upper } = self.placement(slot);
            flat += cost("MRF", access);
            here += if main { cost("MRF", access) } else { 0 };
            // What a first read leaves above is written there.
            let above = if main { "write" } else { access };
            here += upper.map_or(0, |upper| cost(level_name(upper), above));
        }
        let bytes = slots.len() * 128;
        let (here, flat) = (picojoules(Femtojoules(here)), picojoules(Femtojoules(flat)));
        let value = format!("{here} for {bytes} B of operands; all from and to the MRF: {flat}");
        row(text, "energy", &value);
    }
}

/// Savings of a whole warp.
fn warp(savings: i64) -> Femtojoules {
    Femtojoules(savings.unsigned_abs() * u64::from(CLUSTERS))
}

/// One value that takes an entry from another.
fn rival(page: &Page<'_>, decision: &Decision) -> String {
    let Outcome::Kept { upper, savings, .. } = decision.outcome else { return String::new() };
    format!(
        "  {} holds R{} of {}, which saves {} over {} issue slots",
        entry_name(upper),
        decision.register,
        page.place(decision.pc as usize),
        picojoules(warp(savings)),
        decision.occupied
    )
}
