//! PTX from any bytes: each byte is a choice of a small grammar, so that a changed byte is a
//! changed statement, and not a broken file.

use std::fmt::Write as _;

/// Statements of a kernel at most: what the bytes ask for beyond it is left out.
const STATEMENTS_MAX: usize = 160;
/// Deepest nesting of conditionals, loops and blocks.
const DEPTH_MAX: usize = 7;
/// Labels that any branch may go to.
const WILD: usize = 6;

/// Bytes as decisions; when they are used up, every decision is the first.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    /// The decisions that the bytes stand for.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    /// A number below `count`, which is at most 256.
    fn below(&mut self, count: usize) -> usize {
        self.bytes.next().map_or(0, |&byte| usize::from(byte) % count)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn is_empty(&self) -> bool {
        self.bytes.len() == 0
    }
}

/// Instructions; a letter behind `$` stands for a register or a number: `p` predicate, `h` 16 bits,
/// `r` 32 bits, `d` 64 bits, `q` 128 bits, `f` single precision, `i` a small number.
const STATEMENTS: &[&str] = &[
    "add.u32 $r, $r, $r",
    "mov.u32 $r, $i",
    "mov.b64 $d, $i",
    "mov.u32 $r, %tid.x",
    "sub.s32 $r, $r, $i",
    "mul.lo.s32 $r, $r, $r",
    "mul.wide.u32 $d, $r, $r",
    "mad.lo.s32 $r, $r, $r, $r",
    "mad.wide.s32 $d, $r, $i, $d",
    "div.u32 $r, $r, $r",
    "lop3.b32 $r, $r, $r, $r, 0x96",
    "shf.l.wrap.b32 $r, $r, $r, $r",
    "prmt.b32 $r, $r, $r, 0x5140",
    "selp.b32 $r, $r, $r, $p",
    "selp.b64 $d, $d, $d, $p",
    "setp.lt.s32 $p, $r, $r",
    "setp.eq.and.u32 $p|$p, $r, $i, !$p",
    "set.lt.u32.s32 $r, $r, $r",
    "and.pred $p, $p, $p",
    "not.pred $p, $p",
    "mov.pred $p, $p",
    "add.u64 $d, $d, $d",
    "shl.b64 $d, $d, $r",
    "add.cc.u32 $r, $r, $r",
    "addc.cc.u32 $r, $r, $r",
    "subc.u32 $r, $r, $r",
    "sub.cc.u64 $d, $d, $d",
    "mad.lo.cc.u32 $r, $r, $r, $r",
    "madc.hi.u32 $r, $r, $r, $r",
    "cvt.u32.u64 $r, $d",
    "cvt.s64.s32 $d, $r",
    "cvt.u16.u32 $h, $r",
    "cvt.u32.u16 $r, $h",
    "add.s16 $h, $h, $h",
    "mov.b32 {$h, $h}, $r",
    "mov.b32 $r, {$h, $h}",
    "mov.b64 {$r, $r}, $d",
    "mov.b64 {$r, _}, $d",
    "mov.b64 $d, {$r, $r}",
    "mov.b128 $q, {$d, $d}",
    "mov.b128 {$d, $d}, $q",
    "fma.rn.f32 $f, $f, $f, $f",
    "rcp.approx.f32 $f, $f",
    "cvt.rn.f32.u32 $f, $r",
    "mov.b32 $r, $f",
    "popc.b32 $r, $r",
    "bfind.u32 $r, $r",
    "ld.param.u64 $d, [in]",
    "ld.global.u32 $r, [$d]",
    "ld.global.nc.f32 $f, [$d+4]",
    "ld.global.v2.u32 {$r, $r}, [$d]",
    "ld.global.v4.u32 {$r, $r, $r, $r}, [$d+16]",
    "ld.global.u64 $d, [$d]",
    "ld.shared.u32 $r, [tile]",
    "ld.shared.v2.f32 {$f, $f}, [tile+8]",
    "ld.local.u32 $r, [frame+4]",
    "ld.const.u32 $r, [table+8]",
    "st.global.u32 [$d], $r",
    "st.global.v4.u32 [$d], {$r, $r, $r, $r}",
    "st.shared.u64 [tile+16], $d",
    "st.local.u32 [frame], $r",
    "atom.global.add.u32 $r, [$d], $r",
    "atom.shared.cas.b32 $r, [tile], $r, $r",
    "red.global.max.s32 [$d], $r",
    "shfl.sync.idx.b32 $r|$p, $r, $r, 31, -1",
    "shfl.sync.bfly.b32 $r, $r, $i, 31, $r",
    "vote.sync.ballot.b32 $r, $p, -1",
    "vote.sync.any.pred $p, $p, $r",
    "match.any.sync.b32 $r, $r, -1",
    "redux.sync.add.u32 $r, $r, -1",
    "bar.warp.sync -1",
    "activemask.b32 $r",
    "membar.gl",
    "cp.async.ca.shared.global [tile], [$d], 4",
    "cp.async.wait_all",
    "mov.u32 $r, %clock",
    "vadd.s32.u32.s32.sat $r, $r, $r",
];

