//! Every operand form that NVIDIA's disassembler shows, against the tables.
//!
//! `forms.txt` holds what `nvdisasm -plr` says of code that `ptxas` made for ten machines: the
//! workloads' kernels and `probes.txt`. Here its operands are listed as NVBit's tracer lists them,
//! and the registers that the tables tell are compared with those that the disassembler marks.

use std::collections::BTreeSet;

use strata_machine_code::{Machine, Note, Span, forms, read};

const FORMS: &str = include_str!("forms.txt");
const ZERO: u8 = 255;

/// One line of `forms.txt`.
#[derive(Clone, Debug)]
struct Shown {
    mnemonic: String,
    operands: Vec<String>,
    written: BTreeSet<u8>,
    read: BTreeSet<u8>,
    machines: Vec<Machine>,
}

fn registers(text: &str) -> BTreeSet<u8> {
    let number = |text: &str| text.parse::<u8>().unwrap_or_else(|_| panic!("`{text}`"));
    let ranges = text.split(',').filter(|range| *range != "-").flat_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        number(first)..=number(last)
    });
    ranges.collect()
}

fn parse(line: &str) -> Shown {
    let fields: Vec<&str> = line.split(" | ").collect();
    let &[text, written, read, machines] = &fields[..] else { panic!("`{line}`") };
    let mut words = text.split_whitespace().map(str::to_owned);
    let machine = |number: &str| Machine::of(number.parse().unwrap()).unwrap();
    Shown {
        mnemonic: words.next().unwrap(),
        operands: words.collect(),
        written: registers(written),
        read: registers(read),
        machines: machines.split(' ').map(machine).collect(),
    }
}

fn all() -> Vec<Shown> {
    FORMS.lines().filter(|line| !line.starts_with('#')).map(parse).collect()
}

/// The general register that a text names: `R4`, `RZ`, or the base of `[R4.64+UR]`.
fn register(text: &str) -> Option<u8> {
    let name: &str = text.split(['.', '+']).next()?.strip_prefix('R')?;
    if name == "Z" { Some(ZERO) } else { name.parse().ok() }
}

/// What the tracer lists: what stands first as destination, if it is a general register, all others
/// and the bases of addresses as sources. Constants are left out, with the register that may choose
/// one.
fn traced(operands: &[String]) -> (Vec<u8>, Vec<u8>) {
    let (mut destinations, mut sources) = (Vec::new(), Vec::new());
    for (place, operand) in operands.iter().enumerate() {
        let base = operand.strip_prefix('[').map(|rest| rest.trim_end_matches(']'));
        match (base, register(operand)) {
            (Some(base), _) => sources.extend(register(base)),
            (None, Some(register)) if place == 0 => destinations.push(register),
            (None, Some(register)) => sources.push(register),
            (None, None) => {}
        }
    }
    (destinations, sources)
}

fn set(spans: &[Span]) -> BTreeSet<u8> {
    spans.iter().flat_map(|span| span.first..span.first + span.registers).collect()
}

/// What a trace cannot tell: how wide a texture's operands are; an address of 32 bits beside a
/// uniform one; which register chooses a constant.
fn is_hidden(shown: &Shown) -> bool {
    let texture = ["TEX", "TLD", "TLD4", "TXD", "TXQ"];
    let stem = shown.mnemonic.split('.').next().unwrap();
    texture.contains(&stem)
        || shown
            .operands
            .iter()
            .any(|operand| operand.contains(".U32") || operand.starts_with("c[R"))
}

fn differs(shown: &Shown, machine: Machine) -> Option<String> {
    let (destinations, sources) = traced(&shown.operands);
    let line = format!("{machine} {} {}", shown.mnemonic, shown.operands.join(" "));
    let reading = match read(machine, &shown.mnemonic, &destinations, &sources) {
        Ok(reading) => reading,
        Err(misfit) => return Some(format!("{line}: expected {misfit}")),
    };
    // What a called function may touch is marked as well.
    if shown.mnemonic.starts_with("CALL.") {
        let (ours, within) = (set(&reading.sources), reading.results.is_empty());
        let told = within && ours.is_subset(&shown.read) && ours.len() == 2 * destinations.len();
        return (!told).then(|| format!("{line}: reads {ours:?}"));
    }
    // A factor at an even register, which a note says is taken for the addend.
    if reading.notes == [Note::Addend]
        && shown.operands.last().is_some_and(|it| register(it).is_none())
    {
        return None;
    }
    let is_told = |note: &Note| *note != Note::Addend;
    if !is_hidden(shown) && reading.notes.iter().any(is_told) {
        return Some(format!("{line}: {:?}", reading.notes));
    }
    let [ours_written, ours_read] = [set(&reading.results), set(&reading.sources)];
    let same = ours_written == shown.written && ours_read == shown.read;
    (!same).then(|| format!("{line}: writes {ours_written:?}, reads {ours_read:?}"))
}

#[test]
fn every_form_reads_and_writes_what_the_disassembler_shows() {
    let all = all();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for shown in &all {
        for &machine in &shown.machines {
            if forms(&shown.mnemonic, machine).is_none() {
                wrong.push(format!("{machine} {}: not in the tables", shown.mnemonic));
            }
            if is_hidden(shown) {
                continue;
            }
            compared += 1;
            wrong.extend(differs(shown, machine));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 4_000, "{compared}");
}
