//! Bad input: one clear error each, exit status 2, nothing on standard output.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::strata;

/// Runs the program, and asserts what every failure has in common.
fn refused(arguments: &[&str]) -> String {
    let outcome = strata(arguments);
    assert_eq!(outcome.status, Some(2), "{arguments:?}: {outcome}");
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    assert!(outcome.stderr.starts_with("error: "), "{arguments:?}: {}", outcome.stderr);
    outcome.stderr
}

macro_rules! refuses {
    ($($name:ident: $arguments:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(refused(&$arguments));
        }
    )+};
}

refuses! {
    a_prototype_without_a_board: ["fpga", "run", "vectoradd", "--accesses", "10"];
    a_prototype_of_a_last_result_file:
        ["fpga", "run", "vectoradd", "--board", "host", "--design", "diss-rfc6-lrf"];
    a_prototype_of_a_compiler_managed_hierarchy:
        ["fpga", "run", "vectoradd", "--board", "host", "--design", "diss-orf3"];
    a_prototype_of_liveness_aware_eviction:
        ["fpga", "run", "vectoradd", "--board", "host", "--design", "isca11-rfc6-bypass"];
    a_prototype_of_a_larger_pool:
        ["fpga", "run", "vectoradd", "--board", "host", "--design", "large-pool.toml"];
    a_speed_without_a_port: ["fpga", "info", "--board", "host", "--baud", "9600"];
    an_unknown_workload: ["run", "hotspott"];
    an_unknown_design: ["run", "vectoradd", "--design", "isca11-rcf6"];
    a_design_with_too_many_entries: ["run", "vectoradd", "--design", "isca11-rfc14"];
    a_design_file_with_impossible_values: ["run", "vectoradd", "--design", "impossible.toml"];
    a_latency_of_no_cycles: ["run", "vectoradd", "--design", "no-latency.toml"];
    a_data_cache_of_no_whole_sets: ["run", "vectoradd", "--design", "odd-data-cache.toml"];
    a_data_cache_that_awaits_nothing: ["run", "vectoradd", "--design", "no-mshrs.toml"];
    gddr_behind_banks_that_are_arbitrated:
        ["run", "vectoradd", "--mode", "cycle", "--design", "gddr-arbitrated.toml"];
    replacement_that_needs_a_cache: ["run", "vectoradd", "--design", "cache-miss.toml"];
    a_barrier_rule_with_one_level: ["run", "vectoradd", "--design", "one-level.toml"];
    a_data_cache_without_time: ["run", "vectoradd", "--design", "data-cache.toml"];
    a_write_pool_without_time: ["run", "vectoradd", "--design", "warrf"];
    a_profile_with_a_write_pool:
        ["inspect", "vectoradd", "--profile", "--design", "sttram-wpool"];
    names_with_a_write_pool: ["study", "encoding", "vectoradd", "--design", "warrf-orf3"];
    a_technology_with_a_wrong_unit: ["run", "vectoradd", "--design", "our-wrong-memory.toml"];
    an_output_that_is_cut: ["technology", "import", "cut-output.txt"];
    an_output_that_needs_a_width: ["technology", "import", "cacti-output.txt"];
    an_output_of_neither_program: ["technology", "import", "good.ptx"];
    limits_of_hardware: ["study", "limits", "vectoradd", "--design", "diss-rfc6"];
    limits_of_partial_warps: ["study", "limits", "vectoradd", "--design", "managed-partial.toml"];
    limits_of_a_trace: ["study", "limits", "tiny.traceg"];
    names_of_hardware: ["study", "encoding", "vectoradd", "--design", "diss-rfc6"];
    names_of_a_trace: ["study", "encoding", "tiny.traceg"];
    a_trace_on_a_compiler_managed_hierarchy: ["run", "tiny.traceg", "--design", "diss-orf3"];
    an_order_that_firmware_cannot_have: [
        "trace", "embed", "vectoradd", "--order", "scheduled-renamed", "-o", "never.rs"
    ];
    a_trace_to_be_scheduled: ["run", "tiny.traceg", "--order", "ptx"];
    active_warps_of_a_compiler_managed_hierarchy:
        ["study", "active-warps", "vectoradd", "--design", "diss-orf3"];
    a_design_file_with_an_unknown_key: ["run", "vectoradd", "--design", "unknown-key.toml"];
    two_designs_of_one_name:
        ["run", "vectoradd", "--design", "mine.toml", "--design", "twin.toml"];
    a_design_file_with_a_built_in_name: ["run", "vectoradd", "--design", "taken.toml"];
    designs_in_one_option: ["run", "vectoradd", "--design", "mine,twin"];
    a_design_file_without_its_ending: ["run", "vectoradd", "--design", "mine"];
    a_launch_file_beside_a_built_in_workload: ["run", "vectoradd", "--launch", "good.toml"];
    a_recording_onto_a_folder: ["trace", "record", "vectoradd", "-o", "/"];
    a_design_file_that_is_not_there: ["run", "vectoradd", "--design", "missing.toml"];
    a_ptx_file_without_a_launch_file: ["run", "good.ptx"];
    a_ptx_file_that_is_not_there: ["run", "missing.ptx", "--launch", "good.toml"];
    malformed_ptx: ["run", "malformed.ptx", "--launch", "good.toml"];
    truncated_ptx: ["run", "truncated.ptx", "--launch", "good.toml"];
    unsupported_ptx: ["run", "unsupported.ptx", "--launch", "unsupported.toml"];
    an_unsupported_instruction_in_a_called_function:
        ["run", "dropped.ptx", "--launch", "dropped.toml"];
    an_unknown_launch_field: ["run", "good.ptx", "--launch", "unknown-field.toml"];
    a_missing_launch_field: ["run", "good.ptx", "--launch", "missing-field.toml"];
    an_argument_of_the_wrong_type: ["run", "good.ptx", "--launch", "wrong-argument.toml"];
    an_unknown_buffer: ["run", "good.ptx", "--launch", "unknown-buffer.toml"];
    an_access_outside_every_buffer: ["run", "good.ptx", "--launch", "outside.toml"];
    an_endless_loop: ["run", "good.ptx", "--launch", "endless.toml", "--max-instructions", "1000"];
    partial_warps_in_time: ["run", "dct8x8", "--mode", "cycle", "--design", "partial.toml"];
    a_deadlock_in_time:
        ["run", "reduction", "--scale", "small", "--mode", "cycle", "--design", "never.toml"];
    a_deadlock_in_time_of_a_trace:
        ["run", "tiny.traceg", "--mode", "cycle", "--design", "never-one.toml"];
    partial_warps_in_time_of_a_trace:
        ["run", "tiny.traceg", "--mode", "cycle", "--design", "partial.toml"];
    a_workload_twice: ["run", "vectoradd", "reduction", "vectoradd"];
    a_trace_twice: ["study", "write-pool", "tiny.traceg", "../inputs/tiny.traceg"];
    a_file_twice: ["study", "registers", "good.ptx", "./good.ptx", "--launch", "good.toml"];
    no_threads: ["run", "vectoradd", "-j", "0"];
    an_unknown_kernel: ["run", "hotspot", "--scale", "small", "--kernel", "nosuch"];
    an_unknown_launch: ["run", "hotspot", "--scale", "small", "--launch-index", "999999"];
    an_unknown_cta: ["run", "hotspot", "--scale", "small", "--cta", "999999"];
    an_unknown_parameter: ["run", "hotspot", "--set", "nosuch=1"];
    a_parameter_that_is_no_number: ["run", "hotspot", "--set", "n=many"];
    embedding_a_trace: ["trace", "embed", "kernelslist.g", "-o", "missing/workload.rs"];
    embedding_into_a_folder_that_is_not_there:
        ["trace", "embed", "vectoradd", "--scale", "small", "-o", "missing/workload.rs"];
    a_name_of_cpp_that_several_kernels_have: ["inspect", "cpp.ptx", "--kernel", "fill"];
    inspecting_malformed_ptx: ["inspect", "malformed.ptx"];
    a_profile_as_a_graph: ["inspect", "vectoradd", "--profile", "--format", "dot"];
    explaining_a_line_without_instructions: ["explain", "good.ptx", "26"];
    explaining_a_line_before_all_instructions: ["explain", "good.ptx", "1"];
    explaining_a_line_that_is_not_there: ["explain", "vectoradd", "99999"];
    explaining_line_0: ["explain", "vectoradd", "0"];
    explaining_an_unknown_kernel: ["explain", "good.ptx", "20", "--kernel", "decrement"];
    explaining_malformed_ptx: ["explain", "malformed.ptx", "20"];
    explaining_for_an_unknown_design: ["explain", "good.ptx", "20", "--design", "diss-orf9"];
    write_pools_without_collectors:
        ["study", "write-pool", "vectoradd", "--design", "isca11-rfc6"];
    write_pools_of_partial_warps:
        ["study", "write-pool", "vectoradd", "--scale", "small", "--design", "pool-partial.toml"];
    a_write_pool_with_too_many_entries: ["study", "write-pool", "vectoradd", "--entries", "60,129"];
    a_write_pool_without_ports: ["study", "write-pool", "vectoradd", "--ports", "0"];
    writes_of_no_cycles: ["study", "write-pool", "vectoradd", "--write-cycles", "3,0"];
    no_active_warps: ["study", "active-warps", "vectoradd", "--active-warps", "4,0"];
    hints_for_two_levels_with_one: [
        "study", "active-warps", "vectoradd", "--design", "isca11-rfc6-bypass", "--active-warps",
        "8,all"
    ];
    the_cost_of_an_unknown_design: ["cost", "nosuch"];
}

