//! Memory traffic and results of the workloads beside those of an NVIDIA GPU that ran the same PTX.
//!
//! `hardware_counters/gpu.tsv` is what `capture.py` beside it brought from the GPU. To capture again,
//! write the launches, run them on a machine with a GPU, and put `results/gpu.tsv` in its place:
//!
//! ```text
//! STRATA_HARDWARE_LAUNCHES=launches cargo test -p strata-tests --test shape -- hardware_counters
//! python3 tests/shape/hardware_counters/capture.py launches results
//! ```
//!
//! `capture_banks.py` needs no launches, and brings `banks.tsv`.
//!
//! The tables are written to `docs/results/hardware-counters.md`; set `STRATA_BLESS=1` to write the
//! file again after a change that is meant to move numbers.

mod banks;
mod export;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use strata_workload::{self as workload, Overrides, Prepared, Toolchain, Workload};

use crate::reports::hold_page;
use traffic::Counts;

/// Compilers of the PTX, those with addresses as wide as the GPU's.
const TOOLCHAINS: [Toolchain; 2] = [Toolchain::Nvcc, Toolchain::Clang];

/// Levels at which `ptxas` made machine code of the PTX.
const LEVELS: [&str; 2] = ["O1", "O3"];

/// Counters of which each must be equal, by the kind of memory.
const GLOBAL: [&str; 8] = [
    "global_ld_requests",
    "global_ld_sectors",
    "global_st_requests",
    "global_st_sectors",
    "global_red_requests",
    "global_red_sectors",
    "global_atom_requests",
    "global_atom_sectors",
];
const LOCAL: [&str; 2] = ["local_ld_sectors", "local_st_sectors"];
const SHARED: [&str; 3] = ["shared_ld", "shared_st", "shared_atom"];

/// Workloads with instructions of which PTX bounds the error, not the bits: sines, cosines,
/// exponentials, logarithms, reciprocals and roots.
const APPROXIMATE: [&str; 7] = ["cp", "fft512", "montecarlo", "mriq", "nbody", "pathgen", "srad"];

/// Every workload by name, at the size that the GPU ran.
fn prepared(toolchain: Toolchain) -> impl Iterator<Item = (&'static str, Workload, Prepared)> {
    workload::all_names().map(move |name| {
        let workload = Workload::builtin(name, toolchain).expect("it is built in");
        let prepared = Prepared::new(&workload, "small", &Overrides::new());
        let prepared = prepared.unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, workload, prepared)
    })
}

/// A kernel, or a buffer, of a workload's PTX by a compiler.
type Key = (&'static str, String, String);

/// Counts of all kernels, and digests of the final contents of all buffers.
#[derive(Default)]
struct Side {
    kernels: BTreeMap<Key, Counts>,
    buffers: BTreeMap<Key, String>,
}

/// What the model says.
static OURS: LazyLock<Side> = LazyLock::new(|| {
    let mut side = Side::default();
    for toolchain in TOOLCHAINS {
        for (name, _, prepared) in prepared(toolchain) {
            let (kernels, finals) = traffic::traffic(&prepared);
            let key = |of: &str| (toolchain.name(), name.to_owned(), of.to_owned());
            side.kernels.extend(kernels.into_iter().map(|(kernel, of)| (key(&kernel), of)));
            let digests = prepared.plan.buffers.iter().zip(&finals);
            side.buffers.extend(digests.map(|(buffer, bytes)| {
                (key(&buffer.name), format!("{:08x}", crc32fast::hash(bytes)))
            }));
        }
    }
    side
});

/// What a GPU says, by the level of its machine code.
struct Recorded {
    device: String,
    levels: BTreeMap<&'static str, Side>,
}

static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/shape/hardware_counters/gpu.tsv");
    let text = std::fs::read_to_string(file).expect("it is committed");
    let mut lines = text.lines();
    let device = lines.next().and_then(|line| line.strip_prefix("# ")).expect("the device");
    let names: Vec<&str> = lines.next().expect("the names").split('\t').collect();
    let mut levels: BTreeMap<&str, Side> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let known = |list: &[&'static str], cell: &str| {
            *list.iter().find(|&&known| known == cell).unwrap_or_else(|| panic!("{file}: {line}"))
        };
        let compilers = TOOLCHAINS.map(Toolchain::name);
        let skip = usize::from(cells[0] == "buffer");
        let [compiler, level, workload, what] = cells[skip..skip + 4] else { panic!("{line}") };
        let key = (known(&compilers, compiler), workload.to_owned(), what.to_owned());
        let side = levels.entry(known(&LEVELS, level)).or_default();
        if skip == 1 {
            assert_eq!(cells.len(), 6, "{file}: {line}");
            side.buffers.insert(key, cells[5].to_owned());
            continue;
        }
        assert_eq!(cells.len(), names.len(), "{file}: {line}");
        let count = |cell: &str| cell.parse().unwrap_or_else(|_| panic!("{file}: {line}"));
        let counts = names.iter().zip(&cells).skip(4);
        let counts = counts.map(|(name, cell)| ((*name).to_owned(), count(cell))).collect();
        side.kernels.insert(key, counts);
    }
    Recorded { device: device.to_owned(), levels }
});

