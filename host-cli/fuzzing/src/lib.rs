//! What the fuzz targets of files and the tests share: invariants to check, and a mutator.
//!
//! Not part of the interface: it may change at any time.

#![forbid(unsafe_code)]

mod mutate;
pub mod traces;

use std::borrow::Cow;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::LazyLock;

use strata_core::sm::partition::Division;
use strata_core::storage_energy::{StorageConfiguration, StorageCounts};
use strata_ptx::module::Module;

use strata_config::name;
use strata_config::quantity::Frequency;
use strata_design::cost::cost;
use strata_design::import::{self, ImportError, Wanted};
use strata_design::memory::{self, MainMemory};
use strata_design::{self as design, Design, storage_technology};
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::{Request, reports};
use strata_workload::array_file::{self, ArrayFile, Format};
use strata_workload::buffer::BufferPlan;
use strata_workload::element::ElementType;
use strata_workload::mistakes::MOST_SHOWN;
use strata_workload::simulate::Options;
use strata_workload::{MAX_BUFFER_BYTES, Overrides, Prepared, Toolchain, Workload};

pub use mutate::{mutate, mutate_within};

/// A kernel with a bit of everything that a design has a number for.
const TINY_PTX: &str = include_str!("tiny.ptx");
const TINY_LAUNCH: &str = include_str!("tiny.toml");

/// Workloads whose kernels a made-up launch file may launch.
const BUILT_IN: [&str; 4] = ["vectoradd", "reduction", "bfs", "needle"];

/// A plan of at most this many bytes is executed, within this many warp instructions.
const MOST_EXECUTED_BYTES: u64 = 1 << 20;
const MOST_INSTRUCTIONS: u64 = 1 << 14;

/// Up to here a host reference takes little time whatever parameters it is given.
const LARGEST_PARAMETER: i64 = 128;

struct Base {
    ptx: Cow<'static, str>,
    module: Module,
}

static BASES: LazyLock<Vec<Base>> = LazyLock::new(|| {
    let built_in = BUILT_IN.iter().map(|name| {
        let workload = Workload::builtin(name, Toolchain::Nvcc);
        workload.unwrap_or_else(|error| panic!("{name}: {error}")).ptx
    });
    let texts = built_in.chain([Cow::Borrowed(TINY_PTX)]);
    texts.map(|ptx| Base { module: strata_ptx::parse(&ptx).module, ptx }).collect()
});

/// The kernels that the text names, or else the last.
fn base(text: &str) -> &'static Base {
    let named = |base: &&Base| base.module.kernels().any(|(_, kernel)| text.contains(&kernel.name));
    BASES.iter().find(named).unwrap_or(&BASES[BUILT_IN.len()])
}

/// Reads a launch file, makes the plan of each of its sizes and executes the small ones.
///
/// # Panics
///
/// When something does not hold: that is a bug.
pub fn launch(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let base = base(text);
    let ptx = ("fuzz.ptx".to_owned(), base.ptx.clone());
    let launch = ("fuzz.toml".to_owned(), Cow::Owned(text.to_owned()));
    let workload = match Workload::from_texts("fuzz".to_owned(), ptx, launch) {
        Ok(workload) => workload,
        Err(error) => return explained(&error.to_string(), &error.help()),
    };
    assert_eq!(name::line(workload.description()), Ok(()));
    let sizes: Vec<String> = workload.sizes().map(|(size, _)| size.to_owned()).collect();
    for size in sizes.iter().take(2) {
        let (plan, _) = match workload.plan(size, &Overrides::new(), &base.module) {
            Ok(planned) => planned,
            Err(error) => {
                explained(&error.to_string(), &error.help());
                continue;
            }
        };
        let bytes: u64 = plan.buffers.iter().map(BufferPlan::bytes).sum();
        assert!(bytes <= MAX_BUFFER_BYTES, "{bytes} bytes");
        for buffer in &plan.buffers {
            assert_eq!(name::word(&buffer.name), Ok(()));
        }
        if bytes <= MOST_EXECUTED_BYTES {
            execute(&workload, size);
        }
    }
}

fn execute(workload: &Workload, size: &str) {
    let prepared = match Prepared::new(workload, size, &Overrides::new()) {
        Ok(prepared) => prepared,
        Err(error) => return explained(&error.to_string(), &error.help()),
    };
    let options = Options { max_instructions: MOST_INSTRUCTIONS, ..Options::default() };
    match prepared.execute(&options, |_| {}) {
        Ok(finals) => {
            let small = |(_, value): (&str, i64)| value <= LARGEST_PARAMETER;
            if prepared.plan.parameters.iter().all(small) {
                let _ = prepared.compare(&finals);
            }
        }
        Err(error) => explained(&error.to_string(), &error.help()),
    }
}

/// A message and its remedy, which a terminal shows; of several mistakes the message has both.
fn explained(message: &str, help: &str) {
    let has_help = !help.is_empty() || message.contains("\n  hint: ");
    assert!(!message.is_empty() && has_help, "{message}: {help}");
    assert!(message.len() < MOST_SHOWN << 16, "{message}");
}

