//! Textures: images in device memory, and how coordinates become texels.
//!
//! Models: images of one to three dimensions and layers of them, in rows of texels with x fastest;
//! address modes, normalised coordinates, point sampling and linear filtering, gathering.
//! Does not model: mipmaps (an image has one level), cube maps, multisampling, block-linear
//! layouts, the texture cache.
//!
//! Source: CUDA C++ Programming Guide, appendix "Texture Fetching"; PTX ISA 8.5, section "Texture
//! Instructions". What both leave open: DEV-130 and DEV-131; what is left out: DEV-132.

mod sample;

use strata_ptx::diagnostic::counted;
use strata_ptx::module::SamplerInitializer;
use strata_ptx::types::ScalarType;

pub(crate) use sample::{Coordinates, Reader};

/// What one channel of a texel is in memory, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Unsigned integer of 8 bits.
    U8,
    /// Signed integer of 8 bits.
    S8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Signed integer of 16 bits.
    S16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Signed integer of 32 bits.
    S32,
    /// Unsigned integer of 8 bits, read as a float in `[0, 1]`.
    Unorm8,
    /// Signed integer of 8 bits, read as a float in `[-1, 1]`.
    Snorm8,
    /// Unsigned integer of 16 bits, read as a float in `[0, 1]`.
    Unorm16,
    /// Signed integer of 16 bits, read as a float in `[-1, 1]`.
    Snorm16,
    /// Float of 16 bits, read as one of 32 bits.
    F16,
    /// Float of 32 bits.
    F32,
}

impl Channel {
    /// All of them with their names.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::U8, "u8"),
        (Self::S8, "s8"),
        (Self::U16, "u16"),
        (Self::S16, "s16"),
        (Self::U32, "u32"),
        (Self::S32, "s32"),
        (Self::Unorm8, "unorm8"),
        (Self::Snorm8, "snorm8"),
        (Self::Unorm16, "unorm16"),
        (Self::Snorm16, "snorm16"),
        (Self::F16, "f16"),
        (Self::F32, "f32"),
    ];

    /// Size. Unit: bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 | Self::Unorm8 | Self::Snorm8 => 1,
            Self::U16 | Self::S16 | Self::Unorm16 | Self::Snorm16 | Self::F16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }

    /// Whether reads give floats of 32 bits.
    pub const fn reads_floats(self) -> bool {
        !matches!(self, Self::U8 | Self::S8 | Self::U16 | Self::S16 | Self::U32 | Self::S32)
    }
}

/// What a texel is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Each channel.
    pub channel: Channel,
    /// Channels: 1, 2 or 4.
    pub channels: u8,
}

impl Format {
    /// The format of a name such as `f32` (one channel) or `unorm8x4`.
    pub fn from_name(name: &str) -> Option<Self> {
        let (channel, channels) = match name.rsplit_once('x') {
            Some((channel, "2")) => (channel, 2),
            Some((channel, "4")) => (channel, 4),
            Some(_) => return None,
            None => (name, 1),
        };
        let found = Channel::ALL.into_iter().find(|&(_, known)| known == channel);
        found.map(|(channel, _)| Self { channel, channels })
    }

    /// Size of a texel. Unit: bytes.
    pub const fn bytes(self) -> u64 {
        self.channel.bytes() as u64 * self.channels as u64
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Channel::ALL.iter().find(|(channel, _)| *channel == self.channel);
        f.write_str(name.map_or("", |(_, name)| name))?;
        if self.channels == 1 { Ok(()) } else { write!(f, "x{}", self.channels) }
    }
}

/// How many dimensions an image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimensions {
    /// A buffer read by integer index (`tex1Dfetch`); an index outside of it reads zero.
    Linear,
    /// `.1d`.
    One,
    /// `.2d`.
    Two,
    /// `.3d`.
    Three,
    /// `.a1d`: layers of one dimension.
    LayersOfOne,
    /// `.a2d`: layers of two dimensions.
    LayersOfTwo,
}

impl Dimensions {
    /// Its name in PTX and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::One => "1d",
            Self::Two => "2d",
            Self::Three => "3d",
            Self::LayersOfOne => "a1d",
            Self::LayersOfTwo => "a2d",
        }
    }

    /// Dimensions in which texels are addressed, layers left out. Range: `1..=3`.
    pub const fn count(self) -> usize {
        match self {
            Self::Linear | Self::One | Self::LayersOfOne => 1,
            Self::Two | Self::LayersOfTwo => 2,
            Self::Three => 3,
        }
    }

    /// Whether the image has layers.
    pub const fn layered(self) -> bool {
        matches!(self, Self::LayersOfOne | Self::LayersOfTwo)
    }
}

