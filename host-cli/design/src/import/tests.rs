//! Whole outputs, in the form in which the programs print them, with numbers of our own.

use super::*;
use crate::memory::{MainMemory, file};
use strata_config::quantity::Frequency;

const NVSIM: &str = "
====================
DESIGN SPECIFICATION
====================
Design Target: Random Access Memory
Capacity   : 128KB
Data Width : 1024Bits (128Bytes)

Searching for the best solution that is optimized for write energy-delay-product ...
Memory Cell: MRAM (Magnetoresistive)
Cell Area (F^2)    : 40 (6.3245Fx6.3245F)
Cell Aspect Ratio  : 1.000

=============
   RESULT
=============
Area:
 - Total Area = 230.5um x 298.2um = 68735.1um^2
 |--- Mat Area      = 115.2um x 298.2um = 34352.6um^2   (61.2%)
Timing:
 -  Read Latency = 880ps
 |--- H-Tree Latency = 101.4ps
 - Write Latency = 4.12ns
 - Read Bandwidth  = 160.2GB/s
Power:
 -  Read Dynamic Energy = 430.08pJ
 |--- H-Tree Dynamic Energy = 20.1pJ
 - Write Dynamic Energy = 0.73728nJ
 |--- H-Tree Dynamic Energy = 20.1pJ
 - Leakage Power = 4.8mW
 |--- H-Tree Leakage Power = 0pW
";

const CACTI: &str = "
---------- CACTI version 7.0, Uniform Cache Access SRAM Model ----------

Cache Parameters:
    Total cache size (bytes): 131072
    Number of banks: 16
    Associativity: direct mapped
    Block size (bytes): 128
    Read/write Ports: 1
    Technology size (nm): 22

    Access time (ns): 0.69
    Cycle time (ns):  0.51
    Total dynamic read energy per access (nJ): 0.37888
    Total dynamic write energy per access (nJ): 0.32768
    Total leakage power of a bank (mW): 24.5
    Total gate leakage power of a bank (mW): 0.5
    Cache height x width (mm): 0.5 x 0.5125

    Best Ndwl : 1
";

fn wanted() -> Wanted {
    Wanted {
        name: "imported".to_owned(),
        file: "runs/out \"1\".txt".to_owned(),
        tool: None,
        kind: None,
        banks: None,
        bits: None,
    }
}

/// What is asked for of an output of CACTI, which does not print that its access has 1,024 bits.
fn of_cacti() -> Wanted {
    Wanted { bits: Some(1024), ..wanted() }
}

/// What is asked for of one of the two outputs.
fn wanted_of(output: &str) -> Wanted {
    if output == NVSIM { wanted() } else { of_cacti() }
}

