//! Scheduling: what depends on each other keeps its order, nothing is lost, registers do not grow, and
//! consumers come closer.

use strata_compiler::checker::{self, Problem};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_compiler::{CompileOptions, Order, Reordered, allocate, compile, schedule};
use strata_ptx::module::{FunctionId, Instruction, Operand, Span, VirtualRegister};
use strata_ptx::opcode::Opcode;

use crate::common::{Random, random_kernel, registers, shapes};
use crate::kernels::kernels;

fn reads(instruction: &Instruction) -> Vec<VirtualRegister> {
    let mut all = registers(&instruction.sources);
    all.extend(instruction.guard.map(|guard| guard.register));
    all
}

fn writes(instruction: &Instruction) -> Vec<VirtualRegister> {
    registers(&instruction.destinations)
}

/// Whether two instructions must keep their order, said as plainly as possible.
fn conflict(a: &Instruction, b: &Instruction) -> bool {
    let meet = |a: &[VirtualRegister], b: &[VirtualRegister]| {
        a.iter().any(|register| b.contains(register))
    };
    let stays = |instruction: &Instruction| {
        use Opcode as O;
        matches!(
            instruction.opcode,
            O::St | O::Atom | O::Red | O::Bar | O::Barrier | O::Bra | O::Brx | O::Ret | O::Exit
        )
    };
    let loads = |i: &Instruction| i.opcode == Opcode::Ld && i.modifiers.space.is_none();
    meet(&writes(a), &writes(b))
        || meet(&writes(a), &reads(b))
        || meet(&reads(a), &writes(b))
        || stays(a) && (stays(b) || loads(b))
        || loads(a) && stays(b)
}

/// The kernel with a span of its own for each instruction, to know it by.
fn marked(kernel: &Kernel) -> Kernel {
    let mut marked = kernel.clone();
    for (pc, instruction) in (0..).zip(&mut marked.instructions) {
        instruction.span = Span { start: pc, end: pc + 1 };
    }
    marked
}

/// Where each instruction went.
fn places(before: &Kernel, after: &Kernel) -> Vec<usize> {
    let place = |instruction: &Instruction| {
        let same = |other: &Instruction| other.span == instruction.span;
        after.instructions.iter().position(same).expect("nothing is lost")
    };
    before.instructions.iter().map(place).collect()
}

/// Where branches lead; labels that none uses mean nothing.
fn used_targets(kernel: &Kernel) -> Vec<usize> {
    let operands = kernel.instructions.iter().flat_map(|instruction| &instruction.sources);
    let labels = operands.flat_map(|operand| match operand {
        Operand::Label(label) => vec![*label],
        Operand::BranchTable(table) => kernel.branch_tables[*table as usize].clone(),
        _ => Vec::new(),
    });
    labels.map(|label| kernel.targets[label.index()] as usize).collect()
}

/// The kernel's own rules, of the order that changes no name, beside the checker's.
fn check_close(before: &Kernel, name: &str) -> usize {
    // With unread atomics as reductions.
    let before = &schedule(&marked(before), Order::Ptx).expect("small").kernel;
    let after = schedule(before, Order::Close).expect("small").kernel;
    assert_eq!(before.instructions.len(), after.instructions.len(), "{name}");
    assert_eq!((&before.targets, &before.branch_tables), (&after.targets, &after.branch_tables));
    let places = places(before, &after);
    let window = 60;
    for (a, first) in before.instructions.iter().enumerate() {
        for (b, second) in before.instructions.iter().enumerate().skip(a + 1).take(window) {
            let kept = places[a] < places[b];
            assert!(kept || !conflict(first, second), "{name}: {a} and {b} changed places");
        }
    }
    for target in used_targets(before) {
        let crossed = (0..places.len()).any(|pc| (pc < target) != (places[pc] < target));
        assert!(!crossed, "{name}: an instruction left its block at {target}");
    }
    let (old, new) =
        (allocate(before, None).expect("small"), allocate(&after, None).expect("small"));
    checker::check(&after, &new).unwrap_or_else(|problems| panic!("{name}: {}", problems[0]));
    // Aligned quads may leave other gaps.
    assert!(new.general_registers <= old.general_registers + 4, "{name}");
    places.iter().enumerate().filter(|(pc, place)| pc != *place).count()
}

