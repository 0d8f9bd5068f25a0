//! Accel-Sim traces: committed fixtures of every version, and everything that can be wrong.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata::trace::{Entry, Keep, Problem, TraceError, TracedLaunch, entries};
use strata_core::event::{Counters, Event};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn keep() -> Keep {
    Keep { accesses: true, ..Keep::default() }
}

fn launches() -> Vec<TracedLaunch> {
    let entries = entries(&fixtures().join("kernelslist.g")).unwrap();
    entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Launch(file) => Some(file),
            Entry::Copy { .. } => None,
        })
        .map(|file| TracedLaunch::read(&file, &keep()).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

fn flat(launch: &TracedLaunch) -> Counters {
    let config = strata_core::organisation::Organisation::FLAT;
    strata::evaluate::count_launch(&config, false, (&launch.code.image).into(), &launch.paths)
        .unwrap()
}

fn executions(launch: &TracedLaunch) -> u64 {
    let length = |path: &[strata_core::path::PathStep]| -> u64 {
        path.iter().map(|step| u64::from(step.length)).sum()
    };
    launch.paths.iter().map(|(path, warps)| length(path) * warps).sum()
}

#[test]
fn the_list_gives_copies_and_launches_in_order() {
    let entries = entries(&fixtures().join("kernelslist.g")).unwrap();
    assert_eq!(entries.len(), 6);
    assert_eq!(entries[0], Entry::Copy { address: 0x7f10_0000_0000, bytes: 65536 });
    assert_eq!(entries[5], Entry::Launch(fixtures().join("kernel-4.traceg.xz")));
}

#[test]
fn version_3_with_divergence_and_every_address_mode() {
    let launch = &launches()[0];
    let header = &launch.header;
    assert_eq!((header.name.as_str(), header.tracer_version), ("v3_divergent", 3));
    assert_eq!((header.grid, header.block, header.warps()), ([2, 1, 1], [48, 1, 1], 2));
    assert_eq!((header.shared_bytes, header.registers, header.binary_version), (64, 10, 75));
    assert_eq!((header.shared_base, header.local_base), (0x7f00_0000_0000, 0x7f00_0100_0000));
    assert_eq!((launch.instructions, executions(launch)), (17, 17));
    // Blocks and warps come in any order; the dictionary is sorted.
    let warps: Vec<_> = launch.paths.warps().iter().map(|warp| (warp.cta, warp.warp)).collect();
    assert_eq!(warps, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    let accesses = launch.accesses.as_ref().unwrap();
    assert!(accesses.of_warp(0).is_empty());
    // 128 bytes and one word beyond the sector below; one lane; three sectors; one address.
    assert_eq!(accesses.of_warp(2), [5 * 32, 32, 3 * 32, 32]);
    assert_eq!(accesses.of_warp(3), [64, 64]);
    // Reads: IMAD 1, LDG 2, LDS 1 (once with no lane, which reads nothing), STG 3, RED 3.
    let counters = flat(launch);
    let reads = counters.get(Event::MrfReadPrivate) + counters.get(Event::MrfReadShared);
    assert_eq!(reads, (1 + 2 + 3) + (1 + 2 + 1 + 3 + 3));
    let writes = counters.get(Event::MrfWritePrivate) + counters.get(Event::MrfWriteShared);
    assert_eq!(writes, (1 + 2 + 1) + (1 + 2 + 1 + 1) + 1);
}

#[test]
fn version_4_with_source_lines_plain_and_compressed() {
    let launches = launches();
    for launch in [&launches[1], &launches[3]] {
        assert_eq!(launch.header.tracer_version, 4);
        assert!(launch.header.line_info);
        assert_eq!(launch.instructions, 4);
        let wide: Vec<_> = launch
            .code
            .image
            .instructions
            .iter()
            .map(|record| (record.sources, record.destinations))
            .collect();
        assert_eq!(wide, [(0, 2), (1, 4), (4, 0), (0, 0)]);
    }
}

#[test]
fn version_5_with_immediates() {
    let launch = &launches()[2];
    assert_eq!(launch.header.tracer_version, 5);
    assert_eq!((launch.instructions, launch.paths.len()), (10, 2));
    assert_eq!(launch.accesses.as_ref().unwrap().of_warp(0), [32, 128]);
    assert_eq!(launch.accesses.as_ref().unwrap().of_warp(1), [32]);
    assert!(launch.code.assumptions.is_empty(), "{:?}", launch.code.assumptions);
}

#[test]
fn one_cta_can_be_kept() {
    let keep = Keep { cta: Some(1), ..keep() };
    let launch = TracedLaunch::read(&fixtures().join("kernel-1.traceg"), &keep).unwrap();
    assert_eq!(executions(&launch), 15);
    assert_eq!(launch.code.instructions.len(), 8);
    assert_eq!(launch.accesses.unwrap().of_warp(0), [160, 32, 96, 32]);
    let keep = Keep { cta: Some(2), ..keep };
    let error = TracedLaunch::read(&fixtures().join("kernel-1.traceg"), &keep).unwrap_err();
    assert!(error.to_string().ends_with("has no CTA 2; there are 2"), "{error}");
}

/// The error after one replacement in a fixture.
fn error(file: &str, from: &str, to: &str) -> TraceError {
    let text = std::fs::read_to_string(fixtures().join(file)).unwrap();
    assert!(text.contains(from), "`{from}` is not in the fixture");
    let text = text.replacen(from, to, 1);
    TracedLaunch::parse(text.into_bytes(), "t.traceg", &keep()).expect_err(to)
}

#[test]
fn every_wrong_place_is_named_with_line_and_remedy() {
    let v5 = "kernel-3-ctx_0x55e3a796e730.traceg";
    let cases: &[(&str, &str, &str, u64, &str)] = &[
        (v5, "version = 5\n", "version = 6\n", 15, "tracer version 6 is not read"),
        (v5, "version = 5\n", "version = 2\n", 15, "tracer version 2 is not read"),
        (v5, "version = 5\n", "version = 4\n", 23, "expected the end of the line, found `-107"),
        (v5, "lineinfo = 0\n", "lineinfo = 1\n", 23, "expected a number of results from 0 to 8"),
        (v5, "-grid dim = (1,2,1)\n", "", 14, "the header has no line `-grid dim = ...`"),
        (v5, "(1,2,1)", "(1,2)", 3, "`-grid dim = (1,2)` is impossible"),
        (v5, "(8,2,2)", "(0,2,2)", 4, "`-block dim = (0,2,2)` is impossible"),
        (v5, "(8,2,2)", "(8,64,64)", 4, "with at most 1024 threads"),
        (v5, "nregs = 8", "nregs = 256", 6, "expected 1 to 255 registers"),
        (v5, "-shmem = 0", "-kernel name = x", 5, "the line `-kernel name = ...` twice"),
        (v5, "-kernel name", "kernel name", 1, "expected a header line `-key = value`"),
        (v5, "block = 0,1,0", "block = 0,2,0", 19, "block index y 2 is outside the range 0 to 1"),
        (v5, "block = 0,1,0", "block = 0,1", 19, "expected `thread block = x,y,z`"),
        (v5, "block = 0,1,0", "block = 0,0,0", 33, "thread block 0 appears twice"),
        (v5, "warp = 0", "warp = 1", 21, "warp 1 is outside the range 0 to 0"),
        (v5, "warp = 0", "warp 0", 21, "expected `warp = n` or `#END_TB`"),
        (v5, "insts = 5", "insts = five", 22, "expected `insts = n`, found `insts = five`"),
        (v5, "insts = 5", "insts = 6", 28, "expected as many instructions as `insts` says"),
        (v5, "insts = 5", "insts = 4", 27, "expected `warp = n` or `#END_TB`, found `0040"),
        (v5, "insts = 5", "insts = 99999999999", 22, "more than 4294967296 warp instructions"),
        (v5, "0000 ffffffff", "00g0 ffffffff", 23, "a hexadecimal program counter, found `00g0`"),
        (v5, "0000 ffffffff", "0000 fffffffff", 23, "a mask of 8 hexadecimal digits"),
        (v5, "1 R0 MOV 0 0", "2 R0 MOV 0 0", 23, "a register R0 to R255, found `MOV`"),
        (v5, "1 R0 MOV 0 0", "1 R256 MOV 0 0", 23, "a register R0 to R255, found `R256`"),
        (v5, "1 R0 MOV 0 0", "1 R0 mov 0 0", 23, "an opcode such as IMAD.MOV.U32"),
        (v5, "4 1 0x7f1000000000 0 0", "4 3 0x7f1000000000 0 0", 24, "an address mode: 0 (list)"),
        (v5, "4 1 0x7f1000000000 0 0", "4 2 0x7f1000000000 0 0", 24, "one delta for each"),
        (v5, "4 1 0x7f1000000000 0 0", "4 0 0x7f1000000000 0 0", 24, "one hexadecimal address"),
        (v5, "0010 ffffffff", "0010 fffffffd", 24, "needs neighbouring lanes"),
        (v5, "0x3f800000", "", 25, "expected an immediate, found the end of the line"),
        (v5, "2 R4 R0 4 1", "2 R4 R1 4 1", 38, "the instruction at 0010 was"),
        (v5, "#END_TB", "#END_TB\njunk", 30, "expected `#BEGIN_TB` or the end of the file"),
    ];
    let mut wrong = String::new();
    for &(file, from, to, line, message) in cases {
        let error = error(file, from, to);
        let text = error.to_string();
        let begins = text.starts_with(&format!("t.traceg:{line}: "));
        if !begins || error.line != line || !text.contains(message) || error.help().is_empty() {
            let _ = writeln!(wrong, "`{from}` -> `{to}`: {text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for file in ["kernel-1.traceg", "kernel-2.traceg", "kernel-3-ctx_0x55e3a796e730.traceg"] {
        let text = std::fs::read(fixtures().join(file)).unwrap();
        // Behind the last `#END_TB` only blanks are left.
        let whole = text.trim_ascii_end().len();
        for end in 0..whole {
            let result = TracedLaunch::parse(text[..end].to_vec(), file, &keep());
            assert!(result.is_err(), "{file} was accepted with its first {end} bytes");
        }
        assert!(TracedLaunch::parse(text[..whole].to_vec(), file, &keep()).is_ok());
    }
}

#[test]
fn a_compressed_file_cut_or_changed_anywhere_is_refused() {
    let bytes = std::fs::read(fixtures().join("kernel-4.traceg.xz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.traceg.xz");
    for end in 0..bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        assert!(TracedLaunch::read(&path, &keep()).is_err(), "accepted {end} bytes");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        std::fs::write(&path, &changed).unwrap();
        assert!(TracedLaunch::read(&path, &keep()).is_err(), "accepted a change at {place}");
    }
}

#[test]
fn names_that_lie_about_the_contents_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        TracedLaunch::read(&path, &keep()).unwrap_err().to_string()
    };
    let plain = std::fs::read(fixtures().join("kernel-2.traceg")).unwrap();
    assert!(refuse("a.traceg.xz", &plain).contains("the contents are not"));
    assert!(refuse("a.traceg", b"\x1f\x8b\x08\0\0\0\0\0").contains("gzip"));
    assert!(refuse("b.traceg", b"\x7fELF\x02\x01").contains("expected a header line"));
    // Compressed, whatever its name: read.
    let packed = std::fs::read(fixtures().join("kernel-4.traceg.xz")).unwrap();
    let path = folder.path().join("c.traceg");
    std::fs::write(&path, packed).unwrap();
    assert_eq!(TracedLaunch::read(&path, &keep()).unwrap().instructions, 4);
}

#[test]
fn wrong_lists_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernelslist.g");
    let list = |text: &str| {
        std::fs::write(&path, text).unwrap();
        entries(&path).map_err(|error| (error.line, error.problem.to_string()))
    };
    let copy = "expected `MemcpyHtoD,0x<address>,<bytes>`, found `MemcpyHtoD,x,1`";
    assert_eq!(list("k.traceg\nMemcpyHtoD,x,1\n").unwrap_err(), (2, copy.to_owned()));
    assert_eq!(list("").unwrap_err().0, 0);
    assert_eq!(list("MemcpyHtoD,0x0,1\n").unwrap_err().0, 0);
    assert!(list("k.trace\n").unwrap_err().1.contains("post-processed"));
    assert_eq!(list("\r\n k.traceg \r\n").unwrap().len(), 1);
    let missing = entries(&folder.path().join("none.g")).unwrap_err();
    assert!(matches!(missing.problem, Problem::Unreadable(_)), "{missing}");
}

/// Random changes of the fixtures: an error or a launch that counts, never a panic.
#[test]
fn random_changes_never_panic() {
    let files = ["kernel-1.traceg", "kernel-2.traceg", "kernel-3-ctx_0x55e3a796e730.traceg"];
    let texts = files.map(|file| std::fs::read(fixtures().join(file)).unwrap());
    let mut accepted = 0;
    for seed in 1..=6000_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % limit
        };
        let mut text = texts[below(texts.len())].clone();
        for _ in 0..=below(4) {
            let at = below(text.len());
            match below(5) {
                0 => text[at] = below(256) as u8,
                1 => text[at] = b"0123456789abcdefRx,-=# \n"[below(24)],
                2 => drop(text.remove(at)),
                3 => text.insert(at, b"0123456789abcdefRx,-=# \n"[below(24)]),
                _ => {
                    let end = (at + below(200)).min(text.len());
                    let piece = text[at..end].to_vec();
                    let to = below(text.len());
                    text.splice(to..to, piece);
                }
            }
        }
        let result = std::panic::catch_unwind(|| {
            TracedLaunch::parse(text, "t", &keep()).is_ok_and(|launch| {
                flat(&launch);
                true
            })
        });
        accepted += u32::from(result.unwrap_or_else(|_| panic!("seed {seed} panics")));
    }
    assert!((100..5000).contains(&accepted), "{accepted} of 6000 accepted: no useful mixture");
}

