//! Difference: what changed from one design, or run, to another, and which events caused it.
//!
//! Both sides are what `--format json` writes: reports of `strata run`, and profiles of `strata
//! inspect --profile` for lines. What changed most comes first: by its energy, where both sides' is
//! known, otherwise by its count.

mod render;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_core::event::{Counters, EnergyClass, Event};

use strata_design::Design;
use strata_measure::price;

pub use render::to_table;

/// Layout version of a difference.
pub const SCHEMA: &str = "strata.difference/1";

/// What changed between two sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Layout version of this object.
    pub schema: String,
    /// What the first side is called.
    pub from: String,
    /// What the second side is called.
    pub to: String,
    /// Parameters of the designs that differ, by the keys of design files.
    pub parameters: Vec<Changed>,
    /// Inputs that both sides have.
    pub workloads: Vec<WorkloadDifference>,
    /// Inputs that only one side has.
    pub unmatched: Vec<String>,
}

/// A parameter that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Changed {
    /// Key of design files.
    pub key: String,
    /// On the first side; null where it has no such part.
    pub from: Option<String>,
    /// On the second side.
    pub to: Option<String>,
}

/// What changed for one input.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkloadDifference {
    /// Name of the input.
    pub workload: String,
    /// Energy of register accesses. Unit: femtojoules.
    pub energy_fj: Option<Pair>,
    /// Unit: cycles; null in count mode.
    pub cycles: Option<Pair>,
    /// Energy by part, which changed most first. Unit: femtojoules.
    pub energy_parts_fj: Vec<Count>,
    /// Events whose count or energy changed, which changed most first.
    pub events: Vec<Count>,
    /// Lines of PTX, which changed most first; empty where they were not asked for.
    pub lines: Vec<LineDifference>,
}

/// A value on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pair {
    /// On the first side.
    pub from: u64,
    /// On the second side.
    pub to: u64,
}

impl Pair {
    /// What it became more, or less.
    pub fn change(self) -> i128 {
        i128::from(self.to) - i128::from(self.from)
    }
}

/// A count that changed, or its energy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Count {
    /// Its name in reports.
    pub name: String,
    /// Counts on both sides.
    #[serde(flatten)]
    pub count: Pair,
    /// What the energy of these events became more, or less. Null where it is not known. Unit:
    /// femtojoules.
    pub energy_change_fj: Option<i64>,
}

/// A line that changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineDifference {
    /// Kernel.
    pub kernel: String,
    /// Line of the PTX, from 1.
    pub ptx_line: u64,
    /// Its text.
    pub ptx: String,
    /// Line of CUDA, where the PTX says it: `file:line`.
    pub cuda: Option<String>,
    /// What changed: `energy_fj` in count mode, `stall_cycles` in cycle mode.
    pub of: String,
    /// Its value on both sides.
    #[serde(flatten)]
    pub value: Pair,
}

/// A side: what it is called, its reports, and its design if that is known.
pub struct Side<'a> {
    /// For headings.
    pub name: String,
    /// One for each input.
    pub reports: Vec<Value>,
    /// Profiles by input.
    pub profiles: BTreeMap<String, Value>,
    /// What prices the events.
    pub design: Option<&'a Design>,
}

