//! What shows the effects of the entries of `docs/DEVIATIONS.md`, so that they can be measured
//! again: files `xtask/deviations/DEV-nnn.toml` and, where no switch of the program makes it do the
//! other thing, patches `DEV-nnn.patch` beside them.

pub(crate) mod patch;

use std::collections::BTreeMap;

use crate::tidy::repository::Repository;

/// The folder of the files.
pub(crate) const FOLDER: &str = "xtask/deviations";
/// The list of entries.
pub(crate) const LIST: &str = "docs/DEVIATIONS.md";

/// How the effects of one entry are measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// The entry, `DEV-` and its number.
    pub(crate) name: String,
    /// Files that the runs read: design files by their names.
    pub(crate) files: BTreeMap<String, String>,
    /// What the entry says, and how it is measured.
    pub(crate) checks: Vec<Check>,
    /// What makes the program do the other thing, if no switch does.
    pub(crate) patch: Option<String>,
}

/// A number of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    /// The words around it, as they stand in the entry, with `{}` in its place.
    pub(crate) says: String,
    /// The column of the program's CSV.
    pub(crate) key: String,
    /// The workload; otherwise the mean over all.
    pub(crate) workload: Option<String>,
    /// The run that it is of.
    pub(crate) run: Run,
    /// What it is compared with.
    pub(crate) against: Against,
    /// The entry's words have the sign: `fewer`, `lower`.
    pub(crate) negative: bool,
    /// The entry says that it is at most this, without a sign.
    pub(crate) at_most: bool,
}

/// A command line of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Run {
    /// What is typed behind `strata`.
    pub(crate) arguments: String,
    /// By the program with the entry's patch.
    pub(crate) patched: bool,
}

/// What a number is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Against {
    /// With nothing: the number itself.
    Nothing,
    /// The number of this run is taken away.
    Less(Run),
    /// By how many percent the number exceeds that of this run.
    Over(Run),
}

impl Plan {
    /// Reads the file of an entry.
    pub(crate) fn read(name: &str, text: &str, patch: Option<String>) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let mut plan = Self { name: name.to_owned(), patch, ..Self::default() };
        for (key, value) in table {
            match (key.as_str(), value) {
                ("files", toml::Value::Table(files)) => {
                    for (name, text) in files {
                        let text = text.as_str().ok_or(format!("`files.{name}` is no text"))?;
                        plan.files.insert(name, text.to_owned());
                    }
                }
                ("check", toml::Value::Array(checks)) => {
                    let patched = plan.patch.is_some();
                    let checks = checks.into_iter().map(|check| Check::read(check, patched));
                    plan.checks = checks.collect::<Result<_, _>>()?;
                }
                (key, _) => return Err(format!("there is no `{key}`, or not of this type")),
            }
        }
        if plan.checks.is_empty() { Err("no `[[check]]`".to_owned()) } else { Ok(plan) }
    }
}

