//! Expansion: how many CTAs are resident when scratchpad memory holds registers that the register
//! file has no room for.
//!
//! Models: residency by whole CTAs (the baseline), with warps of one CTA more (Warpman), with
//! registers of some CTAs in scratchpad memory (EXPARS' vertical approach, and the horizontal one
//! that it argues against), and with both kinds of storage in one (the oracle); what each takes of
//! the storage; the home of each register ([`homes`]); the paper's closed forms ([`equations`]);
//! the bits of the hardware ([`hardware`]); bundles of instructions ([`bundles`]), the
//! cache of operands for them ([`operand_cache`]) and the register prefetcher in time
//! (`prefetcher`), with what they count ([`counters`]) and spend ([`energy`]).
//! Source: `[EXPARS]` 2.1, 2.2, 3.3.1 to 3.3.3, 3.3.7, Tables 1 to 4; `docs/MODEL.md`, rule 40;
//! `docs/DEVIATIONS.md`, DEV-100 to DEV-104.
//!
//! ```
//! use strata_core::sm::expansion::{Capacity, CtaNeeds, Split, Threshold};
//!
//! // The example of the paper's introduction: 5 K registers and 2 KB of scratchpad memory.
//! let needs = CtaNeeds { threads: 128, registers: 5120, scratchpad_bytes: 2048 };
//! let fermi = Capacity::FERMI;
//! assert_eq!(fermi.baseline(&needs)?.ctas, 6);
//! let split = fermi.vertical(&needs, Threshold::PAPER)?.expect("two more fit");
//! assert_eq!(split, Split { whole: 6, mixed: 2, start_register: 8 });
//! # Ok::<(), strata_core::sm::config::CtaTooLarge>(())
//! ```

pub mod bundles;
pub mod counters;
pub mod energy;
pub mod equations;
pub mod hardware;
pub mod homes;
pub mod operand_cache;
pub(super) mod prefetcher;

use super::partition::{Limits, Needs};
use super::residency::{CtaTooLarge, Limit, MAX_RESIDENT_CTAS, Residency, most_ctas};
use crate::chip_power::Ratio;
use crate::units::LANES;

const REGISTER_BYTES: u64 = 4;

/// What an SM has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Threads, warps and CTAs.
    pub limits: Limits,
    /// The register file. Unit: 32-bit registers of a thread.
    pub registers: u32,
    /// Scratchpad memory. Unit: bytes.
    pub scratchpad_bytes: u32,
    /// Registers that an instruction can name.
    pub most_registers: u16,
}

impl Capacity {
    /// `[EXPARS]` Table 2, Fermi (GTX 480), where 32,768 registers are misprinted as 32,678.
    pub const FERMI: Self = Self {
        limits: Limits { threads: 1536, warps: 48, ctas: Some(8) },
        registers: 32_768,
        scratchpad_bytes: 48 * 1024,
        most_registers: 63,
    };
    /// `[EXPARS]` Table 2, Maxwell.
    pub const MAXWELL: Self = Self {
        limits: Limits { threads: 2048, warps: 64, ctas: Some(32) },
        registers: 65_536,
        scratchpad_bytes: 64 * 1024,
        most_registers: 255,
    };

    /// As many whole CTAs as fit, and what keeps the next one out.
    ///
    /// # Errors
    /// Not even one CTA fits: the limit, what a CTA needs of it and what the SM has.
    pub fn baseline(&self, needs: &CtaNeeds) -> Result<Residency, CtaTooLarge> {
        let [warps, slots, scratchpad, threads] = self.demands(needs);
        let registers = (
            Limit::Registers,
            u64::from(needs.registers) * REGISTER_BYTES,
            u64::from(self.registers) * REGISTER_BYTES,
        );
        let (ctas, limit) = most_ctas(&[warps, slots, registers, scratchpad, threads])?;
        let ctas = ctas.min(MAX_RESIDENT_CTAS as u32);
        Ok(Residency { ctas, warps: ctas * needs.warps(), limit, empty_registers: 0 })
    }

