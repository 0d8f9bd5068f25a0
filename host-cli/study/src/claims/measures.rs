//! Kinds of numbers that stand beside the papers', and of rules by which they agree.

use strata_report::RunReport;

/// When the trend of a number holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Ours lies at most so far outside the paper's range.
    Within(f64),
    /// Ours is half of the paper's to twice of it.
    HalfToTwice,
    /// Ours goes the paper's way.
    Direction,
    /// Ours is that or more.
    AtLeast(f64),
    /// Ours is that or less.
    AtMost(f64),
}

impl Rule {
    /// Whether it holds for a number of ours and the paper's range. A rule that needs a range does
    /// not hold without one.
    pub fn holds(self, ours: f64, range: Option<[f64; 2]>) -> bool {
        let slack = 1e-9;
        let between = |least: f64, most: f64| least - slack <= ours && ours <= most + slack;
        match (self, range) {
            (Self::Within(points), Some([least, most])) => between(least - points, most + points),
            (Self::HalfToTwice, Some([least, most])) if least >= 0.0 => {
                between(least / 2.0, most * 2.0)
            }
            (Self::HalfToTwice, Some([least, most])) => between(least * 2.0, most / 2.0),
            (Self::Direction, Some([least, _])) => ours != 0.0 && (ours > 0.0) == (least > 0.0),
            (Self::AtLeast(least), _) => ours >= least,
            (Self::AtMost(most), _) => ours <= most,
            (Self::Within(_) | Self::HalfToTwice | Self::Direction, None) => false,
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Within(0.0) => write!(to, "in the range"),
            Self::Within(points) => write!(to, "at most {points} outside"),
            Self::HalfToTwice => write!(to, "half to twice"),
            Self::Direction => write!(to, "same direction"),
            Self::AtLeast(least) => write!(to, "at least {least}"),
            Self::AtMost(most) => write!(to, "at most {most}"),
        }
    }
}

/// A number of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    /// A derived ratio.
    Ratio(&'static str),
    /// Counters' sum.
    Counters(&'static [&'static str]),
}

impl Key {
    pub(super) fn of(self, report: &RunReport) -> Option<f64> {
        match self {
            Self::Ratio(key) => *report.derived.get(key)?,
            Self::Counters(keys) => {
                let all: Option<Vec<u64>> =
                    keys.iter().map(|&key| report.counters.get(key).copied()).collect();
                Some(all?.iter().sum::<u64>() as f64)
            }
        }
    }
}

/// A number of every workload under a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Of {
    pub(super) design: &'static str,
    pub(super) timed: bool,
    pub(super) key: Key,
}

/// The number of the runs that is ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// The mean.
    Mean(Of),
    /// Energy saved by a design in one workload. Unit: percent.
    SavedIn(&'static str, &'static str),
    /// The first mean less the second.
    Points(Of, Of),
    /// The mean of the first in percent of the second, by workload.
    Share(Of, Of),
    /// By how many percent the first exceeds the second, by workload.
    Change(Of, Of),
    /// By how many percent the mean energy of the first design exceeds the second's.
    EnergyChange(&'static str, &'static str),
    /// By how many percent the first mean exceeds the second.
    MeanChange(Of, Of),
    /// Entries of the size of a family with the least energy.
    BestSize(&'static str),
    /// Energy that it saves. Unit: percent.
    BestSaving(&'static str),
    /// By how many percent the best size of the first family does more with the same energy.
    Efficiency(&'static str, &'static str),
}

impl Value {
    /// Decimals that say something.
    pub(super) fn decimals(self) -> usize {
        match self {
            Self::BestSize(_) => 0,
            Self::Mean(Of { key: Key::Ratio(key), .. }) if key.ends_with("_instruction") => 2,
            _ => 1,
        }
    }

    /// What it is made of, but for sizes of families.
    #[cfg(test)]
    pub(super) fn inputs(self) -> Vec<Of> {
        let energy = |design| Of { design, timed: false, key: ENERGY };
        match self {
            Self::Mean(of) => vec![of],
            Self::SavedIn(_, design) => vec![energy(design)],
            Self::Points(a, b)
            | Self::Share(a, b)
            | Self::Change(a, b)
            | Self::MeanChange(a, b) => {
                vec![a, b]
            }
            Self::EnergyChange(a, b) => vec![energy(a), energy(b)],
            Self::BestSize(_) | Self::BestSaving(_) | Self::Efficiency(..) => Vec::new(),
        }
    }
}

/// Dynamic energy in percent of the flat register file's.
pub(super) const ENERGY: Key = Key::Ratio("energy_relative_percent");
