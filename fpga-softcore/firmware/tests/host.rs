//! The firmware on the host: its lines are those of `strata run --format digest`, and what it
//! cannot run is one clear error.

use embedded_io::{ErrorType, Write};
use strata_core::image::KernelImage;
use strata_core::path::PathStep;
use strata_core::sm::config::SmSettings;
use strata_core::sm::fault::Fault;
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::units::LaneMask;
use strata_design as design;
use strata_firmware::{
    DESIGNS, Design, Error, Scratch, WARPS, WarpRecord, Workload, report, report_of,
};
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale, Source};
use strata_measure::subject;
use strata_measure::{self as measure, Request};
use strata_report::digest;

/// Registers, and instructions, of the largest kernel here.
const REGISTERS: usize = 64;
const INSTRUCTIONS: usize = 512;
type Large<'w> = Scratch<'w, INSTRUCTIONS, { WARPS * REGISTERS }, { WARPS * (REGISTERS + 32) }>;

/// A byte sink that remembers, with room for this many bytes.
struct Sink {
    bytes: Vec<u8>,
    room: usize,
}

/// The sink is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Full;

impl core::fmt::Display for Full {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        to.write_str("full")
    }
}

impl core::error::Error for Full {}

impl embedded_io::Error for Full {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::OutOfMemory
    }
}

impl ErrorType for Sink {
    type Error = Full;
}

impl Write for Sink {
    // As a UART takes them: a few bytes at a time.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Full> {
        let taken = bytes.len().min(self.room).min(3);
        if taken == 0 && !bytes.is_empty() {
            return Err(Full);
        }
        self.room -= taken;
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> Result<(), Full> {
        Ok(())
    }
}

fn source() -> Source {
    Source { launch_index: Some(0), ..Source::of(Scale::Small) }
}

/// What the host prints for the first launch of a workload.
fn host_lines(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/designs");
    let design = |design: &Design| {
        design::resolve(design.name)
            .or_else(|_| design::resolve(&format!("{folder}/{}.toml", design.name)))
            .unwrap_or_else(|error| panic!("{}: {error}", design.name))
    };
    let designs: Vec<_> = DESIGNS.iter().map(design).collect();
    let workload = subject::workload(name, &source(), &Silent).expect("the workload loads");
    let reports = |mode| {
        let request = Request::new(&source()).expect("the options are valid").in_mode(mode);
        let reports = measure::reports(&workload, &designs, &request, &Silent);
        digest::to_text(&reports.expect("the workload runs"))
    };
    reports(Mode::Count) + &reports(Mode::Cycle)
}

