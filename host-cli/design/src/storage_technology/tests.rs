use std::path::Path;

use strata_config::ConfigError;
use strata_core::sm::partition::Division;
use strata_core::storage_energy::{MemoryAccesses, StoragePart};
use strata_core::units::Femtojoules;

use super::*;

fn named(name: &str) -> &'static Arc<StorageTechnology> {
    built_in(name).unwrap()
}

#[test]
fn every_built_in_technology_is_what_a_user_could_write() {
    let all: Vec<_> = names().collect();
    let expected = ["micro12-32nm", "micro12-32nm-as-printed", "diss-32nm", "diss-32nm-as-printed"];
    assert_eq!(all, expected);
    for name in all {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/technologies/");
        let text = std::fs::read_to_string(format!("{path}{name}.toml")).unwrap();
        let taken = parse("t.toml", &text).unwrap_err().to_string();
        assert!(taken.contains(&format!("`name = \"{name}\"` is that of a built-in")), "{taken}");
        let own = text.replacen(&format!("\"{name}\""), "\"own\"", 1);
        let read = Arc::unwrap_or_clone(parse("t.toml", &own).unwrap());
        assert!(!read.built_in && named(name).built_in);
        let read = StorageTechnology { name: name.to_owned(), built_in: true, ..read };
        assert_eq!(&read, &**named(name));
        let capacities: Vec<_> = read.banks.iter().map(|bank| bank.capacity_kb).collect();
        assert_eq!(capacities, [1, 2, 4, 8, 12, 16]);
        assert!(!read.assumed.is_empty());
    }
}

/// Readings of the leakage, and the row of 12 KB, are all that the four differ in.
#[test]
fn the_technologies_differ_in_what_their_names_say() {
    for (read, printed) in
        [("micro12-32nm", "micro12-32nm-as-printed"), ("diss-32nm", "diss-32nm-as-printed")]
    {
        let (read, printed) = (named(read), named(printed));
        let of_kb = |technology: &StorageTechnology, kb: u64| {
            technology.sram_leakage().unwrap().of_bytes(kb * 1024).unwrap()
        };
        assert_eq!((of_kb(read, 384), of_kb(read, 1)), (200_000_000, 520_833));
        assert_eq!((of_kb(printed, 384), of_kb(printed, 1)), (910_080_000, 2_370_000));
        let values = |technology: &StorageTechnology| {
            let values = technology.values().into_iter();
            let values = values.map(|(key, value, source)| (key, value, source.to_owned()));
            values.filter(|(key, ..)| key != "sram_leakage").collect::<Vec<_>>()
        };
        assert_eq!(values(read), values(printed));
    }
    let (micro12, dissertation) = (named("micro12-32nm"), named("diss-32nm"));
    for (own, other) in micro12.banks.iter().zip(&dissertation.banks) {
        let same = (own.read.value, own.write.value) == (other.read.value, other.write.value);
        assert_eq!(same, own.capacity_kb != 12, "{} KB", own.capacity_kb);
    }
}

#[test]
fn energy_is_that_of_the_core_s_table() {
    let unified = StorageConfiguration::of(Division::micro12_unified(384));
    let counts = StorageCounts {
        register_reads: 1,
        shared: MemoryAccesses { read_words: 32, read_rows: 8, ..MemoryAccesses::default() },
        cycles: 860_000,
        baseline_cycles: 1_000_000,
        dram_bytes: 8_000_000,
        ..StorageCounts::default()
    };
    let part = |name: &str, part| named(name).energy(&unified, &counts).unwrap().part(part);
    assert_eq!(part("micro12-32nm", StoragePart::RegisterBanks), Femtojoules(96_800));
    assert_eq!(part("micro12-32nm", StoragePart::SharedBanks), Femtojoules(106_480));
    assert_eq!(part("diss-32nm", StoragePart::RegisterBanks), Femtojoules(88_000));
    assert_eq!(part("diss-32nm", StoragePart::SharedBanks), Femtojoules(96_800));
    let total = |name: &str| named(name).energy(&unified, &counts).unwrap().total().0;
    assert_eq!(total("micro12-32nm") - 96_800 - 106_480, 5_234_000_000_000);
    // 0.91008 instead of 0.2 W for 0.86 ms.
    assert_eq!(total("micro12-32nm-as-printed") - total("micro12-32nm"), 610_668_800_000);
}

