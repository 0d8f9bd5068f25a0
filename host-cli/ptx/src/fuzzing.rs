//! What the fuzz target and the tests share: invariants to check, a mutator, a generator.
//!
//! Not part of the interface: it may change at any time.

mod instances;

use std::fmt::Write as _;

use crate::diagnostic::{LineIndex, render};
use crate::forms::{Form, Pipe, Slot, SlotKind, SlotType, Words, forms};
use crate::module::{AddressBase, Function, Module, Operand, Symbol};
use crate::opcode::Opcode;
use crate::parse_bytes;
use crate::print::{SourceNames, instruction};
use crate::types::{Kind, ScalarType};

pub use instances::{Instance, InstanceKind, InstanceOperand, instances};

/// `SplitMix64`: small, and the same everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 when there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.draw() % limit as u64) as usize }
    }
}

/// Parses and asserts everything that must hold whatever the bytes are.
///
/// # Panics
///
/// When something does not hold: that is a bug of the parser.
pub fn check(bytes: &[u8]) {
    let parsed = parse_bytes(bytes);
    let text = String::from_utf8_lossy(bytes);
    let lines = LineIndex::new(&text);
    assert!(parsed.diagnostics.len() <= 201, "{} diagnostics", parsed.diagnostics.len());
    for diagnostic in &parsed.diagnostics {
        let span = diagnostic.span;
        assert!(span.start <= span.end, "{diagnostic:?}");
        assert!(span.end as usize <= bytes.len(), "{diagnostic:?} in {} bytes", bytes.len());
        assert!(!diagnostic.message.is_empty());
        let drawn = render(diagnostic, "fuzz.ptx", &text, &lines);
        assert!(drawn.len() < 4096, "{drawn}");
    }
    if !parsed.has_errors() {
        check_module(&parsed.module, bytes.len());
    }
}

/// Asserts that every number in a module has what it stands for, and that everything prints.
fn check_module(module: &Module, length: usize) {
    for function in &module.functions {
        assert!(
            function.parameters as usize + function.results as usize <= function.variables.len()
        );
        for label in &function.labels {
            assert!(label.target as usize <= function.body.len());
        }
        for target in function.branch_tables.iter().flatten() {
            assert!(target.index() < function.labels.len());
        }
        for item in &function.body {
            assert!(item.span.start <= item.span.end && item.span.end as usize <= length);
            assert!(module.cuda.of(item.span).is_none_or(|place| place.line > 0));
            for operand in item.destinations.iter().chain(&item.sources) {
                check_operand(module, function, operand);
            }
            let names = SourceNames { module, function };
            assert!(!instruction(item, &names).to_string().is_empty());
        }
    }
}

fn check_operand(module: &Module, function: &Function, operand: &Operand) {
    let symbol = |symbol: Symbol| match symbol {
        Symbol::Module(id) => assert!(id.index() < module.variables.len()),
        Symbol::Local(id) => assert!(id.index() < function.variables.len()),
        Symbol::Function(id) => assert!(id.index() < module.functions.len()),
    };
    match operand {
        Operand::Register(id)
        | Operand::NotRegister(id)
        | Operand::Address { base: AddressBase::Register(id), .. } => {
            assert!(id.index() < function.registers.len());
        }
        Operand::Symbol { symbol: s, .. }
        | Operand::Address { base: AddressBase::Symbol(s), .. } => symbol(*s),
        Operand::Label(id) => assert!(id.index() < function.labels.len()),
        Operand::BranchTable(number) => {
            assert!((*number as usize) < function.branch_tables.len());
        }
        Operand::Vector(elements) => {
            for element in elements {
                check_operand(module, function, element);
            }
        }
        _ => {}
    }
}