fn of(counts: &Counts, name: &str) -> u64 {
    counts.get(name).copied().unwrap_or(0)
}

/// A kernel of which a counter differs.
struct Difference {
    level: &'static str,
    key: Key,
    counter: String,
    ours: u64,
    theirs: u64,
}

/// Kernels that have a counter, how many of them have it equal, and the others.
#[derive(Default)]
struct Tally {
    kernels: usize,
    equal: usize,
    differing: Vec<Difference>,
}

fn tally(level: &'static str, counter: &str) -> Tally {
    let mut tally = Tally::default();
    for (key, counts) in &RECORDED.levels[level].kernels {
        let (ours, theirs) = (of(&OURS.kernels[key], counter), of(counts, counter));
        if (ours, theirs) == (0, 0) {
            continue;
        }
        tally.kernels += 1;
        if ours == theirs {
            tally.equal += 1;
        } else {
            let (key, counter) = (key.clone(), counter.to_owned());
            tally.differing.push(Difference { level, key, counter, ours, theirs });
        }
    }
    tally
}

impl Difference {
    /// Why machine code has another number, as far as its own counters tell.
    fn reason(&self) -> &'static str {
        let ours = &OURS.kernels[&self.key];
        let theirs = &RECORDED.levels[self.level].kernels[&self.key];
        let Some(access) = self.counter.strip_suffix("_wavefronts") else {
            return "`ptxas` arranged accesses otherwise";
        };
        let accesses = of(ours, &format!("{access}_accesses"));
        if of(theirs, &format!("{access}_instructions")) < accesses {
            "`ptxas` merged accesses, or left some out"
        } else if of(ours, &format!("{access}_wavefronts_in_parts")) == self.theirs {
            "8 or 16 bytes a lane (DEV-152)"
        } else {
            "`ptxas` arranged accesses otherwise"
        }
    }
}

/// Every counter that is compared.
fn counters() -> Vec<String> {
    let shared = SHARED.map(|access| format!("{access}_wavefronts"));
    let others = ["launches", "warps"].into_iter().chain(GLOBAL).chain(LOCAL);
    others.map(str::to_owned).chain(shared).collect()
}

fn page() -> String {
    let mut text = format!(
        "# Hardware counters\n\n\
         Every workload at its small size, and what a GPU ({}) counted\nwhile it ran the same PTX \
         (Nsight Compute; machine code of `ptxas --fmad false`, at levels 1 and 3):\n{} \
         kernels of {} workloads, each from nvcc and from clang, the sums over the launches of each. \
         Compared is what the rules\nof the model say of single instructions: the sectors of 32 bytes \
         that the lanes of an access touch in global and local\nmemory, and the cycles that it takes \
         in 32 banks of shared memory (rule 21 of [the model](../MODEL.md)). Registers and\ntime are \
         those of other machine code, and of another machine. This page is checked by `cargo test -p\n\
         strata-tests --test shape`; the head of `tests/shape/hardware_counters.rs` says how to \
         capture the counters of another GPU.\n",
        RECORDED.device,
        OURS.kernels.len() / TOOLCHAINS.len(),
        workload::all_names().count(),
    );
    text += "\n## Kernels with the same count\n\n\
             A *request* is an execution that has an enabled lane; a *wavefront* is a cycle of the \
             banks. Kernels of each compiler\nthat have the counter, here or there.\n\n\
             | counter | kernels | equal at `-O1` | equal at `-O3` |\n| --- | ---: | ---: | ---: |\n";
    let mut differing = Vec::new();
    for counter in counters() {
        let tallies = LEVELS.map(|level| tally(level, &counter));
        let [least, most] = [&tallies[0], &tallies[1]];
        if most.kernels > 0 {
            let (kernels, first, second) = (most.kernels, least.equal, most.equal);
            let _ = writeln!(text, "| `{counter}` | {kernels} | {first} | {second} |");
        }
        differing.extend(tallies.into_iter().flat_map(|tally| tally.differing));
    }
    text += "\n## The others\n\n\
             | workload | kernel | PTX of | `ptxas` | counter | GPU | model | reason |\n\
             | --- | --- | --- | --- | --- | ---: | ---: | --- |\n";
    differing.sort_by(|a, b| (&a.key.1, &a.key.2, a.key.0).cmp(&(&b.key.1, &b.key.2, b.key.0)));
    for other in &differing {
        let ((compiler, workload, kernel), level) = (&other.key, other.level);
        let (counter, theirs, ours, reason) =
            (&other.counter, other.theirs, other.ours, other.reason());
        let _ = writeln!(
            text,
            "| {workload} | {kernel} | {compiler} | {level} | `{counter}` | {theirs} | {ours} | {reason} |"
        );
    }
    text += &in_banks();
    text += &instructions();
    let _ = write!(
        text,
        "\n## Results\n\nOf {} workloads every buffer ends with the same bits on the GPU, from the \
         PTX of both compilers and at both levels.\nThe others have instructions of which PTX bounds \
         the error and not the bits: {}.\n",
        workload::all_names().count() - APPROXIMATE.len(),
        APPROXIMATE.map(|name| format!("`{name}`")).join(", "),
    );
    text
}

