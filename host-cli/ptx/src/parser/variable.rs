//! Declarations: registers, variables, parameters.

use super::attributes::{Attributes, Numbered, element_bytes};
use super::scope::Name;
use super::{Parser, Reported, Result};
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::module::{Linkage, Span, StateSpace, Symbol, Variable, VariableId};
use crate::types::{Kind, ScalarType};

/// Most dimensions of an array.
const DIMENSIONS_MAX: usize = 32;
/// Largest alignment. Unit: bytes.
const ALIGN_MAX: u64 = 1 << 16;

/// Words that begin the declaration of a variable.
pub(super) const SPACES: &[&str] =
    &["global", "const", "shared", "local", "param", "texref", "surfref", "samplerref", "tex"];

impl<'a> Parser<'a> {
    /// `.reg .b32 %r<10>, %s;` after its `.reg`.
    pub(super) fn registers(&mut self) -> Result<()> {
        let attributes = self.register_type()?;
        loop {
            let (name, span) = self.identifier("the name of a register")?;
            let meaning = match attributes.vector {
                1 => Name::Declared(attributes.ty),
                components => Name::Vector(attributes.ty, components),
            };
            let fresh = match self.count()? {
                Some(count) => self.body.declare_range(name, meaning, count),
                None => self.body.declare(name, meaning),
            };
            if !fresh {
                self.redeclared(name, span)?;
            }
            if !self.eat(Token::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// `.reg .b32 %r<10>, %s;` at module scope, after its `.reg`.
    pub(super) fn module_registers(&mut self) -> Result<()> {
        let attributes = self.register_type()?;
        loop {
            let (name, span) = self.identifier("the name of a register")?;
            if attributes.vector > 1 {
                let message = "vector registers of module scope cannot be executed yet";
                let unsupported = Diagnostic::unsupported("module-register", span, message);
                return Err(self.report(unsupported));
            }
            let fresh = match self.count()? {
                Some(count) => self.module_registers.declare_range(name, attributes.ty, count),
                None => self.module_registers.declare(name, attributes.ty),
            };
            if !fresh {
                self.redeclared(name, span)?;
            }
            if !self.eat(Token::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// The `<10>` of `%r<10>`, if it is there.
    fn count(&mut self) -> Result<Option<u64>> {
        if !self.eat(Token::Less) {
            return Ok(None);
        }
        let count = self.range_count()?;
        self.expect(Token::Greater, "`>` after the number of names")?;
        Ok(Some(count))
    }

    /// Vector and type of a register.
    fn register_type(&mut self) -> Result<Attributes> {
        let span = self.span();
        let attributes = self.attributes(StateSpace::Generic, Linkage::Internal)?;
        if attributes.ty.kind() == Kind::Opaque {
            return Err(self.error("bad-type", span, "a register cannot have an opaque type"));
        }
        if attributes.vector > 4 {
            let message = "a vector register has 2 or 4 components";
            return Err(self.error("vector-length", span, message));
        }
        Ok(attributes)
    }

    /// Vector, alignment, type and pointer attributes, in any order, each once.
    pub(super) fn attributes(&mut self, space: StateSpace, linkage: Linkage) -> Result<Attributes> {
        let mut ty = None;
        let mut vector = None;
        let mut align = None;
        let mut pointer = None;
        let mut given: Vec<&str> = Vec::new();
        while let Some(word) = self.dot_word() {
            let span = self.bump().span;
            match word {
                // Of a register, which has no address.
                "align" | "attribute" | "ptr" if space == StateSpace::Generic => {
                    return Err(self.bad_type(word, span));
                }
                "align" | "attribute" | "ptr" if given.contains(&word) => {
                    return Err(self.given_twice(span));
                }
                "v2" | "v4" | "v8" if vector.is_some() => return Err(self.given_twice(span)),
                "align" => align = Some(self.alignment()?),
                "v2" => vector = Some(2),
                "v4" => vector = Some(4),
                "v8" => vector = Some(8),
                "attribute" => self.attribute_list()?,
                "ptr" => pointer = Some(self.pointer_attributes()?),
                _ => match ScalarType::from_name(word) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    Some(_) => {
                        return Err(self.error("two-types", span, "a second type is given"));
                    }
                    None => return Err(self.bad_type(word, span)),
                },
            }
            given.push(word);
        }
        let Some(ty) = ty else { return Err(self.expected("a type such as `.u32`")) };
        Ok(Attributes { space, linkage, ty, vector: vector.unwrap_or(1), align, pointer })
    }

    fn bad_type(&mut self, word: &str, span: Span) -> Reported {
        let message = format!("`.{}` is not a type", super::shorten(word));
        let hint = self
            .suggest(word, || ScalarType::ALL.iter().map(|ty| ty.name()).collect())
            .map(|hint| hint.replacen('`', "`.", 1));
        self.error_with_hint("unknown-type", span, message, hint)
    }

    /// The number after `.align`.
    fn alignment(&mut self) -> Result<u32> {
        let span = self.span();
        let align = self.integer()?;
        if align.is_power_of_two() && align <= ALIGN_MAX {
            return Ok(align as u32);
        }
        let message = format!("{align} is not an alignment");
        let hint = format!("an alignment is a power of two up to {ALIGN_MAX}");
        Err(self.error_with_hint("bad-alignment", span, message, Some(hint)))
    }

    /// `.ptr .global .align 4`: the space that a kernel parameter points into.
    fn pointer_attributes(&mut self) -> Result<StateSpace> {
        let space = match self.dot_word() {
            Some("global") => StateSpace::Global,
            Some("const") => StateSpace::Const,
            Some("shared") => StateSpace::Shared,
            Some("local") => StateSpace::Local,
            _ => StateSpace::Generic,
        };
        if space != StateSpace::Generic {
            self.bump();
        }
        if self.eat_dot("align") {
            self.alignment()?;
        }
        Ok(space)
    }

    /// `(.managed)`, `(.unified(1, 2))`, or both: nothing depends on them.
    pub(super) fn attribute_list(&mut self) -> Result<()> {
        self.expect(Token::LeftParenthesis, "`(`")?;
        loop {
            match self.dot_word() {
                Some("managed") => {
                    self.bump();
                }
                Some("unified") => {
                    self.bump();
                    self.expect(Token::LeftParenthesis, "`(`")?;
                    self.integer()?;
                    self.expect(Token::Comma, "`,`")?;
                    self.integer()?;
                    self.expect(Token::RightParenthesis, "`)`")?;
                }
                _ => return Err(self.expected("`.managed` or `.unified`")),
            }
            if !self.eat(Token::Comma) {
                self.expect(Token::RightParenthesis, "`,` or `)`")?;
                return Ok(());
            }
        }
    }

    /// A variable declaration from its space on, up to and including the `;`.
    pub(super) fn variables(&mut self, linkage: Linkage, global: bool) -> Result<()> {
        let word = self.dot_word().unwrap_or_default();
        let attributes = if let Some(ty) = opaque_type(word) {
            self.bump();
            Attributes {
                space: StateSpace::Global,
                linkage,
                ty,
                vector: 1,
                align: None,
                pointer: None,
            }
        } else if word == "tex" {
            // PTX 1.x: `.tex .u32 name` is what `.global .texref name` is now.
            self.bump();
            let attributes = self.attributes(StateSpace::Global, linkage)?;
            Attributes { ty: ScalarType::Texref, ..attributes }
        } else {
            let Some(space) = space_named(word) else {
                return Err(self.expected("a state space such as `.global`"));
            };
            self.bump();
            self.attributes(space, linkage)?
        };
        loop {
            if self.peek_at(1) == Token::Less {
                self.numbered_variables(attributes, global)?;
            } else {
                let (name, mut variable) = self.variable(attributes)?;
                let contents = self.contents(attributes, &mut variable);
                // Declared even when its contents are wrong, so that its uses are not errors too.
                self.add_variable((name, variable), global)?;
                contents?;
            }
            if !self.eat(Token::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// `v<3>`: variables `v0`, `v1` and `v2`, which are no arrays and have no contents.
    fn numbered_variables(&mut self, attributes: Attributes, global: bool) -> Result<()> {
        let (name, span) = self.identifier("the name of a variable")?;
        let Some(count) = self.count()? else { return Ok(()) };
        if attributes.ty == ScalarType::Pred {
            return Err(self.error("bad-type", span, "a predicate cannot be in memory"));
        }
        if attributes.space == StateSpace::Param && !global && self.parameters_inside() {
            let message = "numbered names of a kernel's parameters are not supported";
            return Err(self.report(Diagnostic::unsupported("late-parameter", span, message)));
        }
        let each = Name::Numbered(Numbered { attributes, span });
        let fresh = if global {
            self.global_ranges.declare(name, each, count)
        } else {
            self.body.declare_range(name, each, count)
        };
        if fresh { Ok(()) } else { self.redeclared(name, span) }
    }

    fn add_variable(&mut self, named: (&'a str, Variable), global: bool) -> Result<()> {
        let (name, variable) = named;
        let span = variable.span;
        if !global {
            let meaning = self.body.add_variable(variable, &mut self.module);
            if !self.body.declare(name, meaning) {
                self.redeclared(name, span)?;
            }
            return Ok(());
        }
        match self.global(name) {
            None => {
                let id = VariableId(self.module.variables.len() as u32);
                self.module.variables.push(variable);
                self.globals.insert(name, Symbol::Module(id));
            }
            // A declaration may be repeated, and a definition may follow it.
            Some(Symbol::Module(id)) => {
                let known = &mut self.module.variables[id.index()];
                if known.linkage == Linkage::Extern && known.space == variable.space {
                    if variable.linkage != Linkage::Extern {
                        *known = variable;
                    }
                } else if variable.linkage != Linkage::Extern || known.space != variable.space {
                    self.redeclared(name, span)?;
                }
            }
            Some(_) => self.redeclared(name, span)?,
        }
        Ok(())
    }

    /// Name and dimensions.
    pub(super) fn variable(&mut self, attributes: Attributes) -> Result<(&'a str, Variable)> {
        let span = self.span();
        // `_` in a declaration, where names do not matter.
        let unnamed = attributes.space == StateSpace::Param && self.eat(Token::Underscore);
        let name = if unnamed { "_" } else { self.identifier("the name of a variable")?.0 };
        let dimensions = self.dimensions()?;
        let element = element_bytes(attributes);
        let Some(size) = total(element, &dimensions) else {
            let message = format!("`{}` is larger than an address can reach", super::shorten(name));
            return Err(self.error("size-overflow", span, message));
        };
        if attributes.ty == ScalarType::Pred {
            return Err(self.error("bad-type", span, "a predicate cannot be in memory"));
        }
        let one = Numbered { attributes, span }.variable(name);
        Ok((name, Variable { dimensions, size, ..one }))
    }

    /// The initial contents, when they are given; they close an open array.
    fn contents(&mut self, attributes: Attributes, variable: &mut Variable) -> Result<()> {
        if !self.eat(Token::Equals) {
            return Ok(());
        }
        if !matches!(variable.space, StateSpace::Global | StateSpace::Const) {
            let message = "only variables in `.global` and `.const` can have initial contents";
            return Err(self.error("bad-initializer", variable.span, message));
        }
        let (contents, rows) = self.initializer(attributes, &variable.dimensions)?;
        variable.initial = Some(contents);
        if let Some(open) = variable.dimensions.first_mut().filter(|open| **open == 0) {
            *open = rows;
            let size = total(element_bytes(attributes), &variable.dimensions);
            variable.size = size.unwrap_or(0);
        }
        Ok(())
    }

    /// `[4][2]`, or `[]` for an open array.
    fn dimensions(&mut self) -> Result<Vec<u64>> {
        let mut dimensions = Vec::new();
        while self.peek() == Token::LeftBracket {
            let open = self.bump().span;
            if dimensions.len() == DIMENSIONS_MAX {
                return Err(self.error("too-many-dimensions", open, "too many dimensions"));
            }
            if self.eat(Token::RightBracket) {
                if !dimensions.is_empty() {
                    let message = "only the first dimension can be open";
                    return Err(self.error("bad-dimension", open, message));
                }
                dimensions.push(0);
                continue;
            }
            let span = self.span();
            let size = self.integer()?;
            if size > i64::MAX as u64 {
                return Err(self.error("bad-dimension", span, "a dimension cannot be negative"));
            }
            dimensions.push(size);
            self.expect(Token::RightBracket, "`]`")?;
        }
        Ok(dimensions)
    }

    /// `(.param .u64 a, .reg .f32 %x)`: parameters or results, as variables of the function.
    pub(super) fn parameters(&mut self) -> Result<Vec<(&'a str, Variable)>> {
        self.expect(Token::LeftParenthesis, "`(`")?;
        let mut parameters = Vec::new();
        if self.eat(Token::RightParenthesis) {
            return Ok(parameters);
        }
        loop {
            let span = self.span();
            let register = match self.dot_word() {
                Some("param") => false,
                Some("reg") => true,
                _ => return Err(self.expected("`.param` or `.reg`")),
            };
            self.bump();
            let attributes = if register {
                self.register_type()?
            } else {
                self.attributes(StateSpace::Param, Linkage::Internal)?
            };
            if register {
                parameters.push(self.register_parameter(attributes)?);
            } else {
                parameters.push(self.variable(attributes)?);
            }
            if self.peek() != Token::Comma {
                self.expect(Token::RightParenthesis, "`,` or `)` after a parameter")?;
                return Ok(parameters);
            }
            self.bump();
            if self.peek() == Token::RightParenthesis {
                return Err(self.error("syntax", span, "a parameter is missing after the comma"));
            }
        }
    }

    /// `.reg .f32 %x` of an old function: the variable is bound to a register when the body begins.
    fn register_parameter(&mut self, attributes: Attributes) -> Result<(&'a str, Variable)> {
        let span = self.span();
        let name = if self.peek() == Token::Underscore {
            self.bump();
            "_"
        } else {
            self.identifier("the name of a register")?.0
        };
        let variable = Variable {
            name: name.to_owned(),
            space: StateSpace::Param,
            ty: attributes.ty,
            vector: attributes.vector,
            dimensions: Vec::new(),
            align: attributes.ty.bytes(),
            size: element_bytes(attributes),
            initial: None,
            linkage: Linkage::Internal,
            // Replaced by the register's number when the function's body begins.
            register: Some(crate::module::VirtualRegister(u32::MAX)),
            pointer: None,
            span,
        };
        Ok((name, variable))
    }
}

/// Size of an array. Unit: bytes; `None` when it does not fit a signed 64-bit offset.
fn total(element: u64, dimensions: &[u64]) -> Option<u64> {
    // Open and empty dimensions must not hide an overflow of the others.
    let mut size = element;
    for &dimension in dimensions {
        size = size.checked_mul(dimension.max(1)).filter(|&size| i64::try_from(size).is_ok())?;
    }
    Some(if dimensions.contains(&0) { 0 } else { size })
}

fn opaque_type(word: &str) -> Option<ScalarType> {
    ScalarType::from_name(word).filter(|ty| ty.kind() == Kind::Opaque)
}

fn space_named(word: &str) -> Option<StateSpace> {
    Some(match word {
        "global" => StateSpace::Global,
        "const" => StateSpace::Const,
        "shared" => StateSpace::Shared,
        "local" => StateSpace::Local,
        "param" => StateSpace::Param,
        _ => return None,
    })
}
