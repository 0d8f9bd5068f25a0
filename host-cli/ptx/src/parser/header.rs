//! Module scope: version, target, variables, and the headers of functions.

use super::scope::{Body, Name};
use super::variable::SPACES;
use super::versions;
use super::{DIAGNOSTICS_MAX, Parser, Result};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::launch::{BlockRule, ClusterRule};
use crate::lexer::Token;
use crate::module::{Function, FunctionId, Linkage, Span, Symbol, Variable};

/// Directives that begin something at module scope, for suggestions.
const DIRECTIVES: &[&str] = &[
    "version",
    "target",
    "address_size",
    "visible",
    "extern",
    "weak",
    "common",
    "entry",
    "func",
    "global",
    "const",
    "shared",
    "local",
    "reg",
    "texref",
    "surfref",
    "samplerref",
    "file",
    "loc",
    "section",
    "pragma",
    "alias",
];

impl<'a> Parser<'a> {
    /// The whole file.
    pub(super) fn module(&mut self) {
        while self.peek() != Token::End {
            let start = self.at;
            if self.directive().is_err() {
                self.inside = None;
                self.recover_module(start);
            }
        }
        if self.module.version == (0, 0) && self.sink.list.is_empty() {
            let end = Span { start: 0, end: self.text.len().min(1) as u32 };
            let hint = Some("a PTX file begins with `.version`, such as `.version 9.0`".into());
            let message = match self.lexemes.len() {
                1 => "the file is empty",
                _ if self.module.target.is_empty() => "this is not a PTX file",
                _ => "there is no `.version`",
            };
            self.error_with_hint("no-version", end, message, hint);
        }
    }

    /// Skips what was not understood: to its `;`, past the body of a function, or to where the next
    /// function or line with a directive begins. Always advances.
    fn recover_module(&mut self, start: usize) {
        self.at = start;
        let mut depth = 0_u32;
        let mut contents = false;
        loop {
            let token = self.bump().token;
            match token {
                Token::End => return,
                Token::Equals if depth == 0 => contents = true,
                Token::Semicolon if depth == 0 => return,
                Token::LeftBrace => depth += 1,
                Token::RightBrace => {
                    depth = depth.saturating_sub(1);
                    // The braces of initial contents are followed by more.
                    if depth == 0 && !contents {
                        return;
                    }
                }
                _ => {}
            }
            if self.begins_function() && !self.linkage(token) {
                return;
            }
            let directive = self.dot_word().is_some_and(|word| DIRECTIVES.contains(&word));
            if directive && depth == 0 && self.at_line_end() {
                return;
            }
        }
    }

    /// Whether a token is the linkage of what follows it.
    fn linkage(&self, token: Token) -> bool {
        token == Token::DotWord
            && matches!(self.slice(self.previous()), ".visible" | ".extern" | ".weak")
    }

    fn directive(&mut self) -> Result<()> {
        if self.peek() == Token::At {
            return self.old_debug_line();
        }
        let Some(word) = self.dot_word() else {
            return Err(self.expected("a directive such as `.entry`"));
        };
        match word {
            "version" => self.version(),
            "target" => self.target(),
            "address_size" => self.address_size(),
            "visible" | "extern" | "weak" | "common" | "entry" | "func" => self.linked(),
            "file" | "loc" | "section" | "pragma" => self.debug_directive(),
            "alias" => self.alias(),
            "reg" => {
                self.bump();
                self.module_registers()
            }
            _ if SPACES.contains(&word) => self.variables(Linkage::Internal, true),
            _ => {
                let hint = self.suggest(word, || DIRECTIVES.to_vec());
                let hint = hint.map(|hint| hint.replacen('`', "`.", 1));
                let message = format!("`.{}` is not a directive", super::shorten(word));
                Err(self.error_with_hint("unknown-directive", self.span(), message, hint))
            }
        }
    }

    fn version(&mut self) -> Result<()> {
        let directive = self.bump().span;
        if self.module.version != (0, 0) {
            return Err(self.given_twice(directive));
        }
        let text = self.word();
        let span = self.expect(Token::Decimal, "a version such as `9.0`")?;
        let parts = text.split_once('.').map(|(a, b)| (a.parse::<u8>(), b.parse::<u8>()));
        let Some((Ok(major @ 1..), Ok(minor))) = parts else {
            return Err(self.error("bad-version", span, format!("`{text}` is not a PTX version")));
        };
        self.module.version = (major, minor);
        self.warnings.extend(versions::version(major, minor, span));
        Ok(())
    }

