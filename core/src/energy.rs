//! Energy of register accesses: counts times a table, once, at the end.
//!
//! Models: bank energy of each level and wire energy to and from each datapath, 128 bits at a time.
//! Does not model: operand buffering and routing, tags, leakage.
//! Source: `[RFC2011]` 4.3, Tables 2, 3 and 5; `[DISS]` 4.4, Tables 4.5 and 4.6; `docs/MODEL.md`,
//! rule 6.

use crate::event::{Counters, Datapath, EnergyClass, Event};
use crate::units::CLUSTERS;
use crate::units::Femtojoules;

/// 32-bit words in the 128-bit access of one cluster.
const WORDS_PER_ACCESS: u128 = 4;
const MICROMETRES_PER_MILLIMETRE: u128 = 1000;

/// Energy of one 128-bit access of a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BankEnergy {
    /// A read.
    pub read: Femtojoules,
    /// A write.
    pub write: Femtojoules,
}

/// How far operands travel. Unit: micrometres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WireLengths {
    /// Between a level and the private datapath.
    pub private_um: u32,
    /// Between a level and the shared datapath.
    pub shared_um: u32,
}

impl WireLengths {
    const fn to(self, datapath: Datapath) -> u32 {
        match datapath {
            Datapath::Private => self.private_um,
            Datapath::Shared => self.shared_um,
        }
    }
}

/// One level of the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelEnergy {
    /// Its banks.
    pub bank: BankEnergy,
    /// Its wires.
    pub wires: WireLengths,
}

/// The last result file, which only the private datapath reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LastResultEnergy {
    /// Its banks.
    pub bank: BankEnergy,
    /// Between it and the private datapath. Unit: micrometres.
    pub private_um: u32,
}

/// What accesses cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnergyTable {
    /// Main register file.
    pub mrf: LevelEnergy,
    /// Register file cache, of a design that has one.
    pub rfc: Option<LevelEnergy>,
    /// Last result file, of a design that has one.
    pub lrf: Option<LastResultEnergy>,
    /// Operand register file, of a design that has one.
    pub orf: Option<LevelEnergy>,
    /// Write pool, of a design that has one.
    pub write_pool: Option<LevelEnergy>,
    /// Energy to move a 32-bit word. Unit: femtojoules for each millimetre.
    pub wire_per_mm_per_32bit: Femtojoules,
}

/// Energy of all counted accesses, by what spent it. Its parts sum to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EnergyBreakdown {
    /// Banks of the main register file, for operands and results.
    pub mrf_bank: Femtojoules,
    /// Wires between the main register file and the execution units.
    pub mrf_wire: Femtojoules,
    /// Banks of the register file cache, for operands and results.
    pub rfc_bank: Femtojoules,
    /// Wires between the register file cache and the execution units.
    pub rfc_wire: Femtojoules,
    /// Banks of the last result file, for operands and results.
    pub lrf_bank: Femtojoules,
    /// Wires between the last result file and the private datapath.
    pub lrf_wire: Femtojoules,
    /// Banks of the operand register file.
    pub orf_bank: Femtojoules,
    /// Wires between the operand register file and the execution units.
    pub orf_wire: Femtojoules,
    /// The array of the write pool, for operands and results.
    pub write_pool_bank: Femtojoules,
    /// Wires between the write pool and the execution units.
    pub write_pool_wire: Femtojoules,
    /// Banks of both levels, for evictions and writebacks from one to the other.
    pub writeback_bank: Femtojoules,
    /// Wires to the lower level, for evictions and writebacks.
    pub writeback_wire: Femtojoules,
}

impl EnergyBreakdown {
    /// Every part with its name.
    pub const fn parts(&self) -> [(&'static str, Femtojoules); 12] {
        [
            ("mrf_bank", self.mrf_bank),
            ("mrf_wire", self.mrf_wire),
            ("rfc_bank", self.rfc_bank),
            ("rfc_wire", self.rfc_wire),
            ("lrf_bank", self.lrf_bank),
            ("lrf_wire", self.lrf_wire),
            ("orf_bank", self.orf_bank),
            ("orf_wire", self.orf_wire),
            ("write_pool_bank", self.write_pool_bank),
            ("write_pool_wire", self.write_pool_wire),
            ("writeback_bank", self.writeback_bank),
            ("writeback_wire", self.writeback_wire),
        ]
    }

    /// The sum of the parts; [`EnergyTable::energy`] has checked that it fits.
    pub fn total(&self) -> Femtojoules {
        Femtojoules(self.parts().iter().map(|(_, part)| part.0).sum())
    }
}

/// Counts that the table cannot price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyError {
    /// The counters hold accesses of a register file cache, and the table has none.
    NoCache,
    /// The counters hold accesses of a last result file, and the table has none.
    NoLastResultFile,
    /// The counters hold accesses of an operand register file, and the table has none.
    NoOperandRegisterFile,
    /// The counters hold accesses of a write pool, and the table has none.
    NoWritePool,
    /// The total does not fit 64 bits of femtojoules, about 18 kilojoules.
    Overflow,
}

