//! What a line of a trace lists, as registers that are read and written.
//!
//! NVBit's tracer lists as destination what stands first in the instruction, if that is a general
//! register, and every general register behind it as a source: a result behind a predicate is a
//! source there, and a barrier's number a destination.

use crate::form::{First, Form, Operand, Role, Width};
use crate::machine::Machine;
use crate::mnemonic::Mnemonic;
use crate::opcode::forms;

/// The register that is always zero, and no register.
const ZERO: u8 = 255;
/// Registers of a thread.
const REGISTERS: usize = 255;

/// Registers behind each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lowest one.
    pub first: u8,
    /// How many; at least 1.
    pub registers: u8,
}

/// What had to be assumed about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// The opcode is in no table: each listed register is one operand.
    Opcode,
    /// The line lists operands in another way than the tracer, or more of them than machine code
    /// has: its destinations are taken for results and its sources for operands.
    Listing,
    /// The second of two operands, at an even register, is taken for the addend, a pair.
    Addend,
    /// The opcode does not say how wide its operands are: one register each.
    Width,
    /// A register that cannot begin as many as the opcode says: one register.
    Alignment {
        /// The register.
        register: u8,
        /// How many it should begin.
        registers: u8,
    },
}

/// The registers of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Written ones, in the line's order, without the one that is always zero.
    pub results: Vec<Span>,
    /// Read ones, likewise.
    pub sources: Vec<Span>,
    /// What was assumed.
    pub notes: Vec<Note>,
}

/// A line that lists registers as no form of its opcode has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What the opcode's lines can list: destinations, then fewest and most sources.
    pub allowed: Vec<(usize, usize, usize)>,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, &(destinations, fewest, most)) in self.allowed.iter().enumerate() {
            let or = if index == 0 { "" } else { ", or " };
            let range =
                if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            write!(formatter, "{or}{destinations} destinations and {range} sources")?;
        }
        Ok(())
    }
}

impl std::error::Error for Misfit {}

/// The registers that a line of a trace reads and writes.
///
/// # Errors
/// A line that fits no form of its opcode, neither as the tracer lists it nor as results and
/// operands.
pub fn read(
    machine: Machine,
    mnemonic: &str,
    destinations: &[u8],
    sources: &[u8],
) -> Result<Reading, Misfit> {
    let Some(forms) = forms(mnemonic, machine) else {
        let of = |role: fn(u8) -> Operand, listed: &[u8]| vec![role(1); listed.len()];
        let operands = [of(Operand::result, destinations), of(Operand::source, sources)].concat();
        let mut reading = spans(&operands, &[destinations, sources].concat());
        reading.notes.push(Note::Opcode);
        return Ok(reading);
    };
    let listed = [destinations, sources].concat();
    let leads = match destinations.len() {
        0 => Some(First::Other),
        1 => Some(First::Register),
        _ => None,
    };
    for exported in [false, true] {
        let alike = |form: &&Form| Some(form.first) == leads && form.exported == exported;
        let found = forms.iter().filter(alike).find_map(|form| fit(&form.operands, &listed));
        if let Some(mut reading) = found {
            reading.notes.extend(exported.then_some(Note::Listing));
            return Ok(reading);
        }
    }
    for form in &forms {
        // Earlier exports left out the result of an atomic operation on shared memory.
        let writes = form.operands.iter().any(|operand| operand.role == Role::Result);
        if destinations.is_empty() && writes && Mnemonic(mnemonic).stem() != "ATOMS" {
            continue;
        }
        if let Some(mut reading) = said(form, destinations, sources) {
            reading.notes.push(Note::Listing);
            return Ok(reading);
        }
    }
    let native = forms.iter().filter(|form| !form.exported);
    Err(Misfit { allowed: native.map(allowed).collect() })
}

/// The lists of a line as the tracer would write them, for an instruction with these results and
/// operands. `leads` says whether the first operand of an instruction without a result stands first
/// in the text.
pub fn list(
    machine: Machine,
    mnemonic: &str,
    results: &[u8],
    sources: &[u8],
    leads: bool,
) -> (Vec<u8>, Vec<u8>) {
    let as_they_are = || (results.to_vec(), sources.to_vec());
    let Some(forms) = forms(mnemonic, machine) else { return as_they_are() };
    let writes = |form: &&Form| form.operands.first().is_some_and(|it| it.role == Role::Result);
    let Some(form) = forms.iter().find(writes) else {
        // Nothing to write: what stands first decides.
        let first_is_register = leads && forms.iter().any(|form| form.first == First::Register);
        return match sources.split_first() {
            Some((&first, rest)) if first_is_register && results.is_empty() => {
                (vec![first], rest.to_vec())
            }
            _ => as_they_are(),
        };
    };
    let may_be_without =
        forms.iter().any(|form| form.first == First::Other) && form.first == First::Register;
    if results.is_empty() && may_be_without {
        return as_they_are();
    }
    let count =
        form.operands.iter().filter(|it| it.role == Role::Result && it.left_out == 0).count();
    let mut listed = results.to_vec();
    listed.resize(count.max(results.len()), ZERO);
    listed.extend_from_slice(sources);
    match form.first {
        First::Register => {
            let rest = listed.split_off(1);
            (listed, rest)
        }
        First::Other => (Vec::new(), listed),
    }
}

