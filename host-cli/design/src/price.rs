//! Price: what accesses of a design cost, and what its main register file leaks.

use strata_compiler::hierarchy::Lrf;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy};
use strata_core::leakage::Leakage;
use strata_core::level::Level;
use strata_core::organisation::LevelSettings;
use strata_core::sm::expansion::energy::ExpansionEnergyTable;
use strata_core::units::Femtojoules;

use super::interpolation::{self, Interpolated, MissingEnergy, Resized};
use super::machine::only_private;
use super::managed::Managed;
use super::memory::{MainMemory, MemoryKind};
use super::parts::Parts;
use super::sm::warps;
use super::technology::NoEnergy;

impl Parts {
    /// Energy of the flat design with the same values, and that of this design; or why it is not
    /// known.
    pub(super) fn price(&self) -> (Result<EnergyTable, NoEnergy>, Result<EnergyTable, NoEnergy>) {
        let flat = self.flat_price();
        let own = flat.clone().and_then(|flat| {
            let mrf = self.own_main(flat.mrf);
            let table = self.with_write_pool(flat.with(Level::Mrf, Some(mrf)))?;
            match self.managed {
                Some(managed) => self.price_managed(table, managed),
                None => self.price_cached(table),
            }
        });
        (flat, own)
    }

    /// The memory of the baseline: SRAM of the same technology, or of the machine's own.
    pub(super) fn reference(&self) -> Option<MainMemory> {
        let technology = &self.memory.as_ref()?.technology;
        MainMemory::new(technology, MemoryKind::Sram).or_else(|| self.machine.memory())
    }

    /// What a main register file of this memory leaks.
    pub(super) fn leakage(&self, memory: Option<&MainMemory>) -> Result<Leakage, NoEnergy> {
        let memory = memory.ok_or_else(|| {
            let source = &self.machine.technology().source;
            NoEnergy(format!("no leakage of a bank is printed in {source}"))
        })?;
        memory.leakage(self.sm.register_file_bytes, self.machine.clock)
    }

    /// A bank of the baseline's main register file.
    fn reference_bank(&self) -> BankEnergy {
        let own = || self.machine.mrf_energy().bank;
        self.reference().map_or_else(own, |memory| memory.bank_energy())
    }

    fn flat_price(&self) -> Result<EnergyTable, NoEnergy> {
        let (values, machine) = (self.energy.level(Level::Mrf), self.machine);
        let mut mrf = machine.mrf_energy();
        mrf.bank = self.reference_bank();
        if let Some(resized) = self.resized() {
            self.unless_unknown(|| {
                format!(
                    "no table prints the energy of a register file of {} KB: a design file may \
                     give `mrf_read` and `mrf_write` in `[energy]`, `mrf_private` and \
                     `mrf_shared` in `[wires]`, or set `missing_energy = \"interpolated\"`",
                    self.sm.register_file_bytes / 1024
                )
            })?;
            (mrf.bank, mrf.wires) = (resized.bank(mrf.bank), resized.wires(mrf.wires));
        }
        if !self.differs_from_baseline() {
            mrf.bank = values.either(mrf.bank);
        }
        mrf.wires = values.wires(mrf.wires);
        let wire = self.energy.wire.unwrap_or_else(|| machine.wire_energy());
        Ok(EnergyTable::flat(mrf, wire, self.wire_charge))
    }

    /// How its main register file compares with the printed one, if it has another size and the
    /// design file does not give all of its energy.
    fn resized(&self) -> Option<Resized> {
        let (values, printed) = (self.energy.level(Level::Mrf), &self.machine.sm);
        let given =
            values.bank().is_some() && values.private_um.is_some() && values.shared_um.is_some();
        // Values that only placement uses do not depend on the size.
        let priced = self.machine.baseline_orf.is_none();
        let other = self.sm.register_file_bytes != printed.register_file_kb * 1024;
        let bank_kb = self.memory.as_ref().map(|memory| memory.memory().bank_kb);
        let printed = (printed.register_file_kb, bank_kb.unwrap_or(printed.register_bank_kb));
        (priced && other && !given).then(|| Resized::new(printed, self.sm.register_file_bytes))
    }