impl Check {
    fn read(value: toml::Value, patched: bool) -> Result<Self, String> {
        let toml::Value::Table(mut table) = value else {
            return Err("a `[[check]]` that is no table".to_owned());
        };
        let mut text = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` is no text")),
        };
        let says = text("says")?.ok_or("a check without `says`")?;
        if says.matches("{}").count() != 1 {
            return Err(format!("`{says}` has not one `{{}}` for the number"));
        }
        let need = |value: Option<String>, key| value.ok_or(format!("`{says}` has no `{key}`"));
        let key = need(text("key")?, "key")?;
        let arguments = need(text("run")?, "run")?;
        let workload = text("workload")?;
        // A patch is compared with the program as it is.
        let as_it_is = |arguments: String| Run { arguments, patched: false };
        let against = match (text("less")?, text("over")?) {
            (None, None) => Against::Nothing,
            (Some(less), None) => Against::Less(as_it_is(less)),
            (None, Some(over)) => Against::Over(as_it_is(over)),
            (Some(_), Some(_)) => return Err(format!("`{says}` has both `less` and `over`")),
        };
        let mut flag = |key: &str| match table.remove(key) {
            None => Ok(false),
            Some(toml::Value::Boolean(on)) => Ok(on),
            Some(_) => Err(format!("`{key}` is neither true nor false")),
        };
        let (negative, at_most) = (flag("negative")?, flag("at_most")?);
        if let Some((key, _)) = table.iter().next() {
            return Err(format!("`{says}` has an unknown `{key}`"));
        }
        let run = Run { arguments, patched };
        Ok(Self { says, key, workload, run, against, negative, at_most })
    }

    /// The number that the entry says.
    pub(crate) fn said(&self, entry: &str) -> Result<Said, String> {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (entry, says) = (words(entry), words(&self.says));
        let (before, after) = says.split_once("{}").unwrap_or((&says, ""));
        let part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',');
        let number = |rest: &str| {
            let length = rest.find(|letter| !part(letter)).unwrap_or(rest.len());
            let digits = rest[..length].trim_end_matches(['.', ',']);
            let goes_on = rest[digits.len()..].starts_with(after);
            let said = Said::of(digits)?;
            goes_on.then_some(said)
        };
        let places = entry.match_indices(before).map(|(at, _)| entry.split_at(at + before.len()));
        // Not the end of a longer number.
        let whole = places.filter(|(start, _)| !start.ends_with(part));
        let found: Vec<Said> = whole.filter_map(|(_, rest)| number(rest)).collect();
        match found[..] {
            [said] => Ok(said),
            [] => Err(format!("the entry does not say `{says}`")),
            _ => Err(format!("the entry says `{says}` {} times", found.len())),
        }
    }
}

/// A number as it is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Said {
    /// The number.
    pub(crate) value: f64,
    /// Its decimals.
    pub(crate) decimals: usize,
}

impl Said {
    fn of(digits: &str) -> Option<Self> {
        let digits = digits.replace(',', "");
        let value = digits.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Self { value, decimals })
    }

    /// Whether a measured number is printed so.
    pub(crate) fn is(self, measured: f64) -> bool {
        // Half of the last decimal, and the noise of a mean of numbers with six decimals.
        let half = 0.5 * 10_f64.powi(-i32::try_from(self.decimals).unwrap_or(0));
        (measured - self.value).abs() <= half + 1e-6
    }
}

/// The plans of all entries that have one, by name, or what is wrong with their files.
pub(crate) fn plans(repository: &Repository) -> Vec<(String, Result<Plan, String>)> {
    let inside = |path: &str| path.strip_prefix(FOLDER)?.strip_prefix('/').map(str::to_owned);
    let mut plans = Vec::new();
    for file in &repository.files {
        let Some(name) =
            inside(&file.path).and_then(|name| name.strip_suffix(".toml").map(str::to_owned))
        else {
            continue;
        };
        let patch = repository.file(&format!("{FOLDER}/{name}.patch"));
        let plan = Plan::read(&name, &file.text, patch.map(|patch| patch.text.clone()));
        plans.push((name, plan));
    }
    plans
}

/// The lines of each entry, by its name.
pub(crate) fn entries(list: &str) -> BTreeMap<String, String> {
    let mut entries: BTreeMap<String, String> = BTreeMap::new();
    let mut current = None;
    for line in list.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.split(':').next().filter(|name| name.starts_with("DEV-"));
            current = name.map(str::to_owned);
        }
        if let Some(name) = &current {
            let entry = entries.entry(name.clone()).or_default();
            entry.push_str(line);
            entry.push('\n');
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[files]\n\"x.toml\" = \"base = 1\"\n[[check]]\n\
                        says = \"is {} % lower\"\nkey = \"e\"\nrun = \"run --design x.toml\"\n\
                        less = \"run\"\nnegative = true\n";

    #[test]
    fn a_plan_is_read_and_what_is_wrong_is_said() {
        let plan = Plan::read("DEV-1", TEXT, None).expect("it is whole");
        assert_eq!(plan.files["x.toml"], "base = 1");
        let [check] = &plan.checks[..] else { panic!("one check") };
        let run = |arguments: &str| Run { arguments: arguments.to_owned(), patched: false };
        assert_eq!(check.run, run("run --design x.toml"));
        assert_eq!(check.against, Against::Less(run("run")));
        assert!(check.negative && !check.at_most);
        let patched = Plan::read("DEV-1", TEXT, Some(String::new())).expect("it is whole");
        assert!(patched.checks[0].run.patched);
        assert_eq!(patched.checks[0].against, check.against, "with the program as it is");
        for (from, to, told) in [
            ("[[check]]", "[[checks]]", "`checks`"),
            ("{}", "x", "has not one"),
            ("key", "keys", "has no `key`"),
            ("negative = true", "negative = 1", "`negative`"),
            ("negative = true", "other = 1", "unknown `other`"),
            ("less", "over = \"a\"\nless", "both"),
            ("\"base = 1\"", "1", "`files.x.toml` is no text"),
        ] {
            let error = Plan::read("DEV-1", &TEXT.replacen(from, to, 1), None).unwrap_err();
            assert!(error.contains(told), "{to}: {error}");
        }
        assert!(Plan::read("DEV-1", "[files]\n", None).is_err());
    }

    #[test]
    fn a_number_is_found_in_an_entry_whatever_its_lines() {
        let plan = Plan::read("DEV-1", TEXT, None).expect("it is whole");
        let said = |entry| plan.checks[0].said(entry);
        assert_eq!(said("energy\n  is 4.10 %\nlower."), Ok(Said { value: 4.1, decimals: 2 }));
        assert_eq!(said("is 62,501 % lower"), Ok(Said { value: 62501.0, decimals: 0 }));
        assert!(said("is 4.1 % higher").is_err());
        let first = Check { says: "{} % lower".to_owned(), ..plan.checks[0].clone() };
        assert_eq!(first.said("is 64 % lower"), Ok(Said { value: 64.0, decimals: 0 }));
        assert!(said("is 4.1 % lower, is 5 % lower").is_err());
    }

    #[test]
    fn a_measured_number_agrees_to_the_printed_precision() {
        let said = Said { value: 4.1, decimals: 1 };
        assert!(said.is(4.05) && said.is(4.149) && !said.is(4.151) && !said.is(4.04));
        assert!(Said { value: 4.0, decimals: 0 }.is(4.49));
    }

    #[test]
    fn entries_are_told_apart() {
        let entries = entries("# x\n## DEV-001: a\nb\n## Other\nc\n## DEV-002: d\n");
        assert_eq!(entries["DEV-001"], "## DEV-001: a\nb\n");
        assert_eq!(entries.len(), 2);
    }
}
