//! Interpolation: energy of sizes that no table prints, from models that are fitted to all rows of
//! a paper's tables. A design asks for it with `missing_energy = "interpolated"`.
//!
//! Models: in an array of flip-flops each entry loads the lines that every access drives, so that
//! energy is a constant and a part for each entry. A bank of SRAM is square, so that its word and
//! bit lines grow with the square root of its capacity, and so do the wires to a register file. The
//! lines are fitted by least squares (`docs/DEVIATIONS.md`, DEV-160).
//! Does not model: leakage of other sizes; write pools, of which no table has two sizes.

use std::sync::LazyLock;

use strata_core::energy::{BankEnergy, WireLengths};
use strata_core::named;
use strata_core::units::Femtojoules;

use super::storage_technology::{self, StorageBank};
use super::technology::{NoEnergy, Technology};

named! {
    /// What becomes of energy that no table prints.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum MissingEnergy {
        /// The design has no energy, and a reason why.
        #[default]
        Unknown = "unknown",
        /// That of a model that is fitted to what is printed.
        Interpolated = "interpolated",
    }
}

/// The storage technology whose banks of SRAM say how energy grows with capacity.
const BANKS: &str = "diss-32nm";

/// An energy that no table prints, and what it is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpolated {
    /// The energy.
    pub bank: BankEnergy,
    /// The model and its residuals, as an assumption.
    pub how: String,
}

/// Energy along a size: a constant, and as much for each unit of the size. Unit: femtojoules.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    constant: f64,
    each: f64,
}

impl Line {
    /// The line with the least squares of its distances from energies at sizes; none if all sizes
    /// are one.
    fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (size, energy) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - size).powi(2)).sum();
        let both: f64 = points.iter().map(|point| (point.0 - size) * (point.1 - energy)).sum();
        (spread > 0.0).then(|| {
            let each = both / spread;
            Self { constant: energy - each * size, each }
        })
    }

    fn at(self, size: f64) -> f64 {
        self.constant + self.each * size
    }

    /// The largest share of an energy by which it misses one.
    fn residual(self, points: &[(f64, f64)]) -> f64 {
        let miss = |(size, energy): &(f64, f64)| (self.at(*size) - energy).abs() / energy;
        points.iter().map(miss).fold(0.0, f64::max)
    }
}

/// A row of a table: a size, and the energy of a read and a write.
type Row = (f64, [Femtojoules; 2]);

/// A read's and a write's line, and the points that they are fitted to.
struct Fitted {
    lines: [Line; 2],
    points: [Vec<(f64, f64)>; 2],
}

impl Fitted {
    fn of(rows: &[Row]) -> Option<Self> {
        let points = [0, 1].map(|access| {
            let point = |(size, row): &Row| (*size, row[access].0 as f64);
            rows.iter().map(point).collect::<Vec<_>>()
        });
        let [read, write] = [0, 1].map(|access| Line::fit(&points[access]));
        Some(Self { lines: [read?, write?], points })
    }

    /// A read and a write at a size, if both are positive.
    fn at(&self, size: f64) -> Option<[f64; 2]> {
        let energies = self.lines.map(|line| line.at(size));
        energies.iter().all(|energy| *energy > 0.0).then_some(energies)
    }

    /// The largest residual of both. Unit: percent.
    fn residual_percent(&self) -> f64 {
        let of = |access: usize| self.lines[access].residual(&self.points[access]);
        100.0 * f64::max(of(0), of(1))
    }

    fn is_beyond(&self, size: f64) -> bool {
        let sizes = self.points[0].iter().map(|point| point.0);
        !(sizes.clone().any(|other| other <= size) && sizes.clone().any(|other| other >= size))
    }
}

/// An array of a lane with as many entries for each of these warps: a register file cache, an
/// operand register file or, with one, a last result file.
///
/// # Errors
/// The technology prints fewer than two sizes, or the size is so far from them that the model has
/// nothing left.
pub fn array(
    technology: &Technology,
    (entries, active_warps): (u8, u8),
) -> Result<Interpolated, NoEnergy> {
    let rows = rows(technology);
    let size = u32::from(entries) * u32::from(active_warps);
    let none = || {
        NoEnergy(format!(
            "the sizes in {} do not suffice to interpolate an array of {size} entries",
            technology.source
        ))
    };
    let fitted = Fitted::of(&rows).ok_or_else(none)?;
    let energies = fitted.at(f64::from(size)).ok_or_else(none)?;
    let [read, write] = fitted.lines;
    let picojoules = |energy: f64| energy / 1000.0;
    let called = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    let how = format!(
        "{}: an array of {called} for each of {active_warps} warps costs for a read \
         {:.3} pJ and {:.4} pJ for each of its {size} entries, for a write {:.3} pJ and {:.4} pJ: \
         fitted to the {} sizes of {}, which it misses by up to {:.0} % (DEV-160)",
        verb(fitted.is_beyond(f64::from(size))),
        picojoules(read.constant),
        picojoules(read.each),
        picojoules(write.constant),
        picojoules(write.each),
        rows.len(),
        technology.source,
        fitted.residual_percent(),
    );
    Ok(Interpolated { bank: rounded(energies), how })
}

/// The arrays of a lane that a technology prints.
fn rows(technology: &Technology) -> Vec<Row> {
    let rows = technology.rfc.iter().chain(&technology.lrf);
    rows.map(|row| (f64::from(row.total_entries()), [row.read.0, row.write.0])).collect()
}

const fn verb(beyond: bool) -> &'static str {
    if beyond { "extrapolated" } else { "interpolated" }
}

