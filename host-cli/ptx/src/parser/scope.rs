//! Names inside a function: registers, variables and labels, by block.

use rustc_hash::{FxHashMap, FxHashSet};

use super::attributes::Numbered;
use crate::module::{
    Callees, Function, Label, LabelId, Module, Operand, Register, Span, StateSpace, Variable,
    VariableId, VirtualRegister,
};
use crate::types::ScalarType;

/// Deepest nesting of blocks.
pub(super) const DEPTH_MAX: usize = 64;

/// What a name in a block stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// A register that some instruction has named.
    Register(VirtualRegister),
    /// A register that is declared, and not used so far.
    Declared(ScalarType),
    /// A register of several components (`.reg .v4 .f32 v`).
    Vector(ScalarType, u8),
    /// A variable of the function.
    Variable(VariableId),
    /// A variable in global or constant memory, which all functions share.
    Global(VariableId),
    /// A variable that a numbered name declares, and not used so far.
    Numbered(Numbered),
}

/// What a label stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A place.
    Label(LabelId),
    /// A list of places.
    Table(u32),
    /// Functions, or what an unknown one looks like.
    CallPrototype(LabelId),
}

/// What a use of a label takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Label,
    Table,
    CallPrototype,
}

/// `%r<count>`: numbered registers or variables.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// What one of its names stands for before it is used.
    each: Name,
    count: u64,
}

/// Numbered names, by what stands before the number.
#[derive(Debug, Default)]
pub(super) struct Ranges<'a>(FxHashMap<&'a str, Range>);

impl<'a> Ranges<'a> {
    /// Declares `prefix<count>`; false when there is one already.
    pub(super) fn declare(&mut self, prefix: &'a str, each: Name, count: u64) -> bool {
        self.0.insert(prefix, Range { each, count }).is_none()
    }

    /// What a numbered name stands for. A name may be cut at several places: `%r12` is in `%r<20>`
    /// and in `%r1<3>`.
    pub(super) fn find(&self, name: &str) -> Option<Name> {
        if self.0.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take(20).take_while(u8::is_ascii_digit).count();
        (1..=digits).rev().find_map(|length| {
            let (prefix, number) = name.split_at(name.len() - length);
            if length > 1 && number.starts_with('0') {
                return None;
            }
            let range = self.0.get(prefix)?;
            number.parse().ok().filter(|&number: &u64| number < range.count).map(|_| range.each)
        })
    }
}

/// One block.
#[derive(Debug, Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, Name>,
    ranges: Ranges<'a>,
    labels: FxHashMap<&'a str, Target>,
    parent: Option<usize>,
}

impl<'a> Scope<'a> {
    /// Declares a name; false when the block has it already, perhaps among numbered ones.
    fn declare(&mut self, name: &'a str, meaning: Name) -> bool {
        let numbered = self.ranges.find(name).is_some();
        self.names.insert(name, meaning).is_none() && !numbered
    }
}

/// A label that is used, perhaps before it is declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference<'a> {
    name: &'a str,
    scope: usize,
    pub(super) span: Span,
    pub(super) wanted: Wanted,
}

/// The function being read.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) function: Function,
    scopes: Vec<Scope<'a>>,
    current: usize,
    depth: usize,
    /// Components of vector registers in use, by block, name and position.
    components: FxHashMap<(usize, &'a str, usize), VirtualRegister>,
    /// Registers of sums that stand in operands, which no instruction may write.
    sums: FxHashSet<VirtualRegister>,
    /// Until the function ends, label operands index this.
    pub(super) references: Vec<Reference<'a>>,
}

/// Registers of module scope, as every function finds them around its own.
#[derive(Debug, Default)]
pub(super) struct ModuleRegisters<'a> {
    scope: Scope<'a>,
    /// Numbers of those that some function names.
    pub(super) numbers: FxHashMap<&'a str, u32>,
}

impl<'a> ModuleRegisters<'a> {
    /// Declares a name; false when the module has it already.
    pub(super) fn declare(&mut self, name: &'a str, ty: ScalarType) -> bool {
        self.scope.declare(name, Name::Declared(ty))
    }

    /// Declares `prefix<count>`; false when the module has it already.
    pub(super) fn declare_range(&mut self, prefix: &'a str, ty: ScalarType, count: u64) -> bool {
        self.scope.ranges.declare(prefix, Name::Declared(ty), count)
    }

