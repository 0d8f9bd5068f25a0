//! The workloads with 64-bit addresses beside those that were made of them with 32-bit ones: every
//! launch makes the same accesses, and every buffer ends with the same bytes.
//!
//! Nothing here knows how the one was made of the other.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use strata_ptx::opcode::Opcode;
use strata_simt::AddressSink;
use strata_simt::moved::Addresses;
use strata_workload::simulate::LaunchSink;
use strata_workload::{LaunchRecord, Options, Overrides, Prepared, Toolchain, Workload};

/// Where memories begin, by the width of addresses; what lies below all of them is an address in a
/// space of its own.
const WIDE: [u64; 3] = [0x7f00_0000_0000, 0x7e00_0100_0000, 0x7e00_0000_0000];
const NARROW: [u64; 3] = [0x1000_0000, 0x0200_0000, 0x0100_0000];

/// Digests of the accesses of one instruction of a launch, or of all.
#[derive(Default)]
struct Digest(DefaultHasher);

impl Digest {
    fn add(&mut self, windows: &[u64; 3], (cta, warp): (u64, u32), mask: u32, each: &[u64]) {
        self.0.write_u64(cta);
        self.0.write_u32(warp);
        self.0.write_u32(mask);
        for &address in each {
            let window = windows.iter().position(|&start| address >= start);
            self.0.write_usize(window.unwrap_or(windows.len()));
            self.0.write_u64(address - window.map_or(0, |window| windows[window]));
        }
    }
}

/// What one launch did.
#[derive(Debug, PartialEq, Eq)]
struct Did {
    kernel: String,
    /// Of all accesses, in order.
    all: u64,
    /// Of each instruction with accesses, in order of the program: opcode and digest.
    each: Vec<(Opcode, u64)>,
    /// Warp instructions that access memory.
    accesses: u64,
    /// Warps that were executed.
    warps: u64,
}

/// Collects what the launches of a workload do.
struct Collector {
    windows: [u64; 3],
    warp: (u64, u32),
    all: Digest,
    each: BTreeMap<u32, Digest>,
    accesses: u64,
    launches: Vec<Did>,
    warp_instructions: u64,
}

impl AddressSink for Collector {
    fn begin(&mut self, cta: u64, warp: u32) {
        self.warp = (cta, warp);
    }

    fn access(&mut self, pc: u32, mask: u32, addresses: Addresses<'_>) {
        let each: Vec<u64> = addresses.iter().collect();
        assert_eq!(each.len(), mask.count_ones() as usize);
        self.all.add(&self.windows, self.warp, mask, &each);
        self.each.entry(pc).or_default().add(&self.windows, self.warp, mask, &each);
        self.accesses += 1;
    }
}

impl LaunchSink for Collector {
    fn addresses(&mut self) -> Option<&mut dyn AddressSink> {
        Some(self)
    }

    fn launch(&mut self, launch: LaunchRecord<'_>) {
        let opcode = |pc: u32| launch.program.instructions[pc as usize].instruction.opcode;
        let each = std::mem::take(&mut self.each);
        self.warp_instructions += launch.outcome.warp_instructions;
        self.launches.push(Did {
            kernel: launch.kernel.to_owned(),
            all: std::mem::take(&mut self.all).0.finish(),
            each: each.into_iter().map(|(pc, own)| (opcode(pc), own.0.finish())).collect(),
            accesses: std::mem::take(&mut self.accesses),
            warps: launch.outcome.warps,
        });
    }
}

/// What all launches did, and what the buffers hold then.
fn execute(name: &str, toolchain: Toolchain, size: &str) -> (Collector, Vec<Vec<u8>>) {
    let workload = Workload::builtin(name, toolchain).expect(name);
    let prepared = Prepared::new(&workload, size, &Overrides::new())
        .unwrap_or_else(|error| panic!("{}: {error}", workload.name));
    let windows = if prepared.module.address_bits == 32 { NARROW } else { WIDE };
    let mut collector = Collector {
        windows,
        warp: (0, 0),
        all: Digest::default(),
        each: BTreeMap::new(),
        accesses: 0,
        launches: Vec::new(),
        warp_instructions: 0,
    };
    let finals = prepared.execute_into(&Options::default(), &mut collector);
    let finals = finals.unwrap_or_else(|error| panic!("{}: {error}", workload.name));
    for comparison in prepared.compare(&finals).expect(name).expect("has a check") {
        assert_eq!(comparison.mismatches, 0, "{}: {comparison}", workload.name);
    }
    (collector, finals)
}

/// How many instructions fewer the narrow kernel executes is for the page to say.
fn same(name: &str, size: &str) {
    let (wide, wide_finals) = execute(name, Toolchain::Nvcc, size);
    let (narrow, narrow_finals) = execute(name, Toolchain::Nvcc32, size);
    println!(
        "{name}, {size}: {} and {} warp instructions",
        wide.warp_instructions, narrow.warp_instructions
    );
    assert!(narrow.warp_instructions <= wide.warp_instructions, "{name}, {size}");
    assert_eq!(wide.launches.len(), narrow.launches.len(), "{name}, {size}");
    for (index, (wide, narrow)) in wide.launches.iter().zip(&narrow.launches).enumerate() {
        assert_eq!(wide, narrow, "{name}, {size}, launch {index}");
        assert!(wide.accesses > 0, "{name}, {size}, launch {index} accesses nothing");
    }
    assert!(wide_finals == narrow_finals, "{name}, {size}: other results");
}

macro_rules! workloads {
    ($($name:ident),*) => {
        $(
            mod $name {
                #[test]
                fn does_the_same_with_narrow_addresses_at_small_size() {
                    super::same(stringify!($name), "small");
                }

                #[test]
                fn does_the_same_with_narrow_addresses_at_default_size() {
                    super::same(stringify!($name), "default");
                }
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
