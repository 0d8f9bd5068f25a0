//! `completions`: scripts for shells, which complete names of workloads and designs as well.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::printer::Printer;
use strata_design as design;
use strata_files::failure::{ExitStatus, Failure};
use strata_workload::{GROUP_MARK, Group};

/// Prints the script.
pub fn run(shell: Shell, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Cli::command()), "strata", &mut script);
    let script = with_files(shell, &String::from_utf8_lossy(&script));
    let inputs = if shell == Shell::Fish { inputs_of_fish() } else { String::new() };
    printer.data(&(script + &inputs))
}

/// What the script of fish has not: arguments without an option.
fn inputs_of_fish() -> String {
    let mut text = String::new();
    for command in Cli::command().get_subcommands() {
        let within = format!("__fish_strata_using_subcommand {}", command.get_name());
        text += &completed(command, &within);
        for below in command.get_subcommands() {
            let within = format!("{within}; and __fish_seen_subcommand_from {}", below.get_name());
            text += &completed(below, &within);
        }
    }
    text
}

fn completed(command: &Command, within: &str) -> String {
    let line = |argument: &Arg| {
        names(argument)
            .map(|names| format!("complete -c strata -n \"{within}\" -a \"{}\"\n", names.join(" ")))
    };
    command.get_positionals().filter_map(line).collect()
}

/// A command whose arguments that take names list them; only for scripts, since they take paths,
/// too.
fn with_names(command: Command) -> Command {
    let named = |argument: Arg| match names(&argument) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(names)),
        None => argument,
    };
    command.mut_args(named).mut_subcommands(with_names)
}

/// What an argument can name, by what stands for its value.
fn names(argument: &Arg) -> Option<Vec<String>> {
    let id = argument.get_id().as_str().to_uppercase();
    let shown = argument.get_value_names().and_then(|names| names.first()).map(|name| &**name);
    let kinds: Vec<_> = shown.unwrap_or(&id).split(['|', '[']).collect();
    let groups = || Group::ALL.into_iter().map(|group| format!("{GROUP_MARK}{}", group.name()));
    match kinds.as_slice() {
        ["WORKLOAD", "@GROUP", ..] => Some(workloads().chain(groups()).collect()),
        ["WORKLOAD" | "F.strata", ..] if kinds.contains(&"WORKLOAD") => Some(workloads().collect()),
        ["DESIGN", ..] | ["NAME", "FILE.toml", ..] => Some(designs()),
        _ => None,
    }
}

fn workloads() -> impl Iterator<Item = String> {
    Group::ALL.into_iter().flat_map(Group::names).map(|name| (*name).to_owned())
}

fn designs() -> Vec<String> {
    design::list().iter().map(|design| design.name.clone()).collect()
}

/// A script in which names do not keep files from being completed. That of bash does so by itself.
fn with_files(shell: Shell, script: &str) -> String {
    let lists = [workloads().collect(), designs()];
    let firsts: Vec<&String> =
        lists.iter().filter_map(|names: &Vec<String>| names.first()).collect();
    let line = |line: &str| {
        let begins = |with: &str, end: &str| {
            firsts.iter().find_map(|first| line.split_once(&format!("{with}{first}{end}")))
        };
        match (shell, begins(":(", " "), begins(" -r -f -a \"", "\\t")) {
            (Shell::Zsh, Some((before, after)), _) => {
                let first = &line[before.len() + 2..line.len() - after.len()];
                let (names, after) = after.split_once(')').unwrap_or((after, ""));
                // A colon ends what is done for an argument, unless it is escaped.
                format!(
                    "{before}:{{_alternative \"names\\:name\\:({first}{names})\" \
                     \"files\\:file\\:_files\"}}{after}"
                )
            }
            (Shell::Fish, _, Some(_)) => line.replacen(" -r -f -a ", " -r -F -a ", 1),
            _ => line.to_owned(),
        }
    };
    script.lines().map(|text| options_behind(shell, &line(text)) + "\n").collect()
}

/// A line of zsh's script for arguments that go on, behind which its two colons let no option be
/// completed; one lets them.
fn options_behind(shell: Shell, line: &str) -> String {
    match line.strip_prefix("'*::") {
        Some(rest) if shell == Shell::Zsh => format!("'*:{rest}"),
        _ => line.to_owned(),
    }
}