/// Reads an array file; the first byte chooses format and type. What is read is written and
/// read again as it was.
///
/// # Panics
///
/// When something does not hold: that is a bug.
pub fn array(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let (formats, elements) = (Format::ALL.len(), ElementType::ALL.len());
    let format = Format::ALL[usize::from(choice) % formats];
    let element = ElementType::ALL[usize::from(choice) / formats % elements];
    let path = PathBuf::from(format!("fuzz.{}", format.name()));
    let file = ArrayFile { path, format, member: None, column: None, header: false };
    let read = |bytes: &[u8]| file.read_from(Cursor::new(bytes), element, MOST_EXECUTED_BYTES);
    let array = match read(bytes) {
        Ok(array) => array,
        Err(problem) => return explained(&problem.to_string(), &problem.help()),
    };
    assert!(array.bytes.len() as u64 <= MOST_EXECUTED_BYTES);
    let sides: u64 = array.shape.iter().product();
    assert_eq!(sides * element.bytes(), array.bytes.len() as u64);
    // Nothing is written as `.npz`; text keeps no NaN's bits, and no shape of nothing.
    if matches!(format, Format::Npy | Format::Raw) {
        let mut written = Vec::new();
        array_file::write(&mut written, format, element, &array)
            .unwrap_or_else(|error| panic!("{error}"));
        let again = read(&written).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(again.bytes, array.bytes);
    }
}

/// Reads a design file; a design that is accepted has a cost, and a kernel runs under it.
///
/// # Panics
///
/// When something does not hold: that is a bug.
pub fn design(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match design::file::parse("fuzz.toml", text) {
        Ok(design) => run(&design),
        Err(error) => assert!(error.to_string().starts_with("fuzz.toml") || error.hint().is_some()),
    }
}

/// Runs a tiny kernel under a design, in both modes.
fn run(design: &Design) {
    assert_eq!(name::word(&design.name), Ok(()));
    assert!(!design.axes().is_empty());
    let _ = cost(design);
    let workload = Workload::from_texts(
        "tiny".to_owned(),
        ("tiny.ptx".to_owned(), Cow::Borrowed(TINY_PTX)),
        ("tiny.toml".to_owned(), Cow::Borrowed(TINY_LAUNCH)),
    );
    let workload = workload.unwrap_or_else(|error| panic!("{error}"));
    for mode in [Mode::Count, Mode::Cycle] {
        let request = Request::new(&Source::of(Scale::Small)).map(|all| all.in_mode(mode));
        let designs = [design.clone()];
        let printer = Silent;
        let made = request.and_then(|request| reports(&workload, &designs, &request, &printer));
        no_defect(made);
    }
}

fn no_defect<T>(made: Result<T, Failure>) {
    if let Err(failure) = made {
        assert_eq!(failure.status(), ExitStatus::InputError, "{}", failure.message());
    }
}

/// Reads a technology file; one that is accepted has values that can be used, and a design of it
/// runs.
///
/// # Panics
///
/// When something does not hold: that is a bug.
pub fn technology(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    storage(text);
    let technology = match memory::file::parse("fuzz.toml", text) {
        Ok(technology) => technology,
        Err(error) => {
            assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
            return;
        }
    };
    for kind in technology.kinds() {
        let Some(memory) = MainMemory::new(&technology, kind) else {
            panic!("a kind that it says it has: {kind:?}");
        };
        assert!(memory.told().iter().all(|told| name::line(told).is_ok()));
        let _ = (memory.area_um2(128 << 10), memory.cycles(Frequency(700_000)));
        let _ = technology.write_pool_energy();
        run_with(text, kind.name());
    }
}

/// Reads a technology of all storage; one that is accepted prices runs, or says why not.
fn storage(text: &str) {
    let technology = match storage_technology::parse("fuzz.toml", text) {
        Ok(technology) => technology,
        Err(error) => {
            assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
            return;
        }
    };
    for (key, value, source) in technology.values() {
        assert!([&*key, &*value, source].iter().all(|text| name::line(text).is_ok()));
    }
    for kilobytes in [0, 384, u32::MAX] {
        let unified = StorageConfiguration::of(Division::micro12_unified(kilobytes));
        for count in [0, 1_000_000, u64::MAX] {
            let counts = StorageCounts {
                register_reads: count,
                cache_fills: count,
                dram_bytes: count,
                cycles: count,
                ..StorageCounts::default()
            };
            match technology.energy(&unified, &counts) {
                Ok(energy) => {
                    let _ = (energy.total(), energy.power_nw(), energy.performance_per_watt_ppm());
                }
                Err(none) => assert!(name::line(&none.to_string()).is_ok(), "{none}"),
            }
        }
    }
}

/// Runs a design whose main register file is of a technology's memory, which it finds beside it.
fn run_with(technology: &str, memory: &str) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let written = std::fs::write(folder.path().join("t.toml"), technology);
    written.unwrap_or_else(|error| panic!("{error}"));
    let file = folder.path().join("fuzz.toml").display().to_string();
    let text = format!("base = \"warrf\"\ntechnology = \"t.toml\"\nmemory = \"{memory}\"\n");
    let cycles = "[collectors]\nread_cycles = 1\nwrite_cycles = 3\n";
    for text in [text.clone(), text + cycles] {
        if let Ok(design) = design::file::parse(&file, &text) {
            run(&design);
        }
    }
}

/// Reads what NVSim or CACTI printed; a technology that is made of it can be read.
///
/// # Panics
///
/// When something does not hold: that is a bug.
pub fn import(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let widths =
        [(None, Some(512)), (Some(1), None), (Some(16), Some(1)), (Some(u32::MAX), Some(8))];
    for (banks, bits) in widths {
        let wanted = Wanted {
            name: "imported".to_owned(),
            file: "out.txt".to_owned(),
            tool: None,
            kind: None,
            banks,
            bits,
        };
        match import::import(text, &wanted) {
            // A value beyond what a technology may have is refused when the file is read.
            Ok(toml) => drop(memory::file::parse("imported.toml", &toml)),
            Err(error @ ImportError::Value { .. }) => {
                assert!(error.to_string().starts_with("line "), "{error}");
            }
            Err(error) => explained(&error.to_string(), &error.help()),
        }
    }
}

#[cfg(test)]
mod tests;
