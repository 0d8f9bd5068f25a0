//! Touched: the lines of memory that the lanes of an access touch, the words and rows of the banks
//! of the memory on the chip, and the cycles that the access takes in them.
//!
//! Models: a line of 128 bytes is 32 words of 4 bytes, or 8 rows of 16 bytes. A word that several
//! lanes touch is one access. The lines of an access come in the order of the lanes that touch them
//! first. Local memory is interleaved by lane: the same word of all lanes is one line.
//! Source: `[MICRO2012]` 4.2 and 4.3, `[DISS]` 7.3.1; `docs/MODEL.md`, rule 35.

use heapless::Vec;

use crate::named;
use crate::units::LANES;

/// A line of the cache. Unit: bytes.
pub const LINE_BYTES: u32 = 128;
/// A word of a bank of 4 bytes. Unit: bytes.
const WORD_BYTES: u64 = 4;
/// A row of a bank of 16 bytes. Unit: bytes.
pub const ROW_BYTES: u32 = 16;
/// Rows of a line, and clusters of lanes: row `r` of a line lies in cluster `r`.
const ROWS: usize = (LINE_BYTES / ROW_BYTES) as usize;
/// Clusters of lanes; each has one bank of each logical bank.
pub const CLUSTERS: usize = ROWS;
/// Logical banks of unified storage; each has one bank in each cluster.
pub const LOGICAL_BANKS: usize = 4;
/// Most bytes that a lane accesses. Unit: bytes.
pub const MOST_LANE_BYTES: u32 = 128;
/// Most lines that an access touches: each lane its own words of local memory, which lie in as many
/// lines.
pub const MOST_LINES: usize = LANES as usize * (MOST_LANE_BYTES as usize / 4 + 1);

named! {
    /// How shared memory and the cache lie in the banks of an SM.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BankMapping {
        /// 32 banks of 4 bytes, apart from the registers.
        Partitioned = "partitioned",
        /// The 32 banks of unified storage, 16 bytes wide: a cluster accesses one of its four in a
        /// cycle.
        Simple = "simple",
        /// The same, and a cluster accesses several of its four in a cycle, for 16 bytes together.
        Aggressive = "aggressive",
    }
}

/// Where the addresses of an access lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Shared memory.
    Shared,
    /// Global memory.
    Global,
    /// Local memory: the addresses are the thread's own.
    Local,
}

/// A line that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TouchedLine {
    number: u64,
    /// Bit `i`: row `i`.
    rows: u8,
    words: u8,
    local: bool,
}

impl TouchedLine {
    /// A line by its number, the address divided by [`LINE_BYTES`] or, in local memory, the word
    /// of each lane; with the words that are touched, bit `i` being word `i`.
    pub const fn new(space: AddressSpace, number: u64, words: u32) -> Self {
        let local = matches!(space, AddressSpace::Local);
        Self { number, rows: rows(words), words: words.count_ones() as u8, local }
    }

    /// The address divided by [`LINE_BYTES`]; in local memory, the word of each lane.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Rows that are touched. Range: `0..=8`.
    pub const fn rows(self) -> u32 {
        self.rows.count_ones()
    }

    /// Words that are touched. Range: `0..=32`.
    pub const fn words(self) -> u32 {
        self.words as u32
    }

    /// Whether all words are touched.
    pub const fn is_whole(self) -> bool {
        self.words as u32 == LANES
    }

    /// The rows that are touched, bit `i` being row `i`.
    pub const fn row_mask(self) -> u8 {
        self.rows
    }

    /// Whether it is a line of local memory.
    pub const fn is_local(self) -> bool {
        self.local
    }

    /// Bytes that move if the rows move alone, in transactions of so many bytes, which are aligned.
    /// Range of `transaction`: 16, 32, 64 or 128.
    pub const fn bytes_in(self, transaction: u32) -> u32 {
        let mut rows = self.rows;
        // Rows of a transaction: the first stands for all of them.
        if transaction > ROW_BYTES {
            rows = (rows | rows >> 1) & 0b0101_0101;
        }
        if transaction > 2 * ROW_BYTES {
            rows = (rows | rows >> 2) & 0b0001_0001;
        }
        if transaction > 4 * ROW_BYTES {
            rows = (rows | rows >> 4) & 1;
        }
        rows.count_ones() * transaction
    }
}