    /// Type of a register, if it is one of the module's.
    pub(super) fn find(&self, name: &str) -> Option<ScalarType> {
        let found = self.scope.names.get(name).copied().or_else(|| self.scope.ranges.find(name));
        match found {
            Some(Name::Declared(ty)) => Some(ty),
            _ => None,
        }
    }
}

impl Default for Body<'_> {
    fn default() -> Self {
        Self {
            function: Function::default(),
            scopes: vec![Scope::default()],
            current: 0,
            depth: 1,
            components: FxHashMap::default(),
            sums: FxHashSet::default(),
            references: Vec::new(),
        }
    }
}

impl<'a> Body<'a> {
    /// Opens a block; false when it would be too deep.
    pub(super) fn open(&mut self) -> bool {
        if self.depth == DEPTH_MAX {
            return false;
        }
        self.scopes.push(Scope { parent: Some(self.current), ..Scope::default() });
        self.current = self.scopes.len() - 1;
        self.depth += 1;
        true
    }

    /// Closes the innermost block; false when it is the function's own.
    pub(super) fn close(&mut self) -> bool {
        let Some(parent) = self.scopes[self.current].parent else { return false };
        self.current = parent;
        self.depth -= 1;
        true
    }

    /// Whether the innermost block is the function's own.
    pub(super) fn is_outermost(&self) -> bool {
        self.scopes[self.current].parent.is_none()
    }

