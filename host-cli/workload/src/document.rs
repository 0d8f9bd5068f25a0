//! What a launch file says, as read: syntax, field names and types are checked here, meaning in
//! `plan`.
//!
//! Every field that can be wrong on its own keeps its place in the file (`Spanned`), so that each
//! mistake is reported with its line. Unknown fields are errors everywhere.

mod read;

use std::collections::BTreeMap;

use toml::Spanned;

use super::element::ElementType;
use super::expression::Expression;

/// A whole launch file.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    /// What the workload does, in one line.
    pub(super) description: String,
    /// Parameters of each size, by name. Without any, there is the size `default` without
    /// parameters.
    #[serde(default = "one_size")]
    pub(super) size: BTreeMap<String, BTreeMap<Spanned<String>, i64>>,
    /// What must hold between parameters.
    #[serde(default)]
    pub(super) require: Vec<Spanned<Requirement>>,
    /// Buffers in device memory.
    #[serde(default)]
    pub(super) buffer: Vec<Spanned<Buffer>>,
    /// Textures.
    #[serde(default)]
    pub(super) texture: Vec<Spanned<Texture>>,
    /// Surfaces.
    #[serde(default)]
    pub(super) surface: Vec<Spanned<Surface>>,
    /// Samplers of their own.
    #[serde(default)]
    pub(super) sampler: Vec<Spanned<Sampler>>,
    /// Steps of one launch.
    #[serde(default)]
    pub(super) launch: Vec<Spanned<Step>>,
    /// Steps of several launches that repeat together.
    #[serde(default)]
    pub(super) phase: Vec<Spanned<Phase>>,
    /// What the results are compared with.
    #[serde(default)]
    pub(super) check: Option<Check>,
}

/// The size that is run unless another is asked for.
pub(super) const DEFAULT_SIZE: &str = "default";

fn one_size() -> BTreeMap<String, BTreeMap<Spanned<String>, i64>> {
    BTreeMap::from([(DEFAULT_SIZE.to_owned(), BTreeMap::new())])
}

impl Document {
    /// Whether some of its contents are random.
    pub(super) fn is_random(&self) -> bool {
        let mut all = self.buffer.iter().filter_map(|buffer| buffer.get_ref().generator.as_ref());
        all.any(|generator| match generator.get_ref() {
            Generator::Zero
            | Generator::Iota
            | Generator::Constant(_)
            | Generator::Addresses(_)
            | Generator::File(_) => false,
            Generator::Uniform { .. }
            | Generator::Integers { .. }
            | Generator::GraphOffsets(_)
            | Generator::GraphEdges(_)
            | Generator::SuffixTree { .. }
            | Generator::Reads { .. } => true,
        })
    }

    /// The array files that it names.
    pub(super) fn array_files(&self) -> impl Iterator<Item = &FileTable> {
        let contents = self.buffer.iter().filter_map(|buffer| {
            match buffer.get_ref().generator.as_ref()?.get_ref() {
                Generator::File(file) => Some(&file.0),
                _ => None,
            }
        });
        let checked = self.check.iter().flat_map(|check| &check.buffer);
        let expected = checked.filter_map(|buffer| {
            let Expected::File(file) = buffer.get_ref().expected.as_ref()?.get_ref();
            Some(&file.0)
        });
        contents.chain(expected)
    }
}

/// A condition on the parameters: exactly one of `zero` and `positive`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirement {
    /// Must be 0.
    pub(super) zero: Option<Formula>,
    /// Must be above 0.
    pub(super) positive: Option<Formula>,
    /// Why, for the message.
    pub(super) because: String,
}

/// A buffer.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    /// Name that arguments use.
    pub(super) name: Spanned<String>,
    /// Type of one element.
    #[serde(rename = "type")]
    pub(super) element: ElementType,
    /// Unit: elements. Not needed with a shape, a file, or a variable.
    pub(super) count: Option<Spanned<Formula>>,
    /// Sides, slowest first, in the place of a count.
    pub(super) shape: Option<Spanned<Vec<Formula>>>,
    /// Initial contents. A variable may keep those that the PTX says.
    pub(super) generator: Option<Spanned<Generator>>,
    /// The variable of the PTX that the buffer is.
    pub(super) variable: Option<Spanned<String>>,
}

/// An array in a file: its name, or a table.
#[derive(Clone, Debug)]
pub(super) struct FileSource(pub(super) FileTable);

