//! What memory holds, from what its accesses move.

use std::collections::BTreeMap;

use strata_ptx::module::VariableId;
use strata_ptx::types::{Kind, ScalarType};

use super::field::Field;
use super::meaning::{Meaning, Meanings};

/// Memory that an address may point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Memory {
    /// What a field of a parameter points to.
    Behind(Field),
    /// A variable of the module.
    Module(VariableId),
    /// A variable of the kernel.
    Local(VariableId),
}

/// A value that is loaded or stored: a component of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) memory: Memory,
    /// The value, in [`Meanings`].
    pub(super) node: usize,
    /// The type that the access has.
    pub(super) ty: ScalarType,
    pub(super) loads: bool,
}

/// What lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) ty: ScalarType,
    /// Nothing computes with it: the type is that of its copies, or bits alone.
    pub(super) copied: bool,
}

/// What each memory holds. What is only copied has the type of where it comes from, or else of
/// where it goes.
pub(super) fn held(accesses: &[Access], meanings: &mut Meanings) -> BTreeMap<Memory, Held> {
    loop {
        let known = computed(accesses, meanings, |access, _| Some(access.memory));
        // A kernel may reuse shared memory for another type. A value of known type that fills an
        // access gives its type to the other accesses of that width.
        let whole = computed(accesses, meanings, |access, ty| {
            (ty.bytes() == access.ty.bytes()).then(|| width(access))
        });
        let moved = |access: &Access| {
            whole.get(&width(access)).or_else(|| known.get(&access.memory)).copied()
        };
        if !spread(accesses, meanings, moved) {
            return with_declared(accesses, known);
        }
    }
}

/// How many accesses say which type.
type Counts = BTreeMap<&'static str, (u32, ScalarType)>;

/// A memory, and how many bytes an access moves at once.
const fn width(access: &Access) -> (Memory, u32) {
    (access.memory, access.ty.bytes())
}

/// The types that computing shows, of accesses with the same key; those without one do not count.
fn computed<K: Ord>(
    accesses: &[Access],
    meanings: &Meanings,
    key: impl Fn(&Access, ScalarType) -> Option<K>,
) -> BTreeMap<K, ScalarType> {
    let mut counts: BTreeMap<K, Counts> = BTreeMap::new();
    for access in accesses {
        let meaning = meanings.meaning(access.node);
        if let Some(ty) =
            meaning.map(|meaning| typed(access.ty, meaning, meanings.part(access.node)))
            && let Some(key) = key(access, ty)
        {
            count(counts.entry(key).or_default(), ty);
        }
    }
    counts.into_iter().filter_map(|(key, counts)| Some((key, most(&counts)?))).collect()
}

fn count(counts: &mut Counts, ty: ScalarType) {
    counts.entry(ty.name()).or_insert((0, ty)).0 += 1;
}

/// The type of most accesses; of as many each, the floating-point one.
fn most(counts: &Counts) -> Option<ScalarType> {
    let rank = |(count, ty): &&(u32, ScalarType)| (*count, ty.kind() == Kind::Float);
    counts.values().max_by_key(rank).map(|(_, ty)| *ty)
}

/// Says of values without a meaning what the memory holds that they come from or go to; whether
/// there were any.
fn spread(
    accesses: &[Access],
    meanings: &mut Meanings,
    known: impl Fn(&Access) -> Option<ScalarType>,
) -> bool {
    let mut changed = false;
    for loads in [true, false] {
        for access in accesses.iter().filter(|access| access.loads == loads) {
            let ty = known(access).filter(|_| meanings.meaning(access.node).is_none());
            if let Some(meaning) = ty.and_then(meaning_of) {
                meanings.suppose(access.node, meaning);
                changed = true;
            }
        }
    }
    changed
}

const fn meaning_of(ty: ScalarType) -> Option<Meaning> {
    match ty.kind() {
        Kind::Float => Some(Meaning::Float(ty)),
        Kind::Signed => Some(Meaning::Signed),
        Kind::Unsigned => Some(Meaning::Unsigned),
        Kind::Bits | Kind::Predicate | Kind::Opaque => None,
    }
}

/// Adds the memory of whose values nothing is known but the types of their accesses.
fn with_declared(
    accesses: &[Access],
    known: BTreeMap<Memory, ScalarType>,
) -> BTreeMap<Memory, Held> {
    let mut counts: BTreeMap<Memory, Counts> = BTreeMap::new();
    for access in accesses.iter().filter(|access| !known.contains_key(&access.memory)) {
        count(counts.entry(access.memory).or_default(), access.ty);
    }
    let declared = counts.into_iter().filter_map(|(memory, counts)| {
        let ty = most(&counts)?;
        Some((memory, Held { ty, copied: ty.kind() == Kind::Bits }))
    });
    let known = known.into_iter().map(|(memory, ty)| (memory, Held { ty, copied: false }));
    known.chain(declared).collect()
}

/// The type of an element, where accesses have a type and values a meaning.
pub(super) const fn typed(ty: ScalarType, meaning: Meaning, part: Option<u32>) -> ScalarType {
    use ScalarType as T;
    let bytes = match part {
        Some(part) if part < ty.bytes() => part,
        _ => ty.bytes(),
    };
    let signed = match meaning {
        Meaning::Float(float) if float.bytes() <= ty.bytes() => return float,
        Meaning::Signed => true,
        Meaning::Unsigned | Meaning::Float(_) => false,
        // Most sums of integers are of signed ones, most bytes and halves are not.
        Meaning::Integer => match ty.kind() {
            Kind::Signed => true,
            Kind::Unsigned => false,
            _ => bytes >= 4,
        },
        Meaning::Bits => matches!(ty.kind(), Kind::Signed),
    };
    match (bytes, signed) {
        (1, true) => T::S8,
        (1, false) => T::U8,
        (2, true) => T::S16,
        (2, false) => T::U16,
        (4, true) => T::S32,
        (4, false) => T::U32,
        (_, true) => T::S64,
        (_, false) => T::U64,
    }
}