    /// Scopes from the given one outwards.
    fn outwards(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(from), |&scope| self.scopes[scope].parent)
    }

    /// Declares a name; false when the block has it already.
    pub(super) fn declare(&mut self, name: &'a str, meaning: Name) -> bool {
        self.scopes[self.current].declare(name, meaning)
    }

    /// Declares `prefix<count>`, names of which each has this meaning; false when the block has it
    /// already.
    pub(super) fn declare_range(&mut self, prefix: &'a str, each: Name, count: u64) -> bool {
        self.scopes[self.current].ranges.declare(prefix, each, count)
    }

    /// Declares a label; false when the block has it already.
    pub(super) fn declare_label(&mut self, name: &'a str) -> bool {
        let id = self.add_label(name);
        self.scopes[self.current].labels.insert(name, Target::Label(id)).is_none()
    }

    /// Declares a `.callprototype` or `.calltargets`; false when the block has the name already.
    pub(super) fn declare_callees(&mut self, name: &'a str, callees: Callees) -> bool {
        let id = self.add_label(name);
        self.function.call_tables.push((id, callees));
        self.scopes[self.current].labels.insert(name, Target::CallPrototype(id)).is_none()
    }

    fn add_label(&mut self, name: &str) -> LabelId {
        let target = self.function.body.len() as u32;
        self.function.labels.push(Label { name: name.to_owned(), target });
        LabelId(self.function.labels.len() as u32 - 1)
    }

    /// Declares a branch table; false when the block has the name already.
    pub(super) fn declare_table(&mut self, name: &'a str, targets: Vec<LabelId>) -> bool {
        let id = self.function.branch_tables.len() as u32;
        self.function.branch_tables.push(targets);
        self.scopes[self.current].labels.insert(name, Target::Table(id)).is_none()
    }

    /// Notes the use of a label. The number returned is that of the reference.
    pub(super) fn refer(&mut self, name: &'a str, span: Span, wanted: Wanted) -> LabelId {
        self.references.push(Reference { name, scope: self.current, span, wanted });
        LabelId(self.references.len() as u32 - 1)
    }

    /// What a reference refers to.
    pub(super) fn resolve(&self, reference: &Reference<'a>) -> Option<Target> {
        self.outwards(reference.scope)
            .find_map(|scope| self.scopes[scope].labels.get(reference.name).copied())
    }

    /// Finds a register or variable, innermost block first. Registers become used, and so do
    /// numbered variables, of which those that all functions share belong to the `module`.
    pub(super) fn find(&mut self, name: &'a str, module: &mut Module) -> Option<Name> {
        let mut next = Some(self.current);
        while let Some(scope) = next {
            let named = self.scopes[scope].names.get(name).copied();
            match named.or_else(|| self.scopes[scope].ranges.find(name)) {
                Some(Name::Declared(ty)) => return Some(self.use_register(scope, name, ty)),
                Some(Name::Numbered(each)) => {
                    let used = self.add_variable(each.variable(name), module);
                    self.scopes[scope].names.insert(name, used);
                    return Some(used);
                }
                Some(found) => {
                    // Components are looked for among the names.
                    self.scopes[scope].names.entry(name).or_insert(found);
                    return Some(found);
                }
                None => next = self.scopes[scope].parent,
            }
        }
        None
    }

    /// Adds the register of a name that is used for the first time.
    pub(super) fn use_register(&mut self, scope: usize, name: &'a str, ty: ScalarType) -> Name {
        let id = self.add_register(name.to_owned(), ty);
        self.scopes[scope].names.insert(name, Name::Register(id));
        Name::Register(id)
    }

    /// Adds a variable to the function, or to the module where all functions share it.
    pub(super) fn add_variable(&mut self, variable: Variable, module: &mut Module) -> Name {
        if matches!(variable.space, StateSpace::Global | StateSpace::Const) {
            // The host finds variables by name: one of a function has its function's before it.
            let name = format!("{}.{}", self.function.name, variable.name);
            module.variables.push(Variable { name, ..variable });
            return Name::Global(VariableId(module.variables.len() as u32 - 1));
        }
        self.function.variables.push(variable);
        Name::Variable(VariableId(self.function.variables.len() as u32 - 1))
    }

    /// Adds a register to the function.
    pub(super) fn add_register(&mut self, name: String, ty: ScalarType) -> VirtualRegister {
        self.function.registers.push(Register { name, ty });
        VirtualRegister(self.function.registers.len() as u32 - 1)
    }

    /// Adds the register of a sum that stands in an operand.
    pub(super) fn add_sum(&mut self, name: String, ty: ScalarType) -> VirtualRegister {
        let sum = self.add_register(name, ty);
        self.sums.insert(sum);
        sum
    }

    /// Whether an operand is a sum, or a vector with one.
    pub(super) fn is_sum(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Register(register) => self.sums.contains(register),
            Operand::Vector(elements) => elements.iter().any(|element| self.is_sum(element)),
            _ => false,
        }
    }

    /// Adds the register of a parameter to the function, or the registers of its components, one
    /// after the other.
    pub(super) fn add_parameter(&mut self, name: &'a str, variable: &mut Variable) -> Name {
        let (ty, components) = (variable.ty, variable.vector);
        if components == 1 {
            let register = self.add_register(name.to_owned(), ty);
            variable.register = Some(register);
            return Name::Register(register);
        }
        variable.register = Some(VirtualRegister(self.function.registers.len() as u32));
        for index in 0..usize::from(components) {
            let id = self.add_register(component_name(name, index), ty);
            self.components.insert((self.current, name, index), id);
        }
        Name::Vector(ty, components)
    }

    /// One component of the innermost vector register `name`.
    pub(super) fn component(
        &mut self,
        name: &'a str,
        ty: ScalarType,
        index: usize,
    ) -> VirtualRegister {
        let scope = self
            .outwards(self.current)
            .find(|&scope| self.scopes[scope].names.contains_key(name))
            .unwrap_or(self.current);
        if let Some(id) = self.components.get(&(scope, name, index)) {
            return *id;
        }
        let id = self.add_register(component_name(name, index), ty);
        self.components.insert((scope, name, index), id);
        id
    }

    /// Names that a suggestion may come from; ranges give the name with its number cut to size.
    pub(super) fn known_names(&self, name: &str) -> Vec<String> {
        const NAMES_MAX: usize = 4096;
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number = &name[name.len() - digits..];
        let mut known = Vec::new();
        for scope in self.outwards(self.current) {
            let scope = &self.scopes[scope];
            let ranges = scope.ranges.0.iter().take(NAMES_MAX);
            known.extend(ranges.map(|(prefix, range)| {
                let wanted = number.parse::<u64>().unwrap_or(0);
                format!("{prefix}{}", wanted.min(range.count.saturating_sub(1)))
            }));
            known.extend(scope.names.keys().take(NAMES_MAX).map(|&name| name.to_owned()));
        }
        // The maps have no order of their own, and equal suggestions must not depend on it.
        known.sort_unstable();
        known
    }

    /// Labels that a suggestion may come from.
    pub(super) fn known_labels(&self) -> Vec<&'a str> {
        let mut labels: Vec<&str> =
            self.scopes.iter().flat_map(|scope| scope.labels.keys().copied()).take(4096).collect();
        labels.sort_unstable();
        labels
    }

    /// The text of a reference.
    pub(super) fn reference_name(reference: &Reference<'a>) -> &'a str {
        reference.name
    }
}

/// `v.x` and so on; components beyond the fourth have no letters.
fn component_name(name: &str, index: usize) -> String {
    match ["x", "y", "z", "w"].get(index) {
        Some(letter) => format!("{name}.{letter}"),
        None => format!("{name}.{index}"),
    }
}
