//! Files: what inputs and designs are read from, which workers need as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::sweep::points::Points;
use strata_files::failure::Failure;
use strata_workload::STANDARD_INPUT;

/// Most that goes to each worker. Unit: bytes.
const MOST_BYTES: u64 = 256 << 20;

/// The files that go to the workers, by their names there, which are those here. Files with
/// absolute names do not: workers are to have them.
pub(super) fn of(points: &Points) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let mut all: BTreeSet<PathBuf> = BTreeSet::new();
    for input in &points.inputs {
        all.extend(input.subject.files(input.request.reach)?);
    }
    let designs = points.designs.iter().filter_map(|of| of.design.as_ref().ok());
    designs.for_each(|design| all.extend(design.files()));
    let mut files = BTreeMap::new();
    let mut bytes = 0;
    for path in all {
        let Some(name) = travels(&path)? else { continue };
        let found = std::fs::metadata(&path);
        bytes += found.map_err(|error| Failure::file(&path, "read", &error))?.len();
        if bytes > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(Failure::input(format!(
                "the files of the sweep, `{}` among them, are more than {most} MiB, which is the \
                 most that is sent to each worker",
                path.display()
            ))
            .hint("bring large files to the workers, and name them by absolute paths"));
        }
        files.insert(name, std::path::absolute(&path).unwrap_or(path));
    }
    Ok(files)
}

/// The name by which a file goes to the workers; none if they are to have it.
fn travels(path: &Path) -> Result<Option<String>, Failure> {
    if path == Path::new(STANDARD_INPUT) {
        return Err(Failure::input("workers cannot read this command's standard input")
            .hint("write it into a file"));
    }
    if path.is_absolute() {
        return Ok(None);
    }
    if path.components().any(|part| part == Component::ParentDir) {
        let message = format!(
            "`{}` leads out of this folder, whose files are sent to the workers",
            path.display()
        );
        return Err(Failure::input(message).hint(
            "run the command in a folder above it, or name it by an absolute path that all \
             workers have",
        ));
    }
    match path.to_str() {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(Failure::input(format!("`{}` is no UTF-8 name", path.display()))
            .hint("rename it, or name it by an absolute path that all workers have")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_folder_travel() {
        let told =
            |path: &str| travels(Path::new(path)).map_err(|error| error.message().to_owned());
        assert_eq!(told("a/k.ptx"), Ok(Some("a/k.ptx".to_owned())));
        assert_eq!(told("./k.ptx"), Ok(Some("./k.ptx".to_owned())));
        assert_eq!(told("/a/k.ptx"), Ok(None));
        assert!(told("a/../../k.ptx").unwrap_err().contains("leads out of this folder"));
        assert!(told("-").unwrap_err().contains("standard input"));
    }
}
