//! NVIDIA's machine code beside our PTX of the same algorithms: the recordings of
//! `host-cli/recordings`, and why they count otherwise (DEV-080).
//!
//! The tables are written to `docs/results/machine-code.md`; the test compares them with what is
//! committed there, so that no number moves unseen, and asserts what the text says. Other pages take
//! their rows from [`recorded`]. Set `STRATA_BLESS=1` to write the file again after a change that is
//! meant to move numbers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use strata_core::image::{Flags, MemorySpace, Unit};
use strata_core::units::{LaneMask, RegisterId};
use strata_design::{self as design, Design};
use strata_files::output::Output;
use strata_files::partial_folder::PartialFolder;
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::{self as measure, Request};
use strata_report::RunReport;
use strata_trace::store::{self, Recording, Stored, record_trace};
use strata_trace::{EXPORT, Reach, export};

use crate::orders::{ORDERS, line};
use crate::recordings;
use crate::reports::{Reports, hold_page};

/// Workloads of which there is machine code.
pub(crate) const ALGORITHMS: [&str; 2] = ["bfs", "vectoradd"];

/// Where its recording is.
fn recording(algorithm: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-cli/recordings");
    folder.join(format!("{algorithm}-sm80.strata"))
}

fn replayed(file: &Path, mode: Mode, designs: &[Design]) -> Vec<RunReport> {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid").in_mode(mode);
    let file = file.to_str().expect("the path is UTF-8");
    measure::trace_reports(file, designs, &request, &Silent).expect("it is replayed")
}

/// The recordings of machine code under some designs, by the names of the algorithms.
pub(crate) fn recorded(mode: Mode, designs: &[Design]) -> Reports {
    let of = |algorithm: &str| {
        let reports = replayed(&recording(algorithm), mode, designs).into_iter();
        let name = algorithm.to_owned();
        reports.map(move |report| RunReport { workload: name.clone(), ..report })
    };
    Reports(ALGORITHMS.into_iter().flat_map(of).collect())
}

/// Two lines of a table for each algorithm: of the PTX and of the machine code.
pub(crate) fn lines(
    ptx: &Reports,
    machine: &Reports,
    cells: impl Fn(&Reports, &str) -> String,
) -> String {
    let mut text = String::new();
    for name in ALGORITHMS {
        let _ = writeln!(text, "| {name}, PTX | {} |", cells(ptx, name));
        let _ = writeln!(text, "| {name}, machine code | {} |", cells(machine, name));
    }
    text
}

/// What a recording's instructions do, whatever the design.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    /// Executions.
    instructions: u64,
    /// Of these, those without an enabled lane.
    idle: u64,
    /// Of loads, stores and atomics of global memory with an enabled lane.
    accesses: u64,
    /// Of these, those whose result comes late.
    long_latency: u64,
    /// Of arithmetic and of loads of parameters and constants whose result some lane uses as an
    /// address of global memory, itself or through more arithmetic.
    address_makers: u64,
    /// Registers that these read.
    address_reads: u64,
    /// Registers of a thread, of each kernel that has another number.
    registers: BTreeSet<u16>,
}

impl Facts {
    fn of(file: &Path) -> Self {
        let mut recording = Recording::open(file).expect("it opens");
        let mut facts = Self::default();
        while let Some(stored) = recording.next_launch().expect("it is whole") {
            facts.add(&stored);
        }
        facts
    }

