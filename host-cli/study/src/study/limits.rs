//! Limits: how much better a compiler-managed hierarchy could get, by the idealisations of `[DISS]`
//! 6.6, and what a real pass attains.

mod assumed;
mod oracle;
mod render;
mod variable;

use std::collections::BTreeMap;

use strata_compiler::Order;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_core::energy::{EnergyTable, LevelEnergy};
use strata_core::event::{CounterOverflow, Counters};
use strata_core::level::Level;
use strata_core::organisation::{Organisation, OrganisationSettings, Scheduling};
use strata_core::sm::config::SmSettings;
use strata_core::sm::counters::SmCounters;

use assumed::HOLDS;
pub use assumed::{CLOCKS, Clock, Hold};
use oracle::Bracket;
pub use render::{to_columns, to_table};
use strata_design::{self as design, Design, Managed};
use strata_files::failure::Failure;
use strata_measure::evaluate::EvaluateError;
use strata_measure::levels::FitError;
use strata_measure::notes::Notes;
use strata_measure::parallel;
use strata_measure::subject;
use strata_measure::timing::TimingError;
use strata_measure::{self as measure, Counted, Request, price};
use strata_workload::Workload;
use variable::Savings;

/// One idealisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idealisation {
    /// None: the design itself.
    Design,
    /// This many entries, at the energy of the design's own. With 8 and 5 for 3 the bound on
    /// bringing consumers closer to their producers.
    Entries(u8),
    /// Nothing is lost when a warp is descheduled: the bound on moving instructions across
    /// long-latency events.
    PastDeschedules,
    /// Strands hold loops in which no warp is descheduled, so that values stay where they are past
    /// backward branches.
    PastBackwardBranches,
    /// Instructions reordered within basic blocks by this project's own pass ([`Order::Close`]).
    Close,
}

/// Every limit that is studied, the design itself first.
pub const IDEALISATIONS: [Idealisation; 6] = [
    Idealisation::Design,
    Idealisation::Entries(8),
    Idealisation::Entries(5),
    Idealisation::PastDeschedules,
    Idealisation::PastBackwardBranches,
    Idealisation::Close,
];

impl Idealisation {
    /// What the table calls it.
    pub fn label(self) -> String {
        match self {
            Self::Design => "the design itself".to_owned(),
            Self::Entries(entries) => format!("{entries} entries at its energy"),
            Self::PastDeschedules => "never emptied by a deschedule".to_owned(),
            Self::PastBackwardBranches => "kept past backward branches".to_owned(),
            Self::Close => "instructions in close order (a real pass)".to_owned(),
        }
    }

    /// The change of energy that `[DISS]` 6.6 prints, for a split last result file and 3 entries.
    /// Unit: percent.
    pub fn printed(self) -> Option<i32> {
        match self {
            Self::Entries(8) => Some(-9),
            Self::Entries(5) => Some(-6),
            Self::PastDeschedules => Some(-8),
            Self::Entries(_) | Self::Design | Self::PastBackwardBranches | Self::Close => None,
        }
    }

    fn config(self, managed: Managed, own: HierarchyConfig) -> HierarchyConfig {
        match self {
            Self::Design | Self::Close => own,
            Self::Entries(entries) => {
                HierarchyConfig { orf_entries: entries.max(managed.entries), ..own }
            }
            Self::PastDeschedules => HierarchyConfig { past_deschedules: true, ..own },
            Self::PastBackwardBranches => HierarchyConfig { past_backward_branches: true, ..own },
        }
    }
}

/// What `[DISS]` 6.6.1 prints for entries given by an oracle. Unit: percent of the design's energy.
pub const VARIABLE_PRINTED: i32 = -6;
/// What `[DISS]` 6.6.1 prints for 6 warps instead of 8 that share the entries, beyond
/// [`VARIABLE_PRINTED`]. Unit: percent of the design's energy.
pub const FEWER_WARPS_PRINTED: i32 = -6;
/// What `[DISS]` 6.6.2 prints for a register file cache that keeps values past backward branches.
/// Unit: percent of the energy of one that does not.
pub const PAST_BRANCHES_PRINTED: i32 = -5;
/// What `[DISS]` 6.6.4 prints if every access were to the last result file, and if every one were
/// to an operand register file of [`ONLY_ENTRIES`]. Unit: percent of the flat register file's
/// energy.
pub const ONLY_PRINTED: [i32; 2] = [-87, -61];
/// Entries of an operand register file that every access is to. Unit: entries per thread.
pub const ONLY_ENTRIES: u8 = 5;

