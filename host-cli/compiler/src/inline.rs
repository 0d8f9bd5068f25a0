//! Inlining: a kernel and the functions it calls become one body.
//!
//! Models: arguments and results in `.param` space as variables of the thread's frame, shared by
//! caller and callee; `.reg` parameters as moves; a callee's `ret` as a branch to the call's end;
//! a guard on a call as a branch around it; a call through a register as comparisons with the
//! addresses of the functions that it may call (`indirect`); registers of module scope.
//! Does not model: recursion, functions without a body other than the known ones; each is a
//! diagnostic.

mod clusters;
mod indirect;

pub use indirect::addressed;

use std::collections::BTreeMap;

use strata_ptx::diagnostic::{Diagnostic, counted};
use strata_ptx::module::{
    AddressBase, Function, FunctionId, Guard, Instruction, LabelId, Module, Operand, Register,
    Span, SpecialRegister, StateSpace, Symbol, Variable, VariableId, VirtualRegister,
};
use strata_ptx::opcode::Opcode;

use crate::frame::{Frame, Origin, placed_module_variable};
use crate::kernel::{Kernel, plain};
use crate::operands::map_registers;

/// Functions without a body that the executor knows.
pub const KNOWN_EXTERNALS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];
/// Deepest nesting of inlined calls.
pub const MAX_CALL_DEPTH: usize = 64;
/// Most instructions of a kernel with its calls inlined.
pub const MAX_INSTRUCTIONS: usize = 1 << 20;
/// Most inlined calls of a kernel: a callee without instructions of its own adds none.
pub const MAX_CALLS: u32 = 1 << 16;

/// Inlines every call of a kernel and drops unreachable code.
///
/// # Errors
///
/// Everything that cannot be compiled, each place once: recursion, calls of what no function of the
/// module can be, unknown functions, variables in spaces that a function cannot own, a body that
/// grows too large.
pub fn inline(module: &Module, kernel: FunctionId) -> Result<Kernel, Vec<Diagnostic>> {
    let Some(function) = module.functions.get(kernel.index()) else {
        let message = format!("the module has no function number {}", kernel.0);
        return Err(vec![Diagnostic::unsupported("no-kernel", Span::default(), message)]);
    };
    let mut inliner = Inliner::new(module);
    if !function.kernel || !function.defined {
        let message = format!("`{}` is not a kernel with a body", function.name);
        inliner.complain("no-kernel", function.span, message);
    } else if let Some(bindings) = inliner.bind_kernel(function) {
        inliner.expand(kernel, function, bindings);
        inliner.refuse_clusters(function);
    }
    if inliner.problems.is_empty() {
        Ok(inliner.finish(function))
    } else {
        let name = |problem: Diagnostic| problem.in_kernel(function.name.clone());
        Err(inliner.problems.into_iter().map(name).collect())
    }
}

/// What the variables of one function stand for in one inlined copy of it; `None` for `.reg` ones.
type Bindings = Vec<Option<VariableId>>;

/// One copy of a function being inlined: how its numbers map to the kernel's.
struct Copy<'a> {
    function: &'a Function,
    bindings: Bindings,
    first_register: u32,
    /// Registers of the module that it names, and what they are in the kernel.
    module_registers: Vec<(VirtualRegister, VirtualRegister)>,
    first_label: u32,
    first_table: u32,
    /// Label that stands behind the copy.
    end: LabelId,
    /// Is this the kernel itself?
    outermost: bool,
}

struct Inliner<'a> {
    module: &'a Module,
    frame: Frame,
    instructions: Vec<Instruction>,
    registers: Vec<Register>,
    targets: Vec<u32>,
    branch_tables: Vec<Vec<LabelId>>,
    /// Functions being inlined, outermost first.
    stack: Vec<FunctionId>,
    copies: u32,
    /// The kernel's registers that the module's are, by number in the module.
    module_registers: BTreeMap<u32, VirtualRegister>,
    /// Functions whose address is taken, ascending, once they were looked for.
    addressed: Option<Vec<FunctionId>>,
    problems: Vec<Diagnostic>,
}

impl<'a> Inliner<'a> {
    fn new(module: &'a Module) -> Self {
        Self {
            module,
            frame: Frame::default(),
            instructions: Vec::new(),
            registers: Vec::new(),
            targets: Vec::new(),
            branch_tables: Vec::new(),
            stack: Vec::new(),
            copies: 0,
            module_registers: BTreeMap::new(),
            addressed: None,
            problems: Vec::new(),
        }
    }

