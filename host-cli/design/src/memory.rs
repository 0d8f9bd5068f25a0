//! Memories of the main register file: what SRAM and STT-RAM cost and how long they take, each
//! value with its unit and its source. Built in, or from a file of the user's.

mod choice;
pub mod file;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use strata_core::energy::BankEnergy;
use strata_core::leakage::Leakage;
use strata_core::named;
use strata_core::units::LANES_PER_CLUSTER;

use super::embedded::embedded;
use super::technology::NoEnergy;
use strata_config::quantity::{Area, EnergyPerBit, Frequency, Power, Time};

pub(super) use choice::chosen;

/// Bits of the access that energy tables are about.
const ACCESS_BITS: u32 = LANES_PER_CLUSTER * 32;

/// A value with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: String,
}

named! {
    /// The kinds of memory that a main register file is made of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MemoryKind {
        /// Static memory.
        Sram = "sram",
        /// Spin-transfer torque memory.
        Sttram = "sttram",
    }
}

/// A memory technology: one or two kinds of memory, and the write pool in front of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memories {
    /// Its name.
    pub name: String,
    /// Where most of it is from.
    pub source: String,
    /// Its SRAM.
    pub sram: Option<Memory>,
    /// Its STT-RAM.
    pub sttram: Option<Memory>,
    /// The array of a write pool, if given.
    pub write_pool: Option<PoolArray>,
    /// Assumptions: values that no source gives, one sentence each.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// Whether it comes with the program.
    #[serde(skip)]
    pub built_in: bool,
    /// The file that it was read from, if it was.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// One kind of memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Energy of a read, for each bit.
    pub read_energy: Sourced<EnergyPerBit>,
    /// Energy of a write, for each bit.
    pub write_energy: Sourced<EnergyPerBit>,
    /// Time for which a read takes its bank.
    pub read_latency: Sourced<Time>,
    /// Time for which a write takes its bank.
    pub write_latency: Sourced<Time>,
    /// What a bank leaks.
    pub leakage_per_bank: Sourced<Power>,
    /// Size of that bank.
    pub bank_kb: u32,
    /// Area, if known.
    pub area: Option<Sourced<Area>>,
    /// Capacity that has this area.
    pub area_kb: Option<u32>,
    /// Area of a cell in squares of the feature size, if known. Unit: F2.
    pub cell_area_f2: Option<u32>,
}

/// The array of a write pool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolArray {
    /// Energy of an access, for each bit.
    pub access_energy: Sourced<EnergyPerBit>,
}

impl Memories {
    /// A kind of memory, if it has that.
    pub fn memory(&self, kind: MemoryKind) -> Option<&Memory> {
        match kind {
            MemoryKind::Sram => self.sram.as_ref(),
            MemoryKind::Sttram => self.sttram.as_ref(),
        }
    }

    /// The kinds that it has.
    pub fn kinds(&self) -> Vec<MemoryKind> {
        let all = MemoryKind::ALL.into_iter();
        all.filter(|kind| self.memory(*kind).is_some()).collect()
    }

    /// Energy of an access of 128 bits of a write pool.
    pub fn write_pool_energy(&self) -> Result<BankEnergy, NoEnergy> {
        let pool = self.write_pool.as_ref().ok_or_else(|| {
            NoEnergy(format!("technology `{}` has no energy of a write pool", self.name))
        })?;
        let access = pool.access_energy.value.of_bits(ACCESS_BITS);
        Ok(BankEnergy { read: access, write: access })
    }
}

/// The memory that a main register file is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainMemory {
    /// Its technology.
    pub technology: Arc<Memories>,
    /// Its kind.
    pub kind: MemoryKind,
    memory: Memory,
}

impl MainMemory {
    /// The memory of this kind, if the technology has it.
    pub fn new(technology: &Arc<Memories>, kind: MemoryKind) -> Option<Self> {
        let memory = technology.memory(kind)?.clone();
        Some(Self { technology: Arc::clone(technology), kind, memory })
    }

    /// Its values.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Energy of an access of 128 bits.
    pub fn bank_energy(&self) -> BankEnergy {
        BankEnergy {
            read: self.memory.read_energy.value.of_bits(ACCESS_BITS),
            write: self.memory.write_energy.value.of_bits(ACCESS_BITS),
        }
    }

    /// Cycles for which a read and a write take their bank.
    pub fn cycles(&self, clock: Frequency) -> (u64, u64) {
        let Memory { read_latency, write_latency, .. } = &self.memory;
        (read_latency.value.cycles(clock), write_latency.value.cycles(clock))
    }

    /// What a register file of this many bytes leaks.
    pub fn leakage(&self, bytes: u32, clock: Frequency) -> Result<Leakage, NoEnergy> {
        let bank = self.memory.bank_kb.saturating_mul(1024);
        if bank == 0 || !bytes.is_multiple_of(bank) {
            return Err(NoEnergy(format!(
                "technology `{}` has the leakage of a bank of {} KB, of which a register file of \
                 {} KB has no whole number",
                self.technology.name,
                self.memory.bank_kb,
                bytes / 1024
            )));
        }
        let bank_nw = self.memory.leakage_per_bank.value.0;
        Ok(Leakage { bank_nw, banks: bytes / bank, clock_khz: clock.0 })
    }

