//! Choice: the memory and the technology that a design file names.

use std::sync::Arc;

use super::super::technology_file;
use super::{MainMemory, Memories, MemoryKind, file, memories, names};
use strata_config::ConfigError;

/// The memory that a design file asks for by `memory` and `technology`, given what its base has.
/// A technology's file is looked for beside the design file.
pub(in super::super) fn chosen(
    design_file: &str,
    kind: Option<MemoryKind>,
    technology: Option<&str>,
    base: Option<&MainMemory>,
) -> Result<Option<MainMemory>, ConfigError> {
    if kind.is_none() && technology.is_none() {
        return Ok(base.cloned());
    }
    let combination = |problem: String, hint: String| ConfigError::Combination {
        file: design_file.to_owned(),
        problem,
        hint,
    };
    let technology = match (technology, base) {
        (Some(text), _) => named(design_file, text)?,
        (None, Some(base)) => Arc::clone(&base.technology),
        (None, None) => {
            return Err(combination(
                "`memory` has no meaning without a technology, and the base's has no memories"
                    .to_owned(),
                "add for example `technology = \"warrf\"`".to_owned(),
            ));
        }
    };
    let kinds = technology.kinds();
    let inherited = base.map(|base| base.kind).filter(|kind| kinds.contains(kind));
    let only = if let [only] = kinds[..] { Some(only) } else { None };
    let Some(kind) = kind.or(inherited).or(only) else {
        return Err(combination(
            format!("technology `{}` has more than one memory", technology.name),
            "add `memory = \"sram\"` or `memory = \"sttram\"`".to_owned(),
        ));
    };
    let chosen = MainMemory::new(&technology, kind).ok_or_else(|| {
        let names: Vec<_> = kinds.iter().map(|kind| format!("`{}`", kind.name())).collect();
        combination(
            format!("technology `{}` has no memory `{}`", technology.name, kind.name()),
            format!("it has {}", names.join(" and ")),
        )
    })?;
    Ok(Some(chosen))
}

/// A built-in technology by its name, or one from a file.
fn named(design_file: &str, text: &str) -> Result<Arc<Memories>, ConfigError> {
    if let Some(path) = technology_file::beside(design_file, text) {
        return file::load(&path);
    }
    memories(text).map(Arc::clone).ok_or_else(|| technology_file::unknown(text, names()))
}
