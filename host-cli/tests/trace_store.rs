//! Recordings: what goes in comes out, and any cut or change is refused.

use std::path::{Path, PathBuf};

use strata_files::output::Output;
use strata_files::partial_folder::PartialFolder;
use strata_trace::store::{self, Recording, StoreProblem, record_trace};
use strata_trace::{EXPORT, Entry, Keep, Reach, TracedLaunch, entries, export};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn launches(list: &Path) -> Vec<TracedLaunch> {
    let keep = Keep { accesses: true, lines: true, ..Keep::default() };
    entries(list, Reach::Folder)
        .unwrap()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Launch(file) => Some(TracedLaunch::read(&file, &keep).unwrap()),
            Entry::Copy { .. } => None,
        })
        .collect()
}

/// A recording to be written.
fn output(file: &Path) -> Output {
    Output::new(file, store::KIND, false, &[]).unwrap()
}

fn recorded(folder: &Path) -> PathBuf {
    let file = folder.join("fixtures.strata");
    let list = fixtures().join("kernelslist.g");
    let counts = record_trace(&list, Reach::Folder, &output(&file), 1000).unwrap();
    assert_eq!((counts.launches, counts.instructions), (4, 35));
    file
}

#[test]
fn a_recording_holds_what_the_trace_held() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::open(&recorded(folder.path())).unwrap();
    for launch in launches(&fixtures().join("kernelslist.g")) {
        let stored = recording.next_launch().unwrap().unwrap();
        assert_eq!(stored.header, launch.header);
        assert_eq!(stored.instructions, launch.code.instructions);
        assert_eq!(stored.image.instructions, launch.code.image.instructions);
        assert_eq!(stored.image.slots, launch.code.image.slots);
        assert_eq!(stored.image.registers, launch.code.image.registers);
        assert_eq!(stored.assumptions, launch.code.assumptions);
        assert_eq!(stored.paths, launch.paths);
        assert_eq!(stored.warp_instructions(), launch.instructions);
        let accesses = recording.accesses(&stored, None, true).unwrap();
        let expected = launch.accesses.unwrap();
        for place in 0..stored.paths.warps().len() {
            assert_eq!(accesses.of_warp(place), expected.of_warp(place), "warp {place}");
        }
    }
    assert!(recording.next_launch().unwrap().is_none());
    assert!(recording.next_launch().unwrap().is_none());
}

#[test]
fn an_export_reads_like_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::open(&recorded(folder.path())).unwrap();
    let target = folder.path().join("out/deep");
    let partial = PartialFolder::create(&target, EXPORT, &[]).unwrap();
    assert_eq!(export(&mut recording, &partial, false).unwrap(), 4);
    partial.finish().unwrap();
    let again = launches(&target.join("kernelslist.g"));
    let original = launches(&fixtures().join("kernelslist.g"));
    assert_eq!(again.len(), original.len());
    for (again, original) in again.iter().zip(&original) {
        assert_eq!(again.header.tracer_version, 5);
        assert_eq!(again.header.name, original.header.name);
        assert_eq!(
            (again.header.grid, again.header.block),
            (original.header.grid, original.header.block)
        );
        assert_eq!(again.code.instructions, original.code.instructions);
        assert_eq!(again.paths, original.paths);
        assert_eq!(again.accesses, original.accesses);
    }
}

/// Reads everything that a file holds.
fn read_all(path: &Path) -> Result<usize, StoreProblem> {
    let mut recording = Recording::open(path).map_err(|error| error.problem)?;
    let mut launches = 0;
    while let Some(stored) = recording.next_launch().map_err(|error| error.problem)? {
        recording.accesses(&stored, None, true).map_err(|error| error.problem)?;
        launches += 1;
    }
    Ok(launches)
}

