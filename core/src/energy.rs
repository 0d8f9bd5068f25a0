//! Energy of register accesses: counts times a table, once, at the end.
//!
//! Models: bank energy of each level and wire energy to and from each datapath, 128 bits at a time.
//! Does not model: operand buffering and routing, tags, leakage.
//! Source: `[RFC2011]` 4.3, Tables 2, 3 and 5; `[DISS]` 4.4, Tables 4.5 and 4.6; `docs/MODEL.md`,
//! rule 6.

use crate::datapath::Datapath;
use crate::event::{Counters, EnergyClass, Event};
use crate::level::Level;
use crate::named;
use crate::units::{CLUSTERS, Femtojoules};

/// 32-bit words in the 128-bit access of one cluster.
const WORDS_PER_ACCESS: i128 = 4;
const MICROMETRES_PER_MILLIMETRE: i128 = 1000;

/// Energy of one 128-bit access of a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BankEnergy {
    /// A read.
    pub read: Femtojoules,
    /// A write.
    pub write: Femtojoules,
}

/// Distances that operands travel. Unit: micrometres.
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

/// What accesses of one level cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelEnergy {
    /// Its banks.
    pub bank: BankEnergy,
    /// The read of an operand, where its cost differs from a read of the bank.
    pub operand_read: Option<Femtojoules>,
    /// Its wires; equal for a level that only the private datapath reaches.
    pub wires: WireLengths,
}

impl LevelEnergy {
    /// A level whose every read costs that of its bank.
    pub const fn new(bank: BankEnergy, wires: WireLengths) -> Self {
        Self { bank, operand_read: None, wires }
    }

    /// What the read of an operand costs, without wires.
    pub const fn operand(&self) -> Femtojoules {
        match self.operand_read {
            Some(read) => read,
            None => self.bank.read,
        }
    }
}

named! {
    /// Which wires a value is charged for after it has travelled part of its way.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum WireCharge {
        /// Only the rest of its way: from level to level the difference of their distances; for a
        /// value written to several levels, the way to the farthest.
        #[default]
        Once = "once",
        /// For each write the whole way to its level.
        EachTrip = "each-trip",
    }
}

impl WireCharge {
    /// The distance charged for a value that moves from one level to a lower one. Unit:
    /// micrometres.
    const fn between(self, from_um: u32, to_um: u32) -> u32 {
        match self {
            Self::Once => to_um.abs_diff(from_um),
            Self::EachTrip => to_um,
        }
    }
}

/// What accesses cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnergyTable {
    /// Main register file.
    pub mrf: LevelEnergy,
    /// The levels that the design has above it. The main register file's place is empty.
    above: [Option<LevelEnergy>; Level::COUNT],
    /// Energy to move a 32-bit word. Unit: femtojoules for each millimetre.
    pub wire_per_mm_per_32bit: Femtojoules,
    /// Which wires a value is charged for after it has travelled.
    pub wire_charge: WireCharge,
}

/// Energy of banks and wires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BanksAndWires {
    /// Banks.
    pub bank: Femtojoules,
    /// Wires.
    pub wire: Femtojoules,
}

/// Energy of all counted accesses, by what spent it. Its parts sum to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EnergyBreakdown {
    levels: [BanksAndWires; Level::COUNT],
    /// Banks of both levels and the wires between them, for evictions and writebacks.
    pub writeback: BanksAndWires,
    /// Where some registers lie in scratchpad memory: banks of its operand cache, and of scratchpad
    /// memory, for these registers.
    expanded: Option<[Femtojoules; 2]>,
}

/// What an [`EnergyPart`] was spent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnergyOf {
    /// Operands and results of a level.
    Level(Level),
    /// Evictions and writebacks.
    Writeback,
    /// The operand cache of registers in scratchpad memory.
    OperandCache,
    /// Scratchpad memory, for registers.
    Scratchpad,
}

/// A part of an [`EnergyBreakdown`], displayed as reports name it: `mrf_bank`, `writeback_wire`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnergyPart {
    /// What for.
    pub of: EnergyOf,
    /// Its wires, not its banks.
    pub wires: bool,
}

