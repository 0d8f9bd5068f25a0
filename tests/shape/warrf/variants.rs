//! What other layouts of the banks and another width of issue do to the page's first figures.

use std::fmt::Write as _;

use strata_core::write_pool::PoolPorts;
use strata_measure::options::Mode;
use strata_report::ResidencyReport;
use strata_workload as workload;

use super::page::{head, spread};
use super::{
    FIGURE_6, REPORTS, SBW, SRAM, STTRAM, WARRF, WPOOL, counter, derived, dual, gain, linear,
    ratio, registers, resolve, with_ports,
};
use crate::machine_code;
use crate::reports::{Reports, mean, without_one};

/// Mean, and the least and the most without any one workload.
fn shown(of: impl Fn(&str) -> f64 + Copy) -> String {
    let [least, most] = without_one(of);
    format!("{:+.1} % [{least:+.1}, {most:+.1}]", mean(of))
}

/// Gains of steps, as on this page and in a variant of the machine; `names` are those of both.
fn rows(steps: &[(&str, (&str, &str))], names: [&str; 2], variant: fn(&str) -> String) -> String {
    let mut text =
        String::from("| step | | mean | least | most |\n| --- | --- | ---: | ---: | ---: |\n");
    for &(step, (design, over)) in steps {
        let own = |workload: &str| gain(workload, design, over);
        let _ = writeln!(text, "| {step} | {} | {} |", names[0], spread(own));
        let (design, over) = (variant(design), variant(over));
        let other = |workload: &str| gain(workload, &design, &over);
        let _ = writeln!(text, "| | {} | {} |", names[1], spread(other));
    }
    text
}

/// The residency in both layouts of two launches: the one that loses most warps, then the one that
/// leaves most registers empty.
fn resident(workload: &str) -> [ResidencyReport; 2] {
    let of = |design: &str| {
        let launches = REPORTS.get(workload, design).launches.iter();
        launches.map(|launch| launch.residency.expect("it ran in time")).collect::<Vec<_>>()
    };
    let both = of(SRAM).into_iter().zip(of(&linear(SRAM)));
    let most = both.max_by_key(|(own, other)| (other.warps - own.warps, own.empty_registers));
    most.map(|(own, other)| [own, other]).expect("there is a launch")
}

/// Where registers lie (DEV-052).
pub(super) fn layouts() -> String {
    let two = with_ports(WARRF, PoolPorts::Any(2));
    let mut text = String::from(
        "## Where registers lie\n\n\
         In bank (register + warp) mod 16, as here, and with `bank_layout = \"linear\"`: all registers of\n\
         all warps one after another (DEV-052).\n\n",
    );
    let steps = [
        ("STT-RAM instead of SRAM", (STTRAM, SRAM)),
        ("split bank writes", (SBW, STTRAM)),
        ("WarRF instead of STT-RAM", (WARRF, STTRAM)),
        ("the same with a pool of 2 accesses", (two.as_str(), STTRAM)),
        ("WarRF instead of SRAM", (WARRF, SRAM)),
    ];
    text.push_str(&rows(&steps, ["skewed", "linear"], linear));
    text.push_str(
        "\nA skewed warp begins a row of all banks, so that what its registers leave of its last row stays\n\
         empty. Of the launch that loses most warps by it: warps that fit, and warp-wide registers of 1024\n\
         that stay empty beside them; IPC of SRAM skewed, in percent of linear.\n\n",
    );
    let columns = ["registers", "warps, skewed", "warps, linear", "empty", "IPC of SRAM"];
    text.push_str(&head("workload", &columns.map(str::to_owned)));
    let relative = |workload: &str| gain(workload, SRAM, &linear(SRAM)) + 100.0;
    for workload in workload::names() {
        let registers: Vec<_> = registers(workload).iter().map(ToString::to_string).collect();
        let [own, other] = resident(workload);
        let _ = writeln!(
            text,
            "| {workload} | {} | {} | {} | {} | {:.1} |",
            registers.join(", "),
            own.warps,
            other.warps,
            own.empty_registers,
            relative(workload)
        );
    }
    let _ = writeln!(text, "\nIPC of SRAM changes by {}.\n", shown(|name| relative(name) - 100.0));
    text
}

