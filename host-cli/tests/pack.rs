//! A pack of PTX in the style of public suites: every file is accepted, nearly every kernel runs.
//!
//! `pack/` holds our own sources. `NAME-BUILD.ptx` is what nvcc makes of `NAME.cu` with the
//! arguments that `xtask/src/commands/nvcc.rs` lists for the build; `cargo xtask nvcc` compiles
//! them again and compares. Files without a build in their names are written by hand: PTX of old
//! and of other compilers, and what nvcc does not write.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use strata_compiler::CompileOptions;
use strata_ptx::module::FunctionId;
use strata_ptx::{Parsed, parse};
use strata_simt::Device;
use strata_workload::decoded::Decoded;
use strata_workload::launch_template;
use strata_workload::{Options, Overrides, Prepared, Workload};

/// Kernels that do not run, and why: at most one in a hundred.
const REFUSED: &[(&str, &str, &str)] =
    &[("refused.ptx", "warpgroup", "the opcode `wgmma` is not known")];

/// Kernels whose template does not run as it is, and what stops it.
const TO_CORRECT: &[(&str, &str, &str)] = &[
    ("refused.ptx", "warpgroup", "the opcode `wgmma` is not known"),
    // Its handles come from a buffer.
    ("texture_bindless-75.ptx", "chosen", "is not the handle of a texture"),
    ("texture_bindless-75_debug.ptx", "chosen", "is not the handle of a texture"),
];

/// Most warp instructions of a kernel with its template.
const BUDGET: u64 = 1_000_000;

struct File {
    name: String,
    text: String,
    parsed: Parsed,
}

impl File {
    fn kernels(&self) -> impl Iterator<Item = (FunctionId, &str)> {
        self.parsed.module.kernels().map(|(id, function)| (id, function.name.as_str()))
    }
}