    fn target(&mut self) -> Result<()> {
        self.bump();
        let (name, span) = self.identifier("a target such as `sm_75`")?;
        if !is_machine(name) {
            let message = format!("`{}` is not a machine", super::shorten(name));
            let hint = Some("a machine is written `sm_75`, `sm_90a` or `sm_120f`".into());
            return Err(self.error_with_hint("bad-target", span, message, hint));
        }
        self.module.target = name.to_owned();
        self.warnings.extend(versions::machine(name, span));
        while self.eat(Token::Comma) {
            self.target_property()?;
        }
        Ok(())
    }

    /// What stands behind the machine of `.target`.
    fn target_property(&mut self) -> Result<()> {
        const KNOWN: &[&str] = &["texmode_unified", "texmode_independent", "debug"];
        let (name, span) = self.identifier("a property of the target")?;
        if KNOWN.contains(&name) {
            return Ok(());
        }
        if name == "map_f64_to_f32" {
            self.double_is_single = true;
            return Ok(());
        }
        let hint = self.suggest(name, || KNOWN.to_vec());
        let message = format!("`{}` is not a property of a target", super::shorten(name));
        Err(self.error_with_hint("bad-target", span, message, hint))
    }

    fn address_size(&mut self) -> Result<()> {
        let directive = self.bump().span;
        if self.address_size_given {
            return Err(self.given_twice(directive));
        }
        let span = self.span();
        match self.integer()? {
            bits @ (32 | 64) => {
                self.module.address_bits = bits as u8;
                self.address_size_given = true;
                Ok(())
            }
            _ => Err(self.error("bad-address-size", span, "an address has 32 or 64 bits")),
        }
    }

    /// Keeps what is wrong only if the module's addresses have 64 bits, until that is known.
    pub(super) fn note_narrow(&mut self, problem: Option<Diagnostic>) {
        let Some(mut problem) = problem.filter(|_| self.narrow.len() <= DIAGNOSTICS_MAX) else {
            return;
        };
        problem.kernel.clone_from(&self.inside);
        self.narrow.push(problem);
    }

    /// Decides how wide the addresses of a module are that does not say: PTX had no
    /// `.address_size` before 2.3, and its instructions tell.
    pub(super) fn settle_address_size(&mut self) {
        let narrow = std::mem::take(&mut self.narrow);
        let uses_narrow = narrow.iter().any(|problem| problem.kind == DiagnosticKind::Error);
        if uses_narrow && !self.address_size_given {
            self.module.address_bits = 32;
        }
        if self.module.address_bits == 64 {
            for problem in narrow {
                self.sink.push(problem);
            }
        }
    }

    /// `.alias f, g;`: `f` is another name for the function `g`, which is defined before.
    fn alias(&mut self) -> Result<()> {
        self.bump();
        let (name, _) = self.identifier("the name of a function")?;
        self.expect(Token::Comma, "`,`")?;
        let (target, span) = self.identifier("the name of a function")?;
        let Some(&Symbol::Function(target_id)) = self.globals.get(target) else {
            return Err(self.undeclared_symbol(target, span));
        };
        let declared = self.globals.insert(name, Symbol::Function(target_id));
        if let Some(Symbol::Function(id)) = declared
            && !self.module.functions[id.index()].defined
        {
            self.sink.alias(target, name);
            // Calls that were read before this line mean the declaration: it becomes a copy.
            let mut copy = self.module.functions[target_id.index()].clone();
            name.clone_into(&mut copy.name);
            self.module.functions[id.index()] = copy;
        }
        self.expect_semicolon()
    }

    /// A function or variable with its linkage.
    fn linked(&mut self) -> Result<()> {
        let linkage = match self.dot_word() {
            Some("visible") => Linkage::Visible,
            Some("extern") => Linkage::Extern,
            Some("weak" | "common") => Linkage::Weak,
            _ => Linkage::Internal,
        };
        if linkage != Linkage::Internal {
            self.bump();
        }
        match self.dot_word() {
            Some("entry") => self.function(linkage, true),
            Some("func") => self.function(linkage, false),
            Some(word) if SPACES.contains(&word) => self.variables(linkage, true),
            _ => Err(self.expected("`.entry`, `.func` or a state space")),
        }
    }

