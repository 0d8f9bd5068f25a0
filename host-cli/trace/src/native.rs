//! PTX instructions as Accel-Sim traces name them: the nearest opcode of `sm_70`, and the registers
//! that the format has room for.
//!
//! One PTX instruction is one line. The table is [`stem`] and, where types matter, the functions it
//! calls; docs/TRACES.md lists it. Accel-Sim takes one result and four operands, each named by the
//! lowest of its registers; how many it takes follows from the opcode, on the way back as well
//! (`opcode`). Operands that come in another width than their opcode's, and components of vectors
//! that do not lie behind each other, cannot be said.

use strata_compiler::program::{Location, Program};
use strata_core::image::{Flags, MemorySpace, StaticInstruction};
use strata_machine_code as machine_code;
use strata_machine_code::{Machine, Mnemonic};
use strata_ptx::module::{AddressBase, Instruction, Operand, SpecialRegister, VirtualRegister};
use strata_ptx::opcode::{AtomicOp, BarrierOp, Direction, Half, Opcode, Rounding, VoteMode};
use strata_ptx::types::{Kind, ScalarType};
use strata_simt::Executable;
use strata_simt::moved::{AccessShape, AccessSpace};

use super::code::TracedInstruction;
use super::instruction::ZERO;

/// The machine whose forms stand for those of `sm_70`.
const MACHINE: Machine = Machine::Sm75;
/// Bytes between neighbouring instructions since Volta.
const INSTRUCTION_BYTES: u64 = 16;
/// Operands that Accel-Sim's reader has room for.
const MAX_SOURCES: usize = 4;

/// The instructions of a kernel as a trace names them, one for each.
pub fn native_instructions(program: &Program, executable: &Executable) -> Vec<TracedInstruction> {
    let one = |pc: usize| {
        let shape = executable.access_shape(pc as u32);
        let instruction = &program.instructions[pc].instruction;
        let record = &program.image.instructions[pc];
        let named = Named { program, instruction, record, shape };
        let mnemonic = named.mnemonic();
        let (results, operands) = (named.destinations(), named.sources());
        let (mut destinations, mut sources) =
            machine_code::list(MACHINE, &mnemonic, &results, &operands, named.leads());
        // A result that finds no room among the sources: `shfl` of registers alone, with its mask.
        if sources.len() > MAX_SOURCES && operands.len() <= MAX_SOURCES {
            (destinations, sources) = (results, operands);
        }
        sources.truncate(MAX_SOURCES);
        TracedInstruction {
            pc: pc as u64 * INSTRUCTION_BYTES,
            mnemonic,
            destinations,
            sources,
            width: shape.map_or(0, |shape| shape.bytes as u8),
        }
    };
    (0..program.instructions.len()).map(one).collect()
}

/// The machine that an export declares: `sm_70`, or the first one that has all its opcodes.
pub fn declared_version(instructions: &[TracedInstruction]) -> u32 {
    let of = |instruction: &TracedInstruction| match Mnemonic(&instruction.mnemonic).stem() {
        "LDGSTS" => 80,
        "LDSM" | "MOVM" => 75,
        _ => 70,
    };
    instructions.iter().map(of).max().unwrap_or(70)
}

/// One instruction and what is known about it.
struct Named<'a> {
    program: &'a Program,
    instruction: &'a Instruction,
    record: &'a StaticInstruction,
    shape: Option<AccessShape>,
}

/// Registers of one operand: the first, and how many follow each other.
type Registers = (u8, usize);

