//! Limits: how much better a compiler-managed hierarchy could get, by the idealisations of `[DISS]`
//! 6.6, and what a real pass attains.

use std::fmt::Write as _;

use rayon::prelude::*;
use strata_compiler::hierarchy::HierarchyConfig;
use strata_core::event::Counters;

use crate::design::{Design, Managed};
use crate::failure::Failure;
use crate::measure::{self, Request, price};
use crate::printer::Printer;
use crate::report::table::{align, mean, new_table};
use crate::subject;
use crate::workload::Workload;

/// One idealisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// None: the design itself.
    Design,
    /// This many entries, at the energy of the design's own. With 8 and 5 for 3 the bound on
    /// bringing consumers closer to their producers.
    Entries(u8),
    /// Nothing is lost when a warp is descheduled: the bound on moving instructions across
    /// long-latency events.
    PastDeschedules,
    /// Instructions reordered within basic blocks by this project's own pass.
    Scheduled,
}

/// Every limit that is studied, the design itself first.
pub const LIMITS: [Limit; 5] =
    [Limit::Design, Limit::Entries(8), Limit::Entries(5), Limit::PastDeschedules, Limit::Scheduled];

impl Limit {
    /// What the table calls it.
    pub fn label(self) -> String {
        match self {
            Self::Design => "the design itself".to_owned(),
            Self::Entries(entries) => format!("{entries} entries at its energy"),
            Self::PastDeschedules => "never emptied by a deschedule".to_owned(),
            Self::Scheduled => "instructions scheduled (a real pass)".to_owned(),
        }
    }

    /// The change of energy that `[DISS]` 6.6 prints, for a split last result file and 3 entries.
    /// Unit: percent.
    pub fn printed(self) -> Option<i32> {
        match self {
            Self::Entries(8) => Some(-9),
            Self::Entries(5) => Some(-6),
            Self::PastDeschedules => Some(-8),
            Self::Entries(_) | Self::Design | Self::Scheduled => None,
        }
    }

    fn config(self, managed: Managed, own: HierarchyConfig) -> HierarchyConfig {
        match self {
            Self::Design | Self::Scheduled => own,
            Self::Entries(entries) => {
                HierarchyConfig { orf_entries: entries.max(managed.entries), ..own }
            }
            Self::PastDeschedules => HierarchyConfig { past_deschedules: true, ..own },
        }
    }
}

/// One workload's energies, in the order of [`LIMITS`]. Unit: femtojoules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub workload: String,
    /// Of the flat register file.
    pub flat: u64,
    /// Of the design under each limit.
    pub energies: Vec<u64>,
}

/// Executes workloads in their own order and scheduled, and prices them under every limit. Rows
/// come in the order of the workloads, whatever `jobs` is.
pub fn rows(
    workloads: &[Workload],
    design: &Design,
    request: &Request,
    jobs: usize,
    printer: &Printer,
) -> Result<Vec<Row>, Failure> {
    let Some(managed) = design.managed else {
        return Err(Failure::input(format!(
            "design `{}` has no compiler-managed hierarchy\n  hint: choose one such as \
             `diss-orf3-lrf-split`",
            design.name
        )));
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| Failure::input(format!("cannot start {jobs} threads: {error}")))?;
    let row = |workload: &Workload| row(workload, design, managed, request, printer);
    let rows: Vec<_> = pool.install(|| workloads.par_iter().with_max_len(1).map(row).collect());
    rows.into_iter().collect()
}

fn row(
    workload: &Workload,
    design: &Design,
    managed: Managed,
    request: &Request,
    printer: &Printer,
) -> Result<Row, Failure> {
    let table = design.energy.as_ref().map_err(|reason| Failure::internal(&reason.to_string()))?;
    let own = managed.config(table);
    let mut flat = Counters::default();
    let mut counters = [Counters::default(); LIMITS.len()];
    for scheduled in [false, true] {
        let mut workload = workload.clone();
        workload.scheduled = scheduled;
        let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
        measure::each_launch(&workload, &prepared, request, printer, |launch| {
            for (limit, total) in LIMITS.iter().zip(&mut counters) {
                if (*limit == Limit::Scheduled) == scheduled {
                    let config = limit.config(managed, own);
                    let counted = launch.count_fitted(&design.count, &config)?;
                    *total = total.checked_add(&counted)?;
                }
            }
            if !scheduled {
                flat = flat.checked_add(&launch.count_flat()?)?;
            }
            Ok(())
        })?;
    }
    let energy = |counters: &Counters| {
        let priced = price(design, counters);
        let priced = priced.map_err(|error| Failure::internal(&error.to_string()))?;
        Ok(priced.map_or(0, |energy| energy.total().0))
    };
    let energies = counters.iter().map(energy).collect::<Result<_, Failure>>()?;
    Ok(Row { workload: workload.name.clone(), flat: energy(&flat)?, energies })
}

impl Row {
    /// Energy under a limit relative to the flat register file's, or to the design's own. Unit:
    /// percent.
    fn relative(&self, limit: usize, to_flat: bool) -> Option<f64> {
        let base = if to_flat { self.flat } else { self.energies[0] };
        (base != 0).then(|| self.energies[limit] as f64 / base as f64 * 100.0)
    }
}

/// The rows as a table: energy relative to the flat register file, workload by workload; beneath,
/// the means, their change against the design, and what the dissertation prints.
pub fn to_table(rows: &[Row], design: &str) -> String {
    let mut table = new_table();
    let mut header = vec!["workload".to_owned(), String::new()];
    header.extend(LIMITS.map(|limit| limit.label().replacen(' ', "\n", 1)));
    table.set_header(header);
    let percent =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.1} %"));
    for row in rows {
        let mut cells = vec![row.workload.clone(), String::new()];
        cells.extend((0..LIMITS.len()).map(|limit| percent(row.relative(limit, true))));
        table.add_row(cells);
    }
    let means = |to_flat| {
        (0..LIMITS.len())
            .map(move |limit| mean(rows.iter().map(|row| row.relative(limit, to_flat))))
    };
    let mut cells = vec!["mean".to_owned(), "of flat".to_owned()];
    cells.extend(means(true).map(percent));
    table.add_row(cells);
    let change = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |v| format!("{:+.1} %", v - 100.0))
    };
    let mut cells = vec![String::new(), "change".to_owned()];
    cells.extend(means(false).map(change));
    table.add_row(cells);
    let mut cells = vec![String::new(), "[DISS]".to_owned()];
    let printed =
        |limit: Limit| limit.printed().map_or_else(String::new, |change| format!("{change} %"));
    cells.extend(LIMITS.map(printed));
    table.add_row(cells);
    align(&mut table);
    let mut text =
        format!("energy of design {design} relative to the flat register file\n{table}\n");
    let _ = writeln!(
        text,
        "change: the mean over workloads of the energy relative to the design itself, less 100 %\n\
         [DISS] 6.6.3: on its own workloads, against 3 entries with a split last result file"
    );
    text
}

/// The rows as CSV: workload, limit, energy, energy of the flat register file.
pub fn to_csv(rows: &[Row]) -> String {
    let mut text = String::from("workload,limit,energy_fj,flat_energy_fj\n");
    for row in rows {
        for (limit, energy) in LIMITS.iter().zip(&row.energies) {
            let _ = writeln!(text, "{},{},{energy},{}", row.workload, limit.label(), row.flat);
        }
    }
    text
}