    fn function(&mut self, linkage: Linkage, kernel: bool) -> Result<()> {
        let start = self.bump().span.start;
        self.cuda.function(start);
        if self.eat_dot("attribute") {
            self.attribute_list()?;
        }
        let results = match self.peek() {
            Token::LeftParenthesis if !kernel => self.parameters()?,
            _ => Vec::new(),
        };
        let (name, span) = self.identifier("the name of a function")?;
        self.inside = Some(name.to_owned());
        let parameters = match self.peek() {
            Token::LeftParenthesis => self.parameters()?,
            _ => Vec::new(),
        };
        self.body = Body::default();
        let function = &mut self.body.function;
        name.clone_into(&mut function.name);
        function.kernel = kernel;
        function.linkage = linkage;
        function.span = span;
        function.parameters = parameters.len() as u32;
        function.results = results.len() as u32;
        self.performance_directives()?;
        if let Some(contradiction) = self.body.function.launch.contradiction() {
            return Err(self.report(contradiction));
        }
        let id = self.declare_function(name, span)?;
        let declared = self.declare_parameters(parameters.into_iter().chain(results));
        if self.eat(Token::Semicolon) || self.declared_only() {
            let declaration = std::mem::take(&mut self.body).function;
            self.place_function(id, declaration);
        } else if self.peek() != Token::LeftBrace {
            // The next function is read as if the `;` were there.
            self.no_body();
            let declaration = std::mem::take(&mut self.body).function;
            self.place_function(id, declaration);
        } else {
            self.body.function.defined = true;
            self.function_body()?;
            let definition = std::mem::take(&mut self.body).function;
            self.place_function(id, definition);
        }
        self.inside = None;
        // Reported at its place already; the body was worth reading all the same.
        let _ = declared;
        Ok(())
    }

    /// A header of a function that neither `;` nor a body follows: the place is its last word.
    fn no_body(&mut self) {
        let span = self.previous();
        let message = format!(
            "expected `;` or `{{` after `{}`, found {}",
            super::shorten(self.slice(span)),
            self.found()
        );
        let hint = Some("a function without a body ends with `;`".into());
        self.error_with_hint("syntax", span, message, hint);
    }

    /// The function's number; a new one unless it was declared before.
    fn declare_function(&mut self, name: &'a str, span: Span) -> Result<FunctionId> {
        match self.globals.get(name).copied() {
            None => {
                let id = FunctionId(self.module.functions.len() as u32);
                // Calls of itself find at least the header.
                self.module.functions.push(self.body.function.clone());
                self.globals.insert(name, Symbol::Function(id));
                Ok(id)
            }
            Some(Symbol::Function(id)) => {
                let known = &self.module.functions[id.index()];
                let new = &self.body.function;
                let same = (known.kernel, known.parameters, known.results)
                    == (new.kernel, new.parameters, new.results);
                if !same {
                    let message = format!(
                        "`{}` is declared with other parameters before",
                        super::shorten(name)
                    );
                    self.error("signature", span, message);
                }
                Ok(id)
            }
            Some(_) => {
                let message = format!("`{}` is a variable already", super::shorten(name));
                Err(self.error("redeclared", span, message))
            }
        }
    }

    /// Keeps a definition in the face of a later declaration, and refuses a second definition.
    fn place_function(&mut self, id: FunctionId, function: Function) {
        let known = &mut self.module.functions[id.index()];
        if !known.defined {
            *known = function;
        } else if function.defined {
            let message = format!("`{}` is defined twice", super::shorten(&function.name));
            self.error("redeclared", function.span, message);
        }
    }

    fn declare_parameters(
        &mut self,
        named: impl Iterator<Item = (&'a str, Variable)>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        for (name, mut variable) in named {
            let span = variable.span;
            let id = crate::module::VariableId(self.body.function.variables.len() as u32);
            let meaning = if variable.register.is_some() {
                self.body.add_parameter(name, &mut variable)
            } else {
                Name::Variable(id)
            };
            self.body.function.variables.push(variable);
            if name != "_" && !self.body.declare(name, meaning) {
                outcome = self.redeclared(name, span);
            }
        }
        outcome
    }

    /// Whether the header of a function ends without a `;`, as nvopencc ends its declarations: the
    /// next directive of the module, or the end of the file, follows on a line of its own.
    fn declared_only(&self) -> bool {
        let next = match self.peek() {
            Token::End => true,
            Token::DotWord => self.dot_word().is_some_and(|word| {
                let both = matches!(word, "pragma" | "loc" | "file");
                !both && (DIRECTIVES.contains(&word) || SPACES.contains(&word))
            }),
            _ => false,
        };
        let old = self.module.version < (3, 0) && !self.body.function.kernel;
        next && old && self.at_line_end()
    }

