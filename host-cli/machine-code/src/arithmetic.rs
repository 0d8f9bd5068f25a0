//! Instructions that compute, convert and move.
//!
//! The modifier `64` of an instruction that has no such form on any machine is that of Strata's own
//! exports: PTX has 64-bit arithmetic.

use crate::form::{First, Form, Operand};
use crate::mnemonic::Mnemonic;

/// Those with one result and up to three sources, alike in width.
const PLAIN: &[&str] = &[
    "BFE",
    "BFI",
    "BMSK",
    "BREV",
    "F2FP",
    "F2IP",
    "FADD",
    "FADD32I",
    "FFMA",
    "FFMA32I",
    "FLO",
    "FMNMX",
    "FMNMX3",
    "FMUL",
    "FMUL32I",
    "FSEL",
    "FSET",
    "FSWZADD",
    "GETLMEMBASE",
    "HADD2",
    "HADD2_32I",
    "HFMA2",
    "HFMA2_32I",
    "HMNMX2",
    "HMUL2",
    "HMUL2_32I",
    "HSET2",
    "I2FP",
    "I2IP",
    "IABS",
    "IADD",
    "IADD3",
    "IADD32I",
    "IDP",
    "IDP4A",
    "IMUL32I",
    "ISCADD",
    "ISCADD32I",
    "LEA",
    "LOP",
    "LOP32I",
    "MOV32I",
    "MOVM",
    "MUFU",
    "P2R",
    "POPC",
    "PRMT",
    "S2R",
    "SEL",
    "SHL",
    "SHR",
    "VABSDIFF",
    "VABSDIFF4",
    "VHMNMX",
    "VIADD",
    "VIADDMNMX",
    "VIMNMX",
    "VIMNMX3",
    "XMAD",
];
/// Those of which predicates, or uniform registers, are the results.
const WITHOUT_RESULT: &[&str] =
    &["CSETP", "FCHK", "FSETP", "HSETP2", "ISETP", "PLOP3", "PSETP", "R2P", "R2UR", "UP2UR"];
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
            // In exports, that of a field that is put into another has four sources.
            let mut operands = plain(wide, wide);
            operands.push(source(wide).left_out(1));
            [Register, Other].map(|first| Form::new(first, operands.clone())).into()
        }
        "IMNMX" | "DMNMX" if mnemonic.has_any(&["S64", "U64"]) => {
            [Register, Other].map(|first| Form::new(first, plain(2, 2))).into()
        }
        "IMNMX" => vec![Form::new(Register, plain(wide, wide))],
        "DADD" | "DFMA" | "DMUL" | "DMNMX" | "FADD2" | "FMUL2" | "FFMA2" | "IADD2" => {
            vec![Form::new(Register, plain(2, 2))]
        }
        "DSET" => vec![Form::new(Register, plain(1, 2))],
        "DSETP" => vec![Form::new(Other, [source(2).left_out(2), source(2).left_out(1)])],
        "CS2R" => vec![Form::new(Register, [result(if mnemonic.has("32") { 1 } else { 2 })])],
        // It may double the bits of each element.
        "MOVM" if mnemonic.has("U4TO8") => vec![Form::new(Register, [result(2), source(1)])],
        "LEPC" => vec![Form::new(Register, [result(2)])],
        "F2F" | "F2I" | "I2F" | "I2I" | "FRND" => {
            let (to, from) = conversion(mnemonic);
            // In exports, packing two or three values is a conversion.
            let value = source(from).left_out(1);
            vec![Form::new(Register, [result(to), value, value, value])]
        }
        "SHF" | "SGXT" => {
            let [first, amount] = [source(wide).left_out(2), source(1).left_out(1)];
            vec![Form::new(Register, [result(wide), first, amount, amount])]
        }
        "MOV" => vec![
            Form::new(Register, [result(wide), source(wide).left_out(1)]),
            // An export's move that puts two halves, or four bytes, together.
            Form::new(Register, [result(wide), source(1), source(1)]),
            Form::new(Register, [result(wide), source(1), source(1), source(1), source(1)]),
        ],
        "POPC" | "FLO" if wide == 2 => {
            vec![Form::new(Register, [result(1), source(2).left_out(1)])]
        }
        "ISETP" => {
            let operand = source(if mnemonic.has_any(&["64", "S64", "U64"]) { 2 } else { 1 });
            let (second, third) = (operand.left_out(2), operand.left_out(1));
            vec![Form::new(Other, [operand.left_out(3), second, third])]
        }
        "VOTE" => vec![
            // In exports, the mask of lanes.
            Form::new(Register, [result(1), source(1).left_out(1)]),
            Form::new(Other, [source(1).left_out(1)]),
        ],
        // Results of barriers.
        "B2R" => vec![Form::new(Register, [result(1)]), Form::new(Other, [])],
        "R2B" => vec![Form::new(Register, [source(1)]), Form::new(Other, [source(1).left_out(1)])],
        "LDTM" => vec![Form::new(Register, [tensor_memory(mnemonic, result)])],
        "STTM" => vec![Form::new(Other, [tensor_memory(mnemonic, source)])],
        _ if WITHOUT_RESULT.contains(&stem) => {
            let operand = source(wide);
            vec![Form::new(Other, [operand.left_out(3), operand.left_out(2), operand.left_out(1)])]
        }
        _ if PLAIN.contains(&stem) => vec![Form::new(Register, plain(wide, wide))],
        _ if is_uniform(stem) => vec![Form::new(Other, [])],
        _ => return None,
    };
    Some(forms)
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
        PLAIN.contains(&rest)
            || matches!(rest, "IMAD" | "LOP3" | "MOV" | "IMNMX" | "CLEA" | "P2UR" | "SHF" | "SGXT")
            || WITHOUT_RESULT.contains(&rest)
    };
    UNIFORM.contains(&stem) || stem.starts_with("UTC") || stem.strip_prefix('U').is_some_and(known)
}
