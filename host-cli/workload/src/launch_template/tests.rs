//! Templates beside the launch files of the built-in workloads, and of kernels that are harder to
//! understand.

use strata_ptx::module::Module;

use super::value::{Buffer, Value};
use super::*;
use crate::plan::{self, LaunchStep};
use crate::{LaunchPlan, Toolchain, all_names};

fn parsed(ptx: &str) -> Module {
    let parsed = strata_ptx::parse(ptx);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.module
}

fn template<'m>(module: &'m Module, kernel: &str) -> Template<'m> {
    let id = module.kernel(kernel).expect("a kernel");
    let body = inline(module, id).expect("it can be compiled").with_registers_for_values();
    Template::new("k.ptx", &module.functions[id.index()], &body, module)
}

/// What differs between a guess and an argument of a launch, if anything does.
fn difference(
    guess: &Value,
    argument: &plan::Argument,
    plan: &LaunchPlan,
    toolchain: Toolchain,
) -> Option<String> {
    match (guess, argument) {
        (Value::Buffer(Buffer { element, .. }), plan::Argument::Buffer { index, .. }) => {
            let buffer = &plan.buffers[*index];
            // clang loads two words in the place of a double-precision number.
            let clang = matches!(toolchain, Toolchain::Clang | Toolchain::Clang32);
            let same = clang || element.bytes() >= buffer.element.bytes();
            (!same).then(|| format!("{element:?} of {:?}", buffer.element))
        }
        (Value::Integer(name) | Value::Real(name), plan::Argument::Scalar(scalar)) => {
            let float = matches!(guess, Value::Real(_));
            let bytes = name[1..].parse::<usize>().expect("a width") / 8;
            let same = scalar.kind.is_float() == float && scalar.kind.bytes() == bytes as u64;
            (!same).then(|| format!("{name} of {}", scalar.kind.name()))
        }
        _ => Some(format!("{guess:?} of {argument:?}")),
    }
}