/// Cycles that an access takes in banks, by how the banks lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessCycles([u16; BankMapping::ALL.len()]);

impl AccessCycles {
    /// The cycles with a mapping. 0 for an access that touches nothing.
    #[inline]
    pub const fn of(self, mapping: BankMapping) -> u16 {
        self.0[mapping as usize]
    }

    /// An access in two spaces takes them one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(core::array::from_fn(|mapping| self.0[mapping].saturating_add(other.0[mapping])))
    }
}

/// Rows of unified storage, counted for each of its banks. A count ends at 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RowsInBanks([[u8; CLUSTERS]; LOGICAL_BANKS]);

impl RowsInBanks {
    /// No rows.
    pub const NONE: Self = Self([[0; CLUSTERS]; LOGICAL_BANKS]);

    /// Adds rows of a line, by its number: bit `i` is row `i`, which lies in cluster `i`.
    #[inline]
    pub fn add(&mut self, line: u64, rows: u8) {
        let bank = &mut self.0[line as usize % LOGICAL_BANKS];
        for (cluster, count) in bank.iter_mut().enumerate() {
            *count = count.saturating_add(rows >> cluster & 1);
        }
    }

    /// The rows of both.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let sum = |bank: usize, cluster: usize| {
            self.0[bank][cluster].saturating_add(other.0[bank][cluster])
        };
        Self(core::array::from_fn(|bank| core::array::from_fn(|cluster| sum(bank, cluster))))
    }

    /// Of each logical bank, the most rows in one cluster.
    pub fn most_in_each_bank(&self) -> [u8; LOGICAL_BANKS] {
        self.0.map(|bank| bank.into_iter().fold(0, u8::max))
    }

    /// Rows of all banks.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().map(|&rows| u64::from(rows)).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Takes a row of a bank of a cluster away, if there is one. Returns whether there was.
    pub(super) const fn take(&mut self, bank: usize, cluster: usize) -> bool {
        let rows = &mut self.0[bank][cluster];
        let has = *rows != 0;
        *rows -= has as u8;
        has
    }

    /// Whether there is a row of a bank of a cluster.
    pub(super) const fn has(&self, bank: usize, cluster: usize) -> bool {
        self.0[bank][cluster] != 0
    }
}

/// What an access does in banks: many accesses have the same one. What it touches in the cache
/// follows from its lines, so here stands what it touches in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BankPattern {
    /// Cycles, in shared memory and the cache.
    pub cycles: AccessCycles,
    /// Those of them in shared memory.
    pub shared_cycles: AccessCycles,
    /// Different words of shared memory.
    pub shared_words: u16,
    /// Different rows of shared memory.
    pub shared_rows: RowsInBanks,
}

impl BankPattern {
    /// Adds what an access touches in another space.
    pub fn add(&mut self, touched: &Touched) {
        self.cycles = self.cycles.and(touched.cycles());
        if touched.space != AddressSpace::Shared {
            return;
        }
        self.shared_cycles = self.shared_cycles.and(touched.cycles());
        for line in touched.lines() {
            self.shared_words = self.shared_words.saturating_add(line.words() as u16);
            self.shared_rows.add(line.number(), line.row_mask());
        }
    }
}

/// A line while the lanes of an access are looked at.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u64,
    /// Bit `i`: word `i`.
    words: u32,
}

/// What an access touches.
#[derive(Clone, Debug)]
pub struct Touched {
    // Invariant: numbers differ, no mask is empty.
    lines: Vec<Line, MOST_LINES>,
    space: AddressSpace,
}

impl Touched {
    /// What lanes touch that each access `bytes` bytes from an address on: pairs of lane and
    /// address, in the order of the lanes. Range of `bytes`: `1..=MOST_LANE_BYTES`; more counts as
    /// that, none as 1. What lies behind the last address does not exist.
    pub fn new(
        space: AddressSpace,
        bytes: u32,
        lanes: impl IntoIterator<Item = (u32, u64)>,
    ) -> Self {
        let mut touched = Self::nothing();
        touched.refill(space, bytes, lanes);
        touched
    }

