//! What kind of numbers registers hold, from what is computed with them.
//!
//! Compilers move data as untyped bits (`ld.global.b32`): only arithmetic tells a floating-point
//! number from an integer, before or behind the move. Registers between which values are only
//! moved, packed or exchanged form a class; every instruction that takes or gives a type votes for
//! what the class holds.

use std::collections::BTreeMap;

use strata_ptx::module::{Instruction, Operand, Register, VirtualRegister};
use strata_ptx::opcode::{AtomicOp, Comparison, Half, Opcode};
use strata_ptx::types::{Kind, ScalarType};

use super::operands::registers;

/// What a class holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Floating-point numbers of this type.
    Float(ScalarType),
    /// Integers with a sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
    /// Integers of which nothing tells whether they have a sign.
    Integer,
    /// Integers whose bits are combined.
    Bits,
}

/// How many instructions give each type to the values of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    half: u32,
    bfloat: u32,
    single: u32,
    double: u32,
    signed: u32,
    unsigned: u32,
    integer: u32,
    bits: u32,
    /// Integers of 64 bits among them.
    wide: u32,
    /// Size of the parts that values of the class are packed of; 0 where none are. Unit: bytes.
    part: u32,
}

impl Votes {
    fn add(&mut self, meaning: Meaning) {
        let count = match meaning {
            Meaning::Float(ScalarType::F16) => &mut self.half,
            Meaning::Float(ScalarType::Bf16) => &mut self.bfloat,
            Meaning::Float(ScalarType::F64) => &mut self.double,
            Meaning::Float(_) => &mut self.single,
            Meaning::Signed => &mut self.signed,
            Meaning::Unsigned => &mut self.unsigned,
            Meaning::Integer => &mut self.integer,
            Meaning::Bits => &mut self.bits,
        };
        *count += 1;
    }

    fn merge(&mut self, other: Self) {
        self.half += other.half;
        self.bfloat += other.bfloat;
        self.single += other.single;
        self.double += other.double;
        self.signed += other.signed;
        self.unsigned += other.unsigned;
        self.integer += other.integer;
        self.bits += other.bits;
        self.wide += other.wide;
        self.part = match (self.part, other.part) {
            (0, part) | (part, 0) => part,
            (one, two) => one.min(two),
        };
    }

    /// What most say. Integer arithmetic with the bits of a floating-point number is common, and
    /// the contrary is not.
    fn meaning(&self) -> Option<Meaning> {
        let floats = [
            (self.half, ScalarType::F16),
            (self.bfloat, ScalarType::Bf16),
            (self.double, ScalarType::F64),
            (self.single, ScalarType::F32),
        ];
        let (most, float) = floats.into_iter().max_by_key(|(count, _)| *count)?;
        match () {
            () if most > 0 => Some(Meaning::Float(float)),
            () if self.signed > 0 && self.signed >= self.unsigned => Some(Meaning::Signed),
            () if self.unsigned > 0 => Some(Meaning::Unsigned),
            () if self.integer > 0 => Some(Meaning::Integer),
            () if self.bits > 0 => Some(Meaning::Bits),
            () => None,
        }
    }
}

/// Classes of registers, and of further nodes that are numbered behind them.
#[derive(Debug)]
pub(super) struct Meanings {
    parents: Vec<usize>,
    /// Nodes of the class of each root, so that the smaller of two goes below the larger.
    sizes: Vec<u32>,
    votes: Vec<Votes>,
    /// The parts of registers that are packed or unpacked, each a node, and the register's width in
    /// bits.
    parts: BTreeMap<usize, (Vec<usize>, u32)>,
    /// Results that hold a bfloat16 in their upper half if they are floating-point numbers.
    widened: Vec<(VirtualRegister, VirtualRegister)>,
}

impl Meanings {
    /// The classes of a kernel's registers, from its instructions alone.
    pub(super) fn new(instructions: &[Instruction], kernel: &[Register]) -> Self {
        let count = kernel.len();
        let mut all = Self {
            parents: (0..count).collect(),
            sizes: vec![1; count],
            votes: vec![Votes::default(); count],
            parts: BTreeMap::new(),
            widened: Vec::new(),
        };
        let zeros = zeros(instructions, count);
        for instruction in instructions {
            all.read(instruction, &zeros);
        }
        all
    }