    /// Notes a problem, once for each place and rule.
    fn complain(&mut self, code: &'static str, span: Span, message: String) {
        if !self.problems.iter().any(|known| known.code == code && known.span == span) {
            self.problems.push(Diagnostic::unsupported(code, span, message));
        }
    }

    fn accept<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn too_large(&mut self, span: Span) -> bool {
        if self.instructions.len() >= MAX_INSTRUCTIONS {
            let inlined = if self.copies > 1 { " with its calls inlined" } else { "" };
            let message = format!("has more than {MAX_INSTRUCTIONS} instructions{inlined}");
            self.complain("too-many-instructions", span, message);
        } else if self.copies > MAX_CALLS {
            let message = format!("more than {MAX_CALLS} calls would be inlined");
            self.complain("too-many-calls", span, message);
        } else {
            return false;
        }
        true
    }

    /// Places the parameters of the kernel.
    fn bind_kernel(&mut self, function: &Function) -> Option<Bindings> {
        let parameters = &function.variables[..function.parameters as usize];
        parameters
            .iter()
            .map(|variable| {
                let placed = self.frame.parameter(variable);
                self.accept(placed).map(Some)
            })
            .collect()
    }

    /// Appends a copy of a function whose parameters and results are bound already.
    fn expand(&mut self, id: FunctionId, function: &'a Function, mut bindings: Bindings) {
        let copy_number = self.copies;
        self.copies += 1;
        let name = |name: &str| match copy_number {
            0 => name.to_owned(),
            number => format!("{name}.{number}"),
        };
        for index in bindings.len()..function.variables.len() {
            let bound = self.bind_variable(id, function, index, &name);
            bindings.push(bound);
        }
        let first_register = self.registers.len() as u32;
        let copy = Copy {
            function,
            bindings,
            first_register,
            module_registers: self.module_registers(function, first_register),
            first_label: self.targets.len() as u32,
            first_table: self.branch_tables.len() as u32,
            end: LabelId((self.targets.len() + function.labels.len()) as u32),
            outermost: copy_number == 0,
        };
        let registers = function.registers.iter();
        self.registers.extend(registers.map(|r| Register { name: name(&r.name), ty: r.ty }));
        self.targets.extend(std::iter::repeat_n(0, function.labels.len() + 1));
        for table in &function.branch_tables {
            let shift = |label: &LabelId| LabelId(label.0 + copy.first_label);
            self.branch_tables.push(table.iter().map(shift).collect());
        }
        self.stack.push(id);
        let starts = self.expand_body(&copy);
        self.stack.pop();
        for (index, label) in function.labels.iter().enumerate() {
            let start = starts.get(label.target as usize).copied();
            self.targets[copy.first_label as usize + index] =
                start.unwrap_or(self.instructions.len() as u32);
        }
        self.targets[copy.end.index()] = self.instructions.len() as u32;
    }

    /// What registers of the module are in a copy whose registers begin at `first` (DEV-123): the
    /// first copy
    /// that names one has it among its own, and the others share it.
    fn module_registers(
        &mut self,
        function: &Function,
        first: u32,
    ) -> Vec<(VirtualRegister, VirtualRegister)> {
        let shared = |&(register, number): &(VirtualRegister, u32)| {
            let own = VirtualRegister(register.0 + first);
            (register, *self.module_registers.entry(number).or_insert(own))
        };
        function.module_registers.iter().map(shared).collect()
    }

    fn bind_variable(
        &mut self,
        id: FunctionId,
        function: &Function,
        index: usize,
        name: &impl Fn(&str) -> String,
    ) -> Option<VariableId> {
        let variable = &function.variables[index];
        if variable.register.is_some() {
            return None;
        }
        let placed = match variable.space {
            StateSpace::Param | StateSpace::Local => {
                self.frame.local(name(&variable.name), variable)
            }
            StateSpace::Shared => {
                let origin = Origin::Function(id, VariableId(index as u32));
                self.frame.single(origin, variable)
            }
            StateSpace::Generic | StateSpace::Const | StateSpace::Global => {
                let message = format!(
                    "`{}`: only parameter, local and shared variables may stand in a function",
                    variable.name
                );
                Err(Diagnostic::unsupported("function-variable", variable.span, message))
            }
        };
        self.accept(placed)
    }

