//! The files that rules look at, in memory, so that a test can make up a repository, and the places
//! that break a rule.

use std::path::Path;

use crate::process::{self, Failure};

/// One text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// From the root, with `/` between folders.
    pub(crate) path: String,
    /// Contents.
    pub(crate) text: String,
}

impl File {
    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// True when the path ends with `.extension`.
    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// The text files that belong to the repository, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repository {
    /// In order of their paths.
    pub(crate) files: Vec<File>,
}

impl Repository {
    /// The files that git tracks, and new ones that it does not ignore. Binary files are left out.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let mut git = process::command("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let output = git
            .current_dir(root)
            .output()
            .map_err(|error| Failure(format!("`git` could not be run: {error}")))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(Failure(format!("`git ls-files` failed: {}", why.trim())));
        }
        let mut files = Vec::new();
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            let full = root.join(path);
            // Deleted but still in the index, or a link: no text to look at.
            if !full.is_file() || full.is_symlink() {
                continue;
            }
            let bytes = std::fs::read(&full)
                .map_err(|error| Failure(format!("{path} cannot be read: {error}")))?;
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                files.push(File { path: path.to_owned(), text });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Ok(Self { files })
    }

    /// A made-up repository.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        Self { files }
    }

    /// The file at a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files with one of the extensions.
    pub(crate) fn with_extension(&self, extensions: &[&str]) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| extensions.iter().any(|end| file.is(end)))
    }
}

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// File, from the root.
    pub(crate) path: String,
    /// Line, from 1; 0 for the file as a whole.
    pub(crate) line: usize,
    /// What is wrong and what would be right.
    pub(crate) message: String,
}

impl Violation {
    /// A violation at a line, counted from 1.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// A violation by a file, or by its absence.
    pub(crate) fn of(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.message),
            line => write!(formatter, "{}:{line}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_read() {
        let repository = Repository::read(&crate::machine::root()).expect("a git repository");
        let manifest = repository.file("xtask/Cargo.toml").expect("this crate's manifest");
        assert!(manifest.is("toml"));
        assert!(repository.files.is_sorted_by(|a, b| a.path < b.path));
        assert!(repository.files.iter().all(|file| !file.path.starts_with("target/")));
    }
}
