//! Accounts: what each design, and all of them together, have seen of a subject.

use std::collections::BTreeMap;

use rayon::prelude::*;
use strata_core::energy::EnergyBreakdown;
use strata_core::event::Counters;
use strata_core::sm::config::{ActiveLimitKind, StorageKind};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::partition::Needs;

use crate::evaluate::{self, EvaluateError};
use crate::levels::{Fitted, FittedKernels};
use crate::notes::Notes;
use crate::options::Mode;
use crate::provision::Provision;
use crate::report::in_time::COUNT_MODE;
use crate::report::{
    self, Against, Check, DataCacheCounts, Endurance, EnergyInTime, LaunchReport, PartitionReport,
    ResidencyReport, RunReport, StorageReport, Totals, Tried, derived,
};
use crate::timeline::Timeline;
use crate::timing::{
    LaunchCache, Timed, TimedLaunch, TimingError, hear_launch_over, time_launch_over,
};
use strata_design::{self as design, Design, MainMemory};
use strata_files::failure::Failure;
use strata_workload::watch;

use crate::common::{Common, strands_of};
use crate::counted::Counted;
use crate::evaluate::price;
use crate::line_profile::LineProfiles;
use crate::refusal::too_large;
use crate::request::Request;
use crate::request::command_line;
use crate::storage_energy::{self, BaselineRuns, StorageBaseline, StorageRun, takes_the_same_time};

/// What one design has seen so far, with one of the provisions that it chooses among.
pub(crate) struct Account<'a> {
    design: &'a Design,
    provision: Provision,
    total: Counters,
    /// In cycle mode.
    time: Option<SmCounters>,
    /// Writes of each cell of the main register file, in cycle mode.
    cell_writes: Vec<u64>,
    /// Of a design with a data cache, in cycle mode.
    data_cache: Option<DataCacheCounts>,
    /// What was switched off of its storage, for as many cycles as it was. Unit: byte cycles.
    disabled_byte_cycles: u128,
    /// None where only totals are asked for.
    launches: Option<Vec<LaunchReport>>,
    in_order: InOrder,
    /// Of kernels that the compiler fitted to the design.
    levels: FittedKernels,
}

/// What launches change one after the other, so that they run in their order.
#[derive(Default)]
struct InOrder {
    timeline: Option<Timeline>,
    /// What the launches so far have left in the design's data cache.
    cache: Option<LaunchCache>,
    /// What each instruction has done, if that is asked for.
    line_profiles: Option<LineProfiles>,
}

impl InOrder {
    const fn is_none(&self) -> bool {
        self.timeline.is_none() && self.cache.is_none() && self.line_profiles.is_none()
    }
}

/// One account for each provision of each design for an application of these kernels, those of a
/// design one after the other. The file of a timeline is opened here, before anything runs.
pub(crate) fn accounts<'a>(
    designs: &'a [Design],
    request: &Request,
    (input, kernels): (&str, &[Needs]),
) -> Result<Vec<Account<'a>>, Failure> {
    let account = |design: &'a Design, provision: Provision| -> Result<Account<'a>, Failure> {
        let timeline = request.timeline.as_ref().map(Timeline::create).transpose()?;
        Ok(Account {
            design,
            total: Counters::default(),
            time: None,
            cell_writes: Vec::new(),
            data_cache: None,
            disabled_byte_cycles: 0,
            launches: (!request.totals_only).then(Vec::new),
            in_order: InOrder {
                timeline,
                cache: provision.cache().map(LaunchCache::new),
                line_profiles: request.line_profiles.then(LineProfiles::new),
            },
            provision,
            levels: FittedKernels::default(),
        })
    };
    let mut accounts = Vec::new();
    for design in designs {
        if request.mode == Mode::Count {
            design.countable()?;
        }
        let provisions = Provision::candidates(design, kernels);
        let provisions = provisions.map_err(|error| too_large(input, &error))?;
        if request.timeline.is_some() && provisions.len() > 1 {
            return Err(one_provision(design, provisions.len()));
        }
        for provision in provisions {
            accounts.push(account(design, provision)?);
        }
    }
    Ok(accounts)
}

