//! Sections: runs side by side, by what they are, where their operands come from, what they cost
//! and what their issue slots wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use strata_core::sm::counters::StallReason;

use super::run::Run;
use crate::reproduce::figure::{Figure, Kind, Series};
use crate::reproduce::html::{self, begin_table, end_table};
use crate::reproduce::svg::{self, escaped};

/// Bars of a chart at most: more have no room for their names.
const BARS: usize = 24;

/// Values of one run, by what they are of; none where the run has no such thing.
type Values = Vec<(String, Option<f64>)>;

/// What the bars of a chart are.
struct Chart<'a> {
    id: &'a str,
    title: &'a str,
    unit: &'a str,
    reading: &'a str,
}

/// Writes the sections of all runs. Returns their links.
pub(super) fn write(text: &mut String, runs: &[Run]) -> Vec<(&'static str, &'static str)> {
    if runs.is_empty() {
        return Vec::new();
    }
    let names = labels(runs);
    let named: Vec<(&str, &Run)> = names.iter().map(String::as_str).zip(runs).collect();
    let mut links = vec![("runs", "Runs"), ("operands", "Operands")];
    overview(text, &named);
    operands(text, &named);
    let known: Vec<_> = named.iter().copied().filter(|(_, run)| run.energy().is_some()).collect();
    if !known.is_empty() {
        links.push(("energy", "Energy"));
        energy(text, &known);
    }
    let in_time: Vec<_> = named.iter().copied().filter(|(_, run)| run.in_time()).collect();
    if !in_time.is_empty() {
        links.push(("stalls", "Stalls"));
        stalls(text, &in_time);
    }
    links
}

/// A name of each run: its workload, and as far as runs differ in them its design, mode and order.
fn labels(runs: &[Run]) -> Vec<String> {
    let parts: [fn(&Run) -> &str; 3] = [|run| &run.design, |run| &run.mode, |run| &run.order];
    let differ =
        |part: &fn(&Run) -> &str| runs.windows(2).any(|pair| part(&pair[0]) != part(&pair[1]));
    let telling: Vec<_> = parts.into_iter().filter(differ).collect();
    let mut seen = BTreeMap::<String, usize>::new();
    let name = |run: &Run| {
        let mut name = run.workload.clone();
        for part in &telling {
            let _ = write!(name, ", {}", part(run));
        }
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            let _ = write!(name, " ({times})");
        }
        name
    };
    runs.iter().map(name).collect()
}

fn row_head(text: &mut String, name: &str) {
    let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(name));
}

fn number(text: &mut String, value: Option<impl std::fmt::Display>) {
    let value = value.map_or_else(String::new, |value| value.to_string());
    let _ = write!(text, "<td class=\"number\">{value}</td>");
}

fn words(text: &mut String, told: &str) {
    let _ = write!(text, "<td>{}</td>", escaped(told));
}

fn overview(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str("<section><h2 id=\"runs\">Runs</h2>");
    let columns = [
        "run",
        "design",
        "mode",
        "order",
        "check",
        "warp instructions",
        "cycles",
        "IPC",
        "energy (fJ)",
        "energy (% of baseline)",
        "MRF reads avoided (%)",
        "MRF writes avoided (%)",
    ];
    begin_table(text, "Runs", columns);
    for (name, run) in runs {
        row_head(text, name);
        for told in [&run.design, &run.mode, &run.order, &run.check] {
            words(text, told);
        }
        number(text, Some(run.count("warp_instructions")));
        number(text, run.in_time().then(|| run.count("cycles")));
        number(text, run.ratio("ipc"));
        match run.energy() {
            Some(energy) => number(text, Some(energy)),
            None => words(text, "not known"),
        }
        for ratio in
            ["energy_relative_percent", "mrf_reads_avoided_percent", "mrf_writes_avoided_percent"]
        {
            number(text, run.ratio(ratio));
        }
        text.push_str("</tr>");
    }
    end_table(text);
    origins(text, runs);
    counters(text, runs);
    text.push_str("</section>");
}

/// What makes each run again, and what is to know of it.
fn origins(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str("<details><summary>How each was made</summary>");
    begin_table(text, "How each was made", ["run", "command", "by", "launches", "to know"]);
    for (name, run) in runs {
        row_head(text, name);
        let _ = write!(text, "<td><code>{}</code></td>", escaped(&run.command));
        words(text, &format!("{} {}", run.tool.name, run.tool.version));
        words(text, &launches(run));
        let assumed = run.assumed.iter().map(|one| format!("assumed: {one}"));
        let changed = run.changed.iter().map(|one| format!("changed: {one}"));
        let unknown = run.energy_unavailable.iter().map(|why| format!("energy not known: {why}"));
        let all: Vec<String> = assumed.chain(changed).chain(unknown).collect();
        words(text, &all.join("; "));
        text.push_str("</tr>");
    }
    end_table(text);
    text.push_str("</details>");
}

