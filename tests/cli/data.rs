//! Data: contents of buffers from files and into files, and `check`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use strata_tests::{Outcome, start};

use crate::bad_input::kernel_of_300_values;
use crate::outputs::Home;

const LAUNCH: &str = r#"
description = "scaled and weighted"
[size.default]
n = 6
[[buffer]]
name = "in"
type = "f32"
generator = { file = "in.npy" }
[[buffer]]
name = "out"
type = "f32"
shape = [2, 3]
generator = "zero"
[[buffer]]
name = "weights"
type = "f32"
variable = "weights"
generator = { file = { path = "weights.csv", column = "weight" } }
[[buffer]]
name = "launches"
type = "u32"
variable = "launches"
[[launch]]
kernel = "weighted"
grid = [1]
block = [32]
arguments = [
    { buffer = "out", offset = 1 },
    { buffer = "in", offset = "n / 6" },
    { fields = [{ f32 = 2.0 }, { u32 = 1 }, { u64 = "n - 2" }] },
    { bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0] },
]
[check]
[[check.buffer]]
name = "out"
expected = { file = "out.bin" }
[[check.buffer]]
name = "launches"
expected = { file = { path = "launches.txt", format = "csv" } }
"#;

/// A folder with everything that the launch needs.
fn home() -> Home {
    let home = Home::new(&["weighted.ptx"]);
    fs::write(home.path("l.toml"), LAUNCH).unwrap();
    let inputs = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    fs::write(home.path("in.npy"), npy("<f4", "(6,)", inputs.map(f32::to_le_bytes))).unwrap();
    fs::write(home.path("weights.csv"), "index,weight\n0,10\n1,0.5\n").unwrap();
    fs::write(home.path("launches.txt"), "8\n").unwrap();
    // From the second element behind the offset: in[i + 2] * 2 * 10 + 0.5, four of them.
    let expected = [0.0_f32, 0.0, 60.5, 80.5, 100.5, 120.5];
    fs::write(home.path("out.bin"), expected.map(f32::to_le_bytes).as_flattened()).unwrap();
    home
}

fn npy<const COUNT: usize>(code: &str, shape: &str, elements: [[u8; 4]; COUNT]) -> Vec<u8> {
    let header = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(elements.as_flattened());
    bytes
}

fn strata(home: &Home, arguments: &[&str]) -> Outcome {
    start(env!("CARGO_BIN_EXE_strata-under-test"), home.folder(), arguments)
}

fn check(home: &Home, more: &[&str]) -> Outcome {
    strata(home, &[&["check", "weighted.ptx", "--launch", "l.toml"], more].concat())
}

/// What a launch file with a change is told.
fn told(old: &str, new: &str) -> Outcome {
    let home = home();
    assert!(LAUNCH.contains(old), "{old}");
    fs::write(home.path("l.toml"), LAUNCH.replace(old, new)).unwrap();
    check(&home, &[])
}

#[test]
fn data_goes_in_and_comes_out() {
    let home = home();
    let done =
        check(&home, &["--dump", "out=out.npy", "--dump", "out=o.csv", "--dump", "in=i.bin"]);
    assert_eq!(
        done.to_string(),
        "exit: 0\n--- stdout\n\
         passed weighted: `out`: 6 elements match `out.bin`\n\
         passed weighted: `launches`: 1 element matches `launches.txt`\n--- stderr\n"
    );
    let read = |name: &str| fs::read(home.path(name)).unwrap();
    let elements = read("out.bin");
    assert!(read("out.npy").ends_with(&elements));
    assert!(String::from_utf8_lossy(&read("out.npy")).contains("'shape': (2, 3"));
    assert_eq!(String::from_utf8(read("o.csv")).unwrap(), "0,0,60.5\n80.5,100.5,120.5\n");
    assert_eq!(read("i.bin").len(), 24);
    // The launch file may be elsewhere: what it names is relative to it.
    let elsewhere = Path::new(env!("CARGO_MANIFEST_DIR"));
    let at = |name: &str| home.path(name).display().to_string();
    let arguments = ["run", &at("weighted.ptx"), "--launch", &at("l.toml"), "--format", "json"];
    let done = start(env!("CARGO_BIN_EXE_strata-under-test"), elsewhere, &arguments);
    assert_eq!(done.status, Some(0), "{done}");
    assert!(done.stdout.contains("\"check\": \"passed\""), "{done}");
}

