//! Every built-in workload as today's `nvcc` compiles it: with line numbers, for debugging, and for
//! other machines. `cargo xtask test` compiles them and runs this; nothing of it is committed.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use strata_workload::{Options, Overrides, Prepared, Toolchain, Workload};

/// Names the folder with `BUILD/WORKLOAD.ptx` for each build and each workload.
const FOLDER: &str = "STRATA_WORKLOAD_BUILDS";

/// What is compiled like the committed files: the other builds are compared with it.
const PLAIN: &str = "compute_75";

/// What is compiled without optimisation, so that products and sums are rounded one by one.
const DEBUG: &str = "debug";

/// Workloads whose results do not depend on how sums and products are put together.
const EXACT: [&str; 19] = [
    "vectoradd",
    "needle",
    "bfs",
    "mandelbrot",
    "histogram",
    "dgemm",
    "sgemm",
    "scan",
    "bitonic",
    "needle16",
    "needle32",
    "needle64",
    "ray",
    "suffixtree",
    "sobol",
    "btree",
    "xorwow",
    "mergesort",
    "quasirandom",
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The builds that are there, without the plain one.
fn builds(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the builds");
    let mut builds: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|build| build != PLAIN)
        .collect();
    builds.sort();
    assert!(builds.len() >= 6 && builds.iter().any(|build| build == DEBUG), "{builds:?}");
    builds
}

/// Runs a workload with the PTX of a build, and asserts that its results are right.
fn run(folder: &Path, name: &str, build: &str) -> Vec<Vec<u8>> {
    let file = format!("{build}/{name}.ptx");
    let mut workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    workload.ptx = Cow::Owned(read(&folder.join(&file)));
    workload.ptx_file.clone_from(&file);
    let prepared = Prepared::new(&workload, "small", &Overrides::new())
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    let finals = prepared
        .execute(&Options::default(), |_| {})
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    for comparison in prepared.compare(&finals).expect(name).expect("has a check") {
        assert_eq!(comparison.mismatches, 0, "{file}: {comparison}");
    }
    finals
}

fn every_build(name: &str) {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("no {FOLDER}: run `cargo xtask nvcc`"));
    let committed = Workload::builtin(name, Toolchain::Nvcc).expect(name);
    let plain = read(&folder.join(PLAIN).join(format!("{name}.ptx")));
    assert!(plain == committed.ptx, "{name}/kernel.ptx is not what nvcc makes of kernel.cu");
    let expected = run(&folder, name, PLAIN);
    for build in builds(&folder) {
        let found = run(&folder, name, &build);
        if build != DEBUG || EXACT.contains(&name) {
            assert!(found == expected, "{build}/{name}.ptx computes other bits than {PLAIN}");
        }
    }
}

macro_rules! workloads {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                every_build(stringify!($name));
            }
        )*

        #[test]
        fn no_workload_is_left_out() {
            let mut tested = vec![$(stringify!($name)),*];
            let mut built_in: Vec<&str> = strata_workload::all_names().collect();
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
