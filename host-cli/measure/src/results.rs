//! Results: what an execution computed, beside its host reference, and what its kernels printed.

use strata_files::failure::Failure;
use strata_workload::compare::CompareError;
use strata_workload::simulate::{LaunchRecord, Prepared};

use crate::report::Check;

/// Compares final buffers with the host reference.
pub(crate) fn check(prepared: &Prepared, finals: &[Vec<u8>]) -> Result<Check, Failure> {
    let comparisons =
        prepared.compare(finals).map_err(|error| uncomparable(&prepared.name, &error))?;
    let Some(comparisons) = comparisons else { return Ok(Check::None) };
    for comparison in &comparisons {
        if !comparison.passed() {
            return Err(Failure::check(format!(
                "`{}` computed a wrong result: {comparison}",
                prepared.name
            )));
        }
    }
    Ok(Check::Passed)
}

/// A launch file that does not offer what its host reference starts from or speaks of.
pub(crate) fn uncomparable(workload: &str, error: &CompareError) -> Failure {
    Failure::input(format!("`{workload}` cannot be compared with its host reference: {error}"))
        .hint("correct the launch file, or leave its `[check]` out")
}

/// What a kernel printed, as a note.
pub(crate) fn printed(launch: &LaunchRecord<'_>) -> String {
    let text = String::from_utf8_lossy(&launch.outcome.printf);
    let cut = if launch.outcome.printf_truncated { "\n(the rest was dropped)" } else { "" };
    format!("kernel `{}` printed:\n{}{cut}", launch.kernel, text.trim_end())
}
