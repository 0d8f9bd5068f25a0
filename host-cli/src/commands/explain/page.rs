//! What the pages of a kernel's instructions are made of, and how their rows are written.

use std::fmt::Write as _;

use strata_compiler::explain::Explainer;
use strata_compiler::kernel::Kernel;
use strata_compiler::program::{Program, ProgramInstruction};
use strata_core::image::StaticInstruction;
use strata_core::units::Femtojoules;
use strata_ptx::module::{Module, VirtualRegister};

use strata_design::Design;
use strata_design::cost::AccessCost;

use super::fit::Fit;

/// What pages of one kernel are made of.
pub(super) struct Page<'a> {
    pub(super) module: &'a Module,
    pub(super) program: &'a Program,
    /// The kernel before its registers were allocated.
    pub(super) kernel: &'a Kernel,
    pub(super) explainer: &'a Explainer<'a>,
    pub(super) design: &'a Design,
    /// The levels of its operands, if the compiler manages them.
    pub(super) fitted: Option<&'a Fit>,
    /// The instructions as the listing has them.
    pub(super) instructions: Vec<String>,
    /// Their basic blocks.
    pub(super) blocks: Vec<usize>,
    /// What accesses cost; empty if that is not known.
    pub(super) costs: Vec<AccessCost>,
}

/// Column after which text goes on in the next line.
const WIDTH: usize = 100;

/// A blank at which no line is broken.
pub(super) const TIE: char = '\u{a0}';

/// Adds a row: what it is about, and text, in as many lines as it takes.
pub(super) fn row(text: &mut String, label: &str, value: &str) {
    // What is deeper in `value` stays so in its further lines.
    let depth = value.len() - value.trim_start_matches(' ').len();
    let mut line = format!("  {label:<12} {:depth$}", "");
    let mut empty = true;
    for word in value.trim_start_matches(' ').split(' ').map(|word| word.replace(TIE, " ")) {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(15 + depth + 2);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += &word;
        empty = false;
    }
    let _ = writeln!(text, "{line}");
}

/// An instruction's place: `line 41 (12)`, or `line 41 [kernel.cu:7] (12)`.
pub(super) fn place(module: &Module, program: &Program, pc: usize) -> String {
    let ProgramInstruction { instruction, line, .. } = &program.instructions[pc];
    let cuda = module.cuda.of(instruction.span);
    let cuda = cuda.map_or_else(String::new, |place| format!("[{}]{TIE}", place.short()));
    format!("line{TIE}{line}{TIE}{cuda}({pc})")
}

/// Picojoules with one decimal.
pub(super) fn picojoules(energy: Femtojoules) -> String {
    let tenths = (energy.0 + 50) / 100;
    format!("{}.{}{TIE}pJ", tenths / 10, tenths % 10)
}

impl Page<'_> {
    pub(super) fn record(&self, pc: usize) -> &StaticInstruction {
        &self.program.image.instructions[pc]
    }

    /// Energy of one access of a whole warp, if it is known.
    pub(super) fn cost(&self, level: &str, access: &str, shared: bool) -> Option<Femtojoules> {
        let datapath = if shared { "shared" } else { "private" };
        let what = format!("{level} {access}, {datapath} datapath");
        let cost = self.costs.iter().find(|cost| cost.what == what)?;
        Some(Femtojoules(cost.bank.0 + cost.wire.0))
    }

    /// `MRF, 124.8 pJ`.
    pub(super) fn priced(&self, level: &str, access: &str, shared: bool) -> String {
        match self.cost(level, access, shared) {
            Some(energy) => format!("{level}{TIE}({})", picojoules(energy)),
            None => level.to_owned(),
        }
    }

    /// `line 41 (12)`, joined by commas.
    pub(super) fn places(&self, pcs: &[u32]) -> String {
        let mut pcs = pcs.to_vec();
        pcs.dedup();
        let places = pcs.iter().map(|&pc| self.place(pc as usize));
        places.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn place(&self, pc: usize) -> String {
        place(self.module, self.program, pc)
    }

    /// The name of a register of the program.
    pub(super) fn name(&self, register: VirtualRegister) -> String {
        let register = &self.program.registers[register.index()];
        format!("{} .{}", register.name, register.ty.name())
    }
}
