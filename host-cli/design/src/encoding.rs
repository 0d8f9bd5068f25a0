//! Encoding: the names that operand specifiers need when the compiler manages the register
//! hierarchy (`[DISS]` 6.5.5).
//!
//! Models: a partition of a specifier's names. One name is no register (a zero that is read, a
//! result that is not kept); others are registers of the main register file, entries of the operand
//! register file and of the last result file, and pairs of an upper level with a register, for what
//! is written to two levels at once (DEV-049).
//! Does not model: formats of instructions; wide operands whose words lie apart.

use strata_compiler::hierarchy::{DualWrites, Lrf};
use strata_core::chip_power::STRAND_END_BITS;
use strata_core::placement::LRF_BANKS;

use crate::Managed;

/// Source operands of an instruction, at most.
pub const SOURCES: u32 = LRF_BANKS as u32;
/// The name that is no register.
const NO_REGISTER: u32 = 1;

/// What a specifier can name beside registers of the main register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// Entries of the operand register file.
    pub orf: u32,
    /// Entries of the last result file.
    pub lrf: u32,
    /// Entries of the operand register file that can be named together with a register: with each.
    pub orf_pairs: u32,
    /// Entries of the last result file that can be named together with a register: with each.
    pub lrf_pairs: u32,
}

/// Names of a specifier by what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Names {
    /// No register.
    pub none: u32,
    /// A register of the main register file.
    pub mrf: u32,
    /// An entry of the operand register file.
    pub orf: u32,
    /// An entry of the last result file.
    pub lrf: u32,
    /// A register and an entry of the operand register file.
    pub orf_and_mrf: u32,
    /// A register and an entry of the last result file.
    pub lrf_and_mrf: u32,
}

impl Names {
    /// All of them.
    pub const fn total(&self) -> u32 {
        self.none + self.mrf + self.orf + self.lrf + self.orf_and_mrf + self.lrf_and_mrf
    }
}

/// Fewest bits that distinguish this many names.
pub const fn bits(names: u32) -> u32 {
    names.next_power_of_two().trailing_zeros()
}

/// Entries of the last result file that a result can be written to.
const fn banks(lrf: Lrf) -> u32 {
    match lrf {
        Lrf::None => 0,
        Lrf::Unified => 1,
        Lrf::Split => LRF_BANKS as u32,
    }
}

impl Specifier {
    /// Of a source operand. Which bank of a split last result file it reads follows from its place
    /// in the instruction. A first read that leaves its value above names the register and any
    /// entry.
    pub fn source(managed: &Managed) -> Self {
        let (orf, banks) = (u32::from(managed.entries), banks(managed.lrf));
        let fills = u32::from(managed.read_operands);
        Self { orf, lrf: banks.min(1), orf_pairs: fills * orf, lrf_pairs: fills * banks }
    }

    /// Of a result.
    pub fn destination(managed: &Managed) -> Self {
        let (orf, lrf) = (u32::from(managed.entries), banks(managed.lrf));
        let (orf_pairs, lrf_pairs) = match managed.dual_writes {
            DualWrites::Any => (orf, lrf),
            DualWrites::SameName => (1, lrf),
            DualWrites::LastResultOnly => (0, lrf),
            DualWrites::Never => (0, 0),
        };
        Self { orf, lrf, orf_pairs, lrf_pairs }
    }

    /// The names that it needs with this many registers in the main register file.
    pub const fn names(&self, registers: u32) -> Names {
        Names {
            none: NO_REGISTER,
            mrf: registers,
            orf: self.orf,
            lrf: self.lrf,
            orf_and_mrf: registers * self.orf_pairs,
            lrf_and_mrf: registers * self.lrf_pairs,
        }
    }

    /// Most registers of the main register file that it can name with this many bits.
    pub const fn registers(&self, bits: u32) -> u32 {
        let left = (1_u32 << bits).saturating_sub(NO_REGISTER + self.orf + self.lrf);
        left / (1 + self.orf_pairs + self.lrf_pairs)
    }
}

/// Bits that a hierarchy adds to every instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ExtraBits {
    /// In each of the source specifiers.
    pub source: u32,
    /// In the specifier of the result.
    pub destination: u32,
    /// To end a strand.
    pub strand_end: u32,
}

impl ExtraBits {
    /// With specifiers as they are; they name fewer registers.
    pub const NONE: Self = Self { source: 0, destination: 0, strand_end: STRAND_END_BITS };

    /// What a hierarchy adds to specifiers of this many bits for `registers` in the main register
    /// file.
    pub fn new(managed: &Managed, specifier_bits: u32, registers: u32) -> Self {
        let extra = |specifier: Specifier| {
            bits(specifier.names(registers).total()).saturating_sub(specifier_bits)
        };
        Self {
            source: extra(Specifier::source(managed)),
            destination: extra(Specifier::destination(managed)),
            strand_end: STRAND_END_BITS,
        }
    }

    /// Most registers of the main register file that specifiers of this width can name with them.
    pub fn registers(&self, managed: &Managed, specifier_bits: u32) -> u32 {
        let source = Specifier::source(managed).registers(specifier_bits + self.source);
        let destination = Specifier::destination(managed);
        source.min(destination.registers(specifier_bits + self.destination))
    }

