//! Diagnostics: what is wrong with a file, where, and how to put it right.
//!
//! What is wrong is kept apart from how it is drawn: [`render`] is one way, without colour.

use std::fmt::{Display, Write as _};

use crate::cuda::{CudaLines, CudaPlace};
use crate::module::span::Span;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The file is malformed: there is no module to use.
    Error,
    /// Well-formed PTX that cannot be executed yet: the kernel that contains it is refused, others
    /// are not.
    Unsupported,
    /// Nothing is wrong that is known of, but something is not known: the file is used.
    Warning,
}

impl DiagnosticKind {
    /// The word that begins a message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Unsupported => "unsupported",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave it is.
    pub kind: DiagnosticKind,
    /// Stable name of the rule, such as `unknown-opcode`.
    pub code: &'static str,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// Where. Unit: bytes of the source text.
    pub span: Span,
    /// How to put it right, where that is known.
    pub hint: Option<String>,
    /// Name of the kernel or function that contains the place.
    pub kernel: Option<String>,
    /// The place in CUDA, where the PTX says so.
    pub cuda: Option<CudaPlace>,
}

impl Diagnostic {
    /// An error without hint.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Error, code, span, message)
    }

    /// Something that cannot be executed yet.
    pub fn unsupported(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Unsupported, code, span, message)
    }

    /// Something that is not known.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Warning, code, span, message)
    }

    fn new(
        kind: DiagnosticKind,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        Self { kind, code, message, span, hint: None, kernel: None, cuda: None }
    }

    /// This diagnostic with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// This diagnostic with its place in CUDA, as its module knows it.
    #[must_use]
    pub fn with_cuda(mut self, lines: &CudaLines) -> Self {
        self.cuda = lines.of(self.span);
        self
    }

    /// This diagnostic inside the named kernel or function.
    #[must_use]
    pub fn in_kernel(mut self, kernel: impl Into<String>) -> Self {
        self.kernel = Some(kernel.into());
        self
    }
}

/// A place as a person counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1. Unit: characters; a tab is one.
    pub column: u32,
}

/// Where the lines of a text begin: built once, asked often.
#[derive(Clone, Debug)]
pub struct LineIndex {
    // Invariant: strictly increasing; starts[0] == 0.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the line starts of `text`. Offsets beyond 32 bits are not indexed.
    pub fn new(text: &str) -> Self {
        Self { starts: line_starts(text).collect() }
    }

    /// Line that contains a byte offset, from 1; the last line for offsets past the end.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }

    /// Line and column of a byte offset in `text`, which must be the text the index was built from
    /// (otherwise the answer means nothing, but nothing fails).
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1] as usize;
        let end = (offset as usize).min(text.len()).max(start);
        let before = text.as_bytes().get(start..end).unwrap_or_default();
        // Continuation bytes of UTF-8 begin no character.
        let characters = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        Position { line, column: characters as u32 + 1 }
    }

    /// The text of a line without its end; empty for a line that is not there.
    pub fn text<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let index = (line as usize).wrapping_sub(1);
        let Some(&start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).map_or(text.len(), |&next| next as usize);
        text.get(start as usize..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }
}

/// A number of things in words: `1 byte`, `2 bytes`, `2 entries`, `2 launches`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if number == "1" => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with("ch") || noun.ends_with(['s', 'x']) => format!("{number} {noun}es"),
        None => format!("{number} {noun}s"),
    }
}

/// Where the lines of a text begin. Unit: bytes.
pub(crate) fn line_starts(text: &str) -> impl Iterator<Item = u32> + '_ {
    let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
    let after = newlines.filter_map(|(index, _)| u32::try_from(index + 1).ok());
    std::iter::once(0).chain(after)
}

/// Columns of a source line that are shown.
const SHOWN_COLUMNS: usize = 96;
/// Characters of a kernel's name that are shown: those of C++ templates can have thousands.
const NAME_SHOWN: usize = 60;
/// Columns kept before the place when a line is cut.
const CONTEXT_COLUMNS: usize = 32;

/// Draws a diagnostic as plain text: `file:line:column`, what it is about, with its place in CUDA,
/// the source line, a caret, the hint.
///
/// Tabs and control characters are drawn as one space, so that the caret stands where it should; a
/// long line is cut around the place.
pub fn render(diagnostic: &Diagnostic, file: &str, text: &str, lines: &LineIndex) -> String {
    let Position { line, column } = lines.position(text, diagnostic.span.start);
    let kind = diagnostic.kind.name();
    let mut out = format!("{file}:{line}:{column}: {kind}: {}", diagnostic.message);
    let kernel = diagnostic.kernel.as_ref().map(|kernel| {
        let cut = kernel.char_indices().nth(NAME_SHOWN).map(|(index, _)| index);
        cut.map_or_else(|| format!("in `{kernel}`"), |cut| format!("in `{}...`", &kernel[..cut]))
    });
    let cuda = diagnostic.cuda.as_ref().map(|place| format!("from {place}"));
    let about: Vec<String> = kernel.into_iter().chain(cuda).collect();
    if !about.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(out, " ({})", about.join(", "));
    }
    out.push('\n');
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let excerpt =
        excerpt(lines.text(text, line), column as usize - 1, span_width(diagnostic, text));
    let _ = writeln!(out, "{margin} |");
    let _ = writeln!(out, "{number} | {}", excerpt.line.trim_end());
    let _ = writeln!(out, "{margin} | {}", excerpt.marker);
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(out, "{margin} = hint: {hint}");
    }
    out
}

/// Characters from the span's start to its end or the end of the line.
fn span_width(diagnostic: &Diagnostic, text: &str) -> usize {
    let Span { start, end } = diagnostic.span;
    let spanned = text.get(start as usize..end as usize).unwrap_or_default();
    spanned.chars().take(SHOWN_COLUMNS).take_while(|&c| c != '\n' && c != '\r').count().max(1)
}

struct Excerpt {
    line: String,
    marker: String,
}

/// Cuts a line around `column` (from 0) and draws the marker beneath.
fn excerpt(line: &str, column: usize, width: usize) -> Excerpt {
    let first = if column < SHOWN_COLUMNS { 0 } else { column - CONTEXT_COLUMNS };
    let mut rest = line.chars().skip(first);
    let mut shown: String = if first > 0 { "...".into() } else { String::new() };
    let indent = shown.len() + column - first;
    shown.extend(rest.by_ref().take(SHOWN_COLUMNS).map(|c| if c.is_control() { ' ' } else { c }));
    if rest.next().is_some() {
        shown.push_str("...");
    }
    let room = SHOWN_COLUMNS.saturating_sub(column - first).max(1);
    let marker = format!("{}{}", " ".repeat(indent), "^".repeat(width.min(room)));
    Excerpt { line: shown, marker }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn numbers_agree_with_their_nouns() {
        for (number, noun, words) in [
            (0, "byte", "0 bytes"),
            (1, "byte", "1 byte"),
            (2, "CTA", "2 CTAs"),
            (1, "entry", "1 entry"),
            (3, "entry", "3 entries"),
            (2, "array", "2 arrays"),
            (9, "launch", "9 launches"),
            (2, "box", "2 boxes"),
        ] {
            assert_eq!(counted(number, noun), words);
        }
    }
}
