//! Every built-in workload, executed and compared with its host reference: both sizes, and the PTX
//! of every toolchain.

use strata_compiler::{CompileOptions, Order, RegisterLimit};
use strata_core::sm::config::{Launch, SmConfig};
use strata_design as design;
use strata_measure::notes::Silent;
use strata_measure::options::{Scale, Source};
use strata_measure::{Request, SpillTraffic, reports};
use strata_workload::{Options, Overrides, Prepared, RunError, Toolchain, Workload, all_names};

/// What a run did, summed over its launches.
struct Run {
    launches: u64,
    warp_instructions: u64,
    finals: Vec<Vec<u8>>,
    traffic: SpillTraffic,
}

/// Runs one workload and asserts that its results are right.
fn run(name: &str, toolchain: Toolchain, size: &str) -> Run {
    run_as(name, toolchain, size, CompileOptions::default())
}

/// Runs one workload as compiled with `options` and asserts that its results are right.
fn run_as(name: &str, toolchain: Toolchain, size: &str, options: CompileOptions) -> Run {
    let CompileOptions { registers, .. } = options;
    let mut workload = Workload::builtin(name, toolchain).expect(name);
    workload.options = options;
    let prepared = Prepared::new(&workload, size, &Overrides::new())
        .unwrap_or_else(|error| panic!("{name} by {}: {error}", toolchain.name()));
    for program in &prepared.programs {
        let limit = registers.map_or(u16::MAX, RegisterLimit::get);
        assert!(program.general_registers <= limit, "{name}: {}", program.name);
    }
    let mut run = Run {
        launches: 0,
        warp_instructions: 0,
        finals: Vec::new(),
        traffic: SpillTraffic::default(),
    };
    run.finals = prepared
        .execute(&Options::default(), |record| {
            assert_eq!(record.index, run.launches);
            assert_eq!(record.program.name, record.kernel);
            let warps: u64 = record.outcome.paths.iter().map(|(_, count)| count).sum();
            assert_eq!(warps, record.outcome.warps);
            run.launches += 1;
            run.traffic.add(record.program, &record.outcome.paths);
            run.warp_instructions += record.outcome.warp_instructions;
        })
        .unwrap_or_else(|error| panic!("{name} by {}: {error}", toolchain.name()));
    let comparisons = prepared.compare(&run.finals).expect(name).expect("has a check");
    for comparison in comparisons {
        assert_eq!(comparison.mismatches, 0, "{name} by {}: {comparison}", toolchain.name());
    }
    run
}

/// Sizes have to stay in the ranges that docs/WORKLOADS.md promises.
fn small(name: &str) {
    let [nvcc, others @ ..] = Toolchain::ALL.map(|toolchain| run(name, toolchain, "small"));
    println!(
        "{name}: {} warp instructions, others {:?}",
        nvcc.warp_instructions,
        others.each_ref().map(|run| run.warp_instructions)
    );
    assert!(
        (10_000..=100_000).contains(&nvcc.warp_instructions),
        "{name} executes {} warp instructions",
        nvcc.warp_instructions
    );
    assert!(others.iter().all(|run| run.launches == nvcc.launches), "{name}");
}

/// Spilled code computes what the host computes; how many more instructions it executes than
/// without spilling is what its profile says, and no less with fewer registers.
fn spilled(name: &str) {
    for toolchain in Toolchain::ALL {
        let whole = run(name, toolchain, "small");
        for registers in [16, 18, 24, 32] {
            let limit = RegisterLimit::new(registers);
            let options = CompileOptions { registers: limit, ..CompileOptions::default() };
            let run = run_as(name, toolchain, "small", options);
            // Spilling moves values, and computes the same bits from them.
            assert!(run.finals == whole.finals, "{name} in {registers}");
            assert!(run.warp_instructions >= whole.warp_instructions, "{name} in {registers}");
            assert_eq!(run.traffic.executed, run.warp_instructions, "{name} in {registers}");
            assert_eq!(run.traffic.without(), whole.warp_instructions, "{name} in {registers}");
        }
    }
}

