//! Bounds on compiled kernels, so that hostile input costs bounded memory and time.
//!
//! Real kernels stay far below all of them: the largest have some ten thousand instructions.

/// Most basic blocks of a kernel.
pub(crate) const MAX_BLOCKS: usize = 1 << 17;
/// Most bits of one table of blocks times registers.
pub(crate) const MAX_TABLE_BITS: usize = 1 << 31;
/// Most pairs (block, value live at its start).
pub(crate) const MAX_LIVE_PAIRS: usize = 1 << 23;
/// Most pairs (block, place where lanes wait meanwhile).
pub(crate) const MAX_WAITING_PAIRS: usize = 1 << 24;
/// Most triples (block, place where lanes wait meanwhile, value that they need).
pub(crate) const MAX_HELD_TRIPLES: usize = 1 << 28;
/// Most registers of one class.
pub(crate) const MAX_REGISTERS: usize = 1 << 16;

/// A kernel that is too large in some way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    /// Rule of the diagnostic.
    pub(crate) code: &'static str,
    /// Message of the diagnostic.
    pub(crate) message: String,
    /// Instruction where it shows.
    pub(crate) pc: usize,
}

impl TooLarge {
    /// The whole kernel is too large.
    pub(crate) fn kernel(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), pc: 0 }
    }

    /// Branches up to the one at `pc` are nested so deeply that the places where lanes wait would
    /// take too much memory.
    pub(crate) fn nesting(pc: usize) -> Self {
        let message = format!(
            "branches are nested too deeply: basic blocks and places where lanes wait meanwhile \
             make more than {MAX_WAITING_PAIRS} pairs"
        );
        Self { code: "nesting-too-deep", message, pc }
    }

    /// Values wait in so many places that telling them apart would take too much memory.
    pub(crate) fn held() -> Self {
        let message = format!(
            "branches are nested too deeply: values that wait for lanes elsewhere make more than \
             {MAX_HELD_TRIPLES} entries"
        );
        Self::kernel("nesting-too-deep", message)
    }

    /// Refuses tables of too many bits.
    pub(crate) fn check_table(blocks: usize, registers: usize) -> Result<(), Self> {
        if blocks.saturating_mul(registers) <= MAX_TABLE_BITS {
            return Ok(());
        }
        let message = format!("has {blocks} basic blocks with {registers} registers: too many");
        Err(Self::kernel("kernel-too-large", message))
    }
}

/// How many 32-bit registers a thread may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegisterLimit(u16);

impl RegisterLimit {
    /// Fewest registers: any instruction but those of matrices finds room in them.
    pub const MIN: u16 = 16;
    /// Most registers: what an 8-bit register number addresses, register 255 being zero.
    pub const MAX: u16 = 255;

    /// A limit; `None` outside of `MIN..=MAX`.
    pub fn new(registers: u16) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&registers).then_some(Self(registers))
    }

    /// Unit: 32-bit registers per thread.
    pub fn get(self) -> u16 {
        self.0
    }
}