/// An image in device memory: what surfaces access, and textures sample.
///
/// The texel `(x, y, z)` lies at `address + (z * height + y) * pitch + x * format.bytes()`; of a
/// layered image z is the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of the first texel.
    pub address: u64,
    /// Which of the sizes below count.
    pub dimensions: Dimensions,
    /// Unit: texels. Range: at least 1.
    pub width: u32,
    /// Unit: texels. Range: at least 1; 1 where there is no second dimension.
    pub height: u32,
    /// Texels in the third dimension, or layers. Range: at least 1; 1 where there are none.
    pub depth: u32,
    /// From one row to the next. Unit: bytes. Range: at least the bytes of a row.
    pub pitch: u64,
    /// Each texel.
    pub format: Format,
}

impl Image {
    /// An image whose rows follow each other without gaps.
    pub const fn packed(
        address: u64,
        dimensions: Dimensions,
        [width, height, depth]: [u32; 3],
        format: Format,
    ) -> Self {
        let pitch = width as u64 * format.bytes();
        Self { address, dimensions, width, height, depth, pitch, format }
    }

    /// Bytes of a row.
    pub const fn row_bytes(&self) -> u64 {
        self.width as u64 * self.format.bytes()
    }

    /// Bytes from its first texel to the end of its last; `None` beyond 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        let rows = u64::from(self.height) * u64::from(self.depth);
        self.pitch.checked_mul(rows.checked_sub(1)?)?.checked_add(self.row_bytes())
    }

    /// Sizes by dimension: x, y, z.
    pub(crate) const fn sizes(&self) -> [u32; 3] {
        [self.width, self.height, self.depth]
    }

    fn check(&self, name: &str) -> Result<(), TextureError> {
        let wrong = |what| Err(TextureError::Image { name: name.to_owned(), what });
        let limit = if self.dimensions == Dimensions::Linear { 1 << 28 } else { 1 << 17 };
        let (flat, thin) = (self.dimensions.count() < 2, self.dimensions.count() < 3);
        if self.sizes().contains(&0) {
            return wrong("an extent is zero");
        }
        if self.width > limit || self.height > 1 << 17 || self.depth > 1 << 17 {
            return wrong("an extent exceeds 131072 texels, or 2^28 of a linear image");
        }
        if flat && self.height != 1 || thin && !self.dimensions.layered() && self.depth != 1 {
            return wrong("an extent is given in a dimension that it does not have");
        }
        if !matches!(self.format.channels, 1 | 2 | 4) {
            return wrong("a texel has 1, 2 or 4 channels");
        }
        let aligned = self.address.is_multiple_of(self.format.bytes())
            && self.pitch.is_multiple_of(self.format.bytes());
        if self.pitch < self.row_bytes() || !aligned {
            return wrong("its pitch or address does not suit its texels");
        }
        Ok(())
    }
}

/// What stands for texels outside of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressMode {
    /// The image repeats. Only with normalised coordinates; otherwise like `Clamp`.
    Wrap,
    /// The nearest texel at the edge.
    #[default]
    Clamp,
    /// The image repeats, every other time reversed. Only with normalised coordinates; otherwise
    /// like `Clamp`.
    Mirror,
    /// Zero in every channel that the format has.
    Border,
}

/// How a texture is read between the centres of texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The texel that the coordinates lie in.
    #[default]
    Point,
    /// The weighted mean of the two, four or eight texels around them.
    Linear,
}

/// How coordinates select texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// By dimension: x, y, z.
    pub address_modes: [AddressMode; 3],
    /// Between texels; floats only.
    pub filter: Filter,
    /// Float coordinates are fractions of the image's extent, not texels.
    pub normalized: bool,
}

/// An image with the way to sample it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// The texels.
    pub image: Image,
    /// The way, where the instruction names no sampler of its own.
    pub sampler: Sampler,
}

/// What a handle or reference stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// `.texref`, or a CUDA texture object.
    Texture(Texture),
    /// `.surfref`, or a CUDA surface object.
    Surface(Image),
    /// `.samplerref`.
    Sampler(Sampler),
    /// `.samplerref` that leaves it to the texture whether coordinates are normalised.
    SamplerOfTexture(Sampler),
}

/// Which of the three an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A texture.
    Texture,
    /// A surface.
    Surface,
    /// A sampler.
    Sampler,
}

impl ObjectKind {
    /// What a variable of this type refers to, if it is a reference.
    pub const fn of(ty: ScalarType) -> Option<Self> {
        match ty {
            ScalarType::Texref => Some(Self::Texture),
            ScalarType::Surfref => Some(Self::Surface),
            ScalarType::Samplerref => Some(Self::Sampler),
            _ => None,
        }
    }
}

impl std::fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Texture => "texture",
            Self::Surface => "surface",
            Self::Sampler => "sampler",
        })
    }
}

impl Object {
    /// The sampler that a `.samplerref` is initialised with; what it leaves open is as in
    /// [`Sampler::default`].
    pub fn initial(given: &SamplerInitializer) -> Self {
        use strata_ptx::module::AddressMode as Given;
        let address_mode = |mode: Option<Given>| match mode {
            None => AddressMode::default(),
            Some(Given::Wrap) => AddressMode::Wrap,
            Some(Given::Mirror) => AddressMode::Mirror,
            Some(Given::ClampOgl | Given::ClampToEdge) => AddressMode::Clamp,
            Some(Given::ClampToBorder) => AddressMode::Border,
        };
        let filter = if given.linear == Some(true) { Filter::Linear } else { Filter::Point };
        let address_modes = given.address_modes.map(address_mode);
        let sampler = Sampler { address_modes, filter, normalized: false };
        if given.unnormalized { Self::Sampler(sampler) } else { Self::SamplerOfTexture(sampler) }
    }

