//! In program order: what each instruction of a kernel reads and writes, and what that costs.

use std::fmt::Write as _;

use strata_compiler::hierarchy::Lrf;
use strata_compiler::listing::Listing;
use strata_compiler::program::Program;
use strata_core::event::Counters;
use strata_core::value_usage::ValueUsage;
use strata_ptx::diagnostic;

use crate::cli::InspectArgs;
use crate::printer::Printer;
use strata_design::Design;
use strata_files::failure::Failure;
use strata_measure::crossings::Crossings;
use strata_measure::evaluate::{self, EvaluateError};
use strata_measure::levels::{Fitted, FittedKernels};
use strata_measure::subject;
use strata_measure::{self as measure, Request, SpillTraffic, price};
use strata_report::lines::LineOrder;
use strata_report::lines::{self, LineCost, ProfiledKernel};
use strata_workload::simulate::Prepared;

use super::input::{NOT_OF_TRACES, design};
use super::view::{Found, Profiled, Shown, View};

/// What one kernel did, over all its counted launches.
#[derive(Clone, Default)]
struct Profile {
    lines: Vec<Counters>,
    usage: ValueUsage,
    spills: SpillTraffic,
    /// If the compiler manages the design's hierarchy.
    crossings: Option<Crossings>,
    launches: u64,
    /// Where the compiler placed its operands, if it manages the design's hierarchy.
    levels: FittedKernels,
}

/// Every kernel that was launched, with what each instruction did.
pub(super) fn profiled(
    args: &InspectArgs,
    view: View,
    printer: &Printer,
) -> Result<Shown, Failure> {
    let design = design(args)?;
    design.countable()?;
    if let (View::Lines(lines), Err(reason)) = (view, &design.energy)
        && lines.order() == LineOrder::Energy
    {
        let name = &design.name;
        return Err(Failure::input(format!("`{name}` has no energies to sort by: {reason}"))
            .hint("sort by executions, or name another design"));
    }
    let request = Request::new(&args.source)?;
    subject::with_ptx(&args.input, NOT_OF_TRACES)?;
    let workload = subject::workload(&args.input, &args.source, printer)?;
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let mut profiles = vec![Profile::default(); prepared.programs.len()];
    let mut counted = Ok(());
    prepared
        .execute(&request.options, |launch| {
            if counted.is_ok() {
                let profile = &mut profiles[launch.step.kernel];
                counted = profile.add(&design, launch.program, &launch.outcome.paths);
                profile.launches += u64::from(launch.last);
            }
        })
        .map_err(|error| subject::run_error(&workload, &error))?;
    let refuse = |error| measure::failure(&workload.name, error);
    counted.map_err(refuse)?;
    if let View::Lines(lines) = view {
        let found = found(&prepared, &workload.ptx, &profiles, &design).map_err(refuse)?;
        let (workload, design, request) = (&workload, &design, &request);
        return lines.shown(&Profiled { workload, design, request }, found);
    }
    let mut text = format!("design {}; counts are of warps, energy in pJ\n", design.name);
    for (program, profile) in prepared.programs.iter().zip(&mut profiles) {
        if profile.launches == 0 {
            continue;
        }
        let margin = profile.margin(&design).map_err(refuse)?;
        let across_strands = profile.across_strands();
        let listing = Listing {
            module: &prepared.module,
            program,
            values: false,
            hierarchy: profile.levels.of(&design, Some(program))?,
            margin: &margin,
        };
        let heading = heading(&design);
        let _ = write!(
            text,
            "\n{}\n{heading}\n{listing}{}{across_strands}{}",
            diagnostic::counted(profile.launches, "launch"),
            dynamic_values(&profile.usage),
            profile.spills.describe()
        );
    }
    Ok(Shown::Text(text))
}

/// What the lines of the kernels that were launched did.
fn found(
    prepared: &Prepared,
    text: &str,
    profiles: &[Profile],
    design: &Design,
) -> Result<Found, EvaluateError> {
    let mut found = Found::default();
    let mut total = Counters::default();
    for (program, profile) in prepared.programs.iter().zip(profiles) {
        if profile.launches == 0 {
            continue;
        }
        let (kernel, launches) = (program.name.clone(), profile.launches);
        found.kernels.push(ProfiledKernel { kernel, launches });
        let lines = lines::of_program((&prepared.module, text), program, |pcs| {
            let mut sum = Counters::default();
            for counters in pcs.iter().filter_map(|&pc| profile.lines.get(pc)) {
                sum = sum.checked_add(counters)?;
            }
            total = total.checked_add(&sum)?;
            cost(design, &sum)
        });
        found.lines.extend(lines?);
    }
    found.total = cost(design, &total)?;
    Ok(found)
}

