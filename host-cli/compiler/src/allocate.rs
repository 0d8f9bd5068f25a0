//! Register allocation: webs to physical registers, by a linear scan over intervals with holes.
//!
//! Webs are placed in order of their first position. A value of 64 or 128 bits takes an aligned
//! pair or quad; a single register prefers one whose neighbour is taken, so that pairs stay free; a
//! web joined to another by a move prefers the other's register. Nothing is spilled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use strata_ptx::module::{Instruction, Operand, Register};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use crate::intervals::{Interval, Intervals};
use crate::limits::{MAX_REGISTERS, TooLarge};
use crate::program::Location;

/// Where every web went.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    /// One for each web.
    pub(crate) locations: Vec<Location>,
    /// 32-bit registers used.
    pub(crate) general: u16,
    /// Predicate registers used.
    pub(crate) predicates: u16,
}

/// Gives every web a place.
pub(crate) fn allocate(
    instructions: &[Instruction],
    webs: &[Register],
    intervals: &Intervals,
) -> Result<Allocation, TooLarge> {
    let partners = move_partners(instructions, webs);
    let class = |predicate: bool| {
        let mut scan = Scan::new(webs, intervals);
        let member = |web: &u32| (webs[*web as usize].ty == ScalarType::Pred) == predicate;
        let mut order: Vec<u32> = (0..webs.len() as u32).filter(member).collect();
        order.sort_by_key(|&web| (intervals.of[web as usize][0].start, web));
        for web in order {
            scan.advance(intervals.of[web as usize][0].start);
            scan.place(web, &partners[web as usize]);
        }
        (scan.first, scan.file.len())
    };
    let (general, general_count) = class(false);
    let (predicate, predicate_count) = class(true);
    if general_count >= MAX_REGISTERS || predicate_count >= MAX_REGISTERS {
        let message = format!("needs more than {} registers", MAX_REGISTERS - 1);
        return Err(TooLarge::kernel("too-many-registers", message));
    }
    let location = |(web, register): (usize, &Register)| match register.ty {
        ScalarType::Pred => Location::Predicate(predicate[web] as u16),
        ty => Location::General { first: general[web] as u16, count: ty.register_slots() as u8 },
    };
    Ok(Allocation {
        locations: webs.iter().enumerate().map(location).collect(),
        general: general_count as u16,
        predicates: predicate_count as u16,
    })
}

/// For each web, the webs that a move copies to or from it.
fn move_partners(instructions: &[Instruction], webs: &[Register]) -> Vec<Vec<u32>> {
    let mut partners = vec![Vec::new(); webs.len()];
    for instruction in instructions {
        let plain = matches!(instruction.opcode, Opcode::Mov | Opcode::Cvta | Opcode::Cvt);
        if !plain {
            continue;
        }
        let (&[Operand::Register(to)], &[Operand::Register(from)]) =
            (&instruction.destinations[..], &instruction.sources[..])
        else {
            continue;
        };
        let width = |web: u32| webs[web as usize].ty.register_slots();
        if to != from && width(to.0) == width(from.0) {
            partners[to.index()].push(from.0);
            partners[from.index()].push(to.0);
        }
    }
    partners
}

/// Registers of a class: which are free now, and which webs will come back to them.
#[derive(Debug, Default)]
struct File {
    /// Bit set: free now. Bits past `len` are clear.
    free: Vec<u64>,
    /// Webs that own the register and are in a hole of their intervals.
    resting: Vec<Vec<u32>>,
}

impl File {
    fn len(&self) -> usize {
        self.resting.len()
    }

    fn is_free(&self, register: usize) -> bool {
        self.free.get(register / 64).is_some_and(|word| word >> (register % 64) & 1 != 0)
    }

    fn set_free(&mut self, register: usize, free: bool) {
        let bit = 1 << (register % 64);
        if free {
            self.free[register / 64] |= bit;
        } else {
            self.free[register / 64] &= !bit;
        }
    }

    fn grow(&mut self, len: usize) {
        while self.len() < len {
            let register = self.len();
            self.resting.push(Vec::new());
            self.free.resize(self.len().div_ceil(64), 0);
            self.set_free(register, true);
        }
    }

