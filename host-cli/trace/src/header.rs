//! The header of a kernel's trace file, and the numbers in it.

use std::collections::BTreeSet;
use std::path::Path;

use strata_core::sm::partition::Needs;
use strata_simt::moved::Windows;

use super::error::{Problem, TraceError, bare, expected};
use super::lines::Lines;
use super::plain::{MAX_NAME, is_plain};

/// What the header of a `.traceg` file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kernel name, as mangled by the compiler.
    pub name: String,
    /// CTAs of the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA: x, y, z.
    pub block: [u32; 3],
    /// Shared memory of a CTA. Unit: bytes.
    pub shared_bytes: u32,
    /// Registers per thread, as the driver allocates them. Range: 1 to 255.
    pub registers: u16,
    /// Compute capability of the machine code: 70, 80, 90...
    pub binary_version: u32,
    /// First address of the shared memory window; 0 when unknown.
    pub shared_base: u64,
    /// First address of the local memory window; 0 when unknown.
    pub local_base: u64,
    /// First address of the window of the kernel's parameters; 0 when there is none, as on real
    /// GPUs.
    pub parameter_base: u64,
    /// Version of the tracer. Range: 3 to 6.
    pub tracer_version: u32,
    /// Instruction lines begin with a source line.
    pub line_info: bool,
}

/// Threads of a CTA at most.
pub(crate) const MAX_THREADS: u64 = 1024;
/// CTAs of a grid at most.
pub(crate) const MAX_CTAS: u64 = 1 << 31;
/// Keys of a header that may be unknown, so that what is noted of them stays short.
const MAX_UNKNOWN: usize = 64;

impl Header {
    /// CTAs of the grid.
    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|&side| u64::from(side)).product()
    }

    /// Threads of a CTA.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a CTA.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// Lanes of a warp of a CTA: the last one may have fewer than 32.
    pub(crate) fn lanes(&self, warp: u32) -> u32 {
        let left = self.threads().saturating_sub(warp * 32);
        u32::MAX.checked_shr(32_u32.saturating_sub(left)).unwrap_or(0)
    }

    /// Where generic addresses reach other memories than the global one.
    pub fn windows(&self) -> Windows {
        Windows {
            shared: self.shared_base,
            local: self.local_base,
            parameters: self.parameter_base,
        }
    }

    /// The header of a trace file, plain, `.xz`, `.gz` or `.tracez`; the rest is not read.
    ///
    /// # Errors
    /// A file that cannot be read, or a malformed header.
    pub fn of_file(path: &Path) -> Result<Self, TraceError> {
        Ok(Self::read(&mut Lines::open(path)?)?.0)
    }

    /// What a launch needs of an SM's storage, with so many registers for a thread.
    pub fn needs(&self, registers: u16) -> Needs {
        let (threads_per_cta, shared_bytes) = (self.threads(), self.shared_bytes);
        Needs { threads_per_cta, registers, shared_bytes }
    }

    /// Reads header lines up to the line that describes the format. Also returns the keys that are
    /// not known.
    pub(crate) fn read(lines: &mut Lines) -> Result<(Self, Vec<String>), TraceError> {
        let mut fields = Fields::default();
        loop {
            let Some(line) = lines.next()? else {
                return Err(lines.error(Problem::Truncated("the header or `#BEGIN_TB`")));
            };
            let line = line.trim_ascii();
            // What it says of the format is for people: the version decides.
            if line.starts_with(b"#traces") {
                break;
            }
            let result = fields.line(line);
            result.map_err(|problem| lines.error(problem))?;
        }
        fields.finish().map_err(|problem| lines.error(problem))
    }
}

/// A note about keys that are not known; `None` without.
pub fn unknown_keys(keys: &BTreeSet<String>) -> Option<String> {
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let note = "lines of the header that are not known were not used: -";
    (!keys.is_empty()).then(|| format!("{note}{}", keys.join(", -")))
}

