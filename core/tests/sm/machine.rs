//! Kernels, traces and an SM in owned memory, for tests.

use strata_core::arbiter::{BankedRegister, QueuedRead};
use strata_core::image::{CheckedImage, Flags, KernelImage, MemorySpace, StaticInstruction, Unit};
use strata_core::path::PathStep;
use strata_core::sm::config::{SmConfig, SmSettings};
use strata_core::sm::counters::SmCounters;
use strata_core::sm::expansion::bundles::Bundles;
use strata_core::sm::fault::Fault;
use strata_core::sm::memory::MemoryModel;
use strata_core::sm::{
    BarrierCall, Collectors, Cta, DeliveryMemory, DeliverySize, Facts, Memory, MemoryAccess,
    MemorySize, Observation, ReadyAt, ResultOnItsWay, Sm, Warp, WarpTrace,
};
use strata_core::units::{LaneMask, RegisterId};

/// A kernel under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) instructions: Vec<StaticInstruction>,
    pub(crate) slots: Vec<RegisterId>,
    pub(crate) registers: u16,
}

impl Kernel {
    pub(crate) fn add(mut self, unit: Unit, flags: Flags, read: &[u16], write: &[u16]) -> Self {
        let first_slot = self.slots.len() as u32;
        self.slots.extend(read.iter().chain(write).map(|&register| RegisterId(register)));
        let highest = read.iter().chain(write).max().map_or(0, |register| register + 1);
        self.registers = self.registers.max(highest);
        self.instructions.push(StaticInstruction {
            first_slot,
            sources: read.len() as u8,
            destinations: write.len() as u8,
            flags,
            ..StaticInstruction::new(unit)
        });
        self
    }

    /// Changes the instruction added last.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut StaticInstruction)) -> Self {
        change(self.instructions.last_mut().expect("there is one"));
        self
    }

    /// Has the instruction added before the last access this memory.
    pub(crate) fn in_space(mut self, space: MemorySpace) -> Self {
        let producer = self.instructions.len() - 2;
        self.instructions[producer].space = Some(space);
        self
    }

    pub(crate) fn alu(self, read: &[u16], write: &[u16]) -> Self {
        self.add(Unit::Alu, Flags::empty(), read, write)
    }

    /// A global load, long latency.
    pub(crate) fn load(self, read: &[u16], write: &[u16]) -> Self {
        self.add(Unit::Memory, Flags::LOAD | Flags::LONG_LATENCY, read, write)
            .with(|load| load.space = Some(MemorySpace::Global))
    }

    pub(crate) fn store(self, read: &[u16]) -> Self {
        self.add(Unit::Memory, Flags::STORE, read, &[])
            .with(|store| store.space = Some(MemorySpace::Global))
    }

    pub(crate) fn shared_load(self, read: &[u16], write: &[u16]) -> Self {
        self.add(Unit::Memory, Flags::LOAD, read, write)
            .with(|load| load.space = Some(MemorySpace::Shared))
    }

    pub(crate) fn barrier(self) -> Self {
        self.add(Unit::Control, Flags::BARRIER, &[], &[])
    }

    /// Arrives at a barrier and does not wait.
    pub(crate) fn arrival(self) -> Self {
        self.add(Unit::Control, Flags::ARRIVES, &[], &[])
    }

    /// Marks the instruction added last as a place to deschedule before.
    pub(crate) fn marked(self) -> Self {
        self.with(|instruction| instruction.flags |= Flags::DESCHEDULE_BEFORE)
    }

    pub(crate) fn image(&self) -> KernelImage<'_> {
        KernelImage {
            instructions: &self.instructions,
            slots: &self.slots,
            registers: self.registers,
        }
    }

    /// One run over the whole kernel, all lanes.
    pub(crate) fn straight(&self) -> OwnedTrace {
        OwnedTrace::new(vec![run(0, self.instructions.len() as u32)], &[])
    }

    /// The whole kernel, with accesses of these bytes.
    pub(crate) fn moving(&self, bytes: &[u32]) -> OwnedTrace {
        OwnedTrace::new(vec![run(0, self.instructions.len() as u32)], bytes)
    }
}

pub(crate) fn run(pc: u32, length: u32) -> PathStep {
    PathStep { pc, length, mask: LaneMask::FULL }
}

#[derive(Clone, Debug)]
pub(crate) struct OwnedTrace {
    pub(crate) lanes: LaneMask,
    pub(crate) path: Vec<PathStep>,
    pub(crate) accesses: Vec<MemoryAccess>,
    pub(crate) barriers: Vec<BarrierCall>,
}

impl OwnedTrace {
    pub(crate) fn new(path: Vec<PathStep>, bytes: &[u32]) -> Self {
        let accesses = bytes.iter().map(|&bytes| MemoryAccess::uncached(bytes)).collect();
        Self { lanes: LaneMask::FULL, path, accesses, barriers: Vec::new() }
    }

    fn borrow(&self) -> WarpTrace<'_> {
        let Self { lanes, path, accesses, barriers } = self;
        WarpTrace { lanes: *lanes, path, accesses, barriers }
    }
}

