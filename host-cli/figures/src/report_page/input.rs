//! Input: files that commands wrote, told apart by what they hold.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Deserializer, Error};

use super::profile::Profile;
use super::run::Run;
use super::source::Sources;
use super::timeline::Timeline;
use strata_files::failure::Failure;
use strata_measure::timeline as drawn;
use strata_report::{self as report, json, lines};

const HINT: &str = "give what `strata run --format json`, `strata inspect --profile --format json` \
                    or `strata run --timeline` of this version wrote";

/// Everything that a page is made of, in the order of the files.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Reports of `run`.
    pub runs: Vec<Run>,
    /// Profiles of `inspect --profile`.
    pub profiles: Vec<Profile>,
    /// Timelines of `run --timeline`.
    pub timelines: Vec<Timeline>,
    /// Files of CUDA that profiles name.
    pub(super) sources: Sources,
}

impl Inputs {
    /// Reads all files, before anything is written.
    ///
    /// # Errors
    /// A file that none of the commands wrote, of another version, or damaged; a source that no
    /// profile names, or that is not the one that was compiled.
    pub fn read(files: &[PathBuf], sources: &[PathBuf]) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        for file in files {
            add(file, &mut inputs)?;
        }
        inputs.sources = Sources::read(sources, &inputs.profiles)?;
        Ok(inputs)
    }
}

/// What every report says about itself.
#[derive(Deserialize)]
#[serde(expecting = "a report")]
struct Head {
    schema: Option<String>,
    #[serde(rename = "traceEvents")]
    events: Option<IgnoredAny>,
}

/// A text, and where in its file it begins.
#[derive(Clone, Copy)]
struct Part<'a> {
    file: &'a Path,
    text: &'a str,
    /// Lines of the file before it.
    lines: usize,
}

impl Part<'_> {
    /// What is wrong with it, as a whole.
    fn wrong(&self, what: &str) -> Failure {
        let place = format!("{}:{}", self.file.display(), self.lines + 1);
        Failure::input(format!("{place}: {what}")).hint(HINT)
    }

    /// An error of the reader of JSON, which names its own place at the end.
    fn refused(&self, error: &Error) -> Failure {
        let told = error.to_string();
        let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(what, _)| what);
        let what = if error.is_data() { "" } else { "it is no JSON: " };
        // What is wrong with a whole line has no column.
        let column = Some(error.column()).filter(|column| *column != 0);
        let column = column.map_or_else(String::new, |column| format!(":{column}"));
        let place = format!("{}:{}{column}", self.file.display(), self.lines + error.line());
        Failure::input(format!("{place}: {what}{told}")).hint(HINT)
    }

    fn parsed<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(self.text).map_err(|error| self.refused(&error))
    }

    /// The first value, as the heads of what it holds, and the rest.
    fn first<T: DeserializeOwned>(&self) -> Result<(T, Self, Self), Failure> {
        let mut values = Deserializer::from_str(self.text).into_iter::<T>();
        let Some(value) = values.next() else {
            return Err(self.wrong("it is no JSON: there is nothing"));
        };
        let value = value.map_err(|error| self.refused(&error))?;
        let (own, rest) = self.text.split_at(values.byte_offset());
        let lines = self.lines + own.matches('\n').count();
        Ok((value, Self { text: own, ..*self }, Self { text: rest, lines, ..*self }))
    }

    fn without_space(self) -> Self {
        let text = self.text.trim_start();
        let space = &self.text[..self.text.len() - text.len()];
        Self { text, lines: self.lines + space.matches('\n').count(), ..self }
    }
}

/// Adds what a file holds: an array of reports, reports or profiles one behind the other, a
/// timeline.
///
/// # Errors
/// A file that cannot be read, that holds something else, or is damaged.
fn add(file: &Path, inputs: &mut Inputs) -> Result<(), Failure> {
    let text = json::text_of(file)?;
    let whole = Part { file, text: &text, lines: 0 };
    // Its heads are not looked at first: it may be long.
    if text.starts_with(drawn::BEGIN) {
        let timeline = Timeline::parse(&text).map_err(|error| whole.refused(&error))?;
        let wrong = |what| Failure::input(format!("{}: {what}", file.display())).hint(HINT);
        timeline.check().map_err(wrong)?;
        inputs.timelines.push(timeline);
        return Ok(());
    }
    let mut part = whole.without_space();
    if part.text.is_empty() {
        return Err(part.wrong("there is nothing in it"));
    }
    while !part.text.is_empty() {
        part =
            if part.text.starts_with('[') { array(part, inputs)? } else { object(part, inputs)? };
        part = part.without_space();
    }
    Ok(())
}

/// The schema of a report, if it is one that is expected; otherwise what is there instead.
fn schema<'h>(head: &'h Head, known: &[&str]) -> Result<&'h str, String> {
    match head.schema.as_deref() {
        Some(schema) if known.contains(&schema) => Ok(schema),
        Some(other) => Err(format!("the schema is `{other}`, not `{}`", known.join("` or `"))),
        None if head.events.is_some() => {
            Err("it is a trace of events that `strata run --timeline` did not write".to_owned())
        }
        None => Err(format!("there is no schema, which is `{}`", known.join("` or `"))),
    }
}

fn array<'a>(part: Part<'a>, inputs: &mut Inputs) -> Result<Part<'a>, Failure> {
    let (heads, own, rest) = part.first::<Vec<Head>>()?;
    if heads.is_empty() {
        return Err(part.wrong("it has no report"));
    }
    for (place, head) in heads.iter().enumerate() {
        let wrong = |what: String| part.wrong(&format!("report {place}: {what}"));
        schema(head, &[report::SCHEMA]).map_err(wrong)?;
    }
    let runs: Vec<Run> = own.parsed()?;
    for (place, run) in runs.into_iter().enumerate() {
        run.check().map_err(|what| part.wrong(&format!("report {place}: {what}")))?;
        inputs.runs.push(run);
    }
    Ok(rest)
}

fn object<'a>(part: Part<'a>, inputs: &mut Inputs) -> Result<Part<'a>, Failure> {
    let (head, own, rest) = part.first::<Head>()?;
    let wrong = |what: String| part.wrong(&what);
    let known = [report::SCHEMA, lines::SCHEMA];
    if schema(&head, &known).map_err(wrong)? == report::SCHEMA {
        let run: Run = own.parsed()?;
        run.check().map_err(wrong)?;
        inputs.runs.push(run);
    } else {
        let profile: Profile = own.parsed()?;
        profile.check().map_err(wrong)?;
        inputs.profiles.push(profile);
    }
    Ok(rest)
}
