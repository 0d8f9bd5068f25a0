//! The kernel with its stores and fills.

use strata_ptx::module::{
    AddressBase, Instruction, Operand, Span, StateSpace, Symbol, VariableId, VirtualRegister,
};
use strata_ptx::opcode::Opcode;
use strata_ptx::types::ScalarType;

use crate::flow::{Flow, flow};
use crate::kernel::{Kernel, plain};
use crate::limits::TooLarge;
use crate::operands::{definitions, uses};
use crate::program::{Dropped, Origin, ProgramVariable, SPILL_VARIABLE};

use super::residence::{EventKind, Input, Residence};
use super::stores::Stores;

/// Slots begin at multiples of this behind the kernel's own frame. Unit: bytes.
const FRAME_ALIGN: u64 = 16;
/// Most bytes of slots: the executor's limit for a whole frame.
const MAX_SPILL_BYTES: u64 = 512 << 10;

/// A kernel that has stores and fills in it.
#[derive(Clone, Debug)]
pub(crate) struct Spilled {
    pub(crate) kernel: Kernel,
    /// Where each instruction comes from.
    pub(crate) origins: Vec<Origin>,
    /// Instructions of the original that are not in it.
    pub(crate) dropped: Vec<Dropped>,
    /// Slots of one thread. Unit: bytes.
    pub(crate) bytes: u64,
    /// Estimated executions of added instructions, less those of removed ones.
    pub(crate) cost: i64,
}

/// Writes the kernel with its stores and fills, as they were decided.
pub(super) fn rewrite(
    input: &Input<'_>,
    residence: &Residence,
    stores: &Stores,
) -> Result<Spilled, TooLarge> {
    let kernel = input.kernel;
    let (slots, bytes) = slots(input, stores);
    if bytes > MAX_SPILL_BYTES {
        let message = format!("needs {bytes} bytes of spill slots, {MAX_SPILL_BYTES} can be");
        return Err(TooLarge::kernel("kernel-too-large", message));
    }
    let mut writer = Writer {
        input,
        slots,
        variable: VariableId(kernel.variables.len() as u32),
        register: registers_of_webs(input),
        definition: definitions_of_webs(input),
        instructions: Vec::with_capacity(kernel.instructions.len()),
        lines: Vec::with_capacity(kernel.instructions.len()),
        origins: Vec::with_capacity(kernel.instructions.len()),
        dropped: Vec::new(),
        often: 0,
        cost: 0,
    };
    let mut new_number = vec![0; kernel.instructions.len() + 1];
    let unread = unread(input, residence);
    let mut cursor = Cursor { before: &stores.before, behind: &stores.behind };
    for number in 0..input.graph.blocks.len() {
        writer.block(residence, stores, &mut cursor, &unread, &mut new_number, number);
    }
    new_number[kernel.instructions.len()] = writer.instructions.len() as u32;
    let mut variables = kernel.variables.clone();
    let offset = kernel.local_bytes.next_multiple_of(FRAME_ALIGN);
    let mut local_bytes = kernel.local_bytes;
    if bytes > 0 {
        local_bytes = offset + bytes;
        variables.push(ProgramVariable {
            name: SPILL_VARIABLE.to_owned(),
            space: StateSpace::Local,
            offset,
            size: bytes,
            align: FRAME_ALIGN as u32,
        });
    }
    let target = |&target: &u32| {
        new_number.get(target as usize).copied().unwrap_or(writer.instructions.len() as u32)
    };
    Ok(Spilled {
        kernel: Kernel {
            name: kernel.name.clone(),
            lines: writer.lines,
            registers: kernel.registers.clone(),
            variables,
            parameters: kernel.parameters,
            targets: kernel.targets.iter().map(target).collect(),
            branch_tables: kernel.branch_tables.clone(),
            shared_bytes: kernel.shared_bytes,
            local_bytes,
            instructions: writer.instructions,
        },
        origins: writer.origins,
        dropped: writer.dropped,
        bytes,
        cost: writer.cost,
    })
}

