//! Traces of Accel-Sim 2.0: version 6, version 5 with two immediates, and `.tracez`, against the
//! same execution as an older tracer writes it. `tests/traces/newer/make.py` made the files.

use std::path::{Path, PathBuf};

use strata_files::output::Output;
use strata_trace::store::{self, Recording, record_trace};
use strata_trace::{Keep, Problem, Reach, TraceError, TracedLaunch, entries};

const OLDER: &str = "tracer-1.3.traceg";
const TEXT: &str = "tracer-2.0-version-6.traceg";
const PACKED: &str = "tracer-2.0-dictionary.tracez";
const NEWER: [&str; 4] = ["tracer-2.0-version-5.traceg", TEXT, "tracer-2.0-plain.tracez", PACKED];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/newer")
}

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(folder().join(file)).unwrap()
}

fn parse(bytes: Vec<u8>, file: &str) -> Result<TracedLaunch, TraceError> {
    TracedLaunch::parse(bytes, file, &Keep { accesses: true, lines: true, ..Keep::default() })
}

/// All that counting and timing know of a launch.
fn known(launch: TracedLaunch) -> impl PartialEq + std::fmt::Debug {
    let TracedLaunch { code, paths, accesses, instructions, unknown_keys, .. } = launch;
    let image = format!("{:?}", code.image);
    (code.instructions, image, code.assumptions, paths, accesses, instructions, unknown_keys)
}

#[test]
fn every_tracer_tells_the_same_of_an_execution() {
    let older = parse(bytes(OLDER), OLDER).unwrap();
    assert_eq!(older.header.tracer_version, 5);
    assert_eq!(older.instructions, 2 * 2 * (10 + 24 * 7 + 4));
    let older = known(older);
    for file in NEWER {
        let keep = Keep { accesses: true, lines: true, ..Keep::default() };
        let read = TracedLaunch::read(&folder().join(file), &keep);
        assert!(known(read.unwrap()) == older, "{file}, from the disk");
        let read = parse(bytes(file), file).unwrap_or_else(|error| panic!("{error}"));
        let version = if file.contains('5') || file.contains("plain") { 5 } else { 6 };
        assert_eq!(read.header.tracer_version, version, "{file}");
        assert!(known(read) == older, "{file}");
    }
}

#[test]
fn uniform_registers_are_named_and_not_counted() {
    let launch = parse(bytes(TEXT), TEXT).unwrap();
    let of = |mnemonic: &str| {
        let found = launch.code.instructions.iter().find(|one| one.mnemonic == mnemonic).unwrap();
        (found.destinations.clone(), found.sources.clone())
    };
    assert_eq!(of("ULDC.64"), (vec![], vec![]));
    assert_eq!(of("R2UR"), (vec![], vec![0]));
    assert_eq!(of("FFMA"), (vec![12], vec![8, 12]));
    // One program counter names the same operands everywhere.
    let text = String::from_utf8(bytes(TEXT)).unwrap();
    let last = text.rfind("FFMA 3 R8 UR7 R12").unwrap();
    let changed = format!("{}FFMA 3 R8 UR6 R12{}", &text[..last], &text[last + 17..]);
    let error = parse(changed.into_bytes(), TEXT).unwrap_err();
    assert!(matches!(error.problem, Problem::Changed { pc: 0xc0, .. }), "{error}");
}

#[test]
fn recordings_of_newer_traces_are_those_of_older_ones() {
    let home = tempfile::tempdir().unwrap();
    let record = |file: &str| {
        let path = home.path().join(file).with_extension("strata");
        let output = Output::new(&path, store::KIND, true, &[]).unwrap();
        record_trace(&folder().join(file), Reach::Folder, &output, 1 << 20).unwrap();
        let mut recording = Recording::parse(std::fs::read(path).unwrap(), "r.strata").unwrap();
        let launch = recording.next_launch().unwrap().unwrap();
        let accesses = recording.accesses(&launch, None, true).unwrap();
        let image = format!("{:?}", launch.image);
        (launch.header.tracer_version, (image, launch.paths, accesses))
    };
    let older = record(OLDER).1;
    for (file, version) in NEWER.into_iter().zip([5, 6, 5, 6]) {
        let (found, newer) = record(file);
        assert_eq!(found, version, "{file}");
        assert!(newer == older, "{file}");
    }
}

