//! Partial file: a file that appears in its place whole, or not at all.

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file beside its place until it is whole. Dropped before that, it is removed.
#[derive(Debug)]
pub(crate) struct PartialFile {
    file: BufWriter<NamedTempFile<File>>,
    target: PathBuf,
}

impl PartialFile {
    /// Opens a file beside `target`.
    ///
    /// # Errors
    ///
    /// A target that names no file, or a folder or device that is there; a folder in which nothing
    /// can be written.
    pub(crate) fn create(target: &Path) -> Result<Self> {
        let Some(name) = target.file_name() else {
            return Err(Error::new(ErrorKind::InvalidInput, "it names no file"));
        };
        // Moving a file onto a folder fails, and onto a device it would take the device's place.
        if target.exists() && !target.is_file() {
            let message = "it is there and is no regular file";
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        let mut prefix = name.to_owned();
        prefix.push(".");
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Made as any new file is; a temporary file's usual permissions would keep others out.
        let file = Builder::new()
            .prefix(&prefix)
            .suffix(".partial")
            .make_in(folder.unwrap_or(Path::new(".")), |path| File::create_new(path))?;
        Ok(Self { file: BufWriter::new(file), target: target.to_owned() })
    }

    /// Where the file will appear.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Moves the file to its place.
    pub(crate) fn finish(self) -> Result<()> {
        let file = self.file.into_inner()?;
        file.as_file().sync_all()?;
        file.persist(self.target)?;
        Ok(())
    }

    /// The same file on a device without room: the failure comes when the buffer is written.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn without_room(self) -> Self {
        let (_, path) = self.file.into_inner().unwrap().into_parts();
        let full = File::options().write(true).open("/dev/full").unwrap();
        Self { file: BufWriter::new(NamedTempFile::from_parts(full, path)), target: self.target }
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_whole_file_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        std::fs::write(&target, "before").unwrap();
        let mut file = PartialFile::create(&target).unwrap();
        file.write_all(b"after").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        assert_eq!(files(folder.path()), 2);
        file.finish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"after");
        assert_eq!(files(folder.path()), 1);
    }

    #[test]
    fn an_unfinished_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = PartialFile::create(&folder.path().join("out")).unwrap();
        assert_eq!(files(folder.path()), 1);
        drop(file);
        assert_eq!(files(folder.path()), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = PartialFile::create(&folder.path().join("out")).unwrap().without_room();
        file.write_all(b"something").unwrap();
        assert_eq!(file.finish().unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn folders_and_devices_keep_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let device = Path::new("/dev/null");
        let targets = [folder.path(), Path::new("/"), Path::new("..")];
        for target in targets.into_iter().chain(device.exists().then_some(device)) {
            let error = PartialFile::create(target).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", target.display());
        }
    }

    /// Others may read it as they may any new file.
    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_a_new_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (plain, moved) = (folder.path().join("plain"), folder.path().join("moved"));
        File::create(&plain).unwrap();
        PartialFile::create(&moved).unwrap().finish().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&moved), mode(&plain));
    }
}