#[test]
fn a_wrong_result_is_placed_and_dumped() {
    let home = home();
    let wrong = [0.0_f32, 0.0, 60.5, 80.5, 100.0, 120.5];
    fs::write(home.path("out.bin"), wrong.map(f32::to_le_bytes).as_flattened()).unwrap();
    let arguments = ["weighted.ptx", "--launch", "l.toml", "--dump", "out=o.csv"];
    for command in ["check", "run"] {
        let _ = fs::remove_file(home.path("o.csv"));
        let done = strata(&home, &[&[command], &arguments[..]].concat());
        assert_eq!(done.status, Some(1), "{done}");
        let told = "`out[1, 1]` is 100.5, `out.bin` says 100 (tolerance: 0 absolute, 0 relative); 1 \
                    of 6 elements differs";
        assert!(format!("{}{}", done.stdout, done.stderr).contains(told), "{done}");
        assert!(home.path("o.csv").exists());
    }
    let allowed = "expected = { file = \"out.bin\" }\nat_most_differing = 1\nbecause = \"a test\"";
    let launch = LAUNCH.replace("expected = { file = \"out.bin\" }", allowed);
    fs::write(home.path("l.toml"), launch).unwrap();
    let done = check(&home, &[]);
    assert_eq!(done.status, Some(0), "{done}");
    assert!(done.stdout.contains("1 of 6 elements differs, at most 1 may\n"), "{done}");
}

#[test]
fn files_are_protected() {
    let home = home();
    for (dumps, message) in [
        (&["out=in.npy"][..], "an input of this command"),
        (&["out=out.bin"], "an input of this command"),
        (&["out=weighted.ptx"], "has no format that can be written"),
        (&["out=x.npz"], "has no format that can be written"),
        (&["out"], "names no buffer and file"),
        (&["none=x.npy"], "there is no buffer `none` to write"),
        (&["out=x.npy", "in=x.npy"], "is named twice"),
        (&["out=nowhere/x.npy"], "cannot write"),
    ] {
        let more: Vec<_> = dumps.iter().flat_map(|dump| ["--dump", dump]).collect();
        let before = home.files();
        let done = check(&home, &more);
        assert_eq!(done.status, Some(2), "{dumps:?}: {done}");
        assert!(done.stderr.contains(message), "{dumps:?}: {done}");
        assert!(done.stderr.contains("hint: ") || message == "cannot write", "{done}");
        assert_eq!(home.files(), before, "{dumps:?}");
    }
    let several = strata(&home, &["check", "bfs", "scan", "--scale", "small", "--dump", "a=b.npy"]);
    assert!(several.stderr.contains("writes buffers of one input, 2 are given"), "{several}");
    fs::write(home.path("mine.csv"), "dear diary").unwrap();
    let kept = check(&home, &["--dump", "out=mine.csv"]);
    assert!(kept.stderr.contains("nothing in it says who wrote it"), "{kept}");
    let replaced = check(&home, &["--dump", "out=mine.csv", "--force"]);
    assert_eq!(replaced.status, Some(0), "{replaced}");
}

