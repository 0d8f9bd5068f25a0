//! `[WARRF]`: what its means of energy and writes imply for the reads that hit the write pool.
//!
//! All is for each write of a register, in energy for each bit. `x` are the reads for each write:
//!
//! 1. STT-RAM spends 49 % more on accesses: `(R x + W) / (r x + w) = 1.49`, with the energies of a
//!    read and a write of SRAM in small letters and of STT-RAM in large ones; so `x`.
//! 2. It spends 32 % less in all: `1.49 (1 - l) + k l = 0.68`, with the leakage's share `l` of
//!    SRAM's energy, and `k` of it left in STT-RAM; so `l`.
//! 3. With the pool, 31 % of the writes are avoided and 38 % of the energy: what is left for its
//!    accesses is `d = (0.62 - k l) / (1 - l)` of SRAM's. Every write is one of the pool, those
//!    that are left are a read of the pool, if that is charged, and a write of a bank. What a
//!    credit `c` of the reads spares, which the pool serves instead of a bank, makes up for the
//!    rest: `R x - c x (R - p) + p + 0.69 (W + p) = d (r x + w)`.
//!
//! The means are taken as ratios of means, and its design as fast as SRAM (2.5 % slower in print),
//! so that it leaks as long.

use super::numbers::Numbers;
use super::papers::{Papers, WarrfTechnology};

/// Percentages as fractions: of SRAM's energy, and of the writes without a pool.
#[derive(Clone, Copy)]
struct Means {
    sttram_dynamic: f64,
    sttram_total: f64,
    warrf_total: f64,
    warrf_writes: f64,
}

/// What the energy of a pool is taken to include.
#[derive(Clone, Copy)]
struct Charged {
    /// The reads of what it writes back.
    writeback_reads: bool,
    /// Leakage in proportion to its size, as SRAM.
    leakage: bool,
}

fn means(facts: &Papers) -> Means {
    let printed = &facts.tables.warrf.figures_7_and_8_means;
    let fraction = |percent: u32| f64::from(percent) / 100.0;
    Means {
        sttram_dynamic: fraction(printed.sttram_dynamic),
        sttram_total: fraction(printed.sttram_total),
        warrf_total: fraction(printed.warrf_total),
        warrf_writes: fraction(printed.warrf_writes),
    }
}

impl Means {
    /// Every way in which they may have been rounded to whole percent.
    fn unrounded(self) -> impl Iterator<Item = Self> {
        (0..16_u32).map(move |corner| {
            let half = |bit: u32| if corner >> bit & 1 == 0 { -0.005 } else { 0.005 };
            Self {
                sttram_dynamic: self.sttram_dynamic + half(0),
                sttram_total: self.sttram_total + half(1),
                warrf_total: self.warrf_total + half(2),
                warrf_writes: self.warrf_writes + half(3),
            }
        })
    }

    /// Reads for each write.
    fn reads(self, of: &WarrfTechnology) -> f64 {
        let (sram, sttram) = (&of.sram, &of.sttram);
        (self.sttram_dynamic * sram.write_pj_bit - sttram.write_pj_bit)
            / (sttram.read_pj_bit - self.sttram_dynamic * sram.read_pj_bit)
    }

    /// The leakage's share of SRAM's energy.
    fn leakage(self, of: &WarrfTechnology) -> f64 {
        (self.sttram_dynamic - self.sttram_total) / (self.sttram_dynamic - leakage_left(of))
    }

    /// The share of the reads that cost one of the pool instead of one of a bank.
    fn credit(self, facts: &Papers, charged: Charged) -> f64 {
        let of = &facts.tables.warrf.table2_technology_22nm;
        let (sram, sttram, pool) = (&of.sram, &of.sttram, of.wpool.access_pj_bit);
        let (reads, leakage) = (self.reads(of), self.leakage(of));
        let pool_leakage = if charged.leakage { pool_share(facts) } else { 0.0 };
        let left = self.warrf_total - leakage * (leakage_left(of) + pool_leakage);
        let spent = left / (1.0 - leakage) * (reads * sram.read_pj_bit + sram.write_pj_bit);
        let writeback = sttram.write_pj_bit + if charged.writeback_reads { pool } else { 0.0 };
        let without = reads * sttram.read_pj_bit + pool + self.warrf_writes * writeback;
        (without - spent) / (reads * (sttram.read_pj_bit - pool))
    }
}