/// The entries of all warps shared out by an oracle: as many active warps as the design has, and
/// three quarters of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Warps that are active at a time, and share the entries of the design's own number.
    pub active_warps: u8,
    /// Energy of a choice that fits in every cycle. Unit: femtojoules.
    pub attained: u64,
    /// Energy that no choice goes below. Unit: femtojoules.
    pub bound: u64,
    /// With the design's own number of entries for each warp, by the clock.
    pub cycles: u64,
    /// Cycles in which warps were within a strand, summed over the warps.
    pub strand_cycles: u64,
}

/// The entries of all warps shared out by an oracle under one set of assumptions, most active warps
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// How time goes on.
    pub clock: Clock,
    /// How long entries are held.
    pub hold: Hold,
    /// What the oracle makes of it.
    pub shared: [Shared; 2],
}

/// A register file cache with as many entries. Unit: femtojoules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// It is flushed at every taken backward branch.
    pub flushed: u64,
    /// It is not.
    pub kept: u64,
}

/// One workload's energies. Unit: femtojoules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub workload: String,
    /// Of the flat register file.
    pub flat: u64,
    /// Of the design under each limit, in the order of [`IDEALISATIONS`].
    pub energies: Vec<u64>,
    /// With entries given by an oracle: by each clock, every way to hold them.
    pub assumed: Vec<Assumed>,
    /// Of the hardware counterpart; none where its energy is not known.
    pub hardware: Option<Hardware>,
    /// If every access were to the design's last result file, at the distance of the private
    /// datapath, or to [`ONLY_ENTRIES`]; none where their energy is not known.
    pub only: [Option<u64>; 2],
}

/// What is studied.
struct Study<'a> {
    design: &'a Design,
    clocks: &'a [Clock],
    managed: Managed,
    own: HierarchyConfig,
    /// The SMs that share the design's entries.
    sms: [(u8, SmSettings); 2],
    /// Flushed at backward branches, and not.
    hardware: Option<[Design; 2]>,
    /// The design with one level's energy for every access.
    only: [Option<Design>; 2],
}

impl<'a> Study<'a> {
    fn new(design: &'a Design, clocks: &'a [Clock]) -> Result<Self, Failure> {
        let Some(managed) = design.managed else {
            return Err(Failure::input(format!(
                "design `{}` has no compiler-managed hierarchy",
                design.name
            ))
            .hint("choose one such as `diss-orf3-lrf-split`"));
        };
        if design.partial_warp_energy {
            return Err(Failure::input(format!(
                "design `{}`: `partial_warp_energy` cannot be combined with entries shared \
                     in time",
                design.name
            ))
            .hint("leave it out of the design file"));
        }
        let table =
            design.energy.as_ref().map_err(|reason| Failure::internal(&reason.to_string()))?;
        let active = design.active_warps();
        let sm = |active_warps| {
            let scheduling = Scheduling::TwoLevel { active_warps };
            let settings = OrganisationSettings { scheduling, ..*design.organisation().settings() };
            let organisation = Organisation::new(settings)
                .map_err(|error| Failure::internal(&error.to_string()))?;
            Ok::<_, Failure>((active_warps, SmSettings { organisation, ..design.sm }))
        };
        let fewer = sm((active - active / 4).max(1))?;
        let sms = [(active, design.sm), fewer];
        let hardware = hardware(design, managed);
        let only = only(design, table);
        Ok(Self { design, clocks, managed, own: managed.config(table), sms, hardware, only })
    }
}

