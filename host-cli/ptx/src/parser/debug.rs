//! Directives that say where code came from, and `.pragma`: no result depends on what they say.
//!
//! `.file` and `.loc` are kept ([`crate::cuda`]), the others are not.
//!
//! Each is read by its own grammar to the last token and no further: none ends with a `;`, and what
//! stands behind one is an instruction.

use super::{Parser, Result, constant, shorten};
use crate::lexer::Token;
use crate::module::Span;

impl Parser<'_> {
    /// `.file`, `.loc`, `.section`, `.pragma`.
    pub(super) fn debug_directive(&mut self) -> Result<()> {
        let word = self.dot_word().unwrap_or_default();
        self.bump();
        match word {
            "file" => self.file(),
            "loc" => self.location(),
            "section" => self.section(),
            _ => self.pragma(),
        }
    }

    /// `1 "name.cu"`, perhaps with `, time` or `, time, size`.
    fn file(&mut self) -> Result<()> {
        let start = self.span();
        let number = self.plain_number("the number of a file")?;
        let quoted = self.expect(Token::String, "a file name")?;
        let name = self.slice(quoted);
        if !self.cuda.file(number, name.get(1..name.len() - 1).unwrap_or_default()) {
            let message = format!("file {number} has another name already");
            return Err(self.error("redeclared", Span { end: quoted.end, ..start }, message));
        }
        for what in ["the time of the file's last change", "the size of the file"] {
            if !self.eat(Token::Comma) {
                break;
            }
            self.expect(Token::Number, what)?;
        }
        Ok(())
    }

    /// `1 23 5`, perhaps with `, function_name label+4, inlined_at 1 24 9`: the first place is that
    /// in the function that was inlined. A section stands for the label at its start.
    fn location(&mut self) -> Result<()> {
        let (file, line) = self.line_of_a_file()?;
        self.cuda.place(self.previous().end, file, line);
        if !self.eat(Token::Comma) {
            return Ok(());
        }
        self.keyword("function_name")?;
        if !matches!(self.peek(), Token::Word | Token::DotWord) {
            return Err(self.expected("the label of the function's name"));
        }
        self.bump();
        if self.eat(Token::Plus) {
            self.expect(Token::Number, "a number of bytes")?;
        }
        self.expect(Token::Comma, "`,` and `inlined_at`")?;
        self.keyword("inlined_at")?;
        self.line_of_a_file().map(|_| ())
    }

    /// A file's number and a line's; the column is not kept.
    fn line_of_a_file(&mut self) -> Result<(u32, u32)> {
        let file = self.plain_number("the number of a file")?;
        let line = self.plain_number("the number of a line")?;
        self.plain_number("the number of a column")?;
        Ok((file, line))
    }

    /// A number without a sign that has 32 bits.
    fn plain_number(&mut self, what: &str) -> Result<u32> {
        let span = self.expect(Token::Number, what)?;
        let value = constant::whole_number(self.slice(span));
        value.and_then(|value| u32::try_from(value).ok()).ok_or_else(|| {
            let text = shorten(self.slice(span));
            let message = format!("`{text}` is not {what}, which is a whole number below 2^32");
            self.error("syntax", span, message)
        })
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        if self.word() != word {
            return Err(self.expected(&format!("`{word}`")));
        }
        self.bump();
        Ok(())
    }

    /// `.debug_info { ... }`: labels and lists of numbers.
    fn section(&mut self) -> Result<()> {
        if !matches!(self.peek(), Token::Word | Token::DotWord) {
            return Err(self.expected("the name of a section"));
        }
        self.bump();
        self.expect(Token::LeftBrace, "`{`")?;
        while !self.eat(Token::RightBrace) {
            match self.dot_word() {
                Some("b8" | "b16" | "b32" | "b64") => {
                    self.bump();
                    self.section_values()?;
                }
                _ if self.peek() == Token::Word && self.peek_at(1) == Token::Colon => {
                    self.bump();
                    self.bump();
                }
                _ => return Err(self.expected("`.b8`, `.b16`, `.b32`, `.b64`, a label or `}`")),
            }
        }
        Ok(())
    }

    /// `1, -2, 3`, or a place in a section.
    fn section_values(&mut self) -> Result<()> {
        if matches!(self.peek(), Token::Word | Token::DotWord) {
            return self.section_place();
        }
        loop {
            self.eat(Token::Minus);
            self.expect(Token::Number, "a number or a label")?;
            if !self.eat(Token::Comma) {
                return Ok(());
            }
        }
    }

    /// `label`, `.section`, `label+4` or `label - label`.
    fn section_place(&mut self) -> Result<()> {
        self.bump();
        if self.eat(Token::Plus) {
            self.expect(Token::Number, "a number of bytes")?;
        } else if self.eat(Token::Minus) {
            self.identifier("a label")?;
        }
        Ok(())
    }

    fn pragma(&mut self) -> Result<()> {
        loop {
            self.expect(Token::String, "a string")?;
            if !self.eat(Token::Comma) {
                return self.expect_semicolon();
            }
        }
    }

    /// `@@DWARF` of PTX 1.x: a section's header, or what a section holds.
    pub(super) fn old_debug_line(&mut self) -> Result<()> {
        self.bump();
        self.expect(Token::At, "`@@DWARF`")?;
        self.keyword("DWARF")?;
        match self.dot_word() {
            Some("section") => {
                self.bump();
                self.old_section_header()
            }
            Some("byte" | "4byte" | "quad" | "b8" | "b16" | "b32" | "b64") => {
                self.bump();
                self.section_values()
            }
            _ if self.peek() == Token::Word && self.peek_at(1) == Token::Colon => {
                self.bump();
                self.bump();
                Ok(())
            }
            _ => Err(self.expected("`.section`, `.byte`, `.4byte`, `.quad` or a label")),
        }
    }

    /// `.debug_info, "", @progbits`.
    fn old_section_header(&mut self) -> Result<()> {
        self.expect(Token::DotWord, "the name of a section")?;
        if self.eat(Token::Comma) {
            self.expect(Token::String, "a string of flags")?;
        }
        if self.eat(Token::Comma) {
            self.expect(Token::At, "`@progbits`")?;
            self.keyword("progbits")?;
        }
        Ok(())
    }
}
