//! Hints: for each fault of a launch, what its reader can do about it.

use strata_ptx::diagnostic::counted;
use strata_simt::fault::{AccessFault, AccessProblem};
use strata_simt::texture::TextureProblem;
use strata_simt::{Device, Fault};

/// How to fix a fault, in one sentence.
pub(super) fn hint(fault: &Fault) -> String {
    match fault {
        Fault::EmptyDimension { what, .. } => {
            format!("every expression of `{what}` must be 1 or more at this size")
        }
        Fault::TooManyThreads { limit, .. } => {
            format!("make `block` smaller, to at most {limit} threads, and `grid` larger instead")
        }
        Fault::Forbidden { refused, .. } => refused.hint.clone().unwrap_or_default(),
        Fault::TooManyCtas { .. } => "make `grid` smaller, or choose a smaller size".to_owned(),
        Fault::WrongArguments { .. } => {
            "give one argument for each parameter of the kernel, in its order".to_owned()
        }
        Fault::TooMuchShared { limit, .. } => format!(
            "the launch's `shared` and the kernel's `.shared` variables may take {limit} bytes \
             together: lower `shared`, or make the variables smaller"
        ),
        Fault::StackTooDeep { .. } => {
            "make the `.local` arrays of the kernel and of the functions that it calls smaller; \
             spilled registers lie there too: a higher `--registers` spills fewer"
                .to_owned()
        }
        Fault::ModuleNotLoaded { .. } => {
            "load the kernel's module into the device before the launch".to_owned()
        }
        Fault::AddressWidth { bits, .. } => {
            format!("make the device with {bits}-bit addresses")
        }
        Fault::Access(fault) => of_access(fault),
        Fault::Texture(_, problem) => of_texture(problem),
        Fault::TooMuchToKeep { .. } => {
            "choose a smaller size, one launch with `--launch-index`, or one CTA with `--cta`; \
             count mode keeps one CTA at a time"
                .to_owned()
        }
        other => of_execution(other).to_owned(),
    }
}

fn of_access(fault: &AccessFault) -> String {
    let AccessFault { space, size, nearest, .. } = fault;
    match fault.problem {
        AccessProblem::Misaligned => format!(
            "an access of {} needs an address that is a multiple of {size}: pass a pointer that \
             is, or access the bytes one by one",
            counted(u64::from(*size), "byte")
        ),
        AccessProblem::ReadOnly => {
            "constant memory and parameters cannot be written: write to a buffer in global memory"
                .to_owned()
        }
        AccessProblem::OutOfBounds if *space == "shared" => {
            "correct the index, or give the launch more dynamic shared memory with `shared`"
                .to_owned()
        }
        AccessProblem::OutOfBounds if *space == "local" => {
            "correct the index, or make the `.local` array larger".to_owned()
        }
        AccessProblem::OutOfBounds if *space == "parameter" => {
            "read within the parameters that the kernel declares".to_owned()
        }
        AccessProblem::OutOfBounds if fault.is_null() => format!(
            "pass a buffer to the parameter that the pointer comes from; `malloc` gives a null \
             pointer when its heap of {} MiB is used up",
            Device::HEAP_BYTES >> 20
        ),
        AccessProblem::OutOfBounds => match nearest {
            None => "give the launch file a [[buffer]], and pass it as an argument".to_owned(),
            Some(near) => format!(
                "if `{name}` is meant: it has {bytes}; give it a larger `count`, or have the \
                 kernel compare its index with the number of elements before the access",
                name = near.name,
                bytes = counted(near.end - near.start, "byte"),
            ),
        },
    }
}

fn of_texture(problem: &TextureProblem) -> String {
    match problem {
        TextureProblem::NoObject { wanted, .. } => format!(
            "pass the handle of a {wanted}: `{{ object = \"NAME\" }}` in `arguments`, with the \
             name of a [[{wanted}]]"
        ),
        TextureProblem::NotBound { name, wanted } => {
            format!("give a [[{wanted}]] of the launch file `reference = \"{name}\"`")
        }
        TextureProblem::WrongKind { wanted, .. } => {
            format!("pass a [[{wanted}]] of the launch file in its place")
        }
        TextureProblem::WrongDimensions { name, wanted, .. } => {
            format!("say `dimensions = \"{wanted}\"` of `{name}` in the launch file")
        }
        TextureProblem::WrongType { name, .. } => {
            format!("choose a `format` of `{name}` that the kernel's instruction reads")
        }
        TextureProblem::NotFiltered { name, .. } => {
            format!("say `filter = \"point\"`, or choose a floating-point `format` of `{name}`")
        }
        TextureProblem::Outside { name, .. } => format!(
            "make the sides of `{name}` larger, or correct the coordinates; an access with \
             `.clamp` or `.zero` may lie outside"
        ),
        TextureProblem::Misaligned { size, .. } => format!(
            "x counts bytes: make it a multiple of {size}, and the `width` large enough for the \
             access"
        ),
        TextureProblem::NoMemory { .. } => {
            "keep the memory of an image until the last access".to_owned()
        }
        TextureProblem::ReadOnly { .. } => {
            "make the surface of a buffer in global memory".to_owned()
        }
    }
}

