//! `man`: pages for `man`, from the command line's own descriptions.

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::printer::Printer;
use strata_config::suggest::{did_you_mean, suggest};
use strata_files::failure::{ExitStatus, Failure};

/// Prints the page of a command, named by its words; of none, of the program.
pub fn run(words: &[String], printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut found = command.clone();
    for word in words {
        let next = found.find_subcommand(word).cloned();
        found = next.ok_or_else(|| unknown(&found, word))?;
    }
    // A page is called as its file: `strata-sweep-table.1`.
    let name = found.get_display_name().unwrap_or(found.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(found)
        .title(name)
        .source(format!("strata {}", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Failure::internal(&format!("a page cannot be written: {error}")))?;
    printer.data(&String::from_utf8_lossy(&page))
}

fn unknown(command: &clap::Command, word: &str) -> Failure {
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let failure = Failure::input(format!("`{}` has no command `{word}`", command.get_name()));
    let near = did_you_mean(&suggest(word, names.iter().copied()));
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let all = || format!("it has {names}");
    failure.hint(near.unwrap_or_else(all))
}
