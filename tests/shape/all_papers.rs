//! The designs of all five papers, and some that combine them, side by side on every workload.
//!
//! The tables are written to `docs/results/all-papers.md`; the test compares them with what is
//! committed there, so that no number moves unseen. Set `STRATA_BLESS=1` to write the file again
//! after a change that is meant to move numbers.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_core::sm::config::StorageKind;
use strata_core::sm::expansion::hardware::{LINE_BITS, LINES};
use strata_design::cost::cost;
use strata_design::{self as design, Design};
use strata_measure::options::Mode;
use strata_report::RunReport;

use crate::groups::fitting;
use crate::reports::{Reports, hold_page};

/// Which energy of a design is compared with its baseline's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Energy {
    /// Accesses of registers, wherever they lie.
    Accesses,
    /// Accesses of registers, wherever they lie, and leakage of the main register file.
    WithLeakage,
    /// An SM with all its storage, and DRAM.
    Sm,
}

/// A design beside the baseline of its machine.
struct Compared {
    papers: &'static str,
    name: &'static str,
    baseline: &'static str,
    energy: Energy,
}

/// Each paper's own, then those that combine two.
const DESIGNS: [Compared; 9] = [
    Compared { papers: "1", name: "isca11-rfc6", baseline: "isca11", energy: Energy::Accesses },
    Compared {
        papers: "2",
        name: "diss-orf3-lrf-split",
        baseline: "dissertation",
        energy: Energy::Accesses,
    },
    Compared { papers: "3", name: "micro12-unified-384", baseline: "micro12", energy: Energy::Sm },
    Compared {
        papers: "4",
        name: "expars-lrr",
        baseline: "expars-gtx480",
        energy: Energy::Accesses,
    },
    Compared { papers: "5", name: "warrf", baseline: "warrf-gtx480", energy: Energy::WithLeakage },
    Compared {
        papers: "1 + 4",
        name: RFC_EXPARS,
        baseline: "expars-gtx480",
        energy: Energy::Accesses,
    },
    Compared {
        papers: "1 + 5",
        name: "warrf-rfc6",
        baseline: "warrf-gtx480",
        energy: Energy::WithLeakage,
    },
    Compared {
        papers: "4 + 5",
        name: "expars-sttram",
        baseline: "expars-sram",
        energy: Energy::WithLeakage,
    },
    Compared {
        papers: "2 + 5",
        name: "sttram-sbw-orf3-lrf-split",
        baseline: "warrf-gtx480",
        energy: Energy::WithLeakage,
    },
];

/// A register file cache above registers that expand into scratchpad memory.
const RFC_EXPARS: &str = "expars-rfc6";
/// Designs that have no name of their own.
const FILES: [(&str, &str); 3] = [
    (RFC_EXPARS, "base = \"expars-tl\"\n[cache]\nentries = 6\n"),
    ("expars-sttram", "base = \"expars-lrr\"\nmemory = \"sttram\"\ntechnology = \"warrf\"\n"),
    ("expars-sram", "base = \"expars-gtx480\"\nmemory = \"sram\"\ntechnology = \"warrf\"\n"),
];

fn resolved(name: &str) -> Design {
    let Some((_, file)) = FILES.iter().find(|(own, _)| *own == name) else {
        return design::resolve(name).expect("the design exists");
    };
    let text = format!("name = \"{name}\"\n{file}");
    design::file::parse("design.toml", &text).expect("a good design file")
}

static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
    let mut names: Vec<&str> = DESIGNS.iter().flat_map(|one| [one.baseline, one.name]).collect();
    names.sort_unstable();
    names.dedup();
    let designs: Vec<Design> = names.into_iter().map(resolved).collect();
    Reports::run(Mode::Cycle, fitting(), &designs)
});

/// A design's numbers on a workload, relative to its baseline's.
struct Relative {
    /// Accesses of the main register file that a flat one makes and this one does not. Percent.
    avoided: f64,
    energy: f64,
    cycles: f64,
}

impl Relative {
    fn energy_delay(&self) -> f64 {
        self.energy * self.cycles
    }
}

