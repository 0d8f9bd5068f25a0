//! Technology files of the user's: which ones a design file names, and how they are read.

use std::path::Path;
use std::sync::Arc;

use super::super::technology_file::{self, Checks};
use super::{StorageTechnology, built_in, names};
use strata_config::ConfigError;

/// The technologies that a design file names, each once: a built-in one by its name, or a file,
/// which is looked for beside the design file.
///
/// # Errors
/// A name that no technology has, a file that cannot be read, or two of one name.
pub(in super::super) fn chosen(
    design_file: &str,
    given: &[String],
) -> Result<Vec<Arc<StorageTechnology>>, ConfigError> {
    let mut all: Vec<Arc<StorageTechnology>> = Vec::new();
    for text in given {
        let technology = match technology_file::beside(design_file, text) {
            Some(path) => load(&path)?,
            None => built_in(text)
                .map(Arc::clone)
                .ok_or_else(|| technology_file::unknown(text, names()))?,
        };
        if all.iter().any(|other| other.name == technology.name) {
            let checks = Checks { file: design_file };
            let problem =
                format!("`storage_technologies` names `{}` more than once", technology.name);
            return Err(checks.combination(problem, "name each technology once"));
        }
        all.push(technology);
    }
    Ok(all)
}

/// Reads a technology file.
///
/// # Errors
/// It cannot be read, is no such file, or has a value that is out of its range, with its place.
pub fn load(path: &Path) -> Result<Arc<StorageTechnology>, ConfigError> {
    let (file, text) = technology_file::text(path)?;
    let technology = Arc::unwrap_or_clone(parse(&file, &text)?);
    Ok(Arc::new(StorageTechnology { file: Some(path.to_owned()), ..technology }))
}

/// Reads a technology from the text of a file; `file` is used in messages.
///
/// # Errors
/// It is no such file, or has a value that is out of its range, with its place.
pub fn parse(file: &str, text: &str) -> Result<Arc<StorageTechnology>, ConfigError> {
    let technology: StorageTechnology = technology_file::parse(file, text)?;
    technology.check(Checks { file }).map_err(|error| error.located(file, text))?;
    Ok(Arc::new(technology))
}

impl StorageTechnology {
    fn check(&self, checks: Checks<'_>) -> Result<(), ConfigError> {
        checks.head(&self.name, &self.source, &self.assumed)?;
        checks.sourced("clock", &self.clock)?;
        if self.clock.value.0 == 0 {
            let allowed = "1 kHz and more".to_owned();
            return Err(checks.range("clock.value", self.clock.value.to_string(), allowed));
        }
        checks.sourced("core_dynamic", &self.core_dynamic)?;
        checks.sourced("core_leakage", &self.core_leakage)?;
        checks.sourced("sram_leakage", &self.sram_leakage)?;
        checks.capacity("sram_leakage_kb", self.sram_leakage_kb)?;
        checks.sourced("dram_energy", &self.dram_energy)?;
        checks.sourced("crossbar", &self.crossbar)?;
        for (index, bank) in self.banks.iter().enumerate() {
            let key = |name: &str| format!("bank.{index}.{name}");
            checks.capacity(&key("capacity_kb"), bank.capacity_kb)?;
            checks.sourced(&key("read"), &bank.read)?;
            checks.sourced(&key("write"), &bank.write)?;
            if self.banks[..index].iter().any(|other| other.capacity_kb == bank.capacity_kb) {
                let key = key("capacity_kb");
                let problem = format!("`{key} = {}` is there twice", bank.capacity_kb);
                return Err(checks.combination(problem, "give each capacity one `[[bank]]`"));
            }
        }
        if self.banks.is_empty() {
            let problem = "`bank` is empty".to_owned();
            return Err(checks.combination(problem, "give at least one `[[bank]]`"));
        }
        Ok(())
    }
}
