//! Output: a file that a command is asked to write, and what may be replaced by it.
//!
//! An output is refused if it is one of the command's inputs. A file that is there is replaced only
//! if it begins like what the command writes, or if the user insists.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What a command writes into a file, by how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name with its article, for messages.
    pub name: &'static str,
    /// First bytes of each such file; none if nothing says what such a file is, so that only the
    /// user can allow that one is replaced.
    pub begins: &'static [u8],
}

/// A file that a command may write. That it may is checked when it is named, before anything runs,
/// and again when the file is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its path as the user named it.
    named: PathBuf,
    /// Its path behind links.
    path: PathBuf,
    kind: Kind,
    force: bool,
    inputs: Vec<PathBuf>,
}

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("`{}` names no file", .0.display())]
    NoFile(PathBuf),
    #[error("`-` is no file")]
    Dash,
    #[error("`{}` is a link to a file that is not there", .0.display())]
    Dangling(PathBuf),
    #[error("`{}` is there and is no regular file", .0.display())]
    NotRegular(PathBuf),
    #[error("`{}` is {}", output.display(), same(output, input))]
    Input { output: PathBuf, input: PathBuf },
    #[error("`{}` is there and does not begin like {kind}", path.display())]
    Foreign { path: PathBuf, kind: &'static str },
    #[error("`{}` is there, and nothing in it says who wrote it", .0.display())]
    Unsigned(PathBuf),
    #[error("`{}` is there and is write-protected", .0.display())]
    Protected(PathBuf),
    #[error("cannot write `{}`: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

fn same(output: &Path, input: &Path) -> String {
    let other = if output == input { "" } else { "the same file as " };
    let name = if output == input { String::new() } else { format!("`{}`, ", input.display()) };
    format!("{other}{name}an input of this command")
}

impl Refusal {
    fn help(&self) -> &'static str {
        match self {
            Self::NoFile(_) | Self::NotRegular(_) | Self::Io { .. } => {
                "name a file in a folder that you may write to"
            }
            Self::Dash => "a file of that name is `./-`",
            Self::Dangling(_) | Self::Input { .. } => "name another file to write",
            Self::Foreign { .. } | Self::Unsigned(_) | Self::Protected(_) => {
                "name another file to write; `--force` replaces this one"
            }
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::input(refusal.to_string()).hint(refusal.help())
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Io { error, .. } => error,
            other => Self::new(io::ErrorKind::AlreadyExists, other.to_string()),
        }
    }
}

impl Output {
    /// The file at `named`, of a command that reads `inputs`. With `force` it replaces any regular
    /// file that is not one of them.
    ///
    /// # Errors
    ///
    /// An input, a file that is there and is not of this kind, anything that is no regular file, a
    /// link to nothing.
    pub fn new(named: &Path, kind: Kind, force: bool, inputs: &[PathBuf]) -> Result<Self, Failure> {
        let path = behind_links(named)?;
        let (named, inputs) = (named.to_owned(), inputs.to_vec());
        let output = Self { named, path, kind, force, inputs };
        output.check()?;
        Ok(output)
    }

    /// Its path as the user named it.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Its path behind links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata of the file that is replaced, if there is one and it may be.
    pub(crate) fn check(&self) -> Result<Option<Metadata>, Refusal> {
        let named = || self.named.clone();
        let failed = |error| Refusal::Io { path: named(), error };
        let metadata = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // Moving a file onto a folder fails, and onto a device it would take the device's place.
        if !metadata.is_file() {
            return Err(Refusal::NotRegular(named()));
        }
        if let Some(input) = input_at(&self.path, &self.inputs) {
            return Err(Refusal::Input { output: named(), input: input.to_owned() });
        }
        if self.force {
            return Ok(Some(metadata));
        }
        if metadata.permissions().readonly() {
            return Err(Refusal::Protected(named()));
        }
        let wanted = self.kind.begins.len().max(1) as u64;
        let mut first = Vec::new();
        let opened = File::open(&self.path);
        opened.and_then(|file| file.take(wanted).read_to_end(&mut first)).map_err(failed)?;
        // Nothing is lost with an empty file.
        if first.is_empty() || first == self.kind.begins {
            return Ok(Some(metadata));
        }
        if self.kind.begins.is_empty() {
            return Err(Refusal::Unsigned(named()));
        }
        Err(Refusal::Foreign { path: named(), kind: self.kind.name })
    }
}