impl Named<'_> {
    fn register(&self, register: VirtualRegister) -> Option<Registers> {
        match self.program.registers.get(register.index())?.location {
            // Kernels with more registers are refused before they run.
            Location::General { first, count } => Some((first as u8, count.into())),
            Location::Predicate(_) | Location::Unused => None,
        }
    }

    /// The registers of an operand: one group where they lie behind each other, as an operand of
    /// that width must.
    fn groups(&self, operand: &Operand) -> Vec<Registers> {
        match operand {
            Operand::Register(register)
            | Operand::Address { base: AddressBase::Register(register), .. } => {
                self.register(*register).into_iter().collect()
            }
            Operand::Vector(elements) => {
                let each: Vec<Registers> =
                    elements.iter().flat_map(|element| self.groups(element)).collect();
                let follow = |pair: &[Registers]| {
                    usize::from(pair[0].0) + pair[0].1 == usize::from(pair[1].0)
                };
                match each.first() {
                    Some(&(first, _)) if each.windows(2).all(follow) && first % 2 == 0 => {
                        vec![(first, each.iter().map(|group| group.1).sum())]
                    }
                    _ => each,
                }
            }
            _ => Vec::new(),
        }
    }

    /// Whether the first operand lies in a general register.
    fn leads(&self) -> bool {
        let first = self.instruction.sources.first();
        first.is_some_and(|operand| !self.groups(operand).is_empty())
    }

    fn destinations(&self) -> Vec<u8> {
        let mut groups = self.instruction.destinations.iter().flat_map(|one| self.groups(one));
        groups.next().map(|group| group.0).into_iter().collect()
    }

    fn sources(&self) -> Vec<u8> {
        let mut named = Vec::new();
        let store = self.record.flags.contains(Flags::STORE);
        for (index, operand) in self.instruction.sources.iter().enumerate() {
            let groups = self.groups(operand);
            // The register that is always zero keeps the place of a constant where places matter.
            let constant =
                matches!(operand, Operand::Integer(_) | Operand::Float32(_) | Operand::Float64(_));
            let data = store && index >= 1;
            if constant && (data || self.is_wide(Opcode::Mad)) {
                named.push(ZERO);
            }
            named.extend(groups.into_iter().map(|group| group.0));
        }
        // Machine code's product always has an addend, without which two operands are ambiguous.
        let is_high = self.instruction.modifiers.half == Some(Half::High);
        let is_mul = self.instruction.opcode == Opcode::Mul;
        if self.is_wide(Opcode::Mul) || is_mul && is_high && self.ty().bits() == 32 {
            named.push(ZERO);
        }
        // Nor is there an atomic operation without data, unless it only counts.
        let is_atomic = store && self.record.flags.contains(Flags::LOAD);
        if is_atomic && self.leads() && named.len() == 1 {
            named.push(ZERO);
        }
        named.truncate(MAX_SOURCES);
        named
    }

    fn is_wide(&self, opcode: Opcode) -> bool {
        self.instruction.opcode == opcode && self.instruction.modifiers.half == Some(Half::Wide)
    }

    fn ty(&self) -> ScalarType {
        self.instruction.types.first().copied().unwrap_or(ScalarType::B32)
    }

    fn second(&self) -> ScalarType {
        self.instruction.types.get(1).copied().unwrap_or_else(|| self.ty())
    }

    fn mnemonic(&self) -> String {
        use Opcode as O;
        match self.instruction.opcode {
            O::CpAsync if self.instruction.modifiers.has("mbarrier") => self.atomic(),
            O::Mbarrier if self.record.flags.contains(Flags::STORE) => self.atomic(),
            O::Ld | O::Ldu | O::St | O::Ldmatrix | O::Stmatrix | O::CpAsync => self.load_or_store(),
            O::Wmma | O::Mbarrier if self.shape.is_some() => self.load_or_store(),
            O::Atom | O::Red => self.atomic(),
            O::Prefetch | O::Prefetchu | O::Discard => format!("CCTL{}.PF2", self.address_width()),
            O::Cvt => self.conversion(),
            O::Mul | O::Mul24 | O::Mad | O::Mad24 | O::Madc | O::Fma => self.product(),
            O::Mov | O::Cvta | O::Mapa | O::Getctarank => self.moved(),
            O::Mbarrier => "MOV".to_owned(),
            O::Set | O::Setp => self.comparison(),
            // The index of a table, where machine code has an address.
            O::Brx => "BRX.32".to_owned(),
            _ => self.wide(stem(self.instruction)),
        }
    }

    /// Adds the mark of 64-bit operands, which machine code has in double precision alone.
    fn wide(&self, stem: &str) -> String {
        let double = matches!(stem, "DADD" | "DMUL" | "DFMA" | "DSETP");
        let no_data = matches!(self.instruction.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret);
        if self.ty().bits() == 64 && !double && !no_data {
            format!("{stem}.64")
        } else {
            stem.to_owned()
        }
    }

    /// `.E` where the address, in global memory if there are two, takes two registers.
    fn address_width(&self) -> &'static str {
        let copies = self.instruction.opcode == Opcode::CpAsync;
        let index = usize::from(copies && self.instruction.sources.len() > 1);
        let address = self.instruction.sources.get(index).map(|operand| self.groups(operand));
        match address.as_deref() {
            Some([(_, 2)]) => ".E",
            _ => "",
        }
    }

    fn load_or_store(&self) -> String {
        let opcode = self.instruction.opcode;
        let store = matches!(opcode, Opcode::St | Opcode::Stmatrix)
            || opcode == Opcode::Wmma && self.instruction.modifiers.has("store");
        let Some(shape) = self.shape else {
            return self.constant(store);
        };
        if opcode == Opcode::Ldmatrix && shape.space == AccessSpace::Shared {
            return self.matrices();
        }
        let stem = match (shape.space, store) {
            _ if opcode == Opcode::CpAsync => "LDGSTS",
            (AccessSpace::Global, false) => "LDG",
            (AccessSpace::Local, false) => "LDL",
            (AccessSpace::Shared, false) => "LDS",
            (AccessSpace::Generic, false) => "LD",
            (AccessSpace::Global, true) => "STG",
            (AccessSpace::Local, true) => "STL",
            (AccessSpace::Shared, true) => "STS",
            (AccessSpace::Generic, true) => "ST",
        };
        let strong = if shape.line_use.bypasses() { ".STRONG.GPU" } else { "" };
        format!("{stem}{}{}{strong}", self.address_width(), width(shape.bytes))
    }

    /// Loads of rows of matrices, of which the opcode says how many lanes name one.
    fn matrices(&self) -> String {
        let transposed = if self.instruction.modifiers.has("trans") { "T" } else { "" };
        let number = match self.instruction.destinations.first() {
            Some(Operand::Vector(registers)) if registers.len() > 1 => {
                format!(".{}", registers.len())
            }
            _ => String::new(),
        };
        format!("LDSM.16.M{transposed}88{number}")
    }

    /// What moves no bytes: constants and parameters. The arguments of an inlined call lie in
    /// registers in machine code.
    fn constant(&self, store: bool) -> String {
        if store || self.record.space != Some(MemorySpace::Constant) {
            return self.wide("MOV");
        }
        let vector = u32::from(self.instruction.modifiers.vector.max(1));
        format!("LDC{}{}", self.address_width(), width(self.ty().bytes() * vector))
    }

    fn atomic(&self) -> String {
        let modifiers = &self.instruction.modifiers;
        let operation = match modifiers.atomic {
            Some(AtomicOp::And) => "AND",
            Some(AtomicOp::Or) => "OR",
            Some(AtomicOp::Xor) => "XOR",
            Some(AtomicOp::Cas) => "CAS",
            Some(AtomicOp::Exch) => "EXCH",
            Some(AtomicOp::Inc) => "INC",
            Some(AtomicOp::Dec) => "DEC",
            Some(AtomicOp::Min) => "MIN",
            Some(AtomicOp::Max) => "MAX",
            Some(AtomicOp::Add) | None => "ADD",
        };
        let plain = self.instruction.destinations.is_empty();
        let (stem, scope) = match self.shape.map(|shape| shape.space) {
            Some(AccessSpace::Shared) => ("ATOMS", ""),
            Some(AccessSpace::Global) if plain => ("RED", ".STRONG.GPU"),
            Some(AccessSpace::Global) => ("ATOMG", ".STRONG.GPU"),
            _ => ("ATOM", ".STRONG.GPU"),
        };
        let width = width(self.ty().bytes());
        format!("{stem}{}.{operation}{width}{scope}", self.address_width())
    }

    fn conversion(&self) -> String {
        let (to, from) = (self.ty(), self.second());
        let float = |ty: ScalarType| ty.kind() == Kind::Float;
        let integral = matches!(
            self.instruction.modifiers.rounding,
            Some(
                Rounding::IntegerNearest
                    | Rounding::IntegerZero
                    | Rounding::IntegerDown
                    | Rounding::IntegerUp
            )
        );
        let stem = match (float(to), float(from)) {
            (true, true) if integral && to == from => return format!("FRND.{}", sass(to)),
            (true, true) => "F2F",
            (true, false) => "I2F",
            (false, true) => "F2I",
            (false, false) => "I2I",
        };
        format!("{stem}.{}.{}", sass(to), sass(from))
    }

    fn product(&self) -> String {
        let mad = !matches!(self.instruction.opcode, Opcode::Mul | Opcode::Mul24);
        match (self.ty().kind(), self.ty().bits()) {
            (Kind::Float, 64) => if mad { "DFMA" } else { "DMUL" }.to_owned(),
            (Kind::Float, _) if is_half(self.ty()) => {
                if mad { "HFMA2" } else { "HMUL2" }.to_owned()
            }
            (Kind::Float, _) => if mad { "FFMA" } else { "FMUL" }.to_owned(),
            (_, bits) => match self.instruction.modifiers.half {
                Some(Half::Wide) if bits == 32 => "IMAD.WIDE".to_owned(),
                // The addend of machine code's high product is a pair; PTX's is single.
                Some(Half::High) if !mad => self.wide("IMAD.HI"),
                _ => self.wide("IMAD"),
            },
        }
    }

    fn moved(&self) -> String {
        match self.instruction.sources.first() {
            Some(Operand::Special(register)) => special(*register, self.ty()).to_owned(),
            _ if self.ty() == ScalarType::Pred => "PLOP3".to_owned(),
            _ => self.wide("MOV"),
        }
    }

    fn comparison(&self) -> String {
        let set = self.instruction.opcode == Opcode::Set;
        let ty = if set { self.second() } else { self.ty() };
        match (ty.kind(), ty.bits()) {
            (Kind::Float, 64) => "DSETP",
            (Kind::Float, _) if is_half(ty) => {
                if set {
                    "HSET2"
                } else {
                    "HSETP2"
                }
            }
            (Kind::Float, _) => {
                if set {
                    "FSET"
                } else {
                    "FSETP"
                }
            }
            (_, 64) => "ISETP.64",
            _ => "ISETP",
        }
        .to_owned()
    }
}