    /// Draws the conclusions that need all classes.
    pub(super) fn conclude(&mut self) {
        self.join_parts();
        self.exchange();
        for (result, source) in std::mem::take(&mut self.widened) {
            if self.meaning(result.index()) == Some(Meaning::Float(ScalarType::F32)) {
                self.vote(source, Meaning::Float(ScalarType::Bf16));
            }
        }
        self.exchange();
    }

    /// Makes one class of the same parts of registers of one class.
    fn join_parts(&mut self) {
        let mut first: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (register, (parts, _)) in self.parts.clone() {
            let key = (self.class(register), parts.len());
            let joined = first.entry(key).or_insert_with(|| parts.clone()).clone();
            for (one, two) in joined.into_iter().zip(parts) {
                self.join(one, two);
            }
        }
    }

    /// What a register holds so many of, its parts hold, and the reverse.
    fn exchange(&mut self) {
        for (register, (parts, bits)) in self.parts.clone() {
            let each = bits / parts.len().max(1) as u32;
            let fits = |meaning: &Meaning| match meaning {
                Meaning::Float(float) => float.bits() <= each,
                _ => false,
            };
            if let Some(meaning) = self.meaning(register) {
                for part in parts.iter().filter(|_| fits(&meaning)) {
                    if self.meaning(*part).is_none() {
                        self.suppose(*part, meaning);
                    }
                }
                continue;
            }
            let mut known = parts.iter().filter_map(|part| self.meaning(*part));
            if let Some(meaning) = known.next().filter(fits)
                && known.all(|other| other == meaning)
            {
                self.suppose(register, meaning);
            }
        }
    }

    /// The parts of a register that is packed of them or unpacked, unless it is computed with as a
    /// whole.
    pub(super) fn parts(&self, register: VirtualRegister) -> Option<&[usize]> {
        let (parts, bits) = self.parts.get(&register.index())?;
        let whole = match self.meaning(register.index()) {
            Some(Meaning::Float(float)) => float.bits() == *bits,
            _ => self.is_wide(register.index()),
        };
        (!whole).then_some(parts)
    }

    /// A further node, in a class of its own.
    pub(super) fn node(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.sizes.push(1);
        self.votes.push(Votes::default());
        self.parents.len() - 1
    }

