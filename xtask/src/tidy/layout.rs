//! Rules about which files there are.

use std::collections::BTreeSet;

use super::repository::{Repository, Violation};

/// Where the workloads live, one folder each.
const WORKLOADS: &str = "host-cli/workloads/";
/// What each of them consists of: source, what a real compiler made of it, how it is launched.
const WORKLOAD_FILES: [&str; 3] = ["kernel.cu", "kernel.ptx", "launch.toml"];

/// The folders of the workloads, by name.
pub(crate) fn workload_names(repository: &Repository) -> BTreeSet<String> {
    repository
        .files
        .iter()
        .filter_map(|file| file.path.strip_prefix(WORKLOADS)?.split_once('/'))
        .filter(|(name, _)| *name != "src")
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// A workload without one of its files.
pub(crate) fn workloads(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for name in workload_names(repository) {
        for file in WORKLOAD_FILES {
            let path = format!("{WORKLOADS}{name}/{file}");
            if repository.file(&path).is_none_or(|file| file.text.trim().is_empty()) {
                found.push(Violation::of(&path, format!("missing: workload `{name}` needs it")));
            }
        }
    }
    found
}

/// The licences, and a phrase that shows that the text is the right one and whole.
const LICENCES: &[(&str, &str, &str)] = &[
    ("LICENSE-MIT", "Permission is hereby granted, free of charge", "DEALINGS IN THE"),
    ("LICENSE-APACHE", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"),
    ("host-cli/recordings/LICENSE", "Copyright (c) 2017 yaotsu", "DEALINGS IN THE"),
];

/// A licence that is absent or cut off.
pub(crate) fn licences(repository: &Repository) -> Vec<Violation> {
    LICENCES
        .iter()
        .filter(|(path, first, last)| {
            repository
                .file(path)
                .is_none_or(|file| !file.text.contains(first) || !file.text.contains(last))
        })
        .map(|(path, ..)| Violation::of(path, "missing or incomplete"))
        .collect()
}

/// A crate of the workspace without the shared lints, or with another licence.
pub(crate) fn manifests(repository: &Repository) -> Vec<Violation> {
    let Some(workspace) = repository.file("Cargo.toml") else {
        return vec![Violation::of("Cargo.toml", "missing")];
    };
    let mut found = Vec::new();
    for member in members(&workspace.text) {
        let path = format!("{member}/Cargo.toml");
        let Some(manifest) = repository.file(&path) else {
            found.push(Violation::of(&path, "missing: a member of the workspace"));
            continue;
        };
        for needed in ["[lints]\nworkspace = true", "license.workspace = true"] {
            if !manifest.text.contains(needed) {
                found.push(Violation::of(&path, format!("lacks `{}`", needed.replace('\n', " "))));
            }
        }
    }
    found
}

/// The strings of the workspace's `members = [..]`.
fn members(workspace: &str) -> Vec<&str> {
    let Some((_, rest)) = workspace.split_once("\nmembers = [") else { return Vec::new() };
    let Some((list, _)) = rest.split_once(']') else { return Vec::new() };
    list.split('"').skip(1).step_by(2).collect()
}

/// The crates that say themselves that they hold no unsafe code: the workspace can only deny it.
const MODEL_CRATES: [&str; 18] = [
    "core",
    "host-cli/board",
    "host-cli/config",
    "host-cli/design",
    "host-cli/figures",
    "host-cli/files",
    "host-cli/machine-code",
    "host-cli/ptx",
    "host-cli/compiler",
    "host-cli/measure",
    "host-cli/report",
    "host-cli/simt",
    "host-cli/strata",
    "host-cli/study",
    "host-cli/trace",
    "host-cli/workload",
    "fpga-softcore/firmware",
    "fpga-softcore/link",
];

/// A crate of the model that could hold unsafe code.
pub(crate) fn model_crates_forbid_unsafe(repository: &Repository) -> Vec<Violation> {
    MODEL_CRATES
        .iter()
        .map(|folder| format!("{folder}/src/lib.rs"))
        .filter(|path| {
            let forbids = |line: &str| line == "#![forbid(unsafe_code)]";
            repository.file(path).is_none_or(|file| !file.text.lines().any(forbids))
        })
        .map(|path| Violation::of(&path, "lacks `#![forbid(unsafe_code)]`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_without_one_of_its_files_is_found() {
        let all = [
            ("host-cli/workloads/bfs/kernel.cu", "x"),
            ("host-cli/workloads/bfs/kernel.ptx", "x"),
            ("host-cli/workloads/bfs/launch.toml", "x"),
        ];
        assert!(workloads(&Repository::of(&all)).is_empty());
        for without in 0..all.len() {
            let mut files = all.to_vec();
            let (path, _) = files.remove(without);
            files.push(("host-cli/workloads/bfs/README.md", "x"));
            let found = workloads(&Repository::of(&files));
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].path, path);
        }
        let mut empty = all;
        empty[1].1 = "\n";
        assert_eq!(workloads(&Repository::of(&empty)).len(), 1);
    }

    #[test]
    fn a_licence_that_is_absent_or_cut_off_is_found() {
        let whole: Vec<String> =
            LICENCES.iter().map(|(_, first, last)| format!("{first}\n{last}\n")).collect();
        let paths = LICENCES.iter().map(|(path, ..)| *path);
        let files: Vec<_> = paths.zip(whole.iter().map(String::as_str)).collect();
        assert!(licences(&Repository::of(&files)).is_empty());
        assert_eq!(licences(&Repository::default()).len(), LICENCES.len());
        let cut: Vec<_> = LICENCES.iter().map(|(path, first, _)| (*path, *first)).collect();
        assert_eq!(licences(&Repository::of(&cut)).len(), LICENCES.len());
    }

    #[test]
    fn a_member_without_lints_or_licence_is_found() {
        let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"core\", \"xtask\"]\n";
        let good = "license.workspace = true\n\n[lints]\nworkspace = true\n";
        let of = |core, xtask| {
            manifests(&Repository::of(&[
                ("Cargo.toml", workspace),
                ("core/Cargo.toml", core),
                ("xtask/Cargo.toml", xtask),
            ]))
        };
        assert!(of(good, good).is_empty());
        assert_eq!(of(good, "license.workspace = true\n").len(), 1);
        assert_eq!(of("[lints]\nworkspace = true\n", good).len(), 1);
        assert_eq!(manifests(&Repository::of(&[("Cargo.toml", workspace)])).len(), 2);
    }

    #[test]
    fn a_model_crate_that_may_be_unsafe_is_found() {
        let good = "//! Doc.\n#![forbid(unsafe_code)]\n";
        let paths = MODEL_CRATES.map(|folder| format!("{folder}/src/lib.rs"));
        let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), good)).collect();
        assert!(model_crates_forbid_unsafe(&Repository::of(&files)).is_empty());
        files[2].1 = "//! Doc.\n// #![forbid(unsafe_code)]\n";
        assert_eq!(model_crates_forbid_unsafe(&Repository::of(&files)).len(), 1);
    }
}
