//! Stalls: the cycles in which resident warps did not issue, charged to the instruction that each
//! issues next, heard from a run in time.

use strata_core::sm::config::MAX_RESIDENT_WARPS;
use strata_core::sm::{ExpansionObservation, Issue, Observation, WarpPhase, WarpPhases};

/// Cycles in which warps waited to issue an instruction, by where they stood. Unit: warp cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls([u64; WarpPhase::ALL.len()]);

impl Stalls {
    /// Where a warp can stand that has an instruction to issue: all phases but the last two.
    fn phases() -> impl Iterator<Item = WarpPhase> {
        let ahead = |phase: &WarpPhase| !matches!(phase, WarpPhase::Drain | WarpPhase::Ended);
        WarpPhase::ALL.into_iter().filter(ahead)
    }

    /// The cycles in each phase, with its name in reports.
    pub fn by_name(&self) -> impl Iterator<Item = (String, u64)> {
        let named = |phase: WarpPhase| {
            let name = phase.name().trim_start_matches("waits: ");
            (name.replace(": ", "_").replace(' ', "_"), self.0[phase as usize])
        };
        Self::phases().map(named)
    }

    /// Cycles in all phases.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Name of the phase with most cycles, of equal ones the first by name; none without cycles.
    pub fn most(&self) -> Option<String> {
        let stalls = self.by_name().filter(|(_, cycles)| *cycles > 0);
        let most = stalls.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        most.map(|(name, _)| name)
    }

    /// Adds those of another instruction.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}

/// What the resident warps of a launch have waited since each issued last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// By the warp's place in the SM.
    stalls: [Stalls; MAX_RESIDENT_WARPS],
    /// Bit `i`: the warp at place `i` issues in this cycle.
    issuing: u64,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { stalls: [Stalls::default(); MAX_RESIDENT_WARPS], issuing: 0 }
    }
}

impl Waiting {
    /// Hears what is told of a run. Returns an instruction that issues, and how long its warp has
    /// waited to issue it.
    pub fn hear(&mut self, observation: &Observation) -> Option<(u32, Stalls)> {
        match *observation {
            Observation::CtaLaunch { warps, .. } => {
                for place in places(warps) {
                    self.stalls[place] = Stalls::default();
                }
            }
            Observation::Issue(Issue { place, pc, .. }) => {
                self.issuing |= 1 << place;
                return Some((pc, std::mem::take(&mut self.stalls[usize::from(place)])));
            }
            Observation::Expansion {
                event: ExpansionObservation::Prefetch { place, .. }, ..
            } => self.issuing |= 1 << place,
            Observation::Cycles { count, warps, .. } => self.cycles(count, &warps),
            _ => {}
        }
        None
    }

    /// Some cycles pass; a warp that issues does so in the first.
    fn cycles(&mut self, count: u64, phases: &WarpPhases) {
        let issuing = std::mem::take(&mut self.issuing);
        for phase in Stalls::phases() {
            for place in places(phases.warps(phase)) {
                let waits = count - (issuing >> place & 1);
                self.stalls[place].0[phase as usize] += waits;
            }
        }
    }
}

/// The places whose bits are set.
fn places(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(place)
    })
}
