//! Plain text: names out of files that may be printed and written as they are.
//!
//! The one rule of all readers of traces and recordings. What breaks it is refused, so that nothing
//! has to be escaped where it is printed.

/// Longest name of a kernel. Unit: bytes.
pub(crate) const MAX_NAME: usize = 1 << 16;
/// Longest mnemonic. Unit: bytes.
pub(crate) const MAX_MNEMONIC: usize = 96;

/// Whether a text shows as what it is: without control characters, and without those that no
/// terminal shows or that move others (Unicode's formats and separators of lines).
pub(crate) fn is_plain(text: &str) -> bool {
    !text.chars().any(|char| char.is_control() || is_format(char))
}

/// Unicode's categories Cf, Zl and Zp.
fn is_format(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether bytes are a mnemonic with its modifiers, such as `IMAD.MOV.U32`.
pub(crate) fn is_mnemonic(text: &[u8]) -> bool {
    let letters = text.iter().all(|b| b.is_ascii_alphanumeric() || b"._".contains(b));
    let starts = text.first().is_some_and(u8::is_ascii_uppercase);
    letters && starts && text.len() <= MAX_MNEMONIC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_moves_text_is_not_plain() {
        for text in ["", "_Z9vectorAddPKfS0_Pfi", "k<int, 4>", "größe", "核"] {
            assert!(is_plain(text), "{text:?}");
        }
        for char in [
            '\0',
            '\t',
            '\n',
            '\r',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{ad}',
            '\u{200b}',
            '\u{200f}',
            '\u{2028}',
            '\u{202e}',
            '\u{2066}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(!is_plain(&format!("a{char}b")), "{char:?}");
        }
    }
}