/// The register file cache with as many entries, flushed at backward branches and not, its wires
/// charged as the design's are.
fn hardware(design: &Design, managed: Managed) -> Option<[Design; 2]> {
    let cached = |suffix: &str| {
        let name = design.sibling(&format!("-rfc{}{suffix}", managed.entries));
        let mut cached = design::resolve(&name).ok()?;
        cached.wire_charge = design.wire_charge;
        cached.energy.as_mut().ok()?.wire_charge = design.wire_charge;
        Some(cached)
    };
    Some([cached("-backflush")?, cached("")?])
}

/// The design with the last result file's energy for every access, and with the energy of
/// [`ONLY_ENTRIES`].
fn only(design: &Design, table: &EnergyTable) -> [Option<Design>; 2] {
    let with = |main: LevelEnergy| {
        let mut design = design.clone();
        design.energy = Ok(table.with(Level::Mrf, Some(main)));
        design
    };
    let last = table.level(Level::Lrf).map(with);
    let name = design.sibling(&format!("-orf{ONLY_ENTRIES}"));
    let entries = design::resolve(&name)
        .ok()
        .and_then(|other| other.energy.ok()?.level(Level::Orf))
        .map(with);
    [last, entries]
}

/// Executes workloads in the order asked for and in close order, and prices them under every limit,
/// the oracle's by each of some clocks, at least one. Rows come in the order of the workloads,
/// whatever `jobs` is, and there is one of each that was begun before Ctrl-C.
pub fn rows(
    workloads: &[Workload],
    design: &Design,
    clocks: &[Clock],
    request: &Request,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Vec<Row>, Failure> {
    let study = Study::new(design, clocks)?;
    let row = |workload: &Workload| study.row(workload, request, notes);
    let finished = parallel::finished(workloads, jobs, notes, |workload| &workload.name, row)?;
    Ok(finished.results)
}

/// What has been run of a workload by one clock.
#[derive(Default)]
struct Ran {
    time: SmCounters,
    /// In the order of [`HOLDS`].
    brackets: [Bracket; HOLDS.len()],
    strand_cycles: u64,
}

/// What has been counted of a workload.
#[derive(Default)]
struct Totals {
    flat: Counters,
    /// In the order of [`IDEALISATIONS`].
    limits: [Counters; IDEALISATIONS.len()],
    /// Without any entry of the operand register file.
    without: Counters,
    /// In the order of the clocks, and most active warps first.
    runs: Vec<[Ran; 2]>,
    hardware: [Counters; 2],
    /// By kernel.
    savings: BTreeMap<String, Savings>,
}

fn add(total: &mut Counters, more: &Counters) -> Result<(), CounterOverflow> {
    *total = total.checked_add(more)?;
    Ok(())
}

impl Study<'_> {
    fn row(
        &self,
        workload: &Workload,
        request: &Request,
        notes: &dyn Notes,
    ) -> Result<Row, Failure> {
        let mut totals = Totals::default();
        totals.runs.resize_with(self.clocks.len(), Default::default);
        for close in [false, true] {
            let mut workload = workload.clone();
            if close {
                workload.options.order = Order::Close;
            }
            let mut request = request.clone();
            request.options.accesses = !close;
            let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
            measure::each_launch(&workload, &prepared, &request, notes, |launch| {
                self.count(launch, close, &mut totals)?;
                if close { Ok(()) } else { self.share(launch, &mut totals) }
            })?;
        }
        self.price(&workload.name, &totals)
    }

    /// Counts a launch under what belongs to this order of instructions.
    fn count(
        &self,
        launch: &Counted<'_>,
        close: bool,
        totals: &mut Totals,
    ) -> Result<(), EvaluateError> {
        for (limit, total) in IDEALISATIONS.iter().zip(&mut totals.limits) {
            if (*limit == Idealisation::Close) == close {
                let config = limit.config(self.managed, self.own);
                add(total, &launch.count_fitted(self.design.organisation(), &config)?)?;
            }
        }
        if !close {
            add(&mut totals.flat, &launch.count_flat()?)?;
            for (design, total) in self.hardware.iter().flatten().zip(&mut totals.hardware) {
                add(total, &launch.count_under(design.organisation(), None)?)?;
            }
        }
        Ok(())
    }

    /// Runs a launch in time, and has an oracle share out the entries.
    fn share(&self, launch: &Counted<'_>, totals: &mut Totals) -> Result<(), EvaluateError> {
        let program = launch.program().ok_or(FitError::NoProgram)?;
        if !totals.savings.contains_key(&program.name) {
            let savings = Savings::new(program, self.design, &self.own)?;
            totals.savings.insert(program.name.clone(), savings);
        }
        let Some(savings) = totals.savings.get(&program.name) else { return Ok(()) };
        let without = launch.count_under(self.design.organisation(), Some(&savings.without))?;
        add(&mut totals.without, &without)?;
        let entries = self.managed.entries;
        let capacity = u32::from(entries) * u32::from(self.sms[0].0);
        for (clock, runs) in self.clocks.iter().zip(&mut totals.runs) {
            for (&(_, sm), ran) in self.sms.iter().zip(runs) {
                let sm = clock.settings(sm);
                let outcome = variable::run(sm, &launch.timed(), savings, (capacity, entries))?;
                ran.time = ran.time.checked_add(&outcome.time).ok_or(TimingError::Overflow)?;
                for (total, more) in ran.brackets.iter_mut().zip(outcome.brackets) {
                    total.attained += more.attained;
                    total.bound += more.bound;
                }
                ran.strand_cycles += outcome.strand_cycles;
            }
        }
        Ok(())
    }

    fn price(&self, workload: &str, totals: &Totals) -> Result<Row, Failure> {
        let energy = |design: &Design, counters: &Counters| {
            let priced = price(design, counters);
            let priced = priced.map_err(|error| Failure::internal(&error.to_string()))?;
            Ok::<_, Failure>(priced.map_or(0, |energy| energy.total().0))
        };
        let without = energy(self.design, &totals.without)?;
        let after = |saved: i128| u64::try_from(i128::from(without) - saved).unwrap_or(0);
        let assumed = |clock: Clock, runs: &[Ran; 2], place: usize| Assumed {
            clock,
            hold: HOLDS[place],
            shared: [0, 1].map(|index| Shared {
                active_warps: self.sms[index].0,
                attained: after(runs[index].brackets[place].attained),
                bound: after(runs[index].brackets[place].bound),
                cycles: runs[index].time.cycles(),
                strand_cycles: runs[index].strand_cycles,
            }),
        };
        let mut all = Vec::new();
        for (&clock, runs) in self.clocks.iter().zip(&totals.runs) {
            all.extend((0..HOLDS.len()).map(|place| assumed(clock, runs, place)));
        }
        let hardware = match &self.hardware {
            None => None,
            Some([flushed, kept]) => Some(Hardware {
                flushed: energy(flushed, &totals.hardware[0])?,
                kept: energy(kept, &totals.hardware[1])?,
            }),
        };
        let only = self.only.each_ref().map(|only| only.as_ref());
        let [last, entries] =
            only.map(|only| only.map(|only| energy(only, &totals.flat)).transpose());
        let limits = totals.limits.iter().map(|counters| energy(self.design, counters));
        Ok(Row {
            workload: workload.to_owned(),
            flat: energy(self.design, &totals.flat)?,
            energies: limits.collect::<Result<_, _>>()?,
            assumed: all,
            hardware,
            only: [last?, entries?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::energy::WireCharge;

    #[test]
    fn the_cache_beside_a_design_is_charged_as_the_design_is() {
        for charge in [WireCharge::Once, WireCharge::EachTrip] {
            let text = format!("base = \"diss-orf3\"\nwire_charge = \"{}\"\n", charge.name());
            let design = design::file::parse("d.toml", &text).unwrap();
            for cache in hardware(&design, design.managed.unwrap()).unwrap() {
                assert_eq!(cache.energy.unwrap().wire_charge, charge, "{}", cache.name);
                assert_eq!(cache.wire_charge, charge, "{}", cache.name);
            }
        }
    }
}
