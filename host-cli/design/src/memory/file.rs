//! Technology files: memories of the user's, each value with its unit and its source.

use std::path::Path;
use std::sync::Arc;

use super::super::technology_file::{self, Checks};
use super::{Memories, MemoryKind};
use strata_config::ConfigError;

/// Reads a technology file.
pub fn load(path: &Path) -> Result<Arc<Memories>, ConfigError> {
    let (file, text) = technology_file::text(path)?;
    let memories = Arc::unwrap_or_clone(parse(&file, &text)?);
    Ok(Arc::new(Memories { file: Some(path.to_owned()), ..memories }))
}

/// Reads a technology from the text of a file; `file` is used in messages.
pub fn parse(file: &str, text: &str) -> Result<Arc<Memories>, ConfigError> {
    let memories: Memories = technology_file::parse(file, text)?;
    check(Checks { file }, &memories).map_err(|error| error.located(file, text))?;
    Ok(Arc::new(memories))
}

fn check(checks: Checks<'_>, memories: &Memories) -> Result<(), ConfigError> {
    if memories.kinds().is_empty() {
        let problem = "it has neither an `[sram]` nor an `[sttram]`".to_owned();
        return Err(checks.combination(problem, "give at least one of the two tables"));
    }
    checks.head(&memories.name, &memories.source, &memories.assumed)?;
    for kind in memories.kinds() {
        let Some(memory) = memories.memory(kind) else { continue };
        let key = |name: &str| format!("{}.{name}", kind.name());
        checks.sourced(&key("read_energy"), &memory.read_energy)?;
        checks.sourced(&key("write_energy"), &memory.write_energy)?;
        checks.sourced(&key("read_latency"), &memory.read_latency)?;
        checks.sourced(&key("write_latency"), &memory.write_latency)?;
        checks.sourced(&key("leakage_per_bank"), &memory.leakage_per_bank)?;
        checks.capacity(&key("bank_kb"), memory.bank_kb)?;
        if let Some(area) = &memory.area {
            checks.sourced(&key("area"), area)?;
        }
        if let Some(kb) = memory.area_kb {
            checks.capacity(&key("area_kb"), kb)?;
        }
        if memory.cell_area_f2 == Some(0) {
            let allowed = "at least 1 square of the feature size".to_owned();
            return Err(checks.range(&key("cell_area_f2"), "0".to_owned(), allowed));
        }
        both(checks, kind, memory.area.is_some(), memory.area_kb.is_some())?;
    }
    if let Some(pool) = &memories.write_pool {
        checks.sourced("write_pool.access_energy", &pool.access_energy)?;
    }
    Ok(())
}

fn both(
    checks: Checks<'_>,
    kind: MemoryKind,
    area: bool,
    capacity: bool,
) -> Result<(), ConfigError> {
    if area == capacity {
        return Ok(());
    }
    let kind = kind.name();
    let problem = format!("only one of `{kind}.area` and `{kind}.area_kb` is given");
    Err(checks.combination(problem, "give the area and the capacity in KB that has it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
name = "mine"
source = "our runs"
[sttram]
read_energy = { value = "0.42 pJ/bit", source = "NVSim, a" }
write_energy = { value = "0.5 pJ/bit", source = "NVSim, b" }
read_latency = { value = "1.5 ns", source = "NVSim, c" }
write_latency = { value = "6 ns", source = "NVSim, d" }
leakage_per_bank = { value = "2 mW", source = "NVSim, e" }
bank_kb = 8
"#;

    fn error(text: &str) -> String {
        let error = parse("t.toml", text).unwrap_err();
        format!("{error}\n{}", error.hint().unwrap_or_default())
    }

    #[test]
    fn a_file_says_each_value_with_its_source() {
        let memories = parse("t.toml", FILE).unwrap();
        assert_eq!(memories.kinds(), [MemoryKind::Sttram]);
        assert!(!memories.built_in);
        let memory = super::super::MainMemory::new(&memories, MemoryKind::Sttram).unwrap();
        assert_eq!(memory.cycles(strata_config::quantity::Frequency(1_000_000)), (2, 6));
        let values = memory.values();
        assert_eq!(values.len(), 5);
        assert_eq!(values[1].0, "sttram.write_energy");
        assert_eq!((values[1].1.as_str(), values[1].2), ("0.5 pJ/bit", "NVSim, b"));
    }

    #[test]
    fn what_is_wrong_is_said_with_file_key_and_unit() {
        let with = |from: &str, to: &str| {
            assert!(FILE.contains(from), "{from}");
            error(&FILE.replace(from, to))
        };
        for (found, parts) in [
            (
                with("0.42 pJ/bit", "0.42 pJ"),
                ["t.toml:", "the units are `aJ/bit`, `fJ/bit`, `pJ/bit`"],
            ),
            (with("1.5 ns", "1.5"), ["t.toml:", "the units are `fs`, `ps`, `ns`, `us`"]),
            (with("2 mW", "2 W/mm"), ["t.toml:", "the units are `nW`, `uW`, `mW`, `W`"]),
            (with(", source = \"NVSim, b\"", ""), ["write_energy", "`source` is missing"]),
            (with("NVSim, c", " "), ["sttram.read_latency.source = \" \"", "where the values"]),
            (with("bank_kb = 8", "bank_kb = 0"), ["sttram.bank_kb = 0", "1 to 1048576 KB"]),
            (with("bank_kb = 8", ""), ["sttram", "`bank_kb` is missing"]),
            (with("bank_kb", "bnk_kb"), ["there is no key `bnk_kb` here", "`bank_kb`"]),
            (
                with("bank_kb", "area_kb = 9\nbank_kb"),
                ["only one of `sttram.area`", "give the area"],
            ),
            (with("\"mine\"", "\"warrf\""), ["built-in technology", "call it something else"]),
            (with("\"our runs\"", "\"\""), ["`source = \"\"`", "where the values come from"]),
            (
                error("name = \"a\"\nsource = \"b\""),
                ["neither an `[sram]` nor an `[sttram]`", "at least one"],
            ),
        ] {
            for part in parts {
                assert!(found.contains(part), "{part}: {found}");
            }
        }
        assert!(matches!(load(Path::new("/none/t.toml")), Err(ConfigError::Unreadable { .. })));
    }
}
