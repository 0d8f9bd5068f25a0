//! Outputs: what a command may write over, and what is left when the disk is full.

use std::fs;
use std::path::{Path, PathBuf};

use strata_tests::{Outcome, start};

use crate::strata;

/// A folder of a test's own, with copies of the inputs that are named.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new(inputs: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in inputs {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs").join(name);
            fs::copy(from, folder.path().join(name)).expect("the input can be copied");
        }
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, contents: &str) {
        fs::write(self.path(name), contents).expect("the folder can be written");
    }

    /// All files below it, by their paths in it, and the names of its folders.
    pub(crate) fn files(&self) -> Vec<String> {
        fn below(root: &Path, folder: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("the folder can be read") {
                let path = entry.expect("an entry").path();
                let name = path.strip_prefix(root).expect("it is below");
                names.push(name.to_str().expect("UTF-8").to_owned());
                if path.is_dir() && !path.is_symlink() {
                    below(root, &path, names);
                }
            }
        }
        let mut names = Vec::new();
        below(self.folder(), self.folder(), &mut names);
        names.sort();
        names
    }

    fn strata(&self, arguments: &str) -> Outcome {
        start(env!("CARGO_BIN_EXE_strata-under-test"), self.folder(), &words(arguments))
    }

    fn done(&self, arguments: &str) -> Outcome {
        let outcome = self.strata(arguments);
        assert_eq!(outcome.status, Some(0), "{arguments}: {outcome}");
        outcome
    }

    /// Asserts that a command fails and leaves every file as it was.
    fn refused(&self, arguments: &str) -> String {
        let before: Vec<_> = self.contents();
        let outcome = self.strata(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments}: {outcome}");
        assert_eq!(outcome.stdout, "", "{arguments}");
        assert_eq!(self.contents(), before, "{arguments}");
        outcome.stderr
    }

    fn contents(&self) -> Vec<(String, Option<Vec<u8>>)> {
        let read = |name: String| {
            let contents = fs::read(self.path(&name)).ok();
            (name, contents)
        };
        self.files().into_iter().map(read).collect()
    }
}

pub(crate) fn words(arguments: &str) -> Vec<&str> {
    arguments.split_whitespace().collect()
}

/// Each command with an output, without the output's name, and what else it writes of its kind.
const TIMELINE: &str = "run pairs.ptx --launch pairs.toml --mode cycle --design d.toml --timeline";
const RECORD: &str = "trace record pairs.ptx --launch pairs.toml -o";
const RECORD_TRACE: &str = "trace record list.g -o";
const EMBED: &str = "trace embed pairs.ptx --launch pairs.toml -o";
const EXPORT: &str = "trace export pairs.ptx --launch pairs.toml -o";
const EXPORT_RECORDING: &str = "trace export pairs.strata -o";
const IMPORT: &str = "technology import nvsim-output.txt -o";

/// A folder with all that these commands read.
fn home() -> Home {
    let home = Home::new(&["pairs.ptx", "pairs.toml", "nvsim-output.txt", "our-memory.toml"]);
    home.write("list.g", "tiny.traceg\n");
    fs::copy("cli/inputs/tiny.traceg", home.path("tiny.traceg")).expect("the trace can be copied");
    fs::copy("cli/inputs/mine.toml", home.path("plain.toml")).expect("the design can be copied");
    home.write("d.toml", "base = \"warrf\"\ntechnology = \"t.toml\"\n");
    fs::copy("cli/inputs/technology.toml", home.path("t.toml")).expect("a technology");
    home
}

#[test]
fn an_output_of_its_own_kind_is_replaced() {
    let home = home();
    for (command, name) in [
        (TIMELINE, "out.json"),
        (RECORD, "out.strata"),
        (RECORD_TRACE, "out.strata"),
        (EMBED, "out.rs"),
        (EXPORT, "out"),
        (IMPORT, "out.toml"),
    ] {
        let command = format!("{command} {name}");
        home.done(&command);
        let first = home.contents();
        home.done(&command);
        assert_eq!(home.contents(), first, "{command}");
    }
}

#[test]
fn another_file_takes_force() {
    let home = home();
    home.done(&format!("{RECORD} pairs.strata"));
    for command in [TIMELINE, RECORD, RECORD_TRACE, EMBED, IMPORT] {
        home.write("diary", "Dear diary, {\"traceEvents\":[\n");
        let error = home.refused(&format!("{command} diary"));
        assert!(error.contains("`diary` is there and does not begin like "), "{error}");
        assert!(error.contains("`--force` replaces this one"), "{error}");
        home.done(&format!("{command} diary --force"));
        assert!(!home.read("diary").starts_with(b"Dear"), "{command}");
    }
    // Another program's file of the same format, and another command's output.
    home.write("diary", "{\"traceEvents\":[\n{\"name\":\"process_name\"}]}\n");
    home.refused(&format!("{TIMELINE} diary"));
    home.refused(&format!("{TIMELINE} pairs.strata"));
}

