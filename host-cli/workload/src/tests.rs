//! Launch files against hand-made modules: what a plan contains, and every mistake's message.

use std::borrow::Cow;
use std::path::Path;

use strata_ptx::module::{Function, Linkage, Module, Span, StateSpace, Variable};
use strata_ptx::types::ScalarType;

use super::plan::{Argument, DriveError, LaunchStep, LaunchTarget};
use super::*;

mod launches;
mod mistakes;

fn parameter(ty: ScalarType, dimensions: Vec<u64>) -> Variable {
    let size = u64::from(ty.bytes()) * dimensions.iter().product::<u64>();
    Variable {
        name: "p".to_owned(),
        space: StateSpace::Param,
        ty,
        vector: 1,
        dimensions,
        align: ty.bytes(),
        size,
        initial: None,
        linkage: Linkage::Internal,
        register: None,
        pointer: None,
        span: Span::default(),
    }
}

fn kernel(name: &str, types: &[ScalarType]) -> Function {
    Function {
        name: name.to_owned(),
        kernel: true,
        defined: true,
        linkage: Linkage::Visible,
        variables: types.iter().map(|ty| parameter(*ty, vec![])).collect(),
        parameters: types.len() as u32,
        results: 0,
        ..Function::default()
    }
}

fn module() -> Module {
    let mut aggregate = kernel("aggregate", &[]);
    aggregate.variables.push(parameter(ScalarType::B8, vec![12]));
    aggregate.parameters = 1;
    let mut device = kernel("device", &[]);
    device.kernel = false;
    Module {
        version: (9, 5),
        target: "sm_75".to_owned(),
        address_bits: 64,
        line_starts: vec![0],
        cuda: strata_ptx::cuda::CudaLines::default(),
        registers: vec![],
        variables: vec![],
        functions: vec![
            kernel("copy", &[ScalarType::U64, ScalarType::U64, ScalarType::U32]),
            kernel("scale", &[ScalarType::U64, ScalarType::F32]),
            aggregate,
            device,
        ],
    }
}

const HEAD: &str = "\
description = \"test\"
[size.small]
n = 100
steps = 3
[[buffer]]
name = \"a\"
type = \"u32\"
count = \"n\"
generator = \"iota\"
[[buffer]]
name = \"b\"
type = \"u32\"
count = \"n\"
generator = \"zero\"
";

fn workload(launch: String) -> Result<Workload, WorkloadError> {
    let ptx = ("k.ptx".to_owned(), Cow::Borrowed(""));
    Workload::from_texts("test".to_owned(), ptx, ("l.toml".to_owned(), Cow::Owned(launch)))
}

fn plan(launch: String) -> Result<LaunchPlan, WorkloadError> {
    Ok(workload(launch)?.plan("small", &Overrides::new(), &module())?.0)
}

/// A message without the column of its place, which one test is about.
fn told(error: &impl std::fmt::Display) -> String {
    let message = error.to_string();
    let mut parts = message.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(line), Some(column), Some(rest)) if column.parse::<u32>().is_ok() => {
            format!("{file}:{line}:{rest}")
        }
        _ => message,
    }
}

/// The message for a file of HEAD and `tail`.
fn message(tail: &str) -> String {
    told(&plan(format!("{HEAD}{tail}")).expect_err(tail))
}

/// The message for a launch of `copy` with these lines in place of the usual ones.
fn launch_message(fields: &[(&str, &str)]) -> String {
    let mut lines = vec![
        ("kernel", "\"copy\""),
        ("grid", "[1]"),
        ("block", "[32]"),
        ("arguments", "[\"a\", \"b\", { u32 = 1 }]"),
    ];
    for (key, value) in fields {
        match lines.iter_mut().find(|(known, _)| known == key) {
            Some(line) => line.1 = value,
            None => lines.push((key, value)),
        }
    }
    let text: Vec<String> = lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    message(&format!("[[launch]]\n{}", text.concat()))
}

/// Records what is asked of it; a flag becomes zero after `rounds` questions.
#[derive(Default)]
struct Recorder {
    steps: Vec<LaunchStep>,
    writes: Vec<(usize, Vec<u8>)>,
    rounds: u64,
}

