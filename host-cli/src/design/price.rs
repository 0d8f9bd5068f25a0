//! Price: what accesses of a design cost, and what its main register file leaks.

use strata_compiler::hierarchy::Lrf;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy};
use strata_core::leakage::Leakage;
use strata_core::level::Level;
use strata_core::named;
use strata_core::organisation::LevelSettings;
use strata_core::sm::expansion::energy::ExpansionEnergyTable;
use strata_core::units::Femtojoules;

use super::machine::only_private;
use super::memory::{MainMemory, MemoryKind};
use super::parts::Parts;
use super::{Managed, NoEnergy, warps};

named! {
    /// What the read of an operand costs that the write pool has.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum PoolReadEnergy {
        /// A read of the pool's array, which serves it.
        #[default]
        Pool = "pool",
        /// A read of a bank, as the figures of `[WARRF]` imply.
        Bank = "bank",
    }
}

impl PoolReadEnergy {
    /// Energy of a pool with this array, which stands beside the banks: at their distance.
    pub(super) const fn pool(self, bank: BankEnergy, main: &LevelEnergy) -> LevelEnergy {
        let operand_read = match self {
            Self::Pool => None,
            Self::Bank => Some(main.bank.read),
        };
        LevelEnergy { bank, operand_read, wires: main.wires }
    }
}

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
        let printed = machine.sm.register_file_kb * 1024;
        let given =
            values.bank().is_some() && values.private_um.is_some() && values.shared_um.is_some();
        // Values that only placement uses do not depend on the size.
        let priced = machine.baseline_orf.is_none();
        if priced && self.sm.register_file_bytes != printed && !given {
            return Err(NoEnergy(format!(
                "no table prints the energy of a register file of {} KB: a design file may give \
                 `mrf_read` and `mrf_write` in `[energy]`, `mrf_private` and `mrf_shared` in \
                 `[wires]`",
                self.sm.register_file_bytes / 1024
            )));
        }
        let mut mrf = machine.mrf_energy();
        mrf.bank = self.reference_bank();
        if !self.differs_from_baseline() {
            mrf.bank = values.either(mrf.bank);
        }
        mrf.wires = values.wires(mrf.wires);
        let wire = self.energy.wire.unwrap_or_else(|| machine.wire_energy());
        Ok(EnergyTable::flat(mrf, wire, self.wire_charge))
    }

    /// Whether its main register file is of another memory than the baseline's.
    fn differs_from_baseline(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| self.reference().as_ref() != Some(memory))
    }

    /// The main register file, given the baseline's.
    fn own_main(&self, mut main: LevelEnergy) -> LevelEnergy {
        if let Some(memory) = self.memory.as_ref().filter(|_| self.differs_from_baseline()) {
            main.bank = self.energy.level(Level::Mrf).either(memory.bank_energy());
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
        let row = self.machine.technology().cache(entries, warps)?;
        Ok(self.scaled(BankEnergy { read: row.read.0, write: row.write.0 }))
    }

    /// Energy of the last result file.
    fn price_last_result(&self) -> Result<LevelEnergy, NoEnergy> {
        let (values, machine) = (self.energy.level(Level::Lrf), self.machine);
        let printed = machine.last_result_energy(warps(self.settings.scheduling, &self.sm));
        let bank = match values.bank() {
            Some(bank) => bank,
            None => self.scaled(printed.clone()?.bank),
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
