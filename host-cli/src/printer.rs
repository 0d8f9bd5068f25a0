//! Printer: the one place that prints. Data goes to standard output, everything else to standard
//! error.

use std::io::{ErrorKind, IsTerminal as _, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress::{Progress, Rate};
use crate::terminal::{self, ERROR, REMARK};
use strata_config::name;
use strata_files::failure::{ExitStatus, Failure};
use strata_measure::notes::{Inputs, Notes, Steps};
use strata_report::columns::{Columns, Form};

/// The only place that writes to the terminal.
#[derive(Clone, Debug)]
pub struct Printer {
    quiet: bool,
}

impl Printer {
    /// `quiet` drops progress, notes and warnings, never errors.
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Writes a command's result. A reader that closes the pipe early is no error.
    pub fn data(&self, text: &str) -> Result<ExitStatus, Failure> {
        self.part(text).map(|_| ExitStatus::Success)
    }

    /// Writes a table in a form.
    ///
    /// # Errors
    /// Parquet for a terminal; standard output cannot be written.
    pub fn table(&self, columns: &Columns, form: Form) -> Result<ExitStatus, Failure> {
        if form == Form::Parquet && std::io::stdout().is_terminal() {
            return Err(Failure::input("Parquet is not for a terminal")
                .hint("write it into a file: `> FILE.parquet`"));
        }
        self.bytes(&columns.to_bytes(form)?).map(|_| ExitStatus::Success)
    }

    /// Writes a part of a result. Returns whether there is still a reader.
    pub fn part(&self, text: &str) -> Result<bool, Failure> {
        self.bytes(text.as_bytes())
    }

    /// Writes a result that is no text. Returns whether there is still a reader.
    pub fn bytes(&self, bytes: &[u8]) -> Result<bool, Failure> {
        let mut stdout = std::io::stdout().lock();
        Self::written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    /// Writes what the parser of the command line has to say instead of a command: a usage error to
    /// standard error, help to standard output.
    pub fn usage(&self, said: &clap::Error) -> Result<ExitStatus, Failure> {
        if said.use_stderr() {
            Self::to_stderr(&in_words(&said.render().to_string(), negative_value().as_ref()));
            return Ok(ExitStatus::InputError);
        }
        let written = said.print().and_then(|()| std::io::stdout().flush());
        Self::written(written).map(|_| ExitStatus::Success)
    }

    fn written(written: std::io::Result<()>) -> Result<bool, Failure> {
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::input(format!("cannot write to standard output: {error}"))),
        }
    }

    /// Writes why the command failed.
    pub fn failure(&self, failure: &Failure) {
        Self::to_stderr(&format!("error: {}\n", failure.message()));
    }

    /// A progress bar over `steps` steps, which says how long is left; invisible when quiet or when
    /// standard error is no terminal.
    pub fn progress(&self, steps: u64) -> ProgressBar {
        self.bar(steps, "{pos}/{len} {msg}, {eta} left")
    }

    fn bar(&self, steps: u64, template: &str) -> ProgressBar {
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style)
    }

    /// Messages quote what users and their files wrote.
    fn to_stderr(text: &str) {
        let text = emphasised(&name::shown(text));
        // Nothing sensible is left to do when even standard error is gone.
        drop(std::io::stderr().lock().write_all(text.as_bytes()));
    }
}

impl Notes for Printer {
    fn note(&self, text: &str) {
        if !self.quiet {
            Self::to_stderr(&format!("note: {text}\n"));
        }
    }

    fn warning(&self, text: &str) {
        if !self.quiet {
            Self::to_stderr(text);
        }
    }

    fn steps(&self, steps: u64) -> Box<dyn Steps> {
        Box::new(Rate::new(self.bar(steps, "{pos}/{len} {msg}, {per_sec}, {eta} left")))
    }

    fn inputs(&self, inputs: usize) -> Box<dyn Inputs> {
        let bar = self.bar(inputs as u64, "{pos}/{len} {msg}");
        bar.set_draw_target(ProgressDrawTarget::hidden());
        Box::new(Progress::new(bar, !self.quiet && std::io::stderr().is_terminal()))
    }
}

/// A message whose first word, and that before a hint, stands out where there are colours.
fn emphasised(text: &str) -> String {
    let mut text = text.to_owned();
    for (word, style) in [("error:", ERROR), ("note:", REMARK), ("warning:", REMARK)] {
        if text.starts_with(word) {
            text.replace_range(..word.len(), &terminal::styled_error(word, style));
        }
    }
    let hint = "\n  hint:";
    if let Some(at) = text.find(hint) {
        let styled = terminal::styled_error("hint:", REMARK);
        text.replace_range(at..at + hint.len(), &format!("\n  {styled}"));
    }
    text
}

/// What the parser of the command line says, without the words of Rust's numbers, and of a negative
/// number that it takes for an option as of a value: `negative` is the option and the number.
fn in_words(said: &str, negative: Option<&(String, String)>) -> String {
    if let Some((option, number)) = negative
        && said.starts_with(&format!("error: unexpected argument '{number}' found"))
    {
        return format!(
            "error: `{option} {number}`: a number of 0 or more is expected\n\nFor more \
             information, try '--help'.\n"
        );
    }
    [
        ("invalid digit found in string", "expected a whole number"),
        ("cannot parse integer from empty string", "expected a whole number"),
        ("number too large to fit in target type", "the number is too large"),
        ("number would be zero for non-zero type", "expected a whole number from 1"),
    ]
    .iter()
    .fold(said.to_owned(), |said, (rust, words)| said.replace(rust, words))
}

/// The first negative number of the command line, with the word before it.
fn negative_value() -> Option<(String, String)> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_negative = |word: &str| {
        word.strip_prefix('-')
            .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let pair = words.windows(2).find(|pair| is_negative(&pair[1]))?;
    Some((pair[0].clone(), pair[1].clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spoken_of_in_words() {
        let tip = "error: unexpected argument '-1' found\n\n  tip: to pass '-1' as a value, use";
        let negative = ("-j".to_owned(), "-1".to_owned());
        let told = "error: `-j -1`: a number of 0 or more is expected\n";
        assert!(in_words(tip, Some(&negative)).starts_with(told));
        assert_eq!(in_words(tip, None), tip);
        let said = "error: invalid value 'x' for '--jobs <N>': invalid digit found in string";
        assert!(in_words(said, Some(&negative)).ends_with("'--jobs <N>': expected a whole number"));
    }
}
