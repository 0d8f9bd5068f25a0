//! Figures come out, and each depends on the papers' numbers and on the product's.

use std::collections::BTreeSet;

use strata_core::energy::EnergyTable;
use strata_core::level::Level;
use strata_core::organisation::{Organisation, OrganisationSettings, Scheduling};
use strata_core::sm::expansion::Threshold;
use strata_core::sm::operand_delivery::OperandDelivery;
use strata_core::sm::partition::{Areas, Division};
use strata_core::units::Femtojoules;
use toml::Value;

use super::numbers::Row;
use super::papers::tests::{at, leaves, read, root};
use super::product::Product;
use super::*;
use strata_config::quantity::Energy;
use strata_design::storage_technology::StorageTechnology;
use strata_design::{Design, Machine, resolve};

#[test]
fn every_figure_that_is_built_passes() {
    let results = evaluate();
    for result in &results {
        let wrong: Vec<_> = result.items.iter().filter(|item| !item.agrees()).collect();
        assert_ne!(result.status, Status::Fail, "{}: {wrong:?}", result.id);
        assert_eq!(result.status == Status::Pass, !result.computed().is_empty());
    }
    let built = results.iter().filter(|result| result.status == Status::Pass);
    let built: Vec<_> = built.map(|result| result.id.as_str()).collect();
    let expected = [
        "expars-tlp",
        "expars-utilization-percent",
        "expars-mixed-rf-share-percent",
        "expars-storage",
        "rfc-storage",
        "table-consistency",
        "ideal-savings-percent",
        "chip-power",
        "bandwidth",
        "unified-partition-384kb",
        "unified-threads",
        "table6-averages",
        "storage-energy",
        "warrf-cost",
        "per-thread-storage",
        "machines",
    ];
    assert_eq!(built, expected);
}

/// Figure and label of each number that does not agree.
fn wrong(of: Context<'_>) -> BTreeSet<(String, String)> {
    let wrong = |result: ExactResult| {
        let items = result.items.into_iter().filter(|item| !item.agrees());
        items.map(move |item| (result.id.clone(), item.label))
    };
    evaluated(of).into_iter().flat_map(wrong).collect()
}

fn every_number() -> BTreeSet<(String, String)> {
    let numbers = |result: ExactResult| {
        result.items.into_iter().map(move |item| (result.id.clone(), item.label))
    };
    evaluate().into_iter().flat_map(numbers).collect()
}

/// Another value of the same type.
fn changed(value: &Value) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(2 * number + 1),
        Value::Float(number) => Value::Float(number * 1.5 + 1.0),
        Value::String(text) => Value::String(format!("{text} ")),
        other => panic!("{other} is no number"),
    }
}

/// Figures, and contradictions with what they come to.
type Outcome = (BTreeSet<(String, String)>, Vec<Option<Vec<(String, String)>>>);

fn outcome(of: Context<'_>) -> Outcome {
    let contradicted = contradicted(of).into_iter().map(|figure| figure.computed);
    (wrong(of), contradicted.collect())
}

/// Tables of which no figure is made, and texts. A claim's numbers are compared elsewhere.
const NOT_USED: [&str; 11] = [
    "claim.",
    "inconsistent.",
    "tables.dissertation.table2_1_chips.",
    "tables.dissertation.table2_2_bytes_per_thread.",
    "tables.dissertation.table4_4_sim.dram_min_transaction_bytes",
    "tables.dissertation.table4_5_bank_energy.lrf.entries",
    "tables.dissertation.table4_5_bank_energy.mrf.entries",
    "tables.dissertation.table6_1_mrf_reads_per_instruction.lower_bound",
    "tables.dissertation.table6_1_mrf_reads_per_instruction.orf_entries",
    "tables.dissertation.table7_2_best_config_384kb.",
    "tables.expars.figures_13_and_14_means.",
];

