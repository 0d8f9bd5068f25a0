//! What `strata inspect` prints of a kernel, read back: units, operands, marks and notes.

use std::collections::HashMap;

/// Where a slot's value is or goes, as the notes of a compiler-managed hierarchy say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The operand register file.
    Orf,
    /// The last result file.
    Lrf,
}

/// One instruction of the listing. Registers are 32-bit slots, in the order of the operands.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one mark of a line")]
pub(crate) struct Instruction {
    /// Whether its unit belongs to the shared datapath: special functions and memory.
    pub(crate) shared: bool,
    /// `w`: the warp may be descheduled before it.
    pub(crate) may_wait: bool,
    /// `b`: a barrier.
    pub(crate) barrier: bool,
    /// `l`: its result takes long.
    pub(crate) long: bool,
    /// The first instruction of the block that a branch goes to.
    pub(crate) target: Option<usize>,
    /// Registers read.
    pub(crate) reads: Vec<u32>,
    /// Registers written.
    pub(crate) writes: Vec<u32>,
    /// Note `last`: read for the last time.
    pub(crate) last: Vec<u32>,
    /// Notes `last` and `last soon`: not read again before the next possible deschedule.
    pub(crate) last_soon: Vec<u32>,
    /// Notes `unread` and `not soon`: not read before the next possible deschedule.
    pub(crate) not_soon: Vec<u32>,
    /// Note `shared`: results that the shared datapath may read.
    pub(crate) read_by_shared: Vec<u32>,
    /// Note `from`: operands above the main register file.
    pub(crate) from: Vec<(u32, Place)>,
    /// Note `keep`: operands that a first read leaves above the main register file.
    pub(crate) keep: Vec<(u32, Place)>,
    /// Note `to`: results above the main register file, and whether they are written there too.
    pub(crate) to: Vec<(u32, Place, bool)>,
}

/// Kernels by name, each with its instructions in order.
pub(crate) type Kernels = HashMap<String, Vec<Instruction>>;

/// Mnemonics whose first operand is no result.
const WITHOUT_RESULT: [&str; 11] =
    ["st", "red", "bra", "brx", "bar", "barrier", "ret", "exit", "membar", "fence", "prefetch"];

/// Reads the whole text.
pub(crate) fn read(text: &str) -> Kernels {
    let mut kernels = Kernels::new();
    let mut current = String::new();
    let mut blocks = HashMap::new();
    let mut branches = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.get(2) == Some(&"instructions,") {
            words[0].strip_suffix(':').expect("a kernel's name").clone_into(&mut current);
            let before = kernels.insert(current.clone(), Vec::new());
            assert!(before.is_none(), "{current} is listed twice");
        } else if line.starts_with(' ') && words[0].bytes().all(|byte| byte.is_ascii_digit()) {
            let code = kernels.get_mut(&current).expect("a kernel's first line comes first");
            if let Some((_, target)) = line.split_once(" bra ") {
                let target = target.split_whitespace().next().expect("a block");
                branches.push((current.clone(), code.len(), target.to_owned()));
            }
            assert_eq!(words[0].parse(), Ok(code.len()), "instructions are numbered: {line}");
            code.push(instruction(line));
        } else if let Some((block, _)) = line.split_once(':').filter(|_| line.starts_with('B')) {
            blocks.insert((current.clone(), block.to_owned()), kernels[&current].len());
        }
    }
    for (kernel, index, block) in branches {
        let target = blocks[&(kernel.clone(), block)];
        kernels.get_mut(&kernel).expect("it is there")[index].target = Some(target);
    }
    assert!(!kernels.is_empty(), "no kernel in the listing");
    kernels
}

