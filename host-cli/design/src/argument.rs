//! Arguments that name a design: a name or a file, perhaps with parameters behind it.

use std::path::Path;

/// The base and what follows it, of a design with parameters. A comma alone makes none.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once(',').filter(|(_, parameters)| parameters.contains('='))
}

/// What is typed before the parameters.
pub(super) fn base(text: &str) -> &str {
    split(text).map_or(text, |(base, _)| base)
}

/// Whether a design is named by its file.
pub fn is_file(text: &str) -> bool {
    is_toml(base(text))
}

/// Whether a text is the name of a TOML file.
pub fn is_toml(text: &str) -> bool {
    let extension = Path::new(text).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The pieces of a list between commas that are in no brackets and no quotes, without the spaces
/// around them.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut cuts = Vec::new();
    let (mut depth, mut quoted, mut start) = (0_i32, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'[' if !quoted => depth += 1,
            b']' if !quoted => depth -= 1,
            b',' if !quoted && depth <= 0 => {
                cuts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    cuts.push(start..text.len());
    cuts.into_iter().map(|cut| text[cut].trim())
}