    fn add(&mut self, stored: &Stored) {
        let image = stored.image.borrow();
        self.registers.insert(image.registers);
        for (path, warps) in stored.paths.iter() {
            // Backwards: lanes that will use what is in a register as an address.
            let mut used = vec![LaneMask::EMPTY; usize::from(image.registers)];
            let steps = path.iter().rev();
            let executed = steps.flat_map(|step| {
                (step.pc..step.pc + step.length).rev().map(|pc| (pc as usize, step.mask))
            });
            for (pc, mask) in executed {
                self.instructions += warps;
                self.idle += if mask.is_empty() { warps } else { 0 };
                let instruction = &image.instructions[pc];
                let sources = image.sources(instruction);
                let mut made = LaneMask::EMPTY;
                for &RegisterId(register) in image.destinations(instruction) {
                    let lanes = &mut used[usize::from(register)];
                    made = made.or(lanes.and(mask));
                    *lanes = lanes.without(mask);
                }
                let constant = instruction.space == Some(MemorySpace::Constant);
                if (instruction.unit == Unit::Alu || constant) && !made.is_empty() {
                    self.address_makers += warps;
                    self.address_reads += warps * sources.len() as u64;
                    for &RegisterId(register) in sources {
                        let lanes = &mut used[usize::from(register)];
                        *lanes = lanes.or(made);
                    }
                }
                let global = instruction.space == Some(MemorySpace::Global);
                if global && instruction.moves_bytes() && !mask.is_empty() {
                    self.accesses += warps;
                    let late = instruction.flags.contains(Flags::LONG_LATENCY);
                    self.long_latency += if late { warps } else { 0 };
                    // A 64-bit address comes before the data.
                    for &RegisterId(register) in sources.iter().take(2) {
                        let lanes = &mut used[usize::from(register)];
                        *lanes = lanes.or(mask);
                    }
                }
            }
        }
    }
}

/// One form of an algorithm.
struct Form {
    title: String,
    facts: Facts,
    reports: Vec<RunReport>,
}

/// The design whose numbers are explained; the same without liveness, and with liveness-aware bypass;
/// with the entries of all warps kept, as many and 13.
const DESIGNS: [&str; 5] = [
    "isca11-rfc6",
    "isca11-rfc6-nolive",
    "isca11-rfc6-bypass",
    "isca11-rfc6-single",
    "isca11-rfc13-single",
];

/// Threads of `vectoradd` that are as many as its elements, in CTAs of 256.
const AN_ELEMENT_A_THREAD: &str = "ctas=94";

/// Of each algorithm its PTX, the same with what a trace knows of liveness, and last machine code.
static FORMS: LazyLock<[Vec<Form>; 2]> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let designs = DESIGNS.map(|name| design::resolve(name).expect("the design exists"));
    let form = |title: String, file: &Path| Form {
        title,
        facts: Facts::of(file),
        reports: replayed(file, Mode::Count, &designs),
    };
    ALGORITHMS.map(|name| {
        let record = |set: &[&str]| {
            let file = folder.path().join(format!("{name}{}.strata", set.len()));
            recordings::record(name, set, &file);
            file
        };
        let ptx = record(&[]);
        let traced = as_trace(&ptx, &folder.path().join(format!("{name}-traced")));
        let mut forms = vec![
            form(format!("{name}, PTX"), &ptx),
            form(format!("{name}, PTX as a trace"), &traced),
        ];
        if name == "vectoradd" {
            let title = format!("{name}, PTX, an element a thread");
            forms.push(form(title, &record(&[AN_ELEMENT_A_THREAD])));
        }
        forms.push(form(format!("{name}, machine code"), &recording(name)));
        forms
    })
});

/// Exports a recording as a trace and records that.
fn as_trace(file: &Path, folder: &Path) -> PathBuf {
    let target = PartialFolder::create(folder, EXPORT, &[]).expect("a new folder");
    let mut recording = Recording::open(file).expect("it opens");
    export(&mut recording, &target, false).expect("it can be exported");
    target.finish().expect("it is exported");
    let again = folder.with_extension("strata");
    let output = Output::new(&again, store::KIND, false, &[]).expect("a new file");
    let list = folder.join("kernelslist.g");
    record_trace(&list, Reach::Folder, &output, u64::MAX).expect("it is recorded");
    again
}

impl Form {
    fn counter(&self, name: &str) -> f64 {
        self.reports[0].counters[name] as f64
    }

    fn derived(&self, name: &str) -> f64 {
        self.of(0, name)
    }

