//! The operand forms that a listing of machine code holds, with the registers that each instruction
//! reads and writes: the facts that the tables of `strata-machine-code` are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::listing::Marked;

/// One instruction that stands for all of its form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sample {
    operands: String,
    written: BTreeSet<u16>,
    read: BTreeSet<u16>,
}

/// Forms by mnemonic and operands without the numbers of registers, with a sample for each machine.
#[derive(Debug, Default)]
pub(crate) struct Forms(BTreeMap<String, BTreeMap<u32, Sample>>);

impl Forms {
    /// Adds what a machine's listing holds. Of each form the instruction with the most registers
    /// stands for all: its operands overlap least.
    pub(crate) fn add(&mut self, machine: u32, instructions: &[Marked]) {
        for Marked { text, read, written } in instructions {
            let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
            let operands: Vec<String> = split(rest).iter().map(|text| operand(text)).collect();
            let shape: Vec<String> = operands.iter().map(|text| without_numbers(text)).collect();
            let sample = Sample {
                operands: operands.join(" "),
                written: written.clone(),
                read: read.clone(),
            };
            let samples = self.0.entry([&[mnemonic.to_owned()], &shape[..]].concat().join(" "));
            let kept = samples.or_default().entry(machine).or_insert_with(|| sample.clone());
            let size = |sample: &Sample| sample.written.len() + sample.read.len();
            // The smaller text decides between equal ones, so that no order of files does.
            if (size(&sample), &kept.operands) > (size(kept), &sample.operands) {
                *kept = sample;
            }
        }
    }

    /// One line for each form and number of registers: operands, registers, machines.
    pub(crate) fn text(&self) -> String {
        let mut lines = BTreeSet::new();
        for (form, samples) in &self.0 {
            let mnemonic = form.split(' ').next().unwrap_or_default();
            let mut by_size: BTreeMap<usize, (&Sample, Vec<String>)> = BTreeMap::new();
            for (machine, sample) in samples {
                let size = sample.written.len() + sample.read.len();
                let entry = by_size.entry(size).or_insert_with(|| (sample, Vec::new()));
                entry.1.push(machine.to_string());
            }
            for (sample, machines) in by_size.values() {
                let space = if sample.operands.is_empty() { "" } else { " " };
                lines.insert(format!(
                    "{mnemonic}{space}{} | {} | {} | {}",
                    sample.operands,
                    ranges(&sample.written),
                    ranges(&sample.read),
                    machines.join(" ")
                ));
            }
        }
        lines.into_iter().fold(String::new(), |text, line| text + &line + "\n")
    }
}

/// The operands of an instruction's text, without comments.
fn split(rest: &str) -> Vec<&str> {
    let rest = rest.split("(*").next().unwrap_or_default().trim();
    if rest.is_empty() { Vec::new() } else { rest.split(',').map(str::trim).collect() }
}

/// The general register that a text begins with, such as `R4` of `R4.H0_H0`.
fn register(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(text.len());
    let number = text[..end].strip_prefix('R')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (number == "Z" || is_number).then_some(&text[..end])
}

/// An operand as the facts have it: registers, addresses by their registers, else its kind.
fn operand(text: &str) -> String {
    let bare = text.trim_start_matches(['-', '~', '!', '|', '+']);
    if let Some(name) = register(bare) {
        return name.to_owned();
    }
    if bare.starts_with("c[") || bare.starts_with("cx[") {
        let chosen = bare.rsplit('[').next().and_then(register);
        return chosen.map_or_else(|| "c".to_owned(), |name| format!("c[{name}]"));
    }
    if bare.starts_with('[') || bare.starts_with("desc[") {
        return address(bare);
    }
    let is_uniform = ["UR", "gdesc[", "tmem[", "idesc["].iter().any(|it| bare.starts_with(it));
    let predicate = bare.strip_prefix('U').unwrap_or(bare).strip_prefix('P');
    let is_predicate = predicate.is_some_and(|rest| {
        rest == "T" || rest == "R" || !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
    });
    let kind = if is_uniform {
        "UR"
    } else if is_predicate {
        "P"
    } else {
        "#"
    };
    kind.to_owned()
}

/// An address by its registers; a descriptor before it is left out.
fn address(text: &str) -> String {
    let inside = text.rsplit('[').next().unwrap_or_default();
    let inside = inside.split(']').next().unwrap_or_default();
    let parts = inside.split('+').filter_map(|part| {
        let part = part.trim_start_matches('-').replace(".reuse", "");
        if part.starts_with("UR") {
            return Some("UR".to_owned());
        }
        register(&part).is_some().then_some(part)
    });
    format!("[{}]", parts.collect::<Vec<_>>().join("+"))
}

/// The same without the numbers of general registers.
fn without_numbers(operand: &str) -> String {
    let mut text = String::new();
    let mut rest = operand;
    while let Some(place) = rest.find('R') {
        let starts = !rest[..place].ends_with(|letter: char| letter.is_ascii_alphanumeric());
        let (before, name) = rest.split_at(place + 1);
        text.push_str(before);
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        rest = if starts { &name[digits..] } else { name };
    }
    text + rest
}

/// Registers as ranges, such as `4-7,12`.
fn ranges(registers: &BTreeSet<u16>) -> String {
    let mut text = String::new();
    let mut numbers = registers.iter().copied().peekable();
    while let Some(first) = numbers.next() {
        let mut last = first;
        while let Some(next) = numbers.next_if_eq(&(last + 1)) {
            last = next;
        }
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = if first == last {
            write!(text, "{comma}{first}")
        } else {
            write!(text, "{comma}{first}-{last}")
        };
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, written: &[u16], read: &[u16]) -> Marked {
        Marked {
            text: text.to_owned(),
            written: written.iter().copied().collect(),
            read: read.iter().copied().collect(),
        }
    }

    #[test]
    fn operands_become_forms_with_one_sample_each() {
        let mut forms = Forms::default();
        let wide = marked("IMAD.WIDE R2, R4.reuse, 0x4, -R6", &[2, 3], &[4, 6, 7]);
        let narrow = marked("IMAD.WIDE R2, R4, 0x8, R2", &[2, 3], &[2, 3, 4]);
        let load = marked("LDG.E.64 R8, desc[UR4][R2.64+0x10]", &[8, 9], &[2, 3]);
        forms.add(90, &[narrow.clone(), wide.clone(), load.clone(), marked("EXIT", &[], &[])]);
        forms.add(80, &[load, wide]);
        forms.add(
            75,
            &[
                marked("STS [R4.X4+UR5], RZ", &[], &[4]),
                marked("LDC R1, c[0x3][R0+0x4]", &[1], &[0]),
            ],
        );
        assert_eq!(
            forms.text(),
            "EXIT | - | - | 90\n\
             IMAD.WIDE R2 R4 # R6 | 2-3 | 4,6-7 | 80 90\n\
             LDC R1 c[R0] | 1 | 0 | 75\n\
             LDG.E.64 R8 [R2.64] | 8-9 | 2-3 | 80 90\n\
             STS [R4.X4+UR] RZ | - | 4 | 75\n"
        );
    }
}
