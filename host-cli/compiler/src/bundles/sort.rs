//! Sorting registers by their weights, and keeping the operands of an instruction on lines of their
//! own.
//!
//! Registers that one value needs together, two or four from an aligned one on, stay together:
//! they are one *unit*, and so that every unit is aligned, single registers are paired in sorted
//! order, and pairs likewise where there are units of four. A register without a partner comes last
//! (DEV-109).

use std::collections::BTreeMap;

use strata_core::sm::expansion::bundles::HomeLine;
use strata_core::units::RegisterId;

use super::lines::needed;
use crate::hierarchy::Code;
use crate::loops::Loops;
use crate::program::{Location, Program};

/// Levels of loops that count.
const MAX_DEPTH: u32 = 9;
/// Most exchanges that part operands.
const MAX_EXCHANGES: usize = 1000;
/// Exchanges for which what was exchanged stays where it is.
const KEPT: usize = 8;

/// What a reference to a register counts when registers are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// One, wherever it stands.
    #[default]
    References,
    /// Ten times as much in each loop around it.
    Loops,
}

/// Registers that stay together, and what they weigh together.
#[derive(Clone, Debug)]
struct Unit {
    registers: Vec<u16>,
    weight: u64,
}

/// The registers of a program in their new order: the heaviest first, ties by their numbers.
pub(super) fn order(code: &Code<'_>, program: &Program, weights: Weights, first: u16) -> Vec<u16> {
    let weights = weigh(code, weights);
    let sizes = sizes(program);
    let mut units: BTreeMap<u8, Vec<Unit>> = BTreeMap::new();
    let mut register = 0;
    while usize::from(register) < weights.len() {
        let size = sizes[usize::from(register)];
        let registers: Vec<u16> = (register..register + u16::from(size)).collect();
        let weight = registers.iter().map(|&one| weights[usize::from(one)]).sum();
        units.entry(size).or_default().push(Unit { registers, weight });
        register += u16::from(size);
    }
    let mut last = Vec::new();
    let mut all = units.remove(&1).unwrap_or_default();
    for size in [2, 4] {
        let larger = units.remove(&size).unwrap_or_default();
        if size == 4 && larger.is_empty() {
            break;
        }
        let (mut joined, rest) = joined(all);
        last.splice(0..0, rest);
        joined.extend(larger);
        all = joined;
    }
    sort(&mut all);
    let mut order: Vec<u16> = all.into_iter().flat_map(|unit| unit.registers).collect();
    order.extend(last);
    part(code, &sizes, &weights, first, &mut order);
    order
}

/// Heaviest first, ties by their lowest registers.
fn sort(units: &mut [Unit]) {
    units.sort_by_key(|unit| (std::cmp::Reverse(unit.weight), unit.registers[0]));
}

/// Units in twos, in sorted order; and the registers of one that is left.
fn joined(mut units: Vec<Unit>) -> (Vec<Unit>, Vec<u16>) {
    sort(&mut units);
    let mut joined = Vec::new();
    let mut rest = Vec::new();
    for two in units.chunks(2) {
        match two {
            [a, b] => joined.push(Unit {
                registers: [&a.registers[..], &b.registers].concat(),
                weight: a.weight + b.weight,
            }),
            one => rest.extend(one.iter().flat_map(|unit| unit.registers.iter().copied())),
        }
    }
    (joined, rest)
}

/// For each register, what its references weigh.
fn weigh(code: &Code<'_>, weights: Weights) -> Vec<u64> {
    let mut of = vec![0; usize::from(code.image.registers)];
    let depth = match weights {
        Weights::References => vec![0; code.graph.blocks.len()],
        Weights::Loops => Loops::new(&code.graph).depth,
    };
    for (block, depth) in code.graph.blocks.iter().zip(depth) {
        let each = 10_u64.pow(depth.min(MAX_DEPTH));
        for pc in block.start..block.end {
            for register in code.sources(pc).iter().chain(code.destinations(pc)) {
                of[usize::from(register.0)] += each;
            }
        }
    }
    of
}

