//! State spaces.

/// Where a variable lives, and what an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    /// No space written: the generic address space.
    Generic,
    /// `.const`.
    Const,
    /// `.global`.
    Global,
    /// `.local`: private to a thread.
    Local,
    /// `.param`: a kernel's parameters, or a function's arguments and results.
    Param,
    /// `.shared`: one copy for each CTA.
    Shared,
}