/// Single accesses of shared memory.
fn in_banks() -> String {
    let mut text = "\n## Shared memory, access by access\n\n\
         Loads and stores of one warp, with addresses by hand and drawn: a GPU counted the cycles of \
         each. Words take those of the\nmodel. Wider accesses pass in parts of the warp: halves \
         where a lane has 8 bytes, quarters where it has 16; two parts of a\nload pass together if \
         every lane has the address of its neighbour, or every lane that of the next but one, \
         wherever both\nare on. With that rule, which a test computes, all are equal, and so are the \
         kernels above with DEV-152.\n\n\
         | bytes of a lane | accesses | equal to the model's |\n| ---: | ---: | ---: |\n"
        .to_owned();
    for bytes in [4, 8, 16] {
        let (accesses, equal) = banks::agreement(bytes);
        let _ = writeln!(text, "| {bytes} | {accesses} | {equal} |");
    }
    text
}

/// What machine code executes instead of the PTX of nvcc.
fn instructions() -> String {
    let mut text = "\n## Instructions\n\n\
         Warp instructions of nvcc's PTX and of machine code, and the lanes of one on average, in PTX \
         those whose predicate\nholds: how far counts of PTX are from those of machine code (DEV-080).\n\n\
         | workload | PTX | `-O1` | `-O3` | lanes, PTX | `-O1` | `-O3` |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let [first, second] = LEVELS.map(|level| &RECORDED.levels[level]);
    for name in workload::all_names() {
        let sums = [&*OURS, first, second].map(|side| {
            let kernels = side.kernels.iter();
            let own = kernels.filter(|(key, _)| (key.0, key.1.as_str()) == ("nvcc", name));
            own.fold((0, 0), |(warps, threads), (_, counts)| {
                (warps + of(counts, "instructions"), threads + of(counts, "thread_instructions"))
            })
        });
        let warps = sums.map(|(warps, _)| warps.to_string()).join(" | ");
        let lanes = sums.map(|(warps, threads)| format!("{:.1}", threads as f64 / warps as f64));
        let _ = writeln!(text, "| {name} | {warps} | {} |", lanes.join(" | "));
    }
    text
}

/// Without another reason than that `ptxas` did not keep the accesses of the PTX.
#[test]
fn traffic_is_that_of_a_gpu() {
    if let Some(folder) = std::env::var_os("STRATA_HARDWARE_LAUNCHES") {
        let root = Path::new(&folder);
        return TOOLCHAINS.iter().for_each(|&of| export::export(of, &root.join(of.name())));
    }
    for level in LEVELS {
        let keys: BTreeSet<&Key> = RECORDED.levels[level].kernels.keys().collect();
        assert_eq!(keys, OURS.kernels.keys().collect(), "{level}: kernels");
    }
    for counter in ["launches", "warps"].into_iter().chain(GLOBAL).chain(LOCAL) {
        let tally = tally("O1", counter);
        let others: Vec<&Key> = tally.differing.iter().map(|other| &other.key).collect();
        assert!(others.is_empty(), "{counter} differs: {others:?}");
    }
    hold_page("hardware-counters.md", &page());
}

/// What shared memory takes differs only where machine code has fewer accesses, or wide ones.
#[test]
fn wavefronts_differ_where_accesses_are_merged_or_wide() {
    for access in SHARED {
        let tally = tally("O1", &format!("{access}_wavefronts"));
        assert!(4 * tally.equal >= 3 * tally.kernels, "{access}: {} are equal", tally.equal);
        for other in tally.differing {
            assert_ne!(other.reason(), "`ptxas` arranged accesses otherwise", "{:?}", other.key);
        }
    }
}

#[test]
fn results_are_those_of_a_gpu_but_for_approximations() {
    for level in LEVELS {
        let theirs = &RECORDED.levels[level].buffers;
        assert_eq!(theirs.keys().collect::<Vec<_>>(), OURS.buffers.keys().collect::<Vec<_>>());
        let differing = theirs.iter().filter(|(key, digest)| &OURS.buffers[*key] != *digest);
        let differing: BTreeSet<&str> = differing.map(|(key, _)| key.1.as_str()).collect();
        assert_eq!(differing, BTreeSet::from(APPROXIMATE), "{level}");
    }
}
