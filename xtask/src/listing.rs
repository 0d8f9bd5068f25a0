//! What `nvdisasm -c -plr` says of a kernel's machine code: instructions, and behind each of them
//! which general registers are in use.
//!
//! Only that is kept which our own file of facts holds. Predicates and uniform registers are left
//! out: they lie in files of their own.

use std::collections::{BTreeMap, BTreeSet};

/// The register that is always zero.
const ZERO: u16 = 255;

/// How an instruction touches a register, in the listing's signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    read: bool,
    written: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// Program counter.
    pub(crate) pc: u64,
    /// It has a guard predicate.
    pub(crate) guarded: bool,
    /// Mnemonic with its modifiers.
    pub(crate) mnemonic: String,
    /// Registers of each result: first and last.
    pub(crate) results: Vec<(u16, u16)>,
    /// Registers of each operand, in the order in which the listing names them.
    pub(crate) operands: Vec<(u16, u16)>,
    /// Where it may go on, unless only behind itself.
    pub(crate) next: Option<Vec<u64>>,
    /// Registers in use.
    pub(crate) in_use: BTreeSet<u16>,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Name.
    pub(crate) name: String,
    /// Its instructions, in order.
    pub(crate) instructions: Vec<Instruction>,
    /// Most registers in use at once, as the listing counts them.
    pub(crate) most: usize,
}

/// An instruction whose target is still a label.
struct Raw<'a> {
    line: usize,
    pc: u64,
    text: &'a str,
    marks: BTreeMap<u16, Mark>,
}

/// An instruction's text with the registers that the listing marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    /// Mnemonic and operands, without a guard.
    pub(crate) text: String,
    /// Registers that it reads.
    pub(crate) read: BTreeSet<u16>,
    /// Registers that it writes.
    pub(crate) written: BTreeSet<u16>,
}

/// Reads the instructions of a listing, whatever the kernels' control flow.
pub(crate) fn marked(text: &str) -> Result<Vec<Marked>, String> {
    let mut instructions = Vec::new();
    for section in sections(text)? {
        for raw in &section.raw {
            let text = match raw.text.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').map_or("", |it| it.1).trim(),
                None => raw.text,
            };
            let of = |is: fn(&Mark) -> bool| {
                raw.marks.iter().filter(|(_, mark)| is(mark)).map(|(&number, _)| number).collect()
            };
            let (read, written) = (of(|mark| mark.read), of(|mark| mark.written));
            instructions.push(Marked { text: text.to_owned(), read, written });
        }
    }
    Ok(instructions)
}

/// Reads the listing of all kernels of a file.
pub(crate) fn parse(text: &str) -> Result<Vec<Kernel>, String> {
    let sections = sections(text)?;
    if sections.is_empty() {
        return Err("no kernel in the listing".to_owned());
    }
    sections.into_iter().map(Section::finish).collect()
}

fn sections(text: &str) -> Result<Vec<Section<'_>>, String> {
    let mut kernels = Vec::new();
    let mut section: Option<Section<'_>> = None;
    for (index, line) in text.lines().enumerate() {
        let at = |why: String| format!("line {}: {why}", index + 1);
        if let Some(title) = line.strip_prefix("//--") {
            kernels.extend(section.take());
            let name = title.trim_matches(['-', ' ']).strip_prefix(".text.");
            section = name.map(Section::new);
        } else if let Some(section) = &mut section {
            section.line(index + 1, line).map_err(at)?;
        }
    }
    kernels.extend(section);
    Ok(kernels)
}

struct Section<'a> {
    name: &'a str,
    /// Register and place of its column, behind the bar before the table.
    columns: Vec<(u16, usize)>,
    raw: Vec<Raw<'a>>,
    /// For each label, how many instructions stand before it.
    labels: BTreeMap<&'a str, usize>,
    most: usize,
}

