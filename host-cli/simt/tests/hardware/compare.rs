//! Our results beside a GPU's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use strata_ptx::types::ScalarType;
use strata_simt::{Device, Launch, execute, prepare};

use crate::cases::{BLOCK, Case, Group, cases};
use crate::inputs::{THREADS, digest};
use crate::known;
use crate::page::{self, Rows};

/// Bytes that the threads of a case store.
fn stored(case: &Case) -> usize {
    8 * THREADS * case.outputs.len()
}

/// What this machine makes of each case: the bytes of its results, or why it is refused.
fn results(group: &Group, arrays: &[u64]) -> Vec<Result<Vec<u8>, String>> {
    let text = Group::module(&group.cases);
    let parsed = strata_ptx::parse(&text);
    let errors: Vec<String> = parsed.diagnostics.iter().map(|d| d.message.clone()).collect();
    assert!(!parsed.has_errors(), "{}: {errors:#?}", group.opcode);
    let mut device = Device::with_limit(64, Device::DEFAULT_LIMIT);
    let bytes: Vec<u8> = arrays.iter().flat_map(|value| value.to_le_bytes()).collect();
    let input = device.alloc("in", bytes.len() as u64, 256).expect("memory");
    device.write(input, &bytes).expect("just allocated");
    let most = group.cases.iter().map(stored).max().unwrap_or(0);
    let output = device.alloc("out", most as u64, 256).expect("memory");
    let zeros = vec![0; most];
    let mut run = |number: usize, case: &Case| {
        let kernel = parsed.module.kernel(&format!("k{number}")).expect("it was written");
        let options = strata_compiler::CompileOptions::default();
        let said = |problems: Vec<strata_ptx::diagnostic::Diagnostic>| problems[0].message.clone();
        let program = strata_compiler::compile(&parsed.module, kernel, options).map_err(said)?;
        let executable = prepare(&parsed.module, &program).map_err(said)?;
        device.write(output, &zeros).expect("just allocated");
        let object = case.texture.as_ref().map_or(0, |case| case.create(&mut device, input));
        let launch = Launch {
            arguments: [output, input, object].iter().flat_map(|v| v.to_le_bytes()).collect(),
            max_instructions: 1_000_000,
            record_accesses: false,
            ..Launch::new([(THREADS / BLOCK) as u32, 1, 1], [BLOCK as u32, 1, 1])
        };
        execute(&mut device, &executable, &launch).map_err(|fault| format!("{fault:?}"))?;
        Ok(device.read(output, stored(case) as u64).expect("just allocated").to_vec())
    };
    group.cases.iter().enumerate().map(|(number, case)| run(number, case)).collect()
}

/// The digest of a case's results. PTX leaves open which NaN it is that a result is, so all are one.
fn digest_of(case: &Case, bytes: &[u8]) -> u32 {
    let values = bytes.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
    let types = case.outputs.iter().cycle();
    let bits = values.zip(types).flat_map(|(value, &ty)| canonical(value, ty).to_le_bytes());
    let digest = digest(bits);
    digest as u32 ^ (digest >> 32) as u32
}

/// Makes every NaN of a value of a type the same.
fn canonical(value: u64, ty: ScalarType) -> u64 {
    let parts = |width: u32, infinity: u64| {
        (0..64 / width).fold(0, |all, part| {
            let own = value >> (part * width) & (u64::MAX >> (64 - width));
            let magnitude = own & (u64::MAX >> (65 - width));
            let own = if magnitude > infinity { u64::MAX >> (65 - width) } else { own };
            all | own << (part * width)
        })
    };
    match ty {
        ScalarType::F16 | ScalarType::F16x2 => parts(16, 0x7c00),
        ScalarType::Bf16 | ScalarType::Bf16x2 => parts(16, 0x7f80),
        ScalarType::F32 | ScalarType::Tf32 => parts(32, 0x7f80_0000),
        ScalarType::F64 => parts(64, 0x7ff0_0000_0000_0000),
        _ => value,
    }
}

/// Writes modules, inputs and a list of the kernels into a folder, for `capture.py`.
fn write_cases(folder: &Path) {
    let (groups, arrays) = cases();
    std::fs::create_dir_all(folder).expect("a folder can be made");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    let bytes: Vec<u8> = arrays.iter().flat_map(|value| value.to_le_bytes()).collect();
    write("inputs.bin", &bytes);
    let mut list = String::new();
    for group in &groups {
        let opcode = group.opcode;
        write(&format!("{opcode}.ptx"), Group::module(&group.cases).as_bytes());
        for (number, case) in group.cases.iter().enumerate() {
            let texture = case.texture.as_ref().map_or(String::new(), ToString::to_string);
            let outputs = case.outputs.len();
            let _ = writeln!(list, "{opcode}\tk{number}\t{outputs}\t{}\t{texture}", case.name);
        }
    }
    write("cases.tsv", list.as_bytes());
}

