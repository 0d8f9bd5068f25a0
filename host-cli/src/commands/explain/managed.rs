//! Operands of compiler-managed levels: where each is, why, and what it costs.

use std::collections::BTreeSet;

use strata_compiler::explain::{Slot, Why};
use strata_compiler::hierarchy::{Decision, DualWrites, Lrf, Origin, Outcome, Start};
use strata_compiler::listing::entry_name;
use strata_core::placement::{LRF_BANKS, Placement, Upper};
use strata_core::units::CLUSTERS;
use strata_core::units::Femtojoules;
use strata_ptx::diagnostic::counted;

use super::fit::Fit;
use super::page::{Page, picojoules, row};

/// A write of an upper level whose value comes from, or also goes to, the main register file.
const BESIDE: &str = "write beside MRF";

const fn level_name(upper: Upper) -> &'static str {
    match upper {
        Upper::Orf(_) => "ORF",
        Upper::Lrf(_) => "LRF",
    }
}

fn entry(page: &Page<'_>, upper: Upper, access: &str, shared: bool) -> String {
    page.priced(level_name(upper), access, shared).replace(level_name(upper), &entry_name(upper))
}

impl Fit {
    /// The slots of a value, with their instructions.
    fn accesses(&self, page: &Page<'_>, index: usize) -> Vec<(usize, usize)> {
        let instructions = &page.program.image.instructions;
        let access = |&slot: &usize| {
            // Instructions without slots begin where the next one does.
            let after = instructions.partition_point(|i| i.first_slot as usize <= slot);
            (after.saturating_sub(1), slot)
        };
        self.slots[index].iter().map(access).collect()
    }

    /// The reads of a value that an entry could serve.
    fn reads(&self, page: &Page<'_>, index: usize) -> Vec<(usize, usize)> {
        let mut reads = self.accesses(page, index);
        reads.retain(|&(pc, slot)| {
            let record = page.record(pc);
            slot < record.first_slot as usize + usize::from(record.sources)
        });
        // The first read of what is only read fills the entry.
        let filling = self.hierarchy.decisions[index].origin == Origin::Read;
        reads.drain(..usize::from(filling).min(reads.len()));
        reads
    }

