//! Random programs with nested branches and loops, wide values, loads of long latency and barriers,
//! against an interpreter that runs one thread at a time on the program's tree and knows nothing of
//! masks, stacks or registers in rows. Programs run twice, the second time with their values in a
//! compiler-managed hierarchy, and both are proved by the compiler's checker.

use std::cell::Cell;
use std::fmt::Write as _;

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Strategy, any, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::common::{Arguments, Bench, Random, config, launch};

/// Variables of a program.
const VARIABLES: u32 = 6;
/// Variables of 64 bits, which start as 0.
const WIDE: u32 = 3;

/// An operand: a variable or a constant.
#[derive(Clone, Copy, Debug)]
enum Term {
    Variable(u32),
    Constant(u32),
}

/// A computation.
#[derive(Clone, Copy, Debug)]
enum Compute {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    DivU,
    Select,
}

/// A comparison of two terms.
#[derive(Clone, Copy, Debug)]
struct Condition {
    signed: bool,
    less: bool,
    a: Term,
    b: Term,
}

/// A statement.
#[derive(Clone, Debug)]
enum Statement {
    Assign(u32, Compute, Term, Term),
    Guarded(Condition, u32, Compute, Term, Term),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// Repeats until the condition fails or the bound is reached; `bool`: tests before the body.
    Loop(Condition, u32, bool, Vec<Statement>),
    /// Leaves the innermost loop, if the condition holds.
    Break(Condition),
    /// Ends the thread after storing, if the condition holds.
    Exit(Condition),
    /// A wide variable becomes the product of two terms plus another wide variable.
    Widen(u32, Term, Term, u32),
    /// A variable becomes a half of a wide one: the upper half, if the flag says so.
    Narrow(u32, u32, bool),
    /// A variable becomes one of the thread's inputs, which a term chooses, from global memory.
    Load(u32, Term),
    /// Waits for all threads of the CTA.
    Barrier,
    /// A variable's own value by way of a shuffle that names every lane of the warp.
    Own(u32),
}

impl Statement {
    /// Whether it may end the thread.
    fn exits(&self) -> bool {
        match self {
            Self::Exit(_) => true,
            Self::If(_, yes, no) => yes.iter().chain(no).any(Self::exits),
            Self::Loop(_, _, _, body) => body.iter().any(Self::exits),
            _ => false,
        }
    }
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        1 => (any::<u32>(), 0_u32..32).prop_map(|(value, by)| Term::Constant(value >> by)),
        3 => (0..VARIABLES).prop_map(Term::Variable),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    (any::<bool>(), weighted(2.0 / 3.0), term(), term())
        .prop_map(|(signed, less, a, b)| Condition { signed, less, a, b })
}

fn compute() -> impl Strategy<Value = Compute> {
    use Compute::{Add, And, DivU, Min, Mul, Or, Select, Shl, Shr, Sub, Xor};
    select(&[Add, Sub, Mul, And, Or, Xor, Shl, Shr, Min, DivU, Select][..])
}

/// Statements that nest at most `depth` deep.
fn statement(depth: u32, in_loop: bool) -> BoxedStrategy<Statement> {
    let target = || 0..VARIABLES;
    let leave = condition().prop_map(move |condition| {
        if in_loop { Statement::Break(condition) } else { Statement::Exit(condition) }
    });
    let simple = prop_oneof![
        1 => (0..WIDE, term(), term(), 0..WIDE)
            .prop_map(|(wide, a, b, c)| Statement::Widen(wide, a, b, c)),
        1 => (target(), 0..WIDE, any::<bool>())
            .prop_map(|(target, wide, upper)| Statement::Narrow(target, wide, upper)),
        1 => (target(), term()).prop_map(|(target, which)| Statement::Load(target, which)),
        4 => (target(), compute(), term(), term())
            .prop_map(|(target, compute, a, b)| Statement::Assign(target, compute, a, b)),
        1 => (condition(), target(), compute(), term(), term())
            .prop_map(|(guard, target, compute, a, b)| {
                Statement::Guarded(guard, target, compute, a, b)
            }),
        1 => leave,
    ];
    let Some(deeper) = depth.checked_sub(1) else { return simple.boxed() };
    prop_oneof![
        9 => simple,
        1 => condition().prop_map(Statement::Exit),
        3 => (condition(), block(deeper, in_loop), block(deeper, in_loop))
            .prop_map(|(condition, yes, no)| Statement::If(condition, yes, no)),
        2 => (condition(), 1_u32..=5, any::<bool>(), block(deeper, true))
            .prop_map(|(condition, bound, first, body)| {
                Statement::Loop(condition, bound, first, body)
            }),
    ]
    .boxed()
}

