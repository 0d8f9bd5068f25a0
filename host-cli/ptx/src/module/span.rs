//! Places in the source text.

/// A half-open range of bytes in the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte. Unit: bytes from the start of the file.
    pub start: u32,
    /// One past the last byte. Unit: bytes from the start of the file.
    pub end: u32,
}
