//! Digest: one line for each workload and design, to compare machines and builds with each other.

use std::fmt::Write as _;

use super::RunReport;

/// The reports as lines `WORKLOAD DESIGN MODE DIGEST`, in cycle mode followed by the cycles: what
/// the firmware prints for the same run.
pub fn to_text(reports: &[RunReport]) -> String {
    let mut text = String::new();
    for RunReport { workload, design, mode, digest, counters, .. } in reports {
        // Writing to a string cannot fail.
        let _ = write!(text, "{workload} {design} {mode} {digest}");
        if let Some(cycles) = counters.get("cycles") {
            let _ = write!(text, " {cycles}");
        }
        text.push('\n');
    }
    text
}
