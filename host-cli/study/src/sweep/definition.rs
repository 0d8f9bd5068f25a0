//! Definition: what a sweep is asked to do, from a command line or a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use strata_compiler::Order;
use toml::{Table, Value};

use super::axes::Axis;
use strata_config::by_name::ByName;
use strata_config::strict;
use strata_files::failure::Failure;
use strata_measure::options::{EnergySource, Mode, Scale};
use strata_workload::{GROUP_MARK, Toolchain};

/// Design that is varied unless another is named.
pub const DEFAULT_DESIGN: &str = "isca11-rfc6";

/// Longest file. Unit: bytes.
const LONGEST: u64 = 1 << 20;

/// What a sweep does: every combination of inputs, parameters of inputs, designs and parameters of
/// designs.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    /// Inputs, as a command line names them; none for the suite.
    pub workloads: Vec<String>,
    /// Designs, as a command line names them; none for [`DEFAULT_DESIGN`].
    pub designs: Vec<String>,
    /// Keys of designs, sorted.
    pub vary: Vec<Axis>,
    /// Keys of designs of which combinations are drawn, sorted.
    pub random: Option<Random>,
    /// Parameters of workloads, sorted.
    pub set: Vec<Axis>,
    /// How the inputs are executed and counted.
    pub how: How,
}

/// Combinations that are drawn.
#[derive(Clone, Debug)]
pub struct Random {
    /// The axes.
    pub vary: Vec<Axis>,
    /// How many are drawn.
    pub points: u32,
    /// What they are drawn by.
    pub seed: u64,
}

/// How inputs are executed and counted. What is none is what `strata run` does without.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// What is simulated.
    pub mode: Option<Mode>,
    /// Size.
    pub scale: Option<Scale>,
    /// Which PTX of built-in workloads.
    pub ptx: Option<Toolchain>,
    /// Order of instructions.
    pub order: Option<Order>,
    /// Registers of a thread.
    pub registers: Option<u16>,
    /// Launch description of PTX files.
    pub launch: Option<std::path::PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    workloads: Vec<String>,
    #[serde(default)]
    designs: Vec<String>,
    #[serde(default)]
    vary: Table,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    random: Option<RandomTable>,
    mode: Option<ByName<Mode>>,
    scale: Option<ByName<Scale>>,
    ptx: Option<ByName<Toolchain>>,
    order: Option<ByName<Order>>,
    registers: Option<u16>,
    launch: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RandomTable {
    points: u32,
    seed: u64,
    vary: Table,
}

