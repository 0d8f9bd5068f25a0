//! The built-in workloads with 32-bit addresses: made of what nvcc compiles, which has 64-bit ones
//! only.
//!
//! The result is committed as `kernel32.ptx` beside each `kernel.ptx`; that it computes the same
//! is tested by executing both (`host-cli/tests/addresses.rs`). Set `STRATA_BLESS=1` to write the
//! files after a change of a `kernel.ptx`, or of the pass.

mod pass;

use std::path::{Path, PathBuf};

use pass::narrow;
use strata_ptx::parse;
use strata_ptx::types::Kind;

#[path = "../../../../tests/switch.rs"]
mod switch;

fn kernels() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads");
    let mut kernels: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .expect("the workloads are there")
        .map(|entry| entry.expect("a readable entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(_, path)| path.is_dir())
        .collect();
    kernels.sort();
    assert!(kernels.len() >= 12, "{} workloads", kernels.len());
    kernels
}

#[test]
fn committed_files_are_what_the_pass_makes() {
    for (name, folder) in kernels() {
        let text = std::fs::read_to_string(folder.join("kernel.ptx")).expect("it is readable");
        let made = narrow(&text).unwrap_or_else(|refusal| {
            panic!("{name}/kernel.ptx:{}: {}", refusal.line, refusal.why)
        });
        let file = folder.join("kernel32.ptx");
        if switch::is_on("STRATA_BLESS") {
            std::fs::write(&file, &made).expect("it can be written");
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(committed == made, "{name}/kernel32.ptx is not what the pass makes of kernel.ptx");
    }
}

/// Registers of `btree` that hold keys, or what they are computed of.
const KEYS: [&str; 13] = [
    "%rd1", "%rd11", "%rd14", "%rd16", "%rd19", "%rd2", "%rd21", "%rd24", "%rd31", "%rd41",
    "%rd42", "%rd6", "%rd8",
];

/// `hotspot` divides by the upper half of a product of 64 bits, which is no address; the keys of
/// `btree` have 64 bits.
#[test]
fn nothing_but_a_division_and_keys_stay_wide() {
    for (name, folder) in kernels() {
        let text = std::fs::read_to_string(folder.join("kernel32.ptx")).expect("it is readable");
        let parsed = parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", parsed.diagnostics);
        let registers = parsed.module.functions.iter().flat_map(|function| &function.registers);
        let wide = registers.filter(|r| r.ty.bits() == 64 && r.ty.kind() != Kind::Float);
        let mut wide: Vec<&str> = wide.map(|register| &*register.name).collect();
        wide.sort_unstable();
        let expected: &[&str] = match name.as_str() {
            "hotspot" => &["%rd5", "%rd6"],
            "btree" => &KEYS,
            _ => &[],
        };
        assert_eq!((wide.as_slice(), parsed.module.address_bits), (expected, 32), "{name}");
    }
}

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .entry k(\n.param .u64 to,\n.param .u64 seed,\n.param .u32 n)\n{{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n{body}}}\n"
    )
}

/// Lines of what is made of a kernel with this body, from its declarations on.
fn made(body: &str) -> Vec<String> {
    let text = narrow(&kernel(body)).unwrap_or_else(|refusal| panic!("{refusal:?}"));
    assert!(text.contains("\n.address_size 32\n"), "{text}");
    let parsed = parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{text}{:?}", parsed.diagnostics);
    text.lines().skip_while(|line| !line.contains(".param")).map(str::to_owned).collect()
}

#[test]
fn addresses_and_what_they_are_computed_with_are_narrowed() {
    let lines = made(
        "ld.param.u64 %rd1, [to];\n\
         ld.param.u64 %rd2, [seed];\n\
         ld.param.u32 %r1, [n];\n\
         cvta.to.global.u64 %rd3, %rd1;\n\
         mul.wide.s32 %rd4, %r1, -8;\n\
         add.s64 %rd5, %rd3, %rd4;\n\
         shl.b64 %rd6, %rd5, 1;\n\
         mad.wide.u32 %rd6, %r1, 4, %rd6;\n\
         sub.s64 %rd7, %rd6, %rd5;\n\
         mad.lo.s64 %rd7, %rd7, 3, %rd7;\n\
         shr.u64 %rd8, %rd2, 3;\n\
         @%p1 st.global.u64 [%rd7+16], %rd8;\n\
         ret;\n",
    );
    let expected = [
        ".param .u32 to,",
        ".param .u64 seed,",
        ".param .u32 n)",
        "{",
        ".reg .pred %p<3>;",
        ".reg .b32 %r<9>;",
        ".reg .b64 %rd<9>;",
        "\t.reg .b32 %rda<9>;",
        "ld.param.u32 %rda1, [to];",
        "ld.param.u64 %rd2, [seed];",
        "ld.param.u32 %r1, [n];",
        "cvta.to.global.u32 %rda3, %rda1;",
        "mul.lo.s32 %rda4, %r1, -8;",
        "add.s32 %rda5, %rda3, %rda4;",
        "shl.b32 %rda6, %rda5, 1;",
        "mad.lo.u32 %rda6, %r1, 4, %rda6;",
        "sub.s32 %rda7, %rda6, %rda5;",
        "mad.lo.s32 %rda7, %rda7, 3, %rda7;",
        "shr.u64 %rd8, %rd2, 3;",
        "@%p1 st.global.u64 [%rda7+16], %rd8;",
        "ret;",
        "}",
    ];
    assert_eq!(lines, expected);
}