/// How many destinations and sources the tracer lists for a form.
fn allowed(form: &Form) -> (usize, usize, usize) {
    let destinations = usize::from(form.first == First::Register);
    let least = form.operands.iter().filter(|operand| operand.left_out == 0).count();
    let fewest = least.saturating_sub(destinations);
    (destinations, fewest, form.operands.len() - destinations)
}

/// The registers of a line that lists the operands of a form in order.
fn fit(operands: &[Operand], listed: &[u8]) -> Option<Reading> {
    let (kept, addend) = kept(operands, listed)?;
    let mut reading = spans(&kept, listed);
    if addend {
        reading.notes.push(Note::Addend);
    }
    Some(reading)
}

/// The registers of a line that lists results as destinations and operands as sources.
fn said(form: &Form, destinations: &[u8], sources: &[u8]) -> Option<Reading> {
    let of = |role| form.operands.iter().filter(move |operand| operand.role == role).copied();
    let results: Vec<Operand> = of(Role::Result).map(|result| result.left_out(1)).collect();
    let operands: Vec<Operand> = of(Role::Source).collect();
    let written = fit(&results, destinations)?;
    let mut reading = fit(&operands, sources)?;
    reading.results = written.results;
    reading.notes.extend(written.notes);
    Some(reading)
}

/// The operands that stand for what a line lists, and whether the last of them is taken for an
/// addend although it could be a factor.
fn kept(operands: &[Operand], listed: &[u8]) -> Option<(Vec<Operand>, bool)> {
    let mut kept = operands.to_vec();
    let mut widest_left_out = None;
    for _ in 0..operands.len().checked_sub(listed.len())? {
        let ranks = kept.iter().enumerate().filter(|(_, operand)| operand.left_out > 0);
        let (place, _) =
            ranks.min_by_key(|(place, operand)| (operand.left_out, usize::MAX - place))?;
        widest_left_out = Some(kept.remove(place));
    }
    // Odd registers begin no pair, so that a factor stands there. At even ones stand addends in
    // NVIDIA's code, with few exceptions.
    if let (Some(addend), Some(last), [.., _, register]) =
        (widest_left_out, kept.last_mut(), listed)
        && last.role == Role::Source
        && last.left_out == addend.left_out
        && last.width != addend.width
        && register.is_multiple_of(2)
    {
        *last = addend;
        return Some((kept, true));
    }
    Some((kept, false))
}

