//! Problems: warnings and errors of PTX as text, and why a workload does not run.

use std::fmt::Write as _;

use strata_files::failure::Failure;
use strata_ptx::diagnostic::{self, Diagnostic, DiagnosticKind, LineIndex, counted};
use strata_workload::Workload;
use strata_workload::simulate::RunError;

use crate::notes::Notes;

/// Tells what is not known of a PTX file.
pub fn warn(file: &str, text: &str, notes: &dyn Notes) {
    let zeros = strata_ptx::final_zeros(text);
    if zeros > 0 {
        let left = if zeros == 1 { "is" } else { "are" };
        let zeros = counted(zeros, "zero byte");
        notes.note(&format!("`{file}` ends with {zeros}, which {left} left out"));
    }
    let warnings = strata_ptx::warnings(text);
    if warnings.is_empty() {
        return;
    }
    let lines = LineIndex::new(text);
    for warning in &warnings {
        notes.warning(&diagnostic::render(warning, file, text, &lines));
    }
}

/// All diagnostics of a file as one failure.
pub fn diagnostics(file: &str, text: &str, diagnostics: &[Diagnostic]) -> Failure {
    let lines = LineIndex::new(text);
    let unsupported =
        diagnostics.iter().filter(|found| found.kind == DiagnosticKind::Unsupported).count();
    let errors = diagnostics.len() - unsupported;
    let mut message = match (errors, unsupported) {
        (_, 0) => format!("`{file}` has {}", counted(errors, "error")),
        (0, _) => format!("`{file}` needs {}", counted(unsupported, "unsupported feature")),
        _ => format!(
            "`{file}` has {} and needs {}",
            counted(errors, "error"),
            counted(unsupported, "unsupported feature")
        ),
    };
    for found in diagnostics {
        let _ = write!(message, "\n\n{}", diagnostic::render(found, file, text, &lines).trim_end());
    }
    Failure::input(message)
}

/// Why a workload does not run.
pub fn run_error(workload: &Workload, error: &RunError) -> Failure {
    match error {
        RunError::Ptx { diagnostics, .. } => {
            self::diagnostics(&workload.ptx_file, &workload.ptx, diagnostics)
        }
        other => Failure::input(other.to_string()).hint(other.help()),
    }
}
