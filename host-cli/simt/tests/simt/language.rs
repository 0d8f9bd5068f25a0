//! The language of PTX beyond its instructions: calls through registers, old forms, scopes.

use strata_simt::Fault;

use crate::common::{Arguments, Bench, launch};

const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// Runs the kernel `k` of a module in one warp, with an output of zeros, and gives the output.
fn outcome(text: &str, words: usize) -> Result<Vec<u32>, Fault> {
    let mut bench = Bench::new(text);
    let out = bench.words("out", &vec![0; words]);
    let arguments = match bench.module.address_bits {
        32 => Arguments::default().u32(out as u32),
        _ => Arguments::default().u64(out),
    };
    bench.run("k", &launch(1, 32, arguments))?;
    Ok(bench.read(out, words))
}

fn words(text: &str, words: usize) -> Vec<u32> {
    outcome(text, words).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Functions that add `1` and `2`, and one that multiplies by itself in registers.
const CALLED: &str = "
.func (.param .b32 r) one(.param .b32 a) {
    .reg .b32 %r<2>; ld.param.b32 %r0, [a]; add.u32 %r0, %r0, 1; st.param.b32 [r], %r0; ret;
}
.func (.param .b32 r) two(.param .b32 a) {
    .reg .b32 %r<2>; ld.param.b32 %r0, [a]; add.u32 %r0, %r0, 2; st.param.b32 [r], %r0; ret;
}
.func (.param .b32 r) never(.param .b64 a) { st.param.b32 [r], 77; ret; }
.global .align 8 .u64 table[3] = {one, two, never};
";

/// Each lane calls the function that its table entry names.
fn by_table(index: &str) -> String {
    format!(
        "{HEAD}{CALLED}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            {index}
            mul.wide.u32 %rd2, %r2, 8;
            mov.u64 %rd3, table;
            add.u64 %rd3, %rd3, %rd2;
            ld.global.u64 %rd4, [%rd3];
            {{
                .param .b32 p; .param .b32 q;
                st.param.b32 [p], %r1;
                proto: .callprototype (.param .b32 _) _ (.param .b32 _);
                call (q), %rd4, (p), proto;
                ld.param.b32 %r3, [q];
            }}
            mul.wide.u32 %rd5, %r1, 4;
            add.u64 %rd6, %rd1, %rd5;
            st.global.u32 [%rd6], %r3;
            ret;
        }}"
    )
}

#[test]
fn lanes_call_the_functions_that_their_addresses_name() {
    let found = words(&by_table("and.b32 %r2, %r1, 1;"), 32);
    let expected: Vec<u32> = (0..32).map(|lane| lane + 1 + lane % 2).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_address_of_no_function_with_the_prototype_is_a_fault() {
    let fault = outcome(&by_table("mov.u32 %r2, 2;"), 32).unwrap_err();
    assert!(matches!(fault, Fault::CallNowhere { address: 48, .. }), "{fault}");
    assert!(fault.to_string().contains("call of address 0x30"), "{fault}");
}

#[test]
fn call_targets_and_addresses_in_registers_are_called() {
    let text = format!(
        "{HEAD}{CALLED}
        .func (.reg .u32 %q) square(.reg .u32 %a) {{ mul.lo.u32 %q, %a, %a; ret; }}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            mov.u64 %rd2, square;
            targets: .calltargets square;
            setp.lt.u32 %p1, %r1, 3;
            mov.u32 %r2, 9;
            @%p1 call (%r2), %rd2, (%r1), targets;
            mul.wide.u32 %rd5, %r1, 4;
            add.u64 %rd6, %rd1, %rd5;
            st.global.u32 [%rd6], %r2;
            ret;
        }}"
    );
    assert_eq!(words(&text, 32)[..5], [0, 1, 4, 9, 9]);
}

#[test]
fn a_function_that_may_call_itself_through_a_register_is_called_once() {
    let text = format!(
        "{HEAD}
        .func (.reg .u32 %q) down(.reg .u32 %a, .reg .u64 %f) {{
            .reg .pred %p; .reg .u32 %s;
            proto: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .u64 _);
            mov.u32 %q, %a;
            setp.gt.u32 %p, %a, 10;
            @%p call (%q), %f, (%a, %f), proto;
            ret;
        }}
        .visible .entry k(.param .u64 out) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [out];
            mov.u64 %rd2, down;
            mov.u32 %r1, LIMIT;
            call (%r2), %rd2, (%r1, %rd2);
            st.global.u32 [%rd1], %r2;
            ret;
        }}"
    );
    assert_eq!(words(&text.replace("LIMIT", "10"), 1), [10]);
    let fault = outcome(&text.replace("LIMIT", "11"), 1).unwrap_err();
    assert!(fault.to_string().contains("recursion is not supported"), "{fault}");
}

#[test]
fn modules_of_nvopencc_run() {
    let text = "
	.version 1.4
	.target sm_10, map_f64_to_f32
	// compiled by an old compiler
	.file	1	\"<command-line>\"
	.file	2	\"a.cudafe2.gpu\"
	.func (.reg .u32 %rv1) helper (.reg .u32 %ra1, .reg .f32 %fa1)
	.reg .u32 %calls;
	.reg .u32 %m<4>;
	.func (.reg .u32 %rv1) helper (.reg .u32 %ra1, .reg .f32 %fa1)
	{
	.reg .u32 %r<5>;
	.loc	2	3	0
$LBB1_helper:
	add.u32 	%rv1, %ra1, 7;
	add.u32 	%calls, %calls, 1;
	mov.u32 	%m3, 100;
	ret;
$LDWend_helper:
	} // helper

	.entry k (
		.param .u32 __cudaparm_k_out)
	{
	.reg .u16 %rh<4>;
	.reg .u32 %r<20>;
	.reg .pred %p<4>;
	.reg .f32 %f<3>;
	.loc	2	8	0
$LBB1_k:
	mov.u32 	%calls, 0;
	cvt.u32.u16 	%r1, %tid.x;
	mov.u32 	%r2, 3;
	mov.u32 	%r3, 0;
	setp.le.u32 	%p1, %r2, %r1;
	@%p1 bra 	$Lt_0_1;
 //<loop> Loop body line 8
	mov.f32 	%f1, 0f3f800000;
	call (%r3), helper, (%r1, %f1);
	call (%r3), helper, (%r3, %f1);
	mad24.lo.u32 	%r3, %calls, 1000, %r3;
	add.u32 	%r3, %r3, %m3;
$Lt_0_1:
	ld.param.u32 	%r4, [__cudaparm_k_out];
	mul.lo.u32 	%r5, %r1, 4;
	add.u32 	%r6, %r4, %r5;
	st.global.u32 	[%r6+0], %r3;
	exit;
$LDWend_k:
	} // k
";
    // Two calls for each of three lanes, each adding 7; both registers of the module come back.
    assert_eq!(words(text, 32)[..4], [2114, 2115, 2116, 0]);
}

#[test]
fn kernels_of_the_first_ptx_declare_their_parameters_inside() {
    let text = "
        .version 1.1
        .target sm_10
        .entry k
        {
            .param .u32 __parm_out;
            .reg .u32 $r1, $r2;
            ld.param.u32 $r1, [__parm_out];
            mov.u32 $r2, 5;
            st.global.u32 [$r1], $r2;
            exit;
        }";
    assert_eq!(words(text, 1), [5]);
}