impl core::fmt::Display for EnergyError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Self::NoCache => "accesses of a register file cache, but no energy table for it",
            Self::NoLastResultFile => "accesses of a last result file, but no energy table for it",
            Self::NoOperandRegisterFile => {
                "accesses of an operand register file, but no energy table for it"
            }
            Self::NoWritePool => "accesses of a write pool, but no energy table for it",
            Self::Overflow => "the energy does not fit 64 bits of femtojoules",
        })
    }
}

impl core::error::Error for EnergyError {}

/// Sums before the one division: banks in femtojoules, wires in femtojoules times micrometres for
/// each millimetre.
#[derive(Default)]
struct Sums {
    mrf_bank: u128,
    mrf_wire: u128,
    rfc_bank: u128,
    rfc_wire: u128,
    lrf_bank: u128,
    lrf_wire: u128,
    orf_bank: u128,
    orf_wire: u128,
    write_pool_bank: u128,
    write_pool_wire: u128,
    writeback_bank: u128,
    writeback_wire: u128,
}

/// What one 128-bit access costs.
struct Charge {
    /// Bank that is read.
    from: Femtojoules,
    /// Bank that is written.
    to: Femtojoules,
    /// How far the value travels.
    micrometres: u32,
}

impl EnergyTable {
    /// Energy of one 128-bit word over a wire. Unit: femtojoules, rounded to nearest.
    pub fn wire_per_128bit(&self, micrometres: u32) -> Option<Femtojoules> {
        wires(u128::from(micrometres) * WORDS_PER_ACCESS * u128::from(self.wire_per_mm_per_32bit.0))
    }

    /// Energy of counters whose accesses are those of whole warps: all clusters take part.
    ///
    /// Each part of the breakdown is rounded to the nearest femtojoule once.
    pub fn energy(&self, counters: &Counters) -> Result<EnergyBreakdown, EnergyError> {
        self.price(counters, u128::from(CLUSTERS))
    }

    /// Energy of counters whose accesses are those of single clusters
    /// ([`crate::count::count_path_clusters`]).
    pub fn energy_of_clusters(&self, counters: &Counters) -> Result<EnergyBreakdown, EnergyError> {
        self.price(counters, 1)
    }

    fn price(&self, counters: &Counters, clusters: u128) -> Result<EnergyBreakdown, EnergyError> {
        let mut sums = Sums::default();
        for &event in Event::ALL {
            let accesses = u128::from(counters.get(event)) * clusters;
            if accesses != 0 {
                self.add(&mut sums, event.energy_class(), accesses)?;
            }
        }
        let bank = |sum: u128| u64::try_from(sum).ok().map(Femtojoules);
        let breakdown = || {
            Some(EnergyBreakdown {
                mrf_bank: bank(sums.mrf_bank)?,
                mrf_wire: wires(sums.mrf_wire)?,
                rfc_bank: bank(sums.rfc_bank)?,
                rfc_wire: wires(sums.rfc_wire)?,
                lrf_bank: bank(sums.lrf_bank)?,
                lrf_wire: wires(sums.lrf_wire)?,
                orf_bank: bank(sums.orf_bank)?,
                orf_wire: wires(sums.orf_wire)?,
                write_pool_bank: bank(sums.write_pool_bank)?,
                write_pool_wire: wires(sums.write_pool_wire)?,
                writeback_bank: bank(sums.writeback_bank)?,
                writeback_wire: wires(sums.writeback_wire)?,
            })
        };
        let breakdown = breakdown().ok_or(EnergyError::Overflow)?;
        let mut parts = breakdown.parts().into_iter().map(|(_, part)| part.0);
        parts.try_fold(0, u64::checked_add).ok_or(EnergyError::Overflow)?;
        Ok(breakdown)
    }