#[test]
fn binary_ptx() {
    let path = scratch("binary.ptx");
    // A deterministic soup of all byte values.
    let bytes: Vec<u8> =
        (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(&path, bytes).expect("the scratch file can be written");
    let error = refused(&["run", path.to_str().expect("UTF-8"), "--launch", "good.toml"]);
    assert!(error.contains("binary.ptx"), "{error}");
    assert!(error.len() < 100_000, "{} bytes of diagnostics", error.len());
}

#[test]
fn huge_ptx() {
    let path = scratch("huge.ptx");
    let mut text = String::from(".version 9.5\n.target sm_75\n.address_size 64\n.entry k() {\n");
    for line in 0..200_000 {
        let _ = writeln!(text, "frobnicate.u32 %r{line}, 1;");
    }
    std::fs::write(&path, text).expect("the scratch file can be written");
    let error = refused(&["run", path.to_str().expect("UTF-8"), "--launch", "good.toml"]);
    assert!(error.contains("huge.ptx:5:1"), "{}", &error[..error.len().min(2000)]);
    assert!(error.len() < 200_000, "{} bytes of diagnostics", error.len());
}

/// A deadlock of a recording is told in the same words as that of the trace that it is of.
#[test]
fn a_deadlock_in_time_of_a_recording() {
    let path = scratch("deadlock.strata");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(strata(&["trace", "record", "tiny.traceg", "-o", path]).status, Some(0));
    let run = |input| refused(&["run", input, "--mode", "cycle", "--design", "never-one.toml"]);
    assert_eq!(run(path).replace(path, "tiny.traceg"), run("tiny.traceg"));
}

/// A kernel that reverses 300 words, all of which are in registers before the first is stored.
pub(crate) fn kernel_of_300_values() -> String {
    let mut text = String::from(
        ".version 9.5\n.target sm_75\n.address_size 64\n.entry increment(.param .u64 data, \
         .param .u32 count, .param .u32 stride) {\n.reg .b32 %r<400>;\n.reg .b64 %rd<2>;\n\
         ld.param.u64 %rd1, [data];\n",
    );
    for register in 0..300 {
        let _ = writeln!(text, "ld.global.u32 %r{register}, [%rd1+{}];", 4 * register);
    }
    for register in 0..300 {
        let _ = writeln!(text, "st.global.u32 [%rd1+{}], %r{register};", 4 * (299 - register));
    }
    text.push_str("ret;\n}\n");
    text
}

#[test]
fn more_registers_than_a_thread_has() {
    let path = scratch("registers.ptx");
    let text = kernel_of_300_values();
    std::fs::write(&path, text).expect("the scratch file can be written");
    let path = path.to_str().expect("UTF-8");
    let error = refused(&["run", path, "--launch", "good.toml"]);
    assert!(
        error.contains("kernel `increment` needs 302 registers per thread, 255 are"),
        "{error}"
    );
    assert!(error.contains("hint: `--registers 255` spills"), "{error}");
}

#[test]
fn limits_of_registers_that_make_no_sense() {
    for count in ["15", "256", "0", "many", "-1"] {
        let error = refused(&["run", "vectoradd", &format!("--registers={count}")]);
        assert!(
            error.contains(&format!("invalid value '{count}' for '--registers <N>'")),
            "{error}"
        );
    }
    let error = refused(&["run", "no-such.strata", "--registers", "16"]);
    assert!(error.contains("is a trace, whose registers are allocated"), "{error}");
    let error = refused(&["study", "registers", "--registers", "16"]);
    assert!(error.contains("hint: `--try 16,20,24`"), "{error}");
    for bits in ["4", "9", "-1", "six"] {
        let error = refused(&["study", "encoding", &format!("--specifier-bits={bits}")]);
        let told = format!("invalid value '{bits}' for '--specifier-bits <N>'");
        assert!(error.contains(&told), "{error}");
    }
    let error = refused(&["study", "registers", "--try", "18,300"]);
    assert!(error.contains("300 is not in 16..=255"), "{error}");
}

/// An option that has no effect on any input is a mistake.
#[test]
fn options_without_effect() {
    for (arguments, told) in [
        ("run tiny.traceg --scale small", "`tiny.traceg` is a trace, which has its size"),
        ("run no.strata --scale default", "`no.strata` is a trace, which has its size"),
        ("trace record tiny.traceg -o /dev/null --scale small", "is a trace, which has its size"),
        ("study write-pool tiny.traceg --scale small", "is a trace, which has its size"),
        ("fpga run tiny.traceg --board host --scale small", "is a trace, which has its size"),
        ("run tiny.traceg --ptx nvcc", "`tiny.traceg` is no built-in workload"),
        ("run good.ptx --launch good.toml --ptx clang", "`good.ptx` is no built-in workload"),
        ("run good.ptx tiny.traceg --launch good.toml --ptx clang", "is no built-in workload"),
        ("inspect good.ptx --ptx nvcc32", "`good.ptx` is no built-in workload"),
        ("explain good.ptx 5 --ptx nvcc32", "`good.ptx` is no built-in workload"),
        ("run ./tiny.traceg --launch good.toml", "is a trace, which has its launches in it"),
        ("run vectoradd --allow-outside", "`vectoradd` is no list of traces"),
        ("run --allow-outside", "is no list of traces"),
        ("run tiny.traceg --allow-outside", "`tiny.traceg` is no list of traces"),
        ("run no.strata --mode cycle --allow-outside", "`no.strata` is no list of traces"),
        ("run vectoradd tiny.traceg --allow-outside", "`vectoradd` is no list of traces"),
        ("trace record tiny.traceg -o /dev/null --allow-outside", "is no list of traces"),
        ("run vectoradd --force", "--timeline <OUT.json>"),
        ("run vectoradd --timeline-slices 5", "--timeline <OUT.json>"),
        ("technology import nvsim-output.txt --force", "--output <OUT.toml>"),
        ("inspect good.ptx --launch good.toml", "`--launch` is for what is executed"),
        ("inspect vectoradd --scale small", "`--scale` is for what is executed"),
        ("inspect vectoradd --mode cycle", "`--mode` is for what is executed"),
        ("inspect vectoradd --sort line", "`--sort` is for what is executed"),
        ("inspect vectoradd --top 3", "`--top` is for what is executed"),
        ("inspect vectoradd --format json", "`--format json` is for what is executed"),
        ("inspect vectoradd --format csv", "`--format csv` is for what is executed"),
        ("inspect vectoradd --profile --top 0", "0 is not in 1..=4294967295"),
        ("inspect vectoradd --profile --sort lines", "a similar value exists: 'line'"),
        ("inspect vectoradd --profile --sort stalls", "without time there are no stalls"),
        (
            "inspect vectoradd --profile --mode cycle --sort energy",
            "energy is told by line in count mode only",
        ),
        (
            "inspect vectoradd --profile --sort energy --design isca11-rfc13",
            "`isca11-rfc13` has no energies to sort by",
        ),
        ("inspect vectoradd --set n=5", "`--set` is for what is executed"),
        ("inspect vectoradd --launch-index 0", "`--launch-index` is for what is executed"),
        ("inspect vectoradd --cta 0", "`--cta` is for what is executed"),
        ("inspect vectoradd --max-instructions 5", "`--max-instructions` is for what is executed"),
        ("inspect vectoradd --design isca11-rfc6", "a listing shows nothing of `isca11-rfc6`"),
        ("fpga info --port localhost:1 --baud 9600", "is a network connection, which has no"),
        ("fpga info --port tcp:host:1 --baud 9600", "is a network connection, which has no"),
        ("study limits vectoradd --order close", "`--order close` is one of the limits"),
        ("run vectoradd --order ptx,close", "`--order` names several orders"),
        (
            "run vectoradd --order scheduled-renamed --registers 32",
            "`--order scheduled-renamed` takes as many registers as it needs",
        ),
    ] {
        let error = refused(&words(arguments));
        assert!(error.contains(told), "{arguments}: {error}");
    }
}

/// Commands that have no use for a data cache do not pass over it.
#[test]
fn a_data_cache_where_nothing_has_a_memory() {
    for (arguments, told) in [
        ("run tiny.traceg", "which counting without time does not know"),
        ("inspect vectoradd --profile", "which counting without time does not know"),
        ("study encoding vectoradd", "which counting without time does not know"),
        ("study limits vectoradd", "which counting without time does not know"),
        ("inspect vectoradd", "but listings have no use for it"),
        ("explain good.ptx 20", "but costs of single instructions have no use for it"),
        ("study write-pool vectoradd", "but studies of write pools have no use for it"),
        ("fpga run vectoradd --board host", "the prototype has no memory with addresses, which"),
        ("fpga bench --board host", "the prototype has no memory with addresses, which"),
    ] {
        // What a file's author can leave out, another design has not.
        for (design, hint) in
            [("data-cache.toml", "leave"), ("micro12-unified-384", "designs that")]
        {
            let mut arguments = words(arguments);
            arguments.extend(["--design", design]);
            let error = refused(&arguments);
            let fits = error.contains(hint) || error.contains("design without one");
            assert!(error.contains(told) && fits, "{arguments:?}: {error}");
            assert!(design == "data-cache.toml" || !error.contains("leave"), "{error}");
            assert!(error.contains(design) && error.contains("hint: "), "{error}");
        }
    }
}

/// Each once, unless it takes several values.
#[test]
fn repeated_options() {
    for (arguments, told) in [
        ("run vectoradd --mode count --mode cycle", "cannot be used multiple times"),
        ("run vectoradd --ptx nvcc --ptx clang", "cannot be used multiple times"),
        ("run vectoradd --scale small --scale small", "cannot be used multiple times"),
        ("run vectoradd --quiet --quiet", "cannot be used multiple times"),
        ("trace record vectoradd -o a.strata -o b.strata", "cannot be used multiple times"),
        ("run vectoradd --set n=1 --set n=1", "`--set n=...` is given twice"),
        ("run vectoradd --design isca11 --design isca11", "design `isca11` is named twice"),
        ("study active-warps vectoradd --design mine.toml --design mine.toml", "named twice"),
        ("fpga run vectoradd --board host --design warrf --design warrf", "named twice"),
    ] {
        let error = refused(&words(arguments));
        assert!(error.contains(told), "{arguments}: {error}");
    }
}

/// Tables, listings and reports quote what an input is called.
#[test]
fn names_of_inputs_that_cannot_be_printed() {
    for ending in ["ptx", "traceg", "strata"] {
        for (name, told) in [
            ("a\u{1b}[2J", "`\\u{1b}` is not allowed"),
            ("a\u{202e}b", "`\\u{202e}` is not allowed"),
            ("a\nb", "`\\n` is not allowed"),
        ] {
            let error = refused(&["run", &format!("{name}.{ending}")]);
            assert!(error.contains("cannot be the name of an input"), "{error}");
            assert!(error.contains(told) && !error.contains(name), "{error}");
        }
    }
}

#[test]
fn values_that_are_no_values() {
    let long = "9".repeat(40);
    for option in ["--max-instructions", "--launch-index", "--cta", "--registers", "--jobs"] {
        for value in ["", "-1", "NaN", "inf", "1.5", "0x10", "1e9", &long] {
            let error = refused(&["run", "vectoradd", &format!("{option}={value}")]);
            assert!(error.contains(option), "{option}={value}: {error}");
        }
    }
    for arguments in [
        &["run", ""][..],
        &["run", "vectoradd", "--design", ""],
        &["run", "vectoradd", "--launch", ""],
        &["run", "vectoradd", "--kernel", ""],
        &["run", "vectoradd", "--set", ""],
        &["run", "vectoradd", "--set", "=1"],
        &["run", "vectoradd", "--set", "n="],
        &["run", "vectoradd", "--set", "n=NaN"],
        &["run", "vectoradd", "--set", "n=-1"],
        &["run", "vectoradd", "--set", "n=0"],
        &["run", "vectoradd", "--set", "n=9223372036854775807"],
        &["run", "vectoradd", "--set", "n=9223372036854775808"],
        &["run", "vectoradd", "--launch-index", "18446744073709551615"],
        &["run", "vectoradd", "--cta", "18446744073709551615"],
        &["run", "vectoradd", "--max-instructions", "0"],
        &["study", "active-warps", "vectoradd", "--active-warps", ""],
        &["study", "active-warps", "vectoradd", "--alu-latency", "0"],
        &["study", "active-warps", "vectoradd", "--order", ""],
        &["study", "registers", "vectoradd", "--try", ""],
        &["study", "write-pool", "vectoradd", "--entries", ","],
        &["technology", "import", "nvsim-output.txt", "--banks", "0"],
        &["technology", "import", "nvsim-output.txt", "--name", ""],
        &["technology", "import", "nvsim-output.txt", "--bits", "1024"],
        &["technology", "import", "cacti-output.txt", "--bits", "0"],
        &["technology", "import", "cacti-output.txt", "--bits", "1025"],
        &["fpga", "run", "vectoradd", "--board", "host", "--accesses", "0"],
        &["fpga", "info", "--port", ""],
        &["explain", "vectoradd", "4294967296"],
        &["cost", ""],
    ] {
        refused(arguments);
    }
}

fn words(arguments: &str) -> Vec<&str> {
    arguments.split_whitespace().collect()
}

/// A product of matrices reads 24 registers at once.
#[test]
fn an_instruction_that_needs_more_registers() {
    let path = scratch("product.ptx");
    let list = |name: &str| (1..=8).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(", ");
    let (a, b, c) = (list("%ra"), list("%rb"), list("%f"));
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry product(.param .u64 to)\n\
         {{\n.reg .f32 %f<9>; .reg .b32 %ra<9>, %rb<9>;\n\
         wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};\n\
         ret;\n}}\n"
    );
    std::fs::write(&path, text).expect("the scratch file can be written");
    let outcome = strata(&["inspect", path.to_str().expect("UTF-8"), "--registers", "20"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), ""), "{outcome}");
    assert!(outcome.stdout.contains("product: does not run, for 1 reason"), "{outcome}");
    assert!(outcome.stdout.contains("product.ptx:7:1"), "{outcome}");
    assert!(outcome.stdout.contains("cannot be allocated in 20 registers"), "{outcome}");
}

#[test]
fn embedding_more_than_one_launch() {
    let path = scratch("never-written.rs");
    let output = path.to_str().expect("UTF-8");
    let error = refused(&["trace", "embed", "reduction", "--scale", "small", "-o", output]);
    insta::assert_snapshot!(error);
    assert!(!path.exists());
}

#[test]
fn no_arguments_show_help_and_fail() {
    let outcome = strata(&[]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.stderr.contains("Usage: strata"), "{outcome}");
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}