/// Every order of a kernel is one that the checker accepts, and so is what is allocated for it.
/// Returns how many instructions moved.
fn check(kernel: &Kernel, name: &str) -> usize {
    let mut moved = 0;
    for order in Order::ALL {
        let name = format!("{name}, {}", order.name());
        let reordered = schedule(kernel, order).expect("small");
        let refused = |problems: Vec<_>| panic!("{name}: {}", problems[0]);
        checker::check_order(kernel, &reordered).unwrap_or_else(refused);
        let program = allocate(&reordered.kernel, None).expect("small");
        checker::check(&reordered.kernel, &program).unwrap_or_else(refused);
        moved +=
            reordered.from.iter().enumerate().filter(|&(pc, &from)| pc != from as usize).count();
    }
    moved
}

#[test]
fn random_kernels_keep_their_dependences() {
    let (mut moved, mut close) = (0, 0);
    for seed in 0..25 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            let name = format!("seed {seed}, {shape:?}");
            moved += check(&kernel, &name);
            close += check_close(&kernel, &name);
        }
    }
    assert!(moved > 1500 && close > 400, "only {moved} instructions moved, {close} closer");
}

#[test]
fn real_kernels_keep_their_dependences() {
    let (mut moved, mut close) = (0, 0);
    for kernel in kernels() {
        moved += check(&kernel, &kernel.name);
        close += check_close(&kernel, &kernel.name);
        let count =
            |kernel: &Kernel| allocate(kernel, None).expect("real kernels fit").general_registers;
        let scheduled = schedule(&kernel, Order::Close).expect("small").kernel;
        assert!(count(&scheduled) <= count(&kernel), "{}", kernel.name);
    }
    assert!(moved > 100 && close > 10, "only {moved} instructions moved, {close} closer");
}

/// What `compile` makes of a kernel in each order is right for that order; without renaming, the
/// number of registers is that of the PTX order.
#[test]
fn compiled_kernels_are_right_in_every_order() {
    for (name, text) in crate::kernels::TEXTS {
        let module = strata_ptx::parse(text).module;
        for (id, _) in module.kernels() {
            let kernel = strata_compiler::inline::inline(&module, id).expect("a kernel");
            let compiled = |order, registers: Option<u16>| {
                let registers = registers.and_then(strata_compiler::RegisterLimit::new);
                compile(&module, id, CompileOptions { registers, order }).expect("it fits")
            };
            let plain = compiled(Order::Ptx, None);
            for order in [Order::Scheduled, Order::ScheduledRenamed] {
                let reordered = schedule(&kernel, order).expect("small");
                for registers in [None, Some(20), Some(255)] {
                    let program = compiled(order, registers);
                    let name = format!("{name}, {}, {}, {registers:?}", kernel.name, order.name());
                    checker::check(&reordered.kernel, &program)
                        .unwrap_or_else(|problems| panic!("{name}: {}", problems[0]));
                    let resident = match order {
                        Order::ScheduledRenamed => plain.general_registers,
                        _ => program.general_registers,
                    };
                    assert_eq!(program.resident_registers, resident, "{name}");
                    if order == Order::Scheduled && program.spill_bytes == 0 {
                        in_the_same_registers(&plain, &program, &reordered.from, &name);
                    }
                }
            }
        }
    }
}

