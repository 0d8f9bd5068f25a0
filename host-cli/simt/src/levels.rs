//! Levels: operand values that really live in a compiler-managed register hierarchy.
//!
//! Models: a warp's main register file and its entries above it, each a row of its own; what each
//! slot reads and writes where its placement says; the loss of all entries when the warp is
//! descheduled, before it reads a pending long-latency result and at a barrier.
//! Does not model: which accesses cost what, or when they happen (the core does).
//! Source: `[DISS]` 6.2 and 6.3; `docs/MODEL.md`, section "Compiler-managed hierarchy".
//!
//! Instructions go on reading and writing rows of [`Lanes`]. These hold a register only while an
//! instruction executes: it finds there what its slots loaded from their levels, its results leave
//! for theirs, and then the rows hold garbage again. So a value that a placement loses, or that an
//! instruction reads without a slot for it, is wrong from then on.

use std::sync::Arc;

use strata_compiler::program::Image;
use strata_core::image::{ImageError, StaticInstruction};
use strata_core::placement::{LRF_BANKS, MAX_ORF_ENTRIES, Placement, Upper};
use strata_core::rules::{PendingResults, RegisterSketch, Rules};
use strata_core::units::{LaneMask, RegisterId};

use crate::exec::digest::Digest;
use crate::row::{Lanes, Row, lanes, store_row};

/// A compiler-managed hierarchy is that of a two-level scheduler's active warps.
const RULES: Rules = Rules { two_level: true, flush_at_backward_branches: false };

/// What is found where there is no value: no small number in any type, and no address.
const GARBAGE: Row = Row::splat(0xc57a_1e5d);

/// Why a program cannot be executed through the levels of its operands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// Not the program that was decoded.
    #[error("kernel `{kernel}` was not decoded from this program: pass the one given to `prepare`")]
    OtherProgram {
        /// Name of the kernel that was decoded.
        kernel: String,
    },
    /// The program's image or the placements break their own rules.
    #[error("kernel `{kernel}`: {problem}: pass the placements of a hierarchy fitted to it")]
    Placements {
        /// Kernel name.
        kernel: String,
        /// What is wrong.
        problem: ImageError,
    },
}

/// Where a program's operands live.
#[derive(Clone, Debug)]
pub(crate) struct PlacedOperands {
    pub(crate) image: Image,
    /// One for each slot of the image.
    pub(crate) placements: Vec<Placement>,
}

impl PlacedOperands {
    /// The registers of an instruction's sources or results, each with its placement.
    fn slots(
        &self,
        instruction: &StaticInstruction,
        results: bool,
    ) -> impl Iterator<Item = (usize, Placement)> + Clone {
        let first = instruction.first_slot as usize;
        let sources = usize::from(instruction.sources);
        let range = if results {
            first + sources..first + sources + usize::from(instruction.destinations)
        } else {
            first..first + sources
        };
        let registers = self.image.slots[range.clone()].iter().map(|slot| usize::from(slot.0));
        registers.zip(self.placements[range].iter().copied())
    }
}

/// One warp's values.
#[derive(Debug)]
pub(crate) struct WarpLevels {
    levels: Arc<PlacedOperands>,
    /// The main register file, by register.
    main: Vec<Row>,
    /// The entries of the operand register file, then the banks of the last result file.
    upper: [Row; (MAX_ORF_ENTRIES + LRF_BANKS) as usize],
    /// Lanes of the pending results, by register.
    pending: Vec<LaneMask>,
    sketch: RegisterSketch,
    /// The instruction whose results still lie in the registers' rows, and its lanes.
    done: Option<(u32, u32)>,
}

const fn entry(upper: Upper) -> usize {
    match upper {
        Upper::Orf(entry) => entry as usize,
        Upper::Lrf(bank) => (MAX_ORF_ENTRIES + bank) as usize,
    }
}

impl WarpLevels {
    /// Empty levels.
    pub(crate) fn new(levels: &Arc<PlacedOperands>) -> Self {
        let registers = usize::from(levels.image.registers);
        Self {
            levels: Arc::clone(levels),
            main: vec![Row::ZERO; registers],
            upper: [GARBAGE; _],
            pending: vec![LaneMask::EMPTY; registers],
            sketch: RegisterSketch::EMPTY,
            done: None,
        }
    }

