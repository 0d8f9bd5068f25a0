//! Readers of files account for every key: what is left out, renamed, there twice or of another
//! type is an error or makes another value, and a mistake is told with its place.

use std::borrow::Cow;
use std::sync::LazyLock;

use strata_design as design;
use strata_ptx::module::Module;
use strata_workload::{Overrides, Toolchain, Workload};
use toml::Value;

/// A file as the program reads it: all that it says, or why it is refused.
type Reader = fn(&str) -> Result<String, String>;

fn design_file(text: &str) -> Result<String, String> {
    design::file::parse("d.toml", text).map(|design| format!("{design:?}")).map_err(|error| {
        let hint = error.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("{error}{hint}")
    })
}

fn technology_file(text: &str) -> Result<String, String> {
    let read = design::memory::file::parse("t.toml", text);
    read.map(|technology| format!("{technology:?}"))
        .map_err(|error| format!("{error}\nhint: {}", error.hint().unwrap_or_default()))
}

fn storage_technology_file(text: &str) -> Result<String, String> {
    let read = design::storage_technology::parse("t.toml", text);
    read.map(|technology| format!("{technology:?}"))
        .map_err(|error| format!("{error}\nhint: {}", error.hint().unwrap_or_default()))
}

/// The kernels of the samples, parsed once.
static MODULES: LazyLock<Vec<(&str, Module)>> = LazyLock::new(|| {
    let names = ["vectoradd", "bfs", "hotspot", "histogram"];
    let parse = |name| {
        let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
        (name, strata_ptx::parse(&workload.ptx).module)
    };
    names.map(parse).into()
});

/// A launch file of a built-in workload.
fn launch_file(name: &str, text: &str) -> Result<String, String> {
    let module = &MODULES.iter().find(|(known, _)| *known == name).expect("it is a sample").1;
    let (ptx, launch) = (("k.ptx".to_owned(), Cow::Borrowed("")), Cow::Owned(text.to_owned()));
    let read = || {
        let workload = Workload::from_texts("k".to_owned(), ptx, ("l.toml".to_owned(), launch))?;
        let plan = workload.plan("small", &Overrides::new(), module)?;
        let sizes: Vec<_> = workload.sizes().collect();
        Ok(without_places(&format!("{} {sizes:?} {plan:?}", workload.description())))
    };
    read()
        .map_err(|error: strata_workload::WorkloadError| format!("{error}\nhint: {}", error.help()))
}

const COLLECTORS: &str = "base = \"sttram-wpool-rfc4\"\nname = \"other\"\n\
    pool_read_energy = \"bank\"\n[collectors]\nunits = 8\nbanks = 8\n\
    bank_layout = \"linear\"\n    read_cycles = 2\nwrite_cycles = 4\nsplit_bank_write = false\nwrite_pool_entries = 16\n\
    write_pool_ports = 2\n[energy]\nsource = \"ours\"\nwrite_pool_read = \"1 pJ\"\n\
    write_pool_write = \"2 pJ\"\n";

const MANAGED: &str = "base = \"dissertation\"\n[orf]\nentries = 4\nlrf = \"split\"\n\
    forward_branches = false\nread_operands = false\npartial_ranges = false\n\
    dual_writes = \"same-name\"\n[energy]\nsource = \"ours\"\nassumed = true\n\
    orf_read = \"1 pJ\"\norf_write = \"2 pJ\"\nlrf_read = \"1 pJ\"\nlrf_write = \"1 pJ\"\n\
    [wires]\norf_private = \"0.3 mm\"\norf_shared = \"0.5 mm\"\n";

const DATA_CACHE: &str = "base = \"isca11-rfc6\"\nname = \"other\"\nreplacement = \"cache-miss\"\n\
    [data_cache]\ncapacity_kb = 48\nways = 8\nbanks = \"aggressive\"\ntransaction_bytes = 128\n";

macro_rules! launch {
    ($name:literal) => {
        (
            concat!("launch ", $name),
            include_str!(concat!("../workloads/", $name, "/launch.toml")),
            (|text| launch_file($name, text)) as Reader,
        )
    };
}

