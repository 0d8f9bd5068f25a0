//! `launch-template`: what it writes runs, and what it refuses.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use strata_tests::{Outcome, start};

use crate::outputs::Home;

fn strata(home: &Home, arguments: &[&str]) -> Outcome {
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), arguments)
}

#[test]
fn a_template_is_written_and_runs() {
    let home = Home::new(&["weighted.ptx"]);
    let made = strata(&home, &["launch-template", "weighted.ptx", "-o", "l.toml"]);
    assert_eq!(made.to_string(), "exit: 0\n--- stdout\n--- stderr\n");
    insta::assert_snapshot!(fs::read_to_string(home.path("l.toml")).unwrap());
    let run = strata(&home, &["run", "weighted.ptx", "--launch", "l.toml", "--dump", "out=o.npy"]);
    assert_eq!(run.status, Some(0), "{run}");
    // What it proposes to compare, with what the run wrote.
    let text = fs::read_to_string(home.path("l.toml")).unwrap();
    let (launch, check) = text.split_once("# [[check.buffer]]").expect("a proposal");
    let check = check.replace("# ", "");
    fs::write(home.path("l.toml"), format!("{launch}[[check.buffer]]{check}")).unwrap();
    fs::rename(home.path("o.npy"), home.path("out.npy")).unwrap();
    let checked = strata(&home, &["check", "weighted.ptx", "--launch", "l.toml"]);
    assert_eq!(checked.status, Some(0), "{checked}");
    // It was edited, and still is a template; a diary is none.
    let again = strata(&home, &["launch-template", "weighted.ptx", "-o", "l.toml"]);
    assert_eq!(again.status, Some(0), "{again}");
    fs::write(home.path("l.toml"), "dear diary").unwrap();
    let refused = strata(&home, &["launch-template", "weighted.ptx", "-o", "l.toml"]);
    assert_eq!(refused.status, Some(2), "{refused}");
    assert!(refused.stderr.contains("does not begin like a launch file"), "{refused}");
}

#[test]
fn a_template_has_the_tables_of_textures_and_surfaces() {
    let home = Home::new(&["texture.ptx"]);
    let made = strata(&home, &["launch-template", "texture.ptx", "-o", "l.toml"]);
    assert_eq!(made.to_string(), "exit: 0\n--- stdout\n--- stderr\n");
    let text = fs::read_to_string(home.path("l.toml")).unwrap();
    insta::assert_snapshot!(text);
    let run = strata(&home, &["run", "texture.ptx", "--launch", "l.toml", "--dump", "copy=o.npy"]);
    assert_eq!(run.status, Some(0), "{run}");
    // What the texture has lies in the buffer of its texels.
    let dumped = fs::read(home.path("o.npy")).unwrap();
    assert!(dumped[128..].iter().any(|&byte| byte != 0), "only zeros were read");
    // Without the line that binds it, nothing is launched.
    let (before, after) = text.split_once("reference = \"picture\"").expect("a binding");
    let after = after.split_once('\n').expect("an end of the line").1;
    fs::write(home.path("l.toml"), format!("{before}{after}")).unwrap();
    let refused = strata(&home, &["run", "texture.ptx", "--launch", "l.toml"]);
    assert_eq!(refused.status, Some(2), "{refused}");
    insta::assert_snapshot!(refused.to_string());
}

#[test]
fn what_is_no_kernel_to_run_is_told() {
    let home = Home::new(&["weighted.ptx"]);
    fs::write(home.path("k.cu"), "__global__ void k() {}").unwrap();
    let mut text = String::new();
    for arguments in [
        &["launch-template", "k.cu"][..],
        &["run", "k.cu"],
        &["inspect", "k.cu"],
        &["run", "k.cubin"],
        &["run", "weighted.ptx"],
        &["launch-template", "nothing.ptx"],
        &["launch-template", "weighted.ptx", "--kernel", "other"],
        &["launch-template", "weighted.ptx", "-o", "weighted.ptx"],
        &["run", "-", "--launch", "-"],
    ] {
        let done = strata(&home, arguments);
        assert_eq!(done.status, Some(2), "{arguments:?}: {done}");
        let _ = writeln!(text, "strata {}\n{done}", arguments.join(" "));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn ptx_comes_from_standard_input() {
    let home = Home::new(&["weighted.ptx"]);
    let piped = |arguments: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_strata-under-test"))
            .args(arguments)
            .current_dir(home.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ptx = fs::read(home.path("weighted.ptx")).unwrap();
        child.stdin.take().unwrap().write_all(&ptx).unwrap();
        child.wait_with_output().unwrap()
    };
    let made = piped(&["launch-template", "-"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    fs::write(home.path("l.toml"), &made.stdout).unwrap();
    for arguments in [&["run", "-", "--launch", "l.toml"][..], &["inspect", "-"]] {
        let done = piped(arguments);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert!(!done.stdout.is_empty());
    }
}