/// The stem of instructions of which the type decides at most between the number formats.
fn stem(instruction: &Instruction) -> &'static str {
    use Opcode as O;
    let ty = instruction.types.first().copied().unwrap_or(ScalarType::B32);
    let by_kind = |integer, single, double| match (ty.kind(), ty.bits()) {
        (Kind::Float, 64) => double,
        (Kind::Float, _) if is_half(ty) => "HADD2",
        (Kind::Float, _) => single,
        _ => integer,
    };
    let arrives = instruction.modifiers.barrier == Some(BarrierOp::Arrive);
    let logic = if ty == ScalarType::Pred { "PLOP3" } else { "LOP3" };
    match instruction.opcode {
        O::Add | O::Sub | O::Neg => by_kind("IADD3", "FADD", "DADD"),
        O::Addc | O::Subc => "IADD3.X",
        O::Abs => by_kind("IABS", "FADD", "DADD"),
        // Volta has no minimum in double precision.
        O::Min | O::Max => by_kind("IMNMX", "FMNMX", "DADD"),
        // Machine code expands divisions; the longest part stands for the whole.
        O::Div | O::Rem | O::Rcp => by_kind("IMAD", "MUFU.RCP", "MUFU.RCP64H"),
        O::Rsqrt => by_kind("IMAD", "MUFU.RSQ", "MUFU.RSQ64H"),
        O::Sqrt => "MUFU.SQRT",
        O::Sin => "MUFU.SIN",
        O::Cos => "MUFU.COS",
        O::Ex2 => "MUFU.EX2",
        O::Lg2 => "MUFU.LG2",
        O::Tanh => "MUFU.TANH",
        O::And | O::Or | O::Xor | O::Not | O::Lop3 | O::Cnot => logic,
        O::Bfi | O::Copysign => "LOP3",
        O::Shl => "SHF.L",
        O::Shr => "SHF.R",
        O::Shf if instruction.modifiers.direction == Some(Direction::Left) => "SHF.L.W",
        O::Shf => "SHF.R.W",
        O::Bfe | O::Szext => "SGXT",
        O::Bmsk => "BMSK",
        O::Bfind | O::Clz | O::Fns => "FLO",
        O::Popc => "POPC",
        O::Brev => "BREV",
        O::Prmt => "PRMT",
        O::Selp | O::Slct => "SEL",
        O::Sad | O::Vabsdiff => "VABSDIFF",
        O::Testp => "ISETP",
        O::Dp4a | O::Dp2a => "IDP",
        O::Mma | O::Wmma => "HMMA",
        O::Movmatrix => "MOVM",
        O::Isspacep | O::Istypep => "QSPC",
        O::Vote | O::Activemask | O::Elect => "VOTE",
        O::Shfl => "SHFL",
        // Volta has no reduction over lanes.
        O::Match if instruction.modifiers.vote == Some(VoteMode::All) => "MATCH.ALL",
        O::Match | O::Redux => "MATCH.ANY",
        O::Tex | O::Suld | O::Sust | O::Sured => "TEX",
        O::Tld4 => "TLD4",
        O::Txq | O::Suq => "TXQ",
        O::Bra => "BRA",
        O::Brx => "BRX",
        O::Ret | O::Exit => "EXIT",
        O::Call => "CALL",
        O::Trap | O::Brkpt => "BPT",
        O::Bar | O::Barrier if instruction.modifiers.warp => "WARPSYNC",
        // The threads of a cluster of one CTA arrive where they wait.
        O::Barrier if arrives && instruction.modifiers.has("cluster") => "NOP",
        O::Bar | O::Barrier => match instruction.modifiers.barrier {
            Some(BarrierOp::Arrive) => "BAR.ARV",
            Some(BarrierOp::RedPopc | BarrierOp::RedAnd | BarrierOp::RedOr) => "BAR.RED",
            Some(BarrierOp::Sync) | None => "BAR.SYNC",
        },
        O::Membar | O::Fence => "MEMBAR",
        O::Nanosleep => "NANOSLEEP",
        O::Applypriority => "CCTL",
        O::Pmevent => "PMTRIG",
        _ => video_stem(instruction.opcode),
    }
}

