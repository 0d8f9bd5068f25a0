//! The page of conformance: what executes, and what a GPU has confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use strata_ptx::fuzzing::{Random, every_form};
use strata_ptx::types::ScalarType;

/// An instruction as it is written, without its operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    opcode: String,
    /// With dots, in the order written; empty where there are none.
    modifiers: String,
    /// With dots between them; `none` where there are none.
    types: String,
}

/// What became of the variants of a key: instructions between registers have several inputs.
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

/// Rows of instructions between registers.
pub(crate) type Rows = BTreeMap<Key, Row>;

/// What becomes of an opcode that is not between registers, with a first type: some variants were
/// made of each of its forms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Other {
    executed: usize,
    /// Modifiers of those that are executed.
    modifiers: BTreeSet<String>,
    refusals: usize,
    refused: BTreeSet<String>,
}

/// By opcode and first type.
pub(crate) type Others = BTreeMap<(String, String), Other>;

/// Types of PTX that the parser's tables have as modifiers.
const WORDS: [&str; 13] = [
    "f32x2", "s16x2", "u16x2", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "s2", "u2", "s4", "u4", "b1",
    "tf32",
];

/// The parts of an instruction as it is written.
pub(crate) fn key(instruction: &str) -> Key {
    let written = instruction.split([' ', '#', '[', ';']).next().unwrap_or_default();
    let mut words = written.split('.');
    let opcode = words.next().unwrap_or_default().to_owned();
    let (types, modifiers): (Vec<&str>, Vec<&str>) =
        words.partition(|word| ScalarType::from_name(word).is_some() || WORDS.contains(word));
    let types = if types.is_empty() { "none".to_owned() } else { types.join(".") };
    let modifiers = modifiers.iter().flat_map(|word| [".", word]).collect();
    Key { opcode, modifiers, types }
}

/// What is not between registers: one variant of each form for each seed, prepared.
pub(crate) fn others(rows: &Rows) -> Others {
    let known: BTreeSet<&str> = rows.keys().map(|key| key.opcode.as_str()).collect();
    let mut others = Others::new();
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
            let between = known.contains(key.opcode.as_str());
            let vectors = between && matches!(key.opcode.as_str(), "atom" | "red");
            if between && !vectors || !seen.insert(line.to_owned()) {
                continue;
            }
            let text = format!("{head}{declarations}\n{line}\nhere:\nret;\n}}\n");
            let Some(done) = prepared(&text) else { continue };
            let ty = key.types.split('.').next().unwrap_or_default().to_owned();
            let words = key.modifiers.split('.').filter(|word| !word.is_empty());
            match done {
                Ok(()) if vectors => {}
                Ok(()) => {
                    let other = others.entry((key.opcode.clone(), ty)).or_default();
                    other.executed += 1;
                    other.modifiers.extend(words.map(str::to_owned));
                }
                Err(message) => {
                    let other = others.entry((key.opcode.clone(), ty)).or_default();
                    other.refusals += 1;
                    other.refused.insert(message);
                }
            }
        }
    }
    others
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

/// How the page begins, before numbers and the name of the GPU are set in.
const HEAD: &str = "\
# Conformance

Every instruction of the parser's tables. Of EQUAL variants the bits are equal to a GPU's, of DIFFERING they differ,
EXECUTED are executed and compared by other tests, REFUSED are refused. A variant has its own modifiers, types or inputs.

## Between registers, of matrices and of textures

By opcode and modifiers, in the order written; rows with the same types are one. The cells are types: `f16.{s8,s16}`
stands for `.f16.s8` and `.f16.s16`. *Equal*: a kernel with the instruction stored the same bits as on an DEVICE,
for 512 threads with edges and random operands; a NaN is equal to any other. *Differ*: other bits, for a reason that
`host-cli/simt/tests/hardware/known.rs` lists, with the entry in [DEVIATIONS](DEVIATIONS.md) that explains it; types with
several inputs may stand in both. *Executed*: it executes, and other tests compare it. *Refused*: it parses and is
refused by name.

| opcode | modifiers | equal | differ | executed | refused |
| --- | --- | --- | --- | --- | --- |
";

/// What stands between the tables.
const MIDDLE: &str = "
## Memory, barriers, control and the rest

By opcode and first type, with all modifiers of the variants that execute; each form was written with several.

| opcode | type | executed | with | refused | why |
| --- | --- | ---: | --- | ---: | --- |
";