/// An order of instructions changes neither their number nor a bit of the results.
fn reordered(name: &str) {
    for toolchain in [Toolchain::Nvcc, Toolchain::Clang] {
        let own = run(name, toolchain, "small");
        for order in Order::ALL {
            let options = CompileOptions { registers: None, order };
            let run = run_as(name, toolchain, "small", options);
            assert!(run.finals == own.finals, "{name} in order {}", order.name());
            let counts = (run.launches, run.warp_instructions);
            assert_eq!(counts, (own.launches, own.warp_instructions), "{name}, {}", order.name());
        }
    }
}

fn default(name: &str) {
    let run = run(name, Toolchain::Nvcc, "default");
    println!("{name}: {} warp instructions, {} launches", run.warp_instructions, run.launches);
    assert!(
        (800_000..=8_000_000).contains(&run.warp_instructions),
        "{name} executes {} warp instructions",
        run.warp_instructions
    );
    // What is made of nvcc's is compared with it in `addresses.rs`.
    for toolchain in [Toolchain::Clang, Toolchain::Clang32] {
        let other = self::run(name, toolchain, "default");
        assert_eq!(other.launches, run.launches, "{name} by {}", toolchain.name());
    }
}

macro_rules! workloads {
    ($($name:ident),*) => {
        $(mod $name {
            #[test]
            fn matches_its_reference_with_every_toolchain_at_small_size() {
                super::small(stringify!($name));
            }

            #[test]
            fn matches_its_reference_when_it_spills() {
                super::spilled(stringify!($name));
            }

            #[test]
            fn matches_its_reference_in_every_order() {
                super::reordered(stringify!($name));
            }

            #[test]
            fn matches_its_reference_at_default_size() {
                super::default(stringify!($name));
            }
        })*

        #[test]
        fn no_workload_is_left_out() {
            let mut tested = vec![$(stringify!($name)),*];
            let mut built_in: Vec<&str> = all_names().collect();
            tested.sort_unstable();
            built_in.sort_unstable();
            assert_eq!(tested, built_in);
        }
    };
}

workloads!(
    vectoradd,
    matrixmul,
    reduction,
    scalarprod,
    hotspot,
    needle,
    bfs,
    srad,
    dct8x8,
    mandelbrot,
    nbody,
    histogram,
    cp,
    mriq,
    dgemm,
    sgemm,
    fft512,
    scan,
    bitonic,
    montecarlo,
    bilinear,
    needle16,
    needle32,
    needle64,
    lu,
    pcr,
    ray,
    suffixtree,
    sgemv,
    sobol,
    lbm,
    stencil,
    hotspot16,
    btree,
    convolution,
    xorwow,
    mergesort,
    quasirandom,
    pathgen
);

fn prepared(name: &str) -> Prepared {
    let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    Prepared::new(&workload, "small", &Overrides::new()).expect(name)
}

#[test]
fn integer_results_do_not_depend_on_the_toolchain() {
    let whole = ["vectoradd", "needle", "bfs", "mandelbrot", "histogram", "scan", "bitonic"];
    let of_storage = ["needle16", "needle32", "needle64", "ray", "suffixtree", "sobol"];
    let of_registers = ["btree", "xorwow", "mergesort", "quasirandom"];
    for name in whole.into_iter().chain(of_storage).chain(of_registers) {
        let [nvcc, others @ ..] = Toolchain::ALL.map(|toolchain| run(name, toolchain, "small"));
        assert!(others.iter().all(|run| run.finals == nvcc.finals), "{name}");
    }
}

#[test]
fn filters_choose_what_is_recorded_and_never_what_is_computed() {
    let prepared = prepared("srad");
    let all = prepared.execute(&Options::default(), |_| {}).expect("runs");
    let recorded = |options: &Options| {
        let mut recorded = Vec::new();
        let finals = prepared.execute(options, |record| {
            let warps = record.outcome.paths.warps().len();
            recorded.push((record.kernel.to_owned(), record.index, warps));
        });
        assert!(finals.expect("runs") == all);
        recorded
    };
    let kernel = Some("srad_update".to_owned());
    let by_kernel = recorded(&Options { kernel: kernel.clone(), ..Options::default() });
    assert_eq!(
        by_kernel.iter().map(|(name, index, _)| (name.as_str(), *index)).collect::<Vec<_>>(),
        [("srad_update", 4), ("srad_update", 8)]
    );
    let one = Options { kernel, launch_index: Some(8), cta: Some(3), ..Options::default() };
    assert_eq!(recorded(&one), [("srad_update".to_owned(), 8, 8)]);
}

