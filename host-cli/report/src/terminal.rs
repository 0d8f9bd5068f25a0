//! Terminal: how wide standard output is if it is one, and whether it has colours.

use std::sync::OnceLock;

use anstyle::Style;

/// What headings of tables look like.
const HEADING: Style = Style::new().bold();

/// What tables are written to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// None if it is no terminal. Unit: characters.
    pub width: Option<usize>,
    /// Whether it has colours.
    pub colours: bool,
}

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// Says once what tables are written to; unless it is said, that is no terminal.
pub fn set(terminal: Terminal) {
    let _ = TERMINAL.set(terminal);
}

pub(super) fn terminal() -> Terminal {
    TERMINAL.get().copied().unwrap_or_default()
}

/// A heading, which stands out where there are colours.
pub(super) fn heading(text: &str) -> String {
    if terminal().colours { format!("{HEADING}{text}{HEADING:#}") } else { text.to_owned() }
}
