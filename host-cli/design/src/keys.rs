//! What to write instead of a key that design files do not have.

use strata_config::Mistake;
use strata_config::suggest::suggest;

/// A design file with every key, its values and their ranges; it is valid itself.
pub const FORMAT: &str = include_str!("format.toml");

/// The lines of [`FORMAT`], those of tables that exclude each other as if they were not commented
/// out.
pub(super) fn format_lines() -> impl Iterator<Item = &'static str> {
    FORMAT.lines().map(|line| line.strip_prefix("# ").unwrap_or(line))
}

/// Tables of launch files, which can be taken for design files.
const LAUNCH_KEYS: [&str; 5] = ["description", "buffer", "launch", "phase", "size"];

/// Keys of earlier versions, and what to write instead.
const RENAMED: [(&str, &str); 1] = [(
    "write_pool_accesses",
    "`write_pool_ports`: write `write_pool_ports = \"1rw\"` for one access in a cycle, \
     `write_pool_ports = 4` for four",
)];

/// What to write in the place of a mistake; empty if that is not known.
pub(super) fn hint(mistake: &Mistake) -> String {
    let Some(unknown) = &mistake.unknown_key else {
        return if mistake.message == "`base` is missing" {
            "name the design that the file changes, such as `base = \"isca11-rfc6\"`".to_owned()
        } else {
            mistake.hint()
        };
    };
    if LAUNCH_KEYS.contains(&unknown.as_str()) {
        return "launch files have it; pass one with its PTX: `FILE.ptx --launch FILE.toml`".into();
    }
    if let Some((key, now)) = RENAMED.iter().find(|(key, _)| key == unknown) {
        return format!("`{key}` is now {now}");
    }
    if !mistake.hint().is_empty() {
        return mistake.hint();
    }
    // A key of another table.
    let mut place = "before the first table".to_owned();
    let mut keys = Vec::new();
    for line in format_lines() {
        if let Some((table, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            place = format!("in `[{table}]`");
            keys.push((table, "as a table".to_owned()));
        } else if let Some((key, _)) = line.split_once(" = ") {
            keys.push((key, place.clone()));
        }
    }
    let near = suggest(unknown, keys.iter().map(|(key, _)| *key));
    let found = near.first().and_then(|near| keys.iter().find(|(key, _)| key == near));
    found.map_or_else(String::new, |(key, place)| format!("did you mean `{key}` {place}?"))
}
