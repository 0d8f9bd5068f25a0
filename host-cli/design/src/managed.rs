//! Compiler-managed hierarchies: an operand register file, and a last result file if there is one.

use strata_compiler::hierarchy::{
    AccessCosts, Costs, DualWrites, HierarchyConfig, LevelCosts, Lrf,
};
use strata_core::energy::{EnergyTable, LevelEnergy};
use strata_core::level::Level;

/// The levels that the compiler manages, and which of its optimisations are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Managed {
    /// Entries of the operand register file for each thread. Range: from 1.
    pub entries: u8,
    /// The last result file.
    pub lrf: Lrf,
    /// Values stay where they are past forward branches.
    pub forward_branches: bool,
    /// Values that a strand only reads are kept too.
    pub read_operands: bool,
    /// Values are kept for their first reads, if not for all.
    pub partial_ranges: bool,
    /// Which results the encoding can write to two levels.
    pub dual_writes: DualWrites,
}

/// What is assumed of a split last result file: the dissertation says that it needs additional
/// space in the encoding, and not how much (`[DISS]` 6.5.5; DEV-049).
pub const SPLIT_NAMES: &str =
    "the additional encoding space of a split last result file is not printed and not charged";

/// What a suffix changes.
pub(super) struct Suffix {
    pub(super) text: &'static str,
    meaning: &'static str,
    pub(super) apply: fn(&mut Managed),
}

/// The suffixes, in the order in which a name has them.
pub(super) const SUFFIXES: [Suffix; 8] = [
    Suffix {
        text: "-lrf-unified",
        meaning: "with a last result file of one entry",
        apply: |managed| managed.lrf = Lrf::Unified,
    },
    Suffix {
        text: "-lrf-split",
        meaning: "with a last result file of one entry for each operand slot",
        apply: |managed| managed.lrf = Lrf::Split,
    },
    Suffix {
        text: "-noforward",
        meaning: "values are kept within basic blocks only",
        apply: |managed| managed.forward_branches = false,
    },
    Suffix {
        text: "-noreadoperands",
        meaning: "only values that are written are kept",
        apply: |managed| managed.read_operands = false,
    },
    Suffix {
        text: "-nopartial",
        meaning: "values are kept for all their reads or none",
        apply: |managed| managed.partial_ranges = false,
    },
    Suffix {
        text: "-samename",
        meaning: "an entry of a result in two levels follows from its register's name",
        apply: |managed| managed.dual_writes = DualWrites::SameName,
    },
    Suffix {
        text: "-duallrf",
        meaning: "results are written to two levels only with the last result file",
        apply: |managed| managed.dual_writes = DualWrites::LastResultOnly,
    },
    Suffix {
        text: "-onelevel",
        meaning: "a result is written to one level",
        apply: |managed| managed.dual_writes = DualWrites::Never,
    },
];

/// The suffixes with their meanings, for the list of designs.
pub fn suffixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUFFIXES.iter().map(|suffix| (suffix.text, suffix.meaning))
}

impl Managed {
    /// With every optimisation on, as the dissertation's best designs.
    pub(super) const fn new(entries: u8) -> Self {
        Self {
            entries,
            lrf: Lrf::None,
            forward_branches: true,
            read_operands: true,
            partial_ranges: true,
            dual_writes: DualWrites::Any,
        }
    }

