//! Instructions that compute, convert and move.
//!
//! The modifier `64` of an instruction that has no such form on any machine is that of Strata's own
//! exports: PTX has 64-bit arithmetic.

use crate::form::{First, Form, Operand};
use crate::mnemonic::Mnemonic;

/// Those with one result and sources alike in width, and how many of these at most.
const PLAIN: &[(&str, usize)] = &[
    ("BFE", 3),
    ("BFI", 3),
    ("BMSK", 2),
    ("BREV", 1),
    ("F2FP", 3),
    ("F2IP", 3),
    ("FADD", 2),
    ("FADD32I", 2),
    ("FFMA", 3),
    ("FFMA32I", 3),
    ("FLO", 1),
    ("FMNMX", 2),
    ("FMNMX3", 3),
    ("FMUL", 2),
    ("FMUL32I", 2),
    ("FSEL", 2),
    ("FSET", 2),
    ("FSWZADD", 2),
    ("GETLMEMBASE", 0),
    ("HADD2", 2),
    ("HADD2_32I", 2),
    ("HFMA2", 3),
    ("HFMA2_32I", 3),
    ("HMNMX2", 2),
    ("HMUL2", 2),
    ("HMUL2_32I", 2),
    ("HSET2", 2),
    ("I2FP", 1),
    ("I2IP", 3),
    ("IABS", 1),
    ("IADD", 2),
    ("IADD3", 3),
    ("IADD32I", 2),
    ("IDP", 3),
    ("IDP4A", 3),
    ("IMUL32I", 2),
    ("ISCADD", 2),
    ("ISCADD32I", 2),
    ("LEA", 3),
    ("LOP", 2),
    ("LOP32I", 2),
    ("MOV32I", 0),
    ("MOVM", 1),
    ("MUFU", 1),
    ("P2R", 1),
    ("POPC", 1),
    ("PRMT", 3),
    ("S2R", 0),
    ("SEL", 2),
    ("SHL", 2),
    ("SHR", 2),
    ("VABSDIFF", 3),
    ("VABSDIFF4", 3),
    ("VHMNMX", 3),
    ("VIADD", 2),
    ("VIADDMNMX", 3),
    ("VIMNMX", 2),
    ("VIMNMX3", 3),
    ("XMAD", 3),
];
/// Those of which predicates, or uniform registers, are the results; most sources.
const WITHOUT_RESULT: &[(&str, usize)] = &[
    ("CSETP", 0),
    ("FCHK", 2),
    ("FSETP", 2),
    ("HSETP2", 2),
    ("ISETP", 2),
    ("PLOP3", 3),
    ("PSETP", 0),
    ("R2P", 2),
    ("R2UR", 2),
    ("UP2UR", 0),
];
/// Sources of an instruction of PTX whose name exports take from [`PLAIN`] or [`WITHOUT_RESULT`].
const MOST_EXPORTED: usize = 3;
/// Uniform instructions, beside those that are `U` and the name of another one.
const UNIFORM: &[&str] = &[
    "CS2UR", "S2UR", "UCLEA", "UF2FP", "UFLO", "UI2F", "UI2FP", "UF2I", "ULOP", "UPOPC", "UR2UP",
    "USGXT", "USHF", "VOTEU", "UVIADD", "UFRND", "UREDGR", "UVIMNMX3", "UFMNMX",
];

