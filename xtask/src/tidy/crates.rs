//! The table of crates in `docs/ARCHITECTURE.md`: every crate of the workspace, and what it stands
//! on.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::{Repository, Violation};

/// The page with the table.
const PAGE: &str = "docs/ARCHITECTURE.md";
/// What a row begins with: a crate's folder follows.
const ROW: &str = "| [`";

/// The crates of this repository that each of them needs, by their names.
type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// A row that says another thing than the manifests: of the crates that one needs, the table has
/// those that no other of them needs.
pub(crate) fn crates_are_in_the_table(repository: &Repository) -> Vec<Violation> {
    let manifests = repository.files.iter().filter_map(|file| {
        let folder = file.path.strip_suffix("/Cargo.toml")?;
        Some((folder, file.text.as_str()))
    });
    let manifests: BTreeMap<&str, &str> = manifests.collect();
    let needs: Needs<'_> =
        manifests.values().filter_map(|text| Some((name(text)?, needed(text)))).collect();
    let Some(page) = repository.file(PAGE) else { return vec![Violation::of(PAGE, "missing")] };
    let mut found = Vec::new();
    for (number, line) in page.lines().filter(|(_, line)| line.starts_with(ROW)) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let folder = cells[1].split('`').nth(1).unwrap_or_default();
        let Some(name) = manifests.get(folder).and_then(|text| name(text)) else {
            found.push(Violation::at(PAGE, number, format!("`{folder}` is no crate's folder")));
            continue;
        };
        let said: BTreeSet<&str> = cells
            .get(3)
            .map(|cell| cell.split('`').skip(1).step_by(2).collect())
            .unwrap_or_default();
        let nearest = nearest(name, &needs);
        if said != nearest {
            let all: Vec<String> = nearest.iter().map(|other| format!("`{other}`")).collect();
            let all = if all.is_empty() { "no other".to_owned() } else { all.join(", ") };
            let message = format!("`{name}` stands on {all}");
            found.push(Violation::at(PAGE, number, message));
        }
    }
    found
}

/// A crate's name.
fn name(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("name = \""))?;
    line.strip_suffix('"')
}

/// The crates of this repository that a crate is built of.
fn needed(manifest: &str) -> BTreeSet<&str> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, _)| name)
        .filter(|name| *name == "strata" || name.starts_with("strata-"))
        .collect()
}

/// Those that a crate needs and no other of them does.
fn nearest<'a>(name: &str, needs: &Needs<'a>) -> BTreeSet<&'a str> {
    let own = needs.get(name).cloned().unwrap_or_default();
    let through: BTreeSet<&str> = own.iter().flat_map(|other| below(other, needs)).collect();
    own.into_iter().filter(|other| !through.contains(other)).collect()
}

/// All that a crate needs, directly or through others.
fn below<'a>(name: &str, needs: &Needs<'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&str> = needs.get(name).into_iter().flatten().copied().collect();
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(needs.get(next).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &str) -> Vec<String> {
        let repository = Repository::of(&[
            (PAGE, table),
            ("a/Cargo.toml", "name = \"strata-a\"\n\n[dependencies]\nserde = \"1\"\n"),
            ("b/Cargo.toml", "name = \"strata-b\"\n\n[dependencies]\nstrata-a = { x }\n"),
            (
                "c/Cargo.toml",
                "name = \"strata-c\"\n\n[dependencies]\nstrata-a = { x }\nstrata-b = { x }\n\n\
                 [dev-dependencies]\nstrata-d = { x }\n",
            ),
        ]);
        crates_are_in_the_table(&repository).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_nearest_crates_are_in_a_row() {
        assert!(found("| [`a`](#a) | what | |\n| [`c`](#c) | what | `strata-b` |\n").is_empty());
        let both = found("| [`c`](#c) | what | `strata-a`, `strata-b` |\n");
        assert_eq!(both, [format!("{PAGE}:1: `strata-c` stands on `strata-b`")]);
        let none = found("\n| [`b`](#b) | what | |\n");
        assert_eq!(none, [format!("{PAGE}:2: `strata-b` stands on `strata-a`")]);
        let unknown = found("| [`z`](#z) | what | |\n");
        assert_eq!(unknown, [format!("{PAGE}:1: `z` is no crate's folder")]);
    }
}