/// The launch files say what each parameter is: the guesses from the code must agree, whichever
/// compiler made it.
#[test]
fn parameters_of_every_workload_are_recognised() {
    let mut compared = 0;
    for name in all_names() {
        for toolchain in Toolchain::ALL {
            let workload = Workload::builtin(name, toolchain).unwrap();
            let module = parsed(&workload.ptx);
            let (plan, _) = workload.plan("small", &Overrides::new(), &module).unwrap();
            let mut steps: Vec<LaunchStep> = Vec::new();
            plan.foresee(|step| steps.push(step.clone())).unwrap();
            for (number, kernel) in plan.kernels.iter().enumerate() {
                let guessed = template(&module, kernel);
                let step = steps.iter().find(|step| step.kernel == number).expect("a launch");
                assert_eq!(guessed.arguments.len(), step.arguments.len());
                for (guess, argument) in guessed.arguments.iter().zip(&step.arguments) {
                    let told = difference(&guess.value, argument, &plan, toolchain);
                    let place = format!("{name} {toolchain:?} {kernel} {}", guess.name);
                    assert_eq!(told, None, "{place}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

/// A template of a workload is a launch file, and most run as they are.
#[test]
fn templates_of_workloads_run() {
    let mut still = Vec::new();
    let mut made = 0;
    for name in all_names() {
        let workload = Workload::builtin(name, Toolchain::Nvcc).unwrap();
        let module = parsed(&workload.ptx);
        for (id, function) in module.kernels() {
            made += 1;
            let made = make("kernel.ptx", &workload.ptx, &module, id).unwrap();
            if let Some(fault) = made.fault {
                still.push(format!("{}: {fault}", function.name));
            }
            let launch = ("l.toml".to_owned(), Cow::Owned(made.text));
            let ptx = ("k.ptx".to_owned(), workload.ptx.clone());
            let again = Workload::from_texts("x".to_owned(), ptx, launch).unwrap();
            let planned = again.plan("default", &Overrides::new(), &module);
            assert!(planned.is_ok(), "{name} {}: {planned:?}", function.name);
        }
    }
    assert!(still.len() * 10 <= made, "{} of {made}: {still:#?}", still.len());
}

const HARD: &str = "
.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 out) get(.param .b64 base, .param .b64 place)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [base];
    ld.param.u64 %rd2, [place];
    add.s64 %rd3, %rd1, %rd2;
    ld.u16 %r1, [%rd3];
    st.param.b32 [out], %r1;
    ret;
}
.visible .entry hard(
    .param .u64 hard_bytes,
    .param .u64 hard_skipped,
    .param .align 8 .b8 hard_in[24],
    .param .b32 hard_scale,
    .param .b32 hard_mask,
    .param .align 4 .b8 hard_unread[12]
) .reqntid 8, 4, 1
{
    .reg .b64 %rd<9>;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    ld.param.u64 %rd1, [hard_bytes];
    ld.param.u64 %rd2, [hard_skipped];
    cvta.to.global.u64 %rd3, %rd1;
    add.s64 %rd4, %rd3, %rd2;
    ld.global.u8 %r1, [%rd4];
    ld.param.u64 %rd5, [hard_in+8];
    {
        .param .b64 base;
        .param .b64 place;
        .param .b32 out;
        st.param.b64 [base], %rd5;
        st.param.b64 [place], %rd2;
        call (out), get, (base, place);
        ld.param.b32 %r2, [out];
    }
    ld.param.b32 %r3, [hard_mask];
    and.b32 %r4, %r1, %r3;
    ld.param.b32 %f1, [hard_scale];
    mul.f32 %f2, %f1, %f1;
    st.global.v2.f32 [%rd4], {%f2, %f1};
    ret;
}
";

#[test]
fn pointers_are_told_from_what_is_added_to_them() {
    let module = parsed(HARD);
    let guessed = template(&module, "hard");
    let told: Vec<_> = guessed.arguments.iter().map(|one| format!("{:?}", one.value)).collect();
    assert!(told[0].starts_with("Buffer(Buffer { name: \"bytes\", element: "), "{told:?}");
    assert!(told[0].contains("read: true, written: true"), "{told:?}");
    assert_eq!(told[1], "Integer(\"u64\")");
    let pointer = "Buffer(Buffer { name: \"in_8\", element: U16, count: 1024, \
                   read: true, written: false, copied: false, target: None })";
    assert_eq!(told[2], format!("Structure([Integer(\"u64\"), {pointer}, Integer(\"u64\")], 8)"));
    assert_eq!((told[3].as_str(), told[4].as_str()), ("Real(\"f32\")", "Integer(\"u32\")"));
    let three = "Integer(\"u32\"), Integer(\"u32\"), Integer(\"u32\")";
    assert!(told[5] == format!("Structure([{three}], 4)") || told[5].contains("u64"), "{told:?}");
    assert_eq!(guessed.block, [8, 4]);
}

/// Copies, frames, references and odd structures: what each argument and table is.
const ODD: &str = "
.version 7.0
.target sm_80
.address_size 64
.global .texref picture;
.visible .entry odd(
    .param .u64 odd_copied,
    .param .u64 odd_kept,
    .param .u64 odd_canvas,
    .param .align 1 .b8 odd_bytes[3],
    .param .b32 odd_none[]
)
{
    .local .align 8 .b8 frame[16];
    .shared .align 4 .b8 tile[4];
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    ld.param.u64 %rd1, [odd_copied];
    mov.u32 %r1, tile;
    cp.async.ca.shared.global [%r1], [%rd1], 4;
    mov.u64 %rd2, frame;
    cvta.local.u64 %rd3, %rd2;
    ld.param.u64 %rd4, [odd_kept];
    st.u64 [%rd3+8], %rd4;
    add.u64 %rd5, %rd3, 8;
    ld.u64 %rd6, [%rd5];
    st.global.u32 [%rd6], %r1;
    ld.param.u64 %rd7, [odd_canvas];
    mov.u32 %r2, 3000;
    sust.b.2d.v2.b32.trap [%rd7, {%r2, %r1}], {%r1, %r1};
    ld.param.u8 %r3, [odd_bytes+2];
    tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%r1, %f1, %f1, %f1}];
    add.f32 %f5, %f1, %f2;
    ret;
}
";

#[test]
fn samplers_that_the_ptx_initialises_keep_what_it_says() {
    let text = ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64
.global .texref picture;
.global .samplerref smooth = { addr_mode_0 = clamp_to_border, filter_mode = linear };
.global .samplerref plain;
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd; .reg .f32 %f<5>;
    ld.param.u64 %rd, [out];
    mov.f32 %f1, 1.0;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, smooth, {%f1, %f1}];
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, plain, {%f1, %f1}];
    st.global.f32 [%rd], %f1;
    ret;
}";
    let module = parsed(text);
    let made = template(&module, "k").to_string();
    let table = |name: &str| {
        let start = made.find(&format!("name = \"{name}\"")).expect("a table");
        made[start..].split("\n\n").next().expect("its lines").to_owned()
    };
    assert!(table("smooth").contains("as the PTX says") && table("plain").contains("filter = "));
    assert!(!table("smooth").contains("filter = "), "{made}");
    let id = module.kernel("k").expect("a kernel");
    let made = make("k.ptx", text, &module, id).expect("it can be compiled");
    assert!(made.fault.is_none(), "{:?}", made.fault);
}

