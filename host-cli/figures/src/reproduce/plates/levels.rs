//! Hierarchies of two and three levels, managed by hardware and by the compiler: `[DISS]` chapter
//! 6.

use super::panel::{
    at, by_workload, energy_part, entries, left, mean_place, panel, ratio, same, workloads,
};
use super::plate::{Needs, Plate, counted};
use crate::reproduce::figure::{Band, Figure, Kind, Series};
use crate::reproduce::lab::{Lab, Runs};
use strata_files::failure::Failure;
use strata_study::exact;

const COUNTED: Runs = Runs::Counted;
const ENTRIES: std::ops::RangeInclusive<u8> = 1..=8;
const FLAT: &str = "dissertation";
const ENTRIES_AXIS: &str = "ORF or RFC entries for each thread";
const ENERGY: &str = "energy_relative_percent";
const ENERGY_AXIS: &str = "register file energy (% of flat)";

/// Families of designs, `{}` for the entries, with what they are called.
const TWO_HARDWARE: &str = "diss-rfc{}";
const THREE_HARDWARE: &str = "diss-rfc{}-lrf";
const TWO_SOFTWARE: &str = "diss-orf{}";
const UNIFIED: &str = "diss-orf{}-lrf-unified";
const SPLIT: &str = "diss-orf{}-lrf-split";
const FAMILIES: [(&str, &str); 5] = [
    ("hardware, two levels", TWO_HARDWARE),
    ("hardware, three levels", THREE_HARDWARE),
    ("compiler, two levels", TWO_SOFTWARE),
    ("compiler, unified LRF", UNIFIED),
    ("compiler, split LRF", SPLIT),
];
/// What is off, from every optimisation to none.
const STEPS: [(&str, &str); 4] = [
    ("none", "-noforward-noreadoperands-nopartial"),
    ("forward branches", "-noreadoperands-nopartial"),
    ("read operands too", "-nopartial"),
    ("partial ranges too", ""),
];
/// What the encoding restricts.
const RESTRICTIONS: [(&str, &str); 3] =
    [("results in several levels", ""), ("only LRF and MRF", "-duallrf"), ("one", "-onelevel")];

/// Counters of accesses by level.
const MRF_READS: &[&str] = &["mrf_reads"];
const MIDDLE_READS: &[&str] = &["rfc_reads", "orf_reads"];
const LRF_READS: &[&str] = &["lrf_reads"];
/// Reads that move values down, which a flat register file has not.
const MOVES: &[&str] = &["rfc_writebacks", "lrf_evictions", "lrf_writebacks"];
const MRF_WRITES: &[&str] = &["mrf_writes"];
const MIDDLE_WRITES: &[&str] = &["rfc_writes", "orf_writes"];
const LRF_WRITES: &[&str] = &["lrf_writes"];

pub(super) const PLATES: &[Plate] = &[
    Plate {
        id: "two-levels-accesses",
        needs: || families(&[TWO_HARDWARE, TWO_SOFTWARE]),
        draw: |lab| accesses(lab, &[("RFC", TWO_HARDWARE), ("ORF", TWO_SOFTWARE)], false),
    },
    Plate {
        id: "three-levels-accesses",
        needs: || families(&[THREE_HARDWARE, SPLIT]),
        draw: |lab| accesses(lab, &[("RFC", THREE_HARDWARE), ("ORF", SPLIT)], true),
    },
    Plate { id: "levels-breakdown", needs: || families(&[UNIFIED, SPLIT]), draw: breakdown },
    Plate {
        id: "levels-energy",
        needs: || families(&FAMILIES.map(|(_, family)| family)),
        draw: energy,
    },
    Plate {
        id: "compiler-optimisations",
        needs: || counted(ENTRIES.flat_map(|n| STEPS.map(|(_, step)| sized(SPLIT, n) + step))),
        draw: optimisations,
    },
    Plate { id: "levels-energy-parts", needs: || families(&[SPLIT]), draw: energy_parts },
    Plate {
        id: "levels-energy-workloads",
        needs: || counted([sized(SPLIT, 3)]),
        draw: energy_by_workload,
    },
    Plate {
        id: "results-in-levels",
        needs: || counted(ENTRIES.flat_map(|n| RESTRICTIONS.map(|(_, of)| sized(SPLIT, n) + of))),
        draw: restrictions,
    },
    Plate { id: "mrf-reads", needs: || families(&[SPLIT]), draw: reads },
    Plate { id: "mrf-bandwidth", needs: || families(&[SPLIT]), draw: bandwidth },
];

