//! CSV: one line for each workload and design, with fixed columns.

use std::fmt::Write as _;

use super::RunReport;

/// The reports as CSV (RFC 4180, `\n` line ends). Columns: workload, design, machine, mode, then
/// the union of counters, derived ratios and energies in sorted order; a missing value is empty.
pub fn to_text(reports: &[RunReport]) -> String {
    let counters = columns(reports, |report| report.counters.keys().cloned().collect());
    let derived = columns(reports, |report| report.derived.keys().cloned().collect());
    let energy = columns(reports, |report| {
        report.energy_fj.iter().flat_map(|parts| parts.keys().cloned()).collect()
    });
    let mut text = String::from("workload,design,machine,mode");
    for name in counters.iter().chain(&derived) {
        text.push(',');
        text.push_str(name);
    }
    for name in &energy {
        let _ = write!(text, ",energy_{name}_fj");
    }
    text.push('\n');
    for report in reports {
        let labels = [&report.workload, &report.design, &report.machine, &report.mode];
        let labels = labels.map(|label| field(label));
        text.push_str(&labels.join(","));
        for name in &counters {
            push(&mut text, report.counters.get(name));
        }
        for name in &derived {
            push(&mut text, report.derived.get(name).and_then(Option::as_ref));
        }
        for name in &energy {
            push(&mut text, report.energy_fj.as_ref().and_then(|parts| parts.get(name)));
        }
        text.push('\n');
    }
    text
}

fn columns(reports: &[RunReport], names: impl Fn(&RunReport) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = reports.iter().flat_map(names).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn push(text: &mut String, value: Option<&impl std::fmt::Display>) {
    text.push(',');
    if let Some(value) = value {
        let _ = write!(text, "{value}");
    }
}

/// A text field, quoted when it must be.
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(field("hotspot"), "hotspot");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