fn block(depth: u32, in_loop: bool) -> impl Strategy<Value = Vec<Statement>> {
    vec(statement(depth, in_loop), 1..=4)
}

/// A program and how it is run.
#[derive(Clone, Debug)]
struct Case {
    program: Vec<Statement>,
    /// Where all threads wait for each other, if they come that far.
    barrier: usize,
    /// Of the threads' inputs.
    seed: u64,
    /// Of the hierarchy.
    config: u64,
    /// How the program ends.
    last: Option<Last>,
}

/// The last statement of a program that has lanes wait for others: these may exit by then, wait for
/// the others behind branches and a loop, or come as well.
#[derive(Clone, Debug)]
struct Last {
    /// Branches around it, from the outermost, with what other lanes do instead.
    around: Vec<(Condition, Vec<Statement>)>,
    /// The condition, bound and form of a loop around it.
    repeated: Option<(Condition, u32, bool)>,
    target: u32,
    before: Vec<Statement>,
    behind: Vec<Statement>,
}

impl Last {
    fn statement(&self) -> Statement {
        let mut inside = self.before.clone();
        inside.push(Statement::Own(self.target));
        inside.extend(self.behind.iter().cloned());
        if let Some((condition, bound, first)) = self.repeated {
            inside = vec![Statement::Loop(condition, bound, first, inside)];
        }
        for (condition, others) in self.around.iter().rev() {
            inside = vec![Statement::If(*condition, inside, others.clone())];
        }
        inside.into_iter().next().unwrap_or(Statement::Own(self.target))
    }
}

