//! Designs that a board is set to, one after the other, and compared with.

use crate::printer::Printer;
use strata_board::compare::{self, Compared};
use strata_board::material::Material;
use strata_board::plan::Plan;
use strata_board::session::Session;
use strata_files::failure::Failure;
use strata_measure::notes::Notes as _;
use strata_measure::subject;

/// Designs unless others are named: the cache, and the write pool with split bank writes.
const DEFAULT_DESIGNS: [&str; 2] = ["isca11-rfc6", "warrf"];

/// The designs to set the prototype to.
pub(super) fn plans(names: &[String]) -> Result<Vec<Plan>, Failure> {
    let designs = match names {
        [] => subject::designs(&DEFAULT_DESIGNS.map(str::to_owned))?,
        names => subject::designs(names)?,
    };
    designs.iter().map(Plan::new).collect()
}

/// Compares one design, from the beginning again if the connection is lost once.
pub(super) fn one_design(
    session: &mut Session,
    plan: &Plan,
    material: &Material,
    accesses: u64,
    printer: &Printer,
) -> Result<Compared, Failure> {
    let once = |session: &mut Session| {
        let info = session.info()?;
        let progress = printer.progress(accesses);
        progress.set_message(plan.design.clone());
        let compared = compare::compare(session, &info, plan, material, accesses, &|made| {
            progress.set_position(made);
        });
        progress.finish_and_clear();
        compared
    };
    match once(session) {
        Err(error) if error.is_lost_connection() && session.board().reconnects() => {
            printer.note(&format!("{error}; connecting again, and {} once more", plan.design));
            // The lost connection says more than the failure to restore it.
            session.reconnect().map_err(|_| error)?;
            Ok(once(session)?)
        }
        other => Ok(other?),
    }
}
