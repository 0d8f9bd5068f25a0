//! Lines of a trace as instructions: every line's operands fit its opcode, and the lines of one
//! instruction are put together.
//!
//! The tracer writes a line for each reference to memory. An instruction with two of them, such as
//! LDGSTS, has two lines of one program counter, of which one holds the addresses of global memory.

use strata_machine_code as machine_code;
use strata_machine_code::Machine;
use strata_simt::moved::Addresses;

use super::error::Problem;
use super::header::Header;
use super::visitor::{Seen, Visitor};

/// Hands on to a visitor what a reader finds, instruction by instruction.
pub(crate) struct Instructions<'a, V> {
    visitor: &'a mut V,
    machine: Machine,
    /// For each instruction, in the order of first appearance, which of its two lines holds the
    /// addresses of global memory; `None` for those of one line.
    global_line: Vec<Option<usize>>,
    /// The first of two lines, until the next one is known.
    held: Option<Line>,
    /// Lines that were the second one of their instruction.
    second_lines: u64,
    /// Instructions of two lines that once had one line.
    single: Vec<u32>,
}

/// A line that waits for the second one of its instruction.
struct Line {
    id: u32,
    mask: u32,
    addresses: Vec<u64>,
    code: Seen,
}

impl<'a, V: Visitor> Instructions<'a, V> {
    pub(crate) fn new(visitor: &'a mut V) -> Self {
        Self {
            visitor,
            machine: Machine::Sm75,
            global_line: Vec::new(),
            held: None,
            second_lines: 0,
            single: Vec::new(),
        }
    }

    /// How many lines were the second one of their instruction, and the instructions of two lines
    /// that had one.
    pub(crate) fn finish(self) -> (u64, Vec<u32>) {
        (self.second_lines, self.single)
    }

    #[cold]
    fn learn(&mut self, code: &Seen) -> Result<(), Problem> {
        let named = &code.named;
        let mnemonic = named.mnemonic.as_str();
        machine_code::read(self.machine, mnemonic, &named.destinations, &named.sources).map_err(
            |misfit| Problem::Operands {
                mnemonic: mnemonic.to_owned(),
                destinations: named.destinations.len(),
                sources: named.sources.len(),
                allowed: misfit.to_string(),
            },
        )?;
        let two = if named.width == 0 { None } else { machine_code::global_line(mnemonic) };
        self.global_line.push(two);
        Ok(())
    }

    /// The line of an instruction that has two of them.
    #[cold]
    fn line(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem> {
        let global = self.global_line.get(id as usize).copied().flatten();
        if let Some(held) = self.held.take() {
            if (held.id, held.mask) == (id, mask) {
                self.second_lines += 1;
                let addresses = match global {
                    Some(0) => Addresses::Each(&held.addresses),
                    _ => addresses,
                };
                let addresses = if mask == 0 { Addresses::None } else { addresses };
                return self.visitor.instruction(id, mask, addresses, code);
            }
            self.alone(&held)?;
        }
        if global.is_none() {
            return self.visitor.instruction(id, mask, addresses, code);
        }
        let addresses = addresses.iter().collect();
        self.held = Some(Line { id, mask, addresses, code: code.clone() });
        Ok(())
    }

    /// A first line without a second one: its addresses are taken for those of global memory.
    fn alone(&mut self, Line { id, mask, addresses, code }: &Line) -> Result<(), Problem> {
        if !self.single.contains(id) {
            self.single.push(*id);
        }
        let each = if *mask == 0 { Addresses::None } else { Addresses::Each(addresses) };
        self.visitor.instruction(*id, *mask, each, code)
    }
}

impl<V: Visitor> Visitor for Instructions<'_, V> {
    fn header(&mut self, header: &Header) {
        self.machine = Machine::nearest(header.binary_version);
        self.visitor.header(header);
    }

    fn begin(&mut self, cta: u64, warp: u32) {
        self.visitor.begin(cta, warp);
    }

    #[inline]
    fn instruction(
        &mut self,
        id: u32,
        mask: u32,
        addresses: Addresses<'_>,
        code: &Seen,
    ) -> Result<(), Problem> {
        if id as usize == self.global_line.len() {
            self.learn(code)?;
        }
        if self.held.is_some() || self.global_line.get(id as usize).is_some_and(Option::is_some) {
            return self.line(id, mask, addresses, code);
        }
        self.visitor.instruction(id, mask, addresses, code)
    }

    fn end(&mut self) -> Result<(), Problem> {
        if let Some(held) = self.held.take() {
            self.alone(&held)?;
        }
        self.visitor.end()
    }
}
