//! Accel-Sim traces: committed fixtures of every version, and everything that can be wrong.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata_core::event::{Counters, Event};
use strata_trace::{Entry, Keep, Problem, Reach, TraceError, TracedLaunch, entries};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn keep() -> Keep {
    Keep { accesses: true, ..Keep::default() }
}

fn launches() -> Vec<TracedLaunch> {
    let entries = entries(&fixtures().join("kernelslist.g"), Reach::Folder).unwrap();
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
    strata_measure::evaluate::count_launch(
        &config,
        false,
        (&launch.code.image).into(),
        &launch.paths,
    )
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
    let entries = entries(&fixtures().join("kernelslist.g"), Reach::Folder).unwrap();
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
    let (v3, v5) = ("kernel-1.traceg", "kernel-3-ctx_0x55e3a796e730.traceg");
    let cases: &[(&str, &str, &str, u64, &str)] = &[
        (v5, "version = 5\n", "version = 6\n", 23, "expected `NoVal`, or `Val` and the values"),
        (v5, "version = 5\n", "version = 7\n", 15, "tracer version 7 is not read"),
        (v5, "version = 5\n", "version = 2\n", 15, "tracer version 2 is not read"),
        (v5, "version = 5\n", "version = 4\n", 23, "expected the end of the line, found `-107"),
        (
            v5,
            "lineinfo = 0\n",
            "lineinfo = 1\n",
            23,
            "expected a mask of 8 hexadecimal digits, found `1`",
        ),
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
        (v5, "warp = 0", "cluster id = 0,1,0", 22, "expected `cluster cta = x,y,z`, found `insts"),
        (v5, "warp = 0", "cluster cta = 0,0,0", 21, "expected `warp = n` or `#END_TB`"),
        (v5, "warp = 0", "cluster rank = 0", 21, "expected `warp = n` or `#END_TB`"),
        (v5, "warp = 0", "warp = 1", 21, "warp 1 is outside the range 0 to 0"),
        (v5, "warp = 0", "warp 0", 21, "expected `warp = n` or `#END_TB`"),
        (v5, "insts = 5", "insts = five", 22, "expected `insts = n`, found `insts = five`"),
        (v5, "insts = 5", "insts = 6", 28, "expected as many instructions as `insts` says"),
        (v5, "insts = 5", "insts = 4", 27, "expected `warp = n` or `#END_TB`, found `0040"),
        (v5, "insts = 5", "insts = 99999999999", 22, "more than 4294967296 warp instructions"),
        (v5, "0000 ffffffff", "00g0 ffffffff", 23, "a hexadecimal program counter, found `00g0`"),
        (v5, "0000 ffffffff", "0000 fffffffff", 23, "a mask of 8 hexadecimal digits"),
        (v5, "1 R0 MOV 0 0", "2 R0 MOV 0 0", 23, "P0 to P7 or UP0 to UP7, found `MOV`"),
        (v5, "1 R0 MOV 0 0", "1 R256 MOV 0 0", 23, "P0 to P7 or UP0 to UP7, found `R256`"),
        (v5, "1 R0 MOV 0 0", "1 R0 mov 0 0", 23, "an opcode such as IMAD.MOV.U32"),
        (v5, "4 1 0x7f1000000000 0 0", "4 3 0x7f1000000000 0 0", 24, "an address mode: 0 (list)"),
        (v5, "4 1 0x7f1000000000 0 0", "4 2 0x7f1000000000 0 0", 24, "one delta for each"),
        (v5, "4 1 0x7f1000000000 0 0", "4 0 0x7f1000000000 0 0", 24, "one hexadecimal address"),
        (v5, "0010 ffffffff", "0010 fffffffd", 24, "needs neighbouring lanes"),
        (v5, "0x3f800000", "", 25, "expected an immediate, found the end of the line"),
        (v5, "2 R4 R0 4 1", "2 R4 R1 4 1", 38, "the instruction at 0010 was"),
        (v5, "#END_TB", "#END_TB\njunk", 30, "expected `#BEGIN_TB` or the end of the file"),
        (v5, "#END_TB", "#END_TB\n# note", 30, "expected `#BEGIN_TB` or the end of the file"),
        (v5, "#traces", "#trace", 15, "or `#traces format = ...`, found `#trace format"),
        (v5, "0000 ffffffff", "0000 fffffff", 23, "a mask of 8 hexadecimal digits"),
        (v5, "0000 ffffffff", "0000 0xffffff", 23, "a mask of 8 hexadecimal digits"),
        (v5, "-shmem base_addr", "-shmem base", 15, "has no line `-shmem base_addr = ...`"),
        (v5, "-local mem base_addr", "-x", 15, "has no line `-local mem base_addr = ...`"),
        (v5, "-kernel id = 3", "-kernel id = three", 2, "`-kernel id = three` is impossible"),
        (v5, "-cuda stream id", "-kernel id", 8, "the line `-kernel id = ...` twice"),
        (v5, "= v5_immediates", "= a\x1b[2Jb", 1, "`-kernel name = a\\x1b[2Jb` is impossible"),
        (v5, "= v5_immediates", "= a\u{202e}b", 1, "name = a\\xe2\\x80\\xaeb` is impossible"),
        (v3, "version = 3\n", "version = 3\n-enable lineinfo = 1\n", 15, "expected 0 in version 3"),
        (v3, "0000 0000ffff", "0000 0001ffff", 24, "mask 0001ffff has lanes that the warp does"),
        (v3, "\nwarp = 1\ninsts = 0\n", "\n", 55, "the thread block holds 1 of its 2 warps"),
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

/// What is kept of a line must not grow with its blanks.
#[test]
fn an_instruction_with_long_blanks_is_refused() {
    let wide = |blanks: usize| format!("0000{}ffffffff", " ".repeat(blanks));
    let text = std::fs::read_to_string(fixtures().join("kernel-2.traceg")).unwrap();
    let read = |blanks| {
        let text = text.replacen("0000 ffffffff", &wide(blanks), 1);
        TracedLaunch::parse(text.into_bytes(), "t.traceg", &keep())
    };
    assert!(read(1000).is_ok());
    assert_eq!(read(2048).unwrap_err().problem, Problem::LongLine(2048));
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
    assert!(refuse("a.traceg.gz", &plain).contains("the contents are not"));
    assert!(refuse("a.traceg", b"\x1f\x8b\x08\0\0\0\0\0").contains(".gz data cannot be unpacked"));
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
        entries(&path, Reach::Folder).map_err(|error| (error.line, error.problem.to_string()))
    };
    let copy = "expected `MemcpyHtoD,0x<address>,<bytes>`, found `MemcpyHtoD,x,1`";
    assert_eq!(list("k.traceg\nMemcpyHtoD,x,1\n").unwrap_err(), (2, copy.to_owned()));
    assert_eq!(list("").unwrap_err().0, 0);
    assert_eq!(list("MemcpyHtoD,0x0,1\n").unwrap_err().0, 0);
    assert!(list("k.trace\n").unwrap_err().1.contains("post-processed"));
    assert_eq!(list("\r\n k.traceg \r\n").unwrap().len(), 1);
    let missing = entries(&folder.path().join("none.g"), Reach::Folder).unwrap_err();
    assert!(matches!(missing.problem, Problem::Unreadable(_)), "{missing}");
}

/// Lines that are not known are no longer skipped.
#[test]
fn unknown_lines_of_a_list_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernelslist.g");
    for line in [
        "kernel-1.tracg",
        "kernel-1.traceg.zst",
        "kernel-1.traceg extra",
        "kernel-1",
        "kernel-1.trace.gz",
        "# comment",
        "ncclGroupStart",
        "MemcpyXtoD,0x0,4",
        "MemcpyHtoD",
        "MemcpyHtoD,4,4",
        "MemcpyHtoD,0x0",
        "MemcpyHtoD,0x0,4,4",
        "MemcpyHtoD,0x0,4 x",
        "MemcpyDtoH,here,4",
        "memcpyHtoD,0x0,4",
        "a\u{1b}[2J.traceg",
        "a\u{202e}.traceg",
    ] {
        std::fs::write(&path, format!("k.traceg\n\n{line}\n")).unwrap();
        let error = entries(&path, Reach::Folder).expect_err(line);
        let expected = matches!(error.problem, Problem::Expected { .. });
        assert!(error.line == 3 && expected, "{line}: {error}");
        assert!(!error.to_string().contains(char::is_control), "{line}: {error}");
    }
    let known =
        "MemcpyDtoH,0x10,4\nMemcpyDtoD,0x10,0x20,4\nMemcpyHtoA\n\n a.traceg.gz \nb.traceg.xz";
    std::fs::write(&path, known).unwrap();
    assert_eq!(entries(&path, Reach::Folder).unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn a_list_leads_out_of_its_folder_only_when_allowed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("traces");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    let outside = root.path().join("k.traceg");
    std::fs::copy(fixtures().join("kernel-2.traceg"), &outside).unwrap();
    std::fs::copy(&outside, folder.join("below/k.traceg")).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link.traceg")).unwrap();
    std::os::unix::fs::symlink(root.path(), folder.join("up")).unwrap();
    std::os::unix::fs::symlink("below/k.traceg", folder.join("inner.traceg")).unwrap();
    let list = folder.join("kernelslist.g");
    for name in [
        outside.to_str().unwrap(),
        "../k.traceg",
        "below/../../k.traceg",
        "link.traceg",
        "up/k.traceg",
    ] {
        std::fs::write(&list, name).unwrap();
        let error = entries(&list, Reach::Folder).expect_err(name);
        assert_eq!((error.line, &error.problem), (1, &Problem::Outside(name.to_owned())));
        assert_eq!(entries(&list, Reach::Anywhere).unwrap().len(), 1, "{name}");
        let list = list.to_str().unwrap();
        let (status, _, text) = strata(&["run", list]);
        assert_eq!(status, 2, "{text}");
        assert!(text.contains("outside the folder") && text.contains("--allow-outside"), "{text}");
        assert_eq!(strata(&["run", list, "--allow-outside"]).0, 0, "{name}");
    }
    for name in ["below/k.traceg", "./below/k.traceg", "inner.traceg"] {
        std::fs::write(&list, name).unwrap();
        assert_eq!(strata(&["run", list.to_str().unwrap()]).0, 0, "{name}");
    }
}

#[test]
fn unknown_header_lines_give_one_note() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixtures().join("kernel-2.traceg")).unwrap();
    let text = format!("-cluster dim = (1,1,1)\n-odd\u{1b} = 1\n{text}");
    for name in ["a.traceg", "b.traceg"] {
        std::fs::write(folder.path().join(name), &text).unwrap();
    }
    let list = folder.path().join("kernelslist.g");
    std::fs::write(&list, "a.traceg\nb.traceg\n").unwrap();
    let recording = folder.path().join("r.strata");
    let (list, recording) = (list.to_str().unwrap(), recording.to_str().unwrap());
    for arguments in [&["run", list][..], &["trace", "record", list, "-o", recording]] {
        let (status, _, notes) = strata(arguments);
        assert_eq!(status, 0, "{notes}");
        assert_eq!(notes.matches("were not used: -cluster dim, -odd\\x1b").count(), 1, "{notes}");
    }
    let many = "-key = 1\n".repeat(65);
    let error = TracedLaunch::parse(format!("{many}{text}").into_bytes(), "t", &keep());
    assert_eq!(error.unwrap_err().line, 65);
}

fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_read_whole_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.traceg.gz");
    let text = std::fs::read(fixtures().join("kernel-2.traceg")).unwrap();
    let plain = TracedLaunch::read(&fixtures().join("kernel-2.traceg"), &keep()).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        TracedLaunch::read(&path, &keep())
    };
    let whole = gzip(&text);
    let members = [gzip(&text[..100]), gzip(&text[100..])].concat();
    for bytes in [&whole, &members] {
        let launch = read(bytes).unwrap();
        assert_eq!((launch.paths, launch.accesses), (plain.paths.clone(), plain.accesses.clone()));
    }
    for end in (0..whole.len()).chain([members.len() - 1, members.len() - 9]) {
        let cut = if end < whole.len() { &whole[..end] } else { &members[..end] };
        assert!(read(cut).is_err(), "accepted {end} bytes");
    }
    // Before that stand a time and an operating system, and the last byte of data ends in padding:
    // nothing depends on them.
    for place in (10..whole.len()).filter(|&place| place != whole.len() - 9) {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        assert!(read(&changed).is_err(), "accepted a change at {place}");
    }
    let error = read(&[&whole[..], b"behind"].concat()).unwrap_err();
    assert!(matches!(error.problem, Problem::Compression { format: ".gz", .. }), "{error}");
    std::fs::write(folder.path().join("kernelslist.g.gz"), gzip(b"k.traceg.gz\n")).unwrap();
    read(&whole).unwrap();
    let list = folder.path().join("kernelslist.g.gz");
    assert_eq!(strata(&["run", list.to_str().unwrap()]).0, 0);
}

