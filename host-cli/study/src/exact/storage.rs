//! `[MICRO2012]` and `[DISS]` chapter 7: partitions of unified storage, through the function that
//! divides it, and means of a printed table.

use strata_core::sm::memory::touched::LINE_BYTES;
use strata_core::sm::partition::{Areas, Division, Needs, Partition, WAYS, tag_bits, tag_bytes};
use strata_core::units::LANES;

use super::context::Context;
use super::fixed::{fixed, scaled};
use super::numbers::{Numbers, Row};
use super::papers::{Table1Row, Table6Row};

const KB: u128 = 1024;
/// The workload of which a CTA's shared memory follows from a blocking factor.
const NEEDLE: &str = "needle";

/// A CTA of `needle`: a thread for each row of two tiles of words, one of which has a border.
fn needle(blocking_factor: u32, registers: u16) -> Needs {
    let tile = |rows: u32| 4 * rows.pow(2);
    let shared_bytes = tile(blocking_factor) + tile(blocking_factor + 1);
    Needs { threads_per_cta: blocking_factor, registers, shared_bytes }
}

/// A workload's needs. Table 1 has shared memory for each thread and no size of a CTA: a warp is
/// one, but of `needle`, whose printed bytes are rounded.
fn needs(of: Context<'_>, row: &Table1Row) -> Needs {
    let (name, registers, _, _, shared_of_thread, _) = row;
    if name == NEEDLE {
        let [_, usual, _] = of.facts.tables.dissertation.chapter7.needle_blocking;
        return needle(usual, *registers);
    }
    let shared_bytes = u128::from(LANES) * scaled(*shared_of_thread, 3) / 1000;
    let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
    Needs { threads_per_cta: LANES, registers: *registers, shared_bytes }
}

fn table1(of: Context<'_>) -> impl Iterator<Item = &Table1Row> {
    of.facts.tables.micro12.table1_workloads.rows.iter()
}

fn workload<'a>(of: Context<'a>, name: &str) -> Option<&'a Table1Row> {
    table1(of).find(|row| row.0 == name)
}

fn partition(of: Context<'_>, division: &Division, needs: &Needs) -> Option<Partition> {
    division.partition(needs, &of.product.storage.limits).ok()
}

fn kilobytes(bytes: u64, decimals: u32) -> String {
    fixed(bytes.into(), KB, decimals)
}

/// KB of registers, shared memory and cache, with something between them.
fn areas(areas: Areas, between: [&str; 2]) -> String {
    let [registers, shared, cache] =
        [areas.registers, areas.shared, areas.cache].map(|bytes| kilobytes(bytes.into(), 0));
    format!("{registers}{}{shared}{}{cache}", between[0], between[1])
}

fn sizes(division: &Division, between: [&str; 2]) -> String {
    match *division {
        Division::Partitioned(sizes) => areas(sizes, between),
        Division::Unified { bytes, .. } => kilobytes(bytes.into(), 0),
    }
}

/// The divisions beside the tables that print them.
fn divisions(of: Context<'_>) -> Vec<Row> {
    let storage = &of.product.storage;
    let sim = &of.facts.tables.micro12.table2_sim;
    let chapter7 = &of.facts.tables.dissertation.chapter7;
    let printed = [sim.rf_kb, sim.shared_kb, sim.cache_kb, sim.rf_bank_kb];
    let bank = |division: &Division| kilobytes(division.register_bank_bytes().into(), 0);
    let baseline = sizes(&storage.baseline, [" "; 2]) + " " + &bank(&storage.baseline);
    let words =
        |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let [_, _, unified, _] = &storage.unified;
    vec![
        Row::beside(
            "KB of registers, shared memory, cache, a register bank",
            baseline,
            words(&printed),
        ),
        Row::beside(
            "bytes of a cache line, ways",
            words(&[LINE_BYTES, WAYS]),
            words(&[sim.cache_line_bytes, sim.cache_ways]),
        ),
        Row::beside(
            "most threads",
            storage.limits.threads.to_string(),
            sim.max_threads.to_string(),
        ),
        Row::beside(
            "dissertation, KB of fixed sizes",
            storage.fixed.map(|sizes| areas(sizes, ["/"; 2])).join(", "),
            chapter7.designs_kb.join(", "),
        ),
        Row::beside(
            "dissertation, KB of limited flexibility",
            storage.limited.each_ref().map(|split| sizes(split, [" + ", "/"])).join(", "),
            chapter7.limited.join(", "),
        ),
        Row::beside(
            "KB of unified storage",
            storage.unified.each_ref().map(|unified| sizes(unified, [""; 2])).join(" "),
            words(&chapter7.unified_kb),
        ),
        Row::listed("KB of a unified bank", bank(unified)),
    ]
}