/// The memory of operand collectors.
pub(crate) struct OwnedDelivery {
    collectors: Vec<Option<Collectors>>,
    reads: Vec<QueuedRead>,
    registers: Vec<BankedRegister>,
    results: Vec<ResultOnItsWay>,
    pub(crate) cell_writes: Vec<u64>,
}

impl OwnedDelivery {
    pub(crate) fn new(size: &DeliverySize) -> Self {
        Self {
            collectors: vec![None; size.collectors],
            reads: vec![QueuedRead::NONE; size.reads],
            registers: vec![BankedRegister::NONE; size.registers],
            results: vec![ResultOnItsWay::NONE; size.registers],
            cell_writes: vec![0; size.cells],
        }
    }

    pub(crate) fn borrow(&mut self) -> DeliveryMemory<'_> {
        DeliveryMemory {
            collectors: &mut self.collectors,
            reads: &mut self.reads,
            registers: &mut self.registers,
            results: &mut self.results,
            cell_writes: &mut self.cell_writes,
            bundles: None,
        }
    }
}

/// CTAs by warps.
pub(crate) type Grid = Vec<Vec<OwnedTrace>>;

/// How an SM is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// From event to event, in one call.
    Skipping,
    /// Every cycle.
    EveryCycle,
    /// From event to event, in a call each, like a program that embeds the SM.
    Stepped,
}

/// Runs a grid.
pub(crate) fn simulate(
    settings: SmSettings,
    kernel: &Kernel,
    shared_bytes: u32,
    grid: &Grid,
    pace: Pace,
    observe: impl FnMut(Observation),
) -> Result<SmCounters, Fault> {
    simulate_over(None, settings, kernel, shared_bytes, grid, pace, observe)
}

/// Runs a grid over an attached memory, if there is one, that takes the place of the SM's own.
pub(crate) fn simulate_over(
    attached: Option<&mut dyn MemoryModel>,
    settings: SmSettings,
    kernel: &Kernel,
    shared_bytes: u32,
    grid: &Grid,
    pace: Pace,
    observe: impl FnMut(Observation),
) -> Result<SmCounters, Fault> {
    let parts = (attached, None);
    simulate_bundles(parts, settings, kernel, shared_bytes, grid, pace, observe)
}

/// Runs a grid of a kernel with bundles, if it has them, over an attached memory, if there is one,
/// that takes the place of the SM's own.
pub(crate) fn simulate_bundles(
    (attached, bundles): (Option<&mut dyn MemoryModel>, Option<Bundles<'_>>),
    settings: SmSettings,
    kernel: &Kernel,
    shared_bytes: u32,
    grid: &Grid,
    pace: Pace,
    observe: impl FnMut(Observation),
) -> Result<SmCounters, Fault> {
    let config = SmConfig::new(settings).unwrap();
    let image = CheckedImage::new(kernel.image()).unwrap();
    let size = MemorySize::of(&config, &image);
    let mut warps = vec![Warp::default(); size.warps];
    // Beyond what is needed, too, contents do not matter.
    let mut ctas = vec![Cta::VACANT; size.ctas];
    let mut facts = vec![Facts::default(); size.facts];
    let mut ready = vec![ReadyAt::NOW; size.ready];
    let mut awaited = vec![LaneMask::FULL; size.awaited + 3];
    let mut caches = vec![None; size.caches];
    let mut delivery = OwnedDelivery::new(&size.delivery);
    let memory = Memory::<_, 16> {
        warps: &mut warps,
        ctas: &mut ctas,
        facts: &mut facts,
        ready: &mut ready,
        awaited: &mut awaited,
        caches: &mut caches,
        delivery: DeliveryMemory { bundles, ..delivery.borrow() },
        attached: attached.map(|memory| memory as &mut dyn MemoryModel),
    };
    let warps_per_cta = grid.first().map_or(1, Vec::len) as u32;
    let mut sm = Sm::observed(&config, image, warps_per_cta, shared_bytes, memory, observe)?;
    let ctas = grid.iter().map(|cta| cta.iter().map(OwnedTrace::borrow));
    match pace {
        Pace::Skipping => sm.run(ctas),
        Pace::EveryCycle => sm.run_every_cycle(ctas),
        Pace::Stepped => {
            let mut left = strata_core::sm::Grid::new(ctas);
            let mut now = sm.next_event();
            assert_eq!(now, 0);
            while sm.step(&mut left)? {
                assert!(sm.next_event() > now, "after {now}");
                now = sm.next_event();
            }
            // The end is the end.
            assert_eq!(sm.step(&mut left), Ok(false));
            assert_eq!(sm.next_event(), now);
            Ok(sm.finish())
        }
    }
}

/// Runs a grid at every pace: the results are the same.
pub(crate) fn both(
    settings: SmSettings,
    kernel: &Kernel,
    shared_bytes: u32,
    grid: &Grid,
) -> Result<SmCounters, Fault> {
    let at = |pace| simulate(settings, kernel, shared_bytes, grid, pace, |_| {});
    let skipped = at(Pace::Skipping);
    assert_eq!(skipped, at(Pace::EveryCycle));
    assert_eq!(skipped, at(Pace::Stepped));
    if let Ok(counters) = &skipped {
        let slots = u64::from(settings.issue_slots);
        assert_eq!(counters.all_slots(), counters.cycles() * slots);
    }
    skipped
}