    /// What stands between a function's header and its body.
    fn performance_directives(&mut self) -> Result<()> {
        let mut given: Vec<&str> = Vec::new();
        while let Some(word) = self.dot_word() {
            let begins_next = DIRECTIVES.contains(&word) && self.at_line_end();
            if self.declared_only() || begins_next && !matches!(word, "pragma" | "loc" | "file") {
                return Ok(());
            }
            if matches!(word, "pragma" | "loc" | "file") {
                self.debug_directive()?;
                continue;
            }
            let span = self.span();
            if given.contains(&word) {
                return Err(self.given_twice(span));
            }
            if matches!(word, "maxntid" | "reqntid")
                && given.iter().any(|word| matches!(*word, "maxntid" | "reqntid"))
            {
                let message = "`.maxntid` and `.reqntid` do not go together";
                return Err(self.error("conflict", span, message));
            }
            given.push(word);
            self.performance_directive(word)?;
        }
        Ok(())
    }

    fn performance_directive(&mut self, word: &str) -> Result<()> {
        const NUMBERED: &[&str] = &[
            "minnctapersm",
            "maxnctapersm",
            "maxnreg",
            "abi_preserve",
            "abi_preserve_control",
            "local_maxnreg",
        ];
        const OTHERS: &[&str] = &[
            "maxntid",
            "reqntid",
            "noreturn",
            "pragma",
            "reqnctapercluster",
            "explicitcluster",
            "blocksareclusters",
            "maxclusterrank",
            "unique",
            "attribute",
        ];
        let span = self.bump().span;
        match word {
            "maxntid" | "reqntid" => {
                let sides = self.three_numbers(|parser| parser.positive("threads"))?;
                let exact = word == "reqntid";
                self.body.function.launch.block = Some(BlockRule { sides, exact, span });
            }
            "noreturn" => self.body.function.noreturn = true,
            "unique" => {}
            "explicitcluster" => self.body.function.launch.explicit_cluster = Some(span),
            "blocksareclusters" => self.body.function.launch.blocks_are_clusters = Some(span),
            "reqnctapercluster" => {
                // The assembler takes 0, with which nothing can be launched.
                let sides = self.three_numbers(|parser| parser.at_least(0, "CTAs"))?;
                self.body.function.launch.cluster = Some(ClusterRule { sides, span });
            }
            "attribute" => self.attribute_list()?,
            "maxclusterrank" => {
                self.integer()?;
                self.body.function.launch.max_cluster = Some(span);
            }
            _ if NUMBERED.contains(&word) => {
                self.integer()?;
            }
            _ => {
                let hint = self.suggest(word, || [NUMBERED, OTHERS].concat());
                let hint = hint.map(|hint| hint.replacen('`', "`.", 1));
                let message = format!("`.{}` is not a directive", super::shorten(word));
                return Err(self.error_with_hint("unknown-directive", span, message, hint));
            }
        }
        Ok(())
    }

    /// `128`, `16, 16` or `8, 8, 4`.
    fn three_numbers(&mut self, mut one: impl FnMut(&mut Self) -> Result<u32>) -> Result<[u32; 3]> {
        let mut numbers = [1; 3];
        for (index, number) in numbers.iter_mut().enumerate() {
            if index > 0 && !self.eat(Token::Comma) {
                break;
            }
            *number = one(self)?;
        }
        Ok(numbers)
    }

    fn positive(&mut self, unit: &str) -> Result<u32> {
        self.at_least(1, unit)
    }

    fn at_least(&mut self, least: u32, unit: &str) -> Result<u32> {
        let span = self.span();
        let value = self.integer()?;
        u32::try_from(value).ok().filter(|&value| value >= least).ok_or_else(|| {
            let message = format!("a number of {unit} is needed here");
            self.error("value-range", span, message)
        })
    }
}

/// Whether a name is that of a machine: `sm_75`, `sm_90a`, `compute_100f`.
fn is_machine(name: &str) -> bool {
    let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"));
    let digits = number.map(|number| number.strip_suffix(['a', 'f']).unwrap_or(number));
    digits.is_some_and(|digits| {
        (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    })
}