/// What the instructions of a kernel did wrong, other than accesses.
fn of_execution(fault: &Fault) -> &'static str {
    match fault {
        Fault::Trap(_) => {
            "the kernel stops itself there: look at the condition of that `trap`, and correct the \
             inputs that fulfil it, or the kernel"
        }
        Fault::FreesForeign { .. } => {
            "give `free` only what `malloc` gave, and only once; buffers of the launch file are \
             not freed"
        }
        Fault::CallNowhere { .. } => {
            "take the address of a function whose parameters and results are those of the call; \
             write a recursion as a loop"
        }
        Fault::Assertion(_) => {
            "correct the inputs that break the assertion, or the kernel; compiling with \
             `-DNDEBUG` leaves assertions out"
        }
        Fault::BarrierNeverCompletes { .. } => {
            "have all threads of the CTA execute the same barrier: move it out of branches and \
             loops that only some take, or give it the number of threads that arrive"
        }
        Fault::BarrierMisuse { .. } => {
            "use barriers 0 to 15, with one number of threads for all who wait: a multiple of 32"
        }
        Fault::MbarrierMisuse { .. } => {
            "give every `mbarrier` instruction an object in shared memory that `mbarrier.init` \
             made, and let as many arrive as it was made for"
        }
        Fault::WarpNeverConverges { .. } => {
            "name in the mask only lanes that reach the instruction: make it before the branch, \
             with `vote.sync.ballot` of the branch's condition"
        }
        Fault::NotAMember { .. } => {
            "name every lane that executes the instruction in its mask; 0xffffffff names all"
        }
        Fault::NotAWholeWarp { .. } => {
            "make the number of threads of a block a multiple of 32, and keep matrix instructions \
             out of branches that only some lanes take"
        }
        Fault::MatrixOperand { .. } => {
            "give all lanes of a warp the same address and stride, and a stride that keeps every \
             row aligned"
        }
        Fault::ReadsExited { .. } => {
            "keep all lanes that a shuffle reads until it has been executed: return after it"
        }
        Fault::BudgetExceeded { .. } => {
            "look for an endless loop around this line, and at the arguments that bound it; a \
             launch that is only long needs a higher `--max-instructions`"
        }
        // A program of this project's compiler does not nest so deep.
        Fault::DivergenceTooDeep { .. } => {
            "this is a defect of strata; please report the PTX and the launch file"
        }
        // The others have hints that depend on their values.
        Fault::NeverEnds(_)
        | Fault::NotCooperative { .. }
        | Fault::NotResident { .. }
        | Fault::Workspace { .. } => of_residency(fault),
        Fault::EmptyDimension { .. }
        | Fault::Forbidden { .. }
        | Fault::TooManyThreads { .. }
        | Fault::TooManyCtas { .. }
        | Fault::WrongArguments { .. }
        | Fault::TooMuchShared { .. }
        | Fault::StackTooDeep { .. }
        | Fault::ModuleNotLoaded { .. }
        | Fault::AddressWidth { .. }
        | Fault::Access(_)
        | Fault::Texture(..)
        | Fault::TooMuchToKeep { .. } => "correct the kernel or the launch file",
    }
}

/// What CTAs that wait for each other, or have to be resident together, lack.
fn of_residency(fault: &Fault) -> &'static str {
    match fault {
        Fault::NeverEnds(_) => {
            "make another thread change what the loop reads: lanes of the same warp cannot while \
             they wait for this loop, and threads of a later CTA only if it is resident \
             (`cooperative = true` makes all CTAs resident)"
        }
        Fault::NotCooperative { .. } => {
            "set `cooperative = true` in the launch file's [[launch]], and choose a grid that is \
             resident at once"
        }
        Fault::NotResident { .. } => "make `grid` smaller, or `block` and `shared` of each CTA",
        Fault::Workspace { .. } => "make the parameters of the workload smaller",
        _ => "correct the kernel or the launch file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_simt::fault::Place;

    /// The faults that a launch file and a kernel of a file do not reach, or only with gigabytes;
    /// `tests/cli/faults.rs` runs kernels into the others.
    #[test]
    fn faults_of_other_programs_have_hints() {
        let (kernel, place) = (|| "k".to_owned(), Place::default);
        let dimensions = [1, 0, 1];
        for (fault, told) in [
            (
                Fault::EmptyDimension { kernel: kernel(), what: "grid", dimensions },
                "every expression of `grid` must be 1 or more at this size",
            ),
            (
                Fault::TooManyThreads {
                    kernel: kernel(),
                    block: [2048, 1, 1],
                    threads: 2048,
                    limit: 1024,
                },
                "make `block` smaller, to at most 1024 threads, and `grid` larger instead",
            ),
            (
                Fault::WrongArguments { kernel: kernel(), expected: 8, given: 4 },
                "give one argument for each parameter of the kernel, in its order",
            ),
            (
                Fault::ModuleNotLoaded { kernel: kernel() },
                "load the kernel's module into the device before the launch",
            ),
            (
                Fault::AddressWidth { kernel: kernel(), bits: 32 },
                "make the device with 32-bit addresses",
            ),
            (
                Fault::TooMuchToKeep { place: place(), limit: 9, of_launch: true },
                "choose a smaller size, one launch with `--launch-index`, or one CTA with `--cta`; \
                 count mode keeps one CTA at a time",
            ),
            (
                Fault::DivergenceTooDeep { place: place(), limit: 9 },
                "this is a defect of strata; please report the PTX and the launch file",
            ),
        ] {
            assert_eq!(hint(&fault), told, "{fault}");
        }
    }
}