/// Good files, with their readers.
fn samples() -> Vec<(&'static str, &'static str, Reader)> {
    vec![
        ("design", design::file::FORMAT, design_file),
        ("design with collectors", COLLECTORS, design_file),
        ("design with managed levels", MANAGED, design_file),
        ("design with a data cache", DATA_CACHE, design_file),
        ("technology", strata_design::import::FORMAT, technology_file),
        ("technology of storage", design::storage_technology::FORMAT, storage_technology_file),
        launch!("vectoradd"),
        launch!("bfs"),
        launch!("hotspot"),
        launch!("histogram"),
    ]
}

fn written(root: &Value) -> String {
    toml::to_string(root).expect("it was read from a file")
}

/// A text without lines and columns, which only say where something stands.
fn without_places(text: &str) -> String {
    let mut parts = text.split("Position {");
    let mut left = parts.next().unwrap_or("").to_owned();
    for part in parts {
        left += part.split_once('}').map_or(part, |(_, rest)| rest);
    }
    left
}

/// Where a value of a file is: keys of tables and indices of lists.
type Path = Vec<String>;

fn paths(value: &Value, path: &mut Path, all: &mut Vec<Path>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => return,
    };
    for (key, child) in children {
        path.push(key);
        all.push(path.clone());
        paths(child, path, all);
        path.pop();
    }
}

fn every_path(root: &Value) -> Vec<Path> {
    let mut all = Vec::new();
    paths(root, &mut Vec::new(), &mut all);
    all
}

/// The value at a path.
fn at<'a>(root: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(root, |value, key| match value {
        Value::Table(table) => table.get_mut(key).expect("it is there"),
        Value::Array(list) => &mut list[key.parse::<usize>().expect("a number")],
        _ => panic!("no table and no list"),
    })
}

/// The file with the last key of the path under another name, or without it.
fn renamed(root: &Value, path: &Path, to: Option<&str>) -> Option<String> {
    let mut root = root.clone();
    let (key, above) = path.split_last()?;
    match at(&mut root, above) {
        Value::Table(table) => {
            let value = table.remove(key)?;
            to.map(|to| table.insert(to.to_owned(), value));
        }
        Value::Array(list) if to.is_none() => drop(list.remove(key.parse().ok()?)),
        _ => return None,
    }
    Some(written(&root))
}

/// Keys that say what holds without them too, by sample: deleting one changes nothing.
const LIKE_THE_DEFAULT: &[(&str, &str)] = &[
    // What the base has already.
    ("design", "partial_warp_energy"),
    // Nothing is missing.
    ("design", "missing_energy"),
    ("design", "scheduling"),
    ("design", "scheduler"),
    ("design", "issue_slots"),
    ("design", "schedulers"),
    ("design", "barrier"),
    ("design", "operand_delivery"),
    ("design", "banks"),
    ("design", "cache.replacement"),
    ("design", "cache.allocation"),
    ("design", "cache.liveness"),
    ("design", "cache.liveness_aware_bypass"),
    ("design", "cache.liveness_aware_eviction"),
    ("design", "cache.flush_at_backward_branches"),
    ("design", "sm"),
    ("design", "latency_cycles"),
    ("design", "energy.assumed"),
    ("design with collectors", "collectors.split_bank_write"),
    // Conditions that hold.
    ("launch bfs", "require"),
];

