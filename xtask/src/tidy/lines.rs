//! Rules about lines and lengths.

use super::repository::{File, Repository, Violation};

/// Most lines of a source file before its tests.
const FILE_LINES: usize = 600;
/// Most columns of a line of Rust.
const COLUMNS: usize = 100;

/// A file that has outgrown one concept.
pub(crate) fn long_files(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs"]).filter(|file| !is_test_file(file)) {
        let length = lines_without_tests(file);
        if length > FILE_LINES {
            let message = format!("{length} lines without the tests; at most {FILE_LINES}");
            found.push(Violation::of(&file.path, message));
        }
    }
    found
}

/// True for files that hold tests only.
fn is_test_file(file: &File) -> bool {
    let path = &file.path;
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Lines before the tests at the foot of the file.
fn lines_without_tests(file: &File) -> usize {
    let mut lines = file.lines().peekable();
    while let Some((number, line)) = lines.next() {
        let next = lines.peek().map_or("", |(_, next)| next);
        if line == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{') {
            return number - 1;
        }
    }
    file.text.lines().count()
}

/// A line that does not fit beside another window. A row of a table in a comment cannot be broken,
/// nor can the texts that tests hand over and expect.
pub(crate) fn long_lines(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs"]).filter(|file| !is_test_file(file)) {
        for (number, line) in file.lines() {
            let columns = line.chars().count();
            let is_table_row = line.trim_start().trim_start_matches(['/', '!']).starts_with(" |");
            if columns > COLUMNS && !is_table_row {
                let message = format!("{columns} columns; at most {COLUMNS}");
                found.push(Violation::at(&file.path, number, message));
            }
        }
    }
    found
}

/// Tabs, carriage returns, blanks at the end of a line, no newline at the end of the file.
pub(crate) fn whitespace(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs", "toml", "md"]) {
        // `lines` would hide a carriage return.
        for (index, line) in file.text.split('\n').enumerate() {
            let problem = if line.contains('\t') {
                "a tab; use spaces"
            } else if line.ends_with([' ', '\r']) {
                "a blank at the end of the line"
            } else {
                continue;
            };
            found.push(Violation::at(&file.path, index + 1, problem));
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            found.push(Violation::of(&file.path, "no newline at the end of the file"));
        }
    }
    found
}

/// Words that mark unfinished work or a silenced lint, and what to do instead. Spelled in halves,
/// so that this file does not break its own rule.
const BANNED: &[(&str, &str, &str)] = &[
    ("todo", "!(", "finish it, or refuse the input with an error"),
    ("unimplemented", "!(", "finish it, or refuse the input with an error"),
    ("dbg", "!(", "remove it"),
    ("#[", "ignore", "assert what happens now, and say that it is wrong"),
    ("#[", "allow(", "use #[expect(.., reason = \"..\")]"),
    ("#![", "allow(", "use #![expect(.., reason = \"..\")]"),
];

/// Unfinished work and silenced lints.
pub(crate) fn banned_words(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs"]) {
        for (number, line) in file.lines() {
            for (first, second, advice) in BANNED {
                let word = format!("{first}{second}");
                if line.contains(&word) {
                    let message = format!("`{word}`: {advice}");
                    found.push(Violation::at(&file.path, number, message));
                }
            }
        }
    }
    found
}

/// Phrases that readers stop at, and what to write instead. Spelled in halves like [`BANNED`].
const PHRASES: &[(&str, &str, &str)] = &[
    (" an", "ew", "write `again`"),
    ("held ", "to ", "write `compared with` or `checked against`"),
    ("what there", " is", "name the thing"),
    ("What there", " is", "name the thing"),
    ("What ", "of ", "name the part"),
    ("what ", "of ", "name the part"),
    ("held ", "against ", "write `compared with`"),
    ("let ", "go of", "write `released`"),
    ("nob", "ody", "name the noun: `no host`, `no reader`"),
    ("Nob", "ody", "name the noun: `no host`, `no reader`"),
    ("someb", "ody", "name the noun: `a lane`, `a reader`"),
    ("everyb", "ody", "name the noun: `all threads`"),
    ("who", "ever", "name the noun: `the sender`"),
    ("Who", "ever", "name the noun: `the sender`"),
];

