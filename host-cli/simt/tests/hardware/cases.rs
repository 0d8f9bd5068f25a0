//! Kernels with one instruction each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_ptx::fuzzing::{Instance, InstanceKind, InstanceOperand, instances};
use strata_ptx::types::ScalarType;

use crate::inputs::{THREADS, values};
use crate::textures::TextureCase;

/// Bytes between the elements of an array.
const STRIDE: usize = 8;

/// Threads of a CTA.
pub(crate) const BLOCK: usize = 256;

/// A kernel with one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The instruction; after `#`, a constant or what its inputs are.
    pub(crate) name: String,
    /// The entry.
    pub(crate) text: String,
    /// The types of the values that each thread stores, each in 64 bits.
    pub(crate) outputs: Vec<ScalarType>,
    /// What the last parameter names.
    pub(crate) texture: Option<TextureCase>,
}

/// Cases of an opcode.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) opcode: &'static str,
    pub(crate) cases: Vec<Case>,
}

impl Group {
    /// A module with some of the cases, as entries `k` and the number of each.
    pub(crate) fn module<'a>(cases: impl IntoIterator<Item = &'a Case>) -> String {
        let mut text = ".version 8.7\n.target sm_90\n.address_size 64\n".to_owned();
        for (number, case) in cases.into_iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, ".visible .entry k{number}{}", case.text);
        }
        text
    }
}

/// All cases, and the arrays that they read, one after another.
pub(crate) fn cases() -> (Vec<Group>, Vec<u64>) {
    let mut arrays = Arrays::default();
    let mut groups: Vec<Group> = Vec::new();
    for instance in instances(|opcode| matches!(opcode, "atom" | "red")) {
        if left_out(&instance) {
            continue;
        }
        if groups.last().is_none_or(|group| group.opcode != instance.opcode) {
            groups.push(Group { opcode: instance.opcode, cases: Vec::new() });
        }
        let cases = variants(&instance)
            .into_iter()
            .map(|variant| Writer::new(&instance, variant, &mut arrays).case());
        groups.last_mut().expect("just made").cases.extend(cases);
    }
    groups.push(crate::memory::matrices(&mut arrays));
    groups.push(crate::textures::textures(&mut arrays));
    (groups, arrays.values)
}

/// Instructions without a result, of two forms that this folder does not write, and those whose
/// registers PTX leaves open.
fn left_out(instance: &Instance) -> bool {
    // Orders, scopes and hints do not change what one thread computes.
    let words = ["relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"];
    let words =
        [&words[..], &["shared", "shared::cta", "shared::cluster", "L2::cache_hint"]].concat();
    let repeated = matches!(instance.opcode, "atom" | "red")
        && instance.words.iter().any(|word| words.contains(word));
    let opcodes = ["wmma", "bar", "barrier", "createpolicy", "istypep", "call", "nanosleep"];
    let wide = instance.operands.iter().any(|operand| operand.ty == ScalarType::B128);
    // Without `.sync`, before sm_70 only.
    let old = matches!(instance.opcode, "shfl" | "vote") && !instance.words.contains(&"sync");
    // From sm_100 on: `simt/dialects.rs` compares them.
    let three = matches!(instance.opcode, "min" | "max") && instance.operands.len() == 4;
    let writes = instance.operands.iter().any(|operand| operand.destination);
    let writes = writes || instance.opcode == "red";
    opcodes.contains(&instance.opcode) || wide || old || three || !writes || repeated
}

/// Constants and inputs that an instruction is tried with.
fn variants(instance: &Instance) -> Vec<&'static str> {
    let matrix = instance.opcode == "mma";
    if matrix && !instance.words.contains(&"s32") {
        return vec!["int", "real", "wild"];
    }
    if instance.opcode == "lop3" {
        return vec!["0x96", "0xe8", "0xca", "0x1b"];
    }
    vec![""]
}

/// The type of a result: TF32 is what the words say.
fn result_type(instance: &Instance, ty: ScalarType) -> ScalarType {
    if instance.opcode == "cvt" && instance.words.contains(&"tf32") { ScalarType::Tf32 } else { ty }
}

/// The arrays that kernels read.
#[derive(Default)]
pub(crate) struct Arrays {
    places: BTreeMap<(String, usize), usize>,
    values: Vec<u64>,
}

impl Arrays {
    /// Where the array of an operand begins. Unit: bytes.
    pub(crate) fn place(&mut self, kind: &str, position: usize) -> usize {
        let next = self.places.len();
        let number = *self.places.entry((kind.to_owned(), position)).or_insert(next);
        if number == next {
            self.values.extend(values(kind, position));
        }
        number * THREADS * STRIDE
    }
}

