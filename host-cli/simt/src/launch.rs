//! Launch: what to run, and what came of it.

use crate::accesses::AccessDictionary;
use crate::barriers::BarrierDictionary;
use crate::paths::PathDictionary;

/// Threads of a CTA, at most.
pub const MAX_THREADS: u32 = 1024;

/// Shared memory of a CTA, static and dynamic, at most. Unit: bytes.
pub const MAX_SHARED_BYTES: u64 = 256 << 10;

/// Shared memory of a CTA's variables, at most. Unit: bytes. Source: `ptxas`, for every machine.
pub const MAX_STATIC_SHARED: u64 = 48 << 10;

/// Local memory of a thread, at most. Unit: bytes.
pub const MAX_LOCAL_BYTES: u64 = 512 << 10;

/// CTAs of a launch, at most. The executor runs them one after another.
pub const MAX_CTAS: u64 = 1 << 40;

/// Limit of the records kept of a launch, unless [`Launch::max_kept_bytes`] sets another. Unit:
/// bytes.
pub const MAX_KEPT_BYTES: u64 = 1 << 30;

/// Output of `printf` that is kept. Unit: bytes. Output beyond it is dropped with a note.
pub const MAX_PRINTF_BYTES: usize = 16 << 20;

/// Which CTAs' paths to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Every CTA.
    #[default]
    All,
    /// The CTA with this linear index (x fastest); the others run without being recorded.
    Cta(u64),
    /// None.
    Nothing,
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// CTAs in each direction.
    pub grid: [u32; 3],
    /// Threads of a CTA in each direction.
    pub block: [u32; 3],
    /// Dynamic shared memory. Unit: bytes for each CTA.
    pub dynamic_shared: u32,
    /// A cooperative launch: all CTAs are resident at once, and `grid.sync()` has its workspace.
    pub cooperative: bool,
    /// Parameter block: every argument at the offset that the program's parameter variables give.
    pub arguments: Vec<u8>,
    /// Budget for the whole launch. Unit: warp instructions.
    pub max_instructions: u64,
    /// Which CTAs' paths to record.
    pub record: Record,
    /// Also record what the memory instructions of those CTAs move. Where they move it is recorded
    /// by [`crate::execute_into`].
    pub record_accesses: bool,
    /// Also record what the memory instructions of those CTAs move with the lines that they touch,
    /// for memories that know addresses.
    pub record_lines: bool,
    /// Most that is kept of what a running CTA executes: runs of paths, and what its accesses move
    /// or touch; also of all CTAs together, unless [`crate::execute_in_parts`] hands it over. Unit:
    /// bytes.
    pub max_kept_bytes: u64,
}

impl Launch {
    /// A launch without arguments, with every path recorded and a budget of 2^32 warp instructions.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            dynamic_shared: 0,
            cooperative: false,
            arguments: Vec::new(),
            max_instructions: 1 << 32,
            record: Record::All,
            record_accesses: false,
            record_lines: false,
            max_kept_bytes: MAX_KEPT_BYTES,
        }
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchOutcome {
    /// Paths of the recorded warps.
    pub paths: PathDictionary,
    /// What those warps' memory instructions moved, in the order of [`PathDictionary::warps`];
    /// empty unless asked for.
    pub accesses: AccessDictionary,
    /// Where those warps' barrier instructions arrived, in the same order.
    pub barriers: BarrierDictionary,
    /// Instructions issued, those with no lane enabled included. Unit: warp instructions.
    pub warp_instructions: u64,
    /// Lanes enabled, summed over the instructions issued. Unit: thread instructions.
    pub thread_instructions: u64,
    /// CTAs executed.
    pub ctas: u64,
    /// Warps executed.
    pub warps: u64,
    /// What the kernel printed.
    pub printf: Vec<u8>,
    /// True when the kernel printed more than [`MAX_PRINTF_BYTES`].
    pub printf_truncated: bool,
}