#[test]
fn filters_that_choose_nothing_are_errors() {
    let prepared = prepared("matrixmul");
    let message = |options: Options| {
        prepared.execute(&options, |_| {}).expect_err("nothing is chosen").to_string()
    };
    assert_eq!(
        message(Options { kernel: Some("matmul".to_owned()), ..Options::default() }),
        "workload `matrixmul` launches no kernel `matmul`; it launches matrixmul"
    );
    assert_eq!(
        message(Options { launch_index: Some(1), ..Options::default() }),
        "workload `matrixmul` has no launch 1; there are 1"
    );
    assert_eq!(
        message(Options { cta: Some(9), ..Options::default() }),
        "workload `matrixmul` has no CTA 9; there are 9"
    );
}

#[test]
fn the_instruction_budget_covers_all_launches_together() {
    let prepared = prepared("hotspot");
    let mut each = Vec::new();
    prepared
        .execute(&Options::default(), |record| each.push(record.outcome.warp_instructions))
        .expect("runs");
    let total: u64 = each.iter().sum();
    let with = |max_instructions| {
        prepared.execute(&Options { max_instructions, ..Options::default() }, |_| {})
    };
    with(total).expect("just enough");
    match with(total - 1) {
        Err(RunError::Fault { index, .. }) => assert_eq!(index, each.len() as u64 - 1),
        other => panic!("expected the last launch to fail, got {other:?}"),
    }
}

/// Sizes at the edges of what the kernels handle: a workload and its parameters.
const EDGES: [(&str, &[(&str, i64)]); 60] = [
    ("matrixmul", &[("n", 33)]),
    ("needle", &[("n", 48)]),
    ("dct8x8", &[("columns", 8), ("rows", 16)]),
    ("hotspot", &[("columns", 1), ("rows", 1), ("steps", 3)]),
    ("srad", &[("columns", 17), ("rows", 3)]),
    ("nbody", &[("bodies", 1), ("steps", 1)]),
    ("histogram", &[("size", 5)]),
    ("vectoradd", &[("n", 1), ("ctas", 1)]),
    ("reduction", &[("n", 3), ("ctas", 200)]),
    ("scalarprod", &[("pairs", 3), ("length", 127), ("ctas", 5)]),
    ("bfs", &[("nodes", 2), ("edges", 1), ("source", 1)]),
    ("mandelbrot", &[("columns", 5), ("rows", 3), ("limit", 1)]),
    ("cp", &[("atoms", 1), ("columns", 129), ("rows", 1)]),
    ("mriq", &[("samples", 1), ("voxels", 1)]),
    ("dgemm", &[("m", 1), ("n", 1), ("k", 3)]),
    ("dgemm", &[("m", 32), ("n", 16), ("k", 4)]),
    ("sgemm", &[("m", 1), ("n", 1), ("k", 7)]),
    ("sgemm", &[("m", 64), ("n", 8), ("k", 8)]),
    ("fft512", &[("transforms", 1)]),
    ("scan", &[("n", 1)]),
    ("scan", &[("n", 2049)]),
    ("bitonic", &[("rows", 2), ("length", 1)]),
    ("bitonic", &[("rows", 3), ("length", 256)]),
    ("montecarlo", &[("walkers", 1), ("paths", 1), ("pairs", 1)]),
    ("bilinear", &[("columns", 1), ("rows", 1), ("width", 3), ("height", 2)]),
    ("needle16", &[("n", 16)]),
    ("needle64", &[("n", 64)]),
    ("lu", &[("n", 32)]),
    ("pcr", &[("systems", 2), ("length", 1)]),
    ("pcr", &[("systems", 1), ("length", 2)]),
    ("pcr", &[("systems", 3), ("length", 33)]),
    ("pcr", &[("systems", 2), ("length", 256)]),
    ("ray", &[("columns", 1), ("rows", 1), ("spheres", 1), ("bounces", 0)]),
    ("ray", &[("columns", 60), ("rows", 20), ("spheres", 30), ("bounces", 7)]),
    ("suffixtree", &[("text", 1), ("reads", 1), ("letters", 1)]),
    ("suffixtree", &[("text", 5), ("reads", 40), ("letters", 9)]),
    ("suffixtree", &[("text", 100), ("reads", 200), ("letters", 130)]),
    ("sgemv", &[("rows", 1), ("columns", 1)]),
    ("sgemv", &[("rows", 129), ("columns", 128)]),
    ("sobol", &[("dimensions", 1), ("count", 1)]),
    ("sobol", &[("dimensions", 2), ("count", 1025)]),
    ("lbm", &[("columns", 1), ("rows", 1), ("slabs", 1), ("steps", 3)]),
    ("lbm", &[("columns", 129), ("rows", 2), ("slabs", 1), ("steps", 1)]),
    ("stencil", &[("columns", 3), ("rows", 3), ("slabs", 3)]),
    ("stencil", &[("columns", 67), ("rows", 19), ("slabs", 4), ("steps", 3)]),
    ("hotspot16", &[("columns", 1), ("rows", 1), ("steps", 4)]),
    ("hotspot16", &[("columns", 13), ("rows", 25), ("steps", 8)]),
    ("btree", &[("records", 1), ("fill", 1), ("queries", 3)]),
    ("btree", &[("records", 1000), ("fill", 10), ("queries", 9)]),
    ("btree", &[("records", 5000), ("fill", 512), ("queries", 9)]),
    ("convolution", &[("columns", 1), ("rows", 1)]),
    ("convolution", &[("columns", 129), ("rows", 7)]),
    ("xorwow", &[("sequences", 1), ("skip", 0), ("matrices", 1)]),
    ("xorwow", &[("sequences", 33), ("skip", 2), ("matrices", 8)]),
    ("mergesort", &[("count", 1)]),
    ("mergesort", &[("count", 1025)]),
    ("quasirandom", &[("count", 1), ("ctas", 3)]),
    ("quasirandom", &[("count", 129), ("ctas", 1)]),
    ("pathgen", &[("paths", 1), ("steps", 1)]),
    ("pathgen", &[("paths", 257), ("steps", 2)]),
];

