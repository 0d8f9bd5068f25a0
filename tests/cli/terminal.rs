//! Terminals: tables that fit them, colours, completion.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use strata_tests::Outcome;

use crate::commands::succeeds;
use crate::strata;

const PROGRAM: &str = env!("CARGO_BIN_EXE_strata-under-test");

/// A run whose table is wide.
const WIDE: [&str; 9] = [
    "run",
    "vectoradd",
    "--scale",
    "small",
    "--design",
    "isca11-rfc6",
    "--design",
    "diss-orf3",
    "--quiet",
];

/// What the program shows on a terminal of so many columns, by util-linux's `script`.
fn on_terminal(columns: &str, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let words: Vec<_> = [&[PROGRAM], arguments].concat();
    let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .env("COLUMNS", columns)
        .envs(variables.iter().copied())
        .output()
        .expect("`script` of util-linux runs");
    String::from_utf8(output.stdout).expect("UTF-8").replace('\r', "")
}

fn plain(columns: &str, arguments: &[&str]) -> String {
    on_terminal(columns, &[("NO_COLOR", "1")], arguments)
}

/// The lines of a table, up to the first remark.
fn table(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| !line.starts_with("order of instructions")).collect()
}

#[test]
fn a_table_fits_the_terminal() {
    let piped = succeeds(&WIDE);
    let widest = table(&piped).iter().map(|line| line.trim_end().len()).max().expect("lines");
    assert!(widest > 120, "{piped}");
    let rows = piped.lines().filter(|line| line.contains("isca11-rfc6 ") || line.contains("orf3 "));
    let mrf_reads = rows
        .take(2)
        .filter_map(|row| row.trim_start_matches(" vectoradd").split_whitespace().nth(2));
    let mrf_reads: Vec<_> = mrf_reads.collect();
    // Wide enough: what a pipe gets, without blanks at the ends.
    let wide = plain("250", &WIDE);
    let trimmed: Vec<_> = piped.lines().map(str::trim_end).collect();
    assert_eq!(wide.lines().collect::<Vec<_>>(), trimmed);
    for columns in [48, 60, 100] {
        let shown = plain(&columns.to_string(), &WIDE);
        let lines = table(&shown);
        assert!(lines.iter().all(|line| line.len() <= columns), "{columns}: {shown}");
        // Rows and columns changed places, with every number.
        let line = lines.iter().filter(|line| line.starts_with("MRF reads "));
        let reads: Vec<_> = line.flat_map(|line| line.split_whitespace().skip(2)).collect();
        assert_eq!(reads, mrf_reads, "{columns}: {shown}");
    }
}

#[test]
fn columns_of_zeros_are_left_out_and_named() {
    let run = ["run", "vectoradd", "--scale", "small", "--columns"];
    let names = "workload,design,mrf_reads,barrier_deschedules,dual_writes_orf_private,\
                 dual_writes_lrf,energy_total_fj";
    let run = [&run[..], &[names, "--quiet"]].concat();
    let shown = plain("90", &run);
    assert!(
        shown.ends_with(
            "left out, nothing but zeros: barrier_deschedules, dual_writes_orf_private, \
             dual_writes_lrf\n"
        ),
        "{shown}"
    );
    assert!(shown.starts_with(" workload   design  mrf_reads  energy_total_fj\n"), "{shown}");
    assert!(succeeds(&run).contains("dual_writes_orf_private"));
}

#[test]
fn colours_are_for_terminals_unless_told() {
    const BOLD: &str = "\u{1b}[1m";
    let workloads = ["workloads"];
    assert!(on_terminal("200", &[], &workloads).contains(BOLD));
    assert!(!plain("200", &workloads).contains('\u{1b}'));
    assert!(!on_terminal("200", &[("TERM", "dumb")], &workloads).contains('\u{1b}'));
    assert!(!on_terminal("200", &[], &["workloads", "--color", "never"]).contains('\u{1b}'));
    assert!(!succeeds(&workloads).contains('\u{1b}'));
    // `always` is stronger than NO_COLOR, which all tests set.
    let always = strata(&["--color=always", "designs", "--columns", "design,machine"]);
    assert!(always.stdout.starts_with(&format!("{BOLD} design")), "{always}");
    let wrong = strata(&["--color", "always", "run", "nothing"]);
    assert!(wrong.stderr.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{wrong}");
    let wrong = strata(&["run", "--color", "always", "--frmat", "csv"]);
    assert!(wrong.stderr.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{wrong}");
    let wrong = strata(&["--color", "blue", "workloads"]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.stderr.contains("[possible values: auto, always, never]"), "{wrong}");
}

/// What bash completes the last of these words to.
fn completed(words: &str) -> Vec<String> {
    let script = "source <(\"$0\" completions bash); COMP_WORDS=($1); \
                  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _strata strata \
                  \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["-c", script, PROGRAM, words]).output();
    let output = output.expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn names_of_workloads_and_designs_are_completed() {
    assert_eq!(completed("strata run vectora"), ["vectoradd"]);
    assert_eq!(completed("strata run @ex"), ["@extra"]);
    assert_eq!(completed("strata inspect matrixm"), ["matrixmul"]);
    assert_eq!(completed("strata run vectoradd --design isca11-rfc13"), ["isca11-rfc13"]);
    assert_eq!(completed("strata cost isca11-rfc13"), ["isca11-rfc13"]);
    assert!(completed("strata run vectoradd --design my.tom").is_empty());
    for (shell, told) in [
        ("zsh", "{_alternative \"names\\:name\\:(isca11 isca11-rfc1 "),
        ("zsh", "\n'*:inputs -- Workload names, groups of them (`@extra`)"),
        ("zsh", "{_alternative \"names\\:name\\:(vectoradd matrixmul "),
        ("fish", " -r -F -a \"isca11\\t"),
        ("fish", "complete -c strata -n \"__fish_strata_using_subcommand run\" -a \"vectoradd "),
    ] {
        let script = succeeds(&["completions", shell]);
        assert!(script.contains(told), "{shell}: {told}");
    }
    // Names are not all that there may be.
    let Outcome { status, stderr, .. } = strata(&["run", "no.ptx"]);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("no.ptx") && !stderr.contains("possible values"), "{stderr}");
}

#[test]
fn a_long_input_says_how_far_it_is_and_a_short_one_does_not() {
    let short = on_terminal("100", &[], &["run", "vectoradd", "--scale", "small"]);
    assert!(!short.contains("0/1 "), "{short}");
    let inputs = concat!(env!("CARGO_MANIFEST_DIR"), "/cli/inputs");
    let (kernel, launch) = (format!("{inputs}/good.ptx"), format!("{inputs}/endless.toml"));
    let line = format!("timeout -s TERM 4 '{PROGRAM}' run '{kernel}' --launch '{launch}'");
    let mut script = Command::new("script");
    let output = script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    let output = output.env("TERM", "xterm").output().expect("`script` of util-linux runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("0/1 ") && shown.contains(": 0 of 3 CTAs begun"), "{shown}");
}