    /// What the baseline's CTAs take of the storage.
    ///
    /// # Errors
    /// Those of [`Self::baseline`].
    pub fn baseline_occupancy(&self, needs: &CtaNeeds) -> Result<Occupancy, CtaTooLarge> {
        Ok(needs.in_register_file(self.baseline(needs)?.ctas))
    }

    /// The baseline's CTAs, and as many warps of one more as have registers, slots and threads left
    /// (`[EXPARS]` 4.1 about Warpman; DEV-103). All scratchpad memory of that CTA must fit, and it
    /// takes the place of a CTA.
    ///
    /// # Errors
    /// Those of [`Self::baseline`].
    pub fn warpman(&self, needs: &CtaNeeds) -> Result<Occupancy, CtaTooLarge> {
        let baseline = self.baseline(needs)?;
        let whole = needs.in_register_file(baseline.ctas);
        let scratchpad_bytes = whole.scratchpad_bytes + u64::from(needs.scratchpad_bytes);
        if baseline.ctas == self.slots() || scratchpad_bytes > self.scratchpad_bytes.into() {
            return Ok(whole);
        }
        let left = |limit: u32, each: u32| limit.saturating_sub(baseline.ctas * each);
        let warps = self
            .warps_of(needs, u64::from(self.registers) - whole.registers)
            .min(left(self.limits.warps, needs.warps()))
            .min(left(self.limits.threads, needs.threads()) / LANES);
        if warps == 0 {
            return Ok(whole);
        }
        let registers =
            (u64::from(warps) * u64::from(needs.registers)).div_ceil(u64::from(needs.warps()));
        Ok(Occupancy {
            ctas: whole.ctas + 1,
            warps: whole.warps + warps,
            registers: whole.registers + registers,
            scratchpad_bytes,
        })
    }

    /// The most CTAs of which some have their last registers in scratchpad memory; of several ways
    /// that with the most whole CTAs. A mixed CTA has whole registers of its threads in either
    /// store, at most the threshold's share of them in scratchpad memory. `None`: no more CTAs than
    /// the baseline's, which then runs.
    ///
    /// Source: `[EXPARS]` 3.3.1, equations 1 to 6 and 10, of which this is the exact solution
    /// (DEV-100, DEV-101).
    ///
    /// # Errors
    /// Those of [`Self::baseline`].
    pub fn vertical(
        &self,
        needs: &CtaNeeds,
        threshold: Threshold,
    ) -> Result<Option<Split>, CtaTooLarge> {
        let baseline = self.baseline(needs)?.ctas;
        let splits = (baseline + 1..=self.upper(needs)).rev().flat_map(|ctas| {
            let whole = self.registers.checked_div(needs.registers).unwrap_or(0).min(ctas - 1);
            (0..=whole).rev().filter_map(move |whole| self.split(needs, whole, ctas - whole))
        });
        let registers = needs.registers.into();
        let allowed = |split: &Split| threshold.allows(split.outside(needs), registers);
        Ok(splits.into_iter().find(allowed))
    }

    /// So many whole CTAs and so many mixed ones, which share what whole ones leave of the register
    /// file (`[EXPARS]` equation 10; DEV-101); `None` if they do not fit. The threshold does not
    /// matter. Range of the CTAs: `1..=64` together, at least one of them mixed.
    pub fn split(&self, needs: &CtaNeeds, whole: u32, mixed: u32) -> Option<Split> {
        let ctas = whole.checked_add(mixed).filter(|&ctas| ctas <= self.slots())?;
        let left =
            u64::from(self.registers).checked_sub(u64::from(whole) * u64::from(needs.registers))?;
        let each = left.checked_div(mixed.into())?.min(needs.registers.into());
        let start_register = (each / needs.lanes()) as u32;
        let split = Split { whole, mixed, start_register };
        let fits = self.demands(needs).iter().all(|&(_, needed, available)| {
            u64::from(ctas).checked_mul(needed).is_some_and(|needed| needed <= available)
        });
        let bytes = || split.occupancy(needs).scratchpad_bytes;
        (fits && bytes() <= self.scratchpad_bytes.into()).then_some(split)
    }

