//! The fuzz target's check, run on mutants of the corpus with fixed seeds, and on hostile files.

use std::path::Path;

use strata_ptx::fuzzing::{Random, check, mutate};
use strata_ptx::parse;

fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "cu"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
}

#[test]
fn mutants_break_nothing() {
    const MUTANTS: u64 = 3000;
    let mut seeds = files("tests/corpus");
    seeds.extend(files("../../fuzz/corpus/parse"));
    assert!(seeds.len() >= 10);
    let mut malformed = 0;
    for seed in 0..MUTANTS {
        let mut random = Random(seed);
        let text = &seeds[random.below(seeds.len())];
        let other = &seeds[random.below(seeds.len())];
        let mutant = mutate(text, other, &mut random);
        let outcome = std::panic::catch_unwind(|| check(&mutant));
        assert!(outcome.is_ok(), "seed {seed}:\n{}", String::from_utf8_lossy(&mutant));
        malformed += u64::from(strata_ptx::parse_bytes(&mutant).has_errors());
    }
    // Mutants are windows of files, so most are malformed; if all were, the checks of modules that
    // parse would never run.
    assert!(malformed > MUTANTS / 2 && malformed < MUTANTS, "{malformed} malformed");
}

#[test]
fn truncation_anywhere_is_reported_and_breaks_nothing() {
    let text = std::str::from_utf8(&files("../../fuzz/corpus/parse")[3]).expect("text").to_owned();
    let body = text.find('{').expect("a body");
    let end = text.rfind('}').expect("the end");
    assert!(!parse(&text).has_errors());
    for length in 0..text.len() {
        check(&text.as_bytes()[..length]);
        // Past the table and before the last brace something is always missing.
        if length > body + 60 && length <= end {
            let cut = &text[..length];
            let complete =
                cut.trim_end().ends_with("{ ret; }") || cut.ends_with('\n') && length < 210;
            assert!(parse(cut).has_errors() || complete, "{length}: {cut}");
        }
    }
}

#[test]
fn every_byte_of_a_small_file_may_change() {
    let text = &files("../../fuzz/corpus/parse")[3];
    for place in 0..text.len() {
        for value in [0, b';', b'{', b'}', b'%', b'9', b'.', b'"', 0x80, 0xFF] {
            let mut changed = text.clone();
            changed[place] = value;
            check(&changed);
        }
    }
}

/// A kernel around some statements.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<4000000000>; .reg .b64 %rd<9>;\n{body}\n}}\n"
    )
}

/// `line(0)`, `line(1)` and so on, put together.
fn numbered(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().concat()
}

#[test]
fn hostile_files_cost_no_more_than_honest_ones() {
    let many = 100_000;
    let files = [
        "{".repeat(many),
        "}".repeat(many),
        ".entry k() {".repeat(many / 10),
        kernel(&"{".repeat(many)),
        kernel(&"{ .reg .b32 %r1; ".repeat(63)),
        kernel(&format!("mov.u32 %r1, {};", "(".repeat(many))),
        kernel(&format!("mov.u32 %r1, {}1;", "-".repeat(many))),
        kernel(&format!("mov.u32 %r1, 1{};", "+1".repeat(many))),
        kernel(&format!("mov.u32 %r1, {}1;", "1?1:".repeat(many))),
        kernel(&format!("mov.b64 {{{}%r1}}, %rd1;", "%r1,".repeat(many))),
        kernel(&format!("add{} %r1;", ".s32".repeat(many))),
        kernel(&format!("add.s32 {}%r1;", "%r1,".repeat(many))),
        kernel(&"frobnicate %r1;\n".repeat(many / 4)),
        kernel(&"add.s32 %r1, %zzz, %r1;\n".repeat(many / 4)),
        kernel(&"bra nowhere;\n".repeat(many / 4)),
        kernel(&numbered(many / 4, |n| {
            format!(
                "l{n}: bra l{};
",
                n / 2
            )
        })),
        kernel(&numbered(many / 4, |n| {
            format!(
                "add.s32 %r{n}, %r1, 1;
"
            )
        })),
        format!(".global .b8 x{};", "[4]".repeat(many)),
        format!(".global .b8 x[2][2] = {};", "{".repeat(many)),
        numbered(2000, |n| format!(".global .b8 x{n}[2][99999999]={{{{1}},{{1}}}};\n")),
        format!("// {}", "x".repeat(many)),
        format!("/* {}", "*".repeat(many)),
        format!("\"{}", "a".repeat(many)),
        ".".repeat(many),
        "%".repeat(many),
        "\u{1F600}".repeat(many / 4),
        "a".repeat(many),
        "9".repeat(many),
    ];
    for (index, file) in files.iter().enumerate() {
        let outcome = std::panic::catch_unwind(|| check(file.as_bytes()));
        assert!(outcome.is_ok(), "file {index}: {}", &file[..file.len().min(80)]);
    }
}

#[test]
fn declarations_of_any_size_take_no_memory() {
    let parsed = parse(&kernel(
        ".shared .b8 big[1<<60];\n.local .b8 also_big[1<<20][1<<20];\n\
        add.s32 %r1, %r3999999999, 1;",
    ));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let function = &parsed.module.functions[0];
    assert_eq!(function.registers.len(), 2, "only registers that are used are kept");
    assert_eq!(function.variables[0].size, 1 << 60);
    assert_eq!(function.variables[1].size, 1 << 40);
    for declaration in [
        ".global .b8 x[1<<63];",
        ".global .b64 x[1<<60];",
        ".global .b8 x[1<<40][1<<40];",
        ".global .b8 x[][1<<40][1<<40];",
        ".global .b8 x[0][1<<40][1<<40];",
    ] {
        let parsed = parse(&format!(".version 8.0\n{declaration}\n"));
        assert!(parsed.has_errors(), "{declaration}");
    }
}