/// The place of a file that may be there through links, so that they stay links.
fn behind_links(named: &Path) -> Result<PathBuf, Refusal> {
    if named == Path::new("-") {
        return Err(Refusal::Dash);
    }
    let Ok(metadata) = std::fs::symlink_metadata(named) else {
        let names = named.file_name().is_some() && !ends_as_folder(named);
        return if names { Ok(named.to_owned()) } else { Err(Refusal::NoFile(named.to_owned())) };
    };
    if !metadata.is_symlink() {
        return Ok(named.to_owned());
    }
    std::fs::canonicalize(named).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Refusal::Dangling(named.to_owned()),
        _ => Refusal::Io { path: named.to_owned(), error },
    })
}

/// `name/` and `name/.` are folders, although [`Path`] sees `name` in them.
fn ends_as_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.ends_with(b"/") || text.ends_with(b"/.")
}

/// The input that is the file at `path`, by whatever name.
pub(crate) fn input_at<'i>(path: &Path, inputs: &'i [PathBuf]) -> Option<&'i Path> {
    let output = identity(path)?;
    inputs.iter().map(PathBuf::as_path).find(|input| identity(input).as_ref() == Some(&output))
}

/// What is the same for all names of one file.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    // Not opened: an input may be a pipe.
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { name: "a test", begins: b"TEST " };

    fn refusal(path: &Path, force: bool, inputs: &[PathBuf]) -> Option<String> {
        let refused = Output::new(path, KIND, force, inputs).err();
        refused.map(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_file_is_replaced_by_its_like_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let (missing, empty) = (None, Some(""));
        for (contents, allowed) in [
            (missing, true),
            (empty, true),
            (Some("TEST of before"), true),
            (Some("TEST "), true),
            (Some("TEST"), false),
            (Some("a diary: TEST "), false),
        ] {
            if let Some(contents) = contents {
                std::fs::write(&path, contents).unwrap();
            }
            let told = refusal(&path, false, &[]);
            assert_eq!(told.is_none(), allowed, "{contents:?}");
            assert!(told.is_none_or(|told| told.contains("`--force`")), "{contents:?}");
            assert_eq!(refusal(&path, true, &[]), None, "{contents:?}");
        }
    }

    #[test]
    fn a_file_of_a_kind_without_a_beginning_takes_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let plain = Kind { name: "numbers", begins: b"" };
        std::fs::write(&path, "").unwrap();
        assert!(Output::new(&path, plain, false, &[]).is_ok());
        std::fs::write(&path, "1,2").unwrap();
        let told = Output::new(&path, plain, false, &[]).unwrap_err();
        assert!(told.message().contains("nothing in it says who wrote it"), "{}", told.message());
        assert!(Output::new(&path, plain, true, &[]).is_ok());
    }

    #[test]
    fn a_write_protected_file_takes_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, "TEST of before").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        let told = refusal(&path, false, &[]).unwrap();
        assert!(told.contains("write-protected"), "{told}");
        assert_eq!(refusal(&path, true, &[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn an_input_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in"), "TEST of before").unwrap();
        std::fs::hard_link(at("in"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("in"), at("soft")).unwrap();
        std::os::unix::fs::symlink(at("soft"), at("softer")).unwrap();
        std::os::unix::fs::symlink(folder.path(), at("folder")).unwrap();
        let inputs = [at("other"), at("soft")];
        for name in ["in", "hard", "soft", "softer", "folder/hard"] {
            for force in [false, true] {
                let told = refusal(&at(name), force, &inputs).unwrap();
                assert!(told.contains("an input of this command"), "{name}: {told}");
                assert!(!told.contains("--force"), "{name}: {told}");
            }
            assert_eq!(refusal(&at(name), false, &inputs[..1]), None, "{name}");
        }
    }

    #[test]
    fn folders_devices_and_nothing_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        let (slash, dot) = (new.join(""), new.join("."));
        let device = Path::new("/dev/null");
        let targets = [folder.path(), Path::new("/"), Path::new(".."), Path::new(""), &slash, &dot];
        let devices = device.exists().then_some(device);
        for target in targets.into_iter().chain(devices).chain([Path::new("-")]) {
            for force in [false, true] {
                let told = refusal(target, force, &[]);
                assert!(told.is_some_and(|told| told.contains("file")), "{}", target.display());
            }
        }
        assert_eq!(refusal(&new, false, &[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let told = refusal(&link, true, &[]).unwrap();
        assert!(told.contains("a link to a file that is not there"), "{told}");
    }
}
