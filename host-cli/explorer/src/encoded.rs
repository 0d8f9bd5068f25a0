//! Encoded: the core's types as postcard reads and writes them.
//!
//! Each is taken apart field by field: a new field of the core does not compile before it is
//! written here too. [`EnergyTable`] keeps some of its fields to itself; a test compares it after
//! a round trip, and so does the host of every table that it writes.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use strata_core::energy::{BankEnergy, EnergyTable, LevelEnergy, WireLengths};
use strata_core::image::{Flags, MemorySpace, Predicates, StaticInstruction, Unit};
use strata_core::level::Level;
use strata_core::names::Named;
use strata_core::organisation::{
    CachedLevels, LevelSettings, Organisation, OrganisationSettings, Scheduling,
};
use strata_core::path::PathStep;
use strata_core::placement::{Placement, Upper};
use strata_core::register_file_cache::RegisterFileCacheConfig;
use strata_core::units::{Femtojoules, LaneMask};

use crate::Problem;

/// Bytes of a value that is read whole.
pub(crate) fn to_bytes<T: Serialize>(value: &T, what: &'static str) -> Result<Vec<u8>, Problem> {
    postcard::to_allocvec(value).map_err(|_| Problem::Malformed(what))
}

/// The value of bytes, after which nothing follows.
pub(crate) fn from_bytes<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    what: &'static str,
) -> Result<T, Problem> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(Problem::Malformed(what)),
    }
}

/// The place of a value among all of its type.
fn place_of<T: Named>(value: T) -> u8 {
    T::ALL.iter().position(|&one| one == value).unwrap_or_default() as u8
}

