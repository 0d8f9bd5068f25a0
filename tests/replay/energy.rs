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

/// Micrometres that values travel in all, by the part of the report that has them.
#[derive(Default)]
struct Ways(Vec<(String, u64)>);

impl Ways {
    fn add(&mut self, part: &str, times: u64, micrometres: u64) {
        self.0.push((part.to_owned(), times * micrometres));
    }

    fn energy(&self, part: &str) -> u64 {
        let ways = self.0.iter().filter(|(of, _)| of == part);
        ways.map(|(_, way)| way).sum::<u64>() * WIRE_TENTHS / 10
    }
}

/// Parts by the names of the reports; the level above the main register file under `upper`.
pub(crate) fn parts(counts: &Counts, table: &Table, upper: &str) -> Vec<(String, u64)> {
    let count = |event: &str| counts.get(event).copied().unwrap_or(0);
    let Table { main, upper: above, last_result: last } = *table;
    let mut ways = Ways::default();
    let wire = format!("{upper}_wire");
    let mut bank = 0;
    for (datapath, near, far) in
        [("private", above.private, main.private), ("shared", above.shared, main.shared)]
    {
        let of = |stem: &str| count(&format!("{stem}_{datapath}"));
        ways.add("mrf_wire", of("mrf_reads") + of("mrf_writes"), far);
        let (reads, writes) = (of(&format!("{upper}_reads")), of(&format!("{upper}_writes")));
        let (fills, both) = (of(&format!("{upper}_fills")), of("dual_writes_orf"));
        bank += reads * above.read + (writes + fills) * above.write;
        // What is also in the main register file, or comes from it, goes on from there.
        ways.add(&wire, reads + (writes - both), near);
        ways.add(&wire, fills + both, near.saturating_sub(far));
    }
    let (reads, writes) = (count("lrf_reads"), count("lrf_writes"));
    let (fills, both) = (count("lrf_fills"), count("dual_writes_lrf"));
    ways.add("lrf_wire", reads + (writes - both), last.private);
    ways.add("lrf_wire", fills + both, last.private.saturating_sub(main.private));
    let lrf_bank = reads * last.read + (writes + fills) * last.write;
    let mut writeback_bank = 0;
    for (moves, from, to) in [
        (["rfc_writebacks_eviction", "rfc_writebacks_flush"].as_slice(), above, main),
        (["lrf_writebacks_eviction", "lrf_writebacks_flush"].as_slice(), last, main),
        (["lrf_evictions"].as_slice(), last, above),
    ] {
        let times: u64 = moves.iter().map(|event| count(event)).sum();
        writeback_bank += times * (from.read + to.write);
        let [low, high] = [from.private.min(to.private), from.private.max(to.private)];
        ways.add("writeback_wire", times, high - low);
    }
    let main_bank = (count("mrf_reads_private") + count("mrf_reads_shared")) * main.read
        + (count("mrf_writes_private") + count("mrf_writes_shared")) * main.write;
    let mut parts = vec![
        ("mrf_bank".to_owned(), main_bank),
        ("mrf_wire".to_owned(), ways.energy("mrf_wire")),
        (format!("{upper}_bank"), bank),
        (wire.clone(), ways.energy(&wire)),
        ("lrf_bank".to_owned(), lrf_bank),
        ("lrf_wire".to_owned(), ways.energy("lrf_wire")),
        ("writeback_bank".to_owned(), writeback_bank),
        ("writeback_wire".to_owned(), ways.energy("writeback_wire")),
    ];
    let total = parts.iter().map(|(_, energy)| energy).sum();
    parts.push(("total".to_owned(), total));
    parts
}