/// The page.
pub(crate) fn page(rows: &Rows, others: &Others, device: &str) -> String {
    let all = |of: fn(&Row) -> usize| rows.values().map(of).sum::<usize>();
    let rest = |of: fn(&Other) -> usize| others.values().map(of).sum::<usize>();
    let mut text = HEAD.replace("DEVICE", device);
    for (word, count) in [
        ("EQUAL", all(|row| row.equal)),
        ("DIFFERING", all(|row| row.differing)),
        ("EXECUTED", all(|row| row.executed) + rest(|other| other.executed)),
        ("REFUSED", all(|row| row.refusals) + rest(|other| other.refusals)),
    ] {
        text = text.replacen(word, &count.to_string(), 1);
    }
    for (opcode, combinations) in merged(rows) {
        for (modifiers, cells) in combinations {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{opcode}` | {modifiers} | {} |", cells.join(" | "));
        }
    }
    text += MIDDLE;
    let number = |count: usize| if count == 0 { String::new() } else { count.to_string() };
    for ((opcode, ty), other) in others {
        let modifiers: Vec<String> =
            other.modifiers.iter().map(|word| format!("`.{word}`")).collect();
        let why = other.refused.iter().cloned().collect::<Vec<_>>().join("; ");
        let (executed, refused) = (number(other.executed), number(other.refusals));
        let with = modifiers.join(" ");
        let _ = writeln!(text, "| `{opcode}` | {ty} | {executed} | {with} | {refused} | {why} |");
    }
    text
}

/// The cells of a row: types that are equal, differ, are executed, and are refused.
type Cells = [String; 4];

/// By opcode: modifiers that have the same cells, and those.
fn merged(rows: &Rows) -> BTreeMap<&str, Vec<(String, Cells)>> {
    let mut by_modifiers: BTreeMap<(&str, &str), Vec<(&str, &Row)>> = BTreeMap::new();
    for (key, row) in rows {
        let combination = (key.opcode.as_str(), key.modifiers.as_str());
        by_modifiers.entry(combination).or_default().push((&key.types, row));
    }
    let mut all: BTreeMap<&str, Vec<(String, Cells)>> = BTreeMap::new();
    for ((opcode, modifiers), found) in by_modifiers {
        let cells = cells(&found);
        let modifiers =
            if modifiers.is_empty() { "none".to_owned() } else { format!("`{modifiers}`") };
        let own = all.entry(opcode).or_default();
        match own.iter_mut().find(|(_, known)| *known == cells) {
            Some((known, _)) => known.extend([" ", &modifiers]),
            None => own.push((modifiers, cells)),
        }
    }
    all
}

fn cells(found: &[(&str, &Row)]) -> Cells {
    let of = |has: fn(&Row) -> bool| {
        let types = found.iter().filter(|(_, row)| has(row)).map(|(types, _)| *types);
        shortened(types)
    };
    let reasons: BTreeSet<&str> =
        found.iter().flat_map(|(_, row)| &row.refused).map(String::as_str).collect();
    let mut refused = of(|row| row.refusals > 0);
    if !reasons.is_empty() {
        let reasons: Vec<&str> = reasons.into_iter().collect();
        refused = format!("{refused}: {}", reasons.join("; "));
    }
    [of(|row| row.equal > 0), of(|row| row.differing > 0), of(|row| row.executed > 0), refused]
}

/// Types with the same beginning together.
fn shortened<'t>(all: impl Iterator<Item = &'t str>) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for types in all {
        let (before, last) = types.rsplit_once('.').unwrap_or(("", types));
        match groups.iter_mut().find(|(known, _)| *known == before) {
            Some((_, lasts)) => lasts.push(last),
            None => groups.push((before, vec![last])),
        }
    }
    let group = |(before, lasts): (&str, Vec<&str>)| match (before, lasts.as_slice()) {
        ("", _) => lasts.join(" "),
        (_, [one]) => format!("{before}.{one}"),
        _ => format!("{before}.{{{}}}", lasts.join(",")),
    };
    groups.into_iter().map(group).collect::<Vec<_>>().join(" ")
}

/// Compares the page with the one in the documents, or renews it with `STRATA_BLESS=1`.
pub(crate) fn check(text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFORMANCE.md");
    if std::env::var_os("STRATA_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(page == text, "the page is old: renew it with STRATA_BLESS=1");
}