    /// An access of no lane, which others replace: it is too large to be made for each.
    pub const fn nothing() -> Self {
        Self { lines: Vec::new(), space: AddressSpace::Global }
    }

    /// Replaces the access by another, of lanes as in [`Self::new`].
    pub fn refill(
        &mut self,
        space: AddressSpace,
        bytes: u32,
        lanes: impl IntoIterator<Item = (u32, u64)>,
    ) {
        self.lines.clear();
        self.space = space;
        let more = u64::from(bytes.clamp(1, MOST_LANE_BYTES)) - 1;
        for (lane, address) in lanes {
            let words = address / WORD_BYTES..=address.saturating_add(more) / WORD_BYTES;
            if space == AddressSpace::Local {
                words.for_each(|word| self.touch(word, 1 << (lane % LANES)));
            } else {
                words.for_each(|word| {
                    self.touch(word / u64::from(LANES), 1 << (word % u64::from(LANES)));
                });
            }
        }
    }

    /// Replaces the access by another, of lanes that together access all bytes from `first` to
    /// `last`, in this order. Not for local memory. Range of `last`:
    /// `first..first + LANES * MOST_LANE_BYTES`.
    pub fn refill_span(&mut self, space: AddressSpace, first: u64, last: u64) {
        self.lines.clear();
        self.space = space;
        let [first, last] = [first, last].map(|address| address / WORD_BYTES);
        let words = u64::from(LANES);
        for number in first / words..=last / words {
            let from = first.saturating_sub(number * words);
            let behind = (number * words + words - 1).saturating_sub(last);
            self.touch(number, u32::MAX << from & u32::MAX >> behind);
        }
    }

    fn touch(&mut self, number: u64, words: u32) {
        // Neighbours touch the same line.
        if let Some(line) = self.lines.iter_mut().rev().find(|line| line.number == number) {
            line.words |= words;
        } else {
            // There is room for the lines of all lanes.
            let _ = self.lines.push(Line { number, words });
        }
    }

    /// The lines, in the order of the lanes that touch them first.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = TouchedLine> + '_ {
        self.lines.iter().map(|line| TouchedLine::new(self.space, line.number, line.words))
    }

    /// The cycles that the access takes in the banks.
    pub fn cycles(&self) -> AccessCycles {
        if self.lines.len() == 1 {
            return AccessCycles([1; BankMapping::ALL.len()]);
        }
        let mut cycles = AccessCycles::default();
        for mapping in BankMapping::ALL {
            cycles.0[mapping as usize] = match mapping {
                BankMapping::Partitioned => self.most_words_in_a_bank(),
                BankMapping::Simple => self.most_rows_in_a_cluster(),
                BankMapping::Aggressive => self.most_in_a_cluster_of_four_banks(),
            };
        }
        cycles
    }

    /// Word `i` of each line lies in bank `i`.
    fn most_words_in_a_bank(&self) -> u16 {
        most_at_one_bit(self.lines.iter().map(|line| line.words))
    }

    fn most_rows_in_a_cluster(&self) -> u16 {
        most_at_one_bit(self.lines.iter().map(|line| first_words(line.words)))
    }

    fn most_in_a_cluster_of_four_banks(&self) -> u16 {
        let of_cluster = |row| {
            let mut rows = [0_u32; LOGICAL_BANKS];
            let mut words = 0;
            for line in &self.lines {
                let here = words_of(line, row).count_ones();
                rows[line.number as usize % LOGICAL_BANKS] += u32::from(here != 0);
                words += here;
            }
            let passed = words.div_ceil(ROW_BYTES / WORD_BYTES as u32);
            rows.into_iter().fold(passed, u32::max)
        };
        (0..ROWS).map(of_cluster).max().unwrap_or(0) as u16
    }
}

/// The words of a line that lie in a row, the first in the lowest bit.
const fn words_of(line: &Line, row: usize) -> u32 {
    line.words >> (4 * row) & 0xf
}

