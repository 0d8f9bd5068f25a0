//! Instructions: guard, opcode, modifiers, operands.

use super::operand::Place;
use super::scope::Name;
use super::{Parser, Reported, Result};
use crate::check::{self, Context, Written};
use crate::diagnostic::{Diagnostic, counted};
use crate::forms::{Words, forms};
use crate::lexer::Token;
use crate::matching::{self, Candidate, Mismatch, Word};
use crate::module::{AddressBase, Guard, Instruction, Operand, Span, Symbol};
use crate::opcode::{Modifiers, Opcode};
use crate::types::ScalarType;

/// Most modifiers of an instruction, and most operands.
const WORDS_MAX: usize = 32;

/// Opcodes, types and modifiers of PTX that the model does not have and that resemble others: they
/// are no mistakes in writing those.
const OTHERS: &str = "b1 b4 e2m1 e2m1x2 e2m1x4 e2m3 e2m3x2 e2m3x4 e3m2 e3m2x2 e3m2x4 e4m3 e4m3x2 \
    e4m3x4 e5m2 e5m2x2 e5m2x4 rs s2 s4 sp tensor u2 u4 ue8m0 ue8m0x2 wgmma m8n16 m16n8 m16n16";

/// The operands of an instruction before they are checked.
enum Operands {
    /// Results and sources of a call.
    Call(Vec<Operand>, Vec<Operand>),
    /// Of any other.
    Written(Vec<Written>),
}

impl<'a> Parser<'a> {
    /// One instruction with its `;`.
    pub(super) fn instruction(&mut self) -> Result<()> {
        let start = self.span();
        let guard = self.guard()?;
        let name = self.word();
        let name_span = self.expect(Token::Word, "an opcode")?;
        let Some(opcode) = Opcode::from_name(name) else {
            return self.unknown_opcode(name, name_span);
        };
        let words = self.modifier_words(opcode)?;
        let candidates = match matching::candidates(opcode, &words) {
            Ok(candidates) => candidates,
            Err(mismatch) => return self.unknown_form(opcode, &words, name_span, mismatch),
        };
        let operands = if opcode == Opcode::Call {
            let (destinations, sources) = self.call_operands()?;
            Operands::Call(destinations, sources)
        } else {
            Operands::Written(self.operands(opcode)?)
        };
        let end = self.previous().end;
        self.expect_semicolon()?;
        // What is wrong from here on is reported, and nothing is left to skip.
        let body = Span { start: name_span.start, end };
        let checked = self.checked(opcode, &candidates, &words, operands, body);
        if let Ok((modifiers, types, destinations, sources)) = checked {
            if destinations.iter().any(|operand| self.body.is_sum(operand)) {
                let message = "a result is written to a register, not to a sum";
                self.error("operand-kind", body, message);
                return Ok(());
            }
            let span = Span { start: start.start, end };
            let instruction =
                Instruction { guard, opcode, modifiers, types, destinations, sources, span };
            self.body.function.body.push(instruction);
        }
        Ok(())
    }

    /// `@%p` or `@!%p`.
    fn guard(&mut self) -> Result<Option<Guard>> {
        if !self.eat(Token::At) {
            return Ok(None);
        }
        let negated = self.eat(Token::Bang);
        let (name, span) = self.identifier("a predicate register")?;
        match self.find_name(name) {
            Some(Name::Register(register)) => {
                let ty = self.body.function.registers[register.index()].ty;
                if ty == ScalarType::Pred {
                    return Ok(Some(Guard { register, negated }));
                }
                let message = format!("`{}` is a `.{}` register", super::shorten(name), ty.name());
                let hint = Some("a guard must be a `.pred` register".into());
                Err(self.error_with_hint("guard-type", span, message, hint))
            }
            Some(_) => Err(self.error("guard-type", span, "a guard must be a `.pred` register")),
            None => {
                let hint = self.suggest(name, || self.body.known_names(name));
                let message = format!("the register `{}` is not declared", super::shorten(name));
                Err(self.error_with_hint("undeclared-register", span, message, hint))
            }
        }
    }