#[test]
fn a_key_that_is_left_out_or_renamed_is_noticed() {
    let mut unnoticed = Vec::new();
    for (sample, text, read) in samples() {
        let root: Value = toml::from_str(text).expect(sample);
        let whole = read(&written(&root)).expect(sample);
        for path in every_path(&root) {
            let key = path.join(".");
            if let Some(text) = renamed(&root, &path, None)
                && read(&text).as_ref() == Ok(&whole)
            {
                unnoticed.push(format!("{sample}: {key} left out"));
            }
            let last = path.last().expect("it has a key");
            let other = format!("{last}_");
            let Some(text) = renamed(&root, &path, Some(&other)) else { continue };
            let found = read(&text);
            // Sizes and their parameters have names of the file's own.
            let own = sample.starts_with("launch") && path[0] == "size" && path.len() > 1;
            if own {
                assert_ne!(found.as_ref(), Ok(&whole), "{sample}: {key} renamed");
            } else {
                let message = found.expect_err(&key);
                assert!(message.contains(&other), "{sample}: {key} renamed: {message}");
                assert!(message.contains("did you mean") || path.len() > 2, "{key}: {message}");
            }
        }
    }
    let excepted = |entry: &String| {
        LIKE_THE_DEFAULT.iter().any(|(sample, key)| {
            let of = format!("{sample}: {key}");
            *entry == format!("{of} left out") || entry.starts_with(&format!("{of}."))
        })
    };
    let missed: Vec<_> = unnoticed.iter().filter(|entry| !excepted(entry)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for (sample, key) in LIKE_THE_DEFAULT {
        let of = format!("{sample}: {key}");
        assert!(unnoticed.iter().any(|entry| entry.starts_with(&of)), "{of} is noticed");
    }
}

#[test]
fn a_key_that_is_there_twice_is_an_error() {
    for (sample, text, read) in samples() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let one_key = line.contains(" = ") && !line.starts_with([' ', '#']);
            if !one_key || line.trim_end().ends_with('[') {
                continue;
            }
            let mut twice = lines.clone();
            twice.insert(at, line);
            let message = read(&twice.join("\n")).expect_err(line);
            assert!(message.contains("is given twice"), "{sample}: {line}: {message}");
            let place = [format!("line {}", at + 2), format!("toml:{}:", at + 2)];
            assert!(place.iter().any(|place| message.contains(place)), "{line}: {message}");
        }
    }
}

/// A value of every type, and what a reader may not take for another: a number with a fraction for
/// an integer, a text for a number, a date for a text.
fn other_types(value: &Value) -> Vec<Value> {
    let every = "v = [1.5, 1e3, nan, inf, -inf, true, 1979-05-27, [], [1], {}, { x = 1 }, \"\", \
                 \" \", \"\\u001b\", -9223372036854775808, 9223372036854775807]";
    let Value::Table(table) = toml::from_str(every).expect("it is TOML") else { panic!() };
    let every = table["v"].as_array().expect("a list").clone();
    every.into_iter().filter(|other| !other.same_type(value) || is_extreme(other)).collect()
}

fn is_extreme(value: &Value) -> bool {
    match value {
        Value::Integer(number) => number.unsigned_abs() > 1 << 60,
        Value::Float(number) => !number.is_finite(),
        Value::String(text) => text.trim().is_empty() || text.contains('\u{1b}'),
        _ => false,
    }
}

/// What is taken, by sample and key: values of another type that mean something there.
fn taken(sample: &str, path: &Path, value: &Value) -> bool {
    let last = path.last().map_or("", String::as_str);
    let constant =
        path.iter().any(|key| key == "constant" || key == "value" && sample != "technology");
    if !sample.starts_with("launch") {
        // Nothing but a list of its words can be in a list, and an empty list means none of them.
        return matches!(value, Value::Array(list) if list.is_empty()) && last == "also_leaves_for";
    }
    // A plain number is an argument: the kernel's parameter says its type.
    let argument = path.len() >= 2 && path[path.len() - 2] == "arguments";
    match value {
        Value::Integer(_) | Value::Float(_) if argument => true,
        // Any integer is a parameter, a seed, a constant of 64 bits or an expression that fits.
        Value::Integer(_) => {
            let real = ["low", "high", "f32", "f64"].contains(&last);
            real || constant || path[0] == "size" || last == "seed" || is_expression(last)
        }
        Value::Float(_) => {
            constant || ["low", "high", "f32", "f64", "absolute", "relative"].contains(&last)
        }
        // Lists of nothing: no arguments are refused by the kernel, no conditions are as good.
        Value::Array(list) if list.is_empty() => ["require", "launch", "reset"].contains(&last),
        _ => false,
    }
}

fn is_expression(key: &str) -> bool {
    ["zero", "positive", "at_most", "s32", "s64", "u32", "u64", "select", "repeat"].contains(&key)
}