#[test]
fn results_depend_on_overrides_as_the_reference_says() {
    for (name, overrides) in EDGES {
        let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
        let overrides: Overrides =
            overrides.iter().map(|(parameter, value)| ((*parameter).to_owned(), *value)).collect();
        let prepared = Prepared::new(&workload, "small", &overrides).expect(name);
        let finals = prepared.execute(&Options::default(), |_| {}).expect(name);
        for comparison in prepared.compare(&finals).expect(name).expect("has a check") {
            assert_eq!(comparison.mismatches, 0, "{name}: {comparison}");
        }
    }
}

const TWO_KERNELS: &str = "\
.version 9.5
.target sm_75
.address_size 64
.global .texref image;

.visible .entry fill(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry sample(.param .u64 to, .param .u32 value)
{
    .reg .f32 %f<6>;
    .reg .b32 %r<2>;
    txq.channel_order.b32 %r1, [image];
    ret;
}
";

fn own(kernel: &str, threads: u32) -> Workload {
    let launch = format!(
        "description = \"two kernels\"\n[size.small]\nn = 40\n\
         [[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = \"n\"\ngenerator = \"zero\"\n\
         [[launch]]\nkernel = \"{kernel}\"\ngrid = [1]\nblock = [{threads}]\n\
         arguments = [\"out\", {{ u32 = 7 }}]\n"
    );
    let text = |name: &str, text: String| (name.to_owned(), text.into());
    Workload::from_texts(
        "own".to_owned(),
        text("own.ptx", TWO_KERNELS.to_owned()),
        text("own.toml", launch),
    )
    .expect("a good launch file")
}

#[test]
fn a_kernel_that_cannot_run_is_refused_only_when_it_is_launched() {
    let good = Prepared::new(&own("fill", 40), "small", &Overrides::new()).expect("compiles");
    let finals = good.execute(&Options::default(), |_| {}).expect("runs");
    assert_eq!(finals, [7_u32.to_le_bytes().repeat(40)]);
    assert!(good.compare(&finals).expect("no check to fail").is_none());

    let refused = Prepared::new(&own("sample", 40), "small", &Overrides::new());
    match refused.expect_err("the query cannot be executed") {
        RunError::Ptx { file, diagnostics } => {
            assert_eq!(file, "own.ptx");
            assert!(diagnostics.iter().any(|d| d.message.contains("txq")), "{diagnostics:?}");
        }
        other => panic!("expected diagnostics, got {other}"),
    }
}

#[test]
fn a_fault_names_workload_launch_and_place() {
    let prepared = Prepared::new(&own("fill", 41), "small", &Overrides::new()).expect("compiles");
    let error = prepared.execute(&Options::default(), |_| {}).expect_err("one thread too many");
    let message = error.to_string();
    for part in
        ["workload `own`, launch 0: ", "kernel `fill`, PTX line 15", "thread (40, 0, 0)", "`out`"]
    {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn malformed_ptx_is_refused_with_every_reason() {
    let mut workload = own("fill", 40);
    workload.ptx = TWO_KERNELS.replace("mul.wide.u32", "mul.wise.u32").into();
    match Prepared::new(&workload, "small", &Overrides::new()).expect_err("malformed") {
        RunError::Ptx { diagnostics, .. } => assert!(!diagnostics.is_empty()),
        other => panic!("expected diagnostics, got {other}"),
    }
}

/// One wrong instruction for each workload: the check, or the executor, has to notice it.
#[test]
fn a_wrong_kernel_is_noticed() {
    for (name, right, wrong) in [
        ("vectoradd", "add.f32", "sub.f32"),
        ("matrixmul", "bar.sync", "// bar.sync"),
        ("reduction", "shfl.sync.down.b32", "shfl.sync.up.b32"),
        ("scalarprod", "fma.rn.f32", "fma.rz.ftz.sat.f32"),
        ("hotspot", "sub.f32", "add.f32"),
        ("needle", "max.s32", "min.s32"),
        ("bfs", "setp.gt.s32", "setp.ge.s32"),
        ("srad", "lg2.approx.ftz.f32", "ex2.approx.ftz.f32"),
        ("dct8x8", "0f3EB504F3", "0f3EB50000"),
        ("mandelbrot", "sub.rn.f32", "add.rn.f32"),
        ("nbody", "rsqrt.approx.f32", "rcp.approx.f32"),
        ("histogram", "255", "127"),
        ("cp", "rsqrt.approx.f32", "rcp.approx.f32"),
        ("mriq", "cos.approx.f32", "sin.approx.f32"),
        ("dgemm", "fma.rn.f64", "fma.rz.f64"),
        ("sgemm", "fma.rn.f32", "fma.rz.f32"),
        ("fft512", "0f3F3504F3", "0f3F350000"),
        ("scan", "add.s32", "sub.s32"),
        ("bitonic", "setp.gt.u32", "setp.ge.u32"),
        ("montecarlo", "1664525", "1664521"),
        ("bilinear", "cvt.rmi.s32.f32", "cvt.rni.s32.f32"),
        ("needle16", "max.s32", "min.s32"),
        ("needle32", "max.s32", "min.s32"),
        ("needle64", "bar.sync", "// bar.sync"),
        ("lu", "div.rn.f32", "mul.rn.f32"),
        ("pcr", "bar.sync", "// bar.sync"),
        ("ray", "cvt.rmi.s32.f32", "cvt.rni.s32.f32"),
        ("suffixtree", "setp.ne.s16", "setp.eq.s16"),
        ("sgemv", "bar.sync", "// bar.sync"),
        ("sobol", "popc.b32", "clz.b32"),
        ("lbm", "0fBFC00000", "0fBFC10000"),
        ("stencil", "setp.lt.s32", "setp.le.s32"),
        ("hotspot16", "bar.sync", "// bar.sync"),
        ("btree", "setp.gt.u64", "setp.ge.u64"),
        ("convolution", "min.s32", "max.s32"),
        ("xorwow", "shr.u32", "shl.b32"),
        ("mergesort", "setp.lt.u32", "setp.le.u32"),
        ("quasirandom", "xor.b32", "or.b32"),
        ("pathgen", "cos.approx.f32", "sin.approx.f32"),
    ] {
        let mut workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
        let text = workload.ptx.replace(right, wrong);
        assert!(text != workload.ptx, "{name} has no {right}");
        workload.ptx = text.into();
        let prepared = Prepared::new(&workload, "small", &Overrides::new()).expect(name);
        let Ok(finals) = prepared.execute(&Options::default(), |_| {}) else { continue };
        let comparisons = prepared.compare(&finals).expect(name).expect("has a check");
        assert!(
            comparisons.iter().any(|comparison| comparison.mismatches > 0),
            "{name} with {wrong} for {right} passes"
        );
    }
}

/// Fewer registers per thread let more warps be resident, until something else binds.
#[test]
fn a_limit_of_registers_lets_more_warps_in() {
    let design = design::resolve("isca11").expect("the design exists");
    let config = SmConfig::new(design.sm).expect("the design's settings are valid");
    let resident = |registers: Option<u16>| {
        let mut workload = Workload::builtin("matrixmul", Toolchain::Nvcc).expect("built in");
        workload.options.registers = registers.and_then(RegisterLimit::new);
        let prepared = Prepared::new(&workload, "small", &Overrides::new()).expect("compiles");
        let registers = prepared.programs[0].image.registers;
        // CTAs of 256 threads, with the shared memory of both tiles.
        let launch = Launch { warps_per_cta: 8, registers, shared_bytes: 8192 };
        config.residency(&launch).expect("a CTA fits").warps
    };
    assert_eq!([None, Some(32), Some(16)].map(resident), [24, 32, 32]);
}

/// What is counted of a launch does not depend on how many of its paths are there at a time.
#[test]
fn launches_counted_in_parts_count_what_they_do_whole() {
    let names = ["isca11", "isca11-rfc6-nolive", "diss-rfc6-lrf", "diss-orf3-lrf-split"];
    let designs = names.map(|name| design::resolve(name).expect(name));
    for name in ["bfs", "mandelbrot", "reduction"] {
        let mut workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
        workload.options.registers = RegisterLimit::new(16);
        let counted = |part_bytes| {
            let mut request = Request::new(&Source::of(Scale::Small)).expect("good options");
            request.options.part_bytes = part_bytes;
            let reports = reports(&workload, &designs, &request, &Silent);
            reports.expect(name)
        };
        let whole = counted(None);
        for part_bytes in [0, 3000] {
            let mut parts = counted(Some(part_bytes));
            let mut in_parts = false;
            for (part, whole) in parts.iter_mut().zip(&whole) {
                for (part, whole) in part.launches.iter_mut().zip(&whole.launches) {
                    in_parts |= part.distinct_paths > whole.distinct_paths;
                    assert!(part.distinct_paths >= whole.distinct_paths, "{name}");
                    part.distinct_paths = whole.distinct_paths;
                }
            }
            assert!(in_parts || part_bytes > 0, "{name}, {part_bytes} bytes");
            assert_eq!(parts, whole, "{name}, {part_bytes} bytes");
        }
    }
}

/// A launch that takes more than is allowed says what to do.
#[test]
fn a_launch_that_takes_too_much_memory_is_refused() {
    let workload = Workload::builtin("bfs", Toolchain::Nvcc).expect("built in");
    let prepared = Prepared::new(&workload, "small", &Overrides::new()).expect("compiles");
    let options = Options { max_kept_bytes: 2000, ..Options::default() };
    let error = prepared.execute(&options, |_| {}).expect_err("too much");
    let (message, help) = (error.to_string(), error.help());
    assert!(message.contains("the launch's CTAs take more than 2000 bytes"), "{message}");
    assert!(message.contains("kernel `bfs") && message.contains("PTX line"), "{message}");
    assert!(help.contains("`--cta`") && help.contains("count mode"), "{help}");
    let parts = Options { part_bytes: Some(0), ..options };
    prepared.execute(&parts, |_| {}).expect("nothing is kept");
}