/// Each instruction names the physical registers that it named in PTX order.
fn in_the_same_registers(plain: &Program, program: &Program, from: &[u32], name: &str) {
    assert_eq!(program.general_registers, plain.general_registers, "{name}");
    let named = |program: &Program, pc: usize| {
        let image = program.image.borrow();
        let record = &program.image.instructions[pc];
        (image.sources(record).to_vec(), image.destinations(record).to_vec())
    };
    for (pc, &from) in from.iter().enumerate() {
        assert_eq!(named(program, pc), named(plain, from as usize), "{name}, {pc}");
    }
}

/// A kernel with its calls inlined.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) {{ .reg .pred %p<9>;
         .reg .b32 %r<19>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n{body}\nret; }}"
    );
    let parsed = strata_ptx::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    strata_compiler::inline::inline(&parsed.module, FunctionId(0)).expect("a kernel")
}

/// What the checker says of a kernel with two instructions exchanged.
fn exchanged(body: &str, a: usize, b: usize) -> Result<(), Problem> {
    let before = kernel(body);
    let mut kernel = before.clone();
    kernel.instructions.swap(a, b);
    kernel.lines.swap(a, b);
    let mut from: Vec<u32> = (0..kernel.instructions.len() as u32).collect();
    from.swap(a, b);
    let checked = checker::check_order(&before, &Reordered { kernel, from });
    checked.map_err(|mut problems| problems.remove(0).problem)
}

#[test]
fn the_checker_refuses_what_may_not_change_places() {
    let other = |result| matches!(result, Err(Problem::OtherOperands));
    let overtaken = |result| matches!(result, Err(Problem::Overtaken));
    assert_eq!(exchanged("add.u32 %r1, %r9, 1; sub.u32 %r2, %r9, 2;", 1, 2), Ok(()));
    assert!(other(exchanged("add.u32 %r1, %r9, 1; sub.u32 %r2, %r1, 2;", 1, 2)), "data");
    assert!(other(exchanged("add.u32 %r1, %r9, 1; mov.u32 %r9, 2; st.u32 [%rd1], %r9;", 1, 2)));
    let output = "mov.u32 %r1, 1; mov.u32 %r1, 2; st.u32 [%rd1], %r1;";
    assert!(other(exchanged(output, 1, 2)), "the last definition is another");
    let guarded = "mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; @%p2 mov.u32 %r1, 3; st.u32 [%rd1], %r1;";
    assert!(other(exchanged(guarded, 2, 3)), "lanes in which both guards are true");
    let thrice =
        "@%p1 mov.u32 %r1, 2; @%p2 mov.u32 %r1, 3; @%p3 mov.u32 %r1, 4; st.u32 [%rd1], %r1;";
    assert!(other(exchanged(thrice, 1, 2)), "what the last one leaves");
    let carry = "add.cc.u32 %r1, %r9, 1; addc.u32 %r2, %r9, 2; add.cc.u32 %r3, %r9, 3;";
    assert!(other(exchanged(carry, 2, 3)), "the carry flag");
    let turned = "L: add.u32 %r1, %r2, 1; add.u32 %r2, %r9, 1; @%p1 bra L;";
    assert!(other(exchanged(turned, 1, 2)), "the value of the turn before");
    for (name, pair) in [
        ("stores", "st.u32 [%rd1], %r1; st.u32 [%rd2], %r2;"),
        ("a load and a store", "ld.u32 %r1, [%rd1]; st.u32 [%rd2], %r2;"),
        ("clocks", "mov.u32 %r1, %clock; mov.u32 %r2, %clock;"),
        ("lanes", "vote.ballot.b32 %r1, %p1; activemask.b32 %r2;"),
        ("a barrier", "st.shared.u32 [%r9], %r1; bar.sync 0;"),
        ("an atomic", "red.global.add.u32 [%rd1], 1; ld.global.u32 %r1, [%rd2];"),
    ] {
        assert!(overtaken(exchanged(pair, 1, 2)), "{name}");
    }
    assert_eq!(exchanged("ld.param.u64 %rd2, [p]; st.u32 [%rd1], %r2;", 1, 2), Ok(()));
    let blocks = "@%p1 bra L; add.u32 %r1, %r9, 1; L: sub.u32 %r2, %r9, 2;";
    assert!(matches!(exchanged(blocks, 2, 3), Err(Problem::LeftItsBlock)));
    assert!(matches!(exchanged(blocks, 1, 0), Err(Problem::LeftItsBlock)), "a branch stays last");
}