fn rounded([read, write]: [f64; 2]) -> BankEnergy {
    let [read, write] = [read, write].map(|energy| Femtojoules(energy.round() as u64));
    BankEnergy { read, write }
}

/// Banks of SRAM by the square root of their capacity.
static SRAM: LazyLock<Fitted> = LazyLock::new(|| {
    let technology = storage_technology::built_in(BANKS)
        .expect("invariant: a test finds the storage technology of that name");
    let row = |bank: &StorageBank| {
        let size = f64::from(bank.capacity_kb).sqrt();
        (size, [bank.read.value.0, bank.write.value.0])
    };
    let rows: Vec<Row> = technology.banks.iter().map(row).collect();
    Fitted::of(&rows).expect("invariant: a test fits its banks, which have several sizes")
});

/// How a register file of another size than its table's compares with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resized {
    /// A bank of the table, and of this size. Unit: KB.
    banks_kb: [f64; 2],
}

impl Resized {
    /// `printed_kb` is the register file whose bank of `bank_kb` is printed; this one has as many
    /// banks.
    pub fn new((printed_kb, bank_kb): (u32, u32), bytes: u32) -> Self {
        let printed = f64::from(bank_kb);
        let ratio = f64::from(bytes) / (1024.0 * f64::from(printed_kb));
        Self { banks_kb: [printed, printed * ratio] }
    }

    /// A bank of this size, given that of the table.
    pub fn bank(self, printed: BankEnergy) -> BankEnergy {
        let [of_printed, of_this] =
            self.banks_kb.map(|kb| SRAM.lines.map(|line| line.at(kb.sqrt())));
        rounded([
            printed.read.0 as f64 * of_this[0] / of_printed[0],
            printed.write.0 as f64 * of_this[1] / of_printed[1],
        ])
    }

    /// Wires to it, given those to the table's.
    pub fn wires(self, printed: WireLengths) -> WireLengths {
        let [of_printed, of_this] = self.banks_kb;
        let longer = |um: u32| (f64::from(um) * (of_this / of_printed).sqrt()).round() as u32;
        WireLengths { private_um: longer(printed.private_um), shared_um: longer(printed.shared_um) }
    }

    /// The model and its residuals, as an assumption.
    pub fn how(self) -> String {
        let [of_printed, of_this] = self.banks_kb;
        format!(
            "interpolated: a bank of {of_this} KB of the main register file costs as much more \
             than the printed one of {of_printed} KB as banks do that grow with the square root of \
             their capacity, fitted to the {} banks of dissertation Table 4.7, which it misses by \
             up to {:.0} %; its wires are longer by the square root of the sizes' ratio (DEV-160)",
            SRAM.points[0].len(),
            SRAM.residual_percent(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::technology::technology;

    #[test]
    fn a_line_by_hand() {
        // Means 2 and 5; spread 2, products 4.
        let line = Line::fit(&[(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)]).unwrap();
        assert_eq!(line, Line { constant: 1.0, each: 2.0 });
        // Means 1 and 4, spread 2, products 3: 2.5 at 0, where 3 is given, and so on.
        let points = [(0.0, 3.0), (1.0, 3.0), (2.0, 6.0)];
        let line = Line::fit(&points).unwrap();
        assert_eq!(line, Line { constant: 2.5, each: 1.5 });
        assert!((line.residual(&points) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(Line::fit(&[(1.0, 3.0), (1.0, 5.0)]), None);
    }

    #[test]
    fn arrays_of_the_first_paper() {
        let isca = technology("isca11-40nm").unwrap();
        let of = |entries, warps| array(isca, (entries, warps)).unwrap();
        // Nine rows of 16, 24, 32, 24, 36, 48, 32, 48 and 64 entries: mean 36, spread 1872; reads
        // have a mean of 1.9667 pJ and products of 78.4, writes 5.9444 pJ and 253.2.
        let Interpolated { bank, how } = of(13, 8);
        assert!(
            how.starts_with("extrapolated: an array of 13 entries for each of 8 warps"),
            "{how}"
        );
        assert!(how.contains("9 sizes of ISCA'11 Tables 2 and 3"), "{how}");
        assert!(bank.read.0 > 3_400 && bank.write.0 > 10_900, "{bank:?}");
        assert!(of(5, 8).how.starts_with("interpolated"));
        // More entries never cost less.
        let all: Vec<_> = (1..=13).map(|entries| of(entries, 8).bank.read).collect();
        assert!(all.is_sorted(), "{all:?}");
    }

    #[test]
    fn every_technology_of_the_small_levels_has_a_fit() {
        for name in ["isca11-40nm", "dissertation-40nm", "expars-40nm"] {
            let fitted = Fitted::of(&rows(technology(name).unwrap())).unwrap();
            assert!(fitted.residual_percent() < 45.0, "{name}: {}", fitted.residual_percent());
        }
        assert!(SRAM.residual_percent() < 25.0, "{}", SRAM.residual_percent());
    }

    #[test]
    fn a_register_file_of_the_printed_size_is_the_printed_one() {
        let printed = BankEnergy { read: Femtojoules(8_000), write: Femtojoules(11_000) };
        let wires = WireLengths { private_um: 1000, shared_um: 2000 };
        let same = Resized::new((128, 4), 128 * 1024);
        assert_eq!((same.bank(printed), same.wires(wires)), (printed, wires));
        let four = Resized::new((128, 4), 512 * 1024);
        assert_eq!(four.wires(wires), WireLengths { private_um: 2000, shared_um: 4000 });
        assert!(four.bank(printed).read.0 > printed.read.0 && four.bank(printed).read.0 < 32_000);
        assert!(four.how().contains("a bank of 16 KB"), "{}", four.how());
    }
}