/// A slot for every web that is stored. Webs whose lives do not meet share one.
fn slots(input: &Input<'_>, stores: &Stores) -> (Vec<Option<u64>>, u64) {
    let mut stored: Vec<u32> = stores.before.iter().map(|&(_, web)| web).collect();
    stored.extend(stores.behind.iter().map(|&(_, web)| web));
    stored.extend(stores.at_end.iter().map(|&(_, web)| web));
    stored.sort_unstable();
    stored.dedup();
    let life = |web: u32| {
        let of = &input.intervals.of[web as usize];
        of.first().map_or(0, |first| first.start)..of.last().map_or(0, |last| last.end)
    };
    stored.sort_by_key(|&web| (life(web).start, web));
    let mut found = vec![None; input.values.webs.len()];
    let mut bytes = 0;
    // For each size, the slots there are and where the life of what they held last ends.
    let mut taken: [Vec<(u64, u32)>; 3] = Default::default();
    for web in stored {
        let count = input.steps.slots[web as usize];
        let size = 4 * u64::from(count);
        let life = life(web);
        let class = &mut taken[count.trailing_zeros() as usize % 3];
        let free = class.iter_mut().find(|(_, end)| *end <= life.start);
        let offset = if let Some((offset, end)) = free {
            *end = life.end;
            *offset
        } else {
            let offset = u64::next_multiple_of(bytes, size);
            bytes = offset + size;
            class.push((offset, life.end));
            offset
        };
        found[web as usize] = Some(offset);
    }
    (found, bytes)
}

/// The kernel's register of each web.
fn registers_of_webs(input: &Input<'_>) -> Vec<VirtualRegister> {
    let mut found = vec![VirtualRegister(0); input.values.webs.len()];
    for (ours, theirs) in input.kernel.instructions.iter().zip(&input.values.instructions) {
        let mut registers = Vec::new();
        uses(ours, |register| registers.push(register));
        definitions(ours, |register| registers.push(register));
        let mut registers = registers.into_iter();
        let mut name = |web: VirtualRegister| {
            if let Some(register) = registers.next() {
                found[web.index()] = register;
            }
        };
        uses(theirs, &mut name);
        definitions(theirs, &mut name);
    }
    found
}

/// An instruction that defines each web.
fn definitions_of_webs(input: &Input<'_>) -> Vec<usize> {
    let mut found = vec![0; input.values.webs.len()];
    for (pc, step) in input.steps.of.iter().enumerate() {
        for write in &step.writes {
            found[write.web as usize] = pc;
        }
    }
    found
}

/// For each instruction: it can be rematerialised, and its result leaves unread. The last one of a
/// block stays, because later additions refer to its position.
fn unread(input: &Input<'_>, residence: &Residence) -> Vec<bool> {
    let mut unread = vec![false; input.kernel.instructions.len()];
    for (number, block) in input.graph.blocks.iter().enumerate() {
        let plan = &residence.plans[number];
        // Webs that came to a register here and were not read since, with their definitions.
        let mut fresh: Vec<(u32, usize)> = Vec::new();
        let mut events = plan.events.iter().peekable();
        for pc in block.start..block.end {
            let step = &input.steps.of[pc];
            let mut gone = Vec::new();
            while let Some(event) = events.next_if(|event| event.pc == pc) {
                let left = event.kind == EventKind::Leave;
                gone.extend(fresh.iter().filter(|(web, _)| left && *web == event.web));
            }
            fresh.retain(|(web, _)| step.reads.iter().all(|read| read.web != *web));
            for entry in gone.into_iter().filter(|entry| fresh.contains(entry)) {
                unread[entry.1] = true;
            }
            for write in step.writes.iter().filter(|write| input.repeatable[write.web as usize]) {
                if pc + 1 < block.end {
                    fresh.push((write.web, pc));
                }
            }
        }
        for (web, pc) in fresh {
            let resident = block.successors.iter().any(|&next| {
                next != input.graph.exit()
                    && input
                        .values
                        .live_in_index(next, web)
                        .is_some_and(|index| residence.at_start[next][index])
            });
            if plan.at_end.binary_search(&web).is_ok() && !resident {
                unread[pc] = true;
            }
        }
    }
    unread
}

/// What is left of the stores.
struct Cursor<'a> {
    before: &'a [(usize, u32)],
    behind: &'a [(usize, u32)],
}

impl Cursor<'_> {
    fn take<'a>(list: &mut &'a [(usize, u32)], pc: usize) -> &'a [(usize, u32)] {
        let count = list.iter().take_while(|(at, _)| *at == pc).count();
        let (now, rest) = list.split_at(count);
        *list = rest;
        now
    }
}

