//! Compression of the data that the page holds; a failure to encode it is a defect.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use strata_files::failure::Failure;

/// What encoding cannot do is a defect.
pub(super) fn defect(problem: &dyn std::error::Error) -> Failure {
    Failure::internal(&format!("the explorer's data: {problem}"))
}

/// Bytes as browsers decompress them; the same for the same bytes.
pub(super) fn packed(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.map_err(|error| defect(&error))
}
