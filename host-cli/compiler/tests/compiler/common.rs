//! Kernels to test with: a generator of random ones, and real ones.

use strata_compiler::kernel::Kernel;
use strata_ptx::module::{
    AddressBase, Guard, Instruction, LabelId, Operand, Register, Span, StateSpace, VirtualRegister,
};
use strata_ptx::opcode::{AtomicOp, BarrierOp, MemoryOrder, Modifiers, Opcode, VoteMode};
use strata_ptx::types::ScalarType;

/// The registers in operands, in order.
pub(crate) fn registers(operands: &[Operand]) -> Vec<VirtualRegister> {
    let mut found = Vec::new();
    for operand in operands {
        match operand {
            Operand::Register(register)
            | Operand::NotRegister(register)
            | Operand::Address { base: AddressBase::Register(register), .. } => {
                found.push(*register);
            }
            Operand::Vector(elements) => found.extend(registers(elements)),
            _ => {}
        }
    }
    found
}

/// A small generator of pseudo-random numbers (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// How a random kernel is shaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Virtual registers of each type.
    pub(crate) registers: usize,
    /// Labels, and about as many blocks.
    pub(crate) labels: usize,
    /// Instructions of an average block.
    pub(crate) block: usize,
    /// Branches go anywhere; otherwise loops and conditionals are properly nested.
    pub(crate) wild: bool,
}

const TYPES: [ScalarType; 5] =
    [ScalarType::Pred, ScalarType::U32, ScalarType::U64, ScalarType::B128, ScalarType::U16];

struct Generator<'a> {
    random: &'a mut Random,
    shape: Shape,
    instructions: Vec<Instruction>,
    targets: Vec<u32>,
    branch_tables: Vec<Vec<LabelId>>,
}

/// A random kernel: not meant to compute anything, only to have every kind of flow.
pub(crate) fn random_kernel(random: &mut Random, shape: Shape) -> Kernel {
    let mut generator = Generator {
        random,
        shape,
        instructions: Vec::new(),
        targets: Vec::new(),
        branch_tables: Vec::new(),
    };
    for register in 0..shape.registers * TYPES.len() {
        if !generator.random.one_in(6) {
            let destination = Operand::Register(VirtualRegister(register as u32));
            generator.push(Opcode::Mov, vec![destination], vec![Operand::Integer(7)], false);
        }
    }
    if shape.wild {
        generator.wild();
    } else {
        generator.nested(shape.labels);
    }
    let registers = (0..shape.registers * TYPES.len())
        .map(|index| Register { name: format!("%v{index}"), ty: TYPES[index % TYPES.len()] })
        .collect();
    let mut kernel = Kernel {
        name: "random".into(),
        instructions: generator.instructions,
        lines: Vec::new(),
        registers,
        variables: Vec::new(),
        parameters: 0,
        targets: generator.targets,
        branch_tables: generator.branch_tables,
        shared_bytes: 0,
        local_bytes: 0,
    };
    kernel.tidy(Span::default(), |_| 1);
    kernel
}

