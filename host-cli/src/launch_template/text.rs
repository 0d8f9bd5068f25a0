//! The template as a launch file.

use std::fmt;

use strata_simt::texture::ObjectKind;

use super::objects::ObjectTable;
use super::{Template, Value};
use crate::output::Kind;
use crate::workload::element::ElementType;

/// How a file begins.
const BEGIN: &str = "# Launch file made by `strata launch-template`";

/// A template, as an output.
pub const KIND: Kind =
    Kind { name: "a launch file that `strata launch-template` writes", begins: BEGIN.as_bytes() };

impl fmt::Display for Template<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, kernel, n, .. } = self;
        let word =
            |found: char| if found.is_control() || "\\\"".contains(found) { '_' } else { found };
        let file: String = file.chars().map(word).collect();
        writeln!(f, "{BEGIN} for kernel `{kernel}`: a guess from its code.")?;
        writeln!(f, "# Correct it where it is wrong; docs/WORKLOADS.md describes every field.")?;
        writeln!(f, "description = \"kernel {kernel} of {file}\"\n")?;
        line(
            f,
            "[size.default]",
            "parameters: expressions may use them, `--set n=64` changes them",
        )?;
        line(f, &format!("n = {n}"), "value of every integer argument")?;
        writeln!(f)?;
        for argument in &self.arguments {
            buffers(f, &argument.value, *n)?;
        }
        for table in &self.bound {
            image(f, table, *n)?;
        }
        for variable in &self.variables {
            writeln!(f, "# A variable of the PTX, which is zero until the launch file fills it.")?;
            writeln!(f, "# [[buffer]]\n# name = \"{variable}\"\n# variable = \"{variable}\"")?;
            writeln!(f, "# type = \"f32\"\n# generator = {{ file = \"{variable}.npy\" }}\n")?;
        }
        writeln!(f, "[[launch]]\nkernel = \"{kernel}\"")?;
        let ctas = format!("CTAs; perhaps [\"ceil(n, {})\"]", self.block[0]);
        line(f, &format!("grid = {:?}", self.grid), &ctas)?;
        line(f, &format!("block = {:?}", self.block), "threads")?;
        if let Some(shared) = self.shared {
            line(f, &format!("shared = {shared}"), "dynamic shared memory in bytes")?;
        }
        writeln!(f, "arguments = [")?;
        for argument in &self.arguments {
            line(f, &format!("    {},", written(&argument.value)), &argument.name)?;
        }
        writeln!(f, "]\n")?;
        let output = self.arguments.iter().find_map(|argument| match &argument.value {
            Value::Buffer { name, written: true, .. } => Some(name.as_str()),
            _ => None,
        });
        let output = output.unwrap_or("NAME");
        writeln!(
            f,
            "# What `strata check` compares a result with: a file that a GPU or NumPy wrote."
        )?;
        writeln!(f, "# [[check.buffer]]")?;
        writeln!(f, "# name = \"{output}\"")?;
        writeln!(f, "# expected = {{ file = \"{output}.npy\" }}")
    }
}

/// A line with a remark.
fn line(f: &mut fmt::Formatter<'_>, text: &str, remark: &str) -> fmt::Result {
    writeln!(f, "{text:<30}  # {remark}")
}

/// The tables of a value's buffers.
fn buffers(f: &mut fmt::Formatter<'_>, value: &Value, n: i64) -> fmt::Result {
    match value {
        Value::Structure(fields, _) => fields.iter().try_for_each(|field| buffers(f, field, n)),
        Value::Buffer { name, element, count, read, written } => {
            let use_ = match (read, written) {
                (true, true) => "read and written",
                (true, false) => "read",
                (false, true) => "written",
                (false, false) => "not accessed directly",
            };
            line(f, "[[buffer]]", use_)?;
            writeln!(f, "name = \"{name}\"\ntype = \"{}\"\ncount = {count}", element.name())?;
            let generator = format!("generator = {}", contents(*element, *read, n));
            line(f, &generator, &format!("or {{ file = \"{name}.npy\" }}, without the count"))?;
            writeln!(f)
        }
        Value::Object(table) => image(f, table, n),
        _ => Ok(()),
    }
}

/// The tables of an object and of the buffer of its texels.
fn image(f: &mut fmt::Formatter<'_>, table: &ObjectTable, n: i64) -> fmt::Result {
    if table.kind != ObjectKind::Sampler {
        let (name, element) = (table.buffer(), table.element());
        line(f, "[[buffer]]", &format!("the texels of `{}`", table.name))?;
        writeln!(f, "name = \"{name}\"\ntype = \"{}\"", element.name())?;
        line(f, &format!("count = {}", table.count()), "width * height * depth * channels")?;
        let generator = format!("generator = {}", contents(element, true, n));
        line(f, &generator, &format!("or {{ file = \"{name}.npy\" }}, without the count"))?;
        writeln!(f)?;
    }
    writeln!(f, "{table}")
}

/// Initial contents: what is read gets numbers, integers ones that may be indices.
fn contents(element: ElementType, read: bool, n: i64) -> String {
    if !read {
        return "\"zero\"".to_owned();
    }
    if element.is_float() {
        return "{ uniform = { low = 0.0, high = 1.0, seed = 1 } }".to_owned();
    }
    let high = (n - 1).clamp(0, element.integer_range().1);
    format!("{{ integers = {{ low = 0, high = {high}, seed = 1 }} }}")
}

/// A value as an argument.
fn written(value: &Value) -> String {
    match value {
        Value::Buffer { name, .. } => format!("\"{name}\""),
        Value::Object(table) => format!("{{ object = \"{}\" }}", table.name),
        Value::Integer(kind @ "u8") => format!("{{ {kind} = \"min(n, 255)\" }}"),
        Value::Integer(kind) => format!("{{ {kind} = \"n\" }}"),
        Value::Real(kind) => format!("{{ {kind} = 1.0 }}"),
        Value::Bytes(size) => {
            let zeros = vec!["0"; usize::try_from(*size).unwrap_or(0)];
            format!("{{ bytes = [{}] }}", zeros.join(", "))
        }
        Value::Structure(fields, align) => {
            let fields: Vec<_> = fields.iter().map(written).collect();
            format!("{{ align = {align}, fields = [{}] }}", fields.join(", "))
        }
    }
}