impl core::fmt::Display for EnergyPart {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let of = match self.of {
            EnergyOf::Level(level) => level.name(),
            EnergyOf::Writeback => "writeback",
            EnergyOf::OperandCache => "operand_cache",
            EnergyOf::Scratchpad => "scratchpad",
        };
        write!(to, "{of}_{}", if self.wires { "wire" } else { "bank" })
    }
}

impl EnergyBreakdown {
    /// What operands and results of a level spent.
    pub const fn level(&self, level: Level) -> BanksAndWires {
        self.levels[level as usize]
    }

    /// Every part with its name.
    pub fn parts(&self) -> impl Iterator<Item = (EnergyPart, Femtojoules)> {
        let levels = Level::ALL.map(|level| (EnergyOf::Level(level), self.level(level)));
        let levels = levels.into_iter().chain([(EnergyOf::Writeback, self.writeback)]);
        let levels = levels.flat_map(|(of, BanksAndWires { bank, wire })| {
            [(false, bank), (true, wire)].map(|(wires, part)| (EnergyPart { of, wires }, part))
        });
        let expanded = self.expanded.into_iter().flat_map(|[cache, scratchpad]| {
            [(EnergyOf::OperandCache, cache), (EnergyOf::Scratchpad, scratchpad)]
        });
        levels.chain(expanded.map(|(of, part)| (EnergyPart { of, wires: false }, part)))
    }

    /// This energy, with what registers in scratchpad memory have spent in the operand cache and in
    /// scratchpad memory.
    ///
    /// # Errors
    /// [`EnergyError::Overflow`] if the total does not fit.
    pub fn with_expanded(
        mut self,
        operand_cache: Femtojoules,
        scratchpad: Femtojoules,
    ) -> Result<Self, EnergyError> {
        self.expanded = Some([operand_cache, scratchpad]);
        self.check()
    }

    /// This energy, if its total fits; [`EnergyError::Overflow`] otherwise.
    fn check(self) -> Result<Self, EnergyError> {
        let mut parts = self.parts().map(|(_, part)| part.0);
        parts.try_fold(0, u64::checked_add).ok_or(EnergyError::Overflow)?;
        Ok(self)
    }

    /// The sum of the parts; [`EnergyTable::energy`] has checked that it fits.
    pub fn total(&self) -> Femtojoules {
        Femtojoules(self.parts().map(|(_, part)| part.0).sum())
    }
}

/// Counts that the table cannot price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyError {
    /// The counters hold accesses of a level that the table does not have.
    NoLevel(Level),
    /// The counters hold more results in two levels than results in the upper one.
    DualWrites,
    /// The total does not fit 64 bits of femtojoules, about 18 kilojoules.
    Overflow,
}

impl core::fmt::Display for EnergyError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoLevel(level) => {
                write!(formatter, "accesses of {}, but no energy table for it", level.one())
            }
            Self::DualWrites => {
                formatter.write_str("more results in two levels than in the upper one of them")
            }
            Self::Overflow => formatter.write_str("the energy does not fit 64 bits of femtojoules"),
        }
    }
}

impl core::error::Error for EnergyError {}

/// Sums before the one division: banks in femtojoules, wires in femtojoules times micrometres for
/// each millimetre.
#[derive(Clone, Copy, Default)]
struct Sums {
    bank: i128,
    wire: i128,
}

impl Sums {
    fn rounded(self) -> Option<BanksAndWires> {
        let bank = u64::try_from(self.bank).ok().map(Femtojoules)?;
        Some(BanksAndWires { bank, wire: wires(self.wire)? })
    }
}

/// What one 128-bit access costs.
struct Charge {
    /// Bank that is read.
    from: Femtojoules,
    /// Bank that is written.
    to: Femtojoules,
    /// How far the value travels; negative where it takes back a write's charge.
    micrometres: i64,
}

impl EnergyTable {
    /// The table of a main register file without levels above it.
    pub const fn flat(
        mrf: LevelEnergy,
        wire_per_mm_per_32bit: Femtojoules,
        wire_charge: WireCharge,
    ) -> Self {
        Self { mrf, above: [None; Level::COUNT], wire_per_mm_per_32bit, wire_charge }
    }

