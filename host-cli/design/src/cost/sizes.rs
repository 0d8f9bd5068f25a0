//! Sizes that all storage of registers has in common.

/// Bytes of a 32-bit register of one thread.
pub(super) const REGISTER_BYTES: u64 = 4;
/// Bits of a tag: register numbers up to 255. No paper prints a width.
pub const TAG_BITS: u64 = 8;
