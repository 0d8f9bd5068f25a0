//! Unified storage: `[MICRO2012]` Figures 2 to 4 and 7 to 11, Tables 1, 5 and 6; `[DISS]` chapter
//! 7.

use super::panel::{MEAN, panel};
use super::plate::Plate;
use crate::reproduce::figure::{Figure, Kind, Series};
use crate::reproduce::lab::Lab;
use strata_files::failure::Failure;
use strata_study::exact;
use strata_study::study::storage::Figure as Made;
use strata_study::study::storage::{Run, Study};

const UNIFIED: &str = "micro12-unified-384";
/// Unified storage of 384 KB with its banks arbitrated cycle by cycle.
const BY_CYCLE: &str = "micro12-unified-384, conflicts by cycle";
const RELATIVE: &str = "relative to partitioned storage";

pub(super) const PLATES: &[Plate] = &[
    Plate { id: "storage-registers", needs: Vec::new, draw: registers },
    Plate { id: "storage-shared-memory", needs: Vec::new, draw: shared_memory },
    Plate { id: "storage-cache", needs: Vec::new, draw: cache },
    Plate { id: "storage-needs", needs: Vec::new, draw: needs },
    Plate { id: "storage-no-benefit", needs: Vec::new, draw: no_benefit },
    Plate { id: "storage-partition", needs: Vec::new, draw: partition },
    Plate { id: "storage-unified", needs: Vec::new, draw: |lab| against(lab, UNIFIED, "384 KB") },
    Plate {
        id: "storage-limited",
        needs: Vec::new,
        draw: |lab| against(lab, "micro12-limited", "limited"),
    },
    Plate { id: "storage-capacity", needs: Vec::new, draw: capacity },
    Plate { id: "storage-banks", needs: Vec::new, draw: banks },
    Plate { id: "storage-blocking", needs: Vec::new, draw: blocking },
    Plate { id: "storage-two-splits", needs: Vec::new, draw: two_splits },
    Plate { id: "storage-designs", needs: Vec::new, draw: designs },
    Plate { id: "storage-designs-energy", needs: Vec::new, draw: designs_energy },
    Plate { id: "storage-energy-parts", needs: Vec::new, draw: energy_parts },
    Plate { id: "storage-divisions", needs: Vec::new, draw: divisions },
    Plate { id: "storage-equal-area", needs: Vec::new, draw: equal_area },
    Plate { id: "storage-configuration", needs: Vec::new, draw: configuration },
];

/// A number of a run.
type Of = fn(&Run) -> Option<f64>;

const PERFORMANCE: Of = |run| run.performance;
const DRAM: Of = |run| run.dram_relative;
const ENERGY: Of = |run| run.energy.first()?.relative;
const PER_JOULE: Of = |run| run.energy.first()?.performance_per_joule;

/// Texts, each once, in their order.
fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

fn inputs(study: &Study) -> Vec<String> {
    distinct(study.rows.iter().map(|row| &row.input))
}

fn points(study: &Study) -> Vec<String> {
    distinct(study.rows.iter().map(|row| &row.point))
}

/// What an input did at a point; none if it does not fit.
fn run<'a>(study: &'a Study, input: &str, point: &str) -> Option<&'a Run> {
    let mut rows = study.rows.iter();
    rows.find(|row| row.input == input && row.point == point)?.run.as_ref()
}

/// A number of every input at a point, and the mean of those that ran.
fn by_input(study: &Study, name: &str, point: &str, of: Of) -> Series {
    let mut values: Vec<Option<f64>> =
        inputs(study).iter().map(|input| run(study, input, point).and_then(of)).collect();
    values.push(strata_report::table::mean(values.iter().flatten().copied().map(Some)));
    Series::ours(name, values)
}

fn with_mean(inputs: &[String]) -> Vec<String> {
    inputs.iter().cloned().chain([MEAN.to_owned()]).collect()
}

/// The mean over the inputs that ran at a point.
fn mean(study: &Study, point: &str, of: Of) -> Option<f64> {
    let runs = inputs(study);
    let all = runs.iter().filter_map(|input| run(study, input, point)).map(of);
    strata_report::table::mean(all)
}

fn command(figure: Made) -> String {
    format!("strata study storage --figure {}", figure.name())
}