/// Table 1's register files at full occupancy, and what the text says of Figure 8.
pub(super) fn partitions(of: Context<'_>) -> Option<Vec<Row>> {
    let storage = &of.product.storage;
    let [_, _, unified, _] = &storage.unified;
    let threads = of.facts.tables.micro12.table2_sim.max_threads;
    let mut rows = divisions(of);
    for row in table1(of) {
        let partition = partition(of, unified, &needs(of, row))?;
        let registers = kilobytes(partition.registers().bytes, 0);
        rows.push(Row::beside(
            format!("{}, KB of registers and threads", row.0),
            format!("{registers} {}", partition.threads()),
            format!("{} {threads}", row.3),
        ));
    }
    let of_workload = |name| partition(of, unified, &needs(of, workload(of, name)?));
    let usual = of_workload(NEEDLE)?;
    let table1_needle = workload(of, NEEDLE)?;
    let factors = of.facts.tables.dissertation.chapter7.needle_blocking;
    let registers = table1_needle.1;
    let by_factor = factors.map(|factor| {
        fixed(needle(factor, registers).shared_bytes.into(), factor.max(1).into(), 3)
    });
    let largest = partition(of, &storage.unbounded, &needle(factors[2], registers))?;
    rows.extend([
        Row::beside(
            // Bytes of a thread are KB of 1024.
            "needle, KB of shared memory, Table 1",
            kilobytes(usual.shared().bytes, 1),
            fixed(scaled(table1_needle.4, 1), 10, 1),
        ),
        Row::listed("needle, KB of shared memory", kilobytes(usual.shared().bytes, 0)),
        Row::listed("bfs, KB of registers", kilobytes(of_workload("bfs")?.registers().bytes, 0)),
        Row::listed(
            "dgemm, KB of registers",
            kilobytes(of_workload("dgemm")?.registers().bytes, 0),
        ),
        Row::listed(
            format!("needle, KB of shared memory for {threads} threads, B = {}", factors[2]),
            kilobytes(largest.shared().bytes, 0),
        ),
        Row::listed(
            format!(
                "needle, B = {}: bytes of a thread, by hand",
                factors.map(|factor| factor.to_string()).join(", ")
            ),
            by_factor.join(" "),
        ),
    ]);
    Some(rows)
}

/// Threads of the workloads that have fewer than the most.
pub(super) fn threads(of: Context<'_>) -> Option<Vec<Row>> {
    let storage = &of.product.storage;
    let [small, middle, _, _] = &storage.unified;
    let mut rows = Vec::new();
    for division in [middle, small] {
        for row in table1(of) {
            let partition = partition(of, division, &needs(of, row))?;
            if partition.threads() < storage.limits.threads {
                let label = format!("{} in {} KB, by hand", row.0, sizes(division, [""; 2]));
                rows.push(Row::listed(label, partition.threads().to_string()));
            }
        }
    }
    Some(rows)
}

/// Numbers with two decimals, as integers.
fn hundredths(rows: &[Table6Row], value: impl Fn(&Table6Row) -> f64) -> Vec<u128> {
    rows.iter().map(|row| scaled(value(row), 2)).collect()
}

/// The arithmetic mean of hundredths.
fn arithmetic(values: &[u128]) -> String {
    fixed(values.iter().sum(), 100 * (values.len() as u128).max(1), 2)
}

/// The harmonic mean of hundredths; `None` if one is 0, or their product does not fit.
fn harmonic(values: &[u128]) -> Option<String> {
    let product = values.iter().try_fold(1_u128, |product, &value| product.checked_mul(value))?;
    let inverses = values.iter().map(|&value| product.checked_div(value)).sum::<Option<u128>>()?;
    let number = (values.len() as u128).checked_mul(product)?;
    (inverses != 0).then(|| fixed(number, 100 * inverses, 2))
}

