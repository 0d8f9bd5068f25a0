//! The page `docs/results/warrf.md`.

use std::fmt::Write as _;

use strata::cost;
use strata::design;
use strata::study::write_pool::{Point, Series};
use strata::workload;

use super::{
    FIGURE_6, SBW, SIXTEEN, SRAM, STTRAM, SWEEPS, WARRF, WPOOL, counter, derived, energy, extremes,
    gain, printed, ratio, registers, relative_ipc, with_accesses, write_heaviest,
};
use crate::reports::mean;

pub(super) fn page() -> String {
    let mut page = String::from(
        "# A register file of STT-RAM on our workloads\n\n\
         [WARRF] Figures 6, 7 and 8 on machine `warrf-gtx480`: a main register file of SRAM or of\n\
         STT-RAM (`sttram`), with split bank writes (`sttram-sbw`), with a write pool of 60 entries\n\
         (`sttram-wpool`), with both (`warrf`). The twelve workloads are at size `small`; means count\n\
         each once, relative to its own SRAM baseline. The paper's figures are known from its text\n\
         only, on other workloads: they are shown beside ours and never fitted. The pool does one\n\
         access in a cycle, as its text says (DEV-053); what it does with more is shown as well. This\n\
         page is checked by `cargo test -p strata-tests --test shape`.\n\n",
    );
    page.push_str(&ipc());
    page.push_str(&causes());
    page.push_str(&slots());
    page.push_str(&writes());
    page.push_str(&energies());
    page.push_str(&write_heavy());
    page.push_str(&endurance());
    page.push_str(&costs());
    page.push_str(&sweeps());
    page
}

/// The designs of the tables: those of Figure 6, then with more accesses of the pool.
fn shown() -> Vec<String> {
    let names = FIGURE_6.iter().map(|&name| name.to_owned());
    names.chain([2, 4].map(|accesses| with_accesses(WARRF, accesses))).collect()
}

fn head(first: &str, columns: &[String]) -> String {
    format!("| {first} | {} |\n| --- |{}\n", columns.join(" | "), " ---: |".repeat(columns.len()))
}

