//! What the mnemonics of `sm_70` to `sm_90` mean: unit, memory, and how wide each operand is.
//!
//! A trace names only the lowest register of an operand; the width follows from the opcode. The
//! units are those that the PTX front end gives to the same work (conversions and bit counts are
//! ALU), so that a kernel costs the same whichever way it came. The modifier `64` of an ALU
//! instruction, and `E` where addresses are otherwise narrow, are those of our own exports: PTX has
//! 64-bit arithmetic, and its addresses are often 64 bits wide where machine code has 32.
//! Sources: NVIDIA's list of SASS opcodes (CUDA Binary Utilities), the `mma` fragment shapes of the
//! PTX manual.

use strata_core::image::{Flags, MAX_SLOTS, MemorySpace, Unit};
use strata_core::sm::memory::cached::LineUse;
use strata_simt::moved::{AccessShape, AccessSpace};

/// What is known about an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Unit.
    pub unit: Unit,
    /// Memory it goes to.
    pub space: Option<MemorySpace>,
    /// Loads, stores, branches, barriers, exits.
    pub flags: Flags,
    /// False when the class is a guess.
    pub known: bool,
}

const ALU: &[&str] = &[
    "FADD",
    "FADD32I",
    "FCHK",
    "FFMA",
    "FFMA32I",
    "FMNMX",
    "FMUL",
    "FMUL32I",
    "FSEL",
    "FSET",
    "FSETP",
    "FSWZADD",
    "HADD2",
    "HADD2_32I",
    "HFMA2",
    "HFMA2_32I",
    "HMNMX2",
    "HMUL2",
    "HMUL2_32I",
    "HSET2",
    "HSETP2",
    "HMMA",
    "IMMA",
    "BMMA",
    "HGMMA",
    "IGMMA",
    "BGMMA",
    "QGMMA",
    "BMSK",
    "BREV",
    "FLO",
    "IABS",
    "IADD",
    "IADD3",
    "IADD32I",
    "IDP",
    "IDP4A",
    "IMAD",
    "IMNMX",
    "IMUL",
    "IMUL32I",
    "ISCADD",
    "ISCADD32I",
    "ISETP",
    "LEA",
    "LOP",
    "LOP3",
    "LOP32I",
    "POPC",
    "SHF",
    "SHL",
    "SHR",
    "VABSDIFF",
    "VABSDIFF4",
    "VHMNMX",
    "VIADD",
    "VIADDMNMX",
    "VIMNMX",
    "VIMNMX3",
    "F2F",
    "F2FP",
    "F2I",
    "F2IP",
    "I2F",
    "I2FP",
    "I2I",
    "I2IP",
    "FRND",
    "MOV",
    "MOV32I",
    "MOVM",
    "PRMT",
    "SEL",
    "SGXT",
    "PLOP3",
    "PSETP",
    "P2R",
    "R2P",
    "R2B",
    "B2R",
    "S2R",
    "CS2R",
    "S2UR",
    "R2UR",
    "LEPC",
    "CSETP",
    "BFE",
    "BFI",
    "XMAD",
    "VOTE",
    "VOTEU",
    "GETLMEMBASE",
    "QSPC",
    "ELECT",
    "BMOV",
];
const DOUBLE: &[&str] = &["DADD", "DFMA", "DMUL", "DMNMX", "DSET", "DSETP", "DMMA"];
const CONTROL: &[&str] = &[
    "BAR",
    "BPT",
    "BREAK",
    "BRA",
    "BRX",
    "BRXU",
    "BSSY",
    "BSYNC",
    "CALL",
    "CSMTEST",
    "DEPBAR",
    "ERRBAR",
    "EXIT",
    "FENCE",
    "IDE",
    "JMP",
    "JMX",
    "JMXU",
    "KILL",
    "LDGDEPBAR",
    "MEMBAR",
    "NANOSLEEP",
    "NOP",
    "PMTRIG",
    "RET",
    "RPCMOV",
    "RTT",
    "WARPSYNC",
    "YIELD",
    "WARPGROUP",
    "WARPGROUPSET",
    "ACQBULK",
    "ENDCOLLECTIVE",
    "PREEXIT",
    "SETCTAID",
    "SETLMEMBASE",
    "SETMAXREG",
    "USETMAXREG",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "UTMACMDFLUSH",
    "UTMACCTL",
    "CGAERRBAR",
];
const TEXTURE: &[&str] = &[
    "TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "SULD", "SUST", "SURED", "SUATOM", "SUQUERY",
    "TEXS", "TLDS", "TLD4S",
];

