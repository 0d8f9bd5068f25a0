//! Checks the operands of an instruction against its form.

pub(crate) mod addresses;
mod context;
mod particular;

use crate::diagnostic::Diagnostic;
use crate::forms::{Form, Pipe, Slot, SlotKind, SlotType};
use crate::module::{
    AddressBase, Function, Operand, Span, SpecialRegister, StateSpace, Symbol, VirtualRegister,
};
use crate::opcode::Opcode;
use crate::types::{Kind, ScalarType};
pub(crate) use context::{Context, Written};
use particular::particular;

/// Operands sorted into results and sources, and what is wrong with them.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) destinations: Vec<Operand>,
    pub(crate) sources: Vec<Operand>,
    pub(crate) problems: Vec<Diagnostic>,
    /// What is wrong unless the module's addresses have 32 bits.
    pub(crate) narrow: Option<Diagnostic>,
}

/// Whether a form can have this many operands.
pub(crate) fn takes(form: &Form, count: usize) -> bool {
    let most = if form.slots.iter().any(|slot| slot.kind == SlotKind::Rest) {
        usize::MAX
    } else {
        form.slots.len()
    };
    let rest = |slot: &&Slot| slot.kind == SlotKind::Rest || slot.optional;
    let least = form.slots.len() - form.slots.iter().filter(rest).count();
    (least..=most).contains(&count)
}

/// Whether predicates are where a form has them, for a choice among forms of one length.
pub(crate) fn suits(form: &Form, function: &Function, written: &[Written]) -> bool {
    form.slots.iter().zip(written).all(|(slot, written)| match written.operand {
        Operand::NotRegister(_) => slot.kind == SlotKind::Predicate,
        Operand::Register(id) => {
            let register = function.registers.get(id.index());
            let predicate = register.is_some_and(|register| register.ty == ScalarType::Pred);
            predicate == (slot.kind == SlotKind::Predicate)
        }
        _ => true,
    })
}

/// Checks and sorts the operands; their number is known to suit the form.
pub(crate) fn operands(context: &Context<'_>, form: &Form, written: Vec<Written>) -> Checked {
    let narrow = addresses::narrow(context, &written);
    let mut checked = Checked { narrow, ..Checked::default() };
    checked.problems.extend(particular(context, &written));
    let mut slots = form.slots.iter().peekable();
    for written in written {
        // The last slot takes whatever is left when it is `Rest`.
        let slot = match slots.peek() {
            Some(slot) if slot.kind == SlotKind::Rest => **slot,
            Some(_) => match slots.next() {
                Some(slot) => *slot,
                None => break,
            },
            None => break,
        };
        if let Err(problem) = context.operand(&slot, &written) {
            checked.problems.push(problem);
        }
        let list = if slot.destination { &mut checked.destinations } else { &mut checked.sources };
        list.push(written.operand);
        list.extend(written.pipe.map(|(operand, _)| operand));
        list.extend(written.rest);
    }
    checked
}

type Check = Result<(), Diagnostic>;

fn fail(code: &'static str, span: Span, message: impl Into<String>) -> Check {
    Err(Diagnostic::error(code, span, message))
}