/// Phrases that are not plain technical English.
pub(crate) fn banned_phrases(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs", "md", "toml"]) {
        for (number, line) in file.lines() {
            for (first, second, advice) in PHRASES {
                let phrase = format!("{first}{second}");
                if line.contains(&phrase) {
                    let message = format!("`{}`: {advice}", phrase.trim());
                    found.push(Violation::at(&file.path, number, message));
                }
            }
        }
    }
    found
}

/// First folders of paths that exist on one machine only, without their slashes.
const MACHINE_FOLDERS: &[&str] = &["work", "tmp", "root"];

/// Absolute paths of one machine.
pub(crate) fn machine_paths(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in &repository.files {
        for (number, line) in file.lines() {
            for folder in MACHINE_FOLDERS {
                let path = format!("/{folder}/");
                let is_absolute = |at: usize| {
                    // After a name or a point the slash continues a relative path or an address.
                    !line[..at].ends_with(|before: char| {
                        before.is_ascii_alphanumeric() || "._-})*".contains(before)
                    })
                };
                if line.match_indices(&path).any(|(at, _)| is_absolute(at)) {
                    let message = format!("`{path}`: a path of one machine");
                    found.push(Violation::at(&file.path, number, message));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(found: &[Violation]) -> Vec<usize> {
        found.iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_are_free() {
        let code = "// code\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", code.repeat(FILE_LINES));
        let fits = code.repeat(FILE_LINES) + &tests;
        let too_long = code.repeat(FILE_LINES + 1) + &tests;
        let repository = Repository::of(&[
            ("core/src/fits.rs", &fits),
            ("core/src/long.rs", &too_long),
            ("core/tests/long.rs", &too_long),
            ("docs/long.md", &too_long),
        ]);
        let found = long_files(&repository);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "core/src/long.rs");
        assert!(found[0].message.starts_with("601 lines"), "{}", found[0].message);
    }

    #[test]
    fn a_tests_attribute_on_something_else_does_not_end_the_file() {
        let text = "#[cfg(test)]\nuse x;\n".to_owned() + &"//\n".repeat(FILE_LINES);
        assert_eq!(long_files(&Repository::of(&[("a.rs", &text)])).len(), 1);
    }

    #[test]
    fn a_long_line_is_found_by_columns_not_bytes() {
        let text = format!("{}\n{}\n{}\n", "x".repeat(100), "x".repeat(101), "µ".repeat(100));
        let found = long_lines(&Repository::of(&[("a.rs", &text), ("a.md", &text)]));
        assert_eq!(lines_of(&found), [2]);
        let row = format!("//! | {} |\n", "x".repeat(100));
        assert!(long_lines(&Repository::of(&[("a.rs", &row)])).is_empty());
    }

    #[test]
    fn bad_blanks_are_found() {
        let text = "good\na\tb\nblank \nreturn\r\nend";
        let found = whitespace(&Repository::of(&[("a.toml", text), ("a.ptx", text)]));
        assert_eq!(lines_of(&found), [2, 3, 4, 0]);
        assert!(whitespace(&Repository::of(&[("a.md", "good\n"), ("b.md", "")])).is_empty());
    }

    #[test]
    fn every_banned_word_is_found() {
        for (first, second, advice) in BANNED {
            let text = format!("fine\n    {first}{second}\n");
            let found = banned_words(&Repository::of(&[("a.rs", &text)]));
            assert_eq!(lines_of(&found), [2], "{first}{second}");
            assert!(found[0].message.ends_with(advice));
        }
        assert!(
            banned_words(&Repository::of(&[("a.rs", "#[expect(x, reason = \"y\")]")])).is_empty()
        );
    }

    #[test]
    fn every_banned_phrase_is_found() {
        for (first, second, advice) in PHRASES {
            let text = format!("fine\n//! x{first}{second}y\n");
            let found = banned_phrases(&Repository::of(&[("a.rs", &text)]));
            assert_eq!(lines_of(&found), [2], "{first}{second}");
            assert!(found[0].message.ends_with(advice));
        }
    }

    #[test]
    fn machine_paths_are_found_and_others_are_not() {
        for folder in MACHINE_FOLDERS {
            let text =
                format!("see \"/{folder}/x\"\nsee https://x.org/{folder}/y and a.{folder}/\n");
            let found = machine_paths(&Repository::of(&[("docs/a.md", &text)]));
            assert_eq!(lines_of(&found), [1], "{folder}");
        }
    }
}