#[test]
fn a_list_names_packed_traces() {
    let home = tempfile::tempdir().unwrap();
    let list = home.path().join("kernelslist.g");
    let read = |line: &str| {
        std::fs::write(&list, format!("MemcpyHtoD,0x7f1000000000,64\n{line}\n")).unwrap();
        entries(&list, Reach::Folder).map(|entries| entries.len())
    };
    assert_eq!(read("kernel-1-ctx_0x55e3a796e730.tracez").unwrap(), 2);
    for line in ["kernel-1.tracez.xz", "kernel-1.tracez.gz", "kernel-1.tracezz"] {
        assert_eq!(read(line).unwrap_err().line, 2, "{line}");
    }
}

/// The error after one replacement in the text of version 6, and its line there.
fn refused(from: &str, to: &str) -> TraceError {
    let text = String::from_utf8(bytes(TEXT)).unwrap();
    assert!(text.contains(from), "`{from}` is not in the fixture");
    parse(text.replacen(from, to, 1).into_bytes(), TEXT).expect_err(to)
}

#[test]
fn every_wrong_place_of_a_newer_text_is_named() {
    for (from, to, line, message) in [
        ("version = 6", "version = 7", 15, "tracer version 7 is not read; versions 3 to 6 are"),
        ("version = 6", "version = 5", 27, "expected the end of the line, found `NoVal"),
        ("version = 6", "version = 4", 21, "expected `warp = n` or `#END_TB`, found `cluster id"),
        ("cluster id = 0,0,0", "cluster id = 1,0,0", 21, "`cluster id = 1,0,0`: the thread block"),
        ("cluster id = 0,0,0", "cluster id = 2,0,0", 21, "block index x 2 is outside the range"),
        ("cluster id = 0,0,0", "cluster id = 0,0", 21, "expected `cluster id = x,y,z`"),
        ("cluster cta = 0,0,0", "cluster cta = 1,0,0", 22, "lies in a cluster of several"),
        ("cluster cta = 0,0,0", "cluster cta = x", 22, "expected `cluster cta = x,y,z`"),
        ("cluster rank = 0", "cluster rank = 1", 23, "lies in a cluster of several"),
        ("cluster rank = 0", "rank = 0", 23, "expected `cluster rank = n`, found `rank = 0`"),
        ("cluster id = 0,0,0\n", "", 21, "expected `warp = n` or `#END_TB`, found `cluster cta"),
        ("cluster rank = 0\n", "", 24, "expected `cluster rank = n`, found `warp = 0`"),
        ("UR4 ULDC", "UR256 ULDC", 28, "expected a register R0 to R255, UR0 to UR255"),
        ("0 0 0 0 NoVal", "0 0 0 0", 27, "expected `NoVal`, or `Val` and the values"),
        ("0 0 0 0 NoVal", "0 0 0 NoVal", 28, "expected `NoVal`, or `Val` and the values"),
        ("Val 1 00000738 32 ", "Val 1 00000738 31 ", 33, "expected 1 or 32 values of a register"),
        ("Val 1 00000738 32 ", "Val 1 00000738 1 ", 33, "expected 1 or 32 values of a register"),
        ("Val 1 00000738 32 ", "Val 32 ", 33, "expected 1 or 32 values of a register"),
        ("0x00000400 1 0x0003", "0x00000400 2 0x0003", 34, "whether the transfer is a multicast"),
        ("64 4 0x7f2000000000 8", "64 4 0x7f2000000000 5", 34, "at most one address for each"),
        ("64 4 0x7f2000000000 8", "64 2 0x7f2000000000 8", 34, "3 (list) or 4 (deltas)"),
        ("REPLAY_START 0 0 0 0", "REPLAY_START 0 0 0", 35, "expected `0000 ffffffff 0 REPLAY_ST"),
        ("REPLAY_START", "REPLAY_END", 35, "expected `REPLAY_START` first"),
        ("REPLAY_END", "REPLAY_START", 38, "expected `REPLAY_END` first"),
        ("HGMMA.64x8x16.F32 1 R24 1", "HGMMA.64x8x16.F32 1 R24 2", 42, "expected 0 or 1 behind"),
    ] {
        let error = refused(from, to);
        let text = error.to_string();
        assert!(text.contains(message), "`{from}` -> `{to}`: {text}");
        assert_eq!(error.line, line, "`{from}` -> `{to}`: {text}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn long_transfers_are_read() {
    let text = String::from_utf8(bytes(TEXT)).unwrap();
    let transfer = "4 0x7f2000000000 8 128 128 128 128 128";
    let long = format!("4 0x7f2000000000 9001{}", " 128".repeat(9000));
    let changed = text.replacen(transfer, &long, 1);
    assert!(
        known(parse(changed.into_bytes(), TEXT).unwrap())
            == known(parse(bytes(OLDER), OLDER).unwrap())
    );
    // Only a transfer may be as long.
    let error =
        refused("1 R0 S2R 0 0 0 0 NoVal", &format!("1 R0 S2R 0 0 0 0{}NoVal", " ".repeat(4096)));
    assert_eq!((error.line, error.problem), (27, Problem::LongLine(4096)));
}

// --- The container -----------------------------------------------------------------------------

/// A frame of zstd whose one block is not compressed.
fn frame(text: &[u8]) -> Vec<u8> {
    let size = text.len() as u32;
    let block = (size << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &size.to_le_bytes(), &block[..3], text].concat()
}

/// A container as its description says, of which every part can be replaced.
#[derive(Clone)]
struct Container {
    header: Vec<u8>,
    dictionary: Vec<u8>,
    /// Instructions, and frames with theirs.
    warp: (u32, Vec<(u32, Vec<u8>)>),
    /// Place, cluster, place in it, rank, warps.
    block: [u32; 11],
    blocks: u32,
}

impl Container {
    fn new() -> Self {
        let header = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n\
                      -nregs = 8\n-binary version = 90\n-shmem base_addr = 0x0\n\
                      -local mem base_addr = 0x0\n-accelsim tracer version = 6\n\n#traces format\n\n";
        let lines =
            ["0000 ffffffff 1 R2 MOV 0 0 0 0 NoVal ", "0010 ffffffff 0 EXIT 0 0 0 0 NoVal "];
        Self {
            header: format!("{header}\0").into_bytes(),
            dictionary: Vec::new(),
            warp: (2, lines.map(|line| (1, frame(line.as_bytes()))).to_vec()),
            block: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            blocks: 1,
        }
    }

    /// The file, and where the warp's data and the index begin.
    fn bytes(&self) -> (Vec<u8>, usize, usize) {
        let number = |number: u32| number.to_le_bytes();
        let mut file = self.header.clone();
        file.extend([number(self.dictionary.len() as u32), number(2048)].concat());
        file.extend(&self.dictionary);
        let data = file.len();
        let (instructions, pieces) = &self.warp;
        let counts = [number(*instructions), number(pieces.len() as u32)].concat();
        file.extend(&counts);
        for (_, piece) in pieces {
            file.extend(number(piece.len() as u32));
            file.extend(piece);
        }
        let index = file.len();
        file.extend(number(self.blocks));
        file.extend(self.block.map(number).concat());
        file.extend(&counts);
        file.extend((data as u64).to_le_bytes());
        for (instructions, _) in pieces {
            file.extend(number(*instructions));
        }
        file.extend((index as u64).to_le_bytes());
        (file, data, index)
    }

    fn read(&self) -> Result<TracedLaunch, TraceError> {
        parse(self.bytes().0, "k.tracez")
    }
}

#[test]
fn a_container_of_our_own_is_read() {
    let launch = Container::new().read().unwrap();
    assert_eq!((launch.instructions, launch.code.instructions.len()), (2, 2));
    // Other writers may end the last line, and split as they like.
    let mut other = Container::new();
    let line = b"0000 ffffffff 1 R2 MOV 0 0 0 0 NoVal\n0010 ffffffff 0 EXIT 0 0 0 0 NoVal\n";
    other.warp.1 = vec![(2, frame(line))];
    assert!(known(other.read().unwrap()) == known(launch));
}

#[test]
fn a_container_cut_anywhere_is_refused() {
    for (file, whole) in [("k.tracez", Container::new().bytes().0), (PACKED, bytes(PACKED))] {
        for end in 0..whole.len() {
            let error = parse(whole[..end].to_vec(), file).expect_err("cut");
            assert!(error.offset.is_some(), "{end} bytes: {error}");
        }
        let longer = [&whole[..], &[0]].concat();
        assert!(parse(longer, file).is_err());
    }
}

#[test]
fn no_number_of_a_container_may_change() {
    let (whole, data, index) = Container::new().bytes();
    for place in (0..whole.len()).filter(|place| *place >= index || *place < data + 8) {
        // How many instructions the writer wanted in a piece.
        if (data - 4..data).contains(&place) || place < data - 8 {
            continue;
        }
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            let error = parse(changed, "k.tracez").map(|_| format!("bit {bit} of {place}"));
            let text = error.expect_err("changed").to_string();
            assert!(text.starts_with("k.tracez"), "{text}");
        }
    }
}

/// Contradictions, each refused at its byte.
#[test]
fn every_contradiction_of_a_container_has_its_place() {
    type Change = fn(&mut Container);
    let line = b"0000 ffffffff 1 R2 MOV 0 0 0 0 NoVal";
    let cases: &[(Change, &str)] = &[
        (|c| c.header[0] = b'x', "expected a header line `-key = value` or a NUL byte, found `x`"),
        (|c| c.warp.0 = 3, "what the warp's pieces leave over is 1 and should be 0"),
        (|c| c.warp.0 = u32::MAX, "what the warp's pieces leave over"),
        (|c| c.warp.1[0].0 = 0, "the number of instructions of a piece, at least 1, 0 is outside"),
        (|c| c.warp.1[0].0 = 2, "the number of lines of the piece is 1 and should be 2"),
        (|c| c.warp.1[1].0 = 2, "at least 1, 2 is outside the range 0 to 1"),
        (|c| drop(c.warp.1.pop()), "leave over is 1 and should be 0"),
        (|c| c.warp.1[0].1.push(0), "the size of the frame is"),
        (|c| c.warp.1[0].1[5] += 1, "the size of the frame's contents is"),
        (|c| c.warp.1[0].1[5..9].fill(0), "the size of a frame's contents"),
        (|c| c.warp.1[0].1[8] = 0x10, "the .tracez data cannot be unpacked"),
        (|c| c.warp.1[0].1[0] = 0, "the .tracez data cannot be unpacked"),
        (|c| c.dictionary = vec![1; 100], "the .tracez data cannot be unpacked"),
        (|c| c.block[7] = 1, "the thread block lies in a cluster of several"),
        (|c| c.block[9] = 1, "the thread block lies in a cluster of several"),
        (|c| c.block[0] = 1, "block index x 1 is outside the range 0 to 0"),
        (|c| c.blocks = 2, "the file ends where the index is expected"),
        (|c| c.blocks = u32::MAX, "the file ends where the index is expected"),
        (|c| c.blocks = 0, "the end of the warps' data is"),
        (|c| c.block[10] = u32::MAX, "the file ends where the index is expected"),
        (|c| c.block[10] = 0, "the thread block holds 0 of its 1 warp"),
    ];
    for (change, message) in cases {
        let mut container = Container::new();
        change(&mut container);
        let error = container.read().expect_err(message);
        let text = error.to_string();
        assert!(text.contains(message), "{message}: {text}");
        assert!(error.offset.is_some() && text.starts_with("k.tracez: byte "), "{text}");
        assert!(!error.help().is_empty());
    }
    // The line of a packed text that is wrong is counted from the piece that holds it.
    let mut container = Container::new();
    let text = [&line[..], b"\n0010 ffffffff 0 EXIT 0 0 0 0"].concat();
    container.warp = (2, vec![(2, frame(&text))]);
    let (_, data, _) = container.bytes();
    let error = container.read().unwrap_err();
    assert_eq!((error.offset, error.line), (Some(data as u64 + 8), 2));
    assert!(error.to_string().contains("line 2: expected `NoVal`"), "{error}");
}

/// More lines in a frame than the index says, or lines that would end a warp: never another trace.
#[test]
fn a_piece_cannot_leave_its_warp() {
    let line = "0000 ffffffff 1 R2 MOV 0 0 0 0 NoVal";
    for text in [
        format!("{line}\n#END_TB"),
        format!("{line}\nwarp = 1"),
        format!("{line}\n"),
        format!("{line}\n{line}\n{line}"),
        format!("\n{line}"),
    ] {
        let mut container = Container::new();
        container.warp = (2, vec![(2, frame(text.as_bytes()))]);
        assert!(container.read().is_err(), "{text}");
    }
}

/// What a frame claims costs nothing: a large window, or many bytes in a few.
#[test]
fn frames_that_claim_much_are_refused() {
    let run = |bytes: u32| {
        // A window of 8 MiB, and blocks that repeat one letter.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 13 << 3];
        frame.extend(bytes.to_le_bytes());
        let blocks = bytes >> 17;
        for block in 1..=blocks {
            let head = (1_u32 << 17) << 3 | 1 << 1 | u32::from(block == blocks);
            frame.extend(&head.to_le_bytes()[..3]);
            frame.push(b'0');
        }
        frame
    };
    let mut container = Container::new();
    container.warp.1[0].1 = run(1 << 30);
    assert!(matches!(container.read().unwrap_err().problem, Problem::LongLine(_)));
    container.warp.1[0].1[5] = 14 << 3;
    assert!(container.read().unwrap_err().to_string().contains("cannot be unpacked"));
}
