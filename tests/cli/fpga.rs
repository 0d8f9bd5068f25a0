//! Boards of the prototype: three equal columns, and one clear error for each way in which a
//! board can fail.

mod fake_board;

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use fake_board::{FakeBoard, Manner};
use strata_tests::Outcome;

use crate::strata;

/// What takes this long hangs, however busy the machine is.
const HANGS: Duration = Duration::from_mins(1);

/// Streams a little to a board of this manner. In what is printed, the port is `PORT`.
fn run(manner: Manner, options: &[&str]) -> Outcome {
    let board = FakeBoard::start(manner);
    let port = format!("127.0.0.1:{}", board.port());
    let mut arguments = vec!["--quiet", "fpga", "run", "vectoradd", "--scale", "small"];
    arguments.extend(["--accesses", "3000", "--port", &port]);
    arguments.extend(options);
    let start = Instant::now();
    let outcome = strata(&arguments);
    assert!(start.elapsed() < HANGS, "{:?}: {outcome}", start.elapsed());
    let clean = |text: &str| text.replace(&port, "PORT");
    Outcome { stdout: clean(&outcome.stdout), stderr: clean(&outcome.stderr), ..outcome }
}

/// What a run says that fails for the board's sake.
fn fails(manner: Manner) -> String {
    let outcome = run(manner, &["--design", "isca11-rfc6"]);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
    assert!(outcome.stderr.starts_with("error: "), "{outcome}");
    outcome.stderr
}

#[test]
fn a_silent_board() {
    let error = fails(Manner::Silent);
    assert!(error.contains("`PORT`: no answer to ") && error.contains("check that"), "{error}");
}

#[test]
fn a_board_that_sends_anything() {
    let error = fails(Manner::Garbage);
    assert!(error.contains("`PORT`: no answer to "), "{error}");
}

#[test]
fn a_board_of_another_version() {
    insta::assert_snapshot!(fails(Manner::OtherVersion));
}

#[test]
fn a_board_that_is_gone_in_the_middle() {
    // The port is closed too, so that the second attempt finds nothing.
    insta::assert_snapshot!(fails(Manner::Ends { feeds: 5 }));
}

#[test]
fn a_board_that_stops_in_the_middle() {
    let error = fails(Manner::Stops { feeds: 5 });
    assert!(error.contains("`PORT`: no answer to "), "{error}");
}

#[test]
fn a_board_that_takes_no_more() {
    let error = fails(Manner::Hangs { feeds: 5 });
    assert!(error.contains("`PORT` has not answered for 4 s, although it is there"), "{error}");
}

#[test]
fn a_board_with_a_fault() {
    insta::assert_snapshot!(fails(Manner::Faults));
}

/// Names that a device gives are printed; a design of it that is not known here has no name.
#[test]
fn a_board_that_says_what_cannot_be() {
    for manner in [Manner::OddName, Manner::OddWorkload, Manner::Designs] {
        for command in ["info", "bench"] {
            let port = format!("127.0.0.1:{}", FakeBoard::start(manner).port());
            let error = strata(&["--quiet", "fpga", command, "--port", &port]);
            assert_eq!((error.status, &*error.stdout), (Some(2), ""), "{manner:?}: {error}");
            let said = error.stderr.contains("build both ends from the same version");
            assert!(said && !error.stderr.contains('\u{1b}'), "{manner:?}: {error}");
        }
    }
}

#[test]
fn a_board_that_is_too_small() {
    insta::assert_snapshot!(fails(Manner::Small));
}