/// Single values of tables that are used otherwise. Of Table 5 the row that its neighbours
/// contradict is not computed with, and without wires no distance matters. The last row of Table 6
/// has averages of workloads that are not printed; what they need with less storage is computed.
const NOT_USED_BUT: [&str; 25] = [
    "exact.",
    "tables.expars.figure2_oracle.more_ctas",
    "tables.expars.table2_sim.fermi.clock_ghz",
    "tables.expars.table2_sim.fermi.l1_kb",
    "tables.expars.table2_sim.fermi.schedulers",
    "tables.expars.table2_sim.fermi.sms",
    "tables.expars.table2_sim.gddr.",
    "tables.expars.table2_sim.l1_kb",
    "tables.expars.table2_sim.l2_kb",
    "tables.isca11.table5_access_plus_wire.rows.0.1",
    "tables.isca11.table5_access_plus_wire.rows.2.",
    "tables.micro12.table2_sim.alu_latency",
    "tables.micro12.table2_sim.dram_latency",
    "tables.micro12.table2_sim.sfu_latency",
    "tables.micro12.table2_sim.shared_bytes_per_cycle",
    "tables.micro12.table2_sim.shared_latency",
    "tables.micro12.table2_sim.tex_latency",
    "tables.micro12.table5_max_accesses_per_bank_percent.partitioned.1",
    "tables.micro12.table5_max_accesses_per_bank_percent.partitioned.2",
    "tables.micro12.table5_max_accesses_per_bank_percent.partitioned.3",
    "tables.micro12.table5_max_accesses_per_bank_percent.partitioned.4",
    "tables.micro12.table5_max_accesses_per_bank_percent.unified.",
    "tables.micro12.table6_capacity.rows.9.1.2",
    "tables.micro12.table6_capacity.rows.9.2.2",
    "tables.warrf.table1_sim.",
];

/// Of Table 1's columns registers and their KB matter in every row. Shared memory does where it
/// keeps threads out; the other columns were measured. Names of workloads are labels, also in Table
/// 6.
fn matters_in_no_figure(place: &[String]) -> bool {
    /// Rows with fewer than 1024 threads in 128 KB that have shared memory.
    const SHARED_COUNTS: [&str; 7] = ["0", "1", "2", "10", "11", "13", "21"];
    let place: Vec<_> = place.iter().map(String::as_str).collect();
    match place[..] {
        ["tables", "micro12", "table1_workloads", "rows", row, column, ..] => match column {
            "1" | "3" => false,
            "4" => !SHARED_COUNTS.contains(&row),
            _ => true,
        },
        ["tables", "expars", "table3_benchmarks", "rows", _, "0" | "1"] => true,
        // A byte instead of none.
        ["tables", "expars", "table3_benchmarks", "rows", row, "4"] => {
            !["3", "5", "7", "10"].contains(&row)
        }
        ["tables", "micro12", "table6_capacity", "rows", row, "0"] => !["8", "9"].contains(&row),
        _ => false,
    }
}

#[test]
fn every_printed_number_matters() {
    let root = root();
    let usual = outcome(Context { facts: papers(), product: product() });
    assert_eq!(usual.0, BTreeSet::new());
    let mut failed = BTreeSet::new();
    for place in leaves(&root) {
        let name = place.join(".");
        let mut other = root.clone();
        let value = at(&mut other, &place);
        *value = changed(value);
        let facts = read(&other).unwrap_or_else(|error| panic!("{name}: {error}"));
        let now = outcome(Context { facts: &facts, product: product() });
        let unused = NOT_USED.iter().chain(&NOT_USED_BUT).any(|prefix| name.starts_with(prefix));
        let unused = unused || matters_in_no_figure(&place);
        assert!(unused || now != usual, "{name} changes nothing");
        failed.extend(now.0);
    }
    // Those that are new where a label changed are no numbers of the figures.
    let missed: Vec<_> = every_number().difference(&failed).cloned().collect();
    assert_eq!(missed, [], "no change of a printed number is noticed there");
}

#[test]
fn every_listed_number_is_compared() {
    let root = root();
    for (index, figure) in papers().exact.iter().enumerate() {
        for (place, (label, _)) in figure.printed.iter().enumerate() {
            for of in ["0", "1"] {
                let mut other = root.clone();
                let (index, place) = (index.to_string(), place.to_string());
                let path = ["exact", &index, "printed", &place, of].map(str::to_owned);
                let value = at(&mut other, &path);
                *value = changed(value);
                let facts = read(&other).expect("text");
                let results = evaluated(Context { facts: &facts, product: product() });
                let result = results.iter().find(|result| result.id == figure.id).expect("it");
                if result.status != Status::NotBuiltYet {
                    assert_eq!(result.status, Status::Fail, "{}: {label}", figure.id);
                }
            }
        }
    }
}

