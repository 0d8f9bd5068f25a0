//! Designs of other memories: names, files, energies, leakage and baselines.

use strata_compiler::hierarchy::Lrf;
use strata_core::arbiter::BankPorts;
use strata_core::bank_layout::BankLayout;
use strata_core::energy::BankEnergy;
use strata_core::level::Level;
use strata_core::names::Named as _;
use strata_core::organisation::Organisation;
use strata_core::sm::config::{SmSettings, WarpReplacement};
use strata_core::sm::memory::bank_conflicts::{BankConflicts, ConflictPorts};
use strata_core::sm::memory::cache::{Cache, Tag};
use strata_core::sm::memory::cached::{CachedSettings, LocalStores};
use strata_core::sm::memory::gddr::settings::{ClockRatio, GddrSettings, GddrTiming};
use strata_core::sm::memory::l2::L2Settings;
use strata_core::sm::memory::mshr::MshrLimit;
use strata_core::sm::memory::touched::BankMapping;
use strata_core::sm::operand_delivery::{CollectorSettings, OperandDelivery};
use strata_core::sm::partition::{Areas, CacheRule, CacheSizes, Division};
use strata_core::storage_energy::CacheArray;
use strata_core::units::Femtojoules;
use strata_core::write_pool::PoolPorts;

use super::storage::{Repartition, ThreadChoice};
use super::{Design, Storage, file, resolve};