impl Generator<'_> {
    fn register(&mut self, ty: usize) -> VirtualRegister {
        VirtualRegister((self.random.below(self.shape.registers) * TYPES.len() + ty) as u32)
    }

    fn operand(&mut self, ty: usize) -> Operand {
        if self.random.one_in(8) {
            Operand::Integer(1)
        } else {
            Operand::Register(self.register(ty))
        }
    }

    fn guard(&mut self) -> Guard {
        Guard { register: self.register(0), negated: self.random.one_in(2) }
    }

    fn push(&mut self, opcode: Opcode, to: Vec<Operand>, from: Vec<Operand>, guarded: bool) {
        let guard = guarded.then(|| self.guard());
        let modifiers = Modifiers::default();
        let (types, span) = (Vec::new(), Span::default());
        let (destinations, sources) = (to, from);
        self.instructions.push(Instruction {
            guard,
            opcode,
            modifiers,
            types,
            destinations,
            sources,
            span,
        });
    }

    fn straight(&mut self) {
        for _ in 0..self.random.below(2 * self.shape.block + 1) {
            self.one();
        }
    }

    fn one(&mut self) {
        let guarded = self.random.one_in(6);
        let ty = 1 + self.random.below(TYPES.len() - 1);
        let result = Operand::Register(self.register(ty));
        match self.random.below(12) {
            0 => {
                let result = Operand::Register(self.register(0));
                let (a, b) = (self.operand(1), self.operand(1));
                self.push(Opcode::Setp, vec![result], vec![a, b], guarded);
            }
            1..=3 => {
                let base = AddressBase::Register(self.register(2));
                let address = Operand::Address { base, offset: 0 };
                self.push(Opcode::Ld, vec![result], vec![address], guarded);
                if let Some(load) = self.instructions.last_mut() {
                    let space = [StateSpace::Global, StateSpace::Shared][self.random.below(2)];
                    load.modifiers.space = Some(space);
                    load.modifiers.order = self.random.one_in(8).then_some(MemoryOrder::Volatile);
                    if self.random.one_in(4) {
                        load.opcode = Opcode::Atom;
                        let operation = [AtomicOp::Add, AtomicOp::Exch][self.random.below(2)];
                        load.modifiers.atomic = Some(operation);
                        load.modifiers.order = None;
                    }
                }
            }
            4 => {
                let elements = (0..4).map(|_| Operand::Register(self.register(1))).collect();
                let vector = vec![Operand::Vector(elements)];
                let source = Operand::Register(self.register(3));
                self.push(Opcode::Mov, vector, vec![source], guarded);
            }
            5 => {
                let base = AddressBase::Register(self.register(2));
                let value = self.operand(ty);
                let address = Operand::Address { base, offset: 0 };
                self.push(Opcode::St, vec![], vec![address, value], guarded);
            }
            6 if self.random.one_in(3) => {
                self.push(Opcode::Bar, vec![], vec![Operand::Integer(0)], false);
                if let Some(barrier) = self.instructions.last_mut() {
                    barrier.modifiers.barrier = Some(BarrierOp::Sync);
                }
            }
            6 if self.random.one_in(3) => {
                let result = Operand::Register(self.register(1));
                let (truth, mask) =
                    (Operand::Register(self.register(0)), Operand::Integer(u64::MAX));
                self.push(Opcode::Vote, vec![result], vec![truth, mask], guarded);
                if let Some(vote) = self.instructions.last_mut() {
                    (vote.modifiers.sync, vote.modifiers.vote) = (true, Some(VoteMode::Ballot));
                }
            }
            7 => {
                let source = Operand::Register(self.register(ty));
                self.push(Opcode::Mov, vec![result], vec![source], guarded);
            }
            _ => {
                let (a, b) = (self.operand(ty), self.operand(ty));
                self.push(Opcode::Add, vec![result], vec![a, b], guarded);
            }
        }
    }

    fn label(&mut self) -> LabelId {
        self.targets.push(self.instructions.len() as u32);
        LabelId(self.targets.len() as u32 - 1)
    }

    fn here(&mut self, label: LabelId) {
        self.targets[label.index()] = self.instructions.len() as u32;
    }

    fn branch(&mut self, label: LabelId, guarded: bool) {
        self.push(Opcode::Bra, vec![], vec![Operand::Label(label)], guarded);
    }

    /// Blocks with branches to anywhere.
    fn wild(&mut self) {
        self.targets = vec![0; self.shape.labels];
        for label in 0..self.shape.labels {
            self.here(LabelId(label as u32));
            self.straight();
            let to = LabelId(self.random.below(self.shape.labels) as u32);
            match self.random.below(10) {
                0 => self.branch(to, false),
                1 => self.push(Opcode::Exit, vec![], vec![], true),
                2 => {
                    let table = (0..=self.random.below(4))
                        .map(|_| LabelId(self.random.below(self.shape.labels) as u32))
                        .collect();
                    self.branch_tables.push(table);
                    let table = Operand::BranchTable(self.branch_tables.len() as u32 - 1);
                    let index = Operand::Register(self.register(1));
                    self.push(Opcode::Brx, vec![], vec![index, table], false);
                }
                3 => {}
                _ => self.branch(to, true),
            }
        }
    }

    /// Conditionals, loops with breaks, and straight code, properly nested.
    fn nested(&mut self, budget: usize) {
        self.straight();
        if budget == 0 {
            return;
        }
        let half = (budget - 1) / 2;
        match self.random.below(5) {
            0 => {
                let (other, join) = (self.label(), self.label());
                self.branch(other, true);
                self.nested(half);
                self.branch(join, false);
                self.here(other);
                self.nested(half);
                self.here(join);
            }
            1 => {
                let join = self.label();
                self.branch(join, true);
                self.nested(half);
                self.here(join);
                self.nested(half);
            }
            2 => {
                let (head, end) = (self.label(), self.label());
                self.here(head);
                self.nested(half);
                self.branch(end, true);
                self.nested(half);
                self.branch(head, true);
                self.here(end);
            }
            3 => {
                let head = self.label();
                self.nested(half);
                if self.random.one_in(4) {
                    self.push(Opcode::Ret, vec![], vec![], true);
                }
                self.branch(head, true);
                self.nested(half);
            }
            _ => {
                self.nested(half);
                self.nested(half);
            }
        }
        self.straight();
    }
}

/// The shapes that random tests go through.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for wild in [false, true] {
        for (registers, labels, block) in [(1, 3, 1), (2, 4, 2), (3, 8, 3), (4, 16, 4), (6, 30, 2)]
        {
            shapes.push(Shape { registers, labels, block, wild });
        }
    }
    shapes
}