fn strata(arguments: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_strata"))
        .current_dir(fixtures())
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn run_takes_a_list_like_a_workload() {
    let (status, text, _) =
        strata(&["run", "kernelslist.g", "--format", "json", "--design", "isca11-rfc6"]);
    assert_eq!(status, 0);
    let reports: serde_json::Value = serde_json::from_str(&text).unwrap();
    let report = &reports[0];
    assert_eq!(report["workload"], "kernelslist.g");
    assert_eq!(report["check"], "replayed");
    assert_eq!(report["counters"]["warp_instructions"], 17 + 4 + 10 + 4);
    let launches = report["launches"].as_array().unwrap();
    let kernels: Vec<_> = launches.iter().map(|l| l["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, ["v3_divergent", "v4_with_lines", "v5_immediates", "v4_with_lines"]);
    assert_eq!(launches[0]["grid"], serde_json::json!([2, 1, 1]));
    assert_eq!(launches[0]["block"], serde_json::json!([48, 1, 1]));
    let one = ["run", "kernelslist.g", "--launch-index", "2", "--format", "json"];
    let (_, text, _) = strata(&one);
    let reports: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(reports[0]["counters"]["warp_instructions"], 10);
}

#[test]
fn run_refuses_what_a_trace_does_not_have() {
    for (arguments, message) in [
        (&["kernelslist.g", "--launch-index", "4"][..], "has no launch 4; there are 4"),
        (&["kernelslist.g", "--kernel", "x"], "launches no kernel `x`; it launches v3_divergent"),
        (&["kernelslist.g", "--cta", "7"], "has no CTA 7; there are 2"),
        (&["kernelslist.g", "--set", "n=1"], "is a trace, which has its launches in it"),
        (&["kernelslist.g", "--max-instructions", "20"], "more than 3 warp instructions"),
        (&["none.g"], "none.g: cannot be read"),
        (&["none.traceg"], "none.traceg: cannot be read"),
    ] {
        let (status, _, error) = strata(&[&["run"], arguments].concat());
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(error.contains("hint: "), "{arguments:?}: {error}");
    }
}
