//! PTX of other compilers: what is accepted, what a launch file made for it does, and the numbers
//! that come of it. `cargo xtask compilers` compiles `kernels/` and runs this, a test a compiler;
//! without it there is nothing to read.

mod kernels;
mod tasks;

use std::fs;
use std::path::{Path, PathBuf};

use strata_tests::{Outcome, start};

use kernels::{Compiler, Kernel};

/// Names the folder with `COMPILER/sm_NN/FILE.ptx`.
const FOLDER: &str = "STRATA_COMPILER_BUILDS";

/// The program.
const STRATA: &str = env!("CARGO_BIN_EXE_strata-under-test");

/// Checks every kernel of a compiler, for every machine that it compiles for.
fn hold(compiler: &Compiler) {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("no {FOLDER}: run `cargo xtask compilers`"));
    for machine in compiler.machines {
        let folder = folder.join(compiler.name).join(format!("sm_{machine}"));
        every_file_is_inspected(compiler, &folder);
        for kernel in compiler.kernels {
            let place = Place::new(&folder, kernel);
            if let Some(instruction) = kernel.refused_on(*machine) {
                place.is_refused(kernel, instruction);
            } else {
                place.runs(kernel);
                place.computes(kernel);
                place.template_runs(kernel);
            }
        }
    }
}

/// No file is left out of the table of kernels, and each is accepted: status 1 is that of a file
/// with a kernel that does not run.
fn every_file_is_inspected(compiler: &Compiler, folder: &Path) {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut kernels = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        kernels += entries_of(&read(&path)).len();
        let told = strata(folder, &["inspect", path.to_str().expect("UTF-8")]);
        assert!(matches!(told.status, Some(0 | 1)), "{}: {told}", path.display());
    }
    assert_eq!(kernels, compiler.kernels.len(), "kernels in {}", folder.display());
}

fn read(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(text).expect("PTX is UTF-8")
}

/// The names of the kernels that a text defines.
fn entries_of(ptx: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in ptx.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let Some((_, rest)) = line.split_once(".entry") else { continue };
        let name = rest.trim_start().split(['(', ' ', '\t']).next().unwrap_or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn strata(folder: &Path, arguments: &[&str]) -> Outcome {
    start(STRATA, folder, arguments)
}

/// A kernel in its file, and a folder for what is made beside it.
struct Place {
    file: String,
    name: String,
    home: tempfile::TempDir,
}

impl Place {
    fn new(folder: &Path, kernel: &Kernel) -> Self {
        let path = folder.join(kernel.file).with_extension("ptx");
        let mut names = entries_of(&read(&path));
        names.retain(|name| name.contains(kernel.name));
        assert_eq!(names.len(), 1, "{}: {names:?}", path.display());
        Self {
            file: path.to_str().expect("UTF-8").to_owned(),
            name: names.remove(0),
            home: tempfile::tempdir().expect("a folder"),
        }
    }

    fn strata(&self, arguments: &[&str]) -> Outcome {
        strata(self.home.path(), arguments)
    }

    /// What `inspect` says of this kernel, from the line on that says whether it runs.
    fn verdict(&self) -> String {
        let told = self.strata(&["inspect", &self.file]).stdout;
        let begin = ["runs", "does not run"]
            .iter()
            .find_map(|verdict| told.find(&format!("\n{}: {verdict}", self.name)));
        let begin = begin.unwrap_or_else(|| panic!("{}: no verdict in {told}", self.file));
        told[begin + self.name.len() + 3..].to_owned()
    }

    fn runs(&self, kernel: &Kernel) {
        let verdict = self.verdict();
        assert!(verdict.starts_with("runs"), "{} of {}: {verdict}", kernel.name, self.file);
    }

    /// The kernel is refused, by the name of the instruction that cannot run.
    fn is_refused(&self, kernel: &Kernel, instruction: &str) {
        let verdict = self.verdict();
        let reason = format!("unsupported: `{instruction}");
        assert!(
            verdict.starts_with("does not run") && verdict.contains(&reason),
            "{} of {}: {verdict}",
            kernel.name,
            self.file
        );
    }

    /// What `launch-template` writes is executed as it is, and its buffers have the types of what
    /// the kernel works on.
    fn template_runs(&self, kernel: &Kernel) {
        let Some(expected) = kernel.template else { return };
        let arguments = ["launch-template", &self.file, "--kernel", &self.name, "-o", "t.toml"];
        let made = self.strata(&arguments);
        assert_eq!(made.status, Some(0), "{} of {}: {made}", kernel.name, self.file);
        let text = fs::read_to_string(self.home.path().join("t.toml")).expect("a template");
        assert_eq!(accessed(&text), expected, "{} of {}:\n{text}", kernel.name, self.file);
        let run = self.strata(&["run", &self.file, "--launch", "t.toml"]);
        assert_eq!(run.status, Some(0), "{} of {}: {run}", kernel.name, self.file);
    }

    /// The results are those that [`tasks`] expects.
    fn computes(&self, kernel: &Kernel) {
        let Some(launch) = kernel.launch else { return };
        let text = tasks::launch_file(kernel.task, launch, &self.name, self.home.path());
        fs::write(self.home.path().join("l.toml"), &text).expect("a launch file");
        let checked = self.strata(&["check", &self.file, "--launch", "l.toml"]);
        assert_eq!(checked.status, Some(0), "{} of {}:\n{text}{checked}", kernel.name, self.file);
        assert!(checked.stdout.contains(kernel.task.result()), "{checked}");
    }
}

/// The types of the buffers of a template that the kernel accesses, variables of the PTX among them,
/// which stand in remarks; another says which it does not. Compilers differ in the sign of integers, which their sources leave to them.
fn accessed(template: &str) -> Vec<String> {
    let file: toml::Table = template.parse().expect("TOML");
    let buffers = file.get("buffer").and_then(toml::Value::as_array).into_iter().flatten();
    let types =
        buffers.map(|buffer| buffer.get("type").and_then(toml::Value::as_str).expect("a type"));
    let remarks = template.lines().filter(|line| line.starts_with("[[buffer]]"));
    let used =
        types.zip(remarks).filter(|(_, remark)| !remark.ends_with("# not accessed directly"));
    let variables = template.lines().filter_map(|line| line.strip_prefix("# type = "));
    let variables = variables.map(|ty| ty.trim_matches('"'));
    used.map(|(ty, _)| ty).chain(variables).map(|ty| ty.replace('s', "u")).collect()
}

#[test]
fn clang() {
    hold(&kernels::CLANG);
}

#[test]
fn cutlass() {
    hold(&kernels::CUTLASS);
}

#[test]
fn gcc() {
    hold(&kernels::GCC);
}

#[test]
fn llvmlite() {
    hold(&kernels::LLVMLITE);
}

#[test]
fn mojo() {
    hold(&kernels::MOJO);
}

#[test]
fn numba() {
    hold(&kernels::NUMBA);
}

#[test]
fn nvcc() {
    hold(&kernels::NVCC);
}

#[test]
fn rustc() {
    hold(&kernels::RUSTC);
}

#[test]
fn triton() {
    hold(&kernels::TRITON);
}

#[test]
fn warp() {
    hold(&kernels::WARP);
}

#[test]
fn zig() {
    hold(&kernels::ZIG);
}