#[test]
fn a_line_that_is_cut_once_is_taken_up_again() {
    let outcome = run(Manner::Cut { feeds: 5 }, &["--design", "isca11-rfc6"]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    assert!(outcome.stdout.contains("equal: all counters"), "{outcome}");
}

#[test]
fn a_board_that_counts_otherwise() {
    let outcome = run(Manner::Lies, &["--design", "isca11-rfc6"]);
    assert_eq!(outcome.status, Some(1), "{outcome}");
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn a_board_whose_prototype_diverges() {
    let outcome = run(Manner::Diverges { feeds: 5 }, &["--design", "isca11-rfc6"]);
    assert_eq!(outcome.status, Some(1), "{outcome}");
    let difference = outcome.stdout.lines().find(|line| line.starts_with("DIFFERENT"));
    insta::assert_snapshot!(difference.unwrap());
}

#[test]
fn no_peer_at_the_port() {
    let port = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap().to_string()
    };
    for (port, options) in [(port.as_str(), &[][..]), ("/dev/strata-missing", &["--baud", "9600"])]
    {
        let start = Instant::now();
        let outcome = strata(&[&["fpga", "info", "--port", port], options].concat());
        assert_eq!(outcome.status, Some(2), "{outcome}");
        assert!(outcome.stderr.contains(&format!("cannot open the port `{port}`")), "{outcome}");
        assert!(outcome.stderr.contains("hint: a port is a serial device"), "{outcome}");
        assert!(start.elapsed() < HANGS);
    }
}

#[test]
fn the_board_in_this_process_has_three_equal_columns() {
    let outcome = strata(&[
        "--quiet",
        "fpga",
        "run",
        "hotspot",
        "--scale",
        "small",
        "--accesses",
        "20000",
        "--board",
        "host",
    ]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    assert_eq!(outcome.stderr, "");
    insta::assert_snapshot!(outcome.stdout);
}

/// On a terminal, which `script` of every Debian makes: how far it is, and how long is left.
#[test]
fn a_terminal_sees_how_long_is_left() {
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let command = format!("'{program}' fpga run vectoradd --board host --accesses 3000");
    let outcome = std::process::Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("`script` of util-linux is there");
    let seen = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success(), "{seen}");
    let before = seen.find("0/3000 isca11-rfc6, 0s left").expect(&seen);
    let later = seen.rfind("/3000 ").expect(&seen);
    assert!(before < later && seen[later..].contains("s left"), "{seen}");
    assert!(seen.contains("equal: all counters"), "{seen}");
}

#[test]
fn the_report_is_also_json() {
    let outcome = strata(&[
        "--quiet",
        "fpga",
        "run",
        "mandelbrot",
        "--scale",
        "small",
        "--accesses",
        "2000",
        "--board",
        "host",
        "--design",
        "warrf-rfc3",
        "--design",
        "isca11-rfc4-reads",
        "--format",
        "json",
    ]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["schema"], "strata.fpga/1");
    assert_eq!(report["equal"], true);
    let designs = report["designs"].as_array().unwrap();
    assert_eq!(designs.len(), 2);
    for design in designs {
        assert!(design["accesses"].as_u64().unwrap() >= 2_000);
        let commands = &design["counters"]["commands"];
        assert_eq!(commands["prototype"], design["commands"]);
        assert_eq!(design["digest"]["model_on_host"], design["digest"]["prototype"]);
        // Each exercised what it is about.
        let hits = design["counters"]["cache_reads_hit"]["prototype"].as_u64().unwrap();
        assert!(hits > 0, "{design}");
    }
    // The hardware has one form of it.
    let instead = [
        "bank_layout = linear (warrf-rfc3: warp-skewed)",
        "write_pool_ports = 1rw (warrf-rfc3: 1r1w)",
    ];
    assert_eq!(designs[0]["instead"], serde_json::json!(instead));
    assert_eq!(designs[1]["instead"].as_array().map(Vec::len), Some(0));
    assert!(designs[0]["counters"]["pool_writes_hit"]["prototype"].as_u64().unwrap() > 0);
    assert!(designs[1]["counters"]["cache_fills"]["prototype"].as_u64().unwrap() > 0);
}

#[test]
fn a_board_says_what_it_is_and_tests_itself() {
    let outcome = strata(&["fpga", "info", "--board", "host", "--self-test"]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    insta::assert_snapshot!(outcome);
}

#[test]
fn a_board_is_measured() {
    let outcome = strata(&["--quiet", "fpga", "bench", "--board", "host", "--accesses", "1000"]);
    assert_eq!(outcome.status, Some(0), "{outcome}");
    for what in ["model on the device", "prototype, with its data", "hotspot over the line"] {
        assert_eq!(outcome.stdout.matches(what).count(), 2, "{what}: {outcome}");
    }
}

/// What a run says whose simulated board is a shell script.
#[cfg(unix)]
fn with_simulator(script: &str) -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;

    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("fpga/soc");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("firmware.hex"), "").unwrap();
    let program = folder.join("strata-soc");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut arguments = vec!["--quiet", "fpga", "run", "vectoradd", "--scale", "small"];
    arguments.extend(["--accesses", "3000", "--sim"]);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let environment = [("CARGO_TARGET_DIR", target.path())];
    let program = env!("CARGO_BIN_EXE_strata-under-test");
    let outcome = strata_tests::start_with(program, folder, &arguments, &environment);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    outcome
}

#[cfg(unix)]
#[test]
fn a_simulated_board_that_does_not_start() {
    insta::assert_snapshot!(with_simulator("echo 'no such file: firmware.hex' >&2; exit 3").stderr);
}

#[cfg(unix)]
#[test]
fn a_simulated_board_that_says_something_else() {
    insta::assert_snapshot!(with_simulator("echo hello; exec sleep 100").stderr);
}

#[cfg(unix)]
#[test]
fn a_simulated_board_that_is_killed_in_the_middle() {
    // A stand-in serves its port; when that ends, the board has been killed long before.
    let board = FakeBoard::start(Manner::Ends { feeds: 5 });
    let port = format!("127.0.0.1:{}", board.port());
    let outcome = with_simulator(&format!("echo listening {port}; kill -9 $$"));
    insta::assert_snapshot!(outcome.stderr.replace(&port, "PORT"));
}