/// By any name, and whatever the user insists on.
#[cfg(unix)]
#[test]
fn an_input_is_never_replaced() {
    let home = home();
    home.done(&format!("{RECORD} pairs.strata"));
    let inputs: [(&str, &[&str]); 6] = [
        (TIMELINE, &["pairs.ptx", "pairs.toml", "d.toml", "t.toml"]),
        (RECORD, &["pairs.ptx", "pairs.toml"]),
        (RECORD_TRACE, &["list.g", "tiny.traceg"]),
        (EMBED, &["pairs.ptx", "pairs.toml"]),
        (IMPORT, &["nvsim-output.txt"]),
        ("run pairs.strata --mode cycle --timeline", &["pairs.strata"]),
    ];
    for (command, inputs) in inputs {
        for input in inputs {
            let (hard, soft) = (home.path("hard"), home.path("soft"));
            fs::hard_link(home.path(input), &hard).expect("a link");
            std::os::unix::fs::symlink(input, &soft).expect("a link");
            for output in [*input, "hard", "soft"] {
                for force in ["", "--force"] {
                    let error = home.refused(&format!("{command} {output} {force}"));
                    assert!(error.contains("an input of this command"), "{command}: {error}");
                }
            }
            fs::remove_file(hard).expect("the link can be removed");
            fs::remove_file(soft).expect("the link can be removed");
        }
    }
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let home = home();
    home.done(&format!("{RECORD} pairs.strata"));
    fs::create_dir(home.path("full")).expect("a folder");
    home.write("full/kernelslist.g", "of another program\n");
    for command in [EXPORT, EXPORT_RECORDING] {
        let error = home.refused(&format!("{command} full"));
        assert!(error.contains("`full` holds `kernelslist.g`, which no `strata trace"), "{error}");
        let error = home.refused(&format!("{command} pairs.ptx"));
        assert!(error.contains("`pairs.ptx` is there and is no folder"), "{error}");
        let error = home.refused(&format!("{command} ."));
        assert!(error.contains("which no `strata trace export` wrote"), "{error}");
    }
}

/// Also where the one before had more launches.
#[test]
fn an_export_replaces_the_one_before() {
    let home = home();
    home.done("trace export reduction --scale small -o out");
    let many = home.files().iter().filter(|name| name.contains("kernel-")).count();
    assert!(many > 1, "{:?}", home.files());
    home.done(&format!("{EXPORT} out"));
    let left: Vec<_> = home.files().into_iter().filter(|name| name.starts_with("out/")).collect();
    assert_eq!(left, ["out/WRITTEN-BY-STRATA", "out/kernel-1.traceg", "out/kernelslist.g"]);
    home.done("run out/kernelslist.g");
    home.done(&format!("{RECORD} pairs.strata"));
    home.done(&format!("{EXPORT_RECORDING} new/deep"));
    assert!(home.path("new/deep/kernelslist.g").is_file());
}

/// A limit on the size of files stands for a full disk: the write fails in the middle.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_what_was_there() {
    const LARGE: &str = "--scale small";
    let home = home();
    home.done(&format!("trace record reduction {LARGE} -o r.strata"));
    home.done(&format!("trace export reduction {LARGE} -o old"));
    for command in [
        format!("run reduction {LARGE} --mode cycle --timeline out.json"),
        format!("trace record reduction {LARGE} -o out.strata"),
        format!("trace record reduction {LARGE} -o r.strata"),
        format!("trace record reduction {LARGE} -o r.strata --force"),
        format!("trace embed scalarprod {LARGE} -o out.rs"),
        format!("trace export reduction {LARGE} -o out"),
        format!("trace export reduction {LARGE} -o old"),
        "trace export r.strata -o out/deep".to_owned(),
        "trace export r.strata -o old".to_owned(),
    ] {
        let before = home.contents();
        let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
        let program = env!("CARGO_BIN_EXE_strata-under-test");
        let all = [&["-c", script, program][..], &words(&command)].concat();
        let outcome = start("sh", home.folder(), &all);
        assert_eq!(outcome.status, Some(2), "{command}: {outcome}");
        assert!(outcome.stderr.contains("File too large"), "{command}: {outcome}");
        assert_eq!(home.contents(), before, "{command}");
    }
}

/// Help too, and the script for a shell.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_on_a_full_disk_is_an_error() {
    for arguments in [
        "--help",
        "--version",
        "help run",
        "run --help",
        "technology --help",
        "designs",
        "workloads",
        "schema",
        "exact",
        "completions bash",
        "run vectoradd --scale small",
    ] {
        let program = env!("CARGO_BIN_EXE_strata-under-test");
        let script = "exec \"$0\" \"$@\" > /dev/full";
        let all = [&["-c", script, program][..], &words(arguments)].concat();
        let outcome = start("sh", Path::new("."), &all);
        assert_eq!(outcome.status, Some(2), "{arguments}: {outcome}");
        let told = outcome.stderr.lines().collect::<Vec<_>>();
        assert!(
            matches!(told[..], [one] if one.starts_with("error: cannot write to standard output")),
            "{arguments}: {outcome}"
        );
    }
}

/// A reader that takes the first line only causes no error.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in ["--help", "designs", "run --help", "schema", "completions bash"] {
        let program = env!("CARGO_BIN_EXE_strata-under-test");
        // The reader has gone before the program starts.
        let script = "(sleep 0.1; \"$0\" \"$@\"; echo $? >&2) | true";
        let all = [&["-c", script, program][..], &words(arguments)].concat();
        let outcome = start("sh", Path::new("."), &all);
        assert_eq!(outcome.stderr, "0\n", "{arguments}");
    }
}

#[test]
fn names_of_no_file_are_refused() {
    for (arguments, told) in [
        (&["trace", "record", "vectoradd", "-o", ""][..], "a value is required for '--output"),
        (&["trace", "record", "vectoradd", "-o", "-"], "`-` is no file"),
        (&["trace", "record", "vectoradd", "-o", "new/"], "`new/` names no file"),
        (&["trace", "export", "vectoradd", "-o", ""], "a value is required for '--output"),
        (&["trace", "export", "vectoradd", "-o", "-"], "`-` names no folder"),
        (&["technology", "import", "nvsim-output.txt", "-o", "new/."], "`new/.` names no file"),
    ] {
        let outcome = strata(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}: {outcome}");
        assert!(outcome.stderr.contains(told), "{arguments:?}: {outcome}");
    }
}
