//! Mutants of programs fitted to a hierarchy: one deliberate fault in what the allocator made is
//! rejected, and for its own reason.

use strata_compiler::checker::{Problem, check_levels};
use strata_compiler::hierarchy::{DualWrites, Hierarchy, HierarchyConfig, Lrf};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_core::image::{Flags, StaticInstruction, Unit};
use strata_core::placement::{Placement, Upper};
use strata_core::units::RegisterId;
use strata_ptx::module::Operand;

use crate::hierarchy::{config, fitted};
use crate::kernels::kernels;

/// What a mutator looks at.
struct Subject<'a> {
    program: &'a Program,
    hierarchy: &'a Hierarchy,
    config: &'a HierarchyConfig,
}

/// One slot of an instruction.
#[derive(Clone, Copy)]
struct Slot {
    pc: usize,
    /// Index into the image's slots.
    index: usize,
    register: RegisterId,
    source: bool,
    placement: Placement,
}

/// A kind of fault: its name, the new placement of a slot if it makes one there, and which complaint
/// is due.
struct Mutator {
    name: &'static str,
    mutate: fn(&Subject<'_>, Slot) -> Option<Placement>,
    due: fn(&Problem) -> bool,
}

fn is_level(problem: &Problem) -> bool {
    matches!(problem, Problem::BadLevel { .. })
}

fn is_lost(problem: &Problem) -> bool {
    matches!(problem, Problem::NotAtLevel { .. })
}

fn is_either(problem: &Problem) -> bool {
    is_level(problem) || is_lost(problem)
}

fn in_orf(placement: Placement) -> Option<u8> {
    match placement.upper {
        Some(Upper::Orf(entry)) => Some(entry),
        _ => None,
    }
}

fn in_lrf(placement: Placement) -> Option<u8> {
    match placement.upper {
        Some(Upper::Lrf(bank)) => Some(bank),
        _ => None,
    }
}

fn at(placement: Placement, upper: Upper) -> Placement {
    Placement { upper: Some(upper), ..placement }
}

const MUTATORS: [Mutator; 21] = [
    Mutator {
        name: "read the main register file, which was not written",
        mutate: |subject, slot| {
            let served = slot.source && !slot.placement.main;
            let definition = subject.definition_before(slot)?;
            (served && !definition.placement.main).then_some(Placement::MAIN)
        },
        due: is_lost,
    },
    Mutator {
        name: "read another entry",
        mutate: |subject, slot| {
            let entry = in_orf(slot.placement).filter(|_| slot.source && !slot.placement.main)?;
            Some(at(slot.placement, Upper::Orf((entry + 1) % subject.config.orf_entries)))
        },
        due: is_lost,
    },
    Mutator {
        name: "read an entry that nothing was left in",
        mutate: |subject, slot| {
            let read = slot.source && slot.placement == Placement::MAIN;
            let never = subject
                .slots()
                .iter()
                .all(|other| other.register != slot.register || other.placement.upper.is_none());
            let found = Placement { main: false, upper: Some(Upper::Orf(0)) };
            (read && never).then_some(found)
        },
        due: is_lost,
    },
    Mutator {
        name: "forget the main register file",
        mutate: |_, slot| {
            let doubled = !slot.source && slot.placement.main && slot.placement.upper.is_some();
            doubled.then_some(Placement { main: false, ..slot.placement })
        },
        due: is_lost,
    },
    Mutator {
        name: "forget the entry",
        mutate: |subject, slot| {
            subject.read_after(slot)?;
            Some(Placement::MAIN)
        },
        due: is_lost,
    },
    Mutator {
        name: "write another entry",
        mutate: |subject, slot| {
            let entry = in_orf(slot.placement)?;
            subject.read_after(slot)?;
            Some(at(slot.placement, Upper::Orf((entry + 1) % subject.config.orf_entries)))
        },
        due: is_either,
    },
    Mutator {
        name: "write an entry that is still read",
        mutate: |subject, slot| {
            // A restricted encoding has no name for it.
            let free = !slot.source
                && slot.placement == Placement::MAIN
                && !subject.is_long(slot.pc)
                && subject.config.dual_writes == DualWrites::Any;
            Some(at(slot.placement, subject.still_read_behind(slot).filter(|_| free)?))
        },
        due: is_lost,
    },
    Mutator {
        name: "leave a first read nowhere",
        mutate: |_, slot| {
            let fills = slot.source && slot.placement.main && slot.placement.upper.is_some();
            fills.then_some(Placement::MAIN)
        },
        due: is_lost,
    },
    Mutator {
        name: "take a first read from the entry",
        mutate: |_, slot| {
            let fills = slot.source && slot.placement.main && slot.placement.upper.is_some();
            fills.then_some(Placement { main: false, ..slot.placement })
        },
        due: is_either,
    },
    Mutator {
        name: "keep a long-latency result",
        mutate: |subject, slot| {
            let long = !slot.source && subject.is_long(slot.pc);
            Some(at(slot.placement, Upper::Orf(0))).filter(|_| long)
        },
        due: is_level,
    },
    Mutator {
        name: "name an entry that is not there",
        mutate: |subject, slot| Some(at(slot.placement, Upper::Orf(subject.config.orf_entries))),
        due: is_level,
    },
    Mutator {
        name: "name a last result file that is not there",
        mutate: |subject, slot| {
            Some(at(slot.placement, Upper::Lrf(0))).filter(|_| subject.config.lrf == Lrf::None)
        },
        due: is_level,
    },
    Mutator {
        name: "name a second bank of a unified file",
        mutate: |subject, slot| {
            Some(at(slot.placement, Upper::Lrf(1))).filter(|_| subject.config.lrf == Lrf::Unified)
        },
        due: is_level,
    },
    Mutator {
        name: "name a fourth bank",
        mutate: |_, slot| Some(at(slot.placement, Upper::Lrf(3))),
        due: is_level,
    },
    Mutator {
        name: "read another operand's bank",
        mutate: |subject, slot| {
            let bank = in_lrf(slot.placement).filter(|_| subject.config.lrf == Lrf::Split)?;
            let served = slot.source && !slot.placement.main;
            Some(at(slot.placement, Upper::Lrf((bank + 1) % 3))).filter(|_| served)
        },
        due: is_level,
    },
    Mutator {
        name: "reach the last result file from the shared datapath",
        mutate: |subject, slot| {
            let shared = subject.record(slot.pc).unit.is_shared_datapath();
            Some(at(slot.placement, Upper::Lrf(0))).filter(|_| shared)
        },
        due: is_level,
    },
    Mutator {
        name: "live nowhere",
        mutate: |_, _| Some(Placement { main: false, upper: None }),
        due: is_level,
    },
    Mutator {
        name: "give two results one entry",
        mutate: |subject, slot| {
            let next = subject.slots().into_iter().find(|next| next.index == slot.index + 1)?;
            let both = next.pc == slot.pc && !next.source && !slot.source;
            let other = next.register != slot.register && !subject.is_long(slot.pc);
            let entry = in_orf(next.placement).filter(|_| both && other)?;
            Some(at(slot.placement, Upper::Orf(entry)))
        },
        due: is_level,
    },
    Mutator {
        name: "write two levels where a result has one",
        mutate: |subject, slot| {
            let kept = !slot.source && slot.placement.upper.is_some();
            let one = kept && subject.config.dual_writes == DualWrites::Never;
            one.then_some(Placement { main: true, ..slot.placement })
        },
        due: is_level,
    },
    Mutator {
        name: "write two levels where only the last result file can be the other",
        mutate: |subject, slot| {
            let kept = in_orf(slot.placement).filter(|_| !slot.source);
            kept.filter(|_| subject.config.dual_writes == DualWrites::LastResultOnly)?;
            Some(Placement { main: true, ..slot.placement })
        },
        due: is_level,
    },
    Mutator {
        name: "write two levels and an entry that the register's name does not give",
        mutate: |subject, slot| {
            let entry = in_orf(slot.placement).filter(|_| !slot.source)?;
            let entries = subject.config.orf_entries;
            let wrong = slot.register.0 % u16::from(entries) != u16::from(entry);
            let due = wrong && subject.config.dual_writes == DualWrites::SameName;
            due.then_some(Placement { main: true, ..slot.placement })
        },
        due: is_level,
    },
];

impl<'a> Subject<'a> {
    fn record(&self, pc: usize) -> &'a StaticInstruction {
        &self.program.image.instructions[pc]
    }