impl<'a> Section<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, columns: Vec::new(), raw: Vec::new(), labels: BTreeMap::new(), most: 0 }
    }

    fn line(&mut self, number: usize, line: &'a str) -> Result<(), String> {
        let (left, table) = line.split_once("// ").unwrap_or((line, ""));
        // The general registers come first; rows that only draw lines begin otherwise.
        let row = table.strip_prefix('|').and_then(|row| row.split('|').next());
        let left = left.trim_end();
        if let Some(row) = row.filter(|row| row.trim_start().starts_with("# 0")) {
            return self.header(row);
        }
        if let Some(label) = left.strip_suffix(':') {
            self.labels.insert(label, self.raw.len());
            return Ok(());
        }
        let Some(rest) = left.trim_start().strip_prefix("/*") else { return Ok(()) };
        let (pc, text) = rest.split_once("*/").ok_or("an address without its end")?;
        let pc = u64::from_str_radix(pc, 16).map_err(|_| format!("`{pc}` is no address"))?;
        let text = text.trim_end_matches(';').trim();
        let row = row.ok_or("an instruction without life ranges")?;
        let (count, marks) = self.marks(row)?;
        if count != marks.len() {
            return Err(format!("{count} registers in use, but {} are shown", marks.len()));
        }
        self.most = self.most.max(count);
        self.raw.push(Raw { line: number, pc, text, marks });
        Ok(())
    }

    fn header(&mut self, row: &str) -> Result<(), String> {
        let start = row.find('#').map_or(0, |sign| sign + 1);
        let mut place = start;
        for word in row[start..].split(' ') {
            place += word.len();
            if !word.is_empty() {
                let number = word.parse().map_err(|_| format!("`{word}` is no register"))?;
                // A sign stands below the last digit.
                self.columns.push((number, place - 1));
            }
            place += 1;
        }
        Ok(())
    }

    fn marks(&self, row: &str) -> Result<(usize, BTreeMap<u16, Mark>), String> {
        let first = self.columns.first().ok_or("an instruction before the table's head")?.1;
        let count = row.get(..first).unwrap_or(row).trim();
        let count = if count.is_empty() { Ok(0) } else { count.parse() };
        let count = count.map_err(|_| "no number of registers in use".to_owned())?;
        let mut marks = BTreeMap::new();
        for &(register, place) in &self.columns {
            let mark = match row.as_bytes().get(place) {
                None | Some(b' ') => continue,
                Some(b':') => Mark { read: false, written: false },
                Some(b'^') => Mark { read: false, written: true },
                Some(b'v') => Mark { read: true, written: false },
                Some(b'x') => Mark { read: true, written: true },
                Some(&other) => return Err(format!("unknown sign `{}`", char::from(other))),
            };
            marks.insert(register, mark);
        }
        Ok((count, marks))
    }

    fn finish(self) -> Result<Kernel, String> {
        let mut instructions = Vec::with_capacity(self.raw.len());
        for (index, raw) in self.raw.iter().enumerate() {
            let instruction = self.instruction(index, raw);
            instructions.push(instruction.map_err(|why| format!("line {}: {why}", raw.line))?);
        }
        Ok(Kernel { name: self.name.to_owned(), instructions, most: self.most })
    }

    fn instruction(&self, index: usize, raw: &Raw<'_>) -> Result<Instruction, String> {
        let guarded = raw.text.starts_with('@');
        let body = if guarded { raw.text.split_once(' ').map_or("", |it| it.1) } else { raw.text };
        let (mnemonic, rest) = body.split_once(' ').unwrap_or((body, ""));
        let next = self.next(index, guarded, mnemonic, rest)?;
        let (results, operands) = named(rest, &raw.marks);
        let written = raw.marks.iter().filter(|(_, mark)| mark.written).map(|(&number, _)| number);
        let read = raw.marks.iter().filter(|(_, mark)| mark.read).map(|(&number, _)| number);
        Ok(Instruction {
            pc: raw.pc,
            guarded,
            mnemonic: mnemonic.to_owned(),
            results: ranges(&results, written.collect())?,
            operands: ranges(&operands, read.collect())?,
            next,
            in_use: raw.marks.keys().copied().collect(),
        })
    }

    fn next(
        &self,
        index: usize,
        guarded: bool,
        mnemonic: &str,
        rest: &str,
    ) -> Result<Option<Vec<u64>>, String> {
        let behind = self.raw.get(index + 1).map(|raw| raw.pc);
        let mut next = match mnemonic.split('.').next().unwrap_or_default() {
            "EXIT" => Vec::new(),
            "BRA" => {
                let label = rest.rsplit_once("`(").and_then(|(_, label)| label.strip_suffix(')'));
                let label = label.ok_or_else(|| format!("`{rest}` names no label"))?;
                let target = self.labels.get(label).and_then(|&place| self.raw.get(place));
                vec![target.ok_or_else(|| format!("`{label}` is no label of the kernel"))?.pc]
            }
            // What a call leaves alone is a convention, which says nothing of liveness; where it
            // and indirect branches go to, the listing does not say.
            "CALL" | "RET" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "BREAK" | "KILL" => {
                return Err(format!("`{mnemonic}`: take a kernel that has no such instruction"));
            }
            _ => return Ok(None),
        };
        // A branch may have a condition besides its guard, before its target.
        if guarded || mnemonic.starts_with("BRA") && rest.contains(',') {
            next.extend(behind);
        }
        next.sort_unstable();
        next.dedup();
        Ok(Some(next))
    }
}