/// The registers of operands that begin at the listed ones.
fn spans(operands: &[Operand], listed: &[u8]) -> Reading {
    let mut reading = Reading::default();
    for (operand, &first) in operands.iter().zip(listed).filter(|(_, first)| **first != ZERO) {
        let registers = match operand.width {
            Width::Known(registers) => registers,
            Width::Unknown => {
                reading.notes.push(Note::Width);
                1
            }
        };
        // Pairs and wider operands begin at even registers; what does not is no such operand.
        let end = usize::from(first) + usize::from(registers);
        let fits = registers == 1 || first.is_multiple_of(2) && end <= REGISTERS;
        if !fits {
            reading.notes.push(Note::Alignment { register: first, registers });
        }
        let span = Span { first, registers: if fits { registers } else { 1 } };
        match operand.role {
            Role::Result => reading.results.push(span),
            Role::Source => reading.sources.push(span),
        }
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers read and written, and the notes.
    type Line = (Vec<u8>, Vec<u8>, Vec<Note>);

    /// Reads a line such as `1 R5 SHFL.DOWN 1 R4`.
    fn line(machine: Machine, text: &str) -> Result<Line, Misfit> {
        let mut words = text.split(' ');
        let listed = |words: &mut std::str::Split<'_, char>| -> Vec<u8> {
            let count = words.next().unwrap().parse().unwrap();
            words.take(count).map(|word| word[1..].parse().unwrap()).collect()
        };
        let destinations = listed(&mut words);
        let mnemonic = words.next().unwrap();
        let sources = listed(&mut words);
        let reading = read(machine, mnemonic, &destinations, &sources)?;
        let each = |spans: &[Span]| {
            spans.iter().flat_map(|span| span.first..span.first + span.registers).collect()
        };
        Ok((each(&reading.sources), each(&reading.results), reading.notes))
    }

    #[test]
    fn a_result_behind_a_predicate_is_listed_among_the_sources() {
        for (text, sources, results) in [
            ("0 SHFL.DOWN 2 R5 R4", &[4][..], &[5][..]),
            ("0 SHFL.UP 3 R255 R4 R255", &[4], &[]),
            ("0 ATOMG.E.ADD.64.STRONG.GPU 3 R16 R22 R18", &[22, 23, 18, 19], &[16, 17]),
            ("0 ATOMG.E.ADD.STRONG.GPU 2 R16 R18", &[18], &[16]),
            ("0 ATOM.E.CAS.STRONG.GPU 4 R0 R2 R4 R5", &[2, 3, 4, 5], &[0]),
            ("0 MATCH.ALL.U64 2 R18 R20", &[20, 21], &[18]),
            ("1 R18 MATCH.ANY.U64 1 R20", &[20, 21], &[18]),
            ("0 LOP3.LUT 4 R6 R4 R5 R255", &[4, 5], &[6]),
            ("0 QSPC.E.G 2 R255 R8", &[8, 9], &[]),
        ] {
            let expected = (sources.to_vec(), results.to_vec(), Vec::new());
            assert_eq!(line(Machine::Sm90, text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_register_first_may_be_read() {
        for (text, sources) in [
            ("1 R7 BAR.SYNC.DEFER_BLOCKING 1 R6", &[7, 6][..]),
            ("0 BAR.SYNC 1 R6", &[6]),
            ("1 R4 BRX 0", &[4, 5]),
            ("1 R20 RET.REL.NODEC 0", &[20, 21]),
            ("1 R3 NANOSLEEP 0", &[3]),
            ("1 R5 WARPSYNC 0", &[5]),
        ] {
            assert_eq!(line(Machine::Sm80, text), Ok((sources.to_vec(), vec![], vec![])), "{text}");
        }
    }

    #[test]
    fn results_that_are_listed_as_destinations_are_read_so_with_a_note() {
        for (text, sources, results) in [
            ("1 R5 SHFL.DOWN 1 R4", &[4][..], &[5][..]),
            ("1 R16 ATOMG.E.ADD.64.STRONG.GPU 2 R22 R18", &[22, 23, 18, 19], &[16, 17]),
            ("0 ATOMS.ADD 2 R0 R1", &[0, 1], &[]),
            ("0 NANOSLEEP 1 R3", &[3], &[]),
        ] {
            let expected = (sources.to_vec(), results.to_vec(), vec![Note::Listing]);
            assert_eq!(line(Machine::Sm80, text), Ok(expected), "{text}");
        }
    }

    /// Exports name instructions of PTX by the nearest opcode.
    #[test]
    fn operands_that_machine_code_does_not_have_are_noted() {
        for (text, sources, results) in [
            ("0 VOTE.ANY 1 R4", &[4][..], &[][..]),
            ("1 R5 VOTE.ALL 1 R4", &[4], &[5]),
            ("1 R5 MATCH.ANY 2 R4 R6", &[4, 6], &[5]),
            ("0 SHFL.UP 5 R5 R4 R6 R7 R8", &[4, 6, 7, 8], &[5]),
            ("1 R6 LOP3.LUT 4 R4 R5 R7 R8", &[4, 5, 7, 8], &[6]),
            ("1 R6 MOV 2 R4 R5", &[4, 5], &[6]),
            ("1 R6 F2F.F16.F32 2 R4 R5", &[4, 5], &[6]),
            ("1 R6 MUFU.RCP 2 R4 R5", &[4, 5], &[6]),
            ("1 R6 S2R 1 R4", &[4], &[6]),
            ("1 R6 SEL 3 R4 R5 R7", &[4, 5, 7], &[6]),
            ("1 R6 DADD 3 R4 R8 R10", &[4, 5, 8, 9, 10, 11], &[6, 7]),
            ("1 R6 SGXT 3 R4 R5 R7", &[4, 5, 7], &[6]),
            ("1 R6 LDS 2 R4 R5", &[4, 5], &[6]),
            ("0 ISETP.NE.AND 3 R4 R5 R7", &[4, 5, 7], &[]),
            ("0 STS.64 3 R4 R5 R7", &[4, 5, 7], &[]),
            ("0 LDGSTS.E 3 R4 R6 R8", &[4, 6, 7, 8], &[]),
        ] {
            let expected = (sources.to_vec(), results.to_vec(), vec![Note::Listing]);
            assert_eq!(line(Machine::Sm80, text), Ok(expected), "{text}");
        }
        for text in [
            "0 VOTE.ANY 0",
            "1 R4 VOTE.ANY 0",
            "1 R4 SHF.L.U32 3 R5 R6 R7",
            "1 R4 SEL 2 R5 R6",
            "1 R4 PRMT 3 R5 R6 R7",
            "1 R4 LEA.HI 3 R5 R6 R7",
            "1 R4 S2R 0",
            "0 PLOP3.LUT 3 R4 R5 R6",
            "0 ISETP.NE.AND 2 R4 R5",
        ] {
            assert_eq!(line(Machine::Sm80, text).map(|line| line.2), Ok(vec![]), "{text}");
        }
    }

    #[test]
    fn what_fits_no_form_is_refused() {
        for text in [
            "0 SHFL.DOWN 0",
            "2 R1 R2 FADD 1 R4",
            "1 R5 BAR.SYNC 3 R1 R2 R3",
            "1 R4 EXIT 0",
            "0 LDG.E 2 R4 R6",
            "0 LDG.E 1 R4",
            "0 FADD 2 R4 R6",
            "0 STG.E 0",
            "1 R0 FADD 4 R1 R2 R3 R4",
        ] {
            assert!(line(Machine::Sm80, text).is_err(), "{text}");
        }
        let misfit = line(Machine::Sm80, "0 SHFL.DOWN 0").unwrap_err();
        assert_eq!(misfit.to_string(), "0 destinations and 2 to 4 sources");
        let misfit = line(Machine::Sm80, "2 R1 R2 VOTE.ANY 0").unwrap_err();
        let allowed = "1 destinations and 0 sources, or 0 destinations and 0 sources";
        assert_eq!(misfit.to_string(), allowed);
    }

    #[test]
    fn the_addend_of_a_wide_product_is_where_a_pair_can_begin() {
        let wide = |text| line(Machine::Sm80, text).unwrap();
        assert_eq!(wide("1 R2 IMAD.WIDE 2 R6 R7"), (vec![6, 7], vec![2, 3], vec![]));
        assert_eq!(wide("1 R2 IMAD.WIDE 2 R6 R8"), (vec![6, 8, 9], vec![2, 3], vec![Note::Addend]));
        assert_eq!(wide("1 R2 IMAD.HI.U32 2 R6 R8"), (vec![6, 8, 9], vec![2], vec![Note::Addend]));
        assert_eq!(wide("1 R2 IMAD.WIDE 3 R6 R8 R4"), (vec![6, 8, 4, 5], vec![2, 3], vec![]));
        assert_eq!(wide("1 R2 IMAD.WIDE 2 R6 R255"), (vec![6], vec![2, 3], vec![]));
    }

    #[test]
    fn machines_differ() {
        let text = "0 ATOMS.CAST.SPIN 3 R8 R2 R3";
        assert_eq!(line(Machine::Sm120, text), Ok((vec![8, 2, 3], vec![], vec![])));
        assert_eq!(line(Machine::Sm90, text), Ok((vec![8, 2, 3], vec![], vec![Note::Listing])));
        let text = "1 R1 ATOMS.CAST.SPIN 3 R8 R2 R3";
        assert_eq!(line(Machine::Sm90, text), Ok((vec![8, 2, 3], vec![1], vec![])));
    }

    #[test]
    fn unknown_opcodes_and_widths_are_noted() {
        let unknown = line(Machine::Sm80, "1 R1 ZZZ.64 2 R2 R3");
        assert_eq!(unknown, Ok((vec![2, 3], vec![1], vec![Note::Opcode])));
        let odd = line(Machine::Sm80, "1 R5 LDG.E 1 R3").unwrap();
        assert_eq!(odd.2, [Note::Alignment { register: 3, registers: 2 }]);
        let texture = line(Machine::Sm80, "1 R6 TEX.SCR.LL 3 R4 R2 R15").unwrap();
        assert_eq!((texture.0, texture.1), (vec![2, 15], vec![6, 4]));
        assert!(texture.2.contains(&Note::Width));
    }

    #[test]
    fn a_list_is_the_tracers() {
        let listed = |mnemonic, results: &[u8], sources: &[u8], leads| {
            list(Machine::Sm75, mnemonic, results, sources, leads)
        };
        assert_eq!(listed("SHFL.DOWN", &[5], &[4], true), (vec![], vec![5, 4]));
        assert_eq!(listed("ATOMG.E.ADD", &[], &[4, 6], true), (vec![], vec![255, 4, 6]));
        assert_eq!(listed("ATOMS.ADD", &[], &[4, 6], true), (vec![255], vec![4, 6]));
        assert_eq!(listed("BAR.SYNC", &[], &[4, 6], true), (vec![4], vec![6]));
        assert_eq!(listed("BAR.SYNC", &[], &[6], false), (vec![], vec![6]));
        assert_eq!(listed("STG.E", &[], &[4, 6], true), (vec![], vec![4, 6]));
        assert_eq!(listed("FADD", &[1], &[4, 6], true), (vec![1], vec![4, 6]));
        assert_eq!(listed("VOTE.ANY", &[], &[], true), (vec![], vec![]));
    }
}