    /// This table with the energy of one level set, or without the level if `energy` is `None`. The
    /// main register file cannot be removed.
    #[must_use]
    pub const fn with(mut self, level: Level, energy: Option<LevelEnergy>) -> Self {
        match (level, energy) {
            (Level::Mrf, Some(mrf)) => self.mrf = mrf,
            (Level::Mrf, None) => {}
            (level, energy) => self.above[level as usize] = energy,
        }
        self
    }

    /// A level, if the design has it.
    pub const fn level(&self, level: Level) -> Option<LevelEnergy> {
        match level {
            Level::Mrf => Some(self.mrf),
            level => self.above[level as usize],
        }
    }

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
        for &both in Event::ALL {
            if let EnergyClass::DualWrite(level, datapath) = both.energy_class()
                && counters.get(both) > counters.of_class(EnergyClass::Write(level, datapath))
            {
                return Err(EnergyError::DualWrites);
            }
        }
        let mut levels = [Sums::default(); Level::COUNT];
        let mut writeback = Sums::default();
        for &event in Event::ALL {
            let accesses = i128::from(counters.get(event)) * clusters;
            let class = event.energy_class();
            let sums = match class {
                EnergyClass::Free => continue,
                EnergyClass::Read(level, _)
                | EnergyClass::Write(level, _)
                | EnergyClass::Fill(level, _)
                | EnergyClass::DualWrite(level, _) => &mut levels[level as usize],
                EnergyClass::Move(..) => &mut writeback,
            };
            if accesses != 0 {
                self.add(sums, class, accesses)?;
            }
        }
        let mut breakdown = EnergyBreakdown {
            writeback: writeback.rounded().ok_or(EnergyError::Overflow)?,
            ..EnergyBreakdown::default()
        };
        for (to, sums) in breakdown.levels.iter_mut().zip(levels) {
            *to = sums.rounded().ok_or(EnergyError::Overflow)?;
        }
        breakdown.check()
    }

    fn add(&self, sums: &mut Sums, class: EnergyClass, times: i128) -> Result<(), EnergyError> {
        let charge = self.charge(class)?;
        let bank = i128::from(charge.from.0) + i128::from(charge.to.0);
        let words = times.checked_mul(i128::from(charge.micrometres) * WORDS_PER_ACCESS);
        let wire = words.and_then(|w| w.checked_mul(i128::from(self.wire_per_mm_per_32bit.0)));
        for (sum, energy) in [(&mut sums.bank, times.checked_mul(bank)), (&mut sums.wire, wire)] {
            let total = energy.and_then(|energy| sum.checked_add(energy));
            *sum = total.ok_or(EnergyError::Overflow)?;
        }
        Ok(())
    }

    /// What one access of a cluster costs.
    fn charge(&self, class: EnergyClass) -> Result<Charge, EnergyError> {
        let of = |level| self.level(level).ok_or(EnergyError::NoLevel(level));
        let none = Femtojoules(0);
        Ok(match class {
            EnergyClass::Free => Charge { from: none, to: none, micrometres: 0 },
            EnergyClass::Read(level, datapath) => {
                let energy = of(level)?;
                let micrometres = energy.wires.to(datapath).into();
                Charge { from: energy.operand(), to: none, micrometres }
            }
            EnergyClass::Write(level, datapath) => {
                let LevelEnergy { bank, wires, .. } = of(level)?;
                Charge { from: none, to: bank.write, micrometres: wires.to(datapath).into() }
            }
            EnergyClass::Fill(level, datapath) => self.fill(of(level)?, datapath),
            EnergyClass::DualWrite(level, datapath) => self.dual_write(of(level)?, datapath),
            EnergyClass::Move(from, to) => {
                let (upper, lower) = (of(from)?, of(to)?);
                // The banks of the upper levels stand beside the private datapath, so a value that
                // moves down travels on from there; the pool stands beside the banks.
                let micrometres = match (from, to) {
                    (Level::WritePool, Level::Mrf) => 0,
                    _ => self.wire_charge.between(upper.wires.private_um, lower.wires.private_um),
                };
                let micrometres = micrometres.into();
                Charge { from: upper.bank.read, to: lower.bank.write, micrometres }
            }
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
    const TABLE: EnergyTable =
        EnergyTable::flat(level(8_000, 11_000, 1_000, 1_000), Femtojoules(1_900), WireCharge::Once)
            .with(Level::Rfc, Some(level(2_200, 6_700, 200, 400)))
            .with(Level::Lrf, Some(level(700, 2_000, 50, 50)))
            .with(Level::Orf, Some(level(1_200, 4_400, 200, 400)))
            .with(
                Level::WritePool,
                Some(LevelEnergy {
                    operand_read: Some(Femtojoules(2_500)),
                    ..level(1_000, 1_500, 100, 300)
                }),
            );

    const fn level(read: u64, write: u64, private_um: u32, shared_um: u32) -> LevelEnergy {
        let bank = BankEnergy { read: Femtojoules(read), write: Femtojoules(write) };
        LevelEnergy::new(bank, WireLengths { private_um, shared_um })
    }

    fn one(event: Event) -> Counters {
        let mut counters = Counters::default();
        counters.record(event, 1);
        counters
    }

    /// A breakdown in which one part spent something: a level's, or evictions and writebacks.
    fn only(level: Option<Level>, bank: u64, wire: u64) -> EnergyBreakdown {
        let mut breakdown = EnergyBreakdown::default();
        let part = match level {
            Some(level) => &mut breakdown.levels[level as usize],
            None => &mut breakdown.writeback,
        };
        *part = BanksAndWires { bank: Femtojoules(bank), wire: Femtojoules(wire) };
        breakdown
    }

    #[test]
    fn each_access_costs_what_the_tables_say() {
        for (event, level, bank, wire) in [
            // 8 clusters x 8 pJ, and 8 clusters x 7.6 pJ/mm x 1 mm.
            (Event::MrfReadPrivate, Level::Mrf, 64_000, 60_800),
            (Event::MrfReadShared, Level::Mrf, 64_000, 60_800),
            (Event::MrfWritePrivate, Level::Mrf, 88_000, 60_800),
            (Event::RfcReadPrivate, Level::Rfc, 17_600, 12_160),
            (Event::RfcReadShared, Level::Rfc, 17_600, 24_320),
            (Event::RfcWritePrivate, Level::Rfc, 53_600, 12_160),
            // 8 x 0.7 pJ and 8 x 7.6 pJ/mm x 0.05 mm; 8 x 2 pJ.
            (Event::LrfRead, Level::Lrf, 5_600, 3_040),
            (Event::LrfWrite, Level::Lrf, 16_000, 3_040),
            // 8 x 1.2 pJ and 8 x 7.6 pJ/mm x 0.2 or 0.4 mm; 8 x 4.4 pJ.
            (Event::OrfReadPrivate, Level::Orf, 9_600, 12_160),
            (Event::OrfReadShared, Level::Orf, 9_600, 24_320),
            (Event::OrfWritePrivate, Level::Orf, 35_200, 12_160),
            // 8 x 2.5 pJ of an operand and 8 x 7.6 pJ/mm x 0.1 or 0.3 mm; 8 x 1.5 pJ.
            (Event::WritePoolReadPrivate, Level::WritePool, 20_000, 6_080),
            (Event::WritePoolReadShared, Level::WritePool, 20_000, 18_240),
            (Event::WritePoolWritePrivate, Level::WritePool, 12_000, 6_080),
            (Event::WritePoolWriteShared, Level::WritePool, 12_000, 18_240),
        ] {
            let expected = only(Some(level), bank, wire);
            assert_eq!(TABLE.energy(&one(event)), Ok(expected), "{}", event.name());
        }
        let instruction = TABLE.energy(&one(Event::WarpInstruction));
        assert_eq!(instruction, Ok(EnergyBreakdown::default()));
        assert_eq!(TABLE.wire_per_128bit(1_000), Some(Femtojoules(7_600)));
    }

    /// What is moved or copied, under either charge: banks, and wires of 60.8 fJ for a micrometre.
    #[test]
    fn a_value_that_has_travelled_pays_for_the_rest_of_its_way() {
        let each = EnergyTable { wire_charge: WireCharge::EachTrip, ..TABLE };
        let [once, each] =
            [TABLE, each].map(|table| move |event: Event| table.energy(&one(event)).unwrap());
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
            assert_eq!(once(event), only(None, bank, tenths(way)), "{}", event.name());
            assert_eq!(each(event), only(None, bank, tenths(whole)), "{}", event.name());
        }
        // The MRF is farther than all that it fills: the copies' own wires cost nothing.
        for (event, level, bank, whole) in [
            (Event::RfcFillPrivate, Level::Rfc, 53_600, 12_160),
            (Event::RfcFillShared, Level::Rfc, 53_600, 24_320),
            (Event::LrfFill, Level::Lrf, 16_000, 3_040),
            (Event::OrfFillPrivate, Level::Orf, 35_200, 12_160),
            (Event::OrfFillShared, Level::Orf, 35_200, 24_320),
        ] {
            assert_eq!(once(event), only(Some(level), bank, 0), "{}", event.name());
            assert_eq!(each(event), only(Some(level), bank, whole), "{}", event.name());
        }
    }

    /// Levels that lie 0.3 mm farther than the main register file from the shared datapath, and as
    /// far from the private one: what both hold pays for the farther one.
    #[test]
    fn a_level_beyond_the_main_register_file_pays_for_the_difference() {
        let wires = WireLengths { private_um: 1_000, shared_um: 1_300 };
        let mut table = TABLE;
        for level in [Level::Rfc, Level::Orf] {
            let own = table.level(level).map(|own| LevelEnergy { wires, ..own });
            table = table.with(level, own);
        }
        let wire = |event| table.energy(&one(event)).unwrap().level(Level::Rfc).wire.0;
        assert_eq!([Event::RfcFillPrivate, Event::RfcFillShared].map(wire), [0, 18_240]);
        assert_eq!(table.beside_main(wires), WireLengths { private_um: 0, shared_um: 300 });
        let back = |event| table.energy(&one(event)).unwrap().writeback.wire.0;
        assert_eq!(back(Event::RfcWritebackFlush), 0);
        // 1.3 mm in all: one to the main register file, the rest to the ORF.
        let mut both = one(Event::OrfWriteShared);
        both.record(Event::DualWriteOrfShared, 1);
        assert_eq!(table.energy(&both).unwrap().level(Level::Orf).wire.0, 18_240);
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
                let [orf, lrf] = [Level::Orf, Level::Lrf].map(|level| energy.level(level));
                (orf.wire.0 + lrf.wire.0, orf.bank.0 + lrf.bank.0)
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
        assert_eq!(table.energy(&counters).unwrap().level(Level::Mrf).wire, Femtojoules(608));
    }

    #[test]
    fn what_cannot_be_priced_is_an_error() {
        let flat = EnergyTable::flat(TABLE.mrf, TABLE.wire_per_mm_per_32bit, TABLE.wire_charge);
        assert!(flat.energy(&one(Event::MrfWriteShared)).is_ok());
        let two = TABLE.with(Level::Lrf, None);
        for event in [Event::LrfRead, Event::LrfWrite, Event::LrfWritebackFlush] {
            let refused = Err(EnergyError::NoLevel(Level::Lrf));
            assert_eq!(two.energy(&one(event)), refused, "{}", event.name());
        }
        for event in [Event::OrfReadPrivate, Event::OrfFillShared] {
            let refused = Err(EnergyError::NoLevel(Level::Orf));
            assert_eq!(flat.energy(&one(event)), refused, "{}", event.name());
        }
        for event in [Event::WritePoolReadPrivate, Event::WritePoolWriteback] {
            let refused = Err(EnergyError::NoLevel(Level::WritePool));
            assert_eq!(flat.energy(&one(event)), refused, "{}", event.name());
        }
        let without_cache = TABLE.with(Level::Rfc, None);
        let eviction = one(Event::LrfEviction);
        assert_eq!(without_cache.energy(&eviction), Err(EnergyError::NoLevel(Level::Rfc)));
        assert_eq!(two.energy(&eviction), Err(EnergyError::NoLevel(Level::Lrf)));
        for event in [Event::RfcReadPrivate, Event::RfcWriteShared, Event::RfcWritebackFlush] {
            assert_eq!(
                flat.energy(&one(event)),
                Err(EnergyError::NoLevel(Level::Rfc)),
                "{}",
                event.name()
            );
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
