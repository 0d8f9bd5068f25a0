//! What our workloads are like, by group, beside what the papers say of theirs.
//!
//! The tables are written to `docs/results/suite.md`; the test compares them with what is committed
//! there, so that no number moves unseen, and asserts what must hold. Set `STRATA_BLESS=1` to write
//! the file again after a change that is meant to move numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_compiler::program::{Program, ProgramInstruction};
use strata_core::image::{Flags, MemorySpace, StaticInstruction, Unit};
use strata_measure::Request;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::subject;
use strata_ptx::opcode::{Half, Opcode};
use strata_ptx::types::ScalarType;
use strata_study::exact::paper_registers;
use strata_study::study::registers;
use strata_workload::{Group, Options, Overrides, Prepared};

use crate::groups::{self, HEADLINES, REPORTS, means, names, ratio};
use crate::orders::{OF_TRACES, by_order};
use crate::reports::hold_page;

/// Whose report has a workload's own figures: they are the same under every design.
const FLAT: &str = "isca11";
/// The design whose deschedules are counted.
const TWO_LEVEL: &str = "isca11-rfc6";

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Wide,
    Single,
    Double,
    Special,
    Predicate,
    Control,
    Move,
    Shared,
    Global,
    Texture,
}

/// Every class with its heading.
const CLASSES: [(Class, &str); 11] = [
    (Class::Integer, "integer"),
    (Class::Wide, "64-bit integer"),
    (Class::Single, "single"),
    (Class::Double, "double"),
    (Class::Special, "special"),
    (Class::Predicate, "predicate"),
    (Class::Control, "control"),
    (Class::Move, "move, parameter"),
    (Class::Shared, "shared memory"),
    (Class::Global, "global, local"),
    (Class::Texture, "texture"),
];

impl Class {
    fn of(instruction: &ProgramInstruction, record: &StaticInstruction) -> Self {
        let instruction = &instruction.instruction;
        let is = |ty: ScalarType| instruction.types.contains(&ty);
        match record.unit {
            Unit::Control => Self::Control,
            Unit::DoublePrecision if instruction.opcode == Opcode::Setp => Self::Predicate,
            Unit::DoublePrecision => Self::Double,
            Unit::Sfu => Self::Special,
            Unit::Texture => Self::Texture,
            Unit::Memory => match record.space {
                Some(MemorySpace::Constant) => Self::Move,
                Some(MemorySpace::Shared) => Self::Shared,
                Some(MemorySpace::Global | MemorySpace::Local) | None => Self::Global,
            },
            Unit::Alu => match instruction.opcode {
                Opcode::Mov | Opcode::Cvta => Self::Move,
                Opcode::Setp | Opcode::Set => Self::Predicate,
                _ if is(ScalarType::Pred) => Self::Predicate,
                _ if is(ScalarType::F32) => Self::Single,
                _ if instruction.modifiers.half == Some(Half::Wide)
                    || instruction.types.iter().any(|ty| ty.bits() == 64) =>
                {
                    Self::Wide
                }
                _ => Self::Integer,
            },
        }
    }
}

/// What a workload's warps execute.
#[derive(Clone, Debug, Default)]
struct Mix {
    /// Warp instructions, in the order of [`CLASSES`].
    classes: [u64; CLASSES.len()],
    /// Instructions whose results come after a long latency.
    long: u64,
}

