//! Rules that hold code and documents together: sources, deviations, the changelog.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::{File, Repository, Violation};

/// The list of sources.
const SOURCES: &str = "docs/sources.toml";
/// The list of departures from the sources.
const DEVIATIONS: &str = "docs/DEVIATIONS.md";
/// What changed.
const CHANGELOG: &str = "CHANGELOG.md";

/// A source key in a comment of code or data that `docs/sources.toml` does not define.
pub(crate) fn source_keys(repository: &Repository) -> Vec<Violation> {
    let Some(sources) = repository.file(SOURCES) else {
        return vec![Violation::of(SOURCES, "missing: the list of sources")];
    };
    let list: toml::Table = match sources.text.parse() {
        Ok(list) => list,
        Err(error) => return vec![Violation::of(SOURCES, error.to_string())],
    };
    let mut found: Vec<Violation> =
        list.iter().filter_map(|(key, source)| incomplete(key, source)).collect();
    let defined: BTreeSet<&str> = list.keys().map(String::as_str).collect();
    for file in repository.with_extension(&["rs", "toml"]).filter(|file| file.path != SOURCES) {
        let marker = if file.is("rs") { "//" } else { "#" };
        for (number, line) in file.lines() {
            let Some((_, comment)) = line.split_once(marker) else { continue };
            for key in keys(comment).filter(|key| !defined.contains(key)) {
                let message = format!("source `{key}` is not in {SOURCES}");
                found.push(Violation::at(&file.path, number, message));
            }
        }
    }
    found
}

/// What every source says.
const SOURCE_FIELDS: [&str; 4] = ["title", "venue", "year", "takes"];
/// What it may say besides.
const AUTHORS: &str = "authors";

/// A source of the list that lacks a field, or has one of another name or type.
fn incomplete(key: &str, source: &toml::Value) -> Option<Violation> {
    let Some(fields) = source.as_table() else {
        return Some(Violation::of(SOURCES, format!("`{key}` is no table of a source")));
    };
    let good = |(name, value): (&String, &toml::Value)| match name.as_str() {
        "year" => value.as_integer().is_some_and(|year| (1900..2100).contains(&year)),
        AUTHORS => value.as_str().is_some_and(|text| !text.trim().is_empty()),
        name => {
            let text = value.as_str().is_some_and(|text| !text.trim().is_empty());
            text && SOURCE_FIELDS.contains(&name)
        }
    };
    let lacks = SOURCE_FIELDS.iter().find(|name| !fields.contains_key(**name));
    let wrong = fields.iter().find(|field| !good(*field)).map(|(name, _)| name);
    match (lacks, wrong) {
        (Some(name), _) => Some(format!("source `{key}` has no `{name}`")),
        (None, Some(name)) => Some(format!(
            "`{name}` of source `{key}`: expected {} or {AUTHORS}, a text, the year a number",
            SOURCE_FIELDS.join(", ")
        )),
        (None, None) => None,
    }
    .map(|message| Violation::of(SOURCES, message))
}

/// Source keys in a comment: capitals and digits in brackets that belong to nothing before them.
fn keys(comment: &str) -> impl Iterator<Item = &str> {
    comment.match_indices('[').filter_map(|(at, _)| {
        let before = comment[..at].chars().next_back();
        let (key, after) = comment[at + 1..].split_once(']')?;
        let is_index = before.is_some_and(|c| c.is_alphanumeric() || "_])`#!".contains(c));
        let is_link = after.starts_with(['(', '[', ':']) || key.len() < 2;
        let is_key = key.starts_with(|c: char| c.is_ascii_uppercase())
            && key.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
        (is_key && !is_index && !is_link).then_some(key)
    })
}

/// `DEV-nnn` numbers in a text.
fn deviation_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("DEV-").filter_map(|(at, prefix)| {
        let digits = text[at + prefix.len()..].bytes().take_while(u8::is_ascii_digit).count();
        (digits == 3).then(|| &text[at..at + prefix.len() + digits])
    })
}

/// One entry of `docs/DEVIATIONS.md`: its heading's line, and the lines below it.
type Entries<'a> = BTreeMap<&'a str, (usize, Vec<(usize, &'a str)>)>;

fn entries(file: &File) -> Entries<'_> {
    let mut entries = Entries::new();
    let mut current = None;
    for (number, line) in file.lines() {
        if line.starts_with("## ") {
            current = deviation_numbers(line).next();
            if let Some(name) = current {
                entries.entry(name).or_insert_with(|| (number, Vec::new()));
            }
        } else if let Some((_, lines)) = current.and_then(|name| entries.get_mut(name)) {
            lines.push((number, line));
        }
    }
    entries
}

/// A deviation that is cited but not written down.
pub(crate) fn deviations_exist(repository: &Repository) -> Vec<Violation> {
    let Some(list) = repository.file(DEVIATIONS) else {
        return vec![Violation::of(DEVIATIONS, "missing: the list of departures from the sources")];
    };
    let defined = entries(list);
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs", "toml", "md", "cu"]) {
        for (number, line) in file.lines() {
            for name in deviation_numbers(line).filter(|name| !defined.contains_key(name)) {
                let message = format!("{name} is not in {DEVIATIONS}");
                found.push(Violation::at(&file.path, number, message));
            }
        }
    }
    found
}