/// STT-RAM's leakage, of SRAM's.
fn leakage_left(of: &WarrfTechnology) -> f64 {
    of.sttram.leak_per_bank / of.sram.leak_per_bank
}

/// The pool's part of the register file's size.
fn pool_share(facts: &Papers) -> f64 {
    let facts = &facts.tables.warrf;
    // An entry is a register of a warp.
    f64::from(facts.table2_technology_22nm.wpool.entries) * 128.0
        / (f64::from(facts.table1_sim.rf_kb) * 1024.0)
}

/// Reads for each write, leakage's share, and the credit's range over rounding and over whether
/// reads of writebacks are charged; with leakage of the pool, the most.
pub(super) fn numbers(facts: &Papers) -> Numbers {
    let of = &facts.tables.warrf.table2_technology_22nm;
    let credits = |leakage: bool| {
        let charges =
            [false, true].map(|writeback_reads| Charged { writeback_reads, leakage }).into_iter();
        let credit =
            move |charged| means(facts).unrounded().map(move |means| means.credit(facts, charged));
        charges.flat_map(credit).map(|credit| 100.0 * credit)
    };
    let least = credits(false).fold(f64::INFINITY, f64::min);
    let most = credits(false).fold(f64::NEG_INFINITY, f64::max);
    let leaking = credits(true).fold(f64::NEG_INFINITY, f64::max);
    vec![
        ("reads for each write, by +49 % dynamic energy", format!("{:.2}", means(facts).reads(of))),
        ("leakage's share of SRAM's energy, by -32 %", format!("{:.2}", means(facts).leakage(of))),
        ("reads that the pool serves at its price", format!("{least:.1} to {most:.1} %")),
        ("at most, if the pool leaks like SRAM", format!("{leaking:.1} %")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::papers::papers;
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "{found}, not {expected}");
    }

    /// By hand, with the numbers of Table II and the means as printed.
    #[test]
    fn the_means_as_printed_leave_no_credit_for_reads() {
        let facts = papers();
        let of = &facts.tables.warrf.table2_technology_22nm;
        let means = means(facts);
        // (1.49 x 0.32 - 0.72) / (0.42 - 1.49 x 0.37) and (1.49 - 0.68) / (1.49 - 0.012).
        near(means.reads(of), 1.8522);
        near(means.leakage(of), 0.5480);
        // 1.3573 of 1.0053 pJ is 1.3645; 0.7779 + 0.08 + 0.69 x 0.8 = 1.4099, or 1.3547.
        let credit =
            |writeback_reads, leakage| means.credit(facts, Charged { writeback_reads, leakage });
        near(credit(true, false), 0.0722);
        near(credit(false, false), -0.0155);
        // 60 of 1024 registers leak 0.0586 of SRAM's leakage.
        near(pool_share(facts), 0.0586);
        near(credit(true, true), 0.1856);
    }

    #[test]
    fn a_credit_that_is_charged_comes_out_again() {
        let facts = papers();
        let of = &facts.tables.warrf.table2_technology_22nm;
        let (sram, sttram, pool) = (&of.sram, &of.sttram, of.wpool.access_pj_bit);
        // Two reads for each write, half of them hit, a quarter of the writes is left; leakage is
        // as much as the accesses of SRAM.
        let flat = 2.0 * sram.read_pj_bit + sram.write_pj_bit;
        let accesses = 2.0 * sttram.read_pj_bit + sttram.write_pj_bit;
        let reads = sttram.read_pj_bit + pool;
        let with_pool = reads + pool + 0.25 * (sttram.write_pj_bit + pool);
        let total = |dynamic: f64| f64::midpoint(dynamic / flat, leakage_left(of));
        let means = Means {
            sttram_dynamic: accesses / flat,
            sttram_total: total(accesses),
            warrf_total: total(with_pool),
            warrf_writes: 0.25,
        };
        near(means.reads(of), 2.0);
        near(means.leakage(of), 0.5);
        near(means.credit(facts, Charged { writeback_reads: true, leakage: false }), 0.5);
    }
}