    fn is_long(&self, pc: usize) -> bool {
        self.record(pc).flags.contains(Flags::LONG_LATENCY)
    }

    /// Every slot, in program order.
    fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for (pc, record) in self.program.image.instructions.iter().enumerate() {
            let first = record.first_slot as usize;
            let sources = usize::from(record.sources);
            for index in first..first + sources + usize::from(record.destinations) {
                slots.push(Slot {
                    pc,
                    index,
                    register: self.program.image.slots[index],
                    source: index < first + sources,
                    placement: self.hierarchy.placements[index],
                });
            }
        }
        slots
    }

    /// Straight code: no strand starts after `from` up to `to`, no lane branches or is left out.
    fn is_straight(&self, from: usize, to: usize) -> bool {
        let plain = |pc: usize| {
            self.program.instructions[pc].instruction.guard.is_none()
                && !self.record(pc).flags.intersects(Flags::BRANCH | Flags::EXIT)
        };
        let targets = &self.program.targets;
        (from..=to).all(plain)
            && (from + 1..=to).all(|pc| {
                self.hierarchy.strands.starts[pc].is_none() && !targets.contains(&(pc as u32))
            })
    }

    /// The definition that a read sees, if straight code leads from it.
    fn definition_before(&self, read: Slot) -> Option<Slot> {
        let last = self
            .slots()
            .into_iter()
            .rfind(|slot| slot.pc < read.pc && !slot.source && slot.register == read.register)?;
        self.is_straight(last.pc, read.pc).then_some(last)
    }

    /// A read that finds what a result left in its entry, if straight code leads to it.
    fn read_after(&self, result: Slot) -> Option<Slot> {
        let found = self.slots().into_iter().find(|slot| {
            let served = slot.source && !slot.placement.main;
            served && slot.placement.upper == result.placement.upper && slot.pc > result.pc
        })?;
        let definition = self.definition_before(found)?;
        (!result.source && definition.index == result.index).then_some(found)
    }

    /// An entry whose value is written before an instruction and read behind it, in straight code.
    fn still_read_behind(&self, slot: Slot) -> Option<Upper> {
        let reads = self.slots().into_iter().filter(|read| {
            let served = read.source && !read.placement.main;
            served && read.pc > slot.pc && read.register != slot.register
        });
        let held = |read: &Slot| {
            let definition = self.definition_before(*read)?;
            let before = definition.pc < slot.pc && self.record(slot.pc).unit != Unit::Memory;
            read.placement.upper.filter(|_| before && in_orf(read.placement).is_some())
        };
        reads.filter(|read| read.pc < slot.pc + 8).find_map(|read| held(&read))
    }
}

