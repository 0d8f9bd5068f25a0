//! Bodies of functions: blocks, labels and the directives within.

use super::scope::{Body, DEPTH_MAX, Target, Wanted};
use super::variable::SPACES;
use super::{Parser, Result};
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::module::{Callees, LabelId, Linkage, Operand, Symbol, Variable};

impl Parser<'_> {
    /// A body from its `{` to its `}`.
    pub(super) fn function_body(&mut self) -> Result<()> {
        let open = self.expect(Token::LeftBrace, "`{`")?;
        loop {
            let start = self.at;
            match self.peek() {
                Token::End => {
                    return Err(self.error("unclosed", open, "this `{` is never closed"));
                }
                Token::OpenComment => return Err(self.expected("a statement")),
                Token::LeftBrace => {
                    let span = self.bump().span;
                    if !self.body.open() {
                        let message = format!("blocks are nested deeper than {DEPTH_MAX}");
                        return Err(self.error("too-deep", span, message));
                    }
                }
                Token::RightBrace => {
                    self.bump();
                    if !self.body.close() {
                        break;
                    }
                }
                Token::DotWord if self.begins_function() => {
                    let message = "this function begins before the one above is closed";
                    self.error("unclosed", self.span(), message);
                    break;
                }
                _ => {
                    if self.statement().is_err() {
                        self.recover(start);
                        if self.at == start {
                            self.bump();
                        }
                    }
                }
            }
        }
        self.resolve_labels();
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        match self.peek() {
            Token::Semicolon => {
                self.bump();
                Ok(())
            }
            Token::Word if self.peek_at(1) == Token::Colon => self.label(),
            Token::Word | Token::At => self.instruction(),
            Token::DotWord => self.local_directive(),
            _ => Err(self.expected("an instruction")),
        }
    }

    fn local_directive(&mut self) -> Result<()> {
        let word = self.dot_word().unwrap_or_default();
        match word {
            "reg" => {
                self.bump();
                self.registers()
            }
            "loc" | "file" | "section" | "pragma" => self.debug_directive(),
            "extern" | "visible" | "weak" => {
                self.bump();
                let linkage = match word {
                    "extern" => Linkage::Extern,
                    "visible" => Linkage::Visible,
                    _ => Linkage::Weak,
                };
                self.variables(linkage, false)
            }
            "param" if self.parameters_inside() => self.parameters_of_old_kernel(),
            _ if SPACES.contains(&word) => self.variables(Linkage::Internal, false),
            _ => {
                let hint = self.suggest(word, || [SPACES, &["reg", "loc", "pragma"]].concat());
                let hint = hint.map(|hint| hint.replacen('`', "`.", 1));
                let message = format!("`.{}` is not a directive", super::shorten(word));
                Err(self.error_with_hint("unknown-directive", self.span(), message, hint))
            }
        }
    }

    /// Whether a `.param` declared here is a parameter of the kernel. Source: PTX ISA 1.4, section
    /// "Release Notes": lists of parameters in parentheses are new in PTX 1.4.
    pub(super) fn parameters_inside(&self) -> bool {
        self.module.version < (1, 4) && self.body.function.kernel && self.body.is_outermost()
    }

    /// `.param .u32 a;` in the body of a kernel.
    fn parameters_of_old_kernel(&mut self) -> Result<()> {
        let span = self.span();
        let before = self.body.function.variables.len();
        self.variables(Linkage::Internal, false)?;
        let function = &mut self.body.function;
        if before != function.parameters as usize {
            let message = "a parameter of a kernel behind its other variables is not supported";
            return Err(self.report(Diagnostic::unsupported("late-parameter", span, message)));
        }
        function.parameters = function.variables.len() as u32;
        Ok(())
    }

    /// `name:`, or a `.branchtargets`, `.calltargets` or `.callprototype` with a name.
    fn label(&mut self) -> Result<()> {
        let (name, span) = self.identifier("a label")?;
        self.bump();
        let fresh = match self.dot_word() {
            Some("branchtargets") => {
                self.bump();
                let targets = self.branch_targets()?;
                self.body.declare_table(name, targets)
            }
            Some("calltargets") => {
                self.bump();
                let callees = self.call_targets()?;
                self.body.declare_callees(name, callees)
            }
            Some("callprototype") => {
                self.bump();
                let callees = self.call_prototype()?;
                self.body.declare_callees(name, callees)
            }
            _ => self.body.declare_label(name),
        };
        if !fresh {
            self.redeclared(name, span)?;
        }
        Ok(())
    }

    fn branch_targets(&mut self) -> Result<Vec<LabelId>> {
        let mut targets = Vec::new();
        loop {
            let (name, span) = self.identifier("a label")?;
            targets.push(self.body.refer(name, span, Wanted::Label));
            if !self.eat(Token::Comma) {
                self.expect_semicolon()?;
                return Ok(targets);
            }
        }
    }

    /// `f, g;`: the callee is one of these.
    fn call_targets(&mut self) -> Result<Callees> {
        let mut targets = Vec::new();
        loop {
            let (name, span) = self.identifier("the name of a function")?;
            let Some(&Symbol::Function(id)) = self.globals.get(name) else {
                return Err(self.undeclared_symbol(name, span));
            };
            targets.push(id);
            if !self.eat(Token::Comma) {
                self.expect_semicolon()?;
                return Ok(Callees::Named(targets));
            }
        }
    }

    /// The list of a prototype's parameters or results, if there is one.
    fn prototype_list(&mut self) -> Result<Vec<Variable>> {
        if self.peek() != Token::LeftParenthesis {
            return Ok(Vec::new());
        }
        Ok(self.parameters()?.into_iter().map(|(_, variable)| variable).collect())
    }

    /// `(.param .b32 _) _ (.param .b64 _)` and attributes: the callee is known at run time only.
    fn call_prototype(&mut self) -> Result<Callees> {
        let results = self.prototype_list()?;
        if !self.eat(Token::Underscore) {
            self.identifier("`_`")?;
        }
        let parameters = self.prototype_list()?;
        let mut given: Vec<&str> = Vec::new();
        while let Some(word) = self.dot_word() {
            let span = self.bump().span;
            if given.contains(&word) {
                return Err(self.given_twice(span));
            }
            given.push(word);
            match word {
                "noreturn" => {}
                "abi_preserve" | "abi_preserve_control" => {
                    self.integer()?;
                }
                _ => {
                    let message = format!(
                        "`.{}` is not an attribute of a `.callprototype`",
                        super::shorten(word)
                    );
                    return Err(self.error("unknown-directive", span, message));
                }
            }
        }
        self.expect_semicolon()?;
        Ok(Callees::Prototype { parameters, results })
    }

    /// Turns numbers of references into numbers of labels and tables.
    fn resolve_labels(&mut self) {
        let references = std::mem::take(&mut self.body.references);
        let targets: Vec<Option<Target>> =
            references.iter().map(|reference| self.body.resolve(reference)).collect();
        for (reference, target) in references.iter().zip(&targets) {
            let name = Body::reference_name(reference);
            let message = match (target, reference.wanted) {
                (Some(Target::Label(_)), Wanted::Label)
                | (Some(Target::Table(_)), Wanted::Table)
                | (Some(Target::CallPrototype(_)), Wanted::CallPrototype) => continue,
                (None, _) => {
                    let hint = self.suggest(name, || self.body.known_labels());
                    let message = format!("there is no label `{}` here", super::shorten(name));
                    self.error_with_hint("undeclared-label", reference.span, message, hint);
                    continue;
                }
                (_, Wanted::Table) => "is not a `.branchtargets`",
                (_, Wanted::CallPrototype) => "is not a `.callprototype` or `.calltargets`",
                (Some(Target::Table(_)), _) => "is a table of labels",
                (Some(_), _) => "is a `.callprototype` or `.calltargets`, and no place",
            };
            let message = format!("`{}` {message}", super::shorten(name));
            self.error("label-kind", reference.span, message);
        }
        let label = |id: LabelId| match targets.get(id.index()) {
            Some(&Some(Target::Label(label) | Target::CallPrototype(label))) => Some(label),
            _ => None,
        };
        for table in &mut self.body.function.branch_tables {
            for entry in table {
                *entry = label(*entry).unwrap_or(*entry);
            }
        }
        for instruction in &mut self.body.function.body {
            for operand in &mut instruction.sources {
                match operand {
                    Operand::Label(id) => *id = label(*id).unwrap_or(*id),
                    Operand::BranchTable(number) => {
                        if let Some(&Some(Target::Table(table))) = targets.get(*number as usize) {
                            *number = table;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
