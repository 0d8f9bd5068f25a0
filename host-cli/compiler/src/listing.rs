//! Annotated listing of a program: the compiler's decisions, one line for each instruction.
//!
//! ```text
//!   pc line   unit  instruction                     ; notes
//! ```
//!
//! Where the PTX says from which lines of CUDA it was made, these stand behind the line of PTX:
//! `kernel.cu:12`.
//!
//! Between line and unit: `w` the warp may be descheduled before it, `b` a barrier (descheduled
//! there), `l` its result has a long latency. Notes: `last` the operands of which this is the last
//! read; `last soon` those that are not read again before the next possible deschedule; `unread`
//! results that nothing reads; `not soon` results not read before the next possible deschedule;
//! `shared` results that a shared unit may read, which keeps them out of the last result file;
//! `join` where a divergent branch reconverges. Where registers are spilled: `spill` and `fill`, to
//! and from a slot; `again` a value that is made again instead.
//!
//! Of a program fitted to a compiler-managed hierarchy also: a line before each strand with the
//! reason why it starts, and the notes `from` (operands read above the main register file, with
//! their entries), `keep` (operands that a first read leaves there) and `to` (results written
//! there).

mod dot;
mod levels;

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write as _};

use strata_core::image::{Flags, StaticInstruction, Unit};
use strata_core::units::RegisterId;
use strata_ptx::diagnostic::counted;
use strata_ptx::module::{LabelId, Module, Symbol, VirtualRegister};
use strata_ptx::print::{self, Names};

pub use dot::Dot;
pub use levels::entry_name;

use crate::flow::{Flow, flow};
use crate::hierarchy::Hierarchy;
use crate::program::{Location, Origin, Program, ProgramInstruction};
use crate::statistics::{ReadCounts, SpillCounts, value_uses};

/// A program to be printed; `Display` gives the text.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// The module that the kernel came from: names its variables and functions.
    pub module: &'a Module,
    /// The program.
    pub program: &'a Program,
    /// Whether a table of the values follows the instructions.
    pub values: bool,
    /// The levels of its operands, if it was fitted to a hierarchy.
    pub hierarchy: Option<&'a Hierarchy>,
    /// What to print before each instruction: one text of the same width for each, or none at all.
    pub margin: &'a [String],
}

/// Blocks as the listing shows them.
struct Blocks {
    /// First instruction of each, ascending.
    starts: Vec<u32>,
    /// Blocks from which control may come to each, ascending.
    from: Vec<Vec<usize>>,
}

impl Blocks {
    fn new(program: &Program) -> Self {
        let count = program.instructions.len() as u32;
        let mut edges = Vec::new();
        let mut starts = vec![0];
        for pc in 0..count {
            let instruction = &program.instructions[pc as usize].instruction;
            let targets: Vec<u32> = match flow(instruction) {
                Flow::Branch(label) => vec![program.targets[label.index()]],
                Flow::Table(table) => program.branch_tables[table as usize].clone(),
                Flow::Next | Flow::Exit => Vec::new(),
            };
            if flow(instruction) != Flow::Next {
                starts.push(pc + 1);
                starts.extend(&targets);
            }
            edges.extend(targets.into_iter().map(|target| (pc, target)));
            if flow(instruction) == Flow::Next || instruction.guard.is_some() {
                edges.push((pc, pc + 1));
            }
        }
        starts.retain(|&start| start < count);
        starts.sort_unstable();
        starts.dedup();
        let mut blocks = Self { from: vec![Vec::new(); starts.len()], starts };
        for (from, to) in edges {
            if let Ok(block) = blocks.starts.binary_search(&to) {
                let from = blocks.containing(from);
                blocks.from[block].push(from);
            }
        }
        for from in &mut blocks.from {
            from.sort_unstable();
            from.dedup();
        }
        blocks
    }

    fn containing(&self, pc: u32) -> usize {
        self.starts.partition_point(|&start| start <= pc) - 1
    }

    /// Name of the block that begins at an instruction.
    fn name(&self, pc: u32) -> String {
        match self.starts.binary_search(&pc) {
            Ok(block) => format!("B{block}"),
            Err(_) => "exit".to_owned(),
        }
    }
}

/// Names of registers by their places, of labels by their blocks.
struct Places<'a> {
    listing: Listing<'a>,
    blocks: Blocks,
    /// Lines of CUDA, all as wide and with a blank before each; empty where the PTX names none.
    cuda: Vec<String>,
}

