//! Mutants of the order in which lanes wait: what a wrong analysis of it makes is rejected, by the
//! checker of programs or by that of levels.
//!
//! The checkers find the order by themselves. Each mutant forgets one reason why lanes wait
//! somewhere; kernels at random have it often enough that something made of some is wrong.

use strata_ptx::fuzzing::Random;

use super::{Allocated, assemble};
use crate::cfg::Graph;
use crate::checker::{LevelsChecker, Problem, Violation, check};
use crate::divergence::Divergence;
use crate::flow::ControlFlow;
use crate::fuzzing::{Choices, config, generate};
use crate::hierarchy::{Code, fit};
use crate::inline::inline;
use crate::kernel::Kernel;
use crate::order::Forgotten;
use crate::program::Program;

/// Kernels at random that each mutant is tried on.
const KERNELS: u64 = 150;

/// Lanes of a side wait for members that are where it ends, and go on from there to the end: behind
/// their last use of a value, and a deschedule, others still read it in the side.
const BEFORE_END: &str = "\
.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 at) {
.reg .b32 %r<8>;
.reg .b64 %rd<2>;
.reg .pred %p<2>;
ld.param.u64 %rd1, [at];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 16;
add.u32 %r2, %r1, 5;
@%p1 bra JOIN;
mul.lo.u32 %r3, %r1, 7;
shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;
add.u32 %r4, %r3, %r4;
add.u32 %r4, %r3, %r4;
st.global.u32 [%rd1], %r4;
JOIN:
ld.global.u32 %r5, [%rd1+4];
add.u32 %r5, %r5, %r2;
st.global.u32 [%rd1+8], %r5;
ret;
}
";

/// A reason to wait that an analysis forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    /// None: nothing may be rejected.
    Nothing,
    /// Lanes stop within sides, and others go on.
    Stopped,
    /// One reason to stop, or to go on.
    Order(Forgotten),
    /// Lanes wait where their branch's sides meet.
    Joins,
    /// Lanes wait for sides before theirs.
    OtherSides,
}

const MUTANTS: [Mutant; 7] = [
    Mutant::Stopped,
    Mutant::Order(Forgotten::Members),
    Mutant::Order(Forgotten::Barriers),
    Mutant::Order(Forgotten::Turns),
    Mutant::Order(Forgotten::BeforeEnd),
    Mutant::Joins,
    Mutant::OtherSides,
];

impl Mutant {
    fn analysis(self, code: &impl ControlFlow) -> (Graph, Divergence) {
        let graph = match self {
            Self::Order(forgotten) => Graph::forgetting(code, forgotten),
            _ => Graph::new(code),
        }
        .expect("a small kernel");
        let mut divergence = Divergence::new(code, &graph).expect("a small kernel");
        let joins: Vec<u32> = graph.post_dominator.iter().map(|&block| block as u32).collect();
        for (waiting, keeping) in divergence.waiting.iter_mut().zip(&mut divergence.keeping) {
            match self {
                Self::Nothing | Self::Order(_) => {}
                Self::Stopped => waiting.clone_from(keeping),
                Self::Joins => {
                    waiting.retain(|place| !joins.contains(place));
                    keeping.retain(|place| !joins.contains(place));
                }
                Self::OtherSides => {
                    waiting.retain(|place| joins.contains(place));
                    keeping.retain(|place| joins.contains(place));
                }
            }
        }
        (graph, divergence)
    }

    /// What is wrong with the program that is made of a kernel.
    fn of_program(self, kernel: &Kernel) -> Vec<Violation> {
        let (graph, divergence) = self.analysis(kernel);
        let made = Allocated::of(kernel, graph, divergence);
        let Ok(program) = made.and_then(|made| assemble(kernel, made)) else { return Vec::new() };
        check(kernel, &program).err().unwrap_or_default()
    }

    /// What is wrong with the levels of a right program.
    fn of_levels(self, kernel: &Kernel, options: [u8; 4]) -> Vec<Violation> {
        let program: Program = crate::allocate(kernel, None).expect("a small kernel");
        let mut code = Code::new(&program).expect("a small program");
        (code.graph, code.divergence) = self.analysis(&program);
        code.find_live_in();
        let config = config(options);
        let hierarchy = fit(&code, &config).expect("a good config");
        let checker = LevelsChecker::new(kernel, &program).expect("the program is right");
        checker.check(&hierarchy, &config).err().unwrap_or_default()
    }
}

fn kernel(text: &str) -> Kernel {
    let parsed = strata_ptx::parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let (id, _) = parsed.module.kernels().next().expect("a kernel");
    inline(&parsed.module, id).expect("it compiles")
}

fn kernels() -> Vec<(Kernel, [u8; 4])> {
    let random = |seed| {
        let mut random = Random(seed);
        let bytes: Vec<u8> = (0..200 + random.below(600)).map(|_| random.draw() as u8).collect();
        let kernel = kernel(&generate(&mut Choices::new(&bytes)));
        (kernel, [bytes[0], bytes[1], bytes[2], bytes[3] | 7])
    };
    (0..KERNELS).map(random).chain([(kernel(BEFORE_END), [0, 0, 2, 7])]).collect()
}

/// Whether a complaint is about lanes that wait: their values or the levels that they find empty.
fn is_due(violation: &Violation) -> bool {
    matches!(
        violation.problem,
        Problem::OverwritesWaiting { .. }
            | Problem::Unsound { .. }
            | Problem::NotAtLevel { .. }
            | Problem::LostValue { .. }
    )
}

#[test]
fn what_forgets_a_reason_to_wait_is_rejected() {
    let kernels = kernels();
    for (kernel, options) in &kernels {
        assert_eq!(Mutant::Nothing.of_program(kernel), [], "{}", kernel.name);
        assert_eq!(Mutant::Nothing.of_levels(kernel, *options), [], "{}", kernel.name);
    }
    for mutant in MUTANTS {
        let (mut programs, mut levels) = (0, 0);
        for (kernel, options) in &kernels {
            programs += usize::from(mutant.of_program(kernel).iter().any(is_due));
            levels += usize::from(mutant.of_levels(kernel, *options).iter().any(is_due));
        }
        println!("{mutant:?}: {programs} programs, levels of {levels}");
        assert!(programs > 0, "{mutant:?}: no program is rejected");
        // Behind every barrier the upper levels are empty in any case.
        let harmless = mutant == Mutant::Order(Forgotten::Barriers);
        assert!(levels > 0 || harmless, "{mutant:?}: no levels are rejected");
    }
}

/// The checkers know each operation that waits for members, and not only some of them.
#[test]
fn what_forgets_an_operation_that_waits_is_rejected() {
    let shuffle = "shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;";
    for operation in [
        shuffle,
        "vote.sync.ballot.b32 %r4, %p1, -1;",
        "match.any.sync.b32 %r4, %r1, -1;",
        "redux.sync.add.u32 %r4, %r1, -1;",
        "elect.sync %r4|%p1, -1;",
        "mov.u32 %r4, 1;\nbar.warp.sync -1;",
    ] {
        let kernel = kernel(&BEFORE_END.replace(shuffle, operation));
        let options = [0, 0, 2, 7];
        assert_eq!(Mutant::Nothing.of_program(&kernel), [], "{operation}");
        assert_eq!(Mutant::Nothing.of_levels(&kernel, options), [], "{operation}");
        let mutant = Mutant::Order(Forgotten::Members);
        assert!(mutant.of_program(&kernel).iter().any(is_due), "{operation}");
        assert!(mutant.of_levels(&kernel, options).iter().any(is_due), "{operation}");
    }
}