/// One mutant of `text`: a few cuts, copies, swaps and flips, with pieces of `other` spliced in.
pub fn mutate(text: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    // A window keeps a mutant small, so that many can be tried; the header stays.
    let window = 1 + random.below(6000);
    let start = random.below(text.len().saturating_sub(window));
    let head = text.len().min(random.below(3) * 200);
    let mut bytes = text[..head].to_vec();
    bytes.extend(&text[start..text.len().min(start + window)]);
    for _ in 0..=random.below(6) {
        let length = bytes.len();
        let at = random.below(length);
        let (token, token_end) = token_at(&bytes, at);
        match random.below(9) {
            0 => bytes.truncate(at),
            1 if length > 0 => bytes[at] ^= 1 << random.below(8),
            2 if length > 0 => bytes[at] = random.draw() as u8,
            3 => drop(bytes.drain(token..token_end)),
            4 => {
                let copy = bytes[token..token_end].to_vec();
                drop(bytes.splice(token..token, copy));
            }
            5 => {
                let from = random.below(other.len());
                let to = other.len().min(from + random.below(200));
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
            6 => {
                let (from, to) = token_at(other, random.below(other.len()));
                drop(bytes.splice(token..token_end, other[from..to].iter().copied()));
            }
            7 => drop(bytes.drain(at..length.min(at + random.below(80)))),
            _ => {
                let piece: &[u8] = PIECES[random.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
        }
    }
    bytes
}

/// Pieces that have to do with limits.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b";",
    b",",
    b"<4000000000>",
    b"[1<<60]",
    b"[0xFFFFFFFF]",
    b"((((((((",
    b"--------",
    b"/*",
    b"*/",
    b"//",
    b"\"",
    b"\n",
    b"\0",
    b"\xC3\xA9",
    b"\xFF",
    b".align 3",
    b"0f",
    b"0d1",
    b"99999999999999999999",
    b"%",
    b"_",
    b"@",
    b"@!",
    b"|",
    b".",
    b"::",
    b".visible .entry k() {",
    b"{{{{{{{{",
    b"= {{1},{2}}",
    b".reg .b32 %r<10>;",
    b".v4",
    b"?1:",
    b".section .debug {",
    b"WARP_SZ",
    b"generic(",
    b"%tid",
    b".x",
    b"\r\n",
    b"\t",
];

/// The word or single character around a place.
fn token_at(bytes: &[u8], at: usize) -> (usize, usize) {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$%.".contains(byte);
    if at >= bytes.len() || !word(&bytes[at]) {
        return (at.min(bytes.len()), bytes.len().min(at + 1));
    }
    let start = at - bytes[..at].iter().rev().take_while(|byte| word(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| word(byte)).count();
    (start, end)
}

/// A kernel with instructions of every form of every opcode, a few for each form, one a line.
///
/// It is built from the tables that the parser checks against, so it must parse; that the tables
/// are right is for the real assembler to say (`examples/every_form.rs` prints it).
pub fn every_form(random: &mut Random, of_each_form: usize) -> String {
    let mut text = String::from(PROLOGUE);
    for ty in REGISTERS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, ".reg .{0} %{0}_<4>;", ty.name());
    }
    text.push_str("table: .branchtargets here;\nhere:\n");
    for &opcode in Opcode::ALL {
        for form in forms(opcode) {
            for _ in 0..of_each_form {
                let _ = writeln!(text, "{};", statement(opcode, form, random));
            }
        }
    }
    text.push_str("ret;\n}\n");
    text
}

const PROLOGUE: &str = "\
.version 9.0
.target sm_90
.address_size 64
.global .align 16 .b8 in_global[64];
.const .align 16 .b8 in_const[64];
.shared .align 16 .b8 in_shared[64];
.global .texref texture;
.global .surfref surface;
.func callee(.param .b32 argument) { ret; }
.visible .entry every_form(.param .u64 in_param)
{
.local .align 16 .b8 in_local[64];
.param .b32 argument;
";

const REGISTERS: &[ScalarType] = &[
    ScalarType::Pred,
    ScalarType::B16,
    ScalarType::B32,
    ScalarType::B64,
    ScalarType::B128,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::S16,
    ScalarType::S32,
    ScalarType::S64,
    ScalarType::F16,
    ScalarType::F16x2,
    ScalarType::F32,
    ScalarType::F64,
];

/// One instruction of a form, with words chosen at random.
fn statement(opcode: Opcode, form: &Form, random: &mut Random) -> String {
    let mut types = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for group in &form.groups {
        if group.optional && random.below(2) == 0 {
            continue;
        }
        match &group.words {
            Words::Types(choice) => {
                types.push(choice[random.below(choice.len())]);
                words.extend(types.last().map(|ty| ty.name()));
            }
            Words::Modifiers(choice) => words.push(choice[random.below(choice.len())]),
        }
    }
    let mut text = opcode.name().to_owned();
    for word in &words {
        text.push('.');
        text.push_str(word);
    }
    if opcode == Opcode::Call {
        return text + " callee, (argument)";
    }
    let mut first = true;
    for slot in &form.slots {
        let hint = words.contains(&"L2::cache_hint");
        if slot.kind == SlotKind::Rest
            || slot.optional && !(hint && slot.ty == SlotType::Fixed(ScalarType::B64))
        {
            continue;
        }
        text.push_str(if first { " " } else { ", " });
        first = false;
        text.push_str(&sample(opcode, slot, &types, &words, random));
    }
    text
}

fn sample(
    opcode: Opcode,
    slot: &Slot,
    types: &[ScalarType],
    words: &[&str],
    random: &mut Random,
) -> String {
    let ty = instances::operand_type(slot.ty, types);
    let vector = ["v2", "v4", "v8"].iter().position(|word| words.contains(word));
    let text = match slot.kind {
        SlotKind::VectorByModifier if vector.is_some() => {
            let count = 2 << vector.unwrap_or(0);
            let register = register(ty, slot.relaxed, random);
            format!("{{{}}}", vec![register; count].join(","))
        }
        SlotKind::Address => address(opcode, words, random),
        SlotKind::Immediate(limit) if opcode == Opcode::CpAsync => limit.min(16).to_string(),
        SlotKind::Immediate(limit) => match opcode {
            Opcode::Discard => "128".into(),
            _ => random.below(limit as usize + 1).to_string(),
        },
        // An arrival there gives no state.
        SlotKind::Value
            if slot.destination
                && opcode == Opcode::Mbarrier
                && words.contains(&"shared::cluster") =>
        {
            "_".into()
        }
        SlotKind::Label => "here".into(),
        SlotKind::Table => "table".into(),
        SlotKind::Texture => texture(opcode, words),
        // A gradient is a vector as long as the coordinates.
        SlotKind::VectorAny if opcode == Opcode::Tex => {
            format!("{{{}}}", ["%f32_1"; 4].join(","))
        }
        SlotKind::Fragment if ty == ScalarType::F64 => "{%f64_1,%f64_1}".into(),
        SlotKind::VectorAny => {
            let count = ["x1", "x2", "", "x4"].iter().position(|word| words.contains(word));
            format!("{{{}}}", vec!["%b32_1"; count.unwrap_or(0) + 1].join(","))
        }
        SlotKind::Fragment => "{%b32_1,%b32_2}".into(),
        _ if opcode == Opcode::Bar || opcode == Opcode::Barrier => match ty {
            ScalarType::Pred => "%pred_1".into(),
            _ => register(ty, false, random),
        },
        _ => register(ty, slot.relaxed, random),
    };
    if slot.pipe == Pipe::Required { text + "|%pred_2" } else { text }
}

fn texture(opcode: Opcode, words: &[&str]) -> String {
    let unit = match opcode {
        Opcode::Tex | Opcode::Tld4 => "texture",
        _ => "surface",
    };
    let coordinates = match words.iter().find(|word| word.ends_with('d')) {
        Some(&"1d") => "{%s32_1}",
        Some(&"2d" | &"a1d") => "{%s32_1,%s32_2}",
        _ => "{%s32_1,%s32_2,%s32_3,%s32_1}",
    };
    format!("[{unit}, {coordinates}]")
}

fn address(opcode: Opcode, words: &[&str], random: &mut Random) -> String {
    if matches!(opcode, Opcode::Txq) {
        return "[texture]".into();
    }
    if matches!(opcode, Opcode::Suq) {
        return "[surface]".into();
    }
    let variable = words.iter().find_map(|word| match *word {
        "global" => Some("in_global"),
        "const" => Some("in_const"),
        "local" => Some("in_local"),
        _ => None,
    });
    match (variable, random.below(3)) {
        (Some(name), 0) => format!("[{name}]"),
        (Some(name), 1) => format!("[{name}+16]"),
        _ => "[%b64_1+16]".into(),
    }
}

fn register(ty: ScalarType, relaxed: bool, random: &mut Random) -> String {
    let exact = match ty {
        ScalarType::Bf16 => ScalarType::B16,
        ScalarType::Bf16x2 | ScalarType::Tf32 => ScalarType::B32,
        _ if ty.bits() == 8 => ScalarType::B16,
        _ => ty,
    };
    let integer = matches!(exact.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed);
    let integer = integer && ty.kind() != Kind::Float;
    let chosen = match (relaxed, random.below(3), exact.bits()) {
        (true, 0, 16) if integer => ScalarType::U32,
        (true, 0, 32) if integer => ScalarType::B64,
        (_, 1, 16) => ScalarType::B16,
        (_, 1, 32) => ScalarType::B32,
        (_, 1, 64) => ScalarType::B64,
        _ => exact,
    };
    format!("%{}_{}", chosen.name(), random.below(4))
}