#[test]
fn a_file_cut_or_changed_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(recorded(folder.path())).unwrap();
    let path = folder.path().join("damaged.strata");
    for end in 0..bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let problem = read_all(&path).expect_err("cut");
        let expected = if end < 8 { StoreProblem::Magic } else { StoreProblem::Truncated };
        assert_eq!(problem, expected, "{end} bytes");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        std::fs::write(&path, &changed).unwrap();
        let problem = read_all(&path).expect_err("change");
        match place {
            0..8 => assert_eq!(problem, StoreProblem::Magic, "byte {place}"),
            8..12 => assert!(matches!(problem, StoreProblem::Version(_)), "byte {place}"),
            _ => assert!(
                matches!(problem, StoreProblem::Checksum | StoreProblem::Truncated),
                "byte {place}: {problem}"
            ),
        }
    }
    let longer = [&bytes[..], b"x"].concat();
    std::fs::write(&path, longer).unwrap();
    assert_eq!(read_all(&path), Err(StoreProblem::Contents("bytes behind the end")));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read_all(&path), Ok(4));
}

/// The addresses of a workload are as safe as those of a trace.
#[test]
fn a_recording_of_a_workload_cut_or_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = ["trace", "record", "needle", "--scale", "small", "-o", "n.strata"];
    assert_eq!(strata(folder.path(), &record).0, 0);
    let path = folder.path().join("n.strata");
    let bytes = std::fs::read(&path).unwrap();
    let step = bytes.len() / 100;
    for place in (12..bytes.len()).step_by(step) {
        std::fs::write(&path, &bytes[..place]).unwrap();
        assert_eq!(read_all(&path), Err(StoreProblem::Truncated), "{place} bytes");
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        std::fs::write(&path, &changed).unwrap();
        let problem = read_all(&path).expect_err("change");
        assert!(
            matches!(problem, StoreProblem::Checksum | StoreProblem::Truncated),
            "byte {place}: {problem}"
        );
    }
}

#[test]
fn a_file_of_an_older_program_is_refused_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    for version in [1, 2, 3, 4] {
        bytes[8] = version;
        std::fs::write(&path, &bytes).unwrap();
        let error = Recording::open(&path).unwrap_err();
        assert_eq!((error.offset, &error.problem), (8, &StoreProblem::Version(version.into())));
        let expected = format!("version {version}; this program reads version 5");
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(error.problem.help().contains("record again"), "{}", error.problem.help());
    }
}

#[test]
fn an_error_names_file_and_offset() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(recorded(folder.path())).unwrap();
    let path = folder.path().join("cut.strata");
    std::fs::write(&path, &bytes[..40]).unwrap();
    let error = Recording::open(&path).unwrap().next_launch().unwrap_err();
    assert_eq!(error.offset, 24, "behind the head of the first chunk");
    assert!(error.to_string().ends_with("cut.strata: byte 24: the file ends too early"), "{error}");
    assert!(!error.problem.help().is_empty());
}

#[test]
fn a_failed_recording_leaves_nothing_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.strata");
    let old = b"STRATA\x1a\nold";
    std::fs::write(&file, old).unwrap();
    // The budget ends within the third launch.
    let list = fixtures().join("kernelslist.g");
    let failed = record_trace(&list, Reach::Folder, &output(&file), 25);
    assert!(failed.unwrap_err().to_string().contains("more than 25 warp instructions"));
    assert_eq!(std::fs::read(&file).unwrap(), old);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a partial file is left");
    record_trace(&list, Reach::Folder, &output(&file), 35).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a partial file is left");
    assert_eq!(read_all(&file), Ok(4));
}

