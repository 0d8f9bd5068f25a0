//! Repository: where boards are built, and what builds them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::error::FpgaError;
use crate::interrupt;

/// The repository of strata.
#[derive(Debug)]
pub struct Repository(PathBuf);

impl Repository {
    /// The one that the current folder or this program is in.
    ///
    /// # Errors
    ///
    /// Neither is in one.
    pub fn find() -> Result<Self, FpgaError> {
        let from = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let program = std::env::current_exe().ok();
        let above =
            |path: &Path| path.ancestors().find(|folder| is_repository(folder)).map(Self::of);
        let found = above(&from).or_else(|| above(&program?));
        found.ok_or(FpgaError::NoRepository { from })
    }

    fn of(root: &Path) -> Self {
        Self(root.to_path_buf())
    }

    /// What was built of a board.
    pub fn products(&self, board: &str) -> PathBuf {
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
            None => self.0.join("target"),
        };
        target.join("fpga").join(board)
    }

    /// Does a chore of the repository, `cargo xtask ...`, whose output is shown as it comes.
    ///
    /// # Errors
    ///
    /// It fails, or Ctrl-C came.
    pub fn chore(&self, arguments: &[&str]) -> Result<(), FpgaError> {
        let mut command = Command::new("cargo");
        command.arg("xtask").args(arguments).current_dir(&self.0).stdin(Stdio::null());
        // Standard output is for what was asked for.
        command.stdout(std::io::stderr());
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH"] {
            command.env_remove(name);
        }
        let mut process = command.spawn().map_err(|error| FpgaError::Start {
            program: "cargo".to_owned(),
            reason: error.to_string(),
            help: "boards are built by cargo, with what `cargo xtask setup` installs",
        })?;
        let status = loop {
            if let Err(error) = interrupt::check() {
                drop(process.kill());
                drop(process.wait());
                return Err(error);
            }
            match process.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(50)),
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => break status.to_string(),
                Err(error) => break error.to_string(),
            }
        };
        Err(FpgaError::Chore { chore: arguments.join(" "), status })
    }
}

fn is_repository(folder: &Path) -> bool {
    folder.join("fpga-softcore/boards").is_dir() && folder.join("xtask/Cargo.toml").is_file()
}
