//! All mistakes of a launch file at once.

use super::*;
use crate::generator::SplitMix64;
use crate::mistakes::MOST_SHOWN;

const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n) { ret; }
.visible .entry scale(.param .u64 of, .param .f32 by) { ret; }
.visible .entry read(.param .u64 image, .param .u64 rows) { ret; }
";

const LAUNCH: &str = r#"description = "many parts"
[size.default]
n = 100
steps = 3
[[require]]
positive = "n"
because = "something is copied"
[[buffer]]
name = "a"
type = "u32"
count = "n"
generator = "iota"
[[buffer]]
name = "b"
type = "u32"
shape = ["n", 1]
generator = { integers = { low = 0, high = "n", seed = 1 } }
[[buffer]]
name = "c"
type = "f32"
count = 64
generator = { uniform = { low = 0, high = 1, seed = 2 } }
[[buffer]]
name = "rows"
type = "u64"
generator = { addresses = ["a", { buffer = "c", offset = 4 }] }
[[buffer]]
name = "d"
type = "u8"
count = 200
generator = "zero"
[[texture]]
name = "t"
buffer = "c"
dimensions = "2d"
width = 8
height = 8
format = "f32"
[[launch]]
repeat = "steps"
kernel = "copy"
grid = ["i + 1", 2]
block = ["n"]
shared = "4 * n"
arguments = ["a", { buffer = ["b", "d"], select = "i % 2" }, { u32 = "n" }]
reset = [{ buffer = "a", value = 3 }]
[[phase]]
until_zero = "b"
at_most = 9
[[phase.launch]]
kernel = "scale"
grid = [1]
block = [32]
arguments = ["c", 0.5]
[[phase.launch]]
kernel = "read"
grid = [1]
block = [32]
cooperative = false
arguments = [{ object = "t" }, "rows"]
[check]
reference = "vectoradd"
[[check.buffer]]
name = "a"
[[check.buffer]]
name = "c"
absolute = 0.5
because = "rounding"
"#;

/// A part of the file, what is written instead, and what is said of it.
const MISTAKES: &[(&str, &str, &str)] = &[
    // What the reader refuses.
    ("description", "desription", "there is no key `desription` here"),
    ("because = \"something is copied\"", "", "require[0]: `because` is missing"),
    ("\"iota\"", "\"iotta\"", "buffer[0].generator: there is no `iotta` here"),
    ("seed = 2", "sed = 2", "buffer[2].generator.uniform: there is no key `sed` here"),
    ("count = 200", "count = 1.5", "buffer[4].count: expected an integer or an expression"),
    (
        "shared = \"4 * n\"",
        "shared = \"4 * n)\"",
        "launch[0].shared: expected an operator or the end",
    ),
    ("repeat = \"steps\"", "repaet = \"steps\"", "launch[0]: there is no key `repaet` here"),
    ("value = 3", "value = \"3\"", "launch[0].reset[0].value: expected a number"),
    ("cooperative = false", "cooperative = 0", "phase[0].launch[1].cooperative: expected `true`"),
    ("{ u32 = \"n\" }", "{ u33 = \"n\" }", "launch[0].arguments[2]: there is no key `u33` here"),
    ("absolute = 0.5", "absolute = \"no\"", "check.buffer[1].absolute: expected a number"),
    // What is refused for its meaning.
    ("\"rounding\"", "\"\"", "check.buffer[1].because: \"\" is no text of one line"),
    ("high = \"n\"", "high = \"k\"", "buffer[1].generator: unknown name `k`"),
    ("shape = [\"n\", 1]", "shape = [0, 1]", "buffer[1].shape: a side is 0; expected 1 or more"),
    ("offset = 4", "offset = 999", "buffer[3].generator.addresses[1]: `offset` is 999"),
    ("height = 8", "height = 9", "texture[0]: buffer `c` has 256 bytes, the image has 288"),
    ("\"copy\"", "\"cpoy\"", "launch[0].kernel: there is no kernel `cpoy`"),
    ("[\"i + 1\", 2]", "[\"i + 1\", 0]", "launch[0].grid: a grid dimension is 0"),
    ("block = [\"n\"]", "block = [\"j\"]", "launch[0].block: unknown name `j`"),
    ("[\"b\", \"d\"]", "[\"b\", \"e\"]", "launch[0].arguments[1]: there is no buffer `e`"),
    ("at_most = 9", "at_most = 0", "phase[0].at_most: the bound on the iterations is 0"),
    ("0.5]", "\"d\"]", "phase[0].launch[0].arguments[1]: parameter 1 of kernel `scale` is .f32"),
    (
        "\"t\" }",
        "\"u\" }",
        "phase[0].launch[1].arguments[0]: there is no texture, surface or sampler `u`",
    ),
    ("\"vectoradd\"", "\"vectorad\"", "check.reference: there is no host reference `vectorad`"),
];

