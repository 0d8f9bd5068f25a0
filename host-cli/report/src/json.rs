//! JSON: what a command found, with sorted keys, and its schema.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use strata_files::failure::Failure;

/// Reports or a study as JSON with sorted keys and a final newline.
///
/// # Errors
///
/// A value that JSON cannot hold, which would be a defect.
pub fn to_text<T: Serialize + ?Sized>(found: &T) -> Result<String, Failure> {
    // Through `Value`, whose maps are sorted: field order in the source must not reach the output.
    let text = serde_json::to_value(found).and_then(|value| serde_json::to_string_pretty(&value));
    text.map(|text| text + "\n")
        .map_err(|error| Failure::internal(&format!("cannot write JSON: {error}")))
}

/// Reports or a study as JSON in one line, with sorted keys and a final newline.
///
/// # Errors
///
/// A value that JSON cannot hold, which would be a defect.
pub fn to_line<T: Serialize + ?Sized>(found: &T) -> Result<String, Failure> {
    let text = serde_json::to_value(found).and_then(|value| serde_json::to_string(&value));
    text.map(|text| text + "\n")
        .map_err(|error| Failure::internal(&format!("cannot write JSON: {error}")))
}

/// Longest file of reports. Unit: bytes.
const LONGEST: u64 = 1 << 30;

/// The text of a file that a command wrote.
///
/// # Errors
///
/// A file that cannot be read, is no UTF-8, or is longer than a GiB.
pub fn text_of(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|error| Failure::file(path, "read", &error))?;
    if text.len() as u64 > LONGEST {
        let told = format!("`{}` is longer than {LONGEST} bytes", path.display());
        return Err(Failure::input(told).hint("write fewer inputs into a file"));
    }
    Ok(text)
}

/// The JSON schema of [`to_text`]'s output.
pub fn schema_text<T: JsonSchema>() -> String {
    format!("{:#}\n", schemars::schema_for!(T).to_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{cached, plain};
    use strata_core::sm::memory::cached::CacheEvent;

    #[test]
    fn only_a_design_with_a_data_cache_reports_it() {
        let text = to_text(&plain("mine")).unwrap();
        assert!(!text.contains("\"data_cache\""), "{text}");
        let text = to_text(&cached("mine")).unwrap();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["data_cache"]["store_misses"], 500);
        assert_eq!(found["data_cache"].as_object().unwrap().len(), CacheEvent::ALL.len() + 2);
    }
}