/// The forms of an instruction that computes.
pub(crate) fn forms(mnemonic: Mnemonic<'_>) -> Option<Vec<Form>> {
    use First::{Other, Register};
    let (result, source) = (Operand::result, Operand::source);
    let wide = if mnemonic.has("64") { 2 } else { 1 };
    let stem = mnemonic.stem();
    let forms = match stem {
        "IMAD" | "IMUL" => vec![Form::new(Register, product(mnemonic))],
        // A predicate that comes with the result stands before it.
        "LOP3" => {
            let operands = plain(wide, wide);
            // In exports, that of a field that is put into another has four sources.
            let mut exported = operands.clone();
            exported.push(source(wide).left_out(1));
            [Register, Other]
                .into_iter()
                .flat_map(|first| [Form::new(first, &*operands), Form::exported(first, &*exported)])
                .collect()
        }
        "IMNMX" | "DMNMX" if mnemonic.has_any(&["S64", "U64"]) => {
            [Register, Other].into_iter().flat_map(|first| computed(first, 2, 2, 2)).collect()
        }
        "IMNMX" => computed(Register, wide, wide, 2),
        "DFMA" | "FFMA2" | "IADD2" => computed(Register, 2, 2, 3),
        "DADD" | "DMUL" | "DMNMX" | "FADD2" | "FMUL2" => computed(Register, 2, 2, 2),
        "DSET" => computed(Register, 1, 2, 2),
        "DSETP" => vec![Form::new(Other, [source(2).left_out(2), source(2).left_out(1)])],
        "CS2R" => vec![Form::new(Register, [result(if mnemonic.has("32") { 1 } else { 2 })])],
        // It may double the bits of each element.
        "MOVM" if mnemonic.has("U4TO8") => vec![Form::new(Register, [result(2), source(1)])],
        "LEPC" => vec![Form::new(Register, [result(2)])],
        "F2F" | "F2I" | "I2F" | "I2I" | "FRND" => {
            let (to, from) = conversion(mnemonic);
            // In exports, packing two or three values is a conversion.
            computed(Register, to, from, 1)
        }
        "SHF" | "SGXT" => {
            let [first, amount] = [source(wide).left_out(2), source(1).left_out(1)];
            let operands = [result(wide), first, amount, amount];
            let third = if stem == "SHF" { Form::new } else { Form::exported };
            vec![Form::new(Register, &operands[..3]), third(Register, operands.to_vec())]
        }
        "MOV" => vec![
            Form::new(Register, [result(wide), source(wide).left_out(1)]),
            // One that puts two halves, or four bytes, together.
            Form::exported(Register, [result(wide), source(1), source(1)]),
            Form::exported(Register, [result(wide), source(1), source(1), source(1), source(1)]),
        ],
        "POPC" | "FLO" if wide == 2 => {
            vec![Form::new(Register, [result(1), source(2).left_out(1)])]
        }
        "VOTE" => vec![
            Form::new(Register, [result(1)]),
            Form::new(Other, []),
            // The mask of lanes.
            Form::exported(Register, [result(1), source(1)]),
            Form::exported(Other, [source(1)]),
        ],
        // Results of barriers.
        "B2R" => vec![Form::new(Register, [result(1)]), Form::new(Other, [])],
        "R2B" => vec![Form::new(Register, [source(1)]), Form::new(Other, [source(1).left_out(1)])],
        "LDTM" => vec![Form::new(Register, [tensor_memory(mnemonic, result)])],
        "STTM" => vec![Form::new(Other, [tensor_memory(mnemonic, source)])],
        _ if let Some(most) = most_of(WITHOUT_RESULT, stem) => {
            let wide = if mnemonic.has_any(&["64", "S64", "U64"]) { 2 } else { 1 };
            compared(wide, most)
        }
        _ if let Some(most) = most_of(PLAIN, stem) => computed(Register, wide, wide, most),
        _ if is_uniform(stem) => vec![Form::new(Other, [])],
        _ => return None,
    };
    Some(forms)
}

/// What a table says of an opcode.
fn most_of(table: &[(&str, usize)], stem: &str) -> Option<usize> {
    table.iter().find(|(name, _)| *name == stem).map(|&(_, most)| most)
}