/// The design of a family with so many entries.
fn sized(family: &str, entries: u8) -> String {
    family.replace("{}", &entries.to_string())
}

/// Every size of families, and the flat register file.
fn families(families: &[&str]) -> Needs {
    let sizes = families.iter().flat_map(|family| ENTRIES.map(|n| sized(family, n)));
    counted(sizes.chain([FLAT.to_owned()]))
}

/// Accesses of each size of a family, in percent of the flat register file's.
fn share(lab: &Lab<'_>, family: &str, counters: &[&str], of: &str) -> Vec<Option<f64>> {
    // A level that a design does not have has no counter.
    let value = |n: u8| {
        let design = sized(family, n);
        let report = lab.of(COUNTED, &design).next()?;
        let own: Vec<&str> =
            counters.iter().copied().filter(|&name| report.counters.contains_key(name)).collect();
        lab.share(COUNTED, (&design, &own), (FLAT, of))
    };
    ENTRIES.map(value).collect()
}

fn accesses(
    lab: &Lab<'_>,
    families: &[(&str, &str); 2],
    three: bool,
) -> Result<Vec<Figure>, Failure> {
    let levels = if three { "three" } else { "two" };
    let [hardware, _] = families;
    let panel_of = |what: &str, main: &[&str], middle: &[&str], last: &[&str], of: &str| {
        let mut series = Vec::new();
        for (name, family) in families {
            series
                .push(Series::ours(format!("MRF below the {name}"), share(lab, family, main, of)));
            series.push(Series::ours(*name, share(lab, family, middle, of)));
            if three {
                let name = format!("LRF above the {name}");
                series.push(Series::ours(name, share(lab, family, last, of)));
            }
        }
        if what == "Reads" {
            let moves = share(lab, hardware.1, MOVES, of);
            series.push(Series::ours("to move values down, RFC", moves));
        }
        Figure {
            series,
            reading: "A compiler that places values moves nothing down; hardware reads for every \
                      eviction and writeback. RFC is the hardware-managed cache, ORF what the \
                      compiler manages."
                .to_owned(),
            command: format!(
                "strata run --design {} --design {} --format csv",
                sized(families[0].1, 3),
                sized(families[1].1, 3)
            ),
            ..panel(
                &format!("{what} of {levels} levels"),
                Kind::Lines,
                (ENTRIES_AXIS, &format!("{} (% of flat)", what.to_lowercase())),
                entries(ENTRIES),
            )
        }
    };
    let mut reads = panel_of("Reads", MRF_READS, MIDDLE_READS, LRF_READS, "mrf_reads");
    if three {
        reads.bands =
            vec![Band::of("lrf-hardware", at(6), same)?, Band::of("lrf-unified", at(3), same)?];
    }
    let writes = panel_of("Writes", MRF_WRITES, MIDDLE_WRITES, LRF_WRITES, "mrf_writes");
    Ok(vec![reads, writes])
}

fn breakdown(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let mut panels = Vec::new();
    for (lrf, family) in [("unified", UNIFIED), ("split", SPLIT)] {
        for (what, of, levels) in [
            ("reads", "mrf_reads", [MRF_READS, MIDDLE_READS, LRF_READS]),
            ("writes", "mrf_writes", [MRF_WRITES, MIDDLE_WRITES, LRF_WRITES]),
        ] {
            let parts = ["MRF", "ORF", "LRF"].iter().zip(levels);
            panels.push(Figure {
                series: parts
                    .map(|(name, counters)| Series::ours(*name, share(lab, family, counters, of)))
                    .collect(),
                reading:
                    "What exceeds 100 % are writes to more than one level. A split LRF, with a \
                          bank for each operand, serves more reads than a unified one."
                        .to_owned(),
                command: format!("strata run --design {} --format csv", sized(family, 3)),
                ..panel(
                    &format!("{what} by level, {lrf} LRF"),
                    Kind::Stacked,
                    (ENTRIES_AXIS, &format!("{what} (% of flat)")),
                    entries(ENTRIES),
                )
            });
        }
    }
    Ok(panels)
}

