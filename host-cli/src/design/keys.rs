//! What to write instead of a key that design files do not have.

use super::file::FORMAT;
use crate::config::suggest::{nearest_listed, suggest};

/// The lines of [`FORMAT`], those of tables that exclude each other as if they were not commented
/// out.
pub(super) fn format_lines() -> impl Iterator<Item = &'static str> {
    FORMAT.lines().map(|line| line.strip_prefix("# ").unwrap_or(line))
}

/// Keys of earlier versions, and what to write instead.
const RENAMED: [(&str, &str); 1] = [(
    "write_pool_accesses",
    "`write_pool_ports`: write `write_pool_ports = \"1rw\"` for one access in a cycle, \
     `write_pool_ports = 4` for four",
)];

/// The key that an unknown one resembles most, as a line to add to the message about it.
pub(super) fn nearest_key(message: &str) -> String {
    let renamed = |(key, _): &&(&str, &str)| message.contains(&format!("unknown field `{key}`"));
    if let Some((key, now)) = RENAMED.iter().find(renamed) {
        return format!("\n`{key}` is now {now}");
    }
    if let Some(near) = nearest_listed(message) {
        return format!("\ndid you mean `{near}`?");
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let Some((unknown, _)) = unknown else { return String::new() };
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
    found.map_or_else(String::new, |(key, place)| format!("\ndid you mean `{key}` {place}?"))
}