/// Mnemonic, memory, reads it, writes it.
const MEMORY: &[(&str, MemorySpace, bool, bool)] = &[
    ("LD", MemorySpace::Global, true, false),
    ("LDG", MemorySpace::Global, true, false),
    ("LDL", MemorySpace::Local, true, false),
    ("LDS", MemorySpace::Shared, true, false),
    ("LDSM", MemorySpace::Shared, true, false),
    ("LDC", MemorySpace::Constant, true, false),
    ("ULDC", MemorySpace::Constant, true, false),
    ("LDGSTS", MemorySpace::Global, true, true),
    ("ST", MemorySpace::Global, false, true),
    ("STG", MemorySpace::Global, false, true),
    ("STL", MemorySpace::Local, false, true),
    ("STS", MemorySpace::Shared, false, true),
    ("STSM", MemorySpace::Shared, false, true),
    ("ATOM", MemorySpace::Global, true, true),
    ("ATOMG", MemorySpace::Global, true, true),
    ("ATOMS", MemorySpace::Shared, true, true),
    ("RED", MemorySpace::Global, true, true),
    ("REDG", MemorySpace::Global, true, true),
    ("CCTL", MemorySpace::Global, false, false),
    ("CCTLL", MemorySpace::Local, false, false),
    ("CCTLT", MemorySpace::Global, false, false),
    ("SHFL", MemorySpace::Shared, false, false),
    ("MATCH", MemorySpace::Shared, false, false),
    ("REDUX", MemorySpace::Shared, false, false),
    ("SYNCS", MemorySpace::Shared, false, false),
    ("UBLKCP", MemorySpace::Global, true, true),
    ("UBLKRED", MemorySpace::Global, true, true),
    ("UBLKPF", MemorySpace::Global, false, false),
    ("UTMALDG", MemorySpace::Global, true, true),
    ("UTMASTG", MemorySpace::Global, true, true),
    ("UTMAREDG", MemorySpace::Global, true, true),
    ("UTMAPF", MemorySpace::Global, false, false),
];

/// The parts of a mnemonic between its dots; the first is the stem.
fn modifiers(mnemonic: &str) -> impl Iterator<Item = &str> {
    mnemonic.split('.').skip(1)
}

fn stem(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or(mnemonic)
}

fn has(mnemonic: &str, modifier: &str) -> bool {
    modifiers(mnemonic).any(|other| other == modifier)
}

/// Classifies a mnemonic. `moves` says whether the tracer gave it addresses, which helps a guess.
pub fn classify(mnemonic: &str, moves: bool, has_result: bool) -> Class {
    let stem = stem(mnemonic);
    let plain = |unit| Class { unit, space: None, flags: Flags::empty(), known: true };
    let class = if let Some(class) = memory(stem) {
        class
    } else if TEXTURE.contains(&stem) {
        let stores = matches!(stem, "SUST" | "SURED" | "SUATOM");
        let loads = !matches!(stem, "SUST" | "TXQ" | "SUQUERY");
        let mut class = plain(Unit::Texture);
        class.flags.set(Flags::STORE, stores);
        class.flags.set(Flags::LOAD, loads);
        class
    } else if stem == "MUFU" {
        plain(Unit::Sfu)
    } else if CONTROL.contains(&stem) {
        Class { flags: control_flags(mnemonic, stem), ..plain(Unit::Control) }
    } else if DOUBLE.contains(&stem) {
        plain(Unit::DoublePrecision)
    } else if ALU.contains(&stem) || is_uniform(stem) {
        let converts = matches!(stem, "F2F" | "F2I" | "I2F" | "FRND");
        let double = converts && has(mnemonic, "F64");
        plain(if double { Unit::DoublePrecision } else { Unit::Alu })
    } else {
        guess(stem, moves, has_result)
    };
    with_latency(class, has_result)
}

