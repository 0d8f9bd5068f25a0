//! Messages about inputs that a new user gets wrong: a table for each kind of file, and warnings.

use std::fmt::Write as _;
use std::path::Path;

use strata_tests::{Outcome, start};
use tempfile::TempDir;

/// Files for wrong inputs.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a folder"));
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/inputs");
        for name in ["good.ptx", "good.toml", "tiny.traceg", "mine.toml"] {
            std::fs::copy(from.join(name), home.0.path().join(name)).expect(name);
        }
        home
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), text).expect("it can be written");
    }

    fn strata(&self, typed: &str) -> Outcome {
        let words = shlex::split(typed).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        start(env!("CARGO_BIN_EXE_strata-under-test"), self.0.path(), &words)
    }

    /// What is typed, and how it is refused.
    fn refused(&self, typed: &str) -> String {
        let outcome = self.strata(typed);
        assert_eq!(outcome.status, Some(2), "{typed}: {outcome}");
        assert_eq!(outcome.stdout, "", "{typed}");
        for jargon in ["i64", "usize", "variant", "serde", "invalid type", "missing field"] {
            assert!(!outcome.stderr.contains(jargon), "{typed}: {}", outcome.stderr);
        }
        format!("$ strata {typed}\n{}\n", outcome.stderr)
    }

    fn all_refused(&self, typed: &[&str]) -> String {
        typed.iter().map(|typed| self.refused(typed)).collect()
    }
}