/// Table 6's averages from its rows, and what Table 5's first column says of conflicts.
pub(super) fn averages(of: Context<'_>) -> Option<Vec<Row>> {
    let micro12 = &of.facts.tables.micro12;
    let table6 = &micro12.table6_capacity.rows;
    let place = table6.iter().position(|row| row.0 == "average")?;
    let (rows, average) = (&table6[..place], &table6[place]);
    let printed = |value: f64| fixed(scaled(value, 2), 100, 2);
    let mut figures = Vec::new();
    let capacities = of.product.storage.unified.iter().take(average.1.len());
    for (index, unified) in capacities.enumerate() {
        let kilobytes = sizes(unified, [""; 2]);
        figures.push(Row::beside(
            format!("performance, arithmetic mean, {kilobytes} KB"),
            arithmetic(&hundredths(rows, |row| row.1[index])),
            printed(average.1[index]),
        ));
        figures.push(Row::beside(
            format!("energy, harmonic mean, {kilobytes} KB"),
            harmonic(&hundredths(rows, |row| row.2[index]))?,
            printed(average.2[index]),
        ));
    }
    let table5 = &micro12.table5_max_accesses_per_bank_percent;
    let [partitioned, unified] = [table5.partitioned[0], table5.unified[0]];
    let more = scaled(partitioned, 1).checked_sub(scaled(unified, 1))?;
    figures.push(Row::listed("instructions with conflicts, points more", fixed(more, 10, 1)));
    Some(figures)
}

/// Bits of a line's tag by the printed sizes, and by an address; `given` has sizes of caches in KB,
/// each with its tags in thousandths of a KB.
pub(super) fn cache_tags(of: Context<'_>, given: &[u64]) -> Option<Numbers> {
    let &[a, a_tags, b, b_tags, c, c_tags] = given else { return None };
    let bytes = |kilobytes: u64| u32::try_from(kilobytes.checked_mul(1024)?).ok();
    let of_line = |kilobytes: u64, tags: u64| {
        let lines = u128::from(bytes(kilobytes)? / LINE_BYTES);
        (lines != 0).then(|| fixed(u128::from(tags) * KB * 8, 1000 * lines, 0))
    };
    let own = |kilobytes: u64| Some(tag_bits(bytes(kilobytes)?).to_string());
    let own_tags = |kilobytes: u64| {
        let bytes = bytes(kilobytes)?;
        Some(fixed(tag_bytes(bytes, tag_bits(bytes)).into(), KB, 3))
    };
    let cache = |row| {
        Some(partition(of, &of.product.storage.powers_of_two, &needs(of, row))?.cache().bytes)
    };
    let smallest = table1(of).map(cache).collect::<Option<Vec<_>>>()?.into_iter().min()?;
    let of_smallest = tag_bits(u32::try_from(smallest).ok()?).to_string();
    Some(vec![
        ("bits of a line in 64 KB by the printed tags", of_line(a, a_tags)?),
        ("bits of a line in 384 KB by the printed tags", of_line(b, b_tags)?),
        ("bits of a line in 256 KB by the printed tags", of_line(c, c_tags)?),
        ("bits by 32-bit addresses and 4 ways, 64 KB", own(a)?),
        ("bits by 32-bit addresses and 4 ways, 384 KB", own(b)?),
        ("bits by 32-bit addresses and 4 ways, 256 KB", own(c)?),
        ("KB of tags of so many bits, 64 KB", own_tags(a)?),
        ("KB of tags of so many bits, 384 KB", own_tags(b)?),
        ("KB of tags of so many bits, 256 KB", own_tags(c)?),
        ("smallest cache of partitions of 384 KB by powers of two, KB", kilobytes(smallest, 0)),
        ("bits that it needs", of_smallest),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_by_hand() {
        assert_eq!(arithmetic(&[100, 201]), "1.51");
        assert_eq!(harmonic(&[50, 100]).as_deref(), Some("0.67"));
        // The three equal, and a mean below the arithmetic one.
        assert_eq!(harmonic(&[87; 8]).as_deref(), Some("0.87"));
        assert_eq!(
            (arithmetic(&[50, 150]).as_str(), harmonic(&[50, 150]).as_deref()),
            ("1.00", Some("0.75"))
        );
        assert_eq!(harmonic(&[0, 100]), None);
        assert_eq!(harmonic(&[]), None);
        assert_eq!(harmonic(&[u128::MAX, 2]), None);
    }

    #[test]
    fn a_cta_of_needle_by_hand() {
        let shared = [16, 32, 64].map(|factor| needle(factor, 18).shared_bytes);
        assert_eq!(shared, [2180, 8452, 33_284]);
    }
}
