//! `workloads` and `designs`: what can be named on the command line.

use std::fmt::Write as _;

use super::tables;
use crate::cli::table::TableArgs;
use crate::printer::Printer;
use strata_design as design;
use strata_files::failure::{ExitStatus, Failure};
use strata_report::columns::Columns;
use strata_report::lists;
use strata_report::text_table::TextTable;
use strata_workload::{GROUP_MARK, Group, Toolchain, Workload};

/// Lists the built-in workloads, group by group, with the parameters of each size.
pub fn workloads(args: &TableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let table = workload_table()?;
    tables::print(args, lists::workloads()?, printer, || format!("{table}\n"), Columns::json)
}

fn workload_table() -> Result<TextTable, Failure> {
    let mut table = TextTable::new();
    table.set_header(["group", "workload", "size", "parameters", "description"]);
    for group in Group::ALL {
        let named = format!("{GROUP_MARK}{}", group.name());
        let mut head = named.as_str();
        for name in group.names() {
            let workload = Workload::builtin(name, Toolchain::Nvcc)?;
            for (index, (size, parameters)) in workload.sizes().enumerate() {
                let parameters: Vec<String> =
                    parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let (name, description) =
                    if index == 0 { (name, workload.description()) } else { ("", "") };
                table.add_row([head, name, size, &parameters.join(" "), description]);
                head = "";
            }
        }
    }
    table.group(2);
    Ok(table)
}

/// Lists the designs with their axes and sources.
pub fn designs(args: &TableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::print(args, lists::designs(), printer, design_text, Columns::json)
}

fn design_text() -> String {
    let mut text = String::new();
    let mut machine = "";
    for design in design::list() {
        if design.machine.name != machine {
            machine = &design.machine.name;
            let _ = writeln!(text, "machine {machine}: {}", design.machine.source);
        }
        let axes: Vec<String> = design
            .axes()
            .into_iter()
            .filter(|(axis, _)| *axis != "machine")
            .map(|(axis, value)| format!("{axis}: {value}"))
            .collect();
        let _ = writeln!(text, "  {:14} {}", design.name, axes.join("; "));
    }
    for machine in design::machines() {
        if let Some(upper) = design::name::upper_levels(machine) {
            let name = &machine.name;
            let _ = writeln!(text, "designs of machine {name} also go on with {upper}");
        }
    }
    text.push_str("suffixes of RFC designs, in this order:\n");
    for (suffix, meaning) in design::name::suffixes() {
        let _ = writeln!(text, "  {suffix:14} {meaning}");
    }
    text.push_str("suffixes of ORF designs, in this order:\n");
    for (suffix, meaning) in design::managed::suffixes() {
        let _ = writeln!(text, "  {suffix:16} {meaning}");
    }
    text
}
