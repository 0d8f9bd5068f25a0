//! Operand delivery of a design: what its machine gives, and what a design file changes.

use serde::Deserialize;
use strata_core::arbiter::BankPorts;
use strata_core::bank_layout::BankLayout;
use strata_core::energy::{BankEnergy, LevelEnergy};
use strata_core::named;
use strata_core::sm::operand_delivery::{
    CollectorSettings, DeliveryKind, MAX_ACCESS_CYCLES, MAX_COLLECTOR_UNITS, MAX_FIXED_BANKS,
    OperandDelivery,
};
use strata_core::split_bank_write::MAX_BANKS;
use strata_core::write_pool::{self, PoolPorts};

use super::checks::range;
use super::machine::{Machine, Variant};
use super::memory::MainMemory;
use super::pool_ports::PortsName;
use strata_config::ConfigError;
use strata_config::by_name::ByName;
use strata_config::quantity::Frequency;

/// How operands come to the units, before the cycles of an access are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// In a window of cycles, from so many banks.
    FixedLatency { banks: u8 },
    /// Through operand collectors.
    Collectors(Choice),
}

/// Operand collectors: the parameters that do not follow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    units: u8,
    banks: u8,
    bank_ports: BankPorts,
    bank_layout: BankLayout,
    split_bank_write: bool,
    write_pool_entries: u8,
    write_pool_ports: PoolPorts,
    /// Cycles of a read, if not those of the memory.
    read_cycles: Option<u8>,
    write_cycles: Option<u8>,
}

impl Choice {
    const fn new(units: u8, banks: u8) -> Self {
        Self {
            units,
            banks,
            bank_ports: BankPorts::One,
            bank_layout: CollectorSettings::WARRF_SRAM.bank_layout,
            split_bank_write: false,
            write_pool_entries: 0,
            write_pool_ports: CollectorSettings::WARRF_SRAM.write_pool_ports,
            read_cycles: None,
            write_cycles: None,
        }
    }

    /// With the cycles that are given, whatever the memory.
    pub(super) const fn exactly(settings: CollectorSettings) -> Self {
        Self {
            units: settings.units,
            banks: settings.banks,
            bank_ports: settings.bank_ports,
            bank_layout: settings.bank_layout,
            split_bank_write: settings.split_bank_write,
            write_pool_entries: settings.write_pool_entries,
            write_pool_ports: settings.write_pool_ports,
            read_cycles: Some(settings.read_cycles),
            write_cycles: Some(settings.write_cycles),
        }
    }
}

/// `[collectors]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CollectorTable {
    units: Option<i64>,
    banks: Option<i64>,
    bank_ports: Option<ByName<BankPorts>>,
    bank_layout: Option<ByName<BankLayout>>,
    read_cycles: Option<i64>,
    write_cycles: Option<i64>,
    split_bank_write: Option<bool>,
    write_pool_entries: Option<i64>,
    write_pool_ports: Option<PortsName>,
}

impl Delivery {
    /// The 4 logical banks of `[RFC2011]` 2.1.
    const FIXED: Self = Self::FixedLatency { banks: 4 };

    pub(super) fn of_machine(machine: &Machine) -> Self {
        machine.collectors.map_or(Self::FIXED, |collectors| {
            let choice = Choice::new(collectors.units, collectors.banks);
            Self::Collectors(Choice {
                bank_ports: collectors.bank_ports.map_or(choice.bank_ports, |it| it.0),
                bank_layout: collectors.bank_layout.map_or(choice.bank_layout, |it| it.0),
                ..choice
            })
        })
    }

    /// Operand collectors with a variant's split bank writes and write pool; a fixed latency stays
    /// as it is.
    pub(super) fn with(self, variant: &Variant) -> Self {
        match self {
            Self::FixedLatency { .. } => self,
            Self::Collectors(choice) => Self::Collectors(Choice {
                split_bank_write: variant.split_bank_write,
                write_pool_entries: variant.write_pool_entries,
                ..choice
            }),
        }
    }

