//! Mutants: a program with one deliberate fault, applied to the compiler's output, is rejected.
//!
//! Each mutator makes every mutant of its kind that one kernel has room for. None is harmless: the
//! hints that the compiler leaves clear are those that would be wrong, the marks that it sets are
//! all needed, and values are only laid over ones that are live at the same time.

use strata_compiler::allocate;
use strata_compiler::checker::{Problem, check};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::{Location, Program};
use strata_core::image::{Flags, StaticInstruction};
use strata_core::units::RegisterId;
use strata_ptx::module::{FunctionId, Operand, VirtualRegister};

use crate::common::registers;
use crate::kernels::kernels;

/// A faulty program and where the fault is.
pub(crate) type Mutants = Vec<(usize, Program)>;

/// A kind of fault: its name, what makes it, and which complaint is due.
pub(crate) struct Mutator {
    pub(crate) name: &'static str,
    pub(crate) mutate: fn(&Program) -> Mutants,
    pub(crate) due: fn(&Problem) -> bool,
}

fn is_slots(problem: &Problem) -> bool {
    matches!(problem, Problem::Slots { .. })
}

fn is_place(problem: &Problem) -> bool {
    matches!(problem, Problem::BadPlace { .. })
}

pub(crate) fn is_value(problem: &Problem) -> bool {
    matches!(problem, Problem::LostValue { .. } | Problem::OverwritesWaiting { .. })
}

fn is_hint(problem: &Problem) -> bool {
    matches!(problem, Problem::Unsound { .. })
}

fn is_fact(problem: &Problem) -> bool {
    matches!(problem, Problem::Fact(_))
}

pub(crate) const MUTATORS: [Mutator; 22] = [
    Mutator { name: "swap two source slots", mutate: swap_slots, due: is_slots },
    Mutator { name: "drop a source slot", mutate: drop_slot, due: is_slots },
    Mutator { name: "drop a destination slot", mutate: drop_result, due: is_slots },
    Mutator { name: "rename a slot", mutate: rename_slot, due: is_slots },
    Mutator { name: "misalign a pair", mutate: misalign, due: is_place },
    Mutator { name: "halve a pair", mutate: halve, due: is_place },
    Mutator { name: "leave the file", mutate: leave_file, due: is_place },
    Mutator { name: "forget a place", mutate: forget_place, due: is_place },
    Mutator { name: "lay a live value over another", mutate: overlay, due: is_value },
    Mutator { name: "overlap a pair with a single", mutate: overlap_pair, due: is_value },
    Mutator { name: "read another register", mutate: read_another, due: is_value },
    Mutator { name: "claim a last use", mutate: claim_last_use, due: is_hint },
    Mutator { name: "claim a last use before a deschedule", mutate: claim_soon, due: is_hint },
    Mutator { name: "claim a value is never read", mutate: claim_never_read, due: is_hint },
    Mutator { name: "claim a value is not read soon", mutate: claim_not_soon, due: is_hint },
    Mutator {
        name: "claim that no shared unit reads a value",
        mutate: claim_private,
        due: |problem| matches!(problem, Problem::OutOfReach { .. }),
    },
    Mutator {
        name: "clear a deschedule mark",
        mutate: clear_mark,
        due: |problem| matches!(problem, Problem::Unmarked { .. }),
    },
    Mutator { name: "forget a long latency", mutate: forget_latency, due: is_fact },
    Mutator { name: "forget a barrier", mutate: forget_barrier, due: is_fact },
    Mutator {
        name: "reconverge elsewhere",
        mutate: reconverge,
        due: |problem| matches!(problem, Problem::Reconvergence { .. }),
    },
    Mutator {
        name: "turn a guard round",
        mutate: turn_guard,
        due: |problem| matches!(problem, Problem::Different(_)),
    },
    Mutator {
        name: "branch elsewhere",
        mutate: retarget,
        due: |problem| matches!(problem, Problem::Different(_)),
    },
];

#[test]
fn every_mutant_is_rejected_for_its_fault() {
    let programs: Vec<(Kernel, Program)> = kernels()
        .into_iter()
        .map(|kernel| {
            let program = allocate(&kernel, None).expect("real kernels fit");
            (kernel, program)
        })
        .collect();
    reject_all(&MUTATORS, &programs);
}

/// Makes every mutant of some programs; each must be rejected for what is due.
pub(crate) fn reject_all(mutators: &[Mutator], programs: &[(Kernel, Program)]) {
    for Mutator { name, mutate, due } in mutators {
        let mut tried = 0;
        for (kernel, program) in programs {
            for (pc, mutant) in mutate(program) {
                tried += 1;
                let Err(violations) = check(kernel, &mutant) else {
                    panic!("{name}: accepted in `{}` at {pc}", kernel.name);
                };
                assert!(
                    violations.iter().any(|violation| due(&violation.problem)),
                    "{name} in `{}` at {pc}: {}",
                    kernel.name,
                    violations[0]
                );
            }
        }
        assert!(tried >= 2, "{name}: only {tried} mutants");
    }
}