    /// Makes them ready for a new CTA.
    pub(crate) fn start(&mut self, file: &mut Lanes) {
        // As without levels, registers are zero at first.
        self.main.fill(Row::ZERO);
        self.deschedule();
        self.done = None;
        file.rows[..self.main.len()].fill(GARBAGE);
    }

    /// All that they hold.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        digest.rows(&self.main);
        digest.rows(&self.upper);
        for lanes in &self.pending {
            digest.word(lanes.0.into());
        }
        let (pc, mask) = self.done.unwrap_or_default();
        digest.words(&[self.done.is_some().into(), pc, mask]);
    }

    fn deschedule(&mut self) {
        self.upper = [GARBAGE; _];
        self.pending().deschedule();
    }

    fn pending(&mut self) -> PendingResults<'_> {
        PendingResults::new(&mut self.pending, &mut self.sketch)
    }

    /// Loads what an instruction is about to read in the lanes of `mask`. Its results are awaited
    /// until [`WarpLevels::executed`].
    pub(crate) fn load(&mut self, file: &mut Lanes, pc: u32, mask: u32) {
        self.settle(file);
        let levels = Arc::clone(&self.levels);
        let instruction = &levels.image.instructions[pc as usize];
        let image = levels.image.borrow();
        if self.pending().first_read(image.sources(instruction), LaneMask(mask)).is_some() {
            self.deschedule();
        }
        let sources = levels.slots(instruction, false);
        for (slot, (register, placement)) in sources.clone().enumerate() {
            let value = match placement {
                Placement { main: false, upper: Some(upper) } => &self.upper[entry(upper)],
                _ => &self.main[register],
            };
            let row = &mut file.rows[register];
            let before = levels.slots(instruction, false).take(slot);
            // A register that is named twice has one row here; both slots must agree.
            let mut wrong = 0;
            if before.into_iter().any(|(other, _)| other == register) {
                wrong = lanes(mask)
                    .filter(|&lane| row.0[lane] != value.0[lane])
                    .fold(0, |wrong, lane| wrong | 1 << lane);
            }
            store_row(row, &value.0, mask);
            store_row(row, &GARBAGE.0, wrong);
        }
        for (register, placement) in sources {
            if let Placement { main: true, upper: Some(upper) } = placement {
                store_row(&mut self.upper[entry(upper)], &self.main[register].0, mask);
            }
        }
        let pending = RULES.makes_pending(instruction.flags);
        self.pending().issue(image.destinations(instruction), LaneMask(mask), pending);
        if RULES.after(instruction.flags).deschedule {
            self.deschedule();
        }
    }

    /// An instruction has executed in the lanes of `mask`, or will have by the next call.
    pub(crate) fn executed(&mut self, file: &mut Lanes, pc: u32, mask: u32) {
        self.settle(file);
        self.done = Some((pc, mask));
    }

    /// Stores the results of the last instruction.
    fn settle(&mut self, file: &mut Lanes) {
        let Some((pc, mask)) = self.done.take() else { return };
        let levels = Arc::clone(&self.levels);
        let instruction = &levels.image.instructions[pc as usize];
        // What a barrier leaves above the main register file is lost at once.
        let keeps = !RULES.after(instruction.flags).deschedule;
        for (register, placement) in levels.slots(instruction, true) {
            let value = &file.rows[register].0;
            if placement.main {
                store_row(&mut self.main[register], value, mask);
            }
            if let Some(upper) = placement.upper {
                let value = if keeps { value } else { &GARBAGE.0 };
                store_row(&mut self.upper[entry(upper)], value, mask);
            }
        }
        for &RegisterId(register) in levels.image.borrow().sources(instruction) {
            store_row(&mut file.rows[usize::from(register)], &GARBAGE.0, mask);
        }
        for &RegisterId(register) in levels.image.borrow().destinations(instruction) {
            store_row(&mut file.rows[usize::from(register)], &GARBAGE.0, mask);
        }
    }
}
