//! Chip power model: what a saving in the register file and longer instructions mean for a chip.
//!
//! Models: the papers' split of a chip's power into leakage, memory system and SMs.
//! Does not model: anything measured; it only puts a ratio into context.
//! Source: `[RFC2011]` 5.5; `[DISS]` 4.4.1, 4.4.2 and 5.4.7.

/// A ratio of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// What is divided.
    pub numerator: u64,
    /// What it is divided by. Not 0.
    pub denominator: u64,
}

impl Ratio {
    /// `numerator / denominator`.
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        Self { numerator, denominator }
    }

    /// `value` times the ratio, rounded down; `None` if it does not fit or the denominator is 0.
    pub fn of(self, value: u64) -> Option<u64> {
        let product = u128::from(value) * u128::from(self.numerator);
        u64::try_from(product.checked_div(u128::from(self.denominator))?).ok()
    }
}

/// Power of a chip and its division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChipPower {
    /// Power of the whole chip. Unit: nanowatts.
    pub chip_nw: u64,
    /// Share of the chip's power that is leakage.
    pub leakage: Ratio,
    /// Share of the dynamic power that the SMs spend; the memory system spends the rest.
    pub sms_share: Ratio,
    /// Streaming multiprocessors. Not 0.
    pub sms: u64,
    /// Share of an SM's power that its register file spends.
    pub register_file: Ratio,
    /// Most that one more bit in every instruction adds to the chip's dynamic power.
    pub encoding_bit: Ratio,
}

/// What a design of the register file means for the chip. Unit of every field: nanowatts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChipSaving {
    /// Dynamic power of the chip.
    pub dynamic_nw: u64,
    /// Dynamic power of one SM.
    pub sm_nw: u64,
    /// Power of one SM's register file.
    pub register_file_nw: u64,
    /// Saved in all SMs; negative when the design costs more than it saves.
    pub saved_nw: i64,
    /// Spent on the longer instructions.
    pub encoding_nw: u64,
}

impl ChipSaving {
    /// The saving less the encoding's cost. Unit: nanowatts.
    pub fn net_nw(&self) -> i128 {
        i128::from(self.saved_nw) - i128::from(self.encoding_nw)
    }

    /// A power as a share of the chip's dynamic power. Unit: parts per million, rounded towards 0;
    /// `None` if the chip has no dynamic power or the share does not fit.
    pub fn share_of_dynamic_ppm(&self, nanowatts: i128) -> Option<i64> {
        let scaled = nanowatts.checked_mul(1_000_000)?;
        i64::try_from(scaled.checked_div(i128::from(self.dynamic_nw))?).ok()
    }
}

impl ChipPower {
    /// Dynamic power of the chip. Unit: nanowatts.
    pub fn dynamic_nw(&self) -> Option<u64> {
        self.chip_nw.checked_sub(self.leakage.of(self.chip_nw)?)
    }

    /// Dynamic power of one SM. Unit: nanowatts.
    pub fn sm_nw(&self) -> Option<u64> {
        self.sms_share.of(self.dynamic_nw()?)?.checked_div(self.sms)
    }

    /// Leakage of one SM, if the SMs leak in proportion to their dynamic power. Unit: nanowatts.
    pub fn sm_leakage_nw(&self) -> Option<u64> {
        self.sms_share.of(self.leakage.of(self.chip_nw)?)?.checked_div(self.sms)
    }

    /// The effect of a register file that spends `energy` instead of `baseline`, in the same unit,
    /// and of `extra_bits` more bits in every instruction. `None` if the baseline is 0, or a number
    /// does not fit.
    pub fn saving(&self, baseline: u64, energy: u64, extra_bits: u32) -> Option<ChipSaving> {
        let dynamic_nw = self.dynamic_nw()?;
        let sm_nw = self.sm_nw()?;
        let register_file_nw = self.register_file.of(sm_nw)?;
        let saved = i128::from(baseline) - i128::from(energy);
        let all_nw = i128::from(register_file_nw).checked_mul(i128::from(self.sms))?;
        let saved_nw = all_nw.checked_mul(saved)?.checked_div(i128::from(baseline))?;
        let saved_nw = i64::try_from(saved_nw).ok()?;
        let encoding_nw = self.encoding_bit.of(dynamic_nw)?.checked_mul(u64::from(extra_bits))?;
        Some(ChipSaving { dynamic_nw, sm_nw, register_file_nw, saved_nw, encoding_nw })
    }
}

/// Instruction bits for static liveness: one for each of three source operands (`[DISS]` 5.4.7).
pub const LIVENESS_BITS: u32 = 3;
/// Instruction bits for the mark that deschedules a warp (`[DISS]` 5.4.7).
pub const DESCHEDULE_BITS: u32 = 1;
/// Instruction bits that say that a strand of a compiler-managed hierarchy ends behind it (`[DISS]`
/// 6.3, 6.5.5). Where one does, whether the warp is descheduled needs no bit of its own.
pub const STRAND_END_BITS: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// `[DISS]` 4.4.1, 4.4.2.
    const CHIP: ChipPower = ChipPower {
        chip_nw: 130_000_000_000,
        leakage: Ratio::new(1, 3),
        sms_share: Ratio::new(70, 100),
        sms: 16,
        register_file: Ratio::new(15, 100),
        encoding_bit: Ratio::new(3, 1000),
    };

    #[test]
    fn the_papers_arithmetic_comes_out() {
        let saving = CHIP.saving(100, 64, LIVENESS_BITS + DESCHEDULE_BITS).unwrap();
        assert_eq!(saving.dynamic_nw, 86_666_666_667);
        assert_eq!(saving.sm_nw, 3_791_666_666);
        assert_eq!(saving.register_file_nw, 568_749_999);
        assert_eq!(saving.saved_nw, 3_275_999_994);
        let share = |nanowatts| saving.share_of_dynamic_ppm(nanowatts);
        assert_eq!(share(saving.saved_nw.into()), Some(37_799));
        assert_eq!(saving.encoding_nw, 4 * 260_000_000);
        assert_eq!(share(saving.encoding_nw.into()), Some(11_999));
        assert_eq!(saving.net_nw(), 3_275_999_994 - 1_040_000_000);
    }

    #[test]
    fn a_small_saving_can_cost_more_than_it_brings() {
        let saving = CHIP.saving(100, 90, 4).unwrap();
        assert!(saving.saved_nw > 0 && saving.net_nw() < 0);
        assert_eq!(CHIP.saving(100, 90, 0).unwrap().encoding_nw, 0);
        let worse = CHIP.saving(100, 110, 0).unwrap();
        assert_eq!(worse.saved_nw, -saving.saved_nw);
        assert_eq!(worse.share_of_dynamic_ppm(worse.net_nw()), Some(-10_499));
    }

    #[test]
    fn impossible_shares_are_none() {
        assert_eq!(Ratio::new(1, 0).of(1), None);
        assert_eq!(Ratio::new(u64::MAX, 1).of(2), None);
        let leaky = ChipPower { leakage: Ratio::new(4, 3), ..CHIP };
        assert_eq!(leaky.saving(2, 1, 0), None);
        assert_eq!(CHIP.saving(0, 0, 0), None);
        assert_eq!(CHIP.saving(1, u64::MAX, 0), None);
        assert_eq!(ChipPower { sms: 0, ..CHIP }.sm_nw(), None);
    }
}