fn last() -> impl Strategy<Value = Last> {
    let around = vec((condition(), block(1, false)), 1..=3);
    let repeated = proptest::option::of((condition(), 1_u32..=4, any::<bool>()));
    let inside = |in_loop| (vec(statement(1, in_loop), 0..=3), vec(statement(1, in_loop), 0..=3));
    (around, repeated, 0..VARIABLES, inside(false)).prop_map(
        |(around, repeated, target, (before, behind))| Last {
            around,
            repeated,
            target,
            before,
            behind,
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    (vec(statement(3, false), 6), 1_usize..=5, any::<u64>(), 0_u64..150).prop_map(
        |(program, barrier, seed, config)| Case { program, barrier, seed, config, last: None },
    )
}

/// Cases in which lanes wait for others at the end.
fn leaving() -> impl Strategy<Value = Case> {
    (case(), last()).prop_map(|(case, last)| Case { last: Some(last), ..case })
}

/// How a block ended.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Exit,
}

/// One thread, one statement after another.
struct Thread {
    inputs: [u32; VARIABLES as usize],
    variables: [u32; VARIABLES as usize],
    wide: [u64; WIDE as usize],
}

impl Thread {
    fn term(&self, term: Term) -> u32 {
        match term {
            Term::Variable(index) => self.variables[index as usize],
            Term::Constant(value) => value,
        }
    }

    fn holds(&self, condition: Condition) -> bool {
        let (a, b) = (self.term(condition.a), self.term(condition.b));
        match (condition.less, condition.signed) {
            (true, true) => (a as i32) < b as i32,
            (true, false) => a < b,
            (false, _) => a == b,
        }
    }

    fn compute(&mut self, target: u32, compute: Compute, a: Term, b: Term) {
        let (a, b) = (self.term(a), self.term(b));
        self.variables[target as usize] = match compute {
            Compute::Add => a.wrapping_add(b),
            Compute::Sub => a.wrapping_sub(b),
            Compute::Mul => a.wrapping_mul(b),
            Compute::And => a & b,
            Compute::Or => a | b,
            Compute::Xor => a ^ b,
            Compute::Shl => a.checked_shl(b).unwrap_or(0),
            Compute::Shr => a.checked_shr(b).unwrap_or(0),
            Compute::Min => (a as i32).min(b as i32) as u32,
            Compute::DivU => a.checked_div(b).unwrap_or(u32::MAX),
            Compute::Select => {
                if a > b {
                    a
                } else {
                    17
                }
            }
        };
    }

    fn block(&mut self, block: &[Statement]) -> Flow {
        for statement in block {
            match statement {
                Statement::Assign(target, compute, a, b) => self.compute(*target, *compute, *a, *b),
                Statement::Guarded(condition, target, compute, a, b) => {
                    if self.holds(*condition) {
                        self.compute(*target, *compute, *a, *b);
                    }
                }
                Statement::If(condition, yes, no) => {
                    let flow = self.block(if self.holds(*condition) { yes } else { no });
                    if flow != Flow::On {
                        return flow;
                    }
                }
                Statement::Loop(condition, bound, first, body) => {
                    for _ in 0..*bound {
                        if *first && !self.holds(*condition) {
                            break;
                        }
                        match self.block(body) {
                            Flow::Exit => return Flow::Exit,
                            Flow::Break => break,
                            Flow::On => {}
                        }
                        if !*first && !self.holds(*condition) {
                            break;
                        }
                    }
                }
                Statement::Widen(target, a, b, added) => {
                    let product = u64::from(self.term(*a)) * u64::from(self.term(*b));
                    let sum = product.wrapping_add(self.wide[*added as usize]);
                    self.wide[*target as usize] = sum;
                }
                Statement::Narrow(target, wide, upper) => {
                    let value = self.wide[*wide as usize];
                    self.variables[*target as usize] =
                        if *upper { (value >> 32) as u32 } else { value as u32 };
                }
                Statement::Load(target, which) => {
                    let loaded = self.inputs[(self.term(*which) & 3) as usize];
                    self.variables[*target as usize] = loaded;
                }
                Statement::Barrier | Statement::Own(_) => {}
                Statement::Break(condition) => {
                    if self.holds(*condition) {
                        return Flow::Break;
                    }
                }
                Statement::Exit(condition) => {
                    if self.holds(*condition) {
                        return Flow::Exit;
                    }
                }
            }
        }
        Flow::On
    }
}

/// PTX of a program.
struct Writer {
    text: String,
    labels: u32,
    counters: u32,
}

impl Writer {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn term(term: Term) -> String {
        match term {
            Term::Variable(index) => format!("%v{index}"),
            Term::Constant(value) => format!("{value}"),
        }
    }

    /// Leaves a condition in a predicate.
    fn condition(&mut self, condition: Condition) {
        let name = match (condition.less, condition.signed) {
            (true, true) => "lt.s32",
            (true, false) => "lt.u32",
            (false, _) => "eq.u32",
        };
        let (a, b) = (Self::term(condition.a), Self::term(condition.b));
        self.line(format!("setp.{name} %p, {a}, {b};"));
    }

    fn compute(&mut self, guard: &str, target: u32, compute: Compute, a: Term, b: Term) {
        let (a, b) = (Self::term(a), Self::term(b));
        let name = match compute {
            Compute::Add => "add.s32",
            Compute::Sub => "sub.s32",
            Compute::Mul => "mul.lo.s32",
            Compute::And => "and.b32",
            Compute::Or => "or.b32",
            Compute::Xor => "xor.b32",
            Compute::Shl => "shl.b32",
            Compute::Shr => "shr.u32",
            Compute::Min => "min.s32",
            Compute::DivU => "div.u32",
            Compute::Select => {
                self.line(format!("setp.gt.u32 %q, {a}, {b};"));
                self.line(format!("{guard} selp.u32 %v{target}, {a}, 17, %q;"));
                return;
            }
        };
        self.line(format!("{guard} {name} %v{target}, {a}, {b};"));
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// `end`: where `Break` goes.
    fn block(&mut self, block: &[Statement], end: &str) {
        for statement in block {
            match statement {
                Statement::Assign(target, compute, a, b) => {
                    self.compute("", *target, *compute, *a, *b);
                }
                Statement::Guarded(condition, target, compute, a, b) => {
                    self.condition(*condition);
                    self.compute("@%p", *target, *compute, *a, *b);
                }
                Statement::If(condition, yes, no) => {
                    let (other, after) = (self.label(), self.label());
                    self.condition(*condition);
                    self.line(format!("@!%p bra {other};"));
                    self.block(yes, end);
                    self.line(format!("bra {after};\n{other}:"));
                    self.block(no, end);
                    self.line(format!("{after}:"));
                }
                Statement::Loop(condition, bound, first, body) => {
                    self.repeat(*condition, *bound, *first, body);
                }
                Statement::Widen(target, a, b, added) => {
                    let (a, b) = (Self::term(*a), Self::term(*b));
                    self.line(format!("mul.wide.u32 %x, {a}, {b};"));
                    self.line(format!("add.u64 %w{target}, %x, %w{added};"));
                }
                Statement::Narrow(target, wide, upper) => {
                    let halves =
                        if *upper { format!("%n, %v{target}") } else { format!("%v{target}, %n") };
                    self.line(format!("mov.b64 {{{halves}}}, %w{wide};"));
                }
                Statement::Load(target, which) => {
                    let which = Self::term(*which);
                    self.line(format!("and.b32 %n, {which}, 3;\nmul.wide.u32 %x, %n, 4;"));
                    self.line(format!("add.u64 %x, %x, %in;\nld.global.u32 %v{target}, [%x];"));
                }
                Statement::Barrier => self.line("bar.sync 0;"),
                Statement::Own(target) => {
                    self.line("mov.u32 %n, %laneid;");
                    self.line(format!("shfl.sync.idx.b32 %v{target}, %v{target}, %n, 31, -1;"));
                }
                Statement::Break(condition) => {
                    self.condition(*condition);
                    self.line(format!("@%p bra {end};"));
                }
                Statement::Exit(condition) => {
                    self.condition(*condition);
                    self.line("@%p bra STORE;");
                }
            }
        }
    }

    fn repeat(&mut self, condition: Condition, bound: u32, first: bool, body: &[Statement]) {
        let (head, after) = (self.label(), self.label());
        let counter = self.counters;
        self.counters += 1;
        self.line(format!("mov.u32 %c{counter}, 0;\n{head}:"));
        if first {
            self.condition(condition);
            self.line(format!("@!%p bra {after};"));
        }
        self.block(body, &after);
        self.line(format!("add.u32 %c{counter}, %c{counter}, 1;"));
        if first {
            self.line(format!("setp.lt.u32 %p, %c{counter}, {bound};"));
        } else {
            self.condition(condition);
            self.line(format!("setp.lt.and.u32 %p, %c{counter}, {bound}, %p;"));
        }
        self.line(format!("@%p bra {head};\n{after}:"));
    }
}

/// The whole module. `exits`: threads store their variables where they leave, instead of together.
fn module(program: &[Statement], exits: bool) -> String {
    let mut writer = Writer { text: String::new(), labels: 0, counters: 0 };
    writer.block(program, "STORE");
    let mut store = String::new();
    for index in 0..VARIABLES {
        let _ = writeln!(store, "st.global.u32 [%out+{}], %v{index};", 4 * index);
    }
    store.push_str("exit;\n");
    let mut body = writer.text;
    if exits {
        // Each exit gets its own copy of the end, so that nothing but the exit post-dominates.
        let mut copies = String::new();
        let mut number = 0;
        while let Some(at) = body.find("bra STORE;") {
            number += 1;
            body.replace_range(at..at + 10, &format!("bra END{number};"));
            let _ = write!(copies, "END{number}:\n{store}");
        }
        let _ = write!(body, "{store}{copies}");
    } else {
        let _ = write!(body, "STORE:\n{store}");
    }
    let mut inputs = String::new();
    for index in 0..VARIABLES {
        let _ = writeln!(inputs, "ld.global.u32 %v{index}, [%in+{}];", 4 * index);
    }
    for index in 0..WIDE {
        let _ = writeln!(inputs, "mov.u64 %w{index}, 0;");
    }
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out) {{\n.reg .pred %p, %q;\n\
         .reg .b32 %v<{VARIABLES}>, %c<100>, %t, %n;\n.reg .b64 %in, %out, %o, %x, %w<{WIDE}>;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %ctaid.x;\n\
         mov.u32 %n, %ntid.x;\nmul.lo.u32 %t, %t, %n;\nmov.u32 %n, %tid.x;\nadd.u32 %t, %t, %n;\n\
         mul.wide.u32 %o, %t, {};\nadd.u64 %in, %in, %o;\nadd.u64 %out, %out, %o;\n\
         {inputs}{body}}}\n",
        4 * VARIABLES
    )
}

