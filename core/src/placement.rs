//! Placement: the levels of a software-managed hierarchy in which an operand is found or a result
//! is left, as the compiler encodes them in each register name.
//!
//! Source: `[DISS]` 6.2 and 6.4; `docs/MODEL.md`, section "Compiler-managed hierarchy".

/// Most entries of one thread's operand register file that a paper measures.
pub const MAX_ORF_ENTRIES: u8 = 8;
/// Banks of a split last result file: one for each operand slot of a multiply-add.
pub const LRF_BANKS: u8 = 3;

/// An entry of a level above the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Upper {
    /// Entry of the operand register file. Range: `0..MAX_ORF_ENTRIES`.
    Orf(u8),
    /// Bank of the last result file, which has one entry: 0 if it is unified, else the operand slot
    /// that it serves. Range: `0..LRF_BANKS`.
    Lrf(u8),
}

/// Where one register slot of an instruction lives.
///
/// A source is read from `upper`, or from the main register file if `main` is set; with both, it is
/// read from the main register file and left in `upper` for later reads. A result is written to
/// each of the two that is set; at least one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The main register file takes part.
    pub main: bool,
    /// The upper level that takes part.
    pub upper: Option<Upper>,
}

impl Placement {
    /// The main register file alone.
    pub const MAIN: Self = Self { main: true, upper: None };
}