    /// An error with this reason, unless what no table prints is to be interpolated.
    fn unless_unknown(&self, reason: impl FnOnce() -> String) -> Result<(), NoEnergy> {
        match self.missing_energy {
            MissingEnergy::Unknown => Err(NoEnergy(reason())),
            MissingEnergy::Interpolated => Ok(()),
        }
    }

    /// An array for the active warps that no table prints for this reason, if such are to be
    /// interpolated.
    fn interpolated(&self, entries: u8, reason: &NoEnergy) -> Result<Interpolated, NoEnergy> {
        self.unless_unknown(|| {
            format!(
                "{reason}: `missing_energy = \"interpolated\"` has one fitted to those that are"
            )
        })?;
        let warps = warps(self.settings.scheduling, &self.sm);
        interpolation::array(self.machine.technology(), (entries, warps))
    }

    /// Which parts of its energy are interpolated, and how; of a design without energy none.
    pub(super) fn interpolations(&self) -> Vec<String> {
        if self.missing_energy == MissingEnergy::Unknown {
            return Vec::new();
        }
        let technology = self.machine.technology();
        let warps = warps(self.settings.scheduling, &self.sm);
        let cached = self.settings.levels.cache().map(|cache| (Level::Rfc, cache.entries));
        let managed = self.managed.map(|managed| (Level::Orf, managed.entries));
        let last = self.settings.levels.has_last_result_file()
            || self.managed.is_some_and(|managed| managed.lrf != Lrf::None);
        let small = cached.or(managed).into_iter().chain(last.then_some((Level::Lrf, 1)));
        let unprinted = small.filter(|&(level, entries)| {
            let printed = match level {
                Level::Lrf => technology.last_result_file(warps),
                _ => technology.cache(entries, warps),
            };
            printed.is_err() && self.energy.level(level).bank().is_none()
        });
        let arrays = unprinted.filter_map(|(_, entries)| {
            interpolation::array(technology, (entries, warps)).ok().map(|array| array.how)
        });
        self.resized().map(Resized::how).into_iter().chain(arrays).collect()
    }