impl<'a> Places<'a> {
    fn new(listing: Listing<'a>) -> Self {
        let cuda = cuda_column(&listing);
        Self { listing, blocks: Blocks::new(listing.program), cuda }
    }
}

fn cuda_column(listing: &Listing<'_>) -> Vec<String> {
    let places = listing.cuda();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    if width == 0 {
        return Vec::new();
    }
    places.iter().map(|place| format!(" {place:<width$}")).collect()
}

impl Names for Places<'_> {
    fn register(&self, id: VirtualRegister) -> Cow<'_, str> {
        let register = self.listing.program.registers.get(id.index());
        register.map_or_else(|| "?".into(), |register| register.location.to_string().into())
    }

    fn label(&self, id: LabelId) -> Cow<'_, str> {
        let target = self.listing.program.targets.get(id.index());
        target.map_or_else(|| "?".into(), |&pc| self.blocks.name(pc).into())
    }

    fn branch_table(&self, number: u32) -> Cow<'_, str> {
        let table = self.listing.program.branch_tables.get(number as usize);
        let names = table.into_iter().flatten().map(|&pc| self.blocks.name(pc));
        names.collect::<Vec<_>>().join("|").into()
    }

    fn symbol(&self, symbol: Symbol) -> Cow<'_, str> {
        let Listing { module, program, .. } = self.listing;
        let name = match symbol {
            Symbol::Module(id) => module.variables.get(id.index()).map(|v| &*v.name),
            Symbol::Local(id) => program.variables.get(id.index()).map(|v| &*v.name),
            Symbol::Function(id) => module.functions.get(id.index()).map(|f| &*f.name),
        };
        name.unwrap_or("?").into()
    }
}

impl Display for Location {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::General { first, count: 0 | 1 } => write!(f, "R{first}"),
            Self::General { first, count } => {
                write!(f, "R{first}:R{}", u32::from(*first) + u32::from(*count) - 1)
            }
            Self::Predicate(number) => write!(f, "P{number}"),
            Self::Unused => f.write_str("-"),
        }
    }
}

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let program = self.program;
        writeln!(
            f,
            "{}: {}, {}, {}, {} B shared, {} B local{}",
            program.name,
            counted(program.instructions.len(), "instruction"),
            counted(program.general_registers, "register"),
            counted(program.predicate_registers, "predicate"),
            program.shared_bytes,
            program.local_bytes,
            spilling(program)
        )?;
        let places = Places::new(*self);
        for pc in 0..program.instructions.len() {
            if let Ok(block) = places.blocks.starts.binary_search(&(pc as u32)) {
                write!(f, "B{block}:")?;
                let from = places.blocks.from[block].iter();
                let from: Vec<String> = from.map(|from| format!("B{from}")).collect();
                if from.is_empty() {
                    writeln!(f)?;
                } else {
                    writeln!(f, " from {}", from.join(" "))?;
                }
            }
            if let Some(line) = self.hierarchy.and_then(|levels| levels::strand_line(levels, pc)) {
                writeln!(f, "{line}")?;
            }
            places.line(f, pc)?;
        }
        let [none, one, two, more] = ReadCounts::new(program).values;
        writeln!(f, "values: {none} never read, {one} read once, {two} twice, {more} more often")?;
        if !self.values {
            return Ok(());
        }
        self.value_table(f)?;
        self.hierarchy.map_or(Ok(()), |hierarchy| levels::decision_table(hierarchy, f))
    }
}

/// What spilling added, for the heading; empty when that is nothing.
fn spilling(program: &Program) -> String {
    let SpillCounts { stores, fills, again, dropped, bytes } = SpillCounts::new(program);
    if stores + fills + again == 0 {
        return String::new();
    }
    format!(
        "\nspilled: {bytes} B of slots, {stores} stores, {fills} fills, {again} made again, \
         {dropped} left out"
    )
}

