//! Energy of register accesses: counts times a table, once, at the end.
//!
//! Models: bank energy of each level and wire energy to and from each datapath, 128 bits at a time.
//! Does not model: operand buffering and routing, tags, leakage.
//! Source: `[RFC2011]` 4.3, Tables 2, 3 and 5; `[DISS]` 4.4, Tables 4.5 and 4.6; `docs/MODEL.md`,
//! rule 6.

use crate::event::{Counters, Datapath, EnergyClass, Event};
use crate::named;
use crate::units::{CLUSTERS, Femtojoules};

/// 32-bit words in the 128-bit access of one cluster.
const WORDS_PER_ACCESS: i128 = 4;
const MICROMETRES_PER_MILLIMETRE: i128 = 1000;

/// Results in two levels, and all results in the upper one of them.
const DUAL_WRITES: [(Event, Event); 3] = [
    (Event::DualWriteOrfPrivate, Event::OrfWritePrivate),
    (Event::DualWriteOrfShared, Event::OrfWriteShared),
    (Event::DualWriteLrf, Event::LrfWrite),
];

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
    /// How much farther a level with these wires lies than `other`, for each datapath; 0 where it
    /// lies nearer.
    #[must_use]
    pub const fn beyond(self, other: Self) -> Self {
        Self {
            private_um: self.private_um.saturating_sub(other.private_um),
            shared_um: self.shared_um.saturating_sub(other.shared_um),
        }
    }

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

impl LastResultEnergy {
    /// Its wires, as if the shared datapath were as near.
    pub const fn wires(&self) -> WireLengths {
        WireLengths { private_um: self.private_um, shared_um: self.private_um }
    }
}

named! {
    /// Which wires a value pays for that has travelled part of its way before.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum WireCharge {
        /// Only the rest of its way: from level to level the difference of their distances, and
        /// what goes to several levels the way to the farthest.
        #[default]
        Once = "once",
        /// For each write the whole way to its level.
        EachTrip = "each-trip",
    }
}

impl WireCharge {
    /// How far a value is charged that moves from one level to a lower one. Unit: micrometres.
    const fn between(self, from_um: u32, to_um: u32) -> u32 {
        match self {
            Self::Once => to_um.abs_diff(from_um),
            Self::EachTrip => to_um,
        }
    }
}

/// The write pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WritePoolEnergy {
    /// Its array: results, and the reads of what it writes back.
    pub bank: BankEnergy,
    /// The read of an operand that it has.
    pub operand_read: Femtojoules,
    /// Its wires.
    pub wires: WireLengths,
}

impl WritePoolEnergy {
    /// Its array and wires, as those of a level.
    const fn level(&self) -> LevelEnergy {
        LevelEnergy { bank: self.bank, wires: self.wires }
    }
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
    pub write_pool: Option<WritePoolEnergy>,
    /// Energy to move a 32-bit word. Unit: femtojoules for each millimetre.
    pub wire_per_mm_per_32bit: Femtojoules,
    /// Which wires a value pays for that has travelled before.
    pub wire_charge: WireCharge,
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
    /// The counters hold more results in two levels than results in the upper one.
    DualWrites,
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
            Self::DualWrites => "more results in two levels than in the upper one of them",
            Self::Overflow => "the energy does not fit 64 bits of femtojoules",
        })
    }
}

impl core::error::Error for EnergyError {}

/// Sums before the one division: banks in femtojoules, wires in femtojoules times micrometres for
/// each millimetre.
#[derive(Default)]
struct Sums {
    mrf_bank: i128,
    mrf_wire: i128,
    rfc_bank: i128,
    rfc_wire: i128,
    lrf_bank: i128,
    lrf_wire: i128,
    orf_bank: i128,
    orf_wire: i128,
    write_pool_bank: i128,
    write_pool_wire: i128,
    writeback_bank: i128,
    writeback_wire: i128,
}

/// What one 128-bit access costs.
struct Charge {
    /// Bank that is read.
    from: Femtojoules,
    /// Bank that is written.
    to: Femtojoules,
    /// How far the value travels; less than nothing where that takes back what a write was charged.
    micrometres: i64,
}

impl EnergyTable {
    /// Energy of one 128-bit word over a wire. Unit: femtojoules, rounded to nearest.
    pub fn wire_per_128bit(&self, micrometres: u32) -> Option<Femtojoules> {
        wires(i128::from(micrometres) * WORDS_PER_ACCESS * i128::from(self.wire_per_mm_per_32bit.0))
    }

