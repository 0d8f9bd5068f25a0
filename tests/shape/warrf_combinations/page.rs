//! The page `docs/results/warrf-combinations.md`.

use std::fmt::Write as _;

use strata_core::write_pool::PoolPorts;
use strata_design::cost::cost;
use strata_workload as workload;

use super::{
    AS_PRINTED, AT_BANK, LARGE, LEVELS, Leakage, MEMORIES, Measure, OWN, POOLS, PORTS, PRICES,
    Price, REPORTS, ReadHits, SRAM, average, cycles, energy_delay, ipc, least_share, name, names,
    ranked, relative, resolved, speed, storage, total, with_ports, writes,
};
use crate::orders::by_order;
use crate::reports::{mean, without_one};

pub(super) fn page() -> String {
    let mut page = String::from(
        "# STT-RAM below a register file cache or an operand register file\n\n\
         Which main register file goes best with which level above it: the SRAM register file of\n\
         machine `warrf-gtx480` and its STT-RAM designs, each below a register file cache (`-rfcN`), an\n\
         operand register file (`-orfN`), one with a split last result file, or nothing. No paper has\n\
         these combinations: [WARRF] has no upper levels, and those of [RFC2011] and [DISS] lie above\n\
         SRAM. In cycle mode, workload size `small`, in the order of the PTX, 8 active warps, means over the twelve workloads; all\n\
         relative numbers are in percent of the SRAM register file without upper levels. *EDP* is energy\n\
         times delay; *mW* reads [WARRF]'s leakage as milliwatts for each bank, *as printed* as the\n\
         microwatts that stand there (DEVIATIONS.md, DEV-050). Energy of upper levels is inferred\n\
         (MODEL.md, rule 34), and only the main register file leaks. This page is checked by `cargo test -p\n\
         strata-tests --test shape`.\n",
    );
    page.push_str(&meaning());
    page.push_str(&means());
    for price in PRICES {
        page.push_str(&best(price));
    }
    page.push_str(&hardware());
    page.push_str(&ports());
    let designs = [
        "warrf-gtx480-rfc6",
        "warrf-gtx480-orf3",
        "sttram",
        "sttram-rfc3",
        "sttram-orf3",
        "warrf-orf3",
    ];
    page.push_str(&by_order(&designs, "warrf-gtx480", "No paper has these combinations."));
    page
}

fn meaning() -> String {
    let mut text = String::from("\n## What it means\n");
    for paragraph in [time(), pool(), storages(), leakages()] {
        text.push('\n');
        text.push_str(&paragraph);
    }
    text
}

fn time() -> String {
    let gains = LARGE.map(|level| speed(&name("sttram-sbw", level), &name("sttram", level)));
    let (worst, least) = least_share();
    format!(
        "**A small level makes STT-RAM's write latency vanish.** STT-RAM alone has {:.1} % of SRAM's\n\
         IPC. Below a cache of 3 entries for each active warp it has {:.1} %, below one of 6 {:.1} %,\n\
         below an ORF of 3 {:.1} % (SRAM below the same levels: {:.1}, {:.1} and {:.1} %). The caches\n\
         leave {:.0} and {:.0} % of the writes, the ORF {:.0} %, few enough for banks that are busy for\n\
         three cycles. Below 3 entries or more no workload has less than {least:.0} % (`{worst}`) of the IPC\n\
         that SRAM has there.\n\n\
         **Split bank writes are then superfluous.** Alone they win {:.1} % of IPC; below 3 entries or\n\
         more {:+.1} to {:+.1} %, and less than a point of EDP.\n",
        speed("sttram", SRAM),
        speed("sttram-rfc3", SRAM),
        speed("sttram-rfc6", SRAM),
        speed("sttram-orf3", SRAM),
        speed("warrf-gtx480-rfc3", SRAM),
        speed("warrf-gtx480-rfc6", SRAM),
        speed("warrf-gtx480-orf3", SRAM),
        writes("sttram-rfc3"),
        writes("sttram-rfc6"),
        writes("sttram-orf3"),
        speed("sttram-sbw", "sttram") - 100.0,
        gains.into_iter().fold(f64::INFINITY, f64::min) - 100.0,
        gains.into_iter().fold(0.0, f64::max) - 100.0,
    )
}

