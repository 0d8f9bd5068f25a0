//! Kernels of the paper and of workloads, with what their CTAs need.

use strata_compiler::RegisterLimit;
use strata_core::sm::expansion::{Capacity, CtaNeeds, Threshold};

use super::row::{Resident, Row};
use crate::exact;
use strata_files::failure::Failure;
use strata_measure::Request;
use strata_measure::subject;
use strata_workload::Workload;

/// The kernels of the paper, and ours.
pub const GROUPS: [&str; 2] = ["Table 3", "ours"];

/// A kernel of a group, with what a CTA needs.
pub(super) struct Kernel {
    pub(super) group: &'static str,
    input: String,
    name: String,
    pub(super) needs: CtaNeeds,
}

impl Kernel {
    pub(super) fn row(&self, (machine, capacity): (&str, &Capacity), threshold: Threshold) -> Row {
        let CtaNeeds { threads, registers, scratchpad_bytes } = self.needs;
        let found = Resident::of(capacity, &self.needs, threshold);
        let (resident, refused) = match found {
            Ok(resident) => (Some(resident), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Row {
            machine: machine.to_owned(),
            group: self.group.to_owned(),
            input: self.input.clone(),
            kernel: self.name.clone(),
            threads,
            registers,
            scratchpad_bytes,
            resident,
            refused,
        }
    }
}

/// The kernels of Table 3.
pub(super) fn paper_kernels() -> impl Iterator<Item = Kernel> {
    exact::paper_kernels().into_iter().map(|kernel| Kernel {
        group: GROUPS[0],
        input: kernel.name,
        name: String::new(),
        needs: kernel.needs,
    })
}

/// The kernels of a workload, compiled for a machine. Launches that need the same count once.
pub(super) fn own_kernels(
    workload: &Workload,
    capacity: &Capacity,
    request: &Request,
) -> Result<Vec<Kernel>, Failure> {
    let mut workload = workload.clone();
    let asked = workload.options.registers.map_or(RegisterLimit::MAX, RegisterLimit::get);
    workload.options.registers = RegisterLimit::new(asked.min(capacity.most_registers));
    let prepared = subject::prepare(&workload, &request.size, &request.overrides)?;
    let all = prepared.needs_of_kernels().map_err(|error| subject::run_error(&workload, &error))?;
    let kernel = |(name, needs): (&str, _)| Kernel {
        group: GROUPS[1],
        input: workload.name.clone(),
        name: name.to_owned(),
        needs: CtaNeeds::of(&needs),
    };
    Ok(all.into_iter().map(kernel).collect())
}