/// Writes the entry of a case.
struct Writer<'a> {
    instance: &'a Instance,
    variant: &'static str,
    arrays: &'a mut Arrays,
    loads: String,
    stores: String,
    registers: usize,
    outputs: Vec<ScalarType>,
    sources: usize,
}

impl<'a> Writer<'a> {
    fn new(instance: &'a Instance, variant: &'static str, arrays: &'a mut Arrays) -> Self {
        let (loads, stores, outputs) = Default::default();
        Self { instance, variant, arrays, loads, stores, registers: 8, outputs, sources: 0 }
    }

    fn case(mut self) -> Case {
        let instance = self.instance;
        let (before, after) = self.carry();
        let mut operands: Vec<String> = Vec::new();
        let last = instance.operands.len() - 1;
        for (number, operand) in instance.operands.iter().enumerate() {
            let mut text = match operand.kind {
                InstanceKind::Fragment => self.fragment(number, operand),
                InstanceKind::Address => self.memory(),
                InstanceKind::Immediate(_) => self.variant.to_owned(),
                _ if number == last && self.all_lanes() => "0xffffffff".to_owned(),
                _ if operand.destination => self.result(result_type(instance, operand.ty)),
                _ => self.source(operand.ty, &self.kind(operand)),
            };
            if operand.pipe {
                text = format!("{text}|{}", self.result(ScalarType::Pred));
            }
            operands.push(text);
        }
        let instruction = format!("{} {};", instance.text, operands.join(", "));
        let body = format!("{}{before}{instruction}\n{after}{}", self.loads, self.stores);
        let text = entry("", self.outputs.len(), &body);
        let separator = if self.variant.is_empty() { "" } else { "#" };
        let name = format!("{}{separator}{}", instance.text, self.variant);
        Case { name, text, outputs: self.outputs, texture: None }
    }

    /// Whether the last operand is the mask of the lanes that take part.
    fn all_lanes(&self) -> bool {
        self.instance.words.contains(&"sync")
            && matches!(self.instance.opcode, "shfl" | "vote" | "match" | "redux" | "elect")
    }

    /// What comes before and after the instruction: the carry is set, and read.
    fn carry(&mut self) -> (String, String) {
        let opcode = self.instance.opcode;
        let reads = matches!(opcode, "addc" | "subc" | "madc");
        let writes = self.instance.words.contains(&"cc");
        let minus = matches!(opcode, "sub" | "subc");
        let mut before = String::new();
        if reads {
            let word = self.source(ScalarType::U32, "pred");
            before = if minus {
                format!("sub.cc.u32 %r4, 0, {word};\n")
            } else {
                format!("add.cc.u32 %r4, {word}, 0xffffffff;\n")
            };
            self.sources = 0;
        }
        if !writes {
            return (before, String::new());
        }
        let carry = self.result(ScalarType::U32);
        let name = if minus { "subc" } else { "addc" };
        (before, format!("{name}.u32 {carry}, 0, 0;\n"))
    }

    /// What an operand's values are.
    fn kind(&self, operand: &InstanceOperand) -> String {
        let (opcode, ty) = (self.instance.opcode, operand.ty);
        let position = self.sources;
        match (opcode, position) {
            ("shl" | "shr", 1) | ("bfe" | "bfi" | "shf", 1..) | ("bmsk" | "szext", _)
                if ty == ScalarType::U32 && !(opcode == "bfe" && position == 0) =>
            {
                "amount".into()
            }
            ("shfl" | "fns", 1) => "lane".into(),
            ("shfl", 2) => "clamp".into(),
            ("fns", 2) => "nth".into(),
            ("div" | "rem", 1) if !ty.name().starts_with('f') => format!("divisor.{}", ty.name()),
            _ => ty.name().to_owned(),
        }
    }

    fn register(&mut self, ty: ScalarType) -> String {
        self.registers += 1;
        let number = self.registers;
        match ty.bits() {
            1 => format!("%p{number}"),
            8 | 16 => format!("%h{number}"),
            32 => format!("%r{number}"),
            _ => format!("%d{number}"),
        }
    }

    /// A register with a value of an array.
    fn source(&mut self, ty: ScalarType, kind: &str) -> String {
        let place = self.arrays.place(kind, self.sources);
        self.sources += 1;
        let register = self.register(ty);
        let loads = &mut self.loads;
        let _ = match ty.bits() {
            1 => {
                let _ = writeln!(loads, "ld.global.b32 %r5, [%d2+{place}];");
                writeln!(loads, "setp.ne.u32 {register}, %r5, 0;")
            }
            bits => writeln!(loads, "ld.global.b{} {register}, [%d2+{place}];", bits.max(16)),
        };
        register
    }

