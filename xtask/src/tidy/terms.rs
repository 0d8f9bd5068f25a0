//! The table of terms: where a term of the papers lives in the code, which test holds it, and where
//! it is documented. Each place that the table names has to exist.

use super::repository::{Repository, Violation};

/// The table.
const TERMS: &str = "docs/TERMS.md";

/// Columns of a row: term, code, tests, documents.
const COLUMNS: usize = 4;

/// A row without one of its columns, and a place that is not there.
pub(crate) fn terms(repository: &Repository) -> Vec<Violation> {
    let Some(table) = repository.file(TERMS) else {
        return vec![Violation::of(TERMS, "missing: where the papers' terms live")];
    };
    let mut found = Vec::new();
    let rows = table.lines().filter(|(_, line)| line.starts_with("| "));
    // The first two are the heading and the line below it.
    for (number, line) in rows.skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, code, tests, documents] = cells[..] else {
            found.push(Violation::at(TERMS, number, format!("a row has {COLUMNS} columns")));
            continue;
        };
        let mut check = |places: Vec<Result<(), String>>, column: &str| {
            if places.is_empty() {
                found.push(Violation::at(TERMS, number, format!("no {column}")));
            }
            let wrong = places.into_iter().filter_map(Result::err);
            found.extend(wrong.map(|why| Violation::at(TERMS, number, why)));
        };
        check(quoted(code).map(|place| item(repository, place, "")).collect(), "code");
        check(quoted(tests).map(|place| item(repository, place, "fn ")).collect(), "test");
        check(targets(documents).map(|place| heading(repository, place)).collect(), "document");
    }
    found
}

/// What stands in backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The targets of links.
fn targets(cell: &str) -> impl Iterator<Item = &str> {
    cell.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Checks `path:name`: the file is there and has the name as a word, behind `before`.
fn item(repository: &Repository, place: &str, before: &str) -> Result<(), String> {
    let (path, name) = place
        .split_once(':')
        .filter(|(_, name)| !name.is_empty())
        .ok_or_else(|| format!("`{place}` is not `file:name`"))?;
    let file = repository.file(path).ok_or_else(|| format!("there is no file `{path}`"))?;
    let wanted = format!("{before}{name}");
    let is_word = |&(at, word): &(usize, &str)| {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        !file.text[..at].ends_with(part) && !file.text[at + word.len()..].starts_with(part)
    };
    let there = file.text.match_indices(&wanted).any(|place| is_word(&place));
    there.then_some(()).ok_or_else(|| format!("`{path}` has no `{wanted}`"))
}

/// Checks `FILE.md#heading`, seen from the table.
fn heading(repository: &Repository, target: &str) -> Result<(), String> {
    let (name, anchor) =
        target.split_once('#').ok_or_else(|| format!("`{target}` names no heading"))?;
    let path = format!("docs/{name}");
    let file = repository.file(&path).ok_or_else(|| format!("there is no file `{path}`"))?;
    let mut headings = file.lines().filter(|(_, line)| line.starts_with('#'));
    let there = headings.any(|(_, line)| slug(line) == anchor);
    there.then_some(()).ok_or_else(|| format!("`{path}` has no heading `#{anchor}`"))
}

/// The anchor of a heading.
fn slug(line: &str) -> String {
    let text = line.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "| term | code | tests | documents |\n| --- | --- | --- | --- |\n";

    fn found(row: &str) -> Vec<String> {
        let table = format!("# Terms\n\n{HEAD}{row}\n");
        let files = [
            (TERMS, table.as_str()),
            ("core/a.rs", "struct Cache;\n"),
            ("core/t.rs", "fn holds() {}\n"),
            ("docs/M.md", "# M\n\n## Register file, cached\n"),
        ];
        let found = terms(&Repository::of(&files));
        assert!(found.iter().all(|violation| violation.line == 5), "{found:?}");
        found.into_iter().map(|violation| violation.message).collect()
    }

    #[test]
    fn places_that_exist_are_accepted() {
        let row =
            "| cache | `core/a.rs:Cache` | `core/t.rs:holds` | [M](M.md#register-file-cached) |";
        assert!(found(row).is_empty());
    }

    #[test]
    fn places_that_do_not_exist_are_found() {
        let good = ["cache", "`core/a.rs:Cache`", "`core/t.rs:holds`", "[M](M.md#m)"];
        for (column, wrong, message) in [
            (1, "core/a.rs", "no code"),
            (1, "`core/b.rs:Cache`", "there is no file `core/b.rs`"),
            (1, "`core/a.rs:Cach`", "`core/a.rs` has no `Cach`"),
            (1, "`core/a.rs`", "`core/a.rs` is not `file:name`"),
            (1, "`core/a.rs:`", "`core/a.rs:` is not `file:name`"),
            (2, "`core/t.rs:hold`", "`core/t.rs` has no `fn hold`"),
            (2, "", "no test"),
            (3, "[M](M.md)", "`M.md` names no heading"),
            (3, "[M](M.md#n)", "`docs/M.md` has no heading `#n`"),
            (3, "[M](N.md#n)", "there is no file `docs/N.md`"),
        ] {
            let mut row = good;
            row[column] = wrong;
            assert_eq!(found(&format!("| {} |", row.join(" | "))), [message], "{wrong}");
        }
        assert_eq!(found("| cache | `core/a.rs:Cache` |"), ["a row has 4 columns"]);
        assert_eq!(terms(&Repository::default()).len(), 1);
    }
}
