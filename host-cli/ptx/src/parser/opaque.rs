//! Initial contents of textures, surfaces and samplers: properties by name.
//!
//! Those of samplers are kept. Those of textures and surfaces are read and dropped: an image is
//! what the host binds to it, as for `ptxas`, which writes none of them into its output.

use super::{Parser, Result};
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::module::{AddressMode, SamplerInitializer, Span};
use crate::types::ScalarType;

/// Properties of a `.samplerref`. Source: PTX ISA 8.5, "Texture, Sampler and Surface Types".
const OF_SAMPLERS: &[&str] =
    &["addr_mode_0", "addr_mode_1", "addr_mode_2", "filter_mode", "force_unnormalized_coords"];
/// Properties of a `.texref`.
const OF_TEXTURES: &[&str] = &[
    "addr_mode_0",
    "addr_mode_1",
    "addr_mode_2",
    "array_size",
    "channel_data_type",
    "channel_order",
    "depth",
    "filter_mode",
    "height",
    "normalized_coords",
    "num_mipmap_levels",
    "num_samples",
    "width",
];
/// Properties of a `.surfref`.
const OF_SURFACES: &[&str] =
    &["array_size", "channel_data_type", "channel_order", "depth", "height", "width"];

/// Modes by name, in the order of their numbers, which begin at 1.
const ADDRESS_MODES: [(&str, AddressMode); 5] = [
    ("wrap", AddressMode::Wrap),
    ("mirror", AddressMode::Mirror),
    ("clamp_ogl", AddressMode::ClampOgl),
    ("clamp_to_edge", AddressMode::ClampToEdge),
    ("clamp_to_border", AddressMode::ClampToBorder),
];
/// Filters by name, and whether they are linear, in the order of their numbers.
const FILTERS: [(&str, bool); 2] = [("nearest", false), ("linear", true)];

impl Parser<'_> {
    /// `{ filter_mode = linear, ... }`, or braces around those of the elements of an array: one for
    /// each sampler, none for textures and surfaces.
    pub(super) fn opaque_contents(
        &mut self,
        ty: ScalarType,
        dimensions: &[u64],
    ) -> Result<Vec<SamplerInitializer>> {
        let mut samplers = Vec::new();
        if dimensions.is_empty() {
            samplers.push(self.properties(ty)?);
        } else {
            self.expect(Token::LeftBrace, "`{`")?;
            while self.peek() != Token::RightBrace {
                let most = dimensions.iter().fold(1, |all: u64, &each| all.saturating_mul(each));
                if most > 0 && samplers.len() as u64 >= most {
                    let message = "more initial values than the variable has elements";
                    return Err(self.error("too-many-values", self.span(), message));
                }
                samplers.push(self.properties(ty)?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            self.expect(Token::RightBrace, "`,` or `}`")?;
        }
        samplers.retain(|_| ty == ScalarType::Samplerref);
        Ok(samplers)
    }

    fn properties(&mut self, ty: ScalarType) -> Result<SamplerInitializer> {
        let start = self.expect(Token::LeftBrace, "`{`")?.start;
        let (mut sampler, mut given) = (SamplerInitializer::default(), Vec::new());
        while self.peek() != Token::RightBrace {
            let (name, span) = self.property_name(ty)?;
            if given.contains(&name) {
                return Err(self.given_twice(span));
            }
            given.push(name);
            self.expect(Token::Equals, "`=`")?;
            if ty == ScalarType::Samplerref {
                self.sampler_property(name, &mut sampler)?;
            } else if self.peek() == Token::Word {
                self.bump();
            } else {
                self.integer()?;
            }
            if !self.eat(Token::Comma) {
                break;
            }
        }
        let end = self.expect(Token::RightBrace, "`,` or `}`")?.end;
        let blends = sampler.address_modes.contains(&Some(AddressMode::ClampOgl));
        if blends && sampler.linear == Some(true) {
            let message = "`clamp_ogl` with linear filtering cannot be executed yet";
            let span = Span { start, end };
            self.report(Diagnostic::unsupported("sampler-property", span, message));
        }
        Ok(sampler)
    }

    fn property_name(&mut self, ty: ScalarType) -> Result<(&'static str, Span)> {
        let (what, known) = match ty {
            ScalarType::Samplerref => ("sampler", OF_SAMPLERS),
            ScalarType::Surfref => ("surface", OF_SURFACES),
            _ => ("texture", OF_TEXTURES),
        };
        let (name, span) = self.identifier("a property such as `filter_mode`")?;
        if let Some(found) = known.iter().find(|&&found| found == name) {
            return Ok((found, span));
        }
        let hint = self.suggest(name, || known.to_vec());
        let hint = hint.unwrap_or_else(|| format!("a {what} has `{}`", known.join("`, `")));
        let message = format!("`{}` is not a property of a {what}", super::shorten(name));
        Err(self.error_with_hint("unknown-property", span, message, Some(hint)))
    }

    fn sampler_property(&mut self, name: &str, sampler: &mut SamplerInitializer) -> Result<()> {
        match name {
            "addr_mode_0" => sampler.address_modes[0] = self.named_value(&ADDRESS_MODES)?,
            "addr_mode_1" => sampler.address_modes[1] = self.named_value(&ADDRESS_MODES)?,
            "addr_mode_2" => sampler.address_modes[2] = self.named_value(&ADDRESS_MODES)?,
            "filter_mode" => sampler.linear = self.named_value(&FILTERS)?,
            _ => sampler.unnormalized = self.integer()? != 0,
        }
        Ok(())
    }

    /// A value by its name, or by its number, of which 0 leaves it open.
    fn named_value<T: Copy>(&mut self, known: &[(&str, T)]) -> Result<Option<T>> {
        let span = self.span();
        let found = if self.peek() == Token::Word {
            let name = self.word();
            self.bump();
            known.iter().find(|(found, _)| *found == name).map(|&(_, value)| Some(value))
        } else {
            let number = usize::try_from(self.integer()?).unwrap_or(usize::MAX);
            match number.checked_sub(1) {
                None => Some(None),
                Some(index) => known.get(index).map(|&(_, value)| Some(value)),
            }
        };
        let Some(value) = found else {
            let text = super::shorten(self.slice(span));
            let names: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
            let message = format!("`{text}` is not a value of this property");
            let hint = format!("write `{}`", names.join("`, `"));
            return Err(self.error_with_hint("unknown-property", span, message, Some(hint)));
        };
        Ok(value)
    }
}
