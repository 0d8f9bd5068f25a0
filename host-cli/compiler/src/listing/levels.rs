//! What a compiler-managed hierarchy adds to a listing: strands, the level of each operand that is
//! not only in the main register file, and what became of every value.

use std::fmt::{self, Formatter};

use strata_core::image::StaticInstruction;
use strata_core::placement::{Placement, Upper};
use strata_core::units::RegisterId;

use crate::hierarchy::{Decision, Hierarchy, Origin, Outcome, Start};

impl Start {
    /// Why, in a few words.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::LongLatency => "may wait for a long-latency result",
            Self::Barrier => "behind a barrier",
            Self::BackwardBranch => "backward branch",
            Self::Uncertain => "what is pending depends on the path",
            Self::Waited => "lanes may have waited while others were descheduled",
            Self::Meeting => "paths of different strands meet",
            Self::Block => "basic block",
        }
    }
}

/// Name of an entry: `orf2`, `lrf0`.
pub fn entry_name(upper: Upper) -> String {
    match upper {
        Upper::Orf(entry) => format!("orf{entry}"),
        Upper::Lrf(bank) => format!("lrf{bank}"),
    }
}

/// The line before an instruction that starts a strand.
pub(super) fn strand_line(hierarchy: &Hierarchy, pc: usize) -> Option<String> {
    let start = hierarchy.strands.starts[pc]?;
    Some(format!("  -- strand {}: {}", hierarchy.strands.of[pc], start.reason()))
}

/// Notes on an instruction's operands: which it reads above the main register file, which it leaves
/// there for later reads, and which results it writes there, `+mrf` to the main register file too.
pub(super) fn notes(
    hierarchy: &Hierarchy,
    record: &StaticInstruction,
    sources: &[RegisterId],
    results: &[RegisterId],
) -> Vec<String> {
    let placements = &hierarchy.placements[record.first_slot as usize..];
    let (read, written) = placements.split_at(sources.len());
    let list = |name: &str,
                slots: &[RegisterId],
                placed: &[Placement],
                wanted: fn(&Placement) -> bool,
                both: &str| {
        let slots = slots.iter().zip(placed).filter(|(_, placement)| wanted(placement));
        let named = slots.filter_map(|(register, placement)| {
            let both = if placement.main { both } else { "" };
            Some(format!("R{} {}{both}", register.0, entry_name(placement.upper?)))
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("{name} {}", named.join(" ")))
    };
    let notes = [
        list("from", sources, read, |placement| !placement.main, ""),
        list("keep", sources, read, |placement| placement.main, ""),
        list("to", results, written, |_| true, "+mrf"),
    ];
    notes.into_iter().flatten().collect()
}

/// One line for each value that could be kept.
pub(super) fn decision_table(hierarchy: &Hierarchy, f: &mut Formatter<'_>) -> fmt::Result {
    let kept = |decision: &&Decision| matches!(decision.outcome, Outcome::Kept { .. });
    let all = &hierarchy.decisions;
    let (kept, strands) = (all.iter().filter(kept).count(), hierarchy.strands.count);
    writeln!(f, "strands: {strands}; values that could be kept: {}, kept: {kept}", all.len())?;
    for decision in all {
        let verb = match decision.origin {
            Origin::Written => "written",
            Origin::Read => "first read",
        };
        write!(
            f,
            "{:<6} strand {:<4} {verb} at {}, {} reads over {} slots{}: ",
            format!("R{}", decision.register),
            decision.strand,
            decision.pc,
            decision.reads,
            decision.occupied,
            if decision.main && decision.origin == Origin::Written { ", in mrf too" } else { "" },
        )?;
        match decision.outcome {
            Outcome::Kept { upper, reads, savings } => {
                write!(f, "{} saves {savings} fJ", entry_name(upper))?;
                if reads < decision.reads {
                    write!(f, ", for the first {reads}")?;
                }
                writeln!(f)?;
            }
            Outcome::Unprofitable => writeln!(f, "not kept, would save nothing")?,
            Outcome::NoEntry => writeln!(f, "not kept, no entry is free or can be named")?,
        }
    }
    Ok(())
}