    /// The baseline's CTAs, and more of which a warp has all its registers in the register file as
    /// long as there is room, or else all of them in scratchpad memory: the horizontal approach
    /// (`[EXPARS]` 2.2; DEV-102).
    ///
    /// # Errors
    /// Those of [`Self::baseline`].
    pub fn horizontal(&self, needs: &CtaNeeds) -> Result<Horizontal, CtaTooLarge> {
        let baseline = self.baseline(needs)?.ctas;
        let in_file = self.warps_of(needs, self.registers.into());
        let of_ctas = |ctas: u32| {
            let warps = ctas * needs.warps();
            let scratchpad_warps = warps.saturating_sub(in_file);
            let outside = (u64::from(scratchpad_warps) * u64::from(needs.registers))
                .div_ceil(u64::from(needs.warps()));
            Horizontal {
                scratchpad_warps,
                occupancy: Occupancy {
                    ctas,
                    warps,
                    registers: u64::from(ctas) * u64::from(needs.registers) - outside,
                    scratchpad_bytes: u64::from(ctas) * u64::from(needs.scratchpad_bytes)
                        + outside * REGISTER_BYTES,
                },
            }
        };
        let fits =
            |found: &Horizontal| found.occupancy.scratchpad_bytes <= self.scratchpad_bytes.into();
        let more = (baseline + 1..=self.upper(needs)).rev().map(of_ctas).find(fits);
        Ok(more.unwrap_or_else(|| of_ctas(baseline)))
    }

    /// As many CTAs as fit if registers and scratchpad memory were one storage: the oracle of
    /// `[EXPARS]` Figure 2 (DEV-104).
    ///
    /// # Errors
    /// Those of [`Self::baseline`].
    pub fn oracle(&self, needs: &CtaNeeds) -> Result<Occupancy, CtaTooLarge> {
        let ctas = self.baseline(needs)?.ctas.max(self.upper(needs));
        let unlimited = needs.in_register_file(ctas);
        let outside = unlimited.registers.saturating_sub(self.registers.into());
        Ok(Occupancy {
            registers: unlimited.registers - outside,
            scratchpad_bytes: unlimited.scratchpad_bytes + outside * REGISTER_BYTES,
            ..unlimited
        })
    }

    /// What CTAs would take if registers and scratchpad memory limited nothing (`[EXPARS]` Table
    /// 4).
    ///
    /// # Errors
    /// Threads, warps or places for CTAs do not even suffice for one.
    pub fn required(&self, needs: &CtaNeeds) -> Result<Occupancy, CtaTooLarge> {
        let [warps, slots, _, threads] = self.demands(needs);
        let (ctas, _) = most_ctas(&[warps, slots, threads])?;
        Ok(needs.in_register_file(ctas.min(MAX_RESIDENT_CTAS as u32)))
    }

    /// What each kind of storage is used to.
    pub fn utilization(&self, of: &Occupancy) -> Utilization {
        let (registers, scratchpad) =
            (u64::from(self.registers) * REGISTER_BYTES, u64::from(self.scratchpad_bytes));
        let used = of.registers * REGISTER_BYTES;
        Utilization {
            registers: Ratio::new(used, registers),
            scratchpad: Ratio::new(of.scratchpad_bytes, scratchpad),
            both: Ratio::new(used + of.scratchpad_bytes, registers + scratchpad),
        }
    }

