//! The processor of the simulated board: the text of the wheel with larger caches, and written so
//! that it simulates faster.
//!
//! The wheel's text is pinned to one version. How often each replaced text occurs is checked,
//! so that another text is refused and never half changed.

/// Doublings of either cache, which has 4 KB in the wheel: 32 KB. The firmware's inner loops fit.
const DOUBLINGS: u32 = 3;

/// Lines of a cache in the wheel, of 8 words each.
const LINES: u32 = 128;

/// A replacement: what for, where it is used, and how often it is found there.
type Change<'a> = (&'a str, String, usize);

/// The processor for the simulator. Fails with a sentence if the text is not the one it knows.
pub(crate) fn for_simulation(text: &str) -> Result<String, String> {
    // What is public to C++ cannot be optimised away; nothing here looks at it.
    let text = text.replace("/* verilator public */", "");
    let text = within(&text, "InstructionCache", |cache| change(cache, &instructions(DOUBLINGS)))?;
    let text = within(&text, "DataCache", |cache| change(cache, &data(DOUBLINGS)))?;
    within(&text, "VexRiscv", reverse)
}

/// Gives one module of the text to `edit`.
fn within(
    text: &str,
    module: &str,
    edit: impl Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let missing = || format!("the processor has no module {module}");
    let start = text.find(&format!("\nmodule {module} (\n")).ok_or_else(missing)?;
    let length = text[start..].find("\nendmodule").ok_or_else(missing)?;
    let (before, rest) = text.split_at(start);
    let (body, after) = rest.split_at(length);
    let body = edit(body).map_err(|why| format!("module {module} of the processor: {why}"))?;
    Ok([before, &body, after].concat())
}

fn change(text: &str, changes: &[Change<'_>]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (from, to, times) in changes {
        let found = text.matches(from).count();
        if found != *times {
            return Err(format!("`{from}` is there {found} times, and not {times}"));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}

/// Doubles the instruction cache. A tag keeps all its bits, though the lowest of them say what the
/// line's number says then. Numbers of words come before those of lines, which they would be taken
/// for.
fn instructions(doublings: u32) -> Vec<Change<'static>> {
    let (line, top) = (6 + doublings, 11 + doublings);
    let (lines, words) = (LINES << doublings, (LINES * 8) << doublings);
    // Counts lines that are invalidated after a reset; its highest bit says that all are.
    let counter = 7 + doublings;
    vec![
        ("[11 : 5]", format!("[{top} : 5]"), 3),
        ("[11 : 2]", format!("[{top} : 2]"), 1),
        ("reg [31:0] banks_0 [0:1023]", format!("reg [31:0] banks_0 [0:{}]", words - 1), 1),
        ("ways_0_tags [0:127]", format!("ways_0_tags [0:{}]", lines - 1), 1),
        ("wire       [9:0] ", format!("wire       [{}:0] ", line + 3), 2),
        ("wire       [6:0] ", format!("wire       [{line}:0] "), 2),
        (
            "reg        [7:0]    lineLoader_flushCounter",
            format!("reg        [{counter}:0]    lineLoader_flushCounter"),
            1,
        ),
        ("lineLoader_flushCounter[7]", format!("lineLoader_flushCounter[{counter}]"), 5),
        ("lineLoader_flushCounter[6 : 0]", format!("lineLoader_flushCounter[{line} : 0]"), 1),
        (
            "lineLoader_flushCounter + 8'h01",
            format!("lineLoader_flushCounter + {}'h01", counter + 1),
            1,
        ),
        (
            "lineLoader_flushCounter <= 8'h0",
            format!("lineLoader_flushCounter <= {}'h0", counter + 1),
            1,
        ),
    ]
}

/// Doubles the data cache, as the other.
fn data(doublings: u32) -> Vec<Change<'static>> {
    let (line, top) = (6 + doublings, 11 + doublings);
    let (lines, words) = (LINES << doublings, (LINES * 8) << doublings);
    let counter = 7 + doublings;
    vec![
        ("[11 : 5]", format!("[{top} : 5]"), 3),
        ("[11 : 2]", format!("[{top} : 2]"), 4),
        (" [0:1023]", format!(" [0:{}]", words - 1), 4),
        ("ways_0_tags [0:127]", format!("ways_0_tags [0:{}]", lines - 1), 1),
        ("reg        [9:0] ", format!("reg        [{}:0] ", line + 3), 2),
        ("reg        [6:0] ", format!("reg        [{line}:0] "), 3),
        ("wire       [9:0] ", format!("wire       [{}:0] ", line + 3), 2),
        (
            "reg        [7:0]    stageB_flusher_counter",
            format!("reg        [{counter}:0]    stageB_flusher_counter"),
            1,
        ),
        ("stageB_flusher_counter[7]", format!("stageB_flusher_counter[{counter}]"), 2),
        ("stageB_flusher_counter[6:0]", format!("stageB_flusher_counter[{line}:0]"), 1),
        (
            "stageB_flusher_counter + 8'h01",
            format!("stageB_flusher_counter + {}'h01", counter + 1),
            1,
        ),
        (
            "stageB_flusher_counter <= 8'h0",
            format!("stageB_flusher_counter <= {}'h0", counter + 1),
            2,
        ),
    ]
}