/// The series and the place of a point.
type Split = fn(&str) -> Option<(&str, &str)>;

/// A panel for each input: points `SERIES, PLACE` as one line for each SERIES.
fn panels(
    study: &Study,
    title: &str,
    x: &str,
    (split, reading, command): (Split, &str, String),
) -> Vec<Figure> {
    let points = points(study);
    let pairs: Vec<(String, String)> = points
        .iter()
        .filter_map(|point| split(point))
        .map(|(series, place)| (series.to_owned(), place.to_owned()))
        .collect();
    let names = distinct(pairs.iter().map(|(series, _)| series));
    let ticks = distinct(pairs.iter().map(|(_, place)| place));
    let of_input = |input: &String| {
        let line = |name: &String| {
            let value = |tick: &String| {
                let at = points.iter().find(|point| {
                    split(point).is_some_and(|(series, place)| series == name && place == tick)
                });
                run(study, input, at?)?.performance
            };
            Series::ours(name.clone(), ticks.iter().map(value))
        };
        Figure {
            series: names.iter().map(line).collect(),
            reading: reading.to_owned(),
            command: command.clone(),
            ..panel(
                &format!("{title}: {input}"),
                Kind::Lines,
                (x, "performance (relative)"),
                ticks.clone(),
            )
        }
    };
    inputs(study).iter().map(of_input).collect()
}

fn registers(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    fn parts(point: &str) -> Option<(&str, &str)> {
        let (registers, threads) = point.split_once(", ")?;
        Some((registers, threads.trim_end_matches(" threads")))
    }
    Ok(panels(
        lab.storage(Made::Registers)?,
        "Registers and threads",
        "threads of an SM",
        (
            parts,
            "Too few registers spill, too few threads wait: kernels differ in which costs more.",
            command(Made::Registers),
        ),
    ))
}

fn shared_memory(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::SharedMemory)?;
    let points = points(study);
    let line = |input: &String| {
        Series::ours(
            input.clone(),
            points.iter().map(|point| run(study, input, point)?.performance),
        )
    };
    let ticks = points.iter().map(|point| point.trim_end_matches(" threads").to_owned());
    Ok(vec![Figure {
        series: inputs(study).iter().map(line).collect(),
        reading:
            "Each thread takes its share of shared memory, so that more of it means more threads."
                .to_owned(),
        command: command(Made::SharedMemory),
        ..panel(
            "Threads by the shared memory that they take",
            Kind::Lines,
            ("threads of an SM", "performance (relative to 1024 threads)"),
            ticks.collect(),
        )
    }])
}

fn cache(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    fn parts(point: &str) -> Option<(&str, &str)> {
        let (size, threads) = point.split_once(", ")?;
        Some((threads, size.trim_end_matches(" KB")))
    }
    Ok(panels(
        lab.storage(Made::Cache)?,
        "Cache and threads",
        "cache (KB)",
        (
            parts,
            "More threads need more cache: where the lines of many threads do not fit, fewer are \
             faster.",
            command(Made::Cache),
        ),
    ))
}

fn needs(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Needs)?;
    let inputs = inputs(study);
    let table = |title: &str, y: &str, ends: &str, of: Of| {
        let points = points(study).into_iter().filter(|point| point.ends_with(ends));
        let bar = |point: String| {
            let value = |input: &String| run(study, input, &point).and_then(of);
            Series::ours(point.clone(), inputs.iter().map(value).collect::<Vec<_>>())
        };
        Figure {
            series: points.map(bar).collect(),
            reading:
                "What limits a kernel: registers where fewer of them mean more instructions, the \
                      cache where a smaller one moves more from DRAM."
                    .to_owned(),
            command: command(Made::Needs),
            ..panel(title, Kind::Bars, ("workload", y), inputs.clone())
        }
    };
    Ok(vec![
        table(
            "Dynamic instructions by registers of a thread",
            "instructions (relative to none spilled)",
            " registers",
            |run| run.instructions_relative,
        ),
        table(
            "Bytes of DRAM by the size of the cache",
            "bytes (relative to 256 KB of cache)",
            " KB of cache",
            DRAM,
        ),
    ])
}

