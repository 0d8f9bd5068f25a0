//! Workload: one recorded launch in slices, as `strata trace embed` writes it.

use strata_core::image::{CheckedImage, ImageError, KernelImage};
use strata_core::path::PathStep;
use strata_core::sm::{MemoryAccess, Trace};
use strata_core::units::{LANES, LaneMask};

/// Which of the recorded paths a warp took, and which accesses it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpRecord {
    /// An index into [`Workload::paths`].
    pub path: u16,
    /// An index into [`Workload::accesses`].
    pub accesses: u16,
}

/// One launch: the kernel, the paths of its warps, and the bytes that they moved.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    /// The name in reports.
    pub name: &'a str,
    /// The kernel.
    pub image: KernelImage<'a>,
    /// Threads of a CTA.
    pub threads: u32,
    /// Shared memory of a CTA. Unit: bytes.
    pub shared_bytes: u32,
    /// The distinct paths.
    pub paths: &'a [&'a [PathStep]],
    /// The distinct sequences of what the memory instructions of a warp moved. Unit: bytes.
    pub accesses: &'a [&'a [u32]],
    /// All warps, by CTA and then by their place in it.
    pub warps: &'a [WarpRecord],
}

/// A workload that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadError {
    /// The kernel image breaks its own rules.
    Image(ImageError),
    /// CTAs without threads, or warps that do not make up whole CTAs.
    Ctas,
    /// A warp names a path or accesses that do not exist.
    Warp(usize),
}

impl core::fmt::Display for WorkloadError {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Image(error) => error.fmt(to),
            Self::Ctas => to.write_str("the warps do not make up whole CTAs"),
            Self::Warp(place) => write!(to, "warp {place} names a path or accesses there are not"),
        }
    }
}

impl core::error::Error for WorkloadError {}

impl<'a> Workload<'a> {
    /// Warps of a CTA.
    pub const fn warps_per_cta(&self) -> u32 {
        self.threads.div_ceil(LANES)
    }

    /// Predicate registers that a warp needs: the highest that an instruction names, and all below.
    pub const fn predicates(&self) -> usize {
        let mut named = 0;
        let mut index = 0;
        while index < self.image.instructions.len() {
            let predicates = self.image.instructions[index].predicates;
            named |= predicates.read | predicates.written;
            index += 1;
        }
        (u32::BITS - named.leading_zeros()) as usize
    }

    /// Checks the whole, once before it is run.
    pub(crate) fn check(&self) -> Result<CheckedImage<'a>, WorkloadError> {
        let image = CheckedImage::new(self.image).map_err(WorkloadError::Image)?;
        let per_cta = self.warps_per_cta() as usize;
        if per_cta == 0 || !self.warps.len().is_multiple_of(per_cta) {
            return Err(WorkloadError::Ctas);
        }
        let known = |warp: &WarpRecord| {
            usize::from(warp.path) < self.paths.len()
                && usize::from(warp.accesses) < self.accesses.len()
        };
        match self.warps.iter().position(|warp| !known(warp)) {
            Some(place) => Err(WorkloadError::Warp(place)),
            None => Ok(image),
        }
    }

    /// How many warps took a path.
    pub(crate) fn warps_on(&self, path: usize) -> u64 {
        self.warps.iter().filter(|warp| usize::from(warp.path) == path).count() as u64
    }

    /// The warps of each CTA in turn, ready to run.
    pub(crate) fn ctas(self) -> impl Iterator<Item = impl Iterator<Item = Run<'a>>> {
        let per_cta = (self.warps_per_cta() as usize).max(1);
        self.warps.chunks(per_cta).map(move |cta| {
            (0..).zip(cta).map(move |(place, &warp)| {
                let threads = self.threads.saturating_sub(place * LANES).clamp(1, LANES);
                Run {
                    lanes: LaneMask(u32::MAX >> (LANES - threads)),
                    path: self.paths.get(usize::from(warp.path)).copied().unwrap_or_default(),
                    accesses: self
                        .accesses
                        .get(usize::from(warp.accesses))
                        .copied()
                        .unwrap_or_default(),
                }
            })
        })
    }
}

/// The trace of one warp for cycle mode.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    lanes: LaneMask,
    path: &'a [PathStep],
    accesses: &'a [u32],
}

impl Trace for Run<'_> {
    fn lanes(&self) -> LaneMask {
        self.lanes
    }

    fn next_step(&mut self) -> Option<PathStep> {
        let (&first, rest) = self.path.split_first()?;
        self.path = rest;
        Some(first)
    }

    fn next_access(&mut self) -> Option<MemoryAccess> {
        let (&bytes, rest) = self.accesses.split_first()?;
        self.accesses = rest;
        Some(MemoryAccess::uncached(bytes))
    }
}