    /// Appends the body; returns where each of its instructions went.
    fn expand_body(&mut self, copy: &Copy<'a>) -> Vec<u32> {
        let mut starts = Vec::with_capacity(copy.function.body.len() + 1);
        let last = copy.function.body.len().wrapping_sub(1);
        for (index, instruction) in copy.function.body.iter().enumerate() {
            starts.push(self.instructions.len() as u32);
            if self.too_large(instruction.span) {
                break;
            }
            match instruction.opcode {
                Opcode::Call => self.call(copy, instruction),
                // The last instruction's return would be a branch to what follows anyway.
                Opcode::Ret if !copy.outermost && index == last => {}
                Opcode::Ret if !copy.outermost => {
                    let guard = instruction.guard.map(|guard| copy.guard(guard));
                    let mut branch = branch(guard, copy.end, instruction.span);
                    branch.modifiers.uniform = instruction.modifiers.uniform;
                    self.instructions.push(branch);
                }
                _ => {
                    let rewritten = self.rewrite(copy, instruction);
                    self.instructions.push(rewritten);
                }
            }
        }
        starts
    }

    /// Copies an instruction with the kernel's numbers in place of the function's.
    fn rewrite(&mut self, copy: &Copy<'a>, instruction: &Instruction) -> Instruction {
        let mut rewritten = instruction.clone();
        rewritten.guard = instruction.guard.map(|guard| copy.guard(guard));
        let operands = rewritten.destinations.iter_mut().chain(&mut rewritten.sources);
        for operand in operands {
            self.rewrite_operand(copy, operand, instruction.span);
        }
        rewritten
    }

    fn rewrite_operand(&mut self, copy: &Copy<'a>, operand: &mut Operand, span: Span) {
        map_registers(operand, &mut |register| copy.register(register));
        self.rewrite_symbols(copy, operand, span);
    }

    fn rewrite_symbols(&mut self, copy: &Copy<'a>, operand: &mut Operand, span: Span) {
        match operand {
            Operand::Symbol { symbol: Symbol::Function(id), offset } => {
                *operand = Operand::Integer(id.address().wrapping_add(*offset as u64));
            }
            Operand::Label(label) => label.0 += copy.first_label,
            Operand::BranchTable(table) => *table += copy.first_table,
            Operand::Symbol { symbol, .. }
            | Operand::Address { base: AddressBase::Symbol(symbol), .. } => {
                self.rewrite_symbol(copy, symbol, span);
            }
            Operand::Vector(elements) => {
                for element in elements {
                    self.rewrite_symbols(copy, element, span);
                }
            }
            _ => {}
        }
    }

    fn rewrite_symbol(&mut self, copy: &Copy<'a>, symbol: &mut Symbol, span: Span) {
        match *symbol {
            Symbol::Local(local) => {
                let bound = copy.bindings.get(local.index()).copied().flatten();
                if let Some(variable) = bound {
                    *symbol = Symbol::Local(variable);
                } else {
                    let message = "a `.reg` parameter has no address".to_owned();
                    self.complain("register-address", span, message);
                }
            }
            Symbol::Module(id) => {
                if let Some(variable) = placed_module_variable(self.module, id) {
                    let placed = self.frame.single(Origin::Module(id), variable);
                    if let Some(variable) = self.accept(placed) {
                        *symbol = Symbol::Local(variable);
                    }
                }
            }
            Symbol::Function(_) => {
                let message = "a function is no memory".to_owned();
                self.complain("function-address", span, message);
            }
        }
    }

    fn call(&mut self, copy: &Copy<'a>, instruction: &Instruction) {
        let Some(Operand::Symbol { symbol: Symbol::Function(id), .. }) =
            instruction.sources.first()
        else {
            return self.indirect_call(copy, instruction);
        };
        let module = self.module;
        let Some(callee) = module.functions.get(id.index()) else {
            let message = format!("the module has no function number {}", id.0);
            return self.complain("unknown-function", instruction.span, message);
        };
        if callee.defined {
            self.inline_call(copy, &direct(instruction, *id), *id, callee);
        } else if KNOWN_EXTERNALS.contains(&callee.name.as_str()) {
            let mut call = instruction.clone();
            call.guard = instruction.guard.map(|guard| copy.guard(guard));
            for operand in call.destinations.iter_mut().chain(call.sources.iter_mut().skip(1)) {
                self.rewrite_operand(copy, operand, instruction.span);
            }
            self.instructions.push(call);
        } else if is_of_device_runtime(&callee.name) {
            let message = format!("dynamic parallelism: `{}` cannot be executed", callee.name);
            self.complain("dynamic-parallelism", instruction.span, message);
        } else {
            let message = format!("function `{}` has no body and is not known", callee.name);
            self.complain("unknown-function", instruction.span, message);
        }
    }