/// Results of global and local loads, of atomics and of textures come late (rule 16).
fn with_latency(mut class: Class, has_result: bool) -> Class {
    let reads = class.flags.contains(Flags::LOAD);
    let atomic = reads && class.flags.contains(Flags::STORE);
    let far = matches!(class.space, Some(MemorySpace::Global | MemorySpace::Local));
    let late = class.unit == Unit::Texture || reads && far || atomic;
    class.flags.set(Flags::LONG_LATENCY, has_result && late);
    class
}

/// How executions of a mnemonic access memory; `None` when they move nothing
/// ([`strata_core::image::StaticInstruction::moves_bytes`]). `width` is what the tracer says, 0
/// when it names no addresses.
pub(crate) fn shape(mnemonic: &str, width: u8, has_result: bool) -> Option<AccessShape> {
    let class = classify(mnemonic, width != 0, has_result);
    let space = match class.space {
        _ if class.unit != Unit::Memory => return None,
        Some(MemorySpace::Constant) => return None,
        Some(MemorySpace::Local) => AccessSpace::Local,
        Some(MemorySpace::Shared) => AccessSpace::Shared,
        _ if matches!(stem(mnemonic), "LD" | "ST" | "ATOM") => AccessSpace::Generic,
        Some(MemorySpace::Global) | None => AccessSpace::Global,
    };
    Some(AccessShape { space, bytes: data_bytes(mnemonic), line_use: line_use(mnemonic, class) })
}

/// What an access does with the lines of memory that it touches. Caches serve weak accesses only.
/// An exchange between lanes, which touches none, is a load, as it is where kernels are executed.
fn line_use(mnemonic: &str, class: Class) -> LineUse {
    let stem = stem(mnemonic);
    let atomic = ["ATOM", "RED"].iter().any(|prefix| stem.starts_with(prefix));
    let loads = class.flags.contains(Flags::LOAD) || !class.flags.contains(Flags::STORE);
    match (loads, has(mnemonic, "STRONG")) {
        _ if atomic => LineUse::Atomic,
        (true, true) => LineUse::BypassLoad,
        (false, true) => LineUse::BypassStore,
        (true, false) => LineUse::Load,
        (false, false) => LineUse::Store,
    }
}

fn memory(stem: &str) -> Option<Class> {
    let &(_, space, reads, writes) = MEMORY.iter().find(|(name, ..)| *name == stem)?;
    let mut flags = Flags::empty();
    flags.set(Flags::LOAD, reads);
    flags.set(Flags::STORE, writes);
    Some(Class { unit: Unit::Memory, space: Some(space), flags, known: true })
}

fn control_flags(mnemonic: &str, stem: &str) -> Flags {
    match stem {
        // Arriving only does not wait.
        "BAR" if !has(mnemonic, "ARV") => Flags::BARRIER,
        "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "CALL" | "RET" => Flags::BRANCH,
        "EXIT" | "KILL" => Flags::EXIT,
        _ => Flags::empty(),
    }
}

/// The uniform datapath: `U` before the name of a known instruction of the ALU.
fn is_uniform(stem: &str) -> bool {
    stem.strip_prefix('U').is_some_and(|rest| {
        ALU.contains(&rest) || matches!(rest, "CLEA" | "P2UR" | "SEL" | "PRMT" | "FLO" | "POPC")
    })
}

/// An unknown opcode: what its name and operands suggest.
fn guess(stem: &str, moves: bool, has_result: bool) -> Class {
    let texture = ["TEX", "TLD", "TX", "SU"].iter().any(|prefix| stem.starts_with(prefix));
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| stem.starts_with(prefix));
    let class = |unit, space, flags| Class { unit, space, flags, known: false };
    if texture {
        return class(Unit::Texture, None, Flags::LOAD);
    }
    let memory = |flags| {
        let space = match stem.get(2..3) {
            Some("S") => MemorySpace::Shared,
            Some("L") => MemorySpace::Local,
            Some("C") => MemorySpace::Constant,
            _ => MemorySpace::Global,
        };
        class(Unit::Memory, Some(space), flags)
    };
    if begins(&["ATOM", "RED"]) {
        let space = if stem == "ATOMS" { MemorySpace::Shared } else { MemorySpace::Global };
        return class(Unit::Memory, Some(space), Flags::LOAD | Flags::STORE);
    }
    if begins(&["LD"]) || moves && has_result {
        return memory(Flags::LOAD);
    }
    if begins(&["ST"]) || moves {
        return memory(Flags::STORE);
    }
    if begins(&["BAR", "BR", "BS", "J", "CALL", "RET", "EXIT", "SYNC", "DEP", "MEM", "NOP"]) {
        return class(Unit::Control, None, Flags::empty());
    }
    let unit = if begins(&["D"]) { Unit::DoublePrecision } else { Unit::Alu };
    class(unit, None, Flags::empty())
}

