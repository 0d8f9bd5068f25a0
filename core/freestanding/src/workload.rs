//! Four instructions of one warp, counted and priced: small enough to check by hand.

use core::hint::black_box;

use strata_core::count::count_path;
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireCharge, WireLengths};
use strata_core::event::Counters;
use strata_core::image::{CheckedImage, Flags, KernelImage, MemorySpace, StaticInstruction, Unit};
use strata_core::level::Level;
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::register_file_cache::{Allocation, RegisterFileCacheConfig, Replacement};
use strata_core::units::{Femtojoules, LaneMask, RegisterId};

/// What [`status`] gives when the core refuses the workload.
const REFUSED: u8 = 1;
/// What [`status`] gives when the energy is not the one worked out below.
const WRONG_ENERGY: u8 = 2;

/// Registers of the kernel.
const REGISTERS: usize = 4;

/// Source slots, then destination slots, of each instruction in turn.
const SLOTS: [RegisterId; 11] = [
    RegisterId(0), // add r2, r0, r1
    RegisterId(1),
    RegisterId(2),
    RegisterId(2), // mul r3, r2, r2: the last reads of r2
    RegisterId(2),
    RegisterId(3),
    RegisterId(3), // load r0, [r3]
    RegisterId(0),
    RegisterId(0), // add r1, r0, r3: waits for the load
    RegisterId(3),
    RegisterId(1),
];

const ADD: StaticInstruction =
    StaticInstruction { sources: 2, destinations: 1, ..StaticInstruction::new(Unit::Alu) };

const INSTRUCTIONS: [StaticInstruction; 4] = [
    ADD,
    StaticInstruction { first_slot: 3, last_use: 0b10, ..ADD },
    StaticInstruction {
        first_slot: 6,
        sources: 1,
        unit: Unit::Memory,
        space: Some(MemorySpace::Global),
        flags: Flags::LOAD.union(Flags::LONG_LATENCY),
        ..ADD
    },
    StaticInstruction { first_slot: 8, flags: Flags::DESCHEDULE_BEFORE, ..ADD },
];

const CACHE: RegisterFileCacheConfig = RegisterFileCacheConfig {
    entries: 6,
    replacement: Replacement::Fifo,
    allocation: Allocation::Writes,
    liveness: true,
    liveness_aware_bypass: false,
    liveness_aware_eviction: false,
};

const SETTINGS: OrganisationSettings = OrganisationSettings {
    levels: LevelSettings::Cached(CachedLevels::new(CACHE)),
    scheduling: Scheduling::TwoLevel { active_warps: 8 },
};

/// [RFC2011] Tables 2 and 3: 6 entries, 8 active warps; 0.2 and 0.4 mm as in [DISS] Table 4.6.
const TABLE: EnergyTable = EnergyTable::flat(
    LevelEnergy::new(
        BankEnergy { read: Femtojoules(8_000), write: Femtojoules(11_000) },
        WireLengths { private_um: 1_000, shared_um: 1_000 },
    ),
    Femtojoules(1_900),
    WireCharge::Once,
)
.with(
    Level::Rfc,
    Some(LevelEnergy::new(
        BankEnergy { read: Femtojoules(2_200), write: Femtojoules(6_700) },
        WireLengths { private_um: 200, shared_um: 400 },
    )),
);

/// Eight clusters times: 4 reads of the main register file (15.6 pJ with the wire), 1 write (18.6),
/// 2 reads of the cache by the ALUs (3.72) and 1 by the memory unit (5.24), 3 writes (8.22), and
/// the writeback of r3 when the warp waits for its load: both banks and 0.8 mm (19.28).
const ENERGY: Femtojoules =
    Femtojoules(8 * (4 * 15_600 + 18_600 + 2 * 3_720 + 5_240 + 3 * 8_220 + 19_280));

fn count() -> Option<Counters> {
    let image = KernelImage {
        instructions: black_box(&INSTRUCTIONS),
        slots: black_box(&SLOTS),
        registers: REGISTERS as u16,
    };
    let image = CheckedImage::new(image).ok()?;
    let config = Organisation::new(black_box(SETTINGS)).ok()?;
    let mut awaited = [LaneMask::EMPTY; REGISTERS];
    let step = PathStep { pc: 0, length: INSTRUCTIONS.len() as u32, mask: LaneMask::FULL };
    count_path(&config, image, &mut awaited, [step]).ok()
}

/// The counts in one number: 4 reads and 2 writes of the main register file, 3 reads of
/// the cache, 1 deschedule: `4 + 8 * 2 + 32 * 3 + 128 * 1 = 244`; and the energy above.
pub fn status() -> u8 {
    let Some(counters) = count() else { return REFUSED };
    match black_box(TABLE).energy(&counters) {
        Ok(energy) if energy.total() == ENERGY => {}
        Ok(_) => return WRONG_ENERGY,
        Err(_) => return REFUSED,
    }
    let status = counters.mrf_reads()
        + 8 * counters.mrf_writes()
        + 32 * counters.rfc_reads()
        + 128 * counters.deschedules();
    u8::try_from(status).unwrap_or(REFUSED)
}
