//! The register file cache: `[RFC2011]` Figures 2, 6 to 8, 11 and 12, Table 5; `[DISS]` chapter 5.

use super::panel::{
    at, by_workload, energy_part, entries, mean_place, panel, ratio, same, workloads,
};
use super::plate::{Needs, Plate, counted};
use crate::reproduce::figure::{Band, Figure, Kind, Series};
use crate::reproduce::lab::{Lab, Runs, Wanted};
use strata_files::failure::Failure;
use strata_study::exact;

const COUNTED: Runs = Runs::Counted;
const ENTRIES: std::ops::RangeInclusive<u8> = 1..=13;
const READS: &str = "mrf_reads_avoided_percent";
const WRITES: &str = "mrf_writes_avoided_percent";
const ENERGY: &str = "energy_relative_percent";
const AVOIDED: &str = "MRF accesses avoided (%)";
const ENTRIES_AXIS: &str = "RFC entries for each thread";
const ENERGY_AXIS: &str = "register file energy (% of flat)";
/// Sizes and active warps of the energy grid.
const GRID: [u8; 3] = [4, 6, 8];

pub(super) const PLATES: &[Plate] = &[
    Plate { id: "value-usage", needs: || counted(["isca11"]), draw: value_usage },
    Plate {
        id: "rfc-one-level",
        needs: || counted(ENTRIES.flat_map(|size| [plain(size, "-single"), live(size, "-single")])),
        draw: |lab| avoided_by_size(lab, "-single"),
    },
    Plate {
        id: "rfc-two-levels",
        needs: || counted(ENTRIES.flat_map(|size| [plain(size, ""), live(size, "")])),
        draw: |lab| avoided_by_size(lab, ""),
    },
    Plate {
        id: "rfc-one-level-workloads",
        needs: || counted([plain(6, "-single"), live(6, "-single")]),
        draw: |lab| avoided_by_workload(lab, "-single"),
    },
    Plate {
        id: "rfc-two-levels-workloads",
        needs: || counted([plain(6, ""), live(6, "")]),
        draw: |lab| avoided_by_workload(lab, ""),
    },
    Plate {
        id: "rfc-replacement",
        needs: || counted(ENTRIES.flat_map(|n| ["", "-lru"].map(|of| policy(n, of)))),
        draw: replacement,
    },
    Plate {
        id: "rfc-allocation",
        needs: || counted(ENTRIES.flat_map(|n| [policy(n, ""), reads(n)])),
        draw: allocation,
    },
    Plate { id: "rfc-energy-grid", needs: energy_grid_designs, draw: energy_grid },
    Plate { id: "rfc-energy-wires", needs: wires_designs, draw: wires },
    Plate {
        id: "rfc-energy-liveness",
        needs: || counted((1..=8).flat_map(|n| ["-nolive", ""].map(|of| hardware(n, of)))),
        draw: energy_with_liveness,
    },
    Plate {
        id: "rfc-energy-parts",
        needs: || counted((1..=8).map(|n| hardware(n, ""))),
        draw: energy_parts,
    },
];

fn plain(entries: u8, suffix: &str) -> String {
    format!("isca11-rfc{entries}-nolive{suffix}")
}

fn live(entries: u8, suffix: &str) -> String {
    format!("isca11-rfc{entries}{suffix}")
}

fn policy(entries: u8, policy: &str) -> String {
    format!("isca11-rfc{entries}{policy}-single")
}

fn reads(entries: u8) -> String {
    format!("isca11-rfc{entries}-single-reads")
}

fn hardware(entries: u8, suffix: &str) -> String {
    format!("diss-rfc{entries}{suffix}")
}

/// The means of a ratio under the design of each size.
fn sweep(lab: &Lab<'_>, name: &str, key: &str, design: impl Fn(u8) -> String) -> Series {
    Series::ours(name, ENTRIES.map(|size| lab.mean(COUNTED, &design(size), key)))
}