/// Registers of 32 bits that an operand takes. `None`: not known for this opcode, so that only the
/// named register counts.
pub(crate) fn destination_registers(mnemonic: &str, index: usize) -> Option<usize> {
    let stem = stem(mnemonic);
    if index != 0 {
        return Some(1);
    }
    let pair = |wide: bool| Some(if wide { 2 } else { 1 });
    match stem {
        "IMAD" | "IMUL" => pair(has(mnemonic, "WIDE")),
        "CS2R" => pair(!has(mnemonic, "32")),
        "I2I" => pair(modifiers(mnemonic).next().is_some_and(is_long)),
        "POPC" | "FLO" | "QSPC" => Some(1),
        "DADD" | "DFMA" | "DMUL" | "DMNMX" => Some(2),
        "F2F" => pair(modifiers(mnemonic).find(|m| is_type(m)) == Some("F64")),
        "FRND" | "I2F" => pair(has(mnemonic, "F64")),
        "F2I" => pair(has(mnemonic, "S64") || has(mnemonic, "U64")),
        "LDSM" => Some(match modifiers(mnemonic).last() {
            Some("4") => 4,
            Some("2") => 2,
            _ => 1,
        }),
        "HMMA" | "IMMA" | "BMMA" | "DMMA" => matrix(mnemonic, stem).map(|shape| shape.result),
        "HGMMA" | "IGMMA" | "BGMMA" | "QGMMA" => group_matrix(mnemonic),
        _ if TEXTURE.contains(&stem) => None,
        _ if memory(stem).is_some() => Some(data_registers(mnemonic)),
        _ => pair(has(mnemonic, "64")),
    }
}

/// As [`destination_registers`]; `count` is how many operands the trace names.
pub(crate) fn source_registers(mnemonic: &str, index: usize, count: usize) -> Option<usize> {
    let stem = stem(mnemonic);
    let pair = |wide: bool| Some(if wide { 2 } else { 1 });
    match stem {
        // The addend of a wide product; constants are not named, so that only three operands say
        // which is which (`may_end_with_addend`).
        "IMAD" if !has(mnemonic, "64") => {
            let wide = has(mnemonic, "WIDE") || has(mnemonic, "HI");
            pair(wide && index == 2 && count == 3)
        }
        "DADD" | "DFMA" | "DMUL" | "DMNMX" | "DSETP" | "DSET" => Some(2),
        "F2F" => {
            let mut types = modifiers(mnemonic).filter(|m| is_type(m));
            pair(types.nth(1) == Some("F64"))
        }
        "FRND" | "F2I" => pair(has(mnemonic, "F64")),
        "I2F" => pair(has(mnemonic, "S64") || has(mnemonic, "U64")),
        "I2I" => pair(modifiers(mnemonic).nth(1).is_some_and(is_long)),
        // The amount of a shift, and the halves that a move puts together, are single.
        "SHF" | "SGXT" => pair(has(mnemonic, "64") && index == 0),
        "MOV" => pair(has(mnemonic, "64") && count == 1),
        "HMMA" | "IMMA" | "BMMA" | "DMMA" => {
            let shape = matrix(mnemonic, stem)?;
            Some(match index {
                0 => shape.left,
                1 => shape.right,
                2 => shape.addend,
                _ => 1,
            })
        }
        "HGMMA" | "IGMMA" | "BGMMA" | "QGMMA" => group_matrix(mnemonic),
        _ if TEXTURE.contains(&stem) => None,
        "SHFL" | "MATCH" | "REDUX" => Some(1),
        _ => {
            let Some(class) = memory(stem) else { return pair(has(mnemonic, "64")) };
            // Of a store with one register, the address is uniform and the register is the data.
            let only_data = class.flags == Flags::STORE && count == 1;
            let address = usize::from(stem == "LDGSTS");
            // More than one register of data is one for each component.
            let components = class.flags == Flags::STORE && count > address + 2;
            if index == address && !only_data {
                pair(has(mnemonic, "E"))
            } else if index < address || components {
                Some(1)
            } else {
                Some(data_registers(mnemonic))
            }
        }
    }
}

