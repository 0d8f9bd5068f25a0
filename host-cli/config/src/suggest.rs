//! Suggestions for names that do not exist.

/// Most characters of a name that is compared; longer ones have no suggestions.
const LONGEST: usize = 100;

/// The candidates that a mistyped name most resembles, nearest first, at most three.
///
/// A candidate qualifies if insertions, deletions, replacements and swaps of neighbours, at most
/// half as many as it has characters, turn it into the name, or if one of the two is a part of the
/// other; case does not matter.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.chars().count() > LONGEST {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let mut near: Vec<_> = candidates
        .into_iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let part = name.len() >= 3 && (lower.contains(&name) || name.contains(&lower));
            (strsim::osa_distance(&name, &lower), part, candidate)
        })
        .filter(|&(distance, part, candidate)| part || distance <= candidate.chars().count() / 2)
        .map(|(distance, _, candidate)| (distance, candidate))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The question that suggestions make; none without any.
pub fn did_you_mean(suggestions: &[&str]) -> Option<String> {
    let quoted: Vec<_> = suggestions.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_the_far_not_at_all() {
        let names = ["hotspot", "histogram", "isca11-rfc6", "isca11-rfc5", "isca11"];
        assert_eq!(suggest("hotpsot", names), ["hotspot"]);
        assert_eq!(suggest("isca-rfc6", names), ["isca11-rfc6", "isca11-rfc5"]);
        assert_eq!(suggest("MATRIX", ["matrixmul"]), ["matrixmul"]);
        assert_eq!(suggest("reduce", ["reduction"]), ["reduction"]);
        assert!(suggest("completely-different", names).is_empty());
        assert!(suggest("", names).is_empty());
        assert!(suggest(&"x".repeat(100_000), names).is_empty());
    }

    #[test]
    fn suggestions_are_a_question() {
        assert_eq!(did_you_mean(&[]), None);
        assert_eq!(did_you_mean(&["a", "b"]).as_deref(), Some("did you mean `a` or `b`?"));
    }
}