/// The names of the pack's files with this extension, in order.
fn names(extension: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pack");
    let entries = std::fs::read_dir(folder).expect("the pack is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = wanted.map(|path| name(&path)).collect();
    names.sort();
    names
}

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pack").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every PTX file, parsed without an error.
fn pack() -> Vec<File> {
    let files = names("ptx").into_iter().map(|name| {
        let text = text(&name);
        let parsed = parse(&text);
        let errors: Vec<_> = parsed.diagnostics.iter().map(|found| &found.message).collect();
        assert!(!parsed.has_errors(), "{name}: {errors:?}");
        File { name, text, parsed }
    });
    files.collect()
}

/// Files and kernels with what is wrong with each, in order.
type Listed = Vec<(String, String, String)>;

/// What is wrong with each kernel of the pack, of which there are so many.
fn wrong(of: impl Fn(&File, FunctionId, &str) -> Option<String> + Sync) -> (usize, Listed) {
    let files = pack();
    let pending =
        Mutex::new(files.iter().flat_map(|file| {
            file.kernels().map(move |(id, kernel)| (file, id, kernel.to_owned()))
        }));
    let next = || pending.lock().expect("no panic with the lock").next();
    let worker = || {
        let (mut count, mut listed) = (0, Listed::new());
        while let Some((file, id, kernel)) = next() {
            count += 1;
            if let Some(why) = of(file, id, &kernel) {
                listed.push((file.name.clone(), kernel, why));
            }
        }
        (count, listed)
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let parts: Vec<(usize, Listed)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    let count = parts.iter().map(|(count, _)| count).sum();
    let mut listed: Listed = parts.into_iter().flat_map(|(_, listed)| listed).collect();
    listed.sort();
    (count, listed)
}

/// Asserts that exactly the expected kernels are listed, each for its reason.
fn assert_listed(found: &Listed, expected: &[(&str, &str, &str)]) {
    let same = found.len() == expected.len()
        && found.iter().zip(expected).all(|((file, kernel, why), (as_file, as_kernel, reason))| {
            file == as_file && kernel == as_kernel && why.contains(reason)
        });
    assert!(same, "found {found:#?}\nexpected {expected:#?}");
}

#[test]
fn every_file_is_accepted_and_can_be_loaded() {
    let files = pack();
    assert!(files.len() >= 100, "{}", files.len());
    for File { name, parsed, .. } in files {
        assert!(parsed.module.kernels().next().is_some(), "{name}: no kernel");
        let mut device = Device::with_limit(parsed.module.address_bits, Device::DEFAULT_LIMIT);
        let loaded = device.load_module(&parsed.module);
        assert!(loaded.is_ok(), "{name}: {loaded:?}");
    }
}

/// By the function that `strata inspect` says "runs" with.
#[test]
fn at_most_one_kernel_in_a_hundred_does_not_run() {
    let (count, refused) = wrong(|file, id, _| {
        let Parsed { module, diagnostics } = &file.parsed;
        let decoded = Decoded::new(module, diagnostics, id, CompileOptions::default());
        let problem = decoded.problems.first().map(|problem| problem.message.clone());
        assert!(problem.is_some() || decoded.executable.is_some(), "{}", file.name);
        problem
    });
    assert!(count >= 250 && refused.len() * 100 <= count, "{} of {count}", refused.len());
    assert_listed(&refused, REFUSED);
}

/// What `strata launch-template` writes for each kernel is a launch file that runs as it is.
#[test]
fn kernels_run_from_their_templates() {
    let (count, stopped) = wrong(|file, id, kernel| {
        let made = launch_template::make(&file.name, &file.text, &file.parsed.module, id);
        let made = made.expect("it can be compiled");
        if let Some(fault) = made.fault {
            return Some(fault.to_string());
        }
        let ptx = (file.name.clone(), Cow::Owned(file.text.clone()));
        let launch = ("launch.toml".to_owned(), Cow::Owned(made.text));
        let workload = Workload::from_texts(kernel.to_owned(), ptx, launch);
        let run = workload.map_err(Into::into).and_then(|workload| {
            let prepared = Prepared::new(&workload, "default", &Overrides::new())?;
            let options = Options { max_instructions: BUDGET, ..Options::default() };
            prepared.execute(&options.recording_nothing(), |_| ())
        });
        run.err().map(|error| format!("alone, {error}"))
    });
    assert!(stopped.len() * 100 <= count, "{} of {count}", stopped.len());
    assert_listed(&stopped, TO_CORRECT);
}

#[test]
fn files_with_a_build_have_a_source() {
    let sources: BTreeSet<String> =
        names("cu").iter().map(|name| name.trim_end_matches(".cu").to_owned()).collect();
    let files = names("ptx");
    let built: BTreeSet<String> = files
        .iter()
        .filter_map(|name| name.split_once('-'))
        .map(|(source, _)| source.to_owned())
        .collect();
    assert_eq!(built, sources, "every source is compiled, and every build has a source");
    for name in files {
        let compiler = text(&name).contains("Generated by NVIDIA NVVM Compiler");
        assert_eq!(compiler, name.contains('-'), "{name}");
    }
}

/// Features and how each is written.
const FEATURES: &[(&str, &[&str])] = &[
    ("texture objects", &["tex.1d.v4.f32.f32", "tex.2d.v4.f32.f32", "tex.3d.v4.f32.f32"]),
    ("texels by index", &["tex.1d.v4.f32.s32"]),
    ("layers", &["tex.a1d.v4.f32.f32", "tex.a2d.v4.f32.f32"]),
    ("textures of integers", &["tex.2d.v4.s32.f32", "tex.level.2d.v4.u32.f32"]),
    ("gathering", &["tld4.r.2d", "tld4.g.2d", "tld4.b.2d", "tld4.a.2d"]),
    ("queries of images", &["txq.width", "txq.height", "txq.depth", "suq.width"]),
    ("surfaces", &["suld.b.1d", "suld.b.2d", "suld.b.3d", "suld.b.a2d"]),
    ("stores to surfaces", &["sust.b.1d", "sust.b.2d", "sust.b.3d"]),
    ("surfaces' borders", &["b32.trap", "b32.clamp", "b32.zero"]),
    ("references", &[".global .texref", ".global .surfref", ".global .samplerref", ".tex .u32"]),
    ("wmma of halves", &["m16n16k16.f32.f32", "m16n16k16.f16.f16", "m32n8k16", "m8n32k16"]),
    ("wmma of integers", &["m16n16k16.s32.s8.s8.s32", "m16n16k16.s32.u8.u8.s32"]),
    ("wmma of parts of bytes", &["m8n8k32.s32.s4.s4.s32", "m8n8k128.s32.b1.b1.s32"]),
    ("wmma of wide types", &["f32.bf16.bf16.f32", "m16n16k8.f32.tf32.tf32", "m8n8k4.f64.f64"]),
    ("mma", &["m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f16"]),
    ("mma of wide types", &["m16n8k16.row.col.f32.bf16", "m16n8k8.row.col.f32.tf32"]),
    ("mma of doubles", &["mma.sync.aligned.m8n8k4.row.col.f64"]),
    ("mma of integers", &["m16n8k32.row.col.s32.s8.s8", "m16n8k64.row.col.s32.s4.u4"]),
    ("mma of bits and fp8", &["xor.popc", "and.popc", "f32.e4m3.e5m2.f32"]),
    ("matrices in shared memory", &["ldmatrix", "ldmatrix.sync.aligned.m8n8.x1.trans"]),
    ("matrices between lanes", &["stmatrix", "movmatrix"]),
    ("fp8", &["cvt.rn.satfinite.e4m3x2", "e5m2x2.f32", "cvt.rn.f16x2.e4m3x2"]),
    ("asynchronous copies", &["cp.async.ca.shared", "cp.async.cg.shared", "commit_group"]),
    ("waiting for copies", &["cp.async.wait_group", "cp.async.wait_all", "arrive.noinc"]),
    ("barriers in memory", &["mbarrier.init", "mbarrier.arrive", "mbarrier.test_wait"]),
    ("more barriers in memory", &["mbarrier.try_wait", "pending_count", "mbarrier.inval"]),
    ("redux", &["redux.sync.add.s32", "redux.sync.min.u32", "redux.sync.xor.b32"]),
    ("policies", &["createpolicy.fractional", "createpolicy.range", "createpolicy.cvt"]),
    ("hints", &["L2::cache_hint", "L1::no_allocate", "applypriority", "discard.global.L2"]),
    ("vector registers", &[".reg .v4 .f32", ".reg .v2 .u32", ".param .align 16 .v4 .f32"]),
    ("wide moves", &["mov.v8.b32", "mov.v4.b32", "mov.v2.u32", "mov.b64 {"]),
    ("calls through registers", &[".callprototype", ".calltargets", "call (%r5), %rd3"]),
    ("addresses of functions", &[".u64 functions[2] = {scaled, other}"]),
    ("the heap", &["malloc", "free"]),
    ("variables of functions", &["\t.global .align 4 .u32 calls = 7"]),
    ("arithmetic in operands", &["temp + 1", "[temp + 2 * 4]", "%percent + 1, _under - 2"]),
    ("video instructions", &["vabsdiff2.", "vabsdiff4.", "vadd2.", "vset4.", "vmad."]),
    ("old prototypes", &["helper (.reg .f32 %f1, .reg .u32 %n)\n\t.func"]),
    ("registers of modules", &[".reg .b32 %shared_by_all"]),
    ("narrow addresses", &[".address_size 32", ".version 1.4"]),
    ("traps and assertions", &["trap;", "__assertfail", "brkpt"]),
    ("printf", &["vprintf"]),
    ("halves of words", &["add.s16x2", "max.u16x2"]),
    ("branches by table", &["brx.idx"]),
    ("clusters", &["barrier.cluster", "%cluster_ctarank", "griddepcontrol"]),
    ("lines of CUDA", &[".loc", "inlined_at", ".section\t.debug_info"]),
    ("machines", &["sm_10", "sm_13", "sm_20", "sm_30", "sm_75", "sm_80", "sm_86", "sm_89"]),
    ("later machines", &["sm_90", "sm_100", "sm_120"]),
];

#[test]
fn the_pack_has_every_feature() {
    let texts: Vec<String> = names("ptx").iter().map(|name| text(name)).collect();
    let has = |word: &&&str| !texts.iter().any(|text| text.contains(**word));
    let lacking = |(feature, words): &(&str, &[&str])| {
        let words: Vec<&str> = words.iter().filter(has).copied().collect();
        (!words.is_empty()).then(|| format!("{feature}: {}", words.join(", ")))
    };
    let lacking: Vec<String> = FEATURES.iter().filter_map(lacking).collect();
    assert!(lacking.is_empty(), "{lacking:#?}");
}