#[test]
fn copies_frames_surfaces_and_references_are_recognised() {
    let module = parsed(ODD);
    let guessed = template(&module, "odd");
    let told: Vec<_> = guessed.arguments.iter().map(|one| format!("{:?}", one.value)).collect();
    assert!(told[0].starts_with("Buffer") && told[0].contains("read: true"), "{told:?}");
    assert!(told[1].starts_with("Buffer") && told[1].contains("written: true"), "{told:?}");
    assert!(told[2].starts_with("Object") && told[2].contains("Surface"), "{told:?}");
    let bytes = ["Integer(\"u8\")"; 3].join(", ");
    assert_eq!(told[3], format!("Structure([{bytes}], 1)"));
    assert_eq!(told[4], "Bytes(0)");
    let text = guessed.to_string();
    for part in [
        "dimensions = \"2d\"\nwidth = 128\nheight = 128\nformat = \"u32x2\"",
        "dimensions = \"a2d\"\nwidth = 128\nheight = 32\ndepth = 4 ",
        "format = \"f32x2\"",
        "reference = \"picture\"",
        "{ object = \"canvas\" }",
        "{ bytes = [] }",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The surface is made wide enough for the access.
    let id = module.kernel("odd").expect("a kernel");
    let made = make("odd.ptx", ODD, &module, id).expect("it can be compiled");
    assert!(made.fault.is_none(), "{:?}", made.fault);
    assert!(made.text.contains("width = 512"), "{}", made.text);
}

/// The PTX of a kernel with three pointers, `x`, `y` and `z`, and a body.
fn moving(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100\n.address_size 64\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr y, .param .u64 .ptr .global z)\n\
         {{ .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %a<9>, %d<9>;\n\
         .reg .pred %p; .shared .align 8 .b8 s[64];\n\
         ld.param.b64 %a1, [x];\nld.param.b64 %a2, [y];\nld.param.b64 %a3, [z];\n\
         {body}\nret;\n}}\n"
    )
}

