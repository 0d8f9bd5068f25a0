//! `.npz`: arrays by name, each an `.npy` file in a ZIP archive.

use std::io::{BufReader, Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

use super::array::Array;
use super::npy;
use super::problem::ArrayProblem;
use crate::element::ElementType;

fn malformed(error: ZipError) -> ArrayProblem {
    match error {
        ZipError::Io(error) => error.into(),
        other => ArrayProblem::Malformed { format: "`.npz`", because: other.to_string() },
    }
}

/// Reads one array of at most `limit` bytes.
pub(super) fn read(
    file: impl Read + Seek,
    member: Option<&str>,
    element: ElementType,
    limit: u64,
) -> Result<Array, ArrayProblem> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(malformed)?;
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()))
        .collect();
    let known = || {
        let mut quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.sort();
        if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
    };
    let name = match (member, names.as_slice()) {
        (Some(member), _) if names.iter().any(|name| name == member) => member.to_owned(),
        (Some(member), _) => {
            let (what, name) = ("array", format!("`{member}`"));
            return Err(ArrayProblem::Unknown { what, name, known: known() });
        }
        (None, [only]) => only.clone(),
        (None, []) => {
            let because = "it has no array".to_owned();
            return Err(ArrayProblem::Malformed { format: "`.npz`", because });
        }
        (None, _) => return Err(ArrayProblem::SeveralArrays { known: known() }),
    };
    let array = archive.by_name(&format!("{name}.npy")).map_err(malformed)?;
    npy::read(array, element, limit)
}
