//! Suggestions for names that do not exist.

/// Most characters of a name that is compared; longer ones have no suggestions.
const LONGEST: usize = 100;

/// The candidates that a mistyped name most resembles, nearest first, at most three.
///
/// A candidate qualifies with an edit distance of at most a third of the name's length, at least 2.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.chars().count() > LONGEST {
        return Vec::new();
    }
    let limit = (name.chars().count() / 3).max(2);
    let mut near: Vec<_> = candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours, without regard to case, that turn
/// one name into the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    // rows[i][j]: distance between the first i characters of `a` and the first j of `b`.
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "ABC", 0),
            ("", "abc", 3),
            ("hotspot", "hotpsot", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_the_far_not_at_all() {
        let names = ["hotspot", "histogram", "isca11-rfc6", "isca11-rfc5", "isca11"];
        assert_eq!(suggest("hotpsot", names), ["hotspot"]);
        assert_eq!(suggest("isca-rfc6", names), ["isca11-rfc6", "isca11-rfc5"]);
        assert!(suggest("completely-different", names).is_empty());
        assert!(suggest(&"x".repeat(100_000), names).is_empty());
    }
}
