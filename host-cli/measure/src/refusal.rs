//! Refusal: what keeps an input from being counted, as the failure of a command.

use strata_core::energy::EnergyError;
use strata_core::sm::config::CtaTooLarge;
use strata_core::sm::counters::StallReason;
use strata_core::sm::fault::Fault;
use strata_files::failure::Failure;

use crate::evaluate::EvaluateError;
use crate::levels::FitError;
use crate::timing::TimingError;

/// What keeps an input from being counted: where it is not the input's affair or the design's, a
/// defect.
pub fn failure(input: &str, error: EvaluateError) -> Failure {
    refusal(input, &error).unwrap_or_else(|| match error {
        EvaluateError::Levels(error) => error.into(),
        other => Failure::internal(&other.to_string()),
    })
}

/// Errors of the input or the design, for inputs of any kind: kernels that do not fit the SM or
/// never end in time, and designs that cannot be combined with the request.
pub(crate) fn refusal(input: &str, error: &EvaluateError) -> Option<Failure> {
    match error {
        EvaluateError::Timing(error @ TimingError::PartialWarps) => Some(
            Failure::input(format!("{error}"))
                .hint("leave it out of the design file, or run in count mode"),
        ),
        EvaluateError::Timing(TimingError::Fault(fault @ Fault::Stalled { reason, .. })) => {
            let hint = match reason {
                StallReason::Barrier => {
                    "warps at barriers keep all places of the active set: raise `active_warps`, or \
                     set `barrier = \"always\"`"
                }
                _ => "",
            };
            let message = format!("`{input}` does not end in time: {fault}");
            Some(Failure::input(message).hint(hint))
        }
        EvaluateError::Levels(error @ FitError::NoProgram) => Some(
            Failure::input(format!("`{input}` cannot be counted: {error}"))
                .hint("run the PTX file or the workload itself"),
        ),
        // Every table and every count may be so large that their product is not a number any more.
        EvaluateError::Energy(EnergyError::Overflow)
        | EvaluateError::Timing(TimingError::Overflow)
        | EvaluateError::Overflow(_)
        | EvaluateError::Values(_) => Some(
            Failure::input(format!("`{input}`: {error}"))
                .hint("give the design smaller energies, or run less at a time"),
        ),
        EvaluateError::Timing(TimingError::TooLarge(error)) => Some(too_large(input, error)),
        _ => None,
    }
}

/// A launch of which no CTA fits the SM.
pub(crate) fn too_large(input: &str, error: &CtaTooLarge) -> Failure {
    Failure::input(format!("`{input}` does not fit the design's SM: {error}"))
        .hint("launch smaller CTAs, or give the design more in `[sm]` or `[storage]`")
}