/// Steps under a partial mask.
fn compare(case: &Case, exits: bool) -> usize {
    let mut program = case.program.clone();
    // Threads that have ended do not come to a barrier, and the others meet there; but those that
    // wait where all store together would wait for ever.
    let all_come = program.iter().take_while(|statement| exits || !statement.exits()).count();
    program.insert(all_come.min(case.barrier), Statement::Barrier);
    program.extend(case.last.as_ref().map(Last::statement));
    let text = module(&program, exits);
    let threads = 75;
    let mut random = Random::new(case.seed);
    let inputs: Vec<u32> =
        (0..threads * VARIABLES).map(|_| random.next() as u32 >> random.below(32)).collect();
    let mut bench = Bench::new(&text);
    let pin = bench.words("in", &inputs);
    let pout = bench.words("out", &vec![0; inputs.len()]);
    let arguments = Arguments::default().u64(pin).u64(pout);
    let outcome =
        bench.run("k", &launch(3, 25, arguments)).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let results = bench.read(pout, inputs.len());
    bench.device.write(pout, &vec![0; 4 * inputs.len()]).expect("the same buffer");
    let fitted = bench.at_levels("k", &config(case.config));
    let again = Arguments::default().u64(pin).u64(pout);
    let done = strata_simt::execute(&mut bench.device, &fitted, &launch(3, 25, again));
    done.unwrap_or_else(|fault| panic!("at its levels: {fault}\n{text}"));
    assert_eq!(results, bench.read(pout, inputs.len()), "at its levels\n{text}");
    for (index, (input, result)) in
        inputs.as_chunks::<6>().0.iter().zip(results.as_chunks::<6>().0).enumerate()
    {
        let wide = [0; WIDE as usize];
        let mut thread = Thread { inputs: *input, variables: *input, wide };
        thread.block(&program);
        assert_eq!(thread.variables, *result, "thread {index}, input {input:?}\n{text}");
    }
    let full = (1 << 25) - 1;
    let partial = |s: &&strata_core::path::PathStep| s.mask.0 != full && s.mask.0 != 0;
    outcome.paths.iter().map(|(path, _)| path.iter().filter(partial).count()).sum()
}

/// Random programs of a seed; what fails is made as small as it can be, and told with the seed.
fn compare_many(seed: u8, exits: bool, cases: impl Strategy<Value = Case>) {
    let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let diverged = Cell::new(0);
    let outcome = TestRunner::new_with_rng(config, random).run(&cases, |case| {
        diverged.set(diverged.get() + compare(&case, exits));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("seed {seed}, exits {exits}: {failure:#}"));
    // So that a generator that stops diverging is noticed.
    assert!(diverged.get() > 5000, "seed {seed}, exits {exits}: {}", diverged.get());
}

#[test]
fn random_programs_match_the_interpreter() {
    compare_many(1, false, case());
}

#[test]
fn random_programs_with_separate_exits_match_the_interpreter() {
    compare_many(2, true, case());
}

#[test]
fn random_programs_whose_lanes_wait_for_others_match_the_interpreter() {
    compare_many(3, false, leaving());
}

#[test]
fn random_programs_whose_lanes_wait_for_others_that_exit_match_the_interpreter() {
    compare_many(4, true, leaving());
}