/// A machine with something else.
fn machine(design: &mut Design, change: impl FnOnce(&mut Machine)) {
    let mut machine = design.machine.clone();
    change(&mut machine);
    design.machine = Box::leak(Box::new(machine));
}

fn energy(design: &mut Design) -> &mut EnergyTable {
    design.energy.as_mut().expect("it is known")
}

fn collectors(design: &mut Design) -> &mut strata_core::sm::operand_delivery::CollectorSettings {
    match &mut design.sm.operand_delivery {
        OperandDelivery::Collectors(settings) => settings,
        OperandDelivery::FixedLatency { .. } => panic!("{} has collectors", design.name),
    }
}

fn active_warps(design: &mut Design, active_warps: u8) {
    let scheduling = Scheduling::TwoLevel { active_warps };
    let settings = OrganisationSettings { scheduling, ..*design.organisation().settings() };
    design.sm.organisation = Organisation::new(settings).expect("it is possible");
}

/// A product with one thing changed.
type Change = fn(&mut Product);

/// Of what runs: caches, machines, times.
const CHANGES_OF_DESIGNS: &[Change] = &[
    |product| product.cache = resolve("isca11-rfc5").expect("a design"),
    |product| product.cache = resolve("isca11-rfc6-single").expect("a design"),
    |product| product.cache_of_all = resolve("isca11-rfc5-single").expect("a design"),
    |product| machine(&mut product.cache, |machine| chip(machine).power.0 += 10_000_000_000),
    |product| machine(&mut product.cache, |machine| chip(machine).leakage = [1, 2]),
    |product| machine(&mut product.cache, |machine| chip(machine).sms_share = [1, 2]),
    |product| machine(&mut product.cache, |machine| chip(machine).register_file = [1, 2]),
    |product| machine(&mut product.cache, |machine| chip(machine).encoding_bit = [1, 2]),
    |product| machine(&mut product.cache, |machine| machine.sm.count = 15),
    |product| machine(&mut product.isca11, |machine| machine.sm.lanes = 64),
    |product| machine(&mut product.isca11, |machine| machine.sm.lanes_per_cluster = 8),
    |product| machine(&mut product.isca11, |machine| machine.sm.read_operands = 2),
    |product| machine(&mut product.isca11, |machine| machine.sm.written_results = 2),
    |product| machine(&mut product.isca11, |machine| machine.sm.bank_access_bits = 64),
    |product| machine(&mut product.isca11, |machine| machine.sm.register_bank_kb = 8),
    |product| product.isca11.sm.max_warps = 48,
    |product| product.isca11.sm.timing.texture_latency = 300,
    |product| product.isca11.sm.timing.texture_lanes = 8,
    |product| product.dissertation.sm.timing.dram_bytes_per_cycle = 32,
    |product| product.dissertation.sm.timing.alu_latency = 4,
    |product| active_warps(&mut product.managed, 6),
    |product| product.sram.sm.register_file_bytes *= 2,
    |product| product.sram.sm.shared_memory_bytes *= 2,
    |product| product.warrf_as_printed = resolve("sttram-as-printed").expect("a design"),
    |product| product.warrf_as_printed.memory = product.sram_as_printed.memory.clone(),
    |product| machine(&mut product.warrf_as_printed, |machine| machine.sm.count = 16),
    |product| machine(&mut product.warrf_as_printed, |machine| machine.clock.0 *= 2),
    |product| machine(&mut product.warrf_as_printed, |machine| machine.sm.register_file_kb *= 2),
    |product| product.sram_as_printed = resolve("sttram-as-printed").expect("a design"),
    |product| collectors(&mut product.warrf_as_printed).read_cycles = 2,
    |product| collectors(&mut product.warrf_as_printed).write_cycles = 4,
    |product| collectors(&mut product.warrf_as_printed).banks = 8,
    |product| collectors(&mut product.warrf_as_printed).write_pool_entries = 30,
    |product| collectors(&mut product.sram_as_printed).write_cycles = 2,
    |product| product.sram_as_printed.leakage.as_mut().expect("it is known").bank_nw *= 2,
];

