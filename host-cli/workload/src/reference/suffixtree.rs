//! Matches of reads in a text.

use super::error::bounded;
use super::inputs::Inputs;
use super::values::{Expected, Values};

/// By the text's suffixes in alphabetical order: the ones that match best stand beside the place
/// where the rest of the read would stand. No tree.
pub(super) fn reference(inputs: Inputs<'_>) -> Expected {
    let (letters, reads) = (inputs.parameter("text")?, inputs.parameter("reads")?);
    let each = inputs.parameter("letters")?;
    bounded(&[letters, letters])?;
    bounded(&[reads, each, each, 32])?;
    let text = inputs.u8("text", letters)?;
    let reads = inputs.u8("reads", reads * each)?;
    let mut suffixes: Vec<&[u8]> = (0..letters).map(|at| &text[at..]).collect();
    suffixes.sort_unstable();
    let mut matches = Vec::with_capacity(reads.len());
    for read in reads.chunks_exact(each.max(1)) {
        for place in 0..each {
            let rest = &read[place..];
            let at = suffixes.partition_point(|suffix| *suffix < rest);
            let beside = &suffixes[at.saturating_sub(1)..letters.min(at + 1)];
            let common = |suffix: &&[u8]| {
                suffix.iter().zip(rest).take_while(|(one, other)| one == other).count() as u32
            };
            matches.push(beside.iter().map(common).max().unwrap_or(0));
        }
    }
    Ok(vec![("matches", Values::U32(matches))])
}