fn mean_energy(lab: &Lab<'_>, family: &str, suffix: &str) -> Vec<Option<f64>> {
    ENTRIES.map(|n| lab.mean(COUNTED, &(sized(family, n) + suffix), ENERGY)).collect()
}

fn energy(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let series = FAMILIES.map(|(name, family)| Series::ours(name, mean_energy(lab, family, "")));
    Ok(vec![Figure {
        series: series.into(),
        bands: vec![
            Band::of("hardware-two-saving", at(3), left)?,
            Band::of("hardware-three-saving", at(6), left)?,
            Band::of("software-two-saving", at(3), left)?,
            Band::of("software-three-saving", at(3), left)?,
        ],
        reading: "Each level and each step from hardware to compiler saves energy, in the papers' \
                  order. Ours have their least with more entries than the printed ones, and \
                  compilers gain less over hardware (DEV-020, DEV-075)."
            .to_owned(),
        command: "strata run --design diss-rfc3 --design diss-orf3 --design diss-orf3-lrf-split"
            .to_owned(),
        ..panel(
            "Energy of register file organisations",
            Kind::Lines,
            (ENTRIES_AXIS, ENERGY_AXIS),
            entries(ENTRIES),
        )
    }])
}

fn optimisations(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let series = STEPS.map(|(name, step)| Series::ours(name, mean_energy(lab, SPLIT, step)));
    Ok(vec![Figure {
        series: series.into(),
        reading:
            "Strands past forward branches, operands that are only read, and parts of ranges: \
                  each lets the compiler keep more above the MRF. In print the three are worth \
                  6.6 % with 3 entries."
                .to_owned(),
        command: "strata run --design diss-orf3-lrf-split --design diss-orf3-lrf-split-nopartial"
            .to_owned(),
        ..panel(
            "What the compiler's optimisations save",
            Kind::Lines,
            (ENTRIES_AXIS, ENERGY_AXIS),
            entries(ENTRIES),
        )
    }])
}

/// Parts of the energy, from the largest level to the smallest.
const PARTS: [(&str, &[&str]); 6] = [
    ("MRF wire", &["mrf_wire"]),
    ("MRF access", &["mrf_bank"]),
    ("ORF wire", &["orf_wire"]),
    ("ORF access", &["orf_bank"]),
    ("LRF wire", &["lrf_wire"]),
    ("LRF access", &["lrf_bank"]),
];

fn energy_parts(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let series = PARTS.map(|(name, parts)| {
        let of = |n: u8| {
            let design = sized(SPLIT, n);
            let all = lab.of(COUNTED, &design).map(|report| energy_part(report, parts));
            strata_report::table::mean(all)
        };
        Series::ours(name, ENTRIES.map(of))
    });
    Ok(vec![Figure {
        series: series.into(),
        reading:
            "Most of what is left is the MRF's, half of it wires; the LRF costs next to nothing. \
                  The dissertation says two thirds, and less than 1 % for the LRF's wires."
                .to_owned(),
        command: "strata run --design diss-orf3-lrf-split --format json".to_owned(),
        ..panel(
            "Where the energy of the split LRF goes",
            Kind::Stacked,
            (ENTRIES_AXIS, ENERGY_AXIS),
            entries(ENTRIES),
        )
    }])
}

