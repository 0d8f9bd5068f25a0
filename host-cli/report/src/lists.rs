//! Lists of what can be named, as columns.

use strata_design::{self as design, Design};
use strata_files::failure::Failure;
use strata_workload::{Group, Toolchain, Workload};

use crate::columns::{Cell, Columns};

/// The built-in workloads, a row for each size.
///
/// # Errors
/// None that a user can cause.
pub fn workloads() -> Result<Columns, Failure> {
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
pub fn designs() -> Columns {
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