/// A line for each workload, then their mean.
fn by_workload(columns: &[&dyn Fn(&str) -> f64], decimals: usize) -> String {
    let mut text = String::new();
    for name in workload::names() {
        let cells: Vec<_> = columns.iter().map(|of| format!("{:.decimals$}", of(name))).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    let cells: Vec<_> = columns.iter().map(|of| format!("{:.decimals$}", mean(of))).collect();
    let _ = writeln!(text, "| mean | {} |\n", cells.join(" | "));
    text
}

fn ipc() -> String {
    let names = shown();
    let mut text = String::from(
        "## Throughput (Figure 6)\n\n\
         IPC of SRAM in thread instructions in a cycle; of the others, in percent of it.\n\n",
    );
    let titles: Vec<_> =
        names.iter().map(|name| format!("`{}`", name.replace(',', "`,"))).collect();
    let titles: Vec<_> =
        titles.iter().map(|title| title.replace(" accesses`", " accesses")).collect();
    text.push_str(&head("workload", &titles));
    let sram = |workload: &str| derived(workload, SRAM, "ipc");
    let others: Vec<_> =
        names[1..].iter().map(|name| move |workload: &str| relative_ipc(workload, name)).collect();
    let mut columns: Vec<&dyn Fn(&str) -> f64> = vec![&sram];
    columns.extend(others.iter().map(|of| of as &dyn Fn(&str) -> f64));
    text.push_str(&by_workload(&columns, 1));
    text
}

/// Mean, least and most, with their workloads.
fn spread(of: impl Fn(&str) -> f64 + Copy) -> String {
    let [(least, worst), (most, best)] = extremes(of);
    format!("{:+.1} % | {worst:+.1} % (`{least}`) | {best:+.1} % (`{most}`)", mean(of))
}

fn causes() -> String {
    let mut text = String::from(
        "What each step does to IPC:\n\n\
         | step | accesses of the pool | mean | least | most | paper |\n\
         | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    let mut row = |step: &str, accesses: &str, of: &dyn Fn(&str) -> f64, paper: &str| {
        let _ = writeln!(text, "| {step} | {accesses} | {} | {paper} |", spread(of));
    };
    row("STT-RAM instead of SRAM", "", &|name| gain(name, STTRAM, SRAM), "-14 %");
    row("split bank writes", "", &|name| gain(name, SBW, STTRAM), "+7 %, most +11 %");
    for accesses in [1, 2, 4] {
        let pool = with_accesses(WPOOL, accesses);
        let of = |name: &str| gain(name, &pool, STTRAM);
        row("a write pool instead", &accesses.to_string(), &of, "");
    }
    for (step, over, paper) in [
        ("a write pool beside split bank writes", SBW, "+6 %, most +14 %"),
        ("both", STTRAM, "+13 %, most +23 %"),
        ("all, against SRAM", SRAM, "-2.5 %"),
    ] {
        for accesses in [1, 2, 4] {
            let both = with_accesses(WARRF, accesses);
            let of = |name: &str| gain(name, &both, over);
            row(step, &accesses.to_string(), &of, paper);
        }
    }
    let both = with_accesses(WARRF, 4);
    let [loss, split, pool] = [(STTRAM, SRAM), (SBW, STTRAM), (both.as_str(), SBW)]
        .map(|(design, over)| mean(|name| gain(name, design, over)));
    let without: Vec<f64> = workload::names()
        .filter(|&name| name != SIXTEEN)
        .map(|name| gain(name, STTRAM, SRAM))
        .collect();
    let without = without.iter().sum::<f64>() / without.len() as f64;
    let (busy, most) = (mean(busy), extremes(busy)[1]);
    let _ = writeln!(
        text,
        "\nA write takes its bank for three cycles, and its result is there two cycles later. That costs\n\
         {:.1} %, {:.1} % without `{SIXTEEN}`: that kernel has 16 registers, as many as there are\n\
         banks, so that a register lies in the same bank for all warps (DEV-052) and writes queue. It\n\
         is where split bank writes and the pool win most. With split bank writes reads go on in the\n\
         other subarray, which wins back {split:.1} %; results come as late as before. A write of the\n\
         pool takes one cycle again, but each write and each read that hits needs the pool. With one\n\
         access in a cycle it is busy in {busy:.0} % of the cycles (`{}` {:.0} %) and is itself the\n\
         narrowest place of the register file; with four it wins {pool:.1} %, and `warrf` is as fast\n\
         as SRAM. The paper's text has one access and its figures a gain; which of the two its\n\
         simulator had, it does not say.\n",
        -loss, -without, most.0, most.1
    );
    text.push_str(&waits());
    text
}

/// Cycles for which writes wait for their bank, or for the pool.
fn waits() -> String {
    let mut text = String::from(
        "Cycles for which a write of a result waits for its bank or the pool, on average; registers of\n\
         the workload's kernels:\n\n",
    );
    let names = [SRAM, STTRAM, SBW, WARRF, &with_accesses(WARRF, 4)].map(str::to_owned);
    let titles = std::iter::once("registers".to_owned()).chain(names.iter().cloned());
    text.push_str(&head("workload", &titles.collect::<Vec<_>>()));
    for workload in workload::names() {
        let mut registers = registers(workload);
        registers.sort_unstable();
        registers.dedup();
        let registers: Vec<_> = registers.iter().map(ToString::to_string).collect();
        let cells = names.iter().map(|name| {
            let of = |counted| counter(workload, name, counted);
            // What the pool writes back waits nowhere.
            let writes = of("mrf_writes") - of("write_pool_writebacks") + of("write_pool_writes");
            format!("{:.2}", of("mrf_write_delay_cycles") as f64 / writes as f64)
        });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(text, "| {workload} | {} | {cells} |", registers.join(", "));
    }
    text.push('\n');
    text
}

/// Share of cycles in which a pool of one access is busy. Unit: percent.
fn busy(workload: &str) -> f64 {
    let of = |name| counter(workload, WARRF, name);
    ratio(of("write_pool_reads") + of("write_pool_writes"), of("cycles"))
}

/// Reasons why a cycle issued nothing, put together.
const REASONS: [(&str, &[&str]); 5] = [
    ("issued", &["slots_issued"]),
    ("no collector free", &["slots_collectors"]),
    ("no warp active", &["slots_outside", "slots_drain", "slots_flush", "slots_long_latency"]),
    ("result not there", &["slots_arithmetic", "slots_special_function", "slots_short_memory"]),
    (
        "others",
        &[
            "slots_barrier",
            "slots_branch",
            "slots_in_order",
            "slots_operand_read",
            "slots_unit_busy",
        ],
    ),
];

fn slots() -> String {
    let mut text = String::from(
        "Where the cycles go, in percent of the design's own, on the mean; a result is not there while\n\
         its unit works on it or its write waits:\n\n",
    );
    let titles: Vec<_> = REASONS.iter().map(|(title, _)| (*title).to_owned()).collect();
    text.push_str(&head("design", &titles));
    for name in shown() {
        let cells: Vec<_> = REASONS
            .iter()
            .map(|(_, slots)| {
                let of = |workload: &str| {
                    let sum = slots.iter().map(|slot| counter(workload, &name, slot)).sum();
                    ratio(sum, counter(workload, &name, "cycles"))
                };
                format!("{:.1}", mean(of))
            })
            .collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text.push('\n');
    text
}

fn writes() -> String {
    let four = with_accesses(WARRF, 4);
    let mut text = String::from(
        "## Writes of the main register file (Figure 7)\n\n\
         Writes avoided in percent of SRAM's; operand reads and writes that hit the pool; how often\n\
         in 100 cycles `warrf` accesses its pool.\n\n",
    );
    let columns = ["`warrf`", "`warrf`, 4 accesses", "read hits", "write hits", "pool busy"];
    text.push_str(&head("workload", &columns.map(str::to_owned)));
    let avoided = |design: &str, name: &str| derived(name, design, "mrf_writes_avoided_percent");
    let (one, more) = (|name: &str| avoided(WARRF, name), |name: &str| avoided(&four, name));
    let reads = |name: &str| {
        let of = |counted| counter(name, WARRF, counted);
        let operands = of("write_pool_reads") + of("mrf_reads") - of("write_pool_partial_hits");
        ratio(of("write_pool_reads"), operands)
    };
    let hits = |name: &str| {
        let of = |counted| counter(name, WARRF, counted);
        ratio(of("write_pool_write_hits"), of("write_pool_writes"))
    };
    text.push_str(&by_workload(&[&one, &more, &reads, &hits, &busy], 1));
    let [(least, worst), (most, best)] = extremes(one);
    let _ = writeln!(
        text,
        "`warrf` avoids {:.1} % of the writes on the mean, least {worst:.1} % (`{least}`), most\n\
         {best:.1} % (`{most}`); the paper 31 %, most 83 %. More are avoided than hit,\n\
         because entries of warps that have ended are dropped: kernels that end soon profit.\n",
        mean(one)
    );
    text
}

/// Leakage, dynamic energy and their sum in percent of another design's sum.
fn parts(workload: &str, design: &str, of: &str) -> [f64; 3] {
    let (own, of) = (energy(workload, design), energy(workload, of).total_fj);
    [own.leakage_fj, own.dynamic_fj, own.total_fj].map(|fj| ratio(fj, of))
}

fn energies() -> String {
    let mut text = String::from(
        "## Energy (Figure 8)\n\n\
         Leakage + dynamic energy = total, in percent of the total of SRAM. *In milliwatts* is the\n\
         reading of the leakage that Figure 8 needs, *as printed* that of Table II (DEV-050).\n\n",
    );
    for (title, reading) in [("in milliwatts", ""), ("as printed", "-as-printed")] {
        let in_reading =
            |name: &str| if reading.is_empty() { name.to_owned() } else { printed(name) };
        let designs = [SRAM, STTRAM, WARRF].map(in_reading);
        let four = in_reading(&with_accesses(WARRF, 4));
        let columns = ["SRAM", "STT-RAM", "WarRF", "WarRF, 4 accesses"].map(str::to_owned);
        text.push_str(&head(title, &columns));
        let mut row = |name: &str, of: &dyn Fn(&str, usize) -> f64| {
            let cells = designs.iter().chain([&four]).map(|design| {
                let [leakage, dynamic, total] = [0, 1, 2].map(|part| of(design, part));
                format!("{leakage:.1} + {dynamic:.1} = {total:.1}")
            });
            let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        };
        for name in workload::names() {
            row(name, &|design, part| parts(name, design, &designs[0])[part]);
        }
        row("mean", &|design, part| mean(|name| parts(name, design, &designs[0])[part]));
        text.push('\n');
    }
    text.push_str(&energy_summary());
    text
}

fn energy_summary() -> String {
    let mut text = String::from(
        "| against SRAM, mean over workloads | in milliwatts | as printed | paper |\n\
         | --- | ---: | ---: | --- |\n",
    );
    let mut row = |what: &str, of: &dyn Fn(bool, &str) -> f64, paper: &str| {
        let [read, as_printed] = [false, true].map(|printed| mean(|name| of(printed, name)));
        let _ = writeln!(text, "| {what} | {read:+.1} % | {as_printed:+.1} % | {paper} |");
    };
    let name = |as_printed: bool, name: &str| {
        if as_printed { printed(name) } else { name.to_owned() }
    };
    let of = |as_printed, design: &str, workload: &str, what: &str| {
        derived(workload, &name(as_printed, design), what) - 100.0
    };
    let four = with_accesses(WARRF, 4);
    let (dynamic, total) = ("dynamic_energy_relative_percent", "total_energy_relative_percent");
    let product = "energy_delay_relative_percent";
    row("STT-RAM, dynamic energy", &|p, workload| of(p, STTRAM, workload, dynamic), "+49 %");
    row("STT-RAM, total", &|p, workload| of(p, STTRAM, workload, total), "-32 %, `LPS` +18 %");
    row("WarRF, total", &|p, workload| of(p, WARRF, workload, total), "-38 %");
    row("WarRF with 4 accesses, total", &|p, workload| of(p, &four, workload, total), "");
    let further =
        |p, workload: &str| of(p, WARRF, workload, total) - of(p, STTRAM, workload, total);
    row("WarRF beyond STT-RAM, of SRAM's total", &further, "-7.4, most -24");
    row(
        "WarRF, energy times delay",
        &|p, workload| of(p, WARRF, workload, product),
        "-36 % (0.64)",
    );
    row(
        "WarRF with 4 accesses, energy times delay",
        &|p, workload| of(p, &four, workload, product),
        "",
    );
    let reads = mean(|name| derived(name, WARRF, "mrf_reads_avoided_percent"));
    let _ = writeln!(
        text,
        "\nThe pool saves more than in print because it serves {reads:.0} % of the operand reads as well,\n\
         at 0.08 instead of 0.42 pJ for a bit; of reads the paper's results say nothing. What the pool\n\
         leaks is not in print and not charged.\n"
    );
    text
}

fn write_heavy() -> String {
    let heavy = write_heaviest();
    let rate = ratio(counter(heavy, SRAM, "mrf_writes"), counter(heavy, SRAM, "cycles"));
    let total = |workload: &str, reading: &dyn Fn(&str) -> String| {
        let [sram, sttram] = [SRAM, STTRAM].map(|name| energy(workload, &reading(name)).total_fj);
        ratio(sttram, sram) - 100.0
    };
    let own = |name: &str| name.to_owned();
    let above = |reading: &dyn Fn(&str) -> String| {
        let above = workload::names().filter(|name| total(name, reading) > 0.0);
        let names: Vec<_> = above.map(|name| format!("`{name}`")).collect();
        match names.len() {
            0 => "in no workload".to_owned(),
            12 => "in all twelve workloads".to_owned(),
            _ => format!("in {}", names.join(", ")),
        }
    };
    let [(_, least), (most, best)] = extremes(|name| total(name, &printed));
    format!(
        "A write-heavy case. The paper's is `LPS`, whose energy rises by 18 %. Ours with the most\n\
         writes in a cycle is `{heavy}`, {:.2} warp-wide registers: STT-RAM's energy is {:+.1} % there in\n\
         milliwatts and {:+.1} % as printed; `warrf` has {:.1} % less than STT-RAM in milliwatts.\n\
         STT-RAM's total is above SRAM's {} in milliwatts,\n\
         and {} as printed, by {least:.1} to {best:.1} % (`{most}`). In milliwatts\n\
         a rise of 18 % with 49 % more dynamic energy needs leakage of a fifth of SRAM's energy: six\n\
         accesses of the register file in every cycle, where our SM, which issues one instruction in a\n\
         cycle, makes two.\n\n",
        rate / 100.0,
        total(heavy, &own),
        total(heavy, &printed),
        100.0 - ratio(energy(heavy, WARRF).total_fj, energy(heavy, STTRAM).total_fj),
        above(&own),
        above(&printed),
    )
}

fn endurance() -> String {
    let mut text = String::from(
        "## Endurance\n\n\
         Writes of a cell of the main register file over the run, the most and the mean of its 1024\n\
         registers of a warp; and the most in a million cycles. No source reports any of it.\n\n",
    );
    let four = with_accesses(WARRF, 4);
    let names = [STTRAM, WARRF, &four];
    let titles = ["STT-RAM", "WarRF", "WarRF, 4 accesses"];
    let titles = titles.iter().flat_map(|title| {
        ["most", "mean", "most in 10^6 cycles"].map(|what| format!("{title}: {what}"))
    });
    text.push_str(&head("workload", &titles.collect::<Vec<_>>()));
    for workload in workload::names() {
        let cells = names.iter().map(|name| {
            let worn = super::REPORTS.get(workload, name).endurance.expect("it is counted");
            let cycles = counter(workload, name, "cycles");
            let rate = 1e6 * worn.writes_max as f64 / cycles as f64;
            format!("{} | {:.1} | {rate:.0}", worn.writes_max, worn.writes_mean)
        });
        let _ = writeln!(text, "| {workload} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text.push('\n');
    text
}

fn costs() -> String {
    let mut text = String::from(
        "## Area and hardware (`strata cost`)\n\n\
         An SM's register file of 128 KB, the write pool's array as SRAM; bits of split bank writes,\n\
         bytes of the pool's array, bits of its indicator and, ours, of its lanes and its order.\n\n",
    );
    let columns = [
        "area, um2",
        "saved",
        "split bank bits",
        "pool bytes",
        "indicator bits",
        "lanes, order bits",
    ];
    text.push_str(&head("design", &columns.map(str::to_owned)));
    for name in FIGURE_6 {
        let cost = cost::cost(&design::resolve(name).expect("the design exists"));
        let (area, collectors) = (cost.area.expect("printed"), cost.collectors.expect("it has"));
        let saved = area.saved_per_mille().expect("the baseline has an area");
        let split = collectors.split_bank_write_bits.unwrap_or(0);
        let pool = collectors.write_pool;
        let [array, indicator, own] = pool.map_or([0; 3], |pool| {
            [pool.array_bytes, pool.indicator_bits, pool.lane_bits + pool.order_bits]
        });
        let (area, saved) = (area.total_um2(), saved as f64 / 10.0);
        let _ = writeln!(
            text,
            "| `{name}` | {area} | {saved:.1} % | {split} | {array} | {indicator} | {own} |"
        );
    }
    text.push_str(
        "\nThe paper: about 68 % saved, overhead included (DEV-051); 48 bits; less than 6 % of the\n\
         register file's size. A pool of more accesses in a cycle has more ports, which have no area\n\
         or energy in print and are not charged.\n\n",
    );
    text
}

fn series(study: usize, sweep: &str, split: bool, accesses: u8) -> &'static Series {
    let ports = if accesses == 1 { "1r1w".to_owned() } else { accesses.to_string() };
    let of =
        |point: &Point| point.split_bank_write == split && point.write_pool_ports == ports;
    let wanted = |series: &&Series| series.sweep == sweep && series.points.iter().all(of);
    SWEEPS[study].series.iter().find(wanted).expect("the series was swept")
}

fn sweeps() -> String {
    let mut text = String::from(
        "## Entries of the pool (N)\n\n\
         With split bank writes, one and four accesses in a cycle: relative IPC, writes avoided, reads\n\
         and writes that hit, dynamic and total energy in milliwatts and energy times delay against\n\
         SRAM, all in percent, and the most writes of a cell. The paper has 60 entries.\n\n",
    );
    let columns = ["IPC", "avoided", "read hits", "write hits", "dynamic", "total", "EDP", "wear"];
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.1}"));
    for accesses in [1, 4] {
        text.push_str(&head(&format!("entries, {accesses} a cycle"), &columns.map(str::to_owned)));
        for point in &series(0, "write_pool_entries", true, accesses).points {
            let of = &point.mean;
            let cells = [
                of.ipc_relative_percent,
                of.mrf_writes_avoided_percent,
                of.pool_read_hits_percent,
                of.pool_write_hits_percent,
                of.dynamic_energy_relative_percent,
                of.total_energy_relative_percent,
                of.energy_delay_relative_percent,
            ];
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                point.write_pool_entries,
                cells.map(value).join(" | "),
                of.cell_writes_max.expect("it is counted")
            );
        }
        text.push('\n');
    }
    text.push_str(
        "More entries avoid more and wear less without end in sight; with one access in a cycle each\n\
         hit more costs throughput, with four IPC has its knee at 30.\n\n\
         ## Cycles of a write (n)\n\n\
         Without a pool, at the same energy of a write: relative IPC in percent, and what split bank\n\
         writes win. The paper has 3.\n\n\
         | cycles | `sttram` | `sttram-sbw` | gain | total energy, `sttram-sbw` |\n\
         | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let [whole, split] = [false, true].map(|split| &series(1, "write_cycles", split, 1).points);
    for (whole, split) in whole.iter().zip(split) {
        let of = |point: &Point| point.mean.ipc_relative_percent.expect("cycles passed");
        let gain = 100.0 * (of(split) / of(whole) - 1.0);
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {gain:+.1} % | {} |",
            whole.write_cycles,
            of(whole),
            of(split),
            value(split.mean.total_energy_relative_percent)
        );
    }
    text
}
