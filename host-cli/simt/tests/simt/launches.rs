//! Launches that a kernel's directives allow or forbid, and shared memory as a CTA is given it.

use strata_ptx::diagnostic::DiagnosticKind;
use strata_simt::{Fault, Launch};

use crate::common::{Arguments, Bench};

/// A kernel with these directives that counts its threads.
fn counting(directives: &str) -> Bench {
    Bench::new(&format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{directives}\n\
         {{\n.reg .b64 %out;\n.reg .b32 %r;\nld.param.u64 %out, [out];\n\
         atom.global.add.u32 %r, [%out], 1;\nret;\n}}\n"
    ))
}

fn counted(directives: &str, grid: [u32; 3], block: [u32; 3]) -> Result<u32, Fault> {
    let mut bench = counting(directives);
    let out = bench.words("out", &[0]);
    let arguments = Arguments::default().u64(out).0;
    bench.run("k", &Launch { arguments, ..Launch::new(grid, block) })?;
    Ok(bench.read(out, 1)[0])
}

#[test]
fn launches_within_the_directives_run() {
    for (directives, grid, block, threads) in [
        (".reqntid 32", [2, 1, 1], [32, 1, 1], 64),
        (".reqntid 8, 4", [1, 1, 1], [8, 4, 1], 32),
        (".reqntid 2, 2, 2", [1, 1, 1], [2, 2, 2], 8),
        // Only the product counts.
        (".maxntid 8, 4", [1, 1, 1], [1, 1, 32], 32),
        (".maxntid 64 .maxclusterrank 8", [3, 1, 1], [1, 1, 1], 3),
        (".reqnctapercluster 2", [4, 1, 1], [16, 1, 1], 64),
        (".reqnctapercluster 2, 3 .explicitcluster", [2, 6, 1], [1, 1, 1], 12),
        (".reqnctapercluster 4, 2, 2", [4, 2, 2], [1, 1, 1], 16),
        // The launch counts CTAs; launch files count clusters and say it in CTAs.
        (".reqntid 32 .reqnctapercluster 2 .blocksareclusters", [2, 1, 1], [32, 1, 1], 64),
    ] {
        let found = counted(directives, grid, block);
        assert_eq!(found.map_err(|fault| fault.to_string()), Ok(threads), "{directives}");
    }
}

#[test]
fn other_launches_are_refused_at_the_directive() {
    for (directives, grid, block, message) in [
        (".reqntid 32", [1, 1, 1], [64, 1, 1], "`.reqntid 32, 1, 1` allows"),
        (".reqntid 32", [1, 1, 1], [1, 32, 1], "the launch has 1, 32, 1"),
        (".reqntid 32", [1, 1, 1], [16, 1, 1], "the launch has 16, 1, 1"),
        (".maxntid 8, 4", [1, 1, 1], [33, 1, 1], "at most 32 threads in a block; the launch has"),
        (".reqnctapercluster 2", [3, 1, 1], [1, 1, 1], "the launch has 3 CTAs in x"),
        (".reqnctapercluster 1, 2", [2, 3, 1], [1, 1, 1], "the launch has 3 CTAs in y"),
        (".reqnctapercluster 17", [17, 1, 1], [1, 1, 1], "asks for clusters of 17 CTAs; a GPU has"),
        (".reqnctapercluster 4, 4, 2", [4, 4, 2], [1, 1, 1], "asks for clusters of 32 CTAs"),
        (".reqnctapercluster 0", [1, 1, 1], [1, 1, 1], "asks for clusters of 0 CTAs"),
        (".reqnctapercluster 1, 0", [1, 1, 1], [1, 1, 1], "asks for clusters of 0 CTAs"),
        (".explicitcluster", [1, 1, 1], [1, 1, 1], "`.explicitcluster` needs a launch"),
    ] {
        let Err(Fault::Forbidden { refused, .. }) = counted(directives, grid, block) else {
            panic!("{directives}: {grid:?}, {block:?} is allowed");
        };
        assert!(refused.message.contains(message), "{directives}: {}", refused.message);
        assert_eq!(refused.kind, DiagnosticKind::Error);
        assert!(refused.hint.is_some(), "{directives}");
        assert_eq!(counting(directives).module.line(refused.span.start), 5, "{directives}");
    }
}

#[test]
fn static_shared_memory_is_limited_and_dynamic_is_not() {
    let kernel = |bytes: u32| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b8 unused[60000];\n\
             .extern .shared .align 16 .b8 more[];\n\
             .visible .entry k() {{\n.shared .b8 s[{bytes}];\n.reg .b32 %r<2>;\n\
             mov.u32 %r0, s;\nst.shared.u8 [%r0], %r0;\nmov.u32 %r1, more;\n\
             st.shared.u32 [%r1+65532], %r0;\nret;\n}}\n"
        )
    };
    let mut largest = Bench::new(&kernel(48 << 10));
    let launch = Launch { dynamic_shared: 64 << 10, ..Launch::new([1; 3], [1; 3]) };
    largest.run("k", &launch).expect("48 KiB and 64 KiB more");
    let problems = Bench::new(&kernel((48 << 10) + 1)).prepare("k").unwrap_err();
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert!(problem.message.contains("take 49153 bytes"), "{}", problem.message);
}

#[test]
fn shared_memory_is_given_in_whole_units_and_ends_behind_all_of_it() {
    for (target, unit) in [("sm_20", 128), ("sm_35", 256), ("sm_70", 256), ("sm_80", 128)] {
        for (fixed, dynamic) in [(0, 0), (12, 0), (12, 128), (128, 256), (129, 1), (1000, 3000)] {
            let mut bench = Bench::new(&format!(
                ".version 8.0\n.target {target}\n.address_size 64\n\
                 .extern .shared .align 16 .b8 more[];\n\
                 .visible .entry k(.param .u64 out) {{\n.shared .b8 s[{}];\n\
                 .reg .b64 %out;\n.reg .b32 %r<8>;\nld.param.u64 %out, [out];\n\
                 mov.u32 %r0, s;\nmov.u32 %r1, more;\nmov.u32 %r2, %total_smem_size;\n\
                 mov.u32 %r3, %aggr_smem_size;\nst.global.u32 [%out], %r1;\n\
                 st.global.u32 [%out+4], %r2;\nst.global.u32 [%out+8], %r3;\nret;\n}}\n",
                fixed.max(1)
            ));
            let out = bench.words("out", &[0; 3]);
            let arguments = Arguments::default().u64(out).0;
            let launch =
                Launch { arguments, dynamic_shared: dynamic, ..Launch::new([1; 3], [1; 3]) };
            bench.run("k", &launch).expect("runs");
            let [start, total, aggregate] = bench.read(out, 3)[..] else { unreachable!() };
            assert_eq!(start, u32::next_multiple_of(fixed.max(1), 16));
            assert_eq!(total, (start + dynamic).next_multiple_of(unit), "{target}");
            assert_eq!(aggregate, total);
        }
    }
}