    /// The class of a node.
    fn class(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Makes one class of two nodes.
    pub(super) fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.class(one), self.class(two));
        if one != two {
            let (large, small) =
                if self.sizes[one] < self.sizes[two] { (two, one) } else { (one, two) };
            let votes = self.votes[small];
            self.votes[large].merge(votes);
            self.sizes[large] += self.sizes[small];
            self.parents[small] = large;
        }
    }

    /// What the class of a node holds, as far as that is known.
    pub(super) fn meaning(&self, node: usize) -> Option<Meaning> {
        self.votes[self.class(node)].meaning()
    }

    /// Size of the parts of which each is computed with by itself, if values of the class are
    /// packed of such. Unit: bytes.
    pub(super) fn part(&self, node: usize) -> Option<u32> {
        let votes = self.votes[self.class(node)];
        (votes.part != 0 && votes.wide == 0).then_some(votes.part)
    }

    /// Whether the class is computed with in integers of 64 bits.
    pub(super) fn is_wide(&self, node: usize) -> bool {
        self.votes[self.class(node)].wide != 0
    }

    /// Adds what memory says of a class.
    pub(super) fn suppose(&mut self, node: usize, meaning: Meaning) {
        let class = self.class(node);
        self.votes[class].add(meaning);
    }

    fn vote(&mut self, register: VirtualRegister, meaning: Meaning) {
        self.suppose(register.index(), meaning);
    }

    fn vote_all(&mut self, operands: &[Operand], meaning: Option<Meaning>) {
        let Some(meaning) = meaning else { return };
        for register in registers(operands) {
            self.vote(register, meaning);
        }
    }

    /// Votes for operands of a type, whose sign matters or does not.
    fn typed(&mut self, operands: &[Operand], ty: Option<ScalarType>, sign: bool) {
        let meaning = ty.and_then(|ty| of_type(ty, sign));
        self.vote_all(operands, meaning);
        if ty.is_some_and(|ty| ty.bits() == 64 && ty.kind() != Kind::Float) && meaning.is_some() {
            for register in registers(operands) {
                let class = self.class(register.index());
                self.votes[class].wide += 1;
            }
        }
    }

    /// Makes one class of all registers among operands; constants vote.
    fn same(&mut self, operands: &[&[Operand]]) {
        let flat = || operands.iter().copied().flatten();
        let all: Vec<VirtualRegister> =
            operands.iter().flat_map(|operands| registers(operands)).collect();
        for pair in all.windows(2) {
            self.join(pair[0].index(), pair[1].index());
        }
        let Some(first) = all.first() else { return };
        for operand in flat() {
            match operand {
                Operand::Float32(_) => self.vote(*first, Meaning::Float(ScalarType::F32)),
                Operand::Float64(_) => self.vote(*first, Meaning::Float(ScalarType::F64)),
                _ => {}
            }
        }
    }

    fn read(&mut self, instruction: &Instruction, zeros: &[bool]) {
        use Opcode as O;
        let Instruction { opcode, types, sources, destinations, modifiers, .. } = instruction;
        let ty = types.first().copied();
        let float = ty.filter(|ty| ty.kind() == Kind::Float);
        let behind = sources.get(1..).unwrap_or_default();
        match opcode {
            O::Mov => self.moved(instruction, zeros),
            O::Ld | O::Ldu => {
                let signed = ty.filter(|ty| matches!(ty, ScalarType::S8 | ScalarType::S16));
                self.typed(destinations, float.or(signed), true);
            }
            O::St => {
                let values = sources.get(1..2).unwrap_or_default();
                self.typed(values, float, true);
            }
            O::Atom | O::Red => {
                // The policy of a cache hint stands behind the value.
                let values = if modifiers.atomic == Some(AtomicOp::Cas) { 2 } else { 1 };
                let values = behind.get(..values).unwrap_or(behind);
                for value in values {
                    self.same(&[
                        destinations.get(..1).unwrap_or_default(),
                        std::slice::from_ref(value),
                    ]);
                }
                let sign = !matches!(modifiers.atomic, Some(AtomicOp::Add));
                self.typed(values, ty, sign);
            }
            O::Selp => self.chosen(instruction, 2, ty),
            O::Slct => {
                self.chosen(instruction, 2, ty);
                self.typed(sources.get(2..).unwrap_or_default(), types.get(1).copied(), true);
            }
            O::Shfl | O::Movmatrix => {
                let moved = sources.get(..1).unwrap_or_default();
                self.same(&[destinations.get(..1).unwrap_or_default(), moved]);
            }
            O::Cvt => self.converted(instruction),
            O::Setp => {
                let sign = !matches!(modifiers.comparison, Some(Comparison::Eq | Comparison::Ne));
                self.typed(sources.get(..2).unwrap_or_default(), ty, sign);
            }
            O::Set => {
                let sign = !matches!(modifiers.comparison, Some(Comparison::Eq | Comparison::Ne));
                self.typed(sources.get(..2).unwrap_or_default(), types.get(1).copied(), sign);
                self.typed(destinations, ty, false);
            }
            O::Mma | O::Wmma => self.matrices(instruction),
            O::Tex | O::Tld4 => {
                self.typed(destinations, ty, true);
                self.typed(
                    behind,
                    types.get(1).copied().filter(|ty| ty.kind() == Kind::Float),
                    true,
                );
            }
            O::Shl | O::Shr | O::Bfe | O::Shf => self.shifted(instruction),
            O::And if upper_half(sources) => self.widens(destinations, sources),
            O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Lop3
                if ty != Some(ScalarType::Pred) =>
            {
                let operands = sources.get(..3).unwrap_or(sources);
                self.vote_all(destinations.get(..1).unwrap_or_default(), Some(Meaning::Bits));
                self.vote_all(operands, Some(Meaning::Bits));
            }
            O::Testp => self.typed(sources, ty, true),
            _ => self.computed(instruction),
        }
    }

    /// Arithmetic: every operand has the type, but for products of twice the width and sums with
    /// narrower terms.
    fn computed(&mut self, instruction: &Instruction) {
        use Opcode as O;
        let Instruction { opcode, types, sources, destinations, modifiers, .. } = instruction;
        let arithmetic = matches!(
            opcode,
            O::Abs
                | O::Add
                | O::Addc
                | O::Copysign
                | O::Cos
                | O::Div
                | O::Ex2
                | O::Fma
                | O::Lg2
                | O::Mad
                | O::Madc
                | O::Mad24
                | O::Max
                | O::Min
                | O::Mul
                | O::Mul24
                | O::Neg
                | O::Rcp
                | O::Redux
                | O::Rem
                | O::Rsqrt
                | O::Sad
                | O::Sin
                | O::Sqrt
                | O::Sub
                | O::Subc
                | O::Tanh
        );
        let Some(&ty) = types.first().filter(|_| arithmetic) else { return };
        let halves = modifiers.has("u16x2") || modifiers.has("s16x2");
        if halves {
            return;
        }
        let wide = modifiers.half == Some(Half::Wide);
        let sign = wide
            || modifiers.half == Some(Half::High)
            || matches!(opcode, O::Div | O::Rem | O::Min | O::Max | O::Sad | O::Abs)
            || *opcode == O::Redux && modifiers.atomic != Some(AtomicOp::Add);
        if !wide {
            self.typed(destinations, Some(ty), sign);
        }
        let factors = match opcode {
            O::Mad | O::Madc if wide => 2,
            O::Redux => 1,
            _ => sources.len(),
        };
        let narrow = types.get(1).copied();
        for (index, source) in sources.iter().take(factors).enumerate() {
            let last = index + 1 == sources.len();
            let own = if last { ty } else { narrow.unwrap_or(ty) };
            self.typed(std::slice::from_ref(source), Some(own), sign);
        }
    }

    fn moved(&mut self, instruction: &Instruction, zeros: &[bool]) {
        let Instruction { types, sources, destinations, modifiers, .. } = instruction;
        let (Some(result), Some(source)) = (destinations.first(), sources.first()) else { return };
        let float = types.first().copied().filter(|ty| ty.kind() == Kind::Float);
        self.typed(destinations, float, true);
        self.typed(sources, float, true);
        match (result, source) {
            // Several moves in one.
            (Operand::Vector(results), Operand::Vector(values)) if modifiers.vector > 1 => {
                for (result, value) in results.iter().zip(values) {
                    self.same(&[std::slice::from_ref(result), std::slice::from_ref(value)]);
                }
            }
            (result, Operand::Vector(parts)) => {
                let is_zero = |part: &Operand| match part {
                    Operand::Integer(0) => true,
                    Operand::Register(register) => zeros[register.index()],
                    _ => false,
                };
                if let ([low, high], Some(ScalarType::B32)) = (parts.as_slice(), types.first())
                    && is_zero(low)
                {
                    self.widens(std::slice::from_ref(result), std::slice::from_ref(high));
                } else {
                    self.pack(result, parts, types);
                }
            }
            (Operand::Vector(parts), value) => {
                self.pack(value, parts, types);
            }
            (result, value) => {
                self.same(&[std::slice::from_ref(result), std::slice::from_ref(value)]);
            }
        }
    }

    fn pack(&mut self, whole: &Operand, parts: &[Operand], types: &[ScalarType]) {
        let (Operand::Register(whole), Some(ty)) = (whole, types.first()) else { return };
        if !self.parts.contains_key(&whole.index()) {
            let nodes = parts.iter().map(|_| self.node()).collect();
            self.parts.insert(whole.index(), (nodes, ty.bits()));
        }
        let nodes = self.parts[&whole.index()].0.clone();
        for (node, part) in nodes.iter().zip(parts).filter(|_| nodes.len() == parts.len()) {
            for register in registers(std::slice::from_ref(part)) {
                self.join(*node, register.index());
            }
        }
    }

    /// Notes that a register holds parts of so many bytes.
    fn consists(&mut self, register: VirtualRegister, size: u32) {
        let class = self.class(register.index());
        let known = &mut self.votes[class].part;
        *known = if *known == 0 { size } else { size.min(*known) };
    }

    fn widens(&mut self, results: &[Operand], sources: &[Operand]) {
        self.widened.extend(registers(results).zip(registers(sources)));
    }

    /// The result is one of the first sources.
    fn chosen(&mut self, instruction: &Instruction, count: usize, ty: Option<ScalarType>) {
        let among = instruction.sources.get(..count).unwrap_or_default();
        let results = instruction.destinations.get(..1).unwrap_or_default();
        self.same(&[results, among]);
        let float = ty.filter(|ty| ty.kind() == Kind::Float);
        self.typed(results, float, true);
        self.typed(among, float, true);
    }

    fn converted(&mut self, instruction: &Instruction) {
        let Instruction { types, sources, destinations, modifiers, .. } = instruction;
        let (to, from) = match types.as_slice() {
            // Numbers of 8 bits have no type here: only what they are made of is saturated.
            [from] if modifiers.has("satfinite") => (None, Some(*from)),
            types => (types.first().copied(), types.get(1).copied()),
        };
        let float = |ty: Option<ScalarType>| ty.is_some_and(|ty| ty.kind() == Kind::Float);
        let widens = to.zip(from).is_some_and(|(to, from)| to.bits() > from.bits());
        self.typed(sources, from, float(to) || widens || modifiers.sat);
        self.typed(destinations, to, float(from));
    }

    fn shifted(&mut self, instruction: &Instruction) {
        let Instruction { opcode, types, sources, destinations, .. } = instruction;
        let ty = types.first().copied();
        let by_half = sources.get(1) == Some(&Operand::Integer(16));
        if *opcode == Opcode::Shl && ty == Some(ScalarType::B32) && by_half {
            self.widens(destinations, sources);
        }
        let sign = match (opcode, ty.map(ScalarType::kind)) {
            (Opcode::Shr, Some(Kind::Signed)) => Meaning::Signed,
            (Opcode::Shr, _) => Meaning::Unsigned,
            _ => Meaning::Bits,
        };
        let shifted = if *opcode == Opcode::Shf { 2 } else { 1 };
        self.vote_all(sources.get(..shifted).unwrap_or_default(), Some(sign));
        self.vote_all(destinations, Some(sign));
    }

    /// Fragments of matrices.
    fn matrices(&mut self, instruction: &Instruction) {
        let Instruction { opcode, types, sources, destinations, modifiers, .. } = instruction;
        let written = |index: usize| types.get(index).copied();
        let of = |index: usize| sources.get(index).map(std::slice::from_ref).unwrap_or_default();
        if *opcode == Opcode::Wmma && modifiers.has("load") {
            return self.typed(destinations, written(0), true);
        }
        if *opcode == Opcode::Wmma && modifiers.has("store") {
            return self.typed(of(1), written(0), true);
        }
        self.typed(destinations, written(0), true);
        if let [_, left, right, sum] = types.as_slice() {
            for (index, ty) in [*left, *right].into_iter().enumerate() {
                self.typed(of(index), Some(ty), true);
                for register in registers(of(index)).filter(|_| ty.bits() == 8) {
                    self.consists(register, 1);
                }
            }
            self.typed(of(2), Some(*sum), true);
        } else {
            // Only the types of sums are written: the factors are halves, or have no type here.
            let float = written(0).is_some_and(|ty| ty.kind() == Kind::Float);
            let factor = (*opcode == Opcode::Wmma && float).then_some(ScalarType::F16);
            self.typed(of(0), factor, true);
            self.typed(of(1), factor, true);
            self.typed(of(2), written(1), true);
        }
    }
}

