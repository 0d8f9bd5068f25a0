//! `compilers`: PTX of other compilers than nvcc, and nvcc's. Each is installed, compiles the
//! kernels of `tests/compilers/kernels` for several machines, without a GPU, and is removed again;
//! a test reads, launches and compares what it wrote.

mod job;
mod recipes;

use std::path::{Path, PathBuf};

use job::{Job, Recipe};

use crate::hardware_tools;
use crate::installation::Missing;
use crate::machine;
use crate::packages::Tools;
use crate::process::Failure;
use crate::stages::{Outcome, Stages, Totals, lacking};
use crate::status::Status;
use crate::test_runner::{one_test, run_tests};

/// Tells the test where the PTX is.
const FOLDER: &str = "STRATA_COMPILER_BUILDS";

/// What most compilers compile for: `sm_NN`.
const MACHINES: &[u32] = &[80, 90, 100];

/// One compiler. Its name is that of its folder and of its test.
struct Compiler {
    name: &'static str,
    machines: &'static [u32],
    /// What is to be removed when it has compiled.
    wheels: Option<Tools>,
    /// Installs what is needed and says how to compile.
    prepare: fn() -> Result<Recipe, Missing>,
}

const COMPILERS: [Compiler; 11] = [
    Compiler { name: "clang", machines: MACHINES, wheels: None, prepare: recipes::clang },
    Compiler {
        name: "cutlass",
        machines: MACHINES,
        wheels: Some(Tools::Cutlass),
        prepare: recipes::cutlass,
    },
    Compiler { name: "gcc", machines: &[80], wheels: None, prepare: recipes::gcc },
    Compiler {
        name: "llvmlite",
        machines: MACHINES,
        wheels: Some(Tools::Llvmlite),
        prepare: recipes::llvmlite,
    },
    Compiler {
        name: "numba",
        machines: MACHINES,
        wheels: Some(Tools::Numba),
        prepare: recipes::numba,
    },
    Compiler {
        name: "mojo",
        machines: MACHINES,
        wheels: Some(Tools::Mojo),
        prepare: recipes::mojo,
    },
    Compiler { name: "nvcc", machines: MACHINES, wheels: None, prepare: recipes::nvcc },
    Compiler { name: "rustc", machines: MACHINES, wheels: None, prepare: recipes::rustc },
    Compiler {
        name: "triton",
        machines: MACHINES,
        wheels: Some(Tools::Triton),
        prepare: recipes::triton,
    },
    Compiler {
        name: "warp",
        machines: MACHINES,
        wheels: Some(Tools::Warp),
        prepare: recipes::warp,
    },
    Compiler { name: "zig", machines: MACHINES, wheels: Some(Tools::Zig), prepare: recipes::zig },
];

/// A compiler's name, or the names that there are.
pub(crate) fn name_of(name: &str) -> Result<&'static str, String> {
    let mut names = COMPILERS.iter().map(|compiler| compiler.name);
    names.clone().find(|known| *known == name).ok_or_else(|| {
        let known: Vec<&str> = names.by_ref().collect();
        format!("there is no compiler `{name}`; there are {}", known.join(", "))
    })
}

/// Runs the command.
pub(crate) fn run(only: Option<&str>) -> Status {
    let mut stages = Stages::default();
    self::stages(&mut stages, only);
    stages.finish()
}

/// A stage for each compiler, or for one: a compiler that cannot be had is a test that is skipped.
pub(crate) fn stages(stages: &mut Stages, only: Option<&str>) {
    for compiler in
        COMPILERS.iter().filter(|compiler| only.is_none_or(|name| name == compiler.name))
    {
        stages.stage(&format!("compilers: {}", compiler.name), || stage(compiler));
    }
}

fn stage(compiler: &Compiler) -> (Outcome, Totals) {
    let recipe = match (compiler.prepare)() {
        Ok(recipe) => recipe,
        Err(Missing { what, remedy }) => {
            let skipped = Totals { skipped: 1, ..Totals::default() };
            return (lacking(format!("missing {what}; run: {remedy}")), skipped);
        }
    };
    let compiled = compile(compiler, &recipe);
    let discarded = compiler.wheels.map_or(Ok(()), hardware_tools::discard);
    match compiled.and(discarded) {
        Ok(()) => {
            let mut cargo = one_test("compilers");
            cargo.env(FOLDER, builds()).args(["--", "--exact", compiler.name]);
            run_tests(cargo)
        }
        Err(Failure(why)) => (Outcome::Failed(why), Totals { failed: 1, ..Totals::default() }),
    }
}

/// Compiles for every machine, into folders that were emptied.
fn compile(compiler: &Compiler, recipe: &Recipe) -> Result<(), Failure> {
    let scratch = machine::target_folder().join("compilers/scratch").join(compiler.name);
    empty(&scratch)?;
    let products = builds().join(compiler.name);
    empty(&products)?;
    for &machine in compiler.machines {
        let folder = products.join(format!("sm_{machine}"));
        empty(&folder)?;
        recipe(&Job { machine, folder, scratch: scratch.clone() })?;
    }
    remove(&scratch)
}

/// Where the PTX of all compilers is.
fn builds() -> PathBuf {
    machine::target_folder().join("compilers/ptx")
}

/// Makes a folder, without what an earlier run left in it.
fn empty(folder: &Path) -> Result<(), Failure> {
    remove(folder)?;
    let told = |error| Failure(format!("cannot create {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(told)
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure(format!("cannot remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compiler_has_a_test_of_its_name() {
        let tests = include_str!("../../../tests/compilers/main.rs");
        for Compiler { name, .. } in &COMPILERS {
            assert!(tests.contains(&format!("#[test]\nfn {name}() {{")), "{name}");
            assert_eq!(name_of(name), Ok(*name));
        }
        assert_eq!(tests.matches("#[test]").count(), COMPILERS.len());
        assert!(name_of("tcc").is_err_and(|told| told.contains("clang, cutlass")));
    }
}