impl Context<'_> {
    fn operand(&self, slot: &Slot, written: &Written) -> Check {
        self.pipe(slot, written)?;
        let Written { operand, span, .. } = written;
        let span = *span;
        if !written.rest.is_empty() && slot.kind != SlotKind::Texture {
            return fail("operand-kind", span, "coordinates belong to textures and surfaces");
        }
        match slot.kind {
            SlotKind::Value => match self.slot_type(slot.ty) {
                Some(ty) => self.value(operand, ty, slot, span),
                None => Ok(()),
            },
            SlotKind::VectorByModifier => self.vector_by_modifier(operand, slot, span),
            SlotKind::VectorAny => match operand {
                Operand::Vector(_) => self.each(operand, slot, span),
                _ => fail("operand-kind", span, "a vector in braces is needed here"),
            },
            SlotKind::Fragment => self.fragment(operand, slot, span),
            SlotKind::Move => self.moved(operand, slot, span),
            SlotKind::Predicate => self.predicate(operand, slot, span),
            SlotKind::Address => self.address(operand, span),
            SlotKind::AddressValue => self.address_value(operand, slot, span),
            SlotKind::Immediate(limit) => match operand {
                Operand::Integer(value) if *value <= u64::from(limit) => Ok(()),
                Operand::Integer(_) => {
                    fail("immediate-range", span, format!("this constant must be at most {limit}"))
                }
                _ => fail("operand-kind", span, "an integer constant is needed here"),
            },
            SlotKind::Label => match operand {
                Operand::Label(_) => Ok(()),
                _ => fail("operand-kind", span, "a label is needed here"),
            },
            SlotKind::Table => match operand {
                Operand::BranchTable(_) => Ok(()),
                _ => fail("operand-kind", span, "the name of a `.branchtargets` is needed here"),
            },
            SlotKind::Texture => match operand {
                Operand::Address { .. } if !written.rest.is_empty() => Ok(()),
                _ => fail("operand-kind", span, "a texture or surface with coordinates is needed"),
            },
            SlotKind::Rest => Ok(()),
        }
    }

    fn pipe(&self, slot: &Slot, written: &Written) -> Check {
        match (slot.pipe, &written.pipe) {
            (Pipe::None | Pipe::Optional, None) => Ok(()),
            (Pipe::Required, None) => {
                fail("operand-kind", written.span, "a second destination is needed after `|`")
            }
            (Pipe::None, Some((_, span))) => {
                fail("operand-kind", *span, "a second destination is not allowed here")
            }
            (_, Some((operand, span))) => {
                let predicate = matches!(operand, Operand::Register(id)
                    if self.register(*id) == ScalarType::Pred)
                    || *operand == Operand::Sink;
                if predicate {
                    return Ok(());
                }
                fail("operand-type", *span, "the second destination must be a `.pred` register")
            }
        }
    }

    fn slot_type(&self, ty: SlotType) -> Option<ScalarType> {
        match ty {
            SlotType::None => None,
            SlotType::Fixed(ty) => Some(ty),
            SlotType::Index(index) => self.types.get(usize::from(index)).copied(),
            SlotType::Wide(index) => self.types.get(usize::from(index)).map(|ty| match ty {
                ScalarType::U16 => ScalarType::U32,
                ScalarType::S16 => ScalarType::S32,
                ScalarType::U32 => ScalarType::U64,
                _ => ScalarType::S64,
            }),
        }
    }

    /// A register, constant or special register of type `ty`.
    fn value(&self, operand: &Operand, ty: ScalarType, slot: &Slot, span: Span) -> Check {
        match operand {
            Operand::Register(id) => self.register_type(*id, ty, slot.relaxed, span),
            Operand::Sink if slot.destination || self.skips_components() => Ok(()),
            Operand::Sink if self.opcode == Opcode::St => {
                let message = "`_` leaves out a component of a store of 256 bits only";
                fail("operand-kind", span, message)
            }
            _ if slot.destination => fail("operand-kind", span, "a register is needed here"),
            Operand::Integer(_) => integer(ty, span),
            Operand::Float32(_) | Operand::Float64(_) => float(operand, ty, span),
            Operand::Special(register) => self.special(*register, ty, span),
            Operand::Symbol { .. } => self.symbol(ty, span),
            Operand::Vector(_) => fail("operand-kind", span, "a vector is not allowed here"),
            Operand::Address { .. } => {
                fail("operand-kind", span, "a memory operand is not allowed here")
            }
            _ => fail("operand-kind", span, "a register or constant is needed here"),
        }
    }

    /// Whether components that are stored may be left out. Source: PTX ISA 8.8, `st`.
    fn skips_components(&self) -> bool {
        let bits = self.types.first().map_or(0, |ty| ty.bits());
        self.opcode == Opcode::St
            && bits * u32::from(self.modifiers.vector) == 256
            && matches!(bits, 32 | 64)
    }

    fn register_type(
        &self,
        id: VirtualRegister,
        ty: ScalarType,
        relaxed: bool,
        span: Span,
    ) -> Check {
        let found = self.register(id);
        if compatible(ty, found, relaxed) {
            return Ok(());
        }
        let name = self.function.registers.get(id.index()).map_or("", |r| r.name.as_str());
        let message = format!("`{name}` is a `.{}` register", found.name());
        let hint = if ty == ScalarType::Pred {
            "a `.pred` register is needed here".to_owned()
        } else if found.bits() != ty.bits() && found != ScalarType::Pred {
            let wider = if relaxed { " or more" } else { "" };
            format!("`.{}` needs a register of {} bits{wider}", ty.name(), ty.bits())
        } else {
            format!("`.{}` does not take registers of this type", ty.name())
        };
        Err(Diagnostic::error("operand-type", span, message).with_hint(hint))
    }

    /// Special registers are read by `mov` and `cvt` alone. PTX 1.x read those of 32 bits as 16.
    fn special(&self, register: SpecialRegister, ty: ScalarType, span: Span) -> Check {
        if !matches!(self.opcode, Opcode::Mov | Opcode::Cvt) {
            let message = format!("`{}` cannot read a special register", self.opcode.name());
            return Err(Diagnostic::error("operand-kind", span, message)
                .with_hint("copy it to a register with `mov` first"));
        }
        let (found, wanted) = (register.ty().bits(), ty.bits());
        let narrower = match register {
            // It had 32 bits before PTX 3.0.
            SpecialRegister::Gridid => wanted == 32,
            _ => found == 32 && wanted == 16,
        };
        if is_integer(ty) && (found == wanted || narrower) {
            return Ok(());
        }
        let message = format!("this special register is a `.{}`", register.ty().name());
        fail("operand-type", span, message)
    }

    /// Addresses as values are taken by `mov` and by what converts addresses alone.
    fn symbol(&self, ty: ScalarType, span: Span) -> Check {
        let takes =
            matches!(self.opcode, Opcode::Mov | Opcode::Cvta | Opcode::Mapa | Opcode::Getctarank);
        if !takes {
            let message = format!("`{}` cannot take an address", self.opcode.name());
            return Err(Diagnostic::error("operand-kind", span, message)
                .with_hint("load it into a register with `mov` first"));
        }
        if is_integer(ty) && matches!(ty.bits(), 32 | 64) {
            return Ok(());
        }
        fail("operand-type", span, format!("an address cannot be a `.{}`", ty.name()))
    }

    fn vector_by_modifier(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        let components = usize::from(self.modifiers.vector);
        match operand {
            Operand::Vector(elements) if components > 0 => {
                if elements.len() == components {
                    return self.each(operand, slot, span);
                }
                let found = elements.len();
                let message = format!("`.v{components}` needs {components} elements, not {found}");
                fail("vector-length", span, message)
            }
            // One component in braces is a scalar.
            Operand::Vector(elements) if elements.len() == 1 => self.each(operand, slot, span),
            Operand::Vector(elements) => {
                let message = format!("a vector needs `.v{}`", elements.len());
                fail("vector-length", span, message)
            }
            _ if components > 0 => {
                fail("vector-length", span, format!("a vector of {components} is needed here"))
            }
            _ => self.each(operand, slot, span),
        }
    }

    /// Every element of a vector, or the one value.
    fn each(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        let Some(ty) = self.slot_type(slot.ty) else { return Ok(()) };
        match operand {
            Operand::Vector(elements) => {
                self.same_width(elements, span)?;
                elements.iter().try_for_each(|element| self.value(element, ty, slot, span))
            }
            _ => self.value(operand, ty, slot, span),
        }
    }

    fn same_width(&self, elements: &[Operand], span: Span) -> Check {
        let mut widths = elements.iter().filter_map(|element| match element {
            Operand::Register(id) => Some(self.register(*id).bits()),
            _ => None,
        });
        let first = widths.next();
        if widths.all(|width| Some(width) == first) {
            return Ok(());
        }
        fail("operand-type", span, "the registers of a vector must have the same width")
    }

    /// A fragment of a matrix: registers of 32 bits, or of 64 for doubles.
    fn fragment(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        let wide = self.slot_type(slot.ty) == Some(ScalarType::F64);
        let ty = if wide { ScalarType::B64 } else { ScalarType::B32 };
        let single = std::slice::from_ref(operand);
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            _ => single,
        };
        elements.iter().try_for_each(|element| self.value(element, ty, slot, span))
    }

    fn moved(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        let Some(ty) = self.slot_type(slot.ty) else { return Ok(()) };
        if ty == ScalarType::Pred {
            return self.predicate(operand, slot, span);
        }
        let Operand::Vector(elements) = operand else {
            return self.value(operand, ty, slot, span);
        };
        if elements.iter().any(|element| matches!(element, Operand::Special(_))) {
            let message = "a special register of several components is read by `mov.v4`";
            return Err(Diagnostic::error("vector-length", span, message)
                .with_hint("write a component such as `.x` behind it"));
        }
        if ty.kind() != Kind::Bits {
            let message = "`mov` packs and unpacks bits";
            return Err(Diagnostic::error("operand-type", span, message)
                .with_hint(format!("write `.b{}`", ty.bits())));
        }
        let width = ty.bits() / (elements.len() as u32).max(1);
        let part = match width {
            8 => ScalarType::B8,
            16 => ScalarType::B16,
            32 => ScalarType::B32,
            64 => ScalarType::B64,
            _ => return fail("vector-length", span, "this vector does not divide the type"),
        };
        if width * elements.len() as u32 != ty.bits() || !matches!(elements.len(), 2 | 4) {
            return fail("vector-length", span, "this vector does not divide the type");
        }
        elements.iter().try_for_each(|element| self.value(element, part, slot, span))
    }

    fn predicate(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        let register = match operand {
            Operand::Register(id) => *id,
            Operand::NotRegister(id) if !slot.destination => *id,
            Operand::Sink if slot.destination => return Ok(()),
            Operand::Integer(0 | 1 | u64::MAX) if !slot.destination => return Ok(()),
            _ => return fail("operand-kind", span, "a predicate register is needed here"),
        };
        self.register_type(register, ScalarType::Pred, false, span)
    }

    fn address(&self, operand: &Operand, span: Span) -> Check {
        let Operand::Address { base, .. } = operand else {
            return Err(Diagnostic::error("operand-kind", span, "a memory operand is needed here")
                .with_hint("write the address in brackets: `[%rd1+4]`"));
        };
        match *base {
            AddressBase::Register(id) => self.address_register(id, span),
            AddressBase::Symbol(symbol) => self.address_symbol(symbol, span),
            AddressBase::Absolute => Ok(()),
        }
    }

    fn address_register(&self, id: VirtualRegister, span: Span) -> Check {
        let ty = self.register(id);
        if is_integer(ty) && matches!(ty.bits(), 32 | 64) {
            return Ok(());
        }
        let message = format!("a `.{}` register cannot be an address", ty.name());
        Err(Diagnostic::error("operand-type", span, message)
            .with_hint("an address is an integer register of 32 or 64 bits"))
    }

    fn address_symbol(&self, symbol: Symbol, span: Span) -> Check {
        if matches!(symbol, Symbol::Function(_)) {
            return fail("operand-kind", span, "a function cannot be loaded or stored");
        }
        let Some(variable) = self.variable(symbol) else { return Ok(()) };
        // The second address of a copy is in global memory whatever the modifiers say.
        let Some(space) = self.modifiers.space.filter(|_| self.opcode != Opcode::CpAsync) else {
            return Ok(());
        };
        if variable.space == space {
            return Ok(());
        }
        let found = space_name(variable.space);
        let message = format!("`{}` is in {found}, not in {}", variable.name, space_name(space));
        Err(Diagnostic::error("address-space", span, message)
            .with_hint(format!("use `{found}` on the instruction")))
    }

    fn address_value(&self, operand: &Operand, slot: &Slot, span: Span) -> Check {
        match (operand, self.slot_type(slot.ty)) {
            (Operand::Register(id), None) => self.address_register(*id, span),
            (_, Some(ty)) => self.value(operand, ty, slot, span),
            _ => fail("operand-kind", span, "an address is needed here"),
        }
    }
}

