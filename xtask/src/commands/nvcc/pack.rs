//! The pack of kernels: `NAME-BUILD.ptx` is what nvcc makes of `NAME.cu`.
//!
//! `STRATA_BLESS=1` writes what differs into the pack. A new file is begun by an empty one of its
//! name.

use std::fs;
use std::path::{Path, PathBuf};

use super::jobs::{Job, compiler, empty, run_jobs};
use crate::installation::Missing;
use crate::machine;
use crate::process::Failure;
use crate::stages::{Outcome, Stages, lacking};

/// The builds by the names that files end with, and the compiler's arguments.
const BUILDS: [(&str, &[&str]); 13] = [
    ("75", &["-arch=compute_75"]),
    ("75_debug", &["-arch=compute_75", "-G"]),
    ("75_lines", &["-arch=compute_75", "-lineinfo"]),
    ("80", &["-arch=compute_80"]),
    ("80_debug", &["-arch=compute_80", "-G"]),
    ("80_fast", &["-arch=compute_80", "-use_fast_math"]),
    ("86", &["-arch=compute_86"]),
    ("89", &["-arch=compute_89"]),
    ("90", &["-arch=compute_90"]),
    ("90_lines", &["-arch=compute_90", "-lineinfo"]),
    ("100", &["-arch=compute_100"]),
    ("100_fast", &["-arch=compute_100", "-use_fast_math"]),
    ("120", &["-arch=compute_120"]),
];

/// Compiles the pack's sources and compares.
pub(crate) fn stage(stages: &mut Stages) {
    stages.one("nvcc: pack", || match compiler() {
        Ok(compiler) => {
            let done = compiler.and_then(|compiler| compare(&compiler));
            done.map_or_else(|Failure(why)| Outcome::Failed(why), |()| Outcome::Passed)
        }
        Err(Missing { what, remedy }) => lacking(format!("missing {what}; run: {remedy}")),
    });
}

fn compare(compiler: &Path) -> Result<(), Failure> {
    let pack = machine::root().join("host-cli/tests/pack");
    let products = machine::target_folder().join("nvcc-pack");
    empty(&products)?;
    let files = built(&pack)?;
    let jobs = files.iter().map(|name| job(name, &pack, &products));
    run_jobs(compiler, jobs.collect::<Result<_, _>>()?)?;
    let bless = std::env::var_os("STRATA_BLESS").is_some_and(|value| value == "1");
    let mut different = Vec::new();
    for name in files {
        let found = neutral(&read(&products.join(&name))?, &pack);
        let path = pack.join(&name);
        if found == read(&path)? {
            continue;
        }
        if bless {
            let told = |error| Failure(format!("cannot write {}: {error}", path.display()));
            fs::write(&path, found).map_err(told)?;
        } else {
            different.push(name);
        }
    }
    if different.is_empty() {
        return Ok(());
    }
    let files = different.join(", ");
    Err(Failure(format!("not what nvcc makes, STRATA_BLESS=1 renews them: {files}")))
}

/// The files of the pack that are built, in order.
fn built(pack: &Path) -> Result<Vec<String>, Failure> {
    let told = |error| Failure(format!("cannot read {}: {error}", pack.display()));
    let mut names = Vec::new();
    for entry in fs::read_dir(pack).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains('-') && path.extension().is_some_and(|extension| extension == "ptx") {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn job(name: &str, pack: &Path, products: &Path) -> Result<Job, Failure> {
    let parts = name.trim_end_matches(".ptx").split_once('-');
    let known = parts.and_then(|(source, build)| {
        let (_, arguments) = BUILDS.iter().find(|(known, _)| *known == build)?;
        Some((format!("{source}.cu"), *arguments))
    });
    let (source, arguments) =
        known.ok_or_else(|| Failure(format!("{name}: no build has the name after its `-`")))?;
    Ok(Job { folder: pack.to_owned(), source, arguments, product: products.join(name) })
}

fn read(path: &PathBuf) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure(format!("cannot read {}: {error}", path.display())))
}

/// The text without paths of this machine: `.file` names a file alone, and the folder that debug
/// information holds, in bytes, is `.`.
fn neutral(text: &str, folder: &Path) -> String {
    let bytes: Vec<String> =
        folder.to_string_lossy().bytes().map(|byte| byte.to_string()).collect();
    let text = text.replace(&bytes.join(","), "46");
    text.split_inclusive('\n').map(without_folder).collect()
}

fn without_folder(line: &str) -> String {
    match (line.trim_start().starts_with(".file"), line.split_once('"'), line.rfind('/')) {
        (true, Some((before, rest)), Some(slash)) if rest.contains('/') => {
            format!("{before}\"{}", &line[slash + 1..])
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_pack_has_a_build_and_every_build_a_file() {
        let pack = machine::root().join("host-cli/tests/pack");
        let files = built(&pack).expect("the pack is there");
        for name in &files {
            let job = job(name, &pack, &pack).unwrap_or_else(|Failure(why)| panic!("{why}"));
            assert!(pack.join(job.source).exists(), "{name} has no source");
        }
        for (build, _) in BUILDS {
            let end = format!("-{build}.ptx");
            assert!(files.iter().any(|name| name.ends_with(&end)), "{build} has no file");
        }
    }

    #[test]
    fn paths_are_left_out() {
        let text = "\t.file\t1 \"/a/b/k.cu\"\n.b8 47,97,47,98\n// a / b\n";
        let expected = "\t.file\t1 \"k.cu\"\n.b8 46\n// a / b\n";
        assert_eq!(neutral(text, Path::new("/a/b")), expected);
    }
}
