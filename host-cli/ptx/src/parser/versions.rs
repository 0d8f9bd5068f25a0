//! PTX versions and machines that are known, and what is said about others.
//!
//! Source: NVIDIA, *Parallel Thread Execution ISA*, version 9.0, "Release Notes" and `.target`. The
//! versions after 9.0 are those of nvcc 13.1 to 13.5, of which the last made the built-in
//! workloads.

use crate::diagnostic::Diagnostic;
use crate::module::Span;

/// The last minor version of each major one from 1; the first is 0.
const LAST_MINOR: [u8; 9] = [5, 3, 2, 3, 0, 5, 8, 8, 5];

/// Machines without features of their own.
const MACHINES: [u32; 31] = [
    10, 11, 12, 13, 20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90,
    100, 101, 103, 107, 110, 120, 121,
];

/// Machines that can be followed by `a`.
const SPECIFIC: [u32; 8] = [90, 100, 101, 103, 107, 110, 120, 121];

/// Machines that can be followed by `f`.
const FAMILIES: [u32; 7] = [100, 101, 103, 107, 110, 120, 121];

/// A warning about a version that is not known.
pub(super) fn version(major: u8, minor: u8, span: Span) -> Option<Diagnostic> {
    let last = usize::from(major).checked_sub(1).and_then(|index| LAST_MINOR.get(index));
    if last.is_some_and(|&last| minor <= last) {
        return None;
    }
    let newest = format!("{}.{}", LAST_MINOR.len(), LAST_MINOR[LAST_MINOR.len() - 1]);
    let message = format!("PTX version {major}.{minor} is not known");
    let hint = format!(
        "known versions are 1.0 to {newest}; the file is read all the same, and an instruction \
         that is not known refuses its kernel"
    );
    Some(Diagnostic::warning("unknown-version", span, message).with_hint(hint))
}

/// A warning about a machine that is not known, of a name such as `sm_90a`.
pub(super) fn machine(name: &str, span: Span) -> Option<Diagnostic> {
    let number = name.split_once('_').map_or("", |(_, number)| number);
    let digits = number.trim_end_matches(['a', 'f']);
    let known = match &number[digits.len()..] {
        "a" => SPECIFIC.as_slice(),
        "f" => FAMILIES.as_slice(),
        _ => MACHINES.as_slice(),
    };
    if digits.parse().is_ok_and(|digits: u32| known.contains(&digits)) {
        return None;
    }
    let message = format!("the machine `{name}` is not known");
    let hint = "known machines are sm_10 to sm_121; the file is used all the same: nothing depends \
                on its machine";
    Some(Diagnostic::warning("unknown-target", span, message).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_manual_are_known_and_others_are_not() {
        let known = |major, minor| version(major, minor, Span::default()).is_none();
        let listed = [(1, 0), (1, 5), (2, 3), (4, 3), (5, 0), (6, 5), (7, 8), (8, 8), (9, 0)];
        for (major, minor) in listed {
            assert!(known(major, minor), "{major}.{minor}");
        }
        for (major, minor) in [(0, 9), (1, 6), (2, 4), (5, 1), (7, 9), (8, 9), (9, 6), (10, 0)] {
            assert!(!known(major, minor), "{major}.{minor}");
        }
    }

    #[test]
    fn machines_of_the_manual_are_known_and_others_are_not() {
        let known = |name| machine(name, Span::default()).is_none();
        for name in ["sm_10", "sm_75", "sm_88", "sm_90a", "sm_100f", "sm_107", "sm_121"] {
            assert!(known(name), "{name}");
        }
        for name in ["sm_14", "sm_75a", "sm_90f", "sm_122", "sm_130a", "compute_200"] {
            assert!(!known(name), "{name}");
        }
    }
}