    /// Which of the three it is.
    pub const fn kind(&self) -> ObjectKind {
        match self {
            Self::Texture(_) => ObjectKind::Texture,
            Self::Surface(_) => ObjectKind::Surface,
            Self::Sampler(_) | Self::SamplerOfTexture(_) => ObjectKind::Sampler,
        }
    }

    /// The texels, where it has any.
    pub const fn image(&self) -> Option<&Image> {
        match self {
            Self::Texture(texture) => Some(&texture.image),
            Self::Surface(image) => Some(image),
            Self::Sampler(_) | Self::SamplerOfTexture(_) => None,
        }
    }

    /// Whether its description makes sense.
    ///
    /// # Errors
    /// Extents, pitch or alignment that are wrong; linear filtering of integers.
    pub fn check(&self, name: &str) -> Result<(), TextureError> {
        self.image().map_or(Ok(()), |image| image.check(name))?;
        match self {
            Self::Texture(texture)
                if texture.sampler.filter == Filter::Linear
                    && !texture.image.format.channel.reads_floats() =>
            {
                let what = "only formats that read as floats can be filtered";
                Err(TextureError::Image { name: name.to_owned(), what })
            }
            _ => Ok(()),
        }
    }
}

/// Why a texture, surface or sampler cannot be bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextureError {
    /// The description contradicts itself or exceeds a limit.
    #[error("texture or surface `{name}`: {what}")]
    Image {
        /// Name in the binding.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Its texels do not lie inside one buffer.
    #[error("texture or surface `{name}`: its texels do not lie inside one buffer")]
    Memory {
        /// Name in the binding.
        name: String,
    },
    /// The module declares no such reference.
    #[error("the module declares no {kind} reference `{name}`")]
    NoReference {
        /// Name in the binding.
        name: String,
        /// What it would have to be.
        kind: ObjectKind,
    },
}

/// Why a texture or surface instruction cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextureProblem {
    /// The operand's value is no handle.
    #[error("{handle:#x} is not the handle of a {wanted}")]
    NoObject {
        /// The value.
        handle: u64,
        /// What the instruction needs.
        wanted: ObjectKind,
    },
    /// A reference of the module without an object.
    #[error("the reference `{name}` is not bound to a {wanted}")]
    NotBound {
        /// Name of the reference.
        name: String,
        /// What the instruction needs.
        wanted: ObjectKind,
    },
    /// The object is another kind of object.
    #[error("`{name}` is a {found}, and the instruction needs a {wanted}")]
    WrongKind {
        /// Name of the object.
        name: String,
        /// What it is.
        found: ObjectKind,
        /// What the instruction needs.
        wanted: ObjectKind,
    },
    /// The image has other dimensions.
    #[error("`{name}` is a {found} image, and the instruction needs a {wanted} one")]
    WrongDimensions {
        /// Name of the object.
        name: String,
        /// Of the image.
        found: &'static str,
        /// Of the instruction.
        wanted: &'static str,
    },
    /// Texels of this format do not read as the instruction's type.
    #[error("`{name}` has texels of format {format}, which do not read as {ty}")]
    WrongType {
        /// Name of the object.
        name: String,
        /// Of the image.
        format: Format,
        /// Of the instruction.
        ty: &'static str,
    },
    /// Linear filtering of integers by a sampler of its own.
    #[error("`{name}` has texels of format {format}, which cannot be filtered linearly")]
    NotFiltered {
        /// Name of the object.
        name: String,
        /// Of the image.
        format: Format,
    },
    /// A surface access with `.trap` outside of the surface.
    #[error("access at x byte {x}, y {y}, z or layer {z} outside of surface `{name}`")]
    Outside {
        /// Name of the object.
        name: String,
        /// Unit: bytes.
        x: i32,
        /// Unit: texels.
        y: i32,
        /// Unit: texels or layers.
        z: i32,
    },
    /// The x coordinate of a surface access is no multiple of its size, or a row is too short.
    #[error(
        "access of {} at x byte {x} of surface `{name}` is misaligned or too wide",
        counted(*size, "byte")
    )]
    Misaligned {
        /// Name of the object.
        name: String,
        /// Unit: bytes.
        x: i64,
        /// Unit: bytes.
        size: u64,
    },
    /// The buffer of its texels is gone.
    #[error("the memory of `{name}` has been freed")]
    NoMemory {
        /// Name of the object.
        name: String,
    },
    /// A write to a surface in constant memory.
    #[error("surface `{name}` lies in memory that kernels cannot write")]
    ReadOnly {
        /// Name of the object.
        name: String,
    },
}
