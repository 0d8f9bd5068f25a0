//! Terminal: what the program writes to, which it looks at once.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};

use strata_report::terminal::{self, Terminal};

/// Widths below this are not believed.
const NARROWEST: usize = 20;

/// What the word before an error looks like.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What the words before notes, warnings and hints look like.
pub const REMARK: Style = Style::new().bold();

/// Whether standard error has colours.
static COLOURED_ERRORS: OnceLock<bool> = OnceLock::new();

/// Finds out what the program writes to. Without it nothing is a terminal, as for those who use the
/// library.
pub fn look(color: ColorChoice) {
    let (output, error) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
    let plain = is_set("NO_COLOR") || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let has_colours = |is_terminal: bool| match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !plain,
    };
    terminal::set(Terminal {
        width: if output { terminal_width() } else { None },
        colours: has_colours(output),
    });
    let _ = COLOURED_ERRORS.set(has_colours(error));
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// What `COLUMNS` says, or else the terminal.
fn terminal_width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let own = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(own).filter(|&width| width >= NARROWEST)
}

/// A text for standard error, in a style where it has colours.
pub fn styled_error(text: &str, style: Style) -> String {
    let coloured = COLOURED_ERRORS.get().copied().unwrap_or_default();
    if coloured { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// What the words of a command line say of colours, before they are parsed: errors of parsing have
/// them, too. What `--color` cannot be is left to the parser.
pub fn color(words: impl Iterator<Item = OsString>) -> ColorChoice {
    let words: Vec<OsString> = words.take_while(|word| word != "--").collect();
    let mut found = ColorChoice::Auto;
    for (at, word) in words.iter().enumerate() {
        let Some(word) = word.to_str() else { continue };
        let value = match word.strip_prefix("--color") {
            Some("") => words.get(at + 1).and_then(|next| next.to_str()),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        found = value.and_then(|value| value.parse().ok()).unwrap_or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_asked_for_anywhere_on_the_line() {
        for (line, expected) in [
            ("strata designs", ColorChoice::Auto),
            ("strata --color always designs", ColorChoice::Always),
            ("strata designs --color=never", ColorChoice::Never),
            ("strata designs --color=never --color always", ColorChoice::Always),
            ("strata designs --color", ColorChoice::Auto),
            ("strata designs --color blue", ColorChoice::Auto),
            ("strata designs --colors always", ColorChoice::Auto),
            ("strata designs -- --color always", ColorChoice::Auto),
        ] {
            assert_eq!(color(line.split(' ').map(OsString::from)), expected, "{line}");
        }
    }
}
