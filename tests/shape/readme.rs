//! What the README shows of a run, compared with the run. Set `STRATA_BLESS=1` to write it again.

use std::path::Path;

use strata_tests::start;

use crate::reports::hold_block;

/// Columns of the README's text.
const WIDTH: usize = 100;

/// The lines behind the table, which have no end of their own: broken at spaces, what goes on
/// indented.
fn wrapped(line: &str) -> String {
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        let last = lines.last_mut().expect("there is a first");
        if last.len() + 1 + word.len() > WIDTH && !last.trim().is_empty() {
            lines.push(format!("  {word}"));
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join("\n")
}

#[test]
fn the_first_result_of_the_readme_is_that_of_a_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments = ["run", "--design", "isca11-rfc6", "--quiet"];
    let outcome = start(env!("CARGO_BIN_EXE_strata-under-test"), &root, &arguments);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let (table, remarks) =
        outcome.stdout.split_once("order of instructions").expect("what stands below the table");
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    let remarks = format!("order of instructions{remarks}");
    let remarks = remarks.lines().map(wrapped);
    let text: String = lines.chain(remarks).map(|line| line + "\n").collect();
    hold_block("README.md", "first result", &format!("```text\n{text}```\n"));
}