    /// What its instructions need that no source prints and no energy is charged for, if anything.
    pub(super) fn uncharged(self) -> Option<&'static str> {
        (self.lrf == Lrf::Split).then_some(SPLIT_NAMES)
    }

    /// What programs are fitted to, decided by a design's energies.
    pub fn config(self, table: &EnergyTable) -> HierarchyConfig {
        let wire = |um: u32| table.wire_per_128bit(um).map_or(0, |energy| energy.0);
        let level = |LevelEnergy { bank, wires, .. }: LevelEnergy| {
            let access = |um, beside_um| AccessCosts {
                read: (bank.read.0 + wire(um)) as i64,
                write: (bank.write.0 + wire(um)) as i64,
                beside_main: (bank.write.0 + wire(beside_um)) as i64,
            };
            let beside = table.beside_main(wires);
            LevelCosts {
                private: access(wires.private_um, beside.private_um),
                shared: access(wires.shared_um, beside.shared_um),
            }
        };
        let last = table.level(Level::Lrf).filter(|_| self.lrf != Lrf::None).map(level);
        HierarchyConfig {
            orf_entries: self.entries,
            lrf: self.lrf,
            forward_branches: self.forward_branches,
            read_operands: self.read_operands,
            partial_ranges: self.partial_ranges,
            dual_writes: self.dual_writes,
            past_deschedules: false,
            past_backward_branches: false,
            costs: Costs {
                main: level(table.mrf),
                orf: level(table.level(Level::Orf).unwrap_or_default()),
                lrf: last,
            },
        }
    }

    /// What it is, in the words of a list of designs.
    pub(super) fn describe(self) -> String {
        let entries = self.entries;
        let mut text = format!("ORF, {entries} {}", if entries == 1 { "entry" } else { "entries" });
        text.insert_str(
            0,
            match self.lrf {
                Lrf::None => "",
                Lrf::Unified => "unified LRF, ",
                Lrf::Split => "split LRF, ",
            },
        );
        for (off, label) in [
            (!self.forward_branches, ", within basic blocks"),
            (!self.read_operands, ", no read operands"),
            (!self.partial_ranges, ", no partial ranges"),
            (self.dual_writes == DualWrites::SameName, ", entries named after registers"),
            (self.dual_writes == DualWrites::LastResultOnly, ", two levels with the LRF only"),
            (self.dual_writes == DualWrites::Never, ", one level for each result"),
        ] {
            text += if off { label } else { "" };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{file, resolve};
    use strata_core::chip_power::STRAND_END_BITS;

    fn managed(name: &str) -> Managed {
        resolve(name).unwrap_or_else(|error| panic!("{name}: {error}")).managed.unwrap()
    }

    #[test]
    fn names_mean_what_the_rules_say() {
        assert_eq!(managed("diss-orf3"), Managed::new(3));
        assert_eq!(managed("diss-orf8-lrf-unified").lrf, Lrf::Unified);
        assert_eq!(managed("diss-orf1-lrf-split").lrf, Lrf::Split);
        let all = managed("diss-orf3-lrf-split-noforward-noreadoperands-nopartial-onelevel");
        assert!(!all.forward_branches && !all.read_operands && !all.partial_ranges);
        assert_eq!(all.dual_writes, DualWrites::Never);
        let design = resolve("diss-orf3-lrf-split").unwrap();
        assert!(design.organisation().levels().is_compiler_managed());
        assert_eq!(design.encoding_bits(), STRAND_END_BITS);
        assert_eq!(design.assumed, [SPLIT_NAMES]);
        assert!(resolve("diss-orf3-lrf-unified").unwrap().assumed.is_empty());
        assert_eq!(design.active_warps(), 8);
        assert!(resolve("diss-rfc3").unwrap().managed.is_none());
    }

    #[test]
    fn costs_are_banks_and_wires_of_tables_4_5_and_4_6() {
        let design = resolve("diss-orf3-lrf-split").unwrap();
        let config = managed("diss-orf3-lrf-split").config(&design.energy.unwrap());
        let costs = config.costs;
        let access = |read, write, beside_main| AccessCosts { read, write, beside_main };
        assert_eq!((costs.main.private.read, costs.main.private.write), (15_600, 18_600));
        assert_eq!(costs.orf.private, access(2_720, 5_920, 4_400));
        assert_eq!(costs.orf.shared, access(4_240, 7_440, 4_400));
        assert_eq!(costs.lrf.unwrap().private, access(1_080, 2_380, 2_000));
        assert_eq!(config.check(), Ok(()));
        let text = "base = \"diss-orf3-lrf-split\"\nwire_charge = \"each-trip\"\n";
        let each = file::parse("d.toml", text).unwrap();
        let costs = each.managed.unwrap().config(&each.energy.unwrap()).costs;
        assert_eq!(costs.orf.shared, access(4_240, 7_440, 7_440));
        assert_eq!(costs.lrf.unwrap().private, access(1_080, 2_380, 2_380));
        let two = resolve("diss-orf3").unwrap();
        assert_eq!(managed("diss-orf3").config(&two.energy.unwrap()).costs.lrf, None);
    }

    #[test]
    fn other_names_are_no_designs() {
        for name in [
            "diss-orf0",
            "diss-orf9",
            "diss-orf03",
            "isca11-orf3",
            "diss-orf3-lrf",
            "diss-orf3-lrf-both",
            "diss-orf3-nopartial-noforward",
            "diss-orf3-lrf-splitter",
        ] {
            let error = resolve(name).unwrap_err();
            let hint = error.hint().unwrap_or_default().to_owned();
            assert!(hint.contains("strata designs"), "{name}: {error} {hint}");
        }
    }
}
