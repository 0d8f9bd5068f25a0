//! Reproduce: the figures and tables of the papers, remade from our workloads, beside what the
//! papers
//! print.
//!
//! [`catalogue`] lists every figure and table with what becomes of it; a plate ([`plates`]) makes
//! one
//! or several panels from a [`lab`], in which each input runs once for all of them. [`figure`] is a
//! panel; [`svg`] draws it, and [`page`] puts all of them into one page of [`html`] that needs
//! nothing else.
//! There an [`explorer`] counts under designs that the page's reader chooses.

pub mod catalogue;
pub mod explorer;
pub mod figure;
pub mod html;
pub mod lab;
pub mod page;
pub mod plates;
pub mod svg;
mod trends;

use std::collections::BTreeMap;

use catalogue::{Entry, Paper, Status};
use explorer::Explorer;
use figure::Figure;
use lab::{Lab, Runs, Wanted};
use strata_files::failure::Failure;
use strata_measure::notes::Notes;
use strata_measure::options::Scale;
pub use trends::{CLAIM_COLUMNS, ORDERS, Trends};

/// What a plate became.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The plate's key.
    pub id: &'static str,
    /// Its panels.
    pub panels: Vec<Figure>,
}

/// What was remade.
#[derive(Debug)]
pub struct Reproduction {
    /// Size of the inputs.
    pub scale: Scale,
    /// The papers, with the entries that were asked for.
    pub papers: Vec<(&'static Paper, Vec<&'static Entry>)>,
    /// Every plate that one of them is drawn from, once.
    pub drawn: Vec<Drawn>,
    /// The papers' claims beside our numbers; none unless all of all papers is asked for.
    pub trends: Option<Trends>,
    /// With the claims, or alone.
    pub explorer: Option<Explorer>,
}

impl Reproduction {
    /// The panels of a plate.
    pub fn panels(&self, id: &str) -> &[Figure] {
        self.drawn.iter().find(|drawn| drawn.id == id).map_or(&[], |drawn| &drawn.panels)
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Keys of papers; none means all.
    pub papers: Vec<String>,
    /// Labels of figures and tables; none means all.
    pub labels: Vec<String>,
    /// The explorer, and no paper.
    pub explorer_alone: bool,
}

impl Selection {
    /// The papers and entries that are asked for.
    ///
    /// # Errors
    /// A label that no paper of them has.
    pub fn entries(&self) -> Result<Vec<(&'static Paper, Vec<&'static Entry>)>, Failure> {
        if self.explorer_alone {
            return if self.labels.is_empty() { Ok(Vec::new()) } else { Err(no_figures()) };
        }
        let wanted = |paper: &&Paper| self.papers.is_empty() || self.papers.contains(&paper.key);
        let papers: Vec<&Paper> = catalogue::papers().iter().filter(wanted).collect();
        for label in &self.labels {
            let has = |paper: &&Paper| paper.entries.iter().any(|entry| entry.label == *label);
            if !papers.iter().any(has) {
                let keys: Vec<_> = papers.iter().map(|paper| paper.key.as_str()).collect();
                return Err(Failure::input(format!("no `{label}` in {}", keys.join(", "))).hint(
                    "docs/FIGURES.md lists all figures and tables; `--figure 6` is Figure 6",
                ));
            }
        }
        let entries = |paper: &'static Paper| {
            let asked =
                |entry: &&Entry| self.labels.is_empty() || self.labels.contains(&entry.label);
            (paper, paper.entries.iter().filter(asked).collect::<Vec<_>>())
        };
        let all = papers.into_iter().map(entries);
        Ok(all.filter(|(_, entries)| !entries.is_empty()).collect())
    }
}

fn no_figures() -> Failure {
    Failure::input("the explorer has no figures").hint("name a paper, or leave `--figure` out")
}

/// Remakes what is asked for, with inputs of a size.
///
/// # Errors
/// A label that is not known; a workload that does not run, which is a defect.
pub fn run(
    selection: &Selection,
    scale: Scale,
    jobs: usize,
    notes: &dyn Notes,
) -> Result<Reproduction, Failure> {
    let papers = selection.entries()?;
    let mut plates: Vec<&'static plates::Plate> = Vec::new();
    for entry in papers.iter().flat_map(|(_, entries)| entries) {
        if let Status::Drawn(id) = entry.status()
            && !plates.iter().any(|plate| plate.id == id)
        {
            plates.extend(catalogue::plate(id));
        }
    }
    let mut wanted: BTreeMap<Runs, Vec<Wanted>> = BTreeMap::new();
    for (runs, design) in plates.iter().flat_map(|plate| (plate.needs)()) {
        let designs = wanted.entry(runs).or_default();
        if !designs.contains(&design) {
            designs.push(design);
        }
    }
    let lab = Lab::new(scale, jobs, &wanted, notes)?;
    let draw =
        |plate: &&'static plates::Plate| Ok(Drawn { id: plate.id, panels: (plate.draw)(&lab)? });
    let drawn = plates.iter().map(draw).collect::<Result<_, Failure>>()?;
    let alone = selection.explorer_alone;
    let whole = selection.papers.is_empty() && selection.labels.is_empty() && !alone;
    let trends = whole.then(|| Trends::measured(scale, jobs, notes)).transpose()?;
    let explorer = (whole || alone).then(|| Explorer::new(jobs, notes)).transpose()?;
    Ok(Reproduction { scale, papers, drawn, trends, explorer })
}