/// One mutant for each instruction at which `change` finds something to change.
fn each_record(program: &Program, change: impl Fn(&mut StaticInstruction) -> bool) -> Mutants {
    let mut mutants = Vec::new();
    for pc in 0..program.instructions.len() {
        let mut mutant = program.clone();
        if change(&mut mutant.image.instructions[pc]) {
            mutants.push((pc, mutant));
        }
    }
    mutants
}

fn swap_slots(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for (pc, record) in program.image.instructions.iter().enumerate() {
        let first = record.first_slot as usize;
        for slot in first + 1..first + usize::from(record.sources) {
            if program.image.slots[slot] != program.image.slots[slot - 1] {
                let mut mutant = program.clone();
                mutant.image.slots.swap(slot, slot - 1);
                mutants.push((pc, mutant));
            }
        }
    }
    mutants
}

fn drop_slot(program: &Program) -> Mutants {
    each_record(program, |record| {
        let has = record.sources > 0;
        record.sources = record.sources.saturating_sub(1);
        has
    })
}

fn drop_result(program: &Program) -> Mutants {
    each_record(program, |record| {
        let has = record.destinations > 0;
        record.destinations = record.destinations.saturating_sub(1);
        has
    })
}

fn rename_slot(program: &Program) -> Mutants {
    let mutant = |slot: usize| {
        let mut mutant = program.clone();
        mutant.image.slots[slot].0 ^= 1;
        (slot, mutant)
    };
    (0..program.image.slots.len()).map(mutant).collect()
}

/// The slots that the operands' places give; used where a fault is to be consistent.
pub(crate) fn refresh_slots(program: &mut Program) {
    program.image.slots.clear();
    for (pc, record) in program.image.instructions.iter_mut().enumerate() {
        let instruction = &program.instructions[pc].instruction;
        record.first_slot = program.image.slots.len() as u32;
        for operands in [&instruction.sources, &instruction.destinations] {
            for register in registers(operands) {
                if let Location::General { first, count } =
                    program.registers[register.index()].location
                {
                    let slots = (first..first + u16::from(count)).map(RegisterId);
                    program.image.slots.extend(slots);
                }
            }
        }
    }
}

/// One mutant for each register whose place `change` changes.
fn each_place(
    program: &Program,
    change: impl Fn(&Program, Location) -> Option<Location>,
) -> Mutants {
    let mut mutants = Vec::new();
    for index in 0..program.registers.len() {
        let mut mutant = program.clone();
        if let Some(place) = change(program, program.registers[index].location) {
            mutant.registers[index].location = place;
            refresh_slots(&mut mutant);
            mutants.push((index, mutant));
        }
    }
    mutants
}

fn misalign(program: &Program) -> Mutants {
    each_place(program, |_, place| match place {
        Location::General { first, count: 2 } if first > 0 => {
            Some(Location::General { first: first - 1, count: 2 })
        }
        _ => None,
    })
}

fn halve(program: &Program) -> Mutants {
    each_place(program, |_, place| match place {
        Location::General { first, count: 2 } => Some(Location::General { first, count: 1 }),
        _ => None,
    })
}

fn leave_file(program: &Program) -> Mutants {
    each_place(program, |program, place| match place {
        Location::General { count, .. } => {
            let first = program.general_registers.next_multiple_of(u16::from(count));
            Some(Location::General { first, count })
        }
        Location::Predicate(_) => Some(Location::Predicate(program.predicate_registers)),
        Location::Unused => None,
    })
}

fn forget_place(program: &Program) -> Mutants {
    each_place(program, |_, _| Some(Location::Unused))
}

/// One mutant for each two registers that one instruction reads: the second gets the place that
/// `merge` makes of both.
fn each_two(program: &Program, merge: impl Fn(Location, Location) -> Option<Location>) -> Mutants {
    let mut mutants = Vec::new();
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let mut read = registers(&instruction.instruction.sources);
        read.extend(instruction.instruction.guard.map(|guard| guard.register));
        for a in &read {
            for b in read.iter().filter(|b| *b != a) {
                let place =
                    |register: &VirtualRegister| program.registers[register.index()].location;
                if let Some(merged) = merge(place(a), place(b)) {
                    let mut mutant = program.clone();
                    mutant.registers[b.index()].location = merged;
                    refresh_slots(&mut mutant);
                    mutants.push((pc, mutant));
                }
            }
        }
    }
    mutants
}