fn value_usage(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let of = |name: &str, of: &dyn Fn(&str) -> Vec<(f64, &'static str)>| {
        let parts = of(name);
        by_workload(name, lab.of(COUNTED, "isca11"), |report| {
            parts.iter().map(|(sign, key)| Some(sign * ratio(report, key)?)).sum::<Option<f64>>()
        })
    };
    let once = "values_read_once_percent";
    let within = "values_read_once_within_3_instructions_percent";
    let next = "values_read_once_after_1_instruction_percent";
    let axis = ("workload", "values (%)");
    let command = "strata run --design isca11 --format csv";
    let reads = Figure {
        series: vec![
            of("read once", &|_| vec![(1.0, once)]),
            of("twice", &|_| vec![(1.0, "values_read_twice_percent")]),
            of("more often", &|_| vec![(1.0, "values_read_over_2_times_percent")]),
            of("never", &|_| vec![(1.0, "values_never_read_percent")]),
        ],
        bands: vec![Band::of("values-read-once", mean_place(), same)?],
        reading:
            "Most values are read once, so that a small buffer behind the ALUs can serve them. \
                  The band is what the papers print of their own traces."
                .to_owned(),
        command: command.to_owned(),
        ..panel("How often values are read", Kind::Stacked, axis, workloads())
    };
    let lifetimes = Figure {
        series: vec![
            of("by the next instruction", &|_| vec![(1.0, next)]),
            of("2 or 3 instructions later", &|_| vec![(1.0, within), (-1.0, next)]),
            of("later", &|_| vec![(1.0, once), (-1.0, within)]),
        ],
        bands: vec![Band::of("values-read-soon", mean_place(), same)?],
        reading: "Of the values that are read once, most are read at once or within three \
                  instructions; the band is the papers' share of these two."
            .to_owned(),
        command: command.to_owned(),
        ..panel("When values that are read once are read", Kind::Stacked, axis, workloads())
    };
    Ok(vec![reads, lifetimes])
}

fn avoided_by_size(lab: &Lab<'_>, suffix: &str) -> Result<Vec<Figure>, Failure> {
    let (title, bands, reading, level) = match suffix {
        "" => (
            "MRF accesses avoided by the RFC below a two-level scheduler",
            vec![
                Band::of("two-level-reads", at(6), same)?,
                Band::of("two-level-writes-plain", at(6), same)?,
                Band::of("two-level-writes", at(6), same)?,
            ],
            "Flushing the cache when a warp leaves the active set costs about ten points, and \
             larger caches gain little.",
            "",
        ),
        _ => (
            "MRF accesses avoided by the RFC, all warps active",
            vec![
                Band::of("single-reads", at(6), same)?,
                Band::of("single-writes", at(6), same)?,
                Band::of("single-13-reads", at(13), same)?,
                Band::of("single-13-writes", at(13), same)?,
            ],
            "The knee is near six entries; liveness spares the writebacks of dead values.",
            ",scheduling=single-level",
        ),
    };
    Ok(vec![Figure {
        series: vec![
            sweep(lab, "reads", READS, |size| live(size, suffix)),
            sweep(lab, "writes, no liveness", WRITES, |size| plain(size, suffix)),
            sweep(lab, "writes, liveness", WRITES, |size| live(size, suffix)),
        ],
        bands,
        reading: reading.to_owned(),
        command: format!(
            "strata sweep --design isca11-rfc6{level} --vary cache.entries=1..13 \
             --vary cache.liveness=true,false --out sweep"
        ),
        ..panel(title, Kind::Lines, (ENTRIES_AXIS, AVOIDED), entries(ENTRIES))
    }])
}

