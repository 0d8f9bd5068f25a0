//! Points: the designs of each figure.

use strata_compiler::RegisterLimit;
use strata_core::sm::memory::bank_conflicts::{BankConflicts, ConflictPorts};
use strata_core::sm::memory::cached::CachedSettings;
use strata_core::sm::memory::touched::BankMapping;
use strata_core::sm::partition::{Areas, Division};
use strata_core::storage_energy::CacheArray;

use super::Point;
use crate::study::storage::Figure;
use strata_design::machine::machine;
use strata_design::storage::{Repartition, ThreadChoice};
use strata_design::{Storage, name};

/// Storage without bounds. Unit: KB.
const UNBOUNDED_KB: u32 = 4096;
/// Warps with which half-full ones are 1024 threads.
const HALF_FULL_WARPS: u8 = 64;

/// The eight workloads of `[MICRO2012]` Figure 9, `needle` with a blocking factor of 32.
const BENEFIT: [&str; 8] = ["bfs", "dgemm", "lu", "suffixtree", "pcr", "ray", "srad", "needle32"];
/// Those of Figure 7 that we have.
const NO_BENEFIT: [&str; 9] = [
    "vectoradd",
    "matrixmul",
    "scalarprod",
    "hotspot",
    "dct8x8",
    "nbody",
    "sgemv",
    "scan",
    "sobol",
];
/// Numbers of threads of Figures 2 to 4.
const THREADS: [u32; 4] = [256, 512, 768, 1024];
/// Limits of registers for each thread of Table 1, and of `[DISS]` Table 7.2.
const REGISTERS: [u16; 5] = [18, 24, 32, 40, 64];

impl Figure {
    /// Inputs of the paper's figure, as far as we have them.
    pub fn inputs(self) -> Vec<String> {
        let names: &[&str] = match self {
            Self::Unified | Self::Cache | Self::Registers | Self::SharedMemory => &BENEFIT,
            Self::NoBenefit => &NO_BENEFIT,
            Self::Conflicts => {
                return [&BENEFIT[..], &NO_BENEFIT].concat().iter().map(own).collect();
            }
            Self::Designs | Self::Limited | Self::Configuration => {
                &["bfs", "suffixtree", "dgemm", "needle64", "pcr", "hotspot"]
            }
            Self::Blocking => &["needle16", "needle32", "needle64"],
            Self::Needs => return [&BENEFIT[..], &NO_BENEFIT].concat().iter().map(own).collect(),
        };
        names.iter().map(own).collect()
    }

    /// The claim of the papers that is about it.
    pub fn claim(self) -> &'static str {
        match self {
            Self::Designs | Self::Limited | Self::Conflicts | Self::Configuration => "unified-diss",
            _ => "unified-micro12",
        }
    }

    /// The place of the point that the others are compared with.
    pub(super) fn reference(self) -> usize {
        match self {
            Self::Unified | Self::NoBenefit | Self::Designs | Self::Limited | Self::Conflicts => 0,
            Self::Configuration
            | Self::Registers
            | Self::SharedMemory
            | Self::Cache
            | Self::Blocking
            | Self::Needs => self.points().len() - 1,
        }
    }

    /// Whether all inputs are compared with the last one's reference.
    pub(super) fn is_across_inputs(self) -> bool {
        self == Self::Blocking
    }

    /// The points, in the order of the figure's axis.
    pub(super) fn points(self) -> Vec<Point> {
        match self {
            Self::Unified => named_points(&[
                "micro12",
                "micro12-unified-128",
                "micro12-unified-256",
                "micro12-unified-384",
                "micro12-limited",
            ]),
            Self::NoBenefit => {
                let mut points = named_points(&["micro12", "micro12-unified-384"]);
                let unified = "micro12-unified-384";
                points.extend(cache_changed(unified, "aggressive banks", |cache| {
                    cache.mapping = BankMapping::Aggressive;
                }));
                points.extend(cache_changed(unified, "conflicts by cycle", |cache| {
                    cache.conflicts = BankConflicts::CycleByCycle;
                }));
                points
            }
            Self::Designs => {
                let machine = machine("diss-ch7");
                let variants = machine.map_or(&[][..], |machine| machine.storage.as_slice());
                let variants = variants.iter().map(|variant| variant.name.as_str());
                named_points(&std::iter::once("diss-ch7").chain(variants).collect::<Vec<_>>())
            }
            Self::Limited => named_points(&["diss-ch7-limited-48-16", "diss-ch7-limited-16-48"]),
            Self::Registers => registers(),
            Self::SharedMemory => {
                let at =
                    |threads| areas(&format!("{threads} threads"), [UNBOUNDED_KB; 2], 64, threads);
                THREADS.into_iter().filter_map(at).map(|point| limited(point, 64)).collect()
            }
            Self::Cache => {
                let at = |(kb, threads): (u32, u32)| {
                    areas(&format!("{kb} KB, {threads} threads"), [UNBOUNDED_KB; 2], kb, threads)
                };
                let sizes = [32, 64, 128, 256, 512];
                let all = THREADS.into_iter().flat_map(|threads| sizes.map(|kb| (kb, threads)));
                all.filter_map(at).collect()
            }
            Self::Blocking => {
                let at = |threads: u32| {
                    let name = format!("{threads} threads");
                    let mut point = areas(&name, [UNBOUNDED_KB; 2], 64, threads)?;
                    point.design.sm.max_warps = HALF_FULL_WARPS;
                    Some(point)
                };
                (1..=32).map(|warps| 32 * warps).filter_map(at).collect()
            }
            Self::Conflicts => conflicts(),
            Self::Configuration => {
                let point = |registers: u16| {
                    let design = name::resolve("diss-ch7-unified-384").ok()?;
                    let name = format!("{registers} registers");
                    Some(limited(Point { name, design, registers: None }, registers))
                };
                REGISTERS.into_iter().filter_map(point).collect()
            }
            Self::Needs => needs(),
        }
    }
}