/// For each register, the size of its unit: the largest value that has a part in it.
fn sizes(program: &Program) -> Vec<u8> {
    let mut sizes = vec![1; usize::from(program.image.registers)];
    for register in &program.registers {
        if let Location::General { first, count } = register.location {
            // A value of two registers may lie in what is a part of four elsewhere.
            let first = usize::from(first);
            let widest = sizes[first..first + usize::from(count)].iter().copied().max();
            let size = count.max(widest.unwrap_or(1));
            let start = first - first % usize::from(size);
            let end = (start + usize::from(size)).min(sizes.len());
            sizes[start..end].fill(size);
        }
    }
    sizes
}

/// Candidates that an instruction needs at once, by instruction, and the instructions of each.
struct Demands {
    of: Vec<Vec<u16>>,
    by_register: BTreeMap<u16, Vec<usize>>,
}

impl Demands {
    /// Of all instructions: which are candidates depends on the order.
    fn new(code: &Code<'_>) -> Self {
        let mut of = Vec::new();
        let mut by_register: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for pc in 0..code.len() {
            let registers: Vec<u16> = needed(code, pc, 0).iter().map(|one| one.0).collect();
            for &register in &registers {
                by_register.entry(register).or_default().push(pc);
            }
            of.push(registers);
        }
        Self { of, by_register }
    }

    /// Pairs of candidates of an instruction that have one line.
    fn collisions(&self, pc: usize, places: &[u16], first: u16) -> usize {
        let places: Vec<u16> = self.of[pc]
            .iter()
            .map(|&register| places[usize::from(register)])
            .filter(|&place| place >= first)
            .collect();
        let line = |place: &u16| HomeLine::of(RegisterId(*place)).number();
        let pairs = places.iter().enumerate().map(|(index, place)| {
            places[..index].iter().filter(|other| line(other) == line(place)).count()
        });
        pairs.sum()
    }
}

/// Exchanges units of one size until no instruction needs two candidates of one line, at most
/// [`MAX_EXCHANGES`] times. Each exchange parts operands of the first instruction whose operands
/// are together; the one is made with which the fewest are together in all instructions, and of
/// such exchanges that between the nearest weights. What was exchanged stays where it is for a
/// while, unless fewer are together than ever before.
fn part(code: &Code<'_>, sizes: &[u8], weights: &[u64], first: u16, order: &mut [u16]) {
    let demands = Demands::new(code);
    let mut places = vec![0; order.len()];
    for (place, &register) in (0..).zip(&*order) {
        places[usize::from(register)] = place;
    }
    let mut together: usize =
        (0..code.len()).map(|pc| demands.collisions(pc, &places, first)).sum();
    let mut fewest = together;
    let mut kept_until = vec![0; places.len()];
    for exchanges in 1..=MAX_EXCHANGES {
        let collides = |pc: &usize| demands.collisions(*pc, &places, first) != 0;
        let Some(pc) = (0..code.len()).find(collides) else { break };
        let search = Search { demands: &demands, sizes, weights, first, places: &places };
        let is_free = |unit: u16| kept_until[usize::from(unit)] < exchanges;
        let Some((exchange, then)) = search.best(pc, together, fewest, is_free) else { break };
        exchange.make(order, &mut places);
        for unit in [exchange.a, exchange.b] {
            kept_until[usize::from(unit)] = exchanges + KEPT;
        }
        together = then;
        fewest = fewest.min(then);
    }
}

/// Two units of one size, by their lowest registers.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    a: u16,
    b: u16,
    size: u8,
}

impl Exchange {
    fn registers(self) -> impl Iterator<Item = (u16, u16)> {
        (0..u16::from(self.size)).map(move |index| (self.a + index, self.b + index))
    }

    fn make(self, order: &mut [u16], places: &mut [u16]) {
        for (a, b) in self.registers() {
            places.swap(usize::from(a), usize::from(b));
            for register in [a, b] {
                order[usize::from(places[usize::from(register)])] = register;
            }
        }
    }
}

