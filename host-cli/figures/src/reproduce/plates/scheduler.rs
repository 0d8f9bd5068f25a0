//! The two-level warp scheduler: `[RFC2011]` Figures 9 and 10, `[DISS]` Figure 2.7.

use super::panel::{panel, with_mean, workloads};
use super::plate::Plate;
use crate::reproduce::figure::{Band, Figure, Kind, Series};
use crate::reproduce::lab::Lab;
use strata_files::failure::Failure;
use strata_study::study::active_warps;

/// Sizes of the active set by workload; none is every warp.
const SIZES: [(&str, Option<u8>); 4] =
    [("4 active", Some(4)), ("6 active", Some(6)), ("8 active", Some(8)), ("all", None)];

pub(super) const PLATES: &[Plate] = &[
    Plate { id: "active-warps", needs: Vec::new, draw: by_size },
    Plate { id: "active-warps-workloads", needs: Vec::new, draw: by_workload },
];

/// What the order of a series is called.
fn order(series: &active_warps::Series) -> &'static str {
    if series.order == "ptx" { "in the order of the PTX" } else { "scheduled and renamed" }
}

fn by_size(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.active_warps()?;
    let curve = |series: &active_warps::Series| Series {
        deviations: Some(series.points.iter().map(|point| point.ipc_standard_deviation).collect()),
        ..Series::ours(order(series), series.points.iter().map(|point| point.ipc_mean))
    };
    let points = study.series.last().map_or(&[][..], |series| &series.points);
    let tick = |point: &active_warps::Point| {
        point.active_warps.map_or_else(|| "all".to_owned(), |warps| warps.to_string())
    };
    let place = points.iter().position(|point| point.active_warps == Some(6)).unwrap_or(0);
    let of_all = points.last().and_then(|point| point.ipc_mean).unwrap_or(0.0) / 100.0;
    let mut six = Band::of("ipc-6", [place, place], |percent| percent)?;
    six.range = six.range.map(|percent| percent * of_all);
    Ok(vec![Figure {
        series: study.series.iter().map(curve).collect(),
        bands: vec![six],
        reading: "Eight active warps of 32 are nearly as good as all once a compiler has moved \
                  loads away from their readers, as in the papers' traces; in the order of the \
                  PTX more warps are needed (DEV-020). The printed loss with 6 is drawn against \
                  the scheduled curve."
            .to_owned(),
        command: "strata study active-warps --order ptx,scheduled-renamed".to_owned(),
        ..panel(
            "IPC by the size of the active set, mean and standard deviation",
            Kind::Lines,
            ("active warps", "thread instructions in a cycle"),
            points.iter().map(tick).collect(),
        )
    }])
}

fn by_workload(lab: &Lab<'_>) -> Result<Vec<Figure>, Failure> {
    let study = lab.active_warps()?;
    let Some(series) = study.series.last() else {
        return Err(Failure::internal("the study of active warps has no series"));
    };
    let bars = SIZES.iter().filter_map(|(name, size)| {
        let point = series.points.iter().find(|point| point.active_warps == *size)?;
        let values = point.inputs.iter().map(|input| input.ipc).collect();
        Some(Series::ours(*name, with_mean(values)))
    });
    Ok(vec![Figure {
        series: bars.collect(),
        reading: format!(
            "Instructions {}. Few workloads lose with eight active warps, and some gain, because \
             fewer warps share what little parallelism their memory accesses have.",
            order(series)
        ),
        command: "strata study active-warps --active-warps 4,6,8,all --order scheduled-renamed \
                  --format csv"
            .to_owned(),
        ..panel(
            "IPC by workload",
            Kind::Bars,
            ("workload", "thread instructions in a cycle"),
            workloads(),
        )
    }])
}