    /// The wires that a write of a level pays for when its value is on its way from or to the main
    /// register file as well.
    pub const fn beside_main(&self, level: WireLengths) -> WireLengths {
        match self.wire_charge {
            WireCharge::Once => level.beyond(self.mrf.wires),
            WireCharge::EachTrip => level,
        }
    }

    /// Energy of counters whose accesses are those of whole warps: all clusters take part.
    ///
    /// Each part of the breakdown is rounded to the nearest femtojoule once.
    pub fn energy(&self, counters: &Counters) -> Result<EnergyBreakdown, EnergyError> {
        self.price(counters, i128::from(CLUSTERS))
    }

    /// Energy of counters whose accesses are those of single clusters
    /// ([`crate::count::count_path_clusters`]).
    pub fn energy_of_clusters(&self, counters: &Counters) -> Result<EnergyBreakdown, EnergyError> {
        self.price(counters, 1)
    }

    fn price(&self, counters: &Counters, clusters: i128) -> Result<EnergyBreakdown, EnergyError> {
        for (both, upper) in DUAL_WRITES {
            if counters.get(both) > counters.get(upper) {
                return Err(EnergyError::DualWrites);
            }
        }
        let mut sums = Sums::default();
        for &event in Event::ALL {
            let accesses = i128::from(counters.get(event)) * clusters;
            if accesses != 0 {
                self.add(&mut sums, event.energy_class(), accesses)?;
            }
        }
        let bank = |sum: i128| u64::try_from(sum).ok().map(Femtojoules);
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

    fn add(&self, sums: &mut Sums, class: EnergyClass, times: i128) -> Result<(), EnergyError> {
        let charge = self.charge(class)?;
        let (bank_sum, wire_sum) = match class {
            EnergyClass::Free => return Ok(()),
            EnergyClass::MrfRead(_) | EnergyClass::MrfWrite(_) => {
                (&mut sums.mrf_bank, &mut sums.mrf_wire)
            }
            EnergyClass::RfcRead(_) | EnergyClass::RfcWrite(_) | EnergyClass::RfcFill(_) => {
                (&mut sums.rfc_bank, &mut sums.rfc_wire)
            }
            EnergyClass::LrfRead
            | EnergyClass::LrfWrite
            | EnergyClass::LrfFill
            | EnergyClass::LrfDualWrite => (&mut sums.lrf_bank, &mut sums.lrf_wire),
            EnergyClass::OrfRead(_)
            | EnergyClass::OrfWrite(_)
            | EnergyClass::OrfFill(_)
            | EnergyClass::OrfDualWrite(_) => (&mut sums.orf_bank, &mut sums.orf_wire),
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
        let bank = i128::from(charge.from.0) + i128::from(charge.to.0);
        let words = times.checked_mul(i128::from(charge.micrometres) * WORDS_PER_ACCESS);
        let wire = words.and_then(|w| w.checked_mul(i128::from(self.wire_per_mm_per_32bit.0)));
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
        let charge =
            |from, to, micrometres: u32| Charge { from, to, micrometres: micrometres.into() };
        let read = |level: LevelEnergy, to| charge(level.bank.read, none, level.wires.to(to));
        let write = |level: LevelEnergy, of| charge(none, level.bank.write, level.wires.to(of));
        let last = |lrf: LastResultEnergy| LevelEnergy { bank: lrf.bank, wires: lrf.wires() };
        // The banks of the upper levels stand beside the private datapath, so a value that moves
        // down travels on from there.
        let moved = |from: LevelEnergy, to: LevelEnergy| {
            let micrometres = self.wire_charge.between(from.wires.private_um, to.wires.private_um);
            charge(from.bank.read, to.bank.write, micrometres)
        };
        Ok(match class {
            EnergyClass::Free => charge(none, none, 0),
            EnergyClass::MrfRead(datapath) => read(mrf, datapath),
            EnergyClass::MrfWrite(datapath) => write(mrf, datapath),
            EnergyClass::RfcRead(datapath) => read(rfc()?, datapath),
            EnergyClass::RfcWrite(datapath) => write(rfc()?, datapath),
            EnergyClass::RfcFill(datapath) => self.fill(rfc()?, datapath),
            EnergyClass::OrfRead(datapath) => read(orf()?, datapath),
            EnergyClass::OrfWrite(datapath) => write(orf()?, datapath),
            EnergyClass::OrfFill(datapath) => self.fill(orf()?, datapath),
            EnergyClass::OrfDualWrite(datapath) => self.dual_write(orf()?, datapath),
            EnergyClass::LrfRead => read(last(lrf()?), Datapath::Private),
            EnergyClass::LrfWrite => write(last(lrf()?), Datapath::Private),
            EnergyClass::LrfFill => self.fill(last(lrf()?), Datapath::Private),
            EnergyClass::LrfDualWrite => self.dual_write(last(lrf()?), Datapath::Private),
            EnergyClass::RfcWriteback => moved(rfc()?, mrf),
            EnergyClass::LrfEviction => moved(last(lrf()?), rfc()?),
            EnergyClass::LrfWriteback => moved(last(lrf()?), mrf),
            EnergyClass::WritePoolRead(datapath) => {
                charge(pool()?.operand_read, none, pool()?.wires.to(datapath))
            }
            EnergyClass::WritePoolWrite(datapath) => write(pool()?.level(), datapath),
            EnergyClass::RfcToWritePool => moved(rfc()?, pool()?.level()),
            EnergyClass::LrfToWritePool => moved(last(lrf()?), pool()?.level()),
            // The pool stands beside the banks.
            EnergyClass::WritePoolWriteback => charge(pool()?.bank.read, mrf.bank.write, 0),
        })
    }

    /// A write by an operand on its way from the main register file.
    const fn fill(&self, level: LevelEnergy, datapath: Datapath) -> Charge {
        let micrometres = self.beside_main(level.wires).to(datapath) as i64;
        Charge { from: Femtojoules(0), to: level.bank.write, micrometres }
    }

    /// What the write of a result spends less if the result goes to the main register file as well.
    const fn dual_write(&self, level: LevelEnergy, datapath: Datapath) -> Charge {
        let beside = self.beside_main(level.wires).to(datapath) as i64;
        let micrometres = beside - level.wires.to(datapath) as i64;
        Charge { from: Femtojoules(0), to: Femtojoules(0), micrometres }
    }
}

/// Divides the wire sum, rounding to nearest, ties up.
fn wires(sum: i128) -> Option<Femtojoules> {
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
        write_pool: Some(WritePoolEnergy {
            bank: BankEnergy { read: Femtojoules(1_000), write: Femtojoules(1_500) },
            operand_read: Femtojoules(2_500),
            wires: WireLengths { private_um: 100, shared_um: 300 },
        }),
        wire_per_mm_per_32bit: Femtojoules(1_900),
        wire_charge: WireCharge::Once,
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
        // 8 x 0.7 pJ and 8 x 7.6 pJ/mm x 0.05 mm; 8 x 2 pJ.
        assert_eq!(parts(Event::LrfRead), [0, 0, 0, 0, 5_600, 3_040, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(Event::LrfWrite), [0, 0, 0, 0, 16_000, 3_040, 0, 0, 0, 0, 0, 0]);
        // 8 x 1.2 pJ and 8 x 7.6 pJ/mm x 0.2 or 0.4 mm; 8 x 4.4 pJ.
        assert_eq!(parts(Event::OrfReadPrivate), [0, 0, 0, 0, 0, 0, 9_600, 12_160, 0, 0, 0, 0]);
        assert_eq!(parts(Event::OrfReadShared), [0, 0, 0, 0, 0, 0, 9_600, 24_320, 0, 0, 0, 0]);
        assert_eq!(parts(Event::OrfWritePrivate), [0, 0, 0, 0, 0, 0, 35_200, 12_160, 0, 0, 0, 0]);
        // 8 x 2.5 pJ of an operand and 8 x 7.6 pJ/mm x 0.1 or 0.3 mm; 8 x 1.5 pJ.
        assert_eq!(parts(Event::WritePoolReadPrivate)[8..], [20_000, 6_080, 0, 0]);
        assert_eq!(parts(Event::WritePoolReadShared)[8..], [20_000, 18_240, 0, 0]);
        assert_eq!(parts(Event::WritePoolWritePrivate)[8..], [12_000, 6_080, 0, 0]);
        assert_eq!(parts(Event::WritePoolWriteShared)[8..], [12_000, 18_240, 0, 0]);
        assert_eq!(parts(Event::WarpInstruction), [0; 12]);
        assert_eq!(TABLE.wire_per_128bit(1_000), Some(Femtojoules(7_600)));
    }

    /// What is moved or copied, under either charge: banks, and wires of 60.8 fJ for a micrometre.
    #[test]
    fn a_value_that_has_travelled_pays_for_the_rest_of_its_way() {
        let each = EnergyTable { wire_charge: WireCharge::EachTrip, ..TABLE };
        let [once, each] = [TABLE, each].map(|table| {
            move |event: Event| table.energy(&one(event)).unwrap().parts().map(|(_, part)| part.0)
        });
        for (event, bank, way, whole) in [
            // One RFC read, one MRF write.
            (Event::RfcWritebackFlush, 105_600, 800, 1_000),
            (Event::RfcWritebackEviction, 105_600, 800, 1_000),
            // One LRF read and one RFC or MRF write.
            (Event::LrfEviction, 59_200, 150, 200),
            (Event::LrfWritebackFlush, 93_600, 950, 1_000),
            (Event::LrfWritebackEviction, 93_600, 950, 1_000),
            // One RFC or LRF read and one pool write, the pool nearer than the cache; one pool read
            // and one MRF write beside it.
            (Event::RfcToWritePool, 29_600, 100, 100),
            (Event::LrfToWritePool, 17_600, 50, 100),
            (Event::WritePoolWriteback, 96_000, 0, 0),
        ] {
            let tenths = |um: u64| um * 608 / 10;
            assert_eq!(once(event)[10..], [bank, tenths(way)], "{}", event.name());
            assert_eq!(each(event)[10..], [bank, tenths(whole)], "{}", event.name());
            assert_eq!(once(event)[..10], [0; 10], "{}", event.name());
        }
        // The MRF is farther than all that it fills: the copies' own wires cost nothing.
        for (event, part, bank, whole) in [
            (Event::RfcFillPrivate, 2, 53_600, 12_160),
            (Event::RfcFillShared, 2, 53_600, 24_320),
            (Event::LrfFill, 4, 16_000, 3_040),
            (Event::OrfFillPrivate, 6, 35_200, 12_160),
            (Event::OrfFillShared, 6, 35_200, 24_320),
        ] {
            assert_eq!(once(event)[part..part + 2], [bank, 0], "{}", event.name());
            assert_eq!(each(event)[part..part + 2], [bank, whole], "{}", event.name());
        }
    }

    /// Levels that lie 0.3 mm farther than the main register file from the shared datapath, and as
    /// far from the private one: what both hold pays for the farther one.
    #[test]
    fn a_level_beyond_the_main_register_file_pays_for_the_difference() {
        let wires = WireLengths { private_um: 1_000, shared_um: 1_300 };
        let mut table = TABLE;
        for level in [&mut table.rfc, &mut table.orf] {
            level.as_mut().unwrap().wires = wires;
        }
        let wire = |event| table.energy(&one(event)).unwrap().rfc_wire.0;
        assert_eq!([Event::RfcFillPrivate, Event::RfcFillShared].map(wire), [0, 18_240]);
        assert_eq!(table.beside_main(wires), WireLengths { private_um: 0, shared_um: 300 });
        let back = |event| table.energy(&one(event)).unwrap().writeback_wire.0;
        assert_eq!(back(Event::RfcWritebackFlush), 0);
        // 1.3 mm in all: one to the main register file, the rest to the ORF.
        let mut both = one(Event::OrfWriteShared);
        both.record(Event::DualWriteOrfShared, 1);
        assert_eq!(table.energy(&both).unwrap().orf_wire.0, 18_240);
    }

    #[test]
    fn a_result_in_two_levels_pays_for_the_farther_one() {
        let each = EnergyTable { wire_charge: WireCharge::EachTrip, ..TABLE };
        for (both, upper, one_write) in [
            (Event::DualWriteOrfPrivate, Event::OrfWritePrivate, 12_160),
            (Event::DualWriteOrfShared, Event::OrfWriteShared, 24_320),
            (Event::DualWriteLrf, Event::LrfWrite, 3_040),
        ] {
            // Three results, two of them in the main register file as well.
            let mut counters = one(upper).checked_mul(3).unwrap();
            counters.record(both, 2);
            let wire = |table: EnergyTable| {
                let energy = table.energy(&counters).unwrap();
                (energy.orf_wire.0 + energy.lrf_wire.0, energy.orf_bank.0 + energy.lrf_bank.0)
            };
            let bank = 3 * if both == Event::DualWriteLrf { 16_000 } else { 35_200 };
            assert_eq!(wire(TABLE), (one_write, bank), "{}", both.name());
            assert_eq!(wire(each), (3 * one_write, bank), "{}", both.name());
            counters.record(both, 2);
            assert_eq!(TABLE.energy(&counters), Err(EnergyError::DualWrites), "{}", both.name());
        }
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