/// Of how storage is divided.
const CHANGES_OF_STORAGE: &[Change] = &[
    |product| product.storage.baseline = Division::Partitioned(Areas::DISSERTATION[1]),
    |product| product.storage.fixed.swap(0, 4),
    |product| product.storage.limited.reverse(),
    |product| product.storage.unified[0] = Division::micro12_unified(112),
    |product| product.storage.unified[1] = Division::micro12_unified(240),
    |product| product.storage.unified[2] = Division::micro12_unified(320),
    |product| product.storage.unified[3] = Division::micro12_unified(640),
    |product| product.storage.unified[2] = Division::BASELINE,
    |product| product.storage.unbounded = Division::micro12_unified(384),
    |product| product.storage.limits.threads = 512,
    |product| product.storage.limits.warps = 12,
    |product| product.storage.limits.ctas = Some(8),
];

/// Of machines whose registers may lie in scratchpad memory.
const CHANGES_OF_EXPANSION: &[Change] = &[
    |product| product.expansion.fermi.limits.threads = 1024,
    |product| product.expansion.fermi.limits.warps = 96,
    |product| product.expansion.fermi.limits.ctas = Some(16),
    |product| product.expansion.fermi.registers /= 2,
    |product| product.expansion.fermi.registers = 16_000,
    |product| product.expansion.fermi.scratchpad_bytes *= 4,
    |product| product.expansion.fermi.most_registers = 255,
    |product| product.expansion.maxwell.limits.threads = 1024,
    |product| product.expansion.threshold = Threshold::new(9, 10).expect("it is below 1"),
];

/// Of what accesses cost.
const CHANGES_OF_TABLES: &[Change] = &[
    |product| product.isca11_tables.rfc.iter_mut().for_each(|row| dearer(&mut row.read)),
    |product| product.dissertation_tables.rfc.iter_mut().for_each(|row| dearer(&mut row.read)),
    |product| product.isca11_tables.wire.0 = Femtojoules(2000),
    |product| product.dissertation_tables.wire.0 = Femtojoules(2000),
    |product| energy(&mut product.isca11).wire_per_mm_per_32bit = Femtojoules(2000),
    |product| energy(&mut product.isca11).mrf.bank.read = Femtojoules(7000),
    |product| energy(&mut product.isca11).mrf.wires.private_um = 900,
    |product| energy(&mut product.managed).mrf.bank.read = Femtojoules(4000),
    |product| energy(&mut product.managed).mrf.wires.shared_um = 900,
    |product| dearer_reads(energy(&mut product.managed), Level::Lrf),
    |product| dearer_reads(energy(&mut product.managed), Level::Orf),
    |product| pool(&mut product.warrf_as_printed),
    |product| product.storage_technologies.micro12.core_dynamic.value.0 *= 2,
    |product| product.storage_technologies.micro12.core_leakage.value.0 *= 2,
    |product| product.storage_technologies.micro12.sram_leakage.value.0 *= 2,
    |product| product.storage_technologies.micro12.dram_energy.value.0 *= 2,
    |product| product.storage_technologies.micro12.crossbar.value.0 *= 2,
    |product| product.storage_technologies.micro12_as_printed.sram_leakage.value.0 *= 2,
    |product| dearer_banks(&mut product.storage_technologies.micro12),
    |product| dearer_banks(&mut product.storage_technologies.dissertation),
];

fn chip(machine: &mut Machine) -> &mut strata_design::machine::Chip {
    machine.chip.as_mut().expect("it has one")
}

fn dearer_reads(table: &mut EnergyTable, level: Level) {
    let mut energy = table.level(level).expect("a level");
    energy.bank.read.0 += 1000;
    *table = table.with(level, Some(energy));
}

fn dearer(energy: &mut Energy) {
    energy.0.0 += 100;
}

fn dearer_banks(technology: &mut StorageTechnology) {
    technology.banks.iter_mut().for_each(|bank| dearer(&mut bank.write.value));
}

fn pool(design: &mut Design) {
    let memory = design.memory.as_mut().expect("a technology");
    let mut technology = (*memory.technology).clone();
    technology.write_pool.as_mut().expect("a pool").access_energy.value.0 *= 2;
    memory.technology = technology.into();
}