/// Turns words round at once that the wheel's shifter turns round bit by bit: a simulator does the
/// one in a few operations, and the other in two for each bit.
fn reverse(text: &str) -> Result<String, String> {
    let mut text = text.to_owned();
    for (into, from) in [
        ("_zz_execute_FullBarrelShifterPlugin_reversed", "execute_SRC1"),
        ("_zz_decode_RS2_3", "memory_SHIFT_RIGHT"),
    ] {
        let bits: Vec<String> =
            (0..32).map(|bit| format!("    {into}[{bit}] = {from}[{}];\n", 31 - bit)).collect();
        text = change(&text, &[(&bits.concat(), format!("    {into} = {{<<{{{from}}}}};\n"), 1)])?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "head\nmodule A (\n  x[7]\nendmodule\nmodule AB (\n  x[7] x[7]\nendmodule\n";

    #[test]
    fn a_change_stays_in_its_module() {
        let two = |text: &str| change(text, &[("[7]", "[9]".to_owned(), 2)]);
        let changed = within(TEXT, "AB", two).unwrap();
        assert_eq!(changed, TEXT.replace("x[7] x[7]", "x[9] x[9]"));
    }

    #[test]
    fn a_text_that_is_not_the_known_one_is_refused() {
        let two = |text: &str| change(text, &[("[7]", "[9]".to_owned(), 2)]);
        let why = within(TEXT, "A", two).unwrap_err();
        assert_eq!(why, "module A of the processor: `[7]` is there 1 times, and not 2");
        let why = within(TEXT, "B", two).unwrap_err();
        assert_eq!(why, "the processor has no module B");
        assert!(for_simulation(TEXT).unwrap_err().contains("no module InstructionCache"));
    }

    #[test]
    fn a_word_is_turned_round_at_once() {
        let line = |into: &str, from: &str, bit: usize| {
            format!("    {into}[{bit}] = {from}[{}];\n", 31 - bit)
        };
        let names = [
            ("_zz_execute_FullBarrelShifterPlugin_reversed", "execute_SRC1"),
            ("_zz_decode_RS2_3", "memory_SHIFT_RIGHT"),
        ];
        let text: String = names
            .iter()
            .flat_map(|(into, from)| (0..32).map(move |bit| line(into, from, bit)))
            .collect();
        let turned = names.map(|(into, from)| format!("    {into} = {{<<{{{from}}}}};\n"));
        assert_eq!(reverse(&text).unwrap(), turned.concat());
        assert!(reverse(&text.replace("[3] =", "[4] =")).is_err());
    }
}
