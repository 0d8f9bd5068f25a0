//! Templates beside the launch files of the built-in workloads, and of kernels that are harder to
//! understand.

use strata_ptx::module::Module;

use super::*;
use crate::workload::plan::{self, LaunchStep};
use crate::workload::{LaunchPlan, Toolchain, all_names};

fn parsed(ptx: &str) -> Module {
    let parsed = strata_ptx::parse(ptx);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.module
}

fn template<'m>(module: &'m Module, kernel: &str) -> Template<'m> {
    let id = module.kernel(kernel).expect("a kernel");
    let body = inline(module, id).expect("it can be compiled");
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
        (Value::Buffer { element, .. }, plan::Argument::Buffer { index, .. }) => {
            let buffer = &plan.buffers[*index];
            // clang loads two words in the place of a double-precision number.
            let clang = matches!(toolchain, Toolchain::Clang | Toolchain::Clang32);
            let same = clang || element.bytes() >= buffer.element.bytes();
            (!same).then(|| format!("{element:?} of {:?}", buffer.element))
        }
        (Value::Integer(name) | Value::Real(name), plan::Argument::Scalar(scalar)) => {
            let float = matches!(guess, Value::Real(_));
            let bytes = name[1..].parse::<usize>().expect("a width") / 8;
            let same = scalar.kind.is_float() == float && scalar.kind.bytes() == bytes;
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
    assert!(told[0].starts_with("Buffer { name: \"bytes\", element: "), "{told:?}");
    assert!(told[0].ends_with("read: true, written: true }"), "{told:?}");
    assert_eq!(told[1], "Integer(\"u64\")");
    let pointer =
        "Buffer { name: \"in_8\", element: U16, count: 1024, read: true, written: false }";
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