    /// Most CTAs by all limits but that of the register file alone: `CTA_Upper` of `[EXPARS]`
    /// equation 5 with equation 4. At most [`MAX_RESIDENT_CTAS`]; 0 if one is too large.
    pub fn upper(&self, needs: &CtaNeeds) -> u32 {
        let [warps, slots, scratchpad, threads] = self.demands(needs);
        let bytes = |registers: u32, scratchpad: u32| {
            u64::from(registers) * REGISTER_BYTES + u64::from(scratchpad)
        };
        let both = (
            Limit::UnifiedStorage,
            bytes(needs.registers, needs.scratchpad_bytes),
            bytes(self.registers, self.scratchpad_bytes),
        );
        let found = most_ctas(&[warps, slots, scratchpad, threads, both]);
        found.map_or(0, |(ctas, _)| ctas.min(MAX_RESIDENT_CTAS as u32))
    }

    /// Limits of CTAs beside the register file: what one needs, and what the SM has.
    fn demands(&self, needs: &CtaNeeds) -> [(Limit, u64, u64); 4] {
        [
            (Limit::Warps, needs.warps().into(), self.limits.warps.into()),
            (Limit::Ctas, 1, self.slots().into()),
            (Limit::SharedMemory, needs.scratchpad_bytes.into(), self.scratchpad_bytes.into()),
            (Limit::Threads, needs.threads().into(), self.limits.threads.into()),
        ]
    }

    /// Places for CTAs.
    fn slots(&self) -> u32 {
        self.limits.ctas.unwrap_or(u32::MAX).min(MAX_RESIDENT_CTAS as u32)
    }

    /// Warps of which all registers fit in so many.
    fn warps_of(&self, needs: &CtaNeeds, registers: u64) -> u32 {
        let warps = (registers * u64::from(needs.warps())).checked_div(needs.registers.into());
        warps.map_or(self.limits.warps, |warps| warps.min(self.limits.warps.into()) as u32)
    }
}

/// What a CTA needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaNeeds {
    /// Threads. Range: from 1; 0 counts as 1. They fill warps, of which the last may have idle
    /// lanes.
    pub threads: u32,
    /// Registers of all lanes of its warps: `R_CTA`. Unit: 32-bit registers of a thread. The paper
    /// prints a number that its threads do not divide (DEV-105).
    pub registers: u32,
    /// Scratchpad memory: `S_CTA`. Unit: bytes.
    pub scratchpad_bytes: u32,
}

impl CtaNeeds {
    /// What a CTA needs whose threads have so many registers each. Registers beyond 2^32 count as
    /// so many.
    pub fn of(needs: &Needs) -> Self {
        let of_warp = u32::from(needs.registers) * LANES;
        Self {
            threads: needs.threads_per_cta,
            registers: needs.warps_per_cta().saturating_mul(of_warp),
            scratchpad_bytes: needs.shared_bytes,
        }
    }

    /// Warps. At least 1.
    pub const fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES)
    }

    const fn threads(&self) -> u32 {
        if self.threads == 0 { 1 } else { self.threads }
    }

    /// Lanes of its warps, idle ones too.
    const fn lanes(&self) -> u64 {
        self.warps() as u64 * LANES as u64
    }

    /// What so many CTAs take with all registers in the register file, whether they fit or not.
    fn in_register_file(&self, ctas: u32) -> Occupancy {
        Occupancy {
            ctas,
            warps: ctas.saturating_mul(self.warps()),
            registers: u64::from(ctas) * u64::from(self.registers),
            scratchpad_bytes: u64::from(ctas) * u64::from(self.scratchpad_bytes),
        }
    }
}

/// Most registers of a CTA that may lie in scratchpad memory, as a share of its registers: the
/// paper's tau. A share that is reached is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    // Invariant: 0 < numerator < denominator.
    numerator: u16,
    denominator: u16,
}

impl Threshold {
    /// 0.8 (`[EXPARS]` 4.1).
    pub const PAPER: Self = Self { numerator: 4, denominator: 5 };

