//! Source: files of CUDA that profiles name, for their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::profile::Profile;
use strata_files::failure::Failure;
use strata_report::json;

/// Lines of files, by the names that profiles have for them.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    /// Reads files, each of which profiles name, by its last part.
    ///
    /// # Errors
    /// A file that cannot be read, that no profile names, that could be several, or that has fewer
    /// lines than a profile names.
    pub(super) fn read(files: &[PathBuf], profiles: &[Profile]) -> Result<Self, Failure> {
        let mut last = BTreeMap::<&str, u32>::new();
        for line in profiles.iter().flat_map(|profile| &profile.lines) {
            if let (Some(file), Some(line)) = (&line.cuda_file, line.cuda_line) {
                let last = last.entry(file).or_default();
                *last = line.max(*last);
            }
        }
        let mut sources = BTreeMap::new();
        for file in files {
            let named = matching(file, &last.keys().copied().collect())?;
            let text = json::text_of(file)?;
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let most = last[named.as_str()];
            if most as usize > lines.len() {
                return Err(Failure::input(format!(
                    "`{}` has {} lines, and a profile names line {most}",
                    file.display(),
                    lines.len()
                ))
                .hint("give the file that was compiled, or compile it and profile again"));
            }
            sources.insert(named, lines);
        }
        Ok(Self(sources))
    }

    /// A line, if its file is there.
    pub(super) fn line(&self, file: &str, line: u32) -> Option<&str> {
        let place = (line as usize).checked_sub(1)?;
        self.0.get(file)?.get(place).map(String::as_str)
    }

    /// Whether there are lines of a file.
    pub(super) fn has(&self, file: &str) -> bool {
        self.0.contains_key(file)
    }
}

/// The only name of profiles with a file's last part.
fn matching(file: &Path, names: &BTreeSet<&str>) -> Result<String, Failure> {
    let wanted: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| Path::new(name).file_name() == file.file_name())
        .collect();
    let shown = file.display();
    match wanted.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => {
            let all: Vec<&str> = names.iter().copied().collect();
            Err(Failure::input(format!("no profile names `{shown}`")).hint(match all.as_slice() {
                [] => "a profile names lines of CUDA if its PTX was made with `nvcc -lineinfo`"
                    .to_owned(),
                all => format!("they name `{}`", all.join("`, `")),
            }))
        }
        several => {
            Err(Failure::input(format!("`{shown}` could be each of `{}`", several.join("`, `")))
                .hint("make a page of each profile"))
        }
    }
}
