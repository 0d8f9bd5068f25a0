//! Table: what a paper would print, with the papers' own figures beneath.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_core::level::Level;

use super::derived::LOAD_HITS;
use super::text_table::TextTable;
use super::units::nanojoules;
use super::{Check, ResidencyReport, RunReport, storage_table};

/// A design's ratios that the summary averages over workloads: key, and heading.
const RATIOS: [(&str, &str); 3] = [
    ("mrf_reads_avoided_percent", "reads\navoided"),
    ("mrf_writes_avoided_percent", "writes\navoided"),
    ("energy_relative_percent", "energy vs.\nbaseline"),
];

/// Columns of a level that not every design has: counters with their headings, shown when the
/// second counter of any report is not zero.
type LevelColumns = [(&'static str, &'static str); 3];

/// The columns of a level; none of the main register file, whose columns every table has.
const fn level_columns(level: Level) -> Option<LevelColumns> {
    Some(match level {
        Level::Mrf => return None,
        Level::Rfc => [
            ("rfc_reads", "RFC\nreads"),
            ("rfc_writes", "RFC\nwrites"),
            ("rfc_writebacks", "RFC\nwritebacks"),
        ],
        Level::Lrf => [
            ("lrf_reads", "LRF\nreads"),
            ("lrf_writes", "LRF\nwrites"),
            ("lrf_evictions", "LRF\nevictions"),
        ],
        Level::Orf => [
            ("orf_reads", "ORF\nreads"),
            ("orf_writes", "ORF\nwrites"),
            ("dual_writes", "dual\nwrites"),
        ],
        Level::WritePool => [
            ("write_pool_reads", "pool\nreads"),
            ("write_pool_writes", "pool\nwrites"),
            ("write_pool_writebacks", "pool\nwritebacks"),
        ],
    })
}

/// The ratio of energies with leakage, which the summary averages too.
const TOTAL: &str = "total_energy_relative_percent";

/// A column of a data cache: counts that are added up, and the heading.
type CountColumn = (&'static [&'static str], &'static str);

/// The columns of a data cache, before that of the loads that hit.
const DATA_CACHE: [CountColumn; 3] = [
    (&["lookups"], "cache\nlookups"),
    (&["dram_bytes"], "DRAM\nbytes"),
    (&["shared_conflict_cycles", "cache_conflict_cycles"], "conflict\ncycles"),
];

/// Which columns there are beside those of every table.
#[derive(Clone, Debug)]
struct Columns {
    levels: Vec<LevelColumns>,
    crossing: bool,
    /// Energy with leakage.
    leakage: bool,
    /// Wear.
    worn: bool,
    /// Counts of a data cache; empty where no report has them.
    data_cache: &'static [CountColumn],
    /// Counts of registers in scratchpad memory; empty where no report has them.
    expansion: &'static [CountColumn],
}

/// Counts of registers in scratchpad memory.
const EXPANSION: [CountColumn; 4] = [
    (&["operand_cache_reads_private", "operand_cache_reads_shared"], "operand\ncache reads"),
    (&["operand_cache_writes", "scratchpad_results"], "results\noutside"),
    (&["registers_fetched"], "registers\nfetched"),
    (&["prefetches_issued"], "PREF\nissued"),
];

impl Columns {
    fn of(reports: &[RunReport]) -> Self {
        let any = |holds: fn(&RunReport) -> bool| reports.iter().any(holds);
        Self {
            levels: Level::ALL
                .into_iter()
                .filter_map(level_columns)
                .filter(|columns| is_used(columns, reports))
                .collect(),
            crossing: any(|report| report.derived.contains_key(CROSSING[0].1)),
            leakage: any(|report| report.energy_in_time.is_some()),
            worn: any(|report| report.endurance.is_some()),
            data_cache: if any(|report| report.data_cache.is_some()) { &DATA_CACHE } else { &[] },
            expansion: if any(|report| report.expansion.is_some()) { &EXPANSION } else { &[] },
        }
    }
}

/// What a design reads and writes beside what crosses its strands and so must be: keys with their
/// heading, shown when any report has them.
const CROSSING: [(&str, &str, &str); 2] = [
    ("mrf_reads_per_instruction", "live_in_per_instruction", "MRF reads/instr.\n(live-in)"),
    ("mrf_writes_per_instruction", "live_out_per_instruction", "MRF writes/instr.\n(live-out)"),
];

