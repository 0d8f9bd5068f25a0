//! Ranges of keys.

use super::inputs::Inputs;
use super::values::{Expected, Values};

/// For both ends of each query the last record whose key is not above it, in the list of all keys.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (records, queries) = (inputs.parameter("records")?, inputs.parameter("queries")?);
    let gaps = inputs.u32("gaps", records)?;
    let keys: Vec<u64> =
        (0_u64..).zip(&gaps).map(|(record, &gap)| (record << 3) + u64::from(gap)).collect();
    let found = |name| -> Result<Vec<i32>, _> {
        let wanted = inputs.u64(name, queries)?;
        let at = |&key: &u64| keys.partition_point(|&one| one <= key) as i32 - 1;
        Ok(wanted.iter().map(at).collect())
    };
    let (first, last) = (found("start")?, found("end")?);
    let length = first.iter().zip(&last).map(|(first, last)| last - first).collect();
    Ok(vec![
        ("first", Values::S32(first)),
        ("last", Values::S32(last)),
        ("length", Values::S32(length)),
    ])
}