    /// That of the machine's baseline, with as many units and the same banks.
    pub(super) fn baseline(self, machine: &Machine) -> Self {
        match (self, Self::of_machine(machine)) {
            (Self::Collectors(own), Self::Collectors(_)) => {
                let Choice { units, banks, bank_ports, bank_layout, .. } = own;
                Self::Collectors(Choice { bank_ports, bank_layout, ..Choice::new(units, banks) })
            }
            (_, of_machine) => of_machine,
        }
    }

    pub(super) fn write_pool_entries(self) -> u8 {
        match self {
            Self::FixedLatency { .. } => 0,
            Self::Collectors(choice) => choice.write_pool_entries,
        }
    }

    /// What the core takes, with the cycles of the memory's accesses where no others are given.
    pub(super) fn settings(
        self,
        memory: Option<&MainMemory>,
        clock: Frequency,
        origin: &str,
    ) -> Result<OperandDelivery, ConfigError> {
        let short = |cycles: u64| u8::try_from(cycles).unwrap_or(u8::MAX);
        let (read, write) = memory.map_or((1, 1), |memory| memory.cycles(clock));
        match self {
            Self::FixedLatency { .. } if (read, write) != (1, 1) => Err(ConfigError::Combination {
                file: origin.to_owned(),
                problem: format!(
                    "a read of the memory takes its bank for {read} cycles and a write for \
                     {write}, which operands of fixed latency do not know"
                ),
                hint: "set `operand_delivery = \"collectors\"`".to_owned(),
            }),
            Self::FixedLatency { banks } => Ok(OperandDelivery::FixedLatency { banks }),
            Self::Collectors(choice) => Ok(OperandDelivery::Collectors(CollectorSettings {
                units: choice.units,
                banks: choice.banks,
                bank_ports: choice.bank_ports,
                bank_layout: choice.bank_layout,
                read_cycles: choice.read_cycles.unwrap_or(short(read)),
                write_cycles: choice.write_cycles.unwrap_or(short(write)),
                split_bank_write: choice.split_bank_write,
                write_pool_entries: choice.write_pool_entries,
                write_pool_ports: choice.write_pool_ports,
            })),
        }
    }

    /// Changes it as a file says.
    pub(super) fn change(
        &mut self,
        file: &str,
        kind: Option<DeliveryKind>,
        banks: Option<i64>,
        table: Option<&CollectorTable>,
    ) -> Result<(), ConfigError> {
        let settings = CollectorSettings::WARRF_SRAM;
        match (kind, *self) {
            (Some(DeliveryKind::FixedLatency), Self::Collectors(_)) => *self = Self::FIXED,
            (Some(DeliveryKind::Collectors), Self::FixedLatency { .. }) => {
                *self = Self::Collectors(Choice::new(settings.units, settings.banks));
            }
            _ => {}
        }
        if let Some(banks) = banks {
            self.change_banks(file, banks)?;
        }
        let Some(table) = table else { return Ok(()) };
        let Self::Collectors(choice) = self else {
            return Err(ConfigError::Combination {
                file: file.to_owned(),
                problem: "`[collectors]` without operand collectors".to_owned(),
                hint: "add `operand_delivery = \"collectors\"`, or remove the table".to_owned(),
            });
        };
        table.apply(file, choice)
    }

    /// Other banks without collectors.
    fn change_banks(&mut self, file: &str, value: i64) -> Result<(), ConfigError> {
        let Self::FixedLatency { banks } = self else {
            return Err(ConfigError::Combination {
                file: file.to_owned(),
                problem: "`banks` with operand collectors, which have banks of their own"
                    .to_owned(),
                hint: "set `banks` in `[collectors]`".to_owned(),
            });
        };
        let most = MAX_FIXED_BANKS as u32;
        *banks = u8::try_from(value)
            .ok()
            .filter(|banks| (1..=MAX_FIXED_BANKS).contains(&usize::from(*banks)))
            .ok_or_else(|| range(file, "banks", value, 1, most, "banks"))?;
        Ok(())
    }
}

