//! Properties of the hardware, and what the prover says of them.
//!
//! `fpga-softcore/formal` holds for each block a list of tasks (`BLOCK.sby`, sby's own format),
//! properties that the block's module includes (`BLOCK_properties.svh`), and mutants that have to
//! fail (`mutants/BLOCK.toml`).

pub(crate) mod mutants;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::machine;
use crate::process::Failure;

/// Where all of it lies, from the root.
pub(crate) const FOLDER: &str = "fpga-softcore/formal";

/// What a task asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// That the properties hold in every reachable state, by induction.
    Prove,
    /// That cases can be reached.
    Cover,
    /// That the properties hold in the first clocks.
    Bounded,
}

/// When a task is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Always: it takes seconds.
    Small,
    /// If all of it was asked for.
    Full,
    /// For mutants.
    Mutants,
}

/// One line of a list of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// What sby calls it.
    pub(crate) name: String,
    /// What it asks for.
    pub(crate) kind: Kind,
    /// When it is run.
    pub(crate) when: When,
    /// The parameters that the module gets, as the page of the block spells them: `2x4`.
    pub(crate) size: String,
}

/// A block that has properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The module's name.
    pub(crate) name: String,
    /// What is asked of it.
    pub(crate) tasks: Vec<Task>,
    /// Text of each property by its number: `A7` is proved, `C7` reached, `E7` assumed.
    pub(crate) properties: BTreeMap<String, String>,
}

impl Block {
    /// Reads a block's files from `folder`.
    fn read(folder: &Path, name: &str) -> Result<Self, Failure> {
        let tasks = parse_tasks(&read(&folder.join(format!("{name}.sby")))?)
            .map_err(|why| Failure(format!("{name}.sby: {why}")))?;
        let properties = properties(&read(&folder.join(format!("{name}_properties.svh")))?);
        Ok(Self { name: name.to_owned(), tasks, properties })
    }

    /// The numbers that a task of this kind is about, as a range: `A1-A27`.
    pub(crate) fn numbers(&self, kind: Kind) -> String {
        let letter = if kind == Kind::Cover { 'C' } else { 'A' };
        let count = self.properties.keys().filter(|number| number.starts_with(letter)).count();
        format!("{letter}1-{letter}{count}")
    }

    /// A property as a sentence that begins with its number.
    pub(crate) fn sentence(&self, number: &str) -> String {
        let text = self.properties.get(number).map_or("not numbered", String::as_str);
        format!("{number}. {text}")
    }
}

/// The folder with lists of tasks and properties.
pub(crate) fn folder() -> PathBuf {
    machine::root().join(FOLDER)
}

/// All blocks, by name.
pub(crate) fn blocks() -> Result<Vec<Block>, Failure> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| Failure(format!("cannot read {}: {error}", folder.display())))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".sby").map(str::to_owned))
        .collect();
    names.sort();
    names.iter().map(|name| Block::read(&folder, name)).collect()
}

/// A file's text.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))
}

/// The section `[tasks]`: a name and its groups in each line.
fn parse_tasks(text: &str) -> Result<Vec<Task>, String> {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != "[tasks]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty());
    lines.map(parse_task).collect()
}

fn parse_task(line: &str) -> Result<Task, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let (mut kind, mut when, mut size) = (None, None, None);
    for group in words {
        match group {
            "prove" => kind = Some(Kind::Prove),
            "cover" => kind = Some(Kind::Cover),
            "bmc" => kind = Some(Kind::Bounded),
            "small" => when = Some(When::Small),
            "full" => when = Some(When::Full),
            "mutants" => when = Some(When::Mutants),
            other => {
                let number = other
                    .strip_prefix('s')
                    .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
                size = Some(number.ok_or_else(|| format!("task `{name}`: unknown `{other}`"))?);
            }
        }
    }
    let (Some(kind), Some(when), Some(size)) = (kind, when, size) else {
        return Err(format!(
            "task `{name}` needs prove, cover or bmc; small, full or mutants; and a size such as \
             s2x4"
        ));
    };
    Ok(Task { name, kind, when, size: size.to_owned() })
}

/// The comments that begin with a number, such as `// A7. A valid lane holds ..`.
fn properties(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let Some(comment) = line.trim_start().strip_prefix("// ") else {
            current = None;
            continue;
        };
        if let Some((number, rest)) = numbered(comment) {
            found.insert(number.clone(), rest.to_owned());
            current = Some(number);
        } else if let Some(text) = current.as_ref().and_then(|number| found.get_mut(number)) {
            text.push(' ');
            text.push_str(comment);
        }
    }
    found
}

fn numbered(comment: &str) -> Option<(String, &str)> {
    let (number, rest) = comment.split_once(". ")?;
    let digits = number.strip_prefix(['A', 'C', 'E'])?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (number.to_owned(), rest))
}

/// The number of a property from its label: `a07_value` belongs to `A7`.
pub(crate) fn number_of(label: &str) -> Option<String> {
    let letter = label.chars().next().filter(|letter| ['a', 'c'].contains(letter))?;
    let digits: String = label[1..].chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{}{}", letter.to_ascii_uppercase(), digits.parse::<u32>().ok()?))
}

/// What sby said of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// All of it holds, or can be reached.
    pub(crate) passed: bool,
    /// sby's own word: `PASS`, `FAIL`, `UNKNOWN`, `TIMEOUT`, `ERROR`.
    pub(crate) word: String,
    /// Properties that do not hold or cannot be reached, by number.
    pub(crate) broken: Vec<String>,
    /// The trace that shows it, from the task's folder.
    pub(crate) trace: Option<String>,
}

impl Verdict {
    /// Reads what sby printed.
    pub(crate) fn read(text: &str) -> Self {
        let mut verdict = Self::default();
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("DONE (") {
                let word = rest.split([',', ')']).next().unwrap_or_default();
                word.clone_into(&mut verdict.word);
            }
            if let Some((_, path)) = line.split_once("Writing trace to VCD file: ") {
                verdict.trace = Some(path.trim().to_owned());
            }
            let failed = line.contains("Assert failed in ") || line.contains("Unreached cover ");
            let label = line.rsplit(": ").next().unwrap_or_default();
            if failed
                && let Some(number) = number_of(label.trim())
                && !verdict.broken.contains(&number)
            {
                verdict.broken.push(number);
            }
        }
        verdict.passed = verdict.word == "PASS";
        verdict
    }
}

#[cfg(test)]
mod tests;
