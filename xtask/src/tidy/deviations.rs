//! Measurements of the effects of deviations: every entry names its own or says that there is none.

use super::repository::{Repository, Violation};
use crate::deviations::{FOLDER, LIST, entries, patch, plans};

/// What begins the line.
const FIELD: &str = "- **Remeasured by**: ";
/// How the line begins where nothing does; a reason follows.
const NOTHING: &str = "nothing: ";

/// An entry that does not name what measures it, a file that no entry names, one whose words the
/// entry does not have, and a patch that does not apply.
pub(crate) fn deviations_are_measured(repository: &Repository) -> Vec<Violation> {
    let Some(list) = repository.file(LIST) else { return Vec::new() };
    let (entries, plans) = (entries(&list.text), plans(repository));
    let mut found = Vec::new();
    for (name, entry) in &entries {
        let own = format!("[{name}](../{FOLDER}/{name}.toml)");
        let line = entry.lines().find_map(|line| line.strip_prefix(FIELD));
        let planned = plans.iter().any(|(plan, _)| plan == name);
        let wrong = match line {
            None => Some(format!("{name} has no line `{}..`", FIELD.trim_end())),
            Some(line) if planned && !line.starts_with(&own) => {
                Some(format!("{name} is measured by its file: say `{FIELD}{own}`"))
            }
            Some(line)
                if !planned
                    && line.strip_prefix(NOTHING).is_none_or(|why| why.trim().is_empty()) =>
            {
                Some(format!("{name} has no file: say `{FIELD}{NOTHING}..` and why"))
            }
            Some(_) => None,
        };
        found.extend(wrong.map(|message| Violation::of(LIST, message)));
    }
    for (name, plan) in &plans {
        let path = format!("{FOLDER}/{name}.toml");
        let mut wrong = |message: String| found.push(Violation::of(&path, message));
        let (entry, plan) = match (entries.get(name), plan) {
            (None, _) => {
                wrong(format!("{LIST} has no {name}"));
                continue;
            }
            (_, Err(why)) => {
                wrong(why.clone());
                continue;
            }
            (Some(entry), Ok(plan)) => (entry, plan),
        };
        for check in &plan.checks {
            if let Err(why) = check.said(entry) {
                wrong(why);
            }
        }
        let read = |path: &str| repository.file(path).map(|file| file.text.clone());
        if let Some(Err(why)) = plan.patch.as_ref().map(|text| patch::apply(text, read)) {
            wrong(format!("its patch does not apply: {why}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `@` stands for `-`, so that this file cites no entry.
    fn violations(list: &str, files: &[(&str, &str)]) -> Vec<String> {
        let list = list.replace('@', "-");
        let files: Vec<(String, String)> =
            files.iter().map(|(path, text)| (path.replace('@', "-"), (*text).to_owned())).collect();
        let mut all = vec![(LIST, list.as_str()), ("x.rs", "one\n")];
        all.extend(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let found = deviations_are_measured(&Repository::of(&all));
        found.into_iter().map(|violation| violation.message).collect()
    }

    const ENTRY: &str = "## DEV@001: a\n- **Effect**: it is 3 % less.\n\
                         - **Remeasured by**: [DEV@001](../xtask/deviations/DEV@001.toml)\n";
    const PLAN: &str = "[[check]]\nsays = \"is {} % less\"\nkey = \"k\"\nrun = \"run\"\n";
    const PLACE: &str = "xtask/deviations/DEV@001.toml";
    const PATCH: (&str, &str) =
        ("xtask/deviations/DEV@001.patch", "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-one\n+two\n");

    #[test]
    fn the_entries_of_this_repository_name_it_and_its_patches_apply() {
        let repository = Repository::read(&crate::machine::root()).expect("it can be read");
        assert_eq!(deviations_are_measured(&repository), []);
        assert!(plans(&repository).len() > 25);
    }

    #[test]
    fn an_entry_names_what_measures_it() {
        let nothing = "## DEV@001: a\n- **Effect**: it is 3 % less.\n\
                       - **Remeasured by**: nothing: it has no switch.\n";
        assert_eq!(violations(ENTRY, &[(PLACE, PLAN), PATCH]), [""; 0]);
        assert_eq!(violations(nothing, &[]), [""; 0]);
        let stale = PATCH.1.replace("one", "three");
        for (list, files, told) in [
            ("## DEV@001: a\n", &[][..], "has no line"),
            (nothing, &[(PLACE, PLAN)], "is measured by its file"),
            (ENTRY, &[], "has no file"),
            ("## DEV@001: a\n- **Remeasured by**: nothing: \n", &[], "has no file"),
            ("", &[(PLACE, PLAN)], "has no DEV"),
            (ENTRY, &[(PLACE, "x = 1")], "there is no `x`"),
            (&ENTRY.replace("3 %", "little"), &[(PLACE, PLAN)], "does not say"),
            (ENTRY, &[(PLACE, PLAN), (PATCH.0, &stale)], "does not apply"),
        ] {
            let found = violations(list, files);
            assert_eq!(found.len(), 1, "{told}: {found:?}");
            assert!(found[0].contains(told), "{told}: {found:?}");
        }
    }
}
