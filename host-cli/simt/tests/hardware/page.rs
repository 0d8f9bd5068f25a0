//! The page of conformance: what executes, and what a GPU has confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use strata_ptx::fuzzing::{Random, every_form};
use strata_ptx::types::ScalarType;

/// What became of the variants of an opcode and type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// With the bits of a GPU.
    pub(crate) equal: usize,
    /// With others, for a known reason.
    pub(crate) differing: usize,
    /// Executed, but not by that GPU.
    pub(crate) executed: usize,
    /// Refused, and what the message says.
    pub(crate) refused: BTreeSet<String>,
    /// Variants refused.
    pub(crate) refusals: usize,
}

/// Rows by opcode and type.
pub(crate) type Rows = BTreeMap<(String, String), Row>;

/// The opcode and the first type of an instruction as it is written.
pub(crate) fn key(instruction: &str) -> (String, String) {
    let mut words = instruction.split(['.', ' ', '#', '[', ';']);
    let opcode = words.next().unwrap_or_default();
    let ty = words.find(|word| ScalarType::from_name(word).is_some());
    (opcode.to_owned(), ty.unwrap_or("none").to_owned())
}

/// Adds what is not between registers: one variant of each form for each seed, prepared.
pub(crate) fn add_others(rows: &mut Rows) {
    let known: BTreeSet<String> = rows.keys().map(|(opcode, _)| opcode.clone()).collect();
    let mut seen = BTreeSet::new();
    for seed in 1..=12 {
        let text = every_form(&mut Random(seed), 1);
        let (head, body) = text.split_at(text.rfind("{\n").expect("the generator writes a kernel"));
        let declares = |line: &&str| line.starts_with(['.', '{', '}']) || line.ends_with(':');
        let declarations: String =
            body.split_inclusive('\n').filter(|line| line.starts_with(['.', '{'])).collect();
        for line in body.lines().filter(|line| !declares(line) && *line != "ret;") {
            let key = key(line);
            // Vectors of atomics are not between registers, other atomics are.
            let between = known.contains(&key.0);
            let vectors = between && matches!(key.0.as_str(), "atom" | "red");
            if between && !vectors || !seen.insert(line.to_owned()) {
                continue;
            }
            let text = format!("{head}{declarations}\n{line}\nhere:\nret;\n}}\n");
            match prepared(&text) {
                None => {}
                Some(Ok(())) if vectors => {}
                Some(Ok(())) => rows.entry(key).or_default().executed += 1,
                Some(Err(message)) => {
                    let row = rows.entry(key).or_default();
                    row.refusals += 1;
                    row.refused.insert(message);
                }
            }
        }
    }
}

/// Whether a kernel can be executed, or why not; `None` where the text breaks a rule of PTX that the
/// generator does not know.
fn prepared(text: &str) -> Option<Result<(), String>> {
    let parsed = strata_ptx::parse(text);
    if parsed.has_errors() {
        return None;
    }
    let (kernel, _) = parsed.module.kernels().next()?;
    let options = strata_compiler::CompileOptions::default();
    let program = strata_compiler::compile(&parsed.module, kernel, options);
    let done = program.and_then(|program| strata_simt::prepare(&parsed.module, &program));
    let message = match done {
        Ok(_) => return Some(Ok(())),
        Err(problems) => problems[0].message.clone(),
    };
    // The generator writes one length of every vector.
    let generator = message.contains("registers is needed here") || message.contains("expected");
    (!generator).then(|| Err(said(&message)))
}

/// What is missing, without the instruction.
pub(crate) fn said(message: &str) -> String {
    message.split_once(" cannot be executed: ").map_or(message, |(_, why)| why).to_owned()
}

/// The page.
pub(crate) fn page(rows: &Rows, device: &str) -> String {
    let mut text = format!(
        "# Conformance\n\nEvery instruction of the parser's tables, by opcode and first type. *Equal*: a kernel with the \
         instruction stored the\nsame bits as on an {device}, for 512 threads with edges and random operands; \
         a NaN is equal to\nany other. *Differ*: other bits, for a reason that \
         `host-cli/simt/tests/hardware/known.rs` lists, with the entry in\n\
         [DEVIATIONS](DEVIATIONS.md) that explains it. *Executed*: it executes, and other tests compare it. \
         *Refused*: it parses\nand is refused by name. Numbers are variants: modifiers, other types, inputs.\n\n\
         | opcode | type | equal | differ | executed | refused | why |\n\
         | --- | --- | ---: | ---: | ---: | ---: | --- |\n"
    );
    let number = |count: usize| if count == 0 { String::new() } else { count.to_string() };
    for ((opcode, ty), row) in rows {
        let why = row.refused.iter().cloned().collect::<Vec<_>>().join("; ");
        let [equal, differing, executed, refused] =
            [row.equal, row.differing, row.executed, row.refusals].map(number);
        let line = format!(
            "| `{opcode}` | {ty} | {equal} | {differing} | {executed} | {refused} | {why} |"
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    let sum = |of: fn(&Row) -> usize| rows.values().map(of).sum::<usize>();
    let _ = writeln!(
        text,
        "| all | | {} | {} | {} | {} | |",
        sum(|row| row.equal),
        sum(|row| row.differing),
        sum(|row| row.executed),
        sum(|row| row.refusals)
    );
    text
}

/// Compares the page with the one in the documents, or renews it with `STRATA_BLESS=1`.
pub(crate) fn check(text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFORMANCE.md");
    if std::env::var_os("STRATA_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(page == text, "the page is old: renew it with STRATA_BLESS=1\n{text}");
}
