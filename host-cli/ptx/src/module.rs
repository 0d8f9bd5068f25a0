//! The module: the contents of a PTX file, checked and with every name resolved.
//!
//! This is the only representation of an instruction on the host: the compiler rewrites register
//! numbers and inserts instructions, the executor decodes it, the listing prints it.

pub(crate) mod space;
pub(crate) mod span;

use crate::cuda::CudaLines;
use crate::diagnostic::Diagnostic;
use crate::launch::LaunchRules;
use crate::opcode::{Modifiers, Opcode};
use crate::types::ScalarType;
pub use space::StateSpace;
pub use span::Span;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this number indexes.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A register of one function: an index into [`Function::registers`].
    VirtualRegister
}
index! {
    /// A label of one function: an index into [`Function::labels`].
    LabelId
}
index! {
    /// A variable: an index into [`Module::variables`] or [`Function::variables`], as
    /// [`Symbol`] says.
    VariableId
}
index! {
    /// A function of the module: an index into [`Module::functions`].
    FunctionId
}

impl FunctionId {
    /// What the function's address is where one is taken or stored: never 0, and in no memory.
    pub const fn address(self) -> u64 {
        16 * (self.0 as u64 + 1)
    }
}

/// One PTX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`.
    pub version: (u8, u8),
    /// First word of `.target`, such as `sm_75`.
    pub target: String,
    /// `.address_size`. Unit: bits; 32 or 64. Where it is not written, which PTX before 2.3 could
    /// not, 32 if an instruction has an address of global memory in 32 bits, and 64 otherwise.
    pub address_bits: u8,
    /// Variables of module scope, in file order.
    pub variables: Vec<Variable>,
    /// Registers of module scope that a function names: each thread has one of each, which all
    /// functions share. Source: PTX ISA 1.4 and 2.x, before there was an ABI.
    pub registers: Vec<Register>,
    /// Kernels and functions, in file order of first mention; a later definition replaces a
    /// declaration.
    pub functions: Vec<Function>,
    /// Where the lines of the text begin, ascending, the first at 0. Unit: bytes.
    pub line_starts: Vec<u32>,
    /// Where instructions came from in CUDA, as far as the file says.
    pub cuda: CudaLines,
}

impl Module {
    /// The kernels that the file defines, with their numbers, in file order.
    pub fn kernels(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        let numbered = (0..).map(FunctionId).zip(&self.functions);
        numbered.filter(|(_, function)| function.kernel && function.defined)
    }

    /// The kernel of this name, when the file defines one.
    pub fn kernel(&self, name: &str) -> Option<FunctionId> {
        self.kernels().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    /// Line that contains a byte of the text, from 1; 1 where the lines are not known.
    pub fn line(&self, offset: u32) -> u32 {
        (self.line_starts.partition_point(|&start| start <= offset) as u32).max(1)
    }
}

/// The visibility of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// No directive: this file only.
    #[default]
    Internal,
    /// `.visible`.
    Visible,
    /// `.extern`: defined elsewhere.
    Extern,
    /// `.weak` or `.common`.
    Weak,
}

/// A variable, parameter or result.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name as written.
    pub name: String,
    /// Space it lives in.
    pub space: StateSpace,
    /// Type of one element of one vector component.
    pub ty: ScalarType,
    /// Components of a vector element: 1, 2 or 4.
    pub vector: u8,
    /// Array dimensions, outermost first; empty for a scalar. A first dimension of 0 is an open
    /// array (`extern .shared .b8 s[]`).
    pub dimensions: Vec<u64>,
    /// Alignment, given or natural. Unit: bytes; a power of two.
    pub align: u32,
    /// Size of the whole variable; 0 for an open array. Unit: bytes.
    pub size: u64,
    /// Initial contents, when given.
    pub initial: Option<Initializer>,
    /// Visibility.
    pub linkage: Linkage,
    /// Of a parameter or result declared `.reg`, the function's register, or the first of as many
    /// as there are components.
    pub register: Option<VirtualRegister>,
    /// Of a parameter declared `.ptr`, the space that it points into: `Generic` where none is
    /// written.
    pub pointer: Option<StateSpace>,
    /// Place of the name.
    pub span: Span,
}

/// Initial contents of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initializer {
    /// Contents, little endian; bytes past the end are zero; address fields are zero here.
    pub bytes: Vec<u8>,
    /// Addresses to be stored once variables have been placed.
    pub addresses: Vec<AddressInitializer>,
    /// What the elements of a `.samplerref` are, in place of bytes.
    pub samplers: Vec<SamplerInitializer>,
}

/// What a `.samplerref` is initialised with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplerInitializer {
    /// `addr_mode_0` to `addr_mode_2`, by dimension.
    pub address_modes: [Option<AddressMode>; 3],
    /// `filter_mode`: linear, or nearest.
    pub linear: Option<bool>,
    /// `force_unnormalized_coords`: coordinates are texels, whatever the texture says.
    pub unnormalized: bool,
}