/// Numbers that no design or table of the product goes into, but its functions and constants, or the
/// papers' own tables alone.
const OF_FUNCTIONS: [(&str, &str); 14] = [
    ("expars-storage", "operand cache, bytes, sets, ways, bits of a line"),
    ("rfc-storage", "4 entries x 4/6/8 warps"),
    ("rfc-storage", "6 entries x 4/6/8 warps"),
    ("rfc-storage", "8 entries x 4/6/8 warps"),
    ("table6-averages", "energy, harmonic mean, 128 KB"),
    ("table6-averages", "energy, harmonic mean, 256 KB"),
    ("table6-averages", "energy, harmonic mean, 384 KB"),
    ("table6-averages", "instructions with conflicts, points more"),
    ("table6-averages", "performance, arithmetic mean, 128 KB"),
    ("table6-averages", "performance, arithmetic mean, 256 KB"),
    ("table6-averages", "performance, arithmetic mean, 384 KB"),
    ("unified-partition-384kb", "bytes of a cache line, ways"),
    ("unified-partition-384kb", "needle, B = 16, 32, 64: bytes of a thread, by hand"),
    ("warrf-cost", "EDP of WarRF to SRAM"),
];

#[test]
fn every_computed_number_is_the_product_s() {
    let mut failed = BTreeSet::new();
    let changes = [CHANGES_OF_DESIGNS, CHANGES_OF_STORAGE, CHANGES_OF_EXPANSION, CHANGES_OF_TABLES];
    for (index, change) in changes.into_iter().flatten().enumerate() {
        let mut other = product().clone();
        change(&mut other);
        let now = wrong(Context { facts: papers(), product: &other });
        assert!(!now.is_empty(), "change {index} of the product is not noticed");
        failed.extend(now);
    }
    let missed = every_number().difference(&failed).cloned().collect::<BTreeSet<_>>();
    let functions = OF_FUNCTIONS.map(|(id, label)| (id.to_owned(), label.to_owned()));
    assert_eq!(missed, BTreeSet::from(functions));
}

