//! Decoding: a program's instructions to micro-operations, once per kernel.
//!
//! Every operand becomes a row: registers first, then rows for results that are not used, special
//! registers (filled when a warp starts) and constants. Whatever cannot be executed is reported,
//! all of it and not only the first.

mod control;
mod mbarrier;
mod memory;
mod operands;
mod texture;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_compiler::RESERVED_SHARED_BYTES;
use strata_compiler::inline::reads_reserved;
use strata_compiler::order::Order;
use strata_compiler::program::{Location, Program, ProgramInstruction};
use strata_core::image::StaticInstruction;
use strata_ptx::cuda::CudaPlace;
use strata_ptx::diagnostic::{Diagnostic, counted};
use strata_ptx::launch::LaunchRules;
use strata_ptx::module::{Function, Instruction, Module, Span, SpecialRegister, StateSpace};
use strata_ptx::opcode::Opcode;

use crate::device::AddressMap;
use crate::launch::MAX_STATIC_SHARED;
use crate::levels::PlacedOperands;
use crate::micro::{
    Access, Action, Args, AsyncCopy, Barrier, Call, Mbarrier, MicroOp, Space, TextureAccess,
    VectorMove,
};
use crate::moved::{AccessShape, Windows};
use crate::ops::{self, matrix::Matrix};

/// A kernel, ready to be executed any number of times.
#[derive(Clone, Debug)]
pub struct Executable {
    pub(crate) name: String,
    pub(crate) operations: Vec<MicroOp>,
    /// For each operation, whether it moves bytes that cycle mode asks for.
    pub(crate) moves: Vec<bool>,
    pub(crate) lines: Vec<u32>,
    /// Where operations came from in CUDA; empty where the module does not say.
    pub(crate) cuda: Vec<Option<CudaPlace>>,
    pub(crate) order: Order,
    pub(crate) accesses: Vec<Access>,
    pub(crate) textures: Vec<TextureAccess>,
    pub(crate) copies: Vec<AsyncCopy>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) mbarriers: Vec<Mbarrier>,
    pub(crate) vectors: Vec<VectorMove>,
    pub(crate) calls: Vec<Call>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) branch_tables: Vec<Vec<u32>>,
    /// Rows before the extra ones: registers and unwanted results.
    pub(crate) register_rows: u32,
    pub(crate) extra: Vec<ExtraRow>,
    /// Predicates, the constant ones included; the last two are always false and always true.
    pub(crate) predicates: u32,
    pub(crate) shared_bytes: u64,
    /// What the kernel's directives say of its launches.
    pub(crate) rules: LaunchRules,
    /// Unit in which its machine gives CTAs shared memory. Unit: bytes.
    pub(crate) shared_unit: u32,
    /// Of these, those of the system software.
    pub(crate) reserved_shared_bytes: u64,
    pub(crate) local_bytes: u64,
    /// The last bytes of the frame: spill slots.
    pub(crate) spill_bytes: u64,
    pub(crate) parameter_bytes: u64,
    pub(crate) address_bits: u8,
    pub(crate) module: usize,
    pub(crate) uses_module: bool,
    /// Where values live, if not simply in registers.
    pub(crate) levels: Option<Arc<PlacedOperands>>,
}

impl Executable {
    /// Kernel name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size of the parameter block that a launch has to give. Unit: bytes.
    pub fn parameter_bytes(&self) -> u64 {
        self.parameter_bytes
    }

    /// How an instruction accesses memory; `None` when it names no addresses, or moves no bytes.
    pub fn access_shape(&self, pc: u32) -> Option<AccessShape> {
        let pc = pc as usize;
        match self.operations.get(pc)?.action {
            Action::Memory(_, index) if self.moves[pc] => {
                Some(self.accesses[index as usize].shape())
            }
            Action::Copy(index) if self.moves[pc] => Some(self.copies[index as usize].from.shape()),
            Action::Mbarrier(index) if self.moves[pc] => {
                Some(self.mbarriers[index as usize].access.shape())
            }
            Action::Matrix { index, .. } if self.moves[pc] => {
                match &self.matrices[index as usize] {
                    Matrix::Transfer(transfer) => Some(transfer.access.shape()),
                    Matrix::Product(_) | Matrix::Transpose { .. } => None,
                }
            }
            _ => None,
        }
    }

