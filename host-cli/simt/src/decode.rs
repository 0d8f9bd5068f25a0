//! Decoding: a program's instructions to micro-operations, once per kernel.
//!
//! Every operand becomes a row: registers first, then rows for results that are not used, special
//! registers (filled when a warp starts) and constants. Whatever cannot be executed is reported,
//! all of it and not only the first.

mod control;
mod mbarrier;
mod memory;
pub(crate) mod one;
mod operands;
mod texture;

use rustc_hash::FxHashMap;
use strata_compiler::RESERVED_SHARED_BYTES;
use strata_compiler::inline::reads_reserved;
use strata_compiler::order::Order;
use strata_compiler::program::{Location, Program};
use strata_core::image::StaticInstruction;
use strata_ptx::cuda::CudaPlace;
use strata_ptx::diagnostic::{Diagnostic, counted};
use strata_ptx::module::{Function, Module, Span, StateSpace};
use strata_ptx::opcode::Opcode;

use crate::executable::Executable;
use crate::launch::MAX_STATIC_SHARED;
use crate::micro::{Action, MicroOp};
use crate::ops;
use one::{Decoded, Decoder, One, Problem};

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
