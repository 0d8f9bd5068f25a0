//! What a reader of a trace hands on, in the order of the file.

use strata_simt::moved::Addresses;

use super::error::Problem;
use super::header::Header;
use super::instruction::Named;

/// Receives what a trace file holds, in the file's order.
pub(crate) trait Visitor {
    /// The header was read.
    fn header(&mut self, header: &Header);
    /// A warp begins. `cta` is its linear index (x fastest).
    fn begin(&mut self, cta: u64, warp: u32);
    /// The warp executes an instruction: the `id`-th that the file showed first.
    fn instruction(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem>;
    /// The warp ends.
    fn end(&mut self) -> Result<(), Problem>;
}

/// An instruction as first seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Program counter.
    pub(crate) pc: u64,
    /// What its lines name.
    pub(crate) named: Named,
    /// The text between mask and addresses, as first seen.
    pub(crate) text: Vec<u8>,
}