    /// Of an instruction with as many source operands as there can be.
    pub const fn total(&self) -> u32 {
        SOURCES * self.source + self.destination + self.strand_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    fn managed(name: &str) -> Managed {
        resolve(name).unwrap_or_else(|error| panic!("{name}: {error}")).managed.unwrap()
    }

    /// Names by listing them, as obviously as possible.
    fn listed(managed: Managed, registers: u32, destination: bool) -> usize {
        let mut names = std::collections::BTreeSet::from([(None, None)]);
        let entries = u32::from(managed.entries);
        let uppers = || {
            let orf = (0..entries).map(|entry| ("orf", entry));
            let lrf = (0..banks(managed.lrf)).map(|bank| ("lrf", bank));
            orf.chain(lrf)
        };
        for register in 0..registers {
            names.insert((Some(register), None));
            for upper in uppers() {
                let named = match (managed.dual_writes, upper) {
                    _ if !destination => managed.read_operands,
                    (DualWrites::SameName, ("orf", entry)) => register % entries == entry,
                    (DualWrites::LastResultOnly, ("orf", _)) | (DualWrites::Never, _) => false,
                    _ => true,
                };
                if named {
                    names.insert((Some(register), Some(upper)));
                }
            }
        }
        for (level, number) in uppers() {
            // A source's own place says which bank it reads.
            let number = if level == "lrf" && !destination { 0 } else { number };
            names.insert((None, Some((level, number))));
        }
        names.len()
    }

    fn every_design() -> impl Iterator<Item = Managed> {
        let names = (1..=8).flat_map(|entries| {
            ["", "-lrf-unified", "-lrf-split"].into_iter().flat_map(move |lrf| {
                ["", "-noreadoperands"].into_iter().flat_map(move |reads| {
                    ["", "-samename", "-duallrf", "-onelevel"]
                        .map(|dual| format!("diss-orf{entries}{lrf}{reads}{dual}"))
                })
            })
        });
        names.map(|name| managed(&name))
    }

    #[test]
    fn names_are_as_many_as_a_list_has() {
        for managed in every_design() {
            for registers in [0, 1, 2, 7, 16, 63, 255] {
                let of = |specifier: Specifier| specifier.names(registers).total() as usize;
                let source = of(Specifier::source(&managed));
                assert_eq!(source, listed(managed, registers, false), "{managed:?}, {registers}");
                let destination = of(Specifier::destination(&managed));
                assert_eq!(destination, listed(managed, registers, true), "{managed:?}");
            }
        }
    }

    #[test]
    fn registers_left_are_the_most_that_fit() {
        for managed in every_design() {
            for specifier in [Specifier::source(&managed), Specifier::destination(&managed)] {
                for width in 5..=12 {
                    let most = specifier.registers(width);
                    let fits = |registers| specifier.names(registers).total() <= 1 << width;
                    assert!(fits(most) && !fits(most + 1), "{specifier:?}, {width} bits: {most}");
                }
            }
            for width in 5..=8 {
                let all = (1 << width) - NO_REGISTER;
                let extra = ExtraBits::new(&managed, width, all);
                let wide = [
                    (Specifier::source(&managed), extra.source),
                    (Specifier::destination(&managed), extra.destination),
                ];
                for (specifier, extra) in wide {
                    assert!(specifier.registers(width + extra) >= all);
                    assert!(extra == 0 || specifier.registers(width + extra - 1) < all);
                }
            }
        }
    }

    #[test]
    fn bits_tell_names_apart() {
        for (names, expected) in [(1, 0), (2, 1), (3, 2), (64, 6), (65, 7), (256, 8), (257, 9)] {
            assert_eq!(bits(names), expected, "{names}");
        }
    }

    /// `[DISS]` 6.5.5: one bit controls writes to a unified last result file, a split one needs
    /// more; only slight pressure on source specifiers.
    #[test]
    fn the_texts_statements_hold() {
        let own_names = |name: &str| {
            let managed = managed(name);
            (Specifier::source(&managed), Specifier::destination(&managed))
        };
        let doubled = |name: &str| 1 + own_names(name).1.lrf_pairs;
        assert_eq!(doubled("diss-orf3-lrf-unified-duallrf"), 2, "a bit");
        assert_eq!(doubled("diss-orf3-lrf-split-duallrf"), 4, "two bits");
        let (source, _) = own_names("diss-orf3-lrf-split-noreadoperands");
        assert_eq!(source.names(59).total(), 64, "4 of 63 registers are lost");
        assert_eq!(source.registers(6), 59);
    }

    #[test]
    fn the_best_design_by_hand() {
        let best = managed("diss-orf3-lrf-split");
        // One for none, 3 and 1 above, and each register alone or with one of 6 entries.
        let source = Specifier::source(&best).names(63);
        assert_eq!(
            (source.orf, source.lrf, source.orf_and_mrf, source.lrf_and_mrf),
            (3, 1, 189, 189)
        );
        assert_eq!(source.total(), 446);
        let destination = Specifier::destination(&best).names(63);
        assert_eq!(destination.total(), 448);
        let extra = ExtraBits::new(&best, 6, 63);
        assert_eq!((extra.source, extra.destination, extra.total()), (3, 3, 3 * 3 + 3 + 1));
        assert_eq!(ExtraBits::NONE.registers(&best, 6), 8);
        let plain = managed("diss-orf3-lrf-split-noreadoperands-onelevel");
        assert_eq!(ExtraBits::new(&plain, 6, 63).total(), 3 + 1 + 1);
        assert_eq!(ExtraBits::NONE.registers(&plain, 6), 57);
        assert_eq!(ExtraBits::new(&plain, 6, 57), ExtraBits::NONE);
        assert_eq!(ExtraBits::NONE.total(), resolve("diss-orf3").unwrap().encoding_bits());
    }
}