#[test]
fn loops_and_many_warps_cost_little() {
    use std::fmt::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let mut text =
        "-kernel name = k\n-kernel id = 1\n-grid dim = (64,1,1)\n-block dim = (32,1,1)\n\
                    -shmem = 0\n-nregs = 16\n-binary version = 80\n-shmem base_addr = 0x0\n\
                    -local mem base_addr = 0x0\n-accelsim tracer version = 5\n\n#traces\n"
            .to_owned();
    let turns = 200;
    for cta in 0..64 {
        let _ =
            write!(text, "#BEGIN_TB\nthread block = {cta},0,0\nwarp = 0\ninsts = {}\n", turns * 3);
        for turn in 0..turns {
            let address = 0x7f00_0000_0000_u64 + cta * 0x10_0000 + turn * 128;
            let mask = if turn % 2 == 0 { u32::MAX } else { 0xff };
            let _ = write!(
                text,
                "0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{address:x} 4 0\n\
                 0010 {mask:08x} 1 R5 FADD 2 R5 R4 0 0\n0020 ffffffff 0 BRA 0 0 0\n"
            );
        }
        text += "#END_TB\n";
    }
    let trace = folder.path().join("kernel-1.traceg");
    std::fs::write(&trace, &text).unwrap();
    let file = folder.path().join("k.strata");
    record_trace(&trace, Reach::Folder, &output(&file), 1 << 20).unwrap();
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size * 200 < text.len() as u64, "{size} bytes for {} of text", text.len());
    let mut recording = Recording::open(&file).unwrap();
    let stored = recording.next_launch().unwrap().unwrap();
    assert_eq!(stored.paths, launches(&trace)[0].paths);
    let accesses = recording.accesses(&stored, None, true).unwrap();
    assert_eq!(Some(accesses), launches(&trace)[0].accesses);
}

fn strata(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_strata"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Counters and launches of the only report of a run.
fn counters(folder: &Path, arguments: &[&str]) -> (serde_json::Value, serde_json::Value) {
    let all = [&["run", "--format", "json", "--design", "isca11-rfc6"], arguments].concat();
    let (status, text, error) = strata(folder, &all);
    assert_eq!(status, 0, "{error}");
    let mut reports: serde_json::Value = serde_json::from_str(&text).unwrap();
    (reports[0]["counters"].take(), reports[0]["launches"].take())
}

#[test]
fn recordings_of_workloads_and_traces_count_like_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for arguments in [
        &["bfs", "--scale", "small"][..],
        &["needle", "--scale", "small"],
        &[fixtures().join("kernelslist.g").to_str().unwrap()],
    ] {
        let record = [&["trace", "record", "-o", "r.strata"], arguments].concat();
        let (status, text, error) = strata(folder, &record);
        assert_eq!(status, 0, "{error}");
        assert!(text.starts_with("r.strata: "), "{text}");
        for mode in ["count", "cycle"] {
            let of = |input: &[&str]| counters(folder, &[input, &["--mode", mode]].concat());
            assert_eq!(of(&["r.strata"]), of(arguments), "{arguments:?}");
        }
        let (_, info, _) = strata(folder, &["trace", "info", "r.strata"]);
        assert!(info.contains("launch 0: ") && info.contains("format version 5"), "{info}");
        let (status, _, error) = strata(folder, &["trace", "export", "r.strata", "-o", "out"]);
        assert_eq!(status, 0, "{error}");
        let again = counters(folder, &["out/kernelslist.g"]).0;
        let before = counters(folder, arguments).0;
        if arguments.len() == 1 {
            assert_eq!(again, before);
        } else {
            // Last uses are those that the trace shows, so that only what has none is the same.
            assert_eq!(again["thread_instructions"], before["thread_instructions"]);
        }
    }
    let of_one = counters(folder, &["r.strata", "--cta", "0", "--launch-index", "0"]).0;
    assert_eq!(of_one["warp_instructions"], 2);
    let one = ["--cta", "1", "--launch-index", "0", "--mode", "cycle"];
    let trace = fixtures().join("kernel-1.traceg");
    let recorded = counters(folder, &[&["r.strata"], &one[..]].concat());
    assert_eq!(recorded, counters(folder, &[&[trace.to_str().unwrap()], &one[..]].concat()));
}