/// The reports as one table, then the mean of each design over the workloads, then `remarks`.
pub fn to_text(reports: &[RunReport], remarks: &[String]) -> String {
    let mut table = TextTable::new();
    let mut header = vec!["workload", "design", "warp\ninstructions", "MRF\nreads", "MRF\nwrites"];
    let columns = Columns::of(reports);
    header.extend(columns.levels.iter().flatten().map(|&(_, heading)| heading));
    header.push("RF energy\n(nJ)");
    header.extend(RATIOS.map(|(_, heading)| heading));
    header.push("MRF operands\n0/1/2/3+ (%)");
    if columns.crossing {
        header.extend(CROSSING.map(|(_, _, heading)| heading));
    }
    if columns.leakage {
        header.extend(["leakage\n(nJ)", "with leakage\n(nJ)", "vs.\nbaseline"]);
    }
    if columns.worn {
        header.push("writes of a\ncell, max (mean)");
    }
    if !columns.data_cache.is_empty() {
        header.extend(columns.data_cache.iter().map(|&(_, heading)| heading));
        header.push("load\nhits");
    }
    header.extend(columns.expansion.iter().map(|&(_, heading)| heading));
    let in_time = reports.iter().any(|report| report.mode == "cycle");
    if in_time {
        header.extend(["cycles", "thread\nIPC", "resident\nwarps", "in\nCTAs", "limited by"]);
    }
    if columns.worn {
        header.push("registers\nleft empty");
    }
    table.set_header(header);
    let mut previous = "";
    for report in reports {
        // A workload's name only in its first row: the eye finds the groups.
        let name = if report.workload == previous { "" } else { report.workload.as_str() };
        previous = &report.workload;
        table.add_row(row(name, report, &columns));
    }
    let workloads = distinct(reports.iter().map(|report| report.workload.as_str()));
    if workloads.len() > 1 {
        for design in distinct(reports.iter().map(|report| report.design.as_str())) {
            table.add_row(mean_row(design, reports, &columns));
        }
    }
    table.right_from(2);
    table.group(1);
    let storage = storage_table::to_text(reports);
    let mut text = format!("{table}\n{storage}{}", orders(reports));
    for unavailable in distinct(reports.iter().filter_map(|r| r.energy_unavailable.as_deref())) {
        let _ = writeln!(text, "energy: {unavailable}");
    }
    let with_memory = reports.iter().filter(|report| !report.sources.is_empty());
    for reason in distinct(with_memory.filter_map(|r| r.energy_in_time_unavailable.as_deref())) {
        let _ = writeln!(text, "energy with leakage: {reason}");
    }
    for assumed in distinct(reports.iter().flat_map(|r| r.assumed.iter().map(String::as_str))) {
        let _ = writeln!(text, "assumed: {assumed}");
    }
    for changed in distinct(reports.iter().flat_map(|r| r.changed.iter().map(String::as_str))) {
        let _ = writeln!(text, "changed: {changed}");
    }
    let unchecked = reports.iter().filter(|report| report.check == Check::None);
    for workload in distinct(unchecked.map(|report| report.workload.as_str())) {
        let _ = writeln!(text, "results of `{workload}` were compared with nothing");
    }
    for workload in workloads {
        text += &spilled(workload, reports);
    }
    for remark in remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}

/// The orders of instructions, with their workloads where there are several.
fn orders(reports: &[RunReport]) -> String {
    let all = distinct(reports.iter().map(|report| report.order.as_str()));
    let one = |order: &&str| {
        let of_order = reports.iter().filter(|report| report.order == *order);
        let workloads = distinct(of_order.map(|report| report.workload.as_str()));
        let named =
            if all.len() > 1 { format!(" ({})", workloads.join(", ")) } else { String::new() };
        format!("order of instructions: {order}{named}\n")
    };
    all.iter().map(one).collect()
}

/// What a limit of registers did to a workload's instructions, where there is one.
fn spilled(workload: &str, reports: &[RunReport]) -> String {
    let report = reports.iter().find(|report| report.workload == workload);
    let relative = report.and_then(|report| report.derived.get("instructions_relative_percent"));
    let Some(relative) = relative.copied().flatten() else { return String::new() };
    format!("registers: {workload} executes {:.3} times its instructions\n", relative / 100.0)
}