impl Difference {
    /// Compares two sides. `most`: how many lines of each input at most.
    pub fn new(from: &Side<'_>, to: &Side<'_>, most: usize) -> Self {
        let name = |report: &Value| text(report, "workload").unwrap_or_default();
        let (mut workloads, mut unmatched, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for report in &from.reports {
            let Some(other) = to.reports.iter().find(|other| name(other) == name(report)) else {
                unmatched.push(name(report));
                continue;
            };
            if workloads.is_empty() {
                parameters = changed_parameters(report, other);
            }
            let workload = name(report);
            let profiles = (from.profiles.get(&workload), to.profiles.get(&workload));
            let lines = match profiles {
                (Some(from), Some(to)) => changed_lines(from, to, most),
                _ => Vec::new(),
            };
            let total = "total";
            let (energy_fj, own) = (pair(report, other, "energy_fj"), "counters");
            let events = changed_events((report, from.design), (other, to.design));
            workloads.push(WorkloadDifference {
                energy_fj: energy_fj.iter().find(|count| count.name == total).map(|of| of.count),
                cycles: pair(report, other, own)
                    .iter()
                    .find(|count| count.name == "cycles")
                    .map(|count| count.count),
                energy_parts_fj: sorted(
                    energy_fj.into_iter().filter(|count| count.name != total).collect(),
                ),
                events,
                lines,
                workload,
            });
        }
        let has = |report: &&Value| !from.reports.iter().any(|own| name(own) == name(report));
        unmatched.extend(to.reports.iter().filter(has).map(name));
        Self {
            schema: SCHEMA.to_owned(),
            from: from.name.clone(),
            to: to.name.clone(),
            parameters,
            workloads,
            unmatched,
        }
    }
}

fn text(report: &Value, key: &str) -> Option<String> {
    Some(report.get(key)?.as_str()?.to_owned())
}

fn changed_parameters(from: &Value, to: &Value) -> Vec<Changed> {
    let told = |value: Option<&Value>| match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let of = |side: &Value| side.get("parameters").and_then(Value::as_object).cloned();
    let (from, to) = (of(from).unwrap_or_default(), of(to).unwrap_or_default());
    let mut keys: Vec<&String> = from.keys().chain(to.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let one = |key: &String| Changed {
        key: key.clone(),
        from: told(from.get(key)),
        to: told(to.get(key)),
    };
    keys.into_iter().map(one).filter(|changed| changed.from != changed.to).collect()
}

/// Numbers of a table that both sides have; where one of them lacks one it is 0 there.
fn pair(from: &Value, to: &Value, table: &str) -> Vec<Count> {
    let of = |side: &Value| side.get(table).and_then(Value::as_object).cloned();
    let (Some(from), Some(to)) = (of(from), of(to)) else { return Vec::new() };
    let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let number = |side: &serde_json::Map<String, Value>, name: &str| {
        side.get(name).and_then(Value::as_u64).unwrap_or(0)
    };
    let one = |name: &String| Count {
        name: name.clone(),
        count: Pair { from: number(&from, name), to: number(&to, name) },
        energy_change_fj: None,
    };
    names.into_iter().map(one).collect()
}

/// Those that changed, which changed most first.
fn sorted(mut counts: Vec<Count>) -> Vec<Count> {
    counts.retain(|count| count.count.change() != 0 || count.energy_change_fj.unwrap_or(0) != 0);
    let energy = |count: &Count| count.energy_change_fj.map_or(0, i64::unsigned_abs);
    let change = |count: &Count| count.count.change().unsigned_abs();
    counts.sort_by(|one, other| {
        let by_energy = energy(other).cmp(&energy(one));
        by_energy
            .then_with(|| change(other).cmp(&change(one)))
            .then_with(|| one.name.cmp(&other.name))
    });
    counts
}

fn changed_events(
    (from, own): (&Value, Option<&Design>),
    (to, other): (&Value, Option<&Design>),
) -> Vec<Count> {
    let mut counts = pair(from, to, "counters");
    for count in &mut counts {
        let event = Event::ALL.iter().find(|event| event.name() == count.name);
        let event = event.filter(|event| event.energy_class() != EnergyClass::Free);
        let energy = |design: Option<&Design>, number: u64| energy_of(design?, *event?, number);
        let (from, to) = (energy(own, count.count.from), energy(other, count.count.to));
        count.energy_change_fj = from.zip(to).and_then(|(from, to)| i64::try_from(to - from).ok());
    }
    sorted(counts)
}

/// Energy of so many events alone. A write of a second level shares its way with the first's: it
/// has what it adds. Unit: femtojoules.
fn energy_of(design: &Design, event: Event, number: u64) -> Option<i128> {
    let mut counters = Counters::default();
    let mut without = 0;
    if let EnergyClass::DualWrite(level, datapath) = event.energy_class() {
        let write = EnergyClass::Write(level, datapath);
        let first = Event::ALL.iter().find(|event| event.energy_class() == write)?;
        counters.record(*first, number);
        without = i128::from(price(design, &counters).ok()??.total().0);
    }
    counters.record(event, number);
    Some(i128::from(price(design, &counters).ok()??.total().0) - without)
}

fn changed_lines(from: &Value, to: &Value, most: usize) -> Vec<LineDifference> {
    let lines = |side: &Value| side.get("lines").and_then(Value::as_array).cloned();
    let (from, to) = (lines(from).unwrap_or_default(), lines(to).unwrap_or_default());
    let place = |line: &Value| (text(line, "kernel"), line.get("ptx_line").and_then(Value::as_u64));
    let of = |key: &str, line: &Value| line.get(key).and_then(Value::as_u64);
    let known = |key: &&str| from.iter().chain(&to).all(|line| of(key, line).is_some());
    let Some(key) = ["stall_cycles", "energy_fj", "executions"].into_iter().find(known) else {
        return Vec::new();
    };
    let mut all: BTreeMap<_, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
    for line in &from {
        all.entry(place(line)).or_default().0 = Some(line);
    }
    for line in &to {
        all.entry(place(line)).or_default().1 = Some(line);
    }
    let value = |line: Option<&Value>| line.and_then(|line| of(key, line)).unwrap_or(0);
    let mut changed: Vec<LineDifference> = all
        .into_iter()
        .filter_map(|((kernel, ptx_line), (from, to))| {
            let either = from.or(to)?;
            let cuda = text(either, "cuda_file").zip(of("cuda_line", either));
            Some(LineDifference {
                kernel: kernel?,
                ptx_line: ptx_line?,
                ptx: text(either, "ptx").unwrap_or_default(),
                cuda: cuda.map(|(file, line)| format!("{file}:{line}")),
                of: key.to_owned(),
                value: Pair { from: value(from), to: value(to) },
            })
        })
        .filter(|line| line.value.change() != 0)
        .collect();
    changed.sort_by_key(|line| std::cmp::Reverse(line.value.change().unsigned_abs()));
    changed.truncate(most);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use strata_design::resolve;

    fn side<'a>(name: &str, reports: Vec<Value>, design: Option<&'a Design>) -> Side<'a> {
        Side { name: name.to_owned(), reports, profiles: BTreeMap::new(), design }
    }

