//! Recursive-descent parser: tokens to a resolved module.
//!
//! Errors do not stop it: a statement that makes no sense is reported, skipped to its `;` and
//! forgotten. Nothing recurses with the text except constant expressions, whose depth is limited,
//! and work per token is bounded, so that hostile files cost no more than honest ones.

mod attributes;
mod constant;
mod debug;
mod function;
mod header;
mod initializer;
mod instruction;
mod names;
mod opaque;
mod operand;
mod scope;
mod variable;
mod versions;

use rustc_hash::FxHashMap;

use crate::cuda;
use crate::diagnostic::{Diagnostic, DiagnosticKind, line_starts};
use crate::lexer::{Lexeme, Token, head, lex};
use crate::module::{Module, Span, Symbol};
use crate::suggest::nearest;
use scope::{Body, ModuleRegisters, Ranges};

/// Largest text that is parsed. Unit: bytes.
const TEXT_MAX: usize = 256 << 20;
/// Diagnostics kept; the rest are counted.
const DIAGNOSTICS_MAX: usize = 200;

/// A module, as far as it could be understood, and everything that is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// What was understood; to be used only when [`Parsed::has_errors`] is false.
    pub module: Module,
    /// Errors and unsupported features, in file order: at most 200, then one for each function
    /// that has an unsupported feature, and one that counts further errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether the file is malformed (unsupported features alone do not make it so).
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.kind == DiagnosticKind::Error)
    }
}

/// Parses PTX text. Never fails: what is wrong is in [`Parsed::diagnostics`].
pub fn parse(source: &str) -> Parsed {
    if source.len() > TEXT_MAX {
        let message = format!("the file is larger than {} MiB", TEXT_MAX >> 20);
        let error = Diagnostic::error("file-too-large", Span::default(), message);
        return Parsed { module: Module::default(), diagnostics: vec![error] };
    }
    let mut parser = Parser::new(without_final_zeros(source));
    parser.module();
    parser.settle_address_size();
    parser.module.cuda = std::mem::take(&mut parser.cuda).finish();
    let diagnostics = parser.sink.finish().into_iter();
    let diagnostics = diagnostics.map(|found| found.with_cuda(&parser.module.cuda)).collect();
    Parsed { module: parser.module, diagnostics }
}

/// What is not known of a text: a PTX version or a machine of later manuals. Reads only what stands
/// before the first function, and tells nothing of what is wrong, as [`parse`] does.
pub fn warnings(source: &str) -> Vec<Diagnostic> {
    let mut parser = Parser::new(head(source));
    parser.module();
    parser.warnings
}

/// How many zero bytes end a text, perhaps with blanks between them. Programs that keep PTX as a
/// string of C write them, and [`parse`] takes no notice of them.
pub fn final_zeros(source: &str) -> usize {
    source[without_final_zeros(source).len()..].matches('\0').count()
}

fn without_final_zeros(source: &str) -> &str {
    match source.trim_end_matches(|c: char| c == '\0' || c.is_ascii_whitespace()) {
        text if source[text.len()..].contains('\0') => text,
        _ => source,
    }
}

/// Parses bytes that should be PTX text: invalid UTF-8 is reported with its place.
pub fn parse_bytes(source: &[u8]) -> Parsed {
    match std::str::from_utf8(source) {
        Ok(text) => parse(text),
        Err(error) => {
            let start = error.valid_up_to() as u32;
            let length = error.error_len().unwrap_or(1) as u32;
            let span = Span { start, end: start.saturating_add(length) };
            let message = format!("the file is not UTF-8 text: byte {start} is not valid");
            let hint = "give PTX text, such as `nvcc -ptx` writes, not a cubin or fat binary";
            let diagnostic = Diagnostic::error("not-utf8", span, message).with_hint(hint);
            Parsed { module: Module::default(), diagnostics: vec![diagnostic] }
        }
    }
}

/// Says that an error has been reported and the statement is to be skipped.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Result<T> = std::result::Result<T, Reported>;