    fn inline_call(
        &mut self,
        copy: &Copy<'a>,
        call: &Instruction,
        id: FunctionId,
        callee: &'a Function,
    ) {
        if self.stack.contains(&id) {
            let message = format!("`{}` calls itself: recursion is not supported", callee.name);
            return self.complain("recursion", call.span, message);
        }
        if self.stack.len() >= MAX_CALL_DEPTH {
            let message = format!("calls are nested more than {MAX_CALL_DEPTH} deep");
            return self.complain("calls-too-deep", call.span, message);
        }
        let (parameters, results) = (callee.parameters as usize, callee.results as usize);
        if call.sources.len() - 1 != parameters || call.destinations.len() != results {
            let message = format!(
                "`{}` takes {} and gives {}; the call has {} and {}",
                callee.name,
                counted(parameters, "argument"),
                counted(results, "result"),
                call.sources.len() - 1,
                call.destinations.len()
            );
            return self.complain("call-mismatch", call.span, message);
        }
        let around = self.branch_around(copy, call);
        self.inline_body(copy, call, id, callee);
        if let Some(end) = around {
            self.place(end);
        }
    }

    /// A branch over a call whose guard does not hold, to a label that is yet to be placed.
    fn branch_around(&mut self, copy: &Copy<'a>, call: &Instruction) -> Option<LabelId> {
        call.guard.map(|guard| {
            let guard = Guard { negated: !guard.negated, ..copy.guard(guard) };
            let end = self.label();
            self.instructions.push(branch(Some(guard), end, call.span));
            end
        })
    }

    /// A new label, yet to be placed.
    fn label(&mut self) -> LabelId {
        self.targets.push(0);
        LabelId(self.targets.len() as u32 - 1)
    }

    /// Places a label before the next instruction.
    fn place(&mut self, label: LabelId) {
        self.targets[label.index()] = self.instructions.len() as u32;
    }

    /// The moves into `.reg` parameters, the body, the moves out of `.reg` results.
    fn inline_body(
        &mut self,
        copy: &Copy<'a>,
        call: &Instruction,
        id: FunctionId,
        callee: &'a Function,
    ) {
        let parameters = callee.parameters as usize;
        let mut bindings = Bindings::new();
        // The registers of the copy begin where the kernel's end now; `expand` appends them.
        let first_register = self.registers.len() as u32;
        let formals =
            callee.variables.iter().zip(call.sources[1..].iter().chain(&call.destinations));
        for (index, (formal, actual)) in formals.enumerate() {
            let mut actual = actual.clone();
            self.rewrite_operand(copy, &mut actual, call.span);
            let Some(register) = formal.register else {
                bindings.push(self.bind_argument(formal, &actual, call.span));
                continue;
            };
            bindings.push(None);
            if index < parameters {
                let first = VirtualRegister(register.0 + first_register);
                for (formal, actual) in self.components(formal, first, actual, call.span) {
                    self.instructions.push(mov(
                        callee.variables[index].ty,
                        formal,
                        actual,
                        call.span,
                    ));
                }
            }
        }
        self.expand(id, callee, bindings);
        let results = callee.variables[parameters..].iter().zip(&call.destinations);
        for (formal, actual) in results {
            let Some(register) = formal.register else { continue };
            let mut actual = actual.clone();
            self.rewrite_operand(copy, &mut actual, call.span);
            let first = VirtualRegister(register.0 + first_register);
            let pairs = self.components(formal, first, actual, call.span).into_iter();
            for (given, actual) in pairs.filter(|(_, actual)| *actual != Operand::Sink) {
                self.instructions.push(mov(formal.ty, actual, given, call.span));
            }
        }
    }

