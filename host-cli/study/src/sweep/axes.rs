//! Axes: a key and the values that it takes.

use std::collections::BTreeSet;

use strata_design::pieces;
use strata_files::failure::Failure;
use strata_workload::generator::SplitMix64;

/// Most values of an axis.
const MOST_VALUES: u64 = 1_000_000;

/// A key and its values, as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The key of a design file, or a parameter of workloads.
    pub key: String,
    /// Its values; at least one, no two the same.
    pub values: Vec<String>,
}

/// What an axis looks like, for messages.
const HINT: &str = "write `KEY=VALUES` with a range, a range with a step or a list: \
                    `cache.entries=1..13`, `sm.warps=8..48:8`, `memory=sram|sttram`";

impl Axis {
    /// Reads `KEY=VALUES`; `option` is what it is given by.
    ///
    /// # Errors
    /// No key, no values, a range that is none, a value that comes twice.
    pub fn parse(option: &str, text: &str) -> Result<Self, Failure> {
        let shown = format!("{option} {text}");
        match text.split_once('=') {
            Some((key, values)) => Self::new(&shown, key.trim(), values),
            None => Err(Failure::input(format!("`{shown}` gives no values")).hint(HINT)),
        }
    }

    /// Reads the values of a key; `shown` is how a message shows both.
    ///
    /// # Errors
    /// No key, an empty value, a range that is none, a value that comes twice.
    pub fn new(shown: &str, key: &str, values: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::input(format!("`{shown}` {why}")).hint(HINT);
        if key.is_empty() {
            return Err(wrong("has no key"));
        }
        let mut all = Vec::new();
        for piece in alternatives(values) {
            if piece.is_empty() {
                return Err(wrong("has an empty value"));
            }
            match range(piece) {
                Some(range) => all.extend(range.map_err(|why| wrong(&why))?),
                None => all.push(piece.to_owned()),
            }
        }
        let mut sorted: Vec<_> = all.iter().collect();
        sorted.sort_unstable();
        if let Some([twice, _]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(&format!("has the value `{twice}` twice")));
        }
        Ok(Self { key: key.to_owned(), values: all })
    }
}

/// The values of a list between `|`, or between commas where there is none; neither within
/// brackets.
fn alternatives(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let mut cuts: Vec<_> = text
        .split(|mark: char| {
            depth += i32::from(mark == '[') - i32::from(mark == ']');
            mark == '|' && depth == 0
        })
        .collect();
    if let [whole] = cuts[..] {
        cuts = pieces(whole).collect();
    }
    cuts.into_iter().map(str::trim).collect()
}

/// The values of `FIRST..LAST` or `FIRST..LAST:STEP`, both ends among them; none if the text is no
/// range.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (first, rest) = text.split_once("..")?;
    let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
    let number = |text: &str| {
        let number = text.trim().parse::<i64>();
        number.map_err(|_| format!("has `{text}`, which is no whole number, in a range"))
    };
    let read = || {
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if step < 1 {
            return Err(format!("has a step of {step}, and 1 is the least"));
        }
        if first > last {
            return Err(format!("has a range from {first} down to {last}, which is empty"));
        }
        if first.abs_diff(last) / step.unsigned_abs() >= MOST_VALUES {
            return Err(format!("has more than {MOST_VALUES} values"));
        }
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        Ok((first..=last).step_by(step).map(|value| value.to_string()).collect())
    };
    Some(read())
}

/// Every combination of the axes' values, as pairs of key and value: the last axis is the fastest.
pub fn grid(axes: &[Axis]) -> Vec<Vec<(&str, &str)>> {
    let mut all = vec![Vec::new()];
    for Axis { key, values } in axes {
        let mut longer = Vec::with_capacity(all.len() * values.len());
        for start in &all {
            for value in values {
                let mut combination: Vec<(&str, &str)> = start.clone();
                combination.push((key, value));
                longer.push(combination);
            }
        }
        all = longer;
    }
    all
}

/// So many combinations of the axes' values, drawn by a seed; one that was drawn before is left
/// out.
pub fn drawn(axes: &[Axis], points: u32, seed: u64) -> Vec<Vec<(&str, &str)>> {
    let mut random = SplitMix64::new(seed);
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for _ in 0..points {
        let draw = |axis: &Axis| random.below(axis.values.len() as u64) as usize;
        let places: Vec<usize> = axes.iter().map(draw).collect();
        if seen.insert(places.clone()) {
            let pairs = axes.iter().zip(places);
            let pairs = pairs.map(|(axis, at)| (axis.key.as_str(), axis.values[at].as_str()));
            all.push(pairs.collect());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Axis::parse("--vary", text).unwrap_or_else(|error| panic!("{}", error.message())).values
    }

    fn error(text: &str) -> String {
        Axis::parse("--vary", text).unwrap_err().message().to_owned()
    }

    #[test]
    fn ranges_and_lists_are_read() {
        assert_eq!(values("a=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("a=1..7:3"), ["1", "4", "7"]);
        assert_eq!(values("a=1..8:3"), ["1", "4", "7"]);
        assert_eq!(values("a=5..5"), ["5"]);
        assert_eq!(values("a=1,4..6"), ["1", "4", "5", "6"]);
        assert_eq!(values("a= x | y "), ["x", "y"]);
        assert_eq!(values("a=[sfu]|[sfu,double]"), ["[sfu]", "[sfu,double]"]);
        assert_eq!(values("a=[sfu,double]"), ["[sfu,double]"]);
        assert_eq!(values("a=warrf.toml"), ["warrf.toml"]);
        assert_eq!(values("a=-1..1"), ["-1", "0", "1"]);
    }

    #[test]
    fn what_is_no_axis_says_why() {
        for (text, expected) in [
            ("a", "`--vary a` gives no values\n  hint: write `KEY=VALUES`"),
            ("=1", "has no key"),
            ("a=", "has an empty value"),
            ("a=1||2", "has an empty value"),
            ("a=5..1", "has a range from 5 down to 1, which is empty"),
            ("a=1..x", "has `x`, which is no whole number, in a range"),
            ("a=1..9:0", "has a step of 0, and 1 is the least"),
            ("a=1..9000000000000000000", "has more than 1000000 values"),
            ("a=1,1", "has the value `1` twice"),
            ("a=1..3,2", "has the value `2` twice"),
        ] {
            let error = error(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_grid_has_every_combination() {
        let axes = ["a=1..3", "b=x|y"].map(|text| Axis::parse("--vary", text).unwrap());
        let all = grid(&axes);
        assert_eq!(all.len(), 6);
        assert_eq!(all[1], [("a", "1"), ("b", "y")]);
        assert_eq!(all[5], [("a", "3"), ("b", "y")]);
        assert_eq!(grid(&[]), [Vec::new()]);
    }

    #[test]
    fn draws_depend_on_their_seed_only_and_come_once() {
        let axes = ["a=1..3", "b=x|y"].map(|text| Axis::parse("--vary", text).unwrap());
        let some = drawn(&axes, 4, 7);
        assert_eq!(some, drawn(&axes, 4, 7));
        assert_ne!(some, drawn(&axes, 4, 8));
        let many = drawn(&axes, 1000, 7);
        assert_eq!((many.len(), &many[..some.len()]), (6, &some[..]));
    }
}