#[test]
fn a_value_of_another_type_is_refused() {
    for (sample, text, read) in samples() {
        let root: Value = toml::from_str(text).expect(sample);
        read(&written(&root)).expect(sample);
        let mut tried = 0;
        for path in every_path(&root) {
            let own = at(&mut root.clone(), &path).clone();
            for other in other_types(&own) {
                let mut changed = root.clone();
                *at(&mut changed, &path) = other.clone();
                let found = read(&written(&changed));
                let key = path.join(".");
                if !taken(sample, &path, &other) {
                    assert!(found.is_err(), "{sample}: {key} = {other} for {own}");
                }
                tried += 1;
            }
        }
        assert!(tried > 50, "{sample}");
    }
}

/// A table is written as a table: as a list of its values some could be left over unread.
#[test]
fn a_list_in_place_of_a_table_is_refused() {
    for (sample, text, read) in samples() {
        let root: Value = toml::from_str(text).expect(sample);
        let mut tried = 0;
        for path in every_path(&root) {
            let Value::Table(table) = at(&mut root.clone(), &path).clone() else { continue };
            let list: Vec<Value> = table.values().cloned().chain([Value::Integer(9)]).collect();
            for list in [Vec::new(), list] {
                let mut changed = root.clone();
                *at(&mut changed, &path) = Value::Array(list.clone());
                let found = read(&written(&changed));
                assert!(found.is_err(), "{sample}: {} = {list:?}", path.join("."));
                tried += 1;
            }
        }
        assert!(tried > 1, "{sample}");
    }
    let every = "base = \"isca11-rfc6\"\nname = \"other\"\n\
                 cache = [4, \"lru\", \"writes\", true, true, true, false, 99, \"odd\"]\n";
    let message = message(design_file, every);
    assert!(message.contains("d.toml:3:9: "), "{message}");
    assert!(message.contains("expected a table, found a list"), "{message}");
}

/// Integers have one value in all their forms.
#[test]
fn forms_of_numbers() {
    let of = |number: &str| {
        design_file(&format!("base = \"isca11-rfc6\"\n[latency_cycles]\ndram = {number}\n"))
    };
    let plain = of("512").unwrap();
    for form in ["0x200", "0o1000", "0b1000000000", "5_1_2", "+512"] {
        assert_eq!(of(form).as_ref(), Ok(&plain), "{form}");
    }
    for form in ["512.0", "5.12e2", "0512", "5__12", "512_", "0X200", "- 512", "512 cycles"] {
        assert!(of(form).is_err(), "{form}");
    }
    for (file, number) in [
        ("[energy]\nsource = \"x\"\nmrf_read", "\"1e3 fJ\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"1,5 pJ\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"-1 pJ\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"0.0001 pJ\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"1 pJ/bit\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"inf pJ\""),
        ("[energy]\nsource = \"x\"\nmrf_read", "\"1 pJ 2\""),
        ("[wires]\nmrf_private", "\"1 pJ\""),
        ("[wires]\nmrf_private", "1"),
    ] {
        let text = format!("base = \"isca11-rfc6\"\n{file} = {number}\n");
        assert!(design_file(&text).is_err(), "{text}");
    }
}

/// The message of a file that is wrong.
fn message(read: impl Fn(&str) -> Result<String, String>, text: &str) -> String {
    read(text).expect_err(text)
}

