//! Faults of launches: for each kind what is said, and a hint of its own.

use std::path::Path;

use tempfile::TempDir;

use crate::strata;

/// Declarations before the kernel.
const DECLARED: &str = ".version 8.6\n.target sm_90\n.address_size 64\n\
    .extern .func (.param .b64 r) malloc (.param .b64 a);\n\
    .extern .func free (.param .b64 a);\n\
    .extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, \
    .param .b64 e);\n\
    .const .u32 fixed[2] = {1, 2};\n\
    .global .align 1 .b8 claim[6] = {110, 32, 62, 32, 48, 0};\n\
    .global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};\n\
    .global .align 1 .b8 caller[4] = {115, 117, 109, 0};\n\
    .global .surfref image;\n\
    .func (.param .b32 r) same (.param .b32 a) {\n.reg .b32 %s;\nld.param.b32 %s, [a];\n\
    st.param.b32 [r], %s;\nret;\n}\n.global .u64 table[1] = {same};\n";

/// Registers and memory of the kernel; its parameters are a buffer of 64 bytes and 7.
const HEAD: &str = ".visible .entry k(.param .u64 numbers, .param .u32 count) {\n\
    .reg .pred %p<4>;\n.reg .b32 %me, %x, %r<20>;\n.reg .b64 %buffer, %rd<9>;\n\
    .reg .f32 %f<9>;\n.shared .align 16 .b8 tile[64];\n.local .align 8 .b8 frame[32];\n\
    ld.param.u64 %buffer, [numbers];\nld.param.u32 %x, [count];\nmov.u32 %me, %tid.x;\n";

/// Runs a body in one block of `threads`, and returns what is said.
fn fault(body: &str, threads: &str) -> String {
    let folder = folder(body, &format!("grid = [1]\nblock = {threads}"));
    said(folder.path())
}

/// The message of a launch that stops.
fn said(folder: &Path) -> String {
    let file = |name: &str| folder.join(name).to_str().expect("a path in UTF-8").to_owned();
    let [ptx, launch] = ["k.ptx", "k.toml"].map(file);
    let outcome =
        strata(&["run", &ptx, "--launch", &launch, "--max-instructions", "20000", "--quiet"]);
    assert_eq!(outcome.status, Some(2), "{outcome}");
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("\n  hint: "), "{outcome}");
    outcome.stderr
}

/// A folder with a kernel and its launch file.
fn folder(body: &str, launch: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    };
    write("k.ptx", format!("{DECLARED}{HEAD}{body}\nret;\n}}\n"));
    write(
        "k.toml",
        format!(
            "description = \"one kernel\"\n[size.default]\n[[buffer]]\nname = \"numbers\"\n\
             type = \"u32\"\ncount = 16\ngenerator = \"iota\"\n[[launch]]\nkernel = \"k\"\n\
             arguments = [\"numbers\", {{ u32 = 7 }}]\n{launch}\n"
        ),
    );
    folder
}

macro_rules! faults {
    ($($name:ident: $threads:literal, $body:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(fault($body, $threads));
        }
    )+};
}

faults! {
    an_access_behind_a_buffer: "[1]", "st.global.u32 [%buffer+64], %x;";
    an_access_of_a_byte_before_a_buffer: "[1]", "ld.global.u8 %r0, [%buffer-1];";
    an_access_by_a_null_pointer: "[1]", "mov.u64 %rd0, 0;\nld.global.u32 %r0, [%rd0+8];";
    an_exhausted_heap: "[1]",
        "{ .param .b64 p; .param .b64 q; st.param.b64 [p], 16777216;\ncall (q), malloc, (p);\n\
         ld.param.b64 %rd0, [q]; }\nst.global.u32 [%rd0], %x;";
    an_access_outside_shared_memory: "[1]", "st.shared.u32 [tile+64], %x;";
    an_access_outside_local_memory: "[1]", "ld.local.u32 %r0, [frame+32];";
    an_access_outside_the_parameters: "[1]", "ld.param.u32 %r0, [count+8];";
    a_misaligned_access: "[1]", "ld.global.u32 %r0, [%buffer+2];";
    a_write_to_constant_memory: "[1]", "mov.u64 %rd0, fixed;\nst.u32 [%rd0], 1;";
    a_handle_of_nothing: "[1]",
        "mov.u64 %rd0, 5;\ntex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd0, {%me}];";
    a_reference_without_a_surface: "[1]", "sust.b.1d.b32.trap [image, {%me}], {%x};";
    a_trap: "[64]", "setp.eq.u32 %p0, %me, 33;\n@%p0 trap;";
    a_free_of_a_buffer: "[1]",
        "{ .param .b64 p; st.param.b64 [p], %buffer;\ncall free, (p); }";
    a_call_of_no_function: "[1]",
        "mov.u64 %rd0, 48;\n{ .param .b32 p; .param .b32 q; st.param.b32 [p], %x;\n\
         proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         call (q), %rd0, (p), proto; }";
    an_assertion: "[1]",
        "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n\
         mov.u64 %rd1, claim;\nmov.u64 %rd2, file;\nmov.u64 %rd3, caller;\nmov.u64 %rd4, 1;\n\
         st.param.b64 [a], %rd1;\nst.param.b64 [b], %rd2;\nst.param.b32 [c], 12;\n\
         st.param.b64 [d], %rd3;\nst.param.b64 [e], %rd4;\n\
         call __assertfail, (a, b, c, d, e); }";
    a_barrier_that_can_never_complete: "[64]", "shr.u32 %r0, %me, 5;\nbar.sync %r0;";
    a_barrier_with_an_impossible_number: "[64]", "add.u32 %x, %x, 9;\nbar.sync %x;";
    lanes_that_never_come: "[32]",
        "setp.lt.u32 %p0, %me, 4;\n@%p0 bra LOW;\nbra END;\nLOW:\n\
         shfl.sync.bfly.b32 %r0, %me, 1, 31, 0xff;\nEND:\nbar.sync 0;\n\
         st.global.u32 [%buffer], %r0;";
    a_lane_that_the_mask_does_not_name: "[32]", "shfl.sync.bfly.b32 %r0, %me, 1, 31, 0x1;";
    a_shuffle_of_a_lane_that_has_exited: "[32]",
        "setp.eq.u32 %p0, %me, 9;\n@%p0 exit;\n\
         shfl.sync.idx.b32 %r0, %me, 9, 31, 0xffffffff;\nst.global.u32 [%buffer], %r0;";
    a_matrix_of_half_a_warp: "[16]",
        "mov.u32 %r9, tile;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r9];";
    a_matrix_whose_lanes_disagree: "[32]",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, \
         %r8}, [%buffer], %me;";
    a_loop_beyond_the_budget: "[1]", "LOOP:\nadd.u32 %x, %x, 1;\nbra LOOP;";
    too_large_a_frame: "[1]",
        ".local .align 4 .b8 deep[600000];\nld.local.u32 %r0, [deep];";
}

#[test]
fn too_many_ctas() {
    let most = "grid = [2147483647, 65535, 65535]\nblock = [1]";
    insta::assert_snapshot!(said(folder("", most).path()));
}

#[test]
fn too_much_shared_memory() {
    let shared = "grid = [1]\nblock = [1]\nshared = 232448";
    let body = ".shared .align 4 .b8 wide[40000];\nst.shared.u32 [wide], %x;";
    insta::assert_snapshot!(said(folder(body, shared).path()));
}
