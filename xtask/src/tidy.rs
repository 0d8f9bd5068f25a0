//! The repository's own rules, which no compiler checks. Each is a function from the files to the
//! places that break it, with a test that breaks it.

mod crates;
mod deviations;
mod documents;
mod events;
mod imports;
mod layout;
mod lines;
mod registers;
pub(crate) mod repository;
mod rules;
mod terms;

use std::path::Path;

use crate::machine;
use crate::process::Failure;
use repository::{Repository, Violation};

/// One rule.
type Rule = fn(&Repository) -> Vec<Violation>;

/// All rules.
const RULES: &[Rule] = &[
    lines::long_files,
    lines::long_lines,
    lines::whitespace,
    lines::banned_words,
    lines::banned_phrases,
    lines::machine_paths,
    documents::source_keys,
    rules::rules_exist,
    terms::terms,
    documents::deviations_exist,
    documents::deviations_are_used,
    documents::deviations_are_complete,
    deviations::deviations_are_measured,
    documents::placeholders,
    documents::links,
    documents::changelog,
    events::event_tables,
    registers::register_map,
    registers::literal_fields,
    layout::workloads,
    layout::licences,
    layout::manifests,
    layout::model_crates_forbid_unsafe,
    crates::crates_are_in_the_table,
    imports::import_cycles,
];

/// Every violation, by file and line.
pub(crate) fn violations(repository: &Repository) -> Vec<Violation> {
    let mut found: Vec<Violation> = RULES.iter().flat_map(|rule| rule(repository)).collect();
    found.sort();
    found
}

/// Checks the files of this repository, and prints what breaks a rule.
pub(crate) fn check_repository() -> Result<(), Failure> {
    let repository = Repository::read(&machine::root())?;
    let found = violations(&repository);
    for violation in &found {
        println!("{violation}");
    }
    println!("{} files, {} rules, {} violations", repository.files.len(), RULES.len(), found.len());
    if found.is_empty() { Ok(()) } else { Err(Failure(format!("{} violations", found.len()))) }
}

/// The workloads' names: the folders of `host-cli/workloads`, in order.
pub(crate) fn workload_names(root: &Path) -> Vec<String> {
    let Ok(repository) = Repository::read(root) else { return Vec::new() };
    layout::workload_names(&repository).into_iter().collect()
}