#[test]
fn mistakes_of_design_files_are_told_with_their_place() {
    for (text, parts) in [
        ("base = \"isca11-rfc6\"\nname = \"\"", ["d.toml:2:1: `name = \"\"`", "it is empty"]),
        (
            "base = \"isca11-rfc6\"\nname = \"my design\"",
            ["d.toml:2:1: `name = \"my design\"`", "plain word of letters"],
        ),
        (
            "base = \"isca11-rfc6\"\n  name = \"a\\u001b[31m\"",
            ["d.toml:2:3: `name = \"a\\u{1b}[31m\"`", "`\\u{1b}` is not allowed"],
        ),
        ("base = \"isca11-rfc6\"\nname = \"a\\u202eb\"", ["d.toml:2:1: ", "\\u{202e}"]),
        ("base = \"isca11-rfc6\"\nname = \"a\\nb\"", ["d.toml:2:1: ", "a plain word"]),
        ("base = \"isca11-rfc6 \"", ["d.toml:1:1: `base", "`strata designs` lists"]),
        ("base = isca11-rfc6", ["d.toml:1:8: ", "a text has quotes"]),
        ("base = \"isca11-rfc6\"\nentries = 4", ["d.toml:2:1: ", "there is no key `entries` here"]),
        (
            "base = \"isca11-rfc6\"\n[cache]\nentries = 4\n[cache]\nlru = true",
            ["d.toml:4:", "is given twice"],
        ),
        (
            "base = \"isca11-rfc6\"\n[cache]\nentries = 4.0",
            ["d.toml:3:11: ", "expected a whole number"],
        ),
        ("base = \"isca11-rfc6\"\n[cache]\n\nentries = 99", ["d.toml:4:1: ", "1 to 13"]),
        ("base = \"isca11-rfc6\"\n[energy]\nmrf_read = \"8 pJ\"", ["d.toml:2:", "`source`"]),
        (
            "base = \"isca11-rfc6\"\n[energy]\nsource = \"x\"",
            ["d.toml:2:2: `[energy]` gives no energy", "mrf_read"],
        ),
        (
            "base = \"isca11-rfc6\"\n[energy]\nsource = \"a\\u0007\"\nmrf_read = \"8 pJ\"",
            ["d.toml:3:1: `energy.source", "one line"],
        ),
        (
            "base = \"isca11-rfc6\"\n[energy]\nsource = \"x\"\nmrf_read = \"8 pj\"",
            ["d.toml:4:", "the units are `fJ`, `pJ`, `nJ`"],
        ),
        (
            "base = \"isca11-rfc6\"\n[energy]\nsource = \"x\"\nrfc_read = \"8 pJ\"",
            ["d.toml:4:1: only one of `energy.rfc_read`", "give both"],
        ),
        (
            "base = \"isca11\"\nactive_warps = 8",
            ["d.toml:2:1: `active_warps` has no meaning", "two-level"],
        ),
        ("base = \"isca11\"\ntechnology = \"warf\"", ["called `warf`", "did you mean `warrf`"]),
        (
            "base = \"isca11\"\n[collectors]\nunits = 4",
            ["d.toml:2:2: `[collectors]`", "operand_delivery"],
        ),
        ("\u{feff}base = \"isca11\"\n[sm]\nwarps = 0", ["d.toml:3:1: `sm.warps = 0`", "1 to 64"]),
    ] {
        let found = message(design_file, text);
        for part in parts {
            assert!(found.contains(part), "{text}\n--- {part}\n{found}");
        }
    }
    let error = design::file::parse("my design.toml", "base = \"isca11\"").unwrap_err();
    assert!(error.to_string().contains("\"my design\", is no name of a design"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("name = ")));
    let design = design::file::parse("my design.toml", "base = \"isca11\"\nname = \"mine\"");
    assert_eq!(design.unwrap().name, "mine");
}

/// The launch file of `vectoradd` with something in place of something else.
fn vectoradd(from: &str, to: &str) -> String {
    let text = include_str!("../workloads/vectoradd/launch.toml");
    assert!(text.contains(from), "{from}\n{text}");
    message(|text| launch_file("vectoradd", text), &text.replacen(from, to, 1))
}