/// A header that asks for 4 GiB is refused before anything is reserved.
#[test]
fn a_compressed_file_with_a_large_dictionary_is_refused() {
    let mut bytes = std::fs::read(fixtures().join("kernel-4.traceg.xz")).unwrap();
    // The block's header: its size in words less one, flags, filter 0x21, one byte of properties.
    let length = (usize::from(bytes[12]) + 1) * 4;
    let end = 12 + length - 4;
    let place = (14..end - 1).find(|&at| bytes[at..at + 2] == [0x21, 1]).unwrap() + 2;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.traceg.xz");
    // 32 MiB, 256 MiB, 384 MiB, 4 GiB.
    for (size, allowed) in [(26, true), (32, true), (33, false), (40, false)] {
        bytes[place] = size;
        let sum = crc32fast::hash(&bytes[12..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
        std::fs::write(&path, &bytes).unwrap();
        let read = TracedLaunch::read(&path, &keep());
        assert_eq!(read.is_ok(), allowed, "{size}");
        if let Err(error) = read {
            assert!(error.to_string().contains("more than 256 MiB"), "{error}");
        }
    }
}

/// What a reader makes of a text, as text: an error is a different result.
fn outcome(text: &str) -> String {
    match TracedLaunch::parse(text.as_bytes().to_vec(), "t.traceg", &keep()) {
        Ok(launch) => format!("{launch:?}"),
        Err(error) => error.to_string(),
    }
}

/// Every line and every word matters: without it, or twice, the result is another.
#[test]
fn no_line_and_no_word_of_a_trace_goes_unnoticed() {
    // Known, and of no use here. Without the last, lines name no places in the source.
    const UNUSED: [&str; 4] =
        ["-kernel id = ", "-cuda stream id = ", "-nvbit version = ", "-enable lineinfo = 0"];
    let mut unnoticed = String::new();
    let mut tried = 0;
    for file in ["kernel-1.traceg", "kernel-2.traceg", "kernel-3-ctx_0x55e3a796e730.traceg"] {
        let text = std::fs::read_to_string(fixtures().join(file)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let whole = outcome(&text);
        let mut check = |at: usize, with: &[String], what: &str| {
            let before = lines[..at].iter().map(ToString::to_string);
            let after = lines[at + 1..].iter().map(ToString::to_string);
            let changed: Vec<String> = before.chain(with.iter().cloned()).chain(after).collect();
            tried += 1;
            if outcome(&changed.join("\n")) == whole {
                let _ = writeln!(unnoticed, "{file}:{}: {what}: {}", at + 1, lines[at]);
            }
        };
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            check(at, &[line.to_string(), line.to_string()], "twice");
            if !UNUSED.iter().any(|unused| line.starts_with(unused)) {
                check(at, &[], "left out");
            }
            // The words behind it describe the format to people.
            if line.starts_with("#traces") {
                continue;
            }
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            for word in 0..words.len() {
                let without = [&words[..word], &words[word + 1..]].concat().join(" ");
                let twice = [&words[..=word], &words[word..]].concat().join(" ");
                if words.len() > 1 {
                    check(at, &[without], "a word left out");
                }
                // Versions are texts of any words.
                if !(line.starts_with("-nvbit version") && word >= 2) {
                    check(at, &[twice], "a word twice");
                }
            }
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed}");
    assert!(tried > 500, "{tried}");
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
        (&["kernelslist.g", "--max-instructions", "20"], "more than 20 warp instructions"),
        (&["none.g"], "none.g: cannot be read"),
        (&["none.traceg"], "none.traceg: cannot be read"),
    ] {
        let (status, _, error) = strata(&[&["run"], arguments].concat());
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(error.contains("hint: "), "{arguments:?}: {error}");
    }
}

/// Cycles of a warp that uses what an atomic operation brings, listed as the tracer does and
/// otherwise.
#[test]
fn a_use_of_what_an_atomic_operation_brings_waits_for_memory() {
    let cycles = |atomic: &str| -> u64 {
        let text = format!(
            "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
             -shmem = 0\n-nregs = 64\n-binary version = 80\n-shmem base_addr = 0x0\n\
             -local mem base_addr = 0x0\n-accelsim tracer version = 5\n\n#traces\n\n\
             #BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 3\n\
             0000 ffffffff {atomic} 8 1 0x7f1000000000 0 0\n\
             0010 ffffffff 1 R8 IADD3 3 R16 R16 R255 0 0\n0020 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel-1.traceg");
        std::fs::write(&file, text).unwrap();
        let (status, text, error) = strata(&[
            "run",
            file.to_str().unwrap(),
            "--design",
            "isca11",
            "--mode",
            "cycle",
            "--format",
            "json",
        ]);
        assert_eq!(status, 0, "{error}");
        let reports: serde_json::Value = serde_json::from_str(&text).unwrap();
        reports[0]["counters"]["cycles"].as_u64().unwrap()
    };
    assert_eq!(cycles("0 ATOMG.E.ADD.64.STRONG.GPU 3 R16 R22 R18"), 408);
    assert_eq!(cycles("1 R16 ATOMG.E.ADD.64.STRONG.GPU 2 R22 R18"), 408);
    assert!(cycles("0 ATOMG.E.ADD.64.STRONG.GPU 3 R255 R22 R18") < 20);
}