fn no_benefit(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::NoBenefit)?;
    Ok(vec![Figure {
        series: vec![
            by_input(study, "performance", UNIFIED, PERFORMANCE),
            by_input(study, "performance, conflicts by cycle", BY_CYCLE, PERFORMANCE),
            by_input(study, "energy", UNIFIED, ENERGY),
        ],
        reading: "Kernels that have no use for the storage lose about a percent at most where \
                  conflicts of banks are charged by instruction, as the paper does, and less where \
                  they cost what they take cycle by cycle. In print the mean performance is 1.00 \
                  and the worst energy 1.009."
            .to_owned(),
        command: command(Made::NoBenefit),
        ..panel(
            "Unified storage of 384 KB where nothing can be gained",
            Kind::Bars,
            ("workload", RELATIVE),
            with_mean(&inputs(study)),
        )
    }])
}

/// KB of registers, shared memory and cache of inputs under a design.
fn areas(study: &Study, point: &str, inputs: &[String]) -> Vec<Series> {
    let kilobytes: [(&str, Of); 3] = [
        ("registers", |run| Some(run.partition?.registers_bytes as f64 / 1024.0)),
        ("shared memory", |run| Some(run.partition?.shared_bytes as f64 / 1024.0)),
        ("cache", |run| Some(run.partition?.cache_bytes as f64 / 1024.0)),
    ];
    let area = |(name, of): (&str, Of)| {
        let values = inputs.iter().map(|input| run(study, input, point).and_then(of));
        Series::ours(name, values.collect::<Vec<_>>())
    };
    kilobytes.map(area).into()
}

fn partition(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Unified)?;
    let inputs = inputs(study);
    Ok(vec![Figure {
        series: areas(study, UNIFIED, &inputs),
        reading: "Registers to avoid spills, shared memory for the threads, the rest is cache. \
                  With the registers of the paper's kernels the partitions are the printed ones \
                  (`strata exact`)."
            .to_owned(),
        command: command(Made::Unified),
        ..panel("Partition of 384 KB", Kind::Stacked, ("workload", "KB"), inputs.clone())
    }])
}

fn against(lab: &Lab<'_>, point: &str, what: &str) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Unified)?;
    Ok(vec![Figure {
        series: vec![
            by_input(study, "performance", point, PERFORMANCE),
            by_input(study, "energy", point, ENERGY),
            by_input(study, "bytes of DRAM", point, DRAM),
        ],
        reading:
            "More performance is better, less energy and traffic too. In print unified storage \
                  gains 4.2 to 70.8 %, 16.2 % on the mean, limited storage 1 to 20 %."
                .to_owned(),
        command: command(Made::Unified),
        ..panel(
            &format!("Unified storage, {what}, where it can be used"),
            Kind::Bars,
            ("workload", RELATIVE),
            with_mean(&inputs(study)),
        )
    }])
}

fn capacity(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Unified)?;
    let inputs = inputs(study);
    let panel_of = |(place, what, of): (usize, &str, Of)| {
        let mut series = Vec::new();
        for (column, kilobytes) in [128, 256, 384].into_iter().enumerate() {
            let point = format!("micro12-unified-{kilobytes}");
            series.push(by_input(study, &format!("{kilobytes} KB"), &point, of));
            let printed = |input: &String| {
                let input = if input == MEAN { "average" } else { input };
                Some(exact::printed::capacity(input)?[place][column])
            };
            let values: Vec<_> = with_mean(&inputs).iter().map(printed).collect();
            series.push(Series::printed(format!("paper, {kilobytes} KB"), values));
        }
        Figure {
            series,
            reading:
                "What a third and two thirds of the storage are worth when they can be divided \
                      freely. The paper's inputs are larger than ours of this size."
                    .to_owned(),
            command: command(Made::Unified),
            ..panel(
                &format!("{what} by the capacity of unified storage"),
                Kind::Bars,
                ("workload", RELATIVE),
                with_mean(&inputs),
            )
        }
    };
    Ok(vec![panel_of((0, "Performance", PERFORMANCE)), panel_of((1, "Energy", ENERGY))])
}