/// A deviation that is written down but cited neither by code or data nor by the description of
/// the model: it would not be known where it applies.
pub(crate) fn deviations_are_used(repository: &Repository) -> Vec<Violation> {
    let Some(list) = repository.file(DEVIATIONS) else { return Vec::new() };
    let cited: BTreeSet<&str> = repository
        .files
        .iter()
        .filter(|file| file.is("rs") || file.is("toml") || file.path == "docs/MODEL.md")
        .filter(|file| !file.path.starts_with(crate::deviations::FOLDER))
        .flat_map(|file| deviation_numbers(&file.text))
        .collect();
    entries(list)
        .into_iter()
        .filter(|(name, _)| !cited.contains(name))
        .map(|(name, (line, _))| {
            Violation::at(DEVIATIONS, line, format!("{name} is cited by no code, data or MODEL.md"))
        })
        .collect()
}

/// What every entry says, in this order.
const DEVIATION_FIELDS: [&str; 4] = ["Printed", "Here", "Why", "Effect"];

/// An entry without one of its fields.
pub(crate) fn deviations_are_complete(repository: &Repository) -> Vec<Violation> {
    let Some(list) = repository.file(DEVIATIONS) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, (heading, lines)) in entries(list) {
        for field in DEVIATION_FIELDS {
            let start = format!("- **{field}**: ");
            let written = lines.iter().any(|(_, line)| {
                line.strip_prefix(&start).is_some_and(|rest| !rest.trim().is_empty())
            });
            if !written {
                let message = format!("{name} has no line `{start}..`");
                found.push(Violation::at(DEVIATIONS, heading, message));
            }
        }
    }
    found
}

/// The end of a word in capitals that stands for text still to be written. In halves, because of
/// this very rule.
const PENDING: [&str; 2] = ["-PEND", "ING"];

/// A place in a document that still waits for its content.
pub(crate) fn placeholders(repository: &Repository) -> Vec<Violation> {
    let pending = PENDING.concat();
    let mut found = Vec::new();
    for file in repository.with_extension(&["md", "toml"]) {
        for (number, _) in file.lines().filter(|(_, line)| line.contains(&pending)) {
            let message = format!("a placeholder (..{pending}) that waits for its content");
            found.push(Violation::at(&file.path, number, message));
        }
    }
    found
}

/// A link to a file that is not there.
pub(crate) fn links(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["md"]) {
        for (number, line) in file.lines() {
            for target in link_targets(line) {
                let path = resolve(&file.path, target);
                let inside = format!("{path}/");
                let exists = |other: &File| other.path == path || other.path.starts_with(&inside);
                if !repository.files.iter().any(exists) {
                    let message = format!("links to `{target}`, which is not there");
                    found.push(Violation::at(&file.path, number, message));
                }
            }
        }
    }
    found
}

/// The relative targets of a line's Markdown links, without their anchors.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, open)| {
        let (target, _) = line[at + open.len()..].split_once(')')?;
        let (target, _) = target.split_once('#').unwrap_or((target, ""));
        (!target.is_empty() && !target.contains("://")).then_some(target)
    })
}