struct Writer<'a> {
    input: &'a Input<'a>,
    slots: Vec<Option<u64>>,
    /// The variable of all slots.
    variable: VariableId,
    register: Vec<VirtualRegister>,
    definition: Vec<usize>,
    instructions: Vec<Instruction>,
    lines: Vec<u32>,
    origins: Vec<Origin>,
    dropped: Vec<Dropped>,
    /// Guessed executions of the block being written.
    often: i64,
    cost: i64,
}

impl Writer<'_> {
    fn block(
        &mut self,
        residence: &Residence,
        stores: &Stores,
        cursor: &mut Cursor<'_>,
        unread: &[bool],
        new_number: &mut [u32],
        number: usize,
    ) {
        let block = &self.input.graph.blocks[number];
        let plan = &residence.plans[number];
        self.often = self.input.loops.frequency[number] as i64;
        let mut events = plan.events.iter().peekable();
        for pc in block.start..block.end {
            new_number[pc] = self.instructions.len() as u32;
            let instruction = &self.input.kernel.instructions[pc];
            let (line, span) = (self.input.kernel.lines.get(pc).copied(), instruction.span);
            for &(_, web) in Cursor::take(&mut cursor.before, pc) {
                self.store(web, line, span);
            }
            while let Some(event) = events.next_if(|event| event.pc == pc) {
                if event.kind == EventKind::Fill {
                    self.fill(event.web, line, span);
                }
            }
            let ends = pc + 1 == block.end;
            let branches = flow(instruction) != Flow::Next;
            if ends && branches {
                self.end(plan, stores, number, line, span);
            }
            if unread[pc] {
                let before = self.instructions.len() as u32;
                self.dropped.push(Dropped { before, definition: pc as u32 });
                self.cost -= self.often;
            } else {
                self.push(instruction.clone(), line, Origin::Kernel(pc as u32));
            }
            for &(_, web) in Cursor::take(&mut cursor.behind, pc) {
                self.store(web, line, span);
            }
            if ends && !branches {
                self.end(plan, stores, number, line, span);
            }
        }
    }

    /// What happens at the end of a block.
    fn end(
        &mut self,
        plan: &super::residence::BlockPlan,
        stores: &Stores,
        number: usize,
        line: Option<u32>,
        span: Span,
    ) {
        let first = stores.at_end.partition_point(|&(block, _)| block < number);
        for &(_, web) in stores.at_end[first..].iter().take_while(|(block, _)| *block == number) {
            self.store(web, line, span);
        }
        for &web in &plan.fills {
            self.fill(web, line, span);
        }
    }

    fn push(&mut self, instruction: Instruction, line: Option<u32>, origin: Origin) {
        self.instructions.push(instruction);
        self.lines.push(line.unwrap_or_default());
        self.origins.push(origin);
        if !matches!(origin, Origin::Kernel(_)) {
            self.cost += self.often;
        }
    }

    fn store(&mut self, web: u32, line: Option<u32>, span: Span) {
        let Some((ty, address, register)) = self.slot(web) else { return };
        let mut store = plain(Opcode::St, span);
        store.modifiers.space = Some(StateSpace::Local);
        store.types = vec![ty];
        store.sources = vec![address, Operand::Register(register)];
        self.push(store, line, Origin::Store(register));
    }

    fn fill(&mut self, web: u32, line: Option<u32>, span: Span) {
        if self.input.repeatable[web as usize] {
            let definition = self.definition[web as usize];
            let mut again = self.input.kernel.instructions[definition].clone();
            again.span = span;
            return self.push(again, line, Origin::Again(definition as u32));
        }
        let Some((ty, address, register)) = self.slot(web) else { return };
        let mut load = plain(Opcode::Ld, span);
        load.modifiers.space = Some(StateSpace::Local);
        load.types = vec![ty];
        load.destinations = vec![Operand::Register(register)];
        load.sources = vec![address];
        self.push(load, line, Origin::Fill(register));
    }

    fn slot(&self, web: u32) -> Option<(ScalarType, Operand, VirtualRegister)> {
        let offset = self.slots[web as usize]?;
        let register = self.register[web as usize];
        let ty = match self.input.kernel.registers[register.index()].ty.bits() {
            8 => ScalarType::B8,
            16 => ScalarType::B16,
            64 => ScalarType::B64,
            128 => ScalarType::B128,
            _ => ScalarType::B32,
        };
        let base = AddressBase::Symbol(Symbol::Local(self.variable));
        Some((ty, Operand::Address { base, offset: offset as i64 }, register))
    }
}
