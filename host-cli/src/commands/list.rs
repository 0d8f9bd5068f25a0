//! `workloads` and `designs`: what can be named on the command line.

use std::fmt::Write as _;

use super::tables;
use crate::cli::table::TableArgs;
use crate::design::{self, Design};
use crate::failure::{ExitStatus, Failure};
use crate::printer::Printer;
use crate::report::columns::{Cell, Columns};
use crate::report::text_table::TextTable;
use crate::workload::{GROUP_MARK, Group, Toolchain, Workload};

/// Lists the built-in workloads, group by group, with the parameters of each size.
pub fn workloads(args: &TableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    let table = workload_table()?;
    tables::print(args, workload_columns()?, printer, || format!("{table}\n"), Columns::json)
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

/// The built-in workloads, a row for each size.
///
/// # Errors
/// None that a user can cause.
pub fn workload_columns() -> Result<Columns, Failure> {
    let mut columns = Columns::new(["group", "workload", "size", "parameters", "description"]);
    for group in Group::ALL {
        for name in group.names() {
            let workload = Workload::builtin(name, Toolchain::Nvcc)?;
            for (size, parameters) in workload.sizes() {
                let parameters: Vec<_> =
                    parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let parameters = parameters.join(" ");
                let texts = [group.name(), name, size, &parameters, workload.description()];
                columns.rows.push(texts.map(|one| Some(Cell::from(one))).to_vec());
            }
        }
    }
    Ok(columns)
}

/// The designs, a row each, with its value of each key of design files.
pub fn design_columns() -> Columns {
    let header = ["design", "machine", "source"].map(str::to_owned).into_iter();
    let keys = design::parameter_keys().iter().map(|(key, _)| key.clone());
    let row = |design: &Design| {
        let labels = [&design.name, &design.machine.name, &design.source];
        let labels = labels.map(|label| Some(Cell::from(label)));
        let values =
            design.parameters().into_iter().map(|(_, value)| value.as_ref().map(Cell::from));
        labels.into_iter().chain(values).collect()
    };
    Columns { header: header.chain(keys).collect(), rows: design::list().iter().map(row).collect() }
}

/// Lists the designs with their axes and sources.
pub fn designs(args: &TableArgs, printer: &Printer) -> Result<ExitStatus, Failure> {
    tables::print(args, design_columns(), printer, design_text, Columns::json)
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