    /// The state space that a load or atomic names.
    pub(crate) fn space_of(&self, pc: u32) -> Space {
        match self.operations[pc as usize].action {
            Action::Memory(_, index) => self.accesses[index as usize].space,
            _ => Space::Generic,
        }
    }

    /// Whether it asks for the workspace of a cooperative launch.
    pub(crate) fn asks_for_workspace(&self) -> bool {
        let asks =
            |row: &ExtraRow| matches!(row, ExtraRow::Special(SpecialRegister::Envreg(1 | 2), _));
        self.extra.iter().any(asks)
    }

    /// Where its generic addresses reach other memories than the global one.
    pub fn windows(&self) -> Windows {
        AddressMap::new(self.address_bits).windows()
    }

    /// Which loaded module the kernel's variables are those of; without this call, the module
    /// loaded first.
    pub fn set_module(&mut self, module: crate::device::ModuleHandle) {
        self.module = module.0;
    }
}

/// A row that no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExtraRow {
    /// A constant.
    Constant(u32),
    /// A special register; true: its upper half.
    Special(SpecialRegister, bool),
    /// The address of a module's variable plus an offset; true: its upper half.
    Address(u32, i64, bool),
}

/// Why one instruction cannot be executed.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// An action with its operands.
pub(crate) type Decoded = Result<(Action, Args), Problem>;

/// Collects what the instructions need.
pub(crate) struct Decoder<'a> {
    pub(crate) program: &'a Program,
    pub(crate) module: &'a Module,
    pub(crate) accesses: Vec<Access>,
    pub(crate) textures: Vec<TextureAccess>,
    pub(crate) copies: Vec<AsyncCopy>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) mbarriers: Vec<Mbarrier>,
    pub(crate) vectors: Vec<VectorMove>,
    pub(crate) calls: Vec<Call>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) extra: Vec<ExtraRow>,
    by_content: FxHashMap<Vec<ExtraRow>, u32>,
    pub(crate) uses_module: bool,
}

/// Rows for results that are not used: as many as the widest one has.
const SINK_ROWS: u32 = 4;

/// One instruction being decoded.
pub(crate) struct One<'d, 'a> {
    pub(crate) decoder: &'d mut Decoder<'a>,
    pub(crate) instruction: &'a Instruction,
    pub(crate) whole: &'a ProgramInstruction,
    /// Nothing follows it.
    last: bool,
}

/// Decodes a program.
///
/// # Errors
/// Every instruction that parses but cannot be executed, each with its place.
pub fn prepare(module: &Module, program: &Program) -> Result<Executable, Vec<Diagnostic>> {
    let mut decoder = Decoder {
        program,
        module,
        accesses: Vec::new(),
        textures: Vec::new(),
        copies: Vec::new(),
        barriers: Vec::new(),
        mbarriers: Vec::new(),
        vectors: Vec::new(),
        calls: Vec::new(),
        matrices: Vec::new(),
        extra: Vec::new(),
        by_content: FxHashMap::default(),
        uses_module: false,
    };
    let mut problems = Vec::new();
    let mut operations = Vec::with_capacity(program.instructions.len());
    for (pc, whole) in program.instructions.iter().enumerate() {
        let instruction = &whole.instruction;
        let last = pc + 1 == program.instructions.len();
        let mut one = One { decoder: &mut decoder, instruction, whole, last };
        match one.decode() {
            Ok(operation) => operations.push(operation),
            Err(Problem { code, message }) => problems.push(
                Diagnostic::unsupported(code, instruction.span, message)
                    .in_kernel(program.name.clone()),
            ),
        }
    }
    let function = module.kernel(&program.name).map(|id| &module.functions[id.index()]);
    problems.extend(no_instructions(program));
    problems.extend(function.and_then(|function| too_much_static(function, program)));
    if !problems.is_empty() {
        return Err(problems);
    }
    let parameters =
        &program.variables[..(program.parameters as usize).min(program.variables.len())];
    Ok(Executable {
        name: program.name.clone(),
        operations,
        moves: program.image.instructions.iter().map(StaticInstruction::moves_bytes).collect(),
        lines: program.instructions.iter().map(|whole| whole.line).collect(),
        cuda: cuda_places(module, program),
        order: Order::new(program),
        register_rows: decoder.first_extra(),
        accesses: decoder.accesses,
        textures: decoder.textures,
        copies: decoder.copies,
        barriers: decoder.barriers,
        mbarriers: decoder.mbarriers,
        vectors: decoder.vectors,
        calls: decoder.calls,
        matrices: decoder.matrices,
        branch_tables: program.branch_tables.clone(),
        extra: decoder.extra,
        predicates: u32::from(program.predicate_registers) + 3,
        shared_bytes: program.shared_bytes,
        rules: function.map(|function| function.launch).unwrap_or_default(),
        shared_unit: shared_unit(&module.target),
        reserved_shared_bytes: reserved_shared_bytes(program),
        local_bytes: program.local_bytes,
        spill_bytes: program.spill_bytes,
        parameter_bytes: parameters.iter().map(|p| p.offset + p.size).max().unwrap_or(0),
        address_bits: module.address_bits,
        module: 0,
        uses_module: decoder.uses_module,
        levels: None,
    })
}

