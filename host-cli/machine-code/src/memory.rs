//! Instructions that go to memory, and exchanges between lanes.

use crate::form::{First, Form, Operand};
use crate::machine::Machine;
use crate::mnemonic::Mnemonic;

/// Bytes that each lane moves.
pub fn data_bytes(mnemonic: &str) -> u32 {
    let mnemonic = Mnemonic(mnemonic);
    match mnemonic.stem() {
        // A row of a matrix.
        "LDSM" | "STSM" => 16,
        _ => mnemonic.modifiers().find_map(bytes_of).unwrap_or(4),
    }
}

/// How many lanes, from the first on, name an address that counts: each names a row of a matrix
/// where matrices are moved, and those beyond the rows name nothing (PTX ISA, `ldmatrix`).
pub fn naming_lanes(mnemonic: &str) -> u32 {
    let mnemonic = Mnemonic(mnemonic);
    match mnemonic.stem() {
        "LDSM" | "STSM" => (matrices(mnemonic) * if is_square(mnemonic) { 16 } else { 8 }).min(32),
        _ => 32,
    }
}

/// Bytes of the data that a modifier names, such as `64`, `S16` or `F16x4`.
fn bytes_of(modifier: &str) -> Option<u32> {
    let (element, count) = match modifier.split_once('x') {
        Some((element, count)) => (element, count.parse().ok()?),
        None => (modifier, 1),
    };
    let bytes = match element {
        "U8" | "S8" | "8" => 1,
        "U16" | "S16" | "16" | "F16" | "BF16" => 2,
        "64" | "S64" | "U64" | "F64" => 8,
        "128" => 16,
        "256" => 32,
        "F32" if count > 1 => 4,
        _ => return None,
    };
    (1..=8).contains(&count).then_some(bytes * count)
}

/// Registers of a lane's data.
pub(crate) fn data_registers(mnemonic: Mnemonic<'_>) -> u8 {
    data_bytes(mnemonic.0).div_ceil(4) as u8
}

/// Registers of the matrices that a lane gets or gives.
fn matrix_registers(mnemonic: Mnemonic<'_>) -> u8 {
    matrices(mnemonic) as u8 * if is_square(mnemonic) { 2 } else { 1 }
}

/// Whether matrices have 16 rows of 16 bytes, not 8.
fn is_square(mnemonic: Mnemonic<'_>) -> bool {
    mnemonic.has_any(&["M1616", "MT1616"])
}

/// Matrices that are moved: the last modifier is their number.
fn matrices(mnemonic: Mnemonic<'_>) -> u32 {
    match mnemonic.modifiers().last() {
        Some("4") => 4,
        Some("2") => 2,
        _ => 1,
    }
}

/// Instructions of the unit that copies by descriptors: their operands are uniform registers.
const UNIFORM: &[&str] = &[
    "LDCU",
    "UGETNEXTWORKID",
    "UBLKCP",
    "UBLKPF",
    "UBLKRED",
    "ULDC",
    "UTMACCTL",
    "UTMACMDFLUSH",
    "UTMALDG",
    "UTMAPF",
    "UTMAREDG",
    "UTMASTG",
];

/// The forms of a memory instruction, or of one that exchanges between lanes.
pub(crate) fn forms(mnemonic: Mnemonic<'_>, machine: Machine) -> Option<Vec<Form>> {
    use First::{Other, Register};
    let (result, source) = (Operand::result, Operand::source);
    let data = data_registers(mnemonic);
    let address = source(if mnemonic.has("E") { 2 } else { 1 }).left_out(1);
    // 256 bits lie in two groups of four registers, of which the upper one stands first.
    let halves = mnemonic.has("ENL2");
    let forms = match mnemonic.stem() {
        "LD" | "LDG" if halves => {
            vec![Form::new(Register, [result(data / 2), result(data / 2), address])]
        }
        "ST" | "STG" if halves => {
            vec![Form::new(Other, [address, source(data / 2), source(data / 2)])]
        }
        // A constant that a register addresses; the tracer does not list it.
        "LD" | "LDG" | "LDL" | "LDGMC" | "LDC" => {
            vec![Form::new(Register, [result(data), address])]
        }
        "LDS" => vec![
            Form::new(Register, [result(data), address]),
            // A test of a barrier has its state as well.
            Form::exported(Register, [result(data), address.left_out(0), source(data)]),
        ],
        "ST" | "STG" | "STL" | "STS" => stores(address, data),
        "RED" | "REDG" => vec![Form::new(Other, [address, source(data)])],
        "LDSM" => vec![Form::new(Register, [result(matrix_registers(mnemonic)), address])],
        "STSM" => vec![Form::new(Other, [address, source(matrix_registers(mnemonic))])],
        // The shared address stands first; behind the global one, in exports, how much to copy.
        "LDGSTS" => vec![
            Form::new(Other, [source(1).left_out(1), address.left_out(2)]),
            Form::exported(Other, [source(1), address.left_out(0), source(1)]),
        ],
        // Address and barrier of another CTA's shared memory.
        "STAS" | "REDAS" => vec![Form::new(Other, [source(2).left_out(1), source(data)])],
        "ATOM" | "ATOMG" => vec![Form::new(Other, atomic(mnemonic, result(data), address))],
        "ATOMS" => shared_atomic(mnemonic, address, machine),
        "CCTL" | "CCTLL" | "CCTLT" => vec![Form::new(Other, [address])],
        // Which memory an address belongs to: a predicate, and a register that is always RZ.
        "QSPC" => {
            let wide = mnemonic.has_any(&["E", "64"]);
            let address = source(if wide { 2 } else { 1 }).left_out(1);
            vec![Form::new(Other, [result(1), address])]
        }
        "SYNCS" => barrier(mnemonic, address),
        // Value, lane and clamp, and in exports the mask of lanes.
        "SHFL" => {
            let or_immediate = source(1).left_out(1);
            let operands = [result(1), source(1), or_immediate, or_immediate, or_immediate];
            vec![Form::new(Other, &operands[..4]), Form::exported(Other, operands)]
        }
        "MATCH" => {
            let value = source(if mnemonic.has_any(&["U64", "64"]) { 2 } else { 1 });
            let first = if mnemonic.has("ALL") { Other } else { Register };
            // In exports, the mask of lanes.
            vec![
                Form::new(first, [result(1), value]),
                Form::exported(first, [result(1), value, source(1)]),
            ]
        }
        "REDUX" | "CREDUX" => vec![Form::new(Other, [source(1)])],
        stem if UNIFORM.contains(&stem) => vec![Form::new(Other, [])],
        _ => return None,
    };
    Some(forms)
}

