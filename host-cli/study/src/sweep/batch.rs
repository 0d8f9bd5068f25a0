//! Batches: some points of one input, as a text that another machine evaluates.
//!
//! A batch names its points by their keys. A program that makes other keys of the same text, as
//! its model or its input files are others, refuses it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_core::MODEL_VERSION;

use super::definition::Definition;
use super::engine::{self, Stop};
use super::points::Points;
use super::{SCHEMA, parquet};
use strata_files::failure::Failure;
use strata_files::interrupt;
use strata_measure::notes::Notes;

/// Some points of one input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Version of the rows and of this text.
    schema: String,
    /// Version of the model.
    model: u32,
    /// The inputs, as a sweep's file has them.
    inputs: String,
    /// The input's place among them.
    input: usize,
    /// The designs, as a command line names them, each with the key of its point.
    points: Vec<(String, String)>,
}

impl Batch {
    /// The points of an input, by its place, under some designs, by theirs; `inputs` is the
    /// definition's [`Definition::inputs_text`].
    pub fn new(inputs: &str, points: &Points, input: usize, designs: &[usize]) -> Self {
        let point = |&design: &usize| {
            let argument = points.designs[design].argument.clone();
            (argument, points.key(input, design).to_string())
        };
        Self {
            schema: SCHEMA.to_owned(),
            model: MODEL_VERSION,
            inputs: inputs.to_owned(),
            input,
            points: designs.iter().map(point).collect(),
        }
    }

    /// Its text, on one line.
    ///
    /// # Errors
    /// None that a sweep can cause.
    pub fn to_text(&self) -> Result<String, Failure> {
        serde_json::to_string(self)
            .map_err(|error| Failure::internal(&format!("a batch has no text: {error}")))
    }

    /// Reads the text of a batch that this program can evaluate.
    ///
    /// # Errors
    /// Another version of the rows or of the model; no batch.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |error| {
            Failure::input(format!("this is no batch of points: {error}"))
                .hint("`strata sweep --engine dask` sends batches; users do not type them")
        };
        let value: Value = serde_json::from_str(text).map_err(wrong)?;
        let hint = "install the same version of strata on all machines";
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            other => {
                let other = other.unwrap_or("none");
                let message = format!(
                    "the sweep is of version `{other}`, and this strata evaluates `{SCHEMA}`"
                );
                return Err(Failure::input(message).hint(hint));
            }
        }
        let model = value.get("model").and_then(Value::as_u64);
        if model != Some(u64::from(MODEL_VERSION)) {
            let model = model.map_or_else(|| "none".to_owned(), |model| model.to_string());
            let message = format!(
                "the sweep is of model version {model}, and this strata has model version \
                 {MODEL_VERSION}"
            );
            return Err(Failure::input(message).hint(hint));
        }
        serde_json::from_value(value).map_err(wrong)
    }

    /// Evaluates the points, and gives the bytes of a file of their rows.
    ///
    /// # Errors
    /// Files that are not those of the sweep. That it was to end early.
    pub fn evaluate(&self, stop: &Stop<'_>, notes: &dyn Notes) -> Result<Vec<u8>, Failure> {
        let definition = Definition::parse(&"the sweep", &self.inputs, "".as_ref())?.sorted()?;
        let designs: Vec<_> = self.points.iter().map(|(design, _)| design.clone()).collect();
        let points = Points::of_input(&definition, self.input, &designs, notes)?;
        for (place, (design, key)) in self.points.iter().enumerate() {
            if points.key(0, place).to_string() != *key {
                let message = format!(
                    "`{}` under `{design}` is another point here than where the sweep was begun: \
                     files that they name differ, or the strata there is another",
                    points.inputs[0].subject.name()
                );
                return Err(Failure::input(message).hint(
                    "bring the same program and the same files to all machines; files that are \
                     named by relative paths go along",
                ));
            }
        }
        let rows = engine::rows(&points, stop, notes)?;
        let rows = rows.ok_or_else(|| interrupt::failure("the batch is not done"))?;
        parquet::encode(&rows)
            .map_err(|error| Failure::internal(&format!("cannot write rows: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_measure::notes::Silent;

    /// Points of the second of two inputs.
    fn batch() -> Batch {
        let text = "workloads = [\"vectoradd\", \"reduction\"]\nscale = \"small\"\n\
                    [vary]\nactive_warps = [4, 8]\n";
        let definition = Definition::parse(&"s.toml", text, "".as_ref()).unwrap();
        let points = Points::new(&definition, &Silent).unwrap();
        Batch::new(&definition.inputs_text(), &points, 1, &[1, 0])
    }

    #[test]
    fn a_batch_is_read_back_and_gives_its_points_in_order() {
        let batch = batch();
        let text = batch.to_text().unwrap();
        assert_eq!(text.lines().count(), 1);
        let again = Batch::parse(&text).unwrap();
        assert_eq!(again, batch);
        let bytes = again.evaluate(&|| false, &Silent).unwrap();
        let rows = parquet::decode(bytes::Bytes::from(bytes)).unwrap();
        let keys: Vec<_> = rows.iter().map(|row| row.key.to_string()).collect();
        assert_eq!(keys, batch.points.iter().map(|(_, key)| key.clone()).collect::<Vec<_>>());
        for row in rows {
            assert_eq!(row.get("workload").unwrap().to_string(), "reduction");
            assert_eq!(row.error(), None);
        }
    }

    #[test]
    fn what_another_program_sends_is_refused() {
        let text = batch().to_text().unwrap();
        let model = format!("\"model\":{MODEL_VERSION}");
        for (from, to, expected) in [
            (model.as_str(), "\"model\":999", "the sweep is of model version 999, and this"),
            (SCHEMA, "strata.sweep/0", "the sweep is of version `strata.sweep/0`, and this"),
            ("\"input\"", "\"inputs\"", "this is no batch of points: "),
            (model.as_str(), "\"module\":1", "the sweep is of model version none"),
        ] {
            let error = Batch::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.message().starts_with(expected), "{}", error.message());
        }
        let other = Batch { input: 0, ..batch() };
        let error = other.evaluate(&|| false, &Silent).unwrap_err();
        assert!(error.message().contains("is another point here"), "{}", error.message());
        let none = Batch { input: 2, ..batch() };
        let error = none.evaluate(&|| false, &Silent).unwrap_err();
        assert!(error.message().contains("no such input"), "{}", error.message());
    }
}
