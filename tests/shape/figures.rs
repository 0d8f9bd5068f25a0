//! The papers' figures, remade: their list, the one in the README, and that their values are those of
//! the pages. Set `STRATA_BLESS=1` to write the list and the drawing again.

use std::path::Path;

use strata_design as design;
use strata_figures::reproduce::figure::{Figure, Series};
use strata_figures::reproduce::{Reproduction, Selection, catalogue, page, run, svg};
use strata_measure::notes::Silent;
use strata_measure::options::{Mode, Scale};
use strata_workload as workload;

use crate::reports::{Reports, mean};
use crate::switch::is_on;

fn made(paper: &str, labels: &[&str]) -> Reproduction {
    let selection = Selection {
        papers: vec![paper.to_owned()],
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        explorer_alone: false,
    };
    run(&selection, Scale::Small, 0, &Silent).expect("the figures are made")
}

/// Compares a file with what is committed, or writes it where that is asked for.
fn hold_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    if is_on("STRATA_BLESS") {
        std::fs::write(&path, text).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{name} is out of date; STRATA_BLESS=1 renews it");
}

#[test]
fn the_list_of_figures_is_committed() {
    hold_file("docs/FIGURES.md", &catalogue::page());
}

#[test]
fn the_readmes_figure_is_the_one_that_is_made() {
    let made = made("dissertation", &["Figure 6.13"]);
    let [figure] = made.panels("levels-energy") else { panic!("one panel") };
    hold_file("docs/energy.svg", &svg::file(figure));
}

fn series<'a>(figure: &'a Figure, name: &str) -> &'a Series {
    let found = figure.series.iter().find(|series| series.name == name);
    found.unwrap_or_else(|| panic!("no series `{name}`"))
}

/// The figures' means, from reports that this test makes, not from the figures' lab.
#[test]
fn figures_have_the_values_of_reports() {
    let made = made("isca11", &["Figure 6", "Figure 7", "Table 5"]);
    let names = ["isca11-rfc6-single", "isca11-rfc6-nolive-single", "isca11-rfc6"];
    let designs = names.map(|name| design::resolve(name).expect("the design exists"));
    let reports = Reports::of(&designs);
    let of = |workload: &str, design: &str, key: &str| {
        reports.get(workload, design).derived[key].expect("a ratio")
    };
    let near = |own: Option<f64>, expected: f64| {
        assert!((own.expect("a value") - expected).abs() < 1e-6, "{own:?}, expected {expected}");
    };
    let [by_size] = made.panels("rfc-one-level") else { panic!("one panel") };
    assert_eq!(by_size.ticks.len(), 13);
    for (name, design, key) in [
        ("reads", names[0], "mrf_reads_avoided_percent"),
        ("writes, liveness", names[0], "mrf_writes_avoided_percent"),
        ("writes, no liveness", names[1], "mrf_writes_avoided_percent"),
    ] {
        near(series(by_size, name).values[5], mean(|workload| of(workload, design, key)));
    }
    let [by_workload] = made.panels("rfc-one-level-workloads") else { panic!("one panel") };
    for (place, workload) in workload::names().enumerate() {
        assert_eq!(by_workload.ticks[place], workload);
        let own = series(by_workload, "reads").values[place];
        near(own, of(workload, names[0], "mrf_reads_avoided_percent"));
    }
    // At the machine's own distances, the design of the registry.
    let [wires] = made.panels("rfc-energy-wires") else { panic!("one panel") };
    let place = wires.ticks.iter().position(|tick| tick == "MRF 1 mm, RFC 0.2 mm");
    let own = series(wires, "ours").values[place.expect("a row of Table 5")];
    near(own, mean(|workload| of(workload, names[2], "energy_relative_percent")));
}

/// Every panel has a value of ours at every place of its axis, or says none for a reason.
#[test]
fn every_figure_of_every_paper_has_values() {
    let mut panels = 0;
    for paper in catalogue::papers() {
        let made = made(&paper.key, &[]);
        for drawn in &made.drawn {
            assert!(!drawn.panels.is_empty(), "{}", drawn.id);
            for panel in &drawn.panels {
                check(drawn.id, panel);
                panels += 1;
            }
        }
        let text = page::page(&made);
        assert!(!text.contains("src=") && !text.contains("<link"), "nothing is fetched");
        for address in ["http://", "https://"].iter().flat_map(|scheme| text.split(scheme).skip(1))
        {
            assert!(address.starts_with("www.w3.org/2000/svg"), "{}", &address[..40]);
        }
        let ids: Vec<&str> = text
            .split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().expect("an end"))
            .collect();
        for (place, id) in ids.iter().enumerate() {
            assert!(!ids[..place].contains(id), "{}: id {id} is there twice", paper.key);
        }
        for link in text.split("href=\"#").skip(1) {
            let target = link.split('"').next().expect("an end");
            assert!(ids.contains(&target), "{}: no #{target}", paper.key);
        }
    }
    println!("{panels} panels");
    assert!(panels > 80, "{panels}");
}

fn check(id: &str, panel: &Figure) {
    let at = format!("{id}, {}", panel.title);
    assert!(!panel.reading.is_empty() && panel.command.starts_with("strata "), "{at}");
    let ours: Vec<&Series> = panel.series.iter().filter(|series| !series.printed).collect();
    for series in &panel.series {
        assert_eq!(series.values.len(), panel.ticks.len(), "{at}: {}", series.name);
    }
    // A kernel may not fit a design, and has no value there.
    let known: Vec<f64> =
        ours.iter().flat_map(|series| series.values.iter().flatten().copied()).collect();
    assert!(2 * known.len() >= ours.len() * panel.ticks.len(), "{at}: {known:?}");
    assert!(known.iter().all(|value| value.is_finite()), "{at}: {known:?}");
    for band in &panel.bands {
        assert!(band.places[0] <= band.places[1] && band.places[1] < panel.ticks.len(), "{at}");
        assert!(band.range[0] <= band.range[1], "{at}: {band:?}");
    }
    let csv = panel.columns();
    let bands: usize = panel.bands.iter().map(|band| band.places[1] - band.places[0] + 1).sum();
    assert_eq!(csv.rows.len(), panel.series.len() * panel.ticks.len() + bands, "{at}");
}

/// Values of cycle mode, in which `[WARRF]` Figure 6 is, from reports that this test makes.
#[test]
fn figures_in_time_have_the_values_of_reports() {
    let made = made("warrf", &["Figure 6"]);
    let designs =
        ["warrf-gtx480", "sttram"].map(|name| design::resolve(name).expect("the design exists"));
    let reports = Reports::in_mode(Mode::Cycle, &designs);
    let [figure] = made.panels("sttram-ipc") else { panic!("one panel") };
    for (place, workload) in workload::names().enumerate() {
        let cycles = |design: &str| reports.get(workload, design).counters["cycles"] as f64;
        let expected = 100.0 * cycles("warrf-gtx480") / cycles("sttram");
        let own = series(figure, "STT-RAM").values[place].expect("a value");
        assert!((own - expected).abs() < 1e-9, "{workload}: {own}, {expected}");
    }
}