/// Address and data. In exports, data that does not lie behind each other is listed one by one.
fn stores(address: Operand, data: u8) -> Vec<Form> {
    let mut forms = vec![Form::new(First::Other, [address, Operand::source(data)])];
    forms.extend((2..=4).map(|components| {
        let mut operands = vec![address.left_out(0)];
        operands.resize(1 + components, Operand::source(1));
        Form::exported(First::Other, operands)
    }));
    forms
}

/// Result, address, and the operands of an atomic operation.
fn atomic(mnemonic: Mnemonic<'_>, result: Operand, address: Operand) -> Vec<Operand> {
    let data = Operand::source(data_registers(mnemonic));
    let mut operands = vec![result, address, data];
    if mnemonic.has_any(&["CAS", "CAST"]) {
        operands.push(data);
    }
    operands
}

fn shared_atomic(mnemonic: Mnemonic<'_>, address: Operand, machine: Machine) -> Vec<Form> {
    let result = Operand::result(data_registers(mnemonic));
    let mut operands = atomic(mnemonic, result, address);
    // These count lanes, or arrivals.
    if mnemonic.has_any(&["POPC", "ARRIVE"]) {
        operands.pop();
    }
    // Since sm_100 a predicate says whether the value was stored.
    if mnemonic.has("CAST") && machine >= Machine::Sm100 {
        operands.remove(0);
        return vec![Form::new(First::Other, operands)];
    }
    vec![Form::new(First::Register, operands)]
}

/// Barriers in shared memory. Their states have 64 bits.
fn barrier(mnemonic: Mnemonic<'_>, address: Operand) -> Vec<Form> {
    let source = Operand::source(1);
    if mnemonic.has("ARRIVE") {
        return vec![Form::new(First::Register, [Operand::result(2), address, source])];
    }
    if mnemonic.has("PHASECHK") {
        return vec![Form::new(First::Other, [address, source])];
    }
    vec![Form::new(First::Other, [address])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_a_row_from_each_of_its_lanes() {
        for (mnemonic, lanes, registers) in [
            ("LDSM.16.M88", 8, 1),
            ("LDSM.16.MT88.2", 16, 2),
            ("LDSM.16.M88.4", 32, 4),
            ("LDSM.8.MT1616", 16, 2),
            ("LDSM.8.MT1616.2", 32, 4),
            ("LDSM.U6x16P32TO8.M816", 8, 1),
            ("LDSM.U4x16P64TO8.M816.4", 32, 4),
            ("STSM.16.M88", 8, 1),
            ("STSM.16.MT88.2", 16, 2),
            ("STSM.8.MT168.2", 16, 2),
        ] {
            let found = (naming_lanes(mnemonic), matrix_registers(Mnemonic(mnemonic)));
            assert_eq!((found, data_bytes(mnemonic)), ((lanes, registers), 16), "{mnemonic}");
        }
        assert_eq!(naming_lanes("LDS.128"), 32);
    }

    #[test]
    fn a_modifier_says_how_many_bytes_a_lane_moves() {
        for (mnemonic, bytes) in [
            ("LDG.E", 4),
            ("LDG.E.U8", 1),
            ("LDG.E.64.CONSTANT", 8),
            ("LDG.E.ENL2.256", 32),
            ("STS.128", 16),
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", 4),
            ("REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU", 8),
            ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU", 16),
            ("REDG.E.ADD.F16x8.RN.STRONG.GPU", 16),
            ("REDG.E.ADD.BF16x4.RN.STRONG.GPU", 8),
            ("ATOMG.E.ADD.F64.RN.STRONG.GPU", 8),
        ] {
            assert_eq!(data_bytes(mnemonic), bytes, "{mnemonic}");
        }
    }
}