fn own(name: &&str) -> String {
    (*name).to_owned()
}

/// Designs by their names. Fixed areas are divided as well, so that it is said what is used.
fn named_points(names: &[&str]) -> Vec<Point> {
    let point = |name: &&str| {
        let mut design = name::resolve(name).ok()?;
        let areas = Areas {
            registers: design.sm.register_file_bytes,
            shared: design.sm.shared_memory_bytes,
            cache: design.data_cache?.cache_bytes,
        };
        design.storage.get_or_insert_with(|| in_areas(areas, None));
        Some(Point { name: own(name), design, registers: None })
    };
    names.iter().filter_map(point).collect()
}

/// Unified storage of 384 KB without and with a hierarchy of registers, in different banks: first
/// banks of 4 bytes, as beside registers of their own, with which all others are compared.
fn conflicts() -> Vec<Point> {
    let any = BankConflicts::Instruction { ports: ConflictPorts::Any };
    let banks = [
        ("banks of 4 bytes", BankMapping::Partitioned, BankConflicts::Apart),
        ("banks of 16 bytes", BankMapping::Simple, BankConflicts::Apart),
        ("conflicts by instruction", BankMapping::Simple, any),
        ("conflicts by cycle", BankMapping::Simple, BankConflicts::CycleByCycle),
    ];
    let levels = [("flat", "micro12-unified-384-flat"), ("hierarchy", "micro12-unified-384")];
    let all = levels.into_iter().flat_map(|level| banks.map(|banks| (level, banks)));
    let point = |((level, name), (told, mapping, conflicts))| {
        let mut design = name::resolve(name).ok()?;
        let cache = design.data_cache?;
        design.data_cache = Some(CachedSettings { mapping, conflicts, ..cache });
        design.name = format!("{level}, {told}");
        Some(Point { name: design.name.clone(), design, registers: None })
    };
    all.filter_map(point).collect()
}

/// A design with something else about its cache, which is told.
fn cache_changed(name: &str, told: &str, change: fn(&mut CachedSettings)) -> Option<Point> {
    let mut design = name::resolve(name).ok()?;
    change(design.data_cache.as_mut()?);
    let name = format!("{name}, {told}");
    design.name.clone_from(&name);
    Some(Point { name, design, registers: None })
}

/// The machine of `[MICRO2012]` with areas of so many KB of registers and shared memory, and of
/// cache, and at most so many threads. No technology has banks of such sizes.
fn areas(name: &str, [registers, shared]: [u32; 2], cache: u32, threads: u32) -> Option<Point> {
    let mut design = name::resolve("micro12").ok()?;
    let areas = Areas { registers: registers * 1024, shared: shared * 1024, cache: cache * 1024 };
    name.clone_into(&mut design.name);
    let unused = std::mem::take(&mut design.storage_technologies);
    design.assumed.retain(|assumed| !unused.iter().any(|of| of.assumed.contains(assumed)));
    design.storage = Some(in_areas(areas, Some(threads)));
    Some(Point { name: name.to_owned(), design, registers: None })
}

/// Storage in areas of fixed sizes.
fn in_areas(areas: Areas, most_threads: Option<u32>) -> Storage {
    Storage {
        divisions: vec![Division::Partitioned(areas)],
        threads: ThreadChoice::Most,
        most_threads,
        repartition: Repartition::Application,
        cache_array: CacheArray::Own,
    }
}

fn limited(point: Point, registers: u16) -> Point {
    Point { registers: RegisterLimit::new(registers), ..point }
}

/// Lines of Figure 2: registers for each thread; points of a line: threads.
fn registers() -> Vec<Point> {
    let all =
        REGISTERS.into_iter().flat_map(|registers| THREADS.map(|threads| (registers, threads)));
    let at = |(registers, threads): (u16, u32)| {
        let name = format!("{registers} registers, {threads} threads");
        let point = areas(&name, [UNBOUNDED_KB; 2], 64, threads)?;
        Some(limited(point, registers))
    };
    all.filter_map(at).collect()
}

/// Columns of Table 1: registers for each thread, then sizes of the cache without spills, the one
/// that all are compared with last.
fn needs() -> Vec<Point> {
    let most = 1024;
    let by_registers = REGISTERS.into_iter().filter_map(|registers| {
        let point = areas(&format!("{registers} registers"), [UNBOUNDED_KB; 2], 256, most)?;
        Some(limited(point, registers))
    });
    let by_cache = [0, 64, 256]
        .into_iter()
        .filter_map(|kb| areas(&format!("{kb} KB of cache"), [UNBOUNDED_KB; 2], kb, most));
    by_registers.chain(by_cache).collect()
}