/// The stem of video instructions: machine code has differences, and expands the others.
const fn video_stem(opcode: Opcode) -> &'static str {
    use Opcode as O;
    match opcode {
        O::Vabsdiff2 | O::Vabsdiff4 => "VABSDIFF4",
        O::Vadd | O::Vsub | O::Vadd2 | O::Vadd4 | O::Vavrg2 | O::Vavrg4 | O::Vsub2 | O::Vsub4 => {
            "IADD3"
        }
        O::Vmin | O::Vmax | O::Vmax2 | O::Vmax4 | O::Vmin2 | O::Vmin4 => "IMNMX",
        O::Vset | O::Vset2 | O::Vset4 => "ISETP",
        O::Vmad => "IMAD",
        O::Vshl | O::Vshr => "SHF",
        // These have functions of their own, or nothing.
        _ => "NOP",
    }
}

fn special(register: SpecialRegister, ty: ScalarType) -> &'static str {
    use SpecialRegister as S;
    match register {
        S::Clock | S::ClockHi | S::Clock64 | S::Globaltimer => {
            if ty.bits() == 64 {
                "CS2R"
            } else {
                "CS2R.32"
            }
        }
        _ if ty.bits() == 64 => "S2R.64",
        _ => "S2R",
    }
}

fn is_half(ty: ScalarType) -> bool {
    use ScalarType as T;
    matches!(ty, T::F16 | T::F16x2 | T::Bf16 | T::Bf16x2)
}

