//! Questions to the machine: versions, the user, the places of files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Major and minor version of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    /// Before the first point.
    pub(crate) major: u32,
    /// After it.
    pub(crate) minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// The first `major.minor` in a line such as `rustc 1.96.0 (ac68faa20 2026-05-25)`.
    pub(crate) fn find(line: &str) -> Option<Self> {
        line.split_whitespace().find_map(|word| {
            let mut parts = word.trim_start_matches('v').split('.');
            let major = parts.next()?.parse().ok()?;
            let minor = parts.next()?.parse().ok()?;
            Some(Self { major, minor })
        })
    }
}

/// The repository's root: the folder above this crate's.
///
/// Cargo names the crate's folder when it runs this program; started by hand, the folder it was
/// built from is as good.
pub(crate) fn root() -> PathBuf {
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    crate_folder.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Cargo's folder for build products.
pub(crate) fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| PathBuf::from(folder)),
        None => root().join("target"),
    }
}

/// The first line of `program --version`, or `None` when the program cannot be run or says no.
pub(crate) fn version_line(program: &str) -> Option<String> {
    let text = output(program, &["--version"])?;
    Some(text.lines().next().unwrap_or(program).trim().to_owned())
}

/// What a program prints, trimmed; `None` when it cannot be run or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    // The libraries of the toolchain that runs this program are not those of another one.
    if program.starts_with('/') {
        command.env_remove("LD_LIBRARY_PATH");
    }
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// True when this program may install packages.
pub(crate) fn is_root() -> bool {
    output("id", &["-u"]).as_deref() == Some("0")
}

/// True under continuous integration, where nothing that is missing may pass as skipped.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_tools_print() {
        let found = |line| Version::find(line).map(|version| version.to_string());
        assert_eq!(found("rustc 1.96.0 (ac68faa20 2026-05-25)").as_deref(), Some("1.96"));
        assert_eq!(found("valgrind-3.19.0"), None);
        assert_eq!(found("tool v3.19.0").as_deref(), Some("3.19"));
        assert_eq!(found("no number"), None);
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(Version { major: 1, minor: 96 } > Version { major: 1, minor: 95 });
        assert!(Version { major: 1, minor: 100 } > Version { major: 1, minor: 95 });
        assert!(Version { major: 1, minor: 63 } < Version { major: 1, minor: 95 });
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("xtask/Cargo.toml").is_file());
        assert!(root().join("Cargo.lock").is_file());
    }
}