#[test]
fn the_checker_refuses_other_instructions() {
    let before = kernel("add.u32 %r1, %r9, 1; ld.u32 %r2, [%rd1]; st.u32 [%rd1], %r1;");
    let from: Vec<u32> = (0..before.instructions.len() as u32).collect();
    let refused = |change: &dyn Fn(&mut Reordered)| {
        let mut reordered = Reordered { kernel: before.clone(), from: from.clone() };
        change(&mut reordered);
        checker::check_order(&before, &reordered).is_err()
    };
    assert!(!refused(&|_| ()));
    assert!(refused(&|reordered| reordered.from[1] = 0), "one twice");
    assert!(refused(&|reordered| drop(reordered.kernel.instructions.pop())), "one less");
    assert!(refused(&|reordered| reordered.kernel.instructions[1].opcode = Opcode::Sub));
    assert!(refused(&|reordered| reordered.kernel.lines[1] += 1), "a line");
    assert!(refused(&|reordered| reordered.kernel.shared_bytes += 4), "memory");
    assert!(refused(&|reordered| {
        reordered.kernel.registers[1].ty = strata_ptx::types::ScalarType::F32;
    }));
}

/// What an inlined call is given and gives back lies in parameter space.
#[test]
fn arguments_and_results_of_calls_keep_their_order() {
    let text = ".version 7.0\n.target sm_75\n.address_size 64\n
        .func (.param .u32 out) f(.param .u32 in) { .reg .b32 %r<4>;
          ld.param.u32 %r1, [in]; add.u32 %r2, %r1, 1; st.param.u32 [out], %r2; ret; }
        .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<3>;
          ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 3;
          { .param .u32 a; .param .u32 b; st.param.u32 [a], %r2; call (b), f, (a);
            ld.param.u32 %r3, [b]; }
          st.global.u32 [%rd1], %r3; ret; }";
    let parsed = strata_ptx::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let (id, _) = parsed.module.kernels().next().expect("a kernel");
    let kernel = strata_compiler::inline::inline(&parsed.module, id).expect("a kernel");
    check(&kernel, "a call");
}

/// Opcodes of a body in close order, the parameter's load first.
fn scheduled(body: &str) -> Vec<&'static str> {
    opcodes(body, Order::Close)
}

fn opcodes(body: &str, order: Order) -> Vec<&'static str> {
    let scheduled = schedule(&kernel(body), order).expect("small").kernel;
    scheduled.instructions.iter().map(|instruction| instruction.opcode.name()).collect()
}

#[test]
fn a_consumer_follows_its_producer() {
    let body = "add.s32 %r1, %r9, 1; sub.s32 %r2, %r9, 2; xor.b32 %r3, %r1, 3; and.b32 %r4, %r2, 4;
        or.b32 %r5, %r3, %r4; st.global.u32 [%rd1], %r5;";
    let expected = ["ld", "add", "xor", "sub", "and", "or", "st", "ret"];
    assert_eq!(scheduled(body), expected);
}

#[test]
fn long_latencies_are_neither_delayed_nor_waited_for_earlier() {
    // The load stays ahead of what came after it; its consumer stays behind what came before.
    let body = "add.s32 %r1, %r9, 1; ld.global.u32 %r2, [%rd1]; sub.s32 %r3, %r9, 2;
        xor.b32 %r4, %r2, %r1; and.b32 %r5, %r3, %r3; st.global.v2.u32 [%rd1], {%r4, %r5};";
    let order = scheduled(body);
    let place = |name| order.iter().position(|&other| other == name);
    let loads = order.iter().enumerate().filter(|(_, name)| **name == "ld").map(|(pc, _)| pc);
    let load = loads.max();
    assert!(load < place("sub") && place("sub") < place("xor"), "{order:?}");
    assert!(place("add") < place("xor"), "{order:?}");
}

