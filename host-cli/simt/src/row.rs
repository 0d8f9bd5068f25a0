//! Rows: the values of one register in all 32 lanes, and the loops that compute on them.
//!
//! Models: a warp's registers as 128-byte rows, 64-bit values as two consecutive rows (low, high),
//! predicates as one bit for each lane, the condition-code carry as one bit for each lane.
//! Does not model: which row holds what (the decoder resolves operands to row numbers).
//!
//! Every loop computes all 32 lanes and then keeps those of the mask, so that the compiler emits
//! straight vector code; [`sparse1`] and its siblings visit only the lanes of the mask and suit
//! functions too long to be vectorised.

/// One 32-bit register of a warp: bit patterns, by lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [u32; 32]);

impl Row {
    /// All lanes zero.
    pub(crate) const ZERO: Self = Self([0; 32]);

    /// The same value in all lanes.
    pub(crate) const fn splat(value: u32) -> Self {
        Self([value; 32])
    }
}

/// Bit `n` of a lane mask, by lane.
const BITS: [u32; 32] = {
    let mut bits = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The lanes of a mask, lowest first.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// What the threads of a warp hold: the registers that instructions name.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// Registers, then special registers, then constants.
    pub(crate) rows: Vec<Row>,
    /// Predicates, then the constant predicates.
    pub(crate) predicates: Vec<u32>,
    /// Condition code `CC.CF`.
    pub(crate) carry: u32,
}

/// A value that a lane computes with, and how rows hold it.
pub(crate) trait Value: Copy + 'static {
    /// Rows being read.
    type Source<'a>: Copy;
    /// Rows being produced.
    type Result;
    /// The rows of the value whose first row is `first`.
    fn source(lanes: &Lanes, first: u32) -> Self::Source<'_>;
    /// One lane's value.
    fn lane(source: Self::Source<'_>, lane: usize) -> Self;
    /// A result with every lane zero.
    fn blank() -> Self::Result;
    /// Sets one lane of a result.
    fn set(result: &mut Self::Result, lane: usize, value: Self);
    /// Stores the lanes of the mask.
    fn store(lanes: &mut Lanes, first: u32, result: &Self::Result, mask: u32);
}

/// Stores the lanes of `mask` of one row.
#[inline]
pub(crate) fn store_row(row: &mut Row, result: &[u32; 32], mask: u32) {
    if mask == u32::MAX {
        row.0 = *result;
    } else {
        for lane in 0..32 {
            if mask & BITS[lane] != 0 {
                row.0[lane] = result[lane];
            }
        }
    }
}

impl Value for u32 {
    type Source<'a> = &'a [u32; 32];
    type Result = [u32; 32];

    #[inline]
    fn source(lanes: &Lanes, first: u32) -> Self::Source<'_> {
        &lanes.rows[first as usize].0
    }

    #[inline]
    fn lane(source: Self::Source<'_>, lane: usize) -> Self {
        source[lane]
    }

    #[inline]
    fn blank() -> Self::Result {
        [0; 32]
    }

    #[inline]
    fn set(result: &mut Self::Result, lane: usize, value: Self) {
        result[lane] = value;
    }

    #[inline]
    fn store(lanes: &mut Lanes, first: u32, result: &Self::Result, mask: u32) {
        store_row(&mut lanes.rows[first as usize], result, mask);
    }
}

/// 16-bit values lie zero-extended in their rows.
impl Value for u16 {
    type Source<'a> = &'a [u32; 32];
    type Result = [u32; 32];

    #[inline]
    fn source(lanes: &Lanes, first: u32) -> Self::Source<'_> {
        &lanes.rows[first as usize].0
    }

    #[inline]
    fn lane(source: Self::Source<'_>, lane: usize) -> Self {
        source[lane] as u16
    }

    #[inline]
    fn blank() -> Self::Result {
        [0; 32]
    }

    #[inline]
    fn set(result: &mut Self::Result, lane: usize, value: Self) {
        result[lane] = u32::from(value);
    }

    #[inline]
    fn store(lanes: &mut Lanes, first: u32, result: &Self::Result, mask: u32) {
        store_row(&mut lanes.rows[first as usize], result, mask);
    }
}

