//! The facts of this folder: how they are read, and how sets of registers in use are compared with them.
//!
//! A module of the tests that compare, in more than one crate.

use std::collections::{BTreeMap, BTreeSet};

/// Every file of facts.
const FILES: [(&str, &str); 6] = [
    ("bfs", include_str!("bfs.txt")),
    ("histogram", include_str!("histogram.txt")),
    ("matrixmul", include_str!("matrixmul.txt")),
    ("nbody", include_str!("nbody.txt")),
    ("needle", include_str!("needle.txt")),
    ("reduction", include_str!("reduction.txt")),
];

/// The register that is always zero, and no register.
const ZERO: u16 = 255;
/// The stack pointer.
const STACK: u16 = 1;

/// First and last register of an operand, or first and last instruction of a stretch of code.
pub(crate) type Range<T> = (T, T);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) pc: u64,
    pub(crate) guarded: bool,
    pub(crate) mnemonic: String,
    pub(crate) results: Vec<Range<u16>>,
    pub(crate) operands: Vec<Range<u16>>,
    /// Places of the instructions that may come next.
    pub(crate) next: Vec<u32>,
}

/// Where each register is in use.
pub(crate) type Lives = BTreeMap<u16, Vec<Range<u64>>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) lives: Lives,
    /// Most registers in use at once.
    pub(crate) most: usize,
}

/// Reads a file of facts, in the format that the README beside it describes.
pub(crate) fn parse(text: &str) -> Result<Vec<Kernel>, String> {
    let mut kernels: Vec<Kernel> = Vec::new();
    // Program counters of what may come next, until all instructions are known.
    let mut targets: Vec<Option<Vec<u64>>> = Vec::new();
    let mut origin = 0;
    for (index, line) in text.lines().enumerate() {
        let result = match (line.split_once(' ').unwrap_or((line, "")), kernels.last_mut()) {
            (("", ""), _) => Ok(()),
            (("source" | "made", _), None) => {
                origin += 1;
                Ok(())
            }
            (("kernel", _), Some(kernel)) if kernel.most == 0 => {
                Err("expected `most N` of the kernel before".to_owned())
            }
            (("kernel", name), _) if !name.is_empty() && origin >= 3 => {
                targets.clear();
                kernels.push(Kernel { name: name.to_owned(), ..Kernel::default() });
                Ok(())
            }
            (("live", rest), Some(kernel)) => kernel.add_life(rest),
            (("most", rest), Some(kernel)) => kernel.close(rest, &targets),
            ((pc, rest), Some(kernel)) if kernel.lives.is_empty() => {
                kernel.add_instruction(pc, rest).map(|next| targets.push(next))
            }
            _ => {
                Err("expected `source`, two of `made by`, then `kernel` and what it has".to_owned())
            }
        };
        result.map_err(|why| format!("line {}: `{line}`: {why}", index + 1))?;
    }
    match kernels.last() {
        Some(kernel) if kernel.most > 0 => Ok(kernels),
        _ => Err("the end is missing: expected `most N`".to_owned()),
    }
}

fn address(word: &str) -> Result<u64, String> {
    u64::from_str_radix(word, 16).map_err(|_| format!("`{word}` is no address"))
}

fn register(word: &str) -> Result<u16, String> {
    let real = |number: &u16| *number < ZERO;
    let number = match word.strip_prefix('R') {
        Some("Z") => Some(ZERO),
        Some(number) => number.parse().ok().filter(real),
        None => None,
    };
    number.ok_or_else(|| format!("`{word}` is no register"))
}

fn range<T: PartialOrd>(
    word: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Range<T>, String> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (read(first)?, read(last)?);
    if first > last {
        return Err(format!("`{word}` ends before it begins"));
    }
    Ok((first, last))
}

