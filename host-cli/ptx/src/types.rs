//! Scalar types of PTX.

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `.b8`.
    B8,
    /// `.b16`.
    B16,
    /// `.b32`.
    B32,
    /// `.b64`.
    B64,
    /// `.b128`.
    B128,
    /// `.u8`.
    U8,
    /// `.u16`.
    U16,
    /// `.u32`.
    U32,
    /// `.u64`.
    U64,
    /// `.s8`.
    S8,
    /// `.s16`.
    S16,
    /// `.s32`.
    S32,
    /// `.s64`.
    S64,
    /// `.f16`.
    F16,
    /// `.f16x2`: two halves in 32 bits.
    F16x2,
    /// `.bf16`.
    Bf16,
    /// `.bf16x2`.
    Bf16x2,
    /// `.tf32`.
    Tf32,
    /// `.f32`.
    F32,
    /// `.f64`.
    F64,
    /// `.pred`: one bit for each lane, outside the register file.
    Pred,
    /// `.texref`: an opaque texture reference.
    Texref,
    /// `.samplerref`.
    Samplerref,
    /// `.surfref`.
    Surfref,
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Untyped bits.
    Bits,
    /// An unsigned integer.
    Unsigned,
    /// A two's complement integer.
    Signed,
    /// A floating-point number.
    Float,
    /// A predicate.
    Predicate,
    /// A texture, sampler or surface reference.
    Opaque,
}

impl ScalarType {
    /// Width. Unit: bits; 1 for a predicate, 64 for an opaque reference.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::B32
            | Self::U32
            | Self::S32
            | Self::F32
            | Self::F16x2
            | Self::Bf16x2
            | Self::Tf32 => 32,
            Self::B64
            | Self::U64
            | Self::S64
            | Self::F64
            | Self::Texref
            | Self::Samplerref
            | Self::Surfref => 64,
            Self::B128 => 128,
        }
    }

    /// Size in memory. Unit: bytes; 1 for a predicate.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// 32-bit registers that hold a value: narrow types take a whole one, a predicate none.
    pub const fn register_slots(self) -> u32 {
        match self {
            Self::Pred => 0,
            _ => self.bits().div_ceil(32),
        }
    }

    /// What the bits mean.
    pub const fn kind(self) -> Kind {
        match self {
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => Kind::Bits,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Kind::Unsigned,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => Kind::Signed,
            Self::F16
            | Self::F16x2
            | Self::Bf16
            | Self::Bf16x2
            | Self::Tf32
            | Self::F32
            | Self::F64 => Kind::Float,
            Self::Pred => Kind::Predicate,
            Self::Texref | Self::Samplerref | Self::Surfref => Kind::Opaque,
        }
    }

    /// The spelling without its dot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::B8 => "b8",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::B128 => "b128",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S32 => "s32",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F16x2 => "f16x2",
            Self::Bf16 => "bf16",
            Self::Bf16x2 => "bf16x2",
            Self::Tf32 => "tf32",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Pred => "pred",
            Self::Texref => "texref",
            Self::Samplerref => "samplerref",
            Self::Surfref => "surfref",
        }
    }

    /// The type with this spelling (without its dot).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|ty| ty.name() == name)
    }

    /// Every type.
    pub const ALL: &'static [Self] = &[
        Self::B8,
        Self::B16,
        Self::B32,
        Self::B64,
        Self::B128,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::S8,
        Self::S16,
        Self::S32,
        Self::S64,
        Self::F16,
        Self::F16x2,
        Self::Bf16,
        Self::Bf16x2,
        Self::Tf32,
        Self::F32,
        Self::F64,
        Self::Pred,
        Self::Texref,
        Self::Samplerref,
        Self::Surfref,
    ];
}
