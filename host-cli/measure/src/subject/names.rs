//! Names: what tells the inputs of one command apart in everything that it writes.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use strata_files::failure::Failure;

use super::input::is_file;
use super::resolve::Subject;

/// Gives every input a name of its own. A PTX file is called what its name is without its ending,
/// with as many folders before it as it takes: `A/kernel` and `B/kernel`.
///
/// # Errors
/// One input twice, which would be counted twice; names that no folder tells apart.
pub(super) fn tell_apart(subjects: &mut [Subject]) -> Result<(), Failure> {
    each_once(subjects)?;
    let names: Vec<Vec<String>> = subjects.iter().map(names).collect();
    let mut chosen = vec![0; subjects.len()];
    loop {
        let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, names) in names.iter().enumerate() {
            alike.entry(&names[chosen[place]]).or_default().push(place);
        }
        let mut changed = false;
        for (name, places) in alike.iter().filter(|(_, places)| places.len() > 1) {
            let longer = places.iter().filter(|&&place| chosen[place] + 1 < names[place].len());
            let longer: Vec<usize> = longer.copied().collect();
            if longer.is_empty() {
                let [one, other] = [places[0], places[1]].map(|place| typed(&subjects[place]));
                let message = format!("`{one}` and `{other}` are both called `{name}`");
                return Err(Failure::input(message).hint("rename one of the files"));
            }
            for place in longer {
                chosen[place] += 1;
            }
            changed = true;
        }
        if !changed {
            break;
        }
    }
    for ((subject, mut names), chosen) in subjects.iter_mut().zip(names).zip(chosen) {
        if let Subject::Workload(workload) = subject {
            workload.name = names.swap_remove(chosen);
        }
    }
    Ok(())
}

/// Refuses an input that is given twice, under whatever names.
fn each_once(subjects: &[Subject]) -> Result<(), Failure> {
    let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for subject in subjects {
        let typed = typed(subject);
        // A built-in workload is no file, even beside a file that is called so.
        let built_in = matches!(subject, Subject::Workload(_)) && !is_file(typed);
        let file = if built_in { None } else { std::fs::canonicalize(typed).ok() };
        let file = file.unwrap_or_else(|| PathBuf::from(typed));
        if let Some(before) = seen.insert(file, typed) {
            let message = if before == typed {
                format!("`{typed}` is given twice")
            } else {
                format!("`{before}` and `{typed}` are one file")
            };
            return Err(Failure::input(message).hint("name each input once"));
        }
    }
    Ok(())
}

/// What was typed.
fn typed(subject: &Subject) -> &str {
    match subject {
        Subject::Workload(workload) => workload.arguments.first().unwrap_or(&workload.name),
        Subject::Trace(input) => input,
    }
}

/// What an input may be called, the shortest first: of a PTX file longer and longer ends of its
/// path; of anything else what was typed.
fn names(subject: &Subject) -> Vec<String> {
    let typed = typed(subject);
    if matches!(subject, Subject::Trace(_)) || !is_file(typed) {
        return vec![subject.name().to_owned()];
    }
    let path = Path::new(typed).with_extension("");
    let mut parts: Vec<Component<'_>> =
        path.components().filter(|part| *part != Component::CurDir).collect();
    if path.is_relative() {
        parts.insert(0, Component::CurDir);
    }
    let ends = (0..parts.len()).rev();
    ends.map(|first| parts[first..].iter().collect::<PathBuf>().display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_workload::{Toolchain, Workload};

    /// PTX files and built-in workloads, which are not read again, and traces.
    fn named(inputs: &[&str]) -> Result<Vec<String>, String> {
        let subject = |&input: &&str| {
            let trace = ["g", "strata"].iter().any(|ending| input.ends_with(ending));
            if trace {
                return Subject::Trace(input.to_owned());
            }
            let mut workload = Workload::builtin("reduction", Toolchain::Nvcc).unwrap();
            workload.arguments = vec![input.to_owned()];
            Subject::Workload(Box::new(workload))
        };
        let mut subjects: Vec<Subject> = inputs.iter().map(subject).collect();
        tell_apart(&mut subjects).map_err(|failure| failure.message().to_owned())?;
        Ok(subjects.iter().map(|subject| subject.name().to_owned()).collect())
    }

    #[test]
    fn files_of_one_name_get_the_folders_that_tell_them_apart() {
        for (inputs, names) in [
            (&["A/kernel.ptx", "B/kernel.ptx"][..], &["A/kernel", "B/kernel"][..]),
            (&["A/kernel.ptx", "B/other.ptx"], &["kernel", "other"]),
            (&["/x/A/k.ptx", "/y/A/k.ptx", "B/k.ptx"], &["x/A/k", "y/A/k", "B/k"]),
            (&["k.ptx", "B/k.ptx"], &["./k", "B/k"]),
            (&["k.ptx", "../k.ptx"], &["./k", "../k"]),
            (&["A/k.ptx", "C/A/k.ptx", "B/k.ptx"], &["./A/k", "C/A/k", "B/k"]),
            (&["reduction", "reduction.ptx"], &["reduction", "./reduction"]),
            (&["reduction", "A/reduction.ptx"], &["reduction", "A/reduction"]),
            (&["/k.ptx", "k.ptx"], &["/k", "./k"]),
            (&["A/kernelslist.g", "B/kernelslist.g"], &["A/kernelslist.g", "B/kernelslist.g"]),
            (&["A/k.strata", "k.ptx", "B/k.strata"], &["A/k.strata", "k", "B/k.strata"]),
        ] {
            assert_eq!(named(inputs).unwrap(), names, "{inputs:?}");
        }
    }

    #[test]
    fn an_input_is_taken_once() {
        let refusal = |inputs: &[&str]| named(inputs).unwrap_err();
        for input in ["reduction", "A/k.ptx", "A/kernelslist.g"] {
            let message = refusal(&[input, "B/other.ptx", input]);
            assert!(message.starts_with(&format!("`{input}` is given twice")), "{message}");
        }
        let message = refusal(&["A/k.ptx", "./A/k.PTX"]);
        assert!(message.contains("are both called `./A/k`"), "{message}");
        // Other spellings of one file that is there.
        let message = refusal(&["src/lib.rs", "src/../src/lib.rs"]);
        assert!(message.contains("`src/lib.rs` and `src/../src/lib.rs` are one file"), "{message}");
    }
}