    /// An instruction of a PTX that is newer, or with a mistake in its opcode.
    fn unknown_opcode(&mut self, name: &str, span: Span) -> Result<()> {
        while self.dot_word().is_some() {
            self.bump();
        }
        let whole = self.written_since(span);
        let hint =
            self.suggest_word(name, || Opcode::ALL.iter().map(|opcode| opcode.name()).collect());
        let name = super::shorten(name);
        let message = format!("`{whole}` cannot be executed: the opcode `{name}` is not known");
        self.refuse("unknown-opcode", span, message, hint)
    }

    /// An instruction whose opcode is known, but not with these modifiers and types.
    fn unknown_form(
        &mut self,
        opcode: Opcode,
        words: &[Word<'a>],
        span: Span,
        mismatch: Mismatch,
    ) -> Result<()> {
        let whole = self.written_since(span);
        let name = opcode.name();
        match mismatch {
            Mismatch::UnknownWord(index) => {
                let Word { text, span } = words[index];
                let hint = self.suggest_word(text, || words_of(opcode));
                let hint = hint.map(|hint| hint.replacen('`', "`.", 1));
                let word = super::shorten(text);
                let message = format!(
                    "`{whole}` cannot be executed: `.{word}` is not known as a modifier or type \
                     of `{name}`"
                );
                self.refuse("unknown-modifier", span, message, hint)
            }
            Mismatch::Combination(form) => {
                let hint = format!("the nearest form is `{}`", matching::usage(opcode, form));
                let message =
                    format!("`{whole}` cannot be executed: these modifiers are not known together");
                let span = Span { start: span.start, end: self.previous().end };
                self.refuse("modifiers", span, message, Some(hint))
            }
        }
    }

    /// A suggestion for an opcode or a modifier.
    fn suggest_word(
        &self,
        word: &str,
        known: impl FnOnce() -> Vec<&'static str>,
    ) -> Option<String> {
        let mistaken = !OTHERS.split_whitespace().any(|other| other == word);
        mistaken.then(|| self.suggest(word, known)).flatten()
    }

    /// The text from a place up to the token before, for a message.
    fn written_since(&self, start: Span) -> String {
        super::shorten(self.slice(Span { start: start.start, end: self.previous().end }))
    }

    /// Refuses the function for an instruction that is not known, once its operands make sense as
    /// far as brackets go.
    fn refuse(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
        hint: Option<String>,
    ) -> Result<()> {
        self.skip_operands()?;
        let mut diagnostic = Diagnostic::unsupported(code, span, message);
        diagnostic.hint = hint;
        self.report(diagnostic);
        Ok(())
    }

    /// Steps over operands of an unknown shape and their `;`.
    fn skip_operands(&mut self) -> Result<()> {
        let mut open = Vec::new();
        loop {
            let token = self.peek();
            match token {
                Token::Semicolon if open.is_empty() => return self.expect_semicolon(),
                Token::LeftBrace | Token::LeftBracket | Token::LeftParenthesis => open.push(token),
                Token::RightBrace => self.closes(&mut open, Token::LeftBrace, "`{`")?,
                Token::RightBracket => self.closes(&mut open, Token::LeftBracket, "`[`")?,
                Token::RightParenthesis => {
                    self.closes(&mut open, Token::LeftParenthesis, "`(`")?;
                }
                Token::Semicolon | Token::End | Token::Unknown | Token::OpenComment => {
                    return Err(self.expected("operands and `;`"));
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Takes the bracket that the next token closes off those that are open.
    fn closes(&mut self, open: &mut Vec<Token>, opening: Token, name: &str) -> Result<()> {
        match open.pop() {
            Some(last) if last == opening => Ok(()),
            None if opening == Token::LeftBrace => self.expect_semicolon().and(Err(Reported)),
            _ => Err(self.expected(&format!("no bracket without its {name}"))),
        }
    }

    /// The dot words after an opcode; those of two parts become one.
    fn modifier_words(&mut self, opcode: Opcode) -> Result<Vec<Word<'a>>> {
        let mut words: Vec<Word<'a>> = Vec::new();
        while let Some(text) = self.dot_word() {
            let span = self.bump().span;
            if words.len() == WORDS_MAX {
                return Err(self.error("too-many-modifiers", span, "too many modifiers"));
            }
            let joined = words.last().is_some_and(|last| joins(opcode, last.text, text));
            match words.last_mut().filter(|_| joined) {
                Some(last) => {
                    last.span.end = span.end;
                    // The text between the dots, both words included.
                    last.text = &self.text[last.span.start as usize + 1..last.span.end as usize];
                }
                None => words.push(Word { text, span }),
            }
        }
        Ok(words)
    }

    /// Operands up to the `;`, which stays.
    fn operands(&mut self, opcode: Opcode) -> Result<Vec<Written>> {
        let mut operands = Vec::new();
        let no_operand = matches!(self.peek(), Token::RightBrace | Token::DotWord | Token::At);
        if self.peek() == Token::Semicolon || no_operand && self.at_line_end() {
            return Ok(operands);
        }
        let mut wrong = None;
        for index in 0..WORDS_MAX {
            let first = self.at;
            let place = match (opcode, index) {
                (Opcode::Bra, 0) => Place::Label,
                (Opcode::Brx, 1) => Place::Table,
                _ => Place::Ordinary,
            };
            match self.operand(place) {
                Ok(mut written) => {
                    if opcode == Opcode::Mov && self.lexemes[first].token == Token::Word {
                        address_of(&mut written.operand);
                    }
                    operands.push(written);
                }
                // The operands after a wrong one may be wrong on their own account.
                Err(reported) if self.peek() == Token::Comma => wrong = Some(reported),
                Err(reported) => return Err(reported),
            }
            if !self.eat(Token::Comma) {
                return wrong.map_or(Ok(operands), Err);
            }
        }
        Err(self.error("too-many-operands", self.span(), "too many operands"))
    }

    /// Chooses the form by its operands and checks them.
    #[expect(clippy::type_complexity, reason = "the parts of an instruction, used at one place")]
    fn checked(
        &mut self,
        opcode: Opcode,
        candidates: &[Candidate],
        words: &[Word<'a>],
        operands: Operands,
        span: Span,
    ) -> Result<(Modifiers, Vec<ScalarType>, Vec<Operand>, Vec<Operand>)> {
        let (first, assigned) = candidates.first().ok_or(Reported)?;
        let written = match operands {
            Operands::Written(written) => written,
            Operands::Call(destinations, sources) => {
                self.check_call(&destinations, &sources, span)?;
                let (modifiers, types) = matching::modifiers(opcode, first, words, assigned);
                return Ok((modifiers, types, destinations, sources));
            }
        };
        let long = || candidates.iter().filter(|(form, _)| check::takes(form, written.len()));
        let suits = |form| check::suits(form, &self.body.function, &written);
        let Some((form, assigned)) = long().find(|(form, _)| suits(form)).or(long().next()) else {
            let usage = matching::usage(opcode, first);
            let given = counted(written.len(), "operand");
            let message = format!("`{}` does not take {given} here", opcode.name());
            let hint = Some(format!("write `{usage}`"));
            return Err(self.error_with_hint("operand-count", span, message, hint));
        };
        let (mut modifiers, types) = matching::modifiers(opcode, form, words, assigned);
        self.check_selectors(opcode, &modifiers, &written)?;
        for (index, operand) in written.iter().enumerate() {
            if let Some(selector) = &operand.selector {
                modifiers.other.push(format!("{index}.{selector}"));
            }
        }
        let context = Context {
            module: &self.module,
            function: &self.body.function,
            opcode,
            modifiers: &modifiers,
            types: &types,
        };
        let checked = check::operands(&context, form, written);
        if self.double_is_single && types.contains(&ScalarType::F64) {
            let message = "`map_f64_to_f32`: double precision cannot be executed as single yet";
            self.report(Diagnostic::unsupported("target-property", span, message));
        }
        if checked.problems.is_empty() {
            self.note_narrow(checked.narrow);
            return Ok((modifiers, types, checked.destinations, checked.sources));
        }
        for problem in checked.problems {
            self.report(problem);
        }
        Err(Reported)
    }
}

impl Parser<'_> {
    /// Parts of registers belong to video instructions: to the first two sources, and to a result
    /// that is merged into the third one.
    fn check_selectors(
        &mut self,
        opcode: Opcode,
        modifiers: &Modifiers,
        written: &[Written],
    ) -> Result<()> {
        let video = matches!(
            opcode,
            Opcode::Vabsdiff
                | Opcode::Vadd
                | Opcode::Vmad
                | Opcode::Vmax
                | Opcode::Vmin
                | Opcode::Vset
                | Opcode::Vshl
                | Opcode::Vshr
                | Opcode::Vsub
        );
        let second = ["add", "min", "max"].iter().any(|word| modifiers.has(word));
        let merges = written.len() == 4 && opcode != Opcode::Vmad && !second;
        let parts = simd_parts(opcode);
        for (index, operand) in written.iter().enumerate() {
            let Some(selector) = operand.selector.as_deref() else { continue };
            let single = matches!(selector, "b0" | "b1" | "b2" | "b3" | "h0" | "h1");
            let taken = match parts {
                Some(parts) => selects(selector, parts, index),
                None => single && video && (index == 1 || index == 2 || index == 0 && merges),
            };
            if !taken {
                let message = format!("this operand of `{}` takes no `.{selector}`", opcode.name());
                return Err(self.error("selector", operand.span, message));
            }
        }
        Ok(())
    }

    /// Whether a direct call has as many arguments and results as the function.
    fn check_call(
        &mut self,
        destinations: &[Operand],
        sources: &[Operand],
        span: Span,
    ) -> Result<()> {
        let Some((Operand::Symbol { symbol: Symbol::Function(id), .. }, arguments)) =
            sources.split_first()
        else {
            return Ok(());
        };
        let function = &self.module.functions[id.index()];
        let arguments = arguments.iter().filter(|o| !matches!(o, Operand::Label(_))).count();
        let (taken, given) = (function.parameters as usize, function.results as usize);
        if taken == arguments && given == destinations.len() {
            return Ok(());
        }
        let message = format!(
            "`{}` takes {taken} and gives {given}, not {arguments} and {}",
            super::shorten(&function.name),
            destinations.len()
        );
        let hint = Some("the numbers of arguments and results must be those declared".into());
        Err(self.error_with_hint("signature", span, message, hint))
    }
}

/// Modifiers and types of an opcode, for suggestions.
fn words_of(opcode: Opcode) -> Vec<&'static str> {
    let groups = forms(opcode).iter().flat_map(|form| &form.groups);
    let words = groups.flat_map(|group| match &group.words {
        Words::Types(types) => types.iter().map(|ty| ty.name()).collect(),
        Words::Modifiers(words) => words.clone(),
    });
    words.collect()
}

/// How many values each operand of a SIMD video instruction holds.
fn simd_parts(opcode: Opcode) -> Option<usize> {
    let name = opcode.name();
    match name.as_bytes() {
        [b'v', .., b'2'] => Some(2),
        [b'v', .., b'4'] => Some(4),
        _ => None,
    }
}

/// Whether an operand of a SIMD video instruction takes a selector: the result a mask, which names
/// parts from the highest down, and the first two sources a choice for each part. Source: PTX ISA
/// 8.5, section "SIMD Video Instructions".
fn selects(selector: &str, parts: usize, index: usize) -> bool {
    let (letter, digits) = selector.as_bytes().split_at(1);
    let below = |limit: usize| digits.iter().all(|&digit| usize::from(digit - b'0') < limit);
    letter == if parts == 2 { b"h" } else { b"b" }
        && match index {
            0 => below(parts) && digits.windows(2).all(|pair| pair[0] > pair[1]),
            1 | 2 => digits.len() == parts && below(2 * parts),
            _ => false,
        }
}

/// Turns `array[2]`, which is otherwise a place in memory, into its address.
fn address_of(operand: &mut Operand) {
    if let Operand::Address { base: AddressBase::Symbol(symbol), offset } = *operand {
        *operand = Operand::Symbol { symbol, offset };
    }
}

/// Whether two modifiers are one.
fn joins(opcode: Opcode, first: &str, second: &str) -> bool {
    match (first, second) {
        ("xorsign", "abs") | ("mmio", "relaxed") => true,
        ("red", "popc" | "and" | "or") => matches!(opcode, Opcode::Bar | Opcode::Barrier),
        ("warp", "sync") => opcode == Opcode::Bar,
        _ => false,
    }
}