/// An index that is only widened is used as it is, unless one of the registers changes.
#[test]
fn a_widened_index_is_used_as_it_is() {
    let body = |more: &str| {
        made(&format!(
            "ld.param.u64 %rd1, [to];\nld.param.u32 %r1, [n];\ncvt.s64.s32 %rd2, %r1;\n{more}\
             add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\nret;\n"
        ))[7..]
            .join("\n")
    };
    assert_eq!(
        body("cvt.u32.u64 %r3, %rd2;\n"),
        "ld.param.u32 %rda1, [to];\nld.param.u32 %r1, [n];\nmov.b32 %r3, %r1;\n\
         add.s32 %rda3, %rda1, %r1;\nld.global.u32 %r2, [%rda3];\nret;\n}"
    );
    for more in ["add.s32 %r1, %r1, 1;\n", "add.s64 %rd2, %rd2, 4;\n"] {
        let text = body(more);
        assert!(text.contains("mov.b32 %rda2, %r1;\n"), "{text}");
        assert!(text.contains("add.s32 %rda3, %rda1, %rda2;\n"), "{text}");
    }
}

#[test]
fn what_is_no_address_stays_as_it_is() {
    let body = "ld.param.u64 %rd1, [seed];\nmul.wide.u32 %rd2, %r1, -2004318071;\n\
                shr.u64 %rd3, %rd2, 39;\nadd.s64 %rd4, %rd3, %rd1;\ncvt.u32.u64 %r2, %rd4;\nret;\n";
    assert_eq!(made(body)[7..].join("\n"), format!("{body}}}"));
}

#[test]
fn addresses_that_are_used_otherwise_are_refused() {
    let address = "ld.param.u64 %rd1, [to];\nst.global.u32 [%rd1], %r1;\n";
    for (line, why, body) in [
        (14, "`setp` uses `%rd1`", "setp.lt.u64 %p1, %rd1, %rd2;\n"),
        (14, "`shr` uses `%rd1`", "shr.u64 %rd2, %rd1, 4;\n"),
        (14, "`mul` uses `%rd1`", "mul.hi.u64 %rd2, %rd1, 4;\n"),
        (14, "`st` uses `%rd1`", "st.global.u64 [%rd2], %rd1;\n"),
        (14, "`ld` uses `%rd1`", "ld.global.u64 %rd1, [%rd2];\n"),
        (14, "`ld` uses `%rd1`", "ld.global.v2.u64 {%rd1, %rd2}, [%rd3];\n"),
        (14, "`mov` uses `%rd1`", "mov.b64 %rd1, {%r1, %r2};\n"),
        (14, "`mov` uses `%rd1`", "mov.b64 {%r1, %r2}, %rd1;\n"),
        (14, "`mov` uses `%rd1`", "mov.u64 %rd1, %clock64;\n"),
        (14, "`cvt` uses `%rd1`", "cvt.rn.f32.u64 %r1, %rd1;\n"),
        (14, "`atom` uses `%rd1`", "atom.global.add.u64 %rd2, [%rd3], %rd1;\n"),
        (14, "`add` uses `%rd1`", "add.cc.s64 %rd1, %rd1, %rd2;\n"),
        (14, "a constant of more than 32 bits", "add.s64 %rd2, %rd1, 4294967296;\n"),
        (
            15,
            "reads a parameter that is an",
            "ld.param.u64 %rd2, [to];\nld.param.u64 %rd3, [to];\n\
          st.global.u32 [%rd2], %r1;\n",
        ),
        (14, "the opcode `frobnicate` is not known", "frobnicate;\n"),
    ] {
        let refusal = narrow(&kernel(&format!("{address}{body}ret;\n"))).expect_err(body);
        assert!(refusal.why.contains(why), "{body}{refusal:?}");
        assert_eq!(refusal.line, line, "{body}{refusal:?}");
    }
}

#[test]
fn modules_that_are_not_understood_are_refused() {
    let head = ".version 8.0\n.target sm_75\n.address_size 64\n";
    for (line, why, text) in [
        (1, "addresses have 32 bits", head.replace("64", "32")),
        (
            5,
            "addresses in initial contents",
            format!("{head}.global .u32 a;\n.global .u64 b = a;\n"),
        ),
        (4, "`f` is called", format!("{head}.func f() {{ ret; }}\n")),
    ] {
        let refusal = narrow(&text).expect_err(&text);
        assert!(refusal.why.contains(why) && refusal.line == line, "{text}{refusal:?}");
    }
}