/// Mean of a counter, in percent of the writes that go to the pool.
fn of_pool_writes(design: &str, counter: &str) -> f64 {
    REPORTS.share(design, &[counter], design, "write_pool_writes")
}

fn pool() -> String {
    let (without, with) = ("sttram-orf3-lrf-split", "sttram-wpool-orf3-lrf-split");
    let at_bank = |design| average(Measure::Total(AT_BANK), design);
    format!(
        "**The write pool is superfluous for speed, not for energy.** It does a read and a write in a\n\
         cycle, and without a level above it that costs {:.0} % of STT-RAM's IPC, because most reads hit\n\
         it. A level takes most accesses from it, and the cap with them: with the pool, IPC is {:.1} %\n\
         below 6 entries of cache and {:.1} % below an ORF of 3 with a split LRF. It still saves energy\n\
         there: with that ORF total energy falls from {:.1} to {:.1} % and writes from {:.0} to {:.0} %, below\n\
         6 entries of cache energy falls from {:.1} to {:.1} %. What leaves a level is often written again\n\
         soon after: below the ORF {:.0} % of the writes to the pool overwrite an entry (alone {:.0} %), and\n\
         {:.0} % are dropped when their warp ends. The pool also serves reads for a fifth of a bank's\n\
         energy; if they cost those of a bank, energy falls to {:.1} and {:.1} %.\n",
        100.0 - speed("sttram-wpool", "sttram"),
        speed("sttram-wpool-rfc6", SRAM),
        speed(with, SRAM),
        total(without),
        total(with),
        writes(without),
        writes(with),
        total("sttram-rfc6"),
        total("sttram-wpool-rfc6"),
        of_pool_writes(with, "write_pool_write_hits"),
        of_pool_writes("sttram-wpool", "write_pool_write_hits"),
        of_pool_writes(with, "write_pool_drops"),
        at_bank(with),
        at_bank("sttram-wpool-rfc6"),
    )
}

fn storages() -> String {
    let bytes = |design: &str| storage(design).0;
    let near = |design: &str| (100.0 - speed(design, SRAM)).abs();
    let ports = |ports| with_ports("sttram-wpool", ports);
    format!(
        "**An ORF of 3 with a split LRF has a better EDP than the pool.** The pool's 60 entries ({} bytes)\n\
         come to {:.1} %, or to {:.1} % if reads that hit it cost those of a bank; that ORF and LRF ({}\n\
         bytes) to {:.1} %. In between are an ORF of one entry ({} bytes, no tags) with {:.1} % and a cache\n\
         of one with {:.1} %, both within {:.1} % of SRAM's IPC. With one access in a cycle the pool comes to\n\
         {:.1} %, at {:.1} % of the IPC, with two to {:.1} %, at {:.1} %; below a cache of 6 it comes to {:.1} %\n\
         ({} bytes).\n",
        bytes("sttram-wpool"),
        energy_delay("sttram-wpool"),
        average(Measure::EnergyDelay(AT_BANK), "sttram-wpool"),
        bytes("sttram-orf3-lrf-split"),
        energy_delay("sttram-orf3-lrf-split"),
        bytes("sttram-orf1"),
        energy_delay("sttram-orf1"),
        energy_delay("sttram-rfc1"),
        near("sttram-orf1").max(near("sttram-rfc1")),
        energy_delay(&ports(PoolPorts::Any(1))),
        speed(&ports(PoolPorts::Any(1)), SRAM),
        energy_delay(&ports(PoolPorts::Any(2))),
        speed(&ports(PoolPorts::Any(2)), SRAM),
        energy_delay("sttram-wpool-rfc6"),
        bytes("sttram-wpool-rfc6"),
    )
}