/// The launches of each kernel, those of one shape together.
fn launches(run: &Run) -> String {
    let mut shapes: Vec<(String, usize)> = Vec::new();
    for launch in &run.launches {
        let sides = |of: [u32; 3]| of.map(|side| side.to_string()).join(" x ");
        let (grid, block) = (sides(launch.grid), sides(launch.block));
        let (kernel, registers) = (&launch.kernel, launch.registers);
        let shape = format!("{kernel}: grid {grid}, block {block}, {registers} registers");
        match shapes.last_mut().filter(|(last, _)| *last == shape) {
            Some((_, times)) => *times += 1,
            None => shapes.push((shape, 1)),
        }
    }
    let told = |(shape, times): &(String, usize)| match times {
        1 => shape.clone(),
        _ => format!("{shape}, {times} times"),
    };
    shapes.iter().map(told).collect::<Vec<_>>().join("; ")
}

/// Every counter and ratio as the reports have it.
fn counters(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str("<details><summary>Every counter and ratio</summary>");
    let columns = ["name"].into_iter().chain(runs.iter().map(|(name, _)| *name));
    begin_table(text, "Every counter and ratio", columns);
    let counted: BTreeSet<_> = runs.iter().flat_map(|(_, run)| run.counters.keys()).collect();
    for name in counted {
        row_head(text, name);
        for (_, run) in runs {
            number(text, run.counters.get(name));
        }
        text.push_str("</tr>");
    }
    let ratios: BTreeSet<_> = runs.iter().flat_map(|(_, run)| run.derived.keys()).collect();
    for name in ratios {
        row_head(text, name);
        for (_, run) in runs {
            number(text, run.ratio(name));
        }
        text.push_str("</tr>");
    }
    end_table(text);
    text.push_str("</details>");
}

fn operands(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str(
        "<section><h2 id=\"operands\">Where operands come from</h2><p>MRF is the main register \
         file, RFC a register file cache, ORF an operand register file, LRF a last result \
         file.</p>",
    );
    let of = |run: &Run, reads: bool| -> Values {
        let instructions = run.count("warp_instructions");
        let share =
            |accesses: u64| (instructions != 0).then(|| accesses as f64 / instructions as f64);
        let all = run.accesses().into_iter();
        let value = |count| (count != 0).then(|| share(count)).flatten();
        all.map(|of| (of.level.to_owned(), value(if reads { of.reads } else { of.writes })))
            .collect()
    };
    let reads = Chart {
        id: "reads",
        title: "Operand reads by level",
        unit: "reads for each warp instruction",
        reading: "A read of which two levels each have lanes counts in both.",
    };
    stacked(
        text,
        &reads,
        &runs.iter().map(|(name, run)| (*name, of(run, true))).collect::<Vec<_>>(),
    );
    let writes = Chart {
        id: "writes",
        title: "Writes by level",
        unit: "writes for each warp instruction",
        reading: "Results, and what moves between levels: an entry that is written back is a \
                  write of the level that takes it.",
    };
    stacked(
        text,
        &writes,
        &runs.iter().map(|(name, run)| (*name, of(run, false))).collect::<Vec<_>>(),
    );
    exact(text, "Accesses (warp registers)", runs, |run| {
        let levels = run.accesses().into_iter();
        let both = levels.flat_map(|of| {
            let [reads, writes] = [("reads", of.reads), ("writes", of.writes)]
                .map(|(what, count)| (format!("{} {what}", of.level), count));
            [reads, writes]
        });
        both.collect()
    });
    text.push_str("</section>");
}

fn energy(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str("<section><h2 id=\"energy\">Energy</h2>");
    let relative = runs.iter().all(|(_, run)| run.ratio("energy_relative_percent").is_some());
    let of = |run: &Run| -> Values {
        let total = run.energy().unwrap_or(0);
        let whole = run.ratio("energy_relative_percent").unwrap_or(0.0);
        let value = |energy: u64| match (relative, total) {
            (true, 0) => None,
            (true, _) => Some(energy as f64 / total as f64 * whole),
            (false, _) => Some(energy as f64 / 1e6),
        };
        let parts = run.energy_parts();
        parts
            .map(|(part, energy)| {
                (part.replace('_', " "), (energy != 0).then(|| value(energy)).flatten())
            })
            .collect()
    };
    let chart = Chart {
        id: "energy-parts",
        title: "Energy of register accesses by part",
        unit: if relative { "% of the baseline's energy" } else { "energy (nJ)" },
        reading: if relative {
            "100 is the flat register file of the same machine on the same instructions."
        } else {
            "Of one of the runs the energy of the flat register file is not known, so that no run \
             is shown relative to it."
        },
    };
    stacked(text, &chart, &runs.iter().map(|(name, run)| (*name, of(run))).collect::<Vec<_>>());
    exact(text, "Energy (fJ)", runs, |run| {
        let parts = run.energy_parts().map(|(part, energy)| (part.replace('_', " "), energy));
        parts.chain([("all".to_owned(), run.energy().unwrap_or(0))]).collect()
    });
    text.push_str("</section>");
}

