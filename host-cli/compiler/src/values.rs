//! Values: each virtual register falls into webs, the sets of definitions that some use may see
//! together.
//!
//! A guarded definition leaves the old value in the lanes whose guard is false, so it joins the web
//! of the old value (rule 9). Definitions on two sides of a divergent branch join when a use
//! may see both.

use strata_ptx::module::{Instruction, Register, VirtualRegister};

use crate::bits::{BitMatrix, ones};
use crate::cfg::Graph;
use crate::kernel::Kernel;
use crate::limits::{MAX_LIVE_PAIRS, TooLarge};
use crate::operands::{definitions, map_registers, uses};

/// A web that is live where a block begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LiveIn {
    /// The web.
    pub(crate) web: u32,
    /// Whether some path here defines it. Otherwise what is read is undefined, and the web needs
    /// no register yet.
    pub(crate) defined: bool,
}

/// A kernel in terms of webs.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The kernel's instructions; register numbers are webs.
    pub(crate) instructions: Vec<Instruction>,
    /// Name and type of each web, in order of first mention.
    pub(crate) webs: Vec<Register>,
    /// Webs live at the start of each block, for each thread alone, in ascending order.
    pub(crate) live_in: Vec<Vec<LiveIn>>,
}

impl Values {
    /// Finds the webs of a kernel.
    pub(crate) fn new(kernel: &Kernel, graph: &Graph) -> Result<Self, TooLarge> {
        let live = VirtualLiveness::new(kernel, graph)?;
        let pairs: usize = (0..graph.blocks.len()).map(|block| live.live_in(block).count()).sum();
        if pairs > MAX_LIVE_PAIRS {
            let message = "too many values are live across too many basic blocks";
            return Err(TooLarge::kernel("kernel-too-large", message));
        }
        let mut builder = WebBuilder::new(kernel, graph, &live);
        let instructions = builder.name_nodes(kernel, graph);
        builder.spread_definedness();
        Ok(builder.finish(kernel, graph, instructions))
    }

    /// Place of a web among those live at the start of a block.
    pub(crate) fn live_in_index(&self, block: usize, web: u32) -> Option<usize> {
        self.live_in[block].binary_search_by_key(&web, |live| live.web).ok()
    }

    /// Webs live at the end of a block, for each thread alone. May repeat.
    pub(crate) fn live_out<'a>(
        &'a self,
        graph: &'a Graph,
        block: usize,
    ) -> impl Iterator<Item = u32> + 'a {
        let successors = graph.blocks[block].successors.iter();
        let real = successors.filter(|&&next| next != graph.exit());
        real.flat_map(|&next| self.live_in[next].iter().map(|live| live.web))
    }
}

/// Which virtual registers are live at the start of each block. Only those that some block reads
/// before writing have a column.
pub(crate) struct VirtualLiveness {
    registers: Vec<u32>,
    live_in: BitMatrix,
}

impl VirtualLiveness {
    pub(crate) fn new(kernel: &Kernel, graph: &Graph) -> Result<Self, TooLarge> {
        let blocks = graph.blocks.len();
        let mut killed_in = vec![usize::MAX; kernel.registers.len()];
        let mut column_of = vec![u32::MAX; kernel.registers.len()];
        let mut registers = Vec::new();
        let mut exposed: Vec<(usize, u32)> = Vec::new();
        for (number, block) in graph.blocks.iter().enumerate() {
            for instruction in &kernel.instructions[block.start..block.end] {
                uses(instruction, |register| {
                    if killed_in[register.index()] == number {
                        return;
                    }
                    if column_of[register.index()] == u32::MAX {
                        column_of[register.index()] = registers.len() as u32;
                        registers.push(register.0);
                    }
                    exposed.push((number, column_of[register.index()]));
                });
                if instruction.guard.is_none() {
                    definitions(instruction, |register| killed_in[register.index()] = number);
                }
            }
        }
        TooLarge::check_table(blocks, registers.len())?;
        let mut live_in = BitMatrix::new(blocks, registers.len());
        let mut kill = BitMatrix::new(blocks, registers.len());
        for (block, column) in exposed {
            live_in.set(block, column as usize);
        }
        for (number, block) in graph.blocks.iter().enumerate() {
            for instruction in &kernel.instructions[block.start..block.end] {
                if instruction.guard.is_none() {
                    definitions(instruction, |register| {
                        let column = column_of[register.index()];
                        if column != u32::MAX {
                            kill.set(number, column as usize);
                        }
                    });
                }
            }
        }
        let mut work: Vec<usize> = (0..blocks).collect();
        let mut queued = vec![true; blocks];
        while let Some(block) = work.pop() {
            queued[block] = false;
            for &before in &graph.blocks[block].predecessors {
                if flow_back(&mut live_in, &kill, block, before) && !queued[before] {
                    queued[before] = true;
                    work.push(before);
                }
            }
        }
        Ok(Self { registers, live_in })
    }

