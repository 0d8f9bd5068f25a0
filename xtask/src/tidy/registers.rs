//! Files made from the prototype's register map are up to date, and nothing else says where fields
//! of its words are.

use super::repository::{Repository, Violation};
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

/// Folders in which words of the prototype are made and taken apart.
const FOLDERS: [&str; 7] = [
    "core/src/prototype/",
    "fpga-softcore/boards/",
    "fpga-softcore/firmware/src/",
    "fpga-softcore/formal/",
    "fpga-softcore/lockstep/src/",
    "fpga-softcore/rtl/",
    "host-cli/board/src/",
];

/// What stands before the number of a bit, in Rust or in hardware, where it is a field's.
const BEFORE_A_BIT: [&str; 9] = [
    "word >> ",
    "word & ",
    " as u32) << ",
    "word_q[",
    "command_q[",
    "settings_q[",
    "cfg_q[",
    "outcome_o[",
    "head_q[",
];

/// A field of a word by the number of its bit, for which the register map has a name.
pub(crate) fn literal_fields(repository: &Repository) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repository.with_extension(&["rs", "sv", "svh"]) {
        if !FOLDERS.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for (number, line) in file.lines() {
            let code = line.split("//").next().unwrap_or_default();
            let has_bit = |before: &&&str| {
                code.match_indices(**before).any(|(at, _)| {
                    code[at + before.len()..].starts_with(|next: char| next.is_ascii_digit())
                })
            };
            if let Some(before) = BEFORE_A_BIT.iter().find(has_bit) {
                let message = format!("`{before}` and a number: {SOURCE} has a name for the field");
                found.push(Violation::at(&file.path, number, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::repository::File;

    #[test]
    fn a_field_by_the_number_of_its_bit_is_found() {
        let rust = "let way = word >> 3 & 7;\n\
                    let way = field::OUTCOME_WAY.get(word); // word >> 3\n\
                    let word = (way as u32) << 3;\nlet mask = word & OPERAND;\n";
        let hardware = "assign a = command_q[13:6];\nassign b = command_q[WordWidth-1:0];\n";
        let found = literal_fields(&Repository::of(&[
            ("core/src/prototype/outcome.rs", rust),
            ("fpga-softcore/rtl/prototype.sv", hardware),
            ("core/src/units.rs", rust),
        ]));
        let at: Vec<_> = found.iter().map(|it| (it.path.as_str(), it.line)).collect();
        let outcome = "core/src/prototype/outcome.rs";
        let expected = [(outcome, 1), (outcome, 3), ("fpga-softcore/rtl/prototype.sv", 1)];
        assert_eq!(at, expected);
    }

    #[test]
    fn a_stale_file_is_found() {
        let text = "id = 1\nversion = 1\nline_baud = 1\nregister = []\ncode = []\nsum = []\n\
                    [[counter]]\nname = \"a\"\nsays = \"b\"\n";
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
