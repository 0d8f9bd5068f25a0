//! How many warp instructions a second cycle mode runs, by hand: `cargo run --release --example
//! sm_speed -p strata-core`. 48 CTAs of 8 warps each: a loop of dependent multiply-adds, and one
//! that streams through memory.

use std::time::Instant;

use strata_core::count::{CountConfig, CountSettings, Scheduling};
use strata_core::image::{
    CheckedImage, Flags, KernelImage, MemorySpace, Predicates, StaticInstruction, Unit,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::sm::config::{SmConfig, SmSettings};
use strata_core::sm::{Facts, Memory, MemoryAccess, MemorySize, ReadyAt, Sm, Warp, WarpTrace};
use strata_core::units::{LaneMask, RegisterId};

const CTAS: usize = 48;
const WARPS: usize = 8;

struct Kernel {
    instructions: Vec<StaticInstruction>,
    slots: Vec<RegisterId>,
    path: Vec<PathStep>,
    accesses: Vec<MemoryAccess>,
}

impl Kernel {
    fn new() -> Self {
        Self { instructions: vec![], slots: vec![], path: vec![], accesses: vec![] }
    }

    fn add(&mut self, unit: Unit, flags: Flags, read: &[u16], write: &[u16]) {
        let first_slot = self.slots.len() as u32;
        self.slots.extend(read.iter().chain(write).map(|&register| RegisterId(register)));
        let space = (unit == Unit::Memory).then_some(MemorySpace::Global);
        self.instructions.push(StaticInstruction {
            first_slot,
            sources: read.len() as u8,
            destinations: write.len() as u8,
            unit,
            space,
            flags: flags | Flags::DESCHEDULE_BEFORE,
            predicates: Predicates::NONE,
            last_use: u32::from(read.len() == 3),
            never_read: 0,
            not_read_before_deschedule: 0,
            last_use_before_deschedule: 0,
            private_reads: 0,
        });
    }

    fn load(&mut self, read: u16, write: u16) {
        self.add(Unit::Memory, Flags::LOAD | Flags::LONG_LATENCY, &[read], &[write]);
    }

    /// The end of a loop body: counter, comparison, branch.
    fn again(&mut self, iterations: usize) {
        self.add(Unit::Alu, Flags::empty(), &[3], &[3]);
        self.add(Unit::Alu, Flags::empty(), &[3], &[]);
        let last = self.instructions.last_mut().expect("one was added");
        last.predicates = Predicates { read: 0, written: 1 };
        self.add(Unit::Control, Flags::BRANCH | Flags::BACKWARD_BRANCH, &[], &[]);
        let last = self.instructions.last_mut().expect("one was added");
        last.predicates = Predicates { read: 1, written: 0 };
        let length = self.instructions.len() as u32;
        self.path = vec![PathStep { pc: 0, length, mask: LaneMask::FULL }; iterations];
        let moving = self.instructions.iter().filter(|instruction| instruction.moves_bytes());
        self.accesses = vec![MemoryAccess::uncached(128); moving.count() * iterations];
    }

    /// One load, then multiply-adds in eight independent chains.
    fn multiply_adds() -> Self {
        let mut kernel = Self::new();
        kernel.load(1, 2);
        for number in 0..56 {
            let register = 8 + number % 8;
            kernel.add(Unit::Alu, Flags::empty(), &[register, 4, 5], &[register]);
        }
        kernel.add(Unit::Alu, Flags::empty(), &[2, 8], &[8]);
        kernel.again(1500);
        kernel
    }

    /// Two loads, an addition, a store for each element.
    fn stream() -> Self {
        let mut kernel = Self::new();
        kernel.add(Unit::Alu, Flags::empty(), &[3, 4], &[1]);
        kernel.load(1, 8);
        kernel.load(1, 9);
        kernel.add(Unit::Alu, Flags::empty(), &[8, 9], &[10]);
        kernel.add(Unit::Memory, Flags::STORE, &[1, 10], &[]);
        kernel.again(3000);
        kernel
    }
}

fn design(entries: u8, scheduling: Scheduling) -> SmSettings {
    let cache = (entries > 0).then_some(RegisterFileCacheConfig {
        entries,
        replacement: Replacement::Fifo,
        allocation: Allocation::Writes,
        liveness: true,
        liveness_aware_bypass: false,
        liveness_aware_eviction: false,
    });
    let settings = CountSettings {
        cache,
        scheduling,
        flush_at_backward_branches: false,
        last_result_file: false,
        compiler_managed: false,
    };
    let hierarchy = CountConfig::new(settings).expect("the settings above are valid");
    SmSettings { hierarchy, ..SmSettings::ISCA11 }
}

fn measure(name: &str, kernel: &Kernel, settings: SmSettings) {
    let image =
        KernelImage { instructions: &kernel.instructions, slots: &kernel.slots, registers: 16 };
    let image = CheckedImage::new(image).expect("the image above is well formed");
    let config = SmConfig::new(settings).expect("the settings above are valid");
    let size = MemorySize::of(&config, &image);
    let mut warps = vec![Warp::default(); size.warps];
    let mut facts = vec![Facts::default(); size.facts];
    let mut ready = vec![ReadyAt::NOW; size.ready];
    let mut pending = vec![LaneMask::EMPTY; size.pending];
    let mut caches = vec![None; size.caches];
    let memory = Memory::<_, 8> {
        warps: &mut warps,
        facts: &mut facts,
        ready: &mut ready,
        pending: &mut pending,
        caches: &mut caches,
    };
    let lanes = LaneMask::FULL;
    let warp = WarpTrace { lanes, path: &kernel.path, accesses: &kernel.accesses, barriers: &[] };
    let sm = Sm::new(&config, image, WARPS as u32, 0, memory).expect("a CTA fits");
    let start = Instant::now();
    let counters = sm.run((0..CTAS).map(|_| [warp; WARPS])).expect("a valid run");
    let seconds = start.elapsed().as_secs_f64();
    let instructions = counters.accesses.warp_instructions();
    let rate = instructions as f64 / seconds / 1e6;
    let per_cycle = instructions as f64 / counters.cycles() as f64;
    println!("{name}: {rate:.1} M warp instructions/s, {per_cycle:.2} a cycle");
}

fn main() {
    let two_level = Scheduling::TwoLevel { active_warps: 8 };
    for (name, kernel) in [("multiply-adds", Kernel::multiply_adds()), ("stream", Kernel::stream())]
    {
        for (design_name, settings) in [
            ("flat, one level", design(0, Scheduling::SingleLevel)),
            ("flat, two levels", design(0, two_level)),
            ("6 entries, two levels", design(6, two_level)),
        ] {
            measure(&format!("{name}, {design_name}"), &kernel, settings);
        }
    }
}