/// True when the second of two named operands may be a factor or, where the other factor is a
/// constant or an immediate, the addend, which is a pair.
pub(crate) fn may_end_with_addend(mnemonic: &str, count: usize) -> bool {
    stem(mnemonic) == "IMAD" && has(mnemonic, "WIDE") && count == 2
}

fn is_long(modifier: &str) -> bool {
    matches!(modifier, "S64" | "U64")
}

fn is_type(modifier: &str) -> bool {
    matches!(modifier, "F16" | "F32" | "F64" | "BF16" | "TF32")
}

/// Bytes that each lane moves.
pub(crate) fn data_bytes(mnemonic: &str) -> u32 {
    let width = modifiers(mnemonic).find_map(|modifier| match modifier {
        "U8" | "S8" | "8" => Some(1),
        "U16" | "S16" | "16" => Some(2),
        "64" | "S64" | "U64" | "F64" => Some(8),
        "128" => Some(16),
        "256" => Some(32),
        _ => None,
    });
    match stem(mnemonic) {
        // Each group of eight lanes names the rows of one matrix of eight by eight halves.
        "LDSM" | "STSM" => 16,
        _ => width.unwrap_or(4),
    }
}

fn data_registers(mnemonic: &str) -> usize {
    data_bytes(mnemonic).div_ceil(4) as usize
}

/// Registers that each lane holds of the four matrices of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matrix {
    left: usize,
    right: usize,
    addend: usize,
    result: usize,
}

/// Fragments of a product of one warp, from shape and types: a matrix of `r * c` elements of `b`
/// bits takes `r * c * b / 1024` registers of a lane.
fn matrix(mnemonic: &str, stem: &str) -> Option<Matrix> {
    let digits = |m: &&str| m.len() >= 3 && m.bytes().all(|byte| byte.is_ascii_digit());
    let shape = modifiers(mnemonic).find(digits)?;
    if stem == "HMMA" && shape == "884" {
        // Volta takes a product in steps, each with pairs of registers.
        return Some(Matrix { left: 2, right: 2, addend: 2, result: 2 });
    }
    let (rows, rest) = match shape.strip_prefix("16") {
        Some(rest) => (16, rest),
        None => (8, shape.strip_prefix('8')?),
    };
    let columns = 8;
    let depth: usize = rest.strip_prefix('8')?.parse().ok()?;
    let any = |names: &[&str]| modifiers(mnemonic).any(|m| names.contains(&m));
    let (element, sum) = match stem {
        "DMMA" => (64, 64),
        "BMMA" => (1, 32),
        "IMMA" => (if any(&["S4", "U4"]) { 4 } else { 8 }, 32),
        _ if any(&["TF32"]) => (32, 32),
        _ => (16, if any(&["F32"]) { 32 } else { 16 }),
    };
    let registers = |elements: usize, bits: usize| (elements * bits / 1024).clamp(1, 8);
    // A sparse left matrix holds half of its elements.
    let left = rows * depth / if any(&["SP"]) { 2 } else { 1 };
    let sums = registers(rows * columns, sum);
    let right = registers(columns * depth, element);
    Some(Matrix { left: registers(left, element), right, addend: sums, result: sums })
}