impl CollectorTable {
    fn apply(&self, file: &str, choice: &mut Choice) -> Result<(), ConfigError> {
        let number = |key: &str, value: Option<i64>, least: u8, most: usize, unit: &str| {
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            let Some(value) = value else { return Ok(None) };
            if (i64::from(least)..=i64::from(most)).contains(&value) {
                return Ok(u8::try_from(value).ok());
            }
            let key = format!("collectors.{key}");
            Err(range(file, &key, value, least.into(), most, unit))
        };
        let most_cycles = usize::from(MAX_ACCESS_CYCLES);
        let units = number("units", self.units, 1, MAX_COLLECTOR_UNITS, "units")?;
        let banks = number("banks", self.banks, 1, MAX_BANKS, "banks")?;
        let read = number("read_cycles", self.read_cycles, 1, most_cycles, "cycles")?;
        let write = number("write_cycles", self.write_cycles, 1, most_cycles, "cycles")?;
        let entries = self.write_pool_entries;
        let entries = number("write_pool_entries", entries, 0, write_pool::MAX_ENTRIES, "entries")?;
        choice.units = units.unwrap_or(choice.units);
        choice.banks = banks.unwrap_or(choice.banks);
        choice.bank_ports = self.bank_ports.map_or(choice.bank_ports, |it| it.0);
        choice.bank_layout = self.bank_layout.map_or(choice.bank_layout, |it| it.0);
        choice.read_cycles = read.or(choice.read_cycles);
        choice.write_cycles = write.or(choice.write_cycles);
        choice.split_bank_write = self.split_bank_write.unwrap_or(choice.split_bank_write);
        choice.write_pool_entries = entries.unwrap_or(choice.write_pool_entries);
        choice.write_pool_ports = self.write_pool_ports.map_or(choice.write_pool_ports, |it| it.0);
        Ok(())
    }
}

/// Every parameter by the key of a design file and its value.
pub(super) fn parameters(delivery: OperandDelivery) -> Vec<(&'static str, String)> {
    let none = || "none".to_owned();
    let of = |get: fn(CollectorSettings) -> String| match delivery {
        OperandDelivery::FixedLatency { .. } => none(),
        OperandDelivery::Collectors(settings) => get(settings),
    };
    let banks = match delivery {
        OperandDelivery::FixedLatency { banks } => banks.to_string(),
        OperandDelivery::Collectors(_) => none(),
    };
    vec![
        ("operand_delivery", delivery.kind().name().to_owned()),
        ("banks", banks),
        ("collectors.units", of(|settings| settings.units.to_string())),
        ("collectors.banks", of(|settings| settings.banks.to_string())),
        ("collectors.bank_ports", of(|settings| settings.bank_ports.name().to_owned())),
        ("collectors.bank_layout", of(|settings| settings.bank_layout.name().to_owned())),
        ("collectors.read_cycles", of(|settings| settings.read_cycles.to_string())),
        ("collectors.write_cycles", of(|settings| settings.write_cycles.to_string())),
        ("collectors.split_bank_write", of(|settings| settings.split_bank_write.to_string())),
        ("collectors.write_pool_entries", of(|settings| settings.write_pool_entries.to_string())),
        ("collectors.write_pool_ports", of(|settings| settings.write_pool_ports.to_string())),
    ]
}

/// What distinguishes a design with collectors.
pub(super) fn axes(delivery: OperandDelivery) -> Vec<(&'static str, String)> {
    let OperandDelivery::Collectors(settings) = delivery else { return Vec::new() };
    let CollectorSettings { units, banks, read_cycles, write_cycles, .. } = settings;
    let layout = match settings.bank_layout {
        BankLayout::WarpSkewed => "",
        BankLayout::Linear => " laid out linearly",
    };
    let ports = match settings.bank_ports {
        BankPorts::One => "",
        BankPorts::ReadAndWrite => " of two ports",
    };
    let split = if settings.split_bank_write { ", split bank writes" } else { "" };
    let pool = match settings.write_pool_entries {
        0 => String::new(),
        entries => {
            let ports = match settings.write_pool_ports {
                PoolPorts::OneReadOneWrite => "a read and a write".to_owned(),
                PoolPorts::Any(1) => "one access".to_owned(),
                PoolPorts::Any(accesses) => format!("{accesses} accesses"),
            };
            format!(", write pool of {entries} with {ports} in a cycle")
        }
    };
    let text = format!(
        "{units} collectors, {banks} banks{ports}{layout}, reads of {read_cycles} and writes of \
         {write_cycles} cycles{split}{pool}"
    );
    vec![("operands", text)]
}

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
