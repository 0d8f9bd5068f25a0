//! One instruction: what it is, what it may wait for, and its operands.

use std::fmt::Write as _;

use strata_compiler::explain::Slot;
use strata_compiler::listing::unit_name;
use strata_compiler::program::Origin;
use strata_core::datapath::Datapath;
use strata_core::image::{Flags, StaticInstruction, Unit};
use strata_core::units::Femtojoules;
use strata_ptx::module::VirtualRegister;

use super::page::{Page, picojoules, row};

/// A register of a whole warp.
const BYTES: usize = 128;

impl Page<'_> {
    /// The page of an instruction.
    pub(super) fn instruction(&self, pc: usize) -> String {
        let record = self.record(pc);
        let name = &self.program.name;
        let mut text = format!("{name}, instruction {pc} in block B{}\n", self.blocks[pc]);
        let _ = writeln!(text, "  {}", self.instructions[pc]);
        row(&mut text, "unit", &unit(record));
        self.origin(&mut text, pc);
        if let Some(fit) = self.fitted {
            fit.strand(self, &mut text, pc);
        }
        self.waits(&mut text, pc);
        let slots = self.explainer.slots(pc);
        for slot in slots.iter().filter(|slot| !slot.result) {
            self.read(&mut text, pc, slot);
            self.level(&mut text, pc, slot);
        }
        let predicates = self.explainer.predicates(pc);
        for &(predicate, _) in predicates.iter().filter(|(_, result)| !result) {
            let written = self.written(&self.explainer.value(predicate).definitions);
            self.predicate(&mut text, "read", predicate, &written);
        }
        for slot in slots.iter().filter(|slot| slot.result) {
            self.write(&mut text, pc, slot);
            self.level(&mut text, pc, slot);
        }
        for &(predicate, _) in predicates.iter().filter(|(_, result)| *result) {
            let read = match &*self.explainer.value(predicate).reads {
                [] => "never read".to_owned(),
                reads => format!("read at {}", self.places(reads)),
            };
            self.predicate(&mut text, "write", predicate, &read);
        }
        self.energy(&mut text, pc, &slots);
        text
    }

    fn predicate(&self, text: &mut String, access: &str, register: VirtualRegister, places: &str) {
        let register = &self.program.registers[register.index()];
        let value = format!("{}, {places}; predicates are not in the register file", register.name);
        row(text, &format!("{access} {}", register.location), &value);
    }

    /// What the register accesses of one execution cost.
    fn energy(&self, text: &mut String, pc: usize, slots: &[Slot]) {
        let shared = self.record(pc).unit.is_shared_datapath();
        let access = |slot: &Slot| if slot.result { "write" } else { "read" };
        let flat = slots.iter().map(|slot| Some(self.cost("MRF", access(slot), shared)?.0));
        let Some(flat) = flat.sum::<Option<u64>>().filter(|_| !slots.is_empty()) else { return };
        let bytes = slots.len() * BYTES;
        let flat = picojoules(Femtojoules(flat));
        let value = match self.fitted {
            Some(fit) => {
                let here = picojoules(fit.energy(self, pc, slots));
                format!("{here} for {bytes} B of operands; all from and to the MRF: {flat}")
            }
            None => format!("{bytes} B of operands; all from and to the MRF: {flat}"),
        };
        row(text, "energy", &value);
    }

    fn written(&self, definitions: &[u32]) -> String {
        match definitions {
            [] => "never written".to_owned(),
            _ => format!("written at {}", self.places(definitions)),
        }
    }

    fn origin(&self, text: &mut String, pc: usize) {
        let register = |id: VirtualRegister| {
            self.kernel.registers.get(id.index()).map_or("?", |register| &register.name)
        };
        let what = match self.program.instructions[pc].origin {
            Origin::Kernel(_) => return,
            Origin::Store(id) => format!("stores `{}` to its slot in local memory", register(id)),
            Origin::Fill(id) => format!("loads `{}` from its slot in local memory", register(id)),
            Origin::Again(definition) => {
                let line = self.kernel.lines.get(definition as usize).copied().unwrap_or_default();
                format!("makes the value of line {line} again, which is not worth a slot")
            }
        };
        row(text, "spilling", &what);
    }

    fn waits(&self, text: &mut String, pc: usize) {
        let flags = self.record(pc).flags;
        if flags.contains(Flags::BARRIER) {
            row(text, "waits", "at a barrier: the warp is descheduled");
        }
        if !flags.contains(Flags::DESCHEDULE_BEFORE) {
            return;
        }
        let what = if self.two_level() {
            "marked: the warp is descheduled before it if one of these is pending"
        } else {
            "marked, but this design never deschedules; these may be pending"
        };
        row(text, "waits", what);
        for pending in self.explainer.pending(pc) {
            let from = pending.from.iter().map(|&from| {
                let instruction = &self.instructions[from as usize];
                format!("{}: {instruction}", self.place(from as usize))
            });
            let from = from.collect::<Vec<_>>().join("; ");
            row(text, "", &format!("R{} from {from}", pending.register.0));
        }
    }

    fn read(&self, text: &mut String, pc: usize, slot: &Slot) {
        let record = self.record(pc);
        let reaching = self.explainer.reaching(pc, slot.register, None);
        let mut what =
            format!("{}, {}", self.name(slot.value), self.written(&reaching.definitions));
        if reaching.older && !reaching.definitions.is_empty() {
            what += " or, on some path, not at all";
        }
        row(text, &format!("read R{}", slot.register.0), &what);
        let bit = |bits: u32| bits >> slot.index & 1 != 0;
        let value = self.explainer.value(slot.value);
        let others: Vec<u32> =
            value.reads.iter().copied().filter(|&read| read as usize != pc).collect();
        let read = if bit(record.last_use) {
            "last read of its value on every path".to_owned()
        } else if others.is_empty() {
            // Lanes that wait may still read it, or the same instruction again.
            "its value is read nowhere else".to_owned()
        } else {
            let near = bit(record.last_use_before_deschedule);
            let near = if near { ", but not before the next possible deschedule" } else { "" };
            format!("its value is also read at {}{near}", self.places(&others))
        };
        row(text, "", &read);
    }

    fn write(&self, text: &mut String, pc: usize, slot: &Slot) {
        let record = self.record(pc);
        let bit = |bits: u32| bits >> slot.index & 1 != 0;
        let value = self.explainer.value(slot.value);
        let read = if bit(record.never_read) {
            "never read".to_owned()
        } else {
            let near = bit(record.not_read_before_deschedule);
            let near = if near { ", not before the next possible deschedule" } else { "" };
            format!("read at {}{near}", self.places(&value.reads))
        };
        let others: Vec<u32> =
            value.definitions.iter().copied().filter(|&other| other as usize != pc).collect();
        let also = match &*others {
            [] => String::new(),
            others => format!("; also written at {}", self.places(others)),
        };
        let label = format!("write R{}", slot.register.0);
        row(text, &label, &format!("{}, {read}{also}", self.name(slot.value)));
    }

    fn level(&self, text: &mut String, pc: usize, slot: &Slot) {
        match self.fitted {
            Some(fit) => fit.level(self, text, pc, slot),
            None => self.hardware_level(text, pc, slot),
        }
    }
}

fn unit(record: &StaticInstruction) -> String {
    let datapath = match record.unit {
        Unit::Control => "no",
        unit => Datapath::of(unit).name(),
    };
    let latency = if record.flags.contains(Flags::LONG_LATENCY) { "long" } else { "short" };
    format!("{}, {datapath} datapath, {latency} latency", unit_name(record))
}
