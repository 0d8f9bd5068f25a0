//! Rules that concern one opcode alone.

use super::context::{Context, Written};
use crate::diagnostic::Diagnostic;
use crate::module::{Operand, Span, StateSpace};
use crate::opcode::Opcode;

/// Everything that such rules find wrong; the number of operands is known to suit the form.
pub(super) fn particular(context: &Context<'_>, written: &[Written]) -> Vec<Diagnostic> {
    let mut problems = match context.opcode {
        Opcode::Bar | Opcode::Barrier if !context.modifiers.warp => barrier(context, written),
        Opcode::Ld | Opcode::St | Opcode::Suld | Opcode::Sust => vector_width(context, written)
            .or_else(|| stored(context, written))
            .into_iter()
            .collect(),
        Opcode::Discard => {
            constant(written, 1, |size| size == 128, "the 128 of a line").into_iter().collect()
        }
        Opcode::Ldmatrix | Opcode::Stmatrix => matrices(context, written).into_iter().collect(),
        Opcode::Mbarrier => result_of_mbarrier(context, written).into_iter().collect(),
        Opcode::CpAsync => copied(context, written).into_iter().collect(),
        _ => Vec::new(),
    };
    problems.extend(misplaced_policy(context, written));
    problems
}

/// Whether an operand is a constant for which `good` does not hold.
fn constant(
    written: &[Written],
    index: usize,
    good: impl Fn(u64) -> bool,
    what: &str,
) -> Option<Diagnostic> {
    let Written { operand: Operand::Integer(value), span, .. } = written.get(index)? else {
        return None;
    };
    let problem = || Diagnostic::error("immediate-range", *span, format!("{value} is not {what}"));
    (!good(*value)).then(problem)
}

/// Barriers have numbers, and wait for whole warps.
fn barrier(context: &Context<'_>, written: &[Written]) -> Vec<Diagnostic> {
    // Reductions name their type.
    let first = usize::from(!context.types.is_empty());
    let number = constant(written, first, |id| id < 16, "a barrier: there are 0 to 15");
    let counted = matches!(written.len() - first, 2 | 3);
    let threads = counted
        .then(|| constant(written, first + 1, |n| n % 32 == 0, "a multiple of 32 threads"))
        .flatten();
    number.into_iter().chain(threads).collect()
}

/// Vectors have at most 128 bits; in global memory, 256 where the components have 32 or 64.
fn vector_width(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    let bits = context.types.first()?.bits();
    let total = bits * u32::from(context.modifiers.vector);
    let global = matches!(context.modifiers.space, None | Some(StateSpace::Global));
    if total <= 128 || global && total == 256 && matches!(bits, 32 | 64) {
        return None;
    }
    let message = format!("a vector of {total} bits cannot be loaded or stored here");
    Some(
        Diagnostic::error("vector-length", written.first()?.span, message)
            .with_hint("vectors have up to 128 bits; `.v8.b32` and `.v4.b64` of `.global` 256"),
    )
}

/// A store has a component that it stores.
fn stored(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    let Written { operand: Operand::Vector(elements), span, .. } = written.get(1)? else {
        return None;
    };
    let nothing = elements.iter().all(|element| *element == Operand::Sink);
    let problem = || Diagnostic::error("operand-kind", *span, "this store stores nothing");
    (context.opcode == Opcode::St && nothing).then(problem)
}

/// As many registers as matrices are loaded or stored.
fn matrices(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    let wanted = context.modifiers.other.iter().find_map(|word| match word.as_str() {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    });
    let (elements, span) = written.iter().find_map(|written| match &written.operand {
        Operand::Vector(elements) => Some((elements, written.span)),
        _ => None,
    })?;
    let wanted = wanted.filter(|&wanted| wanted != elements.len())?;
    let message = format!("a vector of {wanted} is needed here");
    Some(Diagnostic::error("vector-length", span, message))
}

/// Arrivals may have no result, and have none in the shared memory of a cluster; others have one.
fn result_of_mbarrier(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    let has = |word| context.modifiers.has(word);
    let remote = context.modifiers.subspace.as_deref() == Some("cluster");
    let first = written.first()?;
    let sink = first.operand == Operand::Sink;
    let problem = |message| Some(Diagnostic::error("operand-kind", first.span, message));
    let arrives = has("arrive") || has("arrive_drop");
    if arrives && remote && !sink {
        let problem = problem("an arrival with `.shared::cluster` gives no state");
        return problem.map(|problem| problem.with_hint("write `_` in its place"));
    }
    if sink && !arrives { problem("this result cannot be left out") } else { None }
}

/// Asynchronous copies have a few sizes.
fn copied(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    let bypass = context.modifiers.has("cg");
    let good = |size| if bypass { size == 16 } else { matches!(size, 4 | 8 | 16) };
    constant(written, 2, good, "a size that this copy can have (4, 8 or 16 bytes; 16 with `.cg`)")
}

/// Whether a cache policy is given where there is no second-level cache on the way.
fn misplaced_policy(context: &Context<'_>, written: &[Written]) -> Option<Diagnostic> {
    if context.opcode == Opcode::CpAsync
        || !matches!(context.modifiers.space, Some(StateSpace::Shared | StateSpace::Local))
    {
        return None;
    }
    let is_policy = |word: &&String| word.starts_with("L1::") || word.starts_with("L2::");
    let policy = context.modifiers.other.iter().find(is_policy)?;
    let span = written.first().map_or(Span::default(), |written| written.span);
    let message = format!("`.{policy}` goes with global memory only");
    Some(Diagnostic::error("modifiers", span, message))
}
