//! One instruction while it is decoded, and what all of them need.

use rustc_hash::FxHashMap;
use strata_compiler::program::{Program, ProgramInstruction};
use strata_ptx::module::{Instruction, Module};

use crate::executable::ExtraRow;
use crate::micro::{
    Access, Action, Args, AsyncCopy, Barrier, Call, Mbarrier, TextureAccess, VectorMove,
};
use crate::ops::matrix::Matrix;

/// Why one instruction cannot be executed.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// An action with its operands.
pub(crate) type Decoded = Result<(Action, Args), Problem>;

/// Collects what the instructions need.
pub(crate) struct Decoder<'a> {
    pub(crate) program: &'a Program,
    pub(crate) module: &'a Module,
    pub(crate) accesses: Vec<Access>,
    pub(crate) textures: Vec<TextureAccess>,
    pub(crate) copies: Vec<AsyncCopy>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) mbarriers: Vec<Mbarrier>,
    pub(crate) vectors: Vec<VectorMove>,
    pub(crate) calls: Vec<Call>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) extra: Vec<ExtraRow>,
    pub(super) by_content: FxHashMap<Vec<ExtraRow>, u32>,
    pub(crate) uses_module: bool,
}

/// Rows for results that are not used: as many as the widest one has.
const SINK_ROWS: u32 = 4;

/// One instruction being decoded.
pub(crate) struct One<'d, 'a> {
    pub(crate) decoder: &'d mut Decoder<'a>,
    pub(crate) instruction: &'a Instruction,
    pub(crate) whole: &'a ProgramInstruction,
    /// Nothing follows it.
    pub(super) last: bool,
}

impl Decoder<'_> {
    /// Row of the first result that is not used.
    pub(crate) fn sink(&self) -> u32 {
        u32::from(self.program.general_registers)
    }

    pub(crate) fn first_extra(&self) -> u32 {
        self.sink() + SINK_ROWS
    }

    /// Predicate that is not used.
    pub(crate) fn predicate_sink(&self) -> u32 {
        u32::from(self.program.predicate_registers)
    }

    /// The predicate that is always true.
    pub(crate) fn always(&self) -> u32 {
        u32::from(self.program.predicate_registers) + 2
    }

    /// Row of the first of some rows that are never written.
    pub(crate) fn extra(&mut self, rows: Vec<ExtraRow>) -> u32 {
        if let Some(&known) = self.by_content.get(&rows) {
            return known;
        }
        let first = self.first_extra() + self.extra.len() as u32;
        self.extra.extend_from_slice(&rows);
        self.by_content.insert(rows, first);
        first
    }
}
