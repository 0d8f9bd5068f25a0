//! The page `docs/results/warrf.md`.

use std::fmt::Write as _;

use strata_core::write_pool::PoolPorts;
use strata_design as design;
use strata_design::cost;
use strata_study::study::write_pool::{Point, Series};
use strata_workload as workload;

use super::{
    FIGURE_6, OTHER_PORTS, PORTS, SBW, SRAM, STTRAM, SWEEPS, WARRF, WPOOL, at_bank, counter,
    dearer, derived, energy, extremes, gain, printed, ratio, registers, relative_ipc, variants,
    with_ports, write_heaviest,
};
use crate::groups;
use crate::orders::by_order;
use crate::reports::{mean, without_one};

pub(super) fn page() -> String {
    let mut page = String::from(
        "# A register file of STT-RAM on our workloads\n\n\
         [WARRF] Figures 6, 7 and 8 on machine `warrf-gtx480`: a main register file of SRAM or of\n\
         STT-RAM (`sttram`), with split bank writes (`sttram-sbw`), with a write pool of 60 entries\n\
         (`sttram-wpool`), with both (`warrf`). The twelve workloads are at size `small`, in the order of the PTX; means count\n\
         each once, relative to its own SRAM baseline; in [brackets] the least and the most of the means\n\
         over all workloads but one. The paper's figures are known from its text only, on other\n\
         workloads: they are shown beside ours and never fitted. The pool does a read and a write in a\n\
         cycle (1R1W); what it does with one access (1RW), as the text may be read, and with more is\n\
         shown as well (DEV-053). Registers lie in the banks skewed by a bank for each warp (DEV-052),\n\
         and one instruction issues in a cycle (DEV-070); a section each has other layouts and two\n\
         instructions. This page is checked by `cargo test -p strata-tests --test shape`.\n\n",
    );
    page.push_str(&ipc());
    page.push_str(&causes());
    page.push_str(&variants::layouts());
    page.push_str(&variants::issue());
    page.push_str(&slots());
    page.push_str(&writes());
    page.push_str(&energies());
    page.push_str(&write_heavy());
    page.push_str(&variants::beside_machine_code());
    page.push_str(&endurance());
    page.push_str(&costs());
    page.push_str(&sweeps());
    page.push_str(&groups::section(&groups::table_in_time()));
    page.push_str(&by_order(
        &["sttram", "sttram-sbw", "sttram-wpool", "warrf"],
        "warrf-gtx480",
        "[WARRF] simulates with GPGPU-Sim, which executes PTX as it is or machine code; which of them\n\
         is not said.",
    ));
    page
}

/// The designs of the tables: those of Figure 6, then with other ports of the pool.
fn shown() -> Vec<String> {
    let names = FIGURE_6.iter().map(|&name| name.to_owned());
    names.chain(OTHER_PORTS.map(|ports| with_ports(WARRF, ports))).collect()
}

/// A design's name as code, what differs behind it.
fn titled(name: &str) -> String {
    name.split_once(',').map_or_else(
        || format!("`{name}`"),
        |(design, ports)| match ports.trim() {
            number @ ("2" | "4") => format!("`{design}`, {number} accesses"),
            name => format!("`{design}`, {}", name.to_uppercase()),
        },
    )
}

pub(super) fn head(first: &str, columns: &[String]) -> String {
    format!("| {first} | {} |\n| --- |{}\n", columns.join(" | "), " ---: |".repeat(columns.len()))
}