/// What a type says of a value; nothing where it is bits alone.
fn of_type(ty: ScalarType, sign: bool) -> Option<Meaning> {
    match (ty.kind(), ty) {
        (Kind::Float, ScalarType::F16x2) => Some(Meaning::Float(ScalarType::F16)),
        (Kind::Float, ScalarType::Bf16x2) => Some(Meaning::Float(ScalarType::Bf16)),
        (Kind::Float, ScalarType::F16 | ScalarType::Bf16 | ScalarType::F64) => {
            Some(Meaning::Float(ty))
        }
        (Kind::Float, _) => Some(Meaning::Float(ScalarType::F32)),
        (Kind::Signed, _) if sign => Some(Meaning::Signed),
        (Kind::Unsigned, _) if sign => Some(Meaning::Unsigned),
        (Kind::Signed | Kind::Unsigned, _) => Some(Meaning::Integer),
        (Kind::Bits | Kind::Predicate | Kind::Opaque, _) => None,
    }
}

/// Whether the second of two sources keeps the upper half of 32 bits.
fn upper_half(sources: &[Operand]) -> bool {
    matches!(sources.get(1), Some(Operand::Integer(mask)) if *mask as u32 == 0xffff_0000)
}

/// The registers that are zero and nothing else.
fn zeros(instructions: &[Instruction], count: usize) -> Vec<bool> {
    let mut zero = vec![false; count];
    let mut other = vec![false; count];
    for instruction in instructions {
        let is_zero = instruction.opcode == Opcode::Mov
            && instruction.sources.first() == Some(&Operand::Integer(0));
        for register in registers(&instruction.destinations) {
            let which = if is_zero { &mut zero } else { &mut other };
            which[register.index()] = true;
        }
    }
    zero.iter().zip(other).map(|(&zero, other)| zero && !other).collect()
}