    fn of(&self, design: usize, name: &str) -> f64 {
        self.reports[design].derived[name].expect("it is known")
    }

    fn energy(&self, design: usize) -> f64 {
        self.of(design, "energy_relative_percent") / 100.0
    }

    fn hundred(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.facts.instructions as f64
    }

    fn for_each_access(&self, count: u64) -> f64 {
        count as f64 / self.facts.accesses as f64
    }

    /// Reads and writes of the main register file that a design avoids. Unit: percent.
    fn all_warps(&self, design: usize) -> [f64; 2] {
        ["mrf_reads_avoided_percent", "mrf_writes_avoided_percent"].map(|key| self.of(design, key))
    }

    /// Results that go to the cache.
    fn cached(&self) -> f64 {
        self.counter("rfc_writes_private") + self.counter("rfc_writes_shared")
    }

    /// Results that go straight to the main register file. Unit: percent of all.
    fn late(&self) -> f64 {
        let late = self.counter("mrf_writes_private") + self.counter("mrf_writes_shared");
        100.0 * late / (late + self.cached())
    }

    fn for_each_deschedule(&self, count: f64) -> f64 {
        count / self.counter("deschedules")
    }

    fn flushed(&self) -> f64 {
        self.for_each_deschedule(self.counter("rfc_writebacks_flush"))
    }

    fn dead(&self) -> f64 {
        100.0 * self.counter("rfc_drops") / self.counter("rfc_allocations")
    }
}

/// Whatever form it has: what was executed is the same in a trace, whose liveness knows less.
#[test]
fn a_trace_of_ptx_has_its_instructions_and_less_liveness() {
    for forms in FORMS.iter() {
        let [ptx, traced, ..] = forms.as_slice() else { panic!("they are there") };
        let facts = |form: &Form| Facts { registers: BTreeSet::new(), ..form.facts.clone() };
        assert_eq!(facts(traced), facts(ptx), "{}", ptx.title);
        for counter in ["warp_instructions", "thread_instructions", "deschedules"] {
            assert_eq!(traced.reports[0].counters[counter], ptx.reports[0].counters[counter]);
        }
        // Reads do not depend on liveness but for the entries that dead ones leave free.
        let reads = [ptx, traced].map(|form| form.derived("mrf_reads_avoided_percent"));
        assert!(reads[0] >= reads[1] && reads[0] < reads[1] + 3.0, "{}: {reads:?}", ptx.title);
        assert!(traced.energy(0) > ptx.energy(0) && traced.dead() < ptx.dead(), "{}", ptx.title);
        // Without liveness nothing is left of the difference.
        let without = [ptx, traced].map(|form| form.energy(1));
        assert!((without[0] - without[1]).abs() < 1e-9, "{}: {without:?}", ptx.title);
    }
}

/// By hand from the text of the trace: 1,563 of 1,568 warps add, the last with 16 lanes; in the others
/// no lane executes the first EXIT. S2R twice, IMAD, HFMA2 (a four)
/// and three IMAD.WIDE make the addresses of two loads and a store. IMAD and IMAD.WIDE read two
/// registers each; bases lie in constant memory.
#[test]
fn what_makes_the_addresses_of_vectoradd_is_found() {
    let facts = &machine(&FORMS[1]).facts;
    let expected = Facts {
        instructions: 26_601,
        idle: 1562,
        accesses: 1563 * 3,
        long_latency: 1563 * 2,
        address_makers: 1563 * 7,
        address_reads: 1563 * 8,
        registers: BTreeSet::from([12]),
    };
    assert_eq!(*facts, expected);
}

