//! Lists of values that were asked for, and of workloads that are left.

use strata_workload::Workload;

/// The names of the workloads behind those that are done.
pub(super) fn missing(workloads: &[Workload], done: usize) -> Vec<String> {
    workloads[done..].iter().map(|workload| workload.name.clone()).collect()
}

/// In the order of first appearance.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