/// So many sources, each of which can be left out, and as many as exports have.
fn up_to(
    most: usize,
    from: u8,
    form: impl Fn(Vec<Operand>) -> Vec<Operand>,
    first: First,
) -> Vec<Form> {
    let sources = |most: usize| -> Vec<Operand> {
        (1..=most as u8).rev().map(|rank| Operand::source(from).left_out(rank)).collect()
    };
    let mut forms = vec![Form::new(first, form(sources(most)))];
    if most < MOST_EXPORTED {
        forms.push(Form::exported(first, form(sources(MOST_EXPORTED))));
    }
    forms
}

/// A result and sources.
fn computed(first: First, to: u8, from: u8, most: usize) -> Vec<Form> {
    up_to(most, from, |sources| [vec![Operand::result(to)], sources].concat(), first)
}

/// Sources alone.
fn compared(from: u8, most: usize) -> Vec<Form> {
    up_to(most, from, |sources| sources, First::Other)
}

/// A result and up to three sources.
fn plain(to: u8, from: u8) -> Vec<Operand> {
    let source = Operand::source(from);
    vec![Operand::result(to), source.left_out(3), source.left_out(2), source.left_out(1)]
}

/// Two factors and an addend, which is as wide as the whole product where that is kept or its upper
/// half is.
fn product(mnemonic: Mnemonic<'_>) -> Vec<Operand> {
    let factor = Operand::source(1).left_out(1);
    if mnemonic.has("64") {
        return plain(2, 2);
    }
    let kept = if mnemonic.has("WIDE") { 2 } else { 1 };
    let addend = if mnemonic.has_any(&["WIDE", "HI"]) { 2 } else { 1 };
    vec![Operand::result(kept), factor, factor, Operand::source(addend).left_out(1)]
}

/// Registers of a conversion's result and source.
fn conversion(mnemonic: Mnemonic<'_>) -> (u8, u8) {
    let pair = |wide: bool| if wide { 2 } else { 1 };
    let is_long = |modifier: Option<&str>| matches!(modifier, Some("S64" | "U64"));
    let long = mnemonic.has_any(&["S64", "U64"]);
    let double = mnemonic.has("F64");
    match mnemonic.stem() {
        "F2F" => {
            let is_type = |m: &&str| matches!(*m, "F16" | "F32" | "F64" | "BF16" | "TF32");
            let mut types = mnemonic.modifiers().filter(is_type);
            let [to, from] = [types.next(), types.next()].map(|ty| pair(ty == Some("F64")));
            (to, from)
        }
        "F2I" => (pair(long), pair(double)),
        "I2F" => (pair(double), pair(long)),
        "FRND" => (pair(double), pair(double)),
        _ => {
            let mut types = mnemonic.modifiers();
            (pair(is_long(types.next())), pair(is_long(types.next())))
        }
    }
}

/// Registers of a lane for a stretch of tensor memory: those of its shape, as often as `x4` says.
fn tensor_memory(mnemonic: Mnemonic<'_>, operand: fn(u8) -> Operand) -> Operand {
    let times = mnemonic.modifiers().find_map(|it| it.strip_prefix('x')?.parse::<u8>().ok());
    let shape = mnemonic.modifiers().find_map(|it| match it {
        "16dp128bit" => Some(2),
        "16dp256bit" => Some(4),
        _ => None,
    });
    match times.unwrap_or(1).checked_mul(shape.unwrap_or(1)) {
        Some(registers @ 1..) => operand(registers),
        _ => operand(1).of_unknown_width(),
    }
}

/// Whether an opcode computes in uniform registers alone.
fn is_uniform(stem: &str) -> bool {
    let known = |rest: &str| {
        most_of(PLAIN, rest).is_some()
            || matches!(rest, "IMAD" | "LOP3" | "MOV" | "IMNMX" | "CLEA" | "P2UR" | "SHF" | "SGXT")
            || most_of(WITHOUT_RESULT, rest).is_some()
    };
    UNIFORM.contains(&stem) || stem.starts_with("UTC") || stem.strip_prefix('U').is_some_and(known)
}