fn instruction(line: &str) -> Instruction {
    let (code, notes) = line.split_once("; ").unwrap_or((line, ""));
    let mut words = code.split_whitespace().skip(2).peekable();
    let marks = words.next_if(|word| word.bytes().all(|byte| b"wbl".contains(&byte)));
    let mut marks = marks.unwrap_or_default().to_owned();
    while let Some(more) = words.next_if(|word| word.bytes().all(|byte| b"wbl".contains(&byte))) {
        marks.push_str(more);
    }
    let shared = match words.next().expect("a unit") {
        "alu" | "ctl" | "f64" => false,
        "sfu" | "mem.c" | "mem.g" | "mem.l" | "mem.s" | "tex" => true,
        other => panic!("unit `{other}` in: {line}"),
    };
    let mut instruction = Instruction {
        shared,
        may_wait: marks.contains('w'),
        barrier: marks.contains('b'),
        long: marks.contains('l'),
        ..Instruction::default()
    };
    let _guard = words.next_if(|word| word.starts_with('@'));
    let mnemonic = words.next().expect("a mnemonic");
    let operands = words.collect::<Vec<_>>().join(" ");
    let stem = mnemonic.split('.').next().expect("a stem");
    let mut operands = operands_of(&operands).into_iter();
    if !WITHOUT_RESULT.contains(&stem) {
        instruction.writes = operands.next().unwrap_or_default();
    }
    instruction.reads = operands.flatten().collect();
    for note in notes.split(", ") {
        take_note(&mut instruction, note, line);
    }
    instruction
}

/// The registers of each operand: commas part operands, but not those within braces or brackets.
fn operands_of(text: &str) -> Vec<Vec<u32>> {
    let mut operands = vec![String::new()];
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(String::new());
                continue;
            }
            _ => {}
        }
        operands.last_mut().expect("one at least").push(character);
    }
    operands.iter().map(|operand| registers(operand)).collect()
}

/// The registers that a piece of text names; `R4:R5` are two.
fn registers(text: &str) -> Vec<u32> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_$%".contains(character);
    text.split(|character: char| !is_part(character)).filter_map(register).collect()
}

fn register(word: &str) -> Option<u32> {
    word.strip_prefix('R')?.parse().ok()
}

fn take_note(instruction: &mut Instruction, note: &str, line: &str) {
    let mut words = note.split_whitespace();
    let rest = |words: std::str::SplitWhitespace<'_>| -> Vec<u32> {
        words.map(|word| register(word).unwrap_or_else(|| panic!("`{word}` in: {line}"))).collect()
    };
    match words.next() {
        Some("last") if note.starts_with("last soon ") => {
            words.next();
            instruction.last_soon.extend(rest(words));
        }
        Some("last") => {
            instruction.last = rest(words);
            instruction.last_soon.extend(&instruction.last);
        }
        Some("unread") => instruction.not_soon.extend(rest(words)),
        Some("not") => {
            assert_eq!(words.next(), Some("soon"), "{line}");
            instruction.not_soon.extend(rest(words));
        }
        Some("shared") => instruction.read_by_shared = rest(words),
        Some("from") => instruction.from = placed(words).map(|(r, p, _)| (r, p)).collect(),
        Some("keep") => instruction.keep = placed(words).map(|(r, p, _)| (r, p)).collect(),
        Some("to") => instruction.to = placed(words).collect(),
        Some("join" | "spill" | "fill" | "again") | None => {}
        Some(other) => panic!("note `{other}` in: {line}"),
    }
}

/// Pairs of a register and a level, as `R8 orf2+mrf`.
fn placed<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (u32, Place, bool)> {
    std::iter::from_fn(move || {
        let register = register(words.next()?).expect("a register");
        let level = words.next().expect("a level behind its register");
        let (level, both) = level.strip_suffix("+mrf").map_or((level, false), |it| (it, true));
        let place = match level.trim_end_matches(|digit: char| digit.is_ascii_digit()) {
            "orf" => Place::Orf,
            "lrf" => Place::Lrf,
            other => panic!("level `{other}`"),
        };
        Some((register, place, both))
    })
}
