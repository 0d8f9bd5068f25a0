//! One statement a line, and whether the real assembler takes it: we must say the same.
//!
//! `tests/statements.txt` holds `+` (taken) or `-` (refused) and the statement; the verdicts are
//! those of `ptxas` 13 for `sm_90`. `~+` and `~-` are what we say where we differ on purpose; the
//! comment above such a line says why.

use strata_ptx::parse;

const HEAD: &str = ".version 9.0
.target sm_90
.address_size 64
.global .align 4 .u32 sym[4];
.shared .align 4 .u32 ssym[4];
.visible .entry k(.param .u64 p0) {
.reg .pred %p<5>; .reg .b16 %rs<5>; .reg .u16 %rh<5>; .reg .b32 %r<9>; .reg .u32 %u<5>;
.reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .f16 %h<4>; .reg .f16x2 %hh<4>;
.reg .b8 %c<4>; .reg .u64 %ud<4>; .reg .s64 %sd<4>;
";

#[test]
fn statements_are_taken_and_refused_as_the_assembler_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/statements.txt");
    let list = std::fs::read_to_string(path).expect("the list is there");
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (verdict, statement) = line.split_once(' ').expect("a verdict and a statement");
        let good = parse(&format!("{HEAD}{statement}\nret;\n}}\n")).diagnostics.is_empty();
        match verdict {
            "+" | "~+" if good => taken += 1,
            "-" | "~-" if !good => refused += 1,
            _ => wrong.push(line),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(taken > 150 && refused > 150, "{taken} taken, {refused} refused");
}