/// Collects diagnostics up to a limit.
///
/// The first unsupported feature of each function is kept beyond the limit: it refuses the
/// function, and others of the same function add nothing to that.
#[derive(Debug, Default)]
struct Sink {
    list: Vec<Diagnostic>,
    /// Errors beyond the limit.
    dropped: usize,
    last: Span,
}

impl Sink {
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < DIAGNOSTICS_MAX || self.refuses_another(&diagnostic) {
            self.list.push(diagnostic);
        } else if diagnostic.kind == DiagnosticKind::Error {
            self.dropped += 1;
            self.last = diagnostic.span;
        }
    }

    /// Whether a diagnostic is the first that refuses its function. Those of one function come one
    /// after the other, errors aside.
    fn refuses_another(&self, diagnostic: &Diagnostic) -> bool {
        let last = self.list.iter().rfind(|known| known.kind == DiagnosticKind::Unsupported);
        diagnostic.kind == DiagnosticKind::Unsupported
            && last.is_none_or(|last| last.kernel != diagnostic.kernel)
    }

    /// Has everything that refuses a function refuse its other name too.
    fn alias(&mut self, function: &str, alias: &str) {
        let refuses = |known: &&Diagnostic| {
            known.kind == DiagnosticKind::Unsupported && known.kernel.as_deref() == Some(function)
        };
        let first = self.list.iter().find(refuses).cloned();
        self.list.extend(first.map(|known| known.in_kernel(alias)));
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.span.start);
        if self.dropped > 0 {
            let message = format!("and {} more", self.dropped);
            self.list.push(Diagnostic::error("too-many", self.last, message));
        }
        self.list
    }
}