fn overlay(program: &Program) -> Mutants {
    each_two(program, |a, b| match (a, b) {
        (Location::General { count: m, .. }, Location::General { count: n, .. }) if m == n => {
            Some(a)
        }
        _ => None,
    })
}

fn overlap_pair(program: &Program) -> Mutants {
    each_two(program, |a, b| match (a, b) {
        (Location::General { first, count: 1 }, Location::General { count: 2, .. })
            if (first | 1) < program.general_registers =>
        {
            Some(Location::General { first: first & !1, count: 2 })
        }
        _ => None,
    })
}

/// Reads the register of one operand through another, slots and all.
fn read_another(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in 0..program.instructions.len() {
        let sources = &program.instructions[pc].instruction.sources;
        let (Some(Operand::Register(a)), Some(Operand::Register(b))) =
            (sources.first(), sources.get(1))
        else {
            continue;
        };
        if a != b && program.registers[a.index()].ty == program.registers[b.index()].ty {
            let mut mutant = program.clone();
            mutant.instructions[pc].instruction.sources[0] = Operand::Register(*b);
            refresh_slots(&mut mutant);
            mutants.push((pc, mutant));
        }
    }
    mutants
}

/// One mutant for each clear bit of a mask.
fn each_clear_bit(
    program: &Program,
    slots: fn(&StaticInstruction) -> u8,
    mask: fn(&mut StaticInstruction) -> &mut u32,
) -> Mutants {
    let mut mutants = Vec::new();
    for (pc, record) in program.image.instructions.iter().enumerate() {
        for slot in 0..slots(record) {
            let mut mutant = program.clone();
            let bits = mask(&mut mutant.image.instructions[pc]);
            if *bits >> slot & 1 == 0 {
                *bits |= 1 << slot;
                mutants.push((pc, mutant));
            }
        }
    }
    mutants
}

fn claim_last_use(program: &Program) -> Mutants {
    each_clear_bit(program, |record| record.sources, |record| &mut record.last_use)
}

fn claim_soon(program: &Program) -> Mutants {
    each_clear_bit(
        program,
        |record| record.sources,
        |record| &mut record.last_use_before_deschedule,
    )
}

fn claim_never_read(program: &Program) -> Mutants {
    each_clear_bit(program, |record| record.destinations, |record| &mut record.never_read)
}

fn claim_not_soon(program: &Program) -> Mutants {
    each_clear_bit(
        program,
        |record| record.destinations,
        |record| &mut record.not_read_before_deschedule,
    )
}

fn claim_private(program: &Program) -> Mutants {
    each_clear_bit(program, |record| record.destinations, |record| &mut record.private_reads)
}

fn without(program: &Program, flag: Flags) -> Mutants {
    each_record(program, |record| {
        let had = record.flags.contains(flag);
        record.flags.remove(flag);
        had
    })
}

fn clear_mark(program: &Program) -> Mutants {
    without(program, Flags::DESCHEDULE_BEFORE)
}

fn forget_latency(program: &Program) -> Mutants {
    without(program, Flags::LONG_LATENCY)
}

fn forget_barrier(program: &Program) -> Mutants {
    without(program, Flags::BARRIER)
}

fn reconverge(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    if program.name == "forever" {
        // Where no path ends there is more than one right place.
        return mutants;
    }
    for pc in 0..program.instructions.len() {
        if let Some(join) = program.instructions[pc].reconvergence {
            for wrong in [None, Some(join + 1), Some(pc as u32)] {
                let mut mutant = program.clone();
                mutant.instructions[pc].reconvergence = wrong;
                mutants.push((pc, mutant));
            }
        }
    }
    mutants
}

fn turn_guard(program: &Program) -> Mutants {
    let mut mutants = Vec::new();
    for pc in 0..program.instructions.len() {
        let mut mutant = program.clone();
        if let Some(guard) = &mut mutant.instructions[pc].instruction.guard {
            guard.negated = !guard.negated;
            mutants.push((pc, mutant));
        }
    }
    mutants
}

fn retarget(program: &Program) -> Mutants {
    let mutant = |label: usize| {
        let mut mutant = program.clone();
        mutant.targets[label] = 0;
        (label, mutant)
    };
    (0..program.targets.len()).filter(|&label| program.targets[label] != 0).map(mutant).collect()
}

/// Right for each thread alone, wrong for the warp: a short life on one side of a branch in the
/// register of a value that the lanes of the other side wait to read.
#[test]
fn a_value_of_the_other_side_is_not_overwritten() {
    let kernel = kernels().into_iter().find(|kernel| kernel.name == "sides").expect("in hand.ptx");
    let mut program = allocate(&kernel, None).expect("small");
    let find = |name: &str| {
        program.registers.iter().position(|register| register.name == name).expect("in hand.ptx")
    };
    let (waits, short) = (find("%r2"), find("%r3"));
    assert_ne!(program.registers[waits].location, program.registers[short].location);
    program.registers[short].location = program.registers[waits].location;
    refresh_slots(&mut program);
    let violations = check(&kernel, &program).expect_err("lanes wait for %r2");
    assert!(
        violations.iter().any(|violation| violation
            .to_string()
            .contains("writes `%r3` over `%r2`, which lanes waiting at 8 still read")),
        "{violations:?}"
    );
}

