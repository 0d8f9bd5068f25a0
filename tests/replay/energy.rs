//! Energy of counted accesses from the printed tables (rule 6).

use crate::machine::Counts;

/// One level: femtojoules that its banks take for a warp's access, and its distance from the
/// units of the private and of the shared datapath in micrometres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) read: u64,
    pub(crate) write: u64,
    pub(crate) private: u64,
    pub(crate) shared: u64,
}

impl Level {
    /// Of tenths of a picojoule for each of the eight clusters.
    pub(crate) const fn new([read, write]: [u64; 2], [private, shared]: [u64; 2]) -> Self {
        const CLUSTERS: u64 = 8;
        Self { read: read * 100 * CLUSTERS, write: write * 100 * CLUSTERS, private, shared }
    }
}

/// The levels of a design.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) main: Level,
    pub(crate) upper: Level,
    pub(crate) last_result: Level,
}

/// 1.9 pJ for each millimetre and 32 bits, of 32 lanes: femtojoules for a micrometre, times ten.
const WIRE_TENTHS: u64 = 608;

/// Parts by the names of the reports; the level above the main register file under `upper`.
pub(crate) fn parts(counts: &Counts, table: &Table, upper: &str) -> Vec<(String, u64)> {
    let count = |event: &str| counts.get(event).copied().unwrap_or(0);
    let Table { main, upper: above, last_result } = *table;
    let wire = |micrometres: u64, times: u64| micrometres * times * WIRE_TENTHS / 10;
    let level = |name: &str, level: Level, reads: [u64; 2], writes: [u64; 2]| {
        let bank = (reads[0] + reads[1]) * level.read + (writes[0] + writes[1]) * level.write;
        let length =
            wire(level.private, reads[0] + writes[0]) + wire(level.shared, reads[1] + writes[1]);
        [(format!("{name}_bank"), bank), (format!("{name}_wire"), length)]
    };
    let pair = |stem: &str| [count(&format!("{stem}_private")), count(&format!("{stem}_shared"))];
    let [private, shared] = pair(&format!("{upper}_writes"));
    let fills = pair(&format!("{upper}_fills"));
    let to_main = count("rfc_writebacks_eviction") + count("rfc_writebacks_flush");
    let past = count("lrf_writebacks_eviction") + count("lrf_writebacks_flush");
    let moved = count("lrf_evictions");
    let mut parts = Vec::new();
    parts.extend(level("mrf", main, pair("mrf_reads"), pair("mrf_writes")));
    let writes = [private + fills[0], shared + fills[1]];
    parts.extend(level(upper, above, pair(&format!("{upper}_reads")), writes));
    let writes = [count("lrf_writes") + count("lrf_fills"), 0];
    parts.extend(level("lrf", last_result, [count("lrf_reads"), 0], writes));
    let bank = to_main * (above.read + main.write)
        + past * (last_result.read + main.write)
        + moved * (last_result.read + above.write);
    parts.push(("writeback_bank".to_owned(), bank));
    let length = wire(main.private, to_main + past) + wire(above.private, moved);
    parts.push(("writeback_wire".to_owned(), length));
    let total = parts.iter().map(|(_, energy)| energy).sum();
    parts.push(("total".to_owned(), total));
    parts
}
