//! Collectors of a design replaced: what studies of them vary.

use strata_core::energy::EnergyTable;
use strata_core::level::Level;
use strata_core::sm::config::{SmConfig, SmSettings};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};

use super::delivery::{Choice, Delivery};
use super::parts::POOL_LEAKAGE;
use super::{Design, NoEnergy, sm};
use strata_config::ConfigError;

impl Design {
    /// Its operand collectors, of a design that has them.
    pub fn collectors(&self) -> Option<CollectorSettings> {
        match self.sm.operand_delivery {
            OperandDelivery::FixedLatency { .. } => None,
            OperandDelivery::Collectors(settings) => Some(settings),
        }
    }

    /// This design with these operand collectors, whatever its own are: a write pool costs what
    /// that of the design or of its technology does, and cycles are taken as they are given, at the
    /// same energy. The name stays.
    ///
    /// # Errors
    /// The core refuses them.
    pub fn with_collectors(&self, settings: CollectorSettings) -> Result<Self, ConfigError> {
        let operand_delivery = OperandDelivery::Collectors(settings);
        let sm = SmSettings { operand_delivery, ..self.sm };
        SmConfig::new(sm).map_err(|error| sm::refuse(error, &self.argument))?;
        let pool = settings.write_pool_entries != 0;
        let energy = self.energy.clone().and_then(|table| self.with_pool_energy(table, pool));
        let delivery = Delivery::Collectors(Choice::exactly(settings));
        let mut assumed = self.assumed.clone();
        assumed.retain(|what| pool || what != POOL_LEAKAGE);
        if pool && self.memory.is_some() && self.write_pool_entries() == 0 {
            assumed.push(POOL_LEAKAGE.to_owned());
        }
        Ok(Self { sm, energy, assumed, delivery, ..self.clone() })
    }

    fn with_pool_energy(&self, table: EnergyTable, pool: bool) -> Result<EnergyTable, NoEnergy> {
        let write_pool = match (pool, table.level(Level::WritePool), &self.memory) {
            (false, ..) => None,
            (true, Some(own), _) => Some(own),
            (true, None, Some(memory)) => {
                let bank = memory.technology.write_pool_energy()?;
                Some(self.pool_read_energy.pool(bank, &table.mrf))
            }
            (true, None, None) => {
                let source = &self.machine.technology().source;
                return Err(NoEnergy(format!("{source} prints no energy of a write pool")));
            }
        };
        Ok(table.with(Level::WritePool, write_pool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file, resolve};
    use strata_core::write_pool::PoolPorts;

    #[test]
    fn it_is_what_a_design_file_would_say() {
        let settings = CollectorSettings {
            split_bank_write: true,
            write_pool_entries: 16,
            write_pool_ports: PoolPorts::Any(2),
            write_cycles: 4,
            ..resolve("sttram").unwrap().collectors().unwrap()
        };
        let keys = "[collectors]\nsplit_bank_write = true\nwrite_pool_entries = 16\n\
                    write_pool_ports = 2\nwrite_cycles = 4\n";
        let own = "[energy]\nsource = \"ours\"\n\
                   write_pool_read = \"1 pJ\"\nwrite_pool_write = \"2 pJ\"\n";
        for (base, energy) in [("sttram", ""), ("warrf", own)] {
            let base = format!("base = \"{base}\"\n{energy}");
            let made = file::parse("own", &base).unwrap().with_collectors(settings).unwrap();
            let written = file::parse("written", &format!("{base}{keys}")).unwrap();
            assert_eq!((made.sm, &made.energy), (written.sm, &written.energy), "{base}");
            assert_eq!(made.leakage, written.leakage, "{base}");
            assert_eq!(made.baseline().sm, written.baseline().sm, "{base}");
            assert_eq!(made.write_pool_entries(), 16);
            assert!(made.assumed.iter().all(|what| written.assumed.contains(what)), "{base}");
            assert_eq!(made.assumed.len(), written.assumed.len(), "{base}");
        }
    }

    #[test]
    fn a_pool_of_no_entries_costs_nothing_and_one_too_many_is_refused() {
        let warrf = resolve("warrf").unwrap();
        let own = warrf.collectors().unwrap();
        assert_eq!(warrf.with_collectors(own).unwrap(), {
            let delivery = Delivery::Collectors(Choice::exactly(own));
            Design { delivery, ..warrf.clone() }
        });
        let without = CollectorSettings { write_pool_entries: 0, ..own };
        let split = resolve("sttram-sbw").unwrap();
        let made = warrf.with_collectors(without).unwrap();
        assert_eq!((made.sm, made.energy), (split.sm, split.energy));
        assert_eq!(made.assumed, split.assumed);
        let error = warrf.with_collectors(CollectorSettings { write_pool_entries: 129, ..own });
        assert!(error.unwrap_err().to_string().contains("128"));
        assert_eq!(resolve("isca11").unwrap().collectors(), None);
    }
}