    /// Numbers of free aligned groups of `count`, ascending; of singles, those beside a taken
    /// register first.
    fn candidates(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        const FOURTH: u64 = 0x1111_1111_1111_1111;
        let beside = |word: u64| word & !((word & EVEN) << 1 | (word >> 1) & EVEN);
        let pairs = |word: u64| word & (word >> 1) & EVEN;
        let quads = move |word: u64| pairs(word) & (pairs(word) >> 2) & FOURTH;
        let groups = move |word: u64, first: bool| match (count, first) {
            (1, true) => beside(word),
            (1, false) => word & !beside(word),
            (2, true) => pairs(word),
            (4, true) => quads(word),
            _ => 0,
        };
        [true, false].into_iter().flat_map(move |first| {
            self.free.iter().enumerate().flat_map(move |(index, &word)| {
                let bits = [groups(word, first)];
                crate::bits::ones(&bits).map(|bit| index * 64 + bit).collect::<Vec<_>>()
            })
        })
    }
}

struct Scan<'a> {
    webs: &'a [Register],
    intervals: &'a Intervals,
    file: File,
    /// First register of each placed web.
    first: Vec<usize>,
    placed: Vec<bool>,
    /// Current interval of each placed web, or the next one while it rests.
    current: Vec<u32>,
    /// When a placed web ends an interval (false) or begins the next one (true). Ends come first at
    /// one position, because the register may pass from one web to another there.
    events: BinaryHeap<Reverse<(u32, bool, u32)>>,
    /// Whether a placed web rests between two intervals.
    rests: Vec<bool>,
}

impl<'a> Scan<'a> {
    fn new(webs: &'a [Register], intervals: &'a Intervals) -> Self {
        let count = webs.len();
        Self {
            webs,
            intervals,
            file: File::default(),
            first: vec![0; count],
            placed: vec![false; count],
            current: vec![0; count],
            events: BinaryHeap::new(),
            rests: vec![false; count],
        }
    }

    fn count(&self, web: u32) -> usize {
        (self.webs[web as usize].ty.register_slots() as usize).max(1)
    }

    fn registers(&self, web: u32) -> std::ops::Range<usize> {
        let first = self.first[web as usize];
        first..first + self.count(web)
    }

    /// Brings the register file to a position.
    fn advance(&mut self, position: u32) {
        while let Some(&Reverse((at, _, web))) = self.events.peek() {
            if at > position {
                break;
            }
            self.events.pop();
            self.switch(web);
        }
    }

    /// A placed web ends an interval, or begins the next one.
    fn switch(&mut self, web: u32) {
        let index = web as usize;
        let intervals = &self.intervals.of[index];
        if self.rests[index] {
            self.rests[index] = false;
            for register in self.registers(web) {
                self.file.set_free(register, false);
                self.file.resting[register].retain(|&other| other != web);
            }
            let end = intervals[self.current[index] as usize].end;
            self.events.push(Reverse((end, false, web)));
            return;
        }
        self.current[index] += 1;
        let next = intervals.get(self.current[index] as usize);
        for register in self.registers(web) {
            self.file.set_free(register, true);
            if next.is_some() {
                self.file.resting[register].push(web);
            }
        }
        if let Some(next) = next {
            self.rests[index] = true;
            self.events.push(Reverse((next.start, true, web)));
        }
    }

    fn place(&mut self, web: u32, partners: &[u32]) {
        let count = self.count(web);
        let placed = partners.iter().filter(|&&partner| self.placed[partner as usize]);
        let hinted = placed.map(|&partner| self.first[partner as usize]);
        let fits = |first: &usize| self.fits(web, *first, count);
        let found = hinted.chain(self.file.candidates(count)).find(fits);
        let first = found.unwrap_or_else(|| self.behind(count));
        self.file.grow(first + count);
        for register in first..first + count {
            self.file.set_free(register, false);
        }
        self.first[web as usize] = first;
        self.placed[web as usize] = true;
        self.events.push(Reverse((self.intervals.of[web as usize][0].end, false, web)));
    }

    /// Lowest aligned group that reaches beyond the file but uses what is free at its end.
    fn behind(&self, count: usize) -> usize {
        self.file.len().next_multiple_of(count)
    }

    /// Whether a web can have a group of registers for all of its intervals.
    fn fits(&self, web: u32, first: usize, count: usize) -> bool {
        let intervals = &self.intervals.of[web as usize];
        (first..first + count).all(|register| {
            self.file.is_free(register)
                && self.file.resting[register].iter().all(|&other| {
                    let index = other as usize;
                    let rest = &self.intervals.of[index][self.current[index] as usize..];
                    !overlap(intervals, rest)
                })
        })
    }
}

/// Whether two ascending lists of intervals have a position in common.
fn overlap(mut a: &[Interval], mut b: &[Interval]) -> bool {
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        if x.end <= y.start {
            a = &a[1..];
        } else if y.end <= x.start {
            b = &b[1..];
        } else {
            return true;
        }
    }
    false
}
