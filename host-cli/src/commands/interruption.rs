//! Ctrl-C in commands that finish what they have begun.

use crate::printer::Printer;
use strata_files::interrupt;
use strata_measure::notes::Notes as _;

/// From now on the first Ctrl-C lets what runs end, and a note says so.
pub(super) fn finish_first(printer: &Printer) {
    let printer = printer.clone();
    interrupt::finish_first(move || {
        printer.note("finishing what runs; Ctrl-C again ends at once");
    });
}
