//! Spilling: faults in stores, fills and what is made again are rejected; limits are kept.

use strata_compiler::checker::{Problem, check};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::{Dropped, Origin, Program};
use strata_compiler::statistics::SpillCounts;
use strata_compiler::{CompileOptions, RegisterLimit, allocate, compile};
use strata_ptx::module::{FunctionId, Guard, Operand, VirtualRegister};
use strata_ptx::types::ScalarType;

use crate::kernels::{kernels, spilling};
use crate::mutants::{Mutants, Mutator, is_value, reject_all};

fn spilled(registers: u16) -> Vec<(Kernel, Program)> {
    let limit = RegisterLimit::new(registers);
    let program = |kernel: Kernel| {
        let program = allocate(&kernel, limit).expect("operands fit");
        (kernel, program)
    };
    spilling().into_iter().map(program).collect()
}

fn is_stale(problem: &Problem) -> bool {
    matches!(problem, Problem::StaleSlot { .. })
}

fn is_different(problem: &Problem) -> bool {
    matches!(problem, Problem::Different(_))
}

const MUTATORS: [Mutator; 15] = [
    Mutator { name: "fill from another slot", mutate: wrong_slot, due: is_stale },
    Mutator { name: "leave a store out", mutate: missing_store, due: is_stale },
    Mutator { name: "leave a fill out", mutate: missing_fill, due: is_value },
    Mutator { name: "store before the value changes", mutate: early_store, due: is_stale },
    Mutator { name: "lay two live slots over each other", mutate: shared_slot, due: is_stale },
    Mutator { name: "lay a live slot over half of another", mutate: half_slot, due: is_stale },
    Mutator {
        name: "store under a guard",
        mutate: guarded_store,
        due: |problem| matches!(problem, Problem::GuardedSpill { .. }),
    },
    Mutator {
        name: "fill under a guard",
        mutate: guarded_fill,
        due: |problem| matches!(problem, Problem::GuardedSpill { .. }),
    },
    Mutator { name: "spill beyond the slots", mutate: beyond, due: is_different },
    Mutator { name: "slots over the kernel's variables", mutate: low_frame, due: is_different },
    Mutator { name: "make another constant", mutate: other_constant, due: is_different },
    Mutator {
        name: "leave out what is made again",
        mutate: never_made,
        due: |problem| matches!(problem, Problem::LeftOut { .. }) || is_value(problem),
    },
    Mutator { name: "leave out what cannot be made again", mutate: drop_load, due: is_different },
    Mutator {
        name: "fill another value",
        mutate: other_value,
        due: |p| is_stale(p) || is_value(p),
    },
    Mutator { name: "call a spill the kernel's own", mutate: disowned, due: is_different },
];

#[test]
fn every_mutant_of_a_spill_is_rejected_for_its_fault() {
    reject_all(&MUTATORS, &spilled(16));
}

/// Where paths meet, what is in a slot on one of them only is not there, and a slot that is written
/// later holds nothing else any more.
#[test]
fn every_mutant_of_spills_between_branches_is_rejected() {
    let kernel = crate::large::made_up(240, true);
    let program = allocate(&kernel, RegisterLimit::new(24)).expect("operands fit");
    for mutants in [missing_store(&program), early_store(&program), shared_slot(&program)] {
        assert!(mutants.len() > 20, "{}", mutants.len());
        for (pc, mutant) in mutants {
            assert!(check(&kernel, &mutant).is_err(), "accepted at {pc}");
        }
    }
}

/// Every other fault shows in a program that spills as well.
#[test]
fn every_mutant_of_a_spilled_program_is_rejected() {
    let programs = spilled(16);
    reject_all(&crate::mutants::MUTATORS, &programs);
}

fn places(program: &Program, wanted: fn(Origin) -> bool) -> Vec<usize> {
    let origins = program.instructions.iter().map(|instruction| instruction.origin).enumerate();
    origins.filter(|&(_, origin)| wanted(origin)).map(|(pc, _)| pc).collect()
}

fn is_store(origin: Origin) -> bool {
    matches!(origin, Origin::Store(_))
}

fn is_fill(origin: Origin) -> bool {
    matches!(origin, Origin::Fill(_))
}

fn is_spill(origin: Origin) -> bool {
    is_store(origin) || is_fill(origin)
}

fn offset_mut(program: &mut Program, pc: usize) -> &mut i64 {
    match &mut program.instructions[pc].instruction.sources[0] {
        Operand::Address { offset, .. } => offset,
        other => panic!("{other:?} is no address"),
    }
}

fn offset_of(program: &Program, pc: usize) -> i64 {
    *offset_mut(&mut program.clone(), pc)
}

fn value_of(program: &Program, pc: usize) -> VirtualRegister {
    match program.instructions[pc].origin {
        Origin::Store(value) | Origin::Fill(value) => value,
        other => panic!("{other:?} is no spill"),
    }
}

fn type_of(program: &Program, pc: usize) -> ScalarType {
    program.instructions[pc].instruction.types[0]
}