/// An array in a file, written as a table.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTable {
    /// Relative to the launch file.
    pub(super) path: String,
    /// Unless the name's ending says it.
    pub(super) format: Option<String>,
    /// Array of an `.npz` file.
    pub(super) member: Option<String>,
    /// Column of a CSV file.
    pub(super) column: Option<Column>,
    /// Whether a CSV file's first line has names.
    #[serde(default)]
    pub(super) header: bool,
}

/// A column by name, or by number from 0.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(untagged, expecting = "expected a column's name or its number from 0")]
pub(super) enum Column {
    Index(u32),
    Name(String),
}

/// Initial contents of a buffer.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum Generator {
    /// All zero.
    Zero,
    /// 0, 1, 2, ...
    Iota,
    /// One value everywhere.
    Constant(Literal),
    /// The addresses of buffers, by turns.
    Addresses(Vec<Spanned<Target>>),
    /// Read from a file.
    File(FileSource),
    /// Random floating-point numbers in `[low, high)`.
    Uniform { low: Number, high: Number, seed: Formula },
    /// Random integers in `[low, high]`.
    Integers { low: Formula, high: Formula, seed: Formula },
    /// Row offsets of a random graph.
    GraphOffsets(GraphShape),
    /// Edge targets of a random graph; the same shape gives the same graph.
    GraphEdges(GraphShape),
    /// Suffix tree of the random text of as many letters.
    SuffixTree { letters: Formula, seed: Formula },
    /// Reads of that text, `each` letters long.
    Reads { letters: Formula, each: Formula, seed: Formula },
}

/// Where an address points: the name of a buffer, or a table.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) buffer: String,
    /// Unit: elements from the start of the buffer.
    pub(super) offset: Option<Formula>,
}

/// What fixes a random graph.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphShape {
    pub(super) nodes: Formula,
    pub(super) edges: Formula,
    pub(super) seed: Formula,
}

/// A buffer as an image with the way to sample it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texture {
    pub(super) name: String,
    pub(super) buffer: String,
    pub(super) dimensions: String,
    pub(super) width: Formula,
    pub(super) height: Option<Formula>,
    pub(super) depth: Option<Formula>,
    pub(super) format: String,
    /// Name of a `.texref` that it is bound to.
    pub(super) reference: Option<String>,
    pub(super) filter: Option<String>,
    pub(super) address: Option<Names>,
    #[serde(default)]
    pub(super) normalized: bool,
}

/// A buffer as an image that kernels load from and store to.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Surface {
    pub(super) name: String,
    pub(super) buffer: String,
    pub(super) dimensions: String,
    pub(super) width: Formula,
    pub(super) height: Option<Formula>,
    pub(super) depth: Option<Formula>,
    pub(super) format: String,
    /// Name of a `.surfref` that it is bound to.
    pub(super) reference: Option<String>,
}

/// A way to sample for instructions that name it beside the texture.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sampler {
    pub(super) name: String,
    /// Name of a `.samplerref` that it is bound to.
    pub(super) reference: Option<String>,
    pub(super) filter: Option<String>,
    pub(super) address: Option<Names>,
    pub(super) normalized: Option<bool>,
}

/// One launch within a phase.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Launch {
    /// Kernel name.
    pub(super) kernel: Spanned<String>,
    /// Unit: CTAs.
    pub(super) grid: Spanned<Vec<Formula>>,
    /// Unit: threads.
    pub(super) block: Spanned<Vec<Formula>>,
    /// Dynamic shared memory. Unit: bytes.
    pub(super) shared: Option<Spanned<Formula>>,
    /// All CTAs are resident at once, for `grid.sync()`.
    #[serde(default)]
    pub(super) cooperative: bool,
    /// Values of the kernel's parameters.
    #[serde(default)]
    pub(super) arguments: Vec<Spanned<Argument>>,
}

/// One launch with a repetition of its own. (The fields of [`Launch`] are repeated because serde
/// cannot deny unknown fields through `flatten`.)
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) kernel: Spanned<String>,
    pub(super) grid: Spanned<Vec<Formula>>,
    pub(super) block: Spanned<Vec<Formula>>,
    pub(super) shared: Option<Spanned<Formula>>,
    #[serde(default)]
    pub(super) cooperative: bool,
    #[serde(default)]
    pub(super) arguments: Vec<Spanned<Argument>>,
    pub(super) repeat: Option<Spanned<Formula>>,
    pub(super) until_zero: Option<Spanned<String>>,
    pub(super) at_most: Option<Spanned<Formula>>,
    #[serde(default)]
    pub(super) reset: Vec<Spanned<Reset>>,
}