impl Kernel {
    fn add_instruction(&mut self, pc: &str, rest: &str) -> Result<Option<Vec<u64>>, String> {
        let pc = address(pc)?;
        if self.instructions.last().is_some_and(|before| before.pc >= pc) {
            return Err("addresses have to ascend".to_owned());
        }
        let (rest, next) = match rest.split_once(" ->") {
            Some((rest, next)) => (rest, Some(next)),
            None => (rest, None),
        };
        let next = next.map(|next| next.split_whitespace().map(address).collect()).transpose()?;
        let (named, operands) = rest.split_once(" =").ok_or("expected ` =` before operands")?;
        let mut named = named.split_whitespace();
        let mnemonic = named.next().ok_or("expected a mnemonic")?;
        let registers = |words: std::str::SplitWhitespace<'_>| {
            words.map(|word| range(word, register)).collect::<Result<Vec<_>, _>>()
        };
        self.instructions.push(Instruction {
            pc,
            guarded: mnemonic.starts_with('@'),
            mnemonic: mnemonic.trim_start_matches('@').to_owned(),
            results: registers(named)?,
            operands: registers(operands.split_whitespace())?,
            next: Vec::new(),
        });
        Ok(next)
    }

    fn place(&self, pc: u64) -> Result<usize, String> {
        let place = self.instructions.binary_search_by_key(&pc, |instruction| instruction.pc);
        place.map_err(|_| format!("no instruction at {pc:04x}"))
    }

    fn add_life(&mut self, rest: &str) -> Result<(), String> {
        let mut words = rest.split_whitespace();
        let number = register(words.next().ok_or("expected a register")?)?;
        let ranges = words.map(|word| range(word, address)).collect::<Result<Vec<_>, _>>()?;
        for &(first, last) in &ranges {
            self.place(first).and(self.place(last))?;
        }
        if ranges.is_empty() || !ranges.is_sorted_by(|a, b| a.1 < b.0) {
            return Err("expected ranges that ascend".to_owned());
        }
        match self.lives.insert(number, ranges) {
            None => Ok(()),
            Some(_) => Err("this register was there before".to_owned()),
        }
    }

    fn close(&mut self, rest: &str, targets: &[Option<Vec<u64>>]) -> Result<(), String> {
        self.most = rest.parse().map_err(|_| format!("`{rest}` is no number"))?;
        for (place, next) in targets.iter().enumerate() {
            let next = match next {
                Some(next) => {
                    next.iter().map(|&pc| self.place(pc)).collect::<Result<Vec<_>, _>>()?
                }
                None => vec![place + 1],
            };
            if next.iter().any(|&next| next >= self.instructions.len()) {
                return Err("the last instruction has none behind it".to_owned());
            }
            self.instructions[place].next = next.into_iter().map(|next| next as u32).collect();
        }
        Ok(())
    }

    /// A difference to the facts.
    pub(crate) fn differs(&self, what: &str) -> Result<(), String> {
        Err(format!("kernel {}: {what}", self.name))
    }
}

impl Instruction {
    /// The single registers that it writes.
    pub(crate) fn writes(&self) -> Vec<u16> {
        registers(&self.results)
    }

    /// The single registers that it reads, repeats kept.
    pub(crate) fn reads(&self) -> Vec<u16> {
        registers(&self.operands)
    }

    /// The single registers that it reads, repeats kept, for liveness. To NVIDIA's disassembler the
    /// stack pointer outlives the kernel, and the padding behind it, which jumps to itself. `place`
    /// is the instruction's own.
    pub(crate) fn reads_for_liveness(&self, place: u32) -> Vec<u16> {
        let mut reads = self.reads();
        if self.mnemonic == "EXIT" || self.next == [place] {
            reads.push(STACK);
        }
        reads
    }
}

/// The single registers of some operands, without the one that is always zero.
fn registers(ranges: &[Range<u16>]) -> Vec<u16> {
    let real = ranges.iter().filter(|range| range.0 != ZERO);
    real.flat_map(|&(first, last)| first..=last).collect()
}