/// Takes an instruction out, and moves all that counts instructions.
fn without(program: &Program, pc: usize) -> Program {
    let mut mutant = program.clone();
    mutant.instructions.remove(pc);
    mutant.image.instructions.remove(pc);
    let moved = |place: &mut u32| *place -= u32::from(*place as usize > pc);
    mutant.targets.iter_mut().for_each(moved);
    mutant.branch_tables.iter_mut().flatten().for_each(moved);
    mutant.dropped.iter_mut().for_each(|dropped| moved(&mut dropped.before));
    let joins = mutant.instructions.iter_mut();
    joins.filter_map(|instruction| instruction.reconvergence.as_mut()).for_each(moved);
    mutant
}

fn each(program: &Program, wanted: fn(Origin) -> bool, change: fn(&mut Program, usize)) -> Mutants {
    let mutant = |pc| {
        let mut mutant = program.clone();
        change(&mut mutant, pc);
        (pc, mutant)
    };
    places(program, wanted).into_iter().map(mutant).collect()
}

fn wrong_slot(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    let fills = places(program, is_fill);
    for &pc in &fills {
        for &other in &fills {
            let slot = offset_of(program, other);
            if slot != offset_of(program, pc) && type_of(program, pc) == type_of(program, other) {
                let mut mutant = program.clone();
                *offset_mut(&mut mutant, pc) = slot;
                mutants.push((pc, mutant));
            }
        }
    }
    mutants
}

fn missing_store(program: &Program) -> Mutants {
    let stores = places(program, is_store);
    stores.into_iter().map(|pc| (pc, without(program, pc))).collect()
}

fn missing_fill(program: &Program) -> Mutants {
    let fills = places(program, is_fill);
    fills.into_iter().map(|pc| (pc, without(program, pc))).collect()
}

/// Moves each store to before the definition of what it stores, where that is in the same block.
fn early_store(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in places(program, is_store) {
        let stored = program.instructions[pc].instruction.sources[1].clone();
        let starts = |pc: usize| program.targets.iter().any(|&target| target as usize == pc);
        let mut at = pc;
        while at > 0 && !starts(at) {
            at -= 1;
            let writes = &program.instructions[at].instruction.destinations;
            let defines = |operand: &Operand| match operand {
                Operand::Vector(elements) => elements.contains(&stored),
                single => *single == stored,
            };
            if writes.iter().any(defines) {
                let mut mutant = program.clone();
                mutant.instructions[at..=pc].rotate_right(1);
                mutant.image.instructions[at..=pc].rotate_right(1);
                mutants.push((pc, mutant));
                break;
            }
        }
    }
    mutants
}

/// Slots that are stored one right after another hold values at the same time: every access of the
/// second goes to `place` of the first.
fn merged(program: &Program, place: fn(i64, ScalarType) -> Option<i64>) -> Mutants {
    let mut mutants = Vec::new();
    let stores = places(program, is_store);
    for pair in stores.windows(2).filter(|pair| pair[0] + 1 == pair[1]) {
        let (first, second) = (offset_of(program, pair[0]), offset_of(program, pair[1]));
        let Some(merged) = place(first, type_of(program, pair[1])) else { continue };
        let mut mutant = program.clone();
        for pc in places(program, is_spill) {
            if offset_of(program, pc) == second {
                *offset_mut(&mut mutant, pc) = merged;
            }
        }
        mutants.push((pair[1], mutant));
    }
    mutants
}

fn shared_slot(program: &Program) -> Mutants {
    merged(program, |first, _| Some(first))
}

/// Only a wide slot can cover half of another.
fn half_slot(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in places(program, is_store) {
        for other in places(program, is_store) {
            let wide = type_of(program, pc) == ScalarType::B64;
            if !wide || type_of(program, other) == ScalarType::B64 || other < pc {
                continue;
            }
            let lies_between =
                |fill: &usize| *fill > other && value_of(program, *fill) == value_of(program, pc);
            if !places(program, is_fill).iter().any(lies_between) {
                continue;
            }
            let (wide, narrow) = (offset_of(program, pc), offset_of(program, other));
            let mut mutant = program.clone();
            for spill in places(program, is_spill) {
                if offset_of(program, spill) == narrow {
                    *offset_mut(&mut mutant, spill) = wide + 4;
                }
            }
            mutants.push((other, mutant));
        }
    }
    mutants
}

fn guard(program: &mut Program, pc: usize) {
    let register = program.registers.len() as u32;
    program.registers.push(strata_compiler::program::ProgramRegister {
        name: "%p".to_owned(),
        ty: ScalarType::Pred,
        location: strata_compiler::program::Location::Predicate(0),
    });
    let guard = Guard { register: VirtualRegister(register), negated: false };
    program.instructions[pc].instruction.guard = Some(guard);
}

fn guarded_store(program: &Program) -> Mutants {
    each(program, is_store, guard)
}

fn guarded_fill(program: &Program) -> Mutants {
    each(program, is_fill, guard)
}

fn beyond(program: &Program) -> Mutants {
    each(program, is_spill, |program, pc| {
        *offset_mut(program, pc) = program.spill_bytes as i64;
    })
}