/// What computing, before or behind a move, says of the buffers of `x`, `y` and `z`.
const MOVED: &[(&str, [&str; 3])] = &[
    (
        "ld.global.b32 %r1, [%a1]; add.rn.f32 %r2, %r1, %r1; st.global.b32 [%a2], %r2;",
        ["f32", "f32", "u8"],
    ),
    ("ld.global.b32 %r1, [%a1]; st.global.b32 [%a2], %r1;", ["u32 copied", "u32 copied", "u8"]),
    // The type of a copy is that of where it comes from, or else of where it goes.
    (
        "ld.global.b32 %r1, [%a1]; st.global.b32 [%a2], %r1; ld.global.b32 %r2, [%a2]; \
         mul.f32 %r3, %r2, %r2; st.global.b32 [%a3], %r3;",
        ["f32", "f32", "f32"],
    ),
    // Through shared memory, shuffles, choices, comparisons and atomics.
    (
        "ld.global.b32 %r1, [%a1]; st.shared.b32 [s], %r1; bar.sync 0; ld.shared.b32 %r2, [s+4]; \
         shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.f32 %r4, %r3, %r2; st.global.b32 [%a2], %r3;",
        ["f32", "f32", "u8"],
    ),
    (
        "ld.global.b32 %r1, [%a1]; ld.global.b32 %r2, [%a2]; setp.lt.f32 %p, %r1, 0f00000000; \
         selp.b32 %r3, %r1, %r2, %p; st.global.b32 [%a3], %r3;",
        ["f32", "f32", "f32"],
    ),
    (
        "ld.global.b32 %r1, [%a1]; setp.lt.s32 %p, %r1, 3; ld.global.b32 %r2, [%a2]; \
         div.u32 %r3, %r2, 3; cvt.rn.f32.s32 %r4, %r1; st.global.b32 [%a3], %r4;",
        ["s32", "u32", "f32"],
    ),
    (
        "ld.global.b32 %r1, [%a1]; add.f32 %r2, %r1, %r1; \
         atom.global.cas.b32 %r3, [%a2], %r1, %r2;",
        ["f32", "f32", "u8"],
    ),
    // A register that holds two things one after the other.
    (
        "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %a1, %a1, %d1; shr.u32 %r2, %r1, 1; \
         ld.global.b32 %r1, [%a1]; add.f32 %r2, %r1, %r1; st.global.b32 [%a2], %r2;",
        ["f32", "f32", "u8"],
    ),
    // Shared memory that holds halves first and then numbers of single precision.
    (
        "ld.global.b16 %h1, [%a1]; add.f16 %h2, %h1, %h1; st.shared.b16 [s], %h1; st.shared.b16 [s+2], %h2; \
         ld.shared.b32 %r1, [s]; mul.f16x2 %r2, %r1, %r1; st.shared.b32 [s], %r2; \
         ld.global.b32 %r3, [%a2]; add.f32 %r4, %r3, %r3; st.shared.b32 [s+8], %r4; \
         ld.shared.b32 %r5, [s+8]; st.global.b32 [%a3], %r5;",
        ["f16", "f32", "f32"],
    ),
    // Halves, in pairs, and bfloat16 as the upper half of single precision.
    (
        "ld.global.b32 %r1, [%a1]; mul.f16x2 %r2, %r1, %r1; mov.b32 {%h1, %h2}, %r2; \
         st.global.b16 [%a2], %h1; ld.global.b16 %h3, [%a3]; mov.b32 %r3, {0, %h3}; add.f32 %r4, %r3, %r3;",
        ["f16", "f16", "bf16"],
    ),
    (
        "ld.global.b32 %r1, [%a1]; shl.b32 %r2, %r1, 16; and.b32 %r3, %r1, -65536; \
         add.f32 %r4, %r2, %r3; cvt.rn.bf16.f32 %h1, %r4; st.global.b16 [%a2], %h1; \
         ld.global.b16 %h2, [%a3]; cvt.f32.f16 %r5, %h2;",
        ["bf16", "bf16", "f16"],
    ),
    // Numbers that are moved in pairs, of one kind and of two.
    (
        "ld.global.b64 %d1, [%a1]; mov.b64 {%r1, %r2}, %d1; add.f32 %r3, %r1, %r2; \
         mov.b64 %d2, {%r3, %r3}; st.global.b64 [%a2], %d2; \
         ld.global.v2.b32 {%r4, %r5}, [%a3]; mul.f32 %r4, %r4, %r4;",
        ["f32", "f32", "f32"],
    ),
    (
        "ld.global.b64 %d1, [%a1]; mov.b64 {%r1, %r2}, %d1; shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1; \
         mov.b64 %d2, {%r1, %r2}; add.f64 %d3, %d1, %d2; st.global.b64 [%a2], %d3; \
         ld.global.b64 %d4, [%a3]; add.s64 %d4, %d4, 1; setp.lt.s64 %p, %d4, 0;",
        ["f64", "f64", "s64"],
    ),
    (
        "ld.global.b8 %h1, [%a1]; cvt.s32.s8 %r1, %h1; cvt.rn.f32.s32 %r2, %r1; st.global.b32 [%a2], %r2; \
         ld.global.u8 %h2, [%a3]; cvt.u32.u16 %r3, %h2;",
        ["s8", "f32", "u8"],
    ),
];

