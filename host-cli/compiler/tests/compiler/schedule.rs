//! Scheduling: what depends on each other keeps its order, nothing is lost, registers do not grow, and
//! consumers come closer.

use strata_compiler::kernel::Kernel;
use strata_compiler::{allocate, checker, schedule};
use strata_ptx::module::{FunctionId, Instruction, Operand, RegisterId, Span};
use strata_ptx::opcode::Opcode;

use crate::common::{Random, random_kernel, registers, shapes};
use crate::kernels::kernels;

fn reads(instruction: &Instruction) -> Vec<RegisterId> {
    let mut all = registers(&instruction.sources);
    all.extend(instruction.guard.map(|guard| guard.register));
    all
}

fn writes(instruction: &Instruction) -> Vec<RegisterId> {
    registers(&instruction.destinations)
}

/// Whether two instructions must keep their order, said as plainly as possible.
fn conflict(a: &Instruction, b: &Instruction) -> bool {
    let meet = |a: &[RegisterId], b: &[RegisterId]| a.iter().any(|register| b.contains(register));
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
        after.instructions.iter().position(|other| other == instruction).expect("nothing is lost")
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

fn check(before: &Kernel, name: &str) -> usize {
    let before = &marked(before);
    let after = schedule(before).expect("small");
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

#[test]
fn random_kernels_keep_their_dependences() {
    let mut moved = 0;
    for seed in 0..60 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            moved += check(&kernel, &format!("seed {seed}, {shape:?}"));
        }
    }
    assert!(moved > 1000, "only {moved} instructions moved");
}

#[test]
fn real_kernels_keep_their_dependences() {
    let moved: usize = kernels().iter().map(|kernel| check(kernel, &kernel.name)).sum();
    for kernel in kernels() {
        let count =
            |kernel: &Kernel| allocate(kernel, None).expect("real kernels fit").general_registers;
        let scheduled = schedule(&kernel).expect("small");
        assert!(count(&scheduled) <= count(&kernel), "{}", kernel.name);
    }
    assert!(moved > 10, "only {moved} instructions moved");
}

/// Opcodes of a scheduled body, the parameter's load first.
fn scheduled(body: &str) -> Vec<&'static str> {
    let text = format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) {{ .reg .pred %p<9>;
         .reg .b32 %r<19>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n{body}\nret; }}"
    );
    let module = strata_ptx::parse(&text).module;
    let kernel = strata_compiler::inline::inline(&module, FunctionId(0)).expect("a kernel");
    let scheduled = schedule(&kernel).expect("small");
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
fn memory_keeps_its_order() {
    let body =
        "st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd1+4], %r3;
        add.s32 %r4, %r9, 1; st.global.u32 [%rd1+8], %r4;";
    let memory: Vec<_> = scheduled(body).into_iter().filter(|name| *name != "add").collect();
    assert_eq!(memory, ["ld", "st", "ld", "st", "st", "ret"]);
}