/// The value at a place.
fn at_place<T: Named>(place: u8, what: &'static str) -> Result<T, Problem> {
    T::ALL.get(usize::from(place)).copied().ok_or(Problem::Unknown(what))
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Instruction {
    first_slot: u32,
    sources: u8,
    destinations: u8,
    unit: u8,
    space: Option<u8>,
    flags: u16,
    predicates: [u32; 2],
    last_use: u32,
    never_read: u32,
    not_read_before_deschedule: u32,
    last_use_before_deschedule: u32,
    private_reads: u32,
}

impl From<&StaticInstruction> for Instruction {
    fn from(instruction: &StaticInstruction) -> Self {
        let StaticInstruction {
            first_slot,
            sources,
            destinations,
            unit,
            space,
            flags,
            predicates: Predicates { read, written },
            last_use,
            never_read,
            not_read_before_deschedule,
            last_use_before_deschedule,
            private_reads,
        } = *instruction;
        Self {
            first_slot,
            sources,
            destinations,
            unit: place_of(unit),
            space: space.map(place_of),
            flags: flags.bits(),
            predicates: [read, written],
            last_use,
            never_read,
            not_read_before_deschedule,
            last_use_before_deschedule,
            private_reads,
        }
    }
}

impl Instruction {
    pub(crate) fn decoded(&self) -> Result<StaticInstruction, Problem> {
        let [read, written] = self.predicates;
        let space = self.space.map(|space| at_place::<MemorySpace>(space, "memory space"));
        Ok(StaticInstruction {
            first_slot: self.first_slot,
            sources: self.sources,
            destinations: self.destinations,
            unit: at_place::<Unit>(self.unit, "unit")?,
            space: space.transpose()?,
            flags: Flags::from_bits(self.flags).ok_or(Problem::Unknown("flag"))?,
            predicates: Predicates { read, written },
            last_use: self.last_use,
            never_read: self.never_read,
            not_read_before_deschedule: self.not_read_before_deschedule,
            last_use_before_deschedule: self.last_use_before_deschedule,
            private_reads: self.private_reads,
        })
    }
}

/// A run as it follows the one before: how far its first instruction lies from where that ended,
/// its length, and which lanes differ. Paths repeat themselves in this form, which a page
/// compresses.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Step(i64, u32, u32);

/// Runs in this form.
pub(crate) fn steps(path: &[PathStep]) -> Vec<Step> {
    let (mut end, mut lanes) = (0_i64, 0);
    let each = path.iter().map(|&PathStep { pc, length, mask: LaneMask(mask) }| {
        let step = Step(i64::from(pc) - end, length, mask ^ lanes);
        (end, lanes) = (i64::from(pc) + i64::from(length), mask);
        step
    });
    each.collect()
}

/// The runs of that form.
pub(crate) fn path(steps: &[Step]) -> Result<Vec<PathStep>, Problem> {
    let (mut end, mut lanes) = (0_i64, 0);
    let each = steps.iter().map(|&Step(from_end, length, differing)| {
        let pc = end.checked_add(from_end).and_then(|pc| u32::try_from(pc).ok());
        let pc = pc.ok_or(Problem::Missing("instruction"))?;
        lanes ^= differing;
        end = i64::from(pc) + i64::from(length);
        Ok(PathStep { pc, length, mask: LaneMask(lanes) })
    });
    each.collect()
}

/// Where a slot lives: the main register file, then 0 for no upper level, or its entry from 1, of
/// the last result file if the third says so.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place(bool, u8, bool);

impl From<&Placement> for Place {
    fn from(&Placement { main, upper }: &Placement) -> Self {
        match upper {
            None => Self(main, 0, false),
            Some(Upper::Orf(entry)) => Self(main, entry.saturating_add(1), false),
            Some(Upper::Lrf(bank)) => Self(main, bank.saturating_add(1), true),
        }
    }
}

impl Place {
    pub(crate) fn decoded(self) -> Result<Placement, Problem> {
        let Self(main, entry, last) = self;
        let upper = match (entry.checked_sub(1), last) {
            (None, false) => None,
            (None, true) => return Err(Problem::Unknown("placement")),
            (Some(entry), false) => Some(Upper::Orf(entry)),
            (Some(bank), true) => Some(Upper::Lrf(bank)),
        };
        Ok(Placement { main, upper })
    }
}

#[derive(Serialize, Deserialize)]
struct Cache {
    entries: u8,
    replacement: u8,
    allocation: u8,
    liveness: bool,
    liveness_aware_bypass: bool,
    liveness_aware_eviction: bool,
}

#[derive(Serialize, Deserialize)]
enum Levels {
    Flat,
    Cached(Cache, bool, bool),
    CompilerManaged,
}

/// An organisation: its levels, and its active warps if it has two levels of scheduling.
#[derive(Serialize, Deserialize)]
pub(crate) struct Organised(Levels, Option<u8>);

impl From<&Organisation> for Organised {
    fn from(organisation: &Organisation) -> Self {
        let OrganisationSettings { levels, scheduling } = *organisation.settings();
        let levels = match levels {
            LevelSettings::Flat => Levels::Flat,
            LevelSettings::CompilerManaged => Levels::CompilerManaged,
            LevelSettings::Cached(CachedLevels {
                cache,
                last_result_file,
                flush_at_backward_branches,
            }) => {
                let RegisterFileCacheConfig {
                    entries,
                    replacement,
                    allocation,
                    liveness,
                    liveness_aware_bypass,
                    liveness_aware_eviction,
                } = cache;
                let cache = Cache {
                    entries,
                    replacement: place_of(replacement),
                    allocation: place_of(allocation),
                    liveness,
                    liveness_aware_bypass,
                    liveness_aware_eviction,
                };
                Levels::Cached(cache, last_result_file, flush_at_backward_branches)
            }
        };
        let active = match scheduling {
            Scheduling::SingleLevel => None,
            Scheduling::TwoLevel { active_warps } => Some(active_warps),
        };
        Self(levels, active)
    }
}

impl Organised {
    pub(crate) fn decoded(&self) -> Result<Organisation, Problem> {
        let Self(levels, active) = self;
        let levels = match levels {
            Levels::Flat => LevelSettings::Flat,
            Levels::CompilerManaged => LevelSettings::CompilerManaged,
            &Levels::Cached(ref cache, last_result_file, flush_at_backward_branches) => {
                let cache = RegisterFileCacheConfig {
                    entries: cache.entries,
                    replacement: at_place(cache.replacement, "replacement")?,
                    allocation: at_place(cache.allocation, "allocation")?,
                    liveness: cache.liveness,
                    liveness_aware_bypass: cache.liveness_aware_bypass,
                    liveness_aware_eviction: cache.liveness_aware_eviction,
                };
                LevelSettings::Cached(CachedLevels {
                    cache,
                    last_result_file,
                    flush_at_backward_branches,
                })
            }
        };
        let scheduling = match *active {
            None => Scheduling::SingleLevel,
            Some(active_warps) => Scheduling::TwoLevel { active_warps },
        };
        Ok(Organisation::new(OrganisationSettings { levels, scheduling })?)
    }
}

/// What accesses of a level cost: its banks read and written, the read of an operand, its wires to
/// the private and the shared datapath. Unit: femtojoules; micrometres.
#[derive(Serialize, Deserialize)]
struct Costs(u64, u64, Option<u64>, u32, u32);

impl From<LevelEnergy> for Costs {
    fn from(energy: LevelEnergy) -> Self {
        let LevelEnergy {
            bank: BankEnergy { read, write },
            operand_read,
            wires: WireLengths { private_um, shared_um },
        } = energy;
        Self(read.0, write.0, operand_read.map(|read| read.0), private_um, shared_um)
    }
}

impl Costs {
    fn decoded(&self) -> LevelEnergy {
        let &Self(read, write, operand_read, private_um, shared_um) = self;
        LevelEnergy {
            bank: BankEnergy { read: Femtojoules(read), write: Femtojoules(write) },
            operand_read: operand_read.map(Femtojoules),
            wires: WireLengths { private_um, shared_um },
        }
    }
}

/// An energy table: the levels by their place, wires, and how these are charged.
#[derive(Serialize, Deserialize)]
pub(crate) struct Table {
    main: Costs,
    above: Vec<(u8, Costs)>,
    wire: u64,
    wire_charge: u8,
}

impl From<&EnergyTable> for Table {
    fn from(table: &EnergyTable) -> Self {
        let &EnergyTable { mrf, wire_per_mm_per_32bit: Femtojoules(wire), wire_charge, .. } = table;
        let above = Level::ALL.into_iter().filter(|&level| level != Level::Mrf);
        let above = above.filter_map(|level| Some((place_of(level), table.level(level)?.into())));
        Self { main: mrf.into(), above: above.collect(), wire, wire_charge: place_of(wire_charge) }
    }
}

impl Table {
    pub(crate) fn decoded(&self) -> Result<EnergyTable, Problem> {
        let charge = at_place(self.wire_charge, "charge of wires")?;
        let flat = EnergyTable::flat(self.main.decoded(), Femtojoules(self.wire), charge);
        self.above.iter().try_fold(flat, |table, (level, costs)| {
            Ok(table.with(at_place(*level, "level")?, Some(costs.decoded())))
        })
    }
}
