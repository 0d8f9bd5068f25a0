//! Programs fitted to a compiler-managed hierarchy: the checker accepts what the allocator makes, and
//! random warps find every value at the level that its slot names.

use strata_compiler::hierarchy::{
    AccessCosts, Code, Costs, DualWrites, Hierarchy, HierarchyConfig, LevelCosts, Lrf, fit,
};
use strata_compiler::kernel::Kernel;
use strata_compiler::program::Program;
use strata_compiler::{allocate, checker};

use crate::common::{Random, random_kernel, shapes};
use crate::execution::run_at_levels;
use crate::kernels::kernels;

/// `[DISS]` Tables 4.5 and 4.6 for 3 entries, in femtojoules for each 128 bits: banks and wires.
fn costs(lrf: Lrf) -> Costs {
    let level = |read: i64, write: i64, private: i64, shared: i64| {
        // The wire to the main register file passes by the others.
        let access =
            |wire| AccessCosts { read: read + wire, write: write + wire, beside_main: write };
        LevelCosts { private: access(private), shared: access(shared) }
    };
    Costs {
        main: level(8_000, 11_000, 7_600, 7_600),
        orf: level(1_200, 4_400, 1_520, 3_040),
        lrf: (lrf != Lrf::None).then(|| level(700, 2_000, 380, 380)),
    }
}

/// Everything on, three entries.
pub(crate) fn config(lrf: Lrf) -> HierarchyConfig {
    HierarchyConfig {
        orf_entries: 3,
        lrf,
        forward_branches: true,
        read_operands: true,
        partial_ranges: true,
        dual_writes: DualWrites::Any,
        past_deschedules: false,
        past_backward_branches: false,
        costs: costs(lrf),
    }
}

/// Sizes, last result files, and every switch off and on with each.
fn configs() -> Vec<HierarchyConfig> {
    let mut all = Vec::new();
    for lrf in [Lrf::None, Lrf::Unified, Lrf::Split] {
        for orf_entries in [1, 3, 8] {
            let base = HierarchyConfig { orf_entries, ..config(lrf) };
            all.push(base);
            all.push(HierarchyConfig { forward_branches: false, ..base });
            all.push(HierarchyConfig { read_operands: false, ..base });
            all.push(HierarchyConfig { partial_ranges: false, ..base });
            all.push(HierarchyConfig { past_backward_branches: true, ..base });
            for dual_writes in [DualWrites::SameName, DualWrites::LastResultOnly, DualWrites::Never]
            {
                all.push(HierarchyConfig { dual_writes, ..base });
            }
        }
    }
    all
}

pub(crate) fn fitted(kernel: &Kernel, config: &HierarchyConfig) -> (Program, Hierarchy) {
    let program = allocate(kernel, None).expect("small");
    let hierarchy = fit(&Code::new(&program).expect("small"), config).expect("a good config");
    (program, hierarchy)
}

#[test]
fn the_checker_accepts_random_kernels_at_every_size() {
    for seed in 0..10 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            for config in configs() {
                let (program, hierarchy) = fitted(&kernel, &config);
                let checked = checker::check_levels(&kernel, &program, &hierarchy, &config);
                if let Err(violations) = checked {
                    panic!("seed {seed}, {shape:?}, {config:?}: {}", violations[0]);
                }
            }
        }
    }
}

#[test]
fn the_checker_accepts_real_kernels_at_every_size() {
    for kernel in kernels() {
        for config in configs() {
            let (program, hierarchy) = fitted(&kernel, &config);
            let checked = checker::check_levels(&kernel, &program, &hierarchy, &config);
            if let Err(violations) = checked {
                panic!("{}, {config:?}: {}", kernel.name, violations[0]);
            }
        }
    }
}

#[test]
fn random_warps_find_every_value_at_its_level() {
    let mut served = 0;
    for seed in 0..100 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            for lrf in [Lrf::None, Lrf::Unified, Lrf::Split] {
                let (program, hierarchy) = fitted(&kernel, &config(lrf));
                match run_at_levels(&kernel, &program, &hierarchy, 6) {
                    Ok(reads) => served += reads,
                    Err(problem) => panic!("kernel {seed}, {shape:?}, {lrf:?}: {problem}"),
                }
            }
        }
    }
    assert!(served > 10_000, "only {served} reads were served");
}

#[test]
fn real_kernels_find_every_value_at_its_level() {
    for kernel in kernels() {
        for config in configs() {
            let (program, hierarchy) = fitted(&kernel, &config);
            if let Err(problem) = run_at_levels(&kernel, &program, &hierarchy, 10) {
                panic!("{}, {config:?}: {problem}", kernel.name);
            }
        }
    }
}

/// Whole loops within strands: values that turns carry, and values that loops only read.
#[test]
fn values_stay_where_they_are_past_backward_branches() {
    let mut more = 0;
    for seed in 0..40 {
        for shape in shapes() {
            let kernel = random_kernel(&mut Random::new(seed), shape);
            for base in
                [config(Lrf::None), HierarchyConfig { orf_entries: 8, ..config(Lrf::Split) }]
            {
                let kept = HierarchyConfig { past_backward_branches: true, ..base };
                let (program, hierarchy) = fitted(&kernel, &kept);
                let checked = checker::check_levels(&kernel, &program, &hierarchy, &kept);
                if let Err(violations) = checked {
                    panic!("seed {seed}, {shape:?}, {kept:?}: {}", violations[0]);
                }
                if let Err(problem) = run_at_levels(&kernel, &program, &hierarchy, 6) {
                    panic!("seed {seed}, {shape:?}, {kept:?}: {problem}");
                }
                let fewer = fitted(&kernel, &base).1.strands.count - hierarchy.strands.count;
                more += u32::from(fewer > 0);
            }
        }
    }
    assert!(more > 100, "only {more} kernels had a loop within a strand");
}