fn low_frame(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for lower in [4, 16] {
        let mut mutant = program.clone();
        let slots = mutant.variables.last_mut().expect("the slots");
        if let Some(offset) = slots.offset.checked_sub(lower) {
            slots.offset = offset;
            mutant.local_bytes -= lower;
            mutants.push((0, mutant));
        }
    }
    mutants
}

fn other_constant(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in places(program, |origin| matches!(origin, Origin::Again(_))) {
        let mut mutant = program.clone();
        mutant.instructions[pc].instruction.sources[0] = Operand::Integer(78);
        mutants.push((pc, mutant));
    }
    mutants
}

fn never_made(program: &Program) -> Mutants {
    let again = places(program, |origin| matches!(origin, Origin::Again(_)));
    again.into_iter().map(|pc| (pc, without(program, pc))).collect()
}

/// Leaves out loads from global memory, as if they could be repeated.
fn drop_load(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in 0..program.instructions.len() {
        let Origin::Kernel(definition) = program.instructions[pc].origin else { continue };
        if program.image.instructions[pc].flags.contains(strata_core::image::Flags::LONG_LATENCY) {
            let mut mutant = without(program, pc);
            let before = pc as u32;
            let at = mutant.dropped.partition_point(|dropped| dropped.before < before);
            mutant.dropped.insert(at, Dropped { before, definition });
            mutants.push((pc, mutant));
        }
    }
    mutants
}

/// Fills one value from its slot where another one is due, both consistently named.
fn other_value(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in places(program, is_fill) {
        for other in places(program, is_fill) {
            let (value, another) = (value_of(program, pc), value_of(program, other));
            if value != another && type_of(program, pc) == type_of(program, other) {
                let mut mutant = program.clone();
                mutant.instructions[pc].origin = Origin::Fill(another);
                mutants.push((pc, mutant));
            }
        }
    }
    mutants
}

fn disowned(program: &Program) -> Mutants {
    each(program, is_spill, |program, pc| program.instructions[pc].origin = Origin::Kernel(0))
}

#[test]
fn limits_are_kept_and_more_registers_spill_less() {
    for kernel in spilling().into_iter().chain(kernels()) {
        let free = allocate(&kernel, None).expect("real kernels fit");
        let mut last = None;
        for registers in [16, 17, 18, 20, 24, 32, 255] {
            let limit = RegisterLimit::new(registers);
            let program = allocate(&kernel, limit).expect("operands fit");
            assert!(program.general_registers <= registers, "{} in {registers}", kernel.name);
            check(&kernel, &program).unwrap_or_else(|problems| panic!("{}", problems[0]));
            let counts = SpillCounts::new(&program);
            let added = counts.stores + counts.fills + counts.again;
            assert!(last.is_none_or(|last| added <= last), "{} in {registers}", kernel.name);
            last = Some(added);
            if free.general_registers <= registers {
                assert_eq!(format!("{program:?}"), format!("{free:?}"), "{}", kernel.name);
            } else {
                assert!(added > 0, "{} in {registers}", kernel.name);
            }
        }
        assert_eq!(last, Some(0));
    }
}

#[test]
fn registers_per_thread_have_a_range() {
    for (registers, good) in [(15, false), (16, true), (255, true), (256, false), (0, false)] {
        assert_eq!(
            RegisterLimit::new(registers).map(RegisterLimit::get),
            good.then_some(registers)
        );
    }
}

/// A product of matrices reads 24 registers at once.
#[test]
fn an_instruction_that_needs_more_is_named() {
    let list = |name: &str| (1..=8).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(", ");
    let (a, b, c) = (list("%ra"), list("%rb"), list("%f"));
    let shape = "sync.aligned.row";
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry wide(.param .u64 to)\n{{\n\
         .reg .b64 %rd<2>; .reg .f32 %f<9>; .reg .b32 %ra<9>, %rb<9>;\n\
         ld.param.u64 %rd1, [to];\n\
         wmma.load.a.{shape}.m16n16k16.global.f16 {{{a}}}, [%rd1];\n\
         wmma.load.b.{shape}.m16n16k16.global.f16 {{{b}}}, [%rd1];\n\
         wmma.load.c.{shape}.m16n16k16.global.f32 {{{c}}}, [%rd1];\n\
         wmma.mma.{shape}.row.m16n16k16.f32.f32 {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};\n\
         wmma.store.d.{shape}.m16n16k16.global.f32 [%rd1], {{{c}}};\nret;\n}}\n"
    );
    let parsed = strata_ptx::parse(&text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let within = |count| {
        compile(
            &parsed.module,
            FunctionId(0),
            CompileOptions { registers: RegisterLimit::new(count), ..CompileOptions::default() },
        )
    };
    let problems = within(23).expect_err("one too few");
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((problem.code, problem.kernel.as_deref()), ("register-limit", Some("wide")));
    assert_eq!(
        problem.message,
        "cannot be allocated in 23 registers: this instruction alone names values of 24"
    );
    assert_eq!(parsed.module.line(problem.span.start), 11);
    let program = within(24).expect("just enough");
    assert_eq!(program.general_registers, 24);
}