    /// When a value is kept, or would be as a whole: from, and up to which instruction of the
    /// strand.
    fn time(&self, page: &Page<'_>, index: usize) -> (usize, usize) {
        let decision = &self.hierarchy.decisions[index];
        let strands = &self.hierarchy.strands.of;
        let time =
            |pc: usize| strands[..pc].iter().filter(|&&strand| strand == decision.strand).count();
        let served = match decision.outcome {
            Outcome::Kept { reads, .. } => reads as usize,
            _ => decision.reads as usize,
        };
        let begin = time(decision.pc as usize);
        let last = served.checked_sub(1);
        let last = last.and_then(|last| self.reads(page, index).get(last).copied());
        (begin, last.map_or(0, |(pc, _)| time(pc)).max(begin + 1))
    }

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
                let left = entry(upper, BESIDE);
                format!("from the {}, and left in {left} for later reads", main("read"))
            }
            (Placement { upper: None, .. }, false) => format!("from the {}", main("read")),
            (Placement { main: false, upper: Some(upper) }, true) => {
                format!("to {} instead of the {}", entry(upper, "write"), main("write"))
            }
            (Placement { main: true, upper: Some(upper) }, true) => {
                format!("to {} and the {}", entry(upper, BESIDE), main("write"))
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
                let strand = self.hierarchy.strands.of[pc];
                let why = if self.config.read_operands {
                    "no later read in the strand is sure to follow a first one"
                } else {
                    "the design keeps nothing that a strand only reads"
                };
                format!(
                    "because its value is older than strand {strand}, where upper levels start \
                     empty, and {why}"
                )
            }
            Why::Mixed(within) => format!(
                "because on some paths its value is older than the strand, on others it is \
                 written at {}",
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
            "its value, {verb} at {}, could serve {} over {}",
            page.place(decision.pc as usize),
            counted(decision.reads, "read"),
            counted(decision.occupied, "issue slot")
        );
        row(text, "", &value);
        match decision.outcome {
            Outcome::Kept { upper, reads, savings } => {
                self.kept(text, slot, decision, (upper, reads, savings));
                if matches!(upper, Upper::Orf(_)) {
                    self.no_last_result(page, text, decision, index);
                }
            }
            Outcome::Unprofitable if decision.reads == 0 && decision.main => {
                row(text, "", "not kept, because nothing in the strand reads it");
            }
            Outcome::Unprofitable => {
                row(text, "", "not kept, because that would cost more energy than it saves");
            }
            Outcome::NoEntry => self.no_entry(page, text, decision, index),
        }
    }

    /// Why no level has an entry for a value.
    fn no_entry(&self, page: &Page<'_>, text: &mut String, decision: &Decision, index: usize) {
        let both = decision.main && decision.origin == Origin::Written;
        let size = u16::from(self.config.orf_entries);
        let named = decision.register.checked_rem(size).unwrap_or_default();
        let (why, only) = match self.config.dual_writes {
            DualWrites::LastResultOnly | DualWrites::Never if both => {
                let why = "it is needed in the main register file as well, and the encoding cannot \
                           name two levels";
                row(text, "", &format!("not kept in the ORF, because {why}"));
                self.no_last_result(page, text, decision, index);
                return;
            }
            DualWrites::SameName if both => {
                (format!("its register's name stands for orf{named}, which has been"), Some(named))
            }
            _ => ("every entry has been".to_owned(), None),
        };
        row(
            text,
            "",
            &format!(
                "not kept in the ORF, because {why} taken for a part of that time, by more \
                 savings a slot:"
            ),
        );
        let takes = |upper| match upper {
            Upper::Orf(entry) => only.is_none_or(|only| only == u16::from(entry)),
            Upper::Lrf(_) => false,
        };
        for other in self.rivals(page, index, takes) {
            row(text, "", &other);
        }
        self.no_last_result(page, text, decision, index);
    }

    /// Why a value is not in the last result file, if there is one.
    fn no_last_result(
        &self,
        page: &Page<'_>,
        text: &mut String,
        decision: &Decision,
        index: usize,
    ) {
        if self.config.lrf == Lrf::None {
            return;
        }
        let accesses = self.accesses(page, index);
        let shared = accesses.iter().find(|(pc, _)| page.record(*pc).unit.is_shared_datapath());
        if let Some(&(pc, _)) = shared {
            let at = page.place(pc);
            row(text, "", &format!("not in the LRF, which is not for the shared datapath of {at}"));
            return;
        }
        let doubles = decision.main && decision.origin == Origin::Written;
        if doubles && self.config.dual_writes == DualWrites::Never {
            row(text, "", "not in the LRF, because the encoding cannot name two levels");
            return;
        }
        let code = page.explainer.code();
        let reads = self.reads(page, index).into_iter();
        let operands: BTreeSet<u8> = reads.map(|(_, slot)| code.operand_of(slot)).collect();
        let bank = operands.first().copied().filter(|_| self.config.lrf == Lrf::Split);
        let bank = bank.unwrap_or_default();
        if self.config.lrf == Lrf::Split && (operands.len() > 1 || bank >= LRF_BANKS) {
            let why = "no bank serves the operand slots of all its reads";
            row(text, "", &format!("not in the LRF, because {why}"));
            return;
        }
        let rivals = self.rivals(page, index, |upper| upper == Upper::Lrf(bank));
        let why = if rivals.is_empty() {
            "because it would save nothing there"
        } else {
            "because its bank has been taken, by more savings a slot:"
        };
        row(text, "", &format!("not in the LRF, {why}"));
        for other in rivals {
            row(text, "", &other);
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

    /// The values kept in some entries while another one would have been, a line each.
    fn rivals(&self, page: &Page<'_>, wanted: usize, takes: impl Fn(Upper) -> bool) -> Vec<String> {
        let (begin, end) = self.time(page, wanted);
        let strand = self.hierarchy.decisions[wanted].strand;
        let mut lines = Vec::new();
        for (index, other) in self.hierarchy.decisions.iter().enumerate() {
            let Outcome::Kept { upper, savings, .. } = other.outcome else { continue };
            if index == wanted || other.strand != strand || !takes(upper) {
                continue;
            }
            let (from, to) = self.time(page, index);
            if from < end && begin < to {
                lines.push(format!(
                    "  {} holds R{} of {}, which saves {} over {}",
                    entry_name(upper),
                    other.register,
                    page.place(other.pc as usize),
                    picojoules(warp(savings)),
                    counted(to - from, "issue slot")
                ));
            }
        }
        lines
    }

    /// What the register accesses of one execution cost.
    pub(super) fn energy(&self, page: &Page<'_>, pc: usize, slots: &[Slot]) -> Femtojoules {
        let shared = page.record(pc).unit.is_shared_datapath();
        let cost = |level, access| {
            page.cost(level, access, shared).map_or(0, |energy: Femtojoules| energy.0)
        };
        let of_slot = |slot: &Slot| {
            let access = if slot.result { "write" } else { "read" };
            let Placement { main, upper } = self.placement(slot);
            // What a first read leaves above is written there.
            let above = if main { BESIDE } else { access };
            let below = if main { cost("MRF", access) } else { 0 };
            below + upper.map_or(0, |upper| cost(level_name(upper), above))
        };
        Femtojoules(slots.iter().map(of_slot).sum())
    }
}

/// Savings of a whole warp.
fn warp(savings: i64) -> Femtojoules {
    Femtojoules(savings.unsigned_abs() * u64::from(CLUSTERS))
}
