//! Field: some bits of a word of the prototype. The register map has them all.

/// Some bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The lowest.
    bit: u32,
    /// How many. Range: from 1.
    width: u32,
}

impl Field {
    /// `width` bits from bit `bit` on. At least one, and within 32; any other field does not
    /// compile.
    pub(super) const fn new(bit: u32, width: u32) -> Self {
        assert!(width > 0 && bit < u32::BITS && width <= u32::BITS - bit);
        Self { bit, width }
    }

    /// The largest value that fits.
    #[inline]
    pub const fn largest(self) -> u32 {
        u32::MAX >> (u32::BITS - self.width)
    }

    /// Whether a value fits.
    #[inline]
    pub const fn fits(self, value: u32) -> bool {
        value <= self.largest()
    }

    /// Its value in a word.
    #[inline]
    pub const fn get(self, word: u32) -> u32 {
        word >> self.bit & self.largest()
    }

    /// Whether a bit of it is set in a word.
    #[inline]
    pub const fn is_set(self, word: u32) -> bool {
        word & self.mask() != 0
    }

    /// A word with this value and nothing else. A value that does not fit is cut to its low bits.
    #[inline]
    pub const fn put(self, value: u32) -> u32 {
        (value & self.largest()) << self.bit
    }

    /// All its bits.
    #[inline]
    pub const fn mask(self) -> u32 {
        self.largest() << self.bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_its_bits() {
        for (field, mask) in [
            (Field::new(0, 1), 0b1),
            (Field::new(3, 4), 0b111_1000),
            (Field::new(16, 16), 0xffff_0000),
            (Field::new(0, 32), u32::MAX),
        ] {
            assert_eq!(field.mask(), mask);
            assert_eq!(field.get(u32::MAX), field.largest());
            assert_eq!(field.put(u32::MAX), mask);
            assert!(field.fits(field.largest()) && field.is_set(mask) && !field.is_set(!mask));
        }
        let field = Field::new(3, 4);
        assert_eq!((field.put(0b10), field.get(0b101_0111)), (0b1_0000, 0b1010));
        assert!(!field.fits(16));
    }
}
