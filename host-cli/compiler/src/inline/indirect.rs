//! Calls through registers: comparisons of the address with each function that may be meant.
//! (DEV-120)
//!
//! Models: a function whose address is taken, or that `.calltargets` names, and whose parameters
//! and results are those of the call; a call that would be recursive if it met its address, as one
//! that meets none. What meets none stays a `call` of the register, which is a fault when it is
//! executed.

use strata_ptx::module::{
    Callees, Function, FunctionId, Guard, Instruction, Module, Operand, Register, Symbol, Variable,
    VirtualRegister,
};
use strata_ptx::opcode::{Comparison, Opcode};
use strata_ptx::types::ScalarType;

use super::{Copy, Inliner, branch, direct};
use crate::kernel::plain;

impl<'a> Inliner<'a> {
    /// Inlines a call through a register.
    pub(super) fn indirect_call(&mut self, copy: &Copy<'a>, call: &Instruction) {
        let Some(&Operand::Register(register)) = call.sources.first() else {
            let message = "only functions can be called".to_owned();
            return self.complain("indirect-call", call.span, message);
        };
        let candidates = self.candidates(copy, call);
        if candidates.is_empty() {
            let message = "no function whose address is taken has the parameters and results of \
                           this call";
            return self.complain("indirect-call", call.span, message.to_owned());
        }
        let around = self.branch_around(copy, call);
        let (address, end) = (copy.register(register), self.label());
        let module = self.module;
        for id in candidates.into_iter().filter(|id| !self.stack.contains(id)).collect::<Vec<_>>() {
            if self.too_large(call.span) {
                break;
            }
            let next = self.label();
            self.compare(address, id, call);
            let differs = VirtualRegister(self.registers.len() as u32 - 1);
            let guard = Guard { register: differs, negated: false };
            self.instructions.push(branch(Some(guard), next, call.span));
            let callee = &module.functions[id.index()];
            self.inline_call(copy, &Instruction { guard: None, ..direct(call, id) }, id, callee);
            self.instructions.push(branch(None, end, call.span));
            self.place(next);
        }
        let sources = vec![Operand::Register(address)];
        self.instructions.push(Instruction { sources, ..plain(Opcode::Call, call.span) });
        self.place(end);
        if let Some(end) = around {
            self.place(end);
        }
    }

    /// Sets a new predicate where an address is not a function's.
    fn compare(&mut self, address: VirtualRegister, id: FunctionId, call: &Instruction) {
        let wide = self.registers[address.index()].ty.bits() == 64;
        let ty = if wide { ScalarType::B64 } else { ScalarType::B32 };
        let differs = VirtualRegister(self.registers.len() as u32);
        let name = format!("%call.{}", differs.0);
        self.registers.push(Register { name, ty: ScalarType::Pred });
        let mut compare = Instruction {
            types: vec![ty],
            destinations: vec![Operand::Register(differs)],
            sources: vec![Operand::Register(address), Operand::Integer(id.address())],
            ..plain(Opcode::Setp, call.span)
        };
        compare.modifiers.comparison = Some(Comparison::Ne);
        self.instructions.push(compare);
    }

    /// Functions with bodies that a call through a register may mean, in the order of the module.
    fn candidates(&mut self, copy: &Copy<'a>, call: &Instruction) -> Vec<FunctionId> {
        let table = call.sources.iter().find_map(|operand| match operand {
            Operand::Label(label) => copy.function.call_tables.iter().find(|of| of.0 == *label),
            _ => None,
        });
        let mut ids = match table {
            Some((_, Callees::Named(ids))) => ids.clone(),
            _ => self.addressed.get_or_insert_with(|| addressed(self.module)).clone(),
        };
        ids.sort_unstable();
        ids.dedup();
        let arguments = call.sources[1..].iter().filter(|o| !matches!(o, Operand::Label(_)));
        let passed = (arguments.count(), call.destinations.len());
        ids.retain(|id| {
            self.module.functions.get(id.index()).is_some_and(|function| {
                let same = (function.parameters as usize, function.results as usize) == passed;
                function.defined && !function.kernel && same && suits(function, table)
            })
        });
        ids
    }
}

/// Whether a function is as the prototype of a call says.
fn suits(function: &Function, table: Option<&(strata_ptx::module::LabelId, Callees)>) -> bool {
    let Some((_, Callees::Prototype { parameters, results })) = table else { return true };
    let formals = &function.variables[..(function.parameters + function.results) as usize];
    let same = |(formal, wanted): (&Variable, &Variable)| {
        formal.size == wanted.size
            && formal.register.is_some() == wanted.register.is_some()
            && (formal.register.is_none() || formal.vector == wanted.vector)
    };
    formals.len() == parameters.len() + results.len()
        && formals.iter().zip(parameters.iter().chain(results)).all(same)
}

/// Functions whose address an instruction takes or a variable holds at first, ascending: what calls
/// through registers may call.
pub fn addressed(module: &Module) -> Vec<FunctionId> {
    let operands = module.functions.iter().flat_map(|function| &function.body).flat_map(|item| {
        let called = usize::from(item.opcode == Opcode::Call);
        item.sources.iter().skip(called).filter_map(|operand| match operand {
            Operand::Symbol { symbol, .. } => Some(*symbol),
            _ => None,
        })
    });
    let held = module.variables.iter().filter_map(|variable| variable.initial.as_ref());
    let held = held.flat_map(|initial| &initial.addresses).map(|address| address.symbol);
    let mut ids: Vec<FunctionId> = operands
        .chain(held)
        .filter_map(|symbol| match symbol {
            Symbol::Function(id) => Some(id),
            Symbol::Module(_) | Symbol::Local(_) => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