/// A line for each workload, then their mean, with the least and the most without any one of them.
fn by_workload(columns: &[&dyn Fn(&str) -> f64], decimals: usize) -> String {
    let mut text = String::new();
    for name in workload::names() {
        let cells: Vec<_> = columns.iter().map(|of| format!("{:.decimals$}", of(name))).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    let cells: Vec<_> = columns.iter().map(|of| format!("{:.decimals$}", mean(of))).collect();
    let _ = writeln!(text, "| mean | {} |", cells.join(" | "));
    let without = |of: &&dyn Fn(&str) -> f64| {
        let [least, most] = without_one(of);
        format!("[{least:.decimals$}, {most:.decimals$}]")
    };
    let cells: Vec<_> = columns.iter().map(without).collect();
    let _ = writeln!(text, "| without any one | {} |\n", cells.join(" | "));
    text
}

fn ipc() -> String {
    let names = shown();
    let mut text = String::from(
        "## Throughput (Figure 6)\n\n\
         IPC of SRAM in thread instructions in a cycle; of the others, in percent of it.\n\n",
    );
    let titles: Vec<_> = names.iter().map(|name| titled(name)).collect();
    text.push_str(&head("workload", &titles));
    let sram = |workload: &str| derived(workload, SRAM, "ipc");
    let others: Vec<_> = names[1..]
        .iter()
        .map(|name| move |workload: &str| relative_ipc(workload, name, SRAM))
        .collect();
    let mut columns: Vec<&dyn Fn(&str) -> f64> = vec![&sram];
    columns.extend(others.iter().map(|of| of as &dyn Fn(&str) -> f64));
    text.push_str(&by_workload(&columns, 1));
    text
}

/// Mean, that without any one workload, least and most with their workloads.
pub(super) fn spread(of: impl Fn(&str) -> f64 + Copy) -> String {
    let [(least, worst), (most, best)] = extremes(of);
    let [low, high] = without_one(of);
    format!(
        "{:+.1} % [{low:+.1}, {high:+.1}] | {worst:+.1} % (`{least}`) | {best:+.1} % (`{most}`)",
        mean(of)
    )
}

/// Ports as the tables name them.
fn ports_title(ports: PoolPorts) -> String {
    match ports {
        PoolPorts::OneReadOneWrite => "1R1W".to_owned(),
        PoolPorts::Any(1) => "1RW".to_owned(),
        PoolPorts::Any(accesses) => format!("{accesses} accesses"),
    }
}

fn causes() -> String {
    let mut text = String::from(
        "What each step does to IPC:\n\n\
         | step | ports of the pool | mean | least | most | paper |\n\
         | --- | ---: | ---: | ---: | ---: | --- |\n",
    );
    let mut row = |step: &str, ports: &str, of: &dyn Fn(&str) -> f64, paper: &str| {
        let _ = writeln!(text, "| {step} | {ports} | {} | {paper} |", spread(of));
    };
    row("STT-RAM instead of SRAM", "", &|name| gain(name, STTRAM, SRAM), "-14 %");
    row("split bank writes", "", &|name| gain(name, SBW, STTRAM), "+7 %, most +11 %");
    for (step, design, over, paper) in [
        ("a write pool instead", WPOOL, STTRAM, ""),
        ("a write pool beside split bank writes", WARRF, SBW, "+6 %, most +14 %"),
        ("both", WARRF, STTRAM, "+13 %, most +23 %"),
        ("all, against SRAM", WARRF, SRAM, "-2.5 %"),
    ] {
        for ports in PORTS {
            let design = with_ports(design, ports);
            let of = |name: &str| gain(name, &design, over);
            row(step, &ports_title(ports), &of, paper);
        }
    }
    let one = with_ports(WARRF, PoolPorts::Any(1));
    let [loss, split, pool, lost] =
        [(STTRAM, SRAM), (SBW, STTRAM), (WARRF, SBW), (one.as_str(), SBW)]
            .map(|(design, over)| mean(|name| gain(name, design, over)));
    let busy = |name: &str| busy(name, &one);
    let (most, made) = (extremes(busy)[1], mean(|name| self::busy(name, WARRF)));
    let _ = writeln!(
        text,
        "\nA write takes its bank for three cycles, and its result is there two cycles later. That costs\n\
         {:.1} %. With split bank writes reads go on in the other subarray, which wins back\n\
         {split:.1} %; results come as late as before. A write of the pool takes one cycle again,\n\
         but each write and each read that hits needs a port of the pool. It makes {:.2} accesses in a\n\
         cycle: with a read and a write it changes IPC by {pool:+.1} %. With one access in a cycle it is busy\n\
         in {:.0} % of the cycles (`{}` {:.0} %), is itself the narrowest place of the register\n\
         file, and changes it by {lost:+.1} %. The paper's text has a pool that is \"considered as a\n\
         separate bank\", and its figures a gain.\n",
        -loss,
        made / 100.0,
        mean(busy),
        most.0,
        most.1
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
    let one = with_ports(WARRF, PoolPorts::Any(1));
    let names = [SRAM, STTRAM, SBW, WARRF, &one];
    let titles = names.iter().map(|name| titled(name));
    let titles = std::iter::once("registers".to_owned()).chain(titles);
    text.push_str(&head("workload", &titles.collect::<Vec<_>>()));
    for workload in workload::names() {
        let registers: Vec<_> = registers(workload).iter().map(ToString::to_string).collect();
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

/// Accesses that a design's pool makes in 100 cycles.
fn busy(workload: &str, design: &str) -> f64 {
    let of = |name| counter(workload, design, name);
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
        let _ = writeln!(text, "| {} | {} |", titled(&name), cells.join(" | "));
    }
    text.push('\n');
    text
}

fn writes() -> String {
    let other = with_ports(WARRF, PoolPorts::Any(1));
    let mut text = String::from(
        "## Writes of the main register file (Figure 7)\n\n\
         Writes avoided in percent of SRAM's; operand reads and writes that hit the pool; accesses of\n\
         the pool in 100 cycles of `warrf`.\n\n",
    );
    let columns = ["`warrf`", "`warrf`, 1RW", "read hits", "write hits", "accesses"];
    text.push_str(&head("workload", &columns.map(str::to_owned)));
    let avoided = |design: &str, name: &str| derived(name, design, "mrf_writes_avoided_percent");
    let (own, one) = (|name: &str| avoided(WARRF, name), |name: &str| avoided(&other, name));
    let reads = |name: &str| {
        let of = |counted| counter(name, WARRF, counted);
        let operands = of("write_pool_reads") + of("mrf_reads") - of("write_pool_partial_hits");
        ratio(of("write_pool_reads"), operands)
    };
    let hits = |name: &str| {
        let of = |counted| counter(name, WARRF, counted);
        ratio(of("write_pool_write_hits"), of("write_pool_writes"))
    };
    let accesses = |name: &str| busy(name, WARRF);
    text.push_str(&by_workload(&[&own, &one, &reads, &hits, &accesses], 1));
    let [(least, worst), (most, best)] = extremes(own);
    let _ = writeln!(
        text,
        "`warrf` avoids {:.1} % of the writes on the mean, least {worst:.1} % (`{least}`), most\n\
         {best:.1} % (`{most}`); the paper 31 %, most 83 %. More are avoided than hit,\n\
         because entries of warps that have ended are dropped: kernels that end soon profit.\n",
        mean(own)
    );
    text
}

/// What reads that hit the pool cost: one of it, or one of a bank.
#[derive(Clone, Copy, PartialEq)]
enum ReadHits {
    Pool,
    Bank,
}

/// Dynamic energy and all of it. Unit: femtojoules.
fn spent(workload: &str, design: &str, hits: ReadHits) -> (f64, f64) {
    let energy = energy(workload, design);
    match hits {
        ReadHits::Pool => (energy.dynamic_fj as f64, energy.total_fj as f64),
        ReadHits::Bank => at_bank(workload, design),
    }
}

/// Leakage, dynamic energy and their sum in percent of another design's sum.
fn parts(workload: &str, (design, hits): (&str, ReadHits), of: &str) -> [f64; 3] {
    let (dynamic, total) = spent(workload, design, hits);
    let of = energy(workload, of).total_fj as f64;
    [total - dynamic, dynamic, total].map(|fj| 100.0 * fj / of)
}

fn energies() -> String {
    let mut text = String::from(
        "## Energy (Figure 8)\n\n\
         Leakage + dynamic energy = total, in percent of the total of SRAM. *In milliwatts* is the\n\
         reading of the leakage that Figure 8 needs, *as printed* that of Table II (DEV-050). Reads that\n\
         hit the pool cost one of the pool, or with *bank* one of a bank, as the paper's means imply\n\
         (`pool_read_energy`, DEV-053).\n\n",
    );
    for (title, reading) in [("in milliwatts", ""), ("as printed", "-as-printed")] {
        let [sram, sttram, warrf] = [SRAM, STTRAM, WARRF].map(|name| format!("{name}{reading}"));
        let columns = ["SRAM", "STT-RAM", "WarRF", "WarRF, bank"].map(str::to_owned);
        text.push_str(&head(title, &columns));
        let designs = [
            (sram.as_str(), ReadHits::Pool),
            (&sttram, ReadHits::Pool),
            (&warrf, ReadHits::Pool),
            (&warrf, ReadHits::Bank),
        ];
        let mut row = |name: &str, of: &dyn Fn((&str, ReadHits), usize) -> f64| {
            let cells = designs.iter().map(|&design| {
                let [leakage, dynamic, total] = [0, 1, 2].map(|part| of(design, part));
                format!("{leakage:.1} + {dynamic:.1} = {total:.1}")
            });
            let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        };
        for name in workload::names() {
            row(name, &|design, part| parts(name, design, &sram)[part]);
        }
        row("mean", &|design, part| mean(|name| parts(name, design, &sram)[part]));
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
        let cells = [false, true].map(|as_printed| {
            let of = |name: &str| of(as_printed, name);
            let [least, most] = without_one(of);
            format!("{:+.1} % [{least:+.1}, {most:+.1}]", mean(of))
        });
        let _ = writeln!(text, "| {what} | {} | {} | {paper} |", cells[0], cells[1]);
    };
    let name = |as_printed: bool, name: &str| {
        if as_printed { printed(name) } else { name.to_owned() }
    };
    // Dynamic energy, total, total times delay.
    let of = |as_printed, design: &str, hits, workload: &str| {
        let (own, sram) = (name(as_printed, design), name(as_printed, SRAM));
        let (dynamic, total) = spent(workload, &own, hits);
        let (of_dynamic, of_total) = spent(workload, &sram, ReadHits::Pool);
        let time = relative_ipc(workload, SRAM, design) / 100.0;
        [dynamic / of_dynamic, total / of_total, total / of_total * time]
            .map(|ratio| 100.0 * ratio - 100.0)
    };
    let sttram = |p, workload: &str| of(p, STTRAM, ReadHits::Pool, workload);
    row("STT-RAM, dynamic energy", &|p, workload| sttram(p, workload)[0], "+49 %");
    row("STT-RAM, total", &|p, workload| sttram(p, workload)[1], "-32 %, `LPS` +18 %");
    for (hits, suffix) in [(ReadHits::Pool, ""), (ReadHits::Bank, ", bank")] {
        let warrf = |p, workload: &str| of(p, WARRF, hits, workload);
        let further = |p, workload: &str| warrf(p, workload)[1] - sttram(p, workload)[1];
        row(&format!("WarRF{suffix}, dynamic energy"), &|p, name| warrf(p, name)[0], "");
        row(&format!("WarRF{suffix}, total"), &|p, name| warrf(p, name)[1], "-38 %");
        let what = format!("WarRF{suffix}, beyond STT-RAM, of SRAM's total");
        row(&what, &further, "-7.4, most -24");
        let what = format!("WarRF{suffix}, energy times delay");
        row(&what, &|p, name| warrf(p, name)[2], "-36 % (0.64)");
    }
    let reads = mean(|name| derived(name, WARRF, "mrf_reads_avoided_percent"));
    let _ = writeln!(
        text,
        "\nThe pool serves {reads:.0} % of the operand reads, at 0.08 instead of 0.42 pJ for a bit. The\n\
         paper's means leave room for no more than 11 % of them at that price (`strata exact`), so that\n\
         *bank* is what to set beside its -38 %. What the pool leaks is not in print and not charged.\n"
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
    let less =
        |hits| 100.0 - 100.0 * spent(heavy, WARRF, hits).1 / spent(heavy, STTRAM, ReadHits::Pool).1;
    format!(
        "A write-heavy case. The paper's is `LPS`, whose energy rises by 18 %. Ours with the most\n\
         writes in a cycle is `{heavy}`, {:.2} warp-wide registers: STT-RAM's energy is {:+.1} % there in\n\
         milliwatts and {:+.1} % as printed; `warrf` has {:.1} % less than STT-RAM in milliwatts,\n\
         {:.1} % with reads at a bank's price. STT-RAM's total is above SRAM's {} in milliwatts,\n\
         and {} as printed, by {least:.1} to {best:.1} % (`{most}`). In milliwatts\n\
         a rise of 18 % with 49 % more dynamic energy needs leakage of a fifth of SRAM's energy: six\n\
         accesses of the register file in every cycle, where our SM, which issues one instruction in a\n\
         cycle, makes two.\n\n",
        rate / 100.0,
        total(heavy, &own),
        total(heavy, &printed),
        less(ReadHits::Pool),
        less(ReadHits::Bank),
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
    let names = [STTRAM, WARRF];
    let titles = ["STT-RAM", "WarRF"];
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
         register file's size. More ports of the pool have no area or energy in print and are not\n\
         charged.\n\n",
    );
    text
}

fn series(study: usize, sweep: &str, split: bool, ports: PoolPorts) -> &'static Series {
    let name = ports.to_string();
    let of = |point: &Point| point.split_bank_write == split && point.write_pool_ports == name;
    let wanted = |series: &&Series| series.sweep == sweep && series.points.iter().all(of);
    SWEEPS[study].series.iter().find(wanted).expect("the series was swept")
}

/// Dynamic energy, total or energy times delay of a point, relative to SRAM's, where reads that hit
/// cost one of a bank; mean over the inputs. Unit: percent.
fn with_bank(point: &Point, part: usize) -> f64 {
    mean(|name| {
        let input = point.inputs.iter().find(|input| input.input == name).expect("it was run");
        let (sram, figures) = (energy(name, SRAM), &input.figures);
        let more = dearer(input.counters["write_pool_reads"]);
        let of = |relative: Option<f64>, whole: u64| {
            relative.expect("it is known") + 100.0 * more / whole as f64
        };
        let total = of(figures.total_energy_relative_percent, sram.total_fj);
        match part {
            0 => of(figures.dynamic_energy_relative_percent, sram.dynamic_fj),
            1 => total,
            _ => 100.0 * total / figures.ipc_relative_percent.expect("cycles passed"),
        }
    })
}

/// A number, or a dash.
fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |it| format!("{it:.1}"))
}

/// The sweep over entries with these ports.
fn entries(ports: PoolPorts) -> String {
    let columns = [
        "IPC",
        "avoided",
        "read hits",
        "write hits",
        "dynamic",
        "total",
        "EDP",
        "dynamic, bank",
        "total, bank",
        "EDP, bank",
        "wear",
    ];
    let title = format!("entries, {}", ports_title(ports));
    let mut text = head(&title, &columns.map(str::to_owned));
    for point in &series(0, "write_pool_entries", true, ports).points {
        let own = &point.mean;
        let [dynamic, total, product] = [0, 1, 2].map(|part| Some(with_bank(point, part)));
        let cells = [
            own.ipc_relative_percent,
            own.mrf_writes_avoided_percent,
            own.pool_read_hits_percent,
            own.pool_write_hits_percent,
            own.dynamic_energy_relative_percent,
            own.total_energy_relative_percent,
            own.energy_delay_relative_percent,
            dynamic,
            total,
            product,
        ];
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            point.write_pool_entries,
            cells.map(value).join(" | "),
            own.cell_writes_max.expect("it is counted")
        );
    }
    text.push('\n');
    text
}

fn sweeps() -> String {
    let mut text = String::from(
        "## Entries of the pool (N)\n\n\
         With split bank writes, a read and a write (1R1W) and one access (1RW) in a cycle: relative\n\
         IPC, writes avoided, reads and writes that hit, dynamic and total energy in milliwatts and\n\
         energy times delay against SRAM, also with reads that hit at a bank's price, all in percent,\n\
         and the most writes of a cell. The paper has 60 entries.\n\n",
    );
    for ports in [PoolPorts::OneReadOneWrite, PoolPorts::Any(1)] {
        text.push_str(&entries(ports));
    }
    text.push_str(
        "More entries avoid more and wear less without end in sight; with one access in a cycle each\n\
         hit more costs throughput.\n\n\
         ## Cycles of a write (n)\n\n\
         Without a pool, at the same energy of a write: relative IPC in percent, and what split bank\n\
         writes win. The paper has 3.\n\n\
         | cycles | `sttram` | `sttram-sbw` | gain | total energy, `sttram-sbw` |\n\
         | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let [whole, split] = [false, true]
        .map(|split| &series(1, "write_cycles", split, PoolPorts::OneReadOneWrite).points);
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