#[test]
fn long_chains_go_first() {
    let body = "add.s32 %r1, %r9, 1; st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4];
        mul.lo.s32 %r3, %r9, 2; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1+8], %r4;";
    // The product takes the register of the sum, unless it is renamed.
    let allocated = ["ld", "add", "st", "ld", "mul", "ld", "st", "ret"];
    assert_eq!(opcodes(body, Order::Scheduled), allocated);
    let renamed = ["ld", "add", "mul", "st", "ld", "ld", "st", "ret"];
    assert_eq!(opcodes(body, Order::ScheduledRenamed), renamed);
    // Sum and product are one virtual register.
    let body = "add.s32 %r1, %r9, 1; st.global.u32 [%rd1], %r1; mul.lo.s32 %r1, %r8, 2;
        rcp.approx.f32 %r2, %r1; st.global.u32 [%rd1+4], %r2;";
    let product_first = |order| {
        let all = opcodes(body, order);
        let place = |name| all.iter().position(|&other| other == name);
        place("mul") < place("add")
    };
    assert!(!product_first(Order::Scheduled) && product_first(Order::ScheduledRenamed));
}

/// The flag of a carry is no register, and there is one of it.
#[test]
fn carries_keep_their_order() {
    let body = "add.cc.u32 %r1, %r9, 1; addc.u32 %r2, %r9, 2; add.cc.u32 %r3, %r8, 3;
        addc.u32 %r4, %r8, 4; rcp.approx.f32 %r5, %r4; st.global.u32 [%rd1], %r5;
        st.global.u32 [%rd1+4], %r2;";
    check(&kernel(body), "carries");
}

/// Nothing moves across a barrier, nor across an instruction behind which lanes may be left.
#[test]
fn nothing_moves_across_a_wait() {
    let chain = "mul.lo.s32 %r1, %r9, 3; mul.lo.s32 %r2, %r1, 5; st.shared.u32 [%r2], %r1;";
    let divergent = format!(
        "@%p1 bra B; bar.warp.sync -1; {chain} bra.uni C;
         B: bar.warp.sync -1; add.s32 %r3, %r9, 1; st.shared.u32 [%r9], %r3; C:"
    );
    for body in [format!("bar.sync 0; {chain}"), divergent] {
        for order in [Order::Scheduled, Order::ScheduledRenamed] {
            let all = opcodes(&body, order);
            let place = |name| all.iter().position(|&other| other == name).expect("it is there");
            assert!(place("bar") < place("mul"), "{}: {all:?}", order.name());
        }
    }
    let before = "@%p1 bra B; mul.lo.s32 %r1, %r9, 3; xor.b32 %r2, %r1, 5; bar.warp.sync -1;
        st.shared.u32 [%r9], %r2; bra.uni C; B: bar.warp.sync -1; C:";
    for order in [Order::Scheduled, Order::ScheduledRenamed] {
        let all = opcodes(before, order);
        let place = |name| all.iter().position(|&other| other == name).expect("it is there");
        assert!(place("xor") < place("bar"), "{}: {all:?}", order.name());
    }
}

#[test]
fn memory_keeps_its_order() {
    let body =
        "st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd1+4], %r3;
        add.s32 %r4, %r9, 1; st.global.u32 [%rd1+8], %r4;";
    let memory: Vec<_> = scheduled(body).into_iter().filter(|name| *name != "add").collect();
    assert_eq!(memory, ["ld", "st", "ld", "st", "st", "ret"]);
}