    /// Whether its main register file is of another memory than the baseline's.
    fn differs_from_baseline(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| self.reference().as_ref() != Some(memory))
    }

    /// The main register file, given the baseline's.
    fn own_main(&self, mut main: LevelEnergy) -> LevelEnergy {
        if let Some(memory) = self.memory.as_ref().filter(|_| self.differs_from_baseline()) {
            let printed = memory.bank_energy();
            let bank = self.resized().map_or(printed, |resized| resized.bank(printed));
            main.bank = self.energy.level(Level::Mrf).either(bank);
        }
        main
    }

    /// With a write pool.
    fn with_write_pool(&self, table: EnergyTable) -> Result<EnergyTable, NoEnergy> {
        if self.delivery.write_pool_entries() == 0 {
            return Ok(table);
        }
        let bank = match (self.energy.level(Level::WritePool).bank(), &self.memory) {
            (Some(bank), _) => bank,
            (None, Some(memory)) => memory.technology.write_pool_energy()?,
            (None, None) => {
                return Err(NoEnergy(format!(
                    "{} prints no energy of a write pool: a design file may give \
                     `write_pool_read` and `write_pool_write` in `[energy]`",
                    self.machine.technology().source
                )));
            }
        };
        let pool = self.pool_read_energy.pool(bank, &table.mrf);
        Ok(table.with(Level::WritePool, Some(pool)))
    }

    /// With the register file cache and the last result file that hardware manages, if any.
    fn price_cached(&self, table: EnergyTable) -> Result<EnergyTable, NoEnergy> {
        let levels = match self.settings.levels {
            LevelSettings::Flat | LevelSettings::CompilerManaged => return Ok(table),
            LevelSettings::Cached(levels) => levels,
        };
        let cache = self.price_small(Level::Rfc, levels.cache.entries)?;
        let last = levels.last_result_file.then(|| self.price_last_result()).transpose()?;
        Ok(table.with(Level::Rfc, Some(cache)).with(Level::Lrf, last))
    }

    /// With an operand register file, whose banks and wires are those of a cache of as many
    /// entries, and a last result file if there is one.
    fn price_managed(&self, table: EnergyTable, managed: Managed) -> Result<EnergyTable, NoEnergy> {
        let operands = self.price_small(Level::Orf, managed.entries)?;
        let last = managed.lrf != Lrf::None;
        let last = last.then(|| self.price_last_result()).transpose()?;
        Ok(table.with(Level::Orf, Some(operands)).with(Level::Lrf, last))
    }

    /// A level of this many entries, at the distance of a cache.
    fn price_small(&self, level: Level, entries: u8) -> Result<LevelEnergy, NoEnergy> {
        let values = self.energy.level(level);
        let bank = match values.bank() {
            Some(bank) => bank,
            None => self.cache_bank(entries)?,
        };
        Ok(LevelEnergy::new(bank, values.wires(self.machine.rfc_wires())))
    }

    /// A bank of a cache of this many entries.
    fn cache_bank(&self, entries: u8) -> Result<BankEnergy, NoEnergy> {
        let warps = warps(self.settings.scheduling, &self.sm);
        let bank = match self.machine.technology().cache(entries, warps) {
            Ok(row) => BankEnergy { read: row.read.0, write: row.write.0 },
            Err(reason) => self.interpolated(entries, &reason)?.bank,
        };
        Ok(self.scaled(bank))
    }

    /// Energy of the last result file.
    fn price_last_result(&self) -> Result<LevelEnergy, NoEnergy> {
        let (values, machine) = (self.energy.level(Level::Lrf), self.machine);
        let printed = machine.last_result_energy(warps(self.settings.scheduling, &self.sm));
        let bank = match values.bank() {
            Some(bank) => bank,
            None => self.scaled(match printed.clone() {
                Ok(printed) => printed.bank,
                Err(reason) => self.interpolated(1, &reason)?.bank,
            }),
        };
        let private_um = match (values.private_um, machine.distances().lrf_private) {
            (Some(length), _) => length,
            (None, Some(length)) => length.0,
            (None, None) => printed?.wires.private_um,
        };
        Ok(LevelEnergy::new(bank, only_private(private_um)))
    }

    /// What registers in scratchpad memory cost there.
    pub(super) fn price_expansion(&self) -> Result<ExpansionEnergyTable, NoEnergy> {
        let printed = self.machine.technology().expansion()?;
        let (operand_cache, scratchpad) = (printed.operand_cache, printed.scratchpad);
        let [operand_cache, scratchpad] = [operand_cache, scratchpad].map(|bank| self.scaled(bank));
        Ok(ExpansionEnergyTable { operand_cache, scratchpad })
    }

    /// A small level's bank, beside a main register file of another technology than its own: the
    /// same share of the baseline's main register file as in its own technology.
    fn scaled(&self, bank: BankEnergy) -> BankEnergy {
        if self.memory.is_none() {
            return bank;
        }
        let (own, main) = (self.machine.technology().mrf.energy(), self.reference_bank());
        BankEnergy {
            read: share(bank.read, own.read, main.read),
            write: share(bank.write, own.write, main.write),
        }
    }
}

/// `part / whole` of `of`, rounded to the nearest femtojoule, ties up; all of it if the whole is 0.
fn share(part: Femtojoules, whole: Femtojoules, of: Femtojoules) -> Femtojoules {
    let (part, whole, of) = (u128::from(part.0), u128::from(whole.0), u128::from(of.0));
    let rounded = (2 * part * of + whole).checked_div(2 * whole).unwrap_or(of);
    Femtojoules(u64::try_from(rounded).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_nearest() {
        let fj = Femtojoules;
        // 2.0 of 8 pJ, of 0.37 pJ/bit x 128: a quarter.
        assert_eq!(share(fj(2_000), fj(8_000), fj(47_360)), fj(11_840));
        assert_eq!(share(fj(6_700), fj(11_000), fj(40_960)), fj(24_948));
        assert_eq!(share(fj(1), fj(2), fj(1)), fj(1));
        assert_eq!(share(fj(1), fj(3), fj(1)), fj(0));
        assert_eq!(share(fj(1), fj(0), fj(7)), fj(7));
    }
}