impl Value for u64 {
    type Source<'a> = (&'a [u32; 32], &'a [u32; 32]);
    type Result = ([u32; 32], [u32; 32]);

    #[inline]
    fn source(lanes: &Lanes, first: u32) -> Self::Source<'_> {
        (&lanes.rows[first as usize].0, &lanes.rows[first as usize + 1].0)
    }

    #[inline]
    fn lane(source: Self::Source<'_>, lane: usize) -> Self {
        u64::from(source.0[lane]) | u64::from(source.1[lane]) << 32
    }

    #[inline]
    fn blank() -> Self::Result {
        ([0; 32], [0; 32])
    }

    #[inline]
    fn set(result: &mut Self::Result, lane: usize, value: Self) {
        result.0[lane] = value as u32;
        result.1[lane] = (value >> 32) as u32;
    }

    #[inline]
    fn store(lanes: &mut Lanes, first: u32, result: &Self::Result, mask: u32) {
        store_row(&mut lanes.rows[first as usize], &result.0, mask);
        store_row(&mut lanes.rows[first as usize + 1], &result.1, mask);
    }
}

/// `d = f(a)` in the lanes of `mask`.
#[inline]
pub(crate) fn map1<A: Value, R: Value>(
    lanes: &mut Lanes,
    mask: u32,
    d: u32,
    a: u32,
    f: impl Fn(A) -> R,
) {
    let mut result = R::blank();
    let a = A::source(lanes, a);
    for lane in 0..32 {
        R::set(&mut result, lane, f(A::lane(a, lane)));
    }
    R::store(lanes, d, &result, mask);
}

/// `d = f(a, b)` in the lanes of `mask`.
#[inline]
pub(crate) fn map2<A: Value, B: Value, R: Value>(
    lanes: &mut Lanes,
    mask: u32,
    d: u32,
    (a, b): (u32, u32),
    f: impl Fn(A, B) -> R,
) {
    let mut result = R::blank();
    let (a, b) = (A::source(lanes, a), B::source(lanes, b));
    for lane in 0..32 {
        R::set(&mut result, lane, f(A::lane(a, lane), B::lane(b, lane)));
    }
    R::store(lanes, d, &result, mask);
}

/// `d = f(a, b, c)` in the lanes of `mask`.
#[inline]
pub(crate) fn map3<A: Value, B: Value, C: Value, R: Value>(
    lanes: &mut Lanes,
    mask: u32,
    d: u32,
    (a, b, c): (u32, u32, u32),
    f: impl Fn(A, B, C) -> R,
) {
    let mut result = R::blank();
    let (a, b, c) = (A::source(lanes, a), B::source(lanes, b), C::source(lanes, c));
    for lane in 0..32 {
        R::set(&mut result, lane, f(A::lane(a, lane), B::lane(b, lane), C::lane(c, lane)));
    }
    R::store(lanes, d, &result, mask);
}

/// `d = f(a)`, computed only in the lanes of `mask`.
#[inline]
pub(crate) fn sparse1<A: Value, R: Value>(
    file: &mut Lanes,
    mask: u32,
    d: u32,
    a: u32,
    f: impl Fn(A) -> R,
) {
    let mut result = R::blank();
    let a = A::source(file, a);
    for lane in lanes(mask) {
        R::set(&mut result, lane, f(A::lane(a, lane)));
    }
    R::store(file, d, &result, mask);
}

/// `d = f(a, b)`, computed only in the lanes of `mask`.
#[inline]
pub(crate) fn sparse2<A: Value, B: Value, R: Value>(
    file: &mut Lanes,
    mask: u32,
    d: u32,
    (a, b): (u32, u32),
    f: impl Fn(A, B) -> R,
) {
    let mut result = R::blank();
    let (a, b) = (A::source(file, a), B::source(file, b));
    for lane in lanes(mask) {
        R::set(&mut result, lane, f(A::lane(a, lane), B::lane(b, lane)));
    }
    R::store(file, d, &result, mask);
}

