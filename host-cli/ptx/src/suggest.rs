//! "Did you mean": the nearest name to a mistyped one.

/// Longest name that is compared; longer ones get no suggestion, so that cost stays bounded.
const NAME_MAX: usize = 48;
/// Most candidates that are looked at.
const CANDIDATES_MAX: usize = 4096;

/// The candidate nearest to `name`, when one is near enough to be what was meant.
///
/// Cost: at most 4096 comparisons of 48 by 48 characters.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > NAME_MAX {
        return None;
    }
    let limit = name.len().div_ceil(3).min(3);
    candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit)
        .map(|candidate| (distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|&(distance, _)| distance <= limit && distance < name.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let change = usize::from(a[i] != b[j]);
            row[j + 1] = (above[j] + change).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let opcodes = ["add", "sub", "setp", "shfl"];
        assert_eq!(nearest("ad", opcodes), Some("add"));
        assert_eq!(nearest("step", opcodes), Some("setp"));
        assert_eq!(nearest("shlf", opcodes), Some("shfl"));
        assert_eq!(nearest("frobnicate", opcodes), None);
        assert_eq!(nearest(&"x".repeat(1000), opcodes), None);
    }
}
