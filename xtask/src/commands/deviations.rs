//! `deviations`: measures again what the entries of `docs/DEVIATIONS.md` say that they change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::deviations::{Against, Check, LIST, Plan, Run, entries, patch, plans};
use crate::machine;
use crate::process::{self, Failure};
use crate::status::Status;
use crate::tidy::repository::Repository;

/// Options of a build that is not to be fast but to be soon there.
const BUILD: [&str; 6] = [
    "--config",
    "profile.release.lto=\"off\"",
    "--config",
    "profile.release.codegen-units=16",
    "--config",
    "profile.release.incremental=true",
];

/// Measures one entry, or all; fails where an entry says something else.
pub(crate) fn run(name: Option<&str>) -> Status {
    match measure(name) {
        Ok(true) => Status::Done,
        Ok(false) => Status::Failed,
        Err(Failure(why)) => {
            eprintln!("error: {why}");
            Status::Unusable
        }
    }
}

fn measure(name: Option<&str>) -> Result<bool, Failure> {
    let repository = Repository::read(&machine::root())?;
    let list = repository.file(LIST).ok_or_else(|| Failure(format!("{LIST} is missing")))?;
    let entries = entries(&list.text);
    let mut chosen = Vec::new();
    for (entry, plan) in plans(&repository) {
        if name.is_none_or(|name| name == entry) {
            chosen.push(plan.map_err(|why| Failure(format!("{entry}: {why}")))?);
        }
    }
    if chosen.is_empty() {
        return Err(Failure(format!("nothing measures `{}`", name.unwrap_or_default())));
    }
    // Those that need no build of their own first.
    chosen.sort_by_key(|plan| plan.patch.is_some());
    let mut bench = Bench::new(&repository)?;
    let mut held = true;
    for plan in &chosen {
        let entry = entries.get(&plan.name).map_or("", String::as_str);
        held &= bench.compare(plan, entry)?;
    }
    Ok(held)
}

/// A copy of the tree, the builds of it, and what their runs printed.
struct Bench<'a> {
    repository: &'a Repository,
    folder: PathBuf,
    runs: BTreeMap<Run, Vec<Row>>,
}

/// A line of the program's CSV, by column.
type Row = BTreeMap<String, String>;

impl<'a> Bench<'a> {
    fn new(repository: &'a Repository) -> Result<Self, Failure> {
        let folder = machine::root().join("target/deviations");
        fs::create_dir_all(folder.join("files")).map_err(|error| at(&folder, &error))?;
        let bench = Self { repository, folder, runs: BTreeMap::new() };
        bench.build("as it is", &[])?;
        Ok(bench)
    }

    /// Builds the program with these files in place of their own.
    fn build(&self, what: &str, changed: &[(String, String)]) -> Result<(), Failure> {
        let tree = self.folder.join("tree");
        for file in &self.repository.files {
            let other = changed.iter().find(|(path, _)| *path == file.path);
            let text = other.map_or(&file.text, |(_, text)| text);
            let path = tree.join(&file.path);
            // What is the same keeps its time, so that it is not built again.
            if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
                continue;
            }
            let folder = path.parent().unwrap_or(&tree);
            fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
            fs::write(&path, text).map_err(|error| at(&path, &error))?;
        }
        println!("building the program {what}");
        let mut cargo = process::cargo(&["build", "--release", "--package", "strata-cli"]);
        cargo.args(BUILD).args(["--target-dir", "../build"]).current_dir(&tree);
        process::run(&mut cargo)?;
        let program = self.folder.join("build/release/strata");
        let kept = self.program(!changed.is_empty());
        fs::copy(&program, &kept).map_err(|error| at(&kept, &error))?;
        Ok(())
    }

    fn program(&self, patched: bool) -> PathBuf {
        self.folder.join(if patched { "strata-patched" } else { "strata" })
    }

    fn compare(&mut self, plan: &Plan, entry: &str) -> Result<bool, Failure> {
        self.runs.retain(|run, _| !run.patched);
        if let Some(text) = &plan.patch {
            let read = |path: &str| self.repository.file(path).map(|file| file.text.clone());
            let changed = patch::apply(text, read);
            let changed = changed.map_err(|why| Failure(format!("{}: {why}", plan.name)))?;
            self.build(&format!("with the patch of {}", plan.name), &changed)?;
        }
        for (name, text) in &plan.files {
            let path = self.folder.join("files").join(name);
            fs::write(&path, text).map_err(|error| at(&path, &error))?;
        }
        // Files of two entries may have one name.
        self.runs.retain(|run, _| !plan.files.keys().any(|name| run.arguments.contains(name)));
        let mut held = true;
        for check in &plan.checks {
            let said = check.said(entry).map_err(|why| Failure(format!("{}: {why}", plan.name)))?;
            let measured = self.measured(check)?;
            let agrees =
                if check.at_most { measured.abs() <= said.value } else { said.is(measured) };
            let mark = if agrees { "" } else { "   <- differs" };
            let shown = format!("{measured:.*}", said.decimals + 2);
            println!(
                "{}: `{}`: says {}, measured {shown}{mark}",
                plan.name, check.says, said.value
            );
            held &= agrees;
        }
        Ok(held)
    }

    fn measured(&mut self, check: &Check) -> Result<f64, Failure> {
        let own = self.number(check, &check.run)?;
        let measured = match &check.against {
            Against::Nothing => own,
            Against::Less(run) => own - self.number(check, run)?,
            Against::Over(run) => 100.0 * (own / self.number(check, run)? - 1.0),
        };
        Ok(if check.negative { -measured } else { measured })
    }

    /// The number of a run: a workload's or the mean of all.
    fn number(&mut self, check: &Check, run: &Run) -> Result<f64, Failure> {
        if !self.runs.contains_key(run) {
            let rows = self.rows(run)?;
            self.runs.insert(run.clone(), rows);
        }
        let rows = self.runs.get(run).into_iter().flatten();
        let wanted = check.workload.as_ref();
        let rows = rows.filter(|row| wanted.is_none_or(|name| row.get("workload") == Some(name)));
        let number = |row: &Row| row.get(&check.key)?.parse::<f64>().ok();
        let numbers: Option<Vec<f64>> = rows.map(number).collect();
        match numbers {
            Some(all) if !all.is_empty() => Ok(all.iter().sum::<f64>() / all.len() as f64),
            _ => Err(Failure(format!("`{}` has no `{}`", run.arguments, check.key))),
        }
    }

    fn rows(&self, run: &Run) -> Result<Vec<Row>, Failure> {
        let mut command = process::command(self.program(run.patched));
        command.args(run.arguments.split_whitespace()).args(["--quiet", "--format", "csv"]);
        rows(&process::output(command.current_dir(self.folder.join("files")))?)
    }
}

/// The lines of a CSV without quoted commas in the columns that are asked for.
fn rows(text: &str) -> Result<Vec<Row>, Failure> {
    let mut lines = text.lines().map(cells);
    let heads = lines.next().ok_or_else(|| Failure("the program printed nothing".to_owned()))?;
    Ok(lines.map(|cells| heads.iter().cloned().zip(cells).collect()).collect())
}

/// The cells of a line; in quotes commas belong to the cell.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cells.last_mut().map_or((), |cell| cell.push(letter)),
        }
    }
    cells
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_program_are_read() {
        let rows = rows("workload,ipc,command\na,1.5,\"x,y\"\nb,2,z\n").expect("two lines");
        assert_eq!(rows[0]["command"], "x,y");
        assert_eq!(rows[1]["ipc"], "2");
        assert!(super::rows("").is_err());
    }
}
