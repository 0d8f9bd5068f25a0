//! JSON: an array of reports with sorted keys, and its schema.

use super::RunReport;

/// The reports as one JSON array, with sorted keys and a final newline.
pub fn to_text(reports: &[RunReport]) -> Result<String, serde_json::Error> {
    // Through `Value`, whose maps are sorted: field order in the source must not reach the output.
    let value = serde_json::to_value(reports)?;
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// The JSON schema of [`to_text`]'s output.
pub fn schema_text() -> String {
    let schema = schemars::schema_for!(Vec<RunReport>);
    format!("{:#}\n", schema.to_value())
}