fn cost(design: &Design, counters: &Counters) -> Result<LineCost, EvaluateError> {
    Ok(LineCost {
        executions: counters.warp_instructions(),
        thread_instructions: counters.thread_instructions(),
        energy_fj: price(design, counters)?.map(|energy| energy.total().0),
        ..LineCost::default()
    })
}

/// Heading of the margin, as wide as it.
fn heading(design: &Design) -> String {
    let last = if has_last(design) { "  LRF reads LRF writes" } else { "" };
    let upper = if design.managed.is_some() { "ORF" } else { "RFC" };
    format!(
        "  executed lanes  MRF reads {upper} reads MRF writes {upper} writes{last}     energy |"
    )
}

fn has_last(design: &Design) -> bool {
    let managed = design.managed.is_some_and(|managed| managed.lrf != Lrf::None);
    managed || design.organisation().levels().has_last_result_file()
}

impl Profile {
    fn add(
        &mut self,
        design: &Design,
        program: &Program,
        paths: &strata_simt::PathDictionary,
    ) -> Result<(), EvaluateError> {
        let clusters = design.partial_warp_energy;
        let hierarchy = self.levels.of(design, Some(program))?;
        let placements = hierarchy.map(|hierarchy| &*hierarchy.placements);
        let image = Fitted { placements, ..(&program.image).into() };
        if let Some(hierarchy) = hierarchy {
            let strands = &hierarchy.strands.of;
            let crossings = evaluate::launch_crossings(&program.image, strands, paths)?;
            self.crossings.get_or_insert_default().add(&crossings, 1)?;
        }
        let lines = evaluate::profile_launch(design.organisation(), clusters, image, paths)?;
        self.lines.resize(lines.len(), Counters::default());
        for (sum, line) in self.lines.iter_mut().zip(&lines) {
            *sum = sum.checked_add(line)?;
        }
        self.usage.add(&evaluate::launch_usage(&program.image, paths)?, 1)?;
        self.spills.add(program, paths);
        Ok(())
    }

    /// What crosses strands, for each instruction, beside what the design reads and writes.
    fn across_strands(&self) -> String {
        let Some(crossings) = self.crossings else { return String::new() };
        let sum = |of: fn(&Counters) -> u64| self.lines.iter().map(of).sum::<u64>();
        let executed = sum(Counters::warp_instructions);
        let per_instruction = |count: u64| {
            if executed == 0 { 0.0 } else { count as f64 / executed as f64 }
        };
        format!(
            "strands: live-in {:.2} an instruction, MRF reads {:.2}; live-out {:.2}, MRF writes \
             {:.2}\n",
            per_instruction(crossings.live_in),
            per_instruction(sum(Counters::mrf_reads)),
            per_instruction(crossings.live_out),
            per_instruction(sum(Counters::mrf_writes)),
        )
    }

    /// One text for each instruction, all as wide as [`heading`].
    fn margin(&self, design: &Design) -> Result<Vec<String>, EvaluateError> {
        let line = |counters: &Counters| {
            let executed = counters.warp_instructions();
            let lanes = lines::lanes(counters.thread_instructions(), executed);
            let energy = price(design, counters)?;
            let energy = energy.map_or_else(
                || "-".to_owned(),
                // Rounded to whole picojoules: a line's share, not a total.
                |energy| lines::picojoules(energy.total().0).to_string(),
            );
            let last = if has_last(design) {
                let writes = counters.lrf_writes() + counters.lrf_fills();
                format!(" {:>10} {writes:>10}", counters.lrf_reads())
            } else {
                String::new()
            };
            Ok(format!(
                "{executed:>10} {lanes:>5} {:>10} {:>9} {:>10} {:>10}{last} {energy:>10} |",
                counters.mrf_reads(),
                counters.rfc_reads() + counters.orf_reads(),
                counters.mrf_writes(),
                counters.rfc_writes() + counters.orf_writes(),
            ))
        };
        self.lines.iter().map(line).collect()
    }
}

/// Dynamic use of values, as ISCA'11 Figure 2 counts it.
fn dynamic_values(usage: &ValueUsage) -> String {
    let reads = &usage.reads;
    let life = &usage.lifetime_of_read_once;
    let [from_private, from_shared] = usage.read_by_shared;
    format!(
        "executed values: {}; never read {}, once {}, twice {}, more often {}\nread once after 1 \
         instruction {}, 2: {}, 3: {}, more: {}\nread by the shared datapath: {}, of which the \
         private datapath made {from_private}\n",
        usage.values(),
        reads[0],
        reads[1],
        reads[2],
        usage.read_at_least(3),
        life[0],
        life[1],
        life[2],
        life[3..].iter().sum::<u64>(),
        from_private + from_shared,
    )
}
