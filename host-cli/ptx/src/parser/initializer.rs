//! Initial contents of variables: nested braces, numbers, addresses.

use super::attributes::Attributes;
use super::constant::Constant;
use super::{Parser, Reported, Result};
use crate::check::addresses::stored;
use crate::lexer::Token;
use crate::module::{AddressInitializer, Initializer, Operand, Span, StateSpace, Symbol};
use crate::types::{Kind, ScalarType};

impl Parser<'_> {
    /// The contents after `=`, and the number of outermost elements they fill.
    ///
    /// Depth is bounded by the number of dimensions, and what is stored by the number of values: a
    /// few braces must not stand for gigabytes.
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
            let samplers = self.opaque_contents(attributes.ty, &dimensions)?;
            let count = samplers.len() as u64;
            return Ok((Initializer { samplers, ..Initializer::default() }, count));
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
                return self.masked(constant, (ty, offset), contents, span);
            }
            let bytes = self.constant_bytes(constant, ty, span)?;
            return self.store(contents, offset, &bytes[..ty.bytes() as usize], span);
        }
        let (symbol, generic, addend, name_span) = self.address_sum()?;
        if ty.bytes() < 4 || !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
            let message = format!("an address does not fit a `.{}` element", ty.name());
            return Err(self.error("bad-initializer", span, message));
        }
        self.note_narrow(stored(ty, symbol, name_span));
        let size = ty.bytes() as u8;
        let address = AddressInitializer { offset, size, shift: 0, symbol, addend, generic };
        self.store_address(contents, address, span)
    }

    /// `0xff00(name+4)`: one byte of an address, or of an integer, after the mask that says which.
    fn masked(
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
        self.expect(Token::LeftParenthesis, "`(`")?;
        if self.at_constant() || self.peek() == Token::Bang {
            let bits = self.integer()? >> shift & 0xff;
            self.expect(Token::RightParenthesis, "`)`")?;
            let byte = Constant::Integer { bits, unsigned: true };
            let bytes = self.constant_bytes(byte, ty, span)?;
            return self.store(contents, offset, &bytes[..ty.bytes() as usize], span);
        }
        let wide = matches!(ty, ScalarType::U32 | ScalarType::U64);
        if ty.bytes() != 1 && !wide {
            let message = format!("one byte of an address is no `.{}` element", ty.name());
            return Err(self.error("bad-initializer", span, message));
        }
        let (symbol, generic, addend, _) = self.address_sum()?;
        self.expect(Token::RightParenthesis, "`)`")?;
        let address = AddressInitializer { offset, size: 1, shift, symbol, addend, generic };
        contents.addresses.push(address);
        self.store(contents, offset, &[0; 16][..ty.bytes() as usize], span)
    }

    /// `name+4` or `generic(name)+4`: what [`Parser::address_named`] gives, and what is added.
    fn address_sum(&mut self) -> Result<(Symbol, bool, i64, Span)> {
        let (symbol, generic, span) = self.address_named()?;
        let addend = self.offset()?;
        if addend != 0 && matches!(symbol, Symbol::Function(_)) {
            let message = "nothing can be added to the address of a function";
            return Err(self.error("bad-initializer", span, message));
        }
        Ok((symbol, generic, addend, span))
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
        if offset > contents.bytes.len() as u64 {
            let message = "a row before this value has fewer values than elements";
            let hint = "write its zeros: PTX's manual fills the row with them, and `ptxas` moves \
                        what follows into its place";
            return Err(self.error_with_hint("short-row", span, message, Some(hint.into())));
        }
        contents.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The bytes of a constant as an element of type `ty`, little endian. Those of an integer that
    /// do not fit are dropped (DEV-172).
    fn constant_bytes(
        &mut self,
        constant: Constant,
        ty: ScalarType,
        span: Span,
    ) -> Result<[u8; 16]> {
        let name = ty.name();
        let number = matches!(ty, ScalarType::F32 | ScalarType::F64);
        if ty.kind() == Kind::Float && !number {
            let message = format!("a `.{name}` variable cannot have initial contents");
            let hint = format!("declare it `.b{}` and write the bits", ty.bits());
            return Err(self.error_with_hint("bad-initializer", span, message, Some(hint)));
        }
        match constant {
            Constant::Integer { .. } if number => {
                let message = format!("an integer constant is not a `.{name}`");
                let hint = "write a decimal point, such as `2.0`, or the bits after `0f` or `0d`";
                Err(self.error_with_hint("value-type", span, message, Some(hint.into())))
            }
            Constant::Integer { bits, unsigned: false } if ty.bits() > 64 && (bits as i64) < 0 => {
                let message = "a negative constant has 64 bits, and this element 128";
                let hint = "write two `.b64` elements";
                Err(self.error_with_hint("value-range", span, message, Some(hint.into())))
            }
            Constant::Integer { bits, .. } => Ok(u128::from(bits).to_le_bytes()),
            _ if number || ty.kind() == Kind::Bits => {
                let bits = Operand::from(constant).float_bits(ty.bits()).unwrap_or_default();
                Ok(u128::from(bits).to_le_bytes())
            }
            _ => {
                let message = format!("a floating-point value cannot be a `.{name}`");
                Err(self.error("value-type", span, message))
            }
        }
    }
}
