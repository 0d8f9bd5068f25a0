//! Choice: the memory and the technology that a design file names.

use std::path::Path;
use std::sync::Arc;

use super::{MainMemory, Memories, MemoryKind, file, memories, names};
use crate::config::ConfigError;
use crate::config::suggest::{did_you_mean, suggest};

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
    let path = Path::new(text);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        let folder = Path::new(design_file).parent();
        return file::load(&folder.map_or_else(|| path.to_owned(), |folder| folder.join(path)));
    }
    let found = memories(text).map(Arc::clone);
    found.ok_or_else(|| {
        let all: Vec<_> = names().map(|name| format!("`{name}`")).collect();
        let all = format!("there are {}; a file ends in `.toml`", all.join(", "));
        let near = did_you_mean(&suggest(text, names()));
        ConfigError::UnknownName {
            what: "technology",
            name: text.to_owned(),
            hint: near.map_or_else(|| all.clone(), |near| format!("{near} {all}")),
        }
    })
}
