//! The rules of the model have numbers, which code and documents cite.

use super::repository::{Repository, Violation};

/// The description of the model, whose rules have numbers.
const MODEL: &str = "docs/MODEL.md";

/// Numbers in a text behind the word `rule`, or `rules`: `1`, `1 and 2`, `1, 2`, `1 to 4`.
fn rule_numbers(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for (at, word) in text.match_indices("rule") {
        let mut rest = &text[at + word.len()..];
        rest = rest.strip_prefix('s').unwrap_or(rest);
        let mut before = " ";
        while let Some(behind) = rest.strip_prefix(before) {
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let Ok(number) = behind[..digits].parse() else { break };
            numbers.push(number);
            rest = &behind[digits..];
            let Some(next) = [" and ", " to ", ", "].iter().find(|next| rest.starts_with(**next))
            else {
                break;
            };
            before = next;
        }
    }
    numbers
}

/// A rule of the model that is cited but does not exist, and one that is not where its number says.
pub(crate) fn rules_exist(repository: &Repository) -> Vec<Violation> {
    let Some(model) = repository.file(MODEL) else {
        return vec![Violation::of(MODEL, "missing: the description of the model")];
    };
    let mut found = Vec::new();
    let mut last = 0;
    for (number, line) in model.lines() {
        let Some((rule, _)) = line.split_once(". **") else { continue };
        let Ok(rule) = rule.parse::<usize>() else { continue };
        if rule != last + 1 {
            let message = format!("rule {rule} comes after rule {last}");
            found.push(Violation::at(MODEL, number, message));
        }
        last = rule;
    }
    for file in repository.with_extension(&["rs", "toml", "md"]) {
        for (number, line) in file.lines() {
            let comment = if file.is("rs") { "//" } else { "#" };
            let text = match line.split_once(comment) {
                Some((_, text)) if !file.is("md") => text,
                _ if file.is("md") => line,
                _ => continue,
            };
            let cited = rule_numbers(text);
            for rule in cited.into_iter().filter(|rule| !(1..=last).contains(rule)) {
                let message = format!("rule {rule} is not in {MODEL}");
                found.push(Violation::at(&file.path, number, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_they_are_listed() {
        // Not to be taken for citations of this file.
        let of = |text: &str| rule_numbers(&text.replace('@', "rule"));
        assert_eq!(of("see @ 7, @s 1 to 18 and 24, not 3; @s 2, 3 and 4"), [7, 1, 18, 24, 2, 3, 4]);
        assert_eq!(of("the @: 5, @d 6, @s of 7"), []);
    }

    #[test]
    fn a_rule_that_does_not_exist_and_one_out_of_order_are_found() {
        let model = "1. **A.** x\n2. **B**\n";
        let code = "let x = 3; // @ 2\nlet s = \"@ 9\"; // @s 1 and 3\n".replace('@', "rule");
        let files = [(MODEL, model), ("a.rs", code.as_str())];
        let found = rules_exist(&Repository::of(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].path.as_str(), found[0].line), ("a.rs", 2));
        let model = "1. **A.** x\n3. **B**\n";
        assert_eq!(rules_exist(&Repository::of(&[(MODEL, model)]))[0].line, 2);
        assert_eq!(rules_exist(&Repository::default()).len(), 1);
    }
}
