//! Partial file: a file that appears in its place whole, or not at all.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

use tempfile::Builder;

use crate::interrupt::Unfinished;
use crate::output::Output;

/// A file beside its place until it is whole. Dropped before that, it is removed, as it is when a
/// signal ends the program.
#[derive(Debug)]
pub struct PartialFile {
    file: BufWriter<File>,
    output: Output,
    unfinished: Unfinished,
}

impl PartialFile {
    /// Opens a file beside its place.
    ///
    /// # Errors
    ///
    /// A folder in which nothing can be written.
    pub fn create(output: &Output) -> Result<Self> {
        let replaces = output.check()?.is_some();
        let path = output.path();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut prefix = path.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        let (file, unfinished) = Unfinished::new(output.named(), replaces, |leftover| {
            // Made as any new file is; a temporary file's usual permissions would keep others out.
            let file = Builder::new()
                .prefix(&prefix)
                .suffix(".partial")
                .make_in(folder.unwrap_or(Path::new(".")), |path| File::create_new(path))?;
            let (file, path) = file.into_parts();
            leftover.temporary = path.keep()?;
            Ok(file)
        })?;
        Ok(Self { file: BufWriter::new(file), output: output.clone(), unfinished })
    }

    /// Where the file will appear, as the user named it.
    pub fn target(&self) -> &Path {
        self.output.named()
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    ///
    /// A disk without room; a file that has come to its place and may not be replaced.
    pub fn finish(self) -> Result<()> {
        let Self { file, output, unfinished } = self;
        let file = file.into_inner()?;
        if let Some(replaced) = output.check()? {
            file.set_permissions(replaced.permissions())?;
        }
        file.sync_all()?;
        unfinished.finish(|temporary| std::fs::rename(temporary, output.path()))
    }

    /// This file on a device without room: the failure comes when the buffer is written.
    #[cfg(all(test, target_os = "linux"))]
    fn without_room(self) -> Self {
        let full = File::options().write(true).open("/dev/full").unwrap();
        Self { file: BufWriter::new(full), ..self }
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
    use crate::output::Kind;

    const KIND: Kind = Kind { name: "a test", begins: b"TEST " };

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    fn create(path: &Path) -> PartialFile {
        PartialFile::create(&Output::new(path, KIND, false, &[]).unwrap()).unwrap()
    }

    #[test]
    fn a_whole_file_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        std::fs::write(&target, "TEST of before").unwrap();
        let mut file = create(&target);
        file.write_all(b"TEST of after").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"TEST of before");
        assert_eq!(files(folder.path()), 2);
        file.finish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"TEST of after");
        assert_eq!(files(folder.path()), 1);
    }

    #[test]
    fn an_unfinished_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = create(&folder.path().join("out"));
        assert_eq!(files(folder.path()), 1);
        drop(file);
        assert_eq!(files(folder.path()), 0);
    }

    /// A run takes hours: another process may have created the file meanwhile.
    #[test]
    fn a_file_that_came_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let file = create(&target);
        std::fs::write(&target, "a diary").unwrap();
        let error = file.finish().unwrap_err();
        assert!(error.to_string().contains("does not begin like a test"), "{error}");
        assert_eq!(std::fs::read(&target).unwrap(), b"a diary");
        assert_eq!(files(folder.path()), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = create(&folder.path().join("out")).without_room();
        file.write_all(b"something").unwrap();
        assert_eq!(file.finish().unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(files(folder.path()), 0);
    }

    /// The file behind a link is replaced, the link is not.
    #[cfg(unix)]
    #[test]
    fn links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("out"), folder.path().join("link"));
        std::fs::write(&target, "TEST of before").unwrap();
        std::os::unix::fs::symlink("out", &link).unwrap();
        let mut file = create(&link);
        file.write_all(b"TEST of after").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"TEST of after");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    /// Others may read it as they may any new file, or the one that it replaces.
    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_a_new_file_or_of_the_one_before() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (plain, moved) = (folder.path().join("plain"), folder.path().join("moved"));
        File::create(&plain).unwrap();
        create(&moved).finish().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&moved), mode(&plain));
        std::fs::set_permissions(&moved, std::fs::Permissions::from_mode(0o600)).unwrap();
        create(&moved).finish().unwrap();
        assert_eq!(mode(&moved) & 0o777, 0o600);
    }
}
