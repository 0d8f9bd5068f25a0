//! Mutants of files that consist of lines, such as `key = value`.

use strata_ptx::fuzzing::Random;

/// Values that files seldom have.
const VALUES: [&str; 50] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "32",
    "33",
    "64",
    "65",
    "255",
    "256",
    "1023",
    "4096",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "0x7fffffffffffffff",
    "1_000",
    "1e3",
    "1e400",
    "1e-400",
    "0.5",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "true",
    "1979-05-27",
    "\"\"",
    "\" \"",
    "\"\\u001b[31m\"",
    "\"\u{202e}\"",
    "[]",
    "{}",
    "[[]]",
    "\"n * n\"",
    "\"i\"",
    "\"1 / 0\"",
    "\"n - n\"",
    "\"0.37 pJ/bit\"",
    "\"1000000000000 aJ/bit\"",
    "\"0 fJ\"",
    "\"1000000 um\"",
    "\"1 us\"",
    "\"1000000 W\"",
];

/// One mutant of `text`, with lines and words of `other`.
pub fn mutate(text: &str, other: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let others: Vec<&str> = other.lines().collect();
    for _ in 0..=random.below(4) {
        change(&mut lines, &others, random);
    }
    let mut mutant = lines.join("\n");
    mutant.push('\n');
    mutant
}

fn change(lines: &mut Vec<String>, others: &[&str], random: &mut Random) {
    if lines.is_empty() {
        lines.extend(others.iter().map(|&line| line.to_owned()));
        return;
    }
    let at = random.below(lines.len());
    let word = |random: &mut Random| {
        let line = others.get(random.below(others.len())).copied().unwrap_or("");
        let words: Vec<&str> = words(line).map(|(start, end)| &line[start..end]).collect();
        words.get(random.below(words.len())).copied().unwrap_or("x").to_owned()
    };
    match random.below(10) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let to = random.below(lines.len());
            lines.swap(at, to);
        }
        3 => {
            let from = random.below(others.len());
            let end = others.len().min(from + 1 + random.below(4));
            let taken = others[from..end].iter().map(|&line| line.to_owned());
            drop(lines.splice(at..at, taken));
        }
        4 | 5 => {
            if let Some((key, _)) = lines[at].split_once('=') {
                let value = VALUES[random.below(VALUES.len())];
                lines[at] = format!("{}= {value}", key.to_owned());
            }
        }
        6 => {
            let new = word(random);
            replace(&mut lines[at], &new, random, |_| true);
        }
        7 | 8 => {
            let new = VALUES[random.below(VALUES.len())];
            let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
            replace(&mut lines[at], new, random, number);
        }
        _ => {
            let line = &mut lines[at];
            let cut = line.floor_char_boundary(random.below(line.len() + 1));
            line.truncate(cut);
        }
    }
}

/// Runs of letters, digits and points.
fn words(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].find(inside)?;
        at = line[start..].find(|c| !inside(c)).map_or(line.len(), |length| start + length);
        Some((start, at))
    })
}

fn replace(line: &mut String, new: &str, random: &mut Random, wanted: impl Fn(&str) -> bool) {
    let all: Vec<_> = words(line).filter(|&(start, end)| wanted(&line[start..end])).collect();
    if let Some(&(start, end)) = all.get(random.below(all.len())) {
        line.replace_range(start..end, new);
    }
}

/// Replaces the first `size` bytes of `data` by a mutant that fits, and gives its size.
pub fn mutate_within(data: &mut [u8], size: usize, seed: u32, others: &[&str]) -> usize {
    let mut random = Random(u64::from(seed));
    let other = others.get(random.below(others.len())).copied().unwrap_or("");
    let text = String::from_utf8_lossy(&data[..size]);
    let mutant = mutate(&text, other, &mut random);
    let length = mutant.len().min(data.len());
    data[..length].copy_from_slice(&mutant.as_bytes()[..length]);
    length
}