fn stalls(text: &mut String, runs: &[(&str, &Run)]) {
    text.push_str("<section><h2 id=\"stalls\">What issue slots wait for</h2>");
    let slots = |run: &Run| -> Vec<(String, u64)> {
        let name =
            |reason: &StallReason| reason.name().trim_start_matches("slots_").replace('_', " ");
        StallReason::ALL.iter().map(|reason| (name(reason), run.count(reason.name()))).collect()
    };
    let of = |run: &Run| -> Values {
        let slots = slots(run);
        let all: u128 = slots.iter().map(|(_, count)| u128::from(*count)).sum();
        let share = |count: u64| (count != 0).then(|| count as f64 / all as f64 * 100.0);
        slots.into_iter().map(|(name, count)| (name, share(count))).collect()
    };
    let chart = Chart {
        id: "slots",
        title: "Issue slots by cause",
        unit: "% of issue slots",
        reading: "Each slot of each cycle issues an instruction or has one reason why it does not.",
    };
    stacked(text, &chart, &runs.iter().map(|(name, run)| (*name, of(run))).collect::<Vec<_>>());
    text.push_str("<details><summary>What the causes mean</summary><dl>");
    for reason in StallReason::ALL {
        let name = reason.name().trim_start_matches("slots_").replace('_', " ");
        let _ = write!(text, "<dt>{name}</dt><dd>{}</dd>", escaped(reason.meaning()));
    }
    text.push_str("</dl></details>");
    exact(text, "Issue slots", runs, slots);
    text.push_str("</section>");
}

/// Charts of bars that are made of parts, each with as many runs as there is room for.
fn stacked(text: &mut String, chart: &Chart<'_>, runs: &[(&str, Values)]) {
    let mut names: Vec<String> = Vec::new();
    for (name, value) in runs.iter().flat_map(|(_, values)| values) {
        if value.is_some() && !names.contains(name) {
            names.push(name.clone());
        }
    }
    let shown = largest(&names, runs);
    for (place, some) in runs.chunks(BARS).enumerate() {
        let several = runs.len() > BARS;
        let first = place * BARS + 1;
        let of = format!(" (runs {first} to {})", first + some.len() - 1);
        let value = |values: &Values, name: &String| {
            values.iter().find(|(own, _)| own == name).and_then(|(_, value)| *value)
        };
        let mut series: Vec<Series> = shown
            .iter()
            .map(|name| Series::ours(name, some.iter().map(|(_, values)| value(values, name))))
            .collect();
        if shown.len() < names.len() {
            let rest: Vec<&String> = names.iter().filter(|name| !shown.contains(name)).collect();
            let sum = |values: &Values| {
                let parts = rest.iter().filter_map(|name| value(values, name));
                parts.reduce(|sum, part| sum + part)
            };
            let name = format!("{} others", rest.len());
            series.push(Series::ours(name, some.iter().map(|(_, values)| sum(values))));
        }
        let figure = Figure {
            title: format!("{}{}", chart.title, if several { of.as_str() } else { "" }),
            x: "run".to_owned(),
            y: chart.unit.to_owned(),
            kind: Kind::Stacked,
            ticks: some.iter().map(|(name, _)| (*name).to_owned()).collect(),
            series,
            bands: Vec::new(),
            reading: chart.reading.to_owned(),
            command: String::new(),
        };
        html::figure(text, &figure, &format!("{}-{place}", chart.id));
    }
}

/// As many parts as there are colours, those with the most in all runs, in their order: one colour
/// is left for the others.
fn largest(names: &[String], runs: &[(&str, Values)]) -> Vec<String> {
    if names.len() <= svg::COLOURS {
        return names.to_vec();
    }
    let sum = |name: &String| -> f64 {
        let values = runs.iter().flat_map(|(_, values)| values);
        values.filter(|(own, _)| own == name).filter_map(|(_, value)| *value).sum()
    };
    let mut sums: Vec<(f64, &String)> = names.iter().map(|name| (sum(name), name)).collect();
    sums.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kept: Vec<&String> = sums.iter().take(svg::COLOURS - 1).map(|(_, name)| *name).collect();
    names.iter().filter(|name| kept.contains(name)).cloned().collect()
}

/// The whole numbers behind a section's charts, without those that are zero in all runs.
fn exact(
    text: &mut String,
    title: &str,
    runs: &[(&str, &Run)],
    counts: impl Fn(&Run) -> Vec<(String, u64)>,
) {
    let rows: Vec<(&str, Vec<(String, u64)>)> =
        runs.iter().map(|(name, run)| (*name, counts(run))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, count) in rows.iter().flat_map(|(_, counts)| counts) {
        if *count != 0 && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let _ = write!(text, "<details><summary>{title}</summary>");
    begin_table(text, title, ["run"].into_iter().chain(names.iter().copied()));
    for (run, counts) in &rows {
        row_head(text, run);
        for wanted in &names {
            number(text, counts.iter().find(|(name, _)| name == wanted).map(|(_, count)| count));
        }
        text.push_str("</tr>");
    }
    end_table(text);
    text.push_str("</details>");
}