/// Launches that repeat together.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    /// How often; once when neither this nor `until_zero` is given.
    pub(super) repeat: Option<Spanned<Formula>>,
    /// Repeat until every byte of this buffer is zero after an iteration.
    pub(super) until_zero: Option<Spanned<String>>,
    /// Bound on the iterations of `until_zero`.
    pub(super) at_most: Option<Spanned<Formula>>,
    /// What is written before each iteration.
    #[serde(default)]
    pub(super) reset: Vec<Spanned<Reset>>,
    /// In order.
    pub(super) launch: Vec<Spanned<Launch>>,
}

impl Step {
    /// The phase that consists of this launch alone.
    pub(super) fn into_phase(self, span: std::ops::Range<usize>) -> Phase {
        let Self { kernel, grid, block, shared, cooperative, arguments, .. } = self;
        let Self { repeat, until_zero, at_most, reset, .. } = self;
        let launch = Launch { kernel, grid, block, shared, cooperative, arguments };
        Phase { repeat, until_zero, at_most, reset, launch: vec![Spanned::new(span, launch)] }
    }
}

/// A buffer filled with one value before each iteration.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reset {
    pub(super) buffer: Spanned<String>,
    pub(super) value: Literal,
}

/// What the results are compared with.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    /// Name of a host reference; not needed if every buffer's contents are expected from a file.
    pub(super) reference: Option<Spanned<String>>,
    /// Buffers that are compared.
    pub(super) buffer: Vec<Spanned<CheckedBuffer>>,
}

/// One compared buffer. Without a tolerance the comparison is exact.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckedBuffer {
    pub(super) name: Spanned<String>,
    pub(super) absolute: Option<Number>,
    pub(super) relative: Option<Number>,
    /// Elements that may lie further off.
    pub(super) at_most_differing: Option<Spanned<Formula>>,
    /// Why the results may differ; needed with a tolerance.
    pub(super) because: Option<String>,
    /// What is expected, unless the host reference says it.
    pub(super) expected: Option<Spanned<Expected>>,
}

/// Expected contents of a buffer.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum Expected {
    /// Read from a file.
    File(FileSource),
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// The address of a buffer.
    Buffer(String),
    /// A number of the type that the PTX says.
    Number(Literal),
    /// Written as a table.
    Table(Box<ArgumentTable>),
}

/// A kernel argument written as a table: exactly one of the fields other than `select`, `offset`
/// and `align`, which belong to others.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArgumentTable {
    /// One buffer, or several to choose from.
    pub(super) buffer: Option<Names>,
    /// Which of several, from 0.
    pub(super) select: Option<Formula>,
    /// Where in the buffer the pointer points. Unit: elements.
    pub(super) offset: Option<Formula>,
    /// The handle of a texture, surface or sampler.
    pub(super) object: Option<String>,
    /// The fields of a structure or vector, each where C++ would have it.
    pub(super) fields: Option<Vec<Argument>>,
    /// Alignment of a structure, if it is larger than that of its fields. Unit: bytes.
    pub(super) align: Option<u64>,
    /// The bytes of a structure.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) u8: Option<Formula>,
    pub(super) s8: Option<Formula>,
    pub(super) u16: Option<Formula>,
    pub(super) s16: Option<Formula>,
    pub(super) u32: Option<Formula>,
    pub(super) s32: Option<Formula>,
    pub(super) u64: Option<Formula>,
    pub(super) s64: Option<Formula>,
    pub(super) f16: Option<Real>,
    pub(super) bf16: Option<Real>,
    pub(super) f32: Option<Real>,
    pub(super) f64: Option<Real>,
}

/// One name or a list of names.
#[derive(Clone, Debug)]
pub(super) struct Names(pub(super) Vec<String>);

/// An integer or a text holding an expression.
#[derive(Clone, Debug)]
pub(super) struct Formula(pub(super) Expression);

/// A number, or a text holding an integer expression.
#[derive(Clone, Debug)]
pub(super) enum Real {
    Number(f64),
    Formula(Expression),
}

/// A number, of 64 bits: an integer is equal to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) f64);

/// A number as written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal {
    Integer(i64),
    Real(f64),
}