fn leakages() -> String {
    let (sttram, both) = ("sttram-orf3-lrf-split", "warrf-orf3-lrf-split");
    let product = |price, design| average(Measure::EnergyDelay(price), design);
    format!(
        "**Best of all** is WarRF, or the pool without split bank writes, below an ORF of 3 with a split\n\
         LRF: {:.1} % of the energy and {:.1} % of the EDP, at {:.1} % of the IPC. In ten workloads one of\n\
         them is best; in `needle` the pool is best below a single entry, and in `hotspot` the pool is\n\
         one level too many. If reads that hit the pool cost those of a bank, WarRF has\n\
         {:.1} % of the EDP there, and levels of 3 entries or more are best in every workload.\n\n\
         **If the leakage is read as printed** STT-RAM saves none worth the name, and the best on the mean\n\
         is SRAM below an ORF of 3 with a split LRF: {:.1} % of the EDP, for {:.1} % with WarRF and {:.1} %\n\
         with STT-RAM without SBW and pool. STT-RAM with the pool is best in `matrixmul`, `needle`,\n\
         `dct8x8`, `mandelbrot` and `nbody`, with reads at a bank's price in `needle` alone; without a pool\n\
         it is best nowhere.\n",
        total(both),
        energy_delay(both),
        speed(both, SRAM),
        product(AT_BANK, both),
        product(AS_PRINTED, "warrf-gtx480-orf3-lrf-split"),
        product(AS_PRINTED, both),
        product(AS_PRINTED, sttram),
    )
}

/// Mean, and the least and the most of the means over all workloads but one.
fn shown(of: impl Fn(&str) -> f64 + Copy) -> String {
    let [least, most] = without_one(of);
    format!("{:.1} [{least:.1}, {most:.1}]", mean(of))
}

fn means() -> String {
    let mut text = String::from(
        "\n## Means\n\n\
         In [brackets] the least and the most of the means over all workloads but one; *bank*: reads that\n\
         hit the pool at the price of one of a bank.\n\n\
         | design | IPC | relative | MRF writes | dynamic energy | total, mW | EDP, mW | \
         total, as printed | EDP, as printed | dynamic, bank | total, mW, bank | EDP, mW, bank |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for level in LEVELS {
        for (memory, _) in MEMORIES {
            let name = name(memory, level);
            let _ = write!(
                text,
                "| `{name}` | {:.1} | {} | {:.1} |",
                ipc(&name),
                shown(|workload| 100.0 * cycles(workload, SRAM) / cycles(workload, &name)),
                writes(&name),
            );
            let of = |measure| {
                let of = |workload: &str| relative(measure, workload, &name);
                if matches!(measure, Measure::Dynamic(_)) || measure.is_as_printed() {
                    format!(" {:.1} |", mean(of))
                } else {
                    format!(" {} |", shown(of))
                }
            };
            text.push_str(&of(Measure::Dynamic(ReadHits::Pool)));
            for price in [OWN, AS_PRINTED] {
                text.push_str(&of(Measure::Total(price)));
                text.push_str(&of(Measure::EnergyDelay(price)));
            }
            if memory.contains("wpool") || memory == "warrf" {
                text.push_str(&of(Measure::Dynamic(ReadHits::Bank)));
                text.push_str(&of(Measure::Total(AT_BANK)));
                text.push_str(&of(Measure::EnergyDelay(AT_BANK)));
            } else {
                text.push_str(" | | |");
            }
            text.push('\n');
        }
    }
    text.push_str(
        "\nA compiler knows what a write of the main register file costs, so that below an ORF STT-RAM is\n\
         written less often than SRAM.\n",
    );
    text
}

