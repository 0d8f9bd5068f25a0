//! What is wrong with a command line is one line on standard error and exit status 2.

use std::net::TcpListener;
use std::path::PathBuf;

use crate::simulator::{Board, ends, firmware};

/// Its one line of error; it prints nothing else.
fn error_of(arguments: &[&str]) -> String {
    let output = ends(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).expect("it writes text");
    let line = text.strip_prefix("error: ").expect("an error").trim_end().to_owned();
    assert!(!line.contains('\n'), "{text}");
    line
}

#[test]
fn what_is_wrong_is_said() {
    let image = firmware();
    let image = image.to_str().expect("an ASCII path");
    for (arguments, error) in [
        (&[][..], "--firmware FILE is missing"),
        (&["--tcp"], "--tcp needs a value"),
        (&["--tcp", "65536"], "--tcp takes a number from 0 to 65535, not `65536`"),
        (&["--tcp", "-1"], "--tcp takes a number from 0 to 65535, not `-1`"),
        (&["--uart-divisor", "3"], "--uart-divisor takes a number from 4 to 65535, not `3`"),
        (
            &["--max-clocks", "0"],
            "--max-clocks takes a number from 1 to 9223372036854775807, not `0`",
        ),
        (&["--fast"], "there is no option `--fast`; --help lists them"),
        (&["--firmware", image], "give either --tcp PORT or --pty"),
        (&["--firmware", image, "--pty", "--tcp", "0"], "give either --tcp PORT or --pty"),
        (
            &["--firmware", "/nonexistent/firmware.hex", "--tcp", "0"],
            "cannot read the firmware `/nonexistent/firmware.hex`: No such file or directory",
        ),
    ] {
        assert_eq!(error_of(arguments), error);
    }
}

#[test]
fn a_file_that_is_no_image_is_refused() {
    let path = std::env::temp_dir().join(format!("strata-soc-{}.hex", std::process::id()));
    let says = |content: String| {
        std::fs::write(&path, content).expect("a file can be written");
        let name = path.to_str().expect("an ASCII path");
        error_of(&["--firmware", name, "--tcp", "0"]).replace(name, "IMAGE")
    };
    assert_eq!(says(String::new()), "the firmware `IMAGE` is empty");
    let no_word = |line| {
        format!(
            "the firmware `IMAGE` is no image: line {line} is not a word of 8 hexadecimal digits; \
             `cargo xtask soc` makes one"
        )
    };
    assert_eq!(says("0000000g\n".to_owned()), no_word(1));
    assert_eq!(says("12345678\n1234567\n".to_owned()), no_word(2));
    let error = says("00000000\n".repeat(1 << 20));
    assert!(error.starts_with("the firmware `IMAGE` has 1048576 words, the memory "), "{error}");
    std::fs::remove_file(&path).expect("it was written above");
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let image: PathBuf = firmware();
    let error = error_of(&["--firmware", image.to_str().expect("ASCII"), "--tcp", &port]);
    let expected = format!("cannot listen on 127.0.0.1:{port}: Address already in use");
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn help_is_no_error() {
    let output = ends(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("Usage: strata-soc --firmware FILE.hex (--tcp PORT | --pty)"), "{text}");
    assert!(output.stderr.is_empty());
}

#[test]
fn it_ends_when_it_is_asked_to() {
    for name in ["TERM", "INT"] {
        let board = Board::start(&["--tcp", "0"]);
        board.signal(name);
        let (status, text) = board.end();
        assert_eq!(status, Some(0), "{text}");
    }
    let mut board = Board::start(&["--tcp", "0", "--watch-stdin"]);
    let peer = board.connect();
    board.close_stdin();
    assert_eq!(board.end().0, Some(0));
    drop(peer);
    let board = Board::start(&["--tcp", "0", "--max-clocks", "12345"]);
    let peer = board.connect();
    let (status, text) = board.end();
    assert_eq!(status, Some(0));
    assert!(text.starts_with("12345 clocks in "), "{text}");
    drop(peer);
}