    /// A register that is stored afterwards.
    fn result(&mut self, ty: ScalarType) -> String {
        let place = STRIDE * self.outputs.len();
        self.outputs.push(ty);
        let register = self.register(ty);
        let stores = &mut self.stores;
        let _ = match ty.bits() {
            1 => {
                let _ = writeln!(stores, "selp.u32 %r6, 1, 0, {register};");
                writeln!(stores, "st.global.b32 [%d3+{place}], %r6;")
            }
            bits => writeln!(stores, "st.global.b{} [%d3+{place}], {register};", bits.max(16)),
        };
        register
    }

    /// A place in the results with a value of its own.
    fn memory(&mut self) -> String {
        // The type of what lies there is that of the operands.
        let ty = self.instance.operands.last().expect("an operand").ty;
        let place = STRIDE * self.outputs.len();
        self.outputs.push(ty);
        let value = self.source(ty, ty.name());
        let _ = writeln!(self.loads, "st.global.b{} [%d3+{place}], {value};", ty.bits());
        format!("[%d3+{place}]")
    }

    /// The registers of a matrix.
    fn fragment(&mut self, number: usize, operand: &InstanceOperand) -> String {
        let element = self.elements()[number];
        let register = if element == "f64" { ScalarType::B64 } else { ScalarType::B32 };
        let mut names = Vec::new();
        for _ in 0..self.fragment_registers(number, element) {
            names.push(if operand.destination {
                // What is compared is the elements, not the register.
                let name = self.result(register);
                let element = if element == "f16" { "f16x2" } else { element };
                let ty = ScalarType::from_name(element).expect("a type");
                *self.outputs.last_mut().expect("just written") = ty;
                name
            } else if ["s32", "u8", "s8", "u4", "s4", "b1"].contains(&element) {
                self.source(register, "b32")
            } else {
                self.source(register, &format!("{}.{element}", self.variant))
            });
        }
        format!("{{{}}}", names.join(", "))
    }

    /// The elements of D, A, B and C.
    fn elements(&self) -> Vec<&'static str> {
        let names = ["f16", "bf16", "tf32", "f32", "f64", "s32", "u8", "s8", "u4", "s4", "b1"];
        let known =
            |word: &&&str| names.contains(word) || word.starts_with("e4") || word.starts_with("e5");
        self.instance.words.iter().filter(known).copied().collect()
    }

    /// Registers of a matrix in each lane.
    fn fragment_registers(&self, number: usize, element: &str) -> usize {
        let size = |letter: char| {
            let shape = self
                .instance
                .words
                .iter()
                .find(|word| word.starts_with(['m']) && word.contains('k'));
            let text = shape.expect("a shape").split_once(letter).expect("three sizes").1;
            let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().expect("a size")
        };
        let (m, n, k) = (size('m'), size('n'), size('k'));
        let elements = match number {
            1 => m * k,
            2 => n * k,
            _ => m * n,
        };
        // Each quarter of a warp has a product of its own.
        let quarters = if (m, n, k) == (8, 8, 4) && self.elements()[1] == "f16" { 4 } else { 1 };
        let bits = match element {
            "f16" | "bf16" => 16,
            "u8" | "s8" | "e4m3" | "e5m2" => 8,
            "u4" | "s4" => 4,
            "b1" => 1,
            // A register of f64 has one, like the others that are left.
            _ => 32,
        };
        quarters * elements * bits / (32 * 32)
    }
}

/// The text of an entry with a body, of which each thread stores some values at `%d3`. Its place in
/// arrays is `%d2`, its number `%r0`, the last parameter `%d5`.
pub(crate) fn entry(variables: &str, outputs: usize, body: &str) -> String {
    let place = format!("mad.wide.u32 %d3, %r0, {}, %d1;", STRIDE * outputs);
    format!(
        "(.param .u64 out, .param .u64 in, .param .u64 object)\n{{\n{variables}{PROLOGUE}{place}\n{body}ret;\n}}"
    )
}

const PROLOGUE: &str = "\
.reg .pred %p<64>;
.reg .b16 %h<64>;
.reg .b32 %r<64>;
.reg .b64 %d<64>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mad.lo.u32 %r0, %r1, %r2, %r0;
ld.param.u64 %d0, [in];
ld.param.u64 %d1, [out];
ld.param.u64 %d5, [object];
mad.wide.u32 %d2, %r0, 8, %d0;
";