/// A path as seen from the folder of a file, from the root.
fn resolve(file: &str, target: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// A changelog without a place for what comes next, or for changes of the model's numbers.
pub(crate) fn changelog(repository: &Repository) -> Vec<Violation> {
    let Some(file) = repository.file(CHANGELOG) else {
        return vec![Violation::of(CHANGELOG, "missing")];
    };
    let mut sections = file.lines().map(|(_, line)| line).filter(|line| line.starts_with('#'));
    let mut found = Vec::new();
    if !sections.any(|line| line == "## [Unreleased]") {
        found.push(Violation::of(CHANGELOG, "no section `## [Unreleased]`"));
    } else if !sections.take_while(|line| !line.starts_with("## ")).any(|line| line == "### Model")
    {
        found.push(Violation::of(CHANGELOG, "no section `### Model` under Unreleased"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples spell `@` for `-` and `<..>` for `[..]`, so that this file keeps the rules itself.
    const ENTRY: &str = "## DEV@001: title\n- **Printed**: a\n- **Here**: b\n- **Why**: c\n\
                         - **Effect**: none\n";

    fn made_up(files: &[(&str, &str)]) -> Repository {
        let mut repository = Repository::of(files);
        for file in &mut repository.files {
            file.text = file.text.replace('@', "-").replace('<', "[").replace('>', "]");
        }
        repository
    }

    const SOURCE: &str = "<ISCA11>\ntitle = \"x\"\nauthors = \"A. B\"\nvenue = \"y\"\nyear = 2011\n\
                          takes = \"Table 2\"\n";

    #[test]
    fn a_source_says_what_it_is() {
        let of = |list: &str| source_keys(&made_up(&[(SOURCES, list)]));
        assert_eq!(of(SOURCE), []);
        assert_eq!(of(&SOURCE.replace("authors = \"A. B\"\n", "")), []);
        for (from, to, told) in [
            ("title = \"x\"\n", "", "source `ISCA11` has no `title`"),
            ("takes", "gives", "source `ISCA11` has no `takes`"),
            ("authors", "author", "`author` of source `ISCA11`"),
            ("\"y\"", "\" \"", "`venue` of source `ISCA11`"),
            ("2011", "\"2011\"", "`year` of source `ISCA11`"),
            ("2011", "20111", "`year` of source `ISCA11`"),
            ("<ISCA11>", "ISCA11 = 1\n<X>", "`ISCA11` is no table of a source"),
            ("title", "title = \"x\"\ntitle", "duplicate key"),
            ("<ISCA11>", "<ISCA11", "TOML parse error at line 1"),
        ] {
            let found = of(&SOURCE.replacen(from, to, 1));
            assert_eq!(found.len(), 1, "{to}: {found:?}");
            assert!(found[0].message.contains(told), "{to}: {found:?}");
        }
    }

    #[test]
    fn an_unknown_source_key_is_found() {
        let sources = SOURCE;
        let code = "const A: u8 = 1; // <ISCA11> Table 2\nconst B: u8 = 2; // <ISCA12> Table 2\n\
                    /// See [`LANES`], [LINK](x), entries[LEN], [x] and [0].\nlet x = y[INDEX];\n\
                    #![deny(x)]\n";
        let data = "a = 1 # <NOPE> Table 1\n[TABLE]\n";
        let repository = made_up(&[(SOURCES, sources), ("a.rs", code), ("data/a.toml", data)]);
        let found = source_keys(&repository);
        let places: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.line)).collect();
        assert_eq!(places, [("a.rs", 2), ("data/a.toml", 1)]);
        assert!(found[0].message.contains("`ISCA12`"));
        assert_eq!(source_keys(&made_up(&[("a.rs", code)]))[0].path, SOURCES);
    }

    #[test]
    fn an_unknown_deviation_is_found() {
        let repository = made_up(&[(DEVIATIONS, ENTRY), ("a.rs", "// DEV@001\n// see DEV@002.\n")]);
        let found = deviations_exist(&repository);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].path.as_str(), found[0].line), ("a.rs", 2));
        assert_eq!(deviations_exist(&Repository::default()).len(), 1);
    }

    #[test]
    fn a_deviation_without_a_citation_is_found() {
        let cited = made_up(&[(DEVIATIONS, ENTRY), ("core/a.rs", "// DEV@001\n")]);
        assert!(deviations_are_used(&cited).is_empty());
        let uncited = made_up(&[(DEVIATIONS, ENTRY), ("CHANGELOG.md", "DEV@001\n")]);
        assert_eq!(deviations_are_used(&uncited).len(), 1);
    }

    #[test]
    fn an_incomplete_deviation_is_found() {
        assert!(deviations_are_complete(&made_up(&[(DEVIATIONS, ENTRY)])).is_empty());
        for field in DEVIATION_FIELDS {
            let without: String = ENTRY
                .lines()
                .filter(|line| !line.contains(field))
                .flat_map(|line| [line, "\n"])
                .collect();
            let found = deviations_are_complete(&made_up(&[(DEVIATIONS, &without)]));
            assert_eq!(found.len(), 1, "{field}");
            assert!(found[0].message.contains(field));
        }
    }

    #[test]
    fn a_placeholder_is_found() {
        let text = format!("good\nRESULT{}\n", PENDING.concat());
        let found = placeholders(&made_up(&[("README.md", &text), ("a.rs", &text)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].path.as_str(), found[0].line), ("README.md", 2));
    }

    #[test]
    fn a_broken_link_is_found() {
        let text = "[a](MODEL.md) [b](../README.md#x) [c](https://x.org/y) [d](#e)\n[f](gone.md)\n\
                    [g](../core/) [h](../benches/)\n";
        let files = [("docs/A.md", text), ("docs/MODEL.md", ""), ("README.md", ""), ("core/a", "")];
        let places: Vec<_> = links(&made_up(&files)).into_iter().map(|v| v.line).collect();
        assert_eq!(places, [2, 3]);
    }

    #[test]
    fn a_changelog_without_its_sections_is_found() {
        let of = |text| changelog(&made_up(&[(CHANGELOG, text)])).len();
        assert_eq!(of("# Changelog\n\n## [Unreleased]\n\n### Model\n\n## [0.1.0]\n"), 0);
        assert_eq!(of("# Changelog\n\n## [0.1.0]\n\n### Model\n"), 1);
        assert_eq!(
            of("# Changelog\n\n## [Unreleased]\n\n### Added\n\n## [0.1.0]\n\n### Model\n"),
            1
        );
        assert_eq!(changelog(&Repository::default()).len(), 1);
    }
}