struct Parser<'a> {
    text: &'a str,
    lexemes: Vec<Lexeme>,
    at: usize,
    sink: Sink,
    module: Module,
    globals: FxHashMap<&'a str, Symbol>,
    global_ranges: Ranges<'a>,
    body: Body<'a>,
    module_registers: ModuleRegisters<'a>,
    /// `.file` and `.loc`.
    cuda: cuda::Builder,
    /// Name of the function being read, for diagnostics.
    inside: Option<String>,
    /// `.target` says that double precision is executed as single.
    double_is_single: bool,
    /// `.address_size` has been read.
    address_size_given: bool,
    /// What is wrong unless addresses have 32 bits.
    narrow: Vec<Diagnostic>,
    /// What is not known.
    warnings: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            lexemes: lex(text),
            at: 0,
            sink: Sink::default(),
            module: Module {
                address_bits: 64,
                line_starts: line_starts(text).collect(),
                ..Module::default()
            },
            globals: FxHashMap::default(),
            global_ranges: Ranges::default(),
            body: Body::default(),
            module_registers: ModuleRegisters::default(),
            cuda: cuda::Builder::default(),
            inside: None,
            double_is_single: false,
            address_size_given: false,
            narrow: Vec::new(),
            warnings: Vec::new(),
        }
    }

    // Tokens.

    fn peek(&self) -> Token {
        self.lexemes[self.at].token
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.lexemes.get(self.at + ahead).map_or(Token::End, |lexeme| lexeme.token)
    }

    fn span(&self) -> Span {
        self.lexemes[self.at].span
    }

    /// Place of the token before.
    fn previous(&self) -> Span {
        self.lexemes[self.at.saturating_sub(1)].span
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Text of the next token.
    fn word(&self) -> &'a str {
        self.slice(self.span())
    }

    /// Steps over the next token; the end is never passed.
    fn bump(&mut self) -> Lexeme {
        let lexeme = self.lexemes[self.at];
        if self.at + 1 < self.lexemes.len() {
            self.at += 1;
        }
        lexeme
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, token: Token, what: &str) -> Result<Span> {
        if self.peek() == token { Ok(self.bump().span) } else { Err(self.expected(what)) }
    }

    /// The `;` of a statement. One that is missing at the end of a line is reported, and the next
    /// line is taken for the next statement.
    fn expect_semicolon(&mut self) -> Result<()> {
        if self.eat(Token::Semicolon) {
            return Ok(());
        }
        let hint = Some("every statement ends with `;`".into());
        if self.at_line_end() {
            let span = self.previous();
            let message = format!("expected `;` after `{}`", shorten(self.slice(span)));
            self.error_with_hint("expected-semicolon", span, message, hint);
            return Ok(());
        }
        let message = format!("expected `;`, found {}", self.found());
        Err(self.error_with_hint("expected-semicolon", self.span(), message, hint))
    }

    /// Whether the next token is on another line than the one before.
    fn at_line_end(&self) -> bool {
        let between = self.previous().end as usize..self.span().start as usize;
        self.text.get(between).is_some_and(|text| text.contains('\n'))
    }

    fn identifier(&mut self, what: &str) -> Result<(&'a str, Span)> {
        let name = self.word();
        let span = self.expect(Token::Word, what)?;
        Ok((name, span))
    }

    /// The dot word that comes next, without its dot.
    fn dot_word(&self) -> Option<&'a str> {
        (self.peek() == Token::DotWord).then(|| &self.word()[1..])
    }

    fn eat_dot(&mut self, word: &str) -> bool {
        let found = self.dot_word() == Some(word);
        if found {
            self.bump();
        }
        found
    }

    // Diagnostics.

    fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        diagnostic.kernel.clone_from(&self.inside);
        self.sink.push(diagnostic);
        Reported
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, span, message))
    }

    fn error_with_hint(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Reported {
        let mut diagnostic = Diagnostic::error(code, span, message);
        diagnostic.hint = hint;
        self.report(diagnostic)
    }

    /// Reports a directive that may stand once and is there again.
    fn given_twice(&mut self, span: Span) -> Reported {
        let message = format!("`{}` is given twice", shorten(self.slice(span)));
        self.error("given-twice", span, message)
    }

    fn expected(&mut self, what: &str) -> Reported {
        let message = format!("expected {what}, found {}", self.found());
        let code = match self.peek() {
            Token::Unknown => "unknown-character",
            Token::OpenComment => "open-comment",
            _ => "syntax",
        };
        self.error(code, self.span(), message)
    }

    /// The next token, for a message.
    fn found(&self) -> String {
        match self.peek() {
            Token::End => "the end of the file".into(),
            Token::OpenComment => "a comment without its `*/`".into(),
            Token::Unknown if self.word().starts_with('"') => {
                "a string without its closing quote".into()
            }
            Token::Unknown => {
                let text: String = self.word().chars().take(8).collect();
                format!("`{}`, which PTX does not use", text.escape_debug())
            }
            _ => format!("`{}`", shorten(self.word())),
        }
    }

    /// A suggestion, unless too much has been reported already.
    fn suggest<C: AsRef<str>>(
        &self,
        name: &str,
        candidates: impl FnOnce() -> Vec<C>,
    ) -> Option<String> {
        if self.sink.list.len() >= DIAGNOSTICS_MAX {
            return None;
        }
        let candidates = candidates();
        nearest(name, candidates.iter().map(AsRef::as_ref))
            .map(|name| format!("did you mean `{name}`?"))
    }

    // Recovery.

    /// Skips from `start` past the `;` of a broken statement, or to the `}` that closes the block
    /// around it, or to the next function.
    fn recover(&mut self, start: usize) {
        self.at = start;
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Semicolon => {
                    self.bump();
                    return;
                }
                Token::LeftBrace => depth += 1,
                Token::RightBrace if depth == 0 => return,
                Token::RightBrace => depth -= 1,
                Token::DotWord if self.at > start && self.begins_function() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Whether a function begins here: `.entry`, `.func`, or those with their linkage.
    fn begins_function(&self) -> bool {
        let is_function = |word| matches!(word, "entry" | "func");
        match self.dot_word() {
            Some("visible" | "extern" | "weak") => {
                let next = self.lexemes.get(self.at + 1).map(|lexeme| self.slice(lexeme.span));
                next.and_then(|text| text.strip_prefix('.')).is_some_and(is_function)
            }
            Some(word) => is_function(word),
            None => false,
        }
    }
}

/// A name for a message: cut when it is very long.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut short: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
}