fn banks(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Conflicts)?;
    let shares: [Of; 5] = [
        |run| Some(run.conflicts.shares()?[0]),
        |run| Some(run.conflicts.shares()?[1]),
        |run| Some(run.conflicts.shares()?[2]),
        |run| Some(run.conflicts.shares()?[3]),
        |run| Some(run.conflicts.shares()?[4]),
    ];
    let bar =
        |name: &str, point: &str| Series::ours(name, shares.map(|share| mean(study, point, share)));
    let [partitioned, unified] = exact::printed::bank_accesses();
    let accesses = Figure {
        series: vec![
            bar("partitioned", "hierarchy, banks of 4 bytes"),
            Series::printed("paper, partitioned", partitioned.map(Some)),
            bar("unified", "hierarchy, conflicts by instruction"),
            Series::printed("paper, unified", unified.map(Some)),
        ],
        reading: "Wider banks and registers in them hardly add conflicts.".to_owned(),
        command: command(Made::Conflicts),
        ..panel(
            "Instructions by the accesses of the bank that they access most",
            Kind::Bars,
            ("accesses of a bank", "instructions (%)"),
            ["at most 1", "2", "3", "4", "more"].map(str::to_owned).into(),
        )
    };
    let points = points(study);
    let performance = Figure {
        series: vec![Series::ours(
            "mean",
            points.iter().map(|point| mean(study, point, PERFORMANCE)),
        )],
        reading:
            "What conflicts cost, flat and with a hierarchy of registers, which makes up for them; \
                  in print 0.31 % by conflicts with registers and 0.02 % by the banks' width."
                .to_owned(),
        command: command(Made::Conflicts),
        ..panel(
            "Performance by what banks conflict",
            Kind::Bars,
            ("banks", "performance (relative to the first)"),
            points.clone(),
        )
    };
    Ok(vec![accesses, performance])
}

fn blocking(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Blocking)?;
    let points = points(study);
    let ticks = points.iter().map(|point| point.trim_end_matches(" threads").to_owned()).collect();
    let lines = |of: Of| {
        let line = |input: &String| {
            let value = |point: &String| run(study, input, point).and_then(of);
            Series::ours(input.clone(), points.iter().map(value).collect::<Vec<_>>())
        };
        inputs(study).iter().map(line).collect::<Vec<_>>()
    };
    let figure = |title: &str, y: &str, of: Of, ticks: &Vec<String>| Figure {
        series: lines(of),
        reading: "A larger blocking factor needs more shared memory for as many threads, and less \
                  DRAM traffic."
            .to_owned(),
        command: command(Made::Blocking),
        ..panel(title, Kind::Lines, ("threads of an SM", y), ticks.clone())
    };
    let y = "performance (relative to factor 64, 1024 threads)";
    let kilobytes: Of = |run| Some(run.partition?.shared_bytes as f64 / 1024.0);
    Ok(vec![
        figure("Needle by blocking factor", y, PERFORMANCE, &ticks),
        figure("Shared memory that these threads take", "KB", kilobytes, &ticks),
    ])
}

fn two_splits(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Limited)?;
    Ok(vec![Figure {
        series: vec![
            by_input(study, "48 KB shared, 16 KB cache", "diss-ch7-limited-48-16", PERFORMANCE),
            by_input(study, "16 KB shared, 48 KB cache", "diss-ch7-limited-16-48", PERFORMANCE),
        ],
        reading: "Kernels prefer one split or the other.".to_owned(),
        command: command(Made::Limited),
        ..panel(
            "Two splits of 64 KB",
            Kind::Bars,
            ("workload", "performance (relative to the first)"),
            with_mean(&inputs(study)),
        )
    }])
}

/// Bars of every input for each design of chapter 7.
fn by_design(study: &Study, title: &str, y: &str, of: Of, reading: &str) -> Figure {
    let inputs = inputs(study);
    let points = points(study);
    let line = |input: &String| {
        let value = |point: &String| run(study, input, point).and_then(of);
        Series::ours(input.clone(), points.iter().map(value).collect::<Vec<_>>())
    };
    Figure {
        series: inputs.iter().map(line).collect(),
        reading: reading.to_owned(),
        command: command(Made::Designs),
        ..panel(
            title,
            Kind::Bars,
            ("design", y),
            points.iter().map(|point| point.trim_start_matches("diss-ch7-").to_owned()).collect(),
        )
    }
}

const RELATIVE_TO_FIXED: &str = "relative to 256/64/64";