fn subjects() -> Vec<(Kernel, Program, Hierarchy, HierarchyConfig)> {
    let mut subjects = Vec::new();
    let unrestricted = [Lrf::None, Lrf::Unified, Lrf::Split].map(config);
    let named = [DualWrites::SameName, DualWrites::LastResultOnly, DualWrites::Never];
    let restricted = named.map(|dual_writes| HierarchyConfig { dual_writes, ..config(Lrf::Split) });
    for kernel in kernels() {
        for config in unrestricted.iter().chain(&restricted) {
            let (program, hierarchy) = fitted(&kernel, config);
            subjects.push((kernel.clone(), program, hierarchy, *config));
        }
    }
    subjects
}

#[test]
fn every_misplaced_slot_is_rejected_for_its_fault() {
    let subjects = subjects();
    for Mutator { name, mutate, due } in MUTATORS {
        let mut killed = 0;
        for (kernel, program, hierarchy, config) in &subjects {
            let subject = Subject { program, hierarchy, config };
            let places = subject.slots();
            let mutants = places.iter().filter_map(|slot| Some((slot, mutate(&subject, *slot)?)));
            for (slot, placement) in mutants.take(4) {
                let mut mutant = hierarchy.clone();
                mutant.placements[slot.index] = placement;
                let Err(violations) = check_levels(kernel, program, &mutant, config) else {
                    panic!("{name}: accepted in `{}` at {}, {config:?}", kernel.name, slot.pc);
                };
                let place =
                    format!("{name} in `{}` at {}: {}", kernel.name, slot.pc, violations[0]);
                assert!(violations.iter().any(|violation| due(&violation.problem)), "{place}");
                killed += 1;
            }
        }
        println!("{name}: {killed} mutants, all rejected");
        assert!(killed >= 3, "{name}: only {killed} mutants");
    }
}

/// Why a strand starts somewhere, for the four reasons that the machine itself enforces.
fn must_start(subject: &Subject<'_>, pc: usize) -> Option<&'static str> {
    let before = pc.checked_sub(1).map(|pc| subject.record(pc).flags).unwrap_or_default();
    let backward = |from: usize| {
        let label = match subject.program.instructions[from].instruction.sources.first() {
            Some(Operand::Label(label)) => label.index(),
            _ => return false,
        };
        from >= pc && subject.program.targets[label] as usize == pc
    };
    if subject.record(pc).flags.contains(Flags::DESCHEDULE_BEFORE) {
        Some("a mark")
    } else if before.contains(Flags::BARRIER) {
        Some("a barrier before")
    } else if before.contains(Flags::BACKWARD_BRANCH) {
        Some("a backward branch before")
    } else if pc > 0 && (0..subject.program.instructions.len()).any(backward) {
        Some("the target of a backward branch")
    } else {
        None
    }
}

#[test]
fn every_missing_strand_start_is_noticed() {
    let mut seen = std::collections::BTreeMap::new();
    for (kernel, program, hierarchy, config) in &subjects() {
        let subject = Subject { program, hierarchy, config };
        for pc in 0..program.instructions.len() {
            let Some(why) = must_start(&subject, pc) else { continue };
            let mut mutant = hierarchy.clone();
            mutant.strands.starts[pc] = None;
            let noticed = check_levels(kernel, program, &mutant, config).is_err_and(|violations| {
                violations.iter().any(|v| v.pc == pc && v.problem == Problem::NoStrandStart)
            });
            let one_of_many =
                why.starts_with("the target") && hierarchy.strands.starts[pc].is_none();
            assert!(noticed || one_of_many, "`{}` at {pc}: {why}", kernel.name);
            *seen.entry(why).or_insert(0) += u32::from(noticed);
        }
    }
    assert!(seen.len() == 4 && seen.values().all(|&count| count >= 3), "{seen:?}");
}