/// Refuses a kernel without instructions.
fn no_instructions(program: &Program) -> Option<Diagnostic> {
    let problem = Diagnostic::unsupported("no-kernel", Span::default(), "no instructions");
    program.instructions.is_empty().then(|| problem.in_kernel(program.name.clone()))
}

/// Shared memory of the system software, if the kernel asks for places in it. Unit: bytes.
fn reserved_shared_bytes(program: &Program) -> u64 {
    let asks = program.instructions.iter().any(|whole| reads_reserved(&whole.instruction));
    if asks { RESERVED_SHARED_BYTES } else { 0 }
}

/// Refuses more variables in shared memory than an assembler lets a kernel have.
fn too_much_static(function: &Function, program: &Program) -> Option<Diagnostic> {
    let shared = program.variables.iter().filter(|v| v.space == StateSpace::Shared && v.size > 0);
    let end = shared.map(|variable| variable.offset + variable.size).max()?;
    let needed = end.saturating_sub(reserved_shared_bytes(program));
    let message = format!(
        "the `.shared` variables take {}; a kernel may have {MAX_STATIC_SHARED}",
        counted(needed, "byte")
    );
    let hint = "make them smaller, or take the memory from the launch: an `.extern .shared` array \
                without size, and `shared` in the launch file";
    let refused = Diagnostic::error("shared-size", function.span, message).with_hint(hint);
    (needed > MAX_STATIC_SHARED).then(|| refused.in_kernel(program.name.clone()))
}

/// The unit in which a machine gives CTAs shared memory. Unit: bytes. Source: PTX ISA 9.1, special
/// register `%total_smem_size`; of `sm_1x`, NVIDIA's CUDA Occupancy Calculator.
fn shared_unit(target: &str) -> u32 {
    let digits = |rest: &str| rest.trim_end_matches(['a', 'f']).parse().ok();
    match target.strip_prefix("sm_").and_then(digits) {
        Some(10..=19) => 512,
        Some(30..=79_u32) => 256,
        _ => 128,
    }
}

fn cuda_places(module: &Module, program: &Program) -> Vec<Option<CudaPlace>> {
    if module.cuda.is_empty() {
        return Vec::new();
    }
    let instructions = program.instructions.iter();
    instructions.map(|whole| module.cuda.of(whole.instruction.span)).collect()
}

impl Decoder<'_> {
    /// Row of the first result that is not used.
    pub(crate) fn sink(&self) -> u32 {
        u32::from(self.program.general_registers)
    }

    pub(crate) fn first_extra(&self) -> u32 {
        self.sink() + SINK_ROWS
    }

    /// Predicate that is not used.
    pub(crate) fn predicate_sink(&self) -> u32 {
        u32::from(self.program.predicate_registers)
    }

    /// The predicate that is always true.
    pub(crate) fn always(&self) -> u32 {
        u32::from(self.program.predicate_registers) + 2
    }

    /// Row of the first of some rows that are never written.
    pub(crate) fn extra(&mut self, rows: Vec<ExtraRow>) -> u32 {
        if let Some(&known) = self.by_content.get(&rows) {
            return known;
        }
        let first = self.first_extra() + self.extra.len() as u32;
        self.extra.extend_from_slice(&rows);
        self.by_content.insert(rows, first);
        first
    }
}

