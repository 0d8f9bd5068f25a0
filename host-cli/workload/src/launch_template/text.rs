//! The template as a launch file.

use std::fmt;

use strata_simt::texture::ObjectKind;

use super::Template;
use super::objects::ObjectTable;
use super::value::{Buffer, Value};
use crate::element::ElementType;
use crate::kernel_name::demangled;
use strata_files::output::Kind;

/// How a file begins.
const BEGIN: &str = "# Launch file made by `strata launch-template`";

/// Alignment of what addresses in shared memory point to. Unit: bytes.
const ALIGN: u64 = 16;

/// A template, as an output.
pub const KIND: Kind =
    Kind { name: "a launch file that `strata launch-template` writes", begins: BEGIN.as_bytes() };

impl fmt::Display for Template<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, kernel, n, .. } = self;
        let word =
            |found: char| if found.is_control() || "\\\"".contains(found) { '_' } else { found };
        let source = demangled(kernel).unwrap_or_else(|| (*kernel).to_owned());
        let [file, source] =
            [*file, &source].map(|text| text.chars().map(word).collect::<String>());
        writeln!(f, "{BEGIN} for kernel `{kernel}`: a guess from its code.")?;
        writeln!(f, "# Correct it where it is wrong; docs/WORKLOADS.md describes every field.")?;
        writeln!(f, "description = \"kernel {source} of {file}\"\n")?;
        let uses_n = self.arguments.iter().any(|argument| argument.value.has_integers());
        if uses_n {
            let remark = "parameters: expressions may use them, `--set n=64` changes them";
            line(f, "[size.default]", remark)?;
            line(f, &format!("n = {n}"), "value of every integer argument")?;
            writeln!(f)?;
        }
        for argument in &self.arguments {
            buffers(f, &argument.value, *n)?;
        }
        for table in &self.bound {
            image(f, table, *n)?;
        }
        for (variable, element) in &self.variables {
            writeln!(f, "# A variable of the PTX, which is zero until the launch file fills it.")?;
            writeln!(f, "# [[buffer]]\n# name = \"{variable}\"\n# variable = \"{variable}\"")?;
            writeln!(f, "# type = \"{}\"", element.name())?;
            writeln!(f, "# generator = {{ file = \"{variable}.npy\" }}\n")?;
        }
        writeln!(f, "[[launch]]\nkernel = \"{kernel}\"")?;
        let ctas = if uses_n {
            format!("CTAs; perhaps [\"ceil(n, {})\"]", self.block[0])
        } else {
            "CTAs".to_owned()
        };
        line(f, &format!("grid = {:?}", self.grid), &ctas)?;
        line(f, &format!("block = {:?}", self.block), "threads")?;
        if let Some(shared) = self.shared {
            line(f, &format!("shared = {shared}"), "dynamic shared memory in bytes")?;
        }
        if self.cooperative {
            line(f, "cooperative = true", "the kernel waits for the whole grid")?;
        }
        writeln!(f, "arguments = [")?;
        for argument in &self.arguments {
            line(f, &format!("    {},", self.written(&argument.value)), &argument.name)?;
        }
        writeln!(f, "]\n")?;
        let output = self.arguments.iter().find_map(|argument| match &argument.value {
            Value::Buffer(Buffer { name, written: true, .. }) => Some(name.as_str()),
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
        Value::Buffer(own) => buffer(f, own, n),
        Value::Object(table) => image(f, table, n),
        _ => Ok(()),
    }
}

/// The table of a buffer, behind that of the buffer that its elements point to.
fn buffer(f: &mut fmt::Formatter<'_>, buffer: &Buffer, n: i64) -> fmt::Result {
    let Buffer { name, element, count, read, written, copied, target } = buffer;
    if let Some(target) = target {
        buffers(f, target, n)?;
    }
    let use_ = match (read, written) {
        (true, true) => "read and written",
        (true, false) => "read",
        (false, true) => "written",
        (false, false) => "not accessed directly",
    };
    line(f, "[[buffer]]", use_)?;
    writeln!(f, "name = \"{name}\"")?;
    let ty = format!("type = \"{}\"", element.name());
    if *copied {
        line(f, &ty, "the kernel only copies it: nothing tells its type")?;
    } else {
        writeln!(f, "{ty}")?;
    }
    writeln!(f, "count = {count}")?;
    if let Some(Value::Buffer(target)) = target.as_deref() {
        let generator = format!("generator = {{ addresses = [\"{}\"] }}", target.name);
        line(f, &generator, "the buffers that the elements point to, by turns")?;
    } else {
        let generator = format!("generator = {}", contents(*element, *read, n));
        line(f, &generator, &format!("or {{ file = \"{name}.npy\" }}, without the count"))?;
    }
    writeln!(f)
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

impl Template<'_> {
    /// A value as an argument.
    fn written(&self, value: &Value) -> String {
        match value {
            Value::Buffer(Buffer { name, .. }) => format!("\"{name}\""),
            Value::Object(table) => format!("{{ object = \"{}\" }}", table.name),
            Value::Integer(kind @ "u8") => format!("{{ {kind} = \"min(n, 255)\" }}"),
            Value::Integer(kind @ "s8") => format!("{{ {kind} = \"min(n, 127)\" }}"),
            Value::Integer(kind) => format!("{{ {kind} = \"n\" }}"),
            Value::Real(kind) => format!("{{ {kind} = 1.0 }}"),
            Value::Bytes(size) => {
                let zeros = vec!["0"; usize::try_from(*size).unwrap_or(0)];
                format!("{{ bytes = [{}] }}", zeros.join(", "))
            }
            Value::Structure(fields, align) => {
                let fields: Vec<_> = fields.iter().map(|field| self.written(field)).collect();
                format!("{{ align = {align}, fields = [{}] }}", fields.join(", "))
            }
            // Each has its part of the dynamic shared memory, behind the kernel's own.
            Value::Shared(index, bits) => {
                let each = self.shared.unwrap_or(0) / self.windows.max(1) / ALIGN * ALIGN;
                let start = self.static_shared.next_multiple_of(ALIGN) + index * each;
                format!("{{ u{bits} = {start} }}")
            }
        }
    }
}