    #[test]
    fn energy_of_events_adds_up_to_that_of_all() {
        for name in ["isca11-rfc6", "diss-rfc6-lrf", "diss-orf3-lrf-split"] {
            let design = resolve(name).unwrap();
            let mut counters = Counters::default();
            let mut sum = 0;
            for (number, &event) in (1_u64..).zip(Event::ALL) {
                let Some(energy) = energy_of(&design, event, number) else { continue };
                if let EnergyClass::DualWrite(..) = event.energy_class() {
                    continue;
                }
                counters.record(event, number);
                sum += energy;
            }
            let all = price(&design, &counters).unwrap().unwrap().total().0;
            assert_eq!(sum, i128::from(all), "{name}");
            assert!(sum > 0);
        }
    }

    #[test]
    fn what_changed_most_comes_first() {
        let report = |reads: u64, writes: u64, entries: u64| {
            json!({
                "workload": "w", "parameters": {"cache.entries": entries, "banks": 4},
                "counters": {"mrf_reads_private": reads, "mrf_writes_private": writes, "ctas": 1},
                "energy_fj": {"mrf_bank": reads, "total": reads}
            })
        };
        let design = resolve("isca11").unwrap();
        let one = side("one", vec![report(10, 500, 6)], Some(&design));
        let other = side("other", vec![report(30, 510, 3)], Some(&design));
        let difference = Difference::new(&one, &other, 0);
        let [parameter] = difference.parameters.try_into().unwrap();
        assert_eq!((parameter.key.as_str(), parameter.to.as_deref()), ("cache.entries", Some("3")));
        let [workload] = difference.workloads.try_into().unwrap();
        assert_eq!(workload.energy_fj, Some(Pair { from: 10, to: 30 }));
        let names: Vec<_> = workload.events.iter().map(|count| count.name.as_str()).collect();
        assert_eq!(names, ["mrf_reads_private", "mrf_writes_private"]);
        // Twenty reads of 64 pJ in the banks and 60.8 pJ on the wires.
        assert_eq!(workload.events[0].energy_change_fj, Some(20 * 124_800));
        let gone = Difference::new(&one, &side("none", Vec::new(), None), 0);
        assert_eq!(gone.unmatched, ["w"]);
    }
}