/// Two instructions in a cycle (DEV-070).
pub(super) fn issue() -> String {
    let mut text = String::from(
        "## Instructions in a cycle\n\n\
         One, as assumed here, and two from different warps (`-dual-issue`), as from the two schedulers\n\
         of Fermi; the paper prints no width (DEV-070).\n\n",
    );
    let steps = [
        ("STT-RAM instead of SRAM", (STTRAM, SRAM)),
        ("split bank writes", (SBW, STTRAM)),
        ("a write pool beside split bank writes", (WARRF, SBW)),
        ("a write pool instead", (WPOOL, STTRAM)),
        ("both", (WARRF, STTRAM)),
        ("all, against SRAM", (WARRF, SRAM)),
    ];
    text.push_str(&rows(&steps, ["one", "two"], dual));
    let faster = |name: &str| gain(name, &dual(SRAM), SRAM);
    let accesses = |workload: &str| {
        let of = |name| counter(workload, &dual(WARRF), name);
        (of("write_pool_reads") + of("write_pool_writes")) as f64 / of("cycles") as f64
    };
    let _ = writeln!(
        text,
        "\nThe IPC of SRAM changes by {} with two, {:.1} instead of {:.1}. Accesses come\n\
         closer to each other, so that STT-RAM's writes cost more, split bank writes win more, and the\n\
         ports of the pool, which makes {:.2} accesses in a cycle, cost more. In the linear layout STT-RAM\n\
         changes IPC by {} with two; the paper has -14 %.\n",
        shown(faster),
        mean(|name| derived(name, &dual(SRAM), "ipc")),
        mean(|name| derived(name, SRAM, "ipc")),
        mean(accesses),
        shown(|name| gain(name, &linear(&dual(STTRAM)), &linear(&dual(SRAM)))),
    );
    text
}

/// Recordings of machine code under the designs of Figure 6.
pub(super) fn beside_machine_code() -> String {
    let machine = machine_code::recorded(Mode::Cycle, &FIGURE_6.map(resolve));
    let cells = |reports: &Reports, input: &str| {
        let cycles = |design: &str| reports.get(input, design).counters["cycles"];
        let derived = |design: &str, key: &str| {
            reports.get(input, design).derived[key].expect("the divisor is not zero")
        };
        let ipc = FIGURE_6[1..].iter().map(|design| {
            let relative = ratio(cycles(SRAM), cycles(design));
            format!("{relative:.1}")
        });
        let mut cells = vec![format!("{:.1}", derived(SRAM, "ipc"))];
        cells.extend(ipc);
        for (design, key) in [
            (WARRF, "mrf_writes_avoided_percent"),
            (STTRAM, "total_energy_relative_percent"),
            (WARRF, "total_energy_relative_percent"),
        ] {
            cells.push(format!("{:.1}", derived(design, key)));
        }
        cells.join(" | ")
    };
    let titles = FIGURE_6.iter().map(|design| format!("`{design}`"));
    let energy = ["writes avoided", "energy, `sttram`", "energy, `warrf`"].map(str::to_owned);
    let columns: Vec<_> = titles.chain(energy).collect();
    format!(
        "## Machine code beside PTX\n\n\
         Recordings of NVIDIA's machine code of `sm_80`, and our PTX of the same algorithms; [why they\n\
         differ](machine-code.md). IPC as in Figure 6; writes that `warrf` avoids and energy with leakage\n\
         in milliwatts, in percent of SRAM's. Not in the means above.\n\n{}{}\n",
        head("input", &columns),
        machine_code::lines(&REPORTS, &machine, cells)
    )
}
