use super::*;

const SMALL: &str = r#"
id = 0x12345678
version = 3
line_baud = 1234567
[[register]]
name = "FIRST"
address = 0x000
access = "read"
says = "one"
[[register]]
name = "TWO_WORDS"
address = 0x004
words = 2
access = "write"
says = "two"
fields = [
  { name = "LOW", bit = 0, width = 4, says = "low bits" },
  { name = "KIND", bit = 6, width = 2, codes = "KINDS", says = "which" },
]
[[code]]
name = "KINDS"
width = 2
says = "kinds"
values = [{ name = "NONE_YET", says = "none" }, { name = "ONE", says = "one" }]
[[counter]]
name = "some_events"
says = "events"
[[sum]]
of = "banks"
counters = ["some_events"]
events = ["MrfReadPrivate"]
"#;

#[test]
fn the_table_says_what_is_where() {
    let map = Map::parse(SMALL).unwrap();
    let [(_, rust), (_, system_verilog), (_, document)] = map.outputs();
    for line in [
        "pub const ID: u32 = 0x1234_5678;",
        "pub const LINE_BAUD: u32 = 1_234_567;",
        "    /// Write: two.",
        "    pub const TWO_WORDS: u32 = 0x004;",
        "    pub const TWO_WORDS_LOW: Field = Field::new(0, 4);",
        "    pub const TWO_WORDS_KIND: Field = Field::new(6, 2);",
        "pub enum Kinds {",
        "            1 => Some(Self::One),",
        "    /// Events.",
        "    SomeEvents,",
        "    \"some_events\",",
        "        of: Designs::Banks,",
        "            Event::MrfReadPrivate,",
    ] {
        assert!(rust.lines().any(|it| it == line), "{line}\n{rust}");
    }
    for line in [
        "  localparam logic [31:0] Id      = 32'h12345678;",
        "  localparam int unsigned LineBaud = 1234567;",
        "  localparam logic [11:0] AddressTwoWords = 12'h004;",
        "  localparam int unsigned TwoWordsKindBit = 6;",
        "  localparam int unsigned TwoWordsWidth = 8;",
        "    logic [1:0]  kind;",
        "    logic [1:0]  unused_4;",
        "  } two_words_t;",
        "  localparam logic [1:0] KindsNoneYet = 2'd0;",
        "  localparam int unsigned CountSomeEvents = 0;",
    ] {
        assert!(system_verilog.lines().any(|it| it == line), "{line}\n{system_verilog}");
    }
    for line in [
        "| 0x004 .. 0x008 | TWO_WORDS | write | two |",
        "| TWO_WORDS | 3:0 | LOW | low bits |",
        "| TWO_WORDS | 7:6 | KIND | which: KINDS |",
        "| KINDS | 1 | ONE | one |",
        "| without a write pool | `some_events` | `MrfReadPrivate` |",
    ] {
        assert!(document.lines().any(|it| it == line), "{line}\n{document}");
    }
}

#[test]
fn a_wrong_table_is_refused() {
    let refused = |from: &str, to: &str| Map::parse(&SMALL.replacen(from, to, 1)).unwrap_err();
    assert!(refused("id = 0x1", "id = 0x1000").contains("no number `id`"));
    assert!(refused("0x004", "0x000").contains("TWO_WORDS is at 0x000"));
    assert!(refused("0x004", "0x006").contains("multiples of 4"));
    assert!(refused("width = 4", "width = 33").contains("TWO_WORDS.LOW does not fit"));
    assert!(refused("says = \"two\"", "").contains("TWO_WORDS has no text `says`"));
    assert!(refused("[[counter]]", "[[numbers]]").contains("the table has `numbers`"));
    assert!(refused("line_baud = 1", "line_baud = -1").contains("no number `line_baud`"));
    assert!(refused("\"write\"", "\"wirte\"").contains("TWO_WORDS: `access` is"));
    for (from, to, place) in [
        ("version = 3", "version = 3\nbaud = 9", "the table has `baud`"),
        ("words = 2", "words = 2\nwidth = 4", "TWO_WORDS has `width`"),
        ("bit = 0,", "bit = 0, shift = 1,", "LOW has `shift`"),
        ("\"some_events\"", "\"some_events\"\nunit = \"1\"", "some_events has `unit`"),
        ("codes = \"KINDS\"", "codes = \"SORTS\"", "TWO_WORDS.KIND: there are no codes `SORTS`"),
        ("bit = 6, width = 2", "bit = 6, width = 3", "there are no codes `KINDS` of 3 bits"),
        ("width = 2\nsays", "width = 0\nsays", "KINDS: 2 codes do not fit 0 bits"),
        ("\"ONE\"", "\"NONE_YET\"", "two codes of KINDS are called `NONE_YET`"),
        ("counters = [\"some_events\"]", "counters = [\"more\"]", "`more`, which is no counter"),
        ("of = \"banks\"", "of = \"bank\"", "designs that are not known: `bank`"),
        ("events = [\"MrfReadPrivate\"]", "events = []", "sum 1 has no list of texts `events`"),
    ] {
        assert!(refused(from, to).contains(place), "{place}");
    }
    let twice = format!("{SMALL}\n[[counter]]\nname = \"some_events\"\nsays = \"again\"\n");
    assert!(Map::parse(&twice).unwrap_err().contains("two counters are called `some_events`"));
}