impl Places<'_> {
    fn line(&self, f: &mut impl fmt::Write, pc: usize) -> fmt::Result {
        let program = self.listing.program;
        let instruction = &program.instructions[pc];
        let record = &program.image.instructions[pc];
        let mark = |flag, mark| if record.flags.contains(flag) { mark } else { ' ' };
        let text = print::instruction(&instruction.instruction, self).to_string();
        let margin = self.listing.margin.get(pc).map_or("", String::as_str);
        let cuda = self.cuda.get(pc).map_or("", String::as_str);
        let mut line = format!(
            "{margin}{pc:>5} {:>5}{cuda} {}{}{} {:<5} {text}",
            instruction.line,
            mark(Flags::DESCHEDULE_BEFORE, 'w'),
            mark(Flags::BARRIER, 'b'),
            mark(Flags::LONG_LATENCY, 'l'),
            unit_name(record),
        );
        let notes = self.notes(pc);
        if !notes.is_empty() {
            let _ = write!(
                line,
                "{:width$} ; {notes}",
                "",
                width = (64 + margin.len() + cuda.len()).saturating_sub(line.len())
            );
        }
        writeln!(f, "{line}")
    }

    fn notes(&self, pc: usize) -> String {
        let program = self.listing.program;
        let record = &program.image.instructions[pc];
        let image = program.image.borrow();
        let (sources, results) = (image.sources(record), image.destinations(record));
        let mut notes = Vec::new();
        match program.instructions[pc].origin {
            Origin::Kernel(_) => {}
            Origin::Store(_) => notes.push("spill".to_owned()),
            Origin::Fill(_) => notes.push("fill".to_owned()),
            Origin::Again(_) => notes.push("again".to_owned()),
        }
        if let Some(levels) = self.listing.hierarchy {
            notes.extend(levels::notes(levels, record, sources, results));
        }
        let mut note = |name: &str, slots: &[RegisterId], bits: u32| {
            if bits != 0 {
                notes.push(format!("{name} {}", slot_names(slots, bits)));
            }
        };
        note("last", sources, record.last_use);
        note("last soon", sources, record.last_use_before_deschedule & !record.last_use);
        note("unread", results, record.never_read);
        note("not soon", results, record.not_read_before_deschedule & !record.never_read);
        // A slot table has at most 32 results.
        let every = (1_u64 << results.len()) - 1;
        note("shared", results, !record.private_reads & every as u32);
        let instruction = &program.instructions[pc].instruction;
        let splits = match flow(instruction) {
            Flow::Branch(_) => instruction.guard.is_some(),
            Flow::Table(_) => true,
            Flow::Next | Flow::Exit => false,
        };
        if splits {
            let join = program.instructions[pc].reconvergence;
            let join = join.map_or_else(|| "exit".to_owned(), |pc| self.blocks.name(pc));
            notes.push(format!("join {join}"));
        }
        notes.join(", ")
    }
}

/// Registers of the slots whose bits are set.
fn slot_names(slots: &[RegisterId], bits: u32) -> String {
    let set = slots.iter().enumerate().filter(|(slot, _)| bits >> slot & 1 != 0);
    set.map(|(_, register)| format!("R{}", register.0)).collect::<Vec<_>>().join(" ")
}

/// Name of the unit that an instruction goes to, as the listing has it: `alu`, `mem.g`.
pub fn unit_name(record: &StaticInstruction) -> String {
    let unit = record.unit.name();
    match record.space.filter(|_| record.unit == Unit::Memory) {
        Some(space) => format!("{unit}.{}", space.name()),
        None => unit.to_owned(),
    }
}

impl Listing<'_> {
    /// Each instruction as the listing has it, without its marks and notes.
    pub fn instructions(&self) -> Vec<String> {
        let places = Places::new(*self);
        let instructions = self.program.instructions.iter();
        instructions.map(|i| print::instruction(&i.instruction, &places).to_string()).collect()
    }

    /// For each instruction its line of CUDA, such as `kernel.cu:12`; empty where the PTX names
    /// none.
    pub fn cuda(&self) -> Vec<String> {
        let place = |one: &ProgramInstruction| self.module.cuda.of(one.instruction.span);
        let places = self.program.instructions.iter().map(place);
        places.map(|place| place.map_or_else(String::new, |place| place.short())).collect()
    }

    /// For each instruction, the number of its basic block.
    pub fn blocks(&self) -> Vec<usize> {
        let blocks = Blocks::new(self.program);
        (0..self.program.instructions.len() as u32).map(|pc| blocks.containing(pc)).collect()
    }

    /// One line for each value: its place, its virtual register, definitions, reads, last uses.
    fn value_table(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |pcs: &[u32]| match pcs {
            [] => "-".to_owned(),
            _ => pcs.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
        };
        for (register, value) in self.program.registers.iter().zip(value_uses(self.program)) {
            writeln!(
                f,
                "{:<9} {:<12} .{:<4} defined {}, read {}, last {}",
                register.location.to_string(),
                register.name,
                register.ty.name(),
                list(&value.definitions),
                list(&value.reads),
                list(&value.last_uses)
            )?;
        }
        Ok(())
    }
}