fn of(compared: &Compared, workload: &str) -> Relative {
    let get = |design: &str| REPORTS.get(workload, design);
    let (own, baseline, flat) = (get(compared.name), get(compared.baseline), get("isca11"));
    let sum = |report: &RunReport| report.counters["mrf_reads"] + report.counters["mrf_writes"];
    let total = |report: &RunReport| {
        report.energy_fj.as_ref().expect("its accesses have a price")["total"] as f64
    };
    let energy = match compared.energy {
        Energy::Accesses => total(own) / total(baseline),
        Energy::WithLeakage => {
            let of = |report: &RunReport| {
                report.energy_in_time.as_ref().expect("its leakage is known").total_fj as f64
            };
            of(own) / of(baseline)
        }
        Energy::Sm => {
            let of = own.storage_energy.as_ref().expect("its storage has a price");
            of.technologies[0].relative.as_ref().expect("the baseline runs").energy_percent / 100.0
        }
    };
    Relative {
        avoided: 100.0 * (1.0 - sum(own) as f64 / sum(flat) as f64),
        energy,
        cycles: own.counters["cycles"] as f64 / baseline.counters["cycles"] as f64,
    }
}

#[test]
fn the_committed_page_of_all_papers_holds_these_numbers() {
    hold_page("all-papers.md", &page());
}

/// What the page says in words.
#[test]
fn designs_of_two_papers_save_energy_and_lose_no_time() {
    let mean = |name: &str, value: fn(&Relative) -> f64| {
        let found = DESIGNS.iter().find(|one| one.name == name).expect("it is compared");
        Mean::Geometric.over(|workload| value(&of(found, workload)))
    };
    let cycles = |name| mean(name, |of| of.cycles);
    assert!(cycles("warrf") > 1.05 && cycles("expars-lrr") > 1.1);
    for both in ["warrf-rfc6", "sttram-sbw-orf3-lrf-split"] {
        assert!(cycles(both) < 1.0, "{both}: {}", cycles(both));
        assert!(mean(both, Relative::energy_delay) < 0.35, "{both}");
    }
    let energy = |name| mean(name, |of| of.energy);
    assert!(energy("diss-orf3-lrf-split") < energy("isca11-rfc6"));
    assert!((energy("expars-lrr") - 1.0).abs() < 0.01, "{}", energy("expars-lrr"));
    assert!(energy("warrf") < 0.35);
}

/// How a table's first row is made of the others.
#[derive(Clone, Copy)]
enum Mean {
    Arithmetic,
    Geometric,
}

impl Mean {
    fn over(self, of: impl Fn(&str) -> f64) -> f64 {
        let all: Vec<f64> = fitting().map(of).collect();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        match self {
            Self::Arithmetic => mean(all),
            Self::Geometric => mean(all.into_iter().map(f64::ln).collect()).exp(),
        }
    }
}

const HEAD: &str = "\
# All five papers side by side