    fn add(&self, sums: &mut Sums, class: EnergyClass, times: u128) -> Result<(), EnergyError> {
        let charge = self.charge(class)?;
        let (bank_sum, wire_sum) = match class {
            EnergyClass::Free => return Ok(()),
            EnergyClass::MrfRead(_) | EnergyClass::MrfWrite(_) => {
                (&mut sums.mrf_bank, &mut sums.mrf_wire)
            }
            EnergyClass::RfcRead(_) | EnergyClass::RfcWrite(_) => {
                (&mut sums.rfc_bank, &mut sums.rfc_wire)
            }
            EnergyClass::LrfRead | EnergyClass::LrfWrite => {
                (&mut sums.lrf_bank, &mut sums.lrf_wire)
            }
            EnergyClass::OrfRead(_) | EnergyClass::OrfWrite(_) => {
                (&mut sums.orf_bank, &mut sums.orf_wire)
            }
            EnergyClass::WritePoolRead(_) | EnergyClass::WritePoolWrite(_) => {
                (&mut sums.write_pool_bank, &mut sums.write_pool_wire)
            }
            EnergyClass::RfcWriteback
            | EnergyClass::LrfEviction
            | EnergyClass::LrfWriteback
            | EnergyClass::RfcToWritePool
            | EnergyClass::LrfToWritePool
            | EnergyClass::WritePoolWriteback => {
                (&mut sums.writeback_bank, &mut sums.writeback_wire)
            }
        };
        let bank = u128::from(charge.from.0) + u128::from(charge.to.0);
        let words = times.checked_mul(u128::from(charge.micrometres) * WORDS_PER_ACCESS);
        let wire = words.and_then(|w| w.checked_mul(u128::from(self.wire_per_mm_per_32bit.0)));
        for (sum, energy) in [(bank_sum, times.checked_mul(bank)), (wire_sum, wire)] {
            let total = energy.and_then(|energy| sum.checked_add(energy));
            *sum = total.ok_or(EnergyError::Overflow)?;
        }
        Ok(())
    }

    /// What one access of a cluster costs.
    fn charge(&self, class: EnergyClass) -> Result<Charge, EnergyError> {
        let (mrf, none) = (self.mrf, Femtojoules(0));
        let rfc = || self.rfc.ok_or(EnergyError::NoCache);
        let lrf = || self.lrf.ok_or(EnergyError::NoLastResultFile);
        let orf = || self.orf.ok_or(EnergyError::NoOperandRegisterFile);
        let pool = || self.write_pool.ok_or(EnergyError::NoWritePool);
        let charge = |from, to, micrometres| Charge { from, to, micrometres };
        Ok(match class {
            EnergyClass::Free => charge(none, none, 0),
            EnergyClass::MrfRead(datapath) => charge(mrf.bank.read, none, mrf.wires.to(datapath)),
            EnergyClass::MrfWrite(datapath) => charge(none, mrf.bank.write, mrf.wires.to(datapath)),
            EnergyClass::RfcRead(datapath) => {
                charge(rfc()?.bank.read, none, rfc()?.wires.to(datapath))
            }
            EnergyClass::RfcWrite(datapath) => {
                charge(none, rfc()?.bank.write, rfc()?.wires.to(datapath))
            }
            EnergyClass::OrfRead(datapath) => {
                charge(orf()?.bank.read, none, orf()?.wires.to(datapath))
            }
            EnergyClass::OrfWrite(datapath) => {
                charge(none, orf()?.bank.write, orf()?.wires.to(datapath))
            }
            EnergyClass::LrfRead => charge(lrf()?.bank.read, none, lrf()?.private_um),
            EnergyClass::LrfWrite => charge(none, lrf()?.bank.write, lrf()?.private_um),
            // The banks of the upper levels stand beside the private datapath, so a value that
            // moves down travels as far as a result of that datapath; it makes no trip to the
            // execution units.
            EnergyClass::RfcWriteback => {
                charge(rfc()?.bank.read, mrf.bank.write, mrf.wires.private_um)
            }
            EnergyClass::LrfEviction => {
                charge(lrf()?.bank.read, rfc()?.bank.write, rfc()?.wires.private_um)
            }
            EnergyClass::LrfWriteback => {
                charge(lrf()?.bank.read, mrf.bank.write, mrf.wires.private_um)
            }
            EnergyClass::WritePoolRead(datapath) => {
                charge(pool()?.bank.read, none, pool()?.wires.to(datapath))
            }
            EnergyClass::WritePoolWrite(datapath) => {
                charge(none, pool()?.bank.write, pool()?.wires.to(datapath))
            }
            EnergyClass::RfcToWritePool => {
                charge(rfc()?.bank.read, pool()?.bank.write, pool()?.wires.private_um)
            }
            EnergyClass::LrfToWritePool => {
                charge(lrf()?.bank.read, pool()?.bank.write, pool()?.wires.private_um)
            }
            // The pool stands beside the banks.
            EnergyClass::WritePoolWriteback => charge(pool()?.bank.read, mrf.bank.write, 0),
        })
    }
}