fn energy_by_workload(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let design = sized(SPLIT, 3);
    let part = |name: &str, parts: &[&str]| {
        by_workload(name, lab.of(COUNTED, &design), |report| energy_part(report, parts))
    };
    let printed = |name: &str, id: &str| {
        let place = workloads().iter().position(|workload| workload == name).unwrap_or(0);
        Band::of(id, [place, place], left)
    };
    Ok(vec![Figure {
        series: vec![
            part("access", &["mrf_bank", "orf_bank", "lrf_bank"]),
            part("wire", &["mrf_wire", "orf_wire", "lrf_wire"]),
        ],
        bands: vec![
            printed("reduction", "saving-reduction")?,
            printed("scalarprod", "saving-scalarprod")?,
            Band::of("software-three-saving", mean_place(), left)?,
        ],
        reading: "Loops around a load and a single FMA gain least, as in print.".to_owned(),
        command: format!("strata run --design {design}"),
        ..panel(
            "Energy by workload, 3 entries with a split LRF",
            Kind::Stacked,
            ("workload", ENERGY_AXIS),
            workloads(),
        )
    }])
}

fn restrictions(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let series = RESTRICTIONS.map(|(name, of)| Series::ours(name, mean_energy(lab, SPLIT, of)));
    Ok(vec![Figure {
        series: series.into(),
        reading:
            "An encoding that lets a result go to one level only costs energy; allowing it in the \
                  LRF and the MRF wins most of it back. In print 7 and 2 %."
                .to_owned(),
        command: "strata run --design diss-orf3-lrf-split --design diss-orf3-lrf-split-onelevel"
            .to_owned(),
        ..panel(
            "Results in one level and in several",
            Kind::Lines,
            (ENTRIES_AXIS, ENERGY_AXIS),
            entries(ENTRIES),
        )
    }])
}

fn reads(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let key = "mrf_reads_per_instruction";
    let flat = lab.mean(COUNTED, FLAT, key);
    let (printed, printed_flat) = exact::printed::mrf_reads();
    Ok(vec![Figure {
        series: vec![
            Series::ours("split LRF", ENTRIES.map(|n| lab.mean(COUNTED, &sized(SPLIT, n), key))),
            Series::ours("flat", ENTRIES.map(|_| flat)),
            Series::printed("paper, split LRF", printed.map(Some)),
            Series::printed("paper, flat", ENTRIES.map(|_| Some(printed_flat))),
        ],
        reading:
            "A hierarchy divides the reads of the main register file by two to three. Ours has \
                  more reads throughout, half of them words of 64-bit addresses (DEV-075)."
                .to_owned(),
        command: "strata run --design dissertation --design diss-orf3-lrf-split --format csv"
            .to_owned(),
        ..panel(
            "Reads of the main register file",
            Kind::Lines,
            (ENTRIES_AXIS, "reads for each instruction"),
            entries(ENTRIES),
        )
    }])
}

fn bandwidth(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let bins = [
        ("none", "mrf_operands_0_percent"),
        ("one", "mrf_operands_1_percent"),
        ("two", "mrf_operands_2_percent"),
        ("three", "mrf_operands_3_percent"),
        ("more", "mrf_operands_over_3_percent"),
    ];
    let mut ticks = vec!["flat".to_owned()];
    ticks.extend(entries(ENTRIES));
    let designs: Vec<String> =
        std::iter::once(FLAT.to_owned()).chain(ENTRIES.map(|n| sized(SPLIT, n))).collect();
    let series = bins.map(|(name, key)| {
        Series::ours(
            name,
            designs.iter().map(|design| {
                strata_report::table::mean(lab.of(COUNTED, design).map(|report| ratio(report, key)))
            }),
        )
    });
    Ok(vec![Figure {
        series: series.into(),
        bands: Vec::new(),
        reading:
            "Instructions by the operands that they read from the main register file, word by word \
                  (DEV-046). With a hierarchy few need more than one."
                .to_owned(),
        command: "strata run --design dissertation --design diss-orf3-lrf-split --format csv"
            .to_owned(),
        ..panel(
            "Operands from the main register file",
            Kind::Stacked,
            (ENTRIES_AXIS, "instructions (%)"),
            ticks,
        )
    }])
}