#[test]
fn what_has_no_energy_is_said_with_the_technology() {
    let unified = StorageConfiguration::of(Division::micro12_unified(192));
    let none = named("micro12-32nm").energy(&unified, &StorageCounts::default()).unwrap_err();
    assert_eq!(
        none.to_string(),
        "technology `micro12-32nm`: no energy is known of a bank of 6144 bytes, of which 32 hold \
         registers"
    );
    let still = StorageTechnology { sram_leakage_kb: 0, ..(**named("diss-32nm")).clone() };
    let none = still.energy(&unified, &StorageCounts::default()).unwrap_err().to_string();
    assert!(none.contains("is 0"), "{none}");
}

#[test]
fn a_file_says_each_value_with_its_source() {
    let technology = parse("t.toml", FORMAT).unwrap();
    let values = technology.values();
    assert_eq!(values.len(), 10);
    assert_eq!(values[0], ("clock".to_owned(), "1 GHz".to_owned(), "our design"));
    assert_eq!(values[3].1, "11.3 mW for 12 KB");
    assert_eq!(values[4].1, "40 pJ/bit");
    assert_eq!(values[5].1, "10 %");
    assert_eq!(values[9].0, "bank of 12 KB, write");
    assert_eq!(values[9].1, "14.9 pJ");
    assert!(values[9].2.starts_with("run 3"));
    assert_eq!(technology.bank(8).unwrap().read.value.0, Femtojoules(9_800));
    assert!(technology.bank(4).is_none());
}

#[test]
fn what_is_wrong_is_said_with_file_key_and_unit() {
    let error = |text: &str| {
        let error = parse("t.toml", text).unwrap_err();
        format!("{error}\n{}", error.hint().unwrap_or_default())
    };
    let with = |from: &str, to: &str| {
        assert!(FORMAT.contains(from), "{from}");
        error(&FORMAT.replacen(from, to, 1))
    };
    let (head, _) = FORMAT.split_once("[[bank]]").unwrap();
    for (found, parts) in [
        (with("1.9 W", "1.9 pJ"), ["t.toml:6:", "the units are `nW`, `uW`, `mW`, `W`"]),
        (with("10 %", "10"), ["t.toml:11:", "the units are `ppm`, `%`"]),
        (with("10 %", "1001 %"), ["t.toml:11:", "the most is 10000000 ppm"]),
        (with("40 pJ/bit", "40 pJ"), ["t.toml:10:", "the units are `aJ/bit`, `fJ/bit`, `pJ/bit`"]),
        (with("1 GHz", "0 GHz"), ["t.toml:5:11: ", "1 kHz and more"]),
        (with("= 12 ", "= 0 "), ["t.toml:9:1: `sram_leakage_kb = 0`", "1 to 1048576 KB"]),
        (with("MICRO'12 Table 3", " "), ["t.toml:6:35: ", "core_dynamic.source"]),
        (with("capacity_kb = 8", "capacity_kb = 0"), ["t.toml:14:1: ", "`bank.0.capacity_kb = 0`"]),
        (
            with("capacity_kb = 8", "capacity_kb = 12"),
            ["t.toml:19:1: `bank.1.capacity_kb = 12` is there twice", "one `[[bank]]`"],
        ),
        (
            with("run 2, Total dynamic write energy per access", ""),
            ["t.toml:16:30: ", "bank.0.write.source"],
        ),
        (with("capacity_kb = 8\n", ""), ["`capacity_kb` is missing", "t.toml:13:"]),
        (
            with("sram_leakage_kb", "sram_leakage_kB"),
            ["there is no key `sram_leakage_kB` here", "did you"],
        ),
        (with("\"mine\"", "\"warrf\""), ["built-in technology", "call it something else"]),
        (with("\"mine\"", "\"diss-32nm\""), ["t.toml:1:1: ", "built-in technology"]),
        (with("\"mine\"", "\"my own\""), ["t.toml:1:1: ", "plain word"]),
        (error(&format!("bank = []\n{head}")), ["t.toml:1:1: ", "at least one `[[bank]]`"]),
        (error(head), ["`bank` is missing", "t.toml:1:1: "]),
    ] {
        for part in parts {
            assert!(found.contains(part), "{part}: {found}");
        }
    }
    assert!(matches!(load(Path::new("/none/t.toml")), Err(ConfigError::Unreadable { .. })));
}
