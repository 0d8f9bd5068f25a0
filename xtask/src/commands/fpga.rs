//! `fpga`: the prototype beside its model, end to end: `strata fpga run` against every board that
//! needs no physical hardware.
//!
//! The simulated board has the RTL. All boards are given the same accesses, so that their digests
//! have to be the same.

use super::soc;
use crate::installation;
use crate::machine;
use crate::packages::Need;
use crate::process::{self, Failure};
use crate::stages::{Outcome, Stages, lacking};
use crate::status::Status;

/// What is streamed.
const WORKLOAD: &str = "hotspot";

/// Register accesses for each design: a fifth of what the command streams unless told, as the
/// simulated processor does some 1,500 a second.
const ACCESSES: &str = "60000";

/// The cache, and the write pool with split bank writes.
const DESIGNS: [&str; 2] = ["isca11-rfc6", "warrf"];

/// A board: its name in stages, and how the command line names it.
type Board = (&'static str, &'static [&'static str]);

/// The one that every machine has comes first.
const BOARDS: [Board; 4] = [
    ("host", &["--board", "host"]),
    ("simulated", &["--sim"]),
    ("qemu-riscv", &["--board", "qemu-riscv"]),
    ("qemu-cortex-m", &["--board", "qemu-cortex-m"]),
];

/// Runs the command.
pub(crate) fn run() -> Status {
    let mut all = Stages::default();
    soc::stages(&mut all);
    stages(&mut all);
    all.finish()
}

/// One stage for each board. The simulated one has been built.
pub(crate) fn stages(stages: &mut Stages) {
    let mut expected = None;
    for (name, arguments) in &BOARDS {
        stages.one(&format!("fpga: {name}"), || {
            if *name != BOARDS[0].0
                && let Err(missing) = installation::ensure_packages(Need::Boards)
            {
                let (what, remedy) = (missing.what, missing.remedy);
                return lacking(format!("missing {what}; run: {remedy}"));
            }
            let held = digests(arguments).and_then(|found| agrees(name, found, &mut expected));
            Outcome::from(held)
        });
    }
}

/// The digests of what a board did, one for each design.
fn digests(board: &[&str]) -> Result<Vec<String>, Failure> {
    process::run(&mut process::cargo(&["build", "--locked", "--release", "-p", "strata-cli"]))?;
    let mut strata = process::command(machine::target_folder().join("release/strata"));
    strata.args(["fpga", "run", WORKLOAD, "--accesses", ACCESSES]).args(board);
    strata.args(DESIGNS.iter().flat_map(|design| ["--design", design]));
    let text = process::output(&mut strata)?;
    print!("{text}");
    judge(&text)
}

/// Reads a report: its digests, if everything in it is equal.
fn judge(text: &str) -> Result<Vec<String>, Failure> {
    let equal = text.lines().filter(|line| line.starts_with("equal: ")).count();
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix("digest of outcomes"));
    let mut digests = Vec::new();
    for row in rows {
        let columns: Vec<_> = row.split_whitespace().collect();
        match columns[..] {
            [host, device, prototype] if host == device && host == prototype => {
                digests.push(host.to_owned());
            }
            _ => return Err(Failure(format!("the digests differ: {}", columns.join(", ")))),
        }
    }
    if equal == DESIGNS.len() && digests.len() == DESIGNS.len() {
        return Ok(digests);
    }
    Err(Failure(format!("{equal} of {} designs are equal:\n{text}", DESIGNS.len())))
}

/// Holds a board's digests against those of the boards before it.
fn agrees(
    board: &str,
    found: Vec<String>,
    expected: &mut Option<Vec<String>>,
) -> Result<(), Failure> {
    match expected {
        Some(expected) if *expected != found => Err(Failure(format!(
            "board {board} has digests {}, others {}",
            found.join(", "),
            expected.join(", ")
        ))),
        Some(_) => Ok(()),
        None => {
            *expected = Some(found);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = " digest of outcomes   12   12   12 ";

    #[test]
    fn a_report_has_to_be_equal_for_every_design() {
        let good = format!("{ROW}\nequal: all\n{}\nequal: all\n", ROW.replace("12", "34"));
        assert_eq!(judge(&good).ok(), Some(vec!["12".to_owned(), "34".to_owned()]));
        for bad in [
            String::new(),
            format!("{ROW}\nequal: all\n"),
            format!("{ROW}\nequal: all\n{ROW}\nDIFFERENT: counters\n"),
            good.replacen("12 ", "13 ", 1),
            good.replacen("12   12", "12", 1),
        ] {
            assert!(judge(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn boards_have_to_agree() {
        let digests = |text: &str| vec![text.to_owned()];
        let mut expected = None;
        assert!(agrees("a", digests("1"), &mut expected).is_ok());
        assert!(agrees("b", digests("1"), &mut expected).is_ok());
        let Failure(why) = agrees("c", digests("2"), &mut expected).expect_err("they differ");
        assert_eq!(why, "board c has digests 2, others 1");
    }
}
