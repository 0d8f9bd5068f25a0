//! What the mnemonics of machine code mean: unit, memory, and what an execution does.
//!
//! The units are those that the PTX front end gives to the same work (conversions and bit counts
//! are ALU), so that a kernel costs the same whichever way it came. Which registers an instruction
//! reads and writes is in `strata_machine_code`. Source: NVIDIA's list of SASS opcodes (CUDA Binary
//! Utilities).

use strata_core::image::{Flags, MemorySpace, Unit};
use strata_core::sm::memory::cached::LineUse;
use strata_machine_code::{Mnemonic, data_bytes, naming_lanes};
use strata_simt::accesses::WarpAccesses;
use strata_simt::moved::{AccessShape, AccessSpace, Addresses, Windows};

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

fn stem(mnemonic: &str) -> &str {
    Mnemonic(mnemonic).stem()
}

fn has(mnemonic: &str, modifier: &str) -> bool {
    Mnemonic(mnemonic).has(modifier)
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

/// How executions of an opcode access memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpcodeAccess {
    /// What does not change between them.
    pub(crate) shape: AccessShape,
    /// The lanes whose addresses count.
    pub(crate) naming: u32,
}

impl OpcodeAccess {
    /// Adds an execution; `addresses` has one for each lane of `mask`.
    #[inline]
    pub(crate) fn note(
        &self,
        accesses: &mut WarpAccesses,
        windows: &Windows,
        mask: u32,
        addresses: Addresses<'_>,
    ) {
        if self.naming == u32::MAX {
            accesses.note(windows, self.shape, mask, addresses);
        } else {
            self.note_of_some(accesses, windows, mask, addresses);
        }
    }

    /// Adds an execution in which the addresses of some lanes mean nothing.
    #[cold]
    fn note_of_some(
        &self,
        accesses: &mut WarpAccesses,
        windows: &Windows,
        mask: u32,
        addresses: Addresses<'_>,
    ) {
        let naming = mask & self.naming;
        accesses.note(windows, self.shape, naming, addresses.first(naming.count_ones()));
    }
}

/// How executions of a mnemonic access memory; `None` when they move nothing
/// ([`strata_core::image::StaticInstruction::moves_bytes`]). `width` is what the tracer says, 0
/// when it names no addresses.
pub(crate) fn access(mnemonic: &str, width: u8, has_result: bool) -> Option<OpcodeAccess> {
    let class = classify(mnemonic, width != 0, has_result);
    let space = match class.space {
        _ if class.unit != Unit::Memory => return None,
        Some(MemorySpace::Constant) => return None,
        Some(MemorySpace::Local) => AccessSpace::Local,
        Some(MemorySpace::Shared) => AccessSpace::Shared,
        _ if matches!(stem(mnemonic), "LD" | "ST" | "ATOM") => AccessSpace::Generic,
        Some(MemorySpace::Global) | None => AccessSpace::Global,
    };
    let shape =
        AccessShape { space, bytes: data_bytes(mnemonic), line_use: line_use(mnemonic, class) };
    Some(OpcodeAccess { shape, naming: u32::MAX >> (32 - naming_lanes(mnemonic)) })
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
            let access = access(mnemonic, 4, result);
            assert_eq!(access.map(|it| it.shape.line_use), Some(expected), "{mnemonic}");
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