/// The accounts of designs, and behind them one for each baseline that runs and is not among the
/// designs.
pub(crate) fn with_baselines<'a>(
    (designs, baselines): (&'a [Design], &'a [StorageBaseline]),
    request: &Request,
    input: (&str, &[Needs]),
) -> Result<Vec<Account<'a>>, Failure> {
    let mut all = accounts(designs, request, input)?;
    let undrawn = request.clone().with_timeline(None);
    for StorageBaseline { design, refused } in baselines {
        let runs_anyway = all.iter().any(|account| takes_the_same_time(account.design, design));
        if refused.is_none() && !runs_anyway {
            all.extend(accounts(std::slice::from_ref(design), &undrawn, input)?);
        }
    }
    Ok(all)
}

/// A timeline of a design that tries several provisions.
fn one_provision(design: &Design, tried: usize) -> Failure {
    let name = &design.name;
    Failure::input(format!(
        "`--timeline` draws one run, but `{name}` tries {tried} ways to divide its storage"
    ))
    .hint(if design::is_file(&design.argument) {
        "leave one split in `[storage]`, and set `threads = \"most\"` there"
    } else {
        "name a design with one split, or a design file with it as `base` and `threads = \
         \"most\"` in `[storage]`"
    })
}

/// The accounts of the provisions with which the designs run fastest, each with all that its design
/// has tried.
pub(crate) fn fastest(accounts: Vec<Account<'_>>) -> Vec<(Account<'_>, Vec<Tried>)> {
    let mut chosen: Vec<(Account<'_>, Vec<Tried>)> = Vec::new();
    for account in accounts {
        let tried = account.tried();
        match chosen.last_mut().filter(|(other, _)| std::ptr::eq(other.design, account.design)) {
            Some((other, all)) => {
                all.extend(tried);
                if account.cycles() < other.cycles() {
                    *other = account;
                }
            }
            None => chosen.push((account, tried.into_iter().collect())),
        }
    }
    chosen
}

/// Moves what was drawn to its place, now that nothing else can go wrong.
pub(crate) fn finish_timelines(
    accounts: &mut [Account<'_>],
    notes: &dyn Notes,
) -> Result<(), Failure> {
    for timeline in accounts.iter_mut().filter_map(|account| account.in_order.timeline.take()) {
        if let Some(left_out) = timeline.finish()? {
            notes.note(&left_out);
        }
    }
    Ok(())
}

pub(crate) fn add(
    common: &mut Common,
    accounts: &mut [Account<'_>],
    launches: &[Counted<'_>],
    input: (&str, Mode),
) -> Result<(), EvaluateError> {
    common.add_launches(launches)?;
    add_to(common, accounts, launches, input)
}

/// Adds launches to each account; what does not depend on designs, `common`, has them already.
pub(crate) fn add_to(
    common: &mut Common,
    accounts: &mut [Account<'_>],
    launches: &[Counted<'_>],
    (input, mode): (&str, Mode),
) -> Result<(), EvaluateError> {
    let watch = watch::current();
    let add = |account: &mut Account<'_>| {
        let _within = watch::within(watch.clone());
        account.add(launches, input, mode)
    };
    let added: Vec<_> = accounts.par_iter_mut().map(add).collect();
    // The first error in the order of the designs, not in the order of completion.
    added.into_iter().collect::<Result<(), _>>()?;
    if mode == Mode::Cycle {
        let timed = accounts.iter().filter_map(|account| {
            account.time.as_ref().map(|time| (account.design, time.cycles()))
        });
        common.baselines.add(&timed.collect::<Vec<_>>(), launches)?;
    }
    let fitted = |index| {
        let same = |account: &&Account<'_>| strands_of(account.design) == Some(index);
        accounts.iter().find(same).map(|account| &account.levels)
    };
    common.add_crossings(fitted, launches)
}

/// What one launch does on one design.
struct Measured {
    counters: Counters,
    time: Option<(SmCounters, ResidencyReport)>,
    /// Writes of each cell; empty where they are not counted.
    cell_writes: Vec<u64>,
    /// Of a design with a data cache, in cycle mode.
    data_cache: Option<DataCacheCounts>,
    /// Of a design whose storage is divided for each kernel.
    partition: Option<PartitionReport>,
    /// What is switched off of its storage. Unit: bytes.
    disabled_bytes: u64,
}

impl Account<'_> {
    fn cycles(&self) -> Option<u64> {
        self.time.as_ref().map(SmCounters::cycles)
    }

    /// How its storage was divided, and how long its launches took.
    fn tried(&self) -> Option<Tried> {
        Some(Tried::new(self.provision.storage()?, self.cycles()?))
    }

    /// Counts launches, each on a thread of its own where none depends on those before, and adds
    /// them up in their order.
    fn add(
        &mut self,
        launches: &[Counted<'_>],
        input: &str,
        mode: Mode,
    ) -> Result<(), EvaluateError> {
        for launch in launches {
            self.levels.prepare(self.design, launch.program())?;
        }
        let mut in_order = std::mem::take(&mut self.in_order);
        let measured: Vec<_> = if in_order.is_none() {
            let watch = watch::current();
            let one = |launch| {
                let _within = watch::within(watch.clone());
                self.measure(launch, input, mode, &mut InOrder::default())
            };
            launches.par_iter().map(one).collect()
        } else {
            let one = |launch| self.measure(launch, input, mode, &mut in_order);
            launches.iter().map(one).collect()
        };
        self.in_order = in_order;
        for (launch, measured) in launches.iter().zip(measured) {
            self.add_one(launch, &measured?)?;
        }
        Ok(())
    }

    fn add_one(&mut self, launch: &Counted<'_>, measured: &Measured) -> Result<(), EvaluateError> {
        let Measured { counters, time, cell_writes, data_cache, partition, disabled_bytes } =
            measured;
        if self.cell_writes.len() < cell_writes.len() {
            self.cell_writes.resize(cell_writes.len(), 0);
        }
        for (total, writes) in self.cell_writes.iter_mut().zip(cell_writes) {
            *total = total.checked_add(*writes).ok_or(TimingError::Overflow)?;
        }
        if let Some(counts) = data_cache {
            let total = self.data_cache.unwrap_or_default();
            self.data_cache = Some(total.checked_add(counts).ok_or(TimingError::Overflow)?);
        }
        self.total = self.total.checked_add(counters)?;
        if let Some((time, _)) = time {
            self.disabled_byte_cycles += u128::from(*disabled_bytes) * u128::from(time.cycles());
            let total = self.time.unwrap_or_default();
            self.time = Some(total.checked_add(time).ok_or(TimingError::Overflow)?);
        }
        if self.launches.is_none() {
            return Ok(());
        }
        let mut by_name = evaluate::by_name(counters);
        if let Some((time, _)) = time {
            by_name.extend(time.iter().map(|(name, count)| (name.to_owned(), count)));
        }
        self.report_launch(LaunchReport {
            index: launch.index,
            kernel: launch.kernel.to_owned(),
            grid: launch.grid,
            block: launch.block,
            registers: launch.registers,
            warps: launch.paths.warps().len() as u64,
            distinct_paths: launch.paths.len() as u64,
            residency: time.map(|(_, residency)| residency),
            partition: *partition,
            counters: by_name,
        });
        Ok(())
    }

    /// Notes what a launch did; a further part of one is added to it. No sum overflows: it is at
    /// most the total, which was checked.
    fn report_launch(&mut self, launch: LaunchReport) {
        let Some(launches) = &mut self.launches else { return };
        match launches.last_mut().filter(|before| before.index == launch.index) {
            None => launches.push(launch),
            Some(before) => {
                before.warps += launch.warps;
                before.distinct_paths += launch.distinct_paths;
                for (name, count) in launch.counters {
                    *before.counters.entry(name).or_default() += count;
                }
            }
        }
    }

    fn measure(
        &self,
        launch: &Counted<'_>,
        input: &str,
        mode: Mode,
        in_order: &mut InOrder,
    ) -> Result<Measured, EvaluateError> {
        let design = self.design;
        let hierarchy = self.levels.get(launch.kernel);
        let placements = hierarchy.map(|hierarchy| &*hierarchy.placements);
        let bundled = self.levels.bundled(launch.kernel);
        let sorted = bundled.filter(|_| design.sorted_registers);
        let image = sorted.map_or(launch.image, |sorted| &sorted.program.image);
        let image = Fitted { image, placements, bundled };
        if mode == Mode::Count {
            let clusters = design.partial_warp_energy;
            let counters =
                evaluate::count_launch(design.organisation(), clusters, image, launch.paths)?;
            let cell_writes = Vec::new();
            return Ok(Measured {
                counters,
                time: None,
                cell_writes,
                data_cache: None,
                partition: None,
                disabled_bytes: 0,
            });
        }
        if design.partial_warp_energy {
            return Err(TimingError::PartialWarps.into());
        }
        let timed = TimedLaunch { image, ..launch.timed() };
        let provision = self.provision.for_kernel(&timed.needs()).map_err(TimingError::TooLarge)?;
        let InOrder { timeline, cache, line_profiles } = in_order;
        let cache = cache.as_mut().map(|cache| provision.divide(cache));
        let settings = provision.sm(timed.threads).map_err(TimingError::TooLarge)?;
        let Timed { counters: time, residency, split, cell_writes, cache, lower } =
            match (timeline, line_profiles) {
                (Some(timeline), _) => {
                    let about = launch.about(input, &design.name);
                    timeline.run(cache, settings, &timed, launch.code, &about)?
                }
                (None, Some(profiles)) => {
                    let profile = profiles.entry(launch.kernel.to_owned()).or_default();
                    profile.launches += 1;
                    let mut hear = |observation| profile.hear(&observation);
                    hear_launch_over(cache, settings, &timed, &mut hear)?
                }
                (None, None) => time_launch_over(cache, settings, &timed)?,
            };
        let for_kernel = provision.storage().filter(|divided| divided.is_for_kernels());
        Ok(Measured {
            counters: time.accesses,
            time: Some((
                time,
                ResidencyReport::new(provision.residency(timed.threads, residency), split),
            )),
            cell_writes,
            data_cache: cache.zip(provision.cache()).map(|(counters, settings)| {
                DataCacheCounts::new(&counters, lower.as_ref(), &settings)
            }),
            partition: for_kernel.map(|divided| (&divided.partition).into()),
            disabled_bytes: provision.storage().map_or(0, |of| of.partition.disabled_bytes()),
        })
    }

    /// What each instruction has done, if that was asked for.
    pub(crate) fn line_profiles(self) -> Option<LineProfiles> {
        self.in_order.line_profiles
    }

    pub(crate) fn report(
        self,
        (name, arguments): (&str, &[String]),
        request: &Request,
        common: &Common,
        (check, tried, runs): (Check, Vec<Tried>, &BaselineRuns),
    ) -> Result<RunReport, EvaluateError> {
        let design = self.design;
        let energy = self.energy()?;
        let flat = common.flat(design.partial_warp_energy);
        let baseline_design = design.baseline();
        let baseline = price(&baseline_design, flat)?;
        let cycles = self.time.as_ref().map(SmCounters::cycles);
        let in_time = in_time(design, energy.as_ref(), cycles);
        let against = self.against(in_time.as_ref().ok(), &baseline_design, baseline, common);
        let expansion = self.expansion();
        let storage_energy = self.storage_run().and_then(|run| runs.report(design, &run));
        let mut options = vec!["--design".to_owned(), design.argument.clone()];
        options.extend_from_slice(request.words());
        let spilled = common.spills.map(|spills| (derived::SPILLED, spills.percent()));
        let mut counters = evaluate::by_name(&self.total);
        let digest = self.time.as_ref().map_or_else(|| self.total.digest(), SmCounters::digest);
        if let Some(time) = &self.time {
            counters.extend(time.iter().map(|(name, count)| (name.to_owned(), count)));
        }
        Ok(RunReport {
            schema: report::SCHEMA.to_owned(),
            tool: report::tool(),
            command: command_line("strata run", [arguments], &options),
            workload: name.to_owned(),
            design: design.name.clone(),
            machine: design.machine.name.clone(),
            mode: request.mode.name().to_owned(),
            order: common.orders.iter().copied().collect::<Vec<_>>().join(", "),
            parameters: design.named_parameters(),
            check,
            launches: self.launches.unwrap_or_default(),
            counters,
            digest: digest.to_string(),
            derived: derived::ratios(&derived::Inputs {
                design,
                counters: &self.total,
                flat,
                energy: energy.as_ref(),
                baseline: baseline.as_ref(),
                usage: &common.usage,
                crossings: strands_of(design).and_then(|index| common.crossings[index].as_ref()),
                time: self.time.as_ref(),
                in_time: against.as_ref(),
                data_cache: self.data_cache.as_ref(),
            })
            .into_iter()
            .chain(spilled.map(|(name, percent)| (name.to_owned(), percent)))
            .collect(),
            energy_fj: energy.as_ref().map(evaluate::energy_by_name),
            energy_unavailable: design.energy.as_ref().err().map(|reason| reason.0.clone()),
            energy_in_time_unavailable: in_time.as_ref().err().cloned(),
            energy_in_time: in_time.ok(),
            endurance: Endurance::of(&self.cell_writes),
            data_cache: self.data_cache.as_ref().map(DataCacheCounts::by_name),
            expansion,
            storage_energy,
            storage: self.provision.storage().map(|chosen| StorageReport::new(chosen, tried)),
            sources: design.memory.as_ref().map(MainMemory::told).unwrap_or_default(),
            assumed: design.assumed.clone(),
            changed: design.changed.clone(),
            totals: Totals { counters: self.total, time: self.time, energy },
        })
    }

    /// What its accesses have spent, where that is known.
    fn energy(&self) -> Result<Option<EnergyBreakdown>, EvaluateError> {
        let energy = price(self.design, &self.total)?;
        let (Some(energy), Some(table)) = (energy, &self.design.expansion_energy) else {
            return Ok(energy);
        };
        let counters = self.time.as_ref().map(|time| time.expansion).unwrap_or_default();
        Ok(Some(table.add(energy, &counters)?))
    }

    /// What happened to registers in scratchpad memory, of a design that can have some there, and
    /// what limited the active warps, of one that can change that.
    fn expansion(&self) -> Option<BTreeMap<String, u64>> {
        let sm = &self.design.sm;
        let expands = sm.storage == StorageKind::Expars;
        let limits = sm.active_limit != ActiveLimitKind::Constant;
        let counters = self.time.as_ref()?.expansion;
        (expands || limits)
            .then(|| counters.iter().map(|(name, count)| (name.to_owned(), count)).collect())
    }

    /// What it did, as technologies of storage price it; none without a memory that counts.
    pub(crate) fn storage_run(&self) -> Option<StorageRun> {
        let (time, memory) = (self.time.as_ref()?, self.data_cache.as_ref()?);
        let disabled = self.disabled_byte_cycles;
        Some(StorageRun {
            configuration: storage_energy::configuration(self.design, &self.provision),
            counts: storage_energy::counts(&self.total, time, memory, disabled),
        })
    }

    /// Its energy with leakage beside the baseline's, where both are known.
    fn against(
        &self,
        own: Option<&EnergyInTime>,
        design: &Design,
        energy: Option<EnergyBreakdown>,
        common: &Common,
    ) -> Option<Against> {
        let cycles = self.time.as_ref()?.cycles();
        let baseline_cycles = common.baselines.cycles(design)?;
        let baseline = EnergyInTime::of(design, energy.as_ref(), baseline_cycles).ok()?;
        Some(Against { own: *own?, baseline, cycles, baseline_cycles })
    }
}

/// What an application did on the baselines, from the accounts of all designs, theirs among them.
pub(crate) fn baseline_runs<'a, T>(
    baselines: &'a [StorageBaseline],
    accounts: &[(Account<'_>, T)],
) -> BaselineRuns<'a> {
    BaselineRuns::of(baselines, |design| {
        let mut accounts = accounts.iter().map(|(account, _)| account);
        let same = |account: &&Account<'_>| takes_the_same_time(account.design, design);
        accounts.find(same).and_then(Account::storage_run)
    })
}

/// Energy with leakage, or why it is not known.
fn in_time(
    design: &Design,
    energy: Option<&EnergyBreakdown>,
    cycles: Option<u64>,
) -> Result<EnergyInTime, String> {
    if let Err(reason) = &design.leakage {
        return Err(reason.to_string());
    }
    EnergyInTime::of(design, energy, cycles.ok_or(COUNT_MODE)?)
}
