//! Kernel: what an SM knows of the kernel of a launch, and of the design that it runs on, before
//! the first cycle. Nothing of it changes in a run.

use super::facts::Facts;
use crate::hierarchy::Step;
use crate::image::CheckedImage;
use crate::rules::Rules;
use crate::units::{LaneMask, RegisterId};

/// A kernel on a design.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel<'m> {
    pub(super) image: CheckedImage<'m>,
    /// One for each instruction.
    pub(super) facts: &'m [Facts],
    pub(super) rules: Rules,
    /// No level above the main register file.
    pub(super) flat: bool,
    /// Neither levels nor deschedules: an instruction's accesses follow from its operands.
    pub(super) counts_flat: bool,
    /// The compiler places operands and results.
    pub(super) managed: bool,
}

impl<'m> Kernel<'m> {
    /// What issuing an instruction needs to know of it.
    #[inline]
    pub(super) fn facts(&self, pc: u32) -> &'m Facts {
        &self.facts[pc as usize]
    }

    /// Registers that an instruction reads.
    #[inline]
    pub(super) fn sources(&self, facts: &Facts) -> &'m [RegisterId] {
        facts.sources(&self.image)
    }

    /// Registers that an instruction writes.
    #[inline]
    pub(super) fn destinations(&self, facts: &Facts) -> &'m [RegisterId] {
        facts.destinations(&self.image)
    }

    /// An instruction as the levels of the register hierarchy execute it.
    #[inline]
    pub(super) fn step(&self, pc: u32, facts: &Facts, mask: LaneMask) -> Step<'m> {
        let registers = (self.sources(facts), self.destinations(facts));
        let instruction = &self.image.instructions[pc as usize];
        Step::new(&self.image, (pc, instruction), registers, self.managed, mask)
    }
}

/// An instruction of a warp, with a lane enabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'m> {
    pub(super) facts: &'m Facts,
    pub(super) pc: u32,
    pub(super) mask: LaneMask,
    pub(super) warp: u8,
    /// The warp's place in the active set.
    pub(super) place: u8,
}

/// Visits each register once, with the place where it stands first.
#[expect(clippy::inline_always, reason = "a fifth of an SM's time is calls of this size")]
#[inline(always)]
pub(super) fn distinct(registers: &[RegisterId], mut visit: impl FnMut(usize, RegisterId)) {
    // Nearly all instructions have one result at most, which needs no loop.
    let [first, others @ ..] = registers else { return };
    visit(0, *first);
    for (before, &register) in (1..).zip(others) {
        if !registers[..before].contains(&register) {
            visit(before, register);
        }
    }
}
