//! A workload: its kernel file with its launch file, and the plans of its sizes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_compiler::CompileOptions;
use strata_ptx::module::Module;

use super::buffer::Contents;
use super::catalog::{self, Toolchain};
use super::compare::CheckPlan;
use super::document::Document;
use super::error::WorkloadError;
use super::expression::{Expression, Scope};
use super::mistakes::LaunchFileErrors;
use super::plan::LaunchPlan;
use super::resolve;
use super::source::Source;
use strata_config::suggest::suggest;

/// Largest launch file that is read. Unit: bytes.
const MAX_LAUNCH_FILE: u64 = 1 << 20;

/// Largest PTX file that is read. Unit: bytes.
const MAX_PTX_FILE: u64 = 256 << 20;

/// Names standard input in the place of a file.
pub const STANDARD_INPUT: &str = "-";

/// The parameter that changes all random contents of a workload whose sizes do not have it.
pub const SEED: &str = "seed";

/// What it adds to every seed of the launch file for each 1: more than the seeds of a file differ
/// by, so that no buffer takes another's contents.
const SEED_STEP: i64 = 1_000_000;

/// Parameter values that replace those of a size, by name.
pub type Overrides = BTreeMap<String, i64>;

/// A kernel file with its launch file.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name: of the built-in workload, or of the PTX file without its ending.
    pub name: String,
    /// How a command line names it: a built-in workload's name, or the files with their option.
    pub arguments: Vec<String>,
    /// The files that it was read from; none of a built-in workload.
    pub files: Vec<PathBuf>,
    /// Name of the PTX file, for messages.
    pub ptx_file: String,
    /// The PTX.
    pub ptx: Cow<'static, str>,
    /// Name of the launch file, for messages.
    pub launch_file: String,
    /// How its kernels are compiled.
    pub options: CompileOptions,
    launch: Cow<'static, str>,
    /// What its first buffers begin with, whatever the launch file says.
    contents: Vec<Arc<[u8]>>,
    /// What the launch file's names of other files are relative to, if it is a file.
    folder: Option<PathBuf>,
    document: Document,
}

impl Workload {
    /// A built-in workload with the PTX that `toolchain` made.
    pub fn builtin(name: &str, toolchain: Toolchain) -> Result<Self, WorkloadError> {
        let entry = catalog::find(name).ok_or_else(|| WorkloadError::Unknown {
            name: name.to_owned(),
            suggestions: suggest(name, catalog::all_names()),
        })?;
        let mut workload = Self::from_texts(
            name.to_owned(),
            (format!("{name}/{}", toolchain.file()), Cow::Borrowed(entry.ptx(toolchain))),
            (format!("{name}/launch.toml"), Cow::Borrowed(entry.launch)),
        )?;
        if toolchain != Toolchain::default() {
            workload.name = toolchain.title(name);
            workload.arguments.extend(["--ptx".to_owned(), toolchain.name().to_owned()]);
        }
        Ok(workload)
    }

    /// A user's workload from two files.
    pub fn from_files(ptx: &Path, launch: &Path) -> Result<Self, WorkloadError> {
        let name = ptx.file_stem().unwrap_or(ptx.as_os_str()).to_string_lossy().into_owned();
        let ptx_text = Cow::Owned(read_ptx(ptx)?);
        let launch_text = Cow::Owned(read(launch, MAX_LAUNCH_FILE)?);
        let mut files = vec![ptx.to_owned(), launch.to_owned()];
        let folder = launch.parent().unwrap_or(Path::new("")).to_owned();
        let (ptx, launch) = (ptx.display().to_string(), launch.display().to_string());
        let arguments = vec![ptx.clone(), "--launch".to_owned(), launch.clone()];
        let texts = ((ptx, ptx_text), (launch, launch_text));
        let workload = Self::read(name, texts.0, texts.1, Some(folder.clone()))?;
        files.extend(workload.document.array_files().map(|file| folder.join(&file.path)));
        Ok(Self { arguments, files, ..workload })
    }