fn design(name: &str) -> Design {
    resolve(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn parsed(text: &str) -> Design {
    file::parse("d.toml", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    let error = file::parse("d.toml", text).unwrap_err();
    format!("{error}\n{}", error.hint().unwrap_or_default())
}

fn collectors(design: &Design) -> CollectorSettings {
    match design.sm.operand_delivery {
        OperandDelivery::Collectors(settings) => settings,
        OperandDelivery::FixedLatency { .. } => panic!("{} has no collectors", design.name),
    }
}

fn bank(read: u64, write: u64) -> BankEnergy {
    BankEnergy { read: Femtojoules(read), write: Femtojoules(write) }
}

#[test]
fn the_designs_of_warrf_are_the_papers() {
    let sram = design("warrf-gtx480");
    assert_eq!(sram.sm, SmSettings::WARRF_GTX480);
    assert_eq!(*sram.organisation(), Organisation::FLAT_TWO_LEVEL);
    let plain = CollectorSettings::WARRF_SRAM;
    for (name, write_cycles, split_bank_write, write_pool_entries) in [
        ("warrf-gtx480", 1, false, 0),
        ("sttram", 3, false, 0),
        ("sttram-sbw", 3, true, 0),
        ("sttram-wpool", 3, false, 60),
        ("warrf", 3, true, 60),
    ] {
        for suffix in ["", "-as-printed"] {
            let own = design(&format!("{name}{suffix}"));
            assert_eq!(own.name, format!("{name}{suffix}"));
            let expected =
                CollectorSettings { write_cycles, split_bank_write, write_pool_entries, ..plain };
            assert_eq!(collectors(&own), expected, "{name}");
            let baseline = own.baseline();
            let named = design(&format!("warrf-gtx480{suffix}"));
            assert_eq!((baseline.sm, &baseline.name), (sram.sm, &named.name), "{name}");
            assert_eq!(baseline.energy, named.energy, "{name}");
            assert_eq!(baseline.leakage, named.leakage, "{name}");
            assert_eq!(own.countable().is_ok(), write_pool_entries == 0, "{name}");
            let bank_nw = own.leakage.as_ref().unwrap().bank_nw;
            let milliwatts = if name == "warrf-gtx480" { 25_000_000 } else { 300_000 };
            let expected = if suffix.is_empty() { milliwatts } else { milliwatts / 1000 };
            assert_eq!(bank_nw, expected, "{name}{suffix}");
            let read = own.assumed.iter().any(|text| text.contains("leakage is read as mW"));
            assert_eq!(read, suffix.is_empty(), "{name}{suffix}");
        }
    }
    let table = design("warrf").energy.unwrap();
    assert_eq!(table.mrf.bank, bank(53_760, 92_160));
    assert_eq!(table.level(Level::WritePool).unwrap().bank, bank(10_240, 10_240));
    assert_eq!((table.mrf.wires.private_um, table.wire_per_mm_per_32bit.0), (0, 0));
    assert_eq!(sram.energy.as_ref().unwrap().mrf.bank, bank(47_360, 40_960));
    assert_eq!(sram.baseline(), sram.baseline().baseline());
}

#[test]
fn the_width_of_issue_is_assumed_and_two_schedulers_have_names() {
    let said = |design: &Design| {
        design.assumed.iter().any(|text| text.contains("prints no width of issue"))
    };
    for (name, narrow) in [
        ("warrf-gtx480-dual-issue", "warrf-gtx480"),
        ("sttram-dual-issue", "sttram"),
        ("sttram-sbw-dual-issue", "sttram-sbw"),
        ("sttram-wpool-dual-issue-rfc6-lru", "sttram-wpool-rfc6-lru"),
        ("warrf-dual-issue-orf3-as-printed", "warrf-orf3-as-printed"),
    ] {
        let (wide, narrow) = (design(name), design(narrow));
        assert_eq!((wide.sm.issue_slots, narrow.sm.issue_slots), (2, 1), "{name}");
        assert_eq!(SmSettings { issue_slots: 1, ..wide.sm }, narrow.sm, "{name}");
        assert_eq!((&wide.energy, &wide.leakage), (&narrow.energy, &narrow.leakage), "{name}");
        assert!(said(&wide) && said(&narrow), "{name}");
        // What it is compared with issues as much.
        let baseline = wide.baseline();
        assert_eq!(baseline.sm, design(&baseline.name).sm, "{name}");
        assert!(baseline.name.starts_with("warrf-gtx480-dual-issue"), "{}", baseline.name);
        assert!(resolve(&baseline.sibling("-rfc6")).is_ok(), "{name}");
    }
    assert_eq!(design("warrf-dual-issue").sibling("-rfc3"), "warrf-dual-issue-rfc3");
    let own = parsed("base = \"warrf\"\nissue_slots = 2\n");
    assert_eq!(own.baseline().name, "warrf-gtx480-dual-issue");
    // No other source leaves it open.
    assert!(!said(&design("isca11")));
}

#[test]
fn reads_that_hit_the_pool_cost_one_of_the_pool_or_one_of_a_bank() {
    let with = |value: &str| parsed(&format!("base = \"warrf\"\npool_read_energy = \"{value}\"\n"));
    let (pool, bank) = (with("pool"), with("bank"));
    assert_eq!(pool.energy, design("warrf").energy);
    let [array, own] = [&pool, &bank]
        .map(|design| design.energy.clone().unwrap().level(Level::WritePool).unwrap());
    // 0.08 and 0.42 pJ for each of 128 bits; the reads of writebacks cost the pool's either way.
    assert_eq!((array.operand().0, own.operand().0), (10_240, 53_760));
    assert_eq!((array.bank, array.wires), (own.bank, own.wires));
    assert_eq!(bank.changed, ["d: pool_read_energy = bank (warrf: pool)"]);
    assert!(bank.axes().iter().any(|(axis, value)| {
        (*axis, value.as_str()) == ("reads of the pool", "cost a read of a bank")
    }));
    assert_eq!(bank.baseline().energy, pool.baseline().energy);
    // The price of a bank is the design's own.
    let given = "base = \"warrf\"\npool_read_energy = \"bank\"\n[energy]\nsource = \"x\"\n\
                 mrf_read = \"9 pJ\"\nwrite_pool_read = \"1 pJ\"\nwrite_pool_write = \"2 pJ\"\n";
    let given = parsed(given).energy.unwrap().level(Level::WritePool).unwrap();
    assert_eq!((given.operand().0, given.bank.read.0), (9_000, 1_000));
    // A study that changes the pool keeps the price.
    let collectors = bank.collectors().unwrap();
    let swept = CollectorSettings { write_pool_entries: 8, ..collectors };
    assert_eq!(bank.with_collectors(swept).unwrap().energy, bank.energy);
}

#[test]
fn small_levels_cost_their_share_of_sram_beside_every_memory() {
    // A quarter and 6.7 elevenths of 47.36 and 40.96 pJ; 0.7 eighths and 2 elevenths.
    let six = bank(11_840, 24_948);
    for name in ["warrf-gtx480-rfc6", "sttram-rfc6", "sttram-sbw-rfc6-lru", "warrf-rfc6-as-printed"]
    {
        let own = design(name);
        let table = own.energy.unwrap();
        assert_eq!(table.level(Level::Rfc).unwrap().bank, six, "{name}");
        assert_eq!(table.level(Level::Rfc).unwrap().wires.shared_um, 0, "{name}");
        let inferred =
            own.assumed.iter().filter(|text| text.contains("inferred: no source prints"));
        assert_eq!(inferred.count(), 1, "{name}");
    }
    let managed = design("warrf-orf6-lrf-split");
    let table = managed.energy.unwrap();
    assert_eq!(
        (table.level(Level::Orf).unwrap().bank, table.level(Level::Lrf).unwrap().bank),
        (six, bank(4_144, 7_447))
    );
    assert_eq!(table.mrf.bank, bank(53_760, 92_160));
    assert_eq!(collectors(&design("warrf-orf6-lrf-split")).write_pool_entries, 60);
    let without = design("sttram").assumed;
    assert!(without.iter().all(|text| !text.contains("inferred: no source prints")), "{without:?}");
    assert_eq!(design("sttram-orf3-as-printed").sibling("-rfc3"), "sttram-rfc3-as-printed");
    assert_eq!(design("diss-orf3").sibling("-rfc3"), "diss-rfc3");
}

#[test]
fn other_names_are_refused_with_a_hint() {
    for (name, part) in [
        ("sttram-rfc9", "`sttram-rfc"),
        ("sttram-as-printed-rfc6", "did you mean"),
        ("isca11-as-printed", "`strata designs`"),
        ("sttram-wpol", "`sttram-wpool`"),
        ("warf", "`warrf`"),
        ("sttram-rfc6-nolive-lru", "write `sttram-rfc6-lru-nolive`"),
    ] {
        let error = resolve(name).unwrap_err();
        let hint = error.hint().unwrap_or_default();
        assert!(hint.contains(part), "{name}: {hint}");
    }
}

#[test]
fn a_file_gives_any_machine_another_memory() {
    let own = parsed(
        "base = \"isca11-rfc6\"\ntechnology = \"warrf\"\nmemory = \"sttram\"\n\
         operand_delivery = \"collectors\"\n[collectors]\nsplit_bank_write = true\n",
    );
    // 4.12 ns at 1 GHz.
    let expected = CollectorSettings {
        write_cycles: 5,
        split_bank_write: true,
        ..CollectorSettings::WARRF_SRAM
    };
    assert_eq!(collectors(&own), expected);
    let table = own.energy.as_ref().unwrap();
    assert_eq!(table.mrf.bank, bank(53_760, 92_160));
    assert_eq!(table.mrf.wires.private_um, 1000);
    // 2.2 of 8 and 6.7 of 11 pJ.
    assert_eq!(table.level(Level::Rfc).unwrap().bank, bank(13_024, 24_948));
    let baseline = own.baseline();
    assert_eq!(baseline.energy.unwrap().mrf.bank, bank(47_360, 40_960));
    assert_eq!(baseline.sm, SmSettings::ISCA11);
    assert_eq!(own.leakage.unwrap().clock_khz, 1_000_000);
    for told in [
        "d: memory = sttram (isca11-rfc6: none)",
        "d: technology = warrf (isca11-rfc6: isca11-40nm)",
        "d: operand_delivery = collectors (isca11-rfc6: fixed-latency)",
        "d: collectors.write_cycles = 5 (isca11-rfc6: none)",
    ] {
        assert!(own.changed.iter().any(|text| text == told), "{told}: {:?}", own.changed);
    }
}

#[test]
fn a_file_changes_the_collectors() {
    let own = parsed(
        "base = \"warrf\"\n[collectors]\nunits = 8\nbanks = 4\nread_cycles = 2\nwrite_cycles = 9\n\
         split_bank_write = false\nwrite_pool_entries = 1\nwrite_pool_ports = 2\nbank_layout = \"linear\"\n[energy]\nsource = \"x\"\n\
         write_pool_read = \"1 pJ\"\nwrite_pool_write = \"2 pJ\"\nmrf_write = \"3 pJ\"\n",
    );
    let expected = CollectorSettings {
        units: 8,
        banks: 4,
        bank_ports: BankPorts::One,
        read_cycles: 2,
        write_cycles: 9,
        split_bank_write: false,
        write_pool_entries: 1,
        write_pool_ports: PoolPorts::Any(2),
        bank_layout: BankLayout::Linear,
    };
    assert_eq!(collectors(&own), expected);
    let table = own.energy.as_ref().unwrap();
    assert_eq!(table.level(Level::WritePool).unwrap().bank, bank(1_000, 2_000));
    assert_eq!(table.mrf.bank, bank(53_760, 3_000));
    // What is given for STT-RAM is not the SRAM's that it is compared with.
    let baseline = own.baseline();
    assert_eq!(baseline.energy.unwrap().mrf.bank, bank(47_360, 40_960));
    let plain = CollectorSettings::WARRF_SRAM;
    let units = CollectorSettings { units: 8, banks: 4, bank_layout: BankLayout::Linear, ..plain };
    assert_eq!(baseline.sm.operand_delivery, OperandDelivery::Collectors(units));
    let all = "base = \"warrf-gtx480\"\nscheduling = \"single-level\"";
    assert_eq!(parsed(all).active_warps(), 48);
    let small = parsed("base = \"warrf\"\nactive_warps = 2\n[sm]\nwarps = 4\n");
    assert_eq!(small.baseline().active_warps(), 4);
    let other = parsed("base = \"sttram\"\n[sm]\nregister_file_kb = 256\n");
    assert!(other.energy.is_err());
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    for (text, parts) in [
        (
            "base = \"sttram\"\noperand_delivery = \"fixed-latency\"",
            ["a write for 3, which operands of fixed latency", "operand_delivery = \"collectors\""],
        ),
        (
            "base = \"isca11\"\n[collectors]\nunits = 4",
            ["`[collectors]` without operand collectors", "remove the table"],
        ),
        (
            "base = \"isca11\"\nmemory = \"sttram\"",
            ["no meaning without a technology", "\"warrf\""],
        ),
        (
            "base = \"isca11\"\ntechnology = \"warf\"",
            ["no technology called `warf`", "did you mean `warrf`"],
        ),
        (
            "base = \"isca11\"\ntechnology = \"warrf\"",
            ["more than one memory", "memory = \"sram\""],
        ),
        ("base = \"sttram\"\nmemory = \"dram\"", ["there is no `dram` here", "`sram`, `sttram`"]),
        (
            "base = \"warrf\"\n[collectors]\nwrite_pool_entries = 129",
            ["collectors.write_pool_entries = 129", "0 to 128 entries"],
        ),
        (
            "base = \"warrf\"\n[collectors]\nwrite_pool_ports = 9",
            ["d.toml:3:20: collectors.write_pool_ports: ", "expected \"1rw\" for one access"],
        ),
        (
            "base = \"warrf\"\n[collectors]\nwrite_pool_ports = \"2\"",
            ["found the text \"2\"", "of accesses of any kind, 2 to 8"],
        ),
        (
            "base = \"warrf\"\n[collectors]\nwrite_pool_accesses = 4",
            [
                "d.toml:3:1: ",
                "now `write_pool_ports`: write `write_pool_ports = \"1rw\"` for one access",
            ],
        ),
        (
            "base = \"sttram\"\npool_read_energy = \"bank\"",
            ["d.toml:2:1: `pool_read_energy` without a write pool", "or remove the key"],
        ),
        (
            "base = \"warrf\"\n[collectors]\nwrite_cycles = 33",
            ["collectors.write_cycles = 33", "1 to 32 cycles"],
        ),
        (
            "base = \"sttram\"\n[energy]\nsource = \"x\"\nwrite_pool_read = \"1 pJ\"\n\
             write_pool_write = \"1 pJ\"",
            ["without a write pool", "write_pool_entries"],
        ),
        ("base = \"isca11\"\nbanks = 3", ["3 banks are no power of two", ""]),
        ("base = \"isca11\"\nbanks = 9", ["1 to 8 banks", ""]),
        ("base = \"warrf\"\nbanks = 4", ["with operand collectors", "in `[collectors]`"]),
        ("base = \"warrf\"\n[latency_cycles]\nalu = 3", ["too short", "raise it"]),
        ("base = \"sttram\"\ntechnology = \"none.toml\"", ["none.toml: cannot be read", ""]),
    ] {
        let message = refused(text);
        for part in parts {
            assert!(message.contains(part), "{text}: {part}: {message}");
        }
    }
}

#[test]
fn a_write_pool_without_energy_is_said() {
    let text = "base = \"isca11\"\noperand_delivery = \"collectors\"\n[collectors]\n\
                write_pool_entries = 60\n";
    let own = parsed(text);
    let reason = own.energy.unwrap_err().to_string();
    assert!(reason.contains("no energy of a write pool"), "{reason}");
    assert!(own.leakage.unwrap_err().to_string().contains("no leakage"));
}

#[test]
fn a_technology_of_the_user_is_read_from_beside_the_design() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let technology = r#"
name = "mine"
source = "our runs"
[sttram]
read_energy = { value = "0.5 pJ/bit", source = "run 1" }
write_energy = { value = "1 pJ/bit", source = "run 2" }
read_latency = { value = "1.5 ns", source = "run 3" }
write_latency = { value = "6 ns", source = "run 4" }
leakage_per_bank = { value = "1 mW", source = "run 5" }
bank_kb = 4
[write_pool]
access_energy = { value = "0.1 pJ/bit", source = "run 6" }
"#;
    std::fs::write(path("mine.toml"), technology).unwrap();
    std::fs::write(path("d.toml"), "base = \"warrf\"\ntechnology = \"mine.toml\"\n").unwrap();
    let own = design(path("d.toml").to_str().unwrap());
    // 1.05 and 4.2 cycles of 0.7 GHz.
    let settings = collectors(&own);
    assert_eq!((settings.read_cycles, settings.write_cycles), (2, 5));
    let table = own.energy.as_ref().unwrap();
    assert_eq!(table.mrf.bank, bank(64_000, 128_000));
    assert_eq!(table.level(Level::WritePool).unwrap().bank, bank(12_800, 12_800));
    assert_eq!(own.leakage.as_ref().unwrap().banks, 32);
    let told = "mine: sttram.write_energy = 1 pJ/bit (run 2)";
    assert!(own.changed.iter().any(|text| text == told), "{:?}", own.changed);
    // It has no SRAM: the machine's own is what it is compared with.
    assert_eq!(own.baseline().energy.unwrap().mrf.bank, bank(47_360, 40_960));
    let said = "technology `mine` has no SRAM to compare with: the baseline's is that of `warrf`";
    assert!(own.assumed.iter().any(|text| text == said), "{:?}", own.assumed);
}

#[test]
fn how_wires_are_charged_belongs_to_a_design() {
    let with = |base: &str, charge: &str| {
        file::parse("d.toml", &format!("base = \"{base}\"\nwire_charge = \"{charge}\"\n")).unwrap()
    };
    for base in ["isca11-rfc6", "diss-rfc6-lrf", "diss-orf3", "sttram-rfc6"] {
        let named = resolve(base).unwrap();
        let [once, each] = ["once", "each-trip"].map(|charge| with(base, charge));
        assert_eq!((once.wire_charge, &once.energy), (named.wire_charge, &named.energy), "{base}");
        assert!(once.changed.is_empty(), "{base}: {:?}", once.changed);
        assert_eq!(each.changed, [format!("d: wire_charge = each-trip ({base}: once)")]);
        assert_ne!(each.energy, named.energy, "{base}");
        assert_eq!(each.baseline().wire_charge, each.wire_charge);
        let shown = |design: &Design| design.axes().into_iter().find(|(axis, _)| *axis == "wires");
        assert_eq!(shown(&named).unwrap().1, "charged once");
        assert_eq!(shown(&each).unwrap().1, "charged for each trip");
    }
    // Nothing moves there.
    assert!(resolve("isca11").unwrap().axes().iter().all(|(axis, _)| *axis != "wires"));
    let wrong = "base = \"isca11-rfc6\"\nwire_charge = \"twice\"\n";
    let error = file::parse("d.toml", wrong).unwrap_err().to_string();
    assert!(
        error.contains("there are `once`, `each-trip`") && error.contains("d.toml:2:15"),
        "{error}"
    );
}

#[test]
fn a_file_gives_a_memory_with_addresses() {
    let plain = design("isca11-rfc6");
    let own = parsed("base = \"isca11-rfc6\"\n[data_cache]\ncapacity_kb = 64\n");
    let defaults = CachedSettings::of(64 * 1024);
    assert_eq!((plain.data_cache, own.data_cache), (None, Some(defaults)));
    assert_eq!((own.sm, &own.energy), (plain.sm, &plain.energy));
    assert_ne!(own, Design { data_cache: None, ..own.clone() });
    // It belongs to the SM: what the design is compared with has it too.
    assert_eq!(own.baseline().data_cache, Some(defaults));
    assert_eq!(
        own.changed,
        [
            "d: data_cache.capacity_kb = 64 (isca11-rfc6: none)",
            "d: data_cache.ways = 4 (isca11-rfc6: none)",
            "d: data_cache.banks = partitioned (isca11-rfc6: none)",
            "d: data_cache.transaction_bytes = 32 (isca11-rfc6: none)",
            "d: data_cache.conflicts = apart (isca11-rfc6: none)",
        ]
    );
    let axis = |design: &Design| design.axes().into_iter().find(|(axis, _)| *axis == "data cache");
    let text = "64 KB in sets of 4, partitioned banks, transactions of 32 bytes";
    assert_eq!((axis(&plain), axis(&own).unwrap().1.as_str()), (None, text));
    let all = "base = \"isca11\"\nscheduling = \"two-level\"\nreplacement = \"cache-miss\"\n\
               [data_cache]\ncapacity_kb = 6\nways = 3\nbanks = \"simple\"\n\
               transaction_bytes = 16\n";
    let settings = CachedSettings {
        ways: 3,
        mapping: BankMapping::Simple,
        transaction_bytes: 16,
        ..CachedSettings::of(6144)
    };
    let all = parsed(all);
    assert_eq!(all.data_cache, Some(settings));
    assert_eq!(all.sm.replacement, WarpReplacement::CacheMiss);
    let without = parsed("base = \"isca11\"\n[data_cache]\ncapacity_kb = 0\n");
    assert_eq!(without.data_cache, Some(CachedSettings { cache_bytes: 0, ..defaults }));
    assert!(axis(&without).unwrap().1.starts_with("none, partitioned banks"));
}

#[test]
fn a_file_limits_what_a_data_cache_awaits() {
    let of = |keys: &str| {
        let own = parsed(&format!("base = \"micro12\"\n[data_cache]\n{keys}\n"));
        (own.data_cache.unwrap(), own.changed)
    };
    let limit = |lines, loads| Some(MshrLimit { lines, loads });
    let (settings, changed) = of("mshrs = 32");
    assert_eq!(settings.mshrs, limit(32, 8));
    let lines = "d: data_cache.mshrs = 32 (micro12: none)";
    assert_eq!(changed, [lines, "d: data_cache.mshr_loads = 8 (micro12: none)"]);
    assert_eq!(of("mshrs = 1024\nmshr_loads = 255").0.mshrs, limit(1024, 255));
    let (settings, changed) = of("local_stores = \"allocate\"");
    assert_eq!((settings.mshrs, settings.local_stores), (None, LocalStores::Allocate));
    assert_eq!(changed, ["d: data_cache.local_stores = allocate (micro12: no-allocate)"]);
    let all = parsed(
        "base = \"isca11\"\n[data_cache]\ncapacity_kb = 16\nmshrs = 32\nlocal_stores = \
         \"allocate\"\n",
    );
    let axis = all.axes().into_iter().find(|(axis, _)| *axis == "data cache").unwrap().1;
    let end = "of 32 bytes, 32 MSHRs of 8 loads, local stores allocate";
    assert!(axis.ends_with(end), "{axis}");
}

#[test]
fn a_file_gives_a_second_level() {
    // 924 MHz beside 1 GHz.
    let beside = |l2: L2Settings| {
        let clock = ClockRatio { ticks: 231, cycles: 250 };
        L2Settings { gddr: GddrSettings { clock, ..l2.gddr }, ..l2 }
    };
    let plain = parsed("base = \"isca11\"\n[data_cache]\ncapacity_kb = 16\n[gddr]\n");
    assert_eq!(plain.data_cache.unwrap().l2, Some(beside(L2Settings::SHARE)));
    assert_eq!(
        plain.changed[5..],
        [
            "d: l2 = 48 KB in sets of 8, 120 cycles, 32 bytes in a cycle (isca11: none)",
            "d: gddr = 1 x 16 banks in 4 groups, rows of 2048 bytes, queues of 16, 64 bytes in 5 \
             ticks, 231 ticks in 250 cycles, 100 cycles (isca11: none)",
            "d: gddr timing = rrd 6, rcd 12, rp 12, rc 40, cl 12, wr 12, ccd 2, ccdl 3, wl 4, cdlr \
             5, rtpl 2, turn 2 (isca11: none)",
        ]
    );
    let assumed = |text: &String| text.contains("DEV-092");
    assert!(plain.assumed.iter().any(assumed) && !design("micro12").assumed.iter().any(assumed));
    let axes = plain.axes();
    let axis = axes.iter().find(|(axis, _)| *axis == "below the cache").unwrap();
    assert!(axis.1.starts_with("L2 of 48 KB in sets of 8, 120 cycles"), "{}", axis.1);
    assert!(axis.1.contains("; GDDR of 1 x 16 banks in 4 groups"), "{}", axis.1);
    let whole = "base = \"micro12\"\n[gddr]\npart = \"whole\"\n";
    assert_eq!(parsed(whole).data_cache.unwrap().l2, Some(beside(L2Settings::WHOLE)));
    let all = "base = \"micro12\"\n[l2]\ncapacity_kb = 96\nways = 4\nlatency_cycles = 90\n\
               bytes_per_cycle = 64\n[gddr]\nchannels = 2\nbanks = 8\nbank_groups = 2\n\
               row_bytes = 4096\nqueue = 32\ndata_ticks = 3\nclock = [2, 3]\nlatency_cycles = 50\n\
               rrd = 1\nrcd = 2\nrp = 3\nrc = 4\ncl = 5\nwr = 6\nccd = 7\nccdl = 8\nwl = 9\n\
               cdlr = 10\nrtpl = 11\nturn = 12\n";
    let settings = L2Settings {
        bytes: 96 * 1024,
        ways: 4,
        latency: 90,
        bytes_per_cycle: 64,
        gddr: GddrSettings {
            channels: 2,
            banks: 8,
            bank_groups: 2,
            row_bytes: 4096,
            queue: 32,
            data_ticks: 3,
            clock: ClockRatio { ticks: 2, cycles: 3 },
            latency: 50,
            timing: GddrTiming {
                rrd: 1,
                rcd: 2,
                rp: 3,
                rc: 4,
                cl: 5,
                wr: 6,
                ccd: 7,
                ccdl: 8,
                wl: 9,
                cdlr: 10,
                rtpl: 11,
                turn: 12,
            },
        },
    };
    assert_eq!(settings.gddr.check(), Ok(()));
    let all = parsed(all);
    assert_eq!(all.data_cache.unwrap().l2, Some(settings));
    assert!(all.changed[2].ends_with("cdlr 10, rtpl 11, turn 12 (micro12: none)"));
    // It belongs to the SM: what the design is compared with has it too.
    assert_eq!(all.baseline().data_cache.unwrap().l2, Some(settings));
}

#[test]
fn a_second_level_that_cannot_be_is_refused_with_its_place() {
    for (tables, part) in [
        ("[l2]\nways = 8", "`[l2]` without `[gddr]`: nothing lies behind it"),
        ("[gddr]\nchannels = 0", "`gddr.channels = 0` is impossible: allowed is 1 to 16 channels"),
        ("[gddr]\nchannels = 17", "d.toml:3:1: `gddr.channels = 17` is impossible"),
        ("[gddr]\nbanks = 10", "10 banks of a channel in 4 groups"),
        ("[gddr]\nrow_bytes = 300", "`gddr.row_bytes = 300` is no multiple of 256"),
        ("[gddr]\nrow_bytes = 65792", "allowed is 256 to 65536 bytes"),
        ("[gddr]\nqueue = 65", "allowed is 1 to 64 lines"),
        ("[gddr]\nrp = 41", "`gddr.rc = 40` is less than `gddr.rp = 41`"),
        ("[gddr]\ncl = 256", "`gddr.cl = 256` is impossible: allowed is 1 to 255 ticks"),
        ("[gddr]\nwl = 0", "`gddr.wl = 0` is impossible"),
        ("[gddr]\nclock = [0, 50]", "`gddr.clock = 0` is impossible: allowed is 1 to 10000 ticks"),
        ("[gddr]\nclock = [33]", "expected a list of 2 elements, found 1 of them"),
        ("[gddr]\nlatency_cycles = 0", "allowed is 1 to 4096 cycles"),
        ("[gddr]\npart = \"half\"", "there is no `half` here; there are `share`, `whole`"),
        ("[gddr]\nrefresh = 9", "there is no key `refresh` here"),
        (
            "[l2]\nways = 7\n[gddr]",
            "an L2 of 48 KB is no whole number of sets of 7 lines, 896 bytes",
        ),
        ("[l2]\ncapacity_kb = 0\n[gddr]", "`l2.capacity_kb = 0` is impossible"),
        (
            "[gddr]\n[latency_cycles]\ndram = 300",
            "`latency_cycles.dram` with `[gddr]`, whose time follows from its own keys",
        ),
        (
            "[gddr]\n[sm]\ndram_bytes_per_cycle = 300",
            "`sm.dram_bytes_per_cycle` with `[gddr]`, whose time",
        ),
        (
            "[gddr]\n[data_cache]\nbanks = \"simple\"\nconflicts = \"arbitrated\"",
            "`arbitrated` bank conflicts with `[gddr]`",
        ),
    ] {
        let message = refused(&format!("base = \"micro12\"\n{tables}\n"));
        assert!(message.contains(part), "{tables}: {part}: {message}");
    }
    let message = refused("base = \"isca11\"\n[gddr]\n");
    let expected = "`[gddr]` and no memory with addresses in front of it\nadd a `[data_cache]`";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn every_data_cache_that_a_file_can_name_is_one() {
    let mut tags = vec![Tag::EMPTY; Cache::tags(4096 * 1024)];
    let (mut made, mut refused) = (0, 0);
    for kb in [0, 2, 6, 64, 96, 254, 4096] {
        for ways in [1, 3, 4, 7, 64, 128] {
            for banks in BankMapping::NAMES {
                let text = format!(
                    "base = \"isca11\"\n[data_cache]\ncapacity_kb = {kb}\nways = {ways}\n\
                     banks = \"{banks}\"\n"
                );
                let whole = kb * 1024 % (ways * 128) == 0;
                let read = file::parse("d.toml", &text);
                assert_eq!(read.is_ok(), whole, "{text}");
                let Ok(read) = read else {
                    refused += 1;
                    continue;
                };
                let settings = read.data_cache.unwrap();
                assert!(Cache::new(settings.cache_bytes, settings.ways, &mut tags).is_ok());
                assert_eq!(settings.mapping.name(), *banks);
                made += 1;
            }
        }
    }
    assert_eq!((made, refused), (78, 48));
}

#[test]
fn a_data_cache_that_cannot_be_is_refused_with_its_place() {
    for (keys, part) in [
        ("capacity_kb = -2", "d.toml:3:1: `data_cache.capacity_kb = -2` is impossible"),
        ("capacity_kb = 5", "allowed is 0 to 4096 KB, in steps of 2 KB"),
        ("capacity_kb = 4098", "`data_cache.capacity_kb = 4098` is impossible"),
        ("capacity_kb = 9223372036854775807", "is impossible: allowed is 0 to 4096 KB"),
        ("capacity_kb = 64.5", "expected a whole number, found 64.5"),
        ("ways = 4", "`[data_cache]` has no `capacity_kb`, and the base has no cache"),
        ("", "add `capacity_kb = 64`, or 0 for the memory without a cache"),
        ("capacity_kb = 64\nways = 0", "`data_cache.ways = 0` is impossible: allowed is 1 to 128"),
        ("capacity_kb = 64\nways = 129", "d.toml:4:1: `data_cache.ways = 129` is impossible"),
        (
            "capacity_kb = 64\nways = 3",
            "d.toml:3:1: `data_cache.capacity_kb = 64` is no whole number of sets of 3 lines, 384 \
             bytes\ngive another capacity",
        ),
        (
            "capacity_kb = 64\nbanks = \"agressive\"",
            "there is no `agressive` here; there are `partitioned`, `simple`, `aggressive`",
        ),
        (
            "capacity_kb = 64\ntransaction_bytes = 48",
            "`data_cache.transaction_bytes = 48` is impossible: allowed is 16, 32, 64 or 128 bytes",
        ),
        (
            "capacity_kb = 64\nconflicts = \"arbitrated\"\nconflict_ports = \"any\"",
            "`data_cache.conflict_ports` is for `conflicts = \"penalty\"`",
        ),
        (
            "capacity_kb = 64\nconflicts = \"penalty\"",
            "they need an operand window of 1 cycle, not 3\nset `operand_window_cycles = 1`",
        ),
        ("capacity_kb = 64\nconflicts = \"penalties\"", "did you mean `penalty`"),
        ("capacity_kb = 64\nlines = 4", "there is no key `lines` here"),
        (
            "capacity_kb = 64\nmshrs = 0",
            "`data_cache.mshrs = 0` is impossible: allowed is 1 to 1024",
        ),
        ("capacity_kb = 64\nmshrs = 1025", "d.toml:4:1: `data_cache.mshrs = 1025` is impossible"),
        (
            "capacity_kb = 64\nmshrs = 32\nmshr_loads = 256",
            "`data_cache.mshr_loads = 256` is impossible: allowed is 1 to 255",
        ),
        ("capacity_kb = 64\nmshr_loads = 8", "without `mshrs`: it is a limit of each of them"),
        (
            "capacity_kb = 0\nmshrs = 32",
            "with `capacity_kb = 0`: there is no cache that it changes",
        ),
        (
            "capacity_kb = 0\nlocal_stores = \"allocate\"",
            "d.toml:4:1: `data_cache.local_stores` with `capacity_kb = 0`",
        ),
        (
            "capacity_kb = 64\nlocal_stores = \"yes\"",
            "there is no `yes` here; there are `no-allocate`, `allocate`",
        ),
        ("capacity = 64", "did you mean `capacity_kb`?"),
    ] {
        let text = format!("base = \"isca11\"\n[data_cache]\n{keys}\n");
        let message = refused(&text);
        assert!(message.contains(part), "{text}: {part}: {message}");
    }
    let message = refused("base = \"isca11\"\n[cache]\nentries = 6\ncapacity_kb = 64\n");
    assert!(message.contains("did you mean `capacity_kb` in `[data_cache]`?"), "{message}");
}

#[test]
fn what_simulates_no_memory_refuses_a_data_cache() {
    let own = parsed("base = \"isca11\"\n[data_cache]\ncapacity_kb = 0\n");
    let plain = design("isca11");
    let counted = own.countable().unwrap_err();
    assert!(counted.to_string().contains("order in which warps access memory"), "{counted}");
    assert!(counted.hint().unwrap().contains("--mode cycle"));
    let other = own.without_data_cache_for("listings").unwrap_err();
    assert_eq!(
        other.to_string(),
        "d.toml: the design has a data cache, but listings have no use for it"
    );
    assert_eq!(other.hint(), Some("leave the table out"));
    let built_in = design("micro12").without_data_cache_for("listings").unwrap_err();
    assert!(built_in.hint().unwrap().starts_with("name a design without one"));
    assert!(plain.countable().is_ok());
    assert!(plain.without_data_cache_for("listings").is_ok());
}

#[test]
fn the_machines_of_unified_storage_have_levels_caches_and_divisions() {
    for (name, others) in [("micro12", 7), ("diss-ch7", 11)] {
        let baseline = design(name);
        let managed = baseline.managed.unwrap();
        assert_eq!((managed.entries, managed.lrf), (4, Lrf::Unified), "{name}");
        assert_eq!(baseline.active_warps(), 8, "{name}");
        let cache = baseline.data_cache.unwrap();
        assert_eq!((cache.cache_bytes, cache.mapping), (64 * 1024, BankMapping::Partitioned));
        assert_eq!(cache.transaction_bytes, 16);
        let any = BankConflicts::Instruction { ports: ConflictPorts::Any };
        assert_eq!(cache.conflicts, any, "{name}");
        assert!(baseline.storage.is_none() && baseline.energy.is_err());
        assert!(baseline.placement_energy.is_ok(), "{name}");
        let of_machine = super::list().into_iter().filter(|design| design.machine.name == name);
        assert_eq!(of_machine.filter(|design| design.storage.is_some()).count(), others, "{name}");
        let flat = design(&format!("{name}-flat"));
        assert_eq!(*flat.organisation(), Organisation::FLAT_TWO_LEVEL, "{name}");
        assert!(flat.managed.is_none());
    }
    let unified = design("micro12-unified-384");
    assert_eq!(unified.managed, design("micro12").managed);
    let storage = unified.storage.clone().unwrap();
    assert_eq!(storage.divisions, [Division::micro12_unified(384)]);
    assert_eq!(unified.data_cache.unwrap().mapping, BankMapping::Simple);
    // What it is compared with has areas.
    let baseline = unified.baseline();
    assert_eq!((baseline.name.as_str(), baseline.storage.is_none()), ("micro12-flat", true));
    assert_eq!(baseline.sm, design("micro12-flat").sm);
    assert_eq!(baseline.data_cache, design("micro12").data_cache);
    let split = design("micro12-unified-384-orf4-lrf-split").managed.unwrap();
    assert_eq!(split.lrf, Lrf::Split);
    let cached = design("micro12-unified-128-rfc6");
    assert!(cached.managed.is_none() && cached.cache().is_some());
    let limited = design("micro12-limited").storage.unwrap();
    let mut splits = Division::MICRO12_LIMITED.to_vec();
    assert_eq!(limited.divisions, splits);
    splits = Division::DISSERTATION_LIMITED.to_vec();
    assert_eq!(design("diss-ch7-limited").storage.unwrap().divisions, splits);
    let fixed = Areas::DISSERTATION.map(Division::Partitioned);
    for (name, division) in ["128-32-32", "128-64-64", "256-256-256", "512-512-512"]
        .into_iter()
        .zip([fixed[0], fixed[1], fixed[3], fixed[4]])
    {
        let design = design(&format!("diss-ch7-fixed-{name}"));
        assert_eq!(design.storage.unwrap().divisions, [division], "{name}");
    }
    let searched = design("diss-ch7-unified-384").storage.unwrap();
    assert_eq!(searched.divisions, [Division::dissertation_unified(384)]);
    assert_eq!(searched.threads, ThreadChoice::Search);
}

#[test]
fn a_file_says_how_storage_is_divided() {
    let text = "base = \"micro12\"\n[storage]\nunified_kb = 256\ncache_sizes = \"powers-of-two\"\n\
                most_cache_kb = 64\ndisable_unused = true\nthreads = \"search\"\n\
                most_threads = 512\nrepartition = \"kernel\"\n[data_cache]\nbanks = \"aggressive\"\n";
    let own = parsed(text);
    let cache =
        CacheRule { sizes: CacheSizes::PowersOfTwo, most: Some(64 * 1024), disable_unused: true };
    let storage = Storage {
        divisions: vec![Division::Unified { bytes: 256 * 1024, cache }],
        threads: ThreadChoice::Search,
        most_threads: Some(512),
        repartition: Repartition::Kernel,
        cache_array: CacheArray::Own,
    };
    assert_eq!(own.storage, Some(storage.clone()));
    assert_eq!(own.data_cache.unwrap().mapping, BankMapping::Aggressive);
    assert_eq!(own.data_cache.unwrap().transaction_bytes, 16);
    assert!(own.changed.iter().any(|line| line.contains("storage = unified 256 KB")));
    // What a file leaves out is the base's.
    let more = parsed("base = \"diss-ch7-unified-384\"\n[storage]\nmost_threads = 256\n");
    let base = design("diss-ch7-unified-384").storage.unwrap();
    assert_eq!(more.storage, Some(Storage { most_threads: Some(256), ..base }));
    // A flat machine with a cache of the file's own.
    let text = "base = \"isca11\"\n[data_cache]\ncapacity_kb = 16\n";
    assert!(parsed(text).storage.is_none());
}

#[test]
fn storage_that_cannot_be_divided_is_refused() {
    for (base, keys, part) in [
        ("micro12", "[storage]\nthreads = \"most\"", "does not say how much storage there is"),
        ("micro12", "[storage]\nunified_kb = 100", "allowed is 32 to 4096 KB, in steps of 32"),
        ("micro12", "[storage]\nsplits_kb = []", "allowed is 1 to 8 splits"),
        ("micro12", "[storage]\nsplits_kb = [[0, 64, 64]]", "allowed is 1 to 4096 KB"),
        ("micro12", "[storage]\nsplits_kb = [[64, 64, 3]]", "in steps of 2"),
        (
            "micro12",
            "[storage]\nunified_kb = 64\nsplits_kb = [[64, 64, 64]]",
            "are two ways to divide storage",
        ),
        (
            "micro12",
            "[storage]\nsplits_kb = [[64, 64, 64]]\nmost_cache_kb = 64",
            "are for unified storage",
        ),
        (
            "micro12",
            "[storage]\nunified_kb = 64\nmost_threads = 4096",
            "allowed is 1 to 2048 threads",
        ),
        (
            "micro12-unified-384",
            "[sm]\nregister_file_kb = 128",
            "`sm.register_file_kb` is the size of an area",
        ),
        (
            "micro12-unified-384",
            "[data_cache]\ncapacity_kb = 64",
            "`data_cache.capacity_kb` is the size of an area",
        ),
        (
            "micro12-unified-384",
            "[storage]\ncache_array = \"own\"",
            "`storage.cache_array` is for areas of fixed sizes",
        ),
        ("isca11", "[storage]\nunified_kb = 384", "the design has none"),
        (
            "warrf-gtx480",
            "[storage]\nunified_kb = 384\n[data_cache]\ntransaction_bytes = 16",
            "has no `capacity_kb`",
        ),
    ] {
        let message = refused(&format!("base = \"{base}\"\n{keys}\n"));
        assert!(message.contains(part), "{keys}: {part}: {message}");
    }
}

#[test]
fn a_file_names_the_technologies_of_its_storage() {
    let names = |design: &Design| {
        let all = design.storage_technologies.iter();
        all.map(|technology| technology.name.clone()).collect::<Vec<_>>()
    };
    let both = ["micro12-32nm", "micro12-32nm-as-printed"];
    assert_eq!(names(&design("micro12-unified-384")), both);
    assert_eq!(names(&design("diss-ch7-limited-rfc6"))[0], "diss-32nm");
    assert_eq!(names(&design("isca11")), [""; 0]);
    let text = "storage_technologies = [\"diss-32nm\"]\n[data_cache]\ncapacity_kb = 16\n";
    let own = parsed(&format!("base = \"dissertation\"\n{text}"));
    assert_eq!(names(&own), ["diss-32nm"]);
    assert!(own.changed.iter().any(|line| line.contains("storage_technologies = diss-32nm")));
    assert!(own.assumed.iter().any(|line| line.contains("power of the core")));
    // Its machine's sizes with its own latencies, and its own cache, as the machine has none.
    let baseline = own.storage_baseline(true).unwrap();
    assert_eq!((&*baseline.name, baseline.data_cache), ("dissertation", own.data_cache));
    let slower = "base = \"micro12-unified-128-rfc6\"\n[latency_cycles]\ndram = 500\n";
    let baseline = parsed(slower).storage_baseline(true).unwrap();
    assert_eq!((&*baseline.name, baseline.sm.timing.dram_latency), ("micro12", 500));
    let sizes = (baseline.sm.register_file_bytes, baseline.sm.shared_memory_bytes);
    assert_eq!((sizes, baseline.storage), ((256 << 10, 64 << 10), None));
    assert_eq!(baseline.data_cache.unwrap().cache_bytes, 64 << 10);
    assert_eq!(parsed(slower).storage_baseline(false).unwrap().managed, None);
    assert_eq!(design("isca11").storage_baseline(true), None);

    let cache = "[data_cache]\ncapacity_kb = 16\n";
    for (text, part) in [
        (
            "base = \"isca11\"\nstorage_technologies = [\"micro12-32nm\"]\n".to_owned(),
            "no memory that counts accesses",
        ),
        (
            format!("base = \"warrf-gtx480\"\nstorage_technologies = [\"micro12-32nm\"]\n{cache}"),
            "has its powers at 1 GHz, but machine `warrf-gtx480` runs at 0.7 GHz",
        ),
        (
            "base = \"micro12\"\nstorage_technologies = [\"micro12-32m\"]\n".to_owned(),
            "did you mean `micro12-32nm`",
        ),
        (
            "base = \"micro12\"\nstorage_technologies = [\"diss-32nm\", \"diss-32nm\"]\n"
                .to_owned(),
            "names `diss-32nm` more than once",
        ),
        ("base = \"micro12\"\nstorage_technologies = [\"none.toml\"]\n".to_owned(), "none.toml"),
    ] {
        let message = refused(&text);
        assert!(message.contains(part), "{text}: {part}: {message}");
    }
}

#[test]
fn a_file_says_how_registers_and_memory_meet_in_banks() {
    let ports = BankConflicts::Instruction { ports: ConflictPorts::ReadWrite };
    for (keys, conflicts) in [
        ("conflicts = \"apart\"", BankConflicts::Apart),
        ("conflicts = \"arbitrated\"", BankConflicts::CycleByCycle),
        ("conflict_ports = \"read-write\"", ports),
        ("conflicts = \"penalty\"\nconflict_ports = \"read-write\"", ports),
    ] {
        let own = parsed(&format!("base = \"micro12-unified-384\"\n[data_cache]\n{keys}\n"));
        assert_eq!(own.data_cache.unwrap().conflicts, conflicts, "{keys}");
    }
    let text = "base = \"dissertation\"\noperand_delivery = \"collectors\"\n[data_cache]\n\
                capacity_kb = 64\nconflicts = \"arbitrated\"\n";
    assert!(refused(text).contains("need a register file without operand collectors"));
    let text = "base = \"micro12-unified-384\"\noperand_delivery = \"collectors\"\n[data_cache]\n\
                conflicts = \"apart\"\n";
    assert!(refused(text).contains("with operand collectors, whose banks need registers"));
    // The banks that a file names stay, however the storage is divided.
    for (division, banks) in [
        ("unified_kb = 384", BankMapping::Partitioned),
        ("splits_kb = [[256, 64, 64]]", BankMapping::Aggressive),
    ] {
        let name = banks.name();
        let own = parsed(&format!(
            "base = \"micro12\"\n[storage]\n{division}\n[data_cache]\nbanks = \"{name}\"\n"
        ));
        assert_eq!(own.data_cache.unwrap().mapping, banks, "{division}");
    }
    let text = "base = \"dissertation\"\nbanks = 2\n[data_cache]\ncapacity_kb = 64\n\
                banks = \"simple\"\nconflicts = \"penalty\"\n";
    assert!(refused(text).contains("set `banks = 4`"));
}

#[test]
fn what_no_table_prints_is_interpolated_if_asked() {
    let energy = |text: &str| resolve(text).unwrap().energy.map(|table| table.level(Level::Rfc));
    assert!(energy("isca11-rfc13").is_err());
    let thirteen = resolve("isca11-rfc13,missing_energy=interpolated").unwrap();
    assert_eq!(thirteen.missing_energy, Some(super::MissingEnergy::Interpolated));
    let how = thirteen.assumed.iter().find(|how| how.starts_with("extrapolated: an array of 13"));
    assert!(how.is_some(), "{:?}", thirteen.assumed);
    // Its other levels are as printed, and so is its baseline.
    let bank = |design: &Design, level| design.energy.clone().unwrap().level(level).unwrap().bank;
    let six = resolve("isca11-rfc6").unwrap();
    assert_eq!(bank(&thirteen, Level::Mrf), bank(&six, Level::Mrf));
    assert!(bank(&thirteen, Level::Rfc).read > bank(&six, Level::Rfc).read);
    assert_eq!(thirteen.baseline().energy, six.baseline().energy);
    // What is printed stays, and nothing is said.
    let printed = resolve("isca11-rfc6,missing_energy=interpolated").unwrap();
    assert_eq!((&printed.energy, printed.missing_energy), (&six.energy, None));
    assert_eq!(printed.assumed, six.assumed);
    // What the design gives is not interpolated.
    let given = "isca11-rfc13,energy.source=x,energy.rfc_read=1 pJ,energy.rfc_write=2 pJ,\
                 missing_energy=interpolated";
    assert_eq!(resolve(given).unwrap().missing_energy, None);
}

#[test]
fn a_register_file_and_a_last_result_file_of_other_sizes() {
    let told = |text: &str| {
        let design = resolve(&format!("{text},missing_energy=interpolated")).unwrap();
        assert!(design.energy.is_ok(), "{:?}", design.energy);
        design.assumed.into_iter().filter(|told| told.contains("DEV-160")).collect::<Vec<_>>()
    };
    let [file] = told("isca11-rfc6,sm.register_file_kb=256").try_into().unwrap();
    assert!(file.contains("a bank of 8 KB of the main register file"), "{file}");
    let [last] = told("diss-rfc6-lrf,active_warps=4").try_into().unwrap();
    assert!(last.starts_with("extrapolated: an array of 1 entry for each of 4 warps"), "{last}");
    let all = told("diss-rfc3-lrf,active_warps=5,sm.register_file_kb=64");
    assert_eq!(all.len(), 3, "{all:?}");
    let [memory] = told("warrf,sm.register_file_kb=256").try_into().unwrap();
    assert!(memory.contains("a bank of 16 KB"), "{memory}");
}
