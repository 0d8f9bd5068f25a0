//! Catalogue: every figure and table of the five papers, and what becomes of it here.

use std::sync::LazyLock;

use serde::Deserialize;

use super::plates::{self, Plate};

/// A figure or table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its label in the paper: `Figure 6`.
    pub label: String,
    /// What it shows, in our words.
    pub shows: String,
    /// The plate that remakes it.
    pub plate: Option<String>,
    /// The figure of `strata exact` that recomputes it.
    pub exact: Option<String>,
    /// Why it is not made.
    pub absent: Option<String>,
}

/// What becomes of a figure or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<'a> {
    /// A plate has it.
    Drawn(&'a str),
    /// It follows from parameters: `strata exact` has it.
    Exact(&'a str),
    /// It is not made, for a reason.
    Absent(&'a str),
}

impl Entry {
    /// What becomes of it.
    pub fn status(&self) -> Status<'_> {
        match (&self.plate, &self.exact, &self.absent) {
            (Some(plate), ..) => Status::Drawn(plate),
            (None, Some(exact), _) => Status::Exact(exact),
            (None, None, absent) => Status::Absent(absent.as_deref().unwrap_or_default()),
        }
    }
}

/// A paper with its figures and tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Key: that of `data/papers.toml`.
    pub key: String,
    /// What it is about.
    pub title: String,
    /// In the paper's order.
    pub entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    paper: Vec<Paper>,
}

const TEXT: &str = include_str!("../../data/figures.toml");

/// The papers, in the order of their publication. A test reads the file.
pub fn papers() -> &'static [Paper] {
    static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
        toml::from_str::<Catalogue>(TEXT).map_or_else(|_| Vec::new(), |all| all.paper)
    });
    &PAPERS
}

/// The plate of a key.
pub fn plate(id: &str) -> Option<&'static Plate> {
    plates::all().find(|plate| plate.id == id)
}

/// The catalogue as a page of `docs/`.
pub fn page() -> String {
    use std::fmt::Write as _;
    let mut text = String::from(
        "# Figures and tables of the papers\n\n\
         Every figure and table of the five papers, and what becomes of it: drawn by `strata \
         reproduce`, recomputed\nexactly by `strata exact`, or not produced, and why. This page \
         is made from `host-cli/figures/data/figures.toml`; a test compares it.\n",
    );
    for paper in papers() {
        let _ = write!(
            text,
            "\n## {} (`{}`)\n\n| | shows | here |\n| --- | --- | --- |\n",
            paper.title, paper.key
        );
        for entry in &paper.entries {
            let here = match entry.status() {
                Status::Drawn(plate) => format!("`{plate}`"),
                Status::Exact(id) => format!("`strata exact`: `{id}`"),
                Status::Absent(why) => format!("not produced: {why}"),
            };
            let _ = writeln!(text, "| {} | {} | {here} |", entry.label, entry.shows);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use strata_study::exact;

    /// Labels that a paper has: figures or tables of a chapter, from 1 to the last.
    const LABELS: [(&str, &[(&str, u32)]); 5] = [
        ("isca11", &[("Figure ", 12), ("Table ", 5)]),
        (
            "dissertation",
            &[
                ("Figure 1.", 1),
                ("Figure 2.", 7),
                ("Figure 5.", 13),
                ("Figure 6.", 19),
                ("Figure 7.", 12),
                ("Table 2.", 2),
                ("Table 4.", 7),
                ("Table 6.", 1),
                ("Table 7.", 2),
            ],
        ),
        ("micro12", &[("Figure ", 11), ("Table ", 6)]),
        ("expars", &[("Figure ", 17), ("Table ", 4)]),
        ("warrf", &[("Figure ", 8), ("Table ", 2)]),
    ];

    #[test]
    fn every_label_of_every_paper_is_there_once() {
        assert!(
            toml::from_str::<Catalogue>(TEXT).is_ok(),
            "{:?}",
            toml::from_str::<Catalogue>(TEXT).err()
        );
        for (paper, (key, ranges)) in papers().iter().zip(LABELS) {
            assert_eq!(paper.key, key);
            let expected: BTreeSet<String> = ranges
                .iter()
                .flat_map(|(start, last)| (1..=*last).map(move |n| format!("{start}{n}")))
                .collect();
            let own: BTreeSet<String> =
                paper.entries.iter().map(|entry| entry.label.clone()).collect();
            assert_eq!(own, expected, "{key}");
            assert_eq!(own.len(), paper.entries.len(), "{key}: each once");
        }
        assert_eq!(papers().len(), LABELS.len());
    }

    #[test]
    fn every_entry_is_drawn_exact_or_absent_for_a_reason() {
        let exact: Vec<String> = exact::evaluate().into_iter().map(|figure| figure.id).collect();
        let mut drawn = BTreeSet::new();
        for entry in papers().iter().flat_map(|paper| &paper.entries) {
            let told = [&entry.plate, &entry.exact, &entry.absent];
            assert_eq!(told.iter().filter(|one| one.is_some()).count(), 1, "{}", entry.label);
            match entry.status() {
                Status::Drawn(id) => {
                    assert!(plate(id).is_some(), "{}: no plate `{id}`", entry.label);
                    drawn.insert(id);
                }
                Status::Exact(id) => assert!(exact.iter().any(|known| known == id), "{id}"),
                Status::Absent(why) => assert!(why.len() > 8, "{}", entry.label),
            }
        }
        let plates: BTreeSet<&str> = plates::all().map(|plate| plate.id).collect();
        assert_eq!(plates, drawn, "a plate belongs to a figure");
        assert_eq!(plates::all().count(), plates.len(), "each key once");
    }
}
