//! Names, texts and numbers of parts of a launch file, whichever size is run.

use super::document::Document;
use super::error::{NO_NAME, NO_PARAMETER, NO_TEXT, Problem};
use super::plan::Place;
use super::resolve::{Result, Source};
use crate::config::name::{self, NameError};
use crate::config::place;

/// Most sizes of a file, and most parameters of one.
pub(super) const MAX_SIZES: usize = 64;
/// Most buffers of a file.
pub(super) const MAX_BUFFERS: usize = 1024;

/// What is wrong with a name, a text or a number.
type Found = std::result::Result<(), Problem>;

/// Refuses names and texts that nothing can print or refer to, and too many of either.
pub(super) fn check(source: Source<'_>, document: &Document) -> Result<()> {
    // Places are found for what is refused only: a key's by reading the file once more.
    let at = |key: &str| {
        let position = place::of_key(source.text, key);
        Place { file: source.file.to_owned(), position, key: key.to_owned() }
    };
    let description = &document.description;
    text(description).map_err(|problem| at("description").error(problem))?;
    few("sizes", document.size.len(), MAX_SIZES).map_err(|problem| at("size").error(problem))?;
    few("buffers", document.buffer.len(), MAX_BUFFERS)
        .map_err(|problem| at("buffer").error(problem))?;
    for (size, parameters) in &document.size {
        named(size).map_err(|problem| at("size").error(problem))?;
        few("parameters", parameters.len(), MAX_SIZES)
            .map_err(|problem| at(&format!("size.{size}")).error(problem))?;
        for parameter in parameters.keys() {
            let place = || source.place(parameter.span(), format!("size.{size}"));
            variable(parameter.get_ref()).map_err(|problem| place().error(problem))?;
        }
    }
    for (index, requirement) in document.require.iter().enumerate() {
        let place = || source.place(requirement.span(), format!("require[{index}].because"));
        text(&requirement.get_ref().because).map_err(|problem| place().error(problem))?;
    }
    for (index, buffer) in document.buffer.iter().enumerate() {
        let name = &buffer.get_ref().name;
        let place = || source.place(name.span(), format!("buffer[{index}].name"));
        named(name.get_ref()).map_err(|problem| place().error(problem))?;
    }
    let textures = document.texture.iter().map(|one| (one.span(), &one.get_ref().name));
    let surfaces = document.surface.iter().map(|one| (one.span(), &one.get_ref().name));
    let samplers = document.sampler.iter().map(|one| (one.span(), &one.get_ref().name));
    let objects = textures.chain(surfaces).chain(samplers);
    few("textures, surfaces and samplers", objects.clone().count(), MAX_BUFFERS)
        .map_err(|problem| at("texture").error(problem))?;
    for (span, name) in objects {
        named(name).map_err(|problem| source.place(span, "name").error(problem))?;
    }
    let checked = document.check.iter().flat_map(|check| &check.buffer);
    for (index, buffer) in checked.enumerate() {
        let Some(because) = &buffer.get_ref().because else { continue };
        let place = || source.place(buffer.span(), format!("check.buffer[{index}].because"));
        text(because).map_err(|problem| place().error(problem))?;
    }
    Ok(())
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
