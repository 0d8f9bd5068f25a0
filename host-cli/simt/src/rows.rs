//! Rows of addresses: each instruction's against its own last ones.
//!
//! A row is the difference of its first address to the first of the same instruction's last row,
//! then 0 (stride as last time), 1 and a stride, or 2 and the differences of neighbouring lanes.
//! Executions without a lane have no row.

use crate::moved::Addresses;
use crate::numbers::{Source, put, put_signed};

/// Most bytes of a row: 33 numbers of at most 10, and one. Unit: bytes.
pub const MAX_ROW: usize = 340;

/// What is remembered of each instruction.
#[derive(Clone, Debug, Default)]
pub struct History {
    last: Vec<(u64, i64)>,
}

impl History {
    fn of(&mut self, id: u32) -> &mut (u64, i64) {
        let id = id as usize;
        if id >= self.last.len() {
            self.last.resize(id + 1, (0, 0));
        }
        &mut self.last[id]
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.last.clear();
    }

    /// Appends the row of an execution of instruction `id`.
    pub fn put(&mut self, out: &mut Vec<u8>, id: u32, addresses: Addresses<'_>) {
        let last = self.of(id);
        let mut lanes = addresses.iter();
        let Some(first) = lanes.next() else { return };
        put_signed(out, first.wrapping_sub(last.0) as i64);
        last.0 = first;
        let mut previous = first;
        let mut stride = None;
        let mut even = true;
        for lane in lanes {
            let step = lane.wrapping_sub(previous) as i64;
            even &= *stride.get_or_insert(step) == step;
            previous = lane;
        }
        match stride {
            None => put(out, 0),
            Some(stride) if even && stride == last.1 => put(out, 0),
            Some(stride) if even => {
                put(out, 1);
                put_signed(out, stride);
                last.1 = stride;
            }
            Some(_) => {
                put(out, 2);
                let mut previous = first;
                for lane in addresses.iter().skip(1) {
                    put_signed(out, lane.wrapping_sub(previous) as i64);
                    previous = lane;
                }
            }
        }
    }

    /// Reads the row of an execution with `lanes` active lanes, at least one. `None` where the
    /// bytes make no sense.
    #[inline]
    pub fn get<'a>(
        &mut self,
        source: &mut Source<'_>,
        id: u32,
        lanes: u32,
        room: &'a mut [u64; 32],
    ) -> Option<Addresses<'a>> {
        let last = self.of(id);
        let base = last.0.wrapping_add_signed(source.signed()?);
        last.0 = base;
        match source.number()? {
            0 => Some(Addresses::Stride { base, stride: last.1, lanes }),
            1 => {
                last.1 = source.signed()?;
                Some(Addresses::Stride { base, stride: last.1, lanes })
            }
            2 => {
                let used = room.get_mut(..lanes as usize)?;
                let (first, rest) = used.split_first_mut()?;
                *first = base;
                let mut address = base;
                for lane in rest {
                    address = address.wrapping_add_signed(source.signed()?);
                    *lane = address;
                }
                Some(Addresses::Each(used))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::numbers_below;

    #[test]
    fn rows_come_back_and_regular_ones_are_small() {
        let rows = [
            Addresses::Stride { base: 0x7f00_0000_0000, stride: 4, lanes: 32 },
            Addresses::Stride { base: 0x7f00_0000_0080, stride: 4, lanes: 32 },
            Addresses::Stride { base: 0x7f00_0000_0100, stride: -8, lanes: 2 },
            Addresses::Each(&[7, u64::MAX, 0, 3]),
            Addresses::Each(&[9]),
            Addresses::Stride { base: u64::MAX, stride: i64::MIN, lanes: 3 },
        ];
        let (mut out, mut history) = (Vec::new(), History::default());
        let mut ends = Vec::new();
        for row in rows {
            history.put(&mut out, 3, row);
            ends.push(out.len());
        }
        assert_eq!(ends[1] - ends[0], 3, "two bytes of base and one of stride");
        let (mut source, mut history) = (Source(&out), History::default());
        for row in rows {
            let mut room = [0; 32];
            let expected: Vec<u64> = row.iter().collect();
            let lanes = expected.len() as u32;
            let found = history.get(&mut source, 3, lanes, &mut room).unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        }
        assert!(source.0.is_empty());
    }

    #[test]
    fn the_longest_row_fits() {
        let lanes: Vec<u64> = (0..32).map(|n| if n % 2 == 0 { 0 } else { 1 << 63 }).collect();
        let mut out = Vec::new();
        History::default().put(&mut out, 0, Addresses::Each(&lanes));
        assert!(out.len() <= MAX_ROW, "{}", out.len());
    }

    #[test]
    fn bytes_that_are_no_rows_are_refused_or_read() {
        let (mut read, mut refused) = (0, 0);
        for seed in 1..=20_000_u64 {
            let mut below = numbers_below(seed);
            let bytes: Vec<u8> = (0..below(60))
                .map(|_| [0, 1, 2, 0x80, 0xff, below(256) as u8][below(6) as usize])
                .collect();
            let lanes = 1 + below(32) as u32;
            let (mut source, mut history) = (Source(&bytes), History::default());
            let mut room = [0; 32];
            while let Some(row) = history.get(&mut source, 0, lanes, &mut room) {
                assert_eq!(row.iter().count(), lanes as usize, "seed {seed}");
                read += 1;
            }
            refused += 1;
        }
        assert!(read > 10_000 && refused == 20_000, "{read} rows");
    }
}