/// What an exchange is chosen by.
struct Search<'a> {
    demands: &'a Demands,
    sizes: &'a [u8],
    weights: &'a [u64],
    first: u16,
    places: &'a [u16],
}

impl Search<'_> {
    /// The lowest register of the unit that a register is part of.
    fn head(&self, register: u16) -> u16 {
        register - register % u16::from(self.sizes[usize::from(register)])
    }

    fn registers(&self, unit: u16) -> std::ops::Range<u16> {
        unit..unit + u16::from(self.sizes[usize::from(unit)])
    }

    fn weight(&self, unit: u16) -> u64 {
        self.registers(unit).map(|one| self.weights[usize::from(one)]).sum()
    }

    /// Whether a part of a unit is a candidate.
    fn is_outside(&self, unit: u16) -> bool {
        self.registers(unit).any(|one| self.places[usize::from(one)] >= self.first)
    }

    /// The exchange to make, of units that are free or with which fewer pairs of operands are
    /// together than ever, and how many are with it.
    fn best(
        &self,
        pc: usize,
        together: usize,
        fewest: usize,
        is_free: impl Fn(u16) -> bool,
    ) -> Option<(Exchange, usize)> {
        let Self { demands, sizes, first, places, .. } = *self;
        let units: Vec<u16> =
            (0..places.len() as u16).filter(|&one| self.head(one) == one).collect();
        let mut own: Vec<u16> = demands.of[pc].iter().map(|&one| self.head(one)).collect();
        own.retain(|&unit| self.is_outside(unit));
        own.dedup();
        let here = demands.collisions(pc, places, first);
        let mut found: Option<((usize, u64), Exchange)> = None;
        for &a in &own {
            let size = sizes[usize::from(a)];
            for &b in units.iter().filter(|&&b| b != a && sizes[usize::from(b)] == size) {
                let exchange = Exchange { a, b, size };
                let after = exchange.places(places);
                if demands.collisions(pc, &after, first) >= here {
                    continue;
                }
                let before = exchange.collisions(demands, places, first);
                let then = together - before + exchange.collisions(demands, &after, first);
                let rank = (then, self.weight(a).abs_diff(self.weight(b)));
                let allowed = is_free(a) && is_free(b) || then < fewest;
                if allowed && found.as_ref().is_none_or(|(least, _)| rank < *least) {
                    found = Some((rank, exchange));
                }
            }
        }
        found.map(|((then, _), exchange)| (exchange, then))
    }
}

impl Exchange {
    /// The places with it.
    fn places(self, places: &[u16]) -> Vec<u16> {
        let mut after = places.to_vec();
        for (a, b) in self.registers() {
            after.swap(usize::from(a), usize::from(b));
        }
        after
    }

    /// Pairs of candidates with one line in the instructions that need what is exchanged.
    fn collisions(self, demands: &Demands, places: &[u16], first: u16) -> usize {
        let both = self.registers().flat_map(|(a, b)| [a, b]);
        let mut touched: Vec<usize> =
            both.filter_map(|one| demands.by_register.get(&one)).flatten().copied().collect();
        touched.sort_unstable();
        touched.dedup();
        touched.iter().map(|&pc| demands.collisions(pc, places, first)).sum()
    }
}

/// The program with its registers in another order: the register at place `n` becomes `n`.
pub(super) fn renumbered(program: &Program, order: &[u16]) -> Program {
    let mut names = vec![0; order.len()];
    for (name, &register) in (0..).zip(order) {
        names[usize::from(register)] = name;
    }
    let mut program = program.clone();
    for register in &mut program.registers {
        if let Location::General { first, .. } = &mut register.location {
            *first = names[usize::from(*first)];
        }
    }
    for slot in &mut program.image.slots {
        *slot = RegisterId(names[usize::from(slot.0)]);
    }
    program
}