impl LaunchTarget for Recorder {
    type Error = ();

    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), ()> {
        self.writes.push((buffer, bytes.to_vec()));
        Ok(())
    }

    fn is_zero(&mut self, _: usize) -> Result<bool, ()> {
        self.rounds = self.rounds.checked_sub(1).ok_or(())?;
        Ok(self.rounds == 0)
    }

    fn launch(&mut self, index: u64, step: &LaunchStep) -> Result<(), ()> {
        assert_eq!(index, self.steps.len() as u64);
        self.steps.push(step.clone());
        Ok(())
    }
}

#[test]
fn steps_run_in_file_order_with_their_own_index() {
    let tail = "
[[phase]]
repeat = \"steps\"
[[phase.launch]]
kernel = \"copy\"
grid = [\"i + 1\", 2]
block = [\"ceil(n, 2)\"]
arguments = [{ buffer = [\"a\", \"b\"], select = \"i % 2\" }, \"b\", { u32 = \"n - i\" }]
[[phase.launch]]
kernel = \"scale\"
grid = [1]
block = [8, 4, 2]
shared = \"4 * n\"
arguments = [\"a\", { f32 = 0.5 }]

[[launch]]
kernel = \"copy\"
grid = [7]
block = [1]
arguments = [\"b\", \"a\", { s32 = -1 }]

[[phase]]
[[phase.launch]]
kernel = \"scale\"
grid = [9]
block = [1]
arguments = [\"a\", { f32 = \"n\" }]
";
    let plan = plan(format!("{HEAD}{tail}")).expect("a good file");
    assert_eq!(plan.kernels, ["copy", "scale"]);
    assert_eq!(plan.buffers.iter().map(buffer::BufferPlan::bytes).sum::<u64>(), 800);
    let mut recorder = Recorder::default();
    assert_eq!(plan.drive(&mut recorder).expect("drives"), 8);

    let kernels: Vec<usize> = recorder.steps.iter().map(|step| step.kernel).collect();
    assert_eq!(kernels, [0, 1, 0, 1, 0, 1, 0, 1]);
    let grids: Vec<u32> = recorder.steps.iter().map(|step| step.grid[0]).collect();
    assert_eq!(grids, [1, 1, 2, 1, 3, 1, 7, 9]);
    assert_eq!(recorder.steps[0].grid, [1, 2, 1]);
    assert_eq!(recorder.steps[0].block, [50, 1, 1]);
    assert_eq!(recorder.steps[1].block, [8, 4, 2]);
    assert_eq!(recorder.steps[1].dynamic_shared, 400);

    let first: Vec<Argument> =
        recorder.steps.iter().map(|step| step.arguments[0].clone()).collect();
    assert_eq!(first[0], Argument::Buffer { index: 0, offset: 0 });
    assert_eq!(first[2], Argument::Buffer { index: 1, offset: 0 });
    assert_eq!(first[4], Argument::Buffer { index: 0, offset: 0 });
    let scalar = |step: usize, at: usize| match recorder.steps[step].arguments[at] {
        Argument::Scalar(scalar) => scalar.bytes(),
        _ => panic!("a scalar is expected"),
    };
    assert_eq!(scalar(4, 2), 98_u32.to_le_bytes());
    assert_eq!(scalar(1, 1), 0.5_f32.to_le_bytes());
    assert_eq!(scalar(6, 2), (-1_i32).to_le_bytes());
    assert_eq!(scalar(7, 1), 100_f32.to_le_bytes());
}

#[test]
fn until_zero_asks_after_each_iteration_and_resets_before() {
    let tail = "
[[launch]]
until_zero = \"b\"
at_most = 5
reset = [{ buffer = \"b\", value = 258 }]
kernel = \"copy\"
grid = [1]
block = [1]
arguments = [\"a\", \"b\", { u32 = \"i\" }]
";
    let plan = plan(format!("{HEAD}{tail}")).expect("a good file");
    let mut recorder = Recorder { rounds: 3, ..Recorder::default() };
    assert_eq!(plan.drive(&mut recorder).expect("drives"), 3);
    assert_eq!(recorder.writes.len(), 3);
    assert_eq!(recorder.writes[0].0, 1);
    assert_eq!(recorder.writes[0].1, [2, 1, 0, 0].repeat(100));

    let mut recorder = Recorder { rounds: 6, ..Recorder::default() };
    match plan.drive(&mut recorder) {
        Err(DriveError::Plan(error)) => assert_eq!(
            told(&error),
            "l.toml:17: launch[0].until_zero: `b` is still not zero after 5 iterations"
        ),
        other => panic!("expected the bound to be reported, got {other:?}"),
    }
}

#[test]
fn overrides_replace_parameters() {
    let tail = "[[launch]]\nkernel = \"copy\"\ngrid = [1]\nblock = [1]\n\
                arguments = [\"a\", \"b\", { u32 = \"n\" }]\n";
    let workload = workload(format!("{HEAD}{tail}")).expect("a good file");
    let with = |name: &str, value| {
        workload.plan("small", &Overrides::from([(name.to_owned(), value)]), &module())
    };
    let (plan, check) = with("n", 7).expect("a good override");
    assert_eq!(plan.buffers[0].count, 7);
    assert!(check.is_none());
    assert_eq!(
        with("m", 7).expect_err("no such parameter").to_string(),
        "workload `test` has no parameter `m`; it has n, steps"
    );
    let all = |value| match with("n", value) {
        Err(WorkloadError::Launch(errors)) => errors.all().iter().map(told).collect(),
        other => panic!("{value}: {other:?}"),
    };
    let negative: Vec<String> = all(-1);
    assert_eq!(
        negative,
        [
            "l.toml:8: buffer[0].count: the number of elements is -1; expected 1 or more",
            "l.toml:13: buffer[1].count: the number of elements is -1; expected 1 or more",
            "l.toml:19: launch[0].arguments[2]: the argument is -1; expected 0 to 4294967295",
        ]
    );
    let huge = all(1 << 31);
    assert_eq!(huge, ["l.toml:5: buffer[0]: the buffers need more than 2147483648 bytes together"]);
    let error = workload.plan("large", &Overrides::new(), &module()).expect_err("no such size");
    assert_eq!(error.to_string(), "workload `test` has no size `large`; it defines small");
}

#[test]
fn overrides_are_read_from_text() {
    assert_eq!(parse_override("n=4096").expect("good"), ("n".to_owned(), 4096));
    assert_eq!(parse_override(" n = -4 * 1_024 ").expect("good"), ("n".to_owned(), -4096));
    for (text, because) in [
        ("n", "there is no `=`"),
        ("=3", "there is no name before the `=`"),
        ("n=", "expected a number, a name or `(` at column 1 of ``, found the end"),
        ("n=m", "unknown name `m`; known here: none"),
        ("n=1=2", "expected an operator or the end at column 2 of `1=2`, found `=`"),
    ] {
        let error = parse_override(text).expect_err(text);
        assert_eq!(error.to_string(), format!("`{text}` sets no parameter: {because}"));
        assert!(error.help().starts_with("write NAME=VALUE"));
    }
}

#[test]
fn syntax_errors_name_line_and_field() {
    for (text, expected) in [
        ("description = \n", "l.toml:1: "),
        ("size.small.n = 1\n", "l.toml:1: `description` is missing"),
        (
            "description = \"x\"\nsize.small.n = \"y\"\n",
            "l.toml:2: size.small.n: expected a whole number",
        ),
        ("description = \"x\"\ncolour = 1\n", "l.toml:2: there is no key `colour` here"),
    ] {
        let error = told(&workload(text.to_owned()).expect_err(text));
        assert!(error.starts_with(expected), "{error}");
    }
    let error = message("[[buffer]]\nname = \"c\"\ntype = \"f8\"\ncount = 1\ngenerator = \"zero\"");
    assert!(
        error.starts_with("l.toml:17: buffer[2].type: there is no `f8` here; there are `u8`"),
        "{error}"
    );
    let error = launch_message(&[("grid", "[\"n +\"]")]);
    assert!(error.contains("launch[0].grid[0]: expected a number, a name or `(`"), "{error}");
    let error = launch_message(&[("repaet", "3")]);
    assert!(error.starts_with("l.toml:20: launch[0]: there is no key `repaet` here"), "{error}");
    let error = launch_message(&[("arguments", "[{ u33 = 1 }]")]);
    assert!(error.contains("launch[0].arguments[0]: there is no key `u33` here"), "{error}");
    let error = launch_message(&[("arguments", "[true]")]);
    assert!(error.contains("expected a buffer's name, a number or a table such as"), "{error}");
}

/// Launches of `copy` with some lines replaced, and the message for each.
fn assert_messages(cases: &[(&[(&str, &str)], &str)]) {
    for (fields, expected) in cases {
        assert_eq!(launch_message(fields), *expected, "{fields:?}");
    }
}

#[test]
fn mistakes_of_a_launch_are_named() {
    assert_messages(&[
        (
            &[("kernel", "\"cpy\"")],
            "l.toml:16: launch[0].kernel: there is no kernel `cpy`; there are: copy, scale, \
            aggregate",
        ),
        (
            &[("kernel", "\"device\"")],
            "l.toml:16: launch[0].kernel: there is no kernel `device`; there are: copy, scale, \
          aggregate",
        ),
        (
            &[("grid", "[0]")],
            "l.toml:17: launch[0].grid: a grid dimension is 0; expected 1 to 2147483647",
        ),
        (
            &[("grid", "[1, 65536]")],
            "l.toml:17: launch[0].grid: a grid dimension is 65536; expected 1 to 65535",
        ),
        (&[("grid", "[]")], "l.toml:17: launch[0].grid: expected 1 to 3 dimensions, found 0"),
        (
            &[("grid", "[1, 1, 1, 1]")],
            "l.toml:17: launch[0].grid: expected 1 to 3 dimensions, found 4",
        ),
        (
            &[("grid", "[\"m\"]")],
            "l.toml:17: launch[0].grid: unknown name `m`; known here: i, n, steps",
        ),
        (
            &[("block", "[64, 32]")],
            "l.toml:18: launch[0].block: the number of threads of a CTA is 2048; expected 1 to \
            1024",
        ),
        (
            &[("shared", "-4")],
            "l.toml:20: launch[0].shared: the dynamic shared memory in bytes is -4; expected 0 to \
          232448",
        ),
    ]);
    assert_eq!(message(""), "l.toml: the file launches nothing");
}

#[test]
fn mistakes_of_arguments_and_repetition_are_named() {
    assert_messages(&[
        (
            &[("arguments", "[\"a\", \"b\"]")],
            "l.toml:16: launch[0].kernel: kernel `copy` has 3 parameters, the launch gives 2 arguments",
        ),
        (
            &[("arguments", "[\"a\", \"c\", { u32 = 1 }]")],
            "l.toml:19: launch[0].arguments[1]: there is no buffer `c`; there are: a, b",
        ),
        (
            &[("arguments", "[\"a\", \"b\", \"a\"]")],
            "l.toml:19: launch[0].arguments[2]: parameter 2 of kernel `copy` is .u32, the \
            argument is \
          a buffer",
        ),
        (
            &[("arguments", "[\"a\", { u32 = 1 }, { u32 = 1 }]")],
            "l.toml:19: launch[0].arguments[1]: parameter 1 of kernel `copy` is .u64, the \
            argument is \
          u32",
        ),
        (
            &[("arguments", "[\"a\", \"b\", { f32 = 1 }]")],
            "l.toml:19: launch[0].arguments[2]: parameter 2 of kernel `copy` is .u32, the \
            argument is \
          f32",
        ),
        (
            &[("arguments", "[\"a\", \"b\", { u32 = -1 }]")],
            "l.toml:19: launch[0].arguments[2]: the argument is -1; expected 0 to 4294967295",
        ),
        (
            &[("arguments", "[\"a\", \"b\", { u32 = 1, s32 = 1 }]")],
            "l.toml:19: launch[0].arguments[2]: expected exactly one of `buffer`, `u8`, `s8`, `u16`, \
             `s16`, `u32`, `s32`, `u64`, `s64`, `f16`, `bf16`, `f32`, `f64`, `fields`, `bytes`, `object`, found 2",
        ),
        (
            &[("arguments", "[{ buffer = [\"a\", \"b\"] }, \"b\", { u32 = 1 }]")],
            "l.toml:19: launch[0].arguments[0]: `a list of buffers` needs `select`",
        ),
        (
            &[
                ("arguments", "[{ buffer = [\"a\", \"b\"], select = \"i\" }, \"b\", { u32 = 1 }]"),
                ("repeat", "3"),
            ],
            "l.toml:19: launch[0].arguments[0]: `select` is 2; expected 0 to 1",
        ),
        (
            &[("repeat", "-1")],
            "l.toml:20: launch[0].repeat: the number of repetitions is -1; expected 0 to 65536",
        ),
        (&[("until_zero", "\"a\"")], "l.toml:15: launch[0]: `until_zero` needs `at_most`"),
    ]);
    let aggregate = launch_message(&[("kernel", "\"aggregate\""), ("arguments", "[{ u32 = 1 }]")]);
    assert_eq!(
        aggregate,
        "l.toml:19: launch[0].arguments[0]: parameter 0 of kernel `aggregate` is an aggregate of \
        12 \
         bytes, the argument is u32"
    );
}

/// A buffer's address is as wide as the module's addresses.
#[test]
fn buffers_need_parameters_as_wide_as_addresses() {
    let launch = "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\narguments = [\"a\"]\n";
    for (bits, other) in [(32, 64), (64, 32)] {
        let plan = |width: u8| {
            let ty = if width == 32 { ScalarType::U32 } else { ScalarType::U64 };
            let functions = vec![kernel("k", &[ty])];
            let module = Module { address_bits: bits, functions, ..module() };
            workload(format!("{HEAD}{launch}"))?.plan("small", &Overrides::new(), &module)
        };
        plan(bits).expect("as wide");
        assert_eq!(
            told(&plan(other).expect_err("of another width")),
            format!(
                "l.toml:19: launch[0].arguments[0]: parameter 0 of kernel `k` is .u{other}, the \
                 argument is a buffer"
            )
        );
    }
}

/// A launch that is right, behind other tables.
const LAUNCH: &str = "[[launch]]\nkernel = \"scale\"\ngrid = [1]\nblock = [1]\n\
                      arguments = [\"a\", { f32 = 1 }]\n";

/// The message about a third buffer.
fn buffer_message(ty: &str, count: &str, generator: &str) -> String {
    message(&format!(
        "[[buffer]]\nname = \"c\"\ntype = \"{ty}\"\ncount = {count}\n\
         generator = {generator}\n{LAUNCH}"
    ))
}

#[test]
fn mistakes_of_buffers_are_named() {
    let expected = "buffer[2].generator: ";
    for (ty, count, generator, rest) in [
        (
            "u8",
            "257",
            "\"iota\"",
            "iota cannot fill a buffer of 257 elements of type u8: its \
          integers range from 0 to 255",
        ),
        (
            "u8",
            "1",
            "{ constant = 256 }",
            "constant cannot fill a buffer of 1 element of type \
          u8: its integers range from 0 to 255",
        ),
        (
            "u8",
            "1",
            "{ constant = 0.5 }",
            "constant cannot fill a buffer of 1 element of type \
          u8: its elements are integers",
        ),
        (
            "u32",
            "1",
            "{ uniform = { low = 0.0, high = 1.0, seed = 1 } }",
            "uniform cannot fill a \
          buffer of 1 element of type u32: it makes floating-point numbers",
        ),
        (
            "f32",
            "1",
            "{ uniform = { low = 2.0, high = 1.0, seed = 1 } }",
            "uniform cannot fill a \
          buffer of 1 element of type f32: `low` must be finite and at most `high`",
        ),
        (
            "s32",
            "1",
            "{ integers = { low = 2, high = \"n - 99\", seed = 1 } }",
            "integers cannot \
          fill a buffer of 1 element of type s32: `low` must be at most `high`",
        ),
        (
            "u32",
            "5",
            "{ graph_offsets = { nodes = 5, edges = 9, seed = 1 } }",
            "graph_offsets \
          cannot fill a buffer of 5 elements of type u32: 5 nodes have 6 u32 offsets",
        ),
        (
            "u32",
            "5",
            "{ graph_edges = { nodes = 5, edges = -9, seed = 1 } }",
            "the number of edges is -9; \
          expected 1 to 67108864",
        ),
    ] {
        let message = buffer_message(ty, count, generator);
        assert_eq!(message, format!("l.toml:19: {expected}{rest}"));
    }
}

#[test]
fn mistakes_of_texts_and_reads_are_named() {
    for (ty, generator, expected) in [
        (
            "u32",
            "{ suffix_tree = { letters = 5, seed = 1 } }",
            "suffix_tree cannot fill a buffer of 5 elements of type u32: the tree of 5 letters has \
             80 u32 words",
        ),
        (
            "u8",
            "{ reads = { letters = 5, each = 0, seed = 1 } }",
            "the number of a read's letters is 0; expected 1 to 67108864",
        ),
        (
            "u32",
            "{ reads = { letters = 5, each = 1, seed = 1 } }",
            "reads cannot fill a buffer of 5 elements of type u32: letters are of type u8",
        ),
    ] {
        let message = buffer_message(ty, "5", generator);
        assert_eq!(message, format!("l.toml:19: buffer[2].generator: {expected}"));
    }
}

#[test]
fn a_buffer_is_defined_once() {
    assert_eq!(
        message(&format!(
            "[[buffer]]\nname = \"a\"\ntype = \"u8\"\ncount = 1\ngenerator = \"zero\"\n{LAUNCH}"
        )),
        "l.toml:16: buffer[2].name: buffer `a` is defined twice"
    );
}

#[test]
fn mistakes_of_checks_are_named() {
    let check = |check: &str| message(&format!("{LAUNCH}[check]\n{check}"));
    assert!(
        check("reference = \"nothing\"\nbuffer = [{ name = \"a\" }]\n")
            .starts_with("l.toml:21: check.reference: there is no host reference `nothing`; there")
    );
    assert_eq!(
        check("reference = \"vectoradd\"\nbuffer = [{ name = \"q\" }]\n"),
        "l.toml:22: check.buffer[0].name: there is no buffer `q`; there are: a, b"
    );
    assert_eq!(
        check("reference = \"vectoradd\"\nbuffer = [{ name = \"a\", absolute = 0.5 }]\n"),
        "l.toml:22: check.buffer[0]: `a tolerance` needs `because`"
    );
    let message = check(
        "reference = \"vectoradd\"\n\
         buffer = [{ name = \"a\", absolute = -0.5, because = \"x\" }]\n",
    );
    assert!(message.contains("a tolerance of -0.5"), "{message}");
}

#[test]
fn requirements_hold_or_are_explained() {
    let require =
        |fields: &str| plan(format!("{HEAD}{LAUNCH}[[require]]\n{fields}\nbecause = \"tiles\"\n"));
    require("zero = \"n % 50\"").expect("holds");
    require("positive = \"n - 99\"").expect("holds");
    assert_eq!(
        told(&require("zero = \"n % 16\"").expect_err("does not hold")),
        "l.toml:20: require[0]: zero = `n % 16` is 4 with n = 100, steps = 3: tiles"
    );
    assert_eq!(
        told(&require("positive = \"n - 100\"").expect_err("does not hold")),
        "l.toml:20: require[0]: positive = `n - 100` is 0 with n = 100, steps = 3: tiles"
    );
    assert!(
        require("").expect_err("nothing required").to_string().contains("exactly one of `zero`")
    );
}

#[test]
fn unknown_workloads_come_with_suggestions() {
    let error = Workload::builtin("vectoradd2", Toolchain::Nvcc).expect_err("unknown");
    assert_eq!(error.to_string(), "unknown workload `vectoradd2`");
    assert_eq!(error.help(), "did you mean `vectoradd`? `strata workloads` lists all");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let missing = Path::new("no/such/kernel.ptx");
    let error = Workload::from_files(missing, missing).expect_err("missing");
    assert!(error.to_string().starts_with("no/such/kernel.ptx: "), "{error}");
    assert!(matches!(error, WorkloadError::Read { .. }), "{error:?}");

    let folder = std::env::temp_dir().join(format!("strata-workload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let binary = folder.join("kernel.cubin");
    std::fs::write(&binary, [b'E', b'L', b'F', 0xff]).expect("a temporary file");
    let error = Workload::from_files(&binary, &binary).expect_err("no text");
    std::fs::remove_dir_all(&folder).expect("removable");
    assert!(error.to_string().ends_with("kernel.cubin: the byte at offset 3 is no UTF-8 text"));
    assert!(matches!(error, WorkloadError::NotText { .. }), "{error:?}");
}

#[test]
fn built_in_launch_files_parse_and_define_both_sizes() {
    for name in all_names() {
        let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
        let sizes: Vec<&str> = workload.sizes().map(|(size, _)| size).collect();
        let large = ["needle", "bfs", "srad", "needle16", "needle32", "needle64"].contains(&name);
        let expected = ["default", "large", "small"];
        let expected = expected.into_iter().filter(|&size| large || size != "large");
        assert!(sizes.into_iter().eq(expected), "{name}");
        assert!(!workload.description().is_empty(), "{name}");
    }
}

/// The parsed PTX of a built-in workload.
fn parsed(workload: &Workload) -> Module {
    let parsed = strata_ptx::parse(&workload.ptx);
    let lines = strata_ptx::diagnostic::LineIndex::new(&workload.ptx);
    let messages: Vec<String> = parsed
        .diagnostics
        .iter()
        .map(|d| strata_ptx::diagnostic::render(d, &workload.ptx_file, &workload.ptx, &lines))
        .collect();
    assert!(messages.is_empty(), "{}", messages.join("\n"));
    parsed.module
}

#[test]
fn built_in_workloads_fit_their_kernels_and_references() {
    for name in all_names() {
        for toolchain in Toolchain::ALL {
            let workload = Workload::builtin(name, toolchain).expect(name);
            let module = parsed(&workload);
            for (size, _) in workload.sizes() {
                let (plan, check) =
                    workload.plan(size, &Overrides::new(), &module).expect("a good file");
                assert!(!plan.kernels.is_empty());
                let check = check.expect("every built-in workload is checked");
                if size == "small" {
                    let initial: Vec<Vec<u8>> =
                        plan.buffers.iter().map(buffer::BufferPlan::initial).collect();
                    let compared = check.compare(&plan, &initial).expect("the reference works");
                    // Nothing has been launched: a check that passes now could not fail.
                    assert!(compared.iter().any(|c| c.mismatches > 0), "{name}: {compared:?}");
                }
            }
        }
    }
}

#[test]
fn damaged_launch_files_are_refused_without_a_panic() {
    let workloads: Vec<(Module, &str)> = ["srad", "bfs", "hotspot"]
        .iter()
        .map(|name| {
            let workload = Workload::builtin(name, Toolchain::Nvcc).expect(name);
            (parsed(&workload), catalog::find(name).expect(name).launch)
        })
        .collect();
    let mut refused = 0;
    for seed in 0..600 {
        let mut random = generator::SplitMix64::new(seed);
        let (module, text) = &workloads[seed as usize % workloads.len()];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b"0-9*/%()[]{}\"=\nia"[random.below(17) as usize],
                2 => drop(bytes.drain(at..(at + 12).min(bytes.len()))),
                _ => {
                    let end = (at + 40).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        let damaged = String::from_utf8_lossy(&bytes).into_owned();
        let outcome = workload(damaged).and_then(|workload| {
            workload.plan("small", &Overrides::new(), module).map(|(plan, _)| plan)
        });
        if let Err(error) = outcome {
            let message = error.to_string();
            let named = ["l.toml:", "`l.toml` has "].iter().any(|start| message.starts_with(start));
            let named = named || message.contains("has no size");
            assert!(named, "seed {seed}: {message}");
            refused += 1;
        }
    }
    assert!(refused > 300, "only {refused} of 600 were refused");
}
