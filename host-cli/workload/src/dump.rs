//! Dump: final contents of buffers as files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::LaunchPlan;
use crate::array_file::{self, Array, Format};
use strata_files::failure::Failure;
use strata_files::output::Output;
use strata_files::partial_file::PartialFile;

/// A buffer that is to be written into a file.
#[derive(Clone, Debug)]
pub struct Dump {
    buffer: String,
    format: Format,
    output: Output,
}

/// Whether there are dumps of one input only.
///
/// # Errors
///
/// Dumps of none or of several.
pub fn one_input(texts: &[String], inputs: usize) -> Result<(), Failure> {
    if texts.is_empty() || inputs == 1 {
        return Ok(());
    }
    let message = format!("`--dump` writes buffers of one input, {inputs} are given");
    Err(Failure::input(message).hint("name one workload, or one PTX file with `--launch`"))
}

/// Reads `BUFFER=FILE` of a command that reads `inputs`.
///
/// # Errors
///
/// Another form, a file of unknown format, a file that may not be replaced, a file named twice.
pub fn requests(texts: &[String], force: bool, inputs: &[PathBuf]) -> Result<Vec<Dump>, Failure> {
    let mut dumps: Vec<Dump> = Vec::with_capacity(texts.len());
    for text in texts {
        let split =
            text.split_once('=').filter(|(buffer, file)| !buffer.is_empty() && !file.is_empty());
        let Some((buffer, file)) = split else {
            return Err(Failure::input(format!("`--dump {text}` names no buffer and file"))
                .hint("write `--dump BUFFER=FILE.npy`"));
        };
        let file = Path::new(file);
        let format = match Format::of_path(file) {
            Some(Format::Npz) | None => {
                return Err(Failure::input(format!(
                    "`{}` has no format that can be written",
                    file.display()
                ))
                .hint("end its name in `.npy`, `.csv`, or `.bin` for raw elements"));
            }
            Some(format) => format,
        };
        let kind = if format == Format::Npy { array_file::NPY } else { array_file::PLAIN };
        let output = Output::new(file, kind, force, inputs)?;
        if dumps.iter().any(|other| other.output.path() == output.path()) {
            return Err(Failure::input(format!("`{}` is named twice", file.display()))
                .hint("write each buffer into a file of its own"));
        }
        dumps.push(Dump { buffer: buffer.to_owned(), format, output });
    }
    Ok(dumps)
}

/// Whether a plan has all the buffers.
///
/// # Errors
///
/// The first that it lacks.
pub fn check(dumps: &[Dump], plan: &LaunchPlan) -> Result<(), Failure> {
    let unknown = dumps.iter().find(|dump| plan.buffer(&dump.buffer).is_none());
    unknown.map_or(Ok(()), |dump| {
        let known: Vec<_> =
            plan.buffers.iter().map(|buffer| format!("`{}`", buffer.name)).collect();
        let message = format!("there is no buffer `{}` to write", dump.buffer);
        Err(Failure::input(message).hint(format!("the launch file has {}", known.join(", "))))
    })
}

/// Writes the buffers, of whose final contents `finals` has one entry for each buffer of the plan.
///
/// # Errors
///
/// A file that cannot be written. Those before it have been.
pub fn write_all(dumps: &[Dump], plan: &LaunchPlan, finals: &[Vec<u8>]) -> Result<(), Failure> {
    for dump in dumps {
        let Some(index) = plan.buffer(&dump.buffer) else { continue };
        let buffer = &plan.buffers[index];
        let (shape, bytes) = (buffer.shape.clone(), finals.get(index).cloned().unwrap_or_default());
        let written = PartialFile::create(&dump.output).and_then(|mut file| {
            let array = Array { shape, bytes };
            array_file::write(&mut file, dump.format, buffer.element, &array)?;
            file.flush()?;
            file.finish()
        });
        written.map_err(|error| {
            Failure::file(dump.output.named(), "write", &error)
                .hint("name a file in a folder that you may write to")
        })?;
    }
    Ok(())
}
