//! No token is read over: without it, or with another one in its place, a file says something else
//! or is refused.
//!
//! The tests know nothing of the parser. They cut a file into words of their own, leave one out or
//! write it twice, and compare what is read.

use std::collections::BTreeSet;
use std::path::Path;

use strata_ptx::cuda::CudaLines;
use strata_ptx::module::{Callees, Function, Module, Span};
use strata_ptx::parse;

/// Files with every directive and every opcode, small enough to be read once for each token.
const FILES: [&str; 4] = ["language.ptx", "old.ptx", "plain.ptx", "rare.ptx"];

/// The places of the words of a text: what a person would call one thing. Comments are none.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"_$%.:".contains(&byte);
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at += rest.find("*/").expect("a comment ends") + 2;
            continue;
        } else if bytes[at] == b'"' {
            rest[1..].find('"').expect("a string ends") + 2
        } else if named(bytes[at]) {
            word_length(&bytes[at..])
        } else {
            1
        };
        words.push(at..at + length);
        at += length;
    }
    words
}

/// How far a name, number or dot word goes that begins here. A dot begins the next one.
fn word_length(bytes: &[u8]) -> usize {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$%".contains(byte);
    1 + bytes[1..].iter().take_while(|byte| inside(byte)).count()
}

/// The module without what depends on the length of the text; nothing when the file is refused.
fn read(text: &str) -> Option<Module> {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let mut module = parsed.module;
    let clear = |function: &mut Function| {
        function.span = Span::default();
        function.variables.iter_mut().for_each(|v| v.span = Span::default());
        function.body.iter_mut().for_each(|i| i.span = Span::default());
        for (_, callees) in &mut function.call_tables {
            if let Callees::Prototype { parameters, results } = callees {
                let variables = parameters.iter_mut().chain(results);
                variables.for_each(|v| v.span = Span::default());
            }
        }
    };
    module.functions.iter_mut().for_each(clear);
    module.variables.iter_mut().for_each(|v| v.span = Span::default());
    module.line_starts.clear();
    module.cuda = CudaLines::default();
    Some(module)
}

fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    std::fs::read_to_string(path).expect("the file is there")
}

/// Statements whose words may change without a change of meaning: they say where code came from,
/// how it is to be compiled, or what an unknown callee looks like.
fn says_nothing(statement: &str) -> bool {
    const PREFIXES: [&str; 9] =
        [".file", ".loc", ".section", ".pragma", "@@DWARF", ".b8", ".b32", ".b64", "$label:"];
    const WITHIN: [&str; 3] = [".callprototype", ".calltargets", ".samplerref"];
    PREFIXES.iter().any(|prefix| statement.starts_with(prefix))
        || WITHIN.iter().any(|word| statement.contains(word))
}

/// The line of a place.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap_or_default().trim()
}

/// Changes each word of the files in turn; gives those whose change leaves the module as it was.
fn unnoticed(change: impl Fn(&str, std::ops::Range<usize>) -> String) -> BTreeSet<String> {
    let mut unnoticed = BTreeSet::new();
    for file in FILES {
        let text = corpus(file);
        let whole = read(&text).unwrap_or_else(|| panic!("{file}: {:?}", parse(&text).diagnostics));
        let words = words(&text);
        assert!(words.len() > 500, "{file}: {}", words.len());
        for word in words {
            let line = line_at(&text, word.start);
            if !says_nothing(line) && read(&change(&text, word.clone())).as_ref() == Some(&whole) {
                unnoticed.insert(format!("{} in {line}", &text[word]));
            }
        }
    }
    unnoticed
}

#[test]
fn a_file_without_one_of_its_words_is_another_file() {
    let unnoticed =
        unnoticed(|text, word| format!("{} {}", &text[..word.start], &text[word.end..]));
    // What an initial value or another word says already, and `[%rd1+-8]` without its `+`.
    let redundant = [
        "+ in ld.global.u32 %r3, [%rd1+-8];",
        ".global in .global .surfref canvas;",
        ".global in .global .texref image;",
        "0 in .global .attribute(.managed) .align 4 .f32 table[2][2] = {{0f3F800000, 1.5}, {-2.0, 0.0}};",
        "16 in .visible .const .align 8 .b8 limits[16] = {0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 4, 192};",
        "2 in .global .attribute(.managed) .align 4 .f32 table[2][2] = {{0f3F800000, 1.5}, {-2.0, 0.0}};",
        "2 in .global .f64 doubles[2] = {0d3FF0000000000000, 2.5e-3};",
        "2 in .global .s8 negative[2] = {-1, 0xFF};",
        "2 in .global .u32 counts[2][3] = {{1,2,3},{4,5}};",
        "2 in .global .v2 .u16 vectors[2] = {{1, 2}, {3, 4}};",
        "4 in .visible .global .align 8 .u64 addresses[4] = {table, generic(table)+8, leaf, 0};",
    ];
    assert_eq!(unnoticed, BTreeSet::from(redundant.map(str::to_owned)));
}

#[test]
fn a_file_with_one_of_its_words_twice_is_another_file() {
    let unnoticed =
        unnoticed(|text, word| format!("{} {}", &text[..word.end], &text[word.start..]));
    // An empty statement, and the sign of a sign.
    let others: Vec<&String> =
        unnoticed.iter().filter(|found| !found.starts_with(['+', ';'])).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// The first word of an unknown statement behind every `;`, `}` and line: none may be taken for a
/// part of what stands before it.
#[test]
fn nothing_is_read_past_its_end() {
    for file in FILES {
        let text = corpus(file);
        for word in words(&text) {
            let line = line_at(&text, word.start);
            let end = text[word.end..].starts_with('\n');
            if !end || line.starts_with("@@DWARF") {
                continue;
            }
            for unknown in ["unknown ", ".unknown ", "7 ", "\"text\" "] {
                let changed = format!("{} {unknown}{}", &text[..word.end], &text[word.end..]);
                assert!(read(&changed).is_none(), "{file}: {unknown} behind {line}");
            }
        }
    }
}
