//! CSV: one line for each workload and design, with fixed columns.

use std::fmt::Write as _;

use super::{Endurance, EnergyInTime, RunReport, storage_energy};
use crate::design::parameter_keys;

/// The reports as CSV (RFC 4180, `\n` line ends). Columns: workload, design, machine, mode, order,
/// the design's parameters by the keys of design files, always the same, then the union of
/// counters, derived ratios and energies in sorted order, then energy with leakage, wear, counts of
/// a data cache and of registers in scratchpad memory, and energy of
/// storage in each technology where a report has them; a missing value is empty.
pub fn to_text(reports: &[RunReport]) -> String {
    let counters = columns(reports, |report| report.counters.keys().cloned().collect());
    let derived = columns(reports, |report| report.derived.keys().cloned().collect());
    let energy = columns(reports, |report| {
        report.energy_fj.iter().flat_map(|parts| parts.keys().cloned()).collect()
    });
    let data_cache = columns(reports, |report| {
        report.data_cache.iter().flat_map(|counts| counts.keys().cloned()).collect()
    });
    let expansion = columns(reports, |report| {
        report.expansion.iter().flat_map(|counts| counts.keys().cloned()).collect()
    });
    let mut text = String::from("workload,design,machine,mode,order");
    let keys = parameter_keys().iter().map(|(key, _)| key);
    for name in keys.chain(&counters).chain(&derived) {
        text.push(',');
        text.push_str(name);
    }
    for name in &energy {
        let _ = write!(text, ",energy_{name}_fj");
    }
    let in_time = reports.iter().any(|report| report.energy_in_time.is_some());
    if in_time {
        text.push_str(",dynamic_fj,leakage_fj,total_fj,average_power_mw,energy_delay_fj_s");
    }
    let worn = reports.iter().any(|report| report.endurance.is_some());
    if worn {
        text.push_str(",cell_writes_max,cell_writes_mean,cells");
    }
    let storage = columns(reports, storage_energy::columns);
    for (group, names) in
        [("data_cache", &data_cache), ("expansion", &expansion), ("storage", &storage)]
    {
        for name in names {
            let _ = write!(text, ",{group}_{name}");
        }
    }
    text.push('\n');
    for report in reports {
        push_labels(&mut text, report);
        for name in &counters {
            push(&mut text, report.counters.get(name));
        }
        for name in &derived {
            push(&mut text, report.derived.get(name).and_then(Option::as_ref));
        }
        for name in &energy {
            push(&mut text, report.energy_fj.as_ref().and_then(|parts| parts.get(name)));
        }
        if in_time {
            push_in_time(&mut text, report.energy_in_time.as_ref());
        }
        if worn {
            push_endurance(&mut text, report.endurance.as_ref());
        }
        for name in &data_cache {
            push(&mut text, report.data_cache.as_ref().and_then(|counts| counts.get(name)));
        }
        for name in &expansion {
            push(&mut text, report.expansion.as_ref().and_then(|counts| counts.get(name)));
        }
        let values = storage_energy::values(report);
        for name in &storage {
            push(&mut text, values.get(name));
        }
        text.push('\n');
    }
    text
}

/// What was run, and the design's parameters.
fn push_labels(text: &mut String, report: &RunReport) {
    let RunReport { workload, design, machine, mode, order, .. } = report;
    let labels = [workload, design, machine, mode, order].map(|label| field(label));
    text.push_str(&labels.join(","));
    for (key, _) in parameter_keys() {
        let value = report.parameters.get(key).and_then(Option::as_ref);
        push(text, value.map(|value| field(&value.to_string())).as_ref());
    }
}

fn push_in_time(text: &mut String, energy: Option<&EnergyInTime>) {
    push(text, energy.map(|energy| energy.dynamic_fj).as_ref());
    push(text, energy.map(|energy| energy.leakage_fj).as_ref());
    push(text, energy.map(|energy| energy.total_fj).as_ref());
    push(text, energy.map(|energy| energy.average_power_mw).as_ref());
    push(text, energy.map(|energy| energy.energy_delay_fj_s).as_ref());
}

fn push_endurance(text: &mut String, worn: Option<&Endurance>) {
    push(text, worn.map(|worn| worn.writes_max).as_ref());
    push(text, worn.map(|worn| worn.writes_mean).as_ref());
    push(text, worn.map(|worn| worn.cells).as_ref());
}

fn columns(reports: &[RunReport], names: impl Fn(&RunReport) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = reports.iter().flat_map(names).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A value behind a comma; nothing where it is not known.
pub(crate) fn push(text: &mut String, value: Option<&impl std::fmt::Display>) {
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
    use super::*;
    use crate::report::data_cache::tests::{made_up, report};

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(field("hotspot"), "hotspot");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn a_data_cache_adds_columns_which_others_leave_empty() {
        let plain = report("isca11", None);
        let cached = report("mine", Some(&made_up()));
        let alone = to_text(std::slice::from_ref(&plain));
        assert!(!alone.contains("data_cache_"), "{alone}");
        let text = to_text(&[plain, cached]);
        let lines: Vec<Vec<_>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        let value = |line: usize, name: &str| {
            let column = lines[0].iter().position(|column| *column == name).expect(name);
            lines[line][column]
        };
        for (name, expected) in [
            ("data_cache_load_hits", "100"),
            ("data_cache_cache_conflict_cycles", "1200"),
            ("data_cache_lookups", "2800"),
            ("data_cache_dram_bytes", "2700"),
            ("data_cache_load_hits_percent", "16.666667"),
        ] {
            assert_eq!((value(1, name), value(2, name)), ("", expected), "{name}");
        }
    }
}