/// The first CTA waits for what the second writes, whose turn comes when the first goes in circles.
#[test]
fn recordings_of_ctas_that_take_turns_count_like_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o)\n\
        { .reg .b64 %o; .reg .b32 %r<3>; .reg .pred %p<3>; ld.param.u64 %o, [o];\n\
        mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;\n\
        WAIT: ld.volatile.global.u32 %r2, [%o]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; bra OUT;\n\
        SET: st.volatile.global.u32 [%o], 1;\n\
        OUT: ret; }\n";
    let launch = "description = \"turns\"\n[[buffer]]\nname = \"o\"\ntype = \"u32\"\ncount = 1\n\
        generator = \"zero\"\n[[launch]]\nkernel = \"k\"\ngrid = [2]\nblock = [32]\n\
        arguments = [\"o\"]\n";
    std::fs::write(folder.join("k.ptx"), ptx).unwrap();
    let input = ["k.ptx", "--launch", "l.toml"];
    let mut counts = Vec::new();
    for key in ["", "cooperative = true\n"] {
        std::fs::write(folder.join("l.toml"), format!("{launch}{key}")).unwrap();
        let record = [&["trace", "record", "-o", "r.strata", "--force"], &input[..]].concat();
        let (status, _, error) = strata(folder, &record);
        assert_eq!(status, 0, "{error}");
        for mode in ["count", "cycle"] {
            let of = |input: &[&str]| counters(folder, &[input, &["--mode", mode]].concat());
            let executed = of(&input);
            assert_eq!(of(&["r.strata"]), executed, "{key}{mode}");
            counts.push(executed.0["warp_instructions"].as_u64().unwrap());
        }
    }
    // Both wait at least once, and modes count the same.
    assert!(counts[0] > 11 && counts[2] > 11, "{counts:?}");
    assert_eq!((counts[0], counts[2]), (counts[1], counts[3]));
}

#[test]
fn wrong_uses_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    recorded(folder);
    std::fs::write(folder.join("no.strata"), "-kernel name = x\n").unwrap();
    let one =
        ["trace", "record", "vectoradd", "--scale", "small", "--cta", "3", "-o", "one.strata"];
    assert_eq!(strata(folder, &one).0, 0);
    for (arguments, message) in [
        (&["run", "no.strata"][..], "this is no .strata recording"),
        (&["run", "none.strata"], "none.strata: cannot be read: "),
        (&["run", "fixtures.strata", "--cta", "2"], "has no CTA 2; there are 2"),
        (&["run", "fixtures.strata", "--launch-index", "4"], "has no launch 4; there are 4"),
        (&["run", "fixtures.strata", "--max-instructions", "9"], "more than 9 warp instructions"),
        (&["trace", "info", "no.strata"], "this is no .strata recording"),
        (&["trace", "record", "fixtures.strata", "-o", "x.strata"], "is a recording already"),
        (&["trace", "export", "none.g", "-o", "x"], "is an Accel-Sim trace already"),
        (&["trace", "export", "no.strata", "-o", "x"], "this is no .strata recording"),
        (&["trace", "export", "fixtures.strata", "-o", "x", "--kernel", "k"], "does not apply"),
        (&["trace", "export", "vectoradd", "-o", "x", "--cta", "1"], "does not apply"),
        (&["trace", "export", "one.strata", "-o", "x"], "1 of the 16 CTAs"),
        (&["trace", "record", "none.g", "-o", "x.strata"], "none.g: cannot be read"),
        (&["trace", "record", "vectoradd", "-o", "no/x.strata"], "x.strata: cannot be written: "),
        (&["trace", "record", "none.g", "-o", "x.strata", "--cta", "1"], "does not apply"),
    ] {
        let (status, _, error) = strata(folder, arguments);
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(error.contains("hint: "), "{arguments:?}: {error}");
        assert!(!folder.join("x").exists(), "{arguments:?} left something");
    }
}