/// Right for the value itself, which no shared unit reads; wrong for the place, in which one looks
/// for a value that was never written.
#[test]
fn nothing_private_is_left_where_a_shared_unit_looks() {
    let module = crate::facts::module(crate::facts::BLIND);
    let kernel =
        strata_compiler::inline::inline(&module, FunctionId(0)).expect("nothing to inline");
    let mut program = allocate(&kernel, None).expect("small");
    assert_eq!(check(&kernel, &program), Ok(()));
    program.image.instructions[2].private_reads = 1;
    let violations = check(&kernel, &program).expect_err("the store finds it");
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let expected = "private reads is set for slot 0, but a shared unit may read it as `%r9`";
    assert!(texts.len() == 1 && texts[0].contains(expected), "{texts:?}");
}

/// A pair is lost with either of its words, and a single with a pair over it, whichever was there
/// first.
#[test]
fn every_word_of_a_pair_is_kept() {
    const TEXT: &str = "\
.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 at) {
.reg .b32 %r<4>;
.reg .b64 %rd<3>;
mov.u32 %r1, %tid.x;
ld.param.u64 %rd1, [at];
mov.u32 %r2, %tid.y;
st.global.u32 [%rd1], %r1;
st.global.u32 [%rd1+4], %r2;
ret;
}
";
    let parsed = strata_ptx::parse(TEXT);
    let kernel = strata_compiler::inline::inline(&parsed.module, FunctionId(0)).expect("no calls");
    let program = allocate(&kernel, None).expect("small");
    let at = |name: &str| program.registers.iter().position(|r| r.name == name).expect("declared");
    let Location::General { first, count: 2 } = program.registers[at("%rd1")].location else {
        panic!("a pair")
    };
    for (single, lost) in [("%r1", "%r1"), ("%r2", "%rd1")] {
        for word in [first, first + 1] {
            let mut mutant = program.clone();
            mutant.registers[at(single)].location = Location::General { first: word, count: 1 };
            refresh_slots(&mut mutant);
            let violations = check(&kernel, &mutant).expect_err(single);
            let reads_lost = violations.iter().any(|violation| {
                matches!(&violation.problem, Problem::LostValue { register, .. } if register == lost)
            });
            assert!(reads_lost, "{single} in {word}: {violations:?}");
        }
    }
}

/// A value that two paths leave in two places is in none where they meet.
#[test]
fn a_value_is_in_one_place_on_all_paths() {
    const TEXT: &str = "\
.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 at) {
.reg .b32 %r<4>;
.reg .b64 %rd<3>;
.reg .pred %p<2>;
ld.param.u64 %rd1, [at];
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r2, 16;
@%p1 bra OTHER;
mov.u32 %r1, 1;
bra MEET;
OTHER:
mov.u32 %r1, 2;
MEET:
st.global.u32 [%rd1], %r1;
ret;
}
";
    let parsed = strata_ptx::parse(TEXT);
    let kernel = strata_compiler::inline::inline(&parsed.module, FunctionId(0)).expect("no calls");
    let program = allocate(&kernel, None).expect("small");
    let writes = |pc: usize| match program.instructions[pc].instruction.destinations.first() {
        Some(Operand::Register(register)) => program.registers[register.index()].name == "%r1",
        _ => false,
    };
    let definitions: Vec<usize> =
        (0..program.instructions.len()).filter(|&pc| writes(pc)).collect();
    assert_eq!(definitions.len(), 2);
    for pc in definitions {
        let mut mutant = program.clone();
        let other = VirtualRegister(mutant.registers.len() as u32);
        let place = Location::General { first: mutant.general_registers, count: 1 };
        mutant.general_registers += 1;
        mutant.image.registers += 1;
        let Some(Operand::Register(old)) = mutant.instructions[pc].instruction.destinations.pop()
        else {
            panic!("a register")
        };
        let mut copy = mutant.registers[old.index()].clone();
        copy.location = place;
        mutant.registers.push(copy);
        mutant.instructions[pc].instruction.destinations.push(Operand::Register(other));
        refresh_slots(&mut mutant);
        let violations = check(&kernel, &mutant).expect_err("it is elsewhere on one path");
        let lost = |problem: &Problem| matches!(problem, Problem::LostValue { register, .. } if register == "%r1");
        assert!(violations.iter().any(|violation| lost(&violation.problem)), "{violations:?}");
    }
}
