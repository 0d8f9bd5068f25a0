//! `exact`: every figure that must come out, computed, beside what the papers print.

use std::fmt::Write as _;

use crate::printer::Printer;
use strata_files::failure::{ExitStatus, Failure};
use strata_study::exact::{self, Status};

/// Prints all figures; exit status 1 when one that is built disagrees.
pub fn run(printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut text = String::from("Figures that follow from the papers' parameters\n");
    let mut failed = false;
    let (later, built): (Vec<_>, Vec<_>) =
        exact::evaluate().into_iter().partition(|figure| figure.status == Status::NotBuiltYet);
    for figure in built.into_iter().chain(later) {
        let status = match figure.status {
            Status::Pass => "pass",
            Status::Fail => "FAIL",
            Status::NotBuiltYet => "not built yet",
        };
        failed |= figure.status == Status::Fail;
        let _ = writeln!(text, "\n{}: {status}", figure.id);
        for item in &figure.items {
            let mark = match (item.is_equal(), item.agrees()) {
                (true, _) => "",
                (false, true) => "   (within the rounding)",
                (false, false) => "   <- differs",
            };
            let _ = writeln!(
                text,
                "  {}: computed {}, printed {}{mark}",
                item.label, item.computed, item.printed
            );
        }
    }
    text.push_str("\nFigures that the papers' own parameters contradict\n");
    for figure in exact::inconsistencies() {
        let _ = writeln!(text, "\n{}\n  printed: {}", figure.id, figure.printed);
        match &figure.computed {
            Some(numbers) => {
                for (label, number) in numbers {
                    let _ = writeln!(text, "  computed: {label}: {number}");
                }
            }
            None => text.push_str("  computed: not built yet\n"),
        }
    }
    printer.data(&text)?;
    Ok(if failed { ExitStatus::CheckFailed } else { ExitStatus::Success })
}
