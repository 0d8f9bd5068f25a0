//! Cycles that accesses take in the 32 banks of shared memory, beside those that a GPU counted for
//! each of many patterns of addresses: `banks.tsv`, which `capture_banks.py` brings from a GPU.

use std::ops::Range;

use strata_core::sm::memory::touched::{AddressSpace, BankMapping, Touched};

/// Lanes that are on, and their addresses.
pub(super) type Lanes = [(u32, u64)];

/// The model's cycles.
pub(super) fn cycles(bytes: u32, lanes: &Lanes) -> u64 {
    cycles_of(bytes, lanes, 0..32)
}

fn cycles_of(bytes: u32, lanes: &Lanes, part: Range<u32>) -> u64 {
    let part = lanes.iter().copied().filter(|(lane, _)| part.contains(lane));
    Touched::new(AddressSpace::Shared, bytes, part).cycles().of(BankMapping::Partitioned).into()
}

/// The cycles of a GPU that passes wide accesses in parts of the warp: halves of lanes that have 8
/// bytes each, quarters of lanes that have 16. Two parts of a load pass together if every lane has
/// the address of its neighbour, or every lane that of the next but one, wherever both are on.
pub(super) fn cycles_in_parts(is_load: bool, bytes: u32, lanes: &Lanes) -> u64 {
    let wide = bytes.div_ceil(4);
    let are_pairs = |apart: u32| {
        lanes.iter().all(|&(lane, address)| {
            let other = lanes.iter().find(|(other, _)| *other == lane ^ apart);
            other.is_none_or(|&(_, its)| its == address)
        })
    };
    let parts = if is_load && wide > 1 && (are_pairs(1) || are_pairs(2)) { wide / 2 } else { wide };
    let each = 32 / parts;
    (0..parts).map(|part| cycles_of(bytes, lanes, part * each..(part + 1) * each)).sum()
}

/// A pattern: bytes of a lane, the GPU's wavefronts of a load and of a store, and the lanes.
struct Pattern {
    bytes: u32,
    wavefronts: [u64; 2],
    lanes: Vec<(u32, u64)>,
}

fn patterns() -> Vec<Pattern> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/shape/hardware_counters/banks.tsv");
    let text = std::fs::read_to_string(file).expect("it is committed");
    let pattern = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [bytes, load, store, places] = cells[..] else { panic!("{file}: {line}") };
        let number = |cell: &str| cell.parse().unwrap_or_else(|_| panic!("{file}: {line}"));
        let places: Vec<&str> = places.split(',').collect();
        assert_eq!(places.len(), 32, "{file}: {line}");
        let on = (0..).zip(&places).filter(|(_, place)| **place != "-");
        let lanes = on.map(|(lane, place)| (lane, number(place))).collect();
        Pattern { bytes: number(bytes) as u32, wavefronts: [load, store].map(number), lanes }
    };
    text.lines().skip(1).map(pattern).collect()
}

/// Of accesses of so many bytes a lane: how many the GPU counted, and for how many of these the
/// model has the same cycles.
pub(super) fn agreement(bytes: u32) -> (usize, usize) {
    let all = patterns();
    let own = all.iter().filter(|pattern| pattern.bytes == bytes);
    let counted = own.flat_map(|of| of.wavefronts.map(|count| (count, cycles(bytes, &of.lanes))));
    let counted: Vec<(u64, u64)> = counted.collect();
    (counted.len(), counted.iter().filter(|(theirs, ours)| theirs == ours).count())
}

#[test]
fn accesses_of_words_take_the_cycles_of_a_gpu() {
    let (counted, equal) = agreement(4);
    assert!(counted > 300, "{counted} accesses");
    assert_eq!(equal, counted);
}

#[test]
fn wide_accesses_take_the_cycles_of_a_gpu_in_parts_of_the_warp() {
    for Pattern { bytes, wavefronts, lanes } in patterns() {
        for (is_load, theirs) in [(true, wavefronts[0]), (false, wavefronts[1])] {
            let ours = cycles_in_parts(is_load, bytes, &lanes);
            assert_eq!(ours, theirs, "load: {is_load}, {bytes} bytes: {lanes:?}");
        }
    }
}