/// The memory of an imported file, which must be one that a design can name.
fn memory(output: &str, wanted: &Wanted) -> MainMemory {
    let text = import(output, wanted).unwrap();
    let technology = file::parse("t.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(technology.name, "imported");
    MainMemory::new(&technology, technology.kinds()[0]).unwrap()
}

#[test]
fn nvsim_gives_the_memory_it_printed() {
    let memory = memory(NVSIM, &Wanted { banks: Some(16), ..wanted() });
    assert_eq!(memory.kind, MemoryKind::Sttram);
    // 430.08 and 737.28 pJ over 1024 bits.
    assert_eq!(memory.bank_energy().read.0, 53_760);
    assert_eq!(memory.bank_energy().write.0, 92_160);
    assert_eq!(memory.cycles(Frequency(700_000)), (1, 3));
    let leakage = memory.leakage(128 * 1024, Frequency(700_000)).unwrap();
    assert_eq!((leakage.bank_nw, leakage.banks), (300_000, 16));
    assert_eq!(memory.area_um2(128 * 1024), Some(68_735));
    let values = memory.values();
    let (_, value, source) = &values[1];
    assert_eq!(value, "0.72 pJ/bit");
    assert_eq!(
        *source,
        "NVSim, runs/out \"1\".txt: Write Dynamic Energy = 0.73728nJ, of 1024 bits"
    );
    assert!(values[4].2.contains("Leakage Power = 4.8mW, divided among 16 banks"), "{values:?}");
}

#[test]
fn cacti_gives_the_memory_it_printed() {
    let memory = memory(CACTI, &of_cacti());
    assert_eq!(memory.kind, MemoryKind::Sram);
    assert_eq!((memory.bank_energy().read.0, memory.bank_energy().write.0), (47_360, 40_960));
    assert_eq!(memory.cycles(Frequency(700_000)), (1, 1));
    let leakage = memory.leakage(128 * 1024, Frequency(700_000)).unwrap();
    assert_eq!((leakage.bank_nw, leakage.banks), (25_000_000, 16));
    assert_eq!(memory.area_um2(128 * 1024), Some(256_250));
    let one = Wanted { banks: Some(1), ..of_cacti() };
    let text = import(CACTI, &one).unwrap();
    assert!(text.contains("value = \"400 mW\"") && text.contains("bank_kb = 128"), "{text}");
    assert!(
        text.contains("24.5, Total gate") && text.contains("0.5, 16 of them as 1 banks"),
        "{text}"
    );
}

/// CACTI 7.0 prints 0.0959951 nJ for 131,072 bytes behind a bus of 32 bits at 90 nm, in blocks of 64 and
/// of 128 bytes.
#[test]
fn energy_of_cacti_is_that_of_the_bits_of_its_bus() {
    let narrow = CACTI.replace("0.37888", "0.0959951");
    for block in [64, 128] {
        let output = narrow.replace("(bytes): 128\n", &format!("(bytes): {block}\n"));
        let memory = memory(&output, &Wanted { bits: Some(32), ..wanted() });
        // 2.9998 pJ for each of 128 bits.
        assert_eq!(memory.bank_energy().read.0, 383_980);
        let without = import(&output, &wanted()).unwrap_err();
        assert_eq!(without, ImportError::Bits { most: 8 * block });
        assert!(without.help().contains(&format!("at most {}", 8 * block)), "{}", without.help());
    }
    let of_nvsim = import(NVSIM, &of_cacti());
    assert_eq!(of_nvsim, Err(ImportError::OwnWidth));
}

/// The lines that CACTI 7.0 prints for arrays whose figures are not those of a RAM of SRAM cells.
#[test]
fn an_array_of_cacti_that_is_not_a_plain_ram_is_refused() {
    let direct = "Associativity: direct mapped";
    for (from, to, what) in [
        ("\nCache P", "array type                    : Cache\nCache P", "its tags"),
        ("Best Ndwl : 1", "Best Ndwl : 1\n    Best Ntwl : 2", "its tags"),
        (
            "Best Ndwl : 1",
            "Tag array, H-tree wire type: Global wires with 30% delay penalty",
            "its tags",
        ),
        ("Best Ndwl : 1", "Tag array:  Total dynamic read energy/access (nJ): 0.0174", "its tags"),
        ("Best Ndwl : 1", "Tag side (with Output driver) (ns): 0.71334", "its tags"),
        ("\nCache P", "array type                    : CAM\nCache P", "searched by contents"),
        (direct, "Associativity: fully associative", "searched by contents"),
        (direct, "Associativity: direct mapped\n    search ports: 1", "searched by contents"),
        ("\nCache P", "Model as memory               : 1\nCache P", "read by pages"),
        ("\nCache P", "Model as 3D memory       \t : 1\nCache P", "read by pages"),
        ("Access SRAM Model", "Access Logic Process Based DRAM Model", "refreshes"),
        ("\nCache P", "Data array cell type          : 3\nCache P", "refreshes"),
    ] {
        assert!(CACTI.contains(from), "{from}");
        for wanted in [wanted(), of_cacti()] {
            let message = import(&CACTI.replace(from, to), &wanted).unwrap_err().to_string();
            assert!(message.contains(what) && message.contains("line "), "{to}: {message}");
        }
    }
    let echo = "array type                    : Scratch RAM\nModel as memory               : 0\n\
                Data array cell type          : 0\nTag array cell type           : 0\nCache P";
    let plain = CACTI.replace("Cache P", echo);
    assert_eq!(import(&plain, &of_cacti()), import(CACTI, &of_cacti()));
}

#[test]
fn version_6_prints_no_energy_of_a_write() {
    let line = "    Total dynamic write energy per access (nJ): 0.32768\n";
    let gates = "    Total gate leakage power of a bank (mW): 0.5\n";
    let older = CACTI.replace("version 7.0", "version 6.5").replace(line, "").replace(gates, "");
    let memory = memory(&older, &of_cacti());
    assert_eq!(memory.bank_energy().write, memory.bank_energy().read);
    let values = memory.values();
    assert!(values[1].2.contains("no energy of a write: that of a read"), "{values:?}");
    let newer = CACTI.replace(line, "");
    let missing = ImportError::Missing("Total dynamic write energy per access (nJ):");
    assert_eq!(import(&newer, &of_cacti()), Err(missing));
}

/// Without any line that is needed there is one error, which names it.
#[test]
fn a_missing_line_is_named() {
    for (output, keys) in [
        (
            NVSIM,
            &[
                "Capacity   :",
                "Data Width :",
                "Read Dynamic Energy =",
                "Write Dynamic Energy =",
                "Read Latency =",
                "Write Latency =",
                "Leakage Power =",
                "Total Area =",
            ][..],
        ),
        (
            CACTI,
            &[
                "Total cache size (bytes):",
                "Number of banks:",
                "Block size (bytes):",
                "Access time (ns):",
                "Total dynamic read energy per access (nJ):",
                "Total leakage power of a bank (mW):",
                "Total gate leakage power of a bank (mW):",
                "Cache height x width (mm):",
            ][..],
        ),
    ] {
        for key in keys {
            assert!(output.contains(key), "{key}");
            let without: String = output
                .lines()
                .filter(|line| !line.contains(key))
                .fold(String::new(), |text, line| text + line + "\n");
            let error = import(&without, &wanted_of(output)).unwrap_err();
            assert_eq!(error.to_string(), format!("the line `{key}` is missing"));
            assert!(!error.help().is_empty());
        }
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let nvsim = |from: &str, to: &str| {
        assert!(NVSIM.contains(from), "{from}");
        import(&NVSIM.replace(from, to), &wanted()).unwrap_err().to_string()
    };
    for (message, part) in [
        (
            nvsim("430.08pJ", "430.08"),
            "line 26, `Read Dynamic Energy = 430.08`: its unit is none of `pJ`",
        ),
        (nvsim("880ps", "nanps"), "no plain decimal number"),
        (nvsim("1024Bits", "0Bits"), "no number of `Bits`"),
        (nvsim("4.8mW", "-4.8mW"), "no plain decimal number"),
        (nvsim("68735.1um^2", "68735.1"), "none of `nm^2`"),
        (nvsim("128KB", "9e29GB"), "too large"),
        (nvsim("128KB", "0KB"), "no whole number of kilobytes"),
        (nvsim("Memory Cell: MRAM", "Memory Cell: PCRAM"), "whether it is SRAM or STT-RAM"),
        (nvsim("4.12ns", "999999999999999999s"), "too large"),
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let cacti = |from: &str, to: &str| {
        assert!(CACTI.contains(from), "{from}");
        import(&CACTI.replace(from, to), &of_cacti()).unwrap_err().to_string()
    };
    for (message, part) in [
        (cacti("banks: 16", "banks: 0"), "`Number of banks: 0`: it is 0"),
        (cacti("0.5 x 0.5125", "0.5"), "no `x` between height and width"),
        (cacti("131072", "100000"), "no whole number of kilobytes for each of 16 banks"),
        (cacti("(bytes): 128\n", "(bytes): 9223372036854775807\n"), "too many digits"),
        (cacti("(bytes): 128\n", "(bytes): 64\n"), "1024 bits is wider than a block of 512 bits"),
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(import("some text", &wanted()), Err(ImportError::Unknown));
    let as_nvsim = Wanted { tool: Some(Tool::NvSim), ..wanted() };
    assert_eq!(import("some text", &as_nvsim), Err(ImportError::Missing("Capacity   :")));
    let as_sram = Wanted { kind: Some(MemoryKind::Sram), ..wanted() };
    assert!(import(NVSIM, &as_sram).unwrap().contains("[sram]"));
}

/// No text makes the reader do anything but answer: every prefix, and every line replaced.
#[test]
fn damaged_outputs_are_answered() {
    for output in [NVSIM, CACTI] {
        for end in 0..=output.len() {
            let _ = import(&output[..end], &wanted_of(output));
        }
        for (number, junk) in [("430.08pJ", "3e20J"), ("4.8mW", "18.4e9W"), ("0.5 x", "1.8e13 x")] {
            let _ = import(&output.replace(number, junk), &wanted_of(output));
        }
        for (number, junk) in
            [("0.37888", "3e29"), ("24.5", "18.4e12"), ("128\n", "2305843009213693951\n")]
        {
            let _ = import(&output.replace(number, junk), &wanted_of(output));
        }
        for junk in ["", "=", "= e", "= 1e", "(ns): 1e+", ": 18446744073709551616", "x"] {
            for place in 0..output.lines().count() {
                let lines = output.lines().enumerate();
                let damaged: Vec<String> = lines
                    .map(|(index, line)| {
                        let cut = line.len() / 2;
                        if index == place { line[..cut].to_owned() + junk } else { line.to_owned() }
                    })
                    .collect();
                let _ = import(&damaged.join("\n"), &wanted_of(output));
            }
        }
    }
}

/// CACTI with what it prints about single arrays, which repeats keys of the whole.
fn detailed() -> String {
    format!(
        "{CACTI}\nTime Components:\n\n  Data side (with Output driver) (ns): 0.6\n\n\
         Power Components:\n\n  Data array: Total dynamic read energy/access  (nJ): 0.2\n\
         \tTotal leakage power of a bank (mW): 20\n\tDecoder (nJ): 0.01\n\n\
         Area Components:\n\n  Data array: Area (mm2): 0.2\n\tHeight (mm): 0.5\n"
    )
}

#[test]
fn a_figure_of_one_array_is_not_that_of_the_whole() {
    assert_eq!(import(&detailed(), &of_cacti()), import(CACTI, &of_cacti()));
    let line = "    Total leakage power of a bank (mW): 24.5\n";
    let without = import(&detailed().replace(line, ""), &of_cacti());
    assert_eq!(without, Err(ImportError::Missing("Total leakage power of a bank (mW):")));
    // Every figure that is read is one of the summary.
    for line in CACTI.lines().filter(|line| line.starts_with("    ") && line.contains(": ")) {
        let moved = detailed().replacen(line, "", 1) + line + "\n";
        let read = ["cache size", "banks", "Block", "Access", "per access", "leakage", "height"];
        let needed = read.iter().any(|key| line.contains(key));
        assert_eq!(import(&moved, &of_cacti()).is_err(), needed, "{line}");
    }
}

/// Every line that is read, printed twice, with the same and with another value.
#[test]
fn a_figure_that_is_there_twice_is_refused() {
    for output in [NVSIM, CACTI] {
        let lines = output.lines().filter(|line| {
            let own = line.contains("Read L") || line.contains("Write L") || !line.contains("|---");
            own && line.contains(['=', ':']) && !line.contains("Area:") && !line.contains("==")
        });
        let mut refused = 0;
        for line in lines {
            let twice = output.replace(line, &format!("{line}\n{line}"));
            let Err(error) = import(&twice, &wanted_of(output)) else { continue };
            let message = error.to_string();
            assert!(message.contains("the same figure is in line"), "{line}: {message}");
            refused += 1;
        }
        // NVSim's eight figures and its kind; CACTI's nine.
        assert_eq!(refused, 9, "{output}");
    }
}

#[test]
fn a_line_that_the_program_does_not_print_is_refused() {
    for (output, program) in [(NVSIM, "NVSim"), (CACTI, "CACTI")] {
        for line in ["$ cat out.txt", "Total leakage: 3", "\u{1b}[31m", " - Read Latencies = 3ps"] {
            let places = [0, 7, output.lines().count()];
            for place in places {
                let mut lines: Vec<&str> = output.lines().collect();
                lines.insert(place, line);
                let message =
                    import(&lines.join("\n"), &wanted_of(output)).unwrap_err().of("o.txt");
                let expected = format!("{program} prints no such line");
                assert!(message.contains(&expected), "{line}: {message}");
                assert!(message.starts_with(&format!("o.txt:{}:1: ", place + 1)), "{message}");
            }
        }
    }
}

/// Each number of the output, written as other countries, programs and mishaps do.
#[test]
fn numbers_of_another_kind_are_refused() {
    for (output, numbers) in [
        (NVSIM, ["430.08pJ", "0.73728nJ", "880ps", "4.12ns", "4.8mW", "68735.1um^2"]),
        (CACTI, ["0.37888", "0.32768", " 0.69", "24.5", " 0.5\n", "0.5125"]),
    ] {
        for number in numbers {
            assert!(output.contains(number), "{number}");
            let start = number.find(|c: char| c.is_ascii_digit()).unwrap();
            let spoilt = |digits: &str| number[..start].to_owned() + digits + &number[start..];
            for junk in [
                spoilt("-"),
                spoilt("1,"),
                spoilt("1'"),
                spoilt("nan "),
                spoilt("inf"),
                spoilt("+"),
                number.replace('.', ",") + "x",
                format!("{} 3", number.trim_end()),
                format!("{}e", number.trim_end()),
                format!("{} (typ.)", number.trim_end()),
            ] {
                let result = import(&output.replace(number, &junk), &wanted_of(output));
                assert!(result.is_err(), "{number} as {junk}: {result:?}");
            }
        }
    }
    let dozen = NVSIM.replace("1024Bits (128Bytes)", "1024Bits (64Bytes)");
    assert!(import(&dozen, &wanted()).is_err());
}

#[test]
fn the_format_is_a_technology() {
    let technology = file::parse("format.toml", FORMAT).unwrap();
    assert_eq!(technology.kinds(), [MemoryKind::Sttram]);
    assert!(technology.write_pool_energy().is_ok());
    assert_eq!(technology.sttram.as_ref().unwrap().cell_area_f2, Some(40));
}