/// Hands the first launch of a workload, as the firmware takes it, to `use_it`.
fn with_workload(name: &str, mut use_it: impl FnMut(Workload<'_>)) {
    let workload = subject::workload(name, &source(), &Silent).expect("the workload loads");
    let request = Request::new(&source()).expect("the options are valid").in_mode(Mode::Cycle);
    let prepared =
        subject::prepare(&workload, &request.size, &request.overrides).expect("prepared");
    let finals = prepared.execute(&request.options, |launch| {
        let outcome = &launch.outcome;
        let paths: Vec<&[PathStep]> = outcome.paths.iter().map(|(path, _)| path).collect();
        let mut accesses = Vec::new();
        let mut warps = Vec::new();
        for (place, warp) in outcome.paths.warps().iter().enumerate() {
            warps.push(WarpRecord { path: warp.path as u16, accesses: place as u16 });
            accesses.push(outcome.accesses.of_warp(place));
        }
        use_it(Workload {
            name: "launch",
            image: launch.program.image.borrow(),
            threads: launch.step.block.iter().product(),
            shared_bytes: launch.program.shared_bytes as u32 + launch.step.dynamic_shared,
            paths: &paths,
            accesses: &accesses,
            warps: &warps,
        });
    });
    finals.expect("the workload runs");
}

fn firmware_lines(workload: &Workload<'_>) -> Result<String, Error<Full>> {
    let mut sink = Sink { bytes: Vec::new(), room: usize::MAX };
    report(workload, &mut Large::new(), &mut sink)?;
    Ok(String::from_utf8(sink.bytes).expect("the firmware writes text"))
}

#[test]
fn the_firmware_prints_what_the_host_prints() {
    // Between them: barriers, atomics, divergence, partial warps, special functions, more warps
    // than are resident.
    for name in ["histogram", "scalarprod", "needle", "mandelbrot"] {
        let expected = host_lines(name);
        assert_eq!(expected.lines().count(), 2 * DESIGNS.len());
        let mut launches = 0;
        with_workload(name, |workload| {
            launches += 1;
            let workload = Workload { name, ..workload };
            assert_eq!(firmware_lines(&workload).expect("the firmware runs it"), expected);
        });
        assert_eq!(launches, 1);
    }
}

#[test]
fn every_design_has_counters_of_its_own() {
    let lines = host_lines("histogram");
    let mut digests: Vec<&str> = lines.lines().filter_map(|line| line.split(' ').nth(3)).collect();
    digests.sort_unstable();
    digests.dedup();
    // In count mode a second issue slot changes nothing; all else differs.
    assert_eq!(digests.len(), 2 * DESIGNS.len() - 1, "{lines}");
}

#[test]
fn a_workload_that_contradicts_itself_is_refused() {
    with_workload("vectoradd", |good| {
        let refused =
            |workload: &Workload<'_>| firmware_lines(workload).expect_err("contradictory");
        assert!(matches!(refused(&Workload { threads: 0, ..good }), Error::Workload(_)));
        let warps = &good.warps[1..];
        let error = refused(&Workload { warps, ..good }).to_string();
        assert_eq!(error, "the warps do not make up whole CTAs");
        for (paths, accesses) in [(&[][..], good.accesses), (good.paths, &[][..])] {
            let error = refused(&Workload { paths, accesses, ..good }).to_string();
            assert_eq!(error, "warp 0 names a path or accesses there are not");
        }
        let image = KernelImage { registers: 1, ..good.image };
        let error = refused(&Workload { image, ..good }).to_string();
        assert!(error.contains("beyond the last"), "{error}");
        let outside = [PathStep { pc: 10_000, length: 1, mask: LaneMask::FULL }];
        let paths = vec![&outside[..]; good.paths.len()];
        assert!(matches!(refused(&Workload { paths: &paths, ..good }), Error::Count(_)));
        let none = vec![&[][..]; good.accesses.len()];
        let error = refused(&Workload { accesses: &none, ..good });
        assert!(matches!(error, Error::Time(Fault::AccessMissing { .. })), "{error}");
    });
}

#[test]
fn a_design_with_collectors_is_refused_with_what_it_would_need() {
    let [isca11, ..] = DESIGNS;
    let collecting = |max_warps: u8, collectors: CollectorSettings| {
        let operand_delivery = OperandDelivery::Collectors(collectors);
        let settings = SmSettings { operand_delivery, max_warps, ..isca11.settings };
        Design { name: "warrf-gtx480", settings }
    };
    let pool = CollectorSettings { write_pool_entries: 60, ..CollectorSettings::WARRF_SRAM };
    with_workload("histogram", |workload| {
        for (max_warps, collectors) in [(48, CollectorSettings::WARRF_SRAM), (32, pool)] {
            let designs = [isca11, collecting(max_warps, collectors)];
            let mut sink = Sink { bytes: Vec::new(), room: usize::MAX };
            let error = report_of(&designs, &workload, &mut Large::new(), &mut sink)
                .expect_err("there is no memory for collectors");
            let Error::Collectors { design: "warrf-gtx480", bytes } = error else {
                panic!("{error}");
            };
            let text = error.to_string();
            println!("{text}");
            assert!(text.contains("`warrf-gtx480` has operand collectors"), "{text}");
            assert!(text.contains(&format!(" {bytes} bytes")) && text.contains("leave"), "{text}");
            assert!(bytes > 64 * 1024, "it would fit: {bytes} bytes");
            assert_eq!(sink.bytes, b"", "nothing is half written");
        }
    });
}

#[test]
fn too_little_memory_and_a_full_sink_are_errors() {
    with_workload("vectoradd", |workload| {
        let mut sink = Sink { bytes: Vec::new(), room: usize::MAX };
        let error = report(&workload, &mut Scratch::<512, 2048, 10>::new(), &mut sink);
        let error = error.expect_err("no room for when registers are ready").to_string();
        assert!(error.starts_with("working memory `ready` has 10 elements"), "{error}");
        let mut sink = Sink { bytes: Vec::new(), room: 40 };
        let error = report(&workload, &mut Large::new(), &mut sink).expect_err("the sink is full");
        assert!(matches!(error, Error::Sink(_)), "{error}");
        assert_eq!(sink.bytes.len(), 40);
    });
}