/// Whether a level had anything to do.
fn is_used(columns: &LevelColumns, reports: &[RunReport]) -> bool {
    let (writes, _) = columns[1];
    reports.iter().any(|report| report.counters.get(writes).is_some_and(|&count| count != 0))
}

fn row(name: &str, report: &RunReport, columns: &Columns) -> Vec<String> {
    let counter =
        |name: &str| report.counters.get(name).map_or_else(String::new, ToString::to_string);
    let energy = report.energy_fj.as_ref().and_then(|parts| parts.get("total"));
    let mut cells = vec![
        name.to_owned(),
        report.design.clone(),
        counter("warp_instructions"),
        counter("mrf_reads"),
        counter("mrf_writes"),
    ];
    cells.extend(columns.levels.iter().flatten().map(|&(name, _)| counter(name)));
    cells.push(energy.map_or_else(|| "-".to_owned(), |&total| nanojoules(total)));
    cells.extend(RATIOS.map(|(key, _)| percent(report.derived.get(key).copied().flatten())));
    cells.push(operands_from_main(&[report]));
    if columns.crossing {
        cells.extend(CROSSING.map(|keys| across_strands(&[report], keys)));
    }
    if columns.leakage {
        cells.extend(with_leakage(report));
    }
    if columns.worn {
        let worn = report.endurance.map(|worn| (worn.writes_max, worn.writes_mean));
        cells.push(worn.map_or_else(dash, |(most, mean)| format!("{most} ({mean:.1})")));
    }
    cells.extend(data_cache(report, columns.data_cache));
    cells.extend(counts(report.expansion.as_ref(), columns.expansion));
    if report.mode == "cycle" {
        cells.push(counter("cycles"));
        cells.push(ipc(report.derived.get("ipc").copied().flatten()));
        cells.extend(residency(report));
    }
    if columns.worn {
        cells.push(range(residencies(report).map(|one| one.empty_registers)));
    }
    cells
}

fn dash() -> String {
    "-".to_owned()
}

/// Counts of the data cache, and the share of loads that hit it; nothing without columns.
fn data_cache(report: &RunReport, columns: &[CountColumn]) -> Vec<String> {
    let mut cells = counts(report.data_cache.as_ref(), columns);
    if !columns.is_empty() {
        cells.push(percent(report.derived.get(LOAD_HITS).copied().flatten()));
    }
    cells
}

/// Sums of counts, one for each column.
fn counts(counts: Option<&BTreeMap<String, u64>>, columns: &[CountColumn]) -> Vec<String> {
    let cell = |&(names, _): &CountColumn| {
        let Some(counts) = counts else { return dash() };
        names.iter().filter_map(|&name| counts.get(name)).sum::<u64>().to_string()
    };
    columns.iter().map(cell).collect()
}

/// Leakage, energy with it, and that against the baseline's.
fn with_leakage(report: &RunReport) -> [String; 3] {
    let energy = report.energy_in_time;
    let of = |part: Option<u64>| part.map_or_else(dash, nanojoules);
    [
        of(energy.map(|energy| energy.leakage_fj)),
        of(energy.map(|energy| energy.total_fj)),
        percent(report.derived.get(TOTAL).copied().flatten()),
    ]
}

/// Mean of a ratio over reports.
fn ratio(reports: &[&RunReport], key: &str) -> Option<f64> {
    mean(reports.iter().map(|report| report.derived.get(key).copied().flatten()))
}

/// Shares of the instructions that read 0, 1, 2 and more operands from the main register file.
fn operands_from_main(reports: &[&RunReport]) -> String {
    let share = |bin: &str| ratio(reports, &format!("mrf_operands_{bin}_percent"));
    let all = ["0", "1", "2", "3", "over_3"].map(share).into_iter().collect::<Option<Vec<_>>>();
    let Some(all) = all else { return "-".to_owned() };
    format!("{:.0}/{:.0}/{:.0}/{:.0}", all[0], all[1], all[2], all[3] + all[4])
}