fn avoided_by_workload(lab: &Lab<'_>, suffix: &str) -> Result<Vec<Figure>, Failure> {
    let of = |name: &str, design: &str, key: &str| {
        by_workload(name, lab.of(COUNTED, design), |report| ratio(report, key))
    };
    let (title, ids) = match suffix {
        "" => (
            "MRF accesses avoided by workload, 6 entries, two-level scheduler",
            ["two-level-reads", "two-level-writes"],
        ),
        _ => (
            "MRF accesses avoided by workload, 6 entries, all warps active",
            ["single-reads", "single-writes"],
        ),
    };
    let bands = ids.map(|id| Band::of(id, mean_place(), same));
    let (own, without) = (live(6, suffix), plain(6, suffix));
    Ok(vec![Figure {
        series: vec![
            of("reads", &own, READS),
            of("writes, no liveness", &without, WRITES),
            of("writes, liveness", &own, WRITES),
        ],
        bands: bands.into_iter().collect::<Result<_, _>>()?,
        reading:
            "Workloads differ far more than designs do: tight loops around loads gain least. The \
                  papers have a point for each of their traces, which are other programs."
                .to_owned(),
        command: format!("strata run --design {own} --design {without}"),
        ..panel(title, Kind::Bars, ("workload", AVOIDED), workloads())
    }])
}

fn replacement(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let of = |name: &str, key: &str, of: &'static str| sweep(lab, name, key, |n| policy(n, of));
    Ok(vec![Figure {
        series: vec![
            of("reads, FIFO", READS, ""),
            of("reads, LRU", READS, "-lru"),
            of("writes, FIFO", WRITES, ""),
            of("writes, LRU", WRITES, "-lru"),
        ],
        reading:
            "FIFO and LRU differ by a few percent of the accesses; the papers print 1 to 3 % for \
                  LRU, the dissertation only above 6 entries."
                .to_owned(),
        command: "strata sweep --design isca11-rfc6-single --vary cache.entries=1..13 \
                  --vary cache.replacement=fifo,lru --out sweep"
            .to_owned(),
        ..panel("FIFO and LRU", Kind::Lines, (ENTRIES_AXIS, AVOIDED), entries(ENTRIES))
    }])
}

fn allocation(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    Ok(vec![Figure {
        series: vec![
            sweep(lab, "reads, results only", READS, |n| policy(n, "")),
            sweep(lab, "reads, operands too", READS, reads),
            sweep(lab, "writes, results only", WRITES, |n| policy(n, "")),
            sweep(lab, "writes, operands too", WRITES, reads),
        ],
        reading:
            "Allocating operands that missed pays for reads with large caches, and pushes results \
                  out of small ones."
                .to_owned(),
        command: "strata run --design isca11-rfc6-single --design isca11-rfc6-single-reads"
            .to_owned(),
        ..panel(
            "Allocating results, and operands too",
            Kind::Lines,
            (ENTRIES_AXIS, AVOIDED),
            entries(ENTRIES),
        )
    }])
}

/// Wires of no length: the papers' Figure 12 has accesses only.
const NO_WIRES: &str = "[wires]\nmrf_private = \"0 mm\"\nmrf_shared = \"0 mm\"\n\
                        rfc_private = \"0 mm\"\nrfc_shared = \"0 mm\"\n";

fn grid_name(entries: u8, active: u8) -> String {
    format!("isca11-rfc{entries}-{active}active-nowires")
}

fn energy_grid_designs() -> Needs {
    let design = |entries: u8, active: u8| {
        let text = format!("base = \"isca11-rfc{entries}\"\nactive_warps = {active}\n{NO_WIRES}");
        (COUNTED, Wanted::file(grid_name(entries, active), text))
    };
    GRID.into_iter().flat_map(|size| GRID.map(|active| design(size, active))).collect()
}

fn energy_grid(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let series = GRID.map(|active| {
        let of = |entries: u8| lab.mean(COUNTED, &grid_name(entries, active), ENERGY);
        Series::ours(format!("{active} active warps"), GRID.map(of))
    });
    Ok(vec![Figure {
        series: series.into(),
        bands: vec![Band::of("energy-without-wires", [1, 1], same)?],
        reading:
            "Without wires a cache of 6 entries for each of 8 active warps saves a quarter; fewer \
                  active warps make it smaller and cheaper. The printed number is that of 8 warps."
                .to_owned(),
        command: "strata sweep --design isca11-rfc6 --vary cache.entries=4,6,8 \
                  --vary active_warps=4,6,8 --out sweep"
            .to_owned(),
        ..panel(
            "Access energy by entries and active warps",
            Kind::Bars,
            (ENTRIES_AXIS, ENERGY_AXIS),
            GRID.map(|size| size.to_string()).into(),
        )
    }])
}