/// The places and messages that a file is refused with.
fn refusals(launch: String) -> Vec<String> {
    let ptx = ("k.ptx".to_owned(), Cow::Borrowed(PTX));
    let texts = (ptx, ("l.toml".to_owned(), Cow::Owned(launch)));
    let module = strata_ptx::parse(PTX).module;
    let planned = Workload::from_texts("test".to_owned(), texts.0, texts.1)
        .and_then(|workload| workload.plan("default", &Overrides::new(), &module));
    match planned {
        Ok(_) => Vec::new(),
        Err(WorkloadError::Launch(errors)) => errors.all().iter().map(told).collect(),
        Err(other) => panic!("{other}"),
    }
}

/// Plants some of the mistakes, and compares them with what is reported.
fn assert_refused(mistakes: &[&(&str, &str, &str)]) {
    let mut launch = LAUNCH.to_owned();
    for (right, wrong, _) in mistakes {
        assert_eq!(launch.matches(right).count(), 1, "{right}");
        launch = launch.replacen(right, wrong, 1);
    }
    let found = refusals(launch.clone());
    let mut missing: Vec<&str> = mistakes.iter().map(|(.., said)| *said).collect();
    for said in &found {
        let Some(of) = missing.iter().position(|expected| said.contains(expected)) else {
            panic!("not planted: {said}\n{missing:#?}\n{launch}")
        };
        missing.remove(of);
    }
    assert!(missing.is_empty(), "not reported: {missing:#?}, only {found:#?}\n{launch}");
    let line = |said: &String| said.split(':').nth(1).and_then(|line| line.parse::<u32>().ok());
    assert!(found.is_sorted_by_key(line) && found.iter().all(|said| line(said).is_some()));
}

#[test]
fn the_file_without_mistakes_is_accepted() {
    assert_eq!(refusals(LAUNCH.to_owned()), Vec::<String>::new());
}

#[test]
fn each_mistake_alone_is_the_only_one_reported() {
    for mistake in MISTAKES {
        assert_refused(&[mistake]);
    }
}

#[test]
fn any_mistakes_together_are_all_reported() {
    for seed in 0..150 {
        let mut random = SplitMix64::new(seed);
        let kept = 1 + random.below(4);
        let some: Vec<_> = MISTAKES.iter().filter(|_| random.below(4) < kept).collect();
        assert_refused(&some);
    }
}

/// Mistakes of parts that others need.
#[test]
fn what_follows_from_a_mistake_is_not_reported() {
    for mistake in [
        ("count = 64", "count = 1.5", "buffer[2].count: expected an integer"),
        ("count = 64", "cuont = [4]", "buffer[2]: there is no key `cuont`"),
        ("count = 64", "count = \"k\"", "buffer[2].count: unknown name `k`"),
        ("count = 64", "count = 0", "buffer[2].count: the number of elements is 0"),
        ("count = 64", "", "buffer[2]: missing field `count`"),
        ("type = \"f32\"", "type = \"f23\"", "buffer[2].type: there is no `f23`"),
        ("type = \"f32\"", "", "buffer[2]: `type` is missing"),
        ("type = \"u64\"", "type = 64", "buffer[3].type: expected"),
        ("name = \"rows\"", "name = 3", "buffer[3].name: expected a text"),
        ("name = \"rows\"", "", "buffer[3]: `name` is missing"),
        ("name = \"t\"", "name = 3", "texture[0].name: expected a text"),
        ("dimensions = \"2d\"", "dimensions = 2", "texture[0].dimensions: expected a text"),
        ("width = 8", "width = \"k\"", "texture[0]: unknown name `k`"),
        ("[[texture]]", "[texture]", "texture: there can be several"),
        ("n = 100", "n = \"100\"", "size.default.n: expected a whole number"),
        ("[size.default]", "[sizes.default]", "there is no key `sizes` here"),
        ("positive = \"n\"", "positive = \"n - 100\"", "require[0]: positive = `n - 100` is 0"),
        ("kernel = \"copy\"", "kernel = 3", "launch[0].kernel: expected a text"),
        ("[\"c\", 0.5]", "3", "phase[0].launch[0].arguments: expected a list, found 3"),
        ("[\"c\", 0.5]", "[\"c\"]", "phase[0].launch[0].kernel: kernel `scale` has 2 parameters"),
        ("[\"c\", 0.5]", "[\"c\", true]", "phase[0].launch[0].arguments[1]: expected a buffer's"),
        ("until_zero = \"b\"", "until_zreo = \"b\"", "phase[0]: there is no key `until_zreo`"),
        ("until_zero = \"b\"", "until = 3", "phase[0]: there is no key `until`"),
        ("name = \"a\"\n[[check", "name = 1\n[[check", "check.buffer[0].name: expected a text"),
    ] {
        assert_refused(&[&mistake]);
    }
}