impl Definition {
    /// Reads a file. What it names by a path is beside it.
    ///
    /// # Errors
    /// It cannot be read, has an unknown key, or values that are no axis.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let length = std::fs::metadata(path).map(|of| of.len());
        let text = std::fs::read_to_string(path);
        let (length, text) = length
            .and_then(|length| text.map(|text| (length, text)))
            .map_err(|error| Failure::file(path, "read", &error))?;
        if length > LONGEST {
            let message =
                format!("`{name}` is too long: a sweep's file has at most {LONGEST} bytes");
            return Err(Failure::input(message));
        }
        Self::parse(&name, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a file, whose name is for messages. What it names by a path is in
    /// `folder`.
    ///
    /// # Errors
    /// An unknown key, or values that are no axis.
    pub fn parse(
        name: &impl std::fmt::Display,
        text: &str,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let file: File = strict::from_str(text).map_err(|error| {
            Failure::input(format!("{name}:{error}"))
                .hint("docs/SWEEPS.md lists the keys of a sweep's file")
        })?;
        let beside = |text: String| {
            let is_path = text.contains('.') && !text.starts_with(GROUP_MARK);
            let whole = || folder.join(&text).display().to_string();
            if is_path { whole() } else { text }
        };
        let design = |text: String| if strata_design::is_file(&text) { beside(text) } else { text };
        let random = file.random.map(|random| {
            let RandomTable { points, seed, vary } = random;
            axes(name, "random.vary", &vary).map(|vary| Random { vary, points, seed })
        });
        Ok(Self {
            workloads: file.workloads.into_iter().map(beside).collect(),
            designs: file.designs.into_iter().map(design).collect(),
            vary: axes(name, "vary", &file.vary)?,
            random: random.transpose()?,
            set: axes(name, "set", &file.set.into_iter().collect())?,
            how: How {
                mode: file.mode.map(|mode| mode.0),
                scale: file.scale.map(|scale| scale.0),
                ptx: file.ptx.map(|ptx| ptx.0),
                order: file.order.map(|order| order.0),
                registers: file.registers,
                launch: file.launch.map(|launch| folder.join(launch)),
            },
        })
    }

    /// The text of a file of the same inputs, without the designs: what [`Self::parse`] reads, in
    /// the folder in which this one was read.
    pub fn inputs_text(&self) -> String {
        let texts =
            |all: &[String]| Value::Array(all.iter().map(|one| one.as_str().into()).collect());
        let mut file = Table::new();
        let mut add = |key: &str, value: Option<Value>| {
            file.extend(value.map(|value| (key.to_owned(), value)));
        };
        add("workloads", Some(texts(&self.workloads)));
        let set = self.set.iter().map(|axis| (axis.key.clone(), texts(&axis.values)));
        add("set", Some(Value::Table(set.collect())));
        let How { mode, scale, ptx, order, registers, launch } = &self.how;
        add("mode", mode.map(|mode| mode.name().into()));
        add("scale", scale.map(|scale| scale.name().into()));
        add("ptx", ptx.map(|ptx| ptx.name().into()));
        add("order", order.map(|order| order.name().into()));
        add("registers", registers.map(|registers| i64::from(registers).into()));
        add("launch", launch.as_ref().map(|path| path.display().to_string().into()));
        file.to_string()
    }

    /// Sorts the axes by their keys, so that the order of points does not depend on how they are
    /// given.
    ///
    /// # Errors
    /// An axis that is given twice.
    pub fn sorted(mut self) -> Result<Self, Failure> {
        self.vary.sort_by(|a, b| a.key.cmp(&b.key));
        self.set.sort_by(|a, b| a.key.cmp(&b.key));
        let drawn = self.random.iter().flat_map(|random| &random.vary);
        let mut of_designs: Vec<_> = self.vary.iter().chain(drawn).map(|axis| &axis.key).collect();
        of_designs.sort_unstable();
        let of_inputs = self.set.iter().map(|axis| &axis.key).collect();
        for keys in [of_designs, of_inputs] {
            let twice: Option<&[&String]> = keys.windows(2).find(|pair| pair[0] == pair[1]);
            if let Some([twice, _]) = twice {
                return Err(Failure::input(format!("`{twice}` is varied twice"))
                    .hint("give all values of a key together: `KEY=1..4,8`"));
            }
        }
        Ok(self)
    }
}

/// The designs that are varied, with the parameter that `--energy` stands for; none for the default
/// without a parameter.
pub fn designs(named: &[String], energy: Option<&EnergySource>) -> Vec<String> {
    let default = named.is_empty() && energy.is_some();
    let default = default.then(|| DEFAULT_DESIGN.to_owned());
    let designs: Vec<_> = named.iter().cloned().chain(default).collect();
    EnergySource::behind_all(energy, &designs)
}

/// The axes of a table, whose keys may be tables themselves, sorted; `file` and `place` are what it
/// is called in messages.
///
/// # Errors
/// Values that are no axis.
pub fn axes(
    file: &impl std::fmt::Display,
    place: &str,
    table: &Table,
) -> Result<Vec<Axis>, Failure> {
    let mut all = Vec::new();
    for (key, value) in table {
        let key = key.as_str();
        let shown = format!("{file}: {place}.{key} = {value}");
        match value {
            Value::Table(inner) => {
                let inner = axes(file, &format!("{place}.{key}"), inner)?;
                let longer = inner.into_iter();
                all.extend(longer.map(|axis| Axis { key: format!("{key}.{}", axis.key), ..axis }));
            }
            Value::String(values) => all.push(Axis::new(&shown, key, values)?),
            Value::Array(values) => {
                let values: Vec<_> = values.iter().map(bare).collect();
                all.push(Axis::new(&shown, key, &values.join("|"))?);
            }
            other => all.push(Axis::new(&shown, key, &bare(other))?),
        }
    }
    all.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}

/// A value as a command line has it.
fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(bare).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Definition, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        std::fs::write(&path, text).unwrap();
        let loaded = Definition::load(&path).and_then(Definition::sorted);
        let place = format!("{}/", folder.path().display());
        loaded.map_err(|failure| failure.message().replace(&place, ""))
    }

    #[test]
    fn a_file_says_what_options_say() {
        let read = load(
            "workloads = [\"bfs\", \"@extra\", \"mine.ptx\"]\nlaunch = \"mine.toml\"\n\
             designs = [\"isca11-rfc6\", \"my.toml\"]\nscale = \"small\"\nmode = \"cycle\"\n\
             [vary]\nactive_warps = [2, 4]\ncache.entries = \"1..3\"\n\
             \"also_leaves_for\" = [[\"sfu\"], [\"sfu\", \"double\"]]\n\
             [set]\nseed = \"0..2\"\n\
             [random]\npoints = 5\nseed = 1\n[random.vary]\n\"sm.warps\" = \"8..48:8\"\n",
        );
        let read = read.unwrap();
        let of = |option: &str, text: &str| Axis::parse(option, text).unwrap();
        let vary = [
            of("", "active_warps=2,4"),
            of("", "also_leaves_for=[sfu]|[sfu,double]"),
            of("", "cache.entries=1..3"),
        ];
        assert_eq!(read.vary, vary);
        assert_eq!(read.set, [of("", "seed=0..2")]);
        assert_eq!(read.random.unwrap().vary, [of("", "sm.warps=8..48:8")]);
        assert_eq!(&read.workloads[..2], ["bfs", "@extra"]);
        assert!(read.workloads[2].ends_with("/mine.ptx"), "{:?}", read.workloads);
        assert!(read.designs[1].ends_with("/my.toml"), "{:?}", read.designs);
        assert_eq!((read.how.mode, read.how.scale), (Some(Mode::Cycle), Some(Scale::Small)));
    }

    #[test]
    fn the_text_of_the_inputs_is_read_back() {
        let text = "workloads = [\"bfs\", \"sub/mine.ptx\", \"a.strata\"]\nlaunch = \"mine.toml\"\n\
                    mode = \"cycle\"\nscale = \"large\"\nptx = \"clang\"\norder = \"scheduled\"\n\
                    registers = 20\n[set]\nseed = \"0..3\"\nn = [64, 128]\n[vary]\na = 1\n";
        let here = Path::new("");
        let read = |text: &str| Definition::parse(&"s.toml", text, here).unwrap().sorted().unwrap();
        let first = read(text);
        let mut again = read(&first.inputs_text());
        assert!(again.vary.is_empty());
        again.vary = first.vary.clone();
        assert_eq!(format!("{again:?}"), format!("{first:?}"));
        assert_eq!(again.inputs_text(), first.inputs_text());
    }

    #[test]
    fn what_is_wrong_names_file_and_key() {
        for (text, expected) in [
            ("[vary]\na = \"5..1\"", "`s.toml: vary.a = \"5..1\"` has a range from 5 down to 1"),
            ("[vary]\na = []", "has an empty value"),
            ("vry = 1", "s.toml:1:1: there is no key `vry` here"),
            ("[random]\npoints = 1\nseed = 1\n", "s.toml:1:1: random: `vary` is missing"),
            (
                "[vary]\na = 1\n[random]\npoints = 1\nseed = 1\n[random.vary]\na = 2\n",
                "`a` is varied twice",
            ),
            (
                "mode = \"fast\"",
                "s.toml:1:8: mode: there is no `fast` here; there are `count`, `cycle`",
            ),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
