//! What is made of the prototype's register map is what the map says.

use super::{Repository, Violation};
use crate::regmap::{Map, SOURCE};

/// A file that `cargo xtask regmap` would write differently.
pub(crate) fn register_map(repository: &Repository) -> Vec<Violation> {
    let Some(table) = repository.file(SOURCE) else {
        return vec![Violation::of(SOURCE, "missing: the prototype's register map")];
    };
    let outputs = match Map::parse(&table.text) {
        Ok(map) => map.outputs(),
        Err(why) => return vec![Violation::of(SOURCE, why)],
    };
    let stale = |(path, text): &(&'static str, String)| {
        let same = repository.file(path).is_some_and(|file| file.text == *text);
        (!same).then(|| Violation::of(path, format!("not what {SOURCE} says: cargo xtask regmap")))
    };
    outputs.iter().filter_map(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::File;

    #[test]
    fn a_stale_file_is_found() {
        let text = "id = 1\nversion = 1\nline_baud = 1\nregister = []\n[[counter]]\nname = \"a\"\n\
                    says = \"b\"\n";
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let mut repository = Repository { files: vec![file(SOURCE, text)] };
        for (path, text) in Map::parse(text).unwrap().outputs() {
            repository.files.push(file(path, &text));
        }
        assert_eq!(register_map(&repository), []);
        repository.files[2].text.push(' ');
        let path = repository.files[2].path.clone();
        let found = register_map(&repository);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, path);
        assert_eq!(register_map(&Repository::default()).len(), 1);
    }
}