    /// `numerator / denominator`; `None` unless it lies between 0 and 1, and is neither.
    pub const fn new(numerator: u16, denominator: u16) -> Option<Self> {
        if numerator == 0 || numerator >= denominator {
            return None;
        }
        Some(Self { numerator, denominator })
    }

    /// Its numerator and denominator.
    pub const fn parts(self) -> (u16, u16) {
        (self.numerator, self.denominator)
    }

    /// The lowest register that may lie in scratchpad memory, of so many of a thread. At least 1
    /// where there are any.
    ///
    /// ```
    /// use strata_core::sm::expansion::Threshold;
    ///
    /// // A fifth of 36 registers is 7.2, so that register 7 stays in the register file.
    /// assert_eq!(Threshold::PAPER.first_candidate(36), 8);
    /// assert_eq!(Threshold::PAPER.first_candidate(20), 4);
    /// ```
    pub const fn first_candidate(self, registers: u16) -> u16 {
        let kept = registers as u32 * (self.denominator - self.numerator) as u32;
        kept.div_ceil(self.denominator as u32) as u16
    }

    /// Whether so many of a CTA's registers may lie in scratchpad memory. Range of both: up to
    /// 2^48.
    const fn allows(self, outside: u64, registers: u64) -> bool {
        outside * self.denominator as u64 <= registers * self.numerator as u64
    }
}

/// Whole and mixed CTAs. Registers of the mixed ones' threads lie in scratchpad memory from the
/// start register up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// CTAs with all registers in the register file: `CTA_RF`.
    pub whole: u32,
    /// CTAs with registers in both: `CTA_Mix`. At least 1.
    pub mixed: u32,
    /// The first register of a thread that lies in scratchpad memory: `Start_Reg`.
    pub start_register: u32,
}

impl Split {
    /// Whole and mixed CTAs together.
    pub const fn ctas(&self) -> u32 {
        self.whole.saturating_add(self.mixed)
    }

    /// What the CTAs take of the storage.
    pub fn occupancy(&self, needs: &CtaNeeds) -> Occupancy {
        let outside = u64::from(self.mixed) * self.outside(needs);
        let all = needs.in_register_file(self.ctas());
        Occupancy {
            registers: all.registers - outside,
            scratchpad_bytes: all
                .scratchpad_bytes
                .saturating_add(outside.saturating_mul(REGISTER_BYTES)),
            ..all
        }
    }

    /// The share of a mixed CTA's registers that lies in the register file (`[EXPARS]` Figure 11).
    pub fn share_in_register_file(&self, needs: &CtaNeeds) -> Ratio {
        let all = u64::from(needs.registers);
        Ratio::new(all - self.outside(needs), all)
    }

    /// Registers of a mixed CTA that lie in scratchpad memory.
    fn outside(&self, needs: &CtaNeeds) -> u64 {
        let inside = u64::from(self.start_register) * needs.lanes();
        u64::from(needs.registers).saturating_sub(inside)
    }
}

/// CTAs beyond the baseline's with warps of which all registers lie in scratchpad memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizontal {
    /// Warps with all registers in scratchpad memory; 0 without CTAs beyond the baseline's.
    pub scratchpad_warps: u32,
    /// What all CTAs take.
    pub occupancy: Occupancy,
}

/// CTAs and warps that are resident, and what they take of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// CTAs; one of which only some warps are resident counts.
    pub ctas: u32,
    /// Warps.
    pub warps: u32,
    /// Taken of the register file. Unit: 32-bit registers of a thread, rounded up where warps
    /// do not divide a CTA's.
    pub registers: u64,
    /// Taken of scratchpad memory, registers there included. Unit: bytes.
    pub scratchpad_bytes: u64,
}

/// Shares of the storage that are taken. Of required storage they may exceed 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utilization {
    /// Of the register file. Unit: bytes.
    pub registers: Ratio,
    /// Of scratchpad memory. Unit: bytes.
    pub scratchpad: Ratio,
    /// Of both together. Unit: bytes.
    pub both: Ratio,
}
