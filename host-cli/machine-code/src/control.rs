//! Instructions that steer: branches, barriers, and what waits.

use crate::form::{First, Form, Operand};
use crate::mnemonic::Mnemonic;

/// Those without a general register.
const WITHOUT_REGISTERS: &[&str] = &[
    "ACQBULK",
    "ARRIVES",
    "BPT",
    "BRA",
    "BREAK",
    "BRXU",
    "BSSY",
    "BSYNC",
    "CGAERRBAR",
    "CSMTEST",
    "DEPBAR",
    "ELECT",
    "ENDCOLLECTIVE",
    "ERRBAR",
    "EXIT",
    "FENCE",
    "IDE",
    "JMP",
    "JMXU",
    "KILL",
    "LDGDEPBAR",
    "MEMBAR",
    "NOP",
    "PMTRIG",
    "PREEXIT",
    "RTT",
    "SETMAXREG",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "USETMAXREG",
    "WARPGROUP",
    "WARPGROUPSET",
    "YIELD",
];

/// The forms of a control instruction.
pub(crate) fn forms(mnemonic: Mnemonic<'_>) -> Option<Vec<Form>> {
    let source = Operand::source;
    let or_none =
        |operand| vec![Form::new(First::Register, [operand]), Form::new(First::Other, [])];
    let forms = match mnemonic.stem() {
        // Which barrier, and how many threads take part: each a register or an immediate.
        "BAR" => vec![
            Form::new(First::Register, [source(1), source(1).left_out(1)]),
            Form::new(First::Other, [source(1).left_out(1)]),
        ],
        "NANOSLEEP" | "WARPSYNC" | "SETCTAID" | "SETLMEMBASE" => or_none(source(1)),
        // In exports, an index into a table.
        "BRX" if mnemonic.has("32") => or_none(source(1)),
        // Addresses of code take 64 bits.
        "BRX" | "JMX" | "RET" | "CALL" => or_none(source(2)),
        "BMOV" | "RPCMOV" => vec![
            Form::new(First::Register, [Operand::result(1)]),
            Form::new(First::Other, [source(1).left_out(1)]),
        ],
        stem if WITHOUT_REGISTERS.contains(&stem) => vec![Form::new(First::Other, [])],
        _ => return None,
    };
    Some(forms)
}
