//! `fpga bench`: how fast a board is.

use schemars::JsonSchema;
use serde::Serialize;
use strata_firmware::{DESIGNS, Design};
use strata_link::message::{Bench, Info, Reply, Request};

use super::designs::{one_design, plans};
use crate::cli::fpga::{BenchArgs, FpgaFormat};
use crate::printer::Printer;
use strata_board::board::Board;
use strata_board::compare;
use strata_board::material::Material;
use strata_board::plan::Plan;
use strata_board::report::BoardReport;
use strata_board::session::{LONG, Session};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::Request as Measured;
use strata_measure::options::{Scale, Source};
use strata_measure::subject::Subject;
use strata_report::json;
use strata_report::text_table::TextTable;

/// Version of the JSON layout. Raised when a key changes its meaning or goes away.
const SCHEMA: &str = "strata.fpga.bench/1";
/// What is streamed over the line.
const WORKLOAD: &str = "hotspot";
/// Registers of a warp while the device measures itself.
const REGISTERS: u16 = 32;
/// CTAs that run in cycle mode, so that a slow board is done in seconds.
const CTAS: u16 = 1;

/// How fast a board is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct BenchReport {
    /// Layout version of this object.
    pub schema: String,
    /// The board.
    pub board: BoardReport,
    /// What was measured.
    pub measured: Vec<Measurement>,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Measurement {
    /// What ran.
    pub what: String,
    /// Under which design.
    pub design: String,
    /// What is counted.
    pub unit: String,
    /// How many of them.
    pub units: u64,
    /// Ticks of the board's clock that they took; not measured over the line.
    pub ticks: Option<u64>,
    /// How many in a second, by the board's clock or, over the line, by this machine's.
    pub per_second: u64,
}

/// Runs the command.
pub(super) fn run(args: &BenchArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let plans = plans(&args.designs)?;
    let source = Source::of(Scale::Small);
    let subject = Subject::new(WORKLOAD, &source, printer)?;
    let accesses = u64::from(args.accesses);
    let material = Material::new(&subject, &Measured::new(&source)?, accesses, printer)?;
    let mut session = Session::new(Board::new(&args.connect.target(), printer)?)?;
    let info = session.info()?;
    let mut measured = Vec::new();
    for plan in &plans {
        compare::fits(&info, plan)?;
        of_prototype(&mut session, &info, plan, args.accesses, &mut measured)?;
    }
    if let Some(workload) = &info.workload {
        of_launch(&mut session, &info, workload, &mut measured)?;
    }
    for plan in &plans {
        let compared = one_design(&mut session, plan, &material, accesses, printer)?;
        measured.push(Measurement {
            what: format!("{WORKLOAD} over the line"),
            design: plan.design.clone(),
            unit: "commands".to_owned(),
            units: compared.made.commands,
            ticks: None,
            per_second: compared.speed,
        });
        if !compared.is_equal() {
            return Err(Failure::check(format!(
                "the board and the model differ under `{}`",
                plan.design
            ))
            .hint("`strata fpga run` shows where"));
        }
    }
    let report =
        BenchReport { schema: SCHEMA.to_owned(), board: BoardReport::new(&info), measured };
    match args.format {
        FpgaFormat::Table => printer.data(&to_text(&report)),
        FpgaFormat::Json => printer.data(&json::to_text(&report)?),
    }
}

/// The prototype and its model on the device.
fn of_prototype(
    session: &mut Session,
    info: &Info,
    plan: &Plan,
    accesses: u32,
    to: &mut Vec<Measurement>,
) -> Result<(), Failure> {
    let Some(settings) = plan.settings(REGISTERS).pack() else { return Ok(()) };
    for (what, bench) in [
        ("model on the device", Bench::Model { settings, accesses }),
        ("prototype, with its data", Bench::Prototype { settings, accesses }),
        ("both, compared", Bench::Compared { settings, accesses }),
    ] {
        let found = measure(session, info, bench)?;
        let (what, design) = (what.to_owned(), plan.design.clone());
        to.push(Measurement { what, design, unit: "accesses".to_owned(), ..found });
    }
    Ok(())
}

/// The core's hot loops on the launch in the firmware's image.
fn of_launch(
    session: &mut Session,
    info: &Info,
    workload: &str,
    to: &mut Vec<Measurement>,
) -> Result<(), Failure> {
    for design in 0..info.designs {
        let Some(Design { name, .. }) = DESIGNS.get(usize::from(design)) else {
            return Err(session.strange().into());
        };
        for (what, bench) in [
            ("count mode", Bench::Count { design }),
            ("cycle mode", Bench::Cycle { design, ctas: CTAS }),
        ] {
            let found = measure(session, info, bench)?;
            let (what, design) = (format!("{workload}, {what}"), (*name).to_owned());
            to.push(Measurement { what, design, unit: "warp instructions".to_owned(), ..found });
        }
    }
    Ok(())
}

/// Has the device measure itself. What it was is left to the caller.
fn measure(session: &mut Session, info: &Info, bench: Bench) -> Result<Measurement, Failure> {
    match session.ask_within(&Request::Bench(bench), LONG)? {
        Reply::Bench { units, ticks } => Ok(Measurement {
            what: String::new(),
            design: String::new(),
            unit: String::new(),
            units,
            ticks: Some(ticks),
            per_second: per_second(units, ticks, info.ticks_hz),
        }),
        _ => Err(session.strange().into()),
    }
}

fn per_second(units: u64, ticks: u64, ticks_hz: u32) -> u64 {
    let all = u128::from(units) * u128::from(ticks_hz) / u128::from(ticks.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

fn to_text(report: &BenchReport) -> String {
    let mut table = TextTable::new();
    table.set_header(["what", "design", "units", "ticks", "ticks each", "each second"]);
    for found in &report.measured {
        let (ticks, each) = match found.ticks {
            Some(ticks) => (ticks.to_string(), tenths(ticks, found.units)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        table.add_row([
            found.what.clone(),
            found.design.clone(),
            format!("{} {}", found.units, found.unit),
            ticks,
            each,
            found.per_second.to_string(),
        ]);
    }
    table.right_from(2);
    let BoardReport { name, prototype, ticks_hz, .. } = &report.board;
    format!("board `{name}`, prototype in {prototype}, {ticks_hz} ticks a second\n{table}\n")
}

/// A quotient with one decimal, rounded down.
fn tenths(total: u64, parts: u64) -> String {
    let tenths = u128::from(total) * 10 / u128::from(parts.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients() {
        assert_eq!(tenths(340, 10), "34.0");
        assert_eq!(tenths(7, 3), "2.3");
        assert_eq!(tenths(7, 0), "7.0");
        assert_eq!(per_second(10, 340, 1_000_000), 29_411);
        assert_eq!(per_second(10, 0, 5), 50);
    }
}
