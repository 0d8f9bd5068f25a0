//! JSON: what a command found, with sorted keys, and its schema.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

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

/// The same in one line.
///
/// # Errors
///
/// A value that JSON cannot hold, which would be a defect.
pub fn to_line<T: Serialize + ?Sized>(found: &T) -> Result<String, Failure> {
    let text = serde_json::to_value(found).and_then(|value| serde_json::to_string(&value));
    text.map(|text| text + "\n")
        .map_err(|error| Failure::internal(&format!("cannot write JSON: {error}")))
}

/// The JSON schema of [`to_text`]'s output.
pub fn schema_text<T: JsonSchema>() -> String {
    format!("{:#}\n", schemars::schema_for!(T).to_value())
}