fn best(price: Price) -> String {
    let leakage = match price.leakage {
        Leakage::Milliwatts => "leakage in milliwatts",
        Leakage::AsPrinted => "leakage as printed",
    };
    let hits = match price.hits {
        ReadHits::Pool => "",
        ReadHits::Bank => ", reads that hit the pool at a bank's price",
    };
    let mut text = format!(
        "\n## Best by workload, {leakage}{hits}\n\n\
         In percent of SRAM's; the margin is what the second takes more.\n\n\
         | workload | least energy | | second | margin | least EDP | | second | margin |\n\
         | --- | --- | ---: | --- | ---: | --- | ---: | --- | ---: |\n"
    );
    for workload in workload::names() {
        let _ = write!(text, "| {workload} |");
        for measure in [Measure::Total(price), Measure::EnergyDelay(price)] {
            let ranked = ranked(measure, workload);
            let [(first, value), (second, next), ..] = &ranked[..] else { unreachable!() };
            let margin = 100.0 * next / value - 100.0;
            let _ = write!(text, " `{first}` | {value:.1} | `{second}` | {margin:.1} % |");
        }
        text.push('\n');
    }
    text
}

fn hardware() -> String {
    let mut text = String::from(
        "\n## Hardware\n\n\
         What `strata cost` counts of an SM beyond the main register file and the operand collectors:\n\
         data of upper levels and pool, bits of tags, masks, order and buffers; and what each instruction\n\
         has more (an ORF's names are not in it, DEV-049). Sorted by data; in **bold** what has less EDP\n\
         (mW) than everything smaller; *bank*: with reads that hit the pool at a bank's price.\n\n\
         | design | data, bytes | bits | instruction bits | IPC | EDP | EDP, bank |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut all: Vec<_> = names()
        .filter(|name| !name.starts_with(SRAM))
        .map(|name| (storage(&name), energy_delay(&name), name))
        .collect();
    all.sort_by(|(storage, delay, _), (other, later, _)| {
        storage.cmp(other).then(delay.total_cmp(later))
    });
    let mut least = [f64::INFINITY; 2];
    for ((bytes, bits), _, name) in all {
        let encoding = cost(&resolved(&name)).encoding_bits;
        let speed = speed(&name, SRAM);
        let mut cells = [OWN, AT_BANK]
            .into_iter()
            .zip(&mut least)
            .map(|(price, least)| {
                let delay = average(Measure::EnergyDelay(price), &name);
                let text =
                    if delay < *least { format!("**{delay:.1}**") } else { format!("{delay:.1}") };
                *least = least.min(delay);
                text
            })
            .collect::<Vec<_>>();
        let at_bank = cells.pop().unwrap_or_default();
        let own = cells.pop().unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{name}` | {bytes} | {bits} | {encoding} | {speed:.1} | {own} | {at_bank} |"
        );
    }
    text
}

fn ports() -> String {
    let mut text = String::from(
        "\n## Ports of the pool\n\n\
         The pool does a read and a write in a cycle (1R1W), or one access (1RW), or more of any kind\n\
         (DEV-053); *bank*: with reads that hit it at a bank's price.\n\n\
         | design | ports | IPC relative to SRAM | to STT-RAM | EDP, mW | EDP, mW, bank | \
         accesses made in a cycle |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for design in POOLS {
        for ports in [PoolPorts::OneReadOneWrite].into_iter().chain(PORTS) {
            let name = with_ports(design, ports);
            let busy = mean(|workload| {
                let made = ["write_pool_reads", "write_pool_writes"];
                REPORTS.sum(workload, &name, &made) / cycles(workload, &name)
            });
            let title = match ports {
                PoolPorts::Any(accesses @ 2..) => format!("{accesses} accesses"),
                ports => ports.to_string().to_uppercase(),
            };
            let _ = writeln!(
                text,
                "| `{design}` | {title} | {} | {} | {:.1} | {:.1} | {busy:.2} |",
                shown(|workload| 100.0 * cycles(workload, SRAM) / cycles(workload, &name)),
                shown(|workload| 100.0 * cycles(workload, "sttram") / cycles(workload, &name)),
                energy_delay(&name),
                average(Measure::EnergyDelay(AT_BANK), &name),
            );
        }
    }
    text
}