#[test]
fn a_number_that_one_side_lacks_agrees_with_nothing() {
    let figure = Exact {
        id: "x".to_owned(),
        what: String::new(),
        printed: vec![("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())],
        tolerance: 0.0,
    };
    let listed = |label| Row::listed(label, "1");
    let agree = |rows| items(&figure, rows).iter().map(Item::agrees).collect::<Vec<_>>();
    assert_eq!(agree(vec![listed("a")]), [true, false], "`b` is not computed");
    assert_eq!(agree(vec![listed("a"), listed("c"), Row::listed("b", "2")]), [true, false, true]);
    assert_eq!(agree(vec![Row::beside("a", "1", "1"), listed("b")]), [false, false]);
    let facts = Context { facts: papers(), product: product() };
    assert!(figures::rows("no-such-figure", facts).is_none());
}

/// Each printed number of the tags and each parameter that they follow from changes what is shown.
#[test]
fn tags_follow_from_what_is_printed_and_from_the_partitions() {
    let tags = |of: Context<'_>| {
        let all = contradicted(of);
        all.into_iter().find(|one| one.id == "cache-tags-kb").expect("it").computed
    };
    let usual = tags(Context { facts: papers(), product: product() });
    let root = root();
    let place = papers().inconsistent.iter().position(|one| one.id == "cache-tags-kb");
    let place = place.expect("it").to_string();
    for given in 0..6 {
        let mut other = root.clone();
        let path = ["inconsistent", &place, "given", &given.to_string()].map(str::to_owned);
        let value = at(&mut other, &path);
        *value = changed(value);
        let facts = read(&other).expect("numbers");
        let now = tags(Context { facts: &facts, product: product() });
        assert_ne!(now, usual, "number {given}");
    }
    let mut other = product().clone();
    other.storage.powers_of_two = Division::dissertation_unified(512);
    assert_ne!(tags(Context { facts: papers(), product: &other }), usual);
    let few: &[u64] = &[64, 1125];
    assert!(storage::cache_tags(Context { facts: papers(), product: product() }, few).is_none());
}

/// What the papers' own numbers come to, without the product.
#[test]
fn the_papers_tables_agree_with_themselves() {
    let facts = papers();
    let tables = &facts.tables.dissertation;
    let (chips, printed) = (&tables.table2_1_chips, &tables.table2_2_bytes_per_thread);
    for (chip, printed) in [(&chips.gtx580, &printed.gtx580), (&chips.hd7970, &printed.hd7970)] {
        let of_sms = |kb: &[u128]| kb.iter().map(|kb| kb * chip.sms).collect::<Vec<_>>();
        let storage = [
            of_sms(&[chip.register_file_kb]),
            of_sms(&chip.l1_kb),
            vec![chip.l2_kb],
            of_sms(&chip.scratchpad_kb),
        ];
        let bytes =
            |kb: &u128| fixed::fixed(kb * 1024, chip.threads, 1).trim_end_matches(".0").to_owned();
        let computed = storage.map(|kb| kb.iter().map(bytes).collect::<Vec<_>>().join("/"));
        assert_eq!(&computed, printed);
    }
    let table = &tables.table4_5_bank_energy;
    let (reads, writes) = figures::accesses_per_100(facts);
    let spent = |read: f64, write: f64| reads as f64 * read + writes as f64 * write;
    let flat = spent(table.mrf.read_pj, table.mrf.write_pj);
    for (read, write, saved) in [(table.lrf.read_pj, table.lrf.write_pj, 86.8), (2.0, 6.0, 61.1)] {
        let computed = 100.0 - 100.0 * spent(read, write) / flat;
        assert!((computed - saved).abs() < 0.05, "{computed}");
    }
}

#[test]
fn contradictions_are_computed_as_they_were_found() {
    let all = inconsistencies();
    assert_eq!(all.len(), papers().inconsistent.len());
    let numbers = |id: &str| -> Vec<String> {
        let one = all.iter().find(|one| one.id == id).unwrap();
        let computed = one.computed.as_ref().unwrap();
        computed.iter().map(|(_, number)| number.clone()).collect()
    };
    assert_eq!(
        numbers("cache-tags-kb"),
        ["18", "19", "19", "18", "16", "16", "1.125", "6.000", "4.000", "32", "19"]
    );
    assert_eq!(numbers("chip-power-54"), ["5.67 %", "8.1 %"]);
    assert_eq!(
        numbers("expars-eq9-split"),
        [
            "SGE 6 + 1, BT 3 + 0, MERG 3 + 0, QUA 3 + 0",
            "SGE 5 + 2, BT 2 + 1, MERG 2 + 1, QUA 2 + 1",
            "0"
        ]
    );
    assert_eq!(
        numbers("expars-hotspot-split"),
        ["LBM 6, HS 3, LEUK 6, CONV 6", "7, 3, 7, 7", "45.81", "47.39"]
    );
    assert_eq!(numbers("expars-oracle"), ["77", "28.33 %", "87.28 %", "1.2984", "EST or SING1"]);
    assert_eq!(
        numbers("expars-st-registers"),
        [
            "28.195",
            "99.85 53.78 87.28 and 47.39",
            "99.92 53.42 87.24 and 47.66",
            "22",
            "54.02 and 87.35"
        ]
    );
    assert_eq!(numbers("ideal-rfc-58"), ["56.7 %", "1.69", "1.91"]);
    assert_eq!(numbers("isca11-table5"), ["0.678", "0.652", "1.00", "1.00"]);
    assert_eq!(numbers("micro11-relative"), ["20.0 %", "43.5 %", "28.3 %"]);
    assert_eq!(
        numbers("micro12-sram-leakage"),
        ["0.91", "0.2", "1.61", "0.9", "0.52", "0.83 and 0.92", "1.62 and 1.83"]
    );
    assert_eq!(numbers("warrf-area-68"), ["73.2 %", "67.3 %"]);
    assert_eq!(numbers("warrf-pool-reads"), ["1.85", "0.55", "-5.8 to 11.2 %", "22.5 %"]);
    assert_eq!(numbers("warrf-leakage-unit"), ["55 %", "0.05 %", "34.49 %"]);
    // Where the list has a sentence instead of numbers there is nothing to compare them with.
    for one in all.iter().filter(|one| one.id != "warrf-leakage-unit") {
        if let Some(computed) = &one.computed {
            for (label, number) in computed {
                let bare = number.trim_end_matches(" %");
                assert!(one.expected.contains(bare), "{} {label}: {number}", one.id);
            }
        }
    }
}
