//! What the kernels compute, whatever compiled them: buffers, and what they hold in the end. All
//! numbers are small integers, so that every order of additions gives the same bits.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Elements of the arrays of all tasks but [`Task::Matmul`].
const ELEMENTS: usize = 1000;

/// Elements that a block adds up, and threads of a block.
const BLOCK: usize = 128;

/// Counters of [`Task::Histogram`].
const BINS: usize = 16;

/// Rows and columns of the matrices.
const SIDE: usize = 64;

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// `y = 2 x + y`.
    Saxpy,
    /// The sums of `x` by blocks.
    Reduce,
    /// How many of `values` there are of each remainder.
    Histogram,
    /// `product = left * right` in f32.
    Matmul,
    /// `product = left * right` in f32, of factors in f16.
    HalfMatmul,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// CTAs, as a launch file has them.
    pub(crate) grid: &'static str,
    /// Threads of one.
    pub(crate) block: &'static str,
    /// Dynamic shared memory in bytes.
    pub(crate) shared: u32,
    /// Arguments, by the buffers' names.
    pub(crate) arguments: &'static str,
    /// The buffers are variables of the PTX.
    pub(crate) variables: bool,
}

/// A buffer: name, type, contents.
type Buffer = (&'static str, &'static str, Vec<f32>);

impl Task {
    /// The name of the buffer with the results.
    pub(crate) fn result(self) -> &'static str {
        match self {
            Self::Saxpy => "y",
            Self::Reduce => "sums",
            Self::Histogram => "bins",
            Self::Matmul | Self::HalfMatmul => "product",
        }
    }

    fn buffers(self) -> Vec<Buffer> {
        let factors = |kind| {
            let cell = |by| (0..SIDE * SIDE).map(|i| (i % by) as f32).collect();
            let product = ("product", "f32", vec![0.0; SIDE * SIDE]);
            vec![("left", kind, cell(7)), ("right", kind, cell(5)), product]
        };
        let numbers: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
        match self {
            Self::Saxpy => vec![("x", "f32", numbers), ("y", "f32", vec![3.0; ELEMENTS])],
            Self::Reduce => vec![("x", "f32", numbers), ("sums", "f32", vec![0.0; blocks()])],
            Self::Histogram => {
                vec![("values", "u32", numbers), ("bins", "u32", vec![0.0; BINS])]
            }
            Self::Matmul => factors("f32"),
            Self::HalfMatmul => factors("f16"),
        }
    }

    fn expected(self) -> Vec<f32> {
        match self {
            Self::Saxpy => (0..ELEMENTS).map(|i| 2.0 * i as f32 + 3.0).collect(),
            Self::Reduce => (0..blocks())
                .map(|block| (block * BLOCK..ELEMENTS.min((block + 1) * BLOCK)).sum::<usize>())
                .map(|sum| sum as f32)
                .collect(),
            Self::Histogram => {
                (0..BINS).map(|bin| (bin..ELEMENTS).step_by(BINS).count() as f32).collect()
            }
            Self::Matmul | Self::HalfMatmul => {
                let cell = |row: usize, column: usize| {
                    (0..SIDE).map(|k| ((row * SIDE + k) % 7) * ((k * SIDE + column) % 5)).sum()
                };
                let cells = (0..SIDE * SIDE).map(|i| cell(i / SIDE, i % SIDE));
                cells.map(|sum: usize| sum as f32).collect()
            }
        }
    }
}

fn blocks() -> usize {
    ELEMENTS.div_ceil(BLOCK)
}

/// The text of a launch file. The files of numbers that it names are written beside it.
pub(crate) fn launch_file(task: Task, launch: Launch, kernel: &str, folder: &Path) -> String {
    let mut text = String::from("description = \"a task\"\n\n[size.default]\n");
    let mut buffers = task.buffers();
    if launch.variables && task == Task::Saxpy {
        buffers.push(("a", "f32", vec![2.0]));
    }
    for (name, kind, contents) in &buffers {
        write_csv(folder, name, contents);
        let _ = write!(text, "\n[[buffer]]\nname = \"{name}\"\ntype = \"{kind}\"\n");
        if launch.variables {
            let _ = writeln!(text, "variable = \"{name}\"");
        }
        let _ = writeln!(text, "generator = {{ file = \"{name}.csv\" }}");
    }
    let Launch { grid, block, shared, arguments, .. } = launch;
    let _ = write!(
        text,
        "\n[[launch]]\nkernel = \"{kernel}\"\ngrid = {grid}\nblock = {block}\nshared = {shared}\n\
         arguments = [{arguments}]\n"
    );
    let result = task.result();
    write_csv(folder, "expected", &task.expected());
    let _ = write!(
        text,
        "\n[[check.buffer]]\nname = \"{result}\"\nexpected = {{ file = \"expected.csv\" }}\n"
    );
    text
}

fn write_csv(folder: &Path, name: &str, numbers: &[f32]) {
    let lines: String = numbers.iter().fold(String::new(), |mut lines, number| {
        let _ = writeln!(lines, "{number}");
        lines
    });
    fs::write(folder.join(name).with_extension("csv"), lines).expect("a file of numbers");
}
