//! Random numbers of which a seed determines all.

/// A stream of them (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub const fn wide(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next 32 bits.
    pub const fn next(&mut self) -> u32 {
        self.wide() as u32
    }

    /// A number below a limit, which is not 0.
    pub const fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// True in this many of 100 cases.
    pub const fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}