    /// A workload from texts; each comes with its file's name for messages. A command line names
    /// it as it does a built-in one.
    pub fn from_texts(
        name: String,
        (ptx_file, ptx): (String, Cow<'static, str>),
        launch: (String, Cow<'static, str>),
    ) -> Result<Self, WorkloadError> {
        Self::read(name, (ptx_file, ptx), launch, None)
    }

    /// A workload from texts, of which the launch file may name files in a folder.
    fn read(
        name: String,
        (ptx_file, ptx): (String, Cow<'static, str>),
        (launch_file, launch): (String, Cow<'static, str>),
        folder: Option<PathBuf>,
    ) -> Result<Self, WorkloadError> {
        let source = Source { file: &launch_file, text: &launch, folder: folder.as_deref() };
        let document = source
            .parse()
            .map_err(|refused| refused.with_plan(source, &ptx))
            .map_err(LaunchFileErrors::new)?;
        let options = CompileOptions::default();
        let (arguments, files) = (vec![name.clone()], Vec::new());
        Ok(Self {
            name,
            arguments,
            files,
            ptx_file,
            ptx,
            launch_file,
            options,
            launch,
            contents: Vec::new(),
            folder,
            document,
        })
    }

    /// This workload with other contents of its first buffers, each as long as the launch file
    /// says, in the place of those that the launch file gives them.
    #[must_use]
    pub fn with_contents(self, contents: Vec<Arc<[u8]>>) -> Self {
        Self { contents, ..self }
    }

    /// What its first buffers begin with, whatever the launch file says.
    pub fn contents(&self) -> &[Arc<[u8]>] {
        &self.contents
    }

    /// The launch file.
    pub fn launch_text(&self) -> &str {
        &self.launch
    }

    /// What the workload does, in one line.
    pub fn description(&self) -> &str {
        &self.document.description
    }

    /// The sizes it defines, each with its parameters, sorted by name.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, Vec<(&str, i64)>)> {
        self.document.size.iter().map(|(size, table)| {
            let parameters = table.iter().map(|(name, value)| (name.get_ref().as_str(), *value));
            (size.as_str(), parameters.collect())
        })
    }

    /// Whether a seed changes its contents: the parameter `seed`, of a size or beside it.
    pub fn has_seed(&self, size: &str) -> bool {
        let own = self.document.size.get(size);
        let own = own.is_some_and(|table| table.keys().any(|name| name.get_ref() == SEED));
        own || self.document.is_random()
    }

    /// Makes the plan for one size of the workload, with some parameters replaced.
    ///
    /// `module` is the parsed form of [`Self::ptx`]. The check is `None` when the launch file has
    /// none.
    pub fn plan(
        &self,
        size: &str,
        overrides: &Overrides,
        module: &Module,
    ) -> Result<(LaunchPlan, Option<CheckPlan>), WorkloadError> {
        let Some(table) = self.document.size.get(size) else {
            let sizes: Vec<&str> = self.document.size.keys().map(String::as_str).collect();
            return Err(WorkloadError::UnknownSize {
                workload: self.name.clone(),
                size: size.to_owned(),
                known: in_words(&sizes),
            });
        };
        let folder = self.folder.as_deref();
        let source = Source { file: &self.launch_file, text: &self.launch, folder };
        let parameters = resolve::parameters(table, overrides);
        let own_seed = parameters.get(SEED).is_some();
        let shift = overrides.get(SEED).filter(|_| !own_seed && self.document.is_random());
        for parameter in overrides.keys() {
            if parameters.get(parameter).is_none() && !(parameter == SEED && shift.is_some()) {
                return Err(WorkloadError::UnknownParameter {
                    workload: self.name.clone(),
                    parameter: parameter.clone(),
                    known: parameters.names(),
                });
            }
        }
        let more_seed = shift.map_or(0, |seed| seed.saturating_mul(SEED_STEP));
        let (mut plan, check) =
            resolve::resolve(source, (&self.document, &[]), (parameters, more_seed), module)
                .map_err(LaunchFileErrors::new)?;
        for (buffer, bytes) in plan.buffers.iter_mut().zip(&self.contents) {
            debug_assert_eq!(buffer.bytes(), bytes.len() as u64);
            buffer.contents = Contents::Bytes(Arc::clone(bytes));
        }
        Ok((plan, check))
    }
}

/// Reads an override such as `n=4096`: a name and an integer (or an expression without names).
pub fn parse_override(text: &str) -> Result<(String, i64), WorkloadError> {
    let wrong = |because: String| WorkloadError::Override { text: text.to_owned(), because };
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("there is no `=`".to_owned()))?;
    let name = name.trim();
    if name.is_empty() {
        return Err(wrong("there is no name before the `=`".to_owned()));
    }
    let value = Expression::parse(value).and_then(|value| value.evaluate(&Scope::default()));
    Ok((name.to_owned(), value.map_err(|error| wrong(error.to_string()))?))
}

fn in_words(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Reads a PTX file of at most 256 MiB.
pub fn read_ptx(path: &Path) -> Result<String, WorkloadError> {
    read(path, MAX_PTX_FILE)
}

/// Reads a text file of at most `limit` bytes.
fn read(path: &Path, limit: u64) -> Result<String, WorkloadError> {
    let failed = |source| WorkloadError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large, even if it claims no size.
    if path == Path::new(STANDARD_INPUT) {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > limit {
        return Err(WorkloadError::FileTooLarge { path: path.to_owned(), limit });
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        WorkloadError::NotText { path: path.to_owned(), offset }
    })
}