impl One<'_, '_> {
    fn decode(&mut self) -> Result<MicroOp, Problem> {
        let (guard, guard_flip) = match self.instruction.guard {
            None => (self.decoder.always(), 0),
            Some(guard) => {
                let location = self.location(guard.register)?;
                let Location::Predicate(index) = location else {
                    return Err(self.malformed("the guard is not a predicate"));
                };
                (self.predicate_in_range(index)?, if guard.negated { u32::MAX } else { 0 })
            }
        };
        let (action, args) = self.body()?;
        let ends = matches!(
            action,
            Action::Exit | Action::Trap | Action::Branch { .. } | Action::BranchTable { .. }
        );
        if self.last && !(ends && self.instruction.guard.is_none()) {
            return Err(self.malformed("control runs off the end of the program"));
        }
        Ok(MicroOp { action, guard, guard_flip, args })
    }

    fn body(&mut self) -> Decoded {
        use Opcode as O;
        match self.instruction.opcode {
            O::Ld | O::Ldu | O::St | O::Atom | O::Red => self.memory(),
            O::Cvta | O::Isspacep => self.address_space(),
            O::Mapa | O::Getctarank => self.cluster_address(),
            O::Mov | O::Cvt => ops::convert::decode(self),
            O::Set | O::Setp | O::Selp | O::Slct | O::Testp => ops::compare::decode(self),
            O::And
            | O::Or
            | O::Xor
            | O::Not
            | O::Cnot
            | O::Lop3
            | O::Shl
            | O::Shr
            | O::Shf
            | O::Prmt
            | O::Bfe
            | O::Bfi
            | O::Bfind
            | O::Brev
            | O::Popc
            | O::Clz
            | O::Fns
            | O::Szext
            | O::Bmsk => ops::bits::decode(self),
            O::Shfl | O::Vote | O::Match | O::Activemask | O::Redux | O::Elect => {
                ops::warp::decode(self)
            }
            O::Vadd
            | O::Vsub
            | O::Vabsdiff
            | O::Vmin
            | O::Vmax
            | O::Vshl
            | O::Vshr
            | O::Vmad
            | O::Vset => ops::video::decode(self),
            _ if ops::simd::has(self.instruction) => ops::simd::decode(self),
            O::Add
            | O::Sub
            | O::Mul
            | O::Mad
            | O::Fma
            | O::Div
            | O::Rem
            | O::Abs
            | O::Neg
            | O::Min
            | O::Max
            | O::Addc
            | O::Subc
            | O::Madc
            | O::Mul24
            | O::Mad24
            | O::Sad
            | O::Dp4a
            | O::Dp2a
            | O::Rcp
            | O::Sqrt
            | O::Rsqrt
            | O::Sin
            | O::Cos
            | O::Lg2
            | O::Ex2
            | O::Tanh
            | O::Copysign => self.arithmetic(),
            _ => self.units(),
        }
    }

    /// Matrices, textures, copies, and control.
    fn units(&mut self) -> Decoded {
        use Opcode as O;
        match self.instruction.opcode {
            O::Mma | O::Wmma | O::Ldmatrix | O::Stmatrix | O::Movmatrix => {
                ops::matrix::decode(self)
            }
            O::Tex | O::Tld4 | O::Txq | O::Suq | O::Suld | O::Sust | O::Sured | O::Istypep => {
                self.texture()
            }
            O::CpAsync if !self.instruction.modifiers.has("mbarrier") => self.copy(),
            O::CpAsync | O::Mbarrier => self.mbarrier(),
            _ => self.control(),
        }
    }

    fn arithmetic(&mut self) -> Decoded {
        use strata_ptx::types::Kind;
        if ops::float::has_two_words(self.instruction) || self.ty(0)?.kind() == Kind::Float {
            ops::float::decode(self)
        } else {
            ops::integer::decode(self)
        }
    }
}