impl Mix {
    fn all(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// Unit: percent.
    fn share(&self, wanted: Class) -> f64 {
        let place = CLASSES.iter().position(|&(class, _)| class == wanted).expect("a class");
        100.0 * self.classes[place] as f64 / self.all() as f64
    }

    fn add(&mut self, program: &Program, pc: u32, times: u64) {
        let (instruction, record) =
            (&program.instructions[pc as usize], &program.image.instructions[pc as usize]);
        let class = Class::of(instruction, record);
        let place = CLASSES.iter().position(|&(other, _)| other == class).expect("a class");
        self.classes[place] += times;
        self.long += times * u64::from(record.flags.contains(Flags::LONG_LATENCY));
    }
}

/// Of every workload at its small size.
static MIXES: LazyLock<BTreeMap<&str, Mix>> = LazyLock::new(|| {
    let args = Source::of(Scale::Small);
    let mix = |name| {
        let workload = subject::workload(name, &args, &Silent).expect("the workload loads");
        let prepared = Prepared::new(&workload, Scale::Small.name(), &Overrides::new());
        let mut mix = Mix::default();
        let run = prepared.expect("it has a small size").execute(&Options::default(), |launch| {
            for (path, warps) in launch.outcome.paths.iter() {
                for step in path {
                    for pc in step.pc..step.pc + step.length {
                        mix.add(launch.program, pc, warps);
                    }
                }
            }
        });
        run.expect("the workload runs");
        (name, mix)
    };
    names().map(mix).collect()
});

/// Registers per thread of each workload's hungriest kernel.
static REGISTERS: LazyLock<BTreeMap<String, u16>> = LazyLock::new(|| {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid");
    let load = |name| subject::workload(name, &args, &Silent).expect("the workload loads");
    let workloads: Vec<_> = names().map(load).collect();
    let rows = registers::rows(&workloads, &[], &request, 0, &Silent);
    let rows = rows.expect("every workload compiles");
    rows.into_iter().map(|row| (row.workload, row.needed)).collect()
});

fn own(workload: &str, key: &str) -> f64 {
    ratio(workload, FLAT, key)
}

/// Operands read for the shared datapath in percent of all operands read.
fn shared_reads(workload: &str) -> f64 {
    let sum = |counters: &[&str]| REPORTS.sum(workload, FLAT, counters);
    100.0 * sum(&["mrf_reads_shared"]) / sum(&["mrf_reads"])
}

/// Long-latency results for each time that a warp is descheduled to wait for one, if any is.
fn results_for_each_wait(workload: &str) -> Option<f64> {
    let waits = REPORTS.sum(workload, TWO_LEVEL, &["deschedules"]);
    (waits > 0.0).then(|| MIXES[workload].long as f64 / waits)
}

/// The share of a class of instructions. Unit: percent.
fn share(class: Class) -> impl Fn(&str) -> f64 {
    move |name| MIXES[name].share(class)
}

/// Mean over the suite, over the other group, and over all, of what every workload has.
fn means_of(of: impl Fn(&str) -> f64) -> [f64; 3] {
    means(|name| Some(of(name)))
}

#[test]
fn the_committed_page_of_the_suite_holds_these_numbers() {
    hold_page("suite.md", &page());
}

#[test]
fn every_instruction_is_of_one_class_and_every_value_of_one_count() {
    for name in names() {
        let counters = &REPORTS.get(name, FLAT).counters;
        assert_eq!(MIXES[name].all(), counters["warp_instructions"], "{name}");
        let counts = READS.map(|(_, key)| own(name, key));
        let sum: f64 = counts.iter().sum();
        assert!((sum - 100.0).abs() < 1e-3, "{name}: {counts:?}");
    }
}

/// What the second group is there for.
#[test]
fn the_second_group_has_what_the_suite_lacks() {
    let most = |group: Group, of: &dyn Fn(&str) -> f64| {
        group.names().map(of).fold(f64::NEG_INFINITY, f64::max)
    };
    let double = share(Class::Double);
    assert!(most(Group::Suite, &double) < 1.0 && most(Group::Extra, &double) > 30.0);
    let [suite, extra, _] = means_of(share(Class::Special));
    assert!(suite < 1.0 && extra > 4.0, "{suite} and {extra} % special functions");
    let registers = |name: &str| f64::from(REGISTERS[name]);
    assert!(most(Group::Suite, &registers) < 40.0, "{REGISTERS:?}");
    let many: Vec<_> = Group::Extra.names().filter(|&name| registers(name) >= 40.0).collect();
    assert_eq!(many, ["cp", "dgemm", "sgemm"], "{REGISTERS:?}");
    // Slices of both matrices, and eight complex points, are loaded before the first is read.
    for (name, least) in [("sgemm", 4.0), ("dgemm", 2.0), ("fft512", 15.0)] {
        let results = results_for_each_wait(name).expect("it waits");
        assert!(results > least, "{name}: {results}");
    }
    let texture = names().map(share(Class::Texture)).fold(0.0, f64::max);
    assert!(texture < 1e-9, "textures do not run: the page says so");
}

/// How often values are read.
const READS: [(&str, &str); 4] = [
    ("never", "values_never_read_percent"),
    ("once", "values_read_once_percent"),
    ("twice", "values_read_twice_percent"),
    ("more", "values_read_over_2_times_percent"),
];
const AT_ONCE: &str = "values_read_once_after_1_instruction_percent";
const SOON: &str = "values_read_once_within_3_instructions_percent";
const BY_SHARED: &str = "values_read_by_shared_datapath_percent";
const FROM_PRIVATE: &str = "values_read_by_shared_made_by_private_percent";

/// A workload's figure, if it has it.
type Figure = Box<dyn Fn(&str) -> Option<f64>>;

/// A statistic of a workload with its heading, its decimals, and what the papers print.
struct Statistic {
    heading: &'static str,
    paper: &'static str,
    decimals: usize,
    of: Figure,
}

fn statistic(
    heading: &'static str,
    paper: &'static str,
    decimals: usize,
    of: impl Fn(&str) -> f64 + 'static,
) -> Statistic {
    Statistic { heading, paper, decimals, of: Box::new(move |name| Some(of(name))) }
}

fn derived(heading: &'static str, paper: &'static str, key: &'static str) -> Statistic {
    statistic(heading, paper, 1, move |name| own(name, key))
}

/// How values are used. Unit: percent of the values, unless the heading says otherwise.
fn values() -> Vec<Statistic> {
    vec![
        derived("never read", "", READS[0].1),
        derived("read once", "up to 70; 60-70", READS[1].1),
        derived("twice", "", READS[2].1),
        derived("more often", "10", READS[3].1),
        derived("over 3 times", "under 10", "values_read_over_3_times_percent"),
        derived("once, by the next", "40 (CUDA)", AT_ONCE),
        derived("once, within 3", "up to 40; 40-50", SOON),
        derived("by the shared datapath", "7", BY_SHARED),
        derived("of these made by the private one", "70", FROM_PRIVATE),
        statistic("operands of the shared datapath", "", 1, shared_reads),
        statistic("reads / instruction", "1.23", 2, |name| {
            own(name, "operand_reads_per_instruction")
        }),
        statistic("writes / instruction", "0.8", 2, |name| {
            own(name, "operand_writes_per_instruction")
        }),
    ]
}

/// What is executed. Unit: percent of the warp instructions.
fn mix() -> Vec<Statistic> {
    CLASSES.into_iter().map(|(class, heading)| statistic(heading, "", 1, share(class))).collect()
}

fn machine() -> Vec<Statistic> {
    vec![
        statistic("registers", "9-57", 0, |name| f64::from(REGISTERS[name])),
        statistic("lanes", "", 1, |name| own(name, "lanes_per_instruction")),
        Statistic {
            heading: "long-latency results / wait",
            paper: "",
            decimals: 2,
            of: Box::new(results_for_each_wait),
        },
    ]
}

/// A table with the statistics of each workload, the means of each group, and the papers' figures.
fn table(statistics: &[Statistic]) -> String {
    let mut text = String::from("| workload |");
    for statistic in statistics {
        let _ = write!(text, " {} |", statistic.heading);
    }
    let _ = writeln!(text, "\n| --- |{}", " ---: |".repeat(statistics.len()));
    for name in names() {
        let cells = statistics.iter().map(|one| {
            let value = (one.of)(name).map(|value| format!("{value:.*}", one.decimals));
            format!(" {} |", value.unwrap_or_else(|| "-".to_owned()))
        });
        let _ = writeln!(text, "| {name} |{}", cells.collect::<String>());
    }
    let all: Vec<_> = statistics.iter().map(|one| means(&one.of)).collect();
    for (place, mean) in ["mean of the suite", "mean of `extra`", "mean of all"].iter().enumerate()
    {
        let cells = statistics.iter().zip(&all).map(|(one, means)| {
            // A mean of whole numbers has a decimal.
            format!(" {:.*} |", one.decimals.max(1), means[place])
        });
        let _ = writeln!(text, "| {mean} |{}", cells.collect::<String>());
    }
    if statistics.iter().any(|one| !one.paper.is_empty()) {
        let cells = statistics.iter().map(|one| format!(" {} |", one.paper));
        let _ = writeln!(text, "| papers |{}", cells.collect::<String>());
    }
    text
}

fn page() -> String {
    let mut page = String::from(
        "# What our workloads are like\n\n\
         The twelve of the suite, over which every mean and every headline is, and the nine of group\n\
         `extra`, at their small size, as nvcc compiled them. The papers' figures are of their own\n\
         workloads, in machine code where they are NVIDIA's; they are shown beside ours and never\n\
         fitted. This page is checked by `cargo test -p strata-tests --test shape`.\n\n\
         ## Values\n\n\
         Percent of the values: how often they are read; read once, by the next instruction and\n\
         within three (lifetimes of 1 and up to 3); read by a unit of the shared datapath (special\n\
         functions, memory, textures). Operands of the shared datapath are in percent of all reads.\n\n",
    );
    page.push_str(&table(&values()));
    page.push_str(
        "\nPapers: [RFC2011] 2.2 and the dissertation's 5.1 and 6.2.2, whose counts for each\n\
         instruction are those of its Table 6.1. A 64-bit operand is two reads here.\n\n\
         ## Instructions\n\n\
         Percent of the warp instructions. *64-bit integer* is mostly arithmetic with addresses; \
         *move,\nparameter* has `mov`, `cvta` and loads of parameters, which machine code needs few \
         of;\n*predicate* has comparisons.\n\n",
    );
    page.push_str(&table(&mix()));
    page.push_str(
        "\n## Registers, lanes, loads\n\n\
         Registers per thread of the hungriest kernel; active lanes for each warp instruction;\n\
         long-latency results for each time that `isca11-rfc6` deschedules a warp to wait for one:\n\
         many where loads are hoisted or loops unrolled. `mandelbrot` waits for none.\n\n",
    );
    page.push_str(&table(&machine()));
    page.push_str(&registers_beside());
    page.push_str(
        "\n## The headlines' designs\n\n\
         Accesses of the main register file that are avoided, and energy, in percent of the flat\n\
         register file's. Headlines and claims are the means of the suite.\n\n",
    );
    page.push_str(&groups::table(&HEADLINES));
    page.push_str(
        "\nIn time, of [WARRF]'s designs, beside machine `warrf-gtx480`'s register file of SRAM:\n\n",
    );
    page.push_str(&groups::table_in_time());
    page.push_str(&by_workload());
    page.push_str(&missing());
    page.push_str(&by_order(&["isca11-rfc6"], "isca11", OF_TRACES));
    page
}

/// Registers of the workloads whose names [MICRO2012] Table 1 has.
fn registers_beside() -> String {
    let printed = paper_registers();
    let mut both = Vec::new();
    for name in names() {
        if let Some(paper) = printed.iter().find(|paper| paper.name == name) {
            both.push(format!("`{name}` {} ({})", REGISTERS[name], paper.needed));
        }
    }
    let lines: Vec<String> = both.chunks(4).map(|some| some.join(", ")).collect();
    format!(
        "\nBeside [MICRO2012] Table 1, in parentheses:\n{}.\nOurs are those of PTX (DEV-031).\n",
        lines.join(",\n")
    )
}

fn by_workload() -> String {
    let mut text = String::from(
        "\n### Energy by workload\n\n\
         Percent of the flat register file's. Paper, `diss-orf3-lrf-split`: `reduction` 75,\n\
         `scalarprod` 70, `dgemm` 44.\n\n",
    );
    let _ = writeln!(text, "| workload |{}", HEADLINES.map(|name| format!(" `{name}` |")).concat());
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(HEADLINES.len()));
    for name in names() {
        let energy = |design: &str| ratio(name, design, "energy_relative_percent");
        let cells = HEADLINES.map(|design| format!(" {:.1} |", energy(design)));
        let _ = writeln!(text, "| {name} |{}", cells.concat());
    }
    text
}