    /// Virtual registers live at the start of a block.
    pub(crate) fn live_in(&self, block: usize) -> impl Iterator<Item = u32> + '_ {
        ones(self.live_in.row(block)).map(|column| self.registers[column])
    }
}

/// Adds to the live set of `before` that of `block` without killed values; returns whether any was
/// new.
fn flow_back(live_in: &mut BitMatrix, kill: &BitMatrix, block: usize, before: usize) -> bool {
    let mut changed = false;
    for word in 0..kill.row(before).len() {
        let new = live_in.row(block)[word] & !kill.row(before)[word];
        let old = live_in.row(before)[word];
        if new & !old != 0 {
            live_in.row_mut(before)[word] = old | new;
            changed = true;
        }
    }
    changed
}

/// Nodes are definitions and the values that registers have at the start of blocks; webs are
/// connected sets of them.
struct WebBuilder {
    /// Union-find parents.
    parent: Vec<u32>,
    /// Virtual register of each node.
    register_of: Vec<u32>,
    /// Whether some path defines the node's value.
    defined: Vec<bool>,
    /// For block starts: (virtual register, node), ascending.
    entries: Vec<Vec<(u32, u32)>>,
    /// Pairs (block-start node, block-start node it flows to).
    flows: Vec<(u32, u32)>,
}

impl WebBuilder {
    fn new(kernel: &Kernel, graph: &Graph, live: &VirtualLiveness) -> Self {
        let mut builder = Self {
            parent: Vec::with_capacity(kernel.instructions.len()),
            register_of: Vec::with_capacity(kernel.instructions.len()),
            defined: Vec::with_capacity(kernel.instructions.len()),
            entries: Vec::with_capacity(graph.blocks.len()),
            flows: Vec::new(),
        };
        for block in 0..graph.blocks.len() {
            let mut registers: Vec<u32> = live.live_in(block).collect();
            registers.sort_unstable();
            let node = |register| (register, builder.node(register, false));
            let entries = registers.into_iter().map(node).collect();
            builder.entries.push(entries);
        }
        builder
    }

    fn node(&mut self, register: u32, defined: bool) -> u32 {
        let node = self.parent.len() as u32;
        self.parent.push(node);
        self.register_of.push(register);
        self.defined.push(defined);
        node
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let grandparent = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Rewrites every instruction so that its register numbers are nodes, and joins nodes that one
    /// use may see.
    fn name_nodes(&mut self, kernel: &Kernel, graph: &Graph) -> Vec<Instruction> {
        let mut instructions = Vec::with_capacity(kernel.instructions.len());
        let none = (usize::MAX, 0);
        let mut current: Vec<(usize, u32)> = vec![none; kernel.registers.len()];
        for (number, block) in graph.blocks.iter().enumerate() {
            for &(register, node) in &self.entries[number] {
                current[register as usize] = (number, node);
            }
            for instruction in &kernel.instructions[block.start..block.end] {
                instructions.push(self.name_instruction(instruction, number, &mut current));
            }
            for &next in block.successors.iter().filter(|&&next| next != graph.exit()) {
                for index in 0..self.entries[next].len() {
                    let (register, node) = self.entries[next][index];
                    let (_, value) = current[register as usize];
                    self.join(node, value);
                    self.flows.push((value, node));
                }
            }
        }
        instructions
    }

    fn name_instruction(
        &mut self,
        instruction: &Instruction,
        block: usize,
        current: &mut [(usize, u32)],
    ) -> Instruction {
        let mut renamed = instruction.clone();
        let mut read = |register: VirtualRegister| VirtualRegister(current[register.index()].1);
        for operand in &mut renamed.sources {
            map_registers(operand, &mut read);
        }
        if let Some(guard) = &mut renamed.guard {
            guard.register = read(guard.register);
        }
        let first_new = self.parent.len() as u32;
        for operand in &mut renamed.destinations {
            map_registers(operand, &mut |register| {
                let (known_in, old) = current[register.index()];
                if known_in == block && old >= first_new {
                    // Named twice among the results: one value.
                    return VirtualRegister(old);
                }
                let node = self.node(register.0, true);
                if instruction.guard.is_some() && known_in == block {
                    self.join(node, old);
                }
                current[register.index()] = (block, node);
                VirtualRegister(node)
            });
        }
        renamed
    }

    /// Marks block-start nodes that some definition reaches.
    fn spread_definedness(&mut self) {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.parent.len()];
        for &(from, to) in &self.flows {
            next[from as usize].push(to);
        }
        let mut work: Vec<u32> =
            (0..self.parent.len() as u32).filter(|&node| self.defined[node as usize]).collect();
        while let Some(node) = work.pop() {
            for &to in &next[node as usize] {
                if !std::mem::replace(&mut self.defined[to as usize], true) {
                    work.push(to);
                }
            }
        }
    }