#[test]
fn design_files() {
    let home = Home::new();
    let mut said = String::new();
    for text in [
        "",
        "base = \"isca11\"\nbase = \"isca11\"",
        "base = isca11",
        "base = ",
        "base = \"isca12\"",
        "base = \"isca11\"\nactve_warps = 3",
        "base = \"isca11\"\nactive_warps = \"many\"",
        "base = \"isca11\"\nactive_warps = -3",
        "base = \"isca11\"\nactive_warps = 3.5",
        "base = \"isca11\"\nscheduler = \"gredy\"",
        "base = \"isca11\"\nscheduler = 3",
        "base = \"isca11\"\ncache = 6",
        "base = \"isca11\"\n[cache]\nentries = \"6\"",
        "base = \"isca11\"\n[latency_cycles]\nalu = \"8 ns\"",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = 8",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = \"8\"",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = \"8 mm\"",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = \"-8 pJ\"",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = 1e99",
        "base = \"isca11\"\n[energy]\nsource = \"ours\"\nmrf_read = true",
        "base = \"isca11\"\n[wires]\nmrf_private = 0.5",
        "description = \"a launch file\"",
    ] {
        home.write("d.toml", text);
        let _ = write!(said, "{text}\n{}", home.refused("run vectoradd --design d.toml"));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn launch_files() {
    let home = Home::new();
    let good = std::fs::read_to_string(home.0.path().join("good.toml")).expect("a launch file");
    let mut said = String::new();
    for (written, wrong) in [
        ("grid = [3]", "grid = 3"),
        ("grid = [3]", "grid = [-3]"),
        ("block = [32]", "block = [0]"),
        ("block = [32]", "block = [32, 1, 1, 1]"),
        ("type = \"u32\"", "type = \"int\""),
        ("count = \"n\"", "count = 1.5"),
        ("count = \"n\"", "count = \"n - 2000\""),
        ("generator = \"iota\"", "generator = \"iotta\""),
        ("generator = \"iota\"", "generator = \"uniform\""),
        ("generator = \"iota\"", "generator = { uniform = { low = 0, high = 1 } }"),
        ("generator = \"iota\"", "generator = { constant = 1, iota = 2 }"),
        ("generator = \"iota\"", "generator = { constant = \"x\" }"),
        ("n = 1000", "n = \"1000\""),
        ("n = 1000", "n = 99999999999999999999"),
        ("[[launch]]", "[launch]"),
        ("[[buffer]]", "[[bufer]]"),
        ("kernel = \"increment\"", "kernel = \"incremnt\""),
        ("kernel = \"increment\"", "kernel = increment"),
        ("{ u32 = \"n\" }", "7.5"),
        ("{ u32 = \"n\" }", "\"data\""),
        ("{ u32 = \"n\" }", "{ f32 = 1.5 }"),
        ("{ u32 = \"n\" }", "{ u32 = \"n\", s32 = 3 }"),
        ("\"data\", { u32 = \"n\" }, { u32 = \"stride\" }", "\"data\""),
        ("description = ", "base = \"isca11\"\ndescription = "),
    ] {
        assert!(good.contains(written), "{written}");
        home.write("l.toml", good.replacen(written, wrong, 1));
        let _ = write!(said, "{wrong}\n{}", home.refused("run good.ptx --launch l.toml"));
    }
    insta::assert_snapshot!(said);
}

/// Many mistakes of one launch file, those that the reader refuses among them, and all lines that
/// are no TOML.
#[test]
fn all_mistakes_of_a_launch_file() {
    let home = Home::new();
    let good = std::fs::read_to_string(home.0.path().join("good.toml")).expect("a launch file");
    let mut launch = good.clone();
    for (written, wrong) in [
        ("[[buffer]]", "[[require]]\npositive = \"m\"\nbecause = \"it is copied\"\n\n[[buffer]]"),
        ("type = \"u32\"", "type = \"u23\""),
        ("generator = \"iota\"", "generator = { iota = 1, zero = 2 }"),
        ("[[launch]]", "[[launch]]\nshared = -4\nrepaet = 2"),
        ("kernel = \"increment\"", "kernel = \"incremnt\""),
        ("grid = [3]", "grid = [\"3 +\"]"),
        ("block = [32]", "block = [2048]"),
        ("\"data\", {", "\"date\", {"),
    ] {
        assert!(launch.contains(written), "{written}");
        launch = launch.replacen(written, wrong, 1);
    }
    home.write(
        "l.toml",
        launch + "[check]\nreference = \"nothing\"\nbuffer = [{ name = \"a\" }]\n",
    );
    let mut said = home.refused("run good.ptx --launch l.toml");
    home.write(
        "l.toml",
        good.replace("= 1000", "=").replace("[3]", "[3").replace("\"iota\"", "iota"),
    );
    said += &home.refused("check good.ptx --launch l.toml");
    insta::assert_snapshot!(said);
}

/// A buffer for a parameter that is no pointer.
#[test]
fn arguments_of_other_types() {
    let home = Home::new();
    let launch = std::fs::read_to_string(home.0.path().join("good.toml")).expect("a launch file");
    let launch = launch.replace("{ u32 = \"n\" }, { u32 = \"stride\" }", "\"data\"");
    home.write("l.toml", launch);
    let mut said = String::new();
    for ty in [".f32", ".f64", ".u8", ".s16", ".s32", ".align 4 .b8", ".b16"] {
        let dimension = if ty.contains("align") { "[12]" } else { "" };
        home.write(
            "k.ptx",
            format!(
                ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry increment(\
                 .param .u64 data, .param {ty} x{dimension}) {{ ret; }}\n"
            ),
        );
        let _ = write!(said, "{ty}\n{}", home.refused("run k.ptx --launch l.toml"));
    }
    insta::assert_snapshot!(said);
    // Pointers are read as signed numbers, too.
    home.write(
        "k.ptx",
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry increment(\
         .param .u64 data, .param .s64 x) { ret; }\n",
    );
    assert_eq!(home.strata("run k.ptx --launch l.toml").status, Some(0));
}

#[test]
fn wrong_kinds_of_inputs() {
    let home = Home::new();
    for folder in ["folder", "folder.ptx", "folder.toml"] {
        std::fs::create_dir(home.0.path().join(folder)).expect("a folder");
    }
    home.write("empty.ptx", "");
    home.write("no-version.ptx", ".target sm_75\n.visible .entry k() { ret; }\n");
    home.write("empty.strata", "");
    home.write("binary.toml", [0xff, 0xfe, 0]);
    insta::assert_snapshot!(home.all_refused(&[
        "run folder",
        "run ./folder",
        "run folder.ptx --launch good.toml",
        "run good.ptx --launch folder.toml",
        "run good.ptx --launch good.ptx",
        "run good.ptx --launch binary.toml",
        "run good.toml",
        "run good.toml --launch good.toml",
        "run empty.ptx --launch good.toml",
        "run no-version.ptx --launch good.toml",
        "run empty.strata",
        "run none.strata",
        "run none/kernelslist.g",
        "run none.ptx --launch good.toml",
        "run vectoradd,reduction",
        "run vectoradd --design folder.toml",
        "run vectoradd --design binary.toml",
        "run vectoradd --design good.toml",
        "inspect tiny.traceg",
        "inspect tiny.traceg --profile",
        "inspect none.strata --profile --mode cycle",
        "inspect good.toml",
        "inspect folder",
        "inspect @extra",
        "explain tiny.traceg 5",
        "explain kernelslist.g 5",
        "explain good.toml 5",
        "launch-template vectoradd",
        "launch-template tiny.traceg",
        "launch-template good.toml",
        "launch-template folder",
        "launch-template @extra",
        "check tiny.traceg",
        "trace info good.ptx",
        "trace info none.strata",
        "technology import folder",
    ]));
}

#[test]
fn outputs_that_cannot_be_written() {
    insta::assert_snapshot!(Home::new().all_refused(&[
        "trace record vectoradd --scale small -o none/x.strata",
        "launch-template good.ptx -o none/x.toml",
        "run vectoradd --mode cycle --scale small --timeline none/t.json",
        "run vectoradd --scale small --dump c=none/x.npy",
    ]));
}

#[test]
fn numbers_of_options() {
    insta::assert_snapshot!(Home::new().all_refused(&[
        "run vectoradd -j -1",
        "run vectoradd --max-instructions -5",
        "run vectoradd -j x",
        "run vectoradd -j 0",
        "run vectoradd --cta 99999999999999999999",
        "run vectoradd --registers 3.5",
        "explain good.ptx x",
        "explain good.ptx -5",
        "run vectoradd --set n=-5",
        "run vectoradd --set n=3.5",
    ]));
}

#[test]
fn headers_of_functions_without_an_end() {
    let home = Home::new();
    let mut said = String::new();
    for header in [
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)",
        ".func (.reg .b32 r) f (.reg .b32 a)",
        ".extern .func g",
        ".func h() .noreturn",
    ] {
        let after = ".visible .entry k() { ret; }\n.global .u32 v;\n";
        home.write(
            "p.ptx",
            format!(".version 8.0\n.target sm_75\n.address_size 64\n{header}\n{after}"),
        );
        said += &home.refused("inspect p.ptx");
    }
    home.write("p.ptx", ".version 8.0\n.target sm_75\n.extern .func g()\n");
    said += &home.refused("inspect p.ptx");
    insta::assert_snapshot!(said);
}

/// The warnings of standard error, once, and a result without them.
#[test]
fn versions_and_machines_that_are_not_known() {
    let home = Home::new();
    let known = std::fs::read_to_string(home.0.path().join("good.ptx")).expect("PTX");
    let unknown = known.replace(".version 7.8", ".version 99.9").replace("sm_75", "sm_999a");
    home.write("zzzz.ptx", unknown);
    let launch = std::fs::read_to_string(home.0.path().join("good.toml")).expect("a launch file");
    let check = "[check]\n[[check.buffer]]\nname = \"data\"\nexpected = { file = \"data.csv\" }\n";
    // 96 threads add 1 to every 512th element.
    let added = |number: u32| number + u32::from(number % 512 < 96);
    let numbers: Vec<String> = (0..1000).map(|number| added(number).to_string()).collect();
    home.write("data.csv", numbers.join("\n"));
    home.write("check.toml", format!("{launch}{check}"));
    let mut warned = None;
    for rest in [
        "run FILE --launch good.toml --format json",
        "run FILE --launch good.toml --design isca11 --design isca11-rfc6 --format csv -j 4",
        "check FILE --launch check.toml",
        "inspect FILE",
        "inspect FILE --profile --launch good.toml",
        "explain FILE 20",
        "launch-template FILE",
        "study registers FILE --launch good.toml --try 16,20",
    ] {
        let typed = |file: &str| home.strata(&rest.replace("FILE", file));
        let (new, old) = (typed("zzzz.ptx"), typed("good.ptx"));
        assert_eq!(new.status, Some(0), "{rest}: {new}");
        assert_eq!(old.stderr, "", "{rest}");
        assert!(!new.stdout.contains("warning"), "{rest}: {new}");
        let plain = new.stdout.replace("zzzz", "good").replace("99.9", "7.8");
        assert_eq!(plain.replace("sm_999a", "sm_75"), old.stdout, "{rest}");
        assert_eq!(warned.get_or_insert_with(|| new.stderr.clone()), &new.stderr, "{rest}");
    }
    insta::assert_snapshot!(warned.expect("warnings"));
    let quiet = home.strata("run zzzz.ptx --launch good.toml --quiet");
    assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(0), ""));
}

/// PTX of a program that keeps it as a string of C, which ends with a zero byte.
#[test]
fn zero_bytes_at_the_end_of_ptx() {
    let home = Home::new();
    let text = std::fs::read_to_string(home.0.path().join("good.ptx")).expect("a kernel");
    let run = "run good.ptx --launch good.toml --design isca11";
    assert_eq!(home.strata(run).stderr.matches("zero byte").count(), 0);
    for (end, told) in [
        ("\0", "`good.ptx` ends with 1 zero byte, which is left out"),
        ("\0 \0\n", "`good.ptx` ends with 2 zero bytes, which are left out"),
    ] {
        home.write("good.ptx", format!("{text}{end}"));
        let outcome = home.strata(run);
        assert_eq!(outcome.status, Some(0), "{outcome}");
        assert_eq!(outcome.stderr.matches(told).count(), 1, "{outcome}");
    }
}