    /// The registers of a `.reg` parameter or result, from its first one on, each with what the
    /// call has in its place.
    fn components(
        &mut self,
        formal: &Variable,
        first: VirtualRegister,
        actual: Operand,
        span: Span,
    ) -> Vec<(Operand, Operand)> {
        let actuals = match actual {
            Operand::Vector(elements) => elements,
            Operand::Sink => vec![Operand::Sink; usize::from(formal.vector)],
            single => vec![single],
        };
        if actuals.len() != usize::from(formal.vector) {
            let message = format!(
                "`{}` has {} components, the call gives it {}",
                formal.name,
                formal.vector,
                actuals.len()
            );
            self.complain("call-mismatch", span, message);
            return Vec::new();
        }
        let register = |index| Operand::Register(VirtualRegister(first.0 + index));
        (0..).map(register).zip(actuals).collect()
    }

    /// The caller's variable that a `.param` parameter or result stands for.
    fn bind_argument(
        &mut self,
        formal: &Variable,
        actual: &Operand,
        span: Span,
    ) -> Option<VariableId> {
        let variable = match actual {
            Operand::Symbol { symbol: Symbol::Local(variable), offset: 0 } => Some(*variable),
            _ => None,
        };
        let fits = |id: VariableId| {
            let actual = &self.frame.variables[id.index()];
            actual.size >= formal.size && actual.space == StateSpace::Local
        };
        if variable.is_none_or(|id| !fits(id)) {
            let message =
                format!("the argument for `{}` is no parameter variable of its size", formal.name);
            self.complain("call-mismatch", span, message);
        }
        variable
    }

    fn finish(mut self, function: &Function) -> Kernel {
        if self.instructions.iter().any(reads_reserved) {
            self.frame.reserve();
        }
        self.frame.finish();
        let mut kernel = Kernel {
            name: function.name.clone(),
            lines: Vec::new(),
            instructions: self.instructions,
            registers: self.registers,
            parameters: function.parameters,
            variables: self.frame.variables,
            targets: self.targets,
            branch_tables: self.branch_tables,
            shared_bytes: self.frame.shared_bytes,
            local_bytes: self.frame.local_bytes,
        };
        kernel.tidy(function.span, |span| self.module.line(span.start));
        kernel
    }
}

impl Copy<'_> {
    fn register(&self, register: VirtualRegister) -> VirtualRegister {
        let of_module = self.module_registers.iter().find(|(own, _)| *own == register);
        if let Some(&(_, shared)) = of_module {
            return shared;
        }
        VirtualRegister(register.0 + self.first_register)
    }

    fn guard(&self, guard: Guard) -> Guard {
        Guard { register: self.register(guard.register), negated: guard.negated }
    }
}

/// Whether a function belongs to the runtime with which kernels launch kernels: its names, such as
/// `cudaLaunchDeviceV2` and `__cudaCDP2GetParameterBufferV2`, begin as those of the host's runtime.
/// Those with `CG` synchronise grids.
fn is_of_device_runtime(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let Some(rest) = name.strip_prefix("cuda") else { return false };
    let rest = rest.strip_prefix("CDP2").or_else(|| rest.strip_prefix("CDP")).unwrap_or(rest);
    rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.starts_with("CG")
}

/// Whether an instruction asks for a place in the shared memory that the system software has.
pub fn reads_reserved(instruction: &Instruction) -> bool {
    let reserved =
        |operand: &Operand| matches!(operand, Operand::Special(SpecialRegister::ReservedSmem(_)));
    instruction.sources.iter().any(|source| match source {
        Operand::Vector(elements) => elements.iter().any(reserved),
        other => reserved(other),
    })
}

/// A call of a function that is known, without a prototype behind its arguments.
fn direct(call: &Instruction, id: FunctionId) -> Instruction {
    let mut call = call.clone();
    call.sources.retain(|operand| !matches!(operand, Operand::Label(_)));
    call.sources[0] = Operand::Symbol { symbol: Symbol::Function(id), offset: 0 };
    call
}

fn branch(guard: Option<Guard>, target: LabelId, span: Span) -> Instruction {
    Instruction { guard, sources: vec![Operand::Label(target)], ..plain(Opcode::Bra, span) }
}

fn mov(
    ty: strata_ptx::types::ScalarType,
    destination: Operand,
    source: Operand,
    span: Span,
) -> Instruction {
    Instruction {
        types: vec![ty],
        destinations: vec![destination],
        sources: vec![source],
        ..plain(Opcode::Mov, span)
    }
}
