//! The book: what its pages show is what the program prints. Set `STRATA_BLESS=1` to write it
//! again.
//!
//! A page's commands run in a folder of their own, with the files of the page: those of the folder
//! with the page's name, and the blocks behind `<!-- file: NAME -->`. What a command prints behind
//! ` > NAME` becomes such a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata_tests::start;

/// Documents of the book, in its order.
fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| docs.join(link)).collect()
}

/// Puts the files of a page into a folder.
fn provide(page: &Path, text: &str, folder: &Path) {
    let own = page.with_extension("");
    if own.is_dir() {
        for entry in std::fs::read_dir(&own).expect("a folder").flatten() {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
        }
    }
    for rest in text.split("<!-- file: ").skip(1) {
        let (name, rest) = rest.split_once(" -->\n```").expect("a block behind the name");
        let block = rest.split_once('\n').expect("a line that begins the block").1;
        let content = block.split_once("\n```").expect("a block's end").0;
        std::fs::write(folder.join(name), format!("{content}\n")).expect("it can be written");
    }
}

/// The page with what its commands print, and how many there are.
fn executed(page: &Path, text: &str) -> (String, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    provide(page, text, folder.path());
    let (mut renewed, mut commands, mut inside) = (String::new(), 0, false);
    for line in text.lines() {
        match (inside, line.strip_prefix("$ strata ")) {
            (true, Some(typed)) => {
                let (typed, kept) = match typed.split_once(" > ") {
                    Some((typed, file)) => (typed, Some(file)),
                    None => (typed, None),
                };
                let words: Vec<&str> = typed.split_whitespace().collect();
                let done = start(env!("CARGO_BIN_EXE_strata-under-test"), folder.path(), &words);
                assert_eq!(done.status, Some(0), "{}: `{typed}`: {done}", page.display());
                let _ = writeln!(renewed, "{line}");
                commands += 1;
                if let Some(file) = kept {
                    std::fs::write(folder.path().join(file), done.stdout)
                        .expect("it can be written");
                    continue;
                }
                // A page has neither tabs nor spaces at ends of lines.
                let told = done.stdout.lines().map(|line| line.trim_end().replace('\t', " "));
                renewed.extend(told.map(|line| line + "\n"));
            }
            (true, None) if line != "```" => {
                let told = !line.starts_with('$');
                assert!(told, "{}: `{line}` is not a command of strata", page.display());
            }
            _ => {
                inside = line == "```console";
                let _ = writeln!(renewed, "{line}");
            }
        }
    }
    assert!(!inside, "{}: a block has no end", page.display());
    (renewed, commands)
}

#[test]
fn what_the_book_shows_is_what_the_program_prints() {
    let mut all = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page)
            .unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let (renewed, commands) = executed(&page, &text);
        all += commands;
        if commands == 0 || renewed == text {
            continue;
        }
        if crate::switch::is_on("STRATA_BLESS") {
            std::fs::write(&page, renewed).expect("it can be written");
            continue;
        }
        let differing = text.lines().zip(renewed.lines()).find(|(old, new)| old != new);
        panic!("{}: {differing:?}; STRATA_BLESS=1 writes it again", page.display());
    }
    assert!(all > 20, "{all} commands");
}

/// Every page of the book's folder is in its table of contents.
#[test]
fn no_page_of_the_book_is_left_out() {
    let listed = pages();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for folder in ["", "book"] {
        for entry in std::fs::read_dir(docs.join(folder)).expect("a folder").flatten() {
            let path = docs.join(folder).join(entry.file_name());
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            if is_page && !path.ends_with("SUMMARY.md") {
                assert!(listed.contains(&path), "SUMMARY.md leaves out {}", path.display());
            }
        }
    }
}
