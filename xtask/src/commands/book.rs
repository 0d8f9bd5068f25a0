//! `book`: the documents as pages, by mdbook, whose links are then checked.
//!
//! Pages lie two folders below the repository's root, documents one: links to what is no page lead
//! to the repository's own file.

use std::path::{Component, Path, PathBuf};

use crate::installation::Missing;
use crate::machine;
use crate::process::{self, Failure};
use crate::stages::{Stages, lacking};
use crate::status::Status;

/// What makes the pages. Built without its server.
const MDBOOK: &str = "mdbook";
const VERSION: &str = "0.5.4";

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages);
    stages.finish()
}

/// The pages, below the folder of build products, in `book`.
pub(crate) fn stages(stages: &mut Stages) {
    stages.one("book", || match mdbook() {
        Ok(program) => build(&program).into(),
        Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
    });
}

/// The program, which is installed if it is not there.
fn mdbook() -> Result<PathBuf, Missing> {
    let root = machine::target_folder().join(MDBOOK);
    let program = root.join("bin").join(MDBOOK);
    let mut version = process::command(&program);
    let there = process::output(version.arg("--version")).ok();
    if there.is_some_and(|text| text.trim().ends_with(VERSION)) {
        return Ok(program);
    }
    let mut install = process::cargo(&["install", MDBOOK, "--version", VERSION, "--locked"]);
    install.args(["--no-default-features", "--quiet", "--root"]).arg(&root);
    process::run(&mut install).map(|()| program).map_err(|Failure(why)| Missing {
        what: format!("{MDBOOK} {VERSION} ({why})"),
        remedy: process::spelled(&install),
    })
}

fn build(program: &Path) -> Result<(), Failure> {
    let (docs, book) = (machine::root().join("docs"), machine::target_folder().join("book"));
    let mut build = process::command(program);
    process::run(build.arg("build").arg(&docs).arg("--dest-dir").arg(&book))?;
    let mut wrong = Vec::new();
    let mut pages = 0;
    for page in html_below(&book)? {
        let path = book.join(&page);
        let text = std::fs::read_to_string(&path).map_err(|error| told(&path, &error))?;
        let linked = relinked(&page, &text, |target| place(target, &book, &docs));
        match linked {
            Ok(renewed) if renewed != text => {
                std::fs::write(&path, renewed).map_err(|error| told(&path, &error))?;
            }
            Ok(_) => {}
            Err(links) => wrong.extend(links.iter().map(|to| format!("{}: {to}", page.display()))),
        }
        pages += 1;
    }
    if wrong.is_empty() {
        println!("{pages} pages in {}", book.display());
        return Ok(());
    }
    Err(Failure(format!("links that lead nowhere:\n{}", wrong.join("\n"))))
}

fn told(path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}

/// Pages below a folder, relative to it.
fn html_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut pages, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(relative) = folders.pop() {
        let here = folder.join(&relative);
        for entry in std::fs::read_dir(&here).map_err(|error| told(&here, &error))? {
            let entry = entry.map_err(|error| told(&here, &error))?;
            let relative = relative.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(relative);
            } else if relative.extension().is_some_and(|ending| ending == "html") {
                pages.push(relative);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// To a file of the book.
    Book,
    /// To a file of the repository, seen from the book's folder.
    Repository(String),
    Nowhere,
}

/// Where a path leads, relative to the documents as well as to the book.
fn place(target: &Path, book: &Path, docs: &Path) -> Place {
    if book.join(target).exists() {
        return Place::Book;
    }
    // mdbook takes every link to Markdown for one to a page.
    let document = target.with_extension("md");
    let candidates = [target, document.as_path()];
    match candidates.into_iter().find(|candidate| docs.join(candidate).exists()) {
        Some(found) => Place::Repository(normal(&Path::new("../../docs").join(found))),
        None => Place::Nowhere,
    }
}

/// A path without `..` behind a name, with slashes.
fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            Component::CurDir => {}
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

/// A page with its links to files of the repository made right, or the links that lead nowhere.
fn relinked(
    page: &Path,
    text: &str,
    place: impl Fn(&Path) -> Place,
) -> Result<String, Vec<String>> {
    const LINK: &str = "href=\"";
    let folder = page.parent().unwrap_or(Path::new(""));
    let up = "../".repeat(folder.components().count());
    let (mut renewed, mut wrong) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(LINK) {
        let (link, behind) = behind.split_once('"').unwrap_or((behind, ""));
        let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
        renewed.push_str(before);
        renewed.push_str(LINK);
        let outside = file.is_empty() || file.contains(':') || file.starts_with('/');
        match if outside { Place::Book } else { place(Path::new(&normal(&folder.join(file)))) } {
            Place::Book => renewed.push_str(link),
            Place::Repository(path) => {
                renewed.push_str(&up);
                renewed.push_str(&path);
                if !fragment.is_empty() {
                    renewed.push('#');
                    renewed.push_str(fragment);
                }
            }
            Place::Nowhere => wrong.push(link.to_owned()),
        }
        renewed.push('"');
        rest = behind;
    }
    renewed.push_str(rest);
    if wrong.is_empty() { Ok(renewed) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_a_readme(target: &Path) -> Place {
        match target.to_str() {
            Some("b.html" | "c/d.html") => Place::Book,
            Some("../README.html") => Place::Repository("../../README.md".to_owned()),
            _ => Place::Nowhere,
        }
    }

    #[test]
    fn links_to_no_page_lead_to_the_repository() {
        let text = "<a href=\"../b.html#x\">b</a><a href=\"../../README.html#y\">r</a>\
                    <a href=\"#z\">z</a><a href=\"https://a/\">a</a>";
        let renewed = relinked(Path::new("c/d.html"), text, with_a_readme).expect("all lead on");
        assert_eq!(renewed, text.replace("../../README.html", "../../../README.md"));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_named() {
        let found = relinked(Path::new("b.html"), "<a href=\"e.html\">e</a>", with_a_readme);
        assert_eq!(found, Err(vec!["e.html".to_owned()]));
    }

    #[test]
    fn paths_are_made_normal() {
        assert_eq!(normal(Path::new("book/../../README.md")), "../README.md");
        assert_eq!(normal(Path::new("../../docs/../README.md")), "../../README.md");
        assert_eq!(normal(Path::new("./a/b.html")), "a/b.html");
    }
}