/// The registers that a text names as results and as operands.
fn named(rest: &str, marks: &BTreeMap<u16, Mark>) -> (Vec<u16>, Vec<u16>) {
    let mut results = Vec::new();
    let mut operands = Vec::new();
    let mut predicates_only = true;
    for (index, operand) in rest.split(',').enumerate() {
        let registers = || {
            let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
            operand.split(is_end).filter_map(register)
        };
        let is_register = register(operand.trim().trim_end_matches(".reuse")).is_some();
        let written = |number| marks.get(&number).is_some_and(|mark| mark.written);
        // The first operand is the result, unless it is read only; so is the first behind
        // predicates that it comes with.
        let is_result = is_register
            && predicates_only
            && registers().all(|number| written(number) || index == 0 && number == ZERO);
        let is_predicate = operand.trim().trim_start_matches('U').starts_with('P');
        predicates_only &= is_predicate;
        if is_result { results.extend(registers()) } else { operands.extend(registers()) }
    }
    (results, operands)
}

/// The number in `R4` or `RZ`.
fn register(word: &str) -> Option<u16> {
    match word.strip_prefix('R')? {
        "Z" => Some(ZERO),
        number => number.parse().ok(),
    }
}

/// Adds to each named register those above it that only the table shows.
fn ranges(named: &[u16], mut touched: BTreeSet<u16>) -> Result<Vec<(u16, u16)>, String> {
    let mut ranges = Vec::with_capacity(named.len());
    for &first in named {
        let is_known = |number: &u16| *number == ZERO || touched.contains(number);
        if !is_known(&first) {
            return Err(format!("R{first} is named, but not marked"));
        }
        let more = |last: &u16| touched.contains(&(last + 1)) && !named.contains(&(last + 1));
        let mut last = first;
        while first != ZERO && more(&last) {
            last += 1;
        }
        ranges.push((first, last));
    }
    for &(first, last) in &ranges {
        (first..=last).for_each(|number| _ = touched.remove(&number));
    }
    match touched.first() {
        None => Ok(ranges),
        Some(number) => Err(format!("R{number} is marked, but no operand reaches it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RZ: (u16, u16) = (ZERO, ZERO);

    /// Two kernels in the listing's form, with all signs, a pair, loops, both kinds of condition.
    const LISTING: &str = "\
\t.target\tsm_75
//------- .text.one  -----
\t.section\t.text.one
                                            // +---------------+--------+
                                            // |    GPR        | PRED   |
                                            // |  # 0 1 2 10   | # 0 1  |
.text.one:                                  // |               |        |
        /*0000*/       S2R R0, SR_TID.X ;   // |  1 ^          |        |
.L_x_0:                                     // |  1 :          | 1   :  |
        /*0010*/  @!P1 IADD3 R0, P0, R0, UR4, RZ ; // |  1 x   | 2 ^ v  |
        /*0020*/       LDG.E.64 R1, desc[UR4][R0+0x8] ; // |  3 v ^ ^   |      |
        /*0030*/       LOP3.LUT P0, R10, R1.reuse, 0x1f, RZ, 0xc0, !PT ; // |  3   v :  ^ | |
        /*0040*/   @P0 BRA `(.L_x_0) ;      // |  3   : :  :   |        |
        /*0050*/       STS [R10], RZ ;      // |  1        v   |        |
        /*0060*/       BRA.U !UP0, `(.L_x_0) ; // |            |        |
.L_x_1:                                     // +...............+........+
        /*0070*/       EXIT ;               // |               |        |
//------- .text.two  -----
                                            // |  # 0   | # 0  |
        /*0000*/   @P0 EXIT ;               // |  1 :   |      |
        /*0010*/       ATOMS.ADD RZ, [R0], R0 ; // |  1 v   |      |
.L_x_2:                                     // |        |      |
        /*0020*/       BRA `(.L_x_2);       // |        |      |
                                            // Legend:
//------- SYMBOLS ------
        /*0000*/  nothing
";

    #[test]
    fn a_listing_is_read() {
        let kernels = parse(LISTING).expect("a good listing");
        let names: Vec<_> =
            kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.most)).collect();
        assert_eq!(names, [("one", 3), ("two", 1)]);
        let one = &kernels[0].instructions;
        let of = |index: usize| {
            let Instruction { mnemonic, guarded, results, operands, next, .. } = &one[index];
            (mnemonic.as_str(), *guarded, results.as_slice(), operands.as_slice(), next.as_deref())
        };
        assert_eq!(of(0), ("S2R", false, &[(0, 0)][..], &[][..], None));
        assert_eq!(of(1), ("IADD3", true, &[(0, 0)][..], &[(0, 0), RZ][..], None));
        assert_eq!(of(2), ("LDG.E.64", false, &[(1, 2)][..], &[(0, 0)][..], None));
        assert_eq!(of(3), ("LOP3.LUT", false, &[(10, 10)][..], &[(1, 1), RZ][..], None));
        assert_eq!(of(4), ("BRA", true, &[][..], &[][..], Some(&[0x10, 0x50][..])));
        assert_eq!(of(5), ("STS", false, &[][..], &[(10, 10), RZ][..], None));
        assert_eq!(of(6), ("BRA.U", false, &[][..], &[][..], Some(&[0x10, 0x70][..])));
        assert_eq!(of(7), ("EXIT", false, &[][..], &[][..], Some(&[][..])));
        let in_use: Vec<_> = one[4].in_use.iter().copied().collect();
        assert_eq!(in_use, [1, 2, 10]);
        let two = &kernels[1].instructions;
        assert_eq!(two[0].next.as_deref(), Some(&[0x10][..]));
        assert_eq!(
            (two[1].results.as_slice(), two[1].operands.as_slice()),
            (&[RZ][..], &[(0, 0), (0, 0)][..])
        );
        assert_eq!(two[2].next.as_deref(), Some(&[0x20][..]));
    }

    #[test]
    fn what_a_listing_should_not_hold_is_named() {
        for (from, to, why) in [
            ("1 ^          |", "2 ^          |", "line 8: 2 registers in use, but 1 are shown"),
            ("1 ^          |", "1 y          |", "line 8: unknown sign `y`"),
            ("1 ^          |", "  ^          |", "line 8: 0 registers in use, but 1 are shown"),
            ("// |  1 ^          |        |", "", "line 8: an instruction without life ranges"),
            ("/*0000*/       S2R", "/*zz*/ S2R", "line 8: `zz` is no address"),
            ("S2R R0", "S2R R1", "line 8: R0 is marked, but no operand reaches it"),
            ("R10, R1.reuse", "R10, R0", "line 12: R0 is named, but not marked"),
            ("@P0 BRA `(.L_x_0)", "@P0 BRA `(.L_x_9)", "line 13: `.L_x_9` is no label"),
            ("@P0 BRA `(.L_x_0)", "@P0 BRA 0x10", "line 13: `0x10` names no label"),
            ("STS [R10], RZ", "CALL.REL.NOINC `(f)", "line 14: `CALL.REL.NOINC`: take a kernel"),
            ("# 0 1 2 10", "", "line 8: an instruction before the table's head"),
        ] {
            let bad = LISTING.replacen(from, to, 1);
            assert_ne!(bad, LISTING, "{from}");
            let found = parse(&bad).expect_err(to);
            assert!(found.starts_with(why), "{to}: {found}");
        }
        assert_eq!(parse("nothing").expect_err("empty"), "no kernel in the listing");
    }
}
