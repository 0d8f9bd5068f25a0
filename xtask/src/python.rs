//! Python environments of our own, below the folder of build products: nothing is installed
//! beside the system's packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Failure};

/// A folder that holds, or will hold, an environment that `python3 -m venv` makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment in `folder`, whether it is there yet or not.
    pub(crate) fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where it lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a program of it lies, or would lie.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Makes the environment where there is none, and installs wheels, each as `name==version`.
    pub(crate) fn install<'a>(
        &self,
        wheels: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        let mut python = process::command("python3");
        process::run(python.args(["-m", "venv"]).arg(&self.folder))?;
        process::run(self.pip().args(wheels))
    }

    /// pip's command to install what is named behind it. Not its own program: that begins with the
    /// path of the environment, which a kernel cuts after 127 bytes.
    fn pip(&self) -> Command {
        let mut python = process::command(self.program("python3"));
        python.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        python
    }

    /// The folder of the installed packages, if `path` is there below it: that folder's name holds
    /// the version of Python.
    pub(crate) fn packages_with(&self, path: &str) -> Option<PathBuf> {
        let pythons = std::fs::read_dir(self.folder.join("lib")).ok()?;
        pythons
            .flatten()
            .map(|python| python.path().join("site-packages"))
            .find(|packages| packages.join(path).exists())
    }

    /// True if the wheel `name==version` is installed, in that version.
    pub(crate) fn has(&self, wheel: &str) -> bool {
        let installed = wheel.replace('-', "_").replacen("==", "-", 1);
        self.packages_with(&format!("{installed}.dist-info")).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment may lie deeper than the first line of a script can say.
    #[test]
    fn pip_is_run_by_the_interpreter() {
        let folder = Path::new("/").join("deep/".repeat(100));
        let pip = Environment::at(&folder).pip();
        assert_eq!(Path::new(pip.get_program()), folder.join("bin/python3"));
        let arguments: Vec<_> = pip.get_args().take(3).collect();
        assert_eq!(arguments, ["-m", "pip", "install"]);
    }

    #[test]
    fn a_wheel_is_recognised_by_name_and_version() {
        let folder = std::env::temp_dir().join(format!("strata-python-{}", std::process::id()));
        let packages = folder.join("lib/python3.99/site-packages");
        std::fs::create_dir_all(packages.join("one_two-3.4.post5.dist-info")).expect("a folder");
        let environment = Environment::at(&folder);
        assert!(environment.has("one-two==3.4.post5"));
        assert!(!environment.has("one-two==3.4"));
        assert!(!environment.has("one==3.4.post5"));
        let found = environment.packages_with("one_two-3.4.post5.dist-info");
        assert_eq!(found.as_deref(), Some(packages.as_path()));
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert!(!environment.has("one-two==3.4.post5"));
    }
}