/// A compiler places operands in its levels, and a recording has none.
#[test]
fn levels_that_a_compiler_manages_are_refused_for_machine_code() {
    let args = Source::of(Scale::Small);
    let request = Request::new(&args).expect("the options are valid");
    for name in ["diss-orf3", "diss-orf3-lrf-split", "warrf-orf3-lrf-split"] {
        let design = design::resolve(name).expect("the design exists");
        let mode = if name.starts_with("warrf") { Mode::Cycle } else { Mode::Count };
        let request = request.clone().in_mode(mode);
        let file = recording("vectoradd");
        let file = file.to_str().expect("the path is UTF-8");
        let refused = measure::trace_reports(file, &[design], &request, &Silent);
        let refused = refused.expect_err("it has no program");
        assert!(refused.message().contains("program"), "{name}: {}", refused.message());
    }
}

/// What the page says, in numbers.
#[test]
fn machine_code_differs_as_the_page_says() {
    let [own, traced, machine] = [0, 1, 2].map(|form| &FORMS[0][form]);
    let energies = [own, traced, machine].map(|form| form.energy(0));
    assert!(energies[0] + 0.05 < energies[1] && energies[1] + 0.1 < energies[2], "{energies:?}");
    assert!(machine.late() > 2.0 * own.late());
    let cached = |form: &Form| form.for_each_deschedule(form.cached());
    assert!(2.0 * cached(machine) < cached(own) && machine.flushed() > 1.5 * own.flushed());
    assert!(own.all_warps(3)[0] > machine.all_warps(3)[0] + 10.0);
    let [own, traced, element, machine] = [0, 1, 2, 3].map(|form| &FORMS[1][form]);
    let energies = [own, traced, element, machine].map(|form| form.energy(0));
    assert!(energies[1] < energies[0] + 0.02, "{energies:?}");
    assert!(energies[2] < energies[0] - 0.05 && energies[3] < energies[2] - 0.2, "{energies:?}");
    let reads = |form: &Form| form.for_each_access(form.facts.address_reads);
    assert!(1.5 * reads(machine) < reads(own) && reads(machine) < reads(element));
    assert!(machine.all_warps(3)[0] > 99.9 && element.all_warps(3)[0] < 70.0);
}

#[test]
fn the_committed_page_of_machine_code_holds_these_numbers() {
    hold_page("machine-code.md", &page());
}

/// A column's title, and its cell for a form.
type Column<'a> = (&'a str, &'a dyn Fn(&Form) -> String);