/// What stands for texels outside of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// `wrap`.
    Wrap,
    /// `mirror`.
    Mirror,
    /// `clamp_ogl`: as `ClampToEdge` where nothing is filtered.
    ClampOgl,
    /// `clamp_to_edge`.
    ClampToEdge,
    /// `clamp_to_border`.
    ClampToBorder,
}

/// An address inside an initializer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressInitializer {
    /// Where it goes. Unit: bytes from the start of the variable.
    pub offset: u64,
    /// Width of the field. Unit: bytes.
    pub size: u8,
    /// The lowest bit of the address that is stored: more than 0 of a single byte (`0xff00(name)`).
    pub shift: u8,
    /// What it points to.
    pub symbol: Symbol,
    /// Added to the symbol's address. Unit: bytes.
    pub addend: i64,
    /// `generic(symbol)`: the generic address, not the one within its space.
    pub generic: bool,
}

/// What a name outside the register file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of module scope.
    Module(VariableId),
    /// A variable, parameter or result of the function: an index into [`Function::variables`].
    Local(VariableId),
    /// A function of the module.
    Function(FunctionId),
}

/// A virtual register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name as written, with its percent sign.
    pub name: String,
    /// Declared type; [`ScalarType::Pred`] for a predicate.
    pub ty: ScalarType,
}

/// A label and the instruction it stands before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name as written.
    pub name: String,
    /// Index of the next instruction; equals the body's length at the end.
    pub target: u32,
}

/// What a call through a register may call. Source: PTX ISA 8.5, "Control Flow Directives".
#[derive(Clone, Debug, PartialEq)]
pub enum Callees {
    /// `.calltargets`: one of these.
    Named(Vec<FunctionId>),
    /// `.callprototype`: any function that takes and gives the same.
    Prototype {
        /// What it takes.
        parameters: Vec<Variable>,
        /// What it gives.
        results: Vec<Variable>,
    },
}

/// A kernel (`.entry`) or device function (`.func`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Name as written.
    pub name: String,
    /// True for `.entry`.
    pub kernel: bool,
    /// False when only declared (`.extern .func vprintf`).
    pub defined: bool,
    /// Visibility.
    pub linkage: Linkage,
    /// Variables of the function: first the parameters, then the results, then those of the body.
    pub variables: Vec<Variable>,
    /// How many of `variables` are parameters.
    pub parameters: u32,
    /// How many of `variables` are results.
    pub results: u32,
    /// Registers that an instruction names.
    pub registers: Vec<Register>,
    /// Which of them are registers of the module, each with its number in [`Module::registers`].
    pub module_registers: Vec<(VirtualRegister, u32)>,
    /// Labels, in file order.
    pub labels: Vec<Label>,
    /// Branch target tables of `brx.idx` (`.branchtargets`), by order of declaration.
    pub branch_tables: Vec<Vec<LabelId>>,
    /// `.calltargets` and `.callprototype`, each with the label that calls name it by.
    pub call_tables: Vec<(LabelId, Callees)>,
    /// Instructions, in file order.
    pub body: Vec<Instruction>,
    /// What its directives say of its launches.
    pub launch: LaunchRules,
    /// `.noreturn` was given.
    pub noreturn: bool,
    /// Place of the name.
    pub span: Span,
}

impl Function {
    /// Whether a launch of this kernel with so many CTAs, each of so many threads, is allowed.
    ///
    /// # Errors
    /// Why not, at the directive that forbids it.
    pub fn check_launch(&self, grid: [u32; 3], block: [u32; 3]) -> Result<(), Diagnostic> {
        let checked = self.launch.check(grid, block);
        checked.map_err(|refused| refused.in_kernel(self.name.clone()))
    }
}

/// A guard: `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate register.
    pub register: VirtualRegister,
    /// True for `@!%p`.
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Guard predicate, when written.
    pub guard: Option<Guard>,
    /// Base opcode.
    pub opcode: Opcode,
    /// Everything between the opcode and its types.
    pub modifiers: Modifiers,
    /// Types in the order written (`cvt.f32.s32`: F32, S32); empty where none is written.
    pub types: Vec<ScalarType>,
    /// Results: none, one, or two for `p|q`, `d|p` and `(retval)` of a call. A vector result is one
    /// [`Operand::Vector`]. Stores, reductions without result, branches and barriers have none.
    pub destinations: Vec<Operand>,
    /// Sources in the order written. Of `ld` the address; of `st` the address, then the value; of
    /// `call` the function, then the arguments; of `bra` the label.
    pub sources: Vec<Operand>,
    /// Place in the file.
    pub span: Span,
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(VirtualRegister),
    /// `!%p`: a negated predicate source.
    NotRegister(VirtualRegister),
    /// An integer constant, as its 64-bit pattern (negative ones sign-extended).
    Integer(u64),
    /// A single-precision constant (`0f3F800000`), as its bits.
    Float32(u32),
    /// A double-precision constant (`0d...` or decimal), as its bits.
    Float64(u64),
    /// A special register.
    Special(SpecialRegister),
    /// The address of a symbol plus an offset in bytes (`mov.u64 %rd1, array+8`).
    Symbol {
        /// What is named.
        symbol: Symbol,
        /// Added to its address. Unit: bytes.
        offset: i64,
    },
    /// A memory operand in brackets.
    Address {
        /// What the offset is added to.
        base: AddressBase,
        /// Unit: bytes.
        offset: i64,
    },
    /// A vector in braces; elements are registers, constants or sinks.
    Vector(Vec<Operand>),
    /// A branch target.
    Label(LabelId),
    /// A branch table of `brx.idx`: an index into [`Function::branch_tables`].
    BranchTable(u32),
    /// `_`: a result that is not used.
    Sink,
}