Every workload at size `small` in cycle mode, in the order of the PTX, but for `needle64`, which machine
`isca11` has no room for. Papers: 1 [RFC2011], 2 [DISS] chapter 6, 3 [MICRO2012], 4 [EXPARS], 5 [WARRF].
The papers' SMs differ, so each design is compared with the baseline of its own machine: columns with one
baseline can be compared with each other, others only in what they gain. Three are design files: `expars-rfc6`
(`base = \"expars-tl\"` with `[cache] entries = 6`), `expars-sttram` and its baseline `expars-sram` (`expars-lrr`
and `expars-gtx480` with WarRF's technology and `memory`). The page is checked by `cargo test -p strata-tests
--test shape`.

## What wins where, and why

- **Fewest accesses of the main register file: a cache above a write pool** (1 + 5). The cache takes most
  operands and results, and the pool most of what is left. The compiler (2) avoids as many accesses as the
  cache (1), and evicts nothing.
- **Least energy: STT-RAM** (5, 1 + 5, 2 + 5), a quarter to a third of the baseline's with leakage. Where
  warps mostly wait (`needle`, `suffixtree`, `xorwow`) nearly all of the baseline's energy is leakage of
  SRAM, which STT-RAM hardly has. Of accesses alone the compiler's levels (2) save most.
- **Time: two papers together.** `warrf` (5) loses 8 % where banks are written for three cycles; with a cache
  or the compiler's levels above it (1 + 5, 2 + 5) most writes never reach a bank, and nothing is lost.
- **More storage pays where it was missing.** 3 gains where the kernel wants a cache (`suffixtree`, `srad`);
  at this size most data fits any. 4 gains where the SM waits and other CTAs follow (`stencil`); launches of
  three or four CTAs of which the last lies in scratchpad memory lose up to two thirds (`mergesort`,
  `pathgen`), which [larger ones](expars-kernels-default.md) do not (DEV-113).
- **Energy times delay: 5, 1 + 5 and 2 + 5**, alike in the mean. The busier the SM, the better is 2 + 5
  (`dgemm`, `sgemm`, `hotspot`, `nbody` against 5): it pays for no pool.
- **EXPARS on STT-RAM** (4 + 5) takes twice the time: at 1.4 GHz a write keeps one of four banks for six cycles,
  and two issue slots want them all. Split bank writes and a write pool, which would help, know no registers
  outside the banks and are refused beside EXPARS.
- **A cache above EXPARS** (1 + 4) saves the cache's energy. Its two levels of warps hold the warps that
  EXPARS gains in the pending set, and the mixed CTAs wait for lines as they do without a cache.
";

fn page() -> String {
    let mut page = String::from(HEAD);
    storage(&mut page);
    table(
        &mut page,
        "Accesses of the main register file avoided, percent",
        "Of those that a flat register file makes.",
        (Mean::Arithmetic, |of| of.avoided),
    );
    table(
        &mut page,
        "Energy, relative to the baseline",
        "1, 2, 4: accesses of registers, wherever they lie. 5: with leakage of the main register file. 3: \
         an SM with its storage,\nand DRAM.",
        (Mean::Geometric, |of| of.energy),
    );
    table(
        &mut page,
        "Performance, relative to the baseline",
        "Instructions per cycle.",
        (Mean::Geometric, |of| 1.0 / of.cycles),
    );
    table(
        &mut page,
        "Energy times delay, relative to the baseline",
        "Less is better.",
        (Mean::Geometric, Relative::energy_delay),
    );
    page
}

fn table(page: &mut String, title: &str, about: &str, of_all: (Mean, fn(&Relative) -> f64)) {
    let (mean, value) = of_all;
    let (name_of_mean, digits) = match mean {
        Mean::Arithmetic => ("mean", 1),
        Mean::Geometric => ("geometric mean", 2),
    };
    let _ = write!(page, "\n## {title}\n\n{about}\n\n| workload |");
    for Compared { papers, name, .. } in &DESIGNS {
        let _ = write!(page, " {papers}: `{name}` |");
    }
    page.push_str("\n| --- |");
    page.push_str(&" ---: |".repeat(DESIGNS.len()));
    page.push('\n');
    let mut row = |name: &str, cell: &dyn Fn(&Compared) -> f64| {
        let cells = DESIGNS.each_ref().map(|one| format!("{:.digits$}", cell(one)));
        let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
    };
    row(name_of_mean, &|one| mean.over(|workload| value(&of(one, workload))));
    for workload in fitting() {
        row(&format!("`{workload}`"), &|one| value(&of(one, workload)));
    }
}

/// Bytes of an SM's storage.
fn storage(page: &mut String) {
    page.push_str(
        "\n## Storage of an SM, KB\n\n\
         Main register file, levels above it, operand cache or write pool, shared memory and data cache; \
         tags and state are\nnot counted (`strata cost`).\n\n\
         | papers | design | machine's baseline | registers | levels above | beside | shared and cache |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for Compared { papers, name, baseline, .. } in &DESIGNS {
        let design = resolved(name);
        let cost = cost(&design);
        let above = cost.cache.map_or(0, |cache| cache.data_bytes)
            + cost.last_result_file.map_or(0, |last| last.data_bytes)
            + cost.managed.map_or(0, |managed| {
                managed.operand_register_file.sm
                    + managed.last_result_file.map_or(0, |last| last.sm)
            });
        let pool = cost.collectors.and_then(|collectors| collectors.write_pool);
        let pool = pool.map_or(0, |pool| pool.array_bytes);
        let expands = design.sm.storage == StorageKind::Expars;
        let beside = pool + if expands { u64::from(LINES * LINE_BITS / 8) } else { 0 };
        let cache = design.data_cache.map_or(0, |cache| cache.cache_bytes);
        let (registers, rest) = if design.storage.is_some() {
            ("of 384".to_owned(), "of 384".to_owned())
        } else {
            let rest = design.sm.shared_memory_bytes + cache;
            (kilobytes(design.sm.register_file_bytes.into()), kilobytes(rest.into()))
        };
        let (above, beside) = (kilobytes(above), kilobytes(beside));
        let _ = writeln!(
            page,
            "| {papers} | `{name}` | `{baseline}` | {registers} | {above} | {beside} | {rest} |"
        );
    }
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0).trim_end_matches(".0").to_owned()
}