/// Statements that are never guarded here: all lanes come, or none.
const TOGETHER: &[&str] = &["bar.sync 0", "bar.arrive 1, 64", "bar.red.popc.u32 $r, 0, $p"];

/// Everything in front of the kernel's statements.
const HEAD: &str = "\
.version 8.6
.target sm_90
.address_size 64
.const .align 4 .b8 table[16];
.func (.param .b32 result) leaf(.param .b32 a, .param .b64 b)
{
.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;
ld.param.u32 %r1, [a];
ld.param.u64 %d1, [b];
setp.gt.s32 %p1, %r1, 7;
@%p1 bra BIG;
ld.global.u32 %r1, [%d1];
add.u32 %r1, %r1, 3;
BIG:
st.param.b32 [result], %r1;
ret;
}
.visible .entry k(.param .u64 in)
{
.reg .pred %p<5>; .reg .b16 %h<4>; .reg .b32 %r<14>; .reg .b64 %d<6>; .reg .b128 %q<2>;
.reg .f32 %f<5>;
.shared .align 16 .b8 tile[64];
.local .align 8 .b8 frame[16];
";

/// A module with one kernel, which the parser takes and the compiler compiles.
pub fn generate(choices: &mut Choices<'_>) -> String {
    let mut writer = Writer {
        text: HEAD.to_owned(),
        choices,
        labels: 0,
        statements: 0,
        loops: Vec::new(),
        wild: 0,
        scopes: 0,
    };
    writer.block(0);
    while writer.wild < WILD {
        writer.wild_label();
        writer.block(DEPTH_MAX);
    }
    writer.text.push_str("ret;\n}\n");
    writer.text
}

struct Writer<'c, 'b> {
    text: String,
    choices: &'c mut Choices<'b>,
    labels: usize,
    statements: usize,
    /// Labels behind the loops around.
    loops: Vec<usize>,
    /// Labels for any branch that have been placed.
    wild: usize,
    /// Blocks around in which a label cannot be seen from outside.
    scopes: usize,
}

impl Writer<'_, '_> {
    /// Some statements, until the choices end the block.
    fn block(&mut self, depth: usize) {
        loop {
            if self.choices.is_empty() || self.statements >= STATEMENTS_MAX {
                return;
            }
            self.statements += 1;
            match self.choices.below(24) {
                0 | 1 if depth > 0 => return,
                2 if depth < DEPTH_MAX => self.conditional(depth),
                3 if depth < DEPTH_MAX => self.endless(depth),
                4 if depth < DEPTH_MAX => self.counted(depth),
                5 if depth < DEPTH_MAX => self.scope(depth),
                6 if depth < DEPTH_MAX => self.switch(depth),
                7 => self.leave(),
                8 => self.jump(),
                9 if self.scopes == 0 && self.wild < WILD => self.wild_label(),
                10 => self.call(),
                11 => self.together(),
                _ => self.simple(),
            }
        }
    }

    fn simple(&mut self) {
        if self.choices.one_in(5) {
            self.guard();
        }
        let template = STATEMENTS[self.choices.below(STATEMENTS.len())];
        self.fill(template);
        self.text.push_str(";\n");
    }

    fn together(&mut self) {
        let template = TOGETHER[self.choices.below(TOGETHER.len())];
        self.fill(template);
        self.text.push_str(";\n");
    }

    fn guard(&mut self) {
        let not = if self.choices.one_in(2) { "!" } else { "" };
        let predicate = self.choices.below(5);
        self.line(format_args!("@{not}%p{predicate} "));
    }

    /// A template with registers in place of its letters.
    fn fill(&mut self, template: &str) {
        let mut pieces = template.split('$');
        self.text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let (kind, rest) = piece.split_at(1);
            let count = match kind {
                "p" | "f" => 5,
                "h" => 4,
                "r" => 14,
                "d" => 6,
                "q" => 2,
                _ => 32,
            };
            let number = self.choices.below(count);
            match kind {
                "i" => self.line(format_args!("{number}{rest}")),
                _ => self.line(format_args!("%{kind}{number}{rest}")),
            }
        }
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn conditional(&mut self, depth: usize) {
        let (other, join) = (self.label(), self.label());
        self.guard();
        self.line(format_args!("bra L{other};\n"));
        self.block(depth + 1);
        if self.choices.one_in(2) {
            self.line(format_args!("bra L{join};\nL{other}:\n"));
            self.block(depth + 1);
            self.line(format_args!("L{join}:\n"));
        } else {
            self.line(format_args!("L{other}:\n"));
        }
    }

    /// A loop that only a branch out of it ends.
    fn endless(&mut self, depth: usize) {
        let (head, end) = (self.label(), self.label());
        self.line(format_args!("L{head}:\n"));
        self.loops.push(end);
        self.block(depth + 1);
        self.loops.pop();
        if self.choices.one_in(3) {
            self.guard();
        }
        self.line(format_args!("bra L{head};\nL{end}:\n"));
    }

    fn counted(&mut self, depth: usize) {
        let (head, end) = (self.label(), self.label());
        let (counter, bound) = (self.choices.below(14), self.choices.below(9));
        let predicate = self.choices.below(5);
        self.line(format_args!("mov.u32 %r{counter}, 0;\nL{head}:\n"));
        self.loops.push(end);
        self.block(depth + 1);
        self.loops.pop();
        self.line(format_args!(
            "add.u32 %r{counter}, %r{counter}, 1;\n\
             setp.lt.u32 %p{predicate}, %r{counter}, {bound};\n\
             @%p{predicate} bra L{head};\nL{end}:\n"
        ));
    }

    /// A block with a register of its own that hides one outside.
    fn scope(&mut self, depth: usize) {
        let hidden = self.choices.below(14);
        self.line(format_args!("{{\n.reg .b32 %r{hidden};\n"));
        self.scopes += 1;
        self.block(depth + 1);
        self.scopes -= 1;
        self.text.push_str("}\n");
    }

    fn switch(&mut self, depth: usize) {
        let (index, cases) = (self.choices.below(14), 1 + self.choices.below(4));
        let (table, end) = (self.label(), self.label());
        let labels: Vec<usize> = (0..cases).map(|_| self.label()).collect();
        let names: Vec<String> = labels.iter().map(|label| format!("L{label}")).collect();
        let names = names.join(", ");
        self.line(format_args!(
            "L{table}: .branchtargets {names};\nbrx.idx %r{index}, L{table};\n"
        ));
        for label in labels {
            self.line(format_args!("L{label}:\n"));
            self.block(depth + 1);
            if !self.choices.one_in(3) {
                self.line(format_args!("bra L{end};\n"));
            }
        }
        self.line(format_args!("L{end}:\n"));
    }

    /// Out of a loop around, or out of the kernel.
    fn leave(&mut self) {
        if !self.choices.one_in(6) {
            self.guard();
        }
        let out = self.choices.below(self.loops.len() + 2);
        match self.loops.get(out) {
            Some(&end) => self.line(format_args!("bra L{end};\n")),
            None => self.text.push_str(if out.is_multiple_of(2) { "ret;\n" } else { "exit;\n" }),
        }
    }

    /// To anywhere, into loops and conditionals too.
    fn jump(&mut self) {
        if !self.choices.one_in(8) {
            self.guard();
        }
        let to = self.choices.below(WILD);
        self.line(format_args!("bra W{to};\n"));
    }

    fn wild_label(&mut self) {
        let label = self.wild;
        self.wild += 1;
        self.line(format_args!("W{label}:\n"));
    }

    fn call(&mut self) {
        // Inlined, it is as many instructions.
        self.statements += 12;
        let [result, a, b] = [14, 14, 6].map(|count| self.choices.below(count));
        self.line(format_args!(
            "{{\n.param .b32 out; .param .b32 a; .param .b64 b;\nst.param.b32 [a], %r{a};\n\
             st.param.b64 [b], %d{b};\ncall (out), leaf, (a, b);\n\
             ld.param.b32 %r{result}, [out];\n}}\n"
        ));
    }
}