/// Accumulators of a product of four warps: `64 * n` elements over 128 threads. Operands are
/// descriptors in uniform registers, except the accumulators, and a left matrix that is not
/// counted.
fn group_matrix(mnemonic: &str) -> Option<usize> {
    let shape = modifiers(mnemonic).find(|m| m.starts_with("64x"))?;
    let columns: usize = shape.split('x').nth(1)?.parse().ok()?;
    let half = has(mnemonic, "F16") && !has(mnemonic, "F32");
    let registers = if half { columns / 4 } else { columns / 2 };
    (1..=MAX_SLOTS).contains(&registers).then_some(registers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_spaces_of_the_common_opcodes() {
        let of = |mnemonic| classify(mnemonic, false, true);
        for (mnemonic, unit, space) in [
            ("FFMA", Unit::Alu, None),
            ("IMAD.MOV.U32", Unit::Alu, None),
            ("HFMA2.MMA", Unit::Alu, None),
            ("UIADD3", Unit::Alu, None),
            ("DFMA", Unit::DoublePrecision, None),
            ("F2F.F64.F32", Unit::DoublePrecision, None),
            ("F2I.TRUNC.NTZ", Unit::Alu, None),
            ("MUFU.RCP", Unit::Sfu, None),
            ("LDG.E.128", Unit::Memory, Some(MemorySpace::Global)),
            ("LDL", Unit::Memory, Some(MemorySpace::Local)),
            ("LDS.U.64", Unit::Memory, Some(MemorySpace::Shared)),
            ("ULDC.64", Unit::Memory, Some(MemorySpace::Constant)),
            ("TEX.SCR.LL", Unit::Texture, None),
            ("BAR.SYNC.DEFER_BLOCKING", Unit::Control, None),
        ] {
            let class = of(mnemonic);
            assert_eq!((class.unit, class.space, class.known), (unit, space, true), "{mnemonic}");
        }
    }

    #[test]
    fn what_is_strong_or_atomic_goes_past_the_cache() {
        for (mnemonic, result, expected) in [
            ("LDG.E", true, LineUse::Load),
            ("STG.E", false, LineUse::Store),
            ("SHFL.BFLY", true, LineUse::Load),
            ("LD.E.STRONG.SYS", true, LineUse::BypassLoad),
            ("ST.E.STRONG.GPU", false, LineUse::BypassStore),
            ("ATOMG.E.ADD.STRONG.GPU", true, LineUse::Atomic),
            ("ATOMS.ADD", true, LineUse::Atomic),
            ("RED.E.ADD", false, LineUse::Atomic),
        ] {
            let shape = shape(mnemonic, 4, result);
            assert_eq!(shape.map(|shape| shape.line_use), Some(expected), "{mnemonic}");
        }
    }

    #[test]
    fn long_latency_needs_a_result_from_afar() {
        let long =
            |mnemonic, result| classify(mnemonic, true, result).flags.contains(Flags::LONG_LATENCY);
        assert!(long("LDG.E", true) && long("LDL", true) && long("ATOMS.ADD", true));
        assert!(long("TEX", true) && long("ATOMG.E.ADD.STRONG.GPU", true));
        assert!(!long("LDS", true) && !long("LDC", true) && !long("SHFL.BFLY", true));
        assert!(!long("RED.E.ADD", false) && !long("STG.E", false) && !long("MUFU.EX2", true));
    }

    #[test]
    fn widths_of_results_follow_the_opcode() {
        for (mnemonic, result) in [
            ("LDG.E.128", 4),
            ("LDG.E.LTC128B.64", 2),
            ("LDG.E.U8", 1),
            ("LDG.E.LTC128B", 1),
            ("LDSM.16.M88.4", 4),
            ("LDSM.16.MT88.2", 2),
            ("LDC.64", 2),
            ("IMAD.WIDE.U32", 2),
            ("IMAD.HI.U32", 1),
            ("DADD", 2),
            ("F2F.F64.F32", 2),
            ("F2F.F32.F64", 1),
            ("I2F.F64.U32", 2),
            ("F2I.S64.TRUNC", 2),
            ("CS2R", 2),
            ("CS2R.32", 1),
            ("MUFU.RCP64H", 1),
            ("MUFU.RCP64H.64", 2),
            ("IADD3.64", 2),
            ("POPC.64", 1),
            ("I2I.S64.S32", 2),
            ("I2I.U32.U64", 1),
            ("LDG.E.256", 8),
            ("SHF.R.U64", 1),
            ("HMMA.16816.F32.BF16", 4),
            ("HMMA.16816.F16", 2),
            ("HMMA.884.F32.F32.STEP0", 2),
            ("IMMA.16832.S8.S8", 4),
            ("IMMA.8816.S8.S8", 2),
            ("DMMA.884", 4),
            ("HGMMA.64x64x16.F32", 32),
        ] {
            assert_eq!(destination_registers(mnemonic, 0), Some(result), "{mnemonic}");
        }
        assert_eq!(destination_registers("TEX", 0), None);
        assert_eq!(destination_registers("HGMMA.64x128x16.F32", 0), None);
    }

    #[test]
    fn widths_of_operands_follow_the_opcode() {
        for (mnemonic, sources) in [
            ("LDG.E", &[2][..]),
            ("LDG", &[1]),
            ("LDS.64", &[1]),
            ("STG.E.128", &[2, 4]),
            ("STG.E.64", &[2]),
            ("STS.64", &[1, 2]),
            ("STL.128", &[1, 4]),
            ("STG.E.64", &[2, 1, 1]),
            ("LDS.E", &[2]),
            ("IADD3.64", &[2, 2]),
            ("IMAD.64", &[2, 2, 2]),
            ("SHF.L.64", &[2, 1]),
            ("SHF.R.U64", &[1]),
            ("MOV.64", &[2]),
            ("MOV.64", &[1, 1]),
            ("I2I.S64.S32", &[1]),
            ("I2I.U32.U64", &[2]),
            ("ATOMG.E.CAS.64.STRONG.GPU", &[2, 2, 2]),
            ("RED.E.ADD.F64.RN.STRONG.GPU", &[2, 2]),
            ("REDG.E.ADD.STRONG.GPU", &[2, 1]),
            ("LDGSTS.E.BYPASS.128", &[1, 2]),
            ("IMAD.WIDE", &[1, 1]),
            ("IMAD.WIDE", &[1, 1, 2]),
            ("IMAD.HI.U32", &[1, 1, 2]),
            ("DFMA", &[2, 2, 2]),
            ("DSETP.GT.AND", &[2, 2]),
            ("F2F.F32.F64", &[2]),
            ("F2F.F64.F32", &[1]),
            ("I2F.S64", &[2]),
            ("SHFL.IDX", &[1, 1, 1]),
            ("HMMA.16816.F32", &[4, 2, 4]),
            ("HMMA.1688.F32.TF32", &[4, 2, 4]),
            ("HMMA.1688.F32", &[2, 1, 4]),
            ("HMMA.SP.16832.F32", &[4, 4, 4, 1]),
            ("IMMA.16864.S4.S4", &[4, 2, 4]),
            ("BMMA.88128.XOR.POPC", &[1, 1, 2]),
        ] {
            let count = sources.len();
            let found: Vec<_> =
                (0..count).filter_map(|i| source_registers(mnemonic, i, count)).collect();
            assert_eq!(found, sources, "{mnemonic}");
        }
    }

    #[test]
    fn unknown_opcodes_are_guessed_from_their_stem() {
        for (mnemonic, moves, result, unit, flags) in [
            ("LDX", false, true, Unit::Memory, Flags::LOAD),
            ("STX.E", true, false, Unit::Memory, Flags::STORE),
            ("ZZZ", true, true, Unit::Memory, Flags::LOAD),
            ("DSINH", false, true, Unit::DoublePrecision, Flags::empty()),
            ("TEXNEW", false, true, Unit::Texture, Flags::LOAD),
            ("FNEW", false, true, Unit::Alu, Flags::empty()),
        ] {
            let class = classify(mnemonic, moves, result);
            let flags_without = class.flags.difference(Flags::LONG_LATENCY);
            assert_eq!(
                (class.unit, flags_without, class.known),
                (unit, flags, false),
                "{mnemonic}"
            );
        }
    }

    #[test]
    fn no_opcode_stands_in_two_tables() {
        let mut all: Vec<&str> = [ALU, DOUBLE, CONTROL, TEXTURE].concat();
        all.extend(MEMORY.iter().map(|row| row.0));
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