/// What a design does for each instruction, and what must be in brackets.
fn across_strands(reports: &[&RunReport], (own, least, _): (&str, &str, &str)) -> String {
    let values = ratio(reports, own).zip(ratio(reports, least));
    values.map_or_else(|| "-".to_owned(), |(own, least)| format!("{own:.2} ({least:.2})"))
}

/// Resident warps, resident CTAs, and what limits them; of launches that differ, all there are.
fn residency(report: &RunReport) -> [String; 3] {
    let launches = || residencies(report);
    let limits = distinct(launches().map(|launch| launch.limit));
    [
        range(launches().map(|launch| launch.warps)),
        range(launches().map(|launch| launch.ctas)),
        limits.join(", ").replace('_', " "),
    ]
}

/// The resident warps and CTAs of each launch, in cycle mode.
fn residencies(report: &RunReport) -> impl Iterator<Item = ResidencyReport> + Clone {
    report.launches.iter().filter_map(|launch| launch.residency)
}

/// The number, or the least and the most of different ones.
fn range(numbers: impl Iterator<Item = u32> + Clone) -> String {
    match (numbers.clone().min(), numbers.max()) {
        (Some(least), Some(most)) if least != most => format!("{least}-{most}"),
        (Some(least), _) => least.to_string(),
        _ => "-".to_owned(),
    }
}

fn ipc(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn mean_row(design: &str, reports: &[RunReport], columns: &Columns) -> Vec<String> {
    let mut cells = vec!["mean".to_owned(), design.to_owned()];
    cells.extend(std::iter::repeat_n(String::new(), 4 + columns.levels.len() * 3));
    cells.extend(RATIOS.map(|(key, _)| {
        let of_design = reports.iter().filter(|report| report.design == design);
        percent(mean(of_design.map(|report| report.derived.get(key).copied().flatten())))
    }));
    let of_design: Vec<_> = reports.iter().filter(|report| report.design == design).collect();
    cells.push(operands_from_main(&of_design));
    if columns.crossing {
        cells.extend(CROSSING.map(|keys| across_strands(&of_design, keys)));
    }
    if columns.leakage {
        cells.extend([String::new(), String::new(), percent(ratio(&of_design, TOTAL))]);
    }
    if columns.worn {
        cells.push(String::new());
    }
    if !columns.data_cache.is_empty() {
        cells.extend(columns.data_cache.iter().map(|_| String::new()));
        cells.push(percent(ratio(&of_design, LOAD_HITS)));
    }
    cells.extend(columns.expansion.iter().map(|_| String::new()));
    if of_design.iter().any(|report| report.mode == "cycle") {
        let ratios = of_design.iter().map(|report| report.derived.get("ipc").copied().flatten());
        cells.extend([String::new(), ipc(mean(ratios))]);
    }
    cells
}

/// Arithmetic mean, as the papers average over traces; none if any value is missing.
pub fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} %"))
}

/// Different texts in order of first appearance.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{cached, plain};
    use strata_core::event::Counters;

    #[test]
    fn columns_of_levels_are_counters() {
        let counters = Counters::default();
        let names: Vec<_> = counters.iter().map(|(name, _)| name).collect();
        for (name, _) in Level::ALL.into_iter().filter_map(level_columns).flatten() {
            assert!(names.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_data_cache_adds_columns_which_others_leave_open() {
        let plain = plain("isca11");
        let alone = to_text(std::slice::from_ref(&plain), &[]);
        assert!(!alone.contains("lookups"), "{alone}");
        let cached = cached("mine");
        let other = RunReport { workload: "other".to_owned(), ..cached.clone() };
        let text = to_text(&[plain, cached, other], &[]);
        let line = |start: &str| {
            let found = text.lines().find(|line| line.trim_start().starts_with(start));
            found.expect(start)
        };
        // From its heading on, what stands in the last column of the data cache.
        let end = line("instructions").find("hits").expect("it has a heading") + 4;
        let cut = |line: &str| line[..=end].to_owned() + "|";
        for (start, cells) in [
            ("instructions", "lookups  bytes    cycles    hits |"),
            ("made-up", "-      -         -       - |"),
            ("mine", "2800   2700      2300  16.7 % |"),
            ("mean      mine", "                       16.7 % |"),
            ("mean      isca11", "                            - |"),
        ] {
            let line = cut(line(start));
            assert!(line.ends_with(cells), "{start}: {line}\n{text}");
        }
    }
}