/// Mistakes in whose place nothing simple can stand, or which take others with them, beside others.
#[test]
fn no_mistake_hides_another() {
    const RESET: &str = "reset = [{ buffer = \"a\", value = 3 }]";
    const DATE: &str = "expected an integer or an expression in quotes, found the date 1979-05-27";
    let dated = format!("buffer[4].count: {DATE}");
    for mistake in [
        (RESET, "reset = [\"r\"]", "launch[0].reset[0]: expected a table, found the text \"r\""),
        (RESET, "reset = \"r\"", "launch[0].reset: expected a list, found the text \"r\""),
        ("[check]", "[[check]]", "check: there can be only one: write `[check]`"),
        (
            "[\"a\", { buffer = \"c\", offset = 4 }]",
            "[3]",
            "buffer[3].generator.addresses[0]: expected a buffer's name or a table",
        ),
        ("count = 200", "count = 1979-05-27", &dated),
        (
            "name = \"d\"",
            "name = 1979-05-27",
            "buffer[4].name: expected a text in quotes, found the date",
        ),
        ("generator = \"zero\"", "generator = 07:32:00", "buffer[4].generator: expected"),
        (
            "generator = { uniform = { low = 0, high = 1, seed = 2 } }",
            "generator = { uniform = 3 }",
            "buffer[2].generator.uniform: expected a table, found 3",
        ),
        ("n = 100", "n = \"100\"", "size.default.n: expected a whole number"),
        (
            "n = 100",
            "n = 1979-05-27",
            "size.default.n: expected a whole number, found the date 1979-05-27",
        ),
        (
            "[size.default]\nn = 100\nsteps = 3",
            "[size]\ndefault = 3",
            "size.default: expected a table, found 3",
        ),
    ] {
        for other in MISTAKES {
            let [at, other_at] = [mistake.0, other.0].map(|part| LAUNCH.find(part).unwrap());
            // A key of `[[check]]` is that of the first check.
            let is_within = (at..at + mistake.0.len()).contains(&other_at);
            let other_key = mistake.1 == "[[check]]" && other.2.contains("absolute");
            // What is not there may be what has the wrong name, or is in the size.
            let lacks = match mistake.1 {
                name if name.starts_with("name") => &["`e`", "`u`", "parameter 1"][..],
                size if size.starts_with("[size]") => &["unknown name"],
                _ => &[],
            };
            let no_name = lacks.iter().any(|lack| other.2.contains(lack));
            if is_within || other_key || no_name {
                continue;
            }
            assert_refused(&[&mistake, other]);
        }
    }
}

#[test]
fn a_check_is_looked_at_to_its_end() {
    for (right, wrong, told) in [
        (
            "absolute = 0.5",
            "absolute = -1\nrelative = \"x\"",
            &[
                "check.buffer[1].absolute: a tolerance of -1 is none",
                "check.buffer[1].relative: expected a number",
            ][..],
        ),
        (
            "[[check.buffer]]\nname = \"a\"",
            "[[check.buffer]]\nname = \"e\"\nexpected = { file = \"none.npy\" }",
            &["check.buffer[0].name: there is no buffer `e`", "check.buffer[0].expected: "],
        ),
    ] {
        let found = refusals(LAUNCH.replacen(right, wrong, 1));
        assert_eq!(found.len(), told.len(), "{found:#?}");
        for (found, told) in found.iter().zip(told) {
            assert!(found.contains(told), "{found}");
        }
    }
}

/// The message for ten mistakes, and for more than a message lists.
#[test]
fn a_message_lists_mistakes_in_the_order_of_the_file_up_to_a_bound() {
    let kernels = |count: usize| {
        let launch = "[[launch]]\nkernel = \"none\"\ngrid = [1]\nblock = [1]\n";
        message(&launch.repeat(count))
    };
    assert!(!kernels(1).contains("errors"));
    let ten = kernels(10);
    let lines: Vec<_> = ten.lines().filter(|line| line.contains("there is no kernel")).collect();
    assert!(
        ten.starts_with("`l.toml` has 10 errors\n\nl.toml:16: launch[0].kernel: there is"),
        "{ten}"
    );
    assert!(lines[9].starts_with("l.toml:52:10: launch[9].kernel: "), "{ten}");
    assert!(!ten.contains("more"));
    let many = kernels(MOST_SHOWN + 5);
    assert_eq!(many.matches("there is no kernel").count(), MOST_SHOWN);
    assert!(many.starts_with("`l.toml` has 25 errors") && many.ends_with("\nand 5 more"), "{many}");
}

/// A character that is not there is one mistake, however much of the file the parser then takes for
/// something else.
#[test]
fn a_missing_bracket_or_quote_is_one_mistake() {
    let mut wrong = 0;
    for (at, character) in LAUNCH.char_indices().filter(|(_, one)| "\"[]{}=,".contains(*one)) {
        let mut launch = LAUNCH.to_owned();
        launch.remove(at);
        if toml::de::DeTable::parse(&launch).is_ok() {
            continue;
        }
        let found = refusals(launch);
        assert_eq!(found.len(), 1, "{character} at {}: {found:#?}", &LAUNCH[at..]);
        wrong += 1;
    }
    assert!(wrong > 200, "{wrong}");
}