impl Operand {
    /// The bits of a floating-point constant in a place of `width` bits, which takes the low ones;
    /// `None` for any other operand. A single keeps its 32 bits wherever it stands (DEV-171); a
    /// double becomes a single in a place of 32 bits.
    pub fn float_bits(&self, width: u32) -> Option<u64> {
        match *self {
            Self::Float32(bits) => Some(u64::from(bits)),
            Self::Float64(bits) if width == 32 => Some(u64::from(narrowed(bits))),
            Self::Float64(bits) => Some(bits),
            _ => None,
        }
    }
}

/// A double rounded to the nearest single. A NaN is made quiet and keeps its upper bits, as
/// processors do.
fn narrowed(bits: u64) -> u32 {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        return (bits >> 32) as u32 & 1 << 31 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff;
    }
    (value as f32).to_bits()
}

/// The base of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressBase {
    /// A register that holds the address.
    Register(VirtualRegister),
    /// A variable.
    Symbol(Symbol),
    /// Nothing: an absolute address.
    Absolute,
}

/// A component of a three-dimensional special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// `.x`.
    X,
    /// `.y`.
    Y,
    /// `.z`.
    Z,
}

/// A place in the shared memory of a CTA that the system software has, before the CTA's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservedPlace {
    /// `_begin`: where it begins.
    Begin,
    /// `_end`: where it ends.
    End,
    /// `_cap`: where the CTA's own memory begins.
    Cap,
    /// `_0`: the first part of it.
    First,
    /// `_1`: the second part, which cooperative groups use.
    Second,
}

/// Registers that the hardware provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    /// `%tid`: thread index within the CTA.
    Tid(Axis),
    /// `%ntid`: threads in a CTA.
    Ntid(Axis),
    /// `%ctaid`: CTA index within the grid.
    Ctaid(Axis),
    /// `%nctaid`: CTAs in the grid.
    Nctaid(Axis),
    /// `%clusterid`: cluster index within the grid.
    Clusterid(Axis),
    /// `%nclusterid`: clusters in the grid.
    Nclusterid(Axis),
    /// `%cluster_ctaid`: CTA index within the cluster.
    ClusterCtaid(Axis),
    /// `%cluster_nctaid`: CTAs in the cluster.
    ClusterNctaid(Axis),
    /// `%cluster_ctarank`.
    ClusterCtarank,
    /// `%cluster_nctarank`.
    ClusterNctarank,
    /// `%laneid`.
    Laneid,
    /// `%warpid`.
    Warpid,
    /// `%nwarpid`.
    Nwarpid,
    /// `%smid`.
    Smid,
    /// `%nsmid`.
    Nsmid,
    /// `%gridid`.
    Gridid,
    /// `%lanemask_eq`.
    LanemaskEq,
    /// `%lanemask_le`.
    LanemaskLe,
    /// `%lanemask_lt`.
    LanemaskLt,
    /// `%lanemask_ge`.
    LanemaskGe,
    /// `%lanemask_gt`.
    LanemaskGt,
    /// `%clock`.
    Clock,
    /// `%clock_hi`.
    ClockHi,
    /// `%clock64`.
    Clock64,
    /// `%globaltimer`.
    Globaltimer,
    /// `%globaltimer_lo`.
    GlobaltimerLo,
    /// `%globaltimer_hi`.
    GlobaltimerHi,
    /// `%envreg0` to `%envreg31`.
    Envreg(u8),
    /// `%pm0` to `%pm7`.
    Pm(u8),
    /// `%pm0_64` to `%pm7_64`.
    PmWide(u8),
    /// `%current_graph_exec`.
    CurrentGraphExec,
    /// `%aggr_smem_size`. Unit: bytes.
    AggrSmemSize,
    /// `%dynamic_smem_size`. Unit: bytes.
    DynamicSmemSize,
    /// `%total_smem_size`. Unit: bytes.
    TotalSmemSize,
    /// `%reserved_smem_offset_begin` and its like: places in the shared memory that the system
    /// software has.
    ReservedSmem(ReservedPlace),
}
