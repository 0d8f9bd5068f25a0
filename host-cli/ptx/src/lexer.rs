//! Lexer: PTX text to tokens with their places.

use logos::{Lexer, Logos, Skip};

use crate::module::Span;

/// One kind of token. Its text is found through its span.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\v]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(crate) enum Token {
    /// A name or opcode: `%r1`, `$L__BB0_2`, `add`.
    #[regex(r"[a-zA-Z][a-zA-Z0-9_$]*|[_$%][a-zA-Z0-9_$]+", priority = 4)]
    Word,
    /// `_`.
    #[token("_", priority = 5)]
    Underscore,
    /// A word after a dot: `.u32`, `.2d`, `.L2::128B`.
    #[regex(r"\.[a-zA-Z0-9_$]+(::[a-zA-Z0-9_]+)*")]
    DotWord,
    /// An integer of any base, `0f...`, `0d...` or `1e5`; its digits are checked by the parser.
    #[regex(r"[0-9][0-9a-zA-Z_$]*", priority = 4)]
    Number,
    /// A decimal number with a point or a signed exponent.
    #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", priority = 6)]
    #[regex(r"[0-9]+[eE][+-][0-9]+", priority = 6)]
    Decimal,
    #[regex(r#""[^"\n]*""#)]
    String,
    #[token("@")]
    At,
    #[token("!")]
    Bang,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("(")]
    LeftParenthesis,
    #[token(")")]
    RightParenthesis,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&")]
    And,
    #[token("|")]
    Pipe,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("?")]
    Question,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    EqualEqual,
    #[token("!=")]
    NotEqual,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    /// A comment that never ends; reaches to the end of the file.
    #[token("/*", block_comment)]
    OpenComment,
    /// Bytes that begin no token.
    Unknown,
    /// Stands after the last token.
    End,
}

/// Skips to the end of a block comment, or takes the rest of the file.
fn block_comment(lexer: &mut Lexer<'_, Token>) -> Result<Skip, ()> {
    match lexer.remainder().find("*/") {
        Some(length) => {
            lexer.bump(length + 2);
            Ok(Skip)
        }
        None => Err(()),
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    /// What it is.
    pub(crate) token: Token,
    /// Where it is.
    pub(crate) span: Span,
}

/// The beginning of a text, before its first function.
pub(crate) fn head(text: &str) -> &str {
    let mut lexer = Token::lexer(text);
    while let Some(Ok(token)) = lexer.next() {
        if token == Token::DotWord && matches!(lexer.slice(), ".entry" | ".func") {
            return &text[..lexer.span().start];
        }
    }
    text
}

/// Cuts `text` into tokens and appends one [`Token::End`]. Adjacent unknown bytes become one token.
///
/// The caller has made sure that `text` is short enough for 32-bit offsets.
pub(crate) fn lex(text: &str) -> Vec<Lexeme> {
    let mut lexemes: Vec<Lexeme> = Vec::with_capacity(text.len() / 4 + 1);
    let mut lexer = Token::lexer(text);
    while let Some(result) = lexer.next() {
        let range = lexer.span();
        let mut span = Span { start: range.start as u32, end: range.end as u32 };
        let token = match result {
            Ok(token) => token,
            Err(()) if lexer.slice().starts_with("/*") => {
                span.end = text.len() as u32;
                lexemes.push(Lexeme { token: Token::OpenComment, span });
                break;
            }
            Err(()) => Token::Unknown,
        };
        match lexemes.last_mut() {
            Some(last)
                if token == Token::Unknown
                    && last.token == Token::Unknown
                    && last.span.end == span.start =>
            {
                last.span.end = span.end;
            }
            _ => lexemes.push(Lexeme { token, span }),
        }
    }
    let end = text.len() as u32;
    lexemes.push(Lexeme { token: Token::End, span: Span { start: end, end } });
    lexemes
}