/// One line of the launch file changed, and the message.
#[test]
fn mistakes_are_placed() {
    let outputs = [
        ("in.npy\" }", "in.npz\" }"),
        ("in.npy\" }", "in.what\" }"),
        ("{ file = \"in.npy\" }", "{ file = { path = \"in.npy\", member = \"x\" } }"),
        ("column = \"weight\"", "column = \"height\""),
        ("column = \"weight\"", "column = true"),
        ("name = \"in\"\ntype = \"f32\"", "name = \"in\"\ntype = \"s32\""),
        ("name = \"in\"", "name = \"in\"\ncount = 7"),
        ("name = \"in\"", "name = \"in\"\nshape = [2, 2]"),
        ("shape = [2, 3]\n", ""),
        ("shape = [2, 3]", "shape = [2, 3]\ncount = 6"),
        ("shape = [2, 3]\ngenerator = \"zero\"", "shape = [2, 3]"),
        ("variable = \"weights\"", "variable = \"weight\""),
        ("type = \"u32\"\nvariable = \"launches\"", "type = \"u64\"\nvariable = \"launches\""),
        ("type = \"u32\"\nvariable", "type = \"u32\"\ncount = 2\ngenerator = \"iota\"\nvariable"),
        ("offset = 1 }", "offset = 7 }"),
        ("{ u64 = \"n - 2\" }", "{ u32 = \"n - 2\" }"),
        ("{ bytes = [0, ", "{ bytes = ["),
        ("{ bytes = [0, ", "{ bytes = [256, "),
        ("{ bytes = [0,", "{ align = 16, bytes = [0,"),
        ("{ fields = [", "{ align = 3, fields = ["),
        ("file = \"out.bin\"", "file = \"in.npy\""),
        ("expected = { file = \"out.bin\" }\n", ""),
        ("[check]\n", "[check]\nreference = \"bfs\"\n"),
        (
            "expected = { file = \"out.bin\" }",
            "expected = { file = \"out.bin\" }\nat_most_differing = 1",
        ),
    ];
    let mut text = String::new();
    for (old, new) in outputs {
        let done = told(old, new);
        let _ = writeln!(text, "{old:?} -> {new:?}\n{done}");
        // A shape of as many elements is no mistake, nor is an array of as many.
        let status = if new.contains("in.npy\"") && new.starts_with("file") { 1 } else { 2 };
        assert_eq!(done.status, Some(status), "{new}: {done}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn check_says_what_it_compares() {
    let home = home();
    let done = strata(&home, &["check", "vectoradd", "needle", "--scale", "small"]);
    assert_eq!(
        done.to_string(),
        "exit: 0\n--- stdout\n\
         passed vectoradd: `c`: 24011 elements match the host reference\n\
         passed needle: `scores`: 21025 elements match the host reference\n--- stderr\n"
    );
    let none = LAUNCH[..LAUNCH.find("[check]").unwrap()].to_owned();
    fs::write(home.path("l.toml"), none).unwrap();
    let done = check(&home, &[]);
    let executed = "nothing was compared, the launch file has no `[check]`\n";
    assert_eq!(done.status, Some(0), "{done}");
    assert!(done.stdout.starts_with("executed ") && done.stdout.ends_with(executed), "{done}");
    let trace = strata(&home, &["check", "kernelslist.g"]);
    assert!(trace.stderr.contains("is a trace, whose results are not known"), "{trace}");
}

const TEXTURE: &str = r#"
description = "halves"
[size.default]
columns = 4
rows = 2
[[buffer]]
name = "texels"
type = "f32"
shape = ["rows", "columns"]
generator = { file = "texels.csv" }
[[buffer]]
name = "out"
type = "f32"
shape = ["rows", "columns"]
generator = "zero"
[[buffer]]
name = "copy"
type = "f32"
shape = ["rows", "columns"]
generator = "zero"
[[texture]]
name = "picture"
buffer = "texels"
dimensions = "2d"
width = "columns"
height = "rows"
format = "f32"
reference = "picture"
filter = "linear"
address = ["clamp", "border"]
[[surface]]
name = "canvas"
buffer = "out"
dimensions = "2d"
width = "columns"
height = "rows"
format = "f32"
[[launch]]
kernel = "halves"
grid = [1]
block = ["columns", "rows"]
arguments = [{ object = "picture" }, { object = "canvas" }, "copy"]
[check]
[[check.buffer]]
name = "out"
expected = { file = "expected.csv" }
[[check.buffer]]
name = "copy"
expected = { file = "texels.csv" }
"#;

#[test]
fn textures_and_surfaces_are_buffers_of_the_launch_file() {
    let home = Home::new(&["texture.ptx"]);
    fs::write(home.path("texels.csv"), "1,2,4,8\n0,-1,-2,6\n").unwrap();
    fs::write(home.path("expected.csv"), "1.5,3,6,8\n-0.5,-1.5,2,6\n").unwrap();
    let run = |launch: &str| {
        fs::write(home.path("l.toml"), launch).unwrap();
        strata(&home, &["check", "texture.ptx", "--launch", "l.toml"])
    };
    let done = run(TEXTURE);
    assert_eq!(done.status, Some(0), "{done}");
    let mut text = String::new();
    for (old, new) in [
        ("buffer = \"texels\"\n", "buffer = \"texel\"\n"),
        (
            "dimensions = \"2d\"\nwidth = \"columns\"\nheight = \"rows\"\nformat = \"f32\"\nref",
            "dimensions = \"4d\"\nwidth = 1\nformat = \"f32\"\nref",
        ),
        ("format = \"f32\"\nreference", "format = \"f33\"\nreference"),
        ("format = \"f32\"\nreference", "format = \"f32x4\"\nreference"),
        ("filter = \"linear\"", "filter = \"cubic\""),
        ("[\"clamp\", \"border\"]", "\"edge\""),
        ("reference = \"picture\"", "reference = \"image\""),
        ("reference = \"picture\"\n", ""),
        ("{ object = \"canvas\" }", "{ object = \"paper\" }"),
        ("{ object = \"canvas\" }", "{ object = \"picture\" }"),
        ("name = \"canvas\"", "name = \"picture\""),
        ("width = \"columns\"", "width = 0"),
        ("width = \"columns\"", "layers = 2\nwidth = \"columns\""),
    ] {
        assert!(TEXTURE.contains(old), "{old}");
        let done = run(&TEXTURE.replacen(old, new, 1));
        let _ = writeln!(text, "{old:?} -> {new:?}\n{done}");
        assert_eq!(done.status, Some(2), "{new}: {done}");
    }
    insta::assert_snapshot!(text);
}

/// Fractions of the sides: the texel behind the last is the first again.
#[test]
fn normalized_coordinates_wrap() {
    let home = Home::new(&["texture.ptx"]);
    fs::write(home.path("texels.csv"), "1,2,4,8\n0,-1,-2,6\n").unwrap();
    // The kernel reads at x + 1 and y + 0.5, in whole pictures: on the edge between the last column
    // and the first, and between the two rows. The message says what it found.
    fs::write(home.path("expected.csv"), "0,0,0,0\n0,0,0,0\n").unwrap();
    let normalized = "filter = \"linear\"\nnormalized = true";
    let launch = TEXTURE.replace("filter = \"linear\"", normalized);
    let launch = launch.replace("[\"clamp\", \"border\"]", "\"wrap\"");
    // The reference keeps the sampler, which integer coordinates do not use.
    fs::write(home.path("l.toml"), launch).unwrap();
    let done = strata(&home, &["check", "texture.ptx", "--launch", "l.toml"]);
    assert!(done.stdout.contains("`copy`: 8 elements match `texels.csv`"), "{done}");
    // (1 + 8) / 2 in the first row and (0 + 6) / 2 in the second, and the mean of both.
    assert!(done.stdout.contains("`out[0, 0]` is 3.75"), "{done}");
}

/// Results do not depend on registers: `check` executes what no physical registers can hold.
#[test]
fn check_executes_a_kernel_of_more_registers_than_a_thread_has() {
    let home = Home::new(&["good.toml"]);
    fs::write(home.path("k.ptx"), kernel_of_300_values()).unwrap();
    let one_thread = fs::read_to_string(home.path("good.toml")).unwrap();
    let one_thread = one_thread.replace("[3]", "[1]").replace("block = [32]", "block = [1]");
    let check = "\n[check]\n[[check.buffer]]\nname = \"data\"\nexpected = { file = \"e.csv\" }\n";
    fs::write(home.path("l.toml"), one_thread + check).unwrap();
    let reversed = (0..300).rev().chain(300..1000);
    let lines: Vec<_> = reversed.map(|word| word.to_string()).collect();
    fs::write(home.path("e.csv"), lines.join("\n")).unwrap();
    let done = strata(&home, &["check", "k.ptx", "--launch", "l.toml"]);
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{done}");
    assert_eq!(done.stdout, "passed k: `data`: 1000 elements match `e.csv`\n");
    let counted = strata(&home, &["run", "k.ptx", "--launch", "l.toml"]);
    assert_eq!(counted.status, Some(2), "{counted}");
    assert!(counted.stderr.contains("needs 302 registers per thread"), "{counted}");
}

#[test]
fn a_parameter_can_choose_the_seed() {
    let home = Home::new(&["weighted.ptx"]);
    let generator = "{ uniform = { low = 0.0, high = 1.0, seed = \"n + 1\" } }";
    let launch = LAUNCH.replace("{ file = \"in.npy\" }", generator);
    let launch = launch.replacen("type = \"f32\"", "type = \"f32\"\ncount = 6", 1);
    fs::write(home.path("l.toml"), &launch[..launch.find("[check]").unwrap()]).unwrap();
    fs::write(home.path("weights.csv"), "weight\n10\n0.5\n").unwrap();
    let inputs = |n: &str| {
        let (n, dump) = (format!("n={n}"), format!("in={n}.bin"));
        let arguments = ["run", "weighted.ptx", "--launch", "l.toml", "--set", &n, "--dump", &dump];
        let done = strata(&home, &arguments);
        assert_eq!(done.status, Some(0), "{done}");
        fs::read(home.path(dump.split_once('=').unwrap().1)).unwrap()
    };
    let six = inputs("6");
    assert_eq!(six.len(), 24);
    assert_ne!(six, inputs("5"));
}