/// The lines of a header.
#[derive(Default)]
struct Fields {
    name: Option<String>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    shared_bytes: Option<u64>,
    registers: Option<u64>,
    binary_version: Option<u64>,
    shared_base: Option<u64>,
    local_base: Option<u64>,
    parameter_base: Option<u64>,
    tracer_version: Option<u64>,
    line_info: Option<u64>,
    /// Known, checked, and of no use here.
    kernel_id: Option<u64>,
    stream_id: Option<u64>,
    nvbit_version: Option<String>,
    /// Keys that are not known.
    unknown: Vec<String>,
}

impl Fields {
    fn line(&mut self, line: &[u8]) -> Result<(), Problem> {
        if line.is_empty() {
            return Ok(());
        }
        let pair = line.strip_prefix(b"-").and_then(|rest| {
            let at = memchr::memchr(b'=', rest)?;
            Some((rest[..at].trim_ascii(), rest[at + 1..].trim_ascii()))
        });
        let Some((key, value)) = pair else {
            return Err(expected("a header line `-key = value` or `#traces format = ...`", line));
        };
        self.field(key, value)
    }

    fn field(&mut self, key: &[u8], value: &[u8]) -> Result<(), Problem> {
        let (base, byte_count) = ("a hexadecimal address", "a number of bytes below 2^32");
        match key {
            b"kernel name" => once("kernel name", &mut self.name, text("kernel name", value)?),
            b"grid dim" => {
                let allowed = "three sides (x,y,z) of at least 1, with at most 2^31 blocks";
                let grid = triple("grid dim", value, MAX_CTAS, allowed)?;
                once("grid dim", &mut self.grid, grid)
            }
            b"block dim" => {
                let allowed = "three sides (x,y,z) of at least 1, with at most 1024 threads";
                let block = triple("block dim", value, MAX_THREADS, allowed)?;
                once("block dim", &mut self.block, block)
            }
            b"shmem" => {
                let bytes = number("shmem", value, 0, u64::from(u32::MAX), byte_count)?;
                once("shmem", &mut self.shared_bytes, bytes)
            }
            b"nregs" => {
                let registers = number("nregs", value, 1, 255, "1 to 255 registers")?;
                once("nregs", &mut self.registers, registers)
            }
            b"binary version" => {
                let allowed = "a compute capability such as 80";
                let version = number("binary version", value, 10, 999, allowed)?;
                once("binary version", &mut self.binary_version, version)
            }
            b"shmem base_addr" => {
                let address = address("shmem base_addr", value, base)?;
                once("shmem base_addr", &mut self.shared_base, address)
            }
            b"local mem base_addr" => {
                let address = address("local mem base_addr", value, base)?;
                once("local mem base_addr", &mut self.local_base, address)
            }
            // Only our own exports have this line.
            b"param base_addr" => {
                let address = address("param base_addr", value, base)?;
                once("param base_addr", &mut self.parameter_base, address)
            }
            b"accelsim tracer version" => {
                let allowed = "a version such as 5";
                let version = number("accelsim tracer version", value, 0, 999, allowed)?;
                once("accelsim tracer version", &mut self.tracer_version, version)
            }
            b"enable lineinfo" => {
                let flag = number("enable lineinfo", value, 0, 1, "0 or 1")?;
                once("enable lineinfo", &mut self.line_info, flag)
            }
            b"kernel id" => {
                let id = number("kernel id", value, 0, u64::MAX, "a number")?;
                once("kernel id", &mut self.kernel_id, id)
            }
            b"cuda stream id" => {
                let id = number("cuda stream id", value, 0, u64::MAX, "a number")?;
                once("cuda stream id", &mut self.stream_id, id)
            }
            b"nvbit version" => {
                let version = text("nvbit version", value)?;
                once("nvbit version", &mut self.nvbit_version, version)
            }
            _ => self.unknown(key),
        }
    }

