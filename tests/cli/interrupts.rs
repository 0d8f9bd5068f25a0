//! Interrupts: what Ctrl-C and its like leave behind, whatever the program is doing.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::outputs::{Home, words};

/// Longer than anything here takes on the slowest machine; only then a test gives up.
const PATIENCE: Duration = Duration::from_mins(2);

/// What the first Ctrl-C makes a command say.
const FINISHING: &str = "note: finishing what runs; Ctrl-C again ends at once\n";

/// A kernel that does not end.
const ENDLESS: &str = "good.ptx --launch endless.toml";

/// A program that runs. Killed when dropped.
struct Running(Child);

impl Running {
    fn start(home: &Home, arguments: &str, stderr: Stdio) -> Self {
        Self::started(home, &[], arguments, stderr)
    }

    /// With `before` as the shell's commands before the program takes its place.
    fn started(home: &Home, before: &[&str], arguments: &str, stderr: Stdio) -> Self {
        let script = [before, &["exec \"$0\" \"$@\""]].concat().join("; ");
        let program = env!("CARGO_BIN_EXE_strata-under-test");
        // A shell's background jobs, the tests among them, may have signals ignored.
        let child = Command::new("env")
            .args(["--default-signal=INT,TERM,HUP", "sh", "-c", &script, program])
            .args(words(arguments))
            .current_dir(home.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn();
        Self(child.expect("the program starts"))
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.0.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(sent.success(), "{kill}");
    }

    /// Waits until something is so.
    fn until(&mut self, what: &str, mut so: impl FnMut(&mut Child) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !so(&mut self.0) {
            assert!(Instant::now() < deadline, "not in time: {what}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn until_partial(&mut self, home: &Home, is_there: bool) {
        let partial = |name: &String| name.ends_with(".partial");
        self.until("a partial file", |child| {
            assert!(!is_there || child.try_wait().expect("a child").is_none(), "it has ended");
            home.files().iter().any(partial) == is_there
        });
    }

    /// Whether a signal has a bit in a mask of the system's.
    fn has(&self, mask: &str, signal: u32) -> bool {
        let path = format!("/proc/{}/status", self.0.id());
        let status = fs::read_to_string(path).expect("the program runs");
        let found = status.lines().find_map(|line| line.strip_prefix(mask));
        let bits = found.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
        bits.expect("a mask") >> (signal - 1) & 1 == 1
    }

    /// Whether the program has taken the place of those that start it.
    fn is_started(&self) -> bool {
        let program = fs::read_link(format!("/proc/{}/exe", self.0.id())).expect("it runs");
        program.ends_with("strata-under-test")
    }

    /// Waits until signals are handled; then the work begins.
    fn until_handled(&mut self) {
        let running = &*self;
        let deadline = Instant::now() + PATIENCE;
        let handled =
            || running.is_started() && [1, 2, 15].iter().all(|&s| running.has("SigCgt:", s));
        while !handled() {
            assert!(Instant::now() < deadline, "no handler");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until it has worked for longer than everything before its first input takes.
    fn until_busy(&mut self) {
        const TICKS: u64 = 100;
        let path = format!("/proc/{}/stat", self.0.id());
        self.until("work", |child| {
            assert!(child.try_wait().expect("a child").is_none(), "it has ended");
            let stat = fs::read_to_string(&path).expect("the program runs");
            // Behind the name, which is in parentheses: time of the program and of the system.
            let (_, fields) = stat.rsplit_once(')').expect("a name");
            let time = fields.split_whitespace().skip(11).take(2);
            time.map(|ticks| ticks.parse::<u64>().expect("a number")).sum::<u64>() >= TICKS
        });
    }

    /// Exit status, standard output, standard error.
    fn ended(mut self) -> (Option<i32>, String, String) {
        self.until("the end", |child| child.try_wait().expect("a child").is_some());
        let status = self.0.wait().expect("it has ended").code();
        let (mut output, mut errors) = (String::new(), String::new());
        if let Some(mut stdout) = self.0.stdout.take() {
            stdout.read_to_string(&mut output).expect("UTF-8");
        }
        if let Some(mut stderr) = self.0.stderr.take() {
            stderr.read_to_string(&mut errors).expect("UTF-8");
        }
        (status, output, errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn home() -> Home {
    Home::new(&["good.ptx", "good.toml", "endless.toml"])
}

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

#[test]
fn a_command_without_files_ends_at_once() {
    let commands = [
        (format!("inspect {ENDLESS} --profile"), SIGNALS[0]),
        (format!("run {ENDLESS}"), SIGNALS[1]),
        (format!("run {ENDLESS} --mode cycle"), SIGNALS[2]),
        (format!("study registers {ENDLESS}"), SIGNALS[1]),
        (format!("study active-warps {ENDLESS} --active-warps 1"), SIGNALS[2]),
    ];
    for (command, (signal, status)) in &commands {
        let home = home();
        let before = home.files();
        let mut running = Running::start(&home, command, Stdio::piped());
        running.until_handled();
        running.signal(signal);
        let told = "error: interrupted: no file is written\n".to_owned();
        assert_eq!(running.ended(), (Some(*status), String::new(), told), "{command}");
        assert_eq!(home.files(), before, "{command}");
    }
}

/// One rule for all commands whose inputs are wanted one by one, also for one input.
#[test]
fn the_first_ctrl_c_finishes_the_input_and_the_second_ends_at_once() {
    for (command, told) in [
        (format!("run {ENDLESS}"), "\n"),
        (format!("run {ENDLESS} --baseline isca11 --design isca11-rfc6"), "\n"),
        (
            format!("run {ENDLESS} --mode cycle --timeline out.json"),
            ": `out.json` is not written\n",
        ),
        (format!("check {ENDLESS}"), "\n"),
        (format!("study registers {ENDLESS}"), "\n"),
        (format!("study active-warps {ENDLESS} --active-warps 1"), "\n"),
        (format!("study write-pool {ENDLESS}"), "\n"),
        (format!("study storage --figure unified {ENDLESS}"), "\n"),
        (format!("study limits {ENDLESS} --design diss-orf3-lrf-split"), "\n"),
        (format!("study encoding {ENDLESS}"), "\n"),
    ] {
        let home = home();
        let before = home.files();
        let mut running = Running::start(&home, &command, Stdio::piped());
        running.until_handled();
        if told.contains("out.json") {
            running.until_partial(&home, true);
        } else {
            // Before an input is begun there is nothing to finish.
            running.until_busy();
        }
        running.signal("INT");
        let mut errors = BufReader::new(running.0.stderr.take().expect("a pipe"));
        let mut first = String::new();
        errors.read_line(&mut first).expect("UTF-8");
        assert_eq!(first, FINISHING, "{command}");
        assert!(running.0.try_wait().expect("a child").is_none(), "{command}: it goes on");
        running.signal("INT");
        let (status, output, _) = running.ended();
        let mut rest = String::new();
        errors.read_to_string(&mut rest).expect("UTF-8");
        let expected = format!("error: interrupted{told}");
        assert_eq!((status, output.as_str(), rest), (Some(130), "", expected), "{command}");
        assert_eq!(home.files(), before, "{command}");
    }
}

#[test]
fn nothing_stays_of_an_unfinished_file() {
    for (signal, status) in SIGNALS {
        for (command, named) in [
            (format!("trace record {ENDLESS} -o out.strata"), "out.strata"),
            (format!("trace embed {ENDLESS} -o out.rs"), "out.rs"),
            (format!("trace export {ENDLESS} -o deep/out"), "deep/out"),
            (format!("run {ENDLESS} --mode cycle --timeline out.json"), "out.json"),
        ] {
            // That finishes its input: the test above.
            if command.starts_with("run") && signal == "INT" {
                continue;
            }
            let home = home();
            let before = home.files();
            let mut running = Running::start(&home, &command, Stdio::piped());
            running.until_partial(&home, true);
            running.signal(signal);
            let told = format!("error: interrupted: `{named}` is not written\n");
            assert_eq!(running.ended(), (Some(status), String::new(), told), "{command}");
            assert_eq!(home.files(), before, "{command}");
        }
    }
}

#[test]
fn what_was_there_is_kept() {
    const GOOD: &str = "good.ptx --launch good.toml";
    let home = home();
    for (command, arguments) in [("record", "-o out.strata"), ("export", "-o out")] {
        let first = format!("trace {command} {GOOD} {arguments}");
        let outcome = Running::start(&home, &first, Stdio::piped()).ended();
        assert_eq!(outcome.0, Some(0), "{outcome:?}");
        let contents = || {
            let files = home.files().into_iter();
            files.map(|name| (fs::read(home.path(&name)).ok(), name)).collect::<Vec<_>>()
        };
        let before = contents();
        let second = format!("trace {command} {ENDLESS} {arguments}");
        let mut running = Running::start(&home, &second, Stdio::piped());
        running.until_partial(&home, true);
        running.signal("INT");
        let (status, _, told) = running.ended();
        assert_eq!(status, Some(130), "{told}");
        assert!(told.ends_with("is not written; what was there before is kept\n"), "{told}");
        assert_eq!(contents(), before, "{second}");
    }
}

/// The first one hangs, because nothing reads the message.
#[test]
fn a_second_ctrl_c_ends_at_once() {
    const PIPE: usize = 1 << 16;
    let home = home();
    let (_reader, mut writer) = std::io::pipe().expect("a pipe");
    let stderr = writer.try_clone().expect("a pipe");
    let command = format!("trace record {ENDLESS} -o out.strata");
    let mut running = Running::start(&home, &command, stderr.into());
    writer.write_all(&vec![0; PIPE]).expect("as much as fits");
    running.until_partial(&home, true);
    running.signal("INT");
    running.until_partial(&home, false);
    assert!(running.0.try_wait().expect("a child").is_none(), "it waits for its message");
    running.signal("INT");
    assert_eq!(running.ended().0, Some(130));
}

/// `nohup`, and the background of a script.
#[test]
fn ignored_signals_stay_ignored() {
    let home = home();
    for (name, signal, other) in [("HUP", 1, "INT"), ("INT", 2, "TERM")] {
        let trap = format!("trap '' {name}");
        let command = format!("trace record {ENDLESS} -o out.strata");
        let mut running = Running::started(&home, &[&trap], &command, Stdio::piped());
        running.until_partial(&home, true);
        assert!(running.has("SigIgn:", signal) && !running.has("SigCgt:", signal), "{name}");
        running.signal(name);
        running.signal(other);
        let (status, _, told) = running.ended();
        let expected = SIGNALS.iter().find(|(name, _)| *name == other).map(|(_, status)| *status);
        assert_eq!(status, expected, "{told}");
    }
}

/// A run of three inputs, one after the other: the second takes long.
fn three(more: &str) -> String {
    format!(
        "run vectoradd {ENDLESS} bfs --scale small -j 1 --format csv --columns workload,mrf_reads \
         {more}"
    )
}

/// The header and the first row, which is there while the second input runs.
fn first_row(running: &mut Running) -> BufReader<ChildStdout> {
    let mut output = BufReader::new(running.0.stdout.take().expect("a pipe"));
    let mut lines = String::new();
    for _ in 0..2 {
        output.read_line(&mut lines).expect("UTF-8");
    }
    assert_eq!(lines, "workload,mrf_reads\nvectoradd,23383\n");
    // Nothing says when the second input begins, which is as soon as the row is out; a Ctrl-C
    // before it would find nothing that runs.
    thread::sleep(Duration::from_secs(1));
    assert!(running.0.try_wait().expect("a child").is_none(), "the second input runs");
    output
}

#[test]
fn rows_are_there_before_later_inputs_end_and_a_second_ctrl_c_does_not_wait() {
    let home = home();
    let mut running = Running::start(&home, &three(""), Stdio::null());
    let mut output = first_row(&mut running);
    running.signal("INT");
    thread::sleep(Duration::from_millis(300));
    assert!(running.0.try_wait().expect("a child").is_none(), "the first one waits");
    running.signal("INT");
    assert_eq!(running.ended().0, Some(130));
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("UTF-8");
    assert_eq!(rest, "");
}

/// Of which only reports say what they have: caches, and energy in technologies.
#[test]
fn rows_of_designs_with_memories_are_there_before_later_inputs_end() {
    let home = home();
    let command = format!(
        "run vectoradd {ENDLESS} --scale small -j 1 --mode cycle --design micro12 --format csv"
    );
    let mut running = Running::start(&home, &command, Stdio::null());
    let mut output = BufReader::new(running.0.stdout.take().expect("a pipe"));
    let mut lines = String::new();
    for _ in 0..2 {
        output.read_line(&mut lines).expect("UTF-8");
    }
    let mut reader = csv::Reader::from_reader(lines.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let row = reader.records().next().expect("a row").expect("as many cells");
    running.signal("TERM");
    assert_eq!(running.ended().0, Some(143));
    for name in ["data_cache_load_hits", "storage_micro12-32nm_total_fj"] {
        let place = header.iter().position(|own| own == name).expect(name);
        assert_ne!(&row[place], "", "{name}");
    }
}

#[test]
fn ctrl_c_finishes_what_runs_and_names_what_is_missing() {
    let home = home();
    // `-q` leaves the note out, and neither why an input failed nor what is missing.
    for (quiet, note) in [("", FINISHING), ("-q", "")] {
        let command = three(&format!("{quiet} --keep-going --max-instructions 60000000"));
        let mut running = Running::start(&home, &command, Stdio::piped());
        let mut output = first_row(&mut running);
        // The second input begins after the first one's row.
        thread::sleep(Duration::from_millis(500));
        running.signal("INT");
        let (status, _, errors) = running.ended();
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("UTF-8");
        assert_eq!((status, rest.as_str()), (Some(130), ""), "{errors}");
        let why = errors.strip_prefix(note).expect("the note first");
        assert!(why.starts_with("error: "), "{errors}");
        assert!(why.contains("exceeded the budget of 60000000"), "{errors}");
        let missing = "error: interrupted: 2 of 3 inputs are done; missing: bfs";
        assert_eq!(why.lines().last(), Some(missing), "{errors}");
    }
    // A signal that is no Ctrl-C does not wait.
    let mut running = Running::start(&home, &three(""), Stdio::null());
    drop(first_row(&mut running));
    running.signal("TERM");
    assert_eq!(running.ended().0, Some(143));
}

/// Rows of inputs that are done; the second input runs when Ctrl-C comes, the third is not begun.
#[test]
fn a_study_prints_what_is_done_and_names_what_is_missing() {
    const INPUTS: &str = "vectoradd slow.ptx --launch slow.toml bfs --scale small -j 1";
    let home = Home::new(&["slow.ptx", "slow.toml"]);
    let rows = "vectoradd\nslow\n";
    for (study, is_json) in [
        ("registers --try 16 --format csv --columns workload", false),
        ("active-warps --active-warps 8 --format csv --columns input --plot out.svg", false),
        ("active-warps --active-warps 8 --format json", true),
    ] {
        let command = format!("study {study} {INPUTS}");
        let mut running = Running::start(&home, &command, Stdio::piped());
        let mut errors = BufReader::new(running.0.stderr.take().expect("a pipe"));
        let mut printed = String::new();
        // The second input prints before its second launch, which takes long.
        for _ in 0..2 {
            errors.read_line(&mut printed).expect("UTF-8");
        }
        assert_eq!(printed, "note: kernel `print` printed:\nhello\n");
        running.signal("INT");
        let (status, output, _) = running.ended();
        let mut rest = String::new();
        errors.read_to_string(&mut rest).expect("UTF-8");
        let told = "error: interrupted: 2 of 3 inputs are done; missing: bfs\n";
        assert_eq!((status, rest), (Some(130), format!("{FINISHING}{told}")), "{command}");
        if is_json {
            let study: serde_json::Value = serde_json::from_str(&output).expect("JSON");
            assert_eq!(study["missing"], serde_json::json!(["bfs"]));
            let inputs = study["series"][0]["points"][0]["inputs"].as_array().expect("inputs");
            assert_eq!(inputs.len(), 2, "{output}");
        } else {
            let (_, found) = output.split_once('\n').expect("a header");
            assert_eq!(found, rows, "{command}");
        }
        // A chart would not say that something is missing.
        assert_eq!(home.files(), ["slow.ptx", "slow.toml"], "{command}");
    }
}

/// Ctrl-Z and `fg`, with more time between them than a board may take for an answer: the board in the same process
/// stood still, too.
#[test]
fn a_board_in_this_process_is_not_silent_while_both_are_stopped() {
    const STOPPED: Duration = Duration::from_millis(4_500);
    let home = Home::new(&[]);
    let run = "--quiet fpga run reduction --scale small --accesses 300000 --board host";
    let mut running = Running::start(&home, run, Stdio::piped());
    let tasks = format!("/proc/{}/task", running.0.id());
    running.until("the board's thread", |child| {
        assert!(child.try_wait().expect("a child").is_none(), "it has ended");
        let names = fs::read_dir(&tasks).expect("the program runs").flatten();
        names.map(|task| fs::read_to_string(task.path().join("comm"))).any(|name| {
            // A thread may end meanwhile.
            name.is_ok_and(|name| name.trim_end() == "board")
        })
    });
    running.signal("STOP");
    let stat = format!("/proc/{}/stat", running.0.id());
    running.until("a stop", |_| fs::read_to_string(&stat).expect("it is there").contains(") T "));
    thread::sleep(STOPPED);
    running.signal("CONT");
    let (status, output, errors) = running.ended();
    assert_eq!((status, errors.as_str()), (Some(0), ""), "{output}");
}