fn wire_name(mrf: f64, rfc: f64) -> String {
    let millimetres = |distance: f64| distance.to_string().replace('.', "_");
    format!("isca11-rfc6-wires-{}-{}", millimetres(mrf), millimetres(rfc))
}

fn wires_designs() -> Needs {
    let design = |(mrf, rfc): (f64, f64)| {
        let text = format!(
            "base = \"isca11-rfc6\"\n[wires]\nmrf_private = \"{mrf} mm\"\nmrf_shared = \"{mrf} \
             mm\"\nrfc_private = \"{rfc} mm\"\nrfc_shared = \"{rfc} mm\"\n"
        );
        (COUNTED, Wanted::file(wire_name(mrf, rfc), text))
    };
    exact::printed::access_and_wire().map(|row| design(row.distances_mm)).collect()
}

fn wires(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let rows: Vec<_> = exact::printed::access_and_wire().collect();
    let tick = |(mrf, rfc): (f64, f64)| format!("MRF {mrf} mm, RFC {rfc} mm");
    let ours = rows.iter().map(|row| {
        let (mrf, rfc) = row.distances_mm;
        lab.mean(COUNTED, &wire_name(mrf, rfc), ENERGY)
    });
    let printed = |of: fn(&exact::printed::AccessAndWire) -> f64| {
        rows.iter().map(move |row| Some(100.0 * of(row))).collect::<Vec<_>>()
    };
    Ok(vec![Figure {
        series: vec![
            Series::ours("ours", ours),
            Series::printed("compute traces", printed(|row| row.compute)),
            Series::printed("shader traces", printed(|row| row.shaders)),
        ],
        reading:
            "A cache close to the ALUs saves wires as well as accesses. The row at 0.2 mm does not \
                  follow from the others in print (DEV-068)."
                .to_owned(),
        command:
            "strata sweep --design isca11-rfc6 --vary 'wires.mrf_private=0 mm|1 mm' --out sweep"
                .to_owned(),
        ..panel(
            "Access and wire energy, 8 active warps, 6 entries",
            Kind::Bars,
            ("distance to the ALUs", ENERGY_AXIS),
            rows.iter().map(|row| tick(row.distances_mm)).collect(),
        )
    }])
}

fn energy_with_liveness(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let of = |name: &str, suffix: &'static str| {
        Series::ours(name, (1..=8).map(|n| lab.mean(COUNTED, &hardware(n, suffix), ENERGY)))
    };
    Ok(vec![Figure {
        series: vec![of("hardware alone", "-nolive"), of("with liveness", "")],
        reading:
            "Liveness spares the energy of writebacks; the dissertation says 10 to 20 % of the \
                  register file's, on its traces."
                .to_owned(),
        command: "strata sweep --design diss-rfc6 --vary cache.entries=1..8 \
                  --vary cache.liveness=true,false --out sweep"
            .to_owned(),
        ..panel(
            "Energy with and without liveness",
            Kind::Lines,
            (ENTRIES_AXIS, ENERGY_AXIS),
            entries(1..=8),
        )
    }])
}

fn energy_parts(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let parts: [(&str, &[&str]); 4] = [
        ("MRF access", &["mrf_bank"]),
        ("MRF wire", &["mrf_wire"]),
        ("RFC access", &["rfc_bank"]),
        ("RFC wire", &["rfc_wire"]),
    ];
    let series = parts.map(|(name, parts)| {
        let of = |n: u8| {
            let design = hardware(n, "");
            let all = lab.of(COUNTED, &design).map(|report| energy_part(report, parts));
            strata_report::table::mean(all)
        };
        Series::ours(name, (1..=8).map(of))
    });
    Ok(vec![Figure {
        series: series.into(),
        reading:
            "The more entries, the more of the energy is the cache's own. The dissertation finds a \
                  third of it in wires in the best design."
                .to_owned(),
        command: "strata run --design diss-rfc6 --format json".to_owned(),
        ..panel("Where the energy goes", Kind::Stacked, (ENTRIES_AXIS, ENERGY_AXIS), entries(1..=8))
    }])
}