fn missing() -> String {
    let range = |group: Group| {
        let all = || group.names().map(|name| REGISTERS[name]);
        let (least, most) = (all().min(), all().max());
        format!("{} to {}", least.expect("workloads"), most.expect("workloads"))
    };
    let percent = |of: &dyn Fn(&str) -> f64| {
        let [suite, extra, _] = means_of(of);
        format!("{suite:.1} % of the suite's instructions, {extra:.1} % of `extra`'s")
    };
    let [suite, extra, _] = means(results_for_each_wait);
    format!(
        "\n## What is missing\n\n\
         - Textures do not run: `bilinear` filters by plain loads. The papers' graphics traces have\n  \
         no counterpart here.\n\
         - Double precision: {}, all in `dgemm`.\n\
         - Special functions: {}.\n\
         - Registers per thread: {} in the suite, {} in `extra`.\n\
         - Hoisted and unrolled loads: {suite:.1} long-latency results for each wait in the suite,\n  \
         {extra:.1} in `extra`; a scheduler that hoists them is not applied (DEV-020).\n\
         - Machine code: a final compiler drops most moves, parameter loads and address arithmetic.\n\
         - Constant memory: what the original programs keep there is in shared memory here.\n",
        percent(&share(Class::Double)),
        percent(&share(Class::Special)),
        range(Group::Suite),
        range(Group::Extra),
    )
}