    /// Numbers the webs in order of mention.
    fn finish(
        mut self,
        kernel: &Kernel,
        graph: &Graph,
        mut instructions: Vec<Instruction>,
    ) -> Values {
        let mut web_of = vec![u32::MAX; self.parent.len()];
        let mut webs = Vec::new();
        let mut number = |builder: &mut Self, node: u32| {
            let root = builder.find(node) as usize;
            if web_of[root] == u32::MAX {
                web_of[root] = webs.len() as u32;
                webs.push(kernel.registers[builder.register_of[root] as usize].clone());
            }
            web_of[root]
        };
        for instruction in &mut instructions {
            let mut map =
                |register: VirtualRegister| VirtualRegister(number(&mut self, register.0));
            for operand in instruction.destinations.iter_mut().chain(&mut instruction.sources) {
                map_registers(operand, &mut map);
            }
            if let Some(guard) = &mut instruction.guard {
                guard.register = map(guard.register);
            }
        }
        let mut live_in = Vec::with_capacity(graph.blocks.len());
        for entries in std::mem::take(&mut self.entries) {
            let live = |(_, node): (u32, u32)| LiveIn {
                web: number(&mut self, node),
                defined: self.defined[node as usize],
            };
            let mut webs: Vec<LiveIn> = entries.into_iter().map(live).collect();
            webs.sort_unstable();
            live_in.push(webs);
        }
        Values { instructions, webs, live_in }
    }
}

impl Kernel {
    /// This kernel with a register for each value: definitions that no use may see together have
    /// registers of their own. A kernel that is too large for that stays as it is.
    #[must_use]
    pub fn with_registers_for_values(self) -> Self {
        let values = Graph::new(&self).and_then(|graph| Values::new(&self, &graph));
        match values {
            Ok(Values { instructions, webs, .. }) => Self { instructions, registers: webs, ..self },
            Err(_) => self,
        }
    }
}

/// For each block, one flag for each web of its `live_in`: some path from the block's start has a
/// mark for it. `marks` are blocks with the webs that they mark themselves; a mark behind a block
/// counts before it too where the block `passes` it.
pub(crate) fn backward_flow(
    graph: &Graph,
    values: &Values,
    mut marks: Vec<(usize, u32)>,
    passes: impl Fn(usize, u32) -> bool,
) -> Vec<Vec<bool>> {
    let mut flags: Vec<Vec<bool>> =
        values.live_in.iter().map(|live| vec![false; live.len()]).collect();
    while let Some((block, web)) = marks.pop() {
        let Some(index) = values.live_in_index(block, web) else { continue };
        if std::mem::replace(&mut flags[block][index], true) {
            continue;
        }
        for &before in &graph.blocks[block].predecessors {
            if passes(before, web) {
                marks.push((before, web));
            }
        }
    }
    flags
}