/// The first word of each row that has a word of a mask.
const fn first_words(words: u32) -> u32 {
    (words | words >> 1 | words >> 2 | words >> 3) & 0x1111_1111
}

/// The rows that have a word of a mask.
const fn rows(words: u32) -> u8 {
    let mut rows = 0;
    let mut row = 0;
    while row < ROWS {
        rows |= (first_words(words) >> (3 * row)) as u8 & 1 << row;
        row += 1;
    }
    rows
}

/// In how many of the masks the bit is set that is set in most. Range: at most `MOST_LINES` masks.
fn most_at_one_bit(masks: impl Iterator<Item = u32>) -> u16 {
    // Bit `b` of `sums[p]` is bit `p` of the count of bit `b`.
    const PLANES: usize = (MOST_LINES.ilog2() + 1) as usize;
    let mut sums = [0_u32; PLANES];
    for mut carry in masks {
        for sum in &mut sums {
            (*sum, carry) = (*sum ^ carry, *sum & carry);
            if carry == 0 {
                break;
            }
        }
    }
    let (mut most, mut among) = (0, u32::MAX);
    for (plane, sum) in sums.into_iter().enumerate().rev() {
        if sum & among != 0 {
            among &= sum;
            most |= 1 << plane;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(bytes: u32, address: impl Fn(u64) -> u64) -> Touched {
        let lanes = (0..LANES).map(|lane| (lane, address(u64::from(lane))));
        Touched::new(AddressSpace::Global, bytes, lanes)
    }

    /// Cycles of an access with each mapping, from `docs/MODEL.md`, rule 35.
    #[test]
    fn banks_of_4_and_of_16_bytes_conflict_as_computed_by_hand() {
        type Case = (u32, fn(u64) -> u64, [u16; 3]);
        let cases: [Case; 11] = [
            (4, |i| 4 * i, [1, 1, 1]),
            (4, |i| 4 * i + 8, [1, 2, 1]),
            (4, |i| 8 * i, [2, 2, 1]),
            (4, |i| 16 * i, [4, 4, 1]),
            (4, |i| 128 * i, [32, 32, 8]),
            (4, |i| 132 * i, [1, 4, 1]),
            (4, |i| 260 * i, [1, 4, 2]),
            (4, |i| 512 * i, [32, 32, 32]),
            (4, |_| 64, [1, 1, 1]),
            (8, |i| 8 * i, [2, 2, 2]),
            (16, |i| 16 * i, [4, 4, 4]),
        ];
        for (number, (bytes, address, expected)) in cases.into_iter().enumerate() {
            let found = touched(bytes, address).cycles();
            assert_eq!(found, AccessCycles(expected), "case {number}");
        }
    }

    #[test]
    fn lines_come_in_the_order_of_lanes_with_their_rows() {
        let lines = |touched: &Touched| -> Vec<(u64, u32), 32> {
            touched.lines().map(|line| (line.number(), line.rows())).collect()
        };
        assert_eq!(lines(&touched(4, |i| 4 * i)), [(0, 8)]);
        assert_eq!(lines(&touched(4, |i| 4 * i + 8)), [(0, 8), (1, 1)]);
        assert_eq!(lines(&touched(4, |i| 128 * (31 - i)))[..2], [(31, 1), (30, 1)]);
        assert_eq!(lines(&touched(4, |i| 128 * (i % 2))), [(0, 1), (1, 1)]);
        // A misaligned word lies in two lines.
        assert_eq!(lines(&touched(4, |_| 126)), [(0, 1), (1, 1)]);
        assert!(lines(&touched(4, |_| u64::MAX - 1)).len() == 1, "nothing wraps around");
    }

    /// Words and rows of the patterns above, from the addresses alone.
    #[test]
    fn a_pattern_counts_words_and_rows_of_shared_memory_by_bank() {
        type Case = (u32, fn(u64) -> u64, u16, u64, [u8; 4]);
        let cases: [Case; 9] = [
            (4, |i| 4 * i, 32, 8, [1, 0, 0, 0]),
            (4, |i| 4 * i + 8, 32, 9, [1, 1, 0, 0]),
            (4, |i| 8 * i, 32, 16, [1, 1, 0, 0]),
            (4, |i| 16 * i, 32, 32, [1, 1, 1, 1]),
            (4, |i| 128 * i, 32, 32, [8, 8, 8, 8]),
            // Four neighbours have the same row of each line.
            (4, |i| 132 * i, 32, 32, [1, 1, 1, 1]),
            (4, |i| 512 * i, 32, 32, [32, 0, 0, 0]),
            (4, |_| 384, 1, 1, [0, 0, 0, 1]),
            (16, |i| 16 * i, 128, 32, [1, 1, 1, 1]),
        ];
        for (number, (bytes, address, words, rows, most)) in cases.into_iter().enumerate() {
            let lanes = || (0..LANES).map(|lane| (lane, address(u64::from(lane))));
            let shared = Touched::new(AddressSpace::Shared, bytes, lanes());
            let mut pattern = BankPattern::default();
            pattern.add(&shared);
            let found = (pattern.shared_words, pattern.shared_rows.total());
            assert_eq!(found, (words, rows), "case {number}");
            assert_eq!(pattern.shared_rows.most_in_each_bank(), most, "case {number}");
            assert_eq!([pattern.cycles, pattern.shared_cycles], [shared.cycles(); 2]);
            // What lies in the cache is not in the pattern.
            pattern.add(&Touched::new(AddressSpace::Global, bytes, lanes()));
            assert_eq!((pattern.shared_words, pattern.shared_rows.total()), found);
            assert_eq!(pattern.cycles, shared.cycles().and(shared.cycles()), "case {number}");
            assert_eq!(pattern.shared_cycles, shared.cycles(), "case {number}");
        }
    }

    #[test]
    fn rows_of_a_bank_end_at_255() {
        let mut rows = RowsInBanks::NONE;
        (0..300).for_each(|_| rows.add(6, 0b101));
        assert_eq!(rows.most_in_each_bank(), [0, 0, 255, 0]);
        assert_eq!(rows.and(&rows).total(), 2 * 255);
        assert!(rows.take(2, 0) && rows.has(2, 2) && !rows.has(2, 1) && !rows.take(2, 1));
        assert_eq!(rows.total(), 2 * 255 - 1);
        assert!(!rows.is_empty() && RowsInBanks::default().is_empty());
    }

    #[test]
    fn local_words_of_all_lanes_are_one_line() {
        let local = |bytes, address: fn(u64) -> u64| {
            let lanes = (0..LANES).map(|lane| (lane, address(u64::from(lane))));
            Touched::new(AddressSpace::Local, bytes, lanes)
        };
        let first = |touched: &Touched| touched.lines().next();
        let same = local(4, |_| 8);
        assert_eq!(first(&same), Some(TouchedLine::new(AddressSpace::Local, 2, u32::MAX)));
        assert_eq!(same.lines().len(), 1);
        assert_eq!(same.cycles(), AccessCycles([1; 3]));
        assert_eq!(local(8, |_| 8).lines().len(), 2);
        assert_eq!(local(4, |lane| 4 * lane).lines().len(), 32);
        assert_eq!(local(128, |lane| 4096 * lane + 2).lines().len(), MOST_LINES);
    }

    #[test]
    fn rows_move_in_aligned_transactions() {
        // The first word of each row.
        let words = |rows: u8| {
            (0..ROWS).fold(0, |words, row| words | u32::from(rows >> row & 1) << (4 * row))
        };
        let line = |rows| TouchedLine::new(AddressSpace::Global, 5, words(rows));
        for (rows, expected) in [
            (0b1, [16, 32, 64, 128]),
            (0b11, [32, 32, 64, 128]),
            (0b110, [32, 64, 64, 128]),
            (0b1001_0000, [32, 64, 64, 128]),
            (0b1000_0001, [32, 64, 128, 128]),
            (0xff, [128, 128, 128, 128]),
            (0, [0; 4]),
        ] {
            let found = [16, 32, 64, 128].map(|transaction| line(rows).bytes_in(transaction));
            assert_eq!(found, expected, "{rows:08b}");
        }
        assert!(!line(1).is_local());
    }
}