#[test]
fn untyped_moves_have_the_type_of_what_is_computed() {
    for (body, expected) in MOVED {
        let ptx = moving(body);
        let module = parsed(&ptx);
        let guessed = template(&module, "k");
        let told = guessed.arguments.iter().map(|argument| match &argument.value {
            Value::Buffer(buffer) => {
                let copied = if buffer.copied { " copied" } else { "" };
                format!("{}{copied}", buffer.element.name())
            }
            other => format!("{other:?}"),
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{body}");
    }
}

#[test]
fn structures_are_followed_piece_by_piece_and_pointers_through_memory() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .align 8 .b8 p[40], .param .u64 .ptr .global rows, .param .u64 .ptr .shared .align 4 w)
{
    .reg .b32 %r<9>; .reg .b64 %a<9>; .reg .pred %p;
    .shared .align 8 .b8 s[64];
    ld.param.v2.b64 {%a1, _}, [p];
    ld.param.b64 %a2, [p+16];
    mov.b64 {%r1, %r2}, %a2;
    ld.param.v2.b32 {%r3, %r4}, [p+24];
    mov.b64 %a3, {%r3, %r4};
    setp.lt.s32 %p, %r2, 1;
    mul.f32 %r5, %r1, %r1;
    st.shared.b64 [s], %a3;
    ld.shared.b64 %a4, [s];
    st.global.b32 [%a4], %r5;
    ld.global.b32 %r6, [%a1];
    max.u32 %r6, %r6, 1;
    ld.param.b64 %a5, [rows];
    ld.global.b64 %a6, [%a5+8];
    ld.global.b32 %r7, [%a6];
    add.f32 %r7, %r7, %r7;
    ld.param.b64 %a7, [w];
    ld.shared.b32 %r8, [%a7+64];
    ret;
}
";
    let module = parsed(ptx);
    let made = make("k.ptx", ptx, &module, module.kernel("k").expect("a kernel")).unwrap();
    assert!(made.fault.is_none(), "{:?}", made.fault);
    for part in [
        "{ align = 8, fields = [\"p_0\", { u64 = \"n\" }, { f32 = 1.0 }, { s32 = \"n\" }, \"p_24\", \
         { u64 = \"n\" }] }",
        "name = \"p_0\"\ntype = \"u32\"",
        "name = \"p_24\"\ntype = \"f32\"",
        "name = \"rows_target\"\ntype = \"f32\"",
        "name = \"rows\"\ntype = \"u64\"",
        "generator = { addresses = [\"rows_target\"] }",
        "{ u64 = 64 }",
    ] {
        assert!(made.text.contains(part), "{part}\n{}", made.text);
    }
}

#[test]
fn names_of_cpp_tell_types_that_the_code_does_not() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4movePK13__nv_bfloat16PdP4pairifb(.param .u64 a, .param .u64 b, .param .u64 c,
    .param .u32 d, .param .b32 e, .param .u8 f)
{
    .reg .b16 %h; .reg .b32 %r<3>; .reg .b64 %a<4>; .reg .pred %p;
    ld.param.u64 %a1, [a];
    ld.param.u64 %a2, [c];
    ld.param.b32 %r1, [e];
    ld.param.u32 %r2, [d];
    setp.eq.u32 %p, %r2, 77;
    @%p ret;
    ld.global.b16 %h, [%a1];
    st.global.b16 [%a2], %h;
    st.global.b32 [%a2+4], %r1;
    ret;
}
";
    let module = parsed(ptx);
    let kernel = module.kernels().next().expect("a kernel").0;
    let made = make("k.ptx", ptx, &module, kernel).unwrap();
    assert!(made.fault.is_none(), "{:?}", made.fault);
    for part in [
        "description = \"kernel move(__nv_bfloat16 const*, double*, pair*, int, float, bool) of k.ptx\"",
        "name = \"a\"\ntype = \"bf16\"\n",
        "name = \"b\"\ntype = \"f64\"\n",
        "name = \"c\"\ntype = \"u32\"   ",
        "{ s32 = \"n\" }",
        "{ f32 = 1.0 }",
        "{ u8 = \"min(n, 255)\" }",
    ] {
        assert!(made.text.contains(part), "{part}\n{}", made.text);
    }
}

#[test]
fn kernels_that_wait_for_the_grid_get_cooperative_launches() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
.maxntid 1024, 1, 1
{
    .reg .b32 %r<4>; .reg .b64 %a; .reg .pred %p;
    mov.u32 %r1, %envreg2;
    mov.u32 %r2, %envreg1;
    mov.b64 %a, {%r1, %r2};
    setp.ne.s64 %p, %a, 0;
    @%p bra ok;
    trap;
ok:
    ret;
}
";
    let module = parsed(ptx);
    let made = make("k.ptx", ptx, &module, module.kernel("k").expect("a kernel")).unwrap();
    assert!(made.fault.is_none(), "{:?}", made.fault);
    assert!(made.text.contains("\ncooperative = true"), "{}", made.text);
}

#[test]
fn rows_of_blocks_are_warps_where_a_kernel_needs_that() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .global .u32 bins[16];
.visible .entry k()
{
    .reg .b32 %r<4>; .reg .b64 %a; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    setp.ne.u32 %p, %r2, 0;
    @%p bra out;
    shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;
out:
    cvta.global.u64 %a, bins;
    atom.add.u32 _, [%a], 1;
    ret;
}
";
    let module = parsed(ptx);
    let made = make("k.ptx", ptx, &module, module.kernel("k").expect("a kernel")).unwrap();
    assert!(made.fault.is_none(), "{:?}", made.fault);
    for part in ["\nblock = [32, 4] ", "# variable = \"bins\"\n# type = \"u32\"\n"] {
        assert!(made.text.contains(part), "{part}\n{}", made.text);
    }
}