/// A table of the forms.
fn table(columns: &[Column<'_>]) -> String {
    let titles: Vec<_> = columns.iter().map(|(title, _)| *title).collect();
    let mut text =
        format!("| form | {} |\n| --- |{}\n", titles.join(" | "), " ---: |".repeat(columns.len()));
    for form in FORMS.iter().flatten() {
        let cells: Vec<_> = columns.iter().map(|(_, of)| of(form)).collect();
        let _ = writeln!(text, "| {} | {} |", form.title, cells.join(" | "));
    }
    text
}

fn machine(forms: &[Form]) -> &Form {
    forms.last().expect("it is there")
}

fn page() -> String {
    let mut page = String::from(
        "# Machine code beside PTX\n\n\
         Two recordings of what NVIDIA's machine code (SASS) executed on a real GPU of `sm_80`,\n\
         [committed](../../host-cli/recordings/README.md) with their source and licence: Rodinia's `bfs`,\n\
         and `vectorAdd` of CUDA's samples. Beside them our PTX of the same algorithms, workloads `bfs`\n\
         and `vectoradd` at their small size. *PTX as a trace* is the same PTX exported as a trace and\n\
         read back: the same instructions, with the liveness that a trace shows instead of the\n\
         compiler's (DEV-080). *An element a thread* is our `vectoradd` with as many threads as elements\n\
         (94 CTAs), so that its loop makes one turn. All is counted under `isca11-rfc6` unless told\n\
         otherwise. Rows of machine code stand also on the pages [isca11](isca11.md),\n\
         [dissertation-hardware](dissertation-hardware.md) and [warrf](warrf.md). This page is checked by\n\
         `cargo test -p strata-tests --test shape`.\n\n\
         Levels that a compiler manages (`-orf` designs, the pages on the dissertation's software\n\
         hierarchy, its encoding and its limits) need a program to place operands in, and refuse\n\
         recordings of machine code.\n",
    );
    for part in [executed, used, cached, by_order, why] {
        page.push_str(&part());
    }
    page
}

fn by_order() -> String {
    let mut text = String::from(
        "\n## By order of instructions\n\n\
         NVIDIA's compiler scheduled the machine code; our PTX is shown in its own order and scheduled\n\
         (`--order`). In cycle mode: MRF accesses avoided and energy under `isca11-rfc6`, in percent of\n\
         the flat register file's; IPC in thread instructions a cycle, flat and with the cache.\n\n\
         | form | reads / writes avoided | energy | IPC, flat | IPC, cached |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    let names = ["isca11", "isca11-rfc6"];
    let designs = names.map(|name| design::resolve(name).expect("the design exists"));
    let ptx = ORDERS.map(|order| (order, Reports::in_order(order, Mode::Cycle, &designs)));
    let machine = recorded(Mode::Cycle, &designs);
    for name in ALGORITHMS {
        for (order, reports) in &ptx {
            let cells = line(reports, name, names[1], names[0]);
            let _ = writeln!(text, "| {name}, PTX, {} | {cells} |", order.name());
        }
        let cells = line(&machine, name, names[1], names[0]);
        let _ = writeln!(text, "| {name}, machine code | {cells} |");
    }
    text
}

fn one(value: f64) -> String {
    format!("{value:.1}")
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn both([reads, writes]: [f64; 2]) -> String {
    format!("{reads:.1} / {writes:.1}")
}

fn executed() -> String {
    let text = "\n## What is executed\n\n\
         An *access* is a load, store or atomic of global memory with an enabled lane. *Makers* are\n\
         instructions, arithmetic and loads of parameters, whose result some lane uses as an address\n\
         of such an access, itself or through more arithmetic.\n\n";
    text.to_owned()
        + &table(&[
            ("warp instructions", &|form| form.facts.instructions.to_string()),
            ("without an enabled lane, %", &|form| one(form.hundred(form.facts.idle))),
            ("lanes enabled", &|form| one(form.derived("lanes_per_instruction"))),
            ("registers", &|form| {
                let registers: Vec<_> = form.facts.registers.iter().map(u16::to_string).collect();
                registers.join(", ")
            }),
            ("instructions for each access", &|form| {
                one(form.for_each_access(form.facts.instructions))
            }),
            (
                "makers for each access",
                &|form| one(form.for_each_access(form.facts.address_makers)),
            ),
            ("their reads", &|form| one(form.for_each_access(form.facts.address_reads))),
            ("operand reads of an instruction", &|form| {
                two(form.derived("operand_reads_per_instruction"))
            }),
            ("results", &|form| two(form.derived("operand_writes_per_instruction"))),
        ])
}

fn used() -> String {
    let text = "\n## How values are used\n\n\
         *Late* results are those of long-latency operations, which go straight to the main register\n\
         file. A deschedule empties the cache.\n\n";
    text.to_owned()
        + &table(&[
            ("read once, %", &|form| one(form.derived("values_read_once_percent"))),
            ("read once within 3, %", &|form| {
                one(form.derived("values_read_once_within_3_instructions_percent"))
            }),
            ("read by a shared unit, %", &|form| {
                one(form.derived("values_read_by_shared_datapath_percent"))
            }),
            ("late results, %", &|form| one(form.late())),
            ("long-latency loads in 100 instructions", &|form| {
                one(form.hundred(form.facts.long_latency))
            }),
            ("deschedules in 100 instructions", &|form| {
                one(form.hundred(form.reports[0].counters["deschedules"]))
            }),
            ("results cached for each deschedule", &|form| {
                one(form.for_each_deschedule(form.cached()))
            }),
        ])
}

fn cached() -> String {
    let text = "\n## What the cache does with them\n\n\
         *Dead* are entries that were given up without a writeback, of all that were allocated. *All\n\
         warps*: nothing is descheduled, so that only the number of entries limits what is avoided.\n\n";
    text.to_owned()
        + &table(&[
            ("reads avoided, %", &|form| one(form.derived("mrf_reads_avoided_percent"))),
            ("writes avoided, %", &|form| one(form.derived("mrf_writes_avoided_percent"))),
            ("dead, %", &|form| one(form.dead())),
            ("written back for each deschedule", &|form| one(form.flushed())),
            ("energy", &|form| format!("{:.3}", form.energy(0))),
            ("without liveness", &|form| format!("{:.3}", form.energy(1))),
            ("with bypass", &|form| format!("{:.3}", form.energy(2))),
            ("all warps: reads / writes avoided, %", &|form| both(form.all_warps(3))),
            ("and with 13 entries", &|form| both(form.all_warps(4))),
        ])
}

fn why() -> String {
    let [bfs, add] = FORMS.each_ref();
    let points =
        |from: &Form, to: &Form| format!("{:+.1}", 100.0 * (to.energy(0) - from.energy(0)));
    let [own, traced, code] = [&bfs[0], &bfs[1], machine(bfs)];
    let mut text = String::from("\n## Why they differ\n\n");
    let _ = writeln!(
        text,
        "`bfs`: {} points of energy.\n\n\
         - {} points are what a trace knows of liveness, measured on our PTX (DEV-080): {:.0} instead of\n  \
         {:.0} % of the entries die.\n\
         - {} points are the code. Rodinia's loop over a node's edges loads the bounds and the cost again\n  \
         in each turn, ours keeps them in registers: {:.0} instead of {:.0} % of the results are late, and\n  \
         {:.1} instead of {:.1} go to the cache between two deschedules. Of these {:.1} are still there,\n  \
         live, when it is emptied ({:.1} of our PTX, {:.1} as a trace).\n\
         - Values also live longer: {:.0} instead of {:.0} % are read once within three instructions. With\n  \
         all warps' entries kept, six of them avoid {:.0} % of the writes, where as a trace those of our\n  \
         PTX avoid {:.0} %; thirteen avoid {:.0} %.\n",
        points(own, code),
        points(own, traced),
        traced.dead(),
        own.dead(),
        points(traced, code),
        code.late(),
        own.late(),
        code.for_each_deschedule(code.cached()),
        own.for_each_deschedule(own.cached()),
        code.flushed(),
        own.flushed(),
        traced.flushed(),
        code.derived("values_read_once_within_3_instructions_percent"),
        own.derived("values_read_once_within_3_instructions_percent"),
        code.all_warps(3)[1],
        traced.all_warps(3)[1],
        code.all_warps(4)[1],
    );
    let [own, traced, element, code] = [&add[0], &add[1], &add[2], machine(add)];
    let reads = |form: &Form| form.for_each_access(form.facts.address_reads);
    let _ = writeln!(
        text,
        "`vectoradd`: {} points, of which liveness would take {} back.\n\n\
         - {} points are the loop: the machine code adds one element in each thread, our PTX goes through\n  \
         the vectors with a stride, unrolled four times, and keeps bases and stride in registers. With an\n  \
         element a thread ours needs {:.3}.\n\
         - {} points are left. Machine code finds an array's base in constant memory, within the\n  \
         instruction that makes an address; PTX loads it to a pair of registers and reads the pair: {:.1}\n  \
         instead of {:.1} registers are read to make an address ({:.1} with the loop). All that is read\n  \
         fits six entries, if no warp is descheduled; of ours {:.0} % does. {:.0} instead of {:.0} % of the\n  \
         values are read once within three instructions.",
        points(own, code),
        points(own, traced),
        points(own, element),
        element.energy(0),
        points(element, code),
        reads(code),
        reads(element),
        reads(own),
        element.all_warps(3)[0],
        code.derived("values_read_once_within_3_instructions_percent"),
        element.derived("values_read_once_within_3_instructions_percent"),
    );
    text
}