    fn unknown(&mut self, key: &[u8]) -> Result<(), Problem> {
        if self.unknown.len() == MAX_UNKNOWN {
            let limit = MAX_UNKNOWN as u64;
            return Err(Problem::TooMany { what: "unknown lines in the header", limit });
        }
        self.unknown.push(bare(key));
        Ok(())
    }

    fn finish(mut self) -> Result<(Header, Vec<String>), Problem> {
        let missing = Problem::MissingHeader;
        let version = self.tracer_version.ok_or(missing("accelsim tracer version"))? as u32;
        if !(3..=6).contains(&version) {
            return Err(Problem::Version(version));
        }
        let binary = self.binary_version.ok_or(missing("binary version"))?;
        if version == 3 && self.line_info == Some(1) {
            let (key, value, allowed) = ("enable lineinfo", "1".to_owned(), "0 in version 3");
            return Err(Problem::Header { key, value, allowed });
        }
        let unknown = std::mem::take(&mut self.unknown);
        let header = Header {
            name: self.name.ok_or(missing("kernel name"))?,
            grid: self.grid.ok_or(missing("grid dim"))?,
            block: self.block.ok_or(missing("block dim"))?,
            shared_bytes: self.shared_bytes.ok_or(missing("shmem"))? as u32,
            registers: self.registers.ok_or(missing("nregs"))? as u16,
            binary_version: binary as u32,
            shared_base: self.shared_base.ok_or(missing("shmem base_addr"))?,
            local_base: self.local_base.ok_or(missing("local mem base_addr"))?,
            parameter_base: self.parameter_base.unwrap_or(0),
            tracer_version: version,
            // Tracers before version 4 have no such line, and lines of the source no other way.
            line_info: self.line_info == Some(1),
        };
        Ok((header, unknown))
    }
}

fn text(key: &'static str, value: &[u8]) -> Result<String, Problem> {
    let text = std::str::from_utf8(value).ok();
    let text = text.filter(|text| !text.is_empty() && text.len() <= MAX_NAME && is_plain(text));
    text.map(str::to_owned).ok_or_else(|| {
        let allowed = "printable characters in UTF-8";
        Problem::Header { key, value: bare(value), allowed }
    })
}

fn once<T>(key: &'static str, field: &mut Option<T>, value: T) -> Result<(), Problem> {
    if field.replace(value).is_some() { Err(Problem::RepeatedHeader(key)) } else { Ok(()) }
}

fn number(
    key: &'static str,
    value: &[u8],
    first: u64,
    last: u64,
    allowed: &'static str,
) -> Result<u64, Problem> {
    decimal(value).filter(|number| (first..=last).contains(number)).ok_or_else(|| Problem::Header {
        key,
        value: bare(value),
        allowed,
    })
}

fn address(key: &'static str, value: &[u8], allowed: &'static str) -> Result<u64, Problem> {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'));
    text.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or_else(|| Problem::Header {
        key,
        value: bare(value),
        allowed,
    })
}

fn triple(
    key: &'static str,
    value: &[u8],
    most: u64,
    allowed: &'static str,
) -> Result<[u32; 3], Problem> {
    let inner = value.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    let sides = inner.and_then(numbers);
    let fits = |sides: &[u64; 3]| {
        let product = sides.iter().try_fold(1_u64, |product, &side| product.checked_mul(side));
        product.is_some_and(|product| product >= 1 && product <= most)
    };
    sides.filter(fits).map(|sides| sides.map(|side| side as u32)).ok_or_else(|| Problem::Header {
        key,
        value: bare(value),
        allowed,
    })
}

/// `x,y,z`.
pub(crate) fn numbers(text: &[u8]) -> Option<[u64; 3]> {
    let mut parts = text.split(|&byte| byte == b',').map(|part| decimal(part.trim_ascii()));
    let sides = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(sides)
}

/// A decimal number without a sign.
pub(crate) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0_u64, |value, &byte| {
        byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))
    })
}
