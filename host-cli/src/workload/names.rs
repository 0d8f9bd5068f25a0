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

/// Refuses names and texts that nothing can print or refer to, and too many of either.
pub(super) fn check(source: Source<'_>, document: &Document) -> Result<()> {
    let at = |key: &str| {
        let position = place::of_key(source.text, key);
        Place { file: source.file.to_owned(), position, key: key.to_owned() }
    };
    text(&at("description"), &document.description)?;
    few(&at("size"), "sizes", document.size.len(), MAX_SIZES)?;
    few(&at("buffer"), "buffers", document.buffer.len(), MAX_BUFFERS)?;
    for (size, parameters) in &document.size {
        named(&at("size"), size)?;
        few(&at(&format!("size.{size}")), "parameters", parameters.len(), MAX_SIZES)?;
        for parameter in parameters.keys() {
            let (place, name) = (source.place(parameter.span(), format!("size.{size}")), parameter);
            if name.get_ref() == "i" {
                return Err(place.error(Problem::ReservedName));
            }
            variable(&place, name.get_ref())?;
        }
    }
    for (index, requirement) in document.require.iter().enumerate() {
        let place = source.place(requirement.span(), format!("require[{index}].because"));
        text(&place, &requirement.get_ref().because)?;
    }
    for (index, buffer) in document.buffer.iter().enumerate() {
        let name = &buffer.get_ref().name;
        named(&source.place(name.span(), format!("buffer[{index}].name")), name.get_ref())?;
    }
    let checked = document.check.iter().flat_map(|check| &check.buffer);
    for (index, buffer) in checked.enumerate() {
        let place = source.place(buffer.span(), format!("check.buffer[{index}].because"));
        let because = buffer.get_ref().because.as_deref();
        because.map_or(Ok(()), |because| text(&place, because))?;
    }
    Ok(())
}

fn few(place: &Place, what: &'static str, found: usize, limit: usize) -> Result<()> {
    if found > limit { Err(place.error(Problem::TooMany { what, found, limit })) } else { Ok(()) }
}

fn refused(place: &Place, what: &'static str, text: &str, why: NameError) -> Result<()> {
    let text = text.chars().take(name::LONGEST_NAME).collect();
    Err(place.error(Problem::Text { what, text, why }))
}

fn named(place: &Place, text: &str) -> Result<()> {
    name::word(text).or_else(|why| refused(place, NO_NAME, text, why))
}

fn text(place: &Place, text: &str) -> Result<()> {
    name::line(text).or_else(|why| refused(place, NO_TEXT, text, why))
}

/// A parameter is a name that expressions can use.
fn variable(place: &Place, text: &str) -> Result<()> {
    name::word(text).or_else(|why| refused(place, NO_PARAMETER, text, why))?;
    let wrong = text.char_indices().find(|&(at, character)| {
        let digit = at == 0 && character.is_ascii_digit();
        digit || matches!(character, '-' | '.' | '+')
    });
    wrong.map_or(Ok(()), |(_, character)| {
        refused(place, NO_PARAMETER, text, NameError::Character { character })
    })
}
