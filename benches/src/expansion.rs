//! Registers in scratchpad memory: the loop of count mode on a Fermi of `[EXPARS]`, whose register
//! file has room for five CTAs, and on the same with a sixth whose registers from 8 up lie in
//! scratchpad memory.

use std::hint::black_box;

use strata_core::arbiter::{BankPorts, BankedRegister, QueuedRead};
use strata_core::bank_layout::BankLayout;
use strata_core::image::{CheckedImage, Flags, KernelImage, StaticInstruction};
use strata_core::organisation::Organisation;
use strata_core::path::PathStep;
use strata_core::sm::config::{Scheduler, Schedulers, SmConfig, SmSettings, StorageKind};
use strata_core::sm::expansion::bundles::{Bundles, Prefetch, RegisterSet};
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::{
    Cta, DeliveryMemory, Facts, Memory, MemoryAccess, MemorySize, ReadyAt, ResultOnItsWay, Sm,
    Warp, WarpTrace,
};
use strata_core::units::{LaneMask, RegisterId};

use crate::counting::{LENGTH, REGISTERS, kernel};
use crate::work::{Prepared, Work};

const WARPS_PER_CTA: usize = 8;
const CTAS: usize = 18;
const ROUNDS: usize = 20;

/// The same launch on both.
pub const WORK: &[Work] = &[
    Work { name: "cycle_loop_partitioned", prepare: || prepare(StorageKind::Partitioned) },
    Work { name: "cycle_loop_expars", prepare: || prepare(StorageKind::Expars) },
];

const FERMI: SmSettings = SmSettings {
    operand_delivery: OperandDelivery::Collectors(CollectorSettings {
        banks: 4,
        bank_ports: BankPorts::ReadAndWrite,
        bank_layout: BankLayout::Linear,
        ..CollectorSettings::WARRF_SRAM
    }),
    organisation: Organisation::FLAT,
    scheduler: Scheduler::LooseRoundRobin,
    issue_slots: 2,
    schedulers: Schedulers::ByParity,
    ..SmSettings::WARRF_GTX480
};

/// Bundles that end where a register would share its line, or may await the loop's load.
fn bundles(instructions: &[StaticInstruction], slots: &[RegisterId]) -> Vec<Prefetch> {
    let registers = |one: &StaticInstruction| {
        let first = one.first_slot as usize;
        &slots[first..first + usize::from(one.sources + one.destinations)]
    };
    let load = instructions.iter().find(|one| one.flags.contains(Flags::LONG_LATENCY));
    let loaded = load.and_then(|load| registers(load).last()).copied();
    let mut all: Vec<Prefetch> = Vec::new();
    for (pc, instruction) in (0..).zip(instructions) {
        let long = instruction.flags.contains(Flags::LONG_LATENCY);
        let named = registers(instruction);
        let with_line = &named[..named.len() - usize::from(long)];
        let shares = |bundle: &Prefetch| {
            with_line.iter().any(|one| {
                let line = |other: RegisterId| other != *one && other.0 % 16 == one.0 % 16;
                bundle.registers().iter().any(line)
            })
        };
        let waits = named.iter().any(|&register| Some(register) == loaded);
        if waits || all.last().is_none_or(shares) {
            let (fetched, allocated) = (RegisterSet::EMPTY, RegisterSet::EMPTY);
            all.push(Prefetch { pc, fetched, allocated });
        }
        let bundle = all.last_mut().expect("the first instruction begins one");
        for &register in with_line {
            assert!(bundle.fetched.insert(register));
        }
    }
    all
}

/// The loop, without an instruction that names two registers of one line.
fn legal_kernel() -> (Vec<StaticInstruction>, Vec<RegisterId>) {
    let (instructions, mut slots) = kernel();
    for one in &instructions {
        let first = one.first_slot as usize;
        let named = first..first + usize::from(one.sources + one.destinations);
        for place in named.clone() {
            while named.clone().any(|other| {
                slots[other] != slots[place] && slots[other].0 % 16 == slots[place].0 % 16
            }) {
                slots[place].0 = (slots[place].0 + 1) % REGISTERS;
            }
        }
    }
    (instructions, slots)
}

fn prepare(storage: StorageKind) -> Prepared {
    let (instructions, slots) = legal_kernel();
    let prefetches = bundles(&instructions, &slots);
    let path = [PathStep { pc: 0, length: LENGTH, mask: LaneMask::FULL }; ROUNDS];
    let moves = instructions.iter().filter(|one| one.moves_bytes()).count() * ROUNDS;
    let accesses = vec![MemoryAccess::uncached(128); moves];
    let config = SmConfig::new(SmSettings { storage, ..FERMI }).expect("settings in their range");
    Box::new(move || {
        let image =
            KernelImage { instructions: &instructions, slots: &slots, registers: REGISTERS };
        let image = CheckedImage::new(image).expect("the kernel above is well formed");
        let size = MemorySize::of(&config, &image);
        let registers = size.delivery.registers;
        let memory = Memory::<_, 8> {
            warps: &mut vec![Warp::default(); size.warps],
            ctas: &mut vec![Cta::VACANT; size.ctas],
            facts: &mut vec![Facts::default(); size.facts],
            ready: &mut vec![ReadyAt::NOW; size.ready],
            awaited: &mut vec![LaneMask::EMPTY; size.awaited],
            caches: &mut vec![None; size.caches],
            delivery: DeliveryMemory {
                collectors: &mut vec![None; size.delivery.collectors],
                reads: &mut vec![QueuedRead::NONE; size.delivery.reads],
                registers: &mut vec![BankedRegister::NONE; registers],
                results: &mut vec![ResultOnItsWay::NONE; registers],
                cell_writes: &mut vec![0; size.delivery.cells],
                bundles: Some(Bundles::new(&prefetches, LENGTH).expect("they keep the rules")),
            },
            attached: None,
        };
        let warp =
            WarpTrace { lanes: LaneMask::FULL, path: &path, accesses: &accesses, barriers: &[] };
        let sm = Sm::new(&config, image, WARPS_PER_CTA as u32, 0, memory).expect("a CTA fits");
        let expected = if storage == StorageKind::Expars { 6 } else { 5 };
        assert_eq!(sm.residency().ctas, expected);
        let counters = sm.run([[warp; WARPS_PER_CTA]; CTAS]).expect("the trace fits the kernel");
        black_box(counters).accesses.warp_instructions()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_run_the_same_instructions() {
        let expected = u64::from(LENGTH) * (ROUNDS * WARPS_PER_CTA * CTAS) as u64;
        for work in WORK {
            assert_eq!((work.prepare)()(), expected, "{}", work.name);
        }
    }
}