fn designs(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Designs)?;
    let reading = "Registers, shared memory and cache in KB, fixed or unified. In print 384 KB \
                   unified are 0.2 to 75.6 % faster than the same in fixed parts, with 10 to 25 % \
                   less DRAM traffic where it changes.";
    Ok(vec![
        by_design(study, "Performance by design", RELATIVE_TO_FIXED, PERFORMANCE, reading),
        by_design(study, "DRAM accesses by design", RELATIVE_TO_FIXED, DRAM, reading),
    ])
}

fn designs_energy(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Designs)?;
    let reading = "Large fixed designs leak; a unified one has the energy where a kernel uses it. \
                   What is called performance per watt in print is performance for the energy of \
                   the work (DEV-089).";
    Ok(vec![
        by_design(study, "Energy by design", RELATIVE_TO_FIXED, ENERGY, reading),
        by_design(study, "Performance per energy by design", RELATIVE_TO_FIXED, PER_JOULE, reading),
    ])
}

/// A part of a run's energy. Unit: percent of the reference's.
fn part(run: &Run, names: &[&str]) -> Option<f64> {
    let energy = run.energy.first()?;
    let own: u64 =
        names.iter().map(|&name| energy.energy_fj.get(name).copied()).sum::<Option<_>>()?;
    let total = energy.total();
    (total != 0).then_some(())?;
    Some(100.0 * energy.relative? * own as f64 / total as f64)
}

fn energy_parts(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Designs)?;
    let parts: [(&str, &[&str]); 5] = [
        ("core, dynamic", &["core_dynamic"]),
        ("core, leakage", &["core_leakage"]),
        ("SRAM, leakage", &["sram_leakage"]),
        ("banks", &["register_banks", "shared_banks", "cache_banks"]),
        ("DRAM", &["dram"]),
    ];
    let points = points(study);
    let bar = |(name, names): (&str, &[&str])| {
        let value = |point: &String| part(run(study, "pcr", point)?, names);
        Series::ours(name, points.iter().map(value).collect::<Vec<_>>())
    };
    Ok(vec![Figure {
        series: parts.map(bar).into(),
        reading: "Energy of accesses to the banks is a small part; DRAM and leakage decide."
            .to_owned(),
        command: command(Made::Designs),
        ..panel(
            "Energy of pcr by what spends it",
            Kind::Stacked,
            ("design", "energy (% of 256/64/64)"),
            points.iter().map(|point| point.trim_start_matches("diss-ch7-").to_owned()).collect(),
        )
    }])
}

const DISS_UNIFIED: &str = "diss-ch7-unified-384";

fn divisions(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Designs)?;
    let inputs = inputs(study);
    Ok(vec![Figure {
        series: areas(study, DISS_UNIFIED, &inputs),
        reading: "How the fastest division of each kernel uses the storage.".to_owned(),
        command: command(Made::Designs),
        ..panel("Division of 384 KB", Kind::Stacked, ("workload", "KB"), inputs.clone())
    }])
}

fn equal_area(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Designs)?;
    Ok(vec![Figure {
        series: vec![
            by_input(study, "performance", DISS_UNIFIED, PERFORMANCE),
            by_input(study, "energy", DISS_UNIFIED, ENERGY),
            by_input(study, "performance per energy", DISS_UNIFIED, PER_JOULE),
            by_input(study, "DRAM accesses", DISS_UNIFIED, DRAM),
        ],
        reading:
            "In print 0.2, 3, 4, 8, 9 and 75 % performance, and 0.2 to 115 % performance per watt."
                .to_owned(),
        command: command(Made::Designs),
        ..panel(
            "Unified 384 KB beside fixed 256/64/64",
            Kind::Bars,
            ("workload", RELATIVE_TO_FIXED),
            with_mean(&inputs(study)),
        )
    }])
}

fn configuration(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.storage(Made::Configuration)?;
    let inputs = inputs(study);
    let line = |point: String| {
        let value = |input: &String| run(study, input, &point)?.performance;
        Series::ours(point.clone(), inputs.iter().map(value).collect::<Vec<_>>())
    };
    Ok(vec![Figure {
        series: points(study).into_iter().map(line).collect(),
        reading:
            "The limit of registers with which 384 KB are fastest, each at its best number of \
                  threads."
                .to_owned(),
        command: command(Made::Configuration),
        ..panel(
            "Performance by the limit of registers",
            Kind::Bars,
            ("workload", "performance (relative to 64 registers)"),
            inputs.clone(),
        )
    }])
}