/// The file with a GPU's digests.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hardware/gpu.txt")
}

/// Makes that file of what `capture.py` brought, and says which cases differ and where first.
fn take(folder: &Path) {
    let read = |name: &str| {
        std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let device = String::from_utf8(read("device.txt")).expect("text");
    let states = String::from_utf8(read("kernels.tsv")).expect("text");
    let ran: BTreeSet<(&str, &str)> =
        states.lines().filter_map(|line| line.strip_suffix("\tran")?.split_once('\t')).collect();
    let mut text = format!("# {}: digests of results, by instruction.\n", device.trim());
    let (groups, arrays) = cases();
    for group in &groups {
        let bytes = read(&format!("{}.gpu", group.opcode));
        let mut rest = bytes.as_slice();
        for ((number, case), ours) in group.cases.iter().enumerate().zip(results(group, &arrays)) {
            let (own, others) = rest.split_at(stored(case));
            rest = others;
            let kernel = format!("k{number}");
            if !ran.contains(&(group.opcode, kernel.as_str())) {
                continue;
            }
            let theirs = digest_of(case, own);
            let _ = writeln!(text, "{theirs:08x} {}", case.name);
            match ours {
                Ok(ours) if digest_of(case, &ours) == theirs => {}
                Ok(ours) => println!("{}: {}", case.name, difference(case, &ours, own)),
                Err(message) => println!("{}: {message}", case.name),
            }
        }
    }
    std::fs::write(recorded(), text).expect("the file can be written");
}

/// The number of threads with another result, and the first of them.
fn difference(case: &Case, ours: &[u8], theirs: &[u8]) -> String {
    let each = 8 * case.outputs.len();
    let words = |bytes: &[u8]| -> Vec<u64> {
        let words = bytes.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
        words.zip(&case.outputs).map(|(value, &ty)| canonical(value, ty)).collect()
    };
    let pairs = ours.chunks(each).zip(theirs.chunks(each)).enumerate();
    let pairs = pairs.map(|(thread, (a, b))| (thread, words(a), words(b)));
    let different: Vec<_> = pairs.filter(|(_, a, b)| a != b).collect();
    let first = different.first().map(|(thread, a, b)| format!("thread {thread}: {a:x?} {b:x?}"));
    format!("{} threads, {}", different.len(), first.unwrap_or_default())
}

/// The GPU, and its digests by name.
fn read_recorded() -> (String, BTreeMap<String, u32>) {
    let text = std::fs::read_to_string(recorded()).expect("the file of digests is there");
    let device = text.trim_start_matches("# ").split(',').next().unwrap_or_default().to_owned();
    let pair = |line: &str| {
        let (digest, name) = line.split_once(' ')?;
        Some((name.to_owned(), u32::from_str_radix(digest, 16).ok()?))
    };
    (device, text.lines().filter_map(pair).collect())
}

#[test]
fn results_are_those_of_a_gpu() {
    if let Some(folder) = std::env::var_os("STRATA_HARDWARE_CASES") {
        return write_cases(folder.as_ref());
    }
    if let Some(folder) = std::env::var_os("STRATA_HARDWARE_RESULTS") {
        return take(folder.as_ref());
    }
    let (device, recorded) = read_recorded();
    let mut rows = Rows::new();
    let (groups, arrays) = cases();
    let (mut equal, mut wrong) = (0, Vec::new());
    let mut differing: BTreeMap<&str, usize> = BTreeMap::new();
    for group in &groups {
        for (case, ours) in group.cases.iter().zip(results(group, &arrays)) {
            let row = rows.entry(page::key(&case.name)).or_default();
            if let Err(message) = &ours {
                row.refusals += 1;
                row.refused.insert(page::said(message));
            }
            let Some(&theirs) = recorded.get(&case.name) else {
                row.executed += usize::from(ours.is_ok());
                continue;
            };
            match (ours, known::difference(group.opcode, &case.name)) {
                (Ok(ours), _) if digest_of(case, &ours) == theirs => {
                    equal += 1;
                    row.equal += 1;
                }
                (ours, Some(reason)) => {
                    *differing.entry(reason).or_default() += 1;
                    row.differing += usize::from(ours.is_ok());
                }
                (Ok(_), None) => wrong.push(format!("{}: other bits than the GPU", case.name)),
                (Err(message), None) => wrong.push(format!("{}: {message}", case.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    let differing: Vec<(&str, usize)> = differing.into_iter().collect();
    assert_eq!((equal, differing), known::counts(), "equal cases, and others by their reason");
    let others = page::others(&rows);
    page::check(&page::page(&rows, &others, &device));
}
