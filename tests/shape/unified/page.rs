//! The pages `docs/results/unified.md` and `docs/results/unified-large.md`.

use std::fmt::Write as _;

use strata_core::storage_energy::StoragePart;
use strata_measure::options::Scale;
use strata_study::study::storage::{Run, Study};

use super::{BY_CYCLE, Figures, UNIFIED, energy, inputs, mean, paper, part, points, run};

/// A table's head: its columns, the first of texts, the others of numbers.
fn head(columns: &[&str]) -> String {
    let rules: Vec<&str> =
        (0..columns.len()).map(|at| if at == 0 { "---" } else { "---:" }).collect();
    format!("| {} |\n| {} |\n", columns.join(" | "), rules.join(" | "))
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

/// A ratio with the paper's in brackets.
fn beside(value: Option<f64>, printed: Option<f64>) -> String {
    let printed = printed.map_or_else(String::new, |printed| format!(" ({printed:.2})"));
    ratio(value) + &printed
}

fn kilobytes(bytes: u64) -> String {
    let text = format!("{:.1}", bytes as f64 / 1024.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub(super) fn page(figures: &Figures) -> String {
    let [large, small] = figures.scales.map(Scale::name);
    let mut page = format!(
        "# Unified register file, shared memory and cache\n\n\
         What the division of an SM's storage does: machines `micro12` and `diss-ch7`, in cycle mode\n\
         (MODEL.md, rules 35 to 38), in the order of the PTX. Performance is the cycles of areas of 256 KB\n\
         of registers, 64 KB of shared memory and 64 KB of cache, divided by those of a design. Numbers in\n\
         (brackets) are the papers', of their own workloads and inputs; nothing is tuned to them. Energy\n\
         is that of the SM with its storage and of DRAM; *as printed* reads the leakage of SRAM as 2.37\n\
         mW for each KB (DEV-086). Capacity, comparisons and kernels without gain are at size `{large}`,\n\
         the other figures at size `{small}`, where most data fits every cache;\n\
         [larger inputs](unified-large.md) have a page of their own. `strata study storage --figure NAME`\n\
         prints any of these. This page is checked by `cargo test -p strata-tests --test shape`.\n"
    );
    page += MEANING;
    page += &body(figures);
    page
}

/// What the page tells in prose; tests assert it.
const MEANING: &str = "
## What it means

**Kernels that the cache limits gain.** `bfs`, `suffixtree` and `srad` have up to five times the cache
in 384 KB, and move less from DRAM. Their gain is larger than in print where the data fits that cache
and not 64 KB: see `bfs` on the page of larger inputs.

**The rule takes as many threads as fit, which can be too many.** `dgemm` has 72 registers in our PTX
(57 in the paper): 1024 threads leave 70 KB of cache for more blocks than before, and it loses. With
the number of threads searched (`diss-ch7-unified-384`) it takes half of them and loses 3 %, on the page of
larger inputs.

**Kernels that cannot use the storage lose about a percent at most.** `nbody` loses 1.1 %, `dct8x8` 0.9 %,
by conflicts between registers and memory in banks, charged instruction by instruction as [MICRO2012]
6.1 does; cycle by cycle they cost less, and no workload loses 1 %.

**A hierarchy of registers pays for unified banks.** Without one, 7 % of the instructions more have a
conflict in unified banks than in banks of their own; with one, half as many as in banks of their own
without one.

**`needle` gains by its blocking factor.** Areas hold one CTA of `needle64` (33 KB), 384 KB hold seven.
`needle32` gains nothing: two-level scheduling with 8 active warps is busy with the 7 CTAs of one warp
each that fit the areas. The paper's gain of 71 % is between the best factor of each design; ours is on
the page of larger inputs.
";

/// The tables of a page.
fn body(figures: &Figures) -> String {
    let mut text = capacity(&figures.unified);
    text += &partitions(&figures.unified);
    text += &no_benefit(&figures.no_benefit);
    text += &banks(&figures.conflicts);
    text += &needs(&figures.needs);
    text += &threads(
        "Registers and threads (MICRO'12 Figure 2)",
        "Performance by the limit of registers and by threads, cache 64 KB, shared memory unbounded, \
         relative to 64 registers and 1024 threads.",
        &figures.registers,
    );
    text += &threads(
        "Shared memory (MICRO'12 Figure 3)",
        "Performance by threads, 64 registers, cache 64 KB, relative to 1024 threads.",
        &figures.shared_memory,
    );
    text += &threads(
        "Cache and threads (MICRO'12 Figure 4)",
        "Performance without spills, shared memory unbounded, relative to 512 KB and 1024 threads.",
        &figures.cache,
    );
    text += &blocking(&figures.blocking);
    text += &designs(&figures.designs);
    text += &breakdown(&figures.designs);
    text += &limited(&figures.limited);
    text += &configuration(&figures.configuration, &figures.designs);
    text
}

/// Table 6 with Figures 9 and 10.
fn capacity(study: &Study) -> String {
    let designs = ["micro12-unified-128", "micro12-unified-256", UNIFIED, "micro12-limited"];
    let mut text = String::from("\n## Capacity (MICRO'12 Table 6, Figures 9 and 10)\n");
    for (title, place, of) in [
        ("Performance", Some(0), (|run: &Run| run.performance) as Of),
        ("Energy", Some(1), |run| energy(run, false)),
        ("Energy, leakage as printed", Some(1), |run| energy(run, true)),
        ("Bytes of DRAM", None, |run| run.dram_relative),
    ] {
        let _ = write!(text, "\n{title}, relative to `micro12`.\n\n");
        text += &head(&["workload", "unified, 128 KB", "256 KB", "384 KB", "limited"]);
        let printed = |input: &str, column: usize| {
            place.and_then(|place: usize| paper::table6(input)?[place].get(column).copied())
        };
        for input in inputs(study) {
            let cell = |(column, design): (usize, &&str)| {
                let own = run(study, input, design);
                beside(own.and_then(of), printed(input, column))
            };
            let cells = designs.iter().enumerate().map(cell);
            text += &line(&std::iter::once(format!("`{input}`")).chain(cells).collect::<Vec<_>>());
        }
        let cell = |(column, design): (usize, &&str)| {
            beside(mean(study, design, of), printed("average", column))
        };
        let cells = designs.iter().enumerate().map(cell);
        text += &line(&std::iter::once("mean".to_owned()).chain(cells).collect::<Vec<_>>());
    }
    text
}

/// Figure 8.
fn partitions(study: &Study) -> String {
    let mut text = String::from(
        "\n## Partition of 384 KB (MICRO'12 Figure 8)\n\n\
         KB of registers, shared memory and cache; with the registers of the paper's workloads the \
         partitions are the printed ones (`strata exact`, `unified-partition-384kb`).\n\n",
    );
    text +=
        &head(&["workload", "registers of a thread", "threads", "registers", "shared", "cache"]);
    for input in inputs(study) {
        let Some(own) = run(study, input, UNIFIED) else { continue };
        let partition = own.partition.expect("it is divided");
        text += &line(&[
            format!("`{input}`"),
            own.registers.to_string(),
            partition.threads.to_string(),
            kilobytes(partition.registers_bytes),
            kilobytes(partition.shared_bytes),
            kilobytes(partition.cache_bytes),
        ]);
    }
    text
}

/// A ratio of a run.
type Of = fn(&Run) -> Option<f64>;

/// Figure 7.
fn no_benefit(study: &Study) -> String {
    let aggressive = "micro12-unified-384, aggressive banks";
    let mut text = String::from(
        "\n## Workloads that cannot benefit (MICRO'12 Figure 7)\n\n\
         Unified storage of 384 KB relative to `micro12`; aggressive banks pass several rows of a \
         cluster in a cycle (4.2; paper: +0.5 %). *By cycle*: conflicts of banks cost what an arbiter has \
         them wait cycle by cycle, instead of the penalty for each instruction that 6.1 calls likely \
         pessimistic. The paper's mean performance is 1.00, and no workload changes by 1 %; its mean energy \
         is 0.9994, its worst 1.009.\n\n",
    );
    text += &head(&[
        "workload",
        "performance",
        "by cycle",
        "aggressive",
        "energy",
        "as printed",
        "DRAM",
    ]);
    let columns = |of: &dyn Fn(&str, Of) -> Option<f64>| {
        let performance = |run: &Run| run.performance;
        [
            ratio3(of(UNIFIED, performance)),
            ratio3(of(BY_CYCLE, performance)),
            ratio3(of(aggressive, performance)),
            ratio3(of(UNIFIED, |run| energy(run, false))),
            ratio3(of(UNIFIED, |run| energy(run, true))),
            ratio3(of(UNIFIED, |run| run.dram_relative)),
        ]
    };
    for input in inputs(study) {
        let own = columns(&|point, of| run(study, input, point).and_then(of));
        text += &line(&[&[format!("`{input}`")], &own[..]].concat());
    }
    let own = columns(&|point, of| mean(study, point, of));
    text += &line(&[&["mean".to_owned()], &own[..]].concat());
    text
}

fn ratio3(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// Table 5, and the dissertation's 7.5.5 with Figure 7.10.
fn banks(study: &Study) -> String {
    let mut text = String::from(
        "\n## Conflicts of banks (MICRO'12 Table 5; dissertation 7.5.5, Figure 7.10)\n\n\
         384 KB with one partition, without and with a hierarchy of registers: banks of 4 bytes beside \
         registers of their own, banks of 16 bytes that do not meet registers, and unified banks whose \
         conflicts are charged by instruction or cycle by cycle. Means over the seventeen workloads; \
         performance relative to the first line. *Accesses of a bank*: the share of instructions by their \
         accesses to the bank that they access most, in percent. The dissertation loses 0.31 % by conflicts \
         with registers and 0.02 % by the width of banks (`dgemm` 1.5 %).\n\n",
    );
    text += &head(&["design", "performance", "at most 1", "2", "3", "4", "more"]);
    for point in points(study) {
        let share = |bin: usize| {
            let of = |run: &Run| run.conflicts.shares().map(|shares| shares[bin]);
            mean(study, point, of).map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"))
        };
        let performance = ratio3(mean(study, point, |run| run.performance));
        let cells = [point.to_owned(), performance].into_iter().chain((0..5).map(share));
        text += &line(&cells.collect::<Vec<_>>());
    }
    let printed = paper::table5();
    for (name, shares) in ["Table 5, partitioned", "Table 5, unified"].iter().zip(printed) {
        let cells = shares.iter().map(|share| format!("({share})"));
        let start = [(*name).to_owned(), "-".to_owned()];
        text += &line(&start.into_iter().chain(cells).collect::<Vec<_>>());
    }
    text += "\nPerformance of each workload, relative to banks of 4 bytes at the same level, with the \
             hierarchy.\n\n";
    text += &head(&["workload", "banks of 16 bytes", "by instruction", "by cycle"]);
    for input in inputs(study) {
        let at = |point: &str| {
            let cycles = |point: &str| {
                run(study, input, &format!("hierarchy, {point}")).map(|run| run.cycles)
            };
            let own = cycles("banks of 4 bytes").zip(cycles(point));
            ratio3(own.map(|(of, own)| of as f64 / own as f64))
        };
        let all = ["banks of 16 bytes", "conflicts by instruction", "conflicts by cycle"];
        text += &line(&[&[format!("`{input}`")], &all.map(at)[..]].concat());
    }
    text
}

/// Table 1.
fn needs(study: &Study) -> String {
    let mut text = String::from(
        "\n## What kernels need (MICRO'12 Table 1)\n\n\
         KB of registers of 1024 threads, bytes of shared memory of a thread, instructions with a limit of \
         registers relative to none spilled, and bytes of DRAM with a cache of 0 and 64 KB relative to 256 KB. \
         *Limited by* is shared memory where 1024 threads need more than 64 KB of it, registers where they need \
         more than 128 KB, the cache where 0 or 64 KB of it move a fifth more from DRAM, the first that holds; in \
         brackets the category under which the paper lists the workload.\n\n",
    );
    text += &head(&[
        "workload",
        "limited by",
        "registers",
        "KB",
        "shared",
        "18",
        "24",
        "32",
        "40",
        "64",
        "0 KB",
        "64 KB",
    ]);
    for input in inputs(study) {
        let printed = paper::table1(input);
        let at = |point: &str| run(study, input, point);
        let Some(own) = at("256 KB of cache") else { continue };
        let registers =
            printed.as_ref().map_or_else(String::new, |of| format!(" ({})", of.registers));
        let partition = own.partition.expect("it is divided");
        let shared = partition.shared_bytes as f64 / f64::from(partition.threads);
        let dram = [0, 64].map(|kb| {
            at(&format!("{kb} KB of cache")).and_then(|run| run.dram_relative).unwrap_or(1.0)
        });
        let limited = match () {
            () if shared > 64.0 => "shared memory",
            () if own.registers > 32 => "registers",
            () if dram.into_iter().any(|relative| relative >= 1.2) => "cache",
            () => "balanced",
        };
        let category = paper::category(input).map_or_else(String::new, |of| format!(" ({of})"));
        let mut cells = vec![
            format!("`{input}`"),
            format!("{limited}{category}"),
            format!("{}{registers}", own.registers),
            (4 * u32::from(own.registers)).to_string(),
            format!("{shared:.1}"),
        ];
        for (place, limit) in [18, 24, 32, 40, 64].into_iter().enumerate() {
            let run = at(&format!("{limit} registers"));
            let relative = run.and_then(|run| run.instructions_relative);
            cells.push(beside(relative, printed.as_ref().map(|of| of.instructions[place])));
        }
        for (place, kb) in [0, 64].into_iter().enumerate() {
            let relative = at(&format!("{kb} KB of cache")).and_then(|run| run.dram_relative);
            cells.push(beside(relative, printed.as_ref().map(|of| of.dram[place])));
        }
        text += &line(&cells);
    }
    text
}

/// A line for each workload, and a column for each point.
fn threads(title: &str, told: &str, study: &Study) -> String {
    let mut text = format!("\n## {title}\n\n{told}\n\n");
    let points = points(study);
    let short =
        |point: &&str| point.replace(" threads", "").replace(" registers", "").replace(", ", " x ");
    let columns: Vec<String> = points.iter().map(short).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    text += &head(&[&["workload"], &columns[..]].concat());
    for input in inputs(study) {
        let cell = |point: &&str| ratio(run(study, input, point).and_then(|run| run.performance));
        let cells = points.iter().map(cell);
        text += &line(&std::iter::once(format!("`{input}`")).chain(cells).collect::<Vec<_>>());
    }
    text
}

/// Figure 11.
fn blocking(study: &Study) -> String {
    let inputs = inputs(study);
    let mut text = String::from(
        "\n## Blocking factor of needle (MICRO'12 Figure 11)\n\n\
         KB of shared memory that so many threads take, and performance relative to `needle64` with 1024 \
         threads, on an SM of 64 warps, so that 64 CTAs of half a warp fit.\n\n",
    );
    let names: Vec<String> = inputs
        .iter()
        .flat_map(|input| [format!("`{input}`, KB"), "performance".to_owned()])
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    text += &head(&[&["threads"], &names[..]].concat());
    for point in points(study).into_iter().filter(|point| {
        let threads = point.split(' ').next().and_then(|threads| threads.parse::<u32>().ok());
        threads.is_some_and(|threads| threads % 128 == 0)
    }) {
        let mut cells = vec![point.replace(" threads", "")];
        for input in &inputs {
            let own = run(study, input, point);
            let kb = own.and_then(|run| run.partition).map(|own| kilobytes(own.shared_bytes));
            cells.push(kb.unwrap_or_else(|| "-".to_owned()));
            cells.push(ratio(own.and_then(|run| run.performance)));
        }
        text += &line(&cells);
    }
    text
}

/// Figures 7.7, 7.8 and 7.12.
fn designs(study: &Study) -> String {
    let mut text = String::from(
        "\n## Designs of the dissertation (Figures 7.7, 7.8 and 7.12)\n\n\
         Means over the workloads that every design runs, relative to `diss-ch7`; performance per joule is what \
         Figure 7.8 calls per watt (DEV-089). In print unified 384 KB gain 0.2, 3, 4, 8, 9 and 75 % of \
         performance and 0.2, 4, 10, 17, 20 and 115 % per watt; DRAM falls by 10 to 25 % where it does.\n\n",
    );
    let points = points(study);
    let common: Vec<&str> = inputs(study)
        .into_iter()
        .filter(|input| points.iter().all(|point| run(study, input, point).is_some()))
        .collect();
    let mean = |point: &str, of: Of| {
        let all = common.iter().filter_map(|input| run(study, input, point).and_then(of));
        let all: Vec<f64> = all.collect();
        ratio((all.len() == common.len()).then(|| all.iter().sum::<f64>() / all.len() as f64))
    };
    text += &head(&["design", "performance", "DRAM", "energy", "as printed", "per joule"]);
    for point in &points {
        text += &line(&[
            format!("`{point}`"),
            mean(point, |run| run.performance),
            mean(point, |run| run.dram_relative),
            mean(point, |run| energy(run, false)),
            mean(point, |run| energy(run, true)),
            mean(point, |run| run.energy.first()?.performance_per_joule),
        ]);
    }
    let equal = "diss-ch7-unified-384";
    let _ = write!(text, "\n`{equal}`, each workload.\n\n");
    text += &head(&["workload", "performance", "DRAM", "energy", "as printed", "per joule"]);
    for input in inputs(study) {
        let own = run(study, input, equal);
        text += &line(&[
            format!("`{input}`"),
            ratio(own.and_then(|run| run.performance)),
            ratio(own.and_then(|run| run.dram_relative)),
            ratio(own.and_then(|run| energy(run, false))),
            ratio(own.and_then(|run| energy(run, true))),
            ratio(own.and_then(|run| run.energy.first()?.performance_per_joule)),
        ]);
    }
    text
}

/// Figure 7.9.
fn breakdown(study: &Study) -> String {
    let mut text = String::from(
        "\n## Energy by what spends it (dissertation Figure 7.9)\n\n\
         `pcr`, percent of each design's energy. The dissertation has 0.12 to 1.16 % of the energy in \
         banks of registers and 0.004 to 0.072 % in those of shared memory and cache.\n\n",
    );
    let names = StoragePart::ALL.map(|part| part.name().replace('_', " "));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    text += &head(&[&["design"], &names[..]].concat());
    for point in points(study) {
        let Some(own) = run(study, "pcr", point) else { continue };
        let cell = |of: StoragePart| {
            part(own, of.name()).map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"))
        };
        text += &line(&[&[format!("`{point}`")], &StoragePart::ALL.map(cell)[..]].concat());
    }
    text
}

/// Figure 7.4.
fn limited(study: &Study) -> String {
    let mut text = String::from(
        "\n## Two splits of 64 KB (dissertation Figure 7.4)\n\n\
         16 KB of shared memory and 48 KB of cache relative to the other way round.\n\n",
    );
    text += &head(&["workload", "performance", "DRAM", "energy"]);
    for input in inputs(study) {
        let own = run(study, input, "diss-ch7-limited-16-48");
        text += &line(&[
            format!("`{input}`"),
            ratio(own.and_then(|run| run.performance)),
            ratio(own.and_then(|run| run.dram_relative)),
            ratio(own.and_then(|run| energy(run, false))),
        ]);
    }
    text
}

/// Table 7.2.
fn configuration(study: &Study, designs: &Study) -> String {
    let mut text = String::from(
        "\n## Fastest registers and threads (dissertation Table 7.2)\n\n\
         The limit of registers among 18, 24, 32, 40 and 64 and the threads with which each runs fastest in \
         384 KB, the first of equals from the most registers down; *spills* are its instructions relative to none spilled.\n\n",
    );
    text += &head(&["workload", "registers", "threads", "spills", "cache, KB"]);
    for input in inputs(study) {
        let mut all: Vec<&Run> =
            points(study).into_iter().filter_map(|point| run(study, input, point)).collect();
        all.extend(run(designs, input, "diss-ch7-unified-384"));
        all.reverse();
        let Some(best) = all.iter().min_by_key(|run| run.cycles) else { continue };
        let partition = best.partition.expect("it is divided");
        let printed = paper::table7_2(input).map(|of| of.map(|number| format!(" ({number})")));
        let [registers, threads] = printed.unwrap_or_default();
        text += &line(&[
            format!("`{input}`"),
            format!("{}{registers}", best.registers),
            format!("{}{threads}", partition.threads),
            ratio(best.instructions_relative),
            kilobytes(partition.cache_bytes),
        ]);
    }
    text
}

/// The page of larger inputs.
pub(super) fn large(study: &Study, figures: &Figures) -> String {
    let cycles = |point: &str| {
        let of = |input| run(study, input, point).expect("it runs").cycles;
        let (small, large) = (of("needle32"), of("needle64"));
        if small <= large { ("needle32", small) } else { ("needle64", large) }
    };
    let (best, unified) = (cycles("micro12"), cycles(UNIFIED));
    let mut page = format!(
        "# Unified storage, larger inputs\n\n\
         The tables of [the page of unified storage](unified.md) at sizes that take minutes: capacity at size\n\
         `large`, which is beyond every cache, and all figures at size `{}`. `cargo xtask test --full` checks\n\
         this page, last on 2026-11-27; other runs do not make it.\n\n\
         **Best blocking factor.** `micro12` runs `{}` fastest, in {} cycles, and `{UNIFIED}` `{}`, in {}: \
         {:.2} times as fast. In print that is 1.71.\n",
        figures.scales[1].name(),
        best.0,
        best.1,
        unified.0,
        unified.1,
        best.1 as f64 / unified.1 as f64
    );
    page += "\n# Size `large`\n";
    page += &capacity(study);
    page += &partitions(study);
    let _ = write!(page, "\n# Size `{}`\n", figures.scales[1].name());
    page += &body(figures);
    page
}