fn space_name(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Generic => "generic memory",
        StateSpace::Const => ".const",
        StateSpace::Global => ".global",
        StateSpace::Local => ".local",
        StateSpace::Param => ".param",
        StateSpace::Shared => ".shared",
    }
}

/// Whether an instruction of type `ty` takes a register declared `register`: widths agree
/// (`relaxed` allows wider registers), bits go with everything, integers of either sign with each
/// other, and floats with themselves.
fn compatible(ty: ScalarType, register: ScalarType, relaxed: bool) -> bool {
    if ty == ScalarType::Pred || register == ScalarType::Pred {
        return ty == register;
    }
    let width = register.bits() == ty.bits() || relaxed && register.bits() > ty.bits();
    let integer = |kind| matches!(kind, Kind::Unsigned | Kind::Signed);
    let kind = ty == register
        || matches!(ty.kind(), Kind::Bits)
        || matches!(register.kind(), Kind::Bits)
        || integer(ty.kind()) && integer(register.kind());
    width && kind
}

/// Bits that do not fit are dropped, as the real compiler drops them.
fn integer(ty: ScalarType, span: Span) -> Check {
    if is_integer(ty) {
        return Ok(());
    }
    Err(Diagnostic::error("operand-type", span, "an integer constant is not a float")
        .with_hint("write `0f00000000` (bits of a single), `0d...` or a decimal point"))
}

fn is_integer(ty: ScalarType) -> bool {
    matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed)
}

fn float(operand: &Operand, ty: ScalarType, span: Span) -> Check {
    let single = matches!(operand, Operand::Float32(_));
    let suits = match ty {
        ScalarType::F32 | ScalarType::F64 => true,
        ScalarType::B32 => single,
        ScalarType::B64 => !single,
        _ => false,
    };
    if suits {
        return Ok(());
    }
    let message = format!("a floating-point constant cannot be a `.{}`", ty.name());
    fail("operand-type", span, message)
}
