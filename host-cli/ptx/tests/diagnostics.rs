//! The messages about malformed files, word for word.
//!
//! Each `tests/diagnostics/*.ptx` has its messages beside it in a `.txt`. After a deliberate
//! change, `BLESS=1 cargo test -p strata-ptx --test diagnostics` writes them again; read the
//! difference.

#[path = "../../../tests/switch.rs"]
mod switch;

use std::path::Path;

use strata_ptx::diagnostic::{Diagnostic, LineIndex, Position, render};
use strata_ptx::module::Span;
use strata_ptx::{parse, parse_bytes};

fn rendered(name: &str, text: &str) -> String {
    let lines = LineIndex::new(text);
    parse(text).diagnostics.iter().map(|d| render(d, name, text, &lines)).collect()
}

#[test]
fn messages_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut count = 0;
    for name in ["kernel", "declarations", "layout", "unsupported"] {
        let source = folder.join(format!("{name}.ptx"));
        let recorded = folder.join(format!("{name}.txt"));
        let text = std::fs::read_to_string(&source).expect("the file is there");
        let found = rendered(&format!("{name}.ptx"), &text);
        if switch::is_on("BLESS") {
            std::fs::write(&recorded, &found).expect("writable");
        }
        let expected = std::fs::read_to_string(&recorded).expect("recorded messages");
        assert!(found == expected, "{name}: expected\n{expected}\nfound\n{found}");
        count += parse(&text).diagnostics.len();
    }
    assert!(count > 60, "{count}");
}

#[test]
fn too_many_are_counted_not_listed() {
    let text = format!(".version 8.0\n.entry k() {{\n{}}}\n", "?;\n".repeat(1000));
    let diagnostics = parse(&text).diagnostics;
    assert_eq!(diagnostics.len(), 201);
    let last = diagnostics.last().expect("one");
    assert_eq!((last.code, last.message.as_str()), ("too-many", "and 800 more"));
    assert!(parse(&text).has_errors());
}

#[test]
fn diagnostics_are_in_the_order_of_the_file() {
    // Labels are resolved at the end of a function, after errors further down.
    let text = ".version 8.0\n.entry k() {\nbra nowhere;\noops;\n}\n";
    let codes: Vec<&str> = parse(text).diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["undeclared-label", "unknown-opcode"]);
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let bytes = b".version 8.0\n// \xFF\n";
    let parsed = parse_bytes(bytes);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code, "not-utf8");
    assert_eq!(parsed.diagnostics[0].span, Span { start: 16, end: 17 });
    let cubin = parse_bytes(b"\x7fELF\x02\x01\x01\xF3");
    assert!(cubin.has_errors());
    assert!(parse_bytes(b"").has_errors(), "an empty file is no module");
    assert!(parse("   \n// nothing\n").has_errors());
}

#[test]
fn positions_count_characters_from_one() {
    let text = "a\n\u{E9}b\r\n\tc";
    let lines = LineIndex::new(text);
    let at = |offset| lines.position(text, offset);
    assert_eq!(at(0), Position { line: 1, column: 1 });
    assert_eq!(at(1), Position { line: 1, column: 2 });
    assert_eq!(at(2), Position { line: 2, column: 1 });
    assert_eq!(at(4), Position { line: 2, column: 2 }, "one character of two bytes");
    assert_eq!(at(8), Position { line: 3, column: 2 });
    assert_eq!(at(1000), Position { line: 3, column: 3 }, "past the end is the end");
    assert_eq!(lines.text(text, 2), "\u{E9}b");
    assert_eq!(lines.text(text, 3), "\tc");
    assert_eq!((lines.text(text, 0), lines.text(text, 4)), ("", ""));
}

#[test]
fn drawing_never_fails() {
    let text = "x\n";
    let lines = LineIndex::new(text);
    for (start, end) in [(0, 0), (0, 1), (1, 2), (2, 2), (5, 3), (u32::MAX, u32::MAX)] {
        let diagnostic = Diagnostic::error("test", Span { start, end }, "message")
            .with_hint("hint")
            .in_kernel("k");
        let drawn = render(&diagnostic, "f", text, &lines);
        assert!(drawn.contains("error: message (in `k`)") && drawn.ends_with("= hint: hint\n"));
        assert_eq!(drawn.lines().count(), 5, "{drawn}");
    }
}
