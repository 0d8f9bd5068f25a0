//! Initial contents of variables: nested braces, numbers, addresses.

use super::constant::Constant;
use super::variable::Attributes;
use super::{Parser, Reported, Result};
use crate::check::addresses::stored;
use crate::diagnostic::Diagnostic;
use crate::lexer::Token;
use crate::module::{AddressInitializer, Initializer, Span, StateSpace, Symbol};
use crate::types::{Kind, ScalarType};

impl Parser<'_> {
    /// The contents after `=`, and the number of outermost elements they fill.
    ///
    /// Depth is bounded by the number of dimensions, and what is stored by a budget that grows with
    /// the text: a few braces must not stand for gigabytes.
    pub(super) fn initializer(
        &mut self,
        attributes: Attributes,
        dimensions: &[u64],
    ) -> Result<(Initializer, u64)> {
        let mut dimensions = dimensions.to_vec();
        if attributes.vector > 1 {
            dimensions.push(u64::from(attributes.vector));
        }
        if attributes.ty.kind() == Kind::Opaque {
            self.sampler(!dimensions.is_empty())?;
            return Ok((Initializer::default(), 0));
        }
        let mut contents = Initializer::default();
        let braces = self.peek() == Token::LeftBrace;
        let filled = if braces && !dimensions.is_empty() {
            self.level(attributes.ty, &dimensions, 0, &mut contents)?
        } else if braces {
            self.bump();
            self.initial_value(attributes.ty, 0, &mut contents)?;
            self.expect(Token::RightBrace, "`}`")?;
            1
        } else if dimensions.is_empty() {
            self.initial_value(attributes.ty, 0, &mut contents)?;
            1
        } else {
            return Err(self.expected("`{` before the contents of an array"));
        };
        Ok((contents, filled))
    }

    /// `{ addr_mode_0 = wrap, ... }` of a texture, sampler or surface, or braces around several of
    /// them: nothing that is executed depends on it.
    fn sampler(&mut self, array: bool) -> Result<()> {
        self.expect(Token::LeftBrace, "`{`")?;
        if self.eat(Token::RightBrace) {
            return Ok(());
        }
        loop {
            if array {
                self.sampler(false)?;
            } else {
                self.sampler_property()?;
            }
            if !self.eat(Token::Comma) {
                self.expect(Token::RightBrace, "`,` or `}`")?;
                return Ok(());
            }
        }
    }

    fn sampler_property(&mut self) -> Result<()> {
        const KNOWN: &[&str] = &[
            "addr_mode_0",
            "addr_mode_1",
            "addr_mode_2",
            "array_size",
            "channel_data_type",
            "channel_order",
            "depth",
            "filter_mode",
            "force_unnormalized_coords",
            "height",
            "normalized_coords",
            "num_mipmap_levels",
            "num_samples",
            "width",
        ];
        let (name, span) = self.identifier("a property such as `filter_mode`")?;
        if !KNOWN.contains(&name) {
            let hint = self.suggest(name, || KNOWN.to_vec());
            let message = format!("`{}` is not a property of a sampler", super::shorten(name));
            return Err(self.error_with_hint("unknown-property", span, message, hint));
        }
        self.expect(Token::Equals, "`=`")?;
        match self.peek() {
            Token::Word | Token::Number => {
                self.bump();
                Ok(())
            }
            _ => Err(self.expected("a value such as `linear`")),
        }
    }

    /// One pair of braces: fills `dimensions[0]` rows from element `base` on; gives rows filled.
    fn level(
        &mut self,
        ty: ScalarType,
        dimensions: &[u64],
        base: u64,
        contents: &mut Initializer,
    ) -> Result<u64> {
        self.expect(Token::LeftBrace, "`{`")?;
        // An open array has no limit of its own.
        let rows = if dimensions[0] == 0 { u64::MAX } else { dimensions[0] };
        let stride = dimensions[1..].iter().fold(1_u64, |size, &rows| size.saturating_mul(rows));
        let stride = stride.max(1);
        let capacity = rows.saturating_mul(stride);
        let mut cursor = 0_u64;
        while self.peek() != Token::RightBrace {
            if cursor >= capacity {
                let message = "more initial values than the variable has elements";
                return Err(self.error("too-many-values", self.span(), message));
            }
            if self.peek() == Token::LeftBrace {
                if dimensions.len() < 2 {
                    return Err(self.expected("a value: these braces are nested too deeply"));
                }
                cursor = cursor.next_multiple_of(stride);
                self.level(ty, &dimensions[1..], base.saturating_add(cursor), contents)?;
                cursor = cursor.saturating_add(stride);
            } else {
                self.initial_value(ty, base.saturating_add(cursor), contents)?;
                cursor += 1;
            }
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightBrace, "`,` or `}` after an initial value")?;
        Ok(cursor.div_ceil(stride))
    }

    /// One value at element `index`.
    fn initial_value(
        &mut self,
        ty: ScalarType,
        index: u64,
        contents: &mut Initializer,
    ) -> Result<()> {
        let span = self.span();
        let offset = index.saturating_mul(u64::from(ty.bytes()));
        if self.at_constant() || self.peek() == Token::Bang {
            let constant = self.constant()?;
            if self.peek() == Token::LeftParenthesis {
                return self.masked_address(constant, (ty, offset), contents, span);
            }
            let bytes = self.constant_bytes(constant, ty, span)?;
            return self.store(contents, offset, &bytes[..ty.bytes() as usize], span);
        }
        let (symbol, generic, name_span) = self.address_named()?;
        let addend = self.offset()?;
        if ty.bytes() < 4 || !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
            let message = format!("an address does not fit a `.{}` element", ty.name());
            return Err(self.error("bad-initializer", span, message));
        }
        self.note_narrow(stored(ty, symbol, name_span));
        let size = ty.bytes() as u8;
        let address = AddressInitializer { offset, size, shift: 0, symbol, addend, generic };
        self.store_address(contents, address, span)
    }

    /// `0xff00(name)`: one byte of an address, after the mask that says which.
    fn masked_address(
        &mut self,
        mask: Constant,
        (ty, offset): (ScalarType, u64),
        contents: &mut Initializer,
        span: Span,
    ) -> Result<()> {
        let shift = match mask {
            Constant::Integer { bits, .. } => {
                (0..8).map(|byte| 8 * byte).find(|&shift| bits == 0xff << shift)
            }
            _ => None,
        };
        let Some(shift) = shift else {
            let message = "the mask of an address has one byte of ones, such as `0xff00`";
            return Err(self.error("bad-initializer", span, message));
        };
        if ty.bytes() != 1 {
            let message = format!("one byte of an address is no `.{}` element", ty.name());
            return Err(self.error("bad-initializer", span, message));
        }
        self.expect(Token::LeftParenthesis, "`(`")?;
        let (symbol, generic, _) = self.address_named()?;
        self.expect(Token::RightParenthesis, "`)`")?;
        let address = AddressInitializer { offset, size: 1, shift, symbol, addend: 0, generic };
        self.store_address(contents, address, span)
    }

    fn store_address(
        &mut self,
        contents: &mut Initializer,
        address: AddressInitializer,
        span: Span,
    ) -> Result<()> {
        let (offset, size) = (address.offset, usize::from(address.size));
        contents.addresses.push(address);
        self.store(contents, offset, &[0; 16][..size], span)
    }

    /// `name` or `generic(name)` of something whose address is known when the module is loaded:
    /// what it is, whether its generic address is meant, and where the name is.
    fn address_named(&mut self) -> Result<(Symbol, bool, Span)> {
        let (name, span) = self.identifier("an initial value")?;
        let generic = name == "generic" && self.peek() == Token::LeftParenthesis;
        let (name, span) = if generic {
            self.bump();
            let named = self.identifier("the name of a variable")?;
            self.expect(Token::RightParenthesis, "`)`")?;
            named
        } else {
            (name, span)
        };
        let Some(symbol) = self.symbol(name) else {
            return Err(self.undeclared_symbol(name, span));
        };
        if self.is_fixed(symbol) {
            return Ok((symbol, generic, span));
        }
        let message = format!("the address of `{}` differs from CTA to CTA", super::shorten(name));
        let hint = "initial contents are addresses of `.global` and `.const` variables";
        Err(self.error_with_hint("bad-initializer", span, message, Some(hint.into())))
    }

    /// Whether a symbol has one address for as long as its module is loaded.
    fn is_fixed(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Module(id) => {
                let space = self.module.variables.get(id.index()).map(|variable| variable.space);
                matches!(space, Some(StateSpace::Global | StateSpace::Const))
            }
            Symbol::Function(_) => true,
            Symbol::Local(_) => false,
        }
    }

    pub(super) fn undeclared_symbol(&mut self, name: &str, span: Span) -> Reported {
        let hint = self.suggest(name, || {
            let mut globals: Vec<&str> = self.globals.keys().copied().collect();
            globals.sort_unstable();
            globals
        });
        let message = format!("`{}` is not declared", super::shorten(name));
        self.error_with_hint("undeclared", span, message, hint)
    }

    fn store(
        &mut self,
        contents: &mut Initializer,
        offset: u64,
        bytes: &[u8],
        span: Span,
    ) -> Result<()> {
        let stored = contents.bytes.len();
        let end = usize::try_from(offset).ok().and_then(|start| start.checked_add(bytes.len()));
        let needed = end.map(|end| end.saturating_sub(stored));
        let (Some(end), Some(needed)) = (end, needed.filter(|&n| n <= self.initial_budget)) else {
            let message = "these initial contents have gaps too large to store";
            return Err(self.report(Diagnostic::unsupported("sparse-initializer", span, message)));
        };
        self.initial_budget -= needed;
        if end > stored {
            contents.bytes.resize(end, 0);
        }
        contents.bytes[end - bytes.len()..end].copy_from_slice(bytes);
        Ok(())
    }

    /// The bytes of a constant as an element of type `ty`, little endian, zero-extended.
    fn constant_bytes(
        &mut self,
        constant: Constant,
        ty: ScalarType,
        span: Span,
    ) -> Result<[u8; 16]> {
        let bits = match (constant, ty.kind(), ty.bits()) {
            (Constant::Integer { bits, .. }, Kind::Float, 32) => {
                u64::from((bits as i64 as f32).to_bits())
            }
            (Constant::Integer { bits, .. }, Kind::Float, 64) => (bits as i64 as f64).to_bits(),
            (Constant::Integer { bits, .. }, _, width) => {
                if !fits(bits, width) {
                    let message = format!("this value does not fit a `.{}` element", ty.name());
                    return Err(self.error("value-range", span, message));
                }
                bits
            }
            (Constant::Float32(bits), Kind::Float | Kind::Bits, 32) => u64::from(bits),
            (Constant::Float32(bits), Kind::Float, 64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Constant::Float64(bits), Kind::Float, 32) => {
                u64::from((f64::from_bits(bits) as f32).to_bits())
            }
            (Constant::Float64(bits), Kind::Float | Kind::Bits, 64) => bits,
            _ => {
                let message = format!("a floating-point value cannot be a `.{}`", ty.name());
                return Err(self.error("value-type", span, message));
            }
        };
        Ok(u128::from(bits).to_le_bytes())
    }
}

/// Whether an integer constant, read as signed or unsigned, fits `width` bits.
fn fits(bits: u64, width: u32) -> bool {
    if width >= 64 {
        return true;
    }
    let high_ones = bits.leading_ones();
    bits >> width == 0 || high_ones > 64 - width
}
