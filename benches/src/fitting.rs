//! Fitting made-up programs of several lengths to a compiler-managed register hierarchy.
//!
//! A piece of work analyses an allocated program and places its operands and results; what it
//! returns counts static instructions, so that its cost for each of them must stay the same however
//! long the program is.

use std::fmt::Write as _;
use std::hint::black_box;

use strata_compiler::hierarchy::{
    AccessCosts, Code, Costs, DualWrites, Hierarchy, HierarchyConfig, LevelCosts, Lrf, fit,
};
use strata_compiler::program::Program;
use strata_ptx::module::FunctionId;

use crate::counting::Sequence;
use crate::work::{Prepared, Work};

/// Registers that the arithmetic goes through.
pub(crate) const REGISTERS: u32 = 16;
/// Instructions from one forward branch to the next, where there are any.
const BLOCK: usize = 8;
/// Instructions from one load to the next.
const LOADS: usize = 16;
/// Instructions of a loop.
const LOOP: usize = 80;

/// Short and medium programs.
pub const WORK: &[Work] = &[
    Work { name: "fit_straight_1k", prepare: || prepare(1_000, false) },
    Work { name: "fit_straight_10k", prepare: || prepare(10_000, false) },
    Work { name: "fit_branchy_1k", prepare: || prepare(1_000, true) },
    Work { name: "fit_branchy_10k", prepare: || prepare(10_000, true) },
];

/// Long ones. Only timed: allocating their registers under valgrind, before anything can be
/// counted, takes too long for a gate.
pub const LONG: &[Work] = &[
    Work { name: "fit_straight_100k", prepare: || prepare(100_000, false) },
    Work { name: "fit_branchy_100k", prepare: || prepare(100_000, true) },
];

/// `[DISS]` Tables 4.5 and 4.6 for 3 entries, in femtojoules for each 128 bits: banks and wires.
const fn config() -> HierarchyConfig {
    const fn level(read: i64, write: i64, private: i64, shared: i64) -> LevelCosts {
        // The wire to the main register file passes by the others.
        const fn access(read: i64, write: i64, wire: i64) -> AccessCosts {
            AccessCosts { read: read + wire, write: write + wire, beside_main: write }
        }
        LevelCosts { private: access(read, write, private), shared: access(read, write, shared) }
    }
    HierarchyConfig {
        orf_entries: 3,
        lrf: Lrf::Split,
        forward_branches: true,
        read_operands: true,
        partial_ranges: true,
        past_deschedules: false,
        past_backward_branches: false,
        dual_writes: DualWrites::Any,
        costs: Costs {
            main: level(8_000, 11_000, 7_600, 7_600),
            orf: level(1_200, 4_400, 1_520, 3_040),
            lrf: Some(level(700, 2_000, 380, 380)),
        },
    }
}

/// A kernel of about `length` instructions: arithmetic on a few registers with a load now and then;
/// with `branches`, short forward branches in loops.
pub(crate) fn text(length: usize, branches: bool, registers: u32) -> String {
    // Whole blocks, so that every branch has its label.
    let length = length / BLOCK * BLOCK;
    let mut text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry made_up(.param .u64 at)\n{{\n.reg .b32 %r<{registers}>;\n\
         .reg .b64 %rd<1>;\n.reg .pred %p<1>;\nld.param.u64 %rd0, [at];\n",
    );
    let mut sequence = Sequence(1);
    for register in 0..registers {
        let _ = writeln!(text, "mov.u32 %r{register}, {register};");
    }
    let start = registers as usize + 1;
    for at in start..length {
        let [to, from, with] = [(); 3].map(|()| sequence.below(registers));
        if branches && at % LOOP == 0 {
            let _ = writeln!(text, "LOOP{}:", at / LOOP);
        }
        let _ = match at % BLOCK {
            1 if at % LOADS == 1 => writeln!(text, "ld.global.u32 %r{to}, [%rd0+{}];", 4 * to),
            2 if branches => writeln!(text, "setp.lt.s32 %p0, %r{from}, %r{with};"),
            3 if branches && at > start + BLOCK => writeln!(text, "@%p0 bra SKIP{};", at / BLOCK),
            0 | 4 => writeln!(text, "mad.lo.s32 %r{to}, %r{from}, %r{with}, %r{to};"),
            _ => writeln!(text, "add.s32 %r{to}, %r{from}, %r{with};"),
        };
        if branches && at % BLOCK == 6 && at > start + BLOCK {
            let _ = writeln!(text, "SKIP{}:", at / BLOCK);
        }
        if branches && at % LOOP == LOOP - 1 && at > start + LOOP {
            let _ = writeln!(text, "@%p0 bra LOOP{};", at / LOOP);
        }
    }
    for register in 0..registers {
        let _ = writeln!(text, "st.global.u32 [%rd0+{}], %r{register};", 4 * register);
    }
    text.push_str("ret;\n}\n");
    text
}

/// Compiles the kernel that is all of a text.
pub(crate) fn program(text: &str) -> Program {
    let parsed = strata_ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
    strata_compiler::compile(
        &parsed.module,
        FunctionId(0),
        strata_compiler::CompileOptions::default(),
    )
    .expect("a small kernel")
}

fn fitted(program: &Program) -> Hierarchy {
    let code = Code::new(program).expect("not too large to analyse");
    fit(&code, &config()).expect("a good configuration")
}

fn prepare(length: usize, branches: bool) -> Prepared {
    let program = program(&text(length, branches, REGISTERS));
    Box::new(move || {
        black_box(fitted(&program));
        program.instructions.len() as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_compiler::hierarchy::Outcome;

    #[test]
    fn programs_have_their_length_and_values_to_keep() {
        for branches in [false, true] {
            let program = program(&text(1_000, branches, REGISTERS));
            let length = program.instructions.len();
            assert!((950..=1_100).contains(&length), "{length}");
            let hierarchy = fitted(&program);
            let outcomes = hierarchy.decisions.iter().map(|decision| decision.outcome);
            let kept = outcomes.filter(|outcome| matches!(outcome, Outcome::Kept { .. })).count();
            assert!(kept > 100, "{kept}");
            assert_eq!(prepare(1_000, branches)(), length as u64);
        }
    }
}