    /// Area of this many bytes, in proportion to the area that is known; rounded to the nearest
    /// square micrometre, ties up.
    pub fn area_um2(&self, bytes: u64) -> Option<u64> {
        let area = u128::from(self.memory.area.as_ref()?.value.0);
        let of = u128::from(self.memory.area_kb?) * 1024;
        let twice = 2 * area * u128::from(bytes) + of;
        u64::try_from(twice.checked_div(2 * of)?).ok()
    }

    /// Every value with its unit and its source, one sentence each.
    pub fn told(&self) -> Vec<String> {
        let of = &self.technology.name;
        let value = |(key, value, source)| format!("{of}: {key} = {value} ({source})");
        self.values().into_iter().map(value).collect()
    }

    /// Every value with its unit and its source, by the key of its file.
    pub fn values(&self) -> Vec<(String, String, &str)> {
        let kind = self.kind.name();
        let Memory { read_energy, write_energy, read_latency, write_latency, .. } = &self.memory;
        let leakage = &self.memory.leakage_per_bank;
        let bank = self.memory.bank_kb;
        let key = |name: &str| format!("{kind}.{name}");
        let mut all = vec![
            (key("read_energy"), read_energy.value.to_string(), &*read_energy.source),
            (key("write_energy"), write_energy.value.to_string(), &*write_energy.source),
            (key("read_latency"), read_latency.value.to_string(), &*read_latency.source),
            (key("write_latency"), write_latency.value.to_string(), &*write_latency.source),
            (key("leakage_per_bank"), format!("{} for {bank} KB", leakage.value), &*leakage.source),
        ];
        if let (Some(area), Some(kb)) = (&self.memory.area, self.memory.area_kb) {
            all.push((key("area"), format!("{} for {kb} KB", area.value), &*area.source));
        }
        if let Some(pool) = &self.technology.write_pool {
            let Sourced { value, source } = &pool.access_energy;
            all.push(("write_pool.access_energy".to_owned(), value.to_string(), source));
        }
        all
    }
}

static MEMORIES: LazyLock<Vec<Arc<Memories>>> = LazyLock::new(|| {
    let files = embedded::<Memories>(&[
        include_str!("../data/technologies/warrf.toml"),
        include_str!("../data/technologies/warrf-as-printed.toml"),
    ]);
    let built_in = |file| Arc::new(Memories { built_in: true, ..file });
    files.into_iter().map(built_in).collect()
});

/// A built-in memory technology by name.
pub fn memories(name: &str) -> Option<&'static Arc<Memories>> {
    MEMORIES.iter().find(|memories| memories.name == name)
}

/// The names of the built-in memory technologies.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    MEMORIES.iter().map(|memories| memories.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_core::units::Femtojoules;

    fn memory(technology: &str, kind: MemoryKind) -> MainMemory {
        MainMemory::new(memories(technology).unwrap(), kind).unwrap()
    }

    #[test]
    fn table_ii_by_hand() {
        let clock = Frequency(700_000);
        let sram = memory("warrf", MemoryKind::Sram);
        let sttram = memory("warrf", MemoryKind::Sttram);
        let bank = |read, write| BankEnergy { read: Femtojoules(read), write: Femtojoules(write) };
        // 128 times 0.37 and 0.32, 0.42 and 0.72 pJ.
        assert_eq!(sram.bank_energy(), bank(47_360, 40_960));
        assert_eq!(sttram.bank_energy(), bank(53_760, 92_160));
        assert_eq!((sram.cycles(clock), sttram.cycles(clock)), ((1, 1), (1, 3)));
        let pool = sttram.technology.write_pool_energy().unwrap();
        assert_eq!(pool, bank(10_240, 10_240));
        let leakage = |memory: &MainMemory| memory.leakage(128 * 1024, clock).unwrap();
        let milliwatts = leakage(&sram);
        assert_eq!((milliwatts.banks, milliwatts.bank_nw), (16, 25_000_000));
        assert_eq!(milliwatts.clock_khz, 700_000);
        assert_eq!(leakage(&sttram).bank_nw, 300_000);
        assert_eq!(leakage(&memory("warrf-as-printed", MemoryKind::Sram)).bank_nw, 25_000);
        // A sixteenth of 4.1 and of 1.1 mm2.
        assert_eq!(sram.area_um2(128 * 1024), Some(256_250));
        assert_eq!(sttram.area_um2(128 * 1024), Some(68_750));
    }

    #[test]
    fn both_readings_differ_in_leakage_alone() {
        let [read, printed] = ["warrf", "warrf-as-printed"].map(|name| memories(name).unwrap());
        for kind in MemoryKind::ALL {
            let (read, printed) = (read.memory(kind).unwrap(), printed.memory(kind).unwrap());
            let leakage = |memory: &Memory| memory.leakage_per_bank.value.0;
            assert_eq!(leakage(read), 1000 * leakage(printed));
            let same =
                Memory { leakage_per_bank: printed.leakage_per_bank.clone(), ..read.clone() };
            assert_eq!(&same, printed);
        }
        assert_eq!(read.write_pool, printed.write_pool);
    }

    #[test]
    fn banks_that_do_not_divide_a_register_file_have_no_leakage() {
        let sram = memory("warrf", MemoryKind::Sram);
        let reason = sram.leakage(100 * 1024, Frequency(700_000)).unwrap_err().to_string();
        assert!(reason.contains("100 KB has no whole number"), "{reason}");
        assert_eq!(sram.leakage(256 * 1024, Frequency(700_000)).unwrap().banks, 32);
    }
}