/// The registers in use at each instruction as stretches of code, in the form of the facts.
fn lives(kernel: &Kernel, in_use: &[BTreeSet<u16>]) -> Lives {
    let mut lives = Lives::new();
    for (place, set) in in_use.iter().enumerate() {
        let pc = kernel.instructions[place].pc;
        for &number in set {
            let ranges = lives.entry(number).or_default();
            let continues = place > 0 && in_use[place - 1].contains(&number);
            match ranges.last_mut() {
                Some((_, last)) if continues => *last = pc,
                _ => ranges.push((pc, pc)),
            }
        }
    }
    lives
}

/// Holds what is in use at each instruction, and how much of it, against the facts.
pub(crate) fn compare_lives(kernel: &Kernel, in_use: &[BTreeSet<u16>]) -> Result<(), String> {
    let ours = lives(kernel, in_use);
    let numbers: BTreeSet<u16> = ours.keys().chain(kernel.lives.keys()).copied().collect();
    for number in numbers {
        let (ours, theirs) = (ours.get(&number), kernel.lives.get(&number));
        if ours != theirs {
            return kernel.differs(&format!("R{number}: ours {ours:x?}, theirs {theirs:x?}"));
        }
    }
    let most = in_use.iter().map(BTreeSet::len).max().unwrap_or(0);
    if most != kernel.most {
        return kernel.differs(&format!("at most {most} in use, theirs {}", kernel.most));
    }
    Ok(())
}

/// Every kernel of every file, with the file's name.
pub(crate) fn all() -> Vec<(&'static str, Kernel)> {
    let kernels = |(name, text)| {
        let kernels = parse(text).unwrap_or_else(|why| panic!("{name}.txt: {why}"));
        kernels.into_iter().map(move |kernel| (name, kernel))
    };
    FILES.into_iter().flat_map(kernels).collect()
}

/// Asserts that a liveness that goes wrong is found. What ends and begins values is left out or
/// added, one by one: without a last read a value ends earlier, and a write that can be left out
/// lets the value before it live on.
pub(crate) fn changed_code_is_found(in_use: impl Fn(&Kernel) -> Vec<BTreeSet<u16>>) {
    let [mut reads, mut writes, mut guards, mut branches] = [0; 4];
    for (name, kernel) in all() {
        let found = |place: usize, change: &dyn Fn(&mut Instruction)| {
            let mut changed = kernel.clone();
            change(&mut changed.instructions[place]);
            assert_ne!(changed, kernel, "{name}");
            compare_lives(&changed, &in_use(&changed)).is_err()
        };
        let begins = |number, pc| kernel.lives[&number].iter().any(|range| range.0 == pc);
        let ends = |number, pc| kernel.lives[&number].iter().any(|range| range.1 == pc);
        for (place, instruction) in kernel.instructions.iter().enumerate() {
            let pc = instruction.pc;
            let results = instruction.writes();
            let goes_on = instruction.next == [place as u32 + 1];
            for number in instruction.reads() {
                if goes_on && ends(number, pc) && !results.contains(&number) {
                    let without = |it: &mut Instruction| {
                        it.operands.retain(|range| !(range.0..=range.1).contains(&number));
                    };
                    assert!(found(place, &without), "{name}: {}: {pc:04x} R{number}", kernel.name);
                    reads += 1;
                }
            }
            let comes_from_before =
                place > 0 && kernel.instructions[place - 1].next.contains(&(place as u32));
            let is_new = comes_from_before && results.iter().any(|&it| begins(it, pc));
            if is_new && !instruction.guarded {
                let guarded = |it: &mut Instruction| it.guarded = true;
                assert!(found(place, &guarded), "{name}: {}: {pc:04x}", kernel.name);
                writes += 1;
            }
            if instruction.guarded && !results.is_empty() {
                guards += usize::from(found(place, &|it| it.guarded = false));
            }
            if instruction.next.len() > 1 {
                branches += usize::from(found(place, &|it| it.next.truncate(1)));
            }
        }
    }
    assert!(reads > 400 && writes > 400, "{reads} reads, {writes} writes");
    assert!(guards > 10 && branches > 10, "{guards} guards, {branches} branches");
}
