//! Trends: the papers' claims beside our numbers, in three orders of instructions.

use strata_compiler::Order;

use super::lab::measured;
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::options::{Mode, Scale, Source};
use strata_report::columns::{Cell, Columns};
use strata_study::claims::{self, Compared};
use strata_workload as workload;

/// The orders: as the compiler wrote them, and as traces of machine code have them.
pub const ORDERS: [Order; 3] = [Order::Ptx, Order::Scheduled, Order::ScheduledRenamed];

/// The columns of a row of claims.
pub const CLAIM_COLUMNS: [&str; 10] = [
    "claim",
    "paper",
    "printed",
    "ptx",
    "scheduled",
    "scheduled_renamed",
    "difference",
    "trend_holds_in",
    "rule",
    "deviation",
];

/// In each order the same claims, in the papers' order.
#[derive(Debug)]
pub struct Trends(pub [Vec<Compared>; 3]);

impl Trends {
    /// Runs the suite under every design that the claims need.
    ///
    /// # Errors
    /// A workload that does not run.
    pub fn measured(scale: Scale, jobs: usize, notes: &dyn Notes) -> Result<Self, Failure> {
        let in_order = |order: Order| {
            let args = Source { orders: vec![order], ..Source::of(scale) };
            let inputs: Vec<_> = workload::names().map(|name| (name, args.clone())).collect();
            let reports = |mode: Mode| {
                let designs = claims::designs(mode)?;
                measured(&inputs, mode, &designs, (jobs, notes))
            };
            let (counted, timed) = (reports(Mode::Count)?, reports(Mode::Cycle)?);
            claims::compare(&counted, &timed)
                .ok_or_else(|| Failure::internal("a claim has no number of ours beside it"))
        };
        let [ptx, scheduled, renamed] = ORDERS.map(in_order);
        Ok(Self([ptx?, scheduled?, renamed?]))
    }

    /// The claims in the order of the PTX.
    pub fn claims(&self) -> &[Compared] {
        &self.0[0]
    }

    /// Our numbers of a claim, with the paper's decimals.
    pub fn numbers(&self, place: usize) -> [String; 3] {
        self.0.each_ref().map(|claims| {
            let claim = &claims[place];
            format!("{:.*}", claim.decimals, claim.ours)
        })
    }

    /// How far the first number lies outside of the paper's range; `-` where it prints none.
    pub fn difference(&self, place: usize) -> String {
        let claim = &self.claims()[place];
        claim.difference.map_or_else(
            || "-".to_owned(),
            |difference| format!("{difference:+.*}", claim.decimals),
        )
    }

    /// The names of the orders in which a trend holds.
    pub fn holding(&self, place: usize) -> Vec<&'static str> {
        let orders = ORDERS.iter().zip(&self.0).filter(|(_, claims)| claims[place].holds);
        orders.map(|(order, _)| order.name()).collect()
    }

    /// How many trends hold in each order.
    pub fn held(&self) -> [usize; 3] {
        self.0.each_ref().map(|claims| claims.iter().filter(|claim| claim.holds).count())
    }

    /// A row for each claim.
    pub fn columns(&self) -> Columns {
        let row = |(place, claim): (usize, &Compared)| {
            let text = |text: String| Some(Cell::Text(text));
            let ours = self.0.each_ref().map(|claims| Some(Cell::Real(claims[place].ours)));
            let mut row = vec![
                text(claim.what.to_owned()),
                text(claim.paper.to_owned()),
                text(claim.printed.to_owned()),
            ];
            row.extend(ours);
            row.extend([
                claim.difference.map(Cell::Real),
                text(self.holding(place).join(" ")),
                text(claim.rule.to_string()),
                claim.deviation.map(|deviation| Cell::Text(deviation.to_owned())),
            ]);
            row
        };
        let rows = self.claims().iter().enumerate().map(row).collect();
        Columns { header: CLAIM_COLUMNS.map(str::to_owned).to_vec(), rows }
    }
}
