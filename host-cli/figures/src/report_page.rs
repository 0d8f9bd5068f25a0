//! Report page: a user's own runs as one page that needs nothing else.
//!
//! [`input`] reads what `strata run`, `strata inspect --profile` and `strata run --timeline` wrote,
//! and tells them apart by what they hold. [`run`] and [`profile`] are what the page shows of
//! reports, [`timeline`] what it shows of warps in time; [`sections`], [`heat`] and [`strip`] draw
//! them with the charts and tables of [`crate::reproduce::html`].

mod heat;
mod input;
mod profile;
mod run;
mod sections;
mod source;
mod strip;
mod timeline;

use std::path::PathBuf;

use crate::reproduce::html;
use crate::reproduce::svg::escaped;
use strata_files::failure::Failure;

/// Everything that a page is made of, in the order of the files.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Reports of `run`.
    pub runs: Vec<run::Run>,
    /// Profiles of `inspect --profile`.
    pub profiles: Vec<profile::Profile>,
    /// Timelines of `run --timeline`.
    pub timelines: Vec<timeline::Timeline>,
    /// Files of CUDA that profiles name.
    sources: source::Sources,
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
            input::read(file, &mut inputs)?;
        }
        inputs.sources = source::Sources::read(sources, &inputs.profiles)?;
        Ok(inputs)
    }
}

/// The page. `command` makes it again.
pub fn page(inputs: &Inputs, command: &str) -> String {
    let lead = format!(
        "<p>Strata {}, model {}.</p><p>Made by <code>{}</code>.</p>",
        env!("CARGO_PKG_VERSION"),
        strata_core::MODEL_VERSION,
        escaped(command)
    );
    let mut text = html::beginning("your runs", html::NO_SCRIPT);
    let mut body = String::new();
    let mut links = sections::write(&mut body, &inputs.runs);
    links.extend(heat::write(&mut body, &inputs.profiles, &inputs.sources));
    links.extend(strip::write(&mut body, &inputs.timelines));
    html::header(&mut text, "Your runs", &lead, &links);
    text.push_str(&body);
    text.push_str(html::END);
    text
}
