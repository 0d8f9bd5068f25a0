//! Names, texts and numbers of parts of a launch file, whichever size is run.

use super::document::Document;
use super::error::{LaunchFileError, NO_NAME, NO_PARAMETER, NO_TEXT, Problem};
use super::source::{Place, Source};
use strata_config::name::{self, NameError};
use strata_config::place;

/// Most sizes of a file, and most parameters of one.
pub(super) const MAX_SIZES: usize = 64;
/// Most buffers of a file.
pub(super) const MAX_BUFFERS: usize = 1024;

/// What is wrong with a name, a text or a number.
type Found = Result<(), Problem>;

/// Mistakes of names, with what finds their places: they are looked for where something is refused
/// only, a key's by reading the file once more.
struct Names<'a> {
    source: Source<'a>,
    mistakes: Vec<LaunchFileError>,
}

impl Names<'_> {
    fn add(&mut self, found: Found, place: impl FnOnce(Source<'_>) -> Place) {
        if let Err(problem) = found {
            self.mistakes.push(*place(self.source).error(problem));
        }
    }

    fn at_key(&mut self, found: Found, key: &str) {
        self.add(found, |source| {
            let position = place::of_key(source.text, key);
            Place { file: source.file.to_owned(), position, key: key.to_owned() }
        });
    }
}

/// Names and texts that nothing can print or refer to, and too many of either.
pub(super) fn mistakes(source: Source<'_>, document: &Document) -> Vec<LaunchFileError> {
    let mut names = Names { source, mistakes: Vec::new() };
    names.at_key(text(&document.description), "description");
    names.at_key(few("sizes", document.size.len(), MAX_SIZES), "size");
    names.at_key(few("buffers", document.buffer.len(), MAX_BUFFERS), "buffer");
    names.sizes(document);
    for (index, requirement) in document.require.iter().enumerate() {
        names.add(text(&requirement.get_ref().because), |source| {
            source.place(requirement.span(), format!("require[{index}].because"))
        });
    }
    for (index, buffer) in document.buffer.iter().enumerate() {
        let name = &buffer.get_ref().name;
        names.add(named(name.get_ref()), |source| {
            source.place(name.span(), format!("buffer[{index}].name"))
        });
    }
    names.objects(document);
    let checked = document.check.iter().flat_map(|check| &check.buffer);
    for (index, buffer) in checked.enumerate() {
        let Some(because) = &buffer.get_ref().because else { continue };
        names.add(text(because), |source| {
            source.place(buffer.span(), format!("check.buffer[{index}].because"))
        });
    }
    names.mistakes
}

impl Names<'_> {
    fn sizes(&mut self, document: &Document) {
        for (size, parameters) in document.size.iter().take(MAX_SIZES) {
            self.at_key(named(size), "size");
            let key = format!("size.{size}");
            self.at_key(few("parameters", parameters.len(), MAX_SIZES), &key);
            for parameter in parameters.keys() {
                self.add(variable(parameter.get_ref()), |source| {
                    source.place(parameter.span(), key.as_str())
                });
            }
        }
    }

    fn objects(&mut self, document: &Document) {
        let textures = document.texture.iter().map(|one| (one.span(), &one.get_ref().name));
        let surfaces = document.surface.iter().map(|one| (one.span(), &one.get_ref().name));
        let samplers = document.sampler.iter().map(|one| (one.span(), &one.get_ref().name));
        let objects = textures.chain(surfaces).chain(samplers);
        let what = "textures, surfaces and samplers";
        self.at_key(few(what, objects.clone().count(), MAX_BUFFERS), "texture");
        for (span, name) in objects {
            self.add(named(name), |source| source.place(span, "name"));
        }
    }
}

fn few(what: &'static str, found: usize, limit: usize) -> Found {
    if found > limit { Err(Problem::TooMany { what, found, limit }) } else { Ok(()) }
}

fn refused(what: &'static str, text: &str, why: NameError) -> Problem {
    let text = text.chars().take(name::LONGEST_NAME).collect();
    Problem::Text { what, text, why }
}

fn named(text: &str) -> Found {
    name::word(text).map_err(|why| refused(NO_NAME, text, why))
}

fn text(text: &str) -> Found {
    name::line(text).map_err(|why| refused(NO_TEXT, text, why))
}

/// A parameter is a name that expressions can use.
fn variable(text: &str) -> Found {
    if text == "i" {
        return Err(Problem::ReservedName);
    }
    name::word(text).map_err(|why| refused(NO_PARAMETER, text, why))?;
    let wrong = text.char_indices().find(|&(at, character)| {
        let digit = at == 0 && character.is_ascii_digit();
        digit || matches!(character, '-' | '.' | '+')
    });
    wrong.map_or(Ok(()), |(_, character)| {
        Err(refused(NO_PARAMETER, text, NameError::Character { character }))
    })
}