/// `d = f(a, b, c)`, computed only in the lanes of `mask`.
#[inline]
pub(crate) fn sparse3<A: Value, B: Value, C: Value, R: Value>(
    file: &mut Lanes,
    mask: u32,
    d: u32,
    (a, b, c): (u32, u32, u32),
    f: impl Fn(A, B, C) -> R,
) {
    let mut result = R::blank();
    let (a, b, c) = (A::source(file, a), B::source(file, b), C::source(file, c));
    for lane in lanes(mask) {
        R::set(&mut result, lane, f(A::lane(a, lane), B::lane(b, lane), C::lane(c, lane)));
    }
    R::store(file, d, &result, mask);
}

/// Packs one truth value (0 or 1) for each lane into a lane mask.
#[inline]
fn pack(truth: &[u8; 32]) -> u32 {
    // Eight bytes of 0 or 1 times this constant leave bit `n` of the top byte equal to byte `n`:
    // each partial product lands on its own bit, so nothing carries.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut mask = 0;
    for (index, chunk) in truth.as_chunks::<8>().0.iter().enumerate() {
        let byte = u64::from_le_bytes(*chunk).wrapping_mul(GATHER) >> 56;
        mask |= (byte as u32) << (8 * index);
    }
    mask
}

/// The lanes where `f(a)` holds, active or not.
#[inline]
pub(crate) fn test1<A: Value>(lanes: &Lanes, a: u32, f: impl Fn(A) -> bool) -> u32 {
    let mut truth = [0u8; 32];
    let a = A::source(lanes, a);
    for (lane, truth) in truth.iter_mut().enumerate() {
        *truth = u8::from(f(A::lane(a, lane)));
    }
    pack(&truth)
}

/// The lanes where `f(a, b)` holds, active or not.
#[inline]
pub(crate) fn test2<A: Value, B: Value>(
    lanes: &Lanes,
    (a, b): (u32, u32),
    f: impl Fn(A, B) -> bool,
) -> u32 {
    let mut truth = [0u8; 32];
    let (a, b) = (A::source(lanes, a), B::source(lanes, b));
    for (lane, truth) in truth.iter_mut().enumerate() {
        *truth = u8::from(f(A::lane(a, lane), B::lane(b, lane)));
    }
    pack(&truth)
}

/// `d = choice ? a : b` in the lanes of `mask`.
#[inline]
pub(crate) fn select<A: Value>(
    lanes: &mut Lanes,
    mask: u32,
    d: u32,
    (a, b): (u32, u32),
    choice: u32,
) {
    let mut result = A::blank();
    let (a, b) = (A::source(lanes, a), A::source(lanes, b));
    for (lane, bit) in BITS.into_iter().enumerate() {
        let value = if choice & bit != 0 { A::lane(a, lane) } else { A::lane(b, lane) };
        A::set(&mut result, lane, value);
    }
    A::store(lanes, d, &result, mask);
}

impl Lanes {
    /// Writes the lanes of `mask` of a predicate.
    #[inline]
    pub(crate) fn set_predicate(&mut self, index: u32, value: u32, mask: u32) {
        let predicate = &mut self.predicates[index as usize];
        *predicate = (*predicate & !mask) | (value & mask);
    }

    /// Writes the lanes of `mask` of the carry.
    #[inline]
    pub(crate) fn set_carry(&mut self, value: u32, mask: u32) {
        self.carry = (self.carry & !mask) | (value & mask);
    }

    /// One lane of a 32-bit value.
    #[inline]
    pub(crate) fn get32(&self, row: u32, lane: usize) -> u32 {
        self.rows[row as usize].0[lane]
    }

    /// One lane of a 64-bit value.
    #[inline]
    pub(crate) fn get64(&self, row: u32, lane: usize) -> u64 {
        u64::from(self.get32(row, lane)) | u64::from(self.get32(row + 1, lane)) << 32
    }

    /// Sets one lane of a 32-bit value.
    #[inline]
    pub(crate) fn put32(&mut self, row: u32, lane: usize, value: u32) {
        self.rows[row as usize].0[lane] = value;
    }

    /// Sets one lane of a 64-bit value.
    #[inline]
    pub(crate) fn put64(&mut self, row: u32, lane: usize, value: u64) {
        self.put32(row, lane, value as u32);
        self.put32(row + 1, lane, (value >> 32) as u32);
    }
}
