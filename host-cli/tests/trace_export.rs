//! Exports of small kernels: what their lines say, and that they move what the kernel moves.

use std::path::Path;

const LAUNCH: &str = "description = \"a test\"\n[size.default]\nn = 32\n[[buffer]]\nname = \"o\"\n\
    type = \"u32\"\ncount = \"n\"\ngenerator = \"zero\"\n[[launch]]\nkernel = \"k\"\ngrid = [1]\n\
    block = [32]\narguments = [\"o\"]\n";

/// A kernel of one warp with a row of 16 bytes for each lane, at `%r4`.
fn kernel(target: u32, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_{target}\n.address_size 64\n.shared .align 16 .b8 rows[512];\n\
         .visible .entry k(.param .u64 o)\n{{ .reg .b32 %r<20>; .reg .b64 %d<3>;\n\
         ld.param.u64 %d1, [o]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, rows;\n\
         add.u32 %r4, %r3, %r2;\n{body}\nret; }}\n"
    )
}

fn strata(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_strata"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The export of a kernel, which stays in the folder as `out`, beside `k.ptx` and `k.toml`.
fn exported(folder: &Path, kernel: &str) -> String {
    std::fs::write(folder.join("k.ptx"), kernel).unwrap();
    std::fs::write(folder.join("k.toml"), LAUNCH).unwrap();
    strata(folder, &["trace", "export", "k.ptx", "--launch", "k.toml", "-o", "out"]);
    std::fs::read_to_string(folder.join("out/kernel-1.traceg")).unwrap()
}

/// Bytes of shared memory that a run moves, and its reads and writes of registers.
fn moved(folder: &Path, input: &[&str]) -> [u64; 3] {
    let run = ["run", "--mode", "cycle", "--format", "json", "--design", "isca11"];
    let text = strata(folder, &[&run, input].concat());
    let reports: serde_json::Value = serde_json::from_str(&text).unwrap();
    let counters = &reports[0]["counters"];
    ["shared_memory_bytes", "mrf_reads", "mrf_writes"]
        .map(|name| counters[name].as_u64().unwrap_or_else(|| panic!("{name}: {counters}")))
}

/// Of each form, the bytes of the rows that its first lanes name.
const ROWS: [(usize, &str, u64); 3] = [(1, "", 128), (2, ".2", 256), (4, ".4", 512)];

#[test]
fn loads_of_matrices_move_the_rows_that_are_named() {
    for (number, modifier, bytes) in ROWS {
        for (transposed, mark) in [("", ""), (".trans", "T")] {
            let folder = tempfile::tempdir().unwrap();
            let registers: Vec<String> = (10..10 + number).map(|n| format!("%r{n}")).collect();
            let load = format!(
                "ldmatrix.sync.aligned.m8n8.x{number}{transposed}.shared.b16 {{{}}}, [%r4];",
                registers.join(",")
            );
            let text = exported(folder.path(), &kernel(80, &load));
            assert!(text.contains(&format!(" LDSM.16.M{mark}88{modifier} 1 R")), "{text}");
            let executed = moved(folder.path(), &["k.ptx", "--launch", "k.toml"]);
            assert_eq!(executed[0], bytes, "{load}");
            assert_eq!(moved(folder.path(), &["out/kernel-1.traceg"]), executed, "{load}");
        }
    }
}

/// Lines of a tracer, with an address in every lane.
#[test]
fn lanes_beyond_the_rows_of_a_matrix_name_nothing() {
    for (_, modifier, bytes) in ROWS {
        for line in [
            format!("1 R4 LDSM.16.M88{modifier} 1 R13"),
            format!("1 R4 LDSM.16.MT88{modifier} 1 R13"),
            format!("0 STSM.16.M88{modifier} 2 R13 R4"),
        ] {
            for addresses in ["1 0x7f0000000000 16".to_owned(), listed(16)] {
                let text = format!(
                    "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n\
                     -block dim = (32,1,1)\n-shmem = 512\n-nregs = 16\n-binary version = 90\n\
                     -shmem base_addr = 0x7f0000000000\n-local mem base_addr = 0x7f0001000000\n\
                     -accelsim tracer version = 5\n\n#traces\n\n#BEGIN_TB\n\n\
                     thread block = 0,0,0\n\nwarp = 0\ninsts = 2\n\
                     0000 ffffffff {line} 16 {addresses} 0\n0010 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n"
                );
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join("kernel-1.traceg"), text).unwrap();
                let traced = moved(folder.path(), &["kernel-1.traceg"]);
                assert_eq!(traced[0], bytes, "{line} {addresses}");
                strata(folder.path(), &["trace", "record", "kernel-1.traceg", "-o", "r.strata"]);
                assert_eq!(moved(folder.path(), &["r.strata"]), traced, "{line} {addresses}");
            }
        }
    }
}

/// Addresses of 32 lanes, one by one.
fn listed(distance: u64) -> String {
    let each = (0..32).map(|lane| format!(" 0x{:x}", 0x7f00_0000_0000_u64 + distance * lane));
    format!("0{}", each.collect::<String>())
}

/// Accel-Sim treats them as loads, and never ends one without a result.
#[test]
fn an_atomic_of_shared_memory_has_a_result_even_if_it_is_not_used() {
    const UNUSED: [&str; 2] = ["1", "R255"];
    for operation in [
        "red.shared.add.u32 [%r4], %r1;",
        "atom.shared.add.u32 %r10, [%r4], %r1;",
        "atom.shared.add.u32 _, [%r4], %r1;",
        "atom.shared.cas.b32 _, [%r4], %r1, %r2;",
        "atom.shared.exch.b32 _, [%r4], %r1;",
        "atom.shared.add.u32 %r10, [%r4], %r1; st.shared.u32 [%r4], %r10;",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = exported(folder.path(), &kernel(80, operation));
        let lines: Vec<_> = text.lines().filter(|line| line.contains(" ATOMS.")).collect();
        let [line] = lines[..] else { panic!("{operation}: {text}") };
        let result: Vec<_> = line.split(' ').skip(2).take(2).collect();
        let used = operation.contains("st.shared");
        assert!(result[0] == "1" && (result != UNUSED) == used, "{operation}: {line}");
    }
}