/// Divides the wire sum, rounding to nearest, ties up.
fn wires(sum: u128) -> Option<Femtojoules> {
    let rounded = sum.checked_add(MICROMETRES_PER_MILLIMETRE / 2)? / MICROMETRES_PER_MILLIMETRE;
    u64::try_from(rounded).ok().map(Femtojoules)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[RFC2011]` Tables 2 and 3 for 6 entries and 8 active warps, the cache at 0.2 and 0.4 mm;
    /// the last result file of `[DISS]` Tables 4.5 and 4.6.
    const TABLE: EnergyTable = EnergyTable {
        mrf: LevelEnergy {
            bank: BankEnergy { read: Femtojoules(8_000), write: Femtojoules(11_000) },
            wires: WireLengths { private_um: 1_000, shared_um: 1_000 },
        },
        rfc: Some(LevelEnergy {
            bank: BankEnergy { read: Femtojoules(2_200), write: Femtojoules(6_700) },
            wires: WireLengths { private_um: 200, shared_um: 400 },
        }),
        lrf: Some(LastResultEnergy {
            bank: BankEnergy { read: Femtojoules(700), write: Femtojoules(2_000) },
            private_um: 50,
        }),
        orf: Some(LevelEnergy {
            bank: BankEnergy { read: Femtojoules(1_200), write: Femtojoules(4_400) },
            wires: WireLengths { private_um: 200, shared_um: 400 },
        }),
        write_pool: Some(LevelEnergy {
            bank: BankEnergy { read: Femtojoules(1_000), write: Femtojoules(1_500) },
            wires: WireLengths { private_um: 100, shared_um: 300 },
        }),
        wire_per_mm_per_32bit: Femtojoules(1_900),
    };

    fn one(event: Event) -> Counters {
        let mut counters = Counters::default();
        counters.record(event, 1);
        counters
    }

    fn parts(event: Event) -> [u64; 12] {
        TABLE.energy(&one(event)).unwrap().parts().map(|(_, part)| part.0)
    }

    #[test]
    fn each_access_costs_what_the_tables_say() {
        // 8 clusters x 8 pJ, and 8 clusters x 7.6 pJ/mm x 1 mm.
        assert_eq!(parts(Event::MrfReadPrivate), [64_000, 60_800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::MrfReadShared), [64_000, 60_800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::MrfWritePrivate), [88_000, 60_800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::RfcReadPrivate), [0, 0, 17_600, 12_160, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::RfcReadShared), [0, 0, 17_600, 24_320, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::RfcWritePrivate), [0, 0, 53_600, 12_160, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::RfcFillShared), [0, 0, 53_600, 24_320, 0, 0, 0, 0, 0, 0, 0, 0]);
        // One RFC read, one MRF write, the latter's wire only.
        assert_eq!(
            parts(Event::RfcWritebackFlush),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 105_600, 60_800]
        );
        assert_eq!(parts(Event::RfcWritebackEviction), parts(Event::RfcWritebackFlush));
        // 8 x 0.7 pJ and 8 x 7.6 pJ/mm x 0.05 mm; 8 x 2 pJ.
        assert_eq!(parts(Event::LrfRead), [0, 0, 0, 0, 5_600, 3_040, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::LrfWrite), [0, 0, 0, 0, 16_000, 3_040, 0, 0, 0, 0, 0, 0]);
        // One LRF read and one RFC or MRF write, with the wire to the latter.
        assert_eq!(parts(Event::LrfEviction), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 59_200, 12_160]);
        assert_eq!(parts(Event::LrfWritebackFlush), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 93_600, 60_800]);
        assert_eq!(parts(Event::LrfWritebackEviction), parts(Event::LrfWritebackFlush));
        // 8 x 1.2 pJ and 8 x 7.6 pJ/mm x 0.2 or 0.4 mm; 8 x 4.4 pJ.
        assert_eq!(parts(Event::OrfReadPrivate), [0, 0, 0, 0, 0, 0, 9_600, 12_160, 0, 0, 0, 0]);
        assert_eq!(parts(Event::OrfReadShared), [0, 0, 0, 0, 0, 0, 9_600, 24_320, 0, 0, 0, 0]);
        assert_eq!(parts(Event::OrfWritePrivate), [0, 0, 0, 0, 0, 0, 35_200, 12_160, 0, 0, 0, 0]);
        assert_eq!(parts(Event::OrfFillShared), [0, 0, 0, 0, 0, 0, 35_200, 24_320, 0, 0, 0, 0]);
        assert_eq!(parts(Event::LrfFill), parts(Event::LrfWrite));
        // 8 x 1 pJ and 8 x 7.6 pJ/mm x 0.1 or 0.3 mm; 8 x 1.5 pJ.
        assert_eq!(parts(Event::WritePoolReadPrivate)[8..], [8_000, 6_080, 0, 0]);
        assert_eq!(parts(Event::WritePoolReadShared)[8..], [8_000, 18_240, 0, 0]);
        assert_eq!(parts(Event::WritePoolWritePrivate)[8..], [12_000, 6_080, 0, 0]);
        assert_eq!(parts(Event::WritePoolWriteShared)[8..], [12_000, 18_240, 0, 0]);
        // One RFC or LRF read and one pool write; one pool read and one MRF write without a wire.
        assert_eq!(parts(Event::RfcToWritePool)[8..], [0, 0, 29_600, 6_080]);
        assert_eq!(parts(Event::LrfToWritePool)[8..], [0, 0, 17_600, 6_080]);
        assert_eq!(parts(Event::WritePoolWriteback)[8..], [0, 0, 96_000, 0]);
        assert_eq!(parts(Event::DualWrite), [0; 12]);
        assert_eq!(parts(Event::WarpInstruction), [0; 12]);
        assert_eq!(TABLE.wire_per_128bit(1_000), Some(Femtojoules(7_600)));
    }

    #[test]
    fn a_cluster_costs_an_eighth_of_a_warp() {
        let mut counters = one(Event::MrfReadPrivate);
        counters.record(Event::RfcWriteShared, 3);
        let clusters = counters.checked_mul(8).unwrap();
        assert_eq!(TABLE.energy_of_clusters(&clusters), TABLE.energy(&counters));
        assert_ne!(TABLE.energy_of_clusters(&counters), TABLE.energy(&counters));
    }

    #[test]
    fn odd_distances_are_rounded_once() {
        let mut table = TABLE;
        table.mrf.wires.private_um = 1;
        let mut counters = Counters::default();
        counters.record(Event::MrfReadPrivate, 10);
        // 10 x 8 x 7.6 fJ = 608 fJ, although one access would round to 61.
        assert_eq!(table.energy(&counters).unwrap().mrf_wire, Femtojoules(608));
    }

    #[test]
    fn what_cannot_be_priced_is_an_error() {
        let flat = EnergyTable { rfc: None, lrf: None, orf: None, write_pool: None, ..TABLE };
        assert!(flat.energy(&one(Event::MrfWriteShared)).is_ok());
        let two = EnergyTable { lrf: None, ..TABLE };
        for event in [Event::LrfRead, Event::LrfWrite, Event::LrfWritebackFlush] {
            let refused = Err(EnergyError::NoLastResultFile);
            assert_eq!(two.energy(&one(event)), refused, "{}", event.name());
        }
        for event in [Event::OrfReadPrivate, Event::OrfFillShared] {
            let refused = Err(EnergyError::NoOperandRegisterFile);
            assert_eq!(flat.energy(&one(event)), refused, "{}", event.name());
        }
        for event in [Event::WritePoolReadPrivate, Event::WritePoolWriteback] {
            let refused = Err(EnergyError::NoWritePool);
            assert_eq!(flat.energy(&one(event)), refused, "{}", event.name());
        }
        let without_cache = EnergyTable { rfc: None, ..TABLE };
        let eviction = one(Event::LrfEviction);
        assert_eq!(without_cache.energy(&eviction), Err(EnergyError::NoCache));
        assert_eq!(two.energy(&eviction), Err(EnergyError::NoLastResultFile));
        for event in [Event::RfcReadPrivate, Event::RfcWriteShared, Event::RfcWritebackFlush] {
            assert_eq!(flat.energy(&one(event)), Err(EnergyError::NoCache), "{}", event.name());
        }
        let mut counters = Counters::default();
        counters.record(Event::MrfReadPrivate, u64::MAX);
        assert_eq!(TABLE.energy(&counters), Err(EnergyError::Overflow));
        let mut huge = TABLE;
        huge.mrf.bank.read = Femtojoules(u64::MAX);
        assert_eq!(huge.energy(&counters), Err(EnergyError::Overflow));
        // Each part fits, the total does not.
        let mut counters = Counters::default();
        counters.record(Event::MrfReadPrivate, u64::MAX / 64_000);
        assert_eq!(TABLE.energy(&counters), Err(EnergyError::Overflow));
    }
}