#[test]
fn mistakes_of_launch_files_are_told_with_their_place() {
    let generator = |to: &str| {
        let text = include_str!("../workloads/vectoradd/launch.toml");
        let line = text.lines().find(|line| line.starts_with("generator")).expect("it has one");
        vectoradd(line, &format!("generator = {to}"))
    };
    let graph = generator("{ graph_offsets = { nodes = 1, edges = 2147483647, seed = 1 } }");
    for (found, parts) in [
        (vectoradd("description = ", "description = \"a\\u001bb\" #"), ["l.toml:1:", "one line"]),
        (vectoradd("description = ", "description = \"\" #"), ["l.toml:1:1: ", "it is empty"]),
        (vectoradd("[size.small]", "[size.\"a b\"]"), ["l.toml:", "\"a b\" is no name"]),
        (vectoradd("\nn = ", "\n\"n-n\" = 3\nn = "), ["\"n-n\" is no name of a parameter", "`-`"]),
        (vectoradd("\nn = ", "\ni = 3\nn = "), ["`i` is the index", "l.toml:4:1"]),
        (vectoradd("\nname = \"", "\nname = \"a/"), ["buffer[0].name", "is no name"]),
        (generator("{ constant = 1e39 }"), ["would become infinite", "l.toml:"]),
        (generator("{ constant = 16777217 }"), ["rounded to another integer", "f32"]),
        (generator("{ constant = 1, iota = 2 }"), ["l.toml:15:", "1"]),
        (
            generator("{ uniform = { low = 0, high = 9007199254740993, seed = 1 } }"),
            ["rounded to another integer", "f64"],
        ),
        (
            generator("{ uniform = { low = -1e39, high = 1.0, seed = 1 } }"),
            ["would become infinite", "f32"],
        ),
        (
            generator("{ uniform = { low = 0.0, high = 1.0, seed = -1 } }"),
            ["the seed is -1", "expected 0 or more"],
        ),
        (graph, ["the number of edges is 2147483647", "1 to 67108864"]),
        (generator("\"iotta\""), ["there is no `iotta` here", "did you mean `iota`?"]),
        (vectoradd("\ngrid = ", "\nrepeat = 0\ngrid = "), ["launches nothing", "l.toml"]),
        (vectoradd("\ngrid = ", "\nrepeat = 0.5\ngrid = "), ["found 0.5", "an integer or"]),
        (vectoradd("\ngrid = ", "\ngird = [1]\ngrid = "), ["`gird`", "did you mean `grid`?"]),
        (
            vectoradd("[\"a\", \"b\"", "[{ buffer = [], select = 0 }, \"b\""),
            ["launch[0].arguments[0]", "the list is empty"],
        ),
        (
            vectoradd("[check]", "[check]\nabsolute = 1.0"),
            ["there is no key `absolute` here", "`reference`"],
        ),
        (vectoradd("[[check.buffer]]", "[check.bufer]\n[[check.bufer.x]]"), ["bufer", "buffer"]),
    ] {
        for part in parts {
            assert!(found.contains(part), "--- {part}\n{found}");
        }
    }
}

/// What a launch file compares is not nothing, and not twice the same.
#[test]
fn checks_of_nothing_are_refused() {
    let text = include_str!("../workloads/vectoradd/launch.toml");
    let (before, _) = text.split_once("[[check.buffer]]").expect("it has a check");
    let with = |tail: &str| {
        let text = format!("{before}{tail}");
        launch_file("vectoradd", &text)
    };
    let c = "c";
    for (tail, part) in [
        ("buffer = []".to_owned(), "the list is empty"),
        (format!("buffer = [{{ name = \"{c}\" }}, {{ name = \"{c}\" }}]"), "is defined twice"),
        (format!("buffer = [{{ name = \"{c}\", because = \"x\" }}]"), "`because` needs"),
        (format!("buffer = [{{ name = \"{c}\", absolute = nan, because = \"x\" }}]"), "tolerance"),
    ] {
        let found = with(&tail).expect_err(&tail);
        assert!(found.contains(part), "{found}");
    }
}

/// Whatever a file asks for, making its plan takes bounded time and memory.
#[test]
fn a_plan_is_bounded() {
    let text = include_str!("../workloads/vectoradd/launch.toml");
    let long = "+ 0".repeat(160);
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        message(|text| launch_file("vectoradd", text), &text.replacen(from, to, 1))
    };
    let sides = format!("\"1{long}\"");
    let grid = format!("repeat = 65536\ngrid = [{sides}, {sides}, {sides}]\n#");
    let found = with("grid = ", &grid);
    assert!(found.contains("the length of all expressions"), "{found}");
    let reset = "\nrepeat = 65536\nreset = [{ buffer = \"big\", value = 1 }]\nblock = ";
    let big =
        "[[buffer]]\nname = \"big\"\ntype = \"u8\"\ncount = 4_000_000\ngenerator = \"zero\"\n";
    let found = message(
        |text| launch_file("vectoradd", text),
        &text.replacen("[[launch]]", &format!("{big}\n[[launch]]"), 1).replacen(
            "\nblock = ",
            reset,
            1,
        ),
    );
    assert!(found.contains("the number of bytes that all resets write"), "{found}");
    let many: Vec<String> = (0..65).map(|n| format!("p{n} = {n}\n")).collect();
    let many = many.concat();
    let found = with("\nn = ", &format!("\n{many}n = "));
    assert!(found.contains("there are 67 parameters; at most 64"), "{found}");
}