/// A type as machine code spells it in conversions.
fn sass(ty: ScalarType) -> &'static str {
    use ScalarType as T;
    match ty {
        T::F16 | T::F16x2 => "F16",
        T::Bf16 | T::Bf16x2 => "BF16",
        T::Tf32 => "TF32",
        T::F32 => "F32",
        T::F64 => "F64",
        T::S8 => "S8",
        T::S16 => "S16",
        T::S32 => "S32",
        T::S64 => "S64",
        T::U8 | T::B8 => "U8",
        T::U16 | T::B16 => "U16",
        T::U64 | T::B64 => "U64",
        _ => "U32",
    }
}

/// The modifier of an access of some bytes; readers take the width from it.
fn width(bytes: u32) -> &'static str {
    match bytes {
        1 => ".U8",
        2 => ".U16",
        8 => ".64",
        16 => ".128",
        32 => ".256",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify;

    /// Whether Accel-Sim's table for a machine has an opcode.
    fn is_known_to_accel_sim(version: u32, mnemonic: &str) -> bool {
        let tables = include_str!("../../tests/accel_sim_opcodes.txt");
        let table = tables.lines().find_map(|line| line.strip_prefix(&version.to_string()));
        let stem = Mnemonic(mnemonic).stem();
        table.unwrap_or_default().split_whitespace().any(|opcode| opcode == stem)
    }

    #[test]
    fn every_ptx_opcode_has_one_that_the_readers_know() {
        for &opcode in Opcode::ALL {
            for ty in [ScalarType::S32, ScalarType::F32, ScalarType::F64, ScalarType::F16] {
                let instruction = Instruction {
                    guard: None,
                    opcode,
                    modifiers: strata_ptx::opcode::Modifiers::default(),
                    types: vec![ty],
                    destinations: Vec::new(),
                    sources: Vec::new(),
                    span: strata_ptx::module::Span::default(),
                };
                let stem = stem(&instruction);
                assert!(classify(stem, false, true).known, "{opcode:?}: {stem}");
                assert!(machine_code::forms(stem, MACHINE).is_some(), "{opcode:?}: {stem}");
                let version = if stem == "MOVM" { 75 } else { 70 };
                assert!(is_known_to_accel_sim(version, stem), "{opcode:?}: {stem}");
            }
        }
    }

    #[test]
    fn exports_use_opcodes_of_the_machine_that_they_declare() {
        let instruction = |mnemonic: &str| TracedInstruction {
            pc: 0,
            mnemonic: mnemonic.to_owned(),
            destinations: Vec::new(),
            sources: Vec::new(),
            width: 0,
        };
        for (mnemonics, version) in [
            (&["FADD", "LDG.E"][..], 70),
            (&["FADD", "MOVM"], 75),
            (&["LDSM.16.M88", "EXIT"], 75),
            (&["LDGSTS.E.128", "MOVM"], 80),
            (&[], 70),
        ] {
            let instructions: Vec<_> = mnemonics.iter().copied().map(instruction).collect();
            assert_eq!(declared_version(&instructions), version);
            for mnemonic in mnemonics {
                assert!(is_known_to_accel_sim(version, mnemonic), "{mnemonic}");
            }
            assert!(!is_known_to_accel_sim(70, "LDGSTS") && !is_known_to_accel_sim(75, "LDGSTS"));
        }
    }
}
